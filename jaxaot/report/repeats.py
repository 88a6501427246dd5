"""Repeats in a graph: runs of equations that stand several times one after the other, as layers of a model do."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from jaxaot.report.contents import Repeat

_LONGEST = 2000
"""The most equations of one layer that are looked for: the time grows with it."""
_LEAST = 4
"""How many equations a repeat folds away at least."""


def repeats_of(keys: Sequence[Hashable]) -> tuple[Repeat, ...]:
    """Returns the repeats of a sequence, in order and apart from one another.

    Args:
      keys: One for each equation; equal ones are alike.
    """
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    return tuple(_repeats(codes, 0, len(codes)))


def _repeats(codes: np.ndarray, start: int, end: int) -> Iterator[Repeat]:
    """Yields the repeat that folds most away between two places, and those before and behind it."""
    best, most = None, _LEAST - 1
    for length in range(1, min(_LONGEST, (end - start) // 2) + 1):
        if end - start - length <= most:
            break
        differs = np.flatnonzero(codes[start : end - length] != codes[start + length : end])
        edges = np.concatenate(([-1], differs, [end - start - length]))
        runs = np.diff(edges) - 1
        longest = int(runs.argmax())
        folded = int(runs[longest]) // length * length
        if folded > most:
            best, most = Repeat(start + int(edges[longest]) + 1, length, folded // length + 1), folded
    if best is not None:
        yield from _repeats(codes, start, best.first)
        yield best
        yield from _repeats(codes, best.first + best.length * best.count, end)
