"""Writes docs/benchmarks.md from the results in benchmarks/results: `python tools/benchmarks_page.py`.

A result is what a benchmark wrote with `--json`: each round of each contestant, the command, the day and the machine.
The page holds no other number.
"""

from __future__ import annotations

import json
import pathlib
import sys
import textwrap
from collections.abc import Sequence
from statistics import median
from typing import Any

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.clients import CUTS, STEPS, cut_rows, step_row  # noqa: E402
from benchmarks.runner import Result, Timing, seconds_text  # noqa: E402
from jaxaot._util import format_bytes  # noqa: E402

FOLDER, PAGE = ROOT / "benchmarks" / "results", ROOT / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

`python tools/benchmarks_page.py` writes this page from [benchmarks/results](../benchmarks/README.md), which holds every
round of every contestant. Contestants take turns, and ratios are formed within a round: above 1 is slower than the
baseline. Shown are medians, and quartiles in brackets. Where other work ran on the machine, the section says so: ratios
hold then, within their quartiles, and durations do not. [speed.md](speed.md) and [passes.md](passes.md) have more
models, and say what the figures mean.
"""


def as_result(read: dict[str, Any]) -> Result:
    """Returns a case as the runner holds it."""
    timings = tuple(Timing(timing["name"], tuple(timing["rounds"])) for timing in read["timings"])
    return Result(read["case"], read["baseline"], timings)


def ratio_text(ratio: float) -> str:
    """Returns a ratio with two decimals, a smaller one with two digits that say something."""
    return f"{ratio:.2f}" if ratio >= 0.095 else f"{ratio:.2g}"


def section(record: dict[str, Any]) -> str:
    """Returns a result as a section: what was run, where, and a table."""
    machine = dict(record["machine"])
    where = f"{machine.pop('cores')} cores of {machine.pop('cpu')}"
    if "device" in machine:
        where += f", device {machine.pop('device')}"
    where += "".join(f", {name} {version}" for name, version in machine.items())
    n_cores = record["machine"]["cores"]
    busy = f"{record['load']:.0f} processes wanted its {n_cores} cores." if record["load"] > n_cores + 1 else ""
    said = f"`{record['command']}`, on {record['day']}. Machine: {where}. {busy}"
    lines = [f"## {record['title']}", "", textwrap.fill(said.strip(), 119, break_long_words=False), ""]
    if "sizes" in record:
        return "\n".join([*lines, *totals(record["sizes"])])
    if "clients" in record:
        return "\n".join([*lines, *clients(record["clients"])])
    if "models" in record:
        return "\n".join([*lines, *steps(record["models"])])
    lines += ["| case | contestant | least | median | ratio to the baseline |", "| --- | --- | --: | --: | --: |"]
    for result in map(as_result, record["results"]):
        baseline = result.find(result.baseline)
        for place, timing in enumerate(result.timings):
            least, _, middle, _ = timing.quartiles()
            ratio = "baseline"
            if timing is not baseline:
                low, half, high = timing.ratios_to(baseline)
                ratio = f"{ratio_text(half)} ({ratio_text(low)}–{ratio_text(high)})"
            case = result.case if place == 0 else ""
            lines.append(f"| {case} | {timing.name} | {seconds_text(least)} | {seconds_text(middle)} | {ratio} |")
    return "\n".join([*lines, *per_device(record.get("devices", ()))])


def per_device(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Returns a table of what one device holds and exchanges in each program."""
    if not rows:
        return []
    lines = ["", "| of one device | arguments | results | temporary | exchanges |", "| --- | --: | --: | --: | --- |"]
    for row in rows:
        exchanges = (f"{n} {kind} {format_bytes(size)}" for kind, (n, size) in row["collectives"].items())
        held = " | ".join(format_bytes(row[name]) for name in ("arguments", "results", "temporary"))
        lines.append(f"| {row['program']} | {held} | {', '.join(exchanges)} |")
    return lines


def totals(rows: list[dict[str, Any]]) -> list[str]:
    """Returns a table of calls of many sizes: programs, seconds of all calls, and of one whose size was seen before."""
    lines = [
        "| case | contestant | programs | CPU | clock | a size seen before |",
        "| --- | --- | --: | --: | --: | --: |",
    ]
    before = ""
    for row in rows:
        case, before = "" if row["case"] == before else row["case"], row["case"]
        again = "" if row["median_seconds_again"] is None else seconds_text(row["median_seconds_again"])
        took = f"{row['cpu_seconds']:.1f} s | {row['seconds']:.1f} s"
        lines.append(f"| {case} | {row['contestant']} | {row['programs']} | {took} | {again} |")
    return lines


def steps(models: dict[str, Any]) -> list[str]:
    """Returns a table of training steps: the first call, later ones beside the baseline, the peak of the process."""
    lines = [
        "| model | contestant | first call | least | median | ratio to the baseline | peak of the process |",
        "| --- | --- | --: | --: | --: | --: | --: |",
    ]
    for model, contestants in models.items():
        timings = {name: Timing(name, tuple(map(median, told["rounds"]))) for name, told in contestants.items()}
        baseline = next(iter(timings.values()))
        for name, told in contestants.items():
            ratio = "baseline"
            if timings[name] is not baseline:
                low, half, high = timings[name].ratios_to(baseline)
                ratio = f"{ratio_text(half)} ({ratio_text(low)}–{ratio_text(high)})"
            calls = [seconds for round_ in told["rounds"] for seconds in round_]
            shown = map(seconds_text, (min(told["first"]), min(calls), median(calls)))
            case = model if timings[name] is baseline else ""
            peak = "" if told["peak"] is None else format_bytes(told["peak"])
            lines.append(f"| {case} | {name} | {' | '.join(shown)} | {ratio} | {peak} |")
    return lines


def clients(found: list[dict[str, Any]]) -> list[str]:
    """Returns tables of steps of models of other libraries, and of their gradients at budgets."""
    tables = [(STEPS, list(map(step_row, found))), (CUTS, [row for one in found for row in cut_rows(one)])]
    lines: list[str] = []
    for columns, rows in tables:
        shown = (columns, ["---"] * len(columns), *rows)
        lines += ["", *(f"| {' | '.join(cells)} |" for cells in shown)]
    return lines[1:]


def page(folder: pathlib.Path = FOLDER) -> str:
    """Returns the page of all results in a folder."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return "\n".join([HEAD, *(section(record) + "\n" for record in records)])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
