"""In-place changes of what a tensor shows: `t_`, `unsqueeze_`, `resize_`, `set_`, `.data =`, `detach_`.

None of them moves a value, and none ever reaches a graph.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxaot._typing import Shape, Sizes
from jaxaot._util import set_together
from jaxaot.errors import (
    ArgumentError,
    AutogradError,
    DtypeError,
    LeafWriteError,
    ShapeMismatchError,
    TensorTypeError,
    ViewError,
)
from jaxaot.facade.dispatch.arguments import STAND_INS
from jaxaot.facade.dispatch.signatures import with_parameters
from jaxaot.facade.dispatch.write import check_no_inference, check_view_writable, refuse_unrecorded
from jaxaot.facade.members.typed_storage import TypedStorage
from jaxaot.facade.members.typed_storage import storage as typed_storage
from jaxaot.facade.memory.counter import WriteCounter, count_write, counter_of
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import UNRECORDED, Tensor
from jaxaot.facade.subclass.subclass import is_wrapper, take_apart
from jaxaot.facade.trace_state import refuses_unrecorded
from jaxaot.facade.view_ops import views
from jaxaot.ops.dims import sizes_of
from jaxaot.ops.promotion import is_inexact
from jaxaot.tape.modes import state
from jaxaot.views.layout import (
    Layout,
    channels_last,
    check_addressable,
    contiguous,
    contiguous_stride,
    layout_of,
)
from jaxaot.views.memory_format import MemoryFormat, check_format, suggested_format
from jaxaot.views.window import window_in_graph


def _check_leaf(tensor: Tensor) -> None:
    check_no_inference(tensor)
    history = tensor._history
    if state.grad_enabled and history is not None and history.requires_grad and history.node is None:
        if tensor._creation in UNRECORDED:
            refuse_unrecorded(tensor)
        kind = "a view of a leaf Variable" if tensor._chain else "a leaf Variable"
        raise LeafWriteError(
            f"{kind} that requires grad is being used in an in-place operation. Write inside `with ja.no_grad():`."
        )


def become(tensor: Tensor, view: Tensor) -> Tensor:
    """Turns a tensor into a view of itself, in place."""
    if is_wrapper(tensor):
        return _become_inside(tensor, view)
    _check_leaf(tensor)
    if state.grad_enabled:
        check_view_writable(tensor, tensor.requires_grad)
    if view is tensor:
        return tensor
    tensor._touch()
    if state.trace is not None:
        state.trace.adopt(tensor._storage)
    count_write(tensor)
    changes = {"_layout": view._layout, "_offset": view._offset}
    if view._history is tensor._history:
        changes |= {"_chain": view._chain, "_view_node": view._view_node, "_view_parent": view._view_parent}
    else:
        changes |= _beginning(tensor, view._layout, view._offset)
    _change(tensor, changes)
    return tensor


def _become_inside(wrapper: Any, view: Any) -> Any:
    """Turns each inner tensor of a wrapper into that of a view of the wrapper, in place."""
    if view is not wrapper:
        for inner, shown in zip(take_apart(wrapper)[0], take_apart(view)[0], strict=True):
            become(inner, shown)
        wrapper._layout = view._layout
    return wrapper


def _change(tensor: Tensor, fields: dict[str, Any]) -> None:
    """Sets several attributes of a tensor: none or all, if an interrupt comes."""
    set_together([(tensor, name, value) for name, value in fields.items()])


def _beginning(tensor: Tensor, layout: Layout, offset: int) -> dict[str, Any]:
    """Returns the new state of a tensor whose history starts again at a layout, with the same gradient."""
    old = tensor._history
    if old is None:
        return {}
    trace = old.trace if old.requires_grad else state.trace
    new = History(layout, offset, old.requires_grad, old.node, old.index, trace)
    new.leaf, new.accumulator, new.ghost = old.leaf, old.accumulator, old.ghost
    return {"_history": new, "_chain": (), "_view_node": None}


def _inplace_view(name: str) -> Any:
    view_op = views.VIEWS[name]

    def inplace(self: Tensor, *args: object, **kwargs: Any) -> Tensor:
        return become(self, view_op(self, *args, **kwargs))

    inplace.__name__ = f"{name}_"
    inplace.__doc__ = f"Does `{name}` in place: changes what this tensor shows, and no values."
    return with_parameters(inplace, view_op)


def as_strided_(self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """Shows another strided view of the storage, in place."""
    return become(self, views.as_strided(self, size, stride, storage_offset))


def resize_(
    self: Tensor, *sizes: Any, size: Any = None, memory_format: MemoryFormat = MemoryFormat.contiguous_format
) -> Tensor:
    """Changes the shape in place, growing the storage where needed; what is new must be written before it is read.

    Args:
      *sizes: The new shape.
      size: The same, as one sequence.
      memory_format: How the elements lie in memory afterwards.
    """
    if self.requires_grad and refuses_unrecorded():
        raise AutogradError("cannot resize variables that require grad")
    wanted: Shape = sizes_of(sizes, size)
    if any(n < 0 for n in wanted):
        raise ShapeMismatchError(f"resize_: negative dimension in {list(wanted)}")
    if memory_format is MemoryFormat.preserve_format:
        raise ArgumentError("resize_: Unsupported memory format preserve_format; name the format that is wanted.")
    is_row_major = check_format(memory_format, len(wanted)) is MemoryFormat.contiguous_format
    if wanted == self._layout.size and is_row_major:
        return self
    check_addressable(wanted, self.dtype.itemsize)
    self._touch()
    layout = contiguous(wanted, self._layout.dtype) if is_row_major else channels_last(wanted, self._layout.dtype)
    needed = (self._offset + layout.reach) * self.dtype.itemsize
    if state.trace is not None:
        if state.trace.is_functionalized and layout.numel > self._layout.numel and self._is_view():
            raise AutogradError(
                "Attempted to resize a view tensor to a larger size. This is not allowed in the functionalization "
                f"pass: `ja.func.functionalize` met a view of shape {list(self.shape)}, to become {list(wanted)}. "
                "Resize the tensor that it is a view of, or a clone."
            )
        state.trace.adopt(self._storage)
    if needed > self._storage.nbytes():
        _grow(self, needed)
    if (
        self.requires_grad and state.grad_enabled
    ):  # in `ja.func.functionalize`: gradients go on through the memory it shows
        return become(self, views.as_strided(self, layout.size, layout.stride, self._offset))
    count_write(self)
    _change(self, {"_layout": layout, **_beginning(self, layout, self._offset)})
    return self


def _grow(tensor: Tensor, nbytes: int) -> None:
    """Makes the storage of a tensor larger, and in a trace what carries the gradients of its history too."""
    storage, history = tensor._storage, tensor._history
    if history is None or history.ghost is None or history.trace is not state.trace or storage.array is None:
        storage.resize_(nbytes)
        return
    carrier = Storage(history.ghost, storage.layout, storage.trace)
    storage.resize_(nbytes)
    carrier.resize_(nbytes)
    history.ghost = storage.array if storage.writer is history else carrier.array


def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """Resizes to the shape of another tensor, in place.

    Args:
      input: The tensor to be resized.
      the_template: The tensor.
      memory_format: How the elements lie in memory afterwards; `preserve_format` is that of `the_template`.
    """
    if memory_format is MemoryFormat.preserve_format:
        memory_format = suggested_format(the_template._layout)
    return resize_(input, tuple(the_template.shape), memory_format=memory_format or MemoryFormat.contiguous_format)


def set_(
    self: Tensor,
    source: Any = None,
    storage_offset: int = 0,
    size: Sizes | None = None,
    stride: Sizes | None = None,
) -> Tensor:
    """Makes this tensor show another storage: that of a tensor, or a part of a storage.

    Args:
      source: A tensor, a storage, or None for an empty storage.
      storage_offset: With a storage: where to begin.
      size: With a storage: the shape; by default all of it.
      stride: With a storage: the strides; by default contiguous ones.
    """
    if self.requires_grad and state.grad_enabled and self.is_leaf:
        raise LeafWriteError("a leaf Variable that requires grad is being used in an in-place operation.")
    self._touch()
    if source is None:
        storage, layout, offset = _empty_storage(self._layout.dtype), contiguous((0,), self._layout.dtype), 0
    elif isinstance(source, (Storage, TypedStorage)):
        source = source.untyped() if isinstance(source, TypedStorage) else source
        n = source.nbytes() // self.itemsize
        shape = (n,) if size is None else sizes_of((size,))
        strides = contiguous_stride(shape) if stride is None else sizes_of((stride,))
        layout, offset = layout_of(shape, strides, self._layout.dtype), operator.index(storage_offset)
        views.check_strided(layout.size, offset)
        source.check_reach(layout, offset, is_write=True)
        storage = source
    elif isinstance(source, Tensor):
        if state.trace is not None:
            state.trace.note(source)
        if source.dtype != self.dtype:
            raise DtypeError(f"Could not set tensor of type {source.dtype} to a tensor of type {self.dtype}")
        storage, layout, offset = source._storage, source._layout, source._offset
        if size is not None:
            shape = sizes_of((size,))
            strides = contiguous_stride(shape) if stride is None else sizes_of((stride,))
            layout, offset = layout_of(shape, strides, source._layout.dtype), operator.index(storage_offset)
    else:
        raise TensorTypeError(f"set_(): argument 'source' must be Tensor or storage, not {type(source).__name__}")
    if state.trace is not None:
        state.trace.adopt(storage)
    count_write(self)
    _show(self, storage, layout, offset)
    if self._history is not None:
        self._history.accumulator = None  # what was computed before has the gradient of a value that is gone
    return self


def _carrier(tensor: Tensor) -> Any:
    """Returns, in a trace, a value that carries the gradients of a tensor; None elsewhere, and if it holds nothing."""
    if state.trace is None or tensor._storage.array is None:
        return None
    grad_enabled, state.grad_enabled = state.grad_enabled, True
    try:
        return tensor._read()
    finally:
        state.grad_enabled = grad_enabled


def _carry(tensor: Tensor, carrier: Any) -> None:
    """Makes the gradients of what a tensor shows now go where a carrier's go."""
    history, storage = tensor._history, tensor._storage
    if tensor._layout is not storage.layout:
        window, starts = window_in_graph(storage.layout, tensor._layout, tensor._offset)
        carrier = window.scatter(jnp.zeros(storage.layout.size, storage.layout.dtype), carrier, starts)
    assert history is not None, "it requires grad"
    history.trace, history.ghost = state.trace, carrier


