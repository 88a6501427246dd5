"""`set_version_check("error")` around compiled calls: a write to what their backward needs is refused, no other is."""

from __future__ import annotations

import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from tests.seeds import one_in

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture(autouse=True)
def checked():
    ja.autograd.set_version_check("error")
    yield
    ja.autograd.set_version_check("off")


def inputs():
    return ja.rand(3, 4), ja.rand(4, 5, requires_grad=True)


WRITES = {
    "the tensor": lambda x: x.add_(1),
    "a view": lambda x: x[0].add_(1),
    "a view of another shape": lambda x: x.view(-1)[1:].mul_(2),
    "detached": lambda x: x.detach().mul_(2),
    "data": lambda x: x.data.mul_(2),
    "set": lambda x: x.copy_(ja.zeros_like(x)),
}

PROGRAMS = {
    "matmul": lambda x, w: x @ w,
    "linear": lambda x, w: ja.nn.functional.linear(x, w.t()),
    "einsum": lambda x, w: ja.einsum("ij,jk->ik", x, w),
    "bmm": lambda x, w: ja.bmm(x[None], w[None]),
    "through a view": lambda x, w: x.t().contiguous().t() @ w,
}


@pytest.mark.few(10)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("write", one_in(2, WRITES))
def test_a_write_to_what_is_saved_is_refused(program, write):
    x, w = inputs()
    loss = ja.compile(PROGRAMS[program])(x, w).sum()
    with ja.no_grad():
        WRITES[write](x)
    with pytest.raises(errors.SavedTensorWrittenError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("write", WRITES)
def test_a_write_to_a_parameter_is_refused(write):
    x, w = inputs()
    x.requires_grad_()
    loss = ja.compile(lambda x, w: x @ w)(x, w).sum()
    with ja.no_grad():
        WRITES[write](w)
    with pytest.raises(errors.SavedTensorWrittenError):
        loss.backward()


def test_what_is_not_saved_may_be_written():
    x, w = inputs()
    fn = ja.compile(lambda x, w, bias: (x @ w + bias).sum())
    bias = ja.zeros(5, requires_grad=True)
    loss = fn(x, w, bias)
    with ja.no_grad():
        bias.add_(1)
        w.add_(1)  # the gradient of `x` is not wanted
    loss.backward()
    assert np.allclose(w.grad.numpy(), np.repeat(x.numpy().sum(0)[:, None], 5, 1))


def test_an_output_that_is_saved_must_not_be_written():
    w = ja.rand(3, requires_grad=True)
    y = ja.compile(lambda w: w.exp())(w)
    y.add_(1)
    with pytest.raises(errors.SavedTensorWrittenError, match="is at version 1; expected version 0"):
        y.sum().backward()
    z = ja.compile(lambda w: w * 2)(w)
    z.add_(1)
    z.sum().backward()


def test_what_the_call_itself_writes_is_no_reason():
    """A false alarm elsewhere: the graph has the value of before."""
    x, w = inputs()

    def fn(x, w):
        y = x @ w
        x.add_(1)
        return y.sum()

    before = x.numpy().copy()
    ja.compile(fn)(x, w).backward()
    assert np.allclose(w.grad.numpy(), np.repeat(before.sum(0)[:, None], 5, 1))


def test_a_second_call_sees_its_own_versions():
    x, w = inputs()
    fn = ja.compile(lambda x, w: (x @ w).sum())
    fn(x, w).backward()
    x.add_(1)
    fn(x, w).backward()
    first = fn(x, w)
    x.add_(1)
    fn(x, w).backward()
    with pytest.raises(errors.SavedTensorWrittenError):
        first.backward()


def test_a_tensor_of_the_graph_that_is_detached_in_place():
    x, w = inputs()
    h = w * 1.0
    loss = ja.compile(lambda x, h: (h * h).sum())(x, h)
    h.detach_()
    with pytest.raises(errors.SavedTensorDetachedError):
        loss.backward()


def test_off_nothing_is_refused():
    ja.autograd.set_version_check("off")
    x, w = inputs()
    before = x.numpy().copy()
    loss = ja.compile(lambda x, w: x @ w)(x, w).sum()
    x.zero_()
    loss.backward()
    assert np.allclose(w.grad.numpy(), np.repeat(before.sum(0)[:, None], 5, 1))
