"""How much of an axis is valid, in a program whose arrays are larger than what they hold.

A program is made for a *bucket*, and runs for smaller sizes. A *size* is then two numbers: what it is exactly, in the
trace at the sizes that were given, and what it is at the bucket. Sizes that differ belong to *classes*, one for each
pair of numbers; a class has a value for each further size, which is read off a trace and never computed by a formula.

An *extent* is an axis as a mixed radix: factors, outermost first. An element is valid if each of its digits is less
than the exact size of the digit's factor. So `(B, T)` merged into one axis stays two factors, and splits back.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import jax.numpy as jnp
from jax import lax

Pair: TypeAlias = tuple[int, int]
"""A class of sizes: what it is in the trace at the exact sizes, and at the bucket."""


class Size(NamedTuple):
    """The length of an axis, or of a part of it: a number times the values of some classes.

    Attributes:
      exact: What it is in the trace at the exact sizes.
      bucket: What it is at the bucket.
      scale: The number.
      classes: The classes, in order.
    """

    exact: int
    bucket: int
    scale: int
    classes: tuple[Pair, ...]

    @property
    def is_static(self) -> bool:
        """Whether it is the same at all sizes."""
        return not self.classes

    def times(self, other: Size) -> Size:
        """Returns the product of two sizes."""
        classes = tuple(sorted((*self.classes, *other.classes)))
        return Size(self.exact * other.exact, self.bucket * other.bucket, self.scale * other.scale, classes)

    def at(self, value: Callable[[Pair], Any]) -> Any:
        """Returns what it is where the classes have some values."""
        if not self.classes:
            return self.scale
        product = functools.reduce(operator.mul, map(value, self.classes))
        return product if self.scale == 1 else product * self.scale


def size_of(exact: int, bucket: int) -> Size:
    """Returns the size that two traces show at the same place."""
    return Size(exact, bucket, exact, ()) if exact == bucket else Size(exact, bucket, 1, ((exact, bucket),))


class Factor(NamedTuple):
    """One digit of an axis.

    Attributes:
      size: How many values it has.
      is_uniform: Whether elements that differ in nothing but this digit are equal, also invalid ones, as after a
        broadcast. Such an axis goes with any other of its size.
    """

    size: Size
    is_uniform: bool = False

    @property
    def is_padded(self) -> bool:
        """Whether some of its values are invalid."""
        return self.size.exact != self.size.bucket


Extent: TypeAlias = tuple[Factor, ...]
ONE: Extent = (Factor(Size(1, 1, 1, ())),)

Equal: TypeAlias = Callable[[Size, Size], None]
"""Takes two sizes that are equal in both traces, and have to be so at each further size."""


def extent_of(exact: int, bucket: int, is_uniform: bool = False) -> Extent:
    """Returns an axis whose first elements are valid."""
    return (Factor(size_of(exact, bucket), is_uniform and exact != bucket),)


def length(extent: Iterable[Factor]) -> Size:
    """Returns how long an axis is."""
    found = Size(1, 1, 1, ())
    for factor in extent:
        found = found.times(factor.size)
    return found


def is_padded(extent: Extent) -> bool:
    """Returns whether some elements of an axis are invalid."""
    return any(factor.is_padded for factor in extent)


def normal(extent: Iterable[Factor]) -> Extent:
    """Returns an axis with as few factors as can be: a static one merges into what is before it.

    `(T, D)` with a static D is a prefix of `T * D` elements; `(D, T)` is none.
    """
    found: list[Factor] = []
    for factor in extent:
        if factor.size[:2] == (1, 1):
            continue
        if found and not factor.is_padded:
            found[-1] = Factor(found[-1].size.times(factor.size))
        else:
            found.append(factor)
    return tuple(found) or ONE


def plain(extent: Extent) -> Extent:
    """Returns an axis of which it is not said that any of its digits is uniform."""
    return tuple(Factor(factor.size) for factor in extent)


def is_prefix(extent: Extent) -> bool:
    """Returns whether the valid elements of an axis are its first ones."""
    return len(normal(extent)) == 1


def join(extents: Iterable[Extent], equal: Equal) -> Extent | None:
    """Returns the axis of a result whose elements are computed from those at the same place; None if there is none.

    Args:
      extents: That axis of the operands. Axes of one element go with all others.
      equal: What is told of sizes that have to be equal.
    """
    found: Extent | None = None
    rest: Extent | None = None
    for given in extents:
        extent = normal(given)
        if extent == ONE:
            continue
        if len(extent) == 1 and extent[0].is_uniform:
            if rest is not None:
                if rest[0].size[:2] != extent[0].size[:2]:
                    return None
                equal(rest[0].size, extent[0].size)
            rest = extent
        elif found is None:
            found = extent
        elif len(found) != len(extent) or any(a.size[:2] != b.size[:2] for a, b in zip(found, extent, strict=True)):
            return None
        else:
            for a, b in zip(found, extent, strict=True):
                equal(a.size, b.size)
            found = tuple(Factor(a.size, a.is_uniform and b.is_uniform) for a, b in zip(found, extent, strict=True))
    if found is not None and rest is not None:
        total = length(found)
        if total[:2] != rest[0].size[:2]:
            return None
        equal(total, rest[0].size)
    return found or rest or ONE


def regroup(extents: Sequence[Extent], sizes: Sequence[Size], equal: Equal) -> list[Extent] | None:
    """Returns the axes of an array after a reshape; None if valid elements do not stay where they belong.

    Args:
      extents: The axes before.
      sizes: How long the axes are afterwards.
      equal: What is told of sizes that have to be equal.
    """
    left = [factor for extent in extents for factor in normal(extent) if factor.size[:2] != (1, 1)][::-1]
    if any(factor.size.exact == 0 for factor in left) or any(size.exact == 0 for size in sizes):
        return None
    found = []
    for size in sizes:
        taken: list[Factor] = []
        while length(taken)[:2] != size[:2]:
            if not left:
                return None
            factor = left.pop()
            part = _first_part(factor, size, length(taken))
            if part is None:
                return None
            equal(length(part), factor.size)
            taken.append(part[0])
            left += part[1:]
        equal(length(taken), size)
        found.append(normal(taken))
    return found if not left else None


def _first_part(factor: Factor, wanted: Size, got: Size) -> tuple[Factor, ...] | None:
    """Returns the part of a factor that an axis still needs, and the rest of it if there is some."""
    if wanted.exact % got.exact or wanted.bucket % got.bucket:
        return None
    exact, bucket = wanted.exact // got.exact, wanted.bucket // got.bucket
    size = factor.size
    if exact % size.exact == 0 and bucket % size.bucket == 0:
        return (factor,)
    if size.exact % exact or size.bucket % bucket:
        return None
    outer = wanted if got[:2] == (1, 1) else _quotient(size, size.exact // exact)
    inner_exact, inner_bucket = size.exact // exact, size.bucket // bucket
    if inner_exact == inner_bucket and outer is not None:  # a prefix of whole rows
        return Factor(outer, factor.is_uniform), Factor(size_of(inner_exact, inner_exact))
    if factor.is_uniform and outer is not None:
        return Factor(outer, exact != bucket), Factor(size_of(inner_exact, inner_bucket), inner_exact != inner_bucket)
    return None


def _quotient(size: Size, by: int) -> Size | None:
    if size.scale % by:
        return None
    return Size(size.exact // by, size.bucket // by, size.scale // by, size.classes)


def valid(extent: Extent, value: Callable[[Pair], Any]) -> Any:
    """Returns a boolean vector: which elements of an axis are valid.

    Args:
      extent: The axis.
      value: The values of the classes.
    """
    factors = normal(extent)
    total = math.prod(factor.size.bucket for factor in factors)
    place, mask, inner = lax.iota(jnp.int32, total), None, total
    for factor in factors:
        inner //= factor.size.bucket
        if factor.is_padded:
            digit = place if len(factors) == 1 else lax.rem(place // inner, jnp.int32(factor.size.bucket))
            fits = digit < factor.size.at(value)
            mask = fits if mask is None else mask & fits
    return jnp.ones(total, bool) if mask is None else mask
