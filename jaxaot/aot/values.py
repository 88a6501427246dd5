"""A traced function as a function of the values of its tensors.

A traced graph takes storages, one for each piece of memory, and returns what was written and made. An exported graph
takes and returns what tensors *show*: the value of each tensor input, also of two that share memory; the new value of
each tensor that was changed, and the value of each output. Gradients flow as the tape would have them: to the tensors
whose history the graph reads, and from an output through its history.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._jax import jaxpr_as_fun
from jaxaot._typing import Array
from jaxaot.errors import ExportError
from jaxaot.facade.trace_state import graft
from jaxaot.ops.dtypes import dtype
from jaxaot.plan.alias import (
    ArrayOutput,
    ConstantOutput,
    HistoryOfInput,
    HistoryOfLeaf,
    HistoryOfNode,
    TensorOutput,
    TensorSpec,
)
from jaxaot.plan.inputs import positions_of_ghosts
from jaxaot.plan.paths import path_text
from jaxaot.plan.stages import Traced
from jaxaot.plan.world import OutsideObject, path_of
from jaxaot.tracer.arguments import flatten_arguments
from jaxaot.views.chain import apply_chain
from jaxaot.views.layout import Layout, layout_of
from jaxaot.views.window import find_window


@dataclasses.dataclass(frozen=True)
class Values:
    """What a traced function does to some values.

    Attributes:
      changed: Tensor input → its value afterwards.
      outputs: The outputs that are no constants.
      flows: Whether gradients flow from each of these.
      grads: Tensor input → what its `.grad` holds afterwards, or None.
    """

    changed: dict[int, Array]
    outputs: list[Array]
    flows: list[bool]
    grads: dict[int, Array | None]


def changed_tensors(traced: Traced) -> list[int]:
    """Returns the tensor inputs that show something else afterwards: other values, another shape or other memory."""
    written, moved = _changes(traced)
    return [i for i, tensor in enumerate(traced.call.tensors) if tensor.storage in written or i in moved]


def changes_in_words(traced: Traced, n_passed: Sequence[int]) -> list[str]:
    """Returns what a function changes of its inputs, a sentence for each, in PyTorch's words where it has some.

    Args:
      traced: The function.
      n_passed: How often each of its tensors is an argument.
    """
    tensors, (written, moved) = traced.call.tensors, _changes(traced)
    found = []
    for i in changed_tensors(traced):
        name, storage = f"`{tensors[i].name}`", tensors[i].storage
        others = [f"`{t.name}`" for j, t in enumerate(tensors) if t.storage == storage and j != i]
        if n_passed[i] > 1:
            found.append(f"Encountered duplicated inputs that are mutated in the graph: {name} is passed twice")
        elif others and storage in written:
            found.append(f"Encountered aliased inputs that are mutated: {name} shares memory with {', '.join(others)}")
        elif i in moved and storage not in written:
            found.append(f"Found an input that received a metadata mutation: {name} has another shape or other memory")
        elif tensors[i].requires_grad:
            found.append(f"Found a graph input that requires gradients, and received a mutation: {name}")
        else:
            found.append(f"{name} is changed")
    return found


def _changes(traced: Traced) -> tuple[set[int], set[int]]:
    """Returns the storages that are written, and the tensor inputs that show another place."""
    call, alias, jaxpr = traced.call, traced.alias, traced.jaxpr.jaxpr
    written = set()
    for write in alias.writes:
        place = call.storages[write.storage].graph_input
        is_same = place is not None and write.output is not None and jaxpr.outvars[write.output] is jaxpr.invars[place]
        if write.is_written and not is_same:
            written.add(write.storage)
    moved = {change.tensor for change in alias.changes if _place(change.spec) != _place(call.tensors[change.tensor])}
    return written, moved


def require_values(traced: Traced) -> None:
    """Raises unless every tensor that a traced function takes has a value, before and after, and so have the outputs.

    Raises:
      ExportError: If a storage holds no bytes, is resized, or is shown twice by one tensor; if an object is changed; or
        if an output is of an unknown type.
    """
    call = traced.call
    _require_known_outputs(traced)
    problems = []
    for tensor in call.tensors:
        storage = call.storages[tensor.storage]
        if storage.graph_input is None or storage.n_written is not None:
            problems.append(f"`{tensor.name}` holds no bytes, or not all of them were written")
        elif _shown_once(tensor.layout).is_overlapping:
            problems.append(f"`{tensor.name}` shows elements of its memory more than once; pass `.clone()`")
        elif tensor.requires_grad and tensor.layout.is_overlapping:
            problems.append(f"`{tensor.name}` is expanded and requires grad; expand it inside the function")
    for write in traced.alias.writes:
        if write.is_resized or write.output is None:
            name = call.tensors[call.storages[write.storage].tensor].name
            problems.append(f"the storage of `{name}` is resized")
    places = [path_text(path) for write in traced.world.writes if (path := path_of(write)) is not None]
    problems += [f"`{place}` is changed, which a graph cannot do" for place in dict.fromkeys(places)]
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise ExportError(
            f"An exported graph takes and returns values, and cannot stand for this:\n{listed}\nFill and free storages "
            "and change objects outside of what is exported, or use `ja.compile`, which does both at each call."
        )


_KNOWN = (int, float, complex, bool, str, bytes, type(None), np.generic, np.dtype, dtype, type)


def _require_known_outputs(traced: Traced) -> None:
    unknown = [
        f"output {i} is of type {source.value.__class__.__name__}"
        for i, source in enumerate(traced.alias.outputs)
        if isinstance(source, ConstantOutput) and not isinstance(source.value, _KNOWN)
    ]
    unknown += [
        f"output {i} is an object that was passed"
        for i, source in enumerate(traced.alias.outputs)
        if isinstance(source, OutsideObject)
    ]
    if unknown:
        raise ExportError(
            f"An exported graph returns tensors, numbers and strings: {', '.join(unknown)}. Tensors inside of it would "
            "be lost. Return what it holds, in tuples, lists or dicts, or register its class by "
            "`jax.tree_util.register_dataclass` or `register_pytree_node`."
        )


def compute_values(traced: Traced, tensors: Mapping[int, Array], plain: Sequence[Array]) -> Values:
    """Returns the results of a traced function, and its writes, for some values of its inputs.

    Args:
      traced: The traced function.
      tensors: Number of a tensor input → its value.
      plain: Values of the remaining graph inputs: arrays and numbers, seeds and offsets.
    """
    return _Evaluation(traced, tensors, plain).values()


def _place(spec: Any) -> tuple[Any, ...]:
    return spec.storage, spec.layout, spec.offset


def _shown_once(layout: Layout) -> Layout:
    """Returns a layout without its expanded dims."""
    size = [1 if stride == 0 else n for n, stride in zip(layout.size, layout.stride, strict=True)]
    return layout_of(size, layout.stride, layout.dtype, layout.is_conj)


class _Evaluation:
    """One evaluation: from values to storages, through the graph, and back to values."""

    def __init__(self, traced: Traced, tensors: Mapping[int, Array], plain: Sequence[Array]):
        self.traced, self.call, self.alias = traced, traced.call, traced.alias
        self.tensors = tensors
        self.constant = jax.lax.stop_gradient if self.alias.reached else lambda x: x
        inputs: list[Any] = [None] * len(traced.jaxpr.in_avals)
        reached = {place: self.call.tensors[tensor].history for place, tensor in self.alias.reached}
        for number, storage in enumerate(self.call.storages):
            place = storage.graph_input
            if place is not None:
                inputs[place] = self.storage(number, reached.get(place))
        ghosts = zip(positions_of_ghosts(self.call, traced.places), self.call.ghosts, strict=True)
        for place, ghost in ghosts:
            inputs[place] = self.storage(ghost.storage, reached.get(place))
        inputs[len(inputs) - len(plain) :] = plain  # no cell or array is among the inputs, so these come last
        self.results = jaxpr_as_fun(traced.jaxpr)(*inputs)
        self.after: dict[int, tuple[Array, Layout]] = {}
        for number, storage in enumerate(self.call.storages):
            self.after[number] = self.storage(number, None), storage.layout
        for write in self.alias.writes:
            self.after[write.storage] = self.results[write.output], write.layout  # type: ignore[index]
        for number, fresh in enumerate(self.alias.fresh, len(self.call.storages)):
            if fresh.output is not None:
                self.after[number] = self.results[fresh.output], fresh.layout

    def storage(self, number: int, history: int | None) -> Array:
        """Returns the value of a storage, through which gradients flow to the tensors of one history."""
        layout = self.call.storages[number].layout
        shown = [(i, t) for i, t in enumerate(self.call.tensors) if t.storage == number]
        # tensors that share memory agree on it, so the one that gradients are to flow to may come last
        shown.sort(key=lambda item: history is not None and item[1].history == history)
        base, is_complete = jnp.zeros(layout.size, layout.dtype), False
        for i, tensor in shown:
            is_wanted = history is not None and tensor.history == history
            if is_complete and not is_wanted:
                continue
            value = self.tensors[i] if is_wanted else self.constant(self.tensors[i])
            if tensor.layout is layout:
                base, is_complete = value, True
                continue
            once = _shown_once(tensor.layout)
            value = value[tuple(slice(0, n) for n in once.size)]
            window, starts = find_window(layout, once, tensor.offset)
            base = window.scatter(base, value, starts)
            is_complete = is_complete or once.nbytes == layout.nbytes
        return base

    def read(self, storage: int, layout: Layout, offset: int) -> Array:
        value, held = self.after[storage]
        return _read(value, held, layout, offset)

    def values(self) -> Values:
        outputs: list[tuple[Array, bool]] = []
        for source in self.alias.outputs:
            match source:
                case TensorOutput(tensor):
                    outputs.append(self.output(tensor))
                case ArrayOutput(output):
                    outputs.append((self.results[output], False))
                case ConstantOutput() | OutsideObject():
                    pass  # no value of the graph
                case _:
                    assert_never(source)
        changed = {i: self.read(*_place(self.spec(i))) for i in changed_tensors(self.traced)}
        grads = {g.tensor: None if g.grad is None else self.read(*_place(self.spec(g.grad))) for g in self.alias.grads}
        return Values(changed, [value for value, _ in outputs], [flows for _, flows in outputs], grads)

    def spec(self, number: int) -> Any:
        """Returns how tensor `number` is afterwards."""
        n = len(self.call.tensors)
        if number >= n:
            return self.alias.made[number - n]
        changes = {change.tensor: change.spec for change in self.alias.changes}
        return changes.get(number, self.call.tensors[number])

    def output(self, number: int) -> tuple[Array, bool]:
        """Returns the value of a tensor afterwards, with the gradient of its history, and whether it has one."""
        spec = self.spec(number)
        value = self.read(*_place(spec))
        gradient = self.made(spec) if isinstance(spec, TensorSpec) else self.untouched(number)
        if gradient is None:
            return self.constant(value), False
        return (value if gradient is value else graft(value, gradient)), True

    def made(self, spec: TensorSpec) -> Array | None:
        """Returns the value of a tensor as its history has it, or None if no gradients flow to it."""
        source = None if spec.history is None else self.alias.histories[spec.history]
        match source:
            case HistoryOfNode(output):
                return apply_chain(spec.chain, self.results[self.alias.differentiable[output]])
            case HistoryOfInput(tensor):
                return self.original(tensor, spec.layout, spec.offset)
            case HistoryOfLeaf() | None:
                return None
            case _:
                assert_never(source)

    def untouched(self, number: int) -> Array | None:
        """Returns the same for an input whose handle did not change; its history may have moved on."""
        tensor = self.call.tensors[number]
        for source in self.alias.histories:
            if isinstance(source, HistoryOfNode) and source.tensor is not None:
                if self.call.tensors[source.tensor].history != tensor.history:
                    continue
                base = self.results[self.alias.differentiable[source.output]]
                return _read(base, source.layout, tensor.layout, tensor.offset - source.offset)
        return self.original(number, tensor.layout, tensor.offset)

    def original(self, number: int, layout: Layout, offset: int) -> Array | None:
        tensor = self.call.tensors[number]
        if not tensor.requires_grad:
            return None
        held = self.call.storages[tensor.storage].layout
        return _read(self.storage(tensor.storage, tensor.history), held, layout, offset)


def _read(value: Array, held: Layout, layout: Layout, offset: int) -> Array:
    if layout is held:
        return value
    window, starts = find_window(held, layout, offset)
    return window.apply(value, starts)


def with_arrays(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns arguments with arrays in the place of floats, which are inputs of a graph that runs no Python."""
    leaves, tree = flatten_arguments(args, kwargs)
    found = [jnp.asarray(leaf) if type(leaf) in (float, complex) else leaf for leaf in leaves]
    return (args, kwargs) if all(map(operator.is_, found, leaves)) else pytree.unflatten(tree, found)
