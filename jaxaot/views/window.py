"""Windows: how the elements that a tensor shows are read from, and written to, the array of its storage.

A storage holds an array under a dense layout. A tensor shows (size, stride, offset) of that memory. `find_window` turns
the pair into a *window*: transpose and reshape the array until the shown elements are one box of it, cut the box out,
and arrange it as the tensor's dims. A chain of any number of views is thereby composed before it is applied, and a
write through it is one `dynamic_update_slice` of the view's size. Where no box exists (a step that does not divide the
memory, a diagonal, overlapping `as_strided`), the window gathers and scatters elements by index instead. A tensor of
another dtype than its storage's (`view_as_real`, `x.view(ja.int32)`) shows the same bytes, read anew.

The window is static; where the box *starts* is kept apart, so that an eager kernel compiled for `x[3]` serves `x[4]`.
The two methods are a lens, for windows that show each element at most once::

    scatter(base, apply(base)) == base
    apply(scatter(base, x)) == x
"""

from __future__ import annotations

import abc
import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._immutable import immutable
from jaxaot._typing import Array, DTypeLike, Shape
from jaxaot.views.index_dtype import place_numbers
from jaxaot.views.layout import Layout, contiguous, layout_of, memory_places
from jaxaot.views.part import PartLayout

Starts = Sequence[int] | np.ndarray | Array
"""Where the box of a window starts: Python integers in a trace, an operand eagerly."""


class AbstractWindow(abc.ABC):
    """What a tensor shows of the array of its storage."""

    @abc.abstractmethod
    def apply(self, base: Array, starts: Starts) -> Array:
        """Returns the elements of `base` that the window shows."""

    @abc.abstractmethod
    def scatter(self, base: Array, update: Array, starts: Starts) -> Array:
        """Returns `base` with the elements that the window shows replaced by `update`."""


@final
@immutable(eq=False)
class BoxWindow(AbstractWindow):
    """A box of the array, after a transpose and a reshape.

    Attributes:
      memory_order: Transposes the array to the order of memory.
      axes: Shape to which memory is then reshaped.
      lengths: Extent of the box along each of `axes`.
      kept: Shape of the box once axes of one dim are merged and selected axes dropped, in the order of memory.
      order: Permutes `kept` to the order of the tensor's dims, without those of size 1 and the expanded ones.
      placed: Shape after the missing dims are put back with size 1.
      size: The tensor's size; larger than `placed` where it is expanded.
    """

    memory_order: tuple[int, ...]
    axes: Shape
    lengths: Shape
    kept: Shape
    order: tuple[int, ...]
    placed: Shape
    size: Shape

    def apply(self, base: Array, starts: Starts) -> Array:
        box = _reshape(_transpose(base, self.memory_order), self.axes)
        if self.lengths != self.axes:
            if _is_static(starts):
                limits = [int(start) + n for start, n in zip(starts, self.lengths, strict=True)]
                box = jax.lax.slice(box, [int(s) for s in starts], limits)
            else:
                box = jax.lax.dynamic_slice(box, [starts[i] for i in range(len(self.axes))], self.lengths)
        shown = _reshape(_transpose(_reshape(box, self.kept), self.order), self.placed)
        return shown if self.placed == self.size else jnp.broadcast_to(shown, self.size)

    def scatter(self, base: Array, update: Array, starts: Starts) -> Array:
        if self.placed != self.size:
            raise AssertionError("a window with expanded dims is never written through")
        ordered = tuple(self.kept[axis] for axis in self.order)
        box = _reshape(_transpose(_reshape(update, ordered), _inverse(self.order)), self.lengths)
        if self.lengths == self.axes:
            memory = box
        else:
            memory = _reshape(_transpose(base, self.memory_order), self.axes)
            memory = jax.lax.dynamic_update_slice(memory, box, [starts[i] for i in range(len(self.axes))])
        in_order = tuple(base.shape[axis] for axis in self.memory_order)
        return _transpose(_reshape(memory, in_order), _inverse(self.memory_order))


@final
@immutable(eq=False)
class IndexWindow(AbstractWindow):
    """Elements of memory by index: `start + Σ position · stride`."""

    memory_order: tuple[int, ...]
    size: Shape
    stride: Shape

    def _indices(self, starts: Starts, n_places: int) -> Array | np.ndarray:
        places = memory_places(self.size, self.stride)
        if _is_static(starts):
            return place_numbers(places + int(starts[0]), n_places)
        return jnp.asarray(place_numbers(places, n_places)) + starts[0]

    def apply(self, base: Array, starts: Starts) -> Array:
        memory = _transpose(base, self.memory_order).reshape(-1)
        return memory.at[self._indices(starts, base.size)].get(mode="promise_in_bounds")

    def scatter(self, base: Array, update: Array, starts: Starts) -> Array:
        in_order = tuple(base.shape[axis] for axis in self.memory_order)
        memory = _transpose(base, self.memory_order).reshape(-1)
        memory = memory.at[self._indices(starts, base.size)].set(update, mode="promise_in_bounds", unique_indices=True)
        return _transpose(memory.reshape(in_order), _inverse(self.memory_order))


