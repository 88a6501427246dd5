"""The call plan: what a traced function takes, and how a later call finds it again.

A *path* leads from a call's `args`, `kwargs` or `fn` to a value: steps of `("attr", name)`, `("item", key)` and so on
from a root. Graph inputs are, in order: one for each distinct storage, one for each further history that gradients flow
to, one for each array or number argument, and the seeds and offsets of generators last.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
from collections.abc import Iterable
from typing import Any

from jaxaot._typing import Shape
from jaxaot.views.chain import ViewChain
from jaxaot.views.layout import Layout

PathStep = tuple[str, Any]
Path = tuple[PathStep, ...]


def function_behind(member: Any) -> types.FunctionType | None:
    """Returns the function behind a member of a class: a method, a property, or one that a decorator wrapped."""
    if isinstance(member, (staticmethod, classmethod)):
        member = member.__func__
    if isinstance(member, property):
        member = member.fget
    if not isinstance(member, types.FunctionType):
        member = getattr(member, "func" if isinstance(member, functools.cached_property) else "__wrapped__", None)
    return member if isinstance(member, types.FunctionType) else None


def class_member(cls: type, name: str) -> Any:
    """Returns where the step `("class", name)` leads from a class: the function behind a member, or the member.

    Raises:
      AttributeError: If there is none.
    """
    for owner in cls.__mro__:
        if name in vars(owner):
            return function_behind(vars(owner)[name]) or vars(owner)[name]
    raise AttributeError(name)


def follow(roots: Iterable[tuple[Path, Any]], path: Path) -> Any:
    """Returns the value at the end of a path.

    Args:
      roots: Where paths start, each with its own path.
      path: The path.
    """
    value: Any = dict(roots)[path[:1]]
    for kind, key in path[1:]:
        match kind:
            case "attr":
                value = getattr(value, key)
            case "item":
                value = value[key]
            case "closure":
                value = value.__closure__[key[0]].cell_contents
            case "global":
                value = value.__globals__[key]
            case "type":
                value = type(value)
            case _:
                value = class_member(value, key)
    return value


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
      lineage: What it is a view of; None where that does not matter.
      hooks: Numbers of the hooks on its gradient; None where no gradient was added to `.grad`.
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


class Seen(enum.Enum):
    """What was seen of a Python object on the way, and decided what was traced."""

    VALUE = "value"  # a number, string, bool or None
    IDENTITY = "identity"  # something of a library: a function, class or dtype
    WEAK = "weak"  # an array or object, by a weak reference
    CODE = "code"  # a function, by its code
    TYPE = "type"  # the class of an object
    LENGTH = "length"  # the number of items of a list or tuple
    ATTRIBUTES = "attributes"  # the number of attributes of an object
    ABSENT = "absent"  # an attribute or global variable that there is not
    CONTENT = "content"  # a NumPy array, by its dtype, shape and fingerprint
    LAYOUT = "layout"  # a tensor whose values are not used
    KEYS = "keys"  # the keys of a dict
    MEMBERS = "members"  # the members of a set
    SAME = "same"  # an object that another path leads to as well
    TENSOR = "tensor"  # a tensor input that another path leads to as well


def differs(value: Any, other: Any) -> bool:
    """Returns whether two values are not of one type, or not equal; 1, 1.0 and True are different ones."""
    if type(value) is not type(other):
        return True
    if type(value) is tuple:
        return len(value) != len(other) or any(map(differs, value, other))
    return bool(value != other)


@dataclasses.dataclass(frozen=True)
class StaticInput:
    """An argument that the program was specialised on.

    Attributes:
      leaf: Position among the leaves of the arguments.
      seen: `VALUE` of what compares, `WEAK` of an object that is known by its identity, `TYPE` of a generator.
      value: What it was.
    """

    leaf: int
    seen: Seen
    value: Any


@dataclasses.dataclass(frozen=True)
class PythonGuard:
    """A part of the Python world that the function may have read: its closure, globals, and attributes of objects.

    Attributes:
      path: Leads there.
      seen: What is compared.
      value: What it was.
    """

    path: Path
    seen: Seen
    value: Any


@dataclasses.dataclass(frozen=True)
class CallPlan:
    """What a traced function takes.

    Attributes:
      tensors: Every tensor reached.
      storages: Every distinct storage, in graph-input order.
      ghosts: Further histories.
      values: Arrays and numbers passed.
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
