"""What a traced function did to Python's objects, to be done again at every call.

A *write* is a place, by the path that leads to it, and what it holds afterwards. That is a *value*: something that a
call has anyway (an output of the graph, a tensor, what a path leads to), a constant, or an object that the function
made. Objects that it made are numbered, so that one that is put into two places is made once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeGuard, TypeVar, assert_never

from jaxaot._immutable import immutable
from jaxaot.plan.paths import Path

# -- values ------------------------------------------------------------------------------------------------------------


@immutable
class OutsideObject:
    """What a path leads to before the call."""

    path: Path


@immutable
class OwnContainers:
    """Which parts of a result are lists and dicts from outside, that the call returns themselves.

    Attributes:
      tree: Tree of the result, of which each such part is a leaf.
      leaves: For each leaf of it how many leaves of the result it has, and the path that leads to it; None to others.
    """

    tree: Any
    leaves: tuple[tuple[int, Path | None], ...]


@immutable
class PassedValue:
    """Leaf number `leaf` of the arguments."""

    leaf: int


@immutable
class ComputedValue:
    """The number of a step of the call's numbers."""

    step: int


@immutable
class BuiltArray:
    """A graph output."""

    output: int


@immutable
class BuiltTensor:
    """A tensor: of the inputs, or one that was made."""

    tensor: int


@immutable
class BuiltConstant:
    """A value that is the same at every call."""

    value: Any


@immutable
class BuiltObject:
    """Object number `number` of those that the function made."""

    number: int


@immutable
class PendingValue:
    """An array or tensor of a trace that is running; none is left in a plan."""

    value: Any


Value = (
    OutsideObject | PassedValue | ComputedValue | BuiltArray | BuiltTensor | BuiltConstant | BuiltObject | PendingValue
)

# -- objects that are made ---------------------------------------------------------------------------------------------


@immutable
class MadeSequence:
    """A list, tuple, set or deque of class `cls`; `limit` is the most that a deque holds."""

    cls: Any
    items: tuple[Value, ...]
    limit: int | None = None


@immutable
class MadeMapping:
    """A dict of class `cls`; `factory` is what a defaultdict calls."""

    cls: Any
    keys: tuple[Value, ...]
    items: tuple[Value, ...]
    factory: Value | None = None


@immutable
class MadeInstance:
    """An instance of a class of the user's, by its attributes."""

    cls: Any
    names: tuple[str, ...]
    items: tuple[Value, ...]


@immutable
class MadeTree:
    """An object of a class that is registered with jax, by its leaves."""

    tree: Any
    items: tuple[Value, ...]


@immutable
class MadeCopy:
    """A NumPy array."""

    array: Any


@immutable
class MadeCall:
    """What a constant function returns: a method, or a function with variables of its own."""

    make: Any
    items: tuple[Value, ...]


Made = MadeSequence | MadeMapping | MadeInstance | MadeTree | MadeCopy | MadeCall

# -- writes ------------------------------------------------------------------------------------------------------------


@immutable
class CellWrite:
    """Cell number `cell` holds another value afterwards."""

    cell: int
    value: Value


@immutable
class MetadataWrite:
    """Cell number `cell` has other plain values afterwards, sorted by name."""

    cell: int
    metadata: tuple[tuple[str, Any], ...]


@immutable
class AttributeWrite:
    """An attribute of the object at `path` is another value afterwards; None if it is gone."""

    path: Path
    name: str
    value: Value | None
    is_of_class: bool = False


@immutable
class ItemWrite:
    """An item of the dict at `path` is another value afterwards; None if it is gone."""

    path: Path
    key: Value
    value: Value | None
    cls: Any = dict


@immutable
class RefillWrite:
    """The dict at `path` has other items afterwards, in another order."""

    path: Path
    keys: tuple[Value, ...]
    items: tuple[Value, ...]


@immutable
class SliceWrite:
    """`holder[start:stop]` of the list at `path` is other items afterwards."""

    path: Path
    start: int | None
    stop: int | None
    items: tuple[Value, ...]


