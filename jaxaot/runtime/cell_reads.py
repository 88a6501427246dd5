"""Writes the part of a call that reads cells and bare arrays: guards and operands.

In the generated code `C` are the cells and `A` the jax arrays that cells and objects hold, in one list each, because a
comprehension over a hundred cells is faster than a hundred statements.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, assert_never

from jaxaot import _trees as pytree
from jaxaot._jax import ShapedArray
from jaxaot.facade.cells.cells import cell_kinds
from jaxaot.plan.cells import LeafInput, PlacePlan
from jaxaot.plan.source import Source, in_runs
from jaxaot.runtime.world import SINGLE


class PlaceWriter:
    """Writes what one program's call does with places."""

    def __init__(self, source: Source, plan: PlacePlan, written: Sequence[int] = (), donated: Sequence[int] = ()):
        """Begins.

        Args:
          source: Where to.
          plan: What is read.
          written: The numbers of cells that the call writes to.
          donated: Graph inputs whose buffers may be reused.
        """
        self.source = source
        self.plan = plan
        self.written = written
        self.donated = donated
        self.expressions: dict[int, str] = {}  # graph input → expression
        self._n_arrays = 0

    def guards(self) -> None:
        """Writes the guards, and the gathering of `C` and `A`."""
        arrays: list[tuple[str, LeafInput]] = []
        self._cell_guards(arrays)
        for number, bare in enumerate(self.plan.arrays):
            self.source.add(f"b{number} = {self.source.step(bare.path)}")
            self._leaf(f"b{number}", bare.leaf, arrays)
        self._array_guards(arrays)

    def _cell_guards(self, arrays: list[tuple[str, LeafInput]]) -> None:
        source, cells = self.source, self.plan.cells
        if not cells:
            return
        source.add(f"C = ({''.join(source.path(cell.path) + ', ' for cell in cells)})")
        source.miss_if(f"[*map(type, C)] != {source.constant([c.python_type for c in cells])}")
        if len(cells) > 1:
            source.add("ids = [*map(id, C)]")
            seen = source.constant([])
            with source.block(f"if ids != {seen}:"):
                source.miss_if(f"len({{*ids}}) != {len(cells)}")
                source.add(f"{seen}[:] = ids")
        self._metadata_guards()
        source.add(f"R = {self._attributes('value_attribute', range(len(cells)))}")
        for number, cell in enumerate(cells):
            if cell.tree == SINGLE:
                self._leaf(f"R[{number}]", cell.leaves[0], arrays)
                continue
            source.scope["flatten"] = pytree.flatten
            source.add(f"l{number}, tree = flatten(R[{number}])")
            source.miss_if(f"tree != {source.constant(cell.tree)}")
            for i, leaf in enumerate(cell.leaves):
                self._leaf(f"l{number}[{i}]", leaf, arrays)
        if self.written:
            first = min(self.written)
            kind = cell_kinds()[cells[first].kind]
            source.add(f"{source.constant(kind.check_writable)}(C[{first}])")

    def _metadata_guards(self) -> None:
        """Compares the plain values of cells; of those that every cell has, which hardly change, only the number."""
        source, cells = self.source, self.plan.cells
        usual = [cell_kinds()[cell.kind].usual_metadata == {name for name, _ in cell.metadata} for cell in cells]
        for wanted in (True, False):
            chosen = [i for i, is_usual in enumerate(usual) if is_usual is wanted]
            if chosen:
                metadata = self._attributes("metadata_attribute", chosen)
                found = f"[*map(len, {metadata})]" if wanted else metadata
                expected = [len(cells[i].metadata) if wanted else dict(cells[i].metadata) for i in chosen]
                source.miss_if(f"{found} != {source.constant(expected)}")

    def _attributes(self, which: str, chosen: Sequence[int]) -> str:
        """Returns the expression of a list with one attribute of each of the chosen cells."""
        cells = self.plan.cells
        names = [getattr(cell_kinds()[cells[i].kind], which) for i in chosen]
        if len(set(names)) == 1:
            among = "C" if len(chosen) == len(cells) else f"({''.join(f'C[{i}], ' for i in chosen)})"
            return f"[c.{names[0]} for c in {among}]"
        return f"[{', '.join(f'C[{i}].{name}' for i, name in zip(chosen, names, strict=True))}]"

    def _leaf(self, text: str, leaf: LeafInput, arrays: list[tuple[str, LeafInput]]) -> None:
        """Writes the guard of one leaf, or leaves it to the guard of all jax arrays."""
        source = self.source
        if leaf.graph_input is not None:
            self.expressions[leaf.graph_input] = text
        match leaf.kind:
            case "array":
                arrays.append((text, leaf))
            case "number":
                source.miss_if(f"type({text}) is not {leaf.python_type.__name__}")
            case "static":
                value = source.constant(leaf.static)
                source.miss_if(f"{text} is not {value} and differs({text}, {value})")
            case "key" | "numpy":
                cls = leaf.python_type
                kind = [] if cls is None else [f"type({text}) is not {source.constant(cls)}"]
                dtype = source.constant(leaf.dtype)
                source.miss_if(*kind, f"{text}.shape != {leaf.shape!r}", f"canonical({text}.dtype) != {dtype}")
            case _:
                assert_never(leaf.kind)

    def _array_guards(self, arrays: Sequence[tuple[str, LeafInput]]) -> None:
        """Tests the types of all jax arrays at once.

        What JAX says of an array's type is one object for all arrays that one executable made, so the types last seen
        are kept: comparing a list of the same objects is fast.
        """
        if not arrays:
            return
        source = self.source
        texts = [text for text, _ in arrays]
        everything = [f"R[{i}]" for i in range(len(self.plan.cells))]
        source.add(f"A = {'R' if texts == everything else '[' + ', '.join(texts) + ']'}")
        seen = source.constant([ShapedArray(leaf.shape, leaf.dtype, weak_type=leaf.weak_type) for _, leaf in arrays])
        source.add("avals = [a.aval for a in A]")
        source.miss_if(f"avals != {seen}")
        source.add(f"{seen}[:] = avals")
        for i, (_, leaf) in enumerate(arrays):
            if leaf.graph_input is not None:
                self.expressions[leaf.graph_input] = f"A[{i}]"
        self._n_arrays = len(arrays)

    def in_runs(self, texts: Sequence[str]) -> list[str]:
        """Returns the expressions with slices in place of longer runs of `A`."""
        return in_runs(texts, "A")

    def held(self) -> str:
        """Returns the expression that says whether somebody else holds an array that is to be donated."""
        source = self.source
        source.scope["held_most"] = held_most
        texts = [self.expressions[i] for i in self.donated]
        picked = "A" if texts == [f"A[{i}]" for i in range(self._n_arrays)] else f"[{', '.join(self.in_runs(texts))}]"
        # `R`, and `A` where it is another list, hold each array; so does the list that is picked from them
        limit = HELD_IN_CELL + (picked != "A") + (not self._is_one_list())
        return f"held_most({picked}) > {limit}"

    def _is_one_list(self) -> bool:
        return self._n_arrays == len(self.plan.cells) and all(
            cell.tree == SINGLE and cell.leaves[0].kind == "array" for cell in self.plan.cells
        ) and not self.plan.arrays  # fmt: skip


def held_most(arrays: Sequence[Any]) -> int:
    """Returns the largest of the reference counts of some arrays."""
    return max(map(sys.getrefcount, arrays))


def _held_in_cell() -> int:
    class Cell:
        __slots__ = ("value",)

    cells = [Cell()]
    cells[0].value = object()
    arrays = [c.value for c in cells]
    return held_most(arrays)


HELD_IN_CELL = _held_in_cell()
"""What `held_most` says of an array that a cell and one list hold; measured, as CPythons differ."""
