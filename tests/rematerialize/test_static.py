"""The arguments of a function under `ja.remat` that are part of its program, and the options of `jax.checkpoint`."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.custom_derivatives import SymbolicZero, zero_from_primal

import jaxaot as ja
from tests.seeds import some

X = jnp.linspace(-1.0, 1.0, 4)


def total(x, flag):
    return x.sum() if flag else (x * x).sum()


@pytest.mark.parametrize("flag", some([True, False], 1))
@pytest.mark.parametrize(
    "how",
    [{"static_argnums": 1}, {"static_argnums": (-1,)}, {"static_argnames": "flag"}, {"static_argnames": ["flag"]}],
)
def test_flags_by_position_and_by_name(how, flag):
    cut = ja.remat(total, **how)
    want = jax.grad(total)(X, flag)
    np.testing.assert_allclose(jax.grad(cut)(X, flag), want)
    np.testing.assert_allclose(jax.jit(jax.grad(cut), static_argnums=1)(X, flag), want)
    np.testing.assert_allclose(jax.grad(lambda x: cut(x, flag=flag))(X), want)


def test_a_static_argument_may_be_anything():
    times = lambda x, by: (x * by["factor"]).sum()
    for wrap in (jax.checkpoint, ja.remat):
        cut = wrap(times, static_argnums=1)
        np.testing.assert_allclose(jax.grad(cut)(X, {"factor": 3}), [3.0] * 4)
        np.testing.assert_allclose(jax.grad(lambda x, c=cut: c(x, {"factor": x}))(X), 2 * X, rtol=1e-6)  # a tracer
        np.testing.assert_allclose(
            jax.grad(wrap(lambda act, x: act(x).sum(), static_argnums=0), 1)(jnp.sin, X), jnp.cos(X)
        )


def test_ints_are_traced_unless_they_are_static():
    seen = []

    def power(x, n):
        seen.append(n)
        return (x**n).sum()

    for wrap in (jax.checkpoint, ja.remat):
        seen.clear()
        cut = wrap(power)
        for n in range(1, 5):
            np.testing.assert_allclose(jax.grad(cut)(X, n), n * X ** (n - 1), rtol=1e-5)
        assert len(seen) == 1
    cut = ja.remat(power, static_argnums=1)
    seen.clear()
    for n in (1, 2, 2, 1):
        np.testing.assert_allclose(jax.grad(cut)(X, n), n * X ** (n - 1), rtol=1e-5)
    assert seen == [1, 2]


def test_where_python_needs_an_int_the_error_says_what_to_write():
    def repeated(x, n, m=1):
        return sum(x.sum() for _ in range(n)) * m

    with pytest.raises(
        ja.errors.ConcretizationError, match=r"of an int.*`n`.*ja.remat\(repeated, static_argnums=\(1,\)\)"
    ):
        jax.grad(ja.remat(repeated))(X, 2)
    with pytest.raises(ja.errors.ConcretizationError, match=r"static_argnames=\('n',\)"):
        jax.grad(lambda x: ja.remat(repeated)(x, n=2))(X)
    with pytest.raises(ja.errors.ConcretizationError, match=r"static_argnums=\(1,\), static_argnames=\('m',\)"):
        jax.grad(lambda x: ja.remat(repeated)(x, 2, m=3))(X)
    with pytest.raises(TypeError, match="broadcasting"):  # it is not the ints
        ja.remat(lambda x, n: x * jnp.ones(3) * n)(X, 2)
    np.testing.assert_allclose(ja.grad(repeated)(X, 2), [2.0] * 4)  # as by `jax.grad`


def test_bad_static_arguments():
    with pytest.raises(ja.errors.UsageError, match=r"7 of `total` is static.*signature is `\(x, flag\)`"):
        ja.remat(total, static_argnums=7)
    with pytest.raises(ja.errors.UsageError, match="'falg'"):
        ja.remat(total, static_argnames="falg")
    with pytest.raises(ja.errors.ArgumentError, match="positions, which are ints"):
        ja.remat(total, static_argnums="flag")  # pyright: ignore
    with pytest.raises(ja.errors.UsageError, match="static_argnums"):
        ja.remat(total, concrete=True)
    assert ja.remat(jnp.sin, concrete=False)(0.0) == 0.0


@pytest.mark.few(1)
@pytest.mark.parametrize("prevent_cse", [True, False, (True, False), (False, False)])
def test_prevent_cse(prevent_cse):
    block = lambda w, x: jnp.sin(jnp.sin(x @ w) @ w).sum()
    w = jnp.ones((64, 64)) * 0.1
    cut = ja.remat(block, prevent_cse=prevent_cse, memory_budget=0.0)
    np.testing.assert_allclose(jax.grad(cut)(w, w), jax.grad(block)(w, w), rtol=1e-5)
    text = jax.jit(jax.grad(cut)).lower(w, w).as_text()
    assert ("optimization_barrier" in text) == (prevent_cse not in (False, (False, False)))


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("returns", [False, True])
def test_rules_that_return_symbolic_zeros(asks, returns):
    @jax.custom_jvp
    def product(x, y):
        return x * y

    def rule(primals, tangents):
        x, y = primals
        return x * y, zero_from_primal(x * y, symbolic_zeros=returns)

    product.defjvp(rule, symbolic_zeros=asks)
    fn = lambda x, y: product(x, y) + x
    for wrap in (jax.checkpoint, ja.remat):
        np.testing.assert_array_equal(jax.vmap(jax.jit(jax.grad(wrap(fn))))(X, X), [1.0] * 4)
        mapped = lambda x, y, wrap=wrap: jax.vmap(jax.jit(wrap(fn)))(x, y).sum()
        np.testing.assert_array_equal(jax.grad(mapped)(X, X), [1.0] * 4)
        np.testing.assert_array_equal(jax.jvp(wrap(fn), (X, X), (X, X))[1], X)
        np.testing.assert_array_equal(jax.grad(wrap(product))(2.0, 3.0), 0.0)


def test_rules_see_the_symbolic_zeros_that_jax_checkpoint_shows():
    seen = []

    @jax.custom_jvp
    def product(x, y):
        return x * y

    def rule(primals, tangents):
        x, y = primals
        seen.append([type(t) is SymbolicZero for t in tangents])
        tx, ty = (0.0 if type(t) is SymbolicZero else t for t in tangents)
        return x * y, tx * y + ty * x

    product.defjvp(rule, symbolic_zeros=True)
    for argnums, want in ((0, [False, True]), (1, [True, False]), ((0, 1), [False, False])):
        for wrap in (jax.checkpoint, ja.remat):
            seen.clear()
            jax.grad(wrap(lambda x, y: product(x, y)), argnums)(2.0, 3.0)
            assert seen == [want]


def test_a_tracer_in_place_of_a_static_argument_of_a_rule():
    @functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
    def times(n, x):
        return x * n

    @times.defjvp
    def rule(n, primals, tangents):
        return primals[0] * n, tangents[0] * n

    for wrap in (jax.checkpoint, ja.remat):
        with pytest.raises(jax.errors.UnexpectedTracerError):
            jax.grad(wrap(lambda x, n: times(n, x)))(2.0, 3.0)
        assert jax.grad(wrap(lambda x: times(3, x)))(2.0) == 3.0
