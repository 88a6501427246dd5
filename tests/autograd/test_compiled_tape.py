"""`ja.compiler.compiled_autograd`: backwards as programs do what the engine does, and are found again."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.errors import AutogradError, UsageError
from tests.seeds import one_in

N_STEPS = 4


class Scaled(ja.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * ctx.factor * x.cos(), None


class Other(Scaled):
    pass


class Writing(Scaled):
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        x.mul_(0.5)
        return grad * x, None


def steps(program, *, compiler=None, n=N_STEPS, zero=True):
    """Runs a program some times; returns all gradients and what else it returned."""
    ja.manual_seed(0)
    w = ja.randn(4, 4, requires_grad=True)
    found, memory = [], {}
    for _ in range(n):
        if zero:
            w.grad = None

        def backward(loss, **how):
            if compiler is None:
                return loss.backward(**how)
            with ja.compiler.compiled_autograd(compiler):
                return loss.backward(**how)

        returned = program(w, ja.randn(3, 4), backward, memory)
        found.append([w.grad.numpy().copy(), *(np.array(r) for r in returned or ())])
        with ja.no_grad():
            w.mul_(0.9)
    return found


def tensor_hook(w, x, backward, memory):
    y = x @ w
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_prehook(lambda gs: (gs[0] + 1,))
    y.grad_fn.register_hook(lambda gi, go: tuple(None if g is None else g * 3 for g in gi))
    backward(y.tanh().sum())


def hook_that_writes_a_tensor(w, x, backward, memory):
    total = memory.setdefault("total", ja.zeros(3, 4))
    y = x @ w

    def hook(g):
        total.add_(g)

    y.register_hook(hook)
    backward(y.tanh().sum())
    return [total.numpy()]


def hook_that_draws(w, x, backward, memory):
    y = x @ w
    y.register_hook(lambda g: g * ja.rand(3, 4))
    backward(y.sum())


def retained(w, x, backward, memory):
    y = x @ w
    y.retain_grad()
    backward(y.tanh().sum())
    return [y.grad.numpy()]


def function(w, x, backward, memory):
    backward(Scaled.apply(x @ w, 2.0).sum())


def function_that_saved_what_lives(w, x, backward, memory):
    y = x @ w
    backward((Scaled.apply(y, 2.0) * y).sum())


def function_that_writes_what_it_saved(w, x, backward, memory):
    y = x @ w
    backward(Writing.apply(y, 2.0).sum())
    return [y.detach().numpy()]


def compiled_call(w, x, backward, memory):
    fn = memory.setdefault("fn", ja.compile(lambda w, x: (x @ w).tanh()))
    backward((fn(w, x) * fn(w, x * 2)).sum())


def packed(w, x, backward, memory):
    with ja.autograd.graph.saved_tensors_hooks(lambda t: (t * 2, "half"), lambda p: p[0] / 2):
        y = (x @ w).tanh().exp()
    backward(y.sum())


def checkpointed(w, x, backward, memory):
    backward(ja.utils.checkpoint.checkpoint(lambda x: (x @ w).tanh().exp(), x).sum())


def views_and_writes(w, x, backward, memory):
    y = (x @ w).tanh()
    y[0].mul_(3.0)
    z = y[:, 1:].t().contiguous()
    backward((z * z).sum(), retain_graph=True)
    backward((z * z).sum())


def written_since(w, x, backward, memory):
    loss = (x @ w).tanh().sum()
    with ja.no_grad():
        w.mul_(0.5)
    backward(loss)


def several_roots(w, x, backward, memory):
    y = x @ w
    backward(y.exp(), gradient=ja.ones(3, 4) * 0.5, retain_graph=True)
    backward(y.sin().sum(), inputs=[w])


PROGRAMS = [tensor_hook, hook_that_writes_a_tensor, hook_that_draws, retained, function,
            function_that_saved_what_lives, function_that_writes_what_it_saved, compiled_call, packed,
            checkpointed, views_and_writes, written_since, several_roots]  # fmt: skip


@pytest.mark.few(3)
@pytest.mark.parametrize("program", one_in(2, PROGRAMS))
def test_steps_compile_once(program):
    compiler = ja.autograd.TapeCompiler()
    for found, expected in zip(steps(program, compiler=compiler), steps(program), strict=True):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    info = compiler.cache_info()
    n = {views_and_writes: 2, several_roots: 2}.get(program, 1)  # the second of two adds to `.grad`
    assert (info.misses, info.eager) == (n, 0), compiler.eager_reasons()
    assert info.hits == (2 if program in (views_and_writes, several_roots) else 1) * N_STEPS - n


def test_ten_steps_with_zero_grad_compile_once_and_without_twice():
    for zero, n in ((True, 1), (False, 2)):
        compiler = ja.autograd.TapeCompiler()
        steps(lambda w, x, backward, memory: backward((x @ w).sin().sum()), compiler=compiler, n=10, zero=zero)
        assert compiler.cache_info() == (10 - n, n, 1, 0)


def appended(w, x, backward, memory):
    seen = memory.setdefault("seen", [])
    y = x @ w
    y.register_hook(lambda g: seen.append(g))
    backward(y.tanh().sum())
    return [len(seen), seen[-1].numpy()]


def asked(w, x, backward, memory):
    seen = memory.setdefault("seen", [])
    y = x @ w
    y.register_hook(lambda g: seen.append(float(g.norm())))
    backward(y.tanh().sum())
    return [len(seen), seen[-1]]


def counted(w, x, backward, memory):
    memory.setdefault("n", 0)

    def hook(g):
        memory["n"] += 1

    y = x @ w
    y.register_hook(hook)
    backward(y.tanh().sum())
    return [memory["n"]]


@pytest.mark.parametrize("program", [appended, asked, counted])
def test_what_cannot_be_compiled_runs_in_the_engine(program):
    compiler = ja.autograd.TapeCompiler()
    for found, expected in zip(steps(program, compiler=compiler), steps(program), strict=True):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert compiler.cache_info().eager >= N_STEPS - 1
    assert all("hook" in reason or "program" in reason for reason in compiler.eager_reasons())


@pytest.mark.slow
def test_another_shape_structure_or_function_compiles_again():
    compiler = ja.autograd.TapeCompiler()
    w = ja.ones(4, 4, requires_grad=True)

    def run(n, fn):
        w.grad = None
        with ja.compiler.compiled_autograd(compiler):
            fn(ja.ones(n, 4) @ w).sum().backward()
        return compiler.cache_info().misses

    sine = lambda y: y.sin()
    assert [run(n, sine) for n in (2, 3, 2, 3)] == [1, 2, 2, 2]
    assert [run(2, lambda y: y.sin().cos()), run(2, sine)] == [3, 3]
    scaled = lambda cls, factor: lambda y: cls.apply(y, factor)
    assert [run(2, scaled(Scaled, f)) for f in (2.0, 2.0, 3.0)] == [4, 4, 5]
    assert run(2, scaled(Other, 2.0)) == 5  # the same code


@pytest.mark.parametrize("factors", [(0.1, 0.2, 0.3), (10, 20, 30), (0.0, -0.0), (float("nan"), float("nan"))])
def test_numbers_are_inputs(factors):
    compiler = ja.autograd.TapeCompiler()
    w = ja.ones(2, requires_grad=True)
    for factor in factors:
        w.grad = None
        y = w * factor
        with ja.compiler.compiled_autograd(compiler):
            y.sum().backward()
        assert str(w.grad.tolist()) == str([float(np.float32(factor))] * 2)
    assert compiler.cache_info()[:2] == (len(factors) - 1, 1)


def test_small_exponents_are_constants():
    compiler = ja.autograd.TapeCompiler()
    w = ja.full((2,), 3.0, requires_grad=True)
    for exponent, gradient in ((2, 6), (3, 27), (2, 6), (5, 405), (6, 1458)):
        w.grad = None
        with ja.compiler.compiled_autograd(compiler):
            (w**exponent).sum().backward()
        assert w.grad.tolist() == pytest.approx([gradient] * 2)
    assert compiler.cache_info()[:2] == (2, 3)


@pytest.mark.parametrize("hook", [lambda g: g * 2, lambda g: g * float(g.sum())])
def test_what_was_dropped_is_computed_once_and_dropped_again(hook):
    n_runs = 0

    def layer(x):
        nonlocal n_runs
        n_runs += 1
        return x.sin().exp()

    w = ja.ones(3, requires_grad=True)
    y = ja.utils.checkpoint.checkpoint(layer, w)
    y.register_hook(hook)
    compiler = ja.autograd.TapeCompiler()
    for n, keeps in ((2, True), (3, True), (4, False)):
        with ja.compiler.compiled_autograd(compiler):
            y.sum().backward(retain_graph=keeps)
        assert n_runs == n
    with pytest.raises(AutogradError):
        y.sum().backward()


def test_reasons_are_bounded():
    compiler = ja.autograd.TapeCompiler()
    for i in range(80):
        compiler._note(f"reason {i}")
    assert len(compiler.eager_reasons()) == 64
    assert compiler.cache_info().eager == 80


def test_what_a_hook_closes_over_is_an_input():
    compiler = ja.autograd.TapeCompiler()
    scale, w = ja.tensor(2.0), ja.ones(2, requires_grad=True)
    for factor in (2.0, 5.0):
        scale.fill_(factor)
        w.grad = None
        y = w * 3
        y.register_hook(lambda g: g * scale)
        with ja.compiler.compiled_autograd(compiler):
            y.sum().backward()
        assert w.grad.tolist() == [3 * factor] * 2
    assert compiler.cache_info()[:2] == (1, 1)


def test_gradients_that_are_returned():
    w, v = ja.ones(2, requires_grad=True), ja.ones(2, requires_grad=True)
    compiler = ja.autograd.TapeCompiler()
    with ja.compiler.compiled_autograd(compiler):
        for _ in range(2):
            y = w * 3
            first, second = ja.autograd.grad((y * y).sum(), [y, w])
            assert (first.tolist(), second.tolist()) == ([6, 6], [18, 18])
            (absent,) = ja.autograd.grad((w * 2).sum(), [v], allow_unused=True)
            assert absent is None
            with pytest.raises(AutogradError, match="allow_unused"):
                ja.autograd.grad((w * 2).sum(), [v])
    assert w.grad is None
    assert compiler.cache_info().eager == 0


def test_a_second_backward_is_refused_as_by_the_engine():
    w = ja.ones(2, requires_grad=True)
    with ja.compiler.compiled_autograd(ja.autograd.TapeCompiler()):
        loss = (w * w).sum()
        loss.backward()
        with pytest.raises(RuntimeError, match="second time"):
            loss.backward()
    assert w.grad.tolist() == [2, 2]


def test_an_error_in_a_hook_is_the_users_and_changes_nothing():
    w = ja.ones(2, requires_grad=True)
    y = w * w

    def hook(g):
        raise KeyError("mine")

    y.register_hook(hook)
    with ja.compiler.compiled_autograd(ja.autograd.TapeCompiler()), pytest.raises(KeyError, match="mine"):
        y.sum().backward()
    assert w.grad is None


def test_a_recorded_backward_and_anomaly_mode_run_in_the_engine():
    compiler = ja.autograd.TapeCompiler()
    w = ja.ones(2, requires_grad=True)
    with ja.compiler.compiled_autograd(compiler):
        (g,) = ja.autograd.grad((w**3).sum(), w, create_graph=True)
        with ja.autograd.detect_anomaly():
            (w * 2).sum().backward()
        g.sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), [8, 8], rtol=1e-6)
    assert compiler.cache_info().misses == 1


def test_nothing_is_kept_alive():
    import gc
    import weakref

    compiler = ja.autograd.TapeCompiler()
    w = ja.ones(2, requires_grad=True)
    y = w.exp()
    y.register_hook(lambda g: g * 2)
    held = weakref.ref(y), weakref.ref(y.grad_fn)
    with ja.compiler.compiled_autograd(compiler):
        y.sum().backward()
    del y
    gc.collect()
    assert [r() for r in held] == [None, None]


def test_the_number_of_tapes_is_bounded():
    compiler = ja.autograd.TapeCompiler(max_tapes=2)
    w = ja.ones(2, requires_grad=True)
    with ja.compiler.compiled_autograd(compiler):
        for fn in (ja.sin, ja.cos, ja.exp, ja.sin):
            fn(w).sum().backward()
    assert compiler.cache_info()[1:] == (4, 2, 0)
    compiler.cache_clear()
    assert compiler.cache_info() == (0, 0, 0, 0)
    with pytest.raises(UsageError, match="max_tapes is 0"):
        ja.autograd.TapeCompiler(max_tapes=0)


def test_contexts_nest_and_share():
    outer, inner = ja.autograd.TapeCompiler(), ja.autograd.TapeCompiler()
    w = ja.ones(2, requires_grad=True)
    with ja.compiler.compiled_autograd(outer):
        with ja.compiler.compiled_autograd(inner) as entered:
            assert entered is inner
            (w * 2).sum().backward()
        (w * 2).sum().backward()
    (w * 2).sum().backward()
    assert (inner.cache_info().misses, outer.cache_info().misses) == (1, 1)
    with ja.compiler.compiled_autograd() as first, ja.compiler.compiled_autograd() as second:
        assert first is second


def test_a_backward_of_what_was_recorded_outside_is_refused_in_a_trace():
    w = ja.ones(2, requires_grad=True)
    loss = (w * w).sum()
    with pytest.raises(AutogradError, match=r"SumBackward0, which was recorded before.*compiled_autograd"):
        ja.compile(lambda loss: loss.backward())(loss)
    assert w.grad is None
    loss.backward()  # nothing was freed
    assert w.grad.tolist() == [2, 2]


def test_the_whole_backward_is_one_program():
    compiler = ja.autograd.TapeCompiler()
    x, ws = jnp.ones((2, 4)), [ja.ones(4, 4, requires_grad=True) for _ in range(6)]
    with ja.compiler.compiled_autograd(compiler):
        functools.reduce(lambda h, w: (h @ w).tanh(), ws, ja.tensor(x)).sum().backward()
    expected = jax.grad(lambda ws: functools.reduce(lambda h, w: jnp.tanh(h @ w), ws, x).sum())([jnp.ones((4, 4))] * 6)
    for w, gradient in zip(ws, expected, strict=True):
        np.testing.assert_allclose(w.grad.numpy(), gradient, rtol=1e-4, atol=1e-6)
    assert compiler.cache_info().misses == 1


def test_a_hook_that_raises_leaves_what_one_backward_leaves():
    with ja.compiler.compiled_autograd():
        w = ja.ones(2, requires_grad=True)
        w.register_post_accumulate_grad_hook(lambda p: 3)
        with pytest.raises(TypeError, match="returned int"):
            (w * 2).sum().backward()
    assert w.grad.tolist() == [2.0, 2.0]


def test_a_backward_to_a_leaf_that_only_the_call_knew():
    out = ja.compile(lambda: ja.ones(3).requires_grad_() * 2)()
    assert out.requires_grad
    out.sum().backward()  # as in eager, the gradient goes to what nobody holds


def test_what_others_are_told_by_jax_is_no_part_of_a_hook():
    told = []
    jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: told.append(event))
    cache = ja.autograd.TapeCompiler()
    for _ in range(3):
        with ja.compiler.compiled_autograd(cache):
            y = (ja.ones(3, requires_grad=True) * 2).sin()
            y.register_hook(lambda grad: grad * 2)
            y.sum().backward()
    assert told and cache.cache_info().eager == 0
