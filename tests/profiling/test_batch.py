"""The largest batch fits, and one more does not."""

import random

import jax.numpy as jnp
import pytest

import jaxaot as ja
from jaxaot.errors import ArgumentError, BudgetError, TensorTypeError
from tests.profiling.models import mlp, stack, typed
from tests.seeds import seeds, some


def require_largest(n, fits, unit=1):
    assert n % unit == 0 and fits(n) and not fits(n + unit)


@pytest.mark.few(2)
@pytest.mark.parametrize("budget", some([0.3, None], 1))
@pytest.mark.parametrize("memory", ["1MiB", "64MiB", "3GB"])
def test_the_batch_that_just_fits(budget, memory):
    loss, params = mlp(4, 32)
    n = ja.estimate.largest_batch(loss, params, typed(8, 32), typed(8, 32), memory=memory, memory_budget=budget)
    fits = lambda b: ja.estimate.profile(loss, params, typed(b, 32), typed(b, 32), memory_budget=budget).fits(memory)
    require_largest(n, fits)


@pytest.mark.slow
def test_forward_alone_and_modules():
    model = stack(3)
    n = ja.estimate.largest_batch(model, typed(1, 16), memory="1MiB", backward=False)
    require_largest(n, lambda b: ja.estimate.profile(model, typed(b, 16), backward=False).fits("1MiB"))
    loss = lambda model, x: (model(x) ** 2).mean()
    n = ja.estimate.largest_batch(loss, model, typed(1, 16), memory="1MiB")
    require_largest(n, lambda b: ja.estimate.profile(loss, model, typed(b, 16)).fits("1MiB"))


@pytest.mark.slow
def test_named_dims():
    fn = lambda w, x, y: ((w @ x) * y).sum()
    w, x, y = typed(16, 16), typed(16, 5), typed(16, 5)
    n = ja.estimate.largest_batch(fn, w, x, y, memory="1MiB", batch={1: 1, 2: 1})
    require_largest(n, lambda b: ja.estimate.profile(fn, w, typed(16, b), typed(16, b)).fits("1MiB"))


@pytest.mark.slow
def test_functions_that_take_only_some_batches():
    def fn(w, x):
        return (x.reshape(x.shape[0] // 8, 8, 16) @ w).sum()

    n = ja.estimate.largest_batch(fn, typed(16, 16), typed(8, 16), memory="1MiB")
    require_largest(n, lambda b: ja.estimate.profile(fn, typed(16, 16), typed(b, 16)).fits("1MiB"), unit=8)


@pytest.mark.slow
def test_memory_that_grows_with_the_square_of_the_batch():
    fn = lambda w, x: jnp.tanh((x @ w) @ x.T).sum()
    n = ja.estimate.largest_batch(fn, typed(4, 4), typed(8, 4), memory="4MiB")
    require_largest(n, lambda b: ja.estimate.profile(fn, typed(4, 4), typed(b, 4)).fits("4MiB"))


def test_batches_beyond_32_bits():
    fn = lambda w, x: (x * w).sum()
    n = ja.estimate.largest_batch(fn, typed(), typed(1, 4), memory=10**20)
    assert n > 10**18 and type(n) is int


@pytest.mark.parametrize("seed", seeds(8, 3))
def test_random_sizes(seed):
    choose = random.Random(seed)
    loss, params = mlp(choose.randint(1, 5), choose.choice([4, 16, 40]))
    width = params[0][0].shape[0]
    memory = choose.randrange(100_000, 10_000_000)
    budget = choose.choice([None, 0.5])
    data = lambda b: (typed(b, width), typed(b, width))
    n = ja.estimate.largest_batch(loss, params, *data(choose.randint(1, 50)), memory=memory, memory_budget=budget)
    require_largest(n, lambda b: ja.estimate.profile(loss, params, *data(b), memory_budget=budget).fits(memory))


@pytest.mark.slow
def test_what_has_no_largest_batch():
    loss, params = mlp(2)
    args = params, typed(8, 16), typed(8, 16)
    with pytest.raises(BudgetError, match=r"`loss` does not fit into 1.00 KiB for any batch: a batch of 1 needs"):
        ja.estimate.largest_batch(loss, *args, memory="1KiB")
    with pytest.raises(ArgumentError, match="does not depend on its batch"):
        ja.estimate.largest_batch(lambda w, x: (w * 2).sum(), typed(8, 8), typed(0, 4), memory="1GiB", batch={1: 1})
    with pytest.raises(ArgumentError, match="There is no batch"):
        ja.estimate.largest_batch(lambda w: w.sum(), typed(8), memory="1GiB")
    with pytest.raises(ArgumentError, match=r"names the argument 5, and there are 3"):
        ja.estimate.largest_batch(loss, *args, memory="1GiB", batch={5: 0})
    with pytest.raises(ArgumentError, match=r"names dim 7 of argument 1"):
        ja.estimate.largest_batch(loss, *args, memory="1GiB", batch={1: 7})
    with pytest.raises(ArgumentError, match=r"different lengths: \[8, 16\]"):
        ja.estimate.largest_batch(loss, *args, memory="1GiB", batch={1: 0, 2: 1})
    with pytest.raises(ArgumentError, match="names no dim"):
        ja.estimate.largest_batch(loss, *args, memory="1GiB", batch={})
    with pytest.raises(BudgetError, match="lots"):
        ja.estimate.largest_batch(loss, *args, memory="lots")
    with pytest.raises(TensorTypeError):
        ja.estimate.largest_batch(3, memory="1GiB")
