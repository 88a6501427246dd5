"""Programs of which a process before this one cut the joint graph: that graph is not made again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxaot.lower.executable import Executable
from jaxaot.lower.warm.cuts import warm_cut
from jaxaot.lower.warm.events import CacheEvent
from jaxaot.lower.warm.kept import Cut
from jaxaot.passes.prepare import prepare_backward, prepare_forward
from jaxaot.plan.saved import FromPrimal
from jaxaot.plan.stages import JointGraph, Partition, Traced
from jaxaot.runtime.double_backward import tape_plan
from jaxaot.runtime.program import Program, empty_inputs, forward_graph, lower
from jaxaot.runtime.traced_call import TracedCall
from jaxaot.tape.modes import state


def require_joint(call: TracedCall) -> JointGraph:
    """Returns the joint graph of a call through which gradients flow, before any pass."""
    assert call.joint is not None, "gradients flow"
    return call.joint


def with_warm_cut(
    call: TracedCall, cut: Callable[[], Partition], policy: Any = None, memory_budget: Any = None
) -> Program:
    """Returns the program of a call; how its joint graph is cut is looked for in `cache_dir`, if one is set.

    Args:
      call: The call, through which gradients flow.
      cut: Returns its forward and backward.
      policy: What the forward saves; None for that of the settings.
      memory_budget: How much it may save; None for that of the settings.
    """
    traced, key, alias = call.traced, call.key, call.traced.alias
    settings = key.settings
    if settings.cache_dir is None:
        return lower(traced, cut(), Executable, key)
    facts = [
        ("differentiated", (list(map(list, alias.reached)), list(alias.differentiable))),
        ("names", list(traced.input_names)),
    ]
    events: list[CacheEvent] = []
    found = warm_cut(
        traced.jaxpr, facts, lambda: _compiled(traced, cut()), settings,
        policy=settings.policy if policy is None else policy,
        memory_budget=settings.memory_budget if memory_budget is None else memory_budget,
        hooks=state.saved_hooks, why_not=_why_not(traced), name=getattr(call.fn, "__name__", type(call.fn).__name__),
        note=events.append,
    )  # fmt: skip
    program = lower(traced, None, Executable, key, cut=found)
    program.cache_events += events
    return program


def _compiled(traced: Traced, partition: Partition) -> Cut:
    """Returns a forward and a backward as they are compiled."""
    residuals, empty = partition.plan.residuals, {FromPrimal(i) for i in empty_inputs(traced)}
    absent = [i for i, source in enumerate(residuals) if source in empty]
    forward = prepare_forward(forward_graph(traced, partition))
    backward = prepare_backward(partition.backward, len(residuals), absent)
    return Cut(partition, forward, backward, tape_plan(traced, partition), lambda: partition)


def _why_not(traced: Traced) -> str:
    """Returns why the cut of a function cannot be kept, in words; empty if it may be."""
    if empty_inputs(traced):
        return "it uses a tensor whose storage was resized to nothing"
    if traced.alias.refills:
        return "it uses a storage that is filled again before the backward"
    return ""
