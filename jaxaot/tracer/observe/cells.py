"""Finds the cells and objects that a call reaches, opens them to the trace, and reads what the function did to cells.

A *survey* walks what the arguments and the function lead to before the trace. It says which cells become inputs, and
what a later call has to look like. The values of cells are replaced by symbols, so that code which knows nothing of
tracing reads those.
"""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._jax import canonical_dtype, is_key_dtype
from jaxaot.errors import UnsupportedVariableError
from jaxaot.facade.cells.cell_tensors import tensor_at
from jaxaot.facade.cells.cells import (
    CellKind,
    attributes_of,
    cell_kinds,
    has_attributes,
    is_cell,
    is_object,
    is_of_library,
    kind_of,
    kind_of_cell,
)
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.trace_state import TraceState
from jaxaot.plan.cells import CellInput, LeafInput
from jaxaot.plan.guards import EqualTo, HasAttributes, HasType, IsAlsoAt, PythonGuard
from jaxaot.plan.paths import Path, path_text
from jaxaot.plan.world import CellWrite, MetadataWrite, WorldWrite
from jaxaot.tracer.numbers.recipes import is_plain_tuple
from jaxaot.tracer.observe.containers import CONSTANT, guard_items, is_hashable
from jaxaot.tracer.observe.paths import BUILTIN, LEAVES, LIMIT, children
from jaxaot.tracer.observe.side_effects import Give, SideEffects

_CODE = (type, types.ModuleType, types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)
_ARRAYS = (jax.Array, np.ndarray, jax.ShapeDtypeStruct)
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


class _Place(NamedTuple):
    """A value on the way.

    Attributes:
      path: Leads to it.
      value: Itself.
      is_inside: Whether it belongs to an object of a kind.
      holder: The dict or list that holds it, if it is such a value's.
      key: Its place there.
    """

    path: Path
    value: Any
    is_inside: bool = False
    holder: Any = None
    key: Any = None


