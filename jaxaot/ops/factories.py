"""Ops that make tensors. Sizes and bounds are static; the facade adds `device=` and `requires_grad=`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxaot._typing import Array, DTypeLike, Shape
from jaxaot.errors import ArgumentError, DimError, DtypeError, ShapeMismatchError, TensorError, TensorValueError
from jaxaot.ops.promotion import (
    canonical_dtype,
    default_complex,
    default_float,
    default_int,
    is_bool,
    is_complex,
    is_inexact,
    is_integral,
)
from jaxaot.ops.table import register_op
from jaxaot.views.layout import Layout, check_addressable, layout_of

FACTORY: dict[str, Any] = {"method": False, "differentiable": False, "factory": True}
LIKE: dict[str, Any] = {**FACTORY, "layout": "same", "overwrites": True}
METHOD_ONLY: dict[str, Any] = {"function": False, "differentiable": False, "factory": True, "overwrites": True}

_WIDEST = 8
"""Bytes of a number where NumPy computes what becomes a constant, before there is a graph to be checked."""


def static_size(size: Any) -> tuple[int, ...]:
    """Returns a size given as an int or a sequence of them, checked.

    Raises:
      TensorError: If one is negative.
      ArgumentError: If one is no number.
    """
    is_wrong = lambda n: isinstance(n, str | bytes) or (type(n) is float and not n.is_integer())
    wrong = next((n for n in (size if isinstance(size, (tuple, list)) else (size,)) if is_wrong(n)), None)
    if wrong is not None:
        advice = "Divide by `//`." if isinstance(wrong, float) else "Write the number itself, such as 3."
        raise ArgumentError(
            f"argument 'size' must be tuple of ints, but found {wrong!r} of type {type(wrong).__name__}. {advice}"
        )
    size = tuple(int(n) for n in (size if isinstance(size, (tuple, list)) else (size,)))
    if any(n < 0 for n in size):
        raise TensorError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    return size


def dtype_or(dtype: DTypeLike | None, default: DTypeLike | None) -> np.dtype:
    """Returns `dtype`, or `default` where it is None, in the widths that JAX is set to."""
    return canonical_dtype(default if dtype is None else dtype)


def _number_dtype(value: Any) -> np.dtype:
    """Returns the dtype of a tensor made from a number."""
    given = jnp.result_type(value)
    if given == np.bool_:
        return np.dtype(np.bool_)
    if jnp.issubdtype(given, jnp.integer):
        return default_int()
    return default_complex() if jnp.issubdtype(given, jnp.complexfloating) else default_float()


def zeros(size: Any, dtype: DTypeLike | None) -> Array:
    """Returns zeros of a size."""
    return jnp.zeros(static_size(size), dtype_or(dtype, default_float()))


def _register_filled(name: str, number: int) -> None:
    """Adds the rows of tensors that hold one number: of a size, like another tensor, of another's dtype."""
    register_op(f"{name}(int[] size, *, Dtype? dtype=None) -> Tensor", **FACTORY)(
        lambda size, dtype: jnp.full(static_size(size), number, dtype_or(dtype, default_float()))
    )
    register_op(f"{name}_like(Tensor self, *, Dtype? dtype=None) -> Tensor", **LIKE)(
        lambda self, dtype: jnp.full(self.shape, number, dtype_or(dtype, self.dtype))
    )
    register_op(f"new_{name}(Tensor self, int[] size, *, Dtype? dtype=None) -> Tensor", **METHOD_ONLY)(
        lambda self, size, dtype: jnp.full(static_size(size), number, dtype_or(dtype, self.dtype))
    )


_register_filled("zeros", 0)
_register_filled("ones", 1)
_register_filled("empty", 0)


@register_op("full(int[] size, Scalar fill_value, *, Dtype? dtype=None) -> Tensor", fitting=["fill_value"], **FACTORY)
def full(size, fill_value, dtype):
    dtype = _number_dtype(fill_value) if dtype is None else canonical_dtype(dtype)
    return jnp.full(static_size(size), fill_value, dtype)


