"""Windows for spectra (`torch.signal.windows`)."""

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
    """windows_bartlett(int M, *, bool sym=True, Dtype? dtype=None) -> Tensor"""

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
    """windows_blackman(int M, *, bool sym=True, Dtype? dtype=None) -> Tensor"""

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
    """windows_cosine(int M, *, bool sym=True, Dtype? dtype=None) -> Tensor"""

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
    """windows_exponential(int M, *, float? center=None, float tau=1.0, bool sym=True, Dtype? dtype=None) -> Tensor"""

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
    """windows_gaussian(int M, *, float std=1.0, bool sym=True, Dtype? dtype=None) -> Tensor"""

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
    """windows_general_cosine(int M, *, float[] a, bool sym=True, Dtype? dtype=None) -> Tensor"""

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
    """windows_general_hamming(int M, *, float alpha=0.54, bool sym=True, Dtype? dtype=None) -> Tensor"""

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
    """windows_hamming(int M, *, bool sym=True, Dtype? dtype=None) -> Tensor"""

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
    """windows_hann(int M, *, bool sym=True, Dtype? dtype=None) -> Tensor"""

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
    """windows_kaiser(int M, *, float beta=12.0, bool sym=True, Dtype? dtype=None) -> Tensor"""

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
    """windows_nuttall(int M, *, bool sym=True, Dtype? dtype=None) -> Tensor"""
