"""What a value does not depend on gets no gradient: None, eagerly, compiled, and in a trace, as in PyTorch."""

import types

import jax
import jax.numpy as jnp
import pytest

import jaxaot as ja
from jaxaot.errors import UnusedInputError
from jaxaot.ir.reach import reached_inputs

torch = pytest.importorskip("torch")

EAGER = lambda fn: fn
LIBRARIES = {
    "eager": types.SimpleNamespace(lib=ja, within=EAGER),
    "compiled": types.SimpleNamespace(lib=ja, within=ja.compile),
}
PROGRAMS = {
    "product": lambda lib, x, w, m: x * w,
    "product and sine": lambda lib, x, w, m: x * w + x.sin(),
    "sine of product": lambda lib, x, w, m: (x * w).sin(),
    "quotient": lambda lib, x, w, m: x / w,
    "apart": lambda lib, x, w, m: lib.cat([x**3, w * 2]),
    "matrix": lambda lib, x, w, m: (m @ x) * w,
    "layer": lambda lib, x, w, m: lib.nn.functional.linear(x, m, w),
    "views": lambda lib, x, w, m: m[0] * x * m[1],
    "where": lambda lib, x, w, m: lib.where(x > 1, x * x, w),
    "norm": lambda lib, x, w, m: x.softmax(0) * w + m[0] ** 2,
    "relu": lambda lib, x, w, m: (m @ x).relu() + w.abs(),
}


FLAT = {
    "ceil": lambda lib, x, w: x.ceil() * w,
    "round and sign": lambda lib, x, w: x.round() + w.sign(),
    "trunc": lambda lib, x, w: x.trunc().sum() + w.detach().sum(),
    "comparison": lambda lib, x, w: (x > 1.5).float() * w,
    "integers": lambda lib, x, w: x.int().to(lib.float32) * w.floor(),
    "places": lambda lib, x, w: w[x.argsort()],
}


def leaves(lib):
    made = [lib.tensor([1.0, 2.0]), lib.tensor([3.0, 4.0]), lib.tensor([[1.0, 2.0], [3.0, 5.0]])]
    return [x.requires_grad_() for x in made]


def shown(gradients):
    return [None if g is None else g.tolist() for g in gradients]


def gradients_of_gradients(lib, program, within):
    """Returns, for each gradient that requires grad, its own gradients."""
    found = []
    for k in range(3):

        def twice(*args, k=k):
            value = program(lib, *args).sum()
            first = lib.autograd.grad(value, args, create_graph=True, allow_unused=True)
            if first[k] is None or not first[k].requires_grad:
                return None
            return lib.autograd.grad((first[k] * first[k]).sum(), args, allow_unused=True)

        seconds = within(twice)(*leaves(lib))
        found.append(None if seconds is None else [None if g is None else (g + 0).tolist() for g in seconds])
    return found


@pytest.mark.oracle
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("route", LIBRARIES)
def test_gradients_of_gradients(route, name):
    expected = gradients_of_gradients(torch, PROGRAMS[name], EAGER)
    got = gradients_of_gradients(ja, PROGRAMS[name], LIBRARIES[route].within)
    for theirs, ours in zip(expected, got, strict=True):
        assert (theirs is None) == (ours is None)
        for e, g in zip(theirs or (), ours or (), strict=True):
            assert (e is None) == (g is None)
            assert e is None or jnp.allclose(jnp.array(g), jnp.array(e), rtol=1e-4, atol=1e-5)


def first_and_second(lib, within):
    """Returns what the derivatives of a call are, whose results depend on some of its arguments each."""
    fn = within(lambda x, w: (x**3, w**2))
    x, w, _ = leaves(lib)
    yield shown(lib.autograd.grad(fn(x, w)[0].sum(), (x, w), allow_unused=True))
    fn(x, w)[0].sum().backward()
    yield shown((x.grad, w.grad))
    a, b = fn(x, w)
    first = lib.autograd.grad(a.sum() + b.sum(), (x, w), create_graph=True)
    yield shown(lib.autograd.grad(first[0].sum(), (x, w), allow_unused=True))
    yield shown(lib.autograd.grad(fn(x, w)[0].sum(), (x, w), materialize_grads=True))
    a, b = within(lambda x, w: lib.autograd.grad((x**3).sum() + (w * 2).sum(), (x, w), create_graph=True))(x, w)
    yield a.requires_grad, b.requires_grad

    def steps(x, w):
        first, _ = lib.autograd.grad((x**3).sum() + (w * 2).sum(), (x, w), create_graph=True)
        first.sum().backward()

    x, w, _ = leaves(lib)
    within(steps)(x, w)
    yield shown((x.grad, w.grad))


@pytest.mark.oracle
@pytest.mark.parametrize("route", LIBRARIES)
def test_arguments_that_the_results_asked_for_do_not_depend_on(route):
    assert list(first_and_second(ja, LIBRARIES[route].within)) == list(first_and_second(torch, EAGER))


def test_an_unused_argument_of_a_compiled_call_is_an_error_unless_it_is_allowed():
    x, w, _ = leaves(ja)
    value = ja.compile(lambda x, w: (x**3, w**2))(x, w)[0].sum()
    with pytest.raises(UnusedInputError, match="allow_unused=True"):
        ja.autograd.grad(value, (x, w))


def test_paths_of_a_graph():

    def fn(a, b, c):
        return jnp.sin(a), a * b, jnp.zeros(c.shape), jax.lax.stop_gradient(c) + b, jnp.where(c > 0, a, 1), 2.0

    closed = jax.make_jaxpr(fn)(*[jnp.ones(2)] * 3)
    assert reached_inputs(closed) == [{0}, {0, 1}, set(), {1}, {0, 2}, set()]


@pytest.mark.oracle
@pytest.mark.parametrize("name", FLAT)
def test_what_is_flat_everywhere_has_zeros_and_what_leads_nowhere_none(name):
    def found(lib, within):
        x, w = lib.tensor([1.4, 2.0]).requires_grad_(), lib.tensor([3.5, -4.0]).requires_grad_()
        within(lambda x, w: FLAT[name](lib, x, w).sum())(x, w).backward()
        return shown([x.grad, w.grad])

    right = found(torch, EAGER)
    assert found(ja, EAGER) == right
    assert found(ja, ja.compile) == right
