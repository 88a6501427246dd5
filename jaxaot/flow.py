"""The steps between the stages: from a traced function to its joint graph, a partition, and executables.

The methods of `plan.stages` lead here. `JointGraph.partition` looks at the settings and the hooks in force, so the
compiler half, which sees neither, need not.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot import settings as config
from jaxaot._jax import jaxpr_as_fun, load
from jaxaot._typing import Aval
from jaxaot._util import collector
from jaxaot.errors import NotDifferentiableError, SignatureMismatchError
from jaxaot.facade.cells.cells import cell_kinds
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ir.walk import short_aval
from jaxaot.joint import build_joint
from jaxaot.lower.backends import get_backend
from jaxaot.lower.costs import cut_options
from jaxaot.partition.fitting import once_for_all
from jaxaot.partition.timeline import memory_timeline
from jaxaot.passes.hooked_residuals import pack_residuals
from jaxaot.passes.pipeline import joint_passes, run_passes
from jaxaot.passes.prepare import prepare_backward, prepare_forward
from jaxaot.plan.alias import ArrayOutput
from jaxaot.plan.inputs import positions_of_values
from jaxaot.plan.sharding import spread_of
from jaxaot.plan.stages import Compiled, JointGraph, Partition, Traced
from jaxaot.plan.timeline import Timeline
from jaxaot.report.notebook import stage_html
from jaxaot.runtime.program import empty_inputs
from jaxaot.runtime.recovery import is_deleted
from jaxaot.tape.modes import state
from jaxaot.tracer.bodies.hooks import trace_hooks

# -- from a trace to a joint graph -------------------------------------------------------------------------------------


def joint_of(traced: Traced, argnums: int | Sequence[int] | None) -> JointGraph:
    """Returns the joint graph of a traced function; see `Traced.joint`."""
    return after_passes(plain_joint_of(traced, argnums))


def after_passes(joint: JointGraph) -> JointGraph:
    """Returns a joint graph after the passes of the settings in force."""
    settings = config.get()
    return run_passes(joint, joint_passes(settings.passes, settings.exact_rounding), check=settings.check_graphs)


def plain_joint_of(traced: Traced, argnums: int | Sequence[int] | None = None) -> JointGraph:
    """Returns the joint graph of a traced function before any pass."""
    inputs = [graph_input for graph_input, _ in traced.alias.reached]
    outputs = list(traced.alias.differentiable)
    if not traced.call.tensors:
        inputs, outputs = array_arguments(traced, argnums)
    elif not inputs or not outputs:
        raise NotDifferentiableError(
            "There is nothing to differentiate: no input that requires grad reaches an output. Make a leaf with "
            "`requires_grad=True`, or return a float that depends on it."
        )
    tensors, storages = traced.call.tensors, traced.call.storages
    refills = [tensors[storages[freed.storage].tensor].name for freed in traced.alias.refills]
    names, absent = traced.input_names, empty_inputs(traced)
    joint = build_joint(traced.jaxpr, inputs, outputs, names=names, refill_names=refills, absent=absent)
    spread = spread_of(traced.jaxpr.in_avals, traced.shardings, set(joint.differentiable_inputs))
    return dataclasses.replace(joint, spread=spread)


def array_arguments(traced: Traced, argnums: int | Sequence[int] | None) -> tuple[list[int], list[int]]:
    """Returns which graph inputs belong to the arguments `argnums`, and which outputs are floats."""
    named, wanted = _named_inputs(traced, argnums)
    avals = traced.jaxpr.out_avals
    inputs = [i for i in named if jnp.issubdtype(traced.jaxpr.in_avals[i].dtype, jnp.inexact)]
    results = range(len(avals))
    if traced.places.cells:  # what is written to them is no result
        results = [source.output for source in traced.alias.outputs if isinstance(source, ArrayOutput)]
    outputs = [i for i in results if jnp.issubdtype(avals[i].dtype, jnp.inexact)]
    if not inputs or not outputs:
        types = [traced.jaxpr.in_avals[i] for i in named]
        numbers = ", ".join(map(str, sorted(wanted)))
        problem = (
            f"of the arguments {numbers}, by which it is differentiated, none has a float ({_listed(types)})"
            if not inputs
            else f"it returns no float ({_listed(avals)})"
        )
        raise NotDifferentiableError(
            f"There is nothing to differentiate: {problem}. Only floats and complex numbers have gradients: "
            "convert with `x.astype(float)`, or name other arguments with `argnums`."
        )
    return inputs, outputs


def parameters_of(traced: Traced, argnums: int | Sequence[int] | None = None) -> list[int]:
    """Returns which graph inputs a gradient is with respect to, whether or not there is one."""
    if traced.call.tensors:
        return [graph_input for graph_input, _ in traced.alias.reached]
    named, _ = _named_inputs(traced, argnums)
    return [i for i in named if jnp.issubdtype(traced.jaxpr.in_avals[i].dtype, jnp.inexact)]


def _named_inputs(traced: Traced, argnums: int | Sequence[int] | None) -> tuple[list[int], set[int]]:
    """Returns which graph inputs belong to some arguments, and the positions of these arguments."""
    given = (0,) if argnums is None else (argnums,) if isinstance(argnums, int) else tuple(argnums)
    arguments = traced.in_tree.children()[0].children()
    missing = [i for i in given if not -len(arguments) <= i < len(arguments)]
    if missing:
        raise NotDifferentiableError(
            f"`argnums` names the argument {missing[0]}, and the function was traced with {len(arguments)} "
            "positional ones. Count from 0, or from -1 backwards."
        )
    wanted = {i % len(arguments) for i in given}
    owner = [i for i, tree in enumerate(arguments) for _ in range(tree.num_leaves)]
    values = zip(positions_of_values(traced.call, traced.places), traced.call.values, strict=True)
    named = [i for i, value in values if value.leaf < len(owner) and owner[value.leaf] in wanted]
    return named + _trained(traced, wanted), wanted


def _trained(traced: Traced, wanted: Collection[int]) -> list[int]:
    """Returns the graph inputs that are values of trained cells, such as `nnx.Param`s, of some arguments."""
    found = []
    for cell in traced.places.cells:
        root, *steps = cell.path
        is_wanted = root == ("root", "args") and bool(steps) and steps[0][1] in wanted
        if is_wanted and issubclass(cell.python_type, cell_kinds()[cell.kind].trained_types):
            found += [leaf.graph_input for leaf in cell.leaves if leaf.graph_input is not None]
    return sorted(found)


def _listed(avals: Sequence[Any]) -> str:
    return ", ".join(map(short_aval, avals)) or "nothing at all"


# -- from a joint graph to executables ---------------------------------------------------------------------------------


def partition_of(joint: JointGraph, policy: Any, memory_budget: Any) -> Partition:
    """Returns a joint graph cut in two, by the settings in force where nothing is said; see `JointGraph.partition`."""
    return with_hooks(_without_hooks(joint, policy, memory_budget))


def partition_at_bucket(joint: JointGraph, policy: Any, memory_budget: Any) -> Partition:
    """Returns a joint graph of a bucket cut in two.

    Hooks on saved tensors run between forward and backward, where what they are given is cut to its size.
    """
    cut = _without_hooks(joint, policy, memory_budget)
    return pack_residuals(cut, state.saved_hooks, lambda *_: None)


def _without_hooks(joint: JointGraph, policy: Any, memory_budget: Any) -> Partition:
    settings = config.get()
    chosen = settings.policy if policy is None else policy
    budget = settings.memory_budget if memory_budget is None else memory_budget
    cutting = load("jaxaot.partition.partition")  # a process that finds its cuts makes none
    made = lambda: (joint, cutting.Cutter(joint, chosen, **cut_options(settings)))
    _, cutter = once_for_all((id(joint), chosen, settings), made)
    with collector.waits():
        return cutter.cut(budget)


def with_hooks(partition: Partition) -> Partition:
    """Returns a partition whose residuals are packed by the hooks on saved tensors that are in force."""
    return pack_residuals(partition, state.saved_hooks, functools.cache(trace_hooks))


def timeline_of(partition: Partition) -> Timeline:
    """Returns the memory that a partition uses as it runs."""
    return memory_timeline(partition)


def html_of(stage: Traced | JointGraph | Partition) -> str:
    """Returns what notebooks show of a stage."""
    return stage_html(stage)


def compiled_of(partition: Partition, backend: str) -> Compiled:
    """Returns the executables of a partition; see `Partition.compile`."""
    make = get_backend(backend)
    backward = prepare_backward(partition.backward, len(partition.plan.residuals))
    return Compiled(make(prepare_forward(partition.forward), (), "forward"), make(backward, (), "backward"), partition)


# -- stages that are called --------------------------------------------------------------------------------------------


def run_joint(joint: JointGraph, values: Sequence[Any]) -> list[Any]:
    """Returns the outputs and gradients of a joint graph.

    Raises:
      SignatureMismatchError: If the values are not what it takes.
    """
    return jaxpr_as_fun(joint.jaxpr)(*_arrays(joint.jaxpr.in_avals, values))


def run_forward(compiled: Compiled, values: Sequence[Any]) -> list[Any]:
    """Returns the outputs and extra residuals of a forward.

    Raises:
      SignatureMismatchError: If the values are not what it takes.
    """
    return list(compiled.forward(*_arrays(compiled.partition.forward.in_avals, values)))


def _arrays(avals: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    arrays = list(map(array_of, values))
    require_inputs(avals, arrays)
    return arrays


def array_of(value: object) -> Any:
    """Returns the values of a tensor; anything else as it is."""
    return value.jax() if isinstance(value, Tensor) else value


def require_inputs(avals: Sequence[Any], values: Sequence[Any]) -> None:
    """Raises unless values have the shapes and dtypes that a graph takes.

    Raises:
      SignatureMismatchError: If they do not.
    """
    if len(values) != len(avals):
        problems = [f"it takes {len(avals)} arrays and is called with {len(values)}"]
    else:
        pairs = ((i, _type_text(aval), _given_text(x)) for i, (aval, x) in enumerate(zip(avals, values, strict=True)))
        problems = [f"argument {i} is {given} instead of {taken}" for i, taken, given in pairs if given != taken]
    if problems:
        taken = ", ".join(map(_type_text, avals))
        raise SignatureMismatchError(
            f"This program was traced for ({taken}): {'; '.join(problems)}. Call it with arrays of those shapes "
            "and dtypes, one after the other, or trace the function again for these."
        )


def _type_text(aval: Aval) -> str:
    return f"{aval.dtype}{list(aval.shape)}"


def _given_text(value: object) -> str:
    """Returns the type of what a stage was called with, or what is wrong with it."""
    if isinstance(value, jax.ShapeDtypeStruct):
        return "a type without a value"
    if is_deleted(value):
        return "a deleted array"
    if isinstance(value, (jax.Array, np.ndarray, np.generic)):
        return _type_text(jax.ShapeDtypeStruct(value.shape, jax.dtypes.canonicalize_dtype(value.dtype)))
    if isinstance(value, (bool, int, float, complex)):
        return _type_text(jax.ShapeDtypeStruct((), jnp.result_type(value)))
    return f"a {type(value).__name__}"
