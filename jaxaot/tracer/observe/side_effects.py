"""Python's world around a traced function: how it was before, what the function did to it, and how it is put back.

Before a trace every mutable thing that the function can reach is *noted*: attributes, items of dicts, lists, deques and
sets, cells of closures, global variables, NumPy arrays, context variables. After the trace each is compared with its
note. The differences become the writes of the plan, which every call carries out, also the first; so everything is put
back when the trace ends. Things are told apart by identity, and a trace keeps them alive no longer than it runs.
"""

from __future__ import annotations

import builtins
import contextlib
import contextvars
import enum
import functools
import threading
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot._immutable import immutable
from jaxaot.facade.cells.cells import attributes_of, is_cell, is_managed, kind_of
from jaxaot.facade.indexing.symbolic_math import recording
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import is_wrapper
from jaxaot.plan.guards import HasLength, HasType, IsAlsoAt, PythonGuard
from jaxaot.plan.members import AreDistinct
from jaxaot.plan.paths import Path, follow
from jaxaot.plan.world import (
    AttributeWrite,
    ContentWrite,
    ContextWrite,
    DequeWrite,
    ItemWrite,
    MembersWrite,
    OutsideObject,
    RefillWrite,
    SliceWrite,
    Value,
    WorldPlan,
    WorldWrite,
    is_growth,
    path_of,
)
from jaxaot.tracer.observe.names import code_names, variables_of
from jaxaot.tracer.observe.paths import LEAVES, LIMIT, children, is_foreign, is_foreign_class, is_librarys, member_keys

