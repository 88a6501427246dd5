"""A partition computes what its joint graph computes, and saves what its policy says."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

import jaxaot as ja
from jaxaot._jax import jaxpr_as_fun
from jaxaot.errors import BudgetError, NotDifferentiableError, PolicyError
from jaxaot.ir.check import check_graph
from jaxaot.ir.walk import backward_slice
from jaxaot.partition.budget import parse_budget
from jaxaot.partition.classify import Side, classify
from jaxaot.partition.partition import partition
from jaxaot.partition.policies import Choice, policy_names
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal
from tests.partition.programs import gpt, joint_of, random_arguments, random_program
from tests.seeds import seeds

MIB = 2**20


def run(parts, args, cotangents, jit=False):
    """Returns the outputs and gradients of a partition, run the way the runtime would."""
    forward, backward = jaxpr_as_fun(parts.forward), jaxpr_as_fun(parts.backward)
    if jit:
        forward, backward = jax.jit(forward), jax.jit(backward)
    results = forward(*args)
    outputs, extra = results[: parts.joint.n_outputs], results[parts.joint.n_outputs :]
    assert len(extra) == parts.plan.n_extra_outputs
    held = {FromPrimal: args, FromOutput: outputs, FromForward: extra}
    residuals = [held[type(source)][source.index] for source in parts.plan.residuals]
    return outputs, backward(*residuals, *cotangents)


def check_interface(parts):
    """Nothing that the caller holds is returned a second time."""
    check_graph(parts.forward)
    check_graph(parts.backward)
    jaxpr, n_outputs = parts.forward.jaxpr, parts.joint.n_outputs
    extra = jaxpr.outvars[n_outputs:]
    assert len(set(extra)) == len(extra)
    assert not {id(v) for v in extra} & {id(v) for v in (*jaxpr.invars, *jaxpr.outvars[:n_outputs])}
    assert len(parts.backward.jaxpr.invars) == len(parts.plan.residuals) + parts.joint.n_cotangents
    assert len(set(parts.plan.residuals)) == len(parts.plan.residuals)
    sizes = [s for s in parts.plan.residuals if not isinstance(s, FromPrimal)]
    assert len(sizes) == len(parts.saved)
    assert parts.plan.extra_bytes <= parts.saved_bytes


def test_lengths_of_the_lists_of_a_partition_are_checked():
    parts = partition(joint_of(lambda x, w: (jnp.sin(x @ w) @ w).sum(), (jnp.ones((2, 2)),) * 2, (0, 1)))
    plan = dataclasses.replace(parts.plan, residuals=parts.plan.residuals[:-1])
    with pytest.raises(AssertionError, match="inputs of the backward: residuals, then cotangents: 4, not 3"):
        dataclasses.replace(parts, plan=plan)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", seeds(16, 3))
def test_gradients_equal_those_of_jax(seed):
    program, args = random_program(seed), random_arguments(seed)
    expected = program(*args)
    ct = jax.random.normal(jax.random.key(99), expected[1].shape)
    _, pull_back = jax.vjp(lambda x, w: program(x, w, *args[2:])[:2], *args[:2])
    wanted = pull_back((jnp.float32(1.0), ct))
    joint = joint_of(program, args, (0, 1), (0, 1))
    for policy in policy_names():
        parts = partition(joint, policy)
        check_interface(parts)
        outputs, gradients = run(parts, args, (jnp.float32(1.0), ct))
        for got, want in zip((*outputs, *gradients), (*expected, *wanted), strict=True):
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


@pytest.mark.slow
def test_bytes_are_ordered_by_what_policies_allow():
    for seed in range(10):
        joint = joint_of(random_program(seed), random_arguments(seed), (0, 1))
        everything, least = partition(joint, "save_all"), partition(joint, "min_cut")
        assert partition(joint, "save_nothing").saved_bytes == 0
        assert least.plan.extra_bytes <= everything.plan.extra_bytes
        assert everything.saved_bytes == everything.plan.save_all_bytes == least.plan.save_all_bytes


@pytest.fixture(scope="module")
def small_gpt():
    return gpt(n_layers=4, width=32, n_heads=2, length=16, batch=2, vocabulary=64)


@pytest.mark.slow
def test_gpt_saves_less_than_a_third():
    """4 layers, width 128, 4 heads, length 128, batch 8: jax.vjp keeps 101.25 MiB."""
    loss, args, n_parameters = gpt()
    specs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in args]
    joint = joint_of(loss, specs, range(n_parameters))
    parts = partition(joint)
    check_interface(parts)
    assert parts.saved_bytes <= 29.5 * MIB  # what the minimum cut saves that repeats no matmul
    assert parts.plan.save_all_bytes > 80 * MIB
    assert partition(joint, "save_nothing").saved_bytes == 0
    for budget in (0.2, "12MiB"):
        tight = partition(joint, memory_budget=budget)
        check_interface(tight)
        assert tight.plan.extra_bytes <= parse_budget(budget, parts.plan.save_all_bytes)
        assert tight.plan.extra_bytes > 0.5 * parse_budget(budget, parts.plan.save_all_bytes)


@pytest.mark.slow
def test_gpt_gradients(small_gpt):
    loss, args, n_parameters = small_gpt
    wanted = jax.jit(jax.grad(loss, range(n_parameters)))(*args)
    joint = joint_of(loss, args, range(n_parameters))
    for budget in (None, 0.1):
        (_, *_), gradients = run(partition(joint, memory_budget=budget), args, (jnp.float32(1.0),), jit=True)
        for got, want in zip(gradients, wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7)


def test_residuals_that_the_caller_holds_are_not_returned_again():
    def fn(x, w):
        y = jnp.tanh(x @ w)
        return y, y.sum()

    parts = partition(joint_of(fn, (jnp.ones((2, 3)), jnp.ones((3, 4))), (0, 1), (0, 1)))
    assert parts.plan.residuals == (FromPrimal(0), FromPrimal(1), FromOutput(0))
    assert len(parts.forward.jaxpr.outvars) == 2
    assert parts.plan.extra_bytes == 0
    assert parts.saved_bytes == 32
    (saved,) = parts.saved
    assert (saved.name, saved.shape, saved.dtype) == ("tanh_1", (2, 4), "float32")
    assert saved.why == "an output of the function, which lives anyway"
    assert saved.source.startswith("test_partition.py:")


def test_saved_values_say_why():
    def fn(x, w):
        return jax.nn.gelu(x @ w).sum()

    def saved(n, policy="min_cut"):
        (value,) = partition(joint_of(fn, (jnp.ones((2, n)), jnp.ones((n, 4))), (0, 1)), policy).saved
        return value.name, value.why

    assert saved(3, "save_matmuls") == ("dot_general_0", "result of dot_general, which save_matmuls never recomputes")
    assert saved(3) == ("tanh_5", "no heavier than what it is computed from (32 B for its operands)")
    assert saved(300) == ("dot_general_0", "result of dot_general, which min_cut never recomputes")


def test_the_cast_is_recomputed_from_the_smaller_value():
    def fn(x):
        y = (x @ x).astype(jnp.bfloat16)
        return jnp.sin(y.astype(jnp.float32)).sum()

    (saved,) = partition(joint_of(fn, (jnp.ones((8, 8)),), (0,))).saved
    assert saved.dtype == "bfloat16"


@pytest.mark.slow
def test_dropout_is_recomputed_from_its_key():
    def fn(x, key):
        return jnp.where(jax.random.bernoulli(key, 0.5, x.shape), jnp.sin(x), 0.0).sum()

    args = (jnp.arange(8.0), jax.random.key(3))
    joint = joint_of(fn, args, (0,))
    parts = partition(joint)
    assert parts.saved_bytes == 0
    assert any(value.name.startswith("random_bits") for value in parts.recomputed)
    _, (gradient,) = run(parts, args, (jnp.float32(1.0),))
    np.testing.assert_allclose(gradient, jax.grad(fn)(*args), rtol=1e-6)


def test_side_effects_happen_once_in_the_forward(capsys):
    def fn(x):
        y = jnp.sin(x)
        jax.debug.print("seen {}", y.sum())
        return jnp.cos(y).sum()

    joint = joint_of(fn, (jnp.ones(2),), (0,))
    for policy in ("min_cut", "save_nothing"):
        parts = partition(joint, policy)
        check_interface(parts)
        assert not parts.backward.jaxpr.effects
        run(parts, (jnp.ones(2),), (jnp.float32(1.0),))
        jax.effects_barrier()
        assert capsys.readouterr().out.count("seen") == 1


def test_recomputed_equations_come_right_before_their_first_use():
    def fn(x):
        for _ in range(6):
            x = jnp.sin(x)
        return x.sum()

    backward = partition(joint_of(fn, (jnp.ones(4),), (0,)), "save_nothing").backward.jaxpr
    needed = backward_slice(backward, backward.outvars)
    assert needed == set(range(len(backward.eqns)))
    broadcast = [i for i, eqn in enumerate(backward.eqns) if eqn.primitive.name == "broadcast_in_dim"]
    assert broadcast[0] < 3  # the cotangent is spread first: it needs nothing of the forward


def test_sides():
    def fn(x):
        return jnp.tanh(x).sum()

    joint = joint_of(fn, (jnp.ones(4),), (0,))
    graph = classify(joint)
    sides = {(eqn.primitive.name, side) for eqn, side in zip(graph.eqns, graph.sides, strict=True)}
    assert {("tanh", Side.FORWARD), ("reduce_sum", Side.FORWARD), ("mul", Side.BACKWARD)} <= sides
    # 1 - tanh(x)², one equation of its own since jax 0.11
    assert {("sub", Side.EITHER), ("one_minus_square", Side.EITHER)} & sides
    assert Side.DEAD not in graph.sides


def test_backward_is_differentiable_again():
    from jaxaot.joint import build_joint

    def fn(x):
        return jnp.sin(x * x).sum()

    x = jnp.arange(3.0)
    parts = partition(joint_of(fn, (x,), (0,)), "save_nothing")
    second = partition(build_joint(parts.backward, (0, 1), (0,)))
    check_interface(second)
    _, (by_x, by_ct) = run(second, (x, jnp.float32(1.0)), (jnp.ones(3),))
    np.testing.assert_allclose(by_x, jax.grad(lambda x: jax.grad(fn)(x).sum())(x), rtol=1e-5)
    np.testing.assert_allclose(by_ct, jax.grad(fn)(x).sum(), rtol=1e-5)


def test_constants_and_primals_cost_nothing():
    table = jnp.arange(16.0).reshape(4, 4)

    def fn(x):
        return (x * table).sum()

    parts = partition(joint_of(fn, (jnp.ones((4, 4)),), (0,)))
    assert parts.plan.residuals == ()
    assert len(parts.backward.consts) == 1


def test_own_policy():
    def keep_sines(eqn):
        return Choice.SAVE if eqn.primitive.name == "sin" else Choice.RECOMPUTE

    def fn(x):
        return jnp.exp(jnp.sin(x)).sum()

    (saved,) = partition(joint_of(fn, (jnp.ones(4),), (0,)), keep_sines).saved
    assert saved.name == "sin_0"
    assert saved.why == "result of sin, which keep_sines never recomputes"


def test_policies_that_are_unknown_or_return_nonsense():
    joint = joint_of(lambda x: jnp.sin(x).sum(), (jnp.ones(4),), (0,))
    with pytest.raises(PolicyError, match=r"no partition policy 'mincut'. The policies are: min_cut, save_all"):
        partition(joint, "mincut")
    with pytest.raises(PolicyError, match="returned True for the equation `sin`"):
        partition(joint, lambda eqn: True)


@pytest.mark.parametrize(
    ("budget", "n_bytes"),
    [(0.5, 500), (0, 0), (1, 1000), ("2KiB", 2048), ("1.5 kB", 1500), ("40%", 400), ("77", 77), ("1e3B", 1000)],
)
def test_budgets_that_can_be_read(budget, n_bytes):
    assert parse_budget(budget, 1000) == n_bytes


@pytest.mark.parametrize(
    "budget", [-1, -0.5, float("nan"), float("inf"), 2.0, True, "", "lots", "-3MiB", "5 XB", "200%"]
)
def test_budgets_that_cannot_be_read(budget):
    with pytest.raises(BudgetError, match="The memory budget"):
        parse_budget(budget, 1000)


def test_a_budget_below_the_least_possible_says_what_that_is():
    def fn(x):
        y = io_callback(lambda v: np.sin(v), jax.ShapeDtypeStruct((4,), jnp.float32), jax.lax.stop_gradient(x))
        return (jnp.sin(x @ x) * y[:, None]).sum()

    joint = joint_of(fn, (jnp.ones((4, 4)),), (0,))
    assert partition(joint).saved_bytes == 16 + 64
    (saved,) = partition(joint, memory_budget="16B").saved
    assert saved.why == "view of the result of io_callback, which cannot be repeated"
    with pytest.raises(BudgetError, match=r"(?s)budget of 15 B cannot be met: at least 16 B must be saved.*'16B'"):
        partition(joint, memory_budget="15B")


def test_printing():
    shapes = jnp.ones((2, 300)), jnp.ones((300, 4))
    parts = partition(joint_of(lambda x, w: jax.nn.gelu(x @ w).sum(), shapes, (0, 1)))
    text = str(parts)
    assert "forward(primal0: f32[2,300], primal1: f32[300,4])" in text
    assert "dot_general_0: f32[2,4], ct0: f32[])" in text
    assert "saves 32 B in 1 values" in text


@pytest.mark.parametrize(
    ("fn", "argnums", "message"),
    [
        (lambda x, n: (x > 0) + n, None, r"it returns no float \(i32\[3\]\)"),
        (lambda x, n: x * n, 1, r"of the arguments 1, .* none has a float \(i32\[3\]\)"),
        (lambda x, n: x * n, -1, r"of the arguments 1, .* none has a float \(i32\[3\]\)"),
        (lambda x, n: x * n, 2, r"`argnums` names the argument 2, and the function was traced with 2"),
        (lambda x, n: None, None, r"it returns no float \(nothing at all\)"),
    ],
)
def test_what_has_no_gradient_is_refused_with_the_reason(fn, argnums, message):
    with pytest.raises(NotDifferentiableError, match=message):
        ja.trace(fn, jnp.ones(3), jnp.arange(3)).joint(argnums)
