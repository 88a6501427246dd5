"""Several threads on one storage: writers take turns, readers find the value before a write or after it.

PyTorch promises that threads may write disjoint elements of one memory, and that a read beside a write fails in no way.
Here any write replaces the array of the storage, and mostly gives the old one away to the executable. So, once several
threads use tensors, a writer

1. takes the locks of the storages that it writes, in one order, that of their ids;
2. takes their arrays out of them, if nobody else holds these and they may be given away;
3. runs, and puts the new arrays in.

Reading takes no lock and costs nothing: whoever took an array before step 2 holds it, so it is copied rather than given
away; whoever comes between finds no array, and Python then calls what stands below, which waits for the lock.

The order of locks, which excludes deadlocks: that of a compiled function, `TRACING`, those of storages by id. An eager
write takes only the last kind; it waits for a trace before, and reads its operands before. A compiled call may wait for
an operand after it has taken arrays out, because `TRACING` keeps other compiled calls from doing so at the same time.

An interrupt leaves no lock behind. CPython runs the handlers of signals after a call, never between a load and the call
into C that follows; so one such call takes locks and notes them, and another releases them all.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import compress
from operator import attrgetter, methodcaller
from typing import Any

from jaxaot.facade.memory.storage import HELD_ONCE, Storage
from jaxaot.tape.threads import threads

_MAKING = threading.RLock()
_SLOTS: dict[str, Any] = {name: vars(Storage)[name] for name in ("array", "lock")}
_ACQUIRE, _RELEASE, _LOCK = methodcaller("acquire"), methodcaller("release"), attrgetter("lock")


def _settled(storage: Storage, name: str) -> Any:
    """Returns a slot of a storage that may be empty: its lock before first use, its array while another is computed."""
    slot = _SLOTS.get(name)
    if slot is None:
        raise AttributeError(f"'Storage' object has no attribute '{name}'", name=name, obj=storage)
    with _MAKING if name == "lock" else storage.lock:
        try:
            return slot.__get__(storage)
        except AttributeError:
            if name == "array":  # this thread itself is writing
                return storage.taken
            lock = storage.lock = threading.RLock()
            return lock


def _begin() -> None:
    Storage.__getattr__ = _settled  # type: ignore[attr-defined]  # later than its class, so that one thread pays nothing


threads.when_several(_begin)


class Held(list[Any]):
    """Locks that a write has taken.

    Attributes:
      free: Releases them; a `finally` calls it, and nothing else after it.
    """

    __slots__ = ("free",)

    free: Callable[[], None]

    def __init__(self) -> None:
        self.free = partial(deque(maxlen=0).extend, map(_RELEASE, self))  # reads the list when it is called

    def take(self, *locks: Any) -> None:
        """Takes locks, in their order."""
        self.extend(compress(locks, map(_ACQUIRE, locks)))


def hold(storages: Iterable[Storage], before: Any, held: Held) -> None:
    """Takes a lock and then those of storages."""
    held.take(before, *map(_LOCK, sorted(storages, key=id)))


def hold_alive(storage: Storage, held: Held, trace: Any = None) -> None:
    """Takes the lock of a storage, whose value may be a symbol of `trace` alone, or of a trace that runs here."""
    while True:
        if trace is None or storage.trace is not trace:
            storage.check_alive()
        with storage.lock:
            found = storage.trace
            if found is None or found is trace or found.is_mine():
                held.take(storage.lock)
                return


def take(storages: Sequence[Storage]) -> bool:
    """Takes the arrays out of storages whose locks are held, if they may be donated, and returns whether it did.

    Only the calling thread still finds them there. `put_back` has to follow.
    """
    for storage in storages:
        storage.taken = storage.array
        try:
            del storage.array  # from here on nobody gets it: what holds it is counted
        except AttributeError:
            continue  # an interrupt came before `put_back`, and it is out already
    if all(sys.getrefcount(storage.taken) <= HELD_ONCE for storage in storages):
        return True
    put_back(storages)
    return False


def put_back(storages: Sequence[Storage]) -> None:
    """Ends a write: puts back the arrays that were taken out and not replaced.

    An array that an interrupt keeps out is found in `taken`, by readers and by the next write.
    """
    slot = _SLOTS["array"]
    for storage in storages:
        try:
            slot.__get__(storage)
        except AttributeError:
            storage.array = storage.taken
        storage.taken = None
