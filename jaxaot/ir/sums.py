"""Sums along axes that are zero whatever the inputs of a graph are.

Elements that are summed are a *row*. A value is written as a polynomial: a sum of products, with coefficients, of
*factors*, which are values that nothing is known of, and sums along rows of products of those. Factors that are the
same all along a row stand before its sum, so that of a softmax `e / s` with `s = Σe` and any weights `w`

    Σ(e w / s - e Σ(e w) / s²) = Σ(e w) / s - s Σ(e w) / s² = 0

A sum that is zero so is still NaN where its row holds an infinity or a NaN. *Witnesses* are values, one for each row,
of which some tells that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax import lax

from jaxaot._jax import Literal
from jaxaot._typing import Atom, DTypeLike, Eqn, Var
from jaxaot.ir.axes import splits
from jaxaot.ir.walk import Makers, is_rewritable

Place = tuple[int | None, ...]
"""For each axis of an array the axis of the whole along which it goes, or None where it has one element."""

Key = tuple[Any, Place]
"""An atom, and where its axes lie in the whole."""

MAX_TERMS = 16
"""A value that is a longer polynomial counts as one of which nothing is known."""

MAX_TERMS_ADDED = 4
"""The same for the sum of two values that both differ along rows."""

MAX_FACTORS_ADDED = 2
"""The same where it is a sum of nothing but factors, as a residual stream is: nothing of it cancels."""

MOVES = (lax.broadcast_in_dim_p, lax.reshape_p, lax.squeeze_p, lax.transpose_p)
"""Primitives that repeat and arrange the elements of an array."""

_ARITHMETIC = {"neg", "add", "add_any", "sub", "mul", "div", "square", "integer_pow"}
_SAME_ELEMENTS = {*(primitive.name for primitive in MOVES), "copy", "copy_p", "convert_element_type"}


class Factor(NamedTuple):
    """A value that nothing is known of, and where its axes lie in the whole."""

    var: Any
    place: Place


class RowSum(NamedTuple):
    """A sum along rows of a product of factors."""

    product: Monomial


Monomial = frozenset[tuple[Factor | RowSum, int]]
"""Factors with their exponents."""


class Term(NamedTuple):
    """What stands before a product of factors, and the sum of absolute values that it was added up from."""

    coefficient: float
    magnitude: float


Polynomial = dict[Monomial, Term]


class Witness(NamedTuple):
    """A value of rows that is infinite or NaN where its row holds such; zero or NaN, if something is divided by it."""

    var: Any
    place: Place
    is_divisor: bool


class Rows:
    """The values of a graph as polynomials, with respect to some rows.

    Args:
      makers: The equation that makes a variable.
      shape: The shape of the whole, in whose axes rows lie.
      axes: The axes that are summed.
      dtype: The dtype of the values.
    """

    def __init__(self, makers: Mapping[Any, Any], shape: Sequence[int], axes: Sequence[int], dtype: DTypeLike | None):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self.summed = frozenset(axes)
        self.axes = tuple(axis for axis in sorted(axes) if shape[axis] > 1)
        self._makers = makers
        self._found: dict[Key, Polynomial] = {}
        self._unknown: set[Key] = set()  # those that are factors
        self._known_parts: dict[Key, tuple[str, list[Key]] | None] = {}
        self._tolerance = 8 * float(np.finfo(self.dtype).eps)

    def whole(self) -> Place:
        """Returns where the axes of an array of the shape of the whole lie."""
        return tuple(axis if size > 1 else None for axis, size in enumerate(self.shape))

    def kept(self) -> Place:
        """Returns where the axes of a sum along rows lie that has no axis for what was summed."""
        return tuple(place for axis, place in enumerate(self.whole()) if axis not in self.summed)

    def is_zero(self, atom: Atom, place: Place) -> bool:
        """Returns whether a value is certainly zero but where something is infinite or NaN."""
        return not isinstance(atom, Literal) and not self._polynomial((atom, place))

    def witnesses(self, var: Var, place: Place) -> list[Witness]:
        """Returns values of rows that tell where a value of rows that is certainly zero is NaN.

        They may be sums that the value itself is made of, if nothing else tells.
        """
        return list(_Witnesses(self, (var, place)).chosen())

    def varies(self, place: Place) -> bool:
        """Returns whether a value may differ along a row."""
        return any(axis in self.axes for axis in place)

    def is_unknown(self, key: Key) -> bool:
        """Returns whether a value is a factor, of which nothing is known."""
        self._polynomial(key)
        return key in self._unknown

    def parts(self, key: Key) -> tuple[str, list[Key]] | None:
        """Returns the primitive that makes a value ("sum" for a sum along rows) and what it reads; None if unknown."""
        if key not in self._known_parts:
            self._known_parts[key] = self._parts(key)
        return self._known_parts[key]

    def _parts(self, key: Key) -> tuple[str, list[Key]] | None:
        var, place = key
        eqn = self._makers.get(var)
        if eqn is None or len(eqn.outvars) != 1 or not is_rewritable(eqn) or var.aval.dtype != self.dtype:
            return None
        if any(atom.aval.dtype != self.dtype for atom in eqn.invars):
            return None
        name = eqn.primitive.name
        if name in _ARITHMETIC:
            return name, [(atom, within(atom, place)) for atom in eqn.invars]
        if name == "reduce_sum":
            return self._sum(eqn, place)
        if name in _SAME_ELEMENTS and len(eqn.invars) == 1:
            source = moved(eqn, place)
            return None if source is None else ("move", [(eqn.invars[0], source)])
        return None

    def exponent(self, key: Key) -> int:
        """Returns the exponent of an integer power."""
        return self._makers[key[0]].params["y"]

    def _sum(self, eqn: Eqn, place: Place) -> tuple[str, list[Key]] | None:
        sizes, summed = eqn.invars[0].aval.shape, sorted(eqn.params["axes"])
        long = [axis for axis in summed if sizes[axis] > 1]
        if 0 in sizes or (
            long and ([sizes[i] for i in long] != [self.shape[i] for i in self.axes] or self.varies(place))
        ):
            return None
        rows, kept = iter(self.axes), iter(place)
        source = tuple((next(rows) if i in long else None) if i in summed else next(kept) for i in range(len(sizes)))
        return "sum" if long else "move", [(eqn.invars[0], source)]

    def _polynomial(self, key: Key) -> Polynomial:
        pending = [key]
        while pending:
            top = pending[-1]
            if top in self._found:
                pending.pop()
                continue
            parts = self.parts(top)
            missing = [k for k in parts[1] if not isinstance(k[0], Literal) and k not in self._found] if parts else []
            if missing:
                pending += missing
                continue
            found = None if parts is None else self._combined(top, *parts)
            if found is None:
                self._unknown.add(top)
            self._found[top] = _power_of(top, 1) if found is None else found
        return self._found[key]

    def known(self, key: Key) -> Polynomial | None:
        """Returns the polynomial that a value is, None for a literal that is not finite."""
        atom = key[0]
        if not isinstance(atom, Literal):
            return self._polynomial(key)
        value = float(atom.val) if np.ndim(atom.val) == 0 else math.nan
        if not math.isfinite(value):
            return None
        return {frozenset(): Term(value, abs(value))} if value else {}

    def _combined(self, key: Key, name: str, keys: Sequence[Key]) -> Polynomial | None:
        """Returns the polynomial that a primitive makes of others; None if it is too long or there is none."""
        operands = [self.known(k) for k in keys]
        if any(operand is None for operand in operands):
            return None
        first: Any = operands[0]
        result: Polynomial | None = first
        match name:
            case "neg":
                result = _scaled(first, -1.0)
            case "add" | "add_any" | "sub":
                second: Any = operands[1]
                result = self._added(first, _scaled(second, -1.0 if name == "sub" else 1.0))
                if all(self.varies(place) for _, place in keys):
                    is_plain = all(len(product) == 1 for product in result)
                    result = None if len(result) > (MAX_FACTORS_ADDED if is_plain else MAX_TERMS_ADDED) else result
            case "mul":
                result = self._multiplied(first, operands[1])
            case "square":
                result = self._multiplied(first, first)
            case "div":
                inverse = self._power(keys[1], operands[1], -1)
                result = None if inverse is None else self._multiplied(first, inverse)
            case "integer_pow":
                result = self._power(keys[0], first, self.exponent(key))
            case "sum":
                result = self._summed(first)
        return None if result is None or len(result) > MAX_TERMS else result

    def _added(self, first: Polynomial, second: Polynomial) -> Polynomial:
        result = dict(first)
        for product, term in second.items():
            old = result.get(product, Term(0.0, 0.0))
            new = Term(old.coefficient + term.coefficient, old.magnitude + term.magnitude)
            if abs(new.coefficient) <= self._tolerance * new.magnitude:
                result.pop(product, None)
            else:
                result[product] = new
        return result

    def _multiplied(self, first: Polynomial, second: Any) -> Polynomial | None:
        if len(first) * len(second) > MAX_TERMS:
            return None
        result: Polynomial = {}
        for one, a in first.items():
            for other, b in second.items():
                term = Term(a.coefficient * b.coefficient, a.magnitude * b.magnitude)
                result = self._added(result, {_product(one, other): term})
        return result

    def _power(self, key: Key, base: Any, exponent: int) -> Polynomial | None:
        if len(base) == 1:
            ((product, term),) = base.items()
            power = abs(term.coefficient) ** exponent
            sign = -1.0 if term.coefficient < 0 and exponent % 2 else 1.0
            raised = frozenset((factor, n * exponent) for factor, n in product)
            return {raised: Term(sign * power, power)} if exponent and math.isfinite(power) and power else None
        if exponent > 0:
            result: Polynomial | None = base
            for _ in range(min(exponent, MAX_TERMS) - 1):
                result = None if result is None else self._multiplied(result, base)
            return result if exponent <= MAX_TERMS else None
        if exponent == 0 or isinstance(key[0], Literal):
            return None
        return _power_of(key, exponent)

    def _summed(self, operand: Polynomial) -> Polynomial:
        n = math.prod(self.shape[axis] for axis in self.axes)
        result: Polynomial = {}
        for product, term in operand.items():
            inner = frozenset((f, k) for f, k in product if isinstance(f, Factor) and self.varies(f.place))
            outer = product - inner
            if inner:
                total = {_product(outer, frozenset([(RowSum(inner), 1)])): term}
            else:
                total = {outer: Term(n * term.coefficient, n * term.magnitude)}
            result = self._added(result, total)
        return result


class _Witnesses:
    """The search for witnesses of a value that is zero.

    From the value down, a *top* is a sum along rows that it is made of; such sums are what one wants to be rid of. A
    *boundary* is a value of rows in what is summed there: it is a witness, and so is what the value is made of besides.
    A factor that differs along rows shows in the sums along rows of which it is a factor, if boundaries read such sums.

    Infinities and NaN are told by all that is made with them, but where they divide; zeros that divide by products, but
    not by sums.
    """

    def __init__(self, rows: Rows, key: Key):
        self._rows = rows
        self._witnesses: dict[Witness, None] = {}
        self._told: set[Witness] = set()  # what boundaries tell
        self._needed: dict[Key, set[Factor]] = {}  # by top, the factors that differ along its rows
        self._alone: set[Key] = set()  # tops of which nothing else tells
        self._shown: dict[Key, tuple[set[Factor], bool]] = {}  # by sum below a boundary, and whether that tells it
        self._walk(key)

    def chosen(self) -> Iterator[Witness]:
        """Yields the witnesses that are needed."""
        yield from (witness for witness in self._witnesses if witness not in self._told)
        told: set[Factor] = set().union(*(factors for factors, is_told in self._shown.values() if is_told))
        left = set().union(*self._needed.values()) - told
        for (var, place), (factors, _) in self._shown.items():
            if left & factors:
                yield Witness(var, place, False)
                left -= factors
        for top, factors in self._needed.items():
            if left & factors or top in self._alone:
                yield Witness(*top, False)

    def _walk(self, key: Key) -> None:
        rows, seen = self._rows, set()
        pending = [_Step(key, None, False, False, True)]
        while pending:
            step = pending.pop()
            if isinstance(step.key[0], Literal) or step in seen:
                continue
            seen.add(step)
            if step.top is not None and not step.is_below and not rows.varies(step.key[1]):
                self._witnesses[Witness(*step.key, step.is_divisor)] = None
                step = step._replace(is_below=True)
            elif step.is_below and step.is_told:
                self._told.add(Witness(*step.key, step.is_divisor))
            parts = None if rows.is_unknown(step.key) else rows.parts(step.key)
            if parts is not None:
                pending += self._parts(step, *parts)
            elif step.top is None:
                self._witnesses[Witness(*step.key, step.is_divisor)] = None
            elif not step.is_below and step.is_divisor:
                self._alone.add(step.top)
            elif not step.is_below:
                self._needed[step.top].add(Factor(*step.key))

    def _parts(self, step: _Step, name: str, keys: Sequence[Key]) -> Iterator[_Step]:
        """Yields the operands of a value."""
        if name == "sum" and step.is_below:
            summed: Any = self._rows.known(keys[0])
            factors = {f for product in summed for f, n in product if isinstance(f, Factor) and n > 0}
            factors = {factor for factor in factors if self._rows.varies(factor.place)}
            _, was_told = self._shown.get(step.key, (factors, False))
            self._shown[step.key] = factors, was_told or (step.is_told and not step.is_divisor)
        elif name == "sum":
            step = step._replace(top=step.key)
            self._needed.setdefault(step.key, set())
        if step.is_divisor and name in ("add", "add_any", "sub", "sum"):
            step = step._replace(is_told=False)
        for i, key in enumerate(keys):
            inverts = (name == "div" and i == 1) or (name == "integer_pow" and self._rows.exponent(step.key) < 0)
            yield step._replace(key=key, is_divisor=step.is_divisor != inverts)


class _Step(NamedTuple):
    """A value on the way down from one that is zero.

    Attributes:
      key: The value.
      top: The top that it is summed in, None above tops.
      is_below: Whether it is in what a boundary is made of.
      is_divisor: Whether something is divided by it.
      is_told: Whether the boundary tells what it holds.
    """

    key: Key
    top: Any
    is_below: bool
    is_divisor: bool
    is_told: bool


def _power_of(key: Key, exponent: int) -> Polynomial:
    product: Monomial = frozenset([(Factor(*key), exponent)])
    return {product: Term(1.0, 1.0)}


def _scaled(polynomial: Polynomial, by: float) -> Polynomial:
    return {product: Term(by * term.coefficient, term.magnitude) for product, term in polynomial.items()}


def _product(one: Monomial, other: Monomial) -> Monomial:
    exponents = dict(one)
    for factor, n in other:
        exponents[factor] = exponents.get(factor, 0) + n
    return frozenset((factor, n) for factor, n in exponents.items() if n)


def within(operand: Any, place: Place) -> Place:
    """Returns where the axes of an operand of an elementwise equation lie, whose result lies at some place."""
    sizes = operand.aval.shape
    return tuple(None if size == 1 else axis for size, axis in zip(sizes, place, strict=True)) if sizes else ()


def moved(eqn: Eqn, place: Place) -> Place | None:
    """Returns where the axes of an operand lie that an equation only moves; None if it does more.

    Args:
      eqn: A broadcast, reshape or transpose, or an equation whose result has the axes of its operand.
      place: Where the axes of the result lie.
    """
    before, after = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    to = {split.operands[0]: split.result for split in splits(eqn) if split.result is not None}
    if any(size > 1 and (axis not in to or after[to[axis]] != size) for axis, size in enumerate(before)):
        return None
    return tuple(None if size == 1 else place[to[axis]] for axis, size in enumerate(before))


def moved_from(atom: Atom, place: Place, makers: Makers) -> tuple[Any, Place] | None:
    """Returns the operand that one equation moves to make an atom, and where its axes lie; None if none does.

    Args:
      atom: The atom.
      place: Where the axes of the atom lie.
      makers: Who makes the values of the graph.
    """
    eqn = makers.of(atom, *MOVES)
    if eqn is None or eqn.invars[1:]:  # which say how large a result is
        return None
    found = moved(eqn, place)
    return None if found is None else (eqn.invars[0], found)
