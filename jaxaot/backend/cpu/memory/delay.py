"""Delaying: what an executable could compute at once waits until it is needed.

XLA on CPU runs what is ready, so what needs nothing but inputs is computed first, all of it: in the backward of a
network what its layers make of residuals, of all layers before the first gradient. Until it is read it takes memory,
and caches forget it. So it waits, see `ir/gate.py`, for something that is computed shortly before its first reader.
"""

from __future__ import annotations

from typing import Any

from jaxaot.backend.cpu.analysis.kernels import kernels
from jaxaot.backend.cpu.memory.temporaries import breadth_first, waiting
from jaxaot.ir.gate import gate_groups
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewrite import rebuild
from jaxaot.ir.schedule import before_first_readers
from jaxaot.ir.walk import variables


def delay(closed: Any) -> Any:
    """Returns the graph in which what is cheap, large, made of inputs alone and read much later waits.

        c = sin a                         d = dot b b
        d = dot b b               →       a1, d1 = optimization_barrier a d
        e = mul c d                       c = sin a1
                                          e = mul c d1

    What it waits for is in memory anyway, so that the barrier prevents no fusion: the result of a matrix product, of a
    convolution, or of another barrier.

    Args:
      closed: The ClosedJaxpr.
    """
    eqns = closed.jaxpr.eqns
    kernel = kernels(eqns, set(variables(closed.jaxpr.outvars)))
    until = waiting(eqns, kernel, breadth_first(eqns, kernel))
    if not until:
        return closed
    is_early = {id(eqn) for eqn, k in zip(eqns, kernel, strict=True) if k in until}
    read_early: set[Any] = set()
    moved: list[Any] = []
    for i, eqn in enumerate(eqns):  # what a later kernel makes of what waits comes with that kernel
        if id(eqn) in is_early or (kernel[i] != i and not read_early.isdisjoint(variables(eqn.invars))):
            moved.append(eqn)
            read_early.update(eqn.outvars)
    is_moved = set(map(id, moved))
    ordered = before_first_readers(moved, [eqn for eqn in eqns if id(eqn) not in is_moved])
    late = {i for i, eqn in enumerate(ordered) if id(eqn) not in is_early}
    graph = rebuild(closed, ordered, closed.jaxpr.outvars)
    return gate_groups(graph, late, (), small_bytes=0, can_be_waited_for=_is_in_memory)


def _is_in_memory(eqn: Any) -> bool:
    return kind(eqn) in (Kind.MATMUL, Kind.CONVOLUTION) or eqn.primitive.name == "optimization_barrier"
