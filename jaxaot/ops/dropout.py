"""Dropout in all its forms.

Without training, or for p = 0, the result is the input; for p = 1 it is the input times zero: nothing is drawn then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._typing import Array
from jaxaot.errors import DtypeError, ShapeMismatchError, TensorError, TensorValueError
from jaxaot.ops.promotion import is_floating, operand
from jaxaot.ops.table import register_op

DROPOUT: dict[str, Any] = {
    "random": lambda p, training: training and 0 < p < 1,
    "method": False,
    "inplace": True,
    "layout": "same",
}
ALPHA = 1.7580993408473766
"""Minus the least value of SELU: Klambauer et al., https://arxiv.org/abs/1706.02515"""


def dropped(key: Array, input: Array, p: float, mask_shape: tuple[int, ...], keeps_moments: bool = False) -> Array:
    """Returns `input` with elements dropped with probability `p`.

    They are zeroed, and the others scaled so that the mean stays; or, where it `keeps_moments`, they are set to
    `-ALPHA`, and all are scaled so that mean and variance stay.
    """
    _check_probability(p)
    if p == 0:
        return input
    _check_floating(input)
    if p == 1:
        return input * 0
    kept = jax.random.bernoulli(key, operand(1 - p), mask_shape)
    if not keeps_moments:
        return jnp.where(kept, input / (1 - p), 0)
    scale = 1 / math.sqrt((ALPHA**2 * p + 1) * (1 - p))
    return jnp.where(kept, input, -ALPHA) * scale + ALPHA * p * scale


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise TensorValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _check_floating(input: Array) -> None:
    if not is_floating(input.dtype):
        raise DtypeError(f"dropout needs a floating point tensor, but got {input.dtype}; write `x.float()`")


def _channels_of(input: Array, p: float) -> tuple[int, ...]:
    """Returns the shape of a mask with one element for each channel of a batch."""
    if input.ndim < 2 and p not in (0, 1):
        raise ShapeMismatchError("Feature dropout requires at least 2 dimensions in the input")
    return input.shape[:2] + (1,) * (input.ndim - 2)


def _register(name: str, trains: bool, keeps_moments: bool, of_channels: bool) -> Callable[..., Array]:
    @register_op(
        f"{name}(Tensor input, float p=0.5, bool training={trains}) -> Tensor",
        namespaces=("", "nn.functional"),
        **DROPOUT,
    )
    def row(key, input, p, training):
        _check_probability(p)
        p = p if training else 0.0
        return dropped(key, input, p, _channels_of(input, p) if of_channels else input.shape, keeps_moments)

    row.__doc__ = "One decision for each channel." if of_channels else None
    return row


_register("dropout", True, False, False)
_register("alpha_dropout", False, True, False)
_register("feature_alpha_dropout", False, True, True)
feature_dropout = _register("feature_dropout", True, False, True)


@register_op(
    "dropout1d(Tensor input, float p=0.5, bool training=True) -> Tensor", namespaces=("nn.functional",), **DROPOUT
)
def dropout1d(key, input, p, training):
    if input.ndim not in (2, 3):
        raise ShapeMismatchError(f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input.")
    return _dropout_nd(key, input, p, training, 3)


@register_op(
    "dropout2d(Tensor input, float p=0.5, bool training=True) -> Tensor", namespaces=("nn.functional",), **DROPOUT
)
def dropout2d(key, input, p, training):
    """Three dims are (N, C, L), not (C, H, W)."""
    return feature_dropout(key, input, p, training)


@register_op(
    "dropout3d(Tensor input, float p=0.5, bool training=True) -> Tensor", namespaces=("nn.functional",), **DROPOUT
)
def dropout3d(key, input, p, training):
    return _dropout_nd(key, input, p, training, 5)


def _dropout_nd(key: Array, input: Array, p: float, training: bool, ndim: int) -> Array:
    """Returns `input` with channels dropped; with another number of dims than `ndim` it is not a batch."""
    if input.ndim == ndim:
        return feature_dropout(key, input, p, training)
    return feature_dropout(key, input[None], p, training)[0]


@register_op("native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
    random=lambda p, train: train is not False, method=False)  # fmt: skip
def native_dropout(key, input, p, train):
    """The result and the mask of what was kept."""
    if train is False or not input.size:
        return input, jnp.ones(input.shape, bool)
    if not 0 <= p <= 1:
        raise TensorError(f"bernoulli_ expects p to be in [0, 1], but got p={1 - p}")
    _check_floating(input)
    kept = jax.random.bernoulli(key, operand(1 - p), input.shape)
    return jnp.where(kept, input / (1 - p) if p < 1 else input, 0), kept
