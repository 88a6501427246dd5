"""Names, marks and regions: the cut respects what the user says of single values, and gradients stay the same."""

import random
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.ad_checkpoint import checkpoint_name
from jax.experimental import io_callback

import jaxaot as ja
from benchmarks.models import gpt
from jaxaot.errors import BudgetError, PolicyError, TagConflictError, UnmatchedNamesWarning
from jaxaot.ir.primitives import is_pure
from jaxaot.ir.regions import LEAVES, MUST_RECOMPUTE, MUST_SAVE, open_regions
from jaxaot.ir.walk import region_index
from jaxaot.partition import policies
from jaxaot.partition.classify import Side
from jaxaot.partition.formulate import formulate
from jaxaot.partition.network import Network
from jaxaot.partition.partition import Cutter, partition
from jaxaot.partition.policies import Choice, RegionPolicy
from jaxaot.partition.split import recomputed_positions
from jaxaot.partition.tags import is_marker, read_tags, without_markers, word_of
from tests.partition.programs import joint_of, random_arguments
from tests.partition.test_partition import check_interface, run
from tests.seeds import seeds

MIB = 2**20
X = jnp.linspace(0.1, 1.2, 12).reshape(3, 4)
W = jnp.linspace(-1.0, 1.0, 16).reshape(4, 4)
jax_policies = jax.checkpoint_policies


