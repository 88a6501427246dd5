"""Reductions over dims, and running ones along a dim.

`dim=None` and `dim=()` mean all dims, as in PyTorch; a 0-d tensor accepts the dims 0 and -1.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy import special as jsp

from jaxaot._typing import Array, DTypeLike, Sizes
from jaxaot.errors import ArgumentError, DimError, DtypeError, ShapeMismatchError, TensorError
from jaxaot.ops.arithmetic import maximum, minimum
from jaxaot.ops.dims import along, normalize_dim, normalize_dims
from jaxaot.ops.elementwise import absolute
from jaxaot.ops.promotion import canonical_dtype, default_float, default_int, is_bool, is_complex, is_inexact
from jaxaot.ops.slopes import with_slope
from jaxaot.ops.table import register_op


def cast(value: Array, dtype: DTypeLike | None) -> Array:
    """Returns `value` as `dtype`, unless that is None."""
    return value if dtype is None else value.astype(canonical_dtype(dtype))


def _widened(value: Array, dtype: DTypeLike | None) -> Array:
    """Returns `value` as `dtype`, by default with integers and bools as the default int."""
    if dtype is None and not is_inexact(value.dtype):
        dtype = default_int()
    return cast(value, dtype)


def _floating(value: Array) -> Array:
    return value if is_inexact(value.dtype) else value.astype(default_float())


def _need_inexact(name: str, value: Array, dtype: DTypeLike | None) -> Array:
    value = cast(value, dtype)
    if not is_inexact(value.dtype):
        raise DtypeError(
            f"{name}(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {value.dtype}. Convert it, `x.float()`, or say `dtype=ja.float32` where the function takes one."
        )
    return value


def _need_elements(name: str, value: Array, axes: tuple[int, ...]) -> None:
    for axis in axes:
        if value.shape[axis] == 0:
            raise DimError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")


def need_real(name: str, value: Array, *, allow_bool: bool = True) -> None:
    """Checks that the elements have an order.

    Raises:
      DtypeError: If they are complex, or bools where those are not allowed.
    """
    if is_complex(value.dtype) or (is_bool(value.dtype) and not allow_bool):
        raise DtypeError(f"{name}(): does not support {value.dtype} input. Convert it, as with `.float()`, first.")


# Sums and products


@register_op("sum(Tensor self, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor")
def sum_(self, dim, keepdim, dtype):
    return cast(jnp.sum(_widened(self, dtype), axis=normalize_dims(dim, self.ndim), keepdims=keepdim), dtype)


@register_op("nansum(Tensor self, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor")
def nansum(self, dim, keepdim, dtype):
    need_real("nansum", self)
    self = _widened(self, dtype)
    if is_inexact(self.dtype):
        self = jnp.where(jnp.isnan(self), 0, self)
    return jnp.sum(self, axis=normalize_dims(dim, self.ndim), keepdims=keepdim)


@register_op("prod(Tensor self, int? dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor")
def prod(self, dim, keepdim, dtype):
    axes = normalize_dims(dim, self.ndim)
    return cast(product(_widened(self, dtype), axes, dim is None, keepdim), dtype)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1, 2, 3))
def product(value: Array, axes: tuple[int, ...], is_whole: bool, keepdim: bool) -> Array:
    """Returns the product over axes, with PyTorch's gradient where an element is NaN or infinite.

    That is the product over the element, unless there is a 0; then the product of the others, or 0 if these are all
    elements and several are 0. It is the product of the others for finite elements, too.
    """
    return jnp.prod(value, axis=axes, keepdims=keepdim)


@product.defjvp
def _product_jvp(axes: Any, is_whole: bool, keepdim: bool, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    (value,), (moved,) = primals, tangents
    result = product(value, axes, is_whole, keepdim)
    of_others = lambda moved: jax.jvp(lambda x: jnp.prod(x, axis=axes, keepdims=keepdim), primals, (moved,))[1]
    if not is_inexact(value.dtype) or value.ndim == 0:
        return result, of_others(moved)
    whole = product(value, axes, is_whole, True)
    quotients = whole / jnp.where(value == 0, 1, value)
    by_division = lambda moved: jnp.sum(moved * quotients, axis=axes, keepdims=keepdim)
    is_far, n_zeros = jnp.any(~jnp.isfinite(value)), jnp.sum(value == 0)
    vanishes = is_far & (n_zeros > 1) & is_whole
    slope = _either(is_far & (n_zeros == 0), by_division, of_others, jnp.where(vanishes, 0, moved))
    return result, jnp.where(vanishes, 0, slope)


def _either(condition: Array, one: Callable[[Array], Array], other: Callable[[Array], Array], moved: Array) -> Array:
    """Returns one of two linear functions, of which the other may be NaN, forward and when it is transposed."""
    return jnp.where(condition, one(jnp.where(condition, moved, 0)), other(jnp.where(condition, 0, moved)))


@register_op("mean(Tensor self, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor")
def mean(self, dim, keepdim, dtype):
    self = _need_inexact("mean", self, dtype)
    return jnp.mean(self, axis=normalize_dims(dim, self.ndim), keepdims=keepdim)


@register_op("nanmean(Tensor self, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor")
def nanmean(self, dim, keepdim, dtype):
    need_real("nanmean", self)
    self = _need_inexact("nanmean", self, dtype)
    axes, valid = normalize_dims(dim, self.ndim), ~jnp.isnan(self)
    total = jnp.sum(jnp.where(valid, self, 0), axis=axes, keepdims=keepdim)
    return total / jnp.sum(valid, axis=axes, keepdims=keepdim).astype(total.dtype)


@register_op("logsumexp(Tensor self, Any dim, bool keepdim=False) -> Tensor", namespaces=("", "special"))
def logsumexp(self, dim, keepdim):
    return jsp.logsumexp(_floating(self), axis=normalize_dims(dim, self.ndim), keepdims=keepdim)


@register_op("count_nonzero(Tensor self, Any dim=None) -> Tensor", differentiable=False)
def count_nonzero(self, dim):
    return jnp.sum(self != 0, axis=normalize_dims(dim, self.ndim), dtype=default_int())


@register_op("trace(Tensor self) -> Tensor", function=False)  # `ja.trace` is a stage of the compiler
def trace(self):
    return jnp.trace(_widened(self, None))


@register_op("hash_tensor(Tensor self, Any dim=(), *, bool keepdim=False, int mode=0) -> Tensor", differentiable=False)
def hash_tensor(self, dim, keepdim, mode):
    """Returns the exclusive or of the elements' 64-bit patterns."""
    if mode != 0:
        raise ArgumentError(f"hash_tensor: Unknown mode: {mode}. Write `mode=0`, which combines by exclusive or.")
    if not jax.config.jax_enable_x64:
        raise DtypeError(
            "hash_tensor returns uint64, which JAX only has with 64-bit types: run "
            "`jax.config.update('jax_enable_x64', True)` first."
        )
    if is_inexact(self.dtype):
        words = lax.bitcast_convert_type(self.astype(jnp.float64), jnp.uint64)
    else:
        words = self.astype(jnp.int64).astype(jnp.uint64)
    result = lax.reduce(words, jnp.uint64(0), lax.bitwise_xor, normalize_dims(dim, self.ndim))
    return jnp.expand_dims(result, normalize_dims(dim, self.ndim)) if keepdim else result


