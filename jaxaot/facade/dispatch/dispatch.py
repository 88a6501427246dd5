"""How an op reaches its tensors: read, compute, wrap or write, record.

`call` runs an op out of place, `call_inplace` writes its result to the first argument, `call_out` to tensors given as
`out=`. Each has two ways through: eagerly by a cached kernel, and in a trace on symbols. The border between PyTorch's
words and JAX's runs here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

import jax
import numpy as np

from jaxaot._frames import without_own_frames
from jaxaot._jax import is_outermost
from jaxaot._placement import are_several, placed_like
from jaxaot._typing import Array
from jaxaot.errors import ArgumentError, AutogradError, TensorTypeError
from jaxaot.facade.dispatch.arguments import STAND_INS, check_fits, converted, flatten
from jaxaot.facade.dispatch.autocast_operands import call_cast, without_autocast
from jaxaot.facade.dispatch.joined import JOINS, join_many
from jaxaot.facade.dispatch.operands import (
    GRAD_KERNELS,
    KERNELS,
    MAX_KERNELS,
    WRITE_KERNELS,
    allocated,
    blank,
    gather,
    is_abstract_key,
    make_recipe,
    operand_layouts,
)
from jaxaot.facade.dispatch.write import (
    apart_from_hooks,
    check_writable,
    is_itself,
    note_statistics,
    refuse_write,
    write_array,
    write_value,
)
from jaxaot.facade.kernels.grad_kernels import GradKernel
from jaxaot.facade.kernels.kernels import Kernel, Recipe, WriteKernel, fit_into, remember, result_layouts
from jaxaot.facade.memory.counter import count_write, counter_of
from jaxaot.facade.memory.devices import META, is_meta
from jaxaot.facade.memory.discarded import Discarded
from jaxaot.facade.memory.generator import draw_from
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.locks import Held, hold_alive, put_back, take
from jaxaot.facade.memory.source_line import warn_user
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import INFERENCE, Tensor, wrap, wrap_array
from jaxaot.facade.nodes.nodes import OpNode, TracedOpNode, materialize
from jaxaot.facade.nodes.saved import check_saveable, note_written, save_specially
from jaxaot.facade.nodes.vjps import CALLS
from jaxaot.facade.subclass.subclass import SUBCLASSES, call_wrapper, holds_subclass, is_wrapper, write_wrapper
from jaxaot.facade.subclass.wrapper_gradients import carried
from jaxaot.facade.trace_state import refuses_unrecorded
from jaxaot.lower.abstract import AbstractArray
from jaxaot.lower.entry import run_into
from jaxaot.ops.promotion import is_inexact
from jaxaot.ops.table import OpSpec, lookup
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge
from jaxaot.tape.threads import threads
from jaxaot.views.layout import Layout
from jaxaot.views.window import AbstractWindow, find_window

_WITHOUT_VALUES = {AbstractArray, Discarded}
"""What a storage holds that has no values, or none any more: only a write of all of it puts some there."""


def call(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any = None) -> Any:
    """Runs an op out of place.

    Args:
      spec: Its row.
      dynamic: Tensors, numbers, None, and lists of tensors, in schema order.
      static: Hashable values, in schema order.
      generator: Where a random op draws its key; the default generator if None.

    Returns:
      A tensor, or a tuple or list of them.
    """
    if SUBCLASSES and holds_subclass(dynamic):
        return call_wrapper(call, spec, dynamic, static, generator)
    if spec.draws is not None:
        spec = spec.at(static)
    if state.dual is not None:
        return state.dual.call(spec, dynamic, static, generator)
    if state.trace is not None:
        return _call_traced(spec, dynamic, static, generator)
    if state.region is not None:
        state.region.watch(dynamic)
    if spec.has_prelude:
        if spec.is_cast and state.autocast is not None:
            return call_cast(call, spec, dynamic, static, generator)
        if spec.fitting:
            check_fits(spec, dynamic, static)
        if spec.check is not None:
            return _call_checked(call, spec, dynamic, static, generator)
    if state.recorder is not None and state.recorder.records():
        return state.recorder.call(spec, dynamic, static, generator)
    if spec.has_lists:
        if spec.name in JOINS and (joined := join_many(spec, dynamic[0], static)) is not None:
            return joined
        flat, lengths = flatten(spec, dynamic)
    else:
        flat, lengths = dynamic, None
    key: list[Any] = [spec, static, lengths]
    if spec.has_any:
        key.append(tuple(map(type, static)))
    operands: list[Any] = []
    mask = gather(spec, flat, key, operands)
    if mask < 0:
        return call(spec, converted(spec, dynamic, static), static, generator)
    if spec.is_random:
        operands.append(draw_from(generator))
    if mask and spec.is_differentiable and state.grad_enabled:
        key.append(mask)
        try:
            return _call_recorded(spec, flat, static, lengths, tuple(key), operands)
        except Exception as error:
            raise without_own_frames(error)  # noqa: B904  # it is the same exception
    cache_key = tuple(key)
    kernel = KERNELS.get(cache_key)
    if kernel is None:
        try:
            kernel, results = _first_run(spec, flat, static, lengths, cache_key, operands)
        except Exception as error:
            raise without_own_frames(error)  # noqa: B904  # it is the same exception
    else:
        try:
            results = (kernel.run.alone if is_outermost() else kernel.run.inside)(*operands)
        except ValueError as error:  # over other devices than those it was made for
            raise without_own_frames(error)  # noqa: B904  # it is the same exception
    if len(results) == 1 and spec.schema.n_results == 1:
        layout: Any = kernel.layouts[0]
        made = wrap(Storage(results[0], layout), layout)
        if state.infers:
            made._creation = INFERENCE
        return made
    return _wrap_results(spec, flat, results, kernel.layouts)


CALLS.append(call)


def _first_run(
    spec: OpSpec, flat: Sequence[Any], static: tuple[Any, ...], lengths: Any, cache_key: Any, operands: Sequence[Any]
) -> tuple[Kernel, Any]:
    """Returns a kernel, which is kept from now on, and the results of its first run."""
    recipe = make_recipe(spec, flat, lengths)
    is_abstract = is_abstract_key(cache_key)
    kernel = Kernel(spec, static, recipe, is_abstract)
    results = kernel.run(*operands)
    kernel.layouts = _layouts_of(spec, results, recipe, static, is_abstract)
    remember(KERNELS, cache_key, kernel, MAX_KERNELS)
    return kernel, results


def _layouts_of(
    spec: OpSpec, results: Sequence[Any], recipe: Recipe, static: tuple[Any, ...], is_abstract: bool
) -> tuple[Layout | None, ...]:
    layouts = result_layouts(spec, results, recipe.layouts, static)
    return tuple(None if layout is None else layout.abstract if is_abstract else layout for layout in layouts)


def call_on_meta(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any = None) -> Any:
    """Runs an op out of place on shapes alone: its results have no values, whatever its arguments have."""
    if state.trace is not None or state.dual is not None or (SUBCLASSES and holds_subclass(dynamic)):
        return call(spec, dynamic, static, generator)
    dynamic = converted(spec, dynamic, static)
    flat, lengths = (dynamic, None) if not spec.has_lists else flatten(spec, dynamic)
    key: list[Any] = [spec, static, lengths, META, tuple(map(type, static))]
    operands: list[Any] = []
    mask = gather(spec, flat, key, operands)
    if spec.is_random:
        operands.append(draw_from(generator))
    if mask and spec.is_differentiable and state.grad_enabled:
        key.append(mask)
        return _call_recorded(spec, flat, static, lengths, tuple(key), operands)
    kernel = KERNELS.get(tuple(key))
    if kernel is None:
        kernel, results = _first_run(spec, flat, static, lengths, tuple(key), operands)
    else:
        results = kernel.run(*operands)
    return _wrap_results(spec, flat, results, kernel.layouts)


def make(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any, device: object) -> Any:
    """Runs an op that makes tensors, on the device that is asked for."""
    if is_meta(device):
        return call_on_meta(spec, dynamic, static, generator)
    if device is not None and spec.is_factory and not (SUBCLASSES and holds_subclass(dynamic)):
        dynamic = [allocated(v) if isinstance(v, Tensor) else v for v in dynamic]
    made = call(spec, dynamic, static, generator)
    if spec.overwrites and are_several():
        _place(made, dynamic[0])
    return made


def _place(made: Tensor, like: Tensor) -> None:
    """Places a tensor that was just made as one of its size lies, whose values were not read."""
    trace, storage = state.trace, like._storage
    if like._layout is not storage.layout or made._storage.array is None:
        return
    if trace is not None:
        trace.adopt(storage)
    made._storage.array = placed_like(made._storage.array, storage.array)


def call_uncast(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any = None) -> Any:
    """Runs an op out of place, for a form of it that autocast leaves alone: in place and with `out=`."""
    if state.autocast is None:
        return call(spec, dynamic, static, generator)
    with without_autocast():
        return call(spec, dynamic, static, generator)


def _call_checked(run: Callable[..., Any], spec: OpSpec, dynamic: Sequence[Any], static: Any, generator: Any) -> Any:
    """Runs an op out of place or in place, with its check of values where the values are at hand."""
    check = spec.check
    tensors = [v for value in dynamic for v in (value if isinstance(value, (list, tuple)) else (value,))]
    if jax.default_backend() != "cpu" or any(isinstance(t, Tensor) and t._is_without_values for t in tensors):
        return run(spec.unchecked, dynamic, static, generator)
    assert check is not None

    def shown(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [shown(v) for v in value]
        return np.asarray(materialize(value)) if isinstance(value, Tensor) else value

    parameters = spec.schema.dynamic
    given = {p.name: v if p.name not in check.reads else shown(v) for p, v in zip(parameters, dynamic, strict=True)}
    given.update(zip((p.name for p in spec.schema.static), static, strict=True))
    if not check.of_results:
        check.fn(**given)
    results = run(spec.unchecked, dynamic, static, generator)
    if check.of_results:
        check.fn(*map(shown, results if isinstance(results, tuple) else (results,)), **given)
    return results


def _call_recorded(
    spec: OpSpec, flat: Sequence[Any], static: Any, lengths: Any, cache_key: Any, operands: list[Any]
) -> Any:
    kernel = GRAD_KERNELS.get(cache_key)
    if kernel is None:
        recipe = make_recipe(spec, flat, lengths)
        wanted = [isinstance(v, Tensor) and v.requires_grad and is_inexact(v._layout.dtype) for v in flat]
        is_abstract = is_abstract_key(cache_key)
        kernel = GradKernel(spec, static, recipe, wanted, is_abstract)
        outputs = kernel.run(*operands)
        results = outputs[: len(kernel.differentiable)]
        kernel.layouts = _layouts_of(spec, results, recipe, static, is_abstract)
        kernel.settle([isinstance(v, Tensor) for v in flat], len(operands))
        remember(GRAD_KERNELS, cache_key, kernel, MAX_KERNELS)
    else:
        outputs = (kernel.run.alone if is_outermost() else kernel.run.inside)(*operands)
    leaves = kernel.pick_leaves((*operands, *outputs))
    if kernel.is_plain and state.saves_plainly:  # as below, without the loops
        for i in kernel.held_arguments:
            flat[i]._storage.is_shared = True
        layout: Any = kernel.layouts[0]
        storage = Storage(outputs[0], layout)
        if kernel.held_results:
            storage.is_shared = True
        made = wrap(storage, layout)
        node = OpNode(kernel, [flat[i]._gradient_edge() for i in kernel.places], leaves)
        made._history = History(layout, 0, True, node)
        if kernel.is_saving:
            node.originals = originals_of(kernel, flat, made)
        return made
    tensors = _wrap_results(spec, flat, outputs[: kernel.n_outputs], kernel.layouts, as_tuple=True)
    if not kernel.is_recorded:
        return unpack(spec, tensors)
    for i in kernel.held_arguments:
        flat[i]._storage.is_shared = True
    for i in kernel.held_results:
        tensors[i]._storage.is_shared = True
    node = OpNode(kernel, [flat[i]._gradient_edge() for i in kernel.places], leaves)
    for index, tensor in enumerate(tensors):
        if kernel.recorded[index]:
            tensor._history = History(tensor._layout, 0, True, node, index)
    if kernel.is_saving:
        node.originals = originals_of(kernel, flat, tensors[kernel.held_results[0]] if kernel.held_results else None)
    if not state.saves_plainly:
        save_specially(node, flat, tensors)
    return unpack(spec, tensors)


def originals_of(kernel: GradKernel, flat: Sequence[Any], result: Any) -> list[Any]:
    """Returns weak references to the tensors that are saved."""
    if not kernel.tensor_arguments:
        return [ref(result)]
    originals = []
    for i in kernel.tensor_arguments:
        tensor = flat[i]
        if tensor._creation is not None:
            check_saveable(tensor)
        originals.append(ref(tensor))
    if kernel.held_results:
        originals.append(ref(result))
    return originals


def _wrap_results(
    spec: OpSpec, flat: Sequence[Any], results: Sequence[Any], layouts: Sequence[Any], as_tuple: bool = False
) -> Any:
    """Returns the declared results as tensors, and stores the new values of written parameters."""
    n = spec.schema.n_results if spec.schema.n_results >= 0 else len(results)
    tensors = [wrap(Storage(result, layout), layout) for result, layout in zip(results[:n], layouts[:n], strict=True)]
    if state.infers:
        for tensor in tensors:
            tensor._creation = INFERENCE
    _store_written(spec, flat, results[n:])
    return tensors if as_tuple else unpack(spec, tensors)


def _store_written(spec: OpSpec, flat: Sequence[Any], values: Sequence[Any]) -> None:
    if not spec.schema.written:
        return
    position = {p.name: i for i, p in enumerate(spec.schema.dynamic)}
    for parameter, value in zip(spec.schema.written, values, strict=True):
        target = flat[position[parameter.name]]
        if target is not None and value is not None:
            write_value(target, value)
            note_statistics(target)


def unpack(spec: OpSpec, tensors: list[Tensor]) -> Any:
    """Returns the results of an op as users get them: a tensor, or the op's own tuple of several."""
    if spec.schema.n_results == 1:
        return tensors[0]
    return spec.pack(tensors)


