"""Where a barrier may stand: the rule, and graphs made to follow it.

XLA on CPU keeps barriers only under an option (`lower/options.py`), and then cannot compile all of them. It makes one
kernel of a whole loop, and of what a reduction, scatter or sort computes for its elements, and the code for kernels
knows no barriers: compilation fails, or ends the process. Which loops become kernels depends on the version of XLA; by
jax 0.12 it is every loop without a matrix product, a sort or a custom call. So in bodies of loops and of reductions,
and in all bodies within these, no barrier may stand. In branches and in bodies that are merely called it may.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax.lax import optimization_barrier_p

from jaxaot._jax import ClosedJaxpr, Jaxpr, close_jaxpr
from jaxaot.ir.rewrite import CHECKPOINTS, is_call, reading, rebuild, substitute
from jaxaot.ir.walk import sub_jaxprs

_LIKE_CALLS = {"cond", "shard_map", *CHECKPOINTS}
"""Primitives whose bodies XLA compiles as it does what is around them, besides mere calls."""


def may_hold_barriers(eqn: Any) -> bool:
    """Returns whether a barrier may stand in the bodies of an equation that stands where a barrier may."""
    return eqn.primitive.name in _LIKE_CALLS or is_call(eqn)


def has_barriers(jaxpr: Any) -> bool:
    """Returns whether a barrier stands in a graph, or in a body where it may."""
    for eqn in jaxpr.eqns:
        if eqn.primitive is optimization_barrier_p:
            return True
        if eqn.primitive.name in CHECKPOINTS and _prevents_cse(eqn):
            return True
        if may_hold_barriers(eqn) and any(map(has_barriers, sub_jaxprs(eqn))):
            return True
    return False


def without_misplaced_barriers(closed: Any) -> Any:
    """Returns the graph with barriers only where they may stand; those of the user, and of `jax.checkpoint`, too.

        scan[{ a → b = sin a; h = optimization_barrier b }]     →       scan[{ a → b = sin a }]
    """
    return _without(closed, may_stand=True)


def _without(closed: Any, may_stand: bool) -> Any:
    jaxpr = closed.jaxpr
    replaced: dict[Any, Any] = {}
    eqns: list[Any] = []
    for eqn in jaxpr.eqns:
        if not may_stand and eqn.primitive is optimization_barrier_p:
            replaced.update(zip(eqn.outvars, substitute(eqn.invars, replaced), strict=True))
            continue
        inner = may_stand and may_hold_barriers(eqn)
        new = with_bodies(reading(eqn, replaced), lambda body, inner=inner: _without(body, inner))
        if not may_stand and eqn.primitive.name in CHECKPOINTS and _prevents_cse(eqn):
            never = eqn.params["prevent_cse"]
            never = tuple(False for _ in never) if isinstance(never, tuple) else False
            new = new.replace(params={**new.params, "prevent_cse": never})
        eqns.append(new)
    if len(eqns) == len(jaxpr.eqns) and all(new is eqn for new, eqn in zip(eqns, jaxpr.eqns, strict=True)):
        return closed
    return rebuild(closed, eqns, substitute(jaxpr.outvars, replaced))


def _prevents_cse(eqn: Any) -> bool:
    """Returns whether JAX puts barriers around the body of a `jax.checkpoint`."""
    asked = eqn.params.get("prevent_cse")
    return any(asked) if isinstance(asked, tuple) else bool(asked)


def with_bodies(eqn: Any, change: Callable[[Any], Any]) -> Any:
    """Returns an equation with its bodies changed; itself if none is.

    Args:
      eqn: The equation.
      change: Takes and returns a ClosedJaxpr; the same object if it changes nothing.
    """

    def visit(value: Any) -> Any:
        if isinstance(value, ClosedJaxpr):
            return change(value)
        if isinstance(value, Jaxpr):
            if value.constvars:
                return value
            closed = close_jaxpr(value)
            changed = change(closed)
            return value if changed is closed else changed.jaxpr
        if isinstance(value, tuple):
            items = tuple(map(visit, value))
            return value if all(new is old for new, old in zip(items, value, strict=True)) else items
        return value

    changed = {}
    for name, value in eqn.params.items():
        new = visit(value) if isinstance(value, ClosedJaxpr | Jaxpr | tuple) else value
        if new is not value:
            changed[name] = new
    return eqn.replace(params={**eqn.params, **changed}) if changed else eqn
