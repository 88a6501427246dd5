"""Reductions that leave out masked elements (`torch.masked`)."""

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
from jaxaot.facade.tensor import Tensor

def amax(
    input: Operand,
    dim: Ints | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """masked_amax(Tensor input, Any dim=None, *, bool keepdim=False, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""

def amin(
    input: Operand,
    dim: Ints | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """masked_amin(Tensor input, Any dim=None, *, bool keepdim=False, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""

def argmax(
    input: Operand,
    dim: _int | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """masked_argmax(Tensor input, int? dim=None, *, bool keepdim=False, Dtype? dtype=None, Tensor? mask=None) -> Tensor

    Returns the positions in the dtype of `input`, as PyTorch does.
    """

def argmin(
    input: Operand,
    dim: _int | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """masked_argmin(Tensor input, int? dim=None, *, bool keepdim=False, Dtype? dtype=None, Tensor? mask=None) -> Tensor

    Returns the positions in the dtype of `input`, as PyTorch does.
    """

def cumprod(
    input: Operand,
    dim: _int = ...,
    *,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int = ...,
) -> Tensor:
    """masked_cumprod(Tensor input, int dim, *, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""

def cumsum(
    input: Operand,
    dim: _int = ...,
    *,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int = ...,
) -> Tensor:
    """masked_cumsum(Tensor input, int dim, *, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""

def log_softmax(
    input: Operand,
    dim: _int = ...,
    *,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int = ...,
) -> Tensor:
    """masked_log_softmax(Tensor input, int dim, *, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""

def logaddexp(
    input: Operand,
    other: Operand,
    *,
    dtype: DTypeLike | None = None,
    input_mask: Operand | None = None,
    other_mask: Operand | None = None,
) -> Tensor:
    """masked_logaddexp(Tensor input, Tensor other, *, Dtype? dtype=None, Tensor? input_mask=None, Tensor? other_mask=None) -> Tensor"""

def logsumexp(
    input: Operand,
    dim: Ints | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """masked_logsumexp(Tensor input, Any dim=None, *, bool keepdim=False, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""

def mean(
    input: Operand,
    dim: Ints | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """masked_mean(Tensor input, Any dim=None, *, bool keepdim=False, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""

def median(
    input: Operand,
    dim: _int = -1,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int = ...,
) -> Tensor:
    """masked_median(Tensor input, int dim=-1, *, bool keepdim=False, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""

def norm(
    input: Operand,
    ord: _float | None = 2.0,
    dim: Ints | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """masked_norm(Tensor input, float? ord=2.0, Any dim=None, *, bool keepdim=False, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""

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
    """masked_normalize(Tensor input, float ord, int dim, *, float eps=1e-12, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""

def prod(
    input: Operand,
    dim: Ints | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """masked_prod(Tensor input, Any dim=None, *, bool keepdim=False, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""

def softmax(
    input: Operand,
    dim: _int = ...,
    *,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int = ...,
) -> Tensor:
    """masked_softmax(Tensor input, int dim, *, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""

def softmin(
    input: Operand,
    dim: _int = ...,
    *,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: _int = ...,
) -> Tensor:
    """masked_softmin(Tensor input, int dim, *, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""

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
) -> Tensor:
    """masked_std(Tensor input, Any dim=None, bool? unbiased=None, *, Any correction=None, bool keepdim=False, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""

def sum(
    input: Operand,
    dim: Ints | None = None,
    *,
    keepdim: _bool = False,
    dtype: DTypeLike | None = None,
    mask: Operand | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """masked_sum(Tensor input, Any dim=None, *, bool keepdim=False, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""

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
) -> Tensor:
    """masked_var(Tensor input, Any dim=None, bool? unbiased=None, *, Any correction=None, bool keepdim=False, Dtype? dtype=None, Tensor? mask=None) -> Tensor"""
