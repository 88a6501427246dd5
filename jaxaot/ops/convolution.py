"""Convolutions and their transposes, in one, two and three dims."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._typing import Array, Shape, Sizes
from jaxaot.errors import ArgumentError, ShapeMismatchError
from jaxaot.ops.dims import sizes
from jaxaot.ops.half_precision import product_before_rounding
from jaxaot.ops.linalg import check_same_dtype
from jaxaot.ops.table import FUNCTIONAL, INTERNAL, register_op
from jaxaot.views.layout import Layout, channels_last, contiguous

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


def _paddings(
    padding: Sizes | str, n: int, kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
) -> Any:
    if not isinstance(padding, str):
        padding = sizes(padding, n, "padding")
        if min(padding) < 0:
            raise ArgumentError(f"negative padding is not supported, but got {padding}")
        return [(p, p) for p in padding]
    if padding == "valid":
        return [(0, 0)] * n
    if padding != "same":
        raise ArgumentError(f"Invalid padding string {padding!r}, should be one of 'valid', 'same'")
    if any(step != 1 for step in stride):
        raise ArgumentError("padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    return [(total // 2, total - total // 2) for total in totals]


def _check(
    name: str,
    weight: Array,
    bias: Array | None,
    n: int,
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    n_out: int,
) -> None:
    """Checks what convolutions and their transposes have in common; `n_out` is the channels of the result."""
    if weight.ndim != n + 2:
        raise ShapeMismatchError(f"{name}: expected a {n + 2}D weight, but got weight of size {list(weight.shape)}")
    if groups < 1:
        raise ArgumentError(f"non-positive groups is not supported, but got groups={groups}")
    if min(weight.shape[2:]) < 1:
        raise ArgumentError(f"kernel size should be greater than zero, but got {weight.shape[2:]}")
    if weight.shape[0] < groups:
        raise ShapeMismatchError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{list(weight.shape)} instead"
        )
    if weight.shape[0] % groups:
        raise ShapeMismatchError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size {list(weight.shape)} instead"
        )
    if min(stride) < 1:
        raise ArgumentError(f"non-positive stride is not supported, but got {stride}")
    if min(dilation) < 1:
        raise ArgumentError(f"dilation should be greater than zero, but got {dilation}")
    if bias is not None:
        if bias.shape != (n_out,):
            raise ShapeMismatchError(
                f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with {n_out} elements, "
                f"but got bias of size {list(bias.shape)} instead"
            )
        check_same_dtype(name, weight, bias)


def _with_bias(
    convolve: Callable[..., Array], input: Array, weight: Array, bias: Array | None, n: int, unbatched: bool
) -> Array:
    if bias is None:
        value = convolve(input, weight)
    else:
        value = product_before_rounding(convolve, input, weight) + bias.reshape((-1,) + (1,) * n)
        value = value.astype(input.dtype)
    return value[0] if unbatched else value


def _channels(n: int, input: Array, wanted: int, unbatched: bool) -> str:
    """Returns the sentence for an input of another number of channels than the weight takes."""
    first = 0 if unbatched else 1
    if input.shape[-1] != wanted:
        return f". Dim {first} holds the channels; a layer for this input has in_channels={input.shape[1]}."
    dims = (*range(first), n + first, *range(first, n + first))
    return f". Its last dim has {wanted}, and channels come before rows and columns: `x.permute{dims}`."


def _convolve(
    n: int, input: Array, weight: Array, bias: Array, stride: Sizes, padding: Sizes | str, dilation: Sizes, groups: int
) -> Array:
    name = f"conv{n}d"
    input, unbatched = _batched(name, input, n)
    check_same_dtype(name, input, weight)
    stride, dilation = sizes(stride, n, "stride"), sizes(dilation, n, "dilation")
    _check(name, weight, bias, n, stride, dilation, groups, weight.shape[0])
    if input.shape[1] != weight.shape[1] * groups:
        raise ShapeMismatchError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
            f"{weight.shape[1] * groups} channels, but got {input.shape[1]} channels instead"
            f"{_channels(n, input, weight.shape[1] * groups, unbatched)}"
        )
    paddings = _paddings(padding, n, weight.shape[2:], stride, dilation)
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, weight.shape[2:], strict=True)]
    padded = [size + a + b for size, (a, b) in zip(input.shape[2:], paddings, strict=True)]
    if any(r > size for r, size in zip(reach, padded, strict=True)):
        raise ShapeMismatchError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). Kernel size: "
            f"({' x '.join(map(str, reach))}). Kernel size can't be greater than actual input size"
        )
    convolve = functools.partial(
        lax.conv_general_dilated,
        window_strides=stride,
        padding=paddings,
        rhs_dilation=dilation,
        dimension_numbers=_dimension_numbers(n),
        feature_group_count=groups,
    )
    return _with_bias(convolve, input, weight, bias, n, unbatched)


def _convolve_transposed(
    n: int,
    input: Array,
    weight: Array,
    bias: Array,
    stride: Sizes,
    padding: Sizes,
    output_padding: Sizes,
    groups: int,
    dilation: Sizes,
) -> Array:
    name = f"conv_transpose{n}d"
    input, unbatched = _batched(name, input, n)
    check_same_dtype(name, input, weight)
    stride, dilation = sizes(stride, n, "stride"), sizes(dilation, n, "dilation")
    _check(name, weight, bias, n, stride, dilation, groups, weight.shape[1] * groups if weight.ndim > 1 else 0)
    if input.shape[1] != weight.shape[0]:
        raise ShapeMismatchError(
            f"Given transposed=1, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
            f"{weight.shape[0]} channels, but got {input.shape[1]} channels instead"
            f"{_channels(n, input, weight.shape[0], unbatched)}"
        )
    if isinstance(padding, str):
        raise ArgumentError(f"{name} takes padding as ints, but got {padding!r}")
    padding, output_padding = sizes(padding, n, "padding"), sizes(output_padding, n, "output_padding")
    if min(padding) < 0:
        raise ArgumentError(f"negative padding is not supported, but got {padding}")
    if any(o >= max(step, d) for o, step, d in zip(output_padding, stride, dilation, strict=True)):
        raise ArgumentError(
            "output padding must be smaller than either stride or dilation, but got output_padding: "
            f"{output_padding}, stride: {stride}, dilation: {dilation}"
        )
    # (in, out / groups, …) becomes (out, in / groups, …) with the window flipped
    n_in, n_out, *kernel = weight.shape
    weight = weight.reshape(groups, n_in // groups, n_out, *kernel)
    weight = jnp.swapaxes(weight, 1, 2).reshape(groups * n_out, n_in // groups, *kernel)
    weight = jnp.flip(weight, tuple(range(2, n + 2)))
    reach = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    outs = [
        (size - 1) * step - 2 * p + r + o + 1
        for size, step, p, r, o in zip(input.shape[2:], stride, padding, reach, output_padding, strict=True)
    ]
    if min(outs) < 1:
        raise ShapeMismatchError(
            f"Given input size per channel: ({' x '.join(map(str, input.shape[2:]))}). Calculated output size per "
            f"channel: ({' x '.join(map(str, outs))}). Output size is too small"
        )
    convolve = functools.partial(
        lax.conv_general_dilated,
        window_strides=(1,) * n,
        padding=[(r - p, r - p + o) for r, p, o in zip(reach, padding, output_padding, strict=True)],
        lhs_dilation=stride,
        rhs_dilation=dilation,
        dimension_numbers=_dimension_numbers(n),
        feature_group_count=groups,
    )
    return _with_bias(convolve, input, weight, bias, n, unbatched)


def _channels_kept(operands: Sequence[Layout], size: Shape, dtype: np.dtype, static: tuple[Any, ...]) -> Layout:
    """Channels innermost if those of the input or of the weight are: ATen's `mkldnn_conv_use_channels_last`."""
    if len(size) in (4, 5) and any(operand.suggests_channels_last for operand in operands[:2]):
        return channels_last(size, dtype)
    return contiguous(size, dtype)


