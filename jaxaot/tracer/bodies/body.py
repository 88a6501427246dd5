"""Runs the function of a branch or of a loop's turn on symbols of its own: a *body*, a graph within the graph.

A body is traced as a whole function is. What it touches and did not make, be it from the surrounding trace or from
outside of all, is *captured*: its value becomes an input of the body's graph, and everything is put back when the body
ends. What the body did to it is noted: which storages it wrote, which histories it moved on, how often it counted a
write, which generators it drew from. `effects.py` does the same to the surrounding trace afterwards.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._immutable import immutable
from jaxaot._jax import close_jaxpr, jaxpr_as_fun, make_jaxpr_object
from jaxaot._manual_axes import NO_AXES, as_varying, manual_axes, varying_type
from jaxaot._typing import Array, ClosedJaxpr, DTypeLike
from jaxaot.errors import CapturedTensorChangedError
from jaxaot.facade.memory.generator import Generator, Position
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.facade.nodes.nodes import GraphInput
from jaxaot.facade.trace_state import TraceState, lift_p
from jaxaot.ir.walk import variables
from jaxaot.ops.promotion import strong
from jaxaot.tape.modes import state
from jaxaot.tracer.bodies.grad_hooks import refuse_lasting_hooks
from jaxaot.tracer.bodies.leaves import LeafSpec, spec_of
from jaxaot.tracer.bodies.push_pull import forward_alone
from jaxaot.tracer.hoist import hoist


@immutable(eq=False)
class Write:
    """A captured storage that a body wrote.

    Attributes:
      storage: Which.
      place: Output of the body with its value.
      writer: The history whose gradients that value carries; None for none.
    """

    storage: Storage
    place: int
    writer: History | None


@immutable(eq=False)
class Move:
    """A captured history that a body moved on, by a recorded write.

    Attributes:
      history: Which.
      storage: What its tensors show.
      place: Output of the body that carries its gradients.
    """

    history: History
    storage: Storage
    place: int


@immutable(eq=False)
class Body:
    """A traced body.

    Attributes:
      graph: From its arguments and what it captured to its results, the storages written and the histories moved on.
      captured: What each further input of the graph is: `("storage", storage)`, `("ghost", history, storage)`,
        `("stream", generator)`, or `("key", generator, n)` if it draws as the surrounding function does.
      owners: By the id of a storage, the history whose gradients the input of that storage carries.
      results: Of the function.
      writes: What it wrote.
      moves: What it moved on.
      counts: By how much write counters grew, each with a captured tensor that has it.
      draws: How many keys of each generator it took for itself.
      axes: The axes of a mesh along which its inputs and outputs differ, in a function that `shard_map` runs.
    """

    graph: Any
    captured: tuple[tuple[Any, ...], ...]
    owners: dict[int, History]
    results: tuple[LeafSpec, ...]
    writes: tuple[Write, ...]
    moves: tuple[Move, ...]
    counts: tuple[tuple[Tensor, int], ...]
    draws: dict[Generator, int]
    axes: frozenset[Any]

    @property
    def generators(self) -> list[Generator]:
        """The generators that it drew from."""
        return [origin[1] for origin in self.captured if origin[0] == "stream"]

    def __call__(self, *inputs: object) -> list[Any]:
        """Returns the outputs of the graph, its equations being part of whatever JAX traces at the moment."""
        return list(jaxpr_as_fun(self.graph)(*(as_varying(x, self.axes) for x in inputs)))


class _BodyTrace(TraceState):
    """The trace of a body.

    Attributes:
      is_loop: Whether the body runs again on what it left, so that gradients do not flow from it into the graph before.
      outer: The surrounding trace, or None.
      has_streams: Whether it draws from streams of its own; else it takes the keys that the surrounding function would.
      ghosts: By id, what carried the gradients of a captured history when the body began.
      stream_seeds: Generator → the seed of its stream.
      axes: Those of `Body`.
    """

    def __init__(self, is_loop: bool, outer: TraceState | None, has_streams: bool, axes: frozenset[Any]) -> None:
        super().__init__()
        self.axes = axes
        self.is_loop = is_loop
        self.has_streams = has_streams
        self.outer = outer
        if not has_streams:  # it runs once
            self.first_run_backward = 0 if outer is None else outer.first_run_backward
        self.ghosts: dict[int, Any] = {}
        self.stream_seeds: dict[Generator, Array] = {}

    def lift(self, shape: tuple[int, ...], dtype: DTypeLike, origin: tuple[Any, ...], weak_type: bool = False) -> Array:
        if not self.axes:
            return super().lift(shape, dtype, origin, weak_type)
        self.lifted.append(origin)
        return lift_p.bind(index=len(self.lifted) - 1, aval=varying_type(shape, dtype, self.axes))

    def symbol_of(self, storage: Storage) -> Array:
        is_weak = bool(getattr(storage.array, "weak_type", False))
        return self.lift(storage.layout.size, storage.layout.dtype, ("storage", storage), is_weak)

    def adopt_history(self, history: History, storage: Storage) -> None:
        if history.trace is self:
            return
        super().adopt_history(history, storage)
        self.ghosts[id(history)] = history.ghost
        if self.is_loop and history.node is not None:
            history.node, history.index = GraphInput(), 0

    def promote(self, history: History, storage: Storage) -> None:
        """Captures a history that gradients flow through from the second turn on."""
        before = history.snapshot()
        history.requires_grad, history.node, history.index = True, GraphInput(), 0
        self.adopt(storage)
        self.adopt_history(history, storage)
        self.histories[id(history)] = (history, before)

    def read(self, storage: Storage, history: History | None, records: bool) -> Array:
        if not self.has_streams and not records and history is not None and history.requires_grad:
            return forward_alone(super().read(storage, history, True))
        return super().read(storage, history, records)

    def reserve(self, generator: Generator) -> int | Position:
        if self.has_streams or self.outer is None:
            return super().reserve(generator)
        return self.outer.reserve(generator)

    def position(self, generator: Generator) -> Position:
        if self.has_streams or self.outer is None:
            return super().position(generator)
        return self.outer.position(generator)

    def move(self, generator: Generator, position: Position) -> None:
        if self.has_streams or self.outer is None:
            super().move(generator, position)
        else:
            self.outer.move(generator, position)

    def key(self, generator: Generator, n: int | Position) -> Array:
        if isinstance(n, Position):
            return n.key
        if not self.has_streams:
            return self.lift((2,), np.uint32, ("key", generator, n))
        if generator not in self.stream_seeds:
            self.stream_seeds[generator] = self.lift((2,), np.uint32, ("stream", generator))
        return jax.random.fold_in(self.stream_seeds[generator], jnp.uint32(n))

    def key_of_all(self, generator: Generator, n: int | Position) -> tuple[Array, Array | None]:
        if isinstance(n, Position) or not self.is_of_an_index():
            return super().key_of_all(generator, n)
        words = self.lift((3,), np.uint32, ("key of an index", generator, n))
        return words[:2], words[2]

    def stop(self, what: str, line: str | None = None) -> None:
        if self.outer is not None:
            self.outer.stop(what, line)

    def is_of_an_index(self) -> bool:
        return not self.has_streams and self.outer is not None and self.outer.is_of_an_index()

    def argument(self, symbol: Array, spec: LeafSpec) -> Any:
        """Returns the argument that the body's function gets for a symbol."""
        if not spec.is_tensor:
            return symbol
        tensor = wrap_array(symbol)
        if spec.requires_grad:
            history = tensor._history = History(tensor._layout, 0, True, GraphInput(), 0, self)
            history.ghost = symbol
            tensor._storage.writer = history
        return tensor