# Moments


def _spread(
    name: str, value: Array, dim: Sizes | bool | None, unbiased: Any, keepdim: bool, correction: Any
) -> tuple[Array, Array]:
    """Returns variance and mean; a bool in the place of `dim` is `unbiased`."""
    value = _need_inexact(name, value, None)
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    axes = normalize_dims(dim, value.ndim)
    n = math.prod(value.shape[axis] for axis in axes)
    center = jnp.mean(value, axis=axes, keepdims=True)
    squares = jnp.sum(jnp.square(jnp.abs(value - center)), axis=axes, keepdims=keepdim)
    # no degrees of freedom: 0 / 0 is NaN, as in PyTorch
    variance = squares / jnp.asarray(max(n - correction, 0), squares.dtype)
    return variance, center if keepdim else jnp.squeeze(center, axes)


def _safe_sqrt(value: Array) -> Array:
    """Returns the square root with the gradient 0 at 0."""
    zero = value == 0
    return jnp.where(zero, 0, jnp.sqrt(jnp.where(zero, 1, value)))


def _deviation(name: str, value: Array, *how: Any) -> tuple[Array, Array]:
    """Returns standard deviation and mean, of the value over a power of 2, so that no square is out of range."""
    value = _need_inexact(name, value, None)
    largest = jnp.max(jnp.abs(lax.stop_gradient(value)), initial=0)
    # between powers of 4 of single precision: what is not far out is left as it is
    unit = jnp.where(largest > 2.0**60, 2.0**70, jnp.where(largest < 2.0**-60, 2.0**-70, 1)).astype(largest.dtype)
    variance, center = _spread(name, value / unit, *how)
    return _safe_sqrt(variance) * unit, center * unit


