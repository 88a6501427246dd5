"""Generates the part of a call that concerns cells, bare arrays and objects: guards, operands, and what is put back.

In the generated code `O` are the guarded objects, `C` the cells and `A` the jax arrays that cells and objects hold, in
one list each, because a comprehension over a hundred cells is faster than a hundred statements.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxaot._jax import ShapedArray, canonical_dtype
from jaxaot.plan.places import (
    AttributeWrite,
    BuiltArray,
    BuiltLeaf,
    BuiltValue,
    CellWrite,
    LeafInput,
    MetadataWrite,
    OutsideObject,
    PlaceWrite,
)
from jaxaot.tensor.cells import cell_kinds, fingerprint

if TYPE_CHECKING:
    from jaxaot.runtime.call import _Writer
    from jaxaot.runtime.program import Program

_SINGLE = jax.tree.structure(0)


class PlaceWriter:
    """Writes what one program's call does with places."""

    def __init__(self, writer: _Writer, program: Program):
        self.writer = writer
        self.program = program
        self.plan = program.traced.places
        self.expressions: dict[int, str] = {}  # graph input → expression
        self._n_arrays = 0

    def guards(self, depth: int) -> None:
        """Writes the guards, and the gathering of `C` and `A`."""
        plan, writer = self.plan, self.writer
        for path, other in plan.same:
            writer.add(f"if {self._text(path, depth)} is not {self._text(other, depth)}: return MISS", depth)
        self._object_guards(depth)
        if plan.statics:
            writer.plain_guard([self._text(p, depth) for p, _ in plan.statics], [v for _, v in plan.statics], depth)
        for path, dtype, shape, content in plan.contents:
            writer.scope["ndarray"], writer.scope["fingerprint"] = np.ndarray, fingerprint
            text = self._text(path, depth)
            dtype_name, bytes_name = writer.constant(dtype), writer.constant(content)
            writer.add(
                f"if not isinstance({text}, ndarray) or {text}.dtype != {dtype_name} or {text}.shape != {shape} or "
                f"fingerprint({text}) != {bytes_name}: return MISS",
                depth,
            )
        arrays: list[tuple[str, LeafInput]] = []
        self._cell_guards(arrays, depth)
        for number, bare in enumerate(plan.arrays):
            writer.add(f"b{number} = {self._text(bare.path, depth)}", depth)
            self._leaf(f"b{number}", bare.leaf, arrays, depth)
        self._array_guards(arrays, depth)

    def _text(self, path: Any, depth: int) -> str:
        """Returns the expression that follows a path; only what lies before its last step gets a name."""
        writer = self.writer
        if path in writer.names or path[-1][0] == "root":
            return writer.path(path, depth)
        return writer.step(writer.path(path[:-1], depth), path[-1])

    def _object_guards(self, depth: int) -> None:
        writer, guards = self.writer, self.plan.objects
        if not guards:
            return
        names = {guard.path: self.writer.path(guard.path, depth) for guard in guards}
        writer.add(f"O = ({''.join(name + ', ' for name in names.values())})", depth)
        types = writer.constant([guard.python_type for guard in guards])
        writer.add(f"if [*map(type, O)] != {types}: return MISS", depth)
        for field, text in (("n_attributes", "len(o.__dict__)"), ("n_items", "len(o)")):
            counts = [(names[g.path], getattr(g, field)) for g in guards if getattr(g, field) is not None]
            if counts:
                among = "O" if len(counts) == len(guards) else f"({''.join(name + ', ' for name, _ in counts)})"
                expected = writer.constant([count for _, count in counts])
                writer.add(f"if [{text} for o in {among}] != {expected}: return MISS", depth)

    def _cell_guards(self, arrays: list[tuple[str, LeafInput]], depth: int) -> None:
        writer, cells = self.writer, self.plan.cells
        if not cells:
            return
        writer.add(f"C = ({''.join(writer.path(cell.path, depth) + ', ' for cell in cells)})", depth)
        writer.add(f"if [*map(type, C)] != {writer.constant([c.python_type for c in cells])}: return MISS", depth)
        if len(cells) > 1:
            writer.add("ids = [*map(id, C)]", depth)
            seen = writer.constant([])
            writer.add(f"if ids != {seen}:", depth)
            writer.add(f"if len({{*ids}}) != {len(cells)}: return MISS", depth + 1)
            writer.add(f"{seen}[:] = ids", depth + 1)
        self._metadata_guards(depth)
        writer.add(f"R = {self._attributes('value_attribute', range(len(cells)))}", depth)
        for number, cell in enumerate(cells):
            if cell.tree == _SINGLE:
                self._leaf(f"R[{number}]", cell.leaves[0], arrays, depth)
                continue
            writer.scope["flatten"] = jax.tree.flatten
            writer.add(f"l{number}, tree = flatten(R[{number}])", depth)
            writer.add(f"if tree != {writer.constant(cell.tree)}: return MISS", depth)
            for i, leaf in enumerate(cell.leaves):
                self._leaf(f"l{number}[{i}]", leaf, arrays, depth)
        writable = {w.cell for w in self.plan.writes if isinstance(w, CellWrite)}
        if writable:
            first = min(writable)
            kind = cell_kinds()[cells[first].kind]
            writer.add(f"{writer.constant(kind.check_writable)}(C[{first}])", depth)

    def _metadata_guards(self, depth: int) -> None:
        """Compares the plain values of cells; of those that every cell has, which hardly change, only the number."""
        writer, cells = self.writer, self.plan.cells
        usual = [cell_kinds()[cell.kind].usual_metadata == {name for name, _ in cell.metadata} for cell in cells]
        for wanted in (True, False):
            chosen = [i for i, is_usual in enumerate(usual) if is_usual is wanted]
            if chosen:
                metadata = self._attributes("metadata_attribute", chosen)
                found = f"[*map(len, {metadata})]" if wanted else metadata
                expected = [len(cells[i].metadata) if wanted else dict(cells[i].metadata) for i in chosen]
                writer.add(f"if {found} != {writer.constant(expected)}: return MISS", depth)

    def _attributes(self, which: str, chosen: Sequence[int]) -> str:
        """Returns the expression of a list with one attribute of each of the chosen cells."""
        cells = self.plan.cells
        names = [getattr(cell_kinds()[cells[i].kind], which) for i in chosen]
        if len(set(names)) == 1:
            among = "C" if len(chosen) == len(cells) else f"({''.join(f'C[{i}], ' for i in chosen)})"
            return f"[c.{names[0]} for c in {among}]"
        return f"[{', '.join(f'C[{i}].{name}' for i, name in zip(chosen, names, strict=True))}]"

    def _leaf(self, text: str, leaf: LeafInput, arrays: list[tuple[str, LeafInput]], depth: int) -> None:
        """Writes the guard of one leaf, or leaves it to the guard of all jax arrays."""
        writer = self.writer
        if leaf.graph_input is not None:
            self.expressions[leaf.graph_input] = text
        match leaf.kind:
            case "array":
                arrays.append((text, leaf))
            case "number":
                writer.add(f"if type({text}) is not {leaf.python_type.__name__}: return MISS", depth)
            case "static":
                writer.plain_guard([text], [leaf.static], depth)
            case _:
                writer.scope["canonical_dtype"] = canonical_dtype
                python_type = "" if leaf.python_type is None else (
                    f"type({text}) is not {writer.constant(leaf.python_type)} or "
                )  # fmt: skip
                dtype = writer.constant(leaf.dtype)
                writer.add(
                    f"if {python_type}{text}.shape != {leaf.shape!r} or canonical_dtype({text}.dtype) != {dtype}: "
                    "return MISS",
                    depth,
                )

    def _array_guards(self, arrays: Sequence[tuple[str, LeafInput]], depth: int) -> None:
        """Tests the types of all jax arrays at once.

        What JAX says of an array's type is one object for all arrays that one executable made, so the types last seen
        are kept: comparing a list of the same objects is fast.
        """
        if not arrays:
            return
        writer = self.writer
        texts = [text for text, _ in arrays]
        everything = [f"R[{i}]" for i in range(len(self.plan.cells))]
        writer.add(f"A = {'R' if texts == everything else '[' + ', '.join(texts) + ']'}", depth)
        seen = writer.constant([ShapedArray(leaf.shape, leaf.dtype, weak_type=leaf.weak_type) for _, leaf in arrays])
        writer.add("avals = [a.aval for a in A]", depth)
        writer.add(f"if avals != {seen}: return MISS", depth)
        writer.add(f"{seen}[:] = avals", depth)
        for i, (_, leaf) in enumerate(arrays):
            if leaf.graph_input is not None:
                self.expressions[leaf.graph_input] = f"A[{i}]"
        self._n_arrays = len(arrays)

    def operands(self) -> list[str]:
        """Returns the expressions of the graph inputs, in order."""
        return self._in_runs([self.expressions[i] for i in sorted(self.expressions)])

    def _in_runs(self, texts: Sequence[str]) -> list[str]:
        """Returns the expressions with slices in place of longer runs of `A`."""
        number = {f"A[{i}]": i for i in range(self._n_arrays)}
        found: list[str] = []
        start = 0
        while start < len(texts):
            end = start + 1
            while end < len(texts) and number.get(texts[end]) == number.get(texts[start], -2) + end - start:
                end += 1
            first = number.get(texts[start], 0)
            found += [f"*A[{first}:{first + end - start}]"] if end - start > 4 else texts[start:end]
            start = end
        return found

    def held(self, is_in_arrays: bool) -> str:
        """Returns the expression that says whether somebody else holds an array that is to be donated."""
        writer = self.writer
        writer.scope["held_most"] = held_most
        texts = [self.expressions[i] for i in self.program.donated_places]
        picked = "A" if texts == [f"A[{i}]" for i in range(self._n_arrays)] else f"[{', '.join(self._in_runs(texts))}]"
        # `R`, and `A` where it is another list, hold each array; so does the list that is picked from them
        limit = HELD_IN_CELL + (picked != "A") + (not self._is_one_list()) + is_in_arrays
        return f"held_most({picked}) > {limit}"

    def _is_one_list(self) -> bool:
        return self._n_arrays == len(self.plan.cells) and all(
            cell.tree == _SINGLE and cell.leaves[0].kind == "array" for cell in self.plan.cells
        ) and not self.plan.arrays  # fmt: skip

    def write_back(self) -> None:
        """Writes what is put back after the run: first all values are made, then they are put into their places."""
        writer = self.writer
        swaps: dict[str, list[tuple[int, str]]] = {}
        rest: list[tuple[PlaceWrite, str]] = []
        for number, write in enumerate(self.plan.writes):
            if isinstance(write, CellWrite):
                swaps.setdefault(self.plan.cells[write.cell].kind, []).append((write.cell, self._built(write.value)))
            elif isinstance(write, MetadataWrite) or write.value is None:
                rest.append((write, ""))
            else:
                writer.add(f"w{number} = {self._built(write.value)}")
                rest.append((write, f"w{number}"))
        for kind, items in swaps.items():
            put = writer.constant(cell_kinds()[kind].write)
            if len(items) <= 4:
                for cell, text in items:
                    writer.add(f"{put}(C[{cell}], {text})")
            else:
                cells = [cell for cell, _ in items]
                is_all = cells == list(range(len(self.plan.cells)))
                picked = "C" if is_all else f"({', '.join(f'C[{cell}]' for cell in cells)})"
                writer.add(f"[*map({put}, {picked}, ({', '.join(text for _, text in items)}))]")
        for write, text in rest:
            self._put(write, text)

    def _put(self, write: PlaceWrite, text: str) -> None:
        writer = self.writer
        match write:
            case MetadataWrite(cell, metadata):
                name = cell_kinds()[self.plan.cells[cell].kind].metadata_attribute
                writer.add(f"C[{cell}].{name}.clear()")
                writer.add(f"C[{cell}].{name}.update({writer.constant(dict(metadata))})")
            case AttributeWrite(path, name, value):
                owner = writer.path(path, 1)
                if value is None:
                    writer.add(f"del {owner}.__dict__[{name!r}]")
                else:
                    writer.scope["setattribute"] = object.__setattr__
                    writer.add(f"setattribute({owner}, {name!r}, {text})")
            case _:
                writer.scope["refill"] = refill
                writer.add(f"refill({writer.path(write.path, 1)}, {text})")

    def _built(self, value: BuiltValue) -> str:
        texts = [self._built_leaf(leaf) for leaf in value.leaves]
        if value.tree == _SINGLE:
            return texts[0]
        return f"{self.writer.constant(value.tree)}.unflatten([{', '.join(texts)}])"

    def _built_leaf(self, leaf: BuiltLeaf) -> str:
        if isinstance(leaf, BuiltArray):
            return f"out[{leaf.output}]"
        if isinstance(leaf, OutsideObject):
            return self.writer.path(leaf.path, 1)
        return "None" if leaf.value is None else self.writer.constant(leaf.value)


def refill(container: Any, items: Any) -> None:
    """Gives a list or a dict other items."""
    if isinstance(container, dict):
        container.clear()
        container.update(items)
    else:
        container[:] = items


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
