"""Batches made of samples (`default_collate`), on the host where the samples are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot.errors import TensorTypeError, TensorValueError
from jaxaot.facade.dispatch.create import as_tensor, from_numpy, on_host
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor


def _stacked(tensors: Sequence[Tensor]) -> Tensor:
    arrays = [on_host(tensor) for tensor in tensors]
    if any(array is None for array in arrays) or len({array.shape for array in arrays if array is not None}) > 1:
        return FUNCTIONS[""]["stack"](list(tensors), 0)  # which says what does not fit
    return from_numpy(np.stack([array for array in arrays if array is not None]))


def _numbers(values: Sequence[Any]) -> Tensor:
    return as_tensor(np.asarray(values, np.float64 if isinstance(values[0], float) else None))


def _like(sample: Any, values: list[Any]) -> Any:
    """Returns what was made of the elements of a sequence, as a sequence of its type where that can be made."""
    if isinstance(sample, tuple):
        return type(sample)(*values) if hasattr(sample, "_fields") else values
    try:
        return type(sample)(values)  # type: ignore[call-arg]
    except TypeError:  # such as a range
        return values


def _mapped(sample: Mapping[Any, Any], values: dict[Any, Any]) -> Any:
    try:
        return type(sample)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def default_collate(batch: Any) -> Any:
    """Returns a batch of samples: tensors, arrays and numbers are stacked along a new first dim.

    Dicts, named tuples, tuples and lists are taken apart and come back with a batch for each element; text stays a
    list.

    Raises:
      TensorTypeError: If samples are of another kind.
      TensorValueError: If sequences differ in their lengths.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return _stacked(batch)
    if isinstance(first, np.ndarray | np.generic | jax.Array):
        if np.asarray(first).dtype.kind in "SUO":
            raise TensorTypeError(
                f"default_collate: arrays hold numbers, and one of dtype {first.dtype} was found. Write a `collate_fn`."
            )
        return as_tensor(np.stack([np.asarray(value) for value in batch]))
    if isinstance(first, bool | int | float):
        return _numbers(batch)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return _mapped(first, {key: default_collate([sample[key] for sample in batch]) for key in first})
    if isinstance(first, Sequence):
        rows = [list(sample) for sample in batch]
        if len({len(row) for row in rows}) > 1:
            raise TensorValueError("each element in list of batch should be of equal size")
        return _like(first, [default_collate(column) for column in zip(*rows, strict=True)])
    raise TensorTypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{type(first)}. Write a `collate_fn`."
    )


def default_convert(data: Any) -> Any:
    """Returns a sample whose NumPy arrays are tensors; what a loader without batches gives."""
    if isinstance(data, Tensor | str | bytes):
        return data
    if isinstance(data, np.ndarray | np.generic):
        return data if data.dtype.kind in "SUO" else as_tensor(data)
    if isinstance(data, Mapping):
        return _mapped(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, Sequence):
        return _like(data, [default_convert(value) for value in data])
    return data
