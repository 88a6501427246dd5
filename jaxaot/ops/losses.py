"""Losses: `ja.nn.functional`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._typing import Array
from jaxaot.errors import ArgumentError, DtypeError, ShapeMismatchError
from jaxaot.ops.dims import broadcast_shapes
from jaxaot.ops.elementwise import absolute
from jaxaot.ops.promotion import is_inexact, is_integral, promote
from jaxaot.ops.reductions import vector_norm_values
from jaxaot.ops.table import register_op

FUNCTIONAL: dict[str, Any] = {"method": False, "namespaces": ("nn.functional",)}


OLD = "Any size_average=None, Any reduce=None, "
"""Parameters that PyTorch keeps for old callers' sake; `reduction` alone counts."""


def reduced(loss: Array, reduction: str) -> Array:
    """Returns the losses of the elements reduced as PyTorch's `reduction` says."""
    if reduction not in ("none", "mean", "sum"):
        raise ArgumentError(f"{reduction} is not a valid value for reduction: it is one of none, mean and sum")
    return {"none": lambda x: x, "mean": jnp.mean, "sum": jnp.sum}[reduction](loss)


def _pair(input: Array, target: Array) -> tuple[Array, Array]:
    broadcast_shapes(input.shape, target.shape)
    input, target = promote(input, target)
    return input, target


def _weighted(loss: Array, weight: Array | None) -> Array:
    return loss if weight is None else loss * weight


@register_op(
    "mse_loss(Tensor input, Tensor target, " + OLD + "str reduction='mean', Tensor? weight=None) -> Tensor",
    **FUNCTIONAL,
)
def mse_loss(input, target, size_average, reduce, reduction, weight):
    input, target = _pair(input, target)
    return reduced(_weighted(jnp.square(input - target), weight), reduction)


@register_op(
    "l1_loss(Tensor input, Tensor target, " + OLD + "str reduction='mean', Tensor? weight=None) -> Tensor", **FUNCTIONAL
)
def l1_loss(input, target, size_average, reduce, reduction, weight):
    input, target = _pair(input, target)
    return reduced(_weighted(absolute(input - target), weight), reduction)


@register_op(
    "smooth_l1_loss(Tensor input, Tensor target, " + OLD + "str reduction='mean', float beta=1.0) -> Tensor",
    **FUNCTIONAL,
)
def smooth_l1_loss(input, target, size_average, reduce, reduction, beta):
    if beta == 0:
        return l1_loss(input, target, size_average, reduce, reduction, None)
    input, target = _pair(input, target)
    difference = input - target
    size = jnp.abs(difference)
    return reduced(jnp.where(size < beta, 0.5 * jnp.square(difference) / beta, size - 0.5 * beta), reduction)


@register_op(
    "huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0, Tensor? weight=None) -> Tensor",
    **FUNCTIONAL,
)
def huber_loss(input, target, reduction, delta, weight):
    input, target = _pair(input, target)
    difference = input - target
    size = jnp.abs(difference)
    loss = jnp.where(size <= delta, 0.5 * jnp.square(difference), delta * (size - 0.5 * delta))
    return reduced(_weighted(loss, weight), reduction)


@register_op(
    "binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, " + OLD + "str reduction='mean') -> Tensor",
    **FUNCTIONAL,
)
def binary_cross_entropy(input, target, weight, size_average, reduce, reduction):
    if input.shape != target.shape:
        raise ShapeMismatchError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated."
        )
    return reduced(_weighted(_binary_cross_entropy(input, target), weight), reduction)


@jax.custom_jvp
def _binary_cross_entropy(input: Array, target: Array) -> Array:
    """Returns the losses; logarithms are held above -100 and the slope's divisor above 1e-12, as in PyTorch."""
    log, log_rest = jnp.maximum(jnp.log(input), -100.0), jnp.maximum(jnp.log1p(-input), -100.0)
    return (target - 1) * log_rest - target * log


