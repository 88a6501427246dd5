"""What tensors and dtypes say of themselves: functions that ask and never compute or write a value."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._typing import DTypeLike
from jaxaot.errors import ArgumentError, ShapeMismatchError, TensorValueError
from jaxaot.facade.dispatch.create import as_dtype, as_tensor, tensor
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.members.typed_storage import TypedStorage
from jaxaot.facade.memory.source_line import warn_user
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import INFERENCE, Size, Tensor
from jaxaot.facade.subclass.subclass import leaves_of
from jaxaot.ops import dims
from jaxaot.ops.dtypes import dtype as Dtype
from jaxaot.ops.dtypes import dtype_of
from jaxaot.ops.promotion import can_store, default_float, is_bool, result_dtype
from jaxaot.ops.table import lookup
from jaxaot.views.memory_format import MemoryLayout


def is_tensor(obj: object) -> bool:
    """Returns whether `obj` is a tensor of jaxaot."""
    return isinstance(obj, Tensor)


def is_storage(obj: object) -> bool:
    """Returns whether `obj` is a storage of jaxaot."""
    return isinstance(obj, (Storage, TypedStorage))


def is_floating_point(input: Tensor) -> bool:
    """Returns whether the elements are floats."""
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Returns whether the elements are complex numbers."""
    return input.is_complex()


def is_signed(input: Tensor) -> bool:
    """Returns whether the elements can be negative."""
    return not is_bool(input.dtype) and input.dtype.kind != "u"


def is_nonzero(input: Tensor) -> bool:
    """Returns whether the only element is not zero.

    Raises:
      TensorValueError: If there is not exactly one element.
    """
    if input.numel() != 1:
        some = "more than one value" if input.numel() else "no values"
        raise TensorValueError(
            f"Boolean value of Tensor with {some} is ambiguous. Write `x.any()` or `x.all()`, or "
            "`ja.where(x, a, b)` for a choice at each element."
        )
    return bool(input._concrete("`is_nonzero`").reshape(()).item())


def is_conj(input: Tensor) -> bool:
    """Returns whether the tensor shows the conjugates of what its memory holds."""
    return input._layout.is_conj and input.is_complex()


def is_neg(input: Tensor) -> bool:
    """Returns whether the tensor shows the negatives of what its memory holds, as `x.conj().imag` does."""
    return input._layout.is_conj and not input.is_complex()


def is_inference(input: Tensor) -> bool:
    """Returns whether the tensor was made in `inference_mode`, so that it cannot be saved for a backward."""
    input._ask("is_inference")
    return any(leaf._creation == INFERENCE for leaf in leaves_of(input))


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Returns whether two tensors have the same shape."""
    return tuple(input.shape) == tuple(other.shape)


def is_set_to(input: Tensor, tensor: Tensor) -> bool:
    """Returns whether two tensors show the same elements of the same storage in the same way."""
    input._ask()
    tensor._ask()
    return input._storage is tensor._storage and input._layout is tensor._layout and input._offset == tensor._offset


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Returns whether all elements are close."""
    return bool(call(lookup("isclose"), (input, other), (rtol, atol, equal_nan)).all().item())


def equal(input: Tensor, other: Tensor) -> bool:
    """Returns whether two tensors have the same shape and elements."""
    return tuple(input.shape) == tuple(other.shape) and bool((input == other).all().item())


def numel(input: Tensor) -> int:
    """Returns the number of elements."""
    return input.numel()


def get_device(input: Tensor) -> int:
    """Returns the number of the accelerator that holds the tensor, or -1 on the CPU."""
    device = input.device
    return -1 if device.type in ("cpu", "meta") else device.index


def broadcast_shapes(*shapes: Any) -> Size:
    """Returns the shape to which tensors of these shapes broadcast; a number stands for a shape of one dim.

    Raises:
      ShapeMismatchError: If they do not.
      ArgumentError: If one is no shape.
    """
    for shape in shapes:
        if not isinstance(shape, int) and not isinstance(shape, (tuple, list)):
            raise ArgumentError(
                "Input shapes should be of type ints, a tuple of ints, or a list of ints, got "
                f"{type(shape).__name__}: {shape!r}. Write `x.shape` for that of a tensor."
            )
    sizes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    for size in sizes:
        if any(n < 0 for n in size):
            raise ShapeMismatchError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    try:
        return Size(dims.broadcast_shapes(*sizes))
    except ShapeMismatchError as error:
        raise ShapeMismatchError(f"Shape mismatch: objects cannot be broadcast to a single shape. {error}") from None


def typename(obj: object) -> str:
    """Returns the name of the type of `obj`, with that of its module."""
    kind = obj if isinstance(obj, type) else type(obj)
    return f"{kind.__module__}.{kind.__qualname__}"


def _retains_grad(tensor: Tensor) -> bool:
    tensor._ask("retains_grad")
    edge = None if tensor.is_leaf else tensor._gradient_edge()
    return edge is not None and edge.node.hooks is not None and edge.index in edge.node.hooks.retained


