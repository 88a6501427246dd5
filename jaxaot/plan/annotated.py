"""What is known of each equation of a graph from its types alone."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._typing import Eqn, Jaxpr, Shape
from jaxaot._util import format_bytes
from jaxaot.ir.cost import eqn_bytes, eqn_flops
from jaxaot.ir.walk import aval_bytes, source_line, user_scopes


@immutable
class Note:
    """What is known of one equation.

    Attributes:
      side: The graph that it is in: `"traced"`, `"joint"`, `"forward"` or `"backward"`.
      name: The primitive.
      shapes: The shape of each result.
      dtypes: The name of the dtype of each result.
      bytes: What the results take.
      moved_bytes: What it reads and writes.
      flops: Floating-point operations, a multiply-add counted as two.
      is_saved: Whether a result is kept for the backward; None where the graph is not cut yet.
      source: The user's line, or `""`.
      scopes: The user's scopes and modules around it, or `""`.
    """

    side: str
    name: str
    shapes: tuple[Shape, ...]
    dtypes: tuple[str, ...]
    bytes: int
    moved_bytes: int
    flops: int
    is_saved: bool | None
    source: str
    scopes: str

    def __str__(self) -> str:
        parts = [format_bytes(self.bytes)]
        if self.flops:
            parts.append(f"{self.flops} FLOP")
        if self.is_saved:
            parts.append("saved")
        return ", ".join(parts)


def note_of(eqn: Eqn, side: str, saved: Collection[Any] | None = None) -> Note:
    """Returns what is known of an equation.

    Args:
      eqn: The equation.
      side: The graph that it is in.
      saved: The variables that are kept for the backward; None where that is not decided.
    """
    avals = [var.aval for var in eqn.outvars]
    return Note(
        side,
        eqn.primitive.name,
        tuple(tuple(getattr(aval, "shape", ())) for aval in avals),
        tuple(str(getattr(aval, "dtype", "")) for aval in avals),
        sum(map(aval_bytes, avals)),
        eqn_bytes(eqn),
        eqn_flops(eqn),
        None if saved is None else any(var in saved for var in eqn.outvars),
        source_line(eqn) or "",
        user_scopes(eqn),
    )


def notes_of(jaxpr: Jaxpr, side: str, saved: Collection[Any] | None = None) -> tuple[Note, ...]:
    """Returns what is known of each equation of a graph; arguments as of `note_of`."""
    return tuple(note_of(eqn, side, saved) for eqn in jaxpr.eqns)
