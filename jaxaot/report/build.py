"""Reads graphs and plans, and writes down what a report holds of them."""

from __future__ import annotations

import linecache
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, assert_never

from jaxaot._jax import DropVar, Literal
from jaxaot._typing import ClosedJaxpr, Eqn, Jaxpr
from jaxaot._util import format_bytes, signature_of
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.roles import Role
from jaxaot.ir.text import to_text
from jaxaot.ir.walk import aval_bytes, described_inside, short_aval, source_line, sub_jaxprs, user_scopes
from jaxaot.partition.timeline import forward_timeline, living_at, living_in
from jaxaot.plan.annotated import note_of
from jaxaot.plan.paths import path_text
from jaxaot.plan.saved import FromForward, is_saved
from jaxaot.plan.signature import Signature
from jaxaot.plan.stages import Partition, Traced
from jaxaot.plan.timeline import Timeline
from jaxaot.plan.world import (
    AttributeWrite,
    CellWrite,
    ContentWrite,
    ContextWrite,
    DequeWrite,
    HookWrite,
    ItemWrite,
    MembersWrite,
    MetadataWrite,
    RefillWrite,
    SliceWrite,
)
from jaxaot.report.compare import ways_of
from jaxaot.report.contents import Graph, Line, Memory, Part, Source, Value
from jaxaot.report.repeats import repeats_of

_AROUND = 2
"""How many lines of the user's are shown before and after one that an equation comes from."""


class Sources:
    """The user's lines that equations come from, noted one by one."""

    def __init__(self) -> None:
        self._lines: dict[str, set[int]] = {}

    def place_of(self, eqn: Eqn) -> tuple[str, int | None, int]:
        """Returns the line of an equation as text, the number of its file, and that of the line."""
        full = source_line(eqn, full_path=True)
        found = re.fullmatch(r"(.*):(\d+)", full) if full else None
        if found is None:
            return full or "", None, 0
        file, number = found[1], int(found[2])
        self._lines.setdefault(file, set()).add(number)
        return source_line(eqn) or "", list(self._lines).index(file), number

    def read(self) -> tuple[Source, ...]:
        """Returns the lines, with some around them; files that cannot be read have none."""
        names = Counter(_short(file) for file in self._lines)
        found = []
        for file, numbers in self._lines.items():
            wanted = sorted({n + k for n in numbers for k in range(-_AROUND, _AROUND + 1) if n + k > 0})
            lines = ((n, linecache.getline(file, n)) for n in wanted)
            is_alone = names[_short(file)] == 1
            name = _short(file) if is_alone else "/".join(PurePath(file).parts[-2:])
            found.append(Source(name, tuple((n, text.rstrip("\n")) for n, text in lines if text)))
        return tuple(found)


def _short(file: str) -> str:
    return re.split(r"[/\\]", file)[-1]


def graph_record(
    closed: ClosedJaxpr,
    sources: Sources,
    in_roles: Sequence[Role] | None = None,
    out_roles: Sequence[Role] | None = None,
    name: str = "graph",
    makes: Mapping[Any, tuple[str, ...]] | None = None,
    reads: Mapping[Any, str] | None = None,
    is_again: Callable[[Eqn], bool] = lambda eqn: False,
) -> Graph:
    """Returns a graph line by line.

    Args:
      closed: A ClosedJaxpr.
      sources: Notes the user's lines.
      in_roles: What each input means.
      out_roles: What each output means.
      name: What it is called.
      makes: By variable, the names of the saved values that it becomes.
      reads: By input, the name of the saved value that it is.
      is_again: Whether an equation computes again what another graph had.
    """
    text = to_text(closed, in_roles, out_roles, source=False, name=name, is_open=False).split("\n")
    n_head = 1 + len(closed.jaxpr.constvars)
    saved = None if makes is None else frozenset(makes)
    lines, keys = [], []
    for eqn, shown in zip(closed.jaxpr.eqns, text[n_head:-1], strict=True):
        crossing = [n for var in eqn.outvars for n in (makes or {}).get(var, ())]
        crossing += [(reads or {})[var] for var in eqn.invars if not isinstance(var, Literal) and var in (reads or {})]
        place, file, number = sources.place_of(eqn)
        note = str(note_of(eqn, name, saved))
        again = is_again(eqn)
        lines.append(
            Line(shown.strip(), place, file, number, user_scopes(eqn), note, tuple(dict.fromkeys(crossing)), again)
        )
        types = tuple(short_aval(var.aval) for var in eqn.outvars)
        keys.append((eqn.primitive.name, types, file, number, len(crossing), again))
    head = tuple(line.strip() for line in text[:n_head])
    return Graph(name, head, tuple(lines), text[-1].strip(), repeats_of(keys))


