"""Partition functions: a joint graph is cut into a forward and a backward.

A *partition function* takes a `JointGraph`, and if it wants them the types of its inputs and `num_fwd_outputs=`. It
returns two ClosedJaxprs in the plain convention, a forward from primals to (outputs, residuals) and a backward from
(residuals, cotangents) to gradients; or a `Partition`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from jaxaot import settings as config
from jaxaot._util import signature_of
from jaxaot.errors import PartitionResultError
from jaxaot.partition.partition import partition
from jaxaot.partition.plain_convention import as_partition, as_plain_graphs, without_refills
from jaxaot.plan.stages import JointGraph, Partition

PartitionFunction = Callable[..., Any]


def default_partition(
    joint: JointGraph, joint_inputs: Sequence[Any] = (), *, num_fwd_outputs: int | None = None
) -> tuple[Any, Any]:
    """Returns a forward and a backward where whatever the backward needs of the forward is saved.

    Args:
      joint: The joint graph.
      joint_inputs: The types of its inputs; the graph knows them.
      num_fwd_outputs: How many outputs are the forward's; checked against what the graph says.

    Raises:
      PartitionResultError: If the graph has another number of outputs.
    """
    return _cut(joint, "save_all", num_fwd_outputs)


def min_cut_rematerialization_partition(
    joint: JointGraph,
    joint_inputs: Sequence[Any] = (),
    *,
    num_fwd_outputs: int | None = None,
    memory_budget: float | str | None = None,
) -> tuple[Any, Any]:
    """Returns a forward and a backward with the fewest saved bytes for which nothing costly is computed twice.

    Args:
      joint: The joint graph.
      joint_inputs: The types of its inputs; the graph knows them.
      num_fwd_outputs: How many outputs are the forward's; checked against what the graph says.
      memory_budget: The most that may be saved: a fraction of what `default_partition` saves, or `"512MiB"`.

    Raises:
      PartitionResultError: If the graph has another number of outputs.
      BudgetError: If the budget cannot be read or met.
    """
    return _cut(joint, "min_cut", num_fwd_outputs, memory_budget)


def _cut(
    joint: JointGraph, policy: str, num_fwd_outputs: int | None, memory_budget: float | str | None = None
) -> tuple[Any, Any]:
    if num_fwd_outputs is not None and num_fwd_outputs != joint.n_outputs:
        raise PartitionResultError(
            f"num_fwd_outputs is {num_fwd_outputs}, but {joint.n_outputs} of the outputs of the joint graph are the "
            "forward's. The graph knows it: leave the argument out."
        )
    recompute_collectives = config.get().recompute_collectives
    parts = partition(without_refills(joint), policy, memory_budget, recompute_collectives=recompute_collectives)
    return as_plain_graphs(parts)


def run_partition(partition_fn: PartitionFunction, joint: JointGraph) -> Partition:
    """Returns the partition into which a partition function cuts a joint graph."""
    result = _call(partition_fn, joint)
    if isinstance(result, Partition):
        if (result.joint.in_roles, result.joint.out_roles) != (joint.in_roles, joint.out_roles):
            raise PartitionResultError(
                "The partition_fn returned a Partition of another joint graph. Cut the graph that it was given, or one "
                "with the same inputs and outputs: `joint.partition('min_cut')`."
            )
        return result
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise PartitionResultError(
            f"The partition_fn returned a {type(result).__name__}. It has to return a forward and a backward, as "
            "`ja.aot.default_partition(joint)` does, or a Partition, as `joint.partition('min_cut')` does."
        )
    return as_partition(joint, *result)


def _call(partition_fn: PartitionFunction, joint: JointGraph) -> Any:
    """Calls a partition function with as much as it takes."""
    more = {"num_fwd_outputs": joint.n_outputs}
    avals = list(joint.jaxpr.in_avals)
    signature = signature_of(partition_fn)
    if signature is None:
        return partition_fn(joint, avals, **more)
    parameters = signature.parameters.values()
    kinds = [p.kind for p in parameters]
    second = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][1:2]
    is_asked_for = any(p.default is p.empty or p.name == "joint_inputs" for p in second)
    takes_avals = is_asked_for or inspect.Parameter.VAR_POSITIONAL in kinds
    takes_more = "num_fwd_outputs" in [p.name for p in parameters] or inspect.Parameter.VAR_KEYWORD in kinds
    return partition_fn(joint, *([avals] if takes_avals else []), **(more if takes_more else {}))
