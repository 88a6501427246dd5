"""Operations of a thread that wait, so that stretches of them run as one program.

All else about tensors is done at once, as eagerly: layouts, views, versions, histories and the nodes of the tape. Only
arrays come later. A storage whose array is pending says so by its `trace`, which is the recorder then: whoever wants
the values waits for it as for a trace in another thread, and that has the stretch run.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot import settings as config
from jaxaot._jax import is_outermost, trace_context
from jaxaot._typing import Array
from jaxaot._util import set_together
from jaxaot.facade.deferred.stretch import MAX_CALLS, Pending, PendingLeaves, Stretch, StretchPrograms
from jaxaot.facade.dispatch.arguments import converted, flatten
from jaxaot.facade.dispatch.dispatch import call, call_gathered
from jaxaot.facade.dispatch.operands import gather, is_abstract_key, make_recipe
from jaxaot.facade.dispatch.write import write_array
from jaxaot.facade.kernels.kernels import Recipe, WriteKernel, storing_kernels
from jaxaot.facade.memory.counter import counter_of
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor, wrap
from jaxaot.facade.nodes.nodes import OpNode
from jaxaot.lower.eager_kernel import EagerKernel
from jaxaot.ops.table import OpSpec
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge
from jaxaot.views.layout import Layout
from jaxaot.views.window import find_window

Lengths = Sequence[int | None] | None
"""Of the lists among the arguments of an op; None if it takes none."""


def shown(value: object) -> Any:
    """Returns what stands for an operand where only its type matters."""
    return value.aval if type(value) is Pending else value


def types_of(traced: Any) -> tuple[list[jax.ShapeDtypeStruct], Any]:
    """Returns the types of what a traced function returns, and their tree; None for that of a tuple."""
    leaves, tree = jax.tree.flatten(traced.out_info)
    avals = [jax.ShapeDtypeStruct(x.shape, x.dtype, weak_type=getattr(x, "weak_type", False)) for x in leaves]
    return avals, None if tree == jax.tree.structure((0,) * len(leaves)) else tree


class OpRecorder:
    """What has operations wait, and runs them; see `Recorder`.

    Other threads get values: whoever finds a pending one has the stretch run. Where several threads use tensors, a
    write holds the lock of its storage, as an eager one does. The recorder's own lock is taken after that, and while it
    is held no other one is waited for.

    Attributes:
      is_apart: As that of a trace.
      has_values: As that of a trace.
    """

    is_apart = False
    has_values = False

    def __init__(self, programs: StretchPrograms):
        """Nothing waits yet.

        Args:
          programs: What runs stretches.
        """
        self._programs = programs
        self._lock = threading.RLock()
        self._stretch = Stretch(programs, self, self._lock)
        self._under: Any = None
        self._takes_pending = False

    def __enter__(self) -> None:
        self._before, state.recorder = state.recorder, self

    def __exit__(self, *_: object) -> None:
        state.recorder = self._before
        self.flush()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Inside, operations run at once, and all before have run."""
        self.flush()
        state.recorder = None
        try:
            yield
        finally:
            state.recorder = self

    def flush(self) -> None:
        """Runs all that waits."""
        with self._lock:
            self._stretch.run()
            self._stretch = Stretch(self._programs, self, self._lock)

    # -- as a trace, to those who find it at a storage -----------------------------------------------------------------

    def is_mine(self) -> bool:
        """Returns False: nobody but the recorder may take the value as it is."""
        return False

    def wait(self) -> None:
        """Has the values computed."""
        self.flush()

    # -- operations ----------------------------------------------------------------------------------------------------

    def records(self) -> bool:
        """Returns whether operations wait at present: nothing looks at what they compute, or computes otherwise."""
        return (
            state.region is None
            and state.saves_plainly
            and state.anomaly is None
            and state.streams is None
            and state.dual is None
            and state.trace is None
            and is_outermost()
        )

    def operand(self, storage: Storage) -> Any:
        """Returns the array of a storage, pending if an operation that waits is being noted."""
        return storage.array if storage.trace is self and self._takes_pending else storage.settled()

    def pending_operand(self, storage: Storage) -> Any:
        """Returns the array of a storage, which may be pending."""
        return storage.array if storage.trace is self else storage.settled()

    def read(self, tensor: Tensor) -> Any:
        """Returns the values of a tensor, which may be pending where they are all of its storage."""
        is_whole = tensor._layout is tensor._storage.layout
        return self.pending_operand(tensor._storage) if is_whole else tensor._read()

    def gather(self, *args: Any) -> int:
        """Gathers operands, pending ones too, see `operands.gather`."""
        return self._taking(gather, *args)

    def recipe(self, *args: Any) -> Recipe:
        """Returns how operands become arguments again, see `make_recipe`."""
        return self._taking(make_recipe, *args)

    def _taking(self, look: Callable[..., Any], *args: Any) -> Any:
        self._takes_pending = True
        try:
            return look(*args)
        finally:
            self._takes_pending = False

    @staticmethod
    def share(flat: Sequence[Any]) -> None:
        """Notes that the arrays of tensors are held until the stretch runs: nobody gives their buffers away."""
        for value in flat:
            if type(value) is Tensor:
                value._storage.is_shared = True

    def run(self, kernel: EagerKernel, operands: Sequence[Any]) -> Any:
        """Returns the pending results of a kernel, in its own containers."""
        if kernel.types is None:
            kernel.types = types_of(kernel.inside.trace(*map(shown, operands)))
        avals, tree = kernel.types
        results = self.add(kernel, operands, avals, None)
        return results if tree is None else jax.tree.unflatten(tree, results)

    def add(self, kernel: EagerKernel, operands: Sequence[Any], avals: Sequence[Any], kind: Hashable) -> list[Pending]:
        """Returns the pending results of an operation, see `Stretch.add`."""
        under = (config.get(), trace_context())
        with self._lock:
            if under != self._under or self._stretch.is_done or self._stretch.n_calls >= MAX_CALLS:
                self.flush()  # a stretch runs under the settings that its operations were called under
                self._under = under
            return self._stretch.add(kernel, operands, avals, kind)

    def tensor(self, array: Array | Pending, layout: Layout) -> Tensor:
        """Returns a tensor on a storage that holds a result."""
        with self._lock:
            if not isinstance(array, Pending):
                storage = Storage(array, layout)
            elif array.value is not None:
                storage = Storage(array.value, layout)
            else:
                storage = Storage(None, layout, self)
                storage.array = array  # type: ignore[assignment]
                array.stretch.hold(storage)
        return wrap(storage, layout)

    def call(self, spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Generator | None) -> Any:
        """Returns the results of an op, which waits; the arguments are those of `dispatch.call`."""
        flat, lengths = (dynamic, None) if not spec.has_lists else flatten(spec, dynamic)
        key: list[Any] = [spec, static, lengths]
        if spec.has_any:
            key.append(tuple(map(type, static)))
        operands: list[Any] = []
        mask = self.gather(spec, flat, key, operands)
        if mask < 0:
            return call(spec, converted(spec, dynamic, static), static, generator)
        if is_abstract_key(key):
            with self.paused():
                return call(spec, dynamic, static, generator)
        self.share(flat)
        return call_gathered(spec, flat, static, lengths, generator, key, operands, mask, self)

    def hold(self, node: OpNode) -> None:
        """Has a node of the tape get the values of what it holds once they are there."""
        with self._lock:
            stretches = {leaf.stretch for leaf in node.leaves if type(leaf) is Pending}
            if not stretches:
                return
            node.leaves = waiting = PendingLeaves(node.leaves)
            for stretch in stretches:
                stretch.hold_leaves(node)
            if self._stretch not in stretches:  # they ran meanwhile
                node.leaves = waiting.again()

    # -- in place ------------------------------------------------------------------------------------------------------

    def write(self, target: Tensor, kernel: WriteKernel, operands: list[Any], flat: Sequence[Any]) -> Any:
        """Has an op in place wait; returns what its kernel does, of which the first operand is the target's storage."""
        operands[0] = self.pending_operand(target._storage)
        results = self.run(kernel.run, operands)
        self.share(flat)
        self._put(target, results[0], ())
        return results

    def store(self, target: Tensor, value: Array | Pending, edge: Edge | None = None) -> None:
        """Stores a value of the target's size and dtype, see `write_array`."""
        write_array(target, value, edge, recorder=self)

    def put(self, target: Tensor, value: Array | Pending, moves: Sequence[Any]) -> None:
        """Puts a value of a tensor's size and dtype into its storage, whose lock is held, and moves its history on."""
        storage, layout = target._storage, target._layout
        if layout.numel == 0:
            counter_of(target).n += 1
            set_together(moves)
            return
        if layout is not storage.layout:
            base = self.pending_operand(storage)
            if base is None:
                base = jnp.zeros(storage.layout.size, storage.layout.dtype)
            window, starts = find_window(storage.layout, layout, target._offset)
            aval = jax.ShapeDtypeStruct(storage.layout.size, storage.layout.dtype)
            storage.is_shared = True
            (value,) = self.add(storing_kernels(window)[0], (base, value, starts), [aval], (storage.layout, layout))
        self._put(target, value, moves)

    def _put(self, target: Tensor, value: Array | Pending, moves: Sequence[Any]) -> None:
        """Puts the new array of a tensor's storage there, and counts that as a write."""
        storage, counter = target._storage, counter_of(target)
        with self._lock:
            trace = None
            if isinstance(value, Pending):
                if value.value is None:
                    value.stretch.hold(storage)
                    trace = self
                else:
                    value = value.array()
            set_together([
                (counter, "n", counter.n + 1), (storage, "is_shared", True), (storage, "trace", trace),
                (storage, "array", value), *moves,
            ])  # fmt: skip
