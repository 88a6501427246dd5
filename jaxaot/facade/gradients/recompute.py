"""Eager checkpointing: a function whose operations keep no residuals, and that is run again when a backward needs them.

While the function runs the tape is made as usual, but each node hands over what it saved and gets a `Dropped` in place
of it. The first node whose backward asks has the function run again, from the values that its tensors had when it
began and with the same random numbers; each node then takes the residuals of the node that was made in its place. What
the function does to tensors it does again to what they were, and then a `Journal` puts back how they are. So hooks,
gradients of tensors that the function reaches, several backwards and nested regions are those of the tape.

A second run ends as soon as all is there that nodes saved, unless `set_checkpoint_early_stop(False)` was in force. So
a backward inside of the function, while it runs for the first time, has what was made up to then made again.

Hooks on saved tensors that are around the call pack the tensors that are passed by position, which the second run
needs; there is nothing else to pack. What is saved under hooks that the function sets up is packed by them, and not
dropped.
"""

from __future__ import annotations

import contextlib
import itertools
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from jaxaot import _trees as pytree
from jaxaot.errors import AutogradError, RecomputeMismatchError
from jaxaot.facade.gradients.leaves import AccumulateGrad
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.nodes.nodes import OpNode, SeveralViewsNode, ViewNode, materialize
from jaxaot.facade.nodes.saved import Packed, is_packed, pack
from jaxaot.facade.nodes.vjps import standing
from jaxaot.facade.subclass.subclass import is_wrapper, leaves_of, shell_of
from jaxaot.ops.promotion import is_inexact
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge, Node, next_number
from jaxaot.tape.saved_hooks import HookPair, without_saved_hooks
from jaxaot.views.layout import dense_like

_STORAGE_FIELDS = ("array", "layout", "is_shared", "n_written")
_TAKEN = object()
_freed: Callable[[], None] = lambda: None


class Journal:
    """How storages and tensors, with their histories and write counters, were when they were noted.

    It keeps none of them alive.
    """

    def __init__(self) -> None:
        self._storages: dict[int, tuple[weakref.ref[Storage], dict[str, Any]]] = {}
        self._tensors: dict[int, tuple[weakref.ref[Tensor], dict[str, Any], list[tuple[Any, dict[str, Any]]]]] = {}

    def note(self, tensor: Tensor) -> None:
        """Notes a tensor, unless that was done before, with all that a write to it changes."""
        self.note_storage(tensor._storage)
        if not _has(self._tensors, tensor):
            also = [] if tensor._history is None else [(tensor._history, tensor._history.snapshot())]
            also += [] if tensor._counter is None else [(tensor._counter, {"n": tensor._counter.n})]
            self._tensors[id(tensor)] = (weakref.ref(tensor), tensor._snapshot(), also)

    def note_storage(self, storage: Storage) -> None:
        """Notes a storage, unless that was done before; from now on its array is held here too."""
        if not _has(self._storages, storage):
            storage.is_shared = True
            fields = {name: getattr(storage, name) for name in _STORAGE_FIELDS}
            self._storages[id(storage)] = (weakref.ref(storage), fields)

    def forget_dead(self) -> None:
        """Forgets what nobody else holds any more."""
        self._tensors = {i: entry for i, entry in self._tensors.items() if entry[0]() is not None}
        self._storages = {i: entry for i, entry in self._storages.items() if entry[0]() is not None}

    def restore(self) -> Journal:
        """Makes everything as it was noted, and returns how it was before this."""
        present = Journal()
        tensors = [(tensor, entry) for entry in self._tensors.values() if (tensor := entry[0]()) is not None]
        storages = [(storage, fields) for ref, fields in self._storages.values() if (storage := ref()) is not None]
        for tensor, _ in tensors:
            present.note(tensor)
        for storage, _ in storages:
            present.note_storage(storage)
        # those noted first, last: a history that tensors share was noted again after it had moved on
        for tensor, (_, fields, also) in reversed(tensors):
            tensor._restore(fields)
            for thing, was in also:
                for name, value in was.items():
                    setattr(thing, name, value)
        for storage, fields in storages:
            for name, value in fields.items():
                setattr(storage, name, value)
        return present


