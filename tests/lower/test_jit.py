"""`ja.jit` is `jax.jit`, with the options that XLA needs."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja

X = jnp.arange(3.0)


def held(x):
    return jax.lax.optimization_barrier(x * 2.0) * 3.0


def test_barriers_are_kept():
    assert "opt-barrier(" in ja.jit(held).lower(X).compile().as_text()
    assert "opt-barrier(" in ja.jit(held).trace(X).lower().compile().as_text()
    assert "opt-barrier(" not in jax.jit(held).lower(X).compile().as_text()
    np.testing.assert_array_equal(ja.jit(held)(X), 6.0 * X)


def test_options_of_the_user_are_kept():
    step = ja.jit(held, compiler_options={"xla_disable_hlo_passes": "dce", "xla_embed_ir_in_executable": True})
    assert "opt-barrier(" in step.lower(X).compile().as_text()
    off = ja.jit(held, compiler_options={"xla_disable_hlo_passes": ""})
    assert "opt-barrier(" not in off.lower(X).compile().as_text()
    with pytest.raises(Exception, match="no_such_option"):
        ja.jit(held, compiler_options={"no_such_option": True})(X)


def test_arguments_of_jax_jit():
    @ja.jit(static_argnames="n", donate_argnums=0)
    def scaled(x, n):
        return x * n

    x = jnp.arange(4.0)
    np.testing.assert_array_equal(scaled(x, n=3), [0.0, 3.0, 6.0, 9.0])
    assert x.is_deleted()
    assert scaled.__name__ == "scaled"
    assert scaled.eval_shape(X, n=2).shape == (3,)
    scaled.clear_cache()


def test_inside_other_transformations_it_is_jax_jit():
    wrapped = ja.jit(held)
    np.testing.assert_array_equal(jax.jit(lambda x: wrapped(x) + 1.0)(X), 6.0 * X + 1.0)
    np.testing.assert_array_equal(ja.jit(lambda x: wrapped(x) + 1.0)(X), 6.0 * X + 1.0)
    assert float(jax.grad(wrapped)(1.0)) == 6.0
    np.testing.assert_array_equal(jax.vmap(wrapped)(X), 6.0 * X)
    assert jax.make_jaxpr(wrapped)(X).eqns[0].params["name"] == "held"


def test_a_call_is_traced_once():
    calls = []

    @ja.jit
    def traced(x):
        calls.append(x)
        return x + 1.0

    for _ in range(3):
        traced(X)
    assert len(calls) == 1
    traced.clear_cache()
    traced(X)
    assert len(calls) == 2


def test_methods():
    class Model:
        scale = 3.0

        @functools.partial(ja.jit, static_argnums=0)
        def run(self, x):
            return x * self.scale

    np.testing.assert_array_equal(Model().run(X), 3.0 * X)
    assert "Model.run" in repr(Model.run)
