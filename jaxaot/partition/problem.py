"""What to save, on plain numbers; neither this module nor those that solve it know a graph of equations.

A *problem* has *values* and the *steps* that make them. What is *needed* of the values has to be available later: it is
*saved*, which costs bytes, or *offloaded*, which costs the time to move it away and back, or its step is *repeated*,
which costs the time of the step and needs the step's operands in turn. Whatever is always at hand is left out.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from jaxaot._immutable import immutable

FORBIDDEN = -1
"""The weight or cost of what may not be done."""


@immutable(eq=False)
class Problem:
    """Values and steps, each numbered from 0; a step comes after those that make its operands.

    Attributes:
      weights: What saving each value costs, in bytes, or `FORBIDDEN`.
      offload_costs: What moving each value away and back costs, in picoseconds, or `FORBIDDEN`; empty for none at all.
      producer: The step that makes each value.
      costs: What repeating each step costs, in picoseconds, or `FORBIDDEN`.
      operands: The values that each step reads.
      needed: The values that have to be available.
    """

    weights: tuple[int, ...]
    offload_costs: tuple[int, ...]
    producer: tuple[int, ...]
    costs: tuple[int, ...]
    operands: tuple[tuple[int, ...], ...]
    needed: tuple[int, ...]

    @cached_property
    def results(self) -> tuple[tuple[int, ...], ...]:
        """The values that each step makes."""
        found: list[list[int]] = [[] for _ in self.costs]
        for value, step in enumerate(self.producer):
            found[step].append(value)
        return tuple(map(tuple, found))

    def may_offload(self, value: int) -> bool:
        """Returns whether a value may be moved away."""
        return bool(self.offload_costs) and self.offload_costs[value] != FORBIDDEN

    def complete(self, saved: Collection[int], offloaded: Collection[int] = ()) -> Solution:
        """Returns the solution that keeps these values and repeats what it must; values that nobody reads are dropped.

        Raises:
          ValueError: If a step would have to be repeated that may not, or a value be kept that may not.
        """
        kept, away = set(saved), set(offloaded)
        read_saved, read_away, repeated = set(), set(), set()
        pending = list(self.needed)
        seen = set(pending)
        while pending:
            value = pending.pop()
            if value in kept:
                if self.weights[value] == FORBIDDEN:
                    raise ValueError(f"value {value} may not be saved")
                read_saved.add(value)
            elif value in away:
                if not self.may_offload(value):
                    raise ValueError(f"value {value} may not be offloaded")
                read_away.add(value)
            elif (step := self.producer[value]) not in repeated:
                if self.costs[step] == FORBIDDEN:
                    raise ValueError(f"step {step} may not be repeated")
                repeated.add(step)
                for operand in self.operands[step]:
                    if operand not in seen:
                        seen.add(operand)
                        pending.append(operand)
        return Solution(
            frozenset(read_saved),
            frozenset(read_away),
            frozenset(repeated),
            sum(self.weights[value] for value in read_saved),
            sum(self.costs[step] for step in repeated) + sum(self.offload_costs[value] for value in read_away),
        )


@immutable
class Solution:
    """What is saved, offloaded and repeated.

    Attributes:
      saved: The values that are saved.
      offloaded: The values that are moved away and back.
      repeated: The steps that are repeated.
      weight: The bytes of what is saved.
      cost: The time of what is repeated and moved, in picoseconds.
    """

    saved: frozenset[int]
    offloaded: frozenset[int]
    repeated: frozenset[int]
    weight: int
    cost: int
