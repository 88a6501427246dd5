"""What users say of sizes: which dims change, between which numbers, and what holds of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from jaxaot._jax import is_tracer
from jaxaot._placement import is_spread
from jaxaot._util import KeptWith
from jaxaot.buckets.policy import Buckets, Given, are_sizes_imagined, read_buckets
from jaxaot.errors import CheckError, DimError, TensorTypeError
from jaxaot.facade.memory.tensor import Tensor

_marks = KeptWith()


def marks_of(value: object) -> dict[int, Buckets | None]:
    """Returns what is said of the dims of a tensor or array: by dim its buckets, or None if its size is fixed."""
    return _marks.of(value)


def mark_dynamic(
    x: Any,
    dim: int | Sequence[int],
    *,
    min: int | None = None,
    max: int | None = None,
    buckets: Given = "pow2",
) -> None:
    """Says that a dim of a tensor changes from call to call, so that `ja.compile` uses a bucket from the first call on.

    It is said of arguments that are passed in the same place as well. A function under `dynamic=False` does not look.

    Args:
      x: A tensor or array.
      dim: The dim, or several.
      min: The least size; what is smaller is compiled exactly.
      max: The largest size; what is larger is compiled exactly, and no bucket is larger.
      buckets: The sizes for which programs are made, as of `ja.compile`.

    Raises:
      DimError: If there is no such dim.
      TensorTypeError: If `x` has no dims.
      UsageError: If the buckets say no sizes.
    """
    said = read_buckets(buckets)._replace(least=0 if min is None else min, most=max)
    for i in _dims(x, dim, "mark_dynamic"):
        marks_of(x)[i] = said


def mark_static(x: Any, dim: int | Sequence[int] | None = None) -> None:
    """Says that a dim of a tensor does not change, so that `ja.compile` makes a program for each size that it has.

    Args:
      x: A tensor or array.
      dim: The dim, or several; None for all.

    Raises:
      DimError: If there is no such dim.
      TensorTypeError: If `x` has no dims.
    """
    for i in _dims(x, range(len(getattr(x, "shape", ()))) if dim is None else dim, "mark_static"):
        marks_of(x)[i] = None


def _dims(x: Any, dim: int | Sequence[int], name: str) -> list[int]:
    shape = getattr(x, "shape", None)
    if shape is None:
        raise TensorTypeError(f"`ja.sizes.{name}` takes a tensor or array, and was given {x!r}. Numbers have no dims.")
    given = (dim,) if isinstance(dim, int) else tuple(dim)
    rank = len(shape)
    for i in given:
        if not -rank <= i < rank:
            raise DimError(
                f"`ja.sizes.{name}` was given dim {i} of a tensor of shape {tuple(shape)}. Write a number from "
                f"{-rank} to {rank - 1}."
                if rank
                else f"`ja.sizes.{name}` was given dim {i} of a tensor without dims."
            )
    return [i % rank for i in given]


def check(cond: bool, message: str | Callable[[], str] | None = None) -> None:
    """Raises unless a condition on sizes or other numbers of Python holds, as `torch._check` does.

    While a program of a bucket is made, a function is traced at sizes that no call has. There nothing is checked: each
    size that a call has is traced too, and checked then.

    Args:
      cond: The condition.
      message: What the error says, or a function that returns it.

    Raises:
      CheckError: If it does not hold.
    """
    if cond or are_sizes_imagined():
        return
    said = message() if callable(message) else message
    raise CheckError(
        "Expected the condition of `ja.sizes.check` to be true, and it is false." if said is None else said
    )


def may_be_values(value: Any) -> bool:
    """Returns whether the values of a tensor may be passed in the place of its storage."""
    if type(value) is not Tensor or not value._layout.numel:
        return False
    array, storage = value._storage.array, value._storage
    is_inside = value._offset + value._layout.reach <= storage.layout.numel
    is_there = is_inside and storage.n_written is None and isinstance(array, jax.Array)
    return is_there and not is_tracer(array) and not is_spread(array)
