"""Decompositions of matrices: Cholesky, LU, QR, eigenvalues and singular values.

What is computed from them is in `solvers.py` and `matrix_functions.py`; the decomposition of indefinite matrices is in
`indefinite.py`. A function with the ending `_ex` also returns *info*: 0, or the position (from 1) of the first pivot
that makes the decomposition impossible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array, DTypeLike
from jaxaot.errors import ArgumentError, NotDifferentiableError, ShapeMismatchError, TensorError
from jaxaot.ops.linalg import check_matrices, check_square, symmetric
from jaxaot.ops.promotion import is_inexact
from jaxaot.ops.table import LINALG, register_op, register_ops


def without_derivative(fn: Callable[..., Any], reason: str) -> Callable[..., Any]:
    """Returns `fn` with a backward that raises `NotDifferentiableError` with a reason."""
    constant = jax.custom_vjp(fn)

    def forward(*args: object) -> Any:
        return fn(*args), None

    def backward(_: object, __: object) -> Any:
        raise NotDifferentiableError(reason)

    constant.defvjp(forward, backward)
    return constant


# Cholesky


@register_op("cholesky(Tensor self, bool upper=False) -> Tensor")
def cholesky(self, upper):
    check_square("cholesky", self)
    return jnp.linalg.cholesky(symmetric(self, upper), upper=upper, symmetrize_input=False)


@register_op("linalg_cholesky(Tensor A, *, bool upper=False) -> Tensor", **LINALG)
def linalg_cholesky(A, upper):
    check_square("linalg.cholesky", A)
    return cholesky(A, upper)


def _first_bad_pivot(value: Array) -> Array:
    """Returns the order of the first leading minor that is not positive, or 0."""
    n = value.shape[-1]
    after = jnp.arange(n)

    def eliminate(k: Array, carry: Sequence[Any]) -> Any:
        rest, info = carry
        column = jnp.take(rest, k, axis=-1)
        pivot = jnp.take(column, k, axis=-1).real
        info = jnp.where((info == 0) & ~(pivot > 0), k + 1, info)
        below = jnp.where(after > k, column, 0)
        safe = jnp.where(pivot > 0, pivot, 1)[..., None, None]
        return rest - below[..., :, None] * jnp.conj(below[..., None, :]) / safe, info

    info = jnp.zeros(value.shape[:-2], jnp.int32)
    return lax.fori_loop(0, n, eliminate, (lax.stop_gradient(value), info))[1] if n else info


@register_op("cholesky_ex(Tensor A, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)", **LINALG)
def cholesky_ex(A, upper, check_errors):
    """Returns the factor and info; `check_errors` raises where values are at hand: see `value_checks.py`."""
    check_square("linalg.cholesky_ex", A)
    return cholesky(A, upper), _first_bad_pivot(symmetric(lax.stop_gradient(A), upper))


# LU


def lu_values(name: str, A: Array, pivot: bool) -> tuple[Array, Array]:
    """Returns the compact factors and PyTorch's pivots, which count from 1."""
    check_matrices(name, A)
    if not pivot:
        raise ArgumentError(f"{name}: LU without pivoting is not implemented. Write `pivot=True`.")
    if A.size == 0:
        return A, jnp.zeros((*A.shape[:-2], min(A.shape[-2:])), jnp.int32)
    factors, pivots, _ = lax.linalg.lu(A)
    return factors, pivots.astype(jnp.int32) + 1


def zero_pivot(factors: Array) -> Array:
    """Returns info of an LU decomposition: the position of the first zero on its diagonal, or 0."""
    zero = jnp.diagonal(lax.stop_gradient(factors), axis1=-2, axis2=-1) == 0
    if not zero.shape[-1]:
        return jnp.zeros(zero.shape[:-1], jnp.int32)
    return jnp.where(jnp.any(zero, -1), jnp.argmax(zero, -1) + 1, 0).astype(jnp.int32)


@register_op(
    "lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)",
    **LINALG,
)
def lu_factor_ex(A, pivot, check_errors):
    """Returns factors, pivots and info; `check_errors` raises where values are at hand: see `value_checks.py`."""
    factors, pivots = lu_values("linalg.lu_factor_ex", A, pivot)
    return factors, pivots, zero_pivot(factors)


