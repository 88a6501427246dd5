"""Fourier transforms (`torch.fft`)."""

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

def fft(
    input: Operand,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the Fourier transform along a dim.

    Args:
      input: The tensor.
      n: A number: how often, which power, or which degree.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.fft`.
    """

def fft2(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """Returns the Fourier transform over two dims.

    Args:
      input: The tensor.
      s: The sizes of the transformed dims; longer ones are padded with zeros. Of `scalar_tensor` the value.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.fft2`.
    """

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
    """Returns the frequencies of the results of `fft`, in cycles per unit of `d`.

    Args:
      n: A number: how often, which power, or which degree.
      d: The distance of samples.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.fft.fftfreq`.
    """

def fftn(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """Returns the Fourier transform over several dims.

    Args:
      input: The tensor.
      s: The sizes of the transformed dims; longer ones are padded with zeros. Of `scalar_tensor` the value.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.fftn`.
    """

def fftshift(input: Operand, dim: Ints | None = None, *, axis: Ints | None = ...) -> Tensor:
    """Returns the results of a transform with the frequency zero in the middle.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.fftshift`.
    """

def hfft(
    input: Operand,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the real Fourier transform of numbers with Hermitian symmetry, given by half.

    Args:
      input: The tensor.
      n: A number: how often, which power, or which degree.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.hfft`.
    """

def hfft2(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """Returns the real Fourier transform over two dims of numbers with Hermitian symmetry.

    Args:
      input: The tensor.
      s: The sizes of the transformed dims; longer ones are padded with zeros. Of `scalar_tensor` the value.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.hfft2`.
    """

def hfftn(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """Returns the real Fourier transform over several dims of numbers with Hermitian symmetry.

    Args:
      input: The tensor.
      s: The sizes of the transformed dims; longer ones are padded with zeros. Of `scalar_tensor` the value.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.hfftn`.
    """

def ifft(
    input: Operand,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the inverse Fourier transform along a dim.

    Args:
      input: The tensor.
      n: A number: how often, which power, or which degree.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.ifft`.
    """

def ifft2(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """Returns the inverse Fourier transform over two dims.

    Args:
      input: The tensor.
      s: The sizes of the transformed dims; longer ones are padded with zeros. Of `scalar_tensor` the value.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.ifft2`.
    """

def ifftn(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """Returns the inverse Fourier transform over several dims.

    Args:
      input: The tensor.
      s: The sizes of the transformed dims; longer ones are padded with zeros. Of `scalar_tensor` the value.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.ifftn`.
    """

def ifftshift(input: Operand, dim: Ints | None = None, *, axis: Ints | None = ...) -> Tensor:
    """Returns what `fftshift` moved in its first order.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.ifftshift`.
    """

def ihfft(
    input: Operand,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the half of the inverse transform of real numbers, which has Hermitian symmetry.

    Args:
      input: The tensor.
      n: A number: how often, which power, or which degree.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.ihfft`.
    """

def ihfft2(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """Returns the half of the inverse transform of real numbers over two dims.

    Args:
      input: The tensor.
      s: The sizes of the transformed dims; longer ones are padded with zeros. Of `scalar_tensor` the value.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.ihfft2`.
    """

def ihfftn(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """Returns the half of the inverse transform of real numbers over several dims.

    Args:
      input: The tensor.
      s: The sizes of the transformed dims; longer ones are padded with zeros. Of `scalar_tensor` the value.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.ihfftn`.
    """

def irfft(
    input: Operand,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the real numbers whose `rfft` is `input`.

    Args:
      input: The tensor.
      n: A number: how often, which power, or which degree.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.irfft`.
    """

def irfft2(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """Returns the real numbers whose `rfft2` is `input`.

    Args:
      input: The tensor.
      s: The sizes of the transformed dims; longer ones are padded with zeros. Of `scalar_tensor` the value.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.irfft2`.
    """

def irfftn(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """Returns the real numbers whose `rfftn` is `input`.

    Args:
      input: The tensor.
      s: The sizes of the transformed dims; longer ones are padded with zeros. Of `scalar_tensor` the value.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.irfftn`.
    """

def rfft(
    input: Operand,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the Fourier transform of real numbers along a dim, the half that is not redundant.

    Args:
      input: The tensor.
      n: A number: how often, which power, or which degree.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.rfft`.
    """

def rfft2(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """Returns the Fourier transform of real numbers over two dims, the half that is not redundant.

    Args:
      input: The tensor.
      s: The sizes of the transformed dims; longer ones are padded with zeros. Of `scalar_tensor` the value.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.rfft2`.
    """

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
    """Returns the frequencies of the results of `rfft`, in cycles per unit of `d`.

    Args:
      n: A number: how often, which power, or which degree.
      d: The distance of samples.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.fft.rfftfreq`.
    """

def rfftn(
    input: Operand,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """Returns the Fourier transform of real numbers over several dims, the half that is not redundant.

    Args:
      input: The tensor.
      s: The sizes of the transformed dims; longer ones are padded with zeros. Of `scalar_tensor` the value.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      norm: How it is scaled: `'backward'` (the inverse by 1/n), `'forward'`, or `'ortho'`; or the norm.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.fft.rfftn`.
    """
