"""Models of the literature, in flax, and small ones; for tests of profiles."""

import jax
import jax.numpy as jnp
from flax import linen, nnx


def typed(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


class Block(linen.Module):
    width: int
    n_heads: int
    is_causal: bool = False

    @linen.compact
    def __call__(self, x):
        mask = linen.make_causal_mask(x[..., 0]) if self.is_causal else None
        x = x + linen.MultiHeadDotProductAttention(self.n_heads)(linen.LayerNorm()(x), mask=mask)
        y = linen.gelu(linen.Dense(4 * self.width)(linen.LayerNorm()(x)))
        return x + linen.Dense(self.width)(y)


class ViT(linen.Module):
    """ViT-B/16 of Dosovitskiy et al., "An image is worth 16x16 words" (2021)."""

    n_layers: int = 12
    width: int = 768
    n_heads: int = 12
    patch: int = 16
    n_classes: int = 1000

    @linen.compact
    def __call__(self, x):
        x = linen.Conv(self.width, (self.patch,) * 2, (self.patch,) * 2, padding="VALID")(x)
        x = x.reshape(x.shape[0], -1, self.width)
        start = self.param("start", linen.initializers.zeros, (1, 1, self.width))
        x = jnp.concatenate([jnp.broadcast_to(start, (x.shape[0], 1, self.width)), x], 1)
        x = x + self.param("position", linen.initializers.zeros, (1, x.shape[1], self.width))
        for _ in range(self.n_layers):
            x = Block(self.width, self.n_heads)(x)
        return linen.Dense(self.n_classes)(linen.LayerNorm()(x)[:, 0])


class GPT(linen.Module):
    """GPT-2 of Radford et al., "Language models are unsupervised multitask learners" (2019)."""

    n_layers: int = 12
    width: int = 768
    n_heads: int = 12
    n_words: int = 50257
    length: int = 1024

    @linen.compact
    def __call__(self, tokens):
        words = linen.Embed(self.n_words, self.width)
        x = words(tokens) + self.param("position", linen.initializers.zeros, (self.length, self.width))
        for _ in range(self.n_layers):
            x = Block(self.width, self.n_heads, is_causal=True)(x)
        return words.attend(linen.LayerNorm()(x))


class Bottleneck(linen.Module):
    width: int
    stride: int = 1

    @linen.compact
    def __call__(self, x):
        conv = lambda width, size, stride=1: linen.Conv(width, (size, size), (stride, stride), use_bias=False)
        norm = lambda: linen.BatchNorm(use_running_average=False)
        y = linen.relu(norm()(conv(self.width, 1)(x)))
        y = linen.relu(norm()(conv(self.width, 3, self.stride)(y)))
        y = norm()(conv(4 * self.width, 1)(y))
        if y.shape != x.shape:
            x = norm()(conv(4 * self.width, 1, self.stride)(x))
        return linen.relu(x + y)


class ResNet50(linen.Module):
    """ResNet-50 of He et al., "Deep residual learning" (2016), with the stride in the 3×3 convolutions."""

    @linen.compact
    def __call__(self, x):
        x = linen.Conv(64, (7, 7), (2, 2), padding=((3, 3), (3, 3)), use_bias=False)(x)
        x = linen.relu(linen.BatchNorm(use_running_average=False)(x))
        x = linen.max_pool(x, (3, 3), (2, 2), padding=((1, 1), (1, 1)))
        for i, n in enumerate((3, 4, 6, 3)):
            for j in range(n):
                x = Bottleneck(64 * 2**i, 2 if i and not j else 1)(x)
        return linen.Dense(1000)(x.mean((1, 2)))


class Layer(nnx.Module):
    def __init__(self, width, rngs):
        self.norm = nnx.LayerNorm(width, rngs=rngs)
        self.up = nnx.Linear(width, 4 * width, rngs=rngs)
        self.down = nnx.Linear(4 * width, width, rngs=rngs)

    def __call__(self, x):
        return x + self.down(nnx.gelu(self.up(self.norm(x))))


class Stack(nnx.Module):
    def __init__(self, n_layers, width, rngs):
        self.layers = nnx.List([Layer(width, rngs) for _ in range(n_layers)])
        self.head = nnx.Linear(width, 10, rngs=rngs)

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def stack(n_layers=8, width=16):
    """Returns an nnx model of shapes alone."""
    return nnx.eval_shape(lambda: Stack(n_layers, width, nnx.Rngs(0)))


def mlp(n_layers=8, width=16):
    """Returns a function of plain arrays that repeats a block, and its parameters' types."""

    def loss(params, x, y):
        for w, b in params:
            x = jnp.tanh(x @ w + b)
        return ((x - y) ** 2).mean()

    return loss, [(typed(width, width), typed(width)) for _ in range(n_layers)]
