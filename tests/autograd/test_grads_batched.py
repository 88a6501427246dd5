"""`is_grads_batched=True`: one backward for all indices, with the results of a loop."""

import numpy as np
import pytest

import jaxaot as ja

X = [[0.3, 1.2, -0.7], [0.9, -0.4, 0.5]]


def program(lib, x, w):
    y = (x * w).sin()
    y[0].mul_(x[1])
    z = y.t().reshape(2, 3).exp() + x
    return (z @ w, y[:, 1:] * 2)


@pytest.mark.oracle
@pytest.mark.parametrize("create_graph", [False, True])
def test_as_torch(create_graph):
    torch = pytest.importorskip("torch")
    found = []
    for lib in (ja, torch):
        x, w = lib.tensor(X, requires_grad=True), lib.tensor([1.3, 0.2, -0.4], requires_grad=True)
        unused = lib.ones(2, requires_grad=True)
        outputs = program(lib, x, w)
        cotangents = tuple(lib.arange(4 * y.numel()).reshape(4, *y.shape).float().cos() for y in outputs)
        options = {"is_grads_batched": True, "allow_unused": True, "create_graph": create_graph}
        *grads, nothing = lib.autograd.grad(outputs, (x, w, unused), cotangents, **options)
        assert nothing is None and all(g.requires_grad == create_graph for g in grads)
        found.append([g.detach().numpy() for g in grads])
        if not create_graph:
            with pytest.raises(RuntimeError, match="second time"):
                lib.autograd.grad(outputs, (x, w), cotangents, is_grads_batched=True)
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_a_custom_backward_runs_once_or_for_each_index_where_it_asks_for_values():
    calls = []

    class Doubled(ja.autograd.Function):
        asks = False

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            if Doubled.asks:
                g.sum().item()
            calls.append(1)
            return g * 2

    x = ja.ones(3, requires_grad=True)
    for asks, n in ((False, 1), (True, 4)):
        calls.clear()
        Doubled.asks = asks
        (g,) = ja.autograd.grad(Doubled.apply(x).exp().log(), x, ja.ones(4, 3) * 3, is_grads_batched=True)
        np.testing.assert_allclose(g.numpy(), np.full((4, 3), 6.0), rtol=1e-5)
        assert len(calls) == n


def test_hooks_run_for_each_index():
    seen = []
    x = ja.ones(3, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: seen.append(g.tolist()))
    (g,) = ja.autograd.grad(y * 3, x, ja.ones(2, 3), is_grads_batched=True)
    assert g.tolist() == [[6.0] * 3] * 2 and seen == [[3.0] * 3] * 2


def test_through_a_compiled_call():
    x = ja.tensor(X, requires_grad=True)
    step = ja.compile(lambda x: x.sin() * x.sum())
    basis = ja.eye(6).reshape(6, 2, 3)
    for run in (step, lambda x: step(x).exp()):
        (g,) = ja.autograd.grad(run(x), x, basis, is_grads_batched=True)
        rows = [ja.autograd.grad(run(x), x, row)[0].numpy() for row in basis.unbind()]
        np.testing.assert_allclose(g.numpy(), np.stack(rows), rtol=1e-5)
