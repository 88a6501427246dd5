"""The signature: what a traced function takes, changes and returns, in the user's words. Derived from the plans."""

from __future__ import annotations

from typing import Any, assert_never

from jaxaot._immutable import immutable
from jaxaot._typing import Shape
from jaxaot.plan.alias import AliasPlan, ArrayOutput, ConstantOutput, TensorOutput
from jaxaot.plan.call import CallPlan
from jaxaot.plan.cells import PlacePlan
from jaxaot.plan.paths import path_text
from jaxaot.plan.pictures import Printed
from jaxaot.plan.rng import RngPlan
from jaxaot.plan.world import AttributeWrite, BuiltConstant, CellWrite, ItemWrite, OutsideObject, WorldPlan
from jaxaot.views.layout import Layout


@immutable
class InputSignature:
    """A tensor that the function takes or reaches.

    Attributes:
      name: Where it is found.
      storage: Number of its storage.
      view: (size, stride, offset) of what it shows.
      mutates_data: Whether its storage's values change.
      mutates_metadata: Whether it shows something else afterwards.
      storage_resize: Whether its storage's size changes.
      requires_grad: Whether gradients flow to it.
      is_argument: Whether it was passed.
    """

    name: str
    storage: int
    view: tuple[Any, Any, int]
    mutates_data: bool
    mutates_metadata: bool
    storage_resize: bool
    requires_grad: bool
    is_argument: bool


@immutable
class StorageSignature:
    """A distinct storage: one graph input."""

    name: str
    layout: Layout
    is_read: bool
    is_written: bool
    is_resized: bool

    @property
    def nbytes(self) -> int:
        return self.layout.nbytes


@immutable
class CellSignature:
    """A mutable place that holds bare arrays, such as an `nnx.Variable`, or a bare array that is reached.

    Attributes:
      name: Where it is found.
      arrays: Shape and dtype of each of its arrays.
      is_read: Whether the function uses its value.
      is_written: Whether it holds another one afterwards.
    """

    name: str
    arrays: tuple[tuple[Shape, Any], ...]
    is_read: bool
    is_written: bool


@immutable
class OutputSignature:
    """An output.

    Attributes:
      kind: `plain`, `alias_of_input`, `is_input`, `alias_of_intermediate` or `constant`.
      base: Name of the input, or number of the output, whose storage it shares; None if it has its own.
      view: (size, stride, offset) of what it shows; None for one that is no tensor.
    """

    kind: str
    base: str | int | None
    view: tuple[Any, Any, int] | None


@immutable
class Signature(Printed):
    """What a traced function takes, changes and returns."""

    inputs: tuple[InputSignature, ...]
    storages: tuple[StorageSignature, ...]
    outputs: tuple[OutputSignature, ...]
    rng: RngPlan
    pytree: tuple[Any, Any]
    cells: tuple[CellSignature, ...] = ()

    def __str__(self) -> str:
        lines = ["storages:"]
        for s in self.storages:
            done = [
                w for w, is_so in (("read", s.is_read), ("written", s.is_written), ("resized", s.is_resized)) if is_so
            ]
            lines.append(f"  {s.name}: {s.layout.dtype}{list(s.layout.size)}, {', '.join(done) or 'not used'}")
        lines += ["cells:"] if self.cells else []
        for cell in self.cells:
            done = [w for w, is_so in (("read", cell.is_read), ("written", cell.is_written)) if is_so]
            arrays = ", ".join(f"{dtype}{list(shape)}" for shape, dtype in cell.arrays)
            lines.append(f"  {cell.name}: {arrays}, {', '.join(done) or 'not used'}")
        lines.append("outputs:")
        for i, o in enumerate(self.outputs):
            lines.append(f"  {i}: {o.kind}" + ("" if o.base is None else f" of {o.base}"))
        return "\n".join(lines)


def make_signature(
    call: CallPlan, alias: AliasPlan, rng: RngPlan, pytree: tuple[Any, Any], places: PlacePlan, world: WorldPlan
) -> Signature:
    """Returns the signature that the plans spell."""
    written = {w.storage for w in alias.writes if w.is_written}
    resized = {w.storage for w in alias.writes if w.is_resized}
    changed = {c.tensor for c in alias.changes if _shows_other(c, call)}
    inputs = tuple(
        InputSignature(
            t.name, t.storage, (t.layout.size, t.layout.stride, t.offset), t.storage in written, i in changed,
            t.storage in resized, t.requires_grad, t.is_argument,
        )
        for i, t in enumerate(call.tensors)
    )  # fmt: skip
    storages = tuple(
        StorageSignature(call.tensors[s.tensor].name, s.layout, i in alias.read, i in written, i in resized)
        for i, s in enumerate(call.storages)
    )
    outputs: list[OutputSignature] = []
    n_inputs, n_storages = len(call.tensors), len(call.storages)
    shared: dict[int, int] = {}
    for position, source in enumerate(alias.outputs):
        match source:
            case ConstantOutput():
                outputs.append(OutputSignature("constant", None, None))
            case OutsideObject(path):
                outputs.append(OutputSignature("is_input", path_text(path), None))
            case ArrayOutput():
                outputs.append(OutputSignature("plain", None, None))
            case TensorOutput(tensor) if tensor < n_inputs:
                t = call.tensors[tensor]
                outputs.append(OutputSignature("is_input", t.name, (t.layout.size, t.layout.stride, t.offset)))
            case TensorOutput(tensor):
                spec = alias.made[tensor - n_inputs]
                view = (spec.layout.size, spec.layout.stride, spec.offset)
                if spec.storage < n_storages:
                    name = call.tensors[call.storages[spec.storage].tensor].name
                    outputs.append(OutputSignature("alias_of_input", name, view))
                elif spec.storage in shared:
                    outputs.append(OutputSignature("alias_of_intermediate", shared[spec.storage], view))
                else:
                    shared[spec.storage] = position
                    is_view = spec.base is not None
                    outputs.append(OutputSignature("alias_of_intermediate" if is_view else "plain", None, view))
            case _:
                assert_never(source)
    return Signature(inputs, storages, tuple(outputs), rng, pytree, _cells(places, world))


def _cells(places: PlacePlan, world: WorldPlan) -> tuple[CellSignature, ...]:
    changed = {write.cell for write in world.writes if isinstance(write, CellWrite)}
    found = [(cell.name, cell.leaves, i in changed) for i, cell in enumerate(places.cells)]
    rebound = {(*w.path, ("attr", w.name)) for w in world.writes if isinstance(w, AttributeWrite)}
    rebound |= {
        (*w.path, ("item", w.key.value))
        for w in world.writes
        if isinstance(w, ItemWrite) and isinstance(w.key, BuiltConstant)
    }
    found += [(array.name, (array.leaf,), array.path in rebound) for array in places.arrays]
    return tuple(
        CellSignature(
            name,
            tuple((leaf.shape, leaf.dtype) for leaf in leaves if leaf.kind != "static"),
            any(leaf.graph_input is not None for leaf in leaves),
            is_written,
        )
        for name, leaves, is_written in found
    )


def _shows_other(change: Any, call: CallPlan) -> bool:
    tensor = call.tensors[change.tensor]
    spec = change.spec
    return (spec.storage, spec.layout, spec.offset) != (tensor.storage, tensor.layout, tensor.offset)
