"""Finds what a traced function may have read of the Python world: numbers, flags, containers, functions, other tensors.

What Python code reads cannot be watched, but what it *names* can be looked up: from the function one walks its closure
and globals, the functions and methods that these name, and the attributes of objects that any of this code names. Each
plain value on the way becomes a guard, and so does what else may decide a trace: the class of an object, the length of
a list, the code of a function, a second path to a tensor. What nobody names is no reason to compile again.

What a survey of places found is guarded whole, whether it is named or not, and is not looked into again.

Nothing here may keep the user's objects alive: arrays and objects are held by weak references.
"""

from __future__ import annotations

import argparse
import builtins
import contextvars
import copy
import dataclasses
import functools
import inspect
import itertools
import os
import sys
import threading
import types
import weakref
from collections import ChainMap, UserDict, UserList, UserString, deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot.facade.cells.cells import array_content, attributes_of, is_leaf
from jaxaot.facade.marks.assumed import is_assumed_constant
from jaxaot.facade.memory.generator import default_generator
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import frame_of, is_wrapper, take_apart
from jaxaot.facade.wrappers.plain_subclass import attributes_aside
from jaxaot.plan.guards import (
    Condition,
    EqualTo,
    HasAttributes,
    HasCode,
    HasContent,
    HasLayout,
    HasType,
    IsAbsent,
    IsAlsoAt,
    IsHeldWeakly,
    IsMadeAs,
    IsObject,
    IsTensor,
    PythonGuard,
)
from jaxaot.plan.members import READINGS, AreDistinct, HasMethods, HasReading, HidesNone, Member
from jaxaot.plan.paths import UNSET, Path, function_behind
from jaxaot.tracer.observe.containers import CONSTANT, PLAIN, check_size, guard_items, is_hashable, is_plain, set_guards
from jaxaot.tracer.observe.names import Named, code_names, hoped_variables, is_installed, package_of, variables_of
from jaxaot.tracer.observe.paths import (
    BUILTIN,
    MAPPINGS,
    SEQUENCES,
    can_be_hidden,
    held_by,
    is_compared,
    is_containers,
    is_foreign,
    is_foreign_class,
    member_keys,
)
from jaxaot.tracer.observe.volatile import is_random, is_volatile_iterator

_NAMESPACES = (
    types.SimpleNamespace, argparse.Namespace, UserDict, UserList, UserString, ChainMap, threading.local,
)  # fmt: skip
"""Classes of libraries whose attributes are the user's."""
_UNREAD = {"__init__", "__new__", "__repr__", "__str__", "__del__", "__reduce__", "__reduce_ex__", "__init_subclass__"}
_GROWING = (list, deque)
"""Containers that code may add to without reading what they hold."""
_ALONE = (tuple, frozenset, types.MethodType, types.ModuleType, type)
"""What is not told apart by identity."""
_MAX_OBJECTS, _MAX_MISSING = 5_000, 1_000


class Reached(NamedTuple):
    """What the call finds by paths and has guards for.

    Attributes:
      tensors: Id of each tensor → its number.
      tensor_paths: The path by which each of them is found.
      arrays: Id of each bare array whose value is an input → the path by which it is found.
      places: Id of each cell, object and container that was surveyed → its path.
      objects: Path, object, and its kind, of those with attributes.
      values: Path and value of what they hold and the survey leaves to be guarded.
      guards: What the survey guards.
      unread: Id of each list that is added to, and of which nothing is read.
      replaced: `(id of an object or namespace, name)` of each attribute and variable that each call sets or deletes.
    """

    tensors: Mapping[int, int]
    tensor_paths: frozenset[Path]
    arrays: Mapping[int, Path]
    places: Mapping[int, Path]
    objects: Sequence[tuple[Path, Any, Any]]
    values: Sequence[tuple[Path, Any]]
    guards: Sequence[PythonGuard] = ()
    unread: frozenset[int] = frozenset()
    replaced: Container[tuple[int, str]] = frozenset()


def find_volatile(roots: Iterable[tuple[Path, Any]]) -> list[tuple[Path, Any]]:
    """Returns the iterators and generators of random numbers that a function names, with their paths."""
    return _walked(list(roots), Reached({}, frozenset(), {}, {}, (), ())).volatile


def python_guards(roots: Iterable[tuple[Path, Any]], reached: Reached) -> tuple[PythonGuard, ...]:
    """Returns the guards on what a traced function may have read.

    Args:
      roots: Where to start, each with its own path; arguments, whose leaves are guarded already, and the function.
      reached: What has guards.
    """
    return tuple(_walked(list(roots), reached).with_lines())


