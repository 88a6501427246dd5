"""What the compiler of a TPU keeps in the memory on the chip, where it takes nothing of the device's memory.

That memory holds what fits of what is computed and read again soon, so values are placed by how long they are in use,
the shortest first. What is saved for the backward is in use for long, and lies in the memory of the device. A loop
needs room for the values of its body as long as it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

WORKSPACE = 16 * 2**20
"""Bytes on the chip that are kept free for what a kernel works on: `xla_tpu_scoped_vmem_limit_kib`."""


class Life(NamedTuple):
    """When a value is in use.

    Attributes:
      first: The position of the equation that makes it.
      last: The position of the last one that reads it.
      bytes: What it takes.
    """

    first: int
    last: int
    bytes: int


def placed_on_chip(lives: Mapping[Any, Life], taken: np.ndarray, capacity: int) -> set[Any]:
    """Returns which values lie in the memory on the chip.

    Args:
      lives: When each value is in use that may lie there.
      taken: What is taken of it at each position; what is placed is added.
      capacity: Its bytes that there are for values.
    """
    found: set[Any] = set()
    for value, life in sorted(lives.items(), key=lambda item: (item[1].last - item[1].first, item[1].bytes)):
        during = taken[life.first : life.last + 1]
        if life.bytes <= capacity and during.max(initial=0) + life.bytes <= capacity:
            during += life.bytes
            found.add(value)
    return found
