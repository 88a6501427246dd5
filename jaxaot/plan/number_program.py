"""Numbers of Python that change from call to call: computed at each call by a small program in Python's own arithmetic.

Step `i` of the program is a number: one that a path leads to, or what an operation makes of earlier ones. Where a
traced function asked for the value of one, or whether a comparison of two is true, the answer is a guard.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, assert_never

from jaxaot._immutable import immutable
from jaxaot.plan.paths import Path, follow, path_text

SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "lshift": "<<",
    "rshift": ">>", "and_": "&", "or_": "|", "xor": "^", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==",
    "ne": "!=",
}  # fmt: skip
"""The operators that stand between two numbers."""


@immutable
class ReadNumber:
    """A number that a path leads to, of type `cls`."""

    path: Path
    cls: type


@immutable
class NumberStep:
    """The number of an earlier step."""

    step: int


@immutable
class ComputedNumber:
    """What an operator or function named `how` makes of numbers, each a constant or a `NumberStep`."""

    how: str
    operands: tuple[Any, ...]


@immutable
class AskedNumber:
    """The number that the graph output `output` holds, of type `cls`: what `.item()` returned, and Python only kept."""

    output: int
    cls: type


Number = ReadNumber | ComputedNumber | AskedNumber


@immutable
class NumberFact:
    """What the trace relied on: the number of a step equals `value`, and is of the same type; or is of that type."""

    step: int
    value: Any
    is_of_type: bool = False


@immutable
class NumberInput:
    """A number that is a graph input."""

    step: int
    dtype: Any


@immutable
class NumberPlan:
    """The numbers of a call.

    Attributes:
      numbers: Each step of the program.
      facts: What a call must have in common with the traced one.
      inputs: The numbers that are graph inputs, in their order.
      asks_for_types: Whether the function may tell a symbol from a number: its code names `type`.
    """

    numbers: tuple[Number, ...] = ()
    facts: tuple[NumberFact, ...] = ()
    inputs: tuple[NumberInput, ...] = ()
    asks_for_types: bool = False

    @functools.cached_property
    def late(self) -> frozenset[int]:
        """The steps that are computed after the graph has run."""
        found = set[int]()
        for step, number in enumerate(self.numbers):
            operands = number.operands if isinstance(number, ComputedNumber) else ()
            is_late = any(isinstance(v, NumberStep) and v.step in found for v in operands)
            if is_late or isinstance(number, AskedNumber):
                found.add(step)
        return frozenset(found)

    def text(self, step: int, name: Callable[[Path], str] = path_text) -> str:
        """Returns a number in the user's words, places by `name(path)`."""
        match self.numbers[step]:
            case ReadNumber(path):
                return name(path)
            case ComputedNumber(how, operands):
                texts = [self.text(v.step, name) if isinstance(v, NumberStep) else repr(v) for v in operands]
                return f"({f' {SIGNS[how]} '.join(texts)})" if how in SIGNS else f"{how}({', '.join(texts)})"
            case AskedNumber(output):
                return f"output {output}.item()"
            case _:
                assert_never(self.numbers[step])


def is_declared(path: Path, roots: Sequence[tuple[Path, Any]]) -> bool:
    """Returns whether the holder of a number says that it changes, in `moving_numbers`."""
    kind, key = path[-1]
    return kind == "item" and key in getattr(type(follow(roots, path[:-1])), "moving_numbers", ())
