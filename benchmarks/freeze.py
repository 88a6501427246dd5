"""What a frozen model costs at each call, beside the same model compiled and beside `jax.jit`.

    python -m benchmarks.freeze [mlp] [kernels] [halves] [resnet] [vit] [gpt] [int8] [--rounds N] [--json FILE]

The baseline is the model by `ja.compile` under `no_grad`. `mlp` keeps weights as PyTorch does, `kernels` as flax does.
Bytes of weights and of what is packed are in the name of the case.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxaot as ja
from benchmarks.runner import Result, machine, measure, show
from jaxaot import nn
from jaxaot._util import format_bytes


def _normal(*shape: int, dtype: Any = "float32") -> Any:
    values = np.random.default_rng(sum(shape)).standard_normal(shape, dtype=np.float32) / shape[-1] ** 0.5
    return jnp.asarray(values, dtype)


def _case(name: str, fn: Callable[..., Any], *args: Any, plain: Callable[..., Any] | None = None, n: int) -> Result:
    """Returns the times of a function of arrays or tensors, compiled, frozen, and by `jax.jit` if it is of arrays."""
    frozen, compiled = ja.freeze(fn, *args), ja.compile(fn)

    def unfrozen() -> Any:
        with ja.no_grad():
            return compiled(*args)

    contestants: dict[str, Callable[[], Any]] = {"ja.compile": unfrozen, "ja.freeze": lambda: frozen(*args)}
    if plain is not None:
        jitted = jax.jit(plain)
        contestants["jax.jit"] = lambda: jitted(*args)
    sizes = f"{format_bytes(frozen.parameter_bytes)} of weights, {format_bytes(frozen.packed_bytes)} packed"
    return measure(f"{name}: {sizes}", contestants, "ja.compile", n_rounds=n)


def mlp(n: int, dtype: Any = "float32", is_turned: bool = True, batch: int = 8, name: str = "MLP, x @ w.T") -> Result:
    weights = [_normal(2048, 2048, dtype=dtype) for _ in range(6)]

    def run(weights: Any, x: Any) -> Any:
        for w in weights:
            x = jnp.tanh(x @ (w.T if is_turned else w))
        return x

    x = _normal(batch, 2048, dtype=dtype)
    frozen, compiled, jitted = ja.freeze(run, weights, x, argnums=0), ja.compile(run), jax.jit(run)
    contestants = {
        "ja.compile": lambda: compiled(weights, x),
        "ja.freeze": lambda: frozen(weights, x),
        "jax.jit": lambda: jitted(weights, x),
    }
    sizes = f"{format_bytes(frozen.parameter_bytes)} of weights, {format_bytes(frozen.packed_bytes)} packed"
    return measure(f"{name}, batch {batch}: {sizes}", contestants, "ja.compile", n_rounds=n)


def kernels(n: int) -> Result:
    return mlp(n, is_turned=False, name="MLP, x @ w")


def halves(n: int) -> Result:
    return mlp(n, dtype="bfloat16", is_turned=False, batch=1, name="MLP in bfloat16")


class _Residual(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(width, width, 3, padding=1, bias=False) for _ in range(2)])
        self.norms = nn.ModuleList([nn.BatchNorm2d(width) for _ in range(2)])

    def forward(self, x: Any) -> Any:
        y = self.norms[0](self.convs[0](x)).relu()
        return (x + self.norms[1](self.convs[1](y))).relu()


def resnet(n: int) -> Result:
    layers = [nn.Conv2d(3, 32, 3, padding=1), *(_Residual(32) for _ in range(4))]
    model = nn.Sequential(*layers).eval()
    return _case("ResNet with BatchNorm, 16 images", model, ja.randn(16, 3, 32, 32), n=n)


def vit(n: int) -> Result:
    layer = nn.TransformerEncoderLayer(192, 3, 768, batch_first=True)
    model = nn.TransformerEncoder(layer, 4).eval()
    return _case("ViT, 4 layers, 8 images", model, ja.randn(8, 65, 192), n=n)


class _Decoder(nn.Module):
    def __init__(self, n_layers: int = 4, width: int = 512, length: int = 128):
        super().__init__()
        linear = lambda n, m: nn.Linear(n, m, bias=False)
        self.embed, self.length = nn.Embedding(8192, width), length
        self.blocks = nn.ModuleList([
            nn.ModuleDict({
                "q": linear(width, width), "k": linear(width, width), "v": linear(width, width),
                "out": linear(width, width), "up": linear(width, 4 * width), "down": linear(4 * width, width),
            })
            for _ in range(n_layers)
        ])  # fmt: skip
        for i in range(n_layers):
            self.register_buffer(f"keys{i}", ja.zeros(length, 8, width // 8))
            self.register_buffer(f"values{i}", ja.zeros(length, 8, width // 8))

    def forward(self, token: Any, position: Any) -> Any:
        x = self.embed(token)
        for i, block in enumerate(self.blocks):
            q, k, v = (block[name](x).reshape(8, -1) for name in "qkv")
            keys, values = getattr(self, f"keys{i}"), getattr(self, f"values{i}")
            keys[position], values[position] = k, v
            weights = ja.einsum("hd,thd->ht", q, keys).softmax(-1)
            x = x + block["out"](ja.einsum("ht,thd->hd", weights, values).reshape(-1))
            x = x + block["down"](nn.functional.gelu(block["up"](x)))
        return x @ self.embed.weight.T


def gpt(n: int) -> Result:
    return _case("GPT, one token", _Decoder(), ja.tensor(3), ja.tensor(5), n=n)


class _Quantized(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        for i in range(4):
            self.register_buffer(f"w{i}", (ja.randn(1024, 1024) * 40).round().clamp(-127, 127).to(ja.int8))
            self.register_buffer(f"s{i}", ja.rand(1024, 1) / 1300)

    def forward(self, x: Any) -> Any:
        for i in range(4):
            x = (x @ (getattr(self, f"w{i}").to(ja.float32) * getattr(self, f"s{i}")).T).tanh()
        return x


def int8(n: int) -> Result:
    return _case("int8 weights, batch 8", _Quantized(), ja.randn(8, 1024), n=n)


CASES = {fn.__name__: fn for fn in (mlp, kernels, halves, resnet, vit, gpt, int8)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    results = [CASES[name](options.rounds) for name in options.cases]
    show("Frozen models", results)
    print(machine())
    if options.json:
        with open(options.json, "w") as file:
            json.dump([{r.case: {t.name: t.rounds for t in r.timings}} for r in results], file)


if __name__ == "__main__":
    main()