# -- in a trace --------------------------------------------------------------------------------------------------------


def _call_traced(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any) -> Any:
    if spec.is_cast and state.autocast is not None:
        return call_cast(call, spec, dynamic, static, generator)
    for value in dynamic:
        if type(value) in STAND_INS:
            return STAND_INS[type(value)](spec, dynamic, static, generator)
    flat, values, lengths, records, key = _read_traced(spec, dynamic, static, generator)
    results, node = _evaluate_traced(spec, flat, values, lengths, static, records, key)
    trace = state.trace
    n = spec.schema.n_results if spec.schema.n_results >= 0 else len(results)
    layouts: Any = result_layouts(spec, results, operand_layouts(spec, flat), static)
    tensors = []
    for index, (result, layout) in enumerate(zip(results[:n], layouts[:n], strict=True)):
        storage = trace.new_storage(result, layout)
        tensor = wrap(storage, layout, 0, trace)
        if node is not None and node.recorded[index]:
            tensor._history = History(layout, 0, True, node, index, trace)
            tensor._history.ghost = result
            storage.writer = tensor._history
        tensors.append(tensor)
    _store_written(spec, flat, results[n:])
    return unpack(spec, tensors)


def _read_traced(spec: OpSpec, dynamic: Sequence[Any], static: Any, generator: Any) -> Any:
    dynamic = converted(spec, dynamic, static)
    flat, lengths = (dynamic, None) if not spec.has_lists else flatten(spec, dynamic)
    records = (
        state.grad_enabled
        and spec.is_differentiable
        and any(isinstance(v, Tensor) and v.requires_grad and is_inexact(v.dtype) for v in flat)
    )
    if spec.overwrites:  # the target may hold no values yet
        target = flat[0]
        values = [jax.numpy.zeros(target._layout.size, target._layout.dtype)]
    else:
        values = []
    values += [_read_for(v, records) if isinstance(v, Tensor) else v for v in flat[len(values) :]]
    key = draw_from(generator) if spec.is_random else None
    return flat, values, lengths, records, key


