"""Reductions that leave out masked elements (`torch.masked`)."""

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
from jaxaot.facade.memory.tensor import Tensor

def amax(
    input: Operand,
    dim: Ints | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the greatest of the elements where `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.masked.amax`.
    """

def amin(
    input: Operand,
    dim: Ints | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the least of the elements where `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.masked.amin`.
    """

def argmax(
    input: Operand,
    dim: _int | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns where the greatest of the elements lies for which `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.masked.argmax`.
    """

def argmin(
    input: Operand,
    dim: _int | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns where the least of the elements lies for which `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.masked.argmin`.
    """

def cumprod(
    input: Operand,
    dim: _int = ...,
    *,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the running products along `dim` of the elements where `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.masked.cumprod`.
    """

def cumsum(
    input: Operand,
    dim: _int = ...,
    *,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the running sums along `dim` of the elements where `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.masked.cumsum`.
    """

def log_softmax(
    input: Operand,
    dim: _int = ...,
    *,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the logarithm of the softmax along `dim` of the elements where `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.masked.log_softmax`.
    """

def logaddexp(
    input: Operand,
    other: Operand,
    *,
    dtype: DTypeLike | None = None,
    input_mask: Operand | None = None,
    other_mask: Operand | None = None,
) -> Tensor:
    """Returns log(exp(input) + exp(other)), leaving out elements where a mask is false.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      input_mask: A mask of `input`, True where its elements count.
      other_mask: A mask of `other`, True where its elements count.

    The result has memory of its own.

    See `torch.masked.logaddexp`.
    """

def logsumexp(
    input: Operand,
    dim: Ints | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the logarithm of the sum of the exponentials of the elements where `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.masked.logsumexp`.
    """

def mean(
    input: Operand,
    dim: Ints | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the mean of the elements where `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.masked.mean`.
    """

def median(
    input: Operand,
    dim: _int = -1,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the median along `dim` of the elements where `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.masked.median`.
    """

def norm(
    input: Operand,
    ord: _float | None = 2.0,
    dim: Ints | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the vector norm of the elements where `mask` is true.

    Args:
      input: The tensor.
      ord: The order of the norm: a number, `'fro'`, `'nuc'`, or an infinity.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.masked.norm`.
    """

def normalize(
    input: Operand,
    ord: _float,
    dim: _int = ...,
    *,
    eps: _float = 1e-12,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns vectors along `dim` divided by the norm of their elements where `mask` is true.

    Args:
      input: The tensor.
      ord: The order of the norm: a number, `'fro'`, `'nuc'`, or an infinity.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      eps: A small number that keeps from dividing by zero.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.masked.normalize`.
    """

def prod(
    input: Operand,
    dim: Ints | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the product of the elements where `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.masked.prod`.
    """

def softmax(
    input: Operand,
    dim: _int = ...,
    *,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the softmax along `dim` of the elements where `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.masked.softmax`.
    """

def softmin(
    input: Operand,
    dim: _int = ...,
    *,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the softmax along `dim` of the negated elements where `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.masked.softmin`.
    """

def std(
    input: Operand,
    dim: Ints | None = None,
    unbiased: _bool | None = None,
    *,
    correction: _float | None = None,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the standard deviation of the elements where `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      unbiased: Whether the sum of squares is divided by n - 1 rather than n; `correction` says it in general.
      correction: The sum of squares is divided by n minus this number; 1 by default.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.masked.std`.
    """

def sum(
    input: Operand,
    dim: Ints | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the sum of the elements where `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.masked.sum`.
    """

def var(
    input: Operand,
    dim: Ints | None = None,
    unbiased: _bool | None = None,
    *,
    correction: _float | None = None,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the variance of the elements where `mask` is true.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      unbiased: Whether the sum of squares is divided by n - 1 rather than n; `correction` says it in general.
      correction: The sum of squares is divided by n minus this number; 1 by default.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      mask: A tensor of bools, True where elements count; it broadcasts.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.masked.var`.
    """
