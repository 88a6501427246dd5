"""Reductions and normalisations that leave out masked elements: `masked.*`.

Where the mask is false, an element is replaced by the *identity* of the op, which does not change its result. A slice
without any element has that identity as its sum, product, extreme or norm, and NaN as its mean, median and variance.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._typing import Array, DTypeLike, Sizes
from jaxaot.errors import ArgumentError, DimError, TensorValueError
from jaxaot.ops import reductions
from jaxaot.ops.derivatives import divide
from jaxaot.ops.dims import normalize_dim, normalize_dims
from jaxaot.ops.ordering import nanmedian_dim
from jaxaot.ops.promotion import canonical_dtype, default_float, default_int, is_complex, is_floating, is_inexact
from jaxaot.ops.reductions import vector_norm_values
from jaxaot.ops.table import register_op, register_ops

MASKED: dict[str, Any] = {"method": False, "namespaces": ("masked",)}


def _full_mask(value: Array, mask: Array) -> Array:
    if mask.ndim > value.ndim:
        raise DimError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input). Give a mask "
            f"of at most {value.ndim} dims."
        )
    return jnp.broadcast_to(mask, value.shape).astype(bool)


def _filled(value: Array, mask: Array | None, identity: Any) -> Array:
    return value if mask is None else jnp.where(_full_mask(value, mask), value, jnp.asarray(identity, value.dtype))


def _lowest(value: Array) -> Any:
    return -jnp.inf if is_inexact(value.dtype) else jnp.iinfo(value.dtype).min


def _highest(value: Array) -> Any:
    return jnp.inf if is_inexact(value.dtype) else jnp.iinfo(value.dtype).max


def _as(result: Array, dtype: DTypeLike | None, default: Any) -> Array:
    return result.astype(canonical_dtype(default if dtype is None else dtype))


REDUCTION = "(Tensor input, Any dim=None, *, bool keepdim=False, Dtype? dtype=None, Tensor? mask=None) -> Tensor"
POSITION = "(Tensor input, int? dim=None, *, bool keepdim=False, Dtype? dtype=None, Tensor? mask=None) -> Tensor"
ALONG = "(Tensor input, int dim, *, Dtype? dtype=None, Tensor? mask=None) -> Tensor"
SPREAD = (
    "(Tensor input, Any dim=None, bool? unbiased=None, *, Any correction=None, bool keepdim=False, "
    "Dtype? dtype=None, Tensor? mask=None) -> Tensor"
)


@register_op("masked_sum" + REDUCTION, **MASKED)
def masked_sum(input, dim, keepdim, dtype, mask):
    return reductions.sum_(_filled(input, mask, 0), dim, keepdim, dtype)


@register_op("masked_prod" + REDUCTION, **MASKED)
def masked_prod(input, dim, keepdim, dtype, mask):
    value = _filled(input, mask, 1)
    if dtype is None and not is_inexact(value.dtype):
        dtype = default_int()
    return jnp.prod(reductions.cast(value, dtype), axis=normalize_dims(dim, value.ndim), keepdims=keepdim)


def _extreme(name: str, argextreme: Any, along: Any, identity_of: Any) -> None:
    """Adds the rows of the greatest or least elements, and of their positions, in the dtype of `input`."""

    @register_op(f"masked_a{name}{REDUCTION}", **MASKED)
    def extreme(input, dim, keepdim, dtype, mask):
        return _as(along(_filled(input, mask, identity_of(input)), dim, keepdim), dtype, input.dtype)

    @register_op(f"masked_arg{name}{POSITION}", differentiable=False, **MASKED)
    def position(input, dim, keepdim, dtype, mask):
        """Returns the positions in the dtype of `input`, as PyTorch does."""
        value = _filled(input, mask, identity_of(input))
        return _as(reductions.position(f"arg{name}", argextreme, value, dim, keepdim), dtype, input.dtype)


_extreme("max", jnp.argmax, reductions.amax, _lowest)
_extreme("min", jnp.argmin, reductions.amin, _highest)


def _running(name: str, along: Any, identity: int) -> None:
    @register_op(f"masked_{name}{ALONG}", **MASKED)
    def row(input, dim, dtype, mask):
        return _as(along(_filled(input, mask, identity), dim, dtype), dtype, input.dtype)


_running("cumsum", reductions.cumsum, 0)
_running("cumprod", reductions.cumprod, 1)


def _count(value: Array, dim: Sizes | None, keepdim: bool, mask: Array | None) -> Array:
    counted = jnp.ones(value.shape, bool) if mask is None else _full_mask(value, mask)
    return jnp.sum(counted, axis=normalize_dims(dim, value.ndim), keepdims=keepdim, dtype=default_int())


@register_op("masked_mean" + REDUCTION, **MASKED)
def masked_mean(input, dim, keepdim, dtype, mask):
    wanted = input.dtype if dtype is None else dtype
    if not is_inexact(wanted):
        source = "Input" if dtype is None else "Optional"
        raise TensorValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or complex dtype. "
            f"Got: {jnp.dtype(wanted).name}. Write `masked.mean(x, dtype=ja.float32)`."
        )
    total = masked_sum(input, dim, keepdim, dtype, mask)
    return total / _count(input, dim, keepdim, mask).astype(total.dtype)


@register_op(
    "masked_median(Tensor input, int dim=-1, *, bool keepdim=False, Dtype? dtype=None, Tensor? mask=None) -> Tensor",
    **MASKED,
)
def masked_median(input, dim, keepdim, dtype, mask):
    value = input if is_floating(input.dtype) else input.astype(default_float())
    found = nanmedian_dim(_filled(value, mask, jnp.nan), dim, keepdim)[0]
    return found if is_floating(input.dtype) else _as(found, dtype, input.dtype)


@register_op("masked_logsumexp" + REDUCTION, **MASKED)
def masked_logsumexp(input, dim, keepdim, dtype, mask):
    value = _filled(input, mask, _lowest(input))
    return _as(reductions.logsumexp(value, dim, keepdim), dtype, input.dtype)


@register_op(
    "masked_logaddexp(Tensor input, Tensor other, *, Dtype? dtype=None, Tensor? input_mask=None, "
    "Tensor? other_mask=None) -> Tensor",
    **MASKED,
)
def masked_logaddexp(input, other, dtype, input_mask, other_mask):
    left, right = _filled(input, input_mask, _lowest(input)), _filled(other, other_mask, _lowest(other))
    return _as(jnp.logaddexp(left, right), dtype, input.dtype)


@register_op(
    "masked_norm(Tensor input, float? ord=2.0, Any dim=None, *, bool keepdim=False, Dtype? dtype=None, "
    "Tensor? mask=None) -> Tensor",
    **MASKED,
)
def masked_norm(input, ord, dim, keepdim, dtype, mask):
    order = 2.0 if ord is None else float(ord)
    value = reductions.cast(_filled(input, mask, jnp.inf if order == -jnp.inf else 0), dtype)
    return vector_norm_values(value, order, normalize_dims(dim, value.ndim), keepdim)


def _variance(
    input: Array,
    dim: Sizes | None,
    unbiased: Any,
    correction: Any,
    keepdim: bool,
    dtype: DTypeLike | None,
    mask: Array | None,
) -> Array:
    if unbiased is not None and correction is not None:
        raise ArgumentError("Only one of unbiased and correction may be given. Write `correction=0` or `correction=1`.")
    if correction is None:
        correction = 1.0 if unbiased is None or unbiased else 0.0
    computed = input.dtype if dtype is None else canonical_dtype(dtype)
    computed = computed if is_inexact(computed) else default_float()
    total = masked_sum(input, dim, True, computed, mask)
    difference = input.astype(computed) - total / _count(input, dim, True, mask).astype(computed)
    squares = masked_sum(difference * jnp.conj(difference), dim, keepdim, computed, mask)
    real = squares.real.dtype if is_complex(computed) else computed
    free = jnp.maximum(_count(input, dim, keepdim, mask).astype(real) - correction, 0)
    return _as(squares / free, dtype, computed)


register_ops(
    {
        f"masked_var{SPREAD}": lambda **given: _variance(**given),
        f"masked_std{SPREAD}": lambda **given: jnp.sqrt(_variance(**given)),
    },
    **MASKED,
)


def _normalized(name: str, fn: Any, identity_of: Any, of_number: Any, sign: int = 1) -> None:
    """Adds the row of a function of jax.nn along a dim, which gives a 0-d tensor one value, whatever it holds."""

    @register_op(f"masked_{name}{ALONG}", **MASKED)
    def row(input, dim, dtype, mask):
        value = reductions.cast(_filled(input, mask, identity_of(input)), dtype)
        return fn(sign * value, axis=normalize_dim(dim, value.ndim)) if value.ndim else of_number(value)


_normalized("softmax", jax.nn.softmax, _lowest, jnp.ones_like)
_normalized("log_softmax", jax.nn.log_softmax, _lowest, jnp.zeros_like)
_normalized("softmin", jax.nn.softmax, _highest, jnp.ones_like, -1)


@register_op(
    "masked_normalize(Tensor input, float ord, int dim, *, float eps=1e-12, Dtype? dtype=None, Tensor? mask=None) "
    "-> Tensor",
    **MASKED,
)
def masked_normalize(input, ord, dim, eps, dtype, mask):
    size = masked_norm(input, ord, dim, True, dtype, mask)
    return divide(_filled(input, mask, 0), jnp.maximum(size, eps))
