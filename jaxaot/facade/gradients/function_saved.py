"""What calls of custom Functions save for their backward: values, and the memory that they were in."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jaxaot._jax import is_tracer
from jaxaot._typing import Array
from jaxaot.errors import AutogradError, BackwardTwiceError
from jaxaot.facade.memory.counter import counter_of
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.tensor import Tensor, wrap
from jaxaot.facade.nodes.nodes import materialize
from jaxaot.facade.nodes.saved import (
    FREED,
    Packed,
    SavedTensor,
    Version,
    check_saveable,
    check_takes_hooks,
    noted,
    pack,
)
from jaxaot.facade.nodes.vjps import standing
from jaxaot.facade.view_ops.views import detached
from jaxaot.ops.promotion import is_inexact
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge
from jaxaot.tape.saved_hooks import Hook, HookPair
from jaxaot.views.layout import Layout, dense_like

if TYPE_CHECKING:
    from jaxaot.facade.memory.storage import Storage


class _Memory:
    """Where the values of a tensor lay, which is not kept alive."""

    __slots__ = ("_array", "_counter", "_layout", "_offset", "_storage", "_tensor")

    def __init__(self, tensor: Tensor):
        storage = tensor._storage
        self._storage, self._layout, self._offset = weakref.ref(storage), tensor._layout, tensor._offset
        array = storage.array if storage.trace is None or state.trace is not None else storage.settled()
        self._array: Any = None if array is None else (lambda: array) if is_tracer(array) else weakref.ref(array)
        self._counter, self._tensor = counter_of(tensor), weakref.ref(tensor)

    def original(self, edge: Edge | None) -> Tensor | None:
        """Returns the tensor itself, if it lives, shows what it showed, and its gradients go where they went."""
        tensor = self._tensor()
        if tensor is None or state.trace is not None:
            return None
        shows = tensor._storage is self._storage() and (tensor._layout, tensor._offset) == (self._layout, self._offset)
        return tensor if shows and tensor._gradient_edge() == edge else None

    def _unwritten(self) -> Storage | None:
        storage = self._storage()
        if storage is None or self._array is None or storage.array is None or self._array() is not storage.array:
            return None
        return storage

    def itself(self) -> Tensor | None:
        """Returns the tensor, if it lives and shows what it showed."""
        tensor, storage = self._tensor(), self._unwritten()
        if tensor is None or storage is None:
            return None
        shows = tensor._storage is storage and (tensor._layout, tensor._offset) == (self._layout, self._offset)
        return tensor if shows else None

    def tensor(self) -> Tensor | None:
        """Returns a tensor there; None if the memory is gone, or was written since."""
        if state.trace is not None:  # which knows the tensor itself
            tensor = self.itself()
            return None if tensor is None else detached(tensor)
        storage = self._unwritten()
        if storage is None:
            return None
        tensor = wrap(storage, self._layout, self._offset)
        tensor._counter = self._counter
        return tensor


class FunctionSaved:
    """The values that a call of a custom Function saved.

    Attributes:
      held: The arrays; None once released, a stand-in if they are to be computed again.
      dual: The level of forward mode that the call was made in, and the tangents of what `backward` gets.
      n_saved: How many tensors were saved for `backward`.
      runs: Whether the user's backward is running, and not only traced for later.
    """

    def __init__(self, ctx: Any, node: Any, inputs: Sequence[Any], outputs: Sequence[Any]):
        self._node = weakref.ref(node)
        self._layouts: list[Layout | None] = []
        self._edges: list[Edge | None] = []
        self._outputs: list[int | None] = []
        self._versions: list[Version] = []
        self._memory: list[_Memory | None] = []
        self._shown: Any = None
        self.runs = False
        self.n_saved = len(ctx._to_save)
        self.dual: Any = (None, ())
        self.held: Any = []
        self._read_in: weakref.ref[Any] | None = None  # the backward that had what was dropped computed again
        for tensor in (*ctx._to_save, *(ctx._for_forward if state.trace is not None else ())):
            output = (
                place_of(tensor, outputs) if place_of(tensor, inputs) is None or is_in(tensor, ctx._dirty) else None
            )
            place = place_of(tensor, inputs)
            self._outputs.append(output)
            self._edges.append(None if place is None or output is not None else node.edges[place])
            self._layouts.append(None if tensor is None else dense_like(tensor._layout, tensor.dtype))
            self.held.append(None if tensor is None else self._save(tensor, output is not None))
            self._memory.append(None if tensor is None else _Memory(tensor))

    def _save(self, tensor: Tensor, is_result: bool) -> Any:
        """Returns the saved form of a tensor: its values, or the result of a pack hook."""
        check_saveable(tensor)
        if state.trace is not None:
            return tensor._read()
        value = materialize(tensor)
        tensor._storage.is_shared = True
        if state.saved_hooks is not None:
            return pack(state.saved_hooks, value, dense_like(tensor._layout, tensor.dtype))
        if not state.saves_plainly:
            self._versions.append(noted(tensor, is_result, self._node()))
        return value

    def once(self) -> tuple[Tensor | None, ...]:
        """Returns `tensors()`; what was computed again for them is not kept, so that it lives while it is used.

        Raises:
          AutogradError: If that was done for the backward in progress already.
        """
        stand_in, running = self.held, state.backward_pass
        if stand_in is None or type(stand_in) is list or running is None:
            return self.tensors()
        if self._read_in is not None and self._read_in() is running:
            raise AutogradError(
                "Unpack is being triggered for a tensor that was already unpacked once: in a function that "
                "`ja.utils.checkpoint.checkpoint` runs, `ctx.saved_tensors` is computed again for the backward and not "
                "kept. Read it once: `x, y = ctx.saved_tensors`."
            )
        shown = self.tensors()
        self.held, self._read_in = stand_in, weakref.ref(running)
        return shown

    def tensors(self) -> tuple[Tensor | None, ...]:
        """Returns tensors that stand where the values came from, for `backward`; dual as these were."""
        shown = self._all()[: self.n_saved]
        level, tangents = self.dual
        if level is not None and state.dual is level:
            for tensor, tangent in zip(shown, tangents, strict=True):
                if tensor is not None and tangent is not None:
                    level.hold(tensor, tangent)
        return shown

    def living(self) -> list[Tensor | None]:
        """Returns the tensors themselves that were saved; None for those that died, or show something else now."""
        return [None if memory is None else memory.itself() for memory in self._memory]

    def raw(self) -> tuple[FunctionSavedTensor, ...]:
        """Returns what stands for each tensor that `backward` gets, and takes hooks.

        Raises:
          BackwardTwiceError: If they were freed.
        """
        if self.held is None:
            raise BackwardTwiceError(FREED)
        return tuple(FunctionSavedTensor(self, i) for i in range(self.n_saved))

    def set_hooks(self, i: int, hooks: HookPair) -> None:
        """Packs a tensor that is held.

        Raises:
          SavedHooksError: If it was freed, has hooks already, or is None.
        """
        check_takes_hooks(self.held is None, None if self.held is None else self.held[i])
        layout = self._layouts[i]
        assert layout is not None, "it is a tensor"
        self.held = [pack(hooks, value, layout) if k == i else value for k, value in enumerate(self.held or ())]

    def for_forward(self) -> tuple[Tensor | None, ...]:
        """Returns, in a trace, such tensors for `jvp`."""
        return self._all()[self.n_saved :]

    def _all(self) -> tuple[Tensor | None, ...]:
        if self.held is None or (state.trace is None and self._node() is None):  # a ctx that outlives its node
            raise BackwardTwiceError(FREED)
        if self._shown is not None and not self.runs:
            return self._shown
        if type(self.held) is not list:
            self.held = self.held.again()
        for version in self._versions:
            version.check()
        values = [held.array() if type(held) is Packed else held for held in self.held]
        shown = tuple(None if array is None else self._standing(array, i) for i, array in enumerate(values))
        if state.trace is not None and not self.runs:  # a backward that is traced captures them
            self._shown = shown
        return shown

    def _standing(self, array: Any, i: int) -> Tensor:
        """Returns a saved value as a tensor; on its memory, if that still holds it, so that writes arrive there."""
        memory, edge = self._memory[i], self.edge(i)
        shows_memory = state.trace is None or (self.runs and not state.grad_enabled)
        if memory is not None and shows_memory and type(self.held[i]) is not Packed:
            tensor = memory.tensor()
            if tensor is not None:
                original = memory.original(edge)
                if original is not None:
                    return original
                if edge is not None and is_inexact(tensor.dtype) and state.trace is None:
                    tensor._history = History(tensor._layout, tensor._offset, True, edge.node, edge.index)
                return tensor
        return standing(array, edge, self._layouts[i])

    def output_of(self, storage: Storage) -> int | None:
        """Returns which result a storage holds, if it is that of a tensor that was shown in a trace."""
        places = [i for i, tensor in enumerate(self._shown or ()) if tensor is not None and tensor._storage is storage]
        return self._outputs[places[0]] if places else None

    def carry(self, values: dict[int, Array]) -> None:
        """Makes saved results carry the gradients that they have after the call."""
        for output, tensor in zip(self._outputs, self._shown or (), strict=False):
            if output in values and tensor is not None:
                tensor._storage.array = tensor._history.ghost = values[output]

    def edge(self, i: int) -> Edge | None:
        """Returns where gradients of a saved value go."""
        output, node = self._outputs[i], self._node()
        return self._edges[i] if output is None or node is None else Edge(node, output)


class FunctionSavedTensor(SavedTensor):
    """A tensor that a call of a custom Function saved."""

    __slots__ = ()

    def register_hooks(self, pack_hook: Hook | None = None, unpack_hook: Hook | None = None) -> None:
        self._node.set_hooks(self._place, HookPair(pack_hook, unpack_hook))  # pyright: ignore[reportArgumentType]

    def unpack(self) -> Tensor | None:
        return self._node.tensors()[self._place]


def place_of(tensor: Tensor | None, tensors: Sequence[Any]) -> int | None:
    """Returns where a tensor itself is among others, or None."""
    if tensor is None:
        return None
    return next((i for i, other in enumerate(tensors) if other is tensor), None)


def is_in(tensor: Tensor | None, tensors: Sequence[Any]) -> bool:
    """Returns whether a tensor itself is among others."""
    return any(other is tensor for other in tensors)
