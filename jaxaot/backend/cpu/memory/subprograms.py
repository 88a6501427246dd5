"""Cutting a graph into subprograms, each of which becomes an executable.

An executable of XLA on CPU takes one block for all its temporaries. The allocator of glibc gives blocks of more than
32 MiB back to the system after each call, and to get them again costs 0.25 ms/MiB in page faults, which was a quarter
of a training step. As outputs of one executable and inputs of the next, the same values lie in blocks of their own,
which are kept.

A *subprogram* is a run of equations between two cuts. A value *crosses* a cut if it is made before it and read after
it. A value is a *temporary* of a subprogram if it is made and read in that subprogram only. The best place for a cut is
usually where the backward begins: nearly all that is in memory there crosses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._jax import DropVar, Literal, canonical_dtype
from jaxaot._typing import Atom, ClosedJaxpr, Eqn, Var
from jaxaot._util import OrderedSet
from jaxaot.backend.cpu.machine import machine
from jaxaot.backend.cpu.memory.temporaries import temporaries
from jaxaot.ir.primitives import Kind, is_pure, kind
from jaxaot.ir.rewrite import extract
from jaxaot.ir.schedule import before_first_readers
from jaxaot.ir.walk import aval_bytes, variables

_N_PLACES = 200
"""How many places for a cut are tried at first, before the best one is refined."""

_LONGEST_CHAIN = 8
"""How many equations are computed again to have one value less cross."""


@immutable(eq=False)
class Subprogram:
    """One executable of several.

    The values of a call are numbered: the inputs of the graph first, then the outputs of each subprogram in turn.

    Attributes:
      jaxpr: The ClosedJaxpr.
      reads: The number of the value that each input is.
      donated: The positions of the inputs whose buffers an output may have: nobody needs them afterwards.
      last_read: The numbers of the values made by subprograms that no later subprogram reads and the call does not
        return.
    """

    jaxpr: Any
    reads: tuple[int, ...]
    donated: tuple[int, ...]
    last_read: tuple[int, ...]


@immutable(eq=False)
class Schedule:
    """All the subprograms of a graph.

    Attributes:
      subprograms: The subprograms in order.
      outputs: The number of the value that each output of the graph is.
      n_inputs: How many inputs the graph has.
    """

    subprograms: tuple[Subprogram, ...]
    outputs: tuple[int, ...]
    n_inputs: int


def temporary_bytes(eqns: Sequence[Eqn], returned: Collection[Any], limit: int, delayed: bool = True) -> int:
    """Returns an estimate of the memory that equations need for temporaries, from shapes alone.

    Values that are too large for any subprogram are not counted: the allocator gives each of them back however they are
    grouped.

    Args:
      eqns: The equations of a subprogram.
      returned: The variables that leave it.
      limit: What temporaries of a subprogram have to stay below.
      delayed: Whether what can wait does, as it does in subprograms.
    """
    return temporaries(eqns, returned, max(limit, machine().kept_bytes), delayed).peak()


def divide(
    eqns: Sequence[Eqn], returned: Collection[Any], known: Collection[Any], limit: int
) -> tuple[list[Any], list[Any]] | None:
    """Returns the equations of a subprogram as two that need less memory for temporaries, or None if none do.

    Args:
      eqns: The equations.
      returned: The variables that leave the subprogram.
      known: The variables that are there before it.
      limit: What temporaries have to stay below.
    """
    n = len(eqns)
    found = temporaries(eqns, returned, limit, delayed=True)
    before = found.peak()
    if before <= limit:
        return None

    little = min(machine().kept_bytes, limit) // 4  # of subprograms that need less, the bytes that cross decide

    def rank(place: int) -> tuple[int, int, int]:
        is_left, is_right = found.last < place, found.first >= place
        crossing = found.n_bytes[~is_left & ~is_right].sum()
        return max(found.peak(is_left), found.peak(is_right), little), int(crossing), place

    apart = _inseparable(eqns)
    step = max(1, n // _N_PLACES)
    places = [place for place in range(1, n) if place not in apart]
    _, _, near = min(map(rank, places[::step]), default=(0, 0, 0))
    most, _, place = min((rank(place) for place in places if abs(place - near) <= step), default=(before, 0, 0))
    if most > machine().max_left_by_cut * before:
        return None
    return _move_later(list(eqns[:place]), list(eqns[place:]), set(returned), set(known))


def _inseparable(eqns: Sequence[Eqn]) -> set[int]:
    """Returns the places at which something crosses that would lose bits on the way."""
    made: dict[Any, int] = {}
    found: set[int] = set()
    for i, eqn in enumerate(eqns):
        for var in variables(eqn.invars):
            if var in made:
                found.update(range(made[var] + 1, i + 1))
        made.update((var, i) for var in eqn.outvars if _would_lose_bits(var))
    return found


def _would_lose_bits(atom: Atom) -> bool:
    """Returns whether an array has 64 bits where x64 is off: inside of an executable it may, as an argument it cannot.

    `sort_integers` makes such arrays.
    """
    dtype = getattr(atom.aval, "dtype", None)
    return dtype is not None and getattr(dtype, "itemsize", 0) >= 8 and canonical_dtype(dtype) != dtype


def plan_schedule(closed: ClosedJaxpr, groups: Sequence[Sequence[Any]], donated: Collection[int]) -> Schedule:
    """Returns the subprograms of a graph whose equations are grouped.

    Args:
      closed: The ClosedJaxpr.
      groups: The equations of each subprogram. An equation may be in several: then each computes it for itself.
      donated: The positions of the inputs of the graph that nobody needs after the call.
    """
    jaxpr = closed.jaxpr
    if len(groups) == 1:  # its inputs and outputs are those of the graph
        n_inputs = len(jaxpr.invars)
        whole = Subprogram(closed, tuple(range(n_inputs)), tuple(sorted(donated)), ())
        return Schedule((whole,), tuple(range(n_inputs, n_inputs + len(jaxpr.outvars))), n_inputs)
    constants = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    # what is no value of an equation, or comes twice, is copied by the last subprogram: no two outputs share a buffer
    made = {var for group in groups for eqn in group for var in eqn.outvars}
    counts = Counter(variables(jaxpr.outvars))
    is_own = [not isinstance(a, Literal) and a in made and counts[a] == 1 for a in jaxpr.outvars]
    copied = [atom for atom, own in zip(jaxpr.outvars, is_own, strict=True) if not own]
    later: set[Any] = {atom for atom, own in zip(jaxpr.outvars, is_own, strict=True) if own}
    ends: list[tuple[list[Any], list[Any], set[Any]]] = []
    for k in reversed(range(len(groups))):
        own = {var for eqn in groups[k] for var in eqn.outvars}
        outs = [v for eqn in groups[k] for v in eqn.outvars if v in later and not isinstance(v, DropVar)]
        read = OrderedSet(v for eqn in groups[k] for v in variables(eqn.invars))
        if k == len(groups) - 1:
            for var in variables(copied):
                read.add(var)
        takes = [v for v in read if v not in own and v not in constants]
        ends.append((takes, outs, set(later)))
        later = (later - own) | set(takes)
    number: dict[Any, int] = {var: i for i, var in enumerate(jaxpr.invars)}
    given = {jaxpr.invars[i] for i in donated}
    inputs = set(jaxpr.invars)
    subprograms = []
    n_values = len(jaxpr.invars)
    for group, (takes, outs, after) in zip(groups, reversed(ends), strict=True):
        is_last = group is groups[-1]
        outs = [var for var in outs if var not in number]  # what an earlier subprogram returned was only computed again
        results = [*outs, *(copied if is_last else ())]
        free = Counter((var.aval.shape, var.aval.dtype) for var in results)
        reused = []
        for i, var in enumerate(takes):
            kind_of_array = var.aval.shape, var.aval.dtype
            if var not in after and (var in given or var not in inputs) and free[kind_of_array]:
                free[kind_of_array] -= 1
                reused.append(i)
        gone = tuple(number[var] for var in takes if var not in after and var not in inputs)
        subprograms.append(
            Subprogram(extract(group, takes, results, constants), tuple(number[v] for v in takes), tuple(reused), gone)
        )
        number |= {var: n_values + i for i, var in enumerate(outs)}
        n_values += len(results)
    first_copy = n_values - len(copied)
    copies = iter(range(first_copy, n_values))
    outputs = [number[a] if own else next(copies) for a, own in zip(jaxpr.outvars, is_own, strict=True)]
    return Schedule(tuple(subprograms), tuple(outputs), len(jaxpr.invars))


def _move_later(
    left: list[Any], right: list[Any], returned: set[Any], known: set[Any]
) -> tuple[list[Any], list[Any]] | None:
    """Returns two subprograms between which less crosses.

    A cheap equation that only the right subprogram needs moves there, if what it reads crosses anyway or is no more
    than what it makes. And what a few simple equations make of values that cross is computed in both subprograms.
    """
    needed = {var for eqn in right for var in variables(eqn.invars)} | returned
    n_reads = Counter(var for eqn in left for var in variables(eqn.invars))
    moved, kept = [], []
    for eqn in reversed(left):
        operands = set(variables(eqn.invars))
        can_move = _is_movable(eqn) and not any(n_reads[var] or var in returned for var in eqn.outvars)
        if can_move and any(var in needed for var in eqn.outvars):
            further = sum(aval_bytes(var.aval) for var in operands if var not in needed and var not in known)
            if further <= sum(aval_bytes(var.aval) for var in eqn.outvars):
                moved.append(eqn)
                n_reads.subtract(variables(eqn.invars))
                needed |= operands
                continue
        kept.append(eqn)
    left = kept[::-1]
    producer = {var: eqn for eqn in left for var in eqn.outvars}
    crossing = OrderedSet(var for eqn in left for var in eqn.outvars if var in needed)
    redone: list[Any] = []
    for var in reversed(list(crossing)):
        if var in returned or aval_bytes(var.aval) <= machine().uncut_bytes:
            continue
        chain = _chain(var, producer, crossing)
        if chain is not None:
            crossing.discard(var)
            redone += chain
            for v in variables(atom for eqn in chain for atom in eqn.invars):
                if v in producer and producer[v] not in chain:
                    crossing.add(v)
    right = before_first_readers([*redone[::-1], *moved[::-1]], right)
    return (left, right) if left and right else None


def _chain(var: Var, producer: Mapping[Any, Any], crossing: Collection[Any]) -> list[Any] | None:
    """Returns simple equations that compute a value from others that cross, the last one first; None if none do."""
    chain: list[Any] = []
    pending = [var]
    while pending:
        eqn = producer[pending.pop()]
        if eqn in chain:
            continue
        is_simple = kind(eqn) < Kind.TRANSCENDENTAL and eqn.primitive.name != "div" and len(eqn.outvars) == 1
        if not is_simple or not _is_movable(eqn) or len(chain) == _LONGEST_CHAIN:
            return None
        chain.append(eqn)
        for v in variables(eqn.invars):
            if v in producer and v not in crossing and aval_bytes(v.aval) > machine().uncut_bytes:
                pending.append(v)
    return chain


def _is_movable(eqn: Eqn) -> bool:
    if kind(eqn) > Kind.TRANSCENDENTAL or not is_pure(eqn) or eqn.primitive.name == "optimization_barrier":
        return False
    return not any(map(_would_lose_bits, eqn.invars))


def returned_by(groups: Sequence[Sequence[Any]], k: int, outvars: Sequence[Atom]) -> set[Any]:
    """Returns the variables that leave one of several groups of equations."""
    own = {var for eqn in groups[k] for var in eqn.outvars}
    read = {var for group in groups[k + 1 :] for eqn in group for var in variables(eqn.invars)}
    return own & (read | set(variables(outvars)))


def known_before(groups: Sequence[Sequence[Any]], k: int, closed: ClosedJaxpr) -> set[Any]:
    """Returns the variables that are there before one of several groups of equations."""
    made = {var for group in groups[:k] for eqn in group for var in eqn.outvars}
    return made | set(closed.jaxpr.invars) | set(closed.jaxpr.constvars)
