"""Which threads use tensors: as long as it is only one, nothing is locked and nothing waits."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import TypeVar

_Fn = TypeVar("_Fn", bound=Callable)

_PAUSE_SECONDS, _PATIENCE_SECONDS = 0.0002, 10.0


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
        end = time.monotonic() + _PATIENCE_SECONDS
        begun = self._writes()
        while begun and time.monotonic() < end:
            time.sleep(_PAUSE_SECONDS)
            begun &= self._writes()

    def _writes(self) -> set[FrameType]:
        """Returns the calls that write in other threads, but for those that wait for this one to be noted."""
        found: set[FrameType] = set()
        for thread, frame in sys._current_frames().items():
            calls = list(_calls(frame))
            if thread != threading.get_ident() and all(call.f_code is not Threads.note.__code__ for call in calls):
                found.update(call for call in calls if self._is_write(call.f_code))
        return found

    def _is_write(self, code: CodeType) -> bool:
        return code in self._codes or code.co_filename in self._files


def _calls(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


threads = Threads()
