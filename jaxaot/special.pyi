"""Special functions (`torch.special`)."""

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

def airy_ai(x: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Airy function Ai of each element.

    Args:
      x: The elements, or the points along the dim.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.airy_ai`.
    """

def bessel_j0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Bessel function of the first kind of order 0.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.bessel_j0`.
    """

def bessel_j1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Bessel function of the first kind of order 1.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.bessel_j1`.
    """

def bessel_y0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Bessel function of the second kind of order 0.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.bessel_y0`.
    """

def bessel_y1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Bessel function of the second kind of order 1.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.bessel_y1`.
    """

def chebyshev_polynomial_t(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Chebyshev polynomial of the first kind of degree `n` at `x`.

    Args:
      x: The elements, or the points along the dim.
      n: A number: how often, which power, or which degree.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.chebyshev_polynomial_t`.
    """

def chebyshev_polynomial_u(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Chebyshev polynomial of the second kind of degree `n` at `x`.

    Args:
      x: The elements, or the points along the dim.
      n: A number: how often, which power, or which degree.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.chebyshev_polynomial_u`.
    """

def chebyshev_polynomial_v(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Chebyshev polynomial of the third kind of degree `n` at `x`.

    Args:
      x: The elements, or the points along the dim.
      n: A number: how often, which power, or which degree.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.chebyshev_polynomial_v`.
    """

def chebyshev_polynomial_w(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Chebyshev polynomial of the fourth kind of degree `n` at `x`.

    Args:
      x: The elements, or the points along the dim.
      n: A number: how often, which power, or which degree.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.chebyshev_polynomial_w`.
    """

def digamma(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the derivative of the logarithm of the gamma function of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.digamma_` writes it to `input`.

    See `torch.digamma`.
    """

def digamma_(input: Operand) -> Tensor:
    """Writes to the tensor what `digamma` returns: the derivative of the logarithm of the gamma function of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.digamma_`.
    """

def entr(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns -x log(x), the entropy of each element; 0 at zero.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.entr`.
    """

def erf(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the error function of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.erf_` writes it to `input`.

    See `torch.erf`.
    """

def erf_(input: Operand) -> Tensor:
    """Writes to the tensor what `erf` returns: the error function of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.erf_`.
    """

def erfc(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns one minus the error function of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.erfc_` writes it to `input`.

    See `torch.erfc`.
    """

def erfc_(input: Operand) -> Tensor:
    """Writes to the tensor what `erfc` returns: one minus the error function of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.erfc_`.
    """

def erfcx(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns exp(x²) times one minus the error function of x.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.erfcx`.
    """

def erfinv(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the inverse of the error function of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.erfinv_` writes it to `input`.

    See `torch.erfinv`.
    """

def erfinv_(input: Operand) -> Tensor:
    """Writes to the tensor what `erfinv` returns: the inverse of the error function of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.erfinv_`.
    """

def exp2(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns 2 to the power of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.exp2_` writes it to `input`.

    See `torch.exp2`.
    """

def exp2_(input: Operand) -> Tensor:
    """Writes to the tensor what `exp2` returns: 2 to the power of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.exp2_`.
    """

def expit(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns 1 / (1 + exp(-x)) (`sigmoid`).

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.expit`.
    """

def expm1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns e to the power of each element, minus one, exact for small elements.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.expm1_` writes it to `input`.

    See `torch.expm1`.
    """

def expm1_(input: Operand) -> Tensor:
    """Writes to the tensor what `expm1` returns: e to the power of each element, minus one, exact for small elements.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.expm1_`.
    """

def gammainc(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the regularized lower incomplete gamma function (`igamma`).

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.gammainc`.
    """

def gammaincc(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the regularized upper incomplete gamma function (`igammac`).

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.gammaincc`.
    """

def gammaln(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the logarithm of the magnitude of the gamma function (`lgamma`).

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.gammaln`.
    """

def hermite_polynomial_h(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the physicists' Hermite polynomial of degree `n` at `x`.

    Args:
      x: The elements, or the points along the dim.
      n: A number: how often, which power, or which degree.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.hermite_polynomial_h`.
    """

def hermite_polynomial_he(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the probabilists' Hermite polynomial of degree `n` at `x`.

    Args:
      x: The elements, or the points along the dim.
      n: A number: how often, which power, or which degree.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.hermite_polynomial_he`.
    """

def i0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the modified Bessel function of the first kind of order 0 (`modified_bessel_i0`).

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.i0_` writes it to `input`.

    See `torch.i0`.
    """

def i0_(input: Operand) -> Tensor:
    """Writes to the tensor what `i0` returns: the modified Bessel function of the first kind of order 0 (`modified_bessel_i0`).

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.i0_`.
    """

def i0e(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns exp(-|x|) times the modified Bessel function of the first kind of order 0.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.i0e`.
    """

def i1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the modified Bessel function of the first kind of order 1 (`modified_bessel_i1`).

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.i1`.
    """

def i1e(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns exp(-|x|) times the modified Bessel function of the first kind of order 1.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.i1e`.
    """

def laguerre_polynomial_l(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Laguerre polynomial of degree `n` at `x`.

    Args:
      x: The elements, or the points along the dim.
      n: A number: how often, which power, or which degree.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.laguerre_polynomial_l`.
    """

def legendre_polynomial_p(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Legendre polynomial of degree `n` at `x`.

    Args:
      x: The elements, or the points along the dim.
      n: A number: how often, which power, or which degree.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.legendre_polynomial_p`.
    """

def lgamma(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the logarithm of the magnitude of the gamma function of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.lgamma_` writes it to `input`.

    See `torch.lgamma`.
    """

def lgamma_(input: Operand) -> Tensor:
    """Writes to the tensor what `lgamma` returns: the logarithm of the magnitude of the gamma function of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.lgamma_`.
    """

def log1p(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the natural logarithm of one plus each element, exact for small elements.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.log1p_` writes it to `input`.

    See `torch.log1p`.
    """

def log1p_(input: Operand) -> Tensor:
    """Writes to the tensor what `log1p` returns: the natural logarithm of one plus each element, exact for small elements.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.log1p_`.
    """

def log_ndtr(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the logarithm of the probability that a normal number is at most each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.log_ndtr`.
    """

def log_softmax(
    input: Operand,
    dim: _int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """Returns the logarithm of the softmax along `dim`, without overflow.

    Args:
      input: The tensor.
      dim: The dim along which the exponentials of the results add up to 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.log_softmax`.
    """

def logit(input: Operand, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """Returns log(x / (1 - x)), the inverse of the sigmoid; elements are clamped to [eps, 1 - eps] if given.

    Args:
      input: The tensor.
      eps: Elements are clamped to [eps, 1 - eps] first; None for not.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.logit_` writes it to `input`.

    See `torch.logit`.
    """

def logit_(input: Operand, eps: _float | None = None) -> Tensor:
    """Writes to the tensor what `logit` returns: log(x / (1 - x)), the inverse of the sigmoid; elements are clamped to [eps, 1 - eps] if given.

    Args:
      input: The tensor.
      eps: Elements are clamped to [eps, 1 - eps] first; None for not.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.logit_`.
    """

def logsumexp(
    input: Operand,
    dim: Ints = ...,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    axis: Ints = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the logarithm of the sum of the exponentials over `dim`, without overflow.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.logsumexp`.
    """

def modified_bessel_i0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the modified Bessel function of the first kind of order 0.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.modified_bessel_i0`.
    """

def modified_bessel_i1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the modified Bessel function of the first kind of order 1.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.modified_bessel_i1`.
    """

def modified_bessel_k0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the modified Bessel function of the second kind of order 0.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.modified_bessel_k0`.
    """

def modified_bessel_k1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the modified Bessel function of the second kind of order 1.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.modified_bessel_k1`.
    """

def multigammaln(input: Operand, p: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns the logarithm of the multivariate gamma function of dimension `p`.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.multigammaln`.
    """

def ndtr(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the probability that a normal number is at most each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.ndtr`.
    """

def ndtri(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the number that a normal one is below with the probability that each element is.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.ndtri`.
    """

def polygamma(n: _int, input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the n-th derivative of the digamma function of each element.

    Args:
      n: A number: how often, which power, or which degree.
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.polygamma`.
    """

def psi(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the derivative of the logarithm of the gamma function (`digamma`).

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.psi`.
    """

def round(input: Operand, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
    """Returns each element rounded to the nearest number of `decimals` places, halves to even.

    Args:
      input: The tensor.
      decimals: To how many places after the point; negative ones stand before it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.round_` writes it to `input`.

    See `torch.round`.
    """

def round_(input: Operand, *, decimals: _int = 0) -> Tensor:
    """Writes to the tensor what `round` returns: each element rounded to the nearest number of `decimals` places, halves to even.

    Args:
      input: The tensor.
      decimals: To how many places after the point; negative ones stand before it.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.round_`.
    """

def scaled_modified_bessel_k0(x: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns exp(x) times the modified Bessel function of the second kind of order 0.

    Args:
      x: The elements, or the points along the dim.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.scaled_modified_bessel_k0`.
    """

def scaled_modified_bessel_k1(x: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns exp(x) times the modified Bessel function of the second kind of order 1.

    Args:
      x: The elements, or the points along the dim.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.scaled_modified_bessel_k1`.
    """

def shifted_chebyshev_polynomial_t(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Chebyshev polynomial of the first kind of degree `n` at 2x - 1.

    Args:
      x: The elements, or the points along the dim.
      n: A number: how often, which power, or which degree.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.shifted_chebyshev_polynomial_t`.
    """

def shifted_chebyshev_polynomial_u(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Chebyshev polynomial of the second kind of degree `n` at 2x - 1.

    Args:
      x: The elements, or the points along the dim.
      n: A number: how often, which power, or which degree.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.shifted_chebyshev_polynomial_u`.
    """

def shifted_chebyshev_polynomial_v(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Chebyshev polynomial of the third kind of degree `n` at 2x - 1.

    Args:
      x: The elements, or the points along the dim.
      n: A number: how often, which power, or which degree.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.shifted_chebyshev_polynomial_v`.
    """

def shifted_chebyshev_polynomial_w(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Chebyshev polynomial of the fourth kind of degree `n` at 2x - 1.

    Args:
      x: The elements, or the points along the dim.
      n: A number: how often, which power, or which degree.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.shifted_chebyshev_polynomial_w`.
    """

def sigmoid(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns 1 / (1 + exp(-x)) for each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.sigmoid_` writes it to `input`.

    See `torch.sigmoid`.
    """

def sigmoid_(input: Operand) -> Tensor:
    """Writes to the tensor what `sigmoid` returns: 1 / (1 + exp(-x)) for each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.sigmoid_`.
    """

def sinc(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns sin(πx) / (πx) for each element, 1 at zero.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.sinc_` writes it to `input`.

    See `torch.sinc`.
    """

def sinc_(input: Operand) -> Tensor:
    """Writes to the tensor what `sinc` returns: sin(πx) / (πx) for each element, 1 at zero.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.sinc_`.
    """

def softmax(
    input: Operand,
    dim: _int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """Returns the softmax along `dim`: exponentials, divided by their sum.

    Args:
      input: The tensor.
      dim: The dim along which the results add up to 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.softmax`.
    """

def spherical_bessel_j0(x: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the spherical Bessel function of the first kind of order 0: sin(x) / x.

    Args:
      x: The elements, or the points along the dim.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.spherical_bessel_j0`.
    """

def xlog1py(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns `input * log(1 + other)`, 0 where `input` is zero.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.xlog1py`.
    """

def xlogy(input: Operand = ..., other: Operand = ..., *, out: Tensor | None = None, self: Operand = ...) -> Tensor:
    """Returns `input * log(other)`, 0 where `input` is zero.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      self: The tensor.

    The result has memory of its own; `Tensor.xlogy_` writes it to `input`.

    See `torch.xlogy`.
    """

def xlogy_(input: Operand = ..., other: Operand = ..., *, self: Operand = ...) -> Tensor:
    """Writes to the tensor what `xlogy` returns: `input * log(other)`, 0 where `input` is zero.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      self: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.xlogy_`.
    """

def zeta(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Hurwitz zeta function ζ(input, other).

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.special.zeta`.
    """