_MAX_BYTES = 2**20
"""Of a larger NumPy array no copy is kept."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_NAMESPACES = (types.SimpleNamespace, threading.local)
_WITHIN = ("__globals__", "__dict__")
"""Steps to what belongs to an object and is guarded with it."""
_FIELDS = "__dataclass_fields__"
"""What `dataclasses` knows of a class; flax takes fields out and puts them back while it derives a class of it."""
_MANY_PAIRS = 16
"""More than so many pairs of objects are told apart all at once."""
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "MISSING"})()
"""Stands for what is not there."""

Give = Callable[[Any, Path], Value]
"""Takes an object and the place where it was put to what a later call puts there."""


def is_same(value: object, was: object) -> bool:
    """Returns whether a place holds what it held before: the same object, or an equal plain value."""
    if value is was:
        return True
    return type(value) is type(was) and type(value) in _PLAIN and (value == was and repr(value) == repr(was))


class SideEffects:
    """What a function reaches of Python's objects, as it was when this was made.

    Attributes:
      paths: Id of each object that was reached, tensors and arrays included → the shortest path to it.
      wrappers: Id of each tensor among them that is made of inner tensors → its path.
      repeats: Id of each object that several paths lead to → the further ones.
      symbols: `(id of a dict or list, key)` → what a trace put there in the place of an array.
      written: Ids of the caller's dicts and lists whose stand-ins were changed.
      replaced: `(id of an object or namespace, name)` of each attribute and variable that was set or deleted.
      context: Where the function runs; None if it reaches no context variable.
    """

    def __init__(self, roots: Iterable[tuple[Path, Any]], unread: frozenset[int] = frozenset()):
        """Notes what the roots lead to.

        Args:
          roots: Where to start, each with its own path.
          unread: Ids of the lists whose items are not looked at.
        """
        self.paths: dict[int, Path] = {}
        self.wrappers: dict[int, Path] = {}
        self.repeats: dict[int, list[Path]] = {}
        self.symbols: dict[tuple[int, Any], Any] = {}
        self.written: set[int] = set()
        self.replaced: set[tuple[int, str]] = set()
        self._notes: list[_Note] = []
        self._put: list[tuple[Callable[[], Any], object, Callable[[], None]]] = []
        self._keep: list[Any] = []  # objects made on the way, so that their ids stay theirs
        self._originals: dict[int, int] = {}
        self._variables: set[tuple[int, str]] = set()
        self.context: contextvars.Context | None = None
        queue, later = deque(roots), deque[tuple[Path, Any]]()
        names, keys = set[str](), dict[int, Path]()
        while (queue or later) and len(self.paths) < LIMIT:
            path, value = queue.popleft() if queue else later.popleft()
            if id(value) in self.paths:
                if not isinstance(value, (type, types.ModuleType, types.FunctionType)):
                    self.repeats.setdefault(id(value), []).append(path)
                continue
            self.paths[id(value)] = path
            self._keep.append(value)
            is_tensor = isinstance(value, (Tensor, jax.Array)) and not is_wrapper(value)
            if is_tensor and isinstance(value, Tensor):
                self._notes.append(_Tensor(path, value, own := _own_attributes(value)))
                queue += [((*path, ("attr", name)), x) for name, x in own.items() if not isinstance(x, LEAVES)]
            if is_tensor or is_cell(value):
                continue
            self._notes += self._notes_of(path, value, names)
            if isinstance(value, LEAVES) or id(value) in unread:
                continue
            for key, member in member_keys(value) if isinstance(value, dict) else ():
                keys.setdefault(id(member), (*path, ("member", key)))
            is_of_library = isinstance(value, types.FunctionType) and is_librarys(value)
            for steps, child, is_late in children(value, names):
                if is_of_library and isinstance(child, (dict, list, set, deque)):
                    continue  # a cache of its own
                if not isinstance(child, LEAVES) or isinstance(child, (np.ndarray, jax.Array)):
                    (later if is_late else queue).append((path + steps, child))
        self.paths = keys | self.paths

    def _notes_of(self, path: Path, value: Any, names: Iterable[str]) -> Iterator[_Note]:
        if isinstance(value, np.ndarray):
            if value.nbytes <= _MAX_BYTES and value.flags.writeable and not value.dtype.hasobject:
                yield _Content(path, value, value.copy())
        elif isinstance(value, dict):
            if path[-1][1] != _FIELDS:
                yield _Items(path, value, dict(value))
        elif isinstance(value, list):
            yield _List(path, value, list(value))
        elif isinstance(value, deque):
            yield _Deque(path, value, list(value))
        elif isinstance(value, set):
            yield _Members(path, value, set(value))
        elif isinstance(value, contextvars.ContextVar):
            yield _Context(path, value, value.get(MISSING))
        elif isinstance(value, types.FunctionType):
            for i, cell in enumerate(() if is_librarys(value) else value.__closure__ or ()):
                if id(cell) not in self.paths:
                    name = value.__code__.co_freevars[i]
                    self.paths[id(cell)] = (*path, ("attr", "__closure__"), ("item", i))
                    self._keep.append(cell)
                    yield _Cell((*path, ("closure", (i, name))), cell, _content(cell))
            if not is_librarys(value):
                where = (*path, ("attr", "__globals__"))
                code = value.__code__
                yield from self._named(where, value.__globals__, variables_of(code) | code_names(code).stored)
                yield _Items((*path, ("attr", "__dict__")), vars(value), dict(vars(value)))
        elif isinstance(value, types.ModuleType):
            if not is_foreign(value.__name__):
                yield from self._named((*path, ("attr", "__dict__")), vars(value), names)
        elif isinstance(value, type):
            if not is_foreign_class(value):
                yield _Class(path, value, _members(value))
        elif is_wrapper(value):
            self.wrappers[id(value)] = path
            yield _Tensor(path, value, _own_attributes(value))
        elif isinstance(value, enum.Enum):
            return
        elif not is_foreign_class(type(value)) or type(value) in _NAMESPACES or kind_of(value):
            yield _Attributes(path, value, attributes_of(value))
        if isinstance(value, (dict, list, set, deque)) and getattr(value, "__dict__", None) is not None:
            yield _Attributes(path, value, attributes_of(value))

    def _named(self, path: Path, namespace: dict[str, Any], names: Iterable[str]) -> Iterator[_Note]:
        """Notes the variables of a module or of a function's globals that some code names."""
        chosen = {name for name in names if (id(namespace), name) not in self._variables}
        self._variables |= {(id(namespace), name) for name in chosen}
        if chosen:
            yield _Variables(path, namespace, {name: namespace.get(name, MISSING) for name in sorted(chosen)})

    def enter_context(self) -> contextvars.Context | None:
        """Returns the context that the function is to run in, of its own if it reaches context variables."""
        if any(isinstance(note, _Context) for note in self._notes):
            self.context = contextvars.copy_context()
        return self.context

    def codes(self) -> Iterator[types.CodeType]:
        """Yields the code that the function may run."""
        for value in self._keep:
            if isinstance(value, types.FunctionType) and not is_librarys(value):
                pending = [value.__code__]
                while pending:
                    code = pending.pop()
                    yield code
                    pending += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]

    def functions(self) -> Iterator[tuple[Path, types.FunctionType]]:
        """Yields the functions that are not a library's, with their paths."""
        for value in self._keep:
            if isinstance(value, types.FunctionType) and not is_foreign(value.__module__):
                yield self.paths[id(value)], value

    def tells_types(self) -> bool:
        """Returns whether code may tell a symbol from a number, or what records `float` from `float`.

        That of this package knows of symbols.
        """
        users = [fn for _, fn in self.functions() if fn.__globals__.get("__name__", "").split(".")[0] != "jaxaot"]
        named = [code_names(fn.__code__) for fn in users]
        return any("type" in names.variables or "__class__" in names.attributes for names in named)

    def stand_in(self, path: Path, copy: dict[Any, Any] | list[Any] | deque[Any], original: object) -> None:
        """Notes a dict or list that the function is given in the place of one of the caller's."""
        self.paths[id(copy)] = path
        self._originals[id(copy)] = id(original)
        self._keep.append(copy)
        kind = _Items if isinstance(copy, dict) else _Deque if isinstance(copy, deque) else _List
        note = kind(path, copy, dict(copy) if isinstance(copy, dict) else list(copy))
        number = next((i for i, other in enumerate(self._notes) if other.value is original), len(self._notes))
        self._notes.insert(number, note)

    def containers(self) -> dict[int, Path]:
        """Returns the path to each list and dict, and to each copy of one, where one path alone leads to it."""
        kinds = [value for value in self._keep if isinstance(value, (dict, list, deque))]
        found = {id(value): self.paths[id(value)] for value in kinds if id(value) in self.paths}
        return {i: path for i, path in found.items() if self._originals.get(i, i) not in self.repeats}

    def put_symbol(self, holder: Any, key: object, symbol: object) -> None:
        """Puts what stands for an array into a dict or list that was noted; it is no change."""
        self.symbols[id(holder), key] = symbol
        holder[key] = symbol

    def put_number(self, roots: Iterable[tuple[Path, Any]], path: Path, symbol: object) -> None:
        """Puts what stands for a number into the place that a path leads to; it is no change."""
        outer = follow(roots, path[:-1])
        if isinstance(outer, tuple):
            i = path[-1][1]
            self.put_number(roots, path[:-1], (*outer[:i], symbol, *outer[i + 1 :]))
            return
        was = follow(roots, path)
        holder, key, put = _place_of(outer, *path[-1])
        put(symbol)
        self.symbols[id(holder), key] = symbol
        self._put.append((functools.partial(follow, roots, path), symbol, functools.partial(put, was)))

    def put_recording(self, is_silent: bool) -> None:
        """Puts what records arithmetic, and what prints nothing, into global variables; it is no change."""
        for value in list(self._keep):
            if not isinstance(value, types.FunctionType) or is_librarys(value):
                continue
            namespace = value.__globals__
            for name in variables_of(value.__code__):
                was = namespace.get(name, MISSING)
                found = getattr(builtins, name, None) if was is MISSING else was
                stand_in = recording(found, is_silent)
                if isinstance(found, type) and name not in code_names(value.__code__).called:
                    continue  # it is only compared, or says a dtype
                if stand_in is not None and stand_in is not was:
                    self.symbols[id(namespace), name] = namespace[name] = stand_in
                    put = (
                        functools.partial(namespace.pop, name)
                        if was is MISSING
                        else functools.partial(namespace.__setitem__, name, was)
                    )
                    self._put.append((functools.partial(namespace.get, name), stand_in, put))

    def expect(self, holder: object, key: object, was: object) -> Any:
        """Returns what a place holds as long as nobody changes it."""
        return self.symbols.get((id(holder), key), was)

    def writes(self, give: Give) -> list[WorldWrite]:
        """Returns what was changed.

        Args:
          give: Takes an object and the place where it was put to what a later call puts there.
        """
        found: list[WorldWrite] = []
        for note in self._notes:
            of_one = list(note.writes(self, give))
            found += of_one
            if of_one and id(note.value) in self._originals:
                self.written.add(self._originals[id(note.value)])
        return found

    def guards(
        self,
        roots: Sequence[tuple[Path, Any]],
        plan: WorldPlan,
        python: Sequence[PythonGuard],
        inputs: Iterable[Path] = (),
    ) -> Iterator[PythonGuard]:
        """Yields the guards that what is written to is of the same type, and is what no other path leads to.

        Args:
          roots: Where paths start.
          plan: What is done.
          python: The guards on what the function may have read.
          inputs: Where the tensors and arrays are found that it read.
        """
        holders: dict[Path, Any] = {}
        typed = {guard.path for guard in python if isinstance(guard.condition, HasType)}
        for write in plan.writes:
            path = path_of(write)
            if path is not None and path not in holders and path[-1][1] not in _WITHIN and len(path) > 1:
                holders[path] = value = follow(roots, path)
                if path not in typed and not isinstance(value, (type, types.CellType)):
                    yield PythonGuard(path, HasType(type(value)))
                if isinstance(value, (list, deque)) and not is_growth(write):
                    yield PythonGuard(path, HasLength(len(value)))
        put = {value.path: follow(roots, value.path) for value in plan.values if isinstance(value, OutsideObject)}
        for path, value in {**holders, **put}.items():  # the function may have found it elsewhere
            for other in self.repeats.get(id(value), ()):
                if other != path:
                    yield PythonGuard(other, IsAlsoAt(path))
        # what is read of another object would be what is written to this one, if the two were one
        read = dict.fromkeys((*(guard.path[:-1] for guard in python), *(path[:-1] for path in inputs)))
        others = [(path, follow(roots, path)) for path in read if len(path) > 1 and path not in holders]
        of_class: dict[type, dict[int, Path]] = {}
        for path, value in holders.items():
            of_class.setdefault(type(value), {}).setdefault(id(value), path)
        for cls, written in of_class.items():
            found = {id(value): path for path, value in reversed(others) if type(value) is cls} | written
            if len(written) * len(found) > _MANY_PAIRS:
                yield PythonGuard(next(iter(written.values())), AreDistinct(tuple(found.values())))
                continue
            for i, path in enumerate(written.values()):
                later = (*list(written.values())[i + 1 :], *(p for n, p in found.items() if n not in written))
                yield from (PythonGuard(path, AreDistinct((path, other))) for other in later)

    def put_back(self) -> bool:
        """Puts everything back, and returns whether anything was changed."""
        is_changed = sum([note.put_back() for note in self._notes]) > 0
        for held, symbol, put in reversed(self._put):  # also into what is not noted, such as a library's object
            with contextlib.suppress(AttributeError, LookupError, TypeError, ValueError):
                if held() is symbol:
                    put()
        return is_changed


