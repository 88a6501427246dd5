"""What a trace leaves where later calls would not find it, or would find it without a value."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

from jaxaot.errors import LeakedTensorError, UnreachableTensorError
from jaxaot.facade.cells.cells import cell_kinds, is_cell
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.trace_state import TraceState
from jaxaot.plan.paths import Path, path_text
from jaxaot.tracer.alias import Escapes
from jaxaot.tracer.observe.paths import find_paths


def check_reached(arrays: Sequence[Any]) -> None:
    """Raises if one of some arrays is held by a cell.

    No path leads to them, so a later call would miss what that cell holds then.
    """
    if arrays and cell_kinds():
        for holder in gc.get_referrers(*arrays):
            if is_cell(holder):
                raise UnreachableTensorError(
                    f"The function read a {type(holder).__name__} that is neither among the arguments nor reachable "
                    "from its closure, the globals it names, or attributes of its objects. A later call could not "
                    "find it again. Pass the module that holds it as an argument."
                )


def check_leaks(roots: Sequence[tuple[Path, Any]], trace: TraceState, escapes: Escapes) -> None:
    """Raises if a tensor made in the trace is still held by an object that outlives it."""
    alive = [s for s in (ref() for ref in trace.created) if s is not None and id(s) not in escapes.storage_ids]
    if not alive:
        return
    holders: dict[int, Any] = {}
    alive_ids = {id(s) for s in alive}
    for referrer in gc.get_referrers(*alive):
        if isinstance(referrer, Tensor) and id(referrer._storage) in alive_ids:
            holders[id(referrer)] = referrer
    del alive
    paths = find_paths(roots, holders)
    if paths:
        names = ", ".join(f"`{path_text(path)}`" for path in sorted(paths.values(), key=len)[:5])
        raise LeakedTensorError(
            f"The function made a tensor and kept it in {names}, where it would outlive the traced call "
            "without a value. Return it from the function, or write it into a tensor that is there before: "
            "`self.cache.copy_(new)`."
        )
