"""What a trace has to know while a function runs: which storages it reached, and how everything was before.

In a trace the same operations run on symbols. A storage from outside is *adopted* when it is first touched: its value
becomes a graph input, and how it was is noted, so that at the end everything can be put back. Gradients obey the tape's
rules in the graph too, because values carry them: a value read as a constant passes `stop_gradient`, and where a write
was not recorded (`no_grad`, `.detach()`), a later read is *grafted*: the new value with the gradient of the old one.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import Primitive, ShapedArray, is_key_dtype, is_tracer, trace_level
from jaxaot._placement import placed_like
from jaxaot._typing import Array, DTypeLike
from jaxaot.errors import LastingHookError, LeakedTensorError, TraceError
from jaxaot.facade.memory.generator import Position
from jaxaot.facade.memory.no_value import no_value
from jaxaot.facade.memory.parts import shown_of
from jaxaot.facade.memory.source_line import user_line
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.vmap_keys import key_of_index
from jaxaot.tape.hooks import hook_numbers
from jaxaot.tape.modes import state
from jaxaot.tape.node import next_number
from jaxaot.tape.threads import threads, waited
from jaxaot.views.layout import Layout
from jaxaot.views.window import window_in_graph

if TYPE_CHECKING:
    from jaxaot.facade.memory.generator import Generator
    from jaxaot.facade.memory.history import History
    from jaxaot.facade.memory.tensor import Tensor

TRACING = threading.RLock()
"""Held while a function is traced: storages hold symbols then, so nobody else may write to them."""

RUNNING: list[Any] = []
"""Active traces in any thread. While it is not empty, compiled functions call the Python function itself."""

lift_p = Primitive("lift")
"""A graph input in the making: `lift` equations become the invars of the traced graph."""
lift_p.def_abstract_eval(lambda *, index, aval: aval)


def wait_for_traces() -> bool:
    """Waits until no other thread traces; returns False if one does that waits for threads, perhaps for this one."""
    tracing = lambda: next((trace.thread for trace in RUNNING if isinstance(trace, TraceState)), None)
    if not waited(lambda seconds: TRACING.acquire(timeout=seconds), tracing):
        return False
    TRACING.release()
    return True


class GraphBreak(BaseException):
    """Ends a trace at a value that Python asks for and that is not known yet; no `except Exception` stops it."""


def refuses_unrecorded() -> bool:
    """Returns whether what PyTorch's autograd cannot record is refused where gradients are required.

    In `ja.func.functionalize` it is not: there arguments require grad only so that JAX's gradients reach them, and
    PyTorch carries the same function out on tensors that require none.
    """
    return state.grad_enabled and not (state.trace is not None and state.trace.is_functionalized)


@jax.custom_jvp
def graft(value: Array, history: Array) -> Array:
    """Returns `value`, with the gradient of `history`."""
    return value


@graft.defjvp
def _graft_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return graft(*primals), tangents[1]


class TraceState:
    """The state of one trace.

    Attributes:
      is_alive: Whether the traced function is still running.
      thread: Where it runs.
      lifted: What each graph input is: `("storage", storage)`, `("ghost", history, storage)`, `("value", position)`,
        `("number", position)`, `("cell", number, leaf)`, `("slot", number)`, `("seed", generator)` or
        `("offset", generator)`.
      storages: Adopted storages, by id, with how they were: (storage, saved fields).
      noted: Tensors from outside that were reached, by id, with how they were when that happened.
      tensors: Those whose metadata changed, by id, with how they were.
      histories: Adopted histories, by id, with how they were.
      created: Weak references to the storages made in this trace.
      draws: Generator → number of keys taken.
      positions: Generator → where it stands.
      seeds: Generator → the symbols of its seed and offset, once a key that was taken is used.
      reached: By id, the histories that gradients flow to: (history, storage, index of its graph input or None if
        that is the storage's own).
      written: Ids of the storages that were written.
      filled: By id, the symbols that filled a storage from outside after it had grown.
      freed: By id of a storage from outside, what it held when its size became zero, and how that lay in memory.
      counters: Write counters that grew, by id, with what they were.
      wide: By id, symbols of arguments of NumPy that have more bits: (position, array).
      checked: The positions of those whose numbers were asked for.
      asked: Tensors from outside that were asked for a fact, by id and name of that.
      grad_reads: Tensors from outside whose `.grad` decided what was traced, by id, with what it was.
      grad_writes: Tensors from outside whose `.grad` was replaced, by id.
      hook_reads: Id of each tensor from outside that a gradient was added to → numbers of the hooks that saw it.
      known: The values that Python may ask for, as far as they are known; None if it may not ask.
      break_values: The symbols that it asked for, each with the user's line and what asks; None for what is no value.
      is_broken: Whether it asked for a value that is not known.
      level: The JAX trace that the symbols belong to.
      cells: Id of each cell, object and container that the function reaches from outside → its path.
      hooked: Hooks that the traced function registered, by number or as what keeps a gradient, with the user's line.
      hooks_on: For those on tensors that were computed, by the same keys, what they are on (`HookOn`).
      first_node: Nodes from this number on were made by the traced function.
      own_nodes: Those from before that it may run backward, because what they hold are inputs of the graph.
      constants: Symbols that nothing differentiates, by id.
      first_run_backward: Nodes from this number on it may run backward as well. They are of the traces around it that
        run it once, and of the tape if none of these is kept: what they hold is the same for every call then.
      casts: Weights that `autocast` cast; see `facade/dispatch/autocast_operands.py`.
      gathered: By id, symbols of which a backward gathers the parts again: (symbol, parts, sharding of the whole).
      still_whole: The ids of those of the module that computed last, until a backward gathers others.
      first_hook: Hooks from this number on were registered by the traced function.
      is_apart: Whether a handler of a signal is running, which is no part of the traced function.
      numbers: The numbers of Python that are symbolic; see `facade/indexing/symbolic_numbers.py`.
      entry: The code from which the traced function is called.
      events: What is relied on, in order, each with the user's line: facts about numbers, tensors from outside, and
        what code loads; None if it is not noted.
      is_functionalized: Whether it is of `ja.func.functionalize`, to which every argument may carry JAX's gradients;
        see `refuses_unrecorded`.
      parts: Id of a storage → the tensors that show it and are passed as values: tensor, layout, offset, symbol.
      asks_for_strides: Whether the function asked for the strides of one of these.
      left: Id of a storage that was made in it and is still there once it has ended → the layout that it had.
      has_values: Whether what it computes has values while it runs, where no symbol of JAX says otherwise.
    """

    has_values = False
    outer: Any = None

    def __init__(self, known: Sequence[np.ndarray] | None = None, stops: bool = False) -> None:
        """Begins a trace.

        Args:
          known: Values for Python to use where it asks for them, in order; None if it may not ask.
        """
        self.is_alive = True
        self.known = known
        self._stops = stops or known is not None
        self.break_values: list[tuple[Array | None, str, str]] = []
        self.is_broken = False
        self.records: bool | None = None
        self.level: Any = None
        self.cells: Mapping[int, Any] = {}
        self.thread = threading.get_ident()
        self.lifted: list[tuple[Any, ...]] = []
        self.storages: dict[int, tuple[Storage, dict[str, Any]]] = {}
        self.tensors: dict[int, tuple[Any, dict[str, Any]]] = {}
        self.noted: dict[int, tuple[Any, dict[str, Any]]] = {}
        self.histories: dict[int, tuple[Any, dict[str, Any]]] = {}
        self.created: list[weakref.ref[Storage]] = []
        self.draws: dict[Any, int] = {}
        self.positions: dict[Any, Position] = {}
        self.seeds: dict[Any, tuple[Any, Any]] = {}
        self.reached: dict[int, Any] = {}
        self.reads: set[int] = set()
        self.written: set[int] = set()
        self.filled: dict[int, Array] = {}
        self.freed: dict[int, tuple[Array, Layout]] = {}
        self.counters: dict[int, tuple[Any, int]] = {}
        self.wide: dict[int, tuple[int, Any]] = {}
        self.checked: set[int] = set()
        self.asked: dict[tuple[int, str], Tensor] = {}
        self.grad_reads: dict[int, Any] = {}
        self.grad_writes: dict[int, Any] = {}
        self.hook_reads: dict[int, tuple[int, ...]] = {}
        self.hooked: dict[Any, str] = {}
        self.hooks_on: dict[Any, Any] = {}
        self._unhooking: list[Callable[[], Any]] = []
        self.first_node = next_number()
        self.first_hook = next(hook_numbers)
        self.own_nodes: frozenset[Any] = frozenset()
        self.constants: dict[int, Any] = {}
        self.first_run_backward = self.first_node
        self.casts: dict[Any, Any] = {}
        self.gathered: dict[int, tuple[Any, Any, Any]] = {}
        self.still_whole: frozenset[int] = frozenset()
        self.is_apart = False
        self.entry: Any = None
        self.numbers: Any = None
        self.events: list[tuple[Any, str]] | None = None
        self.is_functionalized = False
        self.parts: dict[int, list[tuple[Tensor, Layout, int, Array]]] = {}
        self.asks_for_strides = False
        self.left: dict[int, Layout] = {}
        self._resized: list[tuple[Any, str, Layout]] = []

    def is_mine(self) -> bool:
        """Returns whether this trace is running in the calling thread."""
        return self.is_alive and not self.is_apart and self.thread == threading.get_ident()

    def wait(self) -> None:
        """Waits until this trace, which runs in another thread, has put everything back."""
        if not wait_for_traces():
            raise LeakedTensorError(
                "A function that is being traced waits for a thread, which uses a tensor that the function is traced "
                "with, so that it has no value at present. Pass the thread a copy, or start it outside of the function."
            )

    def lift(self, shape: tuple[int, ...], dtype: DTypeLike, origin: tuple[Any, ...], weak_type: bool = False) -> Array:
        """Returns the symbol of a new graph input."""
        index = len(self.lifted)
        self.lifted.append(origin)
        dtype = dtype if is_key_dtype(dtype) else np.dtype(dtype)
        return lift_p.bind(index=index, aval=ShapedArray(shape, dtype, weak_type=weak_type))

    def symbol_of(self, storage: Storage) -> Array:
        """Returns the symbol of the value of a storage from outside."""
        return self.lift(storage.layout.size, storage.layout.dtype, ("storage", storage))

    def adopt(self, storage: Storage, layout: Layout | None = None) -> None:
        """Makes a storage from outside an input of the graph, if it is not one yet.

        Args:
          storage: The storage.
          layout: That of the input, if it is not the storage's own.
        """
        if storage.trace is self:
            return
        storage.check_alive()
        if threads.are_several:
            with storage.lock:  # a write that has begun is waited for
                self._adopt(storage, layout)
        else:
            self._adopt(storage, layout)

    def _adopt(self, storage: Storage, layout: Layout | None) -> None:
        fields = ("array", "layout", "is_shared", "n_written", "trace", "writer", "was_read")
        was = {name: getattr(storage, name) for name in fields}
        self.storages[id(storage)] = (storage, was)
        if layout is not None:
            self._resized.append((storage, "layout", storage.layout))
            storage.layout = was["layout"] = layout
        symbol = None if storage.array is None else self.symbol_of(storage)  # a surrounding trace adopts it first
        storage.trace = self  # before the symbol, which another thread that reads it must know for one
        storage.array = symbol
        storage.writer = None
        storage.was_read = False

    def take(self, sizes: Sequence[tuple[Tensor, Layout | None]], by_value: Collection[int] = ()) -> None:
        """Makes inputs of tensors that will be reached, each of another size if a layout is given.

        Args:
          sizes: The tensors with their layouts.
          by_value: Ids of those that are passed as values.
        """
        for tensor, layout in sizes:
            if layout is not None and id(tensor) in by_value:
                self.note(tensor)
                self._show(tensor, layout)
            elif layout is not None:
                self._resize(tensor, layout)
            elif tensor._storage.array is not None:
                self.note(tensor)
                self.adopt(tensor._storage)

    def _resize(self, tensor: Tensor, layout: Layout) -> None:
        """Has a tensor from outside, which shows all of its storage, be of another size as long as the trace runs."""
        self.note(tensor)
        self.adopt(tensor._storage, layout)
        self._show(tensor, layout)

    def _show(self, tensor: Tensor, layout: Layout) -> None:
        """Has a tensor from outside show something else as long as the trace runs."""
        history, before = tensor._history, tensor._layout
        if history is not None and history.layout is before:
            self._resized.append((history, "layout", before))
            history.layout = layout
        self._resized.append((tensor, "_layout", before))
        tensor._layout = layout

    def pass_part(self, tensor: Tensor, has_strides: bool) -> None:
        """Makes an input of what a tensor shows of its storage, which then need not be read.

        Args:
          tensor: The tensor.
          has_strides: Whether it is to have its own strides; else all that lie alike have the same.
        """
        self.note(tensor)
        self.adopt(tensor._storage)
        if not has_strides and tensor._layout.tight is not tensor._layout:
            self._show(tensor, tensor._layout.tight)
        layout = tensor._layout
        symbol = self.lift(layout.size, layout.dtype, ("part", tensor))
        self.parts.setdefault(id(tensor._storage), []).append((tensor, layout, tensor._offset, symbol))

    def part_of(self, tensor: Tensor) -> Array | None:
        """Returns the values of a tensor that shows what one passed as values shows; None if it is no such."""
        storage = tensor._storage
        if id(storage) in self.reads or id(storage) in self.written:
            return None
        return shown_of(self.parts.get(id(storage), ()), tensor)

    def look_at(self, tensor: Tensor) -> None:
        """Notes that the function asks where in its storage a tensor lies, or how large that is."""
        if id(tensor._storage) in self.parts:
            self.reads.add(id(tensor._storage))
        elif tensor._trace is None:
            self.note(tensor)
            self.adopt(tensor._storage)

    def note_fact(self, tensor: Tensor, fact: str) -> None:
        """Notes that the function asks for a fact of a tensor from outside, see `asked.py`."""
        if self.outer is not None and tensor._trace is not self:
            self.outer.note_fact(tensor, fact)
        elif tensor._trace is None:
            self.note(tensor)
            self.asked[id(tensor), fact] = tensor
        elif fact == "_version":  # what was made of a tensor from outside may share its counter, and its mode
            for other, _ in self.noted.values():
                if other._storage is tensor._storage:
                    is_counted = tensor._counter is not None and other._counter is tensor._counter
                    self.asked[id(other), fact if is_counted else "is_inference"] = other

    def passed_array(self, symbol: Any) -> Any:
        """Returns the array of NumPy whose numbers a symbol of fewer bits stands for; None for any other symbol."""
        if self.outer is not None:
            return self.outer.passed_array(symbol)
        position, array = self.wide.get(id(symbol), (-1, None))
        if array is not None:
            self.checked.add(position)
        return array

    def outside_array(self, storage: Storage) -> Any:
        """Returns the array of a storage from outside before the trace; what a storage of its own holds."""
        was = self.storages.get(id(storage))
        array = storage.array if was is None else was[1]["array"]
        return array if self.outer is None else self.outer.outside_array(storage)

    def note_statistics(self, tensor: Tensor) -> None:
        """Notes that an operation wrote to a tensor which is no argument of its gradients, as a batch norm does."""

    def note_place(self, storage: Storage) -> None:
        """Notes that where a storage lies is used as a number."""
        if self.outer is not None:
            self.outer.note_place(storage)
        for i, (tensor, _) in self.noted.items():
            if tensor._storage is storage:
                self.asked[i, "data_ptr"] = tensor
                break

    def look_at_strides(self, storage: Storage | None) -> None:
        """Notes that the function asks for the strides of a tensor; None is one that `vmap` made of any."""
        if storage is None or id(storage) in self.parts:
            self.asks_for_strides = True

    def adopt_history(self, history: History, storage: Storage) -> None:
        """Finds the symbol through which the gradients of an outside tensor flow."""
        if history.trace is self:
            return
        self.histories[id(history)] = (history, history.snapshot())
        history.trace = self
        if not history.requires_grad:
            return
        before = self.storages.get(id(storage))
        untouched = before is not None and id(storage) not in self.written
        is_empty = before is not None and before[1]["array"] is None
        if is_empty:  # gradients flow to what it holds once it is grown and filled
            history.ghost = self.lift((history.layout.numel,), history.layout.dtype, ("ghost", history, storage))
            self.reached[id(history)] = (history, storage, len(self.lifted) - 1)
        elif storage.writer is None and untouched and not storage.was_read:
            history.ghost = storage.array
            storage.writer = history
            self.reached[id(history)] = (history, storage, None)
        else:
            layout = storage.layout if before is None else before[1]["layout"]
            history.ghost = self.lift(layout.size, layout.dtype, ("ghost", history, storage))
            self.reached[id(history)] = (history, storage, len(self.lifted) - 1)

    def read(self, storage: Storage, history: History | None, records: bool) -> Array:
        """Returns the value of a storage, as a tensor with that history sees it."""
        self._refuse_finalizer()
        if storage.trace is not self:
            self.adopt(storage)
        if id(storage) in self.storages:
            self.reads.add(id(storage))
        if history is not None and history.requires_grad:
            if history.trace is not self:
                self.adopt_history(history, storage)
            if records:
                if storage.writer is history:
                    return storage.array  # type: ignore[return-value]
                return graft(storage.array, history.ghost)
        if storage.writer is not None:
            return jax.lax.stop_gradient(storage.array)  # type: ignore[return-value]
        storage.was_read = True
        return storage.array  # type: ignore[return-value]

    def write(self, storage: Storage, history: History | None, value: Array, records: bool) -> None:
        """Puts a new value into a storage."""
        self._refuse_finalizer()
        if storage.trace is not self:
            self.adopt(storage)
        if history is not None and history.trace is not self:
            self.adopt_history(history, storage)
        self.written.add(id(storage))
        value = placed_like(value, storage.array)
        if storage.n_written is not None and id(storage) in self.storages:
            # a symbol of its own, so that what fills a storage is told apart from what it was copied from
            value = jax.lax.optimization_barrier(value)
            self.filled[id(value)] = value
        storage.array = value
        if records and history is not None:
            history.ghost = value
            storage.writer = history
        else:
            storage.writer = None

    def _refuse_finalizer(self) -> None:
        """Raises if what runs is a `__del__`, which Python calls at any time and which is no part of the function.

        Raises:
          TraceError: If it is.
        """
        frame = sys._getframe(2)
        while frame is not None and frame.f_code is not self.entry:
            if frame.f_code.co_name == "__del__":
                raise TraceError(
                    "A `__del__` method uses a tensor while a function is being traced, and would become part of its "
                    f"graph:\n\n    {frame.f_code.co_filename}:{frame.f_lineno}\n\nFree such objects before or after."
                )
            frame = frame.f_back

    def carry(self, tensor: Tensor, history: History, value: Array) -> None:
        """Makes a value what carries the gradients of a history that begins with a tensor.

        Args:
          tensor: The tensor.
          history: Its history.
          value: What it shows, with the gradients that it is to have.
        """
        storage, layout = tensor._storage, tensor._layout
        if layout is storage.layout:
            history.ghost = value
            if storage.trace is self and storage.writer is None and id(storage) not in self.storages:
                storage.array, storage.writer = value, history
            return
        window, starts = window_in_graph(storage.layout, layout, tensor._offset)
        history.ghost = window.scatter(jnp.zeros(storage.layout.size, storage.layout.dtype), value, starts)

    def free(self, storage: Storage) -> None:
        """Notes what a storage from outside holds before its size becomes zero."""
        array = storage.array
        was = self.storages.get(id(storage))
        if was is not None and array is not None and (id(array) in self.filled or id(storage) not in self.written):
            self.freed[id(storage)] = (array, storage.layout)

    def note(self, tensor: Tensor) -> None:
        """Notes that a tensor was reached; those from outside become inputs that a later call has to find again."""
        if tensor._trace is not self and id(tensor) not in self.noted:
            self._refuse_finalizer()
            self.noted.setdefault(id(tensor), (tensor, tensor._snapshot()))
            if self.events is not None:
                self.events.append((tensor, user_line()))

    def touch(self, tensor: Tensor) -> None:
        """Notes how a tensor from outside was, before its metadata change."""
        self.note(tensor)
        if id(tensor) not in self.tensors and tensor._trace is not self:
            self.tensors[id(tensor)] = (tensor, tensor._snapshot())

    def read_grad(self, tensor: Tensor) -> None:
        """Notes that `.grad` of a tensor from outside decides what is traced."""
        if tensor._trace is not self and id(tensor) not in self.grad_writes:
            self.note(tensor)
            self.grad_reads.setdefault(id(tensor), (tensor, tensor._grad))

    def read_hooks(self, tensor: Tensor) -> None:
        """Notes that the hooks of a tensor from outside were called while tracing."""
        if tensor._trace is not self:
            self.note(tensor)
            from_outside = tuple(number for number in tensor._hooks or () if number < self.first_hook)
            self.hook_reads.setdefault(id(tensor), from_outside)

    def note_hook(self, hook: Callable[..., Any], remove: Callable[[], Any]) -> None:
        """Notes a hook that the traced function registers, and what takes it away when the trace ends."""
        self.hooked[hook] = user_line()
        self._unhooking.append(remove)

    def refuse_removal(self, number: int) -> None:
        """Raises if a hook was not registered by the traced function, which is about to take it away.

        Raises:
          GraphBreak: If it was not, and the trace may stop there.
          LastingHookError: Else, if it was not.
        """
        if self.is_mine() and number < self.first_hook:
            self.stop("a hook is taken away that was registered outside")
            raise LastingHookError(
                f"A traced function takes away a hook that was registered outside:\n\n    {user_line()}\n\nThat would "
                "happen once, while tracing, and not at later calls. Take it away outside of the function."
            )

    def write_grad(self, tensor: Tensor) -> None:
        """Notes that `.grad` of a tensor from outside was replaced."""
        if tensor._trace is not self:
            self.grad_writes[id(tensor)] = tensor

    def new_storage(self, array: Array, layout: Any) -> Storage:
        """Returns a storage made in this trace."""
        storage = Storage(array, layout, self)
        self.created.append(weakref.ref(storage))
        return storage

    def may_ask(self) -> bool:
        """Returns whether Python may ask for a value here: not in a body, which runs many times or not at all."""
        return self._stops and trace_level() == self.level

    def ask(self, symbol: Array, what: str) -> np.ndarray | None:
        """Returns the value of a symbol for Python to use; None if it may not ask.

        Args:
          symbol: The symbol.
          what: What asks, for people.

        Raises:
          GraphBreak: If the value is not known.
        """
        if not self.may_ask():
            return None
        if self.records is None and what in ("`float()`", "`int()`"):
            self.records, self.is_broken = True, True
            raise GraphBreak
        known = self.known or ()
        place = next((i for i, (was, *_) in enumerate(self.break_values) if was is symbol), len(self.break_values))
        if place == len(self.break_values):
            self.break_values.append((symbol, user_line(), what))
        if place < len(known):
            return known[place]
        self.is_broken = True
        raise GraphBreak

    def number(self, tensor: Tensor, what: str = "`.item()`") -> Any:
        """Returns what stands for the number that a tensor of one element holds; None where its value is asked for."""
        kind = np.dtype(tensor._layout.dtype).kind
        if self.events is not None or not self.may_ask() or kind not in "fiu" or tensor._layout.numel != 1:
            return None
        array = tensor._read()
        return self.numbers.ask(array, float if kind == "f" else int, what) if is_tracer(array) else None

    def value_of(self, symbol: Array, what: str) -> np.ndarray:
        """Returns the value of a symbol that stood for a number so far, see `ask`."""
        found = self.ask(symbol, what)
        if found is None:
            raise no_value(what, symbol.shape, symbol, "")
        return found

    def stop(self, what: str, line: str | None = None) -> None:
        """Ends a trace that may ask where the function does what Python has to do at each call.

        Args:
          what: What it does, for people; empty where the user asked for that.
          line: The user's line; by default the one that runs.

        Raises:
          GraphBreak: If so.
        """
        if self._stops:
            self.break_values.append((None, user_line() if line is None else line, what))
            self.is_broken = True
            raise GraphBreak

    def position(self, generator: Generator) -> Position:
        """Returns where a generator stands."""
        return self.positions.get(generator, Position(None, None, 0))

    def move(self, generator: Generator, position: Position) -> None:
        """Notes where a generator stands from now on."""
        self.positions[generator] = position
        if position.seed is None:
            self.draws[generator] = position.n

    def reserve(self, generator: Generator) -> int | Position:
        """Takes a key of a generator, and returns which one it is."""
        position = self.position(generator)
        self.move(generator, position._replace(n=position.n + 1))
        return position.n if position.seed is None else position

    def key(self, generator: Generator, n: int | Position) -> Array:
        """Returns a key that was taken."""
        if isinstance(n, Position):
            return n.key
        if generator not in self.seeds:
            seed = self.lift((2,), np.uint32, ("seed", generator))
            offset = self.lift((), np.uint32, ("offset", generator))
            self.seeds[generator] = (seed, offset)
        seed, offset = self.seeds[generator]
        return jax.random.fold_in(seed, offset + jnp.uint32(n))

    def key_of_all(self, generator: Generator, n: int | Position) -> tuple[Array, Array | None]:
        """Returns a key that was taken, and which index's part of what it gives is drawn; None if all of it."""
        return self.key(generator, n), None

    def is_of_an_index(self) -> bool:
        """Returns whether keys are of one index of a mapped function."""
        return False

    def draw(self, generator: Generator) -> Array:
        """Returns the next key of a generator."""
        words, index = self.key_of_all(generator, self.reserve(generator))
        return words if index is None else key_of_index(words, index)

    def restore(self) -> None:
        """Ends the trace: puts every storage, tensor and history back as it was."""
        self.is_alive = False
        for unhook in self._unhooking:
            unhook()
        self.hooks_on.clear()
        self.casts.clear()
        for reference in self.created:
            leaked = reference()
            if leaked is not None:  # no guard of a compiled call takes it, and every read says what happened
                self.left[id(leaked)], leaked.layout = leaked.layout, _LEAKED
                if self.has_values and leaked.writer is not None:
                    leaked.writer.requires_grad, leaked.writer.node = False, None
        for owner, name, layout in self._resized:
            if name == "layout" and id(owner) in self.storages:  # no other thread sees the size of the trace
                self.storages[id(owner)][1]["layout"] = layout
        for storage, fields in self.storages.values():
            for name, value in fields.items():
                setattr(storage, name, value)
        for tensor, snapshot in self.tensors.values():
            tensor._restore(snapshot)
        for history, snapshot in self.histories.values():
            history.restore(snapshot)
        for owner, name, layout in reversed(self._resized):
            setattr(owner, name, layout)
        for counter, n in self.counters.values():
            counter.n = n


_LEAKED = Layout((0,), (1,), np.dtype(np.float32))
"""Layout of storages that a trace left behind; identical to no tensor's."""
