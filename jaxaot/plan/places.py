"""Plans of places: what a traced function reaches and changes outside that is neither an argument's value nor a tensor.

A *cell* is a mutable place that holds a pytree of bare arrays, such as an `nnx.Variable`; a *bare array* is one that
was reached through a closure, a global or an attribute; an *object* leads to them and has plain values on the way.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, assert_never

from jaxaot._typing import Shape
from jaxaot.plan.paths import Path, path_text

LeafKind = Literal["array", "key", "numpy", "number", "static"]


@dataclasses.dataclass(frozen=True)
class LeafInput:
    """An array, or what stands for one, that is reached rather than passed.

    Attributes:
      kind: A jax array, an array of keys, a NumPy array, a Python number, or a value that is part of the program.
      shape: Of the array.
      dtype: Of the array, as JAX sees it.
      weak_type: Whether its dtype gives way in promotions.
      python_type: Of a number or static value.
      static: The static value.
      graph_input: Its position among the graph's inputs; None if its value is not used.
    """

    kind: LeafKind
    shape: Shape = ()
    dtype: Any = None
    weak_type: bool = False
    python_type: Any = None
    static: Any = None
    graph_input: int | None = None


@dataclasses.dataclass(frozen=True)
class CellInput:
    """A cell.

    Attributes:
      path: How a call finds it.
      kind: Name of its kind.
      python_type: Its class.
      tree: Tree of its value.
      leaves: Of its value.
      metadata: Its plain values, sorted by name.
    """

    path: Path
    kind: str
    python_type: Any
    tree: Any
    leaves: tuple[LeafInput, ...]
    metadata: tuple[tuple[str, Any], ...]

    @property
    def name(self) -> str:
        return path_text(self.path)


@dataclasses.dataclass(frozen=True)
class ArrayInput:
    """A bare array."""

    path: Path
    leaf: LeafInput

    @property
    def name(self) -> str:
        return path_text(self.path)


@dataclasses.dataclass(frozen=True)
class OutsideObject:
    """A leaf of a value that is an object from outside."""

    path: Path


@dataclasses.dataclass(frozen=True)
class BuiltArray:
    """A leaf of a value that is a graph output."""

    output: int


@dataclasses.dataclass(frozen=True)
class BuiltConstant:
    """A leaf of a value that is the same at every call."""

    value: Any


BuiltLeaf = OutsideObject | BuiltArray | BuiltConstant


@dataclasses.dataclass(frozen=True)
class BuiltValue:
    """How a value is made again at every call: its leaves put into its tree."""

    tree: Any
    leaves: tuple[BuiltLeaf, ...]


@dataclasses.dataclass(frozen=True)
class CellWrite:
    """Cell number `cell` holds another value afterwards."""

    cell: int
    value: BuiltValue


@dataclasses.dataclass(frozen=True)
class MetadataWrite:
    """Cell number `cell` has other plain values afterwards, sorted by name."""

    cell: int
    metadata: tuple[tuple[str, Any], ...]


@dataclasses.dataclass(frozen=True)
class AttributeWrite:
    """An attribute of the object at `path` is another value afterwards; None if it is gone."""

    path: Path
    name: str
    value: BuiltValue | None


@dataclasses.dataclass(frozen=True)
class ContainerWrite:
    """The list or dict at `path` has other items afterwards."""

    path: Path
    value: BuiltValue


PlaceWrite = CellWrite | MetadataWrite | AttributeWrite | ContainerWrite


def _value_of(write: PlaceWrite) -> BuiltValue | None:
    """Returns the value that is built for a place; None if none is."""
    match write:
        case CellWrite(_, value) | AttributeWrite(_, _, value) | ContainerWrite(_, value):
            return value
        case MetadataWrite():
            return None
        case _:
            assert_never(write)


def _path_of(write: PlaceWrite) -> Path | None:
    """Returns where the object is found that is changed; None for a cell, which is an input."""
    match write:
        case AttributeWrite(path) | ContainerWrite(path):
            return path
        case CellWrite() | MetadataWrite():
            return None
        case _:
            assert_never(write)


@dataclasses.dataclass(frozen=True)
class PlacePlan:
    """What a traced function reaches outside besides tensors.

    Attributes:
      cells: Each once.
      arrays: Bare arrays whose values are inputs.
      writes: What it did to them.
    """

    cells: tuple[CellInput, ...] = ()
    arrays: tuple[ArrayInput, ...] = ()
    writes: tuple[PlaceWrite, ...] = ()

    @property
    def outputs(self) -> frozenset[int]:
        """The graph outputs that are put into places."""
        return frozenset(leaf.output for leaf in self._built_leaves if isinstance(leaf, BuiltArray))

    @property
    def outside_paths(self) -> tuple[Path, ...]:
        """Where the objects are found that it changed or put into places."""
        changed = [path for path in map(_path_of, self.writes) if path is not None]
        return (*changed, *(leaf.path for leaf in self._built_leaves if isinstance(leaf, OutsideObject)))

    @property
    def _built_leaves(self) -> list[BuiltLeaf]:
        values = [value for value in map(_value_of, self.writes) if value is not None]
        return [leaf for value in values for leaf in value.leaves]

    @property
    def graph_inputs(self) -> tuple[tuple[str, LeafInput], ...]:
        """The leaves of cells and the bare arrays that are graph inputs, each with its name, in their order."""
        found = []
        for cell in self.cells:
            for i, leaf in enumerate(cell.leaves):
                found.append((cell.name if len(cell.leaves) == 1 else f"{cell.name}[{i}]", leaf))
        found += [(array.name, array.leaf) for array in self.arrays]
        taken = {leaf.graph_input: (name, leaf) for name, leaf in found if leaf.graph_input is not None}
        return tuple(taken[position] for position in sorted(taken))
