"""Attention in blocks of batches, heads and queries: the weights of all queries never exist.

What it looks for are two products with an exponential between them: the first makes a value with far more elements than
it reads, which the second takes up again. Both may be cut along queries; where the graph has the backward too, that is
a loop of its own, in which a block's weights are computed again from the maximum and the sum of each row (Rabe and
Staats, "Self-attention Does Not Need O(n²) Memory", 2021).
"""

from __future__ import annotations

import math

from jax import lax

from jaxaot._jax import ShapedArray, jaxpr_as_fun
from jaxaot._typing import ClosedJaxpr, Eqn, Var
from jaxaot.ir.blocks import Region, Regions
from jaxaot.ir.phases import Phase, large_products, phases, replaced
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.tiles import in_tiles
from jaxaot.ir.walk import aval_bytes
from jaxaot.passes.dce import dce
from jaxaot.passes.declared import Rewrite

MIN_SAVED = 8 << 20
"""The least bytes that a loop is to save."""

MIN_SCORES = 1 << 22
"""The least scores of one head: of 1,024 positions, kernels of loops took longer to compile than a call saved."""

BLOCK_BYTES = 2 << 20
"""The bytes of the weights of a block: what stays in a core's cache."""

_MAX_SEEDS = 64
"""How many products are looked at."""


ROWS = 256
"""The rows of a block of which only some columns are visited, see `ir/tiles.py`."""


def attention_blocks(closed: ClosedJaxpr, simpler: Rewrite = lambda closed: closed) -> ClosedJaxpr:
    """Returns the graph with attention in blocks, forward and backward, where that saves memory.

    s: f32[8,2048,2048] = dot_general q k          y, m, l = scan over 8 heads: scan over 8 blocks of rows:
    m = reduce_max s;  p = exp (s - m)       →         s: f32[1,256,2048] = dot_general q[h,i] k[h]
    l = reduce_sum p;  y = dot_general p v             …;  y[h,i] = dot_general p v[h]

    Args:
      closed: The graph.
      simpler: Writes a graph that has attention so that fewer loops do.
    """
    if not any(map(_makes_scores, closed.jaxpr.eqns)):
        return closed
    simple = simpler(closed)
    made = _in_blocks(simple)
    return closed if made is simple else dce(made)


def _in_blocks(closed: ClosedJaxpr) -> ClosedJaxpr:
    seeds = [eqn.outvars[0] for eqn in closed.jaxpr.eqns if _makes_scores(eqn)][:_MAX_SEEDS]
    for seed in seeds:
        if not any(seed in eqn.outvars for eqn in closed.jaxpr.eqns):  # which went into a loop
            continue
        regions = Regions(closed)
        sizes = seed.aval.shape
        for axis in sorted(range(len(sizes)), key=lambda axis: -sizes[axis]):
            written = _written(regions, seed, axis)
            if written is not None:
                closed = written
                break
    return closed


def _makes_scores(eqn: Eqn) -> bool:
    """Returns whether a product may be of queries and keys: it sums over far fewer elements than each side has."""
    if eqn.primitive is not lax.dot_general_p or not isinstance(eqn.outvars[0].aval, ShapedArray):
        return False
    if aval_bytes(eqn.outvars[0].aval) < MIN_SAVED:
        return False
    shape, n_heads = eqn.outvars[0].aval.shape, len(eqn.params["dimension_numbers"][1][0])
    if math.prod(shape[n_heads:]) < MIN_SCORES:
        return False
    return 4 * max(atom.aval.size for atom in eqn.invars) <= eqn.outvars[0].aval.size


def _written(regions: Regions, seed: Var, axis: int) -> ClosedJaxpr | None:
    """Returns the graph with what is around scores in blocks of an axis; None if that is no attention."""
    found = phases(regions, seed, axis)
    if not found or not any(_is_attention(regions, phase, seed.aval.size) for phase in found):
        return None
    parts = []
    for phase in found:
        graph = in_loops(phase.graph(regions), axis, seed.aval.size)
        if graph is None:
            return None
        parts.append((phase, graph))
    return replaced(regions, parts)


