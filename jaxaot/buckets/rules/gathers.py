"""Rules of reads and writes at places that are computed."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax
from jax.lax import GatherScatterMode

from jaxaot._typing import Array, ArrayLike
from jaxaot.buckets.rules.reductions import identity_of
from jaxaot.buckets.table import declare
from jaxaot.buckets.writer import Padded, Writer
from jaxaot.ir.alignment import AlignedEqn
from jaxaot.ir.extents import Extent, extent_of, plain, size_of

_KNOWN = (GatherScatterMode.CLIP, GatherScatterMode.FILL_OR_DROP, GatherScatterMode.PROMISE_IN_BOUNDS)


def _wide(indices: ArrayLike) -> Any:
    """Returns indices of a dtype in which the size of each axis is a number."""
    indices = jnp.asarray(indices)
    return indices if indices.dtype.itemsize >= 4 else indices.astype(jnp.int32)


def _replaced(indices: Array, column: int, values: Array) -> Any:
    """Returns indices with one column replaced."""
    is_it = lax.broadcasted_iota(jnp.int32, indices.shape, indices.ndim - 1) == column
    return lax.select_n(is_it, indices, jnp.broadcast_to(values[..., None].astype(indices.dtype), indices.shape))


def _checked_mode(w: Writer, e: AlignedEqn) -> Any:
    mode = GatherScatterMode.from_any(e.bucket["mode"])
    if mode not in _KNOWN:
        raise w.refuse(f"no rule for its mode {mode}")
    return mode


@declare("gather", "Indices are clipped, or found to be out of bounds, at the exact size.", "slice_sizes")
def gather(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Reads rows or windows."""
    source, places = values
    names, sizes, mode = e.bucket["dimension_numbers"], e.bucket["slice_sizes"], _checked_mode(w, e)
    column = {axis: i for i, axis in enumerate(names.start_index_map)}
    last = len(places.extents) - 1
    if places.is_padded(last):
        raise w.refuse("the number of its indices depends on a size")
    for axis, of_places in zip(names.operand_batching_dims, names.start_indices_batching_dims, strict=True):
        (source, places), _ = w.together([source, places], [[axis, of_places]])
    batch: dict[int, Extent] = {axis: places.extents[axis] for axis in range(last)}
    indices, outside = _wide(places.array), None
    is_whole = {}
    for axis in range(len(source.extents)):
        if axis in names.operand_batching_dims:
            continue
        window = size_of(e.exact["slice_sizes"][axis], sizes[axis])
        is_whole[axis] = window[:2] == source.size(axis)[:2]
        if is_whole[axis]:
            w.equal(window, source.size(axis))
            continue
        if not window.is_static:
            raise w.refuse("a window of it depends on a size")
        if not source.is_padded(axis):
            continue
        source = w.as_prefix(source, axis)
        if axis not in column:
            continue
        highest = jnp.asarray(w.value(source.size(axis)) - window.bucket).astype(jnp.int32)
        given = indices[..., column[axis]]
        if mode == GatherScatterMode.FILL_OR_DROP:
            is_outside = (given < 0) | (given > highest.astype(given.dtype))
            outside = is_outside if outside is None else outside | is_outside
        else:  # where indices are promised to be in bounds, XLA clips them
            clipped = lax.clamp(jnp.zeros((), given.dtype), given, highest.astype(given.dtype))
            indices = _replaced(indices, column[axis], clipped)
    (array,) = w.bind(e, source.array, indices)
    windows = [
        axis
        for axis in range(len(source.extents))
        if axis not in names.collapsed_slice_dims and axis not in names.operand_batching_dims
    ]
    next_window, next_batch = iter(windows), iter(range(last))
    extents, batch_axes = [], []
    for axis in range(array.ndim):
        if axis in names.offset_dims:
            of = next(next_window)
            extents.append(source.extents[of] if is_whole[of] else extent_of(sizes[of], sizes[of]))
        else:
            extents.append(batch[next(next_batch)])
            batch_axes.append(axis)
    if outside is not None:
        filled = jnp.full(array.shape, _filler(e, array.dtype), array.dtype)
        array = lax.select_n(lax.broadcast_in_dim(outside, array.shape, tuple(batch_axes)), array, filled)
        w.note("mask")
    return [Padded(array, tuple(extents))]


