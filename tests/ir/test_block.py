"""A block that repeats is differentiated once, and each equation is that of its own iteration."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxaot._jax import jaxpr_as_fun
from jaxaot.ir.block import Block, block_function
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import forward_index, is_backward, user_scopes
from jaxaot.joint import build_joint

X, WEIGHTS = jnp.linspace(-1, 1, 12).reshape(3, 4), [jnp.eye(4) * k for k in (1.0, 2.0, 3.0)]


def layered(x, *weights):
    x = x + 1
    for i, w in enumerate(weights):
        with jax.named_scope(f"layer{i}"):
            x = jnp.tanh(x @ w) + x
    return (x**2).sum()


@pytest.fixture
def graph():
    return inline(jax.make_jaxpr(layered)(X, *WEIGHTS))


def test_a_joint_graph_of_calls_of_one_block_is_the_same_graph(graph):
    block = Block(1, 3, 3)
    assert block_function(graph.jaxpr, block) is not None
    plain, made = (build_joint(graph, [0, 1, 2, 3], [0], block=b) for b in (None, block))
    values = X, *WEIGHTS, jnp.ones(())
    for one, other in zip(jaxpr_as_fun(plain.jaxpr)(*values), jaxpr_as_fun(made.jaxpr)(*values), strict=True):
        np.testing.assert_array_equal(one, other)
    places = [
        {(eqn.primitive.name, forward_index(eqn), is_backward(eqn), user_scopes(eqn)) for eqn in joint.jaxpr.jaxpr.eqns}
        for joint in (plain, made)
    ]
    assert {p for p in places[0] if p[0] == "dot_general"} == {p for p in places[1] if p[0] == "dot_general"}
    assert {p[3].split("/")[0] for p in places[1] if p[1] in (7, 8, 9)} == {"layer2"}


def test_iterations_that_are_wired_in_different_ways_are_no_block():
    def fn(x, y):
        for i in range(3):
            a, b = jnp.sin(x), jnp.cos(x)
            x = a * b if i < 2 else b * a
        return x + y

    jaxpr = jax.make_jaxpr(fn)(X, X).jaxpr
    assert block_function(jaxpr, Block(0, 3, 3)) is None
    assert block_function(jaxpr, Block(0, 3, 2)) is not None
