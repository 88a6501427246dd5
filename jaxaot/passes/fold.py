"""Constant folding: an equation *folds* if its result is known now, or is its operand unchanged."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxaot._jax import Literal, is_tracer, make_literal
from jaxaot._typing import Atom, ClosedJaxpr, Eqn
from jaxaot.ir.constants import SCALAR
from jaxaot.ir.primitives import is_pure
from jaxaot.ir.rewrite import reading, rebuild, substitute

_FOLDED_KINDS = "biuf"


def fold(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with scalar arithmetic on literals done now, and without equations that change nothing.

        b = mul 2.0 0.5                        c = add a 1.0
        c = add a b                    →       return c
        d = reshape[new_sizes=(3,)] c
        return d                               (for `c` of shape (3,))

    Only arithmetic that is exact or rounded alike everywhere is done; equations with side effects stay.
    """
    known: dict[Any, Any] = {}
    results = {id(atom) for atom in closed.jaxpr.outvars}
    eqns = []
    for eqn in closed.jaxpr.eqns:
        if any(not isinstance(atom, Literal) and atom in known for atom in eqn.invars):
            eqn = reading(eqn, known)
        value = _known_value(eqn)
        if value is not None and (id(eqn.outvars[0]) not in results or _same_type(value, eqn.outvars[0])):
            known[eqn.outvars[0]] = value
            continue
        eqns.append(eqn)
    return rebuild(closed, eqns, substitute(closed.jaxpr.outvars, known))


def _same_type(left: Any, right: Any) -> bool:
    return left.aval == right.aval


def _known_value(eqn: Eqn) -> Any:
    """Returns the atom that the only result of an equation is equal to, or `None`."""
    if len(eqn.outvars) != 1 or not is_pure(eqn) or not eqn.invars:
        return None
    if _changes_nothing(eqn):
        return eqn.invars[0]
    aval = eqn.outvars[0].aval
    if getattr(aval, "shape", None) != () or not all(map(_is_plain_literal, eqn.invars)):
        return None
    if np.dtype(aval.dtype).kind not in _FOLDED_KINDS:
        return None
    values = [np.asarray(atom.val, atom.aval.dtype) for atom in eqn.invars]
    with np.errstate(all="ignore"):
        if eqn.primitive.name == "convert_element_type":
            if not np.can_cast(values[0].dtype, aval.dtype, "same_kind"):
                return None  # rounding of floats to integers, out of range, differs between NumPy and XLA
            result = values[0].astype(aval.dtype)
        elif eqn.primitive.name in SCALAR and all(value.dtype == values[0].dtype for value in values):
            result = np.asarray(SCALAR[eqn.primitive.name](*values), aval.dtype)
        else:
            return None
    return make_literal(result, aval)


def _is_plain_literal(atom: Atom) -> bool:
    if not isinstance(atom, Literal) or is_tracer(atom.val) or getattr(atom.aval, "shape", None) != ():
        return False
    return isinstance(atom.aval.dtype, np.dtype) and atom.aval.dtype.kind in _FOLDED_KINDS


def _changes_nothing(eqn: Eqn) -> bool:
    """Returns whether the result of an equation is its first operand, shape and dtype included."""
    source, target = eqn.invars[0].aval, eqn.outvars[0].aval
    if getattr(source, "shape", None) != getattr(target, "shape", None) or source.dtype != target.dtype:
        return False
    if getattr(source, "sharding", None) != getattr(target, "sharding", None):
        return False
    match eqn.primitive.name:
        case "convert_element_type" | "squeeze":
            return True
        case "reshape":
            return len(eqn.invars) == 1 and eqn.params.get("dimensions") is None
        case "broadcast_in_dim":
            return len(eqn.invars) == 1 and tuple(eqn.params["broadcast_dimensions"]) == tuple(range(len(target.shape)))
        case "transpose":
            return tuple(eqn.params["permutation"]) == tuple(range(len(target.shape)))
        case "slice":
            return all(step == 1 for step in eqn.params["strides"] or ())
        case "rev":
            return not eqn.params["dimensions"]
    return False
