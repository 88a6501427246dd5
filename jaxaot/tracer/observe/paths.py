"""Finds the paths that lead from a call to the tensors that it reaches.

The search walks what a function can reach: its closure, the globals its code names, defaults, `self`, and the
attributes and items of objects, breadth first, so that the shortest path is found.
"""

from __future__ import annotations

import contextvars
import enum
import functools
import inspect
import os
import sys
import threading
import types
import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot.facade.cells.cells import TOOLS, attributes_of, is_of_library
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import is_wrapper
from jaxaot.plan.paths import UNSET, ObjectKey, Path, function_behind
from jaxaot.tracer.observe.names import code_names, variables_of

LEAVES = (str, bytes, int, float, complex, bool, type(None), np.ndarray, np.generic, jax.Array, range, slice)
KEYS = (str, int, bool, float, tuple, enum.Enum, bytes, type, type(None))
"""Keys of dicts that are compared by value, or hold nothing."""
MAPPINGS, SEQUENCES = (dict, types.MappingProxyType), (list, tuple, deque)
BUILTIN = {dict, list, tuple, deque, OrderedDict, defaultdict, Counter, types.MappingProxyType}
"""Containers without attributes."""
LIMIT = 500_000
_DEAD_ENDS = {"threading", "logging", "io", *TOOLS}
"""Packages whose objects are not looked into."""
_PLAIN = {str, int, bool, float, type(None)}
_RECORDS = {"flax.nnx.graphlib", "flax.typing", "flax.core.frozen_dict"}
"""Modules of records that never change, such as the definition of an nnx module's graph."""


def is_foreign(module: str | None) -> bool:
    """Returns whether a module is part of a library whose code is not looked into."""
    if module is None:
        return False
    root = module.split(".")[0]
    return is_of_library(module) or (root in sys.stdlib_module_names and root != "__main__" and _is_pythons(root))


