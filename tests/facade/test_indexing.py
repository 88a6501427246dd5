"""What an index may be, and what it means: each case by PyTorch, eagerly and compiled."""

from __future__ import annotations

import importlib
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from jaxaot.views.layout import contiguous
from jaxaot.views.window import find_window
from tests.cases import each

WAYS = ["eager", "compiled", pytest.param("torch", marks=pytest.mark.oracle)]


def run(way, fn, *arrays):
    """Returns what a program makes of tensors, as lists; a program takes a library and the tensors."""
    m = importlib.import_module("torch") if way == "torch" else ja
    tensors = [m.tensor(array) for array in arrays]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if way == "compiled":
            return ja.compile(lambda *args: fn(ja, *args))(*tensors).tolist()
        return fn(m, *tensors).tolist()


def written(index, value):
    """Returns a program that assigns to an index; both are functions of the library."""

    def fn(m, x):
        x = x.clone()
        x[index(m)] = value(m)
        return x

    return fn


READ = {
    "True adds a dim of one": (lambda m, x: x[True], [[[0, 1, 2], [3, 4, 5]]]),
    "False adds a dim of none": (lambda m, x: x[False], []),
    "True after a slice": (lambda m, x: x[:, True], [[[0, 1, 2]], [[3, 4, 5]]]),
    "True beside a number": (lambda m, x: x[1, True], [[3, 4, 5]]),
    "True beside a list": (lambda m, x: x[True, [0, 1]], [[0, 1, 2], [3, 4, 5]]),
    "two bools are one dim": (lambda m, x: x[True, True], [[[0, 1, 2], [3, 4, 5]]]),
    "a bool of NumPy": (lambda m, x: x[np.array([True, False])], [[0, 1, 2]]),
    "True on a tensor without dims": (lambda m, x: m.tensor(5.0)[True], [5]),
    "a list of slices and lists": (lambda m, x: x[[slice(None), [0, 2]]], [[0, 2], [3, 5]]),
    "a list with None": (lambda m, x: x[[None, 0]], [[0, 1, 2]]),
    "a list with an ellipsis": (lambda m, x: x[[..., 0]], [0, 3]),
    "a list of lists": (lambda m, x: x[[[0, 1], [1, 2]]], [1, 5]),
    "a list of tensors": (lambda m, x: x[[m.tensor(0), m.tensor(1)]], 1),
    "a list of numbers": (lambda m, x: x[[1, 0]], [[3, 4, 5], [0, 1, 2]]),
    "a range": (lambda m, x: x[:, range(0, 3, 2)], [[0, 2], [3, 5]]),
    "tuples in a tuple": (lambda m, x: x[((0, 1), (1, 2))], [1, 5]),
    "bytes are a mask": (lambda m, x: x[:, np.array([0, 1, 1], np.uint8)], [[1, 2], [4, 5]]),
    "bytes are a mask of rows": (lambda m, x: x[np.array([0, 1], np.uint8)], [[3, 4, 5]]),
    "a byte without dims": (lambda m, x: x[np.array(1, np.uint8)], [[[0, 1, 2], [3, 4, 5]]]),
}

WRITTEN = {
    "True": (written(lambda m: True, lambda m: 9.0), [[9, 9, 9], [9, 9, 9]]),
    "True, a tensor": (written(lambda m: True, lambda m: m.tensor([7.0, 8, 9])), [[7, 8, 9], [7, 8, 9]]),
    "False": (written(lambda m: False, lambda m: 9.0), [[0, 1, 2], [3, 4, 5]]),
    "a list of slices and lists": (written(lambda m: [slice(None), [0, 2]], lambda m: 9.0), [[9, 1, 9], [9, 4, 9]]),
    "leading ones, by ranges": (
        written(lambda m: (range(2), range(2)), lambda m: m.tensor([[8.0, 9]])),
        [[8, 1, 2], [3, 9, 5]],
    ),
    "leading ones, by a list": (
        written(lambda m: [0], lambda m: m.tensor([[[[7.0, 8, 9]]]])),
        [[7, 8, 9], [3, 4, 5]],
    ),
    "bytes are a mask": (
        written(lambda m: m.tensor([[0, 1, 1], [1, 0, 0]], dtype=m.uint8), lambda m: m.tensor([7.0, 8, 9])),
        [[0, 7, 8], [9, 4, 5]],
    ),
    "bytes, each dim": (
        written(
            lambda m: (np.array([0, 1], np.uint8), np.array([0, 0, 1], np.uint8)),
            lambda m: m.tensor(9.0),
        ),
        [[0, 1, 2], [3, 4, 9]],
    ),
}


