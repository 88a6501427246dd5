"""Sequence numbers: which equation of the forward each equation of a joint graph belongs to, as a table.

A forward equation has its position as its number, and the equations of its derivative have the same one::

    SeqNr  Equation              SrcFn
    -- forward
        0  conv_general_dilated  conv2d
        1  tanh                  tanh
    -- backward
        1  mul                   tanh
        0  conv_general_dilated  conv2d

Operations whose gradients pass through as they are, such as `x + y`, have no rows in the backward. The names are those
of the scopes in which the equations are lowered, so a profile shows them as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from jaxaot.ir.walk import forward_index, is_backward, user_scopes


class SequenceRow(NamedTuple):
    """One equation of a joint graph.

    Attributes:
      number: Of the forward equation that it belongs to; None if it belongs to none.
      equation: What it computes.
      source: The operation that the user called, with the scopes around it.
      is_backward: Whether it belongs to the backward.
    """

    number: int | None
    equation: str
    source: str
    is_backward: bool


def sequence_rows(joint: Any) -> tuple[SequenceRow, ...]:
    """Returns a row for each equation of a joint graph, a ClosedJaxpr, in its order."""
    return tuple(
        SequenceRow(forward_index(eqn), eqn.primitive.name, user_scopes(eqn), is_backward(eqn))
        for eqn in joint.jaxpr.eqns
    )


def sequence_table(rows: Sequence[SequenceRow]) -> str:
    """Returns rows as a table of three columns, the forward above the backward."""
    width = max([len(row.equation) for row in rows] + [len("Equation")])
    lines = [f"SeqNr  {'Equation':<{width}}  SrcFn"]
    for is_late in (False, True):
        chosen = [row for row in rows if row.is_backward == is_late]
        if chosen:
            lines.append(f"-- {'backward' if is_late else 'forward'}")
        lines += [
            f"{'' if row.number is None else row.number:>5}  {row.equation:<{width}}  {row.source}".rstrip()
            for row in chosen
        ]
    return "\n".join(lines)
