"""Losses: `ja.nn.functional`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import xlogy

from jaxaot._typing import Array, Shape
from jaxaot.errors import ArgumentError, DtypeError, ShapeMismatchError
from jaxaot.ops.derivatives import divide
from jaxaot.ops.dims import broadcast_shapes
from jaxaot.ops.elementwise import absolute
from jaxaot.ops.promotion import is_inexact, is_integral, promote
from jaxaot.ops.table import FUNCTIONAL, register_op
from jaxaot.views.layout import Layout, contiguous, elementwise_layout

OLD = ("Any size_average=None", "Any reduce=None")
"""The parameters that came before `reduction`, which they overrule where given."""


def per_element(operands: Sequence[Layout], size: Shape, dtype: np.dtype, static: tuple[Any, ...]) -> Layout:
    """As an elementwise op, where the loss is not reduced."""
    alike = [operand for operand in operands if len(operand.size) == len(size)]
    return elementwise_layout(tuple(alike), size, dtype) if size and alike else contiguous(size, dtype)


PER_ELEMENT: dict[str, Any] = {"layout": per_element, **FUNCTIONAL}


def loss(schema: str, **settings: Any) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Returns a decorator that adds the row of a loss, whose function takes no parameters that came before `reduction`.

    It gets what they mean together: `torch.nn._reduction.legacy_get_string`.
    """
    if OLD[0] not in schema:
        schema = schema.replace("str reduction=", f"{', '.join(OLD)}, str reduction=")

    def add(fn: Callable[..., Array]) -> Callable[..., Array]:
        @register_op(schema, **settings)
        @functools.wraps(fn)
        def row(size_average, reduce, reduction, **given):
            if reduce is False:
                reduction = "none"
            elif size_average is not None or reduce is not None:
                reduction = "sum" if size_average is False else "mean"
            return fn(**given, reduction=reduction)

        return fn

    return add


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


def _weighted_mean(loss: Array, input: Array, weight: Array | None, reduction: str) -> Array:
    """Returns `reduced`, where the mean is one by weight."""
    if weight is None:
        return reduced(loss, reduction)
    if weight.shape != input.shape:
        raise ShapeMismatchError("Weights and input must have the same size.")
    loss = loss * weight
    return jnp.sum(loss) / jnp.sum(weight) if reduction == "mean" else reduced(loss, reduction)


@loss("mse_loss(Tensor input, Tensor target, str reduction='mean', Tensor? weight=None) -> Tensor", **PER_ELEMENT)
def mse_loss(input, target, reduction, weight):
    input, target = _pair(input, target)
    return _weighted_mean(jnp.square(input - target), input, weight, reduction)


@loss("l1_loss(Tensor input, Tensor target, str reduction='mean', Tensor? weight=None) -> Tensor", **PER_ELEMENT)
def l1_loss(input, target, reduction, weight):
    given = input
    input, target = _pair(input, target)
    return _weighted_mean(absolute(input - target), given, weight, reduction)


@loss("smooth_l1_loss(Tensor input, Tensor target, str reduction='mean', float beta=1.0) -> Tensor", **PER_ELEMENT)
def smooth_l1_loss(input, target, reduction, beta):
    if beta < 0:
        raise ArgumentError(f"smooth_l1_loss does not support negative values for beta, and {beta} was given")
    if beta == 0:
        return l1_loss(input, target, reduction, None)
    input, target = _pair(input, target)
    difference = input - target
    size = absolute(difference)
    is_far = size >= beta
    near = jnp.where(is_far, 0, difference)
    return reduced(jnp.where(is_far, size - 0.5 * beta, 0.5 * jnp.square(near) / beta), reduction)


@register_op(
    "huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0, Tensor? weight=None) -> Tensor",
    **PER_ELEMENT,
)
def huber_loss(input, target, reduction, delta, weight):
    if delta <= 0:
        raise ArgumentError(f"huber_loss does not support non-positive values for delta, and {delta} was given")
    input, target = _pair(input, target)
    difference = input - target
    size = absolute(difference)
    is_far = size > delta
    near = jnp.where(is_far, 0, difference)
    loss = jnp.where(is_far, delta * (size - 0.5 * delta), 0.5 * jnp.square(near))
    return reduced(_weighted(loss, weight), reduction)


