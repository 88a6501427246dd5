"""SegmentBuilder: makes the programs of a function that is compiled in segments.

The function is traced again from its start for each value that Python asks for; the segments before such a value are
run to compute it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxaot import settings as config
from jaxaot.facade.marks.bad_arguments import require_arguments
from jaxaot.ir.rewrite import rebuild
from jaxaot.ir.walk import backward_slice
from jaxaot.lower.interpret import Interpreter
from jaxaot.ops.promotion import is_inexact
from jaxaot.plan.breaks import BreakValue
from jaxaot.plan.paths import Path
from jaxaot.plan.source import MISS
from jaxaot.plan.stages import Traced
from jaxaot.runtime.bucket_plan import BucketPlan
from jaxaot.runtime.call import generate
from jaxaot.runtime.compiled import unsettled
from jaxaot.runtime.key import key_for_call
from jaxaot.runtime.links import Linker, Walk
from jaxaot.runtime.program import Program
from jaxaot.runtime.traced_call import GivenCall, TracedCall


class Unbranched(Exception):
    """Python asked for more values than there may be segments, for one that is no branch, or for something else.

    Attributes:
      traced: The trace until there.
    """

    def __init__(self, traced: Traced):
        super().__init__(traced.break_values[-1].line)
        self.traced = traced

    @property
    def at(self) -> BreakValue:
        """Where it is."""
        return self.traced.break_values[-1]


class SegmentBuilder:
    """Makes the programs of a function that is compiled in segments.

    Attributes:
      pipeline: The stages from a call to its executables.
    """

    def __init__(self, pipeline: Any):
        self.pipeline = pipeline
        self._executables: dict[Any, Any] = {}

    def __call__(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], writing: Any, walk: Walk,
        programs: Sequence[Program], *, numbers: Sequence[Path] = (),
    ) -> Program:  # fmt: skip
        """Returns a program for a call; other programs that run some of its segments compute more from then on."""
        stages = self.pipeline
        traced = self.trace(fn, args, kwargs, walk.known, numbers)
        key = key_for_call(traced, fn, args, kwargs)
        stages.prove(traced, key, getattr(fn, "__name__", type(fn).__name__))
        call = TracedCall(GivenCall(fn, args, kwargs, numbers), traced, stages.joint, key)
        found = stages.sizes.plan(call) if stages.sizes is not None and call.counts else None
        bucket = found if isinstance(found, BucketPlan) else None
        partition = stages.cut(traced) if bucket is None and traced.needs_backward else None
        before = {link.segment: link.segment.call for p in programs for link in p.links or ()}
        make = lambda graph: self._executable(graph, key.jax_settings)
        linker = Linker(traced, walk, programs, make, () if bucket is None else bucket.keys)
        if bucket is not None:
            partition = bucket.partition
        program = generate(Program(traced, partition, stages.make, key.settings.donate, key, linker, bucket), writing)
        for other in programs:
            if any(link.segment.call is not before[link.segment] for link in other.links or ()):
                generate(other, writing)
        return program

    def _executable(self, graph: Any, settings: Any) -> Any:
        """Returns the executable of a graph that runs under some settings of JAX: loops have many alike."""
        consts = tuple((c.shape, str(c.dtype), c.tobytes()) for c in map(np.asarray, graph.consts))
        cache_key = (str(graph.jaxpr), consts, settings)
        if cache_key not in self._executables:
            executable = self._executables[cache_key] = self.pipeline.make(graph, (), "segment")
            executable.settings = settings
        return self._executables[cache_key]

    def shown(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
        """Returns the trace of a call, with its branches, as people look at it; until where it stops for all else."""
        require_arguments(fn, args, kwargs, "ja.trace")
        traced: Traced = self.pipeline.trace(GivenCall(fn, args, kwargs, stops=True), (), None)
        if traced.is_whole or not traced.break_values[-1].is_discrete:
            return traced
        try:
            return self.trace(fn, args, kwargs)
        except Unbranched as stop:
            return stop.traced

    def trace(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
        known: tuple[np.ndarray, ...] = (), numbers: Sequence[Path] = (),
    ) -> Traced:  # fmt: skip
        """Returns the whole trace of a call, made by tracing again with one more known value each time.

        Raises:
          Unbranched: If Python asks for more values than the settings allow, or for one that may be any.
        """
        while True:
            traced: Traced = self.pipeline.trace(GivenCall(fn, args, kwargs, numbers), (), known)
            if traced.is_whole:
                return traced
            at = traced.break_values[-1]
            if len(known) >= config.get().max_breaks or not at.is_discrete:
                raise Unbranched(traced)
            known = (*known, ask(traced, (fn, args, kwargs), self.pipeline.make))


def ask(traced: Traced, call: tuple[Any, Any, Any], make: Callable[..., Any]) -> np.ndarray:
    """Returns the value at which a trace stopped, and changes nothing.

    A number of few values is computed one operation at a time, whose kernels later breaks and loops find compiled; a
    float as the program will compute it, because its last bit decides which program fits.

    Args:
      traced: The trace.
      call: The function, its arguments and keyword arguments.
      make: A backend.
    """
    jaxpr, key = traced.jaxpr, key_for_call(traced, *call)
    needed = sorted(backward_slice(jaxpr.jaxpr, jaxpr.jaxpr.outvars))
    pure = rebuild(jaxpr, [jaxpr.jaxpr.eqns[i] for i in needed], jaxpr.jaxpr.outvars)
    backend = make if is_inexact(traced.break_values[-1].dtype) else Interpreter
    program = generate(Program(dataclasses.replace(traced, jaxpr=pure), None, backend, False, key), None)
    value = program.enter(*call)
    if value is MISS:
        raise unsettled(key, key, *call)
    return np.asarray(value)
