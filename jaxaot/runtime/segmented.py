"""SegmentedFunction: a compiled function in which Python may ask for values.

A call walks along the programs. Each runs its first segment, or takes the results if another one of this call did, and
goes on only if the break value is the one that it was made for. If none comes to its end, a program is made for the
values of this call. Nothing is written before the last segment has run.
"""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxaot import settings as config
from jaxaot._frames import without_own_frames
from jaxaot.errors import RecompileWarning, VolatileError
from jaxaot.facade.cells.iterated import read_iterators
from jaxaot.facade.deferred.lazy import Recorder
from jaxaot.facade.dispatch.lazy_segment import StretchPrograms
from jaxaot.facade.trace_state import RUNNING, wait_for_traces
from jaxaot.ir.rewrite import rebuild
from jaxaot.ir.walk import backward_slice
from jaxaot.lower.interpret import Interpreter
from jaxaot.ops.promotion import is_inexact
from jaxaot.plan.difference import CallKey
from jaxaot.plan.stages import Traced
from jaxaot.runtime.call import generate
from jaxaot.runtime.compiled import N_BUILDS, CacheInfo, CompiledFunction, unsettled
from jaxaot.runtime.guards import generate_test
from jaxaot.runtime.links import InputKey, Linker, SharedSegment, Walk, input_keys
from jaxaot.runtime.options import CompileOptions
from jaxaot.runtime.program import Program
from jaxaot.runtime.sizes import TracedSizes
from jaxaot.runtime.source import MISS
from jaxaot.tape.modes import state


class TooManyBreaks(Exception):
    """Python asked for more values in one call than there may be segments.

    Attributes:
      first: The trace up to the first of them.
      last: The trace up to the last of them.
    """

    def __init__(self, first: Traced, last: Traced):
        super().__init__(len(last.break_values))
        self.first = first
        self.last = last


def trace_through(
    trace: Callable[[tuple[np.ndarray, ...]], Traced],
    run: Callable[[Traced], np.ndarray],
    known: tuple[np.ndarray, ...],
    most: int,
) -> Traced:
    """Returns the whole trace of a call, made by tracing again from the start with one more known value each time.

    Args:
      trace: Traces with some known values, to the end or to the first one that is not known.
      run: Computes that value.
      known: The values to start with.
      most: How many values may be asked for.

    Raises:
      TooManyBreaks: If Python asks for more.
    """
    first: Traced | None = None
    while True:
        traced = trace(known)
        if traced.is_whole:
            return traced
        first = traced if first is None else first
        if len(known) >= most:
            raise TooManyBreaks(first, traced)
        known = (*known, run(traced))


def ask(traced: Traced, key: CallKey, call: tuple[Any, Any, Any], make: Callable[..., Any], lock: Any) -> np.ndarray:
    """Returns the value at which a trace stopped, and changes nothing.

    A number of few values is computed one operation at a time, whose kernels later breaks and loops find compiled; a
    float as the program will compute it, because its last bit decides which program fits.

    Args:
      traced: The trace.
      key: All that its guards look at.
      call: The function, its arguments and keyword arguments.
      make: A backend.
      lock: Held by calls that write.
    """
    jaxpr = traced.jaxpr
    needed = sorted(backward_slice(jaxpr.jaxpr, jaxpr.jaxpr.outvars))
    pure = rebuild(jaxpr, [jaxpr.jaxpr.eqns[i] for i in needed], jaxpr.jaxpr.outvars)
    backend = make if is_inexact(traced.break_values[-1].dtype) else Interpreter
    program = Program(dataclasses.replace(traced, jaxpr=pure), None, backend, False, key)
    generate(program, lock)
    value = program.enter(*call)
    if value is MISS:
        raise unsettled(key, key)
    return np.asarray(value)


class ExecutableCache:
    """Executables by their graphs: the iterations of a loop are often one."""

    def __init__(self, make: Callable[..., Any]):
        self._make = make
        self._found: dict[Any, Any] = {}

    def __call__(self, graph: Any, settings: Any) -> Any:
        """Returns an executable of a graph that runs under some settings of JAX."""
        consts = tuple((c.shape, str(c.dtype), np.asarray(c).tobytes()) for c in map(np.asarray, graph.consts))
        cache_key = (str(graph.jaxpr), consts, settings)
        if cache_key not in self._found:
            executable = self._make(graph, (), "segment")
            executable.settings = settings
            self._found[cache_key] = executable
        return self._found[cache_key]

    def clear(self) -> None:
        """Forgets all of them."""
        self._found.clear()


def make_linker(
    traced: Traced,
    walk: Walk,
    programs: Sequence[Program],
    make: Callable[[Any], Any],
    further: Sequence[InputKey] = (),
) -> Linker:
    """Returns a function that finds the segments of a program for the call of a walk.

    Args:
      traced: What the program is made for.
      walk: How far the call came.
      programs: The function's programs.
      make: Makes an executable of a graph.
      further: The keys of the inputs that the graph has besides those of the trace.
    """
    users: list[frozenset[InputKey]] = []
    for segment in walk.segments:
        having = [p for p in programs if any(link.segment is segment for link in p.links or ())]
        users.append(frozenset.intersection(*(frozenset(p.input_keys) for p in having)) if having else frozenset())
    keys = input_keys(traced, [(p.traced, p.input_keys) for p in programs])
    return Linker((*keys, *further), walk.segments, tuple(users), make)


