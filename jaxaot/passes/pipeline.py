"""The passes in order: a *pass* is a pure function from a ClosedJaxpr to one with the same inputs and outputs.

Passes run at two places. On the *joint* graph, before it is cut: what they leave is what the cut sees the costs of.
And on each graph that is *lowered*, after `prepare.py`: these change nothing but speed, so which ones run depends on
the platform. Here are those of joint graphs; the rooms in `backend/` declare those of their platforms.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Sequence
from typing import Any

import jax

from jaxaot._immutable import immutable
from jaxaot._logs import logger_of
from jaxaot._placement import are_several
from jaxaot.errors import CompilerError, GraphCheckError
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline
from jaxaot.passes.attempt import attempt
from jaxaot.passes.cse import cse
from jaxaot.passes.dce import dce
from jaxaot.passes.declared import On, Pass, Rewrite, chosen
from jaxaot.passes.drop_zero_sums import drop_zero_sums
from jaxaot.plan.stages import JointGraph

_log = logger_of("passes")
_declared: list[Pass] = []
_passes: dict[str, Rewrite] = {}
_own: list[Rewrite] = []
"""The functions that users did not register."""
_looks_for: dict[Rewrite, frozenset[str]] = {}
"""The primitives that they look for; a graph without them is not given to them, and their modules are not loaded."""


def declare(*passes: Pass) -> None:
    """Adds passes of jaxaot's behind those that are declared already."""
    for added in passes:
        _declared.append(added)
        if added.function is not None:
            _passes[added.name] = added.function
            _own.append(added.function)
            if added.looks_for is not None:
                _looks_for[added.function] = added.looks_for


declare(
    Pass("cse", cse, On.JOINT),
    Pass("dce", dce, On.JOINT),
    Pass("drop_zero_sums", drop_zero_sums, On.JOINT, is_exact=False),
    Pass("inline", inline, On.JOINT, is_default=False),
)


@immutable(eq=False)
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


def register_pass(name: str, function: Rewrite) -> None:
    """Makes a pass available by name, in place of any other of that name."""
    _passes[name] = function


def declared_passes() -> tuple[Pass, ...]:
    """Returns what jaxaot's passes declare of themselves, in the order in which they run."""
    return tuple(_declared)


def pass_names() -> tuple[str, ...]:
    """Returns the names of the passes that exist."""
    return tuple(dict.fromkeys([*_passes, *(declared.name for declared in _declared)]))


def default_passes(platform: str | None = None) -> tuple[str, ...]:
    """Returns the names of the passes that run by default, as `ja.config(passes=...)` takes them.

    Args:
      platform: Where graphs run; by default on the default backend.
    """
    platform = platform or jax.default_backend()
    names = [d.name for d in _declared if any(d.runs_by_default(on, platform) for on in On)]
    return tuple(dict.fromkeys(names))


def joint_passes(names: Sequence[str | Rewrite] | None, exact: bool = False) -> tuple[str | Rewrite, ...]:
    """Returns those passes of a setting that run on the joint graph, in its order; or those that do by default.

    Args:
      names: The setting.
      exact: Whether roundings are kept.
    """
    ours = [declared.name for declared in chosen(_declared, On.JOINT, jax.default_backend(), names, exact)]
    if names is None:
        return tuple(ours)
    known = {declared.name for declared in _declared}
    return tuple(name for name in names if name in ours or name not in known)


