"""Generates the straight-line Python of a call from the plans: guards, gathering, write-back, outputs.

What a call costs beside the executable is a headline figure, so the plans are not interpreted: each program gets a
function of its own. It returns `MISS` if the call does not fit the program, before anything is changed.

Calls may come from several threads. A call that writes holds its function's lock, so that no other call of the function
sees half of what it does; and while it writes back no trace runs, because a trace puts symbols into storages.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax

from jaxaot import config
from jaxaot.autograd.modes import state
from jaxaot.autograd.threads import threads
from jaxaot.config import Config
from jaxaot.ir.reach import outputs_apart, reached_inputs
from jaxaot.ops.promotion import is_complex
from jaxaot.partition.segments import FromInput, ValueSource
from jaxaot.plan.alias import (
    ArrayOutput,
    ConstantOutput,
    CounterOfInput,
    FreedStorage,
    HistoryOfInput,
    HistoryOfLeaf,
    HistoryOfNode,
    HistorySource,
    TensorSpec,
)
from jaxaot.plan.places import OutsideObject
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal, FromRefill, SavePlan
from jaxaot.plan.stages import Traced
from jaxaot.runtime.backward import CompiledNode, Refilled
from jaxaot.runtime.guards import generator_name, write_guards
from jaxaot.runtime.links import GraphValue
from jaxaot.runtime.places import PlaceWriter
from jaxaot.runtime.program import Program, empty_inputs
from jaxaot.runtime.source import SOURCE_NAME, Source
from jaxaot.tensor.counter import WriteCounter, counter_of
from jaxaot.tensor.generator import DRAWING, default_generator
from jaxaot.tensor.history import History
from jaxaot.tensor.locks import hold, release, take
from jaxaot.tensor.saved import pack_arrays, version_of
from jaxaot.tensor.storage import HELD_ONCE, Storage
from jaxaot.tensor.tensor import Tensor, history_edge, wrap
from jaxaot.tensor.tracing import TRACING
from jaxaot.views.layout import contiguous

threads.note_file(SOURCE_NAME)

MISS: Any = type("Miss", (), {"__repr__": lambda self: "MISS"})()
"""What a program returns for a call that does not fit it."""


_MANY = 16
"""More than so many lines alike become a loop."""


def generate(program: Program, writing: Any) -> None:
    """Gives a program its `enter(fn, args, kwargs)`.

    Args:
      program: The program.
      writing: The lock that calls of the function hold which write.
    """
    writer = _Writer(program, writing)
    program.source = writer.write()
    exec(compile(program.source, SOURCE_NAME, "exec"), writer.source.scope)
    program.enter = writer.source.scope["enter"]


def generate_test(traced: Traced, settings: Config, hooks: Any) -> Callable[..., Any]:
    """Returns the guards alone: a function of (fn, args, kwargs) that returns True, or `MISS` for what does not fit."""
    source = Source(traced.call, {
        "MISS": MISS, "state": state, "Tensor": Tensor, "default_generator": default_generator,
        "config": config, "scoped": config.scoped_value, "SETTINGS": settings, "HOOKS": hooks,
        "AUTOCAST": traced.call.autocast, "WATCHES": None,
    })  # fmt: skip
    with source.block("def fits(fn, args, kwargs):"):
        _write_tests(source, traced, PlaceWriter(source, traced.places))
        source.add("return True")
    exec(compile(str(source), SOURCE_NAME, "exec"), source.scope)
    return source.scope["fits"]


def _write_tests(source: Source, traced: Traced, places: PlaceWriter) -> None:
    source.miss_if(
        f"state.grad_enabled is not {traced.call.grad_enabled}",
        "(scoped() or config._default) is not SETTINGS and config.get() != SETTINGS",
    )
    source.miss_if("state.autocast is not AUTOCAST and state.autocast != AUTOCAST")
    if traced.needs_backward:  # else nothing is saved
        source.miss_if("state.saved_hooks is not HOOKS and state.saved_hooks != HOOKS")
    if source.scope["WATCHES"] is not None:  # else there is nothing to look at
        source.miss_if("(state.anomaly is not None and state.anomaly.check_nan) is not WATCHES")
    with source.block("try:"):
        write_guards(source, traced, places)
    with source.block("except (AttributeError, IndexError, KeyError, TypeError, ValueError):"):
        source.add("return MISS")


class _Writer:
    """Writes the source of one program's call."""

    def __init__(self, program: Program, writing: Any):
        self.program = program
        self.traced = program.traced
        self.source = Source(self.traced.call, {
            "MISS": MISS, "state": state, "threads": threads, "wrap": wrap,
            "Tensor": Tensor, "Storage": Storage, "History": History,
            "CompiledNode": CompiledNode, "history_edge": history_edge, "getrefcount": sys.getrefcount,
            "config": config, "scoped": config.scoped_value, "SETTINGS": program.key.settings,
            "HOOKS": program.key.hooks, "pack_arrays": pack_arrays, "version_of": version_of,
            "AUTOCAST": self.traced.call.autocast, "WATCHES": program.key.watches,
            "forward": program.forward, "forward_donated": program.forward_donated, "backward": program.backward,
            "OUT_TREE": self.traced.out_tree, "default_generator": default_generator, "HELD_ONCE": HELD_ONCE,
            "WRITING": writing, "TRACING": TRACING, "ref": weakref.ref, "counter_of": counter_of,
            "hold": hold, "release": release, "take": take,
            "WriteCounter": WriteCounter, "Refilled": Refilled, "DRAWING": DRAWING, "is_any_held": _is_any_held,
        })  # fmt: skip
        self.places = PlaceWriter(self.source, program.traced.places, program.donated_places)

    def write(self) -> str:
        source, changes_outside = self.source, self._changes_outside()
        walk = "" if self.program.links is None else ", walk"
        with source.block(f"def enter(fn, args, kwargs{walk}):"):
            if changes_outside:
                with source.block("with WRITING:"):
                    self._call(changes_outside)
            else:
                self._call(changes_outside)
        return str(source)

    def _changes_outside(self) -> bool:
        """Returns whether a call changes what was there before."""
        alias = self.traced.alias
        return bool(alias.writes or alias.changes or alias.grads or alias.bumps or self.traced.places.writes) or any(
            isinstance(h, HistoryOfNode) and h.tensor is not None for h in alias.histories
        )

    def _call(self, changes_outside: bool) -> None:
        source = self.source
        _write_tests(source, self.traced, self.places)
        if not changes_outside:
            self._run()
            self._write_back()
        else:
            written = "".join(f"{source.storage(write.storage)}, " for write in self.traced.alias.writes)
            source.add("held = []")
            with source.block("try:"):
                source.add(f"if threads.are_several: hold(({written}), TRACING, held)")
                self._run()
                with source.block("with TRACING:"):
                    self._write_back()
                    self.places.write_back()
            with source.block("finally:"):
                source.add(f"if held: release(({written}), held)")
        self._outputs()

    # -- running -------------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        source, program = self.source, self.program
        tensors = "".join(f"{source.tensor(i)}, " for i in range(len(self.traced.call.tensors)))
        if tensors:
            with source.block("if state.region is not None:"):
                source.add(f"state.region.{'note' if self._changes_outside() else 'watch'}(({tensors}))")
        draws = self._gather()
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
                for offset, generator, n in reversed(draws):
                    source.add(f"{generator}.give_back({offset}, {n})")
                source.add("raise")

    def _gather(self) -> list[tuple[str, str, int]]:
        """Finds an expression for each graph input; returns the variable, generator and number of each draw."""
        source, call = self.source, self.traced.call
        names = [f"{source.storage(i)}.array" for i, s in enumerate(call.storages) if s.graph_input is not None]
        names += ["None" if ghost.is_empty else f"{source.storage(ghost.storage)}.array" for ghost in call.ghosts]
        names += [f"leaves[{value.leaf}]" for value in call.values]
        names += [self.places.expressions[i] for i in sorted(self.places.expressions)]
        draws = []
        for i, use in enumerate(self.traced.rng.generators):
            generator = generator_name(source, use.path)
            draws.append((f"o{i}", generator, use.n_draws))
            if use.is_input:
                names += [f"{generator}._words", f"o{i}"]
        # the backward holds some of them as they are now
        kept = self.program.held_inputs
        elsewhere = {*empty_inputs(self.traced), *self._freed(), *self.places.expressions}
        for i in kept:
            if i not in elsewhere and names[i] not in self._drawn(draws):
                source.add(f"a{i} = {names[i]}")
                names[i] = f"a{i}"
        self.operands = names
        return draws

    def _freed(self) -> dict[int | None, FreedStorage]:
        """Returns the storages that lost what they held before the call, by the graph input that it is."""
        storages = self.traced.call.storages
        return {storages[f.storage].graph_input: f for f in self.traced.alias.freed if f.content is None}

    def _drawn(self, draws: list[tuple[str, str, int]]) -> set[str]:
        """Returns the operands that are there anyway: seeds and offsets."""
        return {name for offset, generator, _ in draws for name in (offset, f"{generator}._words")}

    def _execute(self) -> None:
        source, program = self.source, self.program
        passed = [name for name in self.operands if name != "None"]
        if not program.links:
            self._forward("out", passed)
            return
        source.add("results = walk.results")
        names = {link.segment: f"r{k}" for k, link in enumerate(program.links)}
        for k, link in enumerate(program.links):
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

        def text(value: ValueSource) -> str:
            if isinstance(value, FromInput):
                return passed[value.index]
            if value.segment == len(links):
                return f"last[{value.output}]"
            return f"r{value.segment}[{links[value.segment].positions[value.output]}]"

        links = program.links
        source.scope["PROGRAM"] = program
        if program.has_work:
            self._forward("last", [text(value) for value in program.inputs])
        source.add(f"out = [{', '.join(map(text, program.sources))}]")

    def _forward(self, target: str, arguments: Sequence[str]) -> None:
        source, program = self.source, self.program
        text = ", ".join(self.places.in_runs(arguments))
        if not program.donated and not program.donated_places:
            source.add(f"{target} = forward({text})")
            return
        tests = []
        for i in program.donated:
            name = source.storage(i)
            tests.append(f"{name}.is_shared and getrefcount({name}.array) > HELD_ONCE")
        picked = "".join(f"{source.storage(i)}, " for i in program.donated)
        if len(tests) > _MANY:
            tests = [f"is_any_held(({picked}))"]
        if tests:
            tests = [f"(not take(({picked})) if held else {' or '.join(tests)})"]
        if program.donated_places:
            tests.append(self.places.held())
        with source.block(f"if {' or '.join(tests)}:"):
            source.add(f"{target} = forward({text})")
        with source.block("else:"):
            source.add(f"{target} = forward_donated({text})")

    # -- writing back --------------------------------------------------------------------------------------------------

    def _write_back(self) -> None:
        source, alias, call = self.source, self.traced.alias, self.traced.call
        plan = None if self.program.partition is None else self.program.partition.plan
        if alias.differentiable:
            self._node(plan)
        is_shared = self._sharing(plan)
        kept_inputs = set(self.program.held_inputs)
        written = {w.storage for w in alias.writes}
        for i, storage in enumerate(call.storages):
            if not self.program.makes_fresh_outputs or (storage.graph_input in kept_inputs and i not in written):
                source.add(f"{source.storage(i)}.is_shared = True")
        self._writes(is_shared)
        for i, fresh in enumerate(alias.fresh):
            array = "None" if fresh.output is None else f"out[{fresh.output}]"
            source.add(f"f{i} = Storage({array}, {source.constant(fresh.layout)})")
            if fresh.n_written is not None:
                source.add(f"f{i}.n_written = {fresh.n_written}")
            if is_shared(fresh.output):
                source.add(f"f{i}.is_shared = True")
        self._counters()
        self._histories()
        for i, spec in enumerate(alias.made):
            source.add(f"m{i} = wrap({self._storage(spec.storage)}, {source.constant(spec.layout)}, {spec.offset})")
            self._fields(f"m{i}", spec, is_new=True)
        for i, history in enumerate(alias.histories):
            if isinstance(history, HistoryOfLeaf) and history.leaf is not None:
                source.add(f"g{i}.leaf = ref({self._tensor(history.leaf)})")
        for change in alias.changes:
            name = source.tensor(change.tensor)
            spec, tensor = change.spec, call.tensors[change.tensor]
            if (spec.storage, spec.layout, spec.offset) != (tensor.storage, tensor.layout, tensor.offset):
                source.add(f"{name}._storage = {self._storage(spec.storage)}")
                source.add(f"{name}._layout = {source.constant(spec.layout)}")
                source.add(f"{name}._offset = {spec.offset}")
            self._fields(name, spec, is_new=False)
        for grad in alias.grads:
            held = "None" if grad.grad is None else self._tensor(grad.grad)
            source.add(f"{source.tensor(grad.tensor)}._grad = {held}")
        if alias.differentiable and plan is not None:
            self._versions(plan)

    def _storage(self, number: int) -> str:
        """Returns the expression of a storage, of an input or fresh."""
        n = len(self.traced.call.storages)
        return self.source.storage(number) if number < n else f"f{number - n}"

    def _tensor(self, number: int) -> str:
        """Returns the expression of a tensor, an input or made."""
        n = len(self.traced.call.tensors)
        return self.source.tensor(number) if number < n else f"m{number - n}"

    def _sharing(self, plan: SavePlan | None) -> Callable[[int | None], bool]:
        """Returns what says whether a graph output is held by more than one storage."""
        alias = self.traced.alias
        holders: dict[int, int] = {}
        for item in (*alias.writes, *alias.fresh):
            if item.output is not None:
                holders[item.output] = holders.get(item.output, 0) + 1
        kept = {s.index for s in plan.residuals if isinstance(s, FromOutput)} if plan else set()
        kept |= {o.output for o in alias.outputs if isinstance(o, ArrayOutput)} | self.traced.places.outputs
        is_fresh = self.program.makes_fresh_outputs
        return lambda output: output is not None and (not is_fresh or holders[output] > 1 or output in kept)

    def _writes(self, is_shared: Callable[[int | None], bool]) -> None:
        """Swaps the values of written storages."""
        source, alias, storages = self.source, self.traced.alias, self.traced.call.storages
        for write in alias.writes:
            name = source.storage(write.storage)
            source.add(f"{name}.array = {'None' if write.output is None else f'out[{write.output}]'}")
            source.add(f"{name}.is_shared = {is_shared(write.output)}")
            if write.layout is not storages[write.storage].layout:
                source.add(f"{name}.layout = {source.constant(write.layout)}")
                source.add(f"{name}.n_written = {write.n_written!r}")

    def _counters(self) -> None:
        """Counts the writes, and makes the counters that made tensors share."""
        source, alias = self.source, self.traced.alias
        counts = {n for _, n in alias.bumps}
        if len(alias.bumps) > _MANY and len(counts) == 1:
            with source.block(f"for t in [{', '.join(source.tensor(tensor) for tensor, _ in alias.bumps)}]:"):
                source.add("c = t._counter")
                source.add("if c is None: c = t._counter = WriteCounter()")
                source.add(f"c.n += {counts.pop()}")
        else:
            for tensor, n in alias.bumps:
                source.add(f"counter_of({source.tensor(tensor)}).n += {n}")
        for i, origin in enumerate(alias.counters):
            is_inputs = isinstance(origin, CounterOfInput)
            made = f"counter_of({source.tensor(origin.tensor)})" if is_inputs else f"WriteCounter({origin.n})"
            source.add(f"c{i} = {made}")

    def _fields(self, name: str, spec: TensorSpec, is_new: bool) -> None:
        add = self.source.add
        if spec.history is not None or not is_new:
            add(f"{name}._history = {'None' if spec.history is None else f'g{spec.history}'}")
        if spec.base is not None or not is_new:
            add(f"{name}._base_tensor = {'None' if spec.base is None else self._tensor(spec.base)}")
        if spec.chain or not is_new:
            add(f"{name}._chain = {self.source.constant(spec.chain) if spec.chain else '()'}")
        if spec.counter is not None:
            add(f"{name}._counter = c{spec.counter}")
        if spec.creation is not None or not is_new:
            add(f"{name}._creation = {spec.creation!r}")
        if not is_new:
            add(f"{name}._view_parent = None")

    # -- gradients -----------------------------------------------------------------------------------------------------

    def _node(self, plan: SavePlan | None) -> None:
        """The tape's node; its edges are read before any history moves on."""
        source, traced, program = self.source, self.traced, self.program
        out_avals = traced.jaxpr.out_avals
        avals = source.constant([(tuple(out_avals[k].shape), out_avals[k].dtype) for k in traced.alias.differentiable])
        if plan is None or program.partition is None:
            source.add(f"node = CompiledNode((), None, [], {avals}, None)")
            return
        residuals: list[str] = []
        packed: dict[int, Any] = {}
        between = dict(zip(plan.packed_between, program.partition.hooks, strict=True))
        n_outputs = len(out_avals) - len(traced.alias.refills)
        freed, empty = self._freed(), empty_inputs(traced)
        for i, residual in enumerate(plan.residuals):
            if i in between:
                packed[len(residuals)] = between[i]
            match residual:
                case FromRefill(index):
                    residuals.append(self._refilled(traced.alias.refills[index]))
                case FromPrimal(index) if index in empty:
                    continue  # nothing depends on its value
                case FromPrimal(index) if index in freed:
                    residuals.append(self._refilled(freed[index]))
                case FromPrimal(index):
                    residuals.append(self.operands[index])
                case FromOutput(index):
                    residuals.append(f"out[{index}]")
                case FromForward(index):
                    residuals.append(f"out[{n_outputs + index}]")
        for index in program.second.extra if program.second is not None else ():
            residuals.append(self._refilled(freed[index]) if index in freed else self.operands[index])
        has_refills = any(text.startswith("Refilled(") for text in residuals)
        joint = program.partition.joint
        by_input = dict(traced.alias.reached)
        edges, bases = [], []
        for k, graph_input in enumerate(joint.differentiable_inputs):
            tensor = by_input[graph_input]
            is_unused = bool(joint.zero_gradients) and joint.zero_gradients[k]
            edges.append("None" if is_unused else f"history_edge({source.history(tensor)})")
            bases.append(self._base(tensor))
        apart = None
        if len(traced.alias.differentiable) > 1:
            reached = reached_inputs(traced.jaxpr)
            apart = outputs_apart([reached[k] for k in traced.alias.differentiable], joint.differentiable_inputs)
        types = [aval.dtype for aval in (*traced.jaxpr.in_avals, *out_avals)]
        has_complex = any(is_complex(dtype) for dtype in types)
        listed = lambda texts: f"({''.join(text + ', ' for text in texts)})"
        held = f"[{', '.join(residuals)}]"
        if packed:
            held = f"pack_arrays({held}, {source.constant(packed)})"
        cut = "None" if all(base == "None" for base in bases) else listed(bases)
        source.add(f"node = CompiledNode({listed(edges)}, backward, {held}, {avals}, "
                   f"{cut}, {has_complex}, {has_refills}, {source.constant(program.second)}, "
                   f"{source.constant(program.consuming)}, {source.constant(apart)})")  # fmt: skip

    def _versions(self, plan: SavePlan) -> None:
        """Notes how the tensors are whose values the backward needs; those that the call itself writes are not."""
        alias, call = self.traced.alias, self.traced.call
        written, freed = {w.storage for w in alias.writes}, self._freed()
        tensors, results = [], []
        for residual in plan.residuals:
            match residual:
                case FromPrimal(index):
                    tensors += [
                        self.source.tensor(storage.tensor)
                        for i, storage in enumerate(call.storages)
                        if storage.graph_input == index and i not in written and index not in freed
                    ]
                case FromOutput(index):
                    fresh = [len(call.storages) + i for i, storage in enumerate(alias.fresh) if storage.output == index]
                    shown = [f"m{i}" for i, spec in enumerate(alias.made) if spec.storage in fresh]
                    results += shown[:1]
        listed = [*(f"version_of({t})" for t in tensors), *(f"version_of({t}, True)" for t in results)]
        if listed:
            with self.source.block("if state.checks_versions:"):
                self.source.add(f"node.versions = ({', '.join(listed)},)")

    def _refilled(self, freed: FreedStorage) -> str:
        """Returns the expression for a residual that the backward reads from its storage."""
        call = self.traced.call
        name = call.tensors[call.storages[freed.storage].tensor].name
        return f"Refilled({self.source.storage(freed.storage)}, {self.source.constant(freed.layout)}, {name!r})"

    def _base(self, tensor: int) -> str:
        source, call = self.source, self.traced.call
        source.scope["base_of"] = _base_of
        storage = call.storages[call.tensors[tensor].storage]
        if not storage.nbytes:  # the gradient arrives as flat memory
            flat = contiguous((call.tensors[tensor].layout.numel,), storage.layout.dtype)
            return f"base_of({source.history(tensor)}, {source.constant(flat)})"
        if call.tensors[tensor].layout is storage.layout and call.tensors[tensor].is_leaf:
            return "None"
        return f"base_of({source.history(tensor)}, {source.constant(storage.layout)})"

    def _histories(self) -> None:
        add, constant, history = self.source.add, self.source.constant, self.source.history
        for i, origin in enumerate(self.traced.alias.histories):
            match origin:
                case HistoryOfInput(tensor):
                    add(f"g{i} = {history(tensor)}")
                    before = self.traced.call.tensors[tensor]
                    if not before.requires_grad:  # then whether it has one already is no matter
                        with self.source.block(f"if g{i} is None:"):
                            made = f"History({constant(before.layout)}, {before.offset})"
                            add(f"g{i} = {self.source.tensor(tensor)}._history = {made}")
                case HistoryOfNode(output, tensor, layout, offset):
                    if tensor is None:
                        add(f"g{i} = History({constant(layout)}, {offset}, True, node, {output})")
                    else:
                        add(f"g{i} = {history(tensor)}")
                        add(f"g{i}.move_on(node, {output})")
                case HistoryOfLeaf(requires_grad, layout, offset, _):
                    present = self._present(i, origin)
                    add(f"g{i} = {present}History({constant(layout)}, {offset}, {requires_grad})")

    def _present(self, number: int, origin: HistorySource) -> str:
        """Returns the beginning of an expression: the history that an input has, where one was only begun in the call.

        A tensor gets a history when the first view of it is taken; in a later call it may have one.
        """
        tensors = [change.tensor for change in self.traced.alias.changes if change.spec.history == number]
        if len(tensors) == 1 and isinstance(origin, HistoryOfLeaf) and not origin.requires_grad:
            before = self.traced.call.tensors[tensors[0]]
            if before.history is None and (before.layout, before.offset) == (origin.layout, origin.offset):
                return f"{self.source.history(tensors[0])} or "
        return ""

    # -- outputs -------------------------------------------------------------------------------------------------------

    def _outputs(self) -> None:
        source = self.source
        texts = []
        for output in self.traced.alias.outputs:
            if isinstance(output, ConstantOutput):
                texts.append("None" if output.value is None else source.constant(output.value))
            elif isinstance(output, OutsideObject):
                texts.append(source.path(output.path))
            elif isinstance(output, ArrayOutput):
                texts.append(f"out[{output.output}]")
            else:
                texts.append(self._tensor(output.tensor))
        tree = self.traced.out_tree
        if tree == jax.tree.structure(0):
            source.add(f"return {texts[0]}")
        elif tree == jax.tree.structure(tuple(range(len(texts)))):
            source.add(f"return ({''.join(t + ', ' for t in texts)})")
        elif tree == jax.tree.structure(list(range(len(texts)))):
            source.add(f"return [{', '.join(texts)}]")
        else:
            source.add(f"return OUT_TREE.unflatten([{', '.join(texts)}])")


def _is_any_held(storages: Sequence[Storage]) -> bool:
    """Returns whether the array of any storage is held by somebody else."""
    return any(s.is_shared and sys.getrefcount(s.array) > HELD_ONCE for s in storages)


def _base_of(history: Any, storage_layout: Any) -> Any:
    """Returns how the gradient of a history's base is cut out of that of its storage; None if they are the same."""
    if history.layout is storage_layout:
        return None
    return storage_layout, history.layout, history.offset
