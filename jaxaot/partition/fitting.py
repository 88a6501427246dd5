"""What budgets for everything, `"fit:16GiB"`, mean while a program is made that is measured afterwards.

A budget for everything is met by an estimate from shapes. Whoever compiles the program, such as `ja.jit`, knows more.
It traces a function within `fitting`, compiles the graph, and looks at what the compiler says. If that is above the
limit, it traces again and takes some bytes off.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import TypeVar

from jaxaot._util import format_bytes
from jaxaot.errors import BudgetError
from jaxaot.partition.budget import Fit, parse_fit

T = TypeVar("T")

N_TRIES = 4
"""How many programs are compiled to find one that fits into some memory; then comes the one that saves all."""


class Fitting(threading.local):
    """What is asked of the program that is being made.

    Attributes:
      is_on: Whether one is that will be measured.
      asked: The limits that functions in it have, in bytes.
      less: How many bytes are taken off of each.
      is_plain: Whether functions are left to JAX, which saves all.
      has_warned: Whether a warning said that a limit is met by an estimate.
    """

    def __init__(self) -> None:
        self.is_on, self.less, self.is_plain = False, 0, False
        self.asked: list[int] = []
        self.has_warned = False


_now = Fitting()


@contextlib.contextmanager
def fitting(less: int = 0, is_plain: bool = False) -> Iterator[list[int]]:
    """Has what is traced in it be part of a program that will be measured; yields the limits that were asked for.

    Args:
      less: How many bytes to take off of each limit.
      is_plain: Whether functions that have a limit are left to JAX.
    """
    before = _now.is_on, _now.asked, _now.less, _now.is_plain
    asked: list[int] = []
    _now.is_on, _now.asked, _now.less, _now.is_plain = True, asked, less, is_plain
    try:
        yield asked
    finally:
        _now.is_on, _now.asked, _now.less, _now.is_plain = before


def budget_now(budget: float | str | None) -> float | str | Fit | None:
    """Returns a budget as it is now.

    Where nothing measures the program, one warning says that a limit is met by an estimate.
    """
    fit = parse_fit(budget)
    if fit is None:
        return budget
    if _now.is_on:
        _now.asked.append(fit.bytes)
        return Fit(max(0, fit.bytes - _now.less), is_measured=True)
    if not _now.has_warned:
        _now.has_warned = True
        warnings.warn(
            f"The memory budget {budget!r} is met by an estimate from shapes, of this function alone: only `ja.jit`, "
            "on CPU, and `ja.compile` measure what they compile.",
            stacklevel=4,
        )
    return budget


def is_left_to_jax(budget: float | str | None) -> bool:
    """Returns whether a function with such a budget is left to JAX now, which saves all."""
    return _now.is_plain and parse_fit(budget) is not None


def find_fitting(limit: int, name: str, make: Callable[[int, bool], tuple[T, int | None]]) -> T:
    """Returns the first program that fits into some memory, as the compiler measures it.

    Args:
      limit: The memory, in bytes.
      name: What the user calls the function.
      make: Takes how many bytes to take off of the limit, and whether all is to be saved. Returns a program and what it
        takes, in bytes; None if the compiler does not say, which counts as fitting.

    Raises:
      BudgetError: If none of those that were tried does.
    """
    tried: list[int] = []
    less, is_plain = 0, False
    while True:
        program, taken = make(less, is_plain)
        if taken is None or taken <= limit:
            return program
        tried.append(taken)
        if is_plain:
            break
        is_plain = len(tried) == N_TRIES or less >= limit
        if is_plain:
            less = 0
        elif len(tried) > 1 and tried[-1] >= tried[-2]:
            less = limit  # the least that can be
        else:
            less += taken - limit + limit // 100
    least = min(tried)
    raise BudgetError(
        f"`{name}` does not fit in {format_bytes(limit)}: of {len(tried)} programs that were compiled for it, the "
        f"smallest takes {format_bytes(least)} for inputs, outputs, what is saved and temporaries, as the compiler "
        f"measures it. Write `memory_budget='fit:{least}B'` or more, or make the batch smaller."
    )
