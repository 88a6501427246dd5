"""The plans of a call as an archive holds them: what the function reached lies in the state.

Paths that lead from the function, through closures, globals and attributes, are replaced by the names of what they lead
to. Guards on the function's own Python are left out: that code is not there any more, and the graph is what it did.
What a process without the source could not do is refused here, all of it at once.

    fn.__globals__['model'].layers[0].weight   →   fn['model.layers.0.weight']
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, assert_never

import numpy as np

from jaxaot.archive.readers import TYPES, is_inner, tree_to_json
from jaxaot.archive.state import StateWriter
from jaxaot.errors import ExportError
from jaxaot.facade.cells.cells import cell_kinds, is_object
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.plan.alias import ArrayOutput, ConstantOutput, OutputSource, TensorOutput
from jaxaot.plan.call import CallPlan, TensorInput
from jaxaot.plan.cells import ArrayInput, CellInput, PlacePlan
from jaxaot.plan.guards import (
    Answers,
    Condition,
    EqualTo,
    HasKeys,
    HasLength,
    HasType,
    IsAlsoAt,
    IsHeldWeakly,
    IsTensor,
    PythonGuard,
)
from jaxaot.plan.members import AreDistinct
from jaxaot.plan.number_program import ReadNumber
from jaxaot.plan.paths import ObjectKey, Path, follow, path_text
from jaxaot.plan.stages import Traced
from jaxaot.plan.world import (
    AttributeWrite,
    BuiltArray,
    BuiltConstant,
    BuiltObject,
    BuiltTensor,
    CellWrite,
    ComputedValue,
    ContentWrite,
    ContextWrite,
    DequeWrite,
    ItemWrite,
    Made,
    MadeCopy,
    MadeInstance,
    MadeMapping,
    MadeSequence,
    MadeTree,
    MembersWrite,
    MetadataWrite,
    OutsideObject,
    PassedValue,
    PendingValue,
    RefillWrite,
    SliceWrite,
    Value,
    WorldWrite,
    path_of,
    values_of,
    with_values,
)
from jaxaot.runtime.world import SINGLE

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
        (kind == "item" and type(key) in (str, int)) or is_inner((kind, key)) for kind, key in steps
    )


def relocate(traced: Traced, starts: Sequence[tuple[Path, Any]], leaves: Sequence[Any], state: StateWriter) -> Traced:
    """Returns a traced function whose plans an archive can hold.

    Args:
      traced: The traced function.
      starts: Where its paths start.
      leaves: The leaves of its arguments.
      state: Gets what it reached.

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
        rng = dataclasses.replace(
            traced.rng,
            generators=tuple(
                use if use.path is None else dataclasses.replace(use, path=self._thing(use.path, Generator))
                for use in traced.rng.generators
            ),
        )
        world = dataclasses.replace(
            traced.world,
            made=tuple(map(self._made, traced.world.made)),
            writes=tuple(write for w in traced.world.writes if (write := self._write(w)) is not None),
        )
        for tree in (traced.in_tree, traced.out_tree):
            try:
                tree_to_json(tree)
            except ExportError as error:
                self.problems.append(str(error))
        alias = dataclasses.replace(traced.alias, outputs=tuple(map(self._output, traced.alias.outputs)))
        if alias.refills:
            self.problems.append("a storage is freed that the backward needs, and filled again by a hook")
        if self.problems:
            listed = "\n".join(f"  - {problem}" for problem in dict.fromkeys(self.problems))
            raise ExportError(f"A process without the source of this function could not call it:\n{listed}")
        return dataclasses.replace(traced, call=call, places=places, rng=rng, world=world, alias=alias, events=())

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
            is_plain = isinstance(condition, EqualTo) and isinstance(condition.value, _PLAIN)
            if not (is_plain or (isinstance(condition, HasType) and condition.cls in (Generator, int, float, complex))):
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
            return path
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

    def _thing(self, path: Path, cls: type) -> Path:
        if not isinstance(follow(self.starts, path), cls):
            self.problems.append(f"`{path_text(path)}` is no {cls.__name__}")
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
        numbers = dataclasses.replace(
            call.numbers,
            numbers=tuple(
                dataclasses.replace(n, path=self._number(n.path)) if isinstance(n, ReadNumber) else n
                for n in call.numbers.numbers
            ),
        )
        if call.autocast is not None:
            self.problems.append("it is exported under `ja.autocast`: enter that in the function")
        python = tuple(guard for g in call.python if (guard := self._guard(g)) is not None)
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

    def _guard(self, guard: PythonGuard) -> PythonGuard | None:
        """Returns a guard on containers of the arguments; None for one on the function's own Python."""
        is_of_state = not is_of_arguments(guard.path)
        if isinstance(guard.condition, Answers) and not (is_of_state and guard.condition.fact in _KEPT):
            self.problems.append(
                f"it asks for the `{guard.condition.fact}` of `{path_text(guard.path)}`, which an archive does not keep"
            )
        if guard.path[0][1] == "fn":
            self._require_unchanged(guard)
            return None
        condition = self._condition(guard.condition)
        if condition is None or not is_of_arguments(guard.path):
            if isinstance(guard.condition, IsHeldWeakly):
                self.problems.append(f"`{path_text(guard.path)}` is an object, known by its identity")
            return None
        return dataclasses.replace(guard, condition=condition, line=None)

    def _condition(self, condition: Condition) -> Condition | None:
        match condition:
            case EqualTo(value) if isinstance(value, _PLAIN):
                return condition
            case HasType(cls) if cls in TYPES.values():
                return condition
            case HasKeys(keys) if all(type(key) in (str, int) for key in keys):
                return condition
            case HasLength() | IsTensor():
                return condition
            case IsAlsoAt(path) if is_of_arguments(path):
                return condition
            case AreDistinct(paths) if all(map(is_of_arguments, paths)):
                return condition
            case _:
                return None

    def _require_unchanged(self, guard: PythonGuard) -> None:
        """Notes a place that decided what was traced and that the function itself changes."""
        if not isinstance(guard.condition, EqualTo):
            return
        for write in self.traced.world.writes:
            place = _place(write)
            if place is not None and place == guard.path:
                value = getattr(write, "value", None)
                if not (isinstance(value, BuiltConstant) and value.value == guard.condition.value):
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

    def _made(self, made: Made) -> Made:
        match made:
            case MadeSequence(cls) | MadeMapping(cls) if cls in (list, tuple, dict):
                return with_values(made, self._value)
            case MadeSequence(cls) | MadeMapping(cls) | MadeInstance(cls):
                self.problems.append(f"it makes a {cls.__name__}, whose class is not there")
            case MadeTree() | MadeCopy():
                self.problems.append("it makes an object or a NumPy array: make a list, a dict or a tensor")
            case _:
                assert_never(made)
        return made

    def _value(self, value: Value) -> Value:
        match value:
            case OutsideObject(path) if not is_of_arguments(path):
                held = follow(self.starts, path)
                if isinstance(held, (Tensor, Generator)):
                    return OutsideObject(self._moved(path))
                self.problems.append(f"it keeps or returns `{path_text(path)}`, a {type(held).__name__}")
            case BuiltConstant(constant) if not isinstance(constant, _PLAIN):
                self.problems.append(f"it keeps or returns a {type(constant).__name__}")
            case (
                OutsideObject() | PassedValue() | ComputedValue() | BuiltArray() | BuiltTensor() | BuiltConstant()
                | BuiltObject() | PendingValue()
            ):  # fmt: skip
                pass
            case _:
                assert_never(value)
        return value

    def _write(self, write: WorldWrite) -> WorldWrite | None:
        for value in values_of(write):
            self._value(value)
        place = _place(write)
        match write:
            case CellWrite(cell, value):
                return ItemWrite(*self._item(self._cell(self.traced.places.cells[cell])), self._value(value))
            case AttributeWrite(value=value) | ItemWrite(value=value) if (
                place is not None and place[0][1] == "fn" and value is not None and _is_simple(value)
            ):
                return ItemWrite(*self._item(self._kept(place)), self._value(value))
            case ItemWrite(path, BuiltConstant(key), cls=cls) if (
                is_of_arguments(path) and cls is dict and type(key) in (str, int)
            ):
                return with_values(write, self._value)
            case SliceWrite(path) | RefillWrite(path) if is_of_arguments(path):
                return with_values(write, self._value)
            case (
                AttributeWrite() | ItemWrite() | RefillWrite() | SliceWrite() | MetadataWrite() | DequeWrite()
                | MembersWrite() | ContentWrite() | ContextWrite()
            ):  # fmt: skip
                where = "what it reaches" if place is None else f"`{path_text(place)}`"
                self.problems.append(f"it changes {where}, which is not there: return the value instead")
                return None
            case _:
                assert_never(write)

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

    def _item(self, path: Path) -> tuple[Path, BuiltConstant]:
        return path[:-1], BuiltConstant(path[-1][1])

    # -- results -------------------------------------------------------------------------------------------------------

    def _output(self, output: OutputSource) -> Any:
        match output:
            case OutsideObject():
                return self._value(output)
            case ConstantOutput(value):
                if not isinstance(value, _PLAIN) and type(value) not in (ComputedValue, BuiltObject):
                    self.problems.append(f"it returns a {type(value).__name__}: return tensors, arrays and numbers")
                return output
            case TensorOutput() | ArrayOutput():
                return output
            case _:
                assert_never(output)


def _place(write: WorldWrite) -> Path | None:
    """Returns the path to what a write changes; None for a cell."""
    match write:
        case AttributeWrite(path, name):
            return (*path, ("attr", name))
        case ItemWrite(path, BuiltConstant(key)):
            return (*path, ("item", key))
        case (
            CellWrite() | MetadataWrite() | ItemWrite() | RefillWrite() | SliceWrite() | DequeWrite() | MembersWrite()
            | ContentWrite() | ContextWrite()
        ):  # fmt: skip
            return path_of(write)
        case _:
            assert_never(write)


def _is_simple(value: Value) -> bool:
    """Returns whether a value can be kept in the state."""
    return not isinstance(value, BuiltObject)


class _Names:
    """Names for messages, where paths have none."""

    def name(self, path: Path) -> str:
        return path_text(path)

    def tensor_path(self, number: int) -> Path:
        return ()
