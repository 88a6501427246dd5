"""From a profile of a shortened function to that of the whole.

A *stretch* is the equations of one iteration in the forward or the backward of the shortened graph. The two in the
middle have to be alike: the same rows, and the same memory but for what each iteration adds to it. Each iteration that
was left out is then one more stretch, with the names of the modules that it belongs to.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from jaxaot._jax import Literal
from jaxaot._typing import Eqn
from jaxaot.ir.walk import forward_index
from jaxaot.plan.stages import Partition
from jaxaot.plan.timeline import Moment, Timeline
from jaxaot.profiling.repeats import Shortened
from jaxaot.profiling.rows import Row, line_of, module_of


class Stretch(NamedTuple):
    """What is repeated of one graph.

    Attributes:
      begin: Its first equation.
      end: The one behind its last.
      other: The first equation of the other iteration in the middle.
    """

    begin: int
    end: int
    other: int


@dataclasses.dataclass(frozen=True, eq=False)
class Alike:
    """A shortened function whose iterations in the middle are alike.

    Attributes:
      short: The shortened function.
      n_forward: How many equations its forward has.
      onward: The late iteration in the forward.
      behind: The late iteration in the backward, counted from the first equation of the forward.
    """

    short: Shortened
    n_forward: int
    onward: Stretch
    behind: Stretch

    def places(self, n_equations: int) -> Iterator[tuple[int, int]]:
        """Yields the equations of the whole in order: which of the shortened function's, and how many iterations on.

        The late iteration runs for those that were left out as well: in the forward after it, in the backward first.
        """
        (begin, end, _), (behind, behind_end, _) = self.onward, self.behind
        yield from ((place, 0) for place in range(end))
        for copy in range(1, self.short.n_dropped + 1):
            yield from ((place, copy) for place in range(begin, end))
        yield from ((place, 0) for place in range(end, behind))
        for copy in range(self.short.n_dropped, 0, -1):
            yield from ((place, copy) for place in range(behind, behind_end))
        yield from ((place, 0) for place in range(behind, n_equations))


def find_alike(short: Shortened, parts: Partition, rows: Sequence[Sequence[Row]], timeline: Timeline) -> Alike | None:
    """Returns the stretches of a shortened function; None if the iterations in the middle are not alike.

    Args:
      short: The shortened function.
      parts: Its partition.
      rows: The rows of each equation of the forward, then of the backward.
      timeline: Its memory.
    """
    forward, backward, late = parts.forward.jaxpr.eqns, parts.backward.jaxpr.eqns, short.late
    onward = _stretch(short, forward, rows, timeline.moments, 0, (late - 1, late))
    behind = _stretch(short, backward, rows, timeline.moments, len(forward), (late, late - 1))
    return None if onward is None or behind is None else Alike(short, len(forward), onward, behind)


def _stretch(
    short: Shortened,
    eqns: Sequence[Eqn],
    rows: Sequence[Sequence[Row]],
    moments: Sequence[Moment],
    offset: int,
    order: tuple[int, int],
) -> Stretch | None:
    """Returns the stretch of the late iteration in the middle, if the early one is alike.

    Args:
      short: The shortened function.
      eqns: The equations of one graph.
      rows: The rows of both graphs.
      moments: The moments of both.
      offset: Where the equations come in both.
      order: The iterations in the middle, in the order in which they run.
    """
    owners = [short.iteration(forward_index(eqn)) for eqn in eqns]
    if any(which not in owners for which in order):
        return None
    begin, middle = (offset + owners.index(which) for which in order)
    end = 2 * middle - begin
    if middle <= begin or end - offset > len(eqns):
        return None
    counted = [owners[start - offset : start - offset + middle - begin] for start in (begin, middle)]
    if any(inside.count(which) != owners.count(which) for which, inside in zip(order, counted, strict=True)):
        return None
    changes = set()
    for i, k in zip(range(begin, middle), range(middle, end), strict=True):
        one, other = (forward_index(eqns[place - offset]) for place in (i, k))
        # what all iterations share, such as a constant, belongs to none in the middle: each computes it again
        if one != other and (short.iteration(one), short.iteration(other)) != order:
            return None
        if [_bare(row) for row in rows[i]] != [_bare(row) for row in rows[k]]:
            return None
        changes.add((moments[k].bytes - moments[i].bytes, moments[k].residual_bytes - moments[i].residual_bytes))
    if len(changes) != 1:
        return None
    return Stretch(begin, middle, middle) if order[0] == short.late else Stretch(middle, end, begin)


class Whole(NamedTuple):
    """The memory of the whole.

    Attributes:
      timeline: Equation by equation.
      peak: Which moment of the shortened timeline the peak is.
      copies: How often each iteration in the middle is alive at the peak: what the early one and the late one made.
    """

    timeline: Timeline
    peak: int | None
    copies: tuple[int, int]


def unfold_memory(alike: Alike, timeline: Timeline, held: int) -> Whole:
    """Returns the memory of the whole.

    Args:
      alike: The shortened function.
      timeline: Its memory.
      held: What each iteration that was left out holds throughout: parameters and their gradients, in bytes.
    """
    n, moments = alike.short.n_dropped, timeline.moments
    onward, behind = alike.onward, alike.behind
    grows = moments[onward.begin].bytes - moments[onward.other].bytes
    kept = moments[onward.begin].residual_bytes - moments[onward.other].residual_bytes
    released, stays = _released(alike, timeline)
    found = []
    best, peak, copies = -1, None, (1, 1)
    for place, copy in alike.places(len(moments)):
        if place < alike.n_forward:
            gone_by = copy if place < onward.end else n
            more, more_kept, alive = (
                gone_by * grows,
                gone_by * kept,
                (1 + copy, 1) if place < onward.end else (1, 1 + n),
            )
        elif place < behind.begin:
            more, more_kept, alive = n * released, n * released, (1, 1 + n)
        else:
            more, more_kept, alive = copy * released + (n - copy) * stays, copy * released, (1 + copy, 1)
        moment = moments[place]
        in_use = moment.bytes + n * held + more
        found.append(Moment(moment.side, moment.name, moment.source, in_use, moment.residual_bytes + more_kept))
        if in_use > best:
            best, peak, copies = in_use, place, alive
    return Whole(Timeline(tuple(found), timeline.held_bytes + n * held), peak, copies)


def _released(alike: Alike, timeline: Timeline) -> tuple[int, int]:
    """Returns what an iteration of the backward lets go of residuals, and what it leaves to the end, in bytes."""
    begin, other = timeline.moments[alike.behind.begin], timeline.moments[alike.behind.other]
    released = begin.residual_bytes - other.residual_bytes
    return released, other.bytes - begin.bytes + released


def leaves_gradients_alone(
    alike: Alike, timeline: Timeline, held: Sequence[tuple[str, Any]], size: Callable[[Any], int]
) -> bool:
    """Returns whether an iteration of the backward leaves nothing but gradients, which are there to the end.

    The gradients of a parameter that all iterations share are added up at some time, and are gone then.
    """
    gradients = sum(size(var.aval) for role, var in held if role == "gradients")
    return 0 <= _released(alike, timeline)[1] <= gradients


def unfold_rows(alike: Alike, parts: Partition, rows: Sequence[Sequence[Row]]) -> list[Row]:
    """Returns the rows of the whole.

    Args:
      alike: The shortened function.
      parts: Its partition.
      rows: Its rows.
    """
    eqns, names = [*parts.forward.jaxpr.eqns, *parts.backward.jaxpr.eqns], _Names(alike.short)
    found: list[Row] = []
    for place, copy in alike.places(len(eqns)):
        found.extend(names.of(row, copy, eqns[place]) for row in rows[place]) if copy else found.extend(rows[place])
    return found


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
            there = place + copy * self._short.length if self._short.iteration(place) == self._short.late else place
            self._known[key] = (
                module_of(whole[place]),
                line_of(whole[place]),
                module_of(whole[there]),
                line_of(whole[there]),
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


def n_alive(short: Shortened, whole: Whole, eqn: Any) -> int:
    """Returns how many values there are at the peak of the whole for each of the shortened function's.

    Args:
      short: The shortened function.
      whole: The memory of the whole.
      eqn: The equation that makes the value; None if there is none.
    """
    which = None if eqn is None else short.iteration(forward_index(eqn))
    early, late = whole.copies
    return late if which == short.late else early if which == short.late - 1 else 1


def is_late(short: Shortened, eqn: Eqn) -> bool:
    """Returns whether an equation belongs to the iteration that stands for those that were left out."""
    return short.iteration(forward_index(eqn)) == short.late
