"""How much memory a partition uses as it runs, estimated from shapes alone.

The forward runs, then the backward. Inputs and outputs are in use all the time, a residual from where it is made to its
last use, any other value from where it is made to its last use. Views take no memory but keep what they show; what is
computed pointwise and read once is taken to be fused into its reader, unless that needs its operands in memory. A
compiler may do better, by running equations in another order or by putting values where a gradient will be written, or
worse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from jaxaot._jax import DropVar
from jaxaot._typing import ClosedJaxpr, Jaxpr
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.roofline import Target, target_now
from jaxaot.ir.walk import Makers, aval_bytes, is_on_host, source_line, sub_jaxprs, variables
from jaxaot.partition.copies import bytes_around_convolutions
from jaxaot.partition.footprint import Footprint, Size, footprint_on
from jaxaot.plan.saved import FromForward
from jaxaot.plan.stages import Partition
from jaxaot.plan.timeline import Moment, Timeline


def memory_timeline(partition: Partition, size: Size | None = None) -> Timeline:
    """Returns the memory that a partition uses over its forward and its backward, on the target that it was cut for.

    Args:
      partition: The partition.
      size: How large a value of a type is, if some sizes were others; by default what it takes on the target.
    """
    forward, backward = partition.forward.jaxpr, partition.backward.jaxpr
    outputs, gradients = _results(partition)
    taking = footprint_of(partition) if size is None else Footprint(size, size)
    constants = [*partition.forward.consts, *partition.backward.consts]
    held = sum(taking.held(var.aval) for var in (*forward.invars, *outputs, *gradients)) + _constant_bytes(constants)
    whole = held + taking.copied(forward)
    kept = {var for var in variables(forward.outvars[partition.joint.n_outputs :]) if not is_on_host(var.aval)}
    on = _On(partition.target or target_now(), taking.value)
    moments = _moments(forward, "forward", whole, kept, _with_sources(forward, outputs), 0, frozenset(), on)
    residuals = _made_residuals(partition)
    n_bytes = sum(on.size(var.aval) for var in residuals)
    counted = _with_sources(backward, gradients)
    moments += _moments(backward, "backward", whole, set(), counted, n_bytes, frozenset(residuals), on)
    return Timeline(tuple(moments), held)


def footprint_of(partition: Partition) -> Footprint:
    """Returns what values of both graphs take on the target that they were cut for."""
    return footprint_on(partition.target or target_now(), partition.forward.jaxpr, partition.backward.jaxpr)


def forward_timeline(closed: ClosedJaxpr, size: Size | None = None) -> Timeline:
    """Returns the memory that a graph uses as it runs alone on the target in force; `size` as of `memory_timeline`."""
    jaxpr = closed.jaxpr
    outputs = frozenset(set(variables(jaxpr.outvars)) - set(jaxpr.invars))
    target = target_now()
    taking = footprint_on(target, jaxpr) if size is None else Footprint(size, size)
    held = sum(taking.held(var.aval) for var in (*jaxpr.invars, *outputs)) + _constant_bytes(closed.consts)
    whole, counted = held + taking.copied(jaxpr), _with_sources(jaxpr, outputs)
    on = _On(target, taking.value)
    return Timeline(tuple(_moments(jaxpr, "forward", whole, set(), counted, 0, frozenset(), on)), held)


class _On(NamedTuple):
    """Where graphs run, and how large a value of a type is there."""

    target: Target
    size: Size


def living_at(partition: Partition, place: int) -> list[tuple[Any, Any]]:
    """Returns the variables that take memory at a moment, besides what is held throughout.

    Args:
      partition: The partition.
      place: Which of the moments of its timeline.

    Each comes with the equation of the forward or the backward that makes it.
    """
    forward, backward = partition.forward.jaxpr, partition.backward.jaxpr
    outputs, gradients = _results(partition)
    target = partition.target or target_now()
    makers = Makers(forward)
    if place < len(forward.eqns):
        return [(var, makers[var]) for var in _living(forward, place, outputs, target)]
    place -= len(forward.eqns)
    last = _last_uses(backward, _shown_by(backward, target))
    made = _made_residuals(partition)
    found = [(var, makers.get(source)) for var, source in made.items() if last.get(var, len(backward.eqns)) >= place]
    again = Makers(backward)
    return found + [(var, again[var]) for var in _living(backward, place, gradients, target)]


def living_in(jaxpr: Jaxpr, place: int) -> list[tuple[Any, Any]]:
    """Returns the same of a graph that runs alone."""
    outputs = frozenset(set(variables(jaxpr.outvars)) - set(jaxpr.invars))
    makers = Makers(jaxpr)
    return [(var, makers[var]) for var in _living(jaxpr, place, outputs, target_now())]


def _living(jaxpr: Jaxpr, place: int, counted: Collection[Any], target: Target) -> Iterator[Any]:
    counted = _with_sources(jaxpr, counted)
    shown = _shown_by(jaxpr, target)
    last = _last_uses(jaxpr, shown)
    for i, eqn in enumerate(jaxpr.eqns[: place + 1]):
        for var in eqn.outvars:
            if _takes_memory(var, shown, counted) and max(i, last.get(var, i)) >= place:
                yield var


def _results(partition: Partition) -> tuple[frozenset[Any], frozenset[Any]]:
    """Returns the outputs that the forward makes, and the gradients that the backward makes."""
    forward, backward = partition.forward.jaxpr, partition.backward.jaxpr
    outputs = set(variables(forward.outvars[: partition.joint.n_outputs])) - set(forward.invars)
    return frozenset(outputs), frozenset(set(variables(backward.outvars)) - set(backward.invars))


def _with_sources(jaxpr: Jaxpr, results: Collection[Any]) -> frozenset[Any]:
    """Returns results, and what is only moved into one of them, such as a product that is transposed: one array."""
    makers, n_readers = Makers(jaxpr), Counter(var for eqn in jaxpr.eqns for var in variables(eqn.invars))
    found = set(results)
    for result in results:
        eqn = makers.get(result)
        while eqn is not None and kind(eqn) is Kind.VIEW and len(sources := variables(eqn.invars)) == 1:
            (source,) = sources
            if n_readers[source] > 1 or aval_bytes(source.aval) != aval_bytes(result.aval):
                break
            found.add(source)
            eqn = makers.get(source)
    return frozenset(found)


def _made_residuals(partition: Partition) -> dict[Any, Any]:
    """Returns the inputs of the backward that take memory of their own, each with the variable of the forward."""
    made = partition.forward.jaxpr.outvars[partition.joint.n_outputs :]
    inputs = zip(partition.plan.residuals, partition.backward.jaxpr.invars, strict=False)
    return {
        var: made[source.index]
        for source, var in inputs
        if isinstance(source, FromForward) and not is_on_host(var.aval)
    }


def _constant_bytes(constants: Sequence[Any]) -> int:
    return sum(aval_bytes(aval) for aval in {id(c): c for c in constants}.values())


def _takes_memory(var: Any, shown: Callable[[Any], Sequence[Any]], counted: Collection[Any]) -> bool:
    return not (isinstance(var, DropVar) or var in counted or shown(var) != (var,) or is_on_host(var.aval))


def _last_uses(jaxpr: Jaxpr, shown: Callable[[Any], Sequence[Any]]) -> dict[Any, int]:
    """Returns where each variable is last needed: of an output, behind the last equation."""
    last: dict[Any, int] = {}
    for i, eqn in enumerate(jaxpr.eqns):
        for var in variables(eqn.invars):
            for owner in shown(var):
                last[owner] = i
    for var in variables(jaxpr.outvars):
        for owner in shown(var):
            last[owner] = len(jaxpr.eqns)
    return last


def _moments(
    jaxpr: Jaxpr,
    side: str,
    held: int,
    kept: set[Any],
    counted: Collection[Any],
    residual_bytes: int,
    residuals: frozenset[Any],
    on: _On,
) -> list[Moment]:
    """Returns the moments of one graph.

    Args:
      jaxpr: The graph.
      side: Its name.
      held: What is in use throughout.
      kept: Values that stay in use to the end, and are residuals from then on.
      counted: Values that are part of `held`.
      residual_bytes: What the residuals take at the start.
      residuals: Inputs that are released after their last use.
      on: Where it runs.
    """
    size = on.size
    shown = _shown_by(jaxpr, on.target)
    last = _last_uses(jaxpr, shown)
    ends: dict[int, list[Any]] = {}
    for var, i in last.items():
        ends.setdefault(i, []).append(var)
    inputs = set(jaxpr.invars) | set(jaxpr.constvars)
    live: dict[Any, int] = {}
    moments = []
    kept_bytes = 0
    kept_owners = {owner for var in kept for owner in shown(var)}
    current = held + residual_bytes
    around = bytes_around_convolutions(jaxpr, size) if on.target.name == "cpu" else {}
    for i, eqn in enumerate(jaxpr.eqns):
        for var in eqn.outvars:
            if not _takes_memory(var, shown, counted):
                continue
            live[var] = size(var.aval)
            current += live[var]
            kept_bytes += live[var] if var in kept_owners else 0
        inside = max((_inside(body, on) for body in sub_jaxprs(eqn)), default=0) if kind(eqn) >= Kind.CONTROL else 0
        inside += around.get(i, 0)
        place = source_line(eqn) or ""
        moments.append(Moment(side, eqn.primitive.name, place, current + inside, kept_bytes + residual_bytes))
        for var in ends.get(i, ()):
            if var in residuals:
                current -= size(var.aval)
                residual_bytes -= size(var.aval)
            elif var in live and var not in inputs:
                current -= live.pop(var)
        for var in eqn.outvars:  # what nobody reads
            if var in live and var not in last:
                current -= live.pop(var)
    return moments


def _inside(body: Any, on: _On) -> int:
    """Returns the most that the values of a body take at a time, its inputs not counted."""
    moments = _moments(body, "body", 0, set(), frozenset(), 0, frozenset(), on)
    return max((moment.bytes for moment in moments), default=0)


def _shown_by(jaxpr: Jaxpr, target: Target) -> Callable[[Any], Sequence[Any]]:
    """Returns a map from a variable to those whose memory it needs: itself, or those it is a view or fusion of."""
    fused = _fused(jaxpr, target)
    owners: dict[Any, Sequence[Any]] = {}
    for eqn in jaxpr.eqns:
        if kind(eqn) is Kind.VIEW or all(var in fused for var in eqn.outvars):
            found = dict.fromkeys(o for var in variables(eqn.invars) for o in owners.get(var, (var,)))
            for var in eqn.outvars:
                if not isinstance(var, DropVar):
                    owners[var] = tuple(found)
    return lambda var: owners.get(var, (var,))


def _fused(jaxpr: Jaxpr, target: Target) -> set[Any]:
    """Returns the variables that are computed inside of the one kernel that reads them, and take no memory.

    A kernel is a reader with the pointwise equations whose results nobody else reads. On a TPU it may read such a
    result several times. Elsewhere what is read several times is kept in memory.
    """
    needed = _read_as_arrays(jaxpr)
    kernels: dict[Any, set[int]] = {var: {-1, -2} for var in variables(jaxpr.outvars)}  # of a variable, what reads it
    found: set[Any] = set()
    for i, eqn in reversed(list(enumerate(jaxpr.eqns))):
        which = kind(eqn)
        readers = {k for var in eqn.outvars for k in kernels.get(var, ())}
        is_inside = which <= Kind.TRANSCENDENTAL and len(readers) <= 1
        if is_inside and needed.isdisjoint(eqn.outvars):
            found.update(eqn.outvars)
        for var in variables(eqn.invars):
            is_same = target.has_tiles and readers and (is_inside or which is Kind.VIEW)
            kernels.setdefault(var, set()).update(readers if is_same else {i})
    return found


def _read_as_arrays(jaxpr: Jaxpr) -> set[Any]:
    """Returns the variables that are read, if only through views, by equations that need their operands in memory."""
    found: set[Any] = set()
    for eqn in reversed(jaxpr.eqns):
        which = kind(eqn)
        if which >= Kind.SORT or (which is Kind.VIEW and not found.isdisjoint(eqn.outvars)):
            found.update(variables(eqn.invars))
    return found
