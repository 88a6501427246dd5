"""Convolutions of images of few features as one matrix product: `im2col`.

Off unless it is named: the unfolded image has as many copies of each pixel as the kernel has elements. On CPU that
memory buys the more time the smaller images are, see `docs/speed.md`.

Chellapilla, Puri and Simard, High Performance Convolutional Neural Networks for Document Processing, 2006.
"""

from __future__ import annotations

import math
from typing import Any

from jax import lax

from jaxaot._typing import Array, ClosedJaxpr
from jaxaot.backend.cpu.analysis.convolution_windows import features_last, n_windows, pad, padding_config, windows
from jaxaot.passes.decompose import decompose_some

MAX_FEATURES = 4
"""Images with more are no stems: convolutions of them have fast kernels."""

MAX_TERMS = 256
"""The most terms of the sum that makes an element, features times elements of the kernel."""


def unfold_stems(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with convolutions of few features as products of unfolded images.

        y: f32[16,32,32,8] =                                         a: f32[16,32,32,27] = concatenate of 9 slices of x
          conv_general_dilated[padding=((1,1),(1,1))] x w     →      b: f32[27,8] = reshape w
                                                                     y: f32[16,32,32,8] = dot_general[((3,),(0,))] a b

    for x: f32[16,32,32,3] and w: f32[3,3,3,8]. The same terms are added up, in another order at most.
    """
    return decompose_some(closed, "conv_general_dilated", _is_stem, _unfolded)


def _is_stem(image: Array, kernel: Array, **params: Any) -> bool:
    for_image, for_kernel, _ = features_last(params["dimension_numbers"])
    _, *space, n_features = (image.shape[axis] for axis in for_image)
    *window, _, _ = (kernel.shape[axis] for axis in for_kernel)
    is_whole = params["feature_group_count"] == params["batch_group_count"] == 1
    if not is_whole or 0 in (*image.shape, *kernel.shape) or any(holes > 1 for holes in params["lhs_dilation"]):
        return False
    is_small = n_features <= MAX_FEATURES and n_features < n_features * math.prod(window) <= MAX_TERMS
    return is_small and min(n_windows(space, window, params)) >= 1


def _unfolded(image: Array, kernel: Array, **params: Any) -> Any:
    for_image, for_kernel, back = features_last(params["dimension_numbers"])
    image, kernel = lax.transpose(image, for_image), lax.transpose(kernel, for_kernel)
    n_batch, *space, n_features = image.shape
    sizes = n_windows(space, kernel.shape[:-2], params)
    config = [(0, 0, 0), *padding_config(params), (0, 0, 0)]
    image = pad(image, config)
    shifted = []
    for _, window in windows(kernel.shape[:-2], params["rhs_dilation"], sizes, params["window_strides"]):
        starts, limits, steps = zip(*window, strict=True)
        shifted.append(lax.slice(image, (0, *starts, 0), (n_batch, *limits, n_features), (1, *steps, 1)))
    columns = lax.concatenate(shifted, image.ndim - 1)
    product = lax.dot_general(
        columns,
        lax.reshape(kernel, (math.prod(kernel.shape[:-1]), kernel.shape[-1])),
        (((image.ndim - 1,), (0,)), ((), ())),
        precision=params["precision"],
        preferred_element_type=params["preferred_element_type"],
    )
    return lax.transpose(product, back)
