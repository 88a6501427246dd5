"""Pooling over windows of the last dims, and its inverse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._typing import Array, DTypeLike, Shape, Sizes
from jaxaot.errors import ArgumentError, ShapeMismatchError
from jaxaot.ops.dims import sizes
from jaxaot.ops.promotion import default_int, is_inexact
from jaxaot.ops.slopes import with_slope
from jaxaot.ops.table import FUNCTIONAL, SHARED, register_op
from jaxaot.views.layout import Layout, channels_last, contiguous


def channels_kept(operands: Sequence[Layout], size: Shape, dtype: np.dtype, static: tuple[Any, ...]) -> Layout:
    """Channels innermost if those of the input are."""
    if len(size) in (4, 5) and len(operands[0].size) == len(size) and operands[0].suggests_channels_last:
        return channels_last(size, dtype)
    return contiguous(size, dtype)


def image_channels_kept(operands: Sequence[Layout], size: Shape, dtype: np.dtype, static: tuple[Any, ...]) -> Layout:
    """Channels innermost if those of the input are, where these are images and not volumes."""
    return channels_kept(operands, size, dtype, static) if len(size) == 4 else contiguous(size, dtype)


def _averaged_kept(operands: Sequence[Layout], size: Shape, dtype: np.dtype, static: tuple[Any, ...]) -> Layout:
    """Volumes keep their channels innermost where all of one becomes its mean."""
    rule = channels_kept if math.prod(size[2:]) == 1 else image_channels_kept
    return rule(operands, size, dtype, static)


def _given(stride: Sizes, kernel: tuple[int, ...], n: int) -> tuple[int, ...]:
    return kernel if stride is None or stride == () else sizes(stride, n, "stride")


def _spatial(name: str, input: Array, n: int, may_lack_channels: bool = False) -> tuple[int, ...]:
    if input.ndim not in (n + 1, n + 2):
        raise ShapeMismatchError(
            f"Expected {n + 1}D or {n + 2}D input to {name}, but got input of size: {list(input.shape)}"
        )
    if 0 in input.shape[-n if may_lack_channels else -n - 1 :]:
        raise ShapeMismatchError(
            f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size for input to {name}, "
            f"but got: {list(input.shape)}"
        )
    return input.shape[-n:]


def _windows(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> tuple[int, int]:
    """Returns how many windows there are, and how far the last one reaches beyond the padded end."""
    if min(kernel, stride, dilation) < 1:
        raise ArgumentError(
            f"kernel size, stride and dilation should be greater than zero, but got kernel={kernel}, stride={stride}, "
            f"dilation={dilation}"
        )
    reach = dilation * (kernel - 1) + 1
    if padding < 0:
        raise ArgumentError(f"pad must be non-negative, but got pad: {padding}")
    if padding > reach // 2:
        raise ArgumentError(
            f"pad should be at most half of effective kernel size, but got pad={padding}, kernel_size={kernel} and "
            f"dilation={dilation}"
        )
    span = size + 2 * padding - reach
    n = (math.ceil(span / stride) if ceil_mode else span // stride) + 1
    if ceil_mode and (n - 1) * stride >= size + padding:
        n -= 1  # the last window must begin inside
    if n <= 0:
        raise ShapeMismatchError(f"a window of {reach} over {size} (padding {padding}) yields an output of size {n}")
    return n, max((n - 1) * stride + reach - size - 2 * padding, 0)


def _lowest(dtype: DTypeLike) -> Any:
    return np.asarray(-np.inf if is_inexact(dtype) else np.iinfo(dtype).min, dtype)


# Largest elements


def _largest(input: Array, places: Sequence[np.ndarray], inside: Sequence[np.ndarray]) -> tuple[Array, Array]:
    """Returns the largest element of each window and its place in the flattened spatial dims, the first of equals.

    Args:
      input: Values; the last dims are spatial.
      places: For each spatial dim, where the windows look: (windows, elements).
      inside: Which of these places count.
    """
    n = len(places)
    lead, spatial = input.shape[: input.ndim - n], input.shape[input.ndim - n :]
    counts = [place.shape[0] for place in places]
    value, flat, valid = input, np.zeros((), np.int64), np.ones((), bool)
    for i in range(n):
        value = jnp.take(value, jnp.asarray(np.clip(places[i], 0, spatial[i] - 1)), axis=len(lead) + 2 * i)
        shape = [1] * (2 * n)
        shape[2 * i], shape[2 * i + 1] = places[i].shape
        flat = flat * spatial[i] + places[i].reshape(shape)
        valid = valid & inside[i].reshape(shape)
    elements = math.prod(place.shape[1] for place in places)
    window_order = [*range(0, 2 * n, 2), *range(1, 2 * n, 2)]
    value = value.transpose([*range(len(lead)), *(len(lead) + i for i in window_order)]).reshape(
        *lead, *counts, math.prod(place.shape[1] for place in places)
    )
    full = [m for place in places for m in place.shape]
    valid = np.broadcast_to(valid, full).transpose(window_order).reshape(*counts, elements)
    flat = np.broadcast_to(flat, full).transpose(window_order).reshape(*counts, elements)
    best = _place_of_largest(jnp.where(valid, lax.stop_gradient(value), _lowest(input.dtype)))
    # a window of nothing but the lowest value may have found its padding
    counted = jnp.take_along_axis(jnp.broadcast_to(jnp.asarray(valid), value.shape), best, axis=-1)
    best = jnp.where(counted, best, jnp.asarray(np.argmax(valid, axis=-1))[..., None])
    picked = jnp.take_along_axis(value, best, axis=-1)[..., 0]
    index = jnp.take_along_axis(jnp.broadcast_to(jnp.asarray(flat, default_int()), value.shape), best, axis=-1)[..., 0]
    return picked, index


def _place_of_largest(value: Array) -> Array:
    """Returns where the largest element of each row is: the last NaN, or else the first of equals."""
    best = jnp.argmax(value, axis=-1, keepdims=True)
    if not is_inexact(value.dtype):
        return best
    last = value.shape[-1] - 1 - jnp.argmax(jnp.flip(value, -1), axis=-1, keepdims=True)
    return jnp.where(jnp.isnan(jnp.take_along_axis(value, best, axis=-1)), last, best)


def _max_pool(
    n: int, input: Array, kernel_size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> tuple[Array, Array]:
    spatial = _spatial(f"max_pool{n}d", input, n)
    kernel, padding, dilation = sizes(kernel_size, n), sizes(padding, n), sizes(dilation, n)
    stride = _given(stride, kernel, n)
    counts = [_windows(spatial[i], kernel[i], stride[i], padding[i], dilation[i], ceil_mode)[0] for i in range(n)]
    places = [
        np.arange(counts[i])[:, None] * stride[i] - padding[i] + np.arange(kernel[i])[None, :] * dilation[i]
        for i in range(n)
    ]
    inside = [(place >= 0) & (place < size) for place, size in zip(places, spatial, strict=True)]
    return _largest(input, places, inside)


def _max_pool_value(n: int, input: Array, kernel_size: Sizes, stride: Sizes, padding: Sizes, ceil: bool) -> Array:
    """Returns the largest elements of the windows by XLA's window reduction."""
    spatial = _spatial(f"max_pool{n}d", input, n)
    kernel, padding = sizes(kernel_size, n), sizes(padding, n)
    stride = _given(stride, kernel, n)
    lead = input.ndim - n
    extras = [_windows(spatial[i], kernel[i], stride[i], padding[i], 1, ceil)[1] for i in range(n)]
    largest = lambda value: lax.reduce_window(
        value,
        _lowest(value.dtype),
        lax.max,
        (1,) * lead + kernel,
        (1,) * lead + stride,
        [(0, 0)] * lead + [(p, p + extra) for p, extra in zip(padding, extras, strict=True)],
    )
    if not is_inexact(input.dtype):
        return largest(input)
    # XLA compares: where it looks for what was largest, it would pass over NaN
    comparable = with_slope(lax.stop_gradient(jnp.where(jnp.isnan(input), jnp.inf, input)), input)
    return with_slope(largest(lax.stop_gradient(input)), largest(comparable))


