"""run_pure(fn, args): a tensor program as a pure function, inside whatever JAX transformation is running."""

from __future__ import annotations

import contextlib
import contextvars
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._jax import is_tracer, unmapped
from jaxaot._typing import DTypeLike
from jaxaot.errors import TensorError, TraceError
from jaxaot.facade.memory.generator import Generator, Position
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor, wrap
from jaxaot.facade.nodes.nodes import GraphInput
from jaxaot.facade.trace_state import RUNNING, TraceState
from jaxaot.lower.static import refuse_cycles
from jaxaot.ops.promotion import is_inexact
from jaxaot.tape.modes import state
from jaxaot.tracer.bodies.grad_hooks import refuse_lasting_hooks
from jaxaot.tracer.bodies.push_pull import forward_alone
from jaxaot.views.chain import Geometry, ViewChain
from jaxaot.views.layout import contiguous
from jaxaot.views.part import part_layout

RANDOMNESS = ("error", "same", "different")
"""What random operations do in a function that `ja.func.vmap` maps."""


class ReachesTape(BaseException):
    """Ends a pure function that reads a tensor from outside whose gradients are recorded; see `GraphBreak`."""


_watches: contextvars.ContextVar[bool] = contextvars.ContextVar("jaxaot_watches_reads", default=False)


@contextlib.contextmanager
def refusing_recorded_reads() -> Iterator[None]:
    """Inside, a pure function that reads a tensor from outside whose gradients are recorded raises `ReachesTape`."""
    token = _watches.set(state.grad_enabled)
    try:
        yield
    finally:
        _watches.reset(token)


