"""Scatters of one element to each row of zeros, such as autodiff makes of a cross entropy, as selections.

XLA on CPU writes the zeros, then loops over the elements, and reads all of it again in what follows: with a vocabulary
of 4,000 that takes longer than the cross entropy itself. A selection is computed where it is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._jax import Literal
from jaxaot._typing import Array, Atom, ClosedJaxpr, Eqn
from jaxaot.backend.cpu.machine import machine
from jaxaot.ir.build import laid_out
from jaxaot.ir.constants import counted_axis
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import Makers, aval_bytes, is_rewritable, variables
from jaxaot.passes.dce import dce


def select_scatters(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with scatters of at most one element to each row of zeros as selections.

        z: f32[8,100] = broadcast_in_dim 0.0               j: i32[8,100] = iota[dimension=1]
        y: f32[8,100] = scatter-add z i u           →      p: bool[8,100] = eq j i
        s: f32[8] = reduce_sum[axes=(1,)] y                y: f32[8,100] = select_n p 0.0 u
                                                           s: f32[8] = select_n (0 <= i < 100) 0.0 u

    for i: i32[8,1] and u: f32[8]. The sum of a row, of which the gradient of a softmax has one, is its one element.
    What nothing reads but the caller stays: written it must be; and so do results of less than `min_selected_bytes`.
    """
    read = {var for eqn in closed.jaxpr.eqns for var in variables(eqn.invars)}
    makers, rewriter = Makers(closed.jaxpr), Rewriter(closed)
    rows: dict[Any, _Rows] = {}
    for eqn in rewriter.equations():
        scatter = _scatter(eqn, makers)
        if scatter is not None and eqn.outvars[0] in read:
            atoms = rewriter.instead(eqn, scatter.selected, *eqn.invars[1:])
            if atoms is not None:
                rows[eqn.outvars[0]] = _Rows(scatter, *atoms)
            continue
        found = next((rows[var] for var in variables(eqn.invars) if var in rows), None)
        if found is not None and eqn.primitive is lax.neg_p:
            rows[eqn.outvars[0]] = found._replace(is_negated=not found.is_negated)
        if found is not None and eqn.primitive is lax.reduce_sum_p and found.scatter.axis in eqn.params["axes"]:
            rewriter.instead(eqn, found.summed(eqn.params["axes"]), found.index, found.value)
        else:
            rewriter.keep(eqn)
    return dce(rewriter.graph()) if rows else closed


class _Scatter(NamedTuple):
    """A scatter of one element, or of one slice of elements, to each row of zeros.

    Attributes:
      shape: The shape of the result.
      axis: The axis along which rows lie.
      column: Which of the numbers of an index is the place in a row.
      batch: For each axis of the result, that of the indices along which it goes, or None.
      window: For each axis of the result, that of the updates along which it goes, or None.
      is_clamped: Whether indices out of range mean the nearest element; else they mean none.
    """

    shape: tuple[int, ...]
    axis: int
    column: int
    batch: tuple[int | None, ...]
    window: tuple[int | None, ...]
    is_clamped: bool

    def selected(self, indices: Array, updates: Array) -> tuple[Any, Any, Any]:
        """Returns the scatter's result, and the index and the value of each row, with size 1 along `axis`."""
        index = lax.index_in_dim(indices, self.column, indices.ndim - 1, keepdims=False)
        index = laid_out(index, self.batch)
        if index.dtype.itemsize < 4:
            index = index.astype(jnp.int32)
        if self.is_clamped:
            index = lax.clamp(jnp.zeros((), index.dtype), index, jnp.asarray(self.shape[self.axis] - 1, index.dtype))
        value = laid_out(updates, self.window)
        where = lax.broadcasted_iota(index.dtype, self.shape, self.axis) == index
        spread = lax.broadcast_in_dim(value, self.shape, tuple(range(value.ndim)))
        return lax.select_n(where, lax.full_like(spread, 0), spread), index, value


