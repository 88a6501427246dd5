"""A function under `ja.remat` notices what changes of the Python world that it reads."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.rematerialize import remat as remat_module


class Layer:
    def __init__(self):
        self.training, self.k, self.unread = True, 2.0, 0

    @ja.remat
    def __call__(self, x):
        return jnp.sin(x * 3 if self.training else x) * self.k


class Settings:
    def __init__(self, k):
        self.k = k


def value_and_gradient(fn, x):
    value, gradient = jax.value_and_grad(lambda x: fn(x).sum())(x)
    return float(value), np.asarray(gradient).tolist()


@pytest.mark.parametrize("wrap", [lambda fn: fn, jax.jit])
def test_a_method_of_a_plain_class(wrap):
    layer, x = Layer(), jnp.ones(2)
    for change in ({}, {"training": False}, {"k": 5.0}, {"training": True}):
        vars(layer).update(change)
        expected = value_and_gradient(lambda x: jnp.sin(x * 3 if layer.training else x) * layer.k, x)
        found = value_and_gradient(wrap(lambda x: layer(x)), x)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-6)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-6)


def test_a_bound_method():
    class Plain:
        k = 2

        def forward(self, x):
            return jnp.sin(x) * self.k

    plain = Plain()
    forward = ja.remat(plain.forward)
    found = [float(forward(jnp.ones(())))]
    plain.k = 3
    found.append(float(forward(jnp.ones(()))))
    Plain.forward = lambda self, x: x * 7
    found.append(float(ja.remat(plain.forward)(jnp.ones(()))))
    np.testing.assert_allclose(found, [2 * np.sin(1), 3 * np.sin(1), 7], rtol=1e-6)


def test_a_settings_object_that_is_passed_and_one_that_is_closed_over():
    passed, held = Settings(1.0), Settings(1.0)
    fn = ja.remat(lambda cfg, x: x * cfg.k * held.k)
    found = []
    for passed.k, held.k in ((1.0, 1.0), (5.0, 1.0), (5.0, 2.0), (1.0, 1.0)):
        found.append(float(fn(passed, jnp.ones(()))))
    assert found == [1, 5, 10, 1]


def test_what_nobody_reads_makes_no_graph():
    class Alone(Layer):  # a function of its own, which no other test calls
        @ja.remat
        def __call__(self, x):
            return jnp.sin(x) * self.k

    layer = Alone()
    for layer.unread in range(3):
        layer(jnp.ones(2))
    assert len(remat_module._graphs.of(Alone.__call__.__wrapped__)) == 1
