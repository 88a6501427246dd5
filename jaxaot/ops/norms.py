"""Normalizations: by batch, group, layer, root mean square, and by length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array
from jaxaot.errors import ArgumentError, ShapeMismatchError, TensorValueError
from jaxaot.ops.derivatives import divide
from jaxaot.ops.dims import broadcast_shapes, normalize_dim
from jaxaot.ops.pooling import channels_kept
from jaxaot.ops.promotion import operand
from jaxaot.ops.reductions import vector_norm_values
from jaxaot.ops.table import FUNCTIONAL, SHARED, register_op


def computed(input: Array) -> Array:
    """Returns `input` in the precision that statistics are computed in: float32 at least."""
    return input.astype(jnp.promote_types(input.dtype, jnp.float32))


def standardized(input: Array, axes: Sequence[int], eps: float) -> tuple[Array, Array, Array]:
    """Returns the standardized values, mean and biased variance over `axes`, all with `input`'s number of dims."""
    mean = jnp.mean(input, axis=axes, keepdims=True)
    center = input - mean
    variance = jnp.mean(jnp.square(center), axis=axes, keepdims=True)
    return center * lax.rsqrt(variance + eps), mean, variance


def affine(value: Array, weight: Array | None, bias: Array | None, shape: Sequence[int] | None = None) -> Array:
    """Returns `value` scaled and shifted by parameters, shown as `shape` where given."""
    if weight is not None:
        value = value * (weight if shape is None else weight.reshape(shape))
    if bias is not None:
        value = value + (bias if shape is None else bias.reshape(shape))
    return value


def trailing_axes(
    name: str, input: Array, normalized_shape: Any, weight: Array | None, bias: Array | None
) -> tuple[int, ...]:
    """Returns the axes that `normalized_shape` names, checked."""
    shape = tuple(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else (normalized_shape,)
    if not shape:
        raise ArgumentError("Expected normalized_shape to be at least 1-dimensional, but got normalized_shape = []")
    for parameter, value in (("weight", weight), ("bias", bias)):
        if value is not None and value.shape != shape:
            raise ShapeMismatchError(
                f"Expected {parameter} to be of same shape as normalized_shape, but got {parameter} of shape "
                f"{list(value.shape)} and normalized_shape = {list(shape)}"
            )
    if input.shape[input.ndim - len(shape) :] != shape:
        raise ShapeMismatchError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, "
            f"{', '.join(map(str, shape))}], but got input of size {list(input.shape)} ({name})"
        )
    return tuple(range(input.ndim - len(shape), input.ndim))


@register_op(
    "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> "
    "Tensor",
    **SHARED,
)
def layer_norm(input, normalized_shape, weight, bias, eps):
    axes = trailing_axes("layer_norm", input, normalized_shape, weight, bias)
    value, _, _ = standardized(computed(input), axes, eps)
    return affine(value, weight, bias).astype(input.dtype)


@register_op(
    "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
    layout="same",
    **SHARED,
)
def rms_norm(input, normalized_shape, weight, eps):
    axes = trailing_axes("rms_norm", input, normalized_shape, weight, None)
    value = computed(input)
    eps = jnp.finfo(input.dtype).eps if eps is None else eps
    value = value * lax.rsqrt(jnp.mean(jnp.square(value), axis=axes, keepdims=True) + eps)
    return affine(value, weight, None).astype(input.dtype)


