"""Gating: what a backward recomputes waits until the backward needs it.

In a backward graph an equation is *late* if it depends on a cotangent, or on whatever else is known only then; the
others are *early*. They recompute values of the forward. Left alone, XLA undoes that: it merges them with the
equations of the forward, where both are in one program, or computes them all before the backward starts. Either way the
values live as long as if they had been saved.

So each group of early equations waits for a late value, see `ir/gate.py`. The backward of a loss follows its forward
at once: what it recomputes before its first heavy equation it needs now, and a barrier would only prevent fusions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from jaxaot._typing import ClosedJaxpr, Jaxpr
from jaxaot.ir.gate import SMALL_BYTES, gate_groups
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.schedule import SPAN
from jaxaot.ir.walk import aval_bytes, forward_slice


def gate(closed: ClosedJaxpr, n_early: int, small_bytes: int = SMALL_BYTES, saved: Sequence[int] = ()) -> Any:
    """Returns a backward graph in which every group of early equations waits for the cotangents, and saved values do.

                                          c, ct1 = optimization_barrier b ct
        d = sin b                  →      d = sin c
        e = mul ct d                      e = mul ct1 d

    Args:
      closed: The graph, a ClosedJaxpr.
      n_early: How many inputs come first that are known before the cotangents.
      small_bytes: Groups that make nothing larger are left as they are.
      saved: The positions of the inputs that the forward computes, if it is part of the same program.
    """
    known = closed.jaxpr.invars[n_early:]
    late = forward_slice(closed.jaxpr, known)
    is_of_a_loss = sum(aval_bytes(var.aval) for var in known) <= small_bytes
    start = _first_heavy(closed.jaxpr, late) if is_of_a_loss else 0
    computed = {closed.jaxpr.invars[i] for i in saved}
    return gate_groups(closed, late, known, small_bytes, start, saved=computed)


def _first_heavy(jaxpr: Jaxpr, late: Collection[int]) -> int:
    """Returns the position of the first late equation that is heavy, or that so many stand in front of."""
    first = sorted(late)[: SPAN + 1]
    return next((i for i in first if kind(jaxpr.eqns[i]) >= Kind.SORT), first[-1] if first else 0)
