"""Axes of a mesh along which a `shard_map` runs a function on each device, and types of values that differ there.

JAX notes in the type of a value along which of these axes it differs from device to device, and operations of one
equation agree in it. A graph that is traced apart and put into such a function says so of its inputs from the start.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._jax import varying_axes
from jaxaot._typing import DTypeLike, Shape

NO_AXES: frozenset[Any] = frozenset()


def manual_axes() -> frozenset[Any]:
    """Returns the axes along which types differ where a function runs now; none outside of `shard_map`."""
    axes = getattr(jax.sharding.get_abstract_mesh(), "manual_axes", ())
    # without `check_vma` there are axes, and types say nothing of them
    return varying_axes(jax.lax.pcast(jnp.zeros(()), tuple(axes), to="varying")) if axes else NO_AXES


def as_varying(value: Any, axes: frozenset[Any]) -> Any:
    """Returns a value as one that may differ along some axes."""
    new = axes - varying_axes(value) if axes else axes
    return jax.lax.pcast(value, tuple(sorted(new)), to="varying") if new else value


def varying_type(shape: Shape, dtype: DTypeLike, axes: frozenset[Any]) -> Any:
    """Returns the type of a value that differs along some axes, as an aval."""
    return jax.make_jaxpr(lambda: as_varying(jnp.zeros(shape, dtype), axes))().out_avals[0]
