"""The allocator of glibc, told to keep what programs free.

XLA on CPU takes memory from `malloc` at each call, in threads, whose heaps of 64 MiB glibc gives back to the system
when they are free: at the end of a call of several subprograms, all that crossed from one to the next. To get it again
costs page faults. glibc keeps a heap if `M_TOP_PAD` is as large as one
(https://sourceware.org/glibc/manual/latest/html_node/Malloc-Tunable-Parameters.html). Blocks of 32 MiB and more are no
part of heaps by themselves, and are always given back; from version 2.36 on `M_MMAP_THRESHOLD` may be nearly a heap.

The settings hold for all that the process frees, other code's memory too. So what is free is given back whenever a
program is prepared and more than `MAX_KEPT_BYTES` are; and all of it by `ja.config(keep_heaps=False)`, which also sets
the parameters back.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Mapping

from jaxaot import settings
from jaxaot.backend.cpu.machine import machine

MAX_KEPT_BYTES = 512 << 20
"""How much memory may be free in the process when a program is prepared."""

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
"""The numbers of parameters in `malloc.h`."""


def most_kept_bytes() -> int:
    """Returns the size of the largest block that the allocator can be told to keep, in bytes."""
    if is_told_otherwise(os.environ) or not machine().takes_large_blocks:
        return machine().kept_bytes
    return machine().heap_bytes - 4 * machine().heap_room_bytes


def given_back_bytes() -> int:
    """Returns from what size on a block is given back, in bytes, whatever the allocator is told.

    It is a little more than `most_kept_bytes`, which leaves room for estimates: what was compiled is known exactly.
    """
    most = most_kept_bytes()
    return most if most == machine().kept_bytes else _mmap_threshold()


def _mmap_threshold() -> int:
    heap = machine().heap_bytes
    return heap - 2 * machine().heap_room_bytes if machine().takes_large_blocks else heap // 2


def keep_freed_memory() -> bool:
    """Has the process keep the heaps of threads, and returns whether it does.

    Nothing is changed where the allocator is not glibc's, or where the environment or the settings say otherwise.
    """
    global _is_keeping
    if is_told_otherwise(os.environ) or not settings.get().keep_heaps:
        return False
    if not _is_keeping:
        heap = machine().heap_bytes
        _is_keeping = _set_parameters(_mmap_threshold(), heap, heap)
    elif free_bytes() > MAX_KEPT_BYTES:
        _libc().malloc_trim(0)
    return _is_keeping


@settings.when_heaps_are_given_back
def give_back() -> None:
    """Gives back what the process keeps, and has it keep nothing more, unless it never did."""
    global _is_keeping
    if _is_keeping:
        _is_keeping = False
        _set_parameters(32 << 20, 64 << 20, 128 << 10)  # where glibc comes to by itself, once large blocks were freed
        _libc().malloc_trim(0)


def free_bytes() -> int:
    """Returns how much of the memory of the allocator is free; 0 where it does not say (before version 2.33)."""
    if not hasattr(_libc(), "mallinfo2"):
        return 0
    ask = _libc().mallinfo2
    ask.restype = _Mallinfo
    return ask().fordblks


_COUNTS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class _Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _COUNTS.split()]


def is_told_otherwise(environment: Mapping[str, str]) -> bool:
    """Returns whether an environment says how glibc's allocator is to work."""
    return "glibc.malloc" in environment.get("GLIBC_TUNABLES", "") or any(
        name.startswith("MALLOC_") and name.endswith("_") for name in environment
    )


_is_keeping = False


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _set_parameters(mmap_threshold: int, trim_threshold: int, top_pad: int) -> bool:
    if machine().glibc is None:
        return False
    sizes = {_M_MMAP_THRESHOLD: mmap_threshold, _M_TRIM_THRESHOLD: trim_threshold, _M_TOP_PAD: top_pad}
    return all(_libc().mallopt(number, size) == 1 for number, size in sizes.items())