def _read_for(tensor: Tensor, records: bool) -> Array:
    if records == state.grad_enabled:
        return tensor._read()
    before = state.grad_enabled
    state.grad_enabled = records
    try:
        return tensor._read()
    finally:
        state.grad_enabled = before


def _evaluate_traced(
    spec: OpSpec, flat: Sequence[Any], values: Sequence[Any], lengths: Any, static: Any, records: bool, key: Any
) -> tuple[tuple[Any, ...], TracedOpNode | None]:
    nest = Recipe((), lengths, (), False).nest
    with jax.named_scope(spec.name):
        try:
            results = spec.evaluate(nest(values), static, key)
        except (TypeError, ValueError):  # a function of JAX takes no number that changes from call to call
            if not any(type(value) in STAND_INS for value in static):
                raise
            static = tuple(value.relied_on() if type(value) in STAND_INS else value for value in static)
            results = spec.evaluate(nest(values), static, key)
    if not records:
        return results, None
    mask = [isinstance(v, Tensor) and v.requires_grad and is_inexact(v.dtype) for v in flat]
    edges = [v._gradient_edge() for v, wanted in zip(flat, mask, strict=True) if wanted]
    n = spec.schema.n_results if spec.schema.n_results >= 0 else len(results)
    node = TracedOpNode(spec, edges, values, nest, static, key, mask, results[:n])
    return results, node if any(node.recorded) else None


