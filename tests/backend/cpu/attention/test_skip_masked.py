"""What masks discard is skipped: the same values and gradients, NaN and infinities included, from smaller arrays."""

import random
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen

import jaxaot as ja
from jaxaot.backend.cpu.attention.skip_masked import skip_masked
from jaxaot.backend.cpu.kernels.lowered_cse import lowered_cse
from jaxaot.backend.cpu.products.fold_transposes import fold_transposes
from jaxaot.ir.cost import eqn_flops
from jaxaot.ir.rewrite import inline
from jaxaot.passes.dce import dce
from tests.rewritten import assert_rewritten
from tests.seeds import seeds, some

N = 32


@pytest.fixture(autouse=True)
def small_blocks(using_machine):
    using_machine(min_block_rows=8, register_elements=2, flops_per_kernel=0, flops_per_kind=0)


def normal(seed, *shape):
    return jax.device_put(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def work(jaxpr):
    return sum(eqn_flops(eqn) for eqn in jaxpr.eqns if eqn.primitive.name in ("dot_general", "exp"))


def skipped(fn, *args, rtol=2e-6):
    """Returns which part of products and exponentials is left; checks that values are as before."""
    closed, passed = assert_rewritten(
        lambda closed: skip_masked(fold_transposes(lowered_cse(closed))), fn, *args, rtol=rtol
    )
    return work(passed.jaxpr) / work(closed.jaxpr)


def rows_and_columns(n=N):
    return jnp.arange(n)[:, None], jnp.arange(n)


MASKS = {
    "causal": lambda i, j: i >= j,
    "window": lambda i, j: (i >= j) & (i - j < 6),
    "strictly causal": lambda i, j: i > j,  # the first row is discarded as a whole
    "looking ahead": lambda i, j: i <= j,
    "both sides": lambda i, j: abs(i - j) < 5,
    "prefix": lambda i, j: (i >= j) | (j < 6),
    "blocks": lambda i, j: i // 8 == j // 8,
    "packed": lambda i, j: (i >= j) & (i // 12 == j // 12),
}


def attention(q, k, v, mask, fill=-1e9, softmax=jax.nn.softmax):
    scores = jnp.einsum("...qd,...kd->...qk", q, k) / np.float32(np.sqrt(q.shape[-1]))
    return jnp.einsum("...qk,...kd->...qd", softmax(jnp.where(mask, scores, fill)), v)


def qkv(*batch, n=N):
    return [normal(seed, *batch, n, 4) for seed in range(3)]


def with_gradients(fn):
    return jax.value_and_grad(lambda *args: (fn(*args) ** 2).sum(), (0, 1, 2))


@pytest.mark.slow
@pytest.mark.parametrize("name", some(MASKS, 1))
def test_masks(name):
    fn = lambda q, k, v: attention(q, k, v, MASKS[name](*rows_and_columns()))
    assert skipped(with_gradients(fn), *qkv(2, 3)) < 0.85
    assert skipped(fn, *qkv()) < 0.85


def by_hand(scores):
    powers = jnp.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def transposed(q, k, v, mask):
    """Columns of scores first: a softmax along rows."""
    scores = jnp.where(mask.T, jnp.einsum("bkd,bqd->bkq", k, q), -1e9)
    return jnp.einsum("bkq,bkd->bqd", jax.nn.softmax(scores, 1), v)


def grouped(q, k, v, mask):
    """Two heads of queries to each of keys."""
    scores = jnp.einsum("bhgqd,bhkd->bhgqk", q.reshape(1, 1, 2, N, 4), k[None, :1])
    return jnp.einsum("bhgqk,bhkd->bhgqd", jax.nn.softmax(jnp.where(mask, scores, -jnp.inf)), v[None, :1])


def padded(q, k, v, mask):
    lengths = jnp.asarray([20, 5])[:, None, None]
    return attention(q, k, v, mask & (jnp.arange(N) < lengths))


WRITTEN = {
    "softmax by hand": lambda q, k, v, mask: attention(q, k, v, mask, softmax=by_hand),
    "minus infinity": lambda q, k, v, mask: attention(q, k, v, mask, -jnp.inf),
    "least number": lambda q, k, v, mask: attention(q, k, v, mask, jnp.finfo("float32").min),
    "mask of what is discarded": lambda q, k, v, mask: attention(q, k, v, ~~mask),
    "discarded first": lambda q, k, v, mask: jnp.einsum(
        "bqk,bkd->bqd", jax.nn.softmax(jnp.where(~mask, -1e9, jnp.einsum("bqd,bkd->bqk", q, k))), v
    ),
    "zeros after the softmax": lambda q, k, v, mask: jnp.where(mask, jnp.einsum("bqd,bkd->bqk", q, k), 0) @ v,
    "log-softmax": lambda q, k, v, mask: attention(
        q, k, v, mask, softmax=lambda x: jnp.exp(jax.nn.log_softmax(x)) - 0.5 * jax.nn.softmax(x)
    ),
    "rows of keys": transposed,
    "groups": grouped,
    "random bits": lambda q, k, v, mask: (
        attention(q, k, v, mask & (jax.random.bits(jax.random.key(0), (N, N), "uint32") > 9))
        * jnp.where(jax.random.bits(jax.random.key(0), (N, 4), "uint32") > 9, 1, 2)
    ),
    "padding": padded,
    "linen's": lambda q, k, v, mask: linen.dot_product_attention(
        *(x[..., None, :] for x in (q, k, v)), mask=linen.make_causal_mask(jnp.ones((1, N)))
    ),
    "jax's": lambda q, k, v, mask: jax.nn.dot_product_attention(
        *(x.reshape(1, 2, N, 4).swapaxes(1, 2) for x in (q, k, v)), is_causal=True
    ),
}


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("name", some(WRITTEN, 2))
def test_ways_to_write_it(name):
    fn = lambda q, k, v: WRITTEN[name](q, k, v, MASKS["causal"](*rows_and_columns()))
    gradients = with_gradients(fn)
    assert skipped(gradients, *qkv(2), rtol=1e-5) < 0.9
    assert skipped(fn, *qkv(2)) < 0.9


@pytest.mark.slow
def test_fields_that_are_read_whole():
    mask = MASKS["causal"](*rows_and_columns())
    weights = lambda q, k: jax.nn.softmax(jnp.where(mask, jnp.einsum("bqd,bkd->bqk", q, k), -1e9))
    q, k, v = qkv(2)
    assert skipped(lambda q, k: weights(q, k)[..., ::2], q, k) < 0.9
    assert skipped(lambda q, k: weights(q, k), q, k) < 0.9
    assert skipped(lambda q, k: jnp.where(mask, q @ k.T, 0), q[0], k[0]) < 0.9

    def biased(q, k, bias):  # the gradient by the bias is a field
        scores = jnp.where(mask, jnp.einsum("bqd,bkd->bqk", q, k) + bias, -1e9)
        return jax.nn.softmax(scores) @ v

    assert skipped(with_gradients(biased), q, k, normal(3, N, N)) < 0.9

    def mixed(weights, x):  # and then a whole parameter is updated
        loss = lambda weights: ((jnp.where(mask, weights, 0) @ x) ** 2).sum()
        return weights - 0.1 * jax.grad(loss)(weights)

    assert skipped(mixed, normal(3, N, N), v[0]) < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("value", some([np.nan, -np.inf, np.inf, 1e30], 1))
@pytest.mark.parametrize("which", some(range(3), 1))
def test_values_that_are_not_finite(value, which):
    mask = MASKS["causal"](*rows_and_columns())
    fn = lambda q, k, v: attention(q, k, v, mask)
    for place in ((1, 20, 2), (0, 31, 0), (0, 0, 0)):
        args = qkv(2)
        args[which] = args[which].at[place].set(value)
        assert skipped(lambda *args: (fn(*args), *jax.vjp(fn, *args)[1](jnp.ones((2, N, 4)))), *args) < 0.9


@pytest.mark.slow
def test_rows_whose_scores_are_all_below_the_fill():
    mask = MASKS["causal"](*rows_and_columns())
    q, k, v = qkv(2)
    fn = lambda q, k, v: attention(q, k, v, mask, 2.0)
    assert skipped(with_gradients(fn), q, k, v) < 0.9
    fn = lambda q, k, v: attention(q * 0 - 3, k * 0 + 1, v, mask, 2.0)
    assert skipped(with_gradients(fn), q, k, v) < 0.9


@pytest.mark.slow
def test_several_layers_each_with_its_own_blocks():
    def fn(x, w, v):
        for _ in range(3):
            x = x + attention(x @ w, x, x @ v, MASKS["causal"](*rows_and_columns()))
        return x

    assert skipped(with_gradients(fn), normal(0, 2, N, 4), normal(1, 4, 4), normal(2, 4, 4), rtol=1e-5) < 0.9


def test_equations_of_blocks_have_the_parameters_of_their_primitive():
    fn = with_gradients(lambda q, k, v: attention(q, k, v, MASKS["causal"](*rows_and_columns())))
    passed = skip_masked(inline(jax.make_jaxpr(fn)(*qkv(2, 3)), also_custom=True))
    assert "mul" in str(passed.jaxpr)  # printing reads parameters that computing does not need


@pytest.mark.slow
@pytest.mark.parametrize(("n_layers", "sizes"), [(1, {15, 17}), (4, {7, 8, 9})])
def test_more_than_two_blocks_have_to_save_what_their_kernels_take_to_compile(n_layers, sizes, using_machine):
    """Kernels of layers that are alike are compiled once, so that what these save counts together."""
    using_machine(flops_per_kind=500)

    def fn(q, k, v):
        for _ in range(n_layers):
            q = attention(q, k, v, MASKS["causal"](*rows_and_columns()))
        return q

    _, passed = assert_rewritten(lambda closed: skip_masked(lowered_cse(closed)), fn, *qkv(), rtol=1e-5)
    powers = (eqn.outvars[0].aval.shape for eqn in passed.jaxpr.eqns if eqn.primitive.name == "exp")
    assert {n_rows for n_rows, _ in powers} == sizes


def test_little_of_all_that_is_computed_stays(using_machine):
    """More kernels take time to compile, which a step that is hardly faster does not give back."""
    i, j = rows_and_columns()
    x, w = normal(9, N, 256), normal(10, 256, 256)

    def fn(q, k, v):
        return attention(q, k, v, i >= j).sum() + (x @ w @ w).sum()

    using_machine(min_skipped_of_all=0.0)
    assert skipped(fn, *qkv(), rtol=1e-5) < 1
    using_machine(min_skipped_of_all=0.03)
    assert skipped(fn, *qkv(), rtol=1e-5) == 1


@pytest.mark.slow
@pytest.mark.parametrize("n_layers", some([3, 1], 1))
def test_layers_are_written_in_one_rebuild(n_layers, monkeypatch):
    """The whole graph is gone through as often for four layers as for one."""
    rebuilt = []
    monkeypatch.setattr(sys.modules[skip_masked.__module__], "dce", lambda graph: rebuilt.append(0) or dce(graph))

    def fn(q, k, v):
        for _ in range(n_layers):
            q = attention(q, k, v, MASKS["causal"](*rows_and_columns()))
        return q

    assert skipped(with_gradients(fn), *qkv(), rtol=1e-4) < 0.85
    assert len(rebuilt) == 1


@pytest.mark.slow
def test_masks_of_layers_differ_and_compare_positions_from_outside():
    i, j = rows_and_columns()

    def fn(q, k, v):
        mixed = attention(q, k, v, i >= j)
        return attention(mixed, k, v, (i >= j) & (i - j < 6))

    assert skipped(with_gradients(fn), *qkv(), rtol=1e-4) < 0.6


def dropped(scores):
    return jax.nn.softmax(scores) * jax.random.bernoulli(jax.random.key(0), 0.8, scores.shape)


def halves(x, dtype="bfloat16"):
    return x.astype(dtype)


def product(a, b, dtype):
    return jnp.matmul(a, b, preferred_element_type=dtype)


STAYS = {
    "no mask": lambda q, k, v, mask: attention(q, k, v, True),
    "a mask of values": lambda q, k, v, mask: attention(q, k, v, q[..., :1] > k[..., 0][..., None, :]),
    "dropout": lambda q, k, v, mask: attention(q, k, v, mask, softmax=dropped),
    "a sum with the mask": lambda q, k, v, mask: (
        jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k) + jnp.where(mask, 0, -1e9)) @ v
    ),
    "another mask": lambda q, k, v, mask: attention(
        q, k, v, mask, softmax=lambda x: jnp.where((jnp.arange(N)[:, None] + jnp.arange(N)) % 2, jax.nn.softmax(x), 0)
    ),
    "halves summed up as float32": lambda q, k, v, mask: product(
        jax.nn.softmax(jnp.where(mask, product(halves(q), halves(k).mT, "float32"), 0.5)), halves(v), "float32"
    ),
    "integers": lambda q, k, v, mask: product(
        jnp.where(mask, product(halves(q, "int8"), halves(k, "int8").mT, "int32"), 3), halves(v, "int32"), "int32"
    ),
    "quotients of integers": lambda q, k, v, mask: jnp.where(
        mask, product(halves(q, "int32"), halves(k, "int32").mT, "int32") // 3, 2
    ).sum(-1),
    "half precision": lambda q, k, v, mask: attention(*(x.astype("bfloat16") for x in (q, k, v)), mask),
    "little to skip": lambda q, k, v, mask: attention(q, k, v, jnp.arange(N)[:, None] + 25 > jnp.arange(N)),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_stays(name):
    fn = lambda q, k, v: STAYS[name](q, k, v, MASKS["causal"](*rows_and_columns())).astype("float32")
    closed = inline(jax.make_jaxpr(with_gradients(fn))(*qkv(2)), also_custom=True)
    shared = fold_transposes(lowered_cse(closed))
    assert work(skip_masked(shared).jaxpr) == work(shared.jaxpr)


def random_program(seed):
    """Returns a function of three arrays that masks and what it may be made of, and which part it may leave."""
    rng = random.Random(seed)
    mask = rng.choice(list(MASKS.values()))
    fill = rng.choice((-1e9, -np.inf, 0.0, 3.0))
    before = [rng.choice(("scale", "bias", "tanh", "mask", "columns")) for _ in range(rng.randrange(3))]
    after = [rng.choice(("power", "mask", "normalize", "rows", "square")) for _ in range(rng.randrange(3))]
    softmax = rng.choice((jax.nn.softmax, by_hand, lambda x: x, lambda x: jax.nn.sigmoid(x)))
    reads = [rng.choice(("values", "sum", "largest", "transposed", "all")) for _ in range(rng.randint(1, 3))]
    shape = rng.choice(((), (2,), (1,), (2, 3)))

    def fn(q, k, v):
        x = jnp.einsum("...qd,...kd->...qk", q, k)
        for step in before:
            match step:
                case "scale":
                    x = x / 3 * 0.7
                case "bias":
                    x = x + v.sum(-1)[..., None]
                case "columns":
                    x = x - k.sum(-1)[..., None, :]
                case "tanh":
                    x = jnp.tanh(x) * 2
                case "mask":
                    x = jnp.where(x > -3, x, -3)
        x = softmax(jnp.where(mask(*rows_and_columns()), x, fill))
        x = jnp.where(jnp.isinf(x), 0, x) if fill == -np.inf else x
        for step in after:
            match step:
                case "power":
                    x = jnp.exp(-abs(x))
                case "mask":
                    x = jnp.where(mask(*rows_and_columns()), x, 0.5)
                case "normalize":
                    x = x / (1 + abs(x).sum(-1, keepdims=True))
                case "rows":
                    x = x * q.sum(-1)[..., None]
                case "square":
                    x = x * x
        found = []
        for read in reads:
            match read:
                case "values":
                    found.append(x @ v)
                case "sum":
                    found.append(x.sum(-1))
                case "largest":
                    found.append(x.max(-1))
                case "transposed":
                    found.append(jnp.swapaxes(x, -1, -2) @ v)
                case "all":
                    found.append(x)
        return found

    return fn, shape


@pytest.mark.parametrize("seed", seeds(24, 1))
def test_random_programs_keep_their_values_and_gradients(seed):
    fn, shape = random_program(seed)
    loss = lambda *args: sum((x * jnp.cos(jnp.arange(x.shape[-1]))).sum() for x in fn(*args))
    args = qkv(*shape)
    assert skipped(lambda *args: (fn(*args), jax.grad(loss, (0, 1, 2))(*args)), *args, rtol=1e-5) <= 1


@pytest.mark.slow
def test_most_random_programs_skip_something():
    skipping = 0
    for seed in range(40):
        fn, shape = random_program(seed)
        closed = lowered_cse(inline(jax.make_jaxpr(fn)(*qkv(*shape)), also_custom=True))
        skipping += work(skip_masked(closed).jaxpr) < work(closed.jaxpr)
    assert skipping > 20


@pytest.mark.slow
def test_a_compiled_step_skips(everything_is_large):
    mask = MASKS["causal"](*rows_and_columns())
    fn = with_gradients(lambda q, k, v: attention(q, k, v, mask))
    compiled, args = ja.jit(fn), qkv(2)
    for got, want in zip(jax.tree.leaves(compiled(*args)), jax.tree.leaves(jax.jit(fn)(*args)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    before, after = re.search(r"skip_masked: (\d+) → (\d+)", str(compiled.explain(*args))).groups()
    assert int(after) > int(before)


@pytest.mark.slow
def test_an_attention_of_tensors_skips(everything_is_large):
    mask = ja.ones(N, N, dtype=ja.bool).tril()

    def step(q, k, v):
        loss = (ja.nn.functional.softmax((q @ k.mT).masked_fill(~mask, -1e9), -1) @ v).square().sum()
        return loss, *ja.autograd.grad(loss, (q, k, v))

    args = [ja.from_numpy(np.asarray(x)).requires_grad_() for x in qkv(2)]
    for got, want in zip(ja.compile(step)(*args), step(*args), strict=True):
        np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), rtol=1e-5, atol=1e-5)