MOMENTS = "(Tensor self, int[]? dim=None, bool? unbiased=None, bool keepdim=False, *, Any correction=None) -> "


MOMENTS_OF: dict[str, Callable[..., Any]] = {
    "var": lambda *how: _spread("var", *how)[0],
    "std": lambda *how: _deviation("std", *how)[0],
    "var_mean": lambda *how: _spread("var_mean", *how),
    "std_mean": lambda *how: _deviation("std_mean", *how),
}


def _register_moments(name: str, fn: Callable[..., Any]) -> None:
    """Adds the row, and its signature `var(x, False)`, where the flag stands in the place of dims."""
    has_mean = name.endswith("_mean")
    result = "(Tensor, Tensor)" if has_mean else "Tensor"

    @register_op(f"{name}{MOMENTS}{result}", method=not has_mean)
    def row(self, dim, unbiased, keepdim, correction):
        return fn(self, dim, unbiased, keepdim, correction)

    @register_op(f"{name}_unbiased(Tensor self, bool unbiased) -> {result}", out=not has_mean, overload_of=name)
    def unbiased_row(self, unbiased):
        return fn(self, None, unbiased, False, None)


for _name, _fn in MOMENTS_OF.items():
    _register_moments(_name, _fn)


# Extremes. Of several equal ones, each gets an equal share of the gradient; `max(dim)` gives all to the
# one it names.


def _greatest(extreme: Callable[..., Any], value: Array, axes: tuple[int, ...], keepdim: bool) -> Array:
    """Returns the extremes along axes; where one is NaN, PyTorch divides by no equals, and so the gradient is NaN."""
    found = extreme(lax.stop_gradient(value), axis=axes, keepdims=True)
    if is_inexact(value.dtype):
        found = _shared(value, found, axes)
    return found if keepdim else jnp.squeeze(found, axes)


@functools.partial(jax.custom_jvp, nondiff_argnums=(2,))
def _shared(value: Array, chosen: Array, axes: tuple[int, ...]) -> Array:
    return chosen


@_shared.defjvp
def _shared_jvp(axes: tuple[int, ...], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    value, chosen = primals
    equal = (value == chosen).astype(value.dtype)
    shares = jnp.where(jnp.isnan(chosen), jnp.nan, equal / jnp.sum(equal, axes, keepdims=True))
    return _shared(value, chosen, axes), jnp.sum(tangents[0] * shares, axes, keepdims=True)


def amax(self: Array, dim: Any, keepdim: bool) -> Array:
    """Returns the greatest elements along dims."""
    return _extreme("amax", jnp.max, self, dim, keepdim)


def amin(self: Array, dim: Any, keepdim: bool) -> Array:
    """Returns the least elements along dims."""
    return _extreme("amin", jnp.min, self, dim, keepdim)


def _extreme(name: str, extreme: Callable[..., Any], value: Array, dim: Any, keepdim: bool) -> Array:
    axes = normalize_dims(dim, value.ndim)
    need_real(name, value)
    _need_elements(name, value, axes)
    return _greatest(extreme, value, axes, keepdim)


@register_op("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)")
def aminmax(self, dim, keepdim):
    return amin(self, dim, keepdim), amax(self, dim, keepdim)


@jax.custom_jvp
def spread_evenly(value: Array, chosen: Array) -> Array:
    """Returns `chosen`, an element of `value`, with its gradient shared among all elements equal to it."""
    return chosen


@spread_evenly.defjvp
def _spread_evenly_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    value, chosen = primals
    equal = (value == chosen) | (jnp.isnan(value) & jnp.isnan(chosen))
    total = jnp.sum(jnp.where(equal, tangents[0], 0))
    return spread_evenly(value, chosen), total / jnp.sum(equal).astype(value.dtype)


def _extreme_of_all(name: str, extreme: Callable[..., Any], value: Array) -> Array:
    need_real(name, value)
    if value.size == 0:
        raise TensorError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
            "the 'dim' argument."
        )
    found = extreme(lax.stop_gradient(value))
    return spread_evenly(value, found) if is_inexact(value.dtype) else found


