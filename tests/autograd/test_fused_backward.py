"""Straight chains of the tape as one kernel: the same gradients, hooks, order and freeing as without."""

from __future__ import annotations

import sys
import weakref

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.facade.kernels import fused_backward, grad_kernels
from jaxaot.tape.fusible import LONGEST
from tests.seeds import some


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Chains get their kernels the second time, and begin unseen."""
    monkeypatch.setattr(fused_backward, "OFTEN", 1)
    fused_backward.clear_fused()
    yield
    fused_backward.clear_fused()


@pytest.fixture
def ran(monkeypatch):
    """The lengths of the chains that ran as one kernel."""
    lengths = []

    def counting(fusible, cotangent, run=fused_backward.run_fused):
        gradients = run(fusible, cotangent)
        if gradients is not None:
            lengths.append(len(fusible.nodes))
        return gradients

    grad = sys.modules["jaxaot.facade.gradients.grad"]
    monkeypatch.setattr(grad, "_FUSED", grad._FUSED._replace(run_fused=counting))
    return lengths


def layers(x, *weights):
    for w in weights:
        x = (x @ w).tanh()
    return x.sum()


def residual(x, a, b):
    h = (x @ a).tanh()
    return ((h @ b).sigmoid() * h + h).exp().mean()


def shared(x, a, b):
    return ((x @ a).tanh() @ a).sin().sum() + ((x @ b).cos() @ a).sum()


def viewed(x, a, b):
    h = (x @ a).tanh().reshape(-1)[3:9].exp()
    return (h * h).sum() + (x @ b).transpose(0, 1).tanh().sum()


def written(x, a, b):
    h = (x @ a).tanh()
    h.mul_(2.0)
    h[0] = (x @ b)[1].tanh()
    return h.exp().sum()


def several(x, a, b):
    values, _ = (x @ a).tanh().sin().max(0)
    return (values.exp() @ b.tanh().sin()).sum()


def gradients(fn, *, dtype=ja.float32, passes=4, fuse=True):
    ja.manual_seed(0)
    x, a, b = (ja.randn(4, 4, dtype=dtype).requires_grad_() for _ in range(3))
    found = []
    with ja.config(fuse_backward=fuse):
        for _ in range(passes):
            for leaf in (x, a, b):
                leaf.grad = None
            loss = fn(x, a, b)
            (loss.real if loss.is_complex() else loss).backward()
            found.append([leaf.grad.numpy().copy() for leaf in (x, a, b) if leaf.grad is not None])
    return found


def used_often(x, a, b):
    h = (x @ a).tanh()
    return sum((h * k).sin().sum() for k in range(1, 5)) + (h @ b).sum()


@pytest.mark.few(2)
@pytest.mark.parametrize("fn", some([layers, residual, viewed, written, shared, several, used_often], 4))
def test_gradients_are_those_of_the_links(fn, ran):
    apart = gradients(fn, fuse=False)
    assert ran == []
    for found in gradients(fn):
        for gradient, expected in zip(found, apart[0], strict=True):
            np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)
    assert ran


@pytest.mark.slow
def test_complex_gradients(ran):
    apart = gradients(layers, dtype=ja.complex64, fuse=False)[0]
    together = gradients(layers, dtype=ja.complex64)[-1]
    assert ran
    for gradient, expected in zip(together, apart, strict=True):
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def test_a_chain_seen_seldom_compiles_nothing(monkeypatch, ran):
    monkeypatch.setattr(fused_backward, "OFTEN", 5)
    gradients(layers, passes=5)
    assert ran == [] and not fused_backward._fused_kernels
    gradients(layers, passes=1)
    assert ran == [5] and len(fused_backward._fused_kernels) == 1


def test_long_chains_are_cut(ran):
    x = ja.ones(3, requires_grad=True)
    for _ in range(3):
        y = x
        for _ in range(2 * LONGEST + 3):
            y = y.sin()
        x.grad = None
        y.sum().backward()
    assert max(ran) == LONGEST and sum(ran) % (2 * LONGEST + 4) == 0


def test_a_hook_in_between_is_called_and_changes_the_gradient(ran):
    x, a, b = (ja.ones(2, 2, requires_grad=True) for _ in range(3))
    for iteration in range(4):
        a.grad = None
        seen = []
        h = (x @ a).tanh()
        out = (h @ b).sin().sum()
        if iteration == 3:
            h.register_hook(lambda g, seen=seen: seen.append(g.tolist()) or g * 0)
        out.backward()
    assert ran and len(seen) == 1 and a.grad.tolist() == [[0, 0], [0, 0]]


def test_hooks_on_leaves_run_between_the_nodes_they_stand_at():
    order = []
    x, a, b = (ja.ones(2, 2, requires_grad=True) for _ in range(3))
    b.register_hook(lambda g: order.append("b"))
    for _ in range(3):
        order.clear()
        h = (x @ a).tanh()
        out = (h.sin() @ b).sin().sum()
        h.register_hook(lambda g: order.append("h"))
        out.backward()
    assert order == ["b", "h"]


def test_retained_gradients_in_between(ran):
    x, a, b = (ja.ones(2, 2, requires_grad=True) for _ in range(3))
    for _ in range(3):
        h = (x @ a).tanh()
        (h @ b).sin().sum().backward()
    h = (x @ a).tanh()
    h.retain_grad()
    (h @ b).sin().sum().backward()
    assert ran and h.grad is not None and h.grad.shape == (2, 2)


def test_gradients_of_intermediates_and_of_some_inputs(ran):
    x, a, b = (ja.ones(2, 2, requires_grad=True) for _ in range(3))
    found = []
    for _ in range(3):
        h = (x @ a).tanh()
        loss = (h @ b).sin().sum()
        found.append([g.tolist() for g in ja.autograd.grad(loss, [h, a])])
    with ja.config(fuse_backward=False):
        h = (x @ a).tanh()
        apart = ja.autograd.grad((h @ b).sin().sum(), [h, a])
    assert ran and a.grad is None
    for pair in found:
        for gradient, expected in zip(pair, apart, strict=True):
            np.testing.assert_allclose(gradient, expected.numpy(), rtol=1e-6)


def test_the_graph_may_be_kept_and_is_freed_otherwise(ran):
    x, a, b = (ja.ones(2, 2, requires_grad=True) for _ in range(3))
    for _ in range(3):
        loss = layers(x, a, b)
        loss.backward()
    first = layers(x, a, b)
    a.grad = None
    first.backward(retain_graph=True)
    once = a.grad.numpy().copy()
    first.backward()
    np.testing.assert_allclose(a.grad.numpy(), 2 * once)
    with pytest.raises(ja.errors.BackwardTwiceError):
        first.backward()
    np.testing.assert_allclose(a.grad.numpy(), 2 * once)
    assert ran


def test_what_was_saved_is_freed_after_the_backward(ran):
    x, a = ja.ones(2, 2, requires_grad=True), ja.ones(2, 2, requires_grad=True)
    for _ in range(3):
        h = (x @ a).tanh()
        held = weakref.ref(h._storage.array)
        loss = (h @ a).sin().sum()
        del h
        assert held() is not None
        loss.backward()
        assert held() is None
    assert ran


def test_checked_versions_keep_nodes_apart(ran):
    x = ja.ones(3, requires_grad=True)
    for _ in range(3):
        x.sin().exp().sin().sum().backward()
    assert ran
    ja.autograd.set_version_check("error")
    try:
        h = x.sin()
        loss = (h.exp() * h).sin().sum()
        h.detach().mul_(2)
        with pytest.raises(ja.errors.SavedTensorWrittenError):
            loss.backward()
    finally:
        ja.autograd.set_version_check("off")


def test_a_chain_does_not_overtake_a_later_branch():
    order = []
    x = ja.ones(2, requires_grad=True)
    for _ in range(4):
        order.clear()
        early = x.sin().exp()
        late = x.cos()
        late.register_hook(lambda g: order.append("late"))
        early.register_hook(lambda g: order.append("early"))
        (early.sin() + late).sum().backward()
    assert order == ["late", "early"]


def test_large_operations_run_apart(ran, monkeypatch):
    monkeypatch.setattr(grad_kernels, "SMALL", 0)
    x = ja.ones(3, 5, 7, requires_grad=True)
    for _ in range(3):
        x.sin().exp().sin().sum().backward()
    assert ran == []


@pytest.mark.slow
def test_kernels_of_chains_are_bounded(monkeypatch):
    monkeypatch.setattr(fused_backward, "_MAX_KERNELS", 2)
    monkeypatch.setattr(fused_backward, "_MAX_COUNTED", 3)
    for n in range(3, 7):
        x = ja.ones(n, requires_grad=True)
        for _ in range(3):
            x.sin().exp().sum().backward()
    assert len(fused_backward._fused_kernels) == 2 and len(fused_backward._times_seen) <= 3


def test_gradients_that_are_the_cotangent_run_nothing():
    x, y = ja.ones(3, requires_grad=True), ja.ones(3, requires_grad=True)
    z = x + y
    kernel = z.grad_fn.kernel
    z.backward(ja.tensor([1.0, 2.0, 3.0]))
    assert kernel.passes_through == ja.float32 and x.grad.tolist() == y.grad.tolist() == [1, 2, 3]
    x.grad.mul_(2)  # the two hold one array
    assert x.grad.tolist() == [2, 4, 6] and y.grad.tolist() == [1, 2, 3]


@pytest.mark.slow
def test_a_cotangent_of_another_dtype_is_converted():
    x, y = ja.ones(3, requires_grad=True), ja.ones(3, requires_grad=True)
    (x + y).sum().backward()
    z = x + y
    z.backward(ja.ones(3, dtype=ja.float16))
    assert x.grad.dtype == ja.float32 and x.grad.tolist() == [2, 2, 2]
