"""Attention in blocks is the attention, in whatever words it is written, forward and backward."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot._jax import jaxpr_as_fun
from jaxaot.ir import tiles
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline
from jaxaot.passes import attention_blocks
from tests.seeds import seeds

BATCH, HEADS, WIDTH = 2, 2, 4


@pytest.fixture
def small(monkeypatch):
    """Has small graphs be cut, of which blocks gain nothing."""
    for name in ("MIN_SAVED", "BLOCK_BYTES", "MIN_SCORES"):
        monkeypatch.setattr(attention_blocks, name, 1 << 9)
    monkeypatch.setattr(attention_blocks, "ROWS", 8)
    monkeypatch.setattr(tiles, "TILE", 8)


def causal(rows, columns):
    return jnp.tril(jnp.ones((rows, columns), bool))


def window(rows, columns):
    return causal(rows, columns) & ~jnp.tril(jnp.ones((rows, columns), bool), -5)


def padded(rows, columns):
    """Of each batch other keys; some rows see none."""
    lengths = jnp.asarray([columns - 3, 2])
    return causal(rows, columns) & (jnp.arange(columns) >= lengths[:, None])[:, None, None]


def diagonal(rows, columns):
    """Sequences of 8 that do not see one another."""
    return (jnp.arange(rows) // 8)[:, None] == (jnp.arange(columns) // 8)[None, :]


def empty(rows, columns):
    """The first rows see nothing."""
    return causal(rows, columns) & (jnp.arange(rows) >= 3)[:, None]


def drawn(rows, columns):
    return jnp.asarray(np.random.default_rng(5).random((rows, columns)) < 0.4)


MASKS = {
    "none": None,
    "causal": causal,
    "window": window,
    "padded": padded,
    "diagonal": diagonal,
    "empty": empty,
    "drawn": drawn,
}


def program(draw):
    """Returns a random loss of attention over queries, keys, values, with their sizes."""
    rows, columns = draw.choice([(32, 32), (37, 37), (24, 40)])
    mask = draw.choice([*MASKS.values()])
    fill = draw.choice([-1e9, -1e30, "added", "min"])
    order = draw.choice(["bhqd", "bqhd", "qbhd"])
    is_by_hand, is_capped, is_dropped = (draw.random() < 0.4 for _ in range(3))
    is_grouped = draw.random() < 0.3
    keys = order.replace("q", "k").replace("h", "h" if not is_grouped else "")
    shape = lambda letters: tuple({"b": BATCH, "h": HEADS, "q": rows, "k": columns, "d": WIDTH}[c] for c in letters)

    def loss(q, k, v):
        s = jnp.einsum(f"{order},{keys}->bhqk", q, k) * 0.5
        if is_capped:
            s = 3.0 * jnp.tanh(s / 3.0)
        if mask is not None:
            m = mask(rows, columns)
            least = jnp.finfo(s.dtype).min
            if fill == "added":
                s = s + jnp.where(m, 0.0, least / 2).astype(s.dtype)
            else:
                s = jnp.where(m, s, least if fill == "min" else fill)
        if is_by_hand:
            e = jnp.exp(s - jax.lax.stop_gradient(s.max(-1, keepdims=True)))
            p = e / e.sum(-1, keepdims=True)
        else:
            p = jax.nn.softmax(s, -1)
        if is_dropped:
            p = jnp.where(jax.random.bernoulli(jax.random.key(3), 0.8, p.shape), p / 0.8, 0.0)
        y = jnp.einsum(f"bhqk,{keys}->{order}", p, v)
        return (jnp.tanh(y @ jnp.eye(WIDTH, dtype=y.dtype)).astype(jnp.float32) ** 2).mean()

    return loss, [shape(letters) for letters in (order, keys, keys)]


def blocked(fn, *args):
    closed = inline(jax.make_jaxpr(fn)(*args), also_custom=True)
    made = attention_blocks.attention_blocks(closed)
    check_graph(made)
    return closed, made


def n_narrow(closed):
    """Returns how many loops visit some columns only."""
    return str(closed).count(" = while[")


@pytest.mark.parametrize("seed", seeds(120, 8))
def test_random_attention_in_blocks_is_as_exact(seed, small):
    """The error beside float64 is at most twice that of the plain graph, and some for what both round."""
    draw = random.Random(seed)
    loss, shapes = program(draw)
    numbers = np.random.default_rng(seed)
    wide = [numbers.normal(size=shape) for shape in shapes]
    dtype = draw.choice([jnp.float32, jnp.float32, jnp.bfloat16])
    args = [jnp.asarray(x, dtype) for x in wide]
    fn = draw.choice([jax.value_and_grad(loss, (0, 1, 2)), jax.grad(loss, (0, 2)), loss])
    closed, made = blocked(fn, *args)
    assert any(eqn.primitive.name == "scan" for eqn in made.jaxpr.eqns)
    scores = BATCH * HEADS * shapes[0][-2] * shapes[1][-2]
    assert all(2 * var.aval.size < scores or var.aval.size < 2048 for e in made.jaxpr.eqns for var in e.outvars)
    with jax.enable_x64(True):
        exact = jax.tree.leaves(jax.jit(fn)(*(jnp.asarray(np.float64(x)) for x in args)))
    plain, got = (jax.jit(jaxpr_as_fun(graph))(*args) for graph in (closed, made))
    for want, a, b in zip(exact, plain, got, strict=True):
        scale = float(np.abs(np.float64(want)).max()) + 1e-30
        errors = [float(np.abs(np.float64(x) - np.float64(want)).max()) / scale for x in (a, b)]
        assert errors[1] <= 2 * errors[0] + (1e-2 if dtype == jnp.bfloat16 else 2e-6), errors


def test_derivatives_and_vmap_of_blocked_attention(small):
    loss, shapes = program(random.Random(1))
    args = [jnp.asarray(np.random.default_rng(0).normal(size=shape), jnp.float32) for shape in shapes]
    grad = jax.grad(loss)
    closed, made = blocked(grad, *args)
    assert made is not closed
    one = lambda graph: lambda q: jaxpr_as_fun(graph)(q, *args[1:])[0]
    for make in (
        lambda f: jax.jvp(f, (args[0],), (args[0],))[1],
        lambda f: jax.vmap(f)(jnp.stack([args[0], 2 * args[0]])),
        lambda f: jax.lax.map(f, jnp.stack([args[0], 2 * args[0]])),
    ):
        want, got = (jax.jit(lambda g=g: make(one(g)))() for g in (closed, made))
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    second = jax.grad(lambda q: (jax.grad(loss)(q, *args[1:]) ** 2).sum())
    closed, made = blocked(second, args[0])
    np.testing.assert_allclose(jaxpr_as_fun(made)(args[0])[0], jaxpr_as_fun(closed)(args[0])[0], rtol=1e-4, atol=1e-5)


def softmax_of(mask, fill=-1e30):
    def loss(q, k, v):
        s = jnp.where(mask(q.shape[-2], k.shape[-2]), q @ k.swapaxes(-1, -2), fill)
        return (jnp.tanh(jax.nn.softmax(s, -1) @ v @ jnp.eye(WIDTH)) ** 2).sum()

    return jax.value_and_grad(loss, (0, 1, 2))


@pytest.mark.parametrize("fill", [-1e30, -1e9, float("-inf")])
@pytest.mark.parametrize("mask", [causal, window, diagonal, empty])
def test_what_a_mask_discards_is_not_visited(mask, fill, small, monkeypatch):
    """Values are those of the plain graph, of rows too that see nothing, and where keys or values are not finite."""
    visited = []
    monkeypatch.setattr(tiles, "_planned", lambda *a, of=tiles._planned: visited.append(of(*a)) or visited[-1])
    q, k, v = (np.random.default_rng(i).normal(size=(1, 2, 32, WIDTH)).astype(np.float32) for i in range(3))
    fn = softmax_of(mask, fill)
    closed, made = blocked(fn, q, k, v)
    assert n_narrow(made) >= 3
    seen = np.asarray(mask(32, 32)).reshape(4, 8, 4, 8).any((1, 3))
    for plan in visited:
        reach = np.arange(4)
        np.testing.assert_array_equal((reach >= plan.first[:, None]) & (reach < plan.last[:, None]), seen)
    bad = [(q, k, v)]
    for value in (np.nan, np.inf):
        for i in range(3):
            args = [x.copy() for x in (q, k, v)]
            args[i][0, 1, 29, 2] = value
            bad.append(tuple(args))
    for args in bad:
        for want, got in zip(*(jax.jit(jaxpr_as_fun(graph))(*args) for graph in (closed, made)), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_attention_of_tensors_in_blocks(small, using_machine):
    using_machine(cached_bytes=0)
    draw = np.random.default_rng(0)
    arrays = [draw.normal(size=(BATCH, HEADS, 32, WIDTH)).astype(np.float32) for _ in range(3)]

    def step(q, k, v):
        q = q.detach().requires_grad_()
        y = ja.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        (y.tanh() ** 2).sum().backward()
        return y.detach(), q.grad

    with ja.config(blocks=True):
        found = ja.compile(step)(*map(ja.tensor, arrays))
    for got, want in zip(found, step(*map(ja.tensor, arrays)), strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5, atol=1e-5)


def test_weights_that_are_returned_are_no_gain(small):
    q = jax.ShapeDtypeStruct((BATCH, HEADS, 32, WIDTH), "float32")

    def fn(q, k, v):
        p = jax.nn.softmax(q @ k.swapaxes(-1, -2), -1)
        return p @ v, p

    closed = inline(jax.make_jaxpr(fn)(q, q, q), also_custom=True)
    assert attention_blocks.attention_blocks(closed) is closed


def test_long_attention_takes_less_memory():
    """By `ja.jit`; nothing is run."""
    q = jax.ShapeDtypeStruct((2, 2048, 32), "float32")

    def loss(q, k, v):
        s = jnp.where(jnp.tril(jnp.ones((2048, 2048), bool)), q @ k.swapaxes(-1, -2), -1e30)
        return (jnp.tanh(jax.nn.softmax(s, -1) @ v) ** 2).sum()

    grads = ja.jit(jax.value_and_grad(loss, (0, 1, 2)))
    with ja.config(blocks=["attention"]):
        taken = grads.lower(q, q, q).compile().memory_analysis().temp_size_in_bytes
    assert taken < 2 * 2048 * 2048 * 4 / 4
