"""Delayed softmax normalization: unnormalized exponentials go into the products, and their results are divided.

Attention multiplies weights `e / z` (queries by keys) with values (keys by features), where `e` are exponentials, here
called *powers*, and `z` their row sums. A result has fewer elements than the weights, so it is cheaper to divide the
result, and the weights need not exist. In the gradient, the row sum of weights times their cotangents equals the row
sum of the attention's result times its cotangent. FlashAttention (Dao et al., 2022) does both.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax import lax

from jaxaot._jax import DropVar, Literal
from jaxaot._typing import Array, Atom, ClosedJaxpr, DTypeLike, Eqn
from jaxaot.backend.cpu.machine import machine
from jaxaot.ir.axes import ELEMENTWISE
from jaxaot.ir.build import Drafts, laid_out
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.sums import Place, moved_from, within
from jaxaot.ir.walk import Makers, is_rewritable, users, variables
from jaxaot.passes.cse import cse
from jaxaot.passes.dce import dce

MAX_FACTORS = 16
"""A product of more is not looked at: one of squares of squares has very many."""

_ALSO_OF_POWERS = {*ELEMENTWISE, "reduce_sum"}
"""Primitives that divide powers where they read weights."""


def divide_late(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with products of powers, divided by the sums of the powers, for products of quotients.

        e: f32[512,512] = exp (sub x …max of x…)              e = exp (sub x …max of x…)
        z: f32[512] = reduce_sum[axes=(1,)] e                 z = reduce_sum[axes=(1,)] e
        p: f32[512,512] = div e z                       →     r: f32[512,32] = dot_general e v
        o: f32[512,32] = dot_general p v                      o = div r z

    And of its gradient, `sum(dot_general(g, v) * e)` over keys is written as `sum(g * r)` over features, and
    `dot_general(g, v) / z` as `dot_general(g / z, v)`. The powers are at most 1, as the largest of their row is taken
    off before, so what is added up grows no larger than values times the length of a row.
    """
    drafts = Drafts()
    changed = _Scaled(_Quotients(closed, drafts).rebuild(), drafts).rebuild()
    return closed if changed is closed else cse(changed)


class _Weights(NamedTuple):
    """The weights of a softmax.

    Attributes:
      powers: What is divided.
      axis: The axis that is summed over.
      sums: What they are divided by.
      along: For each axis of the sums that of the powers, or None for one of one element.
    """

    powers: Any
    axis: int
    sums: Any
    along: Place

    def axes_at(self, labels: Sequence[Any], mine: Sequence[Any]) -> list[int | None]:
        """Returns for each label the axis of the sums, given the labels of the axes of the powers."""
        place = {mine[axis]: i for i, axis in enumerate(self.along) if axis is not None}
        return [place.get(label) for label in labels]


class _Product(NamedTuple):
    """A product of powers.

    Attributes:
      at: The position of its equation.
      values: What the powers are multiplied with.
      labels: The labels of the axes of `values`: axes of the powers are called by their positions.
      out: The labels of the axes of the result.
    """

    at: int
    values: Any
    labels: tuple[Any, ...]
    out: tuple[Any, ...]


