"""In which order a backward recomputes, and what it recomputes again rather than keep it."""

from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import jaxpr_as_fun
from jaxaot.partition.classify import classify
from jaxaot.partition.network import build_network, choose
from jaxaot.partition.partition import partition
from jaxaot.partition.policies import get_policy
from jaxaot.partition.split import split
from tests.partition.programs import joint_of


def far_apart(x, w):
    """The cheap `sin(x)` is read first and last in the forward, so last and first in the backward."""
    y = jnp.sin(x)
    z = y
    for _ in range(8):
        z = jnp.tanh(z @ w) + x
    return (z * y).sum()


def cut(fn, args, inputs, policy, span):
    graph = classify(joint_of(fn, args, inputs))
    choices = choose(graph, get_policy(policy))
    saved, _ = build_network(graph, choices).solve()
    return split(graph, saved, choices, policy, 0, span)


def count(parts):
    return Counter(eqn.primitive.name for eqn in parts.backward.jaxpr.eqns)


def test_a_cheap_value_is_recomputed_again_where_it_is_read_much_later():
    args = (jnp.ones((4, 4)), jnp.eye(4) * 0.5)
    kept, redone = (cut(far_apart, args, (0, 1), "save_matmuls", span) for span in (10**6, 10))
    assert count(kept)["sin"] == 1
    assert count(redone)["sin"] > 1
    assert count(redone)["dot_general"] == count(kept)["dot_general"]  # what is costly is never computed twice
    assert redone.plan == kept.plan
    results = [jaxpr_as_fun(kept.forward)(*args), jaxpr_as_fun(redone.forward)(*args)]
    np.testing.assert_array_equal(results[0][0], results[1][0])


def test_a_long_chain_is_not_recomputed_for_each_of_its_values():
    def chain(x):
        for _ in range(150):
            x = jnp.sin(x)
        return x.sum()

    parts = partition(joint_of(chain, (jnp.ones(4),), (0,)), "save_nothing")
    assert count(parts)["sin"] < 200  # not 150 times up to 150: only what a few equations make is computed again
    assert len(parts.recomputed) == len({v.name for v in parts.recomputed})


def test_gradients_of_what_is_recomputed_again():
    args = (jnp.linspace(0.0, 1.0, 16).reshape(4, 4), jnp.eye(4) * 0.5)
    wanted = jax.grad(far_apart, (0, 1))(*args)
    parts = cut(far_apart, args, (0, 1), "save_nothing", 3)
    primals = [args[source.index] for source in parts.plan.residuals]
    for got, want in zip(jaxpr_as_fun(parts.backward)(*primals, jnp.float32(1.0)), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
