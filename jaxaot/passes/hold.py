"""Holding values in memory: what several equations read is computed once.

XLA on CPU copies a chain of cheap equations into each fusion that reads its result. Where the chain goes on from layer
to layer, as the residual stream of a transformer does, each copy reads what all layers before it wrote, so that time
and compile time grow with the square of the depth. A barrier stops that: what is behind it reads one array.

A *large* value has more than `SMALL_BYTES`. The *sources* of a value are the large values in memory that the chain of
cheap equations above it reads.
"""

from __future__ import annotations

from typing import Any

from jaxaot._jax import DropVar
from jaxaot.ir.build import barrier, is_rewritable
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewrite import rebuild, substitute
from jaxaot.ir.walk import aval_bytes, users, variables

SMALL_BYTES = 1 << 16
"""Values up to this size stay in a cache of the core: to compute them again costs little."""

CACHE_BYTES = 16 << 20
"""Graphs whose large values are no more than this in all are left alone: an MLP lost a twentieth by barriers."""

_NOT_COPIED = {"div", "sqrt", "rsqrt", "rem"}
"""Primitives that XLA takes for expensive and does not copy, besides the transcendental ones."""


def hold(closed: Any) -> Any:
    """Returns the graph with barriers behind large values that XLA would compute again for each reader.

        c = add a b                             c = add a b
        d = mul c 2.0                   →       e = optimization_barrier c
        return reduce_sum c, d                  d = mul e 2.0
                                                return reduce_sum e, d

    That is each value with several readers whose chain has several sources: to read the value is then less than to
    read them. And it is each result of a matrix product, which is in memory anyway: behind a barrier the product keeps
    its form, while XLA's simplifier would move transposes and reshapes of what follows into it.
    """
    jaxpr = closed.jaxpr
    made = (aval_bytes(var.aval) for eqn in jaxpr.eqns for var in eqn.outvars)
    if sum(n_bytes for n_bytes in made if n_bytes > SMALL_BYTES) <= CACHE_BYTES:
        return closed
    readers = users(jaxpr)
    returned = set(variables(jaxpr.outvars))
    sources: dict[Any, frozenset[Any]] = {}
    held: dict[Any, Any] = {}
    eqns: list[Any] = []
    for eqn in jaxpr.eqns:
        eqns.append(eqn.replace(invars=substitute(eqn.invars, held)))
        if not is_rewritable(eqn):
            continue
        which = kind(eqn)
        if which > Kind.TRANSCENDENTAL:
            if which is Kind.MATMUL:
                _hold_large(eqn, eqns, held)
            continue
        read = [sources.get(var, _large([var])) for var in variables(eqn.invars)]
        found = frozenset[Any]().union(*read)
        for var in eqn.outvars:
            n_readers = len(readers.get(var, ())) + (var in returned)
            if n_readers < 2:
                sources[var] = found
            elif which is Kind.TRANSCENDENTAL or eqn.primitive.name in _NOT_COPIED:
                sources[var] = _large([var])
            elif len(found) > 1 and which is not Kind.VIEW and _large([var]):
                _hold_large(eqn, eqns, held)
                sources[var] = frozenset([var])
            else:
                sources[var] = found
    return rebuild(closed, eqns, substitute(jaxpr.outvars, held))


def _large(atoms: Any) -> frozenset[Any]:
    return frozenset(var for var in atoms if aval_bytes(var.aval) > SMALL_BYTES)


def _hold_large(eqn: Any, eqns: list[Any], held: dict[Any, Any]) -> None:
    """Adds a barrier behind the large results of an equation."""
    large = [var for var in eqn.outvars if not isinstance(var, DropVar) and aval_bytes(var.aval) > SMALL_BYTES]
    if large:
        made, targets = barrier(large, eqn)
        eqns.append(made)
        held.update(zip(large, targets, strict=True))
