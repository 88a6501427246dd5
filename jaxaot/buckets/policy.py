"""Which bucket a size belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from jaxaot.errors import UsageError

Given: TypeAlias = "str | int | Sequence[int]"
"""How users say buckets: `"pow2"`, a step, or all of them."""

SMALLEST = 8
"""The smallest bucket of `"pow2"`."""


class Buckets(NamedTuple):
    """Sizes for which programs are made.

    Attributes:
      sizes: All of them, in order; empty if they go on without end.
      step: Their distance, where they are the multiples of a number; else 0.
    """

    sizes: tuple[int, ...] = ()
    step: int = 0

    def of(self, size: int) -> int | None:
        """Returns the smallest bucket that has room for a size; None if none has."""
        if self.sizes:
            return next((bucket for bucket in self.sizes if bucket >= size), None)
        if self.step:
            return -(-size // self.step) * self.step
        return next(bucket for bucket in _powers() if bucket >= size)

    def up_to(self, size: int) -> list[int]:
        """Returns the buckets of all sizes up to one."""
        found = []
        last = 0
        while last < size:
            bucket = self.of(last + 1)
            if bucket is None:
                break
            found.append(bucket)
            last = bucket
        return found


def _powers() -> Iterator[int]:
    bucket = SMALLEST
    while True:
        yield bucket
        yield bucket + bucket // 2
        bucket *= 2


def read_buckets(given: Given) -> Buckets:
    """Returns the buckets that a user says.

    Raises:
      UsageError: If they are none.
    """
    if given == "pow2":
        return Buckets()
    if isinstance(given, int) and not isinstance(given, bool) and given > 0:
        return Buckets(step=given)
    sizes = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else ()
    if sizes and all(isinstance(size, int) and not isinstance(size, bool) and size > 0 for size in sizes):
        return Buckets(sizes=tuple(sorted(set(sizes))))
    raise UsageError(
        f'`buckets={given!r}` says no sizes. Write `"pow2"` for 2**k and 1.5 * 2**k, a step such as `buckets=128` '
        "for its multiples, or all sizes, `buckets=[64, 256, 512]`."
    )