@final
@immutable(eq=False)
class EmptyWindow(AbstractWindow):
    """No elements at all."""

    size: Shape
    dtype: np.dtype

    def apply(self, base: Array, starts: Starts) -> Array:
        return jnp.zeros(self.size, self.dtype)

    def scatter(self, base: Array, update: Array, starts: Starts) -> Array:
        return base


@final
@immutable(eq=False)
class CastWindow(AbstractWindow):
    """A window of memory whose bytes are read as another dtype.

    Attributes:
      memory_order: Transposes the array to the order of memory.
      dtype: As which the bytes are read.
      inner: The window of the memory so read, one flat run of elements.
    """

    memory_order: tuple[int, ...]
    dtype: np.dtype
    inner: AbstractWindow

    def apply(self, base: Array, starts: Starts) -> Array:
        return self.inner.apply(reinterpret(self._flat(base), self.dtype), starts)

    def scatter(self, base: Array, update: Array, starts: Starts) -> Array:
        memory = self._flat(base)
        written = self.inner.scatter(reinterpret(memory, self.dtype), update, starts)
        back = reinterpret(written, memory.dtype)
        if back.shape != memory.shape:  # the last bytes are too few for an element
            back = jnp.concatenate([back, memory[back.size :]])
        in_order = tuple(base.shape[axis] for axis in self.memory_order)
        return _transpose(_reshape(back, in_order), _inverse(self.memory_order))

    def _flat(self, base: Array) -> Array:
        return _reshape(_transpose(base, self.memory_order), (base.size,))


@final
@immutable(eq=False)
class ConjWindow(AbstractWindow):
    """The conjugates of what another window shows; of real numbers, the negatives."""

    inner: AbstractWindow

    def apply(self, base: Array, starts: Starts) -> Array:
        return flip_sign(self.inner.apply(base, starts))

    def scatter(self, base: Array, update: Array, starts: Starts) -> Array:
        return self.inner.scatter(base, flip_sign(update), starts)


def flip_sign(x: Array) -> Array:
    """Returns the conjugates of complex numbers, the negatives of real ones."""
    return jnp.conj(x) if x.dtype.kind == "c" else -x


