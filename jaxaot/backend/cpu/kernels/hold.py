"""Holding values in memory: what is cheaper to read than to compute again is computed once.

XLA on CPU makes one kernel of a chain of cheap equations, and copies the chain into the kernel of each reader of its
result. Where the chain goes on from layer to layer, as the residual stream of a transformer does, each copy reads what
all layers before it wrote, so that time and compile time grow with the square of the depth. A barrier stops that: what
is behind it reads one array. But an array more is also one more to write, and where readers have what the chain reads
at hand, or lie in one kernel, it is better computed again.

A *large* value has more than `cached_bytes`. A *kernel* computes one value in memory from other values in memory, its
*sources*, by the cheap equations between them.
"""

from __future__ import annotations

import math
from typing import Any

from jaxaot._jax import DropVar
from jaxaot.backend.cpu.analysis.kernels import is_fused
from jaxaot.backend.cpu.machine import machine
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import aval_bytes, is_rewritable, users, variables

_N_SWEEPS = 3
"""How often the choice is gone over: what pays for one value depends on others."""

_OP_BYTES = {Kind.POINTWISE: 1, Kind.TRANSCENDENTAL: 12}
"""How many bytes could be read in the time of one element of an equation."""

_NOT_COPIED = {"div", "sqrt", "rsqrt", "rem"}
"""Primitives that XLA takes for expensive and does not copy, besides the transcendental ones."""

_LOOK_UP = {"gather": 4, "dynamic_slice": 1}
"""Primitives that XLA copies into each reader too, with the check of each index, and what an element costs."""

_SAME_MEMORY = {"reshape", "squeeze", "expand_dims"}


def hold(closed: Any) -> Any:
    """Returns the graph with barriers behind large values that are cheaper to read than to compute for each reader.

        c = add a b                             c = add a b
        d = mul c 2.0                           h = optimization_barrier c
        e = sin c                       →       d = mul h 2.0
        return reduce_sum c, d, e               e = sin h
                                                return reduce_sum h, d, e

    Whether a value is, is told from the bytes that kernels read and write and from their arithmetic. Results of matrix
    products are in memory anyway; where a transpose or reshape reads one, a barrier keeps XLA's simplifier from moving
    that into the product.
    """
    jaxpr = closed.jaxpr
    made = (aval_bytes(var.aval) for eqn in jaxpr.eqns for var in eqn.outvars)
    if sum(n_bytes for n_bytes in made if n_bytes > machine().cached_bytes) <= machine().unheld_bytes:
        return closed
    if not any(kind(eqn) in (Kind.MATMUL, Kind.CONVOLUTION) for eqn in jaxpr.eqns):
        return closed  # few kernels, such as those of a loss: there is no depth with which chains could grow
    held = _Kernels(jaxpr).choose()
    rewriter, readers = Rewriter(closed), users(jaxpr.eqns)
    for eqn in rewriter.equations():
        rewriter.keep(eqn)
        if not is_rewritable(eqn):
            continue
        large = [
            var for var in eqn.outvars if not isinstance(var, DropVar) and aval_bytes(var.aval) > machine().cached_bytes
        ]
        if kind(eqn) is Kind.MATMUL:
            large = [var for var in large if any(_moves(jaxpr.eqns[i]) for i in readers.get(var, ()))]
        else:
            large = [var for var in large if var in held]
        if large:
            rewriter.hold(*large)
    return rewriter.graph()


def _moves(eqn: Any) -> bool:
    return kind(eqn) is Kind.VIEW and eqn.primitive.name != "optimization_barrier"


