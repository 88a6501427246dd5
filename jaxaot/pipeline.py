"""The flow of `ja.compile`: trace, joint, partition, lower, generate. `Pipeline.build` is all of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from jaxaot import flow
from jaxaot import settings as config
from jaxaot._callables import require_function
from jaxaot._frames import without_own_frames
from jaxaot.facade.cells.iterated import read_iterators
from jaxaot.facade.marks.bad_arguments import require_arguments
from jaxaot.facade.marks.raised import require_values
from jaxaot.lower.backends import get_backend
from jaxaot.lower.executable import Executable
from jaxaot.partition.budget import Fit, parse_fit
from jaxaot.partition.fitting import Asked, find_traced, fitting
from jaxaot.plan.difference import CallKey
from jaxaot.plan.paths import Path
from jaxaot.plan.stages import JointGraph, Partition, Traced
from jaxaot.runtime.call import generate
from jaxaot.runtime.compile_report import Inspector
from jaxaot.runtime.compiled import CompiledFunction
from jaxaot.runtime.fitting import fitting_program, peak_bytes, peak_bytes_at_bucket
from jaxaot.runtime.key import key_for_call
from jaxaot.runtime.options import CompileOptions
from jaxaot.runtime.program import Program, lower
from jaxaot.runtime.room import Room, Shared
from jaxaot.runtime.segment_builder import SegmentBuilder
from jaxaot.runtime.segmented import SegmentedFunction
from jaxaot.runtime.sizes import Sizes
from jaxaot.runtime.traced_call import TracedCall
from jaxaot.runtime.warm import require_joint, with_warm_cut
from jaxaot.tracer.trace import trace_call
from jaxaot.validate.prove import prove_guards


def compiled(fn: Callable[..., Any], options: CompileOptions) -> CompiledFunction[..., Any]:
    """Returns a function that is traced and compiled once for each kind of call.

    Raises:
      PolicyError, BudgetError, UsageError: See `CompileOptions.check`.
    """
    require_function(fn, "ja.compile", "ja.compile(f)")
    options.check()
    pipeline = Pipeline(fn, options)
    if options.segments:
        builder = SegmentBuilder(pipeline)
        return SegmentedFunction(fn, builder, Inspector(builder.trace, pipeline.cut), options, pipeline.sizes)
    return CompiledFunction(fn, pipeline.build, Inspector(traced_of, pipeline.cut), options, pipeline.sizes)


def trace_at(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Sequence[Path], sizes: Any,
    known: Any, symbolic: Sequence[Path] = (), by_value: Sequence[Path] | None = None,
) -> Traced:  # fmt: skip
    """Returns the trace of a call at other sizes than its own."""
    return require_values(trace_call(fn, *read_iterators(args, kwargs), known, numbers, sizes, symbolic, by_value))


def traced_call(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Sequence[Path] = (),
    symbolic: Sequence[Path] = (), by_value: Sequence[Path] | None = None,
) -> TracedCall:  # fmt: skip
    """Returns a call that is about to be carried out, traced as far as sizes do not matter yet.

    Raises:
      DeletedArrayError: If an argument was donated or deleted.
      SignatureMismatchError: If an argument is a type without a value.
    """
    traced, key = trace_for_call(fn, args, kwargs, numbers, symbolic, by_value)
    return TracedCall(fn, args, kwargs, traced, flow.plain_joint_of, key, numbers, symbolic)


def trace_for_call(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Sequence[Path] = (),
    symbolic: Sequence[Path] = (), by_value: Sequence[Path] | None = None,
) -> tuple[Traced, CallKey]:  # fmt: skip
    """Returns the graph of a call that is about to be carried out, and all that the guards of its program look at.

    Raises:
      DeletedArrayError: If an argument was donated or deleted.
      SignatureMismatchError: If an argument is a type without a value.
    """
    given = read_iterators(args, kwargs)
    traced = require_values(trace_call(fn, *given, numbers=numbers, symbolic=symbolic, by_value=by_value))
    return traced, key_for_call(traced, fn, args, kwargs)


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


class TracingStages:
    """The stages up to the joint graph, which are the same for all that is traced at several sizes."""

    begin = staticmethod(traced_call)
    trace = staticmethod(trace_at)
    joint = staticmethod(flow.plain_joint_of)


class Pipeline(TracingStages):
    """What makes the programs of one function.

    Attributes:
      fn: The function.
      options: What the user said.
      make: The backend.
      sizes: What is known of the sizes of calls; None if each has a program of its own.
    """

    def __init__(self, fn: Callable[..., Any], options: CompileOptions):
        self.fn, self.options = fn, options
        self.make = get_backend(options.backend)
        self.sizes = Sizes(fn, options.dynamic or None, options.buckets, self) if options.has_buckets else None

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
        sizes = self.sizes  # what is passed as a value may be found out by one trace, for the next
        trace = lambda: traced_call(fn, args, kwargs, numbers, by_value=() if sizes is None else sizes.by_value)
        call, room, asked = self._traced(trace, args, kwargs, numbers)
        program = self._lowered(call, asked, trace) if room is None else self._lower(call, room.partition, room)
        return generate(program, writing)

    def _traced(
        self, trace: Callable[[], TracedCall], args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Sequence[Path]
    ) -> tuple[TracedCall, Room | None, Asked]:
        """Returns a call, how it runs in the program of a bucket if it does, and what functions in it ask for."""
        sizes, proves = self.sizes, config.get().validate_guards
        # a call that differs in sizes alone from one before is traced once, and what it asks for is known
        familiar = None if sizes is None or proves else sizes.familiar(args, kwargs, numbers)
        if familiar is not None:
            return *familiar, Asked()
        with fitting() as asked:  # functions under `ja.remat` say what they do
            call = trace() if sizes is None else sizes.begin(trace)
        if call.key.settings.validate_guards:
            prove_guards(call.traced, call.key, _name(call.fn))
        has_room = sizes is not None and asked.limit is None  # the limit is of this size
        return call, sizes.room(call) if sizes is not None and has_room else None, asked

    def _lowered(self, call: TracedCall, asked: Asked, trace: Callable[[], TracedCall]) -> Program:
        """Returns the program of a call at its own size: cut, within a limit if one is set, and lowered."""
        needs_backward, fit = call.traced.needs_backward, self._fit()
        if fit is None and (asked.limit is not None or (asked and not needs_backward)):
            return find_traced(asked, _name(call.fn), call, trace, self._measured)
        if not needs_backward:
            return self._lower(call, None)
        if fit is not None:
            cut = flow.after_passes(require_joint(call)).partition
            lowered = functools.partial(self._lower, call)
            return fitting_program(cut, self.options.policy, fit, lowered, peak_bytes, _name(call.fn))
        if self.make is Executable and not call.key.watches:
            return with_warm_cut(call, lambda: self._cut(call), self.options.policy, self.options.memory_budget)
        return self._lower(call, self._cut(call))

    def _measured(self, call: TracedCall) -> tuple[Program, int | None]:
        program = self._lower(call, self._cut(call) if call.traced.needs_backward else None)
        return program, peak_bytes(program)

    def _lower(self, call: TracedCall, partition: Partition | None, room: Room | None = None) -> Program:
        return lower(call.traced, partition, self.make, call.key, room=room)

    def _cut(self, call: TracedCall) -> Partition:
        joint = flow.after_passes(require_joint(call))
        return joint.partition(self.options.policy, self.options.memory_budget)

    def _fit(self) -> Fit | None:
        """Returns the limit for everything, if one is set."""
        budget = self.options.memory_budget
        return parse_fit(config.get().memory_budget if budget is None else budget)

    def cut(self, traced: Traced) -> Partition:
        """Returns the forward and backward of a traced call."""
        return traced.joint().partition(self.options.policy, self.options.memory_budget)

    # at a bucket

    def partition(self, joint: JointGraph) -> Partition:
        return flow.partition_at_bucket(flow.after_passes(joint), self.options.policy, self.options.memory_budget)

    def choose(self, joint: JointGraph, make: Callable[[Partition], Shared], name: str) -> Shared:
        fit = self._fit()
        if fit is None:
            return make(self.partition(joint))
        cut = functools.partial(flow.partition_at_bucket, flow.after_passes(joint))
        return fitting_program(cut, self.options.policy, fit, make, peak_bytes_at_bucket, name)


def _name(fn: object) -> str:
    return getattr(fn, "__name__", type(fn).__name__)
