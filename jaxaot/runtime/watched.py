"""Anomaly mode for a backward inside of a compiled function: its program runs one equation at a time.

The graph says which values are gradients, of which node of the tape and of which line (`ir/node_scopes.py`). The first
of them with a NaN ends the call, before it has written anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxaot.errors import AnomalyError
from jaxaot.facade.gradients.anomaly import describe, has_nan
from jaxaot.facade.memory.source_line import with_source
from jaxaot.ir.node_scopes import gradient_variables, node_of, runs_backward
from jaxaot.ir.walk import source_line, sub_jaxprs
from jaxaot.lower.interpret import Interpreter

Backend = Callable[..., Any]


def watching(make: Backend) -> Backend:
    """Returns a backend that looks for NaNs in the gradients of a forward, and makes other graphs as `make` does."""

    def make_watching(jaxpr: Any, donated: Sequence[int] = (), name: str = "graph", *options: Any) -> Any:
        if name != "forward":
            return make(jaxpr, donated, name, *options)
        return Interpreter(jaxpr, (), name, observe=nan_search(jaxpr.jaxpr))

    return make_watching


def nan_search(jaxpr: Any) -> Callable[[Any, list[Any], list[Any]], None]:
    """Returns an observer of the equations of an open jaxpr that raises at the first gradient with a NaN."""
    gradients = gradient_variables(jaxpr)

    def look(eqn: Any, operands: list[Any], results: list[Any]) -> None:
        node = node_of(eqn)
        if node is None:
            # a whole loop or branch: the forward in its body may be what makes a NaN of none
            if any(map(runs_backward, sub_jaxprs(eqn))) and not any(map(has_nan, operands)):
                _refuse_nan(f"A backward inside of `{eqn.primitive.name}`", "It is", eqn, operands, results)
        elif any(var in gradients for var in eqn.outvars):
            _refuse_nan(f"Function '{node.name}'", "It is the backward of an operation", eqn, operands, results)

    return look


def _refuse_nan(who: str, what: str, eqn: Any, operands: Sequence[Any], results: Sequence[Any]) -> None:
    """Raises if a result has a NaN.

    Raises:
      AnomalyError: If one has.
    """
    for index, result in enumerate(results):
        if has_nan(result):
            place = source_line(eqn, full_path=True)
            raise AnomalyError(
                f"{who} returned nan values in a compiled function: `{eqn.primitive.name}` computes "
                f"{describe(result)}, its {index}th output, of {', '.join(map(describe, operands)) or 'nothing'}.\n"
                f"{what} made at\n\n    {'an unknown line' if place is None else with_source(place)}"
            )
