"""Classes that stand for the tensors of one dtype, `ja.FloatTensor`, and for all, `ja.autograd.Variable`."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from jaxaot.errors import TensorTypeError
from jaxaot.facade.members.legacy_signatures import construct
from jaxaot.facade.memory.tensor import Size, Tensor
from jaxaot.ops.dtypes import dtype as Dtype
from jaxaot.ops.promotion import canonical_dtype


class _KindOfTensor(type):
    """The class of these: a tensor is an instance of the one that has its dtype."""

    _held: Any

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype

    @property
    def dtype(cls) -> Dtype:
        """The dtype of the tensors."""
        return Dtype(canonical_dtype(cls._held))


class _TensorOfDtype(metaclass=_KindOfTensor):
    _held: ClassVar[Any] = np.float32

    def __new__(cls, *data: Any, size: Any = None, device: object = None) -> Tensor:  # type: ignore[misc]
        del device
        return construct(data if size is None else (Size(size),), cls._held)


class FloatTensor(_TensorOfDtype):
    """Makes a tensor of float32: of numbers, which are its sizes, or of a sequence of its values.

    Args:
      *data: Sizes, or values.
      size: The sizes as one sequence.
      device: Ignored: tensors are made on JAX's default device.
    """


class DoubleTensor(_TensorOfDtype):
    """Makes a tensor of float64, see `FloatTensor`."""

    _held = np.float64


class HalfTensor(_TensorOfDtype):
    """Makes a tensor of float16, see `FloatTensor`."""

    _held = np.float16


class BFloat16Tensor(_TensorOfDtype):
    """Makes a tensor of bfloat16, see `FloatTensor`."""

    _held = jnp.bfloat16


class LongTensor(_TensorOfDtype):
    """Makes a tensor of int64, see `FloatTensor`."""

    _held = np.int64


class IntTensor(_TensorOfDtype):
    """Makes a tensor of int32, see `FloatTensor`."""

    _held = np.int32


class ShortTensor(_TensorOfDtype):
    """Makes a tensor of int16, see `FloatTensor`."""

    _held = np.int16


class CharTensor(_TensorOfDtype):
    """Makes a tensor of int8, see `FloatTensor`."""

    _held = np.int8


class ByteTensor(_TensorOfDtype):
    """Makes a tensor of uint8, see `FloatTensor`."""

    _held = np.uint8


class BoolTensor(_TensorOfDtype):
    """Makes a tensor of bool, see `FloatTensor`."""

    _held = np.bool_


class _AnyTensor(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_AnyTensor):
    """Returns a leaf on the memory of a tensor, as PyTorch before 0.4 needed it for gradients (deprecated).

    Args:
      data: The tensor.
      requires_grad: Whether its gradient is wanted.
      volatile: Ignored with a warning.

    Raises:
      TensorTypeError: If it is none.
    """

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: bool = False) -> Tensor:  # type: ignore[misc]
        if not isinstance(data, Tensor):
            raise TensorTypeError(
                f"Variable data has to be a tensor, but got {type(data).__name__}. Write "
                "`ja.tensor(data, requires_grad=True)`."
            )
        if volatile:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with ja.no_grad():` instead.",
                UserWarning,
                stacklevel=2,
            )
        return data.detach().requires_grad_(requires_grad)
