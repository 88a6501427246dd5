"""Gated recomputation computes the same, waits for the cotangents, and saves memory in one program."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

import jaxaot as ja
from jaxaot._jax import jaxpr_as_fun
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline
from jaxaot.ir.schedule import recompute_late
from jaxaot.lower.executable import Executable
from jaxaot.partition.partition import partition
from jaxaot.partition.policies import policy_names
from jaxaot.passes.gate import gate
from jaxaot.passes.prepare import prepare_backward
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal
from tests.partition.programs import joint_of, random_arguments, random_program
from tests.seeds import seeds


def graph_of(fn, *args):
    return inline(jax.make_jaxpr(fn)(*args), also_custom=True)


def primitives(closed):
    return [eqn.primitive.name for eqn in closed.jaxpr.eqns]


def gated(fn, n_early, *args):
    """Returns the gated graph of a function, checked to compute the same."""
    plain = graph_of(fn, *args)
    graph = gate(plain, n_early, small_bytes=0)
    check_graph(graph)
    for got, want in zip(jaxpr_as_fun(graph)(*args), jaxpr_as_fun(plain)(*args), strict=True):
        np.testing.assert_array_equal(got, want)
    return graph


X = jnp.linspace(0.1, 1.0, 12).reshape(3, 4)


def test_a_group_passes_one_barrier_with_what_waits_for_it():
    graph = gated(lambda x, y, ct: ct * (jnp.sin(x) + jnp.cos(y)), 2, X, X + 1, X)
    (barrier,) = [eqn for eqn in graph.jaxpr.eqns if eqn.primitive.name == "optimization_barrier"]
    assert list(barrier.invars) == list(graph.jaxpr.invars)
    assert primitives(graph) == ["optimization_barrier", "sin", "cos", "add", "mul"]
    assert graph.jaxpr.eqns[-1].invars[0] is barrier.outvars[2]


def test_each_group_waits_for_what_is_newest():
    def backward(x, ct):
        ct = ct * jnp.sin(x)
        return ct @ jnp.cos(x).T

    graph = gated(backward, 1, X, X)
    assert primitives(graph) == [
        "optimization_barrier",
        "sin",
        "mul",
        "optimization_barrier",
        "cos",
        "transpose",
        "dot_general",
    ]
    mul, second = graph.jaxpr.eqns[2:4]
    assert mul.outvars[0] in second.invars


def test_a_saved_value_is_read_behind_a_barrier():
    def backward(x, saved, ct):
        ct = (ct * saved) @ x
        return ct * saved * x

    plain = graph_of(backward, X[:, :3], X[:, :3], X[:, :3])
    graph = gate(plain, 2, small_bytes=0, saved=[1])
    check_graph(graph)
    assert primitives(graph) == ["optimization_barrier", "mul", "dot_general", "mul", "mul"]
    barrier, *after = graph.jaxpr.eqns
    assert graph.jaxpr.invars[1] in barrier.invars and graph.jaxpr.invars[0] not in barrier.invars
    assert all(graph.jaxpr.invars[1] not in eqn.invars for eqn in after)
    args = [X[:, :3] + i for i in range(3)]
    np.testing.assert_array_equal(jaxpr_as_fun(graph)(*args)[0], jaxpr_as_fun(plain)(*args)[0])


def test_what_needs_no_gate_gets_none():
    assert primitives(gated(lambda x, ct: (jnp.arange(4.0) + 1.0) * ct * 2.0, 1, X, X)) == [
        "iota",
        "add",
        "broadcast_in_dim",
        "mul",
        "mul",
    ]
    assert "optimization_barrier" not in primitives(gated(lambda x, ct: (ct, jnp.sin(x)), 1, X, X))  # nothing waits
    small = graph_of(lambda x, ct: jnp.sin(x) * ct, X, X)
    assert gate(small, 1).jaxpr.eqns[0].primitive.name == "sin"
    assert gate(small, 1, small_bytes=47).jaxpr.eqns[0].primitive.name == "optimization_barrier"


def test_what_is_returned_and_read_by_nothing_else_stays():
    graph = gated(lambda x, y, ct: (ct * y, jnp.sin(x), x, 2.0), 2, X, X, X)
    assert len(graph.out_avals) == 4


def test_side_effects_are_left_alone():
    def backward(x, ct):
        jax.debug.print("{}", x[0, 0])
        return jnp.sin(x) * ct

    assert "optimization_barrier" not in primitives(gate(graph_of(backward, X, X), 1, small_bytes=0))


def test_keys_several_cotangents_and_constants():
    table = jnp.arange(12.0).reshape(3, 4)

    def backward(key, x, ct, integer, other):
        mask = jax.random.bernoulli(key, 0.5, x.shape)
        return jnp.where(mask, ct, 0.0) + jnp.sin(x * table) * other, integer + 1

    graph = gated(backward, 2, jax.random.key(0), X, X, jnp.arange(3), X + 1)
    barriers = [eqn for eqn in graph.jaxpr.eqns if eqn.primitive.name == "optimization_barrier"]
    assert graph.jaxpr.invars[0] in barriers[0].invars
    assert graph.jaxpr.constvars[0] in barriers[-1].invars


def test_a_cotangent_without_values():
    graph = gate(graph_of(lambda x, ct: jnp.sin(x) * ct, X, X), 1, small_bytes=0)
    zero = np.zeros((3, 4), jax.dtypes.float0)
    closed = jax.make_jaxpr(lambda x, z, ct: jnp.sin(x) * ct)(X, zero, X)
    assert primitives(gate(closed, 1, small_bytes=0)) == primitives(graph)


def test_in_shard_map_each_barrier_holds_values_that_vary_alike():
    mesh = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Auto,))

    def body(x, w, ct):
        graph = graph_of(lambda x, w, ct: (jnp.sin(x) @ jnp.cos(w)).T @ (ct @ jnp.cos(w)), x, w, ct)
        held = gate(graph, 2, small_bytes=0)
        assert "optimization_barrier" in primitives(held)
        return jaxpr_as_fun(held)(x, w, ct)[0] - jaxpr_as_fun(graph)(x, w, ct)[0]

    w = jnp.linspace(0.0, 1.0, 16).reshape(4, 4)
    run = jax.shard_map(body, mesh=mesh, in_specs=(P("d"), P(), P("d")), out_specs=P(None, "d"))
    np.testing.assert_array_equal(jax.jit(run)(X, w, X), np.zeros((4, 4)))


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", seeds(12, 3))
def test_random_backwards_compute_the_same(seed):
    program, args = random_program(seed), random_arguments(seed)
    joint = joint_of(program, args, (0, 1), (0, 1))
    cotangents = (jnp.float32(1.0), jax.random.normal(jax.random.key(99), (4, 4)))
    for policy in policy_names():
        parts = partition(joint, policy)
        n_residuals = len(parts.plan.residuals)
        results = jaxpr_as_fun(parts.forward)(*args)
        n_outputs = parts.joint.n_outputs
        held = {FromPrimal: args, FromOutput: results[:n_outputs], FromForward: results[n_outputs:]}
        inputs = [*(held[type(s)][s.index] for s in parts.plan.residuals), *cotangents]
        graph = gate(inline(parts.backward, also_custom=True), n_residuals, small_bytes=0)
        check_graph(graph)
        for got, want in zip(jaxpr_as_fun(graph)(*inputs), jaxpr_as_fun(parts.backward)(*inputs), strict=True):
            np.testing.assert_array_equal(got, want)


def deep(x, *weights):
    for w in weights:
        x = jax.nn.gelu(x @ w)
    return x.sum()


def test_barriers_are_in_the_program_and_less_memory_is_held():
    args = (jnp.ones((1024, 32)), *(jnp.ones((32, 32)) / 32 for _ in range(8)))
    parts = partition(joint_of(deep, args, range(9)), "min_cut")
    n_residuals = len(parts.plan.residuals)
    with ja.config(passes=()):
        plain = Executable(inline(parts.backward, also_custom=True))
        held = Executable(prepare_backward(parts.backward, n_residuals))
    text = held.as_text(optimized=True)
    assert "opt-barrier(" in text and "opt-barrier(" not in plain.as_text(optimized=True)
    assert held.memory_analysis().temp_size_in_bytes < 0.6 * plain.memory_analysis().temp_size_in_bytes


def test_what_the_backward_of_a_loss_recomputes_first_does_not_wait():
    def backward(x, w, ct):
        y = jnp.exp(x)  # the head of the loss, needed at once
        g = (y * ct) @ w
        return g * jnp.sin(x)

    x = jnp.ones((32, 32))
    for ct, n_barriers in ((jnp.float32(1), 1), (x, 2)):
        graph = gate(recompute_late(jax.make_jaxpr(backward)(x, x, ct), 2), 2)
        assert [eqn.primitive.name for eqn in graph.jaxpr.eqns].count("optimization_barrier") == n_barriers
