"""Which passes run where, by name.

Passes run at two places. On the *joint* graph, before it is cut: what they leave is what the cut sees the costs of. And
on each graph that is *lowered*, after `prepare.py`: these change nothing but speed, so which ones run depends on what
XLA does on the platform. In order:

1. joint: `cse`, `dce`, `drop_zero_sums`, `fold`, and those that users register;
2. the partitioner cuts;
3. `prepare.py`: custom rules are opened, barriers hold recomputation and writes in place;
4. `shards`: a graph may become one for the shard of a batch that a core computes, and one for what comes after
   (`batch/shards.py`); each goes on by itself, the first without what divides an equation among cores;
5. lowered: `open_loops`, so that the others see what XLA gets; `lowered_cse`, `drop_zero_sums` (again: graphs of
   `ja.jit` come with their gradients);
   `drop_axes`; `select_scatters`, `unroll_windows`, `sort_integers`, `reduce_angles`; `sum_depthwise`, `split_groups`,
   `unfold_volumes`, `winograd`, `unfold_stems`, `multiply_convolutions`, `pad_images`, after which there are fewer
   kinds of convolutions, and more products; `fold_transposes`; `divide_late`, and then `skip_masked`, which writes
   blocks of what is left; `spread`; `drop_axes` again, as parts may have one element along an axis; `flatten_dots`,
   `order_operands`; `unroll_threefry`; `hide_constants` and `hold`, which come last of these, as the others rewrite
   what they put barriers before and behind;
6. on CPU, whatever the setting says, what has XLA compile graphs and compile them right: `without_misplaced_barriers`
   (`backend/cpu/repair/barriers.py`) and `separate_writes`;
7. `eigen_convolutions`: an option for XLA, about those that are left (`options.py`);
8. `subprograms`: the graph becomes several executables, where one would need too much memory at once
   (`memory/subprograms.py`), and in each, what it could compute at once waits until it is needed (`memory/delay.py`);
9. `keep_freed_memory`: of a process with large graphs the allocator keeps what they free (`memory/allocator.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxaot.backend.cpu.attention.divide_late import divide_late
from jaxaot.backend.cpu.attention.skip_masked import skip_masked
from jaxaot.backend.cpu.convolutions.multiply_convolutions import multiply_convolutions
from jaxaot.backend.cpu.convolutions.pad_images import pad_images
from jaxaot.backend.cpu.convolutions.split_groups import split_groups
from jaxaot.backend.cpu.convolutions.sum_depthwise import sum_depthwise
from jaxaot.backend.cpu.convolutions.unfold_stems import unfold_stems
from jaxaot.backend.cpu.convolutions.unfold_volumes import unfold_volumes
from jaxaot.backend.cpu.convolutions.winograd import winograd
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
from jaxaot.passes.drop_zero_sums import drop_zero_sums

JOINT: tuple[str, ...] = ("cse", "dce", "drop_zero_sums")
"""What runs on a joint graph by default, on every platform: each leaves less to compute, and less to save."""

_IN_ORDER = (
    open_loops,
    lowered_cse,
    drop_zero_sums,
    drop_axes,
    select_scatters,
    unroll_windows,
    sort_integers,
    reduce_angles,
    sum_depthwise,
    split_groups,
    unfold_volumes,
    winograd,
    unfold_stems,
    multiply_convolutions,
    pad_images,
    fold_transposes,
    divide_late,
    skip_masked,
    spread,
    drop_axes,
    flatten_dots,
    order_operands,
    unroll_threefry,
    hide_constants,
    hold,
)

LOWERED: dict[str, Callable[[Any], Any]] = {function.__name__: function for function in _IN_ORDER}
"""The passes on a graph that is lowered."""

ORDER: tuple[str, ...] = tuple(function.__name__ for function in _IN_ORDER)
"""The order in which they run: `drop_axes` once more after `spread`, whose parts may have one element along an axis."""

EIGEN_CONVOLUTIONS = "eigen_convolutions"
"""Switches on that XLA computes convolutions by Eigen, on all cores, where they are large."""

SUBPROGRAMS = "subprograms"
"""Switches on that a graph may become several executables, in each of which what can wait does."""

KEEP_FREED_MEMORY = "keep_freed_memory"
"""Switches on that the process keeps the memory that large graphs free, so that a subprogram may need more of it."""

SHARDS = "shards"
"""Switches on that a graph may become shards of a batch, each of which one core computes by itself."""

SWITCHES: tuple[str, ...] = (SHARDS, EIGEN_CONVOLUTIONS, SUBPROGRAMS, KEEP_FREED_MEMORY)
"""Names that stand among those of passes but are none: they say how a graph is compiled."""

UNASKED: tuple[str, ...] = tuple(name for name in ORDER if name not in ("winograd", "unfold_stems"))
"""Those that run without being named; the others are less exact, or take memory for time."""

REASSOCIATING: frozenset[str] = frozenset(
    [
        "drop_zero_sums",
        "select_scatters",
        "unroll_windows",
        "reduce_angles",
        "sum_depthwise",
        "split_groups",
        "unfold_volumes",
        "winograd",
        "unfold_stems",
        "multiply_convolutions",
        "divide_late",
        "skip_masked",
        "spread",
    ]
) | {SHARDS}
"""Those that add in another order, divide later or compute otherwise: none runs under `exact_rounding`."""

FOR_ALL_CORES: tuple[str, ...] = (spread.__name__, EIGEN_CONVOLUTIONS)
"""Those that have several cores compute one equation: no use in a shard, which one core computes."""

DEFAULTS: dict[str, tuple[str, ...]] = {
    "cpu": (*UNASKED, *SWITCHES),
}
"""What runs on a lowered graph by default, by platform; nothing on those that are not listed: nothing was measured."""
