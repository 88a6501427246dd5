"""Rules of primitives that compute each element from those at the same place: invalid ones from invalid ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxaot.buckets.table import declare
from jaxaot.buckets.writer import Padded, Writer, exact_number
from jaxaot.ir.alignment import AlignedEqn
from jaxaot.ir.axes import ELEMENTWISE
from jaxaot.ir.extents import extent_of, is_padded

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "neg": np.negative,
    "tanh": np.tanh,
    "mul": np.multiply,
    "add": np.add,
    "add_any": np.add,
    "sub": np.subtract,
    "exp": np.exp,
    "abs": np.abs,
    "square": np.square,
    "sqrt": np.sqrt,
    "max": np.maximum,
    "min": np.minimum,
    "sign": np.sign,
    "floor": np.floor,
    "copy": np.positive,
    "copy_p": np.positive,
    "reduce_precision": np.positive,
    "stop_gradient": np.positive,
    "name": np.positive,
    "mark": np.positive,
}
"""What is known of a few functions: numbers that they make of 0, 1 and infinities, which all dtypes have."""

_OTHERS = (
    "add_any optimization_barrier mark random_fold_in random_seed random_clone pvary igamma_grad_a random_gamma_grad"
)
_NOT_HERE = {"optimization_barrier", "bitcast_convert_type"}


@declare(" ".join(sorted((ELEMENTWISE | set(_OTHERS.split())) - _NOT_HERE)), "Invalid elements make invalid ones.")
def of_elements(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Computes at the bucket; operands of other layouts are laid out alike."""
    rank = max(len(value.extents) for value in values)
    groups = [[axis if len(value.extents) == rank else -1 for value in values] for axis in range(rank)]
    values, extents = w.together(values, groups)
    arrays = w.bind(e, *(value.array for value in values))
    fills = {}
    for axis, extent in enumerate(extents):
        if is_padded(extent):
            fill = _filled_with(e, [_fill_along(value, axis, rank) for value in values])
            if fill is not None:
                fills[axis] = fill
    known = _filled_with(e, [value.known for value in values])
    return [Padded(array, tuple(extents), fills, known) for array in arrays]


def _fill_along(value: Padded, axis: int, rank: int) -> Any:
    if value.known is not None or len(value.extents) < rank or not value.is_padded(axis):
        return value.known  # what is broadcast along an axis is not filled along it
    return value.fills.get(axis)


def _filled_with(e: AlignedEqn, fills: Sequence[Any]) -> Any:
    """Returns the number that an equation makes of some; None if that is not known."""
    if e.name == "select_n":
        first, *others = fills[1:]
        return first if all(_are_one(first, other) for other in others) else None
    if not fills or any(fill is None for fill in fills):
        return None
    if e.name == "convert_element_type":
        dtype = e.eqn.outvars[0].aval.dtype
        if jnp.issubdtype(dtype, jnp.bool_):
            return bool(fills[0])
        if jnp.issubdtype(dtype, jnp.floating):
            return exact_number(fills[0], dtype)
        return int(fills[0]) if fills[0] in (0, 1) and jnp.issubdtype(dtype, jnp.integer) else None
    function = _FUNCTIONS.get(e.name)
    if function is None or len(e.results) != 1 or not all(isinstance(fill, float) for fill in fills):
        return None
    with np.errstate(all="ignore"):
        return exact_number(function(*fills), e.eqn.outvars[0].aval.dtype)


def _are_one(one: object, other: object) -> bool:
    return one is not None and other is not None and type(one) is type(other) and repr(one) == repr(other)


@declare("optimization_barrier sharding_constraint", "Values pass as they are.")
def barrier(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Keeps what is known of each value."""
    arrays = w.bind(e, *(value.array for value in values))
    return [Padded(a, v.extents, v.fills, v.known) for a, v in zip(arrays, values, strict=True)]


@declare("place_as", "The value lies as the other one, whose layout does not count.")
def placed(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Keeps what is known of the value."""
    value, like = values
    return [Padded(w.bind(e, value.array, like.array)[0], value.extents, value.fills, value.known)]


@declare("bitcast_convert_type", "As elementwise, between dtypes of one width.")
def bitcast(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Computes at the bucket."""
    (value,) = values
    (array,) = w.bind(e, value.array)
    if array.ndim != value.array.ndim:
        raise w.refuse("the dtypes have other widths")
    return [Padded(array, value.extents)]


@declare("random_wrap random_unwrap", "The words of a key are no axis whose size changes.")
def keys_and_words(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Computes at the bucket; the last axis holds the words of a key."""
    (value,) = values
    (array,) = w.bind(e, value.array)
    if e.name == "random_wrap":
        n_words = value.array.ndim - array.ndim
        return [Padded(array, value.extents[: len(value.extents) - n_words])]
    words = tuple(extent_of(n, n) for n in array.shape[len(value.extents) :])
    return [Padded(array, (*value.extents, *words))]
