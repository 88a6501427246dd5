"""Small models in inference: what each is, its example arguments, and how it is called."""

import flax.linen as linen
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

import jaxaot as ja
from jaxaot import nn


def mlp():
    return nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 3)), (
        ja.randn(4, 12),
    )


def convolutions():
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(),
        nn.Conv2d(8, 6, 3, padding=1), nn.BatchNorm2d(6), nn.Flatten(), nn.Linear(6 * 4, 5), nn.BatchNorm1d(5),
    )  # fmt: skip
    for norm in (model[1], model[4], model[7]):
        n = norm.num_features
        norm.running_mean = ja.tensor(np.linspace(-1, 1, n, dtype=np.float32))
        norm.running_var = ja.tensor(np.linspace(0.5, 2, n, dtype=np.float32))
    return model.eval(), (ja.randn(2, 3, 4, 4),)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(16, 16) for _ in range(4))
        self.norm = nn.LayerNorm(16)

    def forward(self, x):
        x = self.norm(x)
        split = lambda y: y.reshape(*y.shape[:2], 4, 4).transpose(1, 2)
        y = nn.functional.scaled_dot_product_attention(*map(split, (self.q(x), self.k(x), self.v(x))))
        return self.out(y.transpose(1, 2).reshape(*x.shape))


def attention():
    return Attention(), (ja.randn(2, 5, 16),)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 16)
        self.inner = nn.Linear(16, 16)

    def forward(self, ids):
        return nn.functional.gelu(self.inner(self.embed(ids))) @ self.embed.weight.T


def tied():
    return Tied(), (ja.tensor([[1, 2, 3], [4, 5, 10]]),)


class WeightNormed(nn.Module):
    def __init__(self):
        super().__init__()
        self.v, self.g = nn.Parameter(ja.randn(9, 12)), nn.Parameter(ja.rand(9, 1))

    def forward(self, x):
        return x @ (self.g * self.v / self.v.norm(dim=1, keepdim=True)).T


def weight_normed():
    return WeightNormed(), (ja.randn(4, 12),)


class Quantized(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", (ja.randn(24, 12) * 40).round().clamp(-127, 127).to(ja.int8))
        self.register_buffer("scale", ja.rand(24, 1) / 40)

    def forward(self, x):
        return x @ (self.weight.to(ja.float32) * self.scale).T


def quantized():
    return Quantized(), (ja.randn(4, 12),)


def recurrent():
    return nn.LSTM(6, 8, batch_first=True), (ja.randn(2, 5, 6),)


def transformer():
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    return layer.eval(), (ja.randn(2, 5, 16),)


class NnxBlock(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(3, 8, (3, 3), rngs=rngs)
        self.norm = nnx.BatchNorm(8, use_running_average=True, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, 8, rngs=rngs, decode=False)
        self.head = nnx.Linear(8, 4, rngs=rngs)

    def __call__(self, x):
        x = nnx.relu(self.norm(self.conv(x))).reshape(x.shape[0], -1, 8)
        return self.head(self.attention(x, deterministic=True))


def of_nnx():
    model = NnxBlock(nnx.Rngs(0))
    model.norm.mean[...] = jnp.linspace(-1, 1, 8)
    model.norm.var[...] = jnp.linspace(0.5, 2, 8)
    return model, (jax.random.normal(jax.random.key(0), (2, 4, 4, 3)),)


class LinenBlock(linen.Module):
    @linen.compact
    def __call__(self, x):
        x = linen.relu(linen.BatchNorm(use_running_average=True)(linen.Conv(8, (3, 3))(x)))
        x = linen.MultiHeadDotProductAttention(2)(x.reshape(x.shape[0], -1, 8))
        return linen.Dense(4)(x)


def of_linen():
    x = jax.random.normal(jax.random.key(0), (2, 4, 4, 3))
    model = LinenBlock()
    variables = model.init(jax.random.key(1), x)
    return (lambda x: model.apply(variables, x)), (x,)


def scanned():
    weights = jnp.stack([jnp.eye(6) * 0.5 + i / 10 for i in range(3)])
    scale = jnp.linspace(1, 2, 6)

    def fn(x):
        return jax.lax.scan(lambda c, w: (jnp.tanh(c @ w * scale.astype(jnp.float32)), None), x, weights.mT)[0]

    return fn, (jnp.ones((2, 6)),)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.bias = nn.RMSNorm(12), nn.Parameter(ja.randn(20))
        self.gate, self.up, self.down = nn.Linear(12, 20, bias=False), nn.Linear(12, 20), nn.Linear(20, 12)

    def forward(self, x):
        y = self.norm(x)
        return x + self.down(nn.functional.silu(self.gate(y) + self.bias) * self.up(y))


def gated():
    return nn.Sequential(Gated(), Gated()), (ja.randn(3, 12),)


MODELS = [
    mlp, gated, convolutions, attention, tied, weight_normed, quantized, recurrent, transformer, of_nnx, of_linen,
    scanned,
]  # fmt: skip
