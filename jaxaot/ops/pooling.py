"""Pooling over windows, and resampling to another size."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._typing import Array
from jaxaot.errors import ArgumentError, ShapeMismatchError
from jaxaot.ops.dims import sizes
from jaxaot.ops.promotion import default_int, is_inexact
from jaxaot.ops.table import register_op

FUNCTIONAL: dict[str, Any] = {"method": False, "namespaces": ("nn.functional",)}


def _given(stride: Any, kernel: tuple[int, ...], n: int) -> tuple[int, ...]:
    return kernel if stride is None or stride == () else sizes(stride, n, "stride")


def _spatial(name: str, input: Array, n: int) -> tuple[int, ...]:
    if input.ndim not in (n + 1, n + 2):
        raise ShapeMismatchError(
            f"Expected {n + 1}D or {n + 2}D input to {name}, but got input of size: {list(input.shape)}"
        )
    return input.shape[-n:]


def _windows(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> tuple[int, int]:
    """Returns how many windows there are, and how far the last one reaches beyond the padded end."""
    reach = dilation * (kernel - 1) + 1
    span = size + 2 * padding - reach
    n = (math.ceil(span / stride) if ceil_mode else span // stride) + 1
    if ceil_mode and (n - 1) * stride >= size + padding:
        n -= 1  # the last window must begin inside
    if n <= 0:
        raise ShapeMismatchError(f"a window of {reach} over {size} (padding {padding}) yields an output of size {n}")
    return n, max((n - 1) * stride + reach - size - 2 * padding, 0)


def _check_padding(padding: tuple[int, ...], kernel: tuple[int, ...]) -> None:
    if any(2 * p > k for p, k in zip(padding, kernel, strict=True)):
        raise ArgumentError(f"pad should be at most half of the kernel size, but got pad={padding}, kernel={kernel}")


def _lowest(dtype: Any) -> Any:
    return np.asarray(-np.inf if is_inexact(dtype) else np.iinfo(dtype).min, dtype)


def _max_pool(
    n: int, input: Array, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Array, Array]:
    """Returns the largest element of each window and its place in the flattened spatial dims, the first of equals."""
    spatial = _spatial(f"max_pool{n}d", input, n)
    kernel, padding, dilation = sizes(kernel_size, n), sizes(padding, n), sizes(dilation, n)
    stride = _given(stride, kernel, n)
    _check_padding(padding, kernel)
    lead = input.shape[: input.ndim - n]
    counts, _ = zip(
        *(_windows(spatial[i], kernel[i], stride[i], padding[i], dilation[i], ceil_mode) for i in range(n)),
        strict=True,
    )
    # the place in each dim that every (window, offset) pair looks at
    places = [
        np.arange(counts[i])[:, None] * stride[i] - padding[i] + np.arange(kernel[i])[None, :] * dilation[i]
        for i in range(n)
    ]
    value, flat, valid = input, np.zeros((), np.int64), np.ones((), bool)
    for i in range(n):
        axis = len(lead) + 2 * i
        value = jnp.take(value, jnp.asarray(np.clip(places[i], 0, spatial[i] - 1)), axis=axis)
        shape = [1] * (2 * n)
        shape[2 * i], shape[2 * i + 1] = places[i].shape
        flat = flat * spatial[i] + places[i].reshape(shape)
        valid = valid & ((places[i] >= 0) & (places[i] < spatial[i])).reshape(shape)
    order = [*range(len(lead)), *(len(lead) + 2 * i for i in range(n)), *(len(lead) + 2 * i + 1 for i in range(n))]
    value = value.transpose(order).reshape(*lead, *counts, -1)
    window_order = [*range(0, 2 * n, 2), *range(1, 2 * n, 2)]
    valid = valid.transpose(window_order).reshape(*counts, -1)
    flat = np.broadcast_to(flat, [m for i in range(n) for m in places[i].shape]).transpose(window_order)
    flat = flat.reshape(*counts, -1)
    best = jnp.argmax(jnp.where(valid, lax.stop_gradient(value), _lowest(input.dtype)), axis=-1, keepdims=True)
    picked = jnp.take_along_axis(value, best, axis=-1)[..., 0]
    index = jnp.take_along_axis(jnp.broadcast_to(jnp.asarray(flat, default_int()), value.shape), best, axis=-1)[..., 0]
    return picked, index


def _max_pool_value(n: int, input: Array, kernel_size: Any, stride: Any, padding: Any, ceil: bool) -> Array:
    """Returns the largest elements of the windows by XLA's window reduction."""
    spatial = _spatial(f"max_pool{n}d", input, n)
    kernel, padding = sizes(kernel_size, n), sizes(padding, n)
    stride = _given(stride, kernel, n)
    _check_padding(padding, kernel)
    lead = input.ndim - n
    extras = [_windows(spatial[i], kernel[i], stride[i], padding[i], 1, ceil)[1] for i in range(n)]
    return lax.reduce_window(
        input,
        _lowest(input.dtype),
        lax.max,
        (1,) * lead + kernel,
        (1,) * lead + stride,
        [(0, 0)] * lead + [(p, p + extra) for p, extra in zip(padding, extras, strict=True)],
    )


