"""`ja.export`: a function becomes something that a process without its source can call."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import jax
import jaxlib.version
import numpy as np

from jaxaot import flow
from jaxaot._versions import JAXAOT
from jaxaot.archive.codec import to_json
from jaxaot.archive.container import write_archive
from jaxaot.archive.describe import describe_program
from jaxaot.archive.dims import (
    MovingDim,
    all_sizes,
    at_sizes,
    buckets_of,
    dims_to_json,
    read_dynamic_shapes,
    side_by_side,
    sizes_in,
)
from jaxaot.archive.graphs import chosen_platforms, derivative_of, for_platforms, graph_to_bytes, require_extra
from jaxaot.archive.relocate import relocate
from jaxaot.archive.state import StatePlan, StateWriter
from jaxaot.buckets.policy import Given, read_buckets
from jaxaot.errors import AutogradError, ExportError, TraceError, UsageError
from jaxaot.facade.cells.iterated import read_iterators
from jaxaot.facade.marks.raised import OnMeta, require_values
from jaxaot.ir.rewrite import inline
from jaxaot.lower.size_class import CannotRunError
from jaxaot.passes.prepare import prepare_backward, prepare_forward
from jaxaot.pipeline import TracingStages, traced_call
from jaxaot.plan.difference import place_name
from jaxaot.plan.paths import Path, follow
from jaxaot.plan.saved import FromPrimal, TapePlan
from jaxaot.plan.stages import JointGraph, Partition, Traced
from jaxaot.runtime.bucket_plan import BucketPlan, Shared
from jaxaot.runtime.compiled import CompiledFunction
from jaxaot.runtime.double_backward import gradients_function, tape_plan
from jaxaot.runtime.key import parameter_names
from jaxaot.runtime.program import empty_inputs, forward_graph
from jaxaot.runtime.sizes import TracedSizes
from jaxaot.runtime.traced_call import GivenCall
from jaxaot.saving import arrays_to_bytes
from jaxaot.tape.modes import enable_grad, no_grad
from jaxaot.tracer.arguments import flatten_arguments
from jaxaot.tracer.trace import roots, trace_call


def export(
    fn: Callable[..., Any],
    /,
    *args: object,
    with_gradients: bool | int = True,
    platforms: Sequence[str] | None = None,
    dynamic_shapes: object = None,
    buckets: Given = "pow2",
    **kwargs: Any,
) -> ExportedFunction:
    """Returns a function as something to be saved and called where its source is not.

        exported = ja.export(model, x)
        exported.save("model.jaxaot")

        model = ja.load("model.jaxaot")      # in another process
        model(x).sum().backward()

    A call does what a call under `ja.compile` does: it writes to the tensors that it is given, returns views of them,
    and leaves one node on the tape. What `fn` reaches without being passed is the *state* of the archive: parameters,
    buffers, caches, the state of an optimizer, generators. It is saved as it is now, and calls of the loaded function
    change it. Sizes, dtypes and the way in which arguments share memory are those of the example; others are an error.

    Sizes that `dynamic_shapes` names may change. The function is traced at each of them now, and the archive holds one
    program for all sizes up to a bucket, with the values of the exact program: see `docs/sizes.md`.

        batch = ja.Dim("batch", max=64)
        ja.export(model, x, dynamic_shapes={"x": {0: batch}})

    Args:
      fn: A function of tensors, or a module.
      *args: Example arguments: tensors, arrays, numbers, and lists, tuples and dicts of them. Nothing is changed.
      with_gradients: Whether gradients are recorded where grad mode is on. Without them a call is as under `no_grad`.
        With 2 the archive also holds a derivative of the backward, for `create_graph=True`.
      platforms: What it is to run on, of `"cpu"`, `"cuda"`, `"rocm"` and `"tpu"`; by default what this process runs on.
      dynamic_shapes: By name of an argument, or in the order of the arguments, the dims that change, each a `ja.Dim`;
        those of an argument that holds several tensors are dims of each.
      buckets: The sizes for which programs are made, as for `ja.compile`: `"pow2"`, a step, or a list.
      **kwargs: Example keyword arguments.

    Raises:
      ExportError: If the function does what needs its source, with all reasons.
      TraceError: If it cannot be traced.
      UsageError: If what is said of sizes cannot be read, or does not fit the example.
      ArgumentError: If there is no such platform.
      MissingExtraError: If flatbuffers or safetensors is not installed.
    """
    require_extra()
    fn = fn.fn if isinstance(fn, CompiledFunction) else fn
    chosen = chosen_platforms(platforms)
    args, kwargs = read_iterators(args, kwargs)
    writer = StateWriter()
    programs: list[ExportedProgram] = []
    dims: tuple[MovingDim, ...] = ()
    tables: dict[str, np.ndarray] = {}
    given: dict[str, dict[int, Any]] = {}
    if dynamic_shapes is not None:
        dims, named = read_dynamic_shapes(fn, dynamic_shapes, args, kwargs)
        given = buckets_of(named, read_buckets(buckets))
    is_differentiable = with_gradients is not True and with_gradients == 2
    if is_differentiable and dims:
        raise UsageError(
            "`with_gradients=2` keeps a derivative of the backward, which is that of one size, and `dynamic_shapes` "
            "says that sizes change. Drop one of them."
        )
    for mode in (enable_grad, no_grad) if with_gradients else (no_grad,):
        with mode():
            try:
                sizes = TracedSizes(fn, None, buckets, _Stages(), given) if dims else None
                tracer = _Tracer(fn, writer, dims, sizes, tables, is_differentiable)
                programs += tracer.programs(args, kwargs)
            except OnMeta as error:
                raise _without_values(error.traced, roots(fn, args, kwargs)) from None
            except (AutogradError, TraceError):
                if not programs:
                    raise
                continue  # a function that runs backward itself has no calls without gradients
    name = getattr(fn, "__name__", type(fn).__name__)
    return ExportedFunction(
        name, parameter_names(fn), tuple(programs), writer.plan(), writer.arrays, chosen, dims, tables,
        frozenset(writer.transient),
    )  # fmt: skip


def _without_values(traced: Traced, starts: Sequence[tuple[Path, Any]]) -> ExportError:
    """Returns the error for a function that reaches tensors on the device `meta`."""
    found = [t for t in traced.call.tensors if follow(starts, t.path)._layout.is_abstract]
    names = [f"`{place_name(t.path, parameter_names(starts[-1][1]))}`" for t in found[:3]]
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return ExportError(
        f"An archive holds values, and {', '.join(names)}{more} on the device `meta` have none. Give a module memory "
        'by `module.to_empty(device="cpu")` and values by `module.load_state_dict(…)`; pass an example that has values.'
    )


def _cut(joint: JointGraph) -> Partition:
    return _of_graphs(flow.after_passes(joint).partition())


def _of_graphs(parts: Partition) -> Partition:
    """Returns a partition, if nothing runs between its graphs.

    Raises:
      ExportError: If hooks on saved tensors do.
    """
    if n := len(parts.plan.packed_between):
        raise ExportError(
            "The function enters `saved_tensors_hooks` with hooks that no graph can carry out: they read values, other "
            f"tensors or random numbers. They run between forward and backward on {n} saved "
            f"value{'s' if n > 1 else ''}, and an archive holds graphs alone. Write hooks that are functions of their "
            "tensor, such as `lambda x: x.to(ja.bfloat16)`, or export without gradients: `with_gradients=False`."
        )
    return parts


class _Stages(TracingStages):
    """The stages of what an archive holds: nothing is compiled."""

    def make(self, *_: object) -> Any:
        raise AssertionError("what is exported is compiled where it is loaded")

    def partition(self, joint: JointGraph) -> Partition:
        parts = flow.partition_at_bucket(flow.after_passes(joint), None, None)
        if parts.plan.packed_between:
            raise CannotRunError(
                "hooks on saved tensors run between forward and backward there, and archives hold graphs"
            )
        return parts

    def choose(self, joint: JointGraph, make: Callable[[Partition], Any], name: str) -> Any:
        del name
        return make(self.partition(joint))


_MOST_PROGRAMS = 128


class _Tracer:
    """Traces the calls of a function, each to the program that carries it out."""

    def __init__(
        self, fn: Callable[..., Any], state: StateWriter, dims: Sequence[MovingDim], sizes: TracedSizes | None,
        tables: dict[str, np.ndarray], is_differentiable: bool,
    ):  # fmt: skip
        self.is_differentiable = is_differentiable
        self.fn, self.state, self.dims, self.sizes, self.tables = fn, state, dims, sizes, tables

    def programs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[ExportedProgram]:
        """Returns the programs of all sizes, that of the example first.

        Raises:
          ExportError: If there are more than an archive can hold.
        """
        sizes = self.sizes
        if sizes is None:
            traced = require_values(trace_call(self.fn, args, kwargs, numbers=()))
            partition = _of_graphs(traced.joint().partition()) if traced.needs_backward else None
            moved = self._moved(traced, args, kwargs)
            return [ExportedProgram(moved, traced, partition, is_differentiable=self.is_differentiable)]
        leaves, _ = flatten_arguments(args, kwargs)
        example = sizes_in(self.dims, leaves)
        assert isinstance(example, tuple), "the example was looked at before"
        wanted = all_sizes(self.dims, example)
        for at in self._apart(example):
            sizes.sees(traced_call(GivenCall(self.fn, *at_sizes(self.dims, at, args, kwargs))))
        found: dict[Any, ExportedProgram] = {}
        for at in wanted:
            call = traced_call(GivenCall(self.fn, *at_sizes(self.dims, at, args, kwargs)))
            plan = sizes.plan(call)
            moved = self._moved(call.traced, call.args, call.kwargs)
            if isinstance(plan, BucketPlan):
                key, partition, bucket, why = id(plan.fit.made), plan.partition, plan, ""
            else:
                key, partition, bucket, why = at, None if call.joint is None else _cut(call.joint), None, plan
            if key not in found:
                found[key] = ExportedProgram(moved, call.traced, partition, bucket, why)
                self._require_few(list(found.values()), len(wanted))
            names = [] if bucket is None else list(map(self._table, bucket.fit.given))
            found[key].rows.append((at, plans_to_json(moved, call.traced, partition, bucket, names)))
        return list(found.values())

    def _table(self, value: Any) -> str:
        """Returns the name of an array that the program of a bucket takes for some sizes."""
        array = np.asarray(value)
        name = hashlib.sha256(f"{array.dtype}{array.shape}".encode() + array.tobytes()).hexdigest()[:24]
        self.tables[name] = array
        return name

    def _apart(self, example: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Yields sizes by which it is seen which dims go together: each dim changes once without the others."""
        yield example
        for i, (dim, _) in enumerate(self.dims):
            other = next((n for n in reversed(dim.sizes) if n not in example), None)
            if other is not None:
                yield (*example[:i], other, *example[i + 1 :])

    def _moved(self, traced: Traced, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
        return relocate(traced, roots(self.fn, args, kwargs), flatten_arguments(args, kwargs)[0], self.state)

    def _require_few(self, programs: Sequence[ExportedProgram], n_sizes: int) -> None:
        if len(programs) > _MOST_PROGRAMS:
            reasons = dict.fromkeys(p.why for p in programs if p.why)
            said = "".join(f"\n  - exactly, because {why}" for why in list(reasons)[:5])
            raise ExportError(
                f"The {n_sizes:,} sizes of `dynamic_shapes` need more than {_MOST_PROGRAMS} programs. Say fewer sizes, "
                f"`ja.Dim(name, max=…, step=8)`, or fewer buckets, `buckets=[64, 512]`.{said}"
            )


@dataclasses.dataclass(frozen=True, eq=False)
class ExportedProgram:
    """One program of a function: with gradients, or without; where sizes change, for all sizes of a bucket or for one.

    Attributes:
      traced: Its graph, with plans that need no source; where sizes change, at the first of its sizes.
      original: The same with the plans of this process.
      partition: Its forward and backward; None if no gradient flows.
      bucket: How it runs in the program of a bucket; None if it has its own.
      why: Why it has its own, where sizes change.
      is_differentiable: Whether its backward has a derivative.
      rows: Where sizes change, the sizes that it is for, each with the plans as JSON.
    """

    traced: Traced
    original: Traced
    partition: Partition | None
    bucket: BucketPlan | None = None
    why: str = ""
    is_differentiable: bool = False
    rows: list[tuple[tuple[int, ...], Any]] = dataclasses.field(default_factory=list, repr=False)

    def graphs(self) -> dict[str, Any]:
        """Returns the graphs by name as they are lowered: forward, backward, joint, gradients, second."""
        if self.bucket is not None:
            return _graphs_of_bucket(self.bucket.shared)
        graphs = {"forward": prepare_forward(forward_graph(self.original, self.partition))}
        if self.partition is not None:
            residuals = self.partition.plan.residuals
            empty = set(empty_inputs(self.original))
            absent = [i for i, s in enumerate(residuals) if isinstance(s, FromPrimal) and s.index in empty]
            graphs["backward"] = prepare_backward(self.partition.backward, len(residuals), absent)
            graphs["joint"] = prepare_forward(self.partition.joint.jaxpr)
            if self.is_differentiable:
                graphs["gradients"] = self._gradients(self.partition, empty)
                graphs["second"] = derivative_of(graphs["gradients"])
        return graphs

    def _gradients(self, partition: Partition, empty: Collection[int]) -> Any:
        """Returns the graph of gradients: of what they depend on, and the cotangents."""
        traced = self.original
        primals = [i for i in tape_plan(traced, partition).primals if i not in empty]
        in_avals, out_avals = traced.jaxpr.in_avals, traced.jaxpr.out_avals
        avals = [*(in_avals[i] for i in primals), *(out_avals[k] for k in partition.joint.differentiable_outputs)]
        specs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals]
        return inline(jax.make_jaxpr(gradients_function(traced, partition.joint, primals))(*specs))


