"""What each of several parts of a batch computes by itself: how a cut goes through the equations of a graph.

A value is *cut* along an axis: each part has its own piece. Or it is *partial*: each part has a term of a sum. Or it is
*whole*: each part has all of it. `axes.py` knows the splits of one equation; here they are followed through many,
and through the bodies of `scan` and `jax.checkpoint`. A whole value that has to be cut is made so from the beginning,
where that is possible, by the equations that make it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._jax import DropVar, Literal, ShapedArray, close_jaxpr, make_jaxpr_object, make_var, scan_counts
from jaxaot._typing import Atom, Aval, DTypeLike, Eqn, Jaxpr, Var
from jaxaot.ir.axes import AxisSplit, params_of_part, splits_together
from jaxaot.ir.build import traced
from jaxaot.ir.rewrite import CHECKPOINTS, inline
from jaxaot.ir.walk import Makers, variables

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
      splits: Position of an equation that is computed in parts → the split.
      bodies: The same for a loop or a `jax.checkpoint` → how the cut goes through its body.
      scales_sums: Whether terms are scaled in each part, and not what they add up to.
    """

    scales_sums = False

    def __init__(self, jaxpr: Jaxpr, n: int):
        """Begins with a graph of which all is whole.

        Args:
          jaxpr: The open jaxpr.
          n: How many parts.
        """
        self.jaxpr, self.eqns, self.n = jaxpr, jaxpr.eqns, n
        self.makers = Makers(jaxpr)
        self.producer = self.makers.position
        self.axes: dict[Any, int] = {}
        self.partial: set[Any] = set()
        self.same: set[Any] = set()
        self.splits: dict[int, AxisSplit] = {}
        self.bodies: dict[int, Body] = {}
        self._trail: list[tuple[dict[Any, Any], Any]] = []  # what was noted, so that it can be taken back

    def is_worth_parts(self, var: Atom) -> bool:
        """Returns whether a value is too costly to compute all of it in each part."""
        del var
        return True

    def can_take(self, var: Atom, axis: int) -> bool:
        """Returns whether each part can take its piece of a whole value."""
        del var, axis
        return False

    def can_start_from_zero(self, var: Var) -> bool:
        """Returns whether a whole value may be a term of a sum as it is, as it is zero, or a sum that begins there."""
        return self.is_zero(var)

    def is_apart(self, var: Var) -> bool:
        """Returns whether a part has no more than its piece of a value, or its term."""
        return (var in self.axes or var in self.partial) and self.is_worth_parts(var)

    def state(self, atom: Atom) -> State:
        """Returns the axis along which a value is cut, or whether it is partial or whole."""
        if isinstance(atom, Literal):
            return None
        return PARTIAL if atom in self.partial else self.axes.get(atom)

    def is_shared(self, i: int) -> bool:
        """Returns whether an equation can be computed from pieces and terms of its operands, and if so notes how."""
        eqn = self.eqns[i]
        if called(eqn) is not None:
            return self._is_shared_body(i)
        if eqn.primitive is lax.optimization_barrier_p:
            return self._is_shared_barrier(i)
        if any(var in self.partial for var in variables(eqn.invars)):
            return self._is_shared_sum(i)
        return any(self.fits(i, split) for split in self._splits(i))

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
        elif name == "convert_element_type":
            dtypes = eqn.invars[0].aval.dtype, eqn.outvars[0].aval.dtype
            if not self.scales_sums or not all(jnp.issubdtype(dtype, jnp.floating) for dtype in dtypes):
                return False
        elif name not in _OF_SUMS or len(eqn.invars) > 1:
            return False
        self.splits[i] = AxisSplit((None,) * len(eqn.invars), None, lax.add_p)
        self.partial.update(eqn.outvars)
        return True

    def _is_term(self, atom: Atom) -> bool:
        if isinstance(atom, Literal) or atom in self.axes:
            return False
        return atom in self.partial or self.can_start_from_zero(atom)

    def _splits(self, i: int) -> list[AxisSplit]:
        eqn = self.eqns[i]
        found = splits_together(eqn)
        if eqn.primitive.name == "scatter-add" and self.is_zero(eqn.invars[0]):
            numbers = eqn.params["dimension_numbers"]
            others = [axis for axis in range(eqn.invars[2].aval.ndim) if axis not in numbers.update_window_dims]
            found = [*found, *(AxisSplit((None, axis, o), None, lax.add_p) for axis, o in enumerate(others))]
        return found

    def is_zero(self, atom: Atom) -> bool:
        """Returns whether a value is written as zeros."""
        number = self.makers.behind(atom, ("broadcast_in_dim",))
        return isinstance(number, Literal) and not np.any(number.val)

    def fits(self, i: int, split: AxisSplit) -> bool:
        """Returns whether an equation can be computed by a split, and if so notes it, and what it asks of operands."""
        eqn = self.eqns[i]
        if split.result is None:
            if split.combine is not lax.add_p or not _can_add(eqn) or not self.is_worth_parts(eqn.outvars[0]):
                return False
        elif not all(self._divides(var.aval, split.result) for var in eqn.outvars):
            return False
        wanted: dict[Any, int | None] = {}
        for atom, axis in zip(eqn.invars, split.operands, strict=True):
            if isinstance(atom, Literal):
                if axis is not None:
                    return False
            elif wanted.setdefault(atom, axis) != axis or (axis is None and self.is_apart(atom)):
                return False
        before = len(self._trail)
        self._note(self.splits, i, split)
        if all(self.is_cut(var, axis) for var, axis in wanted.items() if axis is not None):
            if split.result is None:
                self.partial.update(eqn.outvars)
            else:
                for var in eqn.outvars:
                    self._note(self.axes, var, split.result)
            return True
        self._take_back(before)
        return False

    def _note(self, where: dict[Any, Any], key: Any, value: object) -> None:
        where[key] = value
        self._trail.append((where, key))

    def _take_back(self, before: int) -> None:
        while len(self._trail) > before:
            where, key = self._trail.pop()
            del where[key]

    def _divides(self, aval: Aval, axis: int) -> bool:
        return len(aval.shape) > axis and aval.shape[axis] > 0 and aval.shape[axis] % self.n == 0

    def is_cut(self, var: Atom, axis: int) -> bool:
        """Returns whether a value is cut along an axis, or can be; then what makes it is computed so."""
        if var in self.axes:
            return self.axes[var] == axis
        if var in self.partial or not isinstance(var.aval, ShapedArray) or not self._divides(var.aval, axis):
            return False
        i = self.producer.get(var)
        made_by = [] if i is None or i in self.splits else [i]
        if any(split.result == axis and self.fits(k, split) for k in made_by for split in self._splits(k)):
            return True
        if not self.can_take(var, axis):
            return False
        self._note(self.axes, var, axis)
        return True

    def _is_shared_barrier(self, i: int) -> bool:
        """Notes that values which pass a barrier are what they were before it; returns true."""
        eqn = self.eqns[i]
        states = [
            self.state(atom) if not isinstance(atom, Literal) and self.is_apart(atom) else None for atom in eqn.invars
        ]
        self.splits[i] = AxisSplit(tuple(None if state == PARTIAL else state for state in states), None)
        self._note_results(i, states)
        return True

    def _note_results(self, i: int, states: Sequence[State]) -> None:
        for var, state in zip(self.eqns[i].outvars, states, strict=True):
            if state == PARTIAL:
                self.partial.add(var)
            elif state is None:
                self.same.add(var)
            else:
                self.axes[var] = state

    def _is_shared_body(self, i: int) -> bool:
        """Returns whether an equation with a body can be computed in parts, and if so notes how."""
        states = [self.state(atom) for atom in self.eqns[i].invars]
        if self._fits_body(i, states):
            return True
        apart = [None if isinstance(v, Literal) or not self.is_apart(v) else self.state(v) for v in self.eqns[i].invars]
        return apart != states and self._fits_body(i, apart)

    def _fits_body(self, i: int, states: Sequence[State]) -> bool:
        """Returns whether a body can be computed in parts of operands in some states, and if so notes how."""
        eqn, call = self.eqns[i], called(self.eqns[i])
        assert call is not None
        inside = [state if state is None or k < call.n_before else state - 1 for k, state in enumerate(states)]
        if PARTIAL in states or PARTIAL in inside:  # or cut along the axis of the iterations
            return False
        body = _through(call, self.n, inside, [self.is_zero(atom) for atom in eqn.invars])
        if body is None:
            return False
        before = len(self._trail)
        operands: list[int | None] = []
        for k, (atom, state) in enumerate(zip(eqn.invars, body.states, strict=True)):
            axis = None if state is None or state == PARTIAL else state + (k >= call.n_before)
            is_literal = isinstance(atom, Literal)
            if axis is None:
                is_fine = is_literal or not self.is_apart(atom)
            else:
                is_fine = not is_literal and self.is_cut(atom, axis)
            if not is_fine:
                self._take_back(before)
                return False
            operands.append(axis)
        self.splits[i], self.bodies[i] = AxisSplit(tuple(operands), None), body
        is_stacked = [k >= call.n_after for k in range(len(eqn.outvars))]
        outside = zip(body.results, is_stacked, strict=True)
        self._note_results(i, [s if s is None or s == PARTIAL else s + stacked for s, stacked in outside])
        return True

    def reads(self, i: int) -> Iterator[tuple[Any, bool]]:
        """Yields the variables that an equation reads that is computed in parts, and whether it reads pieces."""
        for atom, axis in zip(self.eqns[i].invars, self.splits[i].operands, strict=True):
            if not isinstance(atom, Literal):
                yield atom, axis is not None or atom in self.partial

    def equations(self, i: int, piece_of: Callable[[Any, Any], Any], pieces: dict[Any, Any]) -> list[Any]:
        """Returns an equation as a part computes it, and notes the pieces and terms that it makes.

        Args:
          i: The position of the equation.
          piece_of: Takes a variable and the equation that reads it to its piece or term.
          pieces: Where pieces and terms are noted, by variable.
        """
        eqn, split = self.eqns[i], self.splits[i]
        invars = []
        for atom, axis in zip(eqn.invars, split.operands, strict=True):
            is_whole = isinstance(atom, Literal) or (axis is None and atom not in self.partial)
            invars.append(atom if is_whole else piece_of(atom, eqn))
        if i in self.bodies:
            return [self._of_body(i, invars, pieces)]
        if eqn.primitive is lax.optimization_barrier_p:
            avals = [atom.aval for atom in invars]
            return [eqn.replace(invars=invars, outvars=self._results(i, avals, pieces))]
        params = eqn.params
        if eqn.primitive is lax.convert_element_type_p and split.result is None and params["new_dtype"].itemsize < 4:
            pieces[eqn.outvars[0]] = invars[0]  # rounded once, when all is added up
            return []
        made: list[Any] = []
        outvars: list[Any] = []
        for var in eqn.outvars:
            shape, dtype = list(var.aval.shape), var.aval.dtype
            if split.result is not None:
                shape[split.result] //= self.n
                params = params_of_part(eqn, {split.result: shape[split.result]})
            elif eqn.primitive is lax.dot_general_p and dtype.itemsize < 4:
                dtype = np.dtype("float32")  # rounded once too
                invars = _cast(invars, dtype, eqn, made)  # XLA has no kernel for some products of bfloat16 otherwise
                params = {**eqn.params, "preferred_element_type": dtype}
            elif eqn.primitive.name in (*_SUMS, *_SCALED, *_OF_SUMS):
                dtype = jnp.result_type(*(atom.aval.dtype for atom in invars))
                invars = _cast(invars, dtype, eqn, made)
            outvars.append(_array(shape, dtype, var))
        pieces.update(zip(eqn.outvars, outvars, strict=True))
        return [*made, eqn.replace(invars=invars, outvars=outvars, params=params)]

    def _of_body(self, i: int, invars: Sequence[Var], pieces: dict[Any, Any]) -> Any:
        eqn, call, body = self.eqns[i], called(self.eqns[i]), self.bodies[i].closed()
        assert call is not None
        avals = [
            ShapedArray(((eqn.params["length"],) if k >= call.n_after else ()) + aval.shape, aval.dtype)
            for k, aval in enumerate(body.out_avals)
        ]
        params = {**eqn.params, "jaxpr": body if call.is_closed else body.jaxpr}
        return eqn.replace(invars=list(invars), outvars=self._results(i, avals, pieces), params=params)

    def _results(self, i: int, avals: Sequence[Aval], pieces: dict[Any, Any]) -> list[Any]:
        """Returns variables for pieces and terms of some types, and notes them; what is whole stays as it is."""
        outvars = []
        for var, aval in zip(self.eqns[i].outvars, avals, strict=True):
            if isinstance(var, DropVar) or var in self.same:
                outvars.append(var)
            else:
                pieces[var] = _array(aval.shape, aval.dtype, var)
                outvars.append(pieces[var])
        return outvars


