"""What a compiled program does, as XLA counts it."""

from __future__ import annotations

import math
import re
from typing import Any

_BARRIER = re.compile(r"= (.*) opt-barrier\(")
_ARRAY = re.compile(r"(pred|[a-z]+(\d+)\w*)\[([\d,]*)\]")


def costs_of(compiled: Any) -> dict[str, float]:
    """Returns what XLA says of FLOPs and bytes accessed; empty where it says nothing.

    XLA counts the operands and results of barriers, which move nothing: they are taken off.

    Args:
      compiled: A `jax.stages.Compiled`.
    """
    found = dict(compiled.cost_analysis() or {})
    if "bytes accessed" in found:
        found["bytes accessed"] -= 2 * sum(map(_array_bytes, _BARRIER.findall(compiled.as_text())))
    return found


def _array_bytes(shapes: str) -> int:
    """Returns how many bytes arrays have, whose types are written as in HLO: `(f32[8,8]{1,0}, pred[])`."""
    n_bits = 0
    for _, bits, sizes in _ARRAY.findall(shapes):
        n_bits += int(bits or 8) * math.prod(map(int, filter(None, sizes.split(","))))
    return n_bits // 8
