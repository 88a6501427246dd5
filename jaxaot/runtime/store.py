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

import ast
import itertools
import operator
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxaot.plan.source import Source, in_runs


class Change(NamedTuple):
    """A call into C that changes an object, `how(owner, name, value)`.

    Attributes:
      owner: The expression of the object.
      name: That of what is changed in it, such as the name of an attribute; None if `how` takes none.
      value: That of the value; or the number of an output of what runs.
      how: That of what changes it.
    """

    owner: str
    name: str | None
    value: str | int
    how: str = "setattribute"


ASSIGNED_ATTRIBUTE, ASSIGNED_ITEM = ".", "[]"
"""What stands for `how` where a change is an assignment of an attribute, or of an item."""
SCOPE = {
    "chain": itertools.chain, "flat": itertools.chain.from_iterable, "setattribute": object.__setattr__,
    "asarray": np.asarray, "call": operator.call, "consume": deque(maxlen=0).extend,
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
      elsewhere: What changes in Python's objects, whose classes may refuse an assignment: one call does it all.
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


def write_changes(source: Source, elsewhere: Sequence[Change]) -> None:
    """Writes the lines that change Python's objects where nothing else changes, and all values are there."""
    assigned = [change for change in elsewhere if change.how in (ASSIGNED_ATTRIBUTE, ASSIGNED_ITEM)]
    called = [change for change in elsewhere if change not in assigned]
    if called:
        _prepare(source, called)
    for owner, name, value, sign in assigned:
        target = f"{owner}.{ast.literal_eval(str(name))}" if sign == ASSIGNED_ATTRIBUTE else f"{owner}[{name}]"
        source.add(f"{target} = {value}")
    if called:
        source.add("consume(stores)")


def _add(source: Source, changes: Sequence[str], is_elsewhere: bool) -> None:
    for line in changes:
        source.add(line)
    if is_elsewhere:
        source.add("done += (out,)")
        source.add("consume(stores)")


def _prepare(source: Source, elsewhere: Sequence[Change]) -> None:
    """Writes what makes `stores`, which changes objects once `done` holds the outputs."""
    made = [c for c in elsewhere if isinstance(c.value, int)]
    known = [c for c in elsewhere if not isinstance(c.value, int) and c.name is not None]
    ordered = [*made, *known]
    values = f"({''.join(f'{c.value}, ' for c in known)})"
    source.add("done = []")
    if made:
        places = [int(c.value) for c in made]
        pick = operator.itemgetter(*places) if len(places) > 1 else operator.itemgetter(slice(places[0], places[0] + 1))
        picked = f"flat(map({source.constant(pick)}, done))"
        values = f"chain({picked}, {values})" if known else picked
    parts = []
    if ordered:
        names = f"({''.join(f'{c.name}, ' for c in ordered)})"
        owners = ", ".join(in_runs([c.owner for c in ordered], "C"))
        parts.append(f"map({_how(ordered)}, ({owners},), {names}, {values})")
    if nameless := [c for c in elsewhere if c.name is None]:
        owners = "".join(f"{c.owner}, " for c in nameless)
        parts.append(f"map({_how(nameless)}, ({owners}), ({''.join(f'{c.value}, ' for c in nameless)}))")
    listed = ", ".join(parts)
    source.add(f"stores = {listed if len(parts) == 1 else f'chain({listed})'}")


def _how(changes: Sequence[Change]) -> str:
    """Returns the first arguments of a `map` that makes changes: what each of them calls."""
    if len({c.how for c in changes}) == 1:
        return changes[0].how
    return f"call, ({''.join(f'{c.how}, ' for c in changes)})"
