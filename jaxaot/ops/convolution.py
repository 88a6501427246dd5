"""Convolutions and their transposes, in one, two and three dims."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array
from jaxaot.errors import ArgumentError, ShapeMismatchError
from jaxaot.ops.dims import sizes
from jaxaot.ops.linalg import check_same_dtype
from jaxaot.ops.table import register_op

LETTERS = "DHW"


def _dimension_numbers(n: int) -> tuple[str, str, str]:
    spatial = LETTERS[-n:]
    return f"NC{spatial}", f"OI{spatial}", f"NC{spatial}"


def _batched(name: str, input: Array, n: int) -> tuple[Array, bool]:
    """Returns `input` with a batch dim, and whether it had none."""
    if input.ndim not in (n + 1, n + 2):
        raise ShapeMismatchError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: "
            f"{list(input.shape)}"
        )
    return (input[None], True) if input.ndim == n + 1 else (input, False)


def _paddings(padding: Any, n: int, kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]) -> Any:
    if not isinstance(padding, str):
        return [(p, p) for p in sizes(padding, n, "padding")]
    if padding == "valid":
        return [(0, 0)] * n
    if padding != "same":
        raise ArgumentError(f"Invalid padding string {padding!r}, should be one of 'valid', 'same'")
    if any(step != 1 for step in stride):
        raise ArgumentError("padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    return [(total // 2, total - total // 2) for total in totals]


def _with_bias(value: Array, bias: Array | None, n: int, unbatched: bool) -> Array:
    if bias is not None:
        value = value + bias.reshape((-1,) + (1,) * n)
    return value[0] if unbatched else value


def _convolve(
    n: int, input: Array, weight: Array, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Array:
    name = f"conv{n}d"
    input, unbatched = _batched(name, input, n)
    check_same_dtype(name, input, weight)
    if input.shape[1] != weight.shape[1] * groups:
        raise ShapeMismatchError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
            f"{weight.shape[1] * groups} channels, but got {input.shape[1]} channels instead"
        )
    stride, dilation = sizes(stride, n, "stride"), sizes(dilation, n, "dilation")
    value = lax.conv_general_dilated(
        input,
        weight,
        window_strides=stride,
        padding=_paddings(padding, n, weight.shape[2:], stride, dilation),
        rhs_dilation=dilation,
        dimension_numbers=_dimension_numbers(n),
        feature_group_count=groups,
    )
    return _with_bias(value, bias, n, unbatched)


def _convolve_transposed(
    n: int,
    input: Array,
    weight: Array,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Array:
    name = f"conv_transpose{n}d"
    input, unbatched = _batched(name, input, n)
    check_same_dtype(name, input, weight)
    if input.shape[1] != weight.shape[0]:
        raise ShapeMismatchError(
            f"Given transposed=1, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
            f"{weight.shape[0]} channels, but got {input.shape[1]} channels instead"
        )
    stride, dilation = sizes(stride, n, "stride"), sizes(dilation, n, "dilation")
    padding, output_padding = sizes(padding, n, "padding"), sizes(output_padding, n, "output_padding")
    # (in, out / groups, …) becomes (out, in / groups, …) with the window flipped
    n_in, n_out, *kernel = weight.shape
    weight = weight.reshape(groups, n_in // groups, n_out, *kernel)
    weight = jnp.swapaxes(weight, 1, 2).reshape(groups * n_out, n_in // groups, *kernel)
    weight = jnp.flip(weight, tuple(range(2, n + 2)))
    reach = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    value = lax.conv_general_dilated(
        input,
        weight,
        window_strides=(1,) * n,
        padding=[(r - p, r - p + o) for r, p, o in zip(reach, padding, output_padding, strict=True)],
        lhs_dilation=stride,
        rhs_dilation=dilation,
        dimension_numbers=_dimension_numbers(n),
        feature_group_count=groups,
    )
    return _with_bias(value, bias, n, unbatched)


def _register(n: int) -> None:
    settings: dict[str, Any] = {"method": False, "namespaces": ("", "nn.functional")}
    operands = "(Tensor input, Tensor weight, Tensor? bias=None, Any stride=1, Any padding=0, "

    @register_op(f"conv{n}d{operands}Any dilation=1, int groups=1) -> Tensor", **settings)
    def convolution(input, weight, bias, stride, padding, dilation, groups):
        return _convolve(n, input, weight, bias, stride, padding, dilation, groups)

    @register_op(
        f"conv_transpose{n}d{operands}Any output_padding=0, int groups=1, Any dilation=1) -> Tensor", **settings
    )
    def transposed(input, weight, bias, stride, padding, output_padding, groups, dilation):
        return _convolve_transposed(n, input, weight, bias, stride, padding, output_padding, groups, dilation)


for _n in (1, 2, 3):
    _register(_n)


@register_op(
    "unfold_patches(Tensor input, Any kernel_size, Any dilation=1, Any padding=0, Any stride=1) -> Tensor",
    method=False,
    function=False,
)
def unfold_patches(input, kernel_size, dilation, padding, stride):
    """`nn.functional.unfold`, whose name the view op `Tensor.unfold` holds."""
    input, unbatched = _batched("unfold", input, 2)
    kernel, dilation, stride = sizes(kernel_size, 2), sizes(dilation, 2), sizes(stride, 2)
    patches = lax.conv_general_dilated_patches(
        input, kernel, stride, [(p, p) for p in sizes(padding, 2)], rhs_dilation=dilation
    )
    patches = patches.reshape(*patches.shape[:2], -1)
    return patches[0] if unbatched else patches


@register_op(
    "pixel_shuffle(Tensor input, int upscale_factor) -> Tensor", method=False, namespaces=("", "nn.functional")
)
def pixel_shuffle(input, upscale_factor):
    *batch, channels, height, width = input.shape
    r = upscale_factor
    if channels % (r * r):
        raise ShapeMismatchError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {r * r}"
        )
    value = input.reshape(math.prod(batch), channels // (r * r), r, r, height, width)
    return value.transpose(0, 1, 4, 2, 5, 3).reshape(*batch, channels // (r * r), height * r, width * r)


@register_op(
    "pixel_unshuffle(Tensor input, int downscale_factor) -> Tensor", method=False, namespaces=("", "nn.functional")
)
def pixel_unshuffle(input, downscale_factor):
    *batch, channels, height, width = input.shape
    r = downscale_factor
    if height % r or width % r:
        raise ShapeMismatchError(
            f"pixel_unshuffle expects height and width to be divisible by downscale_factor, but input of "
            f"{list(input.shape)} is not divisible by {r}"
        )
    value = input.reshape(math.prod(batch), channels, height // r, r, width // r, r)
    return value.transpose(0, 1, 3, 5, 2, 4).reshape(*batch, channels * r * r, height // r, width // r)
