"""What several functions under `ja.remat` in one program hold together: no more than `jax.checkpoint` of each.

`jax.checkpoint` keeps the inputs of a function, runs it again before its backward, and has all its values in memory
then. Where `ja.remat` computes again in a better order, it needs less then, and there is *room*: so many bytes may
the functions of a program save, all together. How many will be called is not known when the first one is cut. So each
takes of the room what the minimum cut of it saves, as long as that leaves enough to run all that follow; what comes
later saves what cannot be computed again, and no more. All of it is estimated from shapes.

A function that stands alone, or is the first and returns nothing but scalars, as a loss does, is cut by its policy.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from jaxaot._jax import running_traces
from jaxaot._util import KeptWith
from jaxaot.errors import BudgetError, PolicyError
from jaxaot.partition.partition import Cutter
from jaxaot.partition.solve import NoCut
from jaxaot.plan.stages import Partition

_LEAST_PART = 1 / 16
"""The least part of what the minimum cut saves for which a cut between it and the leanest one is looked for."""

_CERTAIN = 0.8
"""The part of what `jax.checkpoint` is estimated to take that it takes: XLA fuses more, and uses room of gradients."""

_PROGRAMS = ("LinearizeTrace", "checkpoint / remat")
"""What is traced whose functions have a room of their own: nothing that they save outlives it."""

_REPEATED = ("scan", "fori_loop", "while_body", "jit")
"""What a graph is traced for that a program may run many times."""

_rooms, _ROOM = KeptWith(), "room"


class IsCut(Protocol):
    """What is made of a partition."""

    @property
    def parts(self) -> Partition:
        """The partition."""
        ...


C = TypeVar("C", bound=IsCut)


class Cuts(Generic[C]):
    """A function cut in the ways between which its turn decides."""

    def __init__(self, cutter: Cutter, finished: Callable[[Partition, bool], C]):
        """Takes what cuts it, and what makes of a partition, which JAX may replace or not, what is wanted."""
        self._cutter, self._finished = cutter, finished
        self._within: dict[int, C] = {}

    @cached_property
    def by_policy(self) -> C:
        """The cut that its policy makes."""
        return self._finished(self._cutter.cut(), False)

    @cached_property
    def alone(self) -> C:
        """The same of a function that shares with nobody, which JAX has where that gains nothing."""
        return self._finished(self._cutter.cut(), True)

    @cached_property
    def of_checkpoint(self) -> int:
        """What `jax.checkpoint` of it takes at least while its backward runs, besides inputs, outputs and gradients."""
        return int(_CERTAIN * used_by(self._cutter.all_saved))

    def within(self, limit: int) -> C:
        """Returns the fastest cut that saves at most so many bytes, or the fewest possible."""
        if limit not in self._within:
            found = None
            with contextlib.suppress(BudgetError, PolicyError, NoCut):
                found = self._cutter.corner(limit)
            self._within[limit] = self.by_policy if found is None else self._finished(found, False)
        return self._within[limit]

    @property
    def passed_on(self) -> int:
        """What it returns: the input of the next function, which both keep."""
        graph = self._cutter.graph
        return sum(map(graph.bytes, graph.outputs))


def used_by(parts: Partition) -> int:
    """Returns the most that a partition takes besides inputs, outputs and gradients, by estimate."""
    return parts.timeline.peak_bytes - parts.timeline.held_bytes


@dataclasses.dataclass
class _Taken:
    """What a function took of a room, in bytes.

    Attributes:
      saved: What it saves.
      passed_on: What it returns.
      of_checkpoint: Returns what `jax.checkpoint` of it takes while its backward runs.
    """

    saved: int
    passed_on: int
    of_checkpoint: Callable[[], int]


class Room:
    """What the functions of one program take.

    Attributes:
      n_calls: How many there were so far.
    """

    def __init__(self) -> None:
        self.n_calls = 0
        self._taken: dict[int, _Taken] = {}

    def note(self, place: int, taken: _Taken) -> None:
        """Notes what the function at a place took."""
        self._taken[place] = taken

    def before(self, place: int) -> tuple[int, int]:
        """Returns what is saved before a place, and how many bytes more than there `jax.checkpoint` takes before."""
        saved = passed_on = most = 0
        for taken in (self._taken[i] for i in sorted(self._taken) if i < place):
            most = max(most, passed_on + taken.of_checkpoint())
            passed_on, saved = passed_on + taken.passed_on, saved + taken.saved
        return saved, most - passed_on

    def is_first(self, place: int) -> bool:
        """Returns whether no function before a place took anything."""
        return all(i >= place for i in self._taken)


@dataclasses.dataclass(frozen=True, eq=False)
class Turn:
    """The turn of one call of a function in its program.

    Attributes:
      room: What the functions of the program take.
      place: How many calls came before.
      is_repeated: Whether the call may be run many times by the program.
    """

    room: Room
    place: int
    is_repeated: bool

    def cut(self, cuts: Cuts[C], is_loss: bool) -> C:
        """Returns a function as it is cut at its turn.

        Args:
          cuts: The ways in which it can be.
          is_loss: Whether it returns nothing but scalars.
        """
        is_alone = is_loss and not self.is_repeated and self.room.is_first(self.place)
        found = cuts.alone if is_alone else self._within(cuts)
        saved = found.parts.plan.extra_bytes
        self.room.note(self.place, _Taken(saved, cuts.passed_on, lambda: cuts.of_checkpoint))
        return found

    def _within(self, cuts: Cuts[C]) -> C:
        usual = cuts.by_policy
        least = usual.parts.plan.extra_bytes
        if not least:
            return usual
        lean = cuts.within(0)
        if self.is_repeated or lean is usual:
            return lean
        saved, before = self.room.before(self.place)
        left = max(before, cuts.of_checkpoint) - saved
        for_others = cuts.of_checkpoint - saved - used_by(lean.parts)  # which may be like this one, and many

        def fits(cut: C) -> bool:
            return used_by(cut.parts) <= left and cut.parts.plan.extra_bytes <= for_others

        if fits(usual):
            return usual
        if for_others > _LEAST_PART * least:
            between = cuts.within(for_others)
            if fits(between):
                return between
        return lean


def next_turn() -> Turn | None:
    """Returns the turn of a call now; None where it stands alone, or is differentiated forwards."""
    is_repeated, outermost = False, None
    for trace, what in running_traces():
        if what == "JVPTrace":
            return None
        if outermost is not None and outermost[1] in _REPEATED:
            is_repeated = True
        if what in _PROGRAMS or _ROOM in _rooms.of(trace):
            return _turn_in(trace, is_repeated)
        outermost = trace, what
    if outermost is None:
        return None
    trace, what = outermost
    return _turn_in(trace, is_repeated or (what in _REPEATED and what != "jit"))


def open_room() -> None:
    """Gives the functions that are called in the innermost running trace a room of their own."""
    for trace, _ in running_traces():
        _rooms.of(trace).setdefault(_ROOM, Room())
        break


def _turn_in(trace: object, is_repeated: bool) -> Turn:
    room: Room = _rooms.of(trace).setdefault(_ROOM, Room())
    room.n_calls += 1
    return Turn(room, room.n_calls - 1, is_repeated)
