"""Dead code elimination: an equation is *dead* if no output depends on it and it has no side effect."""

from __future__ import annotations

from jaxaot._jax import has_side_effects
from jaxaot._typing import ClosedJaxpr
from jaxaot.ir.rewrite import rebuild
from jaxaot.ir.walk import variables


def dce(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph without the equations that nothing needs.

        b = sin a               b = sin a
        c = cos a       →       return b
        return b

    Inputs stay, even those that nothing reads; equations with side effects stay, and all that they read.
    """
    live = set(variables(closed.jaxpr.outvars))
    kept = []
    for eqn in reversed(closed.jaxpr.eqns):
        if not live.isdisjoint(eqn.outvars) or has_side_effects(eqn):
            kept.append(eqn)
            live.update(variables(eqn.invars))
    return rebuild(closed, kept[::-1], closed.jaxpr.outvars)
