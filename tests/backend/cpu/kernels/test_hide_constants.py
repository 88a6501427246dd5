"""Cumulative sums of constants are left to the program: the same values, and nothing for XLA to fold."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxaot as ja
from jaxaot.backend.cpu.kernels.hide_constants import hide_constants
from jaxaot.backend.cpu.machine import machine
from tests.rewritten import assert_rewritten
from tests.seeds import seeds, some

SIDE = 72
X = jnp.linspace(-1.0, 1.0, SIDE * SIDE).reshape(SIDE, SIDE)
CUMULATIVE = (lax.cumsum, lax.cumprod, lax.cummax, lax.cummin, lax.cumlogsumexp)

assert X.size > machine().max_folded_elements


def n_barriers(fn, *args):
    """Returns how many barriers the pass adds, having checked that it changes no value."""
    graphs = assert_rewritten(hide_constants, fn, *args)
    before, after = (sum(eqn.primitive.name == "optimization_barrier" for eqn in graph.jaxpr.eqns) for graph in graphs)
    return after - before


def windows(x):
    return lax.reduce_window(x, 0.0, lax.add, (3, 3), (1, 1), "SAME")


@pytest.mark.parametrize("fn", some([windows, *CUMULATIVE], 2))
def test_what_depends_on_no_input_is_hidden(fn):
    assert n_barriers(lambda x: x + fn(jnp.full((SIDE, SIDE), 0.5)), X) == 1
    assert n_barriers(lambda x: x + fn(lax.broadcasted_iota(jnp.float32, (SIDE, SIDE), 1) * 0.01), X) == 1
    assert n_barriers(lambda x: fn(x * 0.5), X) == 0
    assert n_barriers(lambda x: x[:4, :4] + fn(jnp.ones((4, 4))), X) == 0


def test_gradients_of_sums_of_cumulative_sums():
    assert n_barriers(jax.grad(lambda x: jnp.cumsum(x, 0).sum()), X) == 1
    assert n_barriers(jax.grad(lambda x: (jnp.cumsum(x, 0) * x).sum()), X) == 0


@pytest.mark.slow
def test_it_is_in_the_program_and_in_the_bodies_of_loops_that_may_hold_barriers():
    def add(c):
        return c + lax.cumsum(jnp.ones((SIDE * 4, SIDE)))

    def multiply(c):
        return add(c @ X)

    x = jnp.tile(X, (4, 1))
    for step, is_hidden in ((add, False), (multiply, True)):
        loop = lambda x, step=step: lax.scan(lambda c, _: (step(c), None), x, None, length=2)[0]
        for fn, held in ((loop, is_hidden), (step, True)):
            np.testing.assert_allclose(ja.jit(fn)(x), jax.jit(fn)(x), rtol=1e-5, atol=1e-4)
            assert ("opt-barrier" in ja.jit(fn).lower(x).compile().as_text()) == held


@pytest.mark.parametrize("seed", seeds(12, 1))
def test_random_programs_of_constants_and_inputs(seed):
    rng = random.Random(seed)
    choices = [rng.random() for _ in range(40)]

    def fn(x):
        draw = iter(choices)
        values = [x, jnp.full((SIDE, SIDE), 0.01), lax.broadcasted_iota(jnp.float32, (SIDE, SIDE), 0) / SIDE]
        for _ in range(7):
            a, b = (values[int(next(draw) * len(values))] for _ in range(2))
            which = int(next(draw) * 4)
            steps = (
                lambda a=a, b=b: a * 0.5 + b * 0.5,
                lambda a=a: lax.cumsum(a, axis=1) / SIDE,
                lambda a=a: windows(a) / 9,
                lambda a=a: lax.cummax(jnp.tanh(a), reverse=True),
            )
            values.append(steps[which]())
        return values[-1] + values[-2] * x

    assert_rewritten(hide_constants, fn, X, rtol=1e-5)
    assert_rewritten(hide_constants, jax.grad(lambda x: fn(x).sum()), X, rtol=1e-5)
