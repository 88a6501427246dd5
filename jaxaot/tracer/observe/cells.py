"""The cells that a call reaches and the objects that hold them: opened to the trace, and read afterwards.

When code may first get hold of a cell, its value is replaced by symbols, so that code which knows nothing of tracing
reads those. What a later call has to look like is noted, and what the function did to cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._jax import canonical_dtype, is_key_dtype
from jaxaot.errors import UnsupportedVariableError
from jaxaot.facade.cells.cell_tensors import tensor_at
from jaxaot.facade.cells.cells import CellKind, is_cell, kind_of, kind_of_cell
from jaxaot.facade.dispatch.arguments import STAND_INS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.trace_state import TraceState
from jaxaot.plan.cells import CellInput, LeafInput
from jaxaot.plan.guards import EqualTo, HasAttributes, HasType, IsAlsoAt, PythonGuard
from jaxaot.plan.paths import Path, path_text
from jaxaot.plan.world import CellWrite, MetadataWrite, WorldWrite
from jaxaot.tracer.numbers.recipes import is_plain_tuple
from jaxaot.tracer.observe.containers import guard_items
from jaxaot.tracer.observe.side_effects import Give, SideEffects

_ARRAYS = (jax.Array, np.ndarray, jax.ShapeDtypeStruct)
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


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
      outside: Id of each cell, object and container of one → its path.
      guards: On types and sizes.
      values: Path and value of what they hold besides and is guarded like anything else that the function may read.
    """

    def __init__(self, world: SideEffects, unread: frozenset[int]):
        self._world = world
        self.outside: dict[int, Path] = {}
        self.guards: list[PythonGuard] = []
        self.values: list[tuple[Path, Any]] = []
        self._unread = unread
        self._paths: list[Path] = []
        self._cells: list[tuple[Any, CellKind, list[Any], Any, dict[str, Any]]] = []
        self._tensors: list[tuple[Path, Any, Tensor, dict[str, Any]]] = []
        self._objects: list[tuple[Any, CellKind]] = []
        self._slots: list[tuple[Path, Any, Any, Any]] = []
        self._symbols: list[list[Any]] = []
        self._opened: list[tuple[CellKind, Any, Any]] = []
        self._open: TraceState | None = None
        self._n_open = [0, 0, 0, 0]

    def adopt(self, path: Path, value: Any) -> list[tuple[Path, Any]]:
        """Notes a cell, or an object that holds cells; returns what it leads to."""
        if id(value) in self.outside:
            return []
        kind, self.outside[id(value)] = kind_of_cell(value), path
        if not is_cell(value):
            self._objects.append((value, kind))
            self.guards += [
                PythonGuard(path, HasType(type(value))), PythonGuard(path, HasAttributes(len(vars(value))))
            ]  # fmt: skip
            found = [
                inner
                for name, child in list(vars(value).items())
                if not kind.is_hidden(name)
                for inner in self._inside((*path, ("attr", name)), child, vars(value), name)
            ]
        else:
            kind.check(value)
            tensor, found = tensor_at(value), list[tuple[Path, Any]]()
            if tensor is None:
                self._paths.append(path)
                self._cells.append((value, kind, *pytree.flatten(_value(value)), dict(_metadata(value))))
            else:
                found = self._note_tensor(path, value, tensor)
        if self._open is not None:
            self._open_rest(self._open)
        return found

    def _note_tensor(self, path: Path, cell: object, tensor: Tensor) -> list[tuple[Path, Any]]:
        """Notes a cell whose value is that of a tensor."""
        self._tensors.append((path, cell, tensor, dict(_metadata(cell))))
        self.guards.append(PythonGuard(path, HasType(type(cell))))
        path = (*path, ("attr", kind_of_cell(cell).metadata_attribute))
        items = guard_items(path, _metadata(cell), lambda _: True)
        self.guards += items.guards
        found = [((*path, step), child) for step, child in items.rest]
        self.values += found
        return [*found, ((*path, ("attr", "tensor")), tensor)]

    def _inside(self, path: Path, value: Any, holder: Any, key: Any) -> Iterator[tuple[Path, Any]]:
        """Notes what an object holds besides cells and further objects; yields what it leads to."""
        cls = type(value)
        if cls in STAND_INS:  # what stands for it is no part of the program
            return
        if cls in _PLAIN:
            self.values.append((path, value))
        elif is_plain_tuple(value):
            self.guards.append(PythonGuard(path, EqualTo(value)))
        elif isinstance(value, _ARRAYS) and holder is not None:
            self._slots.append((path, holder, key, value))
            yield path, value
        elif id(value) in self._unread:
            self.guards.append(PythonGuard(path, HasType(cls)))
        elif isinstance(value, (dict, list, tuple)):
            items = guard_items(path, value, lambda _: True)
            self.guards += items.guards
            if not isinstance(value, tuple):
                self.outside[id(value)] = path
            if id(value) not in self._world.paths:  # before symbols are put into it
                self._world.add(path, value)
            for step, child in items.rest:
                yield from self._inside((*path, step), child, None if isinstance(value, tuple) else value, step[1])
        else:
            if kind_of(value) is None:
                self.values.append((path, value))
            yield path, value

    def open(self, trace: TraceState) -> None:
        """Puts symbols in the place of arrays; the trace that is running may write to cells and objects."""
        trace.cells = self.outside
        self._open = trace
        self._open_rest(trace)

    def _open_rest(self, trace: TraceState) -> None:
        n_cells, n_tensors, n_objects, n_slots = self._n_open
        self._n_open = [len(self._cells), len(self._tensors), len(self._objects), len(self._slots)]
        for number, (cell, kind, leaves, tree, _) in enumerate(self._cells[n_cells:], n_cells):
            symbols = [self._symbol(trace, leaf, ("cell", number, i)) for i, leaf in enumerate(leaves)]
            self._symbols.append(symbols)
            self._opened.append((kind, cell, kind.open(cell)))
            kind.write(cell, tree.unflatten(symbols))
        for _, cell, tensor, _ in self._tensors[n_tensors:]:
            self._opened.append((kind_of_cell(cell), cell, kind_of_cell(cell).open(cell)))
            trace.note(tensor)
            trace.adopt(tensor._storage)
        for value, kind in self._objects[n_objects:]:
            self._opened.append((kind, value, kind.open(value)))
        for number, (_, holder, key, array) in enumerate(self._slots[n_slots:], n_slots):
            self._world.put_symbol(holder, key, self._symbol(trace, array, ("slot", number)))

    def all_guards(self) -> Iterator[PythonGuard]:
        """Yields the guards on types and sizes, and on second paths to one thing."""
        yield from self.guards
        for number, first in self.outside.items():
            for path in self._world.repeats.get(number, ()):
                yield PythonGuard(path, IsAlsoAt(first))

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
            if now != tree or any(a is not b for a, b in zip(leaves, self._symbols[number], strict=True)):
                yield CellWrite(number, give(_value(cell), self._paths[number]))
            if _metadata(cell) != metadata:
                yield MetadataWrite(number, tuple(sorted(_metadata(cell).items())))
        for path, cell, tensor, metadata in self._tensors:
            _ = tensor._storage.array  # takes note of what the library wrote into the cell
            if _metadata(cell) != metadata:
                raise UnsupportedVariableError(
                    f"The function changes the metadata of `{path_text(path)}`, which is used as a tensor. Change the "
                    "metadata outside of the compiled function."
                )

    def close(self) -> None:
        """Puts the cells back as they were."""
        if self._open is None:
            return
        self._open = None
        for kind, value, opened in self._opened:
            kind.close(value, opened)
        for cell, kind, leaves, tree, metadata in self._cells:
            kind.write(cell, tree.unflatten(leaves))
            _metadata(cell).clear()
            _metadata(cell).update(metadata)

    def cell_inputs(self, positions: dict[Any, int]) -> tuple[CellInput, ...]:
        """Returns the cells in the order in which they were met.

        Args:
          positions: Origin of a lifted symbol → its position among the graph's inputs.
        """
        plans = []
        for number, (cell, kind, leaves, tree, metadata) in enumerate(self._cells):
            path = self._paths[number]
            inputs = [_placed(leaf_input(leaf), positions.get(("cell", number, i))) for i, leaf in enumerate(leaves)]
            plans.append(CellInput(path, kind.name, type(cell), tree, tuple(inputs), tuple(sorted(metadata.items()))))
        return tuple(plans)

    def slot_inputs(self, positions: dict[Any, int]) -> list[tuple[Path, LeafInput]]:
        """Returns the bare arrays that objects of a kind held."""
        return [
            (path, _placed(leaf_input(array), positions.get(("slot", number))))
            for number, (path, _, _, array) in enumerate(self._slots)
        ]


def _placed(leaf: LeafInput, position: int | None) -> LeafInput:
    return LeafInput(leaf.kind, leaf.shape, leaf.dtype, leaf.weak_type, leaf.python_type, leaf.static, position)


def _value(cell: object) -> Any:
    return getattr(cell, kind_of_cell(cell).value_attribute)


def _metadata(cell: object) -> dict[str, Any]:
    return getattr(cell, kind_of_cell(cell).metadata_attribute)
