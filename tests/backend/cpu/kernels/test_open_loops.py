"""Loops that JAX writes out, written out in the graph: the same values, and no loop for the passes behind."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxaot._jax import jaxpr_as_fun
from jaxaot.backend.cpu.kernels.open_loops import open_loops
from jaxaot.backend.cpu.memory.sequential import can_be_cut
from jaxaot.backend.cpu.tune import tune
from jaxaot.ir.rewrite import inline, rebuild
from jaxaot.ir.walk import sub_jaxprs
from tests.rewritten import assert_rewritten
from tests.seeds import seeds


def n_loops(fn, *args):
    """Returns how many loops a graph has before and after the pass, having checked that it changes no value."""
    graphs = assert_rewritten(open_loops, fn, *args)
    return tuple(sum(eqn.primitive.name == "scan" for eqn in graph.eqns) for graph in graphs)


def normal(seed, *shape):
    return jax.device_put(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


@pytest.mark.parametrize("seed", seeds(16, 2))
def test_random_loops_keep_their_values_and_gradients(seed):
    rng = random.Random(seed)
    length, unroll = rng.randint(1, 5), rng.choice((1, 2, 5, True))
    reverse, has_rows = rng.random() < 0.5, rng.random() < 0.7
    is_nested, gives_carry = rng.random() < 0.4, rng.random() < 0.5

    def loss(carry, rows, shift):
        def step(state, row):
            count, total = state
            if is_nested:
                total, _ = lax.scan(lambda c, _: (jnp.sin(c) * shift, None), total, None, length=2, unroll=True)
            total = total * 0.5 + (row if has_rows else shift)
            return (count + 1, total), (total**2, 1.0, count)

        (count, total), out = lax.scan(
            step, (0, carry), rows if has_rows else None, length=length, reverse=reverse, unroll=unroll
        )
        return (total.sum() if gives_carry else 0.0) + sum(jnp.sum(o) for o in out) + count

    args = normal(seed, 3, 4), normal(seed + 1, length, 3, 4), normal(seed + 2, 4)
    before, after = n_loops(jax.value_and_grad(loss, argnums=(0, 1, 2)), *args)
    assert before > 0
    assert (after == 0) == (unroll is True or unroll >= length or length == 1)


@pytest.mark.slow
def test_every_kind_of_value_a_loop_carries():
    def fn(key, flag, x):
        def step(state, row):
            key, flag, n = state
            key, own = jax.random.split(key)
            return (key, ~flag, n + 1), (jax.random.uniform(own, (2,)) + row, flag, own)

        (key, flag, n), (rows, flags, keys) = lax.scan(step, (key, flag, 7), x, unroll=3)
        return jax.random.key_data(key), flag, n, rows, flags, jax.random.key_data(keys)

    assert n_loops(fn, jax.random.key(0), jnp.array(True), normal(0, 3, 2)) == (1, 0)


def test_what_stays():
    x = normal(0, 6, 4)
    total = lambda x, **options: lax.scan(lambda c, row: (c + row, c), jnp.zeros(4), x, **options)
    assert n_loops(lambda x: total(x), x) == (1, 1)
    assert n_loops(lambda x: total(x, unroll=2), x) == (1, 1)
    assert n_loops(lambda x: total(x[:0], unroll=True), x) == (1, 1)

    def told(x):
        return lax.scan(lambda c, row: (c + row, jax.debug.print("{}", row)), jnp.zeros(4), x, unroll=True)[0]

    closed = jax.make_jaxpr(told)(x)
    assert open_loops(closed) is closed


def test_rounds_that_hold_constants_stay():
    x, shift = normal(0, 4), normal(1, 4)
    closed = jax.make_jaxpr(lambda x: lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=2, unroll=2)[0])(x)
    (loop,) = closed.eqns
    body = jax.make_jaxpr(lambda c: c + shift)(x)
    assert body.consts
    holding = rebuild(closed, [loop.replace(params={**loop.params, "jaxpr": body})], closed.jaxpr.outvars)
    passed = open_loops(holding)
    assert [eqn.primitive.name for eqn in passed.eqns] == ["scan"]
    np.testing.assert_allclose(jaxpr_as_fun(passed)(x)[0], x + shift + shift, rtol=1e-6)


def test_a_written_out_loop_within_a_loop_is_opened_too():
    def fn(x):
        def step(c, row):
            return lax.scan(lambda c, _: (jnp.tanh(c + row), None), c, None, length=3, unroll=True)[0], None

        return lax.scan(step, jnp.zeros_like(x[0]), x)[0]

    x = normal(0, 5, 64, 1024)
    (loop,) = (eqn for eqn in tune(jax.make_jaxpr(fn)(x), ("open_loops",)).jaxpr.eqns if eqn.primitive.name == "scan")
    (body,) = sub_jaxprs(loop)
    assert not any(eqn.primitive.name == "scan" for eqn in body.eqns)


def test_polynomials_of_a_large_array_are_one_program():
    """Their rounds are one kernel, which needs no memory for values in between."""

    def polynomial(x, degree):  # as `jnp.polyval` until JAX 0.11, which has a primitive for it
        coefficients = jnp.arange(1.0, degree)
        return lax.scan(lambda c, a: (c * x + a, None), jnp.zeros_like(x), coefficients, unroll=16)[0]

    def quotients(x):
        return sum(polynomial(x - i, 9) / polynomial(x + i, 8) for i in range(3))

    x = normal(0, 64, 128, 128)
    closed = inline(jax.make_jaxpr(quotients)(x), also_custom=True)
    assert can_be_cut(closed)
    assert not can_be_cut(tune(closed, ("open_loops", "subprograms")).jaxpr)
    closed = inline(jax.make_jaxpr(jax.scipy.special.ndtri)(x), also_custom=True)
    assert not can_be_cut(tune(closed, ("open_loops", "subprograms")).jaxpr)
