"""Sines, cosines and tangents of large arrays by polynomials, which XLA on CPU computes one element at a time.

Arguments, here called *angles*, are reduced modulo π/2 to [-π/4, π/4], where a short polynomial suffices. In double
precision the reduction is exact enough for angles up to `LIMIT`. If one is larger, the whole array is computed as
before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._jax import DropVar
from jaxaot._typing import Array, ClosedJaxpr, Eqn, Jaxpr
from jaxaot.backend.cpu.analysis.kernels import kernels
from jaxaot.backend.cpu.machine import machine
from jaxaot.ir.build import n_elements
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import forward_slice, is_rewritable, variables

LIMIT = 1e6
"""How large angles may be."""

_HALF_PI = np.float64(1.5707963267341256), np.float64(6.07710050650619224932e-11)
"""Its upper 33 bits, so that 20 bits times them are exact, and the rest."""

_SINE = (
    1.0,
    -0.166666666416265235595,
    0.0083333293858894631756,
    -0.000198393348360966317347,
    0.0000027183114939898219064,
)
_COSINE = (
    1.0,
    -0.499999997251031003120,
    0.0416666233237390631894,
    -0.00138867637746099294692,
    0.0000243904487962774090654,
)
"""Coefficients of even powers, of sin x / x and cos x, up to pi/4 with relative errors below 2**-34; those of FreeBSD's
msun (k_sinf.c, k_cosf.c)."""


def reduce_angles(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with sines, cosines and tangents of large arrays of single precision as polynomials.

        b = sin a         →       h = optimization_barrier a
        c = cos a                 far = not (reduce_max (abs h) <= 1e6)
                                  b c = cond far (sin h, cos h) (… polynomials of h - n pi/2 …)

    Results are within 0.51 units in the last place. What depends on no input is left to XLA, which folds it.

    The reduction is that of Cody and Waite, Software manual for the elementary functions, 1980.
    """
    jaxpr = closed.jaxpr
    if not any(eqn.primitive in _FUNCTIONS for eqn in jaxpr.eqns):
        return closed
    of_angle = _asked_of_angles(jaxpr)
    is_reduced = {id(eqn) for asked in of_angle.values() for eqn in asked}
    rewriter = Rewriter(closed)
    for eqn in rewriter.equations():
        if id(eqn) not in is_reduced:
            rewriter.keep(eqn)
            continue
        asked = of_angle.pop(eqn.invars[0], ())  # all that is asked of an angle is computed where the first is
        if asked:
            results = rewriter.calls(functools.partial(_where_near, [one.primitive for one in asked]), eqn.invars[0])
            for one, result in zip(asked, results, strict=True):
                rewriter.replace(one.outvars[0], result)
    return rewriter.graph()


def _asked_of_angles(jaxpr: Jaxpr) -> dict[Any, list[Any]]:
    """Returns for angles the equations that are replaced.

    These are those that depend on inputs, and of which there are no others in the same kernel, but for the same angle:
    angles and results, which were in no memory, are then in it.
    """
    varying = forward_slice(jaxpr, [*jaxpr.invars, *jaxpr.constvars])
    kernel = kernels(jaxpr.eqns, set(variables(jaxpr.outvars)))
    angles: dict[int, set[Any]] = {}
    reduced = [i for i, eqn in enumerate(jaxpr.eqns) if i in varying and _is_reduced(eqn)]
    for i in reduced:
        angles.setdefault(kernel[i], set()).add(jaxpr.eqns[i].invars[0])
    found: dict[Any, list[Any]] = {}
    for i in reduced:
        if len(angles[kernel[i]]) == 1:
            found.setdefault(jaxpr.eqns[i].invars[0], []).append(jaxpr.eqns[i])
    return found


def _is_reduced(eqn: Eqn) -> bool:
    if eqn.primitive not in _FUNCTIONS or eqn.params.get("accuracy") is not None or not is_rewritable(eqn):
        return False
    (target,) = eqn.outvars
    is_single = target.aval.dtype == np.float32 and not target.aval.weak_type
    return is_single and n_elements(target.aval.shape) >= machine().min_angles and not isinstance(target, DropVar)


def _where_near(primitives: Sequence[Any], x: Array) -> list[Any]:
    """Returns functions of angles by polynomials if all are small enough, and otherwise as XLA computes them."""

    def by_xla(x: Array) -> list[Any]:  # the accuracy is said, so that it is left at that
        return [primitive.bind(x, accuracy=lax.AccuracyMode.DEFAULT) for primitive in primitives]

    with jax.enable_x64(True):  # the types of what is made here are said, and go no further
        x = lax.optimization_barrier(x)  # both read it from memory: it is not computed for each
        is_far = ~(jnp.max(lax.abs(x)) <= np.float32(LIMIT))  # or there is a NaN
        return lax.cond(is_far, by_xla, functools.partial(_by_polynomials, primitives), x)


def _by_polynomials(primitives: Sequence[Any], x: Array) -> list[Any]:
    wide = lax.convert_element_type(x, np.float64)
    n = lax.round(wide * np.float64(2 / np.pi), lax.RoundingMethod.TO_NEAREST_EVEN)
    rest = wide - n * _HALF_PI[0] - n * _HALF_PI[1]
    square = rest * rest
    sine, cosine = rest * _polynomial(square, _SINE), _polynomial(square, _COSINE)
    quadrant = lax.convert_element_type(n, np.int32)
    results = (_FUNCTIONS[primitive](x, sine, cosine, quadrant) for primitive in primitives)
    return [lax.convert_element_type(result, np.float32) for result in results]


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Any:
    total = lax.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = total * x + np.float64(coefficient)
    return total


def _sin(x: Array, sine: Array, cosine: Array, quadrant: Array) -> Any:
    result = lax.select(_has_bit(quadrant, 1), cosine, sine)
    result = lax.select(_has_bit(quadrant, 2), -result, result)
    return lax.select(x == 0, lax.convert_element_type(x, np.float64), result)  # zeros keep their sign


def _cos(x: Array, sine: Array, cosine: Array, quadrant: Array) -> Any:
    del x
    result = lax.select(_has_bit(quadrant, 1), sine, cosine)
    return lax.select(_has_bit(quadrant + np.int32(1), 2), -result, result)


def _tan(x: Array, sine: Array, cosine: Array, quadrant: Array) -> Any:
    is_turned = _has_bit(quadrant, 1)
    result = lax.select(is_turned, -cosine, sine) / lax.select(is_turned, sine, cosine)
    return lax.select(x == 0, lax.convert_element_type(x, np.float64), result)


def _has_bit(numbers: Array, bit: int) -> Any:
    return (numbers & np.int32(bit)) != np.int32(0)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {lax.sin_p: _sin, lax.cos_p: _cos, lax.tan_p: _tan}
"""What each makes of the angles, the sines and cosines of what is left of them, and how many right ones were taken."""
