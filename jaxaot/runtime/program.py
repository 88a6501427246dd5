"""A program: one traced and compiled version of a function, for one kind of call."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from jaxaot._jax import has_side_effects
from jaxaot.ir.rewrite import drop_inputs, first_outputs, inline
from jaxaot.passes.dce import dce
from jaxaot.passes.pin_writes import pin_writes
from jaxaot.plan.difference import CallKey
from jaxaot.plan.places import BuiltArray, CellWrite
from jaxaot.plan.saved import FromPrimal, SavePlan
from jaxaot.plan.stages import Partition, Traced


class Program:
    """One compiled version of a function.

    Attributes:
      traced: Its graph and plans.
      key: All that its guards look at.
      partition: Its forward and backward; None if no gradient flows.
      forward: Takes graph inputs to graph outputs and extra residuals.
      forward_donated: The same, reusing the buffers of the storages that are written.
      backward: Takes residuals and cotangents to gradients; compiled on first use.
      donated: Distinct storages whose buffers `forward_donated` reuses.
      donated_places: Graph inputs that are cells' arrays whose buffers it reuses.
      makes_fresh_outputs: Whether nobody else holds what the forward returns.
      has_work: Whether there is anything to run: an output, or an effect such as a print.
      enter: The generated function: looks whether a call fits, and if so carries it out.
    """

    __slots__ = (
        "backward", "donated", "donated_places", "enter", "executables", "forward", "forward_donated", "has_work",
        "key", "makes_fresh_outputs", "partition", "source", "traced",
    )  # fmt: skip

    def __init__(
        self,
        traced: Traced,
        partition: Partition | None,
        make_executable: Callable[..., Any],
        donate: bool,
        key: CallKey,
    ):
        self.traced = traced
        self.key = key
        self.partition = partition
        n_outputs = len(traced.jaxpr.out_avals) - len(traced.alias.refills)
        jaxpr = dce(first_outputs(traced.jaxpr, n_outputs)) if partition is None else partition.forward
        plan = None if partition is None else partition.plan
        self.donated = donated_storages(traced, plan) if donate else ()
        self.donated_places = donated_places(traced, plan) if donate else ()
        positions = [traced.call.storages[s].graph_input for s in self.donated]
        positions += [position - len(empty_inputs(traced)) for position in self.donated_places]  # ghosts come before
        # what runs is not differentiated again, so custom rules have done their work
        jaxpr = pin_writes(drop_inputs(inline(jaxpr, also_custom=True), empty_inputs(traced)))
        self.has_work = bool(jaxpr.jaxpr.outvars) or any(map(has_side_effects, jaxpr.jaxpr.eqns))
        plain = make_executable(jaxpr, (), "forward")
        self.executables = {"forward": plain}
        self.makes_fresh_outputs = getattr(plain, "makes_fresh_outputs", False)
        self.forward = plain.call
        self.forward_donated = plain.call
        if positions:
            self.executables["forward_donated"] = make_executable(jaxpr, positions, "forward")
            self.forward_donated = self.executables["forward_donated"].call
        for executable in self.executables.values():
            executable.settings = key.jax_settings
        self.backward: Callable[..., Any] | None = None
        if partition is not None:
            empty = {FromPrimal(i) for i in empty_inputs(traced)}
            absent = [i for i, source in enumerate(partition.plan.residuals) if source in empty]
            backward = drop_inputs(inline(partition.backward, also_custom=True), absent)
            self.executables["backward"] = make_executable(backward, (), "backward")
            self.backward = self.executables["backward"].call
        self.enter: Callable[..., Any] = lambda *_: None
        self.source = ""

    @property
    def parameters(self) -> tuple[str, ...]:
        """What the user calls each positional argument."""
        return self.key.parameters

    def is_out_of_reach(self) -> bool:
        """Returns whether an object that it was made for is gone, so that no call fits it any more."""
        held = (*(s.value for s in self.key.call.statics), *(g.value for g in self.key.call.python))
        return any(isinstance(value, weakref.ref) and value() is None for value in held)


def empty_inputs(traced: Traced) -> tuple[int, ...]:
    """Returns the graph inputs that stand for the gradients of storages without bytes."""
    first = sum(storage.graph_input is not None for storage in traced.call.storages)
    return tuple(first + i for i, ghost in enumerate(traced.call.ghosts) if ghost.is_empty)


def donated_storages(traced: Traced, plan: SavePlan | None) -> tuple[int, ...]:
    """Returns the storages whose old value nobody needs after the call: written, not resized, and not a residual."""
    kept = set()
    if plan is not None:
        kept = {source.index for source in plan.residuals if isinstance(source, FromPrimal)}
    storages = traced.call.storages
    twice = {ghost.storage for ghost in traced.call.ghosts}  # passed once more, for another history
    first = {write.output: write.storage for write in reversed(traced.alias.writes)}
    return tuple(
        write.storage
        for write in traced.alias.writes
        if write.output is not None
        and first[write.output] == write.storage  # an output can have the buffer of one input
        and write.storage not in twice
        and storages[write.storage].graph_input is not None
        and storages[write.storage].graph_input not in kept
        and write.layout.size == storages[write.storage].layout.size
        and storages[write.storage].layout.numel > 0
    )


def donated_places(traced: Traced, plan: SavePlan | None) -> tuple[int, ...]:
    """Returns the graph inputs that are the old values of cells, and that nobody needs after the call."""
    kept = set() if plan is None else {source.index for source in plan.residuals if isinstance(source, FromPrimal)}
    found = []
    for write in traced.places.writes:
        if not isinstance(write, CellWrite) or len(write.value.leaves) != 1:
            continue
        leaves, (now,) = traced.places.cells[write.cell].leaves, write.value.leaves
        if len(leaves) != 1 or leaves[0].kind != "array" or not isinstance(now, BuiltArray):
            continue
        position, aval = leaves[0].graph_input, traced.jaxpr.out_avals[now.output]
        if position is None or position in kept or (aval.shape, aval.dtype) != (leaves[0].shape, leaves[0].dtype):
            continue
        if aval.size:
            found.append(position)
    return tuple(found)
