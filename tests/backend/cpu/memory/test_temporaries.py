"""What XLA needs for temporaries is estimated from shapes alone."""

import functools

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from benchmarks.random_models import model
from jaxaot._jax import jaxpr_as_fun
from jaxaot.backend.cpu.memory.delay import delay
from jaxaot.backend.cpu.memory.temporaries import temporaries
from jaxaot.backend.cpu.options import keeping_barriers
from jaxaot.backend.cpu.tune import tune
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import variables
from tests.declared import BY_DEFAULT
from tests.seeds import seeds

SIDE = 64
ONE = SIDE * SIDE * 4
X = jnp.ones((SIDE, SIDE))


def estimate(fn, *args, ceiling=1 << 40):
    """Returns how many arrays of `SIDE` by `SIDE` are in memory at once."""
    jaxpr = jax.make_jaxpr(fn)(*args).jaxpr
    return temporaries(jaxpr.eqns, set(variables(jaxpr.outvars)), ceiling).peak() / ONE


def test_what_is_read_no_more_makes_room():
    assert estimate(lambda x: functools.reduce(lambda y, _: y @ x, range(8), x), X) == 2


def test_what_needs_inputs_only_is_there_from_the_start():
    assert estimate(lambda x, *ws: functools.reduce(lambda y, w: y @ jnp.sort(w), ws, x), X, *[X] * 6) == 7


def test_what_is_computed_where_it_is_read_is_in_no_memory():
    assert estimate(lambda x: (jnp.tanh(x) * 2 + 1).sum(), X) == 0
    assert estimate(lambda x: jnp.sort(jnp.tanh(x) * 2), X) == 1  # what sorts is a kernel of its own
    assert estimate(lambda x: jnp.sort(lax.optimization_barrier(jnp.tanh(x))), X) == 1
    assert estimate(lambda x: (jnp.broadcast_to(x.sum(), x.shape) @ x, x.sum() * 2)[1], X) < 0.01


def test_what_is_written_in_place_has_the_memory_of_what_was_there():
    assert estimate(lambda x: jnp.sort(lax.dynamic_update_slice(jnp.sort(x), x[:1], (0, 0))), X) == pytest.approx(
        1, 0.1
    )
    assert estimate(lambda x: jnp.sort(jnp.sort(x).reshape(-1)), X) == 1


def test_bodies_of_loops_and_values_above_the_ceiling():
    def body(x, _):
        return jnp.sort(jnp.sort(x, 0), 1) @ x, None

    assert estimate(lambda x: lax.scan(body, x, length=3)[0], X) == 2
    assert estimate(lambda x: jnp.sort(jnp.sort(x, 0), 1), X, ceiling=ONE - 1) == 0

    def elementwise(x):
        y = x * x + 1
        return y * jnp.exp(y), y + jnp.sin(y)

    assert estimate(lambda x: lax.cond(x.max() > 0, elementwise, lambda x: (x, x), x), X) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(10, 1))
def test_it_is_about_what_xla_says(seed):
    _, fn, args = model(seed)
    closed = tune(inline(jax.make_jaxpr(fn)(*args), also_custom=True), BY_DEFAULT).jaxpr
    returned = set(variables(closed.jaxpr.outvars))
    for graph, delayed in ((closed, False), (delay(closed), True)):
        compiled = jax.jit(jaxpr_as_fun(graph), compiler_options=keeping_barriers()).lower(*args).compile()
        found = temporaries(closed.jaxpr.eqns, returned, 1 << 40, delayed).peak()
        assert 0.5 < found / compiled.memory_analysis().temp_size_in_bytes < 2
