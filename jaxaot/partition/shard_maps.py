"""`shard_map`: one body that runs on every device of a mesh, each with its own part of the values.

A result needs an axis to be laid out along, so JAX gives scalars one on their way out, and takes it away on their way
in.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax
from jax.sharding import PartitionSpec

from jaxaot._jax import (
    Literal,
    body_spec,
    close_jaxpr,
    make_var,
    new_jaxpr_eqn,
    no_effects,
    pvary_p,
    stacked_aval,
    strong_aval,
    type_varies_over,
    unsharded_aval,
)
from jaxaot._typing import Atom, Aval, Eqn, Var
from jaxaot.ir.rewrite import reading, substitute
from jaxaot.ir.walk import aval_bytes
from jaxaot.partition.body_interface import AbstractBodyInterface, Exit, Slot


class ShardMap(AbstractBodyInterface):
    """A `shard_map`. A device sees the same part of a value in two of them if both lay it out in the same way."""

    def bodies(self, eqn: Eqn) -> list[Any]:
        return [close_jaxpr(eqn.params["jaxpr"])]

    def operand_hows(self, eqn: Eqn) -> Sequence[Hashable]:
        return tuple(map(_normal, eqn.params["in_specs"]))

    def result_hows(self, eqn: Eqn) -> Sequence[Hashable]:
        return tuple(map(_normal, eqn.params["out_specs"]))

    def is_pair(self, forward: Any, backward: Any) -> bool:
        return all(forward.params[name] == backward.params[name] for name in ("mesh", "newly_manual_axes", "check_vma"))

    def exit(self, eqn: Eqn, aval: Aval) -> Exit:
        spec = body_spec(eqn, aval)
        gets_axis = not aval.shape and spec != PartitionSpec()
        return Exit(spec, unsharded_aval(eqn, spec, aval, gets_axis), gets_axis)

    def params(self, eqn: Eqn, bodies: Sequence[Any], operands: Sequence[Slot], results: Sequence[Slot]) -> Any:
        return {
            "jaxpr": bodies[0].jaxpr,
            "in_specs": tuple(slot.how for slot in operands),
            "out_specs": tuple(slot.how for slot in results),
        }

    def effects(self, eqn: Eqn, bodies: Sequence[Any]) -> Any:
        return {effect for effect in bodies[0].effects if not is_named_axis_of(effect, eqn.params["mesh"])}

    def price(self, price: int, slot: Slot, size: Callable[[Any], int]) -> int:
        """One device keeps its own part."""
        whole = size(slot.outer)
        return -(-price * aval_bytes(slot.inner[0].aval) // whole) if whole else 0

    def settled(self, eqns: Sequence[Eqn], atoms: Sequence[Atom]) -> tuple[list[Any], list[Any]]:
        given_axis: dict[Any, Any] = {}
        scalars: dict[Any, Any] = {}
        kept = []
        for eqn in eqns:
            if any(not isinstance(atom, Literal) and atom in scalars for atom in eqn.invars):
                eqn = reading(eqn, scalars)
            name = eqn.primitive.name
            operand: Any = next(iter(eqn.invars), None)
            if name == "broadcast_in_dim" and eqn.params["shape"] == (1,) and not operand.aval.shape:
                given_axis[eqn.outvars[0]] = operand
            elif name == "squeeze" and not isinstance(operand, Literal) and operand in given_axis:
                scalars[eqn.outvars[0]] = given_axis[operand]
            kept.append(eqn)
        return kept, list(substitute(atoms, scalars))


def _normal(spec: Any) -> Any:
    """Returns a spec in the one way of writing it that is compared."""
    axes = [axis[0] if isinstance(axis, tuple) and len(axis) == 1 else (axis or None) for axis in spec]
    while axes and axes[-1] is None:
        axes.pop()
    return PartitionSpec(*axes, unreduced=spec.unreduced, reduced=spec.reduced)


def with_axis(var: Var) -> tuple[Eqn, Var]:
    """Returns an equation that gives a scalar an axis of size 1, and its result."""
    result = make_var(stacked_aval(1, var.aval))
    params = {"shape": (1,), "broadcast_dimensions": (), "sharding": None}
    return new_jaxpr_eqn([var], [result], jax.lax.broadcast_in_dim_p, params, no_effects), result


def without_axis(var: Var, scalar: Var) -> Eqn:
    """Returns the equation that makes a scalar of an array of shape (1,)."""
    return new_jaxpr_eqn([var], [scalar], jax.lax.squeeze_p, {"dimensions": (0,)}, no_effects)


def filled_with_zeros(aval: Aval) -> tuple[list[Eqn], Var]:
    """Returns equations that make zeros of a type, and their result."""
    with jax.sharding.use_abstract_mesh(aval.sharding.mesh):
        traced = jax.make_jaxpr(lambda: jax.lax.full(aval.shape, 0, aval.dtype))()
    zeros: Any = traced.jaxpr.outvars[0]
    eqns, axes = list(traced.jaxpr.eqns), type_varies_over(aval)
    if axes:
        result = make_var(strong_aval(aval))
        eqns.append(new_jaxpr_eqn([zeros], [result], pvary_p, {"axes": tuple(axes)}, no_effects))
        zeros = result
    return eqns, zeros


def is_named_axis_of(effect: object, mesh: Any) -> bool:
    """Returns whether an effect only says that an axis of a mesh is used."""
    return type(effect).__name__ == "NamedAxisEffect" and getattr(effect, "name", None) in mesh.axis_names
