"""Keeping what the forward saves below a limit, at the least time for what is computed again.

A *budget* bounds the bytes that are saved beyond primals and outputs. It is a fraction of what `save_all` would save, a
number of bytes with its unit, or the memory that the whole has to fit in.

The best solutions for all budgets lie above a convex *hull*, whose corners are the cuts of least `cost + price * bytes`
over all prices. Small problems are solved exactly as integer programs. For others the two corners on either side of the
budget are found; where they differ, the difference falls apart into components, such as the layers of a model, that may
be switched one by one. As many as fit are switched, and the last one is solved exactly with the bytes that are left.
The hull bounds what any solution could reach, so that the gap to the best is known. More bytes never cost more time:
which corner, how many components and the exact rest all follow from the budget monotonically.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

from jaxaot._immutable import immutable
from jaxaot._util import format_bytes
from jaxaot.errors import BudgetError
from jaxaot.ir.roofline import Target
from jaxaot.partition.ilp import Part, least_cost
from jaxaot.partition.network import Network
from jaxaot.partition.problem import FORBIDDEN, Problem, Solution
from jaxaot.partition.solve import NoCut
from jaxaot.settings import check_values_of

_UNITS = {"b": 1, "": 1}
_UNITS |= {f"{prefix}b": 1000 ** (power + 1) for power, prefix in enumerate("kmgtpe")}
_UNITS |= {f"{prefix}ib": 1024 ** (power + 1) for power, prefix in enumerate("kmgtpe")}
_NUMBER = re.compile(r"\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*([a-z]*|%)\s*\Z", re.IGNORECASE)
_FIT = re.compile(r"\s*fit\s*:(.*)\Z", re.IGNORECASE)
MAX_EXACT = 400
"""The most values for which the whole problem is solved as an integer program."""
_MAX_OPEN = 400
"""The most values and steps of a component for which that component is."""
_MAX_CUTS = 60
_CORNER_DEPTH = 12


class Priced(Protocol):
    """Anything that weighs bytes and costs time."""

    @property
    def weight(self) -> int:
        """Its bytes."""
        ...

    @property
    def cost(self) -> int:
        """Its time, in picoseconds."""
        ...


C = TypeVar("C", bound=Priced)


@immutable
class Fit:
    """A budget for the memory of everything: inputs, outputs, what is saved, and temporaries.

    Attributes:
      bytes: The most that may be in use at any time.
      is_measured: Whether the program is measured once it is compiled: if nothing is estimated to fit, what needs least
        is tried then.
      rung: Which cut is taken of those that are the same for all budgets, see `Cutter.rungs`; None for one that fits.
    """

    bytes: int
    is_measured: bool = False
    rung: int | None = None


@immutable
class Share:
    """A budget of what is saved, in a program that is compiled as a whole and measured.

    Attributes:
      budget: The budget.
      rung: Which cut of those that may take less memory is taken instead, see `Cutter.rungs`; None for the one asked.
    """

    budget: float | str
    rung: int | None = None


def parse_budget(budget: float | str | None, save_all_bytes: int, n_devices: int = 1) -> int:
    """Returns a budget of what is saved, in bytes of all devices together.

    Args:
      budget: A fraction of `save_all_bytes` between 0 and 1, or a text such as `"512MiB"`, `"1.5 GB"` or `"40%"`.
      save_all_bytes: What saving everything would weigh.
      n_devices: Over how many devices values are spread, each of which may hold as many bytes as the budget says.

    Raises:
      BudgetError: If it is none of these.
    """
    if isinstance(budget, str):
        match = _NUMBER.match(budget)
        if match is not None:
            number, unit = float(match.group(1)), match.group(2).lower()
            if unit == "%" and number <= 100:
                return math.floor(number / 100 * save_all_bytes)
            if unit in _UNITS and math.isfinite(number):
                return math.floor(number * _UNITS[unit]) * n_devices
    elif isinstance(budget, int | float) and not isinstance(budget, bool):
        if 0 <= budget <= 1:
            return math.floor(budget * save_all_bytes)
        if budget > 1 and math.isfinite(budget):
            raise BudgetError(
                f"The memory budget {budget!r} is a fraction above 1, which limits nothing. Write bytes as text, such "
                f"as `memory_budget='{format_bytes(budget)}'`, or a fraction of what `save_all` saves, such as 0.5."
            )
    raise BudgetError(
        f"The memory budget {budget!r} cannot be read. Write a fraction of what `save_all` saves, between 0 and 1, "
        "such as `memory_budget=0.5`, bytes as text, such as `memory_budget='512MiB'`, or the memory that everything "
        "has to fit in, such as `memory_budget='fit:16GiB'`."
    )


def is_fraction(budget: float | str | None) -> bool:
    """Returns whether a budget is a part of what `save_all` saves, such as 0.3 or `"30%"`."""
    return budget is not None and (not isinstance(budget, str) or budget.rstrip().endswith("%"))


def parse_fit(budget: float | str | Fit | None) -> Fit | None:
    """Returns a budget for the memory of everything, such as `"fit:16GiB"`; None if it is of another kind.

    Raises:
      BudgetError: If it cannot be read.
    """
    if isinstance(budget, Fit):
        return budget
    return _parse_fit(budget) if isinstance(budget, str) else None


@functools.lru_cache(maxsize=256)
def _parse_fit(budget: str) -> Fit | None:
    """Returns a budget for the memory of everything from its text, which each call of a function may ask for."""
    match = _FIT.match(budget)
    if match is None:
        return None
    size = _NUMBER.match(match.group(1))
    if size is None or size.group(2).lower() not in _UNITS:
        raise BudgetError(
            f"The memory budget {budget!r} cannot be read. Write the memory that everything has to fit in, such as "
            "`memory_budget='fit:16GiB'`."
        )
    return Fit(math.floor(float(size.group(1)) * _UNITS[size.group(2).lower()]))


def parse_size(size: int | str | Target) -> int:
    """Returns a size of memory in bytes.

    Args:
      size: Bytes, a text such as `"16GiB"`, or a device, whose memory it is.

    Raises:
      BudgetError: If it is none of these.
    """
    if isinstance(size, Target) and size.memory is not None:
        return size.memory
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    match = _NUMBER.match(size) if isinstance(size, str) else None
    if match is None or match.group(2).lower() not in _UNITS:
        raise BudgetError(
            f"The size of memory {getattr(size, 'name', size)!r} cannot be read. Write bytes as an int, or a text such "
            "as '16GiB' or '80GB', or a target that says how much memory it has."
        )
    return math.floor(float(match.group(1)) * _UNITS[match.group(2).lower()])


def check_budget(budget: float | str | None) -> None:
    """Raises unless a budget can be read.

    Raises:
      BudgetError: If it cannot.
    """
    if budget is not None and parse_fit(budget) is None:
        parse_budget(budget, 0)


check_values_of("memory_budget", check_budget)


@immutable
class Answer:
    """A solution within a budget, and what is known of the best.

    Attributes:
      solution: The solution.
      least_cost: No solution within the budget costs less, in picoseconds.
    """

    solution: Solution
    least_cost: int

    @property
    def gap(self) -> float:
        """By how much the solution may cost more than the best, as a share of its own cost."""
        return (self.solution.cost - self.least_cost) / self.solution.cost if self.solution.cost else 0.0


class Budgets:
    """The best solutions of a problem, for any budget."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.network = Network(problem)
        self._found: list[Solution] = []
        self._best: list[tuple[int, Answer]] = []  # by the budget: those that are known to be the best there

    @functools.cached_property
    def leanest(self) -> Solution:
        """The solution of fewest bytes."""
        if not self.problem.offload_costs:
            return self.network.least_bytes()
        # a byte worth more than all the time there is
        total = sum(c for c in (*self.problem.costs, *self.problem.offload_costs) if c > 0)
        return self.network.at_price(float(total + 1))[0]

    @functools.cached_property
    def fastest(self) -> Solution:
        """The solution of fewest bytes among those that cost least time."""
        try:
            return self.network.least_bytes(only_free=True)
        except NoCut:  # something costly may only be repeated
            weight = sum(w for w in self.problem.weights if w > 0)
            return self.network.at_price(1e-9 * sum(c for c in self.problem.costs if c > 0) / max(1, weight))[0]

    def within(self, limit: int) -> Answer:
        """Returns a solution that saves at most `limit` bytes.

        Raises:
          BudgetError: If there is none.
        """
        # enough for all: no need to look at the hull
        if self.fastest.weight <= limit:
            return Answer(self.fastest, self.fastest.cost)
        if self.leanest.weight > limit:
            least = self.leanest.weight
            raise BudgetError(
                f"The memory budget of {format_bytes(limit)} cannot be met: at least {format_bytes(least)} must "
                f"be saved, because it cannot be recomputed. Write `memory_budget='{least}B'` or more."
            )
        known = self._known(limit)
        if known is not None:
            return known
        below, above, bound = self._corners(limit)
        # a corner is the best at its own bytes, though the bound is rounded down
        solution = below if below.cost <= bound or below.weight == limit else None
        if solution is None and len(self.problem.weights) <= MAX_EXACT:
            solution = least_cost(self.problem, limit)
        if solution is not None:
            self._found.append(solution)
            self._best.append((limit, Answer(solution, solution.cost)))
            return self._best[-1][1]
        self._found.append(self._between(below, above, limit))
        # a solution found for another budget may be better here: so more bytes never cost more time
        best = min((s for s in (self.leanest, *self._found) if s.weight <= limit), key=lambda s: (s.cost, s.weight))
        return Answer(best, min(bound, best.cost))

    def _known(self, limit: int) -> Answer | None:
        """Returns what is the best at a larger budget too, if that is known and fits."""
        fits = (answer for most, answer in self._best if answer.solution.weight <= limit <= most)
        return next(fits, None)

    def _corners(self, limit: int) -> tuple[Solution, Solution, int]:
        """Returns the corners of the hull around a budget, and what any solution within the budget costs at least."""
        bound = 0

        def at_price(price: float) -> Solution:
            nonlocal bound
            corner, least = self.network.at_price(price)
            # weak duality: at any price the relaxed problem costs no more than the real one
            bound = max(bound, math.floor(least - price * limit))
            return corner

        around = corners_around(self.leanest, self.fastest, at_price, lambda corner: corner.weight <= limit)
        return *around, bound

    def corners(self) -> list[Solution]:
        """Returns the corners of the hull, from the leanest to the fastest."""
        return search_corners(self.leanest, self.fastest, self.at_price)

    def at_price(self, price: float) -> Solution:
        """Returns the solution of least `cost + price * bytes`.

        Args:
          price: Picoseconds for each byte; 0 for the fewest bytes at no cost, infinity for the fewest bytes at all.

        Raises:
          NoCut: If something needed may neither be saved nor computed again.
        """
        if price == 0:
            return self.fastest
        return self.leanest if math.isinf(price) else self.network.at_price(price)[0]

    def _between(self, below: Solution, above: Solution, limit: int) -> Solution:
        """Returns the solution `below` with the components switched to `above` that fit, and part of the next one."""
        best = below
        for values, steps in components(self.problem, below, above):
            switched = _switch(self.problem, best, above, values)
            if (switched.weight <= best.weight and switched.cost <= best.cost) or switched.weight <= limit:
                best = switched
            else:
                if len(values) + len(steps) <= _MAX_OPEN:
                    part = least_cost(self.problem, limit, Part(values, steps, best))
                    if part is not None and part.cost < best.cost:
                        best = part
                break
        return best


