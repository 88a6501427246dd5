"""What a trace leaves where later calls would not find it, or would find it without a value."""

from __future__ import annotations

import gc
import types
from collections.abc import Mapping, Sequence
from typing import Any

from jaxaot.errors import LeakedTensorError, UnreachableTensorError
from jaxaot.facade.cells.cells import cell_kinds, is_cell
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.trace_state import TraceState
from jaxaot.plan.paths import Path, path_text
from jaxaot.tracer.alias import Escapes

_MAX_STEPS, _MAX_SEARCHED = 4, 1_000
"""So many steps up, each of them once over all objects there are, and from so many of them."""


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


def empty_caches(caches: Sequence[Any], trace: TraceState) -> None:
    """Empties caches of `functools.lru_cache` that keep tensors of a trace: these have no value after it.

    What such a cache kept is computed again when it is asked for, as after `cache_clear()`.

    Args:
      caches: Those that the traced function reached.
      trace: The trace.
    """
    for cache in caches:
        level = [cache]
        for _ in range(_MAX_STEPS):
            level = [held for held in gc.get_referents(*level) if gc.is_tracked(held)] if level else []
            if any(isinstance(held, Tensor) and held._trace is trace for held in level):
                cache.cache_clear()
                break
            level = [held for held in level if isinstance(held, dict | list | tuple)]


def check_leaks(paths: Mapping[int, Path], trace: TraceState, escapes: Escapes) -> None:
    """Raises if a tensor made in the trace is still held by an object that outlives it.

    Args:
      paths: Id of each object from outside that was reached → its path.
      trace: The trace, after everything was put back.
      escapes: What it returns.
    """
    alive = [s for s in (ref() for ref in trace.created) if s is not None and id(s) not in escapes.storage_ids]
    if not alive:
        return  # as nearly always; to ask who holds nothing would walk all objects of the process as well
    alive_ids = {id(s) for s in alive}
    holders = [r for r in gc.get_referrers(*alive) if isinstance(r, Tensor) and id(r._storage) in alive_ids]
    del alive
    found = _held_from(holders, paths)
    if found:
        names = ", ".join(f"`{path_text(path)}`" for path in sorted(found, key=len)[:5])
        raise LeakedTensorError(
            f"The function made a tensor and kept it in {names}, where it would outlive the traced call "
            "without a value. Return it from the function, or write it into a tensor that is there before: "
            "`self.cache.copy_(new)`."
        )


def _held_from(values: Sequence[Any], paths: Mapping[int, Path]) -> list[Path]:
    """Returns the paths to objects from outside that hold some values, whatever lies in between."""
    found, level, seen = list[Path](), list(values), {id(values), *map(id, values)}
    for _ in range(_MAX_STEPS if values else 0):
        above = []
        for holder in gc.get_referrers(*level):
            if id(holder) in seen or holder is level or isinstance(holder, types.FrameType):
                continue
            seen.add(id(holder))
            if id(holder) in paths:
                found.append(paths[id(holder)])
            else:
                above.append(holder)
        if found or not 0 < len(above) < _MAX_SEARCHED:
            break
        level = above
    return found
