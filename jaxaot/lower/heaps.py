"""The allocator of glibc, told to keep what programs free.

XLA on CPU takes memory from `malloc` at each call, in threads, whose heaps of 64 MiB glibc gives back to the system
when they are free: at the end of a call of several legs, all that crossed from one to the next. To get it again costs
page faults. glibc keeps a heap if `M_TOP_PAD` is as large as one
(https://sourceware.org/glibc/manual/latest/html_node/Malloc-Tunable-Parameters.html).
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Mapping

_HEAP_BYTES = 64 << 20

_PARAMETERS = {
    "M_MMAP_THRESHOLD": (-3, _HEAP_BYTES // 2),  # as large as glibc lets it become by itself
    "M_TRIM_THRESHOLD": (-1, _HEAP_BYTES),  # twice that, as glibc has it
    "M_TOP_PAD": (-2, _HEAP_BYTES),
}
"""What is set: the number of each parameter in `malloc.h` and its value in bytes."""


def keep_heaps() -> bool:
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
    if "CS_GNU_LIBC_VERSION" not in getattr(os, "confstr_names", ()):
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return all(mallopt(number, size) == 1 for number, size in _PARAMETERS.values())
