"""What a later call must find as the traced one did: guards, made of what the run read.

A guard is a path by which the run came to a thing, and what it saw there: plain values, the class of an object, the
length of a list, the code of a function, a second path to a tensor. Attributes of the user's objects are guarded if
they were read; variables, modules and classes, whose reads are not seen, by the names in the code that ran.

Nothing here may keep the user's objects alive: arrays and objects are held by weak references.
"""

from __future__ import annotations

import contextvars
import functools
import inspect
import sys
import types
import weakref
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot.facade.cells.cells import (
    array_content,
    attributes_of,
    dict_of,
    is_cell,
    is_leaf,
    is_managed,
    kind_of,
    members_of,
    owners_of,
)
from jaxaot.facade.marks.assumed import is_assumed_constant
from jaxaot.facade.memory.generator import Generator, default_generator
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import frame_of, is_wrapper, take_apart
from jaxaot.facade.wrappers.plain_subclass import attributes_aside
from jaxaot.plan.guards import (
    Answers,
    Condition,
    EqualTo,
    HasAttributes,
    HasCode,
    HasContent,
    HasLayout,
    HasType,
    IsAbsent,
    IsAlsoAt,
    IsEmpty,
    IsHeldWeakly,
    IsMadeAs,
    IsObject,
    IsTensor,
    PythonGuard,
)
from jaxaot.plan.members import READINGS, AreDistinct, HasReading, HasVariables, Lacks
from jaxaot.plan.paths import UNSET, Path, follow, held_by_variable
from jaxaot.tracer.observe.boundary import (
    is_foreign,
    is_foreign_class,
    module_of,
    package_of,
)
from jaxaot.tracer.observe.code_guards import CodeGuards
from jaxaot.tracer.observe.containers import (
    BUILTIN,
    CONSTANT,
    FEW,
    GROWING,
    MAPPINGS,
    PLAIN,
    SEQUENCES,
    guard_items,
    is_a,
    is_compared,
    is_containers,
    is_plain,
    is_record,
    item_steps,
    member_keys,
    record_children,
    set_guards,
)
from jaxaot.tracer.observe.noting import original, reads_all
from jaxaot.tracer.observe.observer import CALL, VIEWS, Held, Observer
from jaxaot.tracer.observe.ways import attribute_path, found_in_class, is_in_class, is_users_module, names_of

_ALONE = (tuple, frozenset, types.MethodType, types.ModuleType, type)
"""What is not told apart by identity."""
_FN = ("root", "fn")
_OF_FUNCTIONS = set(dir(types.FunctionType))


class Inputs(NamedTuple):
    """What the call finds by paths and has guards for.

    Attributes:
      tensors: Id of each tensor → its number.
      tensor_paths: The path by which each of them is found.
      arrays: Id of each bare array whose value is an input → the path by which it is found.
      places: Id of each cell, object and container of a library → its path.
      values: Path and value of what these hold and is left to be guarded.
    """

    tensors: Mapping[int, int] = {}
    tensor_paths: frozenset[Path] = frozenset()
    arrays: Mapping[int, Path] = {}
    places: Mapping[int, Path] = {}
    values: Sequence[tuple[Path, Any]] = ()


def python_guards(roots: Sequence[tuple[Path, Any]], observer: Observer, inputs: Inputs) -> tuple[PythonGuard, ...]:
    """Returns the guards on what a run read, after everything was put back.

    Args:
      roots: Where paths start: arguments, whose leaves are guarded already, and the function.
      observer: What the run read.
      inputs: What has guards.
    """
    walk = _Walk(roots, observer, inputs)
    walk.run()
    return tuple(walk.guards)


