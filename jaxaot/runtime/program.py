"""A program: one traced and compiled version of a function, for one kind of call."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import jax

from jaxaot import _trees as pytree
from jaxaot._jax import has_side_effects
from jaxaot.ir.gate import hold_fills
from jaxaot.ir.rewrite import add_inputs, drop_inputs, first_outputs, inline
from jaxaot.ir.roles import Primal
from jaxaot.ir.walk import sub_jaxprs
from jaxaot.lower.entry import Entry
from jaxaot.lower.warm.kept import Cut, KeptGraph
from jaxaot.partition.segments import FromInput, FromSegment, ValueSource, cut_segments
from jaxaot.passes.dce import dce
from jaxaot.passes.prepare import prepare_backward, prepare_forward
from jaxaot.plan.alias import ArrayOutput, TensorOutput
from jaxaot.plan.difference import CallKey
from jaxaot.plan.guards import EqualTo, HasType
from jaxaot.plan.inputs import positions_of_ghosts
from jaxaot.plan.number_program import ReadNumber
from jaxaot.plan.paths import Path, follow
from jaxaot.plan.saved import FromForward, FromPrimal, TapePlan
from jaxaot.plan.stages import Partition, Traced
from jaxaot.plan.world import BuiltArray, CellWrite
from jaxaot.runtime.bucket_plan import BucketPlan
from jaxaot.runtime.double_backward import DoubleBackward, gradients_function, tape_plan
from jaxaot.runtime.links import Link, Linker
from jaxaot.runtime.second_in_bucket import SecondInBucket, is_plain
from jaxaot.runtime.watched import watching


class Program:
    """One compiled version of a function.

    Attributes:
      traced: Its graph and plans.
      partition: Its forward and backward; None if no gradient flows.
      second: Its backward as a function that can be differentiated.
      apart: For each gradient the outputs that its input leads to; None if each leads to all of them.
      input_keys: What tells its graph inputs apart across the programs of a function, if there are segments.
      links: The segments that it runs before the last one; None if Python may not ask for values.
      sources: Where each output of the forward comes from, if there are segments.
      inputs: Where each input of `forward` comes from, if there are segments.
      forward: Takes graph inputs to graph outputs and extra residuals; of segments, it is the last one.
      entry: The way into it for a call that stores what it returns.
      entry_donated: The same, reusing the buffers of the storages that are written.
      backward: Takes residuals and cotangents to gradients; compiled on first use.
      consuming: What `backward` is where nobody will need the residuals again, reusing the buffers of some, and the
        positions of these; None if no gradient fits into one.
      donated: Distinct storages whose buffers `entry_donated` reuses.
      donated_places: Graph inputs that are cells' arrays whose buffers it reuses.
      makes_fresh_outputs: Whether nobody else holds what the forward returns.
      has_work: Whether there is anything to run: an output, or an effect such as a print.
      key: All that its guards look at.
      bucket: How it runs in the program of a bucket; None if it has its own.
      cut: The graphs of forward and backward, if they were looked for in `cache_dir`.
      enter: The generated function: looks whether a call fits, and if so carries it out.
    """

    __slots__ = (
        "apart", "backward", "bucket", "consuming", "cut", "donated", "donated_places", "enter", "entry",
        "entry_donated", "executables", "forward", "has_work", "input_keys", "inputs", "key", "links",
        "makes_fresh_outputs", "partition", "second", "source", "sources", "traced",
    )  # fmt: skip

    def __init__(
        self,
        traced: Traced,
        partition: Partition | Cut | None,
        make_executable: Callable[..., Any],
        donate: bool,
        key: CallKey,
        linker: Linker | None = None,
        bucket: BucketPlan | None = None,
        tape: TapePlan | None = None,
        gradients: Callable[..., Any] | None = None,
    ):
        """Makes the executables; XLA compiles them at the first call.

        Args:
          traced: The graph and the plans.
          partition: Its forward and backward, if gradients flow; or these as they are compiled.
          make_executable: A backend.
          donate: Whether buffers may be reused.
          key: All that the guards look at.
          linker: Finds the segments that are run before the last one; None if Python may not ask for values.
          bucket: How it runs in the program of a bucket, whose executables then take the place of the backend's.
          tape: What is known of the equations of forward and backward, if these are not there.
          gradients: What takes primals and cotangents to gradients and can be differentiated, if these are not there.
        """
        cut = None
        if isinstance(partition, Cut):
            cut, partition, tape = partition, partition.partition, partition.tape
        self.cut, self.partition, self.traced = cut, partition, traced
        self.key = key
        self.bucket = bucket
        make_executable = make_executable if bucket is None else bucket.executable
        if cut is not None:
            jaxpr = cut.forward
        else:
            jaxpr = forward_graph(traced, partition) if bucket is None else bucket.shared.whole
        n_inputs = len(jaxpr.in_avals)
        self.links: tuple[Link, ...] | None = None
        self.inputs: tuple[ValueSource, ...] = tuple(map(FromInput, range(n_inputs)))
        self.sources: tuple[ValueSource, ...] = ()
        self.second = self.apart = None
        if partition is not None:
            tape = tape_plan(traced, partition) if tape is None else tape
            whole, empty = lambda: self.whole_partition, empty_inputs(traced)
            self.second = DoubleBackward(traced, whole, partition, tape, empty, gradients)
            if bucket is not None and is_plain(traced, partition.joint):
                self.second.in_bucket = SecondInBucket(traced, bucket, self.second.primals, gradients_function)
            self.apart = tape.apart
        held = frozenset(self.held_inputs)
        self.donated = donated_storages(traced, held) if donate else ()
        self.donated_places = donated_places(traced, held) if donate else ()
        self.input_keys = () if linker is None else linker.keys
        if linker is not None:
            jaxpr, make_executable = self._in_segments(jaxpr, linker, make_executable)
        if cut is None:
            is_whole = bucket is not None and not traced.break_values
            jaxpr = bucket.shared.forward if bucket is not None and is_whole else prepare_forward(jaxpr)
        self._make_forward(jaxpr, make_executable, has_segments=linker is not None)
        self.backward: Callable[..., Any] | None = None
        self.consuming: tuple[Callable[..., Any], tuple[int, ...]] | None = None
        if partition is not None:
            self._make_backward(partition, make_executable, donate)
        self.enter: Callable[..., Any] = lambda *_: None
        self.source = ""

    def _in_segments(self, jaxpr: Any, linker: Linker, make: Callable[..., Any]) -> tuple[Any, Callable[..., Any]]:
        """Cuts the forward where Python asks for values; returns the last segment, and what makes executables of it."""
        breaks = [value.output for value in self.traced.break_values]
        segments = cut_segments(jaxpr, breaks)
        *before, last = segments.parts
        self.links = linker.link(before)
        if not before:
            return jaxpr, make
        self.sources, self.inputs = segments.outputs, last.inputs
        self.donated = tuple(s for s in self.donated if self._is_made_last(s))
        self.donated_places = ()
        if self.bucket is not None:
            outputs = [self._place_in_last(source) for source in self.sources]
            make = self.bucket.of_last((tuple(breaks), len(last.inputs)), outputs)
        return self._with_donated(last.jaxpr), make

    def _make_forward(self, jaxpr: Any, make_executable: Callable[..., Any], has_segments: bool) -> None:
        """Makes the executables of the forward: one, and one that reuses buffers, where it may."""
        positions = [self.inputs.index(FromInput(self.place(s))) for s in self.donated]
        empty = empty_inputs(self.traced)
        positions += [position - sum(i < position for i in empty) for position in self.donated_places]
        eqns = () if isinstance(jaxpr, KeptGraph) else jaxpr.jaxpr.eqns  # none with effects is kept
        has_effects = any(map(has_side_effects, eqns))
        self.has_work = bool(jaxpr.out_avals) or has_effects
        plain = make_executable(jaxpr, (), "forward")
        self.executables = {"forward": plain}
        self.makes_fresh_outputs = getattr(plain, "makes_fresh_outputs", False)
        self.forward = plain.call
        has_effects = has_effects or calls_python(eqns)
        self.entry = self.entry_donated = Entry(plain, False, has_effects)
        if positions:
            donating = self.executables["forward_donated"] = make_executable(jaxpr, positions, "forward")
            self.entry_donated = Entry(donating, True, has_effects)
        for executable in self.executables.values():
            executable.settings = self.key.jax_settings
            if not has_segments:  # otherwise outputs are those of the last segment
                executable.name_of = functools.partial(output_name, self.traced)

    def _make_backward(self, partition: Partition, make_executable: Callable[..., Any], donate: bool) -> None:
        """Makes the executables of the backward: one, and one that consumes residuals, where it may."""
        residuals, empty = partition.plan.residuals, {FromPrimal(i) for i in empty_inputs(self.traced)}
        absent = [i for i, source in enumerate(residuals) if source in empty]
        if self.cut is not None:
            backward = self.cut.backward
        elif self.bucket is not None:
            backward = self.bucket.shared.backward
        else:
            backward = prepare_backward(partition.backward, len(residuals), absent)
        self.executables["backward"] = make_executable(backward, (), "backward")
        self.backward = self.executables["backward"].call
        self.executables["backward"].name_of = functools.partial(gradient_name, partition)
        fitting = fitting_residuals(partition, absent) if donate and self.makes_fresh_outputs else ()
        if fitting:
            self.executables["backward_donated"] = make_executable(backward, fitting, "backward")
            self.executables["backward_donated"].name_of = functools.partial(gradient_name, partition)
            self.consuming = self.executables["backward_donated"].call, fitting

    @property
    def owner(self) -> object:
        """What its executables belong to: the program of a bucket, which others run too, or itself."""
        return self if self.bucket is None else self.bucket.fit.made

    @property
    def held_inputs(self) -> tuple[int, ...]:
        """The graph inputs that the tape's node holds as they were."""
        if self.partition is None or self.second is None:
            return ()
        residuals = self.partition.plan.residuals
        return (*(s.index for s in residuals if isinstance(s, FromPrimal)), *self.second.extra)

    def place(self, storage: int) -> int:
        """Returns the position of a storage among the inputs that are passed."""
        position = self.traced.call.storages[storage].graph_input
        assert position is not None, "a storage without bytes is not passed"
        return position  # the inputs that are never passed come after the storages

    def _place_in_last(self, source: ValueSource) -> int | None:
        """Returns which output of the last segment a value is; None if it is none."""
        if isinstance(source, FromSegment) and source.segment == len(self.traced.break_values):
            return source.output
        return None

    def _is_made_last(self, storage: int) -> bool:
        """Returns whether the last segment computes the new value of a storage."""
        (output,) = (w.output for w in self.traced.alias.writes if w.storage == storage)
        return output is not None and self._place_in_last(self.sources[output]) is not None

    def _with_donated(self, jaxpr: Any) -> Any:
        """Returns the last segment with further inputs: buffers that it may reuse though it does not read them."""
        absent = [FromInput(self.place(s)) for s in self.donated if FromInput(self.place(s)) not in self.inputs]
        avals = [self.traced.jaxpr.in_avals[source.index] for source in absent]
        self.inputs = (*self.inputs, *absent)
        return add_inputs(jaxpr, avals)

    @property
    def whole_partition(self) -> Partition | None:
        """Its forward and backward, with equations: those of a cut that was found are made now."""
        return self.partition if self.cut is None else self.cut.make()

    @property
    def parameters(self) -> tuple[str, ...]:
        """What the user calls each positional argument."""
        return self.key.parameters

    def is_out_of_reach(self) -> bool:
        """Returns whether an object that it was made for is gone, so that no call fits it any more."""
        return any(guard.condition.is_void for guard in (*self.key.call.statics, *self.key.call.python))


