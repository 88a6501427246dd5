"""Layouts: how the elements of a tensor lie in the flat memory of its storage.

A *layout* is (size, stride, dtype); with an offset it says which memory elements a tensor shows, exactly as in PyTorch.
Layouts are interned: equal layouts are one object, so that guards and kernel keys compare by identity. A layout is
*dense* if it fills memory without gaps or overlap, in any order of its dims; arrays are stored under a dense layout.
Everything here is arithmetic on plain integers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from jaxaot._typing import Shape
from jaxaot.errors import StorageSizeError

MAX_BYTES = 2**63 - 1
"""What the addresses of a machine reach. XLA ends the process where a size is beyond."""


def memory_places(size: Sequence[int], stride: Sequence[int], offset: int = 0) -> np.ndarray:
    """Returns the memory element of each element of a tensor."""
    places = np.array(offset, np.int64)
    for n, step in zip(size, stride, strict=True):
        places = np.add.outer(places, np.arange(n, dtype=np.int64) * step)
    return places


def check_addressable(size: Sequence[int], itemsize: int) -> None:
    """Does nothing for an array of some size that memory has addresses for; a dim of size 0 counts as 1, as in XLA.

    Raises:
      StorageSizeError: If it has none.
    """
    n_bytes = math.prod(max(n, 1) for n in size) * itemsize
    if n_bytes > MAX_BYTES:
        what = "Stride" if 0 in size else "Storage size"
        raise StorageSizeError(
            f"{what} calculation overflowed with sizes={[int(n) for n in size]}: these are {n_bytes:,} bytes, "
            "more than memory can have addresses for. Views may be as large (`x.expand(...)`), what is computed of "
            "all their elements may not. Look for a size that is a product of others, or compute in parts."
        )


class Layout:
    """An interned (size, stride, dtype); make one with `layout_of` or `contiguous`.

    Attributes:
      size: Sizes of the dims.
      stride: Memory elements between neighbours along each dim.
      dtype: Of the elements.
      is_conj: Whether the elements are the conjugates of what memory holds; of real numbers, the negatives.
      numel: Number of elements shown.
      is_abstract: Whether the memory has no values.
      origin: Of the layout of a storage, the memory element at which its array begins.
      most: Of the layout of a storage, how many elements it held before it was trimmed; 0 if it was not.
    """

    __slots__ = ("__dict__", "dtype", "is_conj", "numel", "size", "stride")

    is_abstract = False
    origin = 0
    most = 0

    def __init__(self, size: Shape, stride: Shape, dtype: np.dtype, is_conj: bool = False):
        self.size = size
        self.stride = stride
        self.dtype = dtype
        self.is_conj = is_conj
        self.numel = math.prod(size)

    def __repr__(self) -> str:
        return f"Layout({self.size}, {self.stride}, {self.dtype}{', conjugated' if self.is_conj else ''})"

    def __reduce__(self) -> Any:
        return layout_of, (self.size, self.stride, self.dtype, self.is_conj)

    @functools.cached_property
    def abstract(self) -> Layout:
        """This layout, of memory without values."""
        return AbstractLayout(self.size, self.stride, self.dtype, self.is_conj)

    @property
    def plain(self) -> Layout:
        """This layout, of memory with values."""
        return self

    @functools.cached_property
    def is_contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps; dims of size 1 may have any stride."""
        return self._fills_memory(reversed(range(len(self.size))))

    def _fills_memory(self, dims: Iterable[int]) -> bool:
        """Returns whether dims, the fastest first, leave no gap in memory; those of size 1 may have any stride."""
        expected = 1
        for dim in dims:
            if self.size[dim] != 1:
                if self.stride[dim] != expected:
                    return self.numel == 0
                expected *= self.size[dim]
        return True

    @functools.cached_property
    def is_channels_last(self) -> bool:
        """Whether four dims (N, C, H, W) lie in memory as N, H, W, C without gaps, whatever the stride of a size 1."""
        if len(self.size) != 4:
            return False
        expected = 1
        for dim in (1, 3, 2, 0):
            if self.size[dim] != 1:
                if self.stride[dim] != expected:
                    return False
                expected *= self.size[dim]
        return True

    @functools.cached_property
    def suggests_channels_last(self) -> bool:
        """Whether strides suggest that (N, C, H, W) or (N, C, D, H, W) lie with the channels innermost.

        Gaps are allowed, and ambiguous cases say no: ATen's `is_channels_last_strides_2d` and `_3d`.
        """
        order = {4: (1, 3, 2, 0), 5: (1, 4, 3, 2, 0)}.get(len(self.size))
        if order is None or self.stride[1] == 0 or 0 in self.size:
            return False
        least = 0
        for dim in order:
            if self.stride[dim] < least or (dim == 0 and least == self.stride[1]):
                return False
            least = self.stride[dim] * max(self.size[dim], 1)
        return True

    @functools.cached_property
    def is_dense(self) -> bool:
        """Whether the elements fill one run of memory, each place once, in some order of the dims."""
        fastest_first = sorted(range(len(self.size)), key=lambda dim: (self.stride[dim], self.size[dim]))
        return self.is_contiguous or self._fills_memory(fastest_first)

    @functools.cached_property
    def dense(self) -> Layout:
        """The dense layout with this order of dims: what `clone` and `empty_like` allocate."""
        return dense_like(self, self.dtype)

    @functools.cached_property
    def is_overlapping(self) -> bool:
        """Whether two elements share a place in memory."""
        reach = 0
        dims = sorted((t, s) for s, t in zip(self.size, self.stride, strict=True) if s > 1)
        if self.numel <= 1:
            return False
        for stride, size in dims:
            if stride <= reach:
                break
            reach += (size - 1) * stride
        else:
            return False
        if any(stride == 0 for stride, _ in dims) or self.reach < self.numel:
            return True
        return np.unique(memory_places(self.size, self.stride)).size < self.numel

    @functools.cached_property
    def memory_order(self) -> tuple[int, ...]:
        """The dims from the slowest to the fastest in memory."""
        return tuple(sorted(range(len(self.size)), key=lambda d: (-self.stride[d], -self.size[d], d)))

    @functools.cached_property
    def tight(self) -> Layout:
        """These dims in the same order of memory, with gaps as small as can be; itself where dims overlap."""
        reach = 1
        for dim in reversed(self.memory_order):
            if self.size[dim] > 1 and self.stride[dim]:
                if self.stride[dim] < reach:
                    return self
                reach = self.size[dim] * self.stride[dim]
        return resized(self, self.size)

    @functools.cached_property
    def reach(self) -> int:
        """How many memory elements, from its first on, the layout reaches over."""
        if self.numel == 0:
            return 0
        return 1 + sum((n - 1) * s for n, s in zip(self.size, self.stride, strict=True))

    @functools.cached_property
    def nbytes(self) -> int:
        """Bytes of the elements shown."""
        return self.numel * self.dtype.itemsize


