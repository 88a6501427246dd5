"""`copy.deepcopy` and pickling: tensors that share memory share it in the copy too."""

from __future__ import annotations

import copy
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxaot.errors import AutogradError
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.members.typed_storage import OF_STORAGES
from jaxaot.facade.memory.counter import WriteCounter
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor, wrap
from jaxaot.facade.view_ops import views
from jaxaot.tape.modes import state
from jaxaot.views.layout import Layout


def copy_tensor(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """Returns a leaf on a copy of the storage, one copy for all tensors of a storage.

    Raises:
      AutogradError: If the tensor is not a leaf.
    """
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise AutogradError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
            "Use `.detach().clone()`."
        )
    if state.trace is not None:
        with recording(False):
            made = views.clone(self)
    else:
        made = wrap(copy_storage(self._storage, memo), self._layout, self._offset)
        made._counter = WriteCounter(1)  # as PyTorch's, which comes by `set_`
    made.requires_grad_(self.requires_grad)
    if hasattr(self, "_mark"):
        made._mark = self._mark
    memo[id(self)] = made
    if vars(self):
        vars(made).update(copy.deepcopy(vars(self), memo))
    if self._grad is not None:
        made._grad = copy_tensor(self._grad, memo)
    return made


def alias_tensor(self: Tensor) -> Tensor:
    """Returns a leaf on the same storage, as pickling and unpickling the tensor alone would."""
    with recording(False):
        made = views.detached(self)
    if state.trace is None:
        made._counter = WriteCounter(1)
    if hasattr(self, "_mark"):
        made._mark = self._mark
    vars(made).update({**vars(self), **vars(made)})
    return made.requires_grad_() if self.requires_grad else made


def copy_storage(self: Storage, memo: dict[int, Any]) -> Storage:
    """Returns a storage with the same value; the array is immutable, so both hold it until one is written."""
    if id(self) in memo:
        return memo[id(self)]
    made = Storage(self.settled(), self.layout)
    made.n_written = self.n_written
    self.is_shared = made.is_shared = True
    memo[id(self)] = made
    return made


def reduce_tensor(self: Tensor) -> Any:
    """Returns pickle's recipe for the tensor: its storage, and its layout in it."""
    if state.trace is not None:
        self._concrete("Pickling")
    mark = (self._mark,) if hasattr(self, "_mark") else ()
    return rebuild_tensor, (self._storage, self._layout, self._offset, self.requires_grad, *mark), vars(self) or None


def rebuild_tensor(
    storage: Storage, layout: Layout, offset: int, requires_grad: bool, mark: str | None = None
) -> Tensor:
    """Returns an unpickled tensor, a leaf."""
    made = wrap(storage, layout, offset)
    made._counter = WriteCounter(1)
    if mark is not None:
        made._mark = mark
    return made.requires_grad_(requires_grad) if requires_grad else made


def reduce_storage(self: Storage) -> Any:
    """Returns pickle's recipe for the storage."""
    array = self.settled()
    values = None if array is None else np.asarray(array)
    return rebuild_storage, (values, self.layout, self.n_written)


def rebuild_storage(values: np.ndarray | None, layout: Layout, n_written: int | None) -> Storage:
    """Returns an unpickled storage."""
    made = Storage(None if values is None else jnp.asarray(values), layout)
    made.n_written = n_written
    return made


PROTOCOLS = {
    Tensor: {"__copy__": alias_tensor, "__deepcopy__": copy_tensor, "__reduce__": reduce_tensor},
    Storage: {"__deepcopy__": copy_storage, "__reduce__": reduce_storage, **OF_STORAGES},
}
