"""Losses that ask for a margin between scores or distances: `ja.nn.functional`."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxaot._typing import Array
from jaxaot.errors import ArgumentError, DimError, DtypeError, ShapeMismatchError
from jaxaot.ops.derivatives import divide
from jaxaot.ops.dims import broadcast_shapes
from jaxaot.ops.losses import PER_ELEMENT, loss, reduced
from jaxaot.ops.promotion import is_integral
from jaxaot.ops.reductions import vector_norm_values
from jaxaot.ops.table import FUNCTIONAL


@loss("soft_margin_loss(Tensor input, Tensor target, str reduction='mean') -> Tensor", **PER_ELEMENT)
def soft_margin_loss(input, target, reduction):
    return reduced(jnp.logaddexp(-target * input, 0.0), reduction)


@loss(
    "hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, str reduction='mean') -> Tensor", **PER_ELEMENT
)
def hinge_embedding_loss(input, target, margin, reduction):
    apart = jnp.where(target != 1, jnp.where(margin - input >= 0, margin - input, 0), 0)
    return reduced(apart + jnp.where(target != -1, input, 0), reduction)


@loss(
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, str reduction='mean') -> Tensor",
    **PER_ELEMENT,
)
def margin_ranking_loss(input1, input2, target, margin, reduction):
    if not input1.ndim == input2.ndim == target.ndim:
        raise ShapeMismatchError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {list(input1.shape)}, input2: {list(input2.shape)}, target: {list(target.shape)}"
        )
    value = -target * (input1 - input2) + margin
    return reduced(jnp.where(value >= 0, value, 0), reduction)


@loss(
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, "
    "float eps=1e-06, bool swap=False, str reduction='mean') -> Tensor",
    **FUNCTIONAL,
)
def triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction):
    if margin <= 0:
        raise ArgumentError(f"margin must be greater than 0, got {margin}")

    def distance(x: Array, y: Array) -> Array:
        return vector_norm_values(x - y + eps, float(p), (-1,), False)

    far = distance(anchor, negative)
    if swap:
        far = jnp.minimum(far, distance(positive, negative))
    value = distance(anchor, positive) - far + margin
    return reduced(jnp.where(value >= 0, value, 0), reduction)


@loss(
    "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, str reduction='mean') "
    "-> Tensor",
    **FUNCTIONAL,
)
def cosine_embedding_loss(input1, input2, target, margin, reduction):
    if input1.ndim not in (1, 2) or target.ndim != input1.ndim - 1:
        raise ShapeMismatchError(
            "cosine_embedding_loss: expected inputs (batch, size) with a target (batch,), or (size,) with a number, "
            f"but got {list(input1.shape)}, {list(input2.shape)} and {list(target.shape)}"
        )
    broadcast_shapes(input1.shape, input2.shape)
    eps = 1e-12  # as in ATen's Loss.cpp
    dot = jnp.sum(input1 * input2, -1)
    size = jnp.sqrt((jnp.sum(input1 * input1, -1) + eps) * (jnp.sum(input2 * input2, -1) + eps))
    cosine = divide(dot, size)
    apart = jnp.where(cosine - margin >= 0, cosine - margin, 0)
    return reduced(jnp.where(target == 1, 1 - cosine, 0) + jnp.where(target == -1, apart, 0), reduction)


# Classes


def _rows_and_labels(name: str, input: Array, target: Array) -> tuple[Array, Array]:
    """Returns scores as (batch, classes) with labels that fit them."""
    if input.ndim > 2 or (input.ndim and input.shape[-1] == 0):
        raise ShapeMismatchError(
            f"{name}: Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )
    if not is_integral(target.dtype):
        raise DtypeError(f"{name}: expected a target of integers (classes), but got {target.dtype}")
    return (input, target) if input.ndim == 2 else (input.reshape(1, -1), target.reshape(1, -1))


@loss(
    "multi_margin_loss(Tensor input, Tensor target, int p=1, float margin=1.0, Tensor? weight=None, "
    "str reduction='mean') -> Tensor",
    **FUNCTIONAL,
)
def multi_margin_loss(input, target, p, margin, weight, reduction):
    if p not in (1, 2):
        raise ArgumentError(f"only p == 1 and p == 2 supported, but got p={p}")
    if weight is not None and weight.ndim != 1:
        raise ShapeMismatchError("weight must be one-dimensional")
    rows, labels = _rows_and_labels("multi_margin_loss", input, target)
    if labels.size != rows.shape[0]:
        raise ShapeMismatchError(
            f"multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{rows.shape[0]}], but got {list(target.shape)}. Input has shape "
            f"{list(input.shape)}."
        )
    labels = labels.reshape(-1, 1)
    short = margin - jnp.take_along_axis(rows, labels, axis=1, mode="clip") + rows
    short = jnp.where((short > 0) & (jnp.arange(rows.shape[1]) != labels), short, 0)
    if p == 2:
        short = jnp.square(short)
    if weight is not None:
        short = short * jnp.take(weight, labels, mode="clip")
    loss = jnp.sum(short, axis=1) / rows.shape[1]
    return loss[0] if target.ndim == 0 else reduced(loss, reduction)


@loss("multilabel_margin_loss(Tensor input, Tensor target, str reduction='mean') -> Tensor", **FUNCTIONAL)
def multilabel_margin_loss(input, target, reduction):
    """A row of `target` names the labels of a sample, up to the first -1."""
    if input.shape != target.shape and (input.ndim, target.size) != (0, 1):
        raise ShapeMismatchError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    rows, labels = _rows_and_labels("multilabel_margin_loss", input, target)
    named = jnp.cumprod((labels >= 0).astype(jnp.int32), axis=1) > 0
    labels = jnp.where(named, labels, 0)
    is_label = jnp.any(named[..., None] & (labels[..., None] == jnp.arange(rows.shape[1])), axis=1)
    scores = jnp.take_along_axis(rows, labels, axis=1, mode="clip")
    short = 1 - scores[:, :, None] + rows[:, None, :]
    short = jnp.where(named[..., None] & ~is_label[:, None] & (short > 0), short, 0)
    loss = jnp.sum(short, axis=(1, 2)) / rows.shape[1]
    return loss[0] if input.ndim < 2 else reduced(loss, reduction)


@loss(
    "multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight=None, str reduction='mean') -> Tensor",
    **FUNCTIONAL,
)
def multilabel_soft_margin_loss(input, target, weight, reduction):
    if input.ndim == 0:
        raise DimError("Dimension specified as -1 but tensor has no dimensions")
    loss = -(target * jax.nn.log_sigmoid(input) + (1 - target) * jax.nn.log_sigmoid(-input))
    return reduced(jnp.sum(loss if weight is None else loss * weight, axis=-1) / input.shape[-1], reduction)
