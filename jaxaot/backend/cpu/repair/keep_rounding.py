"""Keeping roundings: a product that is added is rounded first, as by itself.

Code for CPUs computes `a * b + c` in one instruction that rounds once. Then `a * x + b * x` is no zero where both
products are the same number, and what is left of a compensated sum is noise. What is selected behind a product, the
product itself unless it is no number, is in the way of that instruction, and costs little: no compiler may drop it, as
which of the numbers that are none it is would change. Unlike a barrier it may stand in the body of a loop.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._jax import DropVar
from jaxaot._typing import Array, ClosedJaxpr, Eqn
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import is_rewritable

_MULTIPLYING = "mul div square integer_pow sqrt rsqrt cumprod reduce_prod dot_general conv_general_dilated"
_PRODUCTS = frozenset(_MULTIPLYING.split())


def keep_rounding(closed: ClosedJaxpr) -> Any:
    """Returns the graph with a selection behind each product of floats, and each function that may end in one.

    c = mul a b            c = mul a b
    d = add c e     →      n = eq c c
                           k = select_n n nan c
                           d = add k e
    """
    rewriter = Rewriter(closed)
    for eqn in rewriter.equations():
        rewriter.keep(eqn)
        for var in eqn.outvars if _may_end_in_a_product(eqn) else ():
            if not isinstance(var, DropVar) and var.aval.dtype in (np.float32, np.float64):
                rewriter.replace(var, rewriter.call(_kept, var))
    return rewriter.graph()


def _may_end_in_a_product(eqn: Eqn) -> bool:
    return (eqn.primitive.name in _PRODUCTS or kind(eqn) is Kind.TRANSCENDENTAL) and is_rewritable(eqn)


def _kept(x: Array) -> list[Any]:
    return [lax.select(lax.eq(x, x), x, jnp.full_like(x, jnp.nan))]
