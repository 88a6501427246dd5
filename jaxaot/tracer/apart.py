"""Handlers of signals that run while a function is traced, apart from the trace.

CPython runs them between any two instructions of the main thread, so also in the middle of a traced function, whose
graph they are no part of. In a handler tensors that the trace has not reached work as at any other time, compiled
functions run as the functions themselves, and tensors that hold symbols meanwhile are refused.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any

import jax

from jaxaot.facade.marks.raised import run_handler
from jaxaot.facade.trace_state import TraceState
from jaxaot.tape.modes import state

_CANNOT = {getattr(signal, name, None) for name in ("SIGKILL", "SIGSTOP")}
_SIGNALS = sorted(signal.valid_signals() - _CANNOT)


class HandlersApart:
    """Python's handlers of signals, each run apart from a trace while that is running.

    Ctrl-C is left as it is: its handler uses no tensors, and may come at any time.
    """

    def __init__(self, trace: TraceState):
        """Puts a function that runs it apart in the place of each handler, in the main thread.

        Args:
          trace: The trace that is about to begin.
        """
        self._trace = trace
        self._handlers: dict[int, tuple[Any, Any]] = {}
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler) and handler is not signal.default_int_handler:
                self._handlers[number] = handler, self._apart(handler)
                signal.signal(number, self._handlers[number][1])

    def _apart(self, handler: Callable[[int, Any], Any]) -> Callable[[int, Any], Any]:
        trace = self._trace

        def run(number: int, frame: Any) -> Any:
            if state.trace is not trace:  # it is over
                return handler(number, frame)
            state.trace, inlines = None, state.inlines
            state.inlines = trace.is_apart = True
            try:
                with jax.ensure_compile_time_eval():
                    return run_handler(handler, number, frame)
            finally:
                state.trace, state.inlines, trace.is_apart = trace, inlines, False

        return run

    def put_back(self) -> None:
        """Puts the handlers back, but for those that the traced function replaced."""
        for number, (handler, run) in self._handlers.items():
            if signal.getsignal(number) is run:
                signal.signal(number, handler)
