"""Budgets are met at the least time: against trying all, and against what the hull of all solutions allows."""

import itertools
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxaot.errors import BudgetError
from jaxaot.ir.roofline import TARGETS, eqn_picoseconds, target_of
from jaxaot.partition.budget import Budgets, components
from jaxaot.partition.ilp import least_cost
from jaxaot.partition.network import Network
from jaxaot.partition.partition import Cutter, partition
from jaxaot.partition.problem import FORBIDDEN, Problem
from jaxaot.partition.timeline import memory_timeline
from tests.cases import each
from tests.partition.programs import gpt, joint_of, random_arguments, random_program
from tests.partition.test_partition import run
from tests.seeds import seeds

MIB = 2**20


def random_problem(seed, n_steps=7, may_offload=False):
    pick = random.Random(seed)
    weights, producer, costs, operands = [], [], [], []
    for step in range(n_steps):
        operands.append(tuple(sorted(pick.sample(range(len(weights)), pick.randint(0, min(3, len(weights)))))))
        costs.append(FORBIDDEN if pick.random() < 0.15 else pick.choice([0, pick.randrange(1, 10**6)]))
        for _ in range(1 if pick.random() < 0.8 else 2):
            cannot = pick.random() < 0.1 and costs[-1] != FORBIDDEN
            weights.append(FORBIDDEN if cannot else pick.choice([0, pick.randrange(1, 2**31)]))
            producer.append(step)
    needed = tuple(sorted(pick.sample(range(len(weights)), pick.randint(1, min(4, len(weights))))))
    away = [pick.randrange(1, 10**6) if w > 0 and pick.random() < 0.7 else FORBIDDEN for w in weights]
    away = tuple(away) if may_offload else ()
    return Problem(tuple(weights), away, tuple(producer), tuple(costs), tuple(operands), needed)


def every_solution(problem):
    """Yields all solutions, each way of keeping values tried."""
    ways = [[None, *(["save"] * (w != FORBIDDEN)), *(["move"] * problem.may_offload(v))] for v, w in
            enumerate(problem.weights)]  # fmt: skip
    for choice in itertools.product(*ways):
        saved = [v for v, way in enumerate(choice) if way == "save"]
        try:
            yield problem.complete(saved, [v for v, way in enumerate(choice) if way == "move"])
        except ValueError:
            continue


@pytest.mark.slow
@each("may_offload", [False, True])
@each("seed", range(12))
def test_the_least_time_within_every_budget(seed, may_offload):
    problem = random_problem(seed, 5 if may_offload else 7, may_offload)
    frontier = {(s.weight, s.cost) for s in every_solution(problem)}
    if not frontier:
        return
    budgets = Budgets(problem)
    assert budgets.leanest.weight == min(weight for weight, _ in frontier)
    before = None
    for limit in sorted({weight + extra for weight, _ in frontier for extra in (0, 1)}):
        best = min(cost for weight, cost in frontier if weight <= limit)
        answer = budgets.within(limit)
        assert answer.solution.weight <= limit
        assert answer.solution.cost == best == answer.least_cost
        if limit < budgets.fastest.weight:  # the way of large problems: within the budget, no worse than the corner
            below, above, bound = budgets._corners(limit)
            between = budgets._between(below, above, limit)
            assert bound <= best <= between.cost <= below.cost
            assert between.weight <= limit
        assert before is None or answer.solution.cost <= before
        before = answer.solution.cost
    with pytest.raises(BudgetError, match="cannot be met: at least"):
        budgets.within(budgets.leanest.weight - 1)


@each("seed", range(30))
def test_corners_have_the_least_price(seed):
    problem = random_problem(seed)
    solutions = list(every_solution(problem))
    if not solutions:
        return
    for price in (1e-6, 1e-4, 1e-2, 1.0):
        corner, bound = Network(problem).at_price(price)
        least = min(s.cost + price * s.weight for s in solutions)
        assert corner.cost + price * corner.weight == pytest.approx(least, rel=1e-9)
        assert bound <= least * (1 + 1e-9)


