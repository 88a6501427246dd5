"""Sees what the code of a traced function loads while it runs, for the proof that the guards imply it.

Guards are made of what code *names*. What it *loads* is another matter, seen by watching its instructions: a *chain* is
a run of them that loads a variable, an attribute of it, an item of that. It is evaluated beside the code, without
calling any of the user's. Loads of other forms, such as those of library code, are not seen.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
import threading
import types
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from jaxaot import _trees as pytree
from jaxaot.facade.cells.cells import attributes_of, kind_of
from jaxaot.facade.marks.assumed import is_assumed_constant
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.trace_state import TraceState
from jaxaot.plan.facts import (
    AreApart,
    AreOne,
    CountsItems,
    Event,
    Fact,
    LoadsValue,
    ReadsNumber,
    ShareMemory,
    ShareNoMemory,
)
from jaxaot.plan.paths import Path, follow
from jaxaot.plan.world import WorldPlan, path_of
from jaxaot.tracer.numbers.predictions import place_of
from jaxaot.tracer.observe.boundary import is_foreign, is_foreign_class, is_users
from jaxaot.tracer.observe.containers import MAX
from jaxaot.tracer.observe.noting import original
from jaxaot.tracer.observe.observer import Observer

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_CONTAINERS = (list, dict, deque, set)
_LOCALS = {
    "LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
    "STORE_FAST_LOAD_FAST",
}  # fmt: skip
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}
_CONSTANTS = {"LOAD_CONST", "LOAD_SMALL_INT"}
_IGNORED = {"EXTENDED_ARG", "CACHE", "NOP", "NOT_TAKEN"}
_TOOLS = (3, 4)
"""Numbers that `sys.monitoring` leaves to anyone."""


class _Chain(NamedTuple):
    """What an instruction loads.

    Attributes:
      root: `"local"`, `"global"` or `"closure"`.
      name: The variable.
      steps: From it: `("attr", name)` and `("item", key)`.
      is_counted: Whether the length of what is loaded is asked for.
    """

    root: str
    name: str
    steps: tuple[tuple[str, Any], ...]
    is_counted: bool = False


@functools.lru_cache(maxsize=4096)
def _chains(code: types.CodeType) -> dict[int, _Chain]:
    """Returns the chains of a piece of code by the offsets of their last instructions."""
    found: dict[int, _Chain] = {}
    lines = [line for line in dis.get_instructions(code) if line.opname not in _IGNORED]
    chain, key, is_len = None, None, False
    for line, after in zip(lines, [*lines[1:], None], strict=True):
        name, kind = line.argval, line.opname
        starts = None
        if kind in _LOCALS:
            starts = _Chain("local", name[-1] if isinstance(name, tuple) else name, ())
        elif kind == "LOAD_GLOBAL":
            starts = _Chain("global", name, ())
        elif kind == "LOAD_DEREF":
            starts = _Chain("closure" if name in code.co_freevars else "local", name, ())
        if starts is not None:
            is_len = chain == _Chain("global", "len", ())
            chain, key = starts, None
        elif kind in _ATTRIBUTES and chain is not None and key is None:
            chain = chain._replace(steps=(*chain.steps, ("attr", name)))
        elif kind in _CONSTANTS and chain is not None and key is None:
            key = (name,)
            continue
        elif chain is not None and key is not None and (kind == "BINARY_SUBSCR" or line.argrepr == "[]"):
            chain, key = chain._replace(steps=(*chain.steps, ("item", key[0]))), None
        elif kind == "PUSH_NULL":
            continue
        else:
            chain = key = None
            continue
        is_call = after is not None and after.opname in ("CALL", "PRECALL") and after.arg == 1
        is_counted = (is_len and is_call) or (after is not None and after.opname == "GET_ITER")
        found[line.offset] = chain._replace(is_counted=is_counted)
    return found


class _Load(NamedTuple):
    """One load.

    Attributes:
      path: Where what was loaded was found, by the path that the code took as far as that is known.
      holder: The object that holds it; None for a variable.
      value: What was loaded.
      is_counted: Whether its length was asked for.
    """

    path: Path
    holder: Any
    value: Any
    is_counted: bool


class Loads:
    """Watches, inside a `with` block and on this thread, what the code that a function may run loads."""

    def __init__(self, observer: Observer, events: list[tuple[Any, str]]):
        """Watches for a trace.

        Args:
          observer: Sees which code runs, and what it reaches.
          events: Where loads are noted.
        """
        self._observer = observer
        self._events = events
        self._thread = threading.get_ident()
        self._seen: set[Any] = set()
        self._met: dict[int, tuple[Path, Any]] = {}
        self._tool: int | None = None
        self._codes: set[types.CodeType] = set()

    def __enter__(self) -> Loads:
        if sys.version_info >= (3, 12):
            watching = sys.monitoring
            self._tool = next((n for n in _TOOLS if watching.get_tool(n) is None), None)
            if self._tool is not None:
                watching.use_tool_id(self._tool, "jaxaot loads")
                watching.register_callback(self._tool, watching.events.INSTRUCTION, self._instruction)
                self._observer.on_code.append(self._started)
        elif sys.gettrace() is None:
            self._tool = -1
            sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        if self._tool is None:
            return
        if sys.version_info >= (3, 12):
            watching = sys.monitoring
            for code in self._codes:
                watching.set_local_events(self._tool, code, 0)
            watching.register_callback(self._tool, watching.events.INSTRUCTION, None)
            watching.free_tool_id(self._tool)
        else:
            sys.settrace(None)

    if sys.version_info >= (3, 12):

        def _started(self, code: types.CodeType, _: types.FrameType) -> None:
            self._codes.add(code)
            sys.monitoring.set_local_events(cast(int, self._tool), code, sys.monitoring.events.INSTRUCTION)

    def _instruction(self, code: types.CodeType, offset: int) -> Any:
        if threading.get_ident() == self._thread and offset in _chains(code):
            self._see(sys._getframe(1), code, offset)

    def _trace(self, frame: types.FrameType, event: str, _: object) -> Any:
        if not is_users(frame.f_code.co_filename):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_lasti in _chains(frame.f_code):
            self._see(frame, frame.f_code, frame.f_lasti)
        return self._trace

    def _see(self, frame: types.FrameType, code: types.CodeType, offset: int) -> None:
        load = self._load(frame, code, _chains(code)[offset])
        if load is None:
            return
        if type(load.value) not in _PLAIN:
            self._met.setdefault(id(load.value), (load.path, load.value))
            if not _is_told_apart(load.value):
                return
        key = load.path, id(load.value), load.is_counted
        if key not in self._seen:
            self._seen.add(key)
            self._events.append((load, f"{code.co_filename}:{frame.f_lineno}"))

    def _load(self, frame: types.FrameType, code: types.CodeType, chain: _Chain) -> _Load | None:
        """Returns what a chain is about to load; None if that is not known, or no place outside of the function."""
        path, holder, name = None, None, chain.name
        if chain.root == "global":
            value = frame.f_globals.get(name, _UNKNOWN)
            space = self._observer.spaces.get(id(frame.f_globals))
            path = None if space is None else (*space.path, ("global", name))
        else:
            value = frame.f_locals.get(name, _UNKNOWN)
            functions = self._observer.functions.get(code, ())
            if chain.root == "closure" and len(functions) == 1:
                path = (*functions[0].path, ("closure", (code.co_freevars.index(name), name)))
        for kind, key in chain.steps:
            if value is _UNKNOWN:
                return None
            holder = value
            path = self._path_to(holder) if path is None else path
            value = _attribute(holder, key) if kind == "attr" else _item(holder, key)
            if kind == "item" and type(holder) in (list, tuple) and key < 0:
                key += len(holder)
            is_known = path is not None and _is_known(holder)
            path = (*path, (kind, key)) if path is not None and is_known else None
        if path is None or value is _UNKNOWN:
            return None
        return _Load(path, holder, value, chain.is_counted)

    def _path_to(self, value: Any) -> Path | None:
        """Returns the path by which code met an object; before it did, that by which it was reached."""
        if id(value) in self._met:
            return self._met[id(value)][0]
        return self._observer.world.paths.get(id(value))


_UNKNOWN: Any = object()


def _attribute(value: Any, name: str) -> Any:
    """Returns an attribute that is looked up without running code."""
    cls = type(value)
    if isinstance(value, types.ModuleType):
        return vars(value).get(name, _UNKNOWN)
    plain = (object.__getattribute__, type.__getattribute__, types.SimpleNamespace.__getattribute__)
    if original(cls) not in plain:
        return _UNKNOWN
    found = inspect.getattr_static(value, name, _UNKNOWN)
    if isinstance(found, types.MemberDescriptorType):
        return attributes_of(value).get(name, _UNKNOWN)
    return _UNKNOWN if hasattr(type(found), "__get__") else found


def _item(value: Any, key: Any) -> Any:
    if type(value) is dict:
        return value.get(key, _UNKNOWN)
    if type(value) in (list, tuple) and type(key) is int and -len(value) <= key < len(value):
        return value[key]
    return _UNKNOWN


def _is_told_apart(value: Any) -> bool:
    """Returns whether it matters which object a value is: what can be written to."""
    cls = type(value)
    if isinstance(value, (type, types.ModuleType, types.FunctionType, types.MethodType)) or kind_of(value) is not None:
        return False
    return cls is Tensor or cls in _CONTAINERS or not is_foreign_class(cls)


def _is_known(holder: Any) -> bool:
    """Returns whether what an object holds is guarded where it is read: it is no library's."""
    if isinstance(holder, types.ModuleType):
        return not is_foreign(holder.__name__)
    if isinstance(holder, type):
        return not is_foreign_class(holder)
    if type(holder) in (*_CONTAINERS, tuple):
        return len(holder) <= MAX
    if pytree.is_node(holder):  # what is registered with jax is guarded by its tree
        return False
    is_plain = type(holder) in (types.SimpleNamespace, types.CellType)
    return (is_plain or not is_foreign_class(type(holder))) and kind_of(holder) is None


