"""Programs of `ja.compile` that have to fit into some memory: compiled, measured, and made again with less to save."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from jaxaot.ir.walk import aval_bytes
from jaxaot.partition.budget import Fit
from jaxaot.partition.fitting import Asked, Trial, estimate_of, find_program, find_traced, fitting, taken_bytes
from jaxaot.plan.stages import JointGraph, Partition
from jaxaot.runtime.bucket_plan import Shared
from jaxaot.runtime.on_devices import programs_on_devices
from jaxaot.runtime.options import CompileOptions
from jaxaot.runtime.program import Program
from jaxaot.runtime.traced_call import CutStage, GivenCall, Lower, Trace, TracedCall

Made = TypeVar("Made")


def fitting_program(
    cut: Callable[..., Partition],
    policy: str | Callable[..., Any] | None,
    fit: Fit,
    make: Callable[[Partition], Made],
    peak: Callable[[Made], int | None],
    name: str,
) -> Made:
    """Returns a program whose forward and backward fit into some memory, as the compiler measures them.

    Args:
      cut: Takes a policy and a budget to forward and backward.
      policy: What the forward saves.
      fit: The limit.
      make: Makes the program of a partition.
      peak: What a program takes at most, in bytes; None if the compiler does not say.
      name: What the user calls the function.

    Raises:
      BudgetError: If none was found.
    """

    everything = Asked(fit.bytes)

    def made(trial: Trial) -> tuple[Hashable, int, Callable[[], tuple[Made, int | None]]]:
        asked = Fit(max(0, fit.bytes - trial.less), is_measured=True, rung=trial.rung)
        with fitting(trial, everything):
            parts = cut("save_all", 1.0) if trial.is_plain else cut(policy, asked)

        def compiled() -> tuple[Made, int | None]:
            program = make(parts)
            return program, peak(program)

        cuts = [(parts.plan.extra_bytes, parts.timeline.peak_bytes)]
        return cuts[0], estimate_of(cuts), compiled

    return find_program(everything, name, made)


def peak_bytes(program: Program) -> int | None:
    """Returns what a call and its backward, if there is one, take at most on a device, as the compiler measures it.

    None if it does not say.
    """
    forward, backward = program.executables["forward"], program.executables.get("backward")
    if not hasattr(forward, "memory_analysis"):
        return None
    is_spread = any(sharding is not None for sharding in program.traced.shardings)
    if program.partition is None or backward is None:
        one = programs_on_devices(program.traced, None)["forward"] if is_spread else forward
        return taken_bytes(one.memory_analysis())
    if is_spread:
        compiled = programs_on_devices(program.traced, program.partition)
        there, back = (compiled[name].memory_analysis() for name in ("forward", "backward"))
        cotangents = 0  # as large as outputs, which are counted
        return _together(there, back, cotangents)
    return _of_executables(forward, backward, program.partition)


def peak_bytes_at_bucket(shared: Shared) -> int | None:
    """Returns what a call and its backward take at most in the program of a bucket, as of `peak_bytes`."""
    if shared.partition is None:
        return None
    forward, backward = (
        shared.executable(graph, name, (), None)
        for graph, name in ((shared.forward, "forward"), (shared.backward, "backward"))
    )
    return _of_executables(forward, backward, shared.partition) if hasattr(forward, "memory_analysis") else None


def _of_executables(forward: Any, backward: Any, partition: Partition) -> int | None:
    cotangents = sum(map(aval_bytes, partition.backward.in_avals[len(partition.plan.residuals) :]))
    return _together(forward.memory_analysis(), backward.memory_analysis(), cotangents)


def _together(there: Any, back: Any, cotangents: int) -> int | None:
    if there is None or back is None:
        return None
    kept = there.argument_size_in_bytes + there.output_size_in_bytes
    return kept + max(there.temp_size_in_bytes, cotangents + back.output_size_in_bytes + back.temp_size_in_bytes)


def asking(trace: Trace) -> Trace:
    """Returns a stage that notes what functions under `ja.remat` ask of the program of a call."""

    def stage(given: GivenCall) -> TracedCall:
        with fitting() as asked:
            call = trace(given)
        return dataclasses.replace(call, asked=asked, again=lambda: trace(given))

    return stage


def within_limits(
    options: CompileOptions, passes: Callable[[JointGraph], JointGraph], cut: CutStage, lowered: Callable[..., Program]
) -> Lower:
    """Returns a stage that meets a limit for everything, the user's or that of functions under `ja.remat`.

    Args:
      options: What the user said.
      passes: Takes a joint graph to that after the passes.
      cut: Takes a call to its forward and backward.
      lowered: Takes a call and these to a program.
    """

    def stage(call: TracedCall) -> Program:
        fit, asked, needs_backward = options.fit, call.asked, call.traced.needs_backward
        if fit is not None and needs_backward:
            assert call.joint is not None, "gradients flow"
            cut_at, make = passes(call.joint).partition, functools.partial(lowered, call)
            return fitting_program(cut_at, options.policy, fit, make, peak_bytes, call.name)
        if fit is None and (asked.limit is not None or (asked and not needs_backward)):
            assert call.again is not None, "it was traced for this program"
            return find_traced(asked, call.name, call, call.again, lambda tried: _measured(lowered(tried, cut(tried))))
        return lowered(call, cut(call))

    return stage


def _measured(program: Program) -> tuple[Program, int | None]:
    return program, peak_bytes(program)
