"""Steps of models of other libraries by `ja.jit` beside `jax.jit`: time, first call, memory; and budgets against XLA.

    python -m benchmarks.clients                        all models whose library is installed
    python -m benchmarks.clients haiku "linen CNN"      those whose names begin with one of these words
    python -m benchmarks.clients --no-budgets           steps alone
    python -m benchmarks.clients haiku --without hold   with a pass left out of `ja.jit`

Each model is a process of its own, in which the contestants take turns. A first call traces and compiles a function
that is not known yet; what the libraries jit themselves was traced before, for both. Memory is inputs, outputs and
temporaries of the whole step as one program, as `memory_analysis` says; it is the same on every run. For a model with a
loss there is a second table: loss and gradient by `ja.value_and_grad` under `ja.jit` at several budgets, beside plain
`jax.value_and_grad` under `jax.jit`, with what the partitioner estimated of the minimum cut. What is known of a model
is printed as soon as it is; `--markdown` prints the tables as a page has them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
from rich.console import Console
from rich.table import Table

from benchmarks.client_models import CLIENTS, Client
from benchmarks.passes import without
from benchmarks.runner import Result, Timing, arguments, machine, measure, seconds_text, show_machine, write_json
from jaxaot.partition import fitting

TITLE = "Models of other libraries"
BASELINE = "jax.jit"
OURS = "ja.jit"
BUDGETS: dict[str, Any] = {"min_cut": None, "0.5": 0.5, "0.1": 0.1}
FIT_SHARE = 0.9
"""The budget for everything, as a part of what plain JAX takes."""

TARGETS = {"step": 1.03, "first call": 1.05, "memory": 1.03}
"""What no ratio of ours is to be above."""

STEPS = ("model", "step of jax.jit", "ratio of least", "ratios of rounds", "first call", "memory")
CUTS = ("model", "budget", "plain", "taken", "of plain", "estimated", "of taken")


def taken_bytes(jitted: Any, *args: Any) -> int:
    """Returns what a jitted function takes for inputs, outputs and temporaries."""
    taken = fitting.taken_bytes(jitted.lower(*args).compile().memory_analysis())
    assert taken is not None, "XLA says it on every platform that the benchmark runs on"
    return taken


def estimated_bytes(graph: Any) -> int | None:
    """Returns what the partitioner estimates of the function that is cut in a graph; None if none is."""
    from jaxaot.ir.walk import sub_jaxprs
    from jaxaot.partition.timeline import memory_timeline

    for eqn in graph.eqns:
        parts = getattr(eqn.params.get("linear"), "parts", None)
        if parts is not None:
            return memory_timeline(parts).peak_bytes
        for body in sub_jaxprs(eqn):
            found = estimated_bytes(body)
            if found is not None:
                return found
    return None


def first_calls(client: Client, n_calls: int) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Returns the times of first calls, each of a function that is not known yet, and the functions of the last."""
    import jaxaot as ja

    contestants: dict[str, Any] = {BASELINE: jax.jit, OURS: ja.jit}
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    jitted: dict[str, Any] = {}
    jax.make_jaxpr(client.step)(*client.args)
    for turn in range(n_calls):
        for name in contestants if turn % 2 == 0 else reversed(contestants):

            def step(*args: Any) -> Any:
                return client.step(*args)

            start = time.perf_counter()
            jitted[name] = contestants[name](step)
            jax.block_until_ready(jitted[name](*client.args))
            seconds[name].append(time.perf_counter() - start)
    return seconds, {name: jitted[name] for name in contestants}


def budgets(client: Client) -> list[dict[str, Any]]:
    """Returns, for each budget, what the gradient takes and what was estimated."""
    import jaxaot as ja

    if client.model is None:
        return []
    loss, given = client.model.loss, (client.model.parameters, *client.model.data)
    plain = taken_bytes(jax.jit(jax.value_and_grad(loss)), *given)
    found = []
    limit = int(FIT_SHARE * plain)
    for name, budget in {**BUDGETS, f"fit:{FIT_SHARE:g} of plain": f"fit:{limit}B"}.items():
        gradient = ja.value_and_grad(loss, memory_budget=budget)
        row: dict[str, Any] = {"budget": name, "plain": plain, "taken": None, "estimated": None}
        with contextlib.suppress(ja.errors.BudgetError):
            row["taken"] = taken_bytes(ja.jit(gradient), *given)
            if budget is None:  # of the others several programs may have been made
                row["estimated"] = estimated_bytes(jax.make_jaxpr(gradient)(*given).jaxpr)
        found.append(row)
    return found


