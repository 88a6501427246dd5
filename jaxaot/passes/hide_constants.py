"""Hiding constants: what XLA would take long to compute when it compiles is computed by the program.

XLA folds constants by an interpreter, a microsecond and more for each element of a window. The gradient of
`jnp.cumsum(x).sum()` is a cumulative sum of ones, whose folding takes ten seconds for a million elements.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from jaxaot.ir.build import barrier, is_rewritable, n_elements
from jaxaot.ir.primitives import is_pure
from jaxaot.ir.rewrite import rebuild, substitute
from jaxaot.ir.walk import variables

MOST_ELEMENTS = 4096
"""What XLA may fold: at run time that costs nothing, and when compiling not more than compiling itself."""


def hide_constants(closed: Any) -> Any:
    """Returns the graph in which large cumulative sums, and others by windows, of what depends on no input are kept.

    b = broadcast_in_dim 1.0            b = broadcast_in_dim 1.0
    c = cumsum b                →       h = optimization_barrier b
                                        c = cumsum h
    """
    known: set[Any] = set()  # what depends on no input
    eqns: list[Any] = []
    for eqn in closed.jaxpr.eqns:
        if not _is_constant(eqn, known):
            eqns.append(eqn)
        elif _is_by_windows(eqn):
            operands = list(dict.fromkeys(variables(eqn.invars)))
            barred, targets = barrier(operands, eqn)
            hidden = dict(zip(operands, targets, strict=True))
            eqns += [barred, eqn.replace(invars=substitute(eqn.invars, hidden))]
        else:
            known.update(eqn.outvars)
            eqns.append(eqn)
    return rebuild(closed, eqns, closed.jaxpr.outvars) if len(eqns) > len(closed.jaxpr.eqns) else closed


def _is_constant(eqn: Any, known: Collection[Any]) -> bool:
    """Returns whether an equation reads constants only and makes others of them."""
    return all(var in known for var in variables(eqn.invars)) and is_pure(eqn) and is_rewritable(eqn)


def _is_by_windows(eqn: Any) -> bool:
    """Returns whether an equation makes large arrays of which each element is made of many."""
    if not eqn.primitive.name.startswith(("cum", "reduce_window")) or not any(True for _ in variables(eqn.invars)):
        return False
    return n_elements(eqn.outvars[0].aval.shape) > MOST_ELEMENTS