def part_of(title: str, partition: Partition, sources: Sources) -> Part:
    """Returns a partition: both graphs, what crosses, and the memory in use."""
    joint, plan, forward, backward = partition.joint, partition.plan, partition.forward, partition.backward
    makes: dict[Any, tuple[str, ...]] = {}
    reads: dict[Any, str] = {}
    values = iter(plan.saved)
    for source, var in zip(plan.residuals, backward.jaxpr.invars, strict=False):
        if is_saved(source):
            name = next(values).name
            outer = forward.jaxpr.outvars[source.index + (joint.n_outputs if isinstance(source, FromForward) else 0)]
            if not isinstance(outer, Literal):
                makes[outer] = (*makes.get(outer, ()), name)
            reads[var] = name
    known = {(id(eqn.params), id(eqn.source_info)) for eqn in forward.jaxpr.eqns}
    again = lambda eqn: (id(eqn.params), id(eqn.source_info)) in known
    primals, gradients = joint.in_roles[: joint.n_primals], joint.out_roles[-joint.n_gradients :]
    kept = [Value(v.name, _type(v.dtype, v.shape), v.bytes, v.source, _why(v)) for v in plan.saved]
    computed = [Value(v.name, _type(v.dtype, v.shape), v.bytes, v.source) for v in plan.recomputed]
    return Part(
        title,
        graph_record(forward, sources, primals, partition.forward_out_roles, "forward", makes),
        graph_record(backward, sources, partition.backward_in_roles, gradients, "backward", {}, reads, again),
        tuple(sorted(kept, key=lambda v: -v.bytes)),
        tuple(sorted(computed, key=lambda v: -v.bytes)),
        _plan_text(partition),
        memory_record(partition.timeline, lambda place: living_at(partition, place)),
        ways_of(partition),
    )


def part_of_graph(
    title: str, closed: ClosedJaxpr, sources: Sources, in_roles: Sequence[Role] | None = None, name: str = "graph"
) -> Part:
    """Returns a graph that has no backward."""
    graph = graph_record(closed, sources, in_roles, name=name)
    living = lambda place: living_in(closed.jaxpr, place)
    return Part(title, graph, memory=memory_record(forward_timeline(closed), living))


def parts_inside(closed: ClosedJaxpr, sources: Sources) -> Iterator[Part]:
    """Yields the graphs of functions under `ja.remat` that a graph contains, at any depth."""
    for title, graph in described_inside(closed.jaxpr):
        if isinstance(graph, Partition):
            yield part_of(title, graph, sources)
        else:
            yield Part(title, graph_record(graph, sources, name="linear map"))


def memory_record(timeline: Timeline, living: Callable[[int], Sequence[tuple[Any, Any]]] = lambda _: ()) -> Memory:
    """Returns the memory in use over a partition or a graph.

    Args:
      timeline: The memory, moment by moment.
      living: Takes a moment to the variables that take memory then, each with the equation that makes it.
    """
    moments = timeline.moments
    places = range(len(moments))
    alive = living(max(places, key=lambda place: moments[place].bytes)) if moments else ()
    values = [
        Value("value" if eqn is None else eqn.primitive.name, short_aval(var.aval), aval_bytes(var.aval), line)
        for var, eqn in alive
        for line in ["" if eqn is None else source_line(eqn) or ""]
    ]
    return Memory(
        timeline.held_bytes,
        sum(moment.side == "forward" for moment in moments),
        tuple(moment.bytes for moment in moments),
        tuple(moment.residual_bytes for moment in moments),
        str(timeline),
        tuple(sorted(values, key=lambda value: -value.bytes)),
    )


def changes_of(traced: Traced, fn: Callable[..., Any] | None = None) -> tuple[str, ...]:
    """Returns what a call changes and which outputs share memory, one line each.

    Args:
      traced: The graph of the call.
      fn: The function, by whose parameters arguments are called; without it they are `args[0]`, ….
    """
    signature = traced.signature
    lines = (*_changed_tensors(signature), *_changed_objects(traced), *_shared_outputs(signature))
    names = _parameters(fn) if fn is not None else []
    name = lambda found: names[int(found[1])] if int(found[1]) < len(names) else found[0]
    return tuple(re.sub(r"\bargs\[(\d+)\]", name, line) for line in lines)


