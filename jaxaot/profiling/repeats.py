"""Blocks that a function repeats: found in its graph, and left out but for a few.

A *block* is a run of equations that comes again right behind itself, on operands of the same types, wired to the one
before it in the same way: the layers of a model. *Iterations* of it are counted from 0. A graph of many iterations says
nothing that one of a few does not: the first, two in the middle, and the last. Where forward and backward treat
the two in the middle alike, and compute nothing of them elsewhere, each that was left out is one more of these.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np

from jaxaot._jax import ClosedJaxpr, Jaxpr, Literal, close_jaxpr, make_jaxpr_object
from jaxaot._typing import Eqn
from jaxaot.ir.block import Block
from jaxaot.ir.walk import variables

_N_KEPT = 4
"""How many iterations are kept: the first, two in the middle, and the last."""

_LEAST = 6
_LEAST_DROPPED = 200
"""With fewer iterations, or fewer equations in those that would be left out, the whole graph is looked at."""

_N_CANDIDATES = 12


@dataclasses.dataclass(frozen=True, eq=False)
class Shortened:
    """A graph without most iterations of its block.

    Attributes:
      graph: The graph with few iterations, a ClosedJaxpr.
      whole: The graph with all of them.
      inputs: The positions of the inputs that are kept.
      start: The equation with which iteration 0 begins.
      length: How many equations the block has.
      n_dropped: How many were left out.
      dropped: The positions of the inputs that only these read.
      own: The positions, in the shortened graph, of the inputs that only the second iteration in the middle reads.
    """

    graph: Any
    whole: Any
    inputs: tuple[int, ...]
    start: int
    length: int
    n_dropped: int
    dropped: tuple[int, ...]
    own: tuple[int, ...]

    @property
    def block(self) -> Block:
        """Where the shortened graph repeats equations."""
        return Block(self.start, self.length, _N_KEPT)

    @property
    def late(self) -> int:
        """The second iteration in the middle, which stands for those that were left out."""
        return _N_KEPT - 2

    def iteration(self, place: int | None) -> int | None:
        """Returns the iteration that an equation of the shortened graph lies in; None outside of the block."""
        if place is None or not self.start <= place < self.start + _N_KEPT * self.length:
            return None
        return (place - self.start) // self.length


def shorten(closed: ClosedJaxpr) -> Shortened | None:
    """Returns a graph without most iterations of its longest block; None if it has no block that repeats.

    Args:
      closed: A graph whose calls were opened.
    """
    jaxpr = closed.jaxpr
    found = _longest_run(jaxpr)
    if found is None:
        return None
    start, length, n = found
    wiring = _Wiring(jaxpr, start, length, n)
    own = wiring.own_inputs()
    if own is None:
        return None
    n_dropped = n - _N_KEPT
    first, last = start + (_N_KEPT - 1) * length, start + (n - 1) * length  # what is left out
    shift = n_dropped * length
    makers = {var: (i, k) for i, eqn in enumerate(jaxpr.eqns[:last]) for k, var in enumerate(eqn.outvars)}

    def moved(atom: Any) -> Any:
        if isinstance(atom, Literal) or atom not in makers:
            return atom
        i, k = makers[atom]
        return jaxpr.eqns[i - shift].outvars[k] if first <= i < last else atom

    eqns = list(jaxpr.eqns[:first])
    for i in range(last, len(jaxpr.eqns)):
        eqn = jaxpr.eqns[i]
        eqns.append(eqn.replace(invars=list(map(moved, eqn.invars))) if i < last + length else eqn)
    gone = {var for inputs in own[_N_KEPT - 1 : n - 1] for var in inputs}
    kept = [i for i, var in enumerate(jaxpr.invars) if var not in gone]
    place = {jaxpr.invars[i]: k for k, i in enumerate(kept)}
    graph = make_jaxpr_object([jaxpr.invars[i] for i in kept], jaxpr.outvars, eqns, jaxpr.constvars)
    return Shortened(
        close_jaxpr(graph, closed.consts),
        closed,
        tuple(kept),
        start,
        length,
        n_dropped,
        tuple(i for i, var in enumerate(jaxpr.invars) if var in gone),
        tuple(place[var] for var in own[_N_KEPT - 2]),
    )


def _longest_run(jaxpr: Jaxpr) -> tuple[int, int, int] | None:
    """Returns where a block begins that repeats, its length, and how many iterations there are; the longest in all."""
    numbers: dict[Hashable, int] = {}
    try:
        known: dict[int, Hashable] = {}
        kinds = np.array([numbers.setdefault(_kind_key(eqn, known), len(numbers)) for eqn in jaxpr.eqns])
    except TypeError:  # a parameter has no hash
        return None
    last: dict[int, int] = {}
    gaps: Counter[int] = Counter()
    for i, number in enumerate(kinds.tolist()):
        if number in last:
            gaps[i - last[number]] += 1
        last[number] = i
    best = None
    for length, count in gaps.most_common(_N_CANDIDATES):
        if count < _LEAST - 1:
            break
        same = np.concatenate([[False], kinds[:-length] == kinds[length:], [False]])
        ends = np.flatnonzero(same[1:] != same[:-1]).reshape(-1, 2)
        if not len(ends):
            continue
        begin, end = max(ends.tolist(), key=lambda pair: pair[1] - pair[0])
        n = (end - begin) // length + 1
        is_worth_it = n >= _LEAST and (n - _N_KEPT) * length >= _LEAST_DROPPED
        if is_worth_it and (best is None or end - begin > best[0]):
            best = end - begin, begin, length, n
    return None if best is None else best[1:]


def _kind_key(eqn: Eqn, known: dict[int, Hashable]) -> Hashable:
    """Returns what is equal for equations that compute the same on operands of the same types."""
    operands = tuple((atom.aval, _literal(atom)) if isinstance(atom, Literal) else atom.aval for atom in eqn.invars)
    params = tuple((name, _param(value, known)) for name, value in eqn.params.items())
    return eqn.primitive, operands, tuple(var.aval for var in eqn.outvars), params


def _literal(atom: Any) -> Hashable:
    return np.asarray(atom.val).tobytes()


def _param(value: Any, known: dict[int, Hashable]) -> Hashable:
    """Returns a parameter, or a text of one that a second call makes anew: a body, or the rule of its derivative."""
    if isinstance(value, ClosedJaxpr | Jaxpr):
        if id(value) not in known:
            consts = tuple(map(id, getattr(value, "consts", ())))
            known[id(value)] = str(value.jaxpr if isinstance(value, ClosedJaxpr) else value), consts
        return known[id(value)]
    if isinstance(value, tuple | list) and any(isinstance(item, ClosedJaxpr | Jaxpr) for item in value):
        return tuple(_param(item, known) for item in value)
    if callable(value) and not isinstance(value, type) and hasattr(value, "debug_info"):
        return "rule", getattr(value.debug_info, "func_src_info", None)
    found: Any = value
    return found


class _Wiring:
    """What the iterations of a block read, and what is read of them."""

    def __init__(self, jaxpr: Jaxpr, start: int, length: int, n: int):
        self.jaxpr, self.start, self.length, self.n = jaxpr, start, length, n
        self.makers = {var: (i, k) for i, eqn in enumerate(jaxpr.eqns) for k, var in enumerate(eqn.outvars)}

    def iteration(self, place: int) -> int | None:
        """Returns the iteration that an equation lies in; None outside of the block."""
        which = (place - self.start) // self.length
        return which if 0 <= which < self.n else None

    def own_inputs(self) -> list[list[Any]] | None:
        """Returns the inputs of the graph that each iteration alone reads; None if they are not wired alike.

        Those of two iterations come in the same order. From the second on, each iteration has to read the one before it
        in the same places. What is outside may read the first and the last alone.
        """
        inputs = {*self.jaxpr.invars}
        own: list[dict[Any, Any]] = [{} for _ in range(self.n)]  # the inputs, each with the one of the iteration before
        for i in range(self.start + self.length, self.start + self.n * self.length):
            which = self.iteration(i)
            assert which is not None
            before: list[Any] = self.jaxpr.eqns[i - self.length].invars
            for atom, earlier in zip(self.jaxpr.eqns[i].invars, before, strict=True):
                if isinstance(atom, Literal):
                    continue
                if atom in self.makers and self.makers[atom][0] >= self.start:
                    place, k = self.makers[atom]
                    reaches_back = which - (place - self.start) // self.length
                    is_wired = self.makers.get(earlier) == (place - self.length, k)
                    # the second iteration may read the first where that reads what comes before
                    if reaches_back > 1 or not (is_wired or (which == 1 and reaches_back == 1)):
                        return None
                elif atom is not earlier and (
                    atom not in inputs or own[which].setdefault(atom, earlier) is not earlier
                ):
                    return None
        own[0] = dict.fromkeys(own[1].values())
        return self._checked([list(found) for found in own])

    def _checked(self, own: list[list[Any]]) -> list[list[Any]] | None:
        """Returns the inputs if nothing outside of an iteration reads them, or reads a middle iteration."""
        owner = {var: which for which, found in enumerate(own) for var in found}
        if len(owner) < sum(map(len, own)) or any(len(found) != len(own[1]) for found in own[1:]):
            return None
        for i, eqn in enumerate(self.jaxpr.eqns):
            which = self.iteration(i)
            for var in variables(eqn.invars):
                if var in owner and owner[var] not in (0, which):
                    return None
                made = self.makers.get(var)
                inside = None if made is None else self.iteration(made[0])
                if which is None and inside is not None and 0 < inside < self.n - 1:
                    return None
        for var in variables(self.jaxpr.outvars):
            made = self.makers.get(var)
            inside = None if made is None else self.iteration(made[0])
            if var in owner or (inside is not None and 0 < inside < self.n - 1):
                return None
        return own
