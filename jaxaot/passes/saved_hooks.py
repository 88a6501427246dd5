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
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.dtypes import float0
from jax.lax import optimization_barrier_p

from jaxaot._jax import Literal, ShapedArray, close_jaxpr, make_jaxpr_object, make_var
from jaxaot.ir.rewrite import splice, substitute
from jaxaot.ir.schedule import recompute_late
from jaxaot.ir.walk import aval_bytes, is_on_host, short_aval, variables
from jaxaot.passes.gate import SMALL_BYTES
from jaxaot.plan.saved import (
    FromForward,
    FromOutput,
    FromPrimal,
    FromRefill,
    ResidualSource,
    SavedValue,
)
from jaxaot.plan.stages import Partition

TraceHooks = Callable[[tuple[int, ...], Any], Any]
"""Takes shape and dtype to an object with the graphs `pack` and `unpack`, or to None if there are none."""


def pack_residuals(partition: Partition, trace_hooks: TraceHooks, inputs: Sequence[int] = ()) -> Partition:
    """Returns a partition whose residuals are packed.

    Intermediate values and outputs are packed; values that are kept in the memory of the host, and keys, are not. If
    the hooks cannot be traced for all of them, the plan says which are to be packed between forward and backward.

    Args:
      partition: The partition.
      trace_hooks: Gives the graphs of the hooks for a type.
      inputs: The primals that are packed as well.
    """
    graphs = {i: trace_hooks(tuple(aval.shape), aval.dtype) for i, aval in _candidates(partition, inputs)}
    if any(graph is None for graph in graphs.values()):
        plan = dataclasses.replace(partition.plan, packed_between=tuple(graphs))
        return dataclasses.replace(partition, plan=plan)
    return _Packing(partition, graphs).partition()


def _candidates(partition: Partition, inputs: Sequence[int]) -> list[tuple[int, Any]]:
    """Returns the residuals to pack: position and type."""
    saved = iter(partition.plan.saved)
    found = []
    for i, (source, var) in enumerate(zip(partition.plan.residuals, partition.backward.jaxpr.invars, strict=False)):
        value = None if isinstance(source, (FromPrimal, FromRefill)) else next(saved)
        is_wanted = source.index in inputs if isinstance(source, FromPrimal) else not isinstance(source, FromRefill)
        if is_wanted and _is_plain(var.aval) and not (value is not None and value.is_offloaded):
            found.append((i, var.aval))
    return found


def _is_plain(aval: Any) -> bool:
    """Returns whether a type is that of an array of numbers."""
    if not isinstance(aval, ShapedArray) or aval.dtype == float0:
        return False
    return not jnp.issubdtype(aval.dtype, jax.dtypes.extended)


class _Packing:
    """Builds the packed forward and backward."""

    def __init__(self, partition: Partition, graphs: dict[int, Any]):
        self.before = partition
        self.graphs = graphs
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
        atoms = [self._atom(source) for source in before.plan.residuals]
        packs: dict[Any, list[Any]] = {}  # variable of the forward → equations that pack it
        residuals: list[Any] = []  # inputs of the backward
        unpacks: list[Any] = []
        names: dict[Any, Any] = {}
        values = iter(before.plan.saved)
        backward = before.backward.jaxpr
        constants = dict(zip(backward.constvars, before.backward.consts, strict=True))
        for i, source in enumerate(before.plan.residuals):
            value = None if isinstance(source, (FromPrimal, FromRefill)) else next(values)
            var, atom = backward.invars[i], atoms[i]
            if i not in self.graphs:
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
        body = [eqn.replace(invars=substitute(eqn.invars, names)) for eqn in backward.eqns]
        made = make_jaxpr_object(
            [*residuals, *backward.invars[n:]],
            substitute(backward.outvars, names),
            [*unpacks, *body],
            list(constants),
        )
        closed = recompute_late(close_jaxpr(made, list(constants.values())), len(residuals))
        plan = dataclasses.replace(before.plan, residuals=tuple(self.sources), saved=tuple(self.saved))
        return dataclasses.replace(before, forward=self._forward(packs), backward=closed, plan=plan)

    def _atom(self, source: ResidualSource) -> Any:
        """Returns what a residual is in the forward; None if it is filled again."""
        match source:
            case FromPrimal(index):
                return self.primals[index]
            case FromOutput(index):
                return self.outputs[index]
            case FromForward(index):
                return self.extra_before[index]
        return None

    def _keep(self, source: ResidualSource, value: SavedValue | None) -> None:
        """Adds a residual that is not packed."""
        if isinstance(source, FromForward):
            self.extra.append(self.extra_before[source.index])
            source = FromForward(len(self.extra) - 1)
        self.sources.append(source)
        if value is not None:
            self.saved.append(value)

    def _add(self, atom: Any, value: SavedValue) -> None:
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

    def _packed_value(self, place: int, value: SavedValue | None, before: Any, after: Any, number: str) -> SavedValue:
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
        large = {var for var in self.extra if not isinstance(var, Literal) and _is_worth_a_barrier(var.aval)}
        for i, eqn in enumerate(jaxpr.eqns):
            operands = [var for var in variables(eqn.invars) if _is_plain(var.aval) and var not in self.primals]
            if waited_for and operands:
                sources = [*waited_for, *substitute(operands[-1:], held)]
                targets = [make_var(var.aval) for var in sources]
                eqns.append(eqn.replace(
                    primitive=optimization_barrier_p, params={}, invars=sources, outvars=targets, effects=set()
                ))  # fmt: skip
                held |= zip([*waited_for, operands[-1]], targets, strict=True)
                waited_for = []
            packing = behind.get(i, [])
            eqns += [one.replace(invars=substitute(one.invars, held)) for one in (eqn, *packing)]
            waited_for += [var for one in packing for var in one.outvars if var in large]
        made = make_jaxpr_object(
            jaxpr.invars, substitute([*self.outputs, *self.extra], held), eqns, list(self.constants)
        )  # fmt: skip
        return close_jaxpr(made, list(self.constants.values()))


def _is_worth_a_barrier(aval: Any) -> bool:
    return aval_bytes(aval) > SMALL_BYTES and not is_on_host(aval)
