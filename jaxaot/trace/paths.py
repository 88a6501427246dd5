"""Finds the paths that lead from a call to the tensors that it reaches.

The search walks what a function can reach: its closure, the globals its code names, defaults, `self`, and the
attributes and items of objects, breadth first, so that the shortest path is found.
"""

from __future__ import annotations

import enum
import functools
import types
from collections import deque
from collections.abc import Container, Iterable, Iterator
from typing import Any

import jax
import numpy as np

from jaxaot._typing import Shape
from jaxaot.plan.call import AttributeGuard, Path
from jaxaot.tensor.cells import FOREIGN, fingerprint, kind_of
from jaxaot.tensor.tensor import Tensor

LEAVES = (str, bytes, int, float, complex, bool, type(None), np.ndarray, np.generic, jax.Array, range, slice)
KEYS = (str, int, bool, float, tuple, enum.Enum)
"""Keys of dicts that paths lead through."""
LIMIT = 500_000
_BEYOND = 100_000
"""How many objects are looked into, when all that was wanted is found, for further paths to it."""
_CODE_STEPS = ("type", "class")
_BINDS = (types.MethodType, functools.partial)


def find_paths(roots: Iterable[tuple[Path, Any]], targets: dict[int, Any]) -> dict[int, Path]:
    """Returns for each target that was found, by id, the shortest path to it.

    Args:
      roots: Where to start, each with its own path.
      targets: The objects to find, by id.
    """
    walk = _Walk(roots)
    while not targets.keys() <= walk.first.keys() and walk.step():
        continue
    return {i: walk.first[i] for i in targets if i in walk.first}


def find_all_paths(
    roots: Iterable[tuple[Path, Any]], targets: dict[int, Any]
) -> tuple[dict[int, Path], list[tuple[Path, Path]]]:
    """Returns what `find_paths` does, and the pairs of paths that lead to one object.

    A function that reads `u.w` and `v.w`, which are the same today, may find two things tomorrow. So whatever leads to
    a target along two ways is said to be the same; what leads to none is left out.

    Args:
      roots: Where to start, each with its own path.
      targets: The objects to find, by id.
    """
    walk = _Walk(roots)
    while not targets.keys() <= walk.first.keys() and walk.step():
        continue
    last = len(walk.seen) + _BEYOND
    while targets and len(walk.seen) < last and walk.step():
        continue
    found = {i: walk.first[i] for i in targets if i in walk.first}
    leading: set[int] = set()
    same: list[tuple[Path, Path]] = []
    waiting = list(found)
    while waiting:
        i = waiting.pop()
        if i not in leading:
            leading.add(i)
            same += [(path, walk.first[i]) for path, _ in walk.again.get(i, ())]
            waiting += [walk.parent[i], *(parent for _, parent in walk.again.get(i, ()))]
    return found, same


class _Walk:
    """A breadth-first walk.

    Attributes:
      first: Id of everything come upon → the shortest path to it.
      parent: Id of it → id of what held it; roots hold themselves.
      again: Id of it → further paths to it, each with the id of the holder.
      seen: Ids of what has been looked into.
    """

    def __init__(self, roots: Iterable[tuple[Path, Any]]):
        self.first: dict[int, Path] = {}
        self.parent: dict[int, int] = {}
        self.again: dict[int, list[tuple[Path, int]]] = {}
        self.seen: set[int] = set()
        self._queue: deque[Any] = deque()
        self._late: deque[Any] = deque()
        self._keep: list[Any] = []  # objects made on the way, so that their ids stay theirs
        self._names: set[str] = set()
        for path, value in roots:
            self._meet(path, value, id(value))
            self._queue.append(value)

    def _meet(self, path: Path, value: Any, holder: int) -> bool:
        """Notes a path; returns whether it is the first to what it leads to."""
        if id(value) not in self.first:
            self.first[id(value)] = path
            self.parent[id(value)] = holder
            self._keep.append(value)
            return True
        if path[-1][0] not in _CODE_STEPS and path[-1] != ("attr", "_base_tensor"):
            self.again.setdefault(id(value), []).append((path, holder))
        return False

    def step(self) -> bool:
        """Looks into one more object; returns whether there was one."""
        if not (self._queue or self._late) or len(self.seen) > LIMIT:
            return False
        value = self._queue.popleft() if self._queue else self._late.popleft()
        self.seen.add(id(value))
        path = self.first[id(value)]
        for step, child, is_late in children(value, self._names):
            if type(child) in _PLAIN or not self._meet((*path, step), child, id(value)):
                continue
            if not isinstance(child, LEAVES):
                (self._late if is_late else self._queue).append(child)
        return True


