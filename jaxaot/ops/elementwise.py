"""Elementwise arithmetic and functions of real numbers.

The short rows are tables of a name and a function of jax; below each come those that need a line of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy import special as jsp

from jaxaot._typing import Array
from jaxaot.errors import ArgumentError, DtypeError, TensorError
from jaxaot.ops.dims import broadcast_shapes
from jaxaot.ops.promotion import (
    is_bool,
    is_complex,
    is_floating,
    is_inexact,
    is_number,
    promote,
    promote_float,
    result_dtype,
    strong,
)
from jaxaot.ops.table import register_op


def unary(fn: Callable[[Array], Array]) -> Callable[..., Array]:
    """Returns `fn` as the function of a row with the one parameter `self`."""
    return lambda self: fn(self)


def binary(fn: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    """Returns `fn` as the function of a row with the parameters `self` and `other`."""
    return lambda self, other: fn(self, other)


def register_unary(table: Mapping[str, Callable[[Array], Array]], aliases: Mapping[str, Any], **settings: Any) -> None:
    """Adds a row for each name and function of one operand."""
    for name, fn in table.items():
        register_op(f"{name}(Tensor self) -> Tensor", aliases=aliases.get(name, ()), **settings)(unary(fn))


def register_binary(table: Mapping[str, Any], aliases: Mapping[str, Any], **settings: Any) -> None:
    """Adds a row for each name and function of two operands."""
    for name, fn in table.items():
        register_op(f"{name}(Tensor self, Tensor other) -> Tensor", aliases=aliases.get(name, ()), **settings)(
            binary(fn)
        )


def _digamma(x: Array) -> Array:
    """Returns digamma, which PyTorch takes to be infinite at 0."""
    zero = x == 0
    return jnp.where(zero, -jnp.copysign(jnp.inf, x), jsp.digamma(jnp.where(zero, 1, x))).astype(x.dtype)


FLOAT_UNARY = {
    "sqrt": jnp.sqrt, "rsqrt": lax.rsqrt, "reciprocal": lambda x: 1 / x,
    "exp": jnp.exp, "log": jnp.log, "log2": jnp.log2, "log10": jnp.log10,
    "sin": jnp.sin, "cos": jnp.cos, "tan": jnp.tan, "asin": jnp.arcsin, "acos": jnp.arccos, "atan": jnp.arctan,
    "sinh": jnp.sinh, "cosh": jnp.cosh, "tanh": jnp.tanh,
    "asinh": jnp.arcsinh, "acosh": jnp.arccosh, "atanh": jnp.arctanh,
    "rad2deg": lambda x: x * (180.0 / jnp.pi), "deg2rad": lambda x: x * (jnp.pi / 180.0),
}  # fmt: skip

FLOAT_ALIASES = {
    "asin": ("arcsin",), "acos": ("arccos",), "atan": ("arctan",),
    "asinh": ("arcsinh",), "acosh": ("arccosh",), "atanh": ("arctanh",),
}  # fmt: skip

SPECIAL_UNARY = {
    "exp2": jnp.exp2, "expm1": jnp.expm1, "log1p": jnp.log1p, "sinc": jnp.sinc, "sigmoid": jax.nn.sigmoid,
    "erf": jsp.erf, "erfc": jsp.erfc, "erfinv": jsp.erfinv, "lgamma": jsp.gammaln, "digamma": _digamma, "i0": jsp.i0,
}  # fmt: skip

SPECIAL_ONLY = {
    "i0e": jsp.i0e, "i1": jsp.i1, "i1e": jsp.i1e, "ndtr": jsp.ndtr, "log_ndtr": jsp.log_ndtr, "ndtri": jsp.ndtri,
    "expit": jax.nn.sigmoid, "psi": _digamma, "gammaln": jsp.gammaln,
}  # fmt: skip

register_unary(FLOAT_UNARY, FLOAT_ALIASES, promote="float", inplace=True)
register_unary(SPECIAL_UNARY, {}, promote="float", inplace=True, namespaces=("", "special"))
register_unary(SPECIAL_ONLY, {}, promote="float", method=False, namespaces=("special",))


@register_op("entr(Tensor self) -> Tensor", promote="float", method=False, namespaces=("special",))
def entr(self):
    positive = jnp.where(self > 0, self, 1)
    return jnp.where(
        self > 0, -positive * jnp.log(positive), jnp.where(self == 0, 0.0, jnp.where(self < 0, -jnp.inf, self))
    )


def _sgn(x: Array) -> Array:
    if not is_complex(x.dtype):
        return _sign(x)
    size = jnp.abs(x)
    return jnp.where(size == 0, 0, x / jnp.where(size == 0, 1, size))


def absolute(x: Array) -> Array:
    """Returns the absolute values, with PyTorch's gradient 0 at 0 (that of XLA's `abs` is 1)."""
    if not is_inexact(x.dtype):
        return jnp.abs(x)
    zero = x == 0
    return jnp.where(zero, 0, jnp.abs(jnp.where(zero, 1, x)))


def _sign(x: Array) -> Array:
    if is_bool(x.dtype):
        return x
    # NaN has the sign 0 in PyTorch and NaN in XLA.
    return jnp.where(jnp.isnan(x), 0, jnp.sign(x)).astype(x.dtype) if is_floating(x.dtype) else jnp.sign(x)


def _neg(x: Array) -> Array:
    if is_bool(x.dtype):
        raise DtypeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead."
        )
    return -x


def _to_integer(fn: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: fn(x) if is_floating(x.dtype) else x


SAME_DTYPE_UNARY = {
    "abs": absolute, "neg": _neg, "positive": lambda x: x, "sign": _sign, "sgn": _sgn, "square": jnp.square,
    "ceil": _to_integer(jnp.ceil), "floor": _to_integer(jnp.floor), "trunc": _to_integer(jnp.trunc),
    "frac": lambda x: x - lax.stop_gradient(jnp.trunc(x)),
    "conj_physical": jnp.conj,
}  # fmt: skip
SAME_DTYPE_ALIASES = {"abs": ("absolute",), "neg": ("negative",), "trunc": ("fix",)}

register_unary(SAME_DTYPE_UNARY, SAME_DTYPE_ALIASES, promote="common", inplace=True)


@register_op(
    "round(Tensor self, *, int decimals=0) -> Tensor", promote="common", inplace=True, namespaces=("", "special")
)
def round_(self, decimals):
    if not is_floating(self.dtype):
        return self
    if decimals == 0:
        return jnp.round(self)
    scale = 10.0 ** abs(decimals)
    return jnp.round(self * scale) / scale if decimals > 0 else jnp.round(self / scale) * scale


@register_op("angle(Tensor self) -> Tensor", promote="float")
def angle(self):
    if is_complex(self.dtype):
        return jnp.angle(self)
    return lax.stop_gradient(jnp.where(jnp.isnan(self), self, jnp.where(self < 0, jnp.pi, 0.0)).astype(self.dtype))


@register_op("logit(Tensor self, float? eps=None) -> Tensor", promote="float", inplace=True, namespaces=("", "special"))
def logit(self, eps):
    if eps is not None:
        self = jnp.where(self < eps, eps, jnp.where(self > 1 - eps, 1 - eps, self)).astype(self.dtype)
    return jnp.log(self / (1 - self))


@register_op(
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    promote="common",
    inplace=True,
)
def nan_to_num(self, nan, posinf, neginf):
    if not is_inexact(self.dtype):
        return self
    limits = jnp.finfo(self.dtype)
    result = jnp.where(jnp.isnan(self), 0.0 if nan is None else nan, self)
    result = jnp.where(self == jnp.inf, limits.max if posinf is None else posinf, result)
    return jnp.where(self == -jnp.inf, limits.min if neginf is None else neginf, result).astype(self.dtype)


# The operators


def _scaled(other: Array, alpha: Any) -> Array:
    """Returns `alpha * other` in the dtype of `other`."""
    if isinstance(alpha, int) and alpha == 1:
        return other
    if not is_inexact(other.dtype) and is_inexact(jnp.result_type(alpha)):
        raise DtypeError("For integral input tensors, argument alpha must not be a floating point number.")
    return other * strong(alpha, other.dtype)


def _refuse_bools(self: Array, other: Array) -> None:
    if is_bool(self.dtype) and is_bool(other.dtype):
        raise DtypeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )


ARITHMETIC = {"promote": "common", "promoted": ("self", "other"), "inplace": True}


@register_op("add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", **ARITHMETIC)
def add(self, other, alpha):
    return self + _scaled(other, alpha)


@register_op("sub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", aliases=("subtract",), **ARITHMETIC)
def sub(self, other, alpha):
    _refuse_bools(self, other)
    return self - _scaled(other, alpha)


@register_op("rsub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", **{**ARITHMETIC, "inplace": False})
def rsub(self, other, alpha):
    _refuse_bools(self, other)
    return other - _scaled(self, alpha)


def _floor_divide(x: Array, y: Array) -> Array:
    if not is_floating(x.dtype):
        return jnp.floor_divide(x, y)
    x, y = lax.stop_gradient(x), lax.stop_gradient(y)
    return jnp.where(y == 0, x / y, jnp.floor_divide(x, y))


def _truncated_divide(x: Array, y: Array) -> Array:
    return lax.stop_gradient(jnp.trunc(x / y)) if is_floating(x.dtype) else lax.div(*jnp.broadcast_arrays(x, y))


@register_op(
    "div(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor",
    aliases=("divide",),
    layout="operands",
    inplace=True,
    out=True,
)
def div(self, other, rounding_mode):
    broadcast_shapes(jnp.shape(self), jnp.shape(other))
    if rounding_mode is None:
        self, other = promote_float(self, other)
        return self / other
    self, other = promote(self, other)
    if rounding_mode not in ("floor", "trunc"):
        raise ArgumentError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found {rounding_mode!r}"
        )
    return _floor_divide(self, other) if rounding_mode == "floor" else _truncated_divide(self, other)


register_op("floor_divide(Tensor self, Tensor other) -> Tensor", promote="common", inplace=True)(binary(_floor_divide))
register_op("true_divide(Tensor self, Tensor other) -> Tensor", promote="float", inplace=True)(
    lambda self, other: self / other
)


def _remainder(x: Array, y: Array) -> Array:
    if not is_floating(x.dtype):
        return jnp.remainder(x, y)
    # The gradient of PyTorch: 1 for x, -floor(x / y) for y.
    value = lax.stop_gradient(jnp.remainder(x, y))
    linear = x - y * _floor_divide(x, y)
    return value + (linear - lax.stop_gradient(linear))


def _fmod(x: Array, y: Array) -> Array:
    return lax.rem(*jnp.broadcast_arrays(x, y))


def _power(x: Array, y: Array) -> Array:
    if not is_inexact(x.dtype):
        return jnp.power(x, y)
    # at 0 ** 0 the slope is 0 for PyTorch; XLA's is 0 * 0 ** -1
    return lax.pow(*jnp.broadcast_arrays(jnp.where((x == 0) & (y == 0), 1, x).astype(x.dtype), y))


@register_op("pow(Tensor self, Tensor exponent) -> Tensor", layout="operands", inplace=True, out=True)
def pow_(self, exponent):
    broadcast_shapes(jnp.shape(self), jnp.shape(exponent))
    dtype = result_dtype(self, exponent)
    if isinstance(exponent, int) and not is_number(self):
        if not is_inexact(dtype) and exponent < 0:
            raise TensorError("Integers to negative integer powers are not allowed.")
        return lax.integer_pow(strong(self, dtype), int(exponent))
    if isinstance(exponent, float) and exponent != 0 and is_inexact(dtype) and not is_number(self):
        return lax.pow(strong(self, dtype), strong(exponent, dtype))
    return _power(strong(self, dtype), strong(exponent, dtype))


@register_op("float_power(Tensor self, Tensor exponent) -> Tensor", promote="float", inplace=True)
def float_power(self, exponent):
    return _power(self, exponent)


def _logaddexp2(x: Array, y: Array) -> Array:
    return jnp.logaddexp(x * jnp.log(2.0).astype(x.dtype), y * jnp.log(2.0).astype(x.dtype)) / jnp.log(2.0).astype(
        x.dtype
    )


def _copysign(x: Array, y: Array) -> Array:
    return x * lax.stop_gradient(
        jnp.where(jnp.sign(x) == 0, 0.0, jnp.copysign(1.0, x) * jnp.copysign(1.0, y)).astype(x.dtype)
    ) + (lax.stop_gradient(jnp.where(x == 0, jnp.copysign(x, y), 0.0).astype(x.dtype)))


def _xlogy(x: Array, y: Array) -> Array:
    zero = (x == 0) & ~jnp.isnan(y)
    # where x is 0 the gradient for x is log(y), or 0 where that is not finite
    safe = jnp.where(zero & (y <= 0), 1, y)
    return jnp.where(jnp.isnan(y), y, x * jnp.log(safe))


def _select_larger(x: Array, y: Array) -> Array:
    return jnp.where((x >= y) | jnp.isnan(y), x, y)


def _select_smaller(x: Array, y: Array) -> Array:
    return jnp.where((x <= y) | jnp.isnan(y), x, y)


def _numbers(fn: Callable[[Array, Array], Array], otherwise: Callable[[Array, Array], Array]) -> Any:
    """Returns `fn` for floats and `otherwise` for integers."""
    return lambda x, y: fn(x, y) if is_floating(x.dtype) else otherwise(x, y)


SAME_DTYPE_BINARY = {
    "mul": lambda x, y: x * y, "remainder": _remainder, "fmod": _fmod,
    "gcd": jnp.gcd, "lcm": jnp.lcm,
}  # fmt: skip
COMMON_BINARY = {
    "maximum": jnp.maximum, "minimum": jnp.minimum,
    "fmax": _numbers(_select_larger, jnp.maximum), "fmin": _numbers(_select_smaller, jnp.minimum),
}  # fmt: skip
FLOAT_BINARY = {
    "atan2": lambda x, y: jnp.arctan2(x, y), "copysign": _copysign, "hypot": lambda x, y: jnp.hypot(x, y),
}  # fmt: skip
FLOAT_FUNCTION_BINARY = {"logaddexp": lambda x, y: jnp.logaddexp(x, y), "logaddexp2": _logaddexp2}
SPECIAL_BINARY = {
    "xlog1py": lambda x, y: _xlogy(x, 1 + y), "zeta": jsp.zeta, "gammainc": jsp.gammainc, "gammaincc": jsp.gammaincc,
}  # fmt: skip

register_binary(SAME_DTYPE_BINARY, {"mul": ("multiply",)}, promote="common", inplace=True)
register_binary(COMMON_BINARY, {}, promote="common")
register_binary(FLOAT_BINARY, {"atan2": ("arctan2",)}, promote="float", inplace=True)
register_binary(FLOAT_FUNCTION_BINARY, {}, promote="float")
register_binary({"xlogy": _xlogy}, {}, promote="float", inplace=True, namespaces=("", "special"))
register_binary(SPECIAL_BINARY, {}, promote="float", method=False, namespaces=("special",))
register_binary({"nextafter": jnp.nextafter}, {}, promote="float", inplace=True, differentiable=False)


@register_op("heaviside(Tensor self, Tensor values) -> Tensor", promote="common", inplace=True, differentiable=False)
def heaviside(self, values):
    return (
        jnp.where(jnp.isnan(self), self, jnp.where(self == 0, values, (self > 0).astype(self.dtype)))
        if is_floating(self.dtype)
        else jnp.where(self == 0, values, (self > 0).astype(self.dtype))
    )


@register_op("ldexp(Tensor self, Tensor other) -> Tensor", promote="float", inplace=True)
def ldexp(self, other):
    return self * jnp.power(jnp.asarray(2.0, self.dtype), other)


@register_op("polygamma(int n, Tensor self) -> Tensor", promote="float", namespaces=("", "special"))
def polygamma(n, self):
    return _digamma(self) if n == 0 else jsp.polygamma(n, self)


@register_op("multigammaln(Tensor self, int p) -> Tensor", promote="float", method=False, namespaces=("special",))
def multigammaln(self, p):
    return jsp.multigammaln(self, p)


register_op("mvlgamma(Tensor self, int p) -> Tensor", promote="float", inplace=True)(multigammaln)


# Several operands


@register_op("lerp(Tensor self, Tensor end, Tensor weight) -> Tensor", promote="common", inplace=True)
def lerp(self, end, weight):
    return jnp.where(jnp.abs(weight) < 0.5, self + weight * (end - self), end - (end - self) * (1 - weight))


FUSED = {"promote": "common", "promoted": ("self", "tensor1", "tensor2"), "inplace": True}


@register_op("addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", **FUSED)
def addcmul(self, tensor1, tensor2, value):
    return self + _scaled(tensor1 * tensor2, value)


@register_op("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", **FUSED)
def addcdiv(self, tensor1, tensor2, value):
    if not is_inexact(self.dtype):
        raise DtypeError("Integer division with addcdiv is no longer supported. Use self + value * tensor1 / tensor2.")
    return self + _scaled(tensor1 / tensor2, value)


def clamp_values(self: Array, min: Any, max: Any) -> Array:
    """Returns `self` held between the bounds. At a bound the gradient goes to `self`, as in PyTorch."""
    floating = is_floating(self.dtype)
    if min is not None:
        below = self < min
        self = jnp.where(below | jnp.isnan(min) if floating else below, min, self)
    if max is not None:
        above = self > max
        self = jnp.where(above | jnp.isnan(max) if floating else above, max, self)
    return self


@register_op(
    "clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    promote="common",
    inplace=True,
    aliases=("clip",),
)
def clamp(self, min, max):
    if min is None and max is None:
        raise TensorError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return clamp_values(self, min, max)


@register_op("clamp_min(Tensor self, Tensor min) -> Tensor", promote="common", inplace=True)
def clamp_min(self, min):
    return clamp_values(self, min, None)


@register_op("clamp_max(Tensor self, Tensor max) -> Tensor", promote="common", inplace=True)
def clamp_max(self, max):
    return clamp_values(self, None, max)
