"""Floats sorted as integers: the same order."""

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxaot as ja
from jaxaot.passes.sort_integers import sort_integers
from tests.rewritten import assert_rewritten

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 3.0, -3.0]


def sorted_types(fn, x):
    """Returns the dtypes that a graph sorts after the pass, having checked that it changes no value and no type."""
    _, passed = assert_rewritten(sort_integers, fn, x, rtol=0)
    return [eqn.invars[0].aval.dtype for eqn in passed.eqns if eqn.primitive.name == "sort"]


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.float16])
@pytest.mark.parametrize("axis", [0, 1])
def test_sorts_are_of_integers(dtype, axis):
    rng = np.random.default_rng(axis)
    x = np.where(rng.random((40, 30)) < 0.4, rng.choice(SPECIAL, (40, 30)), rng.normal(size=(40, 30)))
    (found,) = sorted_types(lambda x: jnp.sort(x, axis), jnp.asarray(x, dtype))
    assert found.kind == "i"
    assert sorted_types(lambda x: lax.sort(x, dimension=axis, is_stable=False), jnp.asarray(x, dtype)) == [found]


def test_medians_and_what_stays():
    x = jnp.asarray(np.random.default_rng(0).normal(size=(9, 30)), jnp.float32)
    assert sorted_types(lambda x: jnp.median(x, -1), x) == [jnp.int32]
    assert sorted_types(jnp.argsort, x) == [jnp.float32]  # two arrays, of which XLA sorts one by the other
    assert sorted_types(jnp.sort, x.astype(jnp.uint8)) == [jnp.uint8]
    np.testing.assert_allclose(ja.jit(jnp.sort)(x), np.sort(x))
