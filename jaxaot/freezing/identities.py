"""Equations that give their operand back: packed, each would be a copy of a weight."""

from __future__ import annotations

from typing import Any

from jax.lax import transpose_p

from jaxaot._jax import Literal
from jaxaot._typing import ClosedJaxpr, Eqn
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import Makers
from jaxaot.passes.dce import dce

_ALWAYS = {"stop_gradient", "copy", "copy_p"}
_IF_OF_ONE_TYPE = {"convert_element_type", "reshape", "broadcast_in_dim", "squeeze", "expand_dims", "transpose"}


def drop_identities(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph without equations that give their operand back, transposes of transposes among them.

    b = stop_gradient a                        d = dot_general x a
    c = transpose[permutation=(0,1)] b    →
    d = dot_general x c
    """
    rewriter = Rewriter(closed)
    makers = Makers(closed.jaxpr)
    for eqn in rewriter.equations():
        if _is_identity(eqn):
            rewriter.replace(eqn.outvars[0], rewriter.read(eqn.invars)[0])
            continue
        inner = makers.of(eqn.invars[0], transpose_p) if eqn.primitive is transpose_p else None
        if inner is not None:
            order = [inner.params["permutation"][axis] for axis in eqn.params["permutation"]]
            if order == sorted(order):
                rewriter.replace(eqn.outvars[0], rewriter.read(inner.invars)[0])
                continue
        rewriter.keep(eqn)
    return dce(rewriter.graph()) if rewriter.has_replaced else closed


def _is_identity(eqn: Eqn) -> bool:
    name = eqn.primitive.name
    if name in _ALWAYS:
        return not isinstance(eqn.invars[0], Literal)
    if name not in _IF_OF_ONE_TYPE or len(eqn.invars) != 1 or isinstance(eqn.invars[0], Literal):
        return False
    before: Any = eqn.invars[0].aval
    after: Any = eqn.outvars[0].aval
    if before != after:
        return False
    if name == "transpose":
        return list(eqn.params["permutation"]) == sorted(eqn.params["permutation"])
    return name != "reshape" or eqn.params["dimensions"] is None
