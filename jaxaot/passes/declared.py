"""What a pass declares of itself, once: its name, the graphs that it is for, whether it runs by default, what it needs.

The order of declarations is the order in which passes run. Those for every platform are declared in `pipeline.py`,
those of one platform in the pipeline of its room in `backend/`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._jax import load

Rewrite = Callable[[Any], Any]
"""A function from a ClosedJaxpr to one with the same inputs and outputs."""


class FromModule:
    """A pass that has the name of its module, which is loaded when it first runs: no pass runs on graphs found made."""

    def __init__(self, module: str):
        """Names the module."""
        self.__module__, self.__name__ = module, module.rpartition(".")[2]

    def __call__(self, closed: object) -> Any:
        return getattr(load(self.__module__), self.__name__)(closed)


class On(enum.Flag):
    """The graphs that a pass is for.

    Attributes:
      JOINT: A joint graph, before it is cut.
      COMPILED: A graph of `ja.compile`, such as a forward or a backward.
      JITTED: A graph of `ja.jit`.
      KERNEL: The graph of an eager op.
      SHARD: What one core computes of a graph of `ja.compile` or `ja.jit`.
      CUT: A joint graph whose halves are lowered in one program: what is left out before it is cut is not saved.
      WHOLE: What may become several executables.
      LOWERED: All but joint graphs.
    """

    JOINT = enum.auto()
    COMPILED = enum.auto()
    JITTED = enum.auto()
    KERNEL = enum.auto()
    SHARD = enum.auto()
    CUT = enum.auto()
    WHOLE = COMPILED | JITTED
    LOWERED = WHOLE | KERNEL | SHARD


@immutable
class Pass:
    """A pass that settings name, or a switch: a name among those of passes that says how a graph is compiled.

    Attributes:
      name: The name.
      function: What it does to a graph; None for a switch.
      on: The graphs that it is for.
      platforms: Those on which it runs by default; None for all. By its name it is asked for on any.
      is_default: Whether it runs without being named.
      is_exact: Whether each operation still rounds as it does alone; if not, it does not run under `exact_rounding`.
      needs: The names of others without which it does nothing.
      keeps_axes: Whether it neither cuts, joins nor orders anew axes along which values may be divided over devices, so
        that it is sound for a graph of several; the others are for what one device computes.
      looks_for: The names of primitives one of which is in each graph that it changes; None if that is not known.
    """

    name: str
    function: Rewrite | None
    on: On
    platforms: tuple[str, ...] | None = None
    is_default: bool = True
    is_exact: bool = True
    needs: tuple[str, ...] = ()
    keeps_axes: bool = False
    looks_for: frozenset[str] | None = None

    def runs_by_default(self, on: On, platform: str) -> bool:
        """Returns whether it runs on such graphs without being named."""
        return self.is_default and on in self.on and (self.platforms is None or platform in self.platforms)


def chosen(
    passes: Collection[Pass], on: On, platform: str, names: Collection[object] | None, exact: bool
) -> tuple[Pass, ...]:
    """Returns those passes that run on graphs of one kind, in order.

    Args:
      passes: The declared ones.
      on: The kind of graph.
      platform: Where it runs.
      names: Those that are named; None for those that run by default.
      exact: Whether roundings are kept.
    """
    found = [
        declared
        for declared in passes
        if on in declared.on
        and (declared.runs_by_default(on, platform) if names is None else declared.name in names)
        and (declared.is_exact or not exact)
    ]
    there = {declared.name for declared in found}
    return tuple(declared for declared in found if there.issuperset(declared.needs))
