"""Pooling: one number for each window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional
from jaxaot.nn.declared import Layer, buffer, options
from jaxaot.nn.made import check, each

Sizes = int | Sequence[int]


class _Windows(Layer):
    kernel_size: Sizes
    stride: Any

    def __post_init__(self) -> None:
        if self.stride is None:
            self.stride = self.kernel_size


@options()
class _MaxPool(_Windows, shown="kernel_size stride padding dilation ceil_mode"):
    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0
    dilation: Sizes = 1
    return_indices: bool = False
    ceil_mode: bool = False


class MaxPool1d(_MaxPool, op=functional.max_pool1d):
    """The largest element of each window of rows; with `return_indices` also where it is."""


class MaxPool2d(_MaxPool, op=functional.max_pool2d):
    """The largest element of each window of images; with `return_indices` also where it is."""


class MaxPool3d(_MaxPool, op=functional.max_pool3d):
    """The largest element of each window of volumes; with `return_indices` also where it is."""


@options()
class _MaxUnpool(Layer, shown="kernel_size stride padding"):
    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0

    def __post_init__(self) -> None:
        n = self._n_dims
        self.stride = each(self.kernel_size if self.stride is None else self.stride, n)
        self.kernel_size, self.padding = each(self.kernel_size, n), each(self.padding, n)


class MaxUnpool1d(_MaxUnpool, n_dims=1):
    """Puts what `MaxPool1d` returned back where it was, zeros elsewhere."""

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return functional.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpool, n_dims=2):
    """Puts what `MaxPool2d` returned back where it was, zeros elsewhere."""

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return functional.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpool, n_dims=3):
    """Puts what `MaxPool3d` returned back where it was, zeros elsewhere."""

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return functional.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


@options()
class AvgPool1d(Layer, op=functional.avg_pool1d, shown="kernel_size stride padding"):
    """The mean of each window of rows."""

    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0
    ceil_mode: bool = False
    count_include_pad: bool = True

    def __post_init__(self) -> None:
        self.stride = each(self.kernel_size if self.stride is None else self.stride, 1)
        self.kernel_size, self.padding = each(self.kernel_size, 1), each(self.padding, 1)


@options()
class _AvgPool(_Windows, shown="kernel_size stride padding"):
    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int | None = None


class AvgPool2d(_AvgPool, op=functional.avg_pool2d):
    """The mean of each window of images."""


class AvgPool3d(_AvgPool, op=functional.avg_pool3d):
    """The mean of each window of volumes."""


@options()
class _FractionalMaxPool(Layer):
    kernel_size: Sizes
    output_size: Sizes | None = None
    output_ratio: Any = None
    return_indices: bool = False
    _random_samples: Tensor | None = buffer(default=None)

    def __post_init__(self) -> None:
        n, size, ratios = self._n_dims, self.output_size, self.output_ratio
        is_given = (size is not None) + (ratios is not None)
        check(is_given > 0, f"{type(self).__name__} requires specifying either an output size, or a pooling ratio")
        check(is_given < 2, "only one of output_size and output_ratio may be specified")
        self.kernel_size = each(self.kernel_size, n)
        self.output_size = None if size is None else each(size, n)
        self.output_ratio = None if ratios is None else each(ratios, n)
        for ratio in self.output_ratio or ():
            check(0 < ratio < 1, f"output_ratio must be between 0 and 1 (got {ratios})")


class FractionalMaxPool2d(_FractionalMaxPool, n_dims=2, op=functional.fractional_max_pool2d):
    """The largest elements of windows of images that are drawn at random."""


class FractionalMaxPool3d(_FractionalMaxPool, n_dims=3, op=functional.fractional_max_pool3d):
    """The largest elements of windows of volumes that are drawn at random."""


@options()
class _LPPool(Layer, shown="norm_type kernel_size stride ceil_mode"):
    norm_type: float
    kernel_size: Sizes
    stride: Sizes | None = None
    ceil_mode: bool = False


class LPPool1d(_LPPool, op=functional.lp_pool1d):
    """The p-norm of each window of rows."""


class LPPool2d(_LPPool, op=functional.lp_pool2d):
    """The p-norm of each window of images."""


class LPPool3d(_LPPool, op=functional.lp_pool3d):
    """The p-norm of each window of volumes."""


@options()
class _AdaptiveMaxPool(Layer, shown="output_size"):
    output_size: Any
    return_indices: bool = False


class AdaptiveMaxPool1d(_AdaptiveMaxPool, op=functional.adaptive_max_pool1d):
    """The largest elements of as many windows of rows as are asked for."""


class AdaptiveMaxPool2d(_AdaptiveMaxPool, op=functional.adaptive_max_pool2d):
    """The largest elements of as many windows of images as are asked for."""


class AdaptiveMaxPool3d(_AdaptiveMaxPool, op=functional.adaptive_max_pool3d):
    """The largest elements of as many windows of volumes as are asked for."""


@options()
class _AdaptiveAvgPool(Layer, shown="output_size"):
    output_size: Any


class AdaptiveAvgPool1d(_AdaptiveAvgPool, op=functional.adaptive_avg_pool1d):
    """The means of as many windows of rows as are asked for."""


class AdaptiveAvgPool2d(_AdaptiveAvgPool, op=functional.adaptive_avg_pool2d):
    """The means of as many windows of images as are asked for."""


class AdaptiveAvgPool3d(_AdaptiveAvgPool, op=functional.adaptive_avg_pool3d):
    """The means of as many windows of volumes as are asked for."""
