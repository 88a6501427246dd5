"""Values to try ops on: ordinary ones, those near the ends of a dtype's range, and edge values.

`TENSORS` names the ranges; `values(dtype, range)` has the values of one. Denormals are left out: XLA flushes them.
"""

from __future__ import annotations

import torch

RANGES = ("ordinary", "ends", "edges")
FLOATS = (torch.float32, torch.float16, torch.bfloat16)
INTEGERS = (torch.int32, torch.int8, torch.uint8, torch.bool)


def values(dtype: torch.dtype, range: str) -> list[float]:
    """Returns the values of a range, as they are in a dtype."""
    if dtype == torch.bool:
        return [False, True]
    if not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        small = [v for v in (-7, -2, -1, 0, 1, 2, 3, 5, 12) if v >= info.min]
        return small if range == "ordinary" else [info.min, info.min + 1, *small, info.max - 1, info.max]
    info = torch.finfo(dtype)
    if range == "ordinary":
        return [-3.7, -2.0, -1.3, -0.6, -0.1, 0.2, 0.5, 0.8, 1.1, 2.4, 3.0]
    if range == "ends":
        sizes = [info.max, info.max / 4, info.max**0.5, info.max**0.25, info.tiny * 4, info.tiny**0.5, 1.0]
        return [sign * size for size in sizes for sign in (1, -1)]
    return [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, -1.0, 3.0, -3.0, 0.5, -0.5, 6.0, info.max]
