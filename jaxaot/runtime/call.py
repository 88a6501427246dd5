"""Generates the straight-line Python of a call from the plans: guards, gathering, write-back, outputs.

What a call costs beside the executable is a headline figure, so the plans are not interpreted: each program gets a
function of its own. It returns `MISS` if the call does not fit the program, before anything is changed.

Calls may come from several threads. Where several use tensors, a call that writes holds its function's lock, so that no
other call of the function sees half of what it does, and the locks of the storages that it writes, see
`facade/memory/locks.py`; a second thread waits for what the first had begun. While a call writes back no trace runs,
because a trace puts symbols into storages.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, assert_never

from jaxaot import _trees as pytree
from jaxaot._jax import is_outermost
from jaxaot.facade.memory.counter import WriteCounter, counter_of
from jaxaot.facade.memory.generator import DRAWING
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.locks import Held, hold, put_back, take
from jaxaot.facade.memory.storage import HELD_ONCE, Storage
from jaxaot.facade.memory.tensor import history_edge, wrap
from jaxaot.facade.nodes.saved import pack_arrays, version_of
from jaxaot.facade.trace_state import TRACING
from jaxaot.partition.segments import FromInput, FromSegment, ValueSource
from jaxaot.plan.alias import (
    ArrayOutput,
    ConstantOutput,
    CounterOfInput,
    FreshCounter,
    HistoryOfLeaf,
    HistoryOfNode,
    HistorySource,
    TensorOutput,
    TensorSpec,
)
from jaxaot.plan.guards import HasType
from jaxaot.plan.inputs import in_order, positions_of_parts
from jaxaot.plan.saved import FromOutput
from jaxaot.plan.source import SOURCE_NAME, Source
from jaxaot.plan.world import BuiltObject, CellWrite, ComputedValue, OutsideObject, path_of
from jaxaot.runtime.backward import CompiledNode, Refilled
from jaxaot.runtime.bucket_plan import copied
from jaxaot.runtime.cell_reads import PlaceWriter
from jaxaot.runtime.guards import generator_name, late_numbers, scope_of_tests, write_tests
from jaxaot.runtime.links import GraphValue
from jaxaot.runtime.program import Program, empty_inputs
from jaxaot.runtime.store import SCOPE, Change, write_changes, write_store
from jaxaot.runtime.tape_writer import TapeWriter, freed_storages
from jaxaot.runtime.world import WorldWriter
from jaxaot.tape.threads import threads

threads.note_file(SOURCE_NAME)

_MANY = 16
"""More than so many lines alike become a loop."""


def generate(program: Program, writing: Any) -> Program:
    """Gives a program its `enter(fn, args, kwargs)`, and returns it.

    Args:
      program: The program.
      writing: The lock that calls of the function hold which write.
    """
    writer = _Writer(program, writing)
    program.source = writer.write()
    exec(compile(program.source, SOURCE_NAME, "exec"), writer.source.scope)
    program.enter = writer.source.scope["enter"]
    return program


class _Writer:
    """Writes the source of one program's call."""

    def __init__(self, program: Program, writing: Any):
        self.program = program
        self.traced = program.traced
        key = program.key
        settings = key.settings if key.looks_at_settings else None
        self.source = Source(self.traced.call, {
            **scope_of_tests(self.traced, settings, key.hooks, key.watches), "threads": threads, "wrap": wrap,
            "Storage": Storage, "History": History, "CompiledNode": CompiledNode, "history_edge": history_edge,
            "getrefcount": sys.getrefcount, "pack_arrays": pack_arrays, "version_of": version_of,
            "forward": program.forward, "FORWARD": program.entry, "DONATED": program.entry_donated,
            "backward": program.backward, "is_outermost": is_outermost, **SCOPE,
            "OUT_TREE": self.traced.result_tree, "HELD_ONCE": HELD_ONCE, "copied": copied,
            "WRITING": writing, "TRACING": TRACING, "ref": weakref.ref, "counter_of": counter_of,
            "Held": Held, "hold": hold, "put_back": put_back, "take": take,
            "WriteCounter": WriteCounter, "Refilled": Refilled, "DRAWING": DRAWING, "is_any_held": _is_any_held,
        })  # fmt: skip
        written = [write.cell for write in self.traced.world.writes if isinstance(write, CellWrite)]
        self.places = PlaceWriter(self.source, self.traced.places, written, program.donated_places)
        late = self.traced.call.numbers.late
        self.world = WorldWriter(self.source, self.traced.places, self.traced.world, self._tensor, late)

    def write(self) -> str:
        source, changes_outside = self.source, self._changes_outside()
        given = "fn, args, kwargs" if self.program.links is None else "fn, args, kwargs, walk"
        with source.block(f"def {'carry_out' if changes_outside else 'enter'}({given}):"):
            self._call(changes_outside)
        if changes_outside:  # the lock alone would be a good part of what a write costs
            with source.block(f"def enter({given}):"):
                with source.block("if threads.are_several:"), source.block("with WRITING:"):
                    source.add(f"return carry_out({given})")
                source.add(f"return carry_out({given})")
        return str(source)

    def _changes_outside(self) -> bool:
        """Returns whether a call changes what was there before."""
        return bool(self.traced.world.writes) or self._changes_tensors()

    def _changes_tensors(self) -> bool:
        """Returns whether a call changes tensors that were there before."""
        alias = self.traced.alias
        return bool(alias.writes or alias.changes or alias.grads or alias.bumps) or any(
            map(self._is_moved, alias.histories)
        )

    @cached_property
    def _changes_python_alone(self) -> bool:
        """Whether a call changes nothing but Python's objects, by one call into C when all else is done."""
        world, program = self.traced.world, self.program
        is_of_cells = program.donated_places or any(path_of(write) is None for write in world.writes)
        has_no_more = not self._changes_tensors() and not is_of_cells and not program.links and self.traced.is_whole
        return bool(world.writes) and has_no_more and self.world.is_at_once

    def _call(self, changes_outside: bool) -> None:
        write_tests(self.source, self.traced, self.places, self.program.bucket is not None)
        if self._changes_python_alone:
            self._run()
            self._make()
            self._store_in_python()
        elif changes_outside:
            self._take_turns()
        else:
            self._run()
            late_numbers(self.source, self.traced.call.numbers)
            self._make()
        self._outputs()

    # -- running -------------------------------------------------------------------------------------------------------

    def _note(self, how: str) -> None:
        """Tells the run of a checkpointed function which tensors the call looks at."""
        source = self.source
        tensors = "".join(f"{source.tensor(i)}, " for i in range(len(self.traced.call.tensors)))
        if tensors:
            with source.block("if state.region is not None:"):
                source.add(f"state.region.{how}(({tensors}))")

    def _run(self) -> None:
        """Runs what changes nothing outside."""
        source, program = self.source, self.program
        self._note("watch")
        draws = self._gather()
        for line in self.kept_inputs:
            source.add(line)
        if not program.has_work and not program.links:
            source.add("out = ()")
        elif not draws:
            self._execute()
        elif program.links or not self.traced.is_whole:  # whether the draws count is known at the end
            with source.block("with DRAWING:"):
                for offset, generator, _ in draws:
                    word = f"walk.offset({generator})" if program.links else f"{generator}.offset_word()"
                    source.add(f"{offset} = {word}")
                self._execute()
                for _, generator, n in draws if self.traced.is_whole else ():
                    source.add(f"{generator}.take({n})")
        else:  # the keys are taken first, as another thread may draw meanwhile
            for offset, generator, n in draws:
                source.add(f"{offset} = {generator}.take({n})")
            with source.block("try:"):
                self._execute()
            with source.block("except BaseException:"):
                self._give_back(draws)
                source.add("raise")

    def _give_back(self, draws: Sequence[tuple[str, str, int]]) -> None:
        for offset, generator, n in reversed(draws):
            self.source.add(f"{generator}.give_back({offset}, {n})")

    def _take_turns(self) -> None:
        """Runs what changes something outside: of several threads one after the other, see `facade/memory/locks.py`."""
        source, program = self.source, self.program
        storages = self._listed(write.storage for write in self.traced.alias.writes)
        draws = self._gather()
        source.add("held = Held() if threads.are_several else None")
        with source.block("try:"):
            with source.block("if held is not None:"):
                if program.has_work and not program.links:  # nobody waits for a compilation
                    now = {offset: f"{generator}.offset_word()" for offset, generator, _ in draws}
                    texts = [now.get(text, text) for text in self.operands if text != "None"]
                    kept = dict(line.split(" = ", 1) for line in self.kept_inputs)
                    given = ", ".join(self.places.in_runs([kept.get(text, text) for text in texts]))
                    source.add(f"if DONATED.ready is None: DONATED.compile(({given}{', ' if given else ''}))")
                source.add(f"hold({storages}, TRACING, held)")
            self._run_and_store(draws)
        with source.block("finally:"), source.block("if held is not None:"):
            with source.block("try:"):  # fewer are held where an interrupt came before any array was taken out
                source.add(f"if len(held) > {len(self.traced.alias.writes)}: put_back({storages})")
            source.add("finally: held.free()")

    def _listed(self, storages: Iterable[int]) -> str:
        """Returns the expression of a tuple of storages."""
        return f"({''.join(f'{self.source.storage(i)}, ' for i in storages)})"

    def _run_and_store(self, draws: Sequence[tuple[str, str, int]]) -> None:
        """Runs it. Keys are taken before: an interrupt may leave some unused."""
        source, program = self.source, self.program
        self._note("note")
        arguments: list[str] = [name for name in self.operands if name != "None"]
        if program.links:
            for line in self.kept_inputs:
                source.add(line)
            self.kept_inputs = []
            if draws:
                with source.block("with DRAWING:"):
                    for offset, generator, _ in draws:
                        source.add(f"{offset} = walk.offset({generator})")
                    self._run_links()
                    for _, generator, n in draws:
                        source.add(f"{generator}.take({n})")
            else:
                self._run_links()
            arguments = [self._input(value) for value in program.inputs]
        else:
            for offset, generator, n in draws:
                source.add(f"{offset} = {generator}.take({n})")
        text = ", ".join(self.places.in_runs(arguments)) if program.has_work else None
        source.add("signals = out = None")
        with source.block("try:"):
            if text is not None:
                self._begin(text)
            self._store(text)  # where there are several threads, `hold` has taken the lock of traces
        if draws:
            with source.block("except BaseException:"):
                with source.block("if out is None:"):  # nothing has changed
                    self._give_back(draws)
                source.add("raise")
        with source.block("finally:"):
            source.add("if signals is not None: signals.release()")

    def _store(self, text: str | None) -> None:
        source, program = self.source, self.program
        counts = []
        for tensor, n in self.traced.alias.bumps:
            name = source.tensor(tensor)
            source.add(f"k{tensor} = {name}._counter or counter_of({name})")
            counts.append(f"k{tensor}.n += {n}")
        if self._is_early:
            self._objects()
        self.world.make()
        changes = [f"{c.owner}.{c.name} = {self._text(c.value)}" for c in self._changes()]
        write_store(
            source, text, self.kept_inputs, [*counts, *self._shared(), *changes], self.world.changes(self._source_of)
        )
        if program.links:
            source.add("last = out")
            source.add(f"out = [{', '.join(map(self._output, range(len(program.sources))))}]")
        late_numbers(source, self.traced.call.numbers)
        self._make()
        self.world.write_others()

    def _store_in_python(self) -> None:
        """Changes Python's objects: an interrupt comes before or after all of it."""
        self.world.make()
        classes = {g.path: g.condition.cls for g in self.traced.call.python if isinstance(g.condition, HasType)}
        changes = self.world.changes(lambda output: f"out[{output}]", classes)
        with self.source.block("if threads.are_several:"), self.source.block("with TRACING:"):
            write_changes(self.source, changes)  # a trace of another thread has symbols there
        with self.source.block("else:"):
            write_changes(self.source, changes)

    def _text(self, value: str | int) -> str:
        return f"out[{value}]" if isinstance(value, int) else value

    def _begin(self, text: str) -> None:
        """Chooses what runs, and runs at once what runs through Python."""
        source, program = self.source, self.program
        if program.entry_donated is program.entry:
            source.add("entry = FORWARD")
        else:
            source.add(f"entry = FORWARD if {self._is_held()} else DONATED")
        source.add("given, runs = entry.given, entry.runs")
        waits = self.world.waits  # for values that Python puts together
        test = "runs is None or not (entry.is_anywhere or is_outermost())"
        with source.block("if True:" if waits else f"if {test}:"):
            for line in self.kept_inputs:
                source.add(line)
            source.add(f"signals, given, runs = entry.begin(({text}{', ' if text else ''}), {waits})")

    def _is_held(self) -> str:
        """Returns the expression that says whether somebody else holds an array that is to be donated."""
        source, program = self.source, self.program
        tests = []
        for i in program.donated:
            name = source.storage(i)
            tests.append(f"{name}.is_shared and getrefcount({name}.array) > HELD_ONCE")
        if len(tests) > _MANY:
            tests = [f"is_any_held({self._listed(program.donated)})"]
        if tests:
            tests = [f"(not take({self._listed(program.donated)}) if held is not None else {' or '.join(tests)})"]
        if program.donated_places:
            tests.append(self.places.held())
        return f"({' or '.join(tests)})"

    def _gather(self) -> list[tuple[str, str, int]]:
        """Finds an expression for each graph input; returns the variable, generator and number of each draw."""
        source, call = self.source, self.traced.call
        of_storages = [f"{source.storage(i)}.array" for i, s in enumerate(call.storages) if s.graph_input is not None]
        of_places = [self.places.expressions[i] for i in sorted(self.places.expressions)]
        others = ["None" if ghost.is_empty else f"{source.storage(ghost.storage)}.array" for ghost in call.ghosts]
        others += [f"leaves[{value.leaf}]" for value in call.values]
        bucket = self.program.bucket
        padded = () if bucket is None else [i for i, _ in bucket.fit.pads]
        for number, position in zip(call.parts, positions_of_parts(call, self.traced.places), strict=True):
            tensor = source.tensor(number)  # read before anything else is done, as that runs Python
            source.add(f"v{number} = {f'copied({tensor})' if position in padded else f'{tensor}.jax()'}")
        others += [f"v{number}" for number in call.parts]
        others += [f"z{number.step}" for number in call.numbers.inputs]
        draws = []
        for i, use in enumerate(self.traced.rng.generators):
            generator = generator_name(source, use.path)
            draws.append((f"o{i}", generator, use.n_draws))
            if use.is_input:
                others += [f"{generator}._words", f"o{i}"]
        names: list[str] = in_order(call, self.traced.places, of_storages, of_places, others)
        names += [source.constant(value) for value in (() if bucket is None else bucket.fit.given)]
        # the backward holds some of them as they are now
        self.kept_inputs: list[str] = []
        kept = self.program.held_inputs
        elsewhere = {*empty_inputs(self.traced), *freed_storages(self.traced), *self.places.expressions}
        for i in kept:
            if i not in elsewhere and names[i] not in self._drawn(draws):
                self.kept_inputs.append(f"a{i} = {names[i]}")
                names[i] = f"a{i}"
        self.operands = names
        return draws

    def _drawn(self, draws: list[tuple[str, str, int]]) -> set[str]:
        """Returns the operands that are there anyway: seeds and offsets."""
        return {name for offset, generator, _ in draws for name in (offset, f"{generator}._words")}

    def _execute(self) -> None:
        source, program = self.source, self.program
        if not program.links:
            passed = [name for name in self.operands if name != "None"]
            source.add(f"out = forward({', '.join(self.places.in_runs(passed))})")
            return
        self._run_links()
        if program.has_work:
            source.add(f"last = forward({', '.join(self.places.in_runs([*map(self._input, program.inputs)]))})")
        source.add(f"out = [{', '.join(map(self._output, range(len(program.sources))))}]")

    def _run_links(self) -> None:
        """Runs the segments before the last one."""
        source, program = self.source, self.program
        passed = [name for name in self.operands if name != "None"]
        source.add("results = walk.results")
        source.scope["PROGRAM"] = program
        links = program.links or ()
        names = {link.segment: f"r{k}" for k, link in enumerate(links)}
        for k, link in enumerate(links):
            given = [
                passed[program.input_keys.index(value.key)]
                if isinstance(value, GraphValue)
                else f"{names[value.segment]}[{value.output}]"
                for value in link.segment.inputs
            ]
            segment, run = source.constant(link.segment), source.constant(link.segment.call)
            source.add(f"r{k} = results.get({segment})")
            source.add(f"if r{k} is None: r{k} = results[{segment}] = {run}({', '.join(given)})")
            source.add(f"if not walk.agrees(PROGRAM, {k}, r{k}[0]): return MISS")

    def _input(self, value: ValueSource) -> str:
        """Returns the expression of what the last segment is given, or what no segment computes."""
        match value:
            case FromInput(index):
                return [name for name in self.operands if name != "None"][index]
            case FromSegment(segment, output):
                return f"r{segment}[{self._links[segment].positions[output]}]"
            case _:
                assert_never(value)

    @property
    def _links(self) -> Sequence[Any]:
        return self.program.links or ()

    def _source_of(self, output: int) -> str | int:
        """Returns the expression of a graph output that is there before the last segment runs, or which one of its."""
        if not self.program.links:
            return output
        value = self.program.sources[output]
        if isinstance(value, FromInput) or value.segment != len(self._links):
            text, bucket = self._input(value), self.program.bucket
            is_cut = bucket is not None and output in bucket.crops
            return f"{self.source.constant(bucket.crops[output])}({text})" if bucket is not None and is_cut else text
        return value.output

    def _output(self, output: int) -> str:
        """Returns the expression of a graph output after the segments have run."""
        found = self._source_of(output)
        return f"last[{found}]" if isinstance(found, int) else found

    # -- what changes outside ------------------------------------------------------------------------------------------

    @cached_property
    def _is_early(self) -> bool:
        """Whether what a call makes is put into what was there before, and so is made before the run."""
        alias = self.traced.alias
        is_kept = self.traced.world.keeps_tensors and not self._changes_python_alone
        return bool(alias.changes or alias.grads or is_kept) or any(self._is_moved(h) for h in alias.histories)

    def _is_moved(self, origin: HistorySource) -> bool:
        return isinstance(origin, HistoryOfNode) and origin.tensor is not None

    def _changes(self) -> list[Change]:
        """Returns what the call changes in tensors, storages and histories that were there before."""
        source, alias, call = self.source, self.traced.alias, self.traced.call
        changes = []
        for write in alias.writes:
            name = source.storage(write.storage)
            changes.append(Change(name, "array", "None" if write.output is None else self._source_of(write.output)))
            changes.append(Change(name, "is_shared", repr(self._is_shared(write.output))))
            if write.layout is not call.storages[write.storage].layout:
                changes.append(Change(name, "layout", source.constant(write.layout)))
                changes.append(Change(name, "n_written", repr(write.n_written)))
        if not self._is_early:
            return changes
        for i, fresh in enumerate(alias.fresh):
            if fresh.output is not None:
                changes.append(Change(f"f{i}", "array", self._source_of(fresh.output)))
        for i, history in enumerate(alias.histories):
            if isinstance(history, HistoryOfNode) and self._is_moved(history):
                source.add(f"b{i}, i{i} = g{i}.node, g{i}.index")
                fields = {"node": "node", "index": f"{history.output}", "requires_grad": "True", "accumulator": "None"}
                changes += [Change(f"g{i}", name, value) for name, value in fields.items()]
        for change in alias.changes:
            name = source.tensor(change.tensor)
            spec, tensor = change.spec, call.tensors[change.tensor]
            if (spec.storage, spec.layout, spec.offset) != (tensor.storage, tensor.layout, tensor.offset):
                changes.append(Change(name, "_storage", self._storage(spec.storage)))
                changes.append(Change(name, "_layout", source.constant(spec.layout)))
                changes.append(Change(name, "_offset", str(spec.offset)))
            changes += [Change(name, field, value) for field, value in self._fields(spec, is_new=False)]
        for grad in alias.grads:
            value = "None" if grad.grad is None else self._tensor(grad.grad)
            changes.append(Change(source.tensor(grad.tensor), "_grad", value))
        return changes

    def _shared(self) -> list[str]:
        """Returns the lines that note which storages hold what the tape or a backend holds too."""
        kept, written = set(self.program.held_inputs), {w.storage for w in self.traced.alias.writes}
        return [
            f"{self.source.storage(i)}.is_shared = True"
            for i, storage in enumerate(self.traced.call.storages)
            if not self.program.makes_fresh_outputs or (storage.graph_input in kept and i not in written)
        ]

    # -- what is made --------------------------------------------------------------------------------------------------

    def _make(self) -> None:
        """Writes what makes the call's tensors and the tape's node, as far as that was not done before the run."""
        source, alias = self.source, self.traced.alias
        if not self._is_early:
            if self._changes_python_alone or not self._changes_outside():
                for line in self._shared():
                    source.add(line)
            self._objects()
        if alias.differentiable and self.tape.plan is not None:
            self.tape.versions()
            if self._is_early:  # a backward before says that there are no values
                source.add(f"node.residuals = {self.tape.held_values()}")
        for i, history in enumerate(alias.histories if self._is_early else ()):
            if self._is_moved(history):
                source.add(f"g{i}.carry_hooks(b{i}, i{i})")

    def _objects(self) -> None:
        """Writes what makes objects, of which those that are made before the run have no values yet."""
        source, alias = self.source, self.traced.alias
        if alias.differentiable:
            self.tape.node(self._is_early)
        for i, fresh in enumerate(alias.fresh):
            array = "None" if fresh.output is None or self._is_early else f"out[{fresh.output}]"
            source.add(f"f{i} = Storage({array}, {source.constant(fresh.layout)})")
            if fresh.n_written is not None:
                source.add(f"f{i}.n_written = {fresh.n_written}")
            if self._is_shared(fresh.output):
                source.add(f"f{i}.is_shared = True")
        for i, origin in enumerate(alias.counters):
            match origin:
                case CounterOfInput(tensor):
                    source.add(f"c{i} = counter_of({source.tensor(tensor)})")
                case FreshCounter(n):
                    source.add(f"c{i} = WriteCounter({n})")
                case _:
                    assert_never(origin)
        self.tape.histories()
        for i, spec in enumerate(alias.made):
            source.add(f"m{i} = wrap({self._storage(spec.storage)}, {source.constant(spec.layout)}, {spec.offset})")
            for field, value in self._fields(spec, is_new=True):
                source.add(f"m{i}.{field} = {value}")
            if i in self.traced.view_names:
                source.add(f"m{i}._view_parent = {self.traced.view_names[i]!r}")
        for i, history in enumerate(alias.histories):
            if isinstance(history, HistoryOfLeaf) and history.leaf is not None:
                source.add(f"g{i}.leaf = ref({self._tensor(history.leaf)})")

    def _storage(self, number: int) -> str:
        """Returns the expression of a storage, of an input or fresh."""
        n = len(self.traced.call.storages)
        return self.source.storage(number) if number < n else f"f{number - n}"

    def _tensor(self, number: int) -> str:
        """Returns the expression of a tensor, an input or made."""
        n = len(self.traced.call.tensors)
        return self.source.tensor(number) if number < n else f"m{number - n}"

    @cached_property
    def tape(self) -> TapeWriter:
        return TapeWriter(self.source, self.program, self.operands)

    @cached_property
    def _is_shared(self) -> Callable[[int | None], bool]:
        """What says whether a graph output is held by more than one storage."""
        alias, plan = self.traced.alias, self.tape.plan
        holders: dict[int, int] = {}
        for item in (*alias.writes, *alias.fresh):
            if item.output is not None:
                holders[item.output] = holders.get(item.output, 0) + 1
        kept = {s.index for s in plan.residuals if isinstance(s, FromOutput)} if plan else set()
        kept |= {o.output for o in alias.outputs if isinstance(o, ArrayOutput)} | self.traced.world.outputs
        is_fresh = self.program.makes_fresh_outputs
        return lambda output: output is not None and (not is_fresh or holders[output] > 1 or output in kept)

    def _fields(self, spec: TensorSpec, is_new: bool) -> Iterator[tuple[str, str]]:
        """Yields what a tensor's attributes become."""
        if spec.history is not None or not is_new:
            yield "_history", "None" if spec.history is None else f"g{spec.history}"
        if spec.base is not None or not is_new:
            yield "_base_tensor", "None" if spec.base is None else self._tensor(spec.base)
        if spec.chain or not is_new:
            yield "_chain", self.source.constant(spec.chain) if spec.chain else "()"
        if spec.counter is not None:
            yield "_counter", f"c{spec.counter}"
        if spec.creation is not None or not is_new:
            yield "_creation", repr(spec.creation)
        if not is_new:
            yield "_view_parent", "None"

    # -- outputs -------------------------------------------------------------------------------------------------------

    def _outputs(self) -> None:
        source = self.source
        texts = []
        for output in self.traced.alias.outputs:
            match output:
                case ConstantOutput(ComputedValue(step)):
                    texts.append(f"z{step}")
                case ConstantOutput(BuiltObject(number)):
                    texts.append(f"x{number}")
                case ConstantOutput(value):
                    texts.append("None" if value is None else source.constant(value))
                case OutsideObject(path):
                    texts.append(source.path(path))
                case ArrayOutput(number):
                    texts.append(f"out[{number}]")
                case TensorOutput(number):
                    texts.append(self._tensor(number))
                case _:
                    assert_never(output)
        tree, own = self.traced.result_tree, self.traced.own
        if own is not None:
            all_texts, texts, at = texts, [], 0
            for size, path in own.leaves:
                texts.append(all_texts[at] if path is None else source.path(path))
                at += size
        if tree == pytree.structure(0):
            source.add(f"return {texts[0]}")
        elif tree == pytree.structure(tuple(range(len(texts)))):
            source.add(f"return ({''.join(t + ', ' for t in texts)})")
        elif tree == pytree.structure(list(range(len(texts)))):
            source.add(f"return [{', '.join(texts)}]")
        else:
            source.add(f"return OUT_TREE.unflatten([{', '.join(texts)}])")


def _is_any_held(storages: Sequence[Storage]) -> bool:
    """Returns whether the array of any storage is held by somebody else."""
    return any(s.is_shared and sys.getrefcount(s.array) > HELD_ONCE for s in storages)
