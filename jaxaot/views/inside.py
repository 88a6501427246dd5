"""Views within a part of memory, of which the values alone are there: where they lie in these.

The values of a part fill memory of their own, without the gaps that the part leaves, in the same order of dims. A place
of the part is told by *digits*, one for each dim. Dims that follow each other without a gap count as one, so that a
view may run over both. Where dims overlap, a place has several such digits, and any of them do: the values are the
same.
"""

from __future__ import annotations

import functools

from jaxaot._immutable import immutable
from jaxaot.views.layout import Layout, layout_of


@immutable
class _Dim:
    """A dim of a part, or several that leave no gap.

    Attributes:
      size: How many places it has.
      stride: Memory elements between two of them.
      dense: Elements between them where the values alone are.
    """

    size: int
    stride: int
    dense: int


@functools.lru_cache(maxsize=1 << 12)
def _dims_of_part(part: Layout) -> tuple[_Dim, ...]:
    """Returns the dims of a part, the slowest first, without those that are expanded."""
    dense, found = part.dense, list[_Dim]()
    for d in reversed(part.memory_order):
        size, stride = part.size[d], part.stride[d]
        if size == 1 or not stride:
            continue
        last = found[-1] if found else None
        if last is not None and stride == last.size * last.stride and dense.stride[d] == last.size * last.dense:
            found[-1] = _Dim(last.size * size, last.stride, last.dense)
        else:
            found.append(_Dim(size, stride, dense.stride[d]))
    return tuple(reversed(found))


def _digits(dims: tuple[_Dim, ...], distance: int) -> list[int] | None:
    """Returns how far a distance in memory goes along each dim; None if it is no sum of steps along them."""
    found = []
    for dim in dims:
        found.append(distance // dim.stride)
        distance %= dim.stride
    return None if distance else found


@functools.lru_cache(maxsize=1 << 12)
def within(part: Layout, view: Layout, distance: int) -> tuple[Layout, int] | None:
    """Returns the layout of a view, and where it begins, in memory that holds the values of a part alone.

    That memory lies as `part.dense`. None is returned if the view shows anything else, or if that is not certain.

    Args:
      part: What the part shows of its storage.
      view: What the view shows of the same storage; if it has elements, of the same dtype.
      distance: By how many memory elements the view begins after the part.
    """
    dims = _dims_of_part(part)
    if distance < 0 or view.dtype != part.dtype or part.is_conj or not view.numel:
        return None
    last = _digits(dims, distance)
    if last is None:
        return None
    begin = sum(n * dim.dense for n, dim in zip(last, dims, strict=True))
    strides = []
    for size, stride in zip(view.size, view.stride, strict=True):
        steps = _digits(dims, stride) if size > 1 else [0] * len(dims)
        if steps is None:
            return None
        last = [n + (size - 1) * step for n, step in zip(last, steps, strict=True)]
        strides.append(sum(step * dim.dense for step, dim in zip(steps, dims, strict=True)))
    if any(n >= dim.size for n, dim in zip(last, dims, strict=True)):
        return None
    return layout_of(view.size, strides, view.dtype, view.is_conj), begin