@register_op(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor",
    layout=channels_kept,
    **SHARED,
)
def group_norm(input, num_groups, weight, bias, eps):
    if input.ndim < 2:
        raise ShapeMismatchError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    batch, channels = input.shape[:2]
    if num_groups < 1 or channels % num_groups:
        raise ShapeMismatchError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    check_channels("group_norm", input, {"weight": weight, "bias": bias})
    grouped = computed(input).reshape(batch, num_groups, math.prod(input.shape[1:]) // num_groups)
    value, _, _ = standardized(grouped, (2,), eps)
    shape = (1, channels) + (1,) * (input.ndim - 2)
    return affine(value.reshape(input.shape), weight, bias, shape).astype(input.dtype)


def moved(running: Array, batch: Array, momentum: float) -> Array:
    """Returns running statistics after a batch."""
    batch = lax.stop_gradient(batch).astype(running.dtype)
    return (1 - momentum) * running + momentum * batch


def check_channels(name: str, input: Array, parameters: dict[str, Array | None]) -> int:
    """Returns the number of channels, that of each parameter."""
    if input.ndim < 2 and input.shape != (0,):
        raise ShapeMismatchError(f"{name} expects at least a 2-D input, but got {input.ndim}-D")
    n_channels = input.shape[1] if input.ndim > 1 else 0
    for parameter, value in parameters.items():
        if value is not None and value.shape != (n_channels,):
            raise ShapeMismatchError(f"{parameter} should contain {n_channels} elements not {value.size}")
    return n_channels


RUNNING = "Tensor(a!)? running_mean{0}, Tensor(b!)? running_var{0}, Tensor? weight=None, Tensor? bias=None, bool {1}, "


@register_op(
    "batch_norm(Tensor input, "
    + RUNNING.format("", "training=False")
    + "float momentum=0.1, float eps=1e-05) -> Tensor",
    layout=channels_kept,
    **FUNCTIONAL,
)
def batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps):
    channels = check_channels(
        "batch_norm", input, {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    )
    if eps < 0 or (training and eps == 0):
        raise ArgumentError(
            f"batch_norm eps must be {'positive during training' if training else 'non-negative'}: {eps}"
        )
    if not input.size:
        return input, None, None
    shape = (1, channels) + (1,) * (input.ndim - 2)
    value = computed(input)
    if not training:
        if running_mean is None or running_var is None:
            raise ArgumentError("Expected running_mean and running_var to be defined when training=False")
        value = (value - running_mean.reshape(shape)) * lax.rsqrt(running_var.reshape(shape).astype(value.dtype) + eps)
        return affine(value, weight, bias, shape).astype(input.dtype), None, None
    axes = (0, *range(2, input.ndim))
    n = math.prod(input.shape[axis] for axis in axes)
    if n == 1:
        raise TensorValueError(
            f"Expected more than 1 value per channel when training, got input size {list(input.shape)}. "
            "Statistics need a batch; for a single example, `model.eval()` takes the running ones."
        )
    value, mean, variance = standardized(value, axes, eps)
    new_mean = None if running_mean is None else moved(running_mean, mean.reshape(-1), momentum)
    new_var = None if running_var is None else moved(running_var, variance.reshape(-1) * (n / (n - 1)), momentum)
    return affine(value, weight, bias, shape).astype(input.dtype), new_mean, new_var


@register_op(
    "instance_norm(Tensor input, "
    + RUNNING.format("=None", "use_input_stats=True")
    + "float momentum=0.1, float eps=1e-05) -> Tensor",
    **FUNCTIONAL,
)
def instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps):
    parameters = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    shape = (1, check_channels("instance_norm", input, parameters)) + (1,) * (input.ndim - 2)
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    axes = tuple(range(2, input.ndim))
    n = math.prod(input.shape[axis] for axis in axes)
    if n == 1:
        raise TensorValueError(
            f"Expected more than 1 spatial element when training, got input size {list(input.shape)}"
        )
    value, mean, variance = standardized(computed(input), axes, eps)
    mean, variance = mean.mean(0).reshape(-1), variance.mean(0).reshape(-1) * (n / max(n - 1, 1))
    new_mean = None if running_mean is None else moved(running_mean, mean, momentum)
    new_var = None if running_var is None else moved(running_var, variance, momentum)
    return affine(value, weight, bias, shape).astype(input.dtype), new_mean, new_var


@register_op(
    "local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1.0) -> Tensor",
    layout="same",
    **FUNCTIONAL,
)
def local_response_norm(input, size, alpha, beta, k):
    if input.ndim < 3:
        raise ShapeMismatchError(f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)")
    if size < 1:
        raise ArgumentError(
            f"local_response_norm(): size is how many channels are taken together, and {size} was given"
        )
    padding = [(0, 0, 0)] * input.ndim
    padding[1] = (size // 2, (size - 1) // 2, 0)
    squares = lax.pad(jnp.square(input), jnp.zeros((), input.dtype), padding)
    total = sum(lax.slice_in_dim(squares, i, i + input.shape[1], axis=1) for i in range(size))
    return divide(input, jnp.power(k + alpha * (total / size), beta))


@register_op(
    "normalize(Tensor input, float p=2.0, int dim=1, float eps=1e-12) -> Tensor", out=True, layout="same", **FUNCTIONAL
)
def normalize(input, p, dim, eps):
    axis, eps = normalize_dim(dim, input.ndim), operand(eps)
    size = vector_norm_values(input, float(p), (axis,) if input.ndim else (), True)
    return divide(input, jnp.where(size < eps, eps, size).astype(input.dtype))


@register_op(
    "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
    promote="float",
    layout="contiguous",
    **SHARED,
)
def cosine_similarity(x1, x2, dim, eps):
    broadcast_shapes(x1.shape, x2.shape)
    x1, x2 = jnp.broadcast_arrays(x1, x2)
    axes = (normalize_dim(dim, x1.ndim),) if x1.ndim else ()
    sizes = [vector_norm_values(x, 2.0, axes, True) for x in (x1, x2)]
    # held above eps in value, not in gradient, as in ATen
    first, second = (
        divide(x, size + lax.stop_gradient(jnp.where(size < eps, eps - size, 0)))
        for x, size in zip((x1, x2), sizes, strict=True)
    )
    return jnp.sum(first * second, axis=axes)


@register_op(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) -> Tensor",
    promote="float",
    layout="contiguous",
    **SHARED,
)
def pairwise_distance(x1, x2, p, eps, keepdim):
    broadcast_shapes(x1.shape, x2.shape)
    return vector_norm_values(x1 - x2 + eps, float(p), (-1,), keepdim)
