"""Sums that autodiff writes though they are zero, such as the gradient of a softmax by its shift.

`exp(x - max(x))` over its sum is the same whatever is subtracted, so the derivative by the maximum is zero. The rule of
a maximum computes it all the same, divides it among the elements that are as large, and adds it to the gradient: three
passes over memory that `jax.nn.softmax` saves by `stop_gradient`. The same goes for the mean in a variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax import lax

from jaxaot._jax import DropVar, Literal
from jaxaot._typing import Atom, ClosedJaxpr, Eqn, Primitive, Var
from jaxaot.ir.build import laid_out
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.sums import Place, Rows, Witness, moved_from, within
from jaxaot.ir.walk import Makers, is_rewritable, is_transposed
from jaxaot.passes.dce import dce

_EXTREMES = (lax.reduce_max_p, lax.reduce_min_p)


def drop_zero_sums(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph without the sums of backward passes that are zero whatever the inputs are.

        m: f32[8,1] = …max of x: f32[8,100]…            t: f32[8,1] = …made of sums over rows…
        t: f32[8,1] = …made of sums over rows…          w: f32[8,100] = …made with t…
        w: f32[8,100] = …made with t…                   n: f32[8,1] = mul t 0.0
        s: f32[8,1] = …sum of neg w…              →     y: f32[8,100] = add_any w n
        p: f32[8,100] = convert_element_type (eq x m)
        d: f32[8,1] = div s …sum of p…
        y: f32[8,100] = add_any w (mul d p)

    Zero are sums that are so as polynomials (`ir/sums.py`). What tells where a row holds an infinity or a NaN, here t,
    takes their place, so that the row still becomes NaN.
    """
    graph, rewriter = _Graph(closed), Rewriter(closed)
    for eqn in rewriter.equations():
        zero = graph.zero(eqn)
        if zero is None:
            rewriter.keep(eqn)
        else:
            rewriter.instead(eqn, zero.value, *zero.atoms, shape=zero.shape, told=zero.told)
    return dce(rewriter.graph()) if rewriter.has_replaced else closed


class _Zero(NamedTuple):
    """A result that is zero, or NaN all along a row.

    Attributes:
      atoms: What `value` takes: the values that tell whether it is NaN, behind others.
      value: A function that returns the result, given its shape and how it is told too.
      shape: The shape of the result.
      told: How it is told.
    """

    atoms: list[Any]
    value: Callable[..., Any]
    shape: tuple[int, ...]
    told: _Told


class _Told(NamedTuple):
    """How it is told which rows are NaN.

    Attributes:
      shape: The shape of an array with an element for each row: axes that are summed have one.
      dtype: The dtype of the result.
      places: For each value that tells it, where its axes lie.
      are_divisors: Which of these are so by what is divided by them.
    """

    shape: tuple[int, ...]
    dtype: Any
    places: tuple[Place, ...]
    are_divisors: tuple[bool, ...]


