"""Classes that note the reads and writes of their objects' attributes, for the time of a run.

A class gets a `__getattribute__` that tells the observers of its thread what was read. Everything goes through it:
`obj.x`, `getattr`, `hasattr`, `attrgetter`, properties, code in C. So do `__setattr__` and `__delattr__` for writes.
Taking them away restores the class.
"""

from __future__ import annotations

import sys
import threading
import types
import weakref
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Protocol

from jaxaot.facade.cells.cells import members_of, owners_of

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "MISSING"})()
"""Stands for what is not there."""
_MAX_CHANGES = 400 if sys.version_info >= (3, 13) else sys.maxsize
"""From Python 3.13 on a class that was changed some 500 times is slower to read for ever."""
_HEAP_TYPE = 1 << 9


class Reader(Protocol):
    """What is told of reads and writes."""

    def read(self, value: Any, name: str, found: Any) -> None:
        """Notes that an attribute of an object was read; `found` is MISSING if there is none."""
        ...

    def wrote(self, value: Any, name: str) -> None:
        """Notes that an attribute of an object is set or deleted."""
        ...


_lock = threading.RLock()
_readers: dict[int, list[Reader]] = defaultdict(list)
"""Thread → its observers, the outermost first."""
_noting: dict[int, tuple[type, dict[str, Any]]] = {}
"""Id of each class that notes → the class, and the special methods of its own in place of which it does."""
_n_changes: dict[int, tuple[weakref.ref[type], int]] = {}
"""Id of a class → itself, and how often it was changed."""


def begin(reader: Reader) -> None:
    """Tells an observer of the reads of this thread from now on."""
    with _lock:
        _readers[threading.get_ident()].append(reader)


def end(reader: Reader) -> None:
    """Tells it no more; after the last one classes are as they were."""
    with _lock:
        of_thread = _readers[threading.get_ident()]
        if reader in of_thread:
            of_thread.remove(reader)
        if not of_thread:
            del _readers[threading.get_ident()]
        if not _readers:
            while _noting:  # also where an interrupt came in between
                number, (cls, own) = next(iter(_noting.items()))
                for name in _NOTERS:
                    if name in own:
                        type.__setattr__(cls, name, own[name])
                    elif name in members_of(cls):
                        type.__delattr__(cls, name)
                del _noting[number]


def readers() -> list[Reader]:
    """Returns the observers of this thread, the outermost first."""
    return _readers.get(threading.get_ident(), [])


def note_reads_of(cls: type) -> bool:
    """Has a class note reads; returns False if it cannot, or did too often: then its objects are looked at whole."""
    with _lock:
        if id(cls) in _noting:
            return True
        known, n = _n_changes.get(id(cls), (None, 0))
        n = n if known is not None and known() is cls else 0
        if n >= _MAX_CHANGES or not type.__getattribute__(cls, "__flags__") & _HEAP_TYPE:
            return False
        own = {name: members_of(cls)[name] for name in _NOTERS if name in members_of(cls)}
        _noting[id(cls)] = cls, own
        try:
            for name, make in _NOTERS.items():
                type.__setattr__(cls, name, make(original(cls, name)))
        except TypeError:
            del _noting[id(cls)]
            return False
        _n_changes[id(cls)] = weakref.ref(cls), n + 1
        return True


def reads_all(cls: type) -> bool:
    """Returns whether a class reads attributes in its own way, so that not all reads are seen."""
    return isinstance(original(cls), types.FunctionType)


def original(cls: type, name: str = "__getattribute__") -> Any:
    """Returns a special method of a class as it is where nothing is noted."""
    for owner in owners_of(cls):
        members = _noting[id(owner)][1] if id(owner) in _noting else members_of(owner)
        if name in members:
            return members[name]
    return getattr(object, name)


def _noter(old: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    def __getattribute__(self: Any, name: str) -> Any:
        told = _readers.get(threading.get_ident())
        if not told:
            return old(self, name)
        try:
            value = old(self, name)
        except AttributeError:
            for reader in told:
                reader.read(self, name, MISSING)
            raise
        for reader in told:
            reader.read(self, name, value)
        return value

    return __getattribute__


def _setter(old: Callable[[Any, str, Any], None]) -> Callable[[Any, str, Any], None]:
    def __setattr__(self: Any, name: str, value: Any) -> None:
        for reader in _readers.get(threading.get_ident(), ()):
            reader.wrote(self, name)
        old(self, name, value)

    return __setattr__


def _deleter(old: Callable[[Any, str], None]) -> Callable[[Any, str], None]:
    def __delattr__(self: Any, name: str) -> None:
        for reader in _readers.get(threading.get_ident(), ()):
            reader.wrote(self, name)
        old(self, name)

    return __delattr__


_NOTERS: dict[str, Callable[[Any], Any]] = {
    "__getattribute__": _noter, "__setattr__": _setter, "__delattr__": _deleter,
}  # fmt: skip
