"""Draws the pictures of the documentation from what the code does: `python tools/pictures.py`.

Each function traces a small program, asks tensors for their layouts, or reads a committed result, and draws what it
got. A test draws them again and compares them with the files in `docs/pictures`.
"""

from __future__ import annotations

import html
import inspect
import json
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

import jaxaot as ja
from jaxaot._typing import Atom, Eqn, Var
from jaxaot._util import format_seconds
from jaxaot.ir.walk import short_aval, source_line

ROOT = pathlib.Path(__file__).parents[1]
FOLDER, RESULTS = ROOT / "docs" / "pictures", ROOT / "benchmarks" / "results"

INK, PALE, PAPER, BLUE, ORANGE, GREEN = "#1f2933", "#cbd2d9", "#ffffff", "#2b6cb0", "#c05621", "#2f855a"
FILLS = {BLUE: "#ebf4ff", ORANGE: "#fffaf0", GREEN: "#f0fff4", PALE: "#f7f9fa"}


class Drawing:
    """Shapes and words, in pixels from the upper left corner; `svg()` is the file."""

    def __init__(self, width: int, height: int, title: str):
        self.width, self.height, self.title = width, height, title
        self.below: list[str] = []
        self.parts: list[str] = []

    def text(self, x: float, y: float, words: str, color: str = INK, anchor: str = "start", is_code: bool = False):
        """Writes words whose baseline starts, ends or is centred at a place."""
        family = "ui-monospace, Menlo, Consolas, monospace" if is_code else "system-ui, sans-serif"
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" fill="{color}" font-family="{family}" font-size="13" '
            f'text-anchor="{anchor}">{html.escape(words)}</text>'
        )

    def box(self, x: float, y: float, width: float, words: str, color: str = PALE, is_dashed: bool = False):
        """Draws a box of 26 pixels with words in it."""
        dash = ' stroke-dasharray="5 4"' if is_dashed else ""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="26" rx="5" fill="{FILLS[color]}" '
            f'stroke="{color}" stroke-width="1.5"{dash}/>'
        )
        self.text(x + width / 2, y + 18, words, anchor="middle", is_code=True)

    def bar(self, x: float, y: float, width: float, color: str):
        """Draws a bar of 18 pixels."""
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:.1f}" height="18" rx="2" fill="{color}"/>')

    def line(self, x1: float, y1: float, x2: float, y2: float, color: str = PALE, width: float = 1.5):
        """Draws a curve from one place to another, that leaves and arrives level, under all boxes."""
        bend = (x2 - x1) / 2
        self.below.append(
            f'<path d="M{x1:g} {y1:g} C{x1 + bend:g} {y1:g} {x2 - bend:g} {y2:g} {x2:g} {y2:g}" fill="none" '
            f'stroke="{color}" stroke-width="{width:g}"/>'
        )

    def loop(self, x: float, y1: float, y2: float, color: str = PALE):
        """Draws a curve along the left side of a column."""
        out = x - 12 - abs(y2 - y1) / 8
        self.below.append(
            f'<path d="M{x:g} {y1:g} C{out:g} {y1:g} {out:g} {y2:g} {x:g} {y2:g}" fill="none" stroke="{color}"/>'
        )

    def svg(self) -> str:
        """Returns the file."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img">\n<title>{html.escape(self.title)}</title>\n'
            f'<rect width="{self.width}" height="{self.height}" rx="8" fill="{PAPER}"/>\n'
        )
        return head + "\n".join([*self.below, *self.parts]) + "\n</svg>\n"


# -- storages and views ------------------------------------------------------------------------------------------------


def places_of(tensor: ja.Tensor) -> list[int]:
    """Returns the places in the storage that a tensor shows, in the order of its elements."""
    places = [tensor.storage_offset()]
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        places = [place + i * stride for place in places for i in range(size)]
    return places


def storage() -> str:
    """Draws one storage of 12 elements, and which of them its views show."""
    x = ja.arange(12.0).view(3, 4)
    views = {"x": x, "x[1]": x[1], "x[:, 2]": x[:, 2], "x[::2, 1:3]": x[::2, 1:3], "x.t()[3]": x.t()[3]}
    drawing = Drawing(760, 70 + 40 * len(views), "One storage, and the elements that five tensors show of it")
    drawing.text(20, 32, "the storage")
    for place, value in enumerate(x.flatten().tolist()):
        drawing.text(170 + 30 * place, 32, f"{value:g}", anchor="middle", is_code=True)
    for row, (words, view) in enumerate(views.items()):
        y = 55 + 40 * row
        drawing.text(20, y + 18, words, is_code=True)
        for place in range(x.numel()):
            shown = place in places_of(view)
            drawing.box(157 + 30 * place, y, 26, "", BLUE if shown else PALE)
        layout = f"offset {view.storage_offset()}, stride {tuple(view.stride())}"
        drawing.text(535, y + 18, layout, is_code=True)
    return drawing.svg()


# -- graphs ------------------------------------------------------------------------------------------------------------


def written(matrix: ja.Tensor, row: ja.Tensor) -> ja.Tensor:
    matrix[1] = row.sin()
    row.mul_(2)
    return matrix.sum()


def gradient(x: ja.Tensor, w: ja.Tensor) -> ja.Tensor:
    h = x @ w
    return ja.exp(ja.sin(h)).sum()


def traced_gradient() -> Any:
    """Returns the trace of `gradient`, whose graphs three pictures show."""
    return ja.trace(gradient, ja.ones(4, 8), ja.ones(8, 8, requires_grad=True))


ROW, BOX = 44, 190


class Graph:
    """Equations as boxes in columns; lines lead from the box of a value to those that read it."""

    def __init__(self, drawing: Drawing):
        self.drawing = drawing
        self.makers: dict[Var, tuple[float, float]] = {}
        """Variable → the box that makes it."""

    def put(self, x: float, y: float, words: str, makes: Iterable[Var], reads: Iterable[Atom] = (), **look: Any):
        """Draws a box for what makes some variables and reads others."""
        for atom in reads:
            if isinstance(atom, Var) and atom in self.makers:
                self._join(*self.makers[atom], x, y)
        self.drawing.box(x, y, BOX, words, **look)
        self.makers |= dict.fromkeys(makes, (x, y))

    def _join(self, from_x: float, from_y: float, x: float, y: float):
        """Draws a line between two boxes; between boxes of one column along their sides, unless they are neighbours."""
        if from_x != x:
            left, right = sorted([(from_x, from_y), (x, y)])
            self.drawing.line(left[0] + BOX, left[1] + 13, right[0], right[1] + 13, INK)
        elif abs(from_y - y) == ROW:
            self.drawing.line(x + BOX / 2, from_y + 13, x + BOX / 2, y + 13, INK)
        else:
            self.drawing.loop(x, from_y + 13, y + 13, INK)

    def equation(self, x: float, y: float, eqn: Eqn, **look: Any):
        """Draws a box for an equation."""
        self.put(x, y, eqn.primitive.name, eqn.outvars, eqn.invars, **look)


def functionalization() -> str:
    """Draws a function that writes beside the equations that it becomes, line by line."""
    traced = ja.trace(written, ja.zeros(2, 3), ja.ones(3))
    lines, first = inspect.getsourcelines(written)
    eqns = traced.jaxpr.jaxpr.eqns
    drawing = Drawing(720, 110 + ROW * len(eqns), "Three lines that write to tensors, and the equations they become")
    drawing.text(30, 32, "what you write")
    drawing.text(420, 32, "the graph: every write is a new value")
    centre = 50 + ROW * (len(eqns) - len(lines) + 1) / 2
    starts = {}
    for number, line in enumerate(lines[1:], first + 1):
        y = centre + ROW * (number - first - 1)
        drawing.text(30, y + 18, line.strip(), is_code=True)
        starts[f"pictures.py:{number}"] = (35 + 8 * len(line.strip()), y + 13)
    for row, eqn in enumerate(eqns):
        y = 50 + ROW * row
        drawing.box(420, y, 270, f"{eqn.primitive.name} → {short_aval(eqn.outvars[0].aval)}")
        from_x, from_y = starts[source_line(eqn)]
        drawing.line(from_x, from_y, 420, y + 13, BLUE)
    results = "the last row, matrix and sum are what the graph returns; after a call the two storages hold them"
    drawing.text(30, 50 + ROW * len(eqns) + 30, results)
    return drawing.svg()


def joint() -> str:
    """Draws the joint graph of `gradient`: the forward downwards, the backward upwards beside it."""
    graph = traced_gradient().joint().jaxpr.jaxpr
    is_backward = equations_after(graph.eqns, graph.invars[-1:])
    forward = [eqn for eqn, late in zip(graph.eqns, is_backward, strict=True) if not late]
    backward = [eqn for eqn, late in zip(graph.eqns, is_backward, strict=True) if late]
    height = ROW * (max(len(forward), len(backward)) + 1)
    drawing = Drawing(720, height + 70, "The joint graph of exp(sin(x @ w)).sum() and its gradient")
    drawing.text(90, 32, "forward ↓")
    drawing.text(440, 32, "backward ↑")
    boxes = Graph(drawing)
    boxes.put(90, 50, "x, w", graph.invars[:-1], color=BLUE)
    for row, eqn in enumerate(forward, 1):
        boxes.equation(90, 50 + ROW * row, eqn)
    boxes.put(440, 50 + height - ROW, "gradient of the sum", graph.invars[-1:], color=BLUE)
    for row, eqn in enumerate(backward, 1):
        boxes.equation(440, 50 + height - ROW - ROW * row, eqn, color=GREEN)
    return drawing.svg()


def cut() -> str:
    """Draws the two graphs that the joint one of `gradient` is cut into, and what is saved between them."""
    parts = traced_gradient().joint().partition()
    forward, backward = parts.forward.jaxpr, parts.backward.jaxpr
    needs_gradient = equations_after(backward.eqns, backward.invars[-1:])
    rows = max(len(forward.eqns), len(backward.eqns)) + 1
    drawing = Drawing(720, 110 + ROW * rows, "The minimum cut: what is saved, and what is computed again")
    drawing.text(20, 32, "forward ↓")
    drawing.text(265, 32, "saved")
    drawing.text(510, 32, "backward ↓")
    boxes = Graph(drawing)
    boxes.put(20, 50, "x, w", forward.invars, color=BLUE)
    for row, eqn in enumerate(forward.eqns, 1):
        boxes.equation(20, 50 + ROW * row, eqn)
    saved = parts.saved[0]
    boxes.put(265, 50 + ROW, f"{saved.name}, {saved.bytes} B", backward.invars[1:2], forward.outvars[1:], color=ORANGE)
    boxes.put(510, 50, "gradient of the sum", backward.invars[-1:], color=BLUE)
    boxes.makers[backward.invars[0]] = (20, 50)
    in_forward = {eqn.primitive for eqn in forward.eqns}
    for row, (eqn, needed) in enumerate(zip(backward.eqns, needs_gradient, strict=True), 1):
        again = not needed and eqn.primitive in in_forward
        boxes.equation(510, 50 + ROW * row, eqn, color=ORANGE if again else GREEN, is_dashed=again)
    drawing.text(20, 50 + ROW * rows + 10, str(parts.plan).splitlines()[0] + "; dashed: computed again")
    drawing.text(20, 50 + ROW * rows + 32, saved.why)
    return drawing.svg()


def lowering() -> str:
    """Draws the stages, with the number of equations that the graphs of `gradient` have there."""
    traced = traced_gradient()
    whole = traced.joint()
    parts = whole.partition()
    count = lambda graph: f"{len(graph.jaxpr.eqns)} equations"
    stages = [
        ("your function", "Python", "gradient(x, w)"),
        ("Traced", "ja.trace(fn, *args)", count(traced.jaxpr)),
        ("JointGraph", ".joint()", count(whole.jaxpr)),
        ("Partition", ".partition()", f"{count(parts.forward)} and {count(parts.backward)}"),
        ("Compiled", ".compile()", "passes, StableHLO, XLA: two executables"),
    ]
    drawing = Drawing(720, 60 + 60 * len(stages), "From a function to two executables")
    for row, (stage, call, holds) in enumerate(stages):
        y = 30 + 60 * row
        drawing.text(20, y + 18, call, is_code=True)
        drawing.box(240, y, 150, stage, BLUE)
        drawing.text(420, y + 18, holds)
        if row:
            drawing.line(315, y - 34, 315, y, INK)
    return drawing.svg()


def equations_after(eqns: Iterable[Eqn], variables: Iterable[Var]) -> list[bool]:
    """Returns for each equation whether it depends on one of the variables."""
    reached, answers = set(variables), []
    for eqn in eqns:
        answers.append(any(isinstance(atom, Var) and atom in reached for atom in eqn.invars))
        reached |= set(eqn.outvars) if answers[-1] else set()
    return answers


SHOWN = {
    "train": {"gpt-4": "GPT, 4 layers of 128", "gpt-16": "GPT, 16 layers of 128"},
    "train_real": {"llama": "Llama", "gpt2": "GPT-2"},
}
"""Result → its models that are shown, and their names."""


def gain() -> str:
    """Draws how long training steps take, from the committed results of `benchmarks/train.py`."""
    results = {name: json.loads((RESULTS / f"{name}.json").read_text()) for name in SHOWN}
    machine = results["train"]["machine"]
    assert all(result["machine"] == machine for result in results.values()), "one picture, one machine"
    drawing = Drawing(620, 394, "A training step, beside jax.jit and torch.compile")
    drawing.text(20, 26, "A training step: the fastest, and its part of the time of jax.jit")
    y = 44
    for result, models in SHOWN.items():
        for model, words in models.items():
            rounds = {way: found["rounds"] for way, found in results[result]["models"][model].items()}
            drawing.text(20, y + 14, words)
            for way, color in (("jax.jit", PALE), ("torch.compile", PALE), ("ja.compile", ORANGE), ("ja.jit", BLUE)):
                if way in rounds:
                    seconds = min(map(min, rounds[way]))
                    part = seconds / min(map(min, rounds["jax.jit"]))
                    drawing.text(280, y + 14, way, anchor="end", is_code=True)
                    drawing.bar(290, y, 200 * part, color)
                    drawing.text(298 + 200 * part, y + 14, f"{format_seconds(seconds)}, {part:.2f}")
                    y += 22
            y += 14
    words = f"{machine['cores']} cores of {machine['cpu']}, jax {machine['jax']}, torch {machine['torch']}"
    drawing.text(20, drawing.height - 12, words)
    return drawing.svg()


PICTURES: dict[str, Callable[[], str]] = {
    "storage": storage, "functionalization": functionalization, "joint": joint, "cut": cut, "lowering": lowering,
    "gain": gain,
}  # fmt: skip


if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")
