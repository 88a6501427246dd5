"""Programs for an archive: a function is traced, at each of its sizes where these change.

Sizes of one bucket share a program, which is found as under `ja.compile`; the plans of each are those of its own trace.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot import flow
from jaxaot.archive.codec import to_json
from jaxaot.archive.describe import describe_program
from jaxaot.archive.dims import MovingDim, all_sizes, at_sizes, side_by_side, sizes_in
from jaxaot.archive.graphs import derivative_of
from jaxaot.archive.plans import plans_of
from jaxaot.archive.relocate import relocate
from jaxaot.archive.state import StatePlan, StateWriter
from jaxaot.errors import ExportError
from jaxaot.facade.marks.raised import require_values
from jaxaot.ir.rewrite import inline
from jaxaot.lower.size_class import CannotRunError
from jaxaot.passes.prepare import prepare_backward, prepare_forward
from jaxaot.pipeline import TracingStages, traced_call
from jaxaot.plan.saved import FromPrimal
from jaxaot.plan.stages import JointGraph, Partition, Traced
from jaxaot.runtime.bucket_plan import BucketPlan, Shared
from jaxaot.runtime.double_backward import gradients_function, tape_plan
from jaxaot.runtime.program import empty_inputs, forward_graph
from jaxaot.runtime.sizes import TracedSizes
from jaxaot.runtime.traced_call import GivenCall
from jaxaot.tracer.arguments import flatten_arguments
from jaxaot.tracer.trace import roots, trace_call


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


class ExportStages(TracingStages):
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


_MAX_PROGRAMS = 128


class ProgramTracer:
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
            made = ExportedProgram(
                self._moved(traced, args, kwargs), traced, partition, is_differentiable=self.is_differentiable
            )
            made.add((), made.traced, traced)
            return [made]
        leaves, _ = flatten_arguments(args, kwargs)
        example = sizes_in(self.dims, leaves)
        assert isinstance(example, tuple), "the example was looked at before"
        wanted = all_sizes(self.dims, example)
        for at in self._apart(example):
            sizes.sees(traced_call(GivenCall(self.fn, *at_sizes(self.dims, at, args, kwargs))))
        found: dict[Any, ExportedProgram] = {}
        first, *others = wanted
        for at in (first, *reversed(others)):  # sizes that grow by the same would get buckets that double
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
            found[key].add(at, moved, call.traced, bucket, names)
        of_example, *programs = found.values()
        return [of_example, *reversed(programs)]

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
        if len(programs) > _MAX_PROGRAMS:
            reasons = dict.fromkeys(p.why for p in programs if p.why)
            said = "".join(f"\n  - exactly, because {why}" for why in list(reasons)[:5])
            raise ExportError(
                f"The {n_sizes:,} sizes of `dynamic_shapes` need more than {_MAX_PROGRAMS} programs. Say fewer sizes, "
                f"`ja.sizes.Dim(name, max=…, step=8)`, or fewer buckets, `buckets=[64, 512]`.{said}"
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
      rows: The sizes that it is for, each with the plans as JSON.
    """

    traced: Traced
    original: Traced
    partition: Partition | None
    bucket: BucketPlan | None = None
    why: str = ""
    is_differentiable: bool = False
    rows: list[tuple[tuple[int, ...], Any]] = dataclasses.field(default_factory=list, repr=False)

    def add(
        self,
        at: tuple[int, ...],
        moved: Traced,
        original: Traced,
        bucket: BucketPlan | None = None,
        given: Sequence[str] = (),
    ) -> None:
        """Notes the plans of one size, as of `plans_of`."""
        partition = self.partition if bucket is None else bucket.partition
        plans = plans_of(moved, original, partition, self.is_differentiable, bucket, given)
        self.rows.append((at, to_json(plans)))

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

    def to_json(self, state: StatePlan) -> dict[str, Any]:
        """Returns what the manifest says of it, besides where its graphs are."""
        described = describe_program(self.traced, self.partition, state, self.bucket)
        plans, columns = side_by_side([plans for _, plans in self.rows])
        sizes = [list(at) for at, _ in self.rows]
        return {"signature": described, "plans": plans, "sizes": sizes, "columns": columns}

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