_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def plain_values(
    fn: Any, roots: Iterable[tuple[Path, Any]], paths: Iterable[Path], guarded: Container[int]
) -> tuple[list[AttributeGuard], list[tuple[Path, Any, Shape, bytes]]]:
    """Returns the plain Python values, and the contents of NumPy arrays, that decide what a function does.

    They are those of the objects that paths lead through, and of the user's functions that it calls by name.

    Args:
      fn: The function.
      roots: As for `find_paths`.
      paths: To what was reached.
      guarded: Ids of objects that have guards of their own.
    """
    at = dict(roots)
    for path in paths:
        for n in range(1, len(path)):
            prefix = path[: n + 1]
            if prefix[:-1] not in at or prefix in at or prefix == path:
                continue
            # types and their members hold code, whose values are looked at where it is called
            is_code = prefix[-1][0] in ("type", "class")
            at[prefix] = None if is_code else _take(at[prefix[:-1]], prefix[-1])
    known = {id(value) for value in at.values()}
    at.update((path, called) for path, called in _called_functions(fn) if id(called) not in known)
    guards, contents = [], []
    for path, value in at.items():
        steps = [] if id(value) in guarded else list(_plain_steps(value))
        plain = [(step, child) for step, child in steps if not isinstance(child, np.ndarray)]
        if plain:
            guards.append(AttributeGuard(path, tuple(s for s, _ in plain), tuple(v for _, v in plain)))
        contents += [((*path, s), *content_of(v)) for s, v in steps if isinstance(v, np.ndarray)]
    return guards, contents


def content_of(array: np.ndarray) -> tuple[Any, Shape, bytes]:
    """Returns what a NumPy array has to be at a later call."""
    return array.dtype, array.shape, fingerprint(array)


def _called_functions(fn: Any) -> Iterator[tuple[Path, types.FunctionType]]:
    """Returns the user's functions that `fn` reaches through closures and globals alone, each with its path."""
    queue: deque[tuple[Path, Any]] = deque([((("root", "fn"),), fn)])
    seen: set[int] = set()
    while queue:
        path, value = queue.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, types.MethodType):
            queue.append(((*path, ("attr", "__func__")), value.__func__))
        elif isinstance(value, functools.partial):
            queue.append(((*path, ("attr", "func")), value.func))
        elif isinstance(value, types.FunctionType):
            if len(path) > 1:
                yield path, value
            for step, child, _ in _function_children(value, set()):
                if step[0] in ("closure", "global"):
                    queue.append(((*path, step), child))


def follow(roots: Iterable[tuple[Path, Any]], path: Path) -> Any:
    """Returns what a path leads to."""
    value = dict(roots)[path[:1]]
    for step in path[1:]:
        value = _take(value, step)
    return value


def _take(value: Any, step: tuple[str, Any]) -> Any:
    kind, key = step
    match kind:
        case "attr":
            return getattr(value, key)
        case "item":
            return value[key]
        case "closure":
            return value.__closure__[key[0]].cell_contents
        case "global":
            return value.__globals__[key]
        case "type":
            return type(value)
    member = value.__dict__[key]
    if isinstance(member, (staticmethod, classmethod)):
        return member.__func__
    return member.fget if isinstance(member, property) else member


