"""The passes that a graph goes through because of where it will run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from jaxaot.ir.walk import aval_bytes
from jaxaot.passes.hold import SMALL_BYTES
from jaxaot.passes.pipeline import PassResult, run_passes
from jaxaot.passes.table import LEGS


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
    passed = run_passes(closed, [name for name in names if name != LEGS], check, results)
    return Tuned(passed, tuple(results), LEGS in names)


def is_worth_tuning(closed: Any) -> bool:
    """Returns whether a graph makes a value that is large enough for the passes to matter."""
    return any(aval_bytes(var.aval) > SMALL_BYTES for eqn in closed.jaxpr.eqns for var in eqn.outvars)
