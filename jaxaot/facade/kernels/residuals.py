"""What the backward of an eager op is given: its arguments, its results, and what follows from neither at little cost.

`jax.vjp` names the values that a pullback holds, whatever they are: `cos(x)` for `sin`, `1 - y * y` for `tanh`. Such a
value is not kept where it follows from arguments and results by a few instructions per element; these are kept in its
place, as PyTorch does. They live anyway, have names (`_saved_self`, `_saved_result`), and the forward returns less.

Where it does not, the value is kept; but the derivative of the backward needs to know how it depends on the arguments,
and so what it follows from is kept besides. So the backward of every op is a function of arguments and results, whose
places on the tape are known, and its own backward, of any order, follows by `jax.vjp`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxaot._immutable import immutable
from jaxaot._jax import Literal, jaxpr_as_fun
from jaxaot._typing import ClosedJaxpr, Eqn, Jaxpr
from jaxaot._util import OrderedSet
from jaxaot.ir.build import resized_var
from jaxaot.ir.primitives import Kind, is_pure, kind
from jaxaot.ir.rewrite import extract, inline, reading, rebuild, substitute
from jaxaot.ir.walk import aval_bytes, backward_slice, variables
from jaxaot.ops.half_precision import HALVES
from jaxaot.ops.promotion import is_inexact

ARGUMENT, RESULT, KEPT = "argument", "result", "kept"

SINGLE = np.dtype(np.float32)

_MUCH_LARGER = 8
"""An argument or result that is so many times larger than what follows from it is not kept in its place."""


@immutable(eq=False)
class Residuals:
    """How an op's pullback gets the values that it holds.

    Attributes:
      sources: What is kept: `("argument", i)`, `("result", i)`, or `("kept", i)` for a further output of the forward.
      arguments: Positions of all arguments whose values the backward needs, kept or not.
      forward: Takes the arguments to results and further outputs.
      leaves: Takes what is kept to what the pullback holds.
      n_plain: How many of `sources` it takes; the others are kept for the derivative of the backward alone.
      leaves_again: Takes all of them to the same, from arguments and results as far as it depends on these.
      further: The types of the further outputs of the forward.
    """

    sources: tuple[tuple[str, int], ...]
    arguments: tuple[int, ...]
    forward: Any
    leaves: Any
    n_plain: int
    leaves_again: Any
    further: tuple[Any, ...]


def choose_residuals(closed: ClosedJaxpr, n_results: int, differentiated: Sequence[int]) -> Residuals:
    """Returns the residuals to keep for the backward of an op.

    Args:
      closed: A ClosedJaxpr from arguments to results, followed by what the pullback holds.
      n_results: How many results there are.
      differentiated: The positions of the arguments that gradients flow to.
    """
    # inlined: a call would hide from what a value follows
    flat = _reading_rounded_results(inline(closed), n_results)
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
        if var in constants:  # part of both programs already
            continue
        positions = sorted(backward_slice(jaxpr, [var], named))
        sources = _sources(jaxpr.eqns, positions, named) if positions else [var]
        # a mask of a large argument is kept itself, not the argument
        is_small = all(aval_bytes(source.aval) <= _MUCH_LARGER * aval_bytes(var.aval) for source in sources)
        if is_small and all(map(_follows_cheaply, (jaxpr.eqns[i] for i in positions))):
            # here memory is saved: the sources live anyway, and the backward does a few instructions more
            redone.update(positions)
            for source in sources:
                kept.add(source)
        else:
            kept.add(var)
    further = [var for var in kept if var not in named]
    names = named | {var: (KEPT, i) for i, var in enumerate(further)}
    dependent = _dependent(jaxpr, [jaxpr.invars[i] for i in differentiated])
    again = [var for var in further if var in dependent]
    # a kept value that depends on arguments is a constant to the backward, so its derivative would be lost
    derived = sorted(backward_slice(jaxpr, again, named))
    besides = [var for var in _sources(jaxpr.eqns, derived, named) if var not in kept]
    needed = backward_slice(jaxpr, kept, [var for var, (origin, _) in named.items() if origin == RESULT])
    reached = {*kept, *variables(atom for i in needed for atom in jaxpr.eqns[i].invars)}
    outputs = [*jaxpr.outvars[:n_results], *further]
    forward = [jaxpr.eqns[i] for i in sorted(backward_slice(jaxpr, outputs))]
    backward = [jaxpr.eqns[i] for i in sorted(redone)]
    leaves = jaxpr.outvars[n_results:]
    second = [jaxpr.eqns[i] for i in sorted({*redone, *derived})]
    return Residuals(
        tuple(names[var] for var in (*kept, *besides)),
        tuple(i for i, var in enumerate(jaxpr.invars) if var in reached),
        jaxpr_as_fun(extract(forward, jaxpr.invars, outputs, constants)),
        jaxpr_as_fun(extract(backward, list(kept), leaves, constants)),
        len(kept),
        _recomputing(second, [*kept, *besides], again, leaves, constants),
        tuple(var.aval for var in further),
    )


def _reading_rounded_results(closed: ClosedJaxpr, n_results: int) -> ClosedJaxpr:
    """Returns a graph whose pullback reads a result that was rounded to a half, not the float32 that was rounded.

    { x → y = exp x; r = half y; return r, y }   →   { x → y = exp x; r = half y; z = float r; return r, z }
    """
    jaxpr = closed.jaxpr
    results = set(variables(jaxpr.outvars[:n_results]))
    rounded = [
        eqn
        for eqn in jaxpr.eqns
        if eqn.primitive.name == "convert_element_type"
        and eqn.outvars[0] in results
        and eqn.outvars[0].aval.dtype in HALVES
        and getattr(eqn.invars[0].aval, "dtype", None) == SINGLE
    ]
    if not rounded:
        return closed
    forward = backward_slice(jaxpr, results)
    again: dict[Any, Any] = {eqn.invars[0]: resized_var(eqn.invars[0].aval.shape, eqn.invars[0]) for eqn in rounded}
    to_single = [
        eqn.replace(params=eqn.params | {"new_dtype": SINGLE}, invars=[*eqn.outvars], outvars=[again[eqn.invars[0]]])
        for eqn in rounded
    ]
    given = [eqn for i, eqn in enumerate(jaxpr.eqns) if i in forward]
    held = [reading(eqn, again) for i, eqn in enumerate(jaxpr.eqns) if i not in forward]
    return rebuild(
        closed, [*given, *to_single, *held], [*jaxpr.outvars[:n_results], *substitute(jaxpr.outvars[n_results:], again)]
    )


def _recomputing(
    eqns: Sequence[Eqn], held: Sequence[Any], again: Sequence[Any], leaves: Sequence[Any], constants: Mapping[Any, Any]
) -> Any:
    """Returns a function from held values to leaves, which computes those in `again` though they are held."""
    skipped = set(again)
    given = [i for i, var in enumerate(held) if var not in skipped]
    fn = jaxpr_as_fun(extract(eqns, [held[i] for i in given], leaves, constants))
    return lambda *values: fn(*(values[i] for i in given))


def _dependent(jaxpr: Jaxpr, sources: Sequence[Any]) -> set[Any]:
    """Returns the variables that have a derivative with respect to some others."""
    reached = set(sources)
    for eqn in jaxpr.eqns:
        if eqn.primitive.name != "stop_gradient" and not reached.isdisjoint(variables(eqn.invars)):
            reached.update(var for var in eqn.outvars if is_inexact(getattr(var.aval, "dtype", bool)))
    return reached


def _sources(eqns: Sequence[Eqn], positions: Sequence[int], named: Any) -> list[Any]:
    """Returns the arguments and results that some equations read."""
    read = variables(atom for i in positions for atom in eqns[i].invars)
    return [var for var in dict.fromkeys(read) if var in named]


def _follows_cheaply(eqn: Eqn) -> bool:
    return kind(eqn) <= Kind.TRANSCENDENTAL and is_pure(eqn)
