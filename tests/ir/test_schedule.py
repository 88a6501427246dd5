"""In which order a backward recomputes, and what it recomputes again rather than keep it."""

from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import jaxpr_as_fun
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline
from jaxaot.ir.schedule import recompute_late
from jaxaot.partition.partition import partition
from tests.partition.programs import joint_of


def graph_of(fn, *args):
    return inline(jax.make_jaxpr(fn)(*args))


def count(closed):
    return Counter(eqn.primitive.name for eqn in closed.jaxpr.eqns)


def names(closed):
    return [eqn.primitive.name for eqn in closed.jaxpr.eqns]


X = jnp.linspace(0.1, 1.0, 16).reshape(4, 4)


def far_apart(x, w, ct):
    """Reads the cheap `sin(x)` and the costly `x @ w` first and last."""
    y, z = jnp.sin(x), x @ w
    ct = ct * y * z
    for _ in range(8):
        ct = (ct @ w) * ct
    return ct * y * z


def test_what_is_recomputed_comes_right_before_its_first_use():
    def backward(x, ct):
        y, z, _unread = jnp.sin(x), jnp.cos(x), jnp.exp(x)
        ct = ct @ y
        return ct @ z

    assert names(recompute_late(graph_of(backward, X, X), 1)) == ["sin", "dot_general", "cos", "dot_general"]


def test_a_cheap_value_is_recomputed_again_where_it_is_read_much_later():
    graph = graph_of(far_apart, X, X, X)
    kept, redone = recompute_late(graph, 2, span=100), recompute_late(graph, 2, span=5)
    assert count(kept) == count(graph)
    assert count(redone) - count(kept) == Counter(sin=1)  # what is costly is never computed twice
    check_graph(redone)
    np.testing.assert_array_equal(jaxpr_as_fun(redone)(X, X, X)[0], jaxpr_as_fun(graph)(X, X, X)[0])


def test_a_long_chain_is_not_recomputed_for_each_of_its_values():
    def chain(x):
        for _ in range(150):
            x = jnp.sin(x)
        return x.sum()

    parts = partition(joint_of(chain, (jnp.ones(4),), (0,)), "save_nothing")
    assert count(parts.backward)["sin"] < 200  # not 150 times up to 150: only what a few equations make is redone
    assert len(parts.recomputed) == len({v.name for v in parts.recomputed})


def test_effects_keep_their_place_and_outputs_that_are_recomputed_are_there():
    def backward(x, ct):
        y = jnp.sin(x)
        jax.debug.print("{}", y[0, 0])
        return ct * 2.0, y, x, 1.0

    graph = recompute_late(graph_of(backward, X, X), 1)
    assert names(graph).index("debug_print") < names(graph).index("mul")
    assert count(graph)["sin"] == 1
    check_graph(graph)
