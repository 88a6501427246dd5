"""Views within a part of memory, of which the values alone are there: where they lie in these.

The values of a part fill memory of their own, without the gaps that the part leaves, in the same order of dims. A place
of the part is told by *digits*, one for each dim. Dims that follow each other without a gap count as one, so that a
view may run over both. Where dims overlap, a place has several such digits, and any of them do: the values are the
same.
"""

from __future__ import annotations

import functools

from jaxaot.views.layout import Layout, layout_of
from jaxaot.views.part import merged, steps_to


@functools.lru_cache(maxsize=1 << 12)
def _axes_of_part(part: Layout) -> list[tuple[int, int, int]]:
    """Returns (stride, size, stride without gaps) of the dims of a part, without those that are expanded."""
    dims = zip(part.stride, part.size, part.dense.stride, strict=True)
    return merged([(stride, n, dense) for stride, n, dense in dims if n > 1 and stride])


@functools.lru_cache(maxsize=1 << 12)
def within(part: Layout, view: Layout, distance: int) -> tuple[Layout, int] | None:
    """Returns the layout of a view, and where it begins, in memory that holds the values of a part alone.

    That memory lies as `part.dense`. None is returned if the view shows anything else, or if that is not certain.

    Args:
      part: What the part shows of its storage.
      view: What the view shows of the same storage; if it has elements, of the same dtype.
      distance: By how many memory elements the view begins after the part.
    """
    axes = _axes_of_part(part)
    if distance < 0 or view.dtype != part.dtype or part.is_conj or not view.numel:
        return None
    last = steps_to(axes, distance)
    if last is None:
        return None
    begin = sum(n * dense for n, (_, _, dense) in zip(last, axes, strict=True))
    strides = []
    for size, stride in zip(view.size, view.stride, strict=True):
        steps = steps_to(axes, stride if size > 1 else 0)
        if steps is None:
            return None
        last = [n + (size - 1) * step for n, step in zip(last, steps, strict=True)]
        strides.append(sum(step * dense for step, (_, _, dense) in zip(steps, axes, strict=True)))
    if any(n >= n_places for n, (_, n_places, _) in zip(last, axes, strict=True)):
        return None
    return layout_of(view.size, strides, view.dtype, view.is_conj), begin
