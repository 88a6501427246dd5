"""Systems of linear equations, least squares, and what their factorisations are used for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy import linalg as jsl

from jaxaot._typing import Array
from jaxaot.errors import ArgumentError, ShapeMismatchError, TensorError
from jaxaot.ops.decompositions import lower_part, lu_values, permutation_of, singular_values, upper_part, zero_pivot
from jaxaot.ops.dims import broadcast_shapes, normalize_dim
from jaxaot.ops.linalg import check_matrices, check_square, symmetric
from jaxaot.ops.promotion import default_int
from jaxaot.ops.table import LINALG, register_op


def is_vector(A: Array, B: Array) -> bool:
    """Returns whether the right-hand side holds vectors, not matrices."""
    return B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1])


def _batched(*operands: Array) -> list[Array]:
    """Returns matrices broadcast to common leading dims."""
    batch = broadcast_shapes(*(operand.shape[:-2] for operand in operands))
    return [jnp.broadcast_to(operand, batch + operand.shape[-2:]) for operand in operands]


def _triangular(A: Array, B: Array, **kwargs: Any) -> Array:
    A, B = _batched(A, B)
    return jnp.zeros(B.shape, B.dtype) if B.size == 0 else lax.linalg.triangular_solve(A, B, **kwargs)


def _check_rows(name: str, A: Array, B: Array, left: bool) -> None:
    axis = -2 if left else -1
    if B.ndim < 2 or A.shape[-1] != B.shape[axis]:
        order = "AX = B" if left else "XA = B"
        raise ShapeMismatchError(
            f"{name}: Incompatible shapes of A and B for the equation {order} ({A.shape[-2]}x{A.shape[-1]} and "
            f"{'x'.join(str(size) for size in B.shape[-2:])})"
        )


# With one matrix


def _solve(name: str, A: Array, B: Array, left: bool) -> Array:
    check_square(name, A)
    if is_vector(A, B):
        if not left:
            raise ArgumentError(
                f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In this case "
                f"{name} is equivalent to B / A.squeeze(-1)"
            )
        return _solve(name, A, B[..., None], True)[..., 0]
    _check_rows(name, A, B, left)
    if not left:
        return _solve(name, A.mT, B.mT, True).mT
    A, B = _batched(A, B)
    return jnp.zeros(B.shape, B.dtype) if B.size == 0 else jnp.linalg.solve(A, B)


@register_op("solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", **LINALG)
def solve(A, B, left):
    return _solve("linalg.solve", A, B, left)


@register_op(
    "solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)", **LINALG
)
def solve_ex(A, B, left, check_errors):
    """Returns the solution and info; `check_errors` raises where values are at hand: see `value_checks.py`."""
    result = _solve("linalg.solve_ex", A, B, left)
    return result, zero_pivot(lu_values("linalg.solve_ex", lax.stop_gradient(A), True)[0])


@register_op("inverse(Tensor self) -> Tensor")
def inverse(self):
    check_square("linalg.inv", self)
    return jnp.linalg.inv(self) if self.size else self


register_op("inv(Tensor A) -> Tensor", **LINALG)(lambda A: inverse(A))


@register_op("inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)", **LINALG)
def inv_ex(A, check_errors):
    """Returns the inverse and info; `check_errors` raises where values are at hand: see `value_checks.py`."""
    return inverse(A), zero_pivot(lu_values("linalg.inv_ex", lax.stop_gradient(A), True)[0])


@register_op("tensorinv(Tensor self, int ind=2) -> Tensor", **LINALG)
def tensorinv(self, ind):
    if ind <= 0:
        raise TensorError("Expected a strictly positive integer for 'ind'")
    rows, columns = self.shape[:ind], self.shape[ind:]
    if math.prod(rows) != math.prod(columns):
        raise ShapeMismatchError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{math.prod(columns)} != {math.prod(rows)}"
        )
    return inverse(self.reshape(math.prod(rows), -1) if self.size else self.reshape(0, 0)).reshape(columns + rows)


@register_op("tensorsolve(Tensor self, Tensor other, Any dims=None) -> Tensor", **LINALG)
def tensorsolve(self, other, dims):
    if dims is not None:
        axes = [normalize_dim(dim, self.ndim) for dim in ((dims,) if isinstance(dims, int) else dims)]
        self = jnp.moveaxis(self, axes, range(self.ndim - len(axes), self.ndim))
    result = self.shape[other.ndim :]
    if math.prod(result) != math.prod(self.shape[: other.ndim]):
        raise ShapeMismatchError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {math.prod(result)} != {math.prod(self.shape[: other.ndim])}"
        )
    n = math.prod(result)
    return _solve("linalg.tensorsolve", self.reshape(n, n), other.reshape(-1), True).reshape(result)


# With factors of it


@register_op(
    "solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
    **LINALG,
)
def solve_triangular(self, B, upper, left, unitriangular):
    check_square("linalg.solve_triangular", self)
    _check_rows("linalg.solve_triangular", self, B, left)
    return _triangular(self, B, left_side=left, lower=not upper, unit_diagonal=unitriangular)


@register_op(
    "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) "
    "-> (Tensor solution, Tensor cloned_coefficient)"
)
def triangular_solve(self, A, upper, transpose, unitriangular):
    check_square("triangular_solve", A)
    _check_rows("triangular_solve", A, self, True)
    solution = _triangular(A, self, left_side=True, lower=not upper, transpose_a=transpose, unit_diagonal=unitriangular)
    return solution, _batched(A, self)[0]


def _cholesky_solve(B: Array, factor: Array) -> Array:
    """Returns the solution of `factor @ factorᴴ @ X = B`, with the derivatives of that product: all of the factor's.

    The values of the product are those of its lower part, as in PyTorch.
    """
    lower, whole = jnp.tril(factor), factor @ jnp.conj(factor.mT)
    product = whole + jax.lax.stop_gradient(lower @ jnp.conj(lower.mT) - whole)
    held = jax.lax.stop_gradient(factor)
    return jax.lax.custom_linear_solve(
        lambda X: product @ X,
        B,
        lambda _, right: jsl.cho_solve((held, True), right),
        lambda _, right: jnp.conj(jsl.cho_solve((held, True), jnp.conj(right))),
    )


@register_op("cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor")
def cholesky_solve(self, input2, upper):
    check_square("cholesky_solve", input2)
    _check_rows("cholesky_solve", input2, self, True)
    B, factor = _batched(self, jnp.conj(input2.mT) if upper else input2)
    return jnp.zeros(B.shape, B.dtype) if B.size == 0 else _cholesky_solve(B, factor)


@register_op("cholesky_inverse(Tensor self, bool upper=False) -> Tensor")
def cholesky_inverse(self, upper):
    check_square("cholesky_inverse", self)
    return cholesky_solve(jnp.eye(self.shape[-1], dtype=self.dtype), self, upper)


def _lu_solve(name: str, LU: Array, pivots: Array, B: Array, left: bool, adjoint: bool) -> Array:
    check_square(name, LU)
    _check_rows(name, LU, B, left)
    if not left:
        return jnp.conj(_lu_solve(name, LU, pivots, jnp.conj(B.mT), True, not adjoint).mT)
    lower, upper, B = _batched(lower_part(LU), upper_part(LU), B)
    order = jnp.broadcast_to(permutation_of(pivots, B.shape[-2]), B.shape[:-1])[..., None]
    if adjoint:
        half = _triangular(upper, B, left_side=True, transpose_a=True, conjugate_a=True)
        permuted = _triangular(lower, half, left_side=True, lower=True, transpose_a=True, conjugate_a=True)
        return jnp.take_along_axis(permuted, jnp.argsort(order, axis=-2), -2)
    half = _triangular(lower, jnp.take_along_axis(B, order, -2), left_side=True, lower=True)
    return _triangular(upper, half, left_side=True)


@register_op(
    "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor", **LINALG
)
def linalg_lu_solve(LU, pivots, B, left, adjoint):
    return _lu_solve("linalg.lu_solve", LU, pivots, B, left, adjoint)


@register_op("lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor")
def lu_solve(self, LU_data, LU_pivots):
    return _lu_solve("lu_solve", LU_data, LU_pivots, self, True, False)


# By singular values


def _tolerances(value: Array, atol: Any, rtol: Any) -> tuple[Array, Array]:
    """Returns the absolute and the relative size up to which singular values of matrices do not count."""
    dtype = value.real.dtype
    if rtol is None:
        default = max(value.shape[-2:]) * float(jnp.finfo(dtype).eps)
        rtol = default if atol is None else jnp.where(jnp.asarray(atol) > 0, 0.0, default)
    return jnp.asarray(0.0 if atol is None else atol).astype(dtype), jnp.asarray(rtol).astype(dtype)


def _counts(values: Array, atol: Array, rtol: Array) -> Array:
    """Returns which singular values, in the last dim, are above the tolerances."""
    largest = jnp.max(values, axis=-1, keepdims=True, initial=0)
    return values > jnp.maximum(atol[..., None], rtol[..., None] * largest)


@jax.custom_jvp
def _pinv(A: Array, atol: Array, rtol: Array) -> Array:
    left, values, right = jnp.linalg.svd(A, full_matrices=False)
    kept = _counts(values, atol, rtol)
    inverted = jnp.where(kept, 1 / jnp.where(kept, values, 1), 0).astype(A.dtype)
    return (jnp.conj(right.mT) * inverted[..., None, :]) @ jnp.conj(left.mT)


@_pinv.defjvp
def _pinv_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Golub and Pereyra, The Differentiation of Pseudo-Inverses (1973), for a constant rank."""
    A, moved = primals[0], tangents[0]
    P = _pinv(*primals)
    adjoint = lambda x: jnp.conj(x.mT)
    wide, tall = P @ adjoint(P) @ adjoint(moved), adjoint(moved) @ adjoint(P) @ P
    return P, -P @ moved @ P + wide - (wide @ A) @ P + tall - P @ (A @ tall)


