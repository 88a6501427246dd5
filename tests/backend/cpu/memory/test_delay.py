"""What an executable could compute at once waits until it is needed, and nothing else changes."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.random_matrices import matrix_program
from benchmarks.random_models import model
from jaxaot._jax import jaxpr_as_fun
from jaxaot.backend.cpu.machine import machine
from jaxaot.backend.cpu.memory import temporaries
from jaxaot.backend.cpu.memory.delay import delay
from jaxaot.backend.cpu.memory.sequential import SequentialExecutable
from jaxaot.backend.cpu.options import keeping_barriers
from jaxaot.ir.primitives import is_cheap
from jaxaot.ir.rewrite import inline
from tests.drawn import drawn
from tests.rewritten import assert_rewritten
from tests.seeds import seeds

X = jax.device_put(np.linspace(0.1, 1.0, 16, dtype=np.float32).reshape(4, 4))
WIDE = [jax.device_put(drawn(i, 256, 1024) * np.float32(0.01)) for i in range(16)]
W = jax.device_put(drawn(99, 1024, 1024) / np.float32(32))


@pytest.fixture(autouse=True)
def everything_is_large(using_machine):
    using_machine(late_bytes=0, late_kernels=1)


def graph_of(fn, *args):
    return inline(jax.make_jaxpr(fn)(*args), also_custom=True)


def primitives(closed):
    return [eqn.primitive.name for eqn in closed.jaxpr.eqns]


def backward(residuals, w, ct):
    """What the gradient of a network does: each layer makes something of its residual and of what comes from above."""
    gradients = []
    for x in reversed(residuals):
        gradients.append(jnp.tanh(x).T @ ct)
        ct = (ct @ w) * jnp.cos(x)
    return gradients


def test_what_inputs_make_waits_for_the_product_before_its_first_reader():
    def fn(x, y):
        early = jnp.sin(x)
        late = (y @ y) @ y
        return jnp.sort(early) + late

    _, graph = assert_rewritten(delay, lambda x, y: (y @ y) @ jnp.tril(jnp.sin(x) @ y) @ jnp.cos(x), X, X + 1)
    place = primitives(graph).index("optimization_barrier")
    assert place < primitives(graph).index("cos")
    held, waited_for = graph.jaxpr.eqns[place].invars
    assert held is graph.jaxpr.invars[0]
    assert any(waited_for is eqn.outvars[0] for eqn in graph.jaxpr.eqns if eqn.primitive.name == "dot_general")
    closed, graph = assert_rewritten(delay, fn, X, X + 1)
    assert graph is not closed and primitives(graph).index("sin") > primitives(graph).index("optimization_barrier")


def test_results_of_what_waits_and_chains_of_it_are_made_together():
    def fn(x, y):
        a = jnp.sin(x)
        b = jnp.cumsum(a, 0) * a
        return (y @ y) @ y @ b + jnp.sort(y)

    _, graph = assert_rewritten(delay, fn, X, X + 1)
    names = primitives(graph)
    assert names.count("optimization_barrier") == 1
    assert names.index("optimization_barrier") < names.index("sin") < names.index("cumsum")


def test_what_would_be_there_anyway_does_not_wait(using_machine):
    def read_at_once(x, y):
        return ((jnp.sin(x) @ y) @ y) @ y

    def read_twice(x, y):  # what cos makes is of something that the first product needs at once
        early = jnp.cumsum(x, 0)
        return ((early @ y) @ y) @ jnp.cos(early)

    using_machine(late_kernels=3)
    for fn in (read_at_once, read_twice, lambda x, y: (y @ y, jnp.sin(x)), lambda x, y: jnp.sin(x) + y):
        closed = graph_of(fn, X, X)
        assert delay(closed) is closed
    using_machine(late_bytes=1 << 10)
    closed = graph_of(backward, [X] * 4, X, X)
    assert delay(closed) is closed


def test_nothing_waits_for_what_is_read_no_more():  # XLA would drop it from the barrier
    def fn(x, y):
        read_later = y @ x
        read_no_more = jnp.sort(y @ y)
        return jnp.sort(jnp.sin(x)) + read_later + read_no_more

    _, graph = assert_rewritten(delay, fn, X, X + 1)
    (barrier,) = [eqn for eqn in graph.jaxpr.eqns if eqn.primitive.name == "optimization_barrier"]
    products = [eqn for eqn in graph.jaxpr.eqns if eqn.primitive.name == "dot_general"]
    assert barrier.invars[-1] is products[0].outvars[0]
    assert any(barrier.outvars[-1] in eqn.invars for eqn in graph.jaxpr.eqns)


@pytest.mark.slow
def test_random_bits_wait_and_effects_stay_where_they_are():
    def dropped(key, x):
        for k in jax.random.split(key, 3):
            x = x @ x
            x = jnp.where(jax.random.bernoulli(k, 0.5, x.shape), x, 0.0)
        return x

    def dropped_by_bits_drawn_first(key, x):
        masks = [jax.random.bernoulli(k, 0.5, x.shape) for k in jax.random.split(key, 3)]
        for mask in masks:
            x = jnp.where(mask, x @ x, 0.0)
        return x

    for fn in dropped, dropped_by_bits_drawn_first:
        _, graph = assert_rewritten(delay, fn, jax.random.key(0), X)
        names = primitives(graph)
        assert names.index("optimization_barrier") < len(names) - 1 - names[::-1].index("random_bits")

    def printing(x, y):
        jax.debug.print("{}", jnp.sin(x).sum(), ordered=True)
        return y @ y @ y @ jnp.cos(x)

    closed = graph_of(printing, X, X)
    graph = delay(closed)
    effects = [eqn.primitive.name for eqn in closed.jaxpr.eqns if eqn.effects]
    assert effects and [eqn.primitive.name for eqn in graph.jaxpr.eqns if eqn.effects] == effects
    assert graph.effects == closed.effects


@pytest.mark.parametrize("seed", seeds(30, 1))
def test_random_programs_agree(seed):
    fn, args = matrix_program(seed)
    closed, graph = assert_rewritten(delay, fn, *args, rtol=1e-5)
    early = sum(map(is_cheap, closed.jaxpr.eqns))
    assert len(graph.jaxpr.eqns) - len(closed.jaxpr.eqns) <= early  # barriers, and nothing else


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(8, 1))
def test_random_models_agree(seed):
    _, fn, args = model(seed)
    assert_rewritten(delay, fn, *args, rtol=1e-5)


@pytest.mark.slow
def test_a_backward_of_residuals_needs_less_memory():
    closed = graph_of(backward, WIDE, W, WIDE[0])

    def needed(graph):
        compiled = jax.jit(jaxpr_as_fun(graph), compiler_options=keeping_barriers()).lower(*closed.in_avals).compile()
        return compiled.memory_analysis().temp_size_in_bytes

    estimate = functools.partial(temporaries.temporaries, closed.jaxpr.eqns, set(closed.jaxpr.outvars), 1 << 40)
    assert needed(delay(closed)) < 0.7 * needed(closed)
    assert estimate(delayed=True).peak() < 0.7 * estimate().peak()
    sequential = SequentialExecutable(closed, (), "backward", None, limit=machine().kept_bytes)
    assert sequential.temporary_bytes == [needed(delay(closed))]
    for got, want in zip(sequential.call(*WIDE, W, WIDE[0]), backward(WIDE, W, WIDE[0]), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
