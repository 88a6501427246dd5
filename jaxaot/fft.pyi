"""Fourier transforms (`torch.fft`)."""

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

def fft(
    input: Operand,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """fft_fft(Tensor input, int? n=None, int dim=-1, str? norm=None) -> Tensor"""

def fft2(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """fft_fft2(Tensor input, int[]? s=None, int[]? dim=(-2, -1), str? norm=None) -> Tensor"""

def fftfreq(
    n: _int,
    d: _float = 1.0,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """fft_fftfreq(int n, float d=1.0, *, Dtype? dtype=None) -> Tensor"""

def fftn(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """fft_fftn(Tensor input, int[]? s=None, int[]? dim=None, str? norm=None) -> Tensor"""

def fftshift(input: Operand, dim: Ints | None = None, *, axis: Ints | None = ...) -> Tensor:
    """fft_fftshift(Tensor input, int[]? dim=None) -> Tensor"""

def hfft(
    input: Operand,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """fft_hfft(Tensor input, int? n=None, int dim=-1, str? norm=None) -> Tensor"""

def hfft2(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """fft_hfft2(Tensor input, int[]? s=None, int[]? dim=(-2, -1), str? norm=None) -> Tensor"""

def hfftn(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """fft_hfftn(Tensor input, int[]? s=None, int[]? dim=None, str? norm=None) -> Tensor"""

def ifft(
    input: Operand,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """fft_ifft(Tensor input, int? n=None, int dim=-1, str? norm=None) -> Tensor"""

def ifft2(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """fft_ifft2(Tensor input, int[]? s=None, int[]? dim=(-2, -1), str? norm=None) -> Tensor"""

def ifftn(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """fft_ifftn(Tensor input, int[]? s=None, int[]? dim=None, str? norm=None) -> Tensor"""

def ifftshift(input: Operand, dim: Ints | None = None, *, axis: Ints | None = ...) -> Tensor:
    """fft_ifftshift(Tensor input, int[]? dim=None) -> Tensor"""

def ihfft(
    input: Operand,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """fft_ihfft(Tensor input, int? n=None, int dim=-1, str? norm=None) -> Tensor"""

def ihfft2(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """fft_ihfft2(Tensor input, int[]? s=None, int[]? dim=(-2, -1), str? norm=None) -> Tensor"""

def ihfftn(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """fft_ihfftn(Tensor input, int[]? s=None, int[]? dim=None, str? norm=None) -> Tensor"""

def irfft(
    input: Operand,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """fft_irfft(Tensor input, int? n=None, int dim=-1, str? norm=None) -> Tensor"""

def irfft2(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """fft_irfft2(Tensor input, int[]? s=None, int[]? dim=(-2, -1), str? norm=None) -> Tensor"""

def irfftn(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """fft_irfftn(Tensor input, int[]? s=None, int[]? dim=None, str? norm=None) -> Tensor"""

def rfft(
    input: Operand,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """fft_rfft(Tensor input, int? n=None, int dim=-1, str? norm=None) -> Tensor"""

def rfft2(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """fft_rfft2(Tensor input, int[]? s=None, int[]? dim=(-2, -1), str? norm=None) -> Tensor"""

def rfftfreq(
    n: _int,
    d: _float = 1.0,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """fft_rfftfreq(int n, float d=1.0, *, Dtype? dtype=None) -> Tensor"""

def rfftn(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """fft_rfftn(Tensor input, int[]? s=None, int[]? dim=None, str? norm=None) -> Tensor"""
