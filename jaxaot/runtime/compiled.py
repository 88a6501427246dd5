"""CompiledFunction: looks a program up, or has one built, and enters it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from jaxaot.autograd.modes import state
from jaxaot.runtime.call import MISS
from jaxaot.runtime.program import Program
from jaxaot.tensor.iterated import has_iterators, read_iterators


class CacheInfo(NamedTuple):
    """What `cache_info()` returns."""

    hits: int
    misses: int
    currsize: int


class CompiledFunction:
    """A function that is traced and compiled once for each kind of call.

    Attributes:
      fn: The function itself.
      programs: Its compiled versions, the last used first.
    """

    def __init__(self, fn: Callable[..., Any], build: Callable[..., Program], inspect: Any):
        """Wraps a function.

        Args:
          fn: What to compile.
          build: Traces and compiles `fn(*args, **kwargs)`.
          inspect: Has `trace(fn, args, kwargs)` and `explain(fn, args, kwargs)`.
        """
        self.fn = fn
        self.programs: list[Program] = []
        self._build = build
        self._inspect = inspect
        self._lock = threading.RLock()
        self._misses = 0
        self._takes_iterators = False
        functools.update_wrapper(self, fn, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if state.trace is not None:
            return self.fn(*args, **kwargs)  # part of the graph that is being traced
        if self._takes_iterators:
            args, kwargs = read_iterators(args, kwargs)
        fn = self.fn
        programs = self.programs
        for program in programs:
            result = program.enter(fn, args, kwargs)
            if result is not MISS:
                program.n_calls += 1
                if program is not programs[0]:
                    self._move_to_front(program)
                return result
        return self._first_call(args, kwargs)

    def _move_to_front(self, program: Program) -> None:
        with self._lock:
            self.programs = [program, *(p for p in self.programs if p is not program)]

    def _first_call(self, args: Any, kwargs: Any) -> Any:
        if has_iterators(args, kwargs):  # no program has touched them: what is no tensor or array fits none
            self._takes_iterators = True
            return self(*args, **kwargs)
        with self._lock:
            program = self._build(self.fn, args, kwargs)
            result = program.enter(self.fn, args, kwargs)
            if result is MISS:
                raise AssertionError(f"a program does not fit the call it was made for:\n{program.source}")
            self._misses += 1
            program.n_calls += 1
            self.programs = [program, *self.programs[:127]]
        return result

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the traced graph of a call; nothing is changed by it."""
        return self._inspect.trace(self.fn, args, kwargs)

    def explain(self, *args: Any, **kwargs: Any) -> None:
        """Prints every stage that a call goes through: signature, graph, joint graph, forward, backward."""
        print(self._inspect.explain(self.fn, args, kwargs))

    def cache_info(self) -> CacheInfo:
        """Returns how many calls found a program, how many had one built, and how many there are."""
        calls = sum(program.n_calls for program in self.programs)
        return CacheInfo(max(calls - self._misses, 0), self._misses, len(self.programs))

    def clear_cache(self) -> None:
        """Drops all compiled versions."""
        with self._lock:
            self.programs = []
            self._misses = 0
