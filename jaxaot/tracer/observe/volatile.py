"""What is another thing at each call and cannot be guarded: Python's random numbers, iterators, clocks, files.

A function that reads such a thing runs eagerly. Iterators are found before the function runs, because reading one
cannot be undone. Random numbers are noticed by the states of their generators, which are put back. Calls of clocks and
files are seen by `sys.monitoring`, before Python 3.12 by `sys.setprofile`, where the user's own code makes them. What
Python runs by itself in between, such as callbacks of the garbage collector, is no part of the function.
"""

from __future__ import annotations

import builtins
import datetime
import functools
import gc
import io
import logging
import os
import pickle
import random
import secrets
import sys
import sysconfig
import threading
import time
import types
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import jaxaot.settings
from jaxaot.errors import TracedPrintWarning, VolatileError
from jaxaot.plan.paths import Path, path_text

_CLOCKS = (
    time.time, time.time_ns, time.monotonic, time.monotonic_ns, time.perf_counter, time.perf_counter_ns,
    time.process_time, time.process_time_ns, time.thread_time, time.localtime, time.gmtime, time.ctime, time.sleep,
)  # fmt: skip
_OTHERS = (open, builtins.input, os.urandom, os.getpid, os.listdir, os.stat, os.scandir)
_CALLS: dict[Any, str] = {fn: f"{fn.__module__}.{fn.__name__}" for fn in (*_CLOCKS, *_OTHERS)}
_CALLS |= {open: "open", builtins.input: "input"}
_FUNCTIONS = {fn.__code__: f"{fn.__module__}.{fn.__name__}" for fn in (uuid.uuid1, uuid.uuid4, secrets.token_bytes)}
"""Calls that give something else each time → their names; those of functions in Python by their code."""
_NOW = {"now", "today", "utcnow"}
_LOGGED = {"debug", "info", "warning", "error", "exception", "critical", "log"}
_FOLDERS = {
    sysconfig.get_path("stdlib"),
    sysconfig.get_path("platstdlib"),
    os.path.dirname(jaxaot.settings.__file__),
}
_OUTSIDE = tuple(f"{folder}{os.sep}" for folder in _FOLDERS)
_NAME = "jaxaot"
_TOOLS = (4, 3)
"""Numbers that `sys.monitoring` leaves to anyone."""


@functools.lru_cache(maxsize=8192)
def is_users(filename: str) -> bool:
    """Returns whether a file holds code of the user's, rather than of a library."""
    is_installed = "site-packages" in filename or "dist-packages" in filename or filename.startswith(_OUTSIDE)
    return not is_installed and not filename.startswith("<frozen")


def is_volatile_iterator(value: object) -> bool:
    """Returns whether reading a value changes it: an iterator that is no file."""
    return isinstance(value, Iterator) and not isinstance(value, io.IOBase)


def is_random(value: object) -> bool:
    """Returns whether a value draws random numbers of Python's or NumPy's."""
    return isinstance(value, (random.Random, np.random.Generator, np.random.RandomState))


class RandomStates:
    """The states of Python's and NumPy's generators of random numbers: the global ones, and some more."""

    def __init__(self, generators: list[tuple[str, Any]]):
        """Notes the states of some generators, each with its name, and of the global ones."""
        self._held: list[tuple[str, Any, Callable[[Any], None]]] = []
        self._read: list[Callable[[], Any]] = []
        self._note("Python's global `random`", random.getstate, random.setstate)
        self._note("NumPy's global `np.random`", np.random.get_state, np.random.set_state)
        for name, generator in generators:
            if isinstance(generator, np.random.Generator):
                bits = generator.bit_generator
                self._note(f"`{name}`", functools.partial(getattr, bits, "state"), functools.partial(_set_state, bits))
            elif isinstance(generator, np.random.RandomState):
                self._note(f"`{name}`", generator.get_state, generator.set_state)
            elif not isinstance(generator, random.SystemRandom):
                self._note(f"`{name}`", generator.getstate, generator.setstate)

    def _note(self, name: str, read: Callable[[], Any], write: Callable[[Any], None]) -> None:
        self._held.append((name, read(), write))
        self._read.append(read)

    def put_back(self) -> str | None:
        """Puts back those that were drawn from; returns the name of one."""
        found = None
        for (name, before, write), read in zip(self._held, self._read, strict=True):
            if pickle.dumps(read()) != pickle.dumps(before):
                write(before)
                found = found or name
        return found


