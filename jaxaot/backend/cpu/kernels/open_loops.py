"""Loops that JAX writes out are written out in the graph: `lax.scan(…, unroll=True)`, `jnp.polyval`, single rounds.

XLA gets such a loop as its rounds, one after the other, so a graph that shows a loop there shows what will not be: the
passes that follow see only one round, and values between them seem to be in memory that XLA computes in one kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from jax import lax

from jaxaot._jax import DropVar, has_side_effects, nest_source, scan_counts
from jaxaot.ir.build import is_rewritable, traced
from jaxaot.ir.rewrite import inline, reading, rebuild, splice, substitute


def open_loops(closed: Any) -> Any:
    """Returns the graph with the rounds of each loop that JAX writes out, one after the other.

        c, y = scan[length=2 unroll=2 jaxpr={            →      a, b = x[0], x[1]
          c x → d = mul c x; d, d }] s x                        d = mul s a;  c = mul d b
                                                                y = stack d c

    Calls in the rounds are inlined, and such loops in them opened too.
    """
    if not any(map(_is_written_out, closed.jaxpr.eqns)):
        return closed
    names: dict[Any, Any] = {}
    eqns: list[Any] = []
    for original in closed.jaxpr.eqns:
        eqn = reading(original, names)
        body = open_loops(inline(eqn.params["jaxpr"], also_custom=True)) if _is_written_out(original) else None
        if body is None or body.consts:
            eqns.append(eqn)
            continue
        steps, results = _rounds(eqn, body)
        eqns += steps
        names.update(
            (var, atom) for var, atom in zip(eqn.outvars, results, strict=True) if not isinstance(var, DropVar)
        )
    return rebuild(closed, eqns, substitute(closed.jaxpr.outvars, names))


def _is_written_out(eqn: Any) -> bool:
    """Returns whether an equation is a loop of plain arrays that JAX lowers as its rounds."""
    if eqn.primitive.name != "scan" or has_side_effects(eqn) or not is_rewritable(eqn):
        return False
    length, unroll = eqn.params["length"], eqn.params["unroll"]
    return length > 0 and (unroll == 0 or unroll >= length)


def _rounds(loop: Any, body: Any) -> tuple[list[Any], list[Any]]:
    """Returns the equations of a loop written out, and its results.

    Args:
      loop: The equation.
      body: The ClosedJaxpr of a round, without constants.
    """
    length = loop.params["length"]
    n_consts, n_carry = scan_counts(loop)
    consts, carry = loop.invars[:n_consts], loop.invars[n_consts : n_consts + n_carry]
    stacked = loop.invars[n_consts + n_carry :]
    eqns: list[Any] = []
    made: list[Any] = [None] * length
    for i in reversed(range(length)) if loop.params["reverse"] else range(length):
        elements = _traced_into(eqns, functools.partial(_row, i), stacked, loop)
        steps, results, _ = splice(body, [*consts, *carry, *elements])
        eqns += (step.replace(source_info=nest_source(step, loop.source_info)) for step in steps)
        carry, made[i] = results[:n_carry], results[n_carry:]
    columns = zip(*made, strict=True)
    return eqns, [*carry, *(_traced_into(eqns, _stack, column, loop)[0] for column in columns)]


def _traced_into(eqns: list[Any], fn: Callable[..., Any], atoms: Sequence[Any], loop: Any) -> list[Any]:
    """Adds the equations of a function of some atoms, and returns what it returns."""
    steps, results, _ = traced(fn, atoms, loop)
    eqns += steps
    return results


def _row(i: int, *stacked: Any) -> list[Any]:
    return [lax.index_in_dim(array, i, keepdims=False) for array in stacked]


def _stack(*rows: Any) -> list[Any]:
    return [lax.concatenate([lax.expand_dims(row, (0,)) for row in rows], 0)]
