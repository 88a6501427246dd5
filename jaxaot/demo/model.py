"""A character-level GPT and AdamW as a PyTorch user writes them: objects that hold tensors, and writes in place."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from jaxaot.facade.members.foreach import FOREACH
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional as F
from jaxaot.nn.modules.containers import ModuleList
from jaxaot.nn.modules.module import Module
from jaxaot.nn.modules.norms import LayerNorm
from jaxaot.nn.parameter import Parameter
from jaxaot.tape.modes import no_grad

zeros, randn = FUNCTIONS[""]["zeros"], FUNCTIONS[""]["randn"]
zeros_like, arange = FUNCTIONS[""]["zeros_like"], FUNCTIONS[""]["arange"]


@dataclasses.dataclass(frozen=True)
class Shape:
    """Sizes of the model: about a million parameters by default."""

    n_characters: int = 128
    n_layers: int = 4
    n_heads: int = 4
    width: int = 144
    context: int = 128
    dropout: float = 0.1


class Linear(Module):
    """x W + b."""

    def __init__(self, n_in: int, n_out: int, scale: float = 1.0):
        super().__init__()
        self.weight = Parameter(randn(n_in, n_out) * (scale / math.sqrt(n_in)))
        self.bias = Parameter(zeros(n_out))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight + self.bias


class Attention(Module):
    """Causal self-attention."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.n_heads = shape.n_heads
        self.dropout = shape.dropout
        self.qkv = Linear(shape.width, 3 * shape.width)
        self.out = Linear(shape.width, shape.width, 1 / math.sqrt(2 * shape.n_layers))

    def heads(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Returns queries, keys and values, each (batch, heads, length, width / heads)."""
        batch, length, width = x.shape
        qkv = self.qkv(x).view(batch, length, 3, self.n_heads, width // self.n_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        return q, k, v

    def forward(self, x: Tensor, training: bool) -> Tensor:
        q, k, v = self.heads(x)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = self.out(y.transpose(1, 2).reshape(*x.shape))
        return F.dropout(y, self.dropout, training)

    def decode(self, x: Tensor, keys: Tensor, values: Tensor, place: Tensor) -> Tensor:
        """Attends from one new place to all before it; its key and value are written into the cache in place."""
        q, k, v = self.heads(x)
        keys[:, :, place] = k
        values[:, :, place] = v
        seen = arange(keys.shape[2]) <= place
        y = F.scaled_dot_product_attention(q, keys, values, attn_mask=seen.view(1, 1, 1, -1))
        return self.out(y.transpose(1, 2).reshape(*x.shape))


class Block(Module):
    """Attention and a two-layer perceptron, each added to its input."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.norm1 = LayerNorm(shape.width)
        self.attention = Attention(shape)
        self.norm2 = LayerNorm(shape.width)
        self.up = Linear(shape.width, 4 * shape.width)
        self.down = Linear(4 * shape.width, shape.width, 1 / math.sqrt(2 * shape.n_layers))
        self.dropout = shape.dropout

    def mlp(self, x: Tensor, training: bool) -> Tensor:
        y = self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))
        return F.dropout(y, self.dropout, training)

    def forward(self, x: Tensor, training: bool) -> Tensor:
        x = x + self.attention(self.norm1(x), training)
        x += self.mlp(x, training)
        return x

    def decode(self, x: Tensor, keys: Tensor, values: Tensor, place: Tensor) -> Tensor:
        x = x + self.attention.decode(self.norm1(x), keys, values, place)
        return x + self.mlp(x, False)


class GPT(Module):
    """A decoder-only transformer; the output layer is the transposed embedding."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        self.embedding = Parameter(randn(shape.n_characters, shape.width) * 0.02)
        self.positions = Parameter(randn(shape.context, shape.width) * 0.02)
        self.blocks = ModuleList(Block(shape) for _ in range(shape.n_layers))
        self.norm = LayerNorm(shape.width)

    def forward(self, codes: Tensor, training: bool = False) -> Tensor:
        """Returns logits (batch, length, characters) for codes (batch, length)."""
        x = F.embedding(codes, self.embedding) + self.positions[: codes.shape[1]]
        for block in self.blocks:
            x = block(x, training)
        return self.norm(x) @ self.embedding.t()

    def loss(self, codes: Tensor, targets: Tensor, training: bool = True) -> Tensor:
        """Returns the mean cross entropy in nats."""
        logits = self(codes, training)
        return F.cross_entropy(logits.view(-1, self.shape.n_characters), targets.view(-1))

    def make_cache(self) -> list[tuple[Tensor, Tensor]]:
        """Returns empty keys and values for one sequence, a pair for each block."""
        s = self.shape
        size = (1, s.n_heads, s.context, s.width // s.n_heads)
        return [(zeros(size), zeros(size)) for _ in self.blocks]

    def decode(self, code: Tensor, place: Tensor, cache: list[tuple[Tensor, Tensor]]) -> Tensor:
        """Returns the logits after one more character, (1, characters); the cache is written in place."""
        x = F.embedding(code.view(1, 1), self.embedding) + self.positions.index_select(0, place)
        for block, (keys, values) in zip(self.blocks, cache, strict=True):
            x = block.decode(x, keys, values, place)
        return (self.norm(x) @ self.embedding.t()).view(1, -1)


class AdamW:
    """AdamW (Loshchilov & Hutter, https://arxiv.org/abs/1711.05101) with foreach ops in place."""

    def __init__(self, params: Sequence[Tensor], betas: tuple[float, float] = (0.9, 0.99), weight_decay: float = 0.1):
        self.params = params
        self.betas = betas
        self.weight_decay = weight_decay
        self.means = [zeros_like(p) for p in params]
        self.squares = [zeros_like(p) for p in params]
        self.n_steps = zeros(())

    def zero_grad(self) -> None:
        """Drops all gradients."""
        for p in self.params:
            p.grad = None

    @no_grad()
    def step(self, learning_rate: Any, max_norm: float = 1.0) -> None:
        """Clips the gradients by their joint norm and moves the parameters; everything in place."""
        params, (beta1, beta2) = self.params, self.betas
        grads: list[Any] = [p.grad for p in params]
        norm = sum((g * g).sum() for g in grads).sqrt()
        FOREACH["_foreach_mul_"](grads, (max_norm / (norm + 1e-6)).clamp(max=1.0))
        self.n_steps.add_(1)
        FOREACH["_foreach_mul_"](params, 1 - learning_rate * self.weight_decay)
        FOREACH["_foreach_mul_"](self.means, beta1)
        FOREACH["_foreach_add_"](self.means, grads, alpha=1 - beta1)
        FOREACH["_foreach_mul_"](self.squares, beta2)
        FOREACH["_foreach_addcmul_"](self.squares, grads, grads, value=1 - beta2)
        correction = (1 - beta2**self.n_steps).sqrt() / (1 - beta1**self.n_steps)
        for p, mean, square in zip(params, self.means, self.squares, strict=True):
            p.sub_(mean / square.sqrt().add_(1e-8) * (correction * learning_rate))
