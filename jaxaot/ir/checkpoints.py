"""Functions under `jax.checkpoint` in graphs that nobody differentiates any more."""

from __future__ import annotations

from typing import Any

from jaxaot._jax import DropVar, Literal, close_jaxpr
from jaxaot._scopes import nest_source
from jaxaot._typing import ClosedJaxpr, Eqn
from jaxaot.ir.build import barrier
from jaxaot.ir.rewrite import CHECKPOINTS, inline, reading, rebuild, splice, substitute


def open_checkpoints(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns a graph with the bodies of `jax.checkpoint` in their places, so that passes reach what is in them.

        c = checkpoint[{ x y → z = sin x; w = mul z y }] a b     →      x, y = optimization_barrier a b
                                                                        z = sin x
                                                                        c = mul z y

    What is recomputed waits behind a barrier, as where JAX lowers the call. Bodies of loops are left as they are.

    Args:
      closed: The graph, a ClosedJaxpr, its calls inlined.
    """
    while any(eqn.primitive.name in CHECKPOINTS for eqn in closed.jaxpr.eqns):
        eqns: list[Any] = []
        names: dict[Any, Any] = {}
        for eqn in closed.jaxpr.eqns:
            read = reading(eqn, names)
            if eqn.primitive.name not in CHECKPOINTS:
                eqns.append(read)
                continue
            atoms = _waiting(read, eqns)
            made, results, _ = splice(close_jaxpr(eqn.params["jaxpr"]), atoms)
            eqns += [one.replace(source_info=nest_source(one, eqn.source_info)) for one in made]
            pairs = zip(eqn.outvars, results, strict=True)
            names.update((var, result) for var, result in pairs if not isinstance(var, DropVar))
        closed = inline(rebuild(closed, eqns, substitute(closed.jaxpr.outvars, names)), also_custom=True)
    return closed


def _waiting(eqn: Eqn, eqns: list[Any]) -> list[Any]:
    """Returns the operands of a `jax.checkpoint`, behind a barrier, which is added, if its body is computed again."""
    atoms, prevents = list(eqn.invars), eqn.params["prevent_cse"]
    which = prevents if isinstance(prevents, tuple) else (prevents,) * len(atoms)
    waiting = [i for i, atom in enumerate(atoms) if which[i] and not isinstance(atom, Literal)]
    if eqn.params["differentiated"] and waiting:
        made, targets = barrier([atoms[i] for i in waiting], eqn)
        eqns.append(made)
        for i, target in zip(waiting, targets, strict=True):
            atoms[i] = target
    return atoms