@pytest.mark.few(28)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", READ)
def test_reading_by(name, way):
    fn, expected = READ[name]
    assert run(way, fn, np.arange(6.0, dtype=np.float32).reshape(2, 3)) == expected


@pytest.mark.few(16)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", WRITTEN)
def test_writing_by(name, way):
    fn, expected = WRITTEN[name]
    assert run(way, fn, np.arange(6.0, dtype=np.float32).reshape(2, 3)) == expected


@pytest.mark.parametrize("way", WAYS)
def test_bytes_that_are_computed_select_by_a_mask(way):
    def fn(m, x, mask):
        x = x.clone()
        x[mask] *= 2
        return x + x[mask].sum()

    assert run(way, fn, np.arange(3.0, dtype=np.float32), np.array([0, 1, 1], np.uint8)) == [6, 8, 10]


@pytest.mark.parametrize("way", WAYS)
def test_places_accumulate_where_bytes_are_true(way):
    fn = lambda m, x, mask: x.index_put((mask,), m.tensor(1.0), accumulate=True)
    assert run(way, fn, np.arange(3.0, dtype=np.float32), np.array([0, 1, 1], np.uint8)) == [0, 2, 3]


@each(
    "index, value",
    [
        (lambda m: 0.5, None),
        (lambda m: np.float32(1), None),
        (lambda m: object(), None),
        (lambda m: m.tensor([0.5]), None),
        (lambda m: m.tensor([0, 1], dtype=m.int8), None),
        (lambda m: m.tensor([0, 1, 1, 0], dtype=m.uint8), None),
        (lambda m: 0.5, 1.0),
    ],
)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_no_index_is_an_index_error(index, value, way):
    fn = (lambda m, x: x[index(m)]) if value is None else written(index, lambda m: value)
    with pytest.raises(IndexError):
        run(way, fn, np.arange(3.0, dtype=np.float32))


def test_a_value_that_does_not_fit_is_refused_by_its_shapes():
    with pytest.raises(errors.ShapeMismatchError, match=r"shape mismatch: value tensor of shape \[2, 2\]"):
        ja.zeros(4, 4)[[0, 1], [0, 1]] = ja.ones(2, 2)


@pytest.mark.parametrize("index", [ja.tensor([1, 0, 1], dtype=ja.uint8), [slice(None)]])
def test_old_ways_of_indexing_warn_at_the_users_line(index):
    with pytest.warns(UserWarning, match="deprecated") as caught:
        ja.zeros(3)[index]
    assert caught[0].filename == __file__


def test_gradients_flow_through_masks_of_bytes():
    x = ja.ones(3, requires_grad=True)
    with pytest.warns(UserWarning, match="uint8"):
        (x[ja.tensor([0, 1, 1], dtype=ja.uint8)] ** 2).sum().backward()
    assert x.grad.tolist() == [0, 2, 2]