class _Rows(NamedTuple):
    """What is zero but for one element, or one slice of elements, of each row.

    Attributes:
      scatter: How it was made.
      index: Where that element is.
      value: What it is.
      is_negated: Whether it is that with the opposite sign.
    """

    scatter: _Scatter
    index: Any
    value: Any
    is_negated: bool = False

    def summed(self, axes: Sequence[int]) -> Callable[[Any, Any], tuple[Any]]:
        """Returns a function of index and value to the sum over some axes, that of the rows among them."""
        scatter = self.scatter

        def total(index: Array, value: Array) -> tuple[Any]:
            if not scatter.is_clamped:
                is_inside = (index >= 0) & (index < scatter.shape[scatter.axis])
                value = lax.select_n(jnp.broadcast_to(is_inside, value.shape), lax.full_like(value, 0), value)
            value = lax.neg(value) if self.is_negated else value
            other = [axis for axis in axes if axis != scatter.axis and value.shape[axis] > 1]
            if other:
                value = lax.reduce_sum(value, other)
            kept = [size for axis, size in enumerate(scatter.shape) if axis not in axes]
            return (lax.reshape(value, kept),)

        return total


def _scatter(eqn: Eqn, makers: Makers) -> _Scatter | None:
    """Returns the scatter of an equation that writes at most one element into each row of zeros; None for any other."""
    if eqn.primitive not in (lax.scatter_add_p, lax.scatter_p) or not is_rewritable(eqn):
        return None
    zeros, indices, updates = eqn.invars
    if aval_bytes(zeros.aval) < machine().min_selected_bytes:
        return None
    numbers, mode = eqn.params["dimension_numbers"], eqn.params["mode"]
    modes = lax.GatherScatterMode.CLIP, lax.GatherScatterMode.FILL_OR_DROP, lax.GatherScatterMode.PROMISE_IN_BOUNDS
    if mode not in modes or not _is_zero(zeros, makers) or 0 in (*zeros.aval.shape, *updates.aval.shape):
        return None
    shape, rank = zeros.aval.shape, zeros.aval.ndim
    batch: list[int | None] = [None] * rank
    for axis, along in zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True):
        batch[axis] = int(along)
    window: list[int | None] = [None] * rank
    gone = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    for axis, along in zip((i for i in range(rank) if i not in gone), numbers.update_window_dims, strict=True):
        window[axis] = int(along)
    rows: list[tuple[int, int]] = []  # columns, with the axes that they lead along
    for column, axis in enumerate(numbers.scatter_dims_to_operand_dims):
        if window[axis] is not None and updates.aval.shape[window[axis]] > 1:
            return None
        counted = counted_axis(indices, column, makers)
        if counted is not None and shape[axis] == indices.aval.shape[counted]:
            batch[axis], window[axis] = counted, None
        else:
            rows.append((column, int(axis)))
    if len(rows) != 1:
        return None
    ((column, axis),) = rows
    window[axis] = None
    n_places = math.prod(indices.aval.shape[:-1])
    if n_places != math.prod(shape[i] for i in range(rank) if batch[i] is not None):
        return None  # several elements may go to one row
    along = [i for i in batch if i is not None]
    if len(set(along)) < len(along):
        return None
    if any(i != axis and w is not None and updates.aval.shape[w] != shape[i] for i, w in enumerate(window)):
        return None
    if any(i != axis and b is None and w is None for i, (b, w) in enumerate(zip(batch, window, strict=True))):
        return None
    # an update has the axes of its window, and for each other axis one of the indices, in order
    others = [i for i in range(updates.aval.ndim) if i not in numbers.update_window_dims]
    of_update = tuple(w if b is None else others[b] for b, w in zip(batch, window, strict=True))
    return _Scatter(shape, axis, column, tuple(batch), of_update, mode == lax.GatherScatterMode.CLIP)


def _is_zero(atom: Atom, makers: Makers) -> bool:
    number = makers.behind(atom, ("broadcast_in_dim",))
    return isinstance(number, Literal) and np.ndim(number.val) == 0 and bool(np.asarray(number.val) == 0)
