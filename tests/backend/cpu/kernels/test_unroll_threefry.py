"""Random bits written out as arithmetic: the same bits, computed once."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot._jax import jaxpr_as_fun
from jaxaot.backend.cpu.kernels.unroll_threefry import unroll_threefry
from jaxaot.backend.cpu.tune import tune
from jaxaot.ir.check import check_graph
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewrite import inline
from jaxaot.passes.pipeline import lowered_passes
from tests.rewritten import assert_rewritten
from tests.seeds import seeds, some

KEY = jax.random.key(7)
X = jnp.linspace(-1.0, 1.0, 24).reshape(4, 6)


def primitives(closed):
    return [eqn.primitive.name for eqn in closed.jaxpr.eqns]


def graph_of(fn, *args):
    return unroll_threefry(inline(jax.make_jaxpr(fn)(*args), also_custom=True))


def assert_same_bits(fn, *args):
    """Returns the graph after the pass, having checked that it gives the very same numbers."""
    graph = graph_of(fn, *args)
    check_graph(graph)
    assert "random_bits" not in primitives(graph)
    got, want = jax.jit(jaxpr_as_fun(graph))(*args), jax.tree.leaves(jax.jit(fn)(*args))
    for one, other in zip(got, want, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    return graph


@pytest.mark.slow
@pytest.mark.parametrize("case", some([(n, first) for n in (32, 8, 64, 16) for first in (True, False)], 2))
def test_bits_of_every_width_and_shape(case):
    width, is_partitionable = case
    dtype = f"uint{width}"
    with jax.enable_x64(dtype == "uint64"), jax.threefry_partitionable(is_partitionable):
        for shape in (), (0,), (1,), (7,), (3, 5), (2, 3, 4), (1001,):
            graph = assert_same_bits(lambda key, shape=shape: jax.random.bits(key, shape, dtype), KEY)
            assert primitives(graph).count("jit") == 1


@pytest.mark.slow
def test_keys_in_arrays_and_keys_of_the_old_kind():
    keys = jax.random.split(KEY, 6).reshape(2, 3)
    draw = lambda key: jax.random.uniform(key, (5,))
    assert_same_bits(jax.vmap(jax.vmap(draw)), keys)
    assert_same_bits(draw, jax.random.PRNGKey(3))
    assert_same_bits(lambda key, i: draw(jax.random.fold_in(key, i)), KEY, 5)


DRAWS = [
    jax.random.uniform,
    jax.random.normal,
    jax.random.exponential,
    jax.random.gumbel,
    lambda key, shape: jax.random.bernoulli(key, 0.3, shape),
    lambda key, shape: jax.random.randint(key, shape, -5, 1000),
    lambda key, shape: jax.random.normal(key, shape, jnp.bfloat16),
    lambda key, shape: jax.random.truncated_normal(key, -1.0, 2.0, shape),
    lambda key, shape: jax.random.permutation(key, shape[0]),
    lambda key, shape: jax.random.categorical(key, jnp.zeros(shape)),
]


@pytest.mark.parametrize("draw", some(DRAWS, 2))
def test_distributions(draw):
    assert_rewritten(unroll_threefry, lambda key: draw(key, (33, 7)), KEY)


def test_other_generators_and_arrays_of_more_than_32_bits_of_places():
    closed = jax.make_jaxpr(lambda key: jax.random.bits(key, (4,)))(jax.random.key(0, impl="rbg"))
    assert unroll_threefry(closed) is closed
    huge = graph_of(lambda key: jax.random.bits(key, (3, 1 << 31), "uint8"), KEY)
    check_graph(huge)
    assert "iota_2x32_shape" in str(huge.jaxpr)
    assert "iota_2x32_shape" not in str(graph_of(lambda key: jax.random.bits(key, (2, 1 << 31), "uint8"), KEY).jaxpr)


@pytest.mark.slow
def test_what_several_kernels_read_is_behind_a_barrier():
    def one_kernel(key, x):
        mask = jax.random.bernoulli(key, 0.5, x.shape)
        return jnp.where(mask, x, 0.0) + jnp.where(mask, 1.0, x)

    def several(key, x):
        mask = jax.random.bernoulli(key, 0.5, x.shape)
        y = jnp.where(mask, x, 0.0)
        return jnp.where(mask, y @ y.T @ x, 0.0)

    def added_up(key, x):
        return jnp.sum(jax.random.uniform(key, x.shape) * x, 0)

    assert "optimization_barrier" not in primitives(assert_rewritten(unroll_threefry, one_kernel, KEY, X)[1])
    _, graph = assert_rewritten(unroll_threefry, several, KEY, X)
    (barrier,) = [eqn for eqn in graph.jaxpr.eqns if eqn.primitive.name == "optimization_barrier"]
    assert barrier.invars[0].aval.dtype == bool  # not the bits, which take four times the memory
    _, graph = assert_rewritten(unroll_threefry, added_up, KEY, X)
    assert primitives(graph).index("optimization_barrier") == primitives(graph).index("reduce_sum") - 1
    for shape in (), (1, 6), (4, 1), (6,):
        _, graph = assert_rewritten(unroll_threefry, lambda key, x, s=shape: x * jax.random.uniform(key, s), KEY, X)
        assert primitives(graph).count("optimization_barrier") == 1  # else it would be computed for each element
    returned = assert_same_bits(lambda key: (lambda b: (b, b > 9))(jax.random.bits(key, (8,))), KEY)
    assert "optimization_barrier" in primitives(returned)


def test_what_is_printed_or_sorted_is_the_same(capfd):
    def fn(key, x):
        bits = jax.random.bits(key, x.shape)
        jax.debug.print("{}", bits[0, 0])
        jax.debug.print("{}", bits.astype(jnp.float32) * 0 + 7, ordered=True)
        return jnp.sort(bits, 0), jax.random.uniform(key, x.shape)[x.astype(int)]

    _, graph = assert_rewritten(unroll_threefry, fn, KEY, X)
    jax.effects_barrier()
    printed = capfd.readouterr().out
    assert printed.count(f"{jax.random.bits(KEY, X.shape)[0, 0]}\n") == 2 and printed.count("[[7.") == 2
    assert len(graph.effects) == len(jax.make_jaxpr(fn)(KEY, X).effects) > 0


def test_bits_are_one_call_that_costs_as_much_as_a_transcendental():
    graph = graph_of(lambda key: jax.random.bits(key, (8,)), KEY)
    (eqn,) = graph.jaxpr.eqns
    assert eqn.params["name"] == "threefry_bits" and kind(eqn) is Kind.TRANSCENDENTAL


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(24, 1))
def test_random_programs_of_random_numbers(seed):
    rng = random.Random(seed)

    def fn(key, x):
        values = [x]
        for _ in range(rng.randint(2, 8)):
            key, own = jax.random.split(key)
            at = rng.choice(values)
            match rng.randrange(6):
                case 0:
                    new = jnp.where(jax.random.bernoulli(own, 0.5, at.shape), at, 0.0)
                case 1:
                    new = at + jax.random.normal(own, at.shape)
                case 2:
                    new = at @ jax.random.uniform(own, (at.shape[1], 6))
                case 3:
                    new = jnp.tanh(at) * jax.random.randint(own, (1, at.shape[1]), 0, 5)
                case 4:
                    new = at - at.sum(0) * jax.random.gumbel(own, (at.shape[1],))
                case _:
                    new = jax.lax.scan(lambda c, k: (c + jax.random.uniform(k, c.shape), None), at, own[None])[0]
            values.append(new)
        return rng.sample(values[1:], min(2, len(values) - 1))

    state = rng.getstate()

    def again(key, x):
        rng.setstate(state)
        return fn(key, x)

    assert_rewritten(unroll_threefry, again, KEY, X, rtol=1e-5)
    assert_rewritten(unroll_threefry, jax.value_and_grad(lambda x: sum(y.sum() for y in again(KEY, x))), X, rtol=1e-5)


@pytest.mark.slow
def test_dropout_in_a_loop_over_layers_and_its_gradient():
    def loss(w, key, x):
        def layer(x, key):
            return jnp.where(jax.random.bernoulli(key, 0.9, x.shape), jnp.tanh(x @ w), 0.0), None

        return (jax.lax.scan(layer, x, jax.random.split(key, 3))[0] ** 2).mean()

    args = jnp.eye(128) / 2, KEY, jnp.ones((256, 128))
    tuned = tune(inline(jax.make_jaxpr(jax.value_and_grad(loss))(*args), also_custom=True), lowered_passes(None, "cpu"))
    assert "random_bits" not in str(tuned.jaxpr) and "threefry_bits" in str(tuned.jaxpr)
    got, want = ja.jit(jax.value_and_grad(loss))(*args), jax.jit(jax.value_and_grad(loss))(*args)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7), got, want)
