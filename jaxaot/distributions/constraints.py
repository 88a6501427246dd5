"""What parameters and values of distributions may be (`torch.distributions.constraints`).

A check is written with what tensors and NumPy arrays have in common.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jaxaot._util import show_only_own as _show_only_own


class Constraint(NamedTuple):
    """A set of values.

    Attributes:
      name: How it is shown.
      test: Returns of each value whether it is one of the set; takes tensors and arrays of NumPy.
      is_discrete: Whether it is one of whole numbers.
      event_dim: How many of the last dims make up one value.
    """

    name: str
    test: Callable[[Any], Any]
    is_discrete: bool = False
    event_dim: int = 0

    def check(self, value: Any) -> Any:
        """Returns of each value whether it is one of the set."""
        return self.test(value)

    def __repr__(self) -> str:
        return self.name


def _bounds(lower: object, upper: object) -> str:
    return f"(lower_bound={lower}, upper_bound={upper})"


def _is_simplex(v: Any) -> Any:
    return (v >= 0).all(-1) & (abs(v.sum(-1) - 1) < 1e-6)


def _is_one_hot(v: Any) -> Any:
    return ((v == 0) | (v == 1)).all(-1) & (v.sum(-1) == 1)


def _is_symmetric(v: Any) -> Any:
    return (abs(v - v.swapaxes(-1, -2)) <= 1e-6).all(-1).all(-1)


def _has_positive_diagonal(v: Any) -> Any:
    n = v.shape[-1]
    return (v.reshape(*v.shape[:-2], n * n)[..., :: n + 1] > 0).all(-1)


def greater_than(lower_bound: Any) -> Constraint:
    """Returns the numbers above a bound."""
    return Constraint(f"GreaterThan(lower_bound={lower_bound})", lambda v: v > lower_bound)


def greater_than_eq(lower_bound: Any) -> Constraint:
    """Returns the numbers from a bound on."""
    return Constraint(f"GreaterThanEq(lower_bound={lower_bound})", lambda v: v >= lower_bound)


def less_than(upper_bound: Any) -> Constraint:
    """Returns the numbers below a bound."""
    return Constraint(f"LessThan(upper_bound={upper_bound})", lambda v: v < upper_bound)


def interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Returns the numbers between two bounds, and these."""
    bounds = _bounds(lower_bound, upper_bound)
    return Constraint("Interval" + bounds, lambda v: (v >= lower_bound) & (v <= upper_bound))


def half_open_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Returns the numbers between two bounds, and the lower one."""
    bounds = _bounds(lower_bound, upper_bound)
    return Constraint("HalfOpenInterval" + bounds, lambda v: (v >= lower_bound) & (v < upper_bound))


def integer_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Returns the whole numbers between two bounds, and these."""
    test = lambda v: (v % 1 == 0) & (v >= lower_bound) & (v <= upper_bound)
    return Constraint("IntegerInterval" + _bounds(lower_bound, upper_bound), test, True)


def independent(base_constraint: Constraint, reinterpreted_batch_ndims: int) -> Constraint:
    """Returns a set of values each of which takes some more dims, all of whose elements are in a set."""
    n, base = reinterpreted_batch_ndims, base_constraint

    def test(v: Any) -> Any:
        found = base.check(v)
        for _ in range(n):
            found = found.all(-1)
        return found

    return Constraint(f"IndependentConstraint({base}, {n})", test, base.is_discrete, base.event_dim + n)


real = Constraint("Real()", lambda v: v == v)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
boolean = Constraint("Boolean()", lambda v: (v == 0) | (v == 1), True)
nonnegative_integer = Constraint("IntegerGreaterThan(lower_bound=0)", lambda v: (v % 1 == 0) & (v >= 0), True)
positive_integer = Constraint("IntegerGreaterThan(lower_bound=1)", lambda v: (v % 1 == 0) & (v >= 1), True)
real_vector = independent(real, 1)
simplex = Constraint("Simplex()", _is_simplex, False, 1)
one_hot = Constraint("OneHot()", _is_one_hot, True, 1)
lower_cholesky = Constraint("LowerCholesky()", _has_positive_diagonal, False, 2)
positive_definite = Constraint("PositiveDefinite()", _is_symmetric, False, 2)

_show_only_own(globals())