@each("seed", range(30))
def test_components_can_be_switched_one_by_one(seed):
    problem = random_problem(seed, 12)
    one, other = Network(problem).least_bytes(), Network(problem).at_price(1e-4)[0]
    groups = list(components(problem, one, other))
    for chosen in itertools.product([False, True], repeat=min(len(groups), 4)):
        saved = set(one.saved)
        for (values, _), is_switched in zip(groups, chosen, strict=False):
            if is_switched:
                saved = (saved - values) | (other.saved & values)
        assert set(problem.complete(saved).saved) <= saved  # raises if a step would have to be repeated that may not


@pytest.mark.slow
def test_a_large_problem_is_close_to_the_best_and_monotone():
    loss, args, n_parameters = gpt(n_layers=12, width=64, length=32)
    cutter = Cutter(joint_of(loss, [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in args], range(n_parameters)))
    assert len(cutter.budgets.fastest.variant.formulation.problem.weights) > 400
    before = None
    for budget in (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 0.9, 1.0):
        plan = cutter.cut(budget).plan
        assert plan.extra_bytes <= budget * cutter.save_all[1]
        assert plan.gap <= 0.08
        assert before is None or plan.recompute_seconds <= before
        before = plan.recompute_seconds
    assert before == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(12, 1))
def test_gradients_at_every_budget(seed):
    program, args = random_program(seed), random_arguments(seed)
    wanted = jax.grad(lambda x, w: program(x, w, *args[2:])[0], (0, 1))(*args[:2])
    cutter = Cutter(joint_of(program, args, (0, 1), (0,)))
    for budget in (0.0, 0.3, 0.7, 1.0):
        parts = cutter.cut(budget)
        _, gradients = run(parts, args, (jnp.float32(1.0),))
        for got, want in zip(gradients, wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


def test_values_are_moved_to_the_host_where_that_is_quicker():
    def fn(x, w):
        for _ in range(3):
            x = jnp.tanh(x @ w)
        return x.sum()

    args = (jnp.ones((64, 64)), jnp.full((64, 64), 0.01))
    joint = joint_of(fn, args, (0, 1))
    parts = partition(joint, memory_budget="0B", may_offload=True, cost=lambda eqn: 10**12)
    assert parts.saved_bytes == 0 and parts.plan.offloaded_bytes > 0
    assert all("host" in str(var.aval) for var in parts.forward.jaxpr.outvars[1:])
    (_, *extra) = jax.jit(jax.extend.core.jaxpr_as_fun(parts.forward))(*args)
    assert {array.sharding.memory_kind for array in extra} == {"pinned_host"}
    _, gradients = run(parts, args, (jnp.float32(1.0),), jit=True)
    for got, want in zip(gradients, jax.grad(fn, (0, 1))(*args), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)
    assert "in the memory of the host" in str(parts.plan)


@pytest.mark.slow
def test_what_has_to_fit_counts_everything():
    loss, args, n_parameters = gpt(n_layers=2, width=64, length=32)
    joint = joint_of(loss, [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in args], range(n_parameters))
    cutter = Cutter(joint)
    everything = memory_timeline(cutter.cut("fit:1GiB"))
    assert cutter.cut("fit:1GiB").plan.recompute_seconds == 0
    before = None
    for share in (0.9, 0.7, 0.6):
        limit = int(share * everything.peak_bytes)
        parts = cutter.cut(f"fit:{limit}B")
        assert memory_timeline(parts).peak_bytes <= limit
        assert before is None or parts.plan.recompute_seconds >= before
        before = parts.plan.recompute_seconds
    with pytest.raises(BudgetError, match=r"does not fit in 100.00 KiB: even with all that can be recomputed"):
        cutter.cut("fit:100KiB")
    with pytest.raises(BudgetError, match="'fit:lots' cannot be read"):
        cutter.cut("fit:lots")


def test_the_timeline_of_a_chain():
    def fn(x):
        return jnp.tanh(jnp.tanh(x) @ x).sum()

    parts = partition(joint_of(fn, (jnp.ones((64, 64)),), (0,)), "save_all")
    timeline = memory_timeline(parts)
    array = 64 * 64 * 4
    assert timeline.held_bytes == 2 * array + 4  # x, its gradient and the result
    assert {moment.side for moment in timeline.moments} == {"forward", "backward"}
    assert timeline.held_bytes + 2 * array <= timeline.peak_bytes <= timeline.held_bytes + 6 * array
    assert timeline.moments[-1].residual_bytes <= 2 * array
    assert str(timeline).startswith("peak ")


def test_rooflines():
    joint = joint_of(lambda x, w: jnp.tanh(x @ w).T.sum(), (jnp.ones((256, 256)), jnp.ones((256, 256))), (0,))
    seconds = {eqn.primitive.name: eqn_picoseconds(eqn, TARGETS["h100"]) for eqn in joint.jaxpr.eqns}
    assert seconds["dot_general"] == pytest.approx(1e12 * 3 * 2**18 / 3.35e12, rel=0.01)  # bound by memory
    assert all(eqn_picoseconds(e, TARGETS["cpu"]) == 0 for e in joint.jaxpr.eqns if e.primitive.name == "transpose")
    assert target_of("gpu", "NVIDIA H200").name == "h200"
    assert target_of("tpu", "TPU v5 lite").name == "v5e"
    assert target_of("cpu", "cpu").name == "cpu"
    assert target_of("gpu", "unheard of").name == "a100"


def test_an_integer_program_beyond_32_bits():
    problem = Problem((2**40 + 1, 2**40), (), (0, 1), (5, 7), ((), ()), (0, 1))
    assert least_cost(problem, 2**40).saved == {1}
    assert least_cost(problem, 2**41).saved == {1}
    assert least_cost(problem, 2**41 + 1).saved == {0, 1}
    assert least_cost(problem, 2**40 - 1).saved == set()


def test_costs_can_be_measured_or_those_of_another_device():
    import jaxaot as ja
    from jaxaot.errors import CompilerError
    from jaxaot.lower.costs import cost_of

    w = ja.randn(32, 32, requires_grad=True)
    traced = ja.trace(lambda x: (x @ w).tanh().sum(), ja.randn(32, 32))
    for costs in ("roofline", "measured", "h100"):
        with ja.config(costs=costs):
            assert traced.joint().partition(memory_budget=0.5).plan.recompute_seconds > 0
    joint = traced.joint()
    product = next(eqn for eqn in joint.jaxpr.eqns if eqn.primitive.name == "dot_general")
    assert 0 < cost_of("h100")(product) < cost_of("roofline")(product)
    assert cost_of("measured")(product) == cost_of("measured")(product) > 0
    with pytest.raises(CompilerError, match=r"no costs 'abacus'.*'measured'"):
        ja.config(costs="abacus")


def test_offloading_through_a_compiled_call():
    import jaxaot as ja

    w = ja.full((64, 64), 0.01, requires_grad=True)

    def fn(x):
        return (x @ w).tanh().sin().sum()

    with ja.config(offload=True, memory_budget="0B", costs="cpu"):
        step = ja.compile(fn)
        step(ja.ones(64, 64)).backward()
    got, w.grad = w.grad, None
    fn(ja.ones(64, 64)).backward()
    np.testing.assert_allclose(got.numpy(), w.grad.numpy(), rtol=1e-5)


def test_the_looser_cut_is_that_of_least_memory():
    """Of a convolutional autoencoder memory rises, falls and rises with what is saved."""
    layout = ("NHWC", "HWIO", "NHWC")

    def loss(image, *weights):
        x = image
        for w, activation in zip(weights[:3], (jax.nn.relu, jax.nn.relu, jnp.tanh), strict=True):
            x = activation(jax.lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=layout))
        for w in weights[3:5]:
            x = jax.nn.relu(jax.lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=layout))
        return ((jax.lax.conv_transpose(x, weights[5], (2, 2), "SAME", dimension_numbers=layout) - image) ** 2).mean()

    sizes = itertools.pairwise((3, 32, 64, 128, 64, 32, 3))
    shapes = [(16, 64, 64, 3), *((3, 3, *pair) for pair in sizes)]
    args = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    cutter = Cutter(joint_of(loss, args, range(1, 7), passes=("cse", "dce", "drop_zero_sums")))
    least = cutter.within(0)
    peaks = [cutter.within(int(share * cutter.save_all[1])).timeline.peak_bytes for share in (0.05, 0.1, 0.2, 0.3)]
    assert cutter.rungs(least)[0].timeline.peak_bytes <= 1.03 * min(peaks) < min(peaks[0], peaks[-1])
