"""Zero cotangents: what a backward computes from them is not computed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._jax import (
    Literal,
    type_varies_over,
)
from jaxaot._typing import Atom, Aval, ClosedJaxpr, Eqn, Var
from jaxaot.ir.rewrite import rebuild, splice
from jaxaot.ir.walk import short_aval
from jaxaot.passes.dce import dce

_OF_ALL = {
    "add", "add_any", "sub", "neg", "reshape", "transpose", "broadcast_in_dim", "squeeze", "expand_dims", "slice",
    "rev", "copy", "copy_p", "reduce_sum", "cumsum", "convert_element_type", "reduce_precision", "real", "imag", "conj",
    "pvary", "concatenate", "split", "reduce_window_sum", "dynamic_slice", "gather", "sharding_constraint", "psum",
    "psum_invariant", "all_gather", "reduce_scatter", "device_put",
}  # fmt: skip
"""Primitives whose results are zero if all operands are that are no indices, and no others."""

_OF_ANY = {"mul", "dot_general", "conv_general_dilated"}
"""Primitives whose results are zero if any operand is."""

_N_OPERANDS = {"dynamic_slice": 1, "gather": 1, "reshape": 1, "broadcast_in_dim": 1}
"""How many operands come first, where the others are indices or sizes."""


def drop_zeros(closed: ClosedJaxpr, zeros: Collection[int]) -> Any:
    """Returns a backward graph without some inputs that are zero, and without what is zero because of that.

        a, b → c = mul a 2.0             a → c = mul a 2.0
               d = sin b          →          return c
               e = add_any c d                                  (for `d` computed by linear equations)
               return e

    Args:
      closed: The graph, a ClosedJaxpr.
      zeros: The positions of the inputs that are zero; nothing else may read a value that follows from them but linear
        equations, so they have to be cotangents.
    """
    jaxpr = closed.jaxpr
    zero = {jaxpr.invars[i] for i in zeros}
    names: dict[Any, Any] = {}
    made: dict[Any, Any] = {}
    eqns: list[Any] = []

    def is_zero(atom: Atom) -> bool:
        return not isinstance(atom, Literal) and atom in zero

    def zeros_of(var: Var) -> Any:
        """Returns a variable of the same type as `var` that holds zeros."""
        aval = var.aval
        key = short_aval(aval), type_varies_over(aval)
        if key not in made:
            steps, (made[key],), _ = splice(jax.make_jaxpr(lambda: _zeros(aval))(), [])
            eqns.extend(steps)
        return made[key]

    def read(atom: Atom) -> Any:
        if isinstance(atom, Literal):
            return atom
        return zeros_of(atom) if atom in zero else names.get(atom, atom)

    for eqn in jaxpr.eqns:
        if any(map(is_zero, eqn.invars)):
            if _makes_zeros(eqn, is_zero):
                zero.update(eqn.outvars)
                continue
            left = _one_that_is_left(eqn, is_zero)
            if left is not None:
                names[eqn.outvars[0]] = read(left)
                continue
        eqns.append(eqn.replace(invars=[read(atom) for atom in eqn.invars]))
    outvars = [read(atom) for atom in jaxpr.outvars]
    invars = [var for i, var in enumerate(jaxpr.invars) if i not in set(zeros)]
    return dce(rebuild(closed, eqns, outvars, invars))


def _makes_zeros(eqn: Eqn, is_zero: Any) -> bool:
    name, operands = eqn.primitive.name, eqn.invars
    if name in _OF_ANY:
        return True
    if name in _OF_ALL:
        return all(map(is_zero, operands[: _N_OPERANDS.get(name, len(operands))]))
    match name:
        case "select_n":
            return all(map(is_zero, operands[1:]))
        case "div":
            return is_zero(operands[0]) and not is_zero(operands[1])
        case "pad":
            is_filled_so = isinstance(operands[1], Literal) and float(operands[1].val) == 0.0
            return is_zero(operands[0]) and (is_zero(operands[1]) or is_filled_so)
        case "scatter-add" | "scatter_add":
            return is_zero(operands[0]) and is_zero(operands[2])
        case "dynamic_update_slice":
            return is_zero(operands[0]) and is_zero(operands[1])
    return False


def _one_that_is_left(eqn: Eqn, is_zero: Any) -> Any:
    """Returns the operand of a sum whose other operand is zero; None for any other equation."""
    if eqn.primitive.name not in ("add_any", "add") or len(eqn.invars) != 2:
        return None
    (left,) = [atom for atom in eqn.invars if not is_zero(atom)]
    return None if isinstance(left, Literal) or left.aval.shape != eqn.outvars[0].aval.shape else left


def _zeros(aval: Aval) -> Any:
    axes = tuple(type_varies_over(aval))
    zeros = jnp.zeros(aval.shape, aval.dtype)
    return jax.lax.pcast(zeros, axes, to="varying") if axes else zeros
