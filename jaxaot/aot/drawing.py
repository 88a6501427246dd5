"""Pictures of graphs, as the language of Graphviz describes them: one box for each equation, one arrow for each use."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
from typing import Any

from jaxaot._jax import Literal
from jaxaot.errors import MissingExtraError
from jaxaot.ir.walk import short_aval, source_line

_TEXTS = (".dot", ".gv")


def draw_graph(graph: Any, fname: str, figname: str = "graph", prog: str = "dot") -> None:
    """Draws a graph into a file, one box for each equation.

        ja.aot.draw_graph(ja.trace(fn, x), "fn.svg")

    Args:
      graph: A ClosedJaxpr, or what has one, such as a trace, a joint graph or an exported graph.
      fname: The file. A name that ends with `.dot` or `.gv` gets the description itself, for which nothing has to be
        installed; with `.svg`, `.png`, `.pdf` and the like what Graphviz makes of it; without an ending an `.svg`.
      figname: The title.
      prog: The program of Graphviz that lays the boxes out.

    Raises:
      MissingExtraError: If Graphviz is not installed.
    """
    path = pathlib.Path(fname)
    if not path.suffix:
        path = path.with_suffix(".svg")
    text = dot_text(getattr(graph, "jaxpr", graph) if not hasattr(graph, "in_avals") else graph, figname)
    if path.suffix in _TEXTS:
        path.write_text(text, encoding="utf-8")
        return
    program = shutil.which(prog)
    if program is None:
        raise MissingExtraError(
            f"`draw_graph` needs the program `{prog}` of Graphviz to make a {path.suffix} file, and it is not "
            f"installed. Install Graphviz, or write the description: `draw_graph(graph, '{path.with_suffix('.dot')}')`."
        )
    subprocess.run([program, f"-T{path.suffix[1:]}", "-o", str(path)], input=text.encode(), check=True)


def dot_text(closed: Any, title: str) -> str:
    """Returns a ClosedJaxpr in the language of Graphviz."""
    jaxpr = closed.jaxpr
    lines = [f"digraph {_quoted(title)} {{", f"  label={_quoted(title)};", "  node [shape=box];"]
    made: dict[Any, str] = {}
    for kind, variables in (("const", jaxpr.constvars), ("input", jaxpr.invars)):
        for i, var in enumerate(variables):
            made[var] = f"{kind}{i}"
            lines.append(f"  {made[var]} [label={_quoted(f'{kind} {i}: {short_aval(var.aval)}')}, shape=ellipse];")
    for i, eqn in enumerate(jaxpr.eqns):
        types = ", ".join(short_aval(var.aval) for var in eqn.outvars)
        label = [f"{eqn.primitive.name}: {types}", *[line for line in [source_line(eqn)] if line]]
        lines.append(f"  eqn{i} [label={_quoted(chr(10).join(label))}];")
        lines += [f"  {made[atom]} -> eqn{i};" for atom in eqn.invars if not isinstance(atom, Literal)]
        made.update(dict.fromkeys(eqn.outvars, f"eqn{i}"))
    for i, atom in enumerate(jaxpr.outvars):
        lines.append(f"  output{i} [label={_quoted(f'output {i}: {short_aval(atom.aval)}')}, shape=ellipse];")
        if not isinstance(atom, Literal):
            lines.append(f"  {made[atom]} -> output{i};")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
