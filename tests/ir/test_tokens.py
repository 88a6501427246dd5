"""Two graphs have the same tokens if they compute the same."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from jaxaot.ir.tokens import Tokens

X = jnp.arange(12.0).reshape(3, 4)


def are_alike(fn, other):
    """Returns whether two functions of one array have the same tokens."""
    tokens = Tokens()
    return tokens.of(jax.make_jaxpr(fn)(X)) == tokens.of(jax.make_jaxpr(other)(X))


@pytest.mark.parametrize(
    "fn, other",
    [
        (lambda x: (jnp.sin(x), jnp.cos(x)), lambda x: (lambda c, s: (s, c))(jnp.cos(x), jnp.sin(x))),
        (lambda x: jnp.sin(x) + jnp.sin(x), lambda x: (lambda s: s + s)(jnp.sin(x))),
        (lambda x: x.reshape(2, 6).reshape(12), lambda x: x.reshape(12)),
        (lambda x: x.reshape(12)[4:8], lambda x: x[1:2].reshape(4)),
        (
            lambda x: lax.dynamic_update_slice(x.reshape(12), x[:1].reshape(4), (4,)).reshape(3, 4),
            lambda x: lax.dynamic_update_slice(x, x[:1], (1, 0)),
        ),
        (lambda x: lax.dynamic_slice(x, (1, 0), (1, 4)), lambda x: x[1:2]),
        (lambda x: lax.dynamic_slice(x, (0, 1), (3, 2)), lambda x: x[:, 1:3]),
        (lambda x: jax.jit(jnp.sin)(x), jnp.sin),
    ],
)
def test_what_computes_the_same(fn, other):
    assert are_alike(fn, other)


@pytest.mark.parametrize(
    "fn, other",
    [
        (jnp.sin, jnp.cos),
        (lambda x: x + 1.0, lambda x: x + 2.0),
        (lambda x: x / 0.0, lambda x: x / -0.0),
        (lambda x: x[1], lambda x: x[2]),
        (lambda x: x.reshape(4, 3), lambda x: x.T),
        (lambda x: (x, x + 1), lambda x: (x + 1, x)),
        (lambda x: x[:, 1:2], lambda x: x.reshape(12)[1:4].reshape(3, 1)),
        (lambda x: x.sum(0), lambda x: x.sum(1)),
        (lambda x: lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x), lambda x: lax.cond(x[0, 0] > 0, jnp.cos, jnp.sin, x)),
    ],
)
def test_what_computes_something_else(fn, other):
    assert not are_alike(fn, other)


def test_a_number_in_the_place_of_an_input():
    fn = lambda x, n: lax.dynamic_slice(x, (n, 0), (1, 4)) * (n * 2 + 1)
    tokens = Tokens()
    found = tokens.of(jax.make_jaxpr(fn)(X, 2), {1: (2, "int32")})
    assert found == tokens.of(jax.make_jaxpr(lambda x: x[2:3] * 5)(X))
    assert found != tokens.of(jax.make_jaxpr(lambda x: x[1:2] * 5)(X))


def test_effects_are_compared_in_their_order():
    def show(*words):
        def fn(x):
            for word in words:
                jax.debug.print(word + " {}", x)
            return x

        return fn

    assert are_alike(show("a", "a"), show("a", "a"))
    assert not are_alike(show("a", "a"), show("a"))
