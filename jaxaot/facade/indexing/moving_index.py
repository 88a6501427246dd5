"""`x[n]` and `x[n : n + 4] = value` in a trace, where `n` is a number that changes from call to call.

Of a number that no trace knows the place is found at each call: `n` is an input of the graph, and that it lies inside
of the tensor is a guard. A read is a copy here, where eagerly it is a view; a trace in which that makes a difference is
not the one that Python's own number has, and so is not used.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from jaxaot.facade.indexing.symbolic_numbers import SymbolicNumber, plain_number
from jaxaot.facade.memory.tensor import Tensor


class _Move(NamedTuple):
    """What a part of an index takes of one dim: `size` elements from `start` on; a number drops the dim."""

    start: Any
    size: int
    is_dropped: bool


class MovingWindow(NamedTuple):
    """A window that moves along some dims of a view.

    Attributes:
      index: What makes the view.
      starts: Where it begins along those of which no trace knows it.
      where: For each dim of the window its number, where it begins, None if `starts` says it, its size, and whether the
        result is without the dim.
    """

    index: tuple[Any, ...]
    starts: tuple[Tensor, ...]
    where: tuple[tuple[int, int | None, int, bool], ...]


def _is_symbolic(part: object) -> bool:
    if type(part) is slice:
        return type(part.start) is SymbolicNumber or type(part.stop) is SymbolicNumber
    return type(part) is SymbolicNumber


def moving_window(tensor: Tensor, index: object) -> MovingWindow | None:
    """Returns what an index takes of a tensor if symbolic numbers say where; None if it is to be read by value."""
    parts = index if type(index) is tuple else (index,)
    if not any(map(_is_symbolic, parts)):
        return None
    if not all(p is None or p is Ellipsis or type(p) in (int, slice) or _is_symbolic(p) for p in parts):
        return None
    n_taken = sum(p is not None and p is not Ellipsis for p in parts)
    if n_taken > tensor.ndim or sum(p is Ellipsis for p in parts) > 1:
        return None
    whole = [slice(None)] * (tensor.ndim - n_taken)
    opened = list(itertools.chain.from_iterable(whole if p is Ellipsis else [p] for p in parts))
    source = 0
    moves: dict[int, _Move] = {}
    for dim, part in enumerate(opened):
        if _is_symbolic(part) or type(part) is int:
            move = _move(part, tensor._layout.size[source])
            if move is None:
                return None
            moves[dim], opened[dim] = move, slice(None)
        source += part is not None
    starts = tuple(m.start.settled("an index") for m in moves.values() if type(m.start) is SymbolicNumber)
    fixed = lambda start: None if type(start) is SymbolicNumber else start
    where = tuple((d, fixed(m.start), m.size, m.is_dropped) for d, m in moves.items())
    return MovingWindow(tuple(opened), starts, where)


def _move(part: Any, n: int) -> _Move | None:
    """Returns what a part of an index takes of a dim with `n` elements; None if it takes nothing, or cannot."""
    if type(part) is not slice:
        at = plain_number(part)
        if type(at) is not int or not -n <= at < n:
            return None
        start = part if at >= 0 else part + n
        return _Move(start, 1, True) if _is_within(start, n - 1) else None
    stop: Any = part.stop
    start = part.start
    at, end = plain_number(start), plain_number(stop)
    if part.step not in (None, 1) or type(start) is not SymbolicNumber or type(at) is not int or type(end) is not int:
        return None
    if not 0 <= at < end <= n:
        return None
    size = stop - start
    size = size.numbers.rely(size) if type(size) is SymbolicNumber else size
    return _Move(start, size, False) if _is_within(start, n - size) else None


def _is_within(start: Any, last: int) -> bool:
    """Returns whether a number is from 0 to `last`; that it is becomes a guard."""
    return start >= 0 and start <= last
