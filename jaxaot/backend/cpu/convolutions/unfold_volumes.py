"""Convolutions of volumes as convolutions of images: `im2col` along one axis.

XLA on CPU has fast convolutions of images, and for those of volumes a slow one (`python -m benchmarks.convolutions`).
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array, ClosedJaxpr
from jaxaot.backend.cpu.analysis.convolution_windows import features_last, n_windows, pad
from jaxaot.backend.cpu.machine import machine
from jaxaot.passes.decompose import decompose_some


def unfold_volumes(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with convolutions over three axes as convolutions over two of them.

        y: f32[2,8,8,8,16] =                                    a: f32[2,10,8,8,4] = pad x
          conv_general_dilated[padding=((1,1),…)] x w     →     b: f32[2,8,8,8,12] = concatenate of 3 slices of a
                                                                c: f32[16,8,8,12] = reshape b
                                                                d: f32[16,8,8,16] = conv_general_dilated c v
                                                                y: f32[2,8,8,8,16] = reshape d

    for x: f32[2,8,8,8,4], w: f32[3,3,3,4,16], and v: f32[3,3,12,16] which is w reshaped. Windows along the first axis
    become features, and their places batches; the same terms are added up, in another order at most.
    """
    return decompose_some(closed, "conv_general_dilated", _is_of_volumes, _unfolded)


def _is_of_volumes(image: Array, kernel: Array, **params: Any) -> bool:
    is_whole = params["feature_group_count"] == params["batch_group_count"] == 1
    if image.ndim != 5 or not is_whole or 0 in (*image.shape, *kernel.shape):
        return False
    numbers = params["dimension_numbers"]
    space = [image.shape[axis] for axis in numbers.lhs_spec[2:]]
    window = [kernel.shape[axis] for axis in numbers.rhs_spec[2:]]
    counts = n_windows(space, window, params)
    return min(counts) >= 1 and min(counts[0], window[0]) <= machine().max_volume_copies


def _unfolded(image: Array, kernel: Array, **params: Any) -> Any:
    for_image, for_kernel, back = features_last(params["dimension_numbers"])
    image, kernel = lax.transpose(image, for_image), lax.transpose(kernel, for_kernel)
    n_batch, _, *plane, n_features = image.shape
    depth, *window, _, n_results = kernel.shape
    names = "window_strides", "padding", "lhs_dilation", "rhs_dilation"
    (stride, *strides), ((low, high), *padding), (holes, *image_dilation), (dilation, *kernel_dilation) = (
        params[name] for name in names
    )
    n_places = n_windows(image.shape[1:-1], kernel.shape[:-2], params)[0]
    config = [(0, 0, 0), (low, high, holes - 1), *[(0, 0, 0)] * (image.ndim - 2)]
    image = pad(image, config)

    def along(start: int, n: int, step: int) -> Any:
        return lax.slice_in_dim(image, start, start + (n - 1) * step + 1, step, 1)

    if depth <= n_places:  # batch, place, plane, depth, features
        unfolded = jnp.stack([along(i * dilation, n_places, stride) for i in range(depth)], 4)
    else:
        places = [lax.transpose(along(i * stride, depth, dilation), (0, 2, 3, 1, 4)) for i in range(n_places)]
        unfolded = jnp.stack(places, 1)
    result = lax.conv_general_dilated(
        lax.reshape(unfolded, (n_batch * n_places, *plane, depth * n_features)),
        lax.reshape(lax.transpose(kernel, (1, 2, 0, 3, 4)), (*window, depth * kernel.shape[3], n_results)),
        strides,
        padding,
        image_dilation,
        kernel_dilation,
        ("NHWC", "HWIO", "NHWC"),
        precision=params["precision"],
        preferred_element_type=params["preferred_element_type"],
    )
    return lax.transpose(lax.reshape(result, (n_batch, n_places, *result.shape[1:])), back)
