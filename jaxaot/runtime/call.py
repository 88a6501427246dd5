"""Generates the straight-line Python of a call from the plans: guards, gathering, write-back, outputs.

What a call costs beside the executable is a headline figure, so the plans are not interpreted: each program gets a
function of its own. It returns `MISS` if the call does not fit the program, before anything is changed.
"""

from __future__ import annotations

import keyword
import sys
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxaot._jax import canonical_dtype
from jaxaot.autograd.modes import state
from jaxaot.config import Config
from jaxaot.config import get as get_config
from jaxaot.ops.promotion import is_complex
from jaxaot.plan.alias import ArrayOutput, ConstantOutput, CounterOfInput, HistoryOfInput, HistoryOfLeaf, HistoryOfNode
from jaxaot.plan.call import Path
from jaxaot.plan.places import OutsideObject
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal, FromRefill
from jaxaot.runtime.backward import CompiledNode, Refilled
from jaxaot.runtime.places import PlaceWriter
from jaxaot.runtime.program import Program, empty_inputs
from jaxaot.tensor.cells import is_leaf
from jaxaot.tensor.counter import WriteCounter, counter_of
from jaxaot.tensor.generator import default_generator
from jaxaot.tensor.history import History
from jaxaot.tensor.storage import HELD_ONCE, Storage
from jaxaot.tensor.tensor import Tensor, history_edge, wrap
from jaxaot.views.layout import contiguous

MISS: Any = type("Miss", (), {"__repr__": lambda self: "MISS"})()
"""What a program returns for a call that does not fit it."""


def generate(program: Program, config_value: Config) -> None:
    """Gives a program its `enter(fn, args, kwargs)`."""
    writer = _Writer(program, config_value)
    program.source = writer.source()
    exec(compile(program.source, "<jaxaot call>", "exec"), writer.scope)
    program.enter = writer.scope["enter"]


