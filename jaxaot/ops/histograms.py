"""Counting elements in bins: `histc`, `histogram`, `histogramdd`.

The *edges* of n bins are n + 1 ascending numbers. A bin holds its left edge; the last one also its right edge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax.numpy as jnp

from jaxaot._typing import Array
from jaxaot.errors import ArgumentError, ShapeMismatchError, TensorError
from jaxaot.ops.promotion import default_int
from jaxaot.ops.table import register_op


@register_op("histc(Tensor self, int bins=100, Any min=0, Any max=0) -> Tensor", differentiable=False)
def histc(self, bins, min, max):
    if bins <= 0:
        raise TensorError("bins must be > 0")
    if not (math.isfinite(min) and math.isfinite(max)):
        raise TensorError(f"range of [{min}, {max}] is not finite")
    if min > max:
        raise TensorError("max must be larger than min")
    low, high = (jnp.min(self), jnp.max(self)) if min == max and self.size else (min, max)
    same = jnp.asarray(low == high)
    low, high = jnp.where(same, low - 1.0, low), jnp.where(same, high + 1.0, high)
    value = self.reshape(-1)
    inside = (value >= low) & (value <= high)
    place = jnp.clip(jnp.floor((value - low) * (bins / (high - low))), 0, bins - 1).astype(default_int())
    return jnp.zeros(bins, self.dtype).at[place].add(inside.astype(self.dtype))


def _uniform_edges(points: Array, bins: Sequence[int], limits: Sequence[float] | None) -> list[Array]:
    """Returns edges for each column of `points`: within limits, or from its least to its greatest element."""
    n = len(bins)
    if limits is not None:
        if len(limits) != 2 * n:
            raise ArgumentError(f"range should have {2 * n} elements, but got {len(limits)}")
        lows, highs = list(limits[::2]), list(limits[1::2])
        for low, high in zip(lows, highs, strict=True):
            if not (math.isfinite(low) and math.isfinite(high)) or low > high:
                raise ArgumentError(f"min should not exceed max, and both be finite, but got min {low} max {high}")
    elif points.shape[0] == 0:
        lows, highs = [0.0] * n, [1.0] * n
    else:
        lows, highs = list(jnp.min(points, axis=0)), list(jnp.max(points, axis=0))
    edges = []
    for count, low, high in zip(bins, lows, highs, strict=True):
        if count <= 0:
            raise ArgumentError(f"bins must be > 0, but got {count}")
        same = jnp.asarray(low == high)
        edges.append(
            jnp.linspace(
                jnp.where(same, low - 0.5, low), jnp.where(same, high + 0.5, high), count + 1, dtype=points.dtype
            )
        )
    return edges


def _counts(points: Array, edges: Sequence[Array], weight: Array | None, density: bool) -> Array:
    """Returns the weights that fall in each cell of a grid; `points` is (n, number of dims)."""
    shape = tuple(edge.shape[0] - 1 for edge in edges)
    weights = jnp.ones(points.shape[0], points.dtype) if weight is None else weight.reshape(-1)
    inside = jnp.ones(points.shape[0], bool)
    places = []
    for column, edge in zip(points.T, edges, strict=True):
        inside &= (column >= edge[0]) & (column <= edge[-1])
        places.append(jnp.clip(jnp.searchsorted(edge, column, side="right") - 1, 0, edge.shape[0] - 2))
    result = jnp.zeros(shape, points.dtype).at[tuple(places)].add(jnp.where(inside, weights, 0))
    if density:
        result = result / jnp.sum(result)
        for axis, edge in enumerate(edges):
            result = result / jnp.diff(edge).reshape([-1 if i == axis else 1 for i in range(len(edges))])
    return result


def _check_weight(name: str, weight: Array | None, shape: tuple[int, ...]) -> None:
    if weight is not None and weight.shape != shape:
        raise ShapeMismatchError(
            f"{name}: if weight tensor is provided it should have the same shape as the input tensor excluding its "
            f"innermost dimension, but got input shape {list(shape)} and weight shape {list(weight.shape)}"
        )


@register_op(
    "histogram(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) "
    "-> (Tensor hist, Tensor bin_edges)",
    differentiable=False,
)
def histogram(self, bins, weight, density):
    """Returns counts, and the edges that were given."""
    _check_weight("histogram", weight, self.shape)
    if bins.ndim != 1 or bins.shape[0] < 2:
        raise ShapeMismatchError(f"histogram: bins should be 1-dimensional with 2 or more edges, got {bins.shape}")
    return _counts(self.reshape(-1, 1), [bins], weight, density), bins


@register_op(
    "histogram_uniform(Tensor self, int bins=100, *, Any range=None, Tensor? weight=None, bool density=False) "
    "-> (Tensor, Tensor)",
    differentiable=False,
    overload_of="histogram",
)
def histogram_uniform(self, bins, range, weight, density):
    """Returns counts in bins of equal size, and their edges."""
    _check_weight("histogram", weight, self.shape)
    points = self.reshape(-1, 1)
    edges = _uniform_edges(points, (bins,), range)
    return _counts(points, edges, weight, density), edges[0]


def _points(value: Array, n: int) -> Array:
    if value.ndim < 2 or value.shape[-1] != n:
        raise ShapeMismatchError(
            f"histogramdd: The size of bins must be equal to the innermost dimension of the input, but got {n} and "
            f"{value.shape}"
        )
    return value.reshape(-1, n)


@register_op(
    "histogramdd(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool density=False) -> Tensor[]",
    differentiable=False,
)
def histogramdd(self, bins, weight, density):
    """Returns counts, and then the edges that were given for each dim."""
    _check_weight("histogramdd", weight, self.shape[:-1])
    return [_counts(_points(self, len(bins)), bins, weight, density), *bins]


@register_op(
    "histogramdd_uniform(Tensor self, Any bins, *, Any range=None, Tensor? weight=None, bool density=False) "
    "-> Tensor[]",
    differentiable=False,
    overload_of="histogramdd",
)
def histogramdd_uniform(self, bins, range, weight, density):
    """Returns counts in bins of equal size, and then their edges for each dim."""
    _check_weight("histogramdd", weight, self.shape[:-1])
    counts = (bins,) * self.shape[-1] if isinstance(bins, int) else bins
    points = _points(self, len(counts))
    edges = _uniform_edges(points, counts, range)
    return [_counts(points, edges, weight, density), *edges]
