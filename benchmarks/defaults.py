"""The default beside nothing: bytes, FLOPs and processor time of a gradient that is cut and of one that is not.

    python -m benchmarks.defaults                     bytes and FLOPs on CPU
    python -m benchmarks.defaults --time              processor time too
    python -m benchmarks.defaults --on v5e h100       compiled for these, with the extras tpu-plan and gpu-plan
    python -m benchmarks.defaults --only attention    models whose names contain a text

For each model `ja.value_and_grad` stands beside `jax.value_and_grad`, both under `ja.jit` and both under `jax.jit`. The
bytes are the temporary memory of `memory_analysis`, FLOPs those of `cost_analysis`, which counts the body of a loop
once. A ratio above 1.00 in bytes or 1.03 in time is a loss, and has a star.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import jaxaot as ja
from benchmarks import models
from benchmarks.models import Model
from benchmarks.runner import measure
from benchmarks.topologies import device, placed
from jaxaot._util import format_bytes
from jaxaot.backend.cpu.counts import costs_of

MOST_BYTES, MOST_TIME = 1.0, 1.03
"""What the default may take, as a multiple of what nothing takes."""


class Case(NamedTuple):
    """A loss, what it takes, and whether it returns something besides."""

    name: str
    loss: Callable[..., Any]
    given: tuple[Any, ...]
    has_aux: bool = False


def _of(model: Model) -> Case:
    return Case(model.name, model.loss, (model.parameters, *model.data))


def draws(*shapes: tuple[int, ...]) -> list[Any]:
    """Returns an array of normal numbers for each shape."""
    keys = jax.random.split(jax.random.key(0), len(shapes))
    return [0.05 * jax.random.normal(key, shape) for key, shape in zip(keys, shapes, strict=True)]


def attention(n_heads: int = 8, length: int = 2048, width: int = 64) -> Case:
    """Returns a causal attention of one sequence, alone."""

    def loss(q: Any, k: Any, v: Any) -> Any:
        scores = jnp.einsum("hqd,hkd->hqk", q, k) / width**0.5
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
        return (jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores, -1), v) ** 2).mean()

    name = f"causal attention, {n_heads} heads by {length:,}"
    return Case(name, loss, tuple(draws(*[(n_heads, length, width)] * 3)))


def convolutions(
    width: int = 64, size: int = 64, batch: int = 8, *, has_aux: bool = False, activate: Any = jax.nn.gelu
) -> Case:
    """Returns a network of two convolutions, whose loss may return what it is made of too."""

    def convolve(x: Any, kernel: Any) -> Any:
        return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def loss(kernels: Any, images: Any) -> Any:
        x = images
        for kernel in kernels[:2]:
            x = activate(convolve(x, kernel))
        logits = x.mean((1, 2)) @ kernels[2]
        value = (jax.nn.log_softmax(logits) ** 2).mean()
        return (value, logits) if has_aux else value

    *kernels, images = draws((3, 3, 3, width), (3, 3, width, width), (width, 10), (batch, size, size, 3))
    name = f"CNN with {activate.__name__}" + (", (loss, logits)" if has_aux else "")
    return Case(name, loss, (kernels, images), has_aux)


def layers(n_layers: int = 4, width: int = 256, batch: int = 2048, activate: Any = jax.nn.gelu, **kind: bool) -> Case:
    """Returns layers of a perceptron, written out or as a scan, whose loss may return what it is made of too."""
    is_scanned, has_aux = kind.get("is_scanned", False), kind.get("has_aux", False)
    is_residual = kind.get("is_residual", False)

    def layer(x: Any, weights: Any) -> tuple[Any, None]:
        y = activate(x @ weights[0]) @ weights[1]
        return (x + y if is_residual else activate(y)), None

    def loss(weights: Any, x: Any) -> Any:
        if is_scanned:
            x, _ = jax.lax.scan(layer, x, weights)
        else:
            for i in range(n_layers):
                x, _ = layer(x, (weights[0][i], weights[1][i]))
        value = (x**2).mean()
        return (value, x) if has_aux else value

    up, down, x = draws((n_layers, width, 2 * width), (n_layers, 2 * width, width), (batch, width))
    form = [f"{'residual ' if is_residual else ''}MLP, {activate.__name__}"]
    form += ["as a scan"] * is_scanned + ["(loss, logits)"] * has_aux
    return Case(", ".join(form), loss, ((up, down), x), has_aux)


def cases() -> Iterator[Case]:
    """Yields the models."""
    yield attention()
    yield attention(4, 512)
    yield convolutions()
    yield convolutions(has_aux=True)
    yield convolutions(activate=jax.nn.relu)
    yield layers()
    yield layers(has_aux=True)
    yield layers(activate=jnp.tanh, is_residual=True)
    yield layers(activate=jax.nn.silu, is_residual=True)
    yield layers(is_scanned=True)
    yield layers(is_scanned=True, is_residual=True, has_aux=True)
    yield _of(models.gpt(1))
    yield _of(models.gpt(4))
    yield _of(models.gpt(2, length=512, batch=2))
    yield _of(models.gpt(2, dropout=0.1))
    yield _of(models.gpt(4, is_scanned=True))
    yield _of(models.resnet())
    yield _of(models.nnx_transformer())
    yield _of(models.linen_vit())


def _with_logits(case: Case, take: Callable[..., Any]) -> Any:
    return take(case.loss, has_aux=case.has_aux)


def contestants(case: Case) -> dict[str, Any]:
    """Returns the gradient without a cut and by default, under `ja.jit` and `jax.jit`, by name."""
    return {
        f"{name}.jit, {what}": jit(_with_logits(case, take))
        for name, jit in (("ja", ja.jit), ("jax", jax.jit))
        for what, take in (("nothing", jax.value_and_grad), ("default", ja.value_and_grad))
    }


class Taken(NamedTuple):
    """What a program takes: bytes of temporaries, and FLOPs."""

    bytes: int
    flops: float


def taken(jitted: Any, given: Any) -> Taken:
    """Returns what a jitted function takes by the compiler's word."""
    compiled = jitted.lower(*given).compile()
    return Taken(compiled.memory_analysis().temp_size_in_bytes, costs_of(compiled).get("flops", 0.0))


