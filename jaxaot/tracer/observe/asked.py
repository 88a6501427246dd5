"""Guards on what a traced function asked of tensors from outside; see `facade/memory/asked.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jaxaot.facade.dispatch.create import is_held
from jaxaot.facade.memory.asked import answer_to
from jaxaot.facade.trace_state import TraceState
from jaxaot.plan.guards import LEAVES, Answers, IsHeld, IsTensor, PythonGuard
from jaxaot.plan.paths import Path
from jaxaot.tracer.arguments import leaf_paths

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
            answer = answer_to(fact)
            yield PythonGuard(paths[i], Answers(fact, answer(tensor), answer))


def held_guards(trace: TraceState, arguments: Any, tree: Any) -> Iterator[PythonGuard]:
    """Yields the guards that 32 bits hold the numbers of arguments that tensors were made of."""
    of_leaves = leaf_paths(arguments, tree) if trace.checked else []
    for position in sorted(trace.checked):
        path = of_leaves[position]
        yield PythonGuard((LEAVES, ("item", position)) if path is None else path, IsHeld(is_held))
