"""The body of a `shard_map` as the program of one device, and back.

The types in such a body say over which axes of the mesh a value differs from device to device. For what computes on one
device alone they do not matter, and a rewrite would have to write them. So a body is read without them, and traced
again under its mesh when it was rewritten: JAX then finds out which values differ, and checks it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AxisType

from jaxaot._jax import (
    DropVar,
    Literal,
    ShapedArray,
    close_jaxpr,
    make_jaxpr_object,
    make_var,
    type_varies_over,
    varying_axes,
)
from jaxaot._typing import Array, Atom, ClosedJaxpr, Eqn
from jaxaot.ir.build import placed
from jaxaot.ir.rewrite import inline, rebuild
from jaxaot.ir.walk import sub_jaxprs


def evaluate_varying(closed: ClosedJaxpr, args: Sequence[Array]) -> list[Array]:
    """Returns the outputs of a graph inside a `shard_map` body, where operands have to vary over the same axes.

    The graph was traced without a mesh, so what is constant in it is made to vary where it meets what does.

    Args:
      closed: The graph, a ClosedJaxpr.
      args: Its inputs.
    """
    with jax.enable_x64(True):  # types are those of the graph, of which some may have 64 bits
        return _evaluate_varying(closed, args)


def _evaluate_varying(closed: ClosedJaxpr, args: Sequence[Array]) -> list[Array]:
    jaxpr = closed.jaxpr
    values = dict(zip(jaxpr.constvars, closed.consts, strict=True)) | dict(zip(jaxpr.invars, args, strict=True))

    def read(atom: Any) -> Any:
        return jnp.asarray(atom.val, atom.aval.dtype) if isinstance(atom, Literal) else values[atom]

    for eqn in jaxpr.eqns:
        operands = [read(atom) for atom in eqn.invars]
        axes = frozenset[Any]().union(*map(varying_axes, operands))
        is_cast = eqn.primitive.name == "pvary"  # of what varies over some of its axes by now
        if is_cast:
            axes |= frozenset(eqn.params["axes"])
        is_typed = any(type_varies_over(v.aval) for body in sub_jaxprs(eqn) for v in (*body.invars, *body.outvars))
        if axes and not is_typed:  # by bodies, which say what varies
            operands = [jax.lax.pcast(x, tuple(axes - varying_axes(x)), to="varying") for x in operands]
        if is_cast:
            values.update(zip(eqn.outvars, operands, strict=True))
            continue
        with eqn.ctx.manager:
            results = eqn.primitive.bind(*operands, **eqn.primitive.get_bind_params(eqn.params))
        values.update(zip(eqn.outvars, results if eqn.primitive.multiple_results else [results], strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def device_program(eqn: Eqn) -> ClosedJaxpr | None:
    """Returns what one device computes in a `shard_map`, its calls inlined; None if JAX itself places what is in it.

    Args:
      eqn: The equation.
    """
    if any(kind != AxisType.Auto for kind in eqn.params["mesh"].axis_types):
        return None
    body = inline(close_jaxpr(eqn.params["jaxpr"]), also_custom=True)
    named: dict[Any, Any] = {}

    def plain(atom: Any) -> Any:
        if isinstance(atom, (Literal, DropVar)) or not isinstance(atom.aval, ShapedArray):
            return atom
        if atom not in named:
            aval = atom.aval
            named[atom] = make_var(ShapedArray(aval.shape, aval.dtype, weak_type=aval.weak_type))
        return named[atom]

    jaxpr = body.jaxpr
    invars, constvars = list(map(plain, jaxpr.invars)), list(map(plain, jaxpr.constvars))
    eqns = [e.replace(invars=list(map(plain, e.invars)), outvars=list(map(plain, e.outvars))) for e in jaxpr.eqns]
    outvars = list(map(plain, jaxpr.outvars))
    return close_jaxpr(make_jaxpr_object(invars, outvars, eqns, constvars), body.consts)


def with_device_program(eqn: Eqn, program: ClosedJaxpr) -> tuple[list[Eqn], list[Atom]]:
    """Returns equations that have each device run another program in a `shard_map`, and their results.

    Args:
      eqn: The `shard_map`.
      program: What `device_program` returned, rewritten.
    """
    params, inner = eqn.params, eqn.params["jaxpr"].eqns[0].ctx
    own = {id(e.ctx) for e in eqn.params["jaxpr"].eqns}
    jaxpr = program.jaxpr
    eqns = [e if id(e.ctx) in own else e.replace(ctx=inner) for e in jaxpr.eqns]
    program = rebuild(program, eqns, jaxpr.outvars)
    mapped = jax.shard_map(
        lambda *parts: tuple(evaluate_varying(program, parts)),
        mesh=params["mesh"],
        in_specs=tuple(params["in_specs"]),
        out_specs=tuple(params["out_specs"]),
        axis_names=set(params["newly_manual_axes"]),
        check_vma=params["check_vma"],
    )
    specs = [jax.ShapeDtypeStruct(a.aval.shape, a.aval.dtype, weak_type=a.aval.weak_type) for a in eqn.invars]
    with eqn.ctx.manager:
        graph = jax.make_jaxpr(mapped)(*specs)
    made, results, _ = placed(graph, eqn.invars, eqn)
    return made, results
