"""Losses over many classes, and causal attention, with and without blocks: CPU seconds, wall time, XLA's temporaries.

    python -m benchmarks.blocks [rows,width,classes …] [attention:batch,heads,positions …]

Each case is a loss and all its gradients, by `jax.jit`, by `ja.jit` without blocks, and by `ja.jit`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import jaxaot as ja

SIZES = [
    (2048, 256, 32000),
    (1024, 768, 50257),
    (2047, 512, 32000),
    (4096, 128, 8192),
    (512, 512, 32000),
    (8192, 64, 1000),
]
ATTENTIONS = [(1, 8, 2048), (1, 8, 4096), (4, 4, 512)]
RUNS = 5


def loss(x: Any, w: Any, labels: Any) -> Any:
    """Returns the mean cross entropy of rows of logits."""
    logits = (x @ w).astype(jnp.float32)
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()


def case(rows: int, width: int, classes: int, dtype: Any) -> tuple[Any, ...]:
    """Returns activations, weights and labels."""
    keys = jax.random.split(jax.random.key(0), 3)
    x = 0.1 * jax.random.normal(keys[0], (rows, width), dtype)
    return (
        x,
        0.05 * jax.random.normal(keys[1], (width, classes), dtype),
        jax.random.randint(keys[2], (rows,), 0, classes),
    )


def attention(q: Any, k: Any, v: Any) -> Any:
    """Returns a number made of causal attention, batch by heads by positions by width, behind a product."""
    n, width = q.shape[-2:]
    scores = jnp.where(jnp.tril(jnp.ones((n, n), bool)), q @ k.swapaxes(-1, -2) / width**0.5, -1e30)
    return (jnp.tanh((jax.nn.softmax(scores, -1) @ v) @ jnp.eye(width)) ** 2).sum()


def measure(call: Callable[..., Any], args: tuple[Any, ...]) -> tuple[float, float, float, float]:
    """Returns CPU seconds and wall seconds of a call, the least of some; MiB; seconds of the first call."""
    begin = time.perf_counter()
    jax.block_until_ready(call(*args))
    first, cpu, wall = time.perf_counter() - begin, [], []
    for _ in range(RUNS):
        used, begin = time.process_time(), time.perf_counter()
        jax.block_until_ready(call(*args))
        cpu.append(time.process_time() - used)
        wall.append(time.perf_counter() - begin)
    compiled: Any = call
    return min(cpu), min(wall), compiled.lower(*args).compile().memory_analysis().temp_size_in_bytes / 2**20, first


def compare(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Prints a row for each way to run a function."""
    for name in ("jax.jit", "ja.jit without", "ja.jit"):
        with ja.config(blocks=name == "ja.jit"):
            jit: Any = jax.jit if name == "jax.jit" else ja.jit
            cpu, wall, mib, first = measure(jit(fn), args)
        times = f"CPU {1e3 * cpu:7.0f} ms, wall {1e3 * wall:7.0f} ms, first {first:5.2f} s"
        print(f"    {name:15s} {times}, temporaries {mib:7.1f} MiB", flush=True)


def main(sizes: list[tuple[int, ...]], attentions: list[tuple[int, ...]]) -> None:
    """Prints the rows of each case."""
    for shape in attentions:
        print(f"causal attention of {shape}, width 64, and its gradients")
        q, k, v = (jax.random.normal(jax.random.key(i), (*shape, 64)) for i in range(3))
        compare(jax.value_and_grad(attention, (0, 1, 2)), (q, k, v))
    for rows, width, classes in sizes:
        for dtype in (jnp.float32, jnp.bfloat16):
            args = case(rows, width, classes, dtype)
            for grad_name, make in (("loss alone", lambda f: f), ("jax", lambda f: jax.value_and_grad(f, (0, 1)))):
                print(f"{rows} rows, width {width}, {classes} classes, {jnp.dtype(dtype).name}, gradients: {grad_name}")
                compare(make(loss), args)


if __name__ == "__main__":
    given = [(text.startswith("attention:"), tuple(map(int, text.split(":")[-1].split(",")))) for text in sys.argv[1:]]
    chosen = [[sizes for is_attention, sizes in given if is_attention is which] for which in (False, True)]
    main(*(chosen if given else (SIZES, ATTENTIONS)))
