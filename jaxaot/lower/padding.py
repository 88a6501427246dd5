"""Arrays made larger for a program of a bucket, and its results cut to their size: by NumPy, nothing is compiled.

An array on several devices is padded under its own sharding, see `bucket_sharding.py`. A result that is cut lies as the
result of the program does, along the axes that divide it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxaot._jax import placed_as
from jaxaot._typing import Array, ArrayLike, Aval
from jaxaot.ir.extents import Extent, Pair, normal
from jaxaot.lower.bucket_sharding import OtherPlacesError, fitting


def padded(value: ArrayLike, shape: tuple[int, ...]) -> Any:
    """Returns an array of a shape that begins with the elements of another one; the others are zero.

    On CPU the elements are read where they are, without a copy of their own.

    Args:
      value: A NumPy or jax array.
      shape: The shape.

    Raises:
      OtherPlacesError: If the array lies over several devices, and the shape cannot.
    """
    is_placed = isinstance(value, jax.Array) and getattr(value, "committed", False)
    if is_placed and fitting(value.sharding, shape) is not value.sharding:
        raise OtherPlacesError
    there = np.asarray(value)
    room = np.zeros(shape, there.dtype)
    room[tuple(map(slice, there.shape))] = there
    return jax.device_put(room, value.sharding) if is_placed else room


class Crop(NamedTuple):
    """How a result is cut.

    Attributes:
      digits: The shape of the result of the program with an axis for each digit.
      kept: How many values of each digit are kept.
      aval: The type of what is kept.
    """

    digits: tuple[int, ...]
    kept: tuple[slice, ...]
    aval: Aval

    def __call__(self, result: Array) -> Any:
        """Returns a result of the program as the exact program returns it."""
        there = np.asarray(result).reshape(self.digits)[self.kept].reshape(self.aval.shape)
        return placed_as(there, result, self.aval, fitting(result.sharding, self.aval.shape))

    def undone(self, value: Array, shape: tuple[int, ...]) -> Any:
        """Returns an array of a shape that is cut to some value; what is cut off is zero.

        Args:
          value: What is kept.
          shape: That of the result of the program.
        """
        there = np.asarray(value)
        room = np.zeros(self.digits, there.dtype)
        room[self.kept] = there.reshape(room[self.kept].shape)
        aval = jax.typeof(value).update(shape=shape)
        return placed_as(room.reshape(shape), value, aval, fitting(value.sharding, shape))


def crop_of(extents: Sequence[Extent], value: Callable[[Pair], int], aval: Aval) -> Crop | None:
    """Returns how a result is cut; None if it is as it should be.

    Args:
      extents: Its axes.
      value: The values of the classes of sizes.
      aval: Its type in the exact program.
    """
    sizes = [factor.size for extent in extents for factor in normal(extent)]
    kept = [size.at(value) for size in sizes]
    if kept == [size.bucket for size in sizes]:
        return None
    return Crop(tuple(size.bucket for size in sizes), tuple(map(slice, kept)), aval)