def _has(entries: dict[int, Any], thing: object) -> bool:
    entry = entries.get(id(thing))
    return entry is not None and entry[0]() is thing


class Dropped:
    """Stands for what a node saved, until it is computed again."""

    __slots__ = ("__weakref__", "_index", "_region")

    def __init__(self, region: Region, index: int):
        self._region = region
        self._index = index

    def again(self) -> Any:
        """Returns the value that it stands for."""
        return self._region.take(self._index)


class _Draws:
    """Notes where generators are when they are first drawn from.

    Attributes:
      began: Generator → the seed, its words and the offset.
    """

    def __init__(self) -> None:
        self._outer = state.streams
        self.began: dict[Generator, tuple[Any, Any, int]] = {}

    def enter(self, generator: Generator) -> None:
        """Notes where a generator is."""
        if generator in self.began:
            return
        if self._outer is not None:
            state.streams = self._outer
            self._outer.enter(generator)
            state.streams = self
        self.began[generator] = generator.position


class _Run:
    """One run of a region's function: what `state.region` is meanwhile.

    Attributes:
      outer: The run within which this one is.
      journal: How tensors from outside were.
      start: Nodes with a larger sequence number were made since.
    """

    def __init__(self, outer: _Run | None) -> None:
        self.outer = outer
        self.journal = Journal()
        self.start = next_number()

    def note(self, tensors: Sequence[Any]) -> None:
        """Notes tensors that are about to be written, if they came from outside."""
        if self.outer is not None:
            self.outer.note(tensors)
        for tensor in tensors:
            history = tensor._history
            if history is None or history.node is None or history.node.sequence_number < self.start:
                self.journal.note(tensor)

    def watch(self, values: Iterable[Any]) -> None:
        """Notes which tensors are read."""

    def add(self, holder: Any) -> None:
        """Adds a node, or a region within this one."""
        raise NotImplementedError  # every run is a first one or a second one


class _Complete(BaseException):
    """Ends a second run: no user code is meant to catch it."""


class _SecondRun(_Run):
    """A run that makes again what was dropped.

    Attributes:
      made: What was saved: the nodes and regions, and what each held when the next one came.
    """

    def __init__(self, n_wanted: int | None) -> None:
        super().__init__(None)
        self.made: list[tuple[Any, Any]] = []
        self._n_wanted = n_wanted
        self._last: Any = None

    def add(self, holder: Any) -> None:
        self.settle()
        if not _is_settled(holder):
            self._check_complete()
            self._last = holder
        elif _saves(holder):
            self._check_complete()
            self._note(holder)
            self._check_complete()

    def settle(self) -> None:
        """Notes what the last one holds, if that was not known when it came."""
        last, self._last = self._last, None
        if last is not None and _saves(last):
            self._note(last)

    def _note(self, holder: Node | Region) -> None:
        self.made.append((holder, holder.inputs if isinstance(holder, Region) else holder.held))

    def _check_complete(self) -> None:
        if self._n_wanted is not None and len(self.made) >= self._n_wanted:
            raise _Complete


def _is_settled(holder: Node | Region) -> bool:
    """Returns whether a node that has just come holds all that it will: a backward may free it before the next one."""
    return state.saved_hooks is None and (isinstance(holder, (OpNode, Region)) or holder.runs_user_code)


def _saves(holder: Node | Region) -> bool:
    """Returns whether a node holds values that are to be dropped, or is a region."""
    if isinstance(holder, Region):
        return True
    held = holder.held
    return bool(held) and not is_packed(held)


class _PackedArgument(NamedTuple):
    """An argument that a pair of hooks packed, and where its gradients go."""

    packed: Packed
    edge: Edge | None

    def unpack(self) -> Tensor:
        """Returns a tensor in its place."""
        return standing(self.packed.array(), self.edge, self.packed.layout)


