"""Small tools on sequences that the standard library lacks."""

from __future__ import annotations

import contextlib
import gc
import math
import threading
from collections.abc import Iterable, Iterator, MutableSet
from typing import TypeVar

T = TypeVar("T")


class OrderedSet(MutableSet[T]):
    """A set that remembers the order of insertion."""

    def __init__(self, items: Iterable[T] = ()):
        self._items: dict[T, None] = dict.fromkeys(items)

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def add(self, value: T) -> None:
        self._items[value] = None

    def discard(self, value: T) -> None:
        self._items.pop(value, None)


class _Collector:
    """Python's search for garbage in cycles, which any number of threads may have wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_waiting = 0
        self._was_on = False

    @contextlib.contextmanager
    def waits(self) -> Iterator[None]:
        """Has Python look for no garbage meanwhile."""
        with self._lock:
            if not self._n_waiting:
                self._was_on = gc.isenabled()
                gc.disable()
            self._n_waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_waiting -= 1
                if not self._n_waiting and self._was_on:
                    gc.enable()


collector = _Collector()
"""That of the process. To go through all objects, of JAX too, takes it a tenth of a second, and what makes graphs makes
so many objects that it would: hardly any are in cycles."""


def format_bytes(n_bytes: float) -> str:
    """Returns a size for people, such as `29.5 MiB`."""
    size = float(n_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(size) < 1024 or unit == "TiB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.2f} {unit}"
        size /= 1024
    raise AssertionError("unreachable")


def format_seconds(seconds: float) -> str:
    """Returns a time for people, such as `3.2 ms`."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1 or unit == "µs":
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError("the last unit takes any time")


def prod(sizes: Iterable[int]) -> int:
    """Returns the product of `sizes` as a Python integer, 1 if empty."""
    return math.prod(sizes)
