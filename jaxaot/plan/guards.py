"""Guards: what a later call must have in common with the traced one, each with its test and its words.

A *condition* says what was seen of a Python object and decided what was traced. It is one frozen class: what it
compares, the expressions that are true where a call differs, and how it tells people what it saw. A new kind of guard
is a new class here, and a line in `tracer/observe/guards.py` that makes it.
"""

from __future__ import annotations

import abc
import dataclasses
import datetime
import decimal
import types
import weakref
from typing import Any, ClassVar, Protocol

import numpy as np

from jaxaot._immutable import immutable
from jaxaot.plan.paths import ObjectKey, Path, PathStep
from jaxaot.views.layout import Layout

LEAVES: PathStep = ("root", "leaves")
"""The root of paths to the leaves of a call's arguments: `leaves[3]` in its code."""


class Code(Protocol):
    """The code of a call in the making, `runtime.source.Source`; expressions are strings."""

    def constant(self, value: Any) -> str:
        """Returns the name of a value that the code refers to."""
        ...

    def tensor(self, number: int) -> str:
        """Returns the expression of a tensor input."""
        ...

    def step(self, path: Path) -> str:
        """Returns the expression of what a path leads to, for a single use."""
        ...

    def path(self, path: Path) -> str:
        """Returns a variable that holds what a path leads to."""
        ...


class Names(Protocol):
    """What the user calls the things of one call, `plan.difference.CallKey`."""

    def name(self, path: Path) -> str:
        """Returns a path as the user would write it."""
        ...

    def tensor_path(self, number: int) -> Path:
        """Returns where a tensor input is found."""
        ...


def differs(value: Any, other: Any) -> bool:
    """Returns whether two values are not of one type, or not equal; 1, 1.0 and True are different ones."""
    if type(value) is not type(other):
        return True
    if type(value) is tuple:
        return len(value) != len(other) or any(map(differs, value, other))
    if isinstance(value, _SHOWN_WHOLE):
        return repr(value) != repr(other)
    return bool(value != other)


_SHOWN_WHOLE = (float, complex, np.floating, np.complexfloating, decimal.Decimal, datetime.datetime, datetime.time)
"""Of these, values that are equal may differ, as 0.0 and -0.0 do, and NaN differs from itself."""


def shown(value: Any) -> str:
    """Returns a value for people, in few words."""
    if isinstance(value, types.CodeType):
        return f"the code at {value.co_filename.rpartition('/')[2]}:{value.co_firstlineno}"
    if isinstance(value, type):
        return value.__name__
    text = getattr(value, "__name__", None) if callable(value) else None
    text = repr(value) if text is None else text
    return text if len(text) <= 80 else f"{text[:77]}..."


# -- conditions --------------------------------------------------------------------------------------------------------


class Condition(abc.ABC):
    """What was seen of a Python object on the way, and decided what was traced.

    Attributes:
      is_sharing: Whether it is about two paths that lead to one object.
    """

    is_sharing: ClassVar[bool] = False

    @abc.abstractmethod
    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        """Returns the expressions of which one is true if the object at `path` is not as it was seen.

        Args:
          code: The code of the call.
          path: Where the object is found.
        """

    @abc.abstractmethod
    def words(self, names: Names) -> str:
        """Returns the value that was seen in words that follow `model.scale is`."""

    def agrees(self, names: Names, other: Any, other_names: Names) -> bool:
        """Returns whether a later condition of this kind is the same one.

        Args:
          names: What the user calls the things of this call.
          other: The later condition.
          other_names: What the user calls the things of the later call.
        """
        fields = (field.name for field in dataclasses.fields(self))  # type: ignore[arg-type]
        pairs = ((getattr(self, name), getattr(other, name)) for name in fields)
        return not any(value is not another and differs(value, another) for value, another in pairs)

    def change(self, names: Names, other: Any, other_names: Names) -> str:
        """Returns in words how a later condition of this kind differs, as what comes after `model.scale`."""
        return f"is {other.words(other_names)} instead of {self.words(names)}"

    @property
    def is_void(self) -> bool:
        """Whether no call can fit any more, because the object is gone."""
        return False


