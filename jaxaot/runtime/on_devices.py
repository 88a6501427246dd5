"""The programs of a traced function as its arguments lay over devices: what each of them holds and exchanges."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, assert_never

from jaxaot._immutable import immutable
from jaxaot._util import format_bytes
from jaxaot.lower.collectives import Collective, collectives, collectives_text
from jaxaot.lower.executable import Executable
from jaxaot.passes.prepare import prepare_backward, prepare_forward
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal, FromRefill
from jaxaot.plan.stages import Partition, Traced
from jaxaot.runtime.program import empty_inputs, forward_graph


@immutable
class DeviceProgram:
    """What one device does in a program over several.

    Attributes:
      collectives: What it exchanges with the others.
      argument_bytes: Bytes of its part of the arguments.
      output_bytes: Bytes of its part of the results.
      temporary_bytes: Bytes that it needs meanwhile.
      hlo: The program after XLA's optimization.
    """

    collectives: tuple[Collective, ...]
    argument_bytes: int
    output_bytes: int
    temporary_bytes: int
    hlo: str = dataclasses.field(repr=False)

    def __str__(self) -> str:
        sizes = (
            ("arguments", self.argument_bytes),
            ("results", self.output_bytes),
            ("temporary", self.temporary_bytes),
        )
        held = ", ".join(f"{name} {format_bytes(n)}" for name, n in sizes)
        return f"{collectives_text(self.collectives)}\nheld by a device: {held}"


def device_program(compiled: Any) -> DeviceProgram:
    """Returns what one device does in a compiled program, a `jax.stages.Compiled`."""
    memory, hlo = compiled.memory_analysis(), compiled.as_text()
    n_outputs = memory.output_size_in_bytes
    return DeviceProgram(collectives(hlo), memory.argument_size_in_bytes, n_outputs, memory.temp_size_in_bytes, hlo)


def device_programs(traced: Traced, partition: Partition | None) -> dict[str, DeviceProgram]:
    """Returns what one device does in the programs of a function; arguments as of `programs_on_devices`."""
    return {name: device_program(compiled) for name, compiled in programs_on_devices(traced, partition).items()}


def _compiled_here(graph: Any, name: str, shardings: Sequence[Any]) -> Any:
    return Executable(graph, (), name).compiled_for(shardings)


def programs_on_devices(
    traced: Traced, partition: Partition | None, compiled: Callable[..., Any] = _compiled_here
) -> dict[str, Any]:
    """Returns the programs of a function for arguments that lie as those did that it was traced with.

    Args:
      traced: The function.
      partition: Its forward and backward; None if no gradient flows.
      compiled: Takes a graph, its name and how its inputs lie to a `jax.stages.Compiled`.

    Returns:
      Name → `jax.stages.Compiled`.
    """
    empty = set(empty_inputs(traced))
    given = [sharding for i, sharding in enumerate(traced.shardings) if i not in empty]
    forward = compiled(prepare_forward(forward_graph(traced, partition)), "forward", given)
    found = {"forward": forward}
    if partition is None:
        return found
    made, n_outputs = forward.output_shardings, partition.joint.n_outputs
    kept: list[Any] = []
    absent = []
    for i, source in enumerate(partition.plan.residuals):
        match source:
            case FromPrimal(index):
                kept.append(traced.shardings[index])
                absent += [i] if index in empty else []
            case FromOutput(index):
                kept.append(made[index])
            case FromForward(index):
                kept.append(made[n_outputs + index])
            case FromRefill():
                kept.append(None)
            case _:
                assert_never(source)
    cotangents = [made[i] for i in partition.joint.differentiable_outputs]
    graph = prepare_backward(partition.backward, len(partition.plan.residuals), absent)
    passed = [sharding for i, sharding in enumerate(kept) if i not in absent]
    return {**found, "backward": compiled(graph, "backward", [*passed, *cotangents])}