class SegmentedFunction(CompiledFunction[..., Any]):
    """A function that is traced and compiled in segments, once for each kind of call and each course it takes.

    `build` takes (fn, args, kwargs, lock, walk, programs) and raises `TooManyBreaks` where it gives up; its `make` is
    the backend.

    One that calls a function under `ja.compiler.disable` is run by Python at each call, and its operations in
    stretches; see `facade/deferred/lazy.py`.
    """

    def __init__(
        self, fn: Callable[..., Any], build: Any, inspect: Any, options: CompileOptions,
        sizes: TracedSizes | None = None,
    ):  # fmt: skip
        super().__init__(fn, build, inspect, options, sizes)
        self._run_eagerly: list[Callable[..., Any]] = []
        self._warned: set[str] = set()
        self._stretches = StretchPrograms(build.make, options.max_programs, getattr(fn, "__name__", type(fn).__name__))
        self._has_disabled = False

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if RUNNING:
            if state.trace is not None or state.inlines or (state.dual is not None and state.dual.has_duals()):
                return self.fn(*args, **kwargs)  # part of the graph that is being traced
            if not wait_for_traces():
                return self._eagerly(args, kwargs)
        args, kwargs = read_iterators(args, kwargs)
        walk = Walk()
        result = self._follow(walk, args, kwargs)
        if result is not MISS:
            return result
        try:
            if self._gives_up(walk, args, kwargs):
                return self._eagerly(args, kwargs)
            return self._first_or_eager_call(args, kwargs)
        except Exception as error:
            raise without_own_frames(error)  # noqa: B904  # it is the same exception

    def _follow(self, walk: Walk, args: Any, kwargs: Any) -> Any:
        """Returns the result of a call that a program fits to its end, or `MISS`."""
        for program in self.programs:
            result = self._enter(program, args, kwargs, walk)
            if result is not MISS:
                self._hits += 1
                if program is not self.programs[0]:
                    self._move_to_front(program)
                return result
        return MISS

    def _gives_up(self, walk: Walk, args: Any, kwargs: Any) -> bool:
        """Returns whether a call that no program fits is to run eagerly."""
        if walk.stopped is not None:
            program, place, _ = walk.stopped
            segment = walk.segments[place]
            exact = [p for p in self.programs if p.bucket is None]
            values = {p.traced.break_values[place].value for p in exact if _runs(p, place, segment)}
            if len(values) >= config.get().max_values:
                self._warn(
                    program.traced.break_values[place].line,
                    f"had {len(values)} values so far, and a program was made for each",
                    "calls with other values",
                )
                return True
        return any(fits(self.fn, args, kwargs) is not MISS for fits in self._run_eagerly)

    def _warn(self, line: str, what: str, which: str) -> None:
        if line in self._warned:
            return
        self._warned.add(line)
        warnings.warn(
            f"In `{getattr(self.fn, '__name__', self.fn)}`, what Python asks for at\n\n    {line}\n\n{what}. From now "
            f"on {which} run eagerly: the results are the same, but nothing is compiled. Compute with the tensor "
            "instead (`ja.where`), return the value and look at it outside, or raise `ja.config(max_values=..., "
            "max_breaks=...)`.",
            RecompileWarning,
            stacklevel=4,
        )

    def _first_call(self, args: Any, kwargs: Any) -> Any:
        with self._building:
            walk = Walk()
            result = self._follow(walk, args, kwargs)
            if result is not MISS or self._gives_up(walk, args, kwargs) or self._is_volatile:
                return result
            if self._untraced.holds(args, kwargs):
                return MISS
            program, start = None, time.perf_counter()
            for _ in range(N_BUILDS):
                before = program
                try:
                    program = self._built(args, kwargs, walk, self.programs, numbers=self._changing(args, kwargs))
                except TooManyBreaks as stop:
                    self._run_eagerly.append(generate_test(stop.first, config.get(), state.saved_hooks))
                    n = len(stop.last.break_values) - 1
                    self._warn(
                        stop.last.break_values[-1].line, f"follows {n} such values in one call", "calls of this kind"
                    )
                    return MISS
                walk = Walk()
                result = self._enter(program, args, kwargs, walk)
                if result is not MISS:
                    self._add(program, args, kwargs, time.perf_counter() - start)
                    return result
            if walk.stopped is not None:  # the last bit of a value came out differently
                return MISS
            assert program is not None and before is not None
            raise unsettled(before.key, program.key)

    def _note_volatile(self, error: VolatileError) -> None:
        if error.is_break:
            self._has_disabled = True
        else:
            super()._note_volatile(error)

    def _eagerly(self, args: Any, kwargs: Any) -> Any:
        if not self._has_disabled:
            return super()._eagerly(args, kwargs)
        n_made = self._stretches.n_made
        with Recorder(self._stretches):
            result = super()._eagerly(args, kwargs)
        if self._stretches.n_made == n_made:
            self._hits += 1
        else:
            self._misses += 1
        return result

    def cache_info(self) -> CacheInfo:
        """Returns how many calls found a program, how many had one built, and how many there are."""
        return super().cache_info()._replace(currsize=self.n_programs + len(self._stretches))

    def clear_cache(self) -> None:
        """Drops all compiled versions."""
        with self._building:
            super().clear_cache()
            self._run_eagerly = []
            self._stretches.clear()


def _runs(program: Program, place: int, segment: SharedSegment) -> bool:
    links = program.links or ()
    return place < len(links) and links[place].segment is segment
