"""What containers hold, and the guards on it: few items one by one, many at once, very many not at all.

What is guarded at once are plain values, and tensors and arrays that no graph takes; objects are looked into.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeGuard

import jax
import numpy as np

from jaxaot import settings
from jaxaot._immutable import immutable
from jaxaot.errors import UnguardedError
from jaxaot.facade.cells.cells import dict_of
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ops.dtypes import dtype
from jaxaot.plan.guards import EqualTo, HasKeys, HasLength, HasMembers, HasType, PythonGuard
from jaxaot.plan.members import HasItems, SeenItems
from jaxaot.plan.paths import ObjectKey, Path, PathStep, base_of, path_text
from jaxaot.tracer.observe.boundary import module_of

LEAVES = (str, bytes, int, float, complex, bool, type(None), np.ndarray, np.generic, jax.Array, range, slice)
KEYS = (str, int, bool, float, tuple, enum.Enum, bytes, type, type(None))
"""Keys of dicts that are compared by value, or hold nothing."""
MAPPINGS, SEQUENCES = (dict, types.MappingProxyType), (list, tuple, deque)
BUILTIN = {dict, list, tuple, deque, OrderedDict, defaultdict, Counter, types.MappingProxyType, set, frozenset}
"""Containers without attributes."""
GROWING = (list, deque)
"""Containers that code may add to without reading what they hold."""
_PLAIN = {str, int, bool, float, type(None)}
_RECORDS = {"flax.nnx.graphlib", "flax.typing", "flax.core.frozen_dict"}
"""Modules of records that never change, such as the definition of an nnx module's graph."""
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range, slice)
CONSTANT = (types.BuiltinFunctionType, np.dtype, dtype, np.ufunc, enum.Enum)
FEW, MAX = 256, 100_000
"""Up to so many items are guarded one by one; up to so many at all."""


def is_a(value: object, classes: Any) -> TypeGuard[Any]:
    """Returns whether a value is of one of some classes by its type alone: no code of a user's class is asked."""
    return issubclass(type(value), classes)


def is_leaf_value(value: object) -> bool:
    """Returns whether a value holds nothing: a number, a string, a range; none of a class of the user's."""
    if type(value) in _PLAIN or is_a(value, (bytes, complex, range, slice, np.generic)):
        return True
    return is_a(value, (str, int, float)) and not dict_of(value)


def is_plain(value: object) -> bool:
    """Returns whether a value is compared as such, and holds nothing."""
    return is_a(value, (np.generic, *PLAIN))


def is_hashable(value: object) -> bool:
    """Returns whether a value has a hash."""
    try:
        hash(value)
    except (TypeError, ValueError):  # views of memory raise the second
        return False
    return True


@immutable
class Items:
    """What is guarded of a container.

    Attributes:
      guards: On the container, and on the items that are looked at at once.
      rest: The step to each other item, and the item.
      at_once: The same of the tensors and arrays that are looked at at once.
    """

    guards: list[PythonGuard]
    rest: list[tuple[PathStep, Any]]
    at_once: list[tuple[PathStep, Any]] = dataclasses.field(default_factory=list)


def guard_items(path: Path, value: Any, is_input: Callable[[Any], bool] = lambda _: False) -> Items:
    """Returns what is guarded of a dict or sequence.

    Args:
      path: Leads to it.
      value: Itself.
      is_input: Whether a tensor or array is an input of the graph.

    Raises:
      UnguardedError: If it has too many items.
    """
    guards = [PythonGuard(path, HasType(type(value)))]
    n = len_of(value)
    if not check_size(path, n, "items"):
        return Items([*guards, PythonGuard(path, HasLength(n))], [])
    is_dict, is_own = not is_a(value, SEQUENCES), is_own_container(value)
    steps = list(item_steps(value))
    if is_dict:
        guards.append(PythonGuard(path, HasKeys(tuple(key for (_, key), _ in steps), is_own)))
    else:
        guards.append(PythonGuard(path, HasLength(len(steps), base_of(value) if is_own else None)))
    if is_a(value, deque):
        guards.append(PythonGuard((*path, ("attr", "maxlen")), EqualTo(value.maxlen)))
    if len(steps) <= FEW or is_own:
        return Items(guards, steps)

    def is_at_once(child: Any) -> bool:
        return is_plain(child) or (is_a(child, (Tensor, jax.Array)) and not is_input(child))

    at_once = [i for i, (_, child) in enumerate(steps) if is_at_once(child)]
    if at_once:
        seen = SeenItems([steps[i][1] for i in at_once], is_plain)
        chosen = None if len(at_once) == len(steps) else tuple(at_once)
        guards.append(PythonGuard(path, HasItems(seen, chosen, is_dict)))
    return Items(
        guards,
        [step for step in steps if not is_at_once(step[1])],
        [steps[i] for i in at_once if not is_plain(steps[i][1])],
    )


def set_guards(path: Path, value: Any) -> Iterator[PythonGuard]:
    """Yields the guards on a set.

    Raises:
      UnguardedError: If it has too many members.
    """
    yield PythonGuard(path, HasType(type(value)))
    if check_size(path, len(value), "members"):
        keys = [key for _, key in map(key_step, value)]
        are_values = not any(isinstance(key, ObjectKey) for key in keys)
        yield PythonGuard(path, HasMembers(frozenset(keys) if are_values else tuple(keys)))
    else:
        yield PythonGuard(path, HasLength(len(value)))


