"""Finds the cells and objects that a call reaches, opens them to the trace, and reads what the function did to them.

A *survey* walks what the arguments and the function lead to, and is taken twice. Before the trace it says which cells
become inputs: their values are replaced by symbols, so that code which knows nothing of tracing reads those. After the
trace, when everything of a kind is as it was, it says what a later call has to look like. A plain object is guarded as
the trace left it, so that a counter which only Python reads does not compile again.
"""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxaot._jax import canonical_dtype, is_key_dtype, is_tracer
from jaxaot.errors import AttributeChangeError, UnsupportedVariableError
from jaxaot.facade.cells import (
    FOREIGN,
    CellKind,
    attributes_of,
    cell_kinds,
    has_attributes,
    is_cell,
    is_object,
    kind_of,
    kind_of_cell,
)
from jaxaot.facade.tensor import Tensor
from jaxaot.facade.tracing import TraceState
from jaxaot.plan.guards import EqualTo, HasAttributes, HasType, IsAlsoAt, PythonGuard
from jaxaot.plan.paths import Path, path_text
from jaxaot.plan.places import (
    AttributeWrite,
    BuiltArray,
    BuiltConstant,
    BuiltLeaf,
    BuiltValue,
    CellInput,
    CellWrite,
    ContainerWrite,
    LeafInput,
    MetadataWrite,
    OutsideObject,
    PlaceWrite,
)
from jaxaot.tracer.containers import CONSTANT, guard_items
from jaxaot.tracer.paths import BUILTIN, LEAVES, LIMIT, children

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
      cells: Path and cell, each cell once.
      objects: Path, object and its kind, which is None for a user's own.
      containers: Path and container; those below an object of a kind come with True.
      slots: Bare arrays held by objects of a kind: path, holder, key, array.
      guards: On types, sizes, values that say themselves when they are equal, and second paths to one thing.
      values: Path and value of what is guarded like anything else that the function may read: plain values, code,
        tensors and arrays.
      roots: Path → object or cell that the walk began with.
      first: Id of each cell, object and list or dict → its path.
    """

    def __init__(self, roots: Sequence[tuple[Path, Any]], arguments: Sequence[Any]):
        """Walks what the roots lead to.

        Args:
          roots: Where to start, each with its own path.
          arguments: Objects among the leaves of the arguments; those of a kind are found without being named.
        """
        self.cells: list[tuple[Path, Any]] = []
        self.objects: list[tuple[Path, Any, CellKind | None]] = []
        self.containers: list[tuple[Path, Any, bool]] = []
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
            for step, child, is_late in children(value, names):
                (late if is_late else queue).append(((*path, step), child))

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
                self.cells.append((place.path, place.value))
            else:
                stack.extend(reversed(list(self._below(place))))

    def _below(self, place: _Place) -> Iterator[_Place]:
        """Notes one value; returns what it leads to."""
        path, value, cls, kind = place.path, place.value, type(place.value), kind_of(place.value)
        if cls in _PLAIN:
            self.values.append((path, value))
        elif _is_plain_tuple(value):
            self.guards.append(PythonGuard(path, EqualTo(value)))
        elif isinstance(value, _ARRAYS) and place.holder is not None:
            self.slots.append((path, place.holder, place.key, value))
        elif isinstance(value, (Tensor, *_ARRAYS)):
            self.values.append((path, value))
            self._later.append((path, value))
        elif isinstance(value, (dict, list, tuple)):
            items = guard_items(path, value, lambda _: True)
            self.guards += items.guards
            if not isinstance(value, tuple):
                self.first[id(value)] = path
                self.containers.append((path, value, place.is_inside))
            holder = value if place.is_inside and not isinstance(value, tuple) else None
            for step, child in items.rest:
                yield _Place((*path, step), child, place.is_inside, holder, step[1])
            if type(value) not in BUILTIN and has_attributes(value) and not place.is_inside:
                self.objects.append((path, value, None))
                for name, child in attributes_of(value).items():
                    yield _Place((*path, ("attr", name)), child)
        elif kind is not None:
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
        if is_object(value) or not _is_hashable(value):
            if has_attributes(value) and type(value).__module__.partition(".")[0] not in FOREIGN:
                return False
            self.values.append((path, value))
            self._later.append((path, value))
            return True
        self.guards.append(PythonGuard(path, EqualTo(value)))
        return True


def _is_plain_tuple(value: object) -> bool:
    return type(value) is tuple and all(type(child) in _PLAIN or _is_plain_tuple(child) for child in value)


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
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

    def __init__(self, roots: Sequence[tuple[Path, Any]], leaves: Sequence[Any]):
        self._roots = roots
        kinds = cell_kinds()
        self._arguments = [leaf for leaf in leaves if is_object(leaf)]
        self.is_empty = not kinds and not self._arguments
        self.survey = self._take()
        self.outside = self.survey.first
        self._cells = [
            (cell, kind_of_cell(cell), *jax.tree.flatten(_value(cell)), dict(_metadata(cell)))
            for _, cell in self.survey.cells
        ]
        self._entries = [dict(attributes_of(value)) for _, value, _ in self.survey.objects]
        self._items = [value.copy() for _, value, _ in self.survey.containers]
        self._symbols: list[list[Any]] = []
        self._slot_symbols: dict[tuple[int, Any], Any] = {}
        self._opened: list[tuple[CellKind, Any, Any]] = []
        self._is_open = False
        self._made: dict[int, str] = {}

    def _take(self) -> Survey:
        roots = self._roots if cell_kinds() else self._roots[:2]  # only the arguments, where nothing else has cells
        return Survey([] if self.is_empty else roots, self._arguments)

    def open(self, trace: TraceState) -> None:
        """Puts symbols in the place of arrays; the trace that is running may write to cells and objects."""
        self._is_open = True
        for number, (cell, kind, leaves, tree, _) in enumerate(self._cells):
            symbols = [self._symbol(trace, leaf, ("cell", number, i)) for i, leaf in enumerate(leaves)]
            self._symbols.append(symbols)
            self._opened.append((kind, cell, kind.open(cell)))
            kind.write(cell, tree.unflatten(symbols))
        for _, value, kind in self.survey.objects:
            if kind is not None:
                self._opened.append((kind, value, kind.open(value)))
        for number, (_, holder, key, array) in enumerate(self.survey.slots):
            symbol = self._symbol(trace, array, ("slot", number))
            self._slot_symbols[id(holder), key] = symbol
            holder[key] = symbol

    def _symbol(self, trace: TraceState, value: object, origin: tuple[Any, ...]) -> Any:
        leaf = leaf_input(value)
        return value if leaf.kind == "static" else trace.lift(leaf.shape, leaf.dtype, origin, leaf.weak_type)

    def changes(self, output: Callable[[Any], int]) -> tuple[PlaceWrite, ...]:
        """Returns the writes of the function to cells and objects; `output` makes a value an output of the graph.

        Raises:
          AttributeChangeError: If a later call could not do it again.
        """
        return (
            *self._cell_changes(output),
            *self._object_changes(output),
            *self._container_changes(output),
        )

    def _cell_changes(self, output: Callable[[Any], int]) -> Iterator[PlaceWrite]:
        for number, (cell, _, _, tree, metadata) in enumerate(self._cells):
            leaves, now = jax.tree.flatten(_value(cell))
            path = self.survey.cells[number][0]
            if now != tree or any(a is not b for a, b in zip(leaves, self._symbols[number], strict=True)):
                yield CellWrite(number, self._built(_value(cell), path_text(path), output))
            if _metadata(cell) != metadata:
                yield MetadataWrite(number, tuple(sorted(_metadata(cell).items())))

    def _object_changes(self, output: Callable[[Any], int]) -> Iterator[PlaceWrite]:
        for (path, value, kind), before in zip(self.survey.objects, self._entries, strict=True):
            now = attributes_of(value)
            for name, child in now.items():
                was = before.get(name, _Missing)
                if kind is not None:
                    was = self._slot_symbols.get((id(vars(value)), name), was)
                if child is was or (kind is None and not _holds_symbols(child)) or _is_same_value(child, was):
                    continue
                yield AttributeWrite(path, name, self._built(child, f"{path_text(path)}.{name}", output))
            if kind is not None:
                for name in before.keys() - now.keys():
                    yield AttributeWrite(path, name, None)

    def _container_changes(self, output: Callable[[Any], int]) -> Iterator[PlaceWrite]:
        for (path, value, is_inside), before in zip(self.survey.containers, self._items, strict=True):
            expected = before.copy()
            for key in expected if isinstance(expected, dict) else range(len(expected)):
                expected[key] = self._slot_symbols.get((id(value), key), expected[key])
            is_same = len(value) == len(expected) and (
                all(key in value and value[key] is child for key, child in expected.items())
                if isinstance(value, dict)
                else all(a is b for a, b in zip(value, expected, strict=True))
            )
            if not is_same and (is_inside or _holds_symbols(value)):
                plain = dict(value) if isinstance(value, dict) else list(value)
                yield ContainerWrite(path, self._built(plain, path_text(path), output))

    def _built(self, value: object, name: str, output: Callable[[Any], int]) -> BuiltValue:
        def is_leaf(child: object) -> bool:
            return child is None or id(child) in self.outside or isinstance(child, Tensor)

        for cell in jax.tree.leaves(value, is_leaf=lambda child: is_leaf(child) or is_cell(child)):
            if is_cell(cell) and id(cell) not in self.outside and self._made.setdefault(id(cell), name) != name:
                raise AttributeChangeError(
                    f"The function made a {type(cell).__name__} and kept it both in `{self._made[id(cell)]}` and in "
                    f"`{name}`. A later call would make two of it. Keep it in one of them, or make it outside."
                )
        leaves, tree = jax.tree.flatten(value, is_leaf=is_leaf)
        return BuiltValue(tree, tuple(self._built_leaf(leaf, name, output) for leaf in leaves))

    def _built_leaf(self, leaf: object, name: str, output: Callable[[Any], int]) -> BuiltLeaf:
        if id(leaf) in self.outside:
            return OutsideObject(self.outside[id(leaf)])
        if isinstance(leaf, (jax.Array, np.ndarray)):
            return BuiltArray(output(leaf))
        if isinstance(leaf, Tensor) or is_object(leaf):
            raise AttributeChangeError(
                f"The function put a {type(leaf).__name__} into `{name}`, which a later call could not make again. "
                "Return it from the function and assign it outside; arrays, Variables and modules of them may be "
                "assigned inside."
            )
        return BuiltConstant(leaf)

    def close(self) -> None:
        """Puts everything of a kind back as it was, and takes symbols out of plain objects."""
        if not self._is_open:
            return
        self._is_open = False
        for kind, value, opened in self._opened:
            kind.close(value, opened)
        for cell, kind, leaves, tree, metadata in self._cells:
            kind.write(cell, tree.unflatten(leaves))
            _restore_dict(_metadata(cell), metadata)
        for (_, value, kind), before in zip(self.survey.objects, self._entries, strict=True):
            if kind is not None:
                _restore_dict(vars(value), before)
            else:
                for name, child in attributes_of(value).items():
                    if _holds_symbols(child) and not isinstance(child, Tensor):
                        _restore_attribute(value, name, before)
        for (_, value, is_inside), before in zip(self.survey.containers, self._items, strict=True):
            if is_inside or _holds_symbols(value):
                _restore_dict(value, before) if isinstance(value, dict) else value.__setitem__(slice(None), before)

    def look_again(self) -> Survey:
        """Returns a survey taken after the trace.

        Raises:
          AttributeChangeError: If the function left a cell in a plain object.
        """
        if self.is_empty:
            return self.survey
        again = self._take()
        for path, cell in again.cells:
            if id(cell) not in self.outside:
                raise AttributeChangeError(
                    f"The function made a {type(cell).__name__} and kept it in `{path_text(path)}`, an object that is "
                    "no nnx module. Make it outside, or keep it in an nnx module."
                )
        return again

    def cell_inputs(self, survey: Survey, positions: dict[Any, int]) -> tuple[CellInput, ...]:
        """Returns the cells in the order of the first survey.

        Args:
          survey: The second.
          positions: Origin of a lifted symbol → its position among the graph's inputs.
        """
        plans = []
        for number, (cell, kind, leaves, tree, metadata) in enumerate(self._cells):
            path = survey.first.get(id(cell), self.outside[id(cell)])
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


class _Missing:
    """Stands for an attribute that was not there."""


def _is_same_value(value: Any, was: Any) -> bool:
    if type(value) is not type(was) or isinstance(value, (jax.Array, np.ndarray, Tensor)) or is_cell(value):
        return False
    if isinstance(value, (list, dict)) or is_object(value):
        return False
    if isinstance(value, tuple) and not _is_plain_tuple(value):
        return len(value) == len(was) and all(a is b or _is_same_value(a, b) for a, b in zip(value, was, strict=True))
    return _is_hashable(value) and bool(value == was)


def _holds_symbols(value: object) -> bool:
    return any(is_tracer(leaf) for leaf in jax.tree.leaves(value, is_leaf=lambda x: isinstance(x, Tensor)))


def _restore_dict(target: dict[Any, Any], before: dict[Any, Any]) -> None:
    target.clear()
    target.update(before)


def _restore_attribute(value: object, name: str, before: dict[str, Any]) -> None:
    if name in before:
        object.__setattr__(value, name, before[name])
    else:
        object.__delattr__(value, name)
