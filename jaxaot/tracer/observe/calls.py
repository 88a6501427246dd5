"""Sees which code begins to run, and the calls that give another thing each time: clocks, files, random numbers.

A function that reads such a thing runs eagerly. An iterator is refused when the function gets hold of it, because
reading one cannot be undone. Random numbers are noticed by the states of their generators, which are put back. Code and
calls are seen by `sys.monitoring`, before Python 3.12 by `sys.setprofile`; calls where the user's own code makes them.
What Python runs by itself in between, such as callbacks of the garbage collector, is no part of the function.
"""

from __future__ import annotations

import atexit
import builtins
import csv
import datetime
import functools
import gc
import importlib
import io
import json
import logging
import os
import pathlib
import pickle
import queue
import random
import secrets
import subprocess
import sys
import threading
import time
import types
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import jax.monitoring
import numpy as np

from jaxaot.errors import TracedPrintWarning, TraceError, VolatileError
from jaxaot.plan.paths import Path, path_text
from jaxaot.tracer.observe.boundary import (
    is_core,
    is_foreign,
    is_foreign_class,
    is_looked_at,
    is_users,
    module_of,
    package_of,
)
from jaxaot.tracer.observe.code_names import reads_by_hand

_CLOCKS = (
    time.time, time.time_ns, time.monotonic, time.monotonic_ns, time.perf_counter, time.perf_counter_ns,
    time.process_time, time.process_time_ns, time.thread_time, time.localtime, time.gmtime, time.ctime, time.sleep,
)  # fmt: skip
_OTHERS = (
    open,
    builtins.input,
    os.urandom,
    os.getpid,
    os.listdir,
    os.stat,
    os.scandir,
    os.getcwd,
    sys.getrecursionlimit,
    gc.isenabled,
    gc.get_count,
    gc.get_objects,
)
_CALLS: dict[Any, str] = {fn: f"{fn.__module__}.{fn.__name__}" for fn in (*_CLOCKS, *_OTHERS)}
_CALLS |= {open: "open", builtins.input: "input"}
_FUNCTIONS = {fn.__code__: f"{fn.__module__}.{fn.__name__}" for fn in (uuid.uuid1, uuid.uuid4, secrets.token_bytes)}
"""Calls that give something else each time → their names; those of functions in Python by their code."""
_ENVIRON: Any = type(os.environ)
_WRITING = (
    os.write, os.remove, os.unlink, os.mkdir, os.rmdir, os.rename, os.replace, os.system, pickle.dump, warnings.warn,
    atexit.register,
)  # fmt: skip
"""Functions in C that change the world outside."""
_WRITES: dict[Any, str] = {fn: f"{fn.__module__.lstrip('_')}.{fn.__name__}" for fn in _WRITING}
_WRITING_IN_PYTHON = (
    csv.DictWriter.writerow, csv.DictWriter.writerows, json.dump, pathlib.Path.write_text, pathlib.Path.write_bytes,
    pathlib.Path.mkdir, pathlib.Path.unlink, pathlib.Path.touch, os.makedirs, subprocess.Popen.__init__,
    queue.Queue.put, _ENVIRON.__setitem__, _ENVIRON.__delitem__, warnings.showwarning,
)  # fmt: skip
_WRITERS = {fn.__code__: fn.__qualname__ for fn in _WRITING_IN_PYTHON}
_WRITING_METHODS = {
    "write", "writelines", "writerow", "writerows", "send", "sendall", "sendto", "put", "execute", "executemany",
}  # fmt: skip
_OUTSIDE = {"_io", "_csv", "_socket", "socket", "_queue", "sqlite3", "mmap", "_ctypes"}
"""Modules with classes in C whose methods of these names change the world outside."""
_READING_METHODS = {
    "read",
    "read1",
    "readline",
    "readlines",
    "readinto",
    "getvalue",
    "tell",
    "recv",
    "fetchone",
    "fetchall",
}
"""Names of methods of these that give another thing each time."""
_TELLS_LISTENERS = jax.monitoring.record_event.__code__.co_filename
_DEPTH = 20
"""So many calls below what JAX calls are looked through for who called."""
_NOW = {"now", "today", "utcnow"}
_LOGGED = {"debug", "info", "warning", "error", "exception", "critical", "log"}
_READS_VARIABLE = _ENVIRON.__getitem__.__code__
_ASKS_LOGGER = {logging.Logger.isEnabledFor.__code__, logging.Logger.getEffectiveLevel.__code__}
_IMPORTS = importlib.import_module.__code__
_READS_VARIABLES = {getattr(_ENVIRON, name).__code__ for name in ("__iter__", "__len__", "copy")}
_BY_NAME = (getattr, hasattr, vars, dir)
"""What reads attributes by names that code makes; before Python 3.12 it is not told of what."""
_CALLABLES = (types.BuiltinFunctionType, types.FunctionType, types.MethodType, types.MethodDescriptorType)
_NAME = "jaxaot"
_TOOLS = (4, 3, 5, 2, 1, 0)
"""Numbers of `sys.monitoring`, those first that it leaves to anyone."""


