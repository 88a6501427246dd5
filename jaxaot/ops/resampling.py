"""Images of another size: `interpolate`, `upsample`, and shuffles of pixels and channels. Sampling at given places is
in `grids.py`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxaot._typing import Array, Shape, Sizes
from jaxaot.errors import ArgumentError, ShapeMismatchError
from jaxaot.ops.pooling import adaptive_avg_pool_values, by_matrix, channels_kept, image_channels_kept
from jaxaot.ops.promotion import is_inexact
from jaxaot.ops.table import FUNCTIONAL, SHARED, register_op, register_ops
from jaxaot.views.layout import Layout, check_addressable

MODES = {
    "nearest": None, "nearest-exact": None, "linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3, "area": None,
    "lanczos": 2,
}  # fmt: skip
"""How many spatial dims each mode takes; None for any."""
SMOOTHED = ("bilinear", "bicubic", "lanczos")
"""The modes that may be antialiased."""


# Weights: each spatial dim is a matrix of its own, row i the weights of the i-th element of the result.


def _step(size: int, out: int, scale: float | None, align_corners: bool) -> np.float32:
    """Returns how far apart neighbours of the result lie in the input, in PyTorch's precision."""
    if align_corners:
        return np.float32((size - 1) / (out - 1) if out > 1 else 0.0)
    return np.float32(1 / scale if scale else size / out)


def _source_places(size: int, out: int, scale: float | None, align_corners: bool) -> np.ndarray:
    step, place = _step(size, out, scale, align_corners), np.arange(out, dtype=np.float32)
    return step * place if align_corners else step * (place + np.float32(0.5)) - np.float32(0.5)


def _nearest_places(size: int, out: int, scale: float | None, exact: bool) -> np.ndarray:
    place = np.arange(out, dtype=np.float32) + np.float32(0.5 if exact else 0)
    return np.minimum(np.floor(place * _step(size, out, scale, False)).astype(int), size - 1)


def _linear_weights(size: int, out: int, scale: float | None, align_corners: bool) -> np.ndarray:
    place = np.maximum(_source_places(size, out, scale, align_corners), 0)
    low = np.minimum(place.astype(int), size - 1)
    share = np.clip(place - low, 0, 1)
    matrix = np.zeros((out, size))
    np.add.at(matrix, (np.arange(out), low), 1 - share)
    np.add.at(matrix, (np.arange(out), np.minimum(low + 1, size - 1)), share)
    return matrix


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    """Returns the kernel of cubic convolution (Keys 1981)."""
    x = np.abs(distance)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _cubic_weights(size: int, out: int, scale: float | None, align_corners: bool) -> np.ndarray:
    place = _source_places(size, out, scale, align_corners)
    low = np.floor(place).astype(int)
    matrix = np.zeros((out, size))
    for offset in (-1, 0, 1, 2):
        weights = _cubic(place - (low + offset), -0.75)
        np.add.at(matrix, (np.arange(out), np.clip(low + offset, 0, size - 1)), weights)
    return matrix


_KERNELS: dict[str, tuple[float, Callable[[np.ndarray], np.ndarray]]] = {
    "bilinear": (1, lambda x: np.maximum(1 - np.abs(x), 0)),
    "bicubic": (2, lambda x: _cubic(x, -0.5)),
    "lanczos": (3, lambda x: np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)),
}
"""Antialiasing mode → radius and kernel, as in Pillow."""


def _smoothed_weights(mode: str, size: int, out: int, scale: float | None, align_corners: bool) -> np.ndarray:
    """Returns weights of a kernel as wide as the input's share of an element, where that is more than one."""
    radius, kernel = _KERNELS[mode]
    step = float(_step(size, out, scale, align_corners))
    width = max(step, 1.0)
    center = step * (np.arange(out) + 0.5)
    start = np.maximum((center - radius * width + 0.5).astype(int), 0)
    end = np.minimum((center + radius * width + 0.5).astype(int), size)
    place = np.arange(size)
    matrix = kernel((place - center[:, None] + 0.5) / width)
    matrix = np.where((place >= start[:, None]) & (place < end[:, None]), matrix, 0)
    return matrix / matrix.sum(1, keepdims=True)