class _PackedWrapper(NamedTuple):
    """An argument that is made of tensors which a pair of hooks packed."""

    parts: list[_PackedArgument]
    shell: Callable[[Iterator[Any]], Any]

    def unpack(self) -> Any:
        """Returns a tensor in its place."""
        return self.shell(part.unpack() for part in self.parts)


def _packed(value: object, hooks: HookPair) -> Any:
    """Returns an argument as a region keeps it."""
    if not isinstance(value, Tensor):
        return value
    if is_wrapper(value):
        return _PackedWrapper([_packed(leaf, hooks) for leaf in leaves_of(value)], shell_of(value))
    packed = pack(hooks, materialize(value), dense_like(value._layout, value.dtype))
    return _PackedArgument(packed, value._gradient_edge() if value.requires_grad else None)


_PACKED = (_PackedArgument, _PackedWrapper)


class Region(_Run):
    """A call of a function whose residuals are dropped; a first run, and what later runs start from.

    Attributes:
      inputs: The function with its arguments, and how tensors were; a `Dropped` where that was dropped itself.
    """

    holds_residuals = True

    def __init__(
        self,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        is_strict: bool,
        lists: bool,
        is_reentrant: bool,
    ):
        super().__init__(state.region)
        hooks = state.saved_hooks
        kept = args if hooks is None else tuple(_packed(value, hooks) for value in args)
        self.inputs: Any = (fn, kept, kwargs, self.journal)
        self._is_strict, self._is_reentrant = is_strict, is_reentrant
        self._lists = lists if state.lists_operations is None else state.lists_operations
        packed = [x for x, held in zip(args, kept, strict=True) if isinstance(held, _PACKED)]
        self._packed = {id(leaf) for x in packed for leaf in leaves_of(x)}
        self._read: dict[int, weakref.ref[Storage]] = {}
        self._draws = _Draws()
        self._grad_enabled, self._autocast = state.grad_enabled, state.autocast
        self._names: list[Any] = []
        self._stops_early = state.stops_recomputing
        self._last: Any = None
        self._is_named = False
        self._stand_ins: list[Callable[[], Dropped | None]] = []
        self._held: list[Any] | None = None
        self._is_running = True

    def run(self, args: tuple[Any, ...]) -> Any:
        """Returns the results of the function, run for the first time."""
        if state.recorder is not None:  # values are noted here, so nothing may wait
            with state.recorder.paused():
                return self.run(args)
        fn, _, kwargs, journal = self.inputs
        streams = state.streams
        for leaf in pytree.leaves((args, kwargs)):
            if isinstance(leaf, Tensor) and id(leaf) not in self._packed:
                journal.note(leaf)
        state.region, state.streams = self, self._draws
        try:
            with without_saved_hooks():
                results = fn(*args, **kwargs)
        finally:
            state.region, state.streams = self.outer, streams
        self._drop_last()
        self._is_running, self._held = False, None
        self._finish(results)
        outer, self.outer = self.outer, None
        if outer is not None:
            outer.add(self)
        return results

    def watch(self, values: Iterable[Any]) -> None:
        if self.outer is not None:
            self.outer.watch(values)
        for value in values:
            if isinstance(value, Tensor):
                if id(value) not in self._packed and id(value._base_tensor) not in self._packed:
                    self._read[id(value._storage)] = weakref.ref(value._storage)
            elif isinstance(value, (list, tuple)):
                self.watch(value)

    def add(self, holder: Any) -> None:
        self._drop_last()
        self.watch(tuple(_leaves_of(holder)))
        if not _is_settled(holder):
            self._last = holder
        elif _saves(holder):
            self._last = holder
            self._name(holder)

    def _name(self, holder: Node | Region) -> None:
        self._names.append(_name_of(holder, holder.inputs if isinstance(holder, Region) else holder.held))
        self._is_named = True

    def _drop_last(self) -> None:
        """Drops what the last node saved, which the next one may have been computed with."""
        last, self._last = self._last, None
        if last is None:
            return
        if _saves(last):
            if not self._is_named:
                self._name(last)
            stand_in = Dropped(self, len(self._names) - 1)
            self._stand_ins.append(weakref.ref(stand_in))
            last.swap_held(stand_in)
        elif self._is_named:
            self._stand_ins.append(_freed)  # by a backward inside
        self._is_named = False

    def _finish(self, results: Any) -> None:
        """Notes what the function read, and others still hold; of the rest nothing is kept."""
        self.journal.forget_dead()
        made = {id(leaf._storage) for leaf in pytree.leaves(results) if isinstance(leaf, Tensor)}
        for ref in self._read.values():
            storage = ref()
            if storage is not None and id(storage) not in made:
                self.journal.note_storage(storage)
        self._read.clear()
        self._packed.clear()

    def swap_held(self, held: Any, is_same: bool = False) -> Any:
        """Puts something in place of the inputs, and returns these."""
        before, self.inputs = self.inputs, held
        self.journal = Journal()
        return before

    def take(self, index: int) -> Any:
        """Returns the values that a node saved, computed again.

        Raises:
          RecomputeMismatchError: If it does something else when it runs again.
          AutogradError: If it was called with `use_reentrant=True`, and the backward is not that of all leaves.
        """
        running = state.backward_pass
        if self._is_reentrant and running is not None and running.entered is not None:
            raise AutogradError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(), and so is `ja.utils.checkpoint.checkpoint`. Leave `use_reentrant` out, or "
                "call `.backward()` without `inputs`."
            )
        if self._held is None or index >= len(self._held) or self._held[index] is _TAKEN:
            self._held = self._run_again()
        held, self._held[index] = self._held[index], _TAKEN
        is_backward = state.backward_pass is not None or state.compiles_tape is not None
        if not is_backward or all(one is _TAKEN for one in self._held):
            self._held = None
        return held

    def _run_again(self) -> list[Any]:
        if isinstance(self.inputs, Dropped):
            self.inputs = self.inputs.again()
        fn, args, kwargs, journal = self.inputs
        args = tuple(value.unpack() if isinstance(value, _PACKED) else value for value in args)
        before = state.region, state.streams, state.trace, state.grad_enabled, state.autocast
        n_wanted = len(self._names) if self._stops_early or self._is_running else None
        run = _SecondRun(n_wanted)
        positions = {generator: generator.position for generator in self._draws.began}
        present = journal.restore()
        state.region, state.streams, state.trace = run, None, None
        state.grad_enabled, state.autocast = self._grad_enabled, self._autocast
        try:
            for generator, position in self._draws.began.items():
                generator.position = position
            with without_saved_hooks(), contextlib.suppress(_Complete):
                fn(*args, **kwargs)
        finally:
            run.journal.restore()
            present.restore()
            for generator, position in positions.items():
                generator.position = position
            state.region, state.streams, state.trace, state.grad_enabled, state.autocast = before
        run.settle()
        self._check([_name_of(*pair) for pair in run.made])
        return [_TAKEN if ref() is None else held for ref, (_, held) in zip(self._stand_ins, run.made, strict=False)]

    def _check(self, names: Sequence[Any]) -> None:
        """Raises unless a second run saved what the first one did.

        Raises:
          RecomputeMismatchError: If it saved something else.
        """
        pick = (lambda name: name) if self._is_strict else (lambda name: name[0])
        if list(map(pick, names)) == list(map(pick, self._names)):
            return
        pairs = zip([*self._names, None], [*names, None], strict=False)
        place, (first, second) = next((i, pair) for i, pair in enumerate(pairs) if pair[0] != pair[1])
        shown = lambda name: "nothing" if name is None else " ".join(map(str, name))
        n, n_again = len(self._names), len(names)
        if n == n_again:
            what = "Recomputed values for the following tensors have different metadata than during the forward pass."
        elif n_again > n:
            what = "It was trying to save more tensors during recomputation than during the original forward pass."
        else:
            what = "A different number of tensors was saved during the original forward and recomputation."
        raise RecomputeMismatchError(
            f"{what} A function that is run by `ja.utils.checkpoint.checkpoint` did something else when the backward "
            f"ran it again: operation {place} was {shown(first)} at first, and then {shown(second)} ({n} operations, "
            f"and then {n_again}). It has to do the same for the same arguments: do not let it depend on time, on a "
            "counter, or on Python objects that change between forward and backward; pass such values as arguments."
            f"{self._listed(names) if self._lists else ''}"
        )

    def _listed(self, names: Sequence[Any]) -> str:
        """Returns the operations of both runs side by side, as text."""
        pairs = itertools.zip_longest(self._names, names)
        rows = [[" ".join(map(str, name or ("-",))) for name in pair] for pair in pairs]
        width = max((len(first) for first, _ in rows), default=0)
        lines = "\n".join(f"    {first:{width}}  {second}" for first, second in rows)
        return (
            "\n\nYou are seeing this error because you passed `debug=True` to checkpoint, or called it inside of "
            f"`set_checkpoint_debug_enabled(True)`. Operations of the first run and of the second:\n\n{lines}"
        )


