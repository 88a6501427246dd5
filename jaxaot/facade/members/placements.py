"""Placements: which part of a tensor each device of a mesh holds, one placement for each axis of the mesh.

A tensor whose storage holds an array under a `NamedSharding` is a distributed one; there is no class of its own. What
operations do to placements is XLA's choice, from those of the operands, and `x.placements` shows it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxaot._immutable import immutable
from jaxaot._placement import is_spread
from jaxaot.errors import JaxaotError, PlacementError, TensorTypeError, TracedPlacementError
from jaxaot.facade.dispatch.arguments import STAND_INS
from jaxaot.facade.dispatch.create import from_jax
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ops.table import lookup
from jaxaot.tape.modes import state


class _Kinds:
    """What a placement says of its kind, in PyTorch's words."""

    def is_shard(self, dim: int | None = None) -> bool:
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        return isinstance(self, Replicate)

    def is_partial(self) -> bool:
        return isinstance(self, Partial)


@immutable
class Shard(_Kinds):
    """Says that the devices along an axis of the mesh hold equal parts of a dim.

    Attributes:
      dim: The dim; negative ones count from the last.
    """

    dim: int

    def __post_init__(self) -> None:
        if isinstance(self.dim, bool) or not isinstance(self.dim, (int, np.integer)):
            raise PlacementError(f"`Shard` takes the number of a dim, and was given {self.dim!r}. Write `Shard(0)`.")


@immutable
class Replicate(_Kinds):
    """Says that each device along an axis of the mesh holds the whole."""


@immutable
class Partial(_Kinds):
    """Says that each device along an axis of the mesh holds one term of a sum.

    Attributes:
      reduce_op: Always `"sum"`.
    """

    reduce_op: str = "sum"

    def __post_init__(self) -> None:
        if self.reduce_op != "sum":
            raise PlacementError(f"`Partial` stands for sums, and not for {self.reduce_op!r}. Write `Partial()`.")


Placement: TypeAlias = Shard | Replicate | Partial
_KINDS = (Shard, Replicate, Partial)


def require_mesh(mesh: object) -> None:
    """Raises if something is no mesh.

    Raises:
      TensorTypeError: If it is not.
    """
    if not isinstance(mesh, Mesh):
        raise TensorTypeError(
            f"A mesh is expected, and {type(mesh).__name__} was given. Write `mesh = init_device_mesh('cpu', (4,))`."
        )


def spec_of(mesh: Mesh, placements: Sequence[Placement], ndim: int) -> PartitionSpec:
    """Returns the placements of a tensor as JAX writes them, an entry for each dim.

    Raises:
      PlacementError: If there is not one for each axis of the mesh, or a dim that is not there.
    """
    require_mesh(mesh)
    if isinstance(placements, _KINDS) or not all(isinstance(p, _KINDS) for p in placements):
        raise PlacementError(
            f"Placements are a list of `Shard(dim)` and `Replicate()`, and not {placements!r}: one for each axis of "
            f"the mesh, {list(mesh.axis_names)}."
        )
    if len(placements) != len(mesh.axis_names):
        raise PlacementError(
            f"A mesh with the axes {list(mesh.axis_names)} takes {len(mesh.axis_names)} placements, and "
            f"{len(placements)} were given: {list(placements)}. Write one for each axis; `Replicate()` does nothing."
        )
    axes: list[list[Any]] = [[] for _ in range(ndim)]
    for name, placement in zip(mesh.axis_names, placements, strict=True):
        if isinstance(placement, Partial):
            raise PlacementError(
                f"`Partial()` on the axis {name!r}: a sum whose terms lie on several devices comes from `local_map` or "
                "`from_local`, and `redistribute` finishes it. Write `Replicate()` or `Shard(dim)`."
            )
        if isinstance(placement, Shard):
            if not -ndim <= placement.dim < ndim:
                raise PlacementError(
                    f"`Shard({placement.dim})` on the axis {name!r}: the tensor has {ndim} dims, so dims are from "
                    f"{-ndim} to {ndim - 1}."
                )
            axes[placement.dim % ndim].append(name)
    entries = [None if not names else names[0] if len(names) == 1 else tuple(names) for names in axes]
    while entries and entries[-1] is None:
        entries.pop()
    return PartitionSpec(*entries)


def sharding_of(mesh: Mesh, placements: Sequence[Placement], shape: Sequence[int]) -> NamedSharding:
    """Returns the sharding of a tensor of some shape.

    Raises:
      PlacementError: If the placements do not fit the mesh, or the number of devices does not divide a dim.
    """
    spec = spec_of(mesh, placements, len(shape))
    problems = []
    for dim, names in enumerate(spec):
        n = math.prod(mesh.shape[name] for name in _names(names))
        if shape[dim] % n:
            problems.append(f"dim {dim} has {shape[dim]} elements, for {n} devices along {list(_names(names))}")
    if problems:
        raise PlacementError(
            f"A tensor of shape {list(shape)} cannot be placed as {list(placements)}: {'; '.join(problems)}. Devices "
            "hold equal parts: shard a dim that their number divides, pad the tensor, or write `Replicate()`."
        )
    return NamedSharding(mesh, spec)


def _names(entry: object) -> tuple[Any, ...]:
    return () if entry is None else entry if isinstance(entry, tuple) else (entry,)


def placements_of(sharding: NamedSharding) -> tuple[Placement, ...]:
    """Returns a sharding as placements, one for each axis of its mesh."""
    dims = {name: dim for dim, entry in enumerate(sharding.spec) for name in _names(entry)}
    return tuple(Shard(dims[name]) if name in dims else Replicate() for name in sharding.mesh.axis_names)


