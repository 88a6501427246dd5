"""The call plan: what a traced function takes, and how a later call finds it again.

A *path* leads from a call's `args`, `kwargs` or `fn` to a value: steps of `("attr", name)`, `("item", key)` and so on
from a root. Graph inputs are, in order: one for each distinct storage, one for each further history that gradients flow
to, one for each array or number argument, and the seeds and offsets of generators last.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from jaxaot._typing import Shape
from jaxaot.views.layout import Layout

PathStep = tuple[str, Any]
Path = tuple[PathStep, ...]


def path_text(path: Path) -> str:
    """Returns a path as the Python expression that a user would write, such as `model.layers[0].weight`."""
    text = ""
    for kind, key in path:
        match kind:
            case "root":
                text = key
            case "attr":
                text += f".{key}"
            case "item":
                text += f"[{key!r}]"
            case "closure":
                text = key[1]  # the name that the user's function gives it
            case "global":
                text = key
            case "type":
                text = f"type({text})"
            case "class":
                text += f".{key}"
    return text


@dataclasses.dataclass(frozen=True)
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

    @property
    def name(self) -> str:
        return path_text(self.path)


@dataclasses.dataclass(frozen=True)
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


@dataclasses.dataclass(frozen=True)
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


@dataclasses.dataclass(frozen=True)
class ValueInput:
    """An array or a number that was passed.

    Attributes:
      leaf: Which leaf of the arguments.
      shape: Of the array.
      dtype: As JAX sees it.
      number_type: Python type of a number; None for an array.
    """

    leaf: int
    shape: Shape
    dtype: Any
    number_type: Any


@dataclasses.dataclass(frozen=True)
class GradGuard:
    """A `.grad` that decided what was traced: None, or the tensor input at `tensor.grad`."""

    tensor: int
    is_none: bool


@dataclasses.dataclass(frozen=True)
class AttributeGuard:
    """Plain Python values of an object or function on the way to a tensor, which may have decided what was traced.

    Attributes:
      path: Leads to the object or function.
      steps: From there, a step for each value.
      values: Numbers, strings, bools and None, as they were.
    """

    path: Path
    steps: Path
    values: tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class CallPlan:
    """What a traced function takes.

    Attributes:
      tensors: Every tensor reached.
      storages: Every distinct storage, in graph-input order.
      ghosts: Further histories.
      values: Arrays and numbers passed.
      n_leaves: Number of leaves of the arguments.
      statics: `(leaf, value)` of the arguments that the program was specialised on.
      grads: Guards on `.grad`.
      attributes: Guards on plain Python values that the function may have read.
      grad_enabled: Whether recording was on.
    """

    tensors: tuple[TensorInput, ...]
    storages: tuple[StorageInput, ...]
    ghosts: tuple[GhostInput, ...]
    values: tuple[ValueInput, ...]
    n_leaves: int
    statics: tuple[tuple[int, Any], ...]
    grads: tuple[GradGuard, ...]
    attributes: tuple[AttributeGuard, ...]
    grad_enabled: bool