def is_volatile_iterator(value: object) -> bool:
    """Returns whether reading a value changes it: an iterator that is no file."""
    return issubclass(type(value), Iterator) and not issubclass(type(value), io.IOBase)


def is_volatile(value: object) -> bool:
    """Returns whether a value gives another thing each time it is asked."""
    return is_random(value) or is_volatile_iterator(value)


def is_random(value: object) -> bool:
    """Returns whether a value draws random numbers of Python's or NumPy's."""
    return issubclass(type(value), (random.Random, np.random.Generator, np.random.RandomState))


class RandomStates:
    """The states of Python's and NumPy's generators of random numbers: the global ones, and some more."""

    def __init__(self) -> None:
        """Notes the states of the global ones."""
        self._held: list[tuple[str, Any, Callable[[Any], None]]] = []
        self._read: list[Callable[[], Any]] = []
        self._note("Python's global `random`", random.getstate, random.setstate)
        self._note("NumPy's global `np.random`", np.random.get_state, np.random.set_state)

    def add(self, name: str, generator: Any) -> None:
        """Notes the state of a generator."""
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


class Listener(Protocol):
    """What is told of code that begins to run, and of variables of the environment."""

    def started(self, code: types.CodeType, frame: types.FrameType) -> None:
        """Notes that code began to run, the first time it does."""
        ...

    def asked_of(self, value: Any) -> None:
        """Notes an object of Python's library that decides something."""
        ...

    def asked_for_id(self, value: Any) -> None:
        """Notes an object whose `id` code asks for."""
        ...

    def asked_by_name(self, value: Any) -> None:
        """Notes a module or class of which an attribute is read by a name that code makes."""
        ...

    def asked_for_module(self, name: str) -> None:
        """Notes that a module was imported by its name."""
        ...

    def asked_for_environment(self, name: str | None, line: tuple[str, int] | None) -> None:
        """Notes that a variable of the environment was read, or all of them."""
        ...


