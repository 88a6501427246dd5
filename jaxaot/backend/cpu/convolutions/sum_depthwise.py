"""Depthwise convolutions, each feature with a kernel of its own, as sums of shifted products.

XLA on CPU has no kernel for them: a loop computes element by element, a gigaflop in a second. As chains of products and
sums over whole images they are computed as fast as memory is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array, ClosedJaxpr, DTypeLike
from jaxaot.backend.cpu.analysis.convolution_windows import Window, n_windows, pad, padding_config, windows
from jaxaot.backend.cpu.machine import machine
from jaxaot.passes.decompose import decompose_some


def sum_depthwise(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with depthwise convolutions, and the gradients of their kernels, as sums of products.

        y: f32[16,32,64] = conv_general_dilated[               a = pad x
          feature_group_count=64 padding=((1,1),)] x w    →    b = mul a[:,0:32,:] w[0];  c = mul a[:,1:33,:] w[1]
                                                               d = mul a[:,2:34,:] w[2];  e = add b c;  y = add e d

    for x: f32[16,32,64] and w: f32[3,1,64], in short. Half precision is added up in single precision.
    """
    return decompose_some(closed, "conv_general_dilated", _has_features_alone, _sum)


def _has_features_alone(image: Array, kernel: Array, **params: Any) -> bool:
    dtype = params["preferred_element_type"] or image.dtype
    if not jnp.issubdtype(dtype, jnp.floating) or 0 in (*image.shape, *kernel.shape):
        return False
    numbers = params["dimension_numbers"]
    batch, features, *space = (image.shape[axis] for axis in numbers.lhs_spec)
    results, _, *window = (kernel.shape[axis] for axis in numbers.rhs_spec)
    if results < 2 or min(n_windows(space, window, params), default=0) < 1:
        return False
    if params["batch_group_count"] == 1 and params["feature_group_count"] == results == features:
        return math.prod(window) <= machine().max_depthwise_taps
    if min(kernel.shape[axis] for axis in numbers.rhs_spec[1:]) > machine().max_depthwise_terms:
        return False
    is_gradient = params["feature_group_count"] == 1 and params["batch_group_count"] == results == batch
    sizes = n_windows(space, window, params)
    return (
        is_gradient and math.prod(sizes) <= machine().max_depthwise_taps and all(d == 1 for d in params["lhs_dilation"])
    )


def _sum(image: Array, kernel: Array, **params: Any) -> Any:
    dtype = params["preferred_element_type"] or image.dtype
    compute = _of_features if params["batch_group_count"] == 1 else _of_gradient
    return compute(image, kernel, jnp.promote_types(dtype, jnp.float32), params).astype(dtype)


def _of_features(image: Array, kernel: Array, wide: DTypeLike, params: dict[str, Any]) -> Any:
    """Returns a sum with a term for each element of a kernel."""
    numbers = params["dimension_numbers"]
    kernel = lax.transpose(kernel, numbers.rhs_spec)  # results, features, space
    sizes = n_windows([image.shape[axis] for axis in numbers.lhs_spec[2:]], kernel.shape[2:], params)
    padded = _padded(image, params)
    total: Any = None
    for place, window in windows(kernel.shape[2:], params["rhs_dilation"], sizes, params["window_strides"]):
        factor = lax.slice(kernel, (0, 0, *place), (*kernel.shape[:2], *(p + 1 for p in place)))
        shifted = lax.slice(padded, *_bounds(padded, window, numbers))
        weights = lax.broadcast_in_dim(lax.reshape(factor, kernel.shape[:1]), shifted.shape, numbers.lhs_spec[1:2])
        term = shifted.astype(wide) * weights.astype(wide)
        total = term if total is None else total + term
    return lax.transpose(total, [numbers.lhs_spec[numbers.out_spec.index(axis)] for axis in range(image.ndim)])


def _of_gradient(image: Array, kernel: Array, wide: DTypeLike, params: dict[str, Any]) -> Any:
    """Returns a sum of products for each element of the gradient of such a kernel.

    Its features are what is summed over, and its image has one batch for each result. XLA would write the products to
    memory, all of them, before it adds them up; added up along one axis first, they are one kernel.
    """
    numbers = params["dimension_numbers"]
    result = numbers.lhs_spec[0]
    kernel = lax.transpose(kernel, _in_image(numbers.rhs_spec, numbers))
    window = [kernel.shape[axis] for axis in numbers.lhs_spec[2:]]
    sizes = n_windows([image.shape[axis] for axis in numbers.lhs_spec[2:]], window, params)
    padded, sums = _padded(image, params), []
    axes = [
        axis for axis in range(image.ndim) if axis != result and kernel.shape[axis] <= machine().max_depthwise_terms
    ]
    along = max(axes, key=kernel.shape.__getitem__)
    for _, bounds in windows(sizes, params["window_strides"], window, params["rhs_dilation"]):
        shifted = lax.slice(padded, *_bounds(padded, bounds, numbers))
        total: Any = None
        for i in range(kernel.shape[along]):
            left, right = (lax.index_in_dim(x, i, along, False).astype(wide) for x in (shifted, kernel))
            total = left * right if total is None else total + left * right
        kept = result - (along < result)
        rest = [axis for axis in range(image.ndim - 1) if axis != kept]
        sums.append(lax.optimization_barrier(total).sum(rest))
    whole = lax.reshape(jnp.stack(sums, 1), (1, kernel.shape[result], *sizes))
    return lax.transpose(whole, sorted(range(image.ndim), key=numbers.out_spec.__getitem__))


def _padded(image: Array, params: dict[str, Any]) -> Any:
    config = _in_image([(0, 0, 0), (0, 0, 0), *padding_config(params)], params["dimension_numbers"])
    return lax.optimization_barrier(pad(image, config))


def _bounds(image: Array, window: Window, numbers: Any) -> Iterator[Any]:
    """Returns starts, limits and strides of a slice that takes a window of all images."""
    batch, features = (image.shape[axis] for axis in numbers.lhs_spec[:2])
    return zip(*_in_image([(0, batch, 1), (0, features, 1), *window], numbers), strict=True)


def _in_image(of_roles: Sequence[Any], numbers: Any) -> list[Any]:
    """Returns values for batch, features and spatial axes in the order of the axes of the image."""
    return [of_roles[numbers.lhs_spec.index(axis)] for axis in range(len(of_roles))]
