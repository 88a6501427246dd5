"""Convolutions (`torch.nn.Conv2d`, `torch.nn.ConvTranspose2d` and their kin)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jaxaot._typing import DTypeLike
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional, init
from jaxaot.nn.declared import Layer
from jaxaot.nn.made import arguments, blank, changed, check, doubled, each
from jaxaot.nn.parameter import Parameter

Sizes = int | Sequence[int]

_FORWARD = (functional.conv1d, functional.conv2d, functional.conv3d)
_TRANSPOSED = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)


class _ConvNd(Layer):
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes,
        padding: Sizes | str,
        dilation: Sizes,
        is_transposed: bool,
        output_padding: Sizes,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: object,
        dtype: DTypeLike | None,
    ) -> None:
        super().__init__()
        n = self._n_dims
        check(groups > 0, "groups must be a positive integer")
        check(in_channels % groups == 0, "in_channels must be divisible by groups")
        check(out_channels % groups == 0, "out_channels must be divisible by groups")
        modes = ("zeros", "reflect", "replicate", "circular")
        check(padding_mode in modes, f"padding_mode must be one of {modes}, but got padding_mode='{padding_mode}'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = each(kernel_size, n)
        self.stride = each(stride, n)
        self.padding: Any = padding if isinstance(padding, str) else each(padding, n)
        self.dilation = each(dilation, n)
        self.transposed = is_transposed
        self.output_padding = each(output_padding, n)
        self.groups = groups
        self.padding_mode = padding_mode
        if isinstance(padding, str):
            check(padding in ("same", "valid"), f"Invalid padding string {padding!r}, should be 'same' or 'valid'")
            is_strided = any(size != 1 for size in self.stride)
            check(not (padding == "same" and is_strided), "padding='same' is not supported for strided convolutions")
        self._ends = self._padding_of_ends()
        channels = (in_channels, out_channels // groups) if is_transposed else (out_channels, in_channels // groups)
        self.weight = blank((*channels, *self.kernel_size), device, dtype)
        self.register_parameter("bias", blank((out_channels,), device, dtype) if bias else None)
        self.reset_parameters()

    def _padding_of_ends(self) -> tuple[int, ...]:
        """Returns what `functional.pad` puts at both ends of each dim where the padding is not made of zeros."""
        if self.padding == "valid":
            return (0,) * 2 * self._n_dims
        if self.padding == "same":
            totals = [step * (size - 1) for step, size in zip(self.dilation, self.kernel_size, strict=True)]
            return tuple(part for total in reversed(totals) for part in (total // 2, total - total // 2))
        return doubled(self.padding)

    def reset_parameters(self) -> None:
        """Draws the parameters anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = self.weight.shape[1] * math.prod(self.kernel_size)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        n = self._n_dims
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        plain = {"padding": (0,) * n, "dilation": (1,) * n, "output_padding": (0,) * n, "groups": 1}
        text += changed(self, plain) + (", bias=False" if self.bias is None else "")
        return text + changed(self, {"padding_mode": "zeros"})


class _Forward(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(**arguments(locals()), is_transposed=False, output_padding=0)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:  # derived layers call it
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = functional.pad(input, self._ends, self.padding_mode), 0
        convolve = _FORWARD[self._n_dims - 1]
        return convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Forward, n_dims=1):
    """The convolution of rows with trained kernels; `input` is (batch, in_channels, length)."""


class Conv2d(_Forward, n_dims=2):
    """The convolution of images with trained kernels; `input` is (batch, in_channels, height, width)."""


class Conv3d(_Forward, n_dims=3):
    """The convolution of volumes with trained kernels; `input` is (batch, in_channels, depth, height, width)."""


class _Transposed(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        check(padding_mode == "zeros", f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(**arguments(locals()), is_transposed=True)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        added = self._output_padding(input, output_size)
        convolve = _TRANSPOSED[self._n_dims - 1]
        return convolve(input, self.weight, self.bias, self.stride, self.padding, added, self.groups, self.dilation)

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        """Returns what is added at the ends so that the output has a size."""
        if output_size is None:
            return self.output_padding
        n = self._n_dims
        first = input.ndim - n
        sizes = list(output_size)[first:] if len(output_size) == first + n else list(output_size)
        check(
            len(sizes) == n,
            f"ConvTranspose{n}D: for {input.ndim}D input, output_size must have {n} or {first + n} elements (got "
            f"{len(output_size)})",
        )
        least = [
            (input.shape[first + i] - 1) * self.stride[i]
            - 2 * self.padding[i]
            + self.dilation[i] * (self.kernel_size[i] - 1)
            + 1
            for i in range(n)
        ]
        most = [size + step - 1 for size, step in zip(least, self.stride, strict=True)]
        check(
            all(low <= size <= high for low, size, high in zip(least, sizes, most, strict=True)),
            f"requested an output size of {sizes}, but valid sizes range from {least} to {most} (for an input of "
            f"{list(input.shape[first:])})",
        )
        return tuple(size - low for size, low in zip(sizes, least, strict=True))


class ConvTranspose1d(_Transposed, n_dims=1):
    """The transposed convolution of rows, which takes outputs of `Conv1d` back to the shape of its inputs."""


class ConvTranspose2d(_Transposed, n_dims=2):
    """The transposed convolution of images, which takes outputs of `Conv2d` back to the shape of its inputs."""


class ConvTranspose3d(_Transposed, n_dims=3):
    """The transposed convolution of volumes, which takes outputs of `Conv3d` back to the shape of its inputs."""
