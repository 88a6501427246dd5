"""Classes and methods of linen modules under `ja.remat` do what they do under `nn.remat`."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn

import jaxaot as ja

X = jnp.linspace(-1.0, 1.0, 8).reshape(2, 4)
KEYS = {"params": jax.random.key(0), "dropout": jax.random.key(1)}


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, mask=None, *, scale=1.0, train=True):
        y = nn.tanh(nn.Dense(4)(x))
        y = y if mask is None else y * mask
        y = nn.Dropout(0.5, deterministic=not train)(y)
        return y * scale


def gradients(module, *args, **kwargs):
    variables = module.init(KEYS, X)
    leaves = jax.tree.leaves(jax.grad(lambda v: (module.apply(v, *args, rngs=KEYS, **kwargs) ** 2).sum())(variables))
    return [np.asarray(leaf) for leaf in leaves]


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"mask": jnp.array([1.0, 0.0, 1.0, 0.0])},
        {"scale": 2.0},
        {"train": False},
        {"mask": jnp.array([1.0, 0.0, 1.0, 0.0]), "scale": jnp.float32(3), "train": False},
    ],
    ids=str,
)
def test_keyword_arguments_are_passed_on(kwargs):
    got, want = gradients(ja.remat(Block)(), X, **kwargs), gradients(Block(), X, **kwargs)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_required_keyword():
    class Scaled(nn.Module):
        @nn.compact
        def __call__(self, x, *, scale):
            return nn.Dense(3)(x) * scale

    module = ja.remat(Scaled)()
    variables = module.init(KEYS, X, scale=2.0)
    want: Any = Scaled().apply(variables, X, scale=2.0)
    got: Any = module.apply(variables, X, scale=2.0)
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_static_arguments_are_counted_from_self():
    class Stack(nn.Module):
        @nn.compact
        def __call__(self, x, train, n=1):
            for _ in range(n):
                x = nn.Dense(4)(x)
            return nn.Dropout(0.5, deterministic=not train)(x)

    def run(wrap):
        module = wrap(Stack, static_argnums=(2, 3))()
        variables = module.init(KEYS, X, True, 3)
        return jax.grad(lambda v: (module.apply(v, X, True, 3, rngs=KEYS) ** 2).sum())(variables)

    got, want = run(ja.remat), run(nn.remat)
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    named = ja.remat(Stack, static_argnames=("n",))()
    assert len(named.init(KEYS, X, False, n=2)["params"]) == 2


@pytest.mark.slow
def test_methods_functions_and_classes_with_arguments():
    def decorated(wrap):
        class Model(nn.Module):
            @wrap
            @nn.compact
            def __call__(self, x):
                return nn.Dense(3)(x)

        return Model()

    def nested(wrap):
        class Model(nn.Module):
            @nn.compact
            def __call__(self, x):
                x = wrap(functools.partial(nn.Dense, features=5))()(x)
                return wrap(lambda module, x: nn.Dense(3)(x))(self, x)

        return Model()

    for make in (decorated, nested):
        got, want = (make(wrap).init(KEYS, X) for wrap in (ja.remat, nn.remat))
        assert jax.tree.structure(got) == jax.tree.structure(want)
        for a, b in zip(gradients(make(ja.remat), X), gradients(make(nn.remat), X), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


def test_a_module_that_is_not_at_work_is_an_argument():
    module = Block()
    variables = module.init(KEYS, X)

    def loss(module, variables):
        return (module.apply(variables, X, train=False) ** 2).sum()

    got = jax.grad(ja.remat(loss), 1)(module, variables)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(jax.grad(loss, 1)(module, variables)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
