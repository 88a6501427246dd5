"""The demo's report: what was gained, memory before and after, what is computed again, the loss, and both graphs."""

from __future__ import annotations

import dataclasses
import html
from pathlib import Path

from jaxaot._util import format_bytes, format_seconds
from jaxaot.demo.result import Result
from jaxaot.report.build import memory_record
from jaxaot.report.notebook import stage_report
from jaxaot.report.page import style
from jaxaot.report.picture import memory_picture


def curve(losses: list[float], entropy: float, width: int = 760, height: int = 280) -> str:
    """Returns the loss curve as an SVG picture, the unigram entropy as a dashed line."""
    top = max([*losses, entropy]) * 1.05
    x = lambda i: 50 + i * (width - 60) / max(1, len(losses) - 1)
    y = lambda v: height - 30 - v / top * (height - 50)
    points = " ".join(f"{x(i):.1f},{y(v):.1f}" for i, v in enumerate(losses))
    left, right = 50, width - 10
    ticks = "".join(
        f'<text x="44" y="{y(v) + 4:.1f}" text-anchor="end">{v}</text>'
        f'<line x1="{left}" x2="{right}" y1="{y(v):.1f}" y2="{y(v):.1f}" opacity="0.15"/>'
        for v in range(int(top) + 1)
    )
    line, label = f"{y(entropy):.1f}", f"{y(entropy) - 5:.1f}"
    return (
        f'<svg class="curve" viewBox="0 0 {width} {height}" role="img" aria-label="loss by step">{ticks}'
        f'<line x1="{left}" x2="{right}" y1="{line}" y2="{line}" stroke-dasharray="5 4"/>'
        f'<text x="{right}" y="{label}" text-anchor="end">unigram entropy</text>'
        f'<polyline points="{points}"/><text x="{width / 2:.0f}" y="{height - 6}" text-anchor="middle">'
        f"step (0 to {len(losses) - 1})</text></svg>"
    )


_STYLE = """
main { max-width: 1100px; } svg.curve { height: auto; } svg.curve text { font: 11px sans-serif; fill: var(--soft); }
svg.curve polyline { fill: none; stroke: var(--focus); stroke-width: 1.5; }
th[scope="row"] { white-space: nowrap; } table.rows td { overflow-wrap: anywhere; }
@media (max-width: 600px) {
  .rows :is(tbody, tr, th, td) { display: block; } .rows th { border: 0; padding-bottom: 0; }
}
pre { overflow-x: auto; background: var(--panel); padding: 0.6rem; }
"""


def write_report(directory: Path, result: Result) -> Path:
    """Writes `report.html`, and `graphs.html` that it leads to, into a directory; returns the path of the first."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "report.html"
    graphs = dataclasses.replace(stage_report(result.partition), name="the loss of the demo")
    graphs.save_html(directory / "graphs.html")
    path.write_text(_page(result), encoding="utf-8")
    return path


def _page(result: Result) -> str:
    gains = "".join(
        f'<tr><th scope="row">{title}</th><td>{html.escape(words)}</td></tr>' for title, words in result.rows()
    )
    before, after = memory_record(result.everything.timeline), memory_record(result.partition.timeline)
    top = max(before.bytes, default=0)
    again = "".join(
        f'<tr><td><code>{html.escape(line.place)}</code></td><td class="n">{line.n}</td>'
        f'<td class="n">{format_bytes(line.bytes)}</td><td class="n">{format_seconds(line.seconds)}</td></tr>'
        for line in result.again()
    )
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>jaxaot demo</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style()}{_STYLE}</style></head><body><main>
<h1>jaxaot demo: a GPT of {result.n_parameters:,} parameters, {len(result.losses)} steps, beside plain jax.jit</h1>
<p class="lead">What a run on this machine gained beside plain jax.jit: time, memory, and what is computed again.</p>
<table class="rows">{gains}</table>
<h2>Memory over the loss and its backward, before</h2><p class="soft">All is kept that the backward reads.</p>
{memory_picture(before, top)}
<h2>And after</h2><p class="soft">The cut keeps {format_bytes(result.partition.plan.saved_bytes)}.</p>
{memory_picture(after, top)}
<h2>Computed again, by line of source</h2><p class="soft">Each line stands for all layers. Times are estimates.</p>
<div class="scroll"><table><thead><tr><th>line</th><th class="n">values</th><th class="n">not kept</th>
<th class="n">costs</th></tr></thead><tbody>{again}</tbody></table></div>
<p><a href="graphs.html">Both graphs</a>, with what is saved, beside the source.</p>
<h2>Loss</h2>{curve(result.losses, result.entropy)}
<h2>A sampled continuation</h2><pre>{html.escape(result.sample)}</pre></main></body></html>
"""
