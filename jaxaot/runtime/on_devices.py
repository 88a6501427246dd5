"""The programs of a traced function as its arguments lay over devices: what each of them holds and exchanges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxaot.lower.on_devices import DeviceProgram, compiled_here, described, partition_on_devices
from jaxaot.passes.prepare import prepare_forward
from jaxaot.plan.stages import Partition, Traced
from jaxaot.runtime.program import empty_inputs, forward_graph


def device_programs(traced: Traced, partition: Partition | None) -> dict[str, DeviceProgram]:
    """Returns what one device does in the programs of a function; arguments as of `programs_on_devices`."""
    return described(programs_on_devices(traced, partition), partition)


def programs_on_devices(
    traced: Traced, partition: Partition | None, compiled: Callable[..., Any] = compiled_here
) -> dict[str, Any]:
    """Returns the programs of a function for arguments that lie as those did that it was traced with.

    Args:
      traced: The function.
      partition: Its forward and backward; None if no gradient flows.
      compiled: Takes a graph, its name and how its inputs lie to a `jax.stages.Compiled`.

    Returns:
      Name → `jax.stages.Compiled`.
    """
    forward, empty = forward_graph(traced, partition), set(empty_inputs(traced))
    if partition is not None:
        return partition_on_devices(partition, traced.shardings, forward, empty, compiled)
    given = [sharding for i, sharding in enumerate(traced.shardings) if i not in empty]
    return {"forward": compiled(prepare_forward(forward), "forward", given)}
