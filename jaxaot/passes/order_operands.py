"""The order of the operands of matrix products, by the shape of the result."""

from __future__ import annotations

from typing import Any

from jax.lax import dot_general_p

from jaxaot.ir.build import array_var, barrier, is_rewritable, swapped, transpose
from jaxaot.ir.rewrite import rebuild

THIN = 64
"""Up to how many columns of a matrix a barrier pays, which costs another small array (`benchmarks.rewrites`)."""


def order_operands(closed: Any) -> Any:
    """Returns the graph with products along first axes computed with fewer rows than columns, and then transposed.

        c: f32[512,128] = dot_general[((0,),(0,))] a b        d: f32[128,512] = dot_general[((0,),(0,))] b a
                                                       →      c: f32[512,128] = transpose[permutation=(1,0)] d

    Such products, the gradients of weights, are computed by Eigen on CPU: 89 GFLOP/s for the left one, 156 for the
    right one. The transpose is a small part of that, and often part of what reads it. If there are at most `THIN`
    columns, a barrier is between them, as XLA would make the product of before of both.
    """
    eqns = []
    for eqn in closed.jaxpr.eqns:
        if eqn.primitive is dot_general_p and is_rewritable(eqn) and _is_tall(eqn):
            (target,) = eqn.outvars
            *batch, rows, columns = target.aval.shape
            product = array_var((*batch, columns, rows), target)
            eqns.append(swapped(eqn, product))
            n_batch = len(batch)
            if columns <= THIN and not batch:
                barred, (product,) = barrier([product], eqn)
                eqns.append(barred)
            eqns += transpose(product, (*range(n_batch), n_batch + 1, n_batch), eqn, target)[0]
        else:
            eqns.append(eqn)
    return rebuild(closed, eqns, closed.jaxpr.outvars)


def _is_tall(dot: Any) -> bool:
    """Returns whether a product of matrices contracts the first axis of both and has more rows than columns."""
    (contract_left, contract_right), (batch_left, batch_right) = dot.params["dimension_numbers"]
    n_batch = len(batch_left)
    leading = tuple(range(n_batch))
    if tuple(batch_left) != leading or tuple(batch_right) != leading:
        return False
    if tuple(contract_left) != (n_batch,) or tuple(contract_right) != (n_batch,):
        return False
    if any(operand.aval.ndim != n_batch + 2 for operand in dot.invars):
        return False
    *_, rows, columns = dot.outvars[0].aval.shape
    return rows > columns > 1