def _graphs_of_bucket(shared: Shared) -> dict[str, Any]:
    graphs = {"forward": shared.forward}
    if shared.partition is not None:
        graphs |= {"backward": shared.backward, "joint": prepare_forward(shared.partition.joint.jaxpr)}
    return graphs


@dataclasses.dataclass(frozen=True, eq=False)
class ExportedFunction:
    """A function that can be saved: what `ja.export` returns.

    Attributes:
      name: What the function is called.
      parameters: What it calls its positional arguments.
      programs: With gradients, and without.
      state: What it reached.
      platforms: What it is to run on.
      dims: The sizes that change.
      transient: The names of buffers that are in no `state_dict()`.
    """

    name: str
    parameters: tuple[str, ...]
    programs: tuple[ExportedProgram, ...]
    state: StatePlan
    arrays: Mapping[str, Any] = dataclasses.field(repr=False)
    platforms: tuple[str, ...]
    dims: tuple[MovingDim, ...] = ()
    tables: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    transient: frozenset[str] = frozenset()

    @property
    def signature(self) -> Any:
        """What a call takes, changes and returns."""
        return self.programs[0].traced.signature

    def state_dict(self) -> dict[str, Any]:
        """Returns the state as it was exported: name → array; buffers with `persistent=False` are left out."""
        return {name: array for name, array in self.arrays.items() if name not in self.transient}

    def save(self, path: str | os.PathLike[str], *, weights: bool = True) -> None:
        """Writes the archive: as a whole, or not at all.

        Args:
          path: Where, such as `"step.jaxaot"`.
          weights: Whether the values of the state are in it, or only those that no `state_dict()` has. Without them
            `ja.load(path, weights=…)` takes them, for instance from `ja.save(model.state_dict(),
            "weights.safetensors")`.

        Raises:
          ExportError: If JAX cannot export a graph.
          SavedFileError: If a value of the state cannot be saved.
        """
        parts: dict[str, bytes] = {}
        programs = []
        modes = {program.traced.call.grad_enabled for program in self.programs}
        numbers = dict.fromkeys(modes, 0)
        for program in self.programs:
            is_recorded = program.traced.call.grad_enabled
            mode = "" if is_recorded or len(modes) == 1 else ".no_grad"
            numbers[is_recorded] += 1
            mode += f".{numbers[is_recorded]}" if self.dims else ""
            names = {}
            for role, graph in program.graphs().items():
                content = graph_to_bytes(for_platforms(graph, self.platforms), role, self.platforms)
                same = next((name for name, held in parts.items() if held == content), None)
                names[role] = same or f"graphs/{role}{mode}.bin"
                parts[names[role]] = content
            programs.append(_program_to_json(program, names, self.state))
        held = {name: array for name, array in self.arrays.items() if weights or name in self.transient}
        if weights or held:
            parts["weights.safetensors"] = arrays_to_bytes(held)
        if self.dims:
            parts["sizes.safetensors"] = arrays_to_bytes(dict(self.tables))
        manifest = {
            "kind": "function",
            "name": self.name,
            "written_by": {"jaxaot": JAXAOT, "jax": jax.__version__, "jaxlib": jaxlib.version.__version__},
            "platforms": list(self.platforms),
            "devices": 1,
            "x64": bool(jax.config.jax_enable_x64),
            "parameters": list(self.parameters),
            "state": to_json(self.state),
            "programs": programs,
        }
        if self.transient:
            manifest["transient"] = sorted(self.transient)
        if self.dims:
            manifest["dims"] = dims_to_json(self.dims)
        write_archive(path, manifest, parts, 2 if self.dims else 1)

    def __str__(self) -> str:
        n_bytes = sum(np.asarray(array).nbytes for array in self.arrays.values())
        head = f"{self.name} for {', '.join(self.platforms)}, with {n_bytes:,} bytes of state"
        return "\n".join([head, *self._sizes_said(), str(self.signature)])

    def _sizes_said(self) -> Iterator[str]:
        """Yields what the programs are for, where sizes change."""
        if self.dims:
            yield f"for {', '.join(str(dim) for dim, _ in self.dims)}"
        for program in self.programs:
            if not program.rows:
                return
            mode = "with gradients" if program.traced.call.grad_enabled else "without gradients"
            columns = zip(self.dims, zip(*(at for at, _ in program.rows), strict=True), strict=True)
            spans = ((dim.name, min(sizes), max(sizes)) for (dim, _), sizes in columns)
            said = ", ".join(f"{name} {low} to {high}" if low < high else f"{name} {low}" for name, low, high in spans)
            n = f"{len(program.rows)} size{'' if len(program.rows) == 1 else 's'}"
            yield f"  {mode}, {said}: " + (f"exactly, because {program.why}" if program.why else f"one program for {n}")


