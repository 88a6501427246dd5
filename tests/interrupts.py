"""Interrupts at every instant at which CPython may run the handler of a signal.

Handlers run where a function begins, where a loop turns back and when a call has returned. A trace function that counts
these instants in the frames of jaxaot, and in the code that it generates, raises a signal at a chosen one; signals that
wait make it wait, as they would a real one.
"""

import contextlib
import dis
import itertools
import pathlib
import signal
import sys

import jaxaot

ROOT = str(pathlib.Path(jaxaot.__file__).parent)

AFTER = {"CALL", "CALL_FUNCTION_EX", "CALL_KW", "RESUME", "JUMP_BACKWARD"}
AFTER |= {f"POP_JUMP_BACKWARD_IF_{how}" for how in ("TRUE", "FALSE", "NONE", "NOT_NONE")}  # of Python 3.11
"""Instructions behind which CPython looks for signals."""

_after: dict = {}


class Watchdog(Exception):
    """What a handler raises that is no KeyboardInterrupt."""


def _instants(code):
    """Returns the offsets of the instructions before which a handler may run: those that come after such a one."""
    if code not in _after:
        listed = list(dis.get_instructions(code))
        found = {0}
        for before, after in itertools.pairwise(listed):
            if before.opname in AFTER:
                found.add(before.argval if "JUMP" in before.opname else after.offset)
        _after[code] = found
    return _after[code]


def _is_ours(code):
    name = code.co_filename
    return name.startswith((ROOT, "<jaxaot")) and "_signals" not in name


class Injector:
    """Runs a function, and raises a signal at the n-th instant.

    Attributes:
      seen: How many instants there were.
      place: Where the signal came; None if there were fewer.
    """

    def __init__(self, at=None):
        self.at = at
        self.seen = 0
        self.place = None

    def _look(self, code, offset):
        if offset in _instants(code):
            self.seen += 1
            if self.seen - 1 == self.at:
                self.place = f"{code.co_filename} {code.co_name} {offset}"
                signal.raise_signal(signal.SIGINT)

    def run(self, fn):
        """Returns what the function raised because of the signal, or None."""
        with self._monitored() if sys.version_info >= (3, 12) else self._traced():
            try:
                fn()
            except (KeyboardInterrupt, Watchdog) as error:
                return error
        return None

    @contextlib.contextmanager
    def _monitored(self):
        monitoring, tool = sys.monitoring, sys.monitoring.DEBUGGER_ID

        def at_instruction(code, offset):
            return self._look(code, offset) if _is_ours(code) else monitoring.DISABLE

        monitoring.use_tool_id(tool, "interrupts")
        monitoring.register_callback(tool, monitoring.events.INSTRUCTION, at_instruction)
        monitoring.set_events(tool, monitoring.events.INSTRUCTION)
        try:
            yield
        finally:
            monitoring.set_events(tool, 0)
            monitoring.register_callback(tool, monitoring.events.INSTRUCTION, None)
            monitoring.free_tool_id(tool)

    @contextlib.contextmanager
    def _traced(self):
        def at_event(frame, event, _):
            if not _is_ours(frame.f_code):
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            if event == "opcode":
                self._look(frame.f_code, frame.f_lasti)
            return at_event

        before = sys.gettrace()
        sys.settrace(at_event)
        try:
            yield
        finally:
            sys.settrace(before)


def count_instants(fn):
    """Returns at how many instants a function can be interrupted."""
    injector = Injector()
    injector.run(fn)
    return injector.seen
