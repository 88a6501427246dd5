"""Lists and deques that a function adds to: watched in a second trace for what it reads of them.

Code that only appends depends neither on the length of a list nor on what is in it. So such a list is replaced by one
of a class that notes how it is used.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

_READING = (
    "__len__", "__iter__", "__getitem__", "__contains__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
    "__add__", "__mul__", "__rmul__", "__imul__", "__reversed__", "__repr__", "__reduce_ex__", "__reduce__", "__copy__",
    "__setitem__", "__delitem__", "index", "count", "copy", "sort", "reverse", "pop", "popleft", "remove", "insert",
    "clear", "rotate",
)  # fmt: skip


class Reads:
    """Whether something of a list was read.

    Attributes:
      is_read: Whether it was.
      is_on: Whether reads are noted.
    """

    def __init__(self) -> None:
        self.is_read = False
        self.is_on = False


class WatchedList(list[Any]):
    """A list that notes what is read of it."""

    __hash__: Any = None

    def __init__(self, items: Iterable[Any]):
        super().__init__(items)
        self.reads = Reads()


class WatchedDeque(deque[Any]):
    """A deque that notes what is read of it."""

    __hash__: Any = None

    def __init__(self, items: Iterable[Any], limit: int | None):
        super().__init__(items, limit)
        self.reads = Reads()


def _noting(method: Callable[..., Any]) -> Callable[..., Any]:
    def noted(self: WatchedList | WatchedDeque, *args: object) -> Any:
        reads = vars(self).get("reads")
        if reads is not None and reads.is_on:
            reads.is_read = True
        return method(self, *args)

    return noted


for _cls, _base in ((WatchedList, list), (WatchedDeque, deque)):
    for _name in _READING:
        if hasattr(_base, _name):
            setattr(_cls, _name, _noting(getattr(_base, _name)))


def watched(value: list[Any] | deque[Any]) -> WatchedList | WatchedDeque:
    """Returns a list or deque of the same items that notes what is read of it, once `reads.is_on`."""
    return WatchedDeque(value, value.maxlen) if isinstance(value, deque) else WatchedList(value)