def pinv_values(name: str, A: Array, atol: Any, rtol: Any, hermitian: bool) -> Array:
    """Returns the pseudo-inverse without the singular values up to a bound."""
    check_matrices(name, A)
    if hermitian:
        check_square(name, A)
        symmetrized = symmetric(lax.stop_gradient(A), False)
        A = symmetrized + (A - lax.stop_gradient(A))  # the gradient is that of any matrix
    if A.size == 0:
        return jnp.zeros((*A.shape[:-2], A.shape[-1], A.shape[-2]), A.dtype)
    return _pinv(A, *_tolerances(A, atol, rtol))


@register_op("pinverse(Tensor self, float rcond=1e-15) -> Tensor")
def pinverse(self, rcond):
    return pinv_values("pinverse", self, 0.0, rcond, False)


@register_op(
    "pinv(Tensor self, Tensor? rcond=None, bool hermitian=False, *, Tensor? atol=None, Tensor? rtol=None) -> Tensor",
    **LINALG,
)
def pinv(self, rcond, hermitian, atol, rtol):
    """Returns the pseudo-inverse; `rcond` is NumPy's word for `rtol`."""
    if rcond is not None:
        atol, rtol = 0.0, rcond
    return pinv_values("linalg.pinv", self, atol, rtol, hermitian)


