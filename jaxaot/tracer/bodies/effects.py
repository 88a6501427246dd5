"""Does to the surrounding trace what bodies did to what they captured.

The values of captured storages, and the gradients that flow through their histories, go in as operands of the control
flow equation and come out as its results; then they are written as if the surrounding function had written them. A
storage and the one history that moved on with it are one value, which carries its gradients itself (*merged*). In all
other cases a value goes alone, a constant for gradients, and each history that moved on is a value of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._immutable import immutable
from jaxaot._manual_axes import as_varying, manual_axes
from jaxaot._typing import Array
from jaxaot.errors import BackwardTwiceError, NotDifferentiableError, TraceError
from jaxaot.facade.kernels.grad_kernels import conjugate, pull_row
from jaxaot.facade.memory.counter import WriteCounter, counter_of
from jaxaot.facade.memory.generator import Generator, default_generator
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor, history_edge, wrap_array
from jaxaot.facade.nodes.vjps import cut_by, pull_by, storage_edge
from jaxaot.facade.trace_state import TraceState, graft
from jaxaot.joint import endless_loop
from jaxaot.ops.promotion import is_inexact, strong
from jaxaot.tape.node import Edge, Node
from jaxaot.tracer.bodies.body import Body
from jaxaot.views.layout import Layout
from jaxaot.views.window import find_window

Base = tuple[Layout, Layout, int] | None
"""How the gradient of a history's base is cut out of that of its storage; None if they are the same."""


class Keys:
    """The keys that one control flow call takes: one of the default generator, and one of each other it draws from."""

    def __init__(self, outer: TraceState):
        self._outer = outer
        self._taken = {default_generator: outer.reserve(default_generator)}

    def of(self, generator: Generator) -> Array:
        """Returns the key of a generator."""
        if generator not in self._taken:
            self._taken[generator] = self._outer.reserve(generator)
        return self._outer.key(generator, self._taken[generator])


def check_generators(bodies: Sequence[Body], always: Sequence[Generator] = ()) -> None:
    """Raises unless each generator but the default one is drawn from whatever happens, as it then takes one key.

    Args:
      bodies: Of which one, or none, will run.
      always: Generators that are drawn from in any case.

    Raises:
      TraceError: If one is not.
    """
    for generator in {generator for body in bodies for generator in body.generators}:
        if generator is default_generator or generator in always:
            continue
        if len(bodies) == 1 or any(generator not in body.generators for body in bodies):
            raise TraceError(
                "A generator of your own is drawn from in one branch of a `cond` and not in the other, or in the body "
                "of a `while_loop`, which may not run at all. How far it has come afterwards would depend on values. "
                "Draw from the default generator, which takes one step for each such call whatever it does; or draw "
                "before the call, and pass the numbers."
            )


class Operands:
    """The operands of a control flow equation, each once.

    Attributes:
      values: Their symbols.
    """

    def __init__(self, outer: TraceState):
        self.values: list[Any] = []
        self._axes = manual_axes()
        self._outer = outer
        self._sources: list[Any] = []
        self._places: dict[Any, int] = {}

    def add(self, value: Any, tensor: Tensor | None = None) -> int:
        """Returns the place of a new operand, the value of `tensor` if that is where its gradients go."""
        self.values.append(as_varying(strong(value, value.dtype), self._axes))
        self._sources.append(tensor)
        return len(self.values) - 1

    def of(self, storage: Storage, history: History | None) -> int:
        """Returns the place of a captured storage's value.

        Args:
          storage: Which.
          history: Whose gradients the value is to carry; None for a constant.
        """
        if history is not None and not history.requires_grad:
            history = None
        key = (id(storage), None if history is None else id(history))
        if key not in self._places:
            self._places[key] = self.add(self._outer.read(storage, history, history is not None))
            self._sources[-1] = None if history is None else (storage, history)
        return self._places[key]

    def edges(self) -> list[tuple[int, Edge, Base]]:
        """Returns the operands that gradients flow to: place, where the gradient goes, and how it is cut out."""
        found: list[tuple[int, Edge, Base]] = []
        for place, source in enumerate(self._sources):
            if isinstance(source, Tensor):
                edge = source._gradient_edge()
                if edge is not None:
                    found.append((place, edge, None))
            elif source is not None:
                storage, history = source
                found.append((place, history_edge(history), _base_of(storage, history)))
        return found


