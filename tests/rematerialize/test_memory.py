"""What is recomputed stays recomputed in one program, and costs less memory there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from tests.drawn import drawn
from tests.seeds import some


def mlp(weights, x):
    for w in weights:
        y = jax.nn.gelu(x @ w)
        x = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)
    return (x[:, 0] ** 2).mean()


WEIGHTS = [jax.device_put(drawn(i, 32, 32) / np.float32(6)) for i in range(8)]
X = jax.device_put(drawn(9, 2048, 32))


def compiled(fn, jit=ja.jit):
    return jit(fn).lower(WEIGHTS, X).compile()


def temp_bytes(program):
    return program.memory_analysis().temp_size_in_bytes


@pytest.fixture(scope="module")
def plain():
    return compiled(jax.value_and_grad(mlp), jax.jit)


@pytest.mark.slow
def test_one_program_holds_less(plain):
    cut = compiled(ja.value_and_grad(mlp))
    assert "opt-barrier(" in cut.as_text()
    assert temp_bytes(cut) < 0.55 * temp_bytes(plain)
    for got, want in zip(jax.tree.leaves(cut(WEIGHTS, X)), jax.tree.leaves(plain(WEIGHTS, X)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_budget_holds_less_still(plain):
    assert temp_bytes(compiled(ja.value_and_grad(mlp, memory_budget=0.05))) < 0.4 * temp_bytes(plain)


def blocks(weights, x):
    for w, b, v in weights:
        x = x + jax.nn.gelu(x @ w + b) @ v
    return (x**2).sum()


def attention(weights, x):
    for q, k, _ in weights:
        x = x + jax.nn.softmax((x @ q) @ (x @ k).T) @ x
    return (x**2).sum()


@pytest.mark.slow
@pytest.mark.parametrize("budget", some([0.3, "fit:7MiB", None], 1))
@pytest.mark.parametrize("loss", some([attention, blocks], 1))
def test_a_program_holds_what_was_estimated(loss, budget):
    some_of = WEIGHTS[:5]
    x, wide = X[:512], [(w[:, :1] @ jnp.ones((1, 512)), jnp.ones(512), jnp.ones((512, 32)) / 512) for w in some_of]
    square = [(w, w, w) for w in some_of]
    weights = wide if loss is blocks else square
    program = ja.jit(jax.value_and_grad(ja.remat(loss, memory_budget=budget))).lower(weights, x).compile()
    memory = program.memory_analysis()
    held = memory.temp_size_in_bytes + memory.argument_size_in_bytes + memory.output_size_in_bytes
    estimate = ja.trace(loss, weights, x).joint().partition(memory_budget=budget).timeline.peak_bytes
    least = 0.8 if jax.__version_info__ < (0, 11) else 0.9  # the older XLA gets by with less
    assert least * estimate < held < 1.1 * estimate


@pytest.mark.slow
def test_jax_jit_drops_the_barriers():
    dropped = compiled(ja.value_and_grad(mlp, memory_budget=0.05), jax.jit)
    assert "opt-barrier(" not in dropped.as_text()  # `jax.jit` on CPU drops them: the reason for `ja.jit`
    least = 1.5 if jax.__version_info__ < (0, 11) else 0.9  # the XLA of 0.11 holds as little of this one without them
    assert temp_bytes(dropped) > least * temp_bytes(compiled(ja.value_and_grad(mlp, memory_budget=0.05)))


@pytest.mark.slow
def test_blocks_in_a_scan_hold_less():
    weights = jnp.stack(WEIGHTS)

    def total(wrap):
        def loss(weights, x):
            turn = wrap(lambda x, w: jnp.sin(jax.nn.gelu(x @ w)))
            return jax.lax.scan(lambda x, w: (turn(x, w), None), x, weights)[0].sum()

        return ja.jit(jax.grad(loss)).lower(weights, X).compile()

    assert temp_bytes(total(ja.remat)) < 0.6 * temp_bytes(total(lambda fn: fn))


@pytest.mark.slow
def test_second_derivatives_are_gated():
    def product(fn):
        return lambda weights, x: jax.jvp(lambda w: jax.grad(fn)(w, x), (weights,), (weights,))[1]

    plain, cut = compiled(product(mlp)), compiled(product(ja.remat(mlp, memory_budget=0.05)))
    assert "opt-barrier(" in cut.as_text()
    assert temp_bytes(cut) < temp_bytes(plain)
    for got, want in zip(jax.tree.leaves(cut(WEIGHTS, X)), jax.tree.leaves(plain(WEIGHTS, X)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
