"""The random plan: how many keys a traced function drew from each generator."""

from __future__ import annotations

from jaxaot._immutable import immutable
from jaxaot.plan.paths import Path


@immutable
class GeneratorUse:
    """A generator that keys were taken from.

    Attributes:
      path: How a call finds it; None for the default generator.
      n_draws: By how much its offset grows.
      is_input: Whether its seed and offset are graph inputs: not if no key that was taken is used.
    """

    path: Path | None
    n_draws: int
    is_input: bool


@immutable
class RngPlan:
    """The generators that a traced function drew from; those that are graph inputs come first, in their order."""

    generators: tuple[GeneratorUse, ...]
