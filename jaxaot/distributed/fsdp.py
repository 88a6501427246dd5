"""Fully sharded parameters: each device keeps a part of each, and the whole only while a layer is computed.

A *unit* is a module that `fully_shard` was called with. When it is called it *gathers* the parameters that are its own,
computes with the whole ones, and lets go of them. A backward gathers them again:

- eagerly, because hooks on saved tensors keep the part in place of the whole;
- in a function that is compiled or rematerialized, because the partitioner may not save what is marked so;
- in a compiled step with its backward inside, because the tape of a trace gathers anew.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import jax
from jax.sharding import Mesh, NamedSharding

from jaxaot._jax import mark_p
from jaxaot._placement import is_spread, placed_at
from jaxaot.errors import PlacementError, TensorTypeError
from jaxaot.facade.dispatch.create import from_jax
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.members.placements import (
    Placement,
    Replicate,
    Shard,
    array_of,
    placements_of,
    require_mesh,
    sharding_of,
)
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.view_ops.views import detach
from jaxaot.ir.regions import MUST_RECOMPUTE
from jaxaot.nn.modules.module import Module
from jaxaot.ops.table import lookup
from jaxaot.tape.modes import no_grad, state
from jaxaot.tape.saved_hooks import saved_tensors_hooks


@dataclasses.dataclass(frozen=True)
class MixedPrecisionPolicy:
    """In which precision a unit computes.

    Attributes:
      param_dtype: The dtype in which parameters are gathered and used; None for their own. The parts, gradients and
        states of optimizers keep theirs.
    """

    param_dtype: Any = None


def fully_shard(
    module: object, mesh: Mesh, *, shard_axis: str | None = None, mp_policy: MixedPrecisionPolicy | None = None
) -> Any:
    """Spreads the parameters of a module over the devices of a mesh, and returns the module.

        mesh = ja.distributed.init_device_mesh("cpu", (4,))
        for block in model.blocks:
            ja.distributed.fully_shard(block, mesh)
        ja.distributed.fully_shard(model, mesh)
        optimizer = ja.optim.AdamW(model.parameters())

    Each parameter is sharded by the first dim that the number of devices divides, and replicated if there is none. When
    the module is called, its parameters are gathered, other than those of modules inside that were sharded before.
    Gradients, and the states of optimizers, are sharded as the parameters are.

    Args:
      module: A `ja.nn.Module`, whose parameters are replaced in place. Or a pytree of arrays or tensors, such as
        `nnx.state(model, nnx.Param)`, of which a sharded copy is returned; a model gathers these by `gathered`.
      mesh: The mesh. Along its other axes parameters are whole, or placed as they were on this mesh.
      shard_axis: The axis of the mesh to shard over, by default the last.
      mp_policy: In which precision the module computes.

    Raises:
      PlacementError: If the mesh has no such axis, or a parameter is sharded over it already.
      TensorTypeError: If there are no parameters.
    """
    require_mesh(mesh)
    axis = mesh.axis_names[-1] if shard_axis is None else shard_axis
    if axis not in mesh.axis_names:
        raise PlacementError(f"The mesh has the axes {list(mesh.axis_names)}, and no {axis!r} to shard over.")
    if not isinstance(module, Module):
        leaves = jax.tree.leaves(module)
        if not leaves or not all(isinstance(x, (Tensor, jax.Array)) for x in leaves):
            raise TensorTypeError(
                "`fully_shard` takes a `ja.nn.Module`, or a pytree of tensors or arrays, and was given "
                f"{type(module).__name__}. For a flax nnx model write `params = fully_shard(nnx.state(model, "
                "nnx.Param), mesh)`, and `nnx.update(model, params)`."
            )
        return jax.tree.map(lambda x: _sharded(x, mesh, axis), module)
    entries = list(_own_parameters(module))
    targets = {id(p): _target(p, mesh, axis) for _, _, p in entries}  # says what is wrong before anything is changed
    with no_grad():
        for _, _, p in entries:
            if id(p) in targets:
                target = targets.pop(id(p))
                p.data = from_jax(jax.device_put(array_of(detach(p)), target))
                if p.grad is not None:
                    p.grad = from_jax(jax.device_put(array_of(p.grad), target))
    Unit(module, entries, mesh, axis, mp_policy or MixedPrecisionPolicy())
    return module


def gathered(params: object, mesh: Mesh, axis: str | None = None) -> Any:
    """Returns parameters of which each device has the whole; under `ja.remat` a backward gathers them again.

        @functools.partial(ja.remat, memory_budget="1GiB")
        def loss(params, batch):
            for layer in params:
                x = block(ja.distributed.gathered(layer, mesh), x)

    Args:
      params: A pytree of arrays, or of tensors.
      mesh: The mesh that they are sharded over.
      axis: The axis of the mesh along which they become whole, by default all. Along the others they stay as they are,
        which a traced function does not know: there it has to be all.
    """

    def gather(x: object) -> Any:
        if isinstance(x, Tensor):
            return _gathered_tensor(x, _whole(x, mesh, axis))
        whole = NamedSharding(mesh, jax.sharding.PartitionSpec())
        return mark_p.bind(jax.jit(placed_at, static_argnums=(1, 2))(x, whole, None), word=MUST_RECOMPUTE)

    return jax.tree.map(gather, params)


def _sharded(x: object, mesh: Mesh, axis: str) -> Any:
    target = _target(x, mesh, axis)
    if not isinstance(x, Tensor):
        return jax.device_put(x, target)
    return from_jax(jax.device_put(array_of(detach(x)), target)).requires_grad_(x.requires_grad)


def _target(x: object, mesh: Mesh, axis: str) -> NamedSharding:
    """Returns how a parameter is sharded over one more axis of a mesh."""
    shape = tuple(x.shape)
    array = array_of(detach(x)) if isinstance(x, Tensor) else x
    placements: list[Placement] = [Replicate()] * len(mesh.axis_names)
    if is_spread(array) and isinstance(array.sharding, NamedSharding) and array.sharding.mesh == mesh:
        placements = list(placements_of(array.sharding))
    place = mesh.axis_names.index(axis)
    if not placements[place].is_replicate():
        raise PlacementError(
            f"A parameter of shape {list(shape)} is sharded over {axis!r} already. Call `fully_shard` once for each "
            "module, on the inner ones first."
        )
    for dim, size in enumerate(shape):
        if any(p.is_shard(dim) for p in placements) or size % mesh.shape[axis]:
            continue
        placements[place] = Shard(dim)
        break
    return sharding_of(mesh, placements, shape)


def _whole(x: Tensor, mesh: Mesh, axis: str | None) -> NamedSharding:
    placements: list[Placement] = [Replicate()] * len(mesh.axis_names)
    if axis is not None:
        sharding = array_of(detach(x)).sharding
        assert isinstance(sharding, NamedSharding), "a sharded parameter lies on a mesh"
        placements = [
            Replicate() if n == axis else p for n, p in zip(mesh.axis_names, placements_of(sharding), strict=True)
        ]
    return sharding_of(mesh, placements, x.shape)


def _own_parameters(module: Module) -> Iterator[tuple[Module, str, Tensor]]:
    """Yields the parameters of a module and of those inside that are no units: owner, name, parameter."""
    for name, parameter in module._parameters.items():
        if parameter is not None:
            yield module, name, parameter
    for child in module._modules.values():
        if child is not None and _UNIT not in vars(child):
            yield from _own_parameters(child)


_UNIT = "_fsdp_unit"


def unit_of(module: Module) -> Unit | None:
    """Returns the unit that `fully_shard` made of a module; None if it did not."""
    return vars(module).get(_UNIT)


def _gathered_tensor(x: Tensor, whole: NamedSharding, dtype: object = None) -> Tensor:
    """Returns the whole of a sharded tensor, of which the tape keeps the part."""
    source = x if dtype is None else x.to(dtype)
    trace = state.trace
    placed = None if trace is not None else array_of(detach(source)).sharding
    made = call(lookup("gathered"), (source,), (whole, placed, MUST_RECOMPUTE))
    if trace is not None:
        symbol = made._storage.array
        trace.gathered[id(symbol)] = symbol, source._storage.array, whole
    return made


class Unit:
    """What `fully_shard` adds to a module: it is called before and after `forward`.

    Attributes:
      entries: Its parameters: who holds each, under which name, the parameter, and where the whole lies.
      mesh: The mesh.
      axis: The axis of the mesh that they are sharded over.
      dtype: In which they are gathered; None for their own.
      is_idle: Whether it does nothing for now.
    """

    def __init__(self, module: Module, entries: list[Any], mesh: Mesh, axis: str, policy: MixedPrecisionPolicy):
        self.entries = [(owner, name, p, _whole(p, mesh, axis)) for owner, name, p in entries]
        self.mesh, self.axis, self.dtype = mesh, axis, policy.param_dtype
        self.is_idle = False  # under `no_sync`, which gathers by itself
        self.entered: list[Any] = []
        vars(module)[_UNIT] = self
        module.register_forward_pre_hook(self.before, prepend=True)
        module.register_forward_hook(self.after, always_call=True)

    def before(self, module: Module, args: object) -> None:
        del module, args
        if self.is_idle:
            return
        made: dict[int, Tensor] = {}
        for owner, name, p, whole in self.entries:
            if id(p) not in made:
                made[id(p)] = _gathered_tensor(p, whole, self.dtype)
            owner._parameters[name] = made[id(p)]
        hooks = None
        if state.trace is None:
            pairs = [(made[id(p)]._storage.array, p, whole) for _, _, p, whole in self.entries]
            packing = _Packing(pairs, self.dtype)
            hooks = saved_tensors_hooks(packing, _unpack), packing
            hooks[0].__enter__()
        self.entered.append(hooks)

    def after(self, module: Module, args: object, output: object) -> None:
        del module, args, output
        if not self.entered:  # `before` itself failed
            return
        hooks = self.entered.pop()
        if hooks is not None:
            hooks[0].__exit__(None, None, None)
            hooks[1].forget()
        if state.trace is not None:
            wholes = [owner._parameters[name] for owner, name, _, _ in self.entries]
            state.trace.still_whole = frozenset(id(w._storage.array) for w in wholes if w is not None)
        for owner, name, p, _ in self.entries:
            owner._parameters[name] = p


@dataclasses.dataclass(frozen=True)
class _Part:
    """What the tape keeps of a whole parameter: from what and how it is gathered again."""

    parameter: Tensor
    whole: NamedSharding
    dtype: Any


class _Packing:
    """Keeps parts in place of whole parameters, and other saved tensors as they are."""

    def __init__(self, pairs: list[Any], dtype: object):
        self._parts = {id(array): (array, _Part(p, whole, dtype)) for array, p, whole in pairs}

    def __call__(self, saved: Tensor) -> Any:
        array, part = self._parts.get(id(saved._storage.array), (None, saved))
        del array
        return part

    def forget(self) -> None:
        """Lets go of the whole parameters: the tape holds these hooks."""
        self._parts.clear()


def _unpack(kept: Any) -> Tensor:
    if not isinstance(kept, _Part):
        return kept
    with no_grad():
        return _gathered_tensor(kept.parameter.detach(), kept.whole, kept.dtype)