def _name_of(holder: Any, held: Any) -> tuple[Any, ...]:
    if isinstance(holder, Node):
        return (holder.name(), *(f"{x.dtype}{list(x.shape)}" for x in held or () if hasattr(x, "shape")))
    return ("a nested region",)


def _leaves_of(holder: Any) -> Iterator[Tensor]:
    """Yields the leaves from which an operation takes operands."""
    for edge in getattr(holder, "edges", ()):
        while edge is not None and isinstance(edge.node, (ViewNode, SeveralViewsNode)):
            edge = edge.node.edges[0]
        if edge is not None and isinstance(edge.node, AccumulateGrad):
            yield edge.node.variable


def run_dropping(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    is_strict: bool = True,
    lists: bool = False,
    is_reentrant: bool = False,
) -> Any:
    """Returns `fn(*args, **kwargs)`; what its operations save for a backward is dropped, and computed again by that.

    Args:
      fn: A function of tensors.
      args: Its arguments; tensors among them, in containers too, are kept as they are now.
      kwargs: Its keyword arguments.
      is_strict: Whether the second run has to give residuals of the same types, not just do the same operations.
      lists: Whether an error lists the operations of both runs.
      is_reentrant: Whether to refuse what PyTorch's `use_reentrant=True` does: backwards that are not of all leaves,
        and those of results that count as constants.
    """
    if not state.grad_enabled:
        return fn(*args, **kwargs)
    results = Region(fn, args, kwargs, is_strict, lists, is_reentrant).run(args)
    if is_reentrant:
        _refuse_unneeded(args, results)
    return results


def _refuse_unneeded(args: tuple[Any, ...], results: Any) -> None:
    """Has a backward refused that comes to results which all count as constants, though arguments require grad."""
    edges = [x._gradient_edge() for x in args if isinstance(x, Tensor) and x.requires_grad]
    made = [leaf for leaf in pytree.leaves(results) if isinstance(leaf, Tensor) and is_inexact(leaf.dtype)]
    if edges and not any(leaf.requires_grad for leaf in made):
        for leaf in made:
            if leaf._history is None:
                leaf._history = History(leaf._layout, leaf._offset, True, _UnneededNode(edges[0]))


class _UnneededNode(Node):
    """A result of a checkpointed function through which no gradient flows."""

    __slots__ = ()

    def __init__(self, edge: Edge | None):
        super().__init__("CheckpointFunctionBackward", (edge,))

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        raise AutogradError(
            "none of output has requires_grad=True, this checkpoint() is not necessary: nothing in the function that "
            "`ja.utils.checkpoint.checkpoint(use_reentrant=True)` was given is recorded. Call the function itself, or "
            "leave `use_reentrant` out."
        )
