"""How a graph is run: the one decision that `ja.compile`, `ja.jit` and eager kernels all ask for."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from jaxaot._typing import ClosedJaxpr
from jaxaot.backend.cpu.batch.sharded import ShardedExecutable, plan_sharded
from jaxaot.backend.cpu.memory.sequential import (
    SequentialExecutable,
    can_be_cut,
    explain_tuned,
    is_free_of_effects,
    pays_to_cut,
)
from jaxaot.backend.cpu.tune import Tuned, is_worth_tuning, tune
from jaxaot.ir.checkpoints import open_checkpoints


class Lowering(enum.Enum):
    """The ways of running a graph.

    Attributes:
      REPAIRED: One program of the graph as it is, but for what XLA would get wrong.
      PROGRAM: One program of the graph after the passes for the platform.
      EIGEN: The same, under XLA's options for convolutions.
      SUBPROGRAMS: Several executables in a row, if XLA needs as much memory as shapes let expect.
      SHARDS: An executable on each core, for a shard of a batch, and one for what comes after.
    """

    REPAIRED = enum.auto()
    PROGRAM = enum.auto()
    EIGEN = enum.auto()
    SUBPROGRAMS = enum.auto()
    SHARDS = enum.auto()


class LoweringChoice:
    """How one graph is run.

    Attributes:
      how: The way.
      graph: The graph, a ClosedJaxpr.
      sharded: The graph as shards, where these are run.
    """

    def __init__(
        self, how: Lowering, graph: ClosedJaxpr, make: Callable[[], Tuned], sharded: ShardedExecutable | None = None
    ):
        """Keeps the decision.

        Args:
          how: The way.
          graph: The graph.
          make: Returns the whole graph after the passes; where shards are run, only those who look at it need it.
          sharded: The shards.
        """
        self.how, self.graph, self.sharded, self._make = how, graph, sharded, make

    @cached_property
    def tuned(self) -> Tuned:
        """The whole graph after the passes, and what they did."""
        return self._make()

    @property
    def is_changed(self) -> bool:
        """Whether the whole graph is another one after the passes."""
        return self.tuned.jaxpr is not self.graph

    @cached_property
    def needs_own_call(self) -> bool:
        """Whether it is no program under options that are known before the graph is."""
        if self.how is Lowering.EIGEN:
            return is_free_of_effects(self.tuned.jaxpr)
        return self.how in (Lowering.SUBPROGRAMS, Lowering.SHARDS)

    def sequential(
        self,
        donated: Sequence[int],
        name: str,
        compiler_options: Mapping[str, Any] | None,
        before_tracing: Callable[[], None] = lambda: None,
        places: Sequence[Any] = (),
    ) -> SequentialExecutable:
        """Returns the subprograms of the graph, which XLA begins to compile. Arguments: see `SequentialExecutable`."""
        tuned = self.tuned
        options = tuned.compiler_options(compiler_options)
        limit, keeps_freed_memory = tuned.limit_bytes, tuned.keeps_freed_memory
        return SequentialExecutable(
            tuned.jaxpr, donated, name, options, before_tracing, limit=limit, keeps_freed_memory=keeps_freed_memory,
            places=places,
        )  # fmt: skip

    def explain(self) -> list[str]:
        """Returns in lines what passes did, and how the graph is run."""
        return explain_tuned(self.tuned) if self.sharded is None else self.sharded.explain()


def choose_way(
    closed: ClosedJaxpr,
    passes: Sequence[str],
    checks: bool = False,
    exact: bool = False,
    platform: str | None = None,
    is_one_program: bool = False,
) -> LoweringChoice:
    """Returns how a graph is run.

    Args:
      closed: The ClosedJaxpr, its calls inlined.
      passes: The names of the passes and switches for such graphs, see `lowered_passes`.
      checks: Whether to check the graph after each pass.
      exact: Whether each operation is to round as it does alone.
      platform: Where it will run; by default on the default backend.
      is_one_program: Whether it has to be one.
    """
    if passes:
        closed = open_checkpoints(closed)
    if not passes or not is_worth_tuning(closed):
        return LoweringChoice(Lowering.REPAIRED, closed, lambda: tune(closed, (), checks, platform, exact))

    def tuned() -> Tuned:
        return tune(closed, passes, checks, platform, exact)

    sharded = None if is_one_program else plan_sharded(closed, passes, checks)  # none where roundings are kept
    if sharded is not None:
        return LoweringChoice(Lowering.SHARDS, closed, tuned, sharded)
    found = tuned()
    if found.has_subprograms and not is_one_program and not pays_to_cut(found.jaxpr):
        found = dataclasses.replace(found, has_subprograms=False)
    how = Lowering.EIGEN if found.n_by_eigen else Lowering.PROGRAM
    if not is_one_program and found.has_subprograms and can_be_cut(found.jaxpr):
        how = Lowering.SUBPROGRAMS
    return LoweringChoice(how, closed, lambda: found)
