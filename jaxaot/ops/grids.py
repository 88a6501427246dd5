"""Sampling at given places: `grid_sample`, and the grids of affine maps.

A *grid* names places in [-1, 1] along each dim of an image, the last dim first. Source: ATen's `GridSampler.h`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot._typing import Array
from jaxaot.errors import ArgumentError, DtypeError, ShapeMismatchError
from jaxaot.ops.promotion import is_floating
from jaxaot.ops.table import FUNCTIONAL, register_op

MODES = ("bilinear", "nearest", "bicubic")
PADDING_MODES = ("zeros", "border", "reflection")


def _unnormalized(place: Array, size: int, align_corners: bool) -> Array:
    return (place + 1) / 2 * (size - 1) if align_corners else ((place + 1) * size - 1) / 2


def _clipped(place: Array, size: int) -> Array:
    """Returns places held within the image, with no gradient where they are held, nor just there."""
    return jnp.where(place > 0, jnp.where(place < size - 1, place, size - 1.0), 0.0).astype(place.dtype)


def _reflected(place: Array, low: float, high: float) -> Array:
    span = high - low
    if span == 0:
        return jnp.zeros_like(place)
    distance = jnp.where(place < low, low - place, place - low)
    flips = jnp.floor(distance / span)
    extra = distance - flips * span
    return jnp.where(flips % 2 == 0, extra + low, span - extra + low)


def _padded(place: Array, size: int, padding_mode: str, align_corners: bool) -> Array:
    """Returns where in the image to look for a place that may lie outside."""
    if padding_mode == "reflection":
        place = _reflected(place, 0, size - 1) if align_corners else _reflected(place, -0.5, size - 0.5)
    return place if padding_mode == "zeros" else _clipped(place, size)


def _flat(value: Array) -> Array:
    return value.reshape(value.shape[0], 1, math.prod(value.shape[1:]))


def _picked(input: Array, places: Sequence[Array]) -> Array:
    """Returns (batch, channels, places) of elements, zero for places outside."""
    spatial = input.shape[2:]
    flat: Any = jnp.zeros((), int)
    inside: Any = jnp.ones((), bool)
    for place, size in zip(places, spatial, strict=True):
        inside = inside & (place >= 0) & (place <= size - 1)  # false for NaN
        flat = flat * size + jnp.where(jnp.isfinite(place), jnp.clip(place, 0, size - 1), 0).astype(int)
    batch, channels = input.shape[:2]
    flat, inside = _flat(flat), _flat(inside)
    flat = jnp.broadcast_to(flat, (batch, channels, flat.shape[2]))
    values = jnp.take_along_axis(input.reshape(batch, channels, math.prod(spatial)), flat, axis=2)
    return jnp.where(inside, values, 0)


def _linear(input: Array, places: Sequence[Array]) -> Array:
    total: Any = 0
    lows = [jnp.floor(place) for place in places]
    for corner in itertools.product((0, 1), repeat=len(places)):
        weight: Any = 1
        for place, low, side in zip(places, lows, corner, strict=True):
            weight = weight * (place - low if side else low + 1 - place)
        at = [low + side for low, side in zip(lows, corner, strict=True)]
        total = total + _picked(input, at) * _flat(weight)
    return total


def _cubic_shares(share: Array) -> list[Array]:
    """Returns the weights of the four neighbours: cubic convolution (Keys 1981) with a = -0.75."""
    a = -0.75

    def near(x: Array) -> Array:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Array) -> Array:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(share + 1), near(share), near(1 - share), far(2 - share)]


def _cubic(input: Array, places: Sequence[Array], padding_mode: str, align_corners: bool) -> Array:
    spatial = input.shape[2:]
    lows = [jnp.floor(place) for place in places]
    shares = [_cubic_shares(place - low) for place, low in zip(places, lows, strict=True)]
    total: Any = 0
    for offsets in itertools.product(range(4), repeat=len(places)):
        weight: Any = math.prod([share[i] for share, i in zip(shares, offsets, strict=True)])
        at = [
            _padded(low + (i - 1), size, padding_mode, align_corners)
            for low, i, size in zip(lows, offsets, spatial, strict=True)
        ]
        total = total + _picked(input, at) * _flat(weight)
    return total


def _check(input: Array, grid: Array, mode: str) -> None:
    n = input.ndim - 2
    if input.ndim != grid.ndim or n not in (2, 3):
        raise ShapeMismatchError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes "
            f"{list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if input.shape[0] != grid.shape[0]:
        raise ShapeMismatchError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if grid.shape[-1] != n:
        raise ShapeMismatchError(
            f"grid_sampler(): expected grid to have size {n} in last dimension, but got grid with sizes "
            f"{list(grid.shape)}"
        )
    if 0 in input.shape[2:]:
        raise ShapeMismatchError(
            "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
            f"{list(input.shape)}"
        )
    if mode == "bicubic" and n == 3:
        raise ArgumentError("grid_sampler(): bicubic interpolation only supports 4D input")
    if input.dtype != grid.dtype:
        raise DtypeError(
            f"grid_sampler(): expected input and grid of one dtype, but got {input.dtype} and {grid.dtype}"
        )


def sampled(input: Array, grid: Array, mode: str, padding_mode: str, align_corners: bool) -> Array:
    """Returns `input` (batch, channels, …) at the places of `grid` (batch, …, dims)."""
    _check(input, grid, mode)
    n = input.ndim - 2
    wide = jnp.promote_types(input.dtype, jnp.float32)
    grid, spatial = grid.astype(wide), input.shape[2:]
    places = [_unnormalized(grid[..., n - 1 - i], spatial[i], align_corners) for i in range(n)]
    if mode == "bicubic":
        values = _cubic(input, places, padding_mode, align_corners)
    else:
        places = [
            _padded(place, size, padding_mode, align_corners) for place, size in zip(places, spatial, strict=True)
        ]
        values = _picked(input, [jnp.round(p) for p in places]) if mode == "nearest" else _linear(input, places)
    return values.reshape(*input.shape[:2], *grid.shape[1:-1]).astype(input.dtype)


@register_op(
    "grid_sample(Tensor input, Tensor grid, str mode='bilinear', str padding_mode='zeros', bool? align_corners=None) "
    "-> Tensor",
    **FUNCTIONAL,
)
def grid_sample(input, grid, mode, padding_mode, align_corners):
    if mode not in MODES:
        raise ArgumentError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in PADDING_MODES:
        raise ArgumentError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    return sampled(input, grid, mode, padding_mode, bool(align_corners))


@register_op("affine_grid(Tensor theta, int[] size, bool? align_corners=None) -> Tensor", **FUNCTIONAL)
def affine_grid(theta, size, align_corners):
    """Returns where each element of a result of `size` (batch, channels, …) lies in the input, for maps `theta`."""
    if not is_floating(theta.dtype):
        raise DtypeError(f"Expected theta to have floating point type, but got {theta.dtype}")
    n = len(size) - 2
    if n not in (2, 3):
        raise ArgumentError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, but got size {size}."
        )
    if theta.shape != (size[0], n, n + 1):
        raise ShapeMismatchError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ArgumentError(f"Expected non-zero, positive output size. Got {size}")
    lines = []
    for out in size[2:]:
        line = jnp.linspace(-1, 1, out, dtype=theta.dtype) if out > 1 else jnp.zeros(1, theta.dtype)
        lines.append(line if align_corners else line * ((out - 1) / out))
    places = jnp.meshgrid(*lines, indexing="ij")[::-1]
    base = jnp.stack([*places, jnp.ones_like(places[0])], axis=-1)
    return jnp.einsum("...j,nij->n...i", base, theta)
