"""Graphs that are kept for other processes, and are made again only if someone asks for their equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from jaxaot.backend.cpu.run import LoweringChoice
from jaxaot.lower.warm.events import CacheEvent
from jaxaot.plan.saved import TapePlan
from jaxaot.plan.stages import Partition


class KeptGraph:
    """Stands for a ClosedJaxpr of which the types are known, and how it is run.

    Attributes:
      in_avals: What it takes.
      out_avals: What it returns.
      way: How it is run; None of a graph that is not.
    """

    def __init__(
        self, in_avals: Sequence[Any], out_avals: Sequence[Any], way: LoweringChoice | None, make: Callable[[], Any]
    ):
        """Makes one; `make` returns the graph itself."""
        self.in_avals, self.out_avals, self.way = list(in_avals), list(out_avals), way
        self._make = make

    @cached_property
    def made(self) -> Any:
        """The graph itself, a ClosedJaxpr."""
        return self._make()

    @property
    def jaxpr(self) -> Any:
        """Its open jaxpr."""
        return self.made.jaxpr

    @property
    def consts(self) -> Any:
        """Its constants."""
        return self.made.consts

    @property
    def eqns(self) -> Any:
        """Its equations."""
        return self.made.eqns


class Cut(NamedTuple):
    """A forward and a backward, as they are compiled.

    Attributes:
      partition: What the runtime knows of them.
      forward: The graph of the forward.
      backward: The graph of the backward.
      tape: What the node of a call needs to know of the joint graph.
      make: Returns the partition with its equations.
      events: What became of it in `cache_dir`.
    """

    partition: Partition
    forward: Any
    backward: Any
    tape: TapePlan
    make: Callable[[], Partition]
    events: tuple[CacheEvent, ...] = ()
