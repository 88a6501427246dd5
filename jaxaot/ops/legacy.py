"""Ops that PyTorch keeps under their ATen names: `native_layer_norm`, `*_backward`, `grid_sampler_2d`."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot.errors import ArgumentError, ShapeMismatchError
from jaxaot.ops import grids
from jaxaot.ops.joining import pad_values
from jaxaot.ops.norms import affine, batch_norm, check_channels, computed, moved, standardized, trailing_axes
from jaxaot.ops.pooling import channels_kept
from jaxaot.ops.promotion import is_bool
from jaxaot.ops.table import register_op

ATEN: dict[str, Any] = {"method": False}


# Norms, with the statistics that their backwards take


@register_op(
    "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> "
    "(Tensor, Tensor, Tensor)",
    **ATEN,
)
def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """Returns the layer norm, the means and one over the deviations; no gradient flows through the last two."""
    axes = trailing_axes("layer_norm", input, normalized_shape, weight, bias)
    value, mean, variance = standardized(computed(input), axes, eps)
    statistics = (lax.stop_gradient(x).astype(input.dtype) for x in (mean, lax.rsqrt(variance + eps)))
    return affine(value, weight, bias).astype(input.dtype), *statistics


@register_op(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps) -> "
    "(Tensor, Tensor, Tensor)",
    layout=channels_kept,
    **ATEN,
)
def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """Returns the group norm, the means and one over the deviations of the groups."""
    if C % group or input.size != N * C * HxW:
        raise ShapeMismatchError(
            f"Expected an input of {N} x {C} x {HxW} elements and channels divisible by {group} groups, but got "
            f"{list(input.shape)}"
        )
    grouped = computed(input).reshape(N, group, C // group * HxW)
    value, mean, variance = standardized(grouped, (2,), eps)
    value = affine(value.reshape(N, C, HxW), weight, bias, (1, C, 1)).reshape(input.shape)
    statistics = (x.reshape(N, group).astype(input.dtype) for x in (mean, lax.rsqrt(variance + eps)))
    return value.astype(input.dtype), *statistics


@register_op(
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!)? running_mean, Tensor(b!)? running_var, "
    "bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    layout=channels_kept,
    **ATEN,
)
def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """Returns the batch norm; in training also means and one over deviations, through which no gradient flows."""
    if not training:
        value, *_ = batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
        empty = jnp.zeros(0, input.dtype)
        return value, empty, empty, None, None
    parameters = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    channels = check_channels("native_batch_norm", input, parameters)
    shape = (1, channels) + (1,) * (input.ndim - 2)
    axes = (0, *range(2, input.ndim))
    n = math.prod(input.shape[axis] for axis in axes)
    value, mean, variance = standardized(computed(input), axes, eps)
    statistics = (lax.stop_gradient(x.reshape(-1)) for x in (mean, lax.rsqrt(variance + eps)))
    spread = variance.reshape(-1) * (n / (n - 1)) if n > 1 else jnp.full(channels, jnp.nan)
    return (
        affine(value, weight, bias, shape).astype(input.dtype),
        *statistics,
        None if running_mean is None else moved(running_mean, mean.reshape(-1), momentum),
        None if running_var is None else moved(running_var, spread, momentum),
    )


# Backwards


@register_op("native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor", **ATEN)
def native_dropout_backward(grad_output, mask, scale):
    if not is_bool(mask.dtype):
        raise ArgumentError(f"native_dropout_backward: mask should be bool, but got {mask.dtype}")
    return grad_output * (mask.astype(grad_output.dtype) * scale)


@register_op(
    "max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, Any kernel_size, Any stride, Any padding, "
    "Any dilation, bool ceil_mode, Tensor indices) -> Tensor",
    layout=channels_kept,
    **ATEN,
)
def max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices):
    """Returns the gradient of the pool's input: that of each window, at the place it picked."""
    if grad_output.shape != indices.shape:
        raise ShapeMismatchError(
            f"expected grad_output and indices of one shape, but got {list(grad_output.shape)} and "
            f"{list(indices.shape)}"
        )
    n = math.prod(self.shape[:-2])
    gradients, places = (x.reshape(n, math.prod(x.shape[-2:])) for x in (grad_output, indices))
    zeros = jnp.zeros((n, math.prod(self.shape[-2:])), grad_output.dtype)
    return zeros.at[jnp.arange(n)[:, None], places].add(gradients).reshape(self.shape)


# Padding and grids


@register_op(
    "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor", layout=channels_kept, fitting=["value"]
)
def constant_pad_nd(self, pad, value):
    return pad_values(self, pad, "constant", value)


def _register_grid_sampler(name: str, ndim: int | None) -> None:
    @register_op(
        f"{name}(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor",
        **ATEN,
    )
    def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
        """`nn.functional.grid_sample` with its modes by number."""
        if ndim is not None and input.ndim != ndim:
            raise ShapeMismatchError(f"{name}(): expected {ndim}D input, but got input with sizes {list(input.shape)}")
        if interpolation_mode not in range(3) or padding_mode not in range(3):
            raise ArgumentError(
                f"{name}(): interpolation_mode and padding_mode are 0, 1 or 2 for {', '.join(grids.MODES)} and "
                f"{', '.join(grids.PADDING_MODES)}, but got {interpolation_mode} and {padding_mode}"
            )
        modes = grids.MODES[interpolation_mode], grids.PADDING_MODES[padding_mode]
        return grids.sampled(input, grid, *modes, align_corners)


for _name, _ndim in {"grid_sampler": None, "grid_sampler_2d": 4, "grid_sampler_3d": 5}.items():
    _register_grid_sampler(_name, _ndim)
