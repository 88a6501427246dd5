"""What XLA on CPU needs for the temporaries of a program, estimated from shapes alone.

A *temporary* is made and read in the program only. XLA computes what is element by element in the *kernel* that reads
it, so it is in no memory; and it runs kernels breadth first: those that need nothing but inputs, then each in the order
in which the last of what it reads gets ready. So what depends on little else than inputs is computed early, however
late it is read, and needs memory all the while, unless it *waits*, see `delay.py`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from jaxaot._immutable import immutable
from jaxaot._jax import Literal
from jaxaot._typing import Eqn
from jaxaot._util import OrderedSet
from jaxaot.backend.cpu.analysis.kernels import is_fused, kernels
from jaxaot.backend.cpu.machine import machine
from jaxaot.ir.primitives import Kind, is_cheap, kind
from jaxaot.ir.walk import aval_bytes, is_rewritable, sub_jaxprs, variables

_SAME_MEMORY = {"reshape", "squeeze", "expand_dims", "optimization_barrier"}
_NOT_IN_MEMORY = {"broadcast_in_dim", "iota"}
_IN_PLACE = {"dynamic_update_slice", "scatter", "scatter-add", "scatter-mul", "scatter-min", "scatter-max"}


@immutable(eq=False)
class Temporaries:
    """The temporaries of some equations; all attributes are arrays with an element for each.

    Attributes:
      first: The position of the equation that makes it, or in whose body it is made.
      last: The position of the last one that reads it.
      begin: When XLA makes it.
      end: When XLA reads it last.
      n_bytes: Its bytes.
    """

    first: Any
    last: Any
    begin: Any
    end: Any
    n_bytes: Any

    def peak(self, among: Any = slice(None)) -> int:
        """Returns how much memory temporaries need at once, all of them or those that an index chooses."""
        begin, end, n_bytes = self.begin[among], self.end[among], self.n_bytes[among]
        if not len(n_bytes):
            return 0
        n_times = int(end.max()) + 2
        taken, free = (np.bincount(at, n_bytes, n_times) for at in (begin, end + 1))  # float64: exact below 2**53
        return int((taken - free).cumsum().max())


def temporaries(eqns: Sequence[Eqn], returned: Collection[Any], ceiling: int, delayed: bool = False) -> Temporaries:
    """Returns the temporaries of equations: the arrays that need memory while they run.

    Args:
      eqns: The equations.
      returned: The variables that leave them, and are no temporaries.
      ceiling: Values of more bytes are not counted.
      delayed: Whether what can wait does.
    """
    kernel = kernels(eqns, returned)
    time = breadth_first(eqns, kernel)
    if delayed:
        until = waiting(eqns, kernel, time)
        time = [until.get(k, at) for k, at in zip(kernel, time, strict=True)]
    last = _last_reads(eqns, range(len(eqns)))
    source = _sources(eqns, last, returned)
    ends = [_with_those_in_place(eqns, kernel, reads, source) for reads in (last, _last_reads(eqns, time))]
    leaving = {source.get(var, var) for var in returned} | set(returned)
    found = []
    for i, eqn in enumerate(eqns):
        if kind(eqn) is Kind.CONTROL:
            peak = max((_peak_in(body, ceiling) for body in sub_jaxprs(eqn)), default=0)
            found.append((i, i, time[i], time[i], peak))
        if eqn.primitive.name in _NOT_IN_MEMORY or kernel[i] != i:
            continue
        for var in eqn.outvars:
            n_bytes = aval_bytes(var.aval)
            if var not in source and var in last and var not in leaving and n_bytes <= ceiling:
                found.append((i, ends[0][var], time[i], ends[1][var], n_bytes))
    return Temporaries(*np.array(found, np.int64).reshape(-1, 5).T)


def _peak_in(body: Any, ceiling: int) -> int:
    """Returns how much memory the body of a loop or branch needs; none if it is a kernel for each result."""
    if all(map(is_fused, body.eqns)):
        return 0
    return temporaries(body.eqns, set(variables(body.outvars)), ceiling).peak()


def breadth_first(eqns: Sequence[Eqn], kernel: Sequence[int]) -> list[int]:
    """Returns when each equation runs, if all that are ready run in the order in which they got ready.

    Args:
      eqns: The equations.
      kernel: The kernel of each.
    """
    maker = {var: kernel[i] for i, eqn in enumerate(eqns) for var in eqn.outvars}
    edges = OrderedSet(
        (maker[var], kernel[i])
        for i, eqn in enumerate(eqns)
        for var in variables(eqn.invars)
        if var in maker and maker[var] != kernel[i]
    )
    readers: dict[int, list[int]] = {i: [] for i in sorted(set(kernel))}
    missing = Counter(reader for _, reader in edges)
    for made, reader in edges:
        readers[made].append(reader)
    ready = deque(i for i in readers if not missing[i])
    time: dict[int, int] = {}
    while ready:
        i = ready.popleft()
        time[i] = len(time)
        for reader in readers[i]:
            missing[reader] -= 1
            if not missing[reader]:
                ready.append(reader)
    return [time[i] for i in kernel]


def waiting(eqns: Sequence[Eqn], kernel: Sequence[int], time: Sequence[int]) -> dict[int, int]:
    """Returns the kernels that can wait, each with the time until which: that of the first one that reads it.

    These are the cheap ones that make something large that is read much later, of nothing but inputs, small values and
    results of others that wait.

    Args:
      eqns: The equations.
      kernel: The kernel of each.
      time: When each would run.
    """
    maker = {var: kernel[i] for i, eqn in enumerate(eqns) for var in eqn.outvars}
    members: dict[int, list[int]] = {}
    for i, k in enumerate(kernel):
        members.setdefault(k, []).append(i)
    operands = {k: {maker.get(var, k) for i in members[k] for var in variables(eqns[i].invars)} - {k} for k in members}
    readers: dict[int, set[int]] = {k: set() for k in members}
    for k, made_by in operands.items():
        for maker_of_operand in made_by:
            readers[maker_of_operand].add(k)
    is_large = {
        k: max((aval_bytes(v.aval) for v in eqns[k].outvars), default=0) > machine().late_bytes for k in members
    }
    early: set[int] = set()  # those that need nothing but inputs
    for k in sorted(members, key=lambda k: time[k]):
        if operands[k] <= early and all(is_cheap(eqns[i]) and is_rewritable(eqns[i]) for i in members[k]):
            early.add(k)
    can_wait = {k for k in early if is_large[k] and readers[k]}
    while True:  # what one reads that does not wait is there early
        until: dict[int, int] = {}
        for k in sorted(can_wait, key=lambda k: -time[k]):
            until[k] = min(until.get(reader, time[reader]) for reader in readers[k])
        kept = {k for k in can_wait if until[k] - time[k] >= machine().late_kernels}
        kept = {k for k in kept if all(j in kept or not is_large[j] for j in operands[k])}
        if kept == can_wait:
            return until
        can_wait = kept


def _last_reads(eqns: Sequence[Eqn], places: Sequence[int]) -> dict[Any, int]:
    last: dict[Any, int] = {}
    for place, eqn in zip(places, eqns, strict=True):
        for var in variables(eqn.invars):
            if last.get(var, -1) < place:
                last[var] = place
    return last


def _sources(eqns: Sequence[Eqn], last: dict[Any, int], returned: Collection[Any]) -> dict[Any, Any]:
    """Returns, for each variable that has the memory of another, that other one."""
    source: dict[Any, Any] = {}
    for i, eqn in enumerate(eqns):
        written = list(variables(eqn.invars[:1])) if eqn.primitive.name in _IN_PLACE else []
        is_written = bool(written) and all(last[var] == i and var not in returned for var in written)
        if eqn.primitive.name in _SAME_MEMORY or is_written:
            for before, after in zip(eqn.invars, eqn.outvars, strict=False):
                if not isinstance(before, Literal):
                    source[after] = source.get(before, before)
    return source


def _with_those_in_place(
    eqns: Sequence[Eqn], kernel: Sequence[int], reads: dict[Any, int], source: dict[Any, Any]
) -> dict[Any, int]:
    """Returns where each variable's memory is read last: by what has the same memory, by what is in the same kernel."""
    last = dict(reads)
    for after, before in source.items():
        last[before] = max(last.get(before, 0), last.get(after, 0))
    for i in reversed(range(len(eqns))):
        if kernel[i] != i:  # what is computed where it is read needs its operands there
            end = max(last.get(var, 0) for var in eqns[i].outvars)
            for var in variables(eqns[i].invars):
                if last[var] < end:
                    last[var] = end
    return last