def _place_of(holder: Any, kind: str, key: Any) -> tuple[Any, Any, Callable[[Any], None]]:
    """Returns what a step from an object leads to, as an object and a key, and what puts something there."""
    if kind == "closure":
        cell = holder.__closure__[key[0]]
        return cell, None, functools.partial(setattr, cell, "cell_contents")
    if kind in ("key", "item"):
        key = key() if kind == "key" else key
        cls = list if isinstance(holder, list) else dict
        return holder, key, functools.partial(cls.__setitem__, holder, key)
    attributes = holder.__globals__ if kind == "global" else getattr(holder, "__dict__", {})
    if key in attributes:
        return attributes, key, functools.partial(dict.__setitem__, attributes, key)
    return holder, key, functools.partial(object.__setattr__, holder, key)


@immutable(eq=False)
class _Note:
    """How something was.

    Attributes:
      path: Leads to it.
      value: Itself.
      before: What it held.
    """

    path: Path
    value: Any
    before: Any

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        """Yields what was changed."""
        raise NotImplementedError

    def put_back(self) -> bool:
        """Puts it back, and returns whether it was changed."""
        raise NotImplementedError


def _is_one_by_one(before: Iterable[Any], now: Iterable[Any]) -> bool:
    before, now = list(before), list(now)
    return len(before) == len(now) and all(a is b for a, b in zip(before, now, strict=True))


