"""`ja.func`: the finer rules of PyTorch, each case by PyTorch."""

from __future__ import annotations

import importlib

import pytest

import jaxaot as ja

WAYS = ["eager", "compiled", pytest.param("torch", marks=pytest.mark.oracle)]
BOTH = ["eager", pytest.param("torch", marks=pytest.mark.oracle)]


def run(way, fn):
    """Returns what a program makes, as lists; it takes a library."""
    m = importlib.import_module("torch") if way == "torch" else ja
    made = (ja.compile(lambda: fn(ja)) if way == "compiled" else lambda: fn(m))()
    return [x.tolist() for x in made] if isinstance(made, tuple) else made.tolist()


@pytest.mark.parametrize("way", WAYS)
def test_gradients_in_batches_of_a_graph_from_outside(way):
    def jacobian(m):
        x = m.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = x * 1
        y[:2].mul_(x[1:])
        y = y.max() * y
        return m.func.vmap(lambda v: m.autograd.grad(y, x, v, retain_graph=True)[0])(m.eye(3))

    # of y = (x0 x1, x1 x2, x2) times x1 x2
    assert run(way, jacobian) == [[12, 12, 4], [0, 36, 24], [0, 9, 12]]


def test_a_backward_from_outside_is_not_recorded_inside():
    x = ja.ones(3, requires_grad=True)
    y = x.sin()
    with pytest.raises(ja.errors.AutogradError, match="recorded before"):
        ja.func.vmap(lambda v: ja.autograd.grad(y, x, v, create_graph=True)[0])(ja.eye(3))


@pytest.mark.parametrize("way", WAYS)
def test_a_function_without_a_backward_is_transformed_until_a_gradient_is_asked_for(way):
    def doubled(m):
        class Doubled(m.autograd.Function):
            generate_vmap_rule = True
            forward = staticmethod(lambda x: x * 2)
            setup_context = staticmethod(lambda ctx, inputs, output: None)

        x = m.ones(2, requires_grad=True)
        y = m.func.vmap(Doubled.apply)(x)
        with pytest.raises((RuntimeError, NotImplementedError), match="backward"):
            y.sum().backward()
        return y.detach() + m.func.vmap(Doubled.apply)(m.ones(2))

    assert run(way, doubled) == [4, 4]


@pytest.mark.parametrize("way", WAYS)
def test_what_vjp_found_under_no_grad_is_recorded_later(way):
    def second(m):
        x = m.tensor([1.0, 2.0], requires_grad=True)
        with m.no_grad():
            value, pull = m.func.vjp(lambda t: t**3, x)
            assert not pull(m.ones(2))[0].requires_grad
        assert not value.requires_grad
        (slope,) = pull(m.ones(2))
        return m.autograd.grad(slope.sum(), x)[0]

    assert run(way, second) == [6, 12]


@pytest.mark.parametrize("way", WAYS)
def test_random_numbers_in_a_forward_jacobian_are_refused_unless_asked_for(way):
    noisy = lambda m, **options: m.func.jacfwd(lambda x: x * 2 + m.rand(2), **options)(m.ones(2))
    assert run(way, lambda m: noisy(m, randomness="same")) == [[2, 0], [0, 2]]
    for refused in (noisy, lambda m: m.func.hessian(lambda x: (x * m.rand(2)).sum())(m.ones(2))):
        with pytest.raises(RuntimeError, match="randomness error mode"):
            run(way, refused)


@pytest.mark.parametrize("way", WAYS)
def test_chunks_draw_the_same_random_numbers(way):
    drawn = lambda m: m.func.vmap(lambda t: t + m.rand(()), randomness="same", chunk_size=2)(m.zeros(5))
    found = run(way, drawn)
    assert found == [found[0]] * 5
