"""Floats sorted as integers: the same order."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxaot as ja
from jaxaot._jax import jaxpr_as_fun
from jaxaot.backend.cpu.kernels.sort_integers import sort_integers
from tests.rewritten import assert_rewritten
from tests.seeds import seeds, some

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 3.0, -3.0]


def sorted_types(fn, x):
    """Returns the dtypes that a graph sorts after the pass, having checked that it changes no value and no type."""
    _, passed = assert_rewritten(sort_integers, fn, x, rtol=0)
    return [eqn.invars[0].aval.dtype for eqn in passed.eqns if eqn.primitive.name == "sort"]


@pytest.mark.parametrize("dtype", some([jnp.float32, jnp.bfloat16, jnp.float16], 2))
@pytest.mark.parametrize("axis", [0, 1])
def test_sorts_are_of_integers(dtype, axis):
    rng = np.random.default_rng(axis)
    x = np.where(rng.random((40, 30)) < 0.4, rng.choice(SPECIAL, (40, 30)), rng.normal(size=(40, 30)))
    (found,) = sorted_types(lambda x: jnp.sort(x, axis), jnp.asarray(x, dtype))
    assert found.kind == "i"
    assert sorted_types(lambda x: lax.sort(x, dimension=axis, is_stable=False), jnp.asarray(x, dtype)) == [found]


def test_medians_and_what_stays():
    x = jax.device_put(np.random.default_rng(0).normal(size=(9, 30)).astype(np.float32))
    assert sorted_types(lambda x: jnp.median(x, -1), x) == [jnp.int32]
    assert sorted_types(lambda x: lax.sort((x, -x, x * 2), num_keys=2), x) == [jnp.float32]
    with jax.enable_x64(True):
        assert sorted_types(jnp.argsort, x.astype(jnp.float64)) == [jnp.float64]
    assert sorted_types(jnp.sort, x.astype(jnp.uint8)) == [jnp.uint8]
    np.testing.assert_allclose(ja.jit(jnp.sort)(x), np.sort(x))


def some_values(dtype, shape, seed):
    rng = np.random.default_rng(seed)
    if jnp.issubdtype(dtype, jnp.integer):
        info = jnp.iinfo(dtype)
        few = rng.choice(np.array([info.min, info.max, 0, 1, info.max - 1]), shape)
        x = np.where(rng.random(shape) < 0.5, few, rng.integers(info.min, info.max, shape, endpoint=True))
    else:
        x = np.where(rng.random(shape) < 0.5, rng.choice(SPECIAL, shape), rng.normal(size=shape))
    return jnp.asarray(x, dtype)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "dtype", some(["float32", "bfloat16", "uint32", "float16", "int8", "int16", "int32", "uint8", "uint16"], 3)
)
@pytest.mark.parametrize("shape, axis", [((40, 7), 0), ((3, 50), -1), ((70_000,), 0)])
def test_places_are_sorted_with_the_key(dtype, shape, axis):
    with jax.enable_x64(axis == -1):
        x = some_values(jnp.dtype(dtype), shape, len(shape))
        is_short = x.dtype.itemsize <= 2 and shape[axis] <= 1 << 16
        (found,) = sorted_types(lambda x: jnp.argsort(x, axis), x)
        assert found == ("int32" if is_short else "int64")
        (found,) = sorted_types(lambda x: jnp.argsort(x, axis, descending=True), x)
        np.testing.assert_array_equal(ja.jit(lambda x: jnp.argsort(x, axis))(x), jnp.argsort(x, axis))


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", seeds(8, 3))
def test_others_are_carried_along(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(map(int, rng.integers(0, 9, 3)))
    axis = int(rng.integers(0, 3))
    key, *others = (some_values(jnp.dtype(d), shape, seed) for d in ("float32", "int8", "bfloat16", "float32"))
    fn = lambda key, *others: lax.sort((key, *others), dimension=axis, num_keys=1, is_stable=bool(seed % 2))
    passed = sort_integers(jax.make_jaxpr(fn)(key, *others))
    got, want = jax.jit(jaxpr_as_fun(passed))(key, *others), fn(key, *others)
    for a, b in zip(got, want, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(np.float64(a), np.float64(b))
        np.testing.assert_array_equal(np.signbit(np.float64(a)), np.signbit(np.float64(b)))
    sorts = [eqn for eqn in passed.eqns if eqn.primitive is lax.sort_p]
    assert all(len(eqn.invars) == 1 for eqn in sorts) and len(sorts) >= (key.size > 0)


@pytest.mark.slow
def test_gradients_and_maps_of_sorts():
    x, w = (jax.device_put(np.random.default_rng(i).normal(size=(6, 50)).astype(np.float32)) for i in range(2))
    for fn in (
        jax.grad(lambda x: (jnp.sort(x, -1) * w).sum()),
        jax.grad(lambda x: (jnp.sort(x, 0) * w).sum()),
        jax.vmap(lambda x: jnp.argsort(x)[::2]),
        lambda x: jnp.unique(x, size=20),
        lambda x: jnp.lexsort((x, -x)),
        lambda x: jax.random.permutation(jax.random.key(0), x, axis=1),
    ):
        assert_rewritten(sort_integers, fn, x, rtol=0)


def test_sorts_in_loops_and_branches():
    x = jax.device_put(np.random.default_rng(0).normal(size=(64, 2000)).astype(np.float32))

    def fn(x):
        step = lambda x, _: (jnp.take_along_axis(x, jnp.argsort(x, -1)[:, ::-1], -1) * 0.5, x.sum())
        y, sums = jax.lax.scan(step, x, None, length=3)
        return jax.lax.cond(sums[0] > 1e9, lambda y: y, lambda y: jnp.argsort(-y, -1) + y, y)

    np.testing.assert_allclose(ja.jit(fn)(x), jax.jit(fn)(x), rtol=1e-6)
    assert "i64" in ja.jit(fn).lower(x).as_text()
