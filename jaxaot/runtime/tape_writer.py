"""Writes the part of a call that concerns the tape: the node that the call leaves there, and histories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from jaxaot.ops.promotion import is_complex
from jaxaot.plan.alias import FreedStorage, HistoryOfInput, HistoryOfLeaf, HistoryOfNode, HistorySource
from jaxaot.plan.inputs import positions_of_parts
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal, FromRefill, SavePlan
from jaxaot.plan.source import Source
from jaxaot.plan.stages import Traced
from jaxaot.runtime.program import Program, empty_inputs
from jaxaot.views.layout import contiguous


class TapeWriter:
    """Writes what one program's call leaves on the tape."""

    def __init__(self, source: Source, program: Program, operands: Sequence[str]):
        """Begins.

        Args:
          source: Where to.
          program: The program.
          operands: The expression of each graph input.
        """
        self.source = source
        self.program = program
        self.traced = program.traced
        self.operands = operands
        self.plan: SavePlan | None = None if program.partition is None else program.partition.plan

    def node(self, is_early: bool) -> None:
        """Writes what makes the node; its edges are read before any history moves on.

        Args:
          is_early: Whether it is made before the run, and so without the values that it holds.
        """
        source, traced, program, plan = self.source, self.traced, self.program, self.plan
        out_avals = traced.jaxpr.out_avals
        avals = source.constant([(tuple(out_avals[k].shape), out_avals[k].dtype) for k in traced.alias.differentiable])
        if plan is None or program.partition is None:
            source.scope["no_gradients"] = _no_gradients
            source.add(f"node = CompiledNode((), no_gradients, [], {avals}, None)")
            return
        held = "None" if is_early else self.held_values()
        has_refills = any(text.startswith("Refilled(") for text in self._residuals()[0])
        joint = program.partition.joint
        by_input = dict(traced.alias.reached)
        edges, bases = [], []
        for k, graph_input in enumerate(joint.differentiable_inputs):
            tensor = by_input[graph_input]
            is_unused = bool(joint.zero_gradients) and joint.zero_gradients[k] and not self._is_read_empty(tensor)
            edges.append("None" if is_unused else self._edge(tensor))
            bases.append(self._base(tensor))
        types = [aval.dtype for aval in (*traced.jaxpr.in_avals, *out_avals)]
        has_complex = any(is_complex(dtype) for dtype in types)
        listed = lambda texts: f"({''.join(text + ', ' for text in texts)})"
        cut = "None" if all(base == "None" for base in bases) else listed(bases)
        source.add(f"node = CompiledNode({listed(edges)}, backward, {held}, {avals}, "
                   f"{cut}, {has_complex}, {has_refills}, {source.constant(program.second)}, "
                   f"{source.constant(program.consuming)}, {source.constant(program.apart)})")  # fmt: skip

    def _edge(self, tensor: int) -> str:
        """Returns the expression of where the gradients of an input go: of a value those of the view that it is."""
        if self.traced.call.tensors[tensor].is_value:
            return f"{self.source.tensor(tensor)}._gradient_edge()"
        return f"history_edge({self.source.history(tensor)})"

    def _is_read_empty(self, tensor: int) -> bool:
        """Returns whether a tensor without elements was read: JAX drops it, and its gradient has no elements either."""
        given = self.traced.call.tensors[tensor]
        return given.layout.numel == 0 and given.storage in self.traced.alias.read

    def held_values(self) -> str:
        """Returns the expression of the list of values that the node holds."""
        residuals, packed = self._residuals()
        held = f"[{', '.join(residuals)}]"
        return f"pack_arrays({held}, {self.source.constant(packed)})" if packed else held

    def _residuals(self) -> tuple[list[str], dict[int, Any]]:
        """Returns the expressions of these values, and by position what packs some of them."""
        traced, program, plan = self.traced, self.program, self.plan
        assert program.partition is not None and plan is not None
        residuals: list[str] = []
        packed: dict[int, Any] = {}
        between = dict(zip(plan.packed_between, program.partition.hooks, strict=True))
        n_outputs = len(traced.jaxpr.out_avals) - len(traced.alias.refills)
        freed, empty = freed_storages(traced), empty_inputs(traced)
        for i, residual in enumerate(plan.residuals):
            if i in between:
                packed[len(residuals)] = between[i]
            match residual:
                case FromRefill(index):
                    residuals.append(self._refilled(traced.alias.refills[index]))
                case FromPrimal(index) if index in empty:
                    continue  # nothing depends on its value
                case FromPrimal(index) if index in freed:
                    residuals.append(self._refilled(freed[index]))
                case FromPrimal(index):
                    residuals.append(self.operands[index])
                case FromOutput(index):
                    residuals.append(f"out[{index}]")
                case FromForward(index):
                    residuals.append(f"out[{n_outputs + index}]")
                case _:
                    assert_never(residual)
        for index in program.second.extra if program.second is not None else ():
            residuals.append(self._refilled(freed[index]) if index in freed else self.operands[index])
        return residuals, packed

    def versions(self) -> None:
        """Notes how the tensors are whose values the backward needs; those that the call itself writes are not."""
        alias, call = self.traced.alias, self.traced.call
        written, freed = {w.storage for w in alias.writes}, freed_storages(self.traced)
        parts = dict(zip(positions_of_parts(call, self.traced.places), call.parts, strict=True))
        tensors, results = [], []
        for residual in () if self.plan is None else self.plan.residuals:
            match residual:
                case FromPrimal(index) if index in parts:
                    tensors.append(self.source.tensor(parts[index]))
                case FromPrimal(index):
                    tensors += [
                        self.source.tensor(storage.tensor)
                        for i, storage in enumerate(call.storages)
                        if storage.graph_input == index and i not in written and index not in freed
                    ]
                case FromOutput(index):
                    fresh = [len(call.storages) + i for i, storage in enumerate(alias.fresh) if storage.output == index]
                    shown = [f"m{i}" for i, spec in enumerate(alias.made) if spec.storage in fresh]
                    results += shown[:1]
                case FromForward() | FromRefill():
                    pass  # no tensor of the user shows it, or it is read when the backward runs
                case _:
                    assert_never(residual)
        listed = [*(f"version_of({t})" for t in tensors), *(f"version_of({t}, True)" for t in results)]
        if listed:
            with self.source.block("if state.checks_versions:"):
                self.source.add(f"node.versions = ({', '.join(listed)},)")

    def _refilled(self, freed: FreedStorage) -> str:
        """Returns the expression for a residual that the backward reads from its storage."""
        call = self.traced.call
        name = call.tensors[call.storages[freed.storage].tensor].name
        return f"Refilled({self.source.storage(freed.storage)}, {self.source.constant(freed.layout)}, {name!r})"

    def _base(self, tensor: int) -> str:
        source, call = self.source, self.traced.call
        if call.tensors[tensor].is_value:
            return "None"
        source.scope["base_of"] = _base_of
        storage = call.storages[call.tensors[tensor].storage]
        if not storage.nbytes:  # the gradient arrives as flat memory
            flat = contiguous((call.tensors[tensor].layout.numel,), storage.layout.dtype)
            return f"base_of({source.history(tensor)}, {source.constant(flat)})"
        if call.tensors[tensor].layout is storage.layout and call.tensors[tensor].is_leaf:
            return "None"
        return f"base_of({source.history(tensor)}, {source.constant(storage.layout)})"

    def histories(self) -> None:
        """Writes what makes the histories."""
        add, constant, history = self.source.add, self.source.constant, self.source.history
        for i, origin in enumerate(self.traced.alias.histories):
            match origin:
                case HistoryOfInput(tensor):
                    add(f"g{i} = {history(tensor)}")
                    before = self.traced.call.tensors[tensor]
                    if not before.requires_grad:  # then whether it has one already is no matter
                        with self.source.block(f"if g{i} is None:"):
                            made = f"History({constant(before.layout)}, {before.offset})"
                            add(f"g{i} = {self.source.tensor(tensor)}._history = {made}")
                case HistoryOfNode(output, tensor, layout, offset):
                    if tensor is None:
                        add(f"g{i} = History({constant(layout)}, {offset}, True, node, {output})")
                    else:  # which moves on when the values do
                        add(f"g{i} = {history(tensor)}")
                case HistoryOfLeaf(requires_grad, layout, offset, _):
                    present = self._present(i, origin)
                    add(f"g{i} = {present}History({constant(layout)}, {offset}, {requires_grad})")
                case _:
                    assert_never(origin)

    def _present(self, number: int, origin: HistorySource) -> str:
        """Returns the beginning of an expression: the history that an input has, where one was only begun in the call.

        A tensor gets a history when the first view of it is taken; in a later call it may have one.
        """
        tensors = [change.tensor for change in self.traced.alias.changes if change.spec.history == number]
        if len(tensors) == 1 and isinstance(origin, HistoryOfLeaf) and not origin.requires_grad:
            before = self.traced.call.tensors[tensors[0]]
            if before.history is None and (before.layout, before.offset) == (origin.layout, origin.offset):
                return f"{self.source.history(tensors[0])} or "
        return ""


def _no_gradients(*_: object) -> tuple[()]:
    """Returns the gradients of a call whose outputs require grad and that no gradient flows through."""
    return ()


def freed_storages(traced: Traced) -> dict[int | None, FreedStorage]:
    """Returns the storages that lost what they held before the call, by the graph input that it is."""
    storages = traced.call.storages
    return {storages[f.storage].graph_input: f for f in traced.alias.freed if f.content is None}


def _base_of(history: Any, storage_layout: Any) -> Any:
    """Returns how the gradient of a history's base is cut out of that of its storage; None if they are the same."""
    if history.layout is storage_layout:
        return None
    return storage_layout, history.layout, history.offset