@register_op("lu(Tensor self, bool pivot=True, bool get_infos=False) -> Tensor[]")
def lu(self, pivot, get_infos):
    factors, pivots = lu_values("lu", self, pivot)
    return [factors, pivots, zero_pivot(factors)] if get_infos else [factors, pivots]


def permutation_of(pivots: Array, n: int) -> Array:
    """Returns the order of `n` rows that PyTorch's pivots stand for."""
    if not pivots.shape[-1]:
        return jnp.broadcast_to(jnp.arange(n, dtype=jnp.int32), (*pivots.shape[:-1], n))
    return lax.linalg.lu_pivots_to_permutation(pivots.astype(jnp.int32) - 1, n)


def lower_part(factors: Array) -> Array:
    """Returns L of the compact factors."""
    m, n = factors.shape[-2:]
    return jnp.tril(factors[..., : min(m, n)], -1) + jnp.eye(m, min(m, n), dtype=factors.dtype)


def upper_part(factors: Array) -> Array:
    """Returns U of the compact factors."""
    return jnp.triu(factors[..., : min(factors.shape[-2:]), :])


def permutation_matrix(order: Array, dtype: DTypeLike) -> Array:
    """Returns the matrix P of `P @ (rows in that order) = rows`."""
    return (jnp.arange(order.shape[-1])[:, None] == order[..., None, :]).astype(dtype)


@register_op(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) "
    "-> (Tensor P, Tensor L, Tensor U)",
    method=False,
)
def lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots):
    nothing = jnp.zeros((0,), LU_data.dtype)
    order = permutation_of(LU_pivots, LU_data.shape[-2]) if unpack_pivots else None
    P = nothing if order is None else permutation_matrix(order, LU_data.dtype)
    return (P, lower_part(LU_data), upper_part(LU_data)) if unpack_data else (P, nothing, nothing)


register_ops({
    "lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)":
        lambda A, pivot: lu_values("linalg.lu_factor", A, pivot),
    "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)":
        lambda A, pivot: lu_unpack(*lu_values("linalg.lu", A, pivot), True, True),
}, **LINALG)  # fmt: skip


# QR


def _qr_reduced(A: Array) -> tuple[Array, Array]:
    m, n = A.shape[-2:]
    if 0 in (m, n):
        return jnp.zeros((*A.shape[:-1], min(m, n)), A.dtype), jnp.zeros((*A.shape[:-2], min(m, n), n), A.dtype)
    if m >= n:
        Q, R = jnp.linalg.qr(A)
        return Q, R
    # the first m columns determine Q, also for the derivative
    Q, R = jnp.linalg.qr(A[..., :m])
    return Q, jnp.concatenate([R, jnp.conj(Q.mT) @ A[..., m:]], -1)


def _qr_complete(A: Array) -> tuple[Array, Array]:
    if A.shape[-1] == 0:
        return jnp.broadcast_to(jnp.eye(A.shape[-2], dtype=A.dtype), (*A.shape[:-1], A.shape[-2])), A
    Q, R = jnp.linalg.qr(A, mode="complete")
    return Q, R


_qr_complete_constant = without_derivative(
    _qr_complete, "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
)
_qr_triangle_constant = without_derivative(
    lambda A: _qr_reduced(A)[1],
    "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
    "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.",
)


def qr_values(A: Array, mode: str) -> tuple[Array, Array]:
    """Returns Q and R in one of PyTorch's modes."""
    check_matrices("linalg.qr", A)
    if mode == "r":
        return jnp.zeros((0,), A.dtype), _qr_triangle_constant(A)
    if mode == "complete" and A.shape[-2] > A.shape[-1]:
        return _qr_complete_constant(A)
    if mode not in ("reduced", "complete"):
        raise ArgumentError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    return _qr_reduced(A)


register_op("linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)", **LINALG)(qr_values)
register_op("qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)")(
    lambda self, some: qr_values(self, "reduced" if some else "complete")
)


def _geqrf(A: Array) -> tuple[Array, Array]:
    if A.size == 0:
        return A, jnp.zeros((*A.shape[:-2], min(A.shape[-2:])), A.dtype)
    reflectors, scales = jnp.linalg.qr(A, mode="raw")
    return reflectors.mT, scales


_geqrf_constant = without_derivative(
    _geqrf, "the derivative for 'geqrf' is not implemented. Write `linalg.qr(A)`, which has one."
)


