"""What a kernel of a TPU computes of a product or a convolution before it writes it.

A result that is read by one pointwise equation is read there and never written. Comparisons, such as the mask of a
rectifier, are made there as well where one side of an image has 32 elements: their bits are words of 32, and the result
is not kept for the time when the mask is read. Other comparisons are made by what reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from jaxaot._typing import Eqn, Jaxpr
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.walk import variables

BITS = 8
"""How many comparisons take a byte that are bits of a word."""
_WORD = 32


def packed_masks(jaxpr: Jaxpr) -> Mapping[Any, Any]:
    """Returns the comparisons whose bits are made with a product or convolution, each with the variable of that."""
    made = _made(jaxpr)
    found: dict[Any, Any] = {}
    for eqn in jaxpr.eqns:
        if _is_pointwise(eqn) and _is_mask(eqn) and _WORD in eqn.outvars[0].aval.shape[1:-1]:
            found.update((eqn.outvars[0], var) for var in variables(eqn.invars) if var in made)
    return found


def unwritten(jaxpr: Jaxpr, is_written: Callable[[Any], bool]) -> set[Any]:
    """Returns the products and convolutions that are never written, as what reads them is computed with them.

    Args:
      jaxpr: The graph.
      is_written: Whether a variable takes memory of its own, and is not computed inside of what reads it.
    """
    readers: dict[Any, list[Eqn]] = {}
    for eqn in jaxpr.eqns:
        for var in set(variables(eqn.invars)):
            readers.setdefault(var, []).append(eqn)
    outputs = set(variables(jaxpr.outvars))

    def is_unwritten(var: Any) -> bool:
        reading = readers.get(var, ())
        is_alone = sum(not _is_mask(eqn) for eqn in reading) <= 1
        return is_alone and all(_is_pointwise(eqn) and all(map(is_written, eqn.outvars)) for eqn in reading)

    return {var for var in _made(jaxpr) if var in readers and var not in outputs and is_unwritten(var)}


def _made(jaxpr: Jaxpr) -> set[Any]:
    return {var for eqn in jaxpr.eqns if kind(eqn) in (Kind.MATMUL, Kind.CONVOLUTION) for var in eqn.outvars}


def _is_pointwise(eqn: Eqn) -> bool:
    return Kind.VIEW < kind(eqn) <= Kind.TRANSCENDENTAL


def _is_mask(eqn: Eqn) -> bool:
    return all(getattr(var.aval, "dtype", None) == np.bool_ for var in eqn.outvars)
