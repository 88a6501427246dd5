"""Times contestants against one another in one run.

A *contestant* is a function without arguments, a *case* a question put to several of them, a *round* one short timing
of each contestant in turn. Contestants are interleaved round by round, so that a busy machine slows them alike, and
ratios are formed within a round before they are summarised.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

Contestant = Callable[[], Any]


@dataclasses.dataclass(frozen=True)
class Timing:
    """Seconds per call of one contestant, one number for each round."""

    name: str
    rounds: tuple[float, ...]

    def quartiles(self) -> tuple[float, float, float, float]:
        """Returns the least, lower quartile, median and upper quartile."""
        low, middle, high = statistics.quantiles(self.rounds, n=4, method="inclusive")
        return min(self.rounds), low, middle, high

    def ratios_to(self, baseline: Timing) -> tuple[float, float, float]:
        """Returns the quartiles of this contestant's time over the baseline's, round by round."""
        ratios = [own / other for own, other in zip(self.rounds, baseline.rounds, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
        return low, middle, high


@dataclasses.dataclass(frozen=True)
class Result:
    """What one case came to; `baseline` names the contestant that the others are compared with."""

    case: str
    baseline: str
    timings: tuple[Timing, ...]

    def find(self, name: str) -> Timing:
        """Returns the timing of a contestant."""
        return next(timing for timing in self.timings if timing.name == name)


def settle(value: Any) -> None:
    """Waits until what a contestant returned is computed."""
    for leaf in value if isinstance(value, (list, tuple)) else [value]:
        jax_value = leaf.detach().jax() if hasattr(leaf, "untyped_storage") and hasattr(leaf, "jax") else leaf
        if hasattr(jax_value, "block_until_ready"):
            jax_value.block_until_ready()


def time_calls(fn: Contestant, n_calls: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Returns seconds per call of `n_calls` calls in a row, the last one waited for."""
    start = clock()
    for _ in range(n_calls - 1):
        fn()
    settle(fn())
    return (clock() - start) / n_calls


def measure(
    case: str,
    contestants: Mapping[str, Contestant],
    baseline: str,
    *,
    n_rounds: int = 15,
    round_seconds: float = 0.05,
    max_calls: int = 2000,
    clock: Callable[[], float] = time.perf_counter,
) -> Result:
    """Returns the timings of contestants, interleaved.

    Args:
      case: What is measured.
      contestants: Name → function; each is called twice first, to compile.
      baseline: The contestant that the others are compared with.
      n_rounds: How often each is timed.
      round_seconds: About how long one timing lasts; it sets how many calls it makes.
      max_calls: The most calls of one timing.
      clock: What is measured, in seconds: `time.process_time` for processor time of all cores.
    """
    n_calls = {}
    for name, fn in contestants.items():
        settle(fn())
        settle(fn())
        once = min(time_calls(fn, 1) for _ in range(3))
        n_calls[name] = max(1, min(max_calls, int(round_seconds / max(once, 1e-9))))
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(n_rounds):
        names = list(contestants)
        for name in names if turn % 2 == 0 else reversed(names):
            seconds[name].append(time_calls(contestants[name], n_calls[name], clock))
    return Result(case, baseline, tuple(Timing(name, tuple(seconds[name])) for name in contestants))


def machine() -> dict[str, Any]:
    """Returns what the numbers were measured on."""
    import jax
    import jaxlib

    model = platform.processor() or platform.machine()
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    described = {
        "cpu": model,
        "cores": cores,
        "device": str(jax.devices()[0].device_kind),
        "python": platform.python_version(),
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
    }
    torch = find_torch()
    if torch is not None:
        described["torch"] = f"{torch.__version__}, {torch.get_num_threads()} threads"
    return described


def find_torch() -> Any:
    """Returns PyTorch if it is installed, else None; its contestants are then left out."""
    try:
        import torch
    except ImportError:
        return None
    return torch


def peak_resident() -> int:
    """Returns the most bytes that this process held until now.

    `getrusage` would count what its parent held when it started this process, too.
    """
    try:
        lines = pathlib.Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:  # macOS, where the unit is a byte
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def seconds_text(seconds: float) -> str:
    """Returns a duration for people."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def show(title: str, results: list[Result]) -> None:
    """Prints the results as a table: least, quartiles, and the ratio to the baseline with its spread."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for column in ("case", "contestant"):
        table.add_column(column)
    for column in ("min", "quartile", "median", "ratio to baseline"):
        table.add_column(column, justify="right", no_wrap=True)
    for result in results:
        baseline = result.find(result.baseline)
        for position, timing in enumerate(result.timings):
            least, low, middle, _ = timing.quartiles()
            ratio = "baseline"
            if timing is not baseline:
                first, half, last = timing.ratios_to(baseline)
                ratio = f"{half:.3g} ({first:.3g}–{last:.3g})"
            table.add_row(
                result.case if position == 0 else "",
                timing.name,
                seconds_text(least),
                seconds_text(low),
                seconds_text(middle),
                ratio,
                end_section=position == len(result.timings) - 1,
            )
    console = Console(width=None if os.isatty(1) else 120)
    console.print(table)
    show_machine(console)


def show_machine(console: Any) -> None:
    """Prints what the numbers were measured on."""
    console.print(", ".join(f"{name} {value}" for name, value in machine().items()), style="dim")


def write_json(path: pathlib.Path | None, **record: Any) -> None:
    """Writes a record and the machine, if there is a path; results with every round of every contestant."""
    if path is not None:
        when = {"day": f"{datetime.date.today()}", "load": os.getloadavg()[2]}
        record = {"command": command(), **when, "machine": machine(), **record}
        path.write_text(json.dumps(record, indent=2, default=dataclasses.asdict), encoding="utf-8")


def command() -> str:
    """Returns the command line of this run, without the file that it writes."""
    rest = list(sys.argv[1:])
    if "--json" in rest:
        place = rest.index("--json")
        del rest[place : place + 2]
    return " ".join(["python -m", f"benchmarks.{pathlib.Path(sys.argv[0]).stem}", *rest])


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Returns the options that all benchmarks share."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15, help="how often each contestant is timed")
    parser.add_argument("--json", type=pathlib.Path, help="write every round to this file")
    return parser


def report(title: str, results: list[Result], options: argparse.Namespace) -> None:
    """Prints the results, and writes them if asked to."""
    show(title, results)
    write_json(options.json, title=title, results=results)