# -- dtypes ------------------------------------------------------------------------------------------------------------


def get_default_dtype() -> Dtype:
    """Returns the dtype of floats that name none: float32, or what `set_default_dtype` said."""
    return dtype_of(default_float())


def promote_types(type1: Any, type2: Any) -> Dtype:
    """Returns the smallest dtype to which both can be converted."""
    return dtype_of(jnp.promote_types(np.dtype(as_dtype(type1)), np.dtype(as_dtype(type2))))


def result_type(
    *both: Any, tensor: Any = None, other: Any = None, scalar: Any = None, scalar1: Any = None, scalar2: Any = None
) -> Dtype:
    """Returns the dtype in which an op on two tensors or numbers is computed.

    Args:
      *both: The two.
      tensor: A tensor, by PyTorch's name; with `other` or `scalar`.
      other: The second operand.
      scalar: A number, with `tensor`.
      scalar1: A number, with `scalar2`.
      scalar2: A number.

    Raises:
      ArgumentError: If there are not two of them.
    """
    values = [*both, *(value for value in (tensor, other, scalar, scalar1, scalar2) if value is not None)]
    if len(values) != 2:
        raise ArgumentError(f"result_type() takes two tensors or numbers, not {len(values)}: `ja.result_type(x, y)`.")
    plain = lambda value: jax.ShapeDtypeStruct(value.shape, value.dtype) if isinstance(value, Tensor) else value
    return dtype_of(result_dtype(*map(plain, values)))


def can_cast(from_: DTypeLike, to: DTypeLike) -> bool:
    """Returns whether an in-place op may store results of one dtype in a tensor of another."""
    return can_store(np.dtype(as_dtype(from_)), np.dtype(as_dtype(to)))


def finfo(dtype: DTypeLike | None = None) -> Any:
    """Returns the limits of a float dtype: `bits`, `eps`, `max`, `min`, `tiny`, …"""
    return jnp.finfo(default_float() if dtype is None else as_dtype(dtype))


def iinfo(dtype: DTypeLike | None) -> Any:
    """Returns the limits of an integer dtype: `bits`, `max`, `min`."""
    return jnp.iinfo(as_dtype(dtype))


# -- other libraries' data ---------------------------------------------------------------------------------------------


def asarray(
    obj: object,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Returns `obj` as a tensor: a tensor itself, a jax array without a copy, anything else copied.

    By default it requires grad if `obj` does.

    Raises:
      ArgumentError: If `copy=False` and the data has to be copied.
    """
    made = _as_tensor(obj, as_dtype(dtype), dtype, device, copy)
    if requires_grad is None or requires_grad == made.requires_grad:
        return made
    return made.requires_grad_() if requires_grad else made.detach()


def _as_tensor(obj: object, wanted: np.dtype | None, dtype: Any, device: object, copy: bool | None) -> Tensor:
    if isinstance(obj, Tensor) and not copy and wanted in (None, obj.dtype):
        return obj
    if isinstance(obj, jax.Array) and not copy and wanted in (None, obj.dtype):
        return as_tensor(obj)
    if copy is False:
        raise ArgumentError(f"can't alias the memory of a {type(obj).__name__} without a copy; leave out `copy=False`")
    return obj.to(wanted) if isinstance(obj, Tensor) and wanted != obj.dtype else tensor(obj, dtype, device)


def frombuffer(
    buffer: Any, *, dtype: DTypeLike | None, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """Returns a tensor with a copy of the bytes of a buffer."""
    return tensor(np.frombuffer(buffer, np.dtype(dtype), count, offset), requires_grad=requires_grad)


BOTH = {fn.__name__: fn for fn in (
    is_signed, is_nonzero, is_conj, is_neg, is_inference, is_same_size, is_set_to, get_device, allclose, equal,
)}  # fmt: skip
"""Functions of `ja` that are methods too."""

FUNCTIONS = BOTH | {fn.__name__: fn for fn in (
    is_tensor, is_storage, is_floating_point, is_complex, numel, broadcast_shapes, typename, get_default_dtype,
    promote_types, result_type, can_cast, finfo, iinfo, asarray, frombuffer,
)}  # fmt: skip


def _volatile(self: Tensor) -> bool:
    """Whether the tensor is what PyTorch had before `no_grad`: it never is."""
    warn_user("volatile was removed (Variable.volatile is always False). Write `with ja.no_grad():`.")
    return False


def _layout(self: Tensor) -> MemoryLayout:
    """How elements are found in memory: by strides, `ja.strided`."""
    return MemoryLayout.strided


PROPERTIES = {
    "is_cpu": lambda self: self.device.type == "cpu",
    "is_cuda": lambda self: self.device.type == "cuda",
    "is_meta": lambda self: self._storage.layout.is_abstract,
    "layout": _layout,
    "is_sparse": lambda self: False,
    "is_quantized": lambda self: False,
    "is_nested": lambda self: False,
    "retains_grad": _retains_grad,
    "volatile": _volatile,
}
