"""The tape and its engine: order, accumulation, hooks, freeing, depth."""

from __future__ import annotations

import gc
import threading
import weakref

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors


def test_gradients_accumulate_and_are_shared_by_all_uses():
    w = ja.tensor([2.0], requires_grad=True)
    (w * w + w).sum().backward()
    (w * 3).sum().backward()
    assert w.grad.tolist() == [8]


def deep_chain(w, n):
    x = w
    for _ in range(n):
        x = x + 1
    return x


@pytest.mark.slow
def test_a_deep_chain_needs_no_recursion():
    w = ja.tensor([1.0], requires_grad=True)
    deep_chain(w, 3_000).backward()
    assert w.grad.tolist() == [1]
    dropped = deep_chain(w, 30_000)
    first = weakref.ref(dropped.grad_fn)
    del dropped
    assert first() is None
    (gradient,) = ja.autograd.grad(deep_chain(w, 3_000), w)
    assert gradient.tolist() == [1]


@pytest.mark.slow
def test_residuals_are_freed_as_the_backward_goes():
    w = ja.ones(256, 256, requires_grad=True)
    n, x = 20, w
    for _ in range(n):
        x = x.sin()
    shown = []

    def live_bytes():
        return sum(array.nbytes for array in jax.live_arrays())

    before = live_bytes()
    y = w
    for k in range(n):
        y = y.sin()
        y.register_hook(lambda g, k=k: shown.append((k, live_bytes() - before)))
    del x
    loss = y.sum()
    del y
    gc.collect()
    held = live_bytes() - before
    loss.backward()
    size = 256 * 256 * 4
    assert [k for k, _ in shown] == list(range(n))[::-1]
    assert shown[0][1] <= held + 2 * size
    for k, n_bytes in shown:  # what the first k ops saved is there, and a few gradients
        assert n_bytes <= (k + 5) * size, (k, n_bytes / size)


def test_threads_add_to_one_gradient():
    w = ja.ones(8, requires_grad=True)
    shared = (w * 2).sin().sum()
    failed = []

    def run():
        try:
            for _ in range(50):
                (w * 3).sum().backward()
                shared.backward(retain_graph=True)
        except Exception as error:  # shown by the assertion below
            failed.append(error)

    workers = [threading.Thread(target=run) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failed
    np.testing.assert_allclose(w.grad.numpy(), 200 * (3 + 2 * np.cos(2.0)), rtol=1e-4)


def test_backwards_inside_of_hooks():
    w, v = ja.ones(2, requires_grad=True), ja.ones(2, requires_grad=True)
    y = w * 2
    inner = (v * 3).sum()
    y.register_hook(lambda g: inner.backward())
    y.register_hook(lambda g: g * 2)
    y.sum().backward()
    assert w.grad.tolist() == [4, 4] and v.grad.tolist() == [3, 3]


def test_hooks_change_and_see_gradients():
    w = ja.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    y = w * 2
    handle = y.register_hook(lambda g: g * 10)
    w.register_hook(lambda g: seen.append(g.tolist()))
    y.sum().backward()
    handle.remove()
    (w * 2).sum().backward()
    assert seen == [[20, 20], [2, 2]] and w.grad.tolist() == [22, 22]


def test_retain_grad():
    w = ja.tensor([1.0], requires_grad=True)
    y = w * 2
    y.retain_grad()
    (y * 3).backward()
    assert y.grad.tolist() == [3] and w.grad.tolist() == [6]


def test_grad_touches_no_leaf():
    w, v = ja.ones(2, requires_grad=True), ja.ones(2, requires_grad=True)
    y = w * 2
    loss = (y * v).sum()
    gy, gv = ja.autograd.grad(loss, [y, v], retain_graph=True)
    assert gy.tolist() == [1, 1] and gv.tolist() == [2, 2] and w.grad is None and v.grad is None
    with pytest.raises(ja.errors.UnusedInputError):
        ja.autograd.grad(loss, [ja.ones(2, requires_grad=True)], retain_graph=True)
    unused = ja.ones(2, requires_grad=True)
    assert ja.autograd.grad(loss, [unused], allow_unused=True, retain_graph=True) == (None,)
    (zeros,) = ja.autograd.grad(loss, [unused], materialize_grads=True)
    assert zeros.tolist() == [0, 0]


def test_backward_to_chosen_inputs():
    w, v = ja.ones(2, requires_grad=True), ja.ones(2, requires_grad=True)
    (w * v * 3).sum().backward(inputs=[w])
    assert w.grad.tolist() == [3, 3] and v.grad is None


def test_backward_with_a_cotangent():
    w = ja.ones(2, 2, requires_grad=True)
    (w * 2).backward(ja.tensor([[1.0, 0.0], [0.0, 3.0]]))
    assert w.grad.tolist() == [[2, 0], [0, 6]]
    with pytest.raises(ja.errors.AutogradError, match="implicitly created only for scalar"):
        (w * 2).backward()


def test_modes():
    w = ja.ones(2, requires_grad=True)

    @ja.no_grad()
    def quiet():
        return w * 2

    assert not quiet().requires_grad and (w * 2).requires_grad
    with ja.no_grad():
        assert not ja.is_grad_enabled()
        with ja.enable_grad():
            assert (w * 2).requires_grad
    with pytest.raises(ZeroDivisionError), ja.no_grad():
        1 / 0  # noqa: B018
    assert ja.is_grad_enabled()


def test_writes_move_the_history_of_views():
    leaf = ja.zeros(4, requires_grad=True)
    x = leaf * 1
    view = x[:2]
    view.mul_(5)
    assert type(x.grad_fn).__name__ == "WriteNode"
    x.add_(1)
    (view * 2).sum().backward()
    assert leaf.grad.tolist() == [10, 10, 0, 0]


def test_saved_values_are_freed_by_backward_and_graphs_without_a_cycle():
    w = ja.ones(100, requires_grad=True)
    y = (w * 2).exp()
    saved = weakref.ref(y.untyped_storage())
    loss = y.sum()
    del y
    gc.disable()
    try:
        loss.backward()
        del loss
        assert saved() is None
    finally:
        gc.enable()


def test_gradients_have_the_layout_of_their_leaf():
    w = ja.tensor(np.arange(6.0).reshape(2, 3)).t().detach().requires_grad_()
    (w * 2).sum().backward()
    assert w.grad.stride() == w.stride() == (1, 3)


def test_versions_are_checked_where_asked_for():
    def program():
        x = ja.ones(3, requires_grad=True)
        y = x.exp()
        z = y * y[:1]
        y.add_(1)
        z.sum().backward()
        return x.grad.tolist()

    e = float(np.exp(1.0))
    np.testing.assert_allclose(program(), [4 * e**2, e**2, e**2], rtol=1e-5)
    ja.autograd.set_version_check("error")
    try:
        with pytest.raises(errors.SavedTensorWrittenError, match=r"output 0 of \w+, is at version 1; expected"):
            program()
        x = ja.ones(3, requires_grad=True)
        y = x * 2  # needs no values of x
        with ja.no_grad():
            x.add_(1)
        y.sum().backward()
        assert x.grad.tolist() == [2, 2, 2]
    finally:
        ja.autograd.set_version_check("off")