def lowered_passes(
    names: Sequence[str | Rewrite] | None,
    platform: str,
    exact: bool = False,
    on: On = On.COMPILED,
    blocks: bool | Sequence[str] = False,
) -> tuple[str, ...]:
    """Returns those passes of a setting that run on lowered graphs, in order; by default those of the platform.

    With several devices only functions are among those by default, and no switches. Some are for what one device
    computes, see `on_several_devices`.

    Args:
      names: The setting.
      platform: Where the graph runs.
      exact: Whether roundings are kept.
      on: What the graph is.
      blocks: The setting of what is computed in blocks.

    Raises:
      CompilerError: If there is no pass of a name.
    """
    for name in names or ():
        if isinstance(name, str) and name not in pass_names():
            raise _unknown(name)
    found = chosen(_declared, on, platform, names, exact)
    if names is None and are_several():
        found = tuple(declared for declared in found if declared.function is not None)
    left_out = {
        name for kind, name in _OF_KIND.items() if blocks is False or (blocks is not True and kind not in blocks)
    }
    found = tuple(declared for declared in found if declared.name not in left_out)
    return tuple(declared.name for declared in found)


_OF_KIND = {"losses": "loss_blocks", "attention": "attention_blocks"}
"""The passes that put graphs in blocks, by what `ja.config(blocks=…)` calls what they look for."""


def on_several_devices(names: Sequence[str]) -> tuple[str, ...]:
    """Returns those of some passes that are sound for a graph whose values may be divided over devices.

    How XLA divides the work depends on the axes that a graph shows it.
    """
    others = {declared.name for declared in _declared if not declared.keeps_axes}
    return tuple(name for name in names if name not in others)


def passes_on(names: Sequence[str], on: On) -> tuple[str, ...]:
    """Returns those of some passes that are for graphs of another kind as well."""
    theirs = {declared.name for declared in _declared if on in declared.on}
    return tuple(name for name in names if name in theirs)


def without_switches(names: Sequence[str]) -> tuple[str, ...]:
    """Returns those of some names that are of passes, and not of switches."""
    return tuple(name for name in names if name in _passes)


def foreign_passes(names: Sequence[str]) -> list[tuple[str, Rewrite]]:
    """Returns those of some passes, by name, whose functions are not jaxaot's own."""
    found = [(name, _passes[name]) for name in names if name in _passes]
    return [(name, function) for name, function in found if not any(function is own for own in _own)]


def run_passes(
    graph: Any, names: Sequence[str | Rewrite], check: bool = False, record: list[PassResult] | None = None
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
        results: list[PassResult] = [] if record is None else record
        n_before = len(results)
        after = graph.replace(run_passes(graph.jaxpr, names, check, results))
        done = tuple(f"{r.name}: {r.n_before} → {r.n_after} equations" for r in results[n_before:])
        return dataclasses.replace(after, passed=(*graph.passed, *done))
    jaxpr: Any = graph
    held: set[str] | None = None  # the primitives in it, once they are asked for
    for name in names:
        function, label = (_lookup(name), name) if isinstance(name, str) else (name, getattr(name, "__name__", "pass"))
        start = time.perf_counter()
        wanted = _looks_for.get(function)
        if wanted is not None:
            held = {eqn.primitive.name for eqn in jaxpr.jaxpr.eqns} if held is None else held
            if wanted.isdisjoint(held):
                function = lambda unchanged: unchanged
        run = functools.partial(_run, label, function, jaxpr, check)
        result = attempt(f"The pass `{label}`", run, jaxpr, check) if any(function is own for own in _own) else run()
        seconds = time.perf_counter() - start
        done = PassResult(label, result, seconds, len(jaxpr.eqns), len(result.eqns))
        _log.debug("%s", done)
        if record is not None:
            record.append(done)
        held = held if result is jaxpr else None
        jaxpr = result
    return jaxpr


def _run(label: str, function: Rewrite, before: Any, check: bool) -> Any:
    result = function(before)
    _require_same_interface(label, before, result)
    if check:
        check_graph(result)
    return result


def _lookup(name: str) -> Rewrite:
    if name not in _passes:
        raise _unknown(name)
    return _passes[name]


def _unknown(name: str) -> CompilerError:
    return CompilerError(
        f"There is no pass `{name}`. The passes are: {', '.join(pass_names())}. Add your own with "
        f"`register_pass({name!r}, function)`, where `function` takes and returns a ClosedJaxpr."
    )


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