def _program_to_json(program: ExportedProgram, names: Mapping[str, str], state: StatePlan) -> dict[str, Any]:
    described = describe_program(program.traced, program.partition, state, program.bucket)
    held = {"graphs": dict(names), "signature": described}
    if not program.rows:
        plans = plans_to_json(
            program.traced, program.original, program.partition, is_differentiable=program.is_differentiable
        )
        return {**held, "plans": plans}
    plans, columns = side_by_side([plans for _, plans in program.rows])
    return {**held, "plans": plans, "sizes": [list(at) for at, _ in program.rows], "columns": columns}


def plans_to_json(
    traced: Traced,
    original: Traced,
    partition: Partition | None,
    plan: BucketPlan | None = None,
    given: Sequence[str] = (),
    is_differentiable: bool = False,
) -> dict[str, Any]:
    """Returns what the manifest says of how calls are carried out.

    Args:
      traced: A call, with plans that need no source.
      original: The same with the plans of this process.
      partition: Its forward and backward.
      plan: How it runs in the program of a bucket.
      given: The names of the arrays that this program takes for its sizes.
      is_differentiable: Whether its backward has a derivative.
    """
    plans = {
        "call": to_json(traced.call),
        "alias": to_json(traced.alias),
        "rng": to_json(traced.rng),
        "places": to_json(traced.places),
        "world": to_json(traced.world),
        "in_tree": to_json(traced.in_tree),
        "order": traced.order,
        "out_tree": to_json(traced.out_tree),
        "in_types": _types(traced.jaxpr.in_avals),
        "out_types": _types(traced.jaxpr.out_avals),
    }
    if partition is not None:
        tape = tape_plan(original, partition)
        tape = TapePlan(tape.primals if is_differentiable else (), tape.apart, is_differentiable)
        saved = dataclasses.replace(partition.plan, recomputed=(), recompute_seconds=None, least_seconds=None)
        plans["backward"] = {
            "saved": to_json(saved),
            "tape": to_json(tape),
            "in_roles": to_json(partition.joint.in_roles),
            "out_roles": to_json(partition.joint.out_roles),
            "zero_gradients": list(partition.joint.zero_gradients),
            "in_types": _types(partition.backward.in_avals),
        }
    if plan is not None:
        plans["room"] = {
            "in_types": _types(plan.shared.whole.in_avals),
            "given": list(given),
            "pads": [[i, list(shape)] for i, shape in plan.fit.pads],
            "crops": [[i, to_json(crop)] for i, crop in plan.fit.crops],
        }
    return plans


def _types(avals: Sequence[Any]) -> list[Any]:
    return [[str(aval.dtype), list(aval.shape)] for aval in avals]
