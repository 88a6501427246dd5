"""Losses over many classes in blocks are the losses, in whatever words they are written."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot._jax import jaxpr_as_fun
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline
from jaxaot.passes import loss_blocks
from jaxaot.passes.cse import cse
from tests.seeds import some

ROWS, WIDTH, CLASSES = 37, 8, 96


@pytest.fixture
def small(monkeypatch):
    """Has small graphs be cut, of which blocks gain nothing."""
    for name, value in (("MIN_SAVED", ROWS * CLASSES), ("_ENOUGH", 1), ("MAX_EXTRA", 0.5)):
        monkeypatch.setattr(loss_blocks, name, value)


def taken(x, w, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(x @ w), y[:, None], 1).mean()


def indexed(x, w, y):
    return -jax.nn.log_softmax(x @ w)[jnp.arange(ROWS), y].mean()


def one_hot(x, w, y):
    return -(jax.nn.one_hot(y, CLASSES) * jax.nn.log_softmax(x @ w)).sum(-1).mean()


def smoothed(x, w, y):
    labels = 0.9 * jax.nn.one_hot(y, CLASSES) + 0.1 / CLASSES
    return -(labels * jax.nn.log_softmax(x @ w)).sum(-1).mean()


def of_valid_labels(x, w, y):
    """Labels of 0 are ignored; a soft cap and a z-loss."""
    logits = 5.0 * jnp.tanh(x @ w / 5.0)
    z = jax.nn.logsumexp(logits, -1)
    losses = z - jnp.take_along_axis(logits, y[:, None], 1)[:, 0] + 1e-3 * z**2
    return jnp.where(y != 0, losses, 0.0).sum() / (y != 0).sum()


def in_bfloat16(x, w, y):
    logits = (x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)).astype(jnp.float32)
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1).sum()


def tied(x, w, y):
    """Of sequences, with the embedding's weights and a bias."""
    logits = jnp.einsum("td,dv->tv", x, w) + w.sum(0)
    return (jax.nn.logsumexp(logits, -1) - logits[jnp.arange(ROWS), y]).mean()


def of_batches(x, w, y):
    logits = jnp.stack([x, 2.0 * x]) @ w
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), jnp.stack([y, y])[..., None], 2).mean()


def by_optax(x, w, y):
    optax = pytest.importorskip("optax")
    return optax.softmax_cross_entropy_with_integer_labels(x @ w, y).mean()


def by_functional(**options):
    def loss(x, w, y):
        return ja.nn.functional.cross_entropy(x @ w, y, **options)

    return loss


LOSSES = {
    fn.__name__: fn
    for fn in (taken, indexed, in_bfloat16, of_valid_labels, one_hot, smoothed, tied, of_batches, by_optax)
}
FUNCTIONAL = {
    "F": {},
    "F, ignored": {"ignore_index": 3},
    "F, smoothed": {"label_smoothing": 0.1},
    "F, sum": {"reduction": "sum"},
}


def arguments():
    draw = np.random.default_rng(0)
    x, w = (draw.normal(size=shape).astype(np.float32) for shape in ((ROWS, WIDTH), (WIDTH, CLASSES)))
    return jnp.asarray(x), jnp.asarray(w), jnp.asarray(draw.integers(0, CLASSES, ROWS))


def sizes(closed):
    """Returns the sizes of the values of a graph, but for what is inside of loops."""
    return [var.aval.size for eqn in closed.jaxpr.eqns for var in eqn.outvars]


def require_blocked(closed, args):
    made = loss_blocks.loss_blocks(closed)
    check_graph(made)
    assert sum(eqn.primitive.name == "scan" for eqn in made.jaxpr.eqns) == 1
    assert max(sizes(made)) < ROWS * CLASSES
    loose = 0.02 if "bf16" in str(closed) else 1e-5
    for want, got in zip(*(jax.jit(jaxpr_as_fun(graph))(*args) for graph in (closed, made)), strict=True):
        np.testing.assert_allclose(got, want, rtol=loose, atol=loose)


@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize("name", some(LOSSES, 5))
def test_a_loss_in_blocks_is_the_loss(name, gradients, small):
    args = arguments()
    fn = jax.value_and_grad(LOSSES[name], (0, 1)) if gradients else LOSSES[name]
    require_blocked(inline(jax.make_jaxpr(fn)(*args), also_custom=True), args)


@pytest.mark.parametrize("name", some(FUNCTIONAL, 2))
def test_cross_entropy_of_tensors_in_blocks(name, small, using_machine, monkeypatch):
    """One compiled step of forward and backward: its one loop gives the loss and gradients of eager tensors."""
    using_machine(cached_bytes=0)
    written, write = [], loss_blocks.Region.written
    monkeypatch.setattr(loss_blocks.Region, "written", lambda *args: written.append(write(*args)) or written[-1])
    x, w, y = (ja.tensor(np.asarray(value)) for value in arguments())
    loss = by_functional(**FUNCTIONAL[name])

    def step(x, w, y):
        x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
        value = loss(x, w, y)
        value.backward()
        return value.detach(), x.grad, w.grad

    with ja.config(blocks=True):
        found = ja.compile(step)(x, w, y)
    for got, want in zip(found, step(x, w, y), strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5, atol=1e-5)
    assert len(written) == 1 and written[0] is not None


def test_logits_that_are_returned_are_no_gain(small):
    def fn(x, w, y):
        return taken(x, w, y), x @ w

    closed = cse(inline(jax.make_jaxpr(fn)(*arguments()), also_custom=True))
    assert loss_blocks.loss_blocks(closed) is closed


def test_few_classes_are_left_alone():
    closed = inline(jax.make_jaxpr(jax.grad(taken, (0, 1)))(*arguments()), also_custom=True)
    assert loss_blocks.loss_blocks(closed) is closed


def test_losses_are_in_blocks_if_a_setting_says_so():
    """By `ja.jit`, whose program takes less memory by far; nothing is run."""
    x, w, y = (jax.ShapeDtypeStruct(*t) for t in (((1024, 64), "float32"), ((64, 8192), "float32"), ((1024,), "int32")))
    loss = lambda x, w, y: -jax.nn.log_softmax(x @ w)[jnp.arange(1024), y].mean()
    grads = jax.value_and_grad(loss, (0, 1))
    taken_by = lambda f: f.lower(x, w, y).compile().memory_analysis().temp_size_in_bytes
    for blocks in (True, ["losses"]):
        with ja.config(blocks=blocks):
            assert "loss_blocks: " in str(ja.jit(grads).explain(x, w, y))
            assert taken_by(ja.jit(grads)) < 0.6 * 1024 * 8192 * 4
    for blocks in (False, ["attention"]):
        with ja.config(blocks=blocks):
            assert "loss_blocks: " not in str(ja.jit(grads).explain(x, w, y))
            assert taken_by(ja.jit(grads)) > 1024 * 8192 * 4
    with pytest.raises(ja.errors.UsageError, match=r"`blocks` is True, False, or which of"):
        ja.config(blocks=["rows"])
