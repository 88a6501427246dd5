"""A joint graph is `jax.vjp` written out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxaot._jax import jaxpr_as_fun
from jaxaot.errors import NotDifferentiableError
from jaxaot.ir.check import check_graph
from jaxaot.ir.roles import Cotangent, Gradient, Output, Primal
from jaxaot.ir.walk import forward_index, is_backward, source_line, user_scopes
from jaxaot.joint import build_joint
from tests.partition.programs import clipped, random_arguments, random_program, scaled
from tests.seeds import seeds


def joint_of(fn, args, inputs, outputs=(0,), **names):
    joint = build_joint(jax.make_jaxpr(fn)(*args), inputs, outputs, **names)
    check_graph(joint.jaxpr)
    return joint


def run(joint, args, cotangents):
    results = jaxpr_as_fun(joint.jaxpr)(*args, *cotangents)
    return results[: joint.n_outputs], results[joint.n_outputs :]


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", seeds(12, 4))
def test_outputs_and_gradients(seed):
    program, args = random_program(seed), random_arguments(seed)
    outputs, gradients = run(joint_of(program, args, (0, 1)), args, (jnp.float32(2.0),))
    for got, want in zip(outputs, program(*args), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    for got, want in zip(gradients, jax.grad(lambda *a: 2 * program(*a)[0], (0, 1))(*args), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_roles():
    joint = joint_of(lambda x, n, w: (n + 1, x * w, x), (1.0, 2, 3.0), (2, 0), (1,), names=("x", "n", "w"))
    assert joint.in_roles == (Primal(0, "x"), Primal(1, "n"), Primal(2, "w"), Cotangent(1))
    assert joint.out_roles == (Output(0), Output(1), Output(2), Gradient(2), Gradient(0))
    assert (joint.n_primals, joint.n_cotangents, joint.n_outputs, joint.n_gradients) == (3, 1, 3, 2)
    assert joint.differentiable_inputs == (2, 0)
    assert joint.differentiable_outputs == (1,)
    assert str(joint).startswith("joint(x: f32[], n: i32[], w: f32[], ct1: f32[])")


def test_custom_rules_are_followed():
    assert run(joint_of(scaled, (1.0,), (0,)), (1.0,), (1.0,))[1] == [3.0]
    assert run(joint_of(clipped, (5.0,), (0,)), (5.0,), (1.0,))[1] == [1.0]
    inside = jax.jit(lambda x: jax.jit(scaled)(x) * 1.0)
    assert run(joint_of(inside, (1.0,), (0,)), (1.0,), (1.0,))[1] == [3.0]


def test_custom_rules_are_followed_twice():
    @jax.custom_jvp
    def square(x):
        return x * x

    square.defjvp(lambda p, t: (square(*p), scaled(p[0]) * t[0]))  # second derivative by the rule of `scaled`: 3
    first = joint_of(square, (2.0,), (0,))
    second = build_joint(first.jaxpr, (0,), (1,))
    _, (gradient,) = run(second, (2.0, 1.0), (1.0,))
    assert gradient == 3.0


def test_every_equation_knows_where_it_comes_from():
    def fn(x, w):
        with jax.named_scope("block"):
            y = jnp.tanh(x @ w)
        return (y * y).sum()

    args = (jnp.ones((2, 3)), jnp.ones((3, 4)))
    eqns = joint_of(fn, args, (0, 1)).jaxpr.jaxpr.eqns
    found = [(eqn.primitive.name, forward_index(eqn), is_backward(eqn), user_scopes(eqn)) for eqn in eqns]
    assert ("tanh", 1, False, "block") in found
    assert ("dot_general", 0, False, "block") in found
    assert ("dot_general", 0, True, "block") in found
    assert ("broadcast_in_dim", 3, True, "") in found
    assert None not in [index for _, index, _, _ in found]
    assert {source_line(eqn).split(":")[0] for eqn in eqns} == {"test_joint.py"}


def test_a_joint_graph_is_differentiable_again():
    def fn(x):
        with jax.named_scope("inner"):
            return jnp.sin(x) * x

    first = joint_of(fn, (0.5,), (0,))
    second = joint_of(jaxpr_as_fun(first.jaxpr), (0.5, 1.0), (0, 1), (1,))
    direct = build_joint(first.jaxpr, (0, 1), (1,))
    wanted = jax.grad(lambda x, ct: jax.grad(fn)(x) * ct, (0, 1))(0.5, 1.0)
    for joint in (second, direct):
        np.testing.assert_allclose(run(joint, (0.5, 1.0), (1.0,))[1], wanted, rtol=1e-6)
    for eqn in direct.jaxpr.jaxpr.eqns:
        assert forward_index(eqn) is not None
        assert user_scopes(eqn) == "inner"
        assert str(eqn.source_info.name_stack).count("fw") == 1


def test_gradients_that_are_always_zero_are_marked():
    def fn(x, unused, stopped):
        return (x * jax.lax.stop_gradient(stopped)).sum()

    args = (jnp.ones(3), jnp.ones(2), jnp.ones(3))
    joint = joint_of(fn, args, (0, 1, 2))
    assert joint.zero_gradients == (False, True, True)
    _, gradients = run(joint, args, (jnp.float32(1.0),))
    assert [g.shape for g in gradients] == [(3,), (2,), (3,)]
    assert not gradients[1].any()


def test_integers_keys_and_weak_types():
    def fn(x, n, key):
        return x * n, jax.random.normal(key, (2,)).sum() * x, n

    args = (2.0, 3, jax.random.key(0))
    joint = joint_of(fn, args, (0,), (0, 1))
    assert not any(getattr(aval, "weak_type", False) for aval in (*joint.jaxpr.in_avals, *joint.jaxpr.out_avals))
    outputs, (gradient,) = run(joint, (jnp.float32(2.0), jnp.int32(3), args[2]), (jnp.float32(1.0), jnp.float32(0.0)))
    assert outputs[0] == 6.0 and outputs[2] == 3 and gradient == 3.0


def test_outputs_that_are_inputs_literals_or_the_same():
    joint = joint_of(lambda x: (x, 1.0, x * 2.0, x), (3.0,), (0,), (0, 2))
    outputs, (gradient,) = run(joint, (3.0,), (1.0, 1.0))
    assert list(map(float, outputs)) == [3.0, 1.0, 6.0, 3.0]
    assert gradient == 3.0


def test_low_precision_and_complex():
    x = jnp.ones(3, jnp.bfloat16)
    joint = joint_of(lambda x: (x.astype(jnp.float32) * 2.0).sum(), (x,), (0,))
    assert joint.jaxpr.out_avals[1].dtype == jnp.bfloat16
    z = jnp.array([1 + 2j])
    joint = joint_of(lambda z: (z * z).sum(), (z,), (0,))
    np.testing.assert_allclose(run(joint, (z,), (jnp.complex64(1),))[1][0], 2 * z)


def test_all_that_is_not_differentiable_is_listed():
    args = (1.0, 2, jax.random.key(0))
    with pytest.raises(NotDifferentiableError) as info:
        joint_of(lambda x, n, k: (x, n), args, (1, 2, 7), (1,), names=("x", "n", "k"))
    message = str(info.value)
    assert "input 1 (`n`) is i32[], which has no gradient" in message
    assert "input 2 (`k`) is key<fry>[], which has no gradient" in message
    assert "there is no input 7: the function has 3" in message
    assert "output 1 is i32[], which has no gradient" in message
    with pytest.raises(NotDifferentiableError, match="at least one input and one output"):
        joint_of(lambda x: x, (1.0,), ())


def test_a_while_loop_is_not_differentiable():
    with pytest.raises(NotDifferentiableError, match=r"write `ja.scan`"):
        joint_of(lambda x: jax.lax.while_loop(lambda v: v < 10.0, lambda v: v * 2.0, x), (1.0,), (0,))


def test_rules_of_users_get_arrays_that_symbols_can_index():
    @jax.custom_vjp
    def fn(x, times):
        return x * times.sum()

    def backward(residuals, ct):
        _, times = residuals
        return jax.lax.scan(lambda total, i: (total + ct * times[i], None), 0.0, jnp.arange(2))[0], None

    fn.defvjp(lambda x, times: (fn(x, times), (x, times)), backward)
    with_constant = lambda x: fn(x, jnp.array([0.0, 1.5]))
    joint = joint_of(with_constant, (2.0,), (0,))
    outputs, gradients = run(joint, (jnp.float32(2.0),), (jnp.float32(1.0),))
    assert (outputs[0], gradients[0]) == (3.0, 1.5)
