"""Cutting a forward graph where Python asks for values: a segment for each value, and one for the rest.

The first segment is what the first break value needs, the second what the second one needs beyond it, and so on. What
an earlier segment computed and a later one needs *crosses*, so nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._immutable import immutable
from jaxaot._jax import DropVar, Literal, close_jaxpr, make_jaxpr_object
from jaxaot._typing import ClosedJaxpr, Jaxpr
from jaxaot.ir.primitives import is_pure
from jaxaot.ir.rewrite import extract, reading, substitute
from jaxaot.ir.walk import backward_slice, equation_content, variables


@immutable
class FromInput:
    """A value that is input `index` of the whole graph."""

    index: int


@immutable
class FromSegment:
    """A value that is output `output` of segment `segment`."""

    segment: int
    output: int


ValueSource: TypeAlias = FromInput | FromSegment


@immutable(eq=False)
class Segment:
    """A part of a graph.

    Attributes:
      jaxpr: A ClosedJaxpr; its first output is the break value, but for the last segment.
      inputs: Where each of its inputs comes from.
    """

    jaxpr: Any
    inputs: tuple[ValueSource, ...]


@immutable(eq=False)
class Segments:
    """A graph cut into segments.

    Attributes:
      parts: In the order in which they run; the last one is the rest.
      outputs: Where each output of the whole graph comes from.
    """

    parts: tuple[Segment, ...]
    outputs: tuple[ValueSource, ...]


def cut_segments(closed: ClosedJaxpr, break_values: Sequence[int]) -> Segments:
    """Returns a graph cut where values are asked for.

    Args:
      closed: The graph, a ClosedJaxpr.
      break_values: The positions of the outputs that carry the break values, in order.
    """
    jaxpr = closed.jaxpr
    constants = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    done: set[int] = set()
    groups: list[list[int]] = []
    for position in break_values:
        needed = backward_slice(jaxpr, [jaxpr.outvars[position]]) - done
        done |= needed
        groups.append(sorted(needed))
    groups.append([i for i in range(len(jaxpr.eqns)) if i not in done])
    home = {
        var: k for k, group in enumerate(groups) for i in group for var in jaxpr.eqns[i].outvars
        if not isinstance(var, DropVar)
    }  # fmt: skip
    place = {var: FromInput(i) for i, var in enumerate(jaxpr.invars)}
    reads = [dict.fromkeys(variables(a for i in group for a in jaxpr.eqns[i].invars)) for group in groups]
    returned = dict.fromkeys(variables(out for i, out in enumerate(jaxpr.outvars) if i not in set(break_values)))
    found: dict[Any, ValueSource] = dict(place)
    parts = []
    for k, group in enumerate(groups):
        is_last = k == len(break_values)
        own = [var for var in home if home[var] == k]
        later = {var for read in reads[k + 1 :] for var in read} | set(returned)
        later |= set(variables(jaxpr.outvars[position] for position in break_values[k + 1 :]))
        outs: list[Any] = [] if is_last else [jaxpr.outvars[break_values[k]]]
        outs += [var for var in own if var in later and (is_last or var is not outs[0])]
        if is_last:  # what is returned as it came in
            outs += [
                out
                for i, out in enumerate(jaxpr.outvars)
                if i not in set(break_values) and _passes(out, place, constants)
            ]
        taken = [var for var in (*reads[k], *variables(outs)) if home.get(var) != k and var not in constants]
        inputs = list(dict.fromkeys(taken))
        graph = extract([jaxpr.eqns[i] for i in group], inputs, outs, constants)
        parts.append(Segment(graph, tuple(found[var] for var in inputs)))
        for j, out in enumerate(outs):
            if not isinstance(out, Literal) and out not in found:
                found[out] = FromSegment(k, j)
    return Segments(tuple(parts), _outputs(jaxpr, break_values, parts, found, place, constants))


def _passes(out: object, place: Any, constants: Mapping[Any, Any]) -> bool:
    """Returns whether an output is an input, a constant or a literal."""
    return isinstance(out, Literal) or out in place or out in constants


def _outputs(
    jaxpr: Jaxpr,
    break_values: Sequence[int],
    parts: Sequence[Segment],
    found: Any,
    place: Any,
    constants: Mapping[Any, Any],
) -> tuple[ValueSource, ...]:
    last = len(break_values)
    passed = iter(range(len(parts[last].jaxpr.jaxpr.outvars)))
    n_passed = sum(_passes(out, place, constants) for i, out in enumerate(jaxpr.outvars) if i not in set(break_values))
    first = len(parts[last].jaxpr.jaxpr.outvars) - n_passed
    sources: list[ValueSource] = []
    for i, out in enumerate(jaxpr.outvars):
        if i in break_values:
            sources.append(FromSegment(list(break_values).index(i), 0))
        elif _passes(out, place, constants):
            sources.append(FromSegment(last, first + next(passed)))
        else:
            sources.append(found[out])
    return tuple(sources)


def merge_graphs(held: Any, added: Any, places: Sequence[int]) -> tuple[Any, tuple[int, ...]]:
    """Returns a graph that computes the outputs of two, what both compute once; those of the first come first.

    Args:
      held: The first graph, a ClosedJaxpr.
      added: The second one.
      places: For each input of the second, the input of the result that it is; those beyond the inputs of the first
        are further inputs.

    Returns:
      The graph, and for each output of the second graph the output of the result that it is.
    """
    one, other = held.jaxpr, added.jaxpr
    copied = extract(other.eqns, other.invars, other.outvars, dict(zip(other.constvars, added.consts, strict=True)))
    other = copied.jaxpr
    invars = list(one.invars)
    replacement: dict[Any, Any] = {}
    for var, position in sorted(zip(other.invars, places, strict=True), key=lambda pair: pair[1]):
        if position == len(invars):
            invars.append(var)
        replacement[var] = invars[position]
    constvars, consts = list(one.constvars), list(held.consts)
    for var, value in zip(other.constvars, copied.consts, strict=True):
        same = next((v for v, c in zip(constvars, consts, strict=True) if _is_equal(c, value)), None)
        if same is None:
            constvars.append(var)
            consts.append(value)
        else:
            replacement[var] = same
    eqns = list(one.eqns)
    twins: dict[Any, list[int]] = {}  # by what equations compute, their positions
    for i, eqn in enumerate(eqns):
        twins.setdefault(equation_content(eqn), []).append(i)
    for eqn in other.eqns:
        eqn = reading(eqn, replacement)
        waiting = twins.get(equation_content(eqn))
        if not waiting:
            eqns.append(eqn)
            continue
        place = waiting.pop(0) if len(waiting) > 1 or not is_pure(eqn) else waiting[0]
        twin = eqns[place]
        pairs = list(zip(twin.outvars, eqn.outvars, strict=True))
        eqns[place] = twin.replace(outvars=[new if isinstance(held, DropVar) else held for held, new in pairs])
        replacement.update((new, held) for held, new in pairs if not isinstance(held, DropVar))
    kept = list(one.outvars)
    positions = []
    for out in substitute(other.outvars, replacement):
        place = next((i for i, before in enumerate(kept) if before is out), None)
        if place is None:
            place = len(kept)
            kept.append(out)
        positions.append(place)
    return close_jaxpr(make_jaxpr_object(invars, kept, eqns, constvars), consts), tuple(positions)


def _is_equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if jnp.issubdtype(getattr(one, "dtype", np.float32), jax.dtypes.extended):
        return False
    if getattr(one, "dtype", None) != getattr(other, "dtype", None) or np.shape(one) != np.shape(other):
        return False
    return np.asarray(one).tobytes() == np.asarray(other).tobytes()