class Calls:
    """Watches the code that runs on this thread, and the calls that the user's code makes.

    Attributes:
      found: What is not the same at each call: its name and the line; None if nothing was seen.
      printed: What prints, logs or writes: its name and the line; None if nothing does.
      on_effect: Told of that before it is done, where a trace ends there.
    """

    def __init__(self, listener: Listener, is_strict: bool = True):
        """Watches for a listener; where it is not strict, iterators and random numbers are let through."""
        self.found: tuple[str, str] | None = None
        self.printed: tuple[str, str] | None = None
        self.on_effect: Callable[[str], None] | None = None
        self._listener = listener
        self._is_strict = is_strict
        self._states = RandomStates()
        self._iterator: tuple[Path, Any] | None = None
        self._imported: Any = None

    def begin(self) -> None:
        """Watches from now on."""
        _tool.begin(self)

    def end(self) -> None:
        """Watches nothing any more; may be called again, as when an interrupt came before the block's end was done."""
        _tool.end(self)

    def check(self, path: Path, value: Any) -> None:
        """Looks at an object that the function gets hold of.

        Raises:
          VolatileError: If it is an iterator.
        """
        if not self._is_strict:
            return
        if is_random(value):
            self._states.add(path_text(path), value)
        elif is_volatile_iterator(value) and is_foreign_class(type(value)):
            self._iterator = self._iterator or (path, value)
            raise VolatileError(
                f"The function reads `{path_text(path)}`, {_a(value)} that holds another item at each call",
                "Read the item outside, and pass it: `step(next(items))`.",
            )

    @property
    def is_importing(self) -> bool:
        """Whether a module is being imported for the first time: it stays, so what that does is not the function's."""
        return getattr(self._imported, "_initializing", False)

    def started(self, code: types.CodeType, frame: types.FrameType) -> None:
        """Notes that code begins to run."""
        if not self.is_importing and code.co_name == "<module>":
            self._imported = frame.f_globals.get("__spec__")
        if self.is_importing or _is_of_a_listener(frame):
            return
        self._listener.started(code, frame)
        if code in _WRITERS and frame.f_back is not None and not is_core(frame.f_back.f_code.co_filename):
            back = frame.f_back
            self._note_print(_WRITERS[code], back.f_code, lambda: back.f_lineno)
        if code in _ASKS_LOGGER and _asking(frame) is not None:
            self._listener.asked_of(frame.f_locals["self"])
        if code is _IMPORTS:
            self._listener.asked_for_module(frame.f_locals.get("name", ""))
        if code is _READS_VARIABLE or code in _READS_VARIABLES:
            asking = _asking(frame)
            if asking is not None:
                name = frame.f_locals.get("key") if code is _READS_VARIABLE else None
                name = os.fsdecode(name) if isinstance(name, bytes) else name
                self._listener.asked_for_environment(name, (asking.f_code.co_filename, asking.f_lineno))

    def entered(self, back: types.FrameType, frame: types.FrameType) -> None:
        """Looks at a function in Python that the user's code calls."""
        code = frame.f_code
        if code in _FUNCTIONS:
            self._note(_FUNCTIONS[code], back.f_code, lambda: back.f_lineno)
        elif not code.co_name.startswith("__") and isinstance(frame.f_locals.get("self"), random.SystemRandom):
            self._note(f"SystemRandom.{code.co_name}", back.f_code, lambda: back.f_lineno)
        elif code.co_name in _LOGGED and code.co_filename == logging.__file__ and not _is_silent(frame):
            self._note_print("logging", back.f_code, lambda: back.f_lineno)

    def look(self, called: Any, first: object, code: types.CodeType, line: Callable[[], int]) -> None:
        """Looks at what the user's code calls, with its first argument."""
        if not issubclass(type(called), _CALLABLES) or self.is_importing:
            return
        if called in _BY_NAME and isinstance(first, (types.ModuleType, type)):
            self._listener.asked_by_name(first)
        if _writes(called):
            self._note_print(_WRITES.get(called) or called.__qualname__, code, line)
        if not is_users(code.co_filename):
            return
        name, owner = called.__name__, getattr(called, "__self__", None)
        if _is_outside(called, _READING_METHODS):
            self._note_print(called.__qualname__, code, line)
        elif isinstance(called, types.BuiltinFunctionType):
            if called is id:
                self._listener.asked_for_id(first)
            elif called is print:
                self._note_print("print", code, line)
            elif called in _CALLS:
                self._note(_CALLS[called], code, line)
            elif name in _NOW and isinstance(owner, type) and issubclass(owner, datetime.date):
                self._note(f"{owner.__name__}.{name}", code, line)
            elif issubclass(type(owner), random.SystemRandom):
                self._note(f"SystemRandom.{name}", code, line)
        elif isinstance(called, (types.FunctionType, types.MethodType)):
            inner = getattr(called, "__func__", called)
            if getattr(inner, "__code__", None) in _FUNCTIONS:
                self._note(_FUNCTIONS[inner.__code__], code, line)
            elif name in _LOGGED and getattr(inner, "__module__", "") == "logging":
                if not _drops(name, first if owner is None else owner):
                    self._note_print("logging", code, line)
            elif issubclass(type(first if owner is None else owner), random.SystemRandom):
                self._note(f"SystemRandom.{name}", code, line)

    def _note(self, name: str, code: types.CodeType, line: Callable[[], int]) -> None:
        if self.found is None and not _is_by_itself():
            self.found = name, _place(code, line())

    def _note_print(self, name: str, code: types.CodeType, line: Callable[[], int]) -> None:
        if self.printed is not None or _is_by_itself():
            return
        # Python shows what a library warns of once as a rule, which is no reason to run it in parts
        if self.on_effect is not None and (is_users(code.co_filename) or name != "warnings.warn"):
            self.on_effect(f"`{name}`")
        self.printed = name, _place(code, line())

    def finish(self, fn: Callable[..., Any], is_whole: bool) -> None:
        """Puts generators of random numbers back.

        Args:
          fn: The function, for messages.
          is_whole: Whether it has come to its end or was stopped, rather than raised.

        Raises:
          VolatileError: If the function drew from one, read an iterator, a clock or a file.
        """
        name, drawn = getattr(fn, "__name__", type(fn).__name__), self._states.put_back()
        if self._iterator is not None and is_whole:  # whose exception the function caught
            self.check(*self._iterator)
        if not is_whole:
            return
        if drawn is not None:
            raise VolatileError(
                f"`{name}` draws from {drawn}, and would draw the same numbers at each call",
                "Draw by `ja.rand` and the like, which a compiled function does anew at each call, or draw outside and "
                "pass what was drawn.",
            )
        if self.found is not None:
            what, where = self.found
            raise VolatileError(
                f"`{name}` calls `{what}`, at\n\n    {where}\n\nwhich is another thing at each call",
                "Call it outside of the function, and pass what it gives.",
            )
        if self.printed is not None and self.printed not in _warned:
            _warned.add(self.printed)
            what, where = self.printed
            warnings.warn(
                f"`{name}` calls `{what}`, at\n\n    {where}\n\nA compiled function does so when it is traced, "
                "not at each call. `ja.print` prints values at each call; write anything else outside of it.",
                TracedPrintWarning,
                stacklevel=2,
            )


