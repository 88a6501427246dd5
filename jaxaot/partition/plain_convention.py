"""A cut that somebody else made: two graphs in the plain convention, and back.

In the *plain convention* the forward returns the outputs and then every residual, and the backward takes those
residuals and the cotangents. A `Partition` returns nothing twice: residuals that are primals or outputs anyway are
named by its plan instead, and so are the contents of storages that are filled again before the backward; in the plain
convention these are saved like any other value.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from jaxaot._jax import ClosedJaxpr, Literal
from jaxaot._typing import Aval
from jaxaot.errors import PartitionResultError
from jaxaot.ir.rewrite import rebuild
from jaxaot.ir.roles import Refill
from jaxaot.ir.walk import Makers, aval_bytes, short_aval, source_line
from jaxaot.plan.saved import (
    FromForward,
    FromOutput,
    FromPrimal,
    ResidualSource,
    SavedValue,
    SavePlan,
    picked,
)
from jaxaot.plan.stages import JointGraph, Partition


def without_refills(joint: JointGraph) -> JointGraph:
    """Returns a joint graph that counts on no storage to be filled again before the backward."""
    if not joint.n_refills:
        return joint
    jaxpr, roles = joint.jaxpr.jaxpr, joint.out_roles
    kept = [i for i, role in enumerate(roles) if not isinstance(role, Refill)]
    graph = rebuild(joint.jaxpr, jaxpr.eqns, [jaxpr.outvars[i] for i in kept])
    return dataclasses.replace(joint, jaxpr=graph, out_roles=tuple(roles[i] for i in kept))


def as_plain_graphs(partition: Partition) -> tuple[Any, Any]:
    """Returns the forward and the backward of a partition without refills in the plain convention."""
    jaxpr, n_outputs = partition.forward.jaxpr, partition.joint.n_outputs
    residuals = [picked(source, jaxpr.invars, jaxpr.outvars, n_outputs) for source in partition.plan.residuals]
    assert None not in residuals, "a refill is no value of the forward"
    forward = rebuild(partition.forward, jaxpr.eqns, [*jaxpr.outvars[:n_outputs], *residuals])
    return forward, partition.backward


def as_partition(joint: JointGraph, forward: Any, backward: Any) -> Partition:
    """Returns two graphs in the plain convention as a partition of a joint graph.

    Args:
      joint: The joint graph that they were cut from.
      forward: A ClosedJaxpr from primals to (outputs, residuals).
      backward: A ClosedJaxpr from (residuals, cotangents) to gradients.

    Raises:
      PartitionResultError: If they do not fit the joint graph or one another.
    """
    _check(joint, forward, backward)
    jaxpr, n_outputs = forward.jaxpr, joint.n_outputs
    place_of_primal = {var: i for i, var in enumerate(jaxpr.invars)}
    place_of_output: dict[Any, int] = {}
    for i, atom in enumerate(jaxpr.outvars[:n_outputs]):
        if not isinstance(atom, Literal):
            place_of_output.setdefault(atom, i)
    producer = Makers(jaxpr).position
    sources: list[ResidualSource] = []
    saved: list[SavedValue] = []
    extra: list[Any] = []
    place_of_extra: dict[Any, int] = {}
    for atom in jaxpr.outvars[n_outputs:]:
        key = id(atom) if isinstance(atom, Literal) else atom
        if key in place_of_primal:
            sources.append(FromPrimal(place_of_primal[key]))
            continue
        if key in place_of_output:
            sources.append(FromOutput(place_of_output[key]))
        else:
            if key not in place_of_extra:
                place_of_extra[key] = len(extra)
                extra.append(atom)
            sources.append(FromForward(place_of_extra[key]))
        eqn = jaxpr.eqns[producer[atom]] if key in producer else None
        name = "constant" if eqn is None else f"{eqn.primitive.name}_{producer[atom]}"
        line = None if eqn is None else source_line(eqn)
        shape, dtype = tuple(getattr(atom.aval, "shape", ())), str(getattr(atom.aval, "dtype", atom.aval))
        saved.append(SavedValue(name, shape, dtype, aval_bytes(atom.aval), line or "", "chosen by the partition_fn"))
    kept = rebuild(forward, jaxpr.eqns, [*jaxpr.outvars[:n_outputs], *extra])
    plan = SavePlan(tuple(sources), tuple(saved), (), sum(value.bytes for value in saved))
    return Partition(joint, kept, backward, plan)


def _check(joint: JointGraph, forward: Any, backward: Any) -> None:
    """Raises unless two graphs have the inputs and outputs that a cut of `joint` has."""
    problems = [
        f"the {side} is a {type(graph).__name__}, not a ClosedJaxpr"
        for side, graph in (("forward", forward), ("backward", backward))
        if not isinstance(graph, ClosedJaxpr)
    ]
    if not problems:
        n_primals, n_outputs, n_refills = joint.n_primals, joint.n_outputs, joint.n_refills
        ins, outs = joint.jaxpr.in_avals, joint.jaxpr.out_avals
        n_residuals = len(forward.out_avals) - n_outputs
        sides = [
            ("the forward takes", forward.in_avals, "the primals", ins[:n_primals]),
            ("the forward returns first", forward.out_avals[:n_outputs], "the outputs", outs[:n_outputs]),
            (
                "the backward takes", backward.in_avals, "the residuals of the forward, then the cotangents",
                [*forward.out_avals[n_outputs:], *ins[n_primals:]],
            ),
            ("the backward returns", backward.out_avals, "the gradients", outs[n_outputs + n_refills :]),
        ]  # fmt: skip
        if n_residuals < 0:
            problems.append(f"the forward returns {len(forward.out_avals)} values, fewer than the {n_outputs} outputs")
        else:
            problems += [
                f"{what} {_listed(given)}; {name} are {_listed(wanted)}"
                for what, given, name, wanted in sides
                if _types(given) != _types(wanted)
            ]
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise PartitionResultError(
            f"The graphs that the partition_fn returned are no cut of the joint graph:\n{listed}\nReturn a forward "
            "from primals to (outputs, residuals) and a backward from (residuals, cotangents) to gradients, as "
            "`ja.aot.default_partition(joint)` does."
        )


def _types(avals: Sequence[Aval]) -> list[Any]:
    return [(getattr(aval, "shape", None), getattr(aval, "dtype", None)) for aval in avals]


def _listed(avals: Sequence[Aval]) -> str:
    return f"({', '.join(map(short_aval, avals))})"
