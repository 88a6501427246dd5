"""Arguments that show parts of larger storages: read alone, they are values, wherever they lie."""

import numpy as np
import pytest

import jaxaot as ja
from tests.runtime.sized import rows, same


def table(n=20, m=3):
    return ja.tensor(rows(n, m))


@pytest.mark.slow
def test_one_program_serves_all_places_and_storages():
    w = ja.tensor(rows(3, 3), requires_grad=True)
    fn, data = ja.compile(lambda x: (x @ w).tanh().sum(), dynamic=False), table()
    for x in (data[:4], data[4:8], data[16:], table(9)[2:6], ja.tensor(rows(4, 3))):
        found = []
        for call in (fn, fn.fn):
            w.grad = None
            call(x).backward()
            found.append(w.grad)
        same(*found)
    assert fn.cache_info().misses == 1
    fn(ja.tensor(rows(4, 3), requires_grad=True))
    assert fn.cache_info().misses == 2


def test_views_and_columns_of_a_part():
    def fn(x, y):
        h = x[1:] * y.t()[:, :-1].t()
        return h.reshape(-1).cumsum(0), x.t() @ y, x[::2].sum(), x.flatten()[2:5], x.stride(), y.is_contiguous()

    compiled = ja.compile(fn, dynamic=False)
    ids = table(6, 9)
    for i in (0, 2):
        args = ids[:, i : i + 3], ids[:, i + 1 : i + 4]
        same(compiled(*args), fn(*args))
    assert compiled.cache_info().misses == 1


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x.mul_(2),
        lambda x: x[1:].add_(1).sum(),
        lambda x: x[1:],
        lambda x: x.view(-1),
        lambda x: x.sum() + x.storage_offset(),
        lambda x: x.as_strided((2, 2), (1, 1), 0).sum(),
        lambda x: x.as_strided((2, 2), (3, 1)).sum() + x._base.numel(),
        lambda x: ja.cond(x.sum() > 0, lambda: x * 2, lambda: x - 1),
        lambda x: x.detach(),
        lambda x: x.set_(ja.zeros(2)),
        lambda x: x.sum() + x.untyped_storage().nbytes(),
    ],
)
def test_what_does_more_than_read_has_the_storage(fn):
    compiled, tables = ja.compile(fn, dynamic=False), (table(), table())
    for begin in (0, 5):
        got, right = (call(data[begin : begin + 4]) for call, data in zip((compiled, fn), tables, strict=True))
        same((got, tables[0]), (right, tables[1]))
        if got.is_contiguous() and got.shape == (3, 3):
            assert (got._base is tables[0]) == (right._base is tables[1])


@pytest.mark.slow
def test_a_part_of_what_the_call_writes():
    def fn(x, y):
        x.mul_(2)
        return (y + 1).sum()

    compiled, tables = ja.compile(fn), (table(8), table(8))
    other = table(9)
    for place in (lambda data: (data, other[1:5]), lambda data: (data, data[1:5]), lambda data: (data[2:6], data[:3])):
        found = [(call(*place(data)), data) for call, data in zip((compiled, fn), tables, strict=True)]
        same(*found)


def test_a_write_between_forward_and_backward_is_no_matter_to_the_values():
    w = ja.tensor(rows(3), requires_grad=True)
    data = table()
    fn = ja.compile(lambda x: (x * w).sum())
    whole = ja.tensor(rows(4, 3))
    for x in (data[:4], whole):
        before = np.asarray(x).sum(0)
        w.grad = None
        loss = fn(x)
        x.zero_()
        loss.backward()
        np.testing.assert_allclose(w.grad.numpy(), before, rtol=1e-5)
