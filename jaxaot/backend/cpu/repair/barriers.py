"""Where a barrier may stand: the rule, and graphs made to follow it.

XLA on CPU keeps barriers only under an option (`backend/cpu/options.py`), and then cannot compile all of them. It makes
one kernel of a whole loop, and of what a reduction, scatter or sort computes for its elements, and the code for kernels
knows no barriers: compilation fails, or ends the process. By jaxlib 0.10 small loops become kernels, by 0.12 all but
those with matrix products, sorts or custom calls. So no barrier may stand in the body of a reduction, nor in that of a
loop but where each round computes a matrix product that XLA can neither drop nor move out of the loop. In branches and
in bodies that are merely called a barrier may stand if it may stand around them."""

from __future__ import annotations

import functools
import math
from collections.abc import Container
from typing import Any

from jax.lax import optimization_barrier_p

from jaxaot._jax import ClosedJaxpr, Jaxpr, scan_counts
from jaxaot._typing import Eqn
from jaxaot.ir.rewrite import CHECKPOINTS, is_call, with_bodies
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import backward_slice, forward_slice, sub_jaxprs, variables

_LIKE_CALLS = {"cond", "shard_map", *CHECKPOINTS}
"""Primitives whose bodies XLA compiles as it does what is around them, besides mere calls."""


MIN_SIDE = 32
"""A product of matrices that are narrower may become something else than a product."""


def may_hold_barriers(eqn: Eqn, used: Container[Any]) -> bool:
    """Returns whether a barrier may stand in the bodies of an equation that stands where a barrier may.

    Args:
      eqn: The equation.
      used: The values that its graph needs, see `Needed`.
    """
    name = eqn.primitive.name
    if name in ("scan", "while"):
        return _multiplies_each_round(eqn, used)
    return name in _LIKE_CALLS or is_call(eqn)


class Needed:
    """The values that the outputs of a graph need, looked for once they are asked for: few graphs have loops."""

    def __init__(self, jaxpr: Jaxpr):
        self._jaxpr = jaxpr

    def __contains__(self, var: object) -> bool:
        return var in self._values

    @functools.cached_property
    def _values(self) -> set[Any]:
        jaxpr = self._jaxpr
        live = backward_slice(jaxpr, jaxpr.outvars)
        return {var for i in live for var in variables(jaxpr.eqns[i].invars)} | set(variables(jaxpr.outvars))


def _multiplies_each_round(loop: Any, used: Container[Any]) -> bool:
    """Returns whether each round of a loop computes a matrix product that depends on the round and is needed."""
    is_scan = loop.primitive.name == "scan"
    body = loop.params["jaxpr" if is_scan else "body_jaxpr"].jaxpr
    if not _has_product(body):
        return False
    n_same, n_carried = scan_counts(loop) if is_scan else (loop.params["body_nconsts"], len(body.outvars))
    inner = body.invars[n_same:]
    carried = list(zip(inner[:n_carried], body.outvars[:n_carried], strict=True))
    changing = {new for new, out in carried if new is not out} | set(inner[n_carried:])
    wanted = [out for out, var in zip(body.outvars, loop.outvars, strict=True) if var in used]
    while True:
        live = backward_slice(body, wanted)
        read = {var for i in live for var in variables(body.eqns[i].invars)} | set(variables(wanted))
        more = [out for new, out in carried if new in read and not any(out is other for other in wanted)]
        if not more:
            break
        wanted += more
    return any(_is_product(body.eqns[i]) for i in live & forward_slice(body, changing))


def _is_product(eqn: Eqn) -> bool:
    """Returns whether an equation is a product of two matrices, or calls what computes some."""
    if eqn.primitive.name != "dot_general":
        return (is_call(eqn) or eqn.primitive.name in CHECKPOINTS) and any(map(_has_product, sub_jaxprs(eqn)))
    contracted, batch = eqn.params["dimension_numbers"]
    sides = [math.prod(eqn.invars[0].aval.shape[i] for i in contracted[0])]
    for operand, *axes in zip(eqn.invars, contracted, batch, strict=True):
        taken = {*axes[0], *axes[1]}
        sides.append(math.prod(n for i, n in enumerate(operand.aval.shape) if i not in taken))
    return min(sides) >= MIN_SIDE


def _has_product(jaxpr: Jaxpr) -> bool:
    return any(map(_is_product, jaxpr.eqns))


def has_barriers(jaxpr: Jaxpr) -> bool:
    """Returns whether a barrier stands in a graph or in a body."""
    return any(eqn.primitive is optimization_barrier_p or _has_inside(eqn) for eqn in jaxpr.eqns)


def _has_inside(eqn: Eqn) -> bool:
    """Returns whether a barrier stands in the bodies of an equation."""
    return (eqn.primitive.name in CHECKPOINTS and _prevents_cse(eqn)) or any(map(has_barriers, sub_jaxprs(eqn)))


def without_misplaced_barriers(closed: ClosedJaxpr) -> Any:
    """Returns the graph with barriers only where they may stand; those of the user, and of `jax.checkpoint`, too.

    scan[{ a → b = sin a; h = optimization_barrier b }]     →       scan[{ a → b = sin a }]
    """
    return _without(closed, may_stand=True)


def _without(closed: ClosedJaxpr, may_stand: bool) -> Any:
    jaxpr = closed.jaxpr
    if not (any(map(_has_inside, jaxpr.eqns)) if may_stand else has_barriers(jaxpr)):
        return closed
    used = Needed(jaxpr)
    rewriter = Rewriter(closed)
    for eqn in rewriter.equations():
        if not may_stand and eqn.primitive is optimization_barrier_p:
            for var, atom in zip(eqn.outvars, rewriter.read(eqn.invars), strict=True):
                rewriter.replace(var, atom)
            continue
        inner = may_stand and may_hold_barriers(eqn, used)
        new = with_bodies(eqn, lambda body, inner=inner: _without(body, inner))
        if not may_stand and eqn.primitive.name in CHECKPOINTS and _prevents_cse(eqn):
            never = eqn.params["prevent_cse"]
            never = tuple(False for _ in never) if isinstance(never, tuple) else False
            new = new.replace(params={**new.params, "prevent_cse": never})
        rewriter.keep(new)
    return rewriter.graph()


def _prevents_cse(eqn: Eqn) -> bool:
    """Returns whether JAX puts barriers around the body of a `jax.checkpoint`."""
    asked = eqn.params.get("prevent_cse")
    return any(asked) if isinstance(asked, tuple) else bool(asked)
