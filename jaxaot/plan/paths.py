"""Paths: how a value is found again, from a call's arguments or its function.

A *path* leads from a call's `args`, `kwargs` or `fn` to a value: steps of `("attr", name)`, `("item", key)` and so on
from a root.
"""

from __future__ import annotations

import contextvars
import functools
import types
import weakref
from collections import OrderedDict, deque
from collections.abc import Iterable
from typing import Any

import jax

from jaxaot import _trees as pytree

PathStep = tuple[str, Any]
Path = tuple[PathStep, ...]


UNSET: Any = type("Unset", (), {"__repr__": lambda self: "not set"})()
"""What a step to the value of a context variable finds where it has none."""


class ObjectKey:
    """A key of a dict that is an object, known by its identity; it does not keep the object alive."""

    __slots__ = ("reference",)

    def __init__(self, key: Any):
        """Raises TypeError if the object cannot be referred to weakly."""
        self.reference = weakref.ref(key)

    def __call__(self) -> Any:
        return self.reference()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectKey) and self.reference is other.reference

    def __hash__(self) -> int:
        return id(self.reference)

    def __repr__(self) -> str:
        key = self.reference()
        return "<an object that is gone>" if key is None else getattr(key, "__name__", f"<{type(key).__name__}>")


def function_behind(member: Any) -> types.FunctionType | None:
    """Returns the function behind a member of a class: a method, a property, or one that a decorator wrapped."""
    if isinstance(member, (staticmethod, classmethod)):
        member = member.__func__
    if isinstance(member, property):
        member = member.fget
    member = getattr(member, "call_with_arrays", member)  # of a module that takes tensors as well: the user's own
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
            case "own":
                value = object.__getattribute__(value, key)
            case "raw":
                value = raw_item(value, key)
            case "closure":
                value = value.__closure__[key[0]].cell_contents
            case "global":
                value = value.__globals__[key]
            case "type":
                value = type(value)
            case "key":
                value = value[key()]
            case "member":
                value = key()
            case "context":
                value = held_by_variable(value)
            case "referent":
                value = value()
            case "variable":
                value = value.get(key)
            case "module":
                value = key
            case "child":
                value = children_of(value)[key[0]][1]
            case _:
                value = class_member(value, key)
    return value


_BASES = (OrderedDict, dict, list, tuple, deque)


def base_of(container: object) -> Any:
    """Returns which of Python's containers a container is one of."""
    return next((base for base in _BASES if issubclass(type(container), base)), None)


def raw_item(container: Any, key: Any) -> Any:
    """Returns an item of a container of a class that gives items in its own way, past that."""
    return base_of(container).__getitem__(container, key)


def held_by_variable(variable: contextvars.ContextVar[Any]) -> Any:
    """Returns the value of a context variable here; `UNSET` if it has none."""
    try:
        return variable.get()
    except LookupError:
        return UNSET


def children_of(value: object) -> list[tuple[str, Any]]:
    """Returns what an object of a class that is registered with jax is made of, each with what leads there: `.step`."""
    found = pytree.flatten_with_path(value, is_leaf=lambda child: child is not value)[0]
    return [(jax.tree_util.keystr(keys), child) for keys, child in found]


def path_text(path: Path) -> str:
    """Returns a path as the Python expression that a user would write, such as `model.layers[0].weight`."""
    text = ""
    for kind, key in path:
        match kind:
            case "root":
                text = key
            case "attr" | "own":
                text += f".{key}"
            case "item" | "raw":
                text += f"[{key!r}]"
            case "closure":
                text = key[1]  # the name that the user's function gives it
            case "global":
                text = key
            case "type":
                text = f"type({text})"
            case "key":
                text += f"[{key!r}]"
            case "member":
                text = f"{key!r} in {text}"
            case "context":
                text += ".get()"
            case "referent":
                text += "()"
            case "variable":
                text += f"[{key!r}]"
            case "module":
                text = getattr(key, "__name__", type(key).__name__)
            case "class":
                text += f".{key}"
            case "child":
                text += key[1]
    return text
