"""The passes for XLA:CPU, in the order in which they run; README.md says of each what it is for.

Nothing here is about right values: what `repaired` in `tune.py` does comes last, and no setting leaves it out.
"""

from __future__ import annotations

from typing import Any

from jaxaot.passes.declared import FromModule, On, Pass
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


def _pass(place: str, on: On = On.LOWERED, looks_for: str = "", **declared: Any) -> Pass:
    """Returns the pass of a module of this room, which has its name: it is loaded when the pass first runs."""
    function, wanted = FromModule(f"{__package__}.{place}"), frozenset(looks_for.split()) or None
    return Pass(place.rpartition(".")[2], function, on, ("cpu",), looks_for=wanted, **declared)


def _switch(name: str, on: On, **declared: Any) -> Pass:
    return Pass(name, None, on, ("cpu",), **declared)


_WINDOWS = "reduce_window reduce_window_sum reduce_window_max reduce_window_min"


_BLOCKS, _PRODUCTS = On.WHOLE | On.SHARD, frozenset({"dot_general"})


declare(
    _switch(SHARDS, On.WHOLE, is_exact=False),
    # so that the others see what XLA gets
    _pass("kernels.open_loops", looks_for="scan", keeps_axes=True),
    _pass("kernels.lowered_cse", keeps_axes=True),
    # again: graphs of `ja.jit` come with their gradients
    Pass("drop_zero_sums", drop_zero_sums, On.LOWERED, ("cpu",), is_exact=False, keeps_axes=True),
    # while rows and classes are axes as they were written
    Pass(
        "loss_blocks", FromModule("jaxaot.passes.loss_blocks"), _BLOCKS, ("cpu",), is_exact=False, looks_for=_PRODUCTS
    ),
    _pass("attention.attention_blocks", _BLOCKS, is_exact=False, looks_for="dot_general"),
    _pass("kernels.drop_axes"),
    _pass("kernels.select_scatters", looks_for="scatter scatter-add scatter_add", is_exact=False, keeps_axes=True),
    _pass("kernels.unroll_windows", is_exact=False, looks_for=f"{_WINDOWS} select_and_scatter_add"),
    _pass("kernels.sort_integers", keeps_axes=True, looks_for="sort"),
    _pass("kernels.reduce_angles", is_exact=False, keeps_axes=True, looks_for="sin cos tan"),
    # fewer kinds of convolutions, and more products, for those that follow
    _pass("convolutions.sum_depthwise", is_exact=False, looks_for="conv_general_dilated"),
    _pass("convolutions.split_groups", is_exact=False, looks_for="conv_general_dilated"),
    _pass("convolutions.unfold_volumes", is_exact=False, looks_for="conv_general_dilated"),
    _pass("convolutions.multiply_convolutions", is_exact=False, looks_for="conv_general_dilated"),
    _pass("convolutions.pad_images", looks_for="conv_general_dilated"),
    _pass("products.fold_transposes", looks_for="transpose"),
    _pass("attention.divide_late", On.LOWERED | On.CUT, is_exact=False, keeps_axes=True, looks_for="dot_general"),
    # in blocks, of what late division left
    _pass("attention.skip_masked", On.LOWERED | On.CUT, looks_for="select_n and or", is_exact=False),
    _pass("products.flatten_dots", looks_for="dot_general"),
    _pass("products.order_operands", looks_for="dot_general"),
    _pass("kernels.unroll_threefry", keeps_axes=True, looks_for="random_bits"),
    # barriers, before and behind what the others rewrite
    _pass("kernels.hide_constants", keeps_axes=True, looks_for=f"{_WINDOWS} cumsum cumprod cummax cummin cumlogsumexp"),
    _pass("kernels.hold", keeps_axes=True),
    _switch(EIGEN_CONVOLUTIONS, On.LOWERED & ~On.SHARD),  # of the convolutions that are left
    _switch(SUBPROGRAMS, On.WHOLE | On.SHARD),
    _switch(KEEP_FREED_MEMORY, On.WHOLE | On.SHARD, needs=(SUBPROGRAMS,)),
)
