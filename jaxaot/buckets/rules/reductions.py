"""Rules of primitives that combine the elements of an axis, or put them in order."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxaot.buckets.table import declare
from jaxaot.buckets.writer import MAX, Padded, Writer
from jaxaot.ir.alignment import AlignedEqn
from jaxaot.ir.extents import extent_of, plain

_KINDS = {
    "reduce_sum": "sum",
    "reduce_prod": "prod",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_and": "and",
    "reduce_or": "sum",
    "reduce_xor": "sum",
    "argmax": "max",
    "argmin": "min",
    "cumsum": "sum",
    "cumprod": "prod",
    "cummax": "max",
    "cummin": "min",
    "cumlogsumexp": "max",
    "reduce_window_sum": "sum",
    "reduce_window_max": "max",
    "reduce_window_min": "min",
}


def identity_of(kind: str, dtype: Any) -> Any:
    """Returns the number that changes nothing in a sum, a product, a maximum, …, of a dtype."""
    if jnp.issubdtype(dtype, jnp.bool_):
        return kind in ("and", "min", "prod")
    if kind == "sum":
        return 0.0 if jnp.issubdtype(dtype, jnp.inexact) else 0
    if kind == "prod":
        return 1.0 if jnp.issubdtype(dtype, jnp.inexact) else 1
    if kind == "and":
        return int(np.array(-1).astype(dtype))
    if jnp.issubdtype(dtype, jnp.inexact):
        lowest = float(np.asarray(-np.inf).astype(dtype))
        if not np.isneginf(lowest):  # of 8 bits, without infinities
            lowest = float(jnp.finfo(dtype).min)
        return lowest if kind == "max" else -lowest
    info = jnp.iinfo(dtype)
    return int(info.min if kind == "max" else info.max)


@declare(
    "reduce_sum reduce_prod reduce_max reduce_min reduce_and reduce_or reduce_xor",
    "Masked with the number that changes nothing.",
)
def reduce(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Combines the valid elements."""
    (value,), axes, kind = values, e.bucket["axes"], _KINDS[e.name]
    masked = w.mask(value, axes, identity_of(kind, value.array.dtype))
    rest = [axis for axis in range(len(value.extents)) if axis not in axes]
    keeps = {"sum": lambda f: f == 0, "prod": lambda f: f == 1}.get(kind, lambda f: kind != "and")
    fills = {
        new: value.fills[old]
        for new, old in enumerate(rest)
        if old in value.fills and type(value.fills[old]) is float and keeps(value.fills[old])
    }
    (array,) = w.bind(e, masked.array)
    return [Padded(array, tuple(value.extents[axis] for axis in rest), fills)]