def check_size(path: Path, n: int, what: str) -> bool:
    """Returns whether so many things are guarded; False if the user vouches for larger ones.

    Raises:
      UnguardedError: If there are too many, and the user does not.
    """
    if n <= MAX:
        return True
    if settings.get().trust_large_containers:
        return False
    raise UnguardedError(
        f"The function reads `{path_text(path)}`, which has {n:,} {what}. With more than {MAX:,} it takes too long to "
        "look at each call whether they are the same. Keep them in a NumPy array or a tensor. Or say that they never "
        "change while their number does not: `ja.config(trust_large_containers=True)`."
    )


def item_steps(container: Any) -> Iterator[tuple[tuple[str, Any], Any]]:
    """Yields the items of a dict or sequence, each with the step to it; no code of its class runs."""
    base, is_own = base_of(container), is_own_container(container)
    if is_a(container, SEQUENCES):
        for i, child in enumerate(base.__iter__(container)):
            yield ("raw" if is_own else "item", i), child
    else:
        for key, child in list((types.MappingProxyType if base is None else base).items(container)):
            yield ("raw", key) if is_own else key_step(key), child


def is_own_container(container: Any) -> bool:
    """Returns whether a container gives its items in a way of its own."""
    base, cls = base_of(container), type(container)
    return base is not None and any(
        getattr(cls, name, None) is not getattr(base, name, None) for name in ("__getitem__", "__iter__", "__len__")
    )


def len_of(container: Any) -> int:
    """Returns the number of items of a container; no code of its class runs."""
    base = base_of(container)
    return len(container) if base is None else base.__len__(container)


def keys_of(members: Any) -> Iterator[Any]:
    """Returns the keys of a dict or the members of a set; no code of its class runs."""
    base: Any = next((base for base in (OrderedDict, dict, set, frozenset) if is_a(members, base)), None)
    return iter(members) if base is None else base.__iter__(members)


def member_keys(members: Iterable[Any]) -> Iterator[tuple[ObjectKey, Any]]:
    """Yields the members of a set that are known by their identity, each with what finds it."""
    for member in list(keys_of(members)):
        kind, key = key_step(member)
        if kind == "key":
            yield key, member


def key_step(key: Any) -> tuple[str, Any]:
    """Returns the step to the item of a key; a key that is compared by identity is not kept alive."""
    cls = type(key)
    is_compared = cls.__eq__ is not object.__eq__ and cls.__hash__ is not object.__hash__  # tensors are by elements
    if isinstance(key, KEYS) or (is_compared and not isinstance(key, Tensor)):
        return "item", key
    try:
        return "key", ObjectKey(key)
    except TypeError:  # an object that cannot be referred to weakly
        return "item", key


def is_containers(value: object) -> bool:
    """Returns whether a value is a method of a container of Python, such as `results.append`."""
    return is_a(value, types.BuiltinMethodType) and type(value.__self__) in (*BUILTIN, set)


def is_record(value: object) -> bool:
    """Returns whether a value is a record that never changes, such as the definition of an nnx module's graph."""
    return module_of(type(value)) in _RECORDS


def record_children(record: object) -> Sequence[tuple[Path, Any, bool]]:
    """Returns what a record leads to through further ones, each object once; of thousands, few lead to anything."""
    return _children_of(_Same(record))


class _Same:
    """A value as a key that is compared by identity."""

    __slots__ = ("value",)

    def __init__(self, value: object):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


@functools.lru_cache(maxsize=4)  # a call looks at one several times, and those of large models are large
def _children_of(record: _Same) -> tuple[tuple[Path, Any, bool], ...]:
    seen: set[int] = set()
    found: list[tuple[Path, Any, bool]] = []
    stack: list[tuple[Path, Any]] = [((), record.value)]
    while stack:
        path, value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        cls = type(value)
        names = _fields(cls)
        inner: Iterable[Any] = ()
        if names is not None:
            own = names or getattr(value, "__dict__", ())
            inner = [(("attr", name), getattr(value, name)) for name in own]
        elif cls is tuple or cls is list or cls is dict:
            inner = item_steps(value)
        elif cls is not jax.tree_util.PyTreeDef:
            found.append((path, value, is_a(value, type)))
        for step, child in inner:
            if type(child) not in _PLAIN and not is_a(child, LEAVES):
                stack.append(((*path, step), child))
    return tuple(found)


@functools.lru_cache(maxsize=256)
def _fields(cls: type) -> tuple[str, ...] | None:
    """Returns the attributes of a class of records: none if they are in a dict; None of any other class."""
    if cls.__module__ not in _RECORDS:
        return None
    return tuple(name for owner in cls.__mro__ for name in vars(owner).get("__slots__", ()))


def is_compared(value: object) -> bool:
    """Returns whether an object says itself when it is equal, and is compared so."""
    return type(value).__eq__ is not object.__eq__ and is_hashable(value)