@register_op(
    "full_like(Tensor self, Scalar fill_value, *, Dtype? dtype=None) -> Tensor", fitting=["fill_value"], **LIKE
)
def full_like(self, fill_value, dtype):
    return jnp.full(self.shape, fill_value, dtype_or(dtype, self.dtype))


@register_op(
    "new_full(Tensor self, int[] size, Scalar fill_value, *, Dtype? dtype=None) -> Tensor",
    fitting=["fill_value"],
    **METHOD_ONLY,
)
def new_full(self, size, fill_value, dtype):
    return jnp.full(static_size(size), fill_value, dtype_or(dtype, self.dtype))


@register_op("scalar_tensor(Scalar s, *, Dtype? dtype=None) -> Tensor", fitting=["s"], **FACTORY)
def scalar_tensor(s, dtype):
    dtype = dtype_or(dtype, default_float())
    if is_complex(jnp.result_type(s)) and not is_complex(dtype):
        raise TensorError(f"value cannot be converted to type {dtype} without overflow; write `dtype=ja.complex64`")
    return jnp.asarray(s, dtype)


def empty_with_order(operands: Sequence[Layout], size: Shape, dtype: np.dtype, static: tuple[Any, ...]) -> Layout:
    """The layout rule of `empty_permuted`: its dims lie in memory in the order of `physical_layout`."""
    stride, step = [0] * len(size), 1
    for dim in reversed(static[1]):
        stride[dim] = step
        step *= max(size[dim], 1)
    return layout_of(size, stride, dtype)


@register_op(
    "empty_permuted(int[] size, int[] physical_layout, *, Dtype? dtype=None) -> Tensor",
    **{**FACTORY, "layout": empty_with_order},
)
def empty_permuted(size, physical_layout, dtype):
    size = static_size(size)
    if len(physical_layout) != len(size):
        raise ShapeMismatchError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(size)} is not equal to len(physical_layout) = {len(physical_layout)}"
        )
    for dim in physical_layout:
        if not 0 <= dim < len(size):
            raise DimError(f"Dimension out of range (expected to be between 0 and {len(size) - 1}, but got {dim})")
    if len(set(physical_layout)) < len(physical_layout):
        raise ArgumentError("Duplicate dim not allowed")
    return zeros(size, dtype)


