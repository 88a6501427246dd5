"""What an equation costs, from shapes alone.

*FLOPs* are floating-point operations, with a multiply-add counted as two. *Bytes* are those read from operands plus
those written to results, as if nothing were fused. All numbers are Python integers, so nothing overflows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jaxaot._typing import Eqn, Jaxpr
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewrite import called_jaxpr
from jaxaot.ir.walk import aval_bytes, variables

_FLOPS_PER_ELEMENT = {Kind.POINTWISE: 1, Kind.CAST: 0, Kind.VIEW: 0, Kind.TRANSCENDENTAL: 10, Kind.RANDOM: 100}


def eqn_flops(eqn: Eqn) -> int:
    """Returns the FLOPs of an equation. A `while` counts as one iteration, a `cond` as its costliest branch."""
    name = eqn.primitive.name
    body = called_jaxpr(eqn, also_custom=True)
    if body is not None:
        return graph_flops(body)
    if name == "scan":
        return eqn.params["length"] * graph_flops(eqn.params["jaxpr"])
    if name == "while":
        return graph_flops(eqn.params["body_jaxpr"]) + graph_flops(eqn.params["cond_jaxpr"])
    if name == "cond":
        return max(graph_flops(branch) for branch in eqn.params["branches"])
    if name == "dot_general":
        (contracted, _), _ = eqn.params["dimension_numbers"]
        left = eqn.invars[0].aval.shape
        return 2 * _size(eqn.outvars) * math.prod(left[axis] for axis in contracted)
    if name == "conv_general_dilated":
        numbers = eqn.params["dimension_numbers"]
        kernel = eqn.invars[1].aval.shape
        per_output = math.prod(kernel) // kernel[numbers.rhs_spec[0]]
        return 2 * _size(eqn.outvars) * per_output
    if "jaxpr" in eqn.params and kind(eqn) is Kind.CONTROL:
        return graph_flops(eqn.params["jaxpr"])
    which = kind(eqn)
    if which is Kind.REDUCTION:
        return _size(eqn.invars)
    if which is Kind.SORT:
        size = _size(eqn.invars)
        return size * max(1, size.bit_length())
    if which is Kind.LINALG:
        shape = eqn.invars[0].aval.shape
        return math.prod(shape) * (shape[-1] if shape else 1)
    return _FLOPS_PER_ELEMENT.get(which, 1) * _size(eqn.outvars)


def eqn_bytes(eqn: Eqn) -> int:
    """Returns the bytes that an equation reads and writes."""
    read = sum(aval_bytes(var.aval) for var in dict.fromkeys(variables(eqn.invars)))
    return read + sum(aval_bytes(var.aval) for var in eqn.outvars)


def graph_flops(jaxpr: Jaxpr) -> int:
    """Returns the FLOPs of all equations of a graph, open or closed."""
    return sum(map(eqn_flops, jaxpr.eqns))


def _size(atoms: Sequence[Any]) -> int:
    return sum(math.prod(int(size) for size in getattr(atom.aval, "shape", ())) for atom in atoms)
