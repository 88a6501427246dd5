"""`ja.func.vmap`: strides, offsets and `as_strided` inside are those of the whole tensor; each case by PyTorch too."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.errors import StorageSizeError, ViewError
from jaxaot.views.layout import layout_of, memory_places
from jaxaot.views.part import part_layout
from tests.cases import each

WAYS = ["eager", "compiled", pytest.param("torch", marks=pytest.mark.oracle)]


def library(way):
    return importlib.import_module("torch") if way == "torch" else ja


def called(way, fn, *args):
    return (ja.compile(fn) if way == "compiled" else fn)(*args)


WHOLE = {
    "row-major": lambda m: (m.arange(24.0).reshape(2, 3, 4), 0),
    "other dims are mapped": lambda m: (m.arange(24.0).reshape(2, 3, 4), 1),
    "the last dim is mapped": lambda m: (m.arange(24.0).reshape(2, 3, 4), 2),
    "transposed": lambda m: (m.arange(24.0).reshape(2, 3, 4).transpose(1, 2), 0),
    "moved": lambda m: (m.arange(24.0).reshape(3, 4, 2).movedim(-1, 0), 0),
    "with an offset": lambda m: (m.arange(48.0).reshape(2, 2, 3, 4)[1], 0),
    "with gaps": lambda m: (m.arange(240.0).reshape(2, 3, 2, 4, 5)[:, :, 1, :, 2], 0),
    "with gaps and mapped elsewhere": lambda m: (
        m.arange(240.0).reshape(3, 5, 2, 4, 2).movedim(-1, 1)[1, :, 1:4, 0],
        0,
    ),
    "with a step": lambda m: (m.arange(48.0).reshape(2, 6, 4)[:, ::2], 0),
    "without elements": lambda m: (m.zeros(2, 3, 0).transpose(1, 2), 0),
}


@pytest.mark.parametrize("way", WAYS)
@each("name", WHOLE)
def test_an_index_has_the_strides_of_the_whole(name, way):
    m, seen = library(way), []
    x, dim = WHOLE[name](m)
    m.func.vmap(lambda t: (seen.append((t.stride(), t.storage_offset(), t.is_contiguous())), t + 1)[1], dim)(x)
    part = x.select(dim, 0)
    assert seen == [(part.stride(), part.storage_offset(), part.is_contiguous())]


NUMBERS = np.arange(240.0)


def views_of(part):
    """Returns, of a matrix, sizes, strides and offsets of views that show some of its elements."""
    (n, k), (s, t), offset = part.shape, part.stride(), part.storage_offset()
    yield (n, k), (s, t), offset
    yield (k, n), (t, s), offset
    yield (5, n, k), (0, s, t), offset
    yield (n,), (s,), offset + t
    yield (2,), (s + t,), offset
    yield (2,), (2 * t,), offset + s
    yield (), (), offset + s + t


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@each("name", [name for name in WHOLE if name != "without elements"])
def test_as_strided_shows_what_it_shows_of_the_whole(name, way):
    m = library(way)
    x, dim = WHOLE[name](m)
    step, views = x.stride(dim), list(views_of(x.select(dim, 0)))
    # in ja.compile the argument is a base of its own, of the same strides
    inside = lambda x: m.func.vmap(lambda t: tuple(t.as_strided(*view).clone() for view in views), dim)(x)
    for (size, stride, offset), shown in zip(views, called(way, inside, x), strict=True):
        starts = [offset + i * step for i in range(x.shape[dim])]  # each element is the number of its place
        wanted = [np.lib.stride_tricks.as_strided(NUMBERS[n:], size, [8 * s for s in stride]) for n in starts]
        assert shown.tolist() == np.stack(wanted).tolist(), (size, stride, offset)


@pytest.mark.parametrize("way", [way for way in WAYS if way != "compiled"])
def test_what_as_strided_shows_is_a_view_of_the_argument(way):
    m = library(way)
    x = m.zeros(3, 2, 4).movedim(2, 0)  # four indices
    y = m.func.vmap(lambda t: t.as_strided((2,), (12,), 4))(x)
    assert y._base is m.func.vmap(lambda t: t.t())(x)._base
    y.fill_(1.0)
    assert x.sum().item() == 8


@pytest.mark.few(2)
@pytest.mark.parametrize("way", WAYS)
def test_gradients_and_writes_go_through_what_has_gaps(way):
    m = library(way)
    x = m.arange(48.0).reshape(2, 6, 4)[:, ::2]

    def loss(t):
        first = t.as_strided((4,), (1,), t.storage_offset())
        return (t * t).sum() + (3 * first).sum()

    slopes = lambda x: m.func.vmap(m.func.grad(loss))(x.clone())
    expected = 2 * x
    expected[:, 0] += 3
    assert called(way, slopes, x).tolist() == expected.tolist()
    m.func.vmap(lambda t: t.as_strided((3, 2), (8, 1), t.storage_offset()).zero_())(x)
    assert x.sum(-1).tolist() == [[5, 21, 37], [53, 69, 85]]


@pytest.mark.parametrize("way", WAYS)
def test_a_view_that_strides_do_not_have_is_refused(way):
    m = library(way)
    x = m.zeros(2, 3, 5)
    refused = ViewError if m is ja else RuntimeError
    for fn in (lambda t: t.view(10), lambda t: m.view_as_complex(t[:, :2].t())):
        with pytest.raises(refused):
            called(way, m.func.vmap(fn, in_dims=1), x)
    assert called(way, m.func.vmap(lambda t: t.reshape(10), in_dims=1), x).shape == (3, 10)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("way", WAYS)
def test_other_dtypes_of_what_has_gaps(way):
    m = library(way)
    z = m.view_as_complex(m.arange(48.0).reshape(2, 3, 4, 2)).transpose(0, 1)[:, :, 1::2]
    fn = lambda t: (m.view_as_real(t), t.imag, m.view_as_complex(m.view_as_real(t)))
    for made, whole in zip(called(way, m.func.vmap(fn), z), fn(z), strict=True):
        assert made.tolist() == whole.tolist()
    x = m.arange(24.0).reshape(2, 3, 4).transpose(0, 1)
    assert called(way, m.func.vmap(lambda t: t.view(m.int32)), x).tolist() == x.view(m.int32).tolist()


def test_memory_that_is_not_there_is_refused():
    x = ja.arange(24.0).reshape(2, 3, 4)[:, ::2]
    for size, stride, offset in [((2, 8), (0, 1), 0), ((4,), (1,), 6), ((3,), (8,), 0), ((1,), (1,), 12)]:
        with pytest.raises(ViewError, match=r"sizes \[2, 4\] and strides \[8, 1\] from element 0"):
            ja.func.vmap(lambda t: t.as_strided(size, stride, offset))(x)
    with pytest.raises(StorageSizeError, match="Resize the whole tensor"):
        ja.func.vmap(lambda t: t.resize_(20))(x)


@each("seed", range(60))
def test_places_without_gaps_are_those_of_the_same_elements(seed):
    rng = np.random.default_rng(seed)
    size, stride, reach = rng.integers(1, 5, 3).tolist(), [0, 0, 0], 1
    for d in rng.permutation(3).tolist():  # the fastest first
        stride[d] = reach + int(rng.integers(3))
        reach = (size[d] - 1) * stride[d] + reach
    origin = int(rng.integers(1, 5))
    layout = part_layout(tuple(size), tuple(stride), np.dtype("f4"), origin)
    dims = rng.permutation(3)[: rng.integers(4)].tolist()
    steps = [int(rng.integers(1, 3)) for _ in dims]
    shown = tuple(-(-size[d] // step) for d, step in zip(dims, steps, strict=True))
    strides = tuple(stride[d] * step for d, step in zip(dims, steps, strict=True))
    found, start = layout.without_gaps(layout_of(shown, strides, np.dtype("f4")), origin)
    dense = memory_places(layout.size, layout.dense.stride).ravel().tolist()
    places = dict(zip(memory_places(layout.size, layout.stride, origin).ravel().tolist(), dense, strict=True))
    wanted = [places[p] for p in memory_places(shown, strides, origin).ravel().tolist()]
    assert memory_places(found.size, found.stride, start).ravel().tolist() == wanted
