"""Ops that make tensors. Sizes and bounds are static; the facade adds `device=` and `requires_grad=`."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxaot.errors import TensorError
from jaxaot.ops.promotion import canonical_dtype, default_float, default_int, is_inexact
from jaxaot.ops.table import register_op

FACTORY: dict[str, Any] = {"method": False, "differentiable": False}
METHOD_ONLY: dict[str, Any] = {"function": False, "differentiable": False}


def static_size(size: Any) -> tuple[int, ...]:
    """Returns a size given as an int or a sequence of them, checked.

    Raises:
      TensorError: If one is negative.
    """
    size = tuple(int(n) for n in (size if isinstance(size, (tuple, list)) else (size,)))
    if any(n < 0 for n in size):
        raise TensorError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    return size


def dtype_or(dtype: Any, default: Any) -> np.dtype:
    """Returns `dtype`, or `default` where it is None, in the widths that JAX is set to."""
    return canonical_dtype(default if dtype is None else dtype)


def _number_dtype(value: Any) -> np.dtype:
    """Returns the dtype of a tensor made from a number."""
    given = jnp.result_type(value)
    if given == np.bool_:
        return np.dtype(np.bool_)
    if jnp.issubdtype(given, jnp.integer):
        return default_int()
    return np.dtype(np.complex64) if jnp.issubdtype(given, jnp.complexfloating) else default_float()


@register_op("zeros(int[] size, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def zeros(size, dtype):
    return jnp.zeros(static_size(size), dtype_or(dtype, default_float()))


@register_op("ones(int[] size, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def ones(size, dtype):
    return jnp.ones(static_size(size), dtype_or(dtype, default_float()))


@register_op("empty(int[] size, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def empty(size, dtype):
    return zeros(size, dtype)


@register_op("full(int[] size, Scalar fill_value, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def full(size, fill_value, dtype):
    dtype = _number_dtype(fill_value) if dtype is None else canonical_dtype(dtype)
    return jnp.full(static_size(size), fill_value, dtype)


@register_op("zeros_like(Tensor self, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def zeros_like(self, dtype):
    return jnp.zeros(self.shape, dtype_or(dtype, self.dtype))


@register_op("ones_like(Tensor self, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def ones_like(self, dtype):
    return jnp.ones(self.shape, dtype_or(dtype, self.dtype))


@register_op("empty_like(Tensor self, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def empty_like(self, dtype):
    return zeros_like(self, dtype)


@register_op("full_like(Tensor self, Scalar fill_value, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def full_like(self, fill_value, dtype):
    return jnp.full(self.shape, fill_value, dtype_or(dtype, self.dtype))


@register_op("new_zeros(Tensor self, int[] size, *, Dtype? dtype=None) -> Tensor", **METHOD_ONLY)
def new_zeros(self, size, dtype):
    return jnp.zeros(static_size(size), dtype_or(dtype, self.dtype))


@register_op("new_ones(Tensor self, int[] size, *, Dtype? dtype=None) -> Tensor", **METHOD_ONLY)
def new_ones(self, size, dtype):
    return jnp.ones(static_size(size), dtype_or(dtype, self.dtype))


@register_op("new_empty(Tensor self, int[] size, *, Dtype? dtype=None) -> Tensor", **METHOD_ONLY)
def new_empty(self, size, dtype):
    return new_zeros(self, size, dtype)


@register_op("new_full(Tensor self, int[] size, Scalar fill_value, *, Dtype? dtype=None) -> Tensor", **METHOD_ONLY)
def new_full(self, size, fill_value, dtype):
    return jnp.full(static_size(size), fill_value, dtype_or(dtype, self.dtype))


@register_op("arange(Any start=0, Any end=None, Any step=1, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def arange(start, end, step, dtype):
    if end is None:
        start, end = 0, start
    if step == 0:
        raise TensorError("step must be nonzero")
    if (end - start) * step < 0:
        raise TensorError("upper bound and lower bound inconsistent with step sign")
    whole = all(isinstance(value, (int, np.integer)) for value in (start, end, step))
    dtype = dtype_or(dtype, default_int() if whole else default_float())
    if jnp.issubdtype(dtype, jnp.integer):
        start, end, step = int(start), int(end), int(step)
    n = math.ceil((end - start) / step)
    if jnp.issubdtype(dtype, jnp.integer):
        return jnp.arange(n, dtype=dtype) * dtype.type(step) + dtype.type(start)
    return jnp.asarray(start + np.arange(n, dtype=np.float64) * step, dtype)


@register_op("linspace(Any start, Any end, int steps, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def linspace(start, end, steps, dtype):
    if steps < 0:
        raise TensorError("number of steps must be non-negative")
    dtype = dtype_or(dtype, default_float())
    if not is_inexact(dtype):
        start, end = int(start), int(end)
    return jnp.asarray(np.linspace(start, end, steps), dtype)


@register_op("logspace(Any start, Any end, int steps, float base=10.0, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def logspace(start, end, steps, base, dtype):
    dtype = dtype_or(dtype, default_float())
    if not is_inexact(dtype):
        start, end = int(start), int(end)
    return jnp.asarray(float(base) ** np.linspace(start, end, steps), dtype)


@register_op("eye(int n, int? m=None, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def eye(n, m, dtype):
    return jnp.eye(n, m, dtype=dtype_or(dtype, default_float()))


@register_op("tril_indices(int row, int col, int offset=0, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def tril_indices(row, col, offset, dtype):
    return jnp.asarray(np.stack(np.tril_indices(row, offset, col)), dtype_or(dtype, default_int()))


@register_op("triu_indices(int row, int col, int offset=0, *, Dtype? dtype=None) -> Tensor", **FACTORY)
def triu_indices(row, col, offset, dtype):
    return jnp.asarray(np.stack(np.triu_indices(row, offset, col)), dtype_or(dtype, default_int()))


def _window(name: str, fn: Any) -> None:
    """Adds a row for a window: `fn` gives the symmetric window of a length; a periodic one drops the last element."""

    @register_op(f"{name}(int window_length, bool periodic=True, *, Dtype? dtype=None) -> Tensor", **FACTORY)
    def window(window_length, periodic, dtype):
        values = fn(window_length + 1)[:-1] if periodic and window_length > 1 else fn(window_length)
        return jnp.asarray(values, dtype_or(dtype, default_float()))


for _name, _fn in {
    "hann_window": np.hanning, "hamming_window": np.hamming, "blackman_window": np.blackman,
    "bartlett_window": np.bartlett,
}.items():  # fmt: skip
    _window(_name, _fn)
