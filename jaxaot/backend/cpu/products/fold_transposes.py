"""Folding transposes into matrix products.

A matrix product reads its operands along whichever axes it contracts, so that a transposed operand costs nothing; and
with its operands swapped it makes the transposed result. A transpose on its own is a pass over memory.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from jax.lax import dot_general_p, transpose_p

from jaxaot._jax import Literal
from jaxaot.ir.build import is_rewritable, swapped
from jaxaot.ir.rewrite import rebuild
from jaxaot.ir.walk import producers, variables
from jaxaot.passes.dce import dce


def fold_transposes(closed: Any) -> Any:
    """Returns the graph with transposes of operands and of results of `dot_general` folded into it.

        b = transpose[permutation=(1,0)] a                     c = dot_general[((1,),(1,))] x a
        c = dot_general[((1,),(0,))] x b               →       e = dot_general[((0,),(0,))] x y
        d = dot_general[((0,),(0,))] y x
        e = transpose[permutation=(1,0)] d

    A result is folded if only its transpose is read. An operand is folded if the axes of the result keep their order
    and batch axes stay in front.
    """
    jaxpr = closed.jaxpr
    producer = producers(jaxpr)
    n_reads = Counter(var for eqn in jaxpr.eqns for var in variables(eqn.invars))
    n_reads.update(variables(jaxpr.outvars))
    eqns = list(jaxpr.eqns)

    def made_by(atom: Any, primitive: Any) -> int | None:
        position = None if isinstance(atom, Literal) else producer.get(atom)
        return position if position is not None and eqns[position].primitive is primitive else None

    for i, eqn in enumerate(eqns):
        if eqn.primitive is transpose_p:
            source = made_by(eqn.invars[0], dot_general_p)
            if source is not None and n_reads[eqn.invars[0]] == 1 and is_rewritable(eqns[source]):
                swapped = _swapped(eqns[source], eqn)
                eqns[i] = eqn if swapped is None else swapped
        elif eqn.primitive is dot_general_p and is_rewritable(eqn):
            for side in (0, 1):
                source = made_by(eqns[i].invars[side], transpose_p)
                if source is not None:
                    eqns[i] = _with_source(eqns[i], side, eqns[source])
    # a product moves to where its transpose stood: what it reads was made before
    folded = rebuild(closed, eqns, jaxpr.outvars)
    return dce(folded)


def _swapped(dot: Any, transpose: Any) -> Any:
    """Returns the product that makes a transposed result, or None if swapping its operands does not."""
    (contract_left, contract_right), (batch_left, _) = dot.params["dimension_numbers"]
    left, right = dot.invars
    n_batch = len(batch_left)
    n_left = left.aval.ndim - n_batch - len(contract_left)
    n_right = right.aval.ndim - n_batch - len(contract_right)
    wanted = (*range(n_batch), *range(n_batch + n_left, n_batch + n_left + n_right), *range(n_batch, n_batch + n_left))
    if tuple(transpose.params["permutation"]) != wanted:
        return None
    return swapped(dot, transpose.outvars[0])


def _with_source(dot: Any, side: int, transpose: Any) -> Any:
    """Returns a product that reads what was transposed instead of its operand `side`, if it can."""
    permutation = transpose.params["permutation"]
    contract, batch = dot.params["dimension_numbers"]
    own_contract = tuple(permutation[axis] for axis in contract[side])
    own_batch = tuple(permutation[axis] for axis in batch[side])
    used = {*contract[side], *batch[side]}
    free = [permutation[axis] for axis in range(len(permutation)) if axis not in used]
    if free != sorted(free) or own_batch != tuple(range(len(own_batch))):
        return dot
    contract = (own_contract, contract[1]) if side == 0 else (contract[0], own_contract)
    batch = (own_batch, batch[1]) if side == 0 else (batch[0], own_batch)
    invars = list(dot.invars)
    invars[side] = transpose.invars[0]
    return dot.replace(invars=invars, params={**dot.params, "dimension_numbers": (contract, batch)})
