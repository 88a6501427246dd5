"""Late scheduling: computations that depend only on inputs are held back until shortly before their first use.

XLA on CPU runs whatever is ready, so everything that needs nothing but inputs is computed first. In the backward of a
network these are the recomputations from residuals, of all layers, before the first gradient. Until they are read they
take memory, and caches forget them. So a barrier makes them wait, see `ir/gate.py`, for a value that is computed
shortly before their first reader.
"""

from __future__ import annotations

from typing import Any

from jaxaot._typing import ClosedJaxpr, Eqn
from jaxaot.backend.cpu.analysis.kernels import kernels
from jaxaot.backend.cpu.memory.temporaries import breadth_first, waiting
from jaxaot.ir.gate import gate_groups
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewrite import rebuild
from jaxaot.ir.schedule import before_first_readers
from jaxaot.ir.walk import variables


def delay(closed: ClosedJaxpr) -> ClosedJaxpr:
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


def _is_in_memory(eqn: Eqn) -> bool:
    return kind(eqn) in (Kind.MATMUL, Kind.CONVOLUTION) or eqn.primitive.name == "optimization_barrier"
