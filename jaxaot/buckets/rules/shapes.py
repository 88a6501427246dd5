"""Rules of primitives that arrange elements otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot.buckets.table import declare
from jaxaot.buckets.writer import Padded, Writer
from jaxaot.ir.alignment import AlignedEqn
from jaxaot.ir.extents import Extent, Factor, extent_of, is_padded, normal, regroup, size_of


@declare("broadcast_in_dim", "A new axis is the same everywhere, so that it goes with any layout.", "shape")
def broadcast(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Keeps the axes of the operand, and adds uniform ones."""
    value, dims, fills = values[0], e.bucket["broadcast_dimensions"], {}
    extents = [extent_of(n, b, is_uniform=True) for n, b in zip(e.exact_shapes[0], e.bucket_shapes[0], strict=True)]
    for axis, dim in enumerate(dims):
        pair = e.exact_shapes[0][dim], e.bucket_shapes[0][dim]
        size = value.size(axis)
        if size[:2] == pair:
            w.equal(size, size_of(*pair))
            extents[dim] = value.extents[axis]
            if axis in value.fills:
                fills[dim] = value.fills[axis]
        elif size[:2] != (1, 1):
            raise w.refuse(f"{size.exact} elements for {size.bucket} along an axis of {pair[0]} for {pair[1]}")
    array = lax.broadcast_in_dim(value.array, e.bucket_shapes[0], dims)
    return [Padded(array, tuple(extents), fills, value.known)]


