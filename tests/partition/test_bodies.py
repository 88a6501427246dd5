"""What loops, branches and calls save is cut by the policy too, inside their bodies."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

import jaxaot as ja
from jaxaot.ir.walk import sub_jaxprs
from jaxaot.joint import build_joint
from jaxaot.partition.classify import Side, classify
from jaxaot.partition.pairs import pair_at
from jaxaot.partition.partition import Cutter, partition
from jaxaot.partition.policies import Choice, policy_names
from tests.partition.nested import nested_arguments, random_nested_program
from tests.partition.programs import gpt_of_one_loop, joint_of
from tests.partition.test_partition import check_interface, run
from tests.seeds import seeds, some

MIB = 2**20
BUDGETS = (0.5, 0.2, 0.02)


def names(values):
    return [value.name for value in values]


def equation(graph, name):
    (eqn,) = [eqn for eqn in graph.jaxpr.eqns if eqn.primitive.name == name]
    return eqn


def primitives(jaxpr):
    """Returns the names of the primitives of a graph, those in bodies included."""
    found = set()
    for eqn in jaxpr.eqns:
        found |= {eqn.primitive.name}.union(*map(primitives, sub_jaxprs(eqn)))
    return found


def check_everywhere(fn, args, n, policies=None, budgets=BUDGETS[1:2]):
    """Compares outputs and gradients with those of JAX, under every policy and several budgets."""
    inputs = tuple(range(n))
    wanted = jax.jit(jax.value_and_grad(fn, inputs))(*args)
    joint = joint_of(fn, args, inputs)
    made = {}
    for policy, budget in [(policy, None) for policy in policies or policy_names()] + [("min_cut", b) for b in budgets]:
        parts = partition(joint, policy, budget)
        check_interface(parts)
        if budget is not None:
            assert parts.plan.extra_bytes <= budget * parts.plan.save_all_bytes
        (value, *_), gradients = run(parts, args, (jnp.float32(1.0),), jit=True)
        for got, want in zip((value, *gradients), (wanted[0], *wanted[1]), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * max(1.0, float(np.abs(want).max(initial=0))))
        made[policy if budget is None else budget] = parts
    return made


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(6, 1))
def test_gradients_of_nested_programs(seed):
    program, args = random_nested_program(seed, depth=1 + seed % 2), nested_arguments(seed)
    expected = jax.jit(program)(*args)
    ct = jax.random.normal(jax.random.key(99), expected[1].shape)

    def gradients_of_jax(x, w):
        return jax.vjp(lambda x, w: program(x, w, *args[2:])[:2], x, w)[1]((jnp.float32(1.0), ct))

    wanted = jax.jit(gradients_of_jax)(*args[:2])
    joint = joint_of(program, args, (0, 1), (0, 1))
    names = policy_names()
    for policy, budget in ((names[seed % len(names)], None), ("min_cut", BUDGETS[seed % 3])):
        parts = partition(joint, policy, budget)
        check_interface(parts)
        outputs, gradients = run(parts, args, (jnp.float32(1.0), ct), jit=True)
        for got, want in zip((*outputs, *gradients), (*expected, *wanted), strict=True):
            np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-3 * max(1.0, float(np.abs(want).max())))


@pytest.mark.slow
def test_a_gpt_that_is_one_loop_saves_what_its_layers_would():
    """12 layers, width 128, 4 heads, length 128, batch 8: what `jax.vjp` stacks is 267 MiB."""
    loss, args, n_parameters = gpt_of_one_loop(n_layers=12)
    cutter = Cutter(joint_of(loss, [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in args], range(n_parameters)))
    parts = cutter.cut()
    check_interface(parts)
    assert 85 * MIB < parts.saved_bytes <= 85.5 * MIB  # 7 MiB for each layer, 1.5 MiB outside
    assert parts.plan.save_all_bytes > 240 * MIB
    assert "scan_7/carry_0" in names(parts.saved)
    loop = equation(parts.forward, "scan")
    assert len(loop.params["jaxpr"].eqns) < 70
    seconds = None
    for budget in (0.7, 0.3, 0.1, 0.05, 0.02, 0.0):
        parts = cutter.cut(budget)
        assert parts.plan.extra_bytes <= budget * parts.plan.save_all_bytes
        if 0.05 <= budget < 0.7:
            assert parts.plan.extra_bytes > 0.7 * budget * parts.plan.save_all_bytes  # what is there is used
            assert "scan_7/carry_0" in names(parts.saved)
        assert seconds is None or parts.plan.recompute_seconds >= seconds
        seconds = parts.plan.recompute_seconds


@pytest.mark.slow
def test_gradients_of_a_gpt_that_is_one_loop():
    loss, args, n_parameters = gpt_of_one_loop(n_layers=2, width=16, n_heads=2, length=8, batch=2, vocabulary=16)
    check_everywhere(loss, args, n_parameters, policies=("min_cut",), budgets=(0.1,))


@pytest.mark.slow
def test_the_loop_of_the_backward_takes_less_memory():
    loss, args, n_parameters = gpt_of_one_loop(n_layers=6, width=16, n_heads=2, length=32, batch=4, vocabulary=8)
    joint = joint_of(loss, args, range(n_parameters))
    plain = jax.jit(jax.grad(loss, range(n_parameters))).lower(*args).compile().memory_analysis().temp_size_in_bytes

    def both(*args):
        parts = partition(joint, memory_budget=0.1)
        return run(parts, args, (jnp.float32(1.0),))[1]

    assert jax.jit(both).lower(*args).compile().memory_analysis().temp_size_in_bytes < plain / 3


def test_values_of_bodies_say_what_they_are():
    def fn(x, w):
        def layer(c, w):
            return jnp.tanh(jnp.sin(c @ w)), None

        return jax.lax.scan(layer, x, w)[0].sum()

    parts = partition(joint_of(fn, (jnp.ones((4, 4)), jnp.ones((5, 4, 4))), (0, 1)))
    product, carry = parts.saved
    assert (product.name, product.shape, product.bytes) == ("scan_0/dot_general_0", (5, 4, 4), 5 * 64)
    assert product.source.startswith("test_bodies.py:")
    assert product.why == "result of dot_general, which min_cut never recomputes"
    assert (carry.name, carry.shape) == ("scan_0/carry_0", (5, 4, 4))
    assert carry.why == "what each iteration got from the one before, which it cannot compute again"
    (again,) = [value for value in parts.recomputed if value.name == "scan_0/sin_1"]
    assert again.bytes == 5 * 64


@pytest.mark.slow
def test_a_loop_saves_no_more_than_it_must_at_every_policy():
    def fn(x, w):
        def layer(c, w):
            return jnp.tanh(jnp.sin(jnp.exp(c @ w) * c)), None

        return jax.lax.scan(layer, x, w)[0].sum()

    made = check_everywhere(fn, (jnp.ones((4, 4)) * 0.1, jnp.ones((5, 4, 4)) * 0.1), 2)
    stack = 5 * 64
    assert made["save_all"].saved_bytes > 3 * stack
    assert made["min_cut"].saved_bytes == 2 * stack  # the product and the carry
    assert made["save_matmuls"].saved_bytes == 2 * stack
    assert made["save_nothing"].saved_bytes == 0


def test_what_the_loop_returns_anyway_is_not_stacked_twice():
    def fn(x, w):
        def iteration(c, w):
            c = jnp.sin(c * w)
            return c, c

        c, rows = jax.lax.scan(iteration, x, w)
        return c.sum(), rows

    joint = joint_of(fn, (jnp.ones(4), jnp.ones((5, 4))), (0, 1), (0, 1))
    parts = partition(joint)
    check_interface(parts)
    assert len(parts.forward.jaxpr.outvars) == 3  # the carries before each iteration, besides the rows
    args = (jnp.arange(4.0), jnp.arange(20.0).reshape(5, 4))
    cts = (jnp.float32(2.0), jnp.ones((5, 4)))
    _, gradients = run(parts, args, cts)
    for got, want in zip(gradients, jax.vjp(fn, *args)[1](cts), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.slow
def test_rows_that_only_the_loop_needs_are_computed_again_if_that_is_cheap():
    def fn(x, key):
        keys = jax.random.split(key, 5)

        def layer(c, key):
            return jnp.where(jax.random.bernoulli(key, 0.5, c.shape), jnp.sin(c), 0.0), None

        return jax.lax.scan(layer, x, keys)[0].sum()

    parts = check_everywhere(fn, (jnp.arange(8.0), jax.random.key(3)), 1)["min_cut"]
    (saved,) = parts.saved
    assert (saved.name.startswith("scan_1/cos_"), saved.shape) == (True, (5, 8))
    assert "random_split_0" in names(parts.recomputed)
    assert any(name.startswith("scan_1/random_bits_") for name in names(parts.recomputed))


@pytest.mark.slow
def test_rows_that_are_costly_to_keep_are_weighed():
    """`exp` of the rows is needed; the rows themselves would have to be kept for nothing else."""

    def fn(x, w):
        rows = (x[:, None] @ w[None]).reshape(5, 8)  # a matmul: never recomputed

        def iteration(c, row):
            return c + jnp.exp(jnp.sin(row[:2]).sum()) * c, None

        return jax.lax.scan(iteration, x[0], rows)[0].sum()

    made = check_everywhere(fn, (jnp.arange(5.0), jnp.arange(8.0)), 2)
    assert "dot_general" not in str(names(made["min_cut"].saved))


@pytest.mark.slow
def test_values_that_no_policy_would_repeat_stay_saved(capsys):
    def fn(x, w):
        def iteration(c, w):
            noise = io_callback(lambda v: np.sin(v), jax.ShapeDtypeStruct((4,), jnp.float32), jax.lax.stop_gradient(c))
            jax.debug.print("iteration {}", c[0])
            return jnp.sin(c * w) * noise, None

        return jax.lax.scan(iteration, x, w)[0].sum()

    args = (jnp.arange(4.0), jnp.arange(12.0).reshape(3, 4))
    wanted = jax.grad(fn, (0, 1))(*args)
    joint = joint_of(fn, args, (0, 1))
    for policy in policy_names():
        parts = partition(joint, policy)
        check_interface(parts)
        assert not parts.backward.jaxpr.effects
        jax.effects_barrier()
        capsys.readouterr()
        _, gradients = run(parts, args, (jnp.float32(1.0),))
        jax.effects_barrier()
        assert capsys.readouterr().out.count("iteration") == 3
        for got, want in zip(gradients, wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5)
    reasons = {value.name.rpartition("_")[0]: value.why for value in partition(joint).saved}
    assert reasons["scan_0/io_callback"] == "result of io_callback, which cannot be repeated"


LOOPS = [(0, False, 1), (7, True, 3), (1, False, True), (2, False, True), (0, True, 1), (1, True, 1), (7, False, 1)]


@pytest.mark.parametrize("case", some(LOOPS, 2), ids=str)
@pytest.mark.slow
def test_lengths_directions_and_unrolling(case):
    length, reverse, unroll = case

    def fn(x, w):
        def iteration(carry, w):
            c, n, half = carry
            y = jnp.tanh(c @ w) * n
            return (jnp.sin(y), n + 1, half + y[0].astype(jnp.bfloat16)), (y.sum(), n, c)

        start = (x, jnp.int32(1), jnp.zeros(3, jnp.bfloat16))
        (c, n, half), (sums, ns, cs) = jax.lax.scan(iteration, start, w, reverse=reverse, unroll=unroll)
        return c.sum() * n + (sums * ns).sum() + jnp.cos(half.astype(jnp.float32)).sum() + (cs**2).sum()

    keys = jax.random.split(jax.random.key(0))
    args = (jax.random.normal(keys[0], (3, 3)), jax.random.normal(keys[1], (length, 3, 3)))
    check_everywhere(fn, args, 2, policies=("save_all", "min_cut"), budgets=(0.3,))


@pytest.mark.slow
def test_branches_share_the_room_for_what_they_save():
    def fn(i, x):
        def one(x):
            return jnp.exp(jnp.sort(x) * 2.0)

        def two(x):
            y = jnp.sort(-x)
            return jnp.sin(y) * jnp.sort(y + x)

        return jax.lax.switch(i, [one, two, lambda x: x], x).sum()

    parts = partition(joint_of(fn, (0, jnp.arange(6.0)), (1,)))
    check_interface(parts)
    assert [value.dtype for value in parts.saved].count("uint32") == 2  # one branch sorts once, the other one twice
    for i in range(3):
        _, (gradient,) = run(parts, (i, jnp.arange(6.0)), (jnp.float32(1.0),))
        np.testing.assert_allclose(gradient, jax.grad(fn, 1)(i, jnp.arange(6.0)), rtol=1e-5)


@pytest.mark.slow
def test_branches_read_their_operands_again():
    def fn(x):
        return jax.lax.cond(x.sum() > 0, lambda x: jnp.sin(jnp.exp(x)), lambda x: jnp.tanh(x) * x, x).sum()

    made = check_everywhere(fn, (jnp.arange(6.0),), 1)
    assert made["min_cut"].saved_bytes == 0
    assert made["save_all"].saved_bytes > 0
    assert partition(joint_of(fn, (-jnp.ones(6),), (0,))).backward.jaxpr.eqns[-1].primitive.name == "cond"


@pytest.mark.slow
def test_loops_in_loops_and_branches_in_loops():
    def fn(x, w):
        def inner(c, row):
            return jnp.sin(c * row), None

        def outer(c, w):
            c, _ = jax.lax.scan(inner, jnp.exp(-c), w)
            c = jax.lax.cond(c.sum() > 1, lambda c: jnp.tanh(jnp.sin(c)), lambda c: jnp.sort(c) ** 2, c)
            return c, None

        return jax.lax.scan(outer, x, w)[0].sum()

    args = (jnp.arange(4.0) / 4, jax.random.normal(jax.random.key(1), (3, 5, 4)))
    parts = check_everywhere(fn, args, 2, policies=("min_cut", "save_nothing"), budgets=(0.3,))["min_cut"]
    deep = [value for value in parts.saved if value.name.startswith("scan_0/scan_2/")]
    assert [(value.name, value.shape) for value in deep] == [("scan_0/scan_2/carry_0", (3, 5, 4))]


@pytest.mark.slow
def test_maps_and_loops_with_constant_bounds():
    def fn(x, w):
        rows = jax.lax.map(lambda row: jnp.sin(jnp.exp(row) * w).sum(), x)
        y = jax.lax.fori_loop(0, 4, lambda i, c: jnp.sin(c) * w[i], x)
        return rows.sum() + y.sum() + jax.lax.associative_scan(jnp.multiply, jnp.tanh(x[0])).sum()

    made = check_everywhere(fn, (jnp.arange(12.0).reshape(3, 4) / 9, jnp.arange(4.0) / 5), 2)
    assert made["min_cut"].saved_bytes < made["save_all"].saved_bytes


def test_a_while_loop_that_needs_no_gradient_stays_whole():
    def fn(x):
        n = jax.lax.while_loop(lambda n: n < x[0].astype(jnp.int32), lambda n: n + 1, 0)
        return jnp.sin(x * n).sum()

    parts = check_everywhere(fn, (jnp.arange(3.0) + 4,), 1)["min_cut"]
    assert names(parts.saved) == ["while_2"] or parts.saved_bytes == 4


@pytest.mark.slow
def test_calls_that_are_placed_are_cut_too():
    device = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    placed = jax.jit(lambda x, w: jnp.tanh(jnp.sin(jnp.exp(x @ w))), in_shardings=device, out_shardings=device)

    def fn(x, w):
        return (placed(x, w) * x).sum()

    made = check_everywhere(fn, (jnp.ones((3, 3)) * 0.1, jnp.ones((3, 3))), 2)
    assert names(made["min_cut"].saved) == ["jit_0", "jit_0/exp_1"]
    assert made["min_cut"].saved_bytes < made["save_all"].saved_bytes


@pytest.mark.slow
def test_custom_rules_inside_loops():
    @jax.custom_vjp
    def clipped(x):
        return jnp.sin(jnp.exp(x))

    clipped.defvjp(lambda x: (clipped(x), (jnp.sin(x), x)), lambda res, ct: (ct * res[0] * 3.0,))

    @jax.custom_jvp
    def doubled(x):
        return x * 2

    doubled.defjvp(lambda primals, tangents: (doubled(*primals), 5.0 * tangents[0] * jnp.tanh(primals[0])))

    def fn(x, w):
        return jax.lax.scan(lambda c, w: (clipped(doubled(c) * w) + c, None), x, w)[0].sum()

    made = check_everywhere(fn, (jnp.arange(4.0) / 4, jnp.arange(12.0).reshape(3, 4) / 9), 2)
    assert names(made["min_cut"].saved) == ["scan_0/carry_0"]


@pytest.mark.slow
def test_checkpoint_inside_a_loop_keeps_its_word():
    def fn(x, w):
        layer = jax.checkpoint(lambda c, w: (jnp.tanh(jnp.sin(c @ w)), None))
        return jax.lax.scan(layer, x, w)[0].sum()

    made = check_everywhere(fn, (jnp.ones((3, 3)) * 0.1, jnp.ones((4, 3, 3))), 2)
    assert made["min_cut"].saved_bytes <= made["save_all"].saved_bytes


@pytest.mark.slow
def test_one_loop_with_two_loops_behind_it():
    """The gradient of a penalty on gradients: the derivative's own loops read what the first one made."""

    def fn(x, w):
        def loss(x):
            return jnp.sin(jax.lax.scan(lambda c, w: (jnp.tanh(c * w), jnp.exp(c)), x, w)[0]).sum()

        return (jax.grad(loss)(x) ** 2).sum()

    args = (jnp.arange(4.0) / 4, jnp.arange(12.0).reshape(3, 4) / 9)
    joint = joint_of(fn, args, (0, 1))
    graph = classify(joint)
    pairs = [pair_at(graph, i) for i in graph.positions(Side.FORWARD, Side.EITHER)]
    assert max(len(pair.followers) for pair in pairs if pair is not None) > 1
    check_everywhere(fn, args, 2)


