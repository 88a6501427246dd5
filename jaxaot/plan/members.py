"""Guards on the members of classes and modules, on large containers, and on which objects are one.

They are conditions like those of `guards.py`; each looks at many things at once, so that a call stays cheap.
"""

from __future__ import annotations

import array
import copy
import itertools
import logging
import operator
import os
import threading
import weakref
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from jaxaot._immutable import immutable
from jaxaot.plan.guards import Code, Condition, Names, differs, shown
from jaxaot.plan.paths import Path, function_behind


class SeenItems:
    """The items of a large container: plain values are compared as such, anything else by identity.

    It keeps no object alive that can be referred to weakly.
    """

    def __init__(self, items: Sequence[Any], is_plain: Callable[[Any], bool]):
        """Notes some items.

        Args:
          items: Themselves.
          is_plain: Whether an item is compared by value.
        """
        self._are_plain = all(map(is_plain, items))
        self._plain = [is_plain(item) for item in items]
        self._items: list[Any] = list(items) if self._are_plain else [*map(_reader, items)]

    def __len__(self) -> int:
        return len(self._items)

    def take(self, positions: Sequence[int]) -> SeenItems:
        """Returns some of the items."""
        taken = copy.copy(self)
        taken._plain = [self._plain[i] for i in positions]
        taken._items = [self._items[i] for i in positions]
        return taken

    def each(self, positions: Iterable[int]) -> Iterator[tuple[int, Any, bool]]:
        """Yields each of some positions with the item there, and whether it is compared by value."""
        for position, item, is_plain in zip(positions, self._items, self._plain, strict=True):
            yield position, item if self._are_plain else item(), is_plain

    def differ(self, items: Iterable[Any]) -> bool:
        """Returns whether items are others than these were; as many of them."""
        if self._are_plain:
            return any(map(operator.is_not, items, self._items)) and any(map(differs, items, self._items))
        if not any(map(operator.is_not, items, map(operator.call, self._items))):
            return False
        seen = map(operator.call, self._items)
        return any(
            a is not b and not (is_plain and not differs(a, b))
            for a, b, is_plain in zip(items, seen, self._plain, strict=False)
        )


