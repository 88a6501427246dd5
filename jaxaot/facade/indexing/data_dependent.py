"""Ops whose result's shape depends on values: they run eagerly, and say what to write instead in a trace."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import dtypes, lax

from jaxaot._jax import is_tracer
from jaxaot.errors import ArgumentError, DimError, DtypeError, ShapeMismatchError, TensorValueError
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.dispatch.out import call_out
from jaxaot.facade.indexing.indexing import getitem
from jaxaot.facade.indexing.nonzero import Distinct, asked, distinct, true_places
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.no_value import HOW_MANY
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.facade.nodes.nodes import UnderivedNode
from jaxaot.facade.subclass.subclass import SUBCLASSES, asks_classes, holds_subclass
from jaxaot.ops.dims import broadcast_shapes, normalize_dim
from jaxaot.ops.promotion import default_int, is_bool, is_complex, is_integral
from jaxaot.ops.table import lookup
from jaxaot.tape.modes import state


def _indices(values: Any) -> Tensor:
    return wrap_array(jnp.asarray(values.astype(default_int())))


def _stored(result: Tensor, out: Tensor | None) -> Tensor:
    """Returns `result`, or `out` with it."""
    return result if out is None else call_out(lookup("contiguous_copy_of"), (result,), (), out)


@asks_classes
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """Returns where elements are not zero: (n, dims), or a tensor for each dim if `as_tuple`."""
    places = _places_of(input, "nonzero")
    if as_tuple:
        return tuple(_indices(place) for place in places)
    return _stored(_indices(jnp.stack(places, axis=1)[:, : input.ndim]), out)


def where_true(condition: Tensor) -> tuple[Tensor, ...]:
    """Returns where elements are not zero, a tensor for each dim: `where` of a condition alone."""
    if SUBCLASSES and holds_subclass((condition,)):
        return nonzero(condition, as_tuple=True)  # it is the op that subclasses are asked for
    return tuple(_indices(place) for place in _places_of(condition, "where"))


def _places_of(input: Tensor, who: str) -> tuple[Any, ...]:
    flat = input.reshape(1) if input.ndim == 0 else input
    return true_places(flat.detach(), f"`{who}` {HOW_MANY}")


def argwhere(input: Tensor) -> Tensor:
    """Returns where elements are not zero: (n, dims)."""
    return nonzero(input)


def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements where a mask that broadcasts with them is true, as one dim."""
    if not is_bool(mask.dtype):
        raise DtypeError(f"masked_select: expected BoolTensor for mask, got {mask.dtype}")
    size = broadcast_shapes(tuple(input.shape), tuple(mask.shape))
    return _stored(getitem(input.expand(size), mask.expand(size)), out)


@asks_classes
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Returns the distinct elements, or slices along `dim`, in ascending order; with where and how often if asked."""
    axis = _checked_axis("unique", input, dim)
    op = "_unique2" if dim is None else "unique_dim"
    traced = _traced(input, axis, is_sorted=True)
    if traced is None:
        values = _comparable("unique", input)
        traced = np.unique(values, return_inverse=True, return_counts=True, axis=axis, equal_nan=False)
    return _distinct(op, input, *traced, dim, return_inverse, return_counts)


@asks_classes
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Returns the elements, or slices along `dim`, that differ from those before; with where and how often if asked."""
    axis = _checked_axis("unique_consecutive", input, dim)
    op = "unique_consecutive" if dim is None else "unique_dim_consecutive"
    traced = _traced(input, axis, is_sorted=False)
    if traced is not None:
        return _distinct(op, input, *traced, dim, return_inverse, return_counts)
    values = _comparable("unique_consecutive", input)
    rows = values.reshape(-1, 1) if axis is None else np.moveaxis(values, axis, 0)
    rows = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    begins = np.concatenate([np.ones(min(len(rows), 1), bool), (rows[1:] != rows[:-1]).any(1)])
    starts = np.nonzero(begins)[0]
    counts = np.diff(np.append(starts, len(rows)))
    found = np.take(values.reshape(-1) if axis is None else values, starts, axis=axis or 0)
    return _distinct(op, input, found, np.cumsum(begins) - 1, counts, dim, return_inverse, return_counts)


def _checked_axis(name: str, input: Tensor, dim: int | None) -> int | None:
    """Returns the axis along which slices are compared; None if elements are."""
    if is_complex(input.dtype):
        raise DtypeError(f'"{name}" not implemented for {input.dtype}')
    if dim is None:
        return None
    if not input.ndim:
        raise DimError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = normalize_dim(dim, input.ndim)
    empty = [n == 0 for n in input.shape]
    if sum(empty) > 1:
        raise ShapeMismatchError("Number of zero sized dimensions is more than one, so unique cannot be applied")
    if any(empty) and not empty[axis]:
        raise ShapeMismatchError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    return axis


def _comparable(name: str, input: Tensor) -> np.ndarray:
    values = np.asarray(input._concrete(f"`{name}` {HOW_MANY}"))
    return values if values.dtype.kind in "biuf" else values.astype(np.float32)  # numpy sorts no bfloat16


