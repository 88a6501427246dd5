"""CPU seconds of the first eager steps of a process, from its start: every op of every new shape is compiled then.

    python -m benchmarks.first_steps [gpt] [unet] [--runs 2]

The GPT has 4 layers; it takes two training steps with AdamW and then generates 24 tokens with a cache of keys and
values, one size after the other. The U-Net takes two training steps. The first process finds an empty folder of
kernels, see `docs/shipping.md`; later ones find it filled, and the least of them counts. PyTorch runs the same lines.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import itertools
import os
import resource
import subprocess
import sys
import tempfile
from typing import Any


def gpt(t: Any) -> float:
    """Returns the last loss of a GPT that was trained for two steps and has generated some tokens.

    Args:
      t: What is called torch: it, or jaxaot.
    """
    nn, F = t.nn, t.nn.functional
    width, heads, n_layers, vocabulary, longest = 64, 4, 4, 96, 64

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any, cache: Any = None) -> Any:
            batch, length, _ = x.shape
            q, k, v = self.qkv(self.norm1(x)).split(width, dim=2)
            q, k, v = (y.view(batch, length, heads, width // heads).transpose(1, 2) for y in (q, k, v))
            if cache is not None:
                k = cache["k"] = t.cat([cache["k"], k], dim=2) if "k" in cache else k
                v = cache["v"] = t.cat([cache["v"], v], dim=2) if "v" in cache else v
            scores = (q @ k.transpose(-2, -1)) * (width // heads) ** -0.5
            if length > 1:
                mask = t.tril(t.ones(length, length)).bool()
                scores = scores.masked_fill(~mask, float("-inf"))
            y = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(batch, length, width)
            x = x + F.dropout(self.out(y), 0.1, self.training)
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(longest, width)
            self.blocks = nn.ModuleList([Block() for _ in range(n_layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

        def forward(self, tokens: Any, caches: Any = None, start: int = 0) -> Any:
            x = self.tokens(tokens) + self.places(t.arange(start, start + tokens.shape[1]))
            for i, block in enumerate(self.blocks):
                x = block(x, None if caches is None else caches[i])
            return self.head(self.norm(x))

    t.manual_seed(0)
    model = Model()
    optimizer = t.optim.AdamW(model.parameters(), lr=1e-3)
    loss = t.zeros(())
    for _ in range(2):
        data = t.randint(0, vocabulary, (8, longest))
        loss = F.cross_entropy(model(data[:, :-1]).reshape(-1, vocabulary), data[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()
    with t.no_grad():
        caches: list[dict[str, Any]] = [{} for _ in range(n_layers)]
        tokens = t.randint(0, vocabulary, (1, 8))
        given = tokens
        for _ in range(24):
            logits = model(given, caches, tokens.shape[1] - given.shape[1])[:, -1] / 0.8
            top, _ = t.topk(logits, 10)
            logits = logits.masked_fill(logits < top[:, [-1]], float("-inf"))
            given = t.multinomial(F.softmax(logits, dim=-1), 1)
            tokens = t.cat([tokens, given], dim=1)
    assert tokens.shape == (1, 32)
    return loss.item()


def unet(t: Any) -> float:
    """Returns the last loss of a U-Net that was trained for two steps.

    Args:
      t: What is called torch: it, or jaxaot.
    """
    nn, F = t.nn, t.nn.functional

    class Convolutions(nn.Module):
        def __init__(self, n_in: int, n_out: int) -> None:
            super().__init__()
            self.first, self.second = nn.Conv2d(n_in, n_out, 3, padding=1), nn.Conv2d(n_out, n_out, 3, padding=1)
            self.norm1, self.norm2 = nn.GroupNorm(4, n_out), nn.GroupNorm(4, n_out)

        def forward(self, x: Any) -> Any:
            x = F.silu(self.norm1(self.first(x)))
            return F.silu(self.norm2(self.second(x)))

    class Model(nn.Module):
        def __init__(self, *widths: int) -> None:
            super().__init__()
            self.downs = nn.ModuleList([Convolutions(a, b) for a, b in zip((1, *widths), widths, strict=False)])
            backwards = widths[::-1]
            pairs = list(itertools.pairwise(backwards))
            self.ups = nn.ModuleList([nn.ConvTranspose2d(a, b, 2, stride=2) for a, b in pairs])
            self.joins = nn.ModuleList([Convolutions(2 * b, b) for _, b in pairs])
            self.head = nn.Conv2d(widths[0], 1, 1)

        def forward(self, x: Any) -> Any:
            kept = []
            for i, down in enumerate(self.downs):
                x = down(F.max_pool2d(x, 2) if i else x)
                kept.append(x)
            kept.pop()
            for up, join in zip(self.ups, self.joins, strict=True):
                x = join(t.cat([up(x), kept.pop()], dim=1))
            return self.head(x)

    t.manual_seed(0)
    model = Model(8, 16, 32, 64)
    optimizer = t.optim.Adam(model.parameters(), lr=1e-3)
    loss = t.zeros(())
    for _ in range(2):
        images = t.randn(4, 1, 32, 32)
        noise = t.randn_like(images)
        loss = F.mse_loss(model(images + noise), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


PROGRAMS = {"gpt": gpt, "unet": unet}


def run(name: str, library: str, folder: str) -> tuple[float, float]:
    """Returns the CPU seconds of a process, all its threads, that runs a program, and the loss."""
    environment = {**os.environ, "JAXAOT_KERNELS_DIR": folder}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "benchmarks.first_steps", name, "--inside", library]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, float(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", choices=[*PROGRAMS, []])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    programs = options.programs or list(PROGRAMS)
    if options.inside:
        print(PROGRAMS[programs[0]](importlib.import_module(options.inside)))
        return
    for name in programs:
        with tempfile.TemporaryDirectory() as folder:
            first, loss = run(name, "jaxaot", folder)
            later = [run(name, "jaxaot", folder) for _ in range(options.runs)]
        assert all(again == loss for _, again in later), "kept kernels computed something else"
        print(f"{name:5} CPU seconds from the start of the process: first {first:5.1f}", end="")
        print(f", later {min(seconds for seconds, _ in later):5.1f}", end="")
        if importlib.util.find_spec("torch") is not None:
            print(f", PyTorch {min(run(name, 'torch', '')[0] for _ in range(options.runs)):5.1f}", end="")
        print(flush=True)


if __name__ == "__main__":
    main()
