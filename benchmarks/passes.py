"""What one pass changes: which passes change what is run for a graph at all.

A pass that leaves a graph as it is gains nothing there, whatever it gains elsewhere; so nothing has to be timed to know
that. What is left is timed with all passes and without one, by `benchmarks.train --without` and `benchmarks.weigh`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jaxaot.backend.cpu.batch.sharded import plan_sharded
from jaxaot.backend.cpu.kernels.lowered_cse import lowered_cse
from jaxaot.backend.cpu.memory.sequential import can_be_cut
from jaxaot.backend.cpu.pipeline import EIGEN_CONVOLUTIONS, KEEP_FREED_MEMORY, SHARDS, SUBPROGRAMS
from jaxaot.backend.cpu.tune import Tuned, is_worth_tuning, tune
from jaxaot.passes.dce import dce
from jaxaot.passes.pipeline import declared_passes, default_passes, lowered_passes, register_pass, without_switches


def without(*names: str) -> tuple[str, ...]:
    """Returns the names of the passes that run by default, but for some.

    Args:
      *names: The passes that are left out.

    Raises:
      ValueError: If one of them does not run by default.
    """
    known = default_passes()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: no such pass runs by default; those that do are {', '.join(known)}")
    return tuple(name for name in known if name not in names)


def fired(closed: Any) -> list[str]:
    """Returns those of the passes on lowered graphs that change what is run for a graph, in order.

    Args:
      closed: The ClosedJaxpr, its calls inlined.
    """
    if not is_worth_tuning(closed):
        return []
    names = lowered_passes(None, "cpu")
    with _recorded() as changed:
        plans = _plans(closed, names)
    text = _text(closed, names)
    found = {name for name in changed if _text(closed, [other for other in names if other != name]) != text}
    if len(plans) > 1:
        found.add(SHARDS)
    if any(plan.n_by_eigen for plan in plans):
        found.add(EIGEN_CONVOLUTIONS)
    if any(can_be_cut(plan.jaxpr) for plan in plans):
        found |= {SUBPROGRAMS, KEEP_FREED_MEMORY}
    return [name for name in dict.fromkeys(names) if name in found]


def _plans(closed: Any, names: Sequence[str]) -> list[Tuned]:
    """Returns the graph after the passes; of a graph in shards, that of a shard and that of what comes after."""
    sharded = plan_sharded(closed, names)
    return [tune(closed, names)] if sharded is None else [sharded.part, sharded.rest]


def _text(closed: Any, names: Sequence[str]) -> str:
    """Returns the graphs that are compiled, as text, without what XLA leaves out by itself."""
    return "\n".join(str(dce(lowered_cse(plan.jaxpr))) for plan in _plans(closed, names))


@contextlib.contextmanager
def _recorded() -> Iterator[set[str]]:
    """Yields the names of the passes that have changed a graph so far, in bodies of loops as well."""
    changed: set[str] = set()

    def recording(name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def run(closed: Any) -> Any:
            made = function(closed)
            if made is not closed and str(made) != str(closed):
                changed.add(name)
            return made

        return run

    functions = {declared.name: declared.function for declared in declared_passes()}
    lowered = {name: functions[name] for name in without_switches(lowered_passes(None, "cpu"))}
    try:
        for name, function in lowered.items():
            if function is not None:
                register_pass(name, recording(name, function))
        yield changed
    finally:
        for name, function in lowered.items():
            if function is not None:
                register_pass(name, function)
