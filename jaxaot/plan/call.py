"""The call plan: what a traced function takes, and how a later call finds it again.

Graph inputs are, in order: one for each distinct storage, one for each further history that gradients flow
to, one for each array or number argument, one for each tensor that is passed as its values, one for each number that is
computed, and the seeds and offsets of generators last.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._typing import Shape
from jaxaot.plan.guards import GradGuard, PythonGuard, StaticInput
from jaxaot.plan.number_program import NumberPlan
from jaxaot.plan.paths import Path, path_text
from jaxaot.views.chain import ViewChain
from jaxaot.views.layout import Layout


@immutable
class Lineage:
    """What a tensor is a view of, where that decides what was traced: a view of it was made, or it was written.

    Attributes:
      base: Number of the tensor that it is a view of; None if it is no view, -1 where that does not matter.
      chain: Steps from the base of its history.
      creation: How the view was made, where that forbids writes.
      layout: Of the base of its history, if gradients flow to it.
      offset: Where that begins.
    """

    base: int | None
    chain: ViewChain
    creation: str | None
    layout: Layout | None
    offset: int


@immutable
class TensorInput:
    """A tensor that a traced function reached.

    Attributes:
      path: How a call finds it.
      storage: Which distinct storage it shows.
      layout: What it shows of it.
      offset: Where that begins.
      requires_grad: Whether gradients flow to it.
      is_leaf: Whether it is a leaf.
      history: Number of its history among those of the inputs; None if it has none.
      counter: Number of its write counter among those of the inputs; None if it has none yet.
      is_argument: Whether it was passed, rather than reached through a closure, a global or an object.
      lineage: What it is a view of; None where that does not matter.
      hooks: Numbers of the hooks on its gradient; None where no gradient was added to `.grad`.
      is_value: Whether its values are passed, and not its storage: where in that, and with which gaps, is no matter.
      has_strides: Whether its strides matter nevertheless, as the function asks for them.
    """

    path: Path
    storage: int
    layout: Layout
    offset: int
    requires_grad: bool
    is_leaf: bool
    history: int | None
    counter: int | None
    is_argument: bool
    lineage: Lineage | None = None
    hooks: tuple[int, ...] | None = None
    is_value: bool = False
    has_strides: bool = False

    @property
    def name(self) -> str:
        return path_text(self.path)


@immutable
class StorageInput:
    """A distinct storage among the tensors reached.

    Attributes:
      layout: How its array lies in memory.
      tensor: The first tensor input that shows it.
      graph_input: Its position among the graph's inputs; None if it holds no bytes.
      n_written: How much of it held values; None for all.
    """

    layout: Layout
    tensor: int
    graph_input: int | None
    n_written: int | None

    @property
    def nbytes(self) -> int:
        return self.layout.nbytes


@immutable
class GhostInput:
    """A second history on a storage: the same array once more, for its gradient's sake.

    Attributes:
      storage: Which distinct storage.
      tensor: A tensor input with that history.
      is_empty: Whether the storage held no bytes; the graph's input is then never passed, as no value depends on it.
    """

    storage: int
    tensor: int
    is_empty: bool


@immutable
class ValueInput:
    """An array that was passed.

    Attributes:
      leaf: Which leaf of the arguments.
      shape: Of the array.
      dtype: As JAX sees it.
    """

    leaf: int
    shape: Shape
    dtype: Any


@immutable
class CallPlan:
    """What a traced function takes.

    Attributes:
      tensors: Every tensor reached.
      storages: Every distinct storage, in graph-input order.
      ghosts: Further histories.
      values: Arrays passed.
      numbers: The numbers that are computed at each call.
      parts: The tensors that are passed as their values.
      n_leaves: Number of leaves of the arguments.
      statics: The arguments that the program was specialised on.
      repeats: `(leaf, tensor)` where an argument is a tensor that another path leads to.
      grads: Guards on `.grad`.
      python: Guards on the Python objects that the function may have read.
      grad_enabled: Whether recording was on.
      autocast: In which precision listed ops ran; None as long as nothing was set.
    """

    tensors: tuple[TensorInput, ...]
    storages: tuple[StorageInput, ...]
    ghosts: tuple[GhostInput, ...]
    values: tuple[ValueInput, ...]
    n_leaves: int
    statics: tuple[StaticInput, ...]
    repeats: tuple[tuple[int, int], ...]
    grads: tuple[GradGuard, ...]
    python: tuple[PythonGuard, ...]
    grad_enabled: bool
    autocast: Any
    numbers: NumberPlan = dataclasses.field(default_factory=NumberPlan)
    parts: tuple[int, ...] = ()
