"""Loops that JAX writes out are written out in the graph: `lax.scan(…, unroll=True)`, `jnp.polyval`, single rounds.

XLA gets such a loop as its rounds, one after the other, so a graph that shows a loop there shows what will not be: the
passes that follow see only one round, and values between them seem to be in memory that XLA computes in one kernel.
"""

from __future__ import annotations

from typing import Any

from jax import lax

from jaxaot._jax import has_side_effects, scan_counts
from jaxaot._scopes import nest_source
from jaxaot._typing import Array, ClosedJaxpr, Eqn
from jaxaot.ir.rewrite import inline, splice
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import is_rewritable


def open_loops(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with the rounds of each loop that JAX writes out, one after the other.

        c, y = scan[length=2 unroll=2 jaxpr={            →      a, b = x[0], x[1]
          c x → d = mul c x; d, d }] s x                        d = mul s a;  c = mul d b
                                                                y = stack d c

    Calls in the rounds are inlined, and such loops in them opened too.
    """
    if not any(map(_is_written_out, closed.jaxpr.eqns)):
        return closed
    rewriter = Rewriter(closed)
    for eqn in rewriter.equations():
        body = open_loops(inline(eqn.params["jaxpr"], also_custom=True)) if _is_written_out(eqn) else None
        if body is None or body.consts:
            rewriter.keep(eqn)
        else:
            _write_rounds(rewriter, eqn, body)
    return rewriter.graph()


def _is_written_out(eqn: Eqn) -> bool:
    """Returns whether an equation is a loop of plain arrays that JAX lowers as its rounds."""
    if eqn.primitive.name != "scan" or has_side_effects(eqn) or not is_rewritable(eqn):
        return False
    length, unroll = eqn.params["length"], eqn.params["unroll"]
    return length > 0 and (unroll == 0 or unroll >= length)


def _write_rounds(rewriter: Rewriter, loop: Eqn, body: ClosedJaxpr) -> None:
    """Writes the rounds of a loop in its place.

    Args:
      rewriter: What they are written with.
    """
    length = loop.params["length"]
    n_consts, n_carry = scan_counts(loop)
    operands = rewriter.read(loop.invars)
    consts, carry = operands[:n_consts], operands[n_consts : n_consts + n_carry]
    stacked = operands[n_consts + n_carry :]
    made: list[Any] = [None] * length
    for i in reversed(range(length)) if loop.params["reverse"] else range(length):
        elements = rewriter.calls(_row, *stacked, i=i)
        steps, results, _ = splice(body, [*consts, *carry, *elements])
        rewriter.write(step.replace(source_info=nest_source(step, loop.source_info)) for step in steps)
        carry, made[i] = results[:n_carry], results[n_carry:]
    columns = zip(*made, strict=True)
    results = [*carry, *(rewriter.call(_stack, *column) for column in columns)]
    for var, result in zip(loop.outvars, results, strict=True):
        rewriter.replace(var, result)


def _row(*stacked: Array, i: int) -> list[Any]:
    return [lax.index_in_dim(array, i, keepdims=False) for array in stacked]


def _stack(*rows: Array) -> list[Any]:
    return [lax.concatenate([lax.expand_dims(row, (0,)) for row in rows], 0)]
