"""Holding extremes: a value and its maximum are compared as one computation made them.

The gradient of a maximum goes to the elements that equal it. XLA on CPU computes a value once for each fusion that
reads it, and rounds it in each as the code around it happens to be contracted (`a * b + c` rounds once or twice). If
the maximum is taken in one fusion and compared in another, no element may equal it, and the gradient is lost.

A barrier behind the value has it computed once. Where none may stand, in loops and in other people's programs, nothing
is changed.
"""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp

from jaxaot._jax import Literal
from jaxaot._typing import ClosedJaxpr, Eqn, Jaxpr
from jaxaot.backend.cpu.repair.barriers import Needed, may_hold_barriers
from jaxaot.backend.cpu.repair.separate_writes import WITH_BODIES
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewrite import is_call, with_bodies
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import Makers, sub_jaxprs

_COMPARED = {"eq", "ne", "ge", "le", "gt", "lt"}
_EXTREMES = {"reduce_max", "reduce_min"}
_SHAPED = {"broadcast_in_dim", "reshape", "squeeze", "expand_dims", "transpose", "convert_element_type", "copy"}
"""What lies between an extreme and the value that it is compared with."""


def hold_extremes(closed: ClosedJaxpr, keeps_barriers: bool = True) -> ClosedJaxpr:
    """Returns the graph in which a value that is compared with its own maximum or minimum is computed once.

        b = mul a r                     b = mul a r
        c = reduce_max b        →       h = optimization_barrier b
        d = eq b c                      c = reduce_max h
                                        d = eq h c

    Args:
      closed: The graph, its calls inlined.
      keeps_barriers: Whether XLA is told to keep barriers. If not, nothing is changed.
    """
    jaxpr = closed.jaxpr
    if not keeps_barriers or not _has_comparisons(jaxpr):
        return closed
    held, used = _compared_with_extremes(jaxpr), Needed(jaxpr)
    rewriter = Rewriter(closed)
    for eqn in rewriter.equations():
        if eqn.primitive.name in WITH_BODIES or is_call(eqn):
            keeps_inside = may_hold_barriers(eqn, used)
            eqn = with_bodies(eqn, functools.partial(hold_extremes, keeps_barriers=keeps_inside))
        rewriter.keep(eqn)
        for var in eqn.outvars:
            if var in held:
                rewriter.hold(var)
    return rewriter.graph()


def _has_comparisons(jaxpr: Jaxpr) -> bool:
    """Returns whether extremes are taken and compared in a graph or in its loops, branches and calls."""
    names = {eqn.primitive.name for eqn in jaxpr.eqns}
    if names & _COMPARED and names & _EXTREMES:
        return True
    inner = (eqn for eqn in jaxpr.eqns if eqn.primitive.name in WITH_BODIES or is_call(eqn))
    return any(any(map(_has_comparisons, sub_jaxprs(eqn))) for eqn in inner)


def _compared_with_extremes(jaxpr: Jaxpr) -> set[Any]:
    """Returns the values that fusions may compute anew and that are compared with an extreme of theirs."""
    makers = Makers(jaxpr)
    found = set()
    for eqn in jaxpr.eqns:
        if eqn.primitive.name not in _COMPARED or not jnp.issubdtype(eqn.invars[0].aval.dtype, jnp.inexact):
            continue
        sources = [makers.behind(atom, _SHAPED) for atom in eqn.invars]
        if any(isinstance(source, Literal) for source in sources):
            continue
        for value, extreme in (sources, sources[::-1]):
            made = makers.get(extreme)
            if made is None or made.primitive.name not in _EXTREMES:
                continue
            if makers.behind(made.invars[0], _SHAPED) is not value:
                continue
            by = makers.get(value)
            if by is not None and _is_fused(by):
                found.add(value)
    return found


def _is_fused(eqn: Eqn) -> bool:
    """Returns whether XLA may compute an equation once for each reader: neither products nor barriers."""
    return kind(eqn) <= Kind.GATHER and eqn.primitive.name != "optimization_barrier"
