"""Sines, cosines and tangents by polynomials: as exact as before, and the same for every special value."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxaot as ja
from jaxaot._jax import jaxpr_as_fun
from jaxaot.backend.cpu.kernels.reduce_angles import LIMIT, reduce_angles
from jaxaot.backend.cpu.machine import machine
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline
from tests.rewritten import assert_rewritten
from tests.seeds import seeds

SHAPE = (96, 100)
X = jax.device_put(np.random.default_rng(0).normal(size=SHAPE).astype(np.float32))
SQUARE = jax.device_put(np.eye(100, dtype=np.float32) / 2)
NAMES = ("sin", "cos", "tan")


def n_branches(fn, *args):
    graph = reduce_angles(inline(jax.make_jaxpr(fn)(*args), also_custom=True))
    check_graph(graph)
    return sum(eqn.primitive.name == "cond" for eqn in graph.jaxpr.eqns)


def rewritten(name):
    graph = reduce_angles(jax.make_jaxpr(getattr(jnp, name))(X))
    assert any(eqn.primitive.name == "cond" for eqn in graph.jaxpr.eqns)
    return jax.jit(lambda x: jaxpr_as_fun(graph)(x)[0])


@pytest.mark.parametrize("name", NAMES)
def test_results_are_within_half_a_unit_in_the_last_place(name):
    fn = rewritten(name)
    for scale in (1e-6, 0.3, 1.0, 30.0, 3e3, LIMIT / 6):
        x = X * np.float32(scale)
        assert float(np.abs(x).max()) < LIMIT
        want = getattr(np, name)(np.asarray(x, np.float64))
        unit = np.spacing(np.abs(want.astype(np.float32)))
        assert (np.abs(np.asarray(fn(x), np.float64) - want) / unit).max() < 0.51


@pytest.mark.parametrize("name", NAMES)
def test_angles_near_multiples_of_a_right_angle(name):
    n = np.arange(1, 636000, 66)[: X.size]
    x = np.float32(n * (np.pi / 2))
    for angles in (x, np.nextafter(x, np.float32(0)), np.nextafter(x, np.float32(np.inf))):
        full = np.resize(angles, SHAPE)
        want = getattr(np, name)(full.astype(np.float64))
        unit = np.spacing(np.abs(want.astype(np.float32)))
        assert (np.abs(np.asarray(rewritten(name)(full), np.float64) - want) / unit).max() < 0.51


@pytest.mark.parametrize("name", NAMES)
def test_special_values_are_as_before(name):
    fn, before = rewritten(name), jax.jit(getattr(jnp, name))
    near = [0.0, -0.0, np.nan, 1e-40, -1e-40, 1e-45, 1e-30, -LIMIT, LIMIT]
    for values in (near, [*near, np.inf], [*near, -np.inf], [*near, 3e38], [*near, np.float32(LIMIT * 1.01)]):
        x = X.at[0, : len(values)].set(jnp.asarray(values, jnp.float32))
        got, want = fn(x), before(x)
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        np.testing.assert_array_equal(jnp.signbit(got[0, :2]), jnp.signbit(want[0, :2]))
        np.testing.assert_allclose(got, want, rtol=3e-7)


def test_what_is_left_alone():
    small = X.ravel()[: machine().min_angles - 1]
    assert n_branches(jnp.sin, small) == 0
    assert n_branches(jnp.sin, X.astype(jnp.bfloat16)) == 0
    assert n_branches(jnp.sin, X + 1j) == 0
    with jax.enable_x64(True):
        assert n_branches(jnp.sin, jnp.asarray(np.asarray(X), jnp.float64)) == 0
    positions = lambda x: x * jnp.cos(lax.broadcasted_iota(jnp.float32, SHAPE, 0))
    assert n_branches(positions, X) == 0  # XLA folds it
    assert n_branches(lambda x: lax.sin(x, accuracy=lax.AccuracyMode.HIGHEST), X) == 0
    of_two = lambda x: jnp.sin(x) + jnp.cos(x + 1)  # in one kernel
    assert n_branches(of_two, X) == 0 and n_branches(lambda x: of_two(x @ x.T @ jnp.sin(x)), X) == 1
    assert n_branches(lambda x: jnp.sin(x) + jnp.cos(x) * jnp.tan(x), X) == 1  # one for each angle


@pytest.mark.slow
def test_gradients_loops_and_calls():
    def loss(w, x):
        def layer(x, _):
            return jnp.sin(30 * (x @ w)), None

        return (lax.scan(layer, x, None, length=3)[0] ** 2).sum()

    args = jnp.eye(100) / 30, jnp.tile(X, (2, 1))
    assert_rewritten(reduce_angles, jax.grad(lambda x: jnp.tan(jnp.sin(x) * jnp.cos(x)).sum()), X)
    got, want = ja.jit(jax.value_and_grad(loss))(*args), jax.jit(jax.value_and_grad(loss))(*args)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4), got, want)
    text = ja.jit(loss).lower(*args).as_text()
    assert "stablehlo.case" in text and "f64" in text


def test_eager_tensors():
    x = ja.interop.from_jax(X)
    for name in NAMES:
        np.testing.assert_allclose(getattr(x, name)().numpy(), getattr(np, name)(np.asarray(X)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", seeds(12, 1))
def test_random_programs_of_angles(seed):
    rng = random.Random(seed)
    steps = [(rng.choice(NAMES[:2]), rng.choice((0.1, 1.0, 2.0)), rng.random()) for _ in range(4)]

    def fn(x):
        values = [x]
        for name, scale, place in steps:
            values.append(getattr(jnp, name)(values[int(place * len(values))] * scale) + values[-1] @ SQUARE)
        return values[-1]

    assert_rewritten(reduce_angles, fn, X, rtol=1e-5)
    assert_rewritten(reduce_angles, jax.grad(lambda x: jnp.tanh(fn(x) * 0.01).sum()), X, rtol=1e-5)
