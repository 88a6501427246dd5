"""Writes: a new value goes through a tensor's window into its storage, and the history moves on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot._jax import is_tracer
from jaxaot._placement import placed_like
from jaxaot._typing import Array
from jaxaot._util import set_together
from jaxaot.errors import AutogradError, InferenceTensorError, LeafWriteError, NoValueError, OverlappingWriteError
from jaxaot.facade.kernels.kernels import storing_through
from jaxaot.facade.memory.counter import count_write, counter_of
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.locks import Held, hold_alive, put_back, take
from jaxaot.facade.memory.tensor import INFERENCE, UNRECORDED, Tensor, history_edge, wrap
from jaxaot.facade.nodes.nodes import SeveralViewsNode, ViewNode, WriteNode
from jaxaot.facade.trace_state import refuses_unrecorded
from jaxaot.lower.abstract import AbstractArray
from jaxaot.lower.entry import run_into
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge
from jaxaot.tape.threads import threads
from jaxaot.views.window import find_window, window_in_graph


def check_no_inference(target: Any) -> None:
    """Raises if a tensor that was made in `inference_mode` is to be changed outside of it.

    Raises:
      InferenceTensorError: If so.
    """
    if target._creation == INFERENCE and not state.infers:
        raise InferenceTensorError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
            "normal tensor before doing inplace update. See https://github.com/pytorch/rfcs/pull/17 for more details."
        )


def check_writable(target: Any, records: bool) -> None:
    """Raises unless a tensor may be written in place.

    Raises:
      OverlappingWriteError: If elements of the target share memory.
      LeafWriteError: If the target is a leaf that requires grad, or a view of one, and the write is recorded.
      InferenceTensorError: If the target was made in `inference_mode`, and this is outside of it.
      AutogradError: If the target is one of several views that one function returned, or was made under `no_grad` or
        by a custom Function.
    """
    if target._layout.is_overlapping:
        is_pure = state.trace is not None and state.trace.is_functionalized
        what = "encountered a tensor being mutated that has internal overlap" if is_pure else "unsupported operation"
        raise OverlappingWriteError(
            f"{what}: more than one element of the written-to tensor refers to a single memory location (size "
            f"{list(target._layout.size)}, stride {list(target._layout.stride)}). Please clone() the tensor before "
            "performing the operation."
        )
    check_no_inference(target)
    if state.region is not None:
        state.region.note((target,))
    if not state.grad_enabled:
        return
    history = target._history
    if history is not None and history.requires_grad:
        if history.node is None and target._creation in UNRECORDED:
            refuse_unrecorded(target)
        if not target._chain and history.node is None:
            raise LeafWriteError(
                "a leaf Variable that requires grad is being used in an in-place operation. Write inside "
                "`with ja.no_grad():`, or out of place."
            )
        if history.node is None:
            raise LeafWriteError(
                "a view of a leaf Variable that requires grad is being used in an in-place operation. Write inside "
                "`with ja.no_grad():`, or out of place."
            )
    check_view_writable(target, records)


def check_view_writable(target: Any, records: bool) -> None:
    """Raises unless a view may be changed in place, by how it was made, while operations are recorded.

    Args:
      target: The view, or a tensor that is none.
      records: Whether the change is recorded.

    Raises:
      LeafWriteError: If it is a view of a leaf that requires grad.
      AutogradError: If it is one of several views that one function returned, or was made under `no_grad`, in
        `inference_mode` or by a custom Function.
    """
    base = target._base_tensor
    if target._creation is None:
        if base is not None and base.requires_grad and base._history.node is None and not base._chain:
            raise LeafWriteError(
                "a view of a leaf Variable that requires grad is being used in an in-place operation; it was made "
                "before the leaf required grad. Write inside `with ja.no_grad():`, or out of place."
            )
        return
    if not (records or (base is not None and base.requires_grad)):
        return
    if target._creation == "several" and refuses_unrecorded():
        raise AutogradError(
            f"{_output_name(target)} is a view and is being modified inplace. This view is the output of a function "
            "that returns multiple views. Such functions do not allow the output views to be modified inplace. You "
            "should replace the inplace operation by an out-of-place one."
        )
    if target._creation == "custom":
        raise AutogradError(
            f"{_output_name(target)} is a view and is being modified inplace. This view was created inside a custom "
            "Function (or because an input was returned as-is) and the autograd logic to handle view+inplace would "
            "override the custom backward associated with the custom Function, leading to incorrect gradients. "
            "This behavior is forbidden. You can fix this by cloning the output of the custom Function."
        )
    if target._creation in UNRECORDED:
        refuse_unrecorded(target)


def refuse_unrecorded(target: Tensor) -> None:
    """Raises because a view that was made without being recorded, or a view of one, is written while writes are.

    Raises:
      AutogradError: Always.
    """
    mode = UNRECORDED[target._creation or ""]
    block = "inference_mode" if mode == "inference" else mode
    what = f"{_output_name(target)} is a view of a view which" if target._chain else "A view"
    raise AutogradError(
        f"{what} was created in {mode} mode and is being modified inplace with grad mode enabled. Given that this use "
        "case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the "
        f"inplace either both inside the {block} block (if you don't want the inplace to be tracked) or both outside "
        "(if you want the inplace to be tracked)."
    )


def _output_name(target: Any) -> str:
    """Returns what made a view, in PyTorch's words."""
    node = target.grad_fn
    if node is None:
        return "What was written to"
    return f"Output {node.place if isinstance(node, ViewNode) else target.output_nr} of {node.name()}"