def _base_of(storage: Storage, history: History) -> Base:
    if history.layout is storage.layout:
        return None
    return storage.layout, history.layout, history.offset


@immutable(eq=False)
class Effects:
    """What any of several bodies does to what it captured.

    Attributes:
      bodies: The bodies.
      written: The storages written.
      moved: The histories moved on, each with its storage.
      merged: By the id of a storage, the history that goes with its value.
    """

    bodies: tuple[Body, ...]
    written: tuple[Storage, ...]
    moved: tuple[tuple[History, Storage], ...]
    merged: dict[int, History]

    @property
    def separate(self) -> list[tuple[History, Storage]]:
        """The histories that moved on and are values of their own."""
        return [(history, storage) for history, storage in self.moved if self.merged.get(id(storage)) is not history]


def unite(*bodies: Body) -> Effects:
    """Returns the union of the effects of the bodies."""
    written = {id(write.storage): write.storage for body in bodies for write in body.writes}
    moved = {id(move.history): (move.history, move.storage) for body in bodies for move in body.moves}
    merged: dict[int, History] = {}
    for key in written:
        histories = [history for history, storage in moved.values() if id(storage) == key]
        writers = [write.writer for body in bodies for write in body.writes if id(write.storage) == key]
        if len(histories) == 1 and all(writer is histories[0] for writer in writers):
            merged[key] = histories[0]
    return Effects(bodies, tuple(written.values()), tuple(moved.values()), merged)


def left_by(body: Body, effects: Effects, outputs: Sequence[Any], before: Sequence[Any]) -> list[Any]:
    """Returns the values of written storages and the gradients of separate histories after a body.

    Args:
      body: One of those of `effects`.
      effects: What is returned, and in which order.
      outputs: Of the body.
      before: The same before the body, for what it left as it was.
    """
    writes = {id(write.storage): write for write in body.writes}
    moves = {id(move.history): move for move in body.moves}
    values = list(before)
    for k, storage in enumerate(effects.written):
        write = writes.get(id(storage))
        if write is not None:
            value = outputs[write.place]
            values[k] = value if id(storage) in effects.merged else jax.lax.stop_gradient(value)
    for k, (history, _) in enumerate(effects.separate, len(effects.written)):
        if id(history) in moves:
            values[k] = outputs[moves[id(history)].place]
    return values


Source = tuple[Any, ...]
"""Where a captured input comes from.

`("operand", place)`, `("carried", slot)`, `("constant", slot)` for a carried value without its gradients, `("graft",
slot, source)` for one with those of another source, or `("stream", generator)`.
"""


def find(sources: Sequence[Source], values: Sequence[Any], carried: Sequence[Any], stream: Any) -> list[Any]:
    """Returns the captured inputs of a body.

    Args:
      sources: Where they come from.
      values: Of the operands.
      carried: What a loop carries of what its body captured.
      stream: Returns the seed of a generator's stream.
    """

    def value(source: Source) -> Any:
        match source:
            case ("operand", place):
                return values[place]
            case ("carried", slot):
                return carried[slot]
            case ("constant", slot):
                return jax.lax.stop_gradient(carried[slot])
            case ("graft", slot, gradients):
                return graft(jax.lax.stop_gradient(carried[slot]), value(gradients))
            case (_, generator):
                return stream(generator)

    return [value(source) for source in sources]


def captured_by_branches(effects: Effects, operands: Operands) -> tuple[list[list[Source]], list[int]]:
    """Makes what branches capture operands.

    Returns:
      For each branch the sources of its captured inputs; and the places of what is left where a branch does nothing.
    """
    before: list[tuple[Storage, History | None]] = []
    before += [(storage, effects.merged.get(id(storage))) for storage in effects.written]
    before += [(storage, history) for history, storage in effects.separate]
    wanted = [
        (origin[-1], body.owners.get(id(origin[1])) if origin[0] == "storage" else origin[1])
        for body in effects.bodies
        for origin in body.captured
        if origin[0] != "stream"
    ]
    _read_all(operands, [*wanted, *before])
    places = iter([operands.of(*pair) for pair in wanted])
    sources: list[list[Source]] = [
        [origin if origin[0] == "stream" else ("operand", next(places)) for origin in body.captured]
        for body in effects.bodies
    ]
    return sources, [operands.of(*pair) for pair in before]


