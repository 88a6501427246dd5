"""Groups of equations that wait: the mechanism of all barriers that order a graph.

A *group* is a run of *early* equations, which could be computed at once; the first other equation behind it *waits* for
it. The operands of a group pass through one `optimization_barrier` together with an operand of the equation that waits,
so that the group starts only when that operand is there. Left alone, XLA computes early equations when it likes, and
their results live as long as if they had been kept.

*Saved* values pass through a barrier too, where they are first read. Left alone, XLA fuses the end of what computes one
into its late reader, and so keeps what that is computed from besides: `x @ w` beside a saved `x @ w + b`.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Any

from jax.dtypes import float0
from jax.lax import optimization_barrier_p

from jaxaot._jax import DropVar, ShapedArray, has_side_effects, make_var, type_varies_over
from jaxaot._typing import ClosedJaxpr, Var
from jaxaot._util import OrderedSet
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewrite import reading, rebuild, substitute
from jaxaot.ir.walk import aval_bytes, backward_slice, variables

SMALL_BYTES = 1024
"""A group that makes nothing larger is not gated: a barrier costs more, by the fusions that it prevents."""


def gate_groups(
    closed: ClosedJaxpr,
    late: Collection[int],
    known: Sequence[Any],
    small_bytes: int = SMALL_BYTES,
    start: int = 0,
    can_be_waited_for: Callable[[Any], bool] = lambda eqn: True,
    saved: Collection[Any] = (),
) -> ClosedJaxpr:
    """Returns a graph in which every group of early equations, and each saved value, waits for a late value.

    Groups without operands, made of literals alone, and equations with side effects are left as they are. So are those
    that compute a few instructions per element of what waited itself: XLA fuses them into what reads them. Inside a
    `shard_map` the operands of a barrier vary over the same axes, so there is one for each such set.

    Args:
      closed: The graph, a ClosedJaxpr.
      late: The positions of the equations that are not early.
      known: Inputs that are there no earlier than late values.
      small_bytes: Groups that make nothing larger are left as they are.
      start: Groups in front of equations before this position are left as they are.
      can_be_waited_for: Returns whether results of an equation are what groups may wait for.
      saved: Inputs that were computed before, in the same program.
    """
    jaxpr = closed.jaxpr
    last_read = {var: i for i, eqn in enumerate(jaxpr.eqns) for var in variables(eqn.invars)}
    last_read |= dict.fromkeys(variables(jaxpr.outvars), len(jaxpr.eqns))
    place = {var: -1 for var in known if _is_array(var)}  # of late values: where they are made
    made_so_far: defaultdict[Any, list[Any]] = defaultdict(list)  # by the axes over which they vary
    for var in place:
        made_so_far[type_varies_over(var.aval)].append(var)
    held: dict[Any, Any] = {}  # a late value → what a barrier made of it
    eqns: list[Any] = []
    group: list[Any] = []
    waited: set[Any] = set()  # what groups made that wait
    for position, eqn in enumerate(jaxpr.eqns):
        if position not in late:
            group.append(eqn)
            continue
        read = [var for var in dict.fromkeys(variables(eqn.invars)) if var in saved and var not in held]
        if group or read:
            waited_for = sorted((var for var in variables(eqn.invars) if var in place), key=lambda var: place[var])
            for values in made_so_far.values():
                while values and last_read.get(values[-1], -1) < position:
                    values.pop()  # XLA drops from a barrier what nobody reads behind it
            keys = {axes: values[-1] for axes, values in made_so_far.items() if values}
            keys |= {type_varies_over(var.aval): var for var in waited_for}
            is_large = any(aval_bytes(var.aval) > small_bytes for early in group for var in early.outvars)
            waits = position >= start and is_large and not any(map(has_side_effects, group))
            is_fused = _is_fused(group, waited)
            eqns += _gated(group, eqn, keys, held) if waits and not is_fused else group
            waited.update(var for early in group for var in early.outvars if waits)
            group = []
            read = [var for var in read if aval_bytes(var.aval) > small_bytes and position >= start]
            eqns += _behind_barriers(read, eqn, keys, held, held)
        eqns.append(reading(eqn, held))
        made = [var for var in eqn.outvars if _is_array(var)] if can_be_waited_for(eqn) else []
        place |= dict.fromkeys(made, position)
        for var in made:
            made_so_far[type_varies_over(var.aval)].append(var)
    return rebuild(closed, [*eqns, *group], substitute(jaxpr.outvars, held))


def hold_fills(closed: ClosedJaxpr, n_fills: int) -> ClosedJaxpr:
    """Returns a graph in which what fills a storage waits for what was computed before it, in the order of the graph.

    What is gathered for one layer and freed behind it is so computed when the layer before is done, and not with the
    others at the start.

        b = concatenate p q                  b = concatenate p q
        c = dot x b                          c = dot x b
        d = concatenate r s           →      r1, s1, c1 = optimization_barrier r s c
        e = dot c d                          d = concatenate r1 s1
                                             e = dot c1 d

    Args:
      closed: The graph, a ClosedJaxpr.
      n_fills: How many outputs, the last ones, are the contents of such storages.
    """
    jaxpr = closed.jaxpr
    others = jaxpr.outvars[: len(jaxpr.outvars) - n_fills]
    fills = set(variables(jaxpr.outvars[len(others) :]))
    making = backward_slice(jaxpr, fills)
    read = [atom for i, eqn in enumerate(jaxpr.eqns) if i not in making for atom in eqn.invars]
    needed = backward_slice(jaxpr, [*others, *read], fills)
    if not making - needed:
        return closed
    return gate_groups(closed, set(range(len(jaxpr.eqns))) - (making - needed), ())


def hold_gathers(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns a graph in which parameters that lie over several devices are gathered one layer ahead, and no earlier.

    They are there from the start, so XLA would gather all at once. What is gathered for one layer waits for the first
    result of the layer before, while which it can be on its way.

    Args:
      closed: The graph of a forward, a ClosedJaxpr.
    """
    eqns = closed.jaxpr.eqns
    makers: dict[Any, int] = {}  # of values that inputs are only moved and cast to
    given = set(closed.jaxpr.invars)
    for i, eqn in enumerate(eqns):
        is_moved = kind(eqn) <= Kind.CAST and eqn.primitive is not optimization_barrier_p and bool(eqn.invars)
        if is_moved and given.issuperset(variables(eqn.invars)):
            given.update(eqn.outvars)
            makers.update(dict.fromkeys(eqn.outvars, i))
    gathers = {i for i in makers.values() if eqns[i].primitive.name == "sharding_constraint"}
    if not gathers:
        return closed
    whole = {var for i in gathers for var in eqns[i].outvars}
    marks = {i for i in makers.values() if eqns[i].primitive.name == "mark"}
    held = gathers | {i for i in marks if not whole.isdisjoint(variables(eqns[i].invars))}
    held |= backward_slice(closed.jaxpr, [var for i in gathers for var in eqns[i].invars])  # halves are gathered
    runs: list[list[int]] = []
    for i in sorted(held):
        if not runs or not held.issuperset(range(runs[-1][-1], i)):
            runs.append([])
        runs[-1].append(i)
    moved = set(makers.values())
    computed = [i for i in range(len(eqns)) if i not in moved]
    behind: dict[int, list[int]] = {}  # an equation → the run that follows it
    for before, run in itertools.pairwise(runs):
        first = next((i for i in computed if before[-1] < i < run[0]), run[0] - 1)
        behind.setdefault(first, []).extend(run)
    order = list(runs[0]) if runs[0][0] == 0 else []
    for i in range(len(eqns)):
        order += [i] if i not in held else []
        order += runs[0] if i + 1 == runs[0][0] else []
        order += behind.get(i, [])
    arranged = rebuild(closed, [eqns[i] for i in order], closed.jaxpr.outvars)
    late = {k for k, i in enumerate(order) if i not in held}
    results = {id(eqns[i]) for i in computed}
    return gate_groups(arranged, late, (), can_be_waited_for=lambda eqn: id(eqn) in results)


