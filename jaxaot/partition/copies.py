"""What XLA copies so that one of its kernels can read it, estimated from shapes.

On CPU its kernels of convolutions read images as (batch, space, features), kernels as (space, inputs, outputs), and
write as they read. Operands in another order are transposed in memory first. So are both operands of the gradient of a
kernel, which sums over the batch: image and cotangent are there twice at that time.

On TPUs a scatter reads what it adds by rows of its index. Where that is a slice of something, it is written as such
first, and then in that order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from jaxaot._typing import Eqn, Jaxpr
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.walk import sub_jaxprs, variables

_CONVOLUTION = "conv_general_dilated"


def bytes_around_convolutions(jaxpr: Jaxpr, size: Callable[[Any], int]) -> dict[int, int]:
    """Returns, by the position of each convolution, the bytes that its kernel needs besides operands and results.

    The gradient of a kernel is computed behind that of the image, which is there already, while the cotangent that both
    are made of is there as a copy only.

    Args:
      jaxpr: The graph.
      size: How large a value is.
    """
    found: dict[int, int] = {}
    images: dict[Any, int] = {}  # by the cotangent that it is made of, the gradient of an image
    for i, eqn in reversed(list(enumerate(jaxpr.eqns))):
        if kind(eqn) is not Kind.CONVOLUTION:
            continue
        found[i] = copied_bytes(eqn, size)
        if eqn.primitive.name != _CONVOLUTION:  # one is inside, as in autocast, in other variables
            continue
        given = variables(eqn.invars)
        if _sums_over_batch(eqn):
            found[i] += max((images[var] - size(var) for var in given if var in images), default=0)
        else:
            images[given[0]] = size(eqn.outvars[0])
    return found


def bytes_around_scatters(
    jaxpr: Jaxpr, size: Callable[[Any], int], shown: Callable[[Any], Sequence[Any]]
) -> dict[int, int]:
    """Returns, by the position of each scatter on a TPU, the bytes of the copies of a slice that it adds.

    Args:
      jaxpr: The graph.
      size: How large a value is.
      shown: Takes a variable to those that it is a view of.
    """
    found: dict[int, int] = {}
    for i, eqn in enumerate(jaxpr.eqns):
        if eqn.primitive.name.startswith("scatter"):
            updates = variables(eqn.invars[2:])
            n_bytes = sum(size(var) for var in updates)
            if any(size(owner) > n_bytes for var in updates for owner in shown(var)):
                found[i] = 2 * n_bytes
    return found


def _sums_over_batch(eqn: Eqn) -> bool:
    numbers = eqn.params["dimension_numbers"]
    return numbers.lhs_spec[0] != numbers.out_spec[0]


def copied_bytes(eqn: Eqn, size: Callable[[Any], int]) -> int:
    """Returns the bytes of the copies that are made of operands and results of an equation.

    Args:
      eqn: The equation.
      size: How large a value is.
    """
    if kind(eqn) is not Kind.CONVOLUTION:
        return 0
    if eqn.primitive.name != _CONVOLUTION:
        return max((copied_bytes(inner, size) for body in sub_jaxprs(eqn) for inner in body.eqns), default=0)
    if _is_product(eqn):
        return 0
    image, kernel, result = eqn.params["dimension_numbers"]
    orders = (
        (image[0], *image[2:], image[1]),
        (*kernel[2:], kernel[1], kernel[0]),
        (result[0], *result[2:], result[1]),
    )
    arrays = (*eqn.invars, eqn.outvars[0])
    return sum(size(atom) for atom, order in zip(arrays, orders, strict=True) if _moves(atom.aval.shape, order))


def _moves(shape: Sequence[int], order: Sequence[int]) -> bool:
    """Returns whether elements lie in another order if axes do; axes of one element do not count."""
    kept = [axis for axis in order if shape[axis] != 1]
    return kept != sorted(kept)


def _is_product(eqn: Eqn) -> bool:
    """Returns whether a convolution is a matrix product, or a sum of shifted products, which read all as it lies."""
    params, kernel = eqn.params, eqn.invars[1].aval.shape
    numbers = params["dimension_numbers"]
    if params["feature_group_count"] != 1 or params["batch_group_count"] != 1:
        return True
    window = [kernel[i] for i in numbers.rhs_spec[2:]]
    result = [eqn.outvars[0].aval.shape[i] for i in numbers.out_spec[2:]]
    is_apart = tuple(window) == tuple(params["lhs_dilation"]) and set(params["window_strides"]) == {1}
    if math.prod(window) == 1 and any(map(any, params["padding"])):
        return False  # the gradient of a kernel whose window is larger than the image
    return math.prod(window) == 1 or math.prod(result) == 1 or is_apart