class _Graph:
    """A graph in which results are sought that are zero."""

    def __init__(self, closed: ClosedJaxpr):
        self._makers = Makers(closed.jaxpr)
        self._rows: dict[Any, Rows] = {}

    def zero(self, eqn: Eqn) -> _Zero | None:
        """Returns the zero that an equation's result equals, or None if it is not known to be zero."""
        if eqn.primitive not in (lax.reduce_sum_p, lax.mul_p) or not is_rewritable(eqn):
            return None
        (target,) = eqn.outvars
        if isinstance(target, DropVar) or target.aval.dtype not in (np.float32, np.float64):
            return None
        if eqn.primitive is lax.reduce_sum_p:
            return self._zero_sum(eqn) if is_transposed(eqn) else None
        return self._zero_share(target, *eqn.invars) or self._zero_share(target, *eqn.invars[::-1])

    def _zero_sum(self, eqn: Eqn) -> _Zero | None:
        """Returns the zero that a sum equals, if other values tell where it is NaN."""
        (operand,), (target,) = eqn.invars, eqn.outvars
        rows = self._along(operand, eqn.params["axes"])
        if not rows.axes or not rows.is_zero(target, rows.kept()):
            return None
        witnesses = rows.witnesses(target, rows.kept())
        if any(witness.var is target for witness in witnesses):
            return None
        told = _how_told(rows, witnesses)
        return _Zero([witness.var for witness in witnesses], _zero_of_rows, target.aval.shape, told)

    def _zero_share(self, target: Var, share: Any, mask: Any) -> _Zero | None:
        """Returns the gradient by a maximum or minimum, divided among the elements that are as large, if it is zero.

        Args:
          target: The product of `share` and `mask`.
          share: Perhaps the gradient over the number of such elements.
          mask: Perhaps 1 where they are.
        """
        shared = self._shared_out(mask)
        if shared is not None:
            return self._zero_product(target, share, *shared)
        extreme = self._extreme_of(mask)
        if extreme is None or mask.aval.shape != target.aval.shape:
            return None
        rows = self._along(mask, extreme.params["axes"])
        division, place = self._source(share, within(share, rows.whole()), lax.div_p)
        if division is None or not rows.axes or rows.varies(place):
            return None
        gradient, count = division.invars
        total, _ = self._source(count, within(count, place), lax.reduce_sum_p)
        if total is None or total.params["axes"] != extreme.params["axes"]:
            return None
        place = within(gradient, place)
        if total.invars[0] is not mask or not rows.is_zero(gradient, place):
            return None
        witnesses = rows.witnesses(gradient, place)
        atoms = [extreme.outvars[0], *(witness.var for witness in witnesses)]
        return _Zero(atoms, _zero_unless_extreme_is_nan, target.aval.shape, _how_told(rows, witnesses))

    def _zero_product(self, target: Var, gradient: Any, mask: Any, extreme: Eqn) -> _Zero | None:
        """Returns the product of a gradient and what elements have of it, if the gradient is zero."""
        rows = self._along(mask, extreme.params["axes"])
        place = within(gradient, rows.whole())
        while (source := moved_from(gradient, place, self._makers)) is not None:
            gradient, place = source
        if not rows.axes or rows.varies(place) or not rows.is_zero(gradient, place):
            return None
        witnesses = rows.witnesses(gradient, place)
        atoms = [extreme.outvars[0], *(witness.var for witness in witnesses)]
        return _Zero(atoms, _zero_unless_extreme_is_nan, target.aval.shape, _how_told(rows, witnesses))

    def _shared_out(self, value: Any) -> tuple[Any, Eqn] | None:
        """Returns the mask and the extreme if a value is a mask over how many it holds, NaN where the extreme is."""
        select = self._makers.of(value, lax.select_n_p)
        if select is None or len(select.invars) != 3:
            return None
        which, other, nan = select.invars
        division = self._makers.of(other, lax.div_p)
        extreme = None if division is None else self._extreme_of(division.invars[0])
        number = self._makers.behind(nan, ("broadcast_in_dim", "convert_element_type"))
        if division is None or extreme is None or not isinstance(number, Literal) or not np.isnan(number.val):
            return None
        mask, whole = division.invars[0], tuple(range(value.aval.ndim))
        total, place = self._source(division.invars[1], within(division.invars[1], whole), lax.reduce_sum_p)
        if total is None or total.params["axes"] != extreme.params["axes"] or total.invars[0] is not mask:
            return None
        test, at = self._source(which, within(which, whole), lax.ne_p)
        if test is None or test.invars[0] is not test.invars[1]:
            return None
        found, at = self._source(test.invars[0], within(test.invars[0], at), extreme.primitive)
        return (mask, extreme) if found is extreme and at == place else None

    def _extreme_of(self, mask: Any) -> Any:
        """Returns the maximum or minimum if a value is 1 where an array is equal to its own, and 0 elsewhere."""
        convert = self._makers.of(mask, lax.convert_element_type_p)
        equal = None if convert is None else self._makers.of(convert.invars[0], lax.eq_p)
        without_stops = lambda atom: self._makers.behind(atom, ("stop_gradient",))  # gradients have been computed
        for array, other in () if equal is None else (equal.invars, equal.invars[::-1]):
            if array.aval.shape != mask.aval.shape:  # a number that an array is compared with
                continue
            whole = tuple(range(array.aval.ndim))
            extreme, place = self._source(other, within(other, whole), *_EXTREMES)
            if extreme is None or without_stops(extreme.invars[0]) is not without_stops(array):
                continue
            kept = tuple(axis for axis in whole if axis not in extreme.params["axes"])
            if within(extreme.outvars[0], kept) == place:
                return extreme
        return None

    def _source(self, atom: Atom, place: Place, *primitives: Primitive) -> tuple[Any, Place]:
        """Returns the equation, of one of some primitives, that makes what an atom is but for its shape; None if none.

        And where the axes of its result lie, if those of the atom lie at `place`.
        """
        while (source := moved_from(atom, place, self._makers)) is not None:
            atom, place = source
        return self._makers.of(atom, *primitives), place

    def _along(self, whole: Any, axes: Sequence[int]) -> Rows:
        key = whole.aval.shape, tuple(axes), whole.aval.dtype
        if key not in self._rows:
            self._rows[key] = Rows(self._makers, *key)
        return self._rows[key]


def _how_told(rows: Rows, witnesses: Sequence[Witness]) -> _Told:
    shape = tuple(1 if axis in rows.summed else size for axis, size in enumerate(rows.shape))
    return _Told(shape, rows.dtype, tuple(w.place for w in witnesses), tuple(w.is_divisor for w in witnesses))


def _zero_of_rows(*values: object, shape: tuple[int, ...], told: _Told) -> Any:
    """Returns zero for each row, NaN where a value tells so."""
    return lax.reshape(_zeros(values, told), shape)


def _zero_unless_extreme_is_nan(largest: Any, *values: object, shape: tuple[int, ...], told: _Told) -> Any:
    """Returns zeros for each row; NaN where a value tells so, and where the largest or smallest element is NaN.

    That is equal to no element, and the gradient is divided by zero.
    """
    found = _zeros(values, told)
    is_nan = lax.reshape(lax.ne(largest, largest), found.shape)
    found = lax.select(is_nan, lax.full_like(found, math.nan), found)
    return lax.broadcast_in_dim(found, shape, tuple(range(found.ndim)))


def _zeros(values: Sequence[Any], told: _Told) -> Any:
    """Returns zero for each row, with axes of one element for those that are summed; NaN where a value tells so."""
    total = lax.full(told.shape, 0, told.dtype)
    for place, is_divisor, value in zip(told.places, told.are_divisors, values, strict=True):
        zero = lax.full_like(value, 0)
        zero = lax.div(zero, value) if is_divisor else lax.mul(value, zero)
        zero = laid_out(zero, [place.index(axis) if axis in place else None for axis in range(len(told.shape))])
        total = lax.add(total, lax.broadcast_in_dim(zero, told.shape, tuple(range(len(told.shape)))))
    return total