class _InlineState(TraceState):
    """A trace whose outside values are constants of the surrounding JAX program, not inputs of a graph of its own.

    Within a trace of ours, what it reaches and draws are that trace's, and gradients flow to there.

    Attributes:
      outer: The trace of ours that it runs in, or None.
      is_mapped: Whether `ja.func.vmap` runs it, or one around it.
      is_transformed: Whether `ja.func` runs it.
      records_outside: Whether gradients are recorded where it was begun.
      randomness: What random operations do, of `RANDOMNESS`.
      index: With `"different"`, the index that is computed.
      n_indices: How many there are.
      first_states: The state of each generator when the function first took a key of it.
      statistics: By id, the tensors from outside to which batch norms wrote while `ja.func` differentiates.
    """

    def __init__(self, outer: TraceState | None) -> None:
        super().__init__()
        self.outer = outer
        self.parts = {} if outer is None else outer.parts
        self.first_run_backward = 0 if outer is None else outer.first_run_backward
        self.records_outside = state.grad_enabled
        self.is_mapped = isinstance(outer, _InlineState) and outer.is_mapped
        self.is_transformed = False
        self.randomness = "same"
        self.index: Any = None
        self.n_indices = 0
        self.first_states: dict[Generator, tuple[int, int]] = {}
        self.statistics: dict[int, Tensor] = {}

    def read(self, storage: Storage, history: History | None, records: bool) -> Any:
        if history is None or not history.requires_grad:
            return super().read(storage, history, records)
        if history.trace is not self:
            if records and _watches.get():
                raise ReachesTape
            if self.outer is not None:
                self._follow(history, storage, self.outer)
        value = super().read(storage, history, True)
        return value if records else forward_alone(value)

    def _follow(self, history: History, storage: Storage, outer: TraceState) -> None:
        """Makes what carries the gradients of a history in the surrounding trace carry them in this one."""
        _, before = self.storages.get(id(storage), (storage, {}))
        if storage.trace is self and not before:
            return  # memory that was made here
        own = {name: getattr(storage, name) for name in before}
        for name, value in before.items():
            setattr(storage, name, value)
        carrier = outer.read(storage, history, self.records_outside)
        before.update({name: getattr(storage, name) for name in before})
        for name, value in own.items():
            setattr(storage, name, value)
        if not own:
            self.adopt(storage)
        if storage.writer is None and id(storage) not in self.written and not storage.was_read:
            storage.array, storage.writer = carrier, history
        self.histories[id(history)] = (history, history.snapshot())
        history.trace, history.ghost = self, carrier

    def adopt(self, storage: Storage) -> None:
        if self.outer is not None and storage.trace is not self:
            self.outer.read(storage, None, False)  # before it is noted how the storage was: that notes the read
        super().adopt(storage)

    def part_of(self, tensor: Tensor) -> Any:
        is_of_outer = self.outer is not None and id(tensor._storage) not in self.storages
        return self.outer.part_of(tensor) if is_of_outer and self.outer is not None else None

    def look_at(self, tensor: Tensor) -> None:
        if self.outer is not None:
            self.outer.look_at(tensor)
            self.outer.look_at_strides(None)

    def look_at_strides(self, storage: Storage | None) -> None:
        if self.outer is not None:
            self.outer.look_at_strides(None if storage is None or storage.trace is self else storage)

    def symbol_of(self, storage: Storage) -> Any:
        return storage.array if self.outer is None else self.outer.read(storage, None, False)

    def note(self, tensor: Tensor) -> None:
        super().note(tensor)
        if self.outer is not None and tensor._trace is not self:
            self.outer.note(tensor)

    def reserve(self, generator: Generator) -> int | Position:
        if generator not in self.first_states:
            self.first_states[generator] = generator.get_state()
        return super().reserve(generator) if self.outer is None else self.outer.reserve(generator)

    def position(self, generator: Generator) -> Position:
        return super().position(generator) if self.outer is None else self.outer.position(generator)

    def move(self, generator: Generator, position: Position) -> None:
        super().move(generator, position) if self.outer is None else self.outer.move(generator, position)

    def key(self, generator: Generator, n: int | Position) -> Any:
        words, index = self.key_of_all(generator, n)
        return words if index is None else jax.random.fold_in(words, index)

    def key_of_all(self, generator: Generator, n: int | Position) -> tuple[Any, Any]:
        if self.randomness == "error":
            raise TensorError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
                "'different' randomness flags on vmap or perform the randomness operation out of vmap"
            )
        if self.outer is None:
            words, index = super().key(generator, n), None
        else:
            words, index = self.outer.key_of_all(generator, n)
        if self.index is None:
            return words, index
        return words, self.index if index is None else index * self.n_indices + self.index

    def is_of_an_index(self) -> bool:
        return self.index is not None or (self.outer is not None and self.outer.is_of_an_index())

    def lift(self, shape: object, dtype: DTypeLike | None, origin: tuple[Any, ...], weak_type: bool = False) -> Any:
        self.lifted.append(origin)
        if origin[0] == "seed":
            return jnp.asarray(origin[1]._words)
        if origin[0] == "offset":
            return jnp.uint32(origin[1].offset)
        if origin[0] == "ghost":
            return origin[2].array
        raise AssertionError(f"a pure function has no input of its own for {origin}")

    def note_statistics(self, tensor: Tensor) -> None:
        if self.is_transformed and not self.is_mapped and id(tensor._storage) in self.storages:
            self.statistics[id(tensor)] = tensor

    def changed(self) -> int:
        """Returns how many storages and tensors from outside are not as they were, those of statistics aside."""
        of_statistics = {id(tensor._storage) for tensor in self.statistics.values()}
        storages = sum(
            (id(storage) in self.written and id(storage) not in of_statistics) or storage.layout is not was["layout"]
            for storage, was in self.storages.values()
        )
        fields = ("_storage", "_layout", "_offset", "_grad")
        tensors = sum(
            any(getattr(tensor, name) is not was[name] for name in fields) or tensor.requires_grad != _required(was)
            for tensor, was in self.tensors.values()
        )
        return storages or tensors


def states_before() -> dict[Generator, tuple[int, int]]:
    """Returns the generators that the running pure function takes keys of, each with its state before."""
    return state.trace.first_states if isinstance(state.trace, _InlineState) else {}


