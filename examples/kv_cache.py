"""Generation with a cache of keys and values, written in place: one program for every place."""

from __future__ import annotations

import jaxaot as ja
from jaxaot import nn
from jaxaot.nn import functional


class Attention(nn.Module):
    """Attention to all places up to the last one that was written."""

    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def split(self, x: ja.Tensor) -> list[ja.Tensor]:
        batch, length, _ = x.shape
        return [t.view(batch, length, self.n_heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)]

    def forward(self, x: ja.Tensor, cache: ja.Tensor, place: ja.Tensor) -> ja.Tensor:
        """Attends from one place, and writes its key and value into the cache: (2, batch, heads, length, width)."""
        query, key, value = self.split(x)
        cache[0].index_copy_(2, place, key)
        cache[1].index_copy_(2, place, value)
        known = ja.arange(cache.shape[3]) <= place
        mixed = functional.scaled_dot_product_attention(query, cache[0], cache[1], attn_mask=known[None, None, None])
        return self.out(mixed.transpose(1, 2).flatten(2))

    def whole(self, x: ja.Tensor) -> ja.Tensor:
        """Attends from all places at once, without a cache."""
        query, key, value = self.split(x)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


class Model(nn.Module):
    """Tokens to logits of those that follow."""

    def __init__(self, n_tokens: int, width: int, n_layers: int, length: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(n_tokens, width)
        self.places = nn.Embedding(length, width)
        self.layers = nn.ModuleList([Attention(width, 4) for _ in range(n_layers)])
        self.head = nn.Linear(width, n_tokens)

    def forward(self, tokens: ja.Tensor, caches: ja.Tensor, place: ja.Tensor) -> ja.Tensor:
        x = self.tokens(tokens) + self.places(place)
        for layer, cache in zip(self.layers, caches, strict=True):
            x = x + layer(x, cache, place)
        return self.head(x)

    def whole(self, tokens: ja.Tensor) -> ja.Tensor:
        x = self.tokens(tokens) + self.places(ja.arange(tokens.shape[1]))
        for layer in self.layers:
            x = x + layer.whole(x)
        return self.head(x)


def main(n_tokens: int = 50, width: int = 32, n_layers: int = 2, length: int = 24) -> tuple[list[int], list[int], int]:
    """Returns tokens written with the cache, the same without it, and how many programs the cache took."""
    ja.manual_seed(0)
    model = Model(n_tokens, width, n_layers, length)
    caches = ja.zeros(n_layers, 2, 1, 4, length, width // 4)

    @ja.compile
    def following(token: ja.Tensor, place: ja.Tensor) -> ja.Tensor:
        with ja.no_grad():
            return model(token, caches, place)[:, -1].argmax(-1, keepdim=True)

    with_cache = [1]
    for place in range(length - 1):  # the place is a tensor, so that it is no part of the program
        with_cache.append(following(ja.tensor([[with_cache[-1]]]), ja.tensor([place])).item())

    @ja.compile
    def best_after_each(tokens: ja.Tensor) -> ja.Tensor:
        with ja.no_grad():
            return model.whole(tokens)[0].argmax(-1)

    without = [1]
    for place in range(length - 1):  # what is behind a place does not matter for it
        padded = without + [0] * (length - len(without))
        without.append(best_after_each(ja.tensor([padded])).tolist()[place])
    print(f"tokens: {with_cache}")
    print(f"programs: {len(following.programs)}")
    return with_cache, without, len(following.programs)


if __name__ == "__main__":
    main()
