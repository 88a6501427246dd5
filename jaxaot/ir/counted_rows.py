"""Rows that are counted: `x[jnp.arange(8), y]` takes from each row of a batch, and can be cut along it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax import lax

from jaxaot._typing import Array, ClosedJaxpr, Eqn
from jaxaot.ir.constants import counted_axis
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import Makers


def with_batches(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with gathers and scatters of counted rows as those of a batch, which can be cut along it.

        i: i32[8,2] = concatenate[1] (iota) y              j: i32[8,1] = slice[:, 1:] i
        g: f32[8] = gather[axes 0, 1 by i] x         →     g: f32[8] = gather[axis 1 by j; axis 0 goes along with j] x

    This is what `x[jnp.arange(8), y]` and its gradient are.
    """
    makers, rewriter = Makers(closed.jaxpr), Rewriter(closed)
    for eqn in rewriter.equations():
        made = _batched(eqn, makers) if eqn.primitive.name in _FIELDS else None
        if made is None:
            rewriter.keep(eqn)
            continue
        numbers, columns = made
        operand, indices, *updates = eqn.invars
        kept = rewriter.call(_columns, indices, columns=columns)
        rewriter.like(eqn, [operand, kept, *updates], eqn.outvars[0], {**eqn.params, "dimension_numbers": numbers})
    return rewriter.graph()


_FIELDS = {
    "gather": ("collapsed_slice_dims", "start_index_map", "operand_batching_dims", "start_indices_batching_dims"),
    **dict.fromkeys(
        ("scatter", "scatter-add"),
        (
            "inserted_window_dims",
            "scatter_dims_to_operand_dims",
            "operand_batching_dims",
            "scatter_indices_batching_dims",
        ),
    ),
}
"""What the numbers of a gather or scatter call the axes without windows, those indices are of, and those of a batch."""


def _batched(eqn: Eqn, makers: Makers) -> tuple[Any, tuple[int, ...]] | None:
    """Returns the numbers of a gather or scatter of which columns that count are axes of a batch, and other columns."""
    numbers, (operand, indices, *_) = eqn.params["dimension_numbers"], eqn.invars
    names = _FIELDS[eqn.primitive.name]
    single, mapped, batch, along = (tuple(getattr(numbers, name)) for name in names)
    counted: dict[int, int] = {}
    for column, axis in enumerate(mapped):
        found = counted_axis(indices, column, makers)
        if found is None or found in (*along, *counted.values()):
            continue
        if axis in single and operand.aval.shape[axis] == indices.aval.shape[found]:
            counted[column] = found
    columns = tuple(column for column in range(len(mapped)) if column not in counted)
    if not counted or not columns:
        return None
    pairs = sorted([*zip(batch, along, strict=True), *((mapped[column], axis) for column, axis in counted.items())])
    changed = (
        tuple(axis for axis in single if axis not in {mapped[column] for column in counted}),
        tuple(mapped[column] for column in columns),
        tuple(axis for axis, _ in pairs),
        tuple(axis for _, axis in pairs),
    )
    return numbers._replace(**dict(zip(names, changed, strict=True))), columns


def _columns(indices: Array, *, columns: Sequence[int]) -> Any:
    return lax.concatenate([lax.slice_in_dim(indices, k, k + 1, axis=-1) for k in columns], indices.ndim - 1)