def _set_state(bits: Any, state: Any) -> None:
    bits.state = state


class Watch:
    """Watches the calls that the user's code makes, on this thread, inside a `with` block.

    Attributes:
      found: What is not the same at each call: its name and the line; None if nothing was seen.
      printed: What prints or logs: its name and the line; None if nothing does.
    """

    def __init__(self) -> None:
        self.found: tuple[str, str] | None = None
        self.printed: tuple[str, str] | None = None
        self._thread = threading.get_ident()
        self._tool: int | None = None
        self._codes: set[types.CodeType] = set()
        self._is_profiling = False

    def __enter__(self) -> Watch:
        if sys.version_info >= (3, 12):
            self._begin()
        elif sys.getprofile() is None:
            self._is_profiling = True
            sys.setprofile(self._profile)
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Watches nothing any more; may be called again, as when an interrupt came before the block's end was done."""
        if self._is_profiling:
            sys.setprofile(None)
            self._is_profiling = False
        elif sys.version_info >= (3, 12) and self._tool is not None and sys.monitoring.get_tool(self._tool) == _NAME:
            watching = sys.monitoring
            watching.set_events(self._tool, 0)
            for code in self._codes:
                watching.set_local_events(self._tool, code, 0)
            for event in (watching.events.PY_START, watching.events.CALL):
                watching.register_callback(self._tool, event, None)
            watching.free_tool_id(self._tool)
            self._tool = None

    if sys.version_info >= (3, 12):

        def _begin(self) -> None:
            watching = sys.monitoring
            self._tool = next((n for n in _TOOLS if watching.get_tool(n) is None), None)
            if self._tool is None:
                return
            watching.use_tool_id(self._tool, _NAME)
            watching.register_callback(self._tool, watching.events.PY_START, self._start)
            watching.register_callback(self._tool, watching.events.CALL, self._call)
            watching.set_events(self._tool, watching.events.PY_START)
            watching.restart_events()

        def _start(self, code: types.CodeType, _: int) -> Any:
            if threading.get_ident() != self._thread:  # which may run on when this tool is free again
                return None
            if is_users(code.co_filename) and self._tool is not None:
                self._codes.add(code)
                sys.monitoring.set_local_events(self._tool, code, sys.monitoring.events.CALL)
            return sys.monitoring.DISABLE

        def _call(self, code: types.CodeType, offset: int, called: Any, first: object) -> Any:
            if threading.get_ident() == self._thread:
                self._look(called, first, code, lambda: _line_at(code, offset))

    def _profile(self, frame: types.FrameType, event: str, called: Any) -> None:
        if event == "c_call" and is_users(frame.f_code.co_filename):
            self._look(called, None, frame.f_code, lambda: frame.f_lineno)
        elif event == "call" and frame.f_back is not None and is_users(frame.f_back.f_code.co_filename):
            back, code = frame.f_back, frame.f_code
            if code in _FUNCTIONS:
                self._note(_FUNCTIONS[code], back.f_code, lambda: back.f_lineno)
            elif not code.co_name.startswith("__") and isinstance(frame.f_locals.get("self"), random.SystemRandom):
                self._note(f"SystemRandom.{code.co_name}", back.f_code, lambda: back.f_lineno)
            elif code.co_name in _LOGGED and code.co_filename == logging.__file__:
                self._note_print("logging", back.f_code, lambda: back.f_lineno)

    def _look(self, called: Any, first: object, code: types.CodeType, line: Callable[[], int]) -> None:
        """Looks at something that is called, with its first argument."""
        name, owner = getattr(called, "__name__", ""), getattr(called, "__self__", None)
        if isinstance(called, types.BuiltinFunctionType):
            if called is print:
                self._note_print("print", code, line)
            elif called in _CALLS:
                self._note(_CALLS[called], code, line)
            elif name in _NOW and isinstance(owner, type) and issubclass(owner, datetime.date):
                self._note(f"{owner.__name__}.{name}", code, line)
            elif isinstance(owner, random.SystemRandom):
                self._note(f"SystemRandom.{name}", code, line)
        elif isinstance(called, (types.FunctionType, types.MethodType)):
            inner = getattr(called, "__func__", called)
            if getattr(inner, "__code__", None) in _FUNCTIONS:
                self._note(_FUNCTIONS[inner.__code__], code, line)
            elif name in _LOGGED and getattr(inner, "__module__", "") == "logging":
                self._note_print("logging", code, line)
            elif isinstance(first if owner is None else owner, random.SystemRandom):
                self._note(f"SystemRandom.{name}", code, line)

    def _note(self, name: str, code: types.CodeType, line: Callable[[], int]) -> None:
        if self.found is None and not _is_by_itself():
            self.found = name, _place(code, line())

    def _note_print(self, name: str, code: types.CodeType, line: Callable[[], int]) -> None:
        if self.printed is None and not _is_by_itself():
            self.printed = name, _place(code, line())


