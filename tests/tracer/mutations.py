"""Changes each thing that a compiled function read of Python, one at a time, and says where its next call is not eager.

What was read is what the observer of the trace noted. Each read is changed in two copies of a program, of which one is
compiled: the next calls must do the same, and so must those after the change is taken back. What an object held and
the function did not read is changed as well: no program may be made for that.

    python -m tests.tracer.mutations              # over `tests/data/mutations.py`: one line for each finding
    python -m tests.tracer.mutations "a slot"     # the programs whose names hold that
    python -m tests.tracer.mutations -s classes   # the programs of a file of `tests/data/state/`, all without a name
"""

from __future__ import annotations

import ast
import builtins
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import gc
import operator
import os
import random
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

import jaxaot as ja
import jaxaot.tracer.trace
from jaxaot.facade.cells.cells import attributes_of
from jaxaot.plan.paths import Path, follow, path_text
from jaxaot.tracer.trace import roots
from tests.tracer.python_state import _PRELUDE, DATA, MODULE, Case, Seen, _short, files, interpret, read

N_WARM = 3
"""Calls before the first change: by then numbers that change are symbols, and optimizers have their state."""
N_ITEMS = 2
"""So many items of a container are changed, and the last one."""
N_AT_ONCE = 20
"""After so many changes new copies are made."""
MISSING = object()
CONTAINERS = (dict, list, tuple, collections.deque, set, frozenset)
FIELDS = {
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    functools.partial: ("func", "args", "keywords"),
    functools.cached_property: ("func",),
    types.MethodType: ("__self__", "__func__"),
}


@dataclasses.dataclass
class World:
    """One copy of a program.

    Attributes:
      fn: Its function.
      args: Returns what it is called with.
      roots: What its objects are reached from.
      look: Takes what a call gave to what is compared.
      differs: Takes two of these to what differs, as text; None if nothing does.
      module: That it is.
    """

    fn: Callable[..., Any]
    args: Callable[[], tuple[tuple[Any, ...], dict[str, Any]]]
    roots: Any
    look: Callable[[Any], Any]
    differs: Callable[[Any, Any], str | None] = lambda a, b: differs(a, b)
    module: types.ModuleType | None = None

    def call(self, fn: Callable[..., Any]) -> tuple[Any, Exception | None]:
        """Returns what a call returned or raised and the state after it, and the error."""
        ja.manual_seed(1)
        if self.module is not None:
            sys.modules[MODULE] = self.module
        args, kwargs = self.args()
        try:
            result = fn(*args, **kwargs)
        except Exception as error:
            return ("raised", type(error).__name__, self.looked(None)), error
        return ("returned", self.looked(result)), None

    def looked(self, result: Any) -> Any:
        """Returns what is compared of a result and the state."""
        try:
            return self.look(result)
        except Exception as error:  # of a state that a change broke
            return f"not to be looked at: {type(error).__name__}"


def differs(eager: Any, compiled: Any) -> str | None:
    """Returns where two things that were `Seen` differ, but for rounding, as text; None if they do not."""
    if eager == compiled:
        return None
    if isinstance(eager, (tuple, list)) and isinstance(compiled, (tuple, list)) and len(eager) == len(compiled):
        return next(filter(None, map(differs, eager, compiled)), None)
    if isinstance(eager, dict) and isinstance(compiled, dict) and eager.keys() == compiled.keys():
        found = ((name, differs(eager[name], compiled[name])) for name in eager)
        return next((f"{name}: {text}" for name, text in found if text), None)
    if isinstance(eager, str) and isinstance(compiled, str) and eager[:1] + compiled[:1] != "''":
        with contextlib.suppress(ValueError, SyntaxError, TypeError):
            if np.allclose(*(np.array(ast.literal_eval(text), float) for text in (eager, compiled)), 1e-4, 1e-5):
                return None
    return f"eager {_short(eager)}, compiled {_short(compiled)}"