@immutable
class EqualTo(Condition):
    """A number, string, bool, None or anything else that compares: equal, and of the same type."""

    value: Any

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        step = code.step(path)
        if self.value is None or isinstance(self.value, bool):
            return (f"{step} is not {self.value}",)
        value = code.constant(self.value)
        return (f"{step} is not {value} and differs({step}, {value})",)

    def words(self, names: Names) -> str:
        return shown(self.value)


@immutable
class IsObject(Condition):
    """Something of a library: a function, class or dtype."""

    value: Any

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        return (f"{code.step(path)} is not {code.constant(self.value)}",)

    def words(self, names: Names) -> str:
        return shown(self.value)

    def agrees(self, names: Names, other: IsObject, other_names: Names) -> bool:
        return self.value is other.value


@immutable
class IsHeldWeakly(Condition):
    """An array or object, by a weak reference; a bound method, by one that compares the object and the function."""

    reference: weakref.ref[Any]

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        operator = "!=" if isinstance(self.reference, weakref.WeakMethod) else "is not"
        return (f"{code.step(path)} {operator} {code.constant(self.reference)}()",)

    def words(self, names: Names) -> str:
        value = self.reference()
        return "an object that is gone" if value is None else f"an object of type {type(value).__name__}"

    def agrees(self, names: Names, other: IsHeldWeakly, other_names: Names) -> bool:
        if self.reference is other.reference:
            return True
        value, another = self.reference(), other.reference()
        if isinstance(self.reference, weakref.WeakMethod):
            return value is not None and value == another
        return value is not None and value is another

    def change(self, names: Names, other: IsHeldWeakly, other_names: Names) -> str:
        return "is another object than before"

    @property
    def is_void(self) -> bool:
        return self.reference() is None


@immutable
class IsMadeAs(Condition):
    """A tensor that is made of inner tensors, by all but these.

    Attributes:
      frame: Their names, the context, size and strides.
      read: Returns this of a tensor.
    """

    frame: Any
    read: Any

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        return (f"{code.constant(self.read)}({code.step(path)}) != {code.constant(self.frame)}",)

    def words(self, names: Names) -> str:
        frame = self.frame
        return f"made of {', '.join(frame.names)} with context {shown(frame.context)} and shape {list(frame.size)}"


@immutable
class Answers(Condition):
    """A tensor or a class of which the function asked for a fact.

    Attributes:
      fact: The name of the fact.
      value: What it was.
      ask: Returns it of a tensor.
    """

    fact: str
    value: Any
    ask: Any

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        return (f"{code.constant(self.ask)}({code.step(path)}) != {code.constant(self.value)}",)

    def words(self, names: Names) -> str:
        return f"a {'class' if self.fact.startswith('__') else 'tensor'} with the {self.fact} {shown(self.value)}"


@immutable
class IsHeld(Condition):
    """An array of NumPy with numbers that fewer bits hold.

    Attributes:
      test: Returns whether they do.
    """

    test: Any

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        return (f"not {code.constant(self.test)}({code.step(path)})",)

    def words(self, names: Names) -> str:
        return "an array whose numbers 32 bits hold"


@immutable
class HasCode(Condition):
    """A function, by its code."""

    value: types.CodeType

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        return (f"{code.path(path)}.__code__ is not {code.constant(self.value)}",)

    def words(self, names: Names) -> str:
        return shown(self.value)

    def agrees(self, names: Names, other: HasCode, other_names: Names) -> bool:
        return self.value is other.value

    def change(self, names: Names, other: HasCode, other_names: Names) -> str:
        return f"is another function: {shown(other.value)} instead of {shown(self.value)}"


@immutable
class HasType(Condition):
    """The class of an object."""

    cls: Any

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        return (f"type({code.path(path)}) is not {code.constant(self.cls)}",)

    def words(self, names: Names) -> str:
        return f"an object of type {shown(self.cls)}"


@immutable
class HasLength(Condition):
    """The number of items of a list or tuple; `base` is the class of Python's of one that has a way of its own."""

    n: int
    base: Any = None

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        length = "len" if self.base is None else code.constant(self.base.__len__)
        return (f"{length}({code.path(path)}) != {self.n}",)

    def words(self, names: Names) -> str:
        return f"a container of {self.n} items"

    def change(self, names: Names, other: HasLength, other_names: Names) -> str:
        return f"has {other.n} items instead of {self.n}"


