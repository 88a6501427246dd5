"""What an equation costs, from shapes alone.

*FLOPs* are floating-point operations, with a multiply-add counted as two. *Bytes* are those read from operands plus
those written to results, as if nothing were fused. All numbers are Python integers, so nothing overflows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from jaxaot._typing import Eqn, Jaxpr
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewrite import called_jaxpr
from jaxaot.ir.walk import aval_bytes, variables

_FLOPS_PER_ELEMENT = {Kind.POINTWISE: 1, Kind.CAST: 0, Kind.VIEW: 0, Kind.TRANSCENDENTAL: 10, Kind.RANDOM: 100}


_MOVING = "concatenate stack pad tile iota empty empty2 gather scatter dynamic_slice dynamic_update_slice"
_MOVES = frozenset(_MOVING.split())
"""Primitives that move elements and compute nothing, of kinds that compute something otherwise."""

_PER_CUBE = {"cholesky": (1, 3), "lu": (2, 3), "qr": (4, 3), "geqrf": (4, 3)}
"""For factorizations the FLOPs for each n × n × n, as a fraction; see Golub and Van Loan, "Matrix Computations"."""


def eqn_flops(eqn: Eqn) -> int:
    """Returns the FLOPs of an equation. A `while` counts as one iteration, a `cond` as its costliest branch.

    A convolution is counted as XLA does: where its window shows padding, nothing is multiplied.
    """
    name = eqn.primitive.name
    count = _COUNTS.get(name)
    if count is not None:
        return count(eqn)
    if name in _MOVES:
        return 0
    body = called_jaxpr(eqn, also_custom=True)
    if body is not None:
        return graph_flops(body)
    which = kind(eqn)
    if "jaxpr" in eqn.params and (which is Kind.CONTROL or name in ("jit", "pjit")):
        return graph_flops(eqn.params["jaxpr"])
    if which is Kind.REDUCTION:
        return _size(eqn.invars)
    if which is Kind.GATHER:
        return _size(eqn.invars[2:3])  # of the updates, each is added
    if which is Kind.SORT:
        size = _size(eqn.invars)
        return size * max(1, size.bit_length())
    if which is Kind.LINALG:
        shape = eqn.invars[0].aval.shape
        above, below = _PER_CUBE.get(name, (1, 1))
        return math.prod(shape) * (shape[-1] if shape else 1) * above // below
    return _FLOPS_PER_ELEMENT.get(which, 1) * _size(eqn.outvars)


def eqn_bytes(eqn: Eqn) -> int:
    """Returns the bytes that an equation reads and writes.

    Of an operand that is read or written at computed positions, what is there counts, and not the rest.
    """
    name = eqn.primitive.name
    if name in ("gather", "dynamic_slice"):
        return _bytes(eqn.invars[1:]) + 2 * _bytes(eqn.outvars)
    if name == "dynamic_update_slice":
        return _bytes(eqn.invars[2:]) + 2 * _bytes(eqn.invars[1:2])
    if name.startswith("scatter"):
        n_moves = 2 if name == "scatter" else 3  # one that adds reads what is there
        return _bytes(eqn.invars[1:2]) + n_moves * _bytes(eqn.invars[2:])
    estimate = eqn.params.get("cost_estimate")
    if estimate is not None and hasattr(estimate, "bytes_accessed"):
        return int(estimate.bytes_accessed)
    read = sum(aval_bytes(var.aval) for var in dict.fromkeys(variables(eqn.invars)))
    return read + _bytes(eqn.outvars)


def graph_flops(jaxpr: Jaxpr) -> int:
    """Returns the FLOPs of all equations of a graph, open or closed."""
    return sum(map(eqn_flops, jaxpr.eqns))


def _dot_flops(eqn: Eqn) -> int:
    (contracted, _), _ = eqn.params["dimension_numbers"]
    left = eqn.invars[0].aval.shape
    return 2 * _size(eqn.outvars) * math.prod(left[axis] for axis in contracted)


def _ragged_dot_flops(eqn: Eqn) -> int:
    """A row meets the matrix of one group; cut along what is contracted, an entry is of one part."""
    numbers = eqn.params["ragged_dot_dimension_numbers"]
    (contracted, _), _ = numbers.dot_dimension_numbers
    left, sizes = (eqn.invars[i].aval.shape for i in (0, 2))
    flops = 2 * _size(eqn.outvars) * math.prod(left[axis] for axis in contracted)
    is_cut_there = bool(set(numbers.lhs_ragged_dimensions) & set(contracted))
    return flops // max(1, sizes[-1]) if is_cut_there else flops


def _conv_flops(eqn: Eqn) -> int:
    numbers, params = eqn.params["dimension_numbers"], eqn.params
    image, kernel = (eqn.invars[i].aval.shape for i in (0, 1))
    result = eqn.outvars[0].aval.shape
    n_taps = 1
    for place in range(2, len(image)):
        n_taps *= taps(
            image[numbers.lhs_spec[place]],
            kernel[numbers.rhs_spec[place]],
            result[numbers.out_spec[place]],
            params["window_strides"][place - 2],
            params["padding"][place - 2][0],
            (params["lhs_dilation"] or (1,) * len(image))[place - 2],
            (params["rhs_dilation"] or (1,) * len(image))[place - 2],
        )
    channels = result[numbers.out_spec[0]] * result[numbers.out_spec[1]] * kernel[numbers.rhs_spec[1]]
    return 2 * channels * n_taps


def taps(size: int, window: int, n_results: int, stride: int, padding: int, spread: int, dilation: int) -> int:
    """Returns how many pairs of a result and a place of its window meet an element of one axis of the image.

    Args:
      window: That of the kernel's.
      n_results: That of the result's.
      stride: How far apart the windows of neighbouring results are.
      padding: How many zeros come first.
      spread: How far apart the elements of the image are put.
      dilation: How far apart the places of a window are.
    """
    total = 0
    period = spread // math.gcd(stride, spread)  # how many results lie between two that meet an element
    for place in range(window):
        first = place * dilation - padding  # where result 0 looks
        meets = next((i for i in range(period) if (first + i * stride) % spread == 0), None)
        if meets is None:
            continue
        low, step = first + meets * stride, period * stride
        n_windows = max(0, -(-(n_results - meets) // period))
        skipped = max(0, (step - 1 - low) // step)
        reached = max(0, ((size - 1) * spread - low) // step + 1)
        total += max(0, min(n_windows, reached) - skipped)
    return total


def _power_flops(eqn: Eqn) -> int:
    power = abs(int(eqn.params["y"]))
    n_products = max(0, power.bit_length() + power.bit_count() - 2) + (eqn.params["y"] < 0)
    return n_products * _size(eqn.outvars)


def _window_flops(eqn: Eqn) -> int:
    return _size(eqn.outvars) * max(1, math.prod(eqn.params["window_dimensions"]) - 1)


def _fft_flops(eqn: Eqn) -> int:
    """Five for each element and each halving, see Cooley and Tukey (1965); half of that for real ones."""
    n = math.prod(eqn.params["fft_lengths"])
    is_real = "complex" not in str(eqn.invars[0].aval.dtype) or "complex" not in str(eqn.outvars[0].aval.dtype)
    size = max(_size(eqn.invars), _size(eqn.outvars))
    return 5 * size * max(1, (n - 1).bit_length()) // (2 if is_real else 1)


def _kernel_flops(eqn: Eqn) -> int:
    estimate = eqn.params.get("cost_estimate")
    return _size(eqn.outvars) if estimate is None else int(estimate.flops)


_COUNTS: dict[str, Callable[[Eqn], int]] = {
    "dot_general": _dot_flops,
    "ragged_dot_general": _ragged_dot_flops,
    "scaled_matmul": lambda eqn: 2 * _size(eqn.outvars) * eqn.invars[0].aval.shape[-1],
    "conv_general_dilated": _conv_flops,
    "integer_pow": _power_flops,
    **dict.fromkeys(("reduce_window_sum", "reduce_window_max", "reduce_window_min"), _window_flops),
    "fft": _fft_flops,
    "triangular_solve": lambda eqn: _size(eqn.invars[1:2]) * eqn.invars[0].aval.shape[-1],
    "custom_linear_solve": lambda eqn: graph_flops(eqn.params["jaxprs"].solve),
    "pallas_call": _kernel_flops,
    "scan": lambda eqn: eqn.params["length"] * graph_flops(eqn.params["jaxpr"]),
    "while": lambda eqn: graph_flops(eqn.params["body_jaxpr"]) + graph_flops(eqn.params["cond_jaxpr"]),
    "cond": lambda eqn: max(map(graph_flops, eqn.params["branches"])),
}
"""How the FLOPs of primitives are counted for which their kind does not say enough."""


def _bytes(atoms: Sequence[Any]) -> int:
    return sum(aval_bytes(atom.aval) for atom in atoms)


def _size(atoms: Sequence[Any]) -> int:
    return sum(math.prod(int(size) for size in getattr(atom.aval, "shape", ())) for atom in atoms)