def _is_by_itself() -> bool:
    """Returns whether what runs was called by Python itself, at a moment of its own: when something is collected."""
    codes = {_code_of(callback) for callback in gc.callbacks}
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code in codes or code.co_name == "__del__" or code.co_filename == weakref.__file__:
            return True
        frame = frame.f_back
    return False


def _code_of(callback: object) -> types.CodeType | None:
    fn = callback if hasattr(callback, "__func__") or hasattr(callback, "__code__") else type(callback).__call__
    return getattr(getattr(fn, "__func__", fn), "__code__", None)


def _line_at(code: types.CodeType, offset: int) -> int:
    return next((line or 0 for start, end, line in code.co_lines() if start <= offset < end), code.co_firstlineno)


def _place(code: types.CodeType, line: int) -> str:
    return f"{code.co_filename}:{line}, in {code.co_name}"


class Volatile:
    """What a traced function reads that is another thing at each call."""

    def __init__(self, fn: Callable[..., Any], found: list[tuple[Path, Any]]):
        """Looks at what the code of the function names.

        Args:
          fn: The function.
          found: Iterators and generators of random numbers that it names, with their paths.

        Raises:
          VolatileError: If it reads an iterator.
        """
        self._name = getattr(fn, "__name__", type(fn).__name__)
        for path, value in found:
            if not is_random(value):
                raise VolatileError(
                    f"`{self._name}` reads `{path_text(path)}`, {_a(value)} that holds another item at each call",
                    "Read the item outside, and pass it: `step(next(items))`.",
                )
        self._states = RandomStates([(path_text(path), value) for path, value in found])
        self.watch = Watch()

    def finish(self, is_whole: bool) -> None:
        """Puts generators of random numbers back.

        Args:
          is_whole: Whether the function has come to its end or was stopped, rather than raised.

        Raises:
          VolatileError: If the function drew from one, or read a clock or a file.
        """
        drawn = self._states.put_back()
        if not is_whole:
            return
        if drawn is not None:
            raise VolatileError(
                f"`{self._name}` draws from {drawn}, and would draw the same numbers at each call",
                "Draw by `ja.rand` and the like, which a compiled function does anew at each call, or draw outside and "
                "pass what was drawn.",
            )
        if self.watch.found is not None:
            what, where = self.watch.found
            raise VolatileError(
                f"`{self._name}` calls `{what}`, at\n\n    {where}\n\nwhich is another thing at each call",
                "Call it outside of the function, and pass what it gives.",
            )
        if self.watch.printed is not None and self.watch.printed not in _warned:
            _warned.add(self.watch.printed)
            what, where = self.watch.printed
            warnings.warn(
                f"`{self._name}` calls `{what}`, at\n\n    {where}\n\nA compiled function does so when it is traced, "
                "not at each call. `ja.print` prints values at each call.",
                TracedPrintWarning,
                stacklevel=2,
            )


def _a(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


_warned: set[tuple[str, str]] = set()
