"""What budgets mean while a program is made that is measured afterwards.

A budget for everything, `"fit:16GiB"`, is met by an estimate from shapes. Whoever compiles the program, such as
`ja.jit`, knows more. It traces a function within `fitting`, compiles the graph, and looks at what the compiler says. If
that is above the limit, it traces again and takes some bytes off. If it is far below, it adds some: a program that uses
the limit computes less again. Four programs are compiled at most.

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
"""How many programs are compiled at most for a limit."""

USED = 0.9
"""A program that fits is taken if it uses this part of a limit; else one that computes less again is looked for."""

LEAST_USED = 0.85
"""If a program uses less than this part of a limit, and others are above it, the report says so."""

_AIMS = 0.97, 0.995
"""The parts of a limit that are aimed at by one program that is known, and by several: no estimate is exact."""

DOUBTFUL_SHARE = 1 / 3
"""A cut that saves more than this share of all may take more memory than what JAX makes of the function."""


@immutable
class Trial:
    """How the functions in a program that have a budget are cut for one of the programs that are tried.

    Attributes:
      less: How many bytes are taken off of each limit; below zero if some are added.
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
      notes: What a report says of the program that was found.
    """

    limit: int | None = None
    is_doubtful: bool = False
    n_rungs: int = 0
    cuts: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    known: dict[Hashable, Any] = dataclasses.field(default_factory=dict, repr=False)
    notes: list[str] = dataclasses.field(default_factory=list)

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

    def estimate(self, trial: Trial) -> int:
        """Returns what a program is estimated to take."""
        return self._make(trial)[1]

    def is_known(self, trial: Trial) -> bool:
        """Returns whether a program was compiled."""
        return self._make(trial)[0] in self.known

    @property
    def may_be_more(self) -> bool:
        """Whether fewer were compiled than may be for a limit."""
        return len(self.known) < N_TRIES

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
            programs = _Programs(make)
            found = _found(asked, name, programs)
            asked.notes += _gap(asked.limit, name, programs)
            return found
    finally:
        asked.known.clear()


def _gap(limit: int | None, name: str, programs: _Programs[Any]) -> list[str]:
    """Returns a line if programs on both sides of a limit are known, and none that uses it."""
    sizes = sorted(taken for _, taken in programs.known.values() if taken is not None)
    below, above = ([n for n in sizes if (n <= (limit or 0)) is fits] for fits in (True, False))
    if limit is None or not below or not above or below[-1] >= LEAST_USED * limit:
        return []
    return [
        f"`{name}` takes {format_bytes(below[-1])} of its limit of {format_bytes(limit)}: of {len(sizes)} programs "
        f"that were compiled none takes between {LEAST_USED:.0%} of the limit and all of it. The next one takes "
        f"{format_bytes(above[0])}."
    ]


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
    if asked.limit is not None:
        return _fitting(asked.limit, asked.is_doubtful, name, programs)
    found, taken = programs.find(AS_ASKED)
    others = filter(programs.is_hopeful, [Trial(rung=k) for k in range(asked.n_rungs)])
    for trial in itertools.chain(others, [PLAIN] if asked.is_doubtful else []):
        if taken is None:
            break
        other, other_bytes = programs.find(trial)
        if other_bytes is not None and other_bytes <= taken:
            found, taken = other, other_bytes
    return found


def _fitting(limit: int, is_doubtful: bool, name: str, programs: _Programs[T]) -> T:
    """Returns the program of least recomputation that was found to fit into some memory.

    Raises:
      BudgetError: If none of those that were tried fits.
    """
    best = _searched(limit, programs)
    if best is None or (is_doubtful and programs.may_be_more):  # what saves all may take no more than XLA makes of it
        trials = [PLAIN] if best is not None else [Trial(rung=0), PLAIN, *(Trial(rung=k) for k in range(1, N_TRIES))]
        for trial in trials:
            if programs.is_known(trial) or (programs.may_be_more and programs.is_hopeful(trial)):
                found, taken = programs.find(trial)
                if taken is None or taken <= limit:
                    return found
    if best is not None:
        return best
    sizes = [taken for _, taken in programs.known.values() if taken is not None]
    least = min(sizes)
    raise BudgetError(
        f"`{name}` does not fit in {format_bytes(limit)}: of {len(sizes)} programs that were compiled for it, the "
        f"smallest takes {format_bytes(least)} for inputs, outputs, what is saved and temporaries, as the compiler "
        f"measures it. Write `memory_budget='fit:{least}B'` or more, or make the batch smaller."
    )


def _searched(limit: int, programs: _Programs[T]) -> T | None:
    """Returns the program that uses most of a limit among those that are tried; None if none fits.

    What a program takes rises with what it is estimated to take. So between one that fits and one that does not, others
    are tried where a line through what is known meets the limit.
    """
    best: T | None = None
    points: list[tuple[int, int]] = []  # of each program the estimate, and what was measured
    allowed: int | None = limit
    while allowed is not None and programs.may_be_more:
        trial = Trial(limit - allowed)
        found, taken = programs.find(trial)
        if taken is None:
            return found
        points.append((programs.estimate(trial), taken))
        if taken <= limit and taken == max(size for _, size in points if size <= limit):
            best = found
            if taken >= USED * limit:
                return best
        allowed = next(_others(limit, sorted(points), programs), None)
    return best


def _others(limit: int, points: list[tuple[int, int]], programs: _Programs[Any]) -> Iterator[int]:
    """Yields what functions may be allowed to take by estimate in the next program that is tried, the best guess first.

    Args:
      limit: What it may take.
      points: What programs are estimated to take, and take, the smallest first.
      programs: Those that are known.
    """
    below = [point for point in points if point[1] <= limit]
    above = [point for point in points if point[1] > limit]
    low, high = below[-1][0] if below else -1, above[0][0] if above else math.inf
    (estimate, taken), (other, at_other) = (*below[-1:], *above[:1], *below[-2:-1], *above[1:2], (0, 0))[:2]
    if (taken - at_other) * (estimate - other) <= 0:
        other, at_other = 0, 0
    aim_at = limit * _AIMS[len(points) > 1]
    if len(points) == 1 and taken > limit:  # what is missing may lie outside of what is estimated
        aims = [estimate - k * (taken - aim_at) for k in (1, 2, 4)]
    else:
        aims = [estimate + (aim_at - taken) * (estimate - other) / ((taken - at_other) or 1)]
    if below and above:
        step = (high - low) / 10
        aims = [min(high - step, max(low + step, aims[0])), low + 5 * step, high - step, low + step]
    elif below:
        aims += [1.2 * estimate, 2 * estimate, 8 * estimate]
    else:
        aims.append(0)
    for aim in aims:
        allowed = max(0, int(aim))
        if not programs.is_known(Trial(limit - allowed)) and low < programs.estimate(Trial(limit - allowed)) < high:
            yield allowed
