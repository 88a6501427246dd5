"""Weights of which two in four are zero: half the values, and two bits for the place of each that is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot.errors import ShapeMismatchError
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import Op
from jaxaot.ops.table import op_of
from jaxaot.subclasses.float8 import require_float


def _choose(weight: Any) -> Any:
    """Returns the places, packed, of the two greatest magnitudes in each four elements of a row."""
    groups = jnp.abs(weight).reshape(weight.shape[0], -1, 4)
    chosen = jnp.sort(jnp.argsort(-groups, axis=-1, stable=True)[..., :2], axis=-1).astype(jnp.uint8)
    halves = (chosen[..., 0] | chosen[..., 1] << 2).reshape(weight.shape[0], -1, 2)
    return halves[..., 0] | halves[..., 1] << 4


def _places(packed: Any) -> Any:
    """Returns the places that are packed in bytes, (rows, groups, 2)."""
    shifts = jnp.arange(0, 8, 2, dtype=jnp.uint8)
    return (packed[..., None] >> shifts & 3).reshape(packed.shape[0], -1, 2)


def _kept(weight: object, packed: object) -> Any:
    places = _places(packed).astype(jnp.int32)
    groups = weight.reshape(weight.shape[0], -1, 4)
    return jnp.take_along_axis(groups, places, axis=-1).reshape(weight.shape[0], -1)


def _dense(values: object, packed: object) -> Any:
    places = _places(packed)
    at = places[..., None] == jnp.arange(4, dtype=jnp.uint8)
    groups = jnp.where(at, values.reshape(places.shape)[..., None], jnp.zeros((), values.dtype)).sum(-2)
    return groups.reshape(values.shape[0], -1).astype(values.dtype)


_CHOOSE = op_of(_choose, "two_of_four(Tensor weight) -> Tensor")
_KEPT = op_of(_kept, "two_of_four_values(Tensor weight, Tensor packed) -> Tensor")
_DENSE = op_of(_dense, "two_of_four_dense(Tensor values, Tensor packed) -> Tensor")

_OF_VALUES = ("add", "clone", "detach", "div", "mul", "neg", "sub", "to", "zeros_like")
"""What takes zeros to zeros, and is done to the values alone."""


class SemiStructuredSparse(Tensor):
    """A matrix of which each four elements in a row hold two zeros, in 9/16 of the memory for 16-bit values.

    Its gradient is of the same kind: that of the values which are kept.

    Args:
      values: The elements that are kept, (n_out, n_in / 2).
      places: Where they are, two bits for each, uint8, (n_out, n_in / 8).
      is_transposed: Whether this is the transpose of that matrix.
    """

    __tensor_gradients__ = ("values",)

    values: Tensor
    places: Tensor
    is_transposed: bool

    @staticmethod
    def __new__(cls, values: Tensor, places: Tensor, is_transposed: bool = False) -> SemiStructuredSparse:
        if values.ndim < 2:
            raise ShapeMismatchError(
                f"SemiStructuredSparse(): a matrix is expected, not values of shape {list(values.shape)}. Take rows of "
                "`w.to_dense()`."
            )
        size = (values.shape[0], 2 * values.shape[1])
        return Tensor._make_wrapper_subclass(
            cls, size[::-1] if is_transposed else size, (1, size[1]) if is_transposed else None, dtype=values.dtype
        )

    def __init__(self, values: Tensor, places: Tensor, is_transposed: bool = False):
        self.values = values
        self.places = places
        self.is_transposed = is_transposed

    @staticmethod
    def prune(weight: Tensor) -> SemiStructuredSparse:
        """Returns a matrix without the two smallest magnitudes of each four elements in a row.

        Gradients of what is kept flow to the weight.

        Args:
          weight: A float tensor, (n_out, n_in), `n_in` a multiple of 8.
        """
        require_float("SemiStructuredSparse.prune", weight)
        if weight.ndim != 2 or weight.shape[1] % 8:
            raise ShapeMismatchError(
                "SemiStructuredSparse.prune(): a matrix is expected whose rows have a multiple of 8 elements, not "
                f"{list(weight.shape)}. Pad it with zeros."
            )
        places = call(_CHOOSE, (weight.detach(),), ())
        return SemiStructuredSparse(call(_KEPT, (weight, places), ()), places)

    def to_dense(self) -> Tensor:
        """Returns a plain tensor of the same values, with the zeros."""
        dense = call(_DENSE, (self.values, self.places), ())
        return dense.t() if self.is_transposed else dense

    def __tensor_flatten__(self) -> tuple[list[str], bool]:
        return ["values", "places"], self.is_transposed

    @staticmethod
    def __tensor_unflatten__(
        inner: dict[str, Tensor], context: bool, size: object, stride: object
    ) -> SemiStructuredSparse:
        return SemiStructuredSparse(inner["values"], inner["places"], context)

    @classmethod
    def __tensor_dispatch__(cls, op: Op, types: Sequence[type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        first = args[0]
        name = op.name.removesuffix("_")
        if name in _OF_VALUES and isinstance(first, cls) and _is_of_values(first, name, args[1:]):
            picked = [arg.values if isinstance(arg, cls) else arg for arg in args]
            result = op(*picked, **kwargs)
            return first if op.is_inplace else SemiStructuredSparse(result, first.places, first.is_transposed)
        if op.name == "permute" and args[1] in ((0, 1), (1, 0)):
            return SemiStructuredSparse(first.values, first.places, first.is_transposed ^ (args[1] == (1, 0)))
        if op.name in ("mm", "matmul", "linear"):
            return op(*(arg.to_dense() if isinstance(arg, cls) else arg for arg in args), **kwargs)
        return NotImplemented


def _is_of_values(first: SemiStructuredSparse, name: str, others: tuple[Any, ...]) -> bool:
    """Returns whether an op keeps the zeros where they are: its other operands are numbers, or have the same places."""
    return all(_keeps_zeros(first, name, other) for other in others)


def _keeps_zeros(first: SemiStructuredSparse, name: str, other: object) -> bool:
    is_sum = name in ("add", "sub")
    if isinstance(other, SemiStructuredSparse):
        is_alike = other.places._storage is first.places._storage and other.is_transposed is first.is_transposed
        return is_sum and is_alike
    if isinstance(other, Tensor) and (other.ndim or name not in ("mul", "div")):
        return False
    return not is_sum