@loss(
    "binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, str reduction='mean') -> Tensor",
    **PER_ELEMENT,
)
def binary_cross_entropy(input, target, weight, reduction):
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
def _binary_cross_entropy_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    (input, target), (d_input, d_target) = primals, tangents
    log, log_rest = jnp.maximum(jnp.log(input), -100.0), jnp.maximum(jnp.log1p(-input), -100.0)
    slope = (input - target) / jnp.maximum((1 - input) * input, 1e-12)
    return (target - 1) * log_rest - target * log, slope * d_input + (jnp.log1p(-input) - jnp.log(input)) * d_target


@loss(
    "binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, str reduction='mean', "
    "Tensor? pos_weight=None) -> Tensor",
    **PER_ELEMENT,
)
def binary_cross_entropy_with_logits(input, target, weight, reduction, pos_weight):
    if input.shape != target.shape:
        raise ShapeMismatchError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    log_sigmoid = -jnp.logaddexp(-input, 0.0)
    scale = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    return reduced(_weighted((1 - target) * input - scale * log_sigmoid, weight), reduction)


@loss("kl_div(Tensor input, Tensor target, str reduction='mean', bool log_target=False) -> Tensor", **PER_ELEMENT)
def kl_div(input, target, reduction, log_target):
    if log_target:
        loss = jnp.exp(target) * (target - input)
    else:
        loss = xlogy(target, target) - target * input
    if reduction == "batchmean":
        return jnp.sum(loss) / (input.shape[0] if input.ndim else 1)
    return reduced(loss, reduction)


# Classes


def _class_axis(input: Array) -> int:
    return 0 if input.ndim == 1 else 1


def _check_class_weights(weight: Array | None, n_classes: int) -> None:
    if weight is not None and weight.shape != (n_classes,):
        raise ShapeMismatchError(
            f"weight tensor should be defined either for all {n_classes} classes or no classes but got weight tensor "
            f"of shape: {list(weight.shape)}"
        )


def _negative_log_likelihood(
    log_probabilities: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str, smoothing: float
) -> Array:
    if not is_integral(target.dtype):
        raise DtypeError(f"expected a target of integers (classes), but got {target.dtype}")
    axis = _class_axis(log_probabilities)
    expected = log_probabilities.shape[:axis] + log_probabilities.shape[axis + 1 :]
    if target.shape != expected:
        raise ShapeMismatchError(f"Expected target size {list(expected)}, got {list(target.shape)}")
    _check_class_weights(weight, log_probabilities.shape[axis])
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


@loss(
    "nll_loss(Tensor input, Tensor target, Tensor? weight=None, Any size_average=None, int ignore_index=-100, "
    "Any reduce=None, str reduction='mean') -> Tensor",
    **FUNCTIONAL,
)
def nll_loss(input, target, weight, ignore_index, reduction):
    return _negative_log_likelihood(input, target, weight, ignore_index, reduction, 0.0)


@loss(
    "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, Any size_average=None, int ignore_index=-100, "
    "Any reduce=None, str reduction='mean', float label_smoothing=0.0) -> Tensor",
    **FUNCTIONAL,
)
def cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing):
    if not 0.0 <= label_smoothing <= 1.0:
        raise ArgumentError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    axis = _class_axis(input)
    log_probabilities = jax.nn.log_softmax(input, axis=axis)
    if not is_inexact(target.dtype):
        return _negative_log_likelihood(log_probabilities, target, weight, ignore_index, reduction, label_smoothing)
    if target.shape != input.shape:
        raise ShapeMismatchError(
            f"Expected class probabilities of {list(input.shape)}, got {list(target.shape)}. Floats are probabilities; "
            "for labels, write `target.long()`."
        )
    _check_class_weights(weight, input.shape[axis])
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / input.shape[axis]
    terms = log_probabilities * target
    if weight is not None:
        terms = terms * weight.reshape((-1,) + (1,) * (input.ndim - 1 - axis))
    loss = -jnp.sum(terms, axis)
    return jnp.sum(loss) / max(loss.size, 1) if reduction == "mean" else reduced(loss, reduction)