def _walked(roots: Sequence[tuple[Path, Any]], reached: Reached) -> _Walk:
    known = Named()
    while True:  # code that is found by a name may name more
        walk = _Walk(known, reached)
        walk.run(roots)
        if walk.found == known:
            return walk
        known = walk.found


class _Walk:
    """One pass over what can be reached by some names.

    Attributes:
      known: What is named by the code that an earlier pass found.
      found: That, and what is named by the code that this one finds.
      guards: The guards.
      volatile: Path and value of iterators and generators of random numbers.
    """

    def __init__(self, known: Named, reached: Reached):
        self.known, self.found = known, copy.deepcopy(known)
        self._n_missing = 0
        self._is_open = functools.cache(self._may_be_read) if known.openers else lambda module: False
        self._reached = reached
        self.guards: list[PythonGuard] = []
        self.volatile: list[tuple[Path, Any]] = []
        self._queue: deque[tuple[Path, Any]] = deque()
        self._classes: set[type] = set()
        self._members: set[tuple[int, str]] = set()
        self._distinct: dict[int, Path] = {}
        self._loose: dict[Path, int] = {}
        self._outside: dict[int, Path] = {}
        self._assumed: set[Path] = set()

    def run(self, roots: Iterable[tuple[Path, Any]]) -> None:
        """Finds the guards."""
        seen: dict[int, Path] = {}
        keep: list[Any] = []  # objects made on the way, so that their ids stay theirs
        arguments: list[tuple[Path, Any]] = []
        for path, value in roots:
            if path[-1][1] == "fn":
                self._queue.append((path, value))
            else:
                arguments.append((path, value))
        for path, value in arguments:
            self._argument(path, value)
        for path, value, kind in self._reached.objects:
            self._object_of_survey(path, value, kind)
        self.guards += [guard for guard in self._reached.guards if self._is_read(guard.path)]
        for path, value in self._reached.values:
            kind, name = path[-1]
            is_named = name in self.known.names or bool(self.known.openers)
            if not self._is_read(path):
                continue
            if isinstance(value, (Tensor, jax.Array)) and kind == "attr" and not is_named:
                self._guard(path, HasType(type(value)))
            else:
                self._child(path, value)
        while self._queue and check_size(self._queue[0][0], 20 * len(seen), "objects below"):
            path, value = self._queue.popleft()
            place = self._reached.places.get(id(value))
            if place is not None:
                if path != place:
                    self._guard(path, IsAlsoAt(place))
                continue
            if id(value) in seen:
                if not isinstance(value, type):
                    self._guard(path, IsAlsoAt(seen[id(value)]))
                continue
            seen[id(value)] = path
            keep.append(value)
            if id(value) in self._reached.unread:
                self._guard(path, HasType(type(value)))
                continue
            if is_assumed_constant(value):
                self._weak(path, value)
                continue
            self._note_identity(path, value)
            self._look_into(path, value)
        if self.found.compares and len(self._distinct) > 1:
            paths = tuple(self._distinct.values())
            self._guard(paths[0], AreDistinct(paths))

    def _note_identity(self, path: Path, value: object) -> None:
        """Notes an object that code may compare by identity."""
        if not isinstance(value, _ALONE) and path[-1][1] not in ("__defaults__", "__kwdefaults__", "keywords"):
            self._distinct.setdefault(id(value), path)

    def _object_of_survey(self, path: Path, value: object, kind: Any) -> None:
        if is_assumed_constant(value):
            self._weak(path, value)
            self._assumed.add(path)
            return
        attributes = set(attributes_of(value))
        self._class(path, type(value), attributes, (*path, ("type", None)))
        self._missing(path, value)
        self._note_identity(path, value)
        if kind is None:
            if self._is_looked_through(type(value)):
                self._loose[path] = id(value)
            self._attribute_names(path, value)

    def _is_looked_through(self, cls: type) -> bool:
        """Returns whether all code that reads attributes of a class by itself is known: it is no library's."""
        return not any(is_foreign_class(c) for c in cls.__mro__ if c is not object) or cls in _NAMESPACES

    def _is_read(self, path: Path) -> bool:
        """Returns whether what a survey found below an object of the user's may be read: each attribute is named."""
        if any(path[: len(above)] == above for above in self._assumed):
            return False
        if self.known.openers:
            return True
        of_objects = [
            (self._loose[path[:i]], name) for i, (kind, name) in enumerate(path)
            if kind == "attr" and path[:i] in self._loose
        ]  # fmt: skip
        return all(name in self.known.names or self._is_left(holder, name) for holder, name in of_objects)

    def _attribute_names(self, path: Path, value: object) -> None:
        """Guards that no attribute of an object hides a method, and where code may read all, how many there are."""
        if not hasattr(value, "__dict__"):
            return
        cls, there = type(value), vars(value)
        if self._is_open(cls.__module__):
            self._guard(path, HasAttributes(len(there)))
        hidden = tuple(
            name
            for name in sorted(self.known.names.intersection(dir(cls)))
            if name not in there and not name.startswith("__") and can_be_hidden(cls, name)
        )
        if hidden:
            self._guard(path, HidesNone(hidden))

    def _argument(self, path: Path, value: object) -> None:
        """Finds the objects among the arguments; the containers that jax knows are guarded as a whole."""
        if isinstance(value, dict):
            for key, child in value.items():
                self._argument((*path, ("item", key)), child)
        elif isinstance(value, (list, tuple)):
            for i, child in enumerate(value):
                self._argument((*path, ("item", i)), child)
        elif is_wrapper(value):
            self._aside(path, value)
        elif isinstance(value, Tensor):
            self._outside.setdefault(id(value), path)
            self._of_users(path, value)
        elif isinstance(value, (jax.Array, np.ndarray, jax.ShapeDtypeStruct, *PLAIN, *CONSTANT)):
            return
        elif is_compared(value) or not (is_leaf(value) or not pytree.is_node(value)):  # its fields are leaves
            self._class(path, type(value), set(attributes_of(value)), (*path, ("type", None)))
            self._code_in(path, value)
        else:
            self._queue.append((path, value))

    def _code_in(self, path: Path, value: object, above: frozenset[int] = frozenset()) -> None:
        """Finds the code that a value holds besides leaves: an equal function may read something else by then."""
        if id(value) in above:
            return
        above = above | {id(value)}
        for steps, child in held_by(value):
            if isinstance(child, (types.FunctionType, types.MethodType, functools.partial, type)):
                self._child(path + steps, child)
            elif not is_leaf(child) and pytree.is_node(child):
                self._code_in(path + steps, child, above)

    def _guard(self, path: Path, condition: Condition) -> None:
        self.guards.append(PythonGuard(path, condition))

    def with_lines(self) -> Iterator[PythonGuard]:
        """Yields the guards, each with the line that names what it looks at."""
        lines = self.found.lines
        for guard in self.guards:
            names = [key[1] if kind == "closure" else key for kind, key in reversed(guard.path)]
            line = next((lines[name] for name in names if isinstance(name, str) and name in lines), None)
            yield dataclasses.replace(guard, line=line)

    def _is_named(self, name: Any, module: str | None) -> bool:
        """Returns whether code may read an attribute of what a module defines."""
        return name in self.known.names or self._is_open(module)

    def _is_left(self, holder: int, name: str) -> bool:
        """Returns whether code that may set an attribute left it as it was: a later call has to find it so.

        Args:
          holder: Id of the object.
          name: The name.
        """
        return name in self.known.changed and (holder, name) not in self._reached.replaced

    def _may_be_read(self, module: str | None) -> bool:
        """Returns whether attributes are read that are not named: those of packages that do so, and of what is nowhere
        installed, which are the scripts and packages that belong together."""
        return package_of(module) in self.known.openers or not is_installed(module)

    def _named(self, path: Path, name: str, value: object) -> None:
        """Guards what a variable or an attribute holds."""
        if type(value) in _GROWING and not self.known.openers and name not in self.known.read:
            self._guard(path, HasType(type(value)))
        else:
            self._child(path, value)

    def _child(self, path: Path, value: object) -> None:
        """Guards what a step leads to, and notes it for a look inside."""
        if is_assumed_constant(value):
            self._weak(path, value)
            return
        if isinstance(value, Tensor):
            self._tensor(path, value)
        elif is_containers(value):
            self._child((*path, ("attr", "__name__")), value.__name__)
            self._child((*path, ("attr", "__self__")), value.__self__)
        elif isinstance(value, CONSTANT):
            self._guard(path, IsObject(value))
        elif isinstance(value, (np.generic, *PLAIN)):
            self._guard(path, EqualTo(value))
        elif isinstance(value, np.ndarray):
            self._guard(path, HasContent(array_content(value)))
        elif isinstance(value, jax.Array):
            place = self._reached.arrays.get(id(value))
            if place is None:
                self._weak(path, value)
            elif place != path:
                self._guard(path, IsAlsoAt(place))
        elif value is default_generator:  # any other is found by its path
            self._guard(path, IsObject(value))
        elif isinstance(value, types.FunctionType):
            if is_foreign(value.__module__):
                self._guard(path, IsObject(value))
            else:
                self._guard(path, HasCode(value.__code__))
                self._queue.append((path, value))
        elif isinstance(value, type):
            self._guard(path, IsObject(value))
            if not is_foreign_class(value):
                self._queue.append((path, value))
        elif isinstance(value, (set, frozenset)):
            self.guards += set_guards(path, value)
            for key, member in member_keys(value):
                self._child((*path, ("member", key)), member)
        elif isinstance(value, types.ModuleType):
            if is_foreign(value.__name__):
                self._library(path, value)
            else:
                self._queue.append((path, value))
        else:
            self._queue.append((path, value))

    def _library(self, path: Path, module: types.ModuleType) -> None:
        """Guards what code names of a module of a library: `np.pi`, `os.environ`."""
        kind, name = path[-1]
        name = name[1] if kind == "closure" else name.__name__ if kind == "module" else name
        space, members = vars(module), []
        for of, attribute in sorted(self.found.pairs):
            if of != name or attribute not in space or not self._is_first_met(module, attribute):
                continue
            child = space[attribute]
            if callable(child) or isinstance(child, CONSTANT):
                members.append(Member(module, attribute, child))
                if child is os.getenv:
                    self._child((("root", "fn"), ("module", os), ("attr", "environ")), os.environ)
            else:
                self._child((*path, ("attr", attribute)), child)
        if members:
            self._guard(path, HasMethods(tuple(members)))

    def _is_first_met(self, owner: object, name: str) -> bool:
        """Returns whether a member of a class or module has no guard yet, and notes it."""
        is_new = (id(owner), name) not in self._members
        self._members.add((id(owner), name))
        return is_new

    def _environment(self, path: Path, value: Any) -> None:
        """Guards the variables of the environment that code names."""
        if self.found.environment:
            for name in sorted(self.found.environment):
                self._guard((*path, ("variable", name)), EqualTo(value.get(name)))
        if self.found.reads_environment:
            self._guard(path, HasReading(type(value), READINGS[type(value)](value)))

    def _tensor(self, path: Path, value: Tensor) -> None:
        """Guards a tensor at a path that is not the one by which the call finds it."""
        if is_wrapper(value):
            self._wrapper(path, value)
            return
        if self.found.compares:
            self._note_identity(path, value)
        first = self._outside.setdefault(id(value), path)
        if id(value) not in self._reached.tensors and first != path:  # one may be put into the place of another
            self._guard(path, IsAlsoAt(first))
        elif id(value) not in self._reached.tensors:  # whether there is one, and its shape, may have been looked at
            self._guard(path, HasType(type(value)))
            self._guard(path, HasLayout(value._layout.plain, value.requires_grad))
        elif path not in self._reached.tensor_paths:
            self._guard(path, IsTensor(self._reached.tensors[id(value)]))
        if first == path:
            self._of_users(path, value)

    def _of_users(self, path: Path, value: Tensor) -> None:
        """Guards the attributes of a tensor that users gave it and code names; what it lacks is noted in runs."""
        for name in vars(value):
            if name in self.known.names:
                self._named((*path, ("attr", name)), name, vars(value)[name])

    def _wrapper(self, path: Path, value: Any) -> None:
        """Guards what a tensor is made of."""
        first = self._outside.setdefault(id(value), path)
        if first != path:
            self._guard(path, IsAlsoAt(first))
            return
        inner, frame = take_apart(value)
        self._guard(path, HasType(type(value)))
        self._guard(path, IsMadeAs(frame, frame_of))
        for name, child in zip(frame.names, inner, strict=True):
            self._child((*path, ("attr", name)), child)
        self._aside(path, value)

    def _aside(self, path: Path, value: Any) -> None:
        for name, child in attributes_aside(value):
            self._child((*path, ("attr", name)), child)

    def _weak(self, path: Path, value: object) -> None:
        if isinstance(value, (list, dict, set)):
            self._guard(path, IsObject(value))
            return
        try:
            self._guard(path, IsHeldWeakly(weakref.ref(value)))
        except TypeError:  # an object that cannot be referred to weakly
            self._guard(path, HasType(type(value)))

    def _look_into(self, path: Path, value: object) -> None:
        if isinstance(value, types.FunctionType):
            self._function(path, value)
        elif isinstance(value, types.MethodType):
            self._queue.append(((*path, ("attr", "__self__")), value.__self__))
            self._child((*path, ("attr", "__func__")), value.__func__)
        elif isinstance(value, functools.partial):
            for name in ("func", "args", "keywords"):
                self._child((*path, ("attr", name)), getattr(value, name))
        elif isinstance(value, (*MAPPINGS, *SEQUENCES)):
            items = guard_items(path, value, lambda x: id(x) in self._reached.tensors or id(x) in self._reached.arrays)
            self.guards += items.guards
            for step, child in items.at_once:
                first = self._outside.setdefault(id(child), (*path, step))
                if first != (*path, step):
                    self._guard((*path, step), IsAlsoAt(first))
            for step, child in items.rest:
                self._child((*path, step), child)
            if type(value) not in BUILTIN:
                self._attributes(path, value)
        elif isinstance(value, types.ModuleType):
            left = {name for name in self.found.changed if self._is_left(id(vars(value)), name)}
            for name in sorted((self.found.names | left) & set(vars(value))):
                if _is_packages_count(vars(value)[name], value.__name__):
                    continue
                self._named((*path, ("attr", name)), name, vars(value)[name])
        elif isinstance(value, type):
            self._class(path, value, set(), path)
            names = {name for owner in value.__mro__ for name in vars(owner)}
            self._class(path, type(value), names, (*path, ("type", None)))
        else:
            self._object(path, value)

    def _function(self, path: Path, fn: types.FunctionType) -> None:
        self.found.add(fn)
        self._variables(path, fn)
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(fn, name):
                self._queue.append(((*path, ("attr", name)), getattr(fn, name)))
        for name, child in list(vars(fn).items()):
            if self._is_named(name, fn.__module__):
                self._child((*path, ("attr", name)), child)

    def _object(self, path: Path, value: object) -> None:
        cls = type(value)
        if is_foreign_class(cls) and cls not in _NAMESPACES:
            self._object_of_library(path, value)
            return
        self._guard(path, HasType(cls))
        self._missing(path, value)
        self._attributes(path, value)
        self._attribute_names(path, value)

    def _object_of_library(self, path: Path, value: Any) -> None:
        cls = type(value)
        wrapped = inspect.getattr_static(value, "__wrapped__", None)
        if wrapped is not None:  # such as a compiled function
            self._child((*path, ("attr", "__wrapped__")), value.__wrapped__)
        elif is_volatile_iterator(value) or is_random(value):
            self.volatile.append((path, value))
            self._weak(path, value)
        elif value is os.environ:
            self._environment(path, value)
        elif cls in READINGS:
            self._guard(path, HasReading(cls, READINGS[cls](value)))
        elif isinstance(value, contextvars.ContextVar):
            self._weak(path, value)
            if value.get(UNSET) is UNSET:
                self._guard((*path, ("context", None)), IsObject(UNSET))
            else:
                self._child((*path, ("context", None)), value.get())
        elif isinstance(value, weakref.ReferenceType):
            self._guard(path, HasType(cls))
            self._child((*path, ("referent", None)), value())
        elif cls.__eq__ is not object.__eq__ and is_hashable(value):
            self._guard(path, EqualTo(value))
            self._code_in(path, value)
        elif callable(value) or package_of(cls.__module__) in sys.stdlib_module_names:
            self._weak(path, value)

    def _attributes(self, path: Path, value: object) -> None:
        """Guards the attributes of an object and its class."""
        cls = type(value)
        # the code of a library is not looked into: what its classes read is not known
        is_known = self._is_looked_through(cls) or cls in BUILTIN or isinstance(value, (*MAPPINGS, *SEQUENCES))
        is_known = is_known and cls not in _NAMESPACES
        attributes = attributes_of(value)
        for name, child in attributes.items():
            if not is_known:
                self._child((*path, ("attr", name)), child)
            elif name in self.known.names or self._is_left(id(value), name):
                self._named((*path, ("attr", name)), name, child)
            elif self._is_open(cls.__module__):
                if self._is_open(type(child).__module__) or is_foreign_class(type(child)):
                    self._named((*path, ("attr", name)), name, child)
                else:
                    self._weak((*path, ("attr", name)), child)
        self._class(path, cls, set(attributes), (*path, ("type", None)))

    def _missing(self, path: Path, value: object) -> None:
        """Guards that an object does not have what some code would read if it were there."""
        cls = type(value)
        if not self.known.hoped or is_installed(cls.__module__) or hasattr(cls, "__getattr__"):
            return
        there = set(attributes_of(value)).union(*(vars(owner) for owner in cls.__mro__))
        for name in sorted(self.known.hoped - there)[: _MAX_MISSING - self._n_missing]:
            self._n_missing += 1
            self._guard((*path, ("attr", name)), IsAbsent())

    def _class(self, path: Path, cls: type, hidden: set[str], holder: Path) -> None:
        """Guards the plain attributes of a class, and follows its methods.

        Args:
          path: Of what has the attributes: the class, or an object of it.
          cls: The class.
          hidden: Names of attributes of the object, which hide those of its class.
          holder: Path of the class.
        """
        is_first = cls not in self._classes
        self._classes.add(cls)
        members, absent = [], []
        owners = [owner for owner in cls.__mro__ if not is_foreign_class(owner)]
        known = set(hidden)
        for i, owner in enumerate(owners):
            for name, member in list(vars(owner).items()):
                is_operator = name.startswith("__") and name.endswith("__")
                is_named = is_operator or self._is_named(name, owner.__module__) or self._is_left(id(owner), name)
                if name in _UNREAD or not is_named or _is_packages_count(member, owner.__module__):
                    continue
                is_method = hasattr(type(member), "__get__") and not isinstance(member, type)
                if is_first and is_method and self._is_first_met(owner, name):
                    members.append(Member(owner, name, member))
                if name in known:
                    continue
                known.add(name)
                if is_first and i and not is_operator:
                    absent.append((i, name))
                if is_plain(member) and not is_operator:
                    self._guard((*path, ("attr", name)), EqualTo(member))
                    continue
                fn = function_behind(member)
                if fn is not None and not is_foreign(fn.__module__):
                    self.found.add(fn, not is_operator or name == "__call__")
                    if is_first:  # the method itself comes with its class
                        self._variables((*holder, ("class", name)), fn)
                        self._defaults((*holder, ("class", name)), fn)
                elif not is_operator:
                    if not is_method and path != holder:  # an attribute of the object may come to hide it
                        self._guard((*path, ("attr", name)), IsAlsoAt((*holder, ("attr", name))))
                    if is_first:
                        self._child((*holder, ("class" if is_method else "attr", name)), member)
        if members or absent:
            above = [
                (owner, tuple(sorted({name for i, name in absent if i > place}))) for place, owner in enumerate(owners)
            ]
            self._guard(holder, HasMethods(tuple(members), tuple((owner, names) for owner, names in above if names)))

    def _defaults(self, path: Path, fn: types.FunctionType) -> None:
        """Guards what the defaults of a method hold; that they are the same ones, its class does."""
        for name in ("__defaults__", "__kwdefaults__"):
            held = getattr(fn, name)
            if held and not all(map(is_plain, held.values() if isinstance(held, dict) else held)):
                self._queue.append(((*path, ("attr", name)), held))

    def _variables(self, path: Path, fn: types.FunctionType) -> None:
        """Guards what the closure and the globals of a function hold."""
        code = fn.__code__
        for i, (name, cell) in enumerate(zip(code.co_freevars, fn.__closure__ or (), strict=True)):
            try:
                content = cell.cell_contents
            except ValueError:  # a cell that is not filled yet
                continue
            if name != "__class__":
                self._named((*path, ("closure", (i, name))), name, content)
        space = id(fn.__globals__)
        left = {name for name in code_names(code).stored if (space, name) not in self._reached.replaced}
        for name in sorted((variables_of(code) | left) & set(fn.__globals__)):
            if not _is_packages_count(fn.__globals__[name], fn.__globals__.get("__name__")):
                self._named((*path, ("global", name)), name, fn.__globals__[name])
        for name in sorted(code_names(code).modules & set(sys.modules)):
            self._child((("root", "fn"), ("module", sys.modules[name])), sys.modules[name])
        for name in sorted(hoped_variables(fn)):
            if name not in fn.__globals__ and not hasattr(builtins, name):
                self._guard((*path, ("global", name)), IsAbsent())


def _is_packages_count(value: object, module: str | None) -> bool:
    """Returns whether a value is what an installed package numbers its own objects by, an `itertools.count()`."""
    return isinstance(value, itertools.count) and is_installed(module)