@register_op("arange(Any start=0, Any end=None, Any step=1, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def arange(start, end, step, dtype):
    if end is None:
        start, end = 0, start
    for name, value in (("start", start), ("end", end), ("step", step)):
        if isinstance(value, str | bytes | list | tuple):
            raise ArgumentError(
                f"arange(): argument '{name}' must be Number, not {type(value).__name__}. Write the number itself: "
                "`ja.arange(3)`."
            )
    if not (math.isfinite(start) and math.isfinite(end)):
        raise TensorError(f"unsupported range: {start} -> {end}")
    whole = all(isinstance(value, (int, np.integer)) for value in (start, end, step))
    dtype = dtype_or(dtype, default_int() if whole else default_float())
    if is_integral(dtype):
        start, end, step = int(start), int(end), int(step)
    if is_bool(dtype) or is_complex(dtype):
        raise DtypeError(f"arange is not implemented for {dtype}; write `ja.arange(...).to({dtype})`")
    if step == 0:
        raise TensorValueError("step must be nonzero")
    if (end - start) * step < 0:
        raise TensorError("upper bound and lower bound inconsistent with step sign")
    n = math.ceil((end - start) / step)
    check_addressable((n,), dtype.itemsize)
    if is_integral(dtype):
        return jnp.arange(n, dtype=dtype) * dtype.type(step) + dtype.type(start)
    return jnp.asarray(start + np.arange(n, dtype=np.float64) * step, dtype)


def _spaced_dtype(steps: Any, dtype: DTypeLike | None, *bounds: object) -> np.dtype:
    """Returns the dtype of evenly spaced numbers between bounds, after a check of how many they are."""
    if not isinstance(steps, (int, np.integer)) or isinstance(steps, bool):
        raise ArgumentError(f"argument 'steps' must be int, not {type(steps).__name__}")
    if steps < 0:
        raise TensorError("number of steps must be non-negative")
    for bound in bounds:
        if isinstance(bound, str):
            raise ArgumentError(f"linspace(): bounds are numbers, and {bound!r} was given")
    check_addressable((int(steps),), _WIDEST)
    held = dtype_or(dtype, default_complex() if any(map(jnp.iscomplexobj, bounds)) else default_float())
    if any(map(jnp.iscomplexobj, bounds)) and not is_complex(held):
        raise DtypeError(f"linspace(): inferred dtype {default_complex()} can't be safely cast to passed dtype {held}")
    return held


def _spaced(start: Any, end: Any, steps: int, dtype: np.dtype) -> np.ndarray:
    if not is_inexact(dtype):
        start, end = int(start), int(end)
    return np.linspace(start, end, steps)


def _spaced_between(start: Any, end: Any, steps: int, dtype: np.dtype) -> Array:
    """As `_spaced` for bounds on the device."""
    wide = jnp.promote_types(dtype, default_float()) if is_inexact(dtype) else default_float()
    if not is_inexact(dtype):
        start, end = (jnp.trunc(jnp.asarray(bound, wide)) for bound in (start, end))
    return jnp.linspace(jnp.asarray(start, wide), jnp.asarray(end, wide), steps)


@register_op("linspace(Any start, Any end, int steps, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def linspace(start, end, steps, dtype):
    dtype = _spaced_dtype(steps, dtype, start, end)
    return jnp.asarray(_spaced(start, end, steps, dtype), dtype)


@register_op(
    "linspace_between(Scalar start, Scalar end, int steps, *, Dtype? dtype=None) -> Tensor",
    overload_of="linspace",
    **FACTORY,
)
def linspace_between(start, end, steps, dtype):
    """Bounds that are 0-d tensors."""
    dtype = _spaced_dtype(steps, dtype, start, end)
    return _spaced_between(start, end, steps, dtype).astype(dtype)


@register_op("logspace(Any start, Any end, int steps, float base=10.0, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def logspace(start, end, steps, base, dtype):
    dtype = _spaced_dtype(steps, dtype, start, end)
    with np.errstate(all="ignore"):
        return jnp.asarray(np.power(float(base), _spaced(start, end, steps, dtype)), dtype)


@register_op(
    "logspace_between(Scalar start, Scalar end, int steps, float base=10.0, *, Dtype? dtype=None) -> Tensor",
    overload_of="logspace",
    **FACTORY,
)
def logspace_between(start, end, steps, base, dtype):
    """Bounds that are 0-d tensors."""
    dtype = _spaced_dtype(steps, dtype, start, end)
    exponents = _spaced_between(start, end, steps, dtype)
    return jnp.power(jnp.asarray(base, exponents.dtype), exponents).astype(dtype)


@register_op("eye(int n, int? m=None, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def eye(n, m, dtype):
    for name, size in (("n", n), ("m", m)):
        if size is not None and not isinstance(size, (int, np.integer)):
            raise ArgumentError(f"eye(): argument '{name}' must be int, not {type(size).__name__}")
        if size is not None and size < 0:
            raise TensorError(f"{name} must be greater or equal to 0, got {size}")
    return jnp.eye(n, m, dtype=dtype_or(dtype, default_float()))


def _triangle(places: Any, row: int, col: int, offset: int, dtype: DTypeLike) -> Array:
    for name, size in (("row", row), ("col", col)):
        if size < 0:
            raise TensorError(f"{name} must be non-negative, got {size}")
    check_addressable((2, row, col), _WIDEST)
    dtype = dtype_or(dtype, default_int())
    if not is_integral(dtype):
        raise DtypeError(f"indices are integers; there is none of dtype {dtype}")
    return jnp.asarray(np.stack(places(row, offset, col)), dtype)


@register_op("tril_indices(int row, int col, int offset=0, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def tril_indices(row, col, offset, dtype):
    return _triangle(np.tril_indices, row, col, offset, dtype)


@register_op("triu_indices(int row, int col, int offset=0, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def triu_indices(row, col, offset, dtype):
    return _triangle(np.triu_indices, row, col, offset, dtype)
