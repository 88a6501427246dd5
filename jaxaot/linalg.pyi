"""Linear algebra (`torch.linalg`)."""

# Written by tools/stubs.py from the op table. Edit that, or the rows, and run it again.

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, overload

import jax
import numpy as _np

from jaxaot.facade.arguments import (
    Device,
    DTypeLike,
    Floats,
    Ints,
    Operand,
    TensorLike,
    _bool,
    _complex,
    _float,
    _int,
    _str,
)
from jaxaot.facade.bound import CholeskyExResult
from jaxaot.facade.bound import EigResult
from jaxaot.facade.bound import EighResult
from jaxaot.facade.bound import InvExResult
from jaxaot.facade.bound import LdlFactorExResult
from jaxaot.facade.bound import LdlFactorResult
from jaxaot.facade.bound import LinalgLuResult
from jaxaot.facade.bound import LinalgQrResult
from jaxaot.facade.bound import LinalgSvdResult
from jaxaot.facade.bound import LstsqResult
from jaxaot.facade.bound import LuFactorExResult
from jaxaot.facade.bound import LuFactorResult
from jaxaot.facade.bound import SlogdetResult
from jaxaot.facade.bound import SolveExResult
from jaxaot.facade.tensor import Tensor
from jaxaot.errors import SingularMatrixError as LinAlgError

def cholesky(A: Operand, *, upper: _bool = False, out: Tensor | None = None) -> Tensor:
    """linalg_cholesky(Tensor A, *, bool upper=False) -> Tensor"""

