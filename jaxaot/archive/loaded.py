"""`ja.load`: a function from an archive, carried out by the runtime of compiled calls.

The plans are read from the manifest, the graphs are programs of `jax.export`, and from there on a program is one as of
`ja.compile`: guards, donation, write-back, views, and one node on the tape.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot import settings as config
from jaxaot.archive.codec import CROP, record
from jaxaot.archive.container import Archive
from jaxaot.archive.dims import COLUMNS, DIMS, MovingDim, of_row, sizes_in
from jaxaot.archive.graphs import (
    differentiable_once,
    executables_of,
    graph_of,
    graph_of_types,
    program_from_bytes,
    require_extra,
)
from jaxaot.archive.kinds import kind_of, require_platform, tables_of, weights_of
from jaxaot.archive.mismatch import refuse_call
from jaxaot.archive.readers import AVALS, BOOL, INT, SIZES, TEXT, TREE, each, from_json, many, one_of
from jaxaot.archive.references import require_partition, require_references, require_state
from jaxaot.archive.state import State, StatePlan, make_state
from jaxaot.archive.storages import lay_out
from jaxaot.errors import ArchiveError, SignatureMismatchError, StateDictError
from jaxaot.facade.dispatch.create import as_tensor
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ir.roles import Cotangent, Gradient, Output, Primal
from jaxaot.lower.cache_key import jax_settings
from jaxaot.lower.size_class import Fit, Made
from jaxaot.plan.alias import AliasPlan
from jaxaot.plan.call import CallPlan
from jaxaot.plan.cells import PlacePlan
from jaxaot.plan.difference import CallKey
from jaxaot.plan.rng import RngPlan
from jaxaot.plan.saved import FromPrimal, SavePlan, TapePlan
from jaxaot.plan.stages import JointGraph, Partition, Traced
from jaxaot.plan.world import WorldPlan
from jaxaot.runtime.bucket_plan import BucketPlan, Shared, may_be_padded
from jaxaot.runtime.call import generate
from jaxaot.runtime.compile_report import Inspector
from jaxaot.runtime.compiled import CompiledFunction
from jaxaot.runtime.guards import generate_test
from jaxaot.runtime.options import CompileOptions
from jaxaot.runtime.program import Program, empty_inputs
from jaxaot.runtime.source import MISS
from jaxaot.saving import load_state
from jaxaot.tape.modes import no_grad
from jaxaot.tape.modes import state as modes
from jaxaot.tracer.arguments import flatten_arguments


def load(path: str | os.PathLike[str], *, weights: object = None) -> Any:
    """Returns what an archive holds: a function that `ja.export` wrote, or a graph of `ja.aot.aot_export_module`.

        step = ja.load("step.jaxaot")
        loss = step(x, y)
        step.state_dict()                # parameters, buffers and the like, as they are now

    Nothing of the file is executed but its programs, which compute arrays from arrays. The function has its own state:
    two loads share nothing.

    Args:
      path: Of the archive.
      weights: The values of its state, if they are not in it: a dict by name, or the path of a file of safetensors.

    Raises:
      ArchiveError: If the file is no archive, is damaged, is of a later format, or holds programs that this JAX does
        not read or that are for other platforms; or if the weights do not fit.
      FileNotFoundError: If there is no such file.
      MissingExtraError: If flatbuffers or safetensors is not installed.
    """
    require_extra()
    with Archive(path) as archive:
        if archive.manifest.get("kind") == "function":
            return _function(archive, weights)
        require_platform(archive)
        return kind_of(archive)(archive)


def _function(archive: Archive, weights: Any) -> LoadedFunction:
    manifest = archive.manifest
    require_platform(archive)
    plan = from_json(_STATE, manifest.get("state"), "the state")
    transient = frozenset(from_json(many(TEXT), manifest.get("transient", []), "what no state dict holds"))
    values = dict(load_state(weights) if isinstance(weights, (str, os.PathLike)) else weights or {})
    if archive.has_part("weights.safetensors"):
        values = {**weights_of(archive), **values}
    if weights is None and any(name not in values for name in plan.weights) and transient.issuperset(values):
        raise ArchiveError(
            f"{archive.name} was saved without weights. Pass them, `ja.load(path, weights=state_dict)`, or the path of "
            "a file that `ja.save` or safetensors wrote."
        )
    held = make_state(plan, values)
    name = from_json(TEXT, manifest.get("name"), "the name")
    parameters = from_json(many(TEXT), manifest.get("parameters"), "the parameters")
    records = manifest.get("programs")
    if type(records) is not list or not records:
        raise ArchiveError(f"{archive.name} is damaged: its manifest lists no programs. Copy it again.")
    loaded = LoadedFunction(archive, name, held, plan.gradients | transient)
    readers = [_Reader(archive, found) for found in records]
    archive.keep({part for reader in readers for part in reader.parts()})  # calls ask for them when it is closed
    if "dims" not in manifest:
        loaded.set_programs([reader.program(parameters, loaded.writing) for reader in readers])
        return loaded
    dims = from_json(DIMS, manifest["dims"], "the sizes")
    tables = tables_of(archive, "sizes.safetensors")
    loaded.set_sizes(
        _Sizes(dims, [_Several(reader, parameters, loaded.writing, tables, len(dims)) for reader in readers])
    )
    return loaded


def _STATE(value: object) -> StatePlan:
    """Reads a state."""
    plan = record(StatePlan)(value)
    require_state(plan)
    return plan


class _Reader:
    """Reads one program of an archive."""

    def __init__(self, archive: Archive, found: object):
        self.archive = archive
        what = f"{archive.name} is damaged: a program in its manifest is incomplete. Copy it again."
        if type(found) is not dict or any(type(found.get(name)) is not dict for name in ("graphs", "plans")):
            raise ArchiveError(what)
        self.graphs, self.plans, self.record = found["graphs"], found["plans"], found

    def at(self, columns: Sequence[Any], row: int) -> _Reader:
        """Returns what reads the plans of one size."""
        plans = from_json(lambda plans: of_row(plans, columns, row), self.plans, "the sizes")
        return _Reader(self.archive, {"graphs": self.graphs, "plans": plans})

    def parts(self) -> Iterator[str]:
        """Yields the names of the parts that hold its graphs."""
        return (from_json(TEXT, part, "a graph") for part in self.graphs.values())

    def _plan(self, name: str, reader: Callable[[Any], Any]) -> Any:
        return from_json(reader, self.plans.get(name), f"the plan {name!r}")

    def _graph(self, role: str) -> Any:
        part = from_json(TEXT, self.graphs.get(role), f"the {role}")
        return program_from_bytes(self.archive.part(part), role, str(self._written_by()))

    def _written_by(self) -> Any:
        writer = self.archive.manifest.get("written_by")
        return writer.get("jax", "of another version") if type(writer) is dict else "of another version"

    def program(self, parameters: Sequence[str], writing: object, bucket: _Bucket | None = None) -> Program:
        """Returns the program, as one that was compiled here.

        Args:
          parameters: What the function calls its arguments.
          writing: The lock that calls hold which write.
          bucket: What the sizes of a bucket share, if it is one of these.

        Raises:
          ArchiveError: If what it consists of does not belong together.
        """
        traced = Traced(
            None,
            self._plan("call", record(CallPlan)),
            self._plan("alias", record(AliasPlan)),
            self._plan("rng", record(RngPlan)),
            self._plan("in_tree", TREE),
            self._plan("out_tree", TREE),
            self._plan("places", record(PlacePlan)),
            world=self._plan("world", record(WorldPlan)),
            order=from_json(one_of("all", "arguments", "none"), self.plans.get("order", "none"), "the order"),
        )
        in_types, out_types = self._plan("in_types", AVALS), self._plan("out_types", AVALS)
        backward = self.plans.get("backward")
        try:
            return self._built(traced, in_types, out_types, backward, tuple(parameters), writing, bucket)
        except ArchiveError:
            raise
        except Exception as error:
            raise ArchiveError(
                f"{self.archive.name} is damaged: its plans and programs do not belong together "
                f"({type(error).__name__}: {error}). Write it again by `exported.save(path)`."
            ) from error

    def _built(
        self, traced: Traced, in_types: Any, out_types: Any, backward: Any, parameters: tuple[str, ...], writing: Any,
        bucket: _Bucket | None,
    ) -> Program:  # fmt: skip
        require_references(traced, in_types, out_types)
        if traced.needs_backward is (backward is None):
            raise ArchiveError(f"{self.archive.name} is damaged: its plans do not agree on whether gradients flow.")
        key = CallKey(
            traced.call, traced.places, traced.rng, traced.in_tree, config.get(), jax_settings(), parameters,
            looks_at_settings=False,
        )  # fmt: skip
        if bucket is not None:
            traced = dataclasses.replace(traced, jaxpr=graph_of_types(in_types, out_types))
            plan, tape = self._bucket_plan(traced, backward, bucket)
            made = Program(traced, plan.partition, bucket.make, config.get().donate, key, bucket=plan, tape=tape)
            return generate(made, writing)
        empty, made = empty_inputs(traced), self._graph("forward")
        graph = graph_of(made, in_types, empty, len(out_types))
        if [(a.shape, a.dtype) for a in graph.out_avals] != [(a.shape, a.dtype) for a in out_types]:
            raise ArchiveError(f"{self.archive.name} is damaged: its forward returns other arrays than its plans say.")
        traced = dataclasses.replace(traced, jaxpr=graph)
        partition = tape = None
        make = executables_of(made, *([] if backward is None else [self._graph("backward")]))
        if backward is not None:
            graphs = lambda in_types, absent: graph_of(self._graph("backward"), in_types, absent)
            partition, tape = self._partition(backward, graph_of(made, in_types, empty), empty, graphs)
            require_partition(traced, partition, tape, in_types, out_types)
        gradients = (
            None if tape is None or not tape.is_differentiable else self._gradients(traced, partition, tape, empty)
        )
        donate = config.get().donate
        made = Program(traced, partition, make, donate, key, tape=tape, gradients=gradients)
        return generate(made, writing)

    def _gradients(self, traced: Traced, partition: Any, tape: TapePlan, empty: Sequence[int]) -> Callable[..., Any]:
        """Returns what takes primals and cotangents to gradients and can be differentiated once."""
        made = self._graph("gradients")
        in_avals, out_avals = traced.jaxpr.in_avals, traced.jaxpr.out_avals
        wanted = [in_avals[i] for i in tape.primals if i not in empty]
        wanted += [out_avals[k] for k in partition.joint.differentiable_outputs]
        if [(a.shape, a.dtype) for a in wanted] != [(a.shape, a.dtype) for a in made.in_avals]:
            raise ArchiveError(f"{self.archive.name} is damaged: its gradients are those of other arrays.")
        return differentiable_once(made, self._graph("second"))

    def _bucket_plan(self, traced: Traced, backward: Any, bucket: _Bucket) -> tuple[BucketPlan, TapePlan | None]:
        """Returns how a size runs in the program of its bucket."""
        held = self.plans["room"]
        read = lambda name, reader: from_json(reader, held.get(name), f"the bucket's {name!r}")
        types = read("in_types", AVALS)
        given = tuple(jnp.asarray(bucket.tables[name]) for name in read("given", many(TEXT)))
        pads, cuts = read("pads", many(each(INT, SIZES))), read("crops", many(each(INT, CROP)))
        here = [dict(pads).get(i, aval.shape) for i, aval in enumerate(traced.jaxpr.in_avals)]
        found = [(shape, aval.dtype) for shape, aval in zip(here, traced.jaxpr.in_avals, strict=True)]
        found += [(value.shape, value.dtype) for value in given]
        if found != [(t.shape, t.dtype) for t in types]:
            raise ArchiveError(f"{self.archive.name} is damaged: a size does not fit the program of its bucket.")
        if bucket.made is None:
            roles = ("forward",) if backward is None else ("forward", "backward")
            bucket.make = executables_of(*map(self._graph, roles))
            whole = graph_of(self._graph("forward"), types, ())
            parts = None
            if backward is not None:
                read_graph = lambda in_types, absent: graph_of(self._graph("backward"), in_types, absent)
                parts, _ = self._partition(backward, whole, (), read_graph)
            bucket.made = Made(_WRITTEN_ELSEWHERE, whole, Shared(whole, parts, bucket.make, None, None), ())
        shared, partition, tape = bucket.made.run, None, None
        if backward is not None:
            partition, tape = self._partition(backward, shared.whole, (), lambda *_: shared.partition.backward)
            n_outputs = len(traced.jaxpr.out_avals)
            require_partition(traced, partition, tape, types, shared.whole.out_avals[:n_outputs])
        results = shared.whole.out_avals[: len(traced.jaxpr.out_avals)]
        results += [] if shared.partition is None else shared.partition.backward.out_avals
        if not all(0 <= i < len(results) for i, _ in cuts):
            raise ArchiveError(f"{self.archive.name} is damaged: a size cuts a result that its bucket does not have.")
        crops = tuple((i, cut(results[i])) for i, cut in cuts)
        return BucketPlan(Fit(bucket.made, given, pads, crops, None, 1.0), partition), tape

    def _partition(
        self, held: Mapping[str, Any], forward: Any, empty: Sequence[int], backward: Callable[..., Any]
    ) -> tuple[Partition, TapePlan]:
        if type(held) is not dict:
            raise ArchiveError(f"{self.archive.name} is damaged: its manifest says nothing of the backward.")
        read = lambda name, reader: from_json(reader, held.get(name), f"the backward's {name!r}")
        saved = read("saved", record(SavePlan))
        joint = JointGraph(
            None,
            read("in_roles", many(record(Primal, Cotangent))),
            read("out_roles", many(record(Output, Gradient))),
            read("zero_gradients", many(BOOL)),
        )
        absent = [i for i, s in enumerate(saved.residuals) if isinstance(s, FromPrimal) and s.index in empty]
        graph = backward(read("in_types", AVALS), absent)
        return Partition(joint, forward, graph, saved), read("tape", record(TapePlan))


class _Several:
    """A program that is for several sizes: of each it is made when a call has it."""

    def __init__(
        self, reader: _Reader, parameters: Sequence[str], writing: object, tables: Mapping[str, Any], n_dims: int
    ):
        self._reader, self._parameters, self._writing = reader, parameters, writing
        self.sizes = from_json(many(SIZES), reader.record.get("sizes"), "the sizes of a program")
        self._columns = from_json(COLUMNS, reader.record.get("columns"), "the table of sizes")
        if any(len(at) != n_dims for at in self.sizes) or any(len(c) != len(self.sizes) for c in self._columns):
            raise ArchiveError(f"{reader.archive.name} is damaged: its table of sizes has not a row for each size.")
        self._bucket = _Bucket(tables) if type(reader.plans.get("room")) is dict else None
        self.grad_enabled = self.program(self.sizes[0]).traced.call.grad_enabled

    def program(self, sizes: tuple[int, ...]) -> Program:
        """Returns the program of one of its sizes.

        Raises:
          ArchiveError: If what it consists of does not belong together.
        """
        reader = self._reader.at(self._columns, self.sizes.index(sizes))
        return reader.program(self._parameters, self._writing, self._bucket)


_WRITTEN_ELSEWHERE: Any = None  # how a bucket's program was made is not part of an archive


class _Bucket:
    """What the sizes of a bucket share: the arrays that they take, and the program once there is one."""

    def __init__(self, tables: Mapping[str, Any]):
        self.tables = tables
        self.made: Any = None
        self.make: Any = None


class _Sizes:
    """The sizes of a loaded function.

    Attributes:
      example: The program of the size that it was exported with.
    """

    def __init__(self, dims: Sequence[MovingDim], several: Sequence[_Several]):
        self._dims = tuple(dims)
        self._several = {(one.grad_enabled, at): one for one in several for at in one.sizes}
        self.example = {one.grad_enabled: one.program(one.sizes[0]) for one in reversed(several)}

    def program(self, name: str, state: State, args: Any, kwargs: Any) -> Program:
        """Returns the program for a call that none was made for so far.

        Raises:
          SignatureMismatchError: If there is none.
        """
        example = self.example.get(modes.grad_enabled) or next(iter(self.example.values()))
        leaves, tree = flatten_arguments(*example.traced.in_order(args, kwargs))
        if tree != example.traced.in_tree:
            refuse_call(name, example, state, args, kwargs)
        if not may_be_padded():
            raise SignatureMismatchError(
                f"`{name}` comes from an archive with sizes that change, and anomaly mode, jax_debug_nans or a "
                "transformation of JAX is on, which would see what is padded. Switch it off around the call."
            )
        found = sizes_in(self._dims, leaves)
        if isinstance(found, str):
            refuse_call(name, example, state, args, kwargs, found)
        several = self._several.get((modes.grad_enabled, found))
        if several is None:
            refuse_call(name, example, state, args, kwargs)
        program = several.program(found)
        lay_out(program.traced.call, [((("root", "args"),), args), ((("root", "kwargs"),), kwargs)])
        if generate_test(program.traced, None, None)(state, args, kwargs) is MISS:
            refuse_call(name, program, state, args, kwargs)
        return program


class _Calls(CompiledFunction[..., Any]):
    """Calls of a loaded function. Where none of its programs fits, memory may only have to be laid out for one."""

    def _first_or_eager_call(self, args: Any, kwargs: Any) -> Any:
        starts = [((("root", "args"),), args), ((("root", "kwargs"),), kwargs)]
        if any(lay_out(program.traced.call, starts) for program in self.programs):
            return self._look_up(self.programs, args, kwargs)
        return super()._first_or_eager_call(args, kwargs)


class LoadedFunction:
    """A function from an archive.

    Attributes:
      name: What the function was called.
    """

    def __init__(self, archive: Archive, name: str, held: State, hidden: frozenset[str]):
        """Wraps a state, some names of which no `state_dict()` has."""
        self.name = self.__name__ = self.__qualname__ = name
        self._archive = archive
        self._state = held
        self._hidden = hidden
        self._calls = _Calls(
            held,
            self._missed,
            Inspector(self._missed, lambda traced: self._missed(None, (), {})),
            CompileOptions(fullgraph=True),
        )
        self._calls.runs_eagerly = False
        self._has_gradients = False
        self._sizes: _Sizes | None = None

    @property
    def writing(self) -> Any:
        """The lock that calls hold which write."""
        return self._calls._writing

    def set_programs(self, programs: Sequence[Program]) -> None:
        """Gives the function its programs."""
        self._calls._keep(list(programs))
        self._example = programs[0]
        self._has_gradients = any(program.traced.call.grad_enabled for program in programs)

    def set_sizes(self, sizes: _Sizes) -> None:
        """Gives the function the programs of its sizes, which are made when calls have them."""
        self._sizes = sizes
        self._example = sizes.example[True in sizes.example]
        self._has_gradients = True in sizes.example

    def _missed(self, fn: object, args: object, kwargs: object, *_: object, **__: Any) -> Any:
        """Returns the program of a size that no call had so far, or says why a call fits none."""
        if self._sizes is not None:
            return self._sizes.program(self.name, self._state, args, kwargs)
        programs = [p for p in self._calls.programs if p.traced.call.grad_enabled is modes.grad_enabled]
        refuse_call(self.name, (programs or self._calls.programs)[0], self._state, args, kwargs)

    def __call__(self, /, *args: object, **kwargs: Any) -> Any:
        """Carries out a call as the exported function would.

        Raises:
          SignatureMismatchError: If the arguments are not like those that it was exported with.
        """
        if self._has_gradients:
            return self._calls(*args, **kwargs)
        with no_grad():
            return self._calls(*args, **kwargs)

    def state_dict(self) -> dict[str, Any]:
        """Returns the state as it is now, by name: tensors on its memory, arrays, numbers and generators.

        As of a module, buffers that were registered with `persistent=False` are left out.
        """
        return {
            name: value.detach() if isinstance(value, Tensor) else value
            for name, value in self._state.items()
            if name not in self._hidden
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Writes values into the tensors and arrays of the state.

        Raises:
          StateDictError: If names are missing or unexpected, or shapes differ. Nothing is written then.
        """
        known = self.state_dict()
        mine = {n: v for n, v in known.items() if hasattr(v, "shape")}
        problems = [f"`{name}` is missing" for name in mine if name not in state_dict]
        problems += [f"`{name}` is not part of it" for name in state_dict if name not in known]
        problems += [
            f"`{name}` has shape {list(state_dict[name].shape)} instead of {list(value.shape)}"
            for name, value in mine.items()
            if name in state_dict and tuple(state_dict[name].shape) != tuple(value.shape)
        ]
        if problems:
            raise StateDictError(f"This state does not fit {self.name}: {'; '.join(problems)}.")
        with no_grad():
            for name, value in mine.items():
                if isinstance(value, Tensor):
                    value.copy_(as_tensor(state_dict[name]))
                else:
                    self._state[name] = state_dict[name]

    def parameters(self) -> Iterator[Tensor]:
        """Yields the tensors of the state that require grad."""
        return (tensor for _, tensor in self.named_parameters())

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """Yields the name and the tensor of each part of the state that requires grad."""
        for name, value in self._state.items():
            if isinstance(value, Tensor) and value.requires_grad:
                yield name, value

    @property
    def signature(self) -> Any:
        """What a call takes, changes and returns."""
        return self._example.traced.signature

    @property
    def manifest(self) -> dict[str, Any]:
        """What the archive says of itself, as JSON held it."""
        return self._archive.manifest

    def graph(self, role: str = "forward") -> Any:
        """Returns a program of the archive, a `jax.export.Exported`: `"forward"`, `"backward"` or `"joint"`.

        Raises:
          ArchiveError: If the archive holds none.
        """
        return _Reader(self._archive, self.manifest["programs"][0])._graph(role)

    def __repr__(self) -> str:
        return f"LoadedFunction({self.name}, {len(self._state)} values of state)"
