"""Matrix products of plain matrices: contracted and free axes that lie side by side become one.

Axes of a batch stay as they are: nothing is gained by fewer of them, and what follows would read a reshaped value.

Of a product of two matrices XLA copies both operands where several axes are contracted that do not lie side by side,
each into an order of its own, so that the gradient of the weights after an attention, of heads apart and of positions,
has the activations transposed too. Only what has to be moved is, to where all that read it can take it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from jax.lax import dot_general_p

from jaxaot._typing import Atom, ClosedJaxpr, Eqn
from jaxaot.ir.build import array_var, n_elements, reshape, transpose
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import is_rewritable


def flatten_dots(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with axes of each `dot_general`, but those of batches, collapsed where they lie side by side.

        c: f32[8,128,512] = dot_general[((2,),(0,))] a b        d: f32[1024,128] = reshape a
                                                         →      e: f32[1024,512] = dot_general[((1,),(0,))] d b
                                                                c: f32[8,128,512] = reshape e

    Reshapes of that kind move nothing. XLA takes a product of plain matrices as it is, where it would transpose the
    operands of others. Axes of an operand without a batch that do not lie so are moved first: `b: f32[8,4,128,32]`, of
    which axes 1 and 3 are contracted, is transposed to `f32[8,128,4,32]`.
    """
    dots = [e for e in closed.jaxpr.eqns if e.primitive is dot_general_p and is_rewritable(e) and _is_of_matrices(e)]
    rewriter, flattened = Rewriter(closed), {id(dot) for dot in dots}
    products = _Products(rewriter, dots)
    for eqn in rewriter.equations():
        if id(eqn) in flattened:
            products.flatten(eqn)
        else:
            rewriter.keep(eqn)
    return rewriter.graph()


