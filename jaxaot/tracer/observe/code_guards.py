"""Guards on code: functions, classes and modules, whose reads are not seen, by the names in the code that ran."""

from __future__ import annotations

import abc
import builtins
import decimal
import functools
import importlib
import os
import sys
import types
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxaot.facade.cells.cells import (
    members_of,
    owners_of,
)
from jaxaot.facade.members.lazy_methods import Method
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.plan.guards import (
    Answers,
    Condition,
    EqualTo,
    HasAttributes,
    HasCode,
    IsEmpty,
    IsObject,
    PythonGuard,
)
from jaxaot.plan.members import HasMethods, HasReading, HasVariables, Member
from jaxaot.plan.paths import Path, follow, function_behind
from jaxaot.tracer.observe.boundary import (
    is_foreign,
    is_foreign_class,
    is_installed,
    is_librarys,
    is_pythons,
    is_users,
    module_of,
)
from jaxaot.tracer.observe.code_names import Line, code_names
from jaxaot.tracer.observe.containers import (
    CONSTANT,
    is_a,
)
from jaxaot.tracer.observe.noting import MISSING
from jaxaot.tracer.observe.observer import MODULES, Observer, Ran
from jaxaot.tracer.observe.side_effects import content_of
from jaxaot.tracer.observe.ways import names_of, variables_of_library

_UNREAD = {
    "__init__", "__new__", "__repr__", "__str__", "__del__", "__reduce__", "__reduce_ex__", "__init_subclass__",
    "__dict__", "__weakref__", "__class_getitem__", "__setstate__", "__getstate__",
}  # fmt: skip
_NOTED = {"__getattribute__", "__setattr__", "__delattr__"}
"""Special methods in place of which another thread may note reads."""
_FN = ("root", "fn")
_SHOWN = {
    "__name__", "__qualname__", "__module__", "__doc__", "__annotations__", "__match_args__", "__defaults__",
    "__kwdefaults__", "__code__", "__slots__", "__bases__", "__mro__",
}  # fmt: skip
"""Special names by which code may ask for something of a function or class."""


def _keeps(n: int, cache: Any) -> bool:
    """Returns whether a `functools.lru_cache` still keeps so many results."""
    return cache.cache_info().currsize >= n


_dump = importlib.import_module("_abc")._get_dump
"""Of an abstract class, what `cls._dump_registry()` prints."""


def _registrations(cls: type) -> int:
    """Returns how many living classes are registered at an abstract one, or at one that derives from it."""
    registered = sum(there() is not None for there in _dump(cls)[0])
    below = type.__subclasses__(cls)
    return registered + sum(_registrations(child) for child in below if isinstance(child, abc.ABCMeta))


def _derived(cls: type) -> tuple[int, ...]:
    """Returns which classes derive from one."""
    return tuple(part for child in type.__subclasses__(cls) for part in (id(child), *_derived(child)))


def _decimals(_: Any = None) -> tuple[Any, ...]:
    """Returns how decimals are computed."""
    now = decimal.getcontext()
    return now.prec, now.rounding, now.Emin, now.Emax, now.clamp


def _print_options(_: Any = None) -> str:
    """Returns how NumPy prints arrays."""
    return repr(np.get_printoptions())


_AMBIENT: dict[str, tuple[Any, Callable[..., Any]]] = {
    "Decimal": (decimal, _decimals),
    "getcontext": (decimal, _decimals),
    "geterr": (np, lambda _: np.geterr()),
    **dict.fromkeys(("get_printoptions", "array2string", "array_repr", "array_str"), (np, _print_options)),
}
"""Names of what computes by a setting that C code keeps → its module, and what reads the setting."""


