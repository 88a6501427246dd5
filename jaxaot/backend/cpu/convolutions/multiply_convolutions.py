"""Convolutions that are matrix products: with windows of one element, of the whole image, or side by side.

Layers of 1 by 1, their gradients, and transposed convolutions whose stride is their window are such: each element of an
image meets one element of the kernel, or all meet at once. XLA takes the product to a kernel on all cores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from jax import lax

from jaxaot._typing import Array, ClosedJaxpr
from jaxaot.backend.cpu.analysis.convolution_windows import pad
from jaxaot.passes.decompose import decompose_some


def multiply_convolutions(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with convolutions written as matrix products where they are nothing else.

        y: f32[16,32,32,8] =                                      a: f32[3,8] = reshape w
          conv_general_dilated[padding=((0,0),(0,0))] x w    →    y: f32[16,32,32,8] = dot_general[((3,),(0,))] x a

    for x: f32[16,32,32,3] and w: f32[1,1,3,8]. A product adds up the same terms, in another order at most. What strides
    skip is cut away before it, and the holes of a dilated image are put in behind it.
    """
    return decompose_some(closed, "conv_general_dilated", _is_product, _product)


class _Space(NamedTuple):
    """What a convolution does along one axis of the image.

    Attributes:
      image: The axis of the image.
      kernel: The axis of the kernel.
      result: The axis of the result.
      kind: `POINT` if the kernel has one element, `WHOLE` if the result has, `APART` if each
        element of the image meets elements of the result of its own.
      stride: The distance of windows.
      padding: What is put before and behind, or cut off.
      holes: How far elements of the image are apart.
      dilation: How far those of the kernel are apart.
    """

    image: int
    kernel: int
    result: int
    kind: str
    stride: int
    padding: tuple[int, int]
    holes: int
    dilation: int


POINT, WHOLE, APART = "point", "whole", "apart"


def _is_product(image: Array, kernel: Array, **params: Any) -> bool:
    is_whole = params["feature_group_count"] == params["batch_group_count"] == 1
    return is_whole and _spaces(image.shape, kernel.shape, params) is not None


def _product(image: Array, kernel: Array, **params: Any) -> Any:
    numbers = params["dimension_numbers"]
    spaces = _spaces(image.shape, kernel.shape, params) or []
    image = _without_skipped(image, spaces)
    kernel = lax.rev(kernel, [space.kernel for space in spaces if space.kind == APART])
    kernel = lax.squeeze(kernel, [space.kernel for space in spaces if space.kind == POINT])

    def kernel_axis(axis: int) -> int:
        return axis - sum(space.kernel < axis for space in spaces if space.kind == POINT)

    contracted = [(numbers.lhs_spec[1], kernel_axis(numbers.rhs_spec[1]))]
    contracted += [(space.image, kernel_axis(space.kernel)) for space in spaces if space.kind == WHOLE]
    left, right = zip(*contracted, strict=True)
    product = lax.dot_general(
        image,
        kernel,
        ((left, right), ((), ())),
        precision=params["precision"],
        preferred_element_type=params["preferred_element_type"],
    )
    free_image = [axis for axis in range(image.ndim) if axis not in left]
    free_kernel = [axis for axis in range(kernel.ndim) if axis not in right]
    place_image = {axis: place for place, axis in enumerate(free_image)}
    place_kernel = {axis: place + len(free_image) for place, axis in enumerate(free_kernel)}
    axes: dict[int, list[int]] = {  # axis of the result → axes of the product
        numbers.out_spec[0]: [place_image[numbers.lhs_spec[0]]],
        numbers.out_spec[1]: [place_kernel[kernel_axis(numbers.rhs_spec[0])]],
    }
    for space in spaces:
        found = [] if space.kind == WHOLE else [place_image[space.image]]
        axes[space.result] = [*found, place_kernel[kernel_axis(space.kernel)]] if space.kind == APART else found
    ordered = [axes[axis] for axis in range(len(axes))]
    permutation = [place for places in ordered for place in places]
    result = lax.transpose(product, permutation) if permutation != sorted(permutation) else product
    sizes = [math.prod(product.shape[place] for place in places) for places in ordered]
    return _with_holes(lax.reshape(result, sizes), spaces)


def _spaces(image: Sequence[int], kernel: Sequence[int], params: dict[str, Any]) -> list[_Space] | None:
    """Returns the geometry of a convolution along each axis; None if it is not a product along one of them."""
    numbers = params["dimension_numbers"]
    found = []
    for axis, (at_image, at_kernel, at_result) in enumerate(
        zip(numbers.lhs_spec[2:], numbers.rhs_spec[2:], numbers.out_spec[2:], strict=True)
    ):
        size, window = image[at_image], kernel[at_kernel]
        stride, holes, dilation = (
            params[name][axis] for name in ("window_strides", "lhs_dilation", "rhs_dilation")
        )  # fmt: skip
        low, high = params["padding"][axis]
        if size == 0 or window == 0:
            return None
        if window == 1:
            kind = POINT
            if (low > 0 or high > 0) and holes == 1:
                return None  # zeros around the image meet the kernel, which may hold infinities
        elif holes == 1 and low <= 0 and high <= 0 and (window - 1) * dilation + 1 == size + low + high:
            kind = WHOLE
        elif (holes == window or size == 1) and stride == dilation == 1 and low == high == window - 1:
            kind = APART
        else:
            return None
        found.append(_Space(at_image, at_kernel, at_result, kind, stride, (low, high), holes, dilation))
    return found


def _without_skipped(image: Array, spaces: Sequence[_Space]) -> Any:
    """Returns an image without what no element of the kernel meets."""
    starts, limits, steps = [0] * image.ndim, list(image.shape), [1] * image.ndim
    for space in spaces:
        if space.kind == WHOLE or (space.kind == POINT and space.holes == 1):
            low, high = space.padding
            starts[space.image], limits[space.image] = -low, image.shape[space.image] + high
            steps[space.image] = space.dilation if space.kind == WHOLE else space.stride
    if starts == [0] * image.ndim and limits == list(image.shape) and steps == [1] * image.ndim:
        return image
    return lax.slice(image, starts, limits, steps)


def _with_holes(result: Array, spaces: Sequence[_Space]) -> Any:
    """Returns a result in which zeros stand where the dilated image has holes."""
    config, steps = [(0, 0, 0)] * result.ndim, [1] * result.ndim
    for space in spaces:
        if space.kind == POINT and space.holes != 1:
            config[space.result], steps[space.result] = (*space.padding, space.holes - 1), space.stride
    result = pad(result, config)
    return lax.slice(result, [0] * result.ndim, result.shape, steps) if max(steps) > 1 else result
