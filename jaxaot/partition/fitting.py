"""What budgets mean while a program is made that is measured afterwards.

A budget for everything, `"fit:16GiB"`, is met by an estimate from shapes. Whoever compiles the program, such as
`ja.jit`, knows more. It traces a function within `fitting`, compiles the graph, and looks at what the compiler says. If
that is above the limit, it traces again and takes some bytes off.

A cut that saves much may take more memory than what JAX makes of the function: XLA computes again, inside of kernels,
what costs it nothing. Where that may be, the program is compiled both ways, and the smaller one is taken.

A cut that saves little may take more memory than one that saves more, because what is computed again takes memory too.
Where the estimate says so, the program of the looser cut is compiled as well. So a smaller budget takes no more.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import TypeVar

from jaxaot._util import format_bytes
from jaxaot.errors import BudgetError
from jaxaot.partition.budget import Fit, Share, parse_fit
from jaxaot.plan.saved import SavePlan

T = TypeVar("T")

N_TRIES = 4
"""How many programs are compiled to find one that fits into some memory; then comes the one that saves all."""

DOUBTFUL_SHARE = 1 / 3
"""A cut that saves more than this share of all may take more memory than what JAX makes of the function."""


class Cuts(enum.Enum):
    """How the functions in a program that have a budget are cut: as asked, looser, or not at all."""

    ASKED = enum.auto()
    LOOSER = enum.auto()
    PLAIN = enum.auto()


@dataclasses.dataclass
class Asked:
    """What the functions in a program ask of it.

    Attributes:
      limit: The memory that it has to fit into, in bytes; None if there is no limit.
      is_doubtful: Whether it may take more memory than if its functions were left to JAX.
      has_looser: Whether it may take more memory than if its functions saved more.
    """

    limit: int | None = None
    is_doubtful: bool = False
    has_looser: bool = False

    def __bool__(self) -> bool:
        return self.limit is not None or self.is_doubtful or self.has_looser


class Fitting(threading.local):
    """What is asked of the program that is being made.

    Attributes:
      is_on: Whether one is that will be measured.
      asked: What the functions in it ask.
      less: How many bytes are taken off of each.
      cuts: How functions are cut; what is left to JAX saves all.
      has_warned: Whether a warning said that a limit is met by an estimate.
    """

    def __init__(self) -> None:
        self.is_on, self.less, self.cuts = False, 0, Cuts.ASKED
        self.asked = Asked()
        self.has_warned = False


_now = Fitting()


@contextlib.contextmanager
def fitting(less: int = 0, cuts: Cuts = Cuts.ASKED) -> Iterator[Asked]:
    """Has what is traced in it be part of a program that will be measured; yields what functions ask of it.

    Args:
      less: How many bytes to take off of each limit.
      cuts: How functions that have a budget are cut.
    """
    before = _now.is_on, _now.asked, _now.less, _now.cuts
    asked = Asked()
    _now.is_on, _now.asked, _now.less, _now.cuts = True, asked, less, cuts
    try:
        yield asked
    finally:
        _now.is_on, _now.asked, _now.less, _now.cuts = before


def budget_now(budget: float | str | None) -> float | str | Fit | Share | None:
    """Returns a budget as it is now.

    Where nothing measures the program, one warning says that a limit is met by an estimate.
    """
    fit = parse_fit(budget)
    if fit is None:
        is_shared = _now.is_on and budget is not None
        return Share(budget, _now.cuts is Cuts.LOOSER) if is_shared else budget  # type: ignore[arg-type]
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
    return _now.cuts is Cuts.PLAIN and budget is not None


def note_cut(budget: float | str | Fit | Share | None, plan: SavePlan, has_looser: bool) -> None:
    """Notes that the program being made has a function in it that was cut at a budget.

    Args:
      budget: The budget.
      plan: What is saved.
      has_looser: Whether a cut that saves more may take less memory.
    """
    _now.asked.has_looser |= _now.is_on and has_looser
    saves_much = plan.extra_bytes > plan.save_all_bytes * DOUBTFUL_SHARE
    if _now.is_on and budget is not None and plan.repeats_work and saves_much:
        _now.asked.is_doubtful = True


Make = Callable[[int, Cuts], tuple[T, int | None]]


def find_program(asked: Asked, name: str, make: Make[T]) -> T:
    """Returns a program that fits into some memory, and takes no more than what JAX or a looser cut makes of it.

    Args:
      asked: What is asked of it.
      name: What the user calls the function.
      make: Takes how many bytes to take off of the limit, and how functions are cut. Returns a program and what it
        takes, in bytes; None if the compiler does not say, which counts as fitting.

    Raises:
      BudgetError: If none of those that were tried fits.
    """
    if asked.limit is None:
        found, taken, is_plain = *make(0, Cuts.ASKED), False
    else:
        found, taken, is_plain = _fitting(asked.limit, name, make)
    others = [Cuts.LOOSER] if asked.has_looser and asked.limit is None else []
    others += [Cuts.PLAIN] if asked.is_doubtful and not is_plain else []
    for cuts in others:
        if taken is None:
            break
        other, other_bytes = make(0, cuts)
        if other_bytes is not None and other_bytes <= taken:
            found, taken = other, other_bytes
    return found


def _fitting(limit: int, name: str, make: Make[T]) -> tuple[T, int | None, bool]:
    """Returns the first program that fits into some memory, what it takes, and whether it was left to JAX.

    Raises:
      BudgetError: If none of those that were tried fits.
    """
    tried: list[int] = []
    less, is_plain = 0, False
    while True:
        program, taken = make(less, Cuts.PLAIN if is_plain else Cuts.ASKED)
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
