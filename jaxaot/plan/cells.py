"""Plans of places: what a traced function reads outside that is neither an argument's value nor a tensor.

A *cell* is a mutable place that holds a pytree of bare arrays, such as an `nnx.Variable`; a *bare array* is one that
was reached through a closure, a global or an attribute; an *object* leads to them and has plain values on the way.
"""

from __future__ import annotations

from typing import Any, Literal

from jaxaot._immutable import immutable
from jaxaot._typing import Shape
from jaxaot.plan.paths import Path, path_text

LeafKind = Literal["array", "key", "numpy", "number", "static"]


@immutable
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


@immutable
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


@immutable
class ArrayInput:
    """A bare array."""

    path: Path
    leaf: LeafInput

    @property
    def name(self) -> str:
        return path_text(self.path)


@immutable
class PlacePlan:
    """What a traced function reaches outside besides tensors.

    Attributes:
      cells: Each once.
      arrays: Bare arrays whose values are inputs.
    """

    cells: tuple[CellInput, ...] = ()
    arrays: tuple[ArrayInput, ...] = ()

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
