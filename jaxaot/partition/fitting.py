"""What budgets mean while a program is made that is measured afterwards.

A budget for everything, `"fit:16GiB"`, is met by an estimate from shapes. Whoever compiles the program, such as
`ja.jit`, knows more. It traces a function within `fitting`, compiles the graph, and looks at what the compiler says. If
that is above the limit, it traces again and takes some bytes off.

A cut that saves much may take more memory than what JAX makes of the function: XLA computes again, inside of kernels,
what costs it nothing. Where that may be, the program is compiled both ways, and the smaller one is taken.

A cut that saves little may take more memory than one that saves more, because what is computed again takes memory too.
Where by the estimate that may be, other *rungs* are compiled as well: cuts that are the same for all budgets. So a
smaller budget takes no more. They are also the last that is tried before a limit is refused.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
import threading
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from jaxaot._immutable import immutable
from jaxaot._progress import working
from jaxaot._util import format_bytes
from jaxaot.errors import BudgetError
from jaxaot.partition.budget import Fit, Share, parse_fit
from jaxaot.plan.stages import Partition

S = TypeVar("S")
T = TypeVar("T")

N_TRIES = 4
"""How many programs are compiled to find one that fits into some memory; then comes the one that saves all."""

N_RUNGS = 6
"""How many of the cuts that are the same for all budgets are compiled before a limit is refused."""

DOUBTFUL_SHARE = 1 / 3
"""A cut that saves more than this share of all may take more memory than what JAX makes of the function."""


@immutable
class Trial:
    """How the functions in a program that have a budget are cut for one of the programs that are tried.

    Attributes:
      less: How many bytes are taken off of each limit.
      rung: Which of the cuts that are the same for all budgets is taken, the one of least memory by estimate first;
        None if functions are cut as asked.
      is_plain: Whether they are left to JAX.
    """

    less: int = 0
    rung: int | None = None
    is_plain: bool = False


AS_ASKED, PLAIN = Trial(), Trial(is_plain=True)


@dataclasses.dataclass
class Asked:
    """What the functions in a program ask of it.

    Attributes:
      limit: The memory that it has to fit into, in bytes; None if there is no limit.
      is_doubtful: Whether it may take more memory than if its functions were left to JAX.
      n_rungs: How many other cuts of its functions may take less memory.
      cuts: What is saved by each, and what it takes by estimate, in bytes: programs of equal cuts are the same.
      known: What was made of functions for one program and is the same for the others, until one is found.
    """

    limit: int | None = None
    is_doubtful: bool = False
    n_rungs: int = 0
    cuts: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    known: dict[Hashable, Any] = dataclasses.field(default_factory=dict, repr=False)

    def __bool__(self) -> bool:
        return self.limit is not None or self.is_doubtful or self.n_rungs > 0


class Fitting(threading.local):
    """What is asked of the program that is being made.

    Attributes:
      is_on: Whether one is that will be measured.
      asked: What the functions in it ask.
      trial: How they are cut; what is left to JAX saves all.
      has_warned: Whether a warning said that a limit is met by an estimate.
    """

    def __init__(self) -> None:
        self.is_on, self.trial = False, AS_ASKED
        self.asked = Asked()
        self.has_warned = False


_now = Fitting()


@contextlib.contextmanager
def fitting(trial: Trial = AS_ASKED, first: Asked | None = None) -> Iterator[Asked]:
    """Has what is traced in it be part of a program that will be measured; yields what functions ask of it.

    Args:
      trial: How functions that have a budget are cut.
      first: What was asked as the first program was made.
    """
    before = _now.is_on, _now.asked, _now.trial
    asked = Asked() if first is None else Asked(known=first.known)
    _now.is_on, _now.asked, _now.trial = True, asked, trial
    try:
        yield asked
    finally:
        _now.is_on, _now.asked, _now.trial = before


def is_measured() -> bool:
    """Returns whether a program is being made that will be measured."""
    return _now.is_on


def once_for_all(key: Hashable, make: Callable[[], T]) -> T:
    """Returns what is the same in all programs that are tried, made for the first of them.

    Args:
      key: What tells it from others.
      make: Makes it.
    """
    known = _now.asked.known
    try:
        is_known = key in known
    except TypeError:  # a policy has no hash
        return make()
    if not _now.is_on:
        return make()
    if not is_known:
        known[key] = make()
    return known[key]


def budget_now(budget: float | str | None) -> float | str | Fit | Share | None:
    """Returns a budget as it is now.

    Where nothing measures the program, one warning says that a limit is met by an estimate.
    """
    fit, trial = parse_fit(budget), _now.trial
    if fit is None:
        is_shared = _now.is_on and budget is not None
        return Share(budget, trial.rung) if is_shared else budget  # type: ignore[arg-type]
    if _now.is_on:
        limit = _now.asked.limit
        _now.asked.limit = fit.bytes if limit is None else min(limit, fit.bytes)
        return Fit(max(0, fit.bytes - trial.less), is_measured=True, rung=trial.rung)
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
    return _now.trial.is_plain and budget is not None


def note_cut(budget: float | str | Fit | Share | None, parts: Partition, n_rungs: int) -> None:
    """Notes that the program being made has a function in it that was cut at a budget.

    Args:
      budget: The budget.
      parts: The function, cut.
      n_rungs: How many other cuts may take less memory.
    """
    if not _now.is_on:
        return
    plan, asked = parts.plan, _now.asked
    asked.n_rungs = max(asked.n_rungs, n_rungs)
    asked.cuts.append((plan.extra_bytes, parts.timeline.peak_bytes))
    saves_much = plan.extra_bytes > plan.save_all_bytes * DOUBTFUL_SHARE
    if budget is not None and plan.repeats_work and saves_much:
        asked.is_doubtful = True


Found = tuple[T, int | None]
"""A program, and what it takes, in bytes; None if the compiler does not say, which counts as fitting."""

Make = Callable[[Trial], tuple[Hashable, int, Callable[[], Found[T]]]]
"""Takes how functions are cut, to what tells the program from others, the bytes that it is estimated to take, and what
compiles it."""

LEAST_DOUBT = 0.03
"""The part by which an estimate may be off even where others of the same program were seen to be true."""


def estimate_of(cuts: Iterable[tuple[int, int]]) -> int:
    """Returns what a program is estimated to take, whose functions save and take so many bytes, as in `Asked.cuts`.

    What functions save is there at once, what else they take is not.
    """
    cuts = list(cuts)
    return sum(saved for saved, _ in cuts) + max((peak - saved for saved, peak in cuts), default=0)


class _Programs(Generic[T]):
    """The programs that are tried.

    Attributes:
      known: What was compiled, by what tells programs apart.
    """

    def __init__(self, make: Make[T]):
        self._make = functools.cache(make)
        self._doubt = LEAST_DOUBT
        self.known: dict[Hashable, Found[T]] = {}

    def find(self, trial: Trial) -> Found[T]:
        """Returns a program and what it takes; nothing is compiled twice."""
        key, estimate, compiled = self._make(trial)
        if key not in self.known:
            with working(f"program {len(self.known) + 1} that may fit"):
                _, taken = self.known[key] = compiled()
            if taken is not None and estimate and not trial.is_plain:
                self._doubt = max(self._doubt, abs(taken / estimate - 1))
        return self.known[key]

    def tighter(self, less: int, more: int, limit: int) -> int:
        """Returns how many bytes are taken off a limit for another program than the one that was made before.

        Values are saved whole, so a few bytes less may change nothing.

        Args:
          less: How many were taken off for that one.
          more: How many more are to be taken off at least.
          limit: The most that are.
        """
        before, _, _ = self._make(Trial(less))
        while less < limit:
            less, more = min(less + more, limit), 2 * more
            if self._make(Trial(less))[0] != before:
                break
        return less

    def is_hopeful(self, trial: Trial) -> bool:
        """Returns whether a program may take less than those known, if its estimate is as far off as theirs."""
        key, estimate, _ = self._make(trial)
        least = min((taken for _, taken in self.known.values() if taken is not None), default=math.inf)
        return key in self.known or estimate * (1 - self._doubt) < least


def taken_bytes(memory: Any) -> int | None:
    """Returns what a program takes for inputs, outputs and temporaries; None if its compiler does not say.

    Args:
      memory: What `memory_analysis` of a `jax.stages.Compiled` returns.
    """
    if memory is None:
        return None
    total = memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes
    return total - memory.alias_size_in_bytes


def find_program(asked: Asked, name: str, make: Make[T]) -> T:
    """Returns a program that fits into some memory, and takes no more than what JAX or other rungs make of it.

    Args:
      asked: What is asked of it.
      name: What the user calls the function.
      make: Makes a program.

    Raises:
      BudgetError: If none of those that were tried fits.
    """
    try:
        with working(f"fitting `{name}`"):
            return _found(asked, name, _Programs(make))
    finally:
        asked.known.clear()


def find_traced(asked: Asked, name: str, first: S, trace: Callable[[], S], compiled: Callable[[S], Found[T]]) -> T:
    """Returns a program as `find_program` does, of a function that is traced again for each that is tried.

    Args:
      asked: What the functions in it asked as it was traced.
      name: What the user calls the function.
      first: The function, traced with those in it cut as asked.
      trace: Traces it.
      compiled: Takes a traced function to its program and the bytes that this takes.

    Raises:
      BudgetError: If none of those that were tried fits.
    """

    def made(trial: Trial) -> tuple[Hashable, int, Callable[[], Found[T]]]:
        tried, now = first, asked
        if trial != AS_ASKED:
            with fitting(trial, asked) as now:
                tried = trace()
        return (trial.is_plain, *now.cuts), estimate_of(now.cuts), lambda: compiled(tried)

    return find_program(asked, name, made)


def _found(asked: Asked, name: str, programs: _Programs[T]) -> T:
    if asked.limit is None:
        found, taken = programs.find(AS_ASKED)
        others = filter(programs.is_hopeful, [Trial(rung=k) for k in range(asked.n_rungs)])
    else:
        found, taken = _fitting(asked.limit, name, programs)
        others = iter(())
    for trial in itertools.chain(others, [PLAIN] if asked.is_doubtful else []):
        if taken is None:
            break
        other, other_bytes = programs.find(trial)
        if other_bytes is not None and other_bytes <= taken:
            found, taken = other, other_bytes
    return found


def _fitting(limit: int, name: str, programs: _Programs[T]) -> Found[T]:
    """Returns the first program that fits into some memory, and what it takes.

    Raises:
      BudgetError: If none of those that were tried fits.
    """
    for trial in _trials(limit, programs):
        found, taken = programs.find(trial)
        if taken is None or taken <= limit:
            return found, taken
    sizes = [taken for _, taken in programs.known.values() if taken is not None]
    least = min(sizes)
    raise BudgetError(
        f"`{name}` does not fit in {format_bytes(limit)}: of {len(sizes)} programs that were compiled for it, the "
        f"smallest takes {format_bytes(least)} for inputs, outputs, what is saved and temporaries, as the compiler "
        f"measures it. Write `memory_budget='fit:{least}B'` or more, or make the batch smaller."
    )


def _trials(limit: int, programs: _Programs[T]) -> Iterator[Trial]:
    """Yields what is tried to meet a limit: tighter cuts by what is measured, then no cut, then each rung."""
    less, before = 0, None
    for _ in range(N_TRIES):
        yield Trial(less)
        taken = programs.find(Trial(less))[1] or 0
        if less >= limit:
            break
        rises = before is not None and taken >= before
        less, before = limit if rises else programs.tighter(less, taken - limit + limit // 100, limit), taken
    yield PLAIN
    yield from filter(programs.is_hopeful, [Trial(rung=k) for k in range(N_RUNGS)])  # the last of few is tried again