@register_op("geqrf(Tensor self) -> (Tensor a, Tensor tau)")
def geqrf(self):
    check_matrices("geqrf", self)
    return _geqrf_constant(self)


def _reflections(reflectors: Array, scales: Array) -> tuple[Array, Array]:
    """Returns V, T of the product of Householder reflections, `I - V T Vᴴ` (Joffrain et al., 2006)."""
    k, m = scales.shape[-1], reflectors.shape[-2]
    V = jnp.tril(reflectors[..., :k], -1) + jnp.eye(m, k, dtype=reflectors.dtype)
    crossed = jnp.triu(jnp.conj(V.mT) @ V, 1) * scales[..., None, :]
    eye = jnp.broadcast_to(jnp.eye(k, dtype=V.dtype), crossed.shape)
    inverse = lax.linalg.triangular_solve(crossed + eye, eye, left_side=True, unit_diagonal=True) if k else eye
    return V, scales[..., :, None] * inverse


@register_op("householder_product(Tensor A, Tensor tau) -> Tensor", **LINALG)
def householder_product(A, tau):
    check_matrices("linalg.householder_product", A)
    m, n, k = *A.shape[-2:], tau.shape[-1]
    if m < n or n < k:
        raise ShapeMismatchError(
            "linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1], and "
            f"input.shape[-1] to tau.shape[-1], but they are {m}, {n} and {k}"
        )
    V, T = _reflections(A, tau)
    return jnp.eye(m, n, dtype=A.dtype) - V @ (T @ jnp.conj(V[..., :n, :].mT))


register_op("orgqr(Tensor self, Tensor input2) -> Tensor")(lambda self, input2: householder_product(self, input2))


@register_op("ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor")
def ormqr(self, input2, input3, left, transpose):
    """Returns the product of Q, given by its reflections, with another matrix."""
    rows = input3.shape[-2] if left else input3.shape[-1]
    if self.shape[-2] != rows:
        raise ShapeMismatchError(
            f"ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2], but they are {rows} and "
            f"{self.shape[-2]}"
        )
    V, T = _reflections(self, input2)
    T = jnp.conj(T.mT) if transpose else T
    if left:
        return input3 - V @ (T @ (jnp.conj(V.mT) @ input3))
    return input3 - ((input3 @ V) @ T) @ jnp.conj(V.mT)


# Eigenvalues


@register_op("eig(Tensor A) -> (Tensor eigenvalues, Tensor eigenvectors)", **LINALG)
def eig(A):
    check_square("linalg.eig", A)
    if A.size == 0:
        dtype = jnp.promote_types(A.dtype, jnp.complex64)
        return jnp.zeros(A.shape[:-1], dtype), jnp.zeros(A.shape, dtype)
    return _eig(A)


@jax.custom_jvp
def _eig(A: Array) -> tuple[Array, Array]:
    values, vectors = jnp.linalg.eig(A)
    return values, vectors


