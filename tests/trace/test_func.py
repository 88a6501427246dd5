"""`ja.func` against `torch.func`, with functions that write inside."""

import jax
import numpy as np
import pytest

import jaxaot as ja

X, W = [[0.3, 1.2, -0.7], [0.9, -0.4, 0.5]], [1.3, 0.2, -0.4]


def scalar(x, w):
    y = x.sin()
    y[0].mul_(w)
    y.t()[1].add_(x[:, 0])
    return (y * w.exp()).sum()


def vector(x, w):
    y = x * w
    y[:, 1:].exp_()
    return y.sum(1)


def row(x, w):
    y = x.clone()
    y.mul_(w)
    y[0] = y[1:].sum()
    return y


CASES = {
    "grad": lambda f, x, w: f.grad(scalar)(x, w),
    "grad of several": lambda f, x, w: f.grad(scalar, argnums=(0, 1))(x, w),
    "grad_and_value": lambda f, x, w: f.grad_and_value(lambda x, w: (scalar(x, w), x * 2), has_aux=True)(x, w),
    "grad of grad": lambda f, x, w: f.grad(lambda x: f.grad(scalar)(x, w).sin().sum())(x),
    "vjp": lambda f, x, w: (lambda out, pull: (out, *pull(out.cos())))(*f.vjp(vector, x, w)),
    "vjp of one": lambda f, x, w: (lambda out, pull: (out, *pull(out.cos())))(*f.vjp(lambda x: vector(x, w), x)),
    "jvp": lambda f, x, w: f.jvp(vector, (x, w), (x.cos(), w * 2)),
    "jacrev": lambda f, x, w: f.jacrev(vector, argnums=(0, 1))(x, w),
    "jacfwd": lambda f, x, w: f.jacfwd(vector)(x, w),
    "hessian": lambda f, x, w: f.hessian(scalar)(x, w),
    "linearize": lambda f, x, w: (lambda out, push: (out, push(x.cos(), w)))(*f.linearize(vector, x, w)),
    "vmap": lambda f, x, w: f.vmap(row, in_dims=(0, None))(x, w),
    "vmap of columns": lambda f, x, w: f.vmap(lambda c: c.cumsum(0), in_dims=1, out_dims=1)(x),
    "vmap of grad": lambda f, x, w: f.vmap(f.grad(lambda r, w: (row(r, w) ** 2).sum()), in_dims=(0, None))(x, w),
    "grad of vmap": lambda f, x, w: f.grad(lambda w: f.vmap(row, in_dims=(0, None))(x, w).sin().sum())(w),
}


@pytest.mark.oracle
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_as_torch(name, is_compiled):
    torch = pytest.importorskip("torch")
    run = lambda x, w: CASES[name](ja.func, x, w)
    before = ja.tensor(X), ja.tensor(W)
    ours = jax.tree.leaves((ja.compile(run) if is_compiled else run)(*before))
    theirs = torch.utils._pytree.tree_leaves(CASES[name](torch.func, torch.tensor(X), torch.tensor(W)))
    assert len(ours) == len(theirs) and all(isinstance(x, ja.Tensor) for x in ours)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-6)
    assert before[0].tolist() == ja.tensor(X).tolist() and before[1].tolist() == ja.tensor(W).tolist()


def test_the_tape_outside_sees_a_transformed_function():
    x, w = ja.tensor(X, requires_grad=True), ja.tensor(W, requires_grad=True)
    value = ja.func.grad(scalar)(x, w).sin().sum()
    tape = ja.autograd.grad(scalar(x * 1, w), x, create_graph=True)[0].sin().sum()
    for ours, expected in zip(ja.autograd.grad(value, (x, w)), ja.autograd.grad(tape, (x, w)), strict=True):
        np.testing.assert_allclose(ours.numpy(), expected.numpy(), rtol=1e-4, atol=1e-6)


def test_what_is_reached_is_read_anew_and_never_written():
    scale = ja.tensor(2.0)
    slope = ja.func.grad(lambda x: (x * scale).sum())
    assert slope(ja.ones(2)).tolist() == [2, 2]
    scale.fill_(3.0)
    assert slope(ja.ones(2)).tolist() == [3, 3]
    with pytest.raises(ja.errors.TraceError, match="that it was not passed"):
        ja.func.grad(lambda x: (x * scale.add_(1)).sum())(ja.ones(2))
    assert scale.item() == 3


def test_custom_functions_keep_their_backward():
    class Tripled(ja.autograd.Function):
        forward, backward = staticmethod(lambda ctx, x: x * 1), staticmethod(lambda ctx, g: g * 3)
        generate_vmap_rule = True

    assert ja.func.grad(lambda x: Tripled.apply(x).sum())(ja.ones(2)).tolist() == [3, 3]
    assert ja.func.vmap(ja.func.grad(lambda x: Tripled.apply(x).sum()))(ja.ones(2, 2)).tolist() == [[3, 3]] * 2
