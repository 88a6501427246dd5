"""SegmentBuilder: makes the programs of a function that is compiled in segments.

The function is traced again from its start for each value that Python asks for; the segments before such a value are
run to compute it.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxaot import settings as config
from jaxaot._immutable import immutable
from jaxaot.facade.cells.iterated import read_iterators
from jaxaot.facade.marks.raised import require_values
from jaxaot.plan.difference import CallKey
from jaxaot.plan.paths import Path
from jaxaot.plan.stages import Partition, Traced
from jaxaot.runtime.bucket_plan import BucketPlan
from jaxaot.runtime.call import generate
from jaxaot.runtime.key import key_for_call
from jaxaot.runtime.links import Walk
from jaxaot.runtime.program import Program
from jaxaot.runtime.segmented import ExecutableCache, ask, make_linker, trace_through
from jaxaot.runtime.sizes import TracedSizes
from jaxaot.runtime.traced_call import GivenCall, TracedCall
from jaxaot.validate.prove import prove_guards


@immutable(eq=False)
class SegmentBuilder:
    """Makes the programs of a function that is compiled in segments.

    Attributes:
      trace_known: Takes (fn, args, kwargs, known values, paths of the numbers that change) to the trace up to the first
        value that is not known.
      cut: Makes the partition of a traced function.
      make: The backend.
      sizes: What is known of the sizes that Python asked for; None if each has a program of its own.
    """

    trace_known: Callable[[Any, Any, Any, tuple[np.ndarray, ...], Sequence[Path]], Traced]
    cut: Callable[[Traced], Partition]
    make: Callable[..., Any]
    sizes: TracedSizes | None = None

    @functools.cached_property
    def executables(self) -> ExecutableCache:
        """Those of the segments."""
        return ExecutableCache(self.make)

    def __call__(
        self,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        writing: Any,
        walk: Walk,
        programs: Sequence[Program],
        *,
        numbers: Sequence[Path] = (),
    ) -> Program:
        """Returns a program for a call; other programs that run some of its segments compute more from then on."""
        traced = self._trace(fn, args, kwargs, writing, walk.known, numbers)
        key = key_for_call(traced, fn, args, kwargs)
        if key.settings.validate_guards:
            prove_guards(traced, key, getattr(fn, "__name__", type(fn).__name__))
        before = {link.segment: link.segment.call for p in programs for link in p.links or ()}
        plan = self._plan(fn, args, kwargs, traced, key, numbers)
        further = () if plan is None else plan.keys
        linker = make_linker(traced, walk, programs, lambda graph: self.executables(graph, key.jax_settings), further)
        if plan is not None:
            partition = plan.partition
        else:
            partition = self.cut(traced) if traced.needs_backward else None
        program = generate(Program(traced, partition, self.make, key.settings.donate, key, linker, plan), writing)
        for other in programs:
            if any(link.segment.call is not before[link.segment] for link in other.links or ()):
                generate(other, writing)
        return program

    def _plan(
        self,
        fn: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        traced: Traced,
        key: CallKey,
        numbers: Sequence[Path],
    ) -> BucketPlan | None:
        """Returns how a call runs in the program of a bucket; None if it has a program of its own."""
        if self.sizes is None:
            return None
        call = TracedCall(GivenCall(fn, args, kwargs, numbers), traced, self.sizes.stages.joint, key)
        found = self.sizes.plan(call) if call.counts else None
        return found if isinstance(found, BucketPlan) else None

    def _trace(
        self,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        writing: Any,
        known: tuple[np.ndarray, ...],
        numbers: Sequence[Path] = (),
    ) -> Traced:
        call = (fn, args, kwargs)

        def run(traced: Traced) -> np.ndarray:
            return ask(traced, key_for_call(traced, *call), call, self.make, writing)

        trace = lambda known: require_values(self.trace_known(fn, args, kwargs, known, numbers))
        return trace_through(trace, run, known, config.get().max_breaks)

    def trace(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
        """Returns the traced graph of a call."""
        return self._trace(fn, *read_iterators(args, kwargs), threading.RLock(), ())
