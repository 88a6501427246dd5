"""Training steps of `ja.jit` and `ja.compile` against `jax.jit` with donation, `nnx.jit`, PyTorch and `torch.compile`.

    python -m benchmarks.train gpt-4 mlp --rounds 12

Each contestant is a process of its own, because the threads of one library slow down the other for a while; they take
turns, round by round. Shown are the time of the first call, which compiles, and of later ones the least, the lower
quartile and the median; ratios are of the least to that of the first contestant. On a machine that does other work as
well, only ratios mean something.

    python -m benchmarks.train gpt-4 --first-calls 5 --rounds 1

starts each contestant five times, in turns, and shows of the first calls the least and the median.

    python -m benchmarks.train gpt-4 --without hold order_operands

times `ja.jit` as it is and without a pass, for each of those named; with no name, for each that changes the graph of
the model. Ratios are then of the time of a round without the pass to that of the same round with all: above 1, the pass
gains.

    python -m benchmarks.train gpt2 gpt2-batch-4 vit-b16 resnet50 bert llama --rounds 4

are models of real size, which are not among those that are run when none is named. *Peak* is the largest resident
memory of the process, which includes the state and its copy.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.passes import fired, without
from benchmarks.runner import Timing, find_torch, peak_resident, seconds_text, show_machine, write_json
from benchmarks.steps import RATE, REAL, STEPS, Step
from jaxaot._util import format_bytes
from jaxaot.ir.rewrite import inline

BASELINE = "jax.jit"
OURS = "ja.jit"
WITHOUT = " without "
"""Stands between a contestant and the pass that it runs without."""

ROUND_SECONDS = 0.25


def of_jax(step: Step, jit: Callable[..., Any]) -> Callable[[], Any]:
    """Returns a function that takes a step each time, under `jax.jit` or what is called like it."""
    run = jit(step.fn, donate_argnums=0)
    state = [jax.tree.map(jnp.copy, step.state)]

    def call() -> Any:
        state[0], loss = run(state[0], *step.data)
        return jax.block_until_ready((state[0], loss))[1]

    return call


def of_objects(step: Step, jit: Callable[..., Any]) -> Callable[[], Any]:
    """Returns a function that takes a step each time on flax nnx objects, under `nnx.jit` or what is called like it."""
    from flax import nnx

    run = jit(step.fn)
    variables = [value for _, value in nnx.iter_graph(step.state) if isinstance(value, nnx.Variable)]

    def call() -> Any:
        loss = run(*step.state, *step.data)
        jax.block_until_ready([variable.get_value() for variable in variables])
        return loss

    return call


def of_tensors(step: Step) -> Callable[[], Any]:
    """Returns a function that takes a step each time on tensors of jaxaot, all of it in one compiled call."""
    import jaxaot as ja

    words: Any = step.words
    parameters = jax.tree.map(lambda a: ja.interop.from_jax(jnp.copy(a)).requires_grad_(), step.state)
    data = jax.tree.map(ja.interop.from_jax, step.data)
    leaves = jax.tree.leaves(parameters, is_leaf=lambda x: isinstance(x, ja.Tensor))

    @ja.compile
    def run(*data: Any) -> Any:
        loss = words(ja, parameters, *data)
        gradients = ja.autograd.grad(loss, leaves)
        with ja.no_grad():
            for p, g in zip(leaves, gradients, strict=True):
                p.sub_(g, alpha=RATE)
        return loss.detach()

    def call() -> Any:
        loss = run(*data)
        jax.block_until_ready([p.jax() for p in leaves])
        return loss

    return call


def of_torch(step: Step, compiles: bool) -> Callable[[], Any]:
    """Returns a function that takes a step each time on tensors of PyTorch."""
    torch = find_torch()
    words: Any = step.words

    def tensor(a: Any) -> Any:
        made = torch.from_numpy(np.array(a))
        return made.requires_grad_() if made.is_floating_point() else made.long()

    parameters = jax.tree.map(tensor, step.state)
    data = [tensor(a).detach() for a in step.data]
    leaves = jax.tree.leaves(parameters)

    def loss_of(*data: Any) -> Any:
        return words(torch, parameters, *data)

    run = torch.compile(loss_of, dynamic=False) if compiles else loss_of

    def call() -> Any:
        loss = run(*data)
        gradients = torch.autograd.grad(loss, leaves)
        with torch.no_grad():
            torch._foreach_add_(leaves, gradients, alpha=-RATE)
        return loss.detach()

    return call


def contestants(step: Step) -> dict[str, Callable[[], Callable[[], Any]]]:
    """Returns what makes each contestant of a step, by name."""
    import jaxaot as ja

    if step.has_objects:
        from flax import nnx

        return {name: lambda jit=jit: of_objects(step, jit) for name, jit in (("nnx.jit", nnx.jit), (OURS, ja.jit))}
    found: dict[str, Callable[[], Any]] = {
        BASELINE: lambda: of_jax(step, jax.jit),
        OURS: lambda: of_jax(step, ja.jit),
    }
    if step.words is not None:
        found["ja.compile"] = lambda: of_tensors(step)
        if find_torch() is not None:
            found["torch"] = lambda: of_torch(step, compiles=False)
            found["torch.compile"] = lambda: of_torch(step, compiles=True)
    return found


def take_part(name: str, contestant: str) -> None:
    """Runs one contestant: writes the time of its first call, and of some calls for each line that it reads."""
    import jaxaot as ja

    kind, _, left_out = contestant.partition(WITHOUT)
    with ja.config(passes=without(left_out)) if left_out else contextlib.nullcontext():
        _take_part(contestants((STEPS | REAL)[name]())[kind]())


def _take_part(call: Callable[[], Any]) -> None:
    start = time.perf_counter()
    loss = float(call())
    first = time.perf_counter() - start
    call()
    once = min(_timed(call) for _ in range(3))
    print(f"ready {first} {loss} {peak_resident()}", flush=True)
    n_calls = max(1, min(200, int(ROUND_SECONDS / once)))
    for _ in sys.stdin:
        print(*(_timed(call) for _ in range(n_calls)), flush=True)


def _timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@dataclasses.dataclass(eq=False)
class Contestant:
    """A process, and what it has reported.

    Attributes:
      name: What it goes by.
      process: The process.
      first_seconds: The time of its first call, in this process and in others that were started for that.
      loss: What its first call returned.
      peak: The largest resident memory of its process until then, in bytes.
      rounds: The times of the later ones, round by round.
    """

    name: str
    process: Any
    first_seconds: list[float]
    loss: float
    peak: int
    rounds: list[list[float]] = dataclasses.field(default_factory=list)

    @property
    def seconds(self) -> list[float]:
        """The times of the later calls, all rounds together."""
        return [seconds for calls in self.rounds for seconds in calls]

    def timing(self) -> Timing:
        """Returns the median of each round."""
        return Timing(self.name, tuple(map(statistics.median, self.rounds)))

    @classmethod
    def start(cls, model: str, name: str) -> Contestant:
        """Returns a contestant that is ready."""
        command = [sys.executable, "-m", "benchmarks.train", "--take-part", name, model]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for line in process.stdout:
            if line.startswith("ready "):
                first, loss, peak = line.split()[1:]
                return cls(name, process, [float(first)], float(loss), int(peak))
        raise RuntimeError(f"{name} on {model} ended early: run {' '.join(command[1:])}")

    def play(self) -> None:
        """Has it run some steps."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.rounds.append(list(map(float, self.process.stdout.readline().split())))

    def end(self) -> None:
        """Has the process end."""
        self.process.stdin.close()
        self.process.wait()


