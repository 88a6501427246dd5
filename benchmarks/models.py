"""Models that the benchmarks share, each as a loss of its parameters and some data.

A GPT in plain jnp, unrolled and as a scan over its layers; a ResNet with batch norm; a transformer in flax nnx and a
vision transformer in flax linen, taken as these libraries write them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Model:
    """A loss and what it takes.

    Attributes:
      name: What it goes by.
      loss: Takes parameters and data to a scalar.
      parameters: A tree of arrays.
      data: What comes after the parameters.
    """

    name: str
    loss: Callable[..., Any]
    parameters: Any
    data: tuple[Any, ...]


def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
    """Returns the last axis with mean 0 and variance 1, scaled and shifted."""
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift


def attend(
    x: Any, block: dict[str, Any], n_heads: int, is_causal: bool = True, drop: Callable[[Any], Any] = lambda x: x
) -> Any:
    """Returns what a block of a transformer makes of its input.

    Args:
      x: The input: sequences, positions, features.
      block: The parameters.
      n_heads: Heads of the attention.
      is_causal: Whether positions see only those before them.
      drop: What is done to the weights of the attention, and to what both halves of the block add.
    """
    batch, length, width = x.shape
    heads = lambda a: a.reshape(batch, length, n_heads, width // n_heads).transpose(0, 2, 1, 3)
    scale1, shift1, scale2, shift2 = block["norms"]
    normal, qkv = layer_norm(x, scale1, shift1), block["qkv"]
    q, k, v = map(heads, [normal @ w for w in qkv] if isinstance(qkv, list) else jnp.split(normal @ qkv, 3, -1))
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.float32(np.sqrt(width // n_heads))
    if is_causal:
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", drop(jax.nn.softmax(scores, -1)), v)
    x = x + drop(mixed.transpose(0, 2, 1, 3).reshape(batch, length, width) @ block["proj"])
    return x + drop(jax.nn.gelu(layer_norm(x, scale2, shift2) @ block["up"]) @ block["down"])


def _block(normal: Callable[..., Any], width: int, is_apart: bool) -> dict[str, Any]:
    qkv = normal(width, 3 * width)
    return {
        "qkv": jnp.split(qkv, 3, -1) if is_apart else qkv,
        "proj": normal(width, width),
        "up": normal(width, 4 * width),
        "down": normal(4 * width, width),
        "norms": (jnp.ones(width), jnp.zeros(width), jnp.ones(width), jnp.zeros(width)),
    }


def gpt(
    n_layers: int = 4,
    width: int = 128,
    n_heads: int = 4,
    length: int = 128,
    batch: int = 8,
    vocabulary: int = 256,
    *,
    is_scanned: bool = False,
    wrap: Callable[..., Any] = lambda block: block,
    dropout: float = 0.0,
    is_apart: bool = False,
) -> Model:
    """Returns a GPT.

    Args:
      n_layers: How many blocks there are.
      width: Features of each position.
      n_heads: Heads of each attention.
      length: Positions.
      batch: Sequences.
      vocabulary: Tokens.
      is_scanned: Whether the blocks are one `scan`.
      wrap: What is done to each block, such as `jax.checkpoint`.
      dropout: What part of embeddings, attentions and results of blocks is dropped, as in GPT-2; not in a scan. The
        data end with a key then.
      is_apart: Whether queries, keys and values have a matrix each, and not one for all.
    """
    keys = iter(jax.random.split(jax.random.key(0), 4 * n_layers + 2))
    normal = lambda *shape: jax.random.normal(next(keys), shape) * 0.02
    blocks: Any = [_block(normal, width, is_apart) for _ in range(n_layers)]
    if is_scanned:
        blocks = jax.tree.map(lambda *leaves: jnp.stack(leaves), *blocks)
    parameters = {"tokens": normal(vocabulary, width), "positions": normal(length, width), "blocks": blocks}
    tokens = jax.random.randint(jax.random.key(1), (batch, length), 0, vocabulary)
    targets = jax.random.randint(jax.random.key(2), (batch, length), 0, vocabulary)

    def loss(parameters: dict[str, Any], tokens: Any, targets: Any, *key: Any) -> Any:
        draws = iter(jax.random.split(key[0], 3 * n_layers + 1)) if dropout else None

        def drop(x: Any) -> Any:
            if draws is None:
                return x
            return jnp.where(jax.random.bernoulli(next(draws), 1 - dropout, x.shape), x / (1 - dropout), 0.0)

        run_block = wrap(lambda x, block: attend(x, block, n_heads, drop=drop))
        x = drop(parameters["tokens"][tokens] + parameters["positions"])
        if is_scanned:
            x, _ = jax.lax.scan(lambda x, block: (run_block(x, block), None), x, parameters["blocks"])
        else:
            for block in parameters["blocks"]:
                x = run_block(x, block)
        logits = jax.nn.log_softmax(layer_norm(x, 1.0, 0.0) @ parameters["tokens"].T)
        return -jnp.take_along_axis(logits, targets[..., None], -1).mean()

    kind = "GPT as a scan" if is_scanned else "GPT"
    name = f"{kind}, {n_layers} layers" + (f", {length:,} positions" if length != 128 else "")
    name += ", queries, keys and values apart" if is_apart else ""
    if not dropout:
        return Model(name, loss, parameters, (tokens, targets))
    return Model(f"{name}, dropout", loss, parameters, (tokens, targets, jax.random.key_data(jax.random.key(3))))


def resnet(n_blocks: int = 4, width: int = 32, size: int = 32, batch: int = 16) -> Model:
    """Returns a residual network with batch norm (statistics of the batch), on images of `size` by `size`."""
    keys = iter(jax.random.split(jax.random.key(0), 2 * n_blocks + 2))
    kernel = lambda *shape: jax.random.normal(next(keys), shape) * np.float32(np.sqrt(2 / np.prod(shape[:-1])))
    norm = lambda: (jnp.ones(width), jnp.zeros(width))
    parameters = {
        "stem": kernel(3, 3, 3, width),
        "blocks": [
            {"conv1": kernel(3, 3, width, width), "norm1": norm(), "conv2": kernel(3, 3, width, width), "norm2": norm()}
            for _ in range(n_blocks)
        ],
        "head": kernel(width, 10),
    }
    images = jax.random.normal(jax.random.key(1), (batch, size, size, 3))
    labels = jax.random.randint(jax.random.key(2), (batch,), 0, 10)

    def convolve(x: Any, kernel: Any) -> Any:
        return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def normalise(x: Any, scale: Any, shift: Any) -> Any:
        mean = x.mean((0, 1, 2))
        variance = ((x - mean) ** 2).mean((0, 1, 2))
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift

    def loss(parameters: dict[str, Any], images: Any, labels: Any) -> Any:
        x = convolve(images, parameters["stem"])
        for block in parameters["blocks"]:
            y = jax.nn.relu(normalise(convolve(x, block["conv1"]), *block["norm1"]))
            x = jax.nn.relu(x + normalise(convolve(y, block["conv2"]), *block["norm2"]))
        logits = jax.nn.log_softmax(x.mean((1, 2)) @ parameters["head"])
        return -jnp.take_along_axis(logits, labels[:, None], -1).mean()

    return Model(f"ResNet with batch norm, {n_blocks} blocks", loss, parameters, (images, labels))


def nnx_transformer(
    n_layers: int = 4,
    width: int = 128,
    length: int = 64,
    batch: int = 8,
    wrap: Callable[..., Any] = lambda block: block,
) -> Model:
    """Returns a transformer in flax nnx, each block `wrap`ped; its parameters are the state of the module."""
    from flax import nnx

    class Block(nnx.Module):
        def __init__(self, rngs: nnx.Rngs):
            self.norm1, self.norm2 = nnx.LayerNorm(width, rngs=rngs), nnx.LayerNorm(width, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(4, width, decode=False, rngs=rngs)
            self.up, self.down = nnx.Linear(width, 4 * width, rngs=rngs), nnx.Linear(4 * width, width, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            x = x + self.attention(self.norm1(x))
            return x + self.down(nnx.gelu(self.up(self.norm2(x))))

    class Transformer(nnx.Module):
        def __init__(self, rngs: nnx.Rngs):
            self.blocks = nnx.List([Block(rngs) for _ in range(n_layers)])
            self.head = nnx.Linear(width, 10, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            for block in self.blocks:
                x = wrap(block)(x)
            return self.head(x.mean(1))

    graph, parameters = nnx.split(Transformer(nnx.Rngs(0)))
    x = jax.random.normal(jax.random.key(1), (batch, length, width))
    labels = jax.random.randint(jax.random.key(2), (batch,), 0, 10)

    def loss(parameters: Any, x: Any, labels: Any) -> Any:
        logits = jax.nn.log_softmax(nnx.merge(graph, parameters)(x))
        return -jnp.take_along_axis(logits, labels[:, None], -1).mean()

    return Model(f"flax nnx transformer, {n_layers} layers", loss, parameters, (x, labels))


def nnx_gpt(n_layers: int = 4, width: int = 128, n_heads: int = 4, length: int = 128, batch: int = 8) -> Any:
    """Returns a GPT as a module of flax nnx, the function that takes it and data to a loss, and the data."""
    from flax import nnx

    vocabulary = 256

    class Block(nnx.Module):
        def __init__(self, rngs: nnx.Rngs):
            self.norm1, self.norm2 = nnx.LayerNorm(width, rngs=rngs), nnx.LayerNorm(width, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(n_heads, width, use_bias=False, decode=False, rngs=rngs)
            self.up = nnx.Linear(width, 4 * width, use_bias=False, rngs=rngs)
            self.down = nnx.Linear(4 * width, width, use_bias=False, rngs=rngs)

        def __call__(self, x: Any, mask: Any) -> Any:
            x = x + self.attention(self.norm1(x), mask=mask)
            return x + self.down(nnx.gelu(self.up(self.norm2(x))))

    class GPT(nnx.Module):
        def __init__(self, rngs: nnx.Rngs):
            self.tokens = nnx.Embed(vocabulary, width, rngs=rngs)
            self.positions = nnx.Param(0.02 * rngs.params.normal((length, width)))
            self.blocks = nnx.List([Block(rngs) for _ in range(n_layers)])
            self.norm = nnx.LayerNorm(width, rngs=rngs)

        def __call__(self, tokens: Any) -> Any:
            x = self.tokens(tokens) + self.positions[...]
            mask = nnx.make_causal_mask(tokens)
            for block in self.blocks:
                x = block(x, mask)
            return self.tokens.attend(self.norm(x))

    def loss(model: Any, tokens: Any, targets: Any) -> Any:
        logits = jax.nn.log_softmax(model(tokens))
        return -jnp.take_along_axis(logits, targets[..., None], -1).mean()

    data = jax.random.randint(jax.random.key(3), (2, batch, length), 0, vocabulary)
    return GPT(nnx.Rngs(0)), loss, tuple(data)


def linen_gpt(
    n_layers: int = 4,
    width: int = 128,
    n_heads: int = 4,
    length: int = 128,
    batch: int = 8,
    wrap: Callable[..., Any] = lambda block: block,
) -> Model:
    """Returns a GPT in flax linen, the class of whose blocks is `wrap`ped."""
    from flax import linen

    vocabulary = 256

    class Block(linen.Module):
        @linen.compact
        def __call__(self, x: Any, mask: Any) -> Any:
            attention = linen.MultiHeadDotProductAttention(num_heads=n_heads, use_bias=False)
            x = x + attention(linen.LayerNorm()(x), mask=mask)
            y = linen.Dense(4 * width, use_bias=False)(linen.LayerNorm()(x))
            return x + linen.Dense(width, use_bias=False)(linen.gelu(y))

    class GPT(linen.Module):
        @linen.compact
        def __call__(self, tokens: Any) -> Any:
            embed = linen.Embed(vocabulary, width)
            x = embed(tokens) + self.param("positions", linen.initializers.normal(0.02), (length, width))
            mask = linen.make_causal_mask(tokens)
            for i in range(n_layers):
                x = wrap(Block)(name=f"block{i}")(x, mask)
            return embed.attend(linen.LayerNorm()(x))

    model = GPT()
    tokens, targets = jax.random.randint(jax.random.key(3), (2, batch, length), 0, vocabulary)
    parameters = model.init(jax.random.key(0), tokens)

    def loss(parameters: Any, tokens: Any, targets: Any) -> Any:
        logits = jax.nn.log_softmax(model.apply(parameters, tokens))
        return -jnp.take_along_axis(logits, targets[..., None], -1).mean()

    return Model(f"flax linen GPT, {n_layers} layers", loss, parameters, (tokens, targets))


def linen_vit(n_layers: int = 4, width: int = 128, size: int = 32, patch: int = 4, batch: int = 8) -> Model:
    """Returns a vision transformer in flax linen."""
    from flax import linen

    class Encoder(linen.Module):
        @linen.compact
        def __call__(self, x: Any) -> Any:
            x = x + linen.MultiHeadDotProductAttention(num_heads=4)(linen.LayerNorm()(x))
            y = linen.Dense(4 * width)(linen.LayerNorm()(x))
            return x + linen.Dense(width)(linen.gelu(y))

    class ViT(linen.Module):
        @linen.compact
        def __call__(self, images: Any) -> Any:
            x = linen.Conv(width, (patch, patch), (patch, patch))(images)
            x = x.reshape(x.shape[0], -1, width)
            x = x + self.param("positions", linen.initializers.normal(0.02), (1, x.shape[1], width))
            for _ in range(n_layers):
                x = Encoder()(x)
            return linen.Dense(10)(linen.LayerNorm()(x).mean(1))

    model = ViT()
    images = jax.random.normal(jax.random.key(1), (batch, size, size, 3))
    labels = jax.random.randint(jax.random.key(2), (batch,), 0, 10)
    parameters = model.init(jax.random.key(0), images)

    def loss(parameters: Any, images: Any, labels: Any) -> Any:
        logits = jax.nn.log_softmax(model.apply(parameters, images))
        return -jnp.take_along_axis(logits, labels[:, None], -1).mean()

    return Model(f"flax linen ViT, {n_layers} layers", loss, parameters, (images, labels))
