"""The best solutions for all budgets where bodies can be cut in several ways.

A *variant* is a joint graph with its bodies cut at one price of a byte, see `bodies.cut_bodies`, and the problem of
what to save around them. At any price, the best of all is the variant of that price with its own solution of least
`cost + price * bytes`. These are the corners of a hull, as for a graph without bodies; a budget between two corners is
met by the better of both variants, or by the leaner one if its bodies may use up what is left of the budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

from jaxaot._immutable import immutable
from jaxaot.errors import BudgetError
from jaxaot.partition.bodies import CutBodies
from jaxaot.partition.budget import Answer, Budgets, corners_around, search_corners
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
class Corner:
    """A variant and a solution of it.

    Attributes:
      variant: The variant.
      solution: What is saved around the bodies.
      price: The price at which both are best.
    """

    variant: Variant
    solution: Solution
    price: float

    @property
    def weight(self) -> int:
        """The bytes of all that is saved."""
        return self.solution.weight

    @property
    def cost(self) -> int:
        """The time of all that is computed again, in picoseconds."""
        return self.solution.cost + self.variant.inner_cost


@immutable(eq=False)
class Choice:
    """What meets a budget.

    Attributes:
      variant: The variant.
      solution: What is saved around the bodies.
      least_cost: No solution within the budget costs less, in picoseconds; None if that is not known.
    """

    variant: Variant
    solution: Solution
    least_cost: int | None

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

    def at(self, price: float) -> Corner:
        """Returns the corner at a price: 0 for the fastest, infinity for the leanest."""
        key = 0.0 if self.is_one else price
        if key not in self._made:
            self._made[key] = self.make(key, 0)
        variant = self._made[key]
        return Corner(variant, variant.budgets.at_price(price), price)

    @cached_property
    def leanest(self) -> Corner:
        """The one of fewest bytes."""
        return self.at(math.inf)

    @cached_property
    def fastest(self) -> Corner:
        """The one of fewest bytes among those that cost least time."""
        return self.at(0.0)

    def corners(self) -> list[Corner]:
        """Returns the corners of the hull, from the leanest to the fastest."""
        return search_corners(self.leanest, self.fastest, self.at)

    def corner_within(self, limit: int, weight: Callable[[Variant, Solution], int]) -> Choice:
        """Returns the fastest corner that saves at most `limit` bytes, or the leanest if none does.

        Args:
          limit: The budget, in bytes.
          weight: Takes a solution of a variant to its bytes.
        """
        is_within = lambda corner: weight(corner.variant, corner.solution) <= limit
        corner = self.fastest
        if not is_within(corner):
            corner = corners_around(self.leanest, corner, self.at, is_within)[0]
        return Choice(corner.variant, corner.solution, None)

    def within(self, limit: int) -> Choice:
        """Returns the choice that saves at most `limit` bytes.

        Raises:
          BudgetError: If nothing does.
        """
        if self.is_one:
            answer = self.fastest.variant.budgets.within(limit)
            return Choice(self.fastest.variant, answer.solution, answer.least_cost)
        if self.fastest.weight <= limit:
            return Choice(self.fastest.variant, self.fastest.solution, self.fastest.cost)
        below, above = corners_around(self.leanest, self.fastest, self.at, lambda corner: corner.weight <= limit)
        variants = [below.variant, above.variant]
        if below.weight < limit and below.price:
            variants.append(self.make(below.price, limit - below.weight))
        found = []
        for variant in variants:
            answer = self._answer(variant, limit)
            if answer is not None:
                found.append(Choice(variant, answer.solution, None))
        if not found:
            found.append(Choice(below.variant, below.variant.budgets.within(limit).solution, None))
        return min(found, key=lambda choice: (choice.cost, choice.solution.weight))

    def _answer(self, variant: Variant, limit: int) -> Answer | None:
        try:
            return variant.budgets.within(limit)
        except BudgetError:  # this variant saves too much; another one does not
            return None