@_binary_cross_entropy.defjvp
def _binary_cross_entropy_jvp(primals: Any, tangents: Any) -> Any:
    (input, target), (d_input, d_target) = primals, tangents
    log, log_rest = jnp.maximum(jnp.log(input), -100.0), jnp.maximum(jnp.log1p(-input), -100.0)
    slope = (input - target) / jnp.maximum((1 - input) * input, 1e-12)
    return (target - 1) * log_rest - target * log, slope * d_input + (jnp.log1p(-input) - jnp.log(input)) * d_target


@register_op(
    "binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, "
    + OLD
    + "str reduction='mean', "
    "Tensor? pos_weight=None) -> Tensor",
    **FUNCTIONAL,
)
def binary_cross_entropy_with_logits(input, target, weight, size_average, reduce, reduction, pos_weight):
    if input.shape != target.shape:
        raise ShapeMismatchError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    log_sigmoid = -jnp.logaddexp(-input, 0.0)
    scale = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    return reduced(_weighted((1 - target) * input - scale * log_sigmoid, weight), reduction)


@register_op(
    "kl_div(Tensor input, Tensor target, Any size_average=None, Any reduce=None, str reduction='mean', "
    "bool log_target=False) -> Tensor",
    **FUNCTIONAL,
)
def kl_div(input, target, size_average, reduce, reduction, log_target):
    if log_target:
        loss = jnp.exp(target) * (target - input)
    else:
        positive = target > 0
        log = jnp.log(jnp.where(positive, target, 1))
        loss = jnp.where(positive, target * log, 0) - target * input
    if reduction == "batchmean":
        return jnp.sum(loss) / (input.shape[0] if input.ndim else 1)
    return reduced(loss, reduction)


# Classes


def _class_axis(input: Array) -> int:
    return 0 if input.ndim == 1 else 1


def _negative_log_likelihood(
    log_probabilities: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str, smoothing: float
) -> Array:
    if not is_integral(target.dtype):
        raise DtypeError(f"expected a target of integers (classes), but got {target.dtype}")
    axis = _class_axis(log_probabilities)
    expected = log_probabilities.shape[:axis] + log_probabilities.shape[axis + 1 :]
    if target.shape != expected:
        raise ShapeMismatchError(f"Expected target size {list(expected)}, got {list(target.shape)}")
    valid = target != ignore_index
    place = jnp.where(valid, target, 0)
    picked = jnp.take_along_axis(log_probabilities, jnp.expand_dims(place, axis), axis, mode="clip").squeeze(axis)
    weights = jnp.where(valid, jnp.ones((), picked.dtype) if weight is None else weight[place], 0).astype(picked.dtype)
    loss = jnp.where(valid, -picked * weights, 0)
    if smoothing:
        n_classes = log_probabilities.shape[axis]
        rows = log_probabilities
        if weight is not None:
            rows = rows * weight.reshape((-1,) + (1,) * (rows.ndim - 1 - axis))
        smooth = jnp.where(valid, -jnp.sum(rows, axis), 0)
        loss = (1 - smoothing) * loss + smoothing / n_classes * smooth
    return jnp.sum(loss) / jnp.sum(weights) if reduction == "mean" else reduced(loss, reduction)


@register_op(
    "nll_loss(Tensor input, Tensor target, Tensor? weight=None, Any size_average=None, int ignore_index=-100, "
    "Any reduce=None, str reduction='mean') -> Tensor",
    **FUNCTIONAL,
)
def nll_loss(input, target, weight, size_average, ignore_index, reduce, reduction):
    return _negative_log_likelihood(input, target, weight, ignore_index, reduction, 0.0)


@register_op(
    "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, Any size_average=None, int ignore_index=-100, "
    "Any reduce=None, str reduction='mean', float label_smoothing=0.0) -> Tensor",
    **FUNCTIONAL,
)
def cross_entropy(input, target, weight, size_average, ignore_index, reduce, reduction, label_smoothing):
    axis = _class_axis(input)
    log_probabilities = jax.nn.log_softmax(input, axis=axis)
    if not is_inexact(target.dtype):
        return _negative_log_likelihood(log_probabilities, target, weight, ignore_index, reduction, label_smoothing)
    if target.shape != input.shape:
        raise ShapeMismatchError(f"Expected class probabilities of {list(input.shape)}, got {list(target.shape)}")
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / input.shape[axis]
    terms = log_probabilities * target
    if weight is not None:
        terms = terms * weight.reshape((-1,) + (1,) * (input.ndim - 1 - axis))
    loss = -jnp.sum(terms, axis)
    return jnp.sum(loss) / max(loss.size, 1) if reduction == "mean" else reduced(loss, reduction)


