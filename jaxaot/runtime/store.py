"""Writes the one call into C that runs a graph and stores what it returns.

No handler of a signal runs inside of it, so a call that is interrupted has changed nothing yet or all that others see:
values, layouts, gradients and histories. The arrays of its inputs are read immediately before, with nothing in between
that a handler could run in, so that what a handler writes counts too.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

from jaxaot.runtime.source import Source


class Results:
    """What a run returned.

    Attributes:
      out: Its outputs; None before.
    """

    __slots__ = ("out",)

    def __init__(self) -> None:
        self.out: Any = None


class Change(NamedTuple):
    """An attribute that is set.

    Attributes:
      owner: The expression of the object.
      name: Of the attribute.
      value: The expression of the value, known before the run; or the number of an output of what runs.
    """

    owner: str
    name: str
    value: str | int


SCOPE = {
    "Results": Results,
    "starmap": itertools.starmap,
    "chain": itertools.chain,
    "flat": itertools.chain.from_iterable,
}


def write_store(
    source: Source, changes: Sequence[Change], before: Sequence[str], arguments: str | None, put: str = "setattr"
) -> None:
    """Writes the call.

    Args:
      source: Where to.
      changes: What it does.
      before: Lines that come immediately before it: assignments, and no calls.
      arguments: What `run` is called with; None if nothing runs.
      put: What sets an attribute.
    """
    made = [c for c in changes if isinstance(c.value, int)]
    known = [c for c in changes if not isinstance(c.value, int)]
    first = Change("held", "out", "()")
    ordered = [*made, *known]
    owners = ", ".join(_in_runs(["held", *(c.owner for c in ordered)]))
    names = source.constant(tuple(c.name for c in (first, *ordered)))
    rest = f"({''.join(f'{c.value}, ' for c in known)})"
    if arguments is None:
        values = f"chain(((),), {rest})"
    else:
        source.add("given = []")
        values = "starmap(run, given)"
        if made:
            pick = operator.itemgetter(slice(None), *(c.value for c in made))
            values = f"flat(map({source.constant(pick)}, {values}))"
        if known:
            values = f"chain({values}, {rest})"
    source.add(f"stores = map({put}, ({owners},), {names}, {values})")
    for line in before:
        source.add(line)
    if arguments is not None:
        source.add(f"given += (({arguments}{', ' if arguments else ''}),)")
    source.add("any(stores)")


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
