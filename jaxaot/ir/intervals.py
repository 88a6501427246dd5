"""Between which numbers the elements of a part of a value lie, whatever the inputs are: what a mask discards.

        i = iota[0];  j = iota[1];  m = ge i j        →        rows 128 to 255, columns 256 to 383: m is False

A graph's large values are cut along rows and columns into *tiles*. All tiles are looked at together: a bound is an
array of rows of tiles by columns of tiles, or one that broadcasts to it (Moore, "Interval Analysis", 1966).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxaot._jax import Literal
from jaxaot._typing import Atom, Eqn
from jaxaot.ir.walk import Makers

MAX_NUMBER = 1 << 52
"""Larger integers may be rounded where bounds are computed, or overflow: nothing is said of these."""


class Interval(NamedTuple):
    """The least and the largest element, by tile."""

    low: Any
    high: Any


class Intervals:
    """The intervals of the values of a graph."""

    def __init__(
        self, makers: Makers, given: Mapping[Any, Interval], column_of: Callable[[Any], int | None], tile: int
    ):
        """Wraps a graph.

        Args:
          makers: Who makes a value.
          given: What is known of inputs.
          column_of: Takes a value to its axis of columns, or None if all of it is one tile.
          tile: How many columns a tile has.
        """
        self._makers, self._column_of, self._tile = makers, column_of, tile
        self._found: dict[Any, Interval | None] = dict(given)

    def of(self, atom: Atom) -> Interval | None:
        """Returns the interval of an atom; None if nothing is known of it."""
        if isinstance(atom, Literal):
            value = np.asarray(atom.val)
            return None if value.dtype.kind not in "biuf" else _checked(value.min(), value.max())
        if atom not in self._found:
            self._found[atom] = None
            eqn = self._makers.of(atom)
            if eqn is not None and len(eqn.outvars) == 1 and getattr(atom.aval.dtype, "kind", "") in "biuf":
                with np.errstate(all="ignore"):
                    self._found[atom] = self._made(eqn)
        return self._found[atom]

    def _made(self, eqn: Eqn) -> Interval | None:
        name, (result,) = eqn.primitive.name, eqn.outvars
        if name == "iota":
            if result.aval.dtype.kind == "f" and result.aval.dtype.itemsize < 4:
                return None
            axis = eqn.params["dimension"]
            size = result.aval.shape[axis]
            if self._column_of(result) != axis:
                return Interval(np.zeros((1, 1)), np.full((1, 1), size - 1))
            low = np.arange(0, size, self._tile)[None]
            return Interval(low, low + self._tile - 1)
        found = [self.of(atom) for atom in eqn.invars]
        known = [bounds for bounds in found if bounds is not None]
        if name in ("and", "or") and result.aval.dtype == bool:
            return _logical(name, found)
        if name == "select_n" and len(found) == 3 and None not in found[1:]:
            return _chosen(found[0], known[-2], known[-1])
        if len(known) < len(found):
            return None
        if name in _SAME and (name != "convert_element_type" or _keeps(eqn)):
            return known[0]
        rule = _RULES.get(name)
        if rule is None or (name in _ROUNDED and result.aval.dtype.kind == "f"):
            return None
        return _within(_checked(*rule(*known, eqn)), result.aval.dtype)


def _checked(low: Any, high: Any) -> Interval | None:
    """Returns an interval as arrays of two axes; None if numbers in it may not be exact."""
    low, high = (np.asarray(x, np.float64) for x in (low, high))
    if np.isnan(low).any() or np.isnan(high).any():
        return None
    bounds = np.concatenate([low.ravel(), high.ravel()])
    if (np.abs(bounds[np.isfinite(bounds)]) > MAX_NUMBER).any():
        return None
    return Interval(np.atleast_2d(low), np.atleast_2d(high))


def _within(found: Interval | None, dtype: Any) -> Interval | None:
    """Returns an interval if none of it overflows integers of a dtype."""
    if found is None or dtype.kind not in "iu":
        return found
    most = np.iinfo(dtype)
    return found if (found.low >= most.min).all() and (found.high <= most.max).all() else None


_ROUNDED = {"add", "sub", "mul", "div", "rem"}
"""Primitives that round floating-point numbers."""

_SAME = {
    "broadcast_in_dim",
    "convert_element_type",
    "copy",
    "reshape",
    "squeeze",
    "expand_dims",
    "stop_gradient",
    "transpose",
}
"""Primitives that repeat and arrange what is there."""


def _keeps(eqn: Eqn) -> bool:
    """Returns whether a conversion changes no number: of integers and truth values to what holds them."""
    before, after = eqn.invars[0].aval.dtype, eqn.outvars[0].aval.dtype
    exact = {"f": {2: 11, 4: 24, 8: 53}}.get(after.kind, {}).get(after.itemsize, 0)
    if after.kind == "f":
        return before.kind == "b" or (before.kind in "iu" and exact >= 24) or before == after
    return before.kind == "b" or (before.kind in "iu" and after.kind in "iu" and after.itemsize >= 4)


def _logical(name: str, found: Sequence[Interval | None]) -> Interval | None:
    """Returns the interval of truth values, one of which may decide."""
    left, right = (Interval(np.zeros((1, 1)), np.ones((1, 1))) if one is None else one for one in found)
    combine = np.minimum if name == "and" else np.maximum
    return Interval(combine(left.low, right.low), combine(left.high, right.high))


def _chosen(which: Interval | None, first: Interval, second: Interval) -> Interval:
    """Returns the interval of a choice: of one case where that is known, else of both."""
    low, high = np.minimum(first.low, second.low), np.maximum(first.high, second.high)
    if which is None:
        return Interval(low, high)
    is_first, is_second = which.high < 1, which.low >= 1
    pick = lambda a, b, both: np.where(is_first, a, np.where(is_second, b, both))
    return Interval(pick(first.low, second.low, low), pick(first.high, second.high, high))


def _of_corners(combine: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """Returns the rule of what is least and largest where its operands are."""

    def rule(left: Interval, right: Interval, eqn: Eqn) -> tuple[Any, Any]:
        del eqn
        corners = [combine(a, b) for a in left for b in right]
        low, high = corners[0], corners[0]
        for corner in corners[1:]:
            low, high = np.minimum(low, corner), np.maximum(high, corner)
        return low, high

    return rule


def _divided(left: Interval, right: Interval, eqn: Eqn) -> tuple[Any, Any]:
    """Returns the interval of quotients of integers, rounded towards zero, by one positive number."""
    if eqn.outvars[0].aval.dtype.kind not in "iu" or (right.low != right.high).any() or (right.low <= 0).any():
        return np.nan, np.nan
    return np.trunc(left.low / right.low), np.trunc(left.high / right.low)


def _rest(left: Interval, right: Interval, eqn: Eqn) -> tuple[Any, Any]:
    """Returns the interval of the rests of integers by one positive number."""
    if eqn.outvars[0].aval.dtype.kind not in "iu" or (right.low != right.high).any() or (right.low <= 0).any():
        return np.nan, np.nan
    most = right.high - 1
    is_one_round = (left.low >= 0) & (np.floor(left.low / right.low) == np.floor(left.high / right.low))
    low = np.where(is_one_round, np.mod(left.low, right.low), np.where(left.low >= 0, 0, -most))
    high = np.where(is_one_round, np.mod(left.high, right.low), np.where(left.high <= 0, 0, most))
    return low, high


def _compared(always: Callable[..., Any], ever: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """Returns the rule of a comparison, by whether it is always true, and whether it may be."""
    return lambda a, b, eqn: (always(a, b).astype(float), ever(a, b).astype(float))


_RULES: dict[str, Callable[..., tuple[Any, Any]]] = {
    "add": lambda a, b, eqn: (a.low + b.low, a.high + b.high),
    "sub": lambda a, b, eqn: (a.low - b.high, a.high - b.low),
    "mul": _of_corners(np.multiply),
    "max": _of_corners(np.maximum),
    "min": _of_corners(np.minimum),
    "neg": lambda a, eqn: (-a.high, -a.low),
    "abs": lambda a, eqn: (np.maximum(0, np.maximum(a.low, -a.high)), np.maximum(np.abs(a.low), np.abs(a.high))),
    "sign": lambda a, eqn: (np.sign(a.low), np.sign(a.high)),
    "not": lambda a, eqn: (1 - a.high, 1 - a.low) if eqn.outvars[0].aval.dtype == bool else (np.nan, np.nan),
    "div": _divided,
    "rem": _rest,
    "lt": _compared(lambda a, b: a.high < b.low, lambda a, b: a.low < b.high),
    "le": _compared(lambda a, b: a.high <= b.low, lambda a, b: a.low <= b.high),
    "gt": _compared(lambda a, b: a.low > b.high, lambda a, b: a.high > b.low),
    "ge": _compared(lambda a, b: a.low >= b.high, lambda a, b: a.high >= b.low),
    "eq": _compared(
        lambda a, b: (a.low == a.high) & (b.low == b.high) & (a.low == b.low),
        lambda a, b: (a.low <= b.high) & (b.low <= a.high),
    ),
    "ne": _compared(
        lambda a, b: (a.high < b.low) | (b.high < a.low),
        lambda a, b: ~((a.low == a.high) & (b.low == b.high) & (a.low == b.low)),
    ),
}