def pick(value: Array, positions: Array, axis: int, keepdim: bool) -> tuple[Array, Array]:
    """Returns the elements at `positions` (size 1 along `axis`), and the positions."""
    picked = jnp.take_along_axis(value, positions, axis)
    positions = positions.astype(default_int())
    return (picked, positions) if keepdim else (picked.squeeze(axis), positions.squeeze(axis))


def _first_extreme(
    name: str, argextreme: Callable[..., Any], value: Array, dim: int, keepdim: bool
) -> tuple[Array, Array]:
    need_real(name, value)

    def choose(value: Array, axis: int) -> tuple[Array, Array]:
        _need_elements(name, value, (axis,))
        return pick(value, argextreme(value, axis=axis, keepdims=True), axis, keepdim)

    return along(choose, value, dim)


def position(name: str, argextreme: Callable[..., Any], value: Array, dim: int | None, keepdim: bool) -> Array:
    """Returns where an extreme is first found along a dim, or among all elements."""
    need_real(name, value, allow_bool=False)
    if dim is None:
        if value.size == 0:
            raise DimError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        found = argextreme(value.reshape(-1)).reshape((1,) * value.ndim if keepdim else ())
    else:
        _need_elements(name, value, (normalize_dim(dim, value.ndim),) if value.ndim else ())
        found = along(lambda value, axis: argextreme(value, axis=axis, keepdims=keepdim), value, dim)
    return found.astype(default_int())


def _truth(reduce: Any, value: Array, dim: Sizes | None, keepdim: bool) -> Array:
    # here alone `dim=()` means no dims, and bytes stay bytes
    axes = () if dim == () else normalize_dims(dim, value.ndim)
    found = reduce(value, axis=axes, keepdims=keepdim)
    return found.astype(jnp.uint8) if value.dtype == jnp.uint8 else found


for _name, _reduce in (("all", jnp.all), ("any", jnp.any)):
    register_op(f"{_name}(Tensor self, Any dim=None, bool keepdim=False) -> Tensor", differentiable=False)(
        lambda self, dim, keepdim, reduce=_reduce: _truth(reduce, self, dim, keepdim)
    )


# Norms: gradient 0 at 0


def vector_norm_values(value: Array, ord: float, axes: tuple[int, ...], keepdim: bool) -> Array:
    """Returns the `ord`-norm over `axes`, with PyTorch's gradient (0 where the norm is 0)."""
    size = absolute(value)
    if (ord < 0 or ord == math.inf) and any(value.shape[axis] == 0 for axis in axes):
        raise TensorError(
            f"linalg.vector_norm cannot compute the {ord} norm on an empty dimension because the operation does not "
            "have an identity"
        )
    if ord == math.inf:
        return jnp.max(size, axis=axes, keepdims=keepdim)
    if ord == -math.inf:
        return jnp.min(size, axis=axes, keepdims=keepdim)
    if ord == 0:
        return jnp.sum((value != 0).astype(size.dtype), axis=axes, keepdims=keepdim)
    if ord == 1:
        return jnp.sum(size, axis=axes, keepdims=keepdim)
    if ord == 2:
        squares = jnp.real(value * jnp.conj(value)) if jnp.iscomplexobj(value) else jnp.square(value)
        return _safe_sqrt(jnp.sum(squares, axis=axes, keepdims=keepdim))
    zero = size == 0
    powers = jnp.where(zero, 0.0 if ord > 0 else jnp.inf, jnp.where(zero, 1, size) ** ord)
    total = jnp.sum(powers, axis=axes, keepdims=keepdim)
    none = (total == 0) | jnp.isinf(total)
    total = jnp.where(total == 0, lax.stop_gradient(total), total)
    return jnp.where(none, total ** (1 / ord), jnp.where(none, 1, total) ** (1 / ord))


