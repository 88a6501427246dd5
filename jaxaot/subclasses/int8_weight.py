"""Weights in int8 with a scale for each channel: half the bytes of bfloat16, for decoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot._typing import DTypeLike
from jaxaot.errors import DtypeError, ShapeMismatchError
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import Op
from jaxaot.subclasses.float8 import require_float


class Int8Weight(Tensor):
    """A matrix held in 8 bits: `int8_data * scale`, with a scale for each row.

    It is a constant: gradients flow through products with it, and none to it.

    Args:
      int8_data: The values divided by the scale, int8, (n_out, n_in).
      scale: Float, (n_out, 1); of a transposed weight both are transposed.
      dtype: The dtype that it stands for.
    """

    __tensor_gradients__ = ()

    int8_data: Tensor
    scale: Tensor

    @staticmethod
    def __new__(cls, int8_data: Tensor, scale: Tensor, dtype: DTypeLike = jnp.float32) -> Int8Weight:
        if int8_data.ndim < 2:
            raise ShapeMismatchError(
                f"Int8Weight(): a matrix is expected, not int8 values of shape {list(int8_data.shape)}. Take rows of "
                "`w.dequantize()`."
            )
        return Tensor._make_wrapper_subclass(cls, int8_data.shape, int8_data.stride(), dtype=dtype)

    def __init__(self, int8_data: Tensor, scale: Tensor, dtype: DTypeLike = jnp.float32):
        self.int8_data = int8_data
        self.scale = scale

    @staticmethod
    def quantize(weight: Tensor) -> Int8Weight:
        """Returns a matrix in int8.

        Args:
          weight: A float tensor, (n_out, n_in).
        """
        require_float("Int8Weight.quantize", weight)
        if weight.ndim != 2:
            raise DtypeError(
                f"Int8Weight.quantize(): a float matrix is expected, not {weight.dtype}{list(weight.shape)}."
            )
        with recording(False):
            values = weight.detach().float()
            amax = values.abs().amax(1, keepdim=True)
            scale = FUNCTIONS[""]["where"](amax > 0, amax / 127, FUNCTIONS[""]["ones_like"](amax))
            data = (values / scale).round().to(jnp.int8)
            return Int8Weight(data, scale.to(weight.dtype), weight.dtype)

    def dequantize(self) -> Tensor:
        """Returns a plain tensor of the same values."""
        return self.int8_data.to(self.dtype) * self.scale

    def __tensor_flatten__(self) -> tuple[list[str], str]:
        return ["int8_data", "scale"], self.dtype.name

    @staticmethod
    def __tensor_unflatten__(inner: dict[str, Tensor], context: str, size: object, stride: object) -> Int8Weight:
        return Int8Weight(inner["int8_data"], inner["scale"], context)

    @classmethod
    def __tensor_dispatch__(cls, op: Op, types: Sequence[type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if op.name in ("alias", "clone", "detach", "permute"):
            w = args[0]
            return Int8Weight(op(w.int8_data, *args[1:]), op(w.scale, *args[1:]), w.dtype)
        if op.name == "to":
            w = args[0]
            return Int8Weight(w.int8_data, w.scale.to(args[1]), args[1])
        if op.name == "linear":
            return _linear(*args)
        if op.name in ("mm", "matmul") and not isinstance(args[0], Int8Weight) and args[1].ndim == 2:
            return _linear(args[0], args[1].t())
        if op.name == "embedding":
            indices, w = args[:2]
            rows = FUNCTIONS["nn.functional"]["embedding"]
            return rows(indices, w.int8_data).to(w.dtype) * rows(indices, w.scale)
        return NotImplemented


def _linear(x: Tensor, w: Int8Weight, bias: Tensor | None = None) -> Any:
    """Returns `x @ w.T + bias`; a scale of rows is applied to the result, which is smaller than the weight."""
    if isinstance(x, Int8Weight):
        return NotImplemented
    if w.scale.shape[1] != 1:  # a transposed one: its scales are of what is summed over
        result = x @ w.dequantize().t()
    else:
        result = (x @ w.int8_data.to(x.dtype).t()) * w.scale.view(-1).to(x.dtype)
    return result if bias is None else result + bias
