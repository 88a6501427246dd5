"""What the backward of an eager op is given: its arguments, its results, and what follows from neither at little cost.

`jax.vjp` names the values that a pullback holds, whatever they are: `cos(x)` for `sin`, `1 - y * y` for `tanh`. Such a
value is not kept where it follows from arguments and results by a few instructions per element; these are kept in its
place, as PyTorch does. They live anyway, have names (`_saved_self`, `_saved_result`), and the forward returns less.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from jaxaot._jax import Literal, jaxpr_as_fun
from jaxaot._util import OrderedSet
from jaxaot.ir.primitives import Kind, is_pure, kind
from jaxaot.ir.rewrite import extract, inline
from jaxaot.ir.walk import aval_bytes, backward_slice, variables

ARGUMENT, RESULT, KEPT = "argument", "result", "kept"

_MUCH_LARGER = 8
"""An argument or result that is so many times larger than what follows from it is not kept in its place."""


@dataclasses.dataclass(frozen=True, eq=False)
class Residuals:
    """How an op's pullback gets the values that it holds.

    Attributes:
      sources: What is kept: `("argument", i)`, `("result", i)`, or `("kept", i)` for a further output of the forward.
      arguments: Positions of all arguments whose values the backward needs, kept or not.
      forward: Takes the arguments to results and further outputs.
      leaves: Takes what is kept to what the pullback holds.
    """

    sources: tuple[tuple[str, int], ...]
    arguments: tuple[int, ...]
    forward: Any
    leaves: Any


def choose_residuals(closed: Any, n_results: int) -> Residuals:
    """Returns what to keep for the backward of an op.

    Args:
      closed: A ClosedJaxpr from arguments to results, followed by what the pullback holds.
      n_results: How many results there are.
    """
    flat = inline(closed)
    jaxpr = flat.jaxpr
    constants = dict(zip(jaxpr.constvars, flat.consts, strict=True))
    named: dict[Any, tuple[str, int]] = {var: (ARGUMENT, i) for i, var in enumerate(jaxpr.invars)}
    for i, atom in enumerate(jaxpr.outvars[:n_results]):
        if not isinstance(atom, Literal):
            named.setdefault(atom, (RESULT, i))
    held = [atom for atom in jaxpr.outvars[n_results:] if not isinstance(atom, Literal)]
    kept: OrderedSet[Any] = OrderedSet()
    redone: set[int] = set()
    for var in dict.fromkeys(held):
        if var in constants:
            continue
        positions = sorted(backward_slice(jaxpr, [var], named))
        sources = _sources(jaxpr.eqns, positions, named) if positions else [var]
        is_small = all(aval_bytes(source.aval) <= _MUCH_LARGER * aval_bytes(var.aval) for source in sources)
        if is_small and all(map(_follows_cheaply, (jaxpr.eqns[i] for i in positions))):
            redone.update(positions)
            for source in sources:
                kept.add(source)
        else:
            kept.add(var)
    further = [var for var in kept if var not in named]
    names = named | {var: (KEPT, i) for i, var in enumerate(further)}
    needed = backward_slice(jaxpr, kept, [var for var, (origin, _) in named.items() if origin == RESULT])
    reached = {*kept, *variables(atom for i in needed for atom in jaxpr.eqns[i].invars)}
    outputs = [*jaxpr.outvars[:n_results], *further]
    forward = [jaxpr.eqns[i] for i in sorted(backward_slice(jaxpr, outputs))]
    backward = [jaxpr.eqns[i] for i in sorted(redone)]
    return Residuals(
        tuple(names[var] for var in kept),
        tuple(i for i, var in enumerate(jaxpr.invars) if var in reached),
        jaxpr_as_fun(extract(forward, jaxpr.invars, outputs, constants)),
        jaxpr_as_fun(extract(backward, list(kept), jaxpr.outvars[n_results:], constants)),
    )


def _sources(eqns: Sequence[Any], positions: Sequence[int], named: Any) -> list[Any]:
    """Returns the arguments and results that some equations read."""
    read = variables(atom for i in positions for atom in eqns[i].invars)
    return [var for var in dict.fromkeys(read) if var in named]


def _follows_cheaply(eqn: Any) -> bool:
    return kind(eqn) <= Kind.TRANSCENDENTAL and is_pure(eqn)
