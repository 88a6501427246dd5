"""The demo's HTML report: loss curve, saved tensors with source lines, both graphs."""

from __future__ import annotations

import html
import re
from pathlib import Path

from jaxaot._util import format_bytes
from jaxaot.demo.train import Result
from jaxaot.ir.text import to_text

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 1500px; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 } 
td, th { padding: .2em .8em; border-bottom: 1px solid #ddd; text-align: left }
td.n { text-align: right; font-variant-numeric: tabular-nums } h2 { margin-top: 2em }
.graphs { display: grid; grid-template-columns: 1fr 1fr; gap: 1em } pre { overflow: auto;
max-height: 80vh; background: #f7f7f7; padding: 1em; font-size: 12px } mark { background: #ffe08a }
"""


def curve(losses: list[float], entropy: float, width: int = 760, height: int = 280) -> str:
    """Returns the loss curve as an SVG picture, the unigram entropy as a dashed line."""
    top = max([*losses, entropy]) * 1.05
    x = lambda i: 50 + i * (width - 60) / max(1, len(losses) - 1)
    y = lambda v: height - 30 - v / top * (height - 50)
    points = " ".join(f"{x(i):.1f},{y(v):.1f}" for i, v in enumerate(losses))
    left, right = 50, width - 10
    ticks = "".join(
        f'<text x="44" y="{y(v) + 4:.1f}" text-anchor="end" font-size="11">{v}</text>'
        f'<line x1="{left}" x2="{right}" y1="{y(v):.1f}" y2="{y(v):.1f}" stroke="#eee"/>'
        for v in range(int(top) + 1)
    )
    line, label = f"{y(entropy):.1f}", f"{y(entropy) - 5:.1f}"
    return (
        f'<svg width="{width}" height="{height}" role="img" aria-label="loss by step">{ticks}'
        f'<line x1="{left}" x2="{right}" y1="{line}" y2="{line}" stroke="#c33" stroke-dasharray="5 4"/>'
        f'<text x="{right}" y="{label}" text-anchor="end" font-size="11" fill="#c33">unigram entropy</text>'
        f'<polyline fill="none" stroke="#246" stroke-width="1.5" points="{points}"/>'
        f'<text x="{width / 2:.0f}" y="{height - 6}" text-anchor="middle" font-size="11">'
        f"step (0 to {len(losses) - 1})</text></svg>"
    )


def _marked(text: str, names: list[str]) -> str:
    escaped = html.escape(text)
    if not names:
        return escaped
    pattern = "|".join(re.escape(html.escape(name)) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w%])({pattern})(?!\w)", r"<mark>\1</mark>", escaped)


def _marked_forward(text: str, names: list[str]) -> str:
    """Returns the forward graph with the saved values marked where they are computed, and the names they get."""
    returned = {variable: name for name, variable in re.findall(r"([\w.]+)=(%\d+)", text.splitlines()[-1])}
    lines = []
    for line in text.splitlines():
        found = re.match(r"\s*(%\d+):", line)
        name = returned.get(found.group(1)) if found else None
        saved = name in names
        lines.append(
            f"<mark>{html.escape(line)}</mark>  saved as {html.escape(name)}" if saved and name else html.escape(line)
        )
    return "\n".join(lines)


def write_report(directory: Path, result: Result, entropy: float) -> Path:
    """Writes `report.html` into a directory and returns its path."""
    partition = result.partition
    joint = partition.joint
    primals, gradients = joint.in_roles[: joint.n_primals], joint.out_roles[-joint.n_gradients :]
    forward = to_text(partition.forward, primals, partition.forward_out_roles, name="forward")
    backward = to_text(partition.backward, partition.backward_in_roles, gradients, name="backward")
    names = [saved.name for saved in partition.saved]
    rows = "".join(
        f"<tr><td><code>{html.escape(s.name)}</code></td><td>{s.dtype}{list(s.shape)}</td>"
        f'<td class="n">{format_bytes(s.bytes)}</td><td>{html.escape(s.source)}</td><td>{html.escape(s.why)}</td></tr>'
        for s in sorted(partition.saved, key=lambda s: -s.bytes)
    )
    plan = partition.plan
    page = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>jaxaot demo</title><style>{_STYLE}</style>
<h1>jaxaot demo</h1>
<p>{result.n_parameters:,} parameters, {len(result.losses)} steps, final loss {result.losses[-1]:.3f} nats per
character.</p>
<h2>Loss</h2>{curve(result.losses, entropy)}
<h2>Saved for the backward</h2>
<p>{format_bytes(plan.saved_bytes)} in {len(partition.saved)} values; saving everything would keep
{format_bytes(plan.save_all_bytes)}. {len(partition.recomputed)} values are computed again.</p>
<table><tr><th>value</th><th>shape</th><th>bytes</th><th>source</th><th>why</th></tr>{rows}</table>
<h2>Graphs</h2><p>Saved values are marked.</p>
<div class="graphs"><pre>{_marked_forward(forward, names)}</pre><pre>{_marked(backward, names)}</pre></div>
<h2>A sampled continuation</h2><pre>{html.escape(result.sample)}</pre></html>"""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "report.html"
    path.write_text(page, encoding="utf-8")
    return path