def _avg_pool(
    n: int,
    input: Array,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_padding: bool,
    divisor: Any,
) -> Array:
    spatial = _spatial(f"avg_pool{n}d", input, n)
    kernel, padding = sizes(kernel_size, n), sizes(padding, n)
    stride = _given(stride, kernel, n)
    _check_padding(padding, kernel)
    lead = input.ndim - n
    windows = [_windows(spatial[i], kernel[i], stride[i], padding[i], 1, ceil_mode) for i in range(n)]
    total = lax.reduce_window(
        input,
        np.zeros((), input.dtype),
        lax.add,
        (1,) * lead + kernel,
        (1,) * lead + stride,
        [(0, 0)] * lead + [(p, p + extra) for p, (_, extra) in zip(padding, windows, strict=True)],
    )
    whole = not is_inexact(total.dtype)
    if divisor is not None:
        return lax.div(total, jnp.full_like(total, divisor)) if whole else total / divisor
    counts = np.ones((1,) * n)
    for i, (count, _) in enumerate(windows):
        start = np.arange(count) * stride[i] - padding[i]
        end = np.minimum(start + kernel[i], spatial[i] + padding[i])
        if not count_padding:
            start, end = np.maximum(start, 0), np.minimum(end, spatial[i])
        shape = [1] * n
        shape[i] = count
        counts = counts * (end - start).reshape(shape)
    counts = jnp.asarray(counts, input.dtype)
    return lax.div(total, jnp.broadcast_to(counts, total.shape)) if whole else total / counts


def _averages(size: int, out: int) -> np.ndarray:
    """Returns the matrix of which row i averages the i-th of `out` bins of `size` elements."""
    matrix = np.zeros((out, size))
    for i in range(out):
        start, end = i * size // out, -(-(i + 1) * size // out)
        matrix[i, start:end] = 1 / (end - start)
    return matrix


def _out_sizes(output_size: Any, spatial: tuple[int, ...]) -> tuple[int, ...]:
    given = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * len(spatial)
    return tuple(size if out is None else out for out, size in zip(given, spatial, strict=True))


def _by_matrix(value: Array, matrix: np.ndarray, axis: int) -> Array:
    """Returns `value` with `matrix` applied along `axis`."""
    moved = jnp.moveaxis(value, axis, -1)
    result = jnp.matmul(moved, jnp.asarray(matrix.T, value.dtype), precision=lax.Precision.HIGHEST)
    return jnp.moveaxis(result, -1, axis)


def _adaptive_avg_pool(n: int, input: Array, output_size: Any) -> Array:
    spatial = _spatial(f"adaptive_avg_pool{n}d", input, n)
    for i, out in enumerate(_out_sizes(output_size, spatial)):
        axis = input.ndim - n + i
        if out == 1:
            input = jnp.mean(input, axis=axis, keepdims=True)
        elif out != spatial[i]:
            input = _by_matrix(input, _averages(spatial[i], out), axis)
    return input


