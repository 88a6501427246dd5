"""What a softmax divides by is applied behind products: the same values and gradients, with no quotient of weights."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen

import jaxaot as ja
from jaxaot.backend.cpu.attention.divide_late import divide_late
from jaxaot.backend.cpu.attention.skip_masked import skip_masked
from jaxaot.backend.cpu.kernels.lowered_cse import lowered_cse
from jaxaot.backend.cpu.products.fold_transposes import fold_transposes
from jaxaot.ir.rewrite import inline
from jaxaot.passes import pipeline
from jaxaot.passes.drop_zero_sums import drop_zero_sums
from tests.rewritten import assert_rewritten
from tests.seeds import seeds, some

N, FEATURES = 32, 4


@pytest.fixture(autouse=True)
def small_arrays(using_machine):
    using_machine(min_quotients=1)


def normal(seed, *shape):
    return jax.device_put(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def qkv(*batch, n=N):
    return [normal(seed, *batch, n, FEATURES) for seed in range(3)]


def before(closed):
    return fold_transposes(drop_zero_sums(lowered_cse(closed)))


def n_of_weights(jaxpr, *names):
    """Returns how many equations of some names make or read as much as the weights have elements."""
    sizes = [max(atom.aval.size for atom in (*e.invars, *e.outvars)) for e in jaxpr.eqns if e.primitive.name in names]
    return sum(size >= N * N for size in sizes)


def divided_late(fn, *args, rtol=2e-6):
    """Returns the graphs before and after the pass; checks that values are as before."""
    closed, passed = assert_rewritten(lambda closed: divide_late(before(closed)), fn, *args, rtol=rtol)
    return before(closed).jaxpr, passed.jaxpr


def with_gradients(fn):
    return jax.value_and_grad(lambda *args: (fn(*args) ** 2).sum(), (0, 1, 2))


def attention(q, k, v, softmax=jax.nn.softmax, mask=True):
    scores = jnp.where(mask, jnp.einsum("...qd,...kd->...qk", q, k) * 0.5, -1e9)
    return jnp.einsum("...qk,...kd->...qd", softmax(scores), v)


def by_hand(scores):
    powers = jnp.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@jax.custom_jvp
def by_rule(scores):
    return jax.nn.softmax(scores)


@by_rule.defjvp
def _(primals, tangents):
    weights = jax.nn.softmax(*primals)
    return weights, weights * (tangents[0] - (weights * tangents[0]).sum(-1, keepdims=True))


def of_rows_masked_whole(scores):
    largest = scores.max(-1, keepdims=True)
    powers = jnp.exp(scores - jnp.where(largest == -jnp.inf, 0, largest))
    sums = powers.sum(-1, keepdims=True)
    return powers / jnp.where(sums == 0, 1, sums)


CAUSAL = jax.device_put(np.tril(np.ones((N, N), bool)))
WRITTEN = {
    "jax's softmax": attention,
    "by hand": lambda q, k, v: attention(q, k, v, by_hand),
    "by a rule": lambda q, k, v: attention(q, k, v, by_rule),
    "rows masked whole": lambda q, k, v: attention(q, k, v, of_rows_masked_whole),
    "causal": lambda q, k, v: attention(q, k, v, mask=CAUSAL),
    "keys first": lambda q, k, v: jnp.einsum(
        "...kq,...kd->...qd", jax.nn.softmax(jnp.einsum("...kd,...qd->...kq", k, q), -2), v
    ),
    "heads behind": lambda q, k, v: jnp.einsum(
        "hqk,khd->qhd", jax.nn.softmax(jnp.einsum("qhd,khd->hqk", *(x.reshape(N, -1, FEATURES) for x in (q, k)))),
        v.reshape(N, -1, FEATURES),
    ),
    "values first": lambda q, k, v: jnp.einsum("...kd,...qk->...dq", v, jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2))),
    "jax's": lambda q, k, v: jax.nn.dot_product_attention(*(x.reshape(-1, N, 1, FEATURES) for x in (q, k, v))),
    "linen's": lambda q, k, v: linen.dot_product_attention(*(x.reshape(-1, N, 1, FEATURES) for x in (q, k, v))),
    "groups": lambda q, k, v: jnp.einsum(
        "bgqk,bkd->bgqd",
        jax.nn.softmax(jnp.einsum("bgqd,bkd->bgqk", jnp.stack([q, 2 * q], -3).reshape(-1, 2, N, FEATURES),
                                  k.reshape(-1, N, FEATURES))),
        v.reshape(-1, N, FEATURES),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", some(WRITTEN, 1))
@pytest.mark.parametrize("batch", some([(3,), (), (1, 2)], 1))
def test_ways_to_write_it(name, batch):
    fn, args = WRITTEN[name], qkv(*batch)
    _, forward = divided_late(fn, *args)
    assert n_of_weights(forward, "div") == 0
    graph, gradient = divided_late(with_gradients(fn), *args, rtol=1e-5)
    assert n_of_weights(gradient, "div") == (name == "by a rule")  # which reads weights one by one
    sums = [n_of_weights(jaxpr, "reduce_sum") for jaxpr in (graph, gradient)]
    assert sums[1] == sums[0] - 1


def squares(scores):
    return scores**2 / (scores**2).sum(-1, keepdims=True)


def not_shifted(scores):
    return jnp.exp(scores) / jnp.exp(scores).sum(-1, keepdims=True)


def otherwise_shifted(scores):
    powers = jnp.exp(scores - scores.max(-2, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def dropped(scores):
    return jax.nn.softmax(scores) * jax.random.bernoulli(jax.random.key(0), 0.8, scores.shape)


STAYS = {
    "no softmax": lambda q, k, v: attention(q, k, v, squares),
    "powers that may be large": lambda q, k, v: attention(q, k, v, not_shifted),
    "the largest of columns": lambda q, k, v: attention(q, k, v, otherwise_shifted),
    "dropout": lambda q, k, v: attention(q, k, v, dropped),
    "weights that are returned": lambda q, k, v: (jax.nn.softmax(q @ k.mT) @ v, jax.nn.softmax(q @ k.mT))[1],
    "many features": lambda q, k, v: attention(q, k, jnp.concatenate([v] * 4, -1)),
    "half precision": lambda q, k, v: attention(*(x.astype("bfloat16") for x in (q, k, v))).astype("float32"),
    "sums of all": lambda q, k, v: attention(q, k, v, lambda x: jax.nn.softmax(x.reshape(-1)).reshape(x.shape)),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_stays(name):
    closed = before(inline(jax.make_jaxpr(STAYS[name])(*qkv()), also_custom=True))
    assert divide_late(closed) is closed


def test_weights_that_are_read_otherwise_too():
    def fn(q, k, v):
        weights = jax.nn.softmax(q @ k.mT)
        return weights @ v + (weights**2).sum(-1, keepdims=True)

    graph, passed = divided_late(with_gradients(fn), *qkv(), rtol=1e-5)
    assert graph is not passed
    sorts = lambda q, k, v: (lambda weights: weights @ v + jnp.sort(weights) @ v)(jax.nn.softmax(q @ k.mT))
    closed = before(inline(jax.make_jaxpr(sorts)(*qkv()), also_custom=True))
    assert divide_late(closed) is closed


def test_products_of_very_many_factors_are_left():
    def fn(q, k, v):
        weights, scores = jax.nn.softmax(q @ k.mT), q @ k.mT
        factors = scores * weights
        for _ in range(60):
            factors = factors * factors
        return weights @ v, factors.sum(-1)

    closed = before(inline(jax.make_jaxpr(fn)(*qkv()), also_custom=True))
    assert n_of_weights(divide_late(closed).jaxpr, "reduce_sum") == n_of_weights(closed.jaxpr, "reduce_sum") == 2


@pytest.mark.slow
def test_gradients_near_the_largest_float_stay_finite():
    q, k, v = qkv()
    args = q * 0.01, k, v * 1e-3, jnp.full((N, FEATURES), 2e38)  # whose sum over features is infinite
    fn = lambda q, k, v, g: (attention(q, k, v), *jax.vjp(attention, q, k, v)[1](g))
    graph, passed = divided_late(fn, *args, rtol=1e-4)
    for name in ("div", "reduce_sum"):  # the sum over keys is one over features, in which they must not be infinite
        assert n_of_weights(passed, name) < n_of_weights(graph, name)
    assert all(np.isfinite(x).all() for x in fn(*args))  # and what the pass leaves computes the same


@pytest.mark.few(1)
@pytest.mark.parametrize("value", some([np.inf, np.nan, -np.inf], 1))
@pytest.mark.parametrize("which", some(range(4), 2))
def test_values_that_are_not_finite(value, which):
    fn = lambda q, k, v: attention(q, k, v, mask=CAUSAL)
    for place in ((1, 20, 2), (0, 31, 0), (0, 0, 0)):
        args = [*qkv(2), normal(4, 2, N, FEATURES)]
        args[which] = args[which].at[place].set(value)
        graph, passed = divided_late(lambda q, k, v, g: (fn(q, k, v), *jax.vjp(fn, q, k, v)[1](g)), *args)
        assert n_of_weights(passed, "div") == 0 < n_of_weights(graph, "div")


@pytest.mark.parametrize("value", some([np.nan, 0.5, np.inf], 1))
@pytest.mark.slow
def test_masks_are_skipped_after_it(value, using_machine):
    using_machine(min_block_rows=8, register_elements=2, flops_per_kernel=0, flops_per_kind=0)
    q, k, v = qkv(2)
    fn = with_gradients(lambda q, k, v: attention(q, k, v, mask=CAUSAL))
    passes = lambda closed: skip_masked(divide_late(before(closed)))
    _, passed = assert_rewritten(passes, fn, q, k, v.at[1, 20, 2].set(value), rtol=1e-5)
    largest = max(eqn.outvars[0].aval.size for eqn in passed.jaxpr.eqns if eqn.primitive.name == "exp")
    assert largest < 2 * N * N


def random_program(seed):
    """Returns an attention of random axes, and what is done with its weights."""
    rng = random.Random(seed)
    letters = "bh"[: rng.randrange(3)]
    q, k, v, o = (rng.sample(letters + "qd", len(letters) + 2) for _ in range(4))
    k, v = (["k" if axis == "q" else axis for axis in axes] for axes in (k, v))
    v = [{"d": "e"}.get(axis, axis) for axis in v]
    o = [{"d": "e"}.get(axis, axis) for axis in o]
    scores = rng.sample(letters + "qk", len(letters) + 2)
    sizes = {"b": 2, "h": rng.choice((1, 3)), "q": rng.choice((N, 48)), "k": N, "d": 4, "e": rng.choice((1, 2, 3))}
    softmax = rng.choice((jax.nn.softmax, by_rule if scores[-1] == "k" else jax.nn.softmax))
    extra = rng.choice(("nothing", "squares", "mask", "twice"))
    axis = scores.index("k")

    def fn(*args):
        x = jnp.einsum(f"{''.join(q)},{''.join(k)}->{''.join(scores)}", *args[:2])
        if extra == "mask":
            x = jnp.where(
                jnp.arange(x.shape[axis]).reshape([-1 if i == axis else 1 for i in range(x.ndim)]) < 20, x, -9.0
            )
        weights = softmax(x) if softmax is by_rule else softmax(x, axis)
        out = jnp.einsum(f"{''.join(scores)},{''.join(v)}->{''.join(o)}", weights, args[2])
        if extra == "squares":
            return out + (weights**2).mean()
        if extra == "twice":
            return out * jnp.einsum(f"{''.join(scores)},{''.join(v)}->{''.join(o)}", weights, jnp.sin(args[2]))
        return out

    args = [normal(seed + i, *(sizes[axis] for axis in axes)) for i, axes in enumerate((q, k, v))]
    return fn, args, extra != "squares"


@pytest.mark.parametrize("seed", seeds(14, 1))
def test_random_programs_keep_their_values_and_gradients(seed):
    fn, args, vanish = random_program(seed)
    graph, passed = divided_late(fn, *args)
    assert n_of_weights(passed, "div") == (0 if vanish else n_of_weights(graph, "div"))
    divided_late(with_gradients(fn), *args, rtol=1e-5)


@pytest.mark.slow
def test_an_attention_of_tensors_divides_late(everything_is_large, monkeypatch):
    changed = []

    def spied(closed):
        passed = divide_late(closed)
        changed.extend([passed] if passed is not closed else [])
        return passed

    monkeypatch.setitem(pipeline._passes, "divide_late", spied)

    def step(q, k, v):
        loss = ja.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).square().sum()
        return loss.detach(), *(g.detach() for g in ja.autograd.grad(loss, (q, k, v)))

    args = [ja.from_numpy(np.asarray(x)).requires_grad_() for x in qkv(2)]
    compiled = ja.compile(step)
    for got, want in zip(compiled(*args), step(*args), strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5, atol=1e-5)
    assert len(changed) == 1


def test_a_compiled_step_divides_late(everything_is_large):
    fn, args = with_gradients(attention), qkv(2)
    compiled = ja.jit(fn)
    for got, want in zip(jax.tree.leaves(compiled(*args)), jax.tree.leaves(jax.jit(fn)(*args)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    assert "divide_late: " in str(compiled.explain(*args))