class _Softmaxes:
    """A graph in which softmaxes are found, and some equations of which are replaced."""

    def __init__(self, closed: ClosedJaxpr, drafts: Drafts):
        self._closed, self._eqns = closed, closed.jaxpr.eqns
        self._makers, self._users = Makers(closed.jaxpr), users(closed.jaxpr.eqns)
        self._returned = set(variables(closed.jaxpr.outvars))
        self._new: dict[int, Callable[[], Any]] = {}  # by position what writes the equation anew and returns its result
        self._rewriter = Rewriter(closed, drafts)

    def rebuild(self) -> ClosedJaxpr:
        """Returns the graph."""
        if not self._new:
            return self._closed
        for i, eqn in enumerate(self._rewriter.equations()):
            if i in self._new:
                self._rewriter.replace(eqn.outvars[0], self._new[i]())
            else:
                self._rewriter.keep(eqn)
        return dce(self._rewriter.graph())

    def _divide(self, atom: Atom, weights: _Weights, along: Sequence[int | None]) -> Any:
        return self._rewriter.call(_quotient, atom, weights.sums, along=tuple(along))

    # reading

    def _core(self, atom: Atom, unless: float | None = None) -> tuple[Any, Place]:
        """Returns the value that an atom broadcasts, and for each of its axes that of the atom; None for a size-1 axis.

        Args:
          unless: Something else may be instead of this.
        """
        place = within(atom, tuple(range(atom.aval.ndim)))
        while True:
            bounded = self._makers.of(atom, lax.max_p)
            if bounded is not None and _is_least(bounded.invars[0]):
                atom = bounded.invars[1]
            elif unless is not None and (otherwise := self._otherwise(atom, unless)) is not None:
                atom = otherwise
            elif (source := moved_from(atom, place, self._makers)) is not None:
                atom, place = source
            else:
                return atom, place

    def _root(self, atom: Atom) -> tuple[Any, list[int]]:
        """Returns the value that an atom transposes, and for each of its axes that of the atom."""
        axes = list(range(atom.aval.ndim))
        while (eqn := self._makers.of(atom, lax.transpose_p)) is not None:
            axes = [axes[eqn.params["permutation"].index(axis)] for axis in range(len(axes))]
            (atom,) = eqn.invars
        return atom, axes

    def _is_largest(self, shift: Atom, scores: Atom, axis: int) -> bool:
        """Returns whether a value is the largest of scores along an axis, repeated along it."""
        largest, along = self._core(shift, unless=-np.inf)
        eqn = self._makers.of(largest, lax.reduce_max_p)
        if eqn is None or len(eqn.params["axes"]) != 1:
            return False
        (source,), (reduced,) = eqn.invars, eqn.params["axes"]
        (root, there), (same, here) = self._root(source), self._root(scores)
        place = dict(zip(there, here, strict=True)) if root is same else {}  # axes of the source → of scores
        expected = [place.get(other) for other in range(source.aval.ndim) if other != reduced]
        return place.get(reduced) == axis and all(
            one == other for one, other in zip(along, expected, strict=True) if one is not None
        )

    def _otherwise(self, atom: Atom, value: float) -> Any:
        """Returns `x` if an atom is `where(x == value, 0 or 1, x)`; None otherwise.

        This is how rows are written that may be masked whole.
        """
        choice = self._makers.of(atom, lax.select_n_p)
        if choice is None or len(choice.invars) != 3:
            return None
        which, otherwise, instead = choice.invars
        equal = self._makers.of(which, lax.eq_p)
        if equal is None or equal.invars[0] is not otherwise:
            return None
        number = self._core(instead)[0]
        number = self._makers.behind(number, ("convert_element_type",))
        numbers = (equal.invars[1], number)
        if not all(isinstance(one, Literal) and np.ndim(one.val) == 0 for one in numbers):
            return None
        return otherwise if numbers[0].val == value and number.val in (0, 1) else None

    def _softmax(self, sums: Atom) -> tuple[Any, int] | None:
        """Returns the powers that are summed up, and along which axis; None unless they are at most 1."""
        total = self._makers.of(sums, lax.reduce_sum_p)
        if total is None or not _is_precise(sums) or len(total.params["axes"]) != 1:
            return None
        (powers,), (axis,) = total.invars, total.params["axes"]
        exp = self._makers.of(powers, lax.exp_p)
        difference = None if exp is None else self._makers.of(exp.invars[0], lax.sub_p)
        if difference is None:
            return None
        scores, shift = difference.invars
        return (powers, int(axis)) if self._is_largest(shift, scores, axis) else None

    def _divisor(self, eqn: Eqn) -> _Weights | None:
        """Returns by which sums an equation divides, if these are those of a softmax of the shape of its result."""
        if eqn.primitive is not lax.div_p or not is_rewritable(eqn) or isinstance(eqn.outvars[0], DropVar):
            return None
        sums, along = self._core(eqn.invars[1], unless=0.0)
        found = self._softmax(sums)
        if found is None or not _is_all_but(along, found[1], eqn.outvars[0]):
            return None
        if found[0].aval.shape != eqn.outvars[0].aval.shape:
            return None
        return _Weights(*found, *self._core(eqn.invars[1]))