def gradients_agree(fn, args, policy="min_cut", memory_budget=None, of=None):
    """Returns the partition of a function into a scalar, whose gradients are those that JAX computes."""
    joint = joint_of(fn, args, range(len(args)))
    parts = partition(joint, policy, memory_budget)
    check_interface(parts)
    (value, *_), gradients = run(parts, args, (jnp.float32(1.0),))
    wanted, wants = jax.value_and_grad(of or fn, range(len(args)))(*args)
    for got, want in zip((value, *gradients), (wanted, *wants), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
    return parts


def saved_names(parts):
    return [value.name for value in parts.saved]


def recomputed_names(parts):
    return {value.name.rsplit("_", 1)[0] for value in parts.recomputed}


# -- regions -----------------------------------------------------------------------------------------------------------


def test_open_regions_shows_what_leaves():
    def fn(x):
        y = jax.checkpoint(lambda x: jnp.cos(jnp.sin(x)))(x)
        return y * y

    opened = open_regions(jax.make_jaxpr(fn)(1.0))
    assert [eqn.primitive.name for eqn in opened.jaxpr.eqns] == ["sin", "cos", "mark", "mul"]
    assert opened.places == (0, 0, None, None)
    assert opened.jaxpr.eqns[3].invars[0] is opened.jaxpr.eqns[2].outvars[0]
    assert opened.jaxpr.eqns[2].params["word"] == LEAVES


def test_regions_in_calls_and_in_regions():
    inner = jax.checkpoint(lambda x: jnp.sin(x))
    outer = jax.checkpoint(jax.jit(lambda x: jnp.exp(inner(x)) + inner(x)))
    opened = open_regions(jax.make_jaxpr(jax.jit(outer))(1.0))
    assert [region.parent for region in opened.regions] == [None, 0, 0]
    names = [(eqn.primitive.name, place) for eqn, place in zip(opened.jaxpr.eqns, opened.places, strict=True)]
    assert names == [("sin", 1), ("mark", 0), ("exp", 0), ("sin", 2), ("mark", 0), ("add", 0), ("mark", None)]


def test_a_value_that_leaves_two_regions_gets_a_mark_for_each():
    inner = jax.checkpoint(jnp.sin)

    def outer(x):
        y = inner(x)
        return y, y * 2

    opened = open_regions(jax.make_jaxpr(jax.checkpoint(outer))(1.0))
    assert [eqn.primitive.name for eqn in opened.jaxpr.eqns] == ["sin", "mark", "mark", "mul", "mark"]
    assert opened.places == (0 + 1, 0, None, 0, None)


def chain(policy=None, n=3):
    @jax.checkpoint
    def block(x, w):
        return jnp.tanh(jnp.sin(x @ w) @ w)

    block = jax.checkpoint(block.__wrapped__, policy=policy)

    def fn(x, w):
        for _ in range(n):
            x = block(x, w)
        return x.sum()

    return fn


@pytest.mark.parametrize("policy", ["min_cut", "save_all"])
def test_a_region_is_computed_again_from_its_inputs(policy):
    parts = gradients_agree(chain(), (X, W), policy)
    assert saved_names(parts) == ["tanh_3", "tanh_8"]  # the inputs of the second and the third
    assert {value.why for value in parts.saved} == {"result of tanh, which leaves a checkpointed region"}
    assert recomputed_names(parts) >= {"dot_general", "sin", "tanh"}
    assert not any(is_marker(eqn) for graph in (parts.forward, parts.backward) for eqn in graph.jaxpr.eqns)


def test_what_leaves_one_region_is_not_computed_again_for_plain_code():
    def fn(x, w):
        y = jax.checkpoint(lambda x: jnp.exp(x @ w))(x)
        return jnp.sin(y * 2.0).sum()

    for policy in ("min_cut", lambda eqn: Choice.EITHER):  # without the region, `x` alone would do for the latter
        (value,) = gradients_agree(fn, (X, W), policy).saved
        assert value.bytes == X.nbytes


def test_the_policy_of_a_region():
    parts = gradients_agree(chain(jax_policies.dots_saveable), (X, W))
    names = [name.rsplit("_", 1)[0] for name in saved_names(parts)]
    assert names == ["dot_general", "tanh"] * 2 + ["dot_general"] * 2  # JAX saves what each `tanh` is made of, too
    assert recomputed_names(parts) >= {"sin", "tanh"}
    assert "dot_general" not in recomputed_names(parts)


def test_an_outer_region_that_recomputes_overrules_an_inner_one_that_saves():
    def fn(x, w):
        inner = jax.checkpoint(lambda x: jnp.sin(x @ w), policy=jax_policies.everything_saveable)
        return jax.checkpoint(lambda x: jnp.sin(inner(inner(x)) @ w))(x).sum()

    assert gradients_agree(fn, (X, W)).saved == ()

    def inside_out(x, w):
        inner = jax.checkpoint(lambda x: jnp.sin(x @ w))
        outer = jax.checkpoint(lambda x: jnp.sin(inner(x) @ w), policy=jax_policies.everything_saveable)
        return outer(x).sum()

    parts = gradients_agree(inside_out, (X, W))
    assert [value.name.rsplit("_", 1)[0] for value in parts.saved] == ["sin", "cos"]  # not the `cos` of the inner one
    assert "dot_general" in recomputed_names(parts)


def test_a_policy_of_the_graph_is_the_outermost_region():
    assert gradients_agree(chain(), (X, W), "save_nothing").saved == ()
    assert gradients_agree(chain(), (X, W), jax_policies.dots_saveable).saved == ()


def test_equations_inside_and_outside_are_not_common():
    def fn(x, w):
        y = jnp.sin(x @ w)
        z = jax.checkpoint(lambda x: jnp.cos(jnp.sin(x @ w)))(x)
        return (jnp.exp(y) * z).sum()

    parts = gradients_agree(fn, (X, W), "save_all")
    counts = [eqn.primitive.name for eqn in parts.forward.jaxpr.eqns].count("dot_general")
    assert counts == 2  # XLA computes them once
    assert "dot_general" in recomputed_names(parts)


def test_a_differentiated_checkpoint_inside_the_function_is_left_alone():
    def fn(x):
        return jax.grad(lambda x: jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))(x).sum())(x).sum()

    joint = joint_of(fn, (X,), (0,))
    assert len(joint.regions) == 0 or all(region_index(eqn) is not None for eqn in joint.jaxpr.eqns[:1])
    gradients_agree(fn, (X,))


