"""Windows against plain enumeration of memory: reading, writing, and the laws of lenses."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxaot.views.layout import Layout, contiguous, layout_of
from jaxaot.views.window import BoxWindow, EmptyWindow, IndexWindow, find_window

FEW_OR_MANY = [8, pytest.param(200, marks=pytest.mark.slow)]

F32 = np.dtype(np.float32)
I32 = np.dtype(np.int32)


def counting(storage: Layout):
    """Returns the array of a storage whose memory holds 0, 1, 2, …"""
    return from_memory(storage, np.arange(storage.numel, dtype=np.int32))


def from_memory(storage: Layout, memory: np.ndarray):
    strides = tuple(s * memory.itemsize for s in storage.stride)
    return jnp.asarray(np.lib.stride_tricks.as_strided(memory, storage.size, strides).copy())


def shown(memory: np.ndarray, view: Layout, offset: int) -> np.ndarray:
    strides = tuple(s * memory.itemsize for s in view.stride)
    return np.lib.stride_tricks.as_strided(memory[offset:], view.size, strides)


def random_storage(choose: random.Random) -> Layout:
    """Returns a dense layout, its dims in any order of memory."""
    size = [choose.choice((1, 2, 2, 3, 4, 6)) for _ in range(choose.randrange(4))]
    order = list(range(len(size)))
    choose.shuffle(order)
    stride, step = [0] * len(size), 1
    for axis in order:
        stride[axis] = step
        step *= size[axis]
    return layout_of(size, stride, I32)


def random_view(choose: random.Random, storage: Layout) -> tuple[Layout, int]:
    """Returns what a few slices, selects, permutes, merges and diagonals leave of a storage."""
    size, stride, offset = list(storage.size), list(storage.stride), 0
    for _ in range(choose.randrange(6)):
        if not size:
            break
        axis = choose.randrange(len(size))
        match choose.randrange(7):
            case 0 if size[axis]:  # select
                offset += choose.randrange(size[axis]) * stride[axis]
                del size[axis], stride[axis]
            case 1 | 2 if size[axis]:  # slice
                start, step = choose.randrange(size[axis]), choose.choice((1, 1, 2, 3))
                n = choose.randint(1, -(-(size[axis] - start) // step))
                offset, size[axis], stride[axis] = offset + start * stride[axis], n, stride[axis] * step
            case 3:  # permute
                order = list(range(len(size)))
                choose.shuffle(order)
                size, stride = [size[i] for i in order], [stride[i] for i in order]
            case 4 if size[axis] % 2 == 0 and size[axis]:  # unflatten
                size[axis : axis + 1] = [size[axis] // 2, 2]
                stride[axis : axis + 1] = [stride[axis] * 2, stride[axis]]
            case 5 if len(size) > 1:  # diagonal
                n, step = min(size[0], size[1]), stride[0] + stride[1]
                size, stride = [*size[2:], n], [*stride[2:], step]
            case 6:  # unsqueeze
                size.insert(axis, 1)
                stride.insert(axis, choose.choice((1, 5, stride[axis] * size[axis + 1])))
    return layout_of(size, stride, I32), offset


def cases(n: int):
    for seed in range(n):
        choose = random.Random(seed)
        storage = random_storage(choose)
        view, offset = random_view(choose, storage)
        assert offset + view.reach <= max(storage.numel, 1)
        yield seed, storage, view, offset


@pytest.mark.slow
def test_random_views_read_and_write_what_enumeration_says():
    n_boxes = 0
    for seed, storage, view, offset in cases(100):
        window, starts = find_window(storage, view, offset)
        n_boxes += isinstance(window, BoxWindow)
        base = counting(storage)
        memory = np.arange(storage.numel, dtype=np.int32)
        label = f"seed {seed}: {view} at {offset} of {storage} by {window}"
        np.testing.assert_array_equal(window.apply(base, starts), shown(memory, view, offset), label)
        if view.is_overlapping:
            continue
        update = -1 - np.arange(view.numel, dtype=np.int32).reshape(view.size)
        shown(memory, view, offset)[...] = update
        written = window.scatter(base, jnp.asarray(update), starts)
        np.testing.assert_array_equal(written, from_memory(storage, memory), label)
    assert n_boxes > 65  # most views are boxes: reshapes and one slice


@pytest.mark.slow
@pytest.mark.parametrize("n", FEW_OR_MANY)
def test_the_laws_of_lenses(n):
    for seed, storage, view, offset in cases(n):
        window, starts = find_window(storage, view, offset)
        if view.is_overlapping:
            continue
        base = counting(storage)
        x = jnp.asarray(np.random.default_rng(seed).integers(100, 200, view.size, dtype=np.int32))
        np.testing.assert_array_equal(window.scatter(base, window.apply(base, starts), starts), base)
        np.testing.assert_array_equal(window.apply(window.scatter(base, x, starts), starts), x)
        twice = window.scatter(window.scatter(base, x + 1, starts), x, starts)
        np.testing.assert_array_equal(twice, window.scatter(base, x, starts))


@pytest.mark.parametrize("n", FEW_OR_MANY)
def test_any_strides_read_what_as_strided_reads(n):
    """Also those that no chain of views makes: overlapping, expanded, cutting across rows."""
    for seed in range(n):
        choose = random.Random(seed)
        storage = contiguous((choose.randint(4, 30),), I32)
        size = [choose.randint(0, 4) for _ in range(choose.randrange(4))]
        stride = [choose.randint(0, 6) for _ in size]
        view = layout_of(size, stride, I32)
        room = storage.numel - view.reach
        if room < 0:
            continue
        offset = choose.randint(0, room) if view.numel else 0
        window, starts = find_window(storage, view, offset)
        memory = np.arange(storage.numel, dtype=np.int32)
        np.testing.assert_array_equal(window.apply(jnp.asarray(memory), starts), shown(memory, view, offset), f"{seed}")


@pytest.mark.slow
def test_starts_as_operands_are_starts_as_numbers():
    for _, storage, view, offset in cases(40):
        window, starts = find_window(storage, view, offset)
        base, operand = counting(storage), jnp.asarray(starts)
        np.testing.assert_array_equal(window.apply(base, operand), window.apply(base, starts))
        if not view.is_overlapping:
            update = jnp.full(view.size, -7, jnp.int32)
            np.testing.assert_array_equal(window.scatter(base, update, operand), window.scatter(base, update, starts))


def test_one_window_serves_every_start():
    storage = contiguous((5, 4), F32)
    row = contiguous((4,), F32)
    (first, first_starts), (last, last_starts) = find_window(storage, row, 0), find_window(storage, row, 16)
    assert first is last
    assert list(first_starts) == [0, 0] and list(last_starts) == [4, 0]


def primitives(fn, *args):
    found = []

    def walk(jaxpr):
        for eqn in jaxpr.eqns:
            found.append(eqn)
            for inner in eqn.params.values():
                if hasattr(inner, "jaxpr"):
                    walk(inner.jaxpr)

    walk(jax.make_jaxpr(fn)(*args).jaxpr)
    return found


def test_a_write_through_five_views_is_one_update_of_the_size_of_the_view():
    # x (8, 6, 4): x[2:6].transpose(0, 1)[1:3][:, 1].unsqueeze(0): one row out of each of two planes
    storage = contiguous((8, 6, 4), F32)
    view = layout_of((1, 2, 4), (1, 4, 1), F32)
    window, starts = find_window(storage, view, 3 * 24 + 1 * 4)
    base, update = jnp.zeros((8, 6, 4)), jnp.ones((1, 2, 4))
    eqns = primitives(lambda b, u: window.scatter(b, u, starts), base, update)
    (write,) = [eqn for eqn in eqns if eqn.primitive.name == "dynamic_update_slice"]
    assert write.invars[1].aval.size == 8
    assert not [eqn for eqn in eqns if eqn.primitive.name in ("scatter", "gather")]
    assert {eqn.primitive.name for eqn in eqns} <= {"dynamic_update_slice", "reshape", "transpose", "squeeze"}


@pytest.mark.few(8)
@pytest.mark.parametrize(
    ("size", "stride", "offset", "kind"),
    [
        ((4, 6), (6, 1), 0, BoxWindow),  # all of it
        ((6, 4), (1, 6), 0, BoxWindow),  # transposed
        ((2, 6), (6, 1), 6, BoxWindow),  # rows
        ((4, 3), (6, 2), 1, BoxWindow),  # every other column
        ((4, 6), (0, 1), 6, BoxWindow),  # an expanded row
        ((24,), (1,), 0, BoxWindow),  # flat
        ((4,), (7,), 0, IndexWindow),  # a diagonal
        ((3, 2), (1, 1), 0, IndexWindow),  # overlapping windows
        ((0, 6), (6, 1), 0, EmptyWindow),
    ],
)
def test_which_window_is_found(size, stride, offset, kind):
    window, _ = find_window(contiguous((4, 6), F32), layout_of(size, stride, F32), offset)
    assert isinstance(window, kind)