def statistics() -> list[Tensor]:
    """Returns the tensors from outside to which batch norms of the running pure function wrote."""
    return list(state.trace.statistics.values()) if isinstance(state.trace, _InlineState) else []


def _required(was: dict[str, Any]) -> bool:
    history = was["_history"]
    return history is not None and history.requires_grad


@contextlib.contextmanager
def inline_trace() -> Iterator[_InlineState]:
    """Inside, tensor operations are part of whatever JAX is running, and nothing outside changes."""
    before, grad_enabled = state.trace, state.grad_enabled
    trace = _InlineState(before)
    try:
        state.trace = trace
        RUNNING.append(trace)
        yield trace
    finally:
        if trace in RUNNING:
            RUNNING.remove(trace)
        state.trace, state.grad_enabled = before, grad_enabled
        trace.restore()


def is_within_func() -> bool:
    """Returns whether tensor operations are part of a function that `ja.func` transforms, and of no other trace."""
    trace = state.trace
    while isinstance(trace, _InlineState) and trace.is_transformed:
        trace = trace.outer
    return trace is None


def is_transformed() -> bool:
    """Returns whether tensor operations are part of a function that `ja.func` transforms."""
    return isinstance(state.trace, _InlineState) and state.trace.is_transformed


def is_mapped() -> bool:
    """Returns whether tensor operations are part of a function that `ja.func.vmap` maps."""
    return isinstance(state.trace, _InlineState) and state.trace.is_mapped


def _is_differentiated(array: Any, trace: TraceState | None) -> bool:
    """Returns whether something may differentiate with respect to an array that a trace was passed."""
    symbol = unmapped(array)
    if not is_tracer(symbol):
        return False
    while trace is not None:
        if id(symbol) in trace.constants:
            return False
        trace = getattr(trace, "outer", None)
    return True


class Argument:
    """An argument of a pure function, and what became of it.

    Attributes:
      tensor: As it was passed.
    """

    __slots__ = ("_array", "_history", "_layout", "_offset", "_storage", "tensor")

    def __init__(self, tensor: Tensor):
        self.tensor = tensor
        self._storage, self._layout, self._history = tensor._storage, tensor._layout, tensor._history
        self._offset = tensor._offset
        self._array = tensor._storage.array

    def is_written(self) -> bool:
        """Returns whether its values are others now."""
        return self._storage.array is not self._array

    def now(self) -> Tensor:
        """Returns a tensor with its values, in the shape in which it was passed."""
        tensor = wrap(self._storage, self._layout, self._offset, self.tensor._trace)
        tensor._history = self._history
        return tensor

    def steps_to(self, tensor: object) -> ViewChain | None:
        """Returns the steps from it to a view of it; None if a tensor is none, or its steps are not known."""
        if not isinstance(tensor, Tensor) or tensor._storage is not self._storage:
            return None
        if tensor._history is self._history and self._history is not None:
            return tensor._chain
        is_all = tensor._layout is self._layout and tensor._offset == self._offset
        return () if is_all else None