def _filler(e: AlignedEqn, dtype: Any) -> Any:
    """Returns what is read outside."""
    if e.bucket["fill_value"] is not None:
        return e.bucket["fill_value"]
    if jnp.issubdtype(dtype, jnp.inexact):
        return jnp.nan
    return identity_of("max" if jnp.issubdtype(dtype, jnp.signedinteger) else "min", dtype)


@declare(
    "scatter scatter-add scatter_add scatter-mul scatter_mul scatter-min scatter_min scatter-max scatter_max",
    "What an invalid index says is written nowhere; indices are clipped, or found out of bounds, at the exact size.",
)
def scatter(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Writes rows or windows."""
    target, places, updates = values
    names, mode, changed = e.bucket["dimension_numbers"], _checked_mode(w, e), {}
    last = len(places.extents) - 1
    if places.is_padded(last):
        raise w.refuse("the number of its indices depends on a size")
    batch_of_updates = [axis for axis in range(len(updates.extents)) if axis not in names.update_window_dims]
    for axis, of_places in zip(names.operand_batching_dims, names.scatter_indices_batching_dims, strict=True):
        group = [axis, of_places, batch_of_updates[of_places]]
        (target, places, updates), _ = w.together([target, places, updates], [group])
    rows = [axis for axis in range(last) if axis not in names.scatter_indices_batching_dims]
    (places, updates), joined = w.together([places, updates], [[axis, batch_of_updates[axis]] for axis in rows])
    indices = _wide(places.array)
    windows = [
        axis
        for axis in range(len(target.extents))
        if axis not in names.inserted_window_dims and axis not in names.operand_batching_dims
    ]
    width = dict.fromkeys(range(len(target.extents)), 1)
    for axis, of_updates in zip(windows, names.update_window_dims, strict=True):
        width[axis] = updates.array.shape[of_updates]
        if target.size(axis)[:2] == updates.size(of_updates)[:2]:
            (target, updates), _ = w.together([target, updates], [[axis, of_updates]])
        elif updates.is_padded(of_updates):
            raise w.refuse("a window of it depends on a size")
        else:
            target = w.as_prefix(target, axis)
    nowhere = jnp.iinfo(jnp.int32).max
    for column, axis in enumerate(names.scatter_dims_to_operand_dims):
        is_whole = axis in windows and width[axis] == target.array.shape[axis]
        if not target.is_padded(axis) or is_whole:
            continue
        target = w.as_prefix(target, axis)
        given = indices[..., column]
        highest = jnp.asarray(w.value(target.size(axis)) - width[axis]).astype(given.dtype)
        if mode == GatherScatterMode.CLIP:
            indices = _replaced(indices, column, lax.clamp(jnp.zeros((), given.dtype), given, highest))
        elif width[axis] > 1:
            off = (given < 0) | (given > highest)
            indices = _replaced(indices, column, lax.select_n(off, given, jnp.full_like(given, nowhere)))
    of_rows = Padded(
        indices, tuple(dict(zip(rows, joined, strict=True)).get(a, x) for a, x in enumerate(places.extents))
    )
    if any(map(of_rows.is_padded, rows)):
        if not names.scatter_dims_to_operand_dims:
            raise w.refuse("it has no index")
        indices = w.mask(of_rows, rows, nowhere).array
        changed = {"mode": GatherScatterMode.FILL_OR_DROP, "indices_are_sorted": False, "unique_indices": False}
    (array,) = w.bind(e, target.array, indices, updates.array, **changed)
    return [Padded(array, tuple(map(plain, target.extents)))]
