"""Dims, sizes and how shapes broadcast, with PyTorch's checks and words.

A *dim* is what users write: possibly negative, possibly out of range. An *axis* is a dim made non-negative, as jax
takes it. A 0-d tensor accepts the dims 0 and -1, as in PyTorch.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot._typing import Array, Sizes
from jaxaot.errors import ArgumentError, DimError, ShapeMismatchError, TensorError, TensorTypeError


def as_int(value: object, name: str) -> int:
    """Returns what is passed for an int.

    Raises:
      TensorTypeError: If it is of another kind.
    """
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        if hasattr(value, "__index__"):  # what is traced says itself why it is none
            raise
        raise TensorTypeError(f"`{name}` is an int, and {value!r} was given.") from None


def normalize_dim(dim: int, ndim: int) -> int:
    """Returns `dim` as an axis of a tensor with `ndim` dims.

    Raises:
      DimError: If it lies outside.
      TensorTypeError: If it is no int.
    """
    dim = dim if type(dim) is int else as_int(dim, "dim")
    bound = max(ndim, 1)
    if not -bound <= dim < bound:
        raise DimError(
            f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {dim}). The tensor "
            f"has {ndim} dim{'s' if ndim != 1 else ''}, and dims are counted from 0, or from the last one by -1."
        )
    return dim % bound


def normalize_dims(dims: Sizes | None, ndim: int) -> tuple[int, ...]:
    """Returns the axes that `dims` (an int, a sequence, or None or `()` for all) mean; none for a 0-d tensor.

    Raises:
      DimError: If one lies outside.
      TensorError: If one appears twice.
    """
    if dims is None or (isinstance(dims, (tuple, list)) and not dims):
        return tuple(range(ndim))
    axes = tuple(normalize_dim(dim, ndim) for dim in (dims if isinstance(dims, (tuple, list)) else (dims,)))
    for axis in axes:
        if axes.count(axis) > 1:
            raise TensorError(f"dim {axis} appears multiple times in the list of dims")
    return axes if ndim else ()


def along(fn: Callable[..., Any], value: Array, dim: int) -> Any:
    """Returns `fn(value, axis)`, with a 0-d `value` shown to `fn` as 1-d and its results turned back to 0-d."""
    axis = normalize_dim(dim, jnp.ndim(value))
    if jnp.ndim(value):
        return fn(value, axis)
    results = fn(jnp.reshape(value, (1,)), 0)
    if isinstance(results, tuple):
        return tuple(jnp.reshape(result, ()) for result in results)
    return jnp.reshape(results, ())


def sizes(values: Any, n: int, name: str = "size") -> tuple[int, ...]:
    """Returns `n` ints from one int or a sequence of one or `n`.

    Raises:
      ArgumentError: If the count does not fit.
    """
    values = tuple(values) if isinstance(values, (tuple, list)) else (values,)
    if len(values) == 1:
        values *= n
    if len(values) != n:
        raise ArgumentError(f"`{name}` must be a single int, or a tuple of {n} ints, but got {values}")
    return tuple(operator.index(value) for value in values)


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Returns the shape that `shapes` broadcast to.

    Raises:
      ShapeMismatchError: If they do not.
    """
    result: tuple[int, ...] = ()
    for shape in shapes:
        n = max(len(result), len(shape))
        left = (1,) * (n - len(result)) + tuple(result)
        right = (1,) * (n - len(shape)) + tuple(shape)
        for axis, (a, b) in enumerate(zip(left, right, strict=True)):
            if a != b and a != 1 and b != 1:
                raise ShapeMismatchError(
                    f"The size of tensor a ({a}) must match the size of tensor b ({b}) "
                    f"at non-singleton dimension {axis}. The shapes {' and '.join(str(list(s)) for s in shapes)} are "
                    "aligned at their last dims; insert a dim of 1 where one is missing, `x.unsqueeze(dim)`."
                )
        result = tuple(b if a == 1 else a for a, b in zip(left, right, strict=True))
    return result


def sizes_of(size: tuple[Any, ...], named: object = None) -> tuple[int, ...]:
    """Returns sizes that are given one by one, as one sequence, or by keyword."""
    if named is not None:
        if size:
            raise ArgumentError(f"A shape is given once: {size} is one, and {named!r}, which has a name, another.")
        size = (named,)
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    if not all(hasattr(n, "__index__") for n in size):
        raise ArgumentError(f"A shape is made of ints, and this is {size}. Write for instance `x.reshape(2, -1)`.")
    return tuple(operator.index(n) for n in size)


def inferred_sizes(size: tuple[int, ...], numel: int) -> tuple[int, ...]:
    """Returns `size` with its -1 replaced."""
    if size.count(-1) > 1:
        raise ShapeMismatchError("only one dimension can be inferred")
    known = 1
    for n in size:
        if n < -1:
            raise ShapeMismatchError(f"invalid shape dimension {n}")
        known *= 1 if n == -1 else n
    if -1 in size:
        if known == 0:
            raise ShapeMismatchError(
                f"cannot reshape tensor of {numel} elements into shape {list(size)} because the unspecified dimension "
                "size -1 can be any value and is ambiguous"
            )
        if numel % known:
            raise ShapeMismatchError(
                f"shape '{list(size)}' is invalid for input of size {numel}. The other sizes make {known}, of which "
                f"{numel} is no multiple."
            )
        return tuple(numel // known if n == -1 else n for n in size)
    if known != numel:
        raise ShapeMismatchError(
            f"shape '{list(size)}' is invalid for input of size {numel}. It has {known} elements; one size may be -1, "
            "for what is left."
        )
    return size