# -- in place ----------------------------------------------------------------------------------------------------------


@threads.writing
def call_inplace(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any = None) -> Tensor:
    """Runs an op and writes its result to the first argument.

    Raises:
      LeafWriteError: If the target is a leaf that requires grad and the write would be recorded.
      OverlappingWriteError: If elements of the target share memory.
    """
    target = dynamic[0]
    if not isinstance(target, Tensor):
        if type(target) in STAND_INS:
            target.settled(f"`{spec.name}_`")
        raise ArgumentError(f"{spec.name}_(): argument 'self' must be Tensor, not {type(target).__name__}")
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
        return _call_checked(call_inplace, spec, dynamic, static, generator)
    if state.trace is not None:
        return _call_inplace_traced(spec, target, dynamic, static, generator)
    if state.recorder is not None and state.recorder.records():
        is_recorded = records and is_inexact(target.dtype)
        return state.recorder.call_inplace(spec, dynamic, flat, lengths, static, generator, is_recorded)
    if records and is_inexact(target.dtype):
        return _call_inplace_recorded(spec, target, flat, lengths, static, generator)
    storage, layout = target._storage, target._layout
    array = storage.array
    if array is None or storage.n_written is not None or layout.numel == 0 or type(array) in _WITHOUT_VALUES:
        if spec.overwrites:
            dynamic = [wrap_array(blank(target)), *dynamic[1:]]
        result = _detached_result(spec, dynamic, static, generator)
        write_value(target, fit_into(result, layout.size, layout.dtype))
        return target
    window: AbstractWindow | None = None
    operands: list[Any] = [array]
    if layout is not storage.layout:
        storage.check_alive()
        storage.check_reach(layout, target._offset, is_write=True)
        window, starts = find_window(storage.layout, layout, target._offset)
        operands.append(starts)
    key: list[Any] = [spec, static, lengths, layout, storage.layout, window]
    if spec.has_any:
        key.append(tuple(map(type, static)))
    if gather(spec, flat, key, operands, target, window) < 0:
        return call_inplace(spec, converted(spec, dynamic, static), static, generator)
    if spec.is_random:
        operands.append(draw_from(generator))
    cache_key = tuple(key)
    kernel = WRITE_KERNELS.get(cache_key)
    fresh = kernel is None
    if fresh:
        if is_abstract_key(cache_key):
            refuse_write(target)
        recipe = make_recipe(spec, flat, lengths, target, window)
        kernel = WriteKernel(spec, static, recipe, layout, window)
    held = Held() if threads.are_several else None
    try:
        if held is not None:
            hold_alive(storage, held)
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
        _store_written(spec, flat, results[1][max(spec.schema.n_results, 1) - 1 :])
    return target