def _bins(size: int, out: int) -> list[tuple[int, int]]:
    """Returns where each of `out` adaptive windows over `size` elements starts and ends."""
    return [(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]


def _adaptive_max_pool(n: int, input: Array, output_size: Sizes) -> tuple[Array, Array]:
    spatial = _spatial(f"adaptive_max_pool{n}d", input, n)
    places, inside = [], []
    for size, out in zip(spatial, _out_sizes(output_size, spatial), strict=True):
        starts, ends = np.array(_bins(size, out), np.int64).reshape(out, 2).T[..., None]
        place = starts + np.arange(max((ends - starts).max(initial=1), 1))
        places.append(place)
        inside.append(place < ends)
    return _largest(input, places, inside)


def _fractional_starts(sample: Array, size: int, out: int, kernel: int) -> Array:
    """Returns where the windows start, for a random number each in [0, 1): ATen's `generate_intervals`."""
    last = jnp.full((*sample.shape, 1), size - kernel)
    if out == 1:
        return last
    step, sample = (size - kernel) / (out - 1), sample[..., None]
    starts = jnp.floor((jnp.arange(out - 1) + sample) * step) - jnp.floor(sample * step)
    return jnp.concatenate([starts.astype(last.dtype), last], axis=-1)


def _fractional_max_pool(
    n: int, key: Array, input: Array, kernel_size: Sizes, output_size: Sizes, output_ratio: Any, samples: Array | None
) -> tuple[Array, Array]:
    name = f"fractional_max_pool{n}d"
    spatial = _spatial(name, input, n)
    kernel = sizes(kernel_size, n)
    if output_size is not None:
        outs = sizes(output_size, n)
    elif output_ratio is not None:
        ratios = output_ratio if isinstance(output_ratio, tuple) else (output_ratio,) * n
        outs = tuple(int(size * ratio) for size, ratio in zip(spatial, ratios, strict=True))
    else:
        raise ArgumentError(f"{name} requires specifying either an output_size or an output_ratio")
    for size, out, k in zip(spatial, outs, kernel, strict=True):
        if out + k - 1 > size or out < 1:
            raise ShapeMismatchError(f"{name}(): {out} windows of {k} are too large relative to the input's {size}")
    lead = input.shape[: input.ndim - n]
    if samples is None:
        samples = jax.random.uniform(key, (lead[0] if len(lead) == 2 else 1, lead[-1], n), input.dtype)
    if samples.ndim != 3 or samples.shape[-1] != n:
        raise ShapeMismatchError(f"{name}(): expected _random_samples (batch, channels, {n}), got {samples.shape}")
    samples = samples.reshape(*lead, n)
    flat: Any = jnp.zeros((), int)
    for i in range(n):
        sample = samples[..., n - 1 - i if n == 2 else i]
        start = _fractional_starts(sample, spatial[i], outs[i], kernel[i])
        place = start[..., None] + jnp.arange(kernel[i])
        shape = [1] * (2 * n)
        shape[i], shape[n + i] = outs[i], kernel[i]
        flat = flat * spatial[i] + place.reshape(*lead, *shape)
    flat = flat.reshape(*lead, math.prod(outs), math.prod(kernel))
    values = jnp.take_along_axis(input.reshape(*lead, 1, math.prod(spatial)), flat, axis=-1)
    best = _place_of_largest(lax.stop_gradient(values))
    results = (jnp.take_along_axis(x, best, axis=-1).reshape(*lead, *outs) for x in (values, flat))
    picked, index = results
    return picked, index.astype(default_int())


# Averages


def _avg_pool(
    n: int,
    input: Array,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_padding: bool,
    divisor: Any,
) -> Array:
    spatial = _spatial(f"avg_pool{n}d", input, n)
    kernel, padding = sizes(kernel_size, n), sizes(padding, n)
    stride = _given(stride, kernel, n)
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
    if divisor == 0:
        raise ArgumentError("divisor must be not zero")
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
    for i, (start, end) in enumerate(_bins(size, out)):
        matrix[i, start:end] = 1 / (end - start)
    return matrix


def _out_sizes(output_size: Sizes, spatial: tuple[int, ...]) -> tuple[int, ...]:
    given = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * len(spatial)
    if len(given) != len(spatial):
        raise ArgumentError(f"output_size must have {len(spatial)} elements, but got {given}")
    if any(out is not None and out < 0 for out in given):
        raise ArgumentError(f"elements of output_size must be greater than or equal to 0, but received {given}")
    return tuple(size if out is None else out for out, size in zip(given, spatial, strict=True))


def by_matrix(value: Array, matrix: np.ndarray, axis: int) -> Array:
    """Returns `value` with `matrix` applied along `axis`."""
    moved = jnp.moveaxis(value, axis, -1)
    result = jnp.matmul(moved, jnp.asarray(matrix.T, value.dtype), precision=lax.Precision.HIGHEST)
    return jnp.moveaxis(result, -1, axis)


def adaptive_avg_pool_values(n: int, input: Array, output_size: Sizes) -> Array:
    """Returns the averages of `output_size` windows that together cover the last `n` dims."""
    spatial = _spatial(f"adaptive_avg_pool{n}d", input, n, may_lack_channels=True)
    for i, out in enumerate(_out_sizes(output_size, spatial)):
        axis = input.ndim - n + i
        if out == 1:
            input = jnp.mean(input, axis=axis, keepdims=True)
        elif out != spatial[i]:
            input = by_matrix(input, _averages(spatial[i], out), axis)
    return input


def _lp_pool(n: int, input: Array, norm_type: float, kernel_size: Sizes, stride: Sizes, ceil_mode: bool) -> Array:
    mean = _avg_pool(n, jnp.power(input, norm_type), kernel_size, stride, 0, ceil_mode, True, None)
    total = mean * math.prod(sizes(kernel_size, n))
    zero = total == 0
    return jnp.where(zero, 0, jnp.power(jnp.where(zero, 1, total), 1 / norm_type))


# The inverse


def _unpooled_sizes(
    n: int, spatial: Shape, kernel: Shape, stride: Shape, padding: Shape, output_size: Sizes | None
) -> Shape:
    usual = [(spatial[i] - 1) * stride[i] + kernel[i] - 2 * padding[i] for i in range(n)]
    if output_size is None:
        return tuple(usual)
    given = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * n
    given = given[2:] if len(given) == n + 2 else given
    if len(given) != n:
        raise ArgumentError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of {len(given)}"
        )
    for i in range(n):
        if not usual[i] - stride[i] < given[i] < usual[i] + stride[i]:
            raise ArgumentError(
                f'invalid output_size "{given}" (dim {i} must be between {usual[i] - stride[i]} and '
                f"{usual[i] + stride[i]})"
            )
    return given


