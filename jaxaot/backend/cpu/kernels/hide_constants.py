"""Hiding constants: what XLA would take long to compute when it compiles is computed by the program.

XLA folds constants by an interpreter, which goes through a whole window for each element. The gradient of
`jnp.cumsum(x).sum()` is a cumulative sum of ones, whose folding takes longer than all else of the compilation.
"""

from __future__ import annotations

from typing import Any

from jaxaot.backend.cpu.machine import machine
from jaxaot.ir.build import barrier, n_elements
from jaxaot.ir.rewrite import reading, rebuild
from jaxaot.ir.walk import forward_slice, is_rewritable, variables


def hide_constants(closed: Any) -> Any:
    """Returns the graph in which large cumulative sums, and others by windows, of what depends on no input are kept.

    b = broadcast_in_dim 1.0            b = broadcast_in_dim 1.0
    c = cumsum b                →       h = optimization_barrier b
                                        c = cumsum h
    """
    jaxpr = closed.jaxpr
    if not any(map(_is_by_windows, jaxpr.eqns)):
        return closed
    varying = forward_slice(jaxpr, [*jaxpr.invars, *jaxpr.constvars])
    eqns: list[Any] = []
    for i, eqn in enumerate(jaxpr.eqns):
        if i in varying or not _is_by_windows(eqn):
            eqns.append(eqn)
            continue
        operands = list(dict.fromkeys(variables(eqn.invars)))
        barred, targets = barrier(operands, eqn)
        hidden = dict(zip(operands, targets, strict=True))
        eqns += [barred, reading(eqn, hidden)]
    return rebuild(closed, eqns, jaxpr.outvars) if len(eqns) > len(jaxpr.eqns) else closed


def _is_by_windows(eqn: Any) -> bool:
    """Returns whether an equation makes large arrays of which each element is made of many."""
    if not eqn.primitive.name.startswith(("cum", "reduce_window")) or not is_rewritable(eqn):
        return False
    return n_elements(eqn.outvars[0].aval.shape) > machine().max_folded_elements and any(
        True for _ in variables(eqn.invars)
    )