def corners_around(
    leanest: C, fastest: C, at_price: Callable[[float], C], is_within: Callable[[C], bool]
) -> tuple[C, C]:
    """Returns the two corners of a hull that a budget lies between.

    Args:
      leanest: The corner of fewest bytes.
      fastest: The corner of least time.
      at_price: Takes the price of a byte to the corner there.
      is_within: Returns whether a corner is within the budget.
    """
    below, above = leanest, fastest
    for _ in range(_MAX_CUTS):
        if above.weight <= below.weight:
            break
        price = (below.cost - above.cost) / (above.weight - below.weight)
        corner = at_price(price)
        line = below.cost + price * below.weight
        if corner.cost + price * corner.weight >= line * (1 - 1e-9):
            break
        if is_within(corner):
            below = corner
        else:
            above = corner
    return below, above


def search_corners(leanest: C, fastest: C, at_price: Callable[[float], C]) -> list[C]:
    """Returns the corners of a hull, from the leanest to the fastest.

    Args:
      leanest: The corner of fewest bytes.
      fastest: The corner of least time.
      at_price: Takes the price of a byte to the corner there.
    """
    found = [leanest]

    def search(below: C, above: C, depth: int) -> None:
        if above.weight > below.weight and depth:
            price = (below.cost - above.cost) / (above.weight - below.weight)
            corner = at_price(price)
            line = below.cost + price * below.weight
            # prices are rounded, so the search may come back to an end that it knows
            is_new = below.weight < corner.weight < above.weight
            if is_new and corner.cost + price * corner.weight < line * (1 - 1e-9):
                search(below, corner, depth - 1)
                search(corner, above, depth - 1)
                return
        if above.weight > found[-1].weight:
            found.append(above)

    search(leanest, fastest, _CORNER_DEPTH)
    return found


