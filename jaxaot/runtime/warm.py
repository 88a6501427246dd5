"""Forwards and backwards of which a process before this one cut the joint graph: that graph is not made again."""

from __future__ import annotations

from jaxaot.lower.executable import Executable
from jaxaot.lower.warm.cuts import warm_cut
from jaxaot.lower.warm.events import CacheEvent
from jaxaot.lower.warm.kept import Cut
from jaxaot.passes.prepare import prepare_backward, prepare_forward
from jaxaot.plan.saved import FromPrimal
from jaxaot.plan.stages import Partition, Traced
from jaxaot.runtime.double_backward import tape_plan
from jaxaot.runtime.options import CompileOptions
from jaxaot.runtime.program import empty_inputs, forward_graph
from jaxaot.runtime.traced_call import CutStage, TracedCall
from jaxaot.tape.modes import state


def warm(options: CompileOptions, make: object, cut: CutStage) -> CutStage:
    """Returns a stage that looks in `cache_dir`, if one is set, for how a joint graph is cut.

    Args:
      options: What the user said.
      make: The backend; only what XLA compiles is kept.
      cut: The stage.
    """

    def stage(call: TracedCall) -> Partition | Cut | None:
        traced, settings, alias = call.traced, call.key.settings, call.traced.alias
        if settings.cache_dir is None or not traced.needs_backward or make is not Executable or call.key.watches:
            return cut(call)
        facts = [
            ("differentiated", (list(map(list, alias.reached)), list(alias.differentiable))),
            ("names", list(traced.input_names)),
        ]
        events: list[CacheEvent] = []
        found = warm_cut(
            traced.jaxpr, facts, lambda: _compiled(traced, cut(call)), settings,
            policy=settings.policy if options.policy is None else options.policy,
            memory_budget=settings.memory_budget if options.memory_budget is None else options.memory_budget,
            hooks=state.saved_hooks, why_not=_why_not(traced), name=call.name, note=events.append,
        )  # fmt: skip
        return found._replace(events=tuple(events))

    return stage


def _compiled(traced: Traced, partition: Partition | Cut | None) -> Cut:
    """Returns a forward and a backward as they are compiled."""
    assert isinstance(partition, Partition), "gradients flow"
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
