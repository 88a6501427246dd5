"""Comparisons, tests of single elements, logical and bitwise ops, and choices between elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from jaxaot._typing import Array
from jaxaot.errors import DtypeError
from jaxaot.ops.dims import broadcast_shapes
from jaxaot.ops.elementwise import integers_only, real_only, register_binary, register_unary
from jaxaot.ops.promotion import is_bool, is_complex, is_floating, is_number, strong
from jaxaot.ops.table import register_op

EQUALITIES = {"eq": lambda x, y: x == y, "ne": lambda x, y: x != y}
ORDERINGS = {
    "lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
}  # fmt: skip
COMPARISON_ALIASES = {
    "ne": ("not_equal",), "lt": ("less",), "le": ("less_equal",), "gt": ("greater",), "ge": ("greater_equal",),
}  # fmt: skip


def _truth(x: Array) -> Array:
    return x if is_bool(x.dtype) else x != 0


LOGICAL = {
    "logical_and": lambda x, y: _truth(x) & _truth(y),
    "logical_or": lambda x, y: _truth(x) | _truth(y),
    "logical_xor": lambda x, y: _truth(x) ^ _truth(y),
}


def _shift(fn: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Returns the shift `fn`, with what PyTorch yields for distances outside `[0, bits)`: as if shifted all out."""

    def shifted(x: Array, distance: Array) -> Array:
        bits = jnp.iinfo(x.dtype).bits
        outside = (distance < 0) | (distance >= bits)
        gone = fn(x, jnp.asarray(bits - 1, x.dtype)) if fn is jnp.right_shift else jnp.zeros_like(x)
        return jnp.where(outside, gone, fn(x, jnp.where(outside, 0, distance)))

    return shifted


BITWISE = {
    "bitwise_and": lambda x, y: x & y, "bitwise_or": lambda x, y: x | y, "bitwise_xor": lambda x, y: x ^ y,
}  # fmt: skip
SHIFTS = {"bitwise_left_shift": _shift(jnp.left_shift), "bitwise_right_shift": _shift(jnp.right_shift)}

TESTS = {"isnan": jnp.isnan, "isinf": jnp.isinf, "isfinite": jnp.isfinite}
REAL_TESTS = {
    "isposinf": lambda x: x == jnp.inf if is_floating(x.dtype) else jnp.zeros(x.shape, bool),
    "isneginf": lambda x: x == -jnp.inf if is_floating(x.dtype) else jnp.zeros(x.shape, bool),
    "signbit": lambda x: jnp.signbit(x) if is_floating(x.dtype) else jnp.less(x, 0),
}  # fmt: skip

NEVER_DIFFERENTIABLE: dict[str, Any] = {"promote": "common", "differentiable": False}

register_binary(EQUALITIES, COMPARISON_ALIASES, inplace=True, **NEVER_DIFFERENTIABLE)
register_binary(real_only(ORDERINGS), COMPARISON_ALIASES, inplace=True, **NEVER_DIFFERENTIABLE)
register_binary(LOGICAL, {}, inplace=True, **NEVER_DIFFERENTIABLE)
register_binary(integers_only(SHIFTS, bools=False), {}, inplace=True, **NEVER_DIFFERENTIABLE)
register_binary(integers_only(BITWISE), {}, inplace=True, **NEVER_DIFFERENTIABLE)
register_unary({"logical_not": lambda x: ~_truth(x)}, {}, inplace=True, **NEVER_DIFFERENTIABLE)
register_unary(integers_only({"bitwise_not": jnp.invert}), {}, inplace=True, **NEVER_DIFFERENTIABLE)
register_unary(TESTS, {}, **NEVER_DIFFERENTIABLE)
register_unary(real_only(REAL_TESTS), {}, **NEVER_DIFFERENTIABLE)


@register_op(
    "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
    **NEVER_DIFFERENTIABLE,
)
def isclose(self, other, rtol, atol, equal_nan):
    return jnp.isclose(self, other, rtol, atol, equal_nan)


@register_op(
    "where(Tensor condition, Tensor self, Tensor other) -> Tensor",
    promote="common",
    promoted=("self", "other"),
    fitting=["self", "other"],
)
def where(condition, self, other):
    if not is_bool(condition.dtype):
        raise DtypeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype}. "
            "Compare, `condition > 0`, or convert, `condition.bool()`."
        )
    return jnp.where(condition, self, other)


@register_op("masked_fill(Tensor self, Tensor mask, Tensor value) -> Tensor", inplace=True, fitting=["value"])
def masked_fill(self, mask, value):
    if not is_bool(mask.dtype):
        raise DtypeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype}")
    if not is_number(value) and jnp.ndim(value):
        raise DtypeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got one with {jnp.ndim(value)} dimension(s)."
        )
    if jnp.iscomplexobj(value) and not is_complex(self.dtype):
        raise DtypeError(f"value cannot be converted to type {self.dtype} without overflow; it is complex")
    return jnp.where(mask, strong(value, self.dtype), self)


@register_op("masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", inplace=True)
def masked_scatter(self, mask, source):
    if not is_bool(mask.dtype):
        raise DtypeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype}")
    if self.dtype != source.dtype:
        raise DtypeError(
            f"masked_scatter: expected self and source to have same dtypes but got {self.dtype} and {source.dtype}"
        )
    broadcast_shapes(self.shape, mask.shape)
    self, mask = jnp.broadcast_arrays(self, mask)
    if source.size == 0:
        return self
    place = jnp.cumsum(mask.reshape(-1)) - 1  # the how-manieth True this element is
    taken = source.reshape(-1).astype(self.dtype)[jnp.clip(place, 0, source.size - 1)]
    return jnp.where(mask, taken.reshape(self.shape), self)
