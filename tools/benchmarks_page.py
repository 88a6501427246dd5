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

How fast jaxaot is beside JAX and PyTorch. `python tools/benchmarks_page.py` writes this page from
[benchmarks/results](../benchmarks/README.md), which holds every round of every contestant. Contestants take turns. The
first column of times is the baseline; the others add the ratio to the baseline, formed within a round: above 1 is
slower. Times are the least, ratios medians with quartiles in brackets. Where other work ran on the machine, the section
says so: ratios hold then, within their quartiles, and durations do not. [Make a CPU step faster](speed.md) says what
the figures mean.
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
    results = [cells_of(result) for result in map(as_result, record["results"])]
    return "\n".join([*lines, *tables("case", results), *per_device(record.get("devices", ()))])


def cells_of(result: Result) -> tuple[str, dict[str, str]]:
    """Returns a case, and of each contestant its least time and the ratio to the baseline, which is the first."""
    baseline = result.find(result.baseline)
    cells = {baseline.name: seconds_text(min(baseline.rounds))}
    for timing in result.timings:
        if timing is not baseline:
            low, half, high = map(ratio_text, timing.ratios_to(baseline))
            cells[timing.name] = f"{seconds_text(min(timing.rounds))}, {half} ({low}–{high})"
    return result.case, cells


MAX_COLUMNS = 4
"""The most contestants of a single case that stand side by side."""


def tables(case: str, rows: Sequence[tuple[str, dict[str, str]]]) -> list[str]:
    """Returns tables of rows, a table for each list of contestants."""
    grouped: dict[tuple[str, ...], list[tuple[str, dict[str, str]]]] = {}
    for row in rows:
        grouped.setdefault(tuple(row[1]), []).append(row)
    lines: list[str] = []
    for contestants, group in grouped.items():
        shown = [(case, *contestants), *((name, *cells.values()) for name, cells in group)]
        if len(group) == 1 and len(contestants) > MAX_COLUMNS:
            shown = [(group[0][0], ""), *group[0][1].items()]
        rule = ["---", *["--:"] * (len(shown[0]) - 1)]
        lines += ["", *(f"| {' | '.join(cells)} |" for cells in (shown[0], rule, *shown[1:]))]
    return lines[1:]


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
    """Returns tables of training steps: later calls beside the baseline, then first calls and peaks of the process."""
    later, first = [], []
    for model, contestants in models.items():
        timings = tuple(Timing(name, tuple(map(median, told["rounds"]))) for name, told in contestants.items())
        cells = cells_of(Result(model, timings[0].name, timings))[1]
        for name, told in contestants.items():
            least = seconds_text(min(seconds for round_ in told["rounds"] for seconds in round_))
            cells[name] = ",".join([least, *cells[name].split(",")[1:]])
        later.append((model, cells))
        peaks = {
            name: "" if told["peak"] is None else f", {format_bytes(told['peak'])}"
            for name, told in contestants.items()
        }
        first.append(
            (model, {name: seconds_text(min(told["first"])) + peaks[name] for name, told in contestants.items()})
        )
    return [*tables("model", later), "", "First calls, and the peak of the process:", "", *tables("model", first)]


def clients(found: list[dict[str, Any]]) -> list[str]:
    """Returns tables of steps of models of other libraries, and of the memory of their gradients at budgets."""
    kept = []
    for one in found:
        rows = [dict(zip(CUTS, row, strict=True)) for row in cut_rows(one)]
        if not rows:
            continue
        cells = {"plain": rows[0]["plain"]}
        for row in rows:
            is_told = row["estimated"] != "–" and row["of taken"] != "–"
            cells[row["budget"]] = row["taken"] + (f" ({row['of taken']})" if is_told else "")
        kept.append((one["model"], cells))
    steps = [dict(zip(STEPS, row, strict=True)) for row in (STEPS, *map(step_row, found))]
    told = [[cell for name, cell in row.items() if name != "ratio of least"] for row in steps]
    shown = [f"| {' | '.join(cells)} |" for cells in (told[0], ["---"] * len(told[0]), *told[1:])]
    return [
        *shown,
        "",
        "The memory of loss and gradient in one program; in brackets what is estimated, as a part of it:",
        "",
        *tables("model", kept),
    ]


def page(folder: pathlib.Path = FOLDER) -> str:
    """Returns the page of all results in a folder."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return "\n".join([HEAD, *(section(record) + "\n" for record in records)])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
