"""Windows for spectra: `signal.windows.*` and the older `hann_window` and its kin.

A *symmetric* window of M elements begins and ends with the same value; a *periodic* one is the symmetric window of
M + 1 elements without its last, so that repeating it goes on smoothly. The values are constants, made with NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxaot._typing import Array, DTypeLike
from jaxaot.errors import DtypeError, TensorTypeError, TensorValueError
from jaxaot.ops.factories import FACTORY, dtype_or, static_size
from jaxaot.ops.promotion import default_float, is_floating
from jaxaot.ops.table import register_op
from jaxaot.views.layout import check_addressable

WINDOWS: dict[str, Any] = {**FACTORY, "namespaces": ("signal.windows",)}
HANN, HAMMING, BLACKMAN = (0.5, 0.5), (0.54, 0.46), (0.42, 0.5, 0.08)
NUTTALL = (0.3635819, 0.4891775, 0.1365995, 0.0106411)


def _phases(M: int, sym: bool) -> np.ndarray:
    """Returns where each element stands in its window, from 0 to 1."""
    return np.arange(M) / max(M - 1 if sym else M, 1)


def _cosines(M: int, sym: bool, weights: Sequence[float]) -> np.ndarray:
    """Returns the sum of cosines, with signs that alternate, of which most windows are made."""
    if M == 1:
        return np.ones(1)
    phase = 2 * np.pi * _phases(M, sym)
    return sum(((-1) ** i * a * np.cos(i * phase) for i, a in enumerate(weights)), np.zeros(M))


def _triangle(M: int, sym: bool) -> np.ndarray:
    return np.ones(1) if M == 1 else 1 - np.abs(2 * _phases(M, sym) - 1)


def _kaiser(M: int, sym: bool, beta: float) -> np.ndarray:
    if M == 1:
        return np.ones(1)
    return np.i0(beta * np.sqrt(np.maximum(1 - (2 * _phases(M, sym) - 1) ** 2, 0))) / np.i0(beta)


def _window(name: str, M: int, dtype: DTypeLike | None, values: Callable[[], np.ndarray]) -> Array:
    if M < 0:
        raise TensorValueError(f"{name} requires non-negative window length, got M={M}")
    if dtype is not None and (not is_floating(dtype) or np.dtype(dtype).itemsize < 4):
        raise TensorValueError(f"{name} expects float32 or float64 dtypes, got: {np.dtype(dtype)}")
    check_addressable((M,), 8)
    return jnp.asarray(values() if M else np.zeros(0), dtype_or(dtype, default_float()))


ENDING = "bool sym=True, Dtype? dtype=None) -> Tensor"


@register_op(f"windows_general_cosine(int M, *, float[] a, {ENDING}", **WINDOWS)
def general_cosine(M, a, sym, dtype):
    if not isinstance(a, tuple):
        raise TensorTypeError("Coefficients must be a list/tuple")
    if not a:
        raise TensorValueError("Coefficients cannot be empty")
    return _window("general_cosine", M, dtype, lambda: _cosines(M, sym, a))


@register_op(f"windows_general_hamming(int M, *, float alpha=0.54, {ENDING}", **WINDOWS)
def general_hamming(M, alpha, sym, dtype):
    return _window("general_hamming", M, dtype, lambda: _cosines(M, sym, (alpha, 1 - alpha)))


@register_op(f"windows_kaiser(int M, *, float beta=12.0, {ENDING}", **WINDOWS)
def kaiser(M, beta, sym, dtype):
    if beta < 0:
        raise TensorValueError(f"beta must be non-negative, got: {beta} instead.")
    return _window("kaiser", M, dtype, lambda: _kaiser(M, sym, beta))


@register_op(f"windows_exponential(int M, *, float? center=None, float tau=1.0, {ENDING}", **WINDOWS)
def exponential(M, center, tau, sym, dtype):
    if tau <= 0:
        raise TensorValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise TensorValueError("Center must be None for symmetric windows. Pass `sym=False` to choose the center.")
    middle = (M if not sym and M > 1 else M - 1) / 2 if center is None else center
    return _window("exponential", M, dtype, lambda: np.exp(-np.abs(np.arange(M) - middle) / tau))


@register_op(f"windows_gaussian(int M, *, float std=1.0, {ENDING}", **WINDOWS)
def gaussian(M, std, sym, dtype):
    if std <= 0:
        raise TensorValueError(f"Standard deviation must be positive, got: {std} instead.")
    middle = (M if not sym and M > 1 else M - 1) / 2
    return _window("gaussian", M, dtype, lambda: np.exp(-(((np.arange(M) - middle) / (std * math.sqrt(2))) ** 2)))


@register_op(f"windows_cosine(int M, *, {ENDING}", **WINDOWS)
def cosine(M, sym, dtype):
    n = M + 1 if not sym and M > 1 else M
    return _window("cosine", M, dtype, lambda: np.sin((np.arange(M) + 0.5) * np.pi / n))


def _register(name: str, values: Callable[[int, bool], np.ndarray]) -> None:
    @register_op(f"windows_{name}(int M, *, {ENDING}", **WINDOWS)
    def window(M, sym, dtype):
        return _window(name, M, dtype, lambda: values(M, sym))


_register("bartlett", _triangle)
_register("hann", lambda M, sym: _cosines(M, sym, HANN))
_register("hamming", lambda M, sym: _cosines(M, sym, HAMMING))
_register("blackman", lambda M, sym: _cosines(M, sym, BLACKMAN))
_register("nuttall", lambda M, sym: _cosines(M, sym, NUTTALL))


# The older names


def _older(name: str, length: int, dtype: DTypeLike | None, values: Callable[[], np.ndarray]) -> Array:
    if dtype is not None and not is_floating(dtype):
        raise DtypeError(f"{name} expects floating point dtypes, got: {np.dtype(dtype)}")
    (length,) = static_size(length)
    check_addressable((length,), 8)
    return jnp.asarray(values() if length else np.zeros(0), dtype_or(dtype, default_float()))


def _register_older(name: str, values: Callable[[int, bool], np.ndarray]) -> None:
    @register_op(f"{name}(int window_length, bool periodic=True, *, Dtype? dtype=None) -> Tensor", **FACTORY)
    def window(window_length, periodic, dtype):
        return _older(name, window_length, dtype, lambda: values(window_length, not periodic))


_register_older("hann_window", lambda M, sym: _cosines(M, sym, HANN))
_register_older("blackman_window", lambda M, sym: _cosines(M, sym, BLACKMAN))
_register_older("bartlett_window", _triangle)


@register_op(
    "hamming_window(int window_length, bool periodic=True, float alpha=0.54, float beta=0.46, *, "
    "Dtype? dtype=None) -> Tensor",
    **FACTORY,
)
def hamming_window(window_length, periodic, alpha, beta, dtype):
    return _older("hamming_window", window_length, dtype, lambda: _cosines(window_length, not periodic, (alpha, beta)))


@register_op(
    "kaiser_window(int window_length, bool periodic=True, float beta=12.0, *, Dtype? dtype=None) -> Tensor", **FACTORY
)
def kaiser_window(window_length, periodic, beta, dtype):
    return _older("kaiser_window", window_length, dtype, lambda: _kaiser(window_length, not periodic, beta))
