"""What it costs to have a value of the forward at hand in the backward, if only bodies of the backward read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jaxaot._typing import Atom
from jaxaot.ir.walk import backward_slice, variables
from jaxaot.partition.classify import Classified, Side
from jaxaot.partition.formulate import choice_of
from jaxaot.partition.policies import Choice, Policy


def keeping_prices(
    graph: Classified,
    policy: Policy,
    atoms: Iterable[Atom],
    readers: Mapping[int, Iterable[Any]],
    prices: Mapping[Any, int],
    scale: int,
) -> dict[Any, int]:
    """Returns upper bounds on the cost of keeping each of some variables.

    It is nothing for what the backward has anyway, and else the bytes, or what keeping the operands costs if the value
    may be recomputed from them.

    Args:
      graph: A classified joint graph.
      policy: What may be recomputed.
      atoms: The variables in question; literals are passed over.
      readers: Backward equations, by position, and what they read in any case.
      prices: What keeping a variable of the graph costs where that is not its bytes, see `formulate`.
      scale: How often each value of the graph exists.
    """
    others = (i for i in graph.positions(Side.BACKWARD) if i not in readers)
    read = [atom for i in others for atom in graph.eqns[i].invars]
    for certain in readers.values():
        read.extend(certain)
    free = {*variables(read), *variables(graph.gradients), *graph.refills, *graph.constants}
    outputs = set(variables(graph.outputs))
    wanted = list(dict.fromkeys(variables(atoms)))
    price = {var: 0 if var in free else prices.get(var, 0) for var in graph.primals}
    price |= dict.fromkeys(graph.constants, 0)
    for i in sorted(backward_slice(graph.joint.jaxpr.jaxpr, wanted)):
        eqn = graph.eqns[i]
        choice = choice_of(eqn, policy)
        again = sum(price[var] for var in dict.fromkeys(variables(eqn.invars)))
        for var in eqn.outvars:
            kept = prices.get(var, 0 if var in outputs else scale * graph.bytes(var))
            if var in free:
                price[var] = 0
            elif choice is Choice.SAVE:
                price[var] = kept
            else:
                price[var] = again if choice is Choice.RECOMPUTE else min(again, kept)
    return {var: price[var] for var in wanted}
