"""Gathers and scatters by integer indices along a dim.

Indices are checked for shape and dtype here, and for their values by `value_checks.py` where these are at hand; in a
graph an index out of range reads the nearest element and writes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array, DTypeLike
from jaxaot.errors import (
    ArgumentError,
    DimError,
    DtypeError,
    ShapeMismatchError,
    TensorError,
    TensorTypeError,
    TensorValueError,
)
from jaxaot.ops.dims import broadcast_shapes, normalize_dim
from jaxaot.ops.promotion import default_int, is_bool, is_complex, is_inexact, is_integral, is_number, strong
from jaxaot.ops.table import INTERNAL, register_op
from jaxaot.views.layout import broadcast_size


def _need_index(name: str, index: Array) -> None:
    if not is_integral(index.dtype):
        raise DtypeError(
            f"{name}(): Expected dtype int32/int64 for index, but got {index.dtype}. Write `index.long()`."
        )


def _shown_1d(value: Array) -> Array:
    return value.reshape(1) if value.ndim == 0 else value


def _places(index: Array, axis: int) -> tuple[Array, ...]:
    """Returns open index arrays for the elements that `index` names along `axis` (as `gather` and `scatter` do)."""
    return tuple(index if i == axis else lax.broadcasted_iota(default_int(), index.shape, i) for i in range(index.ndim))


def _check_gather(name: str, self: Array, index: Array, axis: int) -> None:
    _need_index(name, index)
    if index.ndim != self.ndim:
        raise ShapeMismatchError("Index tensor must have the same number of dimensions as input tensor")
    if any(i != axis and n > m for i, (n, m) in enumerate(zip(index.shape, self.shape, strict=True))):
        raise ShapeMismatchError(
            f"Size does not match at dimension {axis} expected index {list(index.shape)} to be no larger than self "
            f"{list(self.shape)} apart from dimension {axis}"
        )


@register_op("gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor")
def gather(self, dim, index, sparse_grad):
    axis, shape = normalize_dim(dim, self.ndim), index.shape
    self, index = _shown_1d(self), _shown_1d(index)
    if index.size == 0:
        return jnp.zeros(shape, self.dtype)
    _check_gather("gather", self, index, axis)
    return self[_places(index, axis)].reshape(shape)


@register_op("take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor")
def take_along_dim(self, indices, dim):
    _need_index("take_along_dim", indices)
    if dim is None:
        return self.reshape(-1)[indices.reshape(-1)]
    axis = normalize_dim(dim, self.ndim)
    if self.ndim != indices.ndim:
        raise ShapeMismatchError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{self.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    return jnp.take_along_axis(self, indices % max(self.shape[axis], 1), axis)


@register_op("take(Tensor self, Tensor index) -> Tensor")
def take(self, index):
    _need_index("take", index)
    return self.reshape(-1)[index]


@register_op("index_select(Tensor self, int dim, Tensor index) -> Tensor")
def index_select(self, dim, index):
    _need_index("index_select", index)
    if index.ndim > 1:
        raise DimError("index_select(): Index is supposed to be a vector")
    axis = normalize_dim(dim, self.ndim)
    if self.ndim == 0:
        return self
    return jnp.take(self, _shown_1d(index), axis, mode="clip")


@register_op("nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor", differentiable=False)
def nonzero_static(self, size, fill_value):
    """`nonzero` for a given number of elements: more are left out, and what is missing is `fill_value`."""
    if size < 0:
        raise ArgumentError("nonzero_static: 'size' must be an non-negative integer")
    if not self.ndim:
        return jnp.zeros((size, 0), default_int())
    if not self.size:
        return jnp.full((size, self.ndim), fill_value, default_int())
    return jnp.stack(jnp.nonzero(self, size=size, fill_value=fill_value), 1).astype(default_int())


@register_op("unravel_index(Tensor indices, Any shape) -> Tensor[]", method=False, differentiable=False)
def unravel_index(indices, shape):
    if not is_integral(indices.dtype):
        raise TensorTypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    shape = shape if isinstance(shape, tuple) else (shape,)
    for n in shape:
        if not is_number(n) or isinstance(n, (bool, float, complex)):
            raise TensorTypeError(f"expected 'shape' sequence to only contain ints, but got {type(n).__name__}")
    if any(n < 0 for n in shape):
        raise TensorValueError(f"'shape' cannot have negative values, but got {shape}")
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    limit = jnp.iinfo(indices.dtype).max
    return [
        indices // stride % min(n, limit) if n and stride <= limit else indices * 0
        for stride, n in zip(strides, shape, strict=True)
    ]


# Scatters


def _scatter_target(name: str, self: Array, dim: int, index: Array, src: Any) -> tuple[Array, Array, Any, int]:
    axis = normalize_dim(dim, self.ndim)
    self, index = _shown_1d(self), _shown_1d(index)
    if index.size:
        _check_gather(name, self, index, axis)
    if src is not None:
        if not is_number(src) and self.dtype != src.dtype and src.ndim:
            raise DtypeError(
                f"{name}(): Expected self.dtype to be equal to src.dtype, got {self.dtype} and {src.dtype}"
            )
        src = strong(src, self.dtype)
        if src.ndim or index.ndim == 1:
            src = _shown_1d(src) if src.ndim else jnp.broadcast_to(src, index.shape)
            if src.ndim != index.ndim or any(n > m for n, m in zip(index.shape, src.shape, strict=True)):
                raise ShapeMismatchError(
                    f"Expected index {list(index.shape)} to be no larger than src {list(src.shape)}, and to have as "
                    "many dimensions"
                )
            src = src[tuple(slice(0, n) for n in index.shape)]
        else:
            src = jnp.broadcast_to(src, index.shape)
    return self, index, src, axis


def _added(self: Array, places: Any, values: Array) -> Array:
    """Returns `self` with `values` added at `places`; the sum of bools is "or"."""
    at = self.at[places]
    return at.max(values) if is_bool(self.dtype) else at.add(values)


def _scatter(name: str, add: bool, self: Array, dim: int, index: Array, src: Any) -> Array:
    shape = self.shape
    self, index, src, axis = _scatter_target(name, self, dim, index, src)
    if index.size == 0:
        return self.reshape(shape)
    places = _places(index, axis)
    return (_added(self, places, src) if add else self.at[places].set(src)).reshape(shape)


@register_op("scatter(Tensor self, int dim, Tensor index, Tensor src, *, str? reduce=None) -> Tensor", inplace=True)
def scatter(self, dim, index, src, reduce):
    if reduce not in (None, "add", "multiply"):
        raise ArgumentError(f"reduce argument must be either add or multiply, got {reduce!r}")
    if reduce == "multiply":
        return scatter_reduce(self, dim, index, jnp.broadcast_to(src, index.shape).astype(self.dtype), "prod", True)
    return _scatter("scatter", reduce == "add", self, dim, index, src)


@register_op(
    "scatter_value(Tensor self, int dim, Tensor index, Scalar value, *, str? reduce=None) -> Tensor",
    overload_of="scatter",
    inplace=True,
    fitting=["value"],
)
def scatter_value(self, dim, index, value, reduce):
    return scatter(self, dim, index, value, reduce)


@register_op("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", inplace=True)
def scatter_add(self, dim, index, src):
    return _scatter("scatter_add", True, self, dim, index, src)


def _extreme_of(dtype: DTypeLike, largest: bool) -> Any:
    if is_bool(dtype):
        return largest
    if is_inexact(dtype):
        return jnp.inf if largest else -jnp.inf
    return jnp.iinfo(dtype).max if largest else jnp.iinfo(dtype).min


def reduce_into(self: Array, places: tuple[Any, ...], src: Array, reduce: str, include_self: bool) -> Array:
    """Returns `self` with `src` reduced into the elements at `places`.

    The reductions that jax cannot differentiate with repeated indices (prod, amax, amin) have PyTorch's gradient: equal
    shares among equal extremes, products of the others for prod.
    """
    if reduce not in ("sum", "mean", "prod", "amax", "amin"):
        raise ArgumentError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if is_bool(self.dtype):  # sum is "or", prod is "and"
        reduce = {"sum": "amax", "mean": "amax", "prod": "amin"}.get(reduce, reduce)
    touched = jnp.zeros(self.shape, bool).at[places].set(True)
    if reduce in ("sum", "mean"):
        start = self if include_self else jnp.where(touched, 0, self)
        total = start.at[places].add(src)
        if reduce == "sum":
            return total
        count = jnp.zeros(self.shape, default_int()).at[places].add(jnp.ones(src.shape, default_int()))
        count = jnp.maximum(count + int(include_self), 1) if include_self else jnp.maximum(count, 1)
        return (total / count.astype(total.dtype)) if is_inexact(total.dtype) else total // count.astype(total.dtype)
    if reduce == "prod":
        start = self if include_self else jnp.where(touched, jnp.ones((), self.dtype), self)
        return _scattered_product(start, places, src)
    largest = reduce == "amax"
    start = self if include_self else jnp.where(touched, _extreme_of(self.dtype, not largest), self).astype(self.dtype)
    if not is_inexact(self.dtype):
        return start.at[places].max(src) if largest else start.at[places].min(src)
    frozen, frozen_src = lax.stop_gradient(start), lax.stop_gradient(src)
    best = frozen.at[places].max(frozen_src) if largest else frozen.at[places].min(frozen_src)
    from_self, from_src = frozen == best, frozen_src == best[places]
    if not include_self:
        from_self = from_self & ~touched
    count = from_self.astype(self.dtype).at[places].add(from_src.astype(self.dtype))
    share = jnp.where(count == 0, 0, 1 / jnp.where(count == 0, 1, count))
    # zero in value, the gradient's shares in derivative
    own = jnp.where(from_self, start - frozen, 0) * share
    moved = jnp.where(from_src, src - frozen_src, 0) * share[places]
    own, moved = (jnp.where(jnp.isfinite(part), part, 0) for part in (own, moved))
    return best + own.at[places].add(moved)


def _scattered_product(start: Array, places: tuple[Any, ...], src: Array) -> Array:
    """Returns `start` with `src` multiplied in."""
    if not is_inexact(start.dtype):
        return start.at[places].multiply(src)
    cells = jnp.arange(start.size).reshape(start.shape).at[places].get(mode="fill", fill_value=start.size)
    cells = jnp.broadcast_to(cells, src.shape)
    return _product_of_cells(start.reshape(-1), cells.reshape(-1), src.reshape(-1)).reshape(start.shape)


@jax.custom_jvp
def _product_of_cells(start: Array, cells: Array, src: Array) -> Array:
    """Returns a vector with each of `src` multiplied into the cell that it belongs to."""
    return start.at[cells].multiply(src, mode="drop")


@_product_of_cells.defjvp
def _product_of_cells_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    slope, slope_src = _other_factors(*primals)
    start, _, src = tangents
    return _product_of_cells(*primals), (start * slope).at[primals[1]].add(src * slope_src, mode="drop")


@jax.custom_jvp
def _other_factors(start: Array, cells: Array, src: Array) -> tuple[Array, Array]:
    """Returns of each factor the product of the others in its cell: of all but it where it is the only zero."""
    one = jnp.ones((), start.dtype)
    nonzero = jnp.where(start == 0, one, start).at[cells].multiply(jnp.where(src == 0, one, src), mode="drop")
    n_zeros = (start == 0).astype(default_int()).at[cells].add((src == 0).astype(default_int()), mode="drop")

    def others(x: Array, n: Array, product: Array) -> Array:
        is_zero = x == 0
        rest = jnp.where(is_zero, product, product / jnp.where(is_zero, one, x))
        return jnp.where(n - is_zero.astype(n.dtype) > 0, 0, rest)

    return others(start, n_zeros, nonzero), others(src, n_zeros[cells], nonzero[cells])


@_other_factors.defjvp
def _other_factors_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    start, cells, src = primals

    def by_products(start: Array, src: Array) -> Any:
        product, pull = jax.vjp(lambda x, y: _product_in_order(x, cells, y), start, src)
        return pull(jnp.ones_like(product))

    return _other_factors(*primals), jax.jvp(by_products, (start, src), (tangents[0], tangents[2]))[1]


def _product_in_order(start: Array, cells: Array, src: Array) -> Array:
    """Returns `_product_of_cells` by multiplications alone, so that derivatives of any order are right at zeros too."""
    own = jnp.arange(start.size, dtype=cells.dtype)
    cells, values = jnp.concatenate([own, cells]), jnp.concatenate([start, src])
    order = jnp.argsort(cells)

    def joined(left: Array, right: Array) -> Any:
        return right[0], jnp.where(left[0] == right[0], left[1] * right[1], right[1])

    cells, running = lax.associative_scan(joined, (cells[order], values[order]))
    return running[jnp.searchsorted(cells, own, side="right") - 1]


@register_op(
    "scatter_reduce(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
    inplace=True,
)
def scatter_reduce(self, dim, index, src, reduce, include_self):
    shape = self.shape
    self, index, src, axis = _scatter_target("scatter_reduce", self, dim, index, src)
    if index.size == 0:
        return self.reshape(shape)
    return reduce_into(self, _places(index, axis), src, reduce, include_self).reshape(shape)


# By a vector of indices along a dim


def _along_dim(name: str, self: Array, dim: int, index: Array) -> tuple[Array, tuple[Any, ...], int]:
    axis = normalize_dim(dim, self.ndim)
    _need_index(name, index)
    if index.ndim > 1:
        raise DimError(f"{name}(): Index is supposed to be a vector")
    return _shown_1d(self), (slice(None),) * axis + (_shown_1d(index),), axis


def _check_source(name: str, self: Array, index: Array, source: Array, axis: int) -> Array:
    if self.dtype != source.dtype:
        raise DtypeError(
            f"{name}(): self and source expected to have the same dtype, but got {self.dtype} and {source.dtype}"
        )
    source = _shown_1d(source)
    expected = (*self.shape[:axis], index.size, *self.shape[axis + 1 :])
    if tuple(source.shape) != expected:
        raise ShapeMismatchError(f"{name}(): source of shape {source.shape} does not fit: {expected} expected")
    return source


@register_op("index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor", inplace=True)
def index_add(self, dim, index, source, alpha):
    value, places, axis = _along_dim("index_add", self, dim, index)
    source = _check_source("index_add", value, index, source, axis)
    return _added(value, places, source * strong(alpha, self.dtype)).reshape(self.shape)


@register_op("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", inplace=True)
def index_copy(self, dim, index, source):
    value, places, axis = _along_dim("index_copy", self, dim, index)
    return value.at[places].set(_check_source("index_copy", value, index, source, axis)).reshape(self.shape)


@register_op("index_fill(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", inplace=True, fitting=["value"])
def index_fill(self, dim, index, value):
    shown, places, _ = _along_dim("index_fill", self, dim, index)
    if not is_number(value) and jnp.ndim(value):
        raise TensorError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got one with {jnp.ndim(value)} dimension(s)."
        )
    return shown.at[places].set(strong(value, self.dtype)).reshape(self.shape)


@register_op(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
    inplace=True,
)
def index_reduce(self, dim, index, source, reduce, include_self):
    value, places, axis = _along_dim("index_reduce", self, dim, index)
    source = _check_source("index_reduce", value, index, source, axis)
    return reduce_into(value, places, source, reduce, include_self).reshape(self.shape)


# By index tensors


@register_op("index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor", inplace=True)
def index_put(self, indices, values, accumulate):
    return put_values(self, indices, values, accumulate)


def put_values(self: Array, indices: Sequence[Any], values: Any, accumulate: bool) -> Array:
    """Returns `self` with `values` written at `self[indices]`, where None means a full slice; one bool mask may do."""
    indices = [index.astype(bool) if index is not None and index.dtype == jnp.uint8 else index for index in indices]
    tensors = [index for index in indices if index is not None]
    if len(tensors) == 1 and is_bool(tensors[0].dtype) and indices[0] is not None:
        return _put_masked(self, tensors[0], strong(values, self.dtype), accumulate)
    if any(is_bool(index.dtype) for index in tensors):
        raise TensorError("index_put_ takes one bool mask as its first index, or integer indices only")
    places = tuple(slice(None) if index is None else index for index in indices)
    values = strong(values, self.dtype)
    shown = jax.eval_shape(lambda array: array[places], self).shape
    if broadcast_size([shown, values.shape]) != shown:
        raise ShapeMismatchError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of "
            f"shape {list(shown)}"
        )
    return _added(self, places, values) if accumulate else self.at[places].set(values)


def _put_masked(self: Array, mask: Array, values: Array, accumulate: bool) -> Array:
    """Returns `self` with one of `values`, or all alike, written wherever `mask` over the leading dims is True."""
    if self.shape[: mask.ndim] != mask.shape:
        raise ShapeMismatchError(
            f"The shape of the mask {list(mask.shape)} does not match the shape of the indexed tensor "
            f"{list(self.shape)}"
        )
    rest = self.ndim - mask.ndim
    if values.ndim == rest + 1 and values.shape[0] != 1:
        # the how-manieth True an element is says which of the values it gets
        place = jnp.clip(jnp.cumsum(mask.reshape(-1)) - 1, 0, values.shape[0] - 1)
        values = values[place].reshape(mask.shape + values.shape[1:]) if values.shape[0] else self
    elif values.ndim > rest:
        values = values.reshape(values.shape[1:])
    shown = mask.reshape(mask.shape + (1,) * rest)
    return jnp.where(shown, self + values if accumulate else values, self)


@register_op("put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", inplace=True)
def put(self, index, source, accumulate):
    _need_index("put_", index)
    if index.size != source.size:
        raise ShapeMismatchError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.size}, index.numel() = {index.size}"
        )
    flat, places = self.reshape(-1), index.reshape(-1)
    values = source.reshape(-1).astype(self.dtype)
    return (_added(flat, places, values) if accumulate else flat.at[places].set(values)).reshape(self.shape)


# Views written out of place


@register_op("select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor")
def select_scatter(self, src, dim, index):
    axis = normalize_dim(dim, self.ndim)
    return self.at[(slice(None),) * axis + (index,)].set(src)


@register_op("slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor")
def slice_scatter(self, src, dim, start, end, step):
    axis = normalize_dim(dim, self.ndim)
    return self.at[(slice(None),) * axis + (slice(start, end, step),)].set(src)


@register_op("diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor")
def diagonal_scatter(self, src, offset, dim1, dim2):
    axes = (normalize_dim(dim1, self.ndim), normalize_dim(dim2, self.ndim))
    shown = jnp.moveaxis(self, axes, (-2, -1))
    line = jnp.arange(src.shape[-1])
    written = shown.at[..., line + max(-offset, 0), line + max(offset, 0)].set(src)
    return jnp.moveaxis(written, (-2, -1), axes)


# Written whole


@register_op(
    "fill(Tensor self, Tensor value) -> Tensor",
    inplace=True,
    method=False,
    overwrites=True,
    layout="same",
    fitting=["value"],
)
def fill(self, value):
    if not is_number(value) and jnp.ndim(value):
        raise TensorError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {jnp.ndim(value)} dimensions."
        )
    if jnp.iscomplexobj(value) and not is_complex(self.dtype):
        raise DtypeError(f"value cannot be converted to type {self.dtype} without overflow; it is complex")
    return jnp.broadcast_to(strong(value, self.dtype), self.shape)


register_op("zero(Tensor self) -> Tensor", inplace_only=True)(lambda self: jnp.zeros(self.shape, self.dtype))


@register_op("copy(Tensor self, Tensor other, bool non_blocking=False) -> Tensor", inplace_only=True)
def copy(self, other, non_blocking):
    if other is None:
        raise TensorTypeError("copy_(): argument 'other' must be Tensor, not NoneType")
    if not is_number(other) and broadcast_shapes(self.shape, other.shape) != self.shape:
        raise ShapeMismatchError(
            f"The expanded size of the tensor {list(self.shape)} must match the existing size {list(other.shape)}"
        )
    values = strong(other, self.dtype)
    return values if jnp.shape(values) == self.shape else jnp.broadcast_to(values, self.shape)


@register_op(
    "fill_diagonal(Tensor self, Scalar fill_value, bool wrap=False) -> Tensor",
    inplace_only=True,
    overwrites=False,
    fitting=["fill_value"],
)
def fill_diagonal(self, fill_value, wrap):
    if self.ndim < 2:
        raise TensorError("dimensions must larger than 1")
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise ShapeMismatchError("all dimensions of input must be of equal length")
    step = sum(math.prod(self.shape[axis + 1 :]) for axis in range(self.ndim))
    end = self.size if wrap or self.ndim > 2 else min(self.size, self.shape[1] ** 2)
    places = jnp.arange(0, end, step)
    return self.reshape(-1).at[places].set(strong(fill_value, self.dtype)).reshape(self.shape)


# Windows whose place an operand says


def _window(self: Array, starts: Sequence[Any], where: Any) -> tuple[list[Any], list[int], list[int]]:
    """Returns where a window begins and its size, and the size of what is read of it."""
    places, sizes, moving = [0] * self.ndim, list(self.shape), iter(starts)
    for dim, start, size, _ in where:
        places[dim], sizes[dim] = next(moving) if start is None else start, size
    dropped = {dim for dim, _, _, is_dropped in where if is_dropped}
    return places, sizes, [n for dim, n in enumerate(sizes) if dim not in dropped]


@register_op("read_window(Tensor self, Tensor[] starts, Any where) -> Tensor", **INTERNAL)
def read_window(self, starts, where):
    places, sizes, shape = _window(self, starts, where)
    return lax.dynamic_slice(self, places, sizes, allow_negative_indices=False).reshape(shape)


@register_op("write_window(Tensor self, Tensor[] starts, Tensor values, Any where) -> Tensor", **INTERNAL)
def write_window(self, starts, values, where):
    places, sizes, shape = _window(self, starts, where)
    values = jnp.broadcast_to(strong(values, self.dtype), shape).reshape(sizes)
    return lax.dynamic_update_slice(self, values, places, allow_negative_indices=False)
