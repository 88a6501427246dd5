"""Tensors of given strides: made empty, and copied with a strided part of their memory replaced."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from jaxaot._typing import DTypeLike
from jaxaot.errors import ArgumentError, OverlappingWriteError, ShapeMismatchError
from jaxaot.facade.dispatch.create import as_dtype
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import asks_classes
from jaxaot.facade.view_ops import views
from jaxaot.ops.dims import sizes_of
from jaxaot.ops.table import lookup
from jaxaot.views.layout import contiguous, layout_of


def empty_strided(size: Sequence[int], stride: Sequence[int], *, dtype: DTypeLike | None = None) -> Tensor:
    """Returns a tensor of any strides, as `as_strided` takes them, on memory of its own."""
    size, stride = sizes_of((size,)), sizes_of((stride,))
    if len(size) != len(stride):
        raise ShapeMismatchError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})"
        )
    if any(n < 0 for n in (*size, *stride)):
        raise ArgumentError(f"empty_strided: negative sizes or strides in {list(size)}, {list(stride)}")
    memory = call(lookup("empty"), (), ((layout_of(size, stride, np.dtype("f4")).reach,), as_dtype(dtype)))
    return views.detached(views.as_strided(memory, size, stride))


@asks_classes
def new_empty_strided(
    self: Tensor, size: Sequence[int], stride: Sequence[int], dtype: DTypeLike | None = None
) -> Tensor:
    """Returns a tensor of any strides, by default of this one's dtype."""
    return empty_strided(size, stride, dtype=self.dtype if dtype is None else dtype)


def as_strided_scatter(
    input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Returns a copy of `input` in which the view `input.as_strided(size, stride, storage_offset)` holds `src`."""
    own = input._layout
    part = layout_of(sizes_of((size,)), sizes_of((stride,)), own.dtype)
    if tuple(src.shape) != part.size:
        raise ShapeMismatchError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = "
            f"{list(part.size)}"
        )
    if part.is_overlapping:
        raise OverlappingWriteError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location"
        )
    input._ask()
    begin = input._offset
    offset = begin if storage_offset is None else operator.index(storage_offset)
    views.check_strided(part.size, offset)
    if own.is_overlapping:  # its copy lies in memory of its own
        own, begin = contiguous(own.size, own.dtype), 0
    places = ((own.size, own.stride, begin), (part.size, part.stride, offset))
    return call(lookup("strided_scatter"), (input, src), places)
