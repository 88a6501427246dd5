"""Which inputs of a graph each output depends on.

A path through bools and integers counts: the gradient of `relu` depends on `x`, as it does for PyTorch, though its
derivative is zero. A value behind `stop_gradient`, and one whose shape alone is read, leads nowhere. An equation with
a body that stays (a loop, a branch, a rule of the user's) joins all its operands with all its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot._typing import ClosedJaxpr
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import variables


def reached_inputs(closed: ClosedJaxpr, by_floats: bool = False) -> list[frozenset[int]]:
    """Returns, for each output of a ClosedJaxpr, the positions of the inputs that it depends on.

    { a b → c = sin a; d = mul b 2; return c d }       →       [{0}, {1}]

    Args:
      closed: The graph.
      by_floats: Whether only paths through floats and complex numbers count: `x.sign()` leads on, `x > 0` does not.
    """
    jaxpr = inline(closed).jaxpr
    bits: dict[Any, int] = {var: 1 << i for i, var in enumerate(jaxpr.invars)}
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "stop_gradient":
            continue
        found = 0
        for var in variables(eqn.invars):
            found |= bits.get(var, 0)
        if found:
            made = [var for var in eqn.outvars if not by_floats or jnp.issubdtype(var.aval.dtype, jnp.inexact)]
            bits.update(dict.fromkeys(made, found))
    return [_positions(bits.get(atom, 0)) if set(variables([atom])) else frozenset() for atom in jaxpr.outvars]


def _positions(bits: int) -> frozenset[int]:
    return frozenset(i for i in range(bits.bit_length()) if bits >> i & 1)


Apart = tuple[frozenset[int], ...] | None
"""For each gradient the outputs that its input leads to, where not every input leads to every output; else None."""


def outputs_apart(reached: Sequence[frozenset[int]], inputs: Sequence[int]) -> Apart:
    """Returns, for each of some inputs, the outputs that it leads to; None if each leads to all of them.

    Args:
      reached: For each output, the inputs that it depends on.
      inputs: Positions of the inputs that have gradients.
    """
    found = tuple(frozenset(i for i, sources in enumerate(reached) if place in sources) for place in inputs)
    return None if all(len(outputs) == len(reached) for outputs in found) else found


def without_unreached(gradients: Sequence[Any], cotangents: Sequence[Any], apart: Apart) -> Sequence[Any]:
    """Returns gradients with None for those of inputs that no output with a cotangent depends on."""
    if apart is None:
        return gradients
    present = {i for i, cotangent in enumerate(cotangents) if cotangent is not None}
    return [None if present.isdisjoint(outputs) else g for g, outputs in zip(gradients, apart, strict=True)]
