"""A forward and its backward as graphs of their own, which hand on nothing that is large.

        s = dot_general q k                        phase 0:  s = dot_general q k;  m = reduce_max s;  p = exp (s - m)
        m = reduce_max s                                     l = reduce_sum p;  y = dot_general p v
        p = exp (s - m)                     →      phase 1:  s = dot_general q k;  p = exp (s - m)
        l = reduce_sum p                                     dv = dot_general p dy;  …
        y = dot_general p v
        dy = … y …;  dv = dot_general p dy

A *phase* is what reads or makes values that are cut together with one, the *seed*, and that waits for as many rounds of
other equations: where those between `y` and `dy` cannot be cut, the backward waits for them. Large values of an earlier
phase that it reads are computed in it again, from the small ones such as `m`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jax import lax

from jaxaot._jax import DropVar, Literal
from jaxaot._typing import ClosedJaxpr, Eqn, Var
from jaxaot._util import OrderedSet
from jaxaot.ir.axes import AxisSplit, splits_together
from jaxaot.ir.blocks import Region, Regions
from jaxaot.ir.build import placed
from jaxaot.ir.primitives import Kind, is_pure, kind
from jaxaot.ir.rewrite import extract
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import variables


class Phase(NamedTuple):
    """A phase.

    Attributes:
      members: The positions of the equations whose place it takes.
      computed: Those of all that it computes, what is computed again and light values among them.
      entering: What it reads.
      leaving: What it makes that others read.
    """

    members: list[int]
    computed: list[int]
    entering: list[Any]
    leaving: list[Any]

    def graph(self, regions: Regions) -> ClosedJaxpr:
        """Returns it as a graph, of what enters to what leaves."""
        return extract([regions.eqns[i] for i in self.computed], self.entering, self.leaving)


def phases(regions: Regions, seed: Var, axis: int) -> list[Phase] | None:
    """Returns the phases of what is cut along an axis with a value; None if one hands on what is large.

    Args:
      regions: The graph.
      seed: The value, which an equation makes.
      axis: The axis.
    """
    grown, axes = regions.grown(seed, axis, stops_at_light=True)
    rounds = {i: k for i, (k, _) in _rounds(regions, grown, dict(axes)).items()} if grown else {}
    if not rounds:
        return None
    is_large = lambda var: 2 * var.aval.size > seed.aval.size
    found = []
    for k in range(max(rounds.values()) + 1):
        members = _members(regions, [i for i in grown if rounds[i] == k], [i for i, n in rounds.items() if n == k])
        found.append(members)
    owner = {i: k for k, members in enumerate(found) for i in members}
    result = []
    for k, members in enumerate(found):
        if members:
            computed = _computed(regions, members, owner, k, is_large)
            made = {var for i in computed for var in regions.eqns[i].outvars}
            read = OrderedSet(var for i in computed for var in variables(regions.eqns[i].invars))
            result.append((members, computed, [var for var in read if var not in made]))
    asked = {var for *_, entering in result for var in entering}
    parts = []
    for members, computed, entering in result:
        made = [v for i in members for v in regions.eqns[i].outvars if not isinstance(v, DropVar)]
        leaving = [v for v in made if v in asked or regions.is_read_outside(v, owner)]
        if any(map(is_large, leaving)):
            return None
        parts.append(Phase(members, computed, entering, leaving))
    return parts


def rounds_of(regions: Regions, seed: Var, axis: int) -> list[Region] | None:
    """Returns the regions that are cut along an axis with a value, one after the other, each by what those before made.

    Unlike phases they hand on what is large.

    Args:
      regions: The graph.
      seed: The value, which an equation makes.
      axis: The axis.
    """
    grown, axes = regions.grown(seed, axis, stops_at_light=True)
    found = _rounds(regions, grown, dict(axes)) if grown else {}
    regions_found = []
    for k in range(1 + max((n for n, _ in found.values()), default=-1)):
        cut = [i for i in grown if found[i][0] == k]
        members = _members(regions, cut, [i for i, (n, _) in found.items() if n == k])
        if members:
            made = regions.of({i: found[i][1] for i in members})
            if made is None:
                return None
            regions_found.append(made)
    return regions_found


def _rounds(
    regions: Regions, grown: dict[int, AxisSplit], axes: dict[Any, int | None]
) -> dict[int, tuple[int, AxisSplit]]:
    """Returns for how many rounds of other equations those wait that are cut, or could be, and read what is cut.

    Returns:
      The number by position, with how the equation is cut.
    """
    inside: dict[Any, int] = {}
    outside: dict[Any, int] = {}
    rounds: dict[int, tuple[int, AxisSplit]] = {}
    first = min(grown)
    for i, eqn in enumerate(regions.eqns[first:], first):
        read = variables(eqn.invars)
        waits = [inside[v] for v in read if v in inside]
        others = [outside[v] for v in read if v in outside]
        if i in grown:
            split = grown[i]
            k = max([*waits, *(n + 1 for n in others), 0])
        elif waits or others:
            split = _fitting(eqn, axes) if waits and max(waits) > max(others, default=-1) else None
            if split is None:
                outside.update(dict.fromkeys(eqn.outvars, max(*waits, *others, -1)))
                continue
            k = max(waits)
        else:
            continue
        rounds[i] = k, split
        for var in eqn.outvars:
            if split.result is None:
                outside[var] = k
            else:
                inside[var], axes[var] = k, split.result
    return rounds


def _fitting(eqn: Eqn, axes: dict[Any, int | None]) -> AxisSplit | None:
    """Returns how an equation of a few instructions for each element is cut with what it reads; None if it is not."""
    if kind(eqn) > Kind.REDUCTION:
        return None
    fits = lambda atom, axis: axis is None if isinstance(atom, Literal) else axes.get(atom, axis) == axis
    found = (s for s in splits_together(eqn) if all(map(fits, eqn.invars, s.operands)))
    return next(found, None)


def _members(regions: Regions, cut: list[int], possible: list[int]) -> list[int]:
    """Returns some equations, and of those possible the ones between them."""
    needed: set[Any] = set()
    found = set(cut)
    for i in sorted({*cut, *possible}, reverse=True):
        if i in found or any(var in needed for var in regions.eqns[i].outvars):
            found.add(i)
            needed.update(variables(regions.eqns[i].invars))
    return sorted(found)


def _computed(
    regions: Regions, members: list[int], owner: dict[int, int], k: int, is_large: Callable[[Var], bool]
) -> list[int]:
    """Returns the equations of a phase, those of earlier ones that it needs again, and those of light values."""
    found, pending = set(members), list(members)
    while pending:
        for var in variables(regions.eqns[pending.pop()].invars):
            i = regions.makers.position.get(var)
            if i is None or i in found:
                continue
            is_again = owner.get(i, k) < k and is_large(var)
            if is_again or (var in regions.light and i not in owner):
                found.add(i)
                pending.append(i)
    return sorted(found)


def replaced(regions: Regions, parts: list[tuple[Phase, ClosedJaxpr]]) -> ClosedJaxpr | None:
    """Returns the graph with other graphs for phases; None if that would move what has side effects.

    Args:
      regions: The graph.
      parts: The phases, each with the graph that computes it.
    """
    rewriter = Rewriter(regions.closed)
    owner = {i: k for k, (phase, _) in enumerate(parts) for i in phase.members}
    last = {phase.members[-1]: k for k, (phase, _) in enumerate(parts)}
    unmade = {var for i in owner for var in regions.eqns[i].outvars}
    waiting: list[int] = []

    def write(i: int) -> bool:
        """Writes an equation, or the phase whose last one it is, if all that it reads is there."""
        k = last.get(i)
        read = variables(regions.eqns[i].invars) if k is None else parts[k][0].entering
        if any(var in unmade for var in read):
            unmade.update(regions.eqns[i].outvars if k is None else ())
            return False
        if k is None:
            rewriter.keep(regions.eqns[i])
            unmade.difference_update(regions.eqns[i].outvars)
            return True
        phase, graph = parts[k]
        eqns, results, _ = placed(graph, rewriter.read(phase.entering), regions.eqns[i])
        rewriter.write(eqns)
        for var, result in zip(phase.leaving, results, strict=True):
            rewriter.replace(var, result)
        unmade.difference_update(var for j in phase.members for var in regions.eqns[j].outvars)
        return True

    for i, eqn in enumerate(regions.eqns):
        if i in owner and i not in last:
            continue
        if not write(i):
            if not is_pure(eqn):
                return None
            waiting.append(i)
        elif i in last:
            waiting = [j for j in waiting if not write(j)]
    return None if waiting else rewriter.graph()


def large_products(regions: Regions, phase: Phase, size: int) -> tuple[list[Eqn], list[Eqn]]:
    """Returns the products in a phase that make, and that read, values of at least a number of elements."""
    products = [e for i in phase.computed if (e := regions.eqns[i]).primitive is lax.dot_general_p]
    reads = [e for e in products if any(a.aval.size >= size for a in e.invars)]
    return [e for e in products if e.outvars[0].aval.size >= size], reads
