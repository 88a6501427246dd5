"""A snapshot of the Python world that a function may change: it is put back before the function runs again.

Where Python asks for a value that is not known yet a trace ends, and the function is run again from its start. What it
had done to lists, dicts, sets, NumPy arrays, attributes and variables by then is undone, so that it happens once.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import jax
import numpy as np

from jaxaot.facade.cells import attributes_of
from jaxaot.facade.tensor import Tensor
from jaxaot.plan.paths import Path
from jaxaot.tracer.names import code_names, variables_of
from jaxaot.tracer.paths import LEAVES, LIMIT, children, is_foreign

Undo: TypeAlias = Callable[[], bool]
"""Puts something back, and returns whether it was changed."""

_MAX_BYTES = 2**20
"""Of a larger NumPy array no copy is kept."""
_MISSING = object()


def snapshot(roots: Iterable[tuple[Path, Any]]) -> Undo:
    """Returns a function that restores everything reachable that was changed.

    Args:
      roots: Where to start, each with its own path.
    """
    undos: list[Undo] = []
    queue, later = deque(roots), deque[tuple[Path, Any]]()
    seen: set[int] = set()
    keep: list[Any] = []  # objects made on the way, so that their ids stay theirs
    names: set[str] = set()
    while (queue or later) and len(seen) < LIMIT:
        path, value = queue.popleft() if queue else later.popleft()
        if id(value) in seen or isinstance(value, (Tensor, jax.Array)):
            continue
        seen.add(id(value))
        keep.append(value)
        undos += _undos(value, names)
        if isinstance(value, LEAVES):
            continue
        for step, child, is_late in children(value, names):
            if not isinstance(child, LEAVES) or isinstance(child, np.ndarray):
                (later if is_late else queue).append(((*path, step), child))

    return lambda: sum([undo() for undo in undos]) > 0


def _undos(value: object, names: set[str]) -> Iterator[Undo]:
    if isinstance(value, np.ndarray):
        if value.nbytes <= _MAX_BYTES and value.flags.writeable and not value.dtype.hasobject:
            yield _array(value)
    elif isinstance(value, (list, deque)):
        yield _sequence(value)
    elif isinstance(value, set):
        yield _set(value)
    elif isinstance(value, dict):
        yield _dict(value)
    elif isinstance(value, types.FunctionType):
        code = value.__code__
        yield from map(_cell, value.__closure__ or ())
        if not is_foreign(value.__module__):
            yield _variables(value.__globals__, variables_of(code) | code_names(code).stored)
    elif isinstance(value, types.ModuleType):
        if not is_foreign(value.__name__):
            yield _variables(vars(value), names)
    elif isinstance(value, type):
        if not is_foreign(value.__module__):
            yield _attributes(value, lambda: dict(vars(value)))
    elif not is_foreign(type(value).__module__) or type(value) is types.SimpleNamespace:
        yield _attributes(value, lambda: attributes_of(value))


def _is_same(before: Iterable[Any], now: Iterable[Any]) -> bool:
    before, now = list(before), list(now)
    return len(before) == len(now) and all(a is b for a, b in zip(before, now, strict=True))


def _array(array: np.ndarray) -> Undo:
    before = array.copy()

    def undo() -> bool:
        is_changed = array.tobytes() != before.tobytes()
        if is_changed:
            array[...] = before
        return is_changed

    return undo


def _sequence(sequence: Any) -> Undo:
    before = list(sequence)

    def undo() -> bool:
        is_changed = not _is_same(before, sequence)
        if is_changed:
            sequence.clear()
            sequence.extend(before)
        return is_changed

    return undo


def _set(members: set[Any]) -> Undo:
    before = set(members)

    def undo() -> bool:
        is_changed = members != before
        if is_changed:
            members.clear()
            members.update(before)
        return is_changed

    return undo


def _dict(items: dict[Any, Any]) -> Undo:
    before = dict(items)

    def undo() -> bool:
        is_changed = not (_is_same(before, items) and _is_same(before.values(), items.values()))
        if is_changed:
            items.clear()
            items.update(before)
        return is_changed

    return undo


def _cell(cell: types.CellType) -> Undo:
    def content() -> Any:
        try:
            return cell.cell_contents
        except ValueError:
            return _MISSING

    before = content()

    def undo() -> bool:
        if content() is before:
            return False
        if before is _MISSING:
            del cell.cell_contents
        else:
            cell.cell_contents = before
        return True

    return undo


def _variables(namespace: dict[str, Any], names: Iterable[str]) -> Undo:
    before = {name: namespace.get(name, _MISSING) for name in names}

    def undo() -> bool:
        changed = {name: was for name, was in before.items() if namespace.get(name, _MISSING) is not was}
        for name, was in changed.items():
            if was is _MISSING:
                del namespace[name]
            else:
                namespace[name] = was
        return bool(changed)

    return undo


def _attributes(value: Any, read: Callable[[], dict[str, Any]]) -> Undo:
    before = read()

    def undo() -> bool:
        now = read()
        if _is_same(before, now) and _is_same(before.values(), now.values()):
            return False
        put = type.__setattr__ if isinstance(value, type) else object.__setattr__
        remove = type.__delattr__ if isinstance(value, type) else object.__delattr__
        for name in now.keys() - before.keys():
            remove(value, name)
        for name, was in before.items():
            if now.get(name, _MISSING) is not was:
                put(value, name, was)
        return True

    return undo
