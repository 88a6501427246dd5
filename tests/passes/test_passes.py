"""Passes keep what a graph computes, and its inputs and outputs."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot._jax import jaxpr_as_fun
from jaxaot.errors import CompilerError, GraphCheckError
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline, rebuild
from jaxaot.joint import build_joint
from jaxaot.passes.cse import cse
from jaxaot.passes.dce import dce
from jaxaot.passes.pin_writes import pin_writes
from jaxaot.passes.pipeline import pass_names, register_pass, run_passes
from tests.partition.programs import random_arguments, random_program
from tests.seeds import seeds


def graph_of(fn, *args):
    return inline(jax.make_jaxpr(fn)(*args))


def names(closed):
    return [eqn.primitive.name for eqn in closed.jaxpr.eqns]


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", seeds(12, 4))
def test_values_are_kept(seed):
    program, args = random_program(seed), random_arguments(seed)
    joint = build_joint(jax.make_jaxpr(program)(*args), (0, 1), (0,))
    want = jaxpr_as_fun(joint.jaxpr)(*args, jnp.float32(1.0))
    smaller = run_passes(joint, ("cse", "dce"), check=True)
    assert len(smaller.jaxpr.eqns) < len(joint.jaxpr.eqns)
    for got, value in zip(jaxpr_as_fun(smaller.jaxpr)(*args, jnp.float32(1.0)), want, strict=True):
        np.testing.assert_allclose(got, value, rtol=1e-6, atol=1e-6)


def test_cse_computes_repeated_expressions_once():
    closed = graph_of(lambda x: jnp.sin(x) * jnp.sin(x) + jnp.cos(jnp.sin(x)), 1.0)
    assert names(cse(closed)) == ["sin", "mul", "cos", "add"]


def test_cse_tells_apart_what_differs():
    def fn(x, k1, k2):
        return x.sum(0), x.sum(1), x * 0.0, x * -0.0, jax.random.bits(k1), jax.random.bits(k2), jax.random.bits(k1)

    closed = graph_of(fn, jnp.ones((2, 2)), jax.random.key(0), jax.random.key(1))
    assert len(closed.jaxpr.eqns) - len(cse(closed).jaxpr.eqns) == 1


def test_cse_leaves_effects_and_barriers():
    def fn(x):
        jax.debug.print("{}", x)
        jax.debug.print("{}", x)
        return jax.lax.optimization_barrier(x) + jax.lax.optimization_barrier(x)

    closed = graph_of(fn, 1.0)
    assert len(cse(closed).jaxpr.eqns) == 5
    check_graph(cse(closed))


def test_cse_of_outputs():
    closed = graph_of(lambda x: (jnp.sin(x), jnp.sin(x)), 1.0)
    assert len(cse(closed).jaxpr.outvars) == 2
    assert names(cse(closed)) == ["sin"]


def test_cse_of_equations_that_drop_different_results():
    def fn(x):
        first, _ = jax.lax.top_k(x, 2)
        _, second = jax.lax.top_k(x, 2)
        return first, second

    closed = cse(dce(graph_of(fn, jnp.arange(4.0))))
    check_graph(closed)
    np.testing.assert_array_equal(jaxpr_as_fun(closed)(jnp.arange(4.0))[1], [3, 2])


def test_dce_keeps_inputs_and_effects():
    def fn(x, unused):
        jnp.cos(x)
        jax.debug.print("{}", jnp.exp(x))
        return jnp.sin(x)

    closed = dce(graph_of(fn, 1.0, 2.0))
    assert len(closed.jaxpr.invars) == 2
    assert names(closed)[0] == "exp" and names(closed)[-1] == "sin" and len(names(closed)) == 3


def test_dce_drops_constants():
    table = np.ones(100, np.float32)
    closed = graph_of(lambda x: (jnp.asarray(table) + x, x)[1], 1.0)
    assert dce(closed).consts == []


def test_passes_by_name_and_of_your_own():
    closed = graph_of(lambda x: jnp.sin(x) + jnp.sin(x), 1.0)
    record = []
    run_passes(closed, ("cse", lambda graph: graph), record=record)
    assert [(r.name, r.n_before, r.n_after) for r in record] == [("cse", 3, 2), ("<lambda>", 2, 2)]
    assert str(record[0]).startswith("cse: 3 → 2 equations in ")
    with pytest.raises(CompilerError, match=r"There is no pass `cze`. The passes are: cse, dce, drop_zero_sums"):
        run_passes(closed, ("cze",))
    register_pass("nothing", lambda graph: graph)
    assert "nothing" in pass_names()


def test_a_pass_that_changes_the_interface_is_found():
    def drop_outputs(closed):
        return rebuild(inline(jax.make_jaxpr(lambda x: ())(1.0)), [], [])

    with pytest.raises(GraphCheckError, match="The pass `drop_outputs` changed the outputs"):
        run_passes(graph_of(jnp.sin, 1.0), (drop_outputs,))


def test_pin_writes_holds_a_write_that_is_read_again():
    def write_and_read(cache, row, other):
        cache = jax.lax.dynamic_update_slice(cache, row, (5, 0))
        seen = cache[:8].sum()
        flat = cache.reshape(-1)
        again = flat.at[3].add(seen)
        unseen = jax.lax.dynamic_update_slice(other, row, (0, 0))  # returned, not read
        scratch = jnp.zeros((16, 4)).at[2].set(row[0])  # read, but no input's buffer
        return again.reshape(16, 4), unseen, again[:2], scratch.sum()

    args = (jnp.arange(64.0).reshape(16, 4), jnp.ones((1, 4)), jnp.zeros((3, 4)))
    closed = graph_of(write_and_read, *args)
    pinned = pin_writes(closed)
    check_graph(pinned)
    found = names(pinned)
    assert found.count("optimization_barrier") == 2
    for before, after in itertools.pairwise(found):
        assert after != "optimization_barrier" or before in ("dynamic_update_slice", "scatter-add")
    for got, wanted in zip(jaxpr_as_fun(pinned)(*args), write_and_read(*args), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_pin_writes_leaves_other_graphs_alone():
    closed = graph_of(lambda x, y: (x.at[0].set(y), y + 1), jnp.ones(3), 2.0)
    assert pin_writes(closed) is closed


def test_a_function_in_the_settings_is_a_pass():
    seen = []

    def counted(closed):
        seen.append(len(closed.eqns))
        return closed

    x = ja.arange(4.0).requires_grad_()
    with ja.config(passes=("cse", counted, "dce")):
        ja.compile(lambda x: (x.sin() * x).sum())(x).backward()
        jitted = ja.jit(lambda x: jnp.sin(x) * 2)(jnp.ones(3))
    assert seen
    np.testing.assert_allclose(jitted, [2 * np.sin(1)] * 3, rtol=1e-6)
    wanted = np.sin(np.arange(4)) + np.arange(4) * np.cos(np.arange(4))
    np.testing.assert_allclose(x.grad.numpy(), wanted, rtol=1e-5)
    with ja.config(passes=(lambda closed: dce(rebuild(closed, closed.eqns, [])),)), pytest.raises(GraphCheckError):
        ja.compile(lambda x: x.sin().sum())(x)
