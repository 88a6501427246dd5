"""Hooks on saved tensors inside the graphs: residuals are packed in the forward and unpacked in the backward.

A residual is packed right behind its last use in the forward, so that what it was can be freed there and then, and not
at the end with all others; the next equation waits, behind an `optimization_barrier`, until that is done. It is
unpacked right before its first use in the backward: unpacking depends on no cotangent, so `recompute_late` puts it
there, and `gate` keeps it there.

    forward a                         forward a
      b = sin a                         b = sin a
      c = mul b b                       c = mul b b
      d = exp c                         p = convert_element_type[float8_e4m3fn] b
      return d b              →         q, e = optimization_barrier p c
                                        d = exp e
                                        return d q
    backward b d ct                   backward q d ct
      e = mul ct d                      e = mul ct d
      f = mul e b                       b = convert_element_type[float32] q
      …                                 f = mul e b
                                        …
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.dtypes import float0

from jaxaot._jax import Literal, ShapedArray, close_jaxpr, make_jaxpr_object, make_var
from jaxaot._scopes import annotations_of
from jaxaot._typing import Atom, Aval
from jaxaot.ir.build import barrier
from jaxaot.ir.regions import HOOKS_SCOPE
from jaxaot.ir.rewrite import reading, splice, substitute
from jaxaot.ir.schedule import recompute_late
from jaxaot.ir.walk import aval_bytes, is_on_host, short_aval, variables
from jaxaot.passes.gate import SMALL_BYTES
from jaxaot.plan.saved import (
    FromForward,
    FromOutput,
    FromPrimal,
    ResidualSource,
    SavedValue,
    is_saved,
    picked,
)
from jaxaot.plan.stages import Partition

TraceHooks = Callable[[Any, tuple[int, ...], Any], Any]
"""Takes hooks, shape and dtype to an object with the graphs `pack` and `unpack`, or to None if there are none."""


def pack_residuals(partition: Partition, around: Any, trace_hooks: TraceHooks) -> Partition:
    """Returns a partition whose residuals are packed.

    Intermediate values and outputs are packed by the hooks under which they were computed, inputs by those around the
    call if these say so. Values that are kept in the memory of the host, keys, and what is packed already are not.
    Where hooks cannot be traced, the plan says that the residual is to be packed between forward and backward.

    Args:
      partition: The partition.
      around: The hooks around the call, an object whose `inputs` says whether inputs are packed; None without.
      trace_hooks: Gives the graphs of hooks for a type.
    """
    hooks = _hooks_of_residuals(partition, around)
    return _Packing(partition, hooks, trace_hooks).partition() if hooks else partition


def _hooks_of_residuals(partition: Partition, around: Any) -> dict[int, Any]:
    """Returns the hooks of each residual to pack, by its position."""
    jaxpr = partition.forward.jaxpr
    inside = {
        var: annotation.value
        for eqn in jaxpr.eqns
        for annotation in annotations_of(eqn)  # outermost first, so the innermost stays
        if annotation == HOOKS_SCOPE
        for var in eqn.outvars
    }
    if around is None and not inside:
        return {}
    n_outputs = partition.joint.n_outputs
    saved = iter(partition.plan.saved)
    found = {}
    for i, (source, var) in enumerate(zip(partition.plan.residuals, partition.backward.jaxpr.invars, strict=False)):
        value = next(saved) if is_saved(source) else None
        if is_saved(source):  # by those under which it was computed
            atom = picked(source, jaxpr.invars, jaxpr.outvars, n_outputs)
            hooks = around if isinstance(atom, Literal) else inside.get(atom, around)
        else:
            hooks = around if isinstance(source, FromPrimal) and around is not None and around.inputs else None
        is_done = value is not None and (value.is_offloaded or value.packed_from is not None)
        if hooks is not None and _is_plain(var.aval) and not is_done and i not in partition.plan.packed_between:
            found[i] = hooks
    return found


def _is_plain(aval: Aval) -> bool:
    """Returns whether a type is that of an array of numbers."""
    if not isinstance(aval, ShapedArray) or aval.dtype == float0:
        return False
    return not jnp.issubdtype(aval.dtype, jax.dtypes.extended)


class _Packing:
    """Builds the packed forward and backward."""

    def __init__(self, partition: Partition, hooks: dict[int, Any], trace_hooks: TraceHooks):
        self.before = partition
        self.hooks = hooks
        self.graphs: dict[int, Any] = {}
        for i, pair in hooks.items():
            aval = partition.backward.jaxpr.invars[i].aval
            graphs = trace_hooks(pair, tuple(aval.shape), np.dtype(aval.dtype))
            if graphs is not None:
                self.graphs[i] = graphs
        joint, jaxpr = partition.joint, partition.forward.jaxpr
        self.outputs = list(jaxpr.outvars[: joint.n_outputs])
        self.extra_before = list(jaxpr.outvars[joint.n_outputs :])
        self.primals = list(jaxpr.invars)
        self.extra: list[Any] = []
        self.sources: list[ResidualSource] = []
        self.saved: list[SavedValue] = []
        self.constants = dict(zip(jaxpr.constvars, partition.forward.consts, strict=True))

    def partition(self) -> Partition:
        before = self.before
        forward, n_outputs = before.forward.jaxpr, before.joint.n_outputs
        between = dict(zip(before.plan.packed_between, before.hooks, strict=True))
        between |= {i: pair for i, pair in self.hooks.items() if i not in self.graphs}
        places: list[int] = []  # of those among the residuals of the result
        packs: dict[Any, list[Any]] = {}  # variable of the forward → equations that pack it
        residuals: list[Any] = []  # inputs of the backward
        unpacks: list[Any] = []
        names: dict[Any, Any] = {}
        values = iter(before.plan.saved)
        backward = before.backward.jaxpr
        constants = dict(zip(backward.constvars, before.backward.consts, strict=True))
        for i, source in enumerate(before.plan.residuals):
            value = next(values) if is_saved(source) else None
            var, atom = backward.invars[i], picked(source, forward.invars, forward.outvars, n_outputs)
            if i not in self.graphs:
                if i in between:
                    places.append(len(self.sources))
                self._keep(source, value)
                residuals.append(var)
                continue
            eqns, packed, consts = splice(self.graphs[i].pack, [atom])
            self.constants |= consts
            packs.setdefault(atom, []).extend(eqns)
            held = [make_var(out.aval) for out in packed]
            for k, out in enumerate(packed):
                self._add(out, self._packed_value(i, value, atom.aval, out.aval, f".{k}" if len(packed) > 1 else ""))
            eqns, (result,), consts = splice(self.graphs[i].unpack, held)
            constants |= consts
            residuals += held
            unpacks += eqns
            names[var] = result
        n = len(before.plan.residuals)
        body = [reading(eqn, names) for eqn in backward.eqns]
        made = make_jaxpr_object(
            [*residuals, *backward.invars[n:]],
            substitute(backward.outvars, names),
            [*unpacks, *body],
            list(constants),
        )
        closed = recompute_late(close_jaxpr(made, list(constants.values())), len(residuals))
        plan = dataclasses.replace(
            before.plan, residuals=tuple(self.sources), saved=tuple(self.saved), packed_between=tuple(places)
        )
        hooks = tuple(between[i] for i in sorted(between))
        return dataclasses.replace(before, forward=self._forward(packs), backward=closed, plan=plan, hooks=hooks)

    def _keep(self, source: ResidualSource, value: SavedValue | None) -> None:
        """Adds a residual that is not packed."""
        if isinstance(source, FromForward):
            self.extra.append(self.extra_before[source.index])
            source = FromForward(len(self.extra) - 1)
        self.sources.append(source)
        if value is not None:
            self.saved.append(value)

    def _add(self, atom: Atom, value: SavedValue) -> None:
        """Adds what a hook keeps, which may be a primal or an output as it is."""
        if not isinstance(atom, Literal) and atom in self.primals:
            self.sources.append(FromPrimal(self.primals.index(atom)))
            return
        if not isinstance(atom, Literal) and atom in self.outputs:
            self.sources.append(FromOutput(self.outputs.index(atom)))
        else:
            self.extra.append(atom)
            self.sources.append(FromForward(len(self.extra) - 1))
        self.saved.append(value)

    def _packed_value(
        self, place: int, value: SavedValue | None, before: object, after: Any, number: str
    ) -> SavedValue:
        role = self.before.backward_in_roles[place]
        name = role.name if value is None else value.name
        why = "an input of the function" if value is None else value.why
        return SavedValue(
            f"{name}{number}", tuple(after.shape), str(after.dtype), aval_bytes(after),
            "" if value is None else value.source, why, is_offloaded=is_on_host(after), packed_from=short_aval(before),
        )  # fmt: skip

    def _forward(self, packs: dict[Any, list[Any]]) -> Any:
        """Returns the forward with each residual packed behind the last equation that reads it."""
        jaxpr = self.before.forward.jaxpr
        last: dict[Any, int] = {}
        for i, eqn in enumerate(jaxpr.eqns):
            last |= dict.fromkeys([*variables(eqn.invars), *eqn.outvars], i)
        behind: dict[int, list[Any]] = {}
        for var, eqns in packs.items():
            behind.setdefault(last.get(var, -1), []).extend(eqns)
        eqns = list(behind.get(-1, ()))
        held: dict[Any, Any] = {}  # a value → what a barrier made of it
        waited_for: list[Any] = []  # what was packed, until an equation waits for it
        made = [var for var in variables(self.extra) if not is_on_host(var.aval)]
        large = {var for var in made if aval_bytes(var.aval) > SMALL_BYTES}  # else no barrier is worth it
        for i, eqn in enumerate(jaxpr.eqns):
            operands = [var for var in variables(eqn.invars) if _is_plain(var.aval) and var not in self.primals]
            if waited_for and operands:
                barred, targets = barrier([*waited_for, *substitute(operands[-1:], held)], eqn)
                eqns.append(barred)
                held |= zip([*waited_for, operands[-1]], targets, strict=True)
                waited_for = []
            packing = behind.get(i, [])
            eqns += [reading(one, held) for one in (eqn, *packing)]
            waited_for += [var for one in packing for var in one.outvars if var in large]
        made = make_jaxpr_object(
            jaxpr.invars, substitute([*self.outputs, *self.extra], held), eqns, list(self.constants)
        )  # fmt: skip
        return close_jaxpr(made, list(self.constants.values()))
