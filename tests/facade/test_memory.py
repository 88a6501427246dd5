"""What shares memory and how it lies there: each case by PyTorch, eagerly and compiled."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from tests.cases import each

WAYS = ["eager", "compiled", pytest.param("torch", marks=pytest.mark.oracle)]


def run(way, fn):
    """Returns the observations of a program, which takes a library."""
    m = importlib.import_module("torch") if way == "torch" else ja
    return (ja.compile(lambda: fn(ja)) if way == "compiled" else lambda: fn(m))()


# -- views of conjugates -----------------------------------------------------------------------------------------------


def write_imag(m):
    x = m.zeros(3, dtype=m.complex64)
    x.conj().imag[1:].fill_(1.0)
    x.conj().real.add_(2.0)
    return x


def add_to_imag(m):
    x = m.zeros(3, dtype=m.complex64) + 1j
    shown = x.conj().imag
    shown.add_(3.0)
    x.add_(1j)
    return m.complex(x.real, shown + 0)


def copied_imag(m):
    x = m.zeros(3, dtype=m.complex64) + 1j
    shown = x.conj().imag.resolve_neg()
    shown.fill_(9.0)
    return x + shown


@pytest.mark.few(3)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "fn, expected",
    [
        (write_imag, [2, 2 - 1j, 2 - 1j]),
        (add_to_imag, [1j] * 3),
        (copied_imag, [9 + 1j] * 3),
    ],
)
def test_the_imaginary_part_of_a_conjugate_is_a_view(fn, expected, way):
    assert run(way, fn).tolist() == expected


def test_gradients_through_the_imaginary_part_of_a_conjugate():
    written = ja.tensor([1.0, 2.0], requires_grad=True)
    x = ja.zeros(2, dtype=ja.complex64)
    x.conj().imag.copy_(written)
    (x.imag * ja.tensor([1.0, 3.0])).sum().backward()
    assert written.grad.tolist() == [-1, -3]
    z = ja.tensor([1 + 2j, 3 - 4j], requires_grad=True)
    (z.conj().imag ** 2).sum().backward()
    assert z.grad.tolist() == [4j, -8j]


def test_negatives_say_so_and_are_not_read_as_bytes():
    shown = ja.tensor([1 + 2j]).conj().imag
    assert shown.is_neg() and not shown.is_conj() and shown._is_view()
    with pytest.raises(errors.DtypeError, match="resolve_neg"):
        shown.view(ja.int32)


# -- how memory lies ---------------------------------------------------------------------------------------------------


STRIDES = {
    "sort": (lambda m, x: x.t().sort(0)[0], (1, 6)),
    "places of sort": (lambda m, x: x.t().sort(0)[1], (1, 6)),
    "argsort": (lambda m, x: x.t().argsort(1), (1, 6)),
    "msort": (lambda m, x: x.t().msort(), (1, 6)),
    "sort of every second column": (lambda m, x: x[:, ::2].sort()[0], (3, 1)),
    "all of a row": (lambda m, x: x[0, :, None].mT[:], (1, 1)),
    "the same dtype": (lambda m, x: x[0, :, None].mT.view(x.dtype), (1, 1)),
    "resized": (lambda m, x: m.zeros(16).resize_((1, 2, 2, 4), memory_format=m.channels_last), (16, 1, 8, 2)),
    "of its own size": (lambda m, x: m.zeros(1, 2, 2, 4).resize_(1, 2, 2, 4, memory_format=m.channels_last), (16, 1, 8, 2)),  # noqa: E501
    "resized as": (
        lambda m, x: m.zeros(16).resize_as_(
            m.zeros(1, 2, 2, 4).to(memory_format=m.channels_last), memory_format=m.preserve_format
        ),
        (16, 1, 8, 2),
    ),
}  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("way", WAYS)
@each("name", STRIDES)
def test_strides_of(name, way):
    fn, expected = STRIDES[name]
    assert run(way, lambda m: fn(m, m.ones(4, 6))).stride() == expected


@each(
    "fn",
    [
        lambda m: m.arange(5.0)[2:].as_strided((2,), (1,), -1),
        lambda m: m.arange(5.0).as_strided((-1,), (1,), 0),
        lambda m: m.arange(5.0).as_strided_((2,), (1,), -1),
        lambda m: m.as_strided_copy(m.arange(5.0), (2,), (1,), -1),
        lambda m: m.arange(5.0).as_strided_scatter(m.ones(2), (2,), (1,), -1),
        lambda m: m.empty(0).set_(m.arange(5.0).untyped_storage(), -1, (2,), (1,)),
        lambda m: m.zeros(16).resize_((2, 8), memory_format=m.preserve_format),
        lambda m: m.zeros(16).resize_((2, 8), memory_format=m.channels_last),
    ],
)
@pytest.mark.parametrize("way", WAYS)
def test_places_that_memory_does_not_have(fn, way):
    with pytest.raises(RuntimeError):
        run(way, fn)


# -- leaves and their memory -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_a_view_of_what_became_a_leaf_is_not_written(way):
    def fn(m):
        a = m.zeros(4)
        b = a[:]
        c = b[1:3]
        a.requires_grad = True
        with m.no_grad():
            b.add_(1)
        return c.add_(5)

    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        run(way, fn)


@pytest.mark.parametrize("way", ["eager", pytest.param("torch", marks=pytest.mark.oracle)])
def test_a_leaf_that_was_set_is_not_what_was_used_before(way):
    def fn(m):
        x = m.ones(2, requires_grad=True)
        before = m.autograd.graph.get_gradient_edge(x)
        y = x * 2
        with m.no_grad():
            x.set_(m.zeros(2))
        with pytest.raises(RuntimeError, match="not have been used in the graph"):
            m.autograd.grad(y.sum(), x, retain_graph=True)
        (of_edge,) = m.autograd.grad(y.sum(), before, retain_graph=True)
        y.sum().backward()
        (x * 3).sum().backward()
        return [of_edge.tolist(), x.grad.tolist()]

    assert run(way, fn) == [[2, 2], [5, 5]]


@pytest.mark.parametrize("way", WAYS)
def test_data_of_what_requires_grad_is_of_floats(way):
    def fn(m):
        a = m.ones(1, requires_grad=True)
        a.data = m.tensor([3])

    with pytest.raises(RuntimeError, match="floating point or complex dtype"):
        run(way, fn)


# -- storages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["eager", pytest.param("torch", marks=pytest.mark.oracle)])
def test_a_storage_is_a_row_of_numbers(way):
    def fn(m):
        x = m.arange(6.0)
        row = x[2:].storage()
        facts = [len(row), row.size(), row.nbytes(), row.element_size(), row[2], list(row), len(x.untyped_storage())]
        row[1] = 9.0
        y = m.empty(0).set_(row, 1, (2,), (2,))
        y.add_(1)
        return [*facts, row.tolist(), x.tolist(), m.is_storage(row), str(row.dtype).removeprefix("torch.")]

    numbers, after = [0, 1, 2, 3, 4, 5], [0, 10, 2, 4, 4, 5]
    assert run(way, fn) == [6, 6, 24, 4, 2, numbers, 24, after, after, True, "float32"]


def fill_with_bytes(m):
    x = m.ones(4, requires_grad=True)
    y, part = x.exp(), m.arange(5)[1:3]
    x.untyped_storage().fill_(0)
    part.untyped_storage().fill_(300)
    return [x, y, part, m.zeros(2, dtype=m.bool).untyped_storage().fill_(1).nbytes(), x._version]


def copy_bytes(m):
    x, seen, ints = m.zeros(2, 3).t(), m.zeros(4), m.arange(4, dtype=m.int32)
    x.untyped_storage().copy_(m.arange(6.0).untyped_storage(), non_blocking=True)
    seen.untyped_storage().copy_(ints.untyped_storage())
    return [x, seen.view(m.int32), seen._version]


@pytest.mark.parametrize("way", WAYS)
@each("fn", [fill_with_bytes, copy_bytes])
def test_bytes_are_written_unseen_by_gradients_and_versions(fn, way):
    shown = [part.tolist() if hasattr(part, "tolist") else part for part in run(way, fn)]
    many = 0x2C2C2C2C2C2C2C2C if way == "torch" else 0x2C2C2C2C
    filled = [[0] * 4, [np.float32(math.e)] * 4, [many] * 2, 2, 0]
    expected = filled if fn is fill_with_bytes else [[[0, 3], [1, 4], [2, 5]], [0, 1, 2, 3], 0]
    assert shown[1] == pytest.approx(expected[1], rel=1e-6) and [shown[0], *shown[2:]] == [expected[0], *expected[2:]]


def test_a_storage_is_not_indexed_beyond_its_end():
    row = ja.zeros(3).storage()
    row.fill_(2.0)
    assert row.resize_(4).size() == 4 and row.untyped() is not None and row.data_ptr()
    with pytest.raises(errors.DimError):
        row[4]
    with pytest.raises(errors.TensorTypeError):
        row[1:]
    assert list(ja.ones(2).storage()) == [1, 1]


def trimmed():
    """Returns a contiguous view with as many elements as are left of its storage, all of them beyond its end."""
    x = ja.arange(6.0)
    y = x[4:]
    x.untyped_storage().resize_(8)
    return x, y


BEYOND = {
    "computed with": lambda y: y * 1,
    "written": lambda y: y.add_(10),
    "written by a foreach": lambda y: ja._foreach_add_([y], 1.0),
    "an out=": lambda y: ja.add(ja.ones(2), 1, out=y),
    "an item": lambda y: y[0].item(),
    "a list": lambda y: y.tolist(),
    "NumPy": lambda y: y.numpy(),
    "dlpack": lambda y: y.__dlpack__(),
    "bytes": lambda y: y.view(ja.int32).tolist(),
    "copied": lambda y: y.clone(),
    "a derivative": lambda y: (y.requires_grad_() * 2).sum().backward(),
    "saved": lambda y: ja.save({"y": y}, "never"),
    "an argument": lambda y: ja.compile(lambda t: t * 1)(y),
    "a written argument": lambda y: ja.compile(lambda t: t.add_(1))(y),
    "captured": lambda y: ja.compile(lambda t: t + y)(ja.ones(2)),
}


@each("name", BEYOND)
def test_a_view_beyond_the_end_of_a_trimmed_storage_is_refused(name):
    x, y = trimmed()
    with pytest.raises(errors.StorageSizeError, match="resized below"):
        BEYOND[name](y)
    assert x[:2].tolist() == [0, 1] and "no values" in repr(y)


def test_a_trimmed_storage_is_told_apart_until_it_is_as_long_as_it_was():
    add = ja.compile(lambda t: t.add_(1))
    assert add(ja.arange(6.0)[4:]).tolist() == [5, 6] and add(ja.arange(2.0)).tolist() == [1, 2]
    x, y = trimmed()
    with pytest.raises(errors.StorageSizeError, match="resized below"):
        add(y)
    with pytest.raises(errors.StorageSizeError, match="resized below"):
        y.clone()
    assert add(x[:2]).tolist() == [1, 2]

    def trim(t):
        part = t[4:]
        t.untyped_storage().resize_(8)
        return part

    part = ja.compile(trim)(z := ja.arange(6.0))
    with pytest.raises(errors.StorageSizeError, match="resized below"):
        part.tolist()
    for storage in (z.untyped_storage(), x.untyped_storage()):
        storage.resize_(0)
        storage.resize_(8)
        ja.zeros(0).set_(storage, 0, (2,)).copy_(ja.ones(2))
    with pytest.raises(errors.StorageSizeError, match="resized below"):
        (y + 1, part + 1)
    x.untyped_storage().resize_(24)
    assert y.copy_(ja.ones(2)).tolist() == [1, 1] and add(y).tolist() == [2, 2]
