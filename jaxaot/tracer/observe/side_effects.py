"""Python's world around a traced function: how it was before, what the function did to it, and how it is put back.

Before a trace every mutable thing that the function can reach is *noted*: attributes, items of dicts, lists, deques and
sets, cells of closures, global variables, NumPy arrays, context variables. After the trace each is compared with its
note. The differences become the writes of the plan, which every call carries out, also the first; so everything is put
back when the trace ends. Things are told apart by identity, and a trace keeps them alive no longer than it runs.
"""

from __future__ import annotations

import array
import builtins
import contextlib
import contextvars
import functools
import inspect
import threading
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from jaxaot._immutable import immutable
from jaxaot._trees import is_node
from jaxaot.facade.cells.cells import attributes_of, dict_of, is_managed, kind_of, members_of
from jaxaot.facade.indexing.symbolic_math import recording
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import is_wrapper
from jaxaot.plan.guards import HasLength, HasType, IsAlsoAt, IsThere, PythonGuard
from jaxaot.plan.members import AreDistinct
from jaxaot.plan.paths import Path, follow
from jaxaot.plan.world import (
    AttributeWrite,
    BuiltConstant,
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
from jaxaot.tracer.observe.boundary import is_librarys
from jaxaot.tracer.observe.code_names import code_names, variables_of
from jaxaot.tracer.observe.containers import is_a
from jaxaot.tracer.observe.noting import MISSING

_MAX_BYTES = 2**20
"""Of a larger NumPy array no copy is kept."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_NAMESPACES = (types.SimpleNamespace, threading.local)
_WITHIN = ("__globals__", "__dict__")
"""Steps to what belongs to an object and is guarded with it."""
_UNWATCHED = {
    "__dataclass_fields__", "__getattribute__", "__setattr__", "__delattr__", "__dict__", "__weakref__",
}  # fmt: skip
"""Of `dataclasses`, whose fields flax takes out and puts back while it derives a class; of the observer; of Python."""
_MANY_PAIRS = 16
"""More than so many pairs of objects are told apart all at once."""

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
      changed: Ids of the objects that were changed.
      replaced: `(id of an object or namespace, name)` of each attribute and variable that was set or deleted.
      context: Where the function runs; None if it reaches no context variable.
    """

    def __init__(self) -> None:
        """Knows nothing yet."""
        self.paths: dict[int, Path] = {}
        self.wrappers: dict[int, Path] = {}
        self.repeats: dict[int, list[Path]] = {}
        self.symbols: dict[tuple[int, Any], Any] = {}
        self.written: set[int] = set()
        self.changed: set[int] = set()
        self.replaced: set[tuple[int, str]] = set()
        self.context = contextvars.copy_context()
        self._notes: list[_Note] = []
        self._put: list[tuple[Callable[[], Any], object, Callable[[], None]]] = []
        self._keep: list[Any] = []  # so that ids stay those of what was reached
        self._originals: dict[int, int] = {}
        self._variables: dict[tuple[int, str], Any] = {}
        self._cells: dict[int, _Cell] = {}
        self._early: dict[int, _Note] = {}

    def add(self, path: Path, value: Any) -> None:
        """Notes the path to an object, and how it is if it is a container, an array, a tensor or a variable."""
        self.paths[id(value)] = path
        self._keep.append(value)
        if is_a(value, np.ndarray):
            if value.nbytes <= _MAX_BYTES and value.flags.writeable and not value.dtype.hasobject:
                self._notes.append(_Content(path, value, value.copy()))
        elif is_a(value, dict):
            self._notes.append(_Items(path, value, _items(value)))
        elif is_a(value, list):
            self._notes.append(_List(path, value, [*list.__iter__(value)]))
        elif is_a(value, deque):
            self._notes.append(_Deque(path, value, [*deque.__iter__(value)]))
        elif is_a(value, set):
            self._notes.append(_Members(path, value, {*set.__iter__(value)}))
        elif is_a(value, (bytearray, array.array)):
            self._notes.append(_Bytes(path, value, value[:]))
        elif is_a(value, contextvars.ContextVar):
            self._notes.append(_Context(path, value, value.get(MISSING)))
        elif is_a(value, Tensor):
            if is_wrapper(value):
                self.wrappers[id(value)] = path
            self._notes.append(_Tensor(path, value, _own_attributes(value)))
        elif is_a(value, types.FunctionType) and not is_librarys(value):
            self._notes.append(_Items((*path, ("attr", "__dict__")), vars(value), dict(vars(value))))

    def repeat(self, path: Path, value: Any) -> None:
        """Notes another path to an object."""
        if id(value) in self._early:  # what stands for another is noted in the place where that would be
            note = self._early.pop(id(value))
            self._notes.remove(note)
            self._notes.append(note)
        if path != self.paths[id(value)] and not is_a(value, (type, types.ModuleType, types.FunctionType)):
            paths = self.repeats.setdefault(id(value), [])
            if path not in paths:
                paths.append(path)

    def add_attributes(self, path: Path, value: Any, before: dict[str, Any]) -> None:
        """Notes the attributes of an object."""
        self._notes.append(_Attributes(path, value, {**before, "__class__": type(value)}))

    def add_class(self, path: Path, cls: type) -> None:
        """Notes the attributes of a class."""
        self._notes.append(_Class(path, cls, _members(cls)))

    def add_cell(self, path: Path, cell: types.CellType) -> Any:
        """Notes a variable of a closure, and returns what it held; MISSING if it is not filled."""
        known = self._cells.get(id(cell))
        if known is None:
            known = self._cells[id(cell)] = _Cell(path, cell, content_of(cell))
            fn, (_, (i, _)) = path[:-1], path[-1]
            self.paths[id(cell)] = (*fn, ("attr", "__closure__"), ("item", i))
            self._keep.append(cell)
            self._notes.append(known)
        return known.before

    def add_variables(self, path: Path, namespace: dict[str, Any], names: Iterable[str]) -> None:
        """Notes the variables of a module or of a function's globals that some code names."""
        chosen = {name: namespace.get(name, MISSING) for name in names if (id(namespace), name) not in self._variables}
        self._variables |= {(id(namespace), name): was for name, was in chosen.items()}
        if chosen:
            self._notes.append(_Variables(path, namespace, chosen))

    def variable(self, namespace: dict[str, Any], name: str) -> Any:
        """Returns what a variable that was noted held; MISSING if there was none."""
        return self._variables.get((id(namespace), name), MISSING)

    def stand_in(self, path: Path, copy: dict[Any, Any] | list[Any] | deque[Any], original: object) -> None:
        """Notes a dict or list that the function is given in the place of one of the caller's."""
        self.paths[id(copy)] = path
        self._originals[id(copy)] = id(original)
        self._keep.append(copy)
        kind = _Items if isinstance(copy, dict) else _Deque if isinstance(copy, deque) else _List
        note = kind(path, copy, dict(copy) if isinstance(copy, dict) else list(copy))
        number = next((i for i, other in enumerate(self._notes) if other.value is original), len(self._notes))
        self._notes.insert(number, note)
        self._early[id(copy)] = note

    def single(self) -> tuple[dict[int, Path], ...]:
        """Returns the paths to what has leaves, and to other objects, where one path leads to it or it was changed."""
        is_one = lambda i: i in self.paths and (i in self.changed or self._originals.get(i, i) not in self.repeats)
        objects = [note.value for note in self._notes if type(note) is _Attributes]
        others = [value for value in objects if not is_node(value)]
        trees = [value for value in self._keep if is_a(value, (dict, list, deque, set))] + [*filter(is_node, objects)]
        return tuple({i: self.paths[i] for i in map(id, kind) if is_one(i)} for kind in (trees, others))

    def put_symbol(self, holder: Any, key: object, symbol: object) -> None:
        """Puts what stands for an array into a dict or list that was noted; it is no change."""
        self.symbols[id(holder), key] = symbol
        holder[key] = symbol

    def put_number(self, roots: Iterable[tuple[Path, Any]], path: Path, symbol: object) -> None:
        """Puts what stands for a number into the place that a path leads to; it is no change."""
        outer = follow(roots, path[:-1])
        if is_a(outer, tuple):
            i = path[-1][1]
            self.put_number(roots, path[:-1], (*outer[:i], symbol, *outer[i + 1 :]))
            return
        was = follow(roots, path)
        is_own = path[-1][0] != "attr" or not is_of_class(outer, path[-1][1])
        holder, key, put = _place_of(outer, *path[-1])
        put(symbol)
        self.symbols[id(holder), key] = symbol
        undo = functools.partial(put, was) if is_own else functools.partial(object.__delattr__, outer, path[-1][1])
        self._put.append((functools.partial(follow, roots, path), symbol, undo))

    def put_recording(self, code: types.CodeType, frame: types.FrameType, is_silent: bool) -> None:
        """Puts what records arithmetic, and what prints nothing, where code finds functions; it is no change."""
        namespace = frame.f_globals
        for name in variables_of(code):
            was = namespace.get(name, MISSING)
            found = getattr(builtins, name, None) if was is MISSING else was
            stand_in = recording(found, is_silent)
            if is_a(found, type) and name not in code_names(code).called:
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
            if of_one:
                self.changed.add(id(note.value))
                self.written.add(self._originals.get(id(note.value), 0))
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
                if path not in typed and not is_a(value, (type, types.CellType)):
                    yield PythonGuard(path, HasType(type(value)))
                if is_a(value, (list, deque)) and not is_growth(write):
                    yield PythonGuard(path, HasLength(len(value)))
        for write in plan.writes:  # what is taken away has to be there
            if isinstance(write, AttributeWrite) and write.value is None and write.name != "cell_contents":
                yield PythonGuard(write.path, IsThere(write.name, False))
            elif isinstance(write, ItemWrite) and write.value is None and isinstance(write.key, BuiltConstant):
                yield PythonGuard(write.path, IsThere(write.key.value, True))
        put = {value.path: follow(roots, value.path) for value in plan.values if is_a(value, OutsideObject)}
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

    def is_changed(self) -> bool:
        """Returns whether anything that was reached is not as it was."""
        return bool(self.writes(lambda value, place: BuiltConstant(value)))

    def put_back(self) -> None:
        """Puts everything back."""
        for note in self._notes:
            note.put_back()
        for held, symbol, put in reversed(self._put):  # also into what is not noted, such as a library's object
            with contextlib.suppress(AttributeError, LookupError, TypeError, ValueError):
                if held() is symbol:
                    put()


def is_of_class(value: Any, name: str) -> bool:
    """Returns whether an attribute is found in the class of an object, which does not compute it."""
    if name in attributes_of(value) or is_a(value, (type, types.ModuleType)):
        return False
    return not is_managed(type(value), name) and not hasattr(type(inspect.getattr_static(value, name, None)), "__set__")


def _place_of(holder: Any, kind: str, key: Any) -> tuple[Any, Any, Callable[[Any], None]]:
    """Returns what a step from an object leads to, as an object and a key, and what puts something there."""
    if kind == "closure":
        cell = holder.__closure__[key[0]]
        return cell, None, functools.partial(setattr, cell, "cell_contents")
    if kind in ("key", "item"):
        key = key() if kind == "key" else key
        cls = list if is_a(holder, list) else dict
        return holder, key, functools.partial(cls.__setitem__, holder, key)
    if kind == "attr" and is_a(holder, type):
        return holder, key, functools.partial(type.__setattr__, holder, key)
    attributes = holder.__globals__ if kind == "global" else (dict_of(holder) or {})
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


def _items(value: dict[Any, Any]) -> dict[Any, Any]:
    """Returns the items of a dict; no code of its class runs."""
    base: Any = OrderedDict if is_a(value, OrderedDict) else dict
    return dict(base.items(value))


class _Items(_Note):
    """A dict."""

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        before, now = self.before, _items(self.value)
        expected = {key: world.expect(self.value, key, was) for key, was in self.before.items()}
        if _is_as_before(expected, now):
            return
        place = lambda key: (*self.path, ("item", key))
        kept = [key for key in before if key in now]
        cls = OrderedDict if is_a(self.value, OrderedDict) else dict
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
        if _is_as_before(self.before, _items(self.value)):
            return False
        cls = OrderedDict if is_a(self.value, OrderedDict) else dict  # past methods of a class of the user's
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
    """An object, by its attributes and its class."""

    _set: Any = staticmethod(object.__setattr__)
    _delete: Any = staticmethod(object.__delattr__)

    def now(self) -> dict[str, Any]:
        return {**attributes_of(self.value), "__class__": type(self.value)}

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        now, holder, kind = self.now(), dict_of(self.value), kind_of(self.value)
        is_of_class = is_a(self.value, type)
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
            is_own = is_managed(type(self.value), name) or is_a(self.value, threading.local)
            if not is_of_class and holder is not None and name in holder and is_own:
                yield ItemWrite((*self.path, ("attr", "__dict__")), give(name, self.path), value)
            else:
                yield AttributeWrite(self.path, name, value, is_of_class)

    def put_back(self) -> bool:
        now = self.now()
        if _is_as_before(self.before, now):
            return False
        holder = None if is_a(self.value, type) else dict_of(self.value)
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
    return {name: member for name, member in members_of(cls).items() if name not in _UNWATCHED}


class _List(_Note):
    """A list."""

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        now = [*list.__iter__(self.value)]
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
        if _is_one_by_one(self.before, list.__iter__(self.value)):
            return False
        list.__setitem__(self.value, slice(None), self.before)
        return True


class _Deque(_Note):
    """A deque."""

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        now, before, limit = [*deque.__iter__(self.value)], self.before, self.value.maxlen
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
        if _is_one_by_one(self.before, deque.__iter__(self.value)):
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


class _Bytes(_Note):
    """A `bytearray` or an array of Python's."""

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        if self.value[:] != self.before:
            yield ContentWrite(self.path, self.value[:])

    def put_back(self) -> bool:
        if self.value[:] == self.before:
            return False
        self.value[:] = self.before
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


def content_of(cell: types.CellType) -> Any:
    """Returns what a variable of a closure holds; MISSING if it is not filled."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


class _Cell(_Note):
    """A variable of a closure."""

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        now = content_of(self.value)
        if not is_same(now, world.expect(self.value, None, self.before)):
            fn, (_, (i, _)) = self.path[:-1], self.path[-1]
            value = None if now is MISSING else give(now, self.path)
            world.replaced.add((id(self.value), "cell_contents"))
            yield AttributeWrite((*fn, ("attr", "__closure__"), ("item", i)), "cell_contents", value)

    def put_back(self) -> bool:
        if content_of(self.value) is self.before:
            return False
        if self.before is MISSING:
            del self.value.cell_contents
        else:
            self.value.cell_contents = self.before
        return True


class _Context(_Note):
    """A context variable, which is set in a context of the trace's own."""

    def writes(self, world: SideEffects, give: Give) -> Iterator[WorldWrite]:
        now = world.context.get(self.value, MISSING)
        if not is_same(now, self.before):
            yield ContextWrite(self.path, give(now, (*self.path, ("context", None))))

    def put_back(self) -> bool:
        return False