@_eig.defjvp
def _eig_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Boeddeker et al., On the Computation of Complex-valued Gradients (2017), 4.77; vectors keep their norm 1."""
    values, vectors = _eig(primals[0])
    moved = jnp.linalg.solve(vectors, tangents[0].astype(vectors.dtype) @ vectors)
    eye = jnp.eye(values.shape[-1], dtype=bool)
    gaps = jnp.where(eye, 1, values[..., None, :] - values[..., :, None])
    turned = vectors @ jnp.where(eye, 0, moved / gaps)
    along = jnp.sum(jnp.conj(vectors) * turned, axis=-2, keepdims=True).real
    return (values, vectors), (jnp.diagonal(moved, axis1=-2, axis2=-1), turned - vectors * along)


@register_op("eigvals(Tensor A) -> Tensor", **LINALG)
def eigvals(A):
    check_square("linalg.eigvals", A)
    return eig(A)[0]


def _upper(name: str, UPLO: str) -> bool:
    if UPLO.upper() not in ("L", "U"):
        raise ArgumentError(f"{name}: Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper() == "U"


@register_op("eigh(Tensor A, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)", **LINALG)
def eigh(A, UPLO):
    check_square("linalg.eigh", A)
    return tuple(jnp.linalg.eigh(symmetric(A, _upper("linalg.eigh", UPLO)), symmetrize_input=False))


@register_op("eigvalsh(Tensor A, str UPLO='L') -> Tensor", **LINALG)
def eigvalsh(A, UPLO):
    check_square("linalg.eigvalsh", A)
    return jnp.linalg.eigvalsh(symmetric(A, _upper("linalg.eigvalsh", UPLO)), symmetrize_input=False)


@partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def _extreme_eigenpairs(A: Array, k: int, largest: bool) -> tuple[Array, Array]:
    """Returns the k largest eigenvalues of symmetric matrices, descending, or smallest, ascending, with vectors.

    Vectors of equal eigenvalues beyond the first k take no part in gradients.
    """
    values, vectors = _ordered_eigenpairs(A, largest)
    return values[..., :k], vectors[..., :k]


def _ordered_eigenpairs(A: Array, largest: bool) -> tuple[Array, Array]:
    values, vectors = jnp.linalg.eigh(A, symmetrize_input=False)
    return (values[..., ::-1], vectors[..., ::-1]) if largest else (values, vectors)


@_extreme_eigenpairs.defjvp
def _extreme_eigenpairs_jvp(k: int, largest: bool, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    values, vectors = _ordered_eigenpairs(primals[0], largest)
    kept, columns = values[..., :k], vectors[..., :k]
    moved = jnp.conj(vectors.mT) @ tangents[0] @ columns
    eye = jnp.eye(values.shape[-1], k, dtype=bool)
    gaps = jnp.where(eye, 1, kept[..., None, :] - values[..., :, None])
    turned = vectors @ jnp.where(eye, 0, moved / gaps)
    return (kept, columns), (jnp.diagonal(moved, axis1=-2, axis2=-1).real.astype(kept.dtype), turned)


@register_op(
    "lobpcg(Tensor A, int? k=None, Tensor? B=None, Tensor? X=None, int? n=None, Tensor? iK=None, int? niter=None, "
    "float? tol=None, bool? largest=None, str? method=None, Any tracker=None, Any ortho_iparams=None, "
    "Any ortho_fparams=None, Any ortho_bparams=None) -> (Tensor, Tensor)",
    method=False,
)
def lobpcg(A, k, B, X, n, iK, niter, tol, largest, method, tracker, ortho_iparams, ortho_fparams, ortho_bparams):
    """Returns extreme eigenpairs by a full decomposition: what steers the iterations of PyTorch has no effect."""
    check_square("lobpcg", A)
    A = A if is_inexact(A.dtype) else A.astype(jnp.float32)
    if tracker is not None:
        raise ArgumentError(
            "lobpcg: `tracker` is called at each iteration, and there are none here: eigenpairs come from "
            "`ja.linalg.eigh`. Leave it out."
        )
    if method not in (None, "basic", "ortho"):
        raise ArgumentError(f'lobpcg: `method` must be "basic" or "ortho", but got {method!r}')
    size = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    if not 0 < k <= size:
        raise ArgumentError(f"lobpcg: `k` must be between 1 and {size}, the number of rows of A, but got {k}")
    if X is not None and X.shape[-2] != size:
        raise ShapeMismatchError(f"lobpcg: `X` must have a row for each of the {size} rows of A, but has {X.shape[-2]}")
    symmetric_A = (A + jnp.conj(A.mT)) / 2
    if B is None:
        return _extreme_eigenpairs(symmetric_A, k, largest is not False)
    if B.shape != A.shape:
        raise ShapeMismatchError(f"lobpcg: A and B must have the same shape, but got {A.shape} and {B.shape}")
    factor = jnp.linalg.cholesky((B + jnp.conj(B.mT)) / 2, symmetrize_input=False)
    solve = partial(lax.linalg.triangular_solve, factor, left_side=True, lower=True)
    half = solve(symmetric_A)
    reduced = jnp.conj(solve(jnp.conj(half.mT)).mT)
    values, vectors = _extreme_eigenpairs((reduced + jnp.conj(reduced.mT)) / 2, k, largest is not False)
    return values, solve(vectors, transpose_a=True, conjugate_a=True)


# Singular values


def svd_values(A: Array, full_matrices: bool) -> tuple[Array, Array, Array]:
    """Returns U, S and Vᴴ. Vectors beyond the singular values are arbitrary and take no part in gradients."""
    check_matrices("linalg.svd", A)
    m, n = A.shape[-2:]
    if A.size == 0:
        left = jnp.eye(m, m if full_matrices else 0, dtype=A.dtype) if n == 0 else jnp.zeros((m, min(m, n)), A.dtype)
        right = jnp.eye(n if full_matrices else 0, n, dtype=A.dtype) if m == 0 else jnp.zeros((min(m, n), n), A.dtype)
        batch = A.shape[:-2]
        values = jnp.zeros((*batch, min(m, n)), A.real.dtype)
        return jnp.broadcast_to(left, batch + left.shape), values, jnp.broadcast_to(right, batch + right.shape)
    left, values, right = jnp.linalg.svd(A, full_matrices=False)
    if full_matrices and m > n:
        left = jnp.concatenate([left, _complement(left)], -1)
    if full_matrices and n > m:
        right = jnp.concatenate([right, jnp.conj(_complement(jnp.conj(right.mT)).mT)], -2)
    return left, values, right


def _complement(orthonormal: Array) -> Array:
    """Returns orthonormal columns that complete the given ones to a basis."""
    columns = lax.stop_gradient(orthonormal)
    return lax.stop_gradient(jnp.linalg.qr(columns, mode="complete")[0][..., orthonormal.shape[-1] :])


def singular_values(A: Array) -> Array:
    """Returns the singular values alone."""
    if A.size == 0:
        return jnp.zeros((*A.shape[:-2], min(A.shape[-2:])), A.real.dtype)
    return jnp.linalg.svd(A, compute_uv=False)


@register_op(
    "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)", **LINALG
)
def linalg_svd(A, full_matrices, driver):
    """Returns U, S and Vh; `driver` names CUDA algorithms, and JAX chooses its own."""
    return svd_values(A, full_matrices)


@register_op("svdvals(Tensor A, *, str? driver=None) -> Tensor", **LINALG)
def svdvals(A, driver):
    check_matrices("linalg.svdvals", A)
    return singular_values(A)


@register_op("svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)")
def svd(self, some, compute_uv):
    if not compute_uv:
        m, n = self.shape[-2:]
        batch = self.shape[:-2]
        return jnp.zeros((*batch, m, m), self.dtype), singular_values(self), jnp.zeros((*batch, n, n), self.dtype)
    left, values, right = svd_values(self, not some)
    return left, values, jnp.conj(right.mT)


def _low_rank(key: Array, A: Array, q: int, niter: int) -> tuple[Array, Array, Array]:
    """Halko, Martinsson and Tropp, Finding structure with randomness (2009), algorithm 5.1."""
    if A.shape[-2] < A.shape[-1]:
        left, values, right = _low_rank(key, jnp.conj(A.mT), q, niter)
        return right, values, left
    drawn = jax.random.normal(key, (A.shape[-1], q), A.dtype)
    basis = _qr_reduced(A @ drawn)[0]
    for _ in range(niter):
        basis = _qr_reduced(jnp.conj(A.mT) @ basis)[0]
        basis = _qr_reduced(A @ basis)[0]
    left, values, right = svd_values(jnp.conj(basis.mT) @ A, False)
    return basis @ left, values, jnp.conj(right.mT)


@register_op(
    "svd_lowrank(Tensor A, int? q=6, int? niter=2, Tensor? M=None) -> (Tensor, Tensor, Tensor)",
    random=True,
    method=False,
)
def svd_lowrank(key, A, q, niter, M):
    difference = A if M is None else A - jnp.broadcast_to(M, A.shape)
    return _low_rank(key, difference, 6 if q is None else q, 2 if niter is None else niter)


@register_op(
    "pca_lowrank(Tensor A, int? q=None, bool center=True, int niter=2) -> (Tensor, Tensor, Tensor)",
    random=True,
    method=False,
)
def pca_lowrank(key, A, q, center, niter):
    check_matrices("pca_lowrank", A)
    largest = min(A.shape[-2:])
    q = min(6, largest) if q is None else q
    if not 0 <= q <= largest:
        raise TensorError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={largest}")
    if niter < 0:
        raise TensorError(f"niter(={niter}) must be non-negative integer")
    return _low_rank(key, A - jnp.mean(A, axis=-2, keepdims=True) if center else A, q, niter)
