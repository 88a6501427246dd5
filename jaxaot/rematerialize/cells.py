"""Objects among the arguments that hold arrays in mutable cells, such as flax nnx modules."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from jaxaot.errors import AttributeChangeError
from jaxaot.facade.cells.cells import CellKind, cell_kinds, is_leaf, kind_of


@dataclasses.dataclass(frozen=True, eq=False)
class Cells:
    """The objects among the arguments of a call, taken apart.

    Attributes:
      objects: The objects.
      kind: Their kind; None if there are none.
      structure: What they are, without arrays.
      arrays: The arrays in them.
    """

    objects: tuple[Any, ...] = ()
    kind: CellKind | None = None
    structure: Any = None
    arrays: tuple[Any, ...] = ()

    @classmethod
    def among(cls, args: tuple[Any, ...]) -> Cells:
        """Returns the cells that a pytree of arguments leads to."""
        if not cell_kinds():
            return cls()
        leaves = jax.tree.leaves(args, is_leaf=is_leaf)
        objects = tuple(leaf for leaf in leaves if kind_of(leaf) is not None)
        kind = kind_of(objects[0]) if objects else None
        if kind is None:
            return cls()
        structure, arrays = kind.take_apart(objects)
        return cls(objects, kind, structure, tuple(arrays))

    def put_together(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Returns such objects with other arrays in them."""
        return () if self.kind is None else self.kind.put_together(self.structure, arrays)

    def arrays_after(self, objects: Sequence[Any], fn: Callable[..., Any]) -> list[Any]:
        """Returns the arrays in objects that a function was called with.

        Raises:
          AttributeChangeError: If it changed more than arrays.
        """
        if self.kind is None:
            return []
        structure, arrays = self.kind.take_apart(objects)
        if structure != self.structure:
            name = getattr(fn, "__name__", "fn")
            raise AttributeChangeError(
                f"`{name}` under `ja.remat` added, removed or replaced attributes of an object that it was passed. "
                "Only the values of Variables that exist before the call are written back: make them before, or set "
                "plain attributes outside."
            )
        return arrays

    def write(self, arrays: Mapping[int, Any]) -> None:
        """Writes arrays, by position, back to the objects of the call."""
        assert self.kind is not None, "only cells are written"
        self.kind.write_arrays(self.objects, self.structure, arrays)
