"""Compares storages, handles and histories before and after a traced function: the alias plan."""

from __future__ import annotations

import collections
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from jaxaot import _trees as pytree
from jaxaot._jax import is_tracer
from jaxaot._typing import PyTreeDef
from jaxaot.errors import EagerOnlyError
from jaxaot.facade.cells.iterated import is_iterator
from jaxaot.facade.dispatch.arguments import STAND_INS
from jaxaot.facade.indexing.symbolic_numbers import SymbolicNumber
from jaxaot.facade.kernels.kernels import backward_name
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.nodes.nodes import SeveralViewsNode, ViewNode
from jaxaot.facade.trace_state import TraceState
from jaxaot.lower.static import refuse_cycles
from jaxaot.plan.alias import (
    AliasPlan,
    ArrayOutput,
    ConstantOutput,
    CounterOfInput,
    FreedStorage,
    FreshCounter,
    FreshStorage,
    GradChange,
    HistoryOfInput,
    HistoryOfLeaf,
    HistoryOfNode,
    HistorySource,
    OutputSource,
    StorageWrite,
    TensorChange,
    TensorOutput,
    TensorSpec,
)
from jaxaot.plan.paths import Path
from jaxaot.plan.world import BuiltObject, ComputedValue, OutsideObject, OwnContainers, WorldPlan
from jaxaot.tracer.numbers.recipes import PendingPlan
from jaxaot.tracer.results import take_apart
from jaxaot.views.window import find_window


class Escapes:
    """What outlives a traced function.

    Attributes:
      leaves: Leaves of its result.
      out_tree: Their tree.
      own: Which parts of it are containers from outside.
      changed: Tensors from outside whose metadata changed.
      grads: Tensors from outside whose `.grad` was replaced.
      made: Tensors made inside that outlive the call, bases before views.
      fresh: Storages made inside that outlive it.
      storage_ids: Ids of those.
      break_values: Graph outputs that carry the values that Python asked for.
    """

    def __init__(self, leaves: list[Any], out_tree: PyTreeDef):
        self.leaves = leaves
        self.out_tree = out_tree
        self.own: OwnContainers | None = None
        self.changed: list[Tensor] = []
        self.grads: list[Tensor] = []
        self.made: list[Tensor] = []
        self.fresh: list[Storage] = []
        self.storage_ids: set[int] = set()
        self.break_values: list[int] = []

    @property
    def view_names(self) -> dict[int, str]:
        """By the position among the tensors made, the names of the nodes of views that their last step does not say."""
        nodes = {i: tensor._view_node for i, tensor in enumerate(self.made) if tensor._chain}
        own = {i: node.name() for i, node in nodes.items() if isinstance(node, (ViewNode, SeveralViewsNode))}
        return {i: name for i, name in own.items() if name != backward_name(type(self.made[i]._chain[-1]).__name__)}