def of_case(case: Case) -> Callable[[], World]:
    """Returns what makes copies of a program that is written down."""

    def make():
        module = sys.modules[MODULE] = types.ModuleType(MODULE)
        space = vars(module)
        exec(_PRELUDE, space)
        plain = set(space)
        ja.manual_seed(0)
        space["x"] = ja.tensor([1.0, 2.0])
        exec(case.parts["setup"], space)

        def look(result):
            seen = Seen()
            shown = seen(result)
            state = {}
            for name in sorted(space):
                if name not in plain and name[0] != "_":
                    with contextlib.suppress(Exception):  # a `repr` that the change broke
                        state[name] = seen(space[name])
            if "look" in case.parts:
                state["look"] = seen(eval(case.parts["look"], space))
            return shown, state

        args = lambda: (space.get("args", (space["x"],)), space.get("kwargs", {}))
        return World(space["f"], args, {"space": space, "f": space["f"]}, look, module=module)

    return make


# -- two copies side by side -------------------------------------------------------------------------------------------

Steps = tuple[str, ...]


def children(value: Any) -> Iterator[tuple[str, Any]]:
    """Yields what an object leads to, each with a step that is the same in another copy."""
    if not isinstance(value, type):
        yield "class", type(value)
    if isinstance(value, dict):
        for i, (key, child) in enumerate(dict.items(value)):
            yield f"[{key!r}]" if is_plain(key) else f"[item {i}]", child
            if not is_plain(key):
                yield f"[key {i}]", key
    elif isinstance(value, (list, tuple, collections.deque)):
        yield from ((f"[{i}]", child) for i, child in enumerate(value))
    elif isinstance(value, (set, frozenset)):
        if sum(not is_plain(child) for child in value) == 1:
            yield from (("{}", child) for child in value if not is_plain(child))
    elif isinstance(value, types.FunctionType):
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):
                yield f"<{name}>", cell.cell_contents
        for name in ("__defaults__", "__kwdefaults__", "__dict__", "__globals__"):
            yield f".{name}", getattr(value, name)
    elif isinstance(value, type):
        yield from ((f".{name}", child) for name, child in type.__dict__["__dict__"].__get__(value).items())
        yield from ((f"(base {i})", child) for i, child in enumerate(value.__bases__))
        yield "(class)", type(value)
    elif isinstance(value, types.ModuleType):
        yield ".__dict__", vars(value)
    elif isinstance(value, weakref.ReferenceType):
        yield "()", value()
    elif type(value) in FIELDS:
        yield from ((f".{name}", getattr(value, name)) for name in FIELDS[type(value)])
    elif not isinstance(value, (ja.Tensor, np.ndarray, jax.Array)) and not attributes_of(value):
        yield from ((f"({i})", child) for i, child in enumerate(gc.get_referents(value)))
    if not isinstance(value, (type, types.ModuleType, types.FunctionType, weakref.ReferenceType)):
        yield from ((f".{name}", child) for name, child in attributes_of(value).items())


def is_plain(value: Any) -> bool:
    """Returns whether a value prints alike in each copy."""
    if type(value) is tuple:
        return all(map(is_plain, value))
    return value is None or type(value) in (bool, int, float, complex, str, bytes)


class Pairs:
    """The objects of two copies, which are alike.

    Attributes:
      steps: Id of each object of the first copy → how it is reached.
      at: How an object is reached → the two.
    """

    def __init__(self, first: World, second: World):
        self.steps: dict[int, Steps] = {}
        self.at: dict[Steps, tuple[Any, Any]] = {}
        queue = collections.deque([((), first.roots, second.roots)])
        while queue:
            steps, a, b = queue.popleft()
            if id(a) in self.steps or is_plain(a) or type(a).__name__ != type(b).__name__:
                continue
            self.steps[id(a)], self.at[steps] = steps, (a, b)
            if a is not b:
                others = dict(children(b))
                queue.extend(((*steps, step), child, others[step]) for step, child in children(a) if step in others)
        self._by_path: list[Path] = []
        self._starts = [roots(world.fn, *world.args()) for world in (first, second)]

    def find(self, value: Any, path: Path = ()) -> Steps | None:
        """Returns how an object is reached, or the one that is in its place by now; None if it is not there."""
        if id(value) in self.steps or not path:
            return self.steps.get(id(value))
        try:
            a, b = (follow(of_one, self._of(path, i)) for i, of_one in enumerate(self._starts))
        except (AttributeError, LookupError, TypeError, ValueError):
            return None
        if id(a) not in self.steps and type(a).__name__ == type(b).__name__:
            self.steps[id(a)] = (path_text(path),)
            self.at[self.steps[id(a)]] = a, b
            self._by_path.append(path)
        return self.steps.get(id(a))

    def find_as(self, others: Pairs) -> None:
        """Finds what others found by paths."""
        for path in others._by_path:
            self.find(MISSING, path)

    def _of(self, path: Path, i: int) -> Path:
        """Returns a path in a copy: classes and functions of the other one have their like in it."""
        is_other = lambda kind, key: i and kind == "module" and id(key) in self.steps
        return tuple((kind, self.at[self.steps[id(key)]][1] if is_other(kind, key) else key) for kind, key in path)