def _writes(called: Any) -> bool:
    """Returns whether a call of something in C changes the world outside."""
    return _is_outside(called, _WRITING_METHODS) or (
        isinstance(called, types.BuiltinFunctionType) and called in _WRITES
    )


def _is_outside(called: Any, methods: set[str]) -> bool:
    """Returns whether what is called is one of some methods of a file, a socket, a database or the like."""
    if isinstance(called, types.MethodDescriptorType):
        return called.__name__ in methods and called.__objclass__.__module__ in _OUTSIDE
    owner = called.__self__ if isinstance(called, types.BuiltinFunctionType) else None
    is_method = owner is not None and not isinstance(owner, types.ModuleType)
    return is_method and called.__name__ in methods and module_of(type(owner)) in _OUTSIDE


def _asking(frame: types.FrameType) -> types.FrameType | None:
    """Returns the frame on whose behalf code of Python's library runs; None if that is JAX, NumPy or jaxaot."""
    asking = frame.f_back
    while asking is not None and is_foreign(asking.f_globals.get("__name__")) and not _is_of_core(asking):
        asking = asking.f_back
    return None if asking is None or _is_of_core(asking) else asking


def _is_silent(frame: types.FrameType) -> bool:
    return _drops(frame.f_code.co_name, frame.f_locals.get("self"))


def _drops(name: str, logger: object) -> bool:
    """Returns whether a logger drops what a method of it is given."""
    level = logging.ERROR if name == "exception" else logging.getLevelName(name.upper())
    return isinstance(logger, logging.Logger) and isinstance(level, int) and not logger.isEnabledFor(level)


def _is_of_core(frame: types.FrameType) -> bool:
    """Returns whether a frame runs code of JAX, NumPy or jaxaot."""
    module = frame.f_globals.get("__name__")
    return is_foreign(module) and package_of(module) not in sys.stdlib_module_names


def _is_of_a_listener(frame: types.FrameType) -> bool:
    """Returns whether JAX calls some code because others want to know what it does, `jax.monitoring`."""
    back, n = frame.f_back, 0
    while back is not None and n < _DEPTH and not is_core(back.f_code.co_filename):
        back, n = back.f_back, n + 1
    return back is not None and back.f_code.co_filename == _TELLS_LISTENERS


def _is_by_itself() -> bool:
    """Returns whether what runs was called by Python itself, at a moment of its own: when something is collected."""
    codes = {_code_of(callback) for callback in gc.callbacks}
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        is_known = code in codes or code.co_name == "__del__"
        if is_known or code.co_filename in (weakref.__file__, _TELLS_LISTENERS):
            return True
        frame = frame.f_back
    return False


def _code_of(callback: object) -> types.CodeType | None:
    fn = callback if hasattr(callback, "__func__") or hasattr(callback, "__code__") else type(callback).__call__
    return getattr(getattr(fn, "__func__", fn), "__code__", None)