@loss(
    "poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, Any size_average=None, "
    "float eps=1e-08, Any reduce=None, str reduction='mean') -> Tensor",
    **PER_ELEMENT,
)
def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    loss = jnp.exp(input) - target * input if log_input else input - target * jnp.log(input + eps)
    if full:
        safe = jnp.where(target > 1, target, 2)
        stirling = safe * jnp.log(safe) - safe + 0.5 * jnp.log(2 * jnp.pi * safe)
        loss = loss + jnp.where(target > 1, stirling, 0)
    return reduced(loss, reduction)


@register_op(
    "gaussian_nll_loss(Tensor input, Tensor target, Tensor var, bool full=False, float eps=1e-06, "
    "str reduction='mean') -> Tensor",
    **PER_ELEMENT,
)
def gaussian_nll_loss(input, target, var, full, eps, reduction):
    if jnp.ndim(var) and var.shape != input.shape:
        if var.shape == input.shape[:-1]:
            var = var[..., None]
        elif var.ndim != input.ndim or sum(b for a, b in zip(input.shape, var.shape, strict=True) if a != b) != 1:
            raise ArgumentError(f"var is of incorrect size: {list(var.shape)} for input of {list(input.shape)}")
    # held above eps in value, not in gradient
    var = var + jax.lax.stop_gradient(jnp.maximum(var, eps) - var)
    loss = 0.5 * (jnp.log(var) + divide(jnp.square(input - target), var))
    return reduced(loss + (0.5 * jnp.log(2 * jnp.pi) if full else 0), reduction)


# A linear layer and its loss


@register_op(
    "linear_cross_entropy(Tensor input, Tensor linear_weight, Tensor target, *, Tensor? linear_bias=None, "
    "Tensor? weight=None, str reduction='mean', int? ignore_index=None, float label_smoothing=0.0, "
    "Any options=None) -> Tensor",
    **FUNCTIONAL,
)
def linear_cross_entropy(
    input, linear_weight, target, linear_bias, weight, reduction, ignore_index, label_smoothing, options
):
    """Returns `cross_entropy(linear(input, linear_weight, linear_bias), target)`.

    A weight (classes, d, …, features) gives a loss (batch, d, …). `options`, which split the work in PyTorch, change
    nothing: what is kept of the logits is for the partitioner of a compiled function to say.
    """
    if input.ndim not in (1, 2):
        raise ShapeMismatchError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if linear_weight.ndim < 2:
        raise ShapeMismatchError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.ndim}")
    if input.shape[-1] != linear_weight.shape[-1]:
        raise ShapeMismatchError(
            "expected equal input and linear_weight last dimensions (in_features), "
            f"got {input.shape[-1]} and {linear_weight.shape[-1]}, respectively"
        )
    *out, n_features = linear_weight.shape
    if linear_bias is not None and linear_bias.shape != tuple(out):
        raise ShapeMismatchError(f"expected linear_bias shape {tuple(out)}, got {linear_bias.shape}")
    if len(out) > 1 and input.ndim == 1:
        raise ShapeMismatchError(
            f"K-dimensional loss defined by linear_weight shape {linear_weight.shape} requires batched input, "
            f"(N, {n_features}), got unbatched input with shape {input.shape}"
        )
    logits = jnp.matmul(input, linear_weight.reshape(-1, n_features).T)
    if linear_bias is not None:
        logits = logits + linear_bias.reshape(-1)
    logits = logits.reshape(*input.shape[:-1], *out)
    if target.shape == logits.shape and ignore_index is not None:
        raise ArgumentError("ignore_index cannot be specified when target contains probabilities")
    ignore_index = -100 if ignore_index is None else ignore_index
    return cross_entropy(logits, target, weight, ignore_index, reduction, label_smoothing)
