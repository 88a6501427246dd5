"""PyTorch's dtype promotion, in one place.

Operands fall into three *categories*: tensors with dims, 0-d tensors, and Python numbers (here: weakly typed values).
A lower category only decides the dtype when its kind (bool < int < float < complex) is above all higher categories'.
Source: https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._typing import Array, ArrayLike, DTypeLike


@functools.cache
def is_floating(dtype: DTypeLike) -> bool:
    return jnp.issubdtype(dtype, jnp.floating)


@functools.cache
def is_complex(dtype: DTypeLike) -> bool:
    return jnp.issubdtype(dtype, jnp.complexfloating)


@functools.cache
def is_inexact(dtype: DTypeLike) -> bool:
    return jnp.issubdtype(dtype, jnp.inexact)


def is_bool(dtype: DTypeLike) -> bool:
    return np.dtype(dtype) == np.bool_


def is_integral(dtype: DTypeLike) -> bool:
    """Whether `dtype` holds integers; bool does not count."""
    return jnp.issubdtype(dtype, jnp.integer)


def kind(dtype: DTypeLike) -> int:
    """Returns 0 for bool, 1 for integers, 2 for floats, 3 for complex."""
    if is_bool(dtype):
        return 0
    if is_integral(dtype):
        return 1
    return 3 if is_complex(dtype) else 2


def default_int() -> np.dtype:
    """Returns the dtype of `tensor(1)`: int32, or int64 with JAX's x64 on."""
    return jax.dtypes.canonicalize_dtype(np.int64)


def fits_default_int(value: int) -> bool:
    """Whether an array of `default_int` can hold a number."""
    info = np.iinfo(default_int())
    return int(info.min) <= value <= int(info.max)


def overflows(dtype: DTypeLike, number: complex) -> bool:
    """Returns whether a dtype has no value near a number; infinite ones and NaN are values, -1 is the last of uint8's.

    Source: https://github.com/pytorch/pytorch/blob/main/c10/util/overflows.h
    """
    if isinstance(number, complex):
        return overflows(dtype, number.real) or (is_complex(dtype) and overflows(dtype, number.imag))
    least, most = _bounds(dtype)
    if isinstance(least, float):
        return most < abs(number) < math.inf
    return not (least or -most if isinstance(number, int) else least) <= number <= most


@functools.lru_cache
def _bounds(dtype: DTypeLike) -> tuple[float, float]:
    """Returns the least and the greatest finite number of a dtype: as integers of one that holds integers."""
    if is_bool(dtype):
        return -math.inf, math.inf
    info = np.iinfo(dtype) if is_integral(dtype) else jnp.finfo(dtype)
    number = int if is_integral(dtype) else float
    return number(info.min), number(info.max)


_default_float = np.dtype(np.float32)


def default_float() -> np.dtype:
    """Returns the dtype of `tensor(1.0)`: float32, as in PyTorch, or what `set_default_dtype` said."""
    return _default_float


def default_complex() -> np.dtype:
    """Returns the dtype of `tensor(1j)`: complex numbers of two default floats, as far as JAX has them."""
    return np.dtype(np.complex128 if _default_float.itemsize == 8 else np.complex64)


def set_default_float(dtype: np.dtype) -> None:
    """Sets the dtype of `tensor(1.0)`; what was compiled for another one has to be forgotten then."""
    global _default_float
    _default_float = dtype


def canonical_dtype(dtype: DTypeLike | None) -> np.dtype:
    """Returns `dtype` as a numpy dtype; 64-bit types become 32-bit ones unless JAX's x64 is on."""
    return jax.dtypes.canonicalize_dtype(np.dtype(dtype))


def operand(number: Any) -> Any:
    """Returns a number as the functions of JAX take it: one that changes from call to call as what is traced for it."""
    return number.__jax_array__() if is_symbol(number) else number


def is_symbol(number: object) -> bool:
    """Returns whether something stands for a number that changes from call to call."""
    return getattr(number, "__jax_array__", None) is not None  # tracers have None


def is_number(value: object) -> bool:
    """Whether `value` counts as a Python number: one, or a weakly typed 0-d array."""
    return isinstance(value, (bool, int, float, complex)) or bool(getattr(value, "weak_type", False))


def number_dtype(value: Any) -> np.dtype:
    """Returns the dtype of a tensor of a Python number."""
    dtype = value.dtype if hasattr(value, "dtype") else np.result_type(type(value))
    return (np.dtype(np.bool_), default_int(), default_float(), default_complex())[kind(dtype)]


def _join(left: Any, right: Any) -> Any:
    if left is None:
        return right
    return left if right is None else jnp.promote_types(left, right)


def result_dtype(*operands: Any) -> np.dtype:
    """Returns the dtype in which PyTorch computes an op on `operands` (arrays and numbers; None is passed over)."""
    with_dims = zero_d = numbers = None
    for operand in operands:
        if operand is None:
            continue
        if is_number(operand):
            numbers = _join(numbers, number_dtype(operand))
        elif jnp.ndim(operand) == 0:
            zero_d = _join(zero_d, operand.dtype)
        else:
            with_dims = _join(with_dims, operand.dtype)
    result = with_dims
    for lower in (zero_d, numbers):
        if result is None:
            result = lower
        elif lower is not None and kind(lower) > kind(result):
            # complex numbers with a half or float tensor keep the tensor's precision, as far as there is one
            result = lower if kind(lower) < 3 or kind(result) < 2 else jnp.promote_types(result, np.complex64)
    if result is None:
        raise AssertionError("result_dtype needs an operand")
    return np.dtype(result)


def can_store(source: DTypeLike, target: DTypeLike) -> bool:
    """Whether an in-place op may store a `source` result in a `target` tensor (`torch.can_cast`)."""
    return kind(source) <= kind(target)


def strong(value: Any, dtype: Any) -> Array:
    """Returns `value` as an array of exactly `dtype`, not weakly typed."""
    return jax.lax.convert_element_type(value, np.dtype(dtype))


def promote(*operands: ArrayLike) -> list[Any]:
    """Returns the operands converted to their common dtype."""
    dtype = result_dtype(*operands)
    return [None if operand is None else strong(operand, dtype) for operand in operands]


def promote_float(*operands: ArrayLike) -> list[Any]:
    """As `promote`, with integers and bools computed in the default float dtype."""
    dtype = result_dtype(*operands)
    if not is_inexact(dtype):
        dtype = default_float()
    return [None if operand is None else strong(operand, dtype) for operand in operands]


def promote_each(rule: str | None, operands: Sequence[Any]) -> list[Any]:
    """Returns operands converted by a row's rule: `"common"`, `"float"` or None (as they are)."""
    if rule is None:
        return list(operands)
    return promote(*operands) if rule == "common" else promote_float(*operands)