def trace_body(
    fn: Callable[[list[Any]], list[Any]],
    arguments: Sequence[LeafSpec],
    *,
    promoted: Sequence[tuple[History, Storage]] = (),
    is_loop: bool = False,
    has_streams: bool = True,
    varying: Sequence[frozenset[Any]] | None = None,
    what: str = "The function of a `cond`, `while_loop`, `scan` or `map`",
) -> Body:
    """Returns the graph of a function, and what it does to what it captures from the surrounding trace or from outside.

    Args:
      fn: Takes and returns tensors and arrays, in a list.
      arguments: What it takes.
      promoted: Histories that do not require grad, but are to be taken as if they did.
      is_loop: Whether the body will run again on what it leaves.
      has_streams: Whether random numbers are those of streams, so that they do not depend on how often bodies run.
      varying: For a function that `shard_map` is to run, the axes along which each argument differs; what it captures
        is the same everywhere then. By default all may differ that is within a `shard_map`.
      what: What the function is, for messages.

    Raises:
      CapturedTensorChangedError: If it changes more of a captured tensor than its values.
    """
    outer, grad_enabled = state.trace, state.grad_enabled
    axes = manual_axes() if varying is None else NO_AXES
    trace = _BodyTrace(is_loop, outer, has_streams, axes)
    found: dict[str, Any] = {}

    def staged(*symbols: Array) -> list[Any]:
        for history, storage in promoted:
            trace.promote(history, storage)
        given = [trace.argument(symbol, spec) for symbol, spec in zip(symbols, arguments, strict=True)]
        leaves = fn(given)
        state.grad_enabled = grad_enabled  # a mode that the body set must not reach the equations below
        _check_captured(trace, what)
        refuse_lasting_hooks(trace, leaves)
        # strong types: branches must return equal types, and loops what they take
        outputs = [strong(x._read() if isinstance(x, Tensor) else x, x.dtype) for x in leaves]
        found["results"] = tuple(map(spec_of, leaves))
        found["writes"] = [
            (storage, _append(outputs, storage.array), storage.writer)
            for storage, _ in trace.storages.values()
            if id(storage) in trace.written
        ]
        found["moves"] = [
            (history, _storage_of(trace, history), _append(outputs, history.ghost))
            for history, _ in trace.histories.values()
            if history.ghost is not trace.ghosts[id(history)]
        ]
        found["begun"] = [
            (tensor, tensor._history, _append(outputs, tensor._history.ghost))
            for tensor, before in trace.tensors.values()
            if before["_history"] is None and tensor.requires_grad
        ]
        found["counts"] = _counts(trace)
        return [as_varying(x, axes) for x in outputs] if axes else outputs

    try:
        state.trace = trace
        avals: list[Any] = [jax.ShapeDtypeStruct(spec.shape, spec.dtype) for spec in arguments]
        if axes or varying is not None:
            given = varying or [axes] * len(avals)
            avals = [varying_type(x.shape, x.dtype, along) for x, along in zip(avals, given, strict=True)]
        closed = jax.make_jaxpr(staged)(*avals)
    finally:
        state.trace, state.grad_enabled = outer, grad_enabled
        trace.restore()  # a body only describes its effects: the surrounding trace carries them out
    graph = hoist(closed, len(trace.lifted), range(len(trace.lifted)))
    graph, captured = _without_unused(graph, len(arguments), trace.lifted)
    _note_reached(outer, trace)
    moves = [Move(*move) for move in found["moves"]]
    # histories begun inside belong to a trace that is over, so each gets one of the surrounding trace in its place
    ours: dict[int, History] = {}
    for tensor, history, place in found["begun"]:
        ours[id(history)] = _begin_history(outer, tensor)
        moves.append(Move(ours[id(history)], tensor._storage, place))
    return Body(
        graph=graph,
        captured=captured,
        owners={id(storage): history for history, storage, ghost in trace.reached.values() if ghost is None},
        results=found["results"],
        writes=tuple(Write(storage, place, ours.get(id(writer), writer)) for storage, place, writer in found["writes"]),
        moves=tuple(moves),
        counts=found["counts"],
        draws=trace.draws,
        axes=axes,
    )


