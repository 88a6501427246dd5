"""The passes for XLA:CPU, in the order in which they run; README.md says of each what it is for.

Nothing here is about right values: what `repaired` in `tune.py` does comes last, and no setting leaves it out.
"""

from __future__ import annotations

from typing import Any

from jaxaot.backend.cpu.attention.divide_late import divide_late
from jaxaot.backend.cpu.attention.skip_masked import skip_masked
from jaxaot.backend.cpu.convolutions.multiply_convolutions import multiply_convolutions
from jaxaot.backend.cpu.convolutions.pad_images import pad_images
from jaxaot.backend.cpu.convolutions.split_groups import split_groups
from jaxaot.backend.cpu.convolutions.sum_depthwise import sum_depthwise
from jaxaot.backend.cpu.convolutions.unfold_volumes import unfold_volumes
from jaxaot.backend.cpu.kernels.drop_axes import drop_axes
from jaxaot.backend.cpu.kernels.hide_constants import hide_constants
from jaxaot.backend.cpu.kernels.hold import hold
from jaxaot.backend.cpu.kernels.lowered_cse import lowered_cse
from jaxaot.backend.cpu.kernels.open_loops import open_loops
from jaxaot.backend.cpu.kernels.reduce_angles import reduce_angles
from jaxaot.backend.cpu.kernels.select_scatters import select_scatters
from jaxaot.backend.cpu.kernels.sort_integers import sort_integers
from jaxaot.backend.cpu.kernels.unroll_threefry import unroll_threefry
from jaxaot.backend.cpu.kernels.unroll_windows import unroll_windows
from jaxaot.backend.cpu.products.flatten_dots import flatten_dots
from jaxaot.backend.cpu.products.fold_transposes import fold_transposes
from jaxaot.backend.cpu.products.order_operands import order_operands
from jaxaot.backend.cpu.products.spread import spread
from jaxaot.passes.declared import On, Pass
from jaxaot.passes.drop_zero_sums import drop_zero_sums
from jaxaot.passes.pipeline import declare

SHARDS = "shards"
"""Switches on that a graph may become shards of a batch, each of which one core computes by itself."""

EIGEN_CONVOLUTIONS = "eigen_convolutions"
"""Switches on that XLA computes convolutions by Eigen, on all cores, where they are large."""

SUBPROGRAMS = "subprograms"
"""Switches on that a graph may become several executables, in each of which what can wait does."""

KEEP_FREED_MEMORY = "keep_freed_memory"
"""Switches on that the process keeps the memory that large graphs free, so that a subprogram may need more of it."""


def _pass(function: Any, on: On = On.LOWERED, **declared: Any) -> Pass:
    return Pass(function.__name__, function, on, ("cpu",), **declared)


def _switch(name: str, on: On, **declared: Any) -> Pass:
    return Pass(name, None, on, ("cpu",), **declared)


declare(
    _switch(SHARDS, On.WHOLE, is_exact=False),
    _pass(open_loops, keeps_axes=True),  # so that the others see what XLA gets
    _pass(lowered_cse, keeps_axes=True),
    _pass(drop_zero_sums, is_exact=False, keeps_axes=True),  # again: graphs of `ja.jit` come with their gradients
    _pass(drop_axes),
    _pass(select_scatters, is_exact=False, keeps_axes=True),
    _pass(unroll_windows, is_exact=False),
    _pass(sort_integers, keeps_axes=True),
    _pass(reduce_angles, is_exact=False, keeps_axes=True),
    # fewer kinds of convolutions, and more products, for those that follow
    _pass(sum_depthwise, is_exact=False),
    _pass(split_groups, is_exact=False),
    _pass(unfold_volumes, is_exact=False),
    _pass(multiply_convolutions, is_exact=False),
    _pass(pad_images),
    _pass(fold_transposes),
    _pass(divide_late, is_exact=False, keeps_axes=True),
    _pass(skip_masked, is_exact=False),  # in blocks, of what late division left
    _pass(spread, On.LOWERED & ~On.SHARD, is_exact=False),  # one core has nothing to divide
    _pass(drop_axes),  # again: parts may have one element along an axis
    _pass(flatten_dots),
    _pass(order_operands),
    _pass(unroll_threefry, keeps_axes=True),
    # barriers, before and behind what the others rewrite
    _pass(hide_constants, keeps_axes=True),
    _pass(hold, keeps_axes=True),
    _switch(EIGEN_CONVOLUTIONS, On.LOWERED & ~On.SHARD),  # of the convolutions that are left
    _switch(SUBPROGRAMS, On.WHOLE | On.SHARD),
    _switch(KEEP_FREED_MEMORY, On.WHOLE | On.SHARD, needs=(SUBPROGRAMS,)),
)
