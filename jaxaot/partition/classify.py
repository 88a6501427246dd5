"""Which equations of a joint graph belong where.

An equation is *backward* if it depends on a cotangent; *forward* if an output of the user's function depends on it, or
if it has a side effect; and *either* if it is needed only by backward equations but depends on no cotangent, like the
`1 - y` in the derivative of `tanh`. A value that is not backward is *forward-computable*; one that a backward equation
reads, or that is a gradient itself, is *needed*.
"""

from __future__ import annotations

import enum
from functools import cached_property
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._typing import Var
from jaxaot.ir.placements import Placements, placements_of
from jaxaot.ir.primitives import is_pure
from jaxaot.ir.walk import Makers, aval_bytes, backward_slice, forward_slice, variables
from jaxaot.plan.stages import JointGraph


class Side(enum.Enum):
    """Where an equation belongs."""

    FORWARD = "forward"
    BACKWARD = "backward"
    EITHER = "either"
    DEAD = "dead"


@immutable(eq=False)
class Classified:
    """A joint graph and the side of each of its equations.

    Attributes:
      joint: The joint graph.
      sides: The side of each equation.
    """

    joint: JointGraph
    sides: tuple[Side, ...]

    @property
    def eqns(self) -> list[Any]:
        """The equations of the joint graph."""
        return self.joint.jaxpr.jaxpr.eqns

    @cached_property
    def primals(self) -> list[Any]:
        """The variables that are primals."""
        return self.joint.jaxpr.jaxpr.invars[: self.joint.n_primals]

    @cached_property
    def cotangents(self) -> list[Any]:
        """The variables that are cotangents."""
        return self.joint.jaxpr.jaxpr.invars[self.joint.n_primals :]

    @cached_property
    def outputs(self) -> list[Any]:
        """The atoms that are outputs of the user's function."""
        return self.joint.jaxpr.jaxpr.outvars[: self.joint.n_outputs]

    @cached_property
    def refills(self) -> dict[Any, int]:
        """The number of each variable that a storage holds again when the backward runs; primals are at hand anyway."""
        joint = self.joint
        atoms = joint.jaxpr.jaxpr.outvars[joint.n_outputs : joint.n_outputs + joint.n_refills]
        return {atom: i for i, atom in enumerate(atoms) if not hasattr(atom, "val") and atom not in self.primals}

    @cached_property
    def gradients(self) -> list[Any]:
        """The atoms that are gradients."""
        return self.joint.jaxpr.jaxpr.outvars[self.joint.n_outputs + self.joint.n_refills :]

    @cached_property
    def placements(self) -> Placements | None:
        """Which part of each value one device holds; None where each holds all."""
        return placements_of(self.joint.jaxpr.jaxpr, self.joint.placed)

    def bytes(self, var: Var) -> int:
        """Returns what a value takes on one device."""
        return aval_bytes(var.aval if self.placements is None else self.placements.part(var))

    @cached_property
    def constants(self) -> dict[Any, Any]:
        """The value of each variable that is a constant."""
        closed = self.joint.jaxpr
        return dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))

    @cached_property
    def producer(self) -> dict[Any, int]:
        """The position of the equation that makes each variable."""
        return Makers(self.joint.jaxpr.jaxpr).position

    @cached_property
    def read_behind(self) -> dict[Any, None]:
        """The variables that the backward reads or returns, in order."""
        # of EITHER nothing is needed as such: where it runs is what the cut decides
        atoms = [atom for i in self.positions(Side.BACKWARD) for atom in self.eqns[i].invars]
        return dict.fromkeys(variables([*atoms, *self.gradients]))

    @cached_property
    def needed(self) -> list[Any]:
        """The forward-computable variables, made by equations, that the backward reads or returns, in order."""
        return [var for var in self.read_behind if var in self.producer and not self.is_backward(var)]

    def is_backward(self, var: Var) -> bool:
        """Returns whether a backward equation makes a variable."""
        return var in self.producer and self.sides[self.producer[var]] is Side.BACKWARD

    def positions(self, *sides: Side) -> list[int]:
        """Returns the positions of the equations on some sides."""
        return [i for i, side in enumerate(self.sides) if side in sides]


def classify(joint: JointGraph) -> Classified:
    """Returns the side of each equation of a joint graph."""
    jaxpr = joint.jaxpr.jaxpr
    backward = forward_slice(jaxpr, jaxpr.invars[joint.n_primals :])
    # a print or a callback is wanted for itself: it keeps alive what it reads
    effects = [i for i, eqn in enumerate(jaxpr.eqns) if not is_pure(eqn) and i not in backward]
    targets = [*jaxpr.outvars[: joint.n_outputs], *(var for i in effects for var in jaxpr.eqns[i].invars)]
    # an output may depend on a cotangent where a function returns gradients: that part waits
    forward = (backward_slice(jaxpr, targets) | set(effects)) - backward
    effects_behind = [i for i in backward if not is_pure(jaxpr.eqns[i])]
    targets = [
        *jaxpr.outvars[joint.n_outputs + joint.n_refills :],
        *(var for i in effects_behind for var in jaxpr.eqns[i].invars),
    ]
    # `jax.vjp` leaves equations that nobody reads; a cut through them would cost bytes
    alive = backward_slice(jaxpr, targets) | set(effects_behind)

    def side(i: int) -> Side:
        if i in forward:
            return Side.FORWARD
        if i not in alive:
            return Side.DEAD
        return Side.BACKWARD if i in backward else Side.EITHER

    return Classified(joint, tuple(side(i) for i in range(len(jaxpr.eqns))))
