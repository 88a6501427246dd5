"""What became of each graph that was looked for: a hit, a miss and why, or a bypass and why."""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple


class CacheEvent(NamedTuple):
    """What became of one graph.

    Attributes:
      program: What the function is called.
      outcome: `"hit"`, `"miss"` or `"bypass"`.
      reason: Why it was no hit, in words; empty for a hit.
    """

    program: str
    outcome: Literal["hit", "miss", "bypass"]
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.program}: {self.outcome}" + (f", {self.reason}" if self.reason else "")


class CacheReport(tuple[CacheEvent, ...]):
    """The events of a function, which print as one line each and one with their numbers."""

    __slots__ = ()

    def __str__(self) -> str:
        if not self:
            return "no joint graph was looked for: `cache_dir` is not set, or no gradient flows"
        counts = Counter(event.outcome for event in self)
        total = ", ".join(f"{counts[name]} {name}" for name in ("hit", "miss", "bypass"))
        return "\n".join([*map(str, self), total])

    __repr__ = __str__
