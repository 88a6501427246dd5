"""Attention. Rows that may drop weights are random ones: they always receive a key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._typing import Array, DTypeLike
from jaxaot.errors import ArgumentError, DtypeError, ShapeMismatchError
from jaxaot.ops.dropout import dropped
from jaxaot.ops.half_precision import HALVES, product_before_rounding
from jaxaot.ops.promotion import is_bool, is_floating
from jaxaot.ops.table import FUNCTIONAL, register_op


@register_op(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, "
    "bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
    random=lambda dropout_p, **_: 0 < dropout_p < 1,
    **FUNCTIONAL,
)
def scaled_dot_product_attention(prng_key, query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
    """Returns softmax(query keyᵀ / √width + mask) value, as PyTorch's page spells it.

    A row whose every place is masked out yields zeros.
    """
    if is_causal and attn_mask is not None:
        raise ArgumentError("Explicit attn_mask should not be set when is_causal=True")
    if not query.dtype == key.dtype == value.dtype:
        raise DtypeError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {query.dtype} key.dtype: "
            f"{key.dtype} and value.dtype: {value.dtype} instead. Convert them, as with `key.to(query.dtype)`."
        )
    if attn_mask is not None and attn_mask.dtype not in (np.bool_, np.float32, query.dtype):
        raise DtypeError(
            f"Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{attn_mask.dtype} and query.dtype: {query.dtype} instead. Convert it: `attn_mask.to(query.dtype)`."
        )
    if query.shape[-1] != key.shape[-1]:
        raise ShapeMismatchError(f"query and key differ in width: {list(query.shape)} and {list(key.shape)}")
    if enable_gqa:
        key, value = (jnp.repeat(x, query.shape[-3] // x.shape[-3], axis=-3) for x in (key, value))
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    keys = jnp.swapaxes(key, -2, -1)
    if query.dtype in HALVES:  # products may be too large for halves until they are scaled
        scores = product_before_rounding(jnp.matmul, query, keys) * scale
    else:
        scores = jnp.matmul(query * scale, keys)
    visible = None
    if is_causal:
        visible = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    elif attn_mask is not None and is_bool(attn_mask.dtype):
        visible = attn_mask
    elif attn_mask is not None:
        scores = scores + attn_mask
    if visible is not None:
        scores = jnp.where(visible, scores, -jnp.inf)
    weights = _safe_softmax(scores).astype(query.dtype)
    return jnp.matmul(dropped(prng_key, weights, dropout_p, weights.shape), value)


@jax.custom_jvp
def _safe_softmax(scores: Array) -> Array:
    """Returns the softmax along the last axis, zeros where all scores of a row are -inf."""
    largest = jnp.max(scores, axis=-1, keepdims=True, initial=-jnp.inf)
    terms = jnp.exp(scores - jnp.where(largest == -jnp.inf, 0, largest))
    total = jnp.sum(terms, axis=-1, keepdims=True)
    return terms / jnp.where(total == 0, 1, total)


@_safe_softmax.defjvp
def _safe_softmax_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    weights, (change,) = _safe_softmax(*primals), tangents
    return weights, weights * (change - jnp.sum(weights * change, axis=-1, keepdims=True))


# Heads


def _additive(mask: Array | None, name: str, dtype: DTypeLike | None) -> Array | None:
    """Returns a mask as what is added to scores: -inf where a bool mask is true."""
    if mask is None or is_floating(mask.dtype):
        return mask
    if not is_bool(mask.dtype):
        raise DtypeError(f"only bool and floating types of {name} are supported, but got {mask.dtype}")
    return jnp.where(mask, jnp.asarray(-jnp.inf, dtype), jnp.zeros((), dtype))


def _projected(operands: Any, weights: Any, bias: Array | None) -> list[Array]:
    biases = [None] * 3 if bias is None else jnp.split(bias, 3)
    return [
        jnp.matmul(x, weight.T) + (0 if b is None else b)
        for x, weight, b in zip(operands, weights, biases, strict=True)
    ]


def _check_heads(query: Array, key: Array, value: Array, width: int, n_heads: int, separate: bool) -> None:
    if query.ndim not in (2, 3) or key.ndim != query.ndim or value.ndim != query.ndim:
        raise ShapeMismatchError(
            "query, key and value should be 3-D (length, batch, width), or 2-D without a batch, but got "
            f"{query.ndim}-D, {key.ndim}-D and {value.ndim}-D"
        )
    if query.shape[-1] != width:
        raise ShapeMismatchError(f"was expecting embedding dimension of {width}, but got {query.shape[-1]}")
    if width % n_heads:
        raise ShapeMismatchError(f"embed_dim {width} not divisible by num_heads {n_heads}")
    if key.shape[:-1] != value.shape[:-1] or (not separate and key.shape != value.shape):
        raise ShapeMismatchError(f"key shape {list(key.shape)} does not match value shape {list(value.shape)}")


def _extended(value: Array, more: Array) -> Array:
    """Returns keys or values (heads, length, width) with one more place."""
    return jnp.concatenate([value, jnp.broadcast_to(more, (value.shape[0], 1, value.shape[2]))], axis=1)


@register_op(
    "multi_head_attention_forward(Tensor query, Tensor key, Tensor value, int embed_dim_to_check, int num_heads, "
    "Tensor? in_proj_weight, Tensor? in_proj_bias, Tensor? bias_k, Tensor? bias_v, bool add_zero_attn, "
    "float dropout_p, Tensor out_proj_weight, Tensor? out_proj_bias, bool training=True, "
    "Tensor? key_padding_mask=None, bool need_weights=True, Tensor? attn_mask=None, "
    "bool use_separate_proj_weight=False, Tensor? q_proj_weight=None, Tensor? k_proj_weight=None, "
    "Tensor? v_proj_weight=None, Tensor? static_k=None, Tensor? static_v=None, bool average_attn_weights=True, "
    "bool is_causal=False) -> (Tensor, Tensor)",
    random=lambda training, dropout_p, **_: training and 0 < dropout_p < 1,
    **FUNCTIONAL,
)
def multi_head_attention_forward(
    prng_key, query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v,
    add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training, key_padding_mask, need_weights, attn_mask,
    use_separate_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, static_k, static_v, average_attn_weights,
    is_causal,
):  # fmt: skip
    """Returns the attention of several heads and their weights; no elements for weights that are not needed."""
    _check_heads(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    if is_causal and attn_mask is None:
        raise ArgumentError("Need attn_mask if specifying the is_causal hint.")
    if (bias_k is None) != (bias_v is None):
        raise ArgumentError("bias_k and bias_v are given together or not at all")
    unbatched = query.ndim == 2
    if unbatched:
        query, key, value = (x[:, None] for x in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
    length, batch, width = query.shape
    head_width = width // num_heads
    padding = _additive(key_padding_mask, "key_padding_mask", query.dtype)
    is_causal = is_causal and padding is None and not need_weights
    mask = None if is_causal else _additive(attn_mask, "attn_mask", query.dtype)
    if mask is not None:
        mask = mask[None] if mask.ndim == 2 else mask
        if mask.shape not in ((1, length, key.shape[0]), (batch * num_heads, length, key.shape[0])):
            raise ShapeMismatchError(
                f"The shape of the attn_mask is {list(attn_mask.shape)}, but should be {[length, key.shape[0]]} or "
                f"{[batch * num_heads, length, key.shape[0]]}."
            )
    packed = [q_proj_weight, k_proj_weight, v_proj_weight]
    if not use_separate_proj_weight:
        packed = [None] * 3 if in_proj_weight is None else jnp.split(in_proj_weight, 3)
    if any(weight is None for weight in packed):
        raise ArgumentError("give in_proj_weight, or use_separate_proj_weight with q_, k_ and v_proj_weight")
    q, k, v = _projected((query, key, value), packed, in_proj_bias)
    n_more = (bias_k is not None) + add_zero_attn
    if bias_k is not None:
        k, v = (jnp.concatenate([x, jnp.tile(b, (1, batch, 1))]) for x, b in ((k, bias_k), (v, bias_v)))
    q, k, v = (jnp.swapaxes(x.reshape(x.shape[0], batch * num_heads, head_width), 0, 1) for x in (q, k, v))
    k, v = (k if static_k is None else static_k), (v if static_v is None else static_v)
    if add_zero_attn:
        k, v = (_extended(x, jnp.zeros((), x.dtype)) for x in (k, v))
    if mask is not None:
        mask = jnp.pad(mask, ((0, 0), (0, 0), (0, n_more)))
    if padding is not None:
        given = padding.shape
        padding = jnp.pad(padding, ((0, 0), (0, n_more)))
        if padding.shape != (batch, k.shape[1]):
            raise ShapeMismatchError(
                f"expecting key_padding_mask shape of {(batch, k.shape[1] - n_more)}, but got {given}"
            )
        padding = jnp.repeat(padding[:, None], num_heads, axis=0)
        mask = padding if mask is None else mask + padding
    dropout_p = dropout_p if training else 0.0
    if need_weights:
        scores = jnp.matmul(q * math.sqrt(1 / head_width), jnp.swapaxes(k, 1, 2)) + (0 if mask is None else mask)
        weights = dropped(prng_key, jax.nn.softmax(scores, axis=-1), dropout_p, scores.shape)
        mixed = jnp.matmul(weights, v)
        weights = weights.reshape(batch, num_heads, length, -1)
        weights = jnp.mean(weights, axis=1) if average_attn_weights else weights
        weights = weights[0] if unbatched else weights
    else:
        mixed = scaled_dot_product_attention(prng_key, q, k, v, mask, dropout_p, is_causal, None, False)
        weights = jnp.zeros(0, mixed.dtype)
    mixed = jnp.swapaxes(mixed, 0, 1).reshape(length, batch, width)
    result = jnp.matmul(mixed, out_proj_weight.T)
    result = result if out_proj_bias is None else result + out_proj_bias
    return (result[:, 0] if unbatched else result), weights