def captured_by_iterations(effects: Effects, operands: Operands) -> tuple[list[Source], list[int]]:
    """Makes what the iterations of a loop capture operands, but for what they carry on.

    Returns:
      The sources of an iteration's captured inputs; and the places of the operands from which what is carried starts.
    """
    (body,) = effects.bodies
    slots = {id(storage): k for k, storage in enumerate(effects.written)}
    slots |= {id(history): len(slots) + k for k, (history, _) in enumerate(effects.separate)}
    starts: list[tuple[Storage, History | None]] = []
    starts += [(storage, effects.merged.get(id(storage))) for storage in effects.written]
    starts += [(storage, history) for history, storage in effects.separate]
    outside: list[tuple[Storage, History | None]] = []

    def operand(storage: Storage, history: History | None) -> Source:
        outside.append((storage, history))
        return "operand", len(outside) - 1  # its place is known when all are

    def gradients(history: History, storage: Storage) -> Source:
        if effects.merged.get(id(storage)) is history:
            return "carried", slots[id(storage)]
        if id(history) in slots:
            return "carried", slots[id(history)]
        return operand(storage, history)

    def value(storage: Storage, owner: History | None) -> Source:
        if id(storage) not in slots:
            return operand(storage, owner)
        slot = slots[id(storage)]
        if owner is None:
            return "constant", slot
        if effects.merged.get(id(storage)) is owner:
            return "carried", slot
        return "graft", slot, gradients(owner, storage)

    def source(origin: tuple[Any, ...]) -> Source:
        match origin:
            case ("storage", storage):
                return value(storage, body.owners.get(id(storage)))
            case ("ghost", history, storage):
                return gradients(history, storage)
            case _:
                return origin

    found = [source(origin) for origin in body.captured]
    _read_all(operands, [*outside, *starts])
    places = [operands.of(*pair) for pair in outside]

    def placed(source: Source) -> Source:
        if source[0] == "operand":
            return "operand", places[source[1]]
        return (*source[:2], placed(source[2])) if source[0] == "graft" else source

    return [placed(source) for source in found], [operands.of(*pair) for pair in starts]


def _read_all(operands: Operands, needed: Sequence[tuple[Storage, History | None]]) -> None:
    """Makes values operands, those that carry gradients first: the first of them is the storage's own value."""
    for storage, history in sorted(needed, key=lambda item: item[1] is None):
        operands.of(storage, history)


