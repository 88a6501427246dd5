"""The memory in use over time as a picture: an SVG that takes its colours from the page around it."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence

from jaxaot._util import format_bytes
from jaxaot.report.contents import Memory

_WIDTH, _HEIGHT = 1000, 150
_MAX_COLUMNS = 500
"""How many steps the picture has; of more equations each shows the largest of some."""

_WORDS = {"held": "inputs and outputs", "kept": "kept for the backward", "temporary": "others"}
_COLOURS = {"held": "#8c959f", "kept": "#e0a800", "temporary": "#54aeff"}
"""Of what is in use, on pages without a style: seen on light and on dark ground."""


def memory_picture(memory: Memory, top: int = 0, is_live: bool = False) -> str:
    """Returns the memory in use as a figure: what is held, what is kept for the backward, and temporaries.

    Args:
      memory: The memory, moment by moment.
      top: The bytes of the upper edge, where pictures are compared; the most of this one if that is more.
      is_live: Whether the page has a script that says of each moment what runs, and goes to its equation.
    """
    n = len(memory.bytes)
    if not n or not max(memory.bytes):
        return f'<p class="soft">Memory: {html.escape(memory.peak)}.</p>'
    top = max(*memory.bytes, top)
    border = 100 * memory.n_forward / n
    sides = f'<span style="width:{border:.1f}%">forward</span>'
    if memory.n_forward < n:
        sides += f'<span style="width:{100 - border:.1f}%">backward</span>'
    keys = "".join(f'<span class="key {name}"></span>{text}' for name, text in _WORDS.items())
    label = html.escape(f"memory in use over time, {memory.peak}")
    picture = f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{label}">'
    return (
        f'<figure><div class="plot"{_numbers(memory) if is_live else ""}><span class="top soft">{format_bytes(top)}'
        f"</span>{picture}{_shapes(memory, top)}</svg></div>"
        f'<div class="sides soft">{sides}</div>'
        f"<figcaption>Memory over time, equation by equation: {html.escape(memory.peak)}.{keys}</figcaption></figure>"
    )


def memory_image(memory: Memory) -> str:
    """Returns the same picture as one image with a line of text, for notebooks: GitHub drops styles and other SVGs."""
    if not memory.bytes or not max(memory.bytes):
        return ""
    colours = "".join(f".{name}{{fill:{colour}}}" for name, colour in _COLOURS.items())
    content = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}"><style>{colours}'
        f"line{{stroke:#57606a}}</style>{_shapes(memory, max(memory.bytes))}</svg>"
    )
    words = f"Memory over time, equation by equation: {memory.peak}. From below: {', '.join(_WORDS.values())}."
    data = base64.b64encode(content.encode()).decode()
    return (
        f'<p><img width="700" alt="{html.escape(words)}" src="data:image/svg+xml;base64,{data}"></p>'
        f"<p>{html.escape(words)}</p>"
    )


def curve_picture(curve: Sequence[int], top: int) -> str:
    """Returns the memory over time as a small picture, which tables have beside their numbers."""
    path = _area(curve, top) if curve and top else ""
    return (
        f'<svg class="small" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
        f'<path class="temporary" d="{path}"/></svg>'
    )


def _numbers(memory: Memory) -> str:
    """Returns the attributes from which the script of the page reads the moments; arrows move as on a slider."""
    peak = max(range(len(memory.bytes)), key=memory.bytes.__getitem__)
    listed = lambda numbers: ",".join(map(str, numbers))
    return (
        f' tabindex="0" role="slider" aria-label="memory over time, equation by equation" aria-valuemin="0" '
        f'aria-valuemax="{len(memory.bytes) - 1}" aria-valuenow="{peak}" aria-valuetext="{html.escape(memory.peak)}" '
        f'data-held="{memory.held}" data-forward="{memory.n_forward}" data-total="{listed(memory.bytes)}" '
        f'data-kept="{listed(memory.residual_bytes)}"'
    )


def _shapes(memory: Memory, top: int) -> str:
    """Returns the areas of a picture, the lowest last, and a line where the backward begins."""
    n = len(memory.bytes)
    columns = min(n, _MAX_COLUMNS)
    parts = [slice(k * n // columns, max(k * n // columns + 1, (k + 1) * n // columns)) for k in range(columns)]
    total = [max(memory.bytes[part]) for part in parts]
    kept = [memory.held + max(memory.residual_bytes[part]) for part in parts]
    areas = {"temporary": total, "kept": kept, "held": [memory.held] * columns}
    shapes = "".join(f'<path class="{name}" d="{_area(heights, top)}"/>' for name, heights in areas.items())
    x = _WIDTH * memory.n_forward / n
    return shapes + (f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{_HEIGHT}"/>' if memory.n_forward < n else "")


def _area(heights: Sequence[int], top: int) -> str:
    """Returns the path of a staircase that is filled down to the axis."""
    step, floor = _WIDTH / len(heights), _HEIGHT
    path = f"M0 {floor}"
    for k, height in enumerate(heights):
        y = floor - _HEIGHT * height / top
        path += f"L{k * step:.1f} {y:.1f}L{(k + 1) * step:.1f} {y:.1f}"
    return path + f"L{_WIDTH} {floor}Z"