def lower(
    traced: Traced, partition: Partition | Cut | None, make_executable: Callable[..., Any], key: CallKey,
    donate: bool = True, bucket: BucketPlan | None = None,
) -> Program:  # fmt: skip
    """Returns a program for the calls that are like the traced one; it has no `enter` yet.

    Args:
      traced: The traced function.
      partition: Its forward and backward, be it as they are compiled; None if no gradient flows.
      make_executable: A backend.
      key: All that the guards look at.
      donate: Whether the buffers of written storages may be reused, if the settings allow it.
      bucket: How it runs in the program of a bucket; None if it has its own.
    """
    if key.watches:
        make_executable, donate = watching(make_executable), False
    return Program(traced, partition, make_executable, key.settings.donate and donate, key, bucket=bucket)


def calls_python(eqns: Sequence[Any]) -> bool:
    """Returns whether some equations call functions of Python when they run."""
    inside = lambda eqn: any(calls_python(jaxpr.eqns) for jaxpr in sub_jaxprs(eqn))
    return any("callback" in eqn.primitive.name or inside(eqn) for eqn in eqns)


def forward_graph(traced: Traced, partition: Partition | None) -> Any:
    """Returns the graph of a call: from the inputs that are passed to the outputs and further residuals."""
    n_fills = len(traced.alias.refills)
    n_outputs = len(traced.jaxpr.out_avals) - n_fills
    held = partition.forward if partition is not None else hold_fills(traced.jaxpr, n_fills)
    jaxpr = dce(first_outputs(held, n_outputs)) if partition is None else held
    # what runs is not differentiated again, so custom rules have done their work
    return drop_inputs(inline(jaxpr, also_custom=True), empty_inputs(traced))


