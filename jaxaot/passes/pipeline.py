"""The passes in order: a *pass* is a pure function from a ClosedJaxpr to one with the same inputs and outputs.

Which of them run where is in `table.py`.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax

from jaxaot.backend.cpu.pipeline import DEFAULTS, JOINT, LOWERED, ORDER, REASSOCIATING, SWITCHES
from jaxaot.errors import CompilerError, GraphCheckError
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline
from jaxaot.passes.attempt import attempt
from jaxaot.passes.cse import cse
from jaxaot.passes.dce import dce
from jaxaot.passes.fold import fold
from jaxaot.plan.stages import JointGraph

Pass = Callable[[Any], Any]

_passes: dict[str, Pass] = {"cse": cse, "dce": dce, "fold": fold, "inline": inline, **LOWERED}
_OWN = tuple(_passes.values())
"""The passes that users did not register."""


@dataclasses.dataclass(frozen=True, eq=False)
class PassResult:
    """What one pass did.

    Attributes:
      name: The name of the pass.
      jaxpr: The graph after it.
      seconds: How long it took.
      n_before: How many equations there were before.
      n_after: How many there are now.
    """

    name: str
    jaxpr: Any
    seconds: float
    n_before: int
    n_after: int

    def __str__(self) -> str:
        return f"{self.name}: {self.n_before} → {self.n_after} equations in {1e3 * self.seconds:.1f} ms"


def register_pass(name: str, function: Pass) -> None:
    """Makes a pass available by name, in place of any other of that name."""
    _passes[name] = function


def pass_names() -> tuple[str, ...]:
    """Returns the names of the passes that exist."""
    return (*_passes, *SWITCHES)


def joint_passes(names: Sequence[str | Pass] | None, exact: bool = False) -> tuple[str | Pass, ...]:
    """Returns those passes of a setting that run on the joint graph; by default those of the table.

    Args:
      names: The setting.
      exact: Whether roundings are kept.
    """
    chosen = JOINT if names is None else [name for name in names if name in JOINT or name not in (*LOWERED, *SWITCHES)]
    return tuple(name for name in chosen if not (exact and name in REASSOCIATING))


def lowered_passes(names: Sequence[str | Pass] | None, platform: str, exact: bool = False) -> tuple[str, ...]:
    """Returns those passes of a setting that run on lowered graphs, in order; by default those of the platform.

    With several devices none run by default: a value may be spread over them, and how XLA divides the work depends on
    the axes that a graph shows it.

    Args:
      names: The setting.
      platform: Where the graph runs.
      exact: Whether roundings are kept.

    Raises:
      CompilerError: If there is no pass of a name.
    """
    if names is None:
        chosen = DEFAULTS.get(platform, ()) if jax.device_count() == 1 else ()
    else:
        for name in names:
            if isinstance(name, str) and name not in SWITCHES:
                _lookup(name)
        chosen = tuple(name for name in (*ORDER, *SWITCHES) if name in names)
    return tuple(name for name in chosen if not (exact and name in REASSOCIATING))


def run_passes(
    graph: Any, names: Sequence[str | Pass], check: bool = False, record: list[PassResult] | None = None
) -> Any:
    """Returns a graph, joint or ClosedJaxpr, after some passes.

    Args:
      graph: A JointGraph or a ClosedJaxpr.
      names: Names of passes, or passes themselves, in order.
      check: Whether to check the graph after each.
      record: A list to which the result of each pass is added.

    A pass of jaxaot's own that fails leaves the graph as it was, unless graphs are checked; see `attempt.py`.

    Raises:
      CompilerError: If there is no pass of that name.
      GraphCheckError: If a pass changes the number or types of inputs or outputs, or leaves a malformed graph.
    """
    if isinstance(graph, JointGraph):
        return graph.replace(run_passes(graph.jaxpr, names, check, record))
    jaxpr: Any = graph
    for name in names:
        function, label = (_lookup(name), name) if isinstance(name, str) else (name, getattr(name, "__name__", "pass"))
        start = time.perf_counter()
        run = functools.partial(_run, label, function, jaxpr, check)
        result = attempt(f"The pass `{label}`", run, jaxpr, check) if any(function is own for own in _OWN) else run()
        seconds = time.perf_counter() - start
        if record is not None:
            record.append(PassResult(label, result, seconds, len(jaxpr.eqns), len(result.eqns)))
        jaxpr = result
    return jaxpr


def _run(label: str, function: Pass, before: Any, check: bool) -> Any:
    result = function(before)
    _require_same_interface(label, before, result)
    if check:
        check_graph(result)
    return result


def _lookup(name: str) -> Pass:
    if name not in _passes:
        raise CompilerError(
            f"There is no pass `{name}`. The passes are: {', '.join(pass_names())}. Add your own with "
            f"`register_pass({name!r}, function)`, where `function` takes and returns a ClosedJaxpr."
        )
    return _passes[name]


def _require_same_interface(name: str, before: Any, after: Any) -> None:
    def types(avals: Any) -> list[Any]:
        return [(getattr(aval, "shape", None), getattr(aval, "dtype", None)) for aval in avals]

    for side in ("in_avals", "out_avals"):
        old, new = types(getattr(before, side)), types(getattr(after, side))
        if old != new:
            what = "inputs" if side == "in_avals" else "outputs"
            raise GraphCheckError(
                f"The pass `{name}` changed the {what} of the graph from {old} to {new}. A pass must keep their "
                "number, order, shapes and dtypes, because plans refer to them by position."
            )