def _ratio(default: float, nothing: float, most: float) -> str:
    ratio = default / nothing if nothing else 1.0
    return f"{'* ' if ratio > most + 0.005 else ''}{ratio:.2f}"


def rows(case: Case, on: Any, is_timed: bool) -> Iterator[list[str]]:
    """Yields a row for each jit."""
    given = case.given if on is None else placed(jax.tree.map(jax.typeof, case.given), on)
    jitted = contestants(case)
    names = ("ja", "jax") if on is None else ("jax",)
    for name in names:
        nothing, default = (jitted[f"{name}.jit, {what}"] for what in ("nothing", "default"))
        before, after = taken(nothing, given), taken(default, given)
        row = [case.name, f"{name}.jit", format_bytes(before.bytes), format_bytes(after.bytes)]
        row += [_ratio(after.bytes, before.bytes, MOST_BYTES), _ratio(after.flops, before.flops, MOST_TIME)]
        if is_timed:
            run = {
                "nothing": lambda: jax.tree.leaves(nothing(*given)),
                "default": lambda: jax.tree.leaves(default(*given)),
            }
            result = measure(case.name, run, "nothing", n_rounds=5, round_seconds=0.1, clock=time.process_time)
            _, middle, _ = result.find("default").ratios_to(result.find("nothing"))
            row.append(_ratio(middle, 1.0, MOST_TIME))
        yield row


def main() -> None:
    """Prints a row for each model, device and jit."""
    parser = argparse.ArgumentParser(description="The default beside nothing.")
    parser.add_argument("--on", nargs="*", default=["cpu"], help="cpu, or devices that need not be there")
    parser.add_argument("--only", default="", help="models whose names contain this")
    parser.add_argument("--time", action="store_true", help="measure processor time too, on CPU")
    asked = parser.parse_args()
    for kind in asked.on:
        on = None if kind == "cpu" else device(kind)
        if on is None and kind != "cpu":
            print(f"The compiler for {kind} is not installed.")
            continue
        is_timed = asked.time and on is None
        columns = ("nothing", "default", "bytes", "FLOPs", *(["CPU time"] if is_timed else []))
        print(f"{f'On {kind}':48} under   " + "".join(f"{column:>12}" for column in columns), flush=True)
        for case in cases():
            if asked.only in case.name:
                for name, under, *row in rows(case, on, is_timed):
                    print(f"{name:48} {under:8}" + "".join(f"{cell:>12}" for cell in row), flush=True)


if __name__ == "__main__":
    main()
