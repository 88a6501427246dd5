"""Functions of matrices: determinants, powers, exponentials, norms and condition numbers."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax.scipy import linalg as jsl

from jaxaot._typing import Array, DTypeLike, Sizes
from jaxaot.errors import ArgumentError, TensorError
from jaxaot.ops.decompositions import singular_values
from jaxaot.ops.dims import normalize_dims
from jaxaot.ops.elementwise import absolute
from jaxaot.ops.half_precision import widened
from jaxaot.ops.linalg import check_matrices, check_square
from jaxaot.ops.promotion import is_complex, is_inexact
from jaxaot.ops.reductions import cast, vector_norm_values
from jaxaot.ops.table import LINALG, register_op


@register_op("det(Tensor self) -> Tensor", namespaces=("", "linalg"))
def det(self):
    check_square("linalg.det", self)
    return jnp.linalg.det(self) if self.size else jnp.ones(self.shape[:-2], self.dtype)


def _slogdet(name: str, value: Array) -> tuple[Array, Array]:
    check_square(name, value)
    if value.size == 0:
        return jnp.ones(value.shape[:-2], value.dtype), jnp.zeros(value.shape[:-2], value.real.dtype)
    return tuple(jnp.linalg.slogdet(value))


@register_op("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", namespaces=("", "linalg"))
def slogdet(self):
    return _slogdet("linalg.slogdet", self)


@register_op("logdet(Tensor self) -> Tensor")
def logdet(self):
    sign, size = _slogdet("logdet", self)
    if is_complex(self.dtype):
        return jnp.log(sign) + size
    return jnp.where(sign < 0, jnp.nan, size)


@register_op("matrix_exp(Tensor self) -> Tensor", namespaces=("", "linalg"))
def matrix_exp(self):
    check_square("linalg.matrix_exp", self)
    if self.size == 0:
        return self
    value = widened(self)  # JAX has it for no halves
    value = jnp.vectorize(jsl.expm, signature="(n,n)->(n,n)")(value) if self.ndim > 2 else jsl.expm(value)
    return value.astype(self.dtype)


@register_op("matrix_power(Tensor self, int n) -> Tensor", namespaces=("", "linalg"))
def matrix_power(self, n):
    check_square("linalg.matrix_power", self)
    return jnp.linalg.matrix_power(self, n) if self.size else self


# Norms


def _need_inexact(name: str, value: Array, dtype: DTypeLike | None) -> Array:
    value = cast(value, dtype)
    if not is_inexact(value.dtype):
        raise TensorError(
            f"{name}: Expected a floating point or complex tensor as input. Got {value.dtype}. Convert it with "
            "`.float()` first."
        )
    return value


def _order(name: str, ord: Any) -> float:
    if isinstance(ord, str):
        raise ArgumentError(f"{name}: Order {ord} not supported for vectors; give a number.")
    return float(ord)


@register_op(
    "vector_norm(Tensor x, Any ord=2, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor", **LINALG
)
def vector_norm(x, ord, dim, keepdim, dtype):
    x = _need_inexact("linalg.vector_norm", x, dtype)
    return vector_norm_values(x, _order("linalg.vector_norm", ord), normalize_dims(dim, x.ndim), keepdim)


def _extreme(value: Array, ord: Any) -> Array:
    if value.shape[-1]:
        return (jnp.max if ord > 0 else jnp.min)(value, axis=-1)
    if ord < 0:
        raise TensorError(
            f"linalg.matrix_norm: the norm of order {ord} of an empty matrix has no value, since the minimum of "
            "nothing has none."
        )
    return jnp.zeros(value.shape[:-1], value.dtype)


def matrix_norm_values(name: str, A: Array, ord: Any, dim: Sizes, keepdim: bool, dtype: DTypeLike | None) -> Array:
    """Returns norms of the matrices along two dims."""
    check_matrices(name, A)
    axes = normalize_dims(dim, A.ndim)
    if len(axes) != 2:
        raise ArgumentError(f"{name}: dim must be a 2-tuple. Got {dim}")
    value = _need_inexact(name, A, dtype)
    if ord == "fro":
        return vector_norm_values(value, 2.0, axes, keepdim)
    value = jnp.moveaxis(value, axes, (-2, -1))
    if ord == "nuc":
        result = jnp.sum(singular_values(value), axis=-1)
    elif ord in (2, -2):
        result = _extreme(singular_values(value), ord)
    elif ord in (1, -1, math.inf, -math.inf):
        result = _extreme(jnp.sum(absolute(value), axis=-2 if abs(ord) == 1 else -1), ord)
    else:
        raise ArgumentError(f"{name}: Order {ord} not supported.")
    return jnp.expand_dims(result, sorted(axes)) if keepdim else result


@register_op(
    "matrix_norm(Tensor A, Any ord='fro', Any dim=(-2, -1), bool keepdim=False, *, Dtype? dtype=None) -> Tensor",
    **LINALG,
)
def matrix_norm(A, ord, dim, keepdim, dtype):
    return matrix_norm_values("linalg.matrix_norm", A, ord, dim, keepdim, dtype)


@register_op(
    "linalg_norm(Tensor A, Any ord=None, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor", **LINALG
)
def linalg_norm(A, ord, dim, keepdim, dtype):
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype)
    if dim is None and A.ndim not in (1, 2):
        raise TensorError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D."
        )
    if (dim is None and A.ndim == 2) or (isinstance(dim, tuple) and len(dim) == 2):
        return matrix_norm_values("linalg.norm", A, ord, (-2, -1) if dim is None else dim, keepdim, dtype)
    A = _need_inexact("linalg.norm", A, dtype)
    return vector_norm_values(A, _order("linalg.norm", ord), normalize_dims(dim, A.ndim), keepdim)


@register_op("cond(Tensor self, Any p=None) -> Tensor", **LINALG)
def cond(self, p):
    check_matrices("linalg.cond", self)
    if p in (None, 2, -2):
        values = singular_values(self)
        if values.shape[-1] == 0:
            return jnp.zeros(values.shape[:-1], values.dtype)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    check_square("linalg.cond", self)
    if self.size == 0:
        return jnp.zeros(self.shape[:-2], self.real.dtype)
    inverse = jnp.linalg.inv(self)
    product = [matrix_norm_values("linalg.cond", value, p, (-2, -1), False, None) for value in (self, inverse)]
    result = product[0] * product[1]
    return jnp.where(jnp.isnan(result) & jnp.all(jnp.isfinite(self), axis=(-2, -1)), jnp.inf, result)