@pytest.mark.parametrize("stride", [1, 3])
def test_places_beyond_32_bits(stride):
    memory, n = contiguous((2**31 + 5,), np.dtype(np.int8)), 2
    view = contiguous((n,), np.dtype(np.int8)) if stride == 1 else type(memory)((n,), (stride,), memory.dtype)
    with jax.enable_x64(True):
        window, starts = find_window(memory, view, 2**31)
        base = jax.ShapeDtypeStruct(memory.size, memory.dtype)
        read = jax.make_jaxpr(window.apply)(base, jax.ShapeDtypeStruct(starts.shape, starts.dtype))
        new = jax.ShapeDtypeStruct(view.size, view.dtype)
        put = jax.eval_shape(lambda base, new: window.scatter(base, new, starts), base, new)
    assert starts.sum() >= 2**31 // stride and read.out_avals[0].shape == (n,) and put.shape == memory.size
    assert jnp.iinfo(starts.dtype).max > 2**31


def test_places_beyond_32_bits_need_x64():
    memory = contiguous((2**31 + 6,), np.dtype(np.int8))
    with pytest.raises(errors.StorageSizeError, match="jax_enable_x64"):
        find_window(memory, contiguous((2,), np.dtype(np.int8)), 2**31)


def assigned_to_a_mask(value):
    x = ja.arange(4)
    x[x > -1] = value


MISTAKES = {
    "a string as bound": (lambda x: x["0":"1"], TypeError, "slice indices must be integers"),
    "an index of a number": (lambda x: x.sum()[0], IndexError, r"invalid index of a 0-dim tensor"),
    "places of an empty dim": (lambda x: ja.empty(3, 0)[:, [0, 1]], IndexError, "for dimension with size 0"),
    "no value for a mask": (lambda x: assigned_to_a_mask(ja.tensor([])), RuntimeError, "shape mismatch: value tensor"),
    "along a dim with fewer dims": (
        lambda x: ja.take_along_dim(x, ja.tensor([0]), 0), RuntimeError, "the same number of dimensions",
    ),
    "a tensor as shape": (lambda x: ja.unravel_index(ja.tensor(1), ja.tensor([2, 2])), TypeError, "got a tensor"),
    "a float in a shape": (lambda x: ja.unravel_index(ja.tensor(1), (2, 2.0)), TypeError, "only contain ints"),
}  # fmt: skip


@each("name", MISTAKES)
def test_a_mistaken_index_is_refused_in_words(name):
    mistake, kind, words = MISTAKES[name]
    with pytest.raises(kind, match=words):
        mistake(ja.arange(16.0).view(4, 4))


PUTS = {
    "two masks": lambda m, x: x.index_put((m.tensor([True, False]), m.tensor([True, False, True])), m.tensor(9.0)),
    "bytes and a mask": lambda m, x: m.index_put(
        x, (m.tensor([1, 1], dtype=m.uint8), m.tensor([True, False, True])), m.tensor([8.0, 9.0])
    ),
    "a mask behind places": lambda m, x: x.index_put((m.tensor([0, 1]), m.tensor([True, True, False])), m.tensor(9.0)),
    "places behind a mask": lambda m, x: x.clone().index_put_(
        indices=(m.tensor([True, True]), m.tensor([0, 2])), values=m.tensor([1.0, 2.0]), accumulate=True
    ),
    "a mask of all dims": lambda m, x: x.index_put((x > 2,), m.tensor(0.0)),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", PUTS)
def test_index_put_takes_masks_at_any_place(name):
    torch = pytest.importorskip("torch")
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert run("eager", PUTS[name], values) == run("torch", PUTS[name], torch.tensor(values))


def test_index_put_says_that_bytes_are_old():
    x, mask = ja.zeros(3), ja.tensor([1, 0, 1], dtype=ja.uint8)
    with pytest.warns(UserWarning, match="uint8 is now deprecated"):
        assert x.index_put_((mask,), ja.tensor(2.0)).tolist() == [2, 0, 2]


@pytest.mark.parametrize("masks", [([True, False], [True]), ([True, False, True],), ([True, False],) * 3])
def test_index_put_refuses_masks_that_do_not_fit(masks):
    with pytest.raises(IndexError):
        ja.zeros(2, 3).index_put_([ja.tensor(mask) for mask in masks], ja.tensor(1.0))