@register_op("norm(Tensor self, Any p='fro', Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor")
def norm(self, p, dim, keepdim, dtype):
    self = _need_inexact("norm", self, dtype)
    if p == "nuc":
        return jnp.sum(jnp.linalg.svd(self, compute_uv=False), axis=-1, keepdims=keepdim)
    if isinstance(p, str) and p != "fro":
        raise ArgumentError(f"norm: `p` is a number, 'fro' or 'nuc', and {p!r} was given.")
    order = 2.0 if p in (None, "fro") else float(p)
    return vector_norm_values(self, order, normalize_dims(dim, self.ndim), keepdim)


@register_op("dist(Tensor self, Tensor other, float p=2) -> Tensor", promote="float", layout="contiguous")
def dist(self, other, p):
    difference = self - other
    return vector_norm_values(difference, float(p), tuple(range(difference.ndim)), False)


@register_op("renorm(Tensor self, float p, int dim, float maxnorm) -> Tensor", inplace=True)
def renorm(self, p, dim, maxnorm):
    axis = normalize_dim(dim, self.ndim)
    if p <= 0:
        raise ArgumentError(f"renorm: non-positive-norm not supported, but got p={p}")
    if maxnorm < 0:
        raise ArgumentError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if self.ndim < 2:
        raise ShapeMismatchError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    norm = lambda value: vector_norm_values(value, float(p), tuple(i for i in range(self.ndim) if i != axis), True)
    is_long = norm(lax.stop_gradient(self)) > maxnorm
    scaled = jnp.where(is_long, self, 1)  # of what is left as it is the norm may be NaN, and so its gradient
    return jnp.where(is_long, scaled * (maxnorm / (norm(scaled) + 1e-7)), self)


# Running reductions


@register_op("cumsum(Tensor self, int dim, *, Dtype? dtype=None) -> Tensor", inplace=True)
def cumsum(self, dim, dtype):
    return along(lambda value, axis: jnp.cumsum(value, axis=axis), _widened(self, dtype), dim)


@register_op("cumprod(Tensor self, int dim, *, Dtype? dtype=None) -> Tensor", inplace=True)
def cumprod(self, dim, dtype):
    return along(_running_product, _widened(self, dtype), dim)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _running_product(value: Array, axis: int) -> Array:
    """Returns the running product, with PyTorch's gradient where an element is NaN or infinite and none is 0."""
    return jnp.cumprod(value, axis=axis)


