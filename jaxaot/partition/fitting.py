"""What budgets mean while a program is made that is measured afterwards.

A budget for everything, `"fit:16GiB"`, is met by an estimate from shapes. Whoever compiles the program, such as
`ja.jit`, knows more. It traces a function within `fitting`, compiles the graph, and looks at what the compiler says. If
that is above the limit, it traces again and takes some bytes off.

A cut that saves much may take more memory than what JAX makes of the function: XLA computes again, inside of kernels,
what costs it nothing. Where that may be, the program is compiled both ways, and the smaller one is taken.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import TypeVar

from jaxaot._util import format_bytes
from jaxaot.errors import BudgetError
from jaxaot.partition.budget import Fit, parse_fit
from jaxaot.plan.saved import SavePlan

T = TypeVar("T")

N_TRIES = 4
"""How many programs are compiled to find one that fits into some memory; then comes the one that saves all."""

DOUBTFUL_SHARE = 1 / 3
"""A cut that saves more than this share of all may take more memory than what JAX makes of the function."""


@dataclasses.dataclass
class Asked:
    """What the functions in a program ask of it.

    Attributes:
      limit: The memory that it has to fit into, in bytes; None if there is no limit.
      is_doubtful: Whether it may take more memory than if its functions were left to JAX.
    """

    limit: int | None = None
    is_doubtful: bool = False

    def __bool__(self) -> bool:
        return self.limit is not None or self.is_doubtful


class Fitting(threading.local):
    """What is asked of the program that is being made.

    Attributes:
      is_on: Whether one is that will be measured.
      asked: What the functions in it ask.
      less: How many bytes are taken off of each.
      is_plain: Whether functions are left to JAX, which saves all.
      has_warned: Whether a warning said that a limit is met by an estimate.
    """

    def __init__(self) -> None:
        self.is_on, self.less, self.is_plain = False, 0, False
        self.asked = Asked()
        self.has_warned = False


_now = Fitting()


@contextlib.contextmanager
def fitting(less: int = 0, is_plain: bool = False) -> Iterator[Asked]:
    """Has what is traced in it be part of a program that will be measured; yields what functions ask of it.

    Args:
      less: How many bytes to take off of each limit.
      is_plain: Whether functions that have a budget are left to JAX.
    """
    before = _now.is_on, _now.asked, _now.less, _now.is_plain
    asked = Asked()
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
        limit = _now.asked.limit
        _now.asked.limit = fit.bytes if limit is None else min(limit, fit.bytes)
        return Fit(max(0, fit.bytes - _now.less), is_measured=True)
    if not _now.has_warned:
        _now.has_warned = True
        warnings.warn(
            f"The memory budget {budget!r} is met by an estimate from shapes, of this function alone: only "
            "`ja.jit` and `ja.compile` measure what they compile.",
            stacklevel=4,
        )
    return budget


def is_left_to_jax(budget: float | str | None) -> bool:
    """Returns whether a function with such a budget is left to JAX now."""
    return _now.is_plain and budget is not None


def note_cut(budget: float | str | Fit | None, plan: SavePlan) -> None:
    """Notes that the program being made has a function in it that was cut at a budget."""
    saves_much = plan.extra_bytes > plan.save_all_bytes * DOUBTFUL_SHARE
    if _now.is_on and budget is not None and plan.repeats_work and saves_much:
        _now.asked.is_doubtful = True


def find_program(asked: Asked, name: str, make: Callable[[int, bool], tuple[T, int | None]]) -> T:
    """Returns a program that fits into some memory, and takes no more than what JAX makes of it.

    Args:
      asked: What is asked of it.
      name: What the user calls the function.
      make: Takes how many bytes to take off of the limit, and whether functions are left to JAX. Returns a program and
        what it takes, in bytes; None if the compiler does not say, which counts as fitting.

    Raises:
      BudgetError: If none of those that were tried fits.
    """
    found, taken, is_plain = (*make(0, False), False) if asked.limit is None else _fitting(asked.limit, name, make)
    if not asked.is_doubtful or is_plain or taken is None:
        return found
    plain, plain_bytes = make(0, True)
    return plain if plain_bytes is not None and plain_bytes <= taken else found


def _fitting(limit: int, name: str, make: Callable[[int, bool], tuple[T, int | None]]) -> tuple[T, int | None, bool]:
    """Returns the first program that fits into some memory, what it takes, and whether it was left to JAX.

    Raises:
      BudgetError: If none of those that were tried fits.
    """
    tried: list[int] = []
    less, is_plain = 0, False
    while True:
        program, taken = make(less, is_plain)
        if taken is None or taken <= limit:
            return program, taken, is_plain
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
