"""Convolutions whose kernel is larger than their image, such as gradients of kernels of padded layers.

XLA's simplifier swaps the operands of such a convolution and reverses the kernel. The swapped form has no fast kernel
on CPU and falls back to a loop, forty times slower.
"""

from __future__ import annotations

import math
from typing import Any

from jax import lax

from jaxaot._typing import Array, ClosedJaxpr
from jaxaot.backend.cpu.analysis.convolution_windows import pad, padding_config
from jaxaot.passes.decompose import decompose_some


def pad_images(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with images padded before a convolution where its kernel is larger than they are.

        y = conv_general_dilated[padding=((2,2),(2,2))] x w    →    a = pad x;  b = optimization_barrier a
                                                                    y = conv_general_dilated[padding=((0,0),(0,0))] b w

    for x: f32[32,30,30,16] and w: f32[32,32,16,32]. Behind the barrier the padding stays where it is.
    """
    return decompose_some(closed, "conv_general_dilated", _meets_larger, _padded_before)


def _meets_larger(image: Array, kernel: Array, **params: Any) -> bool:
    numbers = params["dimension_numbers"]
    size, window = (
        math.prod(v.shape[i] for i in spec[2:]) for v, spec in ((image, numbers.lhs_spec), (kernel, numbers.rhs_spec))
    )
    return window > size and 0 not in (*image.shape, *kernel.shape) and any(map(any, padding_config(params)))


def _padded_before(image: Array, kernel: Array, **params: Any) -> Any:
    config = [(0, 0, 0)] * image.ndim
    for axis, amounts in zip(params["dimension_numbers"].lhs_spec[2:], padding_config(params), strict=True):
        config[axis] = amounts
    image, n_axes = lax.optimization_barrier(pad(image, config)), image.ndim - 2
    return lax.conv_general_dilated_p.bind(
        image, kernel, **{**params, "padding": ((0, 0),) * n_axes, "lhs_dilation": (1,) * n_axes}
    )