class _Quotients(_Softmaxes):
    """Products of weights become products of powers, and sums of rows in the gradient those of what is returned."""

    def __init__(self, closed: ClosedJaxpr, drafts: Drafts):
        super().__init__(closed, drafts)
        self._weights: dict[Any, _Weights] = {}
        self._products: dict[Any, list[_Product]] = {}  # by powers
        self._raw: dict[int, Any] = {}  # by position the result of a product of powers
        for eqn in self._eqns:
            weights = self._divisor(eqn)
            if weights is not None and eqn.invars[0] is weights.powers:
                self._plan_weights(eqn.outvars[0], weights)
        for i, eqn in enumerate(self._eqns):
            if self._weights and eqn.primitive is lax.reduce_sum_p and len(eqn.params["axes"]) == 1:
                self._plan_sum(i, eqn)

    def _plan_weights(self, quotient: Atom, weights: _Weights) -> None:
        """Plans the products of weights, if all of them can be products of powers."""
        if quotient in self._returned or quotient.aval.size < machine().min_quotients:
            return
        planned: dict[int, Callable[[], Any]] = {}
        products = []
        for i in self._users.get(quotient, ()):
            eqn = self._eqns[i]
            if eqn.primitive.name in _ALSO_OF_POWERS:
                continue
            found = self._plan_product(i, eqn, quotient, weights) if eqn.primitive is lax.dot_general_p else None
            if found is None:
                return
            planned[i] = found[0]
            products += found[1]
        if planned:
            self._new |= planned
            self._weights[quotient] = weights
            self._products.setdefault(weights.powers, []).extend(products)

    def _plan_product(self, i: int, eqn: Eqn, quotient: Atom, weights: _Weights) -> Any:
        """Returns a function that writes a product of weights, and the products of powers; None if it has to stay."""
        at = 0 if eqn.invars[0] is quotient else 1
        other, (result,) = eqn.invars[1 - at], eqn.outvars
        if other is quotient or not is_rewritable(eqn) or not _is_precise(result) or isinstance(result, DropVar):
            return None
        out = list(range(result.aval.ndim))
        sides = _labels(eqn, out)
        mine, others = sides[at], sides[1 - at]
        key = mine[weights.axis]
        rest = [label for label in mine if label != key]

        def operands(values: Atom) -> list[Any]:
            return [weights.powers, values] if at == 0 else [values, weights.powers]

        if key not in out and _can_take(rest, result, out, quotient):
            axis_of = {label: axis for axis, label in enumerate(mine)}

            def write() -> Any:
                self._raw[i] = self._rewriter.like(eqn, operands(other))
                return self._divide(self._raw[i], weights, weights.axes_at(out, mine))

            named = [tuple(axis_of.get(label, ("feature", label)) for label in labels) for labels in (others, out)]
            return write, [_Product(i, other, *named)]
        if key in out and _can_take(rest, other, others, quotient):
            along = weights.axes_at(others, mine)
            return (lambda: self._rewriter.like(eqn, operands(self._divide(other, weights, along)))), []
        return None

    def _plan_sum(self, i: int, eqn: Eqn) -> None:
        """Plans `sum(dot_general(g, v) * e * …)` over keys, if there is `dot_general(e, v)`."""
        (source,), key, (result,) = eqn.invars, int(eqn.params["axes"][0]), eqn.outvars
        factors = self._factors(source, key)
        if factors is None or not is_rewritable(eqn):
            return
        scales, powers, (dot, out), is_minus = factors
        rows = [axis for axis in range(source.aval.ndim) if axis != key]
        for product in self._products[powers]:
            found = _by_features(dot, out, product, key)
            if found is None or product.at > i:
                continue
            at, order, features = found
            cores = [self._core(atom) for atom, _ in scales]
            places = tuple(tuple(axes.index(axis) if axis in axes else None for axis in rows) for _, axes in cores)
            write = functools.partial(
                self._rewriter.call,
                _sum_over_features,
                order=order,
                features=features,
                places=places,
                divides=tuple(divides for _, divides in scales),
                is_minus=is_minus,
                dtype=result.aval.dtype,
            )
            operands = [dot.invars[at], *(core for core, _ in cores)]
            self._new[i] = lambda at=product.at: write(self._raw[at], *operands)
            return

    def _factors(
        self, source: Atom, key: int
    ) -> tuple[list[tuple[Any, bool]], Any, tuple[Any, list[int]], bool] | None:
        """Returns the factors of a value, or None if it is not known to be a product.

        Returns:
          What is the same for all keys, with whether it divides; powers; a matrix product, with the axes of the value
          that are the axes of its result; and whether the value is the negative of all this.
        """
        scales: list[tuple[Any, bool]] = []
        powers, dots = [], []
        pending, is_minus = [source], False
        while pending:
            if len(pending) + len(scales) + len(powers) + len(dots) > MAX_FACTORS:
                return None
            atom = pending.pop()
            if key not in self._core(atom)[1]:
                scales.append((atom, False))
                continue
            root, out = self._root(atom)
            dot, eqn = self._makers.of(root, lax.dot_general_p), self._makers.of(atom, lax.mul_p, lax.neg_p, lax.div_p)
            if atom in self._products:
                powers.append(atom)
            elif dot is not None:
                dots.append((dot, out))
            elif eqn is None:
                return None
            elif eqn.primitive is not lax.div_p:
                pending += eqn.invars
                is_minus ^= eqn.primitive is lax.neg_p
            elif key not in self._core(eqn.invars[1])[1]:
                scales.append((eqn.invars[1], True))
                pending.append(eqn.invars[0])
            else:
                return None
        return (scales, powers[0], dots[0], is_minus) if len(powers) == len(dots) == 1 else None


