"""From the values to save to the two graphs and the plan that ties them.

The forward computes the outputs of the user's function and the saved values that are not among them. The backward takes
the residuals and the cotangents; what it needs and does not get, it *recomputes*, as late as it can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jaxaot._jax import DropVar
from jaxaot._typing import Var
from jaxaot._util import format_bytes
from jaxaot.ir.gate import hold_fills
from jaxaot.ir.primitives import Kind, is_pure, is_view, kind
from jaxaot.ir.rewrite import extract, first_outputs
from jaxaot.ir.schedule import recompute_late
from jaxaot.ir.walk import backward_slice, forward_index, region_index, source_line, variables
from jaxaot.partition.body_plan import BodyPlan, InnerValue
from jaxaot.partition.classify import Classified, Side
from jaxaot.partition.policies import Choice
from jaxaot.partition.tags import Decided
from jaxaot.plan.saved import (
    FromForward,
    FromOutput,
    FromPrimal,
    FromRefill,
    RecomputedValue,
    ResidualSource,
    SavedValue,
    SavePlan,
)
from jaxaot.plan.stages import Partition


def split(decided: Decided, label: str, save_all_bytes: int, inside: BodyPlan) -> Partition:
    """Returns the partition that saves what was decided.

    Args:
      decided: A graph without markers, and the variables of it to save.
      label: What the policy goes by.
      save_all_bytes: What saving everything would weigh.
      inside: What was cut in the bodies of equations.
    """
    graph, saved = decided.graph, decided.saved
    recomputed = recomputed_positions(graph, saved, graph.positions(Side.BACKWARD), graph.gradients)
    backward_eqns = sorted({*graph.positions(Side.BACKWARD), *recomputed})
    read = set(variables(atom for i in backward_eqns for atom in graph.eqns[i].invars)) | set(
        variables(graph.gradients)
    )
    # what was decided for one equation may be needed by none, once others are saved
    refilled = [var for var in saved if var in read and var in graph.refills]
    saved = [var for var in saved if var in read and var not in graph.refills]
    primals = [(i, var) for i, var in enumerate(graph.primals) if var in read]

    place_of_output: dict[Any, int] = {}
    for i, var in enumerate(graph.outputs):
        if not hasattr(var, "val"):
            # the first of several equal outputs: all hold the same array
            place_of_output.setdefault(var, i)
    sources: list[ResidualSource] = [FromPrimal(i) for i, _ in primals]
    sources += [FromRefill(graph.refills[var]) for var in refilled]
    extra: list[Any] = []
    for var in saved:
        if var in place_of_output:
            sources.append(FromOutput(place_of_output[var]))
        else:
            sources.append(FromForward(len(extra)))
            extra.append(var)

    forward_eqns = backward_slice(graph.joint.jaxpr.jaxpr, [*graph.outputs, *extra])
    # effects too, which no output depends on
    forward_eqns |= set(graph.positions(Side.FORWARD))
    made = {var for i in forward_eqns for var in graph.eqns[i].outvars}
    results, fills = [*graph.outputs, *extra], [var for var in graph.refills if var in made]
    forward = extract([graph.eqns[i] for i in sorted(forward_eqns)], graph.primals, [*results, *fills], graph.constants)
    # XLA would gather for all layers at the start; so each fill waits for what was computed before it
    forward = first_outputs(hold_fills(forward, len(fills)), len(results))
    residuals = [*(var for _, var in primals), *refilled, *saved]
    backward = extract(
        [graph.eqns[i] for i in backward_eqns], [*residuals, *graph.cotangents], graph.gradients, graph.constants
    )
    # XLA keeps the order by and large: computed at the start, all would be alive at once
    backward = recompute_late(backward, len(residuals))
    repeated = [*(graph.eqns[i] for i in recomputed if i in forward_eqns), *(eqn for eqn, _ in inside.repeated)]
    plan = SavePlan(
        tuple(sources),
        tuple(_saved_value(decided, var, label, inside.saved.get(var), var in place_of_output) for var in saved),
        (
            *(
                RecomputedValue(
                    equation_name(graph, i), *_type(var), graph.bytes(var), source_line(graph.eqns[i]) or ""
                )
                for i in recomputed
                if i in forward_eqns
                for var in graph.eqns[i].outvars
                if not isinstance(var, DropVar)
            ),
            *inside.recomputed,
        ),
        save_all_bytes,
        repeats_work=any(kind(eqn) > Kind.CAST for eqn in repeated),
    )
    return Partition(graph.joint, forward, backward, plan)


def recomputed_positions(
    graph: Classified, saved: Sequence[Any], backward: Sequence[int], results: Sequence[Any]
) -> list[int]:
    """Returns the positions of the equations that a backward recomputes.

    Args:
      graph: A classified joint graph.
      saved: The variables that are saved.
      backward: The backward equations to run.
      results: The atoms to compute.
    """
    # primals are inputs of the backward whatever is saved; the caller holds them
    available = {*saved, *graph.primals, *graph.constants}
    targets = [*(atom for i in backward for atom in graph.eqns[i].invars), *results]
    found = backward_slice(graph.joint.jaxpr.jaxpr, targets, available)
    positions = [i for i in sorted(found) if graph.sides[i] is not Side.BACKWARD]
    impure = [graph.eqns[i].primitive.name for i in positions if not is_pure(graph.eqns[i])]
    assert not impure, f"{impure} must not be recomputed"
    return positions


def equation_name(graph: Classified, position: int) -> str:
    """Returns an equation's name: its primitive, and the position of the forward equation that it belongs to."""
    eqn = graph.eqns[position]
    tag = forward_index(eqn)
    return f"{eqn.primitive.name}_{position if tag is None else tag}"


