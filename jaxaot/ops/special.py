"""Special functions of real numbers: error functions, gammas, logits and Bessel functions of imaginary arguments.

Derivatives that are given by a formula are PyTorch's, see `derivatives.yaml` there: they differ from JAX's at poles,
at 0 and outside the domain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy import special as jsp

from jaxaot._typing import Array
from jaxaot.errors import DtypeError, TensorError
from jaxaot.ops.derivatives import with_derivatives
from jaxaot.ops.elementwise import real_only, register_binary, register_unary, sgn
from jaxaot.ops.promotion import is_complex, promote_float
from jaxaot.ops.table import register_op


def in_single(fn: Callable[..., Array]) -> Callable[..., Array]:
    """Returns `fn` with half precision computed in single, for functions that jax does not have in half."""

    def widened(*operands: Array) -> Array:
        if operands[0].dtype.itemsize > 2:
            return fn(*operands)
        return fn(*(x.astype(jnp.float32) for x in operands)).astype(operands[0].dtype)

    widened.__name__ = getattr(fn, "__name__", "fn")
    return widened


# Gammas


def _zeta(x: Array, q: Array) -> Array:
    """Returns Hurwitz's zeta. Below 0 it is reflected: terms on both sides of the pole cancel, and are not added up."""
    x, q = jnp.broadcast_arrays(x, q)
    whole, is_below = q == jnp.floor(q), q < 0
    above = lax.zeta(x, jnp.where(is_below, jnp.where(whole, 1, q - jnp.floor(q)), jnp.where(q > 0, q, 1)))
    # the terms below the pole are those from the first one on, less those that would come behind the last
    below = lax.zeta(x, jnp.where(is_below & ~whole, jnp.ceil(q) - q, 1))
    behind = lax.zeta(x, jnp.where(is_below, 1 - q, 1))
    sign = jnp.where(x % 2 == 1, -1, 1).astype(x.dtype)
    value = jnp.where(is_below, (above + sign * below) - sign * behind, above)
    value = jnp.where(q <= 0, jnp.where(whole, jnp.inf, jnp.where(x != jnp.floor(x), jnp.nan, value)), value)
    return jnp.where(jnp.isnan(q) | (x < 1) | jnp.isnan(x), jnp.nan, jnp.where(x == 1, jnp.inf, value))


zeta = with_derivatives(in_single(_zeta), None, lambda x, q, _: -x * zeta(x + 1, q))


def _polygamma(n: int, x: Array) -> Array:
    if n == 0:
        zero = x == 0
        return jnp.where(zero, -jnp.copysign(jnp.inf, x), jsp.digamma(jnp.where(zero, 1, x)))
    if n == 1:
        # reflected, and pushed up to where the asymptotic series holds
        reflected = x < 0.5
        y, total = jnp.where(reflected, 1 - x, x), jnp.zeros_like(x)
        for _ in range(6):
            total, y = total + 1 / (y * y), y + 1
        square = 1 / (y * y)
        total = total + (1 + 1 / (2 * y) + square * (1 / 6 - square * (1 / 30 - square * (1 / 42)))) / y
        return jnp.where(reflected, (np.pi / jnp.sin(np.pi * x)) ** 2 - total, total)
    return (-1.0) ** (n + 1) * math.factorial(n) * _zeta(jnp.asarray(n + 1, x.dtype), x)


def polygamma_values(n: int, x: Array) -> Array:
    """Returns the `n`-th derivative of digamma."""
    values = in_single(lambda x: _polygamma(n, x))
    return with_derivatives(values, lambda x, _: polygamma_values(n + 1, x))(x)


def digamma(x: Array) -> Array:
    """Returns the derivative of log gamma, infinite at 0 as PyTorch takes it."""
    return polygamma_values(0, x)


lgamma = with_derivatives(jsp.gammaln, lambda x, _: digamma(x))


@register_op("polygamma(int n, Tensor self) -> Tensor", promote="float", namespaces=("", "special"))
def polygamma(n, self):
    if n < 0:
        raise TensorError("polygamma(n, x) does not support negative n.")
    if is_complex(self.dtype):
        raise DtypeError("polygamma is not supported for complex tensors.")
    return polygamma_values(n, self)


@register_op("polygamma_write(Tensor self, int n) -> Tensor", inplace="polygamma_", inplace_only=True, overwrites=False)
def polygamma_write(self, n):
    return polygamma(n, *promote_float(self))