def reinterpret(memory: Array, dtype: DTypeLike) -> Array:
    """Returns a flat run of memory with its bytes read as another dtype; complex numbers are pairs of floats."""
    dtype, held = np.dtype(dtype), np.dtype(memory.dtype)
    if held == dtype:
        return memory
    if held.kind == "c":
        parts = jnp.stack([jax.lax.real(memory), jax.lax.imag(memory)], -1)
        return reinterpret(parts.reshape(-1), dtype)
    if dtype.kind == "c":
        parts = reinterpret(memory, np.dtype(f"f{dtype.itemsize // 2}"))
        pairs = parts[: parts.size // 2 * 2].reshape(-1, 2)
        return jax.lax.complex(pairs[:, 0], pairs[:, 1])
    if held == np.bool_:
        return reinterpret(memory.astype(np.uint8), dtype)
    if dtype == np.bool_:
        return reinterpret(memory, np.uint8) != 0
    if dtype.itemsize > held.itemsize:
        ratio = dtype.itemsize // held.itemsize
        memory = memory[: memory.size // ratio * ratio].reshape(-1, ratio)
    return jax.lax.bitcast_convert_type(memory, dtype).reshape(-1)


@functools.lru_cache(maxsize=1 << 16)
def find_window(storage: Layout, view: Layout, offset: int) -> tuple[AbstractWindow, np.ndarray]:
    """Returns the window of a view, and where its box starts.

    Args:
      storage: The dense layout under which the array is stored; or a `PartLayout`.
      view: What the tensor shows; its dtype may be another one.
      offset: Memory element at which the view begins.
    """
    if view.numel == 0:
        return _interned(EmptyWindow, view.size, view.dtype), np.zeros(0, np.int32)
    if view.is_conj:
        inner, starts = find_window(storage, layout_of(view.size, view.stride, view.dtype), offset)
        return _interned(ConjWindow, inner), starts
    if isinstance(storage, PartLayout):
        return find_window(storage.dense, *storage.without_gaps(view, offset))
    if view.dtype != storage.dtype:
        memory = contiguous((storage.nbytes // view.dtype.itemsize,), view.dtype)
        memory = memory.abstract if storage.is_abstract else memory
        inner, starts = find_window(memory, view, offset)
        return _interned(CastWindow, storage.memory_order, view.dtype, inner), starts
    box = _find_box(storage, view, offset)
    if box is not None:
        return box
    window = _interned(IndexWindow, storage.memory_order, view.size, view.stride)
    return window, _places([offset], storage)


def window_in_graph(storage: Layout, view: Layout, offset: int) -> tuple[AbstractWindow, np.ndarray]:
    """Returns the window of a view in a graph, whose starts are no operands: memory may be of any size."""
    return find_window(storage.abstract, view, offset)


def _places(numbers: Sequence[int], storage: Layout) -> np.ndarray:
    return np.array(numbers, np.int64) if storage.is_abstract else place_numbers(numbers, storage.numel)


def _find_box(storage: Layout, view: Layout, offset: int) -> tuple[AbstractWindow, np.ndarray] | None:
    shown = [d for d in range(len(view.size)) if view.size[d] > 1 and view.stride[d] > 0]
    shown.sort(key=lambda d: -view.stride[d])
    strides = [view.stride[d] for d in shown]
    pairs = itertools.pairwise([storage.numel, *strides])
    if len(set(strides)) < len(strides) or any(b <= 0 or a % b for a, b in pairs):
        return None
    # boundaries between axes: the view's strides, and the storage's own wherever they fit in between
    boundaries = {1, *strides}
    sizes = [storage.size[axis] for axis in storage.memory_order]
    for i in range(len(sizes)):
        own = math.prod(sizes[i + 1 :])
        if all(own % b == 0 or b % own == 0 for b in boundaries):
            boundaries.add(own)
    while True:
        steps = sorted(boundaries, reverse=True)
        result = _fit(storage.numel, steps, [(view.size[d], view.stride[d]) for d in shown], offset)
        if isinstance(result, int):  # this boundary cuts a dim of the view in two
            if result in strides or result == 1:
                return None
            boundaries.discard(result)
            continue
        if result is None:
            return None
        axes, lengths, starts = result
        break
    natural = tuple(sizes)
    if _without_ones(axes) == _without_ones(natural) and len(axes) != len(natural):
        axes, lengths, starts = _with_ones(natural, axes, lengths, starts)
    kept = tuple(view.size[d] for d in shown)
    order = tuple(sorted(range(len(shown)), key=lambda i: shown[i]))
    placed = tuple(n if d in shown else 1 for d, n in enumerate(view.size))
    window = _interned(BoxWindow, storage.memory_order, axes, lengths, kept, order, placed, view.size)
    return window, _places(starts, storage)


def _fit(numel: int, steps: list[int], dims: list[tuple[int, int]], offset: int) -> Any:
    """Returns (axes, lengths, starts) of a box, a boundary to drop, or None."""
    axes = [numel // steps[0], *(steps[i - 1] // steps[i] for i in range(1, len(steps)))]
    starts, rest = [], offset
    for step in steps:
        starts.append(rest // step)
        rest %= step
    lengths = [1] * len(axes)
    used = [False] * len(axes)
    for size, stride in dims:
        axis = steps.index(stride)
        while True:
            if used[axis]:
                return None
            used[axis] = True
            if starts[axis] + size <= axes[axis]:
                lengths[axis] = size
                break
            if axis == 0:
                return None
            if starts[axis] != 0 or size % axes[axis] != 0:
                return steps[axis - 1]
            lengths[axis] = axes[axis]
            size //= axes[axis]
            axis -= 1
            if size == 1:
                break
    return tuple(axes), tuple(lengths), tuple(starts)


def _without_ones(shape: Shape) -> Shape:
    return tuple(n for n in shape if n != 1)


def _with_ones(natural: Shape, axes: Shape, lengths: Shape, starts: Shape) -> tuple[Shape, Shape, Shape]:
    """Returns the box with axes of size 1 where the array has them, so that no reshape is needed."""
    real = iter([(n, s) for axis, n, s in zip(axes, lengths, starts, strict=True) if axis != 1])
    boxes = [next(real) if n != 1 else (1, 0) for n in natural]
    return natural, tuple(n for n, _ in boxes), tuple(s for _, s in boxes)


_windows: dict[tuple[Any, ...], AbstractWindow] = {}


def _interned(kind: type, *fields: object) -> AbstractWindow:
    """Returns the one window with these fields, so that kernel keys compare windows by identity."""
    key = (kind, *fields)
    window = _windows.get(key)
    if window is None:
        window = _windows.setdefault(key, kind(*fields))
    return window


def _is_static(starts: Starts) -> bool:
    return isinstance(starts, (np.ndarray, tuple, list))


def _transpose(x: Array, order: tuple[int, ...]) -> Array:
    return x if order == tuple(range(len(order))) else jax.lax.transpose(x, order)


def _reshape(x: Array, shape: Shape) -> Array:
    return x if x.shape == shape else jax.lax.reshape(x, shape)


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argsort(np.array(order, np.int64))) if order else ()