@register_op(
    "poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, Any size_average=None, "
    "float eps=1e-08, Any reduce=None, str reduction='mean') -> Tensor",
    **FUNCTIONAL,
)
def poisson_nll_loss(input, target, log_input, full, size_average, eps, reduce, reduction):
    loss = jnp.exp(input) - target * input if log_input else input - target * jnp.log(input + eps)
    if full:
        safe = jnp.where(target > 1, target, 2)
        stirling = safe * jnp.log(safe) - safe + 0.5 * jnp.log(2 * jnp.pi * safe)
        loss = loss + jnp.where(target > 1, stirling, 0)
    return reduced(loss, reduction)


@register_op(
    "gaussian_nll_loss(Tensor input, Tensor target, Tensor var, bool full=False, float eps=1e-06, "
    "str reduction='mean') -> Tensor",
    **FUNCTIONAL,
)
def gaussian_nll_loss(input, target, var, full, eps, reduction):
    if jnp.ndim(var) == input.ndim - 1 and jnp.ndim(var):
        var = var[..., None]
    # held above eps in value, not in gradient
    var = var + jax.lax.stop_gradient(jnp.maximum(var, eps) - var)
    loss = 0.5 * (jnp.log(var) + jnp.square(input - target) / var)
    return reduced(loss + (0.5 * jnp.log(2 * jnp.pi) if full else 0), reduction)


# Margins


AVERAGED = OLD + "str reduction='mean') -> Tensor"


@register_op("soft_margin_loss(Tensor input, Tensor target, " + AVERAGED, **FUNCTIONAL)
def soft_margin_loss(input, target, size_average, reduce, reduction):
    return reduced(jnp.logaddexp(-target * input, 0.0), reduction)


@register_op("hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, " + AVERAGED, **FUNCTIONAL)
def hinge_embedding_loss(input, target, margin, size_average, reduce, reduction):
    apart = jnp.where(target != 1, jnp.where(margin - input >= 0, margin - input, 0), 0)
    return reduced(apart + jnp.where(target != -1, input, 0), reduction)


@register_op(
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, " + AVERAGED, **FUNCTIONAL
)
def margin_ranking_loss(input1, input2, target, margin, size_average, reduce, reduction):
    value = -target * (input1 - input2) + margin
    return reduced(jnp.where(value >= 0, value, 0), reduction)


@register_op(
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, "
    "float eps=1e-06, bool swap=False, " + AVERAGED,
    **FUNCTIONAL,
)
def triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, size_average, reduce, reduction):
    def distance(x: Array, y: Array) -> Array:
        return vector_norm_values(x - y + eps, float(p), (-1,), False)

    far = distance(anchor, negative)
    if swap:
        far = jnp.minimum(far, distance(positive, negative))
    value = distance(anchor, positive) - far + margin
    return reduced(jnp.where(value >= 0, value, 0), reduction)


@register_op(
    "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, " + AVERAGED, **FUNCTIONAL
)
def cosine_embedding_loss(input1, input2, target, margin, size_average, reduce, reduction):
    eps = 1e-12  # as in ATen's Loss.cpp
    dot = jnp.sum(input1 * input2, -1)
    size = jnp.sqrt((jnp.sum(input1 * input1, -1) + eps) * (jnp.sum(input2 * input2, -1) + eps))
    cosine = dot / size
    apart = jnp.where(cosine - margin >= 0, cosine - margin, 0)
    return reduced(jnp.where(target == 1, 1 - cosine, 0) + jnp.where(target == -1, apart, 0), reduction)