def _is_as_before(before: Mapping[Any, Any], now: Mapping[Any, Any]) -> bool:
    return _is_one_by_one(before, now) and _is_one_by_one(before.values(), now.values())


class _Items(_Note):
    """A dict."""

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        before, now = self.before, self.value
        expected = {key: world.expect(now, key, was) for key, was in before.items()}
        if _is_as_before(expected, now):
            return
        place = lambda key: (*self.path, ("item", key))
        kept = [key for key in before if key in now]
        cls = OrderedDict if isinstance(now, OrderedDict) else dict
        if not _is_one_by_one(kept, list(now)[: len(kept)]):  # another order
            items = tuple(give(item, place(key)) for key, item in now.items())
            yield RefillWrite(self.path, tuple(give(key, self.path) for key in now), items)
            return
        for key in before:
            if key not in now:
                yield ItemWrite(self.path, give(key, self.path), None, cls)
        for key, item in now.items():
            if not is_same(item, expected.get(key, MISSING)):
                yield ItemWrite(self.path, give(key, self.path), give(item, place(key)), cls)

    def put_back(self) -> bool:
        if _is_as_before(self.before, self.value):
            return False
        cls = OrderedDict if isinstance(self.value, OrderedDict) else dict  # past methods of a class of the user's
        cls.clear(self.value)
        cls.update(self.value, self.before)
        return True