def is_itself(target: Any, value: Any) -> bool:
    """Returns whether a value is what its target shows anyway, its history included: to write it changes nothing.

    So it is in the second write of `x[i] += v`, which Python carries out as `x[i] = x[i].__iadd__(v)`. Hooks on the
    value would see the gradient of what is written, and so make a difference.
    """
    if value._storage is not target._storage or value._layout is not target._layout:
        return False
    if value._offset != target._offset or value._history is not target._history:
        return False
    node = value._view_node if value._chain else None
    return node is None or node.hooks is None


def apart_from_hooks(target: Any) -> Any:
    """Returns the tensor to pass as an operand of an op that is about to write to it.

    The gradient of that value goes to the base; hooks on views of the base are not called for it, as in PyTorch.
    """
    node = target._view_node if target._chain else None
    while isinstance(node, (ViewNode, SeveralViewsNode)):
        if node.hooks is not None:
            made = wrap(target._storage, target._layout, target._offset, state.trace)
            made._history, made._chain, made._counter = target._history, target._chain, counter_of(target)
            return made
        node = None if node.edges[0] is None else node.edges[0].node
    return target


def refuse_write(target: Tensor) -> None:
    """Raises because a tensor with values would lose them to one that has none.

    Raises:
      NoValueError: Always.
    """
    layout = target._layout
    raise NoValueError(
        f"A tensor of shape {list(layout.size)} and dtype {layout.dtype} is written with what comes from a tensor on "
        'the device `meta`, which has no values. Make both on one device: `x.to("meta")` of the tensor that is written.'
    )


def _on_meta(target: Tensor) -> Any:
    """Returns what a storage without values holds once a value was written to it.

    Raises:
      NoValueError: If the value has none and the storage has.
    """
    layout = target._storage.layout
    if not layout.is_abstract:
        refuse_write(target)
    return AbstractArray(layout.size, layout.dtype)


def write_value(target: Any, value: Array) -> None:
    """Stores a value that no gradient flows through."""
    write_array(target, value, None)


@threads.writing
def write_array(target: Any, value: Any, edge: Edge | None, is_shared: bool = False, recorder: Any = None) -> None:
    """Stores a value of the target's size and dtype, and moves the history on if the write is recorded.

    Args:
      target: The tensor that is written.
      value: What it shows afterwards.
      edge: Where gradients of `value` go; None if the write is not recorded.
      is_shared: Whether somebody else holds `value`.
      recorder: What has the write wait; None if nothing does.
    """
    storage = target._storage
    trace = state.trace
    if trace is not None:
        trace.note(target)
        trace.adopt(storage)
    elif recorder is None:
        storage.check_alive()
    storage.check_reach(target._layout, target._offset, is_write=True)
    if trace is not None:
        stored = _stored_traced(target, value, edge is not None)
        if edge is not None:
            _move_history(target, edge)
        trace.write(storage, target._history, stored, edge is not None)
        storage.note_write(target._layout, target._offset)
        count_write(target)
        return
    held = Held() if threads.are_several else None
    try:
        if held is not None:
            hold_alive(storage, held, recorder)
        may_donate = storage.may_donate if held is None else lambda: take((storage,))
        _store(target, value, edge, is_shared, may_donate, recorder)
    finally:
        if held is not None:
            try:
                if held:
                    put_back((storage,))
            finally:
                held.free()


