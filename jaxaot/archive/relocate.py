"""The plans of a call as an archive holds them: what the function reached lies in the state.

Paths that lead from the function, through closures, globals and attributes, are replaced by the names of what they lead
to. Guards on the function's own Python are left out: that code is not there any more, and the graph is what it did.
What a process without the source could not do is refused here, all of it at once.

    fn.__globals__['model'].layers[0].weight   →   fn['model.layers.0.weight']
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxaot.archive.codec import may_hold
from jaxaot.archive.readers import TYPES, is_inner, tree_to_json
from jaxaot.archive.state import StateWriter
from jaxaot.errors import ExportError
from jaxaot.facade.cells.cells import cell_kinds, is_object
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.plan import alias, guards, members, world
from jaxaot.plan.call import CallPlan, TensorInput
from jaxaot.plan.cells import ArrayInput, CellInput, PlacePlan
from jaxaot.plan.number_program import ReadNumber
from jaxaot.plan.paths import ObjectKey, Path, follow, path_text
from jaxaot.plan.stages import Traced
from jaxaot.runtime.world import SINGLE

_HELD = ("attr", "__wrapped__")
"""From what stands for a tensor, `readers.TRANSPARENT`, to the tensor, which is in its place in the archive."""
_GRAD, _BASE = ("attr", "_grad"), ("attr", "_base_tensor")
_HIDDEN = {"_parameters", "_buffers", "_modules", "__self__", "__func__", "__wrapped__", "_value", "raw_value"}
"""Steps that no user has written."""
_KEPT = frozenset({"mark", "_is_view", "is_inference", "grad_fn", "retains_grad"})
"""What tensors of a state say where they are loaded as they did where they were exported."""
_PLAIN = (bool, int, float, complex, str, type(None), np.dtype)


def is_of_arguments(path: Path) -> bool:
    """Returns whether a path leads to an argument, or an item of one, or the base or `.grad` of one."""
    root, *steps = path
    while steps and steps[-1] in (_GRAD, _BASE):
        steps.pop()
    return root[1] in ("args", "kwargs") and all(
        (kind == "item" and type(key) in (str, int)) or is_inner((kind, key)) or (kind, key) == _HELD
        for kind, key in steps
    )


def relocate(traced: Traced, starts: Sequence[tuple[Path, Any]], leaves: Sequence[Any], state: StateWriter) -> Traced:
    """Returns a traced function whose plans an archive can hold.

    Raises:
      ExportError: If it does something that needs its source, with all reasons.
    """
    return _Mover(traced, starts, leaves, state).moved()


class _Mover:
    def __init__(self, traced: Traced, starts: Sequence[tuple[Path, Any]], leaves: Sequence[Any], state: StateWriter):
        self.traced = traced
        self.starts = starts
        self.leaves = leaves
        self.state = state
        self.problems: list[str] = []
        self.tensors = [follow(starts, tensor.path) for tensor in traced.call.tensors]
        self.path_of = {id(tensor): t.path for tensor, t in zip(self.tensors, traced.call.tensors, strict=True)}
        self.held: dict[Path, Path] = {}  # where a thing was found → where it is found in the archive

    def moved(self) -> Traced:
        traced = self.traced
        self._require_arguments()
        call = self._call(traced.call)
        places = self._places(traced.places)
        uses = tuple(
            use if use.path is None else dataclasses.replace(use, path=self._generator(use.path))
            for use in traced.rng.generators
        )
        made = tuple(map(self._made, traced.world.made))
        writes = tuple(write for w in traced.world.writes if (write := self._write(w)) is not None)
        for tree in (traced.in_tree, traced.out_tree):
            try:
                tree_to_json(tree)
            except ExportError as error:
                self.problems.append(str(error))
        outputs = tuple(map(self._output, traced.alias.outputs))
        if traced.alias.refills:
            self.problems.append("a storage is freed that the backward needs, and filled again by a hook")
        if self.problems:
            listed = "\n".join(f"  - {problem}" for problem in dict.fromkeys(self.problems))
            raise ExportError(f"A process without the source of this function could not call it:\n{listed}")
        return dataclasses.replace(
            traced, call=call, places=places, rng=dataclasses.replace(traced.rng, generators=uses), events=(),
            world=dataclasses.replace(traced.world, made=made, writes=writes),
            alias=dataclasses.replace(traced.alias, outputs=outputs),
        )  # fmt: skip

    # -- what is reached -----------------------------------------------------------------------------------------------

    def _require_arguments(self) -> None:
        for leaf in self.leaves:
            if is_object(leaf):
                name = type(leaf).__name__
                self.problems.append(
                    f"an argument is a {name}, whose class is not there. Have the function reach it instead: "
                    f"`ja.export(lambda x: f(the_{name.lower()}, x), x)`"
                )
        for static in self.traced.call.statics:
            condition = static.condition
            is_plain = isinstance(condition, guards.EqualTo) and isinstance(condition.value, _PLAIN)
            is_kept = isinstance(condition, guards.HasType) and condition.cls in (Generator, int, float, complex)
            if not (is_plain or is_kept):
                self.problems.append(
                    f"an argument is {condition.words(_Names())}, which is no tensor, array, number or string: have "
                    "the function reach it instead"
                )

    def _name(self, path: Path) -> str:
        """Returns a name for what a path leads to, from its steps."""
        texts: list[str] = []
        for kind, key in path[1:]:
            if kind == "key" and isinstance(key, ObjectKey):
                known = self.path_of.get(id(key()))
                key = "object" if known is None else self._name(known)
            elif kind == "closure":
                key = key[1]
            elif kind not in ("attr", "item", "global", "variable"):
                continue
            if key not in _HIDDEN:
                texts.append({"_grad": "grad", "_base_tensor": "base"}.get(key, str(key)))
        return ".".join(texts) or "value"

    def _moved(self, path: Path) -> Path:
        """Returns where the tensor, array or generator at a path is found in the archive."""
        if is_of_arguments(path):
            return tuple(step for step in path if step != _HELD)
        if path not in self.held:
            name = self.state.name(follow(self.starts, path), self._name(path))
            if path[-2:-1] == (("attr", "_buffers"),):
                module: Any = follow(self.starts, path[:-2])
                if path[-1][1] in getattr(module, "_non_persistent_buffers_set", ()):
                    self.state.transient.add(name)
            moved = self._in_state(name)
            owner: Any = follow(self.starts, path[:-1]) if path[-1] == _GRAD else None
            if id(owner) in self.path_of:
                moved = (*self._moved(self.path_of[id(owner)]), _GRAD)
                self.state.note_grad(owner)
            self.held[path] = moved
        return self.held[path]

    def _in_state(self, name: str) -> Path:
        return (("root", "fn"), ("item", name))

    def _generator(self, path: Path) -> Path:
        if not isinstance(follow(self.starts, path), Generator):
            self.problems.append(f"`{path_text(path)}` is no Generator")
        return self._moved(path)

    def _number(self, path: Path) -> Path:
        """Returns where a number of Python is found."""
        if is_of_arguments(path):
            return path
        name = self._name(path)
        self.state.put(name, follow(self.starts, path))
        return self._in_state(name)

    # -- the call ------------------------------------------------------------------------------------------------------

    def _call(self, call: CallPlan) -> CallPlan:
        tensors = tuple(map(self._tensor, call.tensors))
        self._require_apart(call)
        for guard in call.grads:
            tensor = self.tensors[guard.tensor]
            if not guard.is_none and self.state.has(tensor):
                self.state.note_grad(tensor)
        self._require_grads_as_before(call)
        read = (
            dataclasses.replace(n, path=self._number(n.path)) if isinstance(n, ReadNumber) else n
            for n in call.numbers.numbers
        )
        numbers = dataclasses.replace(call.numbers, numbers=tuple(read))
        if call.autocast is not None:
            self.problems.append("it is exported under `ja.autocast`: enter that in the function")
        python = tuple(dataclasses.replace(guard, line=None) for guard in call.python if self._is_kept(guard))
        return dataclasses.replace(call, tensors=tensors, numbers=numbers, python=python, autocast=None)

    def _tensor(self, tensor: TensorInput) -> TensorInput:
        if tensor.hooks:
            self.problems.append(f"`{tensor.name}` has hooks on its gradient, which are functions")
        return dataclasses.replace(tensor, path=self._moved(tensor.path), hooks=None if tensor.hooks is None else ())

    def _require_apart(self, call: CallPlan) -> None:
        """Notes arguments that share memory with the state, which is made anew where the archive is loaded."""
        users: dict[int, dict[bool, str]] = {}
        for tensor in call.tensors:
            if tensor.storage >= 0:
                users.setdefault(tensor.storage, {}).setdefault(is_of_arguments(tensor.path), tensor.name)
        for names in users.values():
            if len(names) == 2:
                self.problems.append(
                    f"the argument `{names[True]}` shares memory with `{names[False]}`, which it reaches. Pass both or "
                    "reach both"
                )

    def _require_grads_as_before(self, call: CallPlan) -> None:
        """Notes tensors of the state whose `.grad` a second call would not find as the first one did."""
        after = {change.tensor: change.grad is None for change in self.traced.alias.grads}
        changed = [
            call.tensors[guard.tensor].name
            for guard in call.grads
            if self.state.has(self.tensors[guard.tensor]) and after.get(guard.tensor, guard.is_none) != guard.is_none
        ]
        if changed:
            more = f" and of {len(changed) - 1} more" if len(changed) > 1 else ""
            self.problems.append(
                f"it finds the `.grad` of `{changed[0]}`{more} to be None, or not, and leaves it the other way, so "
                "that its second call is another one. Call the function once before it is exported, or end it with "
                "`optimizer.zero_grad()`"
            )

    def _is_kept(self, guard: guards.PythonGuard) -> bool:
        """Returns whether a guard is one on containers of the arguments, not on the function's own Python."""
        condition, is_of_call = guard.condition, is_of_arguments(guard.path)
        if isinstance(condition, guards.Answers) and (is_of_call or condition.fact not in _KEPT):
            self.problems.append(
                f"it asks for the `{condition.fact}` of `{path_text(guard.path)}`, which an archive does not keep"
            )
        if guard.path[0][1] == "fn":
            self._require_unchanged(guard)
            return False
        if isinstance(condition, guards.IsHeldWeakly):
            self.problems.append(f"`{path_text(guard.path)}` is an object, known by its identity")
        return is_of_call and self._may_be_kept(condition)

    def _may_be_kept(self, condition: guards.Condition) -> bool:
        match condition:
            case guards.EqualTo(value):
                return isinstance(value, _PLAIN)
            case guards.HasType(cls):
                return cls in TYPES.values()
            case guards.HasKeys(keys):
                return all(type(key) in (str, int) for key in keys)
            case guards.IsAlsoAt(path):
                return is_of_arguments(path)
            case members.AreDistinct(paths):
                return all(map(is_of_arguments, paths))
            case _:
                return may_hold(guards.Condition, condition)

    def _require_unchanged(self, guard: guards.PythonGuard) -> None:
        """Notes a place that decided what was traced and that the function itself changes."""
        if not isinstance(guard.condition, guards.EqualTo):
            return
        for write in self.traced.world.writes:
            place = _place(write)
            if place is not None and place == guard.path:
                value = getattr(write, "value", None)
                if not (isinstance(value, world.BuiltConstant) and value.value == guard.condition.value):
                    self.problems.append(
                        f"it changes `{path_text(place)}`, which decides what it computes, so that its second call is "
                        "another one: keep it in a tensor"
                    )

    # -- arrays --------------------------------------------------------------------------------------------------------

    def _places(self, places: PlacePlan) -> PlacePlan:
        arrays = [dataclasses.replace(array, path=self._moved(array.path)) for array in places.arrays]
        for cell in places.cells:
            if cell.tree != SINGLE:
                self.problems.append(f"`{cell.name}` holds a value of several arrays")
                continue
            (leaf,) = cell.leaves
            if leaf.kind != "static" and leaf.graph_input is not None:
                arrays.append(ArrayInput(self._cell(cell), leaf))
        return PlacePlan((), tuple(arrays))

    def _cell(self, cell: CellInput) -> Path:
        """Returns where the value of a cell is found."""
        holder = follow(self.starts, cell.path)
        value = getattr(holder, cell_kinds()[cell.kind].value_attribute)
        name = self.state.name(holder, self._name(cell.path))
        self.state.replace(name, value)
        return self._in_state(name)

    # -- Python's objects ----------------------------------------------------------------------------------------------

    def _made(self, made: world.Made) -> world.Made:
        cls = getattr(made, "cls", None)
        if may_hold(world.Made, made) and cls in (list, tuple, dict):
            return world.with_values(made, self._value)
        self.problems.append(
            "it makes an object or a NumPy array: make a list, a dict or a tensor"
            if cls is None
            else f"it makes a {cls.__name__}, whose class is not there"
        )
        return made

    def _value(self, value: world.Value) -> world.Value:
        if isinstance(value, world.OutsideObject) and not is_of_arguments(value.path):
            found = follow(self.starts, value.path)
            if isinstance(found, (Tensor, Generator)):
                return world.OutsideObject(self._moved(value.path))
            self.problems.append(f"it keeps or returns `{path_text(value.path)}`, a {type(found).__name__}")
        held: Any = None if may_hold(world.Value, value) else value
        held = value.value if isinstance(value, world.BuiltConstant) else held
        if not isinstance(held, _PLAIN):
            self.problems.append(f"it keeps or returns a {type(held).__name__}")
        return value

    def _write(self, write: world.WorldWrite) -> world.WorldWrite | None:
        moved, place = world.with_values(write, self._value), _place(write)
        value = getattr(moved, "value", None)
        if isinstance(moved, world.CellWrite):
            return world.ItemWrite(*self._item(self._cell(self.traced.places.cells[moved.cell])), value)
        is_simple = value is not None and not isinstance(value, world.BuiltObject)
        if place is not None and place != world.path_of(write) and place[0][1] == "fn" and is_simple:
            return world.ItemWrite(*self._item(self._kept(place)), value)
        key = getattr(getattr(moved, "key", world.BuiltConstant("")), "value", None)
        is_of_dict = getattr(moved, "cls", dict) is dict and type(key) in (str, int)
        if may_hold(world.WorldWrite, moved) and is_of_dict and is_of_arguments(moved.path):
            return moved
        where = "what it reaches" if place is None else f"`{path_text(place)}`"
        self.problems.append(f"it changes {where}, which is not there: return the value instead")
        return None

    def _kept(self, place: Path) -> Path:
        """Returns where something is kept that the function puts into a place of its own."""
        try:
            before = follow(self.starts, place)
        except (AttributeError, LookupError, TypeError):
            before = None
        if isinstance(before, Tensor) or (before is not None and self.state.has(before)):
            return self._moved(place)
        return self._number(place) if isinstance(before, _PLAIN) and before is not None else self._rebuilt(place)

    def _rebuilt(self, place: Path) -> Path:
        name = self._name(place)
        self.state.put(name, None)
        return self._in_state(name)

    def _item(self, path: Path) -> tuple[Path, world.BuiltConstant]:
        return path[:-1], world.BuiltConstant(path[-1][1])

    # -- results -------------------------------------------------------------------------------------------------------

    def _output(self, output: alias.OutputSource) -> Any:
        if isinstance(output, world.OutsideObject):
            return self._value(output)
        value = output.value if isinstance(output, alias.ConstantOutput) else None
        if not isinstance(value, (*_PLAIN, world.ComputedValue, world.BuiltObject)):
            self.problems.append(f"it returns a {type(value).__name__}: return tensors, arrays and numbers")
        return output


def _place(write: world.WorldWrite) -> Path | None:
    """Returns the path to what a write changes; None for a cell."""
    path = world.path_of(write)
    if isinstance(write, world.AttributeWrite):
        return (*write.path, ("attr", write.name))
    if isinstance(write, world.ItemWrite) and isinstance(write.key, world.BuiltConstant):
        return (*write.path, ("item", write.key.value))
    return path


class _Names:
    """Names for messages, where paths have none."""

    def name(self, path: Path) -> str:
        return path_text(path)

    def tensor_path(self, number: int) -> Path:
        return ()