class _Kernels:
    """What XLA makes kernels of, while some values are held."""

    def __init__(self, jaxpr: Any):
        self._same: dict[Any, Any] = {}  # what shows the memory of another value
        self._producer: dict[Any, Any] = {}  # of what XLA fuses into its readers
        self._readers: dict[Any, list[Any]] = {}
        self._written: set[Any] = set()  # in memory whether a barrier is there or not
        self._read: set[Any] = set()  # of these: what XLA does not copy
        self._known_work: dict[int, tuple[int, list[tuple[Any, int]]]] = {}
        for eqn in jaxpr.eqns:
            self._add(eqn)
        self._returned = set(map(self._of, variables(jaxpr.outvars)))
        self._written |= self._returned
        self._candidates = [var for var, eqn in self._producer.items() if self._is_candidate(var, eqn)]
        self._inside = self._producer.keys() - self._read  # what each reader computes for itself

    def _add(self, eqn: Any) -> None:
        which = kind(eqn)
        is_copied = is_fused(eqn) or eqn.primitive.name in _LOOK_UP
        has_no_memory = is_copied and len(eqn.outvars) == 1 and is_rewritable(eqn)
        if has_no_memory and eqn.primitive.name in _SAME_MEMORY:
            for var in variables(eqn.invars):
                self._same[eqn.outvars[0]] = self._of(var)
            return
        for var in dict.fromkeys(map(self._of, variables(eqn.invars))):
            self._readers.setdefault(var, []).append(eqn)
            if not has_no_memory and which is not Kind.REDUCTION:
                self._written.add(var)
        if has_no_memory:
            self._producer[eqn.outvars[0]] = eqn

    def _is_candidate(self, var: Any, eqn: Any) -> bool:
        """Returns whether a value may be held; notes that it is in memory if XLA will not copy it."""
        which = kind(eqn)
        if which <= Kind.CAST or len(self._readers.get(var, ())) + (var in self._returned) < 2:
            return False
        if which is Kind.TRANSCENDENTAL or eqn.primitive.name in _NOT_COPIED:
            self._written.add(var)
            self._read.add(var)
            return False
        return aval_bytes(var.aval) > machine().cached_bytes

    def _of(self, var: Any) -> Any:
        return self._same.get(var, var)

    def choose(self) -> set[Any]:
        """Returns the values to hold: at first all with several readers, then only those with which it takes less."""
        self._inside.difference_update(self._candidates)
        for _ in range(_N_SWEEPS):
            before = set(self._inside)
            for var in self._candidates:
                self._settle(var)
            if self._inside == before:
                break
        return set(self._candidates) - self._inside

    def _settle(self, var: Any) -> None:
        """Holds a value if that makes the kernels that it is part of take enough less time."""
        self._inside.add(var)
        kernels = self._kernels_with(var)
        without = sum(map(self._cost, kernels))
        self._inside.discard(var)
        own = 0 if var in self._written else self._cost(self._producer[var]) + aval_bytes(var.aval)
        if own + sum(map(self._cost, kernels)) >= machine().max_left_by_holding * without:
            self._inside.add(var)

    def _kernels_with(self, var: Any) -> list[Any]:
        """Returns the last equation of each kernel that computes a value if it is not held, but for its own."""
        found: dict[int, Any] = {}
        pending, seen = [var], {var}
        while pending:
            for eqn in self._readers.get(pending.pop(), ()):
                target = eqn.outvars[0]
                if kind(eqn) is Kind.REDUCTION:
                    found[id(eqn)] = eqn
                elif self._producer.get(target) is eqn and target not in seen:
                    seen.add(target)
                    if target not in self._inside or target in self._written:
                        found[id(eqn)] = eqn
                    if target in self._inside:
                        pending.append(target)
        return list(found.values())

    def _cost(self, last: Any) -> int:
        """Returns the bytes that a kernel reads, and those that could be read in the time of its arithmetic."""
        cost = 0
        pending, seen = [last], set()
        while pending:
            eqn = pending.pop()
            arithmetic, operands = self._known_work.get(id(eqn)) or self._work(eqn)
            cost += arithmetic
            for var, n_bytes in operands:
                if var not in seen:
                    seen.add(var)
                    if var in self._inside:
                        pending.append(self._producer[var])
                    else:
                        cost += n_bytes
        return cost

    def _work(self, eqn: Any) -> tuple[int, list[tuple[Any, int]]]:
        """Returns the cost of an equation's arithmetic, and its operands with their bytes; remembers both."""
        name, result = eqn.primitive.name, eqn.outvars[0].aval
        operands = [(var, aval_bytes(var.aval)) for var in map(self._of, variables(eqn.invars))]
        if name in _LOOK_UP:  # not all of a table is read
            operands = [(var, min(n_bytes, aval_bytes(result))) for var, n_bytes in operands]
        arithmetic = _LOOK_UP.get(name, _OP_BYTES.get(kind(eqn), 0)) * math.prod(result.shape)
        self._known_work[id(eqn)] = arithmetic, operands
        return arithmetic, operands