class _Tool:
    """What Python tells of the code that runs: `sys.monitoring`, before Python 3.12 `sys.setprofile`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._active: dict[int, list[Calls]] = {}
        self._number: int | None = None
        self._codes: set[types.CodeType] = set()
        self._profiled: dict[int, Any] = {}

    def begin(self, calls: Calls) -> None:
        """Tells of what this thread runs from now on."""
        with self._lock:
            of_thread = self._active.setdefault(threading.get_ident(), [])
            of_thread.append(calls)
            if sys.version_info >= (3, 12):
                self._begin_monitoring()
            elif len(of_thread) == 1:
                self._profiled[threading.get_ident()] = sys.getprofile()
                sys.setprofile(self._profile)

    def end(self, calls: Calls) -> None:
        """Tells it no more."""
        with self._lock:
            thread = threading.get_ident()
            of_thread = self._active.get(thread, [])
            if calls in of_thread:
                of_thread.remove(calls)
            if of_thread:
                return
            self._active.pop(thread, None)
            if thread in self._profiled:
                _profile_again(self._profiled.pop(thread))
            if sys.version_info >= (3, 12) and not self._active:
                self._end_monitoring()

    if sys.version_info >= (3, 12):

        def _begin_monitoring(self) -> None:
            watching = sys.monitoring
            if self._number is None or watching.get_tool(self._number) != _NAME:
                self._number = next((n for n in _TOOLS if watching.get_tool(n) in (None, _NAME)), None)
                if self._number is None:
                    raise TraceError(
                        "All tools that `sys.monitoring` lets watch a program are taken, by debuggers, profilers or "
                        "the like. A function is watched while it is compiled: end one of them."
                    )
                if watching.get_tool(self._number) is None:
                    watching.use_tool_id(self._number, _NAME)
            # each time, as an interrupt may have come in between
            watching.register_callback(self._number, watching.events.PY_START, self._start)
            watching.register_callback(self._number, watching.events.CALL, self._call)
            watching.set_events(self._number, watching.events.PY_START)
            watching.restart_events()

        def _end_monitoring(self) -> None:
            watching = sys.monitoring
            if self._number is None or watching.get_tool(self._number) != _NAME:
                return
            watching.set_events(self._number, 0)
            for code in self._codes:
                watching.set_local_events(self._number, code, 0)
            self._codes.clear()
            for event in (watching.events.PY_START, watching.events.CALL):
                watching.register_callback(self._number, event, None)
            watching.free_tool_id(self._number)
            self._number = None

        def _start(self, code: types.CodeType, _: int) -> Any:
            told = self._active.get(threading.get_ident())
            if not told:  # which may run on when this tool is free again
                return None
            for calls in tuple(told):
                calls.started(code, sys._getframe(1))
            if is_looked_at(code.co_filename) and self._number is not None:
                self._codes.add(code)
                sys.monitoring.set_local_events(self._number, code, sys.monitoring.events.CALL)
            is_again = (
                code is _READS_VARIABLE
                or code is _IMPORTS
                or code in _ASKS_LOGGER
                or reads_by_hand(code)
                or len(self._active) > 1
                or any(calls.is_importing for calls in told)
            )
            return None if is_again else sys.monitoring.DISABLE

        def _call(self, code: types.CodeType, offset: int, called: Any, first: object) -> Any:
            for calls in self._active.get(threading.get_ident(), ()):
                calls.look(called, first, code, lambda: _line_at(code, offset))

    def _profile(self, frame: types.FrameType, event: str, called: Any) -> None:
        before = self._profiled.get(threading.get_ident())
        if callable(before):
            before(frame, event, called)
        for calls in tuple(self._active.get(threading.get_ident(), ())):
            if event == "c_call" and is_looked_at(frame.f_code.co_filename):
                calls.look(called, None, frame.f_code, lambda: frame.f_lineno)
            elif event == "call":
                calls.started(frame.f_code, frame)
                if frame.f_back is not None and is_users(frame.f_back.f_code.co_filename) and not calls.is_importing:
                    calls.entered(frame.f_back, frame)


def _profile_again(profiler: Any) -> None:
    """Has code profiled as before: by a function, or by a `cProfile.Profile`, which C calls."""
    if profiler is None or callable(profiler):
        sys.setprofile(profiler)
    else:
        sys.setprofile(None)
        profiler.enable()


_tool = _Tool()


def _line_at(code: types.CodeType, offset: int) -> int:
    return next((line or 0 for start, end, line in code.co_lines() if start <= offset < end), code.co_firstlineno)


def _place(code: types.CodeType, line: int) -> str:
    return f"{code.co_filename}:{line}, in {code.co_name}"


def _a(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


_warned: set[tuple[str, str]] = set()