class Call(NamedTuple):
    """An equation with a body that is computed in parts if its body is.

    Attributes:
      body: The ClosedJaxpr, its calls inlined.
      n_consts: How many operands come before those that are carried from iteration to iteration.
      n_carry: How many are carried.
      n_before: How many operands the body sees as they are; of the others it sees a row in each iteration.
      n_after: How many results are those of the body as they are; the others have a row of each iteration.
      is_closed: Whether the parameter of the equation is a ClosedJaxpr.
    """

    body: Any
    n_consts: int
    n_carry: int
    n_before: int
    n_after: int
    is_closed: bool


def called(eqn: Eqn) -> Call | None:
    """Returns the body of a loop or a `jax.checkpoint`, or None if an equation is another."""
    name = eqn.primitive.name
    if name == "scan":
        n_consts, n_carry = scan_counts(eqn)
        body = inline(eqn.params["jaxpr"], also_custom=True)
        return Call(body, n_consts, n_carry, n_consts + n_carry, n_carry, True)
    if name in CHECKPOINTS:
        body = inline(close_jaxpr(eqn.params["jaxpr"]), also_custom=True)
        if not body.consts:
            return Call(body, 0, 0, len(eqn.invars), len(eqn.outvars), False)
    return None


class Body(Flow):
    """How a cut goes through the body of a loop or a `jax.checkpoint`.

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
          begins_at_zero: Which inputs are sums that are zero before the first iteration, if they are partial.
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

    def can_take(self, var: Atom, axis: int) -> bool:
        del axis
        return var in self.jaxpr.invars

    def can_start_from_zero(self, var: Var) -> bool:
        if var in self._zero:
            self.partial.add(var)
            return True
        return self.is_zero(var)

    def follows(self) -> bool:
        """Returns whether parts can compute all equations, and notes how."""
        for i, eqn in enumerate(self.eqns):
            if i not in self.splits and any(map(self.is_apart, variables(eqn.invars))) and not self.is_shared(i):
                return False
        return True

    def stays(self, before: Any, after: Any) -> bool:
        """Returns whether what is carried from iteration to iteration is the same after as before, or can be, and notes
        it.

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

    def closed(self) -> Any:
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
            if i in self.splits:
                eqns.extend(self.equations(i, lambda var, _: pieces[var], pieces))
            if missing.isdisjoint(variables(eqn.invars)) and (i not in self.bodies):
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


