"""Models of the sizes that people train, in flax linen: a GPT-2, a BERT, a ViT, a ResNet-50 and a Llama.

Each has the shape of the published one; parameters are random. The losses are those of `models.py`: cross entropies.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen

from benchmarks.models import Model


def cross_entropy(logits: Any, labels: Any) -> Any:
    """Returns the mean cross entropy over the last axis, in float32."""
    logits = jax.nn.log_softmax(logits.astype(jnp.float32))
    return -jnp.take_along_axis(logits, labels[..., None], -1).mean()


def _model(name: str, module: linen.Module, inputs: Any, labels: Any) -> Model:
    variables = jax.jit(module.init)(jax.random.key(0), inputs)
    parameters = variables["params"]
    state = {key: value for key, value in variables.items() if key != "params"}

    def loss(parameters: Any, inputs: Any, labels: Any) -> Any:
        if not state:
            return cross_entropy(module.apply({"params": parameters}, inputs), labels)
        logits, _ = module.apply({"params": parameters, **state}, inputs, mutable=list(state))
        return cross_entropy(logits, labels)

    return Model(name, loss, parameters, (inputs, labels))


def _integers(seed: int, *shape: int, below: int) -> jax.Array:
    return jax.random.randint(jax.random.key(seed), shape, 0, below)


class _Block(linen.Module):
    """A block of a transformer, normalized before each half (GPT-2, ViT) or after it (BERT)."""

    n_heads: int
    is_after: bool = False

    @linen.compact
    def __call__(self, x: Any, mask: Any = None) -> Any:
        width = x.shape[-1]
        first, second = linen.LayerNorm(), linen.LayerNorm()
        attention = linen.MultiHeadDotProductAttention(num_heads=self.n_heads)
        up, down = linen.Dense(4 * width), linen.Dense(width)
        if self.is_after:
            x = first(x + attention(x, mask=mask))
            return second(x + down(linen.gelu(up(x))))
        x = x + attention(first(x), mask=mask)
        return x + down(linen.gelu(up(second(x))))


class _Text(linen.Module):
    """GPT-2, or BERT with its head over words, whose weights are those of the embedding."""

    n_layers: int
    width: int
    n_heads: int
    vocabulary: int
    is_causal: bool

    @linen.compact
    def __call__(self, tokens: Any) -> Any:
        embed = linen.Embed(self.vocabulary, self.width)
        positions = self.param("positions", linen.initializers.normal(0.02), (tokens.shape[1], self.width))
        x = embed(tokens) + positions
        x = x if self.is_causal else linen.LayerNorm()(x)
        mask = linen.make_causal_mask(tokens) if self.is_causal else None
        for _ in range(self.n_layers):
            x = _Block(self.n_heads, not self.is_causal)(x, mask)
        x = linen.LayerNorm()(x if self.is_causal else linen.gelu(linen.Dense(self.width)(x)))
        return embed.attend(x)


def gpt2(batch: int = 1, length: int = 256) -> Model:
    """Returns GPT-2 with 124M parameters."""
    tokens, targets = _integers(1, 2, batch, length, below=50_257)
    return _model(f"GPT-2 124M, batch {batch}", _Text(12, 768, 12, 50_257, True), tokens, targets)


def bert(batch: int = 4, length: int = 128) -> Model:
    """Returns BERT-base with its head over words: 109M parameters."""
    tokens, targets = _integers(1, 2, batch, length, below=30_522)
    return _model(f"BERT-base, batch {batch}", _Text(12, 768, 12, 30_522, False), tokens, targets)


class _ViT(linen.Module):
    @linen.compact
    def __call__(self, images: Any) -> Any:
        x = linen.Conv(768, (16, 16), (16, 16))(images)
        x = x.reshape(x.shape[0], -1, 768)
        first = self.param("class", linen.initializers.zeros, (1, 1, 768))
        x = jnp.concatenate([jnp.broadcast_to(first, (x.shape[0], 1, 768)), x], 1)
        x = x + self.param("positions", linen.initializers.normal(0.02), (1, x.shape[1], 768))
        for _ in range(12):
            x = _Block(12)(x)
        return linen.Dense(1000)(linen.LayerNorm()(x)[:, 0])


def _images(batch: int) -> tuple[jax.Array, jax.Array]:
    return jax.random.normal(jax.random.key(1), (batch, 224, 224, 3)), _integers(2, batch, below=1000)


def vit(batch: int = 2) -> Model:
    """Returns ViT-B/16 on images of 224 by 224: 86M parameters."""
    return _model(f"ViT-B/16, batch {batch}", _ViT(), *_images(batch))


class _Bottleneck(linen.Module):
    width: int
    stride: int

    @linen.compact
    def __call__(self, x: Any) -> Any:
        def convolve(x: Any, width: int, window: int, stride: int = 1) -> Any:
            x = linen.Conv(width, (window, window), (stride, stride), use_bias=False)(x)
            return linen.BatchNorm(use_running_average=False)(x)

        y = linen.relu(convolve(x, self.width, 1))
        y = linen.relu(convolve(y, self.width, 3, self.stride))
        y = convolve(y, 4 * self.width, 1)
        if x.shape != y.shape:
            x = convolve(x, 4 * self.width, 1, self.stride)
        return linen.relu(x + y)


class _ResNet(linen.Module):
    @linen.compact
    def __call__(self, images: Any) -> Any:
        x = linen.Conv(64, (7, 7), (2, 2), use_bias=False)(images)
        x = linen.relu(linen.BatchNorm(use_running_average=False)(x))
        x = linen.max_pool(x, (3, 3), (2, 2), "SAME")
        for i, n_blocks in enumerate((3, 4, 6, 3)):
            for j in range(n_blocks):
                x = _Bottleneck(64 * 2**i, 2 if i and not j else 1)(x)
        return linen.Dense(1000)(x.mean((1, 2)))


def resnet50(batch: int = 4) -> Model:
    """Returns ResNet-50 on images of 224 by 224: 26M parameters."""
    return _model(f"ResNet-50, batch {batch}", _ResNet(), *_images(batch))


class _Llama(linen.Module):
    """Rotary positions, grouped keys and values, a gated MLP, and products in bfloat16 of float32 parameters."""

    n_layers: int = 12
    width: int = 768
    n_heads: int = 12
    n_groups: int = 4
    inner: int = 2048
    vocabulary: int = 32_000

    @linen.compact
    def __call__(self, tokens: Any) -> Any:
        half = jnp.bfloat16
        size = self.width // self.n_heads
        dense = lambda n: linen.Dense(n, use_bias=False, dtype=half)
        norm = lambda x: linen.RMSNorm(dtype=half)(x)
        batch, length = tokens.shape
        angles = np.arange(length)[:, None] / 10_000 ** (np.arange(0, size, 2) / size)
        cos, sin = (jnp.asarray(f(angles), half)[:, None] for f in (np.cos, np.sin))

        def turn(x: Any) -> Any:
            a, b = jnp.split(x, 2, -1)
            return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)

        x = linen.Embed(self.vocabulary, self.width, dtype=half)(tokens)
        for _ in range(self.n_layers):
            y = norm(x)
            q = turn(dense(self.width)(y).reshape(batch, length, self.n_heads, size))
            k = turn(dense(self.n_groups * size)(y).reshape(batch, length, self.n_groups, size))
            v = dense(self.n_groups * size)(y).reshape(batch, length, self.n_groups, size)
            mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True)
            x = x + dense(self.width)(mixed.reshape(batch, length, self.width))
            y = norm(x)
            x = x + dense(self.width)(linen.silu(dense(self.inner)(y)) * dense(self.inner)(y))
        return dense(self.vocabulary)(norm(x))


def llama(batch: int = 1, length: int = 256) -> Model:
    """Returns a Llama with 125M parameters."""
    tokens, targets = _integers(1, 2, batch, length, below=32_000)
    return _model(f"Llama, bfloat16, batch {batch}", _Llama(), tokens, targets)