@declare("argmax argmin", "Masked with the number that is never found first.")
def arg_reduce(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Finds the place among the valid elements."""
    (value,), axes = values, e.bucket["axes"]
    for axis in axes:
        value = w.as_prefix(value, axis)
    masked = w.mask(value, axes, identity_of(_KINDS[e.name], value.array.dtype))
    rest = [axis for axis in range(len(value.extents)) if axis not in axes]
    (array,) = w.bind(e, masked.array)
    return [Padded(array, tuple(value.extents[axis] for axis in rest))]


@declare("cumsum cumprod cummax cummin cumlogsumexp", "Masked where it runs from the end.")
def cumulative(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Combines each element with those before it."""
    axis = e.bucket["axis"]
    value = w.as_prefix(values[0], axis)
    if e.bucket["reverse"]:
        value = w.mask(value, [axis], identity_of(_KINDS[e.name], value.array.dtype))
    extents = tuple(plain(extent) if a == axis else extent for a, extent in enumerate(value.extents))
    return [Padded(w.bind(e, value.array)[0], extents)]


@declare("sort", "Keys are masked with what comes last; the order is stable, so that valid elements come before.")
def sort(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Sorts the valid elements to the front."""
    along, n_keys = e.bucket["dimension"], e.bucket["num_keys"]
    values = [w.as_prefix(value, along) for value in values]
    values, extents = w.together(values, [[axis] * len(values) for axis in range(len(values[0].extents))])
    arrays = [value.array for value in values]
    changed = {}
    if any(value.is_padded(along) for value in values):
        changed["is_stable"] = True
        for i, value in enumerate(values[:n_keys]):
            dtype = value.array.dtype
            if jnp.issubdtype(dtype, jnp.complexfloating):
                raise w.refuse("its keys are complex")
            last = float("nan") if jnp.issubdtype(dtype, jnp.floating) else identity_of("min", dtype)
            arrays[i] = w.mask(Padded(value.array, tuple(extents)), [along], last).array
    extents[along] = plain(extents[along])
    return [Padded(array, tuple(extents)) for array in w.bind(e, *arrays, **changed)]


@declare(
    "top_k", "Masked with the lowest number; as many are taken as at the bucket, of which the first ones count.", "k"
)
def top_k(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Takes the largest of the valid elements."""
    along = e.bucket.get("axis", len(values[0].extents) - 1) % len(values[0].extents)
    value = w.as_prefix(values[0], along)
    exact, bucket = e.exact["k"], e.bucket["k"]
    if not w.is_between(exact, bucket, 0, bucket):
        raise w.refuse("more are taken of fewer elements")
    masked = w.mask(value, [along], identity_of("max", value.array.dtype))
    taken = extent_of(exact, bucket)
    extents = tuple(taken if axis == along else extent for axis, extent in enumerate(value.extents))
    return [Padded(array, extents) for array in w.bind(e, masked.array)]


@declare(
    "reduce_window_sum reduce_window_max reduce_window_min",
    "Masked with the number that changes nothing; windows start at the same places for each size.",
    "padding",
)
def reduce_window(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Combines the valid elements of each window."""
    value = values[0]
    extents = w.results(e)
    masked = []
    for axis, size in enumerate(e.bucket["window_dimensions"]):
        exact, bucket = e.exact["padding"][axis], e.bucket["padding"][axis]
        is_whole = size == 1 and exact == bucket == (0, 0) and e.bucket["window_strides"][axis] == 1
        if is_whole and e.bucket["base_dilation"][axis] == 1:
            extents[axis] = value.extents[axis]
            continue
        if exact[0] != bucket[0]:
            raise w.refuse("its low margin depends on a size")
        if value.is_padded(axis) and not w.is_between(exact[1], bucket[1], 0, MAX):
            raise w.refuse("its high margin is negative")
        value = w.as_prefix(value, axis)
        masked.append(axis)
    value = w.mask(value, masked, identity_of(_KINDS[e.name], value.array.dtype))
    return [Padded(w.bind(e, value.array)[0], tuple(extents))]


@declare(
    "select_and_scatter_add",
    "Elements are masked with what no window selects, what is scattered with zeros; windows start at the same places.",
    "padding",
)
def select_and_scatter(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Adds each element to the one that its window selects."""
    source, operand = values
    with_windows = []
    for axis, size in enumerate(e.bucket["window_dimensions"]):
        exact, bucket = e.exact["padding"][axis], e.bucket["padding"][axis]
        if size == 1 and exact == bucket == (0, 0) and e.bucket["window_strides"][axis] == 1:
            (source, operand), _ = w.together([source, operand], [[axis, axis]])
        elif source.is_padded(axis) or operand.is_padded(axis):
            if exact[0] != bucket[0]:
                raise w.refuse("its low margin depends on a size")
            if not w.is_between(exact[1], bucket[1], 0, MAX):
                raise w.refuse("its high margin is negative")
            source, operand = w.as_prefix(source, axis), w.as_prefix(operand, axis)
            with_windows.append(axis)
        elif exact != bucket:
            raise w.refuse("its margins depend on a size")
    kind = "max" if e.bucket["select_prim"].name.startswith("ge") else "min"
    operand = w.mask(operand, with_windows, identity_of(kind, operand.array.dtype))
    source = w.mask(source, with_windows, 0)
    return [Padded(w.bind(e, source.array, operand.array)[0], operand.extents)]


@declare("select_and_gather_add", "Axes with windows may not be those whose sizes change.")
def select_in_windows(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Computes each row of a batch at the bucket."""
    windows = e.bucket["window_dimensions"]
    rows = [axis for axis, size in enumerate(windows) if size == 1]
    for axis, size in enumerate(windows):
        if size != 1 and any(value.is_padded(axis) for value in values):
            raise w.refuse("the size of an axis with windows changes")
    values, joined = w.together(values, [[axis] * len(values) for axis in rows])
    (array,) = w.bind(e, *(value.array for value in values))
    extents = [extent_of(n, n) for n in array.shape]
    for axis, extent in zip(rows, joined, strict=True):
        extents[axis] = extent
    return [Padded(array, tuple(extents))]


_BATCHED = {"triangular_solve": 2, "cholesky": 2, "lu": 2, "qr": 2, "geqrf": 2, "householder_product": 2}
_BATCHED |= {"eigh": 2, "eig": 2, "svd": 2, "tridiagonal_solve": 1, "lu_pivots_to_permutation": 1, "schur": 2}


@declare(" ".join(_BATCHED), "Sizes of batches change, those of matrices do not.")
def of_matrices(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Computes each matrix of a batch."""
    return _batched(w, e, values, _BATCHED[e.name])


@declare("fft", "Axes that are transformed keep their sizes.")
def fft(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Computes each transform of a batch."""
    return _batched(w, e, values, len(e.bucket["fft_lengths"]))


def _batched(w: Writer, e: AlignedEqn, values: list[Padded], n_core: int) -> list[Padded]:
    n_batch = len(values[0].extents) - n_core
    for value in values:
        if any(value.is_padded(axis) for axis in range(n_batch, len(value.extents))):
            raise w.refuse("an axis that it works along changes its size")
    values, batch = w.together(values, [[axis] * len(values) for axis in range(n_batch)])
    arrays = w.bind(e, *(value.array for value in values))
    return [Padded(a, (*batch, *(extent_of(n, n) for n in a.shape[n_batch:]))) for a in arrays]
