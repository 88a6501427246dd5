"""Linear algebra (`torch.linalg`)."""

# Written by tools/stubs.py from the op table. Edit that, or the rows, and run it again.

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, overload

import jax
import numpy as _np

from jaxaot.facade.dispatch.operands import (
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
from jaxaot.facade.memory.bound import CholeskyExResult
from jaxaot.facade.memory.bound import EigResult
from jaxaot.facade.memory.bound import EighResult
from jaxaot.facade.memory.bound import InvExResult
from jaxaot.facade.memory.bound import LdlFactorExResult
from jaxaot.facade.memory.bound import LdlFactorResult
from jaxaot.facade.memory.bound import LinalgLuResult
from jaxaot.facade.memory.bound import LinalgQrResult
from jaxaot.facade.memory.bound import LinalgSvdResult
from jaxaot.facade.memory.bound import LstsqResult
from jaxaot.facade.memory.bound import LuFactorExResult
from jaxaot.facade.memory.bound import LuFactorResult
from jaxaot.facade.memory.bound import SlogdetResult
from jaxaot.facade.memory.bound import SolveExResult
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.errors import SingularMatrixError as LinAlgError

def cholesky(A: Operand = ..., *, upper: _bool = False, out: Tensor | None = None, input: Operand = ...) -> Tensor:
    """Returns the lower triangle L with A = L Lᴴ for a positive definite matrix.

    Args:
      A: A matrix or a batch of matrices.
      upper: Whether the upper triangle is meant; of `rrelu` the greatest slope.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      input: The tensor.

    The result has memory of its own.

    See `torch.linalg.cholesky`.
    """

def cholesky_ex(
    A: Operand = ...,
    *,
    upper: _bool = False,
    check_errors: _bool = False,
    out: Sequence[Tensor] | None = None,
    input: Operand = ...,
) -> CholeskyExResult:
    """Returns the Cholesky factor, and a number that says where it failed, instead of raising.

    Args:
      A: A matrix or a batch of matrices.
      upper: Whether the upper triangle is meant; of `rrelu` the greatest slope.
      check_errors: Whether a failure raises.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      input: The tensor.

    The result has memory of its own.

    See `torch.linalg.cholesky_ex`.
    """

def cond(input: Operand, p: _float | _str | Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """Returns the condition number of a matrix: how much a system with it enlarges errors.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.cond`.
    """

def cross(input: Operand, other: Operand, *, dim: _int = -1, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """Returns the cross products of vectors of three elements along `dim`.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.linalg.cross`.
    """

def det(input: Operand = ..., *, out: Tensor | None = None, A: Operand = ...) -> Tensor:
    """Returns the determinant of a square matrix.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      A: A matrix or a batch of matrices.

    The result has memory of its own.

    See `torch.det`.
    """

def diagonal(A: Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """Returns the diagonals of a batch of matrices, a view: `ja.linalg.diagonal`.

    Args:
      A: A matrix or a batch of matrices.
      offset: Which diagonal: 0 the main one, positive ones above it, negative ones below.
      dim1: The first of two dims.
      dim2: The second of two dims.

    The result is a view: it shares memory with `input`.

    See `torch.linalg.diagonal`.
    """

def eig(A: Operand = ..., *, out: Sequence[Tensor] | None = None, input: Operand = ...) -> EigResult:
    """Returns the eigenvalues and eigenvectors of a square matrix, complex.

    Args:
      A: A matrix or a batch of matrices.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      input: The tensor.

    The result has memory of its own.

    See `torch.linalg.eig`.
    """

def eigh(
    A: Operand = ...,
    UPLO: _str = 'L',
    *,
    out: Sequence[Tensor] | None = None,
    input: Operand = ...,
) -> EighResult:
    """Returns the eigenvalues, ascending, and eigenvectors of a symmetric or Hermitian matrix.

    Args:
      A: A matrix or a batch of matrices.
      UPLO: Which triangle is read: `'L'` or `'U'`.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      input: The tensor.

    The result has memory of its own.

    See `torch.linalg.eigh`.
    """

def eigvals(A: Operand = ..., *, out: Tensor | None = None, input: Operand = ...) -> Tensor:
    """Returns the eigenvalues of a square matrix, complex.

    Args:
      A: A matrix or a batch of matrices.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      input: The tensor.

    The result has memory of its own.

    See `torch.linalg.eigvals`.
    """

def eigvalsh(A: Operand = ..., UPLO: _str = 'L', *, out: Tensor | None = None, input: Operand = ...) -> Tensor:
    """Returns the eigenvalues, ascending, of a symmetric or Hermitian matrix.

    Args:
      A: A matrix or a batch of matrices.
      UPLO: Which triangle is read: `'L'` or `'U'`.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      input: The tensor.

    The result has memory of its own.

    See `torch.linalg.eigvalsh`.
    """

def householder_product(
    A: Operand = ...,
    tau: Operand = ...,
    *,
    out: Tensor | None = None,
    input: Operand = ...,
) -> Tensor:
    """Returns the first columns of the product of the reflections in `A`, scaled by `tau`.

    Args:
      A: A matrix or a batch of matrices.
      tau: The temperature, the decay, or the scales of reflections.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      input: The tensor.

    The result has memory of its own.

    See `torch.linalg.householder_product`.
    """

def inv(A: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the inverse of a square matrix.

    Args:
      A: A matrix or a batch of matrices.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.inv`.
    """

def inv_ex(A: Operand, *, check_errors: _bool = False, out: Sequence[Tensor] | None = None) -> InvExResult:
    """Returns the inverse, and a number that says where it failed, instead of raising.

    Args:
      A: A matrix or a batch of matrices.
      check_errors: Whether a failure raises.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.inv_ex`.
    """

def ldl_factor(input: Operand, *, hermitian: _bool = False, out: Sequence[Tensor] | None = None) -> LdlFactorResult:
    """Returns the LDL factorization of a symmetric or Hermitian matrix in compact form, and pivots.

    Args:
      input: The tensor.
      hermitian: Whether the matrix is Hermitian rather than symmetric.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.ldl_factor`.
    """

def ldl_factor_ex(
    input: Operand,
    *,
    hermitian: _bool = False,
    check_errors: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> LdlFactorExResult:
    """Returns the compact LDL factorization, and a number that says where it failed.

    Args:
      input: The tensor.
      hermitian: Whether the matrix is Hermitian rather than symmetric.
      check_errors: Whether a failure raises.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.ldl_factor_ex`.
    """

def ldl_solve(
    LD: Operand,
    pivots: Operand,
    B: Operand,
    *,
    hermitian: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the solution of a system by its compact LDL factorization.

    Args:
      LD: The compact factors.
      pivots: Which rows were exchanged.
      B: The right-hand sides, a matrix or a batch of matrices.
      hermitian: Whether the matrix is Hermitian rather than symmetric.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.ldl_solve`.
    """

def lstsq(
    input: Operand,
    b: Operand,
    rcond: _float | None = None,
    *,
    driver: _str | None = None,
    out: Sequence[Tensor] | None = None,
) -> LstsqResult:
    """Returns the X that makes ‖input X - b‖ least, with residuals, rank and singular values.

    JAX computes all drivers by singular values. Residuals are returned for more equations than unknowns whatever the
    rank, since a shape cannot depend on it.

    Args:
      input: The tensor.
      b: The second operand: right-hand sides, or the second tensor.
      rcond: The least singular value that counts, as a fraction of the greatest.
      driver: The name of an algorithm; JAX chooses its own.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.lstsq`.
    """

def lu(A: Operand, *, pivot: _bool = True, out: Sequence[Tensor] | None = None) -> LinalgLuResult:
    """Returns P, L and U with A = P L U: a permutation, a lower and an upper triangle.

    Args:
      A: A matrix or a batch of matrices.
      pivot: Whether rows are exchanged.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.lu`.
    """

def lu_factor(A: Operand, *, pivot: _bool = True, out: Sequence[Tensor] | None = None) -> LuFactorResult:
    """Returns the LU factorization of a matrix in compact form: both triangles in one, and pivots.

    Args:
      A: A matrix or a batch of matrices.
      pivot: Whether rows are exchanged.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.lu_factor`.
    """

def lu_factor_ex(
    A: Operand,
    *,
    pivot: _bool = True,
    check_errors: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> LuFactorExResult:
    """Returns the compact LU factorization, and a number that says where it failed, instead of raising.

    Args:
      A: A matrix or a batch of matrices.
      pivot: Whether rows are exchanged.
      check_errors: Whether a failure raises.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.lu_factor_ex`.
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
    """Returns the solution of a system by a compact LU factorization of its matrix.

    Args:
      LU: The compact factors.
      pivots: Which rows were exchanged.
      B: The right-hand sides, a matrix or a batch of matrices.
      left: Whether the matrix stands on the left of the unknown.
      adjoint: Whether the system with the conjugate transpose is solved.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.lu_solve`.
    """

def matrix_exp(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the exponential of a square matrix.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.matrix_exp`.
    """

def matrix_norm(
    A: Operand = ...,
    ord: _float | _str = 'fro',
    dim: Ints = ...,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: Ints = ...,
    keepdims: _bool = ...,
    input: Operand = ...,
) -> Tensor:
    """Returns the norm of order `ord` of matrices in two dims.

    Args:
      A: A matrix or a batch of matrices.
      ord: The order of the norm: a number, `'fro'`, `'nuc'`, or an infinity.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.
      input: The tensor.

    The result has memory of its own.

    See `torch.linalg.matrix_norm`.
    """

def matrix_power(input: Operand, n: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns a square matrix to an integer power; a negative one is that of its inverse.

    Args:
      input: The tensor.
      n: A number: how often, which power, or which degree.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.matrix_power`.
    """

def matrix_rank(
    input: Operand,
    tol: Operand | None = None,
    hermitian: _bool = False,
    *,
    atol: Operand | None = None,
    rtol: Operand | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the rank of a matrix: how many singular values are above a bound.

    Args:
      input: The tensor.
      tol: The least singular value that counts.
      hermitian: Whether the matrix is Hermitian rather than symmetric.
      atol: The tolerance as a number.
      rtol: The tolerance as a fraction.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.matrix_rank`.
    """

def multi_dot(tensors: Sequence[TensorLike], *, out: Tensor | None = None) -> Tensor:
    """Returns the product of several matrices, in the order of fewest operations; the ends may be vectors.

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.multi_dot`.
    """

def norm(
    A: Operand = ...,
    ord: _float | _str | None = None,
    dim: Ints | None = None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
    input: Operand = ...,
) -> Tensor:
    """Returns a norm of vectors or of matrices, by how many dims `dim` names.

    Args:
      A: A matrix or a batch of matrices.
      ord: The order of the norm: a number, `'fro'`, `'nuc'`, or an infinity.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.
      input: The tensor.

    The result has memory of its own.

    See `torch.linalg.norm`.
    """

def pinv(
    input: Operand,
    rcond: Operand | None = None,
    hermitian: _bool = False,
    *,
    atol: Operand | None = None,
    rtol: Operand | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the pseudo-inverse of a matrix, by its singular values above a bound.

    Args:
      input: The tensor.
      rcond: The least singular value that counts, as a fraction of the greatest.
      hermitian: Whether the matrix is Hermitian rather than symmetric.
      atol: The tolerance as a number.
      rtol: The tolerance as a fraction.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.pinv`.
    """

def qr(A: Operand, mode: _str = 'reduced', *, out: Sequence[Tensor] | None = None) -> LinalgQrResult:
    """Returns Q and R with A = Q R: orthonormal columns and an upper triangle.

    Args:
      A: A matrix or a batch of matrices.
      mode: The way it is done, by PyTorch's names.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.qr`.
    """

def slogdet(input: Operand = ..., *, out: Sequence[Tensor] | None = None, A: Operand = ...) -> SlogdetResult:
    """Returns the sign and the logarithm of the magnitude of the determinant of a square matrix.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      A: A matrix or a batch of matrices.

    The result has memory of its own.

    See `torch.slogdet`.
    """

def solve(A: Operand, B: Operand, *, left: _bool = True, out: Tensor | None = None) -> Tensor:
    """Returns the X with A X = B, or X A = B if not `left`.

    Args:
      A: A matrix or a batch of matrices.
      B: The right-hand sides, a matrix or a batch of matrices.
      left: Whether the matrix stands on the left of the unknown.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.solve`.
    """

def solve_ex(
    A: Operand,
    B: Operand,
    *,
    left: _bool = True,
    check_errors: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> SolveExResult:
    """Returns the solution of a system, and a number that says where it failed, instead of raising.

    Args:
      A: A matrix or a batch of matrices.
      B: The right-hand sides, a matrix or a batch of matrices.
      left: Whether the matrix stands on the left of the unknown.
      check_errors: Whether a failure raises.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.solve_ex`.
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
    """Returns the solution of a system whose matrix is a triangle.

    Args:
      input: The tensor.
      B: The right-hand sides, a matrix or a batch of matrices.
      upper: Whether the upper triangle is meant; of `rrelu` the greatest slope.
      left: Whether the matrix stands on the left of the unknown.
      unitriangular: Whether the diagonal is taken for ones.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.solve_triangular`.
    """

def svd(
    A: Operand,
    full_matrices: _bool = True,
    *,
    driver: _str | None = None,
    out: Sequence[Tensor] | None = None,
) -> LinalgSvdResult:
    """Returns U, S and Vh with A = U diag(S) Vh: the singular value decomposition.

    Args:
      A: A matrix or a batch of matrices.
      full_matrices: Whether U and Vh are square.
      driver: The name of an algorithm; JAX chooses its own.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.svd`.
    """

def svdvals(A: Operand, *, driver: _str | None = None, out: Tensor | None = None) -> Tensor:
    """Returns the singular values of a matrix, descending.

    Args:
      A: A matrix or a batch of matrices.
      driver: The name of an algorithm; JAX chooses its own.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.svdvals`.
    """

def tensorinv(input: Operand, ind: _int = 2, *, out: Tensor | None = None) -> Tensor:
    """Returns the inverse of a tensor as a map of its last dims to its first `ind` dims.

    Args:
      input: The tensor.
      ind: How many dims the inverse maps to.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.tensorinv`.
    """

def tensorsolve(input: Operand, other: Operand, dims: Ints | None = None, *, out: Tensor | None = None) -> Tensor:
    """Returns the X with `tensordot(input, X) = other`.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      dims: The dims; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.tensorsolve`.
    """

def vander(x: Operand, *, N: _int | None = None, out: Tensor | None = None) -> Tensor:
    """Returns the Vandermonde matrix of `x`, its columns rising powers of `x`.

    Args:
      x: The elements, or the points along the dim.
      N: How many columns, or samples in the batch.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linalg.vander`.
    """

def vecdot(x: Operand, y: Operand, *, dim: _int = -1, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """Returns the dot products of the vectors along `dim`, those of `x` conjugated.

    Args:
      x: The elements, or the points along the dim.
      y: The values, or the second operand.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.linalg.vecdot`.
    """

def vector_norm(
    x: Operand = ...,
    ord: _float | _str = 2,
    dim: Ints | None = None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
    input: Operand = ...,
) -> Tensor:
    """Returns the norm of order `ord` of vectors along `dim`, or of all elements.

    Args:
      x: The elements, or the points along the dim.
      ord: The order of the norm: a number, `'fro'`, `'nuc'`, or an infinity.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.
      input: The tensor.

    The result has memory of its own.

    See `torch.linalg.vector_norm`.
    """