def _parameters(fn: Callable[..., Any]) -> list[str]:
    """Returns the names of the parameters that are given by position; none of one that is `*args`."""
    signature = signature_of(fn)
    found = signature.parameters.values() if signature is not None else ()
    return [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _changed_tensors(signature: Signature) -> Iterator[str]:
    for storage in signature.storages:
        done = [word for word, is_so in (("written", storage.is_written), ("resized", storage.is_resized)) if is_so]
        if done:
            views = [i.name for i in signature.inputs if signature.storages[i.storage] is storage]
            others = [name for name in views if name != storage.name]
            seen = f", seen through {', '.join(others)}" if others else ""
            yield f"{storage.name}: {_type(storage.layout.dtype, storage.layout.size)}, {' and '.join(done)}{seen}"
    for tensor in signature.inputs:
        if tensor.mutates_metadata:
            yield f"{tensor.name}: shows another shape or other strides afterwards"
    for cell in signature.cells:
        if cell.is_written:
            arrays = ", ".join(_type(dtype, shape) for shape, dtype in cell.arrays)
            yield f"{cell.name}: {arrays}, set to a new value"
    n_draws = sum(use.is_input for use in signature.rng.generators)
    if n_draws:
        yield f"{n_draws} random generator{'s' if n_draws > 1 else ''}: the offset moves on"


def _changed_objects(traced: Traced) -> Iterator[str]:
    for write in traced.world.writes:
        match write:
            case AttributeWrite(path, name, value):
                yield f"{path_text(path)}.{name}: {'removed' if value is None else 'set'}"
            case ItemWrite(path, key, value):
                shown = repr(key.value) if hasattr(key, "value") else "…"
                yield f"{path_text(path)}[{shown}]: {'removed' if value is None else 'set'}"
            case HookWrite():
                yield "a hook is registered on a gradient, or one is kept"
            case CellWrite() | MetadataWrite():
                pass  # cells are in the signature
            case RefillWrite() | SliceWrite() | DequeWrite() | MembersWrite() | ContentWrite() | ContextWrite():
                yield f"{path_text(write.path)}: other items"
            case _:
                assert_never(write)


def _shared_outputs(signature: Signature) -> Iterator[str]:
    words = {"alias_of_input": "shares the memory of {}", "is_input": "is {} itself"}
    for i, output in enumerate(signature.outputs):
        if output.kind in words:
            yield f"output {i}: {words[output.kind].format(output.base)}"
        elif output.kind == "alias_of_intermediate" and output.base is not None:
            yield f"output {i}: shares the memory of output {output.base}"


def collectives_of(name: str, closed: ClosedJaxpr) -> tuple[str, ...]:
    """Returns the exchanges between devices in a graph, one line for each primitive and line of the user's."""
    found: Counter[tuple[str, str]] = Counter()
    sizes: Counter[tuple[str, str]] = Counter()
    for eqn in _all_eqns(closed.jaxpr):
        if kind(eqn) is Kind.COLLECTIVE and not _is_local(eqn):
            key = eqn.primitive.name, source_line(eqn) or ""
            found[key] += 1
            sizes[key] += sum(aval_bytes(var.aval) for var in eqn.outvars if not isinstance(var, DropVar))
    return tuple(
        f"{name}: {n} {primitive}, {format_bytes(sizes[primitive, place])}" + (f"  # {place}" if place else "")
        for (primitive, place), n in found.items()
    )


def _is_local(eqn: Eqn) -> bool:
    """Returns whether an exchange is along axes of the array itself, as `jax.vmap` leaves it."""
    axes = eqn.params.get("axes")
    return isinstance(axes, tuple) and all(isinstance(axis, int) for axis in axes)


def _all_eqns(jaxpr: Jaxpr) -> Iterator[Eqn]:
    for eqn in jaxpr.eqns:
        yield eqn
        for inner in sub_jaxprs(eqn):
            yield from _all_eqns(inner)


def _plan_text(partition: Partition) -> str:
    """Returns the first lines of a plan: sums, and what recomputing takes."""
    head = [line for line in str(partition.plan).split("\n") if not line.startswith(" ")]
    return "; ".join(head)


def _why(value: object) -> str:
    why = value.why if value.packed_from is None else f"packed from {value.packed_from}, {value.why}"
    return f"{why}, in the memory of the host" if value.is_offloaded else why


def _type(dtype: object, shape: Sequence[int]) -> str:
    return f"{dtype}[{','.join(map(str, shape))}]"
