"""The same model and step hand-written on plain `jax.jit`, as the contestant that the demo's speed is held against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._typing import Array, ArrayLike
from jaxaot.demo.model import GPT, AdamW, Shape
from jaxaot.partition.fitting import taken_bytes


def take_params(model: GPT) -> list[Any]:
    """Returns copies of the model's parameters as jax arrays, in the order of `parameters()`."""
    return [jnp.array(p.detach().numpy(), copy=True) for p in model.parameters()]


def _norm(x: Array, weight: Array, bias: Array) -> Any:
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * weight + bias


def _dropout(x: Array, rate: float, key: Array | None) -> Any:
    if key is None or rate == 0:
        return x
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)


def loss_fn(params: Sequence[Any], codes: Array, targets: Array, key: Array, shape: Shape) -> Any:
    """Returns the mean cross entropy; `key` None turns dropout off."""
    left = iter(params)
    take = lambda n: [next(left) for _ in range(n)]
    embedding, positions = take(2)
    batch, length = codes.shape
    x = embedding[codes] + positions[:length]
    mask = jnp.tril(jnp.ones((length, length), bool))
    keys = iter([None] * 2 * shape.n_layers if key is None else jax.random.split(key, 2 * shape.n_layers))
    for _ in range(shape.n_layers):
        w1, b1, qkv_w, qkv_b, out_w, out_b, w2, b2, up_w, up_b, down_w, down_b = take(12)
        h = _norm(x, w1, b1) @ qkv_w + qkv_b
        q, k, v = h.reshape(batch, length, 3, shape.n_heads, -1).transpose(2, 0, 3, 1, 4)
        scores = q @ k.swapaxes(-1, -2) / jnp.sqrt(q.shape[-1])
        weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), -1)
        y = (weights @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = x + _dropout(y @ out_w + out_b, shape.dropout, next(keys))
        h = jax.nn.gelu(_norm(x, w2, b2) @ up_w + up_b, approximate=True)
        x = x + _dropout(h @ down_w + down_b, shape.dropout, next(keys))
    logits = _norm(x, *take(2)) @ embedding.T
    logs = jax.nn.log_softmax(logits, -1)
    return -jnp.take_along_axis(logs, targets[..., None], -1).mean()


def make_step(shape: Shape, optimizer: AdamW) -> Any:
    """Returns `step(params, means, squares, n, codes, targets, key, rate)`, jitted and donated."""
    (beta1, beta2), decay = optimizer.betas, optimizer.weight_decay

    def step(
        params: Any, means: Any, squares: Any, n: Any, codes: ArrayLike, targets: ArrayLike, key: Array, rate: Any
    ) -> Any:
        loss, grads = jax.value_and_grad(loss_fn)(params, codes, targets, key, shape)
        norm = jnp.sqrt(sum((g * g).sum() for g in grads))
        scale = jnp.minimum(1.0 / (norm + 1e-6), 1.0)
        grads = [g * scale for g in grads]
        n = n + 1
        means = [beta1 * m + (1 - beta1) * g for m, g in zip(means, grads, strict=True)]
        squares = [beta2 * s + (1 - beta2) * g * g for s, g in zip(squares, grads, strict=True)]
        correction = jnp.sqrt(1 - beta2**n) / (1 - beta1**n)
        params = [
            p * (1 - rate * decay) - m / (jnp.sqrt(s) + 1e-8) * (correction * rate)
            for p, m, s in zip(params, means, squares, strict=True)
        ]
        return params, means, squares, n, loss

    return jax.jit(step, donate_argnums=(0, 1, 2, 3))


class PlainTrainer:
    """Holds the state of the plain contestant.

    Attributes:
      state: Parameters, both moments and the step count.
    """

    def __init__(self, model: GPT, optimizer: AdamW, seed: int):
        params = take_params(model)
        self.state = (
            params, [jnp.zeros_like(p) for p in params], [jnp.zeros_like(p) for p in params], jnp.zeros(()),
        )  # fmt: skip
        self._step = make_step(model.shape, optimizer)
        self._compiled: Any = None
        self._key = jax.random.key(seed)
        self._n = 0

    def step(self, codes: ArrayLike, targets: ArrayLike, rate: float) -> Any:
        """Carries out one training step and returns the loss."""
        self._n += 1
        args = (*self.state, codes, targets, jax.random.fold_in(self._key, self._n), rate)
        self._compiled = self._compiled or self._step.lower(*args).compile()
        *state, loss = self._compiled(*args)
        self.state = tuple(state)
        return loss

    def taken_bytes(self) -> int | None:
        """Returns what a step takes, by XLA; None if it does not say."""
        return taken_bytes(self._compiled.memory_analysis())
