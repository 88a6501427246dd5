"""`checkpoint`: eagerly it keeps nothing and runs again, in a trace it is a region, with the same gradients."""

import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.errors import (
    AutogradError,
    BackwardTwiceError,
    BudgetError,
    OptionError,
    PolicyError,
    RecomputeMismatchError,
)
from jaxaot.joint import build_joint
from jaxaot.partition.partition import partition
from jaxaot.tape.modes import state
from jaxaot.utils.checkpoint import (
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_early_stop,
)
from tests.seeds import some

F = ja.nn.functional


class World:
    """Tensors that a function is passed and reaches, made anew for each way to run it."""

    def __init__(self):
        ja.manual_seed(7)
        self.w = ja.interop.from_jax(jnp.linspace(-1.0, 1.0, 16).reshape(4, 4)).requires_grad_()
        self.x = ja.interop.from_jax(jnp.linspace(0.1, 1.2, 12).reshape(3, 4)).requires_grad_()
        self.buffer = ja.zeros(4)
        self.generator = ja.Generator().manual_seed(3)

    def results(self, *outputs):
        values = [*outputs, self.x.grad, self.w.grad, self.buffer, ja.rand(3), ja.rand(3, generator=self.generator)]
        return [None if v is None else np.asarray(v.detach().jax()) for v in values], self.buffer._version


def plain(world, h):
    return (h @ world.w).tanh().sin()


def with_dropout(world, h):
    return F.dropout((h @ world.w).tanh(), 0.4) * h


def that_writes_a_buffer(world, h):
    y = (h @ world.w).sigmoid()
    with ja.no_grad():
        world.buffer.mul_(0.9).add_(y.mean(0))
    return y * world.buffer


def that_writes_inside(world, h):
    y = h @ world.w
    y.mul_(2).tanh_()
    y[1:].add_(y[:-1])
    return y.sin()


def that_writes_its_argument(world, h):
    h.mul_(0.5)
    h[0].exp_()
    return h @ world.w


def that_draws_from_its_own_generator(world, h):
    return h * ja.rand(3, 4, generator=world.generator) + ja.rand(3, 4) + ja.rand(3, 4, generator=world.generator)


def with_a_branch_of_its_own(world, h):
    return ja.cond(h.sum() > 0, lambda h: F.dropout(h, 0.3) @ world.w, lambda h: h, (h,)) + ja.rand(3, 4)


def that_depends_on_values(world, h):
    return h.sin() if float(h.detach().sum()) > 0 else h.cos()


def nested(world, h):
    inner = lambda h: checkpoint(lambda h: with_dropout(world, h), h)
    return inner(inner(h).sin()) + ja.rand(4)


PROGRAMS = [
    plain, with_dropout, that_writes_a_buffer, that_writes_inside, that_writes_its_argument,
    that_draws_from_its_own_generator, with_a_branch_of_its_own, nested,
]  # fmt: skip


def outcome(block, around, call=lambda fn, *args: fn(*args)):
    world = World()

    def fn(x):
        h = x * 1.0
        for _ in range(2):
            h = around(lambda h: block(world, h), h)
        return h, h.sum()

    h, loss = call(fn, world.x)
    loss.backward()
    return world.results(h, loss)


def check_same(got, wanted):
    assert got[1] == wanted[1]
    for a, b in zip(got[0], wanted[0], strict=True):
        assert (a is None) is (b is None)
        np.testing.assert_allclose(0 if a is None else a, 0 if b is None else b, rtol=1e-5, atol=1e-6)