class AbstractLayout(Layout):
    """The layout of a storage without values: such a storage is told apart in kernel keys by it."""

    __slots__ = ()

    is_abstract = True

    @property
    def abstract(self) -> Layout:
        return self

    @property
    def plain(self) -> Layout:
        return layout_of(self.size, self.stride, self.dtype, self.is_conj)

    def __reduce__(self) -> Any:
        return _abstract, (self.size, self.stride, self.dtype, self.is_conj)


def _abstract(*fields: Any) -> Layout:
    return layout_of(*fields).abstract


class CheckedLayout(Layout):
    """The layout of a storage that not all tensors on it may read, see `memory_layout`."""

    __slots__ = ()

    def __init__(self, n: int, dtype: np.dtype, n_written: int, most: int):
        super().__init__((n,), (1,), dtype)
        self.n_written = n_written
        self.most = most

    def __reduce__(self) -> Any:
        return memory_layout, (self.numel, self.dtype, self.n_written, self.most)

    @functools.cached_property
    def abstract(self) -> Layout:
        made = AbstractLayout(self.size, self.stride, self.dtype)
        made.most = self.most
        return made


@functools.lru_cache(maxsize=4096)
def _checked_layout(n: int, dtype: np.dtype, n_written: int, most: int) -> Layout:
    return CheckedLayout(n, dtype, n_written, most)


def memory_layout(n: int, dtype: np.dtype, n_written: int, most: int) -> Layout:
    """Returns the layout of a storage that was resized.

    Where a tensor may show memory that was not written, or that was trimmed, it is an object of its own. No tensor's
    layout is that object, so every read and write looks at how far the tensor reaches.

    Args:
      n: Its elements.
      dtype: Of them.
      n_written: How many of them hold values.
      most: How many it has held at most.
    """
    is_all = n_written == n and n >= most
    return contiguous((n,), dtype) if is_all else _checked_layout(n, dtype, n_written, most)