def array_of(x: Tensor) -> Any:
    """Returns the concrete array that a tensor shows.

    Raises:
      TracedPlacementError: If the tensor is traced: where a graph's values lie is XLA's choice for each call.
    """
    if state.trace is not None:
        raise TracedPlacementError(
            "A traced tensor has no placement yet: one program serves tensors however they are placed. Look before the "
            "compiled function is called or at what it returns; inside, say a placement with "
            "`x.redistribute(mesh, placements)`."
        )
    storage = x._storage
    return storage.settled() if x._layout is storage.layout else x._read()


def _named_sharding(x: Tensor) -> NamedSharding:
    array = array_of(x)
    sharding = array.sharding if isinstance(array, jax.Array) else None
    if not isinstance(sharding, NamedSharding):
        raise PlacementError(
            "This tensor lies on one device and on no mesh. Place it: `ja.distributed.distribute_tensor(x, mesh, "
            "[Shard(0)])`."
        )
    return sharding


def placements(self: Tensor) -> tuple[Placement, ...]:
    """The placement of a distributed tensor along each axis of its mesh.

    Raises:
      PlacementError: If it lies on one device.
      TracedPlacementError: If it is being traced.
    """
    return placements_of(_named_sharding(self))


def device_mesh(self: Tensor) -> Mesh:
    """The mesh of a distributed tensor.

    Raises:
      PlacementError: If it lies on one device.
      TracedPlacementError: If it is being traced.
    """
    return _mesh_of(_named_sharding(self))


def _mesh_of(sharding: NamedSharding) -> Mesh:
    assert isinstance(sharding.mesh, Mesh), "a concrete array lies on devices"
    return sharding.mesh


def redistribute(
    self: Tensor, device_mesh: Mesh | None = None, placements: Sequence[Placement] | None = None
) -> Tensor:
    """Returns the tensor, placed otherwise; XLA says what the devices have to exchange. Gradients are placed back.

    Args:
      device_mesh: The mesh; by default its own. In a traced function it has to be given.
      placements: One for each axis of the mesh.

    Raises:
      PlacementError: If the placements do not fit.
    """
    mesh = _mesh_of(_named_sharding(self)) if device_mesh is None else device_mesh
    if placements is None:
        raise PlacementError("`redistribute` needs placements, such as `x.redistribute(mesh, [Replicate()])`.")
    target = sharding_of(mesh, placements, self._layout.size)
    if state.trace is not None:
        return call(lookup("redistributed"), (self,), (target, None))
    array = array_of(self)
    is_there = is_spread(array) and array.sharding.device_set == target.device_set
    if not is_there and not self.requires_grad:
        return from_jax(jax.device_put(array, target))
    return call(lookup("redistributed"), (self,), (target, array.sharding if is_there else None))


def full_tensor(self: Tensor) -> Tensor:
    """Returns the tensor with all of it on each device."""
    mesh = _mesh_of(_named_sharding(self))
    return redistribute(self, mesh, [Replicate()] * len(mesh.axis_names))


def to_local(self: Tensor, device: object = None) -> Tensor:
    """Returns the part of a distributed tensor that one device holds, as a tensor of that device.

    Args:
      device: The device; by default the first of the mesh that belongs to this process.

    Raises:
      PlacementError: If it requires grad, or this process holds nothing of it there.
    """
    if self.requires_grad and state.grad_enabled:
        raise PlacementError(
            "`to_local` of a tensor that requires grad would lose the gradient. Write `x.detach().to_local()`, or "
            "compute on parts with `ja.distributed.local_map(fn, ...)`, which differentiates."
        )
    _named_sharding(self)
    shards = array_of(self).addressable_shards
    found = [shard for shard in shards if device is None or shard.device == device]
    if not found:
        raise PlacementError(
            f"This process holds no part of the tensor on {device}; its parts are on "
            f"{_listed(s.device for s in shards)}."
        )
    return from_jax(found[0].data)


def _listed(devices: Iterator[Any]) -> str:
    return ", ".join(map(str, devices)) or "no device"


def placed(tensor: Any, mesh: Mesh, placements: Sequence[Placement]) -> Tensor:
    """Returns a leaf with the values of a tensor or array, placed on a mesh; see `ja.distributed.distribute_tensor`."""
    if type(tensor) in STAND_INS:
        tensor.settled("`distribute_tensor`")
    if not isinstance(tensor, (Tensor, jax.Array, np.ndarray)):
        raise TensorTypeError(
            f"A tensor or an array is distributed, and {type(tensor).__name__} was given. Write `ja.tensor(values)`."
        )
    shape = tuple(tensor._layout.size) if isinstance(tensor, Tensor) else tuple(tensor.shape)
    target = sharding_of(mesh, placements, shape)
    values = array_of(tensor.detach()) if isinstance(tensor, Tensor) else tensor
    made = from_jax(jax.device_put(values, target))
    return made.requires_grad_() if isinstance(tensor, Tensor) and tensor.requires_grad else made


def _names_here(self: Tensor) -> list[str]:
    """Returns the names of its attributes, without those that only a tensor on a mesh has."""
    lacking: set[str] = set()
    try:
        device_mesh(self)
    except JaxaotError:
        lacking.update(PROPERTIES)
    if not hasattr(self, "_mark"):
        lacking.add("_mark")
    return [name for name in object.__dir__(self) if name not in lacking]


PROPERTIES = {"placements": placements, "device_mesh": device_mesh}
METHODS = {"redistribute": redistribute, "full_tensor": full_tensor, "to_local": to_local, "__dir__": _names_here}