def _traced(input: Tensor, axis: int | None, is_sorted: bool) -> Distinct | None:
    """Returns what is distinct among symbols; None if there are none, or nobody may ask how many."""
    array = input._read()
    if not is_tracer(array):
        return None
    return distinct(array.reshape(-1) if axis is None else array, axis or 0, is_sorted)


def _distinct(
    op: str,
    input: Tensor,
    found: Any,
    inverse: Any,
    counts: Any,
    dim: int | None,
    return_inverse: bool,
    return_counts: bool,
) -> Any:
    results = [wrap_array(jnp.asarray(found, input.dtype))]
    if input.requires_grad and state.grad_enabled and state.trace is None:
        node = UnderivedNode(op, input._gradient_edge())
        results[0]._history = History(results[0]._layout, 0, True, node)
    if return_inverse:
        results.append(_indices(inverse.reshape(tuple(input.shape) if dim is None else -1)))
    if return_counts:
        results.append(_indices(counts))
    return results[0] if len(results) == 1 else tuple(results)


@asks_classes
def repeat_interleave(
    input: Tensor | None = None, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Returns each element repeated, along `dim` if given: `repeats` times, or as often as its entry in `repeats` says.

    Given counts alone, it returns indices: i as often as the i-th count says. With counts in a tensor, a trace needs
    `output_size`, their sum.
    """
    if input is None:
        input, repeats = repeats, None
    if not isinstance(input, Tensor):
        raise ArgumentError(f"repeat_interleave() takes a tensor, and {input!r} was given.")
    if repeats is None:
        if input.ndim != 1:
            raise ShapeMismatchError("repeat_interleave only accept 1D vector as repeat")
        places = wrap_array(jnp.arange(input.numel(), dtype=default_int()))
        return repeat_interleave(places, input, 0, output_size=output_size)
    if isinstance(repeats, (list, tuple)):
        repeats = wrap_array(jnp.asarray(repeats, default_int()))
    if not isinstance(repeats, Tensor):
        return call(lookup("repeat_interleave"), (input,), (repeats, dim, output_size))
    counted = repeats._read()
    n = input.numel() if dim is None else input.shape[dim] if input.ndim else 1
    times = n if repeats.numel() == 1 else 1
    if output_size is None and is_tracer(counted):
        total = asked(lambda: jnp.where((counted < 0).any(), -1, counted.sum()))
        output_size = None if total is None else total * times
        if total is not None and total < 0:
            raise ArgumentError("repeats can not be negative")
    if output_size is None:
        counts = repeats._concrete(f"`repeat_interleave` without `output_size` {HOW_MANY}")
        if (np.asarray(counts) < 0).any():
            raise ArgumentError("repeats can not be negative")
        output_size = int(counts.sum()) * times
    return call(lookup("repeat_interleave_each"), (input, repeats), (dim, output_size))


@asks_classes
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Returns how often each number from 0 on occurs, or the sums of the weights of its places.

    Raises:
      DtypeError: If `input` does not hold integers.
      ShapeMismatchError: If it is not of one dim, or `weights` has another shape.
      TensorValueError: If a number or `minlength` is negative.
    """
    if not is_integral(input.dtype):
        raise DtypeError(f"bincount(): expected integers, got {input.dtype}")
    if input.ndim != 1 or (weights is not None and tuple(weights.shape) != tuple(input.shape)):
        raise ShapeMismatchError("bincount only supports 1-d non-negative integral inputs, and weights of their shape.")
    array = input._read()
    longest = asked(lambda: jnp.where(array.min() < 0, -1, array.max())) if is_tracer(array) and array.size else None
    if longest is not None:
        if min(longest, minlength) < 0:
            raise TensorValueError(_NEGATIVE)
        cells = jnp.zeros(max(minlength, longest + 1), _dtype_of_counts(weights))
        return wrap_array(cells.at[array].add(1 if weights is None else lax.stop_gradient(weights._read())))
    values = input._concrete("`bincount` (how many numbers there are)")
    if minlength < 0 or (values.size and values.min() < 0):
        raise TensorValueError(_NEGATIVE)
    length = max(minlength, int(values.max()) + 1 if values.size else 0)
    if weights is None:
        return wrap_array(jnp.asarray(np.bincount(values, minlength=length).astype(_dtype_of_counts(None))))
    given = weights._concrete("`bincount` (its weights)")
    counted = np.bincount(values, given, minlength=length)
    return wrap_array(jnp.asarray(counted.astype(_dtype_of_counts(weights))))


_NEGATIVE = "bincount only supports 1-d non-negative integral inputs, and minlength should be >= 0"


def _dtype_of_counts(weights: Tensor | None) -> Any:
    if weights is None:
        return default_int()
    is_kept = is_complex(weights.dtype) or weights.dtype == np.float32  # the rest is summed in float64
    return weights.dtype if is_kept else dtypes.canonicalize_dtype(np.float64)


FUNCTIONS = {
    fn.__name__: fn
    for fn in (nonzero, argwhere, masked_select, unique, unique_consecutive, repeat_interleave, bincount)
}
