"""Hooks on saved tensors around functions under `ja.remat`: their residuals are packed inside the graphs."""

from __future__ import annotations

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from jaxaot.rematerialize.remat import _graphs
from tests.drawn import drawn
from tests.seeds import one_in, some

graph = ja.autograd.graph
W = [jax.device_put(drawn(i, 64, 64) * np.float32(0.15)) for i in range(4)]
X = jax.device_put(drawn(9, 32, 64))

PAIRS = {
    "bfloat16": (graph.to_dtype(ja.bfloat16), 0.02, 2),
    "float8": (graph.quantize_float8(), 0.2, 3.9),
    "int8": (graph.quantize_int8(), 0.05, 3.5),
    "by hand": ((lambda t: (t.to(ja.bfloat16), t.dtype), lambda kept: kept[0].to(kept[1])), 0.02, 2),
}


def make():
    """A function of its own, with no graphs yet."""

    def loss(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return (x * x).sum()

    return loss


def residual_bytes(fn):
    """The bytes of the residuals of each graph that was cut."""
    cuts = [cut for g in _graphs.of(fn).values() for cut in g.call._cuts.values()]
    return [cut.parts.plan.extra_bytes for cut in cuts]


def off(found, expected):
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
    return max(float(np.linalg.norm(a - b) / np.linalg.norm(b)) for a, b in pairs)


def with_hooks(pair, run, **options):
    with graph.saved_tensors_hooks(*pair, **options):
        return run()


@pytest.mark.few(2)
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("policy", some(["min_cut", "save_all"], 1))
def test_residuals_are_packed_and_gradients_are_near(name, policy):
    pair, tolerance, share = PAIRS[name]
    fn = make()
    packed = ja.remat(fn, policy=policy)
    expected = jax.grad(fn)(W, X)
    exact = jax.grad(packed)(W, X)
    for transform in (lambda f: f, ja.jit):
        found = with_hooks(pair, lambda: transform(jax.grad(packed))(W, X))
        assert 0 < off(found, expected) <= tolerance
    before, after = sorted(residual_bytes(fn), reverse=True)
    assert after * share <= before * 1.01
    assert off(exact, expected) < 1e-5
    assert off(jax.grad(packed)(W, X), expected) < 1e-5, "outside nothing is packed"


def test_offloaded_residuals_are_exact_and_in_the_memory_of_the_host():
    fn = make()
    found = with_hooks(graph.offload_to_host(), lambda: ja.jit(jax.grad(ja.remat(fn)))(W, X))
    assert off(found, jax.grad(fn)(W, X)) < 1e-5 and residual_bytes(fn) == [0]


def test_inputs_are_packed_where_that_is_asked_for():
    fn = make()
    plain = with_hooks(PAIRS["float8"][0], lambda: jax.grad(ja.remat(fn))(W, X))
    packed = with_hooks(PAIRS["float8"][0], lambda: jax.grad(ja.remat(fn))(W, X), inputs=True)
    assert off(packed, plain) > 0.01 and off(packed, jax.grad(fn)(W, X)) < 0.3


TRANSFORMED = {
    "vmap of grad": lambda f: jax.vmap(jax.grad(f), (None, 0)),
    "grad of vmap": lambda f: jax.grad(lambda w, xs: jax.vmap(f, (None, 0))(w, xs).sum()),
    "scan": lambda f: jax.grad(lambda w, xs: jax.lax.scan(lambda c, x: (c + f(w, x), None), 0.0, xs)[0]),
    "jvp": lambda f: lambda w, xs: jax.jvp(lambda w: f(w, xs[0]), (w,), (w,))[1],
    "checkpoint": lambda f: jax.grad(lambda w, xs: jax.checkpoint(f)(w, xs[0])),
    "ja.value_and_grad": lambda f: lambda w, xs: ja.value_and_grad(f)(w, xs[0])[1],
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", one_in(2, TRANSFORMED))
def test_under_transformations(name):
    xs = jnp.stack([X, X * 0.5])
    fn, transform = make(), TRANSFORMED[name]
    found = with_hooks(PAIRS["bfloat16"][0], lambda: jax.jit(transform(ja.remat(fn)))(W, xs))
    assert 1e-6 < off(found, transform(fn)(W, xs)) < 0.02


def test_hooks_that_no_graph_can_carry_out_are_refused():
    fn, pair = make(), (lambda t: t.numpy(), ja.tensor)
    with pytest.raises(
        errors.UntraceableHooksError, match=r"they would pack f32\[32,64\].*Write hooks that are functions"
    ):
        with_hooks(pair, lambda: jax.grad(ja.remat(fn))(W, X))
    with_hooks(pair, lambda: ja.remat(fn)(W, X))  # nothing is saved
    assert off(jax.grad(ja.remat(fn))(W, X), jax.grad(fn)(W, X)) < 1e-5


def test_second_derivatives_are_refused():
    second = lambda f: jax.grad(lambda w: sum((g * g).sum() for g in jax.grad(f)(w, X)))
    fn = make()
    with pytest.raises(errors.PackedDerivativeError, match="outside of `saved_tensors_hooks`"):
        with_hooks(PAIRS["int8"][0], lambda: second(ja.remat(fn))(W))
    assert off(second(ja.remat(fn))(W), second(fn)(W)) < 1e-3


@pytest.mark.slow
def test_on_tensors_the_tape_or_the_compiled_function_packs():
    plain = lambda x: jnp.tanh(jnp.sin(x) @ W[0])
    on_tensors = ja.autograd.jax_function(ja.remat(plain))
    exact = jax.grad(lambda x: plain(x).sum())(X)
    x = ja.interop.from_jax(X).requires_grad_()

    def fn(x):
        return on_tensors(x).sum()

    for run in (fn, ja.compile(fn)):
        for pair in (PAIRS["bfloat16"][0], None):
            with graph.saved_tensors_hooks(*pair) if pair else contextlib.nullcontext():
                run(x).backward()
            assert off(x.grad.numpy(), exact) < (0.02 if pair else 1e-5)
            x.grad = None


@pytest.mark.slow
def test_flax_modules():
    nnx = pytest.importorskip("flax.nnx")
    model = nnx.Sequential(
        nnx.Linear(64, 64, rngs=nnx.Rngs(0)), jnp.tanh, nnx.Linear(64, 64, rngs=nnx.Rngs(1)), jnp.tanh
    )
    loss = lambda model, x: (model(x) ** 2).sum()
    expected = nnx.grad(loss)(model, X)
    for pair in (None, PAIRS["float8"][0]):
        with graph.saved_tensors_hooks(*pair) if pair else contextlib.nullcontext():
            found = nnx.grad(ja.remat(loss))(model, X)
        assert off(found, expected) < (0.2 if pair else 1e-5)