def _is_attention(regions: Regions, phase: Phase, size: int) -> bool:
    made, read = large_products(regions, phase, size)
    eqns = [regions.eqns[i] for i in phase.computed]
    return bool(made and read) and any(e.primitive is lax.exp_p and e.outvars[0].aval.size == size for e in eqns)


def in_loops(graph: ClosedJaxpr, row: int, size: int, is_inside: bool = False) -> ClosedJaxpr | None:
    """Returns a graph whose large values are cut along all axes that they can be, one loop in another.

    Args:
      graph: The graph.
      row: The axis of the first large product that is cut last.
      size: The elements of a large value.
      is_inside: Whether it is that of a block already, which may stay as it is.
    """
    seed = next((e.outvars[0] for e in graph.jaxpr.eqns if _is_scores(e, size)), None)
    if seed is None:
        return None
    n_bytes, shape = aval_bytes(seed.aval), seed.aval.shape
    if n_bytes <= BLOCK_BYTES:
        return graph if is_inside else None
    regions = Regions(graph)
    column = max((axis for axis in range(len(shape)) if axis != row), key=lambda axis: shape[axis])
    for axis in (*(axis for axis in range(len(shape)) if axis not in (row, column)), row, column):
        region = regions.around(seed, axis) if shape[axis] > 1 else None
        if region is None:
            continue
        if axis == row and (tiled := _tiled(region, seed, row, column)) is not None:
            return tiled
        wanted = max(1, region.n_units * BLOCK_BYTES // n_bytes)
        n_blocks = math.ceil(region.n_units / wanted)
        n_units = math.ceil(region.n_units / n_blocks)

        of_block = size * n_units // region.n_units
        inside = lambda block, size=of_block: jaxpr_as_fun(in_loops(block, row, size, True) or block)
        written = region.written(n_units, inside)
        if written is not None and all(2 * v.aval.size <= size for e in written.jaxpr.eqns for v in e.outvars):
            return written
    return graph if is_inside else None


def _tiled(region: Region, seed: Var, row: int, column: int) -> ClosedJaxpr | None:
    """Returns the graph with a region in blocks of rows that do not visit what a mask discards; None if it is all."""
    shape = seed.aval.shape
    rows = shape[row] // region.n_units
    n_units = next((n for n in range(max(1, ROWS // rows), 0, -1) if region.n_units % n == 0), 0)
    if 4 * n_units * rows < min(ROWS, shape[row]) or shape[row] * shape[column] != seed.aval.size:
        return None
    block = dce(_turned(region.block(n_units)))
    scores = next(e.outvars[0] for e in block.jaxpr.eqns if _is_scores(e, seed.aval.size * n_units // region.n_units))
    combines = [region.combine_of(var) for var in region.leaving]
    starts, cuts = range(0, region.n_units, n_units), [axis for _, axis in region.entering]
    run = in_tiles(block, scores, column, starts, cuts, combines)
    return None if run is None else region.written(n_units, lambda _: run)


def _turned(block: ClosedJaxpr) -> ClosedJaxpr:
    """Returns a graph of which no product contracts but the last axis of a small left operand: that would be slower."""
    rewriter = Rewriter(block)
    for eqn in rewriter.equations():
        if eqn.primitive is not lax.dot_general_p:
            rewriter.keep(eqn)
            continue
        ((contracted, others), batch), left = eqn.params["dimension_numbers"], eqn.invars[0]
        last = left.aval.ndim - 1
        if len(contracted) != 1 or contracted[0] == last or 2 * left.aval.size > eqn.invars[1].aval.size:
            rewriter.keep(eqn)
            continue
        order = [*(axis for axis in range(last + 1) if axis != contracted[0]), contracted[0]]
        turned = rewriter.call(lax.transpose, left, permutation=tuple(order))
        moved = tuple(order.index(axis) for axis in batch[0])
        numbers = ((last,), tuple(others)), (moved, tuple(batch[1]))
        rewriter.like(eqn, [turned, eqn.invars[1]], eqn.outvars[0], {**eqn.params, "dimension_numbers": numbers})
    return rewriter.graph()


def _is_scores(eqn: Eqn, size: int) -> bool:
    return eqn.primitive is lax.dot_general_p and 2 * eqn.outvars[0].aval.size > size