def test_regions_in_bodies_of_loops_are_left_alone():
    def fn(x, w):
        body = jax.checkpoint(lambda c, _: (jnp.sin(c @ w), None))
        return jax.lax.scan(body, x, None, length=3)[0].sum()

    assert joint_of(fn, (X, W), (0, 1)).regions == ()
    gradients_agree(fn, (X, W))


def test_effects_in_a_region_happen_once(capsys):
    @jax.checkpoint
    def block(x):
        jax.debug.print("seen {}", x.sum())
        return jnp.sin(jnp.sin(x))

    parts = partition(joint_of(lambda x: block(x).sum(), (X,), (0,)))
    run(parts, (X,), (jnp.float32(1.0),))
    jax.effects_barrier()
    assert capsys.readouterr().out.count("seen") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "jax_bytes"),
    [
        ("nothing_saveable", 5.04 * MIB),
        ("dots_saveable", 31.04 * MIB),
        ("dots_with_no_batch_dims_saveable", 21.04 * MIB),
    ],
)
def test_a_gpt_with_checkpointed_blocks_keeps_no_more_than_with_jax(name, jax_bytes):
    """The bytes are those of `jax.ad_checkpoint.saved_residuals`, arguments not counted."""
    model = gpt(wrap=lambda block: jax.checkpoint(block, policy=getattr(jax_policies, name)))
    flat, tree = jax.tree.flatten(model.parameters)
    args = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in (*flat, *model.data)]
    loss = lambda *args: model.loss(jax.tree.unflatten(tree, args[:-2]), *args[-2:])
    joint = joint_of(loss, args, range(len(flat)))
    for policy in ("min_cut", "save_all"):
        assert partition(joint, policy).saved_bytes <= jax_bytes


# -- names -------------------------------------------------------------------------------------------------------------


def named(x, w):
    y = jnp.tanh(x @ w)
    z = jnp.sin(y)  # reads the value before it is named
    y = checkpoint_name(y, "a")
    return (z * jnp.cos(y) * checkpoint_name(jnp.exp(x), "b")).sum()


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        (policies.save_only_these_names("a"), ["tanh_1"]),
        (policies.save_only_these_names("a", "b"), ["tanh_1", "exp_6"]),
        (policies.save_any_names_but_these("a"), ["exp_6"]),
        (jax_policies.save_only_these_names("a"), ["tanh_1"]),
        (jax_policies.save_any_names_but_these("a"), ["exp_6"]),
        (
            jax_policies.save_and_offload_only_these_names(
                names_which_can_be_saved=["a"],
                names_which_can_be_offloaded=["b"],
                offload_src="device",
                offload_dst="pinned_host",
            ),
            ["tanh_1", "exp_6"],
        ),
        (
            jax_policies.save_from_both_policies(
                jax_policies.save_only_these_names("a"), jax_policies.save_only_these_names("b")
            ),
            ["tanh_1", "exp_6"],
        ),
    ],
)
def test_policies_by_name(policy, kept):
    parts = gradients_agree(named, (X, W), policy)
    names = [name if name != "exp_4" else "exp_6" for name in saved_names(parts)]
    assert names == kept
    assert ("tanh" in recomputed_names(parts)) is ("tanh_1" not in kept)
    region = jax.checkpoint(named, policy=RegionPolicy(policy))
    assert saved_names(gradients_agree(region, (X, W))) == saved_names(parts)
    assert saved_names(gradients_agree(region, (X, W), "save_all")) == saved_names(parts)


def test_anything_except_these_names():
    def fn(x, w):
        y = jnp.exp(x @ w)  # its derivative is itself
        z = jnp.sin(y)  # reads the value before it is named
        return (z * jnp.cos(checkpoint_name(y, "a"))).sum()

    parts = gradients_agree(fn, (X, W), policies.save_anything_except_these_names("a"))
    assert "exp_1" not in saved_names(parts)
    assert "exp" in recomputed_names(parts)
    assert {"sin_2", "cos_4"} <= set(saved_names(parts))


