"""Layers that change shapes, and distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar

from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional
from jaxaot.nn.declared import Layer, options

Sizes = int | Sequence[int]


@options()
class Flatten(Layer, shown="start_dim end_dim"):
    """Makes one dim of several."""

    start_dim: int = 1
    end_dim: int = -1

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)


@options()
class Unflatten(Layer, shown="dim unflattened_size"):
    """Makes several dims of one."""

    dim: int
    unflattened_size: Sequence[int]

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)


@options()
class Fold(Layer, op=functional.fold, shown="output_size kernel_size dilation padding stride"):
    """Adds up the columns that `Unfold` makes to images."""

    output_size: Sizes
    kernel_size: Sizes
    dilation: Sizes = 1
    padding: Sizes = 0
    stride: Sizes = 1


@options()
class Unfold(Layer, op=functional.unfold, shown="kernel_size dilation padding stride"):
    """The windows of images as columns."""

    kernel_size: Sizes
    dilation: Sizes = 1
    padding: Sizes = 0
    stride: Sizes = 1


@options()
class PixelShuffle(Layer, op=functional.pixel_shuffle, shown="upscale_factor"):
    """Larger images out of more channels."""

    upscale_factor: int


@options()
class PixelUnshuffle(Layer, op=functional.pixel_unshuffle, shown="downscale_factor"):
    """More channels out of larger images."""

    downscale_factor: int


@options()
class ChannelShuffle(Layer, op=functional.channel_shuffle, shown="groups"):
    """Mixes the channels of groups."""

    groups: int


@options()
class Upsample(Layer, op=functional.interpolate):
    """Interpolates rows, images or volumes to a size, or by a factor."""

    size: Sizes | None = None
    scale_factor: float | Sequence[float] | None = None
    mode: str = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None

    def __post_init__(self) -> None:
        self.name = type(self).__name__
        if isinstance(self.scale_factor, Sequence):
            self.scale_factor = tuple(float(factor) for factor in self.scale_factor)
        else:
            self.scale_factor = float(self.scale_factor) if self.scale_factor else None

    def extra_repr(self) -> str:
        how = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{how}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Larger images by their nearest elements."""

    def __init__(self, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Larger images by linear interpolation, with aligned corners."""

    def __init__(self, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


@options()
class PairwiseDistance(Layer):
    """The p-norm of the difference of two tensors along their last dim."""

    p: InitVar[float] = 2.0
    eps: float = 1e-6
    keepdim: bool = False

    def __post_init__(self, p: float) -> None:
        self.norm = p

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


@options()
class CosineSimilarity(Layer, op=functional.cosine_similarity):
    """The cosine of the angle between two tensors along a dim."""

    dim: int = 1
    eps: float = 1e-8