class CodeGuards(abc.ABC):
    """What is guarded of functions, classes, modules and global variables.

    Attributes:
      guards: The guards.
    """

    def __init__(self, roots: Sequence[tuple[Path, Any]], observer: Observer):
        self.guards: list[PythonGuard] = []
        self._roots, self._observer = roots, observer
        self._named, self._world = observer.named, observer.world
        self._queue: deque[tuple[Path, Any]] = deque()
        self._met: set[Path] = {path for path, _ in roots}
        self._of_class: dict[int, dict[str, Line | None]] = {}
        self._line: Line | None = None
        self._met_members: set[tuple[int, str]] = set()
        self._absent: set[tuple[int, str]] = set()

    @abc.abstractmethod
    def _guard(self, path: Path, condition: Condition) -> None:
        """Notes a guard, with the line that read what it is about."""

    @abc.abstractmethod
    def _child(self, path: Path, value: object) -> None:
        """Guards what a step leads to, and notes it for a look inside."""

    @abc.abstractmethod
    def _named_child(self, path: Path, name: str, value: object) -> None:
        """Guards what a variable or an attribute holds."""

    @abc.abstractmethod
    def _drain(self) -> None:
        """Looks into what was noted."""

    def _library(self, path: Path, module: types.ModuleType) -> None:
        """Guards what code names of a module of a library: `np.pi`."""
        self._guard(path, IsObject(module))
        space, members = vars(module), []
        for attribute in sorted(names_of(path, self._named) & space.keys()):
            child = space[attribute]
            if (id(module), attribute) in self._met_members or child is os.environ:
                continue
            self._met_members.add((id(module), attribute))
            if callable(child) or is_a(child, CONSTANT):
                members.append(Member(module, attribute, child))
                if isinstance(child, abc.ABCMeta):
                    self._below((_FN, ("module", child)), child)
            else:
                self._child((*path, ("attr", attribute)), child)
        if members:
            self._guard(path, HasMethods(tuple(members)))
        missing = self._named.strings - space.keys() if id(module) in self._observer.open else ()
        if missing:
            self._guard((*path, ("attr", "__dict__")), HasVariables(tuple(sorted(missing)), (), None))

    def _caches(self) -> None:
        """Guards that caches of the user's functions, which the run may have asked, keep what they kept."""
        for cache in self._observer.caches:
            n = cache.cache_info().currsize
            if n and is_users(cache.__wrapped__.__code__.co_filename):
                self._guard((_FN, ("module", cache)), Answers("number of results", True, functools.partial(_keeps, n)))

    def _operations(self) -> None:
        """Guards the methods of tensors that code calls."""
        space = members_of(Tensor)
        names = sorted((self._named.attributes | self._named.operators) & space.keys())
        found = [(name, space[name]) for name in names if not isinstance(space[name], Method)]
        members = [Member(Tensor, name, member) for name, member in found if hasattr(type(member), "__get__")]
        if members:
            self._guard((_FN, ("module", Tensor)), HasMethods(tuple(members)))

    def _imports(self) -> None:
        """Guards the modules that were imported."""
        missing = []
        for name in sorted(self._named.modules):
            if name in sys.modules:
                self._child((*MODULES, ("item", name)), sys.modules[name])
            else:
                missing.append(name)
        if missing:
            self._guard(MODULES, HasVariables(tuple(missing), (), None))
        self._drain()

    def _environment(self) -> None:
        """Guards the variables of the environment that were read."""
        path = (_FN, ("module", os), ("attr", "environ"))
        for name, line in self._observer.environment.items():
            self._line = line
            if name is None:
                self._guard(path, HasReading(type(os.environ), dict(os.environ)))
            else:
                self._guard((*path, ("variable", name)), EqualTo(os.environ.get(name)))
        self._line = None

    def _settings(self) -> None:
        """Guards the settings of C code by which what code names computes."""
        for module, read in {_AMBIENT[name] for name in _AMBIENT.keys() & self._named.read}:
            self._guard((_FN, ("module", module)), Answers("settings", read(module), read))

    def _shown(self, path: Path, value: Any) -> None:
        """Guards what code asks for of a function or class by a special name."""
        for name in sorted(_SHOWN & self._named.attributes):
            if hasattr(value, name):
                self._child((*path, ("attr", name)), getattr(value, name))

    def _module(self, path: Path, module: types.ModuleType) -> None:
        """Guards what code names of a module of the user's."""
        space = vars(module)
        is_open = id(module) in self._observer.open
        names = set(space) if is_open else self._named.attributes | self._named.changed
        for name in sorted(names):
            is_new = (id(space), name) not in self._world.replaced
            if name in space and (is_new or name in self._named.attributes) and not name.startswith("__"):
                self._named_child((*path, ("attr", name)), name, space[name])
        if is_open:
            self._guard(path, HasAttributes(len(space)))
        if "__getattr__" in space:
            missing = tuple(sorted(names_of(path, self._named) - space.keys()))
            if missing:
                self._guard((*path, ("attr", "__dict__")), HasVariables(missing, (), None))

    def _below(self, path: Path, cls: type) -> None:
        """Guards which classes are registered at one that code names, or derive from it, where code asks for that."""
        if isinstance(cls, abc.ABCMeta):
            self._guard(path, Answers("__subclasshook__", _registrations(cls), _registrations))
        if "__subclasses__" in self._named.attributes:
            self._guard(path, Answers("__subclasses__", _derived(cls), _derived))

    def _class(self, cls: type, is_whole: bool = False) -> None:
        """Guards what code names of a class that it reaches by itself, or all of it."""
        owners = [owner for owner in owners_of(cls) if not is_foreign_class(owner)]
        known = set[str]()
        for owner in owners:
            for name, member in list(members_of(owner).items()):
                is_named = is_whole or id(cls) in self._observer.open or name in self._named.attributes
                is_left = name in self._named.changed and (id(owner), name) not in self._world.replaced
                if not (is_named or is_left) or name in known or name.startswith("__"):
                    continue
                known.add(name)
                self._of_class.setdefault(id(cls), {}).setdefault(name, self._named.lines.get(name))
                if not hasattr(type(member), "__get__"):
                    self._child((_FN, ("module", owner), ("attr", name)), member)
        for name in sorted(self._named.strings) if self._named.is_open else ():
            self._of_class.setdefault(id(cls), {}).setdefault(name, self._named.lines.get(name))
        if type(cls) is not type and not is_foreign_class(type(cls)):
            self._class(type(cls))

    def _methods(self, cls: type) -> None:
        """Guards the functions and descriptors that were read of a class, and that none comes before them."""
        names = dict(self._of_class.get(id(cls), {}))
        owners = [owner for owner in owners_of(cls) if not is_foreign_class(owner) or is_pythons(owner)]
        members, absent = list[Member](), dict[int, tuple[type, list[str]]]()
        users = [owner for owner in owners if not is_foreign_class(owner) and not is_installed(module_of(owner))]
        is_by_class = self._named.is_by_class or self._named.is_open or issubclass(cls, Tensor)
        if users:
            self._shown((_FN, ("module", cls)), cls)
        for owner in users:
            for name, member in members_of(owner).items():
                is_operator = name.startswith("__") and name.endswith("__")
                if hasattr(type(member), "__get__"):
                    if (is_operator and name not in _UNREAD) or name in self._named.attributes:
                        names.setdefault(name, None)
                elif is_by_class and name in self._named.attributes and not is_operator:
                    names.setdefault(name, None)
                    self._child((_FN, ("module", owner), ("attr", name)), member)
        for owner in owners:
            for name, member in members_of(owner).items():
                fn = function_behind(member)
                if fn is not None and fn.__code__ in self._observer.codes:
                    self._add_member(members, owner, name, member)
        for name in names:
            for owner in owners:
                if name in members_of(owner):
                    member = members_of(owner)[name]
                    if hasattr(type(member), "__get__"):
                        self._add_member(members, owner, name, member)
                    break
                if owner in users or not is_foreign(module_of(owner)):
                    absent.setdefault(id(owner), (owner, []))[1].append(name)
        known = self._absent  # of each class that is guarded, names that it lacks; bases are met several times
        new = [(owner, tuple(n for n in found if (id(owner), n) not in known)) for owner, found in absent.values()]
        new = [(owner, found) for owner, found in new if found]
        known.update((id(owner), name) for owner, found in new for name in found)
        if members or new:
            self._line = next((line for name, line in names.items() if line is not None), None)
            self._guard((_FN, ("module", cls)), HasMethods(tuple(members), tuple(new)))
            self._line = None

    def _add_member(self, members: list[Member], owner: type, name: str, member: Any) -> None:
        if name not in _NOTED and (id(owner), name) not in self._met_members:
            self._met_members.add((id(owner), name))
            fn = function_behind(member)
            ran = fn is not None and fn.__code__ in self._observer.codes and is_users(fn.__code__.co_filename)
            members.append(Member(owner, name, member, fn.__code__ if fn is not None and ran else None))

    def _variables(self, ran: Ran) -> None:
        """Guards what the closure and the defaults of a function hold."""
        path, fn = ran
        if path not in self._met:
            self._lead_to(path)
        if is_librarys(fn):
            for place, content in variables_of_library(path, fn):
                self._child(place, content)
            return
        for name in ("__defaults__", "__kwdefaults__"):  # where there were none, the run needed none
            if getattr(fn, name):
                self._queue.append(((*path, ("attr", name)), getattr(fn, name)))
        if path == (_FN,):
            self._guard(path, HasCode(fn.__code__))
        read = code_names(fn.__code__).read
        for i, (name, cell) in enumerate(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)):
            content = content_of(cell)
            if content is MISSING:
                place = (*path, ("attr", "__closure__"), ("item", i), ("attr", "cell_contents"))
                self._guard(place, IsEmpty(members_of(types.CellType)["cell_contents"]))
            if content is MISSING or name == "__class__":
                continue
            if name not in read and (id(cell), "cell_contents") in self._world.replaced:
                continue
            if is_users(fn.__code__.co_filename):
                self._named_child((*path, ("closure", (i, name))), name, content)
            else:
                self._child((*path, ("closure", (i, name))), content)

    def _defaults(self, path: Path, fn: types.FunctionType) -> None:
        """Guards the defaults of a function that did not run, perhaps as there were none."""
        for name in ("__defaults__", "__kwdefaults__"):
            held = getattr(fn, name)
            if held:
                self._queue.append(((*path, ("attr", name)), held))
            else:
                self._guard((*path, ("attr", name)), EqualTo(held))

    def _lead_to(self, path: Path) -> None:
        """Guards what a path leads through and to, where nothing did so yet."""
        for n in range(2, len(path) + 1):
            if path[:n] not in self._met and path[n - 1][0] not in ("module", "type"):
                self._child(path[:n], follow(self._roots, path[:n]))

    def _globals(self, space: Any) -> None:
        """Guards what global variables hold, and that none of Python's own functions was replaced."""
        own, absent = dict[str, Any](), list[str]()
        for name in space.stored:  # a later call has to find it so
            if name in space.variables and (id(space.variables), name) not in self._world.replaced:
                self._named_child((*space.path, ("global", name)), name, space.variables[name])
        for name, line in space.names.items():
            self._line = line
            if name in space.variables:
                self._named_child((*space.path, ("global", name)), name, space.variables[name])
            else:
                absent.append(name)
                if hasattr(builtins, name):
                    own[name] = getattr(builtins, name)
        self._line = None
        if absent:
            self._guard(
                (*space.path, ("attr", "__globals__")), HasVariables(tuple(absent), tuple(own.items()), vars(builtins))
            )
