"""Storages as a row of numbers of one dtype: what `x.storage()` returns (`torch.TypedStorage`)."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxaot.errors import DimError, StorageSizeError, TensorTypeError
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor, wrap, wrap_array
from jaxaot.tape.modes import state
from jaxaot.views.layout import contiguous


class TypedStorage:
    """The memory of tensors as a row of numbers, which can be read and written one by one.

    Attributes:
      dtype: Of the numbers.
    """

    __slots__ = ("_untyped", "dtype")

    def __init__(self, untyped: Storage, dtype: np.dtype):
        self._untyped = untyped
        self.dtype = dtype

    def untyped(self) -> Storage:
        """Returns the storage as bytes: one object for all tensors that share memory."""
        return self._untyped

    def _elements(self) -> Tensor:
        return _whole(self._untyped, self.dtype)

    def __len__(self) -> int:
        return self._untyped.nbytes() // self.dtype.itemsize

    def size(self) -> int:
        """Returns how many numbers there are."""
        return len(self)

    def nbytes(self) -> int:
        """Returns the size in bytes."""
        return self._untyped.nbytes()

    def element_size(self) -> int:
        """Returns the bytes of a number."""
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        """Returns a number that tells storages apart; 0 for an empty one."""
        return self._untyped.data_ptr()

    def resize_(self, size: int) -> TypedStorage:
        """Changes the size in place, as `Storage.resize_`; `size` counts numbers."""
        self._untyped.resize_(operator.index(size) * self.dtype.itemsize)
        return self

    def fill_(self, value: float) -> TypedStorage:
        """Writes one number everywhere, in place."""
        self._elements().fill_(value)
        return self

    def tolist(self) -> list[Any]:
        """Returns the numbers as a list."""
        return self._elements().tolist()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: int) -> Any:
        return self._elements()[self._place(index)].item()

    def __setitem__(self, index: int | slice, value: Any) -> None:
        self._elements()[index if isinstance(index, slice) else self._place(index)] = value

    def _place(self, index: object) -> int:
        try:
            place = operator.index(index)  # type: ignore[arg-type]
        except TypeError as error:
            raise TensorTypeError(
                f"can't index a storage with {type(index).__name__}, only with an int; write "
                "`x.storage().tolist()[1:]` for several of its numbers."
            ) from error
        if not -len(self) <= place < len(self):
            raise DimError(f"out of range: there is no number {place} in a storage of {len(self)}")
        return place

    def __repr__(self) -> str:
        return f"TypedStorage({len(self)} of {self.dtype})"


def fill_(self: Storage, value: int) -> Storage:
    """Writes one byte everywhere, in place; no gradient sees it, and no version counts it.

    Args:
      value: The byte; of larger numbers the last eight bits.

    Raises:
      TensorTypeError: If it is no int.
    """
    if not isinstance(value, (int, np.integer)):
        raise TensorTypeError(
            f"fill_ expects int, but got {type(value).__name__}: a storage is made of bytes. Write "
            "`x.detach().fill_(value)` for numbers."
        )
    byte = np.full(self.dtype.itemsize, int(value) % 256, np.uint8)
    number = byte.astype(bool)[0] if self.dtype == np.bool_ else byte.view(self.dtype)[0]
    with recording(False):
        _whole(self, self.dtype).copy_(wrap_array(jnp.asarray(number)))
    return self


def copy_(self: Storage, source: Any, non_blocking: bool = False) -> Storage:
    """Copies the bytes of another storage, in place; no gradient sees it, and no version counts it.

    Args:
      source: A storage of the same size.
      non_blocking: Taken for PyTorch's sake.

    Raises:
      TensorTypeError: If it is no storage.
      StorageSizeError: If it is of another size.
    """
    source = source.untyped() if isinstance(source, TypedStorage) else source
    if not isinstance(source, Storage):
        raise TensorTypeError(
            f"copy_(): argument 'src' must be a storage, not {type(source).__name__}. Write "
            "`source.untyped_storage()`, or copy numbers: `x.detach().copy_(source)`."
        )
    if source.nbytes() != self.nbytes():
        raise StorageSizeError(
            f"size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} bytes. Write "
            f"`.resize_({source.nbytes()})` first."
        )
    if self.nbytes():
        with recording(False):
            _whole(self, self.dtype).copy_(_whole(source, self.dtype))
    return self


def _whole(storage: Storage, dtype: np.dtype) -> Tensor:
    """Returns a tensor without a history that shows all of a storage."""
    if state.trace is not None:
        state.trace.adopt(storage)
    return wrap(storage, contiguous((storage.nbytes() // dtype.itemsize,), dtype), 0, state.trace)


def storage(self: Tensor) -> TypedStorage:
    """Returns the storage as a row of numbers of the tensor's dtype; `untyped_storage()` is that of bytes."""
    return TypedStorage(self.untyped_storage(), self._layout.dtype)


OF_STORAGES = {"fill_": fill_, "copy_": copy_}
"""Methods of storages as bytes, which are written through a tensor."""