def output_name(traced: Traced, position: int) -> str:
    """Returns what the user calls an output of the forward."""
    call, alias = traced.call, traced.alias
    for write in alias.writes:
        if write.output == position:
            return f"the new value of `{call.tensors[call.storages[write.storage].tensor].name}`"
    results = pytree.unflatten(traced.out_tree, range(len(alias.outputs)))
    paths = [jax.tree_util.keystr(path) for path, _ in pytree.leaves_with_path(results)]
    for path, source in zip(paths, alias.outputs, strict=True):
        output = source.output if isinstance(source, ArrayOutput) else None
        if isinstance(source, TensorOutput) and source.tensor >= len(call.tensors):
            storage = alias.made[source.tensor - len(call.tensors)].storage - len(call.storages)
            output = alias.fresh[storage].output if storage >= 0 else None
        if output == position:
            return f"its result{path}"
    return "a value that it keeps for the backward"


def gradient_name(partition: Partition, position: int) -> str:
    """Returns what the user calls an output of the backward."""
    joint = partition.joint
    inputs = joint.differentiable_inputs
    if position >= len(inputs):
        return f"output {position}"
    names = [role.name for role in joint.in_roles if isinstance(role, Primal)]
    return f"the gradient of `{names[inputs[position]]}`"


def empty_inputs(traced: Traced) -> tuple[int, ...]:
    """Returns the graph inputs that stand for the gradients of storages without bytes."""
    ghosts = zip(positions_of_ghosts(traced.call, traced.places), traced.call.ghosts, strict=True)
    return tuple(i for i, ghost in ghosts if ghost.is_empty)


