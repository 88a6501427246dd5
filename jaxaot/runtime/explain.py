"""Every stage of a traced function as text."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, assert_never

from jaxaot._util import format_bytes
from jaxaot.ir.sequence import sequence_rows, sequence_table
from jaxaot.ir.text import to_text
from jaxaot.ir.walk import described_inside
from jaxaot.lower.executable import Executable
from jaxaot.partition.segments import FromInput, FromSegment, ValueSource, cut_segments
from jaxaot.partition.timeline import memory_timeline
from jaxaot.passes.prepare import prepare_backward, prepare_forward
from jaxaot.plan.stages import Partition, Traced
from jaxaot.runtime.on_devices import programs_on_devices
from jaxaot.runtime.program import forward_graph


@dataclasses.dataclass(frozen=True)
class Inspector:
    """What a compiled function shows of its stages.

    Attributes:
      trace: Takes (fn, args, kwargs) to the traced graph of a call.
      cut: Makes the partition of a traced function.
    """

    trace: Callable[[Any, Any, Any], Traced]
    cut: Callable[[Traced], Partition]

    def explain(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """Returns every stage that a call goes through, as text."""
        traced = self.trace(fn, args, kwargs)
        return explain_stages(traced, self.cut(traced) if traced.needs_backward else None)


def explain_stages(traced: Traced, partition: Partition | None) -> str:
    """Returns a traced function and its partition as text."""
    parts = [f"# signature\n{traced.signature}", f"# traced\n{traced.text(annotated=True)}"]
    if partition is not None:
        plan = partition.plan
        parts += [
            f"# joint\n{partition.joint.text(annotated=True)}",
            f"# sequence numbers\n{sequence_table(sequence_rows(partition.joint.jaxpr))}",
            f"# partition\n{partition.text(annotated=True)}",
            f"# memory\nsaved for the backward: {format_bytes(plan.saved_bytes)} "
            f"(save_all: {format_bytes(plan.save_all_bytes)})\n{memory_timeline(partition)}",
        ]
    shown = [traced.jaxpr] if partition is None else [traced.jaxpr, partition.joint.jaxpr]
    parts += [f"# {name}\n{text}" for graph in shown for name, text in described_inside(graph.jaxpr)]
    if traced.break_values:
        parts += _segment_texts(traced, partition)
    graphs = {"forward": prepare_forward(forward_graph(traced, partition))}
    if partition is not None:
        graphs["backward"] = prepare_backward(partition.backward, len(partition.plan.residuals))
    if any(sharding is not None for sharding in traced.shardings) and not traced.break_values:
        shown = programs_on_devices(traced, partition)
        parts.append("\n".join(["# devices", *(f"{name}: {program}" for name, program in shown.items())]))
    parts.append("\n".join(["# lowered", *(Executable(graph, (), name).explain() for name, graph in graphs.items())]))
    return "\n\n".join(parts)


def _segment_texts(traced: Traced, partition: Partition | None) -> list[str]:
    """Returns the segments of a forward as text, each with the value that it computes and who asked for it."""
    cut = cut_segments(forward_graph(traced, partition), [break_values.output for break_values in traced.break_values])
    whys = [f"computes {break_values.shown} for {break_values.line}" for break_values in traced.break_values] + [
        "computes the rest"
    ]
    texts = []
    for k, (part, why) in enumerate(zip(cut.parts, whys, strict=True)):
        inputs = ", ".join(map(_source_text, part.inputs))
        texts.append(f"# segment {k}: {why}\ntakes ({inputs})\n{to_text(part.jaxpr, name=f'segment {k}')}")
    return texts


def _source_text(source: ValueSource) -> str:
    match source:
        case FromInput(index):
            return f"input {index}"
        case FromSegment(segment, output):
            return f"segment {segment}.{output}"
        case _:
            assert_never(source)