class Survey:
    """What a call reaches besides tensors and the values of its arguments.

    Attributes:
      cells: Path and cell, each cell once, of those that have no tensor.
      tensors: Path, cell and tensor of those that have one.
      objects: Path, object and its kind, which is None for a user's own.
      slots: Bare arrays held by objects of a kind: path, holder, key, array.
      guards: On types, sizes, values that say themselves when they are equal, and second paths to one thing.
      values: Path and value of what is guarded like anything else that the function may read: plain values, code,
        tensors and arrays.
      roots: Path → object or cell that the walk began with.
      first: Id of each cell, object and list or dict → its path.
    """

    def __init__(
        self, roots: Sequence[tuple[Path, Any]], arguments: Sequence[Any], unread: frozenset[int] = frozenset()
    ):
        """Walks what the roots lead to.

        Args:
          roots: Where to start, each with its own path.
          arguments: Objects among the leaves of the arguments; those of a kind are found without being named.
          unread: Ids of the lists that are not looked into.
        """
        self._unread = unread
        self.cells: list[tuple[Path, Any]] = []
        self.tensors: list[tuple[Path, Any, Tensor]] = []
        self.objects: list[tuple[Path, Any, CellKind | None]] = []
        self.slots: list[tuple[Path, Any, Any, Any]] = []
        self.guards: list[PythonGuard] = []
        self.values: list[tuple[Path, Any]] = []
        self.roots: dict[Path, Any] = {}
        self.first: dict[int, Path] = {}
        self._later: deque[tuple[Path, Any]] = deque()
        self._search(roots, {id(value) for value in arguments})

    def _search(self, roots: Sequence[tuple[Path, Any]], arguments: set[int]) -> None:
        queue, late, seen, names = deque(roots), self._later, set(), set()
        keep = []  # objects made on the way, so that their ids stay theirs
        while (queue or late) and len(seen) < LIMIT:
            path, value = queue.popleft() if queue else late.popleft()
            if id(value) in seen or isinstance(value, LEAVES):
                continue
            seen.add(id(value))
            keep.append(value)
            if id(value) in arguments or kind_of(value) is not None:
                if id(value) not in self.first:
                    self.roots[path] = value
                    self._walk(path, value)
                continue
            for steps, child, is_late in children(value, names):
                (late if is_late else queue).append((path + steps, child))

    def _walk(self, path: Path, value: object) -> None:
        """Notes an object and everything below it."""
        stack = [_Place(path, value)]
        while stack:
            place = stack.pop()
            if id(place.value) in self.first:
                self.guards.append(PythonGuard(place.path, IsAlsoAt(self.first[id(place.value)])))
            elif is_cell(place.value):
                kind_of_cell(place.value).check(place.value)
                self.first[id(place.value)] = place.path
                tensor = tensor_at(place.value)
                if tensor is None:
                    self.cells.append((place.path, place.value))
                else:
                    self._note_tensor(place.path, place.value, tensor)
            else:
                stack.extend(reversed(list(self._below(place))))

    def _note_tensor(self, path: Path, cell: object, tensor: Tensor) -> None:
        """Notes a cell whose value is that of a tensor."""
        self.tensors.append((path, cell, tensor))
        self.guards.append(PythonGuard(path, HasType(type(cell))))
        path = (*path, ("attr", kind_of_cell(cell).metadata_attribute))
        items = guard_items(path, _metadata(cell), lambda _: True)
        self.guards += items.guards
        self.values += [((*path, step), child) for step, child in items.rest]

    def _below(self, place: _Place) -> Iterator[_Place]:
        """Notes one value; returns what it leads to."""
        path, value, cls, kind = place.path, place.value, type(place.value), kind_of(place.value)
        if cls in _PLAIN:
            self.values.append((path, value))
        elif is_plain_tuple(value):
            self.guards.append(PythonGuard(path, EqualTo(value)))
        elif isinstance(value, _ARRAYS) and place.holder is not None:
            self.slots.append((path, place.holder, place.key, value))
        elif isinstance(value, (Tensor, *_ARRAYS)):
            self.values.append((path, value))
            self._later.append((path, value))
        elif id(value) in self._unread:
            self.guards.append(PythonGuard(path, HasType(cls)))
        elif isinstance(value, (dict, list, tuple)):
            items = guard_items(path, value, lambda _: True)
            self.guards += items.guards
            if not isinstance(value, tuple):
                self.first[id(value)] = path
            holder = value if place.is_inside and not isinstance(value, tuple) else None
            for step, child in items.rest:
                yield _Place((*path, step), child, place.is_inside, holder, step[1])
            if type(value) not in BUILTIN and has_attributes(value) and not place.is_inside:
                self.objects.append((path, value, None))
                for name, child in attributes_of(value).items():
                    yield _Place((*path, ("attr", name)), child)
        elif kind is not None:
            kind.take_tensors(cls)
            self.first[id(value)] = path
            self.objects.append((path, value, kind))
            self.guards += [PythonGuard(path, HasType(cls)), PythonGuard(path, HasAttributes(len(vars(value))))]
            for name, child in vars(value).items():
                if not kind.is_hidden(name):
                    yield _Place((*path, ("attr", name)), child, True, vars(value), name)
        elif not self._is_compared(path, value):
            self.first[id(value)] = path
            self.objects.append((path, value, None))
            self.guards.append(PythonGuard(path, HasType(cls)))
            for name, child in attributes_of(value).items():
                yield _Place((*path, ("attr", name)), child)

    def _is_compared(self, path: Path, value: object) -> bool:
        """Notes a value that is compared as a whole, if it is one: code, or what says itself when it is equal."""
        if isinstance(value, (set, frozenset, *_CODE, *CONSTANT)):
            self.values.append((path, value))
            self._later.append((path, value))
            return True
        if is_object(value) or not is_hashable(value):
            if has_attributes(value) and not is_of_library(type(value).__module__):
                return False
            self.values.append((path, value))
            self._later.append((path, value))
            return True
        self.guards.append(PythonGuard(path, EqualTo(value)))
        return True


def leaf_input(value: object) -> LeafInput:
    """Returns the graph input for one leaf of a cell's value."""
    if isinstance(value, (np.ndarray, np.generic)):
        return LeafInput("numpy", value.shape, canonical_dtype(value.dtype), python_type=type(value))
    if isinstance(value, (jax.Array, jax.ShapeDtypeStruct)):
        kind = "key" if is_key_dtype(value.dtype) else "array"
        return LeafInput(kind, value.shape, value.dtype, bool(getattr(value, "weak_type", False)))
    if type(value) in (bool, int, float, complex):
        aval = jax.typeof(value)
        return LeafInput("number", (), aval.dtype, aval.weak_type, type(value))
    if isinstance(value, Tensor):
        raise UnsupportedVariableError(
            "An nnx.Variable holds a jaxaot.Tensor. Variables hold bare arrays: write `nnx.Param(t.jax())`."
        )
    return LeafInput("static", python_type=type(value), static=value)


