"""Pooling with its windows written out: the same values and gradients, without loops over windows."""

import random
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxaot as ja
from jaxaot.backend.cpu.kernels.unroll_windows import unroll_windows
from jaxaot.backend.cpu.machine import machine
from tests.rewritten import assert_rewritten
from tests.seeds import seeds, some

LOOPS = {"reduce_window_sum", "reduce_window_max", "reduce_window_min", "select_and_scatter_add"}


def normal(seed, *shape, dtype=jnp.float32):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape), dtype)


def n_loops(fn, *args, rtol=1e-6):
    """Returns how many loops over windows a pass leaves, having checked that it changes no value and no type."""
    closed, passed = assert_rewritten(unroll_windows, fn, *args, rtol=rtol)
    before, after = (Counter(eqn.primitive.name for eqn in graph.eqns) for graph in (closed, passed))
    assert sum(before[name] for name in LOOPS) > 0
    return sum(after[name] for name in LOOPS)


def pool(x, kind, window, strides, padding, dilation=None):
    init, fold = {"max": (-jnp.inf, lax.max), "min": (jnp.inf, lax.min), "sum": (0.0, lax.add)}[kind]
    return lax.reduce_window(x, np.array(init, x.dtype)[()], fold, window, strides, padding, None, dilation)


def with_gradient(*args):
    def run(x, weights):
        y, pull = jax.vjp(lambda x: pool(x, *args), x)
        return y, *pull(weights)

    return run


def weighted(x, *args):
    return x, normal(7, *jax.eval_shape(lambda x: pool(x, *args), x).shape, dtype=x.dtype)


@pytest.mark.parametrize("seed", seeds(18, 2))
def test_random_windows_keep_their_values_and_gradients(seed):
    rng = random.Random(seed)
    n_axes = rng.randint(1, 4)
    window = [rng.choice((1, 2, 3)) for _ in range(n_axes)]
    window[0] = max(window[0], 2)
    size = [rng.randint(3, 7) for _ in range(n_axes)]
    strides = [rng.choice((1, 1, 2, 3)) for _ in range(n_axes)]
    padding = [(rng.randint(0, w), rng.randint(0, w)) if rng.random() < 0.5 else (0, 0) for w in window]
    kind = rng.choice(("max", "min", "sum"))
    x = normal(seed, *size) if rng.random() < 0.5 else jnp.round(normal(seed, *size))  # with equal elements
    args = kind, window, strides, padding
    expected = 0 if np.prod(window) <= machine().max_taps else None
    left = n_loops(with_gradient(*args), *weighted(x, *args), rtol=1e-5)
    assert left == expected or expected is None


@pytest.mark.parametrize("kind", some(["max", "sum"], 1))
@pytest.mark.parametrize("dtype", some([jnp.bfloat16, jnp.float16], 1))
def test_half_precision(kind, dtype):
    args = kind, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0))
    x, weights = weighted(normal(0, 2, 9, 8, 4, dtype=dtype), *args)
    assert n_loops(with_gradient(*args), x, weights, rtol=0.05) == 0


def test_integers_and_dilated_windows():
    x = jnp.asarray(np.random.default_rng(0).integers(-9, 9, (2, 8, 8)), jnp.int32)
    for kind, fold, init in (("max", lax.max, -(2**31)), ("min", lax.min, 2**31 - 1), ("sum", lax.add, 0)):
        fn = lambda x: lax.reduce_window(x, np.int32(init), fold, (1, 3, 2), (1, 2, 1), ((0, 0), (1, 1), (0, 1)))
        assert n_loops(fn, x) == 0, kind
    dilated = lambda x: pool(x, "max", (1, 2, 3), (1, 1, 2), "VALID", (1, 3, 2))
    assert n_loops(dilated, normal(0, 2, 8, 9)) == 0


@pytest.mark.parametrize("size", [(3, 8, 6, 2), (3, 9, 7, 2)])
def test_gradient_of_averages_side_by_side_is_one_value_repeated(size):
    args = "sum", (1, 2, 3, 1), (1, 2, 3, 1), "VALID"
    fn, given = with_gradient(*args), weighted(normal(0, *size), *args)
    assert n_loops(fn, *given) == 0
    _, passed = assert_rewritten(unroll_windows, fn, *given)
    assert "concatenate" not in {eqn.primitive.name for eqn in passed.eqns}


def test_what_stays():
    x = normal(0, 2, 40)
    assert n_loops(lambda x: pool(x, "max", (1, machine().max_taps + 1), (1, 1), "VALID"), x) == 1
    holes = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3), (1, 1), "VALID", (1, 2))
    assert n_loops(holes, x) == 1
    filled = lambda x: pool(lax.pad(x, np.float32(1), ((0, 0, 0), (2, 2, 1))), "sum", (1, 3), (1, 1), "VALID")
    assert n_loops(filled, x) == 0
    alone = jax.make_jaxpr(jnp.sin)(x)
    assert unroll_windows(alone) is alone


@pytest.mark.parametrize("padding", [((0, 0), (0, 0)), ((1, 1), (1, 1))])
def test_the_first_of_equal_elements_has_the_gradient(padding):
    args = "max", (2, 2), (2, 2), padding
    x = jnp.float32([[1, 1, -jnp.inf, -jnp.inf], [1, 1, -jnp.inf, -jnp.inf], [0, 0, 2, 3], [0, -1, 3, 3]])
    assert n_loops(with_gradient(*args), *weighted(x, *args)) == 0


@pytest.mark.few(1)
@pytest.mark.parametrize("poison", some([np.nan, np.inf], 1))
@pytest.mark.parametrize("kind", some(["max", "sum", "min"], 2))
def test_nan_and_infinities_propagate(kind, poison):
    args = kind, (3, 3), (2, 2), ((1, 1), (1, 1))
    x = normal(0, 7, 7).at[2, 3].set(poison).at[5, 5].set(-poison)
    assert n_loops(with_gradient(*args), *weighted(x, *args)) == 0
    x, weights = weighted(normal(0, 7, 7), *args)
    assert n_loops(with_gradient(*args), x, weights.at[1, 1].set(poison)) == 0


@pytest.mark.slow
def test_pooling_of_tensors(everything_is_large):
    functional = ja.nn.functional
    x = ja.interop.from_jax(normal(0, 2, 3, 8, 8)).requires_grad_()
    for fn in (lambda x: functional.max_pool2d(x, 3, 2, 1), lambda x: functional.avg_pool2d(x, 2)):
        x.grad = None
        fn(x).square().sum().backward()
        want, x.grad = x.grad.jax(), None
        ja.compile(lambda x, fn=fn: fn(x).square().sum())(x).backward()
        np.testing.assert_allclose(x.grad.jax(), want, rtol=1e-5, atol=1e-6)
