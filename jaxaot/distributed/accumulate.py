"""Gradients of several batches, of which devices exchange the sum once.

In a program over all devices XLA sums a gradient where it is computed. To put that off, each device needs a parameter
of its own: for as long as `no_sync` lasts a parameter is a stack of copies, one on each device, and the module is
mapped over stack and batch. What its backward adds up are stacks of terms, each where its copy lies.

The axes of the mesh over which tensor parallelism shards a parameter have no rows of their own: along these a copy is
sharded as the parameter was.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding

from jaxaot import _trees as pytree
from jaxaot.distributed.fsdp import unit_of
from jaxaot.errors import PlacementError, TensorTypeError
from jaxaot.facade.dispatch.create import from_jax
from jaxaot.facade.members.placements import Placement, Replicate, Shard, array_of, placements_of, sharding_of
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.nodes.hooks import wrap_gradient
from jaxaot.facade.view_ops.views import detach
from jaxaot.nn.modules.module import Module
from jaxaot.tape.modes import no_grad, state
from jaxaot.transforms.vmap import vmap


@contextlib.contextmanager
def no_sync(module: Module, mesh: Mesh | None = None) -> Iterator[None]:
    """Has devices add up gradients of their own for as long as it lasts, and exchange them once, at its end.

        with ja.distributed.no_sync(model):
            for batch in batches:           # all of them, the last one too
                loss_of(model, batch).backward()
        optimizer.step()

    At the start the parameters are gathered, once, and stay whole on each device until the end, beside a gradient of
    the same size. At the end gradients are summed over the devices, added to `p.grad` and placed as the parameters are;
    after an exception they are dropped.

    Each device computes the module for its own rows, as in `torch.nn.parallel.DistributedDataParallel`: tensors among
    the arguments have the batch as their first dim, and so have the results. A result without dims, such as a loss, is
    averaged over the devices. What is no batch, such as a mask, is a buffer of the module. Along an axis of the mesh
    over which tensor parallelism shards parameters, they stay sharded, and devices have the same rows.

    Args:
      module: A module under `fully_shard`, or one whose parameters are replicated on a mesh.
      mesh: The mesh; by default that of the parameters. In a traced function it is given where there is no
        `fully_shard`. There parameters without it are taken to be whole.

    Raises:
      TensorTypeError: If it is no `ja.nn.Module`.
      PlacementError: If the module lies on no mesh, is sharded over all of its axes otherwise than by `fully_shard`, is
        in a `no_sync` already, or if the number of devices does not divide a batch.
    """
    if not isinstance(module, Module):
        raise TensorTypeError(f"`no_sync` takes a `ja.nn.Module`, and was given {type(module).__name__}.")
    copies = _Copies(module, mesh)
    with copies:
        yield
    copies.finish()


class _Copies:
    """The parameters of a module while devices do not exchange gradients."""

    def __init__(self, module: Module, mesh: Mesh | None):
        self.module = module
        self.units = [unit for m in module.modules() if (unit := unit_of(m)) is not None]
        self.forward = module.forward
        self.is_own = "forward" in vars(module)
        if any(unit.is_idle for unit in self.units) or isinstance(getattr(self.forward, "__self__", None), _Copies):
            raise PlacementError(
                "The module is in a `no_sync` already. Enter it once, on the outermost module, around all batches."
            )
        self.mesh = mesh or self._mesh()
        self.wholes = {id(p): whole for unit in self.units for _, _, p, whole in unit.entries}
        placed = {id(p): self._placements(p) for p in module.parameters()}
        self.axes = self._axes_of_rows(placed)
        self.n = math.prod(self.mesh.shape[axis] for axis in self.axes)
        dtypes = {id(p): unit.dtype for unit in self.units for _, _, p, _ in unit.entries}
        self.places: list[tuple[Module, str, Tensor, Any]] = []
        made: dict[int, Tensor] = {}
        self.stacks: list[tuple[Tensor, Tensor]] = []
        for owner in module.modules():
            for name, p in owner._parameters.items():
                if p is None:
                    continue
                if id(p) not in made:
                    made[id(p)] = self._stacked(p, placed[id(p)])
                    self.stacks.append((p, made[id(p)]))
                self.places.append((owner, name, made[id(p)], dtypes.get(id(p))))

    def _mesh(self) -> Mesh:
        for unit in self.units:
            return unit.mesh
        for p in self.module.parameters():
            sharding = array_of(detach(p)).sharding if state.trace is None else None
            if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, Mesh):
                return sharding.mesh
        raise PlacementError(
            "`no_sync` needs to know the mesh of the module. Call `fully_shard(module, mesh)` first, place its "
            "parameters by `distribute_tensor`, or write `no_sync(module, mesh)`."
        )

    def _placements(self, p: Tensor) -> Sequence[Placement]:
        """Returns how a parameter lies when `fully_shard` has gathered it: whole, or sharded by tensor parallelism."""
        whole: Any = self.wholes.get(id(p))
        if whole is None and state.trace is None:
            whole = array_of(detach(p)).sharding
            if not isinstance(whole, NamedSharding):
                raise PlacementError(
                    f"A parameter of shape {list(p.shape)} lies on one device. Place it: `p.data = "
                    "distribute_tensor(p.detach(), mesh)`, or `fully_shard(module, mesh)`."
                )
        if whole is None or whole.is_fully_replicated:
            return [Replicate()] * len(self.mesh.axis_names)
        if whole.mesh != self.mesh:
            raise PlacementError(
                f"A parameter of shape {list(p.shape)} is sharded over {whole.mesh}, and `no_sync` is of {self.mesh}. "
                "Leave the mesh out, or write that of the parameters."
            )
        return placements_of(whole)

    def _axes_of_rows(self, placed: Mapping[int, Sequence[Placement]]) -> tuple[str, ...]:
        """Returns the axes of the mesh along which devices have rows of their own."""
        names = self.mesh.axis_names
        axes = tuple(name for i, name in enumerate(names) if not any(p[i].is_shard() for p in placed.values()))
        if not axes:
            raise PlacementError(
                f"Parameters are sharded over {list(names)}, all axes of the mesh, and not by `fully_shard`. Under "
                "`no_sync` each device along an axis of the mesh computes its own rows: shard parameters over other "
                "axes of a larger mesh, or sum the losses of several batches in one step instead."
            )
        return axes

    def _stacked(self, p: Tensor, placements: Sequence[Placement]) -> Tensor:
        """Returns a leaf of one copy of a parameter for each part of the rows."""
        pairs = zip(self.mesh.axis_names, placements, strict=True)
        rows = [Shard(0) if name in self.axes else _behind_the_first(placement) for name, placement in pairs]
        with no_grad():
            if state.trace is not None:
                whole = p.detach().redistribute(self.mesh, placements)
                made = whole.expand(self.n, *p.shape).redistribute(self.mesh, rows).detach()
            else:
                where = sharding_of(self.mesh, rows, (self.n, *p.shape))
                made = from_jax(_stack_of(array_of(detach(p)), self.n, where))
        return made.requires_grad_(p.requires_grad)

    def __enter__(self) -> None:
        for unit in self.units:
            unit.is_idle = True
        vars(self.module)["forward"] = self._call

    def __exit__(self, *error: object) -> None:
        del error, vars(self.module)["forward"]
        if self.is_own:
            vars(self.module)["forward"] = self.forward
        for unit in self.units:
            unit.is_idle = False

    def finish(self) -> None:
        """Sums the gradients over the devices."""
        with no_grad():
            for p, stack in self.stacks:
                if stack.grad is None:
                    continue
                if state.trace is not None:
                    total = wrap_gradient(stack.grad.sum(0)._read(), p)
                else:
                    total = from_jax(_sum_of(array_of(stack.grad), array_of(detach(p)).sharding))
                if p.grad is None:
                    p.grad = total
                else:
                    p.grad.add_(total)
                stack.grad = None

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the results of the module for rows of all devices."""
        leaves, tree = pytree.flatten((args, kwargs))
        is_batch = [isinstance(x, (Tensor, jax.Array)) and x.ndim > 0 for x in leaves]
        batches = [self._rows(x) for x, wanted in zip(leaves, is_batch, strict=True) if wanted]

        def on_one_device(rows: list[Any], copies: list[Tensor]) -> Any:
            rest = iter(rows)
            its_args, its_kwargs = pytree.unflatten(
                tree, [next(rest) if wanted else x for x, wanted in zip(leaves, is_batch, strict=True)]
            )
            before = [owner._parameters[name] for owner, name, _, _ in self.places]
            try:
                for (owner, name, _, dtype), copy in zip(self.places, copies, strict=True):
                    owner._parameters[name] = copy if dtype is None else copy.to(dtype)
                return self.forward(*its_args, **its_kwargs)
            finally:
                for (owner, name, _, _), p in zip(self.places, before, strict=True):
                    owner._parameters[name] = p

        stacks = [stack for _, _, stack, _ in self.places]
        results = vmap(on_one_device, in_dims=(0, 0), randomness="different")(batches, stacks)
        return pytree.mapped(_of_all, results)

    def _rows(self, x: Any) -> Any:
        if x.shape[0] % self.n:
            raise PlacementError(
                f"A batch of shape {list(x.shape)} has {x.shape[0]} rows, for {self.n} devices. Under `no_sync` each "
                "computes as many rows: pass a batch that their number divides."
            )
        return x.reshape(self.n, x.shape[0] // self.n, *x.shape[1:])


def _behind_the_first(placement: Placement) -> Placement:
    """Returns the placement of a tensor that has one more dim in front."""
    return Shard(placement.dim + 1) if isinstance(placement, Shard) else placement


def _of_all(x: Any) -> Any:
    """Returns a result of all devices: their rows behind one another, or the mean of what has no dims."""
    return x.flatten(0, 1) if x.ndim > 1 else x.mean(0)


@functools.partial(jax.jit, static_argnums=(1, 2))
def _stack_of(array: Any, n: int, where: NamedSharding) -> Any:
    return jax.lax.with_sharding_constraint(jnp.broadcast_to(array, (n, *array.shape)), where)


@functools.partial(jax.jit, static_argnums=1)
def _sum_of(stack: Any, where: NamedSharding) -> Any:
    return jax.lax.with_sharding_constraint(stack.sum(0), where)
