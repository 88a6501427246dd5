"""What each pass gains: time without it over time with all, on every function that it changes.

    python -m benchmarks.weigh convolutions --json convolutions.json
    python -m benchmarks.train gpt-4 --without --json gpt-4.json
    python -m benchmarks.weigh --table gpt-4.json convolutions.json

times the functions of a group with all passes of `ja.jit` and without each that changes something; then makes one
table, in Markdown, of what this and `benchmarks.train --without` wrote. A ratio above 1 says that the pass gains.

Settings of malloc hold for a whole process, so `keep_freed_memory`, and `subprograms` with it, are left to
`benchmarks.train`. On a busy machine CPU time, that of all cores together, says more than the time that elapses; but
not of what divides work among cores.
"""

from __future__ import annotations

import functools
import json
import pathlib
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

import jaxaot as ja
from benchmarks import convolutions, op_table, random_models, rewrites
from benchmarks.passes import fired, without
from benchmarks.runner import Timing, arguments, time_calls, write_json
from benchmarks.steps import STEPS
from jaxaot.backend.cpu.pipeline import KEEP_FREED_MEMORY, SHARDS, SUBPROGRAMS
from jaxaot.ir.rewrite import inline
from jaxaot.lower.executable import Executable
from jaxaot.ops.table import rows
from jaxaot.passes.pipeline import default_passes

Case = tuple[str, Callable[..., Any], Sequence[Any]]

BY_TRAIN = (SUBPROGRAMS, KEEP_FREED_MEMORY)

ALL = "all"

ROUND_SECONDS = 0.05


def _layers(_: Sequence[str]) -> Iterator[Case]:
    for layer in convolutions.LAYERS:
        yield f"convolution, {layer.name}", *convolutions.of_jax(layer)


def _rewrites(_: Sequence[str]) -> Iterator[Case]:
    for case in rewrites.CASES:
        yield case.name, *rewrites.graph_of(case)


def _ops(wanted: Sequence[str]) -> Iterator[Case]:
    words = {word for name in wanted for word in name.split()}
    for spec in rows():
        if spec.name in words or (not words and spec.name not in op_table.SLOW):
            yield from op_table.functions_of(spec)


def _steps(wanted: Sequence[str]) -> Iterator[Case]:
    for name, make in STEPS.items():
        if wanted and not name.startswith(tuple(wanted)):
            continue
        step = make()
        if not step.has_objects:
            yield name, step.fn, (step.state, *step.data)


def _random(_: Sequence[str]) -> Iterator[Case]:
    for seed in range(44):
        name, fn, args = random_models.model(seed)
        yield f"random model {seed}, {name}", fn, args


GROUPS: dict[str, Callable[[Sequence[str]], Iterator[Case]]] = {
    "steps": _steps,
    "convolutions": _layers,
    "rewrites": _rewrites,
    "ops": _ops,
    "random": _random,
}


Rounds = dict[str, dict[str, list[float]]]
"""By the pass that was left out, the seconds of each round, elapsed ("wall") and of all cores together ("cpu"), or once
what XLA counts: bytes read and written ("bytes"), and those of temporaries."""


def weighed(case: Case, passes: Sequence[str], n_rounds: int) -> Rounds:
    """Returns the times of a function with all passes and without each of some, in turns.

    Args:
      case: Its name, itself, and its arguments.
      passes: What is left out, one after the other.
      n_rounds: How often each is timed.
    """
    _, fn, args = case
    closed = inline(jax.make_jaxpr(fn)(*args), also_custom=True)
    leaves = jax.tree.leaves(args)
    runs: dict[str, Callable[[], Any]] = {}
    for left_out in (ALL, *passes):
        with ja.config(passes=without(*[left_out] * (left_out != ALL))):
            run = Executable(closed)
            jax.block_until_ready(run(*leaves))
        runs[left_out] = functools.partial(_finished, run, leaves)
    once = min(time_calls(run, 1) for run in runs.values() for _ in range(2))
    n_calls = max(1, int(ROUND_SECONDS / once))
    found: Rounds = {name: {"wall": [], "cpu": []} for name in runs}
    for turn in range(n_rounds):
        for name in runs if turn % 2 == 0 else reversed(runs):
            start = time.process_time()
            found[name]["wall"].append(time_calls(runs[name], n_calls))
            found[name]["cpu"].append((time.process_time() - start) / n_calls)
    return found


def counted(case: Case, passes: Sequence[str]) -> Rounds:
    """Returns what XLA counts of a function as one program, by the pass that is left out; nothing is run.

    Args:
      case: Its name, itself, and its arguments.
      passes: What is left out, one after the other.
    """
    _, fn, args = case
    closed = inline(jax.make_jaxpr(fn)(*args), also_custom=True)
    found: Rounds = {}
    for left_out in (ALL, *passes):
        with ja.config(passes=without(*{SHARDS, SUBPROGRAMS, KEEP_FREED_MEMORY, left_out} - {ALL})):
            program = Executable(closed)
        n_bytes = program.cost_analysis()["bytes accessed"]
        found[left_out] = {"bytes": [n_bytes], "temporaries": [program.memory_analysis().temp_size_in_bytes]}
    return found


