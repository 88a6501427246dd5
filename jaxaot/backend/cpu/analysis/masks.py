"""Masks: equations that choose or join by truth values that do not depend on the inputs of a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from jax import lax

from jaxaot._jax import DropVar, Literal, ShapedArray, is_tracer
from jaxaot._typing import Atom, ClosedJaxpr
from jaxaot.backend.cpu.analysis.fields import Graph
from jaxaot.ir.constants import MAX_ELEMENTS, constant

MAX_POSITIONS = 1 << 16
"""The most elements of a constant of integers that is looked at: larger ones are data."""


class Seed(NamedTuple):
    """An equation that masks.

    Attributes:
      result: Its result.
      axes: Two axes of the result, along which the mask differs.
      mask: The mask, with these axes first.
      discards: What the mask is where it may discard: where a `select_n` chooses what is repeated along an axis.
    """

    result: Any
    axes: tuple[int, int]
    mask: Any
    discards: tuple[bool, ...]


def small_constants(closed: ClosedJaxpr) -> Iterator[tuple[Any, Any]]:
    """Yields the constants of a ClosedJaxpr that may be masks, or positions that masks compare, and their values."""
    for var, value in zip(closed.jaxpr.constvars, closed.consts, strict=True):
        if not isinstance(var.aval, ShapedArray):
            continue
        most = {"b": MAX_ELEMENTS, "i": MAX_POSITIONS, "u": MAX_POSITIONS}.get(getattr(var.aval.dtype, "kind", ""), 0)
        if var.aval.size <= most and not is_tracer(value):
            yield var, np.asarray(value)


def seeds(graph: Graph, least_size: int) -> Iterator[Seed]:
    """Yields the equations that mask by what does not depend on inputs.

    Args:
      graph: The graph.
      least_size: How long the two axes are at least along which a mask differs.
    """
    for eqn in graph.jaxpr.eqns:
        name = eqn.primitive.name
        if name not in ("select_n", "and", "or") or len(eqn.invars) > 3:
            continue
        (result,) = eqn.outvars
        if isinstance(result, DropVar) or sum(size >= least_size for size in result.aval.shape) < 2:
            continue
        for atom in eqn.invars[: 1 if name == "select_n" else 2]:
            found = _mask(atom, graph, least_size)
            if found is None or graph.mask(result) is not None:
                continue
            discards = {"and": (False,), "or": (True,)}.get(name)
            if discards is None:
                cases = [getattr(graph.makers.get(case), "primitive", None) for case in eqn.invars[1:]]
                discards = tuple(i > 0 for i, case in enumerate(cases) if case is lax.broadcast_in_dim_p)
            yield Seed(result, found[1], found[0], discards or (False, True))


def _mask(atom: Atom, graph: Graph, least_size: int) -> tuple[Any, tuple[int, int]] | None:
    """Returns truth values that are known, two axes of them first, and these axes of the atom."""
    if isinstance(atom, Literal) or atom.aval.dtype != bool:
        return None
    axes: list[int] = list(range(atom.aval.ndim))
    while (eqn := graph.makers.get(atom)) and eqn.primitive is lax.broadcast_in_dim_p and not eqn.invars[1:]:
        axes = [axes[axis] for axis in eqn.params["broadcast_dimensions"]]
        atom = eqn.invars[0]
        if isinstance(atom, Literal):
            return None
    long = [axis for axis, size in enumerate(atom.aval.shape) if size >= least_size]
    if len(long) < 2 or atom.aval.size > MAX_ELEMENTS:
        return None
    value = constant(atom, graph.makers, graph.known)
    if value is None:
        return None
    return np.moveaxis(value, long[-2:], (0, 1)), (axes[long[-2]], axes[long[-1]])