def _out_sizes(spatial: Shape, size: Sizes | None, scale_factor: Any, recompute: bool) -> tuple[Shape, tuple[Any, ...]]:
    """Returns the sizes of the result, and the scales where these and not the sizes decide."""
    n = len(spatial)
    if size is not None and scale_factor is not None:
        raise ArgumentError("only one of size or scale_factor should be defined")
    given = scale_factor if size is None else size
    if given is None:
        raise ArgumentError("either size or scale_factor should be defined")
    given = tuple(given) if isinstance(given, (tuple, list)) else (given,) * n
    if len(given) != n:
        raise ArgumentError(
            f"Input and {'output' if size is not None else 'scale_factor'} must have the same number of spatial "
            f"dimensions, but got input with spatial dimensions of {list(spatial)} and {given}. Please provide an "
            f"input (N, C, d1, d2, ..., dK) and {n} numbers."
        )
    if size is not None:
        if recompute:
            raise ArgumentError("recompute_scale_factor is not meaningful with an explicit size.")
        if any(not isinstance(out, (int, np.integer)) for out in given):
            raise ArgumentError(f"expected size to be ints, but got {given}")
        return given, (None,) * n
    outs = tuple(math.floor(float(m) * scale) for m, scale in zip(spatial, given, strict=True))
    return outs, (None,) * n if recompute else given


def _resized(value: Array, axis: int, mode: str, out: int, scale: Any, align_corners: bool, antialias: bool) -> Array:
    size = value.shape[axis]
    # as in ATen, where the nearest of lines and volumes go by the scale alone
    goes_by_sizes = (mode == "nearest" and value.ndim == 4) or (mode.endswith("linear") and not antialias)
    if out == size and goes_by_sizes:
        return value
    if mode.startswith("nearest"):
        places = _nearest_places(size, out, scale, mode == "nearest-exact")
        return jnp.take(value, jnp.asarray(places), axis=axis)
    if antialias:
        weights = _smoothed_weights(mode, size, out, scale, align_corners)
    else:
        weights = (_cubic_weights if mode == "bicubic" else _linear_weights)(size, out, scale, align_corners)
    return by_matrix(value, weights, axis)


def _resized_kept(operands: Sequence[Layout], size: Shape, dtype: np.dtype, static: tuple[Any, ...]) -> Layout:
    rule = image_channels_kept if static[2] == "area" else channels_kept
    return rule(operands, size, dtype, static)


def _interpolate(
    input: Array,
    size: Sizes,
    scale_factor: Any,
    mode: str,
    align_corners: Any = None,
    recompute_scale_factor: Any = None,
    antialias: bool = False,
) -> Array:
    if mode not in MODES or MODES[mode] not in (None, input.ndim - 2) or input.ndim not in (3, 4, 5):
        raise ArgumentError(
            f"Got {input.ndim}D input, which mode {mode!r} does not take. 3D input takes nearest, nearest-exact, area "
            "and linear; 4D the first three, bilinear, bicubic and lanczos; 5D the first three and trilinear"
        )
    if MODES[mode] is None and align_corners is not None:
        raise ArgumentError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if antialias and mode not in SMOOTHED:
        raise ArgumentError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if mode == "lanczos" and (align_corners or not antialias):
        raise ArgumentError("Lanczos mode takes antialias=True, and no align_corners=True")
    spatial = input.shape[2:]
    outs, scales = _out_sizes(
        spatial, size, scale_factor, bool(recompute_scale_factor) or (mode == "area" and size is None)
    )
    check_addressable((*input.shape[:2], *outs), 8)  # weights are made by NumPy, before there is a graph
    if min((*spatial, *outs)) <= 0 or input.shape[1] == 0:
        raise ShapeMismatchError(
            f"Input and output sizes should be greater than 0, but got input {list(input.shape)} and output {outs}"
        )
    if mode == "area":
        return adaptive_avg_pool_values(len(outs), input, outs)
    is_rounded = not (mode.startswith("nearest") or is_inexact(input.dtype))
    value = input.astype(jnp.float32) if is_rounded else input
    for axis, out, scale in reversed(list(zip(range(2, input.ndim), outs, scales, strict=True))):
        value = _resized(value, axis, mode, out, scale, bool(align_corners), antialias)
        if is_rounded:  # the order of the dims shows
            bounds = jnp.iinfo(input.dtype)
            value = jnp.clip(jnp.floor(value + 0.5), bounds.min, bounds.max)
    return value.astype(input.dtype)


