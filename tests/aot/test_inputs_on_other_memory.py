"""Inputs that require grad and show other memory inside, by `set_` and `.data =`: as they do eagerly."""

import pytest

import jaxaot as ja


def shows_new_values(a, w):
    b = ja.arange(3.0)
    with ja.no_grad():
        a.set_(b)
    return a * b


def is_written_afterwards(a, w):
    b = ja.arange(3.0)
    with ja.no_grad():
        a.set_(b)
    product = a * b
    a.mul_(2)
    return product + a


def shows_a_strided_part(a, w):
    column, double = ja.arange(6.0).view(2, 3).t()[:, 0], a * 2
    with ja.no_grad():
        a.set_(column)
    return a * column * double


def has_other_data(a, w):
    a.data = ja.arange(3.0)
    return a * a


def shows_another_input(a, w):
    with ja.no_grad():
        a.set_(w)
        w.mul_(2)
    return a + w


@pytest.mark.parametrize(
    "fn", [shows_new_values, is_written_afterwards, shows_a_strided_part, has_other_data, shows_another_input]
)
def test_gradients_go_where_they_went(fn):
    found = []
    for run in (fn, ja.aot.aot_function(fn, "interpret")):
        x, w = ja.ones(3, requires_grad=True), ja.ones(3)
        y = x + 1
        result = run(y, w)
        result.sum().backward()
        assert x.grad is not None
        found.append((x.grad.tolist(), y.tolist(), w.tolist(), result.tolist(), y.requires_grad))
    assert found[0] == found[1]