def _adaptive_max_pool(n: int, input: Array, output_size: Any) -> Array:
    spatial = _spatial(f"adaptive_max_pool{n}d", input, n)
    for i, out in enumerate(_out_sizes(output_size, spatial)):
        axis = input.ndim - n + i
        bins = [(j * spatial[i] // out, -(-(j + 1) * spatial[i] // out)) for j in range(out)]
        parts = [jnp.max(lax.slice_in_dim(input, a, b, axis=axis), axis=axis) for a, b in bins]
        input = jnp.stack(parts, axis)
    return input


def _register(n: int) -> None:
    window = "(Tensor input, Any kernel_size, Any stride=None, Any padding=0, "
    dilated = window + "Any dilation=1, bool ceil_mode=False) -> "

    @register_op(f"max_pool{n}d{dilated}Tensor", method=False, namespaces=("", "nn.functional"))
    def max_pool(input, kernel_size, stride, padding, dilation, ceil_mode):
        if any(step != 1 for step in sizes(dilation, n)):  # XLA has no derivative of dilated windows
            return _max_pool(n, input, kernel_size, stride, padding, dilation, ceil_mode)[0]
        return _max_pool_value(n, input, kernel_size, stride, padding, ceil_mode)

    @register_op(f"max_pool{n}d_with_indices{dilated}(Tensor, Tensor)", **FUNCTIONAL)
    def max_pool_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode):
        return _max_pool(n, input, kernel_size, stride, padding, dilation, ceil_mode)

    divisor = ", int? divisor_override=None" if n > 1 else ""

    @register_op(
        f"avg_pool{n}d{window}bool ceil_mode=False, bool count_include_pad=True{divisor}) -> Tensor", **FUNCTIONAL
    )
    def avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override=None):
        return _avg_pool(n, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    @register_op(f"adaptive_avg_pool{n}d(Tensor input, Any output_size) -> Tensor", **FUNCTIONAL)
    def adaptive_avg_pool(input, output_size):
        return _adaptive_avg_pool(n, input, output_size)

    @register_op(f"adaptive_max_pool{n}d(Tensor input, Any output_size) -> Tensor", **FUNCTIONAL)
    def adaptive_max_pool(input, output_size):
        return _adaptive_max_pool(n, input, output_size)

    @register_op(
        f"lp_pool{n}d(Tensor input, float norm_type, Any kernel_size, Any stride=None, bool ceil_mode=False) -> Tensor",
        **FUNCTIONAL,
    )
    def lp_pool(input, norm_type, kernel_size, stride, ceil_mode):
        mean = _avg_pool(n, input**norm_type, kernel_size, stride, 0, ceil_mode, True, None)
        total = mean * math.prod(sizes(kernel_size, n))
        zero = total <= 0
        return jnp.where(zero, 0, jnp.where(zero, 1, total) ** (1 / norm_type))


for _n in (1, 2, 3):
    _register(_n)


# Resampling: each dim by a matrix of weights, or by picking for the nearest ones


def _source_places(size: int, out: int, scale: float | None, align_corners: bool) -> np.ndarray:
    if align_corners:
        return np.arange(out) * ((size - 1) / (out - 1) if out > 1 else 0.0)
    return (np.arange(out) + 0.5) * (1 / scale if scale else size / out) - 0.5


def _linear_weights(size: int, out: int, scale: float | None, align_corners: bool) -> np.ndarray:
    place = np.maximum(_source_places(size, out, scale, align_corners), 0)
    low = np.minimum(place.astype(int), size - 1)
    share = np.clip(place - low, 0, 1)
    matrix = np.zeros((out, size))
    np.add.at(matrix, (np.arange(out), low), 1 - share)
    np.add.at(matrix, (np.arange(out), np.minimum(low + 1, size - 1)), share)
    return matrix


def _cubic_weights(size: int, out: int, scale: float | None, align_corners: bool) -> np.ndarray:
    """Returns weights of cubic convolution (Keys 1981) with a = -0.75."""
    place, a = _source_places(size, out, scale, align_corners), -0.75
    low = np.floor(place).astype(int)
    matrix = np.zeros((out, size))
    for offset in (-1, 0, 1, 2):
        x = np.abs(place - (low + offset))
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        np.add.at(matrix, (np.arange(out), np.clip(low + offset, 0, size - 1)), np.where(x <= 1, near, far))
    return matrix


MODES = {"nearest": None, "nearest-exact": None, "linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3, "area": None}


@register_op(
    "interpolate(Tensor input, Any size=None, Any scale_factor=None, str mode='nearest', bool? align_corners=None, "
    "bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
    **FUNCTIONAL,
)
def interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias):
    n = input.ndim - 2
    if mode not in MODES or MODES[mode] not in (None, n):
        raise ArgumentError(f"Got {input.ndim}D input, but mode {mode!r} of {', '.join(MODES)} does not take it")
    if antialias:
        raise ArgumentError("interpolate has no antialiasing here; blur the input with `avg_pool2d` or `conv2d` first")
    if (size is None) == (scale_factor is None):
        raise ArgumentError("only one of size or scale_factor should be defined, and one must be")
    spatial = input.shape[2:]
    scales: tuple[Any, ...] = (None,) * n
    if size is None:
        scales = tuple(scale_factor) if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * n
        outs = tuple(math.floor(m * scale) for m, scale in zip(spatial, scales, strict=True))
        if recompute_scale_factor:
            scales = (None,) * n
    else:
        outs = sizes(size, n)
    if mode == "area":
        return _adaptive_avg_pool(n, input, outs)
    for i, (m, out, scale) in enumerate(zip(spatial, outs, scales, strict=True)):
        axis = i + 2
        step = 1 / scale if scale else m / out
        if mode.startswith("nearest"):
            shift = 0.5 if mode == "nearest-exact" else 0.0
            place = np.floor((np.arange(out) + shift) * np.float32(step)).astype(int)
            input = jnp.take(input, jnp.asarray(np.minimum(place, m - 1)), axis=axis)
        else:
            weights = _cubic_weights if mode == "bicubic" else _linear_weights
            input = _by_matrix(input, weights(m, out, scale, bool(align_corners)), axis)
    return input
