"""What a trace relied on of Python: noted as it happened, apart from the guards that are made afterwards.

Guards say what a later call must have in common with the traced one. Facts say what the traced function did with what
it found: that it loaded a value, that it asked whether `t > 10`, that two tensors were one. If the guards imply the
facts, every call that fits the program would have been traced alike; `jaxaot.validate` proves it. So no fact is made
of a guard, nor by the code that makes guards.
"""

from __future__ import annotations

from typing import Any

from jaxaot._immutable import immutable
from jaxaot.plan.paths import Path


@immutable
class ReadsNumber:
    """The symbolic number of a step stands for what a path leads to: a number of type `cls`, `value` in this call."""

    step: int
    path: Path
    cls: type
    value: Any


@immutable
class ComputesNumber:
    """Python went on with the number of a step for what `how` makes of operands: of type `cls`, without an error.

    Attributes:
      step: The step.
      how: The operation.
      operands: Each a constant or a `NumberStep`.
      cls: Type of the result.
    """

    step: int
    how: str
    operands: tuple[Any, ...]
    cls: type


@immutable
class FailsToCompute:
    """An operation on numbers raised an error, as a division by zero does, and Python went on with that."""

    how: str
    operands: tuple[Any, ...]


@immutable
class UsesNumber:
    """Python was given the value of a step's number, such as the truth of a comparison."""

    step: int
    value: Any


@immutable
class EntersGraph:
    """The whole number of a step became an input of the graph, which has 32 bits."""

    step: int


@immutable
class LoadsValue:
    """Code loaded a plain value from a place."""

    path: Path
    value: Any


@immutable
class CountsItems:
    """Code asked how many items a container has, or went through them."""

    path: Path
    n: int


@immutable
class AreOne:
    """Code met one object at two places."""

    path: Path
    other: Path


@immutable
class AreApart:
    """An object is none of some others: the function wrote to one, and used another."""

    path: Path
    others: tuple[Path, ...]


@immutable
class ShareMemory:
    """Two tensors were on one storage."""

    path: Path
    other: Path


@immutable
class ShareNoMemory:
    """The storage of a tensor was none of those of some others."""

    path: Path
    others: tuple[Path, ...]


Fact = (
    ReadsNumber | ComputesNumber | FailsToCompute | UsesNumber | EntersGraph | LoadsValue | CountsItems | AreOne
    | AreApart | ShareMemory | ShareNoMemory
)  # fmt: skip


@immutable
class Event:
    """A fact, and the user's line at which the trace met it, as `file:line  source`."""

    fact: Fact
    line: str