def collect_escapes(
    trace: TraceState, result: object, objects: Mapping[int, Path], kept: Sequence[Tensor] = (),
    made: Mapping[int, int] = types.MappingProxyType({}), reached: Mapping[int, Path] = types.MappingProxyType({}),
    own: Mapping[int, Path] = types.MappingProxyType({}),
) -> Escapes:  # fmt: skip
    """Returns the tensors and storages that outlive a traced function that returned `result`.

    Args:
      trace: Its trace.
      result: What it returned.
      objects: Id of each cell and object from outside → its path.
      kept: The tensors that it put into Python's objects.
      made: Id of each object that it made and put there → its number.
      reached: Id of each object that it could reach before → its path.
      own: Id of each list and dict among them → its path.
    """
    # first: what follows walks results to their leaves, and would not end
    refuse_cycles(result, "The results")
    is_object = lambda x: x is None or id(x) in objects or id(x) in made or is_iterator(x)
    whole = pytree.flatten(result, is_leaf=lambda x: is_object(x) or id(x) in own)
    result = take_apart(trace, result, {**objects, **made}, reached)
    leaves, out_tree = pytree.flatten(result, is_leaf=is_object)
    containers = _own_containers(*whole, result, own, is_object)
    leaves = [
        ConstantOutput(BuiltObject(made[id(leaf)])) if id(leaf) in made
        else ConstantOutput(ComputedValue(leaf.step)) if type(leaf) is SymbolicNumber
        else leaf.settled("Returning the value") if type(leaf) in STAND_INS
        else leaf
        for leaf in leaves
    ]  # fmt: skip
    escapes = Escapes([OutsideObject(objects[id(x)]) if id(x) in objects else x for x in leaves], out_tree)
    escapes.own = containers
    seen: set[int] = set()

    for leaf in escapes.leaves:
        if isinstance(leaf, Tensor):
            _visit(trace, escapes, seen, leaf)
    for tensor in kept:
        _visit(trace, escapes, seen, tensor)
    # after results, since a tensor from outside may have become a view of one made inside
    escapes.changed = [tensor for tensor, _ in trace.tensors.values()]
    for tensor in escapes.changed:
        _visit(trace, escapes, seen, tensor)
    for tensor in trace.grad_writes.values():
        escapes.grads.append(tensor)
        if tensor._grad is not None:
            _visit(trace, escapes, seen, tensor._grad)
    asked = {id(x) for x in (*leaves, *kept, *(t._grad for t in escapes.grads))}
    _separate_only_views(trace, escapes, asked)
    return escapes


class _Own:
    """Stands for a container from outside in a result; `size` is the number of its leaves."""

    def __init__(self, path: Path, size: int):
        self.path, self.size = path, size


def _own_containers(
    parts: Sequence[Any], tree: PyTreeDef, result: Any, own: Mapping[int, Path], is_object: Callable[[Any], bool]
) -> OwnContainers | None:
    """Returns which parts of a result are containers from outside.

    Args:
      parts: The leaves of the result as it was returned, such containers among them.
      tree: Their tree.
      result: The result with others taken apart.
      own: Id of each container from outside → its path.
      is_object: Says of what else is a leaf that it is one.
    """
    if not any(id(part) in own for part in parts):
        return None
    pairs = zip(parts, tree.flatten_up_to(result), strict=True)
    size = lambda part: len(pytree.leaves(part, is_leaf=is_object))
    made = [_Own(own[id(part)], size(now)) if id(part) in own else now for part, now in pairs]
    leaves, whole = pytree.flatten(tree.unflatten(made), is_leaf=is_object)
    return OwnContainers(whole, tuple((x.size, x.path) if type(x) is _Own else (1, None) for x in leaves))


def _visit(trace: TraceState, escapes: Escapes, seen: set[int], tensor: Tensor) -> None:
    """Notes a tensor that outlives the call, after the base that it is a view of."""
    if id(tensor) in seen:
        return
    seen.add(id(tensor))
    base = tensor._base_tensor
    if base is not None:
        _visit(trace, escapes, seen, base)
    storage = tensor._storage
    if tensor._trace is trace:
        if vars(tensor):
            raise EagerOnlyError(
                f"A tensor that the function made has the attribute `{next(iter(vars(tensor)))}`, and outlives it",
                "Return what the attribute holds beside the tensor, and set it outside of the function.",
            )
        escapes.made.append(tensor)
    else:
        # returned but untouched so far; it needs a number at run time
        trace.note(tensor)
    if storage.trace is not trace:  # memory from outside, of which no value may have been read
        trace.adopt(storage)
    if storage.trace is trace and id(storage) not in trace.storages and id(storage) not in escapes.storage_ids:
        escapes.storage_ids.add(id(storage))
        escapes.fresh.append(storage)