@immutable
class DequeWrite:
    """The deque at `path` has other items afterwards; with `grows` these come beside those that it had."""

    path: Path
    items: tuple[Value, ...]
    limit: int | None
    grows: Literal["left", "right"] | None


@immutable
class MembersWrite:
    """The set at `path` has gained and lost members."""

    path: Path
    items: tuple[Value, ...]
    lost: tuple[Value, ...]


@immutable
class ContentWrite:
    """The NumPy array at `path` holds other values afterwards."""

    path: Path
    array: Any


@immutable
class ContextWrite:
    """The context variable at `path` has another value afterwards."""

    path: Path
    value: Value


@immutable
class HookWrite:
    """A hook is registered on the gradient of a tensor; None keeps the gradient, as `retain_grad` does."""

    tensor: Value
    hook: Value | None


WorldWrite = (
    CellWrite | MetadataWrite | AttributeWrite | ItemWrite | RefillWrite | SliceWrite | DequeWrite | MembersWrite
    | ContentWrite | ContextWrite | HookWrite
)  # fmt: skip

_VALUES = (OutsideObject, PassedValue, ComputedValue, BuiltArray, BuiltTensor, BuiltConstant, BuiltObject, PendingValue)

T = TypeVar("T", bound=Any)


def values_of(item: Made | WorldWrite) -> Iterator[Value]:
    """Yields the values that a write puts somewhere, or that an object is made of."""
    for field in dataclasses.fields(item):
        value = getattr(item, field.name)
        if isinstance(value, _VALUES):
            yield value
        elif type(value) is tuple:
            yield from (child for child in value if isinstance(child, _VALUES))


def with_values(item: T, change: Callable[[Value], Value]) -> T:
    """Returns a write or an object that is made with other values."""
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(item):
        value = getattr(item, field.name)
        if isinstance(value, _VALUES):
            changes[field.name] = change(value)
        elif type(value) is tuple and any(isinstance(child, _VALUES) for child in value):
            changes[field.name] = tuple(change(child) for child in value)
    return dataclasses.replace(item, **changes) if changes else item


def is_growth(write: WorldWrite) -> TypeGuard[SliceWrite | DequeWrite]:
    """Returns whether a write adds to what a list or deque holds, whatever that is."""
    if isinstance(write, DequeWrite):
        return write.grows is not None
    return isinstance(write, SliceWrite) and write.start is None


def path_of(write: WorldWrite) -> Path | None:
    """Returns where the object is found that is changed; None for a cell or a tensor."""
    match write:
        case CellWrite() | MetadataWrite() | HookWrite():
            return None
        case (
            AttributeWrite(path) | ItemWrite(path) | RefillWrite(path) | SliceWrite(path) | DequeWrite(path)
            | MembersWrite(path) | ContentWrite(path) | ContextWrite(path)
        ):  # fmt: skip
            return path
        case _:
            assert_never(write)


@immutable
class WorldPlan:
    """What a call does to Python's objects.

    Attributes:
      made: Objects that it makes, those that one is made of before it where these cannot be changed.
      writes: What it changes, in order.
    """

    made: tuple[Made, ...] = ()
    writes: tuple[WorldWrite, ...] = ()

    @property
    def values(self) -> Iterator[Value]:
        """All values."""
        for item in (*self.made, *self.writes):
            yield from values_of(item)

    @property
    def outputs(self) -> frozenset[int]:
        """The graph outputs that are put into places."""
        return frozenset(value.output for value in self.values if isinstance(value, BuiltArray))

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where the objects are found that it changes or puts into places."""
        changed = [path for path in map(path_of, self.writes) if path is not None]
        return (*changed, *(value.path for value in self.values if isinstance(value, OutsideObject)))

    @property
    def keeps_tensors(self) -> bool:
        """Whether it puts tensors into places."""
        return any(isinstance(value, BuiltTensor) for value in self.values)