def _store(
    target: Any, value: Array, edge: Edge | None, is_shared: bool, may_donate: Callable[[], bool], recorder: Any
) -> None:
    """Stores a value outside of a trace, see `write_array`."""
    storage = target._storage
    is_abstract = type(value) is AbstractArray or storage.layout.is_abstract
    base = _on_meta(target) if is_abstract else None
    moves: Sequence[Any] = ()
    if edge is not None:
        history, node, index = next_node(target, edge)
        before, place = history.node, history.index
        moves = history.moves(node, index)
    counter = counter_of(target)
    is_whole, is_symbol = target._layout is storage.layout, is_tracer(value)
    if recorder is not None:
        recorder.put(target, value, moves)
    elif is_abstract:
        counter.n += 1
        set_together(((storage, "array", base), *moves))
    elif is_whole or (is_symbol and target._layout.numel):
        counter.n += 1  # first: a count that is behind would hide the write
        storage.is_shared = True
        new = value if is_whole else _scattered(target, storage.array, value)
        set_together(((storage, "array", placed_like(new, storage.array)), *moves))
        storage.is_shared = is_shared or (is_symbol and is_whole)
    elif target._layout.numel:
        if storage.array is None:
            storage.array = jnp.zeros(storage.layout.size, storage.layout.dtype)
            storage.is_shared = False
        window, starts = find_window(storage.layout, target._layout, target._offset)
        run_into(storage, counter, storing_through(window, may_donate()), (value, starts), moves)
    else:
        counter.n += 1
        set_together(moves)
    storage.note_write(target._layout, target._offset)
    if edge is not None:
        history.carry_hooks(before, place)


def _scattered(target: Any, base: Any, value: Any) -> Any:
    """Returns the value of a storage whose present one is `base`, once a tensor on it shows `value`."""
    storage, layout = target._storage, target._layout
    if base is None:
        base = jnp.zeros(storage.layout.size, storage.layout.dtype)
    if not layout.numel:
        return base
    window, starts = window_in_graph(storage.layout, layout, target._offset)
    return window.scatter(base, value, starts)


def record_write(target: Any, value: Any, edge: Edge) -> None:
    """Makes a write that was done without being recorded the newest one of the target's history.

    Args:
      target: The tensor that was written.
      value: In a trace, what it shows, with the gradients that it is to carry.
      edge: Where gradients of it go.
    """
    trace = state.trace
    stored = None if trace is None else _stored_traced(target, value, True)
    _move_history(target, edge)
    if trace is not None:
        trace.write(target._storage, target._history, stored, True)


def _stored_traced(target: Any, value: Array, records: bool) -> Array:
    """Returns the storage's new value in a trace, its gradients as the tape has them."""
    storage = target._storage
    if target._layout is storage.layout:
        return value
    base = None if storage.array is None else state.trace.read(storage, target._history, records)
    return _scattered(target, base, value)


def _move_history(target: Any, edge: Edge) -> None:
    """Makes the write the newest node of the target's history."""
    history, node, index = next_node(target, edge)
    history.move_on(node, index)


def next_node(target: Any, edge: Edge) -> tuple[History, Any, int]:
    """Returns the target's history, and the node that a write makes its newest, with which of its outputs that is."""
    trace = state.trace
    history = target._history
    if history is None:
        target._touch()
        history = target._history = History(target._layout, target._offset, trace=trace)
    if trace is not None:
        trace.adopt_history(history, target._storage)
    if not target._chain:
        return history, edge.node, edge.index
    before = history_edge(history) if history.requires_grad else None
    return history, WriteNode(target._chain, history.layout, before, edge), 0


def note_statistics(*tensors: Tensor) -> None:
    """Notes that tensors were written which no gradient needs: `ja.func` lets a batch norm move those it captured."""
    if state.trace is not None:
        for tensor in tensors:
            state.trace.note_statistics(tensor)