@functools.lru_cache(maxsize=1024)
def _is_pythons(name: str) -> bool:
    """Returns whether a module by the name of one of Python's is that one: a script may be called `statistics.py`."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is None or os.path.dirname(os.__file__) in file


def is_foreign_class(cls: type) -> bool:
    """Returns whether a class is part of such a library.

    One that is made by `exec` in a scope without `__name__` says that it is built in.
    """
    return is_foreign(cls.__module__) and vars(cls).get("__module__") != "builtins"


def is_librarys(fn: types.FunctionType) -> bool:
    """Returns whether a function is of such a library, whatever module `functools.wraps` says that it is of."""
    return is_foreign(fn.__globals__.get("__name__"))


def find_paths(
    roots: Iterable[tuple[Path, Any]], targets: dict[int, Any], avoided: frozenset[int] = frozenset()
) -> dict[int, Path]:
    """Returns for each target that was found, by id, the shortest path to it.

    Args:
      roots: Where to start, each with its own path.
      targets: The objects to find, by id.
      avoided: Ids of the containers that no path may lead through.
    """
    found: dict[int, Path] = {}
    queue: deque[tuple[Path, Any]] = deque(roots)
    later: deque[tuple[Path, Any]] = deque()
    seen: set[int] = set()
    keep: list[Any] = []  # objects made on the way, so that their ids stay theirs
    names: set[str] = set()
    while (queue or later) and len(found) < len(targets) and len(seen) < LIMIT:
        path, value = queue.popleft() if queue else later.popleft()
        if id(value) in targets and id(value) not in found:
            found[id(value)] = path
        if id(value) in seen or isinstance(value, LEAVES):
            continue
        seen.add(id(value))
        keep.append(value)
        if id(value) in avoided:
            continue
        for steps, child, is_late in children(value, names):
            if not isinstance(child, LEAVES) or id(child) in targets:
                (later if is_late else queue).append((path + steps, child))
    return found


def children(value: object, names: set[str]) -> Iterator[tuple[Path, Any, bool]]:
    """Yields the children of a value: the steps to each, the child, and whether it is visited last.

    Args:
      value: Anything.
      names: Attributes that the code met so far reads; of a module, nothing else is looked at.
    """
    if is_wrapper(value):
        for name, child in list(vars(value).items()):
            yield (("attr", name),), child, False
        yield (("type", None),), type(value), True
    elif isinstance(value, Tensor):
        for name, child in list(vars(value).items()):
            yield (("attr", name),), child, False
        if value._grad is not None:
            yield (("attr", "_grad"),), value._grad, False
        if value._base_tensor is not None:
            yield (("attr", "_base_tensor"),), value._base_tensor, True
    elif isinstance(value, types.FunctionType):
        yield from _function_children(value, names)
    elif isinstance(value, types.MethodType):
        yield (("attr", "__self__"),), value.__self__, False
        yield (("attr", "__func__"),), value.__func__, False
    elif is_containers(value):
        yield (("attr", "__self__"),), value.__self__, False
    elif isinstance(value, functools.partial):
        yield (("attr", "args"),), value.args, False
        yield (("attr", "keywords"),), value.keywords, False
        yield (("attr", "func"),), value.func, False
    elif isinstance(value, (*MAPPINGS, *SEQUENCES)):
        for step, child in item_steps(value):
            yield (step,), child, False
        for key, member in member_keys(value) if isinstance(value, MAPPINGS) else ():
            if isinstance(member, Tensor):
                yield (("member", key),), member, True
        if type(value) not in BUILTIN:
            yield from _attribute_children(value)
    elif isinstance(value, contextvars.ContextVar):
        if value.get(UNSET) is not UNSET:
            yield (("context", None),), value.get(UNSET), False
    elif isinstance(value, weakref.ReferenceType):
        yield (("referent", None),), value(), True
    elif isinstance(value, types.ModuleType):
        if not is_foreign(value.__name__):
            for name in sorted(names & set(vars(value))):
                yield (("attr", name),), vars(value)[name], True
    elif isinstance(value, type):
        if not is_foreign_class(value):
            for name, member in list(vars(value).items()):
                child = function_behind(member) or member
                if not name.startswith("__") or name == "__call__":
                    yield (("class", name),), child, True
    elif isinstance(value, (set, frozenset)):
        for key, member in member_keys(value):
            yield (("member", key),), member, False
    elif is_record(value):
        yield from record_children(value)
    elif str(type(value).__module__).split(".")[0] not in _DEAD_ENDS or isinstance(value, threading.local):
        yield from _attribute_children(value)


def is_containers(value: object) -> bool:
    """Returns whether a value is a method of a container of Python, such as `results.append`."""
    return isinstance(value, types.BuiltinMethodType) and type(value.__self__) in (*BUILTIN, set)


def is_record(value: object) -> bool:
    """Returns whether a value is a record that never changes, such as the definition of an nnx module's graph."""
    return type(value).__module__ in _RECORDS


def record_children(record: object) -> Sequence[tuple[Path, Any, bool]]:
    """Returns what a record leads to through further ones, each object once; of thousands, few lead to anything."""
    return _children_of(_Same(record))


class _Same:
    """A value as a key that is compared by identity."""

    __slots__ = ("value",)

    def __init__(self, value: object):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


@functools.lru_cache(maxsize=4)  # a call looks at one several times, and those of large models are large
def _children_of(record: _Same) -> tuple[tuple[Path, Any, bool], ...]:
    seen: set[int] = set()
    found: list[tuple[Path, Any, bool]] = []
    stack: list[tuple[Path, Any]] = [((), record.value)]
    while stack:
        path, value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        cls = type(value)
        names = _fields(cls)
        inner: Iterable[Any] = ()
        if names is not None:
            own = names or getattr(value, "__dict__", ())
            inner = [(("attr", name), getattr(value, name)) for name in own]
        elif cls is tuple or cls is list or cls is dict:
            inner = item_steps(value)
        elif cls is not jax.tree_util.PyTreeDef:
            found.append((path, value, isinstance(value, type)))
        for step, child in inner:
            if type(child) not in _PLAIN and not isinstance(child, LEAVES):
                stack.append(((*path, step), child))
    return tuple(found)


