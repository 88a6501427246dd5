"""The report on a compiled function: every stage of a traced call, and why its programs were made."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, assert_never

import jax

from jaxaot._immutable import immutable
from jaxaot._logs import logger_of
from jaxaot._util import format_seconds
from jaxaot.ir.roles import Primal
from jaxaot.ir.sequence import sequence_rows, sequence_table
from jaxaot.ir.text import to_text
from jaxaot.lower.executable import Executable
from jaxaot.lower.jit_report import lowered_section
from jaxaot.lower.on_devices import lines_of
from jaxaot.partition.segments import FromInput, FromSegment, ValueSource, cut_segments
from jaxaot.passes.prepare import prepare_backward, prepare_forward
from jaxaot.plan.breaks import BreakValue
from jaxaot.plan.stages import Partition, Traced
from jaxaot.report.build import Sources, changes_of, part_of, part_of_graph, parts_inside
from jaxaot.report.contents import Section
from jaxaot.report.record import Report
from jaxaot.runtime.on_devices import device_programs
from jaxaot.runtime.program import Program, forward_graph

_GRAPHS, _PARTITION, _CACHE = map(logger_of, ("graphs", "partition", "cache"))


@immutable
class Inspector:
    """What a compiled function shows of its stages.

    Attributes:
      trace: Takes (fn, args, kwargs) to the traced graph of a call.
      cut: Makes the partition of a traced function.
    """

    trace: Callable[[Any, Any, Any], Traced]
    cut: Callable[[Traced], Partition]

    def stages(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Traced, Partition | None]:
        """Returns the graph of a call, and its partition if gradients flow."""
        traced = self.trace(fn, args, kwargs)
        return traced, self.cut(traced) if traced.needs_backward else None


def report_on(
    traced: Traced,
    partition: Partition | None,
    fn: Callable[..., Any] | None,
    programs: Sequence[str] = (),
    kind: str = "ja.compile",
) -> Report:
    """Returns the report on a traced function.

    Args:
      traced: The graph of a call.
      partition: Its forward and backward; None if no gradient flows.
      fn: The function; None if it is not known.
      programs: Why programs were made, one line each.
      kind: What the user wrote to make it.
    """
    sources, name = Sources(), "traced" if fn is None else name_of(fn)
    annotated = traced.text(annotated=True)
    sections = [Section("signature", str(traced.signature)), Section("traced", annotated)]
    graphs = {"forward": prepare_forward(forward_graph(traced, partition))}
    passes: list[str] = []
    hints: tuple[str, ...] = ()
    if partition is not None:
        joint = partition.joint
        sections.append(Section("joint", joint.text(annotated=True)))
        sections.append(Section("sequence numbers", sequence_table(sequence_rows(joint.jaxpr))))
        graphs["backward"] = prepare_backward(partition.backward, len(partition.plan.residuals))
        parts = [part_of("partition", partition, sources)]
        passes += [f"joint: {done}" for done in joint.passed]
        shown = [traced.jaxpr, joint.jaxpr]
    else:
        roles = [Primal(i, given) for i, given in enumerate(traced.input_names)]
        parts = [part_of_graph("forward", traced.jaxpr, sources, roles, "forward")]
        shown = [traced.jaxpr]
        if not traced.call.tensors:
            hints = (
                f"There is no backward, as nothing requires grad. `ja.remat({name}).explain(...)` says what a gradient "
                "with respect to the first argument saves.",
            )
    for graph in shown:
        parts += parts_inside(graph, sources)
    lowered: list[Section] = []
    is_alone = all(sharding is None for sharding in traced.shardings)
    for title, graph in graphs.items():
        executable = Executable(graph, (), title)
        passes += executable.explain().split("\n")
        lowered += lowered_section(title, executable) if is_alone and traced.is_whole else ()
    if not traced.is_whole:
        at = said(traced.break_values[-1])
        hints = (f"The function runs in parts. It stops first at {at}: what is before is shown.",)
    elif traced.break_values:
        sections += _segments(traced, partition)
    exchanges: tuple[str, ...] = ()
    if not is_alone and not traced.break_values:
        exchanges = lines_of(device_programs(traced, partition))
    return Report(
        name, kind, jax.default_backend(), changes_of(traced, fn), tuple(passes), exchanges, tuple(programs),
        tuple(parts), tuple(sections), sources.read(), hints, _breaks(traced), tuple(lowered),
    )  # fmt: skip


def _breaks(traced: Traced) -> tuple[str, ...]:
    """Returns where Python asked for values, one line each."""
    return tuple(f"{at.asked or 'a value is asked for'}, {at.line}: it was {at.shown}" for at in traced.break_values)


def log_program(name: str, program: Program, seconds: float, n_kept: int, n_dropped: int) -> None:
    """Logs a program that was made.

    Args:
      name: What the function is called.
      program: The program.
      seconds: How long it took to make, with its first call.
      n_kept: How many programs there are now.
      n_dropped: How many were dropped for it.
    """
    dropped = f", {n_dropped} dropped" if n_dropped else ""
    _CACHE.info("`%s`: made in %s, with its first call; %d kept%s", name, format_seconds(seconds), n_kept, dropped)
    if _GRAPHS.isEnabledFor(logging.DEBUG):
        _GRAPHS.debug("`%s`:\n%s", name, program.traced)
        if program.partition is not None:
            _GRAPHS.debug("`%s`:\n%s", name, program.whole_partition)
    if program.partition is not None and _PARTITION.isEnabledFor(logging.DEBUG):
        _PARTITION.debug("`%s` %s", name, program.partition.plan)


def said(at: BreakValue) -> str:
    """Returns where a function stops, for people."""
    return f"{at.asked or 'a function that is disabled'}, {at.line}"


def name_of(fn: Callable[..., Any]) -> str:
    """Returns what a function is called."""
    return getattr(fn, "__name__", type(fn).__name__)


def _segments(traced: Traced, partition: Partition | None) -> list[Section]:
    """Returns the segments of a forward as text, each with the value that it computes and who asked for it."""
    cut = cut_segments(forward_graph(traced, partition), [break_values.output for break_values in traced.break_values])
    whys = [f"computes {break_values.shown} for {break_values.line}" for break_values in traced.break_values] + [
        "computes the rest"
    ]
    found = []
    for k, (part, why) in enumerate(zip(cut.parts, whys, strict=True)):
        inputs = ", ".join(map(_source_text, part.inputs))
        text = f"takes ({inputs})\n{to_text(part.jaxpr, name=f'segment {k}')}"
        found.append(Section(f"segment {k}: {why}", text))
    return found


def _source_text(source: ValueSource) -> str:
    match source:
        case FromInput(index):
            return f"input {index}"
        case FromSegment(segment, output):
            return f"segment {segment}.{output}"
        case _:
            assert_never(source)