def race(model: str, names: list[str], n_rounds: int, n_first_calls: int = 1) -> list[Contestant]:
    """Returns the contestants of a model after some rounds."""
    before: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(n_first_calls - 1):
        for name in names if turn % 2 else reversed(names):
            one = Contestant.start(model, name)
            one.end()
            before[name] += one.first_seconds
    running = [Contestant.start(model, name) for name in names]
    for contestant in running:
        contestant.first_seconds += before[contestant.name]
    for turn in range(n_rounds):
        for contestant in running if turn % 2 == 0 else reversed(running):
            contestant.play()
    for contestant in running:
        contestant.end()
    return running


def left_out_of(model: str, named: list[str]) -> list[str]:
    """Returns the passes that are left out one after the other: those named, or all that change the model's graph."""
    if named:
        without(*named)  # which says what is no pass
        return named
    step = (STEPS | REAL)[model]()
    if step.has_objects:
        raise ValueError(f"{model} takes objects: name the passes that are to be left out")
    return fired(inline(jax.make_jaxpr(step.fn)(step.state, *step.data), also_custom=True))


def main() -> None:
    """Prints a table for each model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "models", nargs="*", metavar="MODEL", help=f"which of {', '.join(STEPS | REAL)}; the small ones if left out"
    )
    parser.add_argument("--rounds", type=int, default=12, help="how often each contestant has its turn")
    parser.add_argument("--first-calls", type=int, default=1, help="how often each is started for its first call")
    parser.add_argument("--only", action="append", help="a contestant besides the baseline; all if left out")
    parser.add_argument(
        "--without", nargs="*", metavar="PASS", help="`ja.jit` with all passes, and without each of these"
    )
    parser.add_argument("--json", type=pathlib.Path, help="write every call to this file")
    parser.add_argument("--take-part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.take_part:
        take_part(options.models[0], options.take_part)
        return
    from rich.console import Console
    from rich.table import Table

    console = Console(width=110)
    record: dict[str, Any] = {}
    for model in options.models or STEPS:
        if options.without is None:
            every = list(contestants((STEPS | REAL)[model]()))
            names = [name for name in every if not options.only or name in (every[0], *options.only)]
        else:
            names = [OURS, *(OURS + WITHOUT + name for name in left_out_of(model, options.without))]
        running = race(model, names, options.rounds, options.first_calls)
        record[model] = {
            c.name: {"first": c.first_seconds, "loss": c.loss, "peak": c.peak, "rounds": c.rounds} for c in running
        }
        table = Table(title=model, title_justify="left")
        for column in ("contestant", "first call", "min", "quartile", "median", "ratio", "peak"):
            table.add_column(column, justify="left" if column == "contestant" else "right", min_width=10)
        for contestant in running:
            seconds, firsts = contestant.seconds, contestant.first_seconds
            median = f" ({seconds_text(statistics.median(firsts))})" if len(firsts) > 1 else ""
            low, middle = np.quantile(seconds, (0.25, 0.5))
            ratio = f"{min(seconds) / min(running[0].seconds):.3f}"
            if options.without is not None:
                first, half, last = contestant.timing().ratios_to(running[0].timing())
                ratio = f"{half:.3f} ({first:.3f}–{last:.3f})"
            table.add_row(
                contestant.name,
                seconds_text(min(firsts)) + median,
                *map(seconds_text, (min(seconds), low, middle)),
                ratio,
                format_bytes(contestant.peak),
            )
        console.print(table)
    show_machine(console)
    title = "Training steps of models of real size" if set(record) <= set(REAL) else "Training steps"
    write_json(options.json, title=title, models=record)


if __name__ == "__main__":
    main()
