"""Cutting chains: a long row of cheap equations, each of which is read by others too, is compiled in pieces.

XLA on CPU copies a cheap equation into the kernel of each reader, with all that it is computed from. In a row of
n of them, each read besides by an equation of its own, that is the square of n: the gradients of `x * w1 * … * w100`
take half a minute to compile. A barrier behind every `MOST`-th has the rest read it from memory. Of large values
`kernels/hold.py` says which are read, by what it costs.
"""

from __future__ import annotations

from typing import Any

from jaxaot._jax import DropVar
from jaxaot._typing import ClosedJaxpr
from jaxaot.backend.cpu.analysis.kernels import is_fused
from jaxaot.backend.cpu.machine import machine
from jaxaot.ir.build import barrier
from jaxaot.ir.rewrite import reading, rebuild, substitute
from jaxaot.ir.walk import aval_bytes, is_rewritable, users, variables

MOST = 12
"""How many equations with several readers may be in a row."""


def cut_chains(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with a barrier in every long row of cheap equations of small values that have several readers.

    Bodies of loops and branches stay as they are.

    Args:
      closed: The graph, its calls inlined.
    """
    jaxpr = closed.jaxpr
    readers = users(jaxpr.eqns)
    depth: dict[Any, int] = {}
    names: dict[Any, Any] = {}
    eqns: list[Any] = []
    for eqn in jaxpr.eqns:
        eqns.append(reading(eqn, names))
        if not is_fused(eqn) or len(eqn.outvars) != 1 or isinstance(eqn.outvars[0], DropVar):
            continue
        (made,) = eqn.outvars
        is_shared = len(readers.get(made, ())) > 1
        deepest = max((depth.get(var, 0) for var in variables(eqn.invars)), default=0) + is_shared
        is_small = aval_bytes(made.aval) <= machine().cached_bytes
        if deepest > MOST and is_shared and is_small and is_rewritable(eqn):
            barred, (names[made],) = barrier([made], eqn)
            eqns.append(barred)
        else:
            depth[made] = deepest
    return rebuild(closed, eqns, substitute(jaxpr.outvars, names)) if names else closed