def _through(call: Call, n: int, states: Sequence[State], begins_at_zero: Sequence[bool]) -> Body | None:
    """Returns how a cut goes through a body, or None if it does not.

    Args:
      n: How many parts.
      states: What each of its inputs is.
      begins_at_zero: Which inputs are zero at first.
    """
    inputs, outputs = call.body.jaxpr.invars, call.body.jaxpr.outvars
    carried = range(call.n_consts, call.n_consts + call.n_carry)
    zeros = [is_zero and k in carried for k, is_zero in enumerate(begins_at_zero)]
    found = list(states)
    for _ in range(2 * len(found) + 1):  # each iteration but the last makes an input that was whole something else
        body = Body(call.body, n, found, zeros)
        if not body.follows() or not all(map(body.stays, inputs[carried.start : carried.stop], outputs)):
            return None
        now = [body.state(var) for var in inputs]
        if now == found:
            body.results = [body.state(atom) for atom in outputs]
            terms = (
                atom for atom, state in zip(outputs[: call.n_carry], body.results, strict=False) if state == PARTIAL
            )
            return None if any(atom.aval.dtype.itemsize < 4 for atom in terms) else body  # rounded in each iteration
        found = now
    return None


def _cast(atoms: Sequence[Atom], dtype: DTypeLike | None, eqn: Eqn, made: list[Any]) -> list[Any]:
    """Returns atoms of a dtype, and adds the equations that make them."""
    if all(atom.aval.dtype == dtype for atom in atoms):
        return list(atoms)
    casts, results, _ = traced(lambda *values: [jnp.asarray(x, dtype) for x in values], atoms, eqn)
    made.extend(casts)
    return results


def _array(shape: Sequence[int], dtype: DTypeLike | None, like: Atom) -> Var:
    """Returns a new variable for a piece or a term of an array."""
    weak_type = like.aval.weak_type and dtype == like.aval.dtype
    return make_var(ShapedArray(tuple(shape), dtype, weak_type=weak_type))


def _can_add(eqn: Eqn) -> bool:
    """Returns whether terms of a sum may be added up later without rounding more than once."""
    dtype = eqn.outvars[0].aval.dtype
    return dtype.itemsize >= 4 or (eqn.primitive is lax.dot_general_p and jnp.issubdtype(dtype, jnp.floating))
