"""Regions: parts of a program whose author said what is to be saved of them.

A *region* is the body of one call of `ja.utils.checkpoint.checkpoint` or `jax.checkpoint`. To *open* the regions of a
graph is to put the bodies of `jax.checkpoint` in their place, and to find which region each equation lies in. A value
*leaves* a region if an equation outside of it reads it, or if it is an output of the graph: it gets a mark, which outer
equations read instead. So what the region does to have the value again, and what the others do, can be decided apart.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

from jaxaot._immutable import immutable
from jaxaot._jax import DropVar, close_jaxpr, make_jaxpr_object, make_var, mark_p
from jaxaot._scopes import Annotation, annotated_source, annotations_of
from jaxaot._typing import ClosedJaxpr, Eqn, Jaxpr, Var
from jaxaot.ir.rewrite import inline, substitute
from jaxaot.ir.walk import sub_jaxprs, variables

MUST_SAVE, MUST_RECOMPUTE, LEAVES = "must_save", "must_recompute", "leaves"
"""The words of marks: two that users say, and that of a value that leaves a region."""


@immutable(eq=False)
class Region:
    """What was said of a part of a program.

    Attributes:
      policy: A policy, its name, or one of JAX; None for the one that goes with the budget, or that saves nothing.
      memory_budget: What may be saved in the region: a fraction of what `save_all` saves of it, or bytes as text.
      parent: The number of the region around it; None for none.
    """

    policy: Any = None
    memory_budget: Any = None
    parent: int | None = None


@immutable(eq=False)
class OpenGraph:
    """A graph without calls, and the regions in it.

    Attributes:
      jaxpr: A ClosedJaxpr.
      regions: The regions, each after the one around it.
      places: For each equation the number of its innermost region, or None.
      names: The names that `checkpoint_name` gave, in bodies of control flow too.
    """

    jaxpr: Any
    regions: tuple[Region, ...]
    places: tuple[int | None, ...]
    names: tuple[str, ...]


SCOPE = "checkpoint"
"""The annotation around the equations of a region; its value is the region."""

HOOKS_SCOPE = "saved_hooks"
"""The annotation around what is traced under hooks on saved tensors; its value is the pair."""


@contextlib.contextmanager
def region(policy: str | Callable[..., Any] | None = None, memory_budget: float | str | None = None) -> Iterator[None]:
    """Makes what is traced in the block a region."""
    with jax.named_scope(Annotation(SCOPE, Region(policy, memory_budget))):
        yield


def open_regions(closed: ClosedJaxpr) -> OpenGraph:
    """Returns a graph with calls and `jax.checkpoint` opened, and marks on what leaves a region.

    b = remat2[policy={ x → y = sin x; z = cos y }] a      →       y = sin a               (region 0)
    c = mul b b                                                    z = cos y               (region 0)
                                                                   b = mark[word=leaves] z
                                                                   c = mul b b
    """
    flat = inline(closed, enter_region=_enter)
    names = tuple(sorted(_names(flat.jaxpr)))
    numbers: dict[Any, int] = {}
    regions: list[Region] = []
    nestings = [_nesting(eqn, numbers, regions) for eqn in flat.jaxpr.eqns]
    if not regions:
        return OpenGraph(flat, (), (None,) * len(nestings), names)
    marked, places = _with_marks(flat, nestings)
    return OpenGraph(marked, tuple(regions), tuple(places), names)


def _enter(eqn: Eqn, source: Any) -> Any:
    policy = eqn.params["policy"]
    return annotated_source(source, Annotation(SCOPE, Region(policy, getattr(policy, "memory_budget", None))))


def _nesting(eqn: Eqn, numbers: dict[Any, int], regions: list[Region]) -> tuple[int, ...]:
    """Returns the numbers of the regions around an equation, outermost first."""
    nesting: tuple[int, ...] = ()
    for annotation in annotations_of(eqn):
        if annotation != SCOPE:
            continue
        parent = nesting[-1] if nesting else None
        key = (parent, id(annotation))
        if key not in numbers:
            numbers[key] = len(regions)
            regions.append(dataclasses.replace(annotation.value, parent=parent))
        nesting += (numbers[key],)
    return nesting


def _with_marks(closed: ClosedJaxpr, nestings: list[tuple[int, ...]]) -> tuple[Any, list[int | None]]:
    """Returns the graph with a mark on each value that leaves a region, and the innermost region of each equation."""
    jaxpr = closed.jaxpr
    made_in = {var: nesting for eqn, nesting in zip(jaxpr.eqns, nestings, strict=True) for var in eqn.outvars}
    depths: dict[Any, set[int]] = {}  # of the places where a value is read, outside of where it was made

    def note(atoms: Sequence[Any], nesting: tuple[int, ...]) -> None:
        for var in variables(atoms):
            depth = _n_common(made_in.get(var, ()), nesting)
            if depth < len(made_in.get(var, ())):
                depths.setdefault(var, set()).add(depth)

    for eqn, nesting in zip(jaxpr.eqns, nestings, strict=True):
        note(eqn.invars, nesting)
    note(jaxpr.outvars, ())
    shown: dict[tuple[Any, int], Any] = {}  # what stands for a value at a depth

    eqns: list[Any] = []
    places: list[int | None] = []
    for eqn, nesting in zip(jaxpr.eqns, nestings, strict=True):
        if any(var in depths for var in variables(eqn.invars)):
            eqn = eqn.replace(invars=_read(eqn.invars, nesting, made_in, shown))
        eqns.append(eqn)
        places.append(nesting[-1] if nesting else None)
        for var in eqn.outvars:
            inner = var
            for depth in sorted(depths.get(var, ()), reverse=True):
                if isinstance(var, DropVar):
                    break
                outer = shown[var, depth] = make_var(var.aval)
                eqns.append(
                    eqn.replace(
                        primitive=mark_p, params={"word": LEAVES}, invars=[inner], outvars=[outer], effects=frozenset()
                    )
                )
                places.append(nesting[depth - 1] if depth else None)
                inner = outer
    outvars = _read(jaxpr.outvars, (), made_in, shown)
    made = make_jaxpr_object(jaxpr.invars, outvars, eqns, jaxpr.constvars, None, jaxpr.debug_info)
    return close_jaxpr(made, closed.consts), places


def _read(
    atoms: Sequence[Any], nesting: tuple[int, ...], made_in: dict[Any, Any], shown: dict[tuple[Any, int], Any]
) -> list[Any]:
    """Returns the operands that an equation with that chain of regions reads in place of `atoms`."""

    def at(var: Var) -> Any:
        return shown.get((var, _n_common(made_in.get(var, ()), nesting)), var)

    return substitute(atoms, {var: at(var) for var in variables(atoms)})


def _n_common(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    """Returns how many regions two chains have in common."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))


def _names(jaxpr: Jaxpr) -> set[str]:
    found = {eqn.params["name"] for eqn in jaxpr.eqns if eqn.primitive.name == "name"}
    return found.union(*(_names(body) for eqn in jaxpr.eqns for body in sub_jaxprs(eqn)))
