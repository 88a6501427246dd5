"""Gradients of random models by `ja.jit` and by `jax.jit`: do the passes lose anywhere?

    python -m benchmarks.random_models --models 44

Half of the models are made of matrix products, norms, attentions and chains, half are convolutional networks, of random
sizes. Each is compiled by both and timed in turns. Shown is how the ratios are distributed, and the models that lose
most; a model whose ratio is above `--limit` is timed once more, with more rounds, because a busy machine makes a few of
them look slow.
"""

from __future__ import annotations

import argparse
import functools
import random
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import jax

from benchmarks.random_convolutions import convolution_program
from benchmarks.random_matrices import matrix_program
from benchmarks.runner import arguments, measure, seconds_text, show_machine, time_calls, write_json

LIMIT = 1.05

SHORT_SECONDS = 0.05
"""What takes less is timed four times as often where it seems to lose, what takes longer as often again."""

LONG_SECONDS = 0.3
"""What takes more is timed three times."""


def model(seed: int) -> tuple[str, Callable[..., Any], Any]:
    """Returns what a model is called, the function that takes its gradients, and its arguments."""
    rng = random.Random(seed)
    batch = rng.choice((4, 8, 16))
    if seed % 2:
        size, width = rng.choice((8, 16, 32)), rng.choice((8, 16, 32))
        return f"convolutions {batch}×{size}×{size}×{width}", *convolution_program(seed, batch, size, width)
    size = rng.choice((32, 64, 128, 256))
    return f"matrices {batch}×{size}×{size}", *matrix_program(seed, batch=batch, size=size)


def ratio_of(name: str, fn: Callable[..., Any], args: Any, n_rounds: int) -> tuple[float, float]:
    """Returns the least time of `jax.jit` on a function, and the ratio of that of `ja.jit` to it."""
    import jaxaot as ja

    runs = {"jax.jit": jax.jit(fn), "ja.jit": ja.jit(fn)}
    contestants = {kind: functools.partial(_finished, run, args) for kind, run in runs.items()}
    if min(time_calls(contestants["jax.jit"], 1) for _ in range(2)) > LONG_SECONDS:
        n_rounds = min(n_rounds, 3)
    result = measure(name, contestants, "jax.jit", n_rounds=n_rounds)
    plain, ours = (min(result.find(kind).rounds) for kind in contestants)
    return plain, ours / plain


def _finished(run: Callable[..., Any], args: Any) -> Any:
    return jax.block_until_ready(run(*args))


def compare(title: str, cases: Sequence[tuple[str, Callable[..., Any], Any]], options: argparse.Namespace) -> None:
    """Times functions, each with its name and arguments, and prints those that lose most and how ratios are spread."""
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table

    found = {}
    for name, fn, args in track(cases, "timing", console=Console(stderr=True), transient=True):
        plain, ratio = ratio_of(name, fn, args, options.rounds)
        if ratio > options.limit:
            plain, ratio = ratio_of(name, fn, args, options.rounds * (4 if plain < SHORT_SECONDS else 1))
        found[name] = {"jax.jit": plain, "ratio": ratio}
        if ratio > options.limit:
            print(f"above the limit: {name}, {seconds_text(plain)}, {ratio:.3f}", flush=True)
        jax.clear_caches()
    table = Table(title=f"{title}, ja.jit / jax.jit", title_justify="left")
    for column in ("function", "jax.jit", "ratio"):
        table.add_column(column, justify="left" if column == "function" else "right")
    for name, row in sorted(found.items(), key=lambda item: -item[1]["ratio"])[:8]:
        table.add_row(name, seconds_text(row["jax.jit"]), f"{row['ratio']:.3f}")
    console = Console(width=110)
    console.print(table)
    ratios = sorted(row["ratio"] for row in found.values())
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    n_slower = sum(ratio > options.limit for ratio in ratios)
    console.print(
        f"least {ratios[0]:.2f}, quartiles {low:.2f}, {middle:.2f}, {high:.2f}, most {ratios[-1]:.2f}; "
        f"{n_slower} of {len(ratios)} above {options.limit}"
    )
    show_machine(console)
    write_json(options.json, functions=found)


def options_of(description: str | None) -> argparse.ArgumentParser:
    """Returns the options of a comparison."""
    parser = arguments(description)
    parser.set_defaults(rounds=9)
    parser.add_argument("--limit", type=float, default=LIMIT, help="the ratio above which a function is timed again")
    return parser


def main() -> None:
    """Prints the table."""
    parser = options_of(__doc__)
    parser.add_argument("--models", type=int, default=44, help="how many models")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first one")
    options = parser.parse_args()
    models = {seed: model(seed) for seed in range(options.first, options.first + options.models)}
    compare(
        "Gradients of random models", [(f"{seed}: {name}", *rest) for seed, (name, *rest) in models.items()], options
    )


if __name__ == "__main__":
    main()