class _Variables(_Note):
    """Global variables, of those that are named."""

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        for name, was in self.before.items():
            now = self.value.get(name, MISSING)
            if not is_same(now, world.expect(self.value, name, was)):
                world.replaced.add((id(self.value), name))
                value = None if now is MISSING else give(now, (*self.path[:-1], ("global", name)))
                yield ItemWrite(self.path, give(name, self.path), value)

    def put_back(self) -> bool:
        changed = {name: was for name, was in self.before.items() if self.value.get(name, MISSING) is not was}
        for name, was in changed.items():
            if was is MISSING:
                del self.value[name]
            else:
                self.value[name] = was
        return bool(changed)


class _Attributes(_Note):
    """An object, by its attributes."""

    _set: Any = staticmethod(object.__setattr__)
    _delete: Any = staticmethod(object.__delattr__)

    def now(self) -> dict[str, Any]:
        return attributes_of(self.value)

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        now, holder, kind = self.now(), getattr(self.value, "__dict__", None), kind_of(self.value)
        is_of_class = isinstance(self.value, type)
        for name in self.before:
            if name not in now:
                world.replaced.add((id(self.value), name))
                yield AttributeWrite(self.path, name, None, is_of_class)
        for name, item in now.items():
            if kind is not None and kind.is_hidden(name) and type(item).__eq__ is object.__eq__:
                continue  # a library's own notes on the object
            was = world.expect(holder, name, self.before.get(name, MISSING))
            if is_same(item, world.expect(self.value, name, was)):
                continue
            world.replaced.add((id(self.value), name))
            value = give(item, (*self.path, ("attr", name)))
            if not is_of_class and holder is not None and name in holder and is_managed(type(self.value), name):
                yield ItemWrite((*self.path, ("attr", "__dict__")), give(name, self.path), value)
            else:
                yield AttributeWrite(self.path, name, value, is_of_class)

    def put_back(self) -> bool:
        now = self.now()
        if _is_as_before(self.before, now):
            return False
        holder = None if isinstance(self.value, type) else getattr(self.value, "__dict__", None)
        for name in now.keys() - self.before.keys():
            if holder is not None and name in holder:
                del holder[name]
            else:
                self._delete(self.value, name)
        for name, was in self.before.items():
            if now.get(name, MISSING) is not was:
                if holder is not None and (name in holder or is_managed(type(self.value), name)):
                    holder[name] = was
                else:
                    self._set(self.value, name, was)
        if holder is not None and not _is_one_by_one(
            (name for name in self.before if name in holder), (name for name in holder if name in self.before)
        ):
            items = {name: holder[name] for name in self.before if name in holder}
            holder.clear()
            holder.update(items)
        return True


def _own_attributes(tensor: Any) -> dict[str, Any]:
    """Returns the attributes of users' own; of a tensor that is made of inner tensors those of its class too."""
    has_layout = is_wrapper(tensor) and type(tensor)._layout is Tensor._layout  # else it is that of an inner tensor
    return {**vars(tensor), **({"_layout": tensor._layout} if has_layout else {})}


