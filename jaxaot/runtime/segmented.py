"""SegmentedFunction: a compiled function in which Python branches on values, each way a program of segments.

A call walks along the programs. Each runs its first segment, or takes the results if another one of this call did, and
goes on only if the break value is the one that it was made for. If none comes to its end, a program is made for the
values of this call. Nothing is written before the last segment has run.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from jaxaot import settings as config
from jaxaot.plan.breaks import BreakValue
from jaxaot.plan.source import MISS
from jaxaot.runtime.compiled import CompiledFunction
from jaxaot.runtime.links import SharedSegment, Walk
from jaxaot.runtime.options import CompileOptions
from jaxaot.runtime.program import Program
from jaxaot.runtime.segment_builder import SegmentBuilder, Unbranched
from jaxaot.runtime.sizes import TracedSizes


class NotBranches(Exception):
    """A call cannot be run as one of few branches; nothing was done.

    Attributes:
      at: Where, and why.
    """

    def __init__(self, at: BreakValue):
        super().__init__(at.line)
        self.at = at


class SegmentedFunction(CompiledFunction[..., Any]):
    """A function that is traced and compiled in segments, once for each kind of call and each course it takes.

    What cannot be run so raises `NotBranches`.
    """

    def __init__(
        self, fn: Any, build: SegmentBuilder, inspect: Any, options: CompileOptions,
        sizes: TracedSizes | None = None,
    ):  # fmt: skip
        super().__init__(fn, build, inspect, options, sizes)
        self._takes_iterators = True
        self.make = build.pipeline.make

    def _keep(self, programs: list[Program]) -> None:
        self.programs = programs  # of which none is entered without a walk

    def _at_size(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return MISS

    def _look_up(self, programs: list[Program], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return super()._look_up(self.programs, args, kwargs)

    def _walk(self) -> tuple[Any, ...]:
        return (Walk(),)

    def _gives_up(self, args: tuple[Any, ...], kwargs: dict[str, Any], *walk: Any) -> None:
        stopped = walk[0].stopped
        if stopped is not None:
            program, place, _ = stopped
            segment = walk[0].segments[place]
            exact = [p for p in self.programs if p.bucket is None]
            values = {p.traced.break_values[place].value for p in exact if _runs(p, place, segment)}
            if len(values) >= config.get().max_values:
                why = f"a value, which was {len(values)} ones so far and has a program for each,"
                raise NotBranches(dataclasses.replace(program.traced.break_values[place], asked=why))

    def _built(self, args: tuple[Any, ...], kwargs: dict[str, Any], *walk: Any, **numbers: Any) -> Program:
        try:
            return super()._built(args, kwargs, *walk, self.programs, **numbers)
        except Unbranched as stop:
            raise NotBranches(stop.at) from None

    def _unsettled(self, made: list[Program], call: tuple[Any, ...], *walk: Any) -> Any:
        if walk[0].stopped is not None:  # the last bit of a value came out differently
            raise NotBranches(walk[0].stopped[0].traced.break_values[walk[0].stopped[1]])
        return super()._unsettled(made, call)


def _runs(program: Program, place: int, segment: SharedSegment) -> bool:
    links = program.links or ()
    return place < len(links) and links[place].segment is segment
