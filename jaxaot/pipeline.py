"""The flow of `ja.compile`: trace, cut, lower, generate. `Pipeline.build` is all of it.

What not every call needs is wrapped around a stage, which it takes and returns: traces once for sizes that are known,
proofs of guards, what functions under `ja.remat` ask, views that are passed as values; cuts that a process before this
one made; limits that are met by measuring; programs of buckets.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

from jaxaot import flow
from jaxaot._callables import require_function
from jaxaot._frames import without_own_frames
from jaxaot._progress import working
from jaxaot.facade.cells.iterated import read_iterators
from jaxaot.facade.marks.bad_arguments import require_arguments
from jaxaot.facade.marks.raised import require_values
from jaxaot.lower.backends import get_backend
from jaxaot.lower.warm.kept import Cut
from jaxaot.plan.difference import CallKey
from jaxaot.plan.paths import Path
from jaxaot.plan.stages import JointGraph, Partition, Traced
from jaxaot.runtime.bucket_plan import Shared
from jaxaot.runtime.call import generate
from jaxaot.runtime.compile_report import Inspector, name_of
from jaxaot.runtime.compiled import CompiledFunction
from jaxaot.runtime.fitting import asking, fitting_program, peak_bytes_at_bucket, within_limits
from jaxaot.runtime.key import key_for_call
from jaxaot.runtime.options import CompileOptions
from jaxaot.runtime.parts import Parts
from jaxaot.runtime.program import Program, lower
from jaxaot.runtime.segment_builder import SegmentBuilder
from jaxaot.runtime.segmented import SegmentedFunction
from jaxaot.runtime.sizes import TracedSizes, cached_calls, changing_views, in_buckets
from jaxaot.runtime.traced_call import GivenCall, Trace, TracedCall
from jaxaot.runtime.untraced import Broken
from jaxaot.runtime.warm import warm
from jaxaot.tracer.trace import trace_call


def compiled(fn: Callable[..., Any], options: CompileOptions) -> CompiledFunction[..., Any]:
    """Returns a function that is traced and compiled once for each kind of call.

    Raises:
      PolicyError, BudgetError, UsageError: See `CompileOptions.check`.
    """
    require_function(fn, "ja.compile", "ja.compile(f)")
    options.check()
    pipeline = Pipeline(fn, options)
    if options.fullgraph:
        return CompiledFunction(fn, pipeline.build, Inspector(traced_of, pipeline.cut), options, pipeline.sizes)
    inspect = Inspector(SegmentBuilder(pipeline).shown, pipeline.cut)
    return CompiledFunction(fn, pipeline.build, inspect, options, pipeline.sizes, in_parts)


def in_parts(fn: Callable[..., Any], options: CompileOptions, run: Callable[..., Any]) -> Parts:
    """Returns what runs calls of a function in parts; `run` takes the arguments of a call to the function itself."""
    exact = dataclasses.replace(options, dynamic=options.dynamic is True)
    pipeline = Pipeline(fn, exact)
    builder = SegmentBuilder(pipeline)
    branches = SegmentedFunction(fn, builder, Inspector(builder.trace, pipeline.cut), exact, pipeline.sizes)
    return Parts(fn, branches, options.max_programs, run)


def traced_call(given: GivenCall) -> TracedCall:
    """Returns a call that is about to be carried out, traced.

    Raises:
      Broken: If the trace may stop, and did.
      DeletedArrayError: If an argument was donated or deleted.
      SignatureMismatchError: If an argument is a type without a value.
    """
    traced = trace_at(given, (), None)
    key = key_for_call(traced, given.fn, given.args, given.kwargs)
    if not traced.is_whole:
        raise Broken(traced, key)
    return TracedCall(given, traced, flow.plain_joint_of, key)


def trace_at(given: GivenCall, sizes: Any, known: Any) -> Traced:
    """Returns the trace of a call; `sizes` are other ones than its own, `known` the values that Python asks for."""
    fn, args, kwargs, numbers, symbolic, by_value, stops = given
    args, kwargs = read_iterators(args, kwargs)
    return require_values(trace_call(fn, args, kwargs, known, numbers, sizes, symbolic, by_value, stops))


def traced_of(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
    """Returns the trace of a call, given as a function and its arguments.

    Raises:
      ArgumentError: If there are no arguments, and the function needs some.
      TraceError: If the function cannot be traced.
    """
    require_arguments(fn, args, kwargs, "ja.trace")
    try:
        return trace_call(fn, *read_iterators(args, kwargs))
    except Exception as error:
        raise without_own_frames(error)  # noqa: B904  # it is the same exception


def prove(traced: Traced, key: CallKey, name: str) -> None:
    """Proves the guards of a program, where the settings ask for that."""
    if key.settings.validate_guards:
        from jaxaot.validate.prove import prove_guards  # a solver that few ask for

        prove_guards(traced, key, name)


def proved(trace: Trace) -> Trace:
    """Returns a stage that proves the guards of what it traces."""

    def stage(given: GivenCall) -> TracedCall:
        call = trace(given)
        prove(call.traced, call.key, call.name)
        return call

    return stage


class TracingStages:
    """The stages up to the joint graph, which are the same for all that is traced at several sizes."""

    begin = staticmethod(traced_call)
    trace = staticmethod(trace_at)
    joint = staticmethod(flow.plain_joint_of)
    prove = staticmethod(prove)


class Pipeline(TracingStages):
    """What makes the programs of one function.

    Attributes:
      options: What the user said.
      make: The backend.
      sizes: What is known of the sizes of calls; None if each has a program of its own.
    """

    def __init__(self, fn: Callable[..., Any], options: CompileOptions):
        self.options, self.make = options, get_backend(options.backend)
        self.sizes = TracedSizes(fn, options.dynamic or None, options.buckets, self) if options.has_buckets else None
        self._traced = cached_calls(self.sizes, proved(changing_views(self.sizes, asking(traced_call))))
        cut = warm(options, self.make, self._cut)
        self._lowered = in_buckets(self.sizes, self.make, within_limits(options, flow.after_passes, cut, self._lower))

    def build(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], writing: Any, *,
        numbers: Sequence[Path] = (),
    ) -> Program:  # fmt: skip
        """Returns the program for all calls that pass the guards of this one.

        Args:
          fn: The function, or a copy of it.
          args: Its arguments.
          kwargs: Its keyword arguments.
          writing: The lock that calls of the function hold which write.
          numbers: Paths of numbers that changed before.
        """
        with working(f"tracing `{name_of(fn)}`"):
            call = self._traced(GivenCall(fn, args, kwargs, numbers, by_value=(), stops=not self.options.fullgraph))
        with working(f"choosing what `{name_of(fn)}` saves"):
            return generate(self._lowered(call), writing)

    def _cut(self, call: TracedCall) -> Partition | None:
        if call.joint is None:
            return None
        return flow.after_passes(call.joint).partition(self.options.policy, self.options.memory_budget)

    def _lower(self, call: TracedCall, cut: Partition | Cut | None) -> Program:
        return lower(call.traced, cut, self.make, call.key)

    def cut(self, traced: Traced) -> Partition:
        """Returns the forward and backward of a traced call."""
        return traced.joint().partition(self.options.policy, self.options.memory_budget)

    # at a bucket

    def partition(self, joint: JointGraph) -> Partition:
        return flow.partition_at_bucket(flow.after_passes(joint), self.options.policy, self.options.memory_budget)

    def choose(self, joint: JointGraph, make: Callable[[Partition], Shared], name: str) -> Shared:
        fit = self.options.fit
        if fit is None:
            return make(self.partition(joint))
        cut = functools.partial(flow.partition_at_bucket, flow.after_passes(joint))
        return fitting_program(cut, self.options.policy, fit, make, peak_bytes_at_bucket, name)