def _multigammaln(self: Array, p: int) -> Array:
    if is_complex(self.dtype):
        raise DtypeError("mvlgamma is not supported for complex tensors.")
    if p < 1:
        raise TensorError("p has to be greater than or equal to 1")
    shifts = 0.5 * jnp.arange(0, -p, -1, dtype=self.dtype)  # the first is 0, not -0
    return jnp.sum(lgamma(self[..., None] + shifts), -1) + p * (p - 1) / 4 * math.log(math.pi)


@register_op("multigammaln(Tensor self, int p) -> Tensor", promote="float", method=False, namespaces=("special",))
def multigammaln(self, p):
    return _multigammaln(self, p)


@register_op("mvlgamma(Tensor self, int p) -> Tensor", promote="float", inplace=True)
def mvlgamma(self, p):
    return _multigammaln(self, p)


def _density(a: Array, x: Array) -> Array:
    """Returns the derivative of the incomplete gamma for x, the density of the gamma distribution."""
    return jnp.exp((a - 1) * jnp.log(x) - x - lgamma(a))


def _of_gamma(fn: Callable[..., Any], at_zero: float) -> Callable[[Array, Array], Array]:
    """Returns an incomplete gamma, with the values of PyTorch at the edges of the domain."""

    def values(a: Array, x: Array) -> Array:
        inside = (a > 0) & (x > 0) & jnp.isfinite(a) & jnp.isfinite(x)
        value = fn(jnp.where(inside, a, 1), jnp.where(inside, x, 1))
        outside = (
            (x < 0)
            | (a < 0)
            | jnp.isnan(x)
            | (jnp.isnan(a) & (x != 0) & ~jnp.isinf(x))
            | ((a == 0) & (x == 0))
            | (jnp.isinf(a) & jnp.isinf(x))
        )
        # all of the mass lies below x where a is 0 or x infinite, and none where x is 0 or a infinite
        edge = jnp.where((x == 0) | jnp.isinf(a), at_zero, 1 - at_zero)
        return jnp.where(inside, value, jnp.where(outside, jnp.nan, edge))

    return in_single(values)


igamma = with_derivatives(_of_gamma(jsp.gammainc, 0.0), None, lambda a, x, _: _density(a, x))
igammac = with_derivatives(_of_gamma(jsp.gammaincc, 1.0), None, lambda a, x, _: -_density(a, x))


# Error functions


def _erfcx(x: Array) -> Array:
    """Returns exp(x^2) erfc(x); by its asymptotic series where erfc underflows (https://dlmf.nist.gov/7.12)."""
    near, far = jnp.minimum(x, 9), jnp.maximum(x, 9)
    z, series = 1 / (2 * far * far), jnp.ones_like(x)
    for k in range(12, 0, -1):
        series = 1 - (2 * k - 1) * z * series
    return jnp.where(x > 9, series / (far * np.sqrt(np.pi)), jnp.exp(near * near) * jsp.erfc(near))


erfcx = with_derivatives(in_single(_erfcx), lambda x, result: 2 * x * result - 2 / np.sqrt(np.pi))


def _log_ndtr(x: Array) -> Array:
    """Returns log(erfc(-x / √2) / 2): of the small tail everywhere, where `jsp.log_ndtr` rounds next to 1 first."""
    t = x * np.sqrt(0.5)
    return jnp.where(x < -1, jnp.log(_erfcx(-t) / 2) - t * t, jnp.log1p(-jsp.erfc(t) / 2)).astype(x.dtype)


log_ndtr = with_derivatives(
    in_single(_log_ndtr), lambda x, result: (jnp.exp(-(result + x * x / 2)) / np.sqrt(2 * np.pi)).astype(x.dtype)
)
ndtri = with_derivatives(in_single(jsp.ndtri), lambda _, result: np.sqrt(2 * np.pi) * jnp.exp(result * result / 2))


# Logarithms and ratios


def _entr(x: Array) -> Array:
    positive = jnp.where(x > 0, x, 1)
    return jnp.where(x > 0, -positive * jnp.log(positive), jnp.where(x == 0, 0.0, jnp.where(x < 0, -jnp.inf, x)))


entr = with_derivatives(_entr, lambda x, _: -1 - jnp.log(x))


def _of_log(log: Callable[[Array], Array], start: float) -> Callable[[Array, Array], Array]:
    """Returns x, y → `x * log(y)`, 0 where x is 0; `start` is where the logarithm begins."""

    def values(x: Array, y: Array) -> Array:
        return jnp.where(jnp.isnan(y), jnp.nan, jnp.where(x == 0, 0, x * log(y))).astype(x.dtype)

    return with_derivatives(
        values,
        lambda x, y, _: jnp.where((x == 0) & (y <= start), 0, log(y)),
        lambda x, y, _: x / (y - start),
    )


