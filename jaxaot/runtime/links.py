"""Segments that several programs share.

Programs of one function that were traced with the same first values begin with the same segments. Each such segment
exists once: a program is *linked* to it, and where a new program needs more of what the segment computes, the segment
is *extended* by outputs. So a call that follows another path than the last one computes nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, assert_never

import numpy as np

from jaxaot._immutable import immutable
from jaxaot.partition.segments import FromInput, FromSegment, Segment, ValueSource, merge_graphs
from jaxaot.plan.inputs import in_order
from jaxaot.plan.stages import Traced

InputKey = Hashable
"""What tells a graph input apart across the programs of a function."""


@immutable
class GraphValue:
    """A graph input, by its key."""

    key: InputKey


@immutable
class CrossingValue:
    """An output of an earlier segment."""

    segment: SharedSegment
    output: int


class SharedSegment:
    """A segment as it is run, for one program or several.

    Attributes:
      graph: A ClosedJaxpr; its first output is the break value.
      inputs: Where its inputs come from: `GraphValue` or `CrossingValue`.
      call: The compiled graph.
    """

    __slots__ = ("_make", "call", "graph", "inputs")

    def __init__(self, graph: Any, inputs: Sequence[Any], make: Callable[[Any], Any]):
        self._make = make
        self.graph = graph
        self.inputs = tuple(inputs)
        self.call = make(graph).call

    def extend(self, graph: Any, inputs: Sequence[Any]) -> tuple[int, ...]:
        """Makes the segment compute what another graph computes as well; returns where the outputs of that are."""
        known = list(self.inputs)
        for source in inputs:
            if source not in known:
                known.append(source)
        n_outputs = len(self.graph.out_avals)
        merged, positions = merge_graphs(self.graph, graph, [known.index(source) for source in inputs])
        if len(merged.out_avals) > n_outputs:
            self.graph, self.inputs = merged, tuple(known)
            self.call = self._make(merged).call
        return positions


@immutable(eq=False)
class Link:
    """A program's use of a segment.

    Attributes:
      segment: The segment.
      positions: For each output that the program's own cut has: the output of the segment that it is.
    """

    segment: SharedSegment
    positions: tuple[int, ...]


class Linker:
    """Finds what a program runs for its segments before the last one.

    Attributes:
      keys: Of its graph inputs.
    """

    def __init__(
        self, traced: Traced, walk: Walk, programs: Sequence[Any], make: Callable[[Any], Any],
        further: Sequence[InputKey] = (),
    ):  # fmt: skip
        """Begins.

        Args:
          traced: What the program is made for.
          walk: How far the call came by the segments of other programs, which it shares.
          programs: The function's programs.
          make: Makes an executable of a graph.
          further: The keys of the inputs that the graph has besides those of the trace.
        """
        self.keys = (*input_keys(traced, [(p.traced, p.input_keys) for p in programs]), *further)
        self._shared, self._make = walk.segments, make
        self._known: list[frozenset[InputKey]] = []  # by all programs that run a segment
        for segment in self._shared:
            users = [p.input_keys for p in programs if any(link.segment is segment for link in p.links or ())]
            self._known.append(frozenset.intersection(*map(frozenset, users)) if users else frozenset())

    def link(self, parts: Sequence[Segment]) -> tuple[Link, ...]:
        """Returns the links of a program that was cut into these segments."""
        links: list[Link] = []
        for k, part in enumerate(parts):
            inputs = [self._value(source, links) for source in part.inputs]
            graph_keys = {source.key for source in inputs if isinstance(source, GraphValue)}
            is_same = k < len(self._shared) and all(link.segment is self._shared[i] for i, link in enumerate(links))
            if is_same and graph_keys <= self._known[k] and self._has_inputs_of(self._shared[k]):
                links.append(Link(self._shared[k], self._shared[k].extend(part.jaxpr, inputs)))
            else:
                segment = SharedSegment(part.jaxpr, inputs, self._make)
                links.append(Link(segment, tuple(range(len(part.jaxpr.out_avals)))))
        return tuple(links)

    def _has_inputs_of(self, segment: SharedSegment) -> bool:
        """Returns whether the program has what a segment takes: of another one a number may be an input."""
        return all(value.key in self.keys for value in segment.inputs if isinstance(value, GraphValue))

    def _value(self, source: ValueSource, links: Sequence[Link]) -> GraphValue | CrossingValue:
        """Returns where an input comes from, in terms that hold for all programs."""
        match source:
            case FromInput(index):
                return GraphValue(self.keys[index])
            case FromSegment(segment, output):
                return CrossingValue(links[segment].segment, links[segment].positions[output])
            case _:
                assert_never(source)


def input_keys(traced: Traced, known: Sequence[tuple[Traced, tuple[InputKey, ...]]]) -> tuple[InputKey, ...]:
    """Returns a key for each graph input that is passed, the same as other programs of the function have for it.

    Args:
      traced: The graph.
      known: The graphs of the other programs, with their keys.
    """
    found: dict[Hashable, InputKey] = {}
    for other, keys in known:
        for places, key in zip(_places(other), keys, strict=False):  # those of sizes come after
            for place in places:
                found.setdefault(place, key)
    return tuple(next((found[p] for p in places if p in found), places[0]) for places in _places(traced))


def _places(traced: Traced) -> list[list[Any]]:
    """Returns, for each graph input that is passed, every way to reach it."""
    call = traced.call
    storages: list[list[Any]] = [
        [("storage", t.path) for t in call.tensors if t.storage == i]
        for i, storage in enumerate(call.storages)
        if storage.graph_input is not None
    ]
    places: list[list[Any]] = []
    for ghost in call.ghosts:
        history = call.tensors[ghost.tensor].history
        named = [("gradient", t.path) for t in call.tensors if t.history == history]
        places.append([] if ghost.is_empty else named)
    places += [[("value", value.leaf)] for value in call.values]
    places += [[("number", call.numbers.text(number.step))] for number in call.numbers.inputs]
    for use in traced.rng.generators:
        places += [[("seed", use.path)], [("offset", use.path)]] if use.is_input else []
    of_places = [[("place", name)] for name, _ in traced.places.graph_inputs]
    return [ways for ways in in_order(call, traced.places, storages, of_places, places) if ways]


class Walk:
    """What one call has computed so far, on its way along the paths of a function.

    Attributes:
      results: Segment → its outputs.
      stopped: The program that came furthest, where it asked for a value that it was not made for, and that value.
    """

    __slots__ = ("_offsets", "results", "stopped")

    def __init__(self) -> None:
        self.results: dict[SharedSegment, list[Any]] = {}
        self.stopped: tuple[Any, int, np.ndarray] | None = None
        self._offsets: dict[Any, Any] = {}

    @property
    def known(self) -> tuple[np.ndarray, ...]:
        """The values that are known of this call, in the order in which Python asks for them."""
        if self.stopped is None:
            return ()
        program, place, value = self.stopped
        return (*(break_values.array for break_values in program.traced.break_values[:place]), value)

    @property
    def segments(self) -> tuple[SharedSegment, ...]:
        """The segments that computed them."""
        if self.stopped is None:
            return ()
        program, place, _ = self.stopped
        return tuple(link.segment for link in program.links[: place + 1])

    def agrees(self, program: Any, place: int, value: Any) -> bool:
        """Returns whether a value is the one that a program was made for, and notes it where it is not."""
        array = np.asarray(value)
        if array.tobytes() == program.traced.break_values[place].value:
            return True
        if self.stopped is None or self.stopped[1] < place:
            self.stopped = (program, place, array)
        return False

    def offset(self, generator: Any) -> Any:
        """Returns the offset of a generator; what was drawn from another one is forgotten."""
        offset = generator.offset_word()
        if self._offsets.setdefault(generator, offset) != offset:
            self.results.clear()
            self._offsets[generator] = offset
        return offset
