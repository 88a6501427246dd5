"""Rules of primitives that cut windows out of arrays, write them, or add margins."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array, ArrayLike
from jaxaot.buckets.table import declare
from jaxaot.buckets.writer import Padded, Writer
from jaxaot.ir.alignment import AlignedEqn
from jaxaot.ir.extents import Size, extent_of, plain, size_of


def _with_room(array: Array, room: dict[int, int]) -> Any:
    """Returns an array with some zeros behind it along some axes, so that no window is moved by the end of it."""
    config = [(0, room.get(axis, 0), 0) for axis in range(array.ndim)]
    return lax.pad(array, jnp.zeros((), array.dtype), config) if any(room.values()) else array


def _clipped(w: Writer, start: ArrayLike, size: Size, window: Size) -> Any:
    """Returns a start as it is clipped at the exact size."""
    last = jnp.maximum(jnp.asarray(w.value(size) - w.value(window)), 0)
    start = jnp.asarray(start)
    kind = start.dtype if jnp.iinfo(start.dtype).bits >= 32 else jnp.int32
    return lax.clamp(jnp.zeros((), kind), start.astype(kind), last.astype(kind))


@declare(
    "slice",
    "A start or end that counts from the end is a place that depends on the size.",
    "start_indices limit_indices",
)
def slice_(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Cuts a window whose place is known for each size."""
    (value,), rank = values, len(values[0].extents)
    strides = e.bucket["strides"] or (1,) * rank
    extents = w.results(e)
    starts, limits, fills = list(e.bucket["start_indices"]), list(e.bucket["limit_indices"]), dict(value.fills)
    for axis in range(rank):
        start = size_of(e.exact["start_indices"][axis], starts[axis])
        limit = size_of(e.exact["limit_indices"][axis], limits[axis])
        if start[:2] == (0, 0) and limit[:2] == value.size(axis)[:2] and strides[axis] == 1:
            w.equal(limit, value.size(axis))
            extents[axis] = value.extents[axis]
            continue
        value = w.as_prefix(value, axis)
        fills.pop(axis, None)
        if start.is_static:
            continue
        n = e.bucket_shapes[0][axis]
        span = (n - 1) * strides[axis] + 1 if n else 0
        is_static = e.exact_shapes[0][axis] == n  # then it ends with the valid elements
        array = value.array if is_static else _with_room(value.array, {axis: span})
        array = lax.dynamic_slice_in_dim(array, w.value(start), span, axis)
        value = Padded(array, (*value.extents[:axis], extent_of(span, span), *value.extents[axis + 1 :]), fills)
        starts[axis], limits[axis] = 0, span
        w.note("move")
    fills = {axis: fill for axis, fill in fills.items() if extents[axis] == value.extents[axis]}
    array = lax.slice(value.array, starts, limits, e.bucket["strides"])
    return [Padded(array, tuple(extents), fills, value.known)]


@declare("dynamic_slice", "Starts are clipped at the exact size.", "slice_sizes")
def dynamic_slice(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Cuts a window whose place is computed."""
    value, *given = values
    starts, sizes = [start.array for start in given], e.bucket["slice_sizes"]
    extents, room = [], {}
    for axis in range(len(value.extents)):
        window = size_of(e.exact["slice_sizes"][axis], sizes[axis])
        if window[:2] == value.size(axis)[:2]:
            w.equal(window, value.size(axis))
            extents.append(value.extents[axis])
            starts[axis] = 0
            continue
        value = w.as_prefix(value, axis)
        extents.append(extent_of(window.exact, window.bucket))
        if value.is_padded(axis) or not window.is_static:
            starts[axis] = _clipped(w, starts[axis], value.size(axis), window)
        if not window.is_static:
            room[axis] = window.bucket
    array = lax.dynamic_slice(_with_room(value.array, room), _of_one_dtype(starts), sizes)
    return [Padded(array, tuple(extents))]


def _of_one_dtype(starts: list[Any]) -> list[Any]:
    """Returns starts as int32 where they are of several dtypes, some of which were computed here."""
    kinds = {jnp.asarray(start).dtype for start in starts}
    return starts if len(kinds) == 1 else [jnp.asarray(start).astype(jnp.int32) for start in starts]


@declare("dynamic_update_slice", "Starts are clipped at the exact size; only what is valid of an update is written.")
def dynamic_update_slice(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Writes a window whose place is computed."""
    value, update, *given = values
    starts, partial = [start.array for start in given], []
    rank = len(value.extents)
    for axis in range(rank):
        size, window = value.size(axis), update.size(axis)
        if size[:2] == window[:2]:
            (value, update), _ = w.together([value, update], [[axis, axis]])
            starts[axis] = 0
            continue
        value, update = w.as_prefix(value, axis), w.as_prefix(update, axis)
        if value.is_padded(axis) or update.is_padded(axis):
            starts[axis] = _clipped(w, starts[axis], size, window)
        if update.is_padded(axis):
            partial.append(axis)
    starts, written = _of_one_dtype(starts), update.array
    array = _with_room(value.array, {axis: written.shape[axis] for axis in partial})
    if partial:
        there = lax.dynamic_slice(array, starts, written.shape)
        written = lax.select_n(w.validity(update, partial), there, written)
        w.note("mask")
    array = lax.dynamic_update_slice(array, written, starts)
    return [Padded(lax.slice(array, (0,) * rank, value.array.shape), tuple(map(plain, value.extents)))]


@declare(
    "pad",
    "Invalid elements before a margin become the margin; a low margin that changes moves the elements.",
    "padding_config",
)
def pad(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Adds margins, or takes away what a negative one says."""
    value, margin = values
    masked, moved, extents, fills = [], [], w.results(e), {}
    number = margin.known
    for axis, (exact, bucket) in enumerate(zip(e.exact["padding_config"], e.bucket["padding_config"], strict=True)):
        if exact[2] != bucket[2]:
            raise w.refuse("its interior margin depends on a size")
        if exact == bucket == (0, 0, 0):
            extents[axis] = value.extents[axis]
            continue
        value = w.as_prefix(value, axis)
        if exact[0] != bucket[0]:
            total = e.bucket_shapes[0][axis]
            if bucket[2] or not w.is_between(exact[0], bucket[0], -value.array.shape[axis], total):
                raise w.refuse("a low margin depends on a size, and there is an interior one")
            moved.append(axis)
        is_high = exact[1] == bucket[1] and not bucket[2]  # and so at each size
        if value.is_padded(axis) and not (is_high and exact[1] <= 0 and axis not in moved):
            masked.append(axis)
            if number is not None and is_high and exact[1] >= 0 and axis not in moved:
                fills[axis] = number  # what is behind the high margin was masked
    value = w.mask(value, masked, jnp.asarray(margin.array) if number is None else number)
    array = value.array
    if number is not None:
        kept = (axis for axis, fill in value.fills.items() if fill == number and extents[axis] == value.extents[axis])
        fills |= dict.fromkeys(kept, number)
    filler = jnp.asarray(margin.array, array.dtype)
    config = list(map(tuple, e.bucket["padding_config"]))
    for axis in moved:
        total = e.bucket_shapes[0][axis]
        config[axis] = (total, total, 0)
    array = lax.pad(array, filler, config)
    for axis in moved:
        total = e.bucket_shapes[0][axis]
        low = size_of(e.exact["padding_config"][axis][0], e.bucket["padding_config"][axis][0])
        array = lax.dynamic_slice_in_dim(array, total - w.value(low), total, axis)
        w.note("move")
    return [Padded(array, tuple(extents), fills)]