def test_a_cut_backward_can_be_differentiated_again():
    def fn(x, w):
        return jax.lax.scan(lambda c, w: (jnp.sin(c * w), None), x, w)[0].sum()

    x, w = jnp.arange(4.0), jnp.arange(12.0).reshape(3, 4)
    first = partition(joint_of(fn, (x, w), (0,)), "min_cut")
    n_residuals = len(first.plan.residuals)
    second = build_joint(first.backward, tuple(i for i in range(n_residuals)), (0,))
    check_interface(partition(second))

    def gradient(x, w):
        _, (found,) = run(first, (x, w), (jnp.float32(1.0),))
        return found

    wanted = jax.jacrev(lambda x: jax.grad(fn)(x, w))(x)
    np.testing.assert_allclose(jax.jacfwd(lambda x: gradient(x, w))(x), wanted, rtol=1e-4, atol=1e-5)


def test_own_policies_are_asked_about_bodies():
    def keep_sines(eqn):
        return Choice.SAVE if eqn.primitive.name == "sin" else Choice.RECOMPUTE

    def fn(x, w):
        return jax.lax.scan(lambda c, w: (jnp.exp(jnp.sin(c * w)), None), x, w)[0].sum()

    joint = joint_of(fn, (jnp.ones(4), jnp.ones((3, 4))), (0, 1))
    asked = []
    parts = partition(joint, lambda eqn: asked.append(eqn.primitive.name) or keep_sines(eqn))
    assert {"sin", "exp", "scan"} <= set(asked)
    assert "exp" in primitives(parts.backward.jaxpr)