def _plain_steps(value: Any) -> Iterator[tuple[tuple[str, Any], Any]]:
    """Returns the steps from a function to what its closure and globals hold, or from an object to its attributes."""
    if isinstance(value, types.FunctionType):
        for step, child, _ in _function_children(value, set()):
            is_named = step[0] in ("closure", "global")
            if is_named and (type(child) in _PLAIN or isinstance(child, (np.ndarray, np.generic)) or _is_code(child)):
                yield step, child
    elif not isinstance(value, (type, types.ModuleType, types.MethodType, functools.partial, dict, list, tuple)):
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            for name, child in attributes.items():
                if type(child) in _PLAIN or isinstance(child, (np.ndarray, np.generic)):
                    yield ("attr", name), child


def _is_code(value: Any) -> bool:
    """Returns whether a value is a function, the user's or one such as `jnp.tanh`."""
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
        return True
    is_foreign = type(value).__module__.partition(".")[0] in FOREIGN
    return callable(value) and is_foreign and kind_of(value) is None and not isinstance(value, (type, _BINDS))


def children(value: Any, names: set[str]) -> Iterator[tuple[tuple[str, Any], Any, bool]]:
    """Yields what a value holds: the step to it, itself, and whether it is looked into last.

    Args:
      value: Anything.
      names: Names that the code met so far uses; of a module, nothing else is looked at.
    """
    if isinstance(value, Tensor):
        if value._grad is not None:
            yield ("attr", "_grad"), value._grad, False
        if value._base_tensor is not None:
            yield ("attr", "_base_tensor"), value._base_tensor, True
    elif isinstance(value, types.FunctionType):
        yield from _function_children(value, names)
    elif isinstance(value, types.MethodType):
        yield ("attr", "__self__"), value.__self__, False
        yield ("attr", "__func__"), value.__func__, False
    elif isinstance(value, functools.partial):
        yield ("attr", "args"), value.args, False
        yield ("attr", "keywords"), value.keywords, False
        yield ("attr", "func"), value.func, False
    elif isinstance(value, dict):
        for key, child in list(value.items()):
            if isinstance(key, KEYS):
                yield ("item", key), child, False
    elif isinstance(value, (list, tuple)):
        for i, child in enumerate(value):
            yield ("item", i), child, False
    elif isinstance(value, types.ModuleType):
        if value.__name__.split(".")[0] not in FOREIGN:
            for name in sorted(names & set(vars(value))):
                yield ("attr", name), vars(value)[name], True
    elif isinstance(value, type):
        if value.__module__.split(".")[0] not in FOREIGN:
            for name, child in list(vars(value).items()):
                child = child.__func__ if isinstance(child, (staticmethod, classmethod)) else child
                if isinstance(child, property):
                    child = child.fget
                if not name.startswith("__") or name == "__call__":
                    yield ("class", name), child, True
    elif isinstance(value, (set, frozenset)) or type(value).__module__.split(".")[0] in ("threading", "logging", "io"):
        return
    else:
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            for name, child in list(attributes.items()):
                yield ("attr", name), child, False
        for owner in type(value).__mro__:
            slots = owner.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                    yield ("attr", name), getattr(value, name), False
        yield ("type", None), type(value), True


def _function_children(fn: types.FunctionType, names: set[str]) -> Iterator[tuple[tuple[str, Any], Any, bool]]:
    if fn.__closure__:
        for i, (name, cell) in enumerate(zip(fn.__code__.co_freevars, fn.__closure__, strict=True)):
            try:
                yield ("closure", (i, name)), cell.cell_contents, False
            except ValueError:  # a cell that is not filled yet
                continue
    if fn.__defaults__:
        yield ("attr", "__defaults__"), fn.__defaults__, False
    if fn.__kwdefaults__:
        yield ("attr", "__kwdefaults__"), fn.__kwdefaults__, False
    if (
        fn.__module__ is not None
        and fn.__module__.split(".")[0] in FOREIGN
        and not fn.__module__.startswith("jaxaot.demo")
    ):
        return
    used = set(_names_of(fn.__code__))
    names |= used
    for name in sorted(used):
        if name in fn.__globals__:
            yield ("global", name), fn.__globals__[name], False
    if vars(fn):
        for name, child in list(vars(fn).items()):
            yield ("attr", name), child, False


def _names_of(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_of(constant)
