"""Cutting chains: long rows of cheap equations are compiled in pieces.

XLA on CPU makes one kernel of a row of cheap equations, and compiles it in the square of its length: a thousand
products and cosines take 14 seconds, in pieces of 64 half a second, and run as fast. It also copies a cheap equation
into the kernel of each reader, with all that it is computed from. In a row of n of them, each read besides by an
equation of its own, that is the square of n once more: the gradients of `x * w1 * … * w100` take half a minute to
compile. A barrier behind the last equation of a piece has the rest read it from memory. Of large values
`kernels/hold.py` says which are read, by what it costs.
"""

from __future__ import annotations

from typing import Any

from jaxaot._jax import DropVar
from jaxaot._typing import ClosedJaxpr
from jaxaot.backend.cpu.analysis.kernels import is_fused
from jaxaot.backend.cpu.machine import machine
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import aval_bytes, is_rewritable, users, variables

MAX_SHARED = 12
"""How many equations with several readers may be in a row."""

MAX_TOGETHER = 64
"""From how many equations on a kernel ends: two such rows may still meet in one."""

_NONE: frozenset[int] = frozenset()


def cut_chains(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with a barrier in every long row of cheap equations of small values.

    Bodies of loops and branches stay as they are.

    Args:
      closed: The graph, its calls inlined.
    """
    jaxpr = closed.jaxpr
    readers = users(jaxpr.eqns)
    n_shared: dict[Any, int] = {}
    kernel: dict[Any, frozenset[int]] = {}  # the positions of what is computed where a variable is
    rewriter = Rewriter(closed)
    for i, eqn in enumerate(rewriter.equations()):
        rewriter.keep(eqn)
        if not is_fused(eqn) or len(eqn.outvars) != 1 or isinstance(eqn.outvars[0], DropVar):
            continue
        (made,) = eqn.outvars
        operands = variables(eqn.invars)
        is_shared = len(readers.get(made, ())) > 1
        deepest = max((n_shared.get(var, 0) for var in operands), default=0) + is_shared
        together = frozenset((i,)).union(*(kernel.get(var, _NONE) for var in operands))
        is_long = (is_shared and deepest > MAX_SHARED) or len(together) >= MAX_TOGETHER
        is_small = aval_bytes(made.aval) <= machine().cached_bytes
        if is_long and is_small and made in readers and is_rewritable(eqn):
            rewriter.hold(made)
        else:
            n_shared[made] = deepest
            kernel[made] = together if len(together) < MAX_TOGETHER else _NONE
    return rewriter.graph()