@declare("iota", "The first numbers are those of the exact size.", "shape")
def iota(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Counts to the bucket."""
    extents = [
        extent_of(n, b, is_uniform=axis != e.bucket["dimension"])
        for axis, (n, b) in enumerate(zip(e.exact_shapes[0], e.bucket_shapes[0], strict=True))
    ]
    return [Padded(w.bind(e)[0], tuple(extents))]


@declare("transpose", "Axes keep their valid elements.")
def transpose(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Carries the axes to their new places."""
    (value,), permutation = values, e.bucket["permutation"]
    fills = {new: value.fills[old] for new, old in enumerate(permutation) if old in value.fills}
    extents = tuple(value.extents[old] for old in permutation)
    return [Padded(lax.transpose(value.array, permutation), extents, fills, value.known)]


@declare(
    "reshape squeeze expand_dims",
    "Merged axes stay apart as digits and split back; else elements move by places computed from the sizes.",
    "new_sizes",
)
def reshape(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Groups the digits of the axes anew."""
    (value,), new = values, e.bucket_shapes[0]
    if e.name == "reshape" and e.bucket["dimensions"] is not None:
        raise w.refuse("it also transposes")
    sizes = [size_of(*pair) for pair in zip(e.exact_shapes[0], new, strict=True)]
    extents = regroup(value.extents, sizes, w.equal)
    if extents is None:
        return [_moved(w, value, tuple(extent_of(s.exact, s.bucket) for s in sizes), new)]
    found = {
        repr(value.fills.get(axis)): value.fills.get(axis)
        for axis in range(len(value.extents))
        if value.is_padded(axis)
    }
    (fill,) = found.values() if len(found) == 1 else (None,)
    fills = {} if fill is None else {axis: fill for axis, extent in enumerate(extents) if is_padded(extent)}
    return [Padded(lax.reshape(value.array, new), tuple(extents), fills, value.known)]


def _moved(w: Writer, value: Padded, extents: tuple[Extent, ...], shape: Sequence[int]) -> Padded:
    """Returns a value reshaped by taking each element from where it is."""
    places = w.places(extents, value.extents)
    w.note("move")
    array = jnp.take(lax.reshape(value.array, (value.array.size,)), places, mode="clip")
    return Padded(lax.reshape(array, tuple(shape)), extents, {}, value.known)


@declare("tile", "Repetitions are digits before those of the axis.", "reps")
def tile(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Puts the repetitions before the digits."""
    value, extents = values[0], []
    for extent, exact, bucket in zip(values[0].extents, e.exact["reps"], e.bucket["reps"], strict=True):
        extents.append(extent if exact == bucket == 1 else normal((Factor(size_of(exact, bucket)), *extent)))
    return [Padded(w.bind(e, value.array)[0], tuple(extents), {}, value.known)]


@declare("rev", "The last valid element comes first: a window at a place that depends on the size.")
def rev(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Reverses, and moves the valid elements to the front."""
    value = values[0]
    for axis in e.bucket["dimensions"]:
        value = w.as_prefix(value, axis)
    (array,) = w.bind(e, value.array)
    for axis in e.bucket["dimensions"]:
        if value.is_padded(axis):
            n = array.shape[axis]
            twice = lax.concatenate([array, array], axis)
            array = lax.dynamic_slice_in_dim(twice, n - w.value(value.size(axis)), n, axis)
            w.note("move")
    fills = {axis: fill for axis, fill in value.fills.items() if axis not in e.bucket["dimensions"]}
    return [Padded(array, value.extents, fills, value.known)]


@declare("concatenate", "What follows a part whose size changes is written at a place that depends on the size.")
def concatenate(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Puts parts one after the other."""
    along, rank = e.bucket["dimension"], len(values[0].extents)
    values = [w.as_prefix(value, along) for value in values]
    others = [axis for axis in range(rank) if axis != along]
    values, joined = w.together(values, [[axis] * len(values) for axis in others])
    extents = w.results(e)
    for axis, extent in zip(others, joined, strict=True):
        extents[axis] = extent
    fills = {}
    for axis in others:
        found = [value.fill(axis) for value in values]
        if is_padded(extents[axis]) and found[0] is not None and all(repr(f) == repr(found[0]) for f in found):
            fills[axis] = found[0]
    if not any(value.is_padded(along) for value in values[:-1]):
        return [Padded(w.bind(e, *(value.array for value in values))[0], tuple(extents), fills)]
    array: Any = jnp.zeros(e.bucket_shapes[0], values[0].array.dtype)
    place: Any = 0
    for value in values:
        array = lax.dynamic_update_slice_in_dim(array, jnp.asarray(value.array), place, along)
        place = place + w.value(value.size(along))
    w.note("move")
    return [Padded(array, tuple(extents))]


@declare("stack", "The parts get a new axis, whose size is their number.")
def stack(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Puts parts beside one another."""
    rank, n = len(values[0].extents), len(values)
    values, extents = w.together(values, [[axis] * n for axis in range(rank)])
    (array,) = w.bind(e, *(value.array for value in values))
    return [Padded(array, (*extents[: e.bucket["axis"]], extent_of(n, n), *extents[e.bucket["axis"] :]))]


@declare("unstack", "The axis that is taken apart keeps its size.")
def unstack(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Takes an axis apart."""
    (value,), axis = values, e.bucket["axis"]
    if value.is_padded(axis):
        raise w.refuse("how many parts there are depends on a size")
    extents = (*value.extents[:axis], *value.extents[axis + 1 :])
    return [Padded(array, extents) for array in w.bind(e, value.array)]


@declare("split", "Parts of an axis whose size changes start at places that depend on the size.", "sizes")
def split(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Cuts an axis."""
    along = e.bucket["axis"]
    value = w.as_prefix(values[0], along)
    fills = {axis: fill for axis, fill in value.fills.items() if axis != along}
    sizes = [size_of(*pair) for pair in zip(e.exact["sizes"], e.bucket["sizes"], strict=True)]
    others = lambda size: tuple(
        (Factor(size),) if axis == along else extent for axis, extent in enumerate(value.extents)
    )
    if not value.is_padded(along) and all(size.is_static for size in sizes):
        arrays = w.bind(e, value.array)
        return [Padded(array, others(size), fills, value.known) for array, size in zip(arrays, sizes, strict=True)]
    results, place = [], 0
    longest = max(size.bucket for size in sizes)
    padding = [(0, longest if axis == along else 0, 0) for axis in range(len(value.extents))]
    room = lax.pad(value.array, jnp.zeros((), value.array.dtype), padding)
    for size in sizes:
        array = lax.dynamic_slice_in_dim(room, place, size.bucket, along)
        results.append(Padded(array, others(size), fills, value.known))
        place = place + w.value(size)
    w.note("move")
    return results
