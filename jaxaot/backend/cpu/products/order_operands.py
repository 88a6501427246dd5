"""The order of the operands of matrix products, by the shape of the result."""

from __future__ import annotations

from typing import Any, NamedTuple

from jax.lax import dot_general_p

from jaxaot._typing import ClosedJaxpr, Eqn
from jaxaot.backend.cpu.machine import machine
from jaxaot.ir.build import array_var, barrier, swapped, transpose
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import aval_bytes, is_rewritable


def order_operands(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with products along first axes computed with fewer rows than columns, and then transposed.

        c: f32[512,128] = dot_general[((0,),(0,))] a b        d: f32[128,512] = dot_general[((0,),(0,))] b a
                                                       →      c: f32[512,128] = transpose[permutation=(1,0)] d

    Such products, the gradients of weights, are computed by Eigen on CPU: 89 GFLOP/s for the left one, 156 for the
    right one. The transpose is a small part of that, and often part of what reads it. If there are at most
    `max_thin_columns` columns, a barrier is between them, as XLA would make the product of before of both.

    Of products of several matrices XLA copies those whose axes do not lie as its library reads them: batch, rows,
    contracted of the left one; batch, contracted, columns of the right one. Operands are swapped where that leaves less
    to copy, the result included: the weights of an attention are many times as large as what they weigh.
    """
    rewriter = Rewriter(closed)
    for eqn in rewriter.equations():
        if eqn.primitive is dot_general_p and is_rewritable(eqn) and (_is_tall(eqn) or _copies_less(eqn)):
            (target,) = eqn.outvars
            shape = target.aval.shape
            n_batch = len(eqn.params["dimension_numbers"][1][0])
            n_rows = eqn.invars[0].aval.ndim - n_batch - len(eqn.params["dimension_numbers"][0][0])
            rows, columns = range(n_batch, n_batch + n_rows), range(n_batch + n_rows, len(shape))
            order = (*range(n_batch), *columns, *rows)
            product = array_var([shape[axis] for axis in order], target)
            rewriter.write([swapped(eqn, product)])
            if not n_batch and shape[1] <= machine().max_thin_columns:
                barred, (product,) = barrier([product], eqn)
                rewriter.write([barred])
            rewriter.write(transpose(product, [order.index(axis) for axis in range(len(shape))], eqn, target)[0])
        else:
            rewriter.keep(eqn)
    return rewriter.graph()


def _is_tall(dot: Eqn) -> bool:
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


def _copies_less(dot: Eqn) -> bool:
    """Returns whether XLA has less to copy for a product of several matrices if its operands are swapped."""
    left, right = (_Operand(*of) for of in zip(dot.invars, *dot.params["dimension_numbers"], strict=True))
    if not left.batch or not left.contracted:
        return False
    as_it_is = left.bytes_to_copy(is_left=True) + right.bytes_to_copy(is_left=False)
    swapped_ones = right.bytes_to_copy(is_left=True) + left.bytes_to_copy(is_left=False)
    return as_it_is > swapped_ones + aval_bytes(dot.outvars[0].aval)


class _Operand(NamedTuple):
    """An operand of a product.

    Attributes:
      atom: The operand.
      contracted: The axes that are summed over.
      batch: The axes that are those of the other operand and of the result.
    """

    atom: Any
    contracted: tuple[int, ...]
    batch: tuple[int, ...]

    def bytes_to_copy(self, is_left: bool) -> int:
        """Returns the bytes that XLA copies of it as the left or the right operand: all of them, or none."""
        used = {*self.contracted, *self.batch}
        free = [axis for axis in range(self.atom.aval.ndim) if axis not in used]
        matrix = (*free, *self.contracted) if is_left else (*self.contracted, *free)
        axes = [axis for axis in (*self.batch, *matrix) if self.atom.aval.shape[axis] > 1]
        return 0 if axes == sorted(axes) else aval_bytes(self.atom.aval)
