"""Ops in a trace: they run on symbols, and a node is recorded for each whose gradients are wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from jaxaot._typing import Array
from jaxaot.facade.dispatch.arguments import STAND_INS, converted, flatten
from jaxaot.facade.dispatch.autocast_operands import call_cast
from jaxaot.facade.dispatch.operands import operand_layouts
from jaxaot.facade.dispatch.results import store_written, unpack
from jaxaot.facade.dispatch.write import apart_from_hooks, write_array
from jaxaot.facade.kernels.kernels import Recipe, fit_into, result_layouts
from jaxaot.facade.memory.generator import draw_from
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.tensor import Tensor, wrap
from jaxaot.facade.nodes.nodes import TracedOpNode
from jaxaot.ops.promotion import is_inexact
from jaxaot.ops.table import OpSpec
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge


def call_traced(
    call: Callable[..., Any], spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any
) -> Any:
    """Runs an op out of place on symbols; `call` runs casts."""
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
    store_written(spec, flat, results[n:])
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


def call_inplace_traced(spec: OpSpec, target: Tensor, dynamic: Sequence[Any], static: Any, generator: Any) -> Tensor:
    """Runs an op on symbols, and writes its result to the target."""
    flat, values, lengths, records, key = _read_traced(spec, dynamic, static, generator)
    operands = (apart_from_hooks(target), *flat[1:]) if records else flat
    results, node = _evaluate_traced(spec, operands, values, lengths, static, records, key)
    value = fit_into(results[0], target._layout.size, target.dtype)
    edge = None if node is None or not is_inexact(target.dtype) else Edge(node, 0)
    write_array(target, value, edge)
    n = max(spec.schema.n_results, 1)
    store_written(spec, flat, results[n:])
    return target
