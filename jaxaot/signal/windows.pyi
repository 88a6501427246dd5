"""Windows for spectra (`torch.signal.windows`)."""

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

def bartlett(
    M: _int,
    *,
    sym: _bool = True,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the Bartlett window, a triangle that ends in zeros.

    Args:
      M: How many samples; of matrices the mean that is subtracted.
      sym: Whether the window is symmetric, rather than meant to be repeated.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.signal.windows.bartlett`.
    """

def blackman(
    M: _int,
    *,
    sym: _bool = True,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the Blackman window, a sum of three cosines.

    Args:
      M: How many samples; of matrices the mean that is subtracted.
      sym: Whether the window is symmetric, rather than meant to be repeated.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.signal.windows.blackman`.
    """

def cosine(
    M: _int,
    *,
    sym: _bool = True,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the window of half a wave of the sine.

    Args:
      M: How many samples; of matrices the mean that is subtracted.
      sym: Whether the window is symmetric, rather than meant to be repeated.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.signal.windows.cosine`.
    """

def exponential(
    M: _int,
    *,
    center: _float | None = None,
    tau: _float = 1.0,
    sym: _bool = True,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the window exp(-|n - center| / tau).

    Args:
      M: How many samples; of matrices the mean that is subtracted.
      center: Whether the data, or each window, is centred; of windows where their middle is.
      tau: The temperature, the decay, or the scales of reflections.
      sym: Whether the window is symmetric, rather than meant to be repeated.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.signal.windows.exponential`.
    """

def gaussian(
    M: _int,
    *,
    std: _float = 1.0,
    sym: _bool = True,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the Gaussian window of deviation `std`.

    Args:
      M: How many samples; of matrices the mean that is subtracted.
      std: The standard deviation.
      sym: Whether the window is symmetric, rather than meant to be repeated.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.signal.windows.gaussian`.
    """

def general_cosine(
    M: _int,
    *,
    a: Floats,
    sym: _bool = True,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a window that is a sum of cosines with the weights `a`.

    Args:
      M: How many samples; of matrices the mean that is subtracted.
      a: The first operand, or weights.
      sym: Whether the window is symmetric, rather than meant to be repeated.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.signal.windows.general_cosine`.
    """

def general_hamming(
    M: _int,
    *,
    alpha: _float = 0.54,
    sym: _bool = True,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the general Hamming window: alpha - (1 - alpha) cos.

    Args:
      M: How many samples; of matrices the mean that is subtracted.
      alpha: A number that the second operand is multiplied with.
      sym: Whether the window is symmetric, rather than meant to be repeated.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.signal.windows.general_hamming`.
    """

def hamming(
    M: _int,
    *,
    sym: _bool = True,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the Hamming window, a raised cosine that does not reach zero.

    Args:
      M: How many samples; of matrices the mean that is subtracted.
      sym: Whether the window is symmetric, rather than meant to be repeated.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.signal.windows.hamming`.
    """

def hann(
    M: _int,
    *,
    sym: _bool = True,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the Hann window, a raised cosine.

    Args:
      M: How many samples; of matrices the mean that is subtracted.
      sym: Whether the window is symmetric, rather than meant to be repeated.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.signal.windows.hann`.
    """

def kaiser(
    M: _int,
    *,
    beta: _float = 12.0,
    sym: _bool = True,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the Kaiser window of shape `beta`.

    Args:
      M: How many samples; of matrices the mean that is subtracted.
      beta: A number that `input` is multiplied with.
      sym: Whether the window is symmetric, rather than meant to be repeated.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.signal.windows.kaiser`.
    """

def nuttall(
    M: _int,
    *,
    sym: _bool = True,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the Nuttall window, a sum of four cosines.

    Args:
      M: How many samples; of matrices the mean that is subtracted.
      sym: Whether the window is symmetric, rather than meant to be repeated.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.signal.windows.nuttall`.
    """