def fitting_residuals(partition: Partition, absent: Sequence[int]) -> tuple[int, ...]:
    """Returns the residuals that the forward makes for the backward alone and whose buffers gradients fit into.

    Args:
      partition: Forward and backward.
      absent: Positions of the residuals that are not passed; those returned do not count them.
    """
    wanted = Counter((aval.shape, aval.dtype) for aval in partition.backward.out_avals)
    passed = [i for i in range(len(partition.plan.residuals)) if i not in absent]
    found = []
    for position, i in enumerate(passed):
        aval = partition.backward.in_avals[i]
        kind = aval.shape, aval.dtype
        if isinstance(partition.plan.residuals[i], FromForward) and wanted[kind]:
            wanted[kind] -= 1
            found.append(position)
    return tuple(found)


def donated_storages(traced: Traced, kept: frozenset[int]) -> tuple[int, ...]:
    """Returns the storages whose old value nobody needs after the call: written, not resized, and not kept."""
    storages = traced.call.storages
    twice = {ghost.storage for ghost in traced.call.ghosts}  # passed once more, for another history
    first = {write.output: write.storage for write in reversed(traced.alias.writes)}
    return tuple(
        write.storage
        for write in traced.alias.writes
        if write.output is not None
        and first[write.output] == write.storage  # an output can have the buffer of one input
        and write.storage not in twice
        and storages[write.storage].graph_input is not None
        and storages[write.storage].graph_input not in kept
        and write.layout.size == storages[write.storage].layout.size
        and storages[write.storage].layout.numel > 0
    )


