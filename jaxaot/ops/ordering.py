"""Ops that order elements: sorting, ranking, medians, searching in sorted values.

NaN counts as larger than any number, as in PyTorch.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._typing import Array
from jaxaot.errors import ArgumentError, DimError, DtypeError, ShapeMismatchError, TensorError
from jaxaot.ops.dims import along, as_int, normalize_dim, normalize_dims
from jaxaot.ops.promotion import default_int, is_bool, is_inexact, is_number
from jaxaot.ops.reductions import need_real, pick, spread_evenly
from jaxaot.ops.table import register_op


def _sorted(value: Array, dim: int, descending: bool) -> tuple[Array, Array]:
    need_real("sort", value)

    def sort(value: Array, axis: int) -> tuple[Array, Array]:
        order = jnp.argsort(value, axis=axis, stable=True, descending=descending)
        return jnp.take_along_axis(value, order, axis), order.astype(default_int())

    return along(sort, value, dim)


def _first(value: Array, n: int, axis: int, descending: bool) -> Array:
    """Returns the places of the first `n` elements in order, of equal ones that which comes first.

    Floats of up to 32 bits go to `lax.top_k`, which on CPU takes far less time than a sort if `n` is small.
    """
    size = value.shape[axis]
    if not is_inexact(value.dtype) or value.dtype.itemsize > 4 or not 0 < n < size:
        order = jnp.argsort(value, axis=axis, stable=True, descending=descending)
        return lax.slice_in_dim(order, 0, n, axis=axis)
    ranks = lax.stop_gradient(value).astype(jnp.float32)  # larger comes first, and zeros of both signs are equal
    signed = ranks if descending else -ranks
    worst_or_best = _NAN if descending else -_NAN
    ranks = jnp.where(jnp.isnan(ranks), worst_or_best, jnp.where(ranks == 0, 0.0, signed))
    return jnp.moveaxis(lax.top_k(jnp.moveaxis(ranks, axis, -1), n)[1], -1, axis)


_NAN = np.float32(np.nan)
"""NaN without a sign comes first in `lax.top_k`, negative NaN last."""


@register_op(
    "sort(Tensor self, int dim=-1, bool descending=False, *, bool stable=False) -> (Tensor values, Tensor indices)",
    layout="same",
)
def sort(self, dim, descending, stable):
    return _sorted(self, dim, descending)


@register_op(
    "argsort(Tensor self, int dim=-1, bool descending=False, *, bool stable=False) -> Tensor",
    differentiable=False,
    layout="same",
)
def argsort(self, dim, descending, stable):
    return _sorted(self, dim, descending)[1]


register_op("msort(Tensor self) -> Tensor", layout="same")(lambda self: _sorted(self, 0, False)[0])


@register_op(
    "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)"
)
def topk(self, k, dim, largest, sorted):
    size = self.shape[normalize_dim(dim, self.ndim)] if self.ndim else 1
    k = as_int(k, "k")
    if not 0 <= k <= size:
        raise TensorError(f"selected index k out of range: k is {k}, and the dim has {size} elements")
    if self.ndim == 0:
        return self, jnp.zeros((), default_int())
    axis = normalize_dim(dim, self.ndim)
    need_real("topk", self)
    order = _first(self, k, axis, largest)
    return jnp.take_along_axis(self, order, axis), order.astype(default_int())


@register_op("kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)")
def kthvalue(self, k, dim, keepdim):
    need_real("kthvalue", self, allow_bool=False)

    def choose(value: Array, axis: int) -> tuple[Array, Array]:
        if not 1 <= k <= value.shape[axis]:
            raise TensorError(f"kthvalue(): selected number k out of range for dimension {axis}")
        order = _first(value, k, axis, False)
        return pick(value, lax.slice_in_dim(order, k - 1, k, axis=axis), axis, keepdim)

    return along(choose, self, dim)


def _median(value: Array, axis: int, keepdim: bool, skip_nan: bool) -> tuple[Array, Array]:
    """Returns the lower of the two middle elements, and its place."""
    need_real("median", value, allow_bool=False)
    size = value.shape[axis]
    if size == 0:
        raise DimError(f"median(): Expected reduction dim {axis} to have non-zero size.")
    order = _first(value, (size - 1) // 2 + 1, axis, False)
    middle = jnp.full([1 if i == axis else n for i, n in enumerate(value.shape)], (size - 1) // 2)
    if is_inexact(value.dtype):
        nan = jnp.isnan(value)
        n_nan = jnp.sum(nan, axis=axis, keepdims=True)
        if skip_nan:
            middle = jnp.maximum(size - n_nan - 1, 0) // 2
        found = jnp.take_along_axis(order, middle, axis)
        if not skip_nan:
            found = jnp.where(n_nan > 0, jnp.argmax(nan, axis=axis, keepdims=True), found)
    else:
        found = jnp.take_along_axis(order, middle, axis)
    return pick(value, found, axis, keepdim)


def _median_of_all(value: Array, skip_nan: bool) -> Array:
    if value.size == 0:
        need_real("median", value, allow_bool=False)
        empty = jnp.nan if is_inexact(value.dtype) else jnp.iinfo(value.dtype).min
        return jnp.asarray(empty, value.dtype)
    found = _median(lax.stop_gradient(value).reshape(-1), 0, False, skip_nan)[0]
    return spread_evenly(value, found) if is_inexact(value.dtype) else found


def nanmedian_dim(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """Returns the medians along a dim of what is not NaN, and their places."""
    return _median_of_dim(self, dim, keepdim, True)


def _median_of_dim(value: Array, dim: int, keepdim: bool, skip_nan: bool) -> tuple[Array, Array]:
    return along(lambda value, axis: _median(value, axis, keepdim, skip_nan), value, dim)


def _register_ranked(prefix: str, skip_nan: bool) -> None:
    """Adds the rows of medians and quantiles, or of those that leave NaN out."""
    register_op(f"{prefix}median(Tensor self) -> Tensor")(lambda self: _median_of_all(self, skip_nan))
    register_op(
        f"{prefix}median_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        overload_of=f"{prefix}median",
    )(lambda self, dim, keepdim: _median_of_dim(self, dim, keepdim, skip_nan))
    register_op(
        f"{prefix}quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, "
        "str interpolation='linear') -> Tensor"
    )(lambda self, **how: _quantile(f"{prefix}quantile", self, skip_nan=skip_nan, **how))


@register_op("mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)")
def mode(self, dim, keepdim):
    need_real("mode", self)

    def choose(value: Array, axis: int) -> tuple[Array, Array]:
        if value.shape[axis] == 0:
            raise DimError(f"mode(): Expected reduction dim {axis} to have non-zero size.")
        if is_bool(value.dtype):
            found, positions = choose(value.astype(jnp.int8), axis)
            return found.astype(bool), positions
        shown = jnp.moveaxis(value, axis, -1)
        counts = jnp.sum(shown[..., :, None] == shown[..., None, :], axis=-1)
        best = counts == jnp.max(counts, axis=-1, keepdims=True)
        largest = jnp.asarray(jnp.inf if is_inexact(value.dtype) else jnp.iinfo(value.dtype).max, value.dtype)
        smallest = jnp.min(jnp.where(best, shown, largest), axis=-1, keepdims=True)
        size = value.shape[axis]
        found = size - 1 - jnp.argmax((shown == smallest)[..., ::-1], axis=-1, keepdims=True)
        return pick(value, jnp.moveaxis(found, -1, axis), axis, keepdim)

    return along(choose, self, dim)


def _quantile(
    name: str, self: Array, q: Any, dim: int | None, keepdim: bool, interpolation: str, skip_nan: bool
) -> Array:
    if self.dtype not in (jnp.float32, jnp.float64):
        raise DtypeError(f"{name}() input tensor must be either float or double dtype, but got {self.dtype}")
    if self.size == 0:
        raise TensorError(f"{name}() input tensor must be non-empty")
    if isinstance(q, (int, float)) and not 0 <= q <= 1:
        raise TensorError(f"{name}() q must be in the range [0, 1] but got {q}")
    q = jnp.asarray(q, self.dtype)
    if q.ndim > 1:
        raise ShapeMismatchError(f"{name}() q must be a scalar or 1D tensor, but it has {q.ndim} dims")
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise ArgumentError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    axes = normalize_dims(dim, self.ndim)
    value = self.reshape(-1) if dim is None or not self.ndim else jnp.moveaxis(self, axes[0], -1)
    value = _sorted(value, -1, False)[0]
    last = value.shape[-1] - 1
    nan = jnp.isnan(value)
    ranks = q.reshape(-1) * (jnp.maximum(jnp.sum(~nan, -1, keepdims=True) - 1, 0) if skip_nan else last)
    ranks = jnp.broadcast_to(ranks, (*value.shape[:-1], q.size)).astype(value.dtype)
    if not skip_nan:  # NaN is last
        ranks = jnp.where(jnp.any(nan, -1, keepdims=True), last, ranks)
    if interpolation in ("lower", "higher", "nearest"):
        ranks = {"lower": jnp.floor, "higher": jnp.ceil, "nearest": jnp.round}[interpolation](ranks)
    below = jnp.floor(ranks)
    result = jnp.take_along_axis(value, below.astype(jnp.int32), -1)
    if interpolation in ("linear", "midpoint"):
        above = jnp.take_along_axis(value, jnp.ceil(ranks).astype(jnp.int32), -1)
        weight = jnp.full_like(ranks, 0.5) if interpolation == "midpoint" else ranks - below
        result = jnp.where(weight < 0.5, result + weight * (above - result), above - (1 - weight) * (above - result))
    shape = tuple(1 if i in axes else n for i, n in enumerate(self.shape)) if keepdim else result.shape[:-1]
    return jnp.moveaxis(result, -1, 0).reshape(q.shape + shape)


_register_ranked("", False)
_register_ranked("nan", True)


@register_op(
    "searchsorted(Tensor sorted_sequence, Tensor values, *, bool out_int32=False, bool right=False, str? side=None, "
    "Tensor? sorter=None) -> Tensor",
    method=False,
    differentiable=False,
)
def searchsorted(sorted_sequence, values, out_int32, right, side, sorter):
    if sorter is not None:
        sorted_sequence = jnp.take_along_axis(sorted_sequence, sorter, -1)
    values, side = jnp.asarray(values), side or ("right" if right else "left")
    dtype = jnp.int32 if out_int32 else default_int()
    if sorted_sequence.ndim == 1:
        return jnp.searchsorted(sorted_sequence, values, side=side).astype(dtype)
    if sorted_sequence.shape[:-1] != values.shape[:-1]:
        raise ShapeMismatchError(
            "searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor "
            f"and input value tensor must match, but got {sorted_sequence.shape} and {values.shape}"
        )
    search = jnp.vectorize(lambda a, v: jnp.searchsorted(a, v, side=side), signature="(n),(m)->(m)")
    return search(sorted_sequence, values).astype(dtype)


@register_op(
    "bucketize(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
    differentiable=False,
)
def bucketize(self, boundaries, out_int32, right):
    return searchsorted(boundaries, self, out_int32, right, None, None)


@register_op(
    "isin(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor",
    method=False,
    differentiable=False,
)
def isin(elements, test_elements, assume_unique, invert):
    if is_number(elements) or is_number(test_elements):
        elements, test_elements = jnp.asarray(elements), jnp.asarray(test_elements)
    return jnp.isin(elements, test_elements, invert=invert)