def _show(tensor: Tensor, storage: Storage, layout: Layout, offset: int) -> None:
    counter_of(tensor)  # it stays the tensor's, apart from those of the storage's other tensors
    carrier = _carrier(tensor) if tensor.requires_grad and tensor._layout.size == layout.size else None
    changes = {"_storage": storage, "_layout": layout, "_offset": offset, "_base_tensor": None, "_creation": None}
    _change(tensor, {**changes, **_beginning(tensor, layout, offset)})
    if carrier is not None:
        _carry(tensor, carrier)


def _empty_storage(dtype: np.dtype) -> Storage:
    storage = Storage(None, contiguous((0,), dtype))
    if state.trace is not None:
        storage.trace = state.trace
    return storage


def get_data(self: Tensor) -> Tensor:
    """Returns a tensor on the same memory through which no gradient flows."""
    made = views.detached(self)
    made._counter = WriteCounter()
    return made


def set_data(self: Tensor, value: Tensor) -> None:
    """Makes this tensor show the memory of another; its `.grad` and place in the graph stay."""
    if not isinstance(value, Tensor):
        if type(value) in STAND_INS:
            value.settled("`.data`")
        raise TensorTypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    if self.requires_grad and not is_inexact(value.dtype):
        raise DtypeError(
            f"data set to a tensor that requires gradients must be floating point or complex dtype, not {value.dtype}. "
            "Say `x.requires_grad_(False)` first."
        )
    self._touch()
    if state.trace is not None:
        state.trace.note(value)
    _show(self, value._storage, value._layout, value._offset)


def delete_data(self: Tensor) -> None:
    """Refuses `del x.data`.

    Raises:
      AutogradError: Always.
    """
    raise AutogradError("Deleting tensor data is not allowed. Delete tensor instead! Write `del x`.")


def detach_(self: Tensor) -> Tensor:
    """Cuts this tensor off from its history, in place."""
    if self._base_tensor is not None and self._chain:
        raise ViewError(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
            "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
            "detach_() cannot be called on these gradients."
        )
    self._touch()
    if state.dual is not None:
        state.dual.drop(self)
    _change(self, {"_history": None, "_chain": (), "_view_node": None})
    return self


METHODS = {
    **{f"{name}_": _inplace_view(name) for name in (
        "t", "transpose", "unsqueeze", "squeeze", "swapaxes", "swapdims",
    )},
    "as_strided_": as_strided_, "resize_": resize_, "resize_as_": resize_as_, "set_": set_, "detach_": detach_,
    "storage": typed_storage,
}  # fmt: skip