def _is_fused(group: list[Any], waited: Collection[Any]) -> bool:
    """Returns whether a group is pointwise, and computed from what waited, and from literals."""
    made = {var for eqn in group for var in eqn.outvars}
    operands = {var for eqn in group for var in variables(eqn.invars)} - made
    return operands <= set(waited) and all(kind(eqn) <= Kind.POINTWISE for eqn in group)


def _gated(group: list[Any], behind: Any, keys: dict[Any, Any], held: dict[Any, Any]) -> list[Any]:
    """Returns the equations of a group with its barriers.

    Args:
      behind: The equation that waits for them.
      keys: A late value for each set of axes over which some vary.
      held: What barriers made of late values so far; those made here are added.
    """
    made = {var for eqn in group for var in eqn.outvars}
    operands = OrderedSet(var for eqn in group for var in variables(eqn.invars) if var not in made and _is_array(var))
    names: dict[Any, Any] = {}
    barriers = _behind_barriers(operands, behind, keys, held, names)
    return [*barriers, *(reading(eqn, names) for eqn in group)]


def _behind_barriers(
    values: Collection[Any], behind: Any, keys: dict[Any, Any], held: dict[Any, Any], names: dict[Any, Any]
) -> list[Any]:
    """Returns the barriers through which values pass together with a late one.

    Args:
      behind: The equation that is behind them.
      keys: A late value for each set of axes over which some vary.
      held: What barriers made of late values so far; those made here are added.
      names: What they make of the values is added.
    """
    barriers: list[Any] = []
    for axes in dict.fromkeys(type_varies_over(var.aval) for var in values):
        if axes not in keys:
            continue
        key = keys[axes]
        sources = [*(held.get(v, v) for v in values if type_varies_over(v.aval) == axes), held.get(key, key)]
        targets = [make_var(var.aval) for var in sources]
        names.update(zip([v for v in values if type_varies_over(v.aval) == axes], targets[:-1], strict=True))
        held[key] = targets[-1]
        barriers.append(
            behind.replace(primitive=optimization_barrier_p, params={}, invars=sources, outvars=targets, effects=set())
        )
    return barriers


def _is_array(var: Var) -> bool:
    """Returns whether a variable holds an array that a barrier can take."""
    return isinstance(var.aval, ShapedArray) and var.aval.dtype != float0 and not isinstance(var, DropVar)