def _register(n: int) -> None:
    settings: dict[str, Any] = {"method": False, "namespaces": ("", "nn.functional"), "layout": _channels_kept}
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


# Patches


def _patch_places(size: int, kernel: int, dilation: int, padding: int, stride: int) -> np.ndarray:
    """Returns where in the padded dim each element of each patch lies: (kernel, patches)."""
    n = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    return np.arange(kernel)[:, None] * dilation + np.arange(n) * stride


def _patches(input: Array, settings: Sequence[tuple[int, ...]]) -> Array:
    """Returns (batch, channels and kernel, patches) of images, for (kernel, dilation, padding, stride) in pairs."""
    _, _, (top, left), _ = settings
    rows, columns = (_patch_places(input.shape[2 + i], *(pair[i] for pair in settings)) for i in range(2))
    padded = jnp.pad(input, ((0, 0), (0, 0), (top, top), (left, left)))
    value = padded[:, :, rows[:, None, :, None], columns[None, :, None, :]]
    batch, channels, *kernel = value.shape[:4]
    return value.reshape(batch, channels * math.prod(kernel), math.prod(value.shape[4:]))


def _patch_settings(
    kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes, size: Sequence[int]
) -> list[tuple[int, ...]]:
    names = ("kernel_size", "dilation", "padding", "stride")
    settings = [
        sizes(value, 2, name) for value, name in zip((kernel_size, dilation, padding, stride), names, strict=True)
    ]
    for name, pair in zip(names, settings, strict=True):
        if min(pair) < (0 if name == "padding" else 1):
            raise ArgumentError(
                f"{name} should be {'non-negative' if name == 'padding' else 'positive'}, but got {pair}"
            )
    counts = [_patch_places(size[i], *(pair[i] for pair in settings)).shape[1] for i in range(2)]
    if min(counts) < 1:
        raise ShapeMismatchError(
            f"Given spatial size {tuple(size)}, kernel_size={settings[0]}, dilation={settings[1]}, "
            f"padding={settings[2]}, calculated shape of the array of sliding blocks as {tuple(counts)}, but its "
            "components must be at least one."
        )
    return settings


