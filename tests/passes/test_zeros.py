"""Cotangents that are zero: what follows from them is not computed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxaot._jax import jaxpr_as_fun
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline
from jaxaot.partition.partition import partition
from jaxaot.passes.zeros import drop_zeros
from tests.partition.programs import joint_of, random_arguments, random_program
from tests.seeds import seeds

X = jnp.linspace(0.1, 1.0, 16).reshape(4, 4)


def names(closed):
    return [eqn.primitive.name for eqn in closed.jaxpr.eqns]


def test_what_is_left_of_a_sum():
    def backward(x, first, second):
        return jax.lax.add_p.bind((first @ x.T) * 2.0, jnp.sin(x) * second), first.sum(0)

    graph = drop_zeros(inline(jax.make_jaxpr(backward)(X, X, X)), [1])
    assert names(graph) == ["sin", "mul", "broadcast_in_dim"]
    check_graph(graph)
    got, zero = jaxpr_as_fun(graph)(X, X)
    np.testing.assert_array_equal(got, jnp.sin(X) * X)
    np.testing.assert_array_equal(zero, np.zeros(4))


def test_an_equation_that_it_does_not_know_gets_zeros():
    graph = drop_zeros(inline(jax.make_jaxpr(lambda x, a, b: jnp.sort(a) + jnp.cos(a) * b)(X, X, X)), [1])
    np.testing.assert_allclose(jaxpr_as_fun(graph)(X, X)[0], X)


@pytest.mark.parametrize("seed", seeds(16, 5))
def test_random_backwards(seed):
    program, args = random_program(seed), random_arguments(seed)
    parts = partition(joint_of(program, args, (0, 1), (0, 1)), "save_nothing")
    n = len(parts.plan.residuals)
    primals = [args[source.index] for source in parts.plan.residuals if hasattr(source, "index")]
    if len(primals) != n or any(type(s).__name__ != "FromPrimal" for s in parts.plan.residuals):
        primals = [jnp.ones(aval.shape, aval.dtype) * 0.5 for aval in parts.backward.in_avals[:n]]
    cotangents = [jnp.float32(1.0), jnp.cos(X)]
    for zero in (0, 1):
        graph = drop_zeros(parts.backward, [n + zero])
        check_graph(graph)
        got = jaxpr_as_fun(graph)(*primals, cotangents[1 - zero])
        cleared = [jnp.zeros_like(ct) if i == zero else ct for i, ct in enumerate(cotangents)]
        for a, b in zip(got, jaxpr_as_fun(parts.backward)(*primals, *cleared), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