class _Walk(CodeGuards):
    """The way along what was read."""

    def __init__(self, roots: Sequence[tuple[Path, Any]], observer: Observer, inputs: Inputs):
        super().__init__(roots, observer)
        self._inputs = inputs
        self._seen: dict[int, Path] = {}
        self._keep: list[Any] = []
        self._distinct: dict[int, Path] = {}
        self._outside: dict[int, Path] = {}

    def run(self) -> None:
        """Finds the guards."""
        for held in self._observer.held.values():
            self._note_class_reads(held)
        arguments = [(path, value) for path, value in self._roots if path[-1] != _FN]
        self._queue.extend((path, value) for path, value in self._roots if path[-1] == _FN)
        for path, value in arguments:
            self._argument(path, value)
        for path, value in self._inputs.values:
            self._child(path, value)
        self._drain()
        for ran in self._observer.ran:
            self._variables(ran)
        for value in self._observer.asked.values():
            self._child((_FN, ("module", value)), value)
        self._drain()
        for space in self._observer.spaces.values():
            self._globals(space)
        self._drain()
        for held in list(self._observer.held.values()):
            if held.names or held.whole or held.added or held.written:
                self._ensure(held.path, held.value)
        self._drain()
        for cls in [*self._observer.classes.values()]:
            self._methods(cls)
        self._drain()
        self._environment()
        self._imports()
        self._caches()
        self._settings()
        self._operations()
        if self._named.compares and len(self._distinct) > 1:
            paths = tuple(self._distinct.values())
            self._guard(paths[0], AreDistinct(paths))

    def _drain(self) -> None:
        while self._queue:
            path, value = self._queue.popleft()
            place = self._inputs.places.get(id(value))
            if place is not None and path != place:
                self._guard(path, IsAlsoAt(place))
            if place is not None and (path != place or is_cell(value)):
                continue
            if id(value) in self._seen:
                if not is_a(value, type) and path != self._seen[id(value)]:
                    self._guard(path, IsAlsoAt(self._seen[id(value)]))
                continue
            self._seen[id(value)] = path
            self._keep.append(value)
            if id(value) in self._observer.unread:
                self._guard(path, HasType(type(value)))
            elif is_assumed_constant(value):
                self._weak(path, value)
            else:
                self._note_identity(path, value)
                self._look_into(path, value)

    def _ensure(self, path: Path, value: Any) -> None:
        """Guards what a path leads through, where nothing did so yet."""
        if id(value) in self._seen or self._is_assumed(path):
            return
        self._lead_to(path)
        self._drain()
        if id(value) not in self._seen:
            self._queue.append((path, value))
            self._drain()

    def _is_assumed(self, path: Path) -> bool:
        """Returns whether some object on the way is one that the user vouched for."""
        return any(is_assumed_constant(follow(self._roots, path[:n])) for n in range(1, len(path) + 1))

    def _guard(self, path: Path, condition: Condition) -> None:
        line = self._line
        if line is None:
            names = [key[1] if kind == "closure" else key for kind, key in reversed(path)]
            lines = self._named.lines
            line = next((lines[name] for name in names if isinstance(name, str) and name in lines), None)
        self.guards.append(PythonGuard(path, condition, line))

    def _note_identity(self, path: Path, value: object, is_argument: bool = False) -> None:
        """Notes an object that code may compare by identity; a tensor that is passed is mostly another at each call."""
        if not is_a(value, _ALONE) and path[-1][1] not in ("__defaults__", "__kwdefaults__", "keywords"):
            self._distinct.setdefault(id(value), path)
            if self._named.asks_for_ids and (id(value) in self._observer.identified or not is_argument):
                self._weak(path, value)

    # -- arguments -----------------------------------------------------------------------------------------------------

    def _argument(self, path: Path, value: object) -> None:
        """Finds the objects among the arguments; the containers that jax knows are guarded as a whole."""
        self._met.add(path)
        if is_a(value, dict):
            for key, child in value.items():
                self._argument((*path, ("item", key)), child)
        elif is_a(value, (list, tuple)):
            for i, child in enumerate(value):
                self._argument((*path, ("item", i)), child)
        elif is_wrapper(value):
            self._aside(path, value)
        elif is_a(value, Tensor):
            if self._named.compares:
                self._note_identity(path, value, is_argument=True)
            self._outside.setdefault(id(value), path)
            self._of_users(path, value)
        elif is_a(value, (jax.Array, np.ndarray, jax.ShapeDtypeStruct, *PLAIN, *CONSTANT)):
            return
        elif not is_leaf(value) and pytree.is_node(value):  # its fields are leaves
            self._code_in(path, value)
        elif is_a(value, set):
            self._child(path, value)
        elif not isinstance(value, Generator):  # which is told apart like tensors
            self._queue.append((path, value))

    def _code_in(self, path: Path, value: object, above: frozenset[int] = frozenset()) -> None:
        """Finds the code that a value holds besides leaves: an equal function may read something else by then."""
        if id(value) in above:
            return
        self._met.add(path)
        above = above | {id(value)}
        for steps, child in _held_by(value):
            if is_a(child, (types.FunctionType, types.MethodType, functools.partial, type)):
                self._child(path + steps, child)
            elif not is_leaf(child) and pytree.is_node(child):
                self._code_in(path + steps, child, above)

    # -- values --------------------------------------------------------------------------------------------------------

    def _named_child(self, path: Path, name: str, value: object) -> None:
        """Guards what a variable or an attribute holds."""
        if type(value) in GROWING and not self._named.is_open and name not in self._named.read:
            self._guard(path, HasType(type(value)))
        else:
            self._child(path, value)

    def _child(self, path: Path, value: object) -> None:
        """Guards what a step leads to, and notes it for a look inside."""
        self._met.add(path)
        if is_assumed_constant(value):
            self._weak(path, value)
            return
        if is_a(value, Tensor):
            self._tensor(path, value)
        elif is_containers(value):
            self._child((*path, ("attr", "__name__")), value.__name__)
            self._child((*path, ("attr", "__self__")), value.__self__)
        elif is_a(value, CONSTANT):
            self._guard(path, IsObject(value))
        elif is_a(value, (np.generic, *PLAIN)):
            self._guard(path, EqualTo(value))
            if id(value) in self._observer.held:
                self._queue.append((path, value))
        elif is_a(value, np.ndarray):
            self._guard(path, HasContent(array_content(value)))
            for place in np.ndindex(value.shape) if value.dtype.hasobject and value.size <= FEW else ():
                self._child((*path, ("item", place)), value[place])
        elif is_a(value, jax.Array):
            place = self._inputs.arrays.get(id(value))
            if place is None:
                self._weak(path, value)
            elif place != path:
                self._guard(path, IsAlsoAt(place))
        elif value is default_generator:  # any other is found by its path
            self._guard(path, IsObject(value))
        elif is_a(value, types.FunctionType):
            self._function(path, value)
        elif is_a(value, type):
            self._guard(path, IsObject(value))
            self._queue.append((path, value))
        elif is_a(value, (set, frozenset)):
            self.guards += set_guards(path, value)
            for key, member in member_keys(value):
                self._child((*path, ("member", key)), member)
        elif is_a(value, types.ModuleType) and not is_users_module(value):
            self._library(path, value)
        else:
            self._queue.append((path, value))

    def _function(self, path: Path, fn: types.FunctionType) -> None:
        """Guards a function at a path that is not known to lead to it."""
        if is_foreign(fn.__module__):
            self._guard(path, IsObject(fn))
            return
        self._guard(path, HasCode(fn.__code__))
        self._note_identity(path, fn)
        first = self._seen.setdefault(id(fn), path)
        if first != path:
            self._guard(path, IsAlsoAt(first))
            return
        self._keep.append(fn)
        if fn.__code__ not in self._observer.codes:
            self._defaults(path, fn)
        self._look_into(path, fn)

    def _tensor(self, path: Path, value: Tensor) -> None:
        """Guards a tensor at a path that is not the one by which the call finds it."""
        if is_wrapper(value):
            self._wrapper(path, value)
            return
        if self._named.compares:
            self._note_identity(path, value)
        first = self._outside.setdefault(id(value), path)
        if id(value) not in self._inputs.tensors and first != path:  # one may be put into the place of another
            self._guard(path, IsAlsoAt(first))
        elif id(value) not in self._inputs.tensors:  # whether there is one, and its shape, may have been looked at
            self._guard(path, HasType(type(value)))
            self._guard(path, HasLayout(value._layout.plain, value.requires_grad))
        elif path not in self._inputs.tensor_paths:
            self._guard(path, IsTensor(self._inputs.tensors[id(value)]))
        if first == path:
            self._of_users(path, value)

    def _of_users(self, path: Path, value: Tensor) -> None:
        """Guards the attributes of a tensor that users gave it and code names; what it lacks is noted in runs."""
        for name in vars(value):
            if name in self._named.attributes:
                self._named_child((*path, ("attr", name)), name, vars(value)[name])

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

    def _weak(self, path: Path, value: object, is_kept: bool = False) -> None:
        """Guards which object it is; one that cannot be referred to weakly is kept alive for it, or told by its class.

        Args:
          path: Leads to it.
          value: Itself.
          is_kept: Whether it may be kept alive: it is one of Python's own.
        """
        if is_a(value, (list, dict, set)):
            self._guard(path, IsObject(value))
            return
        try:
            self._guard(path, IsHeldWeakly(weakref.ref(value)))
        except TypeError:  # an object that cannot be referred to weakly
            self._guard(path, IsObject(value) if is_kept else HasType(type(value)))

    # -- what values hold ----------------------------------------------------------------------------------------------

    def _look_into(self, path: Path, value: object) -> None:
        if is_a(value, types.FunctionType):
            for name, child in list(vars(value).items()):
                if name in self._named.attributes or name == "__wrapped__":
                    self._named_child((*path, ("attr", name)), name, child)
            self._shown(path, value)
            asked = self._named.strings if self._named.is_open else ()
            missing = sorted({*names_of(path, self._named), *asked} - vars(value).keys() - _OF_FUNCTIONS)
            if missing:
                self._guard((*path, ("attr", "__dict__")), HasVariables(tuple(missing), (), None))
        elif is_a(value, types.MethodType):
            self._queue.append(((*path, ("attr", "__self__")), value.__self__))
            self._child((*path, ("attr", "__func__")), value.__func__)
        elif is_a(value, functools.partial):
            for name in ("func", "args", "keywords"):
                self._child((*path, ("attr", name)), getattr(value, name))
        elif is_a(value, (*MAPPINGS, *SEQUENCES)):
            self._items(path, value)
        elif is_a(value, types.ModuleType):
            self._module(path, value)
        elif is_a(value, type):
            self._shown(path, value)
            self._below(path, value)
            self._class(value)
            there = {name for owner in owners_of(value) for name in members_of(owner)}
            for name in sorted(names_of(path, self._named) - there):
                self._of_class.setdefault(id(value), {}).setdefault(name, self._named.lines.get(name))
        else:
            self._object(path, value)

    def _items(self, path: Path, value: Any) -> None:
        items = guard_items(path, value, lambda x: id(x) in self._inputs.tensors or id(x) in self._inputs.arrays)
        self.guards += items.guards
        for step, child in items.at_once:
            first = self._outside.setdefault(id(child), (*path, step))
            if first != (*path, step):
                self._guard((*path, step), IsAlsoAt(first))
        for step, child in items.rest:
            self._child((*path, step), child)
        if is_a(value, defaultdict):
            self._child((*path, ("attr", "default_factory")), value.default_factory)
        for key, member in member_keys(value) if is_a(value, dict) else ():
            if id(member) in self._world.repeats:
                self._child((*path, ("member", key)), member)
        if type(value) not in BUILTIN and id(value) in self._observer.held:
            self._attributes(path, value, self._observer.held[id(value)])

    def _object(self, path: Path, value: Any) -> None:
        cls = type(value)
        held = self._observer.held.get(id(value))
        if held is not None:
            if kind_of(value) is None:
                self._guard(path, HasType(cls))
            if held.value is value:
                self._attributes(path, value, held)
            elif CALL in attributes_of(value):  # its attributes are guarded where it shares them
                self._child((*path, ("attr", CALL)), getattr(value, CALL))
            return
        if cls in VIEWS:
            self._child((*path, ("attr", "mapping")), value.mapping)
            return
        wrapped = inspect.getattr_static(value, "__wrapped__", None)
        if wrapped is not None:  # such as a compiled function
            self._child((*path, ("attr", "__wrapped__")), value.__wrapped__)
        elif cls in READINGS:
            self._guard(path, HasReading(cls, READINGS[cls](value)))
        elif is_a(value, contextvars.ContextVar):
            self._weak(path, value)
            held_here = held_by_variable(value)
            if held_here is UNSET:
                self._guard((*path, ("context", None)), IsObject(UNSET))
            else:
                self._child((*path, ("context", None)), held_here)
        elif is_a(value, weakref.ReferenceType):
            self._guard(path, HasType(cls))
            self._child((*path, ("referent", None)), value())
        elif is_foreign_class(cls) and is_compared(value):
            self._guard(path, EqualTo(value))
            self._code_in(path, value)
        elif callable(value) or not is_foreign_class(cls) or package_of(module_of(cls)) in sys.stdlib_module_names:
            self._weak(path, value, is_kept=True)
        else:
            self._guard(path, HasType(cls))

    def _attributes(self, path: Path, value: Any, held: Held) -> None:
        """Guards what was read of an object's attributes."""
        attributes, cls = attributes_of(value), type(value)
        if is_a(value, BaseException):
            attributes["args"] = value.args
        hidden = [name for name in sorted(held.written - attributes.keys()) if not is_in_class(value, name)]
        is_own = reads_all(cls)
        is_whole = bool(held.whole) or self._named.is_by_hand
        if is_whole and kind_of(value) is None:
            self._line = held.whole[0] if held.whole else None
            own = dict_of(value)
            if own is not None:
                self._guard(path, HasAttributes(len(own), is_own))
            for name, child in attributes.items():
                self._child((*path, ("own" if is_own else "attr", name)), child)
            if is_own:
                self._guard((_FN, ("module", cls)), Answers("__getattribute__", original(cls), original))
                self._class(cls, is_whole=True)
                self._line = None
                return
        for name, line in held.names.items():
            self._line = line
            if name in attributes and not is_managed(cls, name):
                if not is_whole:
                    self._child(attribute_path(path, value, name), attributes[name])
                continue
            owner, member = found_in_class(cls, name)
            if owner is None and found_in_class(cls, "__getattr__")[0] is None:
                self._of_class.setdefault(id(cls), {}).setdefault("__getattr__", line)
                self._guard((*path, ("attr", name)), IsAbsent())
            elif type(member) is types.MemberDescriptorType:
                self._guard((*path, ("attr", name)), IsEmpty(member))
            elif owner is None or hasattr(type(member), "__get__"):
                hidden.append(name)
            elif is_plain(member):
                self._guard((*path, ("attr", name)), EqualTo(member))
            else:
                hidden.append(name)
                self._child((_FN, ("module", owner), ("attr", name)), member)
        for name in sorted(held.written & attributes.keys() - held.names.keys()):
            if (id(value), name) not in self._world.replaced and not is_whole:  # a later call has to find it so
                self._child((*path, ("attr", name)), attributes[name])
        for name, line in held.added.items():
            if name in attributes and name not in held.names and not is_whole:
                self._line = line
                self._guard((*path, ("attr", name)), HasType(type(attributes[name])))
        self._line = None
        hidden = [name for name in hidden if not is_managed(cls, name)]
        if hidden and dict_of(value) is not None:
            self._guard(path, Lacks(tuple(hidden)))

    def _note_class_reads(self, held: Held) -> None:
        """Notes what was read of an object and is found in its class, or not at all."""
        cls, attributes = type(held.value), attributes_of(held.value)
        for name, line in held.names.items():
            if name not in attributes or is_managed(cls, name):
                self._of_class.setdefault(id(cls), {}).setdefault(name, line)


def _held_by(value: Any) -> Iterator[tuple[Path, Any]]:
    """Yields what a value of a library, or one that JAX takes apart, holds."""
    if is_record(value):
        yield from ((steps, child) for steps, child, _ in record_children(value))
    elif is_a(value, (*MAPPINGS, *SEQUENCES)):
        yield from (((step,), child) for step, child in item_steps(value))
    elif is_a(value, functools.partial):
        yield (("attr", "func"),), value.func
    else:
        yield from (((("attr", name),), child) for name, child in attributes_of(value).items())
