"""Memory formats: the order in which the dims of a tensor lie in memory (`torch.memory_format`), and `torch.layout`."""

from __future__ import annotations

import enum

from jaxaot.errors import ArgumentError, ShapeMismatchError
from jaxaot.views.layout import Layout, channels_last


class MemoryFormat(enum.Enum):
    """An order of dims in memory."""

    contiguous_format = "row-major"
    preserve_format = "as the operand's"
    channels_last = "N, H, W, C"
    channels_last_3d = "N, D, H, W, C"

    def __repr__(self) -> str:
        return f"ja.{self.name}"


class MemoryLayout(enum.Enum):
    """How elements are found in memory: by strides, always."""

    strided = "by strides"

    def __repr__(self) -> str:
        return f"ja.{self.name}"


_NDIMS = {MemoryFormat.channels_last: 4, MemoryFormat.channels_last_3d: 5}


def check_format(memory_format: MemoryFormat, ndim: int) -> MemoryFormat:
    """Returns `memory_format`, if a tensor of so many dims can have it.

    Raises:
      ArgumentError: If it is not a memory format.
      ShapeMismatchError: If it is one of tensors of another number of dims.
    """
    if not isinstance(memory_format, MemoryFormat):
        raise ArgumentError(f"memory_format must be one of {list(MemoryFormat)}, not {memory_format!r}")
    if ndim != _NDIMS.get(memory_format, ndim):
        raise ShapeMismatchError(f"required rank {_NDIMS[memory_format]} tensor to use {memory_format.name} format")
    return memory_format


def has_format(layout: Layout, memory_format: MemoryFormat) -> bool:
    """Whether elements lie in memory so, without gaps; dims of size 1 may have any stride."""
    if memory_format not in _NDIMS:
        return layout.is_contiguous
    if len(layout.size) != _NDIMS[memory_format]:
        return False
    wanted = channels_last(layout.size, layout.dtype).stride
    return layout.numel == 0 or all(
        n == 1 or has == want for n, has, want in zip(layout.size, layout.stride, wanted, strict=True)
    )


def suggested_format(layout: Layout) -> MemoryFormat:
    """Returns the format that the strides of a tensor suggest."""
    if not layout.suggests_channels_last:
        return MemoryFormat.contiguous_format
    return MemoryFormat.channels_last if len(layout.size) == 4 else MemoryFormat.channels_last_3d