def donated_places(traced: Traced, kept: frozenset[int]) -> tuple[int, ...]:
    """Returns the graph inputs that are the old values of cells, and that nobody needs after the call."""
    found = []
    for write in traced.world.writes:
        if not isinstance(write, CellWrite) or not isinstance(write.value, BuiltArray):
            continue  # else Python puts the value together
        leaves, now = traced.places.cells[write.cell].leaves, write.value
        if len(leaves) != 1 or leaves[0].kind != "array":
            continue
        position, aval = leaves[0].graph_input, traced.jaxpr.out_avals[now.output]
        if position is None or position in kept or (aval.shape, aval.dtype) != (leaves[0].shape, leaves[0].dtype):
            continue
        if aval.size:
            found.append(position)
    return tuple(found)


def _now(roots: Sequence[tuple[Path, Any]], path: Path) -> set[Any]:
    """Returns the int that a path leads to in a call; nothing if there is none."""
    try:
        value = follow(roots, path)
    except (AttributeError, LookupError, TypeError, ValueError):
        return set()
    return {value} if type(value) is int else set()


def changing_numbers(programs: Sequence[Program], roots: Sequence[tuple[Path, Any]]) -> tuple[Path, ...]:
    """Returns the paths of the numbers of Python that differ among programs of one function.

    An argument has changed if this call's is another one than a program's. Where two programs have a symbol and rely on
    its value nevertheless, another symbol would not save a program.

    Args:
      programs: Themselves.
      roots: Where the paths of the call start for which another one is made.
    """
    values: dict[tuple[Path, Any], set[Any]] = {}
    fixed = Counter[Path]()
    for program in programs:
        plan = program.key.call.numbers
        relied_on = (plan.numbers[fact.step] for fact in plan.facts if not fact.is_of_type)
        fixed.update({number.path for number in relied_on if isinstance(number, ReadNumber)})
        for static in program.key.call.statics:
            value = static.condition.value if isinstance(static.condition, EqualTo) else None
            if static.path is not None and type(value) is int:
                values.setdefault((static.path, None), _now(roots, static.path)).add(value)
        guards = program.key.call.python
        kinds = {guard.path: guard.condition for guard in guards if isinstance(guard.condition, HasType)}
        for guard in guards:
            if isinstance(guard.condition, EqualTo) and type(guard.condition.value) in (int, float):
                values.setdefault((guard.path, kinds.get(guard.path[:-1])), set()).add(guard.condition.value)

    def is_of_kind(path: Path, kind: HasType | None) -> bool:
        try:
            return kind is None or type(follow(roots, path)) is kind.cls
        except (AttributeError, LookupError, TypeError, ValueError):  # this call has no such object
            return False

    found = (place for place, differing in values.items() if len(differing) > 1)
    return tuple(dict.fromkeys(path for path, kind in found if fixed[path] < 2 and is_of_kind(path[:-1], kind)))