@immutable
class HasAttributes(Condition):
    """The number of attributes of an object; `is_own` where its class reads attributes in a way of its own."""

    n: int
    is_own: bool = False

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        attributes = code.path((*path, ("own" if self.is_own else "attr", "__dict__")))
        return (f"len({attributes}) != {self.n}",)

    def words(self, names: Names) -> str:
        return f"an object of {self.n} attributes"

    def change(self, names: Names, other: HasAttributes, other_names: Names) -> str:
        return f"has {other.n} attributes instead of {self.n}"


@immutable
class IsAbsent(Condition):
    """An attribute or global variable that there is not."""

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        (*holder, (step, name)) = path
        owner = code.path(tuple(holder))
        return (f"hasattr({owner}, {name!r})" if step == "attr" else f"{name!r} in {owner}.__globals__",)

    def words(self, names: Names) -> str:
        return "absent"


@immutable
class IsThere(Condition):
    """An attribute or item that there is, whatever it holds; the path leads to what has it."""

    name: Any
    is_item: bool

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        owner, name = code.path(path), code.constant(self.name)
        return (f"{name} not in {owner}" if self.is_item else f"not hasattr({owner}, {name})",)

    def words(self, names: Names) -> str:
        return f"with {self.name!r}"


@immutable
class IsEmpty(Condition):
    """A slot of an object, or a variable of a closure, with nothing inside."""

    slot: Any

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        return (f"{code.constant(_is_filled)}({code.constant(self.slot)}, {code.path(path[:-1])})",)

    def words(self, names: Names) -> str:
        return "absent"


def _is_filled(slot: Any, value: Any) -> bool:
    try:
        slot.__get__(value)
    except (AttributeError, ValueError):  # the second of a variable of a closure
        return False
    return True


@immutable
class HasContent(Condition):
    """A NumPy array, by its dtype, shape and fingerprint."""

    content: Any

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        array = code.path(path)
        return f"not isinstance({array}, ndarray)", f"content({array}) != {code.constant(self.content)}"

    def words(self, names: Names) -> str:
        return "a NumPy array"

    def change(self, names: Names, other: HasContent, other_names: Names) -> str:
        return "holds other values, or has another shape or dtype"


@immutable
class HasLayout(Condition):
    """A tensor whose values are not used."""

    layout: Layout
    requires_grad: bool

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        tensor = code.path(path)
        layout = code.constant(self.layout)
        return f"{tensor}._layout is not {layout}", f"{tensor}.requires_grad is not {self.requires_grad}"

    def words(self, names: Names) -> str:
        return "a tensor"

    def change(self, names: Names, other: HasLayout, other_names: Names) -> str:
        return "is a tensor of another shape, dtype or layout, or changed whether it requires grad"


@immutable
class HasKeys(Condition):
    """The keys of a dict; an `ObjectKey` stands for one that is known by its identity.

    Attributes:
      keys: The keys.
      is_raw: Whether the dict gives items in a way of its own.
    """

    keys: tuple[Any, ...]
    is_raw: bool = False

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        keys = f"(*dict.keys({code.path(path)}),)" if self.is_raw else f"(*{code.path(path)},)"
        if any(isinstance(key, ObjectKey) for key in self.keys):
            return (f"{code.constant(_keys_differ)}({keys}, {code.constant(self.keys)})",)
        return (f"{keys} != {code.constant(self.keys)}",)

    def words(self, names: Names) -> str:
        return f"a dict with the keys {shown(self.keys)}"

    def change(self, names: Names, other: HasKeys, other_names: Names) -> str:
        return f"has the keys {shown(other.keys)} instead of {shown(self.keys)}"


def _keys_differ(keys: tuple[Any, ...], seen: tuple[Any, ...]) -> bool:
    if len(keys) != len(seen):
        return True
    pairs = zip(keys, seen, strict=True)
    return any(key is not was() if isinstance(was, ObjectKey) else differs(key, was) for key, was in pairs)


@immutable
class HasMembers(Condition):
    """The members of a set: a frozenset, or a tuple with an `ObjectKey` for each that is known by its identity."""

    members: frozenset[Any] | tuple[Any, ...]

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        if isinstance(self.members, tuple):
            return (f"{code.constant(_members_differ)}({code.step(path)}, {code.constant(self.members)})",)
        return (f"{code.step(path)} != {code.constant(self.members)}",)

    def words(self, names: Names) -> str:
        return shown(self.members)

    def agrees(self, names: Names, other: HasMembers, other_names: Names) -> bool:
        return set(self.members) == set(other.members)


