"""Which threads use tensors: as long as it is only one, nothing is locked and nothing waits."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, TypeVar

_Fn = TypeVar("_Fn", bound=Callable)

_PAUSE_SECONDS, _PATIENCE_SECONDS = 0.0002, 10.0
_MAX_PATIENCE_SECONDS = 600.0  # for what compiles or computes, and waits for no thread
_POLL_SECONDS, _MAX_POLLS = 0.05, 5


class Threads:
    """Notes the threads that use tensors.

    A thread that does something else does not count, such as those of a notebook's kernel. Where a second one begins,
    writes of the first may be under way that lock nothing: it waits until they are done. Later ones see
    `are_several`.

    Attributes:
      are_several: Whether there was ever a second one.
    """

    def __init__(self) -> None:
        self.are_several = False
        self._n = 0
        self._noting = threading.Lock()
        self._begins: list[Callable[[], None]] = []
        self._codes: set[CodeType] = set()
        self._files: set[str] = set()
        self._stand_ins: set[int] = set()

    @contextlib.contextmanager
    def standing_in(self) -> Iterator[None]:
        """Inside, the calling thread stands for one that waits for it, and does not count."""
        own = threading.get_ident()
        self._stand_ins.add(own)
        try:
            yield
        finally:
            self._stand_ins.discard(own)

    def note(self) -> None:
        """Notes that the calling thread begins to use tensors."""
        if threading.get_ident() in self._stand_ins:
            return
        with self._noting:
            self._n += 1
            if self._n == 1 or self.are_several:
                return
            for begin in self._begins:
                begin()
            self.are_several = True
            self._wait_for_writes()

    def when_several(self, begin: Callable[[], None]) -> None:
        """Has a function called just before the second thread uses a tensor."""
        self._begins.append(begin)

    def writing(self, fn: _Fn) -> _Fn:
        """Notes a function that writes tensors by what `are_several` was when it began; returns it as it is."""
        self._codes.add(fn.__code__)
        return fn

    def note_file(self, name: str) -> None:
        """Notes that functions of a file are of this kind."""
        self._files.add(name)

    def _wait_for_writes(self) -> None:
        """Waits until each write that has begun in another thread is done; not forever, as it may wait for this one."""
        begun, began = self._writes(), time.monotonic()
        while begun:
            patience = _PATIENCE_SECONDS if any(map(waits_for_threads, begun.values())) else _MAX_PATIENCE_SECONDS
            if time.monotonic() - began > patience:
                return
            time.sleep(_PAUSE_SECONDS)
            left = self._writes()
            begun = {call: thread for call, thread in begun.items() if call in left}

    def _writes(self) -> dict[FrameType, int]:
        """Returns the calls that write in other threads, with these; but for what waits for this one to be noted."""
        found: dict[FrameType, int] = {}
        for thread, frame in sys._current_frames().items():
            calls = list(_calls(frame))
            if thread != threading.get_ident() and all(call.f_code is not Threads.note.__code__ for call in calls):
                found.update((call, thread) for call in calls if self._is_write(call.f_code))
        return found

    def _is_write(self, code: CodeType) -> bool:
        return code in self._codes or code.co_filename in self._files


def waits_for_threads(thread: int) -> bool:
    """Returns whether a thread waits for another one, as `Thread.join`, a lock with a name and futures do."""
    frame = sys._current_frames().get(thread)
    return frame is not None and frame.f_code.co_filename == threading.__file__


def waited(acquire: Callable[[float], bool], owner: Callable[[], int | None]) -> bool:
    """Waits for what another thread holds; returns False if that waits itself, perhaps for this one.

    Args:
      acquire: Takes seconds, and waits that long at most; returns whether it is there.
      owner: Returns the number of the thread that holds it; None if that is not known.
    """
    n_times = 0
    while not acquire(_POLL_SECONDS):
        thread = owner()
        n_times = n_times + 1 if thread is not None and waits_for_threads(thread) else 0
        if n_times == _MAX_POLLS:
            return False
    return True


class OnceAtATime:
    """Has threads that want the same thing wait for the one that makes it; who makes it is not made to wait."""

    def __init__(self) -> None:
        self._noting = threading.Lock()
        self._made: dict[Any, tuple[int, threading.Event]] = {}

    def wait(self, key: Any) -> bool:
        """Waits as long as another thread makes a thing; returns whether one did and it may be there now."""
        with self._noting:
            thread, made = self._made.get(key, (0, None))
        if made is None or thread == threading.get_ident():
            return False
        return waited(made.wait, lambda: thread)

    @contextlib.contextmanager
    def making(self, key: Any) -> Iterator[None]:
        """Inside, the calling thread makes a thing, unless another one does already."""
        mine = threading.get_ident(), threading.Event()
        with self._noting:
            is_first = self._made.setdefault(key, mine) is mine
        try:
            yield
        finally:
            if is_first:
                with self._noting:
                    self._made.pop(key, None)
                mine[1].set()


def _calls(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


threads = Threads()
