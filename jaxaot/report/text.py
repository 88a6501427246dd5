"""A report as text: the summary first, then every stage."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from jaxaot._util import format_bytes
from jaxaot.report.contents import Contents, Graph, Memory, Part, Value

_MAX_VALUES = 8
"""How many saved values the summary shows; the partition lists all."""
_MAX_PLACES = 5
_BARS = "▁▂▃▄▅▆▇█"


def report_text(report: Contents, width: int) -> str:
    """Returns a report as text; `width` is that of the summary."""
    stages = [f"# {section.title}\n{section.text}" for section in report.sections]
    stages += [_part_text(part) for part in report.parts]
    return "\n\n".join(["\n".join(summary_lines(report, width)), *stages])


def summary_lines(report: Contents, width: int) -> Iterator[str]:
    """Yields the summary of a report, line by line."""
    yield f"{report.name}, by {report.kind} on {report.platform}"
    if report.changed is not None:
        yield from _block("changes", report.changed or ("nothing but its results",), width)
    code = {(number, line): text for number, s in enumerate(report.sources) for line, text in s.lines}
    places = {
        line.place: code.get((line.file, line.number), "")
        for part in report.parts
        for line in part.lines
        if line.file is not None
    }
    for part in report.parts:
        if part.backward is None:
            continue
        yield from _block(f"{part.title}: kept for the backward", (part.plan,), width)
        for value in part.saved[:_MAX_VALUES]:
            yield from _wrapped(f"{value.name}: {value.type}, {format_bytes(value.bytes)}, {value.why}", width, 4)
            if value.place:
                yield from _wrapped(f"{value.place}: {places.get(value.place, '').strip()}".rstrip(": "), width, 8)
        if len(part.saved) > _MAX_VALUES:
            yield f"    … and {len(part.saved) - _MAX_VALUES} more, listed below"
        if part.recomputed:
            yield from _block("computed again", (_again(part.recomputed),), width)
    if report.passes is not None:
        yield from _block("passes", report.passes or ("none",), width)
    if report.collectives:
        yield from _block("exchanges between devices", report.collectives, width)
    for part in report.parts:
        if part.memory is not None:
            yield from _block(f"memory of {part.title}", (part.memory.peak,), width)
            if part.memory.bytes:
                yield f"    {bars(part.memory, min(60, width - 8))}"
    yield from _block("programs", report.programs, width) if report.programs else ()
    yield from _block("to see more", report.hints, width) if report.hints else ()


def _block(title: str, lines: Sequence[str], width: int) -> Iterator[str]:
    yield f"  {title}:"
    for line in lines:
        for part in line.splitlines():
            yield from _wrapped(part, width, 4)


def _wrapped(line: str, width: int, indent: int) -> list[str]:
    text = line.lstrip()
    first = " " * (indent + len(line) - len(text))
    return textwrap.wrap(
        text, max(20, width), initial_indent=first, subsequent_indent=first + "  ", break_long_words=False
    )


def _again(values: Sequence[Value]) -> str:
    """Returns how many values are computed again, and where most of their bytes come from."""
    by_place: dict[str, int] = {}
    for value in values:
        by_place[value.place] = by_place.get(value.place, 0) + value.bytes
    shown = sorted(by_place.items(), key=lambda item: -item[1])
    listed = ", ".join(f"{place or 'no line'} {format_bytes(size)}" for place, size in shown[:_MAX_PLACES])
    rest = len(shown) - _MAX_PLACES
    total = format_bytes(sum(value.bytes for value in values))
    return f"{len(values)} values, {total}: {listed}" + (f", and {rest} more lines" if rest > 0 else "")


def bars(memory: Memory, most: int) -> str:
    """Returns the memory over time as a row of bars, with a stroke between forward and backward."""
    n, top = len(memory.bytes), max(memory.bytes)
    columns = min(n, max(1, most))
    text = ""
    for k in range(columns):
        start, end = k * n // columns, max(k * n // columns + 1, (k + 1) * n // columns)
        height = max(memory.bytes[start:end]) / top if top else 0
        if k and start >= memory.n_forward and (k - 1) * n // columns < memory.n_forward:
            text += "|"
        text += _BARS[min(len(_BARS) - 1, int(height * len(_BARS)))]
    return text


def _part_text(part: Part) -> str:
    graphs = "\n\n".join(map(graph_text, part.graphs))
    if part.backward is None:
        return f"# {part.title}\n{graphs}"
    rows = [f"  {v.name}: {v.type} {format_bytes(v.bytes)}, {v.why}{_comment(v.place)}" for v in part.saved]
    return "\n".join([f"# {part.title}", graphs, "", part.plan, *rows])


def graph_text(graph: Graph) -> str:
    """Returns a graph as text, with lines, bytes and FLOPs beside it."""
    lines = [f"  {line.text}" for line in graph.lines]
    width = min(80, max(map(len, lines), default=0))
    shown = [
        f"{text:<{width}}  # {'  '.join(filter(None, (line.place, line.note, 'again' if line.is_recomputed else '')))}"
        for text, line in zip(lines, graph.lines, strict=True)
    ]
    head = [graph.head[0], *(f"  {line}" for line in graph.head[1:])]
    return "\n".join([*head, *shown, f"  {graph.tail}"])


def _comment(place: str) -> str:
    return f"  # {place}" if place else ""