# -- what was read -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Record:
    """What the traces of a function read.

    Attributes:
      held: Id of an object → itself, its path, the names that were read, and whether it is looked at whole.
      spaces: Id of a namespace → itself, the path of a function in it, and the names that code may read or set.
      ran: The functions that ran.
      classes: Of the objects that were reached.
      attributes: The names of attributes in the code that ran.
      environment: The variables of the environment that were read.
    """

    held: dict = dataclasses.field(default_factory=dict)
    spaces: dict = dataclasses.field(default_factory=dict)
    ran: dict = dataclasses.field(default_factory=dict)
    classes: dict = dataclasses.field(default_factory=dict)
    attributes: set = dataclasses.field(default_factory=set)
    environment: set = dataclasses.field(default_factory=set)

    def add(self, observer) -> None:
        """Adds what an observer noted."""
        for held in observer.held.values():
            known = self.held.setdefault(id(held.value), (held.value, held.path, set(), []))
            known[2].update(held.names)
            known[3].extend(held.whole)
        for space in observer.spaces.values():
            known = self.spaces.setdefault(id(space.variables), (space.variables, space.path, set(), set()))
            known[2].update(space.names)
            known[3].update(space.stored)
        self.ran.update((id(ran.fn), ran.fn) for ran in observer.ran)
        self.classes.update(observer.classes)
        self.attributes |= {*observer.named.attributes, *observer.named.changed, *observer.named.strings}
        self.environment |= set(observer.environment)


@contextlib.contextmanager
def recording(record: Record) -> Iterator[None]:
    """Adds what is read in each trace within."""
    make_guards = jaxaot.tracer.trace.python_guards

    def recorded(roots, observer, *rest):
        record.add(observer)
        return make_guards(roots, observer, *rest)

    jaxaot.tracer.trace.python_guards = recorded
    try:
        yield
    finally:
        jaxaot.tracer.trace.python_guards = make_guards


# -- other values ------------------------------------------------------------------------------------------------------


def twice(value: Any) -> Any:
    """Returns another value than what a function returned."""
    if isinstance(value, (ja.Tensor, jax.Array, float, complex)):
        return value * 2
    if type(value) is int:
        return value + 1
    if type(value) is bool:
        return not value
    if type(value) is str:
        return value + "_"
    return type(value)(map(twice, value)) if type(value) in (list, tuple) else value


