"""A report as one page of HTML, and as a part of a notebook; nothing is loaded from anywhere."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from importlib import resources

from jaxaot._util import format_bytes
from jaxaot.report.contents import Contents, Graph, Part, Source
from jaxaot.report.picture import memory_picture
from jaxaot.report.text import graph_text, summary_lines

_KEYS = (
    '<p class="soft">A saved value that is chosen lights up in both graphs. Keys: <kbd>/</kbd> search, '
    "<kbd>Enter</kbd> next hit, <kbd>↑</kbd> <kbd>↓</kbd> between equations, <kbd>Enter</kbd> choose, "
    "<kbd>Esc</kbd> let go.</p>"
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
        f'</div></header>\n<main><div class="facts">{_facts(report)}</div>\n{parts}\n'
        f"<h2>Other stages</h2>{sections or '<p class=soft>None.</p>'}</main>\n"
        f"<script>\n{_file('page.js')}</script></body></html>\n"
    )


def fragment_of(report: Contents) -> str:
    """Returns a report for a notebook: the summary, the pictures of memory, and the graphs folded in."""
    summary = html.escape("\n".join(summary_lines(report, 100)))
    folded = ""
    for part in report.parts:
        graphs = "\n\n".join(map(graph_text, part.graphs))
        folded += folded_text(part.title, graphs)
    folded += "".join(folded_text(section.title, section.text) for section in report.sections)
    return f'<pre style="white-space: pre-wrap">{summary}</pre>{folded}'


def style() -> str:
    """Returns the style of the page, for pages with the same pictures and tables."""
    return _file("page.css")


def folded_text(title: str, text: str) -> str:
    """Returns text under a title that opens it, as HTML."""
    return f"<details><summary>{html.escape(title)}</summary><pre>{html.escape(text)}</pre></details>"


def _file(name: str) -> str:
    return resources.files("jaxaot.report").joinpath(name).read_text(encoding="utf-8")


def _facts(report: Contents) -> str:
    lists = [
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
    title = html.escape(part.title)
    saved = _saved(part) if part.backward is not None else ""
    panes = [_source_pane(report, part), _graph_pane("Forward" if part.backward else "Graph", part.forward)]
    if part.backward is not None:
        panes.append(_graph_pane("Backward", part.backward))
    memory = memory_picture(part.memory) if part.memory is not None else ""
    keys = _KEYS if not number else ""
    width = "panes three" if len(panes) == 3 else "panes"
    return f'<section><h2>{title}</h2>{saved}{memory}{keys}<div class="{width}">{"".join(panes)}</div></section>\n'


def _saved(part: Part) -> str:
    rows = "".join(
        f'<tr class="saved-row"><td><button class="value" aria-pressed="false" data-saved="{html.escape(v.name)}" '
        f'data-place="{html.escape(v.place)}">{html.escape(v.name)}</button></td><td><code>{html.escape(v.type)}</code>'
        f'</td><td class="n">{format_bytes(v.bytes)}</td><td><code>{html.escape(v.place)}</code></td>'
        f'<td class="why">{html.escape(v.why)}</td></tr>'
        for v in part.saved
    )
    table = (
        '<div class="scroll" tabindex="0" role="region" aria-label="saved values"><table><thead><tr><th>saved value'
        '</th><th>type</th><th class="n">bytes</th><th>line</th><th>why</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
    again = "".join(
        f'<tr class="saved-row"><td><code>{html.escape(v.name)}</code></td><td><code>{html.escape(v.type)}</code></td>'
        f'<td class="n">{format_bytes(v.bytes)}</td><td><code>{html.escape(v.place)}</code></td></tr>'
        for v in part.recomputed
    )
    if again:
        again = (
            f'<details><summary>Computed again: {len(part.recomputed)} values</summary><div class="scroll"><table>'
            '<thead><tr><th>value</th><th>type</th><th class="n">bytes</th><th>line</th></tr></thead>'
            f"<tbody>{again}</tbody></table></div></details>"
        )
    return f"<p>{html.escape(part.plan)}.</p>{table if rows else ''}{again}"


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
    for line in graph.lines:
        beside = "  ".join(filter(None, (line.place, line.note)))
        inner = f'<span class="text">{html.escape(line.text)}</span><span class="place">{html.escape(beside)}</span>'
        body += _row(inner, line.place, line.saved, is_again=line.is_recomputed)
    body += f'<div class="row gap"><span class="text">{html.escape(graph.tail)}</span></div>'
    return _pane(title, body)


def _pane(title: str, body: str) -> str:
    label = title.lower()
    return f'<div class="pane"><h3>{title}</h3><div class="code" role="region" aria-label="{label}">{body}</div></div>'


def _row(inner: str, place: str, saved: Sequence[str], is_again: bool) -> str:
    """Returns one line of a pane; one that comes from a line of the user's, or crosses, can be chosen."""
    if not (place or saved):
        return f'<div class="row">{inner}</div>'
    classes = "row" + (" crosses" if saved else "") + (" again" if is_again else "")
    title = ' title="computed again"' if is_again else ""
    return (
        f'<div class="{classes}" role="button" tabindex="-1"{title} '
        f'data-place="{html.escape(place)}" data-saved="{html.escape(" ".join(saved))}">{inner}</div>'
    )
