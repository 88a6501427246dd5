"""Fields: the values with the rows and the columns of a mask, and the equations that make and read them."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import jax.numpy as jnp

from jaxaot._jax import DropVar, Literal
from jaxaot._typing import Atom, Eqn, Jaxpr
from jaxaot.ir.axes import ELEMENTWISE, AxisSplit, splits
from jaxaot.ir.constants import constant
from jaxaot.ir.cost import eqn_flops
from jaxaot.ir.sums import MOVES
from jaxaot.ir.walk import Makers, users, variables

SHAPES = {primitive.name for primitive in MOVES}
"""Primitives that repeat and arrange what is there."""

REDUCTIONS = {"reduce_sum", "reduce_max", "reduce_min", "reduce_and", "reduce_or"}
"""Primitives that combine elements, and of which the combined results of parts are the result."""


class Step(NamedTuple):
    """How an equation is computed in blocks: along rows, and along columns."""

    rows: AxisSplit
    columns: AxisSplit

    def operands(self, eqn: Eqn) -> Iterator[tuple[Any, int | None, int | None]]:
        """Yields the operands of the equation, each with its axis of rows and that of columns, if it has them."""
        return zip(eqn.invars, self.rows.operands, self.columns.operands, strict=True)


class Graph:
    """A graph, with who makes and who reads what, and with what does not depend on its inputs.

    Attributes:
      jaxpr: The graph.
      makers: The equation that makes a variable.
      known: What is known of constants, by variable.
      users: The positions of those that read it.
    """

    def __init__(self, jaxpr: Jaxpr, known: dict[Any, Any]):
        self.jaxpr, self.known = jaxpr, known
        self.makers, self.users = Makers(jaxpr), users(jaxpr.eqns)

    def is_given(self, atom: Atom) -> bool:
        """Returns whether an atom is made of no value: it is a mask, or one number everywhere."""
        return self.fill(atom) is not None or self.mask(atom) is not None

    def mask(self, atom: Atom) -> Any:
        """Returns the constant value of an atom, of size 1 along broadcast axes; None if it depends on inputs."""
        value = constant(atom, self.makers, self.known)
        return None if value is None else value[tuple(slice(None if n else 1) for n in value.strides)]

    def fill(self, atom: Atom) -> Any:
        """Returns the scalar that an atom is everywhere, or None."""
        number = self.makers.behind(atom, SHAPES)
        return None if number.aval.shape else number


class Fields:
    """The values that have the rows and columns of a mask, and the equations that make and read them.

    Attributes:
      axes: By variable the axis of rows and that of columns.
      steps: By position how an equation is computed in blocks.
      between: By position how an equation is computed in blocks of rows: what makes a value by row from others.
      are_exact: Whether all that is summed up is as precise as float32, so that sums of sums are as good.
    """

    def __init__(self, graph: Graph, result: Atom, rows: int, columns: int, refused: AbstractSet[Any]):
        """Looks for them.

        Args:
          graph: The graph.
          result: The field to begin with.
          rows: Its axis of rows.
          columns: Its axis of columns.
          refused: What is computed as a whole, such as a parameter after its update, of which a gradient is a field.
        """
        self.graph, self._refused = graph, refused
        self.axes = {result: (rows, columns)}
        self.are_exact = True
        self.steps: dict[int, Step] = {}
        pending = [result]
        while pending:
            var = pending.pop()
            near = [graph.makers.position[var]] if var in graph.makers else []
            for i in (*near, *graph.users.get(var, ())):
                if i not in self.steps:
                    pending += self._enter(i, var)
        self.between = self._find_between()

    def flops(self) -> int:
        """Returns the FLOPs of the equations of the fields."""
        return sum(eqn_flops(self.graph.jaxpr.eqns[i]) for i in self.steps)

    def _enter(self, i: int, var: Atom) -> list[Any]:
        """Adds an equation that makes or reads a field, if it can be computed in blocks; returns the fields it adds."""
        eqn, axes = self.graph.jaxpr.eqns[i], self.axes[var]
        if len(eqn.outvars) != 1 or isinstance(eqn.outvars[0], DropVar) or eqn.outvars[0] in self._refused:
            return []
        rows, columns = (_split(eqn, var, axis) for axis in axes)
        if rows is None or columns is None:
            return []
        step = Step(rows, columns)
        (result,) = eqn.outvars
        new = {}
        for atom, *cut in step.operands(eqn):
            if isinstance(atom, Literal):
                if cut != [None, None]:
                    return []
            elif None not in cut and not self.graph.is_given(atom):
                new[atom] = tuple(cut)
        if step.rows.result is not None and step.columns.result is not None:
            new[result] = (step.rows.result, step.columns.result)
        else:
            if eqn.primitive.name not in {"dot_general", *REDUCTIONS} or step.rows.result is step.columns.result:
                return []
        if any(self.axes.get(other, cut) != cut for other, cut in new.items()):
            return []
        self.steps[i] = step
        if eqn.primitive.name in ("dot_general", "reduce_sum"):
            self.are_exact &= all(_is_exact(atom) for atom in (*eqn.invars, result))
        added = [other for other in new if other not in self.axes]
        self.axes |= new
        return added

    def _find_between(self) -> dict[int, AxisSplit]:
        """Returns equations that lead from values by row to values by row that fields are made of."""
        eqns = self.graph.jaxpr.eqns
        by_row: dict[Any, int] = {}
        for i, step in self.steps.items():
            if step.rows.result is not None and step.columns.result is None:
                by_row[eqns[i].outvars[0]] = step.rows.result
        found: dict[int, AxisSplit] = {}
        pending = [i for var in by_row for i in self.graph.users.get(var, ())]
        heapq.heapify(pending)
        latest = -1
        while pending:
            i = heapq.heappop(pending)
            if i == latest:
                continue
            latest, eqn = i, eqns[i]
            if i in self.steps or eqn.primitive.name not in {*ELEMENTWISE, *SHAPES, *REDUCTIONS}:
                continue
            cut = next((var for var in variables(eqn.invars) if var in by_row), None)
            split = _split(eqn, cut, by_row[cut]) if cut is not None else None
            if split is None or split.result is None or len(eqn.outvars) != 1:
                continue
            pairs = list(zip(eqn.invars, split.operands, strict=True))
            if all(by_row.get(v, axis) == axis for v, axis in pairs if not isinstance(v, Literal)):
                found[i], by_row[eqn.outvars[0]] = split, split.result
                for reader in self.graph.users.get(eqn.outvars[0], ()):
                    heapq.heappush(pending, reader)
        wanted = {
            atom
            for i, step in self.steps.items()
            for atom, axis, _ in step.operands(eqns[i])
            if axis is not None and not isinstance(atom, Literal) and by_row.get(atom) == axis
        }
        for i in sorted(found, reverse=True):
            if eqns[i].outvars[0] in wanted:
                wanted.update(var for var in variables(eqns[i].invars) if var in by_row)
            else:
                del found[i]
        return found


def _split(eqn: Eqn, var: Atom, axis: int) -> AxisSplit | None:
    """Returns the split of an equation that cuts a variable along an axis, wherever it stands."""
    for split in splits(eqn):
        cuts = [cut for atom, cut in zip(eqn.invars, split.operands, strict=True) if atom is var]
        cuts += [split.result] if eqn.outvars[0] is var else []
        if cuts and all(cut == axis for cut in cuts):
            return split
    return None


def _is_exact(atom: Atom) -> bool:
    return jnp.issubdtype(atom.aval.dtype, jnp.inexact) and atom.aval.dtype.itemsize >= 4