@register_op(
    "matrix_rank(Tensor self, Tensor? tol=None, bool hermitian=False, *, Tensor? atol=None, Tensor? rtol=None) "
    "-> Tensor",
    differentiable=False,
    **LINALG,
)
def matrix_rank(self, tol, hermitian, atol, rtol):
    """Returns the number of singular values above a bound; `tol` is NumPy's word for `atol`."""
    check_matrices("linalg.matrix_rank", self)
    if tol is not None:
        atol, rtol = tol, 0.0
    if hermitian:
        check_square("linalg.matrix_rank", self)
    if self.size == 0:
        return jnp.zeros(self.shape[:-2], default_int())
    values = jnp.abs(jnp.linalg.eigvalsh(symmetric(self, False))) if hermitian else singular_values(self)
    return jnp.sum(_counts(values, *_tolerances(self, atol, rtol)), axis=-1).astype(default_int())


DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@register_op(
    "lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) "
    "-> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    **LINALG,
)
def lstsq(self, b, rcond, driver):
    """Returns the solution, residuals, rank and singular values, as far as PyTorch's drivers compute them.

    JAX computes all drivers by singular values. Residuals are returned for more equations than unknowns whatever the
    rank, since a shape cannot depend on it.
    """
    check_matrices("linalg.lstsq", self)
    driver = "gelsy" if driver is None else driver
    if driver not in DRIVERS:
        raise ArgumentError(
            f"linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), but got {driver}"
        )
    m, n = self.shape[-2:]
    vector = is_vector(self, b)
    B = b[..., None] if vector else b
    if B.shape[-2] != m:
        raise ShapeMismatchError(
            f"linalg.lstsq: input.size(-2) should match other.size({-1 if vector else -2}), but they are {m} and "
            f"{B.shape[-2]}"
        )
    A, B = _batched(self, B)
    solution = pinv_values("linalg.lstsq", A, None if rcond is None else 0.0, rcond, False) @ B
    nothing = jnp.zeros((0,), A.real.dtype)
    residuals = nothing
    if m > n and driver != "gelsy":
        residuals = jnp.sum(jnp.square(jnp.abs(A @ solution - B)), axis=-2)
    values = singular_values(lax.stop_gradient(A))
    rank = jnp.zeros((0,), default_int())
    if driver != "gels":
        tolerances = _tolerances(A, None if rcond is None else 0.0, rcond)
        rank = jnp.sum(_counts(values, *tolerances), axis=-1).astype(default_int())
    return (
        solution[..., 0] if vector else solution,
        residuals,
        rank,
        values if driver in ("gelsd", "gelss") else nothing,
    )
