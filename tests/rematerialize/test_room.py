"""Several functions under `ja.remat` in one program hold together no more than `jax.checkpoint` of each."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from tests.drawn import drawn

ROWS, WIDTH = 256, 32


def attention(x, w):
    q, k, v, up, down = w
    heads = lambda a: a.reshape(8, -1, 2, WIDTH // 2).transpose(0, 2, 1, 3)
    mixed = jax.nn.softmax(heads(x @ q) @ heads(x @ k).swapaxes(2, 3)) @ heads(x @ v)
    x = x + mixed.transpose(0, 2, 1, 3).reshape(x.shape)
    return x + jax.nn.gelu(x @ up) @ down


def weights(n):
    shapes = [(WIDTH, WIDTH)] * 3 + [(WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)]
    draw = lambda i: [jax.device_put(drawn(9 * i + j, *shape) / np.float32(9)) for j, shape in enumerate(shapes)]
    return [draw(i) for i in range(n)]


X = jax.device_put(drawn(99, ROWS, WIDTH))


def loss_of(wrap, block=attention):
    def loss(ws, x):
        for w in ws:
            x = wrap(block)(x, w)
        return (x**2).sum()

    return loss


def saved(loss, ws):
    """Returns the bytes of what waits for the backward, beyond arguments."""
    held = {id(leaf): leaf for leaf in jax.tree.leaves(jax.vjp(loss, ws, X)[1])}
    for leaf in jax.tree.leaves((ws, X)):
        held.pop(id(leaf), None)
    return sum(leaf.nbytes for leaf in held.values() if hasattr(leaf, "nbytes"))


def by_policy(fn):
    return ja.remat(fn, policy="min_cut")


def temp_bytes(jit, loss, ws):
    return jit(jax.grad(loss)).lower(ws, X).compile().memory_analysis().temp_size_in_bytes


@pytest.mark.slow
def test_a_program_holds_no_more_than_with_jax_checkpoint():
    ws = weights(4)
    ours, jaxs = (temp_bytes(ja.jit, loss_of(wrap), ws) for wrap in (ja.remat, jax.checkpoint))
    lean = temp_bytes(ja.jit, loss_of(lambda fn: ja.remat(fn, policy="save_nothing")), ws)
    assert lean <= ours <= jaxs < temp_bytes(ja.jit, loss_of(by_policy), ws)


@pytest.mark.slow
def test_what_is_saved_is_bounded_however_many_blocks_there_are():
    inputs = X.nbytes  # of each block but the first
    beyond = [saved(loss_of(ja.remat), weights(n)) - (n - 1) * inputs for n in (2, 4, 8)]
    assert 0 < beyond[0] <= beyond[1] == beyond[2] < saved(loss_of(by_policy), weights(2))
    assert saved(loss_of(ja.remat), weights(8)) == 7 * inputs + beyond[2]  # each gradient has a room of its own


@pytest.mark.slow
def test_what_stands_alone_or_is_a_loss_is_cut_by_its_policy():
    ws = weights(4)
    loss = loss_of(lambda fn: fn)
    assert saved(ja.remat(loss), ws) == saved(by_policy(loss), ws) > saved(loss_of(ja.remat), ws)
    with_aux = lambda ws, x: (loss(ws, x), x)
    sizes = []
    for options in ({}, {"policy": "min_cut"}):
        grads = lambda ws, x, options=options: ja.value_and_grad(with_aux, has_aux=True, **options)(ws, x)[1]
        sizes.append(ja.jit(grads).lower(ws, X).compile().memory_analysis().temp_size_in_bytes)
    assert sizes[0] == sizes[1]


def scanned(wrap):
    def loss(ws, x):
        stacked = [jnp.stack(leaves) for leaves in zip(*ws, strict=True)]
        return (jax.lax.scan(lambda x, w: (wrap(attention)(x, w), None), x, stacked)[0] ** 2).sum()

    return loss


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    "program",
    [
        scanned,
        lambda wrap: loss_of(lambda fn: jax.jit(wrap(fn))),
        lambda wrap: loss_of(lambda fn: lambda x, w: jax.lax.fori_loop(0, 2, lambda _, x: wrap(fn)(x, w), x)),
    ],
    ids=["scan", "jit", "fori_loop"],
)
def test_what_runs_many_times_saves_its_inputs_alone(program):
    ws = weights(4)
    lean = program(lambda fn: ja.remat(fn, policy="save_nothing"))
    assert saved(program(ja.remat), ws) == saved(lean, ws) < saved(program(by_policy), ws)


@pytest.mark.slow
def test_blocks_of_several_kinds_in_every_transformation():
    kinds = [attention, lambda x, w: x + jnp.tanh(x @ w[3]) @ w[4], lambda x, w: (x, jnp.cos(x @ w[0]).sum())[0]]

    def loss_by(wrap):
        def loss(ws, x):
            for i, w in enumerate(ws):
                x = wrap(kinds[i % 3])(x, w)
            return (x**2).mean()

        return loss

    ws = weights(5)
    ours, plain = loss_by(ja.remat), loss_by(lambda fn: fn)
    batch = jnp.stack([X, 2 * X])
    for transform in (
        lambda f: jax.grad(f)(ws, X),
        lambda f: ja.jit(jax.grad(f))(ws, X),
        lambda f: jax.grad(jax.jit(f))(ws, X),
        lambda f: jax.vmap(jax.grad(f), (None, 0))(ws, batch),
        lambda f: jax.grad(lambda ws: jax.vmap(f, (None, 0))(ws, batch).sum())(ws),
        lambda f: ja.grad(f)(ws, X),
        lambda f: jax.grad(jax.checkpoint(f))(ws, X),
        lambda f: jax.jvp(f, (ws, X), (ws, X)),
        lambda f: jax.jvp(jax.grad(f, 1), (ws, X), (ws, X)),
        lambda f: jax.grad(lambda x: jax.grad(f, 1)(ws, x).sum())(X),
    ):
        for got, want in zip(jax.tree.leaves(transform(ours)), jax.tree.leaves(transform(plain)), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