def _separate_only_views(trace: TraceState, escapes: Escapes, asked: set[int]) -> None:
    """Lets go of the bases that the function made and nobody can reach, each the base of one view alone.

    To users such a view is a tensor of its own, as what PyTorch's compiled functions return; its gradient still flows
    through the history that it shares with the base, so the graph stays the same.

    Args:
      trace: The trace.
      escapes: What outlives it.
      asked: Ids of the tensors that users can reach, apart from bases.
    """
    sharers: dict[int, list[Tensor]] = {}
    for tensor in (*escapes.made, *escapes.changed):
        sharers.setdefault(id(tensor._storage), []).append(tensor)
    for storage in escapes.fresh:
        reached = [tensor for tensor in sharers.get(id(storage), ()) if id(tensor) in asked]
        # with a second way in, writes through one are seen through the other: the base must stay
        if len(reached) != 1 or any(tensor._trace is not trace for tensor in sharers[id(storage)]):
            continue
        (view,) = reached
        history = view._history
        if view._base_tensor is not None and view._creation is None and history is not None and history.requires_grad:
            view._base_tensor = None
            escapes.made = [tensor for tensor in escapes.made if tensor is view or tensor._storage is not storage]


class _Outputs:
    """The outputs of a graph.

    Attributes:
      values: What they are; equal values of different gradients stay two outputs, so they are told by identity.
    """

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._placed: dict[int, int] = {}

    def place_of(self, value: object, taken: Any = ()) -> int:
        """Returns the output that carries a value; a new one if the present one is among `taken`."""
        if id(value) not in self._placed or self._placed[id(value)] in taken:
            self._placed[id(value)] = self.add(value)
        return self._placed[id(value)]

    def add(self, value: object) -> int:
        """Returns an output of its own for a value."""
        self.values.append(value)
        return len(self.values) - 1


def _storage_writes(trace: TraceState, output: Callable[..., int]) -> list[tuple[Any, ...]]:
    """Returns for each storage from outside that is not as it was: itself, and what `StorageWrite` says besides."""
    writes = []
    for storage, was in trace.storages.values():
        is_resized = storage.layout is not was["layout"] and storage.nbytes() != was["layout"].nbytes
        is_written = id(storage) in trace.written
        if not is_written and not is_resized and storage.layout is was["layout"]:
            continue
        # without bytes before and after: nobody can read what it held in between
        if storage.array is None and was["array"] is None and storage.layout is was["layout"]:
            continue
        place = None if storage.array is None else output(storage.array)
        writes.append((storage, place, storage.layout.plain, storage.n_written, is_written, is_resized))
    return writes


def _histories(trace: TraceState, escapes: Escapes) -> tuple[list[Any], dict[int, Storage]]:
    """Returns the histories of all that escapes and of all from outside that a recorded write moved on; by id of each,
    its storage."""
    histories: list[Any] = []
    owners: dict[int, Storage] = {}

    def add(history: History | None, storage: Storage) -> None:
        if history is not None and id(history) not in owners:
            histories.append(history)
            owners[id(history)] = storage

    for tensor in (*escapes.made, *escapes.changed):
        add(tensor._history, tensor._storage)
    # `noted` and not the present state: only a tensor that showed the history before the call has a number at run time
    for history, was in trace.histories.values():
        if history.node is not was["node"] or history.requires_grad != was["requires_grad"]:
            for _, snapshot in trace.noted.values():
                if snapshot["_history"] is history:
                    add(history, snapshot["_storage"])
                    break
    return histories, owners


def _freed(trace: TraceState, outputs: _Outputs) -> list[tuple[Any, ...]]:
    """Returns the storages that were freed, each with the output that says what it held, if one does."""
    freed = []
    for storage, _ in trace.storages.values():
        if id(storage) not in trace.freed or storage.nbytes():
            continue
        content, layout = trace.freed[id(storage)]
        # an output of its own, even if another one has the same value
        place = outputs.add(content) if id(content) in trace.filled else None
        freed.append((storage, place, layout.plain))
    return freed