_layouts: dict[tuple[Shape, Shape, np.dtype, bool], Layout] = {}
_contiguous: dict[tuple[Shape, np.dtype], Layout] = {}


def layout_of(size: Sequence[int], stride: Sequence[int], dtype: np.dtype, is_conj: bool = False) -> Layout:
    """Returns the layout with these sizes, strides and dtype."""
    key = (tuple(size), tuple(stride), np.dtype(dtype), is_conj)
    layout = _layouts.get(key)
    if layout is None:
        layout = _layouts.setdefault(key, Layout(*key))
    return layout


def contiguous_stride(size: Sequence[int]) -> Shape:
    """Returns row-major strides; a dim of size 0 counts as 1, as in PyTorch."""
    stride, step = [], 1
    for n in reversed(size):
        stride.append(step)
        step *= max(n, 1)
    return tuple(reversed(stride))


def contiguous(size: Shape, dtype: np.dtype) -> Layout:
    """Returns the row-major layout of a shape."""
    layout = _contiguous.get((size, dtype))
    if layout is None:
        layout = layout_of(size, contiguous_stride(size), dtype)
        _contiguous[(layout.size, layout.dtype)] = layout
    return layout


def channels_last(size: Shape, dtype: np.dtype) -> Layout:
    """Returns the dense layout of (N, C, …) with the channels innermost."""
    n, c, *space = size
    n_stride, *space_stride, c_stride = contiguous_stride((n, *space, c))
    return layout_of(size, (n_stride, c_stride, *space_stride), dtype)


def resized(layout: Layout, size: Sequence[int]) -> Layout:
    """Returns a layout with other sizes, its dims in the same order of memory.

    Gaps stay, as small as can be, and where dims overlap they still do.
    """
    if layout.is_contiguous:
        return layout_of(size, contiguous_stride(size), layout.dtype, layout.is_conj)
    stride, step, before = [0] * len(size), 1, 1
    for dim in reversed(layout.memory_order):
        if layout.stride[dim] < before and layout.size[dim] > 1:
            stride[dim] = layout.stride[dim]
            continue
        has_gap = layout.size[dim] > 1 and layout.stride[dim] != before
        stride[dim] = step + 1 if has_gap else step
        step = stride[dim] * max(size[dim], 1)
        before = (layout.stride[dim] if has_gap else before) * max(layout.size[dim], 1)
    return layout_of(size, stride, layout.dtype, layout.is_conj)


def broadcast_size(sizes: Sequence[Shape]) -> Shape | None:
    """Returns the common shape under broadcasting, or None if there is none."""
    ndim = max((len(size) for size in sizes), default=0)
    result = [1] * ndim
    for size in sizes:
        for i, n in enumerate(size, start=ndim - len(size)):
            if n != 1 and result[i] not in (1, n):
                return None
            if n != 1:
                result[i] = n
    return tuple(result)


@functools.lru_cache(maxsize=16384)
def dense_like(layout: Layout, dtype: np.dtype) -> Layout:
    """Returns the dense layout with the order of dims of `layout`: what `clone` and `empty_like` allocate."""
    if layout.is_dense:
        return layout_of(layout.size, layout.stride, dtype)
    return elementwise_layout((layout,), layout.size, dtype)


