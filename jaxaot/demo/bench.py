"""What `jaxaot bench` runs: one training step in four ways, in turns, each for a few seconds."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from rich.console import Console
from rich.table import Table

from jaxaot._typing import Array
from jaxaot._util import format_bytes, format_seconds
from jaxaot.jitted import jit
from jaxaot.rematerialize.remat import remat
from jaxaot.settings import config

BUDGET = 0.25


@dataclasses.dataclass(frozen=True)
class Size:
    """How large the model is: blocks of attention and a layer behind it."""

    n_layers: int = 4
    width: int = 192
    n_heads: int = 4
    length: int = 128
    batch: int = 8


@dataclasses.dataclass(frozen=True)
class Timing:
    """What a way of running the step took.

    Attributes:
      way: What was written.
      first_seconds: The first call, which compiles.
      step_seconds: The fastest step after it.
      temporary_bytes: What the program takes besides arguments and results, by XLA; None where it does not say.
    """

    way: str
    first_seconds: float
    step_seconds: float
    temporary_bytes: int | None


def _params(size: Size, key: Array) -> list[dict[str, Any]]:
    shapes = {"qkv": (size.width, 3 * size.width), "out": (size.width, size.width)}
    shapes |= {"up": (size.width, 4 * size.width), "down": (4 * size.width, size.width)}
    keys = iter(jax.random.split(key, size.n_layers * len(shapes)))
    return [
        {name: jax.random.normal(next(keys), shape) * shape[0] ** -0.5 for name, shape in shapes.items()}
        for _ in range(size.n_layers)
    ]


def _loss(size: Size, params: list[dict[str, Any]], x: Array) -> Any:
    h: Any = x
    mask = jnp.tril(jnp.ones((size.length, size.length), bool))
    norm = lambda y: (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)
    for p in params:
        qkv = (norm(h) @ p["qkv"]).reshape(size.batch, size.length, 3, size.n_heads, -1)
        q, k, v = qkv.transpose(2, 0, 3, 1, 4)
        scores = q @ k.swapaxes(-1, -2) / jnp.sqrt(q.shape[-1])
        y = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), -1) @ v
        h = h + y.transpose(0, 2, 1, 3).reshape(h.shape) @ p["out"]
        h = h + jax.nn.gelu(norm(h) @ p["up"]) @ p["down"]
    return jnp.mean((h - x) ** 2)


def run_bench(seconds: float, console: Console, size: Size | None = None) -> list[Timing]:
    """Returns how long a training step takes in each way.

    Args:
      seconds: How long steps are taken in all, besides the first calls, which compile.
      console: Where it says what it does meanwhile.
      size: How large the model is.
    """
    size = size or Size()
    key = jax.random.key(0)
    x = jax.random.normal(key, (size.batch, size.length, size.width))
    loss = lambda params, x: _loss(size, params, x)

    def step_of(loss: Callable[..., Any]) -> Callable[..., Any]:
        def step(params: Any, x: Array) -> Any:
            value, grads = jax.value_and_grad(loss)(params, x)
            return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads), value

        return step

    lean = remat(loss, memory_budget=BUDGET)
    ways: dict[str, Any] = {
        "jax.jit": jax.jit(step_of(loss), donate_argnums=0),
        "jax.jit, jax.checkpoint": jax.jit(step_of(jax.checkpoint(loss)), donate_argnums=0),
        "ja.jit": jit(step_of(loss), donate_argnums=0),
        f"ja.jit, ja.remat(memory_budget={BUDGET})": jit(step_of(lean), donate_argnums=0),
    }
    states = {way: _params(size, key) for way in ways}
    first, best, temporary = {}, {}, {}
    with config(progress=False), console.status("") as status:
        for way, step in ways.items():
            status.update(f"compiling the step with {way}")
            start = time.perf_counter()
            states[way], value = step(states[way], x)
            jax.block_until_ready((states[way], value))
            first[way], best[way] = time.perf_counter() - start, float("inf")
        status.update("taking steps, in turns")
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or min(best.values()) == float("inf"):
            for way, step in ways.items():
                start = time.perf_counter()
                states[way], value = step(states[way], x)
                jax.block_until_ready((states[way], value))
                best[way] = min(best[way], time.perf_counter() - start)
        for way, step in ways.items():
            status.update(f"asking XLA for the memory with {way}")
            temporary[way] = _temporary_bytes(step, states[way], x)
    return [Timing(way, first[way], best[way], temporary[way]) for way in ways]


def _temporary_bytes(step: Any, params: Any, x: Array) -> int | None:
    analysis = step.lower(params, x).compile().memory_analysis()
    return None if analysis is None else int(analysis.temp_size_in_bytes)


def bench_table(timings: list[Timing]) -> Table:
    """Returns the timings as a table."""
    table = Table(title="One training step, in turns", title_justify="left")
    table.add_column("way", overflow="fold")
    for name in ("first call", "a step", "of jax.jit", "temporaries"):
        table.add_column(name, justify="right", no_wrap=True)
    plain = timings[0].step_seconds
    for timing in timings:
        memory = "-" if timing.temporary_bytes is None else format_bytes(timing.temporary_bytes)
        table.add_row(
            timing.way, format_seconds(timing.first_seconds), format_seconds(timing.step_seconds),
            f"{timing.step_seconds / plain:.2f}", memory,
        )  # fmt: skip
    return table
