"""Which values do not depend on the inputs of a graph: numbers and truth values made of literals and positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jax import lax

from jaxaot._jax import Literal
from jaxaot._typing import Atom, DTypeLike, Eqn
from jaxaot.ir.walk import Makers

_UFUNCS = """
    add:add add_any:add sub:subtract mul:multiply neg:negative abs:abs max:maximum min:minimum eq:equal ne:not_equal
    lt:less le:less_equal gt:greater ge:greater_equal and:bitwise_and or:bitwise_or xor:bitwise_xor not:invert
    """
SCALAR: dict[str, Callable[..., Any]] = {
    name: getattr(np, ufunc) for name, _, ufunc in (pair.partition(":") for pair in _UFUNCS.split())
}
"""Primitives for which NumPy gives the same bits as XLA, given scalars of one dtype, integers or truth values."""

_ROUNDED = {"add", "add_any", "sub", "mul"}
"""Those that round floating-point numbers, two of which XLA may compute at once and round once."""

MAX_ELEMENTS = 1 << 24
"""The most elements that are computed."""

MAX_ROWS = 1 << 22
"""The most indices that are computed to see that they count rows."""


def iota(shape: Sequence[int], axis: int, dtype: DTypeLike | None = int) -> Any:
    """Returns an array of the positions along an axis, a view of these."""
    positions = np.arange(shape[axis]).astype(dtype)
    return np.broadcast_to(positions.reshape((-1,) + (1,) * (len(shape) - axis - 1)), shape)


def constant(atom: Atom, makers: Mapping[Any, Any], known: dict[Any, Any]) -> Any:
    """Returns the numbers or truth values that an atom is whatever the inputs are; None if that is not seen.

    Args:
      atom: The atom.
      makers: The equation that makes a variable.
      known: What was found before, by variable.
    """
    if isinstance(atom, Literal):
        return np.asarray(atom.val, atom.aval.dtype) if _is_number(atom) else None
    if atom not in known:
        eqn = makers.get(atom)
        known[atom] = None
        if eqn is not None and len(eqn.outvars) == 1 and _is_number(atom):
            operands = [constant(operand, makers, known) for operand in eqn.invars]
            is_small = atom.aval.size <= MAX_ELEMENTS or eqn.primitive.name == "broadcast_in_dim"  # which is a view
            if is_small and not any(operand is None for operand in operands):
                known[atom] = _result(eqn, operands)
    return known[atom]


def counted_axis(indices: Atom, column: int, makers: Makers) -> int | None:
    """Returns the axis of indices along which a column of them counts from zero, as `x[jnp.arange(n), y]` has one.

    Args:
      indices: Those of a gather or scatter, of one row for each.
      column: Which number of a row.
      makers: Who makes a value.
    """
    eqn = makers.of(indices, lax.concatenate_p)
    if eqn is None or eqn.params["dimension"] != indices.aval.ndim - 1:
        return None
    if any(atom.aval.shape[-1] != 1 for atom in eqn.invars) or eqn.invars[column].aval.size > MAX_ROWS:
        return None
    found = constant(eqn.invars[column], makers, {})
    if found is None:
        return None
    found = found[..., 0]
    return next((axis for axis in range(found.ndim) if np.array_equal(found, iota(found.shape, axis))), None)


def _is_number(atom: Atom) -> bool:
    kind = getattr(getattr(atom.aval, "dtype", None), "kind", None)  # keys of random numbers have none
    return kind is not None and kind in "biuf"


def _result(eqn: Eqn, operands: Sequence[Any]) -> Any:
    """Returns the result of an equation on NumPy arrays; None if it is not computed here."""
    shape, dtype, params = eqn.outvars[0].aval.shape, eqn.outvars[0].aval.dtype, eqn.params
    match eqn.primitive.name:
        case "iota":
            result = iota(shape, params["dimension"], dtype)
        case "broadcast_in_dim":
            axes = params["broadcast_dimensions"]
            sizes = [operands[0].shape[axes.index(i)] if i in axes else 1 for i in range(len(shape))]
            result = np.broadcast_to(operands[0].reshape(sizes), shape)
        case "reshape" | "squeeze" | "expand_dims":
            result = operands[0].reshape(shape)
        case "select_n":
            which, *cases = operands
            result = np.where(which, cases[1], cases[0]) if len(cases) == 2 else np.choose(which.astype(int), cases)
        case "transpose":
            result = operands[0].transpose(params["permutation"])
        case "convert_element_type":
            result = operands[0]
            if result.dtype.kind == "f" and dtype.kind in "iu":  # which NumPy and XLA do differently where it is large
                return None
        case "sign":
            result = np.sign(operands[0])
        case "div" | "rem" as name:
            left, right = operands
            if dtype.kind not in "iu" or not right.all():
                return None
            rest = np.fmod(left, right)  # of the sign of what is divided, as in XLA
            result = rest if name == "rem" else (left - rest) // right
        case name if name in SCALAR and not (dtype.kind == "f" and name in _ROUNDED):
            result = SCALAR[name](*operands)
        case _:
            return None
    with np.errstate(all="ignore"):  # such as of what is infinite in float16
        return result.astype(dtype, copy=False)
