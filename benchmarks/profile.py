"""How long a look at a model's shapes takes, forward and backward, at a batch of 10¹⁰: nothing is computed.

    python -m benchmarks.profile

ViT-B/16 in flax linen and nnx, by `ja.estimate.profile` with its table, beside what JAX takes to trace the same:
`jax.make_jaxpr` and `jax.eval_shape` of its `value_and_grad`. Each is given a function that it has not seen, with JAX's
caches emptied, and *again* is a second call of the same. The model as `ja.nn` has it runs forward and backward on the
device `"meta"`. Where PyTorch is installed, an encoder of the same size runs on its meta device and under
FakeTensorMode.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen, nnx

import jaxaot as ja
from benchmarks import runner
from jaxaot.facade.dispatch.operands import clear_kernels

BATCH = 10**10


class Block(linen.Module):
    """A block of ViT-B/16 in linen."""

    @linen.compact
    def __call__(self, x: Any) -> Any:
        x = x + linen.MultiHeadDotProductAttention(num_heads=12)(linen.LayerNorm()(x))
        return x + linen.Dense(768)(linen.gelu(linen.Dense(3072)(linen.LayerNorm()(x))))


class ViT(linen.Module):
    """ViT-B/16 in linen."""

    @linen.compact
    def __call__(self, images: Any) -> Any:
        x = linen.Conv(768, (16, 16), (16, 16), padding="VALID")(images).reshape(images.shape[0], -1, 768)
        start = self.param("start", linen.initializers.zeros, (1, 1, 768))
        x = jnp.concatenate([jnp.broadcast_to(start, (x.shape[0], 1, 768)), x], 1)
        x = x + self.param("position", linen.initializers.zeros, (1, 197, 768))
        for _ in range(12):
            x = Block()(x)
        return linen.Dense(1000)(linen.LayerNorm()(x)[:, 0])


class NnxBlock(nnx.Module):
    """A block of ViT-B/16 in nnx."""

    def __init__(self, rngs: nnx.Rngs):
        self.first, self.second = nnx.LayerNorm(768, rngs=rngs), nnx.LayerNorm(768, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(12, 768, decode=False, rngs=rngs)
        self.up, self.down = nnx.Linear(768, 3072, rngs=rngs), nnx.Linear(3072, 768, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        x = x + self.attention(self.first(x), deterministic=True)
        return x + self.down(nnx.gelu(self.up(self.second(x))))


class NnxViT(nnx.Module):
    """ViT-B/16 in nnx."""

    def __init__(self, rngs: nnx.Rngs):
        self.conv = nnx.Conv(3, 768, (16, 16), (16, 16), padding="VALID", rngs=rngs)
        self.start, self.position = nnx.Param(jnp.zeros((1, 1, 768))), nnx.Param(jnp.zeros((1, 197, 768)))
        self.blocks = nnx.List([NnxBlock(rngs) for _ in range(12)])
        self.norm, self.head = nnx.LayerNorm(768, rngs=rngs), nnx.Linear(768, 1000, rngs=rngs)

    def __call__(self, images: Any) -> Any:
        x = self.conv(images).reshape(images.shape[0], -1, 768)
        x = jnp.concatenate([jnp.broadcast_to(self.start[...], (x.shape[0], 1, 768)), x], 1) + self.position[...]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


def fresh(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that nothing has seen."""
    return lambda *args: fn(*args)


def case(name: str, loss: Callable[..., Any], args: tuple[Any, ...], n_rounds: int) -> runner.Result:
    """Returns the timings of one model."""

    def cold(look: Callable[[Any], Any]) -> Callable[[], Any]:
        def run() -> None:
            jax.clear_caches()
            look(fresh(loss))

        return run

    contestants: dict[str, Callable[[], Any]] = {
        "jax.make_jaxpr": cold(lambda fn: jax.make_jaxpr(jax.value_and_grad(fn))(*args)),
        "jax.eval_shape": cold(lambda fn: jax.eval_shape(jax.value_and_grad(fn), *args)),
        "ja.estimate.profile, with its table": cold(lambda fn: str(ja.estimate.profile(fn, *args, target="v5e"))),
        "ja.estimate.profile, again": lambda: ja.estimate.profile(loss, *args, target="v5e"),
        "ja.nn on meta": lambda: meta_step(cold=True),
        "ja.nn on meta, again": meta_step,
        **torch_contestants(),
    }
    return runner.measure(name, contestants, "jax.make_jaxpr", n_rounds=n_rounds, max_calls=1)