def doubled(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that returns something else."""

    def other_function(*args, **kwargs):
        return twice(fn(*args, **kwargs))

    return other_function


def other(value: Any) -> Any:
    """Returns another value of the same kind; MISSING if there is none."""
    kind = type(value)
    if value is None:
        return 0
    if kind is bool:
        return not value
    if kind is int:
        return value + 1
    if kind is float:
        return value * 2 + 0.5
    if kind is complex:
        return value + 1
    if kind is str:
        return value + "_"
    if kind is bytes:
        return value + b"_"
    if isinstance(value, ja.Tensor):
        return other_tensor(value)
    if isinstance(value, np.ndarray):
        return ~value if value.dtype == bool else value + value.dtype.type(1)
    if isinstance(value, jax.Array):
        return value * 2
    if isinstance(value, enum.EnumMeta):
        return MISSING
    if isinstance(value, enum.Enum):
        return next((member for member in kind if member is not value), MISSING)
    if kind in (property, functools.cached_property):
        return property(doubled(value.fget), value.fset) if kind is property else renamed(value)
    if kind in (staticmethod, classmethod):
        return kind(doubled(value.__func__))
    if kind is functools.partial:
        return functools.partial(doubled(value.func), *value.args, **value.keywords)
    if isinstance(value, type):
        try:
            return type(value)(value.__name__, (value,), {})
        except TypeError:
            return MISSING
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType)):
        return doubled(value)
    if isinstance(value, types.ModuleType):
        return other_module(value)
    if kind in CONTAINERS:
        return other_container(value)
    try:
        found = copy.copy(value)
    except Exception:
        return MISSING
    return MISSING if found is value else found


def other_tensor(value: ja.Tensor) -> Any:
    """Returns a tensor of the same kind with other values."""
    with ja.no_grad():
        plain = value.detach()
        if plain.dtype == ja.bool:
            found = ~plain
        else:
            found = plain * 0.5 + 0.25 if plain.dtype.is_floating_point else plain * 0
    if isinstance(value, ja.nn.Parameter):
        return ja.nn.Parameter(found, requires_grad=value.requires_grad)
    return found.requires_grad_(value.requires_grad) if type(value) is ja.Tensor else MISSING


def other_container(value: Any) -> Any:
    """Returns a container with another first item that has another value; one more if there is none."""
    if isinstance(value, (set, frozenset)):
        return value | {"another"}
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        found = other(value[key]) if is_plain(value[key]) else MISSING
        if found is not MISSING:
            items = dict(value) if isinstance(value, dict) else list(value)
            items[key] = found
            return type(value)(items)
    return {**value, "another": 1} if isinstance(value, dict) else type(value)([*value, 1])


def other_module(module: types.ModuleType) -> types.ModuleType:
    """Returns a module like another one, whose functions return something else."""
    found = types.ModuleType(module.__name__)
    for name, value in vars(module).items():
        is_function = isinstance(value, (types.FunctionType, types.BuiltinFunctionType))
        vars(found)[name] = doubled(value) if is_function else other(value) if type(value) is float else value
    return found


def renamed(value: functools.cached_property) -> functools.cached_property:
    """Returns a cached property with the name of another one, that returns something else."""
    found = functools.cached_property(doubled(value.func))
    found.__set_name__(None, value.attrname)
    return found


# -- changes -----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Change:
    """One change, in both copies.

    Attributes:
      steps: How its object is reached.
      kind: What is changed of the object.
      name: Of what.
      how: `other`, `deleted` or `set`, where nothing was.
      is_read: Whether the function read it; else no program may be made.
    """

    steps: Steps
    kind: str
    name: Any
    how: str
    is_read: bool = True

    def __str__(self) -> str:
        where = "".join(self.steps).replace("['space']", "").replace(".__globals__", " ").replace(".__dict__", "")
        return f"{'' if self.is_read else 'unread '}{self.kind} {self.name!r} of {where or 'it'} {self.how}"

    def apply(self, holder: Any) -> Callable[[], Any] | None:
        """Makes the change; returns what takes it back, or None if there is no such change."""
        return getattr(self, f"_{self.kind}")(holder)

    def _value(self, was: Any) -> Any:
        return MISSING if self.how == "deleted" else 3 if self.how == "set" else other(was)

    def _attribute(self, holder: Any) -> Callable[[], Any] | None:
        was = attributes_of(holder).get(self.name, MISSING)
        value = self._value(was)
        if (was is MISSING) != (self.how == "set") or (value is MISSING) != (self.how == "deleted"):
            return None
        own = getattr_dict(holder)
        order = None if own is None else list(own.items())
        is_slot = any(isinstance(vars(c).get(self.name), UNCHANGED) for c in type(holder).__mro__)

        def put(value):
            if own is not None and not is_slot:
                own.pop(self.name, None) if value is MISSING else own.update({self.name: value})
            elif value is MISSING:
                object.__delattr__(holder, self.name)
            else:
                object.__setattr__(holder, self.name, value)

        def back():
            put(was)
            if order is not None and value is MISSING:  # which is then the last one
                known = dict(own)
                for name, _ in order:
                    own[name] = own.pop(name)
                assert known == own

        try:
            put(value)
        except (AttributeError, TypeError):  # it has no place for it
            return None
        return back

    def _item(self, holder: Any) -> Callable[[], Any] | None:
        base = next(kind for kind in CONTAINERS if isinstance(holder, kind))
        if base in (tuple, frozenset):
            return None
        before = dict(dict.items(holder)) if base is dict else list(base.__iter__(holder))
        items = set(before) if base is set else before.copy()
        if base is set:
            items.add(3) if self.how == "set" else items.pop()
        elif self.how == "set":
            if base is dict:
                items["another"] = 3
            else:
                items.append(other(items[-1]) if items and other(items[-1]) is not MISSING else 3)
        elif base is dict and self.name not in items:  # a key that is counted up
            return None
        elif self.how == "deleted":
            del items[self.name]
        else:
            value = other(items[self.name])
            if value is MISSING:
                return None
            items[self.name] = value
        refill(base, holder, items)
        return lambda: refill(base, holder, before)

    def _variable(self, space: dict[str, Any]) -> Callable[[], Any] | None:
        was = space.get(self.name, MISSING)
        if was is MISSING and self.how == "other":
            value = doubled(getattr(builtins, self.name)) if callable(getattr(builtins, self.name, None)) else MISSING
        else:
            value = self._value(was)
        if value is MISSING and self.how != "deleted":
            return None
        order = list(space.items())
        if value is MISSING:
            del space[self.name]
        else:
            space[self.name] = value

        def back():
            if was is MISSING:
                del space[self.name]
                return
            space[self.name] = was
            if value is MISSING:
                for name, _ in order:
                    space[name] = space.pop(name)

        return back

    def _cell(self, fn: types.FunctionType) -> Callable[[], Any] | None:
        cell = fn.__closure__[self.name]
        was = cell.cell_contents
        value = other(was)
        if value is MISSING:
            return None
        cell.cell_contents = value
        return lambda: setattr(cell, "cell_contents", was)

    def _part(self, fn: types.FunctionType) -> Callable[[], Any] | None:
        was = getattr(fn, self.name)
        setattr(fn, self.name, other(was))
        return lambda: setattr(fn, self.name, was)

    def _constant(self, fn: types.FunctionType) -> Callable[[], Any] | None:
        was = fn.__code__
        constants = list(was.co_consts)
        constants[self.name] = other(constants[self.name])
        fn.__code__ = was.replace(co_consts=tuple(constants))
        return lambda: setattr(fn, "__code__", was)

    def _member(self, cls: type) -> Callable[[], Any] | None:
        members = type.__dict__["__dict__"].__get__(cls)
        was = members.get(self.name, MISSING)
        value = self._value(was)
        if value is MISSING or (was is MISSING and self.how != "set"):
            return None
        type.__setattr__(cls, self.name, value)
        if was is MISSING:
            return lambda: type.__delattr__(cls, self.name)
        return lambda: type.__setattr__(cls, self.name, was)

    def _environment(self, _: Any) -> Callable[[], Any] | None:
        was = os.environ.get(self.name)
        os.environ[self.name] = "2" if was is None else was + "1"

        def back():
            if was is None:
                del os.environ[self.name]
            else:
                os.environ[self.name] = was

        return back


def refill(base: type, holder: Any, items: Any) -> None:
    """Gives a container other items, whatever its class does on a change."""
    base.clear(holder)
    getattr(base, "extend" if base in (list, collections.deque) else "update")(holder, items)


def getattr_dict(holder: Any) -> dict[str, Any] | None:
    """Returns the `__dict__` of an object, past its class."""
    try:
        return object.__getattribute__(holder, "__dict__")
    except AttributeError:
        return None


SPECIAL = {"__dict__", "__class__", "__weakref__", "__module__", "__doc__", "__slots__", "__qualname__", "__name__"}
UNCHANGED = (types.MemberDescriptorType, types.GetSetDescriptorType)


def changes_of(record: Record, pairs: Pairs) -> tuple[list[Change], list[str], set[Steps]]:
    """Returns the changes to make, what of the record is not found in the copies, and what is looked at whole."""
    found: dict[Change, None] = {}
    lost, whole, seen = list[str](), set[Steps](), set[int]()

    def add(*change, **more):
        found.setdefault(Change(*change, **more))

    def add_items(value):
        """Adds changes of the containers that a value is or holds."""
        if not isinstance(value, CONTAINERS) or id(value) in seen or id(value) not in pairs.steps:
            return
        if value is vars(builtins) or value is sys.modules:
            return
        seen.add(id(value))
        steps = pairs.steps[id(value)]
        if isinstance(value, (set, frozenset)):
            keys = ["any"] if value else []
        else:
            keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        keys = list(dict.fromkeys([*keys[:N_ITEMS], *keys[-1:]]))
        if not isinstance(value, (tuple, frozenset)):
            for key in keys if not isinstance(value, set) else ():
                if is_plain(key):
                    add(steps, "item", key, "other")
            if keys and is_plain(keys[-1]):
                add(steps, "item", keys[-1], "deleted")
            add(steps, "item", None, "set")
        for child in value.values() if isinstance(value, dict) else value:
            add_items(child)

    for value, path, names, of_whole in record.held.values():
        steps, own = pairs.find(value, path), attributes_of(value)
        if (not names - SPECIAL and not own) or type(value).__module__ == "dataclasses":  # what Python says of a class
            continue
        if steps is None:
            lost.append(f"{path_text(path)} ({', '.join(sorted(names))})")
            continue
        if of_whole:
            whole.add(steps)
            names = {*names, *own}
        for name in sorted(names - SPECIAL):
            member = next((c for c in type(value).__mro__ if name in vars(c)), None)
            if name in own:
                add(steps, "attribute", name, "other")
                add(steps, "attribute", name, "deleted")
                add_items(own[name])
            else:
                add(steps, "attribute", name, "set")
            if member is not None and is_own(pairs, member) and not isinstance(vars(member)[name], UNCHANGED):
                add(pairs.steps[id(member)], "member", name, "other")
                add_items(vars(member)[name])
        for name in own:
            if name not in names and name not in SPECIAL and not of_whole:
                add(steps, "attribute", name, "other", is_read=False)
        if not of_whole and getattr_dict(value) is not None:
            add(steps, "attribute", "never_named", "set", is_read=False)
        if isinstance(value, CONTAINERS):
            add_items(value)
    for variables, path, names, stored in record.spaces.values():
        steps = pairs.find(variables, (*path, ("attr", "__globals__")))
        if steps is None and names.isdisjoint(variables):  # of code that Python made
            continue
        if steps is None and variables is vars(sys.modules.get(variables.get("__name__"), os)):  # of a library
            continue
        if steps is None:
            lost.append(f"global variables of {variables.get('__name__')}")
            continue
        for name in sorted(names):
            if name in variables or hasattr(builtins, name):
                add(steps, "variable", name, "other")
                if name in variables:
                    add(steps, "variable", name, "deleted")
            else:
                add(steps, "variable", name, "set")
            add_items(variables.get(name))
        if not is_shared(pairs, variables):
            own = {k for k in variables if k not in names | stored and k[:2] != "__" and k not in PRELUDE}
            for name in sorted(own - {"f", "args", "kwargs", "x"} - record.attributes):
                add(steps, "variable", name, "other", is_read=False)
    for fn in record.ran.values():
        steps = pairs.steps.get(id(fn))
        if steps is None or is_shared(pairs, fn):
            continue
        for i, cell in enumerate(fn.__closure__ or ()):
            with contextlib.suppress(ValueError):
                if fn.__code__.co_freevars[i] != "__class__":
                    add(steps, "cell", i, "other")
                    add_items(cell.cell_contents)
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(fn, name):
                add(steps, "part", name, "other")
        numbers = [i for i, value in enumerate(fn.__code__.co_consts) if type(value) in (int, float)]
        for i in dict.fromkeys([*numbers[:1], *numbers[-1:]]):
            add(steps, "constant", i, "other")
    read = record.attributes | {name for _, _, names, *_ in record.held.values() for name in names}
    ran = {fn.__code__ for fn in record.ran.values()}
    for cls in record.classes.values():
        for owner in cls.__mro__:
            if not is_own(pairs, owner):
                continue
            steps = pairs.steps[id(owner)]
            for name, member in list(vars(owner).items()):
                if name in SPECIAL or isinstance(member, UNCHANGED):
                    continue
                if name in read or getattr(member, "__code__", None) in ran:
                    add(steps, "member", name, "other")
                    add_items(member)
                elif not name.startswith("__") and not any(record.held.get(id(cls), ((),) * 4)[3]):
                    add(steps, "member", name, "other", is_read=False)
    for name in sorted(name for name in record.environment if name is not None):
        add((), "environment", name, "set")
    return list(found), lost, whole


def is_own(pairs: Pairs, value: Any) -> bool:
    """Returns whether each copy has an object of its own; of enumerations, which Python holds, none is changed."""
    steps = pairs.steps.get(id(value))
    return steps is not None and not is_shared(pairs, value) and not isinstance(value, enum.EnumMeta)


def is_shared(pairs: Pairs, value: Any) -> bool:
    """Returns whether an object is one in both copies."""
    return operator.is_(*pairs.at[pairs.steps[id(value)]])


# -- the check ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Finding:
    """Where a compiled function is not as it has to be.

    Attributes:
      kind: `DIFFERENT`, `RAISES` (compiled alone), `GROWS` (a program was made for what was not read), `BACK` (and one
        after the change was taken back), `LOST` (what was read is not found), `EAGER` (there is no program).
      change: After which change.
      detail: What differs.
    """

    kind: str
    change: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.kind:9} {self.change} | {self.detail[:300]}"


@dataclasses.dataclass
class Report:
    """What a check found.

    Attributes:
      findings: What is wrong.
      n_changes: How many changes of reads were made, and of what was not read.
      eager: After which of them the function ran without a program.
      whole: The objects that were looked at whole.
    """

    findings: list[Finding] = dataclasses.field(default_factory=list)
    n_changes: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    eager: list[str] = dataclasses.field(default_factory=list)
    whole: list[str] = dataclasses.field(default_factory=list)


class Copies:
    """A compiled copy of a program and an eager one, after some calls."""

    def __init__(self, make):
        self.compiled, self.eager = make(), make()
        self.fn, self.record = ja.compile(self.compiled.fn, max_programs=1000), Record()
        self.is_fresh, self.error = True, None
        with recording(self.record):
            for _ in range(N_WARM):
                n_before = self.fn.cache_info().misses
                self.error = self.error or self.step()
        self.pairs = Pairs(self.compiled, self.eager)
        self.n_made = self.fn.cache_info().misses
        self.is_settled = self.n_made == n_before  # else there is a program for each call

    def reasons(self) -> str:
        """Returns why the last program was made."""
        return "; ".join(str(reason) for record in self.fn.explain_recompiles()[-1:] for reason in record.reasons)

    def step(self):
        """Calls both; returns what differs, as a finding without a change."""
        expected, error = self.eager.call(self.eager.fn)
        actual, other_error = self.compiled.call(self.fn)
        self.has_returned, self.last_error = error is None, other_error
        if other_error is not None and error is None:
            return Finding("RAISES", "", f"{type(other_error).__name__}: {other_error}")
        if (error is None) != (other_error is None):
            return Finding("DIFFERENT", "", f"eagerly {type(error).__name__}: {error}; nothing compiled")
        different = self.eager.differs(expected, actual)
        return None if different is None else Finding("DIFFERENT", "", different)


def check(make: Callable[[], World], choose=lambda changes: changes, n_at_once: int = N_AT_ONCE) -> Report:
    """Makes each change that the reads of a function call for, and reports.

    Args:
      make: Makes a copy of a program.
      choose: Takes the changes to those that are made.
      n_at_once: After so many changes new copies are made.
    """
    report = Report()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copies = Copies(make)
        if copies.error is not None or not copies.n_made:
            found = copies.error or Finding("EAGER", "")
            report.findings.append(Finding(found.kind, "before any change", found.detail))
            return report
        changes, lost, whole = changes_of(copies.record, copies.pairs)
        report.findings += [Finding("LOST", what) for what in lost]
        report.whole = sorted("".join(steps) for steps in whole)
        for i, change in enumerate(sorted(choose(changes), key=lambda change: change.is_read)):
            if not copies.is_fresh or i % n_at_once == n_at_once - 1:
                before, copies = copies, Copies(make)
                copies.pairs.find_as(before.pairs)
            found = _try(copies, change, report)
            if found is not None:
                found.change = str(change)
                report.findings.append(found)
                copies.is_fresh = False
    return report


def _try(copies: Copies, change: Change, report: Report) -> Finding | None:
    """Makes a change in both copies and takes it back; returns what is wrong."""
    if change.steps not in copies.pairs.at:
        return Finding("LOST", "", "not there any more")
    holders = copies.pairs.at[change.steps]
    is_one = holders[0] is holders[1] or change.kind == "environment"
    state = copies.eager.looked(None)
    backs = [change.apply(holder) for holder in holders[: 1 if is_one else 2]]
    if None in backs:
        for back in filter(None, backs):
            back()
        return None
    report.n_changes[change.is_read] += 1
    before = copies.fn.cache_info()
    found = copies.step()
    middle = copies.fn.cache_info()
    for back in backs:
        back()
    if found is not None:
        return found
    is_eager = middle[:2] == before[:2] and copies.has_returned
    if is_eager:
        report.eager.append(str(change))
    if copies.is_settled and not change.is_read and middle.misses > before.misses:
        return Finding("GROWS", "", copies.reasons())
    is_as_before = copies.eager.differs(state, copies.eager.looked(None)) is None
    found = copies.step()
    after = copies.fn.cache_info()
    if found is not None:
        return Finding(found.kind, "", f"taken back: {found.detail}")
    if copies.is_settled and is_as_before and after.misses > middle.misses:
        return Finding("BACK", "", copies.reasons())
    copies.is_fresh = after.hits > middle.hits and not is_eager  # else further calls may not be traced
    return None


PRELUDE: dict[str, Any] = {}
"""What programs have without a definition of their own."""
exec(_PRELUDE, PRELUDE)


def main(words):
    """Prints what is found."""
    import time

    interpret()
    if "-s" in words:
        words.remove("-s")
        paths = [path for path in files() if not words or path.stem in words]
        words = []
    else:
        paths = [DATA.parent / "mutations.py"]
    n_at_once, choose = N_AT_ONCE, lambda changes: changes
    if paths[0].parent == DATA:  # of these some grow, and some hold hundreds of objects
        n_at_once, choose = 4, lambda changes: random.Random(0).sample(changes, min(len(changes), 40))
    kinds, n_changes, n_eager, start = collections.Counter(), collections.Counter(), 0, time.time()
    for path in paths:
        for case in read(path):
            if words and not any(word in case.name for word in words):
                continue
            began = time.time()
            try:
                report = check(of_case(case), choose, n_at_once)
            except Exception as error:
                report = Report([Finding("BROKEN", "", repr(error))])
                if len(words):
                    raise
            finally:
                if "after" in case.parts:
                    exec(case.parts["after"], vars(sys.modules[MODULE]))
            kinds.update(finding.kind for finding in report.findings)
            n_changes.update(report.n_changes)
            n_eager += len(report.eager)
            if report.findings or words:
                counts = f"{report.n_changes[True]} read, {report.n_changes[False]} not, {len(report.eager)} eager"
                whole = f", whole: {', '.join(report.whole)}" if report.whole else ""
                print(f"{path.stem}: {case.name} ({counts}{whole}, {time.time() - began:.1f} s)")
            for text in report.eager if words else ():
                print("    eager    ", text)
            for finding in report.findings:
                print("   ", finding, flush=True)
    print(f"{dict(n_changes)} changes, {n_eager} eager, {time.time() - start:.0f} s: {dict(kinds)}")


if __name__ == "__main__":
    main(sys.argv[1:])
