"""Options for XLA: LLVM optimizes less where steps are as fast, and more where they are not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.backend.cpu.options import gains_by_optimizing, optimizing_less
from jaxaot.lower.executable import Executable

LEVEL = "xla_backend_optimization_level"


def uniform(key):
    return jax.random.uniform(key, (1000,))


@pytest.fixture
def levels(monkeypatch, optimized):
    """The levels under which functions are jitted; None for those that say none."""
    seen, jit = [], jax.jit

    def spying(*args, compiler_options=None, **more):
        seen.append((compiler_options or {}).get(LEVEL))
        return jit(*args, compiler_options=compiler_options, **more)

    monkeypatch.setattr(jax, "jit", spying)
    return seen


def test_llvm_optimizes_less():
    options = {LEVEL: 0, "xla_embed_ir_in_executable": True}
    assert optimizing_less(options) == options
    assert optimizing_less({}, "gpu") == {}


def test_a_step_is_compiled_with_less(levels):
    ja.jit(lambda x: jnp.tanh(x) * 2.0)(jnp.ones(3))
    assert 2 in levels and 3 not in levels
    levels.clear()
    large = jnp.ones((1024, 1024))
    Executable(jax.make_jaxpr(lambda x: jnp.tanh(x) @ x)(large)).call(large)
    assert 2 in levels


def test_what_the_user_says_stays(levels):
    ja.jit(lambda x: jnp.tanh(x) * 2.0, compiler_options={LEVEL: 3})(jnp.ones(3))
    assert 3 in levels and 2 not in levels


def test_loops_of_random_bits_are_optimized_fully(levels):
    key = jax.random.key(0)
    drawn = ja.jit(uniform)
    levels.clear()
    np.testing.assert_array_equal(drawn(key), uniform(key))
    assert levels[-1] is None  # the last one that was made is what runs
    n_made = len(levels)
    np.testing.assert_array_equal(drawn(key), uniform(key))
    assert len(levels) == n_made


def test_which_graphs_gain():
    key = jax.random.key(0)
    assert gains_by_optimizing(jax.make_jaxpr(uniform)(key).jaxpr)
    looped = lambda key: jax.lax.map(lambda k: jax.random.normal(k, (64,)), jax.random.split(key, 3))
    assert gains_by_optimizing(jax.make_jaxpr(looped)(key).jaxpr)
    pooled = lambda x: jax.lax.reduce_window(x, 0.0, jax.lax.add, (2, 2), (2, 2), "VALID")
    assert gains_by_optimizing(jax.make_jaxpr(pooled)(jnp.ones((16, 16))).jaxpr)
    assert not gains_by_optimizing(jax.make_jaxpr(lambda key: jax.random.normal(key, (2,)))(key).jaxpr)
    assert not gains_by_optimizing(jax.make_jaxpr(jnp.tanh)(jnp.ones(3)).jaxpr)
