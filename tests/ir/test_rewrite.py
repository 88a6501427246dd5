"""Inlining, extracting and substituting keep what a graph computes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxaot._jax import jaxpr_as_fun
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import extract, inline, rebuild, substitute
from jaxaot.ir.walk import source_line, user_scopes
from tests.partition.programs import random_arguments, random_program
from tests.seeds import seeds, some


def names(closed):
    return [eqn.primitive.name for eqn in closed.jaxpr.eqns]


@pytest.mark.parametrize("seed", seeds(12, 2))
@pytest.mark.parametrize("also_custom", some([True, False], 1))
def test_inlining_keeps_values(seed, also_custom):
    program, args = random_program(seed), random_arguments(seed)
    flat = inline(jax.make_jaxpr(program)(*args), also_custom)
    check_graph(flat)
    assert not {"jit", "pjit"} & set(names(flat))
    assert not also_custom or not {"custom_jvp_call", "custom_vjp_call"} & set(names(flat))
    for got, want in zip(jaxpr_as_fun(flat)(*args), program(*args), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_one_body_called_twice_gets_variables_of_its_own():
    inner = jax.jit(lambda x: jnp.sin(x) * 2.0)
    flat = inline(jax.make_jaxpr(lambda x: inner(x) + inner(inner(x)))(1.0))
    check_graph(flat)
    assert names(flat) == ["sin", "mul"] * 3 + ["add"]


def test_a_call_that_returns_its_inputs_literals_and_constants():
    table = np.arange(4.0, dtype=np.float32)

    @jax.jit
    def inner(x, y):
        return y, 3.0, x, jnp.asarray(table) + x, x

    flat = inline(jax.make_jaxpr(lambda x: inner(x, x * 2.0))(jnp.ones(4)))
    check_graph(flat)
    got = jaxpr_as_fun(flat)(jnp.ones(4))
    np.testing.assert_array_equal(got[3], table + 1)
    assert float(got[1]) == 3.0


def test_scopes_and_source_lines_survive():
    @jax.jit
    def inner(x):
        with jax.named_scope("deep"):
            return jnp.sin(x)

    def outer(x):
        with jax.named_scope("block"):
            return inner(x), jax.nn.relu(x)

    flat = inline(jax.make_jaxpr(outer)(1.0), also_custom=True)
    assert [user_scopes(eqn) for eqn in flat.jaxpr.eqns] == ["block/deep", "block"]
    assert all(source_line(eqn).startswith("test_rewrite.py:") for eqn in flat.jaxpr.eqns)


def test_equations_of_library_functions_name_the_line_that_calls_them():
    def fn(x):
        a = jnp.where(x > 0, x, 0.0)
        return jnp.where(x > 1, a, 0.0)  # traced before, with the line above

    lines = [source_line(eqn) for eqn in inline(jax.make_jaxpr(fn)(jnp.ones(3))).jaxpr.eqns]
    selects = [eqn for eqn in inline(jax.make_jaxpr(fn)(jnp.ones(3))).jaxpr.eqns if eqn.primitive.name == "select_n"]
    first, second = (int(source_line(eqn).split(":")[1]) for eqn in selects)
    assert second == first + 1
    assert None not in lines


def test_a_jit_with_shardings_is_left_alone():
    place = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    inner = jax.jit(jnp.sin, in_shardings=place)
    assert names(inline(jax.make_jaxpr(inner)(jnp.ones(2)))) == ["jit"]


def test_effects_and_equations_without_results_survive():
    def fn(x):
        jax.debug.print("{}", x)
        return x

    flat = inline(jax.make_jaxpr(jax.jit(fn))(1.0))
    check_graph(flat)
    assert flat.jaxpr.effects
    assert len(flat.jaxpr.eqns) == 1


def test_extract():
    closed = jax.make_jaxpr(lambda x: jnp.cos(jnp.sin(x) * jnp.arange(3.0)))(jnp.ones(3))
    flat = inline(closed)
    eqns = flat.jaxpr.eqns
    tail = [eqn for eqn in eqns if eqn.primitive.name in ("mul", "cos")]
    middle = next(eqn for eqn in eqns if eqn.primitive.name == "sin").outvars[0]
    constants = dict(zip(flat.jaxpr.constvars, flat.consts, strict=True))
    others = [v for v in tail[0].invars if v is not middle and v not in constants]
    part = extract(tail, [middle, *others], tail[-1].outvars, constants)
    check_graph(part)
    args = [jnp.ones(3), *(jnp.arange(3.0) for _ in others)]
    np.testing.assert_allclose(jaxpr_as_fun(part)(*args)[0], jnp.cos(jnp.arange(3.0)), rtol=1e-6)
    with pytest.raises(KeyError):
        extract(tail, [], tail[-1].outvars)


def test_substitute_and_rebuild():
    closed = jax.make_jaxpr(lambda x, y: jnp.sin(x) + y)(1.0, 2.0)
    x, y = closed.jaxpr.invars
    eqns = [eqn.replace(invars=substitute(eqn.invars, {x: y})) for eqn in closed.jaxpr.eqns]
    changed = rebuild(closed, eqns, closed.jaxpr.outvars)
    check_graph(changed)
    np.testing.assert_allclose(jaxpr_as_fun(changed)(1.0, 2.0)[0], np.sin(2.0) + 2.0, rtol=1e-6)
