"""Ops in place: the result goes to the first argument, eagerly by one kernel that reads, computes and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from jaxaot.errors import ArgumentError
from jaxaot.facade.dispatch.arguments import STAND_INS, call_checked, check_fits, converted, flatten
from jaxaot.facade.dispatch.dispatch import call, call_uncast
from jaxaot.facade.dispatch.operands import (
    MAX_KERNELS,
    WRITE_KERNELS,
    blank,
    gather,
    is_abstract_key,
    make_recipe,
    on_device,
)
from jaxaot.facade.dispatch.results import store_written
from jaxaot.facade.dispatch.traced import call_inplace_traced
from jaxaot.facade.dispatch.write import (
    apart_from_hooks,
    check_writable,
    is_itself,
    refuse_write,
    write_array,
    write_value,
)
from jaxaot.facade.kernels.first_uses import first_result
from jaxaot.facade.kernels.kernels import Recipe, WriteKernel, fit_into, remember
from jaxaot.facade.memory.counter import count_write, counter_of
from jaxaot.facade.memory.discarded import Discarded
from jaxaot.facade.memory.generator import draw_from
from jaxaot.facade.memory.locks import Held, hold_alive, put_back, take
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.facade.nodes.nodes import OpNode
from jaxaot.facade.nodes.saved import note_written
from jaxaot.facade.subclass.subclass import SUBCLASSES, holds_subclass, is_wrapper, write_wrapper
from jaxaot.facade.subclass.wrapper_gradients import carried
from jaxaot.lower.abstract import AbstractArray
from jaxaot.lower.entry import run_into
from jaxaot.ops.promotion import is_inexact
from jaxaot.ops.table import OpSpec, lookup
from jaxaot.tape.modes import state
from jaxaot.tape.threads import threads
from jaxaot.views.window import AbstractWindow, find_window

_WITHOUT_VALUES = {AbstractArray, Discarded}
"""What a storage holds that has no values, or none any more: only a write of all of it puts some there."""


@threads.writing
def call_inplace(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any = None) -> Tensor:
    """Runs an op and writes its result to the first argument.

    Raises:
      LeafWriteError: If the target is a leaf that requires grad and the write would be recorded.
      OverlappingWriteError: If elements of the target share memory.
    """
    target = dynamic[0]
    if not isinstance(target, Tensor):
        _refuse_target(spec, target)
    if SUBCLASSES and holds_subclass(dynamic):
        for leaf in carried(target) if is_wrapper(target) else ():
            check_writable(leaf, False)  # before any of them is written
        return write_wrapper(call, call_inplace, lookup("copy"), spec, dynamic, static, generator)
    if spec.draws is not None:
        spec = spec.at(static)
    if state.dual is not None:
        return state.dual.call_inplace(spec, dynamic, static, generator)
    flat, lengths = (dynamic, None) if not spec.has_lists else flatten(spec, dynamic)
    records = False
    if state.grad_enabled and spec.is_differentiable:
        for value in flat:
            if isinstance(value, Tensor) and value._history is not None and value._history.requires_grad:
                records = True
                break
    check_writable(target, records)
    if state.region is not None:
        state.region.watch(dynamic)
    if spec.name == "copy" and isinstance(dynamic[1], Tensor) and is_itself(target, dynamic[1]):
        count_write(target)
        return target
    if spec.fitting:
        check_fits(spec, dynamic, static)
    if spec.check is not None and state.trace is None:
        return call_checked(call_inplace, spec, dynamic, static, generator)
    if state.trace is not None:
        return call_inplace_traced(spec, target, dynamic, static, generator)
    recorder = state.recorder if state.recorder is not None and state.recorder.records() else None
    storage, layout = target._storage, target._layout
    array = storage.array
    is_rare = array is None or storage.n_written is not None or layout.numel == 0 or type(array) in _WITHOUT_VALUES
    if is_rare and recorder is not None:
        with recorder.paused():
            return call_inplace(spec, dynamic, static, generator)
    if records and is_inexact(target._layout.dtype):
        return _call_inplace_recorded(spec, target, flat, lengths, static, generator, recorder)
    if is_rare:
        return _call_apart(spec, target, dynamic, static, generator)
    window: AbstractWindow | None = None
    operands: list[Any] = [array]
    if layout is not storage.layout:
        if recorder is None:
            storage.check_alive()
        storage.check_reach(layout, target._offset, is_write=True)
        window, starts = find_window(storage.layout, layout, target._offset)
        operands.append(on_device(starts) if recorder is None else starts)
    key: list[Any] = [spec, static, lengths, layout, storage.layout, window]
    if spec.has_any:
        key.append(tuple(map(type, static)))
    look = gather if recorder is None else recorder.gather
    if look(spec, flat, key, operands, target, window) < 0:
        return call_inplace(spec, converted(spec, dynamic, static), static, generator)
    if spec.is_random:
        operands.append(draw_from(generator))
    cache_key = tuple(key)
    kernel = WRITE_KERNELS.get(cache_key)
    fresh = kernel is None
    if fresh:
        if _wrote_without_program(spec, target, flat, static, cache_key, operands, window, recorder):
            return target
        how = make_recipe if recorder is None else recorder.recipe
        recipe = how(spec, flat, lengths, target, window)
        kernel = WriteKernel(spec, static, recipe, layout, window)
    held = Held() if threads.are_several else None
    try:
        if held is not None:
            hold_alive(storage, held, recorder)
        if recorder is not None:
            results = recorder.write(target, kernel, operands, flat)
        else:
            is_operand = False
            for i in range(1, len(operands)):
                is_operand = is_operand or operands[i] is array
            operands[0] = array = None  # so that the storage alone holds it
            if is_operand or not (storage.may_donate() if held is None else take((storage,))):
                program = kernel.run
            else:
                program = kernel.run_donated
            results = run_into(storage, target._counter or counter_of(target), program.entry, operands[1:])
    finally:
        if held is not None:
            try:
                if held:
                    put_back((storage,))
            finally:
                held.free()
    if fresh:
        remember(WRITE_KERNELS, cache_key, kernel, MAX_KERNELS)
    if spec.schema.written:
        write = write_value if recorder is None else recorder.store
        store_written(spec, flat, results[1][max(spec.schema.n_results, 1) - 1 :], write)
    return target


def _wrote_without_program(
    spec: OpSpec, target: Tensor, flat: Sequence[Any], static: Any, cache_key: Any, operands: Sequence[Any],
    window: AbstractWindow | None, recorder: Any,
) -> bool:  # fmt: skip
    """Writes what needs no program for its shape yet, see `first_uses.py`; returns whether it did."""
    if is_abstract_key(cache_key):
        refuse_write(target)
    if recorder is not None or window is not None or not spec.overwrites:
        return False
    made = first_result(spec, flat, static, cache_key, operands[-1] if spec.is_random else None)
    if made is not None:
        write_value(target, made)
    return made is not None


def _refuse_target(spec: OpSpec, target: Any) -> NoReturn:
    if type(target) in STAND_INS:
        target.settled(f"`{spec.name}_`")
    raise ArgumentError(f"{spec.name}_(): argument 'self' must be Tensor, not {type(target).__name__}")


def _call_apart(spec: OpSpec, target: Tensor, dynamic: Sequence[Any], static: Any, generator: Any) -> Tensor:
    """Runs an op out of place and without being recorded, and writes its result to the target."""
    if spec.overwrites:
        dynamic = [wrap_array(blank(target)), *dynamic[1:]]
    before = state.grad_enabled
    state.grad_enabled = False
    try:
        result = call_uncast(spec, dynamic, static, generator)
    finally:
        state.grad_enabled = before
    value = (result if isinstance(result, Tensor) else result[0])._read()
    write_value(target, fit_into(value, target._layout.size, target._layout.dtype))
    return target


def _call_inplace_recorded(
    spec: OpSpec, target: Tensor, flat: Sequence[Any], lengths: Any, static: Any, generator: Any, recorder: Any
) -> Tensor:
    """Runs an op out of place, and writes its result to the target as a recorded write."""
    dynamic = Recipe((), lengths, (), False).nest((apart_from_hooks(target), *flat[1:]))
    result = call_uncast(spec, dynamic, static, generator)
    result = result if isinstance(result, Tensor) else result[0]
    read = Tensor._read if recorder is None else recorder.read
    layout = target._layout
    value = fit_into(read(result), layout.size, layout.dtype)
    edge = result._gradient_edge()
    if result._layout.dtype != layout.dtype:
        edge = call(lookup("cast"), (result,), (target.dtype,))._gradient_edge()
    node = None if result._history is None else result._history.node
    # the node may hold its result
    is_shared = result._storage.is_shared and value is result._storage.array
    write_array(target, value, edge, is_shared, recorder)
    if type(node) is OpNode:
        note_written(node, target)
    return target