@functools.lru_cache(maxsize=256)
def _fields(cls: type) -> tuple[str, ...] | None:
    """Returns the attributes of a class of records: none if they are in a dict; None of any other class."""
    if cls.__module__ not in _RECORDS:
        return None
    return tuple(name for owner in cls.__mro__ for name in vars(owner).get("__slots__", ()))


def held_by(value: object) -> Iterator[tuple[Path, Any]]:
    """Yields what a value of a library, or one that JAX takes apart, holds."""
    if is_record(value):
        yield from ((steps, child) for steps, child, _ in record_children(value))
    elif isinstance(value, (*MAPPINGS, *SEQUENCES)):
        yield from (((step,), child) for step, child in item_steps(value))
    elif isinstance(value, functools.partial):
        yield (("attr", "func"),), value.func
    else:
        yield from (((("attr", name),), child) for name, child in attributes_of(value).items())


def _attribute_children(value: object) -> Iterator[tuple[Path, Any, bool]]:
    attributes = getattr(value, "__dict__", None)
    if isinstance(attributes, dict):
        for name, child in list(attributes.items()):
            yield (("attr", name),), child, False
    for owner in type(value).__mro__:
        slots = owner.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                yield (("attr", name),), getattr(value, name), False
    yield (("type", None),), type(value), True


def item_steps(container: Any) -> Iterator[tuple[tuple[str, Any], Any]]:
    """Yields the items of a dict or sequence, each with the step to it."""
    if isinstance(container, SEQUENCES):
        for i, child in enumerate(container):
            yield ("item", i), child
    else:
        for key, child in list(container.items()):
            yield key_step(key), child


def member_keys(members: Iterable[Any]) -> Iterator[tuple[ObjectKey, Any]]:
    """Yields the members of a set that are known by their identity, each with what finds it."""
    for member in list(members):
        kind, key = key_step(member)
        if kind == "key":
            yield key, member


def key_step(key: Any) -> tuple[str, Any]:
    """Returns the step to the item of a key; a key that is compared by identity is not kept alive."""
    if isinstance(key, KEYS) or (type(key).__eq__ is not object.__eq__ and not isinstance(key, Tensor)):
        return "item", key
    try:
        return "key", ObjectKey(key)
    except TypeError:  # an object that cannot be referred to weakly
        return "item", key


def _function_children(fn: types.FunctionType, names: set[str]) -> Iterator[tuple[Path, Any, bool]]:
    if fn.__closure__:
        for i, (name, cell) in enumerate(zip(fn.__code__.co_freevars, fn.__closure__, strict=True)):
            try:
                yield (("closure", (i, name)),), cell.cell_contents, False
            except ValueError:  # a cell that is not filled yet
                continue
    if fn.__defaults__:
        yield (("attr", "__defaults__"),), fn.__defaults__, False
    if fn.__kwdefaults__:
        yield (("attr", "__kwdefaults__"),), fn.__kwdefaults__, False
    if is_foreign(fn.__module__):
        return
    named = code_names(fn.__code__)
    names |= named.attributes | named.strings | named.changed
    for name in sorted(variables_of(fn.__code__) | named.stored):
        if name in fn.__globals__:
            yield (("global", name),), fn.__globals__[name], False
    if vars(fn):
        for name, child in list(vars(fn).items()):
            yield (("attr", name),), child, False


def is_compared(value: object) -> bool:
    """Returns whether an argument is an object of a library's class that says itself when it is equal."""
    cls = type(value)
    if isinstance(value, (type, types.FunctionType, types.MethodType, functools.partial, types.ModuleType)):
        return False
    is_whole = cls.__eq__ is not object.__eq__ and cls.__hash__ is not None
    return is_whole and any(is_foreign_class(owner) for owner in cls.__mro__ if owner is not object)


def can_be_hidden(cls: type, name: str) -> bool:
    """Returns whether an attribute of an object would come before a method of its class."""
    member = inspect.getattr_static(cls, name, None)
    kind = type(member)
    return hasattr(kind, "__get__") and not hasattr(kind, "__set__")