@register_op(
    "unfold_patches(Tensor input, Any kernel_size, Any dilation=1, Any padding=0, Any stride=1) -> Tensor", **INTERNAL
)
def unfold_patches(input, kernel_size, dilation, padding, stride):
    """`nn.functional.unfold`, whose name the view op `Tensor.unfold` holds."""
    input, unbatched = _batched("unfold", input, 2)
    if 0 in input.shape[1:]:
        raise ShapeMismatchError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {list(input.shape)}"
        )
    patches = _patches(input, _patch_settings(kernel_size, dilation, padding, stride, input.shape[2:]))
    return patches[0] if unbatched else patches


@register_op(
    "fold(Tensor input, Any output_size, Any kernel_size, Any dilation=1, Any padding=0, Any stride=1) -> Tensor",
    **FUNCTIONAL,
)
def fold(input, output_size, kernel_size, dilation, padding, stride):
    """Returns images that are sums of patches: the transpose of `unfold`."""
    size = sizes(output_size, 2, "output_size")
    settings = _patch_settings(kernel_size, dilation, padding, stride, size)
    if input.ndim not in (2, 3):
        raise ShapeMismatchError(f"Expected 2D or 3D (batch mode) tensor for input, but got: {list(input.shape)}")
    patches = input[None] if input.ndim == 2 else input
    batch, rows, count = patches.shape
    if rows % math.prod(settings[0]):
        raise ShapeMismatchError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={rows} and kernel_size={settings[0]}."
        )
    images = jax.ShapeDtypeStruct((batch, rows // math.prod(settings[0]), *size), input.dtype)
    expected = jax.eval_shape(lambda x: _patches(x, settings), images).shape
    if count != expected[2]:
        raise ShapeMismatchError(
            f"Given output_size={size}, kernel_size={settings[0]}, dilation={settings[1]}, padding={settings[2]}, "
            f"stride={settings[3]}, expected size of input's dimension 2 to match the calculated number of sliding "
            f"blocks {expected[2]}, but got input.size(2)={count}."
        )
    (value,) = jax.linear_transpose(lambda x: _patches(x, settings), images)(patches)
    return value[0] if input.ndim == 2 else value
