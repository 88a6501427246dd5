"""local_map(fn, ...): a function of the parts that one device holds, run on every device of a mesh."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.sharding import Mesh, PartitionSpec

from jaxaot.api import functionalize
from jaxaot.distributed.partial import PartialTensor
from jaxaot.errors import PlacementError, UnfinishedSumError
from jaxaot.facade.placements import Partial, Placement, Replicate, spec_of
from jaxaot.facade.tensor import Tensor
from jaxaot.transforms.call_as_op import call_on_tensors

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
    `ja.from_jax(jax.lax.psum(t.jax(), "dim_0"))`.

    Args:
      fn: A function of tensors that returns a tensor or a tuple of them. It sees parts, and writes to none of them.
      out_placements: Placements of the result, or of each result; `Partial()` says that devices return terms of a sum.
      in_placements: Placements of each argument; None for an argument that is no tensor. Arguments are redistributed.
      device_mesh: The mesh.

    Raises:
      PlacementError: If there are not as many placements as the mesh has axes.
    """
    is_one = all(hasattr(p, "is_shard") for p in out_placements)
    outs: list[Any] = [tuple(out_placements)] if is_one else [tuple(p) for p in out_placements]  # type: ignore[arg-type]
    for placements in (*outs, *(p for p in in_placements if p is not None)):
        spec_of(device_mesh, [Replicate() if isinstance(p, Partial) else p for p in placements], 64)

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
        pairs = [(x, p) for x, p in zip(args, in_placements, strict=True) if p is not None]
        given = [x.redistribute(device_mesh, p) if isinstance(x, Tensor) else x for x, p in pairs]
        specs = tuple(spec_of(device_mesh, p, len(x.shape)) for x, p in pairs)

        def on_parts(*parts: Any) -> Any:
            rest = iter(parts)
            full = [x if p is None else next(rest) for x, p in zip(args, in_placements, strict=True)]
            results = functionalize(fn)(*full)
            results = [results] if is_one else list(results)
            if len(results) != len(outs):
                raise PlacementError(
                    f"The function returned {len(results)} results, and `out_placements` are for {len(outs)}."
                )
            return [_with_axes(x, p) for x, p in zip(results, outs, strict=True)]

        @jax.jit
        def everywhere(*arrays: Any) -> Any:
            shapes: list[int] = []

            def noting(*parts: Any) -> Any:
                results = on_parts(*parts)
                shapes[:] = [x.ndim - _n_partial(p) for x, p in zip(results, outs, strict=True)]
                return results

            jax.eval_shape(
                jax.shard_map(noting, mesh=device_mesh, in_specs=specs, out_specs=PartitionSpec(), check_vma=False),
                *arrays,
            )
            out_specs = [_out_spec(device_mesh, p, n) for p, n in zip(outs, shapes, strict=True)]
            return jax.shard_map(on_parts, mesh=device_mesh, in_specs=specs, out_specs=out_specs)(*arrays)

        results = [
            PartialTensor(x, device_mesh, p) if _n_partial(p) else x
            for x, p in zip(call_on_tensors(everywhere, tuple(given), {}), outs, strict=True)
        ]
        return results[0] if is_one else tuple(results)

    return run


def _n_partial(placements: Placements) -> int:
    return sum(isinstance(p, Partial) for p in placements)


def _with_axes(x: Any, placements: Placements) -> Any:
    """Returns a device's term of a sum, with an axis of size 1 for each axis of the mesh that the sum is over."""
    return x.reshape((1,) * _n_partial(placements) + tuple(x.shape))


def _out_spec(mesh: Mesh, placements: Placements, ndim: int) -> PartitionSpec:
    names = [name for name, p in zip(mesh.axis_names, placements, strict=True) if isinstance(p, Partial)]
    whole = [Replicate() if isinstance(p, Partial) else p for p in placements]
    return PartitionSpec(*names, *spec_of(mesh, whole, ndim))
