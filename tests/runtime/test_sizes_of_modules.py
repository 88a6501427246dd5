"""Models that the rules were not written for, at sizes that change: flax nnx and linen, trained, against themselves."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen, nnx

import jaxaot as ja
from tests.runtime.sized import nans, rows

__all__ = ["nans"]


class Transformer(nnx.Module):
    """A block with attention, dropout and an MLP."""

    def __init__(self, rngs):
        self.attention = nnx.MultiHeadAttention(2, 4, decode=False, dropout_rate=0.2, rngs=rngs)
        self.norm, self.dropout = nnx.LayerNorm(4, rngs=rngs), nnx.Dropout(0.3, rngs=rngs)
        self.out = nnx.Linear(4, 4, rngs=rngs)

    def __call__(self, x):
        x = x + self.attention(self.norm(x), mask=nnx.make_causal_mask(x[..., 0]), deterministic=False)
        return x + self.dropout(nnx.gelu(self.out(x)))


class Images(nnx.Module):
    """A convolution with statistics of the batch."""

    def __init__(self, rngs):
        self.conv = nnx.Conv(4, 5, (3,), use_bias=False, rngs=rngs)
        self.norm, self.out = nnx.BatchNorm(5, rngs=rngs), nnx.Linear(5, 4, rngs=rngs)

    def __call__(self, x):
        return self.out(nnx.relu(self.norm(self.conv(x))))


def recurrent(cell):
    return lambda rngs: nnx.RNN(cell(4, 4, rngs=rngs))


def train(model, x):
    """Writes the parameters and the statistics; returns the loss."""
    loss, grads = nnx.value_and_grad(lambda model: (model(x) ** 2).mean())(model)
    nnx.update(model, jax.tree.map(lambda p, g: p - 0.1 * g, nnx.state(model, nnx.Param), nnx.state(grads, nnx.Param)))
    return loss


NNX = {
    "LSTM": recurrent(nnx.LSTMCell),
    "GRU": recurrent(nnx.GRUCell),
    "transformer": Transformer,
    "images": Images,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["images", *(pytest.param(n, marks=pytest.mark.slow) for n in NNX if n != "images")])
def test_a_step_on_an_nnx_module(name, nans):
    models = [NNX[name](nnx.Rngs(0)) for _ in range(2)]
    step = ja.compile(train, dynamic={"x": 1})
    for n in (13, 15):
        x = jnp.asarray(rows(2, n, 4))
        got, right = step(models[0], x), train(models[1], x)
        np.testing.assert_allclose(got, right, 1e-4, 1e-5)
    is_key = lambda x: jnp.issubdtype(x.dtype, jax.dtypes.prng_key)
    for a, b in zip(*(jax.tree.leaves(nnx.state(m)) for m in models), strict=True):
        if not is_key(a):
            np.testing.assert_allclose(a, b, 1e-3, 1e-5)
    assert step.n_programs == 1, "\n".join(step.explain().programs)


LINEN = {
    "RNN": lambda: linen.RNN(linen.LSTMCell(4)),
    "GRU": lambda: linen.RNN(linen.GRUCell(4), reverse=True, keep_order=True),
    "attention": lambda: linen.SelfAttention(2),
    "norm": lambda: linen.GroupNorm(2),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["RNN", *(pytest.param(n, marks=pytest.mark.slow) for n in LINEN if n != "RNN")])
@pytest.mark.parametrize("how", [ja.jit, pytest.param(ja.compile, marks=pytest.mark.slow)])
def test_a_gradient_of_a_linen_module(name, how, nans):
    model = LINEN[name]()
    params = model.init(jax.random.key(0), jnp.asarray(rows(2, 13, 4)))

    def loss(params, x):
        return jax.value_and_grad(lambda p: (model.apply(p, x) ** 2).mean())(params)

    step, exact = how(loss, dynamic={"x": 1}), jax.jit(loss)
    for n in (13, 15):
        x = jnp.asarray(rows(2, n, 4))
        got, right = step(params, x), exact(params, x)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(np.asarray(a), b, 1e-4, 1e-5), got, right)
    assert step.n_programs == 1, "\n".join(step.explain().programs)
