"""A GPT of flax nnx trained with optax, within a memory budget: `ja.jit` around `ja.remat`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

import jaxaot as ja

TEXT = " ".join(f"{n} and {m} make {n + m}." for n in range(20) for m in range(20))
LETTERS = sorted(set(TEXT))


class Block(nnx.Module):
    """Attention, then a layer of its own for each place."""

    def __init__(self, width: int, n_heads: int, rngs: nnx.Rngs) -> None:
        self.before = nnx.LayerNorm(width, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(n_heads, width, decode=False, rngs=rngs)
        self.between = nnx.LayerNorm(width, rngs=rngs)
        self.up = nnx.Linear(width, 4 * width, rngs=rngs)
        self.down = nnx.Linear(4 * width, width, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        mask = nnx.make_causal_mask(x[..., 0])
        x = x + self.attention(self.before(x), mask=mask)
        return x + self.down(nnx.gelu(self.up(self.between(x))))


class GPT(nnx.Module):
    """Characters to logits of those that follow."""

    def __init__(self, n_layers: int, width: int, length: int, rngs: nnx.Rngs) -> None:
        self.letters = nnx.Embed(len(LETTERS), width, rngs=rngs)
        self.places = nnx.Embed(length, width, rngs=rngs)
        self.blocks = nnx.List([Block(width, 4, rngs) for _ in range(n_layers)])
        self.last = nnx.LayerNorm(width, rngs=rngs)

    def __call__(self, letters: jax.Array) -> jax.Array:
        x = self.letters(letters) + self.places(jnp.arange(letters.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.letters.attend(self.last(x))


def loss_of(model: GPT, letters: jax.Array) -> jax.Array:
    """Returns the mean cross entropy of each next character, in nats."""
    logits = model(letters[:, :-1])
    return optax.softmax_cross_entropy_with_integer_labels(logits, letters[:, 1:]).mean()


def main(
    n_steps: int = 60, n_layers: int = 2, width: int = 48, length: int = 32, memory_budget: float | str = 0.25
) -> tuple[list[float], int, int]:
    """Trains, and returns the losses, the bytes that are kept for the backward, and what they are without a budget."""
    model = GPT(n_layers, width, length, nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adamw(3e-3), wrt=nnx.Param)
    lean = ja.remat(loss_of, memory_budget=memory_budget)

    @ja.jit
    def step(model: GPT, optimizer: nnx.Optimizer, letters: jax.Array) -> jax.Array:
        loss, gradients = nnx.value_and_grad(lean)(model, letters)
        optimizer.update(model, gradients)
        return loss

    numbers = np.array([LETTERS.index(letter) for letter in TEXT], np.int32)
    rng, losses = np.random.default_rng(0), []
    for n in range(n_steps):
        starts = rng.integers(0, len(numbers) - length - 1, 16)
        losses.append(float(step(model, optimizer, np.stack([numbers[s : s + length + 1] for s in starts]))))
        if n % 20 == 0:
            print(f"step {n}: {losses[-1]:.3f} nats for a character")
    plan = lean.partition(model, jnp.zeros((16, length + 1), jnp.int32)).plan
    print(f"kept for the backward: {plan.saved_bytes:,} bytes of {plan.save_all_bytes:,}")
    return losses, plan.saved_bytes, plan.save_all_bytes


if __name__ == "__main__":
    main()
