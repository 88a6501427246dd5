"""How a profile is shown: as tables of 100 columns or fewer, and as a trace for Perfetto."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from typing import Any

from jaxaot._util import format_bytes, format_seconds
from jaxaot.plan.sharding import ON_ONE_DEVICE
from jaxaot.profiling.measures import Measures, ModuleRow
from jaxaot.profiling.rows import Row

WIDTH = 100
_MODULE, _OPERATION, _LINE, _TYPE = 32, 16, 16, 28
_MAX_MODULES, _MAX_OPERATIONS, _MAX_LIVING = 16, 16, 8
_NUMBER = re.compile(r"(?<![A-Za-z0-9])\d+|(?<=_)\d+")


def profile_text(profile: Measures, width: int = WIDTH) -> str:
    """Returns a profile as text of some columns: sums, modules, operations, and what lives at the peak."""
    from rich.console import Console  # takes long to import

    text = io.StringIO()
    console = Console(file=text, width=width, color_system=None, force_jupyter=False, highlight=False)
    for line in _head(profile):
        console.print(line, markup=False)
    for table in (_module_table(profile), _operation_table(profile), _living_table(profile)):
        if table is not None:
            for column in table.columns:
                column.no_wrap = width >= WIDTH
                column.overflow = "ellipsis" if width >= WIDTH else "fold"
            console.print()
            console.print(table, markup=False)
    return "\n".join(line.rstrip() for line in text.getvalue().rstrip().splitlines())


def format_count(count: float) -> str:
    """Returns a count for people, such as `17.6 G`."""
    size = float(count)
    for unit in ("", "k", "M", "G", "T", "P", "E", "Z", "Y"):
        if abs(size) < 1000 or unit == "Y":
            return f"{size:.3g} {unit}".rstrip() if abs(size) < 1000 else f"{size:.2e} {unit}"
        size /= 1000
    raise AssertionError("unreachable")


def _head(profile: Measures) -> list[str]:
    has_backward = profile.has_backward
    flops = f"{format_count(profile.flops)}FLOP"
    if has_backward:
        flops += f" (forward {format_count(profile.forward_flops)}, backward {format_count(profile.backward_flops)}"
        again = profile.recomputed_flops
        flops += f", of which again {format_count(again)})" if again else ")"
    lines = [
        f"{profile.name}: {flops}, {format_bytes(profile.bytes)} moved, {profile.intensity:.3g} FLOP/byte",
        f"on {profile.target.name} at best {format_seconds(profile.seconds)}, operation by operation",
    ]
    memory = f"memory: {profile.timeline}"
    if has_backward:
        kept = f"{format_bytes(profile.saved_bytes)} kept for the backward"
        budget = "" if profile.memory_budget is None else f" at the budget {profile.memory_budget!r}"
        lines.append(f"{kept}{budget} (everything: {format_bytes(profile.save_all_bytes)})")
    lines.append(memory)
    if profile.spread != ON_ONE_DEVICE:
        kept = f"{format_bytes(profile.device_saved_bytes)} kept for the backward, " if has_backward else ""
        peak = format_bytes(profile.device_peak_bytes)
        lines.append(f"of this on one device, if what is computed lies as the batch does: {kept}peak {peak}")
    return lines


def _table(title: str, names: Sequence[str], widths: Sequence[int]) -> Any:
    """Returns an empty table; its first columns are texts, which are cut to widths."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 1))
    for i, name in enumerate(names):
        is_text = i < len(widths)
        width = widths[i] if is_text else None
        justify = "left" if is_text else "right"
        table.add_column(name, justify=justify, max_width=width)
    return table


def _cut(text: str, width: int) -> str:
    """Returns a text of at most some characters, of which the first ones are left out."""
    return text if len(text) <= width else "…" + text[1 - width :]


def collapsed(module: str) -> str:
    """Returns the path of a module with a star in place of each number, so that repeated ones are alike."""
    return _NUMBER.sub("*", module)


