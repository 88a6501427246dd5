"""call_as_op(fn, args): a pure function of arrays on tensors, as one operation on these and on what it reaches.

The function is traced as a body, so that tensors from outside which it reads are known, and their gradients flow. The
graph is an op like any other: eagerly it is compiled, once for graphs that are alike; in a trace it is part of the
graph; and its derivatives, of any order, are those of JAX.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._frames import without_own_frames
from jaxaot._jax import close_jaxpr, jaxpr_as_fun
from jaxaot._manual_axes import as_varying
from jaxaot._typing import ClosedJaxpr
from jaxaot.facade.dispatch.create import from_jax
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.kernels.kernels import remember
from jaxaot.facade.marks.trees import pack_keys, to_arrays, to_tensors, unpack_keys
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor, wrap
from jaxaot.facade.trace_state import RUNNING, TRACING
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import graph_content
from jaxaot.ops.table import OpSpec, op_of
from jaxaot.tape.modes import state
from jaxaot.tape.saved_hooks import without_saved_hooks
from jaxaot.tracer.bodies.body import Body, trace_body
from jaxaot.tracer.bodies.leaves import spec_of
from jaxaot.tracer.bodies.pure import ReachesTape, is_within_func, refusing_recorded_reads
from jaxaot.views.window import find_window

_MAX_ROWS = 256
_rows: dict[Any, OpSpec] = {}

Around = Callable[[Callable[..., Sequence[Any]]], Callable[..., Sequence[Any]]]
"""Takes the function of a graph to the one that runs."""

_Source = Callable[[Sequence[Any]], Any]
"""Takes the values of all operands to that of an input of the graph."""


def call_as_op(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns the results of a function of arrays for tensors, as tensors.

    Args:
      fn: Takes arrays, in any pytrees, to arrays; it may read tensors from outside, but changes nothing there.
      args: Its arguments, with tensors in place of arrays; what is neither is passed as it is.
      kwargs: Its keyword arguments.
    """
    leaves, tree = pytree.flatten((pack_keys(args), pack_keys(kwargs)))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, (Tensor, jax.Array, np.ndarray))]
    given = [leaf if isinstance(leaf, Tensor) else jnp.asarray(leaf) for leaf in (leaves[i] for i in places)]
    found: list[Any] = []
    has_duals = state.dual is not None and state.dual.has_duals()

    def run(values: list[Any]) -> list[Any]:
        filled = list(leaves)
        for place, value, was in zip(places, values, given, strict=True):
            filled[place] = value = to_arrays(value)
            if not has_duals and not (isinstance(was, Tensor) and was.requires_grad):
                state.trace.constants[id(value)] = value
        own_args, own_kwargs = unpack_keys(pytree.unflatten(tree, filled))
        with without_saved_hooks():  # the tape packs what the op saves
            results, result_tree = pytree.flatten(pack_keys(fn(*own_args, **own_kwargs)))
        is_array = list(map(_is_array, results))
        found.extend((result_tree, [None if wanted else x for x, wanted in zip(results, is_array, strict=True)]))
        found.append(is_array)
        return [jnp.asarray(x) for x, wanted in zip(results, is_array, strict=True) if wanted]

    with outermost_trace():
        body = trace_body(run, [spec_of(value) for value in given], has_streams=False)
    results = iter(call_body(getattr(fn, "__name__", ""), body, given))
    result_tree, static, is_array = found
    filled = [next(results) if wanted else x for x, wanted in zip(static, is_array, strict=True)]
    return unpack_keys(pytree.unflatten(result_tree, filled))


def call_body(name: str, body: Body, given: Sequence[Any], around: Around | None = None) -> Sequence[Tensor]:
    """Returns the results of a body for tensors and what it captured, as one operation.

    Args:
      name: Of the operation.
      body: Writes to nothing that it captured, and draws as the surrounding function does.
      given: Its arguments.
      around: Takes the graph as a function of arrays to the one that runs; hashable. What the body captured follows
        its arguments there.
    """
    graph = inline(body.graph)  # so that constants of inner calls are operands too, and not part of a row
    operands = _Operands(given, body, graph.consts)
    results: Sequence[Tensor] = call(_row(name, graph, body, operands.sources, around), (operands.values,), ())
    if state.trace is None:
        for generator, n_draws in body.draws.items():
            generator.offset += n_draws
    return results


