"""Training steps that the benchmarks share: functions of a state and some data to the state after the step and a loss.

Those of JAX are updates by SGD of the models in `models.py`, by optax's AdamW for the models of flax, of which one
takes objects, and a step of decoding. The GPT and the MLP are written once more in PyTorch's words, for PyTorch and for
tensors of jaxaot.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import models
from benchmarks.models import Model

RATE = 1e-3


@dataclasses.dataclass(frozen=True)
class Step:
    """A step that a contestant repeats.

    Attributes:
      fn: Takes the state and the data to the next state and what is reported.
      state: A tree of arrays, which may be donated.
      data: What comes after the state.
      words: The same loss in PyTorch's words: takes the namespace, a tree of tensors and the data; None if not written.
      has_objects: Whether the state is flax nnx objects, which the function takes one by one and changes.
    """

    fn: Callable[..., Any]
    state: Any
    data: tuple[Any, ...]
    words: Callable[..., Any] | None = None
    has_objects: bool = False


def descent(model: Model, words: Callable[..., Any] | None = None) -> Step:
    """Returns the step of plain gradient descent on a model."""

    def step(parameters: Any, *data: Any) -> Any:
        loss, gradients = jax.value_and_grad(model.loss)(parameters, *data)
        return jax.tree.map(lambda p, g: p - RATE * g, parameters, gradients), loss

    return Step(step, model.parameters, model.data, words)


def adam(model: Model) -> Step:
    """Returns the step of optax's AdamW on a model."""
    import optax

    optimizer = optax.adamw(RATE)

    def step(state: Any, *data: Any) -> Any:
        parameters, moments = state
        loss, gradients = jax.value_and_grad(model.loss)(parameters, *data)
        updates, moments = optimizer.update(gradients, moments, parameters)
        return (optax.apply_updates(parameters, updates), moments), loss

    return Step(step, (model.parameters, optimizer.init(model.parameters)), model.data)


def of_objects() -> Step:
    """Returns the step of optax's AdamW on a GPT in flax nnx, as its users write it."""
    import optax
    from flax import nnx

    model, loss, data = models.nnx_gpt()

    def step(model: Any, optimizer: Any, *data: Any) -> Any:
        value, gradients = nnx.value_and_grad(loss)(model, *data)
        optimizer.update(model, gradients)
        return value

    return Step(step, (model, nnx.Optimizer(model, optax.adamw(RATE), wrt=nnx.Param)), data, has_objects=True)


def in_half_precision(step: Step) -> Step:
    """Returns a step whose float arrays are bfloat16."""
    half = lambda x: x.astype(jnp.bfloat16) if jnp.issubdtype(x.dtype, jnp.floating) else x
    return dataclasses.replace(step, state=jax.tree.map(half, step.state), data=jax.tree.map(half, step.data))


def mlp() -> Step:
    """Returns the step of a small MLP on flattened images."""
    keys = jax.random.split(jax.random.key(0), 3)
    sizes = (784, 512, 512, 10)
    parameters = [
        (jax.random.normal(key, (n, m)) / np.float32(np.sqrt(n)), jnp.zeros(m))
        for key, n, m in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]
    x = jax.random.normal(jax.random.key(1), (64, 784))
    labels = jax.random.randint(jax.random.key(2), (64,), 0, 10)

    def loss(parameters: Any, x: Any, labels: Any) -> Any:
        for i, (w, b) in enumerate(parameters):
            x = x @ w + b
            x = jax.nn.relu(x) if i < len(parameters) - 1 else x
        return -jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], -1).mean()

    def words(library: Any, parameters: Any, x: Any, labels: Any) -> Any:
        functional = library.nn.functional
        for i, (w, b) in enumerate(parameters):
            x = x @ w + b
            x = functional.relu(x) if i < len(parameters) - 1 else x
        return functional.cross_entropy(x, labels)

    return descent(Model("MLP", loss, parameters, (x, labels)), words)


