"""`ja.export`: a function becomes something that a process without its source can call."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from jaxaot.archive.codec import to_json
from jaxaot.archive.container import write_archive
from jaxaot.archive.dims import MovingDim, buckets_of, read_dynamic_shapes
from jaxaot.archive.exported_program import ExportedProgram, ExportStages, ProgramTracer
from jaxaot.archive.graphs import chosen_platforms, for_platforms, graph_to_bytes, require_extra
from jaxaot.archive.kinds import header
from jaxaot.archive.state import StatePlan, StateWriter
from jaxaot.buckets.policy import Given, read_buckets
from jaxaot.errors import AutogradError, ExportError, TraceError, UsageError
from jaxaot.facade.cells.iterated import read_iterators
from jaxaot.facade.marks.raised import OnMeta
from jaxaot.plan.difference import place_name
from jaxaot.plan.paths import Path, follow
from jaxaot.plan.pictures import Printed
from jaxaot.plan.stages import Traced
from jaxaot.runtime.compiled import uncompiled
from jaxaot.runtime.key import parameter_names
from jaxaot.runtime.sizes import TracedSizes
from jaxaot.saving import arrays_to_bytes
from jaxaot.tape.modes import enable_grad, no_grad
from jaxaot.tracer.trace import roots


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

        batch = ja.sizes.Dim("batch", max=64)
        ja.export(model, x, dynamic_shapes={"x": {0: batch}})

    Args:
      fn: A function of tensors, or a module.
      *args: Example arguments: tensors, arrays, numbers, and lists, tuples and dicts of them. Nothing is changed.
      with_gradients: Whether gradients are recorded where grad mode is on. Without them a call is as under `no_grad`.
        With 2 the archive also holds a derivative of the backward, for `create_graph=True`.
      platforms: What it is to run on, of `"cpu"`, `"cuda"`, `"rocm"` and `"tpu"`; by default what this process runs on.
      dynamic_shapes: By name of an argument, or in the order of the arguments, the dims that change, each a
        `ja.sizes.Dim`; those of an argument that holds several tensors are dims of each.
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
    fn = uncompiled(fn)
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
                sizes = TracedSizes(fn, None, buckets, ExportStages(), given) if dims else None
                tracer = ProgramTracer(fn, writer, dims, sizes, tables, is_differentiable)
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


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ExportedFunction(Printed):
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
        for i, program in enumerate(self.programs):
            names = {}
            for role, graph in program.graphs().items():
                content = graph_to_bytes(for_platforms(graph, self.platforms), role, self.platforms)
                same = next((name for name, held in parts.items() if held == content), None)
                names[role] = same or f"graphs/{role}{f'.{i}' if i else ''}.bin"
                parts[names[role]] = content
            programs.append({"graphs": names, **program.to_json(self.state)})
        held = {name: array for name, array in self.arrays.items() if weights or name in self.transient}
        if weights or held:
            parts["weights.safetensors"] = arrays_to_bytes(held)
        if self.dims:
            parts["sizes.safetensors"] = arrays_to_bytes(dict(self.tables))
        manifest = {
            **header("function", self.platforms),
            "name": self.name,
            "parameters": list(self.parameters),
            "state": to_json(self.state),
            "programs": programs,
            "transient": sorted(self.transient),
            "dims": to_json(self.dims),
        }
        write_archive(path, manifest, parts)

    def _head(self) -> str:
        n_bytes = sum(np.asarray(array).nbytes for array in self.arrays.values())
        return f"{self.name} for {', '.join(self.platforms)}, with {n_bytes:,} bytes of state"

    def __str__(self) -> str:
        return "\n".join([self._head(), *self._sizes_said(), str(self.signature)])

    def __repr__(self) -> str:
        return f"<ExportedFunction: {self._head()}; `print` shows what it takes>"

    def _sizes_said(self) -> Iterator[str]:
        """Yields what the programs are for, where sizes change."""
        if not self.dims:
            return
        yield f"for {', '.join(str(dim) for dim, _ in self.dims)}"
        for program in self.programs:
            mode = "with gradients" if program.traced.call.grad_enabled else "without gradients"
            columns = zip(self.dims, zip(*(at for at, _ in program.rows), strict=True), strict=True)
            spans = ((dim.name, min(sizes), max(sizes)) for (dim, _), sizes in columns)
            said = ", ".join(f"{name} {low} to {high}" if low < high else f"{name} {low}" for name, low, high in spans)
            n = f"{len(program.rows)} size{'' if len(program.rows) == 1 else 's'}"
            yield f"  {mode}, {said}: " + (f"exactly, because {program.why}" if program.why else f"one program for {n}")