@pytest.mark.slow
def test_constant_residuals_and_dropped_results():
    def fn(x):
        def iteration(c, _):
            return c * 2.0 + jnp.arange(4.0), (c, None, jnp.sin(c))

        c, (_, _, sines) = jax.lax.scan(iteration, x, None, length=3)
        return c.sum() + sines[0, 0]

    made = check_everywhere(fn, (jnp.arange(4.0),), 1)
    assert all(len(parts.saved) <= 1 for parts in made.values())


@pytest.mark.slow
def test_loops_of_tensors():
    w = ja.randn(5, 4, 4, requires_grad=True)
    x = ja.randn(4, 4, requires_grad=True)

    def fn(x, w):
        def layer(c, w):
            return (c @ w).sin().tanh(), None

        return ja.scan(layer, x, w)[0].sum()

    fn(x, w).backward()
    wanted = x.grad.numpy(), w.grad.numpy()
    for budget in (None, 0.3):
        x.grad = w.grad = None
        compiled = ja.compile(fn, memory_budget=budget)
        compiled(x, w).backward()
        np.testing.assert_allclose(x.grad.numpy(), wanted[0], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(w.grad.numpy(), wanted[1], rtol=1e-4, atol=1e-6)


def test_what_all_rounds_share_is_saved_once():
    def loss(v, w, x):
        return (jax.lax.scan(lambda c, _: (jnp.tanh(c @ (v @ w)), None), x, length=8)[0] ** 2).sum()

    square = jnp.ones((16, 16))
    parts = ja.remat(loss, policy="min_cut").partition(square, square, jnp.ones((4, 16)))
    assert [v.bytes for v in parts.plan.saved if v.shape == (16, 16)] == [4 * 16 * 16]
    assert not any(v.shape == (8, 16, 16) for v in parts.plan.saved)
