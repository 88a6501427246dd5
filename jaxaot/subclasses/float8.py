"""Tensors in float8 with a scale, and linear layers that multiply in float8."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxaot._typing import DTypeLike
from jaxaot.errors import DtypeError, ShapeMismatchError, TensorTypeError, TensorValueError
from jaxaot.facade.dispatch.create import as_dtype, tensor
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import Op
from jaxaot.nn import Linear
from jaxaot.ops.table import op_of
from jaxaot.subclasses.float8_math import E4M3, E5M2, amax_of, product, round_to, scale_of, value_of


def _or_zeros(origin: Any, data: Any) -> Any:
    """Returns where gradients go; something that is not used in place of nothing."""
    return jnp.zeros(data.shape, jnp.float32) if origin is None else origin


def require_float(what: str, x: object) -> None:
    """Raises unless a function was given a float tensor.

    Raises:
      TensorTypeError: If it is no tensor.
      DtypeError: If it holds integers.
    """
    if not isinstance(x, Tensor):
        raise TensorTypeError(f"{what}(): a tensor is expected, not {type(x).__name__}. Write `ja.as_tensor(x)`.")
    if not x.is_floating_point():
        raise DtypeError(f"{what}(): a float tensor is expected, not one of {x.dtype}. Write `x.float()`.")


_AMAX = op_of(lambda x: amax_of(x), "float8_amax(Tensor x) -> Tensor")
_SCALE = op_of(lambda amax, dtype: scale_of(amax, dtype), "float8_scale(Tensor amax, *, Any dtype) -> Tensor")
_ROUND = op_of(
    lambda x, scale, dtype: round_to(x, scale, dtype), "float8_round(Tensor x, Tensor scale, *, Any dtype) -> Tensor"
)
_VALUE = op_of(
    lambda data, scale, origin, dtype: value_of(data, scale, _or_zeros(origin, data), dtype),
    "float8_value(Tensor data, Tensor scale, Tensor? origin, *, Any dtype) -> Tensor",
)
_PRODUCT = op_of(
    lambda x8, x_scale, w8, w_scale, x, w, dtype: product(
        x8, x_scale, w8, w_scale, _or_zeros(x, x8), _or_zeros(w, w8), dtype
    ),
    "float8_mm(Tensor x8, Tensor x_scale, Tensor w8, Tensor w_scale, Tensor? x, Tensor? w, *, Any dtype) -> Tensor",
)

_LAID_OUT = ("alias", "clone", "detach", "expand", "permute", "select", "slice", "squeeze", "unsqueeze", "view")
"""What changes where elements lie, and is done to the data alone: one scale is for all of them."""


class Float8Tensor(Tensor):
    """A float tensor held in 8 bits: `data / scale`, with one scale for all elements.

    It stands where it was made: its gradients go to the tensor that was quantized, in the dtype of that, as if
    rounding were the identity. Matrix products are computed in float8; `dequantize()` makes a plain tensor of it.

    Args:
      data: The values times the scale, float8; the inner tensor `float8_data`.
      scale: The scale, float32, 0-d.
      dtype: The dtype that it stands for.
      origin: What it was made of, of the same shape, if that requires grad.
    """

    __tensor_gradients__ = ("origin",)

    float8_data: Tensor
    scale: Tensor
    origin: Tensor | None

    @staticmethod
    def __new__(
        cls, data: Tensor, scale: Tensor, dtype: DTypeLike = jnp.float32, origin: Tensor | None = None
    ) -> Float8Tensor:
        return Tensor._make_wrapper_subclass(cls, data.shape, data.stride(), dtype=dtype)

    def __init__(self, data: Tensor, scale: Tensor, dtype: DTypeLike = jnp.float32, origin: Tensor | None = None):
        self.float8_data = data
        self.scale = scale
        self.origin = origin

    @staticmethod
    def quantize(x: Tensor, dtype: DTypeLike = E4M3, scale: Tensor | float | None = None) -> Float8Tensor:
        """Returns a tensor in float8.

        Args:
          x: A float tensor.
          dtype: `ja.float8_e4m3fn` for values and weights, `ja.float8_e5m2` for gradients.
          scale: Values are multiplied by it first, float32, 0-d; by default so that the largest becomes the largest of
            `dtype` (dynamic scaling).
        """
        wanted = as_dtype(dtype)
        if wanted not in (E4M3, E5M2):
            raise DtypeError(f"Float8Tensor.quantize(): dtype is `ja.float8_e4m3fn` or `ja.float8_e5m2`, not {dtype}.")
        require_float("Float8Tensor.quantize", x)
        with recording(False):
            if scale is None:
                given = call(_SCALE, (call(_AMAX, (x,), ()),), (wanted,))
            else:
                given = scale if isinstance(scale, Tensor) else tensor(scale, dtype=jnp.float32)
            data = call(_ROUND, (x.detach(), given), (wanted,))
        return Float8Tensor(data, given, x.dtype, x if x.requires_grad else None)

    def dequantize(self) -> Tensor:
        """Returns a plain tensor of the same values."""
        return call(_VALUE, (self.float8_data, self.scale, self.origin), (self.dtype,))

    def __tensor_flatten__(self) -> tuple[list[str], str]:
        names = ["float8_data", "scale"]
        return names if self.origin is None else [*names, "origin"], self.dtype.name

    @staticmethod
    def __tensor_unflatten__(inner: dict[str, Tensor], context: str, size: object, stride: object) -> Float8Tensor:
        return Float8Tensor(inner["float8_data"], inner["scale"], context, inner.get("origin"))

    @classmethod
    def __tensor_dispatch__(cls, op: Op, types: Sequence[type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        first = args[0]
        if op.name in _LAID_OUT:
            origin = None if first.origin is None else op(first.origin, *args[1:], **kwargs)
            return Float8Tensor(op(first.float8_data, *args[1:], **kwargs), first.scale, first.dtype, origin)
        if op.name == "to":
            return first.dequantize() if args[1] == first.dtype else op(first.dequantize(), *args[1:])
        if op.name in ("mm", "matmul") and len(args) == 2:
            return _multiply(args[0], args[1])
        if op.name == "linear":
            result = _multiply(args[0], args[1].t())
            return result if len(args) == 2 or args[2] is None else result + args[2]
        return NotImplemented


def _multiply(a: Tensor, b: Tensor) -> Any:
    """Returns a product computed in float8; an operand that is not in float8 yet is quantized."""
    if b.ndim != 2 or a.ndim < 1:
        return NotImplemented
    if a.shape[-1] != b.shape[0]:
        raise ShapeMismatchError(
            f"mat1 and mat2 shapes cannot be multiplied ({list(a.shape)} and {list(b.shape)}). The last size of the "
            f"first, {a.shape[-1]}, has to be the first of the second, {b.shape[0]}."
        )
    x, w = (t if isinstance(t, Float8Tensor) else Float8Tensor.quantize(t) for t in (a, b))
    operands = (x.float8_data, x.scale, w.float8_data, w.scale, x.origin, w.origin)
    return call(_PRODUCT, operands, (np.result_type(x.dtype, w.dtype),))


class AmaxHistory:
    """The greatest magnitudes of the last calls, from which a scale is made before the values are known.

    Attributes:
      values: The magnitudes, the latest first, float32, (length,); written in place.
    """

    def __init__(self, length: int = 16):
        """Begins with no calls, for which the scale is 1.

        Args:
          length: How many calls are remembered.
        """
        if length < 1:
            raise TensorValueError(f"AmaxHistory(): length is at least 1, not {length}.")
        self.values = FUNCTIONS[""]["zeros"](length)

    @classmethod
    def of(cls, values: Tensor) -> AmaxHistory:
        """Returns a history that is kept in a tensor, such as a buffer of a module.

        Args:
          values: The magnitudes, the latest first, a float, (length,).
        """
        made = cls.__new__(cls)
        made.values = values
        return made

    def quantize(self, x: Tensor, dtype: DTypeLike = E4M3) -> Float8Tensor:
        """Returns a tensor in float8, scaled by the calls before, and remembers its greatest magnitude.

        Args:
          x: A float tensor.
          dtype: As for `Float8Tensor.quantize`.
        """
        with recording(False):
            scale = call(_SCALE, (self.values.amax(),), (as_dtype(dtype),))
            made = Float8Tensor.quantize(x, dtype, scale)
            latest = call(_AMAX, (x.detach(),), ()).view(1)
            self.values.copy_(FUNCTIONS[""]["cat"]([latest, self.values[:-1]]))
        return Float8Tensor(made.float8_data, made.scale, x.dtype, x if x.requires_grad else None)


def float8_linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    x_history: AmaxHistory | None = None,
    weight_history: AmaxHistory | None = None,
) -> Tensor:
    """Returns `x @ weight.T + bias`, the product and those of its gradient computed in float8.

    Args:
      x: (..., n_in).
      weight: (n_out, n_in).
      bias: (n_out,), or None.
      x_history: For delayed scaling of `x`; by default the scale is that of the values themselves.
      weight_history: The same for the weight.

    Returns:
      (..., n_out).
    """
    x8 = Float8Tensor.quantize(x) if x_history is None else x_history.quantize(x)
    w8 = Float8Tensor.quantize(weight) if weight_history is None else weight_history.quantize(weight)
    return FUNCTIONS["nn.functional"]["linear"](x8, w8, bias)


class Float8Linear(Linear):
    """A linear layer that multiplies in float8; its parameters keep their dtype.

    Args:
      in_features: Size of each input.
      out_features: Size of each output.
      bias: Whether a bias is added.
      scaling: `"dynamic"`: scales are made of the values themselves. `"delayed"`: of those of the last calls.
      history: With delayed scaling, how many calls.
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, scaling: str = "dynamic", history: int = 16
    ):
        super().__init__(in_features, out_features, bias)
        if scaling not in ("dynamic", "delayed"):
            raise TensorValueError(f"Float8Linear(): scaling is 'dynamic' or 'delayed', not {scaling!r}.")
        self.scaling = scaling
        for name in ("x_amax", "weight_amax") if scaling == "delayed" else ():
            self.register_buffer(name, AmaxHistory(history).values)

    @property
    def x_history(self) -> AmaxHistory | None:
        """What is remembered of inputs, kept in the buffer `x_amax`; None with dynamic scaling."""
        return AmaxHistory.of(self.x_amax) if self.scaling == "delayed" else None

    @property
    def weight_history(self) -> AmaxHistory | None:
        """What is remembered of weights, kept in the buffer `weight_amax`; None with dynamic scaling."""
        return AmaxHistory.of(self.weight_amax) if self.scaling == "delayed" else None

    def forward(self, input: Tensor) -> Tensor:
        """Returns the layer's outputs."""
        return float8_linear(input, self.weight, self.bias, self.x_history, self.weight_history)
