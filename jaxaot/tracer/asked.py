"""Guards on what a traced function asked of tensors from outside; see `facade/asked.py`."""

from __future__ import annotations

from collections.abc import Iterator

from jaxaot.facade.asked import FACTS
from jaxaot.facade.tracing import TraceState
from jaxaot.plan.guards import Answers, IsTensor, PythonGuard
from jaxaot.plan.paths import Path

_BASE = ("attr", "_base_tensor")


def add_bases(trace: TraceState, paths: dict[int, Path]) -> None:
    """Adds the paths of what views from outside are views of, where no other path leads there."""
    for i, (_, was) in trace.noted.items():
        if i in paths and was["_base_tensor"] is not None:
            paths.setdefault(id(was["_base_tensor"]), (*paths[i], _BASE))


def asked_guards(trace: TraceState, number: dict[int, int], paths: dict[int, Path]) -> Iterator[PythonGuard]:
    """Yields the guards on what tensors say of themselves, and that a `.grad` is a tensor which has another path.

    Args:
      trace: The trace, after everything was put back.
      number: Those of the tensor inputs, by id.
      paths: Where they are found, by id.
    """
    for i, (_, gradient) in trace.grad_reads.items():
        path = (*paths[i], ("attr", "_grad"))
        if id(gradient) in number and paths[id(gradient)] != path:
            yield PythonGuard(path, IsTensor(number[id(gradient)]))
    for (i, fact), tensor in trace.asked.items():
        base = tensor._base_tensor if fact == "_is_view" else None
        if id(base) in number:
            yield PythonGuard((*paths[i], _BASE), IsTensor(number[id(base)]))
        else:
            yield PythonGuard(paths[i], Answers(fact, FACTS[fact](tensor), FACTS[fact]))