def _detached_result(spec: OpSpec, dynamic: Sequence[Any], static: Any, generator: Any) -> Array:
    before = state.grad_enabled
    state.grad_enabled = False
    try:
        result = call_uncast(spec, dynamic, static, generator)
    finally:
        state.grad_enabled = before
    return (result if isinstance(result, Tensor) else result[0])._read()


def _call_inplace_recorded(
    spec: OpSpec, target: Tensor, flat: Sequence[Any], lengths: Any, static: Any, generator: Any
) -> Tensor:
    dynamic = Recipe((), lengths, (), False).nest((apart_from_hooks(target), *flat[1:]))
    result = call_uncast(spec, dynamic, static, generator)
    result = result if isinstance(result, Tensor) else result[0]
    value = fit_into(result._read(), target._layout.size, target.dtype)
    edge = result._gradient_edge()
    if result.dtype != target.dtype:
        edge = call(lookup("cast"), (result,), (target.dtype,))._gradient_edge()
    node = None if result._history is None else result._history.node
    # the node may hold its result
    write_array(target, value, edge, is_shared=result._storage.is_shared and value is result._storage.array)
    if type(node) is OpNode:
        note_written(node, target)
    return target


def _call_inplace_traced(spec: OpSpec, target: Tensor, dynamic: Sequence[Any], static: Any, generator: Any) -> Tensor:
    flat, values, lengths, records, key = _read_traced(spec, dynamic, static, generator)
    operands = (apart_from_hooks(target), *flat[1:]) if records else flat
    results, node = _evaluate_traced(spec, operands, values, lengths, static, records, key)
    value = fit_into(results[0], target._layout.size, target.dtype)
    edge = None if node is None or not is_inexact(target.dtype) else Edge(node, 0)
    write_array(target, value, edge)
    n = max(spec.schema.n_results, 1)
    _store_written(spec, flat, results[n:])
    return target