def cholesky_ex(
    A: Operand,
    *,
    upper: _bool = False,
    check_errors: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> CholeskyExResult:
    """cholesky_ex(Tensor A, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)

    Returns the factor and info; `check_errors` raises where values are at hand: see `value_checks.py`.
    """

def cond(input: Operand, p: _float | _str | Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """cond(Tensor self, Any p=None) -> Tensor"""

def cross(input: Operand, other: Operand, *, dim: _int = -1, out: Tensor | None = None) -> Tensor:
    """linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor"""

def det(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """det(Tensor self) -> Tensor"""

def diagonal(A: Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """Returns the diagonals of a batch of matrices, a view: `ja.linalg.diagonal`."""

def eig(A: Operand, *, out: Sequence[Tensor] | None = None) -> EigResult:
    """eig(Tensor A) -> (Tensor eigenvalues, Tensor eigenvectors)"""

def eigh(A: Operand, UPLO: _str = 'L', *, out: Sequence[Tensor] | None = None) -> EighResult:
    """eigh(Tensor A, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)"""

def eigvals(A: Operand, *, out: Tensor | None = None) -> Tensor:
    """eigvals(Tensor A) -> Tensor"""

def eigvalsh(A: Operand, UPLO: _str = 'L', *, out: Tensor | None = None) -> Tensor:
    """eigvalsh(Tensor A, str UPLO='L') -> Tensor"""

def householder_product(A: Operand, tau: Operand, *, out: Tensor | None = None) -> Tensor:
    """householder_product(Tensor A, Tensor tau) -> Tensor"""

def inv(A: Operand, *, out: Tensor | None = None) -> Tensor:
    """inv(Tensor A) -> Tensor"""

def inv_ex(A: Operand, *, check_errors: _bool = False, out: Sequence[Tensor] | None = None) -> InvExResult:
    """inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)

    Returns the inverse and info; `check_errors` raises where values are at hand: see `value_checks.py`.
    """

def ldl_factor(input: Operand, *, hermitian: _bool = False, out: Sequence[Tensor] | None = None) -> LdlFactorResult:
    """ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)"""

def ldl_factor_ex(
    input: Operand,
    *,
    hermitian: _bool = False,
    check_errors: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> LdlFactorExResult:
    """ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor pivots, Tensor info)

    Returns factors, pivots and info; `check_errors` raises where values are at hand: see `value_checks.py`.
    """

def ldl_solve(
    LD: Operand,
    pivots: Operand,
    B: Operand,
    *,
    hermitian: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor"""

def lstsq(
    input: Operand,
    b: Operand,
    rcond: _float | None = None,
    *,
    driver: _str | None = None,
    out: Sequence[Tensor] | None = None,
) -> LstsqResult:
    """lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)

    Returns the solution, residuals, rank and singular values, as far as PyTorch's drivers compute them.

    JAX computes all drivers by singular values. Residuals are returned for more equations than unknowns whatever the
    rank, since a shape cannot depend on it.
    """

def lu(A: Operand, *, pivot: _bool = True, out: Sequence[Tensor] | None = None) -> LinalgLuResult:
    """linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)"""

def lu_factor(A: Operand, *, pivot: _bool = True, out: Sequence[Tensor] | None = None) -> LuFactorResult:
    """lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)"""

def lu_factor_ex(
    A: Operand,
    *,
    pivot: _bool = True,
    check_errors: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> LuFactorExResult:
    """lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)

    Returns factors, pivots and info; `check_errors` raises where values are at hand: see `value_checks.py`.
    """

def lu_solve(
    LU: Operand,
    pivots: Operand,
    B: Operand,
    *,
    left: _bool = True,
    adjoint: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor"""

def matrix_exp(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """matrix_exp(Tensor self) -> Tensor"""

def matrix_norm(
    A: Operand,
    ord: _float | _str = 'fro',
    dim: Ints = ...,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: Ints = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """matrix_norm(Tensor A, Any ord='fro', Any dim=(-2, -1), bool keepdim=False, *, Dtype? dtype=None) -> Tensor"""

def matrix_power(input: Operand, n: _int, *, out: Tensor | None = None) -> Tensor:
    """matrix_power(Tensor self, int n) -> Tensor"""

def matrix_rank(
    input: Operand,
    tol: Operand | None = None,
    hermitian: _bool = False,
    *,
    atol: Operand | None = None,
    rtol: Operand | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """matrix_rank(Tensor self, Tensor? tol=None, bool hermitian=False, *, Tensor? atol=None, Tensor? rtol=None) -> Tensor

    Returns the number of singular values above a bound; `tol` is NumPy's word for `atol`.
    """

def multi_dot(tensors: Sequence[TensorLike], *, out: Tensor | None = None) -> Tensor:
    """multi_dot(Tensor[] tensors) -> Tensor"""

def norm(
    A: Operand,
    ord: _float | _str | None = None,
    dim: Ints | None = None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """linalg_norm(Tensor A, Any ord=None, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor"""

def pinv(
    input: Operand,
    rcond: Operand | None = None,
    hermitian: _bool = False,
    *,
    atol: Operand | None = None,
    rtol: Operand | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """pinv(Tensor self, Tensor? rcond=None, bool hermitian=False, *, Tensor? atol=None, Tensor? rtol=None) -> Tensor

    Returns the pseudo-inverse; `rcond` is NumPy's word for `rtol`.
    """

def qr(A: Operand, mode: _str = 'reduced', *, out: Sequence[Tensor] | None = None) -> LinalgQrResult:
    """linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)"""

def slogdet(input: Operand, *, out: Sequence[Tensor] | None = None) -> SlogdetResult:
    """slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)"""

def solve(A: Operand, B: Operand, *, left: _bool = True, out: Tensor | None = None) -> Tensor:
    """solve(Tensor A, Tensor B, *, bool left=True) -> Tensor"""

def solve_ex(
    A: Operand,
    B: Operand,
    *,
    left: _bool = True,
    check_errors: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> SolveExResult:
    """solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)

    Returns the solution and info; `check_errors` raises where values are at hand: see `value_checks.py`.
    """

def solve_triangular(
    input: Operand,
    B: Operand,
    *,
    upper: _bool,
    left: _bool = True,
    unitriangular: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor"""

def svd(
    A: Operand,
    full_matrices: _bool = True,
    *,
    driver: _str | None = None,
    out: Sequence[Tensor] | None = None,
) -> LinalgSvdResult:
    """linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)

    Returns U, S and Vh; `driver` names CUDA algorithms, and JAX chooses its own.
    """

def svdvals(A: Operand, *, driver: _str | None = None, out: Tensor | None = None) -> Tensor:
    """svdvals(Tensor A, *, str? driver=None) -> Tensor"""

def tensorinv(input: Operand, ind: _int = 2, *, out: Tensor | None = None) -> Tensor:
    """tensorinv(Tensor self, int ind=2) -> Tensor"""

def tensorsolve(input: Operand, other: Operand, dims: Ints | None = None, *, out: Tensor | None = None) -> Tensor:
    """tensorsolve(Tensor self, Tensor other, Any dims=None) -> Tensor"""

def vander(x: Operand, *, N: _int | None = None, out: Tensor | None = None) -> Tensor:
    """linalg_vander(Tensor x, *, int? N=None) -> Tensor"""

def vecdot(x: Operand, y: Operand, *, dim: _int = -1, out: Tensor | None = None) -> Tensor:
    """vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor"""

def vector_norm(
    x: Operand,
    ord: _float | _str = 2,
    dim: Ints | None = None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """vector_norm(Tensor x, Any ord=2, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor"""
