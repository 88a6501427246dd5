"""From a profile of a shortened function to that of the whole.

A *stretch* is the equations of one iteration in the forward or the backward of the shortened graph. The two in the
middle have to be alike: the same rows, and the same memory but for what each iteration adds to it. Each iteration that
was left out is then one more stretch, with the names of the modules that it belongs to.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

from jaxaot._jax import Literal
from jaxaot._typing import Eqn
from jaxaot.ir.walk import forward_index
from jaxaot.plan.stages import Partition
from jaxaot.plan.timeline import Moment, Timeline
from jaxaot.profiling.repeats import Shortened
from jaxaot.profiling.rows import Row, line_of, module_of

_EARLY, _LATE = 1, 2
"""The iterations in the middle."""


class Stretch(NamedTuple):
    """What is repeated of one graph.

    Attributes:
      begin: Its first equation.
      end: The one behind its last.
      bytes: By how much the memory in use grows from one iteration to the next in the order in which they run.
      residual_bytes: By how much what is kept for the backward does.
    """

    begin: int
    end: int
    bytes: int
    residual_bytes: int


@dataclasses.dataclass(frozen=True, eq=False)
class Unfolded:
    """The whole again.

    Attributes:
      rows: Its rows.
      timeline: Its memory.
      peak: Which moment of the shortened timeline the peak is.
      copies: How often each iteration in the middle is alive at the peak: what the early one and the late one made.
    """

    rows: list[Row]
    timeline: Timeline
    peak: int | None
    copies: tuple[int, int]


def unfold(
    short: Shortened, parts: Partition, rows: Sequence[Sequence[Row]], timeline: Timeline, held: int
) -> Unfolded | None:
    """Returns the rows and the memory of the whole; None if the iterations in the middle are not alike.

    Args:
      short: The shortened function.
      parts: Its partition.
      rows: The rows of each equation of the forward, then of the backward.
      timeline: Its memory.
      held: What each iteration that was left out holds throughout: parameters and their gradients, in bytes.
    """
    forward, backward = parts.forward.jaxpr.eqns, parts.backward.jaxpr.eqns
    n_forward = len(forward)
    onward = _stretch(short, forward, rows[:n_forward], timeline.moments[:n_forward], (_EARLY, _LATE, 3))
    behind = _stretch(short, backward, rows[n_forward:], timeline.moments[n_forward:], (_LATE, _EARLY, 0))
    if onward is None or behind is None:
        return None
    n = short.n_dropped
    lift = n * held
    eqns, names = [*forward, *backward], _Names(short)
    moments: list[tuple[Moment, int, int, int]] = []  # with the place in the shortened timeline and the copies alive
    found: list[Row] = []

    def add(place: int, more: int, more_kept: int, copy: int, copies: tuple[int, int]) -> None:
        moment = timeline.moments[place]
        shifted = dataclasses.replace(
            moment, bytes=moment.bytes + lift + more, residual_bytes=moment.residual_bytes + more_kept
        )
        moments.append((shifted, place, *copies))
        found.extend(names.of(row, copy, eqns[place]) for row in rows[place])

    # the late iteration in the middle runs for the ones left out as well: in the forward after it, in the backward first
    for place in range(onward.end):
        add(place, 0, 0, 0, (1, 1))
    for copy in range(1, n + 1):
        for place in range(onward.begin, onward.end):
            add(place, copy * onward.bytes, copy * onward.residual_bytes, copy, (1 + copy, 1))
    for place in range(onward.end, n_forward):
        add(place, n * onward.bytes, n * onward.residual_bytes, 0, (1, 1 + n))
    begin, end = n_forward + behind.begin, n_forward + behind.end
    released = -behind.residual_bytes
    stays = behind.bytes + released  # what an iteration of the backward leaves, such as gradients that are views
    for place in range(n_forward, begin):
        add(place, n * released, n * released, 0, (1, 1 + n))
    for copy in range(n, 0, -1):
        for place in range(begin, end):
            add(place, copy * released + (n - copy) * stays, copy * released, copy, (1 + copy, 1))
    for place in range(begin, len(eqns)):
        add(place, n * stays, 0, 0, (1, 1))
    peak = max(moments, key=lambda item: item[0].bytes, default=None)
    whole = Timeline(tuple(item[0] for item in moments), timeline.held_bytes + lift)
    return Unfolded(found, whole, None if peak is None else peak[1], (1, 1) if peak is None else peak[2:])


def _stretch(
    short: Shortened,
    eqns: Sequence[Eqn],
    rows: Sequence[Sequence[Row]],
    moments: Sequence[Moment],
    order: tuple[int, int, int],
) -> Stretch | None:
    """Returns the stretch of the late iteration in the middle, if the early one is alike.

    Args:
      short: The shortened function.
      eqns: The equations of one graph.
      rows: Their rows.
      moments: Their moments.
      order: The iterations in the middle and the one behind them, in the order in which they run.
    """
    first: dict[int | None, int] = {}
    for i, eqn in enumerate(eqns):
        first.setdefault(short.iteration(forward_index(eqn)), i)
    if any(which not in first for which in order):
        return None
    ends = [first[which] for which in order]
    length = ends[1] - ends[0]
    if length <= 0 or ends[2] - ends[1] != length:
        return None
    before, after = range(ends[0], ends[1]), range(ends[1], ends[2])
    changes = set()
    for i, k in zip(before, after, strict=True):
        if [_bare(row) for row in rows[i]] != [_bare(row) for row in rows[k]]:
            return None
        changes.add((moments[k].bytes - moments[i].bytes, moments[k].residual_bytes - moments[i].residual_bytes))
    if len(changes) != 1:
        return None
    late = before if order[0] == _LATE else after
    return Stretch(late.start, late.stop, *changes.pop())


def _bare(row: Row) -> Row:
    """Returns a row without the names that tell iterations apart."""
    return row._replace(module="", line="")


class _Names:
    """The modules and lines of rows in iterations that were left out."""

    def __init__(self, short: Shortened):
        self._short = short
        self._known: dict[tuple[int, int], tuple[str, str, str, str]] = {}

    def of(self, row: Row, copy: int, eqn: Eqn) -> Row:
        """Returns a row as that of an iteration further on.

        Args:
          row: A row of the late iteration in the middle.
          copy: How many iterations further on; 0 for none.
          eqn: The equation that it is a row of.
        """
        place = forward_index(eqn) if copy else None
        if place is None:
            return row
        # an equation of another iteration may stand in the stretch: the first of some that compute the same
        key = place, copy
        if key not in self._known:
            whole = self._short.whole.jaxpr.eqns
            there = place + copy * self._short.length if self._short.iteration(place) == _LATE else place
            self._known[key] = module_of(whole[place]), line_of(whole[place]), module_of(whole[there]), line_of(
                whole[there]
            )
        module, line, module_there, line_there = self._known[key]
        if row.module.startswith(module):
            module_there += row.module[len(module) :]
        return row._replace(module=module_there, line=line_there if row.line == line else row.line)


def held_by_each(short: Shortened, parts: Partition) -> list[tuple[str, Any]]:
    """Returns what each iteration that was left out holds throughout, as roles and variables: inputs and gradients."""
    inputs, gradients = parts.forward.jaxpr.invars, parts.backward.jaxpr.outvars
    differentiated = parts.joint.differentiable_inputs
    named, own = set(differentiated), set(short.own)
    found = [("parameters" if i in named else "inputs", inputs[i]) for i in short.own]
    seen = {*parts.backward.jaxpr.invars}
    for i, var in zip(differentiated, gradients, strict=True):
        if i in own and not isinstance(var, Literal) and var not in seen:
            seen.add(var)
            found.append(("gradients", var))
    return found


def n_alive(short: Shortened, unfolded: Unfolded, eqn: Any) -> int:
    """Returns how many values there are at the peak of the whole for each of the shortened function's.

    Args:
      short: The shortened function.
      unfolded: The whole again.
      eqn: The equation that makes the value; None if there is none.
    """
    which = None if eqn is None else short.iteration(forward_index(eqn))
    early, late = unfolded.copies
    return early if which == _EARLY else late if which == _LATE else 1


def is_late(short: Shortened, eqn: Eqn) -> bool:
    """Returns whether an equation belongs to the iteration that stands for those that were left out."""
    return short.iteration(forward_index(eqn)) == _LATE