# -- out= --------------------------------------------------------------------------------------------------------------


_AS_OUT = ("sum", "prod", "cumsum", "cumprod")
"""Ops that compute in the dtype of `out=` where none is given."""


def call_out(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], out: Any, generator: Any = None) -> Any:
    """Runs an op and stores its results in the tensors given as `out=`, which are resized to fit.

    Raises:
      AutogradError: If the op would be recorded.
      DtypeError: If `out` cannot hold the results' kind of number.
    """
    if SUBCLASSES and holds_subclass((*dynamic, out)):
        return _call_out_wrapper(spec, dynamic, static, out, generator)
    if state.dual is not None:
        return state.dual.call_out(spec, dynamic, static, out, generator)
    if spec.schema.n_results == 1 and isinstance(out, (tuple, list)):
        raise TensorTypeError(f"{spec.name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    outs = out if isinstance(out, (tuple, list)) else (out,)
    flat, _ = (dynamic, None) if not spec.has_lists else flatten(spec, dynamic)
    records = state.grad_enabled and any(isinstance(v, Tensor) and v.requires_grad for v in (*flat, *outs))
    if records and refuses_unrecorded():
        raise AutogradError(
            f"{spec.name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    if spec.name in _AS_OUT and isinstance(outs[0], Tensor):
        names = [p.name for p in spec.schema.static]
        static = tuple(
            outs[0]._layout.dtype if n == "dtype" and v is None else v for n, v in zip(names, static, strict=True)
        )
    results = call_uncast(spec, dynamic, static, generator)
    values = results if isinstance(results, (tuple, list)) else (results,)
    if len(outs) != len(values):
        raise ArgumentError(f"{spec.name}() returns {len(values)} tensors, but out= names {len(outs)}.")
    for target, result in zip(outs, values, strict=True):
        if not isinstance(target, Tensor):
            if type(target) in STAND_INS:
                target.settled(f"`{spec.name}(out=…)`")
            raise TensorTypeError(f"{spec.name}(): argument 'out' must be Tensor, not {type(target).__name__}")
        if spec.name == "bernoulli" and result.dtype != target.dtype:
            result = call(lookup("cast"), (result,), (target.dtype,))  # zeros and ones, which any dtype holds
        value = fit_into(result._read(), tuple(result.shape), target.dtype)
        if target._layout.size != tuple(result.shape):
            if target._layout.numel:
                warn_user(
                    f"An output with one or more elements was resized since it had shape {list(target._layout.size)}, "
                    f"which does not match the required output shape {list(result.shape)}. This behavior is "
                    "deprecated, and in a future PyTorch release outputs will not be resized unless they have zero "
                    "elements. Give an output of that shape, or an empty one: `out.resize_(0)`."
                )
            target.resize_(tuple(result.shape))
        if records:
            call_inplace(lookup("copy"), (target, result), (False,))
            continue
        check_writable(target, False)
        write_value(target, value)
    return outs[0] if spec.schema.n_results == 1 else spec.pack(outs)


def _call_out_wrapper(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], out: Any, generator: Any) -> Any:
    """As `call_out`, with wrappers among the arguments: what it makes is copied to the targets."""
    results = call_uncast(spec, dynamic, static, generator)
    targets = out if isinstance(out, (tuple, list)) else (out,)
    values = results if isinstance(results, (tuple, list)) else (results,)
    for target, value in zip(targets, values, strict=True):
        call_inplace(lookup("copy"), (target, value), (False,))
    return out if isinstance(out, Tensor) else spec.pack(targets)