def plan_aliases(
    trace: TraceState, escapes: Escapes, changes: Callable[[Callable[[Any], int]], PendingPlan]
) -> tuple[Callable[..., tuple[AliasPlan, WorldPlan]], list[Any]]:
    """Returns a function that makes the plans from the numbers of inputs, and the graph's outputs.

    The plan is completed later, because tensors from outside get their numbers when their paths are known; everything
    that depends on symbols is read here, while the trace is alive.

    Args:
      trace: The trace.
      escapes: What outlives it.
      changes: Returns what is done to Python's objects, given what makes a value an output.
    """
    outputs = _Outputs()
    output = outputs.place_of
    writes = _storage_writes(trace, output)
    fresh = [FreshStorage(None if s.array is None else output(s.array), s.layout, s.n_written) for s in escapes.fresh]
    histories, owners = _histories(trace, escapes)
    index = {id(history): i for i, history in enumerate(histories)}
    differentiable: list[int] = []
    sources: list[Callable[..., HistorySource]] = []
    for history in histories:
        sources.append(_history_source(trace, history, owners[id(history)], output, differentiable, escapes))
    made_number = {id(tensor): i for i, tensor in enumerate(escapes.made)}
    fresh_number = {id(storage): i for i, storage in enumerate(escapes.fresh)}
    counters, counter_number, bumps = _counters(trace, escapes)
    # read now: the trace puts every tensor from outside back as it was before `finish` runs
    specs = {
        id(t): (
            t._storage,
            t._layout.plain,
            t._offset,
            index.get(id(t._history)),
            t._base_tensor,
            t._chain,
            t._creation,
            None if t._trace is not trace else counter_number.get(id(t._counter)),
        )
        for t in (*escapes.made, *escapes.changed)
    }
    grads = [(tensor, tensor._grad) for tensor in escapes.grads]
    leaves: list[Any] = []
    for leaf in escapes.leaves:
        if isinstance(leaf, (Tensor, OutputSource)):
            leaves.append(leaf)
        elif is_tracer(leaf) or isinstance(leaf, jax.Array):
            leaves.append(ArrayOutput(output(leaf)))
        else:
            leaves.append(ConstantOutput(leaf))
    made, changed = list(escapes.made), list(escapes.changed)
    pending = changes(output)
    trace.numbers.put_out(output)
    escapes.break_values = [output(symbol) for symbol, *_ in trace.break_values]
    freed = _freed(trace, outputs)  # their outputs come last
    read = set(trace.reads)

    def finish(
        number: dict[int, int], storage_number: dict[int, int], tensor_with: Any, reached: Any
    ) -> tuple[AliasPlan, WorldPlan]:
        n_inputs, n_storages = len(number), len(storage_number)
        tensor_number = lambda t: None if t is None else number.get(id(t), n_inputs + made_number.get(id(t), 0))

        def storage_place(storage: Storage) -> int:
            if id(storage) in storage_number:
                return storage_number[id(storage)]
            return n_storages + fresh_number[id(storage)]

        def spec(tensor: Tensor) -> TensorSpec:
            storage, layout, offset, history, base, chain, creation, counter = specs[id(tensor)]
            return TensorSpec(
                storage_place(storage), layout, offset, history, tensor_number(base), chain, creation, counter
            )

        def result(leaf: object) -> OutputSource:
            return TensorOutput(tensor_number(leaf)) if isinstance(leaf, Tensor) else leaf  # type: ignore[arg-type]

        alias = AliasPlan(
            writes=tuple(StorageWrite(storage_number[id(s)], *rest) for s, *rest in writes),
            fresh=tuple(fresh),
            freed=tuple(FreedStorage(storage_number[id(s)], *rest) for s, *rest in freed),
            histories=tuple(source(tensor_with, tensor_number) for source in sources),
            made=tuple(spec(t) for t in made),
            counters=tuple(c if isinstance(c, FreshCounter) else CounterOfInput(number[id(c)]) for c in counters),
            bumps=tuple((number[id(t)], n) for t, n in bumps),
            changes=tuple(TensorChange(number[id(t)], spec(t)) for t in changed),
            grads=tuple(GradChange(number[id(t)], tensor_number(g)) for t, g in grads),
            outputs=tuple(result(leaf) for leaf in leaves),
            differentiable=tuple(differentiable),
            reached=reached,
            read=tuple(sorted(storage_number[s] for s in read if s in storage_number)),
        )
        return alias, pending.finish(tensor_number)

    return finish, outputs.values