def _members_differ(members: Any, seen: tuple[Any, ...]) -> bool:
    found = (key() if isinstance(key, ObjectKey) else key for key in seen)
    return len(members) != len(seen) or not all(key in members for key in found)


@immutable
class IsAlsoAt(Condition):
    """An object that another path leads to as well."""

    is_sharing = True

    path: Path

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        other = code.path(self.path)
        return (f"{code.step(path)} is not {other}",)

    def words(self, names: Names) -> str:
        return f"the same object as {names.name(self.path)}"


@immutable
class IsTensor(Condition):
    """A tensor input that another path leads to as well."""

    is_sharing = True

    number: int

    def misses(self, code: Code, path: Path) -> tuple[str, ...]:
        return (f"{code.step(path)} is not {code.tensor(self.number)}",)

    def words(self, names: Names) -> str:
        return f"the same tensor as {names.name(names.tensor_path(self.number))}"

    def agrees(self, names: Names, other: IsTensor, other_names: Names) -> bool:
        return names.tensor_path(self.number) == other_names.tensor_path(other.number)


# -- guards ------------------------------------------------------------------------------------------------------------


@immutable
class PythonGuard:
    """A part of the Python world that the function may have read: its closure, globals, and attributes of objects.

    Attributes:
      path: Leads there.
      condition: What was seen.
      line: The file and line that read it; None if no line names it.
    """

    path: Path
    condition: Condition
    line: tuple[str, int] | None = dataclasses.field(default=None, compare=False)

    def misses(self, code: Code) -> tuple[str, ...]:
        """Returns the expressions of which one is true where a call does not fit."""
        return self.condition.misses(code, self.path)


_NUMBERS = {int: "an int", float: "a float", complex: "a complex number"}


@immutable
class StaticInput:
    """An argument that the program was specialised on.

    Attributes:
      leaf: Position among the leaves of the arguments.
      condition: `EqualTo` what compares, `IsHeldWeakly` an object that is known by its identity, `HasType` a generator
        or a symbolic number.
      path: Leads there; None in an archive.
    """

    leaf: int
    condition: Condition
    path: Path | None = dataclasses.field(default=None, compare=False)

    def misses(self, code: Code) -> tuple[str, ...]:
        """Returns the expressions of which one is true where a call does not fit."""
        return self.condition.misses(code, (LEAVES, ("item", self.leaf)))

    def change(self, names: Names, other: StaticInput, other_names: Names) -> str:
        """Returns in words how a later argument differs, as what comes after its name."""
        if isinstance(self.condition, IsHeldWeakly) and isinstance(other.condition, IsHeldWeakly):
            now = other.condition.reference()
            return "is another object" if now is None else f"is another object of type {type(now).__name__}"
        now, was = other.condition, self.condition
        if isinstance(now, HasType) and isinstance(was, EqualTo) and type(was.value) is now.cls:
            return f"is another {now.cls.__name__} than {was.words(names)}, and an input from here on"
        words = [_NUMBERS.get(c.cls) if isinstance(c, HasType) else None for c in (now, was)]
        return f"is {words[0] or now.words(other_names)} instead of {words[1] or was.words(names)}"

    @property
    def is_number(self) -> bool:
        """Whether it is a number of which the type alone counts."""
        return isinstance(self.condition, HasType) and self.condition.cls in _NUMBERS

    def agrees(self, names: Names, other: StaticInput, other_names: Names) -> bool:
        """Returns whether a later argument is the same one."""
        is_one_kind = type(self.condition) is type(other.condition)
        return is_one_kind and self.condition.agrees(names, other.condition, other_names)


@immutable
class GradGuard:
    """A `.grad` that decided what was traced: None, or the tensor input at `tensor.grad`."""

    tensor: int
    is_none: bool

    def misses(self, code: Code) -> tuple[str, ...]:
        """Returns the expressions of which one is true where a call does not fit."""
        return (f"{code.tensor(self.tensor)}._grad is {'not ' if self.is_none else ''}None",)

    def words(self) -> str:
        """Returns how a call that has it differs from one that has the other, as what comes after `x.grad`."""
        return "is None" if self.is_none else "is no longer None"
