"""One rewriter: a graph is read equation by equation, and each is kept or has others written in its place.

A pass says what becomes of an equation; the rewriter reads what was replaced, gives new equations the source line,
scope and context of the one they stand for, and puts the graph together.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

from jaxaot._jax import is_plainly_placed, make_var
from jaxaot._typing import Atom, ClosedJaxpr, Eqn, Primitive, Var
from jaxaot.ir.build import Drafts, barrier
from jaxaot.ir.rewrite import reading, rebuild, substitute


class Rewriter:
    """A graph that is written anew.

        rewriter = Rewriter(closed)
        for eqn in rewriter.equations():
            if eqn.primitive is lax.logistic_p:
                rewriter.replace(eqn.outvars[0], rewriter.call(lambda x: 1 / (1 + jnp.exp(-x)), *eqn.invars))
            else:
                rewriter.keep(eqn)
        return rewriter.graph()

    Attributes:
      eqns: What was written so far.
    """

    def __init__(self, closed: ClosedJaxpr, drafts: Drafts | None = None):
        """Wraps a graph; nothing is written yet.

        Args:
          closed: The graph.
          drafts: Functions that were traced before, for a pass that writes several graphs.
        """
        self.eqns: list[Eqn] = []
        self._closed = closed
        self._drafts = Drafts() if drafts is None else drafts
        self._replaced: dict[Any, Any] = {}
        self._eqn: Any = None  # whose place new equations take

    @property
    def has_replaced(self) -> bool:
        """Whether anything stands for a variable of the graph."""
        return bool(self._replaced)

    def equations(self, positions: Iterable[int] | None = None) -> Iterator[Eqn]:
        """Yields the equations of the graph; what is written takes the place of the one yielded last.

        Args:
          positions: Where they are, for a pass that writes some alone; all of them if None.
        """
        eqns = self._closed.jaxpr.eqns
        for eqn in eqns if positions is None else (eqns[i] for i in positions):
            self._eqn = eqn
            yield eqn

    def take(self) -> list[Eqn]:
        """Returns what was written since the last time, and takes it out of the graph."""
        eqns, self.eqns = self.eqns, []
        return eqns

    def read(self, atoms: Sequence[Atom]) -> list[Any]:
        """Returns the replacements of some atoms of the graph."""
        return substitute(atoms, self._replaced)

    def replace(self, var: Var, atom: Atom) -> None:
        """Lets another atom stand for a variable from here on, or what stands for that atom itself."""
        (self._replaced[var],) = self.read([atom])

    def keep(self, eqn: Eqn) -> None:
        """Writes an equation as it is, but for what was replaced."""
        self.eqns.append(reading(eqn, self._replaced))

    def hold(self, *made: Var) -> None:
        """Writes a barrier behind what was written last, through which all that follows reads some of its results."""
        barred, targets = barrier(made, self.eqns[-1])
        self.eqns.append(barred)
        self._replaced.update(zip(made, targets, strict=True))

    def write(self, eqns: Iterable[Eqn]) -> None:
        """Writes equations made elsewhere."""
        self.eqns += eqns

    def call(self, fn: Callable[..., Any], *atoms: Atom, **static: Hashable) -> Any:
        """Writes the equations of a function of arrays that captures none, and returns its one result.

        Args:
          fn: The function, the same object each time: it is traced once for operands of the same types.
          *atoms: What it is called with.
          **static: Further arguments, which are no arrays.
        """
        (result,) = self.calls(fn, *atoms, **static)
        return result

    def calls(self, fn: Callable[..., Any], *atoms: Atom, **static: Hashable) -> list[Any]:
        """Writes what `call` does of a function with several results, and returns these."""
        eqns, results, _ = self._drafts.placed(fn, self.read(atoms), self._eqn, **static)
        self.eqns += eqns
        return results

    def instead(self, eqn: Eqn, fn: Callable[..., Any], *atoms: Atom, **static: Hashable) -> list[Any] | None:
        """Writes a function of arrays in place of an equation, which is kept if the function does not fit.

        It fits if it captures no arrays, and its first results are of the types of those of the equation, which they
        replace.

        Returns:
          Its other results, or None if the equation is kept.
        """
        steps, results, constants = self._drafts.placed(fn, self.read(atoms), self._eqn, **static)
        n = len(eqn.outvars)
        if constants or not all(map(_is_alike, results[:n], eqn.outvars)):
            self.keep(eqn)
            return None
        self.eqns += steps
        self._replaced.update(zip(eqn.outvars, results[:n], strict=True))
        return results[n:]

    def like(
        self, eqn: Eqn, operands: Sequence[Atom], target: Var | None = None, params: dict[str, Any] | None = None
    ) -> Any:
        """Writes an equation like another that reads other operands, and returns its one result.

        Args:
          eqn: The other equation.
          operands: What it reads.
          target: The variable that becomes the result; one of the same type is made if None.
          params: The parameters; as they were if None.
        """
        if target is None:
            target = make_var(eqn.outvars[0].aval)
        self.eqns.append(eqn.replace(invars=self.read(operands), outvars=[target], params=params))
        return target

    def add(
        self,
        primitive: Primitive,
        params: dict[str, Any],
        operands: Sequence[Atom],
        target: Var,
        place: Eqn | None = None,
    ) -> Any:
        """Writes an equation, and returns its one result.

        Args:
          primitive: Its primitive.
          params: Its parameters.
          operands: What it reads.
          target: The variable that becomes the result.
          place: The equation whose place it takes; the one yielded last if None.
        """
        made = (self._eqn if place is None else place).replace(
            primitive=primitive, params=params, invars=self.read(operands), outvars=[target], effects=set()
        )
        self.eqns.append(made)
        return target

    def graph(self) -> ClosedJaxpr:
        """Returns the graph as it was written; the one that was given if all was kept as it is."""
        before = self._closed.jaxpr.eqns
        if not self._replaced and len(before) == len(self.eqns) and all(map(operator.is_, before, self.eqns)):
            return self._closed
        return rebuild(self._closed, self.eqns, self.read(self._closed.jaxpr.outvars))


def _is_alike(atom: Atom, var: Atom) -> bool:
    """Returns whether two values are of one type, but for a mesh over which XLA divides values as it likes."""
    a, b = atom.aval, var.aval
    if a == b:
        return True
    is_free = is_plainly_placed(a) and is_plainly_placed(b)
    return is_free and (a.shape, a.dtype, a.weak_type) == (b.shape, b.dtype, b.weak_type)
