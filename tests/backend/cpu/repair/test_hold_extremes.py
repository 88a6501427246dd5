"""Values that are compared with their own extremes are computed once: on CPU a gradient of `max` finds its elements."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxaot as ja
from jaxaot.backend.cpu.repair.hold_extremes import hold_extremes
from jaxaot.ir.rewrite import inline
from jaxaot.lower.check import evaluate
from tests.seeds import some


def normalized(x):
    y = jnp.sort(x, 1)
    return (y - y.mean(0)) * lax.rsqrt(y.var(0) + 1e-5)


LOSSES = {
    "max": lambda x: normalized(x).max(1).sum(),
    "min": lambda x: normalized(x).min(1).sum(),
    "max of all": lambda x: normalized(x).max(),
    "max of absolutes": lambda x: jnp.abs(normalized(x)).max(1).sum(),
    "norm": lambda x: (normalized(x) / jnp.linalg.norm(normalized(x), jnp.inf, axis=1, keepdims=True)).sum(0)[0],
    "twice": lambda x: (lambda y: (y / (1 + jnp.abs(y).max(1, keepdims=True))).max(0).sum())(normalized(x)),
    "in a branch": lambda x: lax.cond(x[0, 0] > -9, lambda y: normalized(y).max(1).sum(), jnp.sum, x),
}


def barriers(closed):
    return sum(eqn.primitive.name == "optimization_barrier" for eqn in closed.jaxpr.eqns)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("name", some(LOSSES, 2))
def test_gradients_of_extremes_are_those_by_equations(name):
    fn, wrong = ja.jit(jax.grad(LOSSES[name])), []
    for n in (6, 18):
        closed = jax.make_jaxpr(jax.grad(LOSSES[name]))(jnp.zeros((n, 3)))
        for seed in (1.0, 2.0, 3.0, 11.0):
            x = jnp.sin(jnp.arange(3.0 * n) * seed).reshape(n, 3)
            (right,) = evaluate(inline(closed, also_custom=True), [x])
            error = np.abs(np.asarray(fn(x)) - np.asarray(right)).max() / np.abs(np.asarray(right)).max()
            wrong += [(n, seed, error)] if error > 1e-3 else []
    assert not wrong


def test_a_value_that_is_compared_with_its_maximum_stands_behind_one_barrier():
    closed = inline(jax.make_jaxpr(jax.grad(LOSSES["max"]))(jnp.ones((6, 3))), also_custom=True)
    assert barriers(hold_extremes(closed)) == barriers(closed) + 1
    assert hold_extremes(closed, keeps_barriers=False) is closed


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: jax.nn.softmax(jnp.sin(x)),  # whose maximum has no gradient
        lambda x: jax.grad(lambda x: x.max(1).sum())(x),  # an input, which lies in memory
        lambda x: jax.grad(lambda x: (x @ x.T).max(1).sum())(x),  # a product, which XLA computes once
        lambda x: jnp.where(jnp.sin(x) > 0.5, x, jnp.cos(x).max()),
    ],
)
def test_nothing_is_held_where_nothing_is_compared_or_computed_anew(fn):
    closed = inline(jax.make_jaxpr(fn)(jnp.ones((6, 6))), also_custom=True)
    assert hold_extremes(closed) is closed
