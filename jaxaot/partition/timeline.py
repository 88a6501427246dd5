"""How much memory a partition uses as it runs, estimated from shapes alone.

The forward runs, then the backward. Inputs and outputs are in use all the time, a residual from where it is made to its
last use, any other value from where it is made to its last use. Views take no memory but keep what they show; what is
computed pointwise and read once is taken to be fused into its reader, unless that needs its operands in memory. On a
TPU what is read again soon lies in the memory on the chip and is not counted. A compiler may do better, by running
equations in another order or by putting values where a gradient will be written, or worse.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxaot._jax import DropVar
from jaxaot._typing import ClosedJaxpr, Jaxpr
from jaxaot.ir.placements import NOWHERE, Placements
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.roofline import Target, target_now
from jaxaot.ir.walk import Makers, aval_bytes, is_on_host, source_line, sub_jaxprs, variables
from jaxaot.partition.copies import bytes_around_convolutions, bytes_around_scatters
from jaxaot.partition.epilogues import BITS, packed_masks, unwritten
from jaxaot.partition.footprint import Footprint, Size, footprint_on
from jaxaot.partition.on_chip import WORKSPACE, Life, placed_on_chip
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal
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
    taking = footprint_of(partition, size)
    constants = [*partition.forward.consts, *partition.backward.consts]
    held = sum(taking.of(var, is_held=True) for var in (*forward.invars, *outputs, *gradients))
    held += _constant_bytes(constants)
    whole = held + taking.copied(forward)
    kept = _kept(partition)
    on = _On(partition.target or target_now(), taking.of)
    uses = _Uses(forward, _with_sources(forward, outputs), kept, on)
    moments = _moments(forward, "forward", whole, uses, on)
    residuals = _made_residuals(partition)
    n_bytes = sum(map(on.size, residuals))
    uses = _Uses(backward, _with_sources(backward, gradients), (), on)
    moments += _moments(backward, "backward", whole, uses, on, n_bytes, residuals)
    return Timeline(tuple(moments), held)


def footprint_of(partition: Partition, size: Size | None = None) -> Footprint:
    """Returns what values of both graphs take on the target that they were cut for; `size` as of `memory_timeline`."""
    graphs, parts = (partition.forward.jaxpr, partition.backward.jaxpr), _parts_of(partition)
    if size is not None:
        return Footprint(size, size, parts)
    return footprint_on(partition.target or target_now(), *graphs, parts=parts)


def _parts_of(partition: Partition) -> tuple[Placements, ...]:
    """Returns which part of each value of both graphs one device holds."""
    joint, forward, backward = partition.joint, partition.forward.jaxpr, partition.backward.jaxpr
    placed = joint.placed
    if placed is NOWHERE:
        return ()
    given, made = placed.inputs[: joint.n_primals], placed.outputs[: joint.n_outputs]
    there = Placements(forward, dataclasses.replace(placed, inputs=given, outputs=made))
    of_source = {
        FromPrimal: forward.invars,
        FromOutput: forward.outvars,
        FromForward: forward.outvars[joint.n_outputs :],
    }
    known = [of_source[type(s)][s.index] if type(s) in of_source else None for s in partition.plan.residuals]
    inputs = (*there.placed(known).inputs, *placed.inputs[joint.n_primals :])
    asked = placed.outputs[joint.n_outputs + joint.n_refills :]
    return there, Placements(backward, dataclasses.replace(there.placed(()), inputs=inputs, outputs=asked))


def forward_timeline(closed: ClosedJaxpr, size: Size | None = None) -> Timeline:
    """Returns the memory that a graph uses as it runs alone on the target in force; `size` as of `memory_timeline`."""
    jaxpr = closed.jaxpr
    outputs = frozenset(set(variables(jaxpr.outvars)) - set(jaxpr.invars))
    target = target_now()
    taking = footprint_on(target, jaxpr) if size is None else Footprint(size, size)
    held = sum(taking.of(var, is_held=True) for var in (*jaxpr.invars, *outputs)) + _constant_bytes(closed.consts)
    on = _On(target, taking.of)
    uses = _Uses(jaxpr, _with_sources(jaxpr, outputs), (), on)
    return Timeline(tuple(_moments(jaxpr, "forward", held + taking.copied(jaxpr), uses, on)), held)


class _On(NamedTuple):
    """Where graphs run, and how large a value is there."""

    target: Target
    size: Callable[[Any], int]


def living_at(partition: Partition, place: int) -> list[tuple[Any, Any]]:
    """Returns the variables that take memory at a moment, besides what is held throughout.

    Args:
      partition: The partition.
      place: Which of the moments of its timeline.

    Each comes with the equation of the forward or the backward that makes it.
    """
    forward, backward = partition.forward.jaxpr, partition.backward.jaxpr
    outputs, gradients = _results(partition)
    on = _On(partition.target or target_now(), footprint_of(partition).of)
    makers = Makers(forward)
    if place < len(forward.eqns):
        return [(var, makers[var]) for var in _living(forward, place, outputs, _kept(partition), on)]
    place -= len(forward.eqns)
    last = _Uses(backward, _with_sources(backward, gradients), (), on).last
    made = _made_residuals(partition)
    found = [(var, makers.get(source)) for var, source in made.items() if last.get(var, len(backward.eqns)) >= place]
    again = Makers(backward)
    return found + [(var, again[var]) for var in _living(backward, place, gradients, (), on)]


def living_in(jaxpr: Jaxpr, place: int) -> list[tuple[Any, Any]]:
    """Returns the same of a graph that runs alone."""
    outputs = frozenset(set(variables(jaxpr.outvars)) - set(jaxpr.invars))
    makers, target = Makers(jaxpr), target_now()
    on = _On(target, footprint_on(target, jaxpr).of)
    return [(var, makers[var]) for var in _living(jaxpr, place, outputs, (), on)]


def _living(jaxpr: Jaxpr, place: int, counted: Collection[Any], kept: Collection[Any], on: _On) -> Iterator[Any]:
    uses = _Uses(jaxpr, _with_sources(jaxpr, counted), kept, on)
    return (var for var, life in uses.in_memory.items() if life.first <= place <= life.last)


def _kept(partition: Partition) -> set[Any]:
    """Returns the variables of the forward that are saved on the device."""
    saved = partition.forward.jaxpr.outvars[partition.joint.n_outputs :]
    return {var for var in variables(saved) if not is_on_host(var.aval)}


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
            # with a second reader, XLA keeps the source beside what it is moved into
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


def _last_uses(jaxpr: Jaxpr, shown: Callable[[Any], Sequence[Any]], masks: Mapping[Any, Any]) -> dict[Any, int]:
    """Returns where each variable is last needed: of an output, behind the last equation. Masks are made at once."""
    last: dict[Any, int] = {}
    for i, eqn in enumerate(jaxpr.eqns):
        at_once = {masks.get(var) for var in eqn.outvars} if masks else ()
        for var in variables(eqn.invars):
            for owner in () if var in at_once else shown(var):
                last[owner] = i
    for var in variables(jaxpr.outvars):
        for owner in shown(var):
            last[owner] = len(jaxpr.eqns)
    return last


def _moments(
    jaxpr: Jaxpr, side: str, held: int, uses: _Uses, on: _On, residual_bytes: int = 0, residuals: Collection[Any] = ()
) -> list[Moment]:
    """Returns the moments of one graph.

    Args:
      uses: When its values are in use. Those that are kept stay to the end, and are residuals from then on.
      on: Where it runs.
      residual_bytes: What the residuals take at the start.
      residuals: Inputs that are released after their last use.
    """
    starts: dict[int, list[tuple[int, bool]]] = {}  # bytes, and whether they are kept
    ends: dict[int, int] = {}  # bytes that are released behind an equation
    released: dict[int, int] = {}  # of which residuals
    for var, life in uses.in_memory.items():
        starts.setdefault(life.first, []).append((life.bytes, var in uses.kept))
        ends[life.last] = ends.get(life.last, 0) + life.bytes
    for var in residuals:
        if var in uses.last:
            released[uses.last[var]] = released.get(uses.last[var], 0) + on.size(var)
    moments = []
    kept_bytes = 0
    current = held + residual_bytes
    around: dict[int, int] = {}
    if on.target.name == "cpu":
        around = bytes_around_convolutions(jaxpr, on.size)
    elif on.target.has_tiles:
        around = bytes_around_scatters(jaxpr, on.size, uses.shown)
    for i, eqn in enumerate(jaxpr.eqns):
        for n_bytes, is_kept in starts.get(i, ()):
            current += n_bytes
            kept_bytes += n_bytes if is_kept else 0
        inside = uses.inside[i].bytes + around.get(i, 0)
        place = source_line(eqn) or ""
        moments.append(Moment(side, eqn.primitive.name, place, current + inside, kept_bytes + residual_bytes))
        current -= ends.get(i, 0) + released.get(i, 0)
        residual_bytes -= released.get(i, 0)
    return moments


class _Inside(NamedTuple):
    """The most that the values of the bodies of an equation take at a time, in memory and on the chip."""

    bytes: int = 0
    on_chip: int = 0


class _Uses:
    """When the values of a graph are in use.

    Attributes:
      shown: Takes a variable to those whose memory it needs.
      last: Where each variable is last needed.
      kept: The variables that what is kept lies in.
      inside: For each equation what its bodies take.
      in_memory: When each value that takes memory of the device is in use.
      most_on_chip: The most that lies in the memory on the chip at a time.
    """

    def __init__(self, jaxpr: Jaxpr, counted: Collection[Any], kept: Collection[Any], on: _On):
        """Takes the graph, what is counted elsewhere, what is kept, and where it runs."""
        masks = packed_masks(jaxpr) if on.target.has_tiles else {}
        self.shown = shown = _shown_by(jaxpr, on.target, masks)
        self.last = _last_uses(jaxpr, shown, masks)
        self.kept = {owner for var in kept for owner in shown(var)}
        self.inside = [_inside(eqn, on) for eqn in jaxpr.eqns]
        lives = _lives(jaxpr, counted, shown, self.last, masks, on)
        on_chip: set[Any] = set()
        taken = np.array([inside.on_chip for inside in self.inside] + [0], dtype=np.int64)
        if on.target.on_chip:
            brief = {var: life for var, life in lives.items() if var not in self.kept}
            on_chip = placed_on_chip(brief, taken, on.target.on_chip - WORKSPACE)
        self.most_on_chip = int(taken.max())
        self.in_memory = {var: life for var, life in lives.items() if var not in on_chip}


def _lives(
    jaxpr: Jaxpr,
    counted: Collection[Any],
    shown: Callable[[Any], Sequence[Any]],
    last: Mapping[Any, int],
    masks: Mapping[Any, Any],
    on: _On,
) -> dict[Any, Life]:
    """Returns when each value that takes memory, of whatever kind, is in use."""
    skipped = unwritten(jaxpr, lambda var: shown(var) == (var,)) if on.target.has_tiles else set()
    position = Makers(jaxpr).position
    outputs = set(variables(jaxpr.outvars))
    found: dict[Any, Life] = {}
    for i, eqn in enumerate(jaxpr.eqns):
        for var in eqn.outvars:
            is_elsewhere = isinstance(var, DropVar) or var in counted or is_on_host(var.aval)
            if var in skipped or is_elsewhere or shown(var) != (var,):
                continue
            makers = [masks[var]] if var in masks else skipped.intersection(variables(eqn.invars))
            first = min((position[maker] for maker in makers), default=i)
            n_bytes = on.size(var)
            if var in masks and var not in outputs:
                n_bytes = -(-n_bytes // BITS)
            found[var] = Life(first, max(i, last.get(var, i)), n_bytes)
    return found


def _inside(eqn: Any, on: _On) -> _Inside:
    """Returns what the values of the bodies of an equation take, their inputs not counted."""
    if kind(eqn) < Kind.CONTROL:
        return _Inside()
    found = [_Inside()]
    for body in sub_jaxprs(eqn):
        uses = _Uses(body, (), (), on)
        most = max((moment.bytes for moment in _moments(body, "body", 0, uses, on)), default=0)
        found.append(_Inside(most, uses.most_on_chip))
    return _Inside(*map(max, zip(*found, strict=True)))


def _shown_by(jaxpr: Jaxpr, target: Target, written: Collection[Any]) -> Callable[[Any], Sequence[Any]]:
    """Returns a map from a variable to those whose memory it needs: itself, or those it is a view or fusion of."""
    fused = _fused(jaxpr, target).difference(written)
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
    # from the end, since a value is fused or not by who reads it
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
        # XLA calls kernels of its own for these, which read arrays in memory
        if which >= Kind.SORT or (which is Kind.VIEW and not found.isdisjoint(eqn.outvars)):
            found.update(variables(eqn.invars))
    return found
