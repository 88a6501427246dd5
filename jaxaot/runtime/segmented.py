"""SegmentedFunction: a compiled function in which Python may ask for values.

A call walks along the programs. Each runs its first segment, or takes the results if another one of this call did, and
goes on only if the break value is the one that it was made for. If none comes to its end, a program is made for the
values of this call. Nothing is written before the last segment has run.
"""

from __future__ import annotations

from typing import Any

from jaxaot import settings as config
from jaxaot.errors import RecompileWarning, VolatileError
from jaxaot.facade.deferred.recorder import Recorder
from jaxaot.facade.deferred.stretch import StretchPrograms
from jaxaot.facade.memory.source_line import warn_user
from jaxaot.plan.source import MISS
from jaxaot.runtime.compiled import CacheInfo, CompiledFunction
from jaxaot.runtime.links import SharedSegment, Walk
from jaxaot.runtime.options import CompileOptions
from jaxaot.runtime.program import Program
from jaxaot.runtime.segment_builder import SegmentBuilder, TooManyBreaks
from jaxaot.runtime.sizes import TracedSizes
from jaxaot.runtime.untraced import NotTraced


class SegmentedFunction(CompiledFunction[..., Any]):
    """A function that is traced and compiled in segments, once for each kind of call and each course it takes.

    One that calls a function under `ja.compiler.disable` is run by Python at each call, and its operations in
    stretches; see `facade/deferred/recorder.py`.
    """

    def __init__(
        self, fn: Any, build: SegmentBuilder, inspect: Any, options: CompileOptions,
        sizes: TracedSizes | None = None,
    ):  # fmt: skip
        super().__init__(fn, build, inspect, options, sizes)
        self._takes_iterators = True
        self._warned: set[str] = set()
        self._stretches = StretchPrograms(
            build.pipeline.make, options.max_programs, getattr(fn, "__name__", type(fn).__name__)
        )
        self._has_disabled = False

    def _keep(self, programs: list[Program]) -> None:
        self.programs = programs  # of which none is entered without a walk

    def _at_size(self, args: Any, kwargs: Any) -> Any:
        return MISS

    def _look_up(self, programs: list[Program], args: Any, kwargs: Any) -> Any:
        return super()._look_up(self.programs, args, kwargs)

    def _walk(self) -> tuple[Any, ...]:
        return (Walk(),)

    def _gives_up(self, args: Any, kwargs: Any, *walk: Any) -> bool:
        stopped = walk[0].stopped
        if stopped is not None:
            program, place, _ = stopped
            segment = walk[0].segments[place]
            exact = [p for p in self.programs if p.bucket is None]
            values = {p.traced.break_values[place].value for p in exact if _runs(p, place, segment)}
            if len(values) >= config.get().max_values:
                self._warn(
                    program.traced.break_values[place].line,
                    f"had {len(values)} values so far, and a program was made for each",
                    "calls with other values",
                )
                return True
        return False

    def _warn(self, line: str, what: str, which: str) -> None:
        if line in self._warned:
            return
        self._warned.add(line)
        warn_user(
            f"In `{getattr(self.fn, '__name__', self.fn)}`, what Python asks for at\n\n    {line}\n\n{what}. From now "
            f"on {which} run eagerly: the results are the same, but nothing is compiled. Compute with the tensor "
            "instead (`ja.where`), return the value and look at it outside, or raise `ja.config(max_values=..., "
            "max_breaks=...)`.",
            RecompileWarning,
        )

    def _built(self, args: Any, kwargs: Any, *walk: Any, **numbers: Any) -> Program:
        try:
            return super()._built(args, kwargs, *walk, self.programs, **numbers)
        except TooManyBreaks as stop:
            *before, last = stop.traced.break_values
            self._warn(last.line, f"follows {len(before)} such values in one call", "calls of this kind")
            self._untraced.note(args, kwargs)
            raise NotTraced(None) from None

    def _unsettled(self, made: list[Program], call: tuple[Any, ...], *walk: Any) -> Any:
        if walk[0].stopped is not None:  # the last bit of a value came out differently
            return MISS
        return super()._unsettled(made, call)

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
            self._stretches.clear()


def _runs(program: Program, place: int, segment: SharedSegment) -> bool:
    links = program.links or ()
    return place < len(links) and links[place].segment is segment
