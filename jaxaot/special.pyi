"""Special functions (`torch.special`)."""

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

def airy_ai(x: Operand, *, out: Tensor | None = None) -> Tensor:
    """airy_ai(Tensor x) -> Tensor"""

def bessel_j0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """bessel_j0(Tensor self) -> Tensor"""

def bessel_j1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """bessel_j1(Tensor self) -> Tensor"""

def bessel_y0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """bessel_y0(Tensor self) -> Tensor"""

def bessel_y1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """bessel_y1(Tensor self) -> Tensor"""

def chebyshev_polynomial_t(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor"""

def chebyshev_polynomial_u(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor"""

def chebyshev_polynomial_v(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor"""

def chebyshev_polynomial_w(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor"""

def digamma(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """digamma(Tensor self) -> Tensor"""

def digamma_(input: Operand) -> Tensor:
    """In-place form of `digamma(Tensor self) -> Tensor`."""

def entr(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """entr(Tensor self) -> Tensor"""

def erf(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """erf(Tensor self) -> Tensor"""

def erf_(input: Operand) -> Tensor:
    """In-place form of `erf(Tensor self) -> Tensor`."""

def erfc(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """erfc(Tensor self) -> Tensor"""

def erfc_(input: Operand) -> Tensor:
    """In-place form of `erfc(Tensor self) -> Tensor`."""

def erfcx(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """erfcx(Tensor self) -> Tensor"""

def erfinv(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """erfinv(Tensor self) -> Tensor"""

def erfinv_(input: Operand) -> Tensor:
    """In-place form of `erfinv(Tensor self) -> Tensor`."""

def exp2(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """exp2(Tensor self) -> Tensor"""

def exp2_(input: Operand) -> Tensor:
    """In-place form of `exp2(Tensor self) -> Tensor`."""

def expit(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """expit(Tensor self) -> Tensor"""

def expm1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """expm1(Tensor self) -> Tensor"""

def expm1_(input: Operand) -> Tensor:
    """In-place form of `expm1(Tensor self) -> Tensor`."""

def gammainc(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """gammainc(Tensor self, Tensor other) -> Tensor"""

def gammaincc(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """gammaincc(Tensor self, Tensor other) -> Tensor"""

def gammaln(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """gammaln(Tensor self) -> Tensor"""

def hermite_polynomial_h(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """hermite_polynomial_h(Tensor x, Tensor n) -> Tensor"""

def hermite_polynomial_he(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """hermite_polynomial_he(Tensor x, Tensor n) -> Tensor"""

def i0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """i0(Tensor self) -> Tensor"""

def i0_(input: Operand) -> Tensor:
    """In-place form of `i0(Tensor self) -> Tensor`."""

def i0e(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """i0e(Tensor self) -> Tensor"""

def i1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """i1(Tensor self) -> Tensor"""

def i1e(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """i1e(Tensor self) -> Tensor"""

def laguerre_polynomial_l(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor"""

def legendre_polynomial_p(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """legendre_polynomial_p(Tensor x, Tensor n) -> Tensor"""

def lgamma(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """lgamma(Tensor self) -> Tensor"""

def lgamma_(input: Operand) -> Tensor:
    """In-place form of `lgamma(Tensor self) -> Tensor`."""

def log1p(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """log1p(Tensor self) -> Tensor"""

def log1p_(input: Operand) -> Tensor:
    """In-place form of `log1p(Tensor self) -> Tensor`."""

def log_ndtr(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """log_ndtr(Tensor self) -> Tensor"""

def log_softmax(
    input: Operand,
    dim: _int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """log_softmax(Tensor input, int? dim=None, Dtype? dtype=None) -> Tensor"""

def logit(input: Operand, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """logit(Tensor self, float? eps=None) -> Tensor"""

def logit_(input: Operand, eps: _float | None = None) -> Tensor:
    """In-place form of `logit(Tensor self, float? eps=None) -> Tensor`."""

def logsumexp(
    input: Operand,
    dim: Ints = ...,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    axis: Ints = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """logsumexp(Tensor self, Any dim, bool keepdim=False) -> Tensor"""

def modified_bessel_i0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """modified_bessel_i0(Tensor self) -> Tensor"""

def modified_bessel_i1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """modified_bessel_i1(Tensor self) -> Tensor"""

def modified_bessel_k0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """modified_bessel_k0(Tensor self) -> Tensor"""

def modified_bessel_k1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """modified_bessel_k1(Tensor self) -> Tensor"""

def multigammaln(input: Operand, p: _int, *, out: Tensor | None = None) -> Tensor:
    """multigammaln(Tensor self, int p) -> Tensor"""

def ndtr(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """ndtr(Tensor self) -> Tensor"""

def ndtri(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """ndtri(Tensor self) -> Tensor"""

def polygamma(n: _int, input: Operand, *, out: Tensor | None = None) -> Tensor:
    """polygamma(int n, Tensor self) -> Tensor"""

def psi(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """psi(Tensor self) -> Tensor"""

def round(input: Operand, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
    """round(Tensor self, *, int decimals=0) -> Tensor"""

def round_(input: Operand, *, decimals: _int = 0) -> Tensor:
    """In-place form of `round(Tensor self, *, int decimals=0) -> Tensor`."""

def scaled_modified_bessel_k0(x: Operand, *, out: Tensor | None = None) -> Tensor:
    """scaled_modified_bessel_k0(Tensor x) -> Tensor"""

def scaled_modified_bessel_k1(x: Operand, *, out: Tensor | None = None) -> Tensor:
    """scaled_modified_bessel_k1(Tensor x) -> Tensor"""

def shifted_chebyshev_polynomial_t(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """shifted_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor"""

def shifted_chebyshev_polynomial_u(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """shifted_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor"""

def shifted_chebyshev_polynomial_v(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """shifted_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor"""

def shifted_chebyshev_polynomial_w(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """shifted_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor"""

def sigmoid(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """sigmoid(Tensor self) -> Tensor"""

def sigmoid_(input: Operand) -> Tensor:
    """In-place form of `sigmoid(Tensor self) -> Tensor`."""

def sinc(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """sinc(Tensor self) -> Tensor"""

def sinc_(input: Operand) -> Tensor:
    """In-place form of `sinc(Tensor self) -> Tensor`."""

def softmax(
    input: Operand,
    dim: _int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """softmax(Tensor input, int? dim=None, Dtype? dtype=None) -> Tensor"""

def spherical_bessel_j0(x: Operand, *, out: Tensor | None = None) -> Tensor:
    """spherical_bessel_j0(Tensor x) -> Tensor"""

def xlog1py(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """xlog1py(Tensor self, Tensor other) -> Tensor"""

def xlogy(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """xlogy(Tensor self, Tensor other) -> Tensor"""

def xlogy_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `xlogy(Tensor self, Tensor other) -> Tensor`."""

def zeta(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """zeta(Tensor self, Tensor other) -> Tensor"""
