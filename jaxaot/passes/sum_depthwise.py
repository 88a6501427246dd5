"""Depthwise convolutions, each feature with a kernel of its own, as sums of shifted products.

XLA on CPU has no kernel for them: a loop computes element by element, a gigaflop in a second. As chains of products and
sums over whole images they are computed as fast as memory is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot.ir.windows import Window, n_windows, padding_config, windows
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
    return decompose_some(closed, "conv_general_dilated", _has_features_alone, _sum)


def _has_features_alone(image: Any, kernel: Any, **params: Any) -> bool:
    dtype = params["preferred_element_type"] or image.dtype
    if not jnp.issubdtype(dtype, jnp.floating) or 0 in (*image.shape, *kernel.shape):
        return False
    numbers = params["dimension_numbers"]
    batch, features, *space = (image.shape[axis] for axis in numbers.lhs_spec)
    results, _, *window = (kernel.shape[axis] for axis in numbers.rhs_spec)
    if results < 2 or min(n_windows(space, window, params), default=0) < 1:
        return False
    if params["batch_group_count"] == 1 and params["feature_group_count"] == results == features:
        return math.prod(window) <= MOST_TAPS
    is_gradient = params["feature_group_count"] == 1 and params["batch_group_count"] == results == batch
    sizes = n_windows(space, window, params)
    return is_gradient and math.prod(sizes) <= MOST_TAPS and all(d == 1 for d in params["lhs_dilation"])


def _sum(image: Any, kernel: Any, **params: Any) -> Any:
    numbers = params["dimension_numbers"]
    image = lax.transpose(image, numbers.lhs_spec)  # batch, features, space
    kernel = lax.transpose(kernel, numbers.rhs_spec)  # results, features, space
    dtype = params["preferred_element_type"] or image.dtype
    compute = _of_features if params["batch_group_count"] == 1 else _of_gradient
    order = sorted(range(image.ndim), key=numbers.out_spec.__getitem__)
    return lax.transpose(compute(image, kernel, jnp.promote_types(dtype, jnp.float32), params), order).astype(dtype)


def _of_features(image: Any, kernel: Any, wide: Any, params: Any) -> Any:
    """Returns a sum with a term for each element of a kernel."""
    sizes = n_windows(image.shape[2:], kernel.shape[2:], params)
    padded, total = _padded(image, params), None
    for place, window in windows(kernel.shape[2:], params["rhs_dilation"], sizes, params["window_strides"]):
        factor = lax.slice(kernel, (0, 0, *place), (*kernel.shape[:2], *(p + 1 for p in place)))
        shifted = lax.slice(padded, *_bounds(padded.shape, window))
        weights = lax.broadcast_in_dim(lax.reshape(factor, kernel.shape[:1]), shifted.shape, (1,))
        term = shifted.astype(wide) * weights.astype(wide)
        total = term if total is None else total + term
    return total


def _of_gradient(image: Any, kernel: Any, wide: Any, params: Any) -> Any:
    """Returns a sum of products for each element of the gradient of such a kernel.

    Its features are what is summed over, and its image has one batch for each result.
    """
    sizes = n_windows(image.shape[2:], kernel.shape[2:], params)
    padded, sums = _padded(image, params), []
    for _, window in windows(sizes, params["window_strides"], kernel.shape[2:], params["rhs_dilation"]):
        shifted = lax.slice(padded, *_bounds(padded.shape, window))
        sums.append((shifted.astype(wide) * kernel.astype(wide)).sum(range(1, image.ndim)))
    return lax.reshape(jnp.stack(sums, 1), (1, kernel.shape[0], *sizes))


def _padded(image: Any, params: Any) -> Any:
    config = [(0, 0, 0)] * 2 + padding_config(params)
    return lax.pad(image, lax.full((), 0, image.dtype), config) if any(map(any, config)) else image


def _bounds(shape: Any, window: Window) -> Iterator[list[int]]:
    """Yields starts, limits and strides of a slice that takes a window of all images."""
    yield [0, 0, *(start for start, _, _ in window)]
    yield [*shape[:2], *(limit for _, limit, _ in window)]
    yield [1, 1, *(step for _, _, step in window)]
