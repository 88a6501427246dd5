"""Arithmetic: the operators, and elementwise functions of several real or complex numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._typing import Array
from jaxaot.errors import ArgumentError, DtypeError, TensorError
from jaxaot.ops.derivatives import divide, with_derivatives
from jaxaot.ops.dims import broadcast_shapes
from jaxaot.ops.elementwise import _scaled, integers_only, real_only, register_binary
from jaxaot.ops.promotion import (
    canonical_dtype,
    is_bool,
    is_complex,
    is_floating,
    is_inexact,
    is_integral,
    is_number,
    promote,
    promote_float,
    result_dtype,
    strong,
)
from jaxaot.ops.table import register_op

# The operators


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
)
def div(self, other, rounding_mode):
    broadcast_shapes(jnp.shape(self), jnp.shape(other))
    if rounding_mode is None:
        self, other = promote_float(self, other)
        return divide(self, other)
    if rounding_mode not in ("floor", "trunc"):
        raise ArgumentError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found {rounding_mode!r}"
        )
    self, other = promote(self, other)
    if is_complex(self.dtype) or is_bool(self.dtype):
        raise DtypeError(f"\"div_{rounding_mode}\" not implemented for '{self.dtype}'. Divide floats or integers.")
    return _floor_divide(self, other) if rounding_mode == "floor" else _truncated_divide(self, other)


register_binary(real_only({"floor_divide": _floor_divide}), {}, promote="common", inplace=True)
register_binary({"true_divide": divide}, {}, promote="float", inplace=True)


def _whole_power(x: Array, y: Array) -> Array:
    """Returns powers modulo the range of the dtype; `jnp.power` looks at no more than six bits of the exponent."""
    result, exponent, facts = jnp.ones_like(x), jnp.maximum(y, 0), jnp.iinfo(y.dtype)
    for _ in range(int(facts.max).bit_length()):
        result = jnp.where(exponent & 1 == 1, result * x, result)
        x, exponent = x * x, exponent >> 1
    return result


def _power(x: Array, y: Array) -> Array:
    x, y = jnp.broadcast_arrays(x, y)
    if not is_inexact(x.dtype):
        positive = _whole_power(x, y) if is_integral(y.dtype) else jnp.power(x, y)
        if not jnp.issubdtype(y.dtype, jnp.signedinteger):
            return positive
        inverse = jnp.where(x == 1, 1, jnp.where(x == -1, jnp.where(y % 2 == 0, 1, -1), 0)).astype(x.dtype)
        return jnp.where(y < 0, inverse, positive)
    if is_complex(x.dtype):
        return jnp.where((x == 0) & (y.real > 0), 0, lax.pow(x, y))
    return lax.pow(x, y)


power = with_derivatives(
    _power,
    lambda x, y, _: jnp.where(y == 0, 0, y * power(x, y - 1)),
    lambda x, y, result: jnp.where((x == 0) & (y.real >= 0) & (y.imag == 0), 0, result * jnp.log(x)),
)


@register_op("pow(Tensor self, Tensor exponent) -> Tensor", layout="operands", inplace=True)
def pow_(self, exponent):
    broadcast_shapes(jnp.shape(self), jnp.shape(exponent))
    dtype = result_dtype(self, exponent)
    if isinstance(exponent, int) and not is_number(self):
        if not is_inexact(dtype) and exponent < 0:
            raise TensorError("Integers to negative integer powers are not allowed.")
        return lax.integer_pow(strong(self, dtype), int(exponent))
    return (power if is_inexact(dtype) else _power)(strong(self, dtype), strong(exponent, dtype))


def _wide(*operands: Array) -> list[Array]:
    """Returns operands in double precision, as far as JAX is set to have it."""
    dtype = canonical_dtype(np.complex128 if is_complex(result_dtype(*operands)) else np.float64)
    return [strong(x, dtype) for x in operands]


@register_op("float_power(Tensor self, Tensor exponent) -> Tensor", layout="operands")
def float_power(self, exponent):
    broadcast_shapes(jnp.shape(self), jnp.shape(exponent))
    value = power(*_wide(self, exponent))
    kind = np.dtype(getattr(exponent, "dtype", type(exponent)))
    if value.dtype != np.float32 or not is_integral(kind) or kind.itemsize < 4:
        return value
    # an odd exponent beyond 2^24 is an even float32
    is_lost = (abs(exponent) > 1 << 24) & (exponent % 2 == 1) & (self < 0)
    return jnp.where(is_lost, -value, value)


@register_op(
    "float_power_write(Tensor self, Tensor exponent) -> Tensor",
    inplace="float_power_",
    inplace_only=True,
    overwrites=False,
)
def float_power_write(self, exponent):
    """Refuses single precision, as PyTorch does: the result is in double."""
    if self.dtype not in (np.float64, np.complex128):
        raise DtypeError(
            f"the base given to float_power_ has dtype {self.dtype} but the operation's result requires dtype Double. "
            "Write `x = x.float_power(exponent)`, or `x.pow_(exponent)`."
        )
    return float_power(self, exponent)


_remainder = with_derivatives(jnp.remainder, lambda x, y, _: jnp.ones_like(x), lambda x, y, _: -_floor_divide(x, y))
_fmod = with_derivatives(
    lambda x, y: lax.rem(*jnp.broadcast_arrays(x, y)),
    lambda x, y, _: jnp.ones_like(x),
    lambda x, y, _: -_truncated_divide(x, y),
)


def _refused_to_bools(name: str, fn: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    def checked(x: Array, y: Array) -> Array:
        if is_bool(x.dtype):
            raise DtypeError(f"\"{name}\" not implemented for 'Bool'. Convert one operand with `.int()`.")
        return fn(x, y)

    return checked


def _logaddexp(x: Array, y: Array) -> Array:
    if not is_complex(x.dtype):
        return jnp.logaddexp(x, y)
    x, y = jnp.broadcast_arrays(x, y)
    first = x.real >= y.real
    larger, smaller = jnp.where(first, x, y), jnp.where(first, y, x)
    return larger + jnp.log1p(jnp.exp(smaller - larger))


LN2 = math.log(2)

logaddexp = with_derivatives(
    _logaddexp, lambda x, y, _: 1 / (1 + jnp.exp(y - x)), lambda x, y, _: 1 / (1 + jnp.exp(x - y))
)
logaddexp2 = with_derivatives(
    lambda x, y: jnp.logaddexp(x * LN2, y * LN2) / LN2,
    lambda x, y, _: 1 / (1 + jnp.exp2(y - x)),
    lambda x, y, _: 1 / (1 + jnp.exp2(x - y)),
)


def _over_square(x: Array, y: Array) -> Array:
    """Returns 1 / (x^2 + y^2), and 0 where that is infinite."""
    inverse = 1 / (x * x + y * y)
    return jnp.where(jnp.isinf(inverse), 0, inverse)


atan2 = with_derivatives(
    lambda y, x: jnp.arctan2(y, x), lambda y, x, _: x * _over_square(x, y), lambda y, x, _: -y * _over_square(x, y)
)
hypot = with_derivatives(lambda x, y: jnp.hypot(x, y), lambda x, y, result: x / result, lambda x, y, result: y / result)
copysign = with_derivatives(
    lambda x, y: jnp.copysign(x, y),
    lambda x, y, result: jnp.where(x == 0, 0, result / x),
    lambda x, y, _: jnp.zeros_like(y),
)


def _ldexp(x: Array, y: Array) -> Array:
    """Returns `x * 2^y`, the power in two parts where it is denormal alone."""
    part = jnp.where(y < -100, -100, 0).astype(y.dtype)
    two = jnp.asarray(2, x.dtype)
    return x * jnp.power(two, part) * jnp.power(two, y - part)


ldexp_values = with_derivatives(
    _ldexp,
    lambda x, y, _: jnp.power(jnp.asarray(2, x.dtype), y),
    lambda x, y, result: result * LN2,
)
nextafter = with_derivatives(jnp.nextafter, lambda x, y, _: x != y, lambda x, y, _: jnp.zeros_like(y))


# The larger and the smaller of two: at ties `maximum` and `minimum` share the gradient, `fmax` and `fmin` give it to
# `self`; where one is NaN, which decides no comparison, both have a gradient of 1 in the former.


def _share(x: Array, y: Array, is_less: Array) -> Array:
    return jnp.where(is_less, 0, jnp.where(x == y, 0.5, 1))


maximum = with_derivatives(jnp.maximum, lambda x, y, _: _share(x, y, x < y), lambda x, y, _: _share(x, y, x > y))
minimum = with_derivatives(jnp.minimum, lambda x, y, _: _share(x, y, x > y), lambda x, y, _: _share(x, y, x < y))


def _fmax(x: Array, y: Array) -> Array:
    return jnp.where((x >= y) | jnp.isnan(y), x, y)


def _fmin(x: Array, y: Array) -> Array:
    return jnp.where((x <= y) | jnp.isnan(y), x, y)


def _on_floats(fn: Callable[..., Array], otherwise: Callable[..., Array]) -> Callable[..., Array]:
    """Returns `fn` for floats and complex numbers, and `otherwise` for integers."""
    return lambda x, y: fn(x, y) if is_inexact(x.dtype) else otherwise(x, y)


SAME_DTYPE_BINARY = {
    "remainder": _on_floats(_remainder, jnp.remainder),
    "fmod": _refused_to_bools("fmod", _on_floats(_fmod, lambda x, y: lax.rem(*jnp.broadcast_arrays(x, y)))),
}  # fmt: skip
COMMON_BINARY = {
    "maximum": _on_floats(maximum, jnp.maximum), "minimum": _on_floats(minimum, jnp.minimum),
    "fmax": _on_floats(_fmax, jnp.maximum), "fmin": _on_floats(_fmin, jnp.minimum),
}  # fmt: skip
FLOAT_BINARY = {"atan2": atan2, "copysign": copysign, "hypot": hypot, "nextafter": nextafter}

register_binary({"mul": lambda x, y: x * y}, {"mul": ("multiply",)}, promote="common", inplace=True)
register_binary(real_only(SAME_DTYPE_BINARY), {}, promote="common", inplace=True)


def _gcd(x: Array, y: Array) -> Array:
    """Returns the greatest common divisor, computed without signs: the smallest integer has no magnitude with one."""
    if not jnp.issubdtype(x.dtype, jnp.signedinteger):
        return jnp.gcd(x, y)
    unsigned = np.dtype(f"uint{8 * x.dtype.itemsize}")
    return jnp.gcd(jnp.abs(x).astype(unsigned), jnp.abs(y).astype(unsigned)).astype(x.dtype)


def _lcm(x: Array, y: Array) -> Array:
    """Returns the least common multiple; one that the dtype does not hold wraps."""
    divisor = _gcd(x, y)
    quotient = lax.div(x, jnp.where(divisor == 0, jnp.ones_like(divisor), divisor))
    return jnp.where(divisor == 0, jnp.zeros_like(divisor), jnp.abs(quotient * y))


register_binary(integers_only({"gcd": _gcd, "lcm": _lcm}, bools=False), {}, promote="common", inplace=True)
register_binary(real_only(COMMON_BINARY), {}, promote="common")
register_binary(real_only(FLOAT_BINARY), {"atan2": ("arctan2",)}, promote="float", inplace=True)
register_binary({"logaddexp": logaddexp, **real_only({"logaddexp2": logaddexp2})}, {}, promote="float")
register_binary({"ldexp": ldexp_values}, {}, promote="float", inplace=True)


@register_op("heaviside(Tensor self, Tensor values) -> Tensor", promote="common", inplace=True, differentiable=False)
def heaviside(self, values):
    if is_complex(self.dtype):
        raise DtypeError("heaviside is not yet implemented for complex tensors. Write it for `x.real` and `x.imag`.")
    return jnp.where(self == 0, values, (self > 0).astype(self.dtype))


# Several operands


lerp_values = with_derivatives(
    lambda x, end, w: jnp.where(jnp.abs(w) < 0.5, x + w * (end - x), end - (end - x) * (1 - w)),
    lambda x, end, w, _: 1 - w,
    lambda x, end, w, _: w,
    lambda x, end, w, _: end - x,
)


@register_op("lerp(Tensor self, Tensor end, Tensor weight) -> Tensor", promote="common", inplace=True)
def lerp(self, end, weight):
    if not is_inexact(self.dtype):
        raise DtypeError(f"lerp is not implemented for '{self.dtype}'. Convert `self` and `end` with `.float()`.")
    return lerp_values(self, end, weight)


FUSED = {"promote": "common", "promoted": ("self", "tensor1", "tensor2"), "inplace": True}


@register_op("addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", **FUSED)
def addcmul(self, tensor1, tensor2, value):
    return self + _scaled(tensor1 * tensor2, value)


@register_op("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", **FUSED)
def addcdiv(self, tensor1, tensor2, value):
    if not is_inexact(self.dtype):
        raise DtypeError("Integer division with addcdiv is no longer supported. Use self + value * tensor1 / tensor2.")
    return self + _scaled(divide(tensor1, tensor2), value)


def _raise_to(x: Array, low: Array) -> Array:
    return jnp.where((x < low) | (low != low), low, x)


def _lower_to(x: Array, high: Array) -> Array:
    return jnp.where((x > high) | (high != high), high, x)


# at a bound the gradient goes to `self`; with both bounds crossed the upper one decides
raise_to = with_derivatives(_raise_to, lambda x, low, _: x >= low, lambda x, low, _: x < low)
lower_to = with_derivatives(_lower_to, lambda x, high, _: x <= high, lambda x, high, _: x > high)
hold_between = with_derivatives(
    lambda x, low, high: _lower_to(_raise_to(x, low), high),
    lambda x, low, high, _: (x >= low) & (x <= high),
    lambda x, low, high, _: (x < low) & (low < high),
    lambda x, low, high, _: (x > high) | (high < low),
)


def clamp_values(self: Array, min: Any, max: Any) -> Array:
    """Returns `self` held between the bounds, of which one may be None."""
    if is_complex(self.dtype):
        raise DtypeError("clamp is not supported for complex types. Write it for `x.real` and `x.imag`.")
    floating = is_floating(self.dtype)
    if max is None:
        return (raise_to if floating else _raise_to)(self, min)
    if min is None:
        return (lower_to if floating else _lower_to)(self, max)
    return hold_between(self, min, max) if floating else _lower_to(_raise_to(self, min), max)


@register_op(
    "clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    promote="common",
    inplace=True,
    aliases=("clip",),
    fitting=["min", "max"],
)
def clamp(self, min, max):
    if min is None and max is None:
        raise TensorError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return clamp_values(self, min, max)


@register_op("clamp_min(Tensor self, Tensor min) -> Tensor", promote="common", inplace=True, fitting=["min"])
def clamp_min(self, min):
    return clamp_values(self, min, None)


@register_op("clamp_max(Tensor self, Tensor max) -> Tensor", promote="common", inplace=True, fitting=["max"])
def clamp_max(self, max):
    return clamp_values(self, None, max)
