"""The random plan: how many keys a traced function drew from each generator."""

from __future__ import annotations

import dataclasses

from jaxaot.plan.call import Path


@dataclasses.dataclass(frozen=True)
class GeneratorUse:
    """A generator whose seed and offset are graph inputs.

    Attributes:
      path: How a call finds it; None for the default generator.
      n_draws: By how much its offset grows.
    """

    path: Path | None
    n_draws: int


@dataclasses.dataclass(frozen=True)
class RngPlan:
    """The generators that a traced function drew from, in graph-input order."""

    generators: tuple[GeneratorUse, ...]
