"""Sees what a traced function reads of Python's objects while it runs.

An object is *reached* when code may first get hold of it: it is an argument, a variable of code that begins to run, an
attribute that is read, an item of a container that was reached. Its path is the way by which the run came there, and
how it is then is noted. What the run itself made is not reached, as no path from before leads to it.
"""

from __future__ import annotations

import contextvars
import enum
import functools
import inspect
import operator
import os
import sys
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxaot.facade.cells.cells import (
    attributes_of,
    dict_of,
    has_attributes,
    is_cell,
    is_managed,
    kind_of,
    members_of,
    owners_of,
)
from jaxaot.facade.dispatch.arguments import STAND_INS
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import is_wrapper
from jaxaot.plan.members import READINGS
from jaxaot.plan.paths import UNSET, Path, function_behind, held_by_variable
from jaxaot.tracer.observe import noting
from jaxaot.tracer.observe.boundary import (
    is_core,
    is_foreign,
    is_foreign_class,
    is_installed,
    is_librarys,
    is_looked_at,
    is_users,
    module_of,
    package_of,
    users_line,
)
from jaxaot.tracer.observe.calls import Calls, is_volatile
from jaxaot.tracer.observe.code_names import (
    Line,
    Named,
    code_names,
    is_added_to,
    names_in_dict,
    reads_by_hand,
    variables_of,
)
from jaxaot.tracer.observe.containers import (
    BUILTIN,
    CONSTANT,
    FEW,
    GROWING,
    MAPPINGS,
    SEQUENCES,
    is_a,
    is_compared,
    is_containers,
    is_leaf_value,
    is_record,
    item_steps,
    member_keys,
    record_children,
)
from jaxaot.tracer.observe.noting import MISSING
from jaxaot.tracer.observe.side_effects import SideEffects
from jaxaot.tracer.observe.ways import (
    anchor,
    attribute_path,
    attributes_below,
    holds_tensors,
    is_in_class,
    is_made_by_python,
    is_plain,
    is_users_module,
    names_of,
    nodes_in,
    variables_of_library,
)

_WHOLE = {"__dict__", "__reduce_ex__", "__reduce__", "__getstate__", "__getnewargs__", "__getnewargs_ex__"}
"""A read of one of these may be one of all attributes."""
_CACHED = functools.cached_property.__get__.__code__
_DEAD_ENDS = {
    "functools", "dataclasses", "threading", "logging", "io", "_io", "asyncio", "concurrent", "multiprocessing",
    "unittest", "warnings",
}  # fmt: skip
"""Packages whose objects lead to nothing that a function computes with."""
_PLAIN = {str, int, bool, float, type(None)}
_OF_EVERY_CLASS = {"__dataclass_fields__", "__dict__", "__weakref__", "__getattribute__", "__new__"}
CALL = "_compiled_call"
"""The slot in which a compiled module, which shares the `__dict__` of the module itself, has its compiled function."""
_FN = ("root", "fn")
MODULES = (_FN, ("module", sys), ("attr", "modules"))
"""The path to the modules that were imported."""
VIEWS = (type({}.keys()), type({}.values()), type({}.items()))


class Held(NamedTuple):
    """An object whose attributes are watched.

    Attributes:
      path: Leads to it.
      value: Itself.
      before: Its attributes as they were.
      names: Each attribute that was read, with the line that did it first.
      written: Those that were set or deleted.
      added: Each list among them of which nothing was read, as code only added to it.
      whole: Lines that may have read any of them.
    """

    path: Path
    value: Any
    before: dict[str, Any]
    names: dict[str, Line | None]
    written: set[str]
    added: dict[str, Line | None]
    whole: list[Line | None]


class Ran(NamedTuple):
    """A function whose code ran, with its path."""

    path: Path
    fn: types.FunctionType


class Space(NamedTuple):
    """The global variables of code that ran.

    Attributes:
      path: Of a function that has them.
      variables: Themselves.
      names: Those that code may read, with the line that does.
      stored: Those that code may set.
    """

    path: Path
    variables: dict[str, Any]
    names: dict[str, Line | None]
    stored: set[str]


CACHE: type = type(functools.lru_cache(len))
"""What `functools.lru_cache` and `functools.cache` make."""


