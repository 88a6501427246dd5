"""Storage: the only mutable thing there is.

A storage is one cell that holds an immutable jax array under a dense layout. Every tensor that shares memory holds the
same storage; a write puts another array into the cell. The array may be donated to the kernel that computes its
successor only while nobody else holds it: whoever takes the array out (the tape, `.jax()`, NumPy,
dlpack, another trace) sets `is_shared`.
"""

from __future__ import annotations

import sys
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxaot._jax import is_outermost, known_value
from jaxaot._typing import Array
from jaxaot._util import set_together
from jaxaot.errors import LeakedTensorError, StorageSizeError
from jaxaot.facade.memory.asked import place_of
from jaxaot.lower.abstract import AbstractArray
from jaxaot.tape.modes import state
from jaxaot.views.layout import Layout, check_addressable, contiguous, memory_layout
from jaxaot.views.part import PartLayout


class Storage:
    """One cell of memory.

    Attributes:
      array: The value, of shape `layout.size`; None while the storage holds no bytes or was grown and never written.
      layout: How the array lies in memory; dense.
      is_shared: Whether somebody else may hold `array`, so that it must not be donated.
      n_written: Memory elements, from the first on, that hold values; None for all.
      trace: The trace that the value is a symbol of, or None.
      writer: In a trace, the history whose gradients flow through `array`; None if none do.
      was_read: In a trace, whether the value was read as a constant for gradients.
      lock: Held by a write where several threads use tensors, see `locks.py`; made at the first one.
      taken: The array that such a write has taken out for as long as it runs.
    """

    __slots__ = (
        "__weakref__", "array", "is_shared", "layout", "lock", "n_written", "taken", "trace", "was_read", "writer",
    )  # fmt: skip

    lock: Any
    taken: Array | None

    def __init__(self, array: Array | None, layout: Layout, trace: Any = None):
        self.array = array
        self.layout = layout
        self.trace = trace
        self.is_shared = self.was_read = False
        self.n_written: int | None = None
        self.writer = None

    def __repr__(self) -> str:
        return f"Storage({self.nbytes()} bytes, {self.layout.dtype})"

    @property
    def dtype(self) -> np.dtype:
        return self.layout.dtype

    def nbytes(self) -> int:
        """Returns the size in bytes."""
        return self.layout.nbytes

    def size(self) -> int:
        """Returns the size in bytes, as `torch.UntypedStorage.size`."""
        return self.layout.nbytes

    def __len__(self) -> int:
        return self.layout.nbytes

    def data_ptr(self) -> int:
        """Returns a number that tells storages apart; 0 for an empty one."""
        return place_of(self)

    def resize_(self, nbytes: int) -> Storage:
        """Changes the size in place; what lies beyond the new end is dropped, what is new must be written before read.

        Args:
          nbytes: New size in bytes.

        Raises:
          StorageSizeError: If it is negative, or memory has no addresses for it.
        """
        if int(nbytes) < 0:
            raise StorageSizeError(f"A storage cannot have {int(nbytes)} bytes; `resize_(0)` frees it.")
        if isinstance(self.layout, PartLayout):
            raise StorageSizeError(
                "Inside `ja.func.vmap` an index has its elements and not the memory of the whole tensor, which lies "
                "around them: it cannot be resized. Resize the whole tensor, outside, or a copy: `x.clone()`."
            )
        if not self.layout.is_abstract:
            check_addressable((int(nbytes),), 1)
        if state.trace is not None:
            state.trace.adopt(self)
        n = -(-int(nbytes) // self.dtype.itemsize)
        held = self.layout.numel
        written = held if self.n_written is None else self.n_written
        if self.array is None:
            written = 0
        if n == held:
            return self
        kept = min(n, written)
        if n == 0 and state.trace is not None:
            state.trace.free(self)
        layout = memory_layout(n, self.dtype, kept, max(held, self.layout.most))
        flat: Any = None
        if self.layout.is_abstract:
            layout = layout.abstract
            flat = None if kept == 0 or self.trace is not None else AbstractArray((n,), self.dtype)
        if flat is None and kept:
            flat = self.flat()[:kept]
            if n > kept:
                flat = jnp.concatenate([flat, jnp.zeros(n - kept, self.dtype)])
        n_written = None if kept == n else kept
        set_together([(self, "layout", layout), (self, "n_written", n_written), (self, "array", flat)])
        self.is_shared = False
        return self

    def flat(self) -> Array:
        """Returns the value in the order of memory."""
        if type(self.array) is AbstractArray:
            return AbstractArray((self.layout.numel,), self.dtype)  # type: ignore[return-value]
        if self.array is None:
            return jnp.zeros((self.layout.numel,), self.dtype)
        order = self.layout.memory_order
        array = self.array if order == tuple(range(len(order))) else jnp.transpose(self.array, order)
        return jnp.reshape(array, (-1,))

    def check_reach(self, layout: Layout, offset: int, is_write: bool) -> None:
        """Raises unless the memory that a tensor shows is there, and written if it is to be read.

        Raises:
          StorageSizeError: If it is not.
          ViewError: If it is not, and memory has gaps.
        """
        reach = offset + layout.reach if layout.numel else 0
        held = self.layout
        if isinstance(held, PartLayout):
            if layout is not held and layout.numel:
                held.without_gaps(layout, offset)
            return
        if layout.dtype == held.dtype:
            n_held, n_written = held.numel, self.n_written
        else:
            n_held = held.nbytes // layout.dtype.itemsize
            n_written = (
                None if self.n_written is None else self.n_written * self.dtype.itemsize // layout.dtype.itemsize
            )
        if reach > n_held:
            raise StorageSizeError(
                f"setStorage: sizes {list(layout.size)}, strides {list(layout.stride)}, storage offset {offset}, and "
                f"itemsize {layout.dtype.itemsize} requiring a storage size of {reach * layout.dtype.itemsize} are out "
                f"of bounds for storage of size {self.nbytes()}. The storage was resized below what this tensor shows; "
                "grow it with `.untyped_storage().resize_(nbytes)` and fill it first."
            )
        if not is_write and layout.numel and n_written is not None and reach > n_written:
            raise StorageSizeError(
                f"This tensor shows memory up to element {reach}, but only {n_written} elements of its storage "
                "were written since it was grown by resize_. Fill it first, for instance with `.copy_(source)`."
            )

    def note_write(self, layout: Layout, offset: int) -> None:
        """Notes that a write filled what a tensor shows."""
        if self.n_written is not None:
            reach = (offset + layout.reach) * layout.dtype.itemsize // self.dtype.itemsize
            held = self.layout
            n = min(max(self.n_written, reach), held.numel)
            layout = memory_layout(held.numel, self.dtype, n, held.most)
            layout = layout.abstract if held.is_abstract else layout
            set_together([(self, "n_written", None if n == held.numel else n), (self, "layout", layout)])

    def may_donate(self) -> bool:
        """Returns whether the array's buffer may be reused: only this storage holds it. See `locks.py` for threads."""
        return not self.is_shared or sys.getrefcount(self.array) <= HELD_ONCE

    def check_alive(self) -> None:
        """Raises if the value is a symbol of a trace that has ended, and waits for one that runs in another thread."""
        waited_for = None
        while True:
            trace = self.trace  # once: another thread ends it, or begins one
            if trace is None or trace.is_mine():
                return
            if trace is waited_for:
                break
            if trace.is_apart:
                raise LeakedTensorError(
                    "A handler of a signal uses a tensor that a function is being traced with, so it has no value at "
                    "present. Set a flag in the handler, and use the tensor where the program looks at the flag."
                )
            trace.wait()
            waited_for = trace
        if self.outlives():
            return
        raise LeakedTensorError(
            "This tensor was made while a function was being traced, and it is used outside of that trace, where "
            "it has no value. It was probably kept in an attribute, a list or a global by the traced function. "
            "Return it from the function instead, or write it into a tensor that existed before: "
            "`self.cache.copy_(new)`."
        )

    def outlives(self) -> bool:
        """Keeps the value that a function of `ja.func` computed with, once that has returned.

        A derivative is taken at values that are there; gradients end with it. What `vmap` maps has a value for each
        index, and what is recorded has none.

        Returns:
          Whether there is one.
        """
        trace = self.trace
        if not trace.has_values or trace.is_alive or state.trace is not None or not is_outermost():
            return False
        value = known_value(self.array)
        if value is None:
            return False
        layout = trace.left.pop(id(self), self.layout)
        changes = {"array": value, "layout": layout, "trace": None, "writer": None, "is_shared": True}
        set_together([(self, name, new) for name, new in changes.items()])
        return True

    def settled(self) -> Array | None:
        """Returns the array, which is no symbol of a trace in another thread: such a trace is waited for.

        Raises:
          LeakedTensorError: If it is the symbol of a trace that has ended.
        """
        while True:
            self.check_alive()
            array, trace = self.array, self.trace
            if trace is None or trace.is_mine():  # else one has begun since
                return array


def _held_once() -> int:
    probe = Storage(None, contiguous((0,), np.dtype(np.float32)))
    probe.array = object()  # type: ignore[assignment]
    return sys.getrefcount(probe.array)


HELD_ONCE = _held_once()
"""What `sys.getrefcount(storage.array)` says of an array that the storage alone holds; measured, as CPythons differ."""
