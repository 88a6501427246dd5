"""Arrays on several devices in the program of a bucket: in how many parts, and where results lie.

The rows of a bucket are dealt out anew, so that each device has as many; a bucket is a multiple of the number of parts.
Where the axes of a mesh are part of types, the program runs as one whose axes are not, and its results get the types
that the exact trace says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from jaxaot._typing import Array, Aval, ClosedJaxpr

Parts: TypeAlias = tuple[tuple[int, int, int], ...]
"""The axes that lie over several devices: the position of an array, the axis, and in how many parts it is."""


class OtherPlacesError(Exception):
    """An array lies over more devices than the bucket has room for."""


def parts_of(leaves: Sequence[Any]) -> Parts:
    """Returns the axes of arrays that lie over several devices."""
    found = []
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, jax.Array) and not isinstance(leaf.sharding, SingleDeviceSharding) and leaf.size:
            each = leaf.sharding.shard_shape(leaf.shape)
            found += [(i, axis, n // m) for axis, (n, m) in enumerate(zip(leaf.shape, each, strict=True)) if n != m]
    return tuple(found)


def why_not_padded(value: Array) -> str | None:
    """Returns why an array cannot be padded where it lies; None if it can."""
    if len(value.sharding.device_set) == 1:
        return None
    if not value.is_fully_addressable:
        return "an array whose size changes lies on several devices, some of other processes"
    if not isinstance(value.sharding, NamedSharding):
        return "an array whose size changes lies on several devices, and its sharding names no axes of a mesh"
    return None


def fitting(sharding: Any, shape: Sequence[int]) -> Any:
    """Returns a sharding for a shape: the one given, without the axes that do not divide the shape.

    Args:
      sharding: A sharding of JAX for an array of as many axes.
      shape: The shape.
    """
    if isinstance(sharding, SingleDeviceSharding) or _divides(sharding, shape):
        return sharding
    if not isinstance(sharding, NamedSharding):
        devices = sorted(sharding.device_set, key=lambda device: device.id)
        return NamedSharding(Mesh(np.array(devices), ("all",)), PartitionSpec())
    mesh = sharding.mesh
    divides = [
        _divides(NamedSharding(mesh, PartitionSpec(names)), (n,))
        for names, n in zip(sharding.spec, shape, strict=False)
    ]
    kept = [names if fits else None for names, fits in zip(sharding.spec, divides, strict=False)]
    return NamedSharding(mesh, PartitionSpec(*kept), memory_kind=sharding.memory_kind)


def _divides(sharding: Any, shape: Sequence[int]) -> bool:
    try:
        sharding.shard_shape(tuple(shape))
    except ValueError:
        return False
    return True


def typed_mesh(leaves: Sequence[Any]) -> Any:
    """Returns the mesh whose axes are part of the types of arrays; None if there is none."""
    for leaf in leaves:
        if isinstance(leaf, jax.Array) and isinstance(leaf.sharding, NamedSharding) and typed_axes(leaf.sharding.mesh):
            return leaf.sharding.mesh
    return None


def typed_axes(mesh: Any) -> tuple[str, ...]:
    """Returns the axes of a mesh that are part of types."""
    kinds = zip(mesh.axis_names, mesh.axis_types, strict=True)
    return tuple(name for name, kind in kinds if kind is AxisType.Explicit)


def is_typed(aval: Aval) -> bool:
    """Returns whether axes of a mesh are part of a type."""
    sharding = getattr(aval, "sharding", None)
    return sharding is not None and not sharding.mesh.empty and bool(typed_axes(sharding.mesh))


def shardings_of(graph: ClosedJaxpr, mesh: Any) -> tuple[Any, ...]:
    """Returns how the results of a graph lie over a mesh that is part of their types."""
    return tuple(NamedSharding(mesh, aval.sharding.spec) for aval in graph.out_avals)


def in_auto(run: Callable[..., Any], mesh: Any, shardings: Sequence[Any], results: Sequence[Aval]) -> Any:
    """Returns a function of arrays whose types have axes of a mesh, for one of arrays whose types have none.

    Args:
      run: The function, which returns several arrays.
      mesh: The mesh.
      shardings: How the results lie in the exact program.
      results: Their types in this one, which may be larger.
    """
    placed = tuple(fitting(sharding, aval.shape) for sharding, aval in zip(shardings, results, strict=True))
    return jax.sharding.auto_axes(lambda *args: tuple(run(*args)), axes=typed_axes(mesh), out_sharding=placed)
