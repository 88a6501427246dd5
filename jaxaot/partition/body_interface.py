"""How an equation holds its bodies, said in the same words for loops, branches, `shard_map` and `jit`.

An equation with *bodies* hands each of its operands to an input of every body, and makes each of its results from an
output of every body. *How* a body sees an operand, or a result sees an output, differs: whole or one row at each
iteration, one part on each device. A body of one equation and a body of another see the same piece of a value each time
if they see it in the same way. A *carry* is what an iteration of a loop hands to the next one; no other body ever sees
it.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._typing import Atom, Aval, Eqn

CARRY = "carry"


@immutable(eq=False)
class Slot:
    """An operand on its way into the bodies of an equation, or a result on its way out of them.

    Attributes:
      outer: The atom of the graph that the equation stands in.
      how: How the bodies see it.
      inner: The atom of each body.
    """

    outer: Any
    how: Hashable
    inner: tuple[Any, ...]


@immutable(eq=False)
class Exit:
    """The way out of a body for a value that the equation did not return before.

    Attributes:
      how: How the new result sees it.
      aval: The type of the new result.
      gets_axis: Whether the value must have an axis of size 1 to get out.
    """

    how: Hashable
    aval: Any
    gets_axis: bool = False


class AbstractBodyInterface(abc.ABC):
    """How the equations of one primitive hold their bodies."""

    n_head = 0
    """How many operands come before those that the bodies receive."""

    @abc.abstractmethod
    def bodies(self, eqn: Eqn) -> list[Any]:
        """Returns the bodies, each a ClosedJaxpr with an input for every operand but the head."""

    @abc.abstractmethod
    def operand_hows(self, eqn: Eqn) -> Sequence[Hashable]:
        """Returns how the bodies see each operand but the head."""

    @abc.abstractmethod
    def result_hows(self, eqn: Eqn) -> Sequence[Hashable]:
        """Returns how each result sees the outputs of the bodies."""

    @abc.abstractmethod
    def is_pair(self, forward: Any, backward: Any) -> bool:
        """Returns whether the bodies of two equations run equally often, in the same places, one of them at a time."""

    @abc.abstractmethod
    def params(self, eqn: Eqn, bodies: Sequence[Any], operands: Sequence[Slot], results: Sequence[Slot]) -> Any:
        """Returns the parameters of the equation with other bodies, operands and results."""

    @abc.abstractmethod
    def exit(self, eqn: Eqn, aval: Aval) -> Exit:
        """Returns how a value of type `aval` would leave the bodies."""

    def n_iterations(self, eqn: Eqn) -> int:
        """Returns how often a body runs, each time with values of its own."""
        del eqn
        return 1

    def rank(self, how: Hashable) -> int:
        """Returns a number that rises in the order in which operands, or results, must stand."""
        del how
        return 0

    def is_same(self, how: Hashable, other: Hashable) -> bool:
        """Returns whether two bodies that see a value in these ways see the same piece of it each time."""
        return how == other and how != CARRY

    def effects(self, eqn: Eqn, bodies: Sequence[Any]) -> Any:
        """Returns the effects of the equation with other bodies."""
        del eqn
        return frozenset().union(*(body.effects for body in bodies))

    def price(self, price: int, slot: Slot, size: Callable[[Any], int]) -> int:
        """Returns the price of keeping a value for a body, given that for the enclosing graph, and the sizes there."""
        del slot, size
        return price

    def settled(self, eqns: Sequence[Eqn], atoms: Sequence[Atom]) -> tuple[list[Any], list[Any]]:
        """Returns joined equations and their outputs without what a value underwent on its way from body to body."""
        return list(eqns), list(atoms)

    def operands(self, eqn: Eqn) -> list[Slot]:
        """Returns the operands that the bodies receive."""
        inner = zip(*(body.jaxpr.invars for body in self.bodies(eqn)), strict=True)
        return [
            Slot(*parts)
            for parts in zip(eqn.invars[self.n_head :], self.operand_hows(eqn), inner, strict=True)
        ]  # fmt: skip

    def results(self, eqn: Eqn) -> list[Slot]:
        """Returns the results."""
        inner = zip(*(body.jaxpr.outvars for body in self.bodies(eqn)), strict=True)
        return [Slot(*parts) for parts in zip(eqn.outvars, self.result_hows(eqn), inner, strict=True)]

    def rebuild(self, eqn: Eqn, bodies: Sequence[Any], operands: Sequence[Slot], results: Sequence[Slot]) -> Any:
        """Returns the equation with other bodies, whose inputs and outputs are in the order of the slots."""
        return eqn.replace(
            invars=[*eqn.invars[: self.n_head], *(slot.outer for slot in operands)],
            outvars=[slot.outer for slot in results],
            params=dict(eqn.params) | self.params(eqn, bodies, operands, results),
            effects=self.effects(eqn, bodies),
        )