class Places:
    """The cells and objects of one trace: how they were, and the symbols that stand for their arrays.

    Attributes:
      survey: Taken before the trace.
      outside: Id of each cell and object → its path.
    """

    def __init__(self, roots: Sequence[tuple[Path, Any]], leaves: Sequence[Any], unread: frozenset[int]):
        self._roots = roots
        self._unread = unread
        kinds = cell_kinds()
        self._arguments = [leaf for leaf in leaves if is_object(leaf)]
        self.is_empty = not kinds and not self._arguments
        self.survey = self._take()
        self.outside = self.survey.first
        self._cells = [
            (cell, kind_of_cell(cell), *pytree.flatten(_value(cell)), dict(_metadata(cell)))
            for _, cell in self.survey.cells
        ]
        self._metadata_before = [dict(_metadata(cell)) for _, cell, _ in self.survey.tensors]
        self._symbols: list[list[Any]] = []
        self._opened: list[tuple[CellKind, Any, Any]] = []
        self._is_open = False

    def _take(self) -> Survey:
        roots = self._roots if cell_kinds() else self._roots[:2]  # only the arguments, where nothing else has cells
        return Survey([] if self.is_empty else roots, self._arguments, self._unread)

    def open(self, trace: TraceState, world: SideEffects) -> None:
        """Puts symbols in the place of arrays; the trace that is running may write to cells and objects."""
        self._is_open = True
        for number, (cell, kind, leaves, tree, _) in enumerate(self._cells):
            symbols = [self._symbol(trace, leaf, ("cell", number, i)) for i, leaf in enumerate(leaves)]
            self._symbols.append(symbols)
            self._opened.append((kind, cell, kind.open(cell)))
            kind.write(cell, tree.unflatten(symbols))
        trace.cells = self.outside
        for _, cell, tensor in self.survey.tensors:
            self._opened.append((kind_of_cell(cell), cell, kind_of_cell(cell).open(cell)))
            trace.note(tensor)
            trace.adopt(tensor._storage)
        for _, value, kind in self.survey.objects:
            if kind is not None:
                self._opened.append((kind, value, kind.open(value)))
        for number, (_, holder, key, array) in enumerate(self.survey.slots):
            world.put_symbol(holder, key, self._symbol(trace, array, ("slot", number)))

    def _symbol(self, trace: TraceState, value: object, origin: tuple[Any, ...]) -> Any:
        leaf = leaf_input(value)
        return value if leaf.kind == "static" else trace.lift(leaf.shape, leaf.dtype, origin, leaf.weak_type)

    def changes(self, give: Give) -> Iterator[WorldWrite]:
        """Yields the writes of the function to cells; `give` takes an object to what a later call puts there.

        Raises:
          AttributeChangeError: If a later call could not do it again.
        """
        for number, (cell, _, _, tree, metadata) in enumerate(self._cells):
            leaves, now = pytree.flatten(_value(cell))
            path = self.survey.cells[number][0]
            if now != tree or any(a is not b for a, b in zip(leaves, self._symbols[number], strict=True)):
                yield CellWrite(number, give(_value(cell), path))
            if _metadata(cell) != metadata:
                yield MetadataWrite(number, tuple(sorted(_metadata(cell).items())))
        for (path, cell, tensor), metadata in zip(self.survey.tensors, self._metadata_before, strict=True):
            _ = tensor._storage.array  # takes note of what the library wrote into the cell
            if _metadata(cell) != metadata:
                raise UnsupportedVariableError(
                    f"The function changes the metadata of `{path_text(path)}`, which is used as a tensor. Change the "
                    "metadata outside of the compiled function."
                )

    def close(self) -> None:
        """Puts the cells back as they were."""
        if not self._is_open:
            return
        self._is_open = False
        for kind, value, opened in self._opened:
            kind.close(value, opened)
        for cell, kind, leaves, tree, metadata in self._cells:
            kind.write(cell, tree.unflatten(leaves))
            _metadata(cell).clear()
            _metadata(cell).update(metadata)

    def cell_inputs(self, positions: dict[Any, int]) -> tuple[CellInput, ...]:
        """Returns the cells in the order of the survey.

        Args:
          positions: Origin of a lifted symbol → its position among the graph's inputs.
        """
        plans = []
        for number, (cell, kind, leaves, tree, metadata) in enumerate(self._cells):
            path = self.outside[id(cell)]
            inputs = [_placed(leaf_input(leaf), positions.get(("cell", number, i))) for i, leaf in enumerate(leaves)]
            plans.append(CellInput(path, kind.name, type(cell), tree, tuple(inputs), tuple(sorted(metadata.items()))))
        return tuple(plans)

    def slot_inputs(self, positions: dict[Any, int]) -> list[tuple[Path, LeafInput]]:
        """Returns the bare arrays that objects of a kind held."""
        return [
            (path, _placed(leaf_input(array), positions.get(("slot", number))))
            for number, (path, _, _, array) in enumerate(self.survey.slots)
        ]


def _placed(leaf: LeafInput, position: int | None) -> LeafInput:
    return LeafInput(leaf.kind, leaf.shape, leaf.dtype, leaf.weak_type, leaf.python_type, leaf.static, position)


def _value(cell: object) -> Any:
    return getattr(cell, kind_of_cell(cell).value_attribute)


def _metadata(cell: object) -> dict[str, Any]:
    return getattr(cell, kind_of_cell(cell).metadata_attribute)
