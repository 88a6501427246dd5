"""Common subexpression elimination: two equations are *common* if they compute the same from the same operands."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from jaxaot._jax import Literal
from jaxaot._typing import Atom, ClosedJaxpr, Eqn
from jaxaot.ir.primitives import is_pure
from jaxaot.ir.rewrite import reading, rebuild
from jaxaot.ir.walk import equation_key, is_backward, region_index

_KEPT_APART = {"optimization_barrier"}
"""Primitives whose purpose is to keep equal values apart."""


def cse(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with each repeated expression computed once.

        b = sin a                 b = sin a
        c = sin a          →      d = mul b b
        d = mul b c

    Equations with side effects, and barriers, are left as they are. Of a joint graph, equations of the forward are
    common only within one region: what a region computes again is not what is saved outside of it.
    """
    first: dict[Hashable, Any] = {}
    kept_var: dict[Any, Any] = {}
    eqns = []

    def canonical(atom: Atom) -> Any:
        return atom if isinstance(atom, Literal) else kept_var.get(atom, atom)

    for eqn in closed.jaxpr.eqns:
        if any(not isinstance(atom, Literal) and atom in kept_var for atom in eqn.invars):
            eqn = reading(eqn, kept_var)
        if is_pure(eqn) and eqn.primitive.name not in _KEPT_APART:
            # what keeps more results cannot be replaced by what keeps less
            drops = tuple(type(var).__name__ for var in eqn.outvars) if len(eqn.outvars) > 1 else ()
            kept = first.setdefault((equation_key(eqn), drops, _region(eqn)), eqn)
            if kept is not eqn:
                kept_var.update(zip(eqn.outvars, kept.outvars, strict=True))
                continue
        eqns.append(eqn)
    return rebuild(closed, eqns, [canonical(atom) for atom in closed.jaxpr.outvars])


def _region(eqn: Eqn) -> int | None:
    region = region_index(eqn)
    return None if region is None or is_backward(eqn) else region
