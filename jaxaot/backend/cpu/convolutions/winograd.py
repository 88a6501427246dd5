"""Winograd's convolution: windows of 3 by 3 with a quarter of the multiplications.

Off unless it is named, because it is less exact: six rows of an image are combined with factors up to 5 and then
subtracted from each other again. In single precision results differ from the direct sum by about 1e-5 of their largest
value, ten times as much as the order of a sum makes, see `docs/speed.md`.

Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015, https://arxiv.org/abs/1509.09308: F(4x4, 3x3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array, ClosedJaxpr
from jaxaot.backend.cpu.analysis.convolution_windows import features_last, n_windows, pad
from jaxaot.passes.decompose import decompose_some

MIN_FEATURES = 64
"""With fewer the products are too narrow to pay for the sums around them."""

_TILE = 4
_SIZE = _TILE + 2

_OF_IMAGE = (
    (4, 0, -5, 0, 1, 0),
    (0, -4, -4, 1, 1, 0),
    (0, 4, -4, -1, 1, 0),
    (0, -2, -1, 2, 1, 0),
    (0, 2, -1, -2, 1, 0),
    (0, 4, 0, -5, 0, 1),
)
_OF_KERNEL = (
    (1 / 4, 0, 0),
    (-1 / 6, -1 / 6, -1 / 6),
    (-1 / 6, 1 / 6, -1 / 6),
    (1 / 24, 1 / 12, 1 / 6),
    (1 / 24, -1 / 12, 1 / 6),
    (0, 0, 1),
)
_OF_RESULT = (
    (1, 1, 1, 1, 1, 0),
    (0, 1, -1, 2, -2, 0),
    (0, 1, 1, 4, 4, 0),
    (0, 1, -1, 8, -8, 1),
)


def winograd(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with convolutions of 3 by 3, stride 1, as 36 matrix products between sums.

        y = conv_general_dilated x w    →    v0, …, v35 = sums of x, at every fourth row and column
                                             u0, …, u35 = sums of w
                                             m0, …, m35 = dot_general v0 u0, …, dot_general v35 u35
                                             y = concatenate of sums of m0, …, m35

    in single precision, with at least `MIN_FEATURES` features on both sides; gradients of images are such as well.
    """
    return decompose_some(closed, "conv_general_dilated", _has_tiles, _in_tiles)


def _has_tiles(image: Array, kernel: Array, **params: Any) -> bool:
    for_image, for_kernel, _ = features_last(params["dimension_numbers"])
    batch, *space, _ = (image.shape[axis] for axis in for_image)
    *window, features, results = (kernel.shape[axis] for axis in for_kernel)
    steps = [params[name] for name in ("window_strides", "lhs_dilation", "rhs_dilation")]
    groups = params["feature_group_count"], params["batch_group_count"]
    if window != [3, 3] or any(tuple(step) != (1, 1) for step in steps) or groups != (1, 1) or not batch:
        return False
    is_single = image.dtype == kernel.dtype == jnp.float32 and params["preferred_element_type"] in (None, jnp.float32)
    return is_single and min(features, results) >= MIN_FEATURES and min(n_windows(space, window, params)) >= _TILE


def _in_tiles(image: Array, kernel: Array, **params: Any) -> Any:
    for_image, for_kernel, back = features_last(params["dimension_numbers"])
    image, kernel = lax.transpose(image, for_image), lax.transpose(kernel, for_kernel)
    padding = params["padding"]
    height, width = n_windows(image.shape[1:3], kernel.shape[:2], params)
    tiles = -(-height // _TILE), -(-width // _TILE)
    more = [_TILE * n - size for n, size in zip(tiles, (height, width), strict=True)]
    config = [(low, high + extra, 0) for (low, high), extra in zip(padding, more, strict=True)]
    image = pad(image, [(0, 0, 0), *config, (0, 0, 0)])

    def corner(i: int, j: int) -> Any:
        """Returns element (i, j) of all tiles."""
        limits = (i + _TILE * (tiles[0] - 1) + 1, j + _TILE * (tiles[1] - 1) + 1)
        starts = (0, i, j, 0)
        return lax.slice(image, starts, (image.shape[0], *limits, image.shape[3]), (1, _TILE, _TILE, 1))

    v = _on_both_sides(_OF_IMAGE, [[corner(i, j) for j in range(_SIZE)] for i in range(_SIZE)])
    u = _on_both_sides(_OF_KERNEL, [[lax.index_in_dim(w, j, 0, False) for j in range(3)] for w in kernel])
    rows = image.shape[0] * tiles[0] * tiles[1]

    def product(k: int, n: int) -> Any:
        # each of these is written once, and read by the sums that follow
        left, right = lax.optimization_barrier((v[k][n], u[k][n]))
        flat = lax.reshape(left, (rows, image.shape[3]))
        return lax.optimization_barrier(lax.dot(flat, right, precision=params["precision"]))

    m = [[product(k, n) for n in range(_SIZE)] for k in range(_SIZE)]
    y = _on_both_sides(_OF_RESULT, m)
    shape = (image.shape[0], *tiles, kernel.shape[3])
    strips = [jnp.stack([lax.reshape(y[p][q], shape) for q in range(_TILE)], 3) for p in range(_TILE)]
    whole = lax.reshape(jnp.stack(strips, 2), (shape[0], _TILE * tiles[0], _TILE * tiles[1], shape[3]))
    result = lax.slice(whole, (0, 0, 0, 0), (shape[0], height, width, shape[3]))
    return lax.transpose(result, back)


def _on_both_sides(factors: Sequence[Sequence[float]], grid: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Returns the grid with rows combined, and columns likewise: `factors @ grid @ factors.T`."""
    columns = [_combined(factors, [row[j] for row in grid]) for j in range(len(grid[0]))]
    return [_combined(factors, [column[k] for column in columns]) for k in range(len(factors))]


def _combined(factors: Sequence[Sequence[float]], values: Sequence[Any]) -> list[Any]:
    """Returns the sums of values with the factors of each row."""
    sums = []
    for row in factors:
        total: Any = None
        for factor, value in zip(row, values, strict=True):
            if factor:
                scaled = value if factor == 1 else -value if factor == -1 else value * jnp.float32(factor)
                total = scaled if total is None else total + scaled
        sums.append(total)
    return sums
