"""Elementwise arithmetic and functions of real numbers.

The short rows are tables of a name and a function of jax; below each come those that need a line of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array
from jaxaot.errors import DtypeError
from jaxaot.ops.derivatives import with_derivatives
from jaxaot.ops.promotion import (
    is_bool,
    is_complex,
    is_floating,
    is_inexact,
    strong,
)
from jaxaot.ops.table import register_op


def unary(fn: Callable[[Array], Array]) -> Callable[..., Array]:
    """Returns `fn` as the function of a row with the one parameter `self`."""
    return lambda self: fn(self)


def binary(fn: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    """Returns `fn` as the function of a row with the parameters `self` and `other`."""
    return lambda self, other: fn(self, other)


def real_only(table: Mapping[str, Callable[..., Array]], but: Collection[str] = ()) -> dict[str, Callable[..., Array]]:
    """Returns a table of functions that refuse complex numbers, other than those named in `but`."""

    def checked(name: str, fn: Callable[..., Array]) -> Callable[..., Array]:
        def real(*operands: Array) -> Array:
            if any(is_complex(x.dtype) for x in operands):
                raise DtypeError(f"{name} is not supported for complex tensors. Write it for `x.real` and `x.imag`.")
            return fn(*operands)

        return real

    return {name: fn if name in but else checked(name, fn) for name, fn in table.items()}


def integers_only(table: Mapping[str, Callable[..., Array]], bools: bool = True) -> dict[str, Callable[..., Array]]:
    """Returns a table of functions that refuse floats and complex numbers, and bools too unless `bools` is set."""

    def checked(name: str, fn: Callable[..., Array]) -> Callable[..., Array]:
        def whole(*operands: Array) -> Array:
            dtype = operands[0].dtype
            if is_inexact(dtype) or (is_bool(dtype) and not bools):
                takes = "integers or bools" if bools else "integers"
                raise DtypeError(f"\"{name}\" not implemented for '{dtype}': it takes {takes}")
            return fn(*operands)

        return whole

    return {name: checked(name, fn) for name, fn in table.items()}


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


# JAX's derivative, 1 / sqrt(x * x - 1), has the wrong sign left of the imaginary axis
_acosh = with_derivatives(
    jnp.arccosh,
    lambda x, _: lax.rsqrt(x + 1) * lax.rsqrt(x - 1) if is_complex(x.dtype) else lax.rsqrt(x * x - 1),
)

# PyTorch takes these derivatives from the result, so that nothing else is saved for them
_rsqrt = with_derivatives(lax.rsqrt, lambda _, result: -0.5 * result * result * result)
_reciprocal = with_derivatives(lambda x: 1 / x, lambda _, result: -result * result)

FLOAT_UNARY = {
    "sqrt": jnp.sqrt, "rsqrt": _rsqrt, "reciprocal": _reciprocal,
    "exp": jnp.exp, "log": jnp.log, "log2": jnp.log2, "log10": jnp.log10,
    "sin": jnp.sin, "cos": jnp.cos, "tan": jnp.tan, "asin": jnp.arcsin, "acos": jnp.arccos, "atan": jnp.arctan,
    "sinh": jnp.sinh, "cosh": jnp.cosh, "tanh": jnp.tanh,
    "asinh": jnp.arcsinh, "acosh": _acosh, "atanh": jnp.arctanh,
}  # fmt: skip

FLOAT_ALIASES = {
    "asin": ("arcsin",), "acos": ("arccos",), "atan": ("arctan",),
    "asinh": ("arcsinh",), "acosh": ("arccosh",), "atanh": ("arctanh",),
}  # fmt: skip

DEGREES = {"rad2deg": lambda x: x * (180.0 / jnp.pi), "deg2rad": lambda x: x * (jnp.pi / 180.0)}

register_unary(real_only(DEGREES), {}, promote="float", inplace=True)
register_unary(FLOAT_UNARY, FLOAT_ALIASES, promote="float", inplace=True)


def sgn(x: Array) -> Array:
    if not is_complex(x.dtype):
        return _sign(x)
    size = jnp.abs(x)
    return jnp.where(size == 0, 0, x / jnp.where(size == 0, 1, size))


_real_size = with_derivatives(jnp.abs, lambda x, _: _sign(x))


def absolute(x: Array) -> Array:
    """Returns the absolute values, with PyTorch's gradient 0 at 0 and NaN (that of XLA's `abs` is 1 and -1)."""
    if not is_inexact(x.dtype):
        return jnp.abs(x)
    if not is_complex(x.dtype):
        return _real_size(x)
    zero = x == 0
    return jnp.where(zero, 0, jnp.abs(jnp.where(zero, 1, x)))


def _scaled(other: Array, alpha: Any) -> Array:
    """Returns `alpha * other` in the dtype of `other`."""
    if isinstance(alpha, int) and alpha == 1:
        return other
    if not is_inexact(other.dtype) and is_inexact(jnp.result_type(alpha)):
        raise DtypeError("For integral input tensors, argument alpha must not be a floating point number.")
    return other * strong(alpha, other.dtype)


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


def _positive(x: Array) -> Array:
    if is_bool(x.dtype):
        raise DtypeError("The `+` operator, on a bool tensor is not supported.")
    return x


def _frac(x: Array) -> Array:
    if not is_floating(x.dtype):
        raise DtypeError(f"\"frac\" not implemented for '{x.dtype}': it takes floats, and is 0 for integers")
    return x - lax.stop_gradient(jnp.trunc(x))


SAME_DTYPE_UNARY = {
    "abs": absolute, "neg": _neg, "sgn": sgn, "square": jnp.square, "conj_physical": jnp.conj,
}  # fmt: skip
REAL_UNARY = {
    "sign": _sign, "frac": _frac,
    "ceil": _to_integer(jnp.ceil), "floor": _to_integer(jnp.floor), "trunc": _to_integer(jnp.trunc),
}  # fmt: skip

register_unary(SAME_DTYPE_UNARY, {"abs": ("absolute",), "neg": ("negative",)}, promote="common", inplace=True)
register_unary({"positive": _positive}, {}, promote="common")
register_unary(real_only(REAL_UNARY), {"trunc": ("fix",)}, promote="common", inplace=True)


@register_op(
    "round(Tensor self, *, int decimals=0) -> Tensor", promote="common", inplace=True, namespaces=("", "special")
)
def round_(self, decimals):
    if is_complex(self.dtype):
        raise DtypeError("round is not supported for complex tensors. Write it for `x.real` and `x.imag`.")
    if not is_floating(self.dtype):
        return self
    if decimals == 0:
        return jnp.round(self)
    scale = 10.0 ** abs(decimals)
    return jnp.round(self * scale) / scale if decimals > 0 else jnp.round(self / scale) * scale


@register_op("angle(Tensor self) -> Tensor", promote="float")
def angle(self):
    if is_complex(self.dtype):
        zero = self == 0  # where the derivative is 0
        return jnp.where(zero, jnp.angle(lax.stop_gradient(self)), jnp.angle(jnp.where(zero, 1, self)))
    return lax.stop_gradient(jnp.where(jnp.isnan(self), self, jnp.where(self < 0, jnp.pi, 0.0)).astype(self.dtype))


_mantissa = with_derivatives(
    lambda x, _: jnp.frexp(x)[0],
    lambda x, exponent, _: jnp.exp2(-exponent.astype(jnp.promote_types(x.dtype, jnp.float32))).astype(x.dtype),
    lambda x, exponent, _: jnp.zeros_like(x),
)


@register_op("frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)")
def frexp(self):
    """Returns the mantissa, of a size from 1/2 to 1, and the exponent of 2 that make up each element."""
    if not is_floating(self.dtype):
        raise DtypeError("torch.frexp() only supports floating-point dtypes. Convert the tensor with `.float()`.")
    exponent = jnp.frexp(lax.stop_gradient(self))[1]
    if self.dtype.itemsize <= 4:
        exponent = exponent.astype(jnp.int32)
    return _mantissa(self, lax.stop_gradient(exponent.astype(self.dtype))), exponent


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