def trace_iteration(fn: Callable[[list[Any]], list[Any]], arguments: Sequence[LeafSpec], n_carried: int) -> Body:
    """Returns the body of a loop, whose first results are its first arguments in the next iteration.

    What requires grad after an iteration does so at the beginning of the next; the body is traced until that is so.

    Args:
      fn: As for `trace_body`.
      arguments: What the first iteration takes.
      n_carried: How many arguments are carried from iteration to iteration.
    """
    arguments = list(arguments)
    promoted: dict[int, tuple[History, Storage]] = {}
    while True:
        body = trace_body(fn, arguments, promoted=list(promoted.values()), is_loop=True)
        is_stable = True
        for i, result in enumerate(body.results[:n_carried]):
            if result.requires_grad and not arguments[i].requires_grad:
                arguments[i] = dataclasses.replace(arguments[i], requires_grad=True)
                is_stable = False
        for move in body.moves:
            if not move.history.requires_grad and id(move.history) not in promoted:
                promoted[id(move.history)] = (move.history, move.storage)
                is_stable = False
        if is_stable:
            return body


def _append(outputs: list[Any], value: object) -> int:
    outputs.append(value)
    return len(outputs) - 1


def _counts(trace: TraceState) -> tuple[tuple[Tensor, int], ...]:
    owners = {id(tensor._counter): tensor for tensor, _ in trace.noted.values()}
    grown = [(owners.get(id(counter)), counter.n - n) for counter, n in trace.counters.values()]
    return tuple((tensor, n) for tensor, n in grown if tensor is not None)


