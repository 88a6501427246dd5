"""Matrix products of plain matrices: contracted and free axes that lie side by side become one.

Axes of a batch stay as they are: nothing is gained by fewer of them, and what follows would read a reshaped value.
"""

from __future__ import annotations

import itertools
from typing import Any

from jax.lax import dot_general_p

from jaxaot.ir.build import array_var, is_rewritable, n_elements, reshape
from jaxaot.ir.rewrite import rebuild


def flatten_dots(closed: Any) -> Any:
    """Returns the graph with axes of each `dot_general`, but those of batches, collapsed where they lie side by side.

        c: f32[8,128,512] = dot_general[((2,),(0,))] a b        d: f32[1024,128] = reshape a
                                                         →      e: f32[1024,512] = dot_general[((1,),(0,))] d b
                                                                c: f32[8,128,512] = reshape e

    Reshapes of that kind move nothing. XLA takes a product of plain matrices as it is, where it would transpose the
    operands of others.
    """
    eqns = []
    for eqn in closed.jaxpr.eqns:
        if eqn.primitive is dot_general_p and is_rewritable(eqn) and eqn.outvars[0].aval.size:
            eqns += _flattened(eqn)
        else:
            eqns.append(eqn)
    return rebuild(closed, eqns, closed.jaxpr.outvars)


def _flattened(dot: Any) -> list[Any]:
    (contract_left, contract_right), (batch_left, batch_right) = dot.params["dimension_numbers"]
    left, right = dot.invars
    free_left, free_right = (
        tuple(axis for axis in range(atom.aval.ndim) if axis not in used)
        for atom, used in ((left, {*contract_left, *batch_left}), (right, {*contract_right, *batch_right}))
    )
    if not free_left or not free_right:  # a vector: XLA computes it in a loop, into which it takes what is read
        return [dot]
    # a pair of axes is contracted in any order, so in that of the left operand
    pairs = sorted(zip(contract_left, contract_right, strict=True))
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    merges = _is_run(first) and _is_run(second)
    groups_left = [
        [(axis,) for axis in batch_left],
        [tuple(first)] if merges and first else [(axis,) for axis in first],
    ]
    groups_right = [
        [(axis,) for axis in batch_right],
        [tuple(second)] if merges and second else [(axis,) for axis in second],
    ]
    for groups, free in ((groups_left, free_left), (groups_right, free_right)):
        groups.append([free] if _is_run(free) and free else [(axis,) for axis in free])
    before_left, new_left, numbers_left = _merged(left, groups_left, dot)
    before_right, new_right, numbers_right = _merged(right, groups_right, dot)
    if not before_left and not before_right:
        return [dot]
    (batches_left, contracts_left), (batches_right, contracts_right) = numbers_left, numbers_right
    params = {
        **dot.params,
        "dimension_numbers": ((contracts_left, contracts_right), (batches_left, batches_right)),
    }
    used_left, used_right = {*batches_left, *contracts_left}, {*batches_right, *contracts_right}
    shape = [new_left.aval.shape[axis] for axis in batches_left]
    shape += [size for axis, size in enumerate(new_left.aval.shape) if axis not in used_left]
    shape += [size for axis, size in enumerate(new_right.aval.shape) if axis not in used_right]
    (target,) = dot.outvars
    if tuple(shape) == tuple(target.aval.shape):
        return [*before_left, *before_right, dot.replace(invars=[new_left, new_right], params=params)]
    product = array_var(shape, target)
    flat = dot.replace(invars=[new_left, new_right], outvars=[product], params=params)
    return [*before_left, *before_right, flat, *reshape(product, target.aval.shape, dot, target)[0]]


def _is_run(axes: Any) -> bool:
    """Returns whether axes lie side by side, in order."""
    return all(after == before + 1 for before, after in itertools.pairwise(axes))


def _merged(atom: Any, groups: list[list[tuple[int, ...]]], dot: Any) -> tuple[list[Any], Any, tuple[Any, Any]]:
    """Returns an operand with some axes merged: the equations, the result, and its batch and contracted axes.

    Args:
      atom: The operand.
      groups: Batch, contracted and free axes, each as groups that become one axis.
      dot: The equation that reads it.
    """
    order = sorted(group for kind in groups for group in kind)
    place = {group: i for i, group in enumerate(order)}
    shape = [n_elements([atom.aval.shape[axis] for axis in group]) for group in order]
    eqns, result = reshape(atom, shape, dot)
    return eqns, result, (tuple(place[group] for group in groups[0]), tuple(place[group] for group in groups[1]))