class Observer:
    """What a run reaches and reads of Python's objects.

    Attributes:
      world: How everything was that was reached.
      held: Id of each object whose attributes are watched → what was read of it.
      ran: The functions whose code ran, in order.
      codes: The code that ran.
      spaces: Id of their global variables → what is read of these.
      named: What the user's own code among it names.
      classes: By id, classes of objects that were reached, and classes that were reached themselves.
      functions: Code → the functions with it that were reached.
      open: By id, modules and classes of which it may have read anything, by a name that it made.
      asked: By id, objects of Python's library that decided something.
      identified: Ids for which code asked.
      caches: What keeps results of functions: `functools.lru_cache`.
      environment: Variables of the environment that were read; None among them if all were.
      unread: Ids of the lists that are not looked into.
      calls: What it calls.
      on_code: Told of each piece of the user's code that begins to run, with its frame.
      on_arithmetic: Told of that, and of the code of libraries beside Python, JAX and NumPy.
      on_cells: Told of each object of a library that holds cells; returns what else that leads to.
    """

    def __init__(self, unread: frozenset[int] = frozenset(), is_strict: bool = True) -> None:
        self.world = SideEffects()
        self.held: dict[int, Held] = {}
        self.ran: list[Ran] = []
        self.codes: dict[types.CodeType, None] = {}
        self.spaces: dict[int, Space] = {}
        self.named = Named()
        self.classes: dict[int, type] = {}
        self.functions: dict[types.CodeType, list[Ran]] = {}
        self.environment: dict[str | None, Line | None] = {}
        self.asked: dict[int, Any] = {}
        self.identified: set[int] = set()
        self.caches: list[Any] = []
        self.open: dict[int, Any] = {}
        self.unread = unread
        self.calls = Calls(self, is_strict)
        self.on_code: list[Callable[[types.CodeType, types.FrameType], None]] = []
        self.on_arithmetic: Callable[[types.CodeType, types.FrameType], None] | None = None
        self.on_cells: Callable[[Path, Any], Iterable[tuple[Path, Any]]] | None = None
        self._by_dict: dict[int, Held] = {}
        self._nodes: set[int] = set()
        self._owners: set[int] = set()
        self._modules: dict[int, tuple[Path, types.ModuleType]] = {}
        self._queue: deque[tuple[Path, Any]] = deque()
        self._is_busy = False

    # -- the run -------------------------------------------------------------------------------------------------------

    def __enter__(self) -> Observer:
        noting.begin(self)
        self.calls.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Watches nothing any more; may be called again."""
        self.calls.end()
        noting.end(self)

    def forget(self) -> None:
        """Lets go of all that was reached."""
        self.end()
        vars(self.world).clear()
        vars(self).clear()

    def read(self, value: Any, name: str, found: Any) -> None:
        """Notes that an attribute was read."""
        if self._is_busy:
            return
        held = self.held.get(id(value))
        if held is None or name in held.names:
            return
        frame = sys._getframe(2)
        if name not in _WHOLE:
            self._note_read(held, name, found, frame)
        elif name != "__dict__":
            self._note_whole(held, frame)
        elif frame.f_code is not _CACHED:
            names = names_in_dict(frame.f_code, frame.f_lasti)
            if names is None:
                self._note_whole(held, frame)
            for known in names or ():
                self._note_read(held, known, (dict_of(value) or {}).get(known, MISSING), frame)

    def wrote(self, value: Any, name: str) -> None:
        """Notes that an attribute is set or deleted."""
        held = self.held.get(id(value))
        if held is not None and not self._is_busy:
            held.written.add(name)

    def _note_whole(self, held: Held, frame: types.FrameType) -> None:
        held.whole.append(users_line(frame))
        self.reach(*attributes_below(held.path, held.value, held.before))

    def _note_read(self, held: Held, name: str, found: Any, frame: types.FrameType) -> None:
        kind = kind_of(held.value)
        is_special = name.startswith("__") and name.endswith("__") and name not in held.before
        if is_special or (kind is not None and kind.is_hidden(name)):
            return
        was = held.before.get(name, MISSING)
        if was is not found and not is_managed(type(held.value), name):
            is_own = was is not MISSING or (name in (dict_of(held.value) or ()) and not is_in_class(held.value, name))
            if found is not MISSING and is_own:
                return  # the run itself put it there
            if found is MISSING and was is not MISSING:
                return
        if type(found) in GROWING and is_added_to(frame.f_code, frame.f_lasti):
            held.added.setdefault(name, users_line(frame))
        else:
            held.names[name] = users_line(frame)
        if was is found and found is not MISSING:
            self.reach((attribute_path(held.path, held.value, name), found))

    def started(self, code: types.CodeType, frame: types.FrameType) -> None:
        """Notes that code began to run."""
        if reads_by_hand(code) and not self._is_busy:
            held = self.held.get(id(frame.f_locals.get(code.co_varnames[0]))) if code.co_argcount else None
            if held is not None and not held.whole:
                self._note_whole(held, frame)
        if code in self.codes or self._is_busy:
            return
        self._is_busy = True
        try:
            self.codes[code] = None
            known = self.functions.get(code, ())
            is_seen = is_looked_at(code.co_filename) and not is_made_by_python(frame)
            is_own = is_seen and is_users(code.co_filename)
            if is_own:
                self.named.add(code)
            if is_seen:
                self._reach_space(known[0].path if known else None, frame.f_globals, code)
            if is_own:
                for path, module in list(self._modules.values()):
                    self._queue.extend(self._of_module(path, module))
            for ran in known:
                self._activate(ran)
            self._drain()
            for tell in self.on_code if is_own else ():
                tell(code, frame)
            if self.on_arithmetic is not None and not is_foreign(frame.f_globals.get("__name__")):
                self.on_arithmetic(code, frame)
        finally:
            self._is_busy = False

    def asked_for_environment(self, name: str | None, line: Line | None) -> None:
        """Notes that a variable of the environment was read, or all of them."""
        self.environment.setdefault(name, line)

    # -- what is reached -----------------------------------------------------------------------------------------------

    def reach(self, *found: tuple[Path, Any]) -> None:
        """Notes objects that code may get hold of, how they are, and what they hold if reads of it are not seen."""
        self._queue.extend(found)
        if self._is_busy:
            return
        self._is_busy = True
        try:
            self._drain()
        finally:
            self._is_busy = False

    def reach_call(self, fn: Any, args: Any, kwargs: Any, paths: Sequence[Path], leaves: Sequence[Any]) -> None:
        """Reaches the arguments of a call, each leaf by its own path, and then its function."""
        self._nodes |= {id(node) for node in nodes_in((args, kwargs))}
        roots = ((("root", "args"),), args), ((("root", "kwargs"),), kwargs), ((_FN,), fn)
        try:
            self.reach(*(found for found in zip(paths, leaves, strict=True) if is_plain(found[0])), *roots)
        except BaseException:
            self.end()
            raise

    def _drain(self) -> None:
        while self._queue:
            path, value = self._queue.popleft()
            if type(value) in STAND_INS or is_leaf_value(value):
                continue
            if id(value) in self.world.paths:
                self.world.repeat(path, value)
                continue
            self.world.add(path, value)
            if id(value) not in self.unread:
                self._queue.extend(self._below(path, value))

    def _below(self, path: Path, value: Any) -> Iterable[tuple[Path, Any]]:
        """Notes one object; returns what it leads to without a read that is seen."""
        if is_a(value, Tensor):
            return self._below_tensor(path, value)
        if is_containers(value):
            return [((*path, ("attr", "__self__")), value.__self__)]
        if is_a(value, (types.BuiltinMethodType, types.MethodWrapperType)):
            self.calls.check(path, value.__self__)
        if is_a(value, np.ndarray) and value.dtype.hasobject and value.size <= FEW:
            return [((*path, ("item", place)), value[place]) for place in np.ndindex(value.shape)]
        if is_a(value, (np.ndarray, jax.Array, Generator, *CONSTANT)):
            return ()
        if is_cell(value):
            return self._cells(path, value)
        if is_a(value, types.FunctionType):
            return self._below_function(path, value)
        if is_a(value, types.MethodType):
            return [((*path, ("attr", name)), getattr(value, name)) for name in ("__self__", "__func__")]
        if is_a(value, functools.partial):
            return [((*path, ("attr", name)), getattr(value, name)) for name in ("func", "args", "keywords")]
        if is_a(value, (*MAPPINGS, *SEQUENCES, set, frozenset)):
            return self._below_container(path, value)
        if is_a(value, types.ModuleType):
            self._modules[id(value)] = path, value
            return self._of_module(path, value)
        if is_a(value, type):
            self._reach_class(value)
            return ()
        if is_a(value, contextvars.ContextVar):
            held = held_by_variable(value)
            return [] if held is UNSET else [((*path, ("context", None)), held)]
        if is_a(value, weakref.ReferenceType):
            return [((*path, ("referent", None)), value())]
        if is_record(value):
            return [(path + steps, child) for steps, child, _ in record_children(value)]
        if is_a(value, enum.Enum):
            return ()
        return self._below_object(path, value)

    def _below_object(self, path: Path, value: Any) -> Iterable[tuple[Path, Any]]:
        cls = type(value)
        if is_foreign_class(cls):
            self.calls.check(path, value)
            if cls in VIEWS:
                return [((*path, ("attr", "mapping")), value.mapping)]
            if inspect.getattr_static(value, "__wrapped__", None) is not None:  # such as a compiled function
                if cls is CACHE:
                    self.caches.append(value)
                return [((*path, ("attr", "__wrapped__")), value.__wrapped__)]
            if cls in (operator.attrgetter, operator.methodcaller):
                self.named.attributes |= {part for name in value.__reduce__()[1] for part in str(name).split(".")}
            if is_compared(value) or cls in READINGS:
                return ()
        if id(value) in self._nodes:  # whose leaves are reached by paths of their own
            before = attributes_of(value)
            self.world.add_attributes(path, value, before)
            self._reach_class(cls)
            return [((*path, ("attr", name)), child) for name, child in before.items()]
        kind = kind_of(value)
        if kind is None:
            return self._watch(path, value)
        kind.take_tensors(cls)  # which changes the class
        return [*self._watch(path, value), *self._cells(path, value)]

    def _cells(self, path: Path, value: Any) -> Iterable[tuple[Path, Any]]:
        return () if self.on_cells is None else self.on_cells(path, value)

    def _watch(self, path: Path, value: Any) -> Iterable[tuple[Path, Any]]:
        """Watches the reads of an object's attributes; returns these if they are looked at whole."""
        cls, before = type(value), attributes_of(value)
        package = package_of(module_of(cls))
        is_dead_end = package in _DEAD_ENDS and not is_a(value, threading.local)
        if is_foreign_class(cls) and (is_dead_end or package not in sys.stdlib_module_names):
            if package not in ("jaxaot", "functools") or is_a(value, (Storage, History, threading.local)):
                return ()
            return [((*path, ("attr", name)), child) for name, child in before.items()]
        if is_foreign_class(cls) and not has_attributes(value):  # of a class in C
            return ()
        own = dict_of(value)
        known = self._by_dict.get(id(own)) if own is not None else None
        self._reach_class(cls)
        if known is not None and CALL in (before.keys() | known.before.keys()):
            self.held[id(value)] = known
            noting.note_reads_of(cls)
            return [((*path, ("attr", CALL)), before[CALL])] if CALL in before else ()
        self.held[id(value)] = held = self._by_dict[id(own)] = Held(path, value, before, {}, set(), {}, [])
        self.world.add_attributes(path, value, before)
        is_own = noting.reads_all(cls)
        if is_a(value, BaseException):
            before["args"] = value.args
        if not noting.note_reads_of(cls) or is_own:
            held.whole.append(None)
            return attributes_below(path, value, before, "own" if is_own else "attr")
        return ()

    def _below_tensor(self, path: Path, value: Any) -> Iterable[tuple[Path, Any]]:
        found = [((*path, ("attr", name)), child) for name, child in list(vars(value).items())]
        found += [(path + steps, hook) for steps, hook in _hooks_on(value)]
        if type(value) is not Tensor:
            self._reach_class(type(value))
        if not is_wrapper(value) and value._grad is not None:
            found.append(((*path, ("attr", "_grad")), value._grad))
        return found

    def _below_container(self, path: Path, value: Any) -> Iterable[tuple[Path, Any]]:
        found: list[tuple[Path, Any]]
        if is_a(value, (set, frozenset)):
            found = [((*path, ("member", key)), member) for key, member in member_keys(value)]
        else:
            found = [((*path, step), child) for step, child in item_steps(value) if type(child) not in _PLAIN]
        if is_a(value, MAPPINGS):
            found += [((*path, ("member", key)), member) for key, member in member_keys(value)]
        if type(value) not in BUILTIN and has_attributes(value):
            found.extend(self._watch(path, value))
        return found

    def _below_function(self, path: Path, fn: types.FunctionType) -> Iterable[tuple[Path, Any]]:
        self._add_function(path, fn)
        return [((*path, ("attr", name)), child) for name, child in list(vars(fn).items())]

    def _add_function(self, path: Path, fn: types.FunctionType) -> None:
        ran = Ran(path, fn)
        self.functions.setdefault(fn.__code__, []).append(ran)
        if fn.__code__ in self.codes or is_librarys(fn):  # of these all may run
            self._activate(ran)

    def _activate(self, ran: Ran) -> None:
        """Reaches the variables of a function that runs."""
        path, fn = ran
        is_foreigns = is_librarys(fn)
        if not is_foreigns and is_core(fn.__code__.co_filename):  # what users make and change, not its code
            return
        self.ran.append(ran)
        if is_foreigns:
            self._queue.extend(variables_of_library(path, fn))
            return
        for i, (name, cell) in enumerate(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)):
            content = self.world.add_cell((*path, ("closure", (i, name))), cell)
            if content is not MISSING and name != "__class__":
                self._queue.append(((*path, ("closure", (i, name))), content))
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(fn, name):
                self._queue.append(((*path, ("attr", name)), getattr(fn, name)))
        if is_looked_at(fn.__code__.co_filename):
            self._reach_space(path, fn.__globals__, fn.__code__)

    def _reach_space(self, path: Path | None, variables: dict[str, Any], code: types.CodeType) -> None:
        """Reaches the global variables that code names."""
        names, reads = code_names(code), variables_of(code)
        if not is_users(code.co_filename):
            reads = {name for name in reads if name in names.stored or holds_tensors(variables.get(name))}
        elif names.reads_variables_by_name:
            reads |= {name for name in variables if not name.startswith("__")}
        space = self.spaces.get(id(variables))
        if space is None:
            path = (_FN, ("module", anchor(variables))) if path is None else path
            space = self.spaces[id(variables)] = Space(path, variables, {}, set())
        space.stored.update(names.stored)
        for name in sorted(reads):
            space.names.setdefault(name, names.lines.get(name))
        self.world.add_variables((*space.path, ("attr", "__globals__")), variables, reads | names.stored)
        for name in sorted(reads):
            value = self.world.variable(variables, name)
            if value is not MISSING:
                self._queue.append(((*space.path, ("global", name)), value))
        for name in sorted(names.modules) if is_users(code.co_filename) else ():
            self._reach_module(name)

    def _reach_module(self, name: str) -> None:
        """Reaches a module that is imported."""
        if name in sys.modules:
            self._queue.append(((*MODULES, ("item", name)), sys.modules[name]))

    def asked_of(self, value: Any) -> None:
        """Notes an object of Python's library that decides something."""
        self.asked[id(value)] = value

    def asked_for_id(self, value: Any) -> None:
        """Notes an object whose `id` code asks for."""
        self.identified.add(id(value))

    def asked_by_name(self, value: Any) -> None:
        """Notes a module or class of which an attribute is read by a name that code makes."""
        self.open[id(value)] = value
        if id(value) in self._modules:
            self.reach(*self._of_module(*self._modules[id(value)]))

    def asked_for_module(self, name: str) -> None:
        """Notes that a module was asked for by its name."""
        self.named.modules.add(name)
        if name in sys.modules:
            self.reach(((*MODULES, ("item", name)), sys.modules[name]))

    def _of_module(self, path: Path, module: types.ModuleType) -> Iterable[tuple[Path, Any]]:
        """Returns what code names of a module; of a library's, what is neither code nor constant."""
        space = vars(module)
        if is_users_module(module):
            names = set(space) if id(module) in self.open else self.named.attributes & set(space)
            self.world.add_variables((*path, ("attr", "__dict__")), space, names | self.named.changed)
            found = [(name, self.world.variable(space, name)) for name in sorted(names)]
            # what code may read by a name that it makes is not refused, only what it names
            found = [(n, v) for n, v in found if n in self.named.attributes or not is_volatile(v)]
        else:
            found = [(name, space[name]) for name in sorted(names_of(path, self.named) & space.keys())]
        return [
            ((*path, ("attr", name)), child)
            for name, child in found
            if child is not os.environ and child is not MISSING and (is_users_module(module) or not callable(child))
        ]

    def _reach_class(self, cls: type) -> None:
        """Notes a class and those that it derives from, the functions in them, and what else they hold."""
        if id(cls) in self.classes:
            return
        self.classes[id(cls)] = cls
        for owner in owners_of(cls):
            if id(owner) in self._owners or is_foreign_class(owner):
                continue
            self._owners.add(id(owner))
            path = (_FN, ("module", owner))
            self.world.add_class(path, owner)
            for name, member in list(members_of(owner).items()):
                is_account = type(member) is weakref.WeakSet and is_installed(module_of(owner))
                if name in _OF_EVERY_CLASS or type(member) in _PLAIN or is_account:
                    continue
                fn = function_behind(member)
                if type(member) is CACHE:
                    self.caches.append(member)
                if fn is not None:
                    self._add_function((_FN, ("module", fn)), fn)
                else:
                    step = "class" if hasattr(type(member), "__get__") else "attr"
                    self._queue.append(((*path, (step, name)), member))
        if type(cls) is not type:
            self._reach_class(type(cls))


def _hooks_on(value: Tensor) -> Iterator[tuple[Path, Any]]:
    """Yields the hooks of a leaf, which a backward inside calls, each with the steps that lead to it."""
    hooks = None if is_wrapper(value) else value._hooks
    if hooks is None:
        return
    for kind in ("tensor", "accumulated"):
        for number, hook in getattr(hooks, kind).items():
            yield (("attr", "_hooks"), ("attr", kind), ("item", number)), hook