@pytest.mark.few(1)
@pytest.mark.parametrize("block", [*PROGRAMS, that_depends_on_values])
def test_eagerly_nothing_changes(block):
    wanted = outcome(block, lambda fn, h: fn(h))
    check_same(outcome(block, lambda fn, h: checkpoint(fn, h)), wanted)
    check_same(
        outcome(block, lambda fn, h: checkpoint(lambda h: checkpoint(fn, h), h)),
        wanted,
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("options", some([{}, {"policy": "save_matmuls"}, {"memory_budget": 0.5}], 1))
@pytest.mark.parametrize("block", some(PROGRAMS, 2))
def test_compiled_nothing_changes(block, options):
    wanted = outcome(block, lambda fn, h: fn(h))
    compiled = lambda fn, x: ja.compile(fn)(x)
    check_same(outcome(block, lambda fn, h: checkpoint(fn, h, **options), compiled), wanted)


@pytest.mark.parametrize("block", some(PROGRAMS, 1))
def test_a_compiled_function_in_a_checkpointed_one(block):
    wanted = outcome(block, lambda fn, h: fn(h))
    check_same(outcome(block, lambda fn, h: checkpoint(ja.compile(fn), h)), wanted)


@pytest.mark.slow
def test_eagerly_no_residual_is_kept():
    arrays = []

    def block(h, w):
        for _ in range(4):
            h = (h @ w).tanh()
            arrays.append(weakref.ref(h._storage.array))
        return h

    w = ja.randn(8, 8, requires_grad=True)
    x = ja.randn(8, 8, requires_grad=True)
    y = checkpoint(block, x, w)
    gc.collect()
    assert [ref() is not None for ref in arrays] == [False, False, False, True]  # the last is `y`
    arrays.clear()
    y.sum().backward()
    gc.collect()
    del y
    assert [ref() is not None for ref in arrays] == [False] * 3  # the second run ends at the last `tanh`
    wanted = jax.grad(lambda x, w: _chain(x, w).sum(), (0, 1))(x.jax(), w.jax())
    np.testing.assert_allclose(x.grad.jax(), wanted[0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(w.grad.jax(), wanted[1], rtol=1e-4, atol=1e-6)


def _chain(x, w):
    for _ in range(4):
        x = jnp.tanh(x @ w)
    return x


def test_a_nested_region_keeps_not_even_its_inputs():
    arrays = []

    def inner(h):
        arrays.append(weakref.ref(h._storage.array))
        return h.sin()

    x = ja.ones(4, requires_grad=True)
    y = checkpoint(lambda x: checkpoint(inner, x * 2).cos(), x)
    gc.collect()
    assert arrays[0]() is None
    y.sum().backward()
    np.testing.assert_allclose(x.grad.jax(), jax.grad(lambda x: jnp.cos(jnp.sin(2 * x)).sum())(jnp.ones(4)), rtol=1e-5)


def test_each_backward_runs_it_once():
    calls = []
    x = ja.ones(3, requires_grad=True)
    y = checkpoint(lambda x: (calls.append(1), x.sin().cos().exp())[1], x)
    assert len(calls) == 1
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert len(calls) == 3
    with pytest.raises(BackwardTwiceError):
        y.sum().backward()
    np.testing.assert_allclose(
        x.grad.jax(), 2 * jax.grad(lambda x: jnp.exp(jnp.cos(jnp.sin(x))).sum())(jnp.ones(3)), rtol=1e-5
    )


def test_without_gradients_it_is_a_call():
    calls = []
    fn = lambda x: (calls.append(1), x * 2)[1]
    with ja.no_grad():
        assert not checkpoint(fn, ja.ones(2, requires_grad=True)).requires_grad
    assert checkpoint(fn, ja.ones(2)).sum().item() == 4
    assert state.region is None


def test_writes_between_forward_and_backward_do_not_change_gradients():
    w, x, mask = ja.ones(3, requires_grad=True), ja.full((3,), 2.0, requires_grad=True), ja.ones(3)
    y = checkpoint(lambda x: (x * w * mask).sin(), x)
    with ja.no_grad():
        w.add_(5)
        x.zero_()
        mask.zero_()
    y.sum().backward()
    np.testing.assert_allclose(x.grad.jax(), np.full(3, np.cos(2.0)), rtol=1e-6)
    np.testing.assert_allclose(w.grad.jax(), np.full(3, 2 * np.cos(2.0)), rtol=1e-6)
    assert (w.tolist(), x.tolist(), mask.tolist()) == ([6.0] * 3, [0.0] * 3, [0.0] * 3)


def test_gradients_of_what_it_reaches_can_be_asked_for():
    w, x = ja.ones(3, requires_grad=True), ja.ones(3, requires_grad=True)
    middle = w * 2
    y = checkpoint(lambda x: (x * middle).sin(), x)
    by_middle, by_w = ja.autograd.grad(y.sum(), [middle, w])
    np.testing.assert_allclose(by_w.jax(), 2 * by_middle.jax())
    assert x.grad is None


def test_hooks_inside_run_once_for_each_backward():
    seen = []

    def block(x):
        h = x.sin()
        h.register_hook(lambda g: seen.append(g.tolist()))
        return h * 3

    x = ja.zeros(2, requires_grad=True)
    checkpoint(block, x).sum().backward()
    assert seen == [[3.0, 3.0]]


def test_arguments_of_any_kind():
    def block(pair, scale, *, bias=None, mode="sum"):
        a, b = pair["a"], pair["b"]
        h = a * b * scale
        return getattr(h if bias is None else h + bias, mode)(), {"b": b}

    a, b, bias = (ja.full((2,), v, requires_grad=True) for v in (2.0, 3.0, 1.0))
    total, other = checkpoint(block, {"a": a, "b": b}, 0.5, bias=bias)
    assert other["b"] is b
    total.backward()
    assert (total.item(), a.grad.tolist(), bias.grad.tolist()) == (8.0, [1.5, 1.5], [1.0, 1.0])


def test_as_a_decorator():
    @checkpoint
    def first(x):
        """Returns a sine."""
        return x.sin()

    @checkpoint(policy="save_matmuls", memory_budget=0.5)
    def second(x, *, policy):
        return x * policy

    x = ja.ones(2, requires_grad=True)
    second(first(x), policy=2.0).sum().backward()
    np.testing.assert_allclose(x.grad.jax(), 2 * np.cos(np.ones(2)), rtol=1e-6)
    assert (first.__name__, first.__doc__) == ("first", "Returns a sine.")
    assert checkpoint(lambda: 5)() == 5


def test_options():
    x = ja.ones(2, requires_grad=True)
    for options in ({"use_reentrant": True}, {"use_reentrant": False}, {"preserve_rng_state": False}):
        assert checkpoint(lambda x: x * 2, x, **options).tolist() == [2.0, 2.0]
    with pytest.raises(OptionError, match=r"`context_fn`.*pass a policy"):
        checkpoint(lambda x: x, x, context_fn=lambda: None)
    with pytest.raises(OptionError, match="determinism_check"):
        checkpoint(lambda x: x, x, determinism_check="maybe")
    with pytest.raises(OptionError, match="got arguments and no function"):
        checkpoint(None, x)
    with pytest.raises(PolicyError, match="no partition policy 'nope'"):
        checkpoint(lambda x: x, x, policy="nope")
    with pytest.raises(BudgetError, match="for the memory of everything, and a region is only a part"):
        checkpoint(lambda x: x, x, memory_budget="fit:16GiB")
    for wrong in (
        lambda: checkpoint(lambda x: x, x, memory_budget=3.0),
        lambda: ja.policies.memory_budget("x").__enter__(),
    ):
        with pytest.raises(BudgetError):
            wrong()


def test_use_reentrant_refuses_what_it_refuses_in_pytorch():
    x = ja.ones(2, requires_grad=True)
    for backward in (lambda y: ja.autograd.grad(y, x), lambda y: y.backward(inputs=[x])):
        with pytest.raises(AutogradError, match=r"torch.utils.checkpoint is incompatible with .grad\(\)"):
            backward(checkpoint(ja.exp, x, use_reentrant=True).sum())
    checkpoint(ja.exp, x, use_reentrant=True).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([1, 1]), rtol=1e-6)
    frozen = checkpoint(lambda x: x.detach() * 2, x, use_reentrant=True)
    with pytest.raises(AutogradError, match="none of output has requires_grad=True, this checkpoint"):
        (frozen + x).sum().backward()
    assert not checkpoint(lambda x: x.argmax(), x, use_reentrant=True).requires_grad


def test_a_function_that_does_something_else_the_second_time():
    calls = []

    def block(x):
        calls.append(1)
        return x.sin().exp() if len(calls) == 1 else x.sin()

    x = ja.ones(2, requires_grad=True)
    y = checkpoint(block, x)
    with pytest.raises(RecomputeMismatchError, match=r"operation 1 was ExpBackward0 .* and then nothing"):
        y.sum().backward()
    assert x.grad is None
    assert state.region is None


def test_shapes_that_change_are_noticed_unless_told_not_to():
    sizes = iter([2, 4, 2, 4])
    block = lambda x: (x.sum() * ja.ones(next(sizes))).sum()
    x = ja.ones(3, requires_grad=True)
    with pytest.raises(RecomputeMismatchError):
        checkpoint(block, x).backward()
    checkpoint(lambda x: x.sin().sum(), x, determinism_check="none").backward()


def test_an_exception_inside_leaves_things_as_they_are():
    def block(x):
        x.sin()
        raise KeyError("mine")

    offset = ja.default_generator.offset
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            checkpoint(block, ja.ones(2, requires_grad=True))
    assert (state.region, state.streams, ja.default_generator.offset) == (None, None, offset)
    failing = iter([False, True])

    def fails_later(x):
        y = (x * ja.rand(2)).sin()
        if next(failing):
            raise KeyError("later")
        return y

    x = ja.ones(2, requires_grad=True)
    with set_checkpoint_early_stop(False):
        y = checkpoint(fails_later, x)
    offset = ja.default_generator.offset
    with pytest.raises(KeyError, match="later"):
        y.sum().backward()
    assert (state.region, ja.default_generator.offset, x.tolist()) == (None, offset, [1.0, 1.0])


@pytest.mark.parametrize("stops_early", [True, False])
def test_a_backward_inside(stops_early):
    def block(x):
        y = x.sin()
        (g,) = ja.autograd.grad((y.exp() * y).sum(), x)
        z = x.cos() * g
        inner = checkpoint(lambda v: v.exp().sin(), z)
        (h,) = ja.autograd.grad(inner.sum(), z, retain_graph=True)
        return (z * h.detach()).sin()

    x = ja.linspace(0.1, 1, 4).requires_grad_()
    (wanted,) = ja.autograd.grad(block(x).sum(), x)
    with set_checkpoint_early_stop(stops_early):
        y = checkpoint(block, x)
    (got,) = ja.autograd.grad(y.sum(), x)
    np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-6)


@pytest.mark.parametrize("stops_early", [True, False])
def test_gradients_inside_that_free_what_was_made_last(stops_early):
    def block(x):
        a, b = x.sin().exp().sin(), x.cos().exp().sin()
        (ga,) = ja.autograd.grad(a, x)
        (gb,) = ja.autograd.grad(b, x)  # frees `sin`, the last operation, before another one comes
        return (x * ga * gb).sin()

    def derivative(fn):
        return lambda x: ja.autograd.grad(fn(x), x, create_graph=True)[0]

    kept_little = lambda fn: lambda x: checkpoint(fn, x)
    x = ja.tensor(0.3, requires_grad=True)
    with set_checkpoint_early_stop(stops_early):
        for wanted, *others in [
            (block, kept_little(block), kept_little(kept_little(block))),
            (derivative(block), derivative(kept_little(block)), kept_little(derivative(kept_little(block)))),
            (derivative(derivative(block)), derivative(kept_little(derivative(kept_little(block))))),
        ]:
            for fn in others:
                np.testing.assert_allclose(fn(x).item(), wanted(x).item(), rtol=1e-5)


def test_values_read_outside_of_a_backward_are_not_kept():
    calls = []

    def block(x):
        calls.append(1)
        return (x * x * x).exp()

    y = checkpoint(block, ja.ones(2, requires_grad=True))
    for n in (2, 3):
        np.testing.assert_allclose(y.grad_fn._saved_result.tolist(), np.e, rtol=1e-6)
        assert len(calls) == n
    y.sum().backward()
    assert len(calls) == 4


def test_a_second_run_ends_when_all_is_there_that_the_backward_needs():
    calls = []

    def last(x):
        calls.append("last")
        return x.clone()

    x = ja.ones(3, requires_grad=True)
    checkpoint(lambda x: last(x.sin().cos()), x).sum().backward()
    assert len(calls) == 1
    with set_checkpoint_early_stop(False):
        y = checkpoint(lambda x: last(x.sin().cos()), x)
    y.sum().backward()
    assert len(calls) == 3

    def grows(x):
        calls.append("grows")
        return x.sin().exp() if calls.count("grows") == 1 else x.sin().exp().sin()

    with set_checkpoint_early_stop(False):
        y = checkpoint(grows, x)
    with pytest.raises(RecomputeMismatchError, match="nothing at first, and then SinBackward0"):
        y.sum().backward()
    calls.clear()
    checkpoint(grows, x).sum().backward()  # what was saved at first is there all the same


@pytest.mark.oracle
@pytest.mark.parametrize("use_reentrant", [True, False])
def test_as_in_torch(use_reentrant):
    import torch
    from torch.utils.checkpoint import checkpoint as torch_checkpoint

    def program(lib, around):
        w = lib.linspace(-1, 1, 16).reshape(4, 4).requires_grad_()
        x = lib.linspace(0.1, 1.2, 12).reshape(3, 4).requires_grad_()

        def block(h, scale, flip=False):
            h = (h @ w).tanh() + 1
            h = h.mul_(scale)
            return h.flip(0) if flip else h.T.T

        h = around(block, x * 1, 0.5)
        h = around(block, h, 2.0, True) + h
        h.sum().backward()
        return [v.tolist() for v in (h, x.grad, w.grad)]

    torch_way = lambda fn, *args: torch_checkpoint(fn, *args, use_reentrant=use_reentrant)
    wanted = program(torch, torch_way)
    for around in (
        lambda fn, *args: checkpoint(fn, *args, use_reentrant=use_reentrant),
        lambda fn, *args: fn(*args),
    ):
        for got, want in zip(program(ja, around), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


# -- in graphs ---------------------------------------------------------------------------------------------------------


def cut(fn, *args, policy=None, memory_budget=None):
    return ja.trace(fn, *args).joint().partition(policy, memory_budget)


def names(parts):
    return [value.name.rsplit("_", 1)[0] for value in parts.saved]


def test_a_region_of_a_tensor_program():
    world = World()
    block = lambda h: (h @ world.w).tanh() @ world.w
    around = lambda **options: lambda x: checkpoint(block, checkpoint(block, x, **options), **options).sum()
    assert names(cut(around(), world.x)) == ["dot_general"]
    assert names(cut(around(policy="save_matmuls"), world.x)) == ["dot_general"] * 3
    assert names(cut(around(), world.x, policy="save_all")) == ["dot_general"]
    tight = cut(around(policy="save_all", memory_budget=f"{world.x.nbytes}B"), world.x)
    assert world.x.nbytes <= tight.saved_bytes <= 3 * world.x.nbytes
    assert all(value.source.startswith("test_checkpoint.py") for value in tight.saved)


def test_a_budget_for_a_block_of_code():
    world = World()

    def fn(x, budget):
        with ja.policies.memory_budget(f"{budget}%"):
            h = x
            for _ in range(4):
                h = (h @ world.w).sin()
        return (h * 2).sum()

    sizes = [cut(fn, world.x, budget).saved_bytes for budget in (0, 50, 100)]
    assert sizes[0] < sizes[1] < sizes[2]
    with ja.policies.memory_budget(0.5):  # eagerly it does nothing
        (world.x * 2).sum().backward()


@pytest.mark.slow
def test_marks_and_names_of_tensors():
    world = World()

    def fn(x):
        y = ja.policies.must_save((x @ world.w).tanh())
        z = ja.policies.must_recompute((y @ world.w).exp())
        return ja.policies.checkpoint_name(z.sin() * y, "last").cos().sum()

    wanted = outcome(lambda world, h: (h @ world.w).tanh().sin() * h, lambda fn, h: fn(h))
    marked = lambda world, h: ja.policies.checkpoint_name(
        ja.policies.must_recompute(ja.policies.must_save((h @ world.w).tanh()) + 0).sin() * h, "n"
    )
    check_same(outcome(marked, lambda fn, h: fn(h)), wanted)
    check_same(outcome(marked, lambda fn, h: fn(h), lambda fn, x: ja.compile(fn)(x)), wanted)
    assert names(cut(fn, world.x, policy="save_nothing")) == ["tanh"]
    assert "exp" not in names(cut(fn, world.x, policy="save_all"))
    assert names(cut(fn, world.x, policy=ja.policies.save_only_these_names("last"))) == ["tanh", "mul"]
    x = ja.ones(2)
    y = ja.policies.must_save({"x": [x, 3]})["x"][0]
    y.add_(1)
    assert (x.tolist(), y.tolist()) == ([1.0, 1.0], [2.0, 2.0])  # on a storage of its own, as in a trace


@pytest.mark.slow
def test_policies_everywhere():
    world = World()
    fn = lambda x: (ja.policies.checkpoint_name((x @ world.w).tanh(), "a") @ world.w).sin().sum()
    wanted = jax.grad(lambda x, w: jnp.sin(jnp.tanh(x @ w) @ w).sum())(world.x.jax(), world.w.jax())
    for policy in (
        ja.policies.save_only_these_names("a"),
        jax.checkpoint_policies.dots_saveable,
        jax.checkpoint_policies.save_only_these_names("a"),
    ):
        world.x.grad = None
        ja.compile(fn, policy=policy)(world.x).backward()
        np.testing.assert_allclose(world.x.grad.jax(), wanted, rtol=1e-5)
        assert len(cut(fn, world.x, policy=policy).saved) in (1, 2)
        with ja.config(policy=policy):
            assert cut(fn, world.x).saved == cut(fn, world.x, policy=policy).saved
        by_function = ja.aot.aot_function(fn, "xla", partition_fn=lambda joint, policy=policy: joint.partition(policy))
        world.x.grad = None
        by_function(world.x).backward()
        np.testing.assert_allclose(world.x.grad.jax(), wanted, rtol=1e-5)


def test_regions_under_functionalize():
    w = jnp.linspace(-1.0, 1.0, 16).reshape(4, 4)

    def fn(x, w):
        return checkpoint(lambda x: ((x @ w).tanh() @ w).sin(), x).sum()

    pure = ja.func.functionalize(fn)
    parts = partition(build_joint(jax.make_jaxpr(pure)(w, w), (0, 1), (0,)))
    assert parts.saved == ()
    assert (
        partition(build_joint(jax.make_jaxpr(lambda x, w: pure(pure(x, w) * x, w))(w, w), (0, 1), (0,))).saved_bytes
        <= 4
    )
    plain = lambda x, w: jnp.sin(jnp.tanh(x @ w) @ w).sum()
    np.testing.assert_allclose(jax.grad(pure)(w, w), jax.grad(plain)(w, w), rtol=1e-5)


# -- on arrays ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_region_of_an_array_program():
    x, w = jnp.ones((3, 4)), jnp.linspace(-1.0, 1.0, 16).reshape(4, 4)
    block = lambda x, w, name="sin": getattr(jnp, name)(jnp.tanh(x @ w) @ w)
    fn = lambda x, w: checkpoint(block, checkpoint(block, x, w), w, "cos", policy="save_matmuls").sum()
    plain = lambda x, w: block(block(x, w), w, "cos").sum()
    for transform in (jax.value_and_grad, lambda f: jax.hessian(f, 1)):
        for a, b in zip(*(jax.tree.leaves(jax.jit(transform(f))(x, w)) for f in (fn, plain)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    joint = build_joint(jax.make_jaxpr(fn)(x, w), (0, 1), (0,))
    assert names(partition(joint)) == ["sin", "dot_general", "dot_general"]
    traced = ja.trace(fn, x, w).joint((0, 1)).partition()
    assert names(traced) == ["sin", "dot_general", "dot_general"]
    (saved,) = partition(build_joint(jax.make_jaxpr(checkpoint(plain, memory_budget="48B"))(x, w), (0, 1), (0,))).saved
    assert saved.bytes == 48


def test_a_sequence_in_segments():
    layers = [lambda x: x * 2, lambda x: x.sin(), lambda x: x + 1, lambda x: x.exp(), lambda x: x * x]
    right = ja.ones(3, requires_grad=True)
    y = right
    for layer in layers:
        y = layer(y)
    y.sum().backward()
    for segments in (1, 2, 3, 5):
        for run in (checkpoint_sequential, ja.compile(checkpoint_sequential)):
            x = ja.ones(3, requires_grad=True)
            z = run(layers, segments, x, use_reentrant=False)
            z.sum().backward()
            assert ja.allclose(z, y) and ja.allclose(x.grad, right.grad)
    for segments in (0, 6):
        with pytest.raises(OptionError, match="1 to the number of functions"):
            checkpoint_sequential(layers, segments, right)


def test_a_custom_function_reads_once_what_is_computed_again_for_it():
    refused = []

    class Cube(ja.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x * x)
            return x**3

        @staticmethod
        def backward(ctx, gradient):
            (square,) = ctx.saved_tensors
            alive = weakref.ref(square)
            try:
                ctx.saved_tensors  # noqa: B018
            except AutogradError as error:
                refused.append(str(error))
            gradient = 3 * square * gradient
            del square
            assert alive() is None
            return gradient

    x = ja.full((2,), 2.0).requires_grad_()
    y = checkpoint(lambda x: Cube.apply(x * 1), x)
    for retains in (True, False):  # each backward computes it again
        y.sum().backward(retain_graph=retains)
    assert x.grad.tolist() == [24, 24]
    assert len(refused) == 2 and "was already unpacked once" in refused[0] and "Read it once" in refused[0]
    Cube.apply(x * 1).sum().backward()  # and what is kept is read as often as one likes
    assert len(refused) == 2


def test_switches_and_classes_of_pytorch():
    x = ja.ones(3, requires_grad=True)
    for enable in (True, False):
        with set_checkpoint_early_stop(enable):
            (g,) = ja.autograd.grad(checkpoint(lambda x: (x.sin() * x).sum(), x, use_reentrant=False), x)
        np.testing.assert_allclose(g.numpy(), np.cos(1) + np.sin(1), rtol=1e-6)

    class Doubled(ja.autograd.function.InplaceFunction):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    y = x.clone()
    Doubled.apply(y).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
