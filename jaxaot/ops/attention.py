"""Dropout and attention. Rows that may drop elements are random ones: they always receive a key."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._typing import Array
from jaxaot.errors import ArgumentError, ShapeMismatchError
from jaxaot.ops.promotion import is_bool
from jaxaot.ops.table import register_op


def dropped(key: Array, input: Array, p: float, mask_shape: tuple[int, ...]) -> Array:
    """Returns `input` with elements zeroed with probability `p`, the others scaled so that the mean stays."""
    if not 0 <= p <= 1:
        raise ArgumentError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 0:
        return input
    if p == 1:
        return jnp.zeros_like(input) * input
    kept = jax.random.bernoulli(key, 1 - p, mask_shape)
    return jnp.where(kept, input / (1 - p), 0)


@register_op(
    "dropout(Tensor input, float p=0.5, bool training=True) -> Tensor",
    random=True,
    method=False,
    inplace=True,
    namespaces=("", "nn.functional"),
)
def dropout(key, input, p, training):
    return dropped(key, input, p if training else 0.0, input.shape)


@register_op(
    "alpha_dropout(Tensor input, float p=0.5, bool training=False) -> Tensor",
    random=True,
    method=False,
    namespaces=("", "nn.functional"),
)
def alpha_dropout(key, input, p, training):
    if not training or p == 0:
        return input
    if p == 1:
        return jnp.zeros_like(input)
    alpha = 1.7580993408473766  # Klambauer et al., https://arxiv.org/abs/1706.02515
    scale = 1 / math.sqrt((alpha**2 * p + 1) * (1 - p))
    kept = jax.random.bernoulli(key, 1 - p, input.shape)
    return jnp.where(kept, input, -alpha) * scale + alpha * p * scale


def _register_channel_dropout(name: str, n: int) -> None:
    @register_op(
        f"{name}(Tensor input, float p=0.5, bool training=True) -> Tensor",
        random=True,
        method=False,
        namespaces=("nn.functional",),
    )
    def channel_dropout(key, input, p, training):
        batched = n == 0 or input.ndim == n + 2
        lead = input.shape[: 2 if batched else 1]
        return dropped(key, input, p if training else 0.0, lead + (1,) * (input.ndim - len(lead)))


for _name, _n in {"feature_dropout": 0, "dropout1d": 1, "dropout2d": 2, "dropout3d": 3}.items():
    _register_channel_dropout(_name, _n)


@register_op(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, "
    "bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
    random=True,
    method=False,
    namespaces=("nn.functional",),
)
def scaled_dot_product_attention(prng_key, query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
    """Returns softmax(query keyᵀ / √width + mask) value, as PyTorch's page spells it.

    A row whose every place is masked out yields zeros.
    """
    if is_causal and attn_mask is not None:
        raise ArgumentError("Explicit attn_mask should not be set when is_causal=True")
    if query.shape[-1] != key.shape[-1]:
        raise ShapeMismatchError(f"query and key differ in width: {list(query.shape)} and {list(key.shape)}")
    if enable_gqa:
        key, value = (jnp.repeat(x, query.shape[-3] // x.shape[-3], axis=-3) for x in (key, value))
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores: Any = jnp.matmul(query * scale, jnp.swapaxes(key, -2, -1))
    scores = scores.astype(jnp.promote_types(scores.dtype, jnp.float32))
    visible = None
    if is_causal:
        visible = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    elif attn_mask is not None and is_bool(attn_mask.dtype):
        visible = attn_mask
    elif attn_mask is not None:
        scores = scores + attn_mask
    if visible is not None:
        scores = jnp.where(visible, scores, -jnp.inf)
    hidden = jnp.all(scores == -jnp.inf, axis=-1, keepdims=True)
    weights = jnp.where(hidden, 0, jax.nn.softmax(jnp.where(hidden, 0, scores), axis=-1)).astype(query.dtype)
    return jnp.matmul(dropped(prng_key, weights, dropout_p, weights.shape), value)