register_op(
    "interpolate(Tensor input, Any size=None, Any scale_factor=None, str mode='nearest', bool? align_corners=None, "
    "bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
    layout=_resized_kept,
    **FUNCTIONAL,
)(lambda input, **how: _interpolate(input, **how))
register_ops({
    "upsample(Tensor input, Any size=None, Any scale_factor=None, str mode='nearest', bool? align_corners=None) "
    "-> Tensor":
        lambda input, **how: _interpolate(input, **how),
    "upsample_nearest(Tensor input, Any size=None, Any scale_factor=None) -> Tensor":
        lambda input, **how: _interpolate(input, **how, mode="nearest"),
    "upsample_bilinear(Tensor input, Any size=None, Any scale_factor=None) -> Tensor":
        lambda input, **how: _interpolate(input, **how, mode="bilinear", align_corners=True),
}, layout=channels_kept, **FUNCTIONAL)  # fmt: skip


# Shuffles


def _need_pixels(name: str, input: Array, factor: int, factor_name: str) -> None:
    if input.ndim < 3:
        raise ShapeMismatchError(
            f"{name} expects input to have at least 3 dimensions, but got input with {input.ndim} dimension(s)"
        )
    if factor <= 0:
        raise ArgumentError(f"{name} expects a positive {factor_name}, but got {factor}")


@register_op("pixel_shuffle(Tensor input, int upscale_factor) -> Tensor", layout=channels_kept, **SHARED)
def pixel_shuffle(input, upscale_factor):
    r = upscale_factor
    _need_pixels("pixel_shuffle", input, r, "upscale_factor")
    *batch, channels, height, width = input.shape
    if channels % (r * r):
        raise ShapeMismatchError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {r * r}"
        )
    value = input.reshape(math.prod(batch), channels // (r * r), r, r, height, width)
    return value.transpose(0, 1, 4, 2, 5, 3).reshape(*batch, channels // (r * r), height * r, width * r)


@register_op("pixel_unshuffle(Tensor input, int downscale_factor) -> Tensor", layout=channels_kept, **SHARED)
def pixel_unshuffle(input, downscale_factor):
    r = downscale_factor
    _need_pixels("pixel_unshuffle", input, r, "downscale_factor")
    *batch, channels, height, width = input.shape
    for size, name, dim in ((height, "height", -2), (width, "width", -1)):
        if size % r:
            raise ShapeMismatchError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({dim})={size} is "
                f"not divisible by {r}"
            )
    value = input.reshape(math.prod(batch), channels, height // r, r, width // r, r)
    return value.transpose(0, 1, 3, 5, 2, 4).reshape(*batch, channels * r * r, height // r, width // r)


@register_op("channel_shuffle(Tensor input, int groups) -> Tensor", layout=channels_kept, **SHARED)
def channel_shuffle(input, groups):
    if input.ndim <= 2:
        raise ShapeMismatchError(f"channel_shuffle expects input with > 2 dims, but got input with {list(input.shape)}")
    if groups <= 0:
        raise ArgumentError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    batch, channels, *rest = input.shape
    if channels % groups:
        raise ShapeMismatchError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups."
        )
    return jnp.swapaxes(input.reshape(batch, groups, channels // groups, *rest), 1, 2).reshape(input.shape)