class _Scaled(_Softmaxes):
    """Products that are divided by the sums become products of what is divided by them."""

    def __init__(self, closed: ClosedJaxpr, drafts: Drafts):
        super().__init__(closed, drafts)
        for i, eqn in enumerate(self._eqns):
            weights = self._divisor(eqn)
            if weights is None or not _is_precise(eqn.invars[0]) or eqn.invars[0].aval.size < machine().min_quotients:
                continue
            product = eqn.invars[0]
            root, out = self._root(product)
            dot = self._makers.of(root, lax.dot_general_p)
            if dot is None or not self._is_read_once(product):
                continue
            rest = [axis for axis in range(len(out)) if axis != weights.axis]
            for at, labels in enumerate(_labels(dot, out)):
                if weights.axis not in labels and _can_take(rest, dot.invars[at], labels, product):
                    along = weights.axes_at(labels, range(len(out)))
                    order = [out.index(axis) for axis in range(len(out))]
                    self._new[i] = functools.partial(self._write, dot, at, along, weights, order)
                    break

    def _is_read_once(self, atom: Atom) -> bool:
        """Returns whether one equation only reads a value, and what it is transposed from."""
        while len(self._users[atom]) == 1 and atom not in self._returned:
            eqn = self._makers.of(atom, lax.transpose_p)
            if eqn is None:
                return True
            (atom,) = eqn.invars
        return False

    def _write(self, dot: Eqn, at: int, along: Sequence[int | None], weights: _Weights, order: Sequence[int]) -> Any:
        operands = list(dot.invars)
        operands[at] = self._divide(operands[at], weights, along)
        return self._rewriter.call(lax.transpose, self._rewriter.like(dot, operands), permutation=tuple(order))


# what is written


def _quotient(x: Array, sums: Array, along: Sequence[int | None]) -> Any:
    return x / laid_out(sums, along)