def _finished(run: Callable[..., Any], leaves: Sequence[Any]) -> Any:
    return jax.block_until_ready(run(*leaves))


Ratios = dict[str, tuple[float, float, float]]
"""The quartiles of what is measured without a pass over what is with all, by kind."""


def read(paths: Sequence[pathlib.Path]) -> tuple[dict[str, dict[str, Ratios]], list[str]]:
    """Returns for each pass its ratios on each function, and the machines on which they were measured.

    Args:
      paths: What `benchmarks.train --without` and this module wrote.
    """
    found: dict[str, dict[str, Ratios]] = {}
    machines: list[str] = []
    for path in paths:
        record = json.loads(path.read_text(encoding="utf-8"))
        machines.append(", ".join(f"{key} {value}" for key, value in record["machine"].items()))
        timed: dict[str, Rounds] = dict(record.get("weighed", {}))
        for model, contestants in record.get("models", {}).items():
            timed[model] = {
                name.partition(" without ")[2] or ALL: {"wall": list(map(statistics.median, contestant["rounds"]))}
                for name, contestant in contestants.items()
            }
        for function, by_pass in timed.items():
            for name, own in by_pass.items():
                if name != ALL:
                    ratios = found.setdefault(name, {}).setdefault(function, {})
                    ratios.update({kind: _quartiles(own[kind], by_pass[ALL][kind]) for kind in own})
    return found, list(dict.fromkeys(machines))


def _quartiles(rounds: Sequence[float], baseline: Sequence[float]) -> tuple[float, float, float]:
    if len(rounds) == 1:
        ratio = rounds[0] / baseline[0]
        return ratio, ratio, ratio
    return Timing("", tuple(rounds)).ratios_to(Timing(ALL, tuple(baseline)))


def table(found: dict[str, dict[str, Ratios]], n_shown: int) -> Iterator[str]:
    """Yields the rows of the table: for each pass the functions on which it gains most, and that on which least.

    Args:
      found: For each pass its ratios on each function.
      n_shown: How many functions a pass has rows for.
    """
    yield "| pass | without it, over with all | time | CPU time | bytes read and written | temporaries |"
    yield "| --- | --- | --: | --: | --: | --: |"
    for name in dict.fromkeys((*default_passes("cpu"), *found)):
        most_first = sorted(
            found.get(name, {}).items(), key=lambda item: -max(middle for _, middle, _ in item[1].values())
        )
        shown = most_first if len(most_first) <= n_shown else [*most_first[: n_shown - 1], most_first[-1]]
        for function, ratios in shown:
            cells = (_cell(ratios.get(kind)) for kind in ("wall", "cpu", "bytes", "temporaries"))
            yield f"| `{name}` | {function} | {' | '.join(cells)} |"


def _cell(ratio: tuple[float, float, float] | None) -> str:
    if ratio is None:
        return ""
    low, middle, high = ratio
    return f"{middle:.2f}" + (f" ({low:.2f}–{high:.2f})" if low != high else "")


def main() -> None:
    """Times a group, or prints the table of what was timed."""
    parser = arguments(__doc__)
    parser.set_defaults(rounds=9)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"which of {', '.join(GROUPS)}")
    parser.add_argument("--only", nargs="*", metavar="PASS", help="what is left out; if not given, what changes it")
    parser.add_argument("--functions", nargs="*", metavar="TEXT", help="those whose name begins so; all if not given")
    parser.add_argument("--count", action="store_true", help="what XLA counts, in place of times")
    parser.add_argument("--at-most", type=int, default=sys.maxsize, help="on how many functions a pass is timed")
    parser.add_argument("--table", nargs="*", type=pathlib.Path, metavar="FILE", help="make the table of these files")
    parser.add_argument("--shown", type=int, default=5, help="how many functions a row of the table names")
    options = parser.parse_args()
    if options.table:
        found, machines = read(options.table)
        print("\n".join(table(found, options.shown)))
        print("\nMeasured on: " + "; ".join(machines))
        return
    timed: dict[str, Rounds] = {}
    times: Counter[str] = Counter()
    for case in (case for group in options.groups for case in GROUPS[group](options.functions or ())):
        name, fn, args = case
        if options.functions and not name.startswith(tuple(options.functions)):
            continue
        changing = options.only or fired(inline(jax.make_jaxpr(fn)(*args), also_custom=True))
        chosen = [p for p in changing if p not in BY_TRAIN and times[p] < options.at_most]
        if not chosen:
            continue
        times.update(chosen)
        timed[name] = counted(case, chosen) if options.count else weighed(case, chosen, options.rounds)
        write_json(options.json, weighed=timed)
        base = {kind: statistics.median(rounds) for kind, rounds in timed[name][ALL].items()}
        for p in chosen:
            shown = (f"{kind} {statistics.median(timed[name][p][kind]) / base[kind]:.2f}" for kind in base)
            print(f"{name}: without {p} {', '.join(shown)}", flush=True)
        jax.clear_caches()


if __name__ == "__main__":
    main()
