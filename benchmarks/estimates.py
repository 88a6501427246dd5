"""How near estimates of memory come to what the compiler for TPU v5e says, which needs no device.

    pip install "jaxaot[tpu-plan]"                       the compiler
    python -m benchmarks.estimates [MODEL …]

Loss and gradient in one program, in bfloat16, at the minimum cut and within 0.5 and 0.1. The compiler's figure is that
of `memory_analysis`: inputs, outputs and temporaries. Nothing is run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from rich.console import Console
from rich.table import Table

import jaxaot as ja
from benchmarks import models, topologies
from jaxaot._util import format_bytes

KIND = "v5e"
BUDGETS = {"min_cut": None, "within 0.5": 0.5, "within 0.1": 0.1}
Program = tuple[Callable[..., Any], tuple[Any, ...]]
"""A loss, and the types of its arguments."""


def typed(*shape: int, dtype: Any = jnp.bfloat16) -> jax.ShapeDtypeStruct:
    """Returns a type."""
    return jax.ShapeDtypeStruct(shape, dtype)


def convolve(x: Any, kernel: Any, stride: int = 1) -> Any:
    """Returns the convolution of images with a kernel, of the same size if nothing is skipped."""
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", dimension_numbers=numbers)


def entropy(logits: Any, labels: Any) -> Any:
    """Returns the mean cross entropy."""
    logs = jax.nn.log_softmax(logits.astype(jnp.float32))
    return -jnp.take_along_axis(logs, labels[:, None], -1).mean()


def cnn(width: int, batch: int, size: int = 32, depth: int = 6) -> Program:
    """Returns convolutions with rectifiers."""

    def loss(weights: Any, x: Any, labels: Any) -> Any:
        for kernel in weights["kernels"]:
            x = jax.nn.relu(convolve(x, kernel))
        return entropy(x.mean((1, 2)) @ weights["head"], labels)

    kernels = [typed(3, 3, 3, width), *[typed(3, 3, width, width)] * (depth - 1)]
    weights = {"kernels": kernels, "head": typed(width, 10)}
    return loss, (weights, typed(batch, size, size, 3), typed(batch, dtype=jnp.int32))


def resnet(width: int, batch: int) -> Program:
    """Returns a residual network with batch norm."""
    model = models.resnet(width=width, batch=batch)
    return model.loss, topologies.halved((model.parameters, *model.data))


def unet(width: int, batch: int, size: int = 128, levels: int = 3) -> Program:
    """Returns convolutions down and up again, with connections at each size."""

    def loss(weights: Any, x: Any, targets: Any) -> Any:
        x, kept = jax.nn.relu(convolve(x, weights["in"])), []
        for same, down in weights["down"]:
            kept.append(jax.nn.relu(convolve(x, same)))
            x = jax.nn.relu(convolve(kept[-1], down, 2))
        for up in weights["up"]:
            larger = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
            x = jax.nn.relu(convolve(jnp.concatenate([larger, kept.pop()], -1), up))
        return ((convolve(x, weights["out"]) - targets).astype(jnp.float32) ** 2).mean()

    widths = [width * 2**level for level in range(levels)]
    down = [(typed(3, 3, n, n), typed(3, 3, n, 2 * n)) for n in widths]
    up = [typed(3, 3, 3 * n, n) for n in reversed(widths)]
    weights = {"in": typed(3, 3, 3, width), "down": down, "up": up, "out": typed(3, 3, width, 3)}
    return loss, (weights, typed(batch, size, size, 3), typed(batch, size, size, 3))


def gathering(width: int, batch: int, size: int) -> Program:
    """Returns a small U-Net whose images are resized by a gather."""

    def loss(weights: Any, x: Any) -> Any:
        first = jax.nn.silu(convolve(x, weights[0]))
        half = jax.nn.silu(convolve(first, weights[1], 2))
        half = half + jax.nn.silu(convolve(half, weights[2]))
        larger = jax.image.resize(half, (*first.shape[:3], half.shape[3]), "nearest")
        x = jax.nn.silu(convolve(jnp.concatenate([larger, first], -1), weights[3]))
        return (convolve(x, weights[4]).astype(jnp.float32) ** 2).mean()

    pairs = ((3, width), (width, 2 * width), (2 * width, 2 * width), (3 * width, width), (width, 3))
    return loss, ([typed(3, 3, *pair) for pair in pairs], typed(batch, size, size, 3))


def lstm(width: int, batch: int, length: int = 256) -> Program:
    """Returns an LSTM as a scan."""

    def loss(weights: Any, xs: Any, targets: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            hidden, cell = carry
            gates = x @ weights["in"] + hidden @ weights["hidden"] + weights["bias"]
            i, f, g, o = jnp.split(gates, 4, -1)
            cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
            hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
            return (hidden, cell), hidden

        zeros = jnp.zeros((batch, width), xs.dtype)
        _, found = lax.scan(step, (zeros, zeros), xs)
        return ((found @ weights["out"] - targets).astype(jnp.float32) ** 2).mean()

    wide = typed(width, 4 * width)
    weights = {"in": wide, "hidden": wide, "bias": typed(4 * width), "out": typed(width, width)}
    return loss, (weights, typed(length, batch, width), typed(length, batch, width))


def mlp(width: int, batch: int, depth: int = 8) -> Program:
    """Returns products with GELU."""

    def loss(weights: Any, x: Any, targets: Any) -> Any:
        for weight in weights:
            x = jax.nn.gelu(x @ weight)
        return ((x - targets).astype(jnp.float32) ** 2).mean()

    return loss, ([typed(width, width)] * depth, typed(batch, width), typed(batch, width))


def gpt(n_layers: int, width: int, batch: int, vocabulary: int) -> Program:
    """Returns a GPT with heads of 64."""
    model = models.gpt(n_layers, width, width // 64, 512, batch, vocabulary)
    return model.loss, topologies.halved((model.parameters, *model.data))


def vit(n_layers: int, width: int, batch: int, size: int = 224, patch: int = 16) -> Program:
    """Returns a vision transformer with heads of 64."""
    n_patches = (size // patch) ** 2

    def loss(weights: Any, x: Any, labels: Any) -> Any:
        x = x.reshape(batch, size // patch, patch, size // patch, patch, 3).swapaxes(2, 3)
        x = x.reshape(batch, n_patches, patch * patch * 3) @ weights["patch"] + weights["positions"]
        for block in weights["blocks"]:
            x = models.attend(x, block, width // 64, is_causal=False)
        return entropy(x.mean(1) @ weights["head"], labels)

    block = {"qkv": typed(width, 3 * width), "proj": typed(width, width), "norms": (typed(width),) * 4}
    block |= {"up": typed(width, 4 * width), "down": typed(4 * width, width)}
    weights = {"patch": typed(patch * patch * 3, width), "positions": typed(n_patches, width)}
    weights |= {"blocks": [block] * n_layers, "head": typed(width, 1000)}
    return loss, (weights, typed(batch, size, size, 3), typed(batch, dtype=jnp.int32))


MODELS: dict[str, Callable[[], Program]] = {
    "CNN of 16, batch 2048": lambda: cnn(16, 2048),
    "CNN of 32, batch 1024": lambda: cnn(32, 1024),
    "CNN of 64, batch 512": lambda: cnn(64, 512),
    "CNN of 96, batch 256": lambda: cnn(96, 256),
    "CNN of 128, batch 128": lambda: cnn(128, 128),
    "CNN of 128, batch 512": lambda: cnn(128, 512),
    "CNN of 192, batch 128": lambda: cnn(192, 128),
    "CNN of 64, images of 112, batch 32": lambda: cnn(64, 32, 112),
    "ResNet of 64, batch 256": lambda: resnet(64, 256),
    "U-Net of 32, batch 32": lambda: unet(32, 32),
    "U-Net of 32 that gathers, images of 128, batch 32": lambda: gathering(32, 32, 128),
    "U-Net of 32 that gathers, images of 64, batch 128": lambda: gathering(32, 128, 64),
    "LSTM of 512, batch 128": lambda: lstm(512, 128),
    "GPT, 4 layers of 512": lambda: gpt(4, 512, 16, 8192),
    "MLP of 1024, batch 32768": lambda: mlp(1024, 32768),
    "ViT, 6 layers of 384, batch 64": lambda: vit(6, 384, 64),
}


def measured(program: Program, budget: float | None, on: Any) -> tuple[int, int]:
    """Returns the bytes of loss and gradient as estimated, and as the compiler says."""
    loss, types = program
    cut = ja.remat(loss, memory_budget=budget)
    estimated = cut.partition(*types).timeline.peak_bytes
    said = topologies.compiled(jax.value_and_grad(cut), topologies.placed(types, on)).memory_analysis()
    held = said.argument_size_in_bytes + said.output_size_in_bytes - said.alias_size_in_bytes
    return estimated, held + said.temp_size_in_bytes


def main() -> None:
    """Prints a table of the models asked for, or of all."""
    on = topologies.device(KIND)
    if on is None:
        print(f"The compiler for {KIND} is not installed.")
        return
    table = Table("model", title=f"bytes by the compiler for {KIND}, and the estimate as a part of them")
    for name in BUDGETS:
        table.add_column(name, justify="right")
    for name in sys.argv[1:] or MODELS:
        row = []
        for budget in BUDGETS.values():
            with ja.config(costs=KIND):
                estimated, said = measured(MODELS[name](), budget, on)
            row.append(f"{format_bytes(said)}, {estimated / said:.2f}")
        table.add_row(name, *row)
        print(name, *row, sep=" | ", flush=True)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