def _sum_over_features(
    raw: Array,
    given: Array,
    *factors: Array,
    order: tuple[Sequence[int], Sequence[int]],
    features: Sequence[int],
    places: Sequence[Sequence[int | None]],
    divides: Sequence[bool],
    is_minus: bool,
    dtype: DTypeLike | None,
) -> Any:
    """Returns the sum of what is given times the product of powers, times factors or divided by them.

    Args:
      *factors: What is the same for all keys.
      order: How `raw` is transposed to lie like `given`, and how the sum is then.
      features: The axes that are summed over.
      places: For each factor, where its axes lie in the sum.
      divides: Which factors divide.
      is_minus: Whether the result is the negative of this.
    """
    total = (given * lax.transpose(raw, order[0])).sum(features)
    total += (0 * given).sum(features)  # of what is infinite, times keys of both signs, NaN is left
    total = lax.transpose(total, order[1])
    for factor, place, is_divisor in zip(factors, places, divides, strict=True):
        factor = laid_out(factor, place)
        total = total / factor if is_divisor else total * factor
    return (-total if is_minus else total).astype(dtype)


def _is_least(atom: Atom) -> bool:
    return isinstance(atom, Literal) and np.ndim(atom.val) == 0 and bool(np.asarray(atom.val) == -np.inf)


def _is_precise(atom: Atom) -> bool:
    return atom.aval.dtype in (np.float32, np.float64)


def _is_all_but(along: Sequence[int | None], axis: int, like: Atom) -> bool:
    """Returns whether axes are those of an atom but one, in order, not counting those of one element."""
    long = [other for other, size in enumerate(like.aval.shape) if size > 1 and other != axis]
    return [other for other in along if other is not None] == long


def _can_take(rest: Sequence[Any], atom: Atom, labels: Sequence[Any], weights: Atom) -> bool:
    """Returns whether what has some axes can be divided by, and whether that is less work than dividing weights."""
    return all(label in labels for label in rest) and machine().min_quotient_ratio * atom.aval.size <= weights.aval.size


def _labels(dot: Eqn, out: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Returns labels of the axes of both operands of a product, given those of its result."""
    (contract_left, contract_right), (batch_left, batch_right) = dot.params["dimension_numbers"]
    left: dict[int, Any] = {axis: ("summed", j) for j, axis in enumerate(contract_left)}
    right: dict[int, Any] = {axis: ("summed", j) for j, axis in enumerate(contract_right)}
    remaining = iter(out)
    for on_left, on_right in zip(batch_left, batch_right, strict=True):
        left[on_left] = right[on_right] = next(remaining)
    for side, atom in ((left, dot.invars[0]), (right, dot.invars[1])):
        for axis in range(atom.aval.ndim):
            if axis not in side:
                side[axis] = next(remaining)
    return tuple([side[axis] for axis in range(len(side))] for side in (left, right))  # type: ignore[return-value]


def _by_features(
    dot: Eqn, out: Sequence[int], product: _Product, key: int
) -> tuple[int, tuple[tuple[int, ...], tuple[int, ...]], tuple[int, ...]] | None:
    """Returns how the sum over keys of a product times powers is a sum over features.

    Args:
      dot: The product of what is given, and of values.
      out: The axes of powers that the axes of its result are.
      product: The product of the powers and these values.

    Returns:
      Which operand of `dot` is given; how the result of `product` is transposed to lie like it, and how the sum is then
      transposed to lie like the powers without keys; and the axes of features. None if it is no such sum.
    """
    sides = _labels(dot, out)
    at = 0 if key in sides[1] else 1
    if dot.invars[1 - at] is not product.values or key in sides[at]:
        return None
    called: dict[Any, Any] = {}
    for here, there in zip(sides[1 - at], product.labels, strict=True):
        if isinstance(here, int) != isinstance(there, int) or (isinstance(here, int) and here != there):
            return None
        called[here] = there
    given = [called.get(label, label) for label in sides[at]]
    if sorted(map(str, given)) != sorted(map(str, product.out)):
        return None
    features = tuple(axis for axis, label in enumerate(given) if not isinstance(label, int))
    rows = [label for label in given if isinstance(label, int)]
    order = tuple(product.out.index(label) for label in given), tuple(rows.index(label) for label in sorted(rows))
    return at, order, features
