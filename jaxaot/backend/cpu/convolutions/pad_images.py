"""Convolutions whose kernel is larger than their image, such as gradients of kernels of padded layers.

XLA's simplifier swaps the operands of such a convolution and reverses the kernel. The swapped form has no fast kernel
on CPU and falls back to a loop, forty times slower. So the image is padded first. Where the padded image would be
larger than the kernel, as in gradients of transposed convolutions, whose image has holes, the operands are swapped
here: what is reversed is the small result, and there is a fast kernel for it.
"""

from __future__ import annotations

import math
from typing import Any

from jax import lax

from jaxaot._typing import Array, ClosedJaxpr
from jaxaot.backend.cpu.analysis.convolution_windows import n_windows, pad, padding_config
from jaxaot.passes.decompose import decompose_some


def pad_images(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with images padded before a convolution where its kernel is larger than they are.

        y = conv_general_dilated[padding=((2,2),(2,2))] x w    →    a = pad x;  b = optimization_barrier a
                                                                    y = conv_general_dilated[padding=((0,0),(0,0))] b w

    for x: f32[32,30,30,16] and w: f32[32,32,16,32]. Behind the barrier the padding stays where it is. Or with operands
    swapped, for x: f32[16,16,16,32] with holes and w: f32[16,32,32,3]:

        y = conv_general_dilated[lhs_dilation=(2,2)] x w       →    a = conv_general_dilated[rhs_dilation=(2,2)] w x
                                                                    y = rev[dimensions=(1,2)] a
    """
    return decompose_some(closed, "conv_general_dilated", _meets_larger, _with_fast_kernel)


def _meets_larger(image: Array, kernel: Array, **params: Any) -> bool:
    numbers = params["dimension_numbers"]
    size, window = (
        math.prod(v.shape[i] for i in spec[2:]) for v, spec in ((image, numbers.lhs_spec), (kernel, numbers.rhs_spec))
    )
    return window > size and 0 not in (*image.shape, *kernel.shape) and any(map(any, padding_config(params)))


def _with_fast_kernel(image: Array, kernel: Array, **params: Any) -> Any:
    return (_swapped if _is_better_swapped(image, kernel, params) else _padded_before)(image, kernel, **params)


def _is_better_swapped(image: Array, kernel: Array, params: dict[str, Any]) -> bool:
    """Returns whether a convolution has a form with swapped operands, and the padded image is the larger operand."""
    if params["feature_group_count"] != 1 or params["batch_group_count"] != 1:
        return False
    if set(params["window_strides"]) | set(params["rhs_dilation"]) != {1}:
        return False
    numbers, config = params["dimension_numbers"], padding_config(params)
    padded = [image.shape[i] for i in numbers.lhs_spec[:2]]
    for axis, (low, high, hole) in zip(numbers.lhs_spec[2:], config, strict=True):
        padded.append(low + high + (image.shape[axis] - 1) * (hole + 1) + 1)
    return math.prod(padded) > kernel.size and min(min(pair) for pair in _swapped_padding(image, kernel, params)) >= 0


def _swapped_padding(image: Array, kernel: Array, params: dict[str, Any]) -> list[tuple[int, int]]:
    """Returns what is put around the kernel where it takes the place of the image."""
    numbers = params["dimension_numbers"]
    size, window = ([x.shape[i] for i in spec[2:]] for x, spec in zip((image, kernel), numbers[:2], strict=True))
    counts = n_windows(size, window, params)
    return [(n - 1 - low, n - 1 - high) for n, (low, high) in zip(counts, params["padding"], strict=True)]


def _swapped(image: Array, kernel: Array, **params: Any) -> Any:
    lhs, rhs, out = params["dimension_numbers"]
    result = lax.conv_general_dilated_p.bind(
        kernel,
        image,
        **{
            **params,
            "dimension_numbers": lax.ConvDimensionNumbers(rhs, lhs, (out[1], out[0], *out[2:])),
            "padding": tuple(_swapped_padding(image, kernel, params)),
            "lhs_dilation": params["rhs_dilation"],
            "rhs_dilation": params["lhs_dilation"],
        },
    )
    return lax.rev(result, out[2:])


def _padded_before(image: Array, kernel: Array, **params: Any) -> Any:
    config = [(0, 0, 0)] * image.ndim
    for axis, amounts in zip(params["dimension_numbers"].lhs_spec[2:], padding_config(params), strict=True):
        config[axis] = amounts
    image, n_axes = lax.optimization_barrier(pad(image, config)), image.ndim - 2
    return lax.conv_general_dilated_p.bind(
        image, kernel, **{**params, "padding": ((0, 0),) * n_axes, "lhs_dilation": (1,) * n_axes}
    )
