"""Ops on complex numbers: making them of parts, and conversions to complex dtypes. Conjugates are views."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array
from jaxaot.errors import DtypeError
from jaxaot.ops.derivatives import with_derivatives
from jaxaot.ops.dims import broadcast_shapes
from jaxaot.ops.elementwise import sgn
from jaxaot.ops.promotion import canonical_dtype, is_floating
from jaxaot.ops.table import register_op

PARTS: dict[str, Any] = {"method": False, "out": True, "layout": "operands"}


def _check_parts(first: str, a: Array, second: str, b: Array) -> None:
    if not is_floating(a.dtype) or not is_floating(b.dtype):
        raise DtypeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {a.dtype} for `{first}` and {b.dtype} "
            f"for `{second}`"
        )
    if a.dtype != b.dtype:
        raise DtypeError(
            f"Expected object of scalar type {a.dtype} but got scalar type {b.dtype} for second argument. Convert "
            f"`{second}` with `.to({first}.dtype)`."
        )
    broadcast_shapes(a.shape, b.shape)


def _complex(real: Array, imag: Array) -> Array:
    """Returns `real + imag * i` in single or double precision; there is no complex dtype of halves."""
    wide = jnp.promote_types(real.dtype, jnp.float32)
    return lax.complex(*jnp.broadcast_arrays(real.astype(wide), imag.astype(wide)))


_polar = with_derivatives(
    lambda abs, angle: _complex(abs * jnp.cos(angle), abs * jnp.sin(angle)),
    lambda abs, angle, result: sgn(result),
    lambda abs, angle, result: 1j * result,
)


@register_op("complex(Tensor real, Tensor imag) -> Tensor", **PARTS)
def complex_(real, imag):
    _check_parts("real", real, "imag", imag)
    return _complex(real, imag)


@register_op("polar(Tensor abs, Tensor angle) -> Tensor", **PARTS)
def polar(abs, angle):
    _check_parts("abs", abs, "angle", angle)
    return _polar(abs, angle)


register_op("isreal(Tensor self) -> Tensor", differentiable=False, layout="operands")(lambda self: jnp.isreal(self))


def _register_cast(name: str, dtype: str) -> None:
    @register_op(f"{name}(Tensor self, *, Any memory_format=None) -> Tensor", function=False, layout="same")
    def cast(self, memory_format):
        return self.astype(canonical_dtype(dtype))


_register_cast("chalf", "complex64")
_register_cast("cfloat", "complex64")
_register_cast("cdouble", "complex128")
