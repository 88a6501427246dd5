"""local_map(fn, ...): a function of the parts that one device holds, run on every device of a mesh."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxaot._immutable import immutable
from jaxaot._jax import type_varies_over, varying_axes
from jaxaot.distributed.partial import PartialTensor
from jaxaot.errors import PlacementError, TensorTypeError, TraceError, UnfinishedSumError
from jaxaot.facade.dispatch.create import from_jax
from jaxaot.facade.members.placements import Partial, Placement, Replicate, spec_of
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.tracer.bodies.body import Body, trace_body
from jaxaot.tracer.bodies.leaves import spec_of as leaf_spec
from jaxaot.transforms.call_as_op import call_body, outermost_trace

Placements = Sequence[Placement]


def local_map(
    fn: Callable[..., Any],
    out_placements: Placements | Sequence[Placements],
    in_placements: Sequence[Placements | None],
    device_mesh: Mesh,
) -> Callable[..., Any]:
    """Returns a function of whole tensors that runs `fn` on the parts of each device, and is differentiable.

        @functools.partial(local_map, out_placements=[Partial()], in_placements=([Shard(1)], [Shard(0)]),
                           device_mesh=mesh)
        def rows_by_columns(x, w):
            return x @ w                    # each device has some columns of x and rows of w

        y = rows_by_columns(x, w).redistribute(mesh, [Replicate()])

    Inside, collectives of JAX by the names of the mesh's axes are at hand, such as
    `ja.interop.from_jax(jax.lax.psum(t.jax(), "dim_0"))`. Tensors that `fn` reaches are the same on each device, and so
    are the random numbers that it draws.

    Args:
      fn: A function of tensors that returns a tensor or a tuple of them. It sees parts, and writes to none of them.
      out_placements: Placements of the result, or of each result; `Partial()` says that devices return terms of a sum.
      in_placements: Placements of each argument; None for an argument that is no tensor. Arguments are redistributed.
      device_mesh: The mesh.

    Raises:
      PlacementError: If there are not as many placements as the mesh has axes. By the function returned, if a result
        differs between devices that are to hold the same.
      TraceError: By the function returned, if `fn` writes to a tensor that it was not passed.
    """
    is_one = all(hasattr(p, "is_shard") for p in out_placements)
    outs: list[Any] = [tuple(out_placements)] if is_one else [tuple(p) for p in out_placements]  # type: ignore[arg-type]
    for placements in (*outs, *(p for p in in_placements if p is not None)):
        spec_of(device_mesh, [Replicate() if isinstance(p, Partial) else p for p in placements], 64)

    name = getattr(fn, "__name__", "function")

    @functools.wraps(fn)
    def run(*args: Any) -> Any:
        if len(args) != len(in_placements):
            raise PlacementError(
                f"The function was given {len(args)} arguments, and `in_placements` has {len(in_placements)} entries. "
                "Write one for each argument; None for one that is no tensor."
            )
        unfinished = [i for i, x in enumerate(args) if isinstance(x, PartialTensor)]
        if unfinished:
            raise UnfinishedSumError(
                f"The arguments {unfinished} are sums that are not finished. Pass `x.redistribute(mesh, placements)`."
            )
        for i, (x, p) in enumerate(zip(args, in_placements, strict=True)):
            if p is not None and not isinstance(x, (Tensor, jax.Array, np.ndarray)):
                raise TensorTypeError(
                    f"Argument {i} of `{name}` is of type {type(x).__name__}, and `in_placements` has {list(p)} for "
                    "it. Only tensors have placements; write None there."
                )
        pairs = [(x, p) for x, p in zip(args, in_placements, strict=True) if p is not None]
        given = [(x if isinstance(x, Tensor) else from_jax(x)).redistribute(device_mesh, p) for x, p in pairs]
        specs = tuple(spec_of(device_mesh, p, x.ndim) for x, (_, p) in zip(given, pairs, strict=True))

        def on_parts(parts: list[Any]) -> list[Any]:
            rest = iter(parts)
            full = [x if p is None else next(rest) for x, p in zip(args, in_placements, strict=True)]
            found = fn(*full)
            results = [found] if is_one or not isinstance(found, (tuple, list)) else list(found)
            if len(results) != len(outs):
                raise PlacementError(
                    f"The function returned {len(results)} results, and `out_placements` are for {len(outs)}."
                )
            for x in results:
                if not isinstance(x, (Tensor, jax.Array)):
                    raise TensorTypeError(
                        f"`{name}` returned something of type {type(x).__name__}. A function of parts returns a tensor "
                        "for each entry of `out_placements`; several in a tuple."
                    )
            return [_with_axes(x, p) for x, p in zip(results, outs, strict=True)]

        body = _body_of(name, on_parts, given, device_mesh, specs)
        out_specs = [
            _out_spec(device_mesh, p, len(spec.shape) - _n_partial(p))
            for p, spec in zip(outs, body.results, strict=True)
        ]
        for i, (spec, var) in enumerate(zip(out_specs, body.graph.jaxpr.outvars, strict=True)):
            _check_alike(name, i, outs[i], type_varies_over(var.aval) - {*jax.tree.leaves(tuple(spec))})
        everywhere = _Everywhere(device_mesh, specs, tuple(out_specs))
        results = [
            PartialTensor(x, device_mesh, p) if _n_partial(p) else x
            for x, p in zip(call_body("local_map", body, given, everywhere), outs, strict=True)
        ]
        return results[0] if is_one else tuple(results)

    return run


@immutable
class _Everywhere:
    """Runs a graph on the parts of each device; what it takes besides is the same on all of them.

    Attributes:
      mesh: The mesh.
      in_specs: How its first arguments are spread.
      out_specs: How its results are.
    """

    mesh: Mesh
    in_specs: tuple[PartitionSpec, ...]
    out_specs: tuple[PartitionSpec, ...]

    def __call__(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        def run(*values: Any) -> Any:
            specs = (*self.in_specs, *[PartitionSpec()] * (len(values) - len(self.in_specs)))
            mapped = jax.shard_map(compute, mesh=self.mesh, in_specs=specs, out_specs=list(self.out_specs))
            return jax.jit(mapped)(*values)  # outside of a program it checks its results by more programs

        return run


def _check_alike(name: str, place: int, placements: Placements, axes: frozenset[Any]) -> None:
    """Raises if a result differs along axes along which it is said to be the same."""
    if axes:
        raise PlacementError(
            f"Result {place} of `{name}` may differ from device to device along {sorted(axes)}, and `out_placements` "
            f"has {list(placements)} for it, which says that all hold the same. Write `Shard(dim)` for parts or "
            "`Partial()` for terms of a sum; or make them alike, such as by `jax.lax.psum`."
        )


def _body_of(
    name: str, on_parts: Callable[..., Any], given: Sequence[Tensor], mesh: Mesh, specs: tuple[PartitionSpec, ...]
) -> Body:
    """Returns a function of parts as a graph. It is traced where the names of the mesh's axes are known."""
    shapes = [NamedSharding(mesh, spec).shard_shape(tuple(x.shape)) for x, spec in zip(given, specs, strict=True)]
    parts = [dataclasses.replace(leaf_spec(x), shape=shape) for x, shape in zip(given, shapes, strict=True)]
    traced: list[Body] = []

    def trace(*arrays: Any) -> tuple[()]:
        varying = [varying_axes(array) for array in arrays]
        traced.append(trace_body(on_parts, parts, has_streams=False, varying=varying, what=f"`{name}`, a `local_map`,"))
        return ()

    types = [jax.ShapeDtypeStruct(tuple(x.shape), x.dtype) for x in given]
    with outermost_trace():
        jax.eval_shape(jax.shard_map(trace, mesh=mesh, in_specs=specs, out_specs=()), *types)
    (body,) = traced
    if body.writes or body.moves or body.counts:
        raise TraceError(
            f"`{name}`, a function of the parts that one device holds, writes to a tensor that it was not passed, and "
            "each device would write something else there. Return the new value with a placement of its own, and write "
            "it outside: `x.copy_(new)`."
        )
    return body


def _n_partial(placements: Placements) -> int:
    return sum(isinstance(p, Partial) for p in placements)


def _with_axes(x: Any, placements: Placements) -> Any:
    """Returns a device's term of a sum, with an axis of size 1 for each axis of the mesh that the sum is over."""
    return x.reshape((1,) * _n_partial(placements) + tuple(x.shape))


def _out_spec(mesh: Mesh, placements: Placements, ndim: int) -> PartitionSpec:
    names = [name for name, p in zip(mesh.axis_names, placements, strict=True) if isinstance(p, Partial)]
    whole = [Replicate() if isinstance(p, Partial) else p for p in placements]
    return PartitionSpec(*names, *spec_of(mesh, whole, ndim))