class TensorViT(ja.nn.Module):
    """ViT-B/16 on tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = ja.nn.Conv2d(3, 768, 16, 16)
        self.start = ja.nn.Parameter(ja.zeros(1, 1, 768))
        self.position = ja.nn.Parameter(ja.zeros(1, 197, 768))
        layers = [
            ja.nn.TransformerEncoderLayer(768, 12, 3072, 0.0, "gelu", batch_first=True, norm_first=True)
            for _ in range(12)
        ]
        self.blocks = ja.nn.Sequential(*layers)
        self.norm, self.head = ja.nn.LayerNorm(768), ja.nn.Linear(768, 1000)

    def forward(self, images: ja.Tensor) -> ja.Tensor:
        """Returns the logits of images."""
        x = self.conv(images).flatten(2).transpose(1, 2)
        x = ja.cat([self.start.expand(x.shape[0], -1, -1), x], 1) + self.position
        return self.head(self.norm(self.blocks(x))[:, 0])


@functools.cache
def meta_model() -> TensorViT:
    """Returns the model without values."""
    with ja.device("meta"):
        return TensorViT()


def meta_step(cold: bool = False) -> None:
    """Runs a forward and a backward of `TensorViT` on shapes; `cold`: with all that was looked at forgotten."""
    if cold:
        clear_kernels()
        jax.clear_caches()
    model = meta_model()
    model.zero_grad()
    model(ja.empty(BATCH, 3, 224, 224, device="meta")).sum().backward()


def torch_contestants() -> dict[str, Callable[[], Any]]:
    """Returns an encoder of the same size in PyTorch, on shapes alone; none where PyTorch is not installed."""
    torch = runner.find_torch()
    if torch is None:
        return {}
    from torch._subclasses import FakeTensorMode

    def step(device: str) -> None:
        with torch.device(device):
            # `TransformerEncoder` copies one layer, and a copied fake tensor is of another mode
            layers = [
                torch.nn.TransformerEncoderLayer(768, 12, 3072, 0.0, "gelu", batch_first=True, norm_first=True)
                for _ in range(12)
            ]
            model = torch.nn.Sequential(*layers)
            model(torch.empty(BATCH, 197, 768)).sum().backward()

    def fake() -> None:
        with FakeTensorMode():
            step("cpu")

    return {"torch, meta": lambda: step("meta"), "torch, FakeTensorMode": fake}


def main() -> None:
    """Prints how long each takes."""
    options = runner.arguments(__doc__).parse_args()
    images, labels = (jax.ShapeDtypeStruct((BATCH, *shape), jnp.float32) for shape in ((224, 224, 3), (1000,)))
    results = []
    for name in ("linen", "nnx"):
        if name == "linen":
            model: Any = ViT()
            parameters = jax.eval_shape(
                model.init, jax.random.key(0), jax.ShapeDtypeStruct((1, 224, 224, 3), "float32")
            )
            loss = lambda p, x, y, model=model: ((model.apply(p, x) - y) ** 2).mean()
        else:
            graph, parameters = nnx.split(nnx.eval_shape(lambda: NnxViT(nnx.Rngs(0))))
            loss = lambda p, x, y, graph=graph: ((nnx.merge(graph, p)(x) - y) ** 2).mean()
        results.append(case(f"ViT-B/16 in {name}", loss, (parameters, images, labels), options.rounds))
    runner.report("A look at shapes, batch 10¹⁰", results, options)


if __name__ == "__main__":
    main()