@_running_product.defjvp
def _running_product_jvp(axis: int, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    (value,), (moved,) = primals, tangents
    result = _running_product(value, axis)
    exactly = lambda moved: jax.jvp(lambda x: jnp.cumprod(x, axis=axis), primals, (moved,))[1]
    if not is_inexact(value.dtype):
        return result, exactly(moved)
    is_zero = value == 0
    by_division = lambda moved: result * jnp.cumsum(moved / jnp.where(is_zero, 1, value), axis=axis)
    return result, _either(jnp.any(~jnp.isfinite(value)) & ~jnp.any(is_zero), by_division, exactly, moved)


@register_op("logcumsumexp(Tensor self, int dim) -> Tensor")
def logcumsumexp(self, dim):
    if not is_inexact(self.dtype):
        raise DtypeError(f"logcumsumexp(): does not support {self.dtype} input. Convert it with `.float()` first.")
    return along(_running_logsumexp, self, dim)


def _running_logsumexp(value: Array, axis: int) -> Array:
    """Returns the running logsumexp, with PyTorch's gradient where it is infinite: 0, and NaN for what makes it so."""
    if is_complex(value.dtype):
        return lax.cumlogsumexp(value, axis=axis)
    constant = lax.stop_gradient(value)
    total = lax.cumlogsumexp(constant, axis=axis)
    slope = jnp.where(jnp.isinf(constant) & (constant == total), jnp.nan, 1)
    sums = lax.cumlogsumexp(with_slope(value, value * slope.astype(value.dtype)), axis=axis)
    return jnp.where(total == jnp.inf, total, sums)  # which is flat in what is finite, before it too


def _running_extreme(value: Array, axis: int, better: Callable[..., Any]) -> tuple[Array, Array]:
    """Returns the running extreme and where it was last found; NaN stays once met."""
    need_real("cummax" if better is jnp.greater_equal else "cummin", value)
    positions = lax.broadcasted_iota(default_int(), value.shape, axis)
    if value.shape[axis] == 0:
        return value, positions
    constant = lax.stop_gradient(value)
    numbers = constant.astype(jnp.int8) if constant.dtype == bool else constant
    extreme = (lax.cummax if better is jnp.greater_equal else lax.cummin)(numbers, axis=axis)
    is_new = numbers == extreme
    if is_inexact(value.dtype):
        is_new |= jnp.isnan(numbers)
    found = lax.cummax(jnp.where(is_new, positions, 0), axis=axis)
    return jnp.take_along_axis(value, found, axis), found


def _register_extremes(name: str, along_dims: Any, extreme: Any, argextreme: Any, of_two: Any, better: Any) -> None:
    """Adds the rows of `max` or of `min`."""
    both = "(Tensor values, Tensor indices)"
    of_all = lambda self: _extreme_of_all(name, extreme, self)
    of_dim = lambda self, dim, keepdim: _first_extreme(name, argextreme, self, dim, keepdim)
    place = lambda self, dim, keepdim: position(f"arg{name}", argextreme, self, dim, keepdim)
    running = lambda self, dim: along(lambda value, axis: _running_extreme(value, axis, better), self, dim)
    register_op(f"a{name}(Tensor self, Any dim=(), bool keepdim=False) -> Tensor")(along_dims)
    register_op(f"{name}(Tensor self) -> Tensor")(of_all)
    register_op(f"{name}_dim(Tensor self, int dim, bool keepdim=False) -> {both}", overload_of=name)(of_dim)
    register_op(f"{name}_other(Tensor self, Tensor other) -> Tensor", promote="common", overload_of=name)(
        lambda self, other: of_two(self, other)
    )
    register_op(f"arg{name}(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", differentiable=False)(place)
    register_op(f"cum{name}(Tensor self, int dim) -> {both}")(running)


_register_extremes("max", amax, jnp.max, jnp.argmax, maximum, jnp.greater_equal)
_register_extremes("min", amin, jnp.min, jnp.argmin, minimum, jnp.less_equal)


@register_op("diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor")
def diff(self, n, dim, prepend, append):
    axis = normalize_dim(dim, self.ndim)
    if self.ndim == 0:
        raise ShapeMismatchError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise ArgumentError(f"order must be non-negative but got {n}")
    joined = [part for part in (prepend, self, append) if part is not None]
    for part in joined:
        if part.ndim != self.ndim:
            raise ShapeMismatchError("diff expects prepend or append to be the same dimension as input")
        if any(a != b for i, (a, b) in enumerate(zip(part.shape, self.shape, strict=True)) if i != axis):
            raise ShapeMismatchError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size() = {list(self.shape)}, but got tensor.size() = {list(part.shape)}"
            )
    if n == 0:
        return self
    value = jnp.concatenate(joined, axis) if len(joined) > 1 else self
    for _ in range(min(n, value.shape[axis])):
        later, earlier = lax.slice_in_dim(value, 1, None, axis=axis), lax.slice_in_dim(value, 0, -1, axis=axis)
        value = later ^ earlier if is_bool(value.dtype) else later - earlier
    return value


@register_op(
    "trapezoid(Tensor y, Tensor? x=None, *, float dx=1.0, int dim=-1) -> Tensor", method=False, aliases=("trapz",)
)
def trapezoid(y, x, dx, dim):
    return jnp.trapezoid(y, x, dx, normalize_dim(dim, y.ndim))


@register_op("cumulative_trapezoid(Tensor y, Tensor? x=None, *, float dx=1.0, int dim=-1) -> Tensor", method=False)
def cumulative_trapezoid(y, x, dx, dim):
    value = jnp.moveaxis(y, normalize_dim(dim, y.ndim), -1)
    if x is not None:
        dx = jnp.diff(x if x.ndim == 1 else jnp.moveaxis(x, normalize_dim(dim, x.ndim), -1), axis=-1)
    return jnp.moveaxis(jnp.cumsum(dx * (value[..., 1:] + value[..., :-1]) / 2, axis=-1), -1, dim)
