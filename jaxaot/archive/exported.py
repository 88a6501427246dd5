"""`ja.export`: a function becomes something that a process without its source can call."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jaxlib.version
import numpy as np

from jaxaot._versions import JAXAOT
from jaxaot.archive.codec import to_json
from jaxaot.archive.container import write_archive
from jaxaot.archive.describe import describe_program
from jaxaot.archive.graphs import chosen_platforms, graph_to_bytes, require_extra
from jaxaot.archive.relocate import relocate
from jaxaot.archive.state import StatePlan, StateWriter
from jaxaot.errors import AutogradError, TraceError
from jaxaot.facade.iterated import read_iterators
from jaxaot.facade.tracing import require_values
from jaxaot.passes.prepare import prepare_backward, prepare_forward
from jaxaot.plan.saved import FromPrimal, TapePlan
from jaxaot.plan.stages import Partition, Traced
from jaxaot.runtime.compiled import CompiledFunction
from jaxaot.runtime.double_backward import tape_plan
from jaxaot.runtime.key import parameter_names
from jaxaot.runtime.program import empty_inputs, forward_graph
from jaxaot.saving import arrays_to_bytes
from jaxaot.tape.modes import enable_grad, no_grad
from jaxaot.tracer.arguments import flatten_arguments
from jaxaot.tracer.trace import roots, trace_call


def export(
    fn: Callable[..., Any],
    /,
    *args: object,
    with_gradients: bool = True,
    platforms: Sequence[str] | None = None,
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

    Args:
      fn: A function of tensors, or a module.
      *args: Example arguments: tensors, arrays, numbers, and lists, tuples and dicts of them. Nothing is changed.
      with_gradients: Whether gradients are recorded where grad mode is on. Without them a call is as under `no_grad`.
      platforms: What it is to run on, of `"cpu"`, `"cuda"`, `"rocm"` and `"tpu"`; by default what this process runs on.
      **kwargs: Example keyword arguments.

    Raises:
      ExportError: If the function does what needs its source, with all reasons.
      TraceError: If it cannot be traced.
      ArgumentError: If there is no such platform.
      MissingExtraError: If flatbuffers or safetensors is not installed.
    """
    require_extra()
    fn = fn.fn if isinstance(fn, CompiledFunction) else fn
    chosen = chosen_platforms(platforms)
    args, kwargs = read_iterators(args, kwargs)
    writer, starts = StateWriter(), roots(fn, args, kwargs)
    leaves, _ = flatten_arguments(args, kwargs)
    programs = []
    for mode in (enable_grad, no_grad) if with_gradients else (no_grad,):
        with mode():
            try:
                traced = require_values(trace_call(fn, args, kwargs, numbers=()))
            except (AutogradError, TraceError):
                if not programs:
                    raise
                continue  # a function that runs backward itself has no calls without gradients
            partition = traced.joint().partition() if traced.needs_backward else None
            programs.append(ExportedProgram(relocate(traced, starts, leaves, writer), traced, partition))
    name = getattr(fn, "__name__", type(fn).__name__)
    return ExportedFunction(name, parameter_names(fn), tuple(programs), writer.plan(), writer.arrays, chosen)


@dataclasses.dataclass(frozen=True, eq=False)
class ExportedProgram:
    """One program of a function: with gradients, or without.

    Attributes:
      traced: Its graph, with plans that need no source.
      original: The same with the plans of this process.
      partition: Its forward and backward; None if no gradient flows.
    """

    traced: Traced
    original: Traced
    partition: Partition | None

    def graphs(self) -> dict[str, Any]:
        """Returns the graphs by name as they are lowered: forward, backward and joint."""
        graphs = {"forward": prepare_forward(forward_graph(self.original, self.partition))}
        if self.partition is not None:
            residuals = self.partition.plan.residuals
            empty = set(empty_inputs(self.original))
            absent = [i for i, s in enumerate(residuals) if isinstance(s, FromPrimal) and s.index in empty]
            graphs["backward"] = prepare_backward(self.partition.backward, len(residuals), absent)
            graphs["joint"] = prepare_forward(self.partition.joint.jaxpr)
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
    """

    name: str
    parameters: tuple[str, ...]
    programs: tuple[ExportedProgram, ...]
    state: StatePlan
    arrays: Mapping[str, Any] = dataclasses.field(repr=False)
    platforms: tuple[str, ...]

    @property
    def signature(self) -> Any:
        """What a call takes, changes and returns."""
        return self.programs[0].traced.signature

    def state_dict(self) -> dict[str, Any]:
        """Returns the state as it was exported: name → array."""
        return dict(self.arrays)

    def save(self, path: str | os.PathLike[str], *, weights: bool = True) -> None:
        """Writes the archive: as a whole, or not at all.

        Args:
          path: Where, such as `"step.jaxaot"`.
          weights: Whether the values of the state are in it. Without them `ja.load(path, weights=…)` takes them, for
            instance from `ja.save(model.state_dict(), "weights.safetensors")`.

        Raises:
          ExportError: If JAX cannot export a graph.
          SavedFileError: If a value of the state cannot be saved.
        """
        parts: dict[str, bytes] = {}
        programs = []
        for program in self.programs:
            mode = "" if program.traced.call.grad_enabled or len(self.programs) == 1 else ".no_grad"
            names = {}
            for role, graph in program.graphs().items():
                content = graph_to_bytes(graph, role, self.platforms)
                same = next((name for name, held in parts.items() if held == content), None)
                names[role] = same or f"graphs/{role}{mode}.bin"
                parts[names[role]] = content
            programs.append(_program_to_json(program, names, self.state))
        if weights:
            parts["weights.safetensors"] = arrays_to_bytes(self.state_dict())
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
        write_archive(path, manifest, parts)

    def __str__(self) -> str:
        n_bytes = sum(np.asarray(array).nbytes for array in self.arrays.values())
        return f"{self.name} for {', '.join(self.platforms)}, with {n_bytes:,} bytes of state\n{self.signature}"


def _program_to_json(program: ExportedProgram, names: Mapping[str, str], state: StatePlan) -> dict[str, Any]:
    traced, partition = program.traced, program.partition
    described = describe_program(traced, partition, state)
    plans = {
        "call": to_json(traced.call),
        "alias": to_json(traced.alias),
        "rng": to_json(traced.rng),
        "places": to_json(traced.places),
        "world": to_json(traced.world),
        "in_tree": to_json(traced.in_tree),
        "out_tree": to_json(traced.out_tree),
        "in_types": _types(traced.jaxpr.in_avals),
        "out_types": _types(traced.jaxpr.out_avals),
    }
    if partition is not None:
        tape = TapePlan((), tape_plan(program.original, partition).apart, is_differentiable=False)
        saved = dataclasses.replace(partition.plan, recomputed=(), recompute_seconds=None, least_seconds=None)
        plans["backward"] = {
            "saved": to_json(saved),
            "tape": to_json(tape),
            "in_roles": to_json(partition.joint.in_roles),
            "out_roles": to_json(partition.joint.out_roles),
            "zero_gradients": list(partition.joint.zero_gradients),
            "in_types": _types(partition.backward.in_avals),
        }
    return {"graphs": dict(names), "signature": described, "plans": plans}


def _types(avals: Sequence[Any]) -> list[Any]:
    return [[str(aval.dtype), list(aval.shape)] for aval in avals]
