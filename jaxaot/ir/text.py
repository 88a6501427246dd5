"""Printing a graph, the same each time.

Variables are numbered in the order in which they are defined, inputs and outputs go by their roles, and each equation
says which line of the user's program it comes from::

    graph(x: f32[3,4], w: f32[4,2], ct0: f32[])
      %0: f32[3,2] = dot_general[dimension_numbers=...] x w   # model.py:12
      %1: f32[3,2] = tanh %0                                  # model.py:13
      return loss=%2
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from jaxaot._jax import ClosedJaxpr, DropVar, Jaxpr, Literal, is_tracer
from jaxaot._typing import Atom, Eqn, Var
from jaxaot._util import format_bytes
from jaxaot.ir.roles import Role
from jaxaot.ir.walk import aval_bytes, opened, short_aval, source_line

_MAX_PARAM_LENGTH = 60
_HIDDEN_PARAMS = {"jvp", "jvp_jaxpr_fun", "fwd_jaxpr_thunk", "bwd", "num_consts", "symbolic_zeros", "sharding", "name"}
_NUMPY_SCALAR = re.compile(r"np\.[a-z]+\d*\(([^()]*)\)")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+|0x[0-9a-f]{6,}")


class Names:
    """The names of the variables of one graph, given out in order: `%0`, `%1`, … if `stem` is `%`."""

    def __init__(self, names: dict[Any, str] | None = None, stem: str = "%"):
        self._names, self._stem = dict(names or {}), stem
        self._count = 0

    def define(self, var: Var) -> str:
        """Returns a new name for a variable that is being defined."""
        if isinstance(var, DropVar):
            return "_"
        if var not in self._names:
            self._names[var] = f"{self._stem}{self._count}"
            self._count += 1
        return self._names[var]

    def read(self, atom: Atom) -> str:
        """Returns the text of an atom: the name of a variable, the value of a literal."""
        if isinstance(atom, Literal):
            return format_literal(atom)
        return self._names.get(atom, f"?{short_aval(atom.aval)}")


def format_literal(literal: Literal) -> str:
    """Returns the value of a literal, such as `0.5`."""
    return "<tracer>" if is_tracer(literal.val) else str(np.asarray(literal.val))


def format_eqn(eqn: Eqn, names: Names, source: bool = True) -> str:
    """Returns one line for an equation, without indentation."""
    targets = ", ".join(f"{names.define(var)}: {short_aval(var.aval)}" for var in eqn.outvars)
    call = " ".join([eqn.primitive.name + format_params(eqn), *map(names.read, eqn.invars)])
    line = f"{targets} = {call}" if targets else call
    place = source_line(eqn) if source else None
    return f"{line}  # {place}" if place else line


def format_params(eqn: Eqn) -> str:
    """Returns the parameters of an equation that say something, in brackets, or nothing."""
    if (inside := opened(eqn)) is not None:
        return f"[{inside[0]}]"
    parts = []
    for name, value in sorted(eqn.params.items()):
        if value is None or value is False or (isinstance(value, tuple) and not value) or name in _HIDDEN_PARAMS:
            continue
        if isinstance(value, ClosedJaxpr | Jaxpr):
            text = f"{{{len(value.eqns)} equations}}"
        elif isinstance(value, tuple) and any(isinstance(item, ClosedJaxpr | Jaxpr) for item in value):
            text = f"({', '.join(f'{{{len(item.eqns)} equations}}' for item in value)})"
        else:
            text = "<function>" if callable(value) and not isinstance(value, type | np.dtype) else str(value)
            text = _NUMPY_SCALAR.sub(r"\1", _ADDRESS.sub("", re.sub(r"\s+", " ", text)))
            if text.startswith(("(", "[")):
                text = text.replace(" ", "")
        if text.startswith(("UnspecifiedValue", "(UnspecifiedValue")):
            continue
        parts.append(f"{name}={text if len(text) <= _MAX_PARAM_LENGTH else text[: _MAX_PARAM_LENGTH - 1] + '…'}")
    return f"[{' '.join(parts)}]" if parts else ""


def to_text(
    closed: ClosedJaxpr,
    in_roles: Sequence[Role] | None = None,
    out_roles: Sequence[Role] | None = None,
    source: bool = True,
    name: str = "graph",
    note: Callable[[Eqn], str] | None = None,
    is_open: bool = True,
) -> str:
    """Returns a graph as text.

    Args:
      closed: A ClosedJaxpr.
      in_roles: What each input means; without it, inputs are `in0`, `in1`, ….
      out_roles: What each output means.
      source: Whether equations name the lines that they come from.
      name: What the first line calls the graph.
      note: Takes an equation to what else stands beside it.
      is_open: Whether the backward of a function under `ja.remat`, one equation, is written out under it.
    """
    jaxpr = closed.jaxpr
    in_names = list(map(str, in_roles)) if in_roles is not None else [f"in{i}" for i in range(len(jaxpr.invars))]
    named = dict(zip(jaxpr.invars, unique_names(in_names), strict=True))
    named |= {var: f"const{i}" for i, var in enumerate(jaxpr.constvars)}
    names = Names(named)
    lines = [f"{name}({', '.join(f'{named[var]}: {short_aval(var.aval)}' for var in jaxpr.invars)})"]
    lines += [
        f"  {named[var]}: {short_aval(var.aval)} is a constant of {format_bytes(aval_bytes(var.aval))}"
        for var in jaxpr.constvars
    ]
    shown = list(_equations(jaxpr, names, "  ", is_open))
    places = [source_line(eqn) if source and eqn is not None else None for _, eqn in shown]
    if note is not None:
        places = [
            "  ".join(filter(None, (place, note(eqn)))) if eqn is not None else None
            for place, (_, eqn) in zip(places, shown, strict=True)
        ]
    width = min(80, max((len(line) for (line, _), place in zip(shown, places, strict=True) if place), default=0))
    lines += [f"{t:<{width}}  # {place}" if place else t for (t, _), place in zip(shown, places, strict=True)]
    outputs = list(map(names.read, jaxpr.outvars))
    if out_roles is not None:
        outputs = [f"{role}={value}" for role, value in zip(out_roles, outputs, strict=True)]
    lines.append(f"  return {', '.join(outputs)}")
    return "\n".join(lines)


def _equations(jaxpr: Jaxpr, names: Names, indent: str, is_open: bool) -> Iterator[tuple[str, Eqn | None]]:
    """Yields a line for each equation; under a linear map those of its graph, numbered after its first result."""
    for eqn in jaxpr.eqns:
        yield f"{indent}{format_eqn(eqn, names, source=False)}", eqn
        inside = opened(eqn) if is_open else None
        if inside is not None:
            graph = inside[1].jaxpr
            first = next((names.read(var) for var in eqn.outvars if not isinstance(var, DropVar)), "_")
            known = dict(zip(graph.invars, map(names.read, eqn.invars), strict=True))
            known |= {var: f"const{i}" for i, var in enumerate(graph.constvars)}
            inner = Names(known, f"{first}.")
            yield from _equations(graph, inner, indent + "    ", is_open)
            yield f"{indent}    return {', '.join(map(inner.read, graph.outvars))}", None


def unique_names(names: Sequence[str]) -> list[str]:
    """Returns `names` with a number added to those that were there before."""
    taken: dict[str, int] = {}
    result = []
    for name in names:
        count = taken.get(name, 0)
        taken[name] = count + 1
        result.append(name if count == 0 else f"{name}_{count}")
    return result
