"""Decompositions, solvers and norms of matrices: `ja.linalg`."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import lax
from jax.scipy import linalg as jsl

from jaxaot.errors import ArgumentError
from jaxaot.ops.dims import normalize_dims
from jaxaot.ops.elementwise import absolute
from jaxaot.ops.linalg import check_square, symmetric, vander_values
from jaxaot.ops.promotion import default_int
from jaxaot.ops.reductions import cast, vector_norm_values
from jaxaot.ops.table import register_op

LINALG: dict[str, Any] = {"method": False, "namespaces": ("linalg",)}


@register_op("inverse(Tensor self) -> Tensor")
def inverse(self):
    check_square("linalg.inv", self)
    return jnp.linalg.inv(self)


@register_op("inv(Tensor A) -> Tensor", **LINALG)
def inv(A):
    return inverse(A)


@register_op("pinverse(Tensor self, float rcond=1e-15) -> Tensor")
def pinverse(self, rcond):
    return jnp.linalg.pinv(self, rtol=rcond)


@register_op("pinv(Tensor A, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor", **LINALG)
def pinv(A, atol, rtol, hermitian):
    if atol is not None:
        raise ArgumentError(
            "linalg.pinv takes `rtol`, relative to the largest singular value; `atol` is not known here"
        )
    return jnp.linalg.pinv(symmetric(A, False) if hermitian else A, rtol=rtol, hermitian=hermitian)


@register_op("det(Tensor self) -> Tensor", namespaces=("", "linalg"))
def det(self):
    check_square("linalg.det", self)
    return jnp.linalg.det(self) if self.shape[-1] else jnp.ones(self.shape[:-2], self.dtype)


@register_op("slogdet(Tensor self) -> (Tensor, Tensor)", namespaces=("", "linalg"))
def slogdet(self):
    check_square("linalg.slogdet", self)
    return tuple(jnp.linalg.slogdet(self))


@register_op("logdet(Tensor self) -> Tensor")
def logdet(self):
    sign, size = jnp.linalg.slogdet(self)
    return jnp.where(sign < 0, jnp.nan, size)


@register_op("solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", **LINALG)
def solve(A, B, left):
    check_square("linalg.solve", A)
    is_vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1])
    if is_vector:
        return jnp.linalg.solve(A, B[..., None])[..., 0]
    if left:
        return jnp.linalg.solve(A, B)
    return jnp.linalg.solve(A.mT, B.mT).mT


@register_op(
    "solve_triangular(Tensor A, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor", **LINALG
)
def solve_triangular(A, B, upper, left, unitriangular):
    check_square("linalg.solve_triangular", A)
    batch = jnp.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    A, B = jnp.broadcast_to(A, batch + A.shape[-2:]), jnp.broadcast_to(B, batch + B.shape[-2:])
    return lax.linalg.triangular_solve(A, B, left_side=left, lower=not upper, unit_diagonal=unitriangular)


@register_op("cholesky(Tensor self, bool upper=False) -> Tensor")
def cholesky(self, upper):
    check_square("cholesky", self)
    return jnp.linalg.cholesky(symmetric(self, upper), upper=upper)


@register_op("linalg_cholesky(Tensor A, *, bool upper=False) -> Tensor", **LINALG)
def linalg_cholesky(A, upper):
    return cholesky(A, upper)


@register_op("cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor")
def cholesky_solve(self, input2, upper):
    return jsl.cho_solve((input2, not upper), self)


@register_op("qr(Tensor A, str mode='reduced') -> (Tensor, Tensor)", **LINALG)
def qr(A, mode):
    if mode == "r":
        return jnp.zeros((0,), A.dtype), jnp.linalg.qr(A, mode="r")
    return tuple(jnp.linalg.qr(A, mode=mode))


@register_op("svd(Tensor A, bool full_matrices=True) -> (Tensor, Tensor, Tensor)", **LINALG)
def svd(A, full_matrices):
    if not full_matrices or A.shape[-1] == A.shape[-2]:
        return tuple(jnp.linalg.svd(A, full_matrices=False))
    # the vectors that span the rest of the space are arbitrary and have no derivative; the values have one
    left, _, right = jnp.linalg.svd(lax.stop_gradient(A), full_matrices=True)
    return left, jnp.linalg.svd(A, compute_uv=False), right


@register_op("svdvals(Tensor A) -> Tensor", **LINALG)
def svdvals(A):
    return jnp.linalg.svd(A, compute_uv=False)


@register_op("eigh(Tensor A, str UPLO='L') -> (Tensor, Tensor)", **LINALG)
def eigh(A, UPLO):
    check_square("linalg.eigh", A)
    return tuple(jnp.linalg.eigh(symmetric(A, UPLO == "U")))


@register_op("eigvalsh(Tensor A, str UPLO='L') -> Tensor", **LINALG)
def eigvalsh(A, UPLO):
    check_square("linalg.eigvalsh", A)
    return jnp.linalg.eigvalsh(symmetric(A, UPLO == "U"))


@register_op("matrix_exp(Tensor self) -> Tensor", namespaces=("", "linalg"))
def matrix_exp(self):
    check_square("linalg.matrix_exp", self)
    return jnp.vectorize(jsl.expm, signature="(n,n)->(n,n)")(self) if self.ndim > 2 else jsl.expm(self)


@register_op(
    "matrix_rank(Tensor A, *, float? rtol=None, bool hermitian=False) -> Tensor", differentiable=False, **LINALG
)
def matrix_rank(A, rtol, hermitian):
    values = jnp.abs(jnp.linalg.eigvalsh(symmetric(A, False))) if hermitian else jnp.linalg.svd(A, compute_uv=False)
    bound = max(A.shape[-2:]) * jnp.finfo(A.dtype).eps if rtol is None else rtol
    return jnp.sum(values > bound * jnp.max(values, axis=-1, keepdims=True), axis=-1).astype(default_int())


@register_op(
    "vector_norm(Tensor x, Any ord=2, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor", **LINALG
)
def vector_norm(x, ord, dim, keepdim, dtype):
    return vector_norm_values(cast(x, dtype), float(ord), normalize_dims(dim, x.ndim), keepdim)


@register_op(
    "matrix_norm(Tensor A, Any ord='fro', Any dim=(-2, -1), bool keepdim=False, *, Dtype? dtype=None) -> Tensor",
    **LINALG,
)
def matrix_norm(A, ord, dim, keepdim, dtype):
    rows, columns = normalize_dims(dim, A.ndim)
    value = cast(A, dtype)
    if ord == "fro":
        return vector_norm_values(value, 2.0, (rows, columns), keepdim)
    value = jnp.moveaxis(value, (rows, columns), (-2, -1))
    if ord in ("nuc", 2, -2):
        values = jnp.linalg.svd(value, compute_uv=False)
        result = {"nuc": jnp.sum, 2: jnp.max, -2: jnp.min}[ord](values, axis=-1)
    elif ord in (1, -1, math.inf, -math.inf):
        summed = jnp.sum(absolute(value), axis=-2 if abs(ord) == 1 else -1)
        result = (jnp.max if ord > 0 else jnp.min)(summed, axis=-1)
    else:
        raise ArgumentError(f"linalg.matrix_norm: Order {ord} not supported.")
    return jnp.expand_dims(result, sorted((rows, columns))) if keepdim else result


@register_op(
    "linalg_norm(Tensor A, Any ord=None, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor", **LINALG
)
def linalg_norm(A, ord, dim, keepdim, dtype):
    two = (dim is None and A.ndim == 2 and ord is not None) or (isinstance(dim, tuple) and len(dim) == 2)
    if two and ord is not None:
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype)


@register_op("cond(Tensor A, Any p=None) -> Tensor", **LINALG)
def cond(A, p):
    if p in (None, 2, -2):
        values = jnp.linalg.svd(A, compute_uv=False)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    return matrix_norm(A, p, (-2, -1), False, None) * matrix_norm(jnp.linalg.inv(A), p, (-2, -1), False, None)


@register_op("lstsq(Tensor A, Tensor B, float? rcond=None) -> Tensor", **LINALG)
def lstsq(A, B, rcond):
    """Returns the solution alone, of PyTorch's four results."""
    return jnp.linalg.pinv(A, rtol=rcond) @ B


@register_op("lu_factor(Tensor A) -> (Tensor, Tensor)", **LINALG)
def lu_factor(A):
    lu, pivots, _ = lax.linalg.lu(A)
    return lu, pivots + 1


@register_op("lu(Tensor A) -> (Tensor, Tensor, Tensor)", **LINALG)
def lu(A):
    return tuple(jsl.lu(A))


@register_op("tensorinv(Tensor A, int ind=2) -> Tensor", **LINALG)
def tensorinv(A, ind):
    return jnp.linalg.tensorinv(A, ind)


@register_op("linalg_vander(Tensor x, *, int? N=None) -> Tensor", **LINALG)
def linalg_vander(x, N):
    x = jnp.atleast_1d(x)
    return vander_values(x, x.shape[-1] if N is None else N, increasing=True)
