"""What each of several parts of a batch computes by itself: how a cut goes through the equations of a graph.

A value is *cut* along an axis: each part has its own piece. Or it is *partial*: each part has a term of a sum. Or it is
*whole*: each part has all of it. `axes.py` knows the ways through one equation; here they are followed through many,
and through the bodies of `scan`. A whole value that has to be cut is made so from the beginning, where that is
possible, by the equations that make it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._jax import DropVar, Literal, ShapedArray, close_jaxpr, make_jaxpr_object, make_var, scan_counts
from jaxaot.ir.axes import Way, params_of_part, ways_together
from jaxaot.ir.build import traced
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import producers, variables

_OF_SUMS = {"reshape", "transpose", "squeeze", "broadcast_in_dim", "reduce_sum", "copy", "slice"}
"""Primitives of one operand that commute with sums and move no less than they make, so that parts compute them."""

_SUMS = {"add", "add_any", "sub"}

_SCALED = {"mul", "div", "neg"}

PARTIAL = -1
"""The state of a value that is a sum to which each part adds; that of a cut one is the axis, of a whole one None."""

State = int | None


class Flow:
    """How a cut goes through the equations of a graph.

    Attributes:
      axes: The axis along which a variable is cut.
      partial: The variables that are sums to which each part adds.
      same: The variables that are whole, and made by an equation that is computed in parts.
      ways: Position of an equation that is computed in parts → the way.
      loops: The same for a `scan` → how the cut goes through its body.
      scales_sums: Whether terms are scaled in each part, and not what they add up to.
    """

    scales_sums = False

    def __init__(self, jaxpr: Any, n: int):
        """Begins with a graph of which all is whole.

        Args:
          jaxpr: The open jaxpr.
          n: How many parts.
        """
        self.jaxpr, self.eqns, self.n = jaxpr, jaxpr.eqns, n
        self.producer = producers(jaxpr)
        self.axes: dict[Any, int] = {}
        self.partial: set[Any] = set()
        self.same: set[Any] = set()
        self.ways: dict[int, Way] = {}
        self.loops: dict[int, Loop] = {}
        self._trail: list[tuple[dict[Any, Any], Any]] = []  # what was noted, so that it can be taken back

    def is_worth_parts(self, var: Any) -> bool:
        """Returns whether a value is too costly to compute all of it in each part."""
        del var
        return True

    def can_take(self, var: Any, axis: int) -> bool:
        """Returns whether each part can take its piece of a whole value."""
        del var, axis
        return False

    def can_start_from_zero(self, var: Any) -> bool:
        """Returns whether a whole value may be a term of a sum as it is, as it is zero, or a sum that begins there."""
        return self.is_zero(var)

    def is_apart(self, var: Any) -> bool:
        """Returns whether a part has no more than its piece of a value, or its term."""
        return (var in self.axes or var in self.partial) and self.is_worth_parts(var)

    def state(self, atom: Any) -> State:
        """Returns the axis along which a value is cut, or whether it is partial or whole."""
        if isinstance(atom, Literal):
            return None
        return PARTIAL if atom in self.partial else self.axes.get(atom)

    def is_shared(self, i: int) -> bool:
        """Returns whether an equation can be computed from pieces and terms of its operands, and if so notes how."""
        eqn = self.eqns[i]
        if eqn.primitive.name == "scan":
            return self._is_shared_loop(i)
        if any(var in self.partial for var in variables(eqn.invars)):
            return self._is_shared_sum(i)
        return any(self.fits(i, way) for way in self._ways(i))

    def _is_shared_sum(self, i: int) -> bool:
        eqn = self.eqns[i]
        name = eqn.primitive.name
        if name in _SUMS:
            if not all(self._is_term(atom) for atom in eqn.invars):
                return False
        elif name in _SCALED and self.scales_sums:
            states = [self.state(atom) for atom in eqn.invars]
            if states not in ([PARTIAL], [PARTIAL, None]) and (name != "mul" or states != [None, PARTIAL]):
                return False
        elif name not in _OF_SUMS or len(eqn.invars) > 1:
            return False
        self.ways[i] = Way((None,) * len(eqn.invars), None, lax.add_p)
        self.partial.update(eqn.outvars)
        return True

    def _is_term(self, atom: Any) -> bool:
        if isinstance(atom, Literal) or atom in self.axes:
            return False
        return atom in self.partial or self.can_start_from_zero(atom)

    def _ways(self, i: int) -> list[Way]:
        eqn = self.eqns[i]
        found = ways_together(eqn)
        if eqn.primitive.name == "scatter-add" and self.is_zero(eqn.invars[0]):
            numbers = eqn.params["dimension_numbers"]
            others = [axis for axis in range(eqn.invars[2].aval.ndim) if axis not in numbers.update_window_dims]
            found = [*found, *(Way((None, axis, o), None, lax.add_p) for axis, o in enumerate(others))]
        return found

    def is_zero(self, atom: Any) -> bool:
        """Returns whether a value is written as zeros."""
        if isinstance(atom, Literal):
            return not np.any(atom.val)
        i = self.producer.get(atom)
        return (
            i is not None and self.eqns[i].primitive is lax.broadcast_in_dim_p and self.is_zero(self.eqns[i].invars[0])
        )

    def fits(self, i: int, way: Way) -> bool:
        """Returns whether an equation can be computed in a way, and if so notes it, and what it asks of operands."""
        eqn = self.eqns[i]
        if way.result is None:
            if way.combine is not lax.add_p or not _can_add(eqn) or not self.is_worth_parts(eqn.outvars[0]):
                return False
        elif not all(self._divides(var.aval, way.result) for var in eqn.outvars):
            return False
        wanted: dict[Any, int | None] = {}
        for atom, axis in zip(eqn.invars, way.operands, strict=True):
            if isinstance(atom, Literal):
                if axis is not None:
                    return False
            elif wanted.setdefault(atom, axis) != axis or (axis is None and self.is_apart(atom)):
                return False
        before = len(self._trail)
        self._note(self.ways, i, way)
        if all(self.is_cut(var, axis) for var, axis in wanted.items() if axis is not None):
            if way.result is None:
                self.partial.update(eqn.outvars)
            else:
                for var in eqn.outvars:
                    self._note(self.axes, var, way.result)
            return True
        self._take_back(before)
        return False

    def _note(self, where: dict[Any, Any], key: Any, value: Any) -> None:
        where[key] = value
        self._trail.append((where, key))

    def _take_back(self, before: int) -> None:
        while len(self._trail) > before:
            where, key = self._trail.pop()
            del where[key]

    def _divides(self, aval: Any, axis: int) -> bool:
        return len(aval.shape) > axis and aval.shape[axis] > 0 and aval.shape[axis] % self.n == 0

    def is_cut(self, var: Any, axis: int) -> bool:
        """Returns whether a value is cut along an axis, or can be; then what makes it is computed so."""
        if var in self.axes:
            return self.axes[var] == axis
        if var in self.partial or not isinstance(var.aval, ShapedArray) or not self._divides(var.aval, axis):
            return False
        i = self.producer.get(var)
        made_by = [] if i is None or i in self.ways else [i]
        if any(way.result == axis and self.fits(k, way) for k in made_by for way in self._ways(k)):
            return True
        if not self.can_take(var, axis):
            return False
        self._note(self.axes, var, axis)
        return True

    def _is_shared_loop(self, i: int) -> bool:
        """Returns whether a `scan` can be computed in parts, and if so notes how."""
        states = [self.state(atom) for atom in self.eqns[i].invars]
        if self._fits_loop(i, states):
            return True
        apart = [None if isinstance(v, Literal) or not self.is_apart(v) else self.state(v) for v in self.eqns[i].invars]
        return apart != states and self._fits_loop(i, apart)

    def _fits_loop(self, i: int, states: Sequence[State]) -> bool:
        """Returns whether a `scan` of operands in some states can be computed in parts, and if so notes how."""
        eqn = self.eqns[i]
        n_before, n_carry = sum(scan_counts(eqn)), scan_counts(eqn)[1]
        along = [state if state is None or k < n_before else state - 1 for k, state in enumerate(states)]
        if PARTIAL in states or PARTIAL in along:  # or cut along the axis of the turns
            return False
        loop = _through(eqn, self.n, along, [self.is_zero(atom) for atom in eqn.invars])
        if loop is None:
            return False
        before = len(self._trail)
        operands: list[int | None] = []
        for k, (atom, state) in enumerate(zip(eqn.invars, loop.states, strict=True)):
            axis = None if state is None or state == PARTIAL else state + (k >= n_before)
            is_literal = isinstance(atom, Literal)
            if axis is None:
                is_fine = is_literal or not self.is_apart(atom)
            else:
                is_fine = not is_literal and self.is_cut(atom, axis)
            if not is_fine:
                self._take_back(before)
                return False
            operands.append(axis)
        self.ways[i], self.loops[i] = Way(tuple(operands), None), loop
        for k, (var, state) in enumerate(zip(eqn.outvars, loop.results, strict=True)):
            if state == PARTIAL:
                self.partial.add(var)
            elif state is None:
                self.same.add(var)
            else:
                self.axes[var] = state + (k >= n_carry)
        return True

    def reads(self, i: int) -> Iterator[tuple[Any, bool]]:
        """Yields the variables that an equation reads that is computed in parts, and whether it reads pieces."""
        for atom, axis in zip(self.eqns[i].invars, self.ways[i].operands, strict=True):
            if not isinstance(atom, Literal):
                yield atom, axis is not None or atom in self.partial

    def equations(self, i: int, piece_of: Callable[[Any, Any], Any], pieces: dict[Any, Any]) -> list[Any]:
        """Returns an equation as a part computes it, and notes the pieces and terms that it makes.

        Args:
          i: The position of the equation.
          piece_of: Takes a variable and the equation that reads it to its piece or term.
          pieces: Where pieces and terms are noted, by variable.
        """
        eqn, way = self.eqns[i], self.ways[i]
        invars = []
        for atom, axis in zip(eqn.invars, way.operands, strict=True):
            is_whole = isinstance(atom, Literal) or (axis is None and atom not in self.partial)
            invars.append(atom if is_whole else piece_of(atom, eqn))
        if i in self.loops:
            return [self._loop(i, invars, pieces)]
        params = eqn.params
        made, outvars = [], []
        for var in eqn.outvars:
            shape, dtype = list(var.aval.shape), var.aval.dtype
            if way.result is not None:
                shape[way.result] //= self.n
                params = params_of_part(eqn, {way.result: shape[way.result]})
            elif eqn.primitive is lax.dot_general_p and dtype.itemsize < 4:
                dtype = np.dtype("float32")  # rounded once, when all is added up
                casts, invars, consts = traced(lambda *x: [a.astype(dtype) for a in x], invars, eqn)
                assert not consts
                made.extend(casts)  # XLA 0.10 has no kernel for some products of bfloat16 that are float32
                params = {**eqn.params, "preferred_element_type": dtype}
            elif eqn.primitive.name in (*_SUMS, *_SCALED, *_OF_SUMS):
                dtype = jnp.result_type(*(atom.aval.dtype for atom in invars))
            outvars.append(_array(shape, dtype, var))
        pieces.update(zip(eqn.outvars, outvars, strict=True))
        return [*made, eqn.replace(invars=invars, outvars=outvars, params=params)]

    def _loop(self, i: int, invars: Sequence[Any], pieces: dict[Any, Any]) -> Any:
        eqn, loop = self.eqns[i], self.loops[i]
        body = loop.body()
        n_carry = scan_counts(eqn)[1]
        outvars = []
        for k, (var, state, made) in enumerate(zip(eqn.outvars, loop.results, body.out_avals, strict=True)):
            shape = made.shape if k < n_carry else (eqn.params["length"], *made.shape)
            if isinstance(var, DropVar) or state is None:
                outvars.append(var)
            else:
                pieces[var] = _array(shape, made.dtype, var)
                outvars.append(pieces[var])
        return eqn.replace(invars=list(invars), outvars=outvars, params={**eqn.params, "jaxpr": body})


class Loop(Flow):
    """How a cut goes through the body of a `scan`.

    Attributes:
      states: What each input of the body is.
      results: What each output is.
    """

    scales_sums = True

    def __init__(self, body: Any, n: int, states: Sequence[State], begins_at_zero: Sequence[bool]):
        """Begins with some inputs of the body cut or partial.

        Args:
          body: The ClosedJaxpr, its calls inlined.
          n: How many parts.
          states: What each input is.
          begins_at_zero: Which inputs are sums that are zero before the first turn, if they are partial.
        """
        super().__init__(body.jaxpr, n)
        self._closed = body
        self._zero = {var for var, is_zero in zip(body.jaxpr.invars, begins_at_zero, strict=True) if is_zero}
        self.states = list(states)
        self.results: list[State] = []
        for var, state in zip(body.jaxpr.invars, states, strict=True):
            if state == PARTIAL:
                self.partial.add(var)
            elif state is not None:
                self.axes[var] = state

    def can_take(self, var: Any, axis: int) -> bool:
        del axis
        return var in self.jaxpr.invars

    def can_start_from_zero(self, var: Any) -> bool:
        if var in self._zero:
            self.partial.add(var)
            return True
        return self.is_zero(var)

    def follows(self) -> bool:
        """Returns whether parts can compute all equations, and notes how."""
        for i, eqn in enumerate(self.eqns):
            if i not in self.ways and any(map(self.is_apart, variables(eqn.invars))) and not self.is_shared(i):
                return False
        return True

    def stays(self, before: Any, after: Any) -> bool:
        """Returns whether what is carried from turn to turn is the same after as before, or can be, and notes it.

        Args:
          before: The input of the body.
          after: The output.
        """
        was, is_now = self.state(before), self.state(after)
        if was == is_now:
            return True
        if was is None and is_now == PARTIAL:
            return self.can_start_from_zero(before)
        if was is None and is_now is not None:
            self.axes[before] = is_now
            return True
        can_be_cut = is_now is None and not isinstance(after, Literal)
        return can_be_cut and was is not None and was != PARTIAL and self.is_cut(after, was)

    def body(self) -> Any:
        """Returns the body that a part computes, a ClosedJaxpr."""
        pieces: dict[Any, Any] = {}
        invars = []
        for var, state in zip(self.jaxpr.invars, self.states, strict=True):
            if state is None:
                invars.append(var)
                continue
            shape = list(var.aval.shape)
            if state != PARTIAL:
                shape[state] //= self.n
            pieces[var] = _array(shape, var.aval.dtype, var)
            invars.append(pieces[var])
        missing = {var for var, state in zip(self.jaxpr.invars, self.states, strict=True) if state is not None}
        eqns = []
        for i, eqn in enumerate(self.eqns):
            if i in self.ways:
                eqns.extend(self.equations(i, lambda var, _: pieces[var], pieces))
            if missing.isdisjoint(variables(eqn.invars)) and (i not in self.loops):
                eqns.append(eqn)  # whole; what nothing reads is dropped
            else:
                missing.update(var for var in eqn.outvars if var not in self.same)
        outvars = [
            atom if state is None else pieces[atom]
            for atom, state in zip(self.jaxpr.outvars, self.results, strict=True)
        ]
        read = set(variables(outvars))
        kept = []
        for eqn in reversed(eqns):
            if any(var in read for var in eqn.outvars):
                kept.append(eqn)
                read.update(variables(eqn.invars))
        jaxpr = make_jaxpr_object(invars, outvars, kept[::-1], self.jaxpr.constvars)
        return close_jaxpr(jaxpr, self._closed.consts)


def _through(scan: Any, n: int, states: Sequence[State], begins_at_zero: Sequence[bool]) -> Loop | None:
    """Returns how a cut goes through the body of a `scan`, or None if it does not.

    Args:
      scan: The equation.
      n: How many parts.
      states: What each operand is.
      begins_at_zero: Which operands are zero.
    """
    body = inline(scan.params["jaxpr"], also_custom=True)
    n_consts, n_carry = scan_counts(scan)
    zeros = [is_zero and n_consts <= k < n_consts + n_carry for k, is_zero in enumerate(begins_at_zero)]
    found = list(states)
    for _ in range(2 * len(found) + 1):  # each turn but the last makes an input that was whole something else
        loop = Loop(body, n, found, zeros)
        if not loop.follows():
            return None
        for k in range(n_carry):
            atom, var = body.jaxpr.outvars[k], body.jaxpr.invars[n_consts + k]
            if not loop.stays(var, atom):
                return None
        now = [loop.state(var) for var in body.jaxpr.invars]
        if now == found:
            break
        found = now
    else:
        return None
    loop.results = [loop.state(atom) for atom in body.jaxpr.outvars]
    for k, state in enumerate(loop.results[:n_carry]):
        if state == PARTIAL and body.jaxpr.outvars[k].aval.dtype.itemsize < 4:
            return None  # rounded in each turn
    return loop


def _array(shape: Sequence[int], dtype: Any, like: Any) -> Any:
    """Returns a new variable for a piece or a term of an array."""
    weak_type = like.aval.weak_type and dtype == like.aval.dtype
    return make_var(ShapedArray(tuple(shape), dtype, weak_type=weak_type))


def _can_add(eqn: Any) -> bool:
    """Returns whether terms of a sum may be added up later without rounding more than once."""
    dtype = eqn.outvars[0].aval.dtype
    return dtype.itemsize >= 4 or (eqn.primitive is lax.dot_general_p and jnp.issubdtype(dtype, jnp.floating))