def _switch(problem: Problem, solution: Solution, other: Solution, values: set[int]) -> Solution:
    return problem.complete(
        (solution.saved - values) | (other.saved & values), (solution.offloaded - values) | (other.offloaded & values)
    )


def components(problem: Problem, one: Solution, other: Solution) -> Iterator[tuple[set[int], set[int]]]:
    """Yields the values and steps on which two solutions differ, in groups that do not depend on one another.

    They come in the order in which they are computed. Whatever some of the groups are switched to, what is needed stays
    available: a step that is repeated, its operands and their steps are in one group if they differ at all.
    """
    different = {("value", v) for v in (one.saved ^ other.saved) | (one.offloaded ^ other.offloaded)}
    different |= {("step", s) for s in one.repeated ^ other.repeated}
    leader = {item: item for item in different}

    def find(item: Any) -> Any:
        while leader[item] != item:
            leader[item] = leader[leader[item]]
            item = leader[item]
        return item

    def join(items: list[Any]) -> None:
        present = [find(item) for item in items if item in different]
        for item in present[1:]:
            leader[find(item)] = find(present[0])

    for step, operands in enumerate(problem.operands):
        if problem.costs[step] == FORBIDDEN:
            continue
        for operand in operands:
            join([("step", step), ("value", operand), ("step", problem.producer[operand])])
    for value in problem.needed:
        join([("value", value), ("step", problem.producer[value])])
    groups: dict[Any, tuple[set[int], set[int]]] = {}
    for item in sorted(different, key=lambda item: problem.producer[item[1]] if item[0] == "value" else item[1]):
        values, steps = groups.setdefault(find(item), (set(), set()))
        (values if item[0] == "value" else steps).add(item[1])
    yield from groups.values()