def take_part(name: str, options: Any) -> dict[str, Any]:
    """Returns what there is to say of one model."""
    import jaxaot as ja

    with ja.config(passes=without(*options.without)) if options.without else contextlib.nullcontext():
        client = CLIENTS[name]()
        first, jitted = first_calls(client, options.first_calls)
        taken = {contestant: taken_bytes(run, *client.args) for contestant, run in jitted.items()}
        calls: dict[str, Callable[[], Any]] = {
            contestant: lambda run=run: jax.block_until_ready(jax.tree.leaves(run(*client.args)))
            for contestant, run in jitted.items()
        }
        timed = measure(name, calls, BASELINE, n_rounds=options.rounds, round_seconds=0.2)
        cuts = budgets(client) if options.budgets else []
    rounds = {timing.name: timing.rounds for timing in timed.timings}
    return {"model": name, "first": first, "taken": taken, "rounds": rounds, "budgets": cuts}


def _mib(n_bytes: int | None) -> str:
    return "–" if n_bytes is None else f"{n_bytes / 2**20:.2f} MiB"


def _of(part: float | None, whole: float | None) -> str:
    return "–" if not part or not whole else f"{part / whole:.3f}"


def step_row(found: dict[str, Any]) -> list[str]:
    """Returns a line of the first table."""
    timings = [Timing(name, tuple(found["rounds"][name])) for name in (BASELINE, OURS)]
    result = Result(found["model"], BASELINE, tuple(timings))
    least = {timing.name: min(timing.rounds) for timing in result.timings}
    low, middle, high = result.find(OURS).ratios_to(result.find(BASELINE))
    first = {name: min(seconds) for name, seconds in found["first"].items()}
    return [
        found["model"],
        seconds_text(least[BASELINE]),
        _of(least[OURS], least[BASELINE]),
        f"{middle:.2f} ({low:.2f}–{high:.2f})",
        f"{_of(first[OURS], first[BASELINE])} of {seconds_text(first[BASELINE])}",
        f"{_of(found['taken'][OURS], found['taken'][BASELINE])} of {_mib(found['taken'][BASELINE])}",
    ]


def cut_rows(found: dict[str, Any]) -> list[list[str]]:
    """Returns the lines of the second table."""
    return [
        [
            found["model"] if row is found["budgets"][0] else "",
            row["budget"],
            _mib(row["plain"]),
            "does not fit" if row["taken"] is None else _mib(row["taken"]),
            _of(row["taken"], row["plain"]),
            _mib(row["estimated"]),
            _of(row["estimated"], row["taken"]),
        ]
        for row in found["budgets"]
    ]


def print_table(title: str, columns: tuple[str, ...], rows: list[list[str]], is_markdown: bool) -> None:
    """Prints a table for people, or for a page."""
    if is_markdown:
        print(f"\n{title}\n")
        for line in (columns, ["---"] * len(columns), *rows):
            print(f"| {' | '.join(line)} |")
        return
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="left" if column in ("model", "budget") else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=130).print(table)


def started(name: str, options: Any) -> dict[str, Any] | None:
    """Returns what a process of its own says of one model; None if its library is missing or it fails."""
    command = [sys.executable, "-m", "benchmarks.clients", "--take-part", name, "--rounds", str(options.rounds)]
    command += ["--first-calls", str(options.first_calls), "--without", *options.without]
    command += [] if options.budgets else ["--no-budgets"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            found = json.loads(line)
            print(" | ".join(step_row(found)), file=sys.stderr, flush=True)
            return found
    why = done.stderr.strip().splitlines()[-1:] or ["it ended early"]
    print(f"{name}: left out: {why[0]}", file=sys.stderr)
    return None


def main() -> None:
    """Prints the tables."""
    parser = arguments(__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"beginnings of: {', '.join(CLIENTS)}")
    parser.add_argument("--first-calls", type=int, default=3, help="how often each is called for the first time")
    parser.add_argument("--no-budgets", dest="budgets", action="store_false", help="leave out the second table")
    parser.add_argument("--without", nargs="*", default=[], metavar="PASS", help="passes that `ja.jit` leaves out")
    parser.add_argument("--markdown", action="store_true", help="print the tables for a page")
    parser.add_argument("--take-part", help="print what there is to say of one model, in this process")
    options = parser.parse_args()
    if options.take_part:
        print(json.dumps(take_part(options.take_part, options), default=dataclasses.asdict))
        return
    names = [name for name in CLIENTS if not options.models or name.startswith(tuple(options.models))]
    found = [result for name in names if (result := started(name, options)) is not None]
    print_table("Steps of ja.jit, of jax.jit", STEPS, [step_row(one) for one in found], options.markdown)
    if options.budgets:
        rows = [row for one in found for row in cut_rows(one)]
        print_table("Loss and gradient in one program", CUTS, rows, options.markdown)
    print(", ".join(f"{key} {value}" for key, value in machine().items())) if options.markdown else show_machine(
        Console()
    )
    write_json(options.json, title=TITLE, clients=found)


if __name__ == "__main__":
    main()
