"""Kernels: which equations XLA on CPU computes together.

What is element by element is computed in the *kernel* that reads it, and is in no memory; what several kernels read is
one of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.walk import users


def kernels(eqns: Sequence[Any], returned: Collection[Any]) -> list[int]:
    """Returns for each equation the position of the one in whose kernel it is computed: that of all its readers.

    Args:
      eqns: The equations.
      returned: The variables that leave them.
    """
    readers = users(eqns)
    can_read = [is_fused(eqn) or kind(eqn) is Kind.REDUCTION for eqn in eqns]
    kernel = list(range(len(eqns)))
    for i in reversed(range(len(eqns))):
        eqn = eqns[i]
        var = eqn.outvars[0] if len(eqn.outvars) == 1 else None
        if var in readers and var not in returned and is_fused(eqn) and all(can_read[at] for at in readers[var]):
            first, *others = {kernel[at] for at in readers[var]}
            if not others:
                kernel[i] = first
    return kernel


def is_fused(eqn: Any) -> bool:
    """Returns whether an equation is element by element."""
    return kind(eqn) <= Kind.TRANSCENDENTAL and eqn.primitive.name != "optimization_barrier"