class _Writer:
    """Writes the source of one program's call."""

    def __init__(self, program: Program, config_value: Config):
        self.program = program
        self.traced = program.traced
        self.lines: list[str] = []
        self.has_refills = False
        self.names: dict[Path, str] = {}
        self.places = PlaceWriter(self, program)
        self.scope: dict[str, Any] = {
            "MISS": MISS, "state": state, "Tensor": Tensor, "Storage": Storage, "History": History, "wrap": wrap,
            "CompiledNode": CompiledNode, "history_edge": history_edge, "getrefcount": sys.getrefcount,
            "get_config": get_config, "CONFIG": config_value, "forward": program.forward,
            "forward_donated": program.forward_donated, "backward": program.backward, "program": program,
            "flatten": jax.tree.flatten, "is_leaf": is_leaf, "TREE": self.traced.in_tree,
            "OUT_TREE": self.traced.out_tree, "default_generator": default_generator, "HELD_ONCE": HELD_ONCE,
        }  # fmt: skip

    def add(self, line: str, depth: int = 1) -> None:
        self.lines.append("    " * depth + line)

    def constant(self, value: Any) -> str:
        name = f"K{len(self.scope)}"
        self.scope[name] = value
        return name

    def path(self, path: Path, depth: int = 2) -> str:
        """Returns the name of the local variable that holds what a path leads to."""
        if path in self.names:
            return self.names[path]
        if path[-1][0] == "root":
            return path[-1][1]
        text = self.step(self.path(path[:-1], depth), path[-1])
        name = self.names[path] = f"p{len(self.names)}"
        self.add(f"{name} = {text}", depth)
        return name

    def step(self, parent: str, step: tuple[str, Any]) -> str:
        """Returns the expression that takes one step of a path."""
        kind, key = step
        match kind:
            case "attr":
                plain = key.isidentifier() and not keyword.iskeyword(key)
                return f"{parent}.{key}" if plain else f"{parent}.__dict__[{key!r}]"
            case "item":
                return f"{parent}[{key!r}]" if type(key) in (str, int, bool) else f"{parent}[{self.constant(key)}]"
            case "closure":
                return f"{parent}.__closure__[{key[0]}].cell_contents"
            case "global":
                return f"{parent}.__globals__[{key!r}]"
            case "type":
                return f"type({parent})"
            case _:
                self.scope["unwrap"] = _unwrap
                return f"unwrap({parent}.__dict__[{key!r}])"

    def source(self) -> str:
        call = self.traced.call
        self.lines.append("def enter(fn, args, kwargs):")
        self.add(f"if state.grad_enabled is not {call.grad_enabled}: return MISS")
        self.add("config = get_config()")
        self.add("if config is not CONFIG and config != CONFIG: return MISS")
        self.add("try:")
        self._guards()
        self.add("except (AttributeError, IndexError, KeyError, TypeError, ValueError):")
        self.add("return MISS", 2)
        self._run()
        self._write_back()
        self.places.write_back()
        self._outputs()
        return "\n".join(self.lines) + "\n"

    def _guards(self) -> None:
        call = self.traced.call
        depth = 2
        children = self.traced.in_tree.children()
        is_flat = (
            not self.traced.in_tree.children()[1].num_leaves
            and children[0].num_leaves == children[0].num_nodes - 1
            and children[0].num_leaves == call.n_leaves
        )
        if is_flat:
            self.add(f"if len(args) != {call.n_leaves} or kwargs: return MISS", depth)
            self.add("leaves = args", depth)
        else:
            self.add("leaves, tree = flatten((args, kwargs), is_leaf)", depth)
            self.add("if tree != TREE: return MISS", depth)
        for leaf, value in call.statics:
            if value is None:
                self.add(f"if leaves[{leaf}] is not None: return MISS", depth)
            else:
                kind, name = self.constant(type(value)), self.constant(value)
                self.add(f"if type(leaves[{leaf}]) is not {kind} or leaves[{leaf}] != {name}: return MISS", depth)
        for value in call.values:
            if value.number_type is not None:
                self.add(f"if type(leaves[{value.leaf}]) is not {value.number_type.__name__}: return MISS", depth)
            else:
                name = self.constant(value.dtype)
                canonical = self.constant(canonical_dtype)
                leaf = f"leaves[{value.leaf}]"
                self.add(
                    f"if {leaf}.shape != {value.shape!r} or isinstance({leaf}, Tensor) or "
                    f"{leaf}.dtype != {name} and {canonical}({leaf}.dtype) != {name}: return MISS",
                    depth,
                )
        tensors = call.tensors
        direct = [(("root", "args"), ("item", i)) for i in range(len(tensors))]
        if is_flat and len(tensors) == call.n_leaves > 4 and [t.path for t in tensors] == direct:
            self.add("T = args", depth)
        else:
            self.add(f"T = [{', '.join([self.path(t.path, depth) for t in tensors])}]", depth)
        if not tensors:
            self.add("U = []", depth)
        elif len(tensors) <= 4:
            self._few_tensors(depth)
        else:
            self._many_tensors(depth)
        for i, t in enumerate(tensors):
            first = call.storages[t.storage].tensor if t.storage >= 0 else i
            if first != i:
                self.add(f"if S[{i}] is not S[{first}]: return MISS", depth)
                if t.counter is not None:  # writes are counted for each family of tensors
                    same = t.counter == tensors[first].counter
                    self.add(f"if (T[{i}]._counter is T[{first}]._counter) is not {same}: return MISS", depth)
                if t.requires_grad and tensors[first].requires_grad:
                    same = t.history == tensors[first].history
                    self.add(f"if (H[{i}] is H[{first}]) is not {same}: return MISS", depth)
        for plain in call.attributes:
            parent = self.path(plain.path, depth)
            self.plain_guard([self.step(parent, step) for step in plain.steps], plain.values, depth)
        self.places.guards(depth)
        for guard in call.grads:
            if guard.is_none:
                self.add(f"if T[{guard.tensor}]._grad is not None: return MISS", depth)

    def plain_guard(self, texts: Sequence[str], values: Sequence[Any], depth: int) -> None:
        """Tests that expressions have these values; 1, 1.0 and True are different ones."""
        is_number = [isinstance(value, (bool, int, float, complex, np.generic)) for value in values]
        for wanted in (False, True):
            chosen = [i for i, number in enumerate(is_number) if number is wanted]
            if chosen:
                self.add(f"V = ({''.join(texts[i] + ', ' for i in chosen)})", depth)
                types = self.constant([type(values[i]) for i in chosen])
                is_other = f" or [*map(type, V)] != {types}" if wanted else ""
                expected = self.constant(tuple(values[i] for i in chosen))
                self.add(f"if V != {expected}{is_other}: return MISS", depth)

    def _few_tensors(self, depth: int) -> None:
        """Guards written out, which is faster than comprehensions for a few tensors."""
        tensors, storages = self.traced.call.tensors, self.traced.call.storages
        for i, t in enumerate(tensors):
            self.add(f"t{i} = T[{i}]; h{i} = t{i}._history; s{i} = t{i}._storage", depth)
            tests = [f"t{i}._layout is not {self.constant(t.layout)}"]
            if t.storage < 0 or t.layout is not storages[t.storage].layout:
                tests.append(f"t{i}._offset != {t.offset}")
            if not t.requires_grad:
                tests.append(f"h{i} is not None and h{i}.requires_grad")
            else:
                leaf = "" if t.is_leaf else "not "
                tests.append(f"h{i} is None or not h{i}.requires_grad")
                tests.append(f"not {leaf}(h{i}.node is None and not t{i}._chain)")
            self.add(f"if {' or '.join(tests)}: return MISS", depth)
        self.add(f"H = [{', '.join(f'h{i}' for i in range(len(tensors)))}]", depth)
        self.add(f"S = [{', '.join(f's{i}' for i in range(len(tensors)))}]", depth)
        self.add(f"U = [{', '.join(f's{s.tensor}' for s in storages)}]", depth)
        for i, s in enumerate(storages):
            tests = [f"s{s.tensor}.layout is not {self.constant(s.layout)}"]
            tests += [f"s{s.tensor} is s{other.tensor}" for other in storages[:i]]
            self.add(f"if {' or '.join(tests)}: return MISS", depth)

    def _many_tensors(self, depth: int) -> None:
        tensors, storages = self.traced.call.tensors, self.traced.call.storages
        self.add(f"if [t._layout for t in T] != {self.constant([t.layout for t in tensors])}: return MISS", depth)
        if not all(t.storage >= 0 and t.layout is storages[t.storage].layout for t in tensors):
            self.add(f"if [t._offset for t in T] != {self.constant([t.offset for t in tensors])}: return MISS", depth)
        self.add("H = [t._history for t in T]", depth)
        codes = [0 if not t.requires_grad else 1 if t.is_leaf else 2 for t in tensors]
        compute = (
            "[0 if h is None or not h.requires_grad else 1 if h.node is None and not t._chain else 2 "
            "for t, h in zip(T, H)]"
        )
        none = "" if any(codes) else f"H != {self.constant([None] * len(codes))} and "
        self.add(f"if {none}{compute} != {self.constant(codes)}: return MISS", depth)
        self.add("S = [t._storage for t in T]", depth)
        if len(storages) == len(tensors) and all(s.tensor == i for i, s in enumerate(storages)):
            self.add("U = S", depth)
        else:
            self.add(f"U = [{', '.join(f'S[{s.tensor}]' for s in storages)}]", depth)
        if len(storages) > 1:
            self.add(f"if len({{*U}}) != {len(storages)}: return MISS", depth)
        self.add(f"if [s.layout for s in U] != {self.constant([s.layout for s in storages])}: return MISS", depth)

    def _run(self) -> None:
        call, program = self.traced.call, self.program
        operands = [f"U[{i}].array" for i, s in enumerate(call.storages) if s.graph_input is not None]
        if len(operands) == len(call.storages) > 6:
            operands = ["*[s.array for s in U]"]
        operands += ["None" if g.is_empty else f"U[{g.storage}].array" for g in call.ghosts]
        operands += [f"leaves[{v.leaf}]" for v in call.values]
        operands += self.places.operands()
        for use in self.traced.rng.generators:
            generator = "default_generator" if use.path is None else self.path(use.path, 1)
            if use.is_input:
                operands += [f"{generator}._words", f"{generator}.offset_word()"]
        needs_inputs = program.partition is not None
        if needs_inputs:
            self.add(f"arrays = [{', '.join(operands)}]")
            operands = ["*arrays"]
        if any(g.is_empty for g in call.ghosts):
            operands = [f"*[a for a in ({', '.join(operands)},) if a is not None]"]
        text = ", ".join(operands)
        if program.donated or program.donated_places:
            self._run_donated(text, needs_inputs)
        else:
            self.add(f"out = forward({text})")
        for use in self.traced.rng.generators:
            generator = "default_generator" if use.path is None else self.names[use.path]
            self.add(f"{generator}.offset += {use.n_draws}")

    def _run_donated(self, text: str, needs_inputs: bool) -> None:
        """Donates what is written, unless somebody else holds one of the arrays."""
        program, call = self.program, self.traced.call
        tests = [self._held(i, needs_inputs) for i in program.donated]
        if len(tests) > 4:
            everything = program.donated == tuple(range(len(call.storages)))
            picked = "U" if everything else f"[{', '.join(f'U[{i}]' for i in program.donated)}]"
            limit = "HELD_ONCE + 1" if needs_inputs else "HELD_ONCE"
            self.add("is_held = False")
            self.add(f"for s in {picked}:")
            self.add(f"if s.is_shared and getrefcount(s.array) > {limit}:", 2)
            self.add("is_held = True", 3)
            self.add("break", 3)
            tests = ["is_held"]
        if program.donated_places:
            tests.append(self.places.held(needs_inputs))
        self.add(f"if {' or '.join(tests)}:")
        self.add(f"out = forward({text})", 2)
        self.add("else:")
        self.add(f"out = forward_donated({text})", 2)

    def _held(self, storage: int, arrays_held: bool) -> str:
        limit = "HELD_ONCE + 1" if arrays_held else "HELD_ONCE"
        return f"(U[{storage}].is_shared and getrefcount(U[{storage}].array) > {limit})"

    def _write_back(self) -> None:
        alias, call, program = self.traced.alias, self.traced.call, self.program
        plan = None if program.partition is None else program.partition.plan
        has_node = bool(alias.differentiable)
        if has_node:
            self._node(plan)
        holders: dict[int, int] = {}
        for item in (*alias.writes, *alias.fresh):
            if item.output is not None:
                holders[item.output] = holders.get(item.output, 0) + 1
        kept_outputs = {s.index for s in plan.residuals if isinstance(s, FromOutput)} if plan else set()
        kept_inputs = {s.index for s in plan.residuals if isinstance(s, FromPrimal)} if plan else set()
        arrays = {o.output for o in alias.outputs if isinstance(o, ArrayOutput)} | self.traced.places.outputs
        is_shared = lambda output: (
            output is not None
            and (not program.makes_fresh_outputs or holders[output] > 1 or output in kept_outputs or output in arrays)
        )
        written = {w.storage for w in alias.writes}
        for i, storage in enumerate(call.storages):
            if not program.makes_fresh_outputs or (storage.graph_input in kept_inputs and i not in written):
                self.add(f"U[{i}].is_shared = True")
        simple = [
            w
            for w in alias.writes
            if w.output is not None and w.layout is call.storages[w.storage].layout and not is_shared(w.output)
        ]
        if len(simple) > 6:
            targets, news = (", ".join(f"{n}[{i}]" for i in places) for n, places in (
                ("U", [w.storage for w in simple]), ("out", [w.output for w in simple]),
            ))  # fmt: skip
            self.add(f"for s, value in zip([{targets}], [{news}]):")
            self.add("s.array = value", 2)
            self.add("s.is_shared = False", 2)
        else:
            simple = []
        for write in alias.writes:
            if write in simple:
                continue
            name = f"U[{write.storage}]"
            self.add(f"s = {name}")
            self.add(f"s.array = {'None' if write.output is None else f'out[{write.output}]'}")
            self.add(f"s.is_shared = {is_shared(write.output)}")
            if write.layout is not call.storages[write.storage].layout:
                self.add(f"s.layout = {self.constant(write.layout)}")
                self.add(f"s.n_written = {write.n_written!r}")
        n_storages, n_tensors = len(call.storages), len(call.tensors)
        for i, fresh in enumerate(alias.fresh):
            array = "None" if fresh.output is None else f"out[{fresh.output}]"
            self.add(f"f{i} = Storage({array}, {self.constant(fresh.layout)})")
            if fresh.n_written is not None:
                self.add(f"f{i}.n_written = {fresh.n_written}")
            if is_shared(fresh.output):
                self.add(f"f{i}.is_shared = True")
        self.storage_name = lambda s: f"U[{s}]" if s < n_storages else f"f{s - n_storages}"
        self.tensor_name = lambda t: f"T[{t}]" if t < n_tensors else f"m{t - n_tensors}"
        self._counters()
        self._histories()
        for i, spec in enumerate(alias.made):
            self.add(f"m{i} = wrap({self.storage_name(spec.storage)}, {self.constant(spec.layout)}, {spec.offset})")
            self._fields(f"m{i}", spec, is_new=True)
        for i, history in enumerate(alias.histories):
            if isinstance(history, HistoryOfLeaf) and history.leaf is not None:
                self.scope.setdefault("ref", __import__("weakref").ref)
                self.add(f"g{i}.leaf = ref({self.tensor_name(history.leaf)})")
        for change in alias.changes:
            name = f"T[{change.tensor}]"
            spec, tensor = change.spec, call.tensors[change.tensor]
            if (spec.storage, spec.layout, spec.offset) != (tensor.storage, tensor.layout, tensor.offset):
                self.add(f"{name}._storage = {self.storage_name(spec.storage)}")
                self.add(f"{name}._layout = {self.constant(spec.layout)}")
                self.add(f"{name}._offset = {spec.offset}")
            self._fields(name, spec, is_new=False)
        for grad in alias.grads:
            self.add(f"T[{grad.tensor}]._grad = {'None' if grad.grad is None else self.tensor_name(grad.grad)}")

    def _counters(self) -> None:
        """Counts the writes, and makes the counters that made tensors share."""
        alias = self.traced.alias
        self.scope["counter_of"], self.scope["WriteCounter"] = counter_of, WriteCounter
        counts = {n for _, n in alias.bumps}
        if len(alias.bumps) > 6 and len(counts) == 1:
            self.add(f"for t in [{', '.join(f'T[{tensor}]' for tensor, _ in alias.bumps)}]:")
            self.add("c = t._counter", 2)
            self.add("if c is None: c = t._counter = WriteCounter()", 2)
            self.add(f"c.n += {counts.pop()}", 2)
        else:
            for tensor, n in alias.bumps:
                self.add(f"counter_of(T[{tensor}]).n += {n}")
        for i, source in enumerate(alias.counters):
            made = (
                f"counter_of(T[{source.tensor}])" if isinstance(source, CounterOfInput) else f"WriteCounter({source.n})"
            )
            self.add(f"c{i} = {made}")

    def _fields(self, name: str, spec: Any, is_new: bool) -> None:
        if spec.history is not None or not is_new:
            self.add(f"{name}._history = {'None' if spec.history is None else f'g{spec.history}'}")
        if spec.base is not None or not is_new:
            self.add(f"{name}._base_tensor = {'None' if spec.base is None else self.tensor_name(spec.base)}")
        if spec.chain or not is_new:
            self.add(f"{name}._chain = {self.constant(spec.chain) if spec.chain else '()'}")
        if spec.counter is not None:
            self.add(f"{name}._counter = c{spec.counter}")
        if spec.creation is not None or not is_new:
            self.add(f"{name}._creation = {spec.creation!r}")
        if not is_new:
            self.add(f"{name}._view_node = None")

    def _node(self, plan: Any) -> None:
        """The tape's node; its edges are read before any history moves on."""
        traced, program = self.traced, self.program
        n_outputs = len(traced.jaxpr.out_avals) - len(traced.alias.refills)
        avals = [(tuple(a.shape), a.dtype) for a in (traced.jaxpr.out_avals[k] for k in traced.alias.differentiable)]
        if plan is None:
            self.add(f"node = CompiledNode((), None, [], {self.constant(avals)}, ())")
            return
        residuals = []
        refills, empty = traced.alias.refills, empty_inputs(traced)
        freed = {traced.call.storages[f.storage].graph_input: f for f in traced.alias.freed if f.content is None}
        for source in plan.residuals:
            match source:
                case FromRefill(index):
                    residuals.append(self._refilled(refills[index]))
                case FromPrimal(index) if index in empty:
                    continue  # nothing depends on its value
                case FromPrimal(index) if index in freed:
                    residuals.append(self._refilled(freed[index]))
                case FromPrimal(index):
                    residuals.append(f"arrays[{index}]")
                case FromOutput(index):
                    residuals.append(f"out[{index}]")
                case FromForward(index):
                    residuals.append(f"out[{n_outputs + index}]")
        zero = program.partition.joint.zero_gradients if program.partition is not None else ()
        edges, bases = [], []
        by_input = dict(traced.alias.reached)
        order = program.partition.joint.differentiable_inputs if program.partition is not None else ()
        for k, graph_input in enumerate(order):
            tensor = by_input[graph_input]
            unused = bool(zero) and zero[k]
            edges.append("None" if unused else f"history_edge(H[{tensor}])")
            bases.append(self._base(tensor))
        types = [aval.dtype for aval in (*traced.jaxpr.in_avals, *traced.jaxpr.out_avals)]
        has_complex = any(is_complex(dtype) for dtype in types)
        tuple_of = lambda texts: f"({''.join(text + ', ' for text in texts)})"
        self.add(f"node = CompiledNode({tuple_of(edges)}, backward, [{', '.join(residuals)}], {self.constant(avals)}, "
                 f"{tuple_of(bases)}, {has_complex}, {self.has_refills})")  # fmt: skip

    def _refilled(self, freed: Any) -> str:
        """Returns the expression for a residual that the backward reads from its storage."""
        self.scope["Refilled"] = Refilled
        call = self.traced.call
        name = call.tensors[call.storages[freed.storage].tensor].name
        self.has_refills = True
        return f"Refilled(U[{freed.storage}], {self.constant(freed.layout)}, {name!r})"

    def _base(self, tensor: int) -> str:
        self.scope["base_of"] = _base_of
        call = self.traced.call
        storage = call.storages[call.tensors[tensor].storage]
        if not storage.nbytes:  # the gradient arrives as flat memory
            flat = contiguous((call.tensors[tensor].layout.numel,), storage.layout.dtype)
            return f"base_of(H[{tensor}], {self.constant(flat)})"
        if call.tensors[tensor].layout is storage.layout and call.tensors[tensor].is_leaf:
            return "None"
        return f"base_of(H[{tensor}], {self.constant(storage.layout)})"

    def _histories(self) -> None:
        for i, source in enumerate(self.traced.alias.histories):
            match source:
                case HistoryOfInput(tensor):
                    self.add(f"g{i} = H[{tensor}]")
                case HistoryOfNode(output, tensor, layout, offset):
                    if tensor is None:
                        self.add(f"g{i} = History({self.constant(layout)}, {offset}, True, node, {output})")
                    else:
                        self.add(f"g{i} = H[{tensor}]")
                        self.add(f"g{i}.node, g{i}.index, g{i}.requires_grad = node, {output}, True")
                        self.add(f"g{i}.accumulator = None")
                case HistoryOfLeaf(requires_grad, layout, offset, _):
                    self.add(f"g{i} = History({self.constant(layout)}, {offset}, {requires_grad})")

    def _outputs(self) -> None:
        texts = []
        for source in self.traced.alias.outputs:
            if isinstance(source, ConstantOutput):
                texts.append("None" if source.value is None else self.constant(source.value))
            elif isinstance(source, ArrayOutput):
                texts.append(f"out[{source.output}]")
            elif isinstance(source, OutsideObject):
                texts.append(self.path(source.path, 1))
            else:
                texts.append(self.tensor_name(source.tensor))
        tree = self.traced.out_tree
        if tree == jax.tree.structure(0):
            self.add(f"return {texts[0]}")
        elif tree == jax.tree.structure(tuple(range(len(texts)))):
            self.add(f"return ({''.join(t + ', ' for t in texts)})")
        elif tree == jax.tree.structure(list(range(len(texts)))):
            self.add(f"return [{', '.join(texts)}]")
        else:
            self.add(f"return OUT_TREE.unflatten([{', '.join(texts)}])")


def _base_of(history: Any, storage_layout: Any) -> Any:
    """Returns how the gradient of a history's base is cut out of that of its storage; None if they are the same."""
    if history.layout is storage_layout:
        return None
    return storage_layout, history.layout, history.offset


def _unwrap(member: Any) -> Any:
    if isinstance(member, (staticmethod, classmethod)):
        return member.__func__
    return member.fget if isinstance(member, property) else member