class Facts:
    """The facts of a trace that has ended, in the order in which they were met."""

    def __init__(self, starts: Sequence[tuple[Path, Any]], unread: frozenset[int]):
        """Makes facts of what a trace noted.

        Args:
          starts: Where the paths of the call start.
          unread: Ids of the lists that are added to and not read.
        """
        self._starts, self._unread = starts, unread
        self._symbolic: set[tuple[int, Any]] = set()
        self._first: dict[int, Path] = {}
        self._holders: dict[int, tuple[Path, Any, str]] = {}
        self._assumed: dict[Path, bool] = {}

    def events(
        self, trace: TraceState, paths: Mapping[int, Path], storage_number: Mapping[int, int], done: WorldPlan
    ) -> tuple[Event, ...]:
        """Returns the facts.

        Args:
          trace: The trace.
          paths: Id of each tensor from outside → the path by which it is found.
          storage_number: Id of each storage whose values were looked at → its number.
          done: What the function did to Python's objects.
        """
        if trace.events is None:
            return ()
        found: list[Event] = []
        tensors: list[tuple[Path, int | None]] = []
        facts = (what for what, _ in trace.events if isinstance(what, ReadsNumber))
        self._symbolic = {place_of(fact.path, self._starts) for fact in facts}
        for what, line in trace.events:
            if isinstance(what, Tensor) and id(what) in paths:
                path, storage = paths[id(what)], storage_number.get(id(trace.noted[id(what)][1]["_storage"]))
                found += [Event(fact, line) for fact in _of_tensor(path, storage, tensors)]
                tensors.append((path, storage))
            elif isinstance(what, _Load):
                found += [Event(fact, line) for fact in self._of_load(what, line)]
            elif not isinstance(what, Tensor):
                found.append(Event(what, line))
        return (*found, *self._of_writes(done))

    def _of_load(self, load: _Load, line: str) -> Iterator[Fact]:
        path = load.path
        if not self._was_there(load) or self._is_assumed(path):
            return
        if place_of(path, self._starts) in self._symbolic:  # where a symbol stood, any plain value is the function's
            return
        if load.holder is not None:
            self._holders.setdefault(id(load.holder), (path[:-1], load.holder, line))
        if type(load.value) in _PLAIN:
            yield LoadsValue(path, load.value)
            return
        if id(load.value) in self._unread:
            return
        first = self._first.setdefault(id(load.value), path)
        if first != path:
            yield AreOne(path, first)
        if load.is_counted and type(load.value) in (list, dict, deque) and len(load.value) <= MAX:
            yield CountsItems(path, len(load.value))

    def _was_there(self, load: _Load) -> bool:
        """Returns whether what was loaded was there before the trace, now that everything is put back."""
        try:
            return follow(self._starts, load.path) is load.value
        except (AttributeError, LookupError, TypeError, ValueError):
            return False

    def _is_assumed(self, path: Path) -> bool:
        """Returns whether some object on the way is one that the user vouched for."""
        if path not in self._assumed:
            steps = (path[:n] for n in range(1, len(path) + 1))
            self._assumed[path] = any(is_assumed_constant(follow(self._starts, step)) for step in steps)
        return self._assumed[path]

    def _of_writes(self, done: WorldPlan) -> Iterator[Event]:
        """Yields the facts that what was written to is not what else was read."""
        written: dict[int, Path] = {}
        for path in filter(None, map(path_of, done.writes)):
            if len(path) > 1 and path[-1][1] not in ("__globals__", "__dict__"):
                written.setdefault(id(follow(self._starts, path)), path)
        for number, path in written.items():
            cls = type(follow(self._starts, path))
            for other, holder, line in self._holders.values():
                if type(holder) is not cls or len(other) == 1 or cls is types.CellType:
                    continue
                if id(follow(self._starts, other)) != number:  # what holds it may stand for one of the caller's
                    yield Event(AreApart(other, (path,)), line)


def _of_tensor(path: Path, storage: int | None, before: Sequence[tuple[Path, int | None]]) -> Iterator[Fact]:
    """Yields what a trace relies on about a tensor, besides those before."""
    close = tuple(other for other, of_other in before if storage is None or of_other is None or storage == of_other)
    if close:
        yield AreApart(path, close)
    if storage is None:
        return
    first: dict[int, Path] = {}
    for other, of_other in before:
        if of_other is not None:
            first.setdefault(of_other, other)
    if storage in first:
        yield ShareMemory(path, first[storage])
    elif first:
        yield ShareNoMemory(path, tuple(first.values()))