def no_aliases(escapes: Escapes) -> Callable[..., tuple[AliasPlan, WorldPlan]]:
    """Returns a function that makes the plan of a trace that stopped at a value: no changes, that value as output."""
    escapes.break_values = [0]
    alias = AliasPlan(
        writes=(), fresh=(), freed=(), histories=(), counters=(), bumps=(), made=(), changes=(), grads=(),
        outputs=(ArrayOutput(0),), differentiable=(), reached=(), read=(),
    )  # fmt: skip
    return lambda *_: (alias, WorldPlan())


def _counters(
    trace: TraceState, escapes: Escapes
) -> tuple[list[Tensor | FreshCounter], dict[int, int], list[tuple[Tensor, int]]]:
    """Returns the write counters of the tensors made, their numbers by id, and by how much those from outside grew.

    A counter is a tensor from outside that has it, or a fresh one. One that nobody shares and that stands at zero is
    made when it is needed.
    """
    outside: dict[int, Tensor] = {}
    for tensor, _ in trace.noted.values():
        if tensor._counter is not None:
            outside.setdefault(id(tensor._counter), tensor)
    # tensors that share a counter see one another's writes, in `_version` and in checks of saved values
    sharers = collections.Counter(id(t._counter) for t in escapes.made if t._counter is not None)
    counters: list[Tensor | FreshCounter] = []
    number: dict[int, int] = {}
    for tensor in escapes.made:
        counter = tensor._counter
        if counter is None or id(counter) in number:
            continue
        if id(counter) in outside:
            number[id(counter)] = len(counters)
            counters.append(outside[id(counter)])
        elif counter.n or sharers[id(counter)] > 1:
            number[id(counter)] = len(counters)
            counters.append(FreshCounter(counter.n))
    grown = [(c, c.n - before) for c, before in trace.counters.values()]
    return counters, number, [(outside[id(c)], n) for c, n in grown if id(c) in outside]


def _history_source(
    trace: TraceState,
    history: History,
    storage: Storage,
    output: Callable[..., Any],
    differentiable: list[int],
    escapes: Escapes,
) -> Callable[..., HistorySource]:
    was = trace.histories.get(id(history))
    is_outside = history.trace is not trace or was is not None
    if is_outside and (
        was is None or (history.node is was[1]["node"] and history.requires_grad == was[1]["requires_grad"])
    ):
        # nothing was recorded on it: the call hands on the history that the tensor has then
        return lambda tensor_with, _: HistoryOfInput(tensor_with(history))
    layout, offset = history.layout, history.offset
    if not history.requires_grad or history.node is None:
        leaf = None if history.leaf is None else history.leaf()
        requires_grad = history.requires_grad
        return lambda _, tensor_number: HistoryOfLeaf(requires_grad, layout, offset, tensor_number(leaf))
    # the gradient arrives in the shape of the base of the history
    value = history.ghost
    held = storage.layout
    shown = (layout.size, layout.stride, layout.dtype, layout.is_conj)
    if shown != (held.size, held.stride, held.dtype, held.is_conj):
        # a history of a part of the storage: its gradient has the shape of the part
        window, starts = find_window(storage.layout, layout, offset)
        value = window.apply(value, starts)
    place = len(differentiable)
    # an output apart, even for an equal value: each has a cotangent of its own
    differentiable.append(output(value, differentiable))
    if is_outside:
        return lambda tensor_with, _: HistoryOfNode(place, tensor_with(history), layout, offset)
    return lambda _tensor_with, _tensor_number: HistoryOfNode(place, None, layout, offset)
