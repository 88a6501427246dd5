"""Programs of an archive, made into what the runtime of compiled calls carries out.

Graphs are programs of `jax.export`, and from there on a program is one as of `ja.compile`: guards, donation,
write-back, views, and one node on the tape. A program that is for several sizes is made of each when a call has it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot import settings as config
from jaxaot.archive.codec import record
from jaxaot.archive.container import Archive
from jaxaot.archive.dims import of_row
from jaxaot.archive.graphs import differentiable_once, executables_of, graph_of, graph_of_types
from jaxaot.archive.kinds import program_in
from jaxaot.archive.plans import BackwardPlans, BucketPlans, ProgramPlans
from jaxaot.archive.readers import SIZES, TEXT, exactly, from_json, many
from jaxaot.archive.references import require_partition, require_references
from jaxaot.errors import ArchiveError
from jaxaot.lower.cache_key import jax_settings
from jaxaot.lower.size_class import Fit, Made
from jaxaot.plan.difference import CallKey
from jaxaot.plan.saved import FromPrimal
from jaxaot.plan.stages import JointGraph, Partition, Traced
from jaxaot.runtime.bucket_plan import BucketPlan, Shared
from jaxaot.runtime.call import generate
from jaxaot.runtime.program import Program, empty_inputs

_WRITTEN_ELSEWHERE: Any = None  # how a bucket's program was made is not part of an archive


class StoredProgram:
    """A program of an archive, for one size or several.

    Attributes:
      graphs: Role → the part of the archive that holds the graph.
      sizes: Its sizes; where none change, one without dims.
      example: The program of the first one.
    """

    def __init__(
        self, archive: Archive, found: Any, parameters: tuple[str, ...], writing: object, n_dims: int, tables: Any
    ):
        """Takes what the manifest says of it.

        Args:
          archive: The archive.
          found: What its manifest says of the program.
          parameters: What the function calls its arguments.
          writing: The lock that calls hold which write.
          n_dims: How many dims change.
          tables: Name → what programs take for a size.
        """
        self._archive, self._parameters, self._writing = archive, parameters, writing
        read = lambda name, reader: from_json(reader, found.get(name), f"the {name} of a program")
        self.graphs = read("graphs", lambda held: {role: TEXT(part) for role, part in exactly(dict)(held).items()})
        self.sizes, self._columns = read("sizes", many(SIZES)), read("columns", many(exactly(list)))
        if not self.sizes or any(len(at) != n_dims for at in self.sizes):
            raise self._damaged("a program is for no sizes, or for those of other dims")
        if any(len(column) != len(self.sizes) for column in self._columns):
            raise self._damaged("its table of sizes has not a row for each size")
        self._plans = read("plans", exactly(dict))
        self._bucket = Bucket(tables) if type(self._plans.get("bucket")) is dict else None
        self.example = self.program(self.sizes[0])

    def graph(self, role: str) -> Any:
        """Returns one of its graphs, a `jax.export.Exported`."""
        return program_in(self._archive, from_json(TEXT, self.graphs.get(role), f"the {role}"), role)

    def program(self, sizes: tuple[int, ...]) -> Program:
        """Returns the program of one of its sizes, as one that was compiled here."""
        row = self.sizes.index(sizes)
        read = lambda plans: record(ProgramPlans)(of_row(plans, self._columns, row))
        plans: ProgramPlans = from_json(read, self._plans, "the plans of a program")
        try:
            return self._built(plans, self._bucket)
        except ArchiveError:
            raise
        except Exception as error:
            raise self._damaged(
                f"its plans and programs do not belong together ({type(error).__name__}: {error})"
            ) from error

    def _damaged(self, what: str) -> ArchiveError:
        return ArchiveError(f"{self._archive.name} is damaged: {what}. Write it again by `exported.save(path)`.")

    def _built(self, plans: ProgramPlans, bucket: Bucket | None) -> Program:
        traced, in_types, out_types = plans.traced, plans.in_types, plans.out_types
        require_references(traced, in_types, out_types)
        if traced.needs_backward is (plans.backward is None):
            raise self._damaged("its plans do not agree on whether gradients flow")
        key = CallKey(
            traced.call, traced.places, traced.rng, traced.in_tree, config.get(), jax_settings(), self._parameters,
            looks_at_settings=False,
        )  # fmt: skip
        tape = None if plans.backward is None else plans.backward.tape

        def made(traced: Traced, partition: Any, make: Any, **more: Any) -> Program:
            made = Program(traced, partition, make, config.get().donate, key, tape=tape, **more)
            return generate(made, self._writing)

        if bucket is not None and plans.bucket is not None:
            traced = dataclasses.replace(traced, jaxpr=graph_of_types(in_types, out_types))
            plan = self._bucket_plan(traced, plans.bucket, plans.backward, bucket)
            return made(traced, plan.partition, bucket.make, bucket=plan)
        empty, forward = empty_inputs(traced), self.graph("forward")
        graph = graph_of(forward, in_types, empty, len(out_types))
        if _types(graph.out_avals) != _types(out_types):
            raise self._damaged("its forward returns other arrays than its plans say")
        traced = dataclasses.replace(traced, jaxpr=graph)
        if plans.backward is None:
            return made(traced, None, executables_of(forward))
        backward = self.graph("backward")
        read = lambda types, absent: graph_of(backward, types, absent)
        partition = _partition(plans.backward, graph_of(forward, in_types, empty), empty, read)
        require_partition(traced, partition, plans.backward.tape, in_types, out_types)
        gradients = self._gradients(traced, partition, plans.backward, empty)
        return made(traced, partition, executables_of(forward, backward), gradients=gradients)

    def _gradients(
        self, traced: Traced, partition: Partition, held: BackwardPlans, empty: Sequence[int]
    ) -> Callable[..., Any] | None:
        """Returns what takes primals and cotangents to gradients and can be differentiated once, if there is such."""
        if not held.tape.is_differentiable:
            return None
        program = self.graph("gradients")
        in_avals, out_avals = traced.jaxpr.in_avals, traced.jaxpr.out_avals
        wanted = [in_avals[i] for i in held.tape.primals if i not in empty]
        wanted += [out_avals[k] for k in partition.joint.differentiable_outputs]
        if _types(wanted) != _types(program.in_avals):
            raise self._damaged("its gradients are those of other arrays")
        return differentiable_once(program, self.graph("second"))

    def _bucket_plan(
        self, traced: Traced, held: BucketPlans, backward: BackwardPlans | None, bucket: Bucket
    ) -> BucketPlan:
        """Returns how a size runs in the program of its bucket."""
        given, pads = tuple(jnp.asarray(bucket.tables[name]) for name in held.given), dict(held.pads)
        in_avals, n_outputs = traced.jaxpr.in_avals, len(traced.jaxpr.out_avals)
        found = [(pads.get(i, aval.shape), aval.dtype) for i, aval in enumerate(in_avals)]
        if found + _types(given) != _types(held.in_types):
            raise self._damaged("a size does not fit the program of its bucket")
        if bucket.made is None:
            graphs = [self.graph(role) for role in ("forward", "backward")[: 1 if backward is None else 2]]
            bucket.make, whole, parts = executables_of(*graphs), graph_of(graphs[0], held.in_types, ()), None
            if backward is not None:
                parts = _partition(backward, whole, (), lambda types, absent: graph_of(graphs[1], types, absent))
            bucket.made = Made(_WRITTEN_ELSEWHERE, whole, Shared(whole, parts, bucket.make, None, None), ())
        shared, partition = bucket.made.run, None
        results = shared.whole.out_avals[:n_outputs]
        if backward is not None:
            partition = _partition(backward, shared.whole, (), lambda *_: shared.partition.backward)
            require_partition(traced, partition, backward.tape, held.in_types, results)
            results = [*results, *shared.partition.backward.out_avals]
        if not all(0 <= i < len(results) for i, _ in held.crops):
            raise self._damaged("a size cuts a result that its bucket does not have")
        crops = tuple((i, cut(results[i])) for i, cut in held.crops)
        return BucketPlan(Fit(bucket.made, given, held.pads, crops, None, 1.0), partition)


def _types(avals: Sequence[Any]) -> list[tuple[tuple[int, ...], Any]]:
    return [(tuple(aval.shape), aval.dtype) for aval in avals]


def _partition(held: BackwardPlans, forward: Any, empty: Sequence[int], backward: Callable[..., Any]) -> Partition:
    joint = JointGraph(None, held.in_roles, held.out_roles, held.zero_gradients)
    absent = [i for i, s in enumerate(held.saved.residuals) if isinstance(s, FromPrimal) and s.index in empty]
    return Partition(joint, forward, backward(held.in_types, absent), held.saved)


class Bucket:
    """What the sizes of a bucket share: the arrays that they take, and the program once there is one."""

    def __init__(self, tables: Mapping[str, Any]):
        self.tables = tables
        self.made: Any = None
        self.make: Any = None
