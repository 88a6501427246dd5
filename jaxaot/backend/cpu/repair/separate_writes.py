"""Separating writes: what is written to a part of a value is computed before any of that value is overwritten.

XLA on CPU makes one loop of a partial write (`dynamic_update_slice`, `scatter`) and of what computes its elements, and
lets the loop write in place. Where these elements come from other places of the same value, it may overwrite what it
has still to read: `y = x.reshape(4, 4); y.at[1:].set(y[:-1])` makes every row the first one. XLA looks for that, but
only where the write and the read name the same operand, and its simplifier moves slices in front of reshapes.

Where XLA does not see that it may write in place, as for a write of `y[5:7] + 1` to `y[5:7]`, the loop goes over the
whole value instead, however small the part.

A barrier before the write cures both. Where none may stand or none is kept, in loops and in other people's programs,
only what may go wrong is changed, into a choice between new and old elements, which is never done in place.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot._jax import Literal
from jaxaot._typing import Array, ClosedJaxpr, Eqn, Jaxpr
from jaxaot.backend.cpu.repair.barriers import Needed, may_hold_barriers
from jaxaot.ir.build import barrier, n_elements, traced
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewrite import CHECKPOINTS, is_call, with_bodies
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import Makers, aval_bytes, is_rewritable, sub_jaxprs, variables

_CUTS = {"slice", "dynamic_slice", "gather"}
WITH_BODIES = {"scan", "while", "cond", "shard_map", *CHECKPOINTS}
"""Primitives in whose bodies graphs are repaired too, besides calls."""

_COMBINED = {f"scatter-{name}": getattr(lax, name) for name in ("add", "sub", "mul", "min", "max")}
_COMBINED["scatter"] = lambda _, new: new
"""What becomes of an element and what is written to it, by primitive."""

_DEPTH = 6
"""How many equations deep indices are compared."""


def separate_writes(closed: ClosedJaxpr, keeps_barriers: bool = True) -> Any:
    """Returns the graph in which no partial write is computed from the value that it overwrites while it does so.

        c = slice[0:3] b                                c = slice[0:3] b
        d = dynamic_update_slice b c 1          →       h = optimization_barrier c
                                                        d = dynamic_update_slice b h 1

    Args:
      closed: The graph, a ClosedJaxpr, its calls inlined.
      keeps_barriers: Whether XLA is told to keep barriers. If not, only writes that may go wrong are changed.
    """
    jaxpr = closed.jaxpr
    if not _has_writes(jaxpr):
        return closed
    conflicts, used = _Conflicts(jaxpr), Needed(jaxpr)
    rewriter = Rewriter(closed)
    for position, eqn in enumerate(rewriter.equations()):
        if eqn.primitive.name in WITH_BODIES or is_call(eqn):
            keeps_inside = keeps_barriers and may_hold_barriers(eqn, used)
            rewriter.keep(with_bodies(eqn, functools.partial(separate_writes, keeps_barriers=keeps_inside)))
            continue
        operands = conflicts.of(position) if is_rewritable(eqn) else []
        if operands and keeps_barriers:
            invars = list(eqn.invars)
            for i in operands:  # one each, as in a `shard_map` they may vary over unlike axes
                barred, (invars[i],) = barrier([invars[i]], eqn)
                rewriter.write([barred])
            rewriter.keep(eqn.replace(invars=invars))
        elif operands and (choice := _by_choice(eqn)) and conflicts.may_go_wrong(position):
            made, _, _ = traced(choice, eqn.invars, eqn)
            rewriter.write([*made[:-1], made[-1].replace(outvars=eqn.outvars)])
        else:
            rewriter.keep(eqn)
    return rewriter.graph()


def _by_choice(eqn: Eqn) -> Any:
    """Returns a function that does what a partial write does, by a choice for each element of what was there or not.

    None for scatters of several parts: XLA does not make one loop of these and what they write.
    """
    name, params = eqn.primitive.name, eqn.params
    if name == "dynamic_update_slice":
        return lambda before, part, *starts: _choose(
            _COMBINED["scatter"], before, part, lambda array, x: lax.dynamic_update_slice(array, x, starts)
        )
    combine = _COMBINED.get(name.replace("_", "-"))
    if combine is None or n_elements(eqn.invars[1].aval.shape[:-1]) != 1:
        return None
    plain = {**params, "update_jaxpr": None, "update_consts": ()}

    def scattered(before: Any, indices: Array, part: Any) -> Any:
        return _choose(combine, before, part, lambda array, x: lax.scatter_p.bind(array, indices, x, **plain))

    return scattered


def _choose(combine: Any, before: Any, part: Any, write: Any) -> Any:
    new = write(jnp.zeros(before.shape, before.dtype), part)
    is_new = write(jnp.zeros(before.shape, bool), jnp.ones(part.shape, bool))
    return lax.select(is_new, combine(before, new), before)


def _is_write(eqn: Eqn) -> bool:
    return eqn.primitive.name == "dynamic_update_slice" or eqn.primitive.name.startswith("scatter")


def _has_writes(jaxpr: Jaxpr) -> bool:
    """Returns whether there is a partial write in a graph or in its loops, branches and calls."""
    for eqn in jaxpr.eqns:
        if _is_write(eqn):
            return True
        if (eqn.primitive.name in WITH_BODIES or is_call(eqn)) and any(map(_has_writes, sub_jaxprs(eqn))):
            return True
    return False


class _Conflicts:
    """Which writes of a graph depend on what they overwrite.

    Values may lie in the same memory if an equation makes one of the other and they are of the same size; such values
    are a *family*. A write is in conflict if what it writes depends on a value of the family that it writes to.
    """

    def __init__(self, jaxpr: Jaxpr):
        self._jaxpr = jaxpr
        self._same: dict[Any, Any] = {}
        written = {aval_bytes(eqn.invars[0].aval) for eqn in jaxpr.eqns if _is_write(eqn)}
        for eqn in jaxpr.eqns:
            targets = [var for var in eqn.outvars if aval_bytes(var.aval) in written]
            if targets and kind(eqn) <= Kind.GATHER:
                for source in variables(eqn.invars):
                    for target in targets:
                        if _may_share(source.aval, target.aval):
                            self._join(source, target)
        self._bits: dict[Any, int] = {}  # by family that is written to: a bit of its own
        for eqn in jaxpr.eqns:
            if _is_write(eqn) and not isinstance(eqn.invars[0], Literal):
                self._bits.setdefault(self._family(eqn.invars[0]), 1 << len(self._bits))
        self._reached: dict[Any, int] = {}  # by value: the families that it depends on
        if self._bits:
            for var in (*jaxpr.constvars, *jaxpr.invars):
                self._reached[var] = self._bit(var)
            for eqn in jaxpr.eqns:
                reached = 0
                for var in variables(eqn.invars):
                    reached |= self._reached.get(var, 0)
                for var in eqn.outvars:
                    self._reached[var] = reached | self._bit(var)

    def of(self, position: int) -> list[int]:
        """Returns which operands of an equation depend on what it overwrites and are not behind a barrier; by place."""
        eqn = self._jaxpr.eqns[position]
        if not _is_write(eqn) or isinstance(eqn.invars[0], Literal):
            return []
        bit = self._bit(eqn.invars[0])
        found = (i for i, atom in enumerate(eqn.invars) if i and not isinstance(atom, Literal))
        found = [i for i in found if self._reached.get(eqn.invars[i], 0) & bit]
        return [i for i in found if self._makers.of(eqn.invars[i], lax.optimization_barrier_p) is None]

    def may_go_wrong(self, position: int) -> bool:
        """Returns whether XLA may overwrite what a write has still to read.

        It does not where all that is read is the element that is written, nor where the read names the operand of the
        write and XLA has no equation in front of it to move one of them over.
        """
        eqn = self._jaxpr.eqns[position]
        before, *others = eqn.invars
        part, starts = (others[0], others[1:]) if eqn.primitive.name == "dynamic_update_slice" else (others[1], None)
        bit, is_fixed = self._bit(before), self._is_fixed(before)
        pending, seen = [(part, False)], set()
        while pending:
            var, is_moved = pending.pop()
            if isinstance(var, Literal) or (var, is_moved) in seen or not self._reached.get(var, 0) & bit:
                continue
            seen.add((var, is_moved))
            made = self._producer(var)
            if made is None or self._bit(var) == bit:
                return True
            if made.primitive.name in _CUTS and made.invars[0] is before:
                same = not is_moved and starts is not None and self._is_window(made, part.aval.shape, starts)
                if not (same or is_fixed):
                    return True
                pending += [(atom, True) for atom in made.invars[1:]]
                continue
            is_moved = is_moved or kind(made) not in (Kind.CAST, Kind.POINTWISE, Kind.TRANSCENDENTAL)
            pending += [(atom, is_moved) for atom in made.invars]
        return False

    def _is_fixed(self, var: Any) -> bool:
        """Returns whether XLA has nothing to move over the equation of a value."""
        made = self._producer(var)
        if made is None or kind(made) > Kind.GATHER:
            return True
        return made.primitive.name == "dynamic_update_slice" and any(True for _ in variables(made.invars[2:]))

    def _is_window(self, cut: Any, shape: Sequence[int], starts: Sequence[Any]) -> bool:
        """Returns whether a cut takes the part of some shape at some place."""
        if tuple(cut.outvars[0].aval.shape) != tuple(shape):
            return False
        if cut.primitive.name == "slice":
            places, strides = cut.params["start_indices"], cut.params["strides"]
            if strides is not None and any(n != 1 for n in strides):
                return False
            return all(isinstance(s, Literal) and int(s.val) == n for s, n in zip(starts, places, strict=True))
        if cut.primitive.name != "dynamic_slice":
            return False
        return all(map(self._is_same_number, cut.invars[1:], starts))

    def _is_same_number(self, one: Any, other: Any, depth: int = _DEPTH) -> bool:
        """Returns whether two atoms are one number; equal equations count, as of indices that are normalized twice."""
        if isinstance(one, Literal) or isinstance(other, Literal):
            both = isinstance(one, Literal) and isinstance(other, Literal)
            return both and bool(one.val == other.val)
        if one is other:
            return True
        made, again = self._producer(one), self._producer(other)
        if made is None or again is None or made.primitive is not again.primitive or not depth:
            return False
        if n_elements(one.aval.shape) != 1 or str(made.params) != str(again.params) or kind(made) > Kind.POINTWISE:
            return False
        if len(made.invars) != len(again.invars):
            return False
        return all(self._is_same_number(*pair, depth - 1) for pair in zip(made.invars, again.invars, strict=True))

    @functools.cached_property
    def _makers(self) -> Makers:
        return Makers(self._jaxpr)

    def _producer(self, var: Any) -> Any:
        return self._makers.get(var)

    def _bit(self, var: Any) -> int:
        return self._bits.get(self._family(var), 0)

    def _family(self, var: Any) -> Any:
        chain = []
        while var in self._same:
            chain.append(var)
            var = self._same[var]
        for passed in chain[:-1]:
            self._same[passed] = var
        return var

    def _join(self, one: Any, other: Any) -> None:
        one, other = self._family(one), self._family(other)
        if one is not other:
            self._same[other] = one


def _may_share(one: Any, other: Any) -> bool:
    n_bytes = aval_bytes(one)
    return n_bytes > 0 and n_elements(one.shape) > 1 and n_bytes == aval_bytes(other)
