"""Writes the lines of a call that run a graph and store what it returns.

CPython runs the handlers of signals when a call has returned, where a function begins and where a loop turns back, and
nowhere else. So what runs the graph is no call but an iterator that calls it, and what follows are assignments: an
interrupt comes before or after all of it. The arrays of the inputs are read immediately before, so that what a handler
writes counts too.

    given += ((s0.array, s1.array, ),)
    for out in runs:
        k0.n += 1
        s0.array = out[0]
        break
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import NamedTuple

from jaxaot.runtime.source import Source


class Change(NamedTuple):
    """An attribute that is set.

    Attributes:
      owner: The expression of the object.
      name: Of the attribute.
      value: The expression of the value; or the number of an output of what runs.
    """

    owner: str
    name: str
    value: str | int


SCOPE = {
    "chain": itertools.chain, "flat": itertools.chain.from_iterable, "setattribute": object.__setattr__,
}  # fmt: skip
"""What the lines below name."""


def write_store(
    source: Source, arguments: str | None, before: Sequence[str], changes: Sequence[str], elsewhere: Sequence[Change]
) -> None:
    """Writes the lines; afterwards `out` is what the run returned.

    Args:
      source: Where to.
      arguments: What the graph is run on; None if nothing runs.
      before: Lines that come immediately before it: assignments, and no calls.
      changes: Assignments that change what others see.
      elsewhere: What changes in objects of others, whose classes may refuse an assignment: one call does it all.
    """
    if elsewhere:
        _prepare(source, elsewhere)
    for line in before:
        source.add(line)
    if arguments is None:
        source.add("out = ()")
        _add(source, changes, bool(elsewhere))
        return
    source.add(f"given += (({arguments}{', ' if arguments else ''}),)")
    with source.block("for out in runs:"):
        _add(source, changes, bool(elsewhere))
        source.add("break")


def _add(source: Source, changes: Sequence[str], is_elsewhere: bool) -> None:
    for line in changes:
        source.add(line)
    if is_elsewhere:
        source.add("done += (out,)")
        source.add("any(stores)")


def _prepare(source: Source, elsewhere: Sequence[Change]) -> None:
    """Writes what makes `stores`, which sets attributes once `done` holds the outputs."""
    made = [c for c in elsewhere if isinstance(c.value, int)]
    known = [c for c in elsewhere if not isinstance(c.value, int)]
    ordered = [*made, *known]
    values = f"({''.join(f'{c.value}, ' for c in known)})"
    source.add("done = []")
    if made:
        places = [int(c.value) for c in made]
        pick = operator.itemgetter(*places) if len(places) > 1 else operator.itemgetter(slice(places[0], places[0] + 1))
        picked = f"flat(map({source.constant(pick)}, done))"
        values = f"chain({picked}, {values})" if known else picked
    names = source.constant(tuple(c.name for c in ordered))
    owners = ", ".join(_in_runs([c.owner for c in ordered]))
    source.add(f"stores = map(setattribute, ({owners},), {names}, {values})")


def _in_runs(texts: Sequence[str]) -> list[str]:
    """Returns expressions with slices in place of longer runs of cells."""
    found: list[str] = []
    start = 0
    while start < len(texts):
        end = start + 1
        if texts[start].startswith("C["):
            number = int(texts[start][2:-1])
            while end < len(texts) and texts[end] == f"C[{number + end - start}]":
                end += 1
        found += [f"*C[{number}:{number + end - start}]"] if end - start > 4 else texts[start:end]
        start = end
    return found
