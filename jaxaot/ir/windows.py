"""Which elements of an image meet an element of the kernel in a convolution, by the parameters of the equation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

Window = tuple[tuple[int, int, int], ...]
"""Start, limit and stride along each axis of space, in the padded image."""


def n_windows(size: int, window: int, axis: int, params: Any) -> int:
    """Returns how many elements the result of a convolution has along an axis of space; less than 1 if none."""
    low, high = params["padding"][axis]
    padded = (size - 1) * params["lhs_dilation"][axis] + 1 + low + high
    return (padded - (window - 1) * params["rhs_dilation"][axis] - 1) // params["window_strides"][axis] + 1


def taps(image: Sequence[int], kernel: Sequence[int], params: Any) -> list[tuple[tuple[int, ...], Window]]:
    """Returns the places of a kernel, each with what of the padded image meets it; nothing if no window fits.

    Args:
      image: The sizes of the image in space.
      kernel: Those of the kernel.
      params: The parameters of `conv_general_dilated`.
    """
    counts = [
        n_windows(size, window, axis, params) for axis, (size, window) in enumerate(zip(image, kernel, strict=True))
    ]
    if min(counts, default=0) < 1:
        return []
    found = []
    for place in itertools.product(*map(range, kernel)):
        window = []
        for axis, (p, n) in enumerate(zip(place, counts, strict=True)):
            start, step = p * params["rhs_dilation"][axis], params["window_strides"][axis]
            window.append((start, start + step * (n - 1) + 1, step))
        found.append((place, tuple(window)))
    return found


def padding_config(params: Any) -> list[tuple[int, int, int]]:
    """Returns what `pad` puts before, behind and between elements of an image along the axes of space."""
    holes = (dilation - 1 for dilation in params["lhs_dilation"])
    return [(*padding, hole) for padding, hole in zip(params["padding"], holes, strict=True)]
