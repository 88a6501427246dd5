"""Pinning writes: a partial write of an input that is returned is computed once, in the input's own buffer.

XLA copies a cheap producer into each fusion that reads it. For a write of a few elements into a big buffer that means:
whoever reads the buffer afterwards computes the write again from the buffer as it was before, which must therefore be
kept, and so the whole buffer is copied first. A barrier after the write holds it in one place.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from jaxaot._jax import Literal
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import variables

_WRITES = {"dynamic_update_slice", "scatter", "scatter-add", "scatter_add", "scatter-mul", "scatter_mul"}
_WRITES |= {f"scatter{separator}{kind}" for separator in "-_" for kind in ("min", "max", "sub")}


def pin_writes(closed: Any) -> Any:
    """Returns the graph with a barrier after each partial write of an input that leads to an output and is read.

    b = dynamic_update_slice a c 5          b = dynamic_update_slice a c 5
    d = slice b                     →       e = optimization_barrier b
    return b, d                             d = slice e
                                            return e, d
    """
    jaxpr = closed.jaxpr
    root: dict[Any, Any] = {}  # a value that only reshapes another → that one
    readers: Counter[Any] = Counter()
    writes: list[tuple[Any, Any]] = []  # the buffer before, and after
    for eqn in jaxpr.eqns:
        operands = [root.get(var, var) for var in variables(eqn.invars)]
        if eqn.primitive.name == "reshape" and operands:
            root[eqn.outvars[0]] = operands[0]
            continue
        readers.update(operands)
        if eqn.primitive.name in _WRITES and not isinstance(eqn.invars[0], Literal):
            writes.append((root.get(eqn.invars[0], eqn.invars[0]), eqn.outvars[0]))
    returned = [root.get(var, var) for var in variables(jaxpr.outvars)]
    readers.update(returned)
    ours = set(jaxpr.invars)  # inputs, and what writes make of them
    for before, after in writes:
        if before in ours:
            ours.add(after)
    kept = set(returned)  # what is returned, and what writes make that of
    for before, after in reversed(writes):
        if after in kept:
            kept.add(before)
    pinned = {after for _, after in writes if after in ours and after in kept and readers[after] > 1}
    rewriter = Rewriter(closed)
    for eqn in rewriter.equations():
        rewriter.keep(eqn)
        if not pinned.isdisjoint(eqn.outvars[:1]):
            rewriter.hold(eqn.outvars[0])
    return rewriter.graph()
