"""The alias plan: what a traced function did to storages and handles, and how its outputs come back.

Storages are numbered: first the distinct storages of the inputs, then the fresh ones. Tensors likewise: first the
tensor inputs, then the tensors made. A history is what tensors share through which gradients flow.
"""

from __future__ import annotations

from typing import Any

from jaxaot._immutable import immutable
from jaxaot.plan.world import OutsideObject
from jaxaot.views.chain import ViewChain
from jaxaot.views.layout import Layout


@immutable
class StorageWrite:
    """A storage of an input that holds another value afterwards.

    Attributes:
      storage: Which.
      output: Graph output with the new value; None if it holds no bytes afterwards.
      layout: How that value lies in memory.
      n_written: How much of it holds values; None for all.
      is_written: Whether values were written, rather than its size changed alone.
      is_resized: Whether its size changed on the way.
    """

    storage: int
    output: int | None
    layout: Layout
    n_written: int | None
    is_written: bool
    is_resized: bool


@immutable
class FreshStorage:
    """A storage that the function made and that outlives the call."""

    output: int | None
    layout: Layout
    n_written: int | None


@immutable
class FreedStorage:
    """A storage of an input that holds no bytes afterwards, whose content the backward reads when it is filled again.

    Attributes:
      storage: Which.
      content: Graph output with what it held last, or None if that is what it held before the call.
      layout: How that lay in memory.
    """

    storage: int
    content: int | None
    layout: Layout


@immutable
class HistoryOfInput:
    """The history that a tensor input had before the call."""

    tensor: int


@immutable
class HistoryOfNode:
    """A history whose gradients flow into the call.

    Attributes:
      output: Output of the call's node.
      tensor: The tensor input whose history moved on to this; None for a fresh one.
      layout: Of its base.
      offset: Where its base begins.
    """

    output: int
    tensor: int | None
    layout: Layout
    offset: int


@immutable
class HistoryOfLeaf:
    """A history without a node: of a leaf, or of tensors that do not require grad."""

    requires_grad: bool
    layout: Layout
    offset: int
    leaf: int | None


HistorySource = HistoryOfInput | HistoryOfNode | HistoryOfLeaf


@immutable
class CounterOfInput:
    """The write counter of a tensor input."""

    tensor: int


@immutable
class FreshCounter:
    """A write counter made by the function.

    Attributes:
      n: Number of writes so far.
    """

    n: int


CounterSource = CounterOfInput | FreshCounter


@immutable
class TensorSpec:
    """A tensor as it is after the call.

    Attributes:
      storage: Number of its storage.
      layout: What it shows.
      offset: Where that begins.
      history: Number of its history, or None.
      base: Number of the tensor that it is a view of, or None.
      chain: Steps from the base of its history.
      creation: How the view was made, where that forbids writes.
      counter: Number of its write counter; None for an input's own, and for one that need not be made yet.
    """

    storage: int
    layout: Layout
    offset: int
    history: int | None
    base: int | None
    chain: ViewChain
    creation: str | None
    counter: int | None


@immutable
class TensorChange:
    """A tensor input that shows something else afterwards."""

    tensor: int
    spec: TensorSpec


@immutable
class GradChange:
    """A tensor input whose `.grad` was replaced, by tensor number `grad` or None."""

    tensor: int
    grad: int | None


@immutable
class TensorOutput:
    """An output that is tensor number `tensor`: an input itself, or one that was made."""

    tensor: int


@immutable
class ArrayOutput:
    """An output that is a bare jax array."""

    output: int


@immutable
class ConstantOutput:
    """An output that is no tensor, the same at every call."""

    value: Any


OutputSource = TensorOutput | ArrayOutput | ConstantOutput | OutsideObject


@immutable
class AliasPlan:
    """How the graph's outputs become what the user's function did and returned.

    Attributes:
      writes: Storages of inputs that changed.
      fresh: Storages made.
      freed: Storages of inputs that lost their bytes; their contents are the last graph outputs, in this order.
      histories: Histories of the tensors below.
      counters: Write counters of the tensors made.
      bumps: Tensor inputs whose write counter grew, one for each counter, and by how much.
      made: Tensors made, bases before their views.
      changes: Tensor inputs whose metadata changed.
      grads: Tensor inputs whose `.grad` was replaced.
      outputs: One for each leaf of the result.
      differentiable: Graph outputs that carry the gradients of the node's outputs.
      reached: Graph inputs that gradients flow to, each with a tensor input that has that history.
      read: Distinct storages whose values the function used.
    """

    writes: tuple[StorageWrite, ...]
    fresh: tuple[FreshStorage, ...]
    freed: tuple[FreedStorage, ...]
    histories: tuple[HistorySource, ...]
    counters: tuple[CounterSource, ...]
    bumps: tuple[tuple[int, int], ...]
    made: tuple[TensorSpec, ...]
    changes: tuple[TensorChange, ...]
    grads: tuple[GradChange, ...]
    outputs: tuple[OutputSource, ...]
    differentiable: tuple[int, ...]
    reached: tuple[tuple[int, int], ...]
    read: tuple[int, ...]

    @property
    def refills(self) -> tuple[FreedStorage, ...]:
        """The freed storages whose contents are graph outputs."""
        return tuple(freed for freed in self.freed if freed.content is not None)
