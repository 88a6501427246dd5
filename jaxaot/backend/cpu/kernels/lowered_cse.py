"""Sharing: in a graph that nothing will differentiate any more, equal expressions are one."""

from __future__ import annotations

from jaxaot._typing import ClosedJaxpr
from jaxaot.ir.rewriter import Rewriter
from jaxaot.passes.cse import cse
from jaxaot.passes.dce import dce

_IDENTITIES = {"stop_gradient", "name", "mark", "copy_p"}
"""Primitives that say something to derivatives or partitions, and compute nothing."""


def lowered_cse(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph without the equations that only matter before differentiation, and each expression once.

        b = stop_gradient a               c = sin a
        c = sin a                 →       return c, c
        d = sin b
        return c, d

    Derivatives of single operations, as a tape has them, compute again what the operation computed; what they read
    of it is behind `stop_gradient`.
    """
    rewriter = Rewriter(closed)
    returned = set(map(id, closed.jaxpr.outvars))
    for eqn in rewriter.equations():
        if eqn.primitive.name in _IDENTITIES and id(eqn.outvars[0]) not in returned:
            rewriter.replace(eqn.outvars[0], eqn.invars[0])
        else:
            rewriter.keep(eqn)
    return dce(cse(rewriter.graph()))
