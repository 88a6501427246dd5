"""What the passes know of the machine: its cores, its caches, its allocator, and from what size on a rewrite pays.

`machine()` is the record in force, `using` replaces parts of it for a test. All that another processor, allocator or
number of cores would change is here: what is looked up, and what was measured by the scripts in `benchmarks/`. What
stays in the modules is no property of a machine: bounds of a search or of the text of a graph, how exact a formula is,
and what XLA can compile at all.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import os
from collections.abc import Iterator
from typing import Any

import jax

from jaxaot._immutable import immutable

MIB = 1 << 20


def _n_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _glibc() -> tuple[int, ...] | None:
    if "CS_GNU_LIBC_VERSION" not in getattr(os, "confstr_names", ()):
        return None
    numbers = (os.confstr("CS_GNU_LIBC_VERSION") or "").removeprefix("glibc ").split(".")
    return tuple(map(int, numbers)) if all(map(str.isdecimal, numbers)) else None


@immutable
class Machine:
    """Facts of a machine; sizes are in bytes, work in FLOPs, unless a name says otherwise.

    `n_cores` and `glibc` are looked up; the rest was measured on two cores of an AMD EPYC and of an Intel Xeon.
    """

    n_cores: int = dataclasses.field(default_factory=_n_cores)
    """How many cores XLA may use."""

    glibc: tuple[int, ...] | None = dataclasses.field(default_factory=_glibc)
    """The version of glibc; None if the process has another allocator."""

    # -- the allocator of glibc

    heap_bytes: int = 64 * MIB
    """The heap of a thread."""

    heap_room_bytes: int = MIB
    """What lies in a heap beside a block that takes nearly all of it."""

    # -- values in memory

    cached_bytes: int = 1 << 16
    """Values up to this size stay in a cache of the core: to compute them again costs little."""

    ordered_bytes: int = 4 * MIB
    """From this size on frozen weights lie with the summed axes last: products of 2 to 32 rows took half the time."""

    unheld_bytes: int = 16 * MIB
    """Graphs whose large values are no more than this in all are left alone: an MLP lost a twentieth by barriers."""

    max_left_by_holding: float = 0.88
    """How much of the cost of its kernels may be left to hold a value.

    A barrier also keeps XLA from simplifying, and from choosing how the value lies in memory.
    """

    late_bytes: int = 1 << 16
    """What is smaller takes little memory however long it is there."""

    late_kernels: int = 4
    """How many kernels a value is there before it is read, if it is worth waiting."""

    uncut_bytes: int = 1024
    """Values up to this size cross from subprogram to subprogram as they are: computing them later gains nothing."""

    max_left_by_cut: float = 0.75
    """To what share of their memory a cut has to bring the temporaries, for it to be worth what crosses."""

    max_flops_per_kept_byte: int = 350
    """What a graph may compute for each byte of its temporaries where it is cut into subprograms.

    To get a byte again takes the time of 24 FLOPs, so that a cut can save a fifteenth here. A GPT of 4 layers of width
    512 gained a twelfth at 290. ViT-B/16 at 430 lost a thirteenth, and its first call took 1.7 times as long.
    """

    quick_kernel_bytes: int = 16 * 1024
    """Ops of up to so many bytes take as long by XLA's older emitters (`python -m benchmarks.eager`).

    Above, some take longer, such as transposing. Graphs of many ops may take longer below it too, so this is for
    kernels.
    """

    # -- convolutions

    eigen_flops: float = math.inf if jax.__version_info__ >= (0, 11) else 100_000_000
    """What a convolution takes, on average, where Eigen on all cores is faster than YNN on one; since jax 0.11 YNN, to
    which XLA gives convolutions and products, uses all."""

    max_volume_copies: int = 7
    """How often an element of a volume may be copied."""

    max_groups: int = 64
    """The most groups that are written out."""

    max_depthwise_taps: int = 81
    """The most elements of a kernel for which products are written out: 9 by 9."""

    max_depthwise_terms: int = 64
    """The most products that are added up in one kernel."""

    # -- kernels

    min_selected_bytes: int = MIB
    """What a result has where a selection is faster: it takes part in other kernels, a scatter ends them."""

    max_taps: int = 32
    """The most elements of a window that are written out: with more, little is gained."""

    min_angles: int = 8192
    """Arrays of fewer elements are left alone: another kernel and a branch take as long."""

    min_reduced_elements: int = 4096
    """Where fewer are computed and reduced at once, it takes some microseconds in any case."""

    max_folded_elements: int = 4096
    """What XLA may fold: at run time that costs nothing, and when compiling not more than compiling itself."""

    # -- attention

    min_quotients: int = 1 << 16
    """Weights with fewer elements are divided where they are."""

    min_quotient_ratio: int = 8
    """How many times as many elements the weights have as what is divided instead; with 4 it made no difference."""

    min_block_rows: int = 128
    """Rows of a block: with 64, the kernels of an attention over 128 positions took longer than what they saved."""

    max_blocks: int = 4
    """Twice as many save an eighth more at most, and take twice as long to compile."""

    register_elements: int = 16
    """The elements of the widest registers: columns inside start and end at multiples of this."""

    min_skipped: float = 0.15
    """The part of a mask that has to be skipped."""

    min_skipped_of_all: float = 0.03
    """The part of the FLOPs of a graph that has to be skipped, or skipped by further blocks.

    Else more kernels are not worth the time to compile them. Four layers of a GPT-2 of width 768 with 256 positions
    would skip a hundredth: the step took as long, and the first call 1.4 times.
    """

    flops_per_kernel: int = 3_500_000
    """What is computed in the time that another kernel costs: one of a few rows uses the cores less well."""

    flops_per_kind: int = 25_000_000
    """What more than two blocks have to save for each kernel that they add, in all fields that are alike.

    Kernels of blocks of other sizes are of another kind, which XLA takes 20 ms to compile. It takes no longer for more
    layers. So 4 layers of a GPT with a batch of 1,024 positions are computed in two blocks, 8 in four.
    """

    # -- products

    max_thin_columns: int = 64
    """Up to how many columns of a matrix a barrier pays, which costs another small array (`benchmarks.rewrites`)."""

    # -- shards of a batch

    max_sharded_cores: int = 8
    """On more cores a shard of a batch is small."""

    min_shard_flops: int = 100_000_000
    """What the products of a shard take at least: two milliseconds, where starting a thread takes a twentieth."""

    min_shard_products: int = 4
    """How many products a graph has at least: what lies between them a core does not have to read from another."""

    min_sharded_part: float = 0.9
    """Minimum fraction of the FLOPs of products, and of all other FLOPs, that must lie inside the shards."""

    flops_per_handed_byte: int = 24
    """What one core computes in the time in which a byte is written, read and added up, of what is handed over."""

    flops_per_read_byte: int = 48
    """What one core computes in the time in which a byte of weights is read and put in order for a product.

    In shards, six layers of 2,048 by 2,048 took 1.1 times as long for a batch of 8, 2.2 for 64, 1.1 for 256, in one run
    on a machine that did other work.
    """

    max_handed_over: float = 0.25
    """What handing over, and reading on each core what all need, may take of the time of a shard."""

    partial_bytes: int = 512 * MIB
    """What sums over the batch, such as gradients, may take in all shards: each holds one of its own to the end.

    They may take more where that is at most half of the temporaries of one program, of which shards save a part. A
    BERT-base held 833 MiB of them on two cores, and its process 1.22 times what that of `jax.jit` holds.
    """

    max_whole_part: float = 0.01
    """Values of which the shards need all, are computed by each if that takes at most this part of all work."""

    @property
    def kept_bytes(self) -> int:
        """What a block is smaller than that glibc keeps unasked."""
        return self.heap_bytes // 2 - (self.heap_room_bytes >> 1)

    @property
    def takes_large_blocks(self) -> bool:
        """Whether glibc lets blocks be part of heaps that are larger than half of one."""
        return self.glibc is not None and self.glibc >= (2, 36)


@functools.cache
def _found() -> Machine:
    return Machine()


_replaced: list[Machine] = []


def machine() -> Machine:
    """Returns the machine that this process runs on, which is looked up once."""
    return _replaced[-1] if _replaced else _found()


@contextlib.contextmanager
def using(**changes: Any) -> Iterator[Machine]:
    """Replaces facts for a block, in all threads: for tests, whose graphs are small."""
    _replaced.append(dataclasses.replace(machine(), **changes))
    try:
        yield _replaced[-1]
    finally:
        _replaced.pop()
