"""The best solutions for all budgets where bodies can be cut in several ways.

A *variant* is a joint graph with its bodies cut at one price of a byte, see `bodies.cut_bodies`, and the problem of
what to save around them. At any price, the best of all is the variant of that price with its own solution of least
`cost + price * bytes`. These are the corners of a hull, as for a graph without bodies; a budget between two corners is
met by the better of both variants, or by the leaner one if its bodies may use up what is left of the budget.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from functools import cached_property

from jaxaot._immutable import immutable
from jaxaot.errors import BudgetError
from jaxaot.partition.bodies import CutBodies
from jaxaot.partition.budget import Budgets, corners_around, search_corners
from jaxaot.partition.classify import Classified
from jaxaot.partition.formulate import Choices, Formulation
from jaxaot.partition.problem import Solution


@immutable(eq=False)
class Variant:
    """A joint graph with its bodies cut, and the problem of what to save.

    Attributes:
      bodies: What was cut in bodies.
      graph: The joint graph around them, classified.
      choices: What the policy says.
      formulation: The problem.
      inner_cost: How long bodies take for what they compute again, in picoseconds.
    """

    bodies: CutBodies
    graph: Classified
    choices: Choices
    formulation: Formulation
    inner_cost: int = 0

    @cached_property
    def budgets(self) -> Budgets:
        """The best solutions for all budgets."""
        return Budgets(self.formulation.problem)


@immutable(eq=False)
class Found:
    """A variant and a solution of it: a corner, or what meets a budget.

    Attributes:
      variant: The variant.
      solution: What is saved around the bodies.
      price: Of a corner, the price at which both are best.
      least_cost: No solution within the budget costs less, in picoseconds; None if that is not known.
    """

    variant: Variant
    solution: Solution
    price: float = 0.0
    least_cost: int | None = None

    @property
    def weight(self) -> int:
        """The bytes of all that is saved."""
        return self.solution.weight

    @property
    def cost(self) -> int:
        """The time of all that is computed again, in picoseconds."""
        return self.solution.cost + self.variant.inner_cost


class Variants:
    """The best solutions of a joint graph, for any budget.

    Attributes:
      make: Returns the variant of a price, whose bodies may save some more bytes if that saves time.
      is_one: Whether there are no bodies to cut, so that all variants are the same.
    """

    def __init__(self, make: Callable[[float, int], Variant], is_one: bool):
        self.make, self.is_one = make, is_one
        self._made: dict[float, Variant] = {}

    def at(self, price: float) -> Found:
        """Returns the corner at a price: 0 for the fastest, infinity for the leanest."""
        key = 0.0 if self.is_one else price
        if key not in self._made:
            self._made[key] = self.make(key, 0)
        variant = self._made[key]
        return Found(variant, variant.budgets.at_price(price), price)

    @cached_property
    def leanest(self) -> Found:
        """The one of fewest bytes."""
        return self.at(math.inf)

    @cached_property
    def fastest(self) -> Found:
        """The one of fewest bytes among those that cost least time."""
        return self.at(0.0)

    def corners(self) -> list[Found]:
        """Returns the corners of the hull, from the leanest to the fastest."""
        return search_corners(self.leanest, self.fastest, self.at)

    def corner_within(self, limit: int, weight: Callable[[Variant, Solution], int]) -> Found:
        """Returns the fastest corner that saves at most `limit` bytes, or the leanest if none does.

        Args:
          limit: The budget, in bytes.
          weight: Takes a solution of a variant to its bytes.
        """
        is_within = lambda corner: weight(corner.variant, corner.solution) <= limit
        corner = self.fastest
        if not is_within(corner):
            corner = corners_around(self.leanest, corner, self.at, is_within)[0]
        return corner

    def within(self, limit: int) -> Found:
        """Returns the choice that saves at most `limit` bytes.

        Raises:
          BudgetError: If nothing does.
        """
        if self.is_one:
            answer = self.fastest.variant.budgets.within(limit)
            return Found(self.fastest.variant, answer.solution, least_cost=answer.least_cost)
        if self.fastest.weight <= limit:
            return Found(self.fastest.variant, self.fastest.solution, least_cost=self.fastest.cost)
        below, above = corners_around(self.leanest, self.fastest, self.at, lambda corner: corner.weight <= limit)
        variants = [below.variant, above.variant]
        if below.weight < limit and below.price:
            variants.append(self.make(below.price, limit - below.weight))
        found = []
        for variant in variants:
            with contextlib.suppress(BudgetError):  # this variant saves too much; another one does not
                found.append(Found(variant, variant.budgets.within(limit).solution))
        if not found:
            found.append(Found(below.variant, below.variant.budgets.within(limit).solution))  # which raises the error
        return min(found, key=lambda one: (one.cost, one.weight))
