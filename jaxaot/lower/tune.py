"""The passes that a graph goes through because of where it will run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from jaxaot.ir.rewrite import inline, rebuild
from jaxaot.ir.walk import aval_bytes
from jaxaot.passes.hold import SMALL_BYTES
from jaxaot.passes.pipeline import PassResult, run_passes
from jaxaot.passes.table import LEGS

_BODIES = {"scan": ("jaxpr",), "while": ("body_jaxpr",), "cond": ("branches",)}
"""The parameters that are bodies of their own, by primitive."""


@dataclasses.dataclass(frozen=True, eq=False)
class Tuned:
    """A graph as it is compiled.

    Attributes:
      jaxpr: The ClosedJaxpr.
      results: What each pass did.
      has_legs: Whether it may become several executables.
    """

    jaxpr: Any
    results: tuple[PassResult, ...]
    has_legs: bool


def tune(closed: Any, names: Sequence[str], check: bool = False) -> Tuned:
    """Returns a graph after the passes that change nothing but speed.

    Args:
      closed: The ClosedJaxpr, its calls inlined.
      names: The names of the passes, see `jaxaot.passes.table`.
      check: Whether to check the graph after each.
    """
    results: list[PassResult] = []
    passes = [name for name in names if name != LEGS]
    passed = _with_tuned_bodies(run_passes(closed, passes, check, results), passes, check, results)
    return Tuned(passed, tuple(results), LEGS in names)


def _with_tuned_bodies(closed: Any, passes: Sequence[str], check: bool, results: list[PassResult]) -> Any:
    """Returns a graph in which the bodies of loops and branches went through passes, and adds what these did."""

    def tuned(body: Any, where: str) -> Any:
        opened = inline(body, also_custom=True)
        if not is_worth_tuning(opened):
            return body
        found: list[PassResult] = []
        opened = run_passes(opened, passes, check, found)
        results.extend(dataclasses.replace(result, name=f"{result.name} in a body of {where}") for result in found)
        return _with_tuned_bodies(opened, passes, check, results)

    eqns = []
    for eqn in closed.jaxpr.eqns:
        bodies: dict[str, Any] = {}
        for name in _BODIES.get(eqn.primitive.name, ()):
            body = eqn.params[name]
            where = eqn.primitive.name
            bodies[name] = tuple(tuned(b, where) for b in body) if isinstance(body, tuple) else tuned(body, where)
        eqns.append(eqn.replace(params={**eqn.params, **bodies}) if bodies else eqn)
    return rebuild(closed, eqns, closed.jaxpr.outvars)


def is_worth_tuning(closed: Any) -> bool:
    """Returns whether a graph makes a value that is large enough for the passes to matter."""
    return any(aval_bytes(var.aval) > SMALL_BYTES for eqn in closed.jaxpr.eqns for var in eqn.outvars)