class _Products:
    """Writes products of matrices."""

    def __init__(self, rewriter: Rewriter, dots: Sequence[Eqn]):
        """Looks at products; nothing is written yet.

        Args:
          rewriter: What they are written with.
        """
        self._rewriter = rewriter
        self._moved: dict[Any, Any] = {}  # by operand and order
        self._n_wanted: Counter[Any] = Counter()  # how many left operands should have an order
        for dot in dots:
            left, first = dot.invars[0], _contracted(dot)[0]
            if not dot.params["dimension_numbers"][1][0] and not _lies_side_by_side(left, first):
                self._n_wanted[id(left), (*_others(left, first), *first)] += 1

    def flatten(self, dot: Eqn) -> None:
        """Writes a product, and before it what it takes to have plain matrices for operands."""
        _, (batch_left, batch_right) = dot.params["dimension_numbers"]
        left, right = dot.invars
        first, second = _contracted(dot)
        if not batch_left and first:
            left, first = self._side_by_side(left, first, dot)
            right, second = self._side_by_side(right, second, dot)
        merges = _is_run(first) and _is_run(second)
        new_left, *numbers_left = self._merged(left, batch_left, first, merges, dot)
        new_right, *numbers_right = self._merged(right, batch_right, second, merges, dot)
        if new_left is dot.invars[0] and new_right is dot.invars[1]:
            self._rewriter.keep(dot)
            return
        (batches_left, contracts_left), (batches_right, contracts_right) = numbers_left, numbers_right
        shape = [new_left.aval.shape[axis] for axis in batches_left]
        shape += [new_left.aval.shape[axis] for axis in _others(new_left, {*batches_left, *contracts_left})]
        shape += [new_right.aval.shape[axis] for axis in _others(new_right, {*batches_right, *contracts_right})]
        (target,) = dot.outvars
        is_same = tuple(shape) == tuple(target.aval.shape)
        product = target if is_same else array_var(shape, target)
        numbers = (contracts_left, contracts_right), (batches_left, batches_right)
        params = {**dot.params, "dimension_numbers": numbers}
        self._rewriter.like(dot, [new_left, new_right], product, params)
        if not is_same:
            self._rewriter.write(reshape(product, target.aval.shape, dot, target)[0])

    def _side_by_side(self, atom: Atom, contracted: Sequence[int], dot: Eqn) -> tuple[Any, Sequence[int]]:
        """Returns an operand with its contracted axes side by side, and its contracted axes.

        They come last or first, so that products which contract them and products which contract the others, as there
        are of a gradient, read the same array: as more left operands should have it, in which XLA's fast products want
        them last. Where it is no left operand the last axis stays where it is, so that whole rows are copied.
        """
        if _lies_side_by_side(atom, contracted):
            return atom, contracted
        free = _others(atom, contracted)
        last, first = (*free, *contracted), (*contracted, *free)
        n_last, n_first = self._n_wanted[id(atom), last], self._n_wanted[id(atom), first]
        if n_last != n_first:
            order = last if n_last > n_first else first
        elif n_last:
            order = first if 0 in contracted else last
        else:
            order = last if atom.aval.ndim - 1 in contracted else first
        if (id(atom), order) not in self._moved:
            steps, self._moved[id(atom), order] = transpose(atom, order, dot)
            self._rewriter.write(steps)
        return self._moved[id(atom), order], [order.index(axis) for axis in contracted]

    def _merged(
        self, atom: Atom, batch: Sequence[int], contracted: Sequence[int], merges: bool, dot: Eqn
    ) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
        """Returns an operand with some axes merged, and its batch and contracted axes.

        Args:
          batch: Its axes that are those of the other operand and of the result.
          contracted: Its axes that are summed over.
          merges: Whether the contracted ones become one.
        """
        free = _others(atom, {*batch, *contracted})
        groups = [
            [(axis,) for axis in batch],
            [tuple(contracted)] if merges and contracted else [(axis,) for axis in contracted],
            [free] if _is_run(free) else [(axis,) for axis in free],
        ]
        order = sorted(group for kind in groups for group in kind)
        place = {group: i for i, group in enumerate(order)}
        shape = tuple(n_elements([atom.aval.shape[axis] for axis in group]) for group in order)
        steps, result = reshape(atom, shape, dot)
        self._rewriter.write(steps)
        return result, tuple(place[group] for group in groups[0]), tuple(place[group] for group in groups[1])


def _is_of_matrices(dot: Eqn) -> bool:
    """Returns whether no operand is a vector, which XLA multiplies in a loop, into which it takes what is read.

    Nor is there anything to multiply if the result is empty.
    """
    sides = zip(dot.invars, *dot.params["dimension_numbers"], strict=True)
    return dot.outvars[0].aval.size > 0 and all(
        _others(atom, (*contracted, *batch)) for atom, contracted, batch in sides
    )


def _contracted(dot: Eqn) -> tuple[list[int], list[int]]:
    """Returns the contracted axes of both operands, in the order of the left one; if that is moved, of the right one.

    Pairs of axes may be contracted in any order.
    """
    (contract_left, contract_right), (batch_left, _) = dot.params["dimension_numbers"]
    pairs = sorted(zip(contract_left, contract_right, strict=True))
    if not batch_left and not _lies_side_by_side(dot.invars[0], [a for a, _ in pairs]):
        pairs.sort(key=lambda pair: pair[1])
    return [a for a, _ in pairs], [b for _, b in pairs]


def _others(atom: Atom, axes: Collection[int]) -> tuple[int, ...]:
    """Returns the axes of an array that are none of some."""
    return tuple(axis for axis in range(atom.aval.ndim) if axis not in axes)


def _lies_side_by_side(atom: Atom, contracted: Sequence[int]) -> bool:
    """Returns whether contracted axes of an array lie side by side, in order, and so do the others."""
    return _is_run(contracted) and _is_run(_others(atom, contracted))


def _is_run(axes: Any) -> bool:
    """Returns whether axes lie side by side, in order."""
    return all(after == before + 1 for before, after in itertools.pairwise(axes))
