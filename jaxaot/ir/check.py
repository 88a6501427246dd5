"""Whether a graph is well formed.

Every variable is defined once and before it is read, every equation has the output types that its primitive gives, and
the effects of the graph cover those of its equations. A failure shows the equation, its neighbours and its source line.
"""

from __future__ import annotations

from typing import Any

from jaxaot._jax import DropVar, Literal, check_types, has_side_effects, make_jaxpr_object
from jaxaot._typing import ClosedJaxpr, Eqn, Jaxpr
from jaxaot._util import OrderedSet
from jaxaot.errors import GraphCheckError
from jaxaot.ir.text import Names, format_eqn
from jaxaot.ir.walk import short_aval, source_line, variables

_N_NEIGHBOURS = 2


def check_graph(closed: ClosedJaxpr) -> None:
    """Does nothing if a ClosedJaxpr is well formed.

    Raises:
      GraphCheckError: If it is not. The message lists every problem of the first equation that has one.
    """
    jaxpr = closed.jaxpr
    if len(jaxpr.constvars) != len(closed.consts):
        raise GraphCheckError(
            f"The graph has {len(jaxpr.constvars)} constant variables, {len(closed.consts)} constants."
        )
    defined: dict[Any, str] = {}
    for i, var in enumerate((*jaxpr.constvars, *jaxpr.invars)):
        if var in defined:
            raise GraphCheckError(f"Input {i} of the graph, a {short_aval(var.aval)}, occurs twice among its inputs.")
        defined[var] = "an input"
    for i, eqn in enumerate(jaxpr.eqns):
        problems = _problems(eqn, defined)
        if problems:
            raise GraphCheckError(_message(jaxpr, i, problems))
        defined.update((var, f"equation {i}") for var in eqn.outvars if not isinstance(var, DropVar))
    for i, atom in enumerate(jaxpr.outvars):
        if not isinstance(atom, Literal) and atom not in defined:
            raise GraphCheckError(f"Output {i} of the graph, a {short_aval(atom.aval)}, is never defined.")
    missing = {effect for eqn in jaxpr.eqns if has_side_effects(eqn) for effect in eqn.effects} - set(jaxpr.effects)
    if missing:
        raise GraphCheckError(f"The graph does not declare the effects {missing} of its equations.")
    if check_types(jaxpr) is not None:
        for i, eqn in enumerate(jaxpr.eqns):
            free = list(OrderedSet(variables(eqn.invars)))
            reason = check_types(make_jaxpr_object(free, [], [eqn]))
            if reason is not None:
                raise GraphCheckError(_message(jaxpr, i, [reason]))
        raise GraphCheckError(f"The graph is malformed: {check_types(jaxpr)}")


def _problems(eqn: Eqn, defined: dict[Any, str]) -> list[str]:
    problems = [
        f"operand {i}, a {short_aval(atom.aval)}, is read before it is defined"
        for i, atom in enumerate(eqn.invars)
        if not isinstance(atom, Literal) and atom not in defined
    ]
    seen: set[Any] = set()
    for i, var in enumerate(eqn.outvars):
        if isinstance(var, DropVar):
            continue
        if var in defined or var in seen:
            problems.append(f"result {i}, a {short_aval(var.aval)}, was defined before by {defined.get(var, 'itself')}")
        seen.add(var)
    return problems


def _message(jaxpr: Jaxpr, position: int, problems: list[str]) -> str:
    names = Names({var: f"in{i}" for i, var in enumerate(jaxpr.invars)})
    lines = []
    for i, eqn in enumerate(jaxpr.eqns[: position + _N_NEIGHBOURS + 1]):
        line = format_eqn(eqn, names, source=i != position)
        if i >= position - _N_NEIGHBOURS:
            lines.append(f"{'-->' if i == position else '   '} {line}")
    place = source_line(jaxpr.eqns[position], full_path=True)
    where = f", written at {place}" if place else ""
    found = "\n".join(f"  - {problem}" for problem in problems)
    return (
        f"Equation {position} of the graph (`{jaxpr.eqns[position].primitive.name}`){where}, is malformed:\n{found}\n\n"
        + "\n".join(lines)
        + "\n\nThis is a defect of the pass that made the graph. Run the passes one at a time with "
        "`check_graphs=True` to see which."
    )
