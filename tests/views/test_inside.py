"""Views within a part of memory: what they show of its values is what they show of the memory."""

import random

import jax.numpy as jnp
import numpy as np
import pytest

from jaxaot.views.inside import within
from jaxaot.views.layout import contiguous, layout_of
from jaxaot.views.window import window_in_graph
from tests.seeds import seeds

I32 = np.dtype(np.int32)


def shown(memory, view, begin):
    strides = tuple(s * memory.itemsize for s in view.stride)
    return np.lib.stride_tricks.as_strided(memory[begin:], view.size, strides)


def random_part(choose):
    """Returns a layout whose places do not overlap, with gaps or without, its dims in any order."""
    size = [choose.choice((1, 2, 3, 4)) for _ in range(choose.randrange(1, 4))]
    stride, step = [0] * len(size), 1
    for axis in choose.sample(range(len(size)), len(size)):
        stride[axis] = step + choose.choice((0, 0, 1, 3))
        step = stride[axis] * size[axis]
    return layout_of(size, stride, I32)


def random_view(choose, part):
    """Returns a view of a part, by slices, steps, selected and exchanged dims."""
    size, stride, begin = list(part.size), list(part.stride), 0
    for axis in reversed(range(len(size))):
        first, step = choose.randrange(size[axis]), choose.choice((1, 1, 2))
        begin += first * stride[axis]
        size[axis], stride[axis] = -(-(size[axis] - first) // step), stride[axis] * step
        if choose.random() < 0.2:
            del size[axis], stride[axis]
    order = choose.sample(range(len(size)), len(size))
    return layout_of([size[i] for i in order], [stride[i] for i in order], I32), begin


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(6, 1))
def test_what_a_view_shows_of_a_part(seed):
    choose = random.Random(seed)
    for _ in range(30):
        part = random_part(choose)
        view, begin = random_view(choose, part)
        memory = np.arange(part.reach, dtype=np.int32)
        values = shown(memory, part, 0)
        found = within(part, view, begin)
        assert found is not None
        window, starts = window_in_graph(part.dense, *found)
        np.testing.assert_array_equal(window.apply(jnp.asarray(values.copy()), starts), shown(memory, view, begin))


def test_what_is_not_within_a_part():
    part = layout_of((3, 4), (6, 1), I32)
    assert within(part, contiguous((3, 5), I32), 0) is None
    assert within(part, layout_of((2, 6), (6, 1), I32), 0) is None  # over the gap
    assert within(part, contiguous((4,), I32), 4) is None  # begins in the gap
    assert within(part, layout_of((3, 4), (6, 1), I32), 6) is None  # beyond the end
    assert within(part, contiguous((2,), np.dtype(np.float64)), 0) is None
    assert within(contiguous((3, 4), I32), contiguous((12,), I32), 0) is not None  # without a gap, dims are one
    assert (
        within(layout_of((3, 3), (1, 1), I32), layout_of((3,), (1,), I32), 1) is None
    )  # dims overlap, none goes so far


def test_places_of_expanded_and_overlapping_parts_have_any_of_their_digits():
    part = layout_of((3, 5, 2), (2, 0, 1), I32)
    assert within(part, layout_of((5, 2), (0, 1), I32), 2) == (layout_of((5, 2), (0, 1), I32), part.dense.stride[0])
    assert within(layout_of((3, 3), (1, 1), I32), layout_of((2,), (1,), I32), 0) is not None
