"""Sines, cosines and tangents of large arrays by polynomials, which XLA on CPU computes one element at a time.

An *angle* is what they are of. Less a multiple of pi/2 it is at most pi/4, where few terms do; in double precision what
is taken off is exact enough for angles up to `LIMIT`. If one is larger, the whole array is computed as before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._jax import DropVar
from jaxaot.ir.build import is_rewritable, n_elements, traced
from jaxaot.ir.rewrite import rebuild, substitute
from jaxaot.ir.walk import forward_slice

LIMIT = 1e6
"""How large angles may be."""

LEAST_ELEMENTS = 8192
"""Arrays of fewer elements are left alone: another kernel and a branch take as long."""

_HALF_PI = np.float64(1.5707963267341256), np.float64(6.07710050650619224932e-11)
"""Its upper 33 bits, so that 20 bits times them are exact, and the rest."""

_SINE = tuple(
    map(
        np.float64,
        (
            1,
            -0.166666666416265235595,
            0.0083333293858894631756,
            -0.000198393348360966317347,
            0.0000027183114939898219064,
        ),
    )
)
_COSINE = tuple(
    map(
        np.float64,
        (
            1,
            -0.499999997251031003120,
            0.0416666233237390631894,
            -0.00138867637746099294692,
            0.0000243904487962774090654,
        ),
    )
)
"""Coefficients of even powers, of sin x / x and cos x, up to pi/4 with relative errors below 2**-34; those of FreeBSD's
msun (k_sinf.c, k_cosf.c)."""


def reduce_angles(closed: Any) -> Any:
    """Returns the graph with sines, cosines and tangents of large arrays of single precision as polynomials.

        b = sin a         →       far = reduce_or (abs a > 1e6)
                                  b = cond far (sin a) (… polynomials of a - n pi/2 …)

    Results are within 0.51 units in the last place. What depends on no input is left to XLA, which folds it.

    The reduction is that of Cody and Waite, Software manual for the elementary functions, 1980.
    """
    jaxpr = closed.jaxpr
    if not any(eqn.primitive in _FUNCTIONS for eqn in jaxpr.eqns):
        return closed
    varying = forward_slice(jaxpr, [*jaxpr.invars, *jaxpr.constvars])
    names: dict[Any, Any] = {}
    eqns: list[Any] = []
    for i, original in enumerate(jaxpr.eqns):
        eqn = original.replace(invars=substitute(original.invars, names))
        if i not in varying or not _is_reduced(eqn):
            eqns.append(eqn)
            continue
        fn = functools.partial(_where_near, eqn.primitive, _FUNCTIONS[eqn.primitive])
        steps, (result,), _ = traced(fn, eqn.invars, eqn)
        eqns += steps
        names[original.outvars[0]] = result
    return rebuild(closed, eqns, substitute(jaxpr.outvars, names))


def _is_reduced(eqn: Any) -> bool:
    if eqn.primitive not in _FUNCTIONS or eqn.params.get("accuracy") is not None or not is_rewritable(eqn):
        return False
    (target,) = eqn.outvars
    is_single = target.aval.dtype == np.float32 and not target.aval.weak_type
    return is_single and n_elements(target.aval.shape) >= LEAST_ELEMENTS and not isinstance(target, DropVar)


def _where_near(primitive: Any, fn: Callable[..., Any], x: Any) -> Any:
    """Returns a function of angles by polynomials if all are small enough, and otherwise as XLA computes it.

    Args:
      primitive: The function.
      fn: Takes the angles, sines and cosines of what is left of them, and how many right angles were taken off.
      x: The angles.
    """
    with jax.enable_x64(True):  # the types of what is made here are said, and go no further
        is_far = jnp.any(lax.abs(x) > np.float32(LIMIT))
        by_xla = functools.partial(primitive.bind, accuracy=lax.AccuracyMode.DEFAULT)  # said, so it is left at that
        return lax.cond(is_far, by_xla, functools.partial(_by_polynomials, fn), x)


def _by_polynomials(fn: Callable[..., Any], x: Any) -> Any:
    wide = lax.convert_element_type(x, np.float64)
    n = lax.round(wide * np.float64(2 / np.pi), lax.RoundingMethod.TO_NEAREST_EVEN)
    rest = wide - n * _HALF_PI[0] - n * _HALF_PI[1]
    square = rest * rest
    sine, cosine = rest * _polynomial(square, _SINE), _polynomial(square, _COSINE)
    return lax.convert_element_type(fn(x, sine, cosine, lax.convert_element_type(n, np.int32)), np.float32)


def _polynomial(x: Any, coefficients: tuple[Any, ...]) -> Any:
    total = lax.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = total * x + coefficient
    return total


def _sin(x: Any, sine: Any, cosine: Any, quadrant: Any) -> Any:
    result = lax.select(_has_bit(quadrant, 1), cosine, sine)
    result = lax.select(_has_bit(quadrant, 2), -result, result)
    return lax.select(x == 0, lax.convert_element_type(x, np.float64), result)  # zeros keep their sign


def _cos(x: Any, sine: Any, cosine: Any, quadrant: Any) -> Any:
    del x
    result = lax.select(_has_bit(quadrant, 1), sine, cosine)
    return lax.select(_has_bit(quadrant + np.int32(1), 2), -result, result)


def _tan(x: Any, sine: Any, cosine: Any, quadrant: Any) -> Any:
    is_turned = _has_bit(quadrant, 1)
    result = lax.select(is_turned, -cosine, sine) / lax.select(is_turned, sine, cosine)
    return lax.select(x == 0, lax.convert_element_type(x, np.float64), result)


def _has_bit(numbers: Any, bit: int) -> Any:
    return (numbers & np.int32(bit)) != np.int32(0)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {lax.sin_p: _sin, lax.cos_p: _cos, lax.tan_p: _tan}
