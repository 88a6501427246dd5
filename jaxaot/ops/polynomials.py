"""Orthogonal polynomials of degree `n` at `x`: rows of `ja.special`.

All follow from a recurrence: the polynomial of a degree is made of the two of lower degree. Within (-1, 1) those of
Chebyshev are trigonometric functions of the angle whose cosine is x, which is more exact for high degrees. Source:
https://dlmf.nist.gov/18, with the cases that PyTorch tells apart in `ATen/native/Math.h`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array
from jaxaot.ops.derivatives import with_derivatives
from jaxaot.ops.elementwise import real_only
from jaxaot.ops.table import register_op

Recurrence = Callable[[Any, Array, Array, Array], Array]


def _degree(n: Array) -> Array:
    """Returns `n` as a whole number; what is none is -1, at which all polynomials are 0."""
    return jnp.where(jnp.isfinite(n), jnp.trunc(n), -1)


def _recur(x: Array, n: Array, first: Array, step: Recurrence) -> Array:
    """Returns the polynomial of degree `n`.

    Args:
      x: Where.
      n: The degree, a whole number; the result is 0 where it is negative.
      first: The polynomial of degree 1; that of degree 0 is 1.
      step: Takes a degree k, x and the polynomials of degrees k - 1 and k to that of degree k + 1.
    """
    one = jnp.ones_like(x)

    def goes_on(carry: Sequence[Any]) -> Array:
        k, _, q = carry
        return jnp.any((k < n) & ~jnp.isnan(q)) & (k < 2**24)  # beyond, k + 1 is no longer exact

    def advance(carry: Sequence[Any]) -> Any:
        k, p, q = carry
        wanted = k < n
        return k + 1, jnp.where(wanted, q, p), jnp.where(wanted, step(k, x, p, q), q)

    _, _, value = lax.while_loop(goes_on, advance, (jnp.ones((), x.dtype), one, first))
    return jnp.where(n < 0, 0, jnp.where(n == 0, one, value))


def _sign(n: Array) -> Array:
    """Returns (-1) ** n."""
    return jnp.where(n % 2 == 0, 1, -1).astype(n.dtype)


def _chebyshev(x: Array, n: Array, kind: str, from_degree: int) -> Array:
    """Returns a Chebyshev polynomial of a kind, t, u, v or w; by trigonometry above `from_degree`."""
    one, sign = jnp.ones_like(x), _sign(n)
    inside = (n > from_degree) & (jnp.abs(x) < 1)
    angle = jnp.arccos(jnp.where(inside, x, 0))
    half, odd = angle / 2, 2 * n + 1
    first, by_angle, at_one, at_minus_one = {
        "t": (x, jnp.cos(n * angle), one, sign),
        "u": (x + x, jnp.sin((n + 1) * angle) / jnp.sin(angle), n + 1, sign * (n + 1)),
        "v": (x + x - 1, jnp.cos((n + 0.5) * angle) / jnp.cos(half), one, sign * odd),
        "w": (x + x + 1, jnp.sin((n + 0.5) * angle) / jnp.sin(half), odd, sign),
    }[kind]
    edge = jnp.abs(x) == 1
    known = inside | edge
    value = _recur(x, jnp.where(known, 0, n), first, lambda k, x, p, q: (x + x) * q - p)
    value = jnp.where(inside, by_angle, value)
    value = jnp.where(edge, jnp.where(x > 0, at_one, at_minus_one), value)
    return jnp.where(n < 0, 0, value)


def _hermite_limit(n: Array, value: Array) -> Array:
    return jnp.where(n > (128 if n.dtype.itemsize <= 4 else 512), jnp.nan, value)


def _hermite_h(x: Array, n: Array) -> Array:
    return _hermite_limit(n, _recur(x, n, x + x, lambda k, x, p, q: (x + x) * q - 2 * k * p))


def _hermite_he(x: Array, n: Array) -> Array:
    return _hermite_limit(n, _recur(x, n, x, lambda k, x, p, q: x * q - k * p))


def _laguerre(x: Array, n: Array) -> Array:
    value = _recur(x, n, 1 - x, lambda k, x, p, q: ((k + k + (1 - x)) * q - k * p) / (k + 1))
    return jnp.where((x == 0) & (n >= 0), 1, value)


def _legendre(x: Array, n: Array) -> Array:
    edge = jnp.abs(x) == 1
    value = _recur(x, jnp.where(edge, 0, n), x, lambda k, x, p, q: ((k + k + 1) * x * q - k * p) / (k + 1))
    return jnp.where(edge & (n >= 0), jnp.where(x > 0, 1, _sign(n)), jnp.where(n < 0, 0, value))


POLYNOMIALS: dict[str, Callable[[Array, Array], Array]] = {
    "hermite_polynomial_h": _hermite_h, "hermite_polynomial_he": _hermite_he,
    "laguerre_polynomial_l": _laguerre, "legendre_polynomial_p": _legendre,
}  # fmt: skip


def _of_kind(kind: str, from_degree: int, is_shifted: bool) -> Callable[[Array, Array], Array]:
    return lambda x, n: _chebyshev(x + x - 1 if is_shifted else x, n, kind, from_degree)


for _kind, _plain, _shifted in (("t", 6, 6), ("u", 8, 6), ("v", 8, 6), ("w", 8, 4)):
    POLYNOMIALS[f"chebyshev_polynomial_{_kind}"] = _of_kind(_kind, _plain, False)
    POLYNOMIALS[f"shifted_chebyshev_polynomial_{_kind}"] = _of_kind(_kind, _shifted, True)


def _register(name: str, fn: Callable[[Array, Array], Array]) -> None:
    def values(x: Array, n: Array) -> Array:
        x, n = jnp.broadcast_arrays(x, _degree(n))
        return fn(x, n).astype(x.dtype)

    values.__name__ = name
    polynomial = real_only({name: with_derivatives(values, None, None)})[name]

    @register_op(f"{name}(Tensor x, Tensor n) -> Tensor", promote="float", method=False, namespaces=("special",))
    def row(x, n):
        return polynomial(x, n)


for _name, _fn in POLYNOMIALS.items():
    _register(_name, _fn)