class _Tensor(_Attributes):
    """A tensor, by its attributes."""

    def now(self) -> dict[str, Any]:
        return _own_attributes(self.value)


class _Class(_Attributes):
    """A class, by its attributes."""

    _set = staticmethod(type.__setattr__)
    _delete = staticmethod(type.__delattr__)

    def now(self) -> dict[str, Any]:
        return _members(self.value)


def _members(cls: type) -> dict[str, Any]:
    return {name: member for name, member in vars(cls).items() if name != _FIELDS}


class _List(_Note):
    """A list."""

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        now = list(self.value)
        expected = [world.expect(self.value, i, was) for i, was in enumerate(self.before)]
        n = min(len(now), len(expected))
        first = next((i for i in range(n) if not is_same(now[i], expected[i])), n)
        if first == len(now) == len(expected):
            return
        last = next((i for i in range(n - first) if not is_same(now[-1 - i], expected[-1 - i])), n - first)
        items = tuple(
            give(item, (*self.path, ("item", i))) for i, item in enumerate(now[first : len(now) - last], first)
        )
        if first == len(expected):
            yield SliceWrite(self.path, None, None, items)  # at the end, however long it is
        else:
            yield SliceWrite(self.path, first, -last if last else None, items)

    def put_back(self) -> bool:
        if _is_one_by_one(self.before, self.value):
            return False
        list.__setitem__(self.value, slice(None), self.before)
        return True


class _Deque(_Note):
    """A deque."""

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        now, before, limit = list(self.value), self.before, self.value.maxlen
        if len(now) == len(before) and all(map(is_same, now, before)):
            return
        for n_new in range(1, len(now) + 1):
            for new, is_left in ((now[-n_new:], False), (now[:n_new], True)):
                grown = [*new, *before][:limit] if is_left else [*before, *new]
                grown = grown if limit is None or is_left else grown[-limit:]
                if len(grown) == len(now) and all(map(is_same, now, grown)):
                    first = 0 if is_left else len(now) - n_new
                    items = tuple(give(item, (*self.path, ("item", first + i))) for i, item in enumerate(new))
                    yield DequeWrite(self.path, items, limit, "left" if is_left else "right")
                    return
        items = tuple(give(item, (*self.path, ("item", i))) for i, item in enumerate(now))
        yield DequeWrite(self.path, items, limit, None)

    def put_back(self) -> bool:
        if _is_one_by_one(self.before, self.value):
            return False
        deque.__init__(self.value, self.before, self.value.maxlen)
        return True


class _Members(_Note):
    """A set."""

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        if self.value != self.before:
            added, lost = self.value - self.before, self.before - self.value
            give_all = lambda members: tuple(give(member, self.path) for member in members)
            yield MembersWrite(self.path, give_all(added), give_all(lost))

    def put_back(self) -> bool:
        if self.value == self.before:
            return False
        set.clear(self.value)
        set.update(self.value, self.before)
        return True


class _Content(_Note):
    """A NumPy array."""

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        if self.value.tobytes() != self.before.tobytes():
            yield ContentWrite(self.path, self.value.copy())

    def put_back(self) -> bool:
        if self.value.tobytes() == self.before.tobytes():
            return False
        self.value[...] = self.before
        return True


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


class _Cell(_Note):
    """A variable of a closure."""

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        now = _content(self.value)
        if not is_same(now, world.expect(self.value, None, self.before)):
            fn, (_, (i, _)) = self.path[:-1], self.path[-1]
            value = None if now is MISSING else give(now, self.path)
            yield AttributeWrite((*fn, ("attr", "__closure__"), ("item", i)), "cell_contents", value)

    def put_back(self) -> bool:
        if _content(self.value) is self.before:
            return False
        if self.before is MISSING:
            del self.value.cell_contents
        else:
            self.value.cell_contents = self.before
        return True


class _Context(_Note):
    """A context variable, which is set in a context of the trace's own."""

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        now = self.before if world.context is None else world.context.get(self.value, MISSING)
        if not is_same(now, self.before):
            yield ContextWrite(self.path, give(now, (*self.path, ("context", None))))

    def put_back(self) -> bool:
        return False
