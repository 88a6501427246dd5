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

_HEAP_BYTES = 64 << 20

_ROOM_BYTES = 1 << 20
"""What lies in a heap beside a block that takes nearly all of it."""

KEPT_BY_DEFAULT_BYTES = _HEAP_BYTES // 2 - (_ROOM_BYTES >> 1)
"""What a block is smaller than that glibc keeps unasked."""

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
"""The numbers of parameters in `malloc.h`."""


def most_kept_bytes() -> int:
    """Returns the size of the largest block that the allocator can be told to keep, in bytes."""
    if is_told_otherwise(os.environ) or not _takes_large_blocks():
        return KEPT_BY_DEFAULT_BYTES
    return _HEAP_BYTES - 4 * _ROOM_BYTES


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
    if _version() is None:
        return False
    mallopt = ctypes.CDLL(None).mallopt
    threshold = _HEAP_BYTES - 2 * _ROOM_BYTES if _takes_large_blocks() else _HEAP_BYTES // 2
    sizes = {_M_MMAP_THRESHOLD: threshold, _M_TRIM_THRESHOLD: _HEAP_BYTES, _M_TOP_PAD: _HEAP_BYTES}
    return all(mallopt(number, size) == 1 for number, size in sizes.items())


def _takes_large_blocks() -> bool:
    """Returns whether glibc lets blocks be part of heaps that are larger than half of one."""
    version = _version()
    return version is not None and version >= (2, 36)


@functools.cache
def _version() -> tuple[int, ...] | None:
    """Returns the version of glibc, None if the process has another library."""
    if "CS_GNU_LIBC_VERSION" not in getattr(os, "confstr_names", ()):
        return None
    numbers = (os.confstr("CS_GNU_LIBC_VERSION") or "").removeprefix("glibc ").split(".")
    return tuple(map(int, numbers)) if all(map(str.isdecimal, numbers)) else None