@functools.lru_cache(maxsize=16384)
def elementwise_layout(operands: tuple[Layout, ...], size: Shape, dtype: np.dtype) -> Layout:
    """Returns the layout of an elementwise result, which follows its operands' order of dims.

    Args:
      operands: Layouts of the tensor operands, in the order of the arguments.
      size: The broadcast shape.
      dtype: Of the result.

    The rule is that of ATen's `TensorIterator::reorder_dimensions`.
    """
    same_shape = all(operand.size == size for operand in operands)
    if not operands or (same_shape and all(operand.is_contiguous for operand in operands)):
        return contiguous(size, np.dtype(dtype))
    if same_shape and all(operand.is_channels_last for operand in operands):
        return channels_last(size, dtype)
    if same_shape and all(o.is_dense and o.stride == operands[0].stride for o in operands):
        return layout_of(size, operands[0].stride, dtype)
    ndim = len(size)
    strides = [list(_broadcast_strides(operand, size)) for operand in operands]

    def order(dim0: int, dim1: int) -> int:
        for stride in strides:
            if stride[dim0] == 0 or stride[dim1] == 0:
                continue
            if stride[dim0] != stride[dim1]:
                return -1 if stride[dim0] < stride[dim1] else 1
            if size[dim0] > size[dim1]:
                return 1
        return 0

    fastest_first = list(range(ndim - 1, -1, -1))
    for i in range(1, ndim):
        dim1 = i
        for dim0 in range(i - 1, -1, -1):
            comparison = order(fastest_first[dim0], fastest_first[dim1])
            if comparison > 0:
                fastest_first[dim0], fastest_first[dim1] = fastest_first[dim1], fastest_first[dim0]
                dim1 = dim0
            elif comparison < 0:
                break
    stride, step = [0] * ndim, 1
    for dim in fastest_first:
        stride[dim] = step
        step *= max(size[dim], 1)
    return layout_of(size, stride, dtype)


@functools.lru_cache(maxsize=16384)
def indexed_operands(source: Layout, indices: tuple[Layout | None, ...]) -> tuple[Layout, ...]:
    """Returns the operands whose order of dims the result of `source[indices]` follows.

    As ATen's `index` sees them: the source with the indexed dims replaced by those of the indices without memory, and
    the indices with the source's other dims without memory. Dims that are not indexed side by side move to the front.

    Args:
      source: The indexed tensor.
      indices: An index tensor, or None, for each of its leading dims.
    """
    given = [i for i, index in enumerate(indices) if index is not None]
    shape = broadcast_size([index.size for index in indices if index is not None]) or ()
    kept = [d for d in range(len(source.size)) if d not in given]
    adjacent = given == list(range(given[0], given[-1] + 1))
    before = [d for d in kept if adjacent and d < given[0]]
    after = [d for d in kept if d not in before]
    pick = lambda dims, values: tuple(values[d] for d in dims)
    size = (*pick(before, source.size), *shape, *pick(after, source.size))
    zeros = (0,) * len(shape)
    operands = [layout_of(size, (*pick(before, source.stride), *zeros, *pick(after, source.stride)), source.dtype)]
    for index in indices:
        if index is not None:
            missing = len(shape) - len(index.size)
            own = tuple(s if n != 1 else 0 for n, s in zip(index.size, index.stride, strict=True))
            stride = (*(0,) * len(before), *(0,) * missing, *own, *(0,) * len(after))
            operands.append(layout_of(size, stride, index.dtype))
    return tuple(operands)


def _broadcast_strides(operand: Layout, size: Shape) -> Iterator[int]:
    missing = len(size) - len(operand.size)
    yield from [0] * missing
    for n, stride, target in zip(operand.size, operand.stride, size[missing:], strict=True):
        # strides are compared in bytes, so that operands of different dtypes compare as in ATen
        yield 0 if n == 1 and target != 1 else stride * operand.dtype.itemsize


def view_stride(size: Shape, stride: Shape, new_size: Shape) -> Shape | None:
    """Returns the strides under which memory of (size, stride) shows as `new_size`, or None if no strides do.

    The rule of ATen's `computeStride`: dims that are contiguous with one another form a chunk, and a new dim lies
    within one chunk.
    """
    numel = math.prod(size)
    if numel == 0:
        return stride if size == new_size else contiguous_stride(new_size)
    if not size:
        return (1,) * len(new_size)
    new_stride = [0] * len(new_size)
    view_dim = len(new_size) - 1
    chunk_stride = stride[-1]
    chunk_numel = view_numel = 1
    for dim in range(len(size) - 1, -1, -1):
        chunk_numel *= size[dim]
        if dim == 0 or (size[dim - 1] != 1 and stride[dim - 1] != chunk_numel * chunk_stride):
            while view_dim >= 0 and (view_numel < chunk_numel or new_size[view_dim] == 1):
                new_stride[view_dim] = view_numel * chunk_stride
                view_numel *= new_size[view_dim]
                view_dim -= 1
            if view_numel != chunk_numel:
                return None
            if dim > 0:
                chunk_stride = stride[dim - 1]
                chunk_numel = view_numel = 1
    return tuple(new_stride) if view_dim == -1 else None
