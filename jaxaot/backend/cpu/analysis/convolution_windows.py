"""Which elements of an image meet an element of the kernel in a convolution, by the parameters of the equation."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from jax import lax

from jaxaot._typing import Array, ArrayLike

Window = tuple[tuple[int, int, int], ...]
"""Start, limit and stride along each axis of space, in the padded image."""


def n_windows(image: Sequence[int], kernel: Sequence[int], params: dict[str, Any]) -> list[int]:
    """Returns how many elements the result of a convolution has along each axis of space; less than 1 if none.

    Args:
      image: The sizes of the image in space.
      kernel: Those of the kernel.
      params: The parameters of `conv_general_dilated`.
    """
    names = "padding", "lhs_dilation", "rhs_dilation", "window_strides"
    counts = []
    for size, window, (low, high), holes, dilation, stride in zip(
        image, kernel, *(params[name] for name in names), strict=True
    ):
        padded = (size - 1) * holes + 1 + low + high
        counts.append((padded - (window - 1) * dilation - 1) // stride + 1)
    return counts


def windows(
    places: Sequence[int], distances: Sequence[int], sizes: Sequence[int], steps: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], Window]]:
    """Yields windows of an image, each with its place.

    What an element of the kernel meets is such, with the kernel's sizes and dilations as `places` and `distances`, and
    the result's sizes and strides as `sizes` and `steps`; what makes an element of the result, the other way round.

    Args:
      places: How many windows there are along each axis of space.
      distances: How far they are apart.
      sizes: How many elements a window has.
      steps: How far these are apart.
    """
    for place in itertools.product(*map(range, places)):
        starts = [p * distance for p, distance in zip(place, distances, strict=True)]
        yield (
            place,
            tuple((s, s + step * (n - 1) + 1, step) for s, n, step in zip(starts, sizes, steps, strict=True)),
        )


def padding_config(params: dict[str, Any]) -> list[tuple[int, int, int]]:
    """Returns the low, high and interior padding of an image along its spatial axes."""
    holes = (dilation - 1 for dilation in params["lhs_dilation"])
    return [(*padding, hole) for padding, hole in zip(params["padding"], holes, strict=True)]


def pad(x: Array, config: Sequence[tuple[int, int, int]], fill: ArrayLike = 0) -> Any:
    """Returns an array padded as by `lax.pad` with one value, itself if nothing is put around or into it."""
    return lax.pad(x, lax.full((), fill, x.dtype), config) if any(map(any, config)) else x


def features_last(numbers: Any) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Returns how image and kernel are transposed to have features last, and the result back from there.

    The image becomes batch, space, features; the kernel space, features, results; the result is batch, space, results.
    """
    image, kernel, result = numbers
    order = result[0], *result[2:], result[1]
    back = tuple(sorted(range(len(order)), key=order.__getitem__))
    return (image[0], *image[2:], image[1]), (*kernel[2:], kernel[1], kernel[0]), back