def _storage_of(trace: TraceState, history: History) -> Storage:
    """Returns the storage that the tensors of a captured history show."""
    for tensor, before in trace.noted.values():
        if before["_history"] is history:
            return tensor._storage
    raise AssertionError("a history was moved on by a write through a tensor, and the tensor was noted")


def _without_unused(graph: ClosedJaxpr, n_arguments: int, origins: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
    """Returns the graph without the captured inputs that nothing reads, and the origins of the others."""
    jaxpr = graph.jaxpr
    live = {var for eqn in jaxpr.eqns for var in variables(eqn.invars)} | set(variables(jaxpr.outvars))
    arguments, lifted = jaxpr.invars[:n_arguments], jaxpr.invars[n_arguments:]
    kept = [(var, origin) for var, origin in zip(lifted, origins, strict=True) if var in live]
    invars = [*arguments, *(var for var, _ in kept)]
    pruned = make_jaxpr_object(invars, jaxpr.outvars, jaxpr.eqns, jaxpr.constvars)
    return close_jaxpr(pruned, graph.consts), tuple(origin for _, origin in kept)


def _note_reached(outer: TraceState | None, trace: _BodyTrace) -> None:
    """Tells the surrounding trace which tensors the body reached, and what it left behind."""
    if outer is None:
        return
    for tensor, _ in trace.noted.values():
        outer.note(tensor)
    for tensor, _ in trace.grad_reads.values():
        outer.read_grad(tensor)
    outer.created += trace.created


def _begin_history(outer: TraceState, tensor: Tensor) -> History:
    """Gives a tensor that has no history one, without gradient so far."""
    outer.touch(tensor)
    tensor._history = History(tensor._layout, tensor._offset, trace=outer)
    return tensor._history


def _check_captured(trace: _BodyTrace, what: str) -> None:
    problems = []
    for tensor, before in trace.tensors.values():
        shown = f"a captured tensor {before['_layout'].dtype}{list(before['_layout'].size)}"
        same = lambda name: getattr(tensor, name) is before[name]
        if not same("_storage") or not same("_layout") or tensor._offset != before["_offset"]:
            problems.append(f"{shown} shows other memory than before, as after `t_`, `set_`, `resize_` or `.data =`")
        elif not same("_grad"):
            problems.append(f"the `.grad` of {shown} was replaced")
        elif not same("_history") and (before["_history"] is not None or _is_leaf_now(tensor)):
            problems.append(f"the place of {shown} in the tape changed, as after `detach_` or `requires_grad_`")
    for storage, before in trace.storages.values():
        if storage.layout is not before["layout"]:
            problems.append(f"the memory of a captured tensor ({storage}) was resized, or grown memory was filled")
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise CapturedTensorChangedError(
            f"{what} changed more of a tensor from outside than its values:\n{listed}\n"
            "Whether or how often it runs is only known when the compiled graph runs, but what a tensor shows has to "
            "be known before. Values may be written (`x.copy_(new)`, `x[i] = v`, `x.grad.zero_()`, `x.grad.add_(g)`); "
            "do the rest before or after, or to a tensor that is passed and returned."
        )


def _is_leaf_now(tensor: Tensor) -> bool:
    history = tensor._history
    return history is not None and history.requires_grad and history.node is None