def call_on_tensors(transformed: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns the results of a function of arrays for tensors, as tensors.

    It is recorded where something requires grad that it is passed or reads, in a trace, and where there are duals.
    """
    is_recorded = state.grad_enabled and any(
        isinstance(leaf, Tensor) and leaf.requires_grad for leaf in pytree.leaves((args, kwargs))
    )
    has_duals = state.dual is not None and state.dual.has_duals()
    try:
        transformed = _without_other_duals(transformed)
        if not is_recorded and not has_duals and (state.trace is None or is_within_func()):
            try:
                with refusing_recorded_reads():
                    return to_tensors(transformed(*to_arrays(args), **to_arrays(kwargs)))
            except ReachesTape:
                pass
        return call_as_op(transformed, args, kwargs)
    except Exception as error:
        raise without_own_frames(error)  # noqa: B904  # it is the same exception


def _without_other_duals(transformed: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function of arrays that refuses dual tensors, which are none of its arguments."""
    level = state.dual
    if level is None or not level.has_duals():
        return transformed

    @functools.wraps(transformed)
    def run(*args: object, **kwargs: Any) -> Any:
        with level.closed():
            return transformed(*args, **kwargs)

    return run


def _is_array(leaf: object) -> bool:
    return isinstance(leaf, (jax.Array, np.ndarray)) and leaf.dtype != jax.dtypes.float0


@contextlib.contextmanager
def outermost_trace() -> Iterator[None]:
    """Inside, nobody else runs compiled functions, as storages hold symbols; nothing is done within a trace."""
    if state.trace is not None:
        yield
        return
    marker = object()
    with TRACING:
        region = state.region
        try:
            state.region = None
            RUNNING.append(marker)
            yield
        finally:
            if marker in RUNNING:
                RUNNING.remove(marker)
            state.region = region


class _Operands:
    """What the op of a body takes.

    Attributes:
      values: Tensors and arrays: the arguments, then what makes up the captured inputs, then constants of the graph.
      sources: How each input of the graph follows from them; None if it is the next one.
    """

    def __init__(self, given: Sequence[Any], body: Body, consts: Sequence[Any]):
        self.values: list[Any] = list(given)
        self.sources: list[_Source | None] = [None] * len(given)
        for origin in body.captured:
            match origin:
                case ("storage", storage):
                    self._add(storage, body.owners.get(id(storage)), True)
                case ("ghost", history, storage):
                    self._add(storage, history, False)
                case ("key of an index", generator, n):
                    self.sources.append(None)
                    self.values.append(from_jax(_key_of_index(generator, n)))
                case (_, generator, n):
                    self.sources.append(None)
                    self.values.append(from_jax(_key(generator, n)))
        self.values += [from_jax(jnp.asarray(const)) for const in consts]

    def _add(self, storage: Storage, history: History | None, has_value: bool) -> None:
        """Adds the value of a storage, whose gradients go where those of a history do.

        Args:
          storage: Which.
          history: Of the tensors that show it, or a part of it; None if it is a constant.
          has_value: Whether what the history does not show matters.
        """
        trace = state.trace
        history = history if history is not None and history.requires_grad else None
        whole = history is None or history.layout is storage.layout
        if history is None or not whole:
            value = wrap(storage, storage.layout, storage.layout.origin, trace)
            self.values.append(value if has_value else jnp.zeros(storage.layout.size, storage.layout.dtype))
        if history is not None:
            part = wrap(storage, history.layout, history.offset, trace)
            part._history = history
            self.values.append(part)
        if whole:
            self.sources.append(None)
        else:
            assert history is not None, "a part is shown by a history"
            window, starts = find_window(storage.layout, history.layout, history.offset)
            place = len(self.values) - 2
            self.sources.append(lambda values: window.scatter(values[place], values[place + 1], starts))


def _key(generator: Generator, n: int) -> Any:
    """Returns the key that a body took."""
    if state.trace is not None:
        return state.trace.key(generator, n)
    return jax.random.fold_in(jnp.asarray(generator._words), jnp.uint32(generator.offset + n))


def _key_of_index(generator: Generator, n: int) -> Any:
    """Returns the key that a body took, with the index that it is for as a third word."""
    words, index = state.trace.key_of_all(generator, n)
    return jnp.concatenate([words, jnp.atleast_1d(index).astype(jnp.uint32)])


def _row(name: str, graph: ClosedJaxpr, body: Body, sources: Sequence[_Source | None], around: Around | None) -> OpSpec:
    """Returns the op of a graph; one that is alike is taken again."""
    key = None
    if state.trace is None and not any(sources):
        content = graph_content(graph.jaxpr)
        key = None if content is None else (name, content, around)
    row = _rows.get(key) if key is not None else None
    if row is None:
        row = _new_row(name, graph, body, sources, around)
        if key is not None:
            remember(_rows, key, row, _MAX_ROWS)
    return row


def _new_row(
    name: str, graph: ClosedJaxpr, body: Body, sources: Sequence[_Source | None], around: Around | None
) -> OpSpec:
    jaxpr, n_consts, axes = graph.jaxpr, len(graph.consts), body.axes

    def compute(*values: Any) -> list[Any]:
        n_inputs = len(values) - n_consts
        filled = close_jaxpr(jaxpr, list(values[n_inputs:]))
        return list(jaxpr_as_fun(filled)(*(as_varying(value, axes) for value in values[:n_inputs])))

    def run(values: Sequence[Any]) -> list[Any]:
        n_inputs = len(values) - n_consts
        inputs, place = [], 0
        for source in sources:
            inputs.append(values[place] if source is None else source(values))
            place += 1 if source is None else 2
        return list((compute if around is None else around(compute))(*inputs, *values[n_inputs:]))

    return op_of(run, f"{name if name.isidentifier() else 'call_as_op'}(Tensor[] values) -> Tensor[]")
