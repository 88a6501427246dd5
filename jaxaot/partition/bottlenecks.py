"""Bottlenecks: places in the forward where few bytes carry on, such as the residual stream between the layers of a
model.

What is recomputed with the values of all bottlenecks at hand is recomputed layer by layer. Without them the least
recomputed time may mean to run the whole forward again at once, whose values then all wait for the backward.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.walk import variables
from jaxaot.partition.classify import Classified, Side

_NEAR_THE_ENDS = 0.02
_WIDER = 1.5


def bottlenecks(graph: Classified, cost: Callable[[Any], int]) -> frozenset[int]:
    """Returns the positions of the equations that compute what is alive at the bottlenecks of the forward.

    A bottleneck is where the forward's later equations read at most 1.5 times as many bytes of the earlier ones as they
    do anywhere, places with less than 2 % of the time before or after them aside. Inputs do not count: they are at
    hand.

    Args:
      graph: The joint graph.
      cost: How long an equation takes, in picoseconds.
    """
    forward = _forward(graph)
    if not forward:
        return frozenset()
    shows: dict[Any, Any] = {}  # what takes no memory of its own, and what it is made of
    made: dict[Any, int] = {}
    last: dict[Any, int] = {}
    for k, eqn in enumerate(graph.eqns[position] for position in forward):
        read = {shows.get(var, var) for var in variables(eqn.invars)}
        last |= dict.fromkeys(read & made.keys(), k)
        if kind(eqn) <= Kind.CAST:
            shows |= dict.fromkeys(eqn.outvars, next((shows.get(v, v) for v in variables(eqn.invars)), None))
        else:
            made |= dict.fromkeys(eqn.outvars, k)
            last |= dict.fromkeys(eqn.outvars, k)
    last |= {var: len(forward) for var in {shows.get(var, var) for var in variables(graph.outputs)} & made.keys()}
    change = [0] * (len(forward) + 1)
    for var, k in made.items():
        change[k] += graph.bytes(var)
        change[last[var]] -= graph.bytes(var)
    alive = list(accumulate(change[:-1]))
    elapsed = list(accumulate(cost(graph.eqns[position]) for position in forward))
    inner = [k for k, t in enumerate(elapsed) if _NEAR_THE_ENDS <= t / max(1, elapsed[-1]) <= 1 - _NEAR_THE_ENDS]
    if not inner:
        return frozenset()
    widest = _WIDER * min(alive[k] for k in inner)
    narrow = [k for k in inner if alive[k] <= widest]
    return frozenset(forward[k] for var, k in made.items() if any(k <= at < last[var] for at in narrow))


def head_products(graph: Classified) -> frozenset[int]:
    """Returns the positions of the products that the backward needs before it makes a product of its own.

    Such is what makes the logits that a loss is computed from. To compute it again takes time and frees nothing: the
    backward would begin with it, while all that is saved is still there.

    Args:
      graph: The joint graph.
    """
    eqns, needed, found = graph.eqns, set(), set()
    for i in graph.positions(Side.BACKWARD):
        if kind(eqns[i]) >= Kind.MATMUL:
            break
        needed.update(variables(eqns[i].invars))
    for i in reversed(graph.positions(Side.FORWARD, Side.EITHER)):
        if needed.isdisjoint(eqns[i].outvars):
            continue
        if kind(eqns[i]) < Kind.MATMUL:
            needed.update(variables(eqns[i].invars))
        elif kind(eqns[i]) < Kind.COLLECTIVE:
            found.add(i)
    return frozenset(found)


def _forward(graph: Classified) -> list[int]:
    """Returns the positions of the equations that the outputs depend on, in order."""
    needed = set(variables(graph.outputs))
    found = []
    for position in reversed(graph.positions(Side.FORWARD, Side.EITHER)):
        eqn = graph.eqns[position]
        if not needed.isdisjoint(eqn.outvars):
            needed.update(variables(eqn.invars))
            found.append(position)
    return found[::-1]