def test_a_name_is_the_value_that_it_names():
    def fn(x):
        y = jnp.tanh(x)
        return checkpoint_name(checkpoint_name(y, "first"), "second").sum()

    for name in ("first", "second"):
        parts = gradients_agree(fn, (X,), policies.save_only_these_names(name), of=lambda x: jnp.tanh(x).sum())
        assert saved_names(parts) == ["tanh_0"]
        assert parts.saved[0].why == f"result of tanh, named `{name}`"
    assert gradients_agree(fn, (X,)).saved_bytes <= X.nbytes


def test_names_of_arguments_and_constants_cost_nothing():
    def fn(x):
        return (jnp.sin(checkpoint_name(x, "x")) * checkpoint_name(jnp.float32(3.0), "c")).sum()

    parts = gradients_agree(fn, (X,), policies.save_only_these_names("x"))
    assert parts.saved == ()


def test_a_name_in_a_region_of_a_value_from_outside():
    def fn(x, w):
        y = jnp.exp(x @ w)
        block = jax.checkpoint(
            lambda y: jnp.sin(checkpoint_name(y, "in") * 2), policy=jax_policies.save_only_these_names("in")
        )
        return block(y).sum()

    for policy in ("min_cut", "save_all", "save_nothing"):
        parts = gradients_agree(fn, (X, W), policy)
        assert saved_names(parts) == ["exp_1"]


