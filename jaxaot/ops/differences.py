"""Derivatives of sampled functions by differences of neighbours (`torch.gradient`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxaot._typing import Array, Sizes
from jaxaot.errors import ArgumentError, ShapeMismatchError
from jaxaot.ops.dims import normalize_dims
from jaxaot.ops.promotion import default_float, is_inexact
from jaxaot.ops.table import register_op


def _axes_of(input: Array, dim: Sizes | None, n_spacings: int | None, edge_order: int) -> tuple[int, ...]:
    """Returns the axes to differentiate along, after checks; `n_spacings` is None for one spacing for all."""
    if edge_order not in (1, 2):
        raise ArgumentError("torch.gradient only supports edge_order=1 and edge_order=2.")
    axes = normalize_dims(dim, input.ndim)
    if n_spacings not in (None, len(axes)):
        raise ArgumentError(
            f"torch.gradient expected spacing to be unspecified, a scalar, or as many of them as there are dims, but "
            f"got a spacing argument of length {n_spacings} and {len(axes)} dims"
        )
    if any(input.shape[axis] < edge_order + 1 for axis in axes):
        raise ShapeMismatchError("torch.gradient expected each dimension size to be at least edge_order+1")
    return axes


def _slope(values: Array, steps: Array, axis: int, edge_order: int) -> Array:
    """Returns the derivative along `axis` of values at points `steps` apart.

    Second order inside, by the three-point formula for unequal steps; at the edges of first order, or of second.
    """
    values = jnp.moveaxis(values, axis, -1)
    before, after = steps[:-1], steps[1:]
    inside = (
        values[..., :-2] * (-after / (before * (before + after)))
        + values[..., 1:-1] * ((after - before) / (before * after))
        + values[..., 2:] * (before / (after * (before + after)))
    )
    if edge_order == 1:
        first = (values[..., 1:2] - values[..., :1]) / steps[0]
        last = (values[..., -1:] - values[..., -2:-1]) / steps[-1]
    else:
        first = _edge(values[..., :3], steps[0], steps[1])
        last = -_edge(values[..., :-4:-1], steps[-1], steps[-2])
    return jnp.moveaxis(jnp.concatenate([first, inside, last], -1), -1, axis)


def _edge(values: Array, near: Any, far: Any) -> Array:
    """Returns the derivative at the first of three points, `near` and then `far` apart."""
    return (
        values[..., :1] * (-(2 * near + far) / (near * (near + far)))
        + values[..., 1:2] * ((near + far) / (near * far))
        + values[..., 2:3] * (-near / (far * (near + far)))
    )


def _inexact(value: Array) -> Array:
    return value if is_inexact(value.dtype) else value.astype(default_float())


@register_op("gradient(Tensor input, *, Any spacing=None, Any dim=None, int edge_order=1) -> Tensor[]", method=False)
def gradient(input, spacing, dim, edge_order):
    """A number is the distance of neighbours, by default 1, along all dims or each."""
    spacing = 1 if spacing is None else spacing
    several = isinstance(spacing, (tuple, list))
    axes = _axes_of(input, dim, len(spacing) if several else None, edge_order)
    values = _inexact(input)
    results = []
    for axis, distance in zip(axes, spacing if several else [spacing] * len(axes), strict=True):
        steps = np.full(input.shape[axis] - 1, distance)
        results.append(_slope(values, jnp.asarray(steps, values.dtype), axis, edge_order))
    return results


@register_op(
    "gradient_at(Tensor input, *, Tensor[] spacing, Any dim=None, int edge_order=1) -> Tensor[]", overload_of="gradient"
)
def gradient_at(input, spacing: Sequence[Array], dim, edge_order):
    """The coordinates of the points along each dim."""
    axes = _axes_of(input, dim, len(spacing), edge_order)
    results = []
    for axis, points in zip(axes, spacing, strict=True):
        if points.shape != (input.shape[axis],):
            raise ShapeMismatchError(
                f"torch.gradient expected each coordinate tensor to be 1-d with as many points as its dim, but got "
                f"{list(points.shape)} for a dim of size {input.shape[axis]}"
            )
        results.append(_slope(_inexact(input), jnp.diff(_inexact(points)), axis, edge_order))
    return results