def gpt_words(
    n_heads: int, library: Any, parameters: Any, tokens: Any, targets: Any, *key: Any, dropout: float = 0.0
) -> Any:
    """Returns the loss of the GPT of `models.py` in PyTorch's words, which draws from a generator and needs no key."""
    del key
    functional = library.nn.functional
    drop = lambda x: functional.dropout(x, dropout) if dropout else x
    x = drop(parameters["tokens"][tokens] + parameters["positions"])
    batch, length, width = x.shape
    heads = lambda a: a.reshape(batch, length, n_heads, width // n_heads).transpose(1, 2)
    for block in parameters["blocks"]:
        scale1, shift1, scale2, shift2 = block["norms"]
        normal = functional.layer_norm(x, (width,), scale1, shift1)
        q, k, v = map(heads, (normal @ block["qkv"]).chunk(3, -1))
        mixed = functional.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
        x = x + drop(mixed.transpose(1, 2).reshape(batch, length, width) @ block["proj"])
        inner = functional.layer_norm(x, (width,), scale2, shift2) @ block["up"]
        x = x + drop(functional.gelu(inner, approximate="tanh") @ block["down"])
    logits = functional.layer_norm(x, (width,)) @ parameters["tokens"].T
    return functional.cross_entropy(logits.reshape(batch * length, -1), targets.reshape(-1))


def decode(n_layers: int = 4, width: int = 128, n_heads: int = 4, length: int = 512, batch: int = 8) -> Step:
    """Returns a step of decoding: one token for each sequence, with a cache of keys and values that it writes."""
    model = models.gpt(n_layers, width, n_heads, length, batch)
    cache = jnp.zeros((n_layers, 2, batch, n_heads, length, width // n_heads))
    state = (cache, jnp.int32(0), jnp.zeros(batch, jnp.int32))

    def step(state: Any, parameters: Any) -> Any:
        cache, position, token = state
        x = parameters["tokens"][token] + parameters["positions"][position]
        for i, block in enumerate(parameters["blocks"]):
            scale1, shift1, scale2, shift2 = block["norms"]
            qkv = models.layer_norm(x, scale1, shift1) @ block["qkv"]
            q, k, v = qkv.reshape(batch, 3, n_heads, -1).swapaxes(0, 1)
            cache = cache.at[i, 0, :, :, position].set(k).at[i, 1, :, :, position].set(v)
            scores = jnp.einsum("bhd,bhtd->bht", q, cache[i, 0]) / np.float32(np.sqrt(width // n_heads))
            scores = jnp.where(jnp.arange(length) <= position, scores, -1e9)
            mixed = jnp.einsum("bht,bhtd->bhd", jax.nn.softmax(scores, -1), cache[i, 1])
            x = x + mixed.reshape(batch, width) @ block["proj"]
            x = x + jax.nn.gelu(models.layer_norm(x, scale2, shift2) @ block["up"]) @ block["down"]
        logits = models.layer_norm(x, 1.0, 0.0) @ parameters["tokens"].T
        return (cache, (position + 1) % length, logits.argmax(-1).astype(jnp.int32)), logits.max()

    return Step(step, state, (model.parameters,))


def _real() -> Any:
    from benchmarks import real_models

    return real_models


STEPS: dict[str, Callable[[], Step]] = {
    **{f"gpt-{n}": lambda n=n: descent(models.gpt(n), functools.partial(gpt_words, 4)) for n in (2, 4, 8, 12, 16)},
    "gpt-2-1024": lambda: descent(models.gpt(2, length=1024, batch=1), functools.partial(gpt_words, 4)),
    "gpt-4-512": lambda: descent(models.gpt(4, length=512, batch=2), functools.partial(gpt_words, 4)),
    "gpt-4-1024": lambda: descent(models.gpt(4, length=1024, batch=1), functools.partial(gpt_words, 4)),
    "gpt-4-dropout": lambda: descent(models.gpt(4, dropout=0.1), functools.partial(gpt_words, 4, dropout=0.1)),
    "gpt-4-apart": lambda: descent(models.gpt(4, is_apart=True)),
    "mlp": mlp,
    "resnet": lambda: descent(models.resnet()),
    "gpt-4-linen": lambda: descent(models.linen_gpt()),
    "gpt-4-nnx": of_objects,
    "nnx": lambda: adam(models.nnx_transformer()),
    "vit": lambda: adam(models.linen_vit()),
    "scan": lambda: descent(models.gpt(4, is_scanned=True)),
    "gpt-4-bf16": lambda: in_half_precision(descent(models.gpt(4))),
    "decode": decode,
}
"""Steps by name."""

REAL: dict[str, Callable[[], Step]] = {
    "gpt2": lambda: adam(_real().gpt2()),
    "gpt2-batch-4": lambda: adam(_real().gpt2(batch=4)),
    "vit-b16": lambda: adam(_real().vit()),
    "resnet50": lambda: adam(_real().resnet50()),
    "bert": lambda: adam(_real().bert()),
    "llama": lambda: adam(_real().llama()),
}
"""Steps of models of the sizes that people train, which take gigabytes and minutes."""