def test_names_that_nothing_has():
    joint = joint_of(named, (X, W), (0, 1))
    with pytest.raises(PolicyError, match=r"named 'attention', 'mlp'.*no value.*names in the graph are: 'a', 'b'"):
        partition(joint, policies.save_only_these_names("mlp", "attention"))
    with pytest.warns(UnmatchedNamesWarning, match="No value of the graph is named 'mlp'"):
        partition(joint, policies.save_only_these_names("a", "mlp"))
    with pytest.warns(UnmatchedNamesWarning, match="'typo'"):
        partition(joint_of(chain(jax_policies.save_only_these_names("typo")), (X, W), (0, 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        partition(joint, policies.save_only_these_names("a"))


# -- policies of JAX ---------------------------------------------------------------------------------------------------


def test_policies_of_jax_are_taken_wherever_policies_are():
    def fn(x, w):
        return jnp.tanh(jnp.sin(x @ w) @ w).sum()

    wanted = saved_names(gradients_agree(fn, (X, W), "save_matmuls"))
    assert wanted == ["dot_general_0", "dot_general_2"]
    for policy in (jax_policies.dots_saveable, policies.from_jax(jax_policies.dots_saveable)):
        assert saved_names(gradients_agree(fn, (X, W), policy)) == wanted
    assert saved_names(gradients_agree(fn, (X, W), lambda prim, *_, **params: prim.name == "sin")) == ["sin_1"]
    assert gradients_agree(fn, (X, W), jax_policies.nothing_saveable).saved == ()
    everything = gradients_agree(fn, (X, W), jax_policies.everything_saveable)
    assert saved_names(everything) == saved_names(gradients_agree(fn, (X, W), "save_all"))


def test_a_policy_that_returns_nonsense():
    with pytest.raises(PolicyError, match=r"returned 'yes' for the primitive `dot_general`.*return True to save"):
        partition(joint_of(chain(n=1), (X, W), (0, 1)), lambda prim, *_, **params: "yes")


def test_the_policy_of_a_region_under_jax_alone():
    from jax._src.ad_checkpoint import saved_residuals

    def count(policy):
        block = jax.checkpoint(lambda x: jnp.tanh(jnp.sin(x @ W) @ W).sum(), policy=policy)
        return len([why for _, why in saved_residuals(block, X) if "argument" not in why and "constant" not in why])

    assert count(RegionPolicy("save_matmuls")) == 2
    assert count(RegionPolicy()) == count(RegionPolicy("save_all", 0.5)) == count(None)
    hash(RegionPolicy("save_matmuls"))


# -- marks -------------------------------------------------------------------------------------------------------------


def test_marks_overrule_policies():
    def fn(x, w):
        y = ja.policies.must_save(jnp.exp(x @ w))
        z = ja.policies.must_recompute(jnp.sin(y) @ w)
        return jnp.sin(z).sum() + jnp.cos(z).sum()

    for policy in (*policies.policy_names(), jax_policies.nothing_saveable, lambda eqn: Choice.SAVE):
        parts = gradients_agree(fn, (X, W), policy)
        assert "exp_1" in saved_names(parts), policy
        assert "exp" not in recomputed_names(parts)
        assert not any(value.name.startswith("dot_general_4") for value in parts.saved)
    parts = gradients_agree(fn, (X, W), "save_nothing")
    assert [value.why for value in parts.saved] == ["result of exp, which must be saved"]


def test_marks_overrule_regions_from_inside_and_outside():
    def inside(x, w):
        return jax.checkpoint(lambda x: jnp.sin(ja.policies.must_save(jnp.tanh(x @ w)) * 2))(x).sum()

    assert saved_names(gradients_agree(inside, (X, W))) == ["tanh_1"]

    def outside(x, w):
        y = jax.checkpoint(lambda x: jnp.tanh(x @ w))(x)
        return (ja.policies.must_save(y) * 2).sum()

    assert saved_names(gradients_agree(outside, (X, W))) == ["tanh_1"]

    def forbidden(x, w):
        block = jax.checkpoint(lambda x: jnp.sin(jnp.exp(x @ w)), policy=jax_policies.everything_saveable)
        return jnp.exp(ja.policies.must_recompute(block(x))).sum()

    parts = gradients_agree(forbidden, (X, W))
    assert "sin_2" not in saved_names(parts)


def test_marks_on_arguments_and_effects_say_nothing():
    def fn(x):
        y = io_callback(lambda v: np.sin(v), jax.ShapeDtypeStruct(x.shape, x.dtype), jax.lax.stop_gradient(x))
        return (ja.policies.must_recompute(x) * jnp.sin(ja.policies.must_save(x)) * ja.policies.must_recompute(y)).sum()

    joint = joint_of(fn, (X,), (0,))
    assert [value.name.rsplit("_", 1)[0] for value in partition(joint).saved] == ["io_callback"]


def test_a_value_that_must_be_saved_and_recomputed():
    def fn(x):
        return jnp.sin(ja.policies.must_recompute(ja.policies.must_save(jnp.tanh(x)))).sum()

    with pytest.raises(
        TagConflictError, match=r"ja.policies.must_save` at test_tags.py:\d+.*ja.policies.must_recompute` at test_tags"
    ):
        partition(joint_of(fn, (X,), (0,)))


def test_a_mark_that_no_backward_needs_saves_nothing():
    assert gradients_agree(lambda x: ja.policies.must_save(x * 2).sum(), (X,)).saved == ()


def test_a_budget_does_not_release_what_must_be_saved():
    def fn(x, w):
        return jnp.sin(jnp.exp(ja.policies.must_save(jnp.tanh(x @ w)) @ w)).sum()

    parts = gradients_agree(fn, (X, W), "save_all", f"{X.nbytes}B")
    assert saved_names(parts) == ["tanh_1"]
    with pytest.raises(BudgetError, match=r"`ja.policies.must_save` asks for values at test_tags.py:\d+"):
        partition(joint_of(fn, (X, W), (0, 1)), "save_all", 0.0)


@pytest.mark.slow
def test_marks_compose_with_transformations():
    def fn(x):
        return (ja.policies.must_save(jnp.sin(x)) * ja.policies.must_recompute(jnp.cos(x))).sum()

    plain = lambda x: (jnp.sin(x) * jnp.cos(x)).sum()
    for transform in (jax.jit, jax.grad, jax.vmap, lambda f: jax.grad(jax.checkpoint(f)), jax.hessian):
        np.testing.assert_allclose(transform(fn)(X), transform(plain)(X), rtol=1e-5)
    _, linear = jax.linearize(ja.policies.must_save, X)
    np.testing.assert_allclose(linear(X), X)
    np.testing.assert_allclose(jax.linear_transpose(ja.policies.must_save, X)(X)[0], X)
    tree = {"a": X, "b": [1, None, np.ones(2)]}
    assert jax.tree.structure(ja.policies.must_save(tree)) == jax.tree.structure(tree)
    assert ja.policies.must_save(3) == 3


# -- budgets of regions ------------------------------------------------------------------------------------------------


def budgeted(budget, policy=None, n=4):
    def fn(x, w):
        def block(x):
            for _ in range(n):
                x = jnp.sin(x @ w)
            return x

        y = jax.checkpoint(block, policy=RegionPolicy(policy, budget))(x)
        return jnp.exp(jnp.sin(y) @ w).sum()

    return fn


@pytest.mark.slow
def test_a_region_with_a_budget_of_its_own():
    sizes = []
    for budget in (0.0, 0.25, 0.5, 1.0):
        parts = gradients_agree(budgeted(budget), (X, W))
        inside = sum(v.bytes for v in parts.saved if v.source and int(v.name.rsplit("_", 1)[1]) < 8)
        sizes.append(inside)
    assert sizes == sorted(sizes)
    n_bytes = X.nbytes
    assert sizes[0] <= n_bytes  # what leaves the region
    assert sizes[-1] >= 3 * n_bytes
    two = gradients_agree(budgeted(f"{2 * n_bytes}B"), (X, W))
    assert sum(v.bytes for v in two.saved if int(v.name.rsplit("_", 1)[1]) < 8) <= 3 * n_bytes
    with pytest.raises(
        BudgetError, match=r"In the region at test_tags.py:\d+: The memory budget 'lots' cannot be read"
    ):
        partition(joint_of(budgeted("lots"), (X, W), (0, 1)))


def test_what_a_region_may_save_is_within_its_budget():
    cutter = Cutter(joint_of(budgeted(0.5), (X, W), (0, 1)))
    graph = cutter.graph
    ((region, decided),) = read_tags(graph, cutter.save_within).solved.items()
    assert region == 0
    saved = [i for i, choice in decided.items() if choice is Choice.SAVE]
    weight = sum(graph.eqns[i].outvars[0].aval.size * 4 for i in saved)
    everything = partition(joint_of(budgeted(1.0, "save_all"), (X, W), (0, 1)), "save_all").saved_bytes
    assert 0 < weight <= everything / 2


# -- everything together -----------------------------------------------------------------------------------------------


def tagged_program(seed):
    """Returns a function of (x, w, tagged); its names, marks and regions are there only if `tagged`."""
    choose_ = random.Random(seed)
    ops = [
        lambda a, b: a @ b * 0.5, lambda a, b: jnp.tanh(a), lambda a, b: a * b, lambda a, b: jnp.sin(a) + b,
        lambda a, b: jax.nn.softmax(a, -1), lambda a, b: a.T, lambda a, b: jnp.exp(a * 0.1).sum(0) * b,
        lambda a, b: jnp.where(a > b, a, b), lambda a, b: a.astype(jnp.bfloat16).astype(jnp.float32),
        lambda a, b: jax.lax.scan(lambda c, r: (jnp.cos(c) + r, None), a[0], b)[0] + a, lambda a, b: jax.nn.relu(a),
    ]  # fmt: skip
    region_policies = [
        None, jax_policies.dots_saveable, jax_policies.everything_saveable, jax_policies.save_only_these_names("n0"),
        RegionPolicy("min_cut"), RegionPolicy(None, 0.5), RegionPolicy("save_all", 0.3),
        policies.save_anything_except_these_names("n1"),
    ]  # fmt: skip

    def plan(depth):
        steps = []
        for _ in range(choose_.randint(2, 5)):
            kind = choose_.random()
            if kind < 0.25 and depth < 3:
                policy = choose_.choice(region_policies)
                policy = RegionPolicy(policy) if isinstance(policy, policies.NamesPolicy) else policy
                steps.append(("region", policy, plan(depth + 1)))
            elif kind < 0.45:
                steps.append(("name", f"n{choose_.randrange(2)}", choose_.random()))
            elif kind < 0.6:
                steps.append((choose_.choice(["must_save", "must_recompute"]), None, choose_.random()))
            steps.append(("op", choose_.choice(ops), (choose_.random(), choose_.random())))
        return steps

    steps = plan(0)

    def perform(steps, values, tagged):
        values = list(values)
        for kind, what, detail in steps:
            if kind == "region":
                inner = lambda *given, what=what, detail=detail: tuple(perform(detail, given, tagged)[len(given) :])
                values += (jax.checkpoint(inner, policy=what) if tagged else inner)(*values[-4:])
                continue
            if kind == "op":
                first, second = (values[int(where * len(values))] for where in detail)
                values.append(what(first, second))
                continue
            value = values[int(detail * len(values))]
            if tagged:
                marker = {"must_save": ja.policies.must_save, "must_recompute": ja.policies.must_recompute}.get(kind)
                value = marker(value) if marker else checkpoint_name(value, what)
            values.append(value)
        return values

    def program(x, w, tagged=True):
        values = perform(steps, [x, w], tagged)
        return (values[-1] * values[len(values) // 2]).sum() + values[-2].sum()

    return program


def check_laws(joint, policy):
    """Checks what the choices say against what is saved and computed again."""
    cutter = Cutter(joint, policy)
    graph, choices = cutter.graph, cutter.choices.by_position
    formulation = formulate(graph, cutter.choices)
    saved = formulation.saved(Network(formulation.problem).least_bytes())
    decided = without_markers(graph, saved, choices)
    backward = decided.graph.positions(Side.BACKWARD)
    recomputed = recomputed_positions(decided.graph, decided.saved, backward, decided.graph.gradients)
    again = {var for i in recomputed for var in decided.graph.eqns[i].outvars}
    value = {}
    for eqn in graph.eqns:
        if is_marker(eqn):
            value[eqn.outvars[0]] = value.get(eqn.invars[0], eqn.invars[0])
    kept = set(decided.saved)
    for i, choice in choices.items():
        eqn = graph.eqns[i]
        root = value.get(eqn.outvars[0], eqn.outvars[0])
        pure = root in graph.producer and is_pure(graph.eqns[graph.producer[root]])
        if word_of(eqn) == MUST_SAVE:
            assert root not in again
        if word_of(eqn) == MUST_RECOMPUTE and pure:
            assert root not in kept
        if choice is Choice.SAVE and not is_marker(eqn):
            assert not any(var in again for var in eqn.outvars)
    leaving = {value[eqn.outvars[0]] for eqn in graph.eqns if is_marker(eqn)}
    for i, choice in choices.items():
        if choice is Choice.RECOMPUTE and not is_marker(graph.eqns[i]):
            assert not any(var in kept and var not in leaving for var in graph.eqns[i].outvars)


@pytest.mark.parametrize("seed", seeds(12, 1))
def test_random_programs_with_tags(seed):
    program = tagged_program(seed)
    x, w, *_ = random_arguments(seed)
    joint = joint_of(lambda x, w: program(x, w), (x, w), (0, 1))
    by_name = policies.save_only_these_names(*joint.names) if joint.names else "min_cut"
    wanted = jax.grad(lambda x, w: program(x, w, False), (0, 1))(x, w)
    cases = [(policy, None) for policy in (*policies.policy_names(), jax_policies.dots_saveable, by_name)]
    cases += [("save_all", 0.5), ("min_cut", 0.2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnmatchedNamesWarning)
        for policy, budget in cases:
            if budget is None:
                try:
                    check_laws(joint, policy)
                except TagConflictError:
                    return
                except BudgetError as error:
                    assert "In the region" in str(error) and "ja.policies.must_save" in str(error)
                    return
            try:
                parts = partition(joint, policy, budget)
            except BudgetError as error:
                assert "`ja.policies.must_save` asks for values" in str(error)
                continue
            check_interface(parts)
            _, gradients = run(parts, (x, w), (jnp.float32(1.0),))
            for got, want in zip(gradients, wanted, strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
