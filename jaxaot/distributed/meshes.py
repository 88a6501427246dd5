"""Meshes, and tensors that are placed on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from jaxaot.distributed.partial import PartialTensor
from jaxaot.errors import PlacementError, TensorTypeError
from jaxaot.facade.dispatch.create import from_jax
from jaxaot.facade.members.placements import Partial, Placement, Replicate, placed, require_mesh, sharding_of, spec_of
from jaxaot.facade.memory.tensor import Tensor


def init_device_mesh(
    device_type: str | None = None,
    mesh_shape: Sequence[int] | None = None,
    *,
    mesh_dim_names: Sequence[str] | None = None,
    devices: Sequence[Any] | None = None,
) -> Mesh:
    """Returns a mesh of all devices, those of other processes included: a `jax.sharding.Mesh`.

    Args:
      device_type: `"cpu"`, `"cuda"` or `"tpu"`; by default JAX's first backend.
      mesh_shape: How many devices there are along each axis; by default all along one.
      mesh_dim_names: What the axes are called; by default `dim_0`, `dim_1`, ….
      devices: Other devices than all, in the order of the mesh.

    Raises:
      PlacementError: If the mesh does not have as many places as there are devices, or not a name for each axis; or if
        the first argument names no kind of devices.
    """
    if not isinstance(device_type, str | None):
        raise PlacementError(
            f"A mesh is made of a kind of devices and a shape, and {device_type!r} came first. Write "
            f'`init_device_mesh("cpu", {device_type!r}, mesh_dim_names=…)`.'
        )
    kind = {"cuda": "gpu", None: None}.get(device_type, device_type)
    try:
        found = jax.devices(kind) if devices is None else list(devices)
    except RuntimeError as error:
        raise PlacementError(
            f"There are no devices of the kind {device_type!r} here: {error}. Write the kind of those that "
            "`jax.devices()` lists, or None for it."
        ) from error
    if not all(isinstance(device, jax.Device) for device in found) or len(set(found)) < len(found):
        raise PlacementError(
            f"A mesh is made of different devices, and {found} were given. Write some of `jax.devices()`."
        )
    shape = _shape_of(mesh_shape, len(found))
    if isinstance(mesh_dim_names, str):
        raise PlacementError(f"Names of axes are a tuple, and {mesh_dim_names!r} is one: `({mesh_dim_names!r},)`.")
    names = [f"dim_{i}" for i in range(len(shape))] if mesh_dim_names is None else list(mesh_dim_names)
    if len(names) != len(shape) or len(set(names)) != len(names):
        raise PlacementError(f"A mesh of {len(shape)} axes takes as many different names, and {names} were given.")
    if math.prod(shape) != len(found):
        raise PlacementError(
            f"A mesh of shape {list(shape)} has {math.prod(shape)} places, and there are {len(found)} devices. Write a "
            "shape whose product is that, or say which devices: `devices=jax.devices()[:n]`. On CPU, "
            "`jax.config.update('jax_num_cpu_devices', n)` makes n devices, before JAX is used."
        )
    return Mesh(np.array(found).reshape(shape), tuple(names), axis_types=(AxisType.Auto,) * len(shape))


def _shape_of(mesh_shape: Any, n_devices: int) -> tuple[int, ...]:
    if mesh_shape is None:
        return (n_devices,)
    shape = tuple(mesh_shape) if isinstance(mesh_shape, Sequence) else None
    if shape is None or not all(type(n) is int and n > 0 for n in shape):
        raise PlacementError(
            f"The shape of a mesh is a tuple of numbers of devices, and {mesh_shape!r} was given. Write "
            f"`({n_devices},)` for all devices along one axis."
        )
    return shape


def distribute_tensor(tensor: Any, device_mesh: Mesh, placements: Sequence[Placement] | None = None) -> Tensor:
    """Returns a leaf with the values of a tensor, spread over the devices of a mesh.

        mesh = ja.distributed.init_device_mesh("cpu", (4,))
        w = ja.distributed.distribute_tensor(w, mesh, [ja.distributed.Shard(0)])

    The result is an ordinary tensor. Its gradient, the state that an optimizer keeps of it and what is written to it
    are placed as it is. With several processes each of them calls it, with the same values.

    Args:
      tensor: A tensor or array.
      device_mesh: The mesh.
      placements: One for each axis of the mesh; by default the whole on each device.

    Raises:
      PlacementError: If the placements do not fit.
    """
    if isinstance(tensor, Tensor) and not tensor.is_leaf:
        raise PlacementError(
            "A tensor that was computed from leaves is placed by `x.redistribute(mesh, placements)`, through which "
            "gradients flow; `distribute_tensor` makes a leaf, as of `x.detach()`."
        )
    require_mesh(device_mesh)
    placements = [Replicate()] * len(device_mesh.axis_names) if placements is None else placements
    return placed(tensor, device_mesh, placements)


def from_local(local: Any, device_mesh: Mesh, placements: Sequence[Placement]) -> Tensor | PartialTensor:
    """Returns a tensor over all processes, of which each gives the part that its own devices hold.

    Args:
      local: This process's part, a tensor or array: of a dim that is sharded over processes its rows, of others all.
        For `Partial` its term of the sum, of which its devices are given equal shares.
      device_mesh: The mesh.
      placements: One for each axis of the mesh.

    Raises:
      PlacementError: If the placements do not fit.
    """
    if isinstance(local, Tensor):
        if local.requires_grad:
            raise PlacementError("`from_local` makes a leaf. Write `from_local(x.detach(), ...)`.")
        local = local.numpy()
    local = np.asarray(local)
    require_mesh(device_mesh)
    partial = [i for i, p in enumerate(placements) if isinstance(p, Partial)]
    whole = [Replicate() if isinstance(p, Partial) else p for p in placements]
    if not partial:
        spec = spec_of(device_mesh, whole, local.ndim)
        for dim, names in enumerate(spec):
            n = math.prod(
                _own_places(device_mesh, () if names is None else (names,) if isinstance(names, str) else names)
            )
            if local.shape[dim] % n:
                raise PlacementError(
                    f"This process's part has shape {list(local.shape)}, and of dim {dim} its devices hold {n} equal "
                    f"parts by {list(placements)}. Pass a part whose dim {dim} their number divides."
                )
        made = jax.make_array_from_process_local_data(NamedSharding(device_mesh, spec), local)
        sharding_of(device_mesh, whole, made.shape)
        return from_jax(made)
    names = [device_mesh.axis_names[i] for i in partial]
    mine = _own_places(device_mesh, names)
    if not np.issubdtype(local.dtype, np.inexact):
        raise TensorTypeError("Terms of a sum that devices share are floats: write `local.astype(np.float32)`.")
    terms = np.broadcast_to(local / math.prod(mine), (*mine, *local.shape))
    spec = PartitionSpec(*names, *spec_of(device_mesh, whole, local.ndim))
    parts = from_jax(jax.make_array_from_process_local_data(NamedSharding(device_mesh, spec), terms))
    return PartialTensor(parts, device_mesh, tuple(placements))


def _own_places(mesh: Mesh, names: Sequence[str]) -> tuple[int, ...]:
    """Returns how many places along some axes of a mesh are held by devices of this process."""
    own = [index for index, device in np.ndenumerate(mesh.devices) if device.process_index == jax.process_index()]
    axes = [mesh.axis_names.index(name) for name in names]
    return tuple(len({index[axis] for index in own}) for axis in axes)


def is_available() -> bool:
    """Returns False: there are no process groups, and scripts that ask go on as one process."""
    return False


def is_initialized() -> bool:
    """Returns False, as `is_available` does."""
    return False