def _reader(item: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(item)
    except TypeError:
        return itertools.repeat(item).__next__


@immutable
class HasItems(Condition):
    """All items of a large container at once.

    Attributes:
      seen: What they were.
      chosen: Positions of the items that `seen` is about; None for all.
      is_dict: Whether they are the values of a dict.
    """

    seen: SeenItems
    chosen: tuple[int, ...] | None = None
    is_dict: bool = False

    def without(self, positions: Container[int]) -> HasItems:
        """Returns the condition without the items at some positions."""
        chosen = range(len(self.seen)) if self.chosen is None else self.chosen
        kept = [i for i, position in enumerate(chosen) if position not in positions]
        return HasItems(self.seen.take(kept), tuple(chosen[i] for i in kept), self.is_dict)

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        items = f"(*{code.path(path)}.values(),)" if self.is_dict else code.path(path)
        if self.chosen is not None:
            items = f"[*map({items}.__getitem__, {code.constant(self.chosen)})]"
        return (f"{code.constant(self.seen.differ)}({items})",)

    def words(self, names: Names) -> str:
        return "a container of other items"

    def agrees(self, names: Names, other: HasItems, other_names: Names) -> bool:
        if self.chosen != other.chosen or self.seen._plain != other.seen._plain:
            return False
        items = other.seen._items if other.seen._are_plain else [read() for read in other.seen._items]
        return not self.seen.differ(items)

    def change(self, names: Names, other: HasItems, other_names: Names) -> str:
        return "holds other items"


def _memory(value: memoryview) -> Any:
    """Returns what a view of memory shows; None if it was released."""
    try:
        return value.format, value.shape, value.tobytes()
    except ValueError:
        return None


def _of_logger(logger: logging.Logger) -> Any:
    """Returns what decides whether a logger logs, and where."""
    return (
        logger.level,
        logger.getEffectiveLevel(),
        logger.disabled,
        logger.manager.disable,
        len(logger.handlers),
        logger.propagate,
    )


READINGS: dict[type, Callable[[Any], Any]] = {
    bytearray: bytes,
    memoryview: _memory,
    array.array: lambda value: (value.typecode, value.tobytes()),
    operator.attrgetter: operator.methodcaller("__reduce__"),
    operator.itemgetter: operator.methodcaller("__reduce__"),
    operator.methodcaller: operator.methodcaller("__reduce__"),
    type(os.environ): dict,
    logging.Logger: lambda value: _of_logger(value),
    logging.RootLogger: lambda value: _of_logger(value),
    threading.Event: threading.Event.is_set,
    type(threading.Lock()): operator.methodcaller("locked"),
}
"""Classes whose objects change in place or are not compared → what reads all that they hold."""


@immutable
class HasReading(Condition):
    """What a value that changes in place, or is not compared, holds: the bytes of a `bytearray`."""

    cls: type
    value: Any

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        found = code.path(path)
        read = f"{code.constant(READINGS[self.cls])}({found})"
        return f"type({found}) is not {code.constant(self.cls)}", f"{read} != {code.constant(self.value)}"

    def words(self, names: Names) -> str:
        return f"{self.cls.__name__} {shown(self.value)}"

    def change(self, names: Names, other: HasReading, other_names: Names) -> str:
        return f"holds {shown(other.value)} instead of {shown(self.value)}"


class Member(NamedTuple):
    """A function or descriptor in the namespace of a class or module.

    Attributes:
      owner: The class or module.
      name: Its name there.
      value: Itself.
      code: The code of the function that it is, if that is looked at: tools put other code into functions.
    """

    owner: Any
    name: str
    value: Any
    code: Any = None


@immutable
class HasMethods(Condition):
    """The functions, properties and other descriptors of classes, or of a module of a library, that code names.

    Attributes:
      members: What is there.
      absent: Of classes that others derive from: names that are found in a base and must not come before it.
    """

    members: tuple[Member, ...]
    absent: tuple[tuple[type, tuple[str, ...]], ...] = ()

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        tests = []
        of_owner: dict[int, list[Member]] = {}
        for member in self.members:
            of_owner.setdefault(id(member.owner), []).append(member)
        for members in of_owner.values():
            space = code.constant(vars(members[0].owner))
            if len(members) <= 3:
                tests += [f"{space}[{m.name!r}] is not {code.constant(m.value)}" for m in members]
            else:
                read = operator.itemgetter(*(m.name for m in members))
                tests.append(f"{code.constant(read)}({space}) != {code.constant(tuple(m.value for m in members))}")
        for member in self.members:
            fn = function_behind(member.value) if isinstance(member.owner, type) else None
            if fn is not None and member.code is not None:
                tests.append(f"{code.constant(fn)}.__code__ is not {code.constant(member.code)}")
            if fn is not None and fn.__defaults__ is not None:
                tests.append(f"{code.constant(fn)}.__defaults__ is not {code.constant(fn.__defaults__)}")
        for cls, names in self.absent:
            space = code.constant(vars(cls))
            if len(names) <= 3:
                tests += [f"{name!r} in {space}" for name in names]
            else:
                tests.append(f"not {space}.keys().isdisjoint({code.constant(names)})")
        return tuple(tests)

    def words(self, names: Names) -> str:
        return "something with other functions"

    def agrees(self, names: Names, other: HasMethods, other_names: Names) -> bool:
        return not self._changed(other)

    def _changed(self, other: HasMethods) -> list[str]:
        was = {(id(m.owner), m.name): m.value for m in self.members}
        found = [m.name for m in other.members if was.get((id(m.owner), m.name), m.value) is not m.value]
        first, other_first = self._first_owners(), other._first_owners()
        return found + [name for name, owner in other_first.items() if first.get(name, owner) is not owner]

    def _first_owners(self) -> dict[str, Any]:
        """Returns, for each name, the class that it is found in."""
        return {member.name: member.owner for member in reversed(self.members)}

    def change(self, names: Names, other: HasMethods, other_names: Names) -> str:
        changed = ", ".join(f"`{name}`" for name in dict.fromkeys(self._changed(other)))
        return f"has another {changed}"


@immutable
class Lacks(Condition):
    """An object that has no attributes of its own by some names: code looked for them there first."""

    names: tuple[str, ...]

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        found = code.path((*path, ("attr", "__dict__")))
        if len(self.names) <= 2:
            return tuple(f"{name!r} in {found}" for name in self.names)
        return (f"not {found}.keys().isdisjoint({code.constant(self.names)})",)

    def words(self, names: Names) -> str:
        return f"an object without an attribute {' or '.join(map(repr, self.names))}"

    def agrees(self, names: Names, other: Lacks, other_names: Names) -> bool:
        return True


@immutable
class HasVariables(Condition):
    """Global variables that there are not, and Python's own functions that code finds in their place.

    Attributes:
      absent: The names.
      own: What those of them are that Python has.
      space: Where Python has them.
    """

    absent: tuple[str, ...]
    own: tuple[tuple[str, Any], ...]
    space: Any

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        tests = [f"not {code.path(path)}.keys().isdisjoint({code.constant(self.absent)})"]
        if self.space is None:
            return tuple(tests)
        space, own = code.constant(self.space), dict(self.own)
        neither = tuple(name for name in self.absent if name not in own)
        if neither:
            tests.append(f"not {space}.keys().isdisjoint({code.constant(neither)})")
        if len(self.own) == 1:
            ((name, fn),) = self.own
            tests.append(f"{space}.get({name!r}) is not {code.constant(fn)}")
        elif self.own:
            read = code.constant(operator.itemgetter(*(name for name, _ in self.own)))
            tests.append(f"{read}({space}) != {code.constant(tuple(fn for _, fn in self.own))}")
        return tuple(tests)

    def words(self, names: Names) -> str:
        return f"without {' and '.join(f'`{name}`' for name in self.absent)}"

    def _changed(self, other: HasVariables) -> list[str]:
        was = dict(self.own)
        return [name for name, fn in other.own if was.get(name, fn) is not fn]

    def agrees(self, names: Names, other: HasVariables, other_names: Names) -> bool:
        return not self._changed(other)

    def change(self, names: Names, other: HasVariables, other_names: Names) -> str:
        changed = ", ".join(f"`{name}`" for name in self._changed(other))
        return f"find another {changed}" if changed else "have a name that hides one of Python's"


@immutable
class AreDistinct(Condition):
    """Objects that code may compare by identity, and that are different ones; the path is that of the first."""

    is_sharing = True

    paths: tuple[Path, ...]

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        found = [code.path(path) for path in self.paths]
        if len(found) == 2:
            return (f"{found[0]} is {found[1]}",)
        return (f"len({{*map(id, ({', '.join(found)}))}}) != {len(found)}",)

    def words(self, names: Names) -> str:
        return "another object than the others"

    def agrees(self, names: Names, other: AreDistinct, other_names: Names) -> bool:
        return True
