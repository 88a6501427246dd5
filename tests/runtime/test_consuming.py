"""A compiled backward reuses the memory of what was saved for it, exactly when nobody will need that again."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import jaxaot as ja


def chain(x, w):
    return ((x @ w).sin() @ w).tanh().sum()


@pytest.fixture
def compiled():
    return ja.compile(chain)


def leaves():
    values = np.random.default_rng(0).standard_normal((2, 16, 16)).astype(np.float32)
    return [ja.tensor(value, requires_grad=True) for value in values]


@pytest.fixture
def expected():
    x, w = leaves()
    chain(x, w).backward()
    return x.grad.numpy(), w.grad.numpy()


def addresses(arrays):
    return {array.unsafe_buffer_pointer() for array in arrays}


def backward(loss, x, w, expected, **how):
    """Runs a backward, compares its gradients, and returns where these are."""
    x.grad = w.grad = None
    loss.backward(**how)
    for leaf, gradient in zip((x, w), expected, strict=True):
        np.testing.assert_allclose(leaf.grad.numpy(), gradient, rtol=1e-4, atol=1e-5)
    return addresses([x.grad.jax(), w.grad.jax()])


@pytest.mark.slow
def test_gradients_lie_where_residuals_were(compiled, expected):
    x, w = leaves()
    for _ in range(3):
        loss = compiled(x, w)
        held = addresses(loss.grad_fn.residuals)
        assert backward(loss, x, w, expected) & held
        assert loss.grad_fn.residuals is None
    (program,) = compiled.programs
    assert program.executables["backward_donated"].donated == program.consuming[1]


def test_a_graph_that_is_kept_keeps_them(compiled, expected):
    x, w = leaves()
    loss = compiled(x, w)
    held = addresses(loss.grad_fn.residuals)
    for _ in range(2):
        assert not backward(loss, x, w, expected, retain_graph=True) & held
    assert backward(loss, x, w, expected) & held
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_what_somebody_else_holds_stays(compiled, expected):
    x, w = leaves()
    loss = compiled(x, w)
    seen = list(loss.grad_fn.residuals)
    before = [np.array(array) for array in seen]
    assert not backward(loss, x, w, expected) & addresses(seen)
    for array, values in zip(seen, before, strict=True):
        np.testing.assert_array_equal(array, values)


def test_inputs_and_outputs_stay(expected):
    x, w = leaves()
    before = x.detach().numpy().copy()
    y = ja.compile(lambda x, w: (x @ w).sin().exp())(x, w)
    shown = y.detach().numpy().copy()
    y.sum().backward()
    np.testing.assert_array_equal(y.detach().numpy(), shown)
    np.testing.assert_array_equal(x.detach().numpy(), before)


def test_a_recorded_backward_keeps_them(compiled, expected):
    x, w = leaves()
    loss = compiled(x, w)
    (g,) = ja.autograd.grad(loss, x, create_graph=True)
    g.sum().backward()
    assert backward(loss, x, w, expected)


def test_a_nan_is_still_found():
    x = ja.full((4, 4), -1.0, requires_grad=True)
    fn = ja.compile(lambda x: (x * 2).exp().mul(0.0).sub(1.0).log().sum())
    with pytest.warns(UserWarning, match="Anomaly"), ja.autograd.detect_anomaly():
        loss = fn(x)
        with pytest.raises(RuntimeError, match="nan"):
            (loss * float("nan")).backward()


def test_settings_and_threads(expected):
    x, w = leaves()
    with ja.config(donate=False):
        fn = ja.compile(chain)
        loss = fn(x, w)
        held = addresses(loss.grad_fn.residuals)
        assert not backward(loss, x, w, expected) & held
    fn, failed = ja.compile(chain), []

    def run():
        try:
            for _ in range(20):
                own = [leaf.detach().requires_grad_() for leaf in leaves()]
                fn(*own).backward()
                np.testing.assert_allclose(own[0].grad.numpy(), expected[0], rtol=1e-4, atol=1e-5)
        except Exception as error:  # shown by the assertion below
            failed.append(error)

    workers = [threading.Thread(target=run) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failed


@pytest.mark.slow
def test_a_mapped_backward_keeps_them(compiled, expected):
    x, w = leaves()
    y = ja.compile(lambda x, w: (x @ w).sin() @ w)(x, w)
    cotangents = ja.ones(3, 16, 16)
    mapped = ja.autograd.grad(y, x, cotangents, is_grads_batched=True)[0]
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()
    y = ja.compile(lambda x, w: (x @ w).sin() @ w)(x, w)
    (one,) = ja.autograd.grad(y, x, cotangents[0])
    for row in mapped:
        np.testing.assert_allclose(row.numpy(), one.numpy(), rtol=1e-4, atol=1e-5)