def run_pure(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    transforms: bool = False,
    maps: bool = False,
    differentiates: bool = False,
    is_functionalized: bool = False,
    randomness: str | None = None,
    index: Any = None,
    n_indices: int = 0,
    leaf_places: Sequence[int] = (),
    shown_at: Sequence[Geometry | None] = (),
    finish: Callable[[Sequence[Argument | None], Any], Any] | None = None,
) -> Any:
    """Returns `fn(*args, **kwargs)` with arrays in place of tensors, changing nothing outside.

    Args:
      fn: The function.
      args: Its arguments.
      kwargs: Its keyword arguments.
      transforms: Whether `ja.func` transforms it, so that only arguments that something differentiates require grad.
      maps: Whether `ja.func.vmap` maps it.
      differentiates: Whether gradients of it are taken, so that `no_grad` around the call does not count.
      is_functionalized: Whether `ja.func.functionalize` made it pure.
      randomness: What random operations do, of `RANDOMNESS`; by default draw as they would outside.
      index: With `"different"`, the index that is computed.
      n_indices: How many there are.
      leaf_places: The leaves of the arguments that count as leaves of the tape: they may not be written.
      shown_at: For each leaf of the arguments where it lies in memory, as `fn` sees it; None or nothing for row-major.
      finish: Takes the leaves of the arguments, None for those that are no arrays, and the result; returns what is
        returned instead.

    Raises:
      TraceError: If `fn` writes to a tensor that it was not passed.
    """
    refuse_cycles((args, kwargs), "The arguments")
    leaves, tree = pytree.flatten((args, kwargs), is_leaf=lambda x: x is None)

    def shown(place: int, leaf: object, trace: TraceState) -> Any:
        if isinstance(leaf, Tensor) or not isinstance(leaf, (jax.Array, np.ndarray)):
            return leaf
        if jnp.issubdtype(leaf.dtype, jax.dtypes.extended):
            return leaf  # a typed PRNG key is no tensor
        array = jnp.asarray(leaf)
        shape, dtype, at = tuple(array.shape), np.dtype(array.dtype), shown_at[place] if shown_at else None
        layout = contiguous(shape, dtype) if at is None else part_layout(shape, at.stride, dtype, at.offset)
        storage = Storage(array, layout, trace)
        tensor = wrap(storage, layout, layout.origin, trace)
        if transforms:
            tensor._history = History(layout, layout.origin, trace=trace)  # by which views of it are known
        if is_inexact(layout.dtype) and (not transforms or _is_differentiated(leaf, trace)):
            # so that JAX's gradients reach it
            node = None if place in leaf_places else GraphInput(is_argument=True)
            tensor._history = History(layout, layout.origin, True, node, 0, trace)
            tensor._history.leaf, tensor._history.ghost = weakref.ref(tensor), array
            storage.writer = tensor._history
        return tensor

    with inline_trace() as trace:
        trace.is_mapped, trace.is_transformed = trace.is_mapped or maps, transforms
        trace.has_values = transforms and trace.outer is None
        trace.is_functionalized = is_functionalized
        state.grad_enabled = state.grad_enabled or differentiates
        trace.randomness, trace.index, trace.n_indices = randomness or "same", index, n_indices
        given = [shown(i, leaf, trace) for i, leaf in enumerate(leaves)]
        arguments = [Argument(x) if x is not leaf else None for x, leaf in zip(given, leaves, strict=True)]
        call_args, call_kwargs = pytree.unflatten(tree, given)
        result = fn(*call_args, **call_kwargs)
        refuse_lasting_hooks(trace, pytree.leaves(result))
        if finish is not None:
            result = finish(arguments, result)
        result = pytree.mapped(lambda x: x._read() if isinstance(x, Tensor) else x, result)
        for argument in arguments if trace.has_values else ():
            if argument is not None and argument.tensor._history is not None:
                argument.tensor._history.requires_grad = False  # whoever keeps it has a value
        n_changed = trace.changed()
    if n_changed and transforms and not is_functionalized:
        raise TraceError(
            f"During a transform of `ja.func` the function provided would mutate a captured Tensor: {n_changed} "
            "tensor(s) that it was not passed, their values, their shape or their `.grad`. Pass them as arguments and "
            "return their new values. Under `vmap` a batch norm in training cannot keep running statistics: make it "
            "with `track_running_stats=False`."
        )
    if n_changed:
        raise TraceError(
            f"A functionalized function changed {n_changed} tensor(s) that it was not passed: their values, their "
            "shape or their `.grad`. A pure function cannot do that: pass them as arguments and return their new "
            "values; gradients come from `jax.grad` of the function, or from `ja.autograd.grad` inside of it."
        )
    for generator, position in trace.positions.items():
        if position.seed is None:
            generator.offset += position.n
        else:
            generator.set_state((position.seed, position.n))
    return result
