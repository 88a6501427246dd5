"""Tensors on cells: what a cell of another library holds, as a parameter whose gradients PyTorch's style finds.

A cell and its tensor are one place in memory. The cell holds the array, and the tensor's storage reads and writes it
there: what an optimizer does to the tensor the library sees in its cell, and the other way round. The tensor is made
when it is first asked for, and lives as long as the cell.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._jax import is_tracer
from jaxaot._typing import Array
from jaxaot.errors import UnsupportedVariableError
from jaxaot.facade.cells.cells import kind_of_cell
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor, wrap
from jaxaot.ops.promotion import is_inexact
from jaxaot.tape.modes import state
from jaxaot.views.layout import contiguous


class NeedsTensors(BaseException):
    """Ends a trace in which cells have to be tensors; no `except Exception` of the traced function stops it."""

    def __init__(self, cells: Sequence[Any]):
        super().__init__()
        self.cells = tuple(cells)


class CellMetadata(dict[Any, Any]):
    """The metadata of a cell that has a tensor. Copies of it are plain dicts: those of a copied cell."""

    __slots__ = ("tensor",)

    tensor: Tensor

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


_array: Any = vars(Storage)["array"]
"""The slot in which a `CellStorage` keeps the array that it last saw in its cell."""


class CellStorage(Storage):
    """A storage whose array lies in a cell. It is never donated, as users of the library hold arrays of cells."""

    __slots__ = ("cell", "kind")

    def __init__(self, cell: object):
        self.cell, self.kind = cell, kind_of_cell(cell)
        value = getattr(cell, self.kind.value_attribute)
        super().__init__(value, contiguous(value.shape, value.dtype))

    @property
    def array(self) -> Array:
        known = _array.__get__(self)  # empty as long as another thread writes
        value = getattr(self.cell, self.kind.value_attribute)
        if value is not known:
            self._follow(known, value)
        return value

    @array.setter
    def array(self, value: Array) -> None:
        _array.__set__(self, value)
        self.kind.write(self.cell, value)

    @array.deleter
    def array(self) -> None:
        _array.__delete__(self)

    @property
    def is_shared(self) -> bool:
        return True

    @is_shared.setter
    def is_shared(self, value: bool) -> None:
        pass

    def _follow(self, known: Array, value: Array) -> None:
        """Takes over what others wrote into the cell.

        Raises:
          UnsupportedVariableError: If it is of another shape or dtype.
        """
        if (jnp.shape(value), jnp.result_type(value)) != (known.shape, known.dtype):
            raise UnsupportedVariableError(
                f"A {type(self.cell).__name__} that is used as a tensor was given an array of shape "
                f"{list(jnp.shape(value))} and dtype {jnp.result_type(value)}, and it held one of shape "
                f"{list(known.shape)} and dtype {known.dtype}. Make a new module for other shapes."
            )
        _array.__set__(self, value)
        if self.trace is not None and self.trace is state.trace:
            self.trace.written.add(id(self))
            self.writer = None


_tensors: weakref.WeakValueDictionary[int, Tensor] = weakref.WeakValueDictionary()
"""Id of each cell → its tensor, which keeps the cell alive: the library may give the cell other metadata."""


def tensor_at(cell: object) -> Tensor | None:
    """Returns the tensor of a cell; None if it has none yet."""
    kind = kind_of_cell(cell)
    metadata = getattr(cell, kind.metadata_attribute)
    if type(metadata) is CellMetadata:
        return metadata.tensor
    tensor = _tensors.get(id(cell))
    if tensor is not None:
        _keep(cell, tensor)
    return tensor


def _keep(cell: object, tensor: Tensor) -> None:
    kind = kind_of_cell(cell)
    metadata = CellMetadata(getattr(cell, kind.metadata_attribute))
    metadata.tensor = tensor
    object.__setattr__(cell, kind.metadata_attribute, metadata)


def has_array(cell: object) -> bool:
    """Returns whether a cell holds one array, and no symbol."""
    value = getattr(cell, kind_of_cell(cell).value_attribute)
    return isinstance(value, jax.Array) and not is_tracer(value)


def tensor_of(cell: object) -> Tensor:
    """Returns the tensor of a cell, a parameter.

    Raises:
      UnsupportedVariableError: If the cell holds something other than one array.
    """
    found = tensor_at(cell)
    if found is not None:
        return found
    kind_of_cell(cell).check(cell)
    if not has_array(cell):
        value = getattr(cell, kind_of_cell(cell).value_attribute)
        raise UnsupportedVariableError(
            f"A {type(cell).__name__} holds a {type(value).__name__}, and a parameter is one array. Make one of each "
            "array."
        )
    storage = CellStorage(cell)
    tensor = wrap(storage, storage.layout)
    tensor._mark = "parameter"
    if is_inexact(tensor.dtype):
        tensor.requires_grad_()
    _tensors[id(cell)] = tensor
    _keep(cell, tensor)
    return tensor
