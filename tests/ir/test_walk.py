"""Reading graphs: sizes, slices, and when two equations are the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxaot.ir.cost import eqn_bytes, eqn_flops, graph_flops
from jaxaot.ir.primitives import Kind, is_cheap, is_pure, is_view, kind
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import (
    Makers,
    aval_bytes,
    backward_slice,
    equation_key,
    forward_slice,
    param_key,
    sub_jaxprs,
    users,
)


def graph_of(fn, *args):
    return inline(jax.make_jaxpr(fn)(*args))


@pytest.mark.parametrize(
    ("shape", "dtype", "n_bytes"),
    [
        ((3, 4), jnp.float32, 48),
        ((3,), jnp.bool_, 3),
        ((5,), jnp.int4, 5),
        ((2,), jnp.bfloat16, 4),
        ((), jnp.complex64, 8),
        ((7,), jnp.float8_e4m3fn, 7),
        ((0, 3), jnp.float32, 0),
        ((10**10, 10**10), jnp.float32, 4 * 10**20),
    ],
)
def test_bytes(shape, dtype, n_bytes):
    assert aval_bytes(jax.ShapeDtypeStruct(shape, dtype)) == n_bytes


def test_bytes_of_a_typed_key_are_those_of_its_data():
    assert aval_bytes(jax.eval_shape(lambda: jax.random.key(0))) == 8
    assert aval_bytes(jax.eval_shape(lambda: jax.random.split(jax.random.key(0, impl="rbg"), 3))) == 48


def test_producers_users_and_slices():
    jaxpr = graph_of(lambda x, y: (jnp.sin(x) * y, jnp.cos(y)), 1.0, 2.0).jaxpr
    x, y = jaxpr.invars
    assert [jaxpr.eqns[i].primitive.name for i in Makers(jaxpr).position.values()] == ["sin", "mul", "cos"]
    assert users(jaxpr.eqns) == {x: [0], jaxpr.eqns[0].outvars[0]: [1], y: [1, 2]}
    assert backward_slice(jaxpr, jaxpr.outvars[:1]) == {0, 1}
    assert backward_slice(jaxpr, jaxpr.outvars[:1], stop=jaxpr.eqns[0].outvars) == {1}
    assert forward_slice(jaxpr, [x]) == {0, 1}


def test_sub_jaxprs():
    jaxpr = graph_of(lambda x: jax.lax.cond(x > 0, jnp.sin, jnp.cos, x), 1.0).jaxpr
    assert [len(sub_jaxprs(eqn)) for eqn in jaxpr.eqns if eqn.primitive.name == "cond"] == [2]


def test_keys_of_equations():
    jaxpr = graph_of(
        lambda x: (x * 2.0, x * 2.0, x * 3.0, x + 0.0, x + -0.0, x.sum(0), x.sum(1), x.sum((0, 1))), jnp.ones((2, 2))
    ).jaxpr
    keys = [equation_key(eqn) for eqn in jaxpr.eqns]
    assert keys[0] == keys[1]
    assert len(set(keys)) == len(keys) - 1


def test_keys_of_parameters():
    assert param_key((1, 2)) == param_key((1, 2))
    assert param_key(1) != param_key(True)
    assert param_key(0.0) != param_key(-0.0)
    assert param_key(float("nan")) == param_key(float("nan"))
    assert param_key({"a": 1}) == param_key({"a": 1})
    big = np.zeros(10**6)
    assert param_key(big) == param_key(big)
    assert param_key(big) != param_key(np.zeros(10**6))


def kinds_of(fn, *args):
    return {kind(eqn) for eqn in graph_of(fn, *args).jaxpr.eqns}


def test_kinds():
    x = jnp.ones((4, 4))
    assert kinds_of(lambda x: x @ x, x) == {Kind.MATMUL}
    assert kinds_of(jnp.tanh, x) == {Kind.TRANSCENDENTAL}
    assert kinds_of(lambda x: x.T, x) == {Kind.VIEW}
    assert kinds_of(lambda x: jnp.linalg.cholesky(x, symmetrize_input=False), x) >= {Kind.LINALG}
    assert kinds_of(lambda x: jax.lax.scan(lambda c, v: (c, v), x, x), x) == {Kind.CONTROL}
    assert Kind.RANDOM in kinds_of(lambda k: jax.random.normal(k, (3,)), jax.random.key(0))
    assert kinds_of(jax.nn.relu, x) == {Kind.POINTWISE}  # custom_jvp_call, by its body
    assert kinds_of(lambda x: jax.pure_callback(np.sin, x, x), x) == {Kind.OPAQUE}


def test_predicates():
    eqns = graph_of(lambda x: (x.T, x @ x, jax.debug.print("{}", x)), jnp.ones((2, 2))).jaxpr.eqns
    assert [is_view(eqn) for eqn in eqns][:2] == [True, False]
    assert [is_cheap(eqn) for eqn in eqns][:2] == [True, False]
    assert [is_pure(eqn) for eqn in eqns] == [True, True, False]


def test_flops_and_bytes():
    jaxpr = graph_of(lambda x, w: x @ w, jnp.ones((3, 4)), jnp.ones((4, 5))).jaxpr
    assert eqn_flops(jaxpr.eqns[0]) == 2 * 3 * 4 * 5
    assert eqn_bytes(jaxpr.eqns[0]) == 4 * (12 + 20 + 15)
    loop = graph_of(lambda x: jax.lax.scan(lambda c, v: (c @ v, None), x[0], x)[0], jnp.ones((7, 4, 4)))
    assert graph_flops(loop) >= 7 * 2 * 4**3
    images, kernels = jnp.ones((2, 8, 8, 3)), jnp.ones((3, 3, 3, 5))
    numbers = ("NHWC", "HWIO", "NHWC")
    conv = graph_of(
        lambda x, k: jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=numbers), images, kernels
    )
    assert graph_flops(conv) == 2 * (2 * 5 * 3) * (3 * 8 - 2) ** 2  # padding is not multiplied
