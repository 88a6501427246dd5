"""A report as one page of HTML, and as a part of a notebook; nothing is loaded from anywhere."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from importlib import resources

from jaxaot._util import format_bytes, format_seconds
from jaxaot.report.contents import Contents, Graph, Part, Source, Value
from jaxaot.report.picture import curve_picture, memory_image, memory_picture
from jaxaot.report.text import graph_text, summary_lines

_KEYS = (
    '<p class="soft">A saved value that is chosen lights up in both graphs. Keys: <kbd>/</kbd> search, '
    "<kbd>Enter</kbd> next hit, <kbd>←</kbd> <kbd>→</kbd> along the memory, <kbd>↑</kbd> <kbd>↓</kbd> between "
    "equations, <kbd>Enter</kbd> go there or choose, <kbd>Esc</kbd> let go.</p>"
)


def page_of(report: Contents) -> str:
    """Returns a report as one page of HTML."""
    name = html.escape(report.name)
    parts = "".join(_part(report, number, part) for number, part in enumerate(report.parts))
    sections = "".join(
        f'<details><summary>{html.escape(s.title)}</summary><pre tabindex="0">{html.escape(s.text)}</pre></details>'
        for s in report.sections
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}: jaxaot</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>\n{style()}</style></head>\n<body><header><div>"
        f"<h1>{name} <small>by {html.escape(report.kind)} on {html.escape(report.platform)}</small></h1>"
        '<div class="search" role="search"><input id="search" type="search" placeholder="Search ( / )" '
        'aria-label="Search graphs, source and values"><output id="found" aria-live="polite"></output></div>'
        f'</div></header>\n<main><p class="lead">When memory is full in a call of <code>{name}</code>, what it keeps '
        "for its backward, and what became of its graphs. Bytes and times are estimated from shapes; nothing ran.</p>"
        f'\n{parts}\n<div class="facts">{_facts(report)}</div>\n{_programs(report)}'
        f"{'<h2>Other stages</h2>' if sections else ''}{sections}</main>\n"
        f"<script>\n{_file('page.js')}</script></body></html>\n"
    )


def fragment_of(report: Contents) -> str:
    """Returns a report for a notebook: the summary, the pictures of memory, and the graphs folded in."""
    summary = html.escape("\n".join(summary_lines(report, 100)))
    folded = ""
    for part in report.parts:
        folded += memory_image(part.memory) if part.memory is not None else ""
        folded += folded_text(part.title, "\n\n".join(map(graph_text, part.graphs)))
    folded += "".join(folded_text(section.title, section.text) for section in report.sections)
    return f"<pre>{summary}</pre>{folded}"


def style() -> str:
    """Returns the style of the page, for pages with the same pictures and tables."""
    return _file("page.css")


def folded_text(title: str, text: str) -> str:
    """Returns text under a title that opens it, as HTML."""
    return f"<details><summary>{html.escape(title)}</summary><pre>{html.escape(text)}</pre></details>"


def _file(name: str) -> str:
    return resources.files("jaxaot.report").joinpath(name).read_text(encoding="utf-8")


def _facts(report: Contents) -> str:
    blocks = tuple(f"{part.title}: {part.plan}" for part in report.parts[1:] if part.plan)
    lists = [
        ("Breaks and blocks", (*report.breaks, *blocks) or ("none: one graph from begin to end",)),
        ("Changes", () if report.changed is None else report.changed or ("nothing but its results",)),
        ("Passes", () if report.passes is None else report.passes or ("none",)),
        ("Exchanges between devices", report.collectives or ("none",)),
        ("Programs", report.programs),
        ("To see more", report.hints),
    ]
    return "".join(
        f"<div><h2>{title}</h2><ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul></div>"
        for title, lines in lists
        if lines
    )


def _part(report: Contents, number: int, part: Part) -> str:
    panes = [_source_pane(report, part), _graph_pane("Forward" if part.backward else "Graph", part.forward)]
    if part.backward is not None:
        panes.append(_graph_pane("Backward", part.backward))
    shown = [f"<h2>{html.escape(part.title)}</h2>"]
    if part.plan:
        shown.append(f"<p>{html.escape(part.plan)}.</p>")
    if part.memory is not None:
        shown += [memory_picture(part.memory, is_live=True), _values("Alive at the peak", part.memory.alive)]
    width = "panes three" if len(panes) == 3 else "panes"
    shown += [_ways(part), _saved(part), "" if number else _KEYS, f'<div class="{width}">{"".join(panes)}</div>']
    return f"<section>{''.join(shown)}</section>\n"


def _ways(part: Part) -> str:
    """Returns what budgets and policies make of a part, side by side."""
    if not part.ways:
        return ""
    top = max(way.peak_bytes for way in part.ways)
    rows = "".join(
        f'<tr class="way{" this" if way.is_this else ""}"><th scope="row"><code>{html.escape(way.code)}</code>'
        f"{' <b>in force</b>' if way.is_this and way.code != 'this cut' else ''}</th>"
        f'<td class="curve">{curve_picture(way.curve, top)}</td>'
        f'<td class="n" data-name="peak">{format_bytes(way.peak_bytes)}</td>'
        f'<td class="n" data-name="kept">{format_bytes(way.saved_bytes)} in {way.n_saved}</td>'
        f'<td class="n" data-name="computed again">{way.n_recomputed} values</td><td class="n" data-name="taking">'
        f"{'—' if way.recompute_seconds is None else format_seconds(way.recompute_seconds)}</td></tr>"
        for way in part.ways
    )
    return (
        '<h3>Budgets and policies side by side</h3><table class="ways"><thead><tr><th>written</th><th>memory over time'
        '</th><th class="n">peak</th><th class="n">kept for the backward</th><th class="n">computed again</th>'
        f'<th class="n">taking</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _grouped(values: Sequence[Value]) -> list[list[Value]]:
    """Returns values in groups of those that repeats of a layer have alike, the most bytes first."""
    groups: dict[tuple[str, ...], list[Value]] = {}
    for value in values:
        stem = value.name.rstrip("0123456789")
        groups.setdefault((stem, value.type, value.place, value.why), []).append(value)
    return sorted(groups.values(), key=lambda group: -sum(value.bytes for value in group))


def _row_of(group: Sequence[Value], is_saved: bool = False) -> str:
    """Returns a row for values that are alike; of those that are saved, one that lights them up."""
    first, names = group[0], " ".join(value.name for value in group)
    name = html.escape(first.name) + (f" <b>× {len(group)}</b>" if len(group) > 1 else "")
    shown = f"<code>{name}</code>"
    if is_saved:
        shown = (
            f'<button class="value" aria-pressed="false" data-saved="{html.escape(names)}" '
            f'data-place="{html.escape(first.place)}">{name}</button>'
        )
    why = f'<td class="why">{html.escape(first.why)}</td>' if is_saved else ""
    return (
        f'<tr class="saved-row"><td>{shown}</td><td><code>{html.escape(first.type)}</code></td>'
        f'<td class="n">{format_bytes(sum(value.bytes for value in group))}</td>'
        f"<td><code>{html.escape(first.place)}</code></td>{why}</tr>"
    )


def _table(label: str, rows: str, name: str = "value", last: str = "") -> str:
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table><thead><tr><th>{name}</th>'
        f'<th>type</th><th class="n">bytes</th><th>line</th>{last}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _values(title: str, values: Sequence[Value]) -> str:
    """Returns values folded in under a title."""
    if not values:
        return ""
    total = format_bytes(sum(value.bytes for value in values))
    rows = "".join(map(_row_of, _grouped(values)))
    head = f"{title}: {len(values)} value{'s' if len(values) > 1 else ''}, {total}"
    return f"<details><summary>{head}</summary>{_table(title.lower(), rows)}</details>"


def _saved(part: Part) -> str:
    rows = "".join(_row_of(group, is_saved=True) for group in _grouped(part.saved))
    table = _table("saved values", rows, "saved value", "<th>why</th>") if rows else ""
    return table + _values("Computed again", part.recomputed)


def _programs(report: Contents) -> str:
    """Returns each graph beside what XLA gets of it, folded in."""
    graphs = {graph.name: graph_text(graph) for part in report.parts[:1] for graph in part.graphs}
    if len(graphs) == 1 and len(report.lowered) == 1:
        graphs = {report.lowered[0].title: next(iter(graphs.values()))}
    return "".join(
        f"<details><summary>{html.escape(s.title)}: the program, and what XLA gets of it</summary>"
        f'<div class="panes"><pre tabindex="0">{html.escape(graphs.get(s.title, ""))}</pre>'
        f'<pre tabindex="0">{html.escape(s.text)}</pre></div></details>'
        for s in report.lowered
    )


def _source_pane(report: Contents, part: Part) -> str:
    used = dict.fromkeys(line.file for line in part.lines if line.file is not None)
    crossing: dict[tuple[int | None, int], dict[str, None]] = {}
    places: dict[tuple[int | None, int], str] = {}
    for line in part.forward.lines:
        crossing.setdefault((line.file, line.number), {}).update(dict.fromkeys(line.saved))
    for line in part.lines:
        places[line.file, line.number] = line.place
    wanted = {n for _, n in places}
    body = ""
    for file in used:
        source = report.sources[file]
        body += f'<div class="row gap"><span class="number"></span><span>{html.escape(source.file)}</span></div>'
        body += "".join(_source_rows(file, source, crossing, places, wanted))
    return _pane("Source", body or '<div class="row gap">No lines are known.</div>')


def _source_rows(
    file: int, source: Source, crossing: dict[tuple[int | None, int], dict[str, None]],
    places: dict[tuple[int | None, int], str], wanted: set[int],
) -> Iterator[str]:  # fmt: skip
    last = 0
    shown = [(n, text) for n, text in source.lines if any(n + k in wanted for k in (-2, -1, 0, 1, 2))]
    for number, text in shown:
        if last and number > last + 1:
            yield '<div class="row gap"><span class="number">⋮</span></div>'
        last = number
        place = places.get((file, number), "")
        yield _row(
            f'<span class="number">{number}</span><span class="text">{html.escape(text)}</span>', place,
            tuple(crossing.get((file, number), ())), is_again=False,
        )  # fmt: skip


def _graph_pane(title: str, graph: Graph) -> str:
    body = "".join(f'<div class="row gap"><span class="text">{html.escape(line)}</span></div>' for line in graph.head)
    begins = {repeat.first + repeat.length: repeat for repeat in graph.repeats}
    ends = {repeat.first + repeat.length * repeat.count for repeat in graph.repeats}
    for i, line in enumerate(graph.lines):
        if i in ends:
            body += "</div>"
        if i in begins:
            repeat = begins[i]
            body += (
                '<div class="row fold" role="button" tabindex="-1" aria-expanded="false">'
                f'<span class="text">… the {repeat.length} above {repeat.count - 1} times more</span></div>'
                '<div class="more" hidden>'
            )
        beside = "  ".join(filter(None, (line.place, line.note)))
        inner = f'<span class="text">{html.escape(line.text)}</span><span class="place">{html.escape(beside)}</span>'
        body += _row(inner, line.place, line.saved, is_again=line.is_recomputed, kind=" eqn")
    body += "</div>" if len(graph.lines) in ends else ""
    body += f'<div class="row gap"><span class="text">{html.escape(graph.tail)}</span></div>'
    return _pane(title, body)


def _pane(title: str, body: str) -> str:
    label = title.lower()
    return f'<div class="pane"><h3>{title}</h3><div class="code" role="region" aria-label="{label}">{body}</div></div>'


def _row(inner: str, place: str, saved: Sequence[str], is_again: bool, kind: str = "") -> str:
    """Returns one line of a pane; an equation, and one that comes from a line of the user's, can be chosen."""
    if not (place or saved or kind):
        return f'<div class="row">{inner}</div>'
    classes = f"row{kind}" + (" crosses" if saved else "") + (" again" if is_again else "")
    title = ' title="computed again"' if is_again else ""
    return (
        f'<div class="{classes}" role="button" tabindex="-1"{title} '
        f'data-place="{html.escape(place)}" data-saved="{html.escape(" ".join(saved))}">{inner}</div>'
    )
