"""A function from an archive, carried out by the runtime of compiled calls.

A loaded function has a state of its own, and its programs are carried out as those of `ja.compile`.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxaot.archive.codec import record
from jaxaot.archive.container import Archive
from jaxaot.archive.dims import DIMS, MovingDim, sizes_in
from jaxaot.archive.graphs import require_extra
from jaxaot.archive.kinds import reader_of, require_platform, tables_of, weights_of
from jaxaot.archive.mismatch import refuse_call
from jaxaot.archive.program import StoredProgram
from jaxaot.archive.readers import TEXT, exactly, from_json, many
from jaxaot.archive.references import require_state
from jaxaot.archive.state import State, StatePlan, make_state
from jaxaot.archive.storages import lay_out
from jaxaot.errors import ArchiveError, SignatureMismatchError, StateDictError
from jaxaot.facade.dispatch.create import as_tensor
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.plan.source import MISS
from jaxaot.runtime.bucket_plan import may_be_padded
from jaxaot.runtime.compile_report import Inspector
from jaxaot.runtime.compiled import CompiledFunction
from jaxaot.runtime.guards import generate_test
from jaxaot.runtime.options import CompileOptions
from jaxaot.saving import load_tensors
from jaxaot.tape.modes import no_grad
from jaxaot.tape.modes import state as modes
from jaxaot.tracer.arguments import flatten_arguments


def load_archive(path: str | os.PathLike[str], weights: object = None) -> Any:
    """Returns what an archive holds, see `ja.load`: a function, or a graph of `ja.aot.aot_export_module`.

    Raises:
      ArchiveError: If it is damaged, of a later format, or does not fit.
      ArgumentError: If weights are given for a graph.
      MissingExtraError: If flatbuffers or safetensors is not installed.
    """
    require_extra()
    with Archive(path) as archive:
        read = reader_of(archive)
        require_platform(archive)
        return read(archive, weights)


def read_archive(archive: Archive, weights: Any) -> LoadedFunction:
    """Returns the function of an archive."""
    manifest = archive.manifest
    plan = from_json(_STATE, manifest.get("state"), "the state")
    transient = frozenset(from_json(many(TEXT), manifest.get("transient"), "what no state dict holds"))
    values = dict(load_tensors(weights) if isinstance(weights, (str, os.PathLike)) else weights or {})
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
    records = from_json(many(exactly(dict)), manifest.get("programs"), "the programs")
    if not records:
        raise ArchiveError(f"{archive.name} is damaged: its manifest lists no programs. Copy it again.")
    loaded = LoadedFunction(archive, name, held, plan.gradients | transient)
    dims = from_json(DIMS, manifest.get("dims"), "the sizes")
    tables = tables_of(archive, "sizes.safetensors") if dims else {}
    shared = parameters, loaded.writing, len(dims), tables
    loaded.set_programs(dims, [StoredProgram(archive, found, *shared) for found in records])
    return loaded


def _STATE(value: object) -> StatePlan:
    """Reads a state."""
    plan = record(StatePlan)(value)
    require_state(plan)
    return plan


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

    @property
    def writing(self) -> Any:
        """The lock that calls hold which write."""
        return self._calls._writing

    def set_programs(self, dims: Sequence[MovingDim], stored: Sequence[StoredProgram]) -> None:
        """Gives the function the dims that change, and its programs; those of a size are made when a call has it."""
        self._archive.keep({part for one in stored for part in one.graphs.values()})  # which is closed then
        grad_enabled = lambda one: one.example.traced.call.grad_enabled
        self._dims, self._first = dims, stored[0]
        self._stored = {(grad_enabled(one), at): one for one in stored for at in one.sizes}
        self._examples = {grad_enabled(one): one.example for one in reversed(stored)}
        self._has_gradients = True in self._examples
        if not dims:
            self._calls._keep([one.example for one in stored])

    def _missed(self, fn: object, args: Any, kwargs: Any, *_: object, **__: Any) -> Any:
        """Returns the program of a size that no call had so far, or says why a call fits none."""
        example = self._examples.get(modes.grad_enabled) or next(iter(self._examples.values()))
        refuse = functools.partial(refuse_call, self.name, state=self._state, args=args, kwargs=kwargs)
        if not self._dims:
            refuse(example)
        leaves, tree = flatten_arguments(*example.traced.in_order(args, kwargs))
        if tree != example.traced.in_tree:
            refuse(example)
        if not may_be_padded():
            raise SignatureMismatchError(
                f"`{self.name}` comes from an archive with sizes that change, and anomaly mode, jax_debug_nans or a "
                "transformation of JAX is on, which would see what is padded. Switch it off around the call."
            )
        found = sizes_in(self._dims, leaves)
        if isinstance(found, str):
            refuse(example, sizes=found)
        stored = self._stored.get((modes.grad_enabled, found))
        if stored is None:
            refuse(example)
        program = stored.program(found)
        lay_out(program.traced.call, [((("root", "args"),), args), ((("root", "kwargs"),), kwargs)])
        if generate_test(program.traced, None, None)(self._state, args, kwargs) is MISS:
            refuse(program)
        return program

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
        return self._first.example.traced.signature

    @property
    def manifest(self) -> dict[str, Any]:
        """What the archive says of itself, as JSON held it."""
        return self._archive.manifest

    def graph(self, role: str = "forward") -> Any:
        """Returns a program of the archive, a `jax.export.Exported`: `"forward"`, `"backward"` or `"joint"`.

        Raises:
          ArchiveError: If the archive holds none.
        """
        return self._first.graph(role)

    def __repr__(self) -> str:
        return f"LoadedFunction({self.name}, {len(self._state)} values of state)"
