"""Who makes a value: from a variable to its equation, and through those that only move what they read."""

from __future__ import annotations

from typing import Any

from jax import lax

from jaxaot._jax import Literal
from jaxaot._typing import Atom, Jaxpr, Primitive
from jaxaot.ir.build import is_rewritable
from jaxaot.ir.sums import Place, moved
from jaxaot.ir.walk import producers

MOVES = (lax.broadcast_in_dim_p, lax.reshape_p, lax.squeeze_p, lax.transpose_p)
"""Primitives that repeat and arrange the elements of an array."""


class Makers(dict[Any, Any]):
    """The equation that makes a variable, for each that one makes.

    Attributes:
      position: The position of that equation.
    """

    def __init__(self, jaxpr: Jaxpr):
        self.position = producers(jaxpr)
        super().__init__((var, jaxpr.eqns[i]) for var, i in self.position.items())

    def of(self, atom: Atom, *primitives: Primitive) -> Eqn | None:
        """Returns the equation that makes an atom, if it is one of some primitives on plain arrays; None if not.

        Args:
          atom: The atom.
          *primitives: The primitives; none for all.
        """
        eqn = None if isinstance(atom, Literal) else self.get(atom)
        is_one = eqn is not None and (not primitives or eqn.primitive in primitives)
        return eqn if is_one and is_rewritable(eqn) else None

    def moved(self, atom: Atom, place: Place) -> tuple[Any, Place] | None:
        """Returns what an atom is moved from by one equation, and where its axes lie; None if it is not.

        Args:
          atom: The atom.
          place: Where the axes of the atom lie.
        """
        eqn = self.of(atom, *MOVES)
        if eqn is None or eqn.invars[1:]:  # which say how large a result is
            return None
        found = moved(eqn, place)
        return None if found is None else (eqn.invars[0], found)
