"""A small GPT leaves the process that has its source: `ja.export` writes a file, which a process with JAX alone serves.

    python examples/serve_archive.py

The function decodes one token. It writes the keys and values of that token into a cache that it is given, so all tokens
share one buffer. The server, `archive_server.py`, imports neither this file nor jaxaot.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile

import jaxaot as ja

SERVER = pathlib.Path(__file__).with_name("archive_server.py")


class Block(ja.nn.Module):
    """Attention over the tokens so far, and a network for each token."""

    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.norms = ja.nn.ModuleList([ja.nn.LayerNorm(width), ja.nn.LayerNorm(width)])
        self.project = ja.nn.Linear(width, 3 * width)
        self.join = ja.nn.Linear(width, width)
        self.network = ja.nn.Sequential(ja.nn.Linear(width, 4 * width), ja.nn.GELU(), ja.nn.Linear(4 * width, width))

    def forward(self, x: ja.Tensor, position: ja.Tensor, cache: ja.Tensor) -> ja.Tensor:
        n_heads, width = self.n_heads, x.shape[-1]
        query, key, value = self.project(self.norms[0](x)).view(3, n_heads, 1, width // n_heads)
        cache[0].index_copy_(1, position, key)
        cache[1].index_copy_(1, position, value)
        scores = query @ cache[0].transpose(1, 2) / (width // n_heads) ** 0.5
        scores = scores.masked_fill(ja.arange(cache.shape[2]) > position, -ja.inf)
        x = x + self.join((scores.softmax(-1) @ cache[1]).reshape(1, width))
        return x + self.network(self.norms[1](x))


class GPT(ja.nn.Module):
    """Takes a token at a position to the most likely next one, and writes the cache."""

    def __init__(self, n_tokens: int, width: int, n_heads: int, n_layers: int, context: int) -> None:
        super().__init__()
        self.tokens, self.positions = ja.nn.Embedding(n_tokens, width), ja.nn.Embedding(context, width)
        self.blocks = ja.nn.ModuleList([Block(width, n_heads) for _ in range(n_layers)])
        self.norm, self.head = ja.nn.LayerNorm(width), ja.nn.Linear(width, n_tokens)

    def forward(self, token: ja.Tensor, position: ja.Tensor, cache: ja.Tensor) -> ja.Tensor:
        x = self.tokens(token) + self.positions(position)
        for block, part in zip(self.blocks, cache.unbind(0), strict=True):
            x = block(x, position, part)
        return self.head(self.norm(x)).argmax(-1)


def decode(model: object, cache: ja.Tensor, first: int, n_tokens: int) -> list[int]:
    """Returns the tokens after a first one, each the most likely."""
    tokens = [first]
    with ja.no_grad():
        for place in range(n_tokens):
            token = model(ja.tensor([tokens[-1]]), ja.tensor([place]), cache)  # type: ignore[operator]
            tokens.append(int(token.item()))
    return tokens


def main(n_tokens: int = 12) -> bool:
    """Exports the model, has it served, and returns whether the server says what the model says."""
    ja.manual_seed(0)
    model, make_cache = GPT(64, 32, 4, 2, 32), lambda: ja.zeros(2, 2, 4, 32, 8)
    here = decode(model, make_cache(), 7, n_tokens)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/gpt.jaxaot"
        example = ja.tensor([0]), ja.tensor([0]), make_cache()
        ja.export(model, *example, with_gradients=False, platforms=("cpu", "cuda", "tpu")).save(path)
        loaded = decode(ja.load(path), make_cache(), 7, n_tokens)
        command = [sys.executable, str(SERVER), path, "7", str(n_tokens)]
        served = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    print("here:  ", *here)
    print("loaded:", *loaded)
    print("served:", *served)
    return here == loaded == list(map(int, served))


if __name__ == "__main__":
    main()
