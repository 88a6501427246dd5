"""Which bucket a size belongs to."""

from __future__ import annotations

import contextlib
import threading
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
      least: The smallest size that runs in a bucket.
      most: The largest one, than which no bucket is larger; None without an end.
    """

    sizes: tuple[int, ...] = ()
    step: int = 0
    least: int = 0
    most: int | None = None

    def of(self, size: int, doubles: bool = False) -> int | None:
        """Returns the smallest bucket that has room for a size; None if none has.

        Args:
          size: The size.
          doubles: Whether of `"pow2"` only the powers of two count.
        """
        if size < self.least or (self.most is not None and size > self.most):
            return None
        if self.sizes:
            found = next((bucket for bucket in self.sizes if bucket >= size), None)
        elif self.step:
            found = -(-size // self.step) * self.step
        else:
            found = next(bucket for bucket in _powers(doubles) if bucket >= size)
        return found if found is None or self.most is None else min(found, self.most)

    def up_to(self, size: int) -> list[int]:
        """Returns the buckets of all sizes up to one."""
        found = []
        last = max(self.least - 1, 0)
        while last < size:
            bucket = self.of(last + 1)
            if bucket is None:
                break
            found.append(bucket)
            last = bucket
        return found


class _Imagined(threading.local):
    is_on = False


_imagined = _Imagined()


@contextlib.contextmanager
def imagined_sizes() -> Iterator[None]:
    """Says that a function is traced at sizes that no call has, where what it checks of sizes need not hold."""
    before, _imagined.is_on = _imagined.is_on, True
    try:
        yield
    finally:
        _imagined.is_on = before


def are_sizes_imagined() -> bool:
    """Returns whether a function is being traced at sizes that no call has."""
    return _imagined.is_on


def _powers(doubles: bool) -> Iterator[int]:
    bucket = SMALLEST
    while True:
        yield bucket
        if not doubles:
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