class ControlFlowNode(Node):
    """A control flow call in a trace; its gradient is only derived if a backward runs inside the trace."""

    __slots__ = ("bases", "outputs", "places", "run", "values")

    def __init__(
        self,
        name: str,
        edges: Sequence[tuple[int, Edge, Base]],
        run: Callable[[Sequence[Any]], list[Any]],
        values: Sequence[Any],
        outputs: Sequence[tuple[int, Base]],
    ):
        super().__init__(name, [edge for _, edge, _ in edges], len(outputs))
        self.places = [place for place, _, _ in edges]
        self.bases = [base for _, _, base in edges]
        self.run = run
        self.values: Sequence[Any] | None = list(values)
        self.outputs = outputs

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        values = self.values
        if values is None:
            raise BackwardTwiceError(
                "Trying to backward through the graph a second time. Specify retain_graph=True if you need to."
            )

        if create_graph:
            edges: list[Any] = [None] * len(values)
            for place, edge, base in zip(self.places, self.edges, self.bases, strict=True):
                edges[place] = storage_edge(edge, base)
            gradients = pull_by(pull_row(self._name, self._pull), values, edges, cotangents)
            return [cut_by(gradient, base) for gradient, base in zip(gradients, self.bases, strict=True)]
        gradients = self._pull(values, cotangents)
        return [_cut(gradient, base) for gradient, base in zip(gradients, self.bases, strict=True)]

    def _pull(self, values: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Returns the gradients at `places` as a function of the operands and of the outputs' cotangents."""

        def differentiated(*chosen: Any) -> list[Any]:
            filled = list(values)
            for place, value in zip(self.places, chosen, strict=True):
                filled[place] = value
            results = self.run(filled)
            return [_cut(results[place], base) for place, base in self.outputs]

        try:
            outputs, pullback = jax.vjp(differentiated, *[values[place] for place in self.places])
            full = [
                jnp.zeros_like(out) if ct is None else conjugate(ct.astype(out.dtype))
                for ct, out in zip(cotangents, outputs, strict=True)
            ]
            return [conjugate(gradient) for gradient in pullback(full)]
        except ValueError as error:
            refusal: NotDifferentiableError | None = endless_loop(error)
            if refusal is None:
                raise
            raise refusal from error

    def release(self) -> None:
        self.values = None


def _cut(value: Array, base: Base) -> Any:
    if base is None:
        return value
    window, starts = find_window(*base)
    return window.apply(value, starts)


def perform(
    name: str,
    outer: TraceState,
    effects: Effects,
    operands: Operands,
    requires_grad: Sequence[bool],
    run: Callable[[Sequence[Any]], list[Any]],
    n_iterations: int = 1,
) -> list[tuple[Any, Node | None, int]]:
    """Runs the control flow equation, and does to the surrounding trace what it did to what it captured.

    Args:
      name: Of the node on the tape.
      outer: The surrounding trace.
      effects: What the bodies do.
      operands: What `run` is called with.
      requires_grad: Of each result, whether gradients flow through it.
      run: Returns the results, then what `left_by` describes.
      n_iterations: How often the writes of a body are counted.

    Returns:
      For each result its value, its node on the tape or None, and its index there.
    """
    for history, storage in effects.moved:
        outer.adopt(storage)
        outer.adopt_history(history, storage)
    outputs = run(operands.values)
    n_results, n_written = len(requires_grad), len(effects.written)
    place_of = {id(storage): n_results + k for k, storage in enumerate(effects.written)}
    place_of |= {id(history): n_results + n_written + k for k, (history, _) in enumerate(effects.separate)}
    flowing: list[tuple[int, Base]] = [
        (i, None) for i, wanted in enumerate(requires_grad) if wanted and is_inexact(outputs[i].dtype)
    ]
    index_of = {place: k for k, (place, _) in enumerate(flowing)}
    first_moved = len(flowing)
    for history, storage in effects.moved:
        place = place_of[id(storage) if effects.merged.get(id(storage)) is history else id(history)]
        flowing.append((place, _base_of(storage, history)))
    node = ControlFlowNode(name, operands.edges(), run, operands.values, flowing) if flowing else None
    for storage in effects.written:
        history = effects.merged.get(id(storage))
        outer.write(storage, history, outputs[place_of[id(storage)]], history is not None)
    for k, (history, _) in enumerate(effects.moved):
        history.ghost = outputs[flowing[first_moved + k][0]]
        assert node is not None, "a history that moved on carries a gradient"
        history.move_on(node, first_moved + k)
    _count_writes(outer, effects, n_iterations)
    return [(outputs[i], node if i in index_of else None, index_of.get(i, 0)) for i in range(n_results)]


def _count_writes(outer: TraceState, effects: Effects, n_iterations: int) -> None:
    """Counts the writes: of branches, those of the one that writes most often."""
    counts: dict[int, tuple[WriteCounter, int]] = {}
    for body in effects.bodies:
        for tensor, n in body.counts:
            counter = counter_of(tensor)
            counts[id(counter)] = (counter, max(n, counts.get(id(counter), (counter, 0))[1]))
    for counter, n in counts.values():
        outer.counters.setdefault(id(counter), (counter, counter.n))
        counter.n += n * n_iterations


def wrap_result(outer: TraceState, value: Array, node: Node | None, index: int) -> Tensor:
    """Returns a result as a tensor on a storage of its own."""
    tensor = wrap_array(value)
    if node is not None:
        history = tensor._history = History(tensor._layout, 0, True, node, index, outer)
        history.ghost = value
        tensor._storage.writer = history
    return tensor