def _saved_value(decided: Decided, var: Var, label: str, inner: InnerValue | None, is_output: bool) -> SavedValue:
    graph = decided.graph
    position = graph.producer[var]
    if is_output:
        why = "an output of the function, which lives anyway"
    elif inner is not None:
        why = inner.why
    elif var in decided.reasons and is_pure(graph.eqns[position]):
        why = f"result of {graph.eqns[position].primitive.name}, {decided.reasons[var]}"
    else:
        why = reason(graph, var, decided.choices, label)
    name = inner.name if inner is not None else equation_name(graph, position)
    source = inner.source if inner is not None else source_line(graph.eqns[position]) or ""
    return SavedValue(name, *_type(var), graph.bytes(var), source, why)


def reason(graph: Classified, var: Var, choices: Mapping[int, Choice], label: str) -> str:
    """Returns why a value is saved rather than recomputed.

    Args:
      graph: A classified joint graph.
      var: A variable that an equation makes.
      choices: What the policy said on each equation.
      label: What the policy goes by.
    """
    position = graph.producer[var]
    eqn = graph.eqns[position]
    base, position_of_base = _viewed(graph, position)
    phrase = f"result of {base.primitive.name}" if base is eqn else f"view of the result of {base.primitive.name}"
    if not is_pure(base):
        return f"{phrase}, which cannot be repeated"
    if choices[position_of_base] is Choice.SAVE:
        return f"{phrase}, which {label if region_index(base) is None else 'its region'} never recomputes"
    operands = sum(
        graph.bytes(operand) for operand in dict.fromkeys(variables(eqn.invars)) if operand in graph.producer
    )
    if operands < graph.bytes(var):
        return f"{phrase}, kept for the time that it takes to compute it again"
    return f"no heavier than what it is computed from ({format_bytes(operands)} for its operands)"


def _viewed(graph: Classified, position: int) -> tuple[Any, int]:
    """Returns the equation, and its position, whose result an equation shows through any number of views and casts."""
    while is_view(graph.eqns[position]):
        source = next(iter(variables(graph.eqns[position].invars)), None)
        if source is None or source not in graph.producer:
            break
        position = graph.producer[source]
    return graph.eqns[position], position


def _type(var: Var) -> tuple[tuple[int, ...], str]:
    return tuple(getattr(var.aval, "shape", ())), str(getattr(var.aval, "dtype", var.aval))
