"""Convolutions of images of few features as one matrix product: `im2col`.

Off unless it is named: on CPU it gains where images are small, such as 32 by 32 with three features, and loses where
the unfolded image, which has as many copies of each pixel as the kernel has elements, is much to write.

Chellapilla, Puri and Simard, High Performance Convolutional Neural Networks for Document Processing, 2006.
"""

from __future__ import annotations

import math
from typing import Any

from jax import lax

from jaxaot.ir.windows import padding_config, taps
from jaxaot.passes.decompose import decompose_some

MOST_FEATURES = 4
"""Images with more are no stems: convolutions of them have fast kernels."""

MOST_TERMS = 256
"""The most terms of the sum that makes an element, features times elements of the kernel."""


def unfold_stems(closed: Any) -> Any:
    """Returns the graph with convolutions of few features as products of unfolded images.

        y: f32[16,32,32,8] =                                         a: f32[16,32,32,27] = concatenate of 9 slices of x
          conv_general_dilated[padding=((1,1),(1,1))] x w     →      b: f32[27,8] = reshape w
                                                                     y: f32[16,32,32,8] = dot_general[((3,),(0,))] a b

    for x: f32[16,32,32,3] and w: f32[3,3,3,8]. The same terms are added up, in another order at most.
    """
    return decompose_some(closed, "conv_general_dilated", _unfolded)


def _unfolded(image: Any, kernel: Any, **params: Any) -> Any:
    numbers = params["dimension_numbers"]
    image = lax.transpose(image, (numbers.lhs_spec[0], *numbers.lhs_spec[2:], numbers.lhs_spec[1]))
    kernel = lax.transpose(kernel, (*numbers.rhs_spec[2:], numbers.rhs_spec[1], numbers.rhs_spec[0]))
    n_batch, *space, n_features = image.shape
    n_terms = math.prod(kernel.shape[:-1])
    is_stem = n_features <= MOST_FEATURES and n_features < n_terms <= MOST_TERMS
    if not is_stem or (params["feature_group_count"], params["batch_group_count"]) != (1, 1):
        return NotImplemented
    found = taps(space, kernel.shape[:-2], params)
    if not found or 0 in image.shape or any(holes > 1 for holes in params["lhs_dilation"]):
        return NotImplemented
    config = [(0, 0, 0), *padding_config(params), (0, 0, 0)]
    padded = lax.pad(image, lax.full((), 0, image.dtype), config)
    shifted = []
    for _, window in found:
        starts, limits, steps = zip(*window, strict=True)
        shifted.append(lax.slice(padded, (0, *starts, 0), (n_batch, *limits, n_features), (1, *steps, 1)))
    columns = lax.concatenate(shifted, image.ndim - 1)
    product = lax.dot_general(
        columns,
        lax.reshape(kernel, (n_terms, kernel.shape[-1])),
        (((image.ndim - 1,), (0,)), ((), ())),
        precision=params["precision"],
        preferred_element_type=params["preferred_element_type"],
    )
    order = numbers.out_spec[0], *numbers.out_spec[2:], numbers.out_spec[1]
    return lax.transpose(product, sorted(range(image.ndim), key=lambda i: order[i]))
