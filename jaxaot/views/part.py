"""Layouts of memory with gaps: what one index of a mapped dim shows of a tensor, at the strides it has there.

An index of `ja.func.vmap` has an array of its own elements. A *part layout* says where these lie in the memory of the
whole tensor, so that strides, offsets and `as_strided` inside mean what they mean outside. Windows are found in the
same elements without the gaps.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from jaxaot._typing import Shape
from jaxaot.errors import ViewError
from jaxaot.views.layout import Layout, layout_of


@final
class PartLayout(Layout):
    """A layout whose elements need not fill memory; each lies at a place of its own. Make one with `part_layout`.

    Attributes:
      origin: The memory element at which the first one lies.
    """

    __slots__ = ("origin",)

    def __init__(self, size: Shape, stride: Shape, dtype: np.dtype, origin: int):
        super().__init__(size, stride, dtype)
        self.origin = origin

    def __reduce__(self) -> Any:
        return part_layout, (self.size, self.stride, self.dtype, self.origin)

    @property
    def abstract(self) -> Layout:
        return self

    def without_gaps(self, view: Layout, offset: int) -> tuple[Layout, int]:
        """Returns the layout and offset that show in `dense` what a view shows here.

        Args:
          view: The view; its dtype may be another one.
          offset: Memory element at which it begins.

        Raises:
          ViewError: If it shows memory between the elements or beyond them.
        """
        smaller, larger = self.dtype.itemsize // view.dtype.itemsize, view.dtype.itemsize // self.dtype.itemsize
        axes = [(t, n, d) for t, n, d in zip(self.stride, self.size, self.dense.stride, strict=True) if n > 1]
        size, stride, begin = view.size, view.stride, offset - self.origin
        if smaller > 1:  # places are counted in the smaller of the two dtypes
            axes = [*((t * smaller, n, d * smaller) for t, n, d in axes), (1, smaller, 1)]
            begin = offset - self.origin * smaller
        elif larger > 1:
            size, stride = (*size, larger), (*(s * larger for s in stride), 1)
            begin = offset * larger - self.origin
        axes = merged(axes) or [(1, 1, 1)]
        first = steps_to(axes, begin)
        along = [steps_to(axes, step if n > 1 else 0) for n, step in zip(size, stride, strict=True)]
        is_there = None not in (first, *along)
        for place, (_, n_there, _) in enumerate(axes if is_there else ()):
            last = first[place] + sum((n - 1) * steps[place] for n, steps in zip(size, along, strict=True))
            is_there = is_there and first[place] >= 0 and last < n_there
        distance = lambda steps: sum(n * dense for n, (_, _, dense) in zip(steps or (), axes, strict=False))
        start, strides = distance(first), [distance(steps) for steps in along]
        if larger > 1:
            is_there = strides.pop() == 1 and is_there and not any(number % larger for number in (start, *strides))
            start, strides = start // larger, [s // larger for s in strides]
        if not is_there:
            raise ViewError(
                f"sizes {list(view.size)}, strides {list(view.stride)}, storage offset {offset} show memory that is "
                "not there: inside `ja.func.vmap` an index has the elements that it was passed, here of sizes "
                f"{list(self.size)} and strides {list(self.stride)} from element {self.origin} on, and none between "
                "or beyond them. Take the view of the whole tensor, outside."
            )
        return layout_of(view.size, strides, view.dtype), start


def merged(axes: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Returns (stride, size, stride without gaps) of axes, the slowest first, with those that go on as one."""
    found: list[tuple[int, int, int]] = []
    for stride, n, dense in sorted(axes, reverse=True):
        if found and found[-1][0] == n * stride and found[-1][2] == n * dense:
            stride, n, dense = stride, n * found.pop()[1], dense
        found.append((stride, n, dense))
    return found


def steps_to(axes: Sequence[tuple[int, int, int]], number: int) -> Any:
    """Returns how often each axis is stepped along to get so far in memory; None if steps do not lead there."""
    steps = []
    for stride, _, _ in axes:
        steps.append(number // stride)
        number %= stride
    return None if number else steps


@functools.lru_cache(maxsize=4096)
def part_layout(size: Shape, stride: Shape, dtype: np.dtype, origin: int) -> Layout:
    """Returns the layout of an array whose elements lie at these strides, from some element of memory on.

    Where they fill memory from its beginning, it is a dense layout. No two may share a place.
    """
    layout = layout_of(size, stride, dtype)
    if layout.is_dense and not origin:
        return layout
    return PartLayout(layout.size, layout.stride, layout.dtype, origin)
