"""Signals that wait while something runs that must not be left half done.

CPython runs the handlers of signals between the instructions of the main thread, and a handler may raise: Ctrl-C is a
`KeyboardInterrupt` wherever the program happens to be. What takes a single call into C needs no help, as no handler
runs inside of it; what runs as Python, such as the first call of a jitted function, has signals wait.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

_CANNOT = {getattr(signal, name, None) for name in ("SIGKILL", "SIGSTOP")}
_SIGNALS = sorted(signal.valid_signals() - _CANNOT)


class WaitingSignals:
    """From when it is made until `release`, handlers of signals do not run; then those run whose signals came.

    Only the main thread runs handlers, so in any other this does nothing.
    """

    __slots__ = ("_came", "_handlers")

    def __init__(self) -> None:
        self._came: list[int] = []
        self._handlers: dict[int, Any] = {}
        if threading.current_thread() is not threading.main_thread():
            return
        try:
            for number in _SIGNALS:
                handler = signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler  # noted first: it is put back whatever happens
                    signal.signal(number, self._note)
        except BaseException:
            self.release()
            raise

    def _note(self, number: int, frame: Any) -> None:
        self._came.append(number)

    def release(self) -> None:
        """Puts the handlers back, and calls those whose signals came, each once."""
        left, raised = list(self._handlers.items()), None
        while left:
            try:
                while left:
                    signal.signal(*left[-1])
                    left.pop()
            except BaseException as error:  # a handler that is back already
                raised = raised or error
        for number in dict.fromkeys(self._came):
            try:
                self._handlers[number](number, sys._getframe(1))
            except BaseException as error:
                raised = raised or error
        if raised is not None:
            raise raised


def finish(restore: Callable[[], None]) -> None:
    """Calls what puts things back, with signals waiting until it has done so.

    Args:
      restore: Does no harm if it is called twice, as when an interrupt comes before signals wait.
    """
    try:
        signals = WaitingSignals()
    except BaseException:
        restore()
        raise
    try:
        restore()
    finally:
        signals.release()