def _module_table(profile: Measures) -> Any:
    """Returns the outer modules, those that differ by a number together, those that take longest first."""
    together: dict[str, list[ModuleRow]] = {}
    for row in profile.modules:
        together.setdefault(collapsed(row.module), []).append(row)
    if not together:
        return None
    table = _table("modules", ("module", "n", "forward", "backward", "parameters", "kept", "time", "share"), (_MODULE,))
    total = max(1e-12, profile.seconds) * 1e12
    sums = [(name, len(rows), [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)])
            for name, rows in together.items()]  # fmt: skip
    sums.sort(key=lambda item: -item[2][5] - item[2][6])
    for name, n, (forward, backward, _, parameters, saved, time, time_behind) in sums[:_MAX_MODULES]:
        taken = time + time_behind
        table.add_row(
            _cut(name, _MODULE), str(n), format_count(forward), format_count(backward), format_bytes(parameters),
            format_bytes(saved), format_seconds(taken / 1e12), f"{100 * taken / total:.1f} %",
        )  # fmt: skip
    _add_rest(table, len(sums) - _MAX_MODULES)
    return table


def _operation_table(profile: Measures) -> Any:
    """Returns the operations by primitive and line, those that take longest first."""
    together: dict[tuple[str, str], list[Row]] = {}
    for row in profile.rows:
        together.setdefault((row.op, row.line), []).append(row)
    names = ("operation", "line", "n", "forward", "backward", "moved", "kept", "time", "share")
    table = _table("operations", names, (_OPERATION, _LINE))
    total = max(1e-12, profile.seconds) * 1e12
    found = sorted(together.items(), key=lambda item: (-sum(r.picoseconds for r in item[1]), item[0]))
    shown = [item for item in found if any(row.flops or row.picoseconds or row.saved_bytes for row in item[1])]
    for (op, line), rows in shown[:_MAX_OPERATIONS]:
        taken = sum(row.picoseconds for row in rows)
        table.add_row(
            _cut(op, _OPERATION), _cut(line, _LINE), str(sum(row.n_times for row in rows)),
            format_count(sum(row.flops for row in rows if row.side == "forward")),
            format_count(sum(row.flops for row in rows if row.side == "backward")),
            format_bytes(sum(row.bytes for row in rows)), format_bytes(sum(row.saved_bytes for row in rows)),
            format_seconds(taken / 1e12), f"{100 * taken / total:.1f} %",
        )  # fmt: skip
    _add_rest(table, len(found) - _MAX_OPERATIONS)
    return table


def _living_table(profile: Measures) -> Any:
    table = _table(
        "largest in memory at the peak", ("what", "type", "line", "n", "bytes", "share"), (_OPERATION + 8, _TYPE, _LINE)
    )
    peak = max(1, profile.peak_bytes)
    for value in profile.living[:_MAX_LIVING]:
        name = f"{value.role} {value.name}".rstrip()
        share = f"{100 * value.bytes / peak:.1f} %"
        texts = _cut(name, _OPERATION + 8), value.shape, _cut(value.line, _LINE)
        table.add_row(*texts, str(value.n_values), format_bytes(value.bytes), share)
    _add_rest(table, len(profile.living) - _MAX_LIVING)
    return table if profile.living else None


def _add_rest(table: Any, n: int) -> None:
    if n > 0:
        table.add_row(f"… {n} more")


def write_trace(profile: Measures, file: Any) -> None:
    """Writes a profile in the Trace Event Format of Chrome, which Perfetto reads.

    A row lasts as long as the roofline says. The memory is that of the timeline, whose moments are spread over the time
    of the side that they belong to.
    """
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": f"{profile.name} on {profile.target.name}"}}
    ]
    tracks = {"forward": 1, "backward": 2}
    for side, track in tracks.items():
        events.append({"ph": "M", "pid": 1, "tid": track, "name": "thread_name", "args": {"name": side}})
    start, ends = 0.0, {}
    for row in profile.rows:
        duration = row.picoseconds / 1e6  # in microseconds, as the format wants
        arguments = {name: value for name, value in row._asdict().items() if name not in ("side", "op", "picoseconds")}
        if duration:
            events.append(
                {"ph": "X", "pid": 1, "tid": tracks[row.side], "name": row.op, "cat": row.module or row.side,
                 "ts": start, "dur": duration, "args": arguments}
            )  # fmt: skip
        start += duration
        ends[row.side] = start
    begin = 0.0
    for side in tracks:
        moments = [moment for moment in profile.timeline.moments if moment.side == side]
        length = ends.get(side, begin) - begin
        for i, moment in enumerate(moments):
            events.append(
                {"ph": "C", "pid": 1, "name": "memory in use", "ts": begin + length * i / len(moments),
                 "args": {"bytes": moment.bytes}}
            )  # fmt: skip
        begin = ends.get(side, begin)
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, out)
