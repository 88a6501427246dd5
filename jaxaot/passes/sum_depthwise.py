"""Depthwise convolutions, each feature with a kernel of its own, as sums of shifted products.

XLA on CPU has no kernel for them: a loop computes element by element, a gigaflop in a second. As chains of products and
sums over whole images they are computed as fast as memory is read.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot.ir.windows import Window, n_windows, padding_config, taps
from jaxaot.passes.decompose import decompose_some

MOST_TAPS = 81
"""The most elements of a kernel for which products are written out: 9 by 9."""


def sum_depthwise(closed: Any) -> Any:
    """Returns the graph with depthwise convolutions, and the gradients of their kernels, as sums of products.

        y: f32[16,32,64] = conv_general_dilated[               a = pad x
          feature_group_count=64 padding=((1,1),)] x w    →    b = mul a[:,0:32,:] w[0];  c = mul a[:,1:33,:] w[1]
                                                               d = mul a[:,2:34,:] w[2];  e = add b c;  y = add e d

    for x: f32[16,32,64] and w: f32[3,1,64], in short. Half precision is added up in single precision.
    """
    return decompose_some(closed, "conv_general_dilated", _sum)


def _sum(image: Any, kernel: Any, **params: Any) -> Any:
    numbers = params["dimension_numbers"]
    image = lax.transpose(image, numbers.lhs_spec)  # batch, features, space
    kernel = lax.transpose(kernel, numbers.rhs_spec)  # results, features, space
    n_results = kernel.shape[0]
    dtype = params["preferred_element_type"] or image.dtype
    if n_results < 2 or not jnp.issubdtype(dtype, jnp.floating) or 0 in (*image.shape, *kernel.shape):
        return NotImplemented
    wide = jnp.promote_types(dtype, jnp.float32)
    if params["batch_group_count"] == 1 and params["feature_group_count"] == n_results == image.shape[1]:
        found = taps(image.shape[2:], kernel.shape[2:], params) if math.prod(kernel.shape[2:]) <= MOST_TAPS else []
        if not found:
            return NotImplemented
        padded = _padded(image, params)
        total: Any = None
        for place, window in found:
            factor = lax.slice(kernel, (0, 0, *place), (*kernel.shape[:2], *(p + 1 for p in place)))
            shifted = lax.slice(padded, *_bounds(padded.shape, window))
            weights = lax.broadcast_in_dim(lax.reshape(factor, (n_results,)), shifted.shape, (1,))
            term = shifted.astype(wide) * weights.astype(wide)
            total = term if total is None else total + term
    elif params["feature_group_count"] == 1 and params["batch_group_count"] == n_results == image.shape[0]:
        # the gradient of such a kernel: features are what is summed over, and the image has one batch for each result
        sizes = [
            n_windows(size, window, axis, params)
            for axis, (size, window) in enumerate(zip(image.shape[2:], kernel.shape[2:], strict=True))
        ]
        if math.prod(sizes) > MOST_TAPS or min(sizes) < 1 or any(d != 1 for d in params["lhs_dilation"]):
            return NotImplemented
        padded, sums = _padded(image, params), []
        for place in itertools.product(*map(range, sizes)):
            window = []
            for axis, p in enumerate(place):
                start, step = p * params["window_strides"][axis], params["rhs_dilation"][axis]
                window.append((start, start + step * (kernel.shape[2 + axis] - 1) + 1, step))
            shifted = lax.slice(padded, *_bounds(padded.shape, tuple(window)))
            sums.append((shifted.astype(wide) * kernel.astype(wide)).sum(range(1, image.ndim)))
        total = lax.reshape(jnp.stack(sums, 1), (1, n_results, *sizes))
    else:
        return NotImplemented
    order = sorted(range(image.ndim), key=lambda i: numbers.out_spec[i])
    return lax.transpose(total, order).astype(dtype)


def _padded(image: Any, params: Any) -> Any:
    config = [(0, 0, 0)] * 2 + padding_config(params)
    return lax.pad(image, lax.full((), 0, image.dtype), config) if any(map(any, config)) else image


def _bounds(shape: Any, window: Window) -> Iterator[list[int]]:
    """Yields starts, limits and strides of a slice that takes a window of all images."""
    yield [0, 0, *(start for start, _, _ in window)]
    yield [*shape[:2], *(limit for _, limit, _ in window)]
    yield [1, 1, *(step for _, _, step in window)]