xlogy = _of_log(jnp.log, 0)
xlog1py = _of_log(jnp.log1p, -1)


def _sinc(x: Array) -> Array:
    zero = x == 0
    angle = np.pi * jnp.where(zero, 1, x)
    return jnp.where(zero, 1, jnp.sin(angle) / angle).astype(x.dtype)


def _sinc_slope(x: Array, _: Array) -> Array:
    near = jnp.abs(x) < 0.03  # where the difference below cancels
    small = np.pi * jnp.where(near, x, 0)
    angle = np.pi * jnp.where(near, 1, x)
    slope = (jnp.cos(angle) * angle - jnp.sin(angle)) / (angle * jnp.where(near, 1, x))
    return jnp.where(near, -np.pi * small * (1 / 3 - small * small / 30), slope)


sinc = with_derivatives(in_single(_sinc), in_single(_sinc_slope))


def _logit_slope(x: Array, low: float, high: float, outside: float) -> Array:
    return jnp.where((x < low) | (x > high), outside, 1 / jnp.abs(x * (1 - x)))


@register_op("logit(Tensor self, float? eps=None) -> Tensor", promote="float", inplace=True, namespaces=("", "special"))
def logit(self, eps):
    low, high, outside = (0.0, 1.0, jnp.nan) if eps is None else (eps, 1 - eps, 0.0)

    def values(x: Array) -> Array:
        if eps is not None:
            x = jnp.where(x < low, low, jnp.where(x > high, high, x)).astype(x.dtype)
        return jnp.log(x / (1 - x))

    return with_derivatives(values, lambda x, _: _logit_slope(x, low, high, outside))(self)


expm1 = with_derivatives(jnp.expm1, lambda _, result: result + 1)  # from the result in every JAX, as PyTorch saves it


# Modified Bessel functions of the first kind


def _over(value: Array, x: Array) -> Array:
    """Returns `value / x`, and 1/2 where x is 0."""
    return jnp.where(x == 0, 0.5, value / jnp.where(x == 0, 1, x))


def _i0e_slope(x: Array, value: Array) -> Array:
    size = jnp.abs(jnp.where(x == 0, 1, x))
    far = value / (2 * size) * (1 + 1 / (4 * size))  # what is left of a difference of equal numbers
    return jnp.where(size > 1e3, -sgn(x) * far, i1e(x) - sgn(x) * value)


i0e = with_derivatives(jsp.i0e, lambda x, _: in_single(lambda x: _i0e_slope(x, i0e(x)))(x))
i1 = with_derivatives(jsp.i1, lambda x, result: i0(x) - _over(result, x))
i0 = with_derivatives(jsp.i0, lambda x, _: i1(x))
i1e = with_derivatives(jsp.i1e, lambda x, result: jnp.where(x == 0, 0.5, i0e(x) - sgn(x) * result - _over(result, x)))


# Rows

EVERYWHERE: dict[str, Callable[[Array], Array]] = {
    "exp2": jnp.exp2, "expm1": expm1, "log1p": jnp.log1p, "sinc": sinc, "sigmoid": jax.nn.sigmoid,
    "erf": jsp.erf, "erfc": jsp.erfc, "erfinv": jsp.erfinv, "lgamma": lgamma, "digamma": digamma, "i0": i0,
}  # fmt: skip
SPECIAL: dict[str, Callable[[Array], Array]] = {
    "i0e": i0e, "i1": i1, "i1e": i1e, "ndtr": in_single(jsp.ndtr), "log_ndtr": log_ndtr,
    "ndtri": ndtri, "expit": jax.nn.sigmoid, "psi": digamma, "gammaln": lgamma, "erfcx": erfcx, "entr": entr,
}  # fmt: skip
COMPLEX = ("exp2", "expm1", "log1p", "sinc", "sigmoid", "expit")

SPECIAL_ONLY: dict[str, Any] = {"promote": "float", "method": False, "namespaces": ("special",)}

register_unary(real_only(EVERYWHERE, COMPLEX), {}, promote="float", inplace=True, namespaces=("", "special"))
register_unary(real_only(SPECIAL, COMPLEX), {}, **SPECIAL_ONLY)
register_binary(real_only({"xlogy": xlogy}), {}, promote="float", inplace=True, namespaces=("", "special"))
register_binary(real_only({"igamma": igamma, "igammac": igammac}), {}, promote="float", inplace=True)
register_binary(
    real_only({"xlog1py": xlog1py, "zeta": zeta, "gammainc": igamma, "gammaincc": igammac}), {}, **SPECIAL_ONLY
)
