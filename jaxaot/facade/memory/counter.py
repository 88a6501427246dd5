"""Write counters: the versions of tensors.

A counter belongs to a tensor together with its views and with what `detach()` made of it; it is made when a second of
them, or a first write, comes. `.data` and the tensors that `set_` leads to the same storage have counters of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from jaxaot.tape.modes import state


class WriteCounter:
    """How often the tensors that share it were written.

    Attributes:
      n: Number of writes, PyTorch's `_version`.
    """

    __slots__ = ("n",)

    def __init__(self, n: int = 0):
        self.n = n


class Counted(Protocol):
    """What has a counter: a tensor.

    Attributes:
      _counter: Its counter; None if there is none yet.
    """

    _counter: WriteCounter | None


def counter_of(tensor: Counted) -> WriteCounter:
    """Returns the counter of a tensor, made if there is none yet."""
    counter = tensor._counter
    if counter is None:
        counter = tensor._counter = WriteCounter()
    return counter


def writes_of(tensor: Counted) -> int:
    """Returns how often a tensor was written, whoever asks."""
    return 0 if tensor._counter is None else tensor._counter.n


def count_write(tensor: Counted) -> None:
    """Counts a write to a tensor."""
    counter = tensor._counter
    if counter is None:
        counter = tensor._counter = WriteCounter()
    if state.trace is not None:
        state.trace.note(tensor)
        state.trace.counters.setdefault(id(counter), (counter, counter.n))
    counter.n += 1


def increment_version(tensor: Counted | Iterable[Counted]) -> None:
    """Counts a write to one or several tensors, as one that jaxaot did not see."""
    tensors: Any = [tensor] if hasattr(tensor, "_counter") else tensor
    for one in tensors:
        count_write(one)
