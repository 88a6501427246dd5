"""Scatters to rows of zeros as selections: the same values, and no loop over elements."""

import random
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxaot as ja
from jaxaot._jax import jaxpr_as_fun
from jaxaot.backend.cpu.kernels.select_scatters import select_scatters
from jaxaot.ir.rewrite import inline
from jaxaot.lower.executable import Executable
from tests.rewritten import assert_rewritten
from tests.seeds import one_in, seeds, some


@pytest.fixture(autouse=True)
def _everything_is_large(everything_is_large):
    """Selections are made of scatters of any size."""


def normal(seed, *shape):
    return jax.device_put(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def integers(seed, low, high, *shape, dtype="int32"):
    return jax.device_put(np.random.default_rng(seed).integers(low, high, shape).astype(dtype))


def passed(fn, *args):
    """Returns the primitives that a pass leaves, having checked that it changes no value and no type."""
    _, after = assert_rewritten(select_scatters, lambda *args: jnp.sin(fn(*args)), *args)
    return Counter(eqn.primitive.name for eqn in after.jaxpr.eqns)


def n_scatters(fn, *args):
    return sum(n for name, n in passed(fn, *args).items() if name.startswith("scatter"))


def cross_entropy(mode):
    def loss(x, y):
        return -jnp.take_along_axis(jax.nn.log_softmax(x), y[..., None], -1, mode=mode).sum()

    return jax.grad(loss)


X, Y = normal(0, 2, 3, 7), integers(1, -9, 9, 2, 3)
ROWS = {
    "cross entropy, absent out of range": (cross_entropy("fill"), X, Y),
    "cross entropy, nearest out of range": (cross_entropy("clip"), X, Y),
    "counted rows": (jax.grad(lambda x, y: (x[jnp.arange(3), y] ** 2).sum()), X[0], Y[0] % 7),
    "rows counted twice": (jax.grad(lambda x, y: (x[jnp.arange(2)[:, None], jnp.arange(3), y] ** 2).sum()), X, Y % 7),
    "columns counted": (jax.grad(lambda x, y: (x[y, jnp.arange(7)] ** 2).sum()), X[0], integers(2, 0, 3, 7)),
    "under vmap": (jax.grad(lambda x, y: jax.vmap(jax.vmap(lambda x, y: x[y]))(x, y).sum()), X, Y),
    "slices": (jax.grad(lambda x, y: (x[jnp.arange(2), y] ** 2).sum()), X, integers(2, 0, 3, 2)),
    "one index": (jax.grad(lambda x, y: (x[:, y] ** 2).sum()), X, jnp.int32(2)),
    "narrow indices": (jax.grad(lambda x, y: (x[jnp.arange(2), y] ** 2).sum()), normal(3, 2, 300), jnp.uint8([7, 255])),
    "set": (lambda x, y: jnp.zeros((3, 7)).at[jnp.arange(3), y].set(x[0, :, 0]), X, Y[0]),
}


@pytest.mark.parametrize("name", one_in(2, ROWS))
def test_one_element_of_each_row_is_selected(name):
    assert n_scatters(*ROWS[name]) == 0


def test_the_sum_of_rows_is_their_element():
    left = passed(cross_entropy("fill"), X, Y)
    assert left["reduce_sum"] == 2  # those of the softmax and its gradient; that over the scattered rows is gone
    whole = lambda x, y: -jax.grad(lambda x: (x[jnp.arange(3), y] ** 2).sum())(x).sum((0, 1))
    assert n_scatters(whole, X[0], jnp.int32([1, 99, -99])) == 0


LEFT = {
    "several for a row": (jax.grad(lambda x, y: (x[:, y] ** 2).sum()), X, Y[0] % 3),
    "rows of a table": (jax.grad(lambda x, y: (x[y] ** 2).sum()), X[0], Y[0] % 3),
    "not onto zeros": (lambda x, y: x.at[jnp.arange(3), y].add(1.0), X[0], Y[0]),
    "onto ones": (lambda x, y: jnp.ones((3, 7)).at[jnp.arange(3), y].add(x[:, 0]), X[0], Y[0]),
    "rows that are no count": (
        lambda x, y: jnp.zeros((3, 7)).at[jnp.array([0, 0, 2]), y].add(x[:, 0]), X[0], jnp.int32([1, 1, 2])
    ),
    "rows unknown": (lambda x, y: jnp.zeros((3, 7)).at[y, y].add(x[:, 0]), X[0], jnp.int32([1, 1, 2])),
    "windows": (jax.grad(lambda x, y: (lax.dynamic_slice(x, (y, y), (2, 2)) ** 2).sum()), X[0], jnp.int32(1)),
}  # fmt: skip


@pytest.mark.few(6)
@pytest.mark.parametrize("name", LEFT)
def test_other_scatters_stay(name):
    fn, *args = LEFT[name]
    before = [e.primitive.name for e in inline(jax.make_jaxpr(fn)(*args), also_custom=True).eqns]
    assert n_scatters(fn, *args) == sum(name.startswith("scatter") for name in before)


def test_small_results_stay(using_machine):
    fn, *args = ROWS[next(iter(ROWS))]
    assert n_scatters(fn, *args) == 0
    using_machine(min_selected_bytes=1 << 20)
    assert n_scatters(fn, *args) > 0


def test_what_only_the_caller_reads_stays():
    closed = jax.make_jaxpr(jax.grad(lambda x, y: (x[jnp.arange(3), y] ** 2).sum()))(X[0], Y[0])
    assert "scatter-add" in str(select_scatters(inline(closed)))


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", seeds(20, 4))
def test_random_gathers_have_the_same_gradients(seed):
    rng = random.Random(seed)
    n_axes = rng.randint(1, 4)
    shape = [rng.randint(1, 4) for _ in range(n_axes)]
    axis = rng.randrange(n_axes)
    mode = rng.choice(("fill", "clip", "promise_in_bounds"))
    inside = mode == "promise_in_bounds"
    n, width = shape[axis], rng.choice((1, 1, 1, 2))
    sizes = [width if i == axis else rng.choice((size, size, 1)) for i, size in enumerate(shape)]
    index = integers(seed, 0 if inside else -n - 2, n if inside else n + 2, *sizes, dtype=rng.choice(("int32", "int8")))
    weights = normal(seed + 1, *shape)

    def fn(x, index):
        rows = jax.grad(lambda x: (jnp.take_along_axis(x, index, axis, mode=mode) ** 2).sum())(x)
        return -rows.sum(rng_axes) if rng_axes else rows * weights

    rng_axes = tuple(sorted(rng.sample(range(n_axes), rng.randint(0, n_axes))))
    left = n_scatters(fn, normal(seed + 2, *shape), index)
    assert left == 0 if width == 1 or shape[axis] == 1 == n_axes else left <= 1


@pytest.mark.slow
@pytest.mark.parametrize("poison", some([np.nan, np.inf], 1))
def test_nan_and_infinities_stay_where_they_were(poison):
    fn = jax.grad(lambda x, y: (jax.nn.log_softmax(x)[jnp.arange(3), y] * jnp.float32([1, poison, 2])).sum())
    closed = inline(jax.make_jaxpr(fn)(X[0], Y[0] % 7), also_custom=True)
    (got,), (want,) = (jaxpr_as_fun(graph)(X[0], Y[0] % 7) for graph in (select_scatters(closed), closed))
    np.testing.assert_allclose(got, want, rtol=1e-6)
    assert not bool(np.isfinite(got).all())


@pytest.mark.slow
def test_losses_are_lowered_without_scatters():
    executable = Executable(inline(jax.make_jaxpr(cross_entropy("fill"))(X, Y)))
    assert not [e for e in executable.tuned.jaxpr.jaxpr.eqns if e.primitive.name.startswith("scatter")]
    x, y = ja.interop.from_jax(X[0]).requires_grad_(), ja.interop.from_jax(Y[0] % 7)
    loss = ja.compile(lambda x, y: ja.nn.functional.cross_entropy(x, y))
    loss(x, y).backward()
    np.testing.assert_allclose(x.grad.jax(), cross_entropy("fill")(X[0], Y[0] % 7) / 3, rtol=1e-5, atol=1e-6)
