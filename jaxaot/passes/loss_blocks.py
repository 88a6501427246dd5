"""Losses over many classes in blocks of rows, forward and backward in one loop: the logits of all rows never exist.

The regions that it looks for are around products with weights that all rows read, whose results go into an exponential:
the logits of a classifier. Where the graph has the gradients too, they are computed in the same block, so nothing is
kept between forward and backward (Wijmans et al., "Cut Your Losses in Large-Vocabulary Language Models", 2024).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from jax import lax

from jaxaot._jax import ShapedArray
from jaxaot._typing import ClosedJaxpr
from jaxaot.ir.blocks import Region, Regions
from jaxaot.ir.counted_rows import with_batches
from jaxaot.ir.roofline import eqn_picoseconds, target_now
from jaxaot.ir.walk import aval_bytes, variables
from jaxaot.passes.dce import dce

MIN_SAVED = 8 << 20
"""The least bytes that a loop is to save."""

MAX_EXTRA = 0.05
"""What may be added to the time of the products of a region: blocks read the weights, and add to gradients, each."""

_ENOUGH = 8 << 20
"""The bytes of large values in a block below which smaller blocks save little."""

_MAX_SEEDS = 4
"""How many of the largest products are looked at."""


class _Plan(NamedTuple):
    """What is gained by a loop.

    Attributes:
      region: What it computes.
      n_units: How many units a block has.
      saved: An estimate of the bytes that it saves.
    """

    region: Region
    n_units: int
    saved: int


def loss_blocks(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with losses over many classes in blocks, where that saves memory for little time.

    z: f32[2048,32000] = dot_general x w           l, dx, dw = scan over 8 blocks of rows:
    l = … logsumexp z …                                z: f32[256,32000] = dot_general x[i] w
    p: f32[2048,32000] = … exp z …           →         p = … exp z …
    dw = dot_general x p                               dw = dw + dot_general x[i] p
    dx = dot_general p w                               dx[i] = dot_general p w
    """
    found = closed
    while (plan := _best(found)) is not None:
        written = plan.region.written(plan.n_units)
        if written is None:
            break
        found = written
    return closed if found is closed else dce(found)


def _best(closed: ClosedJaxpr) -> _Plan | None:
    """Returns the loop that saves most, or None if none saves enough."""
    if not any(map(_is_large_product, closed.jaxpr.eqns)):
        return None
    regions = Regions(with_batches(closed))
    seeds = [eqn for eqn in regions.eqns if _is_large_product(eqn)]
    seeds.sort(key=lambda eqn: -aval_bytes(eqn.outvars[0].aval))
    plans = []
    for eqn in seeds[:_MAX_SEEDS]:
        (var,) = eqn.outvars
        regions_of_it = (regions.around(var, axis) for axis in range(var.aval.ndim))
        plans += [plan for region in regions_of_it if region is not None and (plan := _plan(region, var)) is not None]
    return max(plans, key=lambda plan: plan.saved, default=None)


def _is_large_product(eqn: Any) -> bool:
    if eqn.primitive is not lax.dot_general_p or not isinstance(eqn.outvars[0].aval, ShapedArray):
        return False
    _, (batch, _) = eqn.params["dimension_numbers"]
    return not batch and aval_bytes(eqn.outvars[0].aval) >= MIN_SAVED


def _plan(region: Region, seed: Any) -> _Plan | None:
    """Returns how a region is computed; None if it is none of logits, or gains too little.

    Args:
      region: The region.
      seed: The value it was found around.
    """
    eqns = [region.graph.eqns[i] for i in region.splits]
    goes_into_exp = any(eqn.primitive is lax.exp_p and eqn.outvars[0].aval.size == seed.aval.size for eqn in eqns)
    products = [
        (eqn, region.splits[i])
        for i, eqn in zip(region.splits, eqns, strict=True)
        if eqn.primitive is lax.dot_general_p
    ]
    if not goes_into_exp or not any(None in split.operands for _, split in products):
        return None
    target, leaving = target_now(), set(region.leaving)
    touched = {var for eqn, _ in products for var in variables((*eqn.invars, *eqn.outvars))}
    large = [var for var in touched if region.axes.get(var) is not None and var not in leaving]
    n_bytes = sum(aval_bytes(var.aval) for var in large)
    whole, added = 0, 0  # bytes that each block reads, and adds to
    for eqn, split in products:
        read = zip(eqn.invars, split.operands, strict=True)
        whole += sum(aval_bytes(atom.aval) for atom, axis in read if axis is None)
        added += 4 * eqn.outvars[0].aval.size if split.result is None else 0
    allowed = MAX_EXTRA * sum(eqn_picoseconds(eqn, target) for eqn, _ in products) * target.bandwidth / 1e12
    most = min(int((allowed + whole) // max(1, whole + 2 * added)), region.n_units, n_bytes // _ENOUGH)
    if most < 2:
        return None
    n_blocks = next((n for n in range(most, most // 2, -1) if region.n_units % n == 0), most)
    n_units = -(-region.n_units // n_blocks)
    saved = n_bytes - n_bytes * n_units // region.n_units - added
    return _Plan(region, n_units, saved) if saved >= MIN_SAVED else None
