"""Sums that are zero whatever the inputs are: the same gradients without them, and NaN where it was."""

import random
import re
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot._jax import jaxpr_as_fun
from jaxaot.backend.cpu.kernels.lowered_cse import lowered_cse
from jaxaot.ir.rewrite import inline, rebuild
from jaxaot.ir.sums import Rows
from jaxaot.ir.walk import Makers
from jaxaot.passes.drop_zero_sums import drop_zero_sums
from tests.rewritten import assert_rewritten
from tests.seeds import one_in, seeds, some


def normal(seed, *shape):
    return jax.device_put(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def softmax(x, axis=-1, extreme=jnp.max):
    powers = jnp.exp(x - extreme(x, axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def softmax_by_reciprocal(x):
    powers = jnp.exp(x - x.max(-1)[..., None])
    return powers * (1.0 / powers.sum(-1))[..., None]


def log_softmax(x):
    shifted = x - x.max(-1, keepdims=True)
    return shifted - jnp.log(jnp.exp(shifted).sum(-1, keepdims=True))


def log_sum_exp(x):
    largest = x.max(-1, keepdims=True)
    return jnp.log(jnp.exp(x - largest).sum(-1)) + largest[..., 0]


def layer_norm(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def smooth_cross_entropy(x):
    wanted = jnp.broadcast_to(0.9 * jnp.eye(x.shape[-1]) + 0.1 / x.shape[-1], x.shape)
    return -(wanted * log_softmax(x)).sum(-1)


def attention(x):
    scores = jnp.where(jnp.tri(6) > 0, x @ x.swapaxes(-1, -2), -1e9)
    return softmax(scores) @ x


def gradient(fn):
    """Returns a function with the result of another and its gradient along some weights."""

    def both(x):
        result, pull = jax.vjp(fn, x)
        return result, *pull(jnp.cos(3 * jnp.arange(result.size, dtype=x.dtype)).reshape(result.shape))

    return both


def passed(fn, x, rtol=1e-5):
    """Returns how often a primitive is in a graph before and after the pass."""
    _, after = assert_rewritten(lambda closed: drop_zero_sums(lowered_cse(closed)), fn, x, rtol=rtol)
    before = lowered_cse(inline(jax.make_jaxpr(fn)(x), also_custom=True))
    return tuple(Counter(eqn.primitive.name for eqn in graph.jaxpr.eqns) for graph in (before, after))


X = normal(0, 3, 6, 6)
SHIFTED = {
    "softmax": softmax,
    "softmax along another axis": lambda x: softmax(x, 1),
    "softmax of all": lambda x: softmax(x, None),
    "softmax of two axes": lambda x: softmax(x, (0, 2)),
    "softmax shifted by the least": lambda x: softmax(x, extreme=jnp.min),
    "softmax by a reciprocal": softmax_by_reciprocal,
    "softmax of a product": lambda x: softmax(2.0 * x * jnp.arange(6.0)),
    "softmax at a temperature": lambda x: softmax(x / 0.7),
    "log-softmax": log_softmax,
    "log-sum-exp": log_sum_exp,
    "cross entropy with smooth labels": smooth_cross_entropy,
    "causal attention": attention,
    "softmax of a softmax": lambda x: softmax(softmax(x)),
    "softmax by vmap": jax.vmap(jax.vmap(lambda x: softmax(x, 0))),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", one_in(2, SHIFTED))
def test_gradients_by_the_shift_of_a_softmax_are_dropped(name):
    before, after = passed(gradient(SHIFTED[name]), X)
    n_dropped = 2 if name == "softmax of a softmax" else 1
    assert before["div"] - after["div"] == before["reduce_max"] + before["reduce_min"] == n_dropped
    assert before["reduce_sum"] - after["reduce_sum"] >= 2 * n_dropped


@pytest.mark.few(1)
@pytest.mark.parametrize("x", [X, normal(0, 3, 100), normal(0, 2, 2, 2, 7)])
def test_the_gradient_by_the_mean_of_a_variance_is_dropped(x):
    before, after = passed(gradient(layer_norm), x)
    assert before["reduce_sum"] - after["reduce_sum"] == 1


@pytest.mark.few(1)
@pytest.mark.parametrize("n_layers", some([1, 6, 2, 3, 9], 2))
def test_that_of_each_layer_is_dropped_however_long_the_residual_stream(n_layers):
    weights = [0.3 * normal(i, 6, 6) for i in range(n_layers)]

    def network(x):
        for w in weights:
            x = x + jnp.tanh(layer_norm(x) @ w)
        return x

    before, after = passed(gradient(network), X, rtol=1e-4)
    assert before["reduce_sum"] - after["reduce_sum"] == n_layers


def test_gradients_in_float64_are_dropped():
    with jax.enable_x64(True):
        before, after = passed(gradient(lambda x: layer_norm(softmax(x))), jnp.float64(X), rtol=1e-13)
    assert before["eq"] == 1 and after["eq"] == 0


LEFT = {
    "half the shift": lambda x: jnp.exp(x - 0.5 * x.max(-1, keepdims=True)),
    "one more in the sum": lambda x: (e := jnp.exp(x - x.max(-1, keepdims=True))) / (1 + e.sum(-1, keepdims=True)),
    "another row's sum": lambda x: (e := jnp.exp(x - x.max(-1, keepdims=True))) / e.sum(-2, keepdims=True),
    "the maximum itself": lambda x: jnp.sin(x.max(-1)),
    "a transposed sum": lambda x: (e := jnp.exp(x - x.max(-1, keepdims=True))) / e.sum(-1)[:, None, :],
    "the mean of squares": lambda x: x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5),
    "halves": lambda x: softmax(x.astype(jnp.bfloat16)).astype(jnp.float32),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", LEFT)
def test_gradients_that_are_not_zero_stay(name):
    before, after = passed(gradient(LEFT[name]), X)
    assert before == after


def test_shares_that_differ_along_a_row_stay():
    def fn(x):
        equal = (x == x.max(-1, keepdims=True)).astype(x.dtype)
        return (x - x) / jnp.broadcast_to(equal.sum(-1, keepdims=True), x.shape) * equal

    before, after = passed(fn, X)
    assert before == after


def test_sums_of_the_forward_stay():
    """Whoever writes such a sum wants its rounding error, as the variance of Chan, Golub and LeVeque (1983) does."""

    def corrected_variance(x):
        centered = x - x.mean(-1, keepdims=True)
        return (centered**2).mean(-1) - centered.mean(-1) ** 2

    before, after = passed(corrected_variance, X)
    assert before == after


POISONS = {"NaN": jnp.nan, "infinity": jnp.inf, "negative infinity": -jnp.inf, "one whose square is infinite": 1e30}


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("poison", some(POISONS, 1))
@pytest.mark.parametrize("name", some([*SHIFTED, "layer norm"][::-1], 4))
def test_nan_and_infinities_stay_where_they_were(name, poison):
    fn = SHIFTED.get(name, layer_norm)
    shape, value = jax.eval_shape(fn, X).shape, POISONS[poison]
    weights = normal(1, *shape)
    splits = (X.at[0, 1, 2].set(value), weights), (X, weights.at[0, 1].set(value)), (X.at[1].set(value), weights)

    def both(x, weights):
        result, pull = jax.vjp(fn, x)
        return result, *pull(weights)

    closed = lowered_cse(inline(jax.make_jaxpr(both)(*splits[0]), also_custom=True))
    after = drop_zero_sums(closed)
    assert len(after.jaxpr.eqns) != len(closed.jaxpr.eqns)
    for args in splits:
        for got, want in zip(jaxpr_as_fun(after)(*args), jaxpr_as_fun(closed)(*args), strict=True):
            is_finite = np.isfinite(want)
            np.testing.assert_array_equal(got[~is_finite], want[~is_finite])
            largest = np.abs(want[is_finite]).max(initial=value if np.isfinite(value) else 1.0)
            np.testing.assert_allclose(got[is_finite], want[is_finite], rtol=1e-5, atol=1e-6 * largest)


def attention_of_tensors(x):
    scores = x @ x.mT
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    return powers / powers.sum(-1, keepdim=True) @ x


def test_what_only_that_gradient_reads_is_not_saved():
    n_bytes = {}
    for passes in (("cse", "dce"), ("cse", "dce", "drop_zero_sums")):
        with ja.config(passes=passes):
            traced = ja.trace(attention_of_tensors, ja.tensor(normal(0, 64, 64), requires_grad=True))
            n_bytes[len(passes)] = traced.joint().partition("save_all").plan.saved_bytes
    assert n_bytes[3] <= n_bytes[2] - 64 * 64  # that of which elements are as large as the largest


def test_steps_on_tensors_have_the_same_gradients_without_it(everything_is_large):
    def step(x):
        (attention_of_tensors(x) ** 2).sum().backward()
        return x.grad

    found = {}
    for passes in ((), ("lowered_cse", "drop_zero_sums")):
        x = ja.tensor(normal(0, 8, 8), requires_grad=True)
        with ja.config(passes=passes):
            compiled = ja.compile(step)
            found[passes] = compiled(x).numpy()
            said = [line for line in compiled.explain(x).passes if line.strip().startswith("drop_zero_sums:")]
    want, got = found.values()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    n_before, n_after = map(int, re.findall(r"(\d+) → (\d+) equations", said[0])[0])
    assert n_after < n_before


def normalization(rng):
    """Returns a random function that shifts rows, and mostly divides them by a sum."""
    axis = rng.choice((-1, 0, 1, (0, 1), (1, 2), None))
    shift = rng.choice((jnp.max, jnp.max, jnp.min, jnp.mean, jnp.sum, lambda x, *_, **__: 0.0))
    power = rng.choice((jnp.exp, jnp.square, lambda x: x))
    total = rng.choice((jnp.sum, jnp.mean, jnp.var))
    divide = rng.choice((jnp.divide, lambda x, y: x * (1.0 / y), lambda x, y: x - jnp.log(y), lambda x, _: x))
    before = rng.choice((jnp.sin, jnp.tanh, lambda x: 2.0 * x + 1.0))

    def fn(x):
        shifted = before(x)
        shifted = shifted - shift(shifted, axis, keepdims=True)
        powers = power(shifted)
        return divide(
            powers, 2.0 + total(powers, axis, keepdims=True) ** 2 if rest else total(powers, axis, keepdims=True)
        )

    rest = rng.random() < 0.3 or power is not jnp.exp
    return fn


def random_gradient(seed):
    """Returns a random composition of normalizations with its gradient, and an argument."""
    rng = random.Random(seed)
    first, second = normalization(rng), normalization(rng)
    weights = normal(seed, *(rng.choice((1, 4, 4)) for _ in range(3)))
    other = rng.random() < 0.5

    def fn(x):
        return first(x) * second(x) if other else second(first(x) * weights)

    return gradient(fn), normal(seed + 1, *weights.shape)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", seeds(36, 3))
def test_random_normalizations_have_the_same_gradients(seed):
    fn, x = random_gradient(seed)
    assert_rewritten(lambda closed: drop_zero_sums(lowered_cse(closed)), fn, x, rtol=1e-4)


def zeros(seed):
    """Returns what is called zero in a random gradient, with respect to any rows, and its largest value, in float64."""
    with jax.enable_x64(True):
        fn, x = random_gradient(seed)
        x = jnp.float64(x)
        closed = lowered_cse(inline(jax.make_jaxpr(fn)(x), also_custom=True))
        maker = Makers(closed.jaxpr)
        found = {}
        for axes in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)):
            rows = Rows(maker, x.shape, axes, x.dtype)
            kept = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
            places = {x.shape: rows.whole(), kept: rows.kept()} if rows.axes else {}
            for var in maker:
                place = places.get(var.aval.shape)
                if var.aval.dtype == x.dtype and place is not None and rows.is_zero(var, place):
                    found[var] = None
        values = jaxpr_as_fun(rebuild(closed, closed.jaxpr.eqns, [*found, *maker]))(x)
        largest = max(np.abs(value).max() for value in map(np.asarray, values) if value.dtype == x.dtype)
        return [np.asarray(value) for value in values[: len(found)]], largest


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("seed", seeds(24, 2))
def test_what_is_called_zero_is_zero(seed):
    found, largest = zeros(seed)
    for value in found if np.isfinite(largest) else ():
        assert np.abs(value).max() <= 1e-11 * largest


def test_random_gradients_have_zeros():
    assert sum(len(zeros(seed)[0]) for seed in range(6)) >= 12


@pytest.mark.slow
def test_a_mask_of_a_comparison_with_a_number():
    x = jnp.ones((256, 512)).at[0, 3].set(0.0)
    y = jnp.arange(512.0) * x
    for fn in (
        lambda x, y: jnp.sum(x * (x == 0.0).astype(x.dtype)),
        lambda x, y: jnp.sum(y * x + (x == 0.0).astype(x.dtype) * y, 1),
        lambda x, y: jnp.sum(y * (x == 0.0).astype(x.dtype), 0),
        lambda x, y: jnp.sum((x == x[0, 0]).astype(x.dtype) * y, 1),
        jax.grad(lambda x, y: jnp.sum(jnp.linalg.norm(jnp.where(x == 0, 1.0, x), axis=1) * (x[:, 0] == 0.0))),
    ):
        np.testing.assert_allclose(ja.jit(fn)(x, y), jax.jit(fn)(x, y), rtol=1e-5)