def _max_unpool(
    n: int, input: Array, indices: Array, kernel_size: Sizes, stride: Sizes, padding: Sizes, output_size: Sizes
) -> Array:
    spatial = _spatial(f"max_unpool{n}d", input, n)
    if indices.shape != input.shape:
        raise ShapeMismatchError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got indices "
            f"tensor with shape: {list(indices.shape)}"
        )
    kernel = sizes(kernel_size, n)
    outs = _unpooled_sizes(n, spatial, kernel, _given(stride, kernel, n), sizes(padding, n), output_size)
    lead = input.shape[: input.ndim - n]
    value, place = (x.reshape(math.prod(lead), math.prod(spatial)) for x in (input, indices))
    empty = jnp.zeros((math.prod(lead), math.prod(outs)), input.dtype).at[jnp.arange(math.prod(lead))[:, None], place]
    # several windows may have picked one place: each of them receives its whole gradient
    return with_slope(empty.set(lax.stop_gradient(value)), empty.add(value)).reshape(*lead, *outs)


def _register(n: int) -> None:
    window = "(Tensor input, Any kernel_size, Any stride=None, Any padding=0, "

    @register_op(f"max_pool{n}d{window}Any dilation=1, bool ceil_mode=False) -> Tensor", layout=channels_kept, **SHARED)
    def max_pool(input, kernel_size, stride, padding, dilation, ceil_mode):
        if any(step != 1 for step in sizes(dilation, n)):  # XLA has no derivative of dilated windows
            return _max_pool(n, input, kernel_size, stride, padding, dilation, ceil_mode)[0]
        return _max_pool_value(n, input, kernel_size, stride, padding, ceil_mode)

    @register_op(
        f"max_pool{n}d_with_indices{window}Any dilation=1, bool ceil_mode=False, bool return_indices=False) -> "
        "(Tensor, Tensor)",
        layout=channels_kept,
        **FUNCTIONAL,
    )
    def max_pool_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
        return _max_pool(n, input, kernel_size, stride, padding, dilation, ceil_mode)

    divisor = ", int? divisor_override=None" if n > 1 else ""

    @register_op(
        f"avg_pool{n}d{window}bool ceil_mode=False, bool count_include_pad=True{divisor}) -> Tensor",
        out=n > 1,
        layout=image_channels_kept,
        **FUNCTIONAL,
    )
    def avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override=None):
        return _avg_pool(n, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    @register_op(f"adaptive_avg_pool{n}d(Tensor input, Any output_size) -> Tensor", layout=_averaged_kept, **FUNCTIONAL)
    def adaptive_avg_pool(input, output_size):
        return adaptive_avg_pool_values(n, input, output_size)

    @register_op(
        f"adaptive_max_pool{n}d(Tensor input, Any output_size) -> Tensor", layout=image_channels_kept, **FUNCTIONAL
    )
    def adaptive_max_pool(input, output_size):
        return _adaptive_max_pool(n, input, output_size)[0]

    @register_op(
        f"adaptive_max_pool{n}d_with_indices(Tensor input, Any output_size, bool return_indices=False) -> "
        "(Tensor, Tensor)",
        layout=image_channels_kept,
        **FUNCTIONAL,
    )
    def adaptive_max_pool_with_indices(input, output_size, return_indices):
        return _adaptive_max_pool(n, input, output_size)

    @register_op(
        f"lp_pool{n}d(Tensor input, float norm_type, Any kernel_size, Any stride=None, bool ceil_mode=False) -> Tensor",
        layout=image_channels_kept,
        **FUNCTIONAL,
    )
    def lp_pool(input, norm_type, kernel_size, stride, ceil_mode):
        return _lp_pool(n, input, norm_type, kernel_size, stride, ceil_mode)

    @register_op(
        f"max_unpool{n}d(Tensor input, Tensor indices, Any kernel_size, Any stride=None, Any padding=0, "
        "Any output_size=None) -> Tensor",
        layout=image_channels_kept,
        **FUNCTIONAL,
    )
    def max_unpool(input, indices, kernel_size, stride, padding, output_size):
        return _max_unpool(n, input, indices, kernel_size, stride, padding, output_size)


def _register_fractional(n: int) -> None:
    operands = "(Tensor input, Any kernel_size, Any output_size=None, Any output_ratio=None, "
    settings: dict[str, Any] = {"random": True, **FUNCTIONAL}

    @register_op(f"fractional_max_pool{n}d{operands}Tensor? _random_samples=None) -> Tensor", **settings)
    def pool(key, input, kernel_size, output_size, output_ratio, _random_samples):
        return _fractional_max_pool(n, key, input, kernel_size, output_size, output_ratio, _random_samples)[0]

    @register_op(
        f"fractional_max_pool{n}d_with_indices{operands}bool return_indices=False, Tensor? _random_samples=None) -> "
        "(Tensor, Tensor)",
        **settings,
    )
    def pool_with_indices(key, input, kernel_size, output_size, output_ratio, return_indices, _random_samples):
        return _fractional_max_pool(n, key, input, kernel_size, output_size, output_ratio, _random_samples)


for _n in (1, 2, 3):
    _register(_n)
for _n in (2, 3):
    _register_fractional(_n)
