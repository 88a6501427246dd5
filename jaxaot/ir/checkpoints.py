"""Functions under `jax.checkpoint` in graphs that nobody differentiates any more."""

from __future__ import annotations

from typing import Any

from jaxaot._jax import Literal, close_jaxpr
from jaxaot._scopes import nest_source
from jaxaot._typing import ClosedJaxpr, Eqn
from jaxaot.ir.build import barrier
from jaxaot.ir.rewrite import CHECKPOINTS, inline, splice
from jaxaot.ir.rewriter import Rewriter


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
        rewriter = Rewriter(closed)
        for eqn in rewriter.equations():
            if eqn.primitive.name not in CHECKPOINTS:
                rewriter.keep(eqn)
                continue
            made, results, _ = splice(close_jaxpr(eqn.params["jaxpr"]), _waiting(eqn, rewriter))
            rewriter.write(one.replace(source_info=nest_source(one, eqn.source_info)) for one in made)
            for var, result in zip(eqn.outvars, results, strict=True):
                rewriter.replace(var, result)
        closed = inline(rewriter.graph(), also_custom=True)
    return closed


def _waiting(eqn: Eqn, rewriter: Rewriter) -> list[Any]:
    """Returns the operands of a `jax.checkpoint`, behind a barrier, which is added, if its body is computed again."""
    atoms, prevents = rewriter.read(eqn.invars), eqn.params["prevent_cse"]
    which = prevents if isinstance(prevents, tuple) else (prevents,) * len(atoms)
    waiting = [i for i, atom in enumerate(atoms) if which[i] and not isinstance(atom, Literal)]
    if eqn.params["differentiated"] and waiting:
        made, targets = barrier([atoms[i] for i in waiting], eqn)
        rewriter.write([made])
        for i, target in zip(waiting, targets, strict=True):
            atoms[i] = target
    return atoms
