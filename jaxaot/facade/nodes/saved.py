"""Saved tensors: what the nodes of the tape hold for their backward, its names, and its hooks.

An op's node holds arrays. `grad_fn._saved_self` shows one as a tensor, the very one that was saved where that still
exists; `grad_fn._raw_saved_self` is the `SavedTensor`, on which hooks can be set. Under `saved_tensors_hooks` a node
holds what the pack hook made of each instead.

Values here are immutable: a write after an operation puts another array in the cell, and cannot reach what was saved.
So the gradient is that of the values that were used, where PyTorch refuses: after a write in place to what was saved,
and after it was detached in place. `ja.autograd.set_version_check("error")` refuses as PyTorch does. For the same
reason a pack hook gets a tensor with memory of its own: what it keeps is what was saved, whatever is written later.
Python numbers, and the keys of random ops, are never packed.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np

from jaxaot._immutable import immutable
from jaxaot._jax import is_tracer
from jaxaot._typing import Array
from jaxaot.errors import (
    AutogradError,
    BackwardTwiceError,
    InferenceTensorError,
    PackHookWroteError,
    SavedHooksError,
    SavedTensorDetachedError,
    SavedTensorWrittenError,
    ShapeMismatchError,
    TensorTypeError,
)
from jaxaot.facade.kernels.kernels import dtype_name
from jaxaot.facade.memory.counter import WriteCounter, counter_of, writes_of
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import INFERENCE, Tensor, wrap, wrap_array
from jaxaot.lower.abstract import as_array
from jaxaot.tape.modes import state
from jaxaot.tape.saved_hooks import Hook, HookPair
from jaxaot.views.layout import Layout, contiguous, dense_like

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


def check_saveable(tensor: Tensor) -> None:
    """Raises if a tensor cannot be saved for a backward.

    Raises:
      InferenceTensorError: If it was made in `inference_mode`.
    """
    if tensor._creation == INFERENCE:
        raise InferenceTensorError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
            "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use "
            "it in autograd, or use `ja.no_grad()` instead of `ja.inference_mode()`."
        )


# -- packing -----------------------------------------------------------------------------------------------------------


def check_unpacked(tensor: Tensor, layout: Layout) -> Tensor:
    """Returns the tensor that an unpack hook returned, if it can stand for the packed one.

    Raises:
      TensorTypeError: If it is no tensor.
      ShapeMismatchError: If it has another shape.
    """
    if not isinstance(tensor, Tensor):
        raise TensorTypeError(
            f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(tensor).__name__}"
        )
    if tensor._layout.size != layout.size:
        raise ShapeMismatchError(
            f"Output of saved tensor unpack_hook expected to have the size of what was packed, {list(layout.size)}, "
            f"but got {list(tensor.shape)}. Undo in unpack_hook whatever pack_hook does to the shape."
        )
    return tensor


def check_unwritten(tensor: Tensor) -> None:
    """Raises if a pack hook wrote to the tensor that it got.

    Raises:
      PackHookWroteError: If it did.
    """
    if writes_of(tensor):
        raise PackHookWroteError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot "
            "be modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if "
            "you need to perform in-place operations on the input to a pack hook. Write `x = x + 1` instead of "
            "`x += 1`."
        )


@final
@immutable(eq=False)
class Packed:
    """What a pack hook made of an array.

    Attributes:
      hooks: The pair.
      value: What `pack` returned.
      layout: Of the tensor that was packed.
    """

    hooks: HookPair
    value: Any
    layout: Layout

    def unpack(self) -> Tensor:
        """Returns the tensor that the unpack hook makes; it is called anew each time.

        Raises:
          TensorTypeError: If it returns no tensor.
          ShapeMismatchError: If it returns one of another shape.
        """
        return check_unpacked(self.hooks.unpack(self.value), self.layout)

    def array(self) -> Array:
        """Returns the values that the unpack hook gives back, in the dtype that was packed."""
        before = state.grad_enabled
        state.grad_enabled = False
        try:
            tensor = self.unpack()
            if tensor.dtype != self.layout.dtype:
                tensor = tensor.to(self.layout.dtype)
            array = tensor._read()
        finally:
            state.grad_enabled = before
        tensor._storage.is_shared = True
        return array


def pack(hooks: HookPair, array: Array, layout: Layout) -> Packed:
    """Returns the result of a pack hook for an array.

    Raises:
      PackHookWroteError: If the hook writes to the tensor that it gets.
    """
    before = state.grad_enabled
    state.grad_enabled = False
    try:
        shown = wrap_array(array, layout)
        shown._storage.is_shared = True
        value = hooks.pack(shown)
    finally:
        state.grad_enabled = before
    check_unwritten(shown)
    return Packed(hooks, value, layout)


class SavedValues:
    """What a node holds if some of it is packed; stands in place of the arrays.

    Attributes:
      items: For each saved value, an array or `Packed`.
    """

    __slots__ = ("items",)

    def __init__(self, items: Sequence[Any]):
        self.items = list(items)

    def again(self) -> list[Any]:
        """Returns the arrays."""
        return [item.array() if type(item) is Packed else item for item in self.items]


def is_packed(held: Any) -> bool:
    """Returns whether some of what a node holds was packed."""
    return type(held) is SavedValues or (type(held) is list and any(type(item) is Packed for item in held))


def pack_arrays(arrays: Sequence[Any], hooks: Mapping[int, HookPair]) -> SavedValues:
    """Returns arrays, those at some places packed by the hooks that are given for them."""
    return SavedValues([
        pack(hooks[i], array, contiguous(tuple(array.shape), array.dtype)) if i in hooks else array
        for i, array in enumerate(arrays)
    ])  # fmt: skip


# -- what a node of an op holds ----------------------------------------------------------------------------------------


@final
@immutable(eq=False)
class Version:
    """How a tensor was when it was saved.

    Attributes:
      text: What the error calls it.
      tensor: The tensor, as long as it lives.
      may_detach: Whether it may be detached in place: a leaf, and what the node itself made.
      counter: Its write counter.
      n: What that was.
      storage: Its storage.
      array: What that held.
    """

    text: str
    tensor: weakref.ref[Tensor]
    may_detach: bool
    counter: WriteCounter
    n: int
    storage: Storage
    array: Any

    def check(self) -> None:
        """Raises if the tensor was written or detached in place since.

        Raises:
          SavedTensorDetachedError: If it was detached.
          SavedTensorWrittenError: If it was written.
        """
        if state.trace is not None:  # a tape that is compiled is checked before
            return
        tensor = self.tensor()
        if not self.may_detach and tensor is not None and not tensor.requires_grad:
            raise SavedTensorDetachedError(
                "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not "
                "supported, please use out-of-place `.detach()` instead"
            )
        if self.counter.n != self.n or self.storage.array is not self.array:  # that also shows writes through `.data`
            watches = state.anomaly is not None and state.anomaly.is_mode
            raise SavedTensorWrittenError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: "
                f"{self.text} is at version {self.counter.n}; expected version {self.n} instead. Hint: "
                f"{_WATCHED if watches else _UNWATCHED} Write out of place, or leave "
                '`ja.autograd.set_version_check("error")` out to get the gradient of the values that were used.'
            )


_UNWATCHED = (
    "enable anomaly detection to find the operation that failed to compute its gradient, with "
    "ja.autograd.set_detect_anomaly(True)."
)
_WATCHED = (
    "the backtrace further above shows the operation that failed to compute its gradient. The variable in question was "
    "changed in there or anywhere later. Good luck!"
)


def version_of(tensor: Tensor, is_result: bool = False) -> Version:
    """Returns how a tensor is now.

    Args:
      tensor: What is saved.
      is_result: Whether the node that saves it made it; then it may be detached in place.
    """
    text = f"[jaxaot.{dtype_name(tensor.dtype)}Tensor {list(tensor.shape)}]"
    node = tensor._producer() if tensor.requires_grad else None
    if node is not None:
        text += f", which is output {tensor.output_nr} of {node.name().removesuffix('Backward0')},"
    counter, storage = counter_of(tensor), tensor._storage
    may_detach = is_result or tensor.is_leaf
    return Version(text, weakref.ref(tensor), may_detach, counter, counter.n, storage, storage.array)


def noted(tensor: Tensor, is_result: bool, node: Any) -> Any:
    """Returns what a node notes of a tensor that it saves, and checks before its backward."""
    version, context = version_of(tensor, is_result), state.may_write_saved
    if context is None:
        return version
    context.watch(node)
    return context.allow(version)


def save_specially(node: Any, flat: Sequence[Any], results: Sequence[Tensor]) -> None:
    """Notes versions of what a new node of an op saves, and packs it, as the modes say."""
    kernel, hooks = node.kernel, state.saved_hooks
    if hooks is not None:
        items = list(node.leaves)
        for k, (origin, i) in enumerate(kernel.sources):
            layout = _layout_of(items[k], origin, i, flat, results)
            if layout is not None:
                items[k] = pack(hooks, items[k], layout)
        node.leaves = SavedValues(items)
    elif not state.saves_plainly:  # with hooks nothing is checked, as in PyTorch
        saved = [*(flat[i] for i in kernel.needed_tensors), *(results[i] for i in kernel.held_results)]
        n_arguments = len(kernel.needed_tensors)
        node.versions = [noted(tensor, i >= n_arguments, node) for i, tensor in enumerate(saved)]


def note_written(node: Any, target: Tensor) -> None:
    """Notes that a new node's result was written in place to its first argument, which thus is its result.

    What that held before is kept by the node alone, so that writing it is no reason to refuse.
    """
    kernel = node.kernel
    node.is_on_view = target._base_tensor is not None
    if node.originals and kernel.held_results:
        node.originals[-1] = weakref.ref(target)
    if node.versions is not None:
        arguments = zip(kernel.needed_tensors, node.versions, strict=False)
        versions = [version for i, version in arguments if i != 0]
        node.versions = [*versions, noted(target, True, node)] if kernel.held_results else versions


def _layout_of(value: Any, origin: str, index: int, flat: Sequence[Any], results: Sequence[Tensor]) -> Layout | None:
    """Returns the layout of the tensor that a saved value is shown as; None for numbers and keys."""
    match origin:
        case "result":
            return results[index]._layout.dense
        case "kept":
            return contiguous(tuple(value.shape), value.dtype)
    if index >= 0 and isinstance(flat[index], Tensor):
        return dense_like(flat[index]._layout, flat[index].dtype)
    return None


def check_takes_hooks(is_freed: bool, item: Any) -> None:
    """Raises if hooks cannot be set on what is saved.

    Raises:
      SavedHooksError: If it was freed, has hooks already, or is None.
    """
    if is_freed:
        raise SavedHooksError(
            "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph "
            "are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
            "through the graph a second time or if you need to access saved variables after calling backward."
        )
    if item is None:
        raise SavedHooksError("Calling register_hooks on a saved tensor with value None is forbidden")
    if type(item) is Packed:
        raise SavedHooksError(
            "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks "
            "is allowed at a time."
        )


class SavedTensor:
    """A tensor that a node saved for its backward (`torch._C._autograd.SavedTensor`).

    Args:
      node: The node.
      place: Which of the values that it holds; None if the node needs no value of that name.
    """

    __slots__ = ("_node", "_place")

    def __init__(self, node: Any = None, place: int | None = None):
        if node is None:
            raise AutogradError(
                "Trying to create a SavedTensor object from Python is forbidden. A node makes those of what it saved: "
                "`y.grad_fn._raw_saved_self`."
            )
        self._node = node
        self._place = place

    @property
    def is_output(self) -> bool:
        """Whether it is a result of the operation that saved it; in place, its first argument as it was afterwards."""
        return self._origin == "result"

    @property
    def is_leaf(self) -> bool:
        """Whether it was a leaf of the graph."""
        if self._place is None or self._origin != "argument":
            return False
        edge = self._edge(self._place)
        return edge is None or edge.node.is_sink

    @property
    def is_inplace_on_view(self) -> bool:
        """Whether it is what an operation in place wrote to a view."""
        return self.is_output and self._node.is_on_view

    @property
    def saved_version(self) -> int | None:
        """The version of the tensor when it was saved.

        None where nobody can tell: the tensor was written since, is gone or was packed by hooks. Versions are noted
        under `ja.autograd.set_version_check("error")` alone.
        """
        node, place = self._node, self._place
        if place is None or node.leaves is None:
            return None
        original, item = node.original(place), held_items(node)[place]
        if original is None or type(item) is Packed:
            return None
        for version in node.versions or ():
            if version.tensor() is original:
                return version.n
        return original._version if _shows(original, item) else None

    @property
    def data(self) -> Any:
        """What the node holds: what the pack hook returned, else the tensor without its history.

        Raises:
          BackwardTwiceError: If it was freed.
        """
        node, place = self._node, self._place
        if node.leaves is None:
            raise BackwardTwiceError(FREED)
        if place is None:
            return None
        item = held_items(node)[place]
        if type(item) is Packed:
            return item.value
        made = wrap_array(as_array(item), self._layout(place, item))
        made._storage.is_shared = True
        return made

    @property
    def unpack_hook(self) -> Callable[[Any], Any] | None:
        """The hook that unpacks it, or None."""
        node, place = self._node, self._place
        item = None if place is None or node.leaves is None else held_items(node)[place]
        return item.hooks.unpack if type(item) is Packed else None

    @property
    def _origin(self) -> str | None:
        return None if self._place is None else self._node.kernel.sources[self._place][0]

    def register_hooks(self, pack_hook: Hook | None = None, unpack_hook: Hook | None = None) -> None:
        """Packs the tensor at once, and has it unpacked whenever it is needed; the node no longer holds it.

        Raises:
          SavedHooksError: If it was freed, has hooks already, or is None.
          PackHookWroteError: If `pack_hook` writes to the tensor that it gets.
        """
        node, place, hooks = self._node, self._place, HookPair(pack_hook, unpack_hook)  # pyright: ignore[reportArgumentType]
        is_freed = node.leaves is None
        items = [] if is_freed else held_items(node)
        layout = None if place is None or is_freed else self._layout(place, items[place])
        check_takes_hooks(is_freed, None if place is None or layout is None else items[place])
        assert place is not None and layout is not None, "it is a tensor"
        items[place] = pack(hooks, items[place], layout)
        node.leaves = SavedValues(items)

    def unpack(self) -> Tensor | None:
        """Returns the tensor, with its place in the graph; None if the node needs no such value.

        Raises:
          BackwardTwiceError: If it was freed.
        """
        node, place = self._node, self._place
        if node.leaves is None:
            raise BackwardTwiceError(FREED)
        if place is None:
            return None
        for version in node.versions or ():
            version.check()
        origin, index = node.kernel.sources[place]
        item, original = held_items(node)[place], node.original(place)
        layout = self._layout(place, item)
        if layout is None:
            return wrap_array(as_array(item))
        if type(item) is not Packed:
            if original is not None and _shows(original, item):
                if origin == "argument":
                    return original
                made = wrap(original._storage, original._layout, original._offset)
            else:
                made = wrap_array(item, layout)
                made._storage.is_shared = True
        else:
            made = item.unpack()
        edge, history = self._edge(place), None
        if origin == "result" and node.kernel.differentiable[index]:
            history = History(made._layout, made._offset, True, node, index)
        elif edge is not None:
            history = _history_to(edge, made)
        if type(item) is Packed:
            return self._of_hook(made, history, original)
        made._history = history if history is not None else made._history
        if original is not None:
            made._counter = counter_of(original)
        return made

    def _of_hook(self, given: Tensor, history: History | None, original: Tensor | None) -> Tensor:
        """Returns a tensor that an unpack hook made with the history and the tangent of what was packed.

        Its memory and version are the hook's tensor's, which itself stays as it is.
        """
        level = state.dual
        tangent = None if original is None or level is None else level.tangent(original)
        if history is None and tangent is None:
            return given
        made = wrap(given._storage, given._layout, given._offset)
        made._history, made._counter = history, counter_of(given)
        if level is not None and tangent is not None:
            level.hold(made, tangent)
        return made

    def _layout(self, place: int, item: Any) -> Layout | None:
        """Returns the layout of the tensor that an item is; None for a number or a key."""
        node = self._node
        if type(item) is Packed:
            return item.layout
        origin, index = node.kernel.sources[place]
        if origin == "argument" and (index < 0 or not node.kernel.is_tensor[index]):
            return None
        original = node.original(place)
        if original is not None and original._layout.size == tuple(item.shape):
            return dense_like(original._layout, item.dtype)
        return contiguous(tuple(item.shape), item.dtype)

    def _edge(self, place: int) -> Any:
        """Returns where the gradient of a saved argument goes, or None."""
        kernel = self._node.kernel
        origin, index = kernel.sources[place]
        return self._node.edges[kernel.places.index(index)] if origin == "argument" and index in kernel.places else None


def held_items(node: Any) -> list[Any]:
    """Returns the values that a node saved, some of them packed; those that were dropped are computed again."""
    held = node.leaves
    while type(held) not in (list, tuple, SavedValues):
        held = held.again()
    return held.items if type(held) is SavedValues else list(held)


def saved_tensor(node: Any, name: str) -> SavedTensor:
    """Returns the value that an op's node saved under PyTorch's name for it: that of a parameter, or `result`.

    Raises:
      AttributeError: If the op has no such parameter or result.
    """
    names = node.kernel.saved_names
    if name in names:
        return SavedTensor(node, names.index(name))
    if name not in node.kernel.parameter_names and name != "result":
        raise AttributeError(f"{node!r} has no `_saved_{name}`; it saves {', '.join(names) or 'nothing'}")
    return SavedTensor(node, None)


def _shows(tensor: Tensor, array: Any) -> bool:
    """Returns whether a tensor still shows the values that were saved of it."""
    if tensor._layout is tensor._storage.layout:
        return tensor._storage.array is array
    if is_tracer(array) or is_tracer(tensor._storage.array) or tensor._storage.layout.is_abstract:
        return False
    return np.asarray(tensor._read()).tobytes() == np.asarray(array).tobytes()


def _history_to(edge: Any, made: Tensor) -> History:
    """Returns a history by which gradients of a tensor go along an edge."""
    node = edge.node
    if not node.is_sink:
        return History(made._layout, made._offset, True, node, edge.index)
    history = History(made._layout, made._offset, True)
    history.leaf, history.accumulator = weakref.ref(node.variable), weakref.ref(node)
    return history
