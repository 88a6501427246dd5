"""The allocator of glibc, told to keep what programs free.

XLA on CPU takes memory from `malloc` at each call, in threads, whose heaps of 64 MiB glibc gives back to the system
when they are free: at the end of a call of several subprograms, all that crossed from one to the next. To get it again
costs page faults. glibc keeps a heap if `M_TOP_PAD` is as large as one
(https://sourceware.org/glibc/manual/latest/html_node/Malloc-Tunable-Parameters.html). Blocks of 32 MiB and more are no
part of heaps by themselves, and are always given back; from version 2.36 on `M_MMAP_THRESHOLD` may be nearly a heap.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Mapping

from jaxaot.backend.cpu.machine import machine

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
"""The numbers of parameters in `malloc.h`."""


def most_kept_bytes() -> int:
    """Returns the size of the largest block that the allocator can be told to keep, in bytes."""
    if is_told_otherwise(os.environ) or not machine().takes_large_blocks:
        return machine().kept_bytes
    return machine().heap_bytes - 4 * machine().heap_room_bytes


def keep_freed_memory() -> bool:
    """Has the process keep the heaps of threads until it ends, and returns whether it does.

    Nothing is changed where the allocator is not glibc's, or where the environment says how it is to work.
    """
    return not is_told_otherwise(os.environ) and _set_parameters()


def is_told_otherwise(environment: Mapping[str, str]) -> bool:
    """Returns whether an environment says how glibc's allocator is to work."""
    return "glibc.malloc" in environment.get("GLIBC_TUNABLES", "") or any(
        name.startswith("MALLOC_") and name.endswith("_") for name in environment
    )


@functools.cache
def _set_parameters() -> bool:
    known = machine()
    if known.glibc is None:
        return False
    mallopt = ctypes.CDLL(None).mallopt
    heap = known.heap_bytes
    threshold = heap - 2 * known.heap_room_bytes if known.takes_large_blocks else heap // 2
    sizes = {_M_MMAP_THRESHOLD: threshold, _M_TRIM_THRESHOLD: heap, _M_TOP_PAD: heap}
    return all(mallopt(number, size) == 1 for number, size in sizes.items())
