"""Programs compiled for inputs that lie over several devices: what each of them holds and exchanges."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._typing import ClosedJaxpr
from jaxaot._util import format_bytes
from jaxaot.ir.walk import aval_bytes
from jaxaot.lower.collectives import Collective, collectives, collectives_text
from jaxaot.lower.executable import Executable
from jaxaot.passes.prepare import prepare_backward, prepare_forward
from jaxaot.plan.saved import FromForward, FromPrimal, is_saved, picked
from jaxaot.plan.stages import Partition


@immutable
class DeviceProgram:
    """What one device does in a program over several.

    Attributes:
      collectives: What it exchanges with the others.
      argument_bytes: Bytes of its part of the arguments.
      output_bytes: Bytes of its part of the results.
      temporary_bytes: Bytes that it needs meanwhile.
      hlo: The program after XLA's optimization.
      saved_bytes: Of a forward, the bytes of its part of what is kept for the backward beyond arguments and results of
        the function; they are among `output_bytes`.
    """

    collectives: tuple[Collective, ...]
    argument_bytes: int
    output_bytes: int
    temporary_bytes: int
    hlo: str = dataclasses.field(repr=False)
    saved_bytes: int = 0

    def __str__(self) -> str:
        results = f"results {format_bytes(self.output_bytes)}"
        if self.saved_bytes:
            results += f" with {format_bytes(self.saved_bytes)} kept for the backward"
        arguments, temporary = format_bytes(self.argument_bytes), format_bytes(self.temporary_bytes)
        held = f"arguments {arguments}, {results}, temporary {temporary}"
        return f"{collectives_text(self.collectives)}\nheld by a device: {held}"


def device_program(compiled: Any, saved_bytes: int = 0) -> DeviceProgram:
    """Returns what one device does in a compiled program, a `jax.stages.Compiled`."""
    memory, hlo = compiled.memory_analysis(), compiled.as_text()
    held = memory.argument_size_in_bytes, memory.output_size_in_bytes, memory.temp_size_in_bytes
    return DeviceProgram(collectives(hlo), *held, hlo, saved_bytes)


def compiled_here(graph: Any, name: str, shardings: Sequence[Any]) -> Any:
    """Returns a graph compiled for the devices that there are, a `jax.stages.Compiled`.

    Args:
      graph: The graph.
      name: What it is called.
      shardings: How each of its inputs lies.
    """
    return Executable(graph, (), name).compiled_for(shardings)


def partition_on_devices(
    partition: Partition,
    shardings: Sequence[Any],
    forward: ClosedJaxpr,
    empty: Collection[int] = (),
    compiled: Callable[..., Any] = compiled_here,
) -> dict[str, Any]:
    """Returns forward and backward of a partition, compiled for inputs that lie over several devices.

    Args:
      partition: The partition.
      shardings: How each primal lies; None where it lies on one device.
      forward: The graph of the forward, without the empty inputs.
      empty: Positions of the primals that are not passed.
      compiled: Takes a graph, its name and how its inputs lie to a `jax.stages.Compiled`.

    Returns:
      Name → `jax.stages.Compiled`.
    """
    given = [sharding for i, sharding in enumerate(shardings) if i not in empty]
    there = compiled(prepare_forward(forward), "forward", given)
    made, n_outputs = there.output_shardings, partition.joint.n_outputs
    sources = partition.plan.residuals
    kept = [picked(source, shardings, made, n_outputs) for source in sources]
    absent = [i for i, source in enumerate(sources) if isinstance(source, FromPrimal) and source.index in empty]
    cotangents = [made[i] for i in partition.joint.differentiable_outputs]
    graph = prepare_backward(partition.backward, len(sources), absent)
    passed = [sharding for i, sharding in enumerate(kept) if i not in absent]
    return {"forward": there, "backward": compiled(graph, "backward", [*passed, *cotangents])}


def described(programs: Mapping[str, Any], partition: Partition | None) -> dict[str, DeviceProgram]:
    """Returns what one device does in programs, those that `partition_on_devices` returns for a partition."""
    saved = {} if partition is None else {"forward": _saved_on_a_device(programs["forward"], partition)}
    return {name: device_program(compiled, saved.get(name, 0)) for name, compiled in programs.items()}


def lines_of(programs: Mapping[str, DeviceProgram]) -> tuple[str, ...]:
    """Returns what one device does in programs as text, a line or more for each."""
    return tuple(f"{name}: {program}" for name, program in programs.items())


def _saved_on_a_device(forward: Any, partition: Partition) -> int:
    """Returns the bytes that a device keeps for the backward beyond primals and outputs."""
    made, n_outputs, total = forward.output_shardings, partition.joint.n_outputs, 0
    values = zip(filter(is_saved, partition.plan.residuals), partition.plan.saved, strict=True)
    for source, value in values:
        if isinstance(source, FromForward) and not value.is_offloaded and value.shape:
            part = made[n_outputs + source.index].shard_shape(value.shape)
            whole = aval_bytes(partition.forward.out_avals[n_outputs + source.index])
            total += whole * math.prod(part) // max(1, math.prod(value.shape))
    return total
