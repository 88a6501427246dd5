"""The leaves of a call's arguments: which become symbols, and how the function is given them."""

from __future__ import annotations

import collections
import gc
import inspect
import itertools
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._jax import canonical_dtype
from jaxaot._typing import Shape
from jaxaot.errors import StaticArgumentError
from jaxaot.facade.cells.cells import cell_kinds, is_leaf, is_object
from jaxaot.facade.cells.iterated import Iterated, is_iterator
from jaxaot.facade.dispatch.arguments import STAND_INS
from jaxaot.facade.memory.generator import Generator, default_generator
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.lower.static import refuse_cycles
from jaxaot.ops.dtypes import dtype
from jaxaot.plan.guards import EqualTo, HasType, IsHeldWeakly, StaticInput
from jaxaot.plan.paths import Path, children_of
from jaxaot.tracer.observe.containers import PLAIN
from jaxaot.tracer.observe.side_effects import SideEffects


def is_moving(leaf: object, path: Path) -> bool:
    """Whether an argument is a number that is symbolic at once.

    Floats are, and complex numbers. So are ints that a class of the user's declared to be data, such as the step of a
    training state.
    """
    return type(leaf) in (float, complex) or (type(leaf) is int and any(kind == "child" for kind, _ in path))


def is_array_argument(leaf: object) -> bool:
    """Whether an argument is a bare array."""
    return isinstance(leaf, (jax.Array, np.ndarray, np.generic, jax.ShapeDtypeStruct))


def flatten_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Any]:
    """Returns the leaves of a call's arguments and their tree; None is a leaf, and so are flax's objects."""
    cell_kinds()
    refuse_cycles((args, kwargs), "The arguments")
    return pytree.flatten((args, kwargs), is_leaf=lambda x: is_leaf(x) or is_iterator(x))


def names_its_keywords(fn: Callable[..., Any]) -> bool:
    """Returns whether a function takes keyword arguments by name alone, so that it does not see their order."""
    fn = getattr(fn, "__func__", fn)
    return isinstance(fn, types.FunctionType) and not fn.__code__.co_flags & inspect.CO_VARKEYWORDS


def is_static_argument(leaf: object) -> bool:
    """Whether an argument is part of the program as a whole."""
    return not (isinstance(leaf, Tensor) or is_array_argument(leaf) or is_object(leaf))


def with_leaves(
    value: Any, tree: Any, leaves: Sequence[Any], given: Sequence[Any], world: SideEffects, is_shared: bool,
    path: Path = (), resized: frozenset[int] = frozenset(),
) -> Any:  # fmt: skip
    """Returns a tree of arguments with other leaves.

    Args:
      value: The tree: `(args, kwargs)`, or a part of it.
      tree: Its structure.
      leaves: Its leaves.
      given: Those that take their place.
      world: Notes the dicts and lists that the function is given.
      is_shared: Whether these are the caller's own, put back afterwards, rather than copies that stand for them.
      path: Where the tree is found.
      resized: Ids of the leaves that have another size in this trace: what is made of them is made again.
    """
    node = tree.node_data()
    if node is None or node[0] is type(None):
        return given[0] if given else value
    ends = list(itertools.accumulate(child.num_leaves for child in tree.children()))
    slices = [slice(end - child.num_leaves, end) for end, child in zip(ends, tree.children(), strict=True)]
    cls, keys = node
    if not issubclass(cls, (dict, list, tuple)):
        is_same = cls is not Iterated and all(a is b for a, b in zip(leaves, given, strict=True))
        is_same = is_same and resized.isdisjoint(map(id, leaves))
        return value if is_same else pytree.unflatten(tree, given)
    if not issubclass(cls, dict):
        keys = range(len(value))
    elif cls is collections.defaultdict:
        keys = keys[1]
    at = lambda key: (*path, ("item", key)) if path else ((("root", "kwargs" if key else "args")),)
    children = [
        with_leaves(value[key], child, leaves[part], given[part], world, is_shared, at(key), resized)
        for key, child, part in zip(keys, tree.children(), slices, strict=True)
    ]
    changed = [(key, child) for key, child in zip(keys, children, strict=True) if child is not value[key]]
    if not changed:
        return value
    if issubclass(cls, tuple):
        return cls(*children) if hasattr(cls, "_make") else cls(children)
    if is_shared:
        for key, child in changed:
            world.put_symbol(value, key, child)
        return value
    copy = value.copy()
    for key, child in changed:
        copy[key] = child
    world.stand_in(path, copy, value)
    return copy


def leaf_paths(value: Any, tree: Any, path: Path = ()) -> list[Path]:
    """Returns for each leaf of `(args, kwargs)` the path to it."""
    node = tree.node_data()
    if node is None or node[0] is type(None):
        return [path] * tree.num_leaves
    cls, keys = node
    if not issubclass(cls, (dict, list, tuple)):
        pairs = zip(children_of(value), tree.children(), strict=True)
        return [
            found
            for i, ((name, child), below) in enumerate(pairs)
            for found in leaf_paths(child, below, (*path, ("child", (i, name))))
        ]
    if not issubclass(cls, dict):
        keys = range(len(value))
    elif cls is collections.defaultdict:
        keys = keys[1]
    at = lambda key: (*path, ("item", key)) if path else ((("root", "kwargs" if key else "args")),)
    pairs = zip(keys, tree.children(), strict=True)
    return [found for key, child in pairs for found in leaf_paths(value[key], child, at(key))]


def check_static(leaf: Any) -> None:
    """Raises if an argument that is part of the program cannot be compared.

    Raises:
      StaticArgumentError: If it cannot.
    """
    if is_iterator(leaf):
        raise StaticArgumentError(
            f"A {type(leaf).__name__} is part of an argument. It can be read only once, and a call has to look at its "
            "items before the function does. Pass a list or a tuple of them, or the iterator as an argument of its own."
        )
    if type(leaf) in STAND_INS:
        leaf.settled("A compiled function, of an argument,")
    try:
        if not isinstance(leaf, slice):  # one of numbers is compared; it has a hash since Python 3.12
            hash(leaf)
        elif not all(isinstance(part, (*PLAIN, np.generic)) for part in (leaf.start, leaf.stop, leaf.step)):
            raise TypeError("a slice of more than numbers")
    except (TypeError, ValueError) as error:
        raise StaticArgumentError(
            f"An argument of type {type(leaf).__name__} is not hashable, so the compiled program cannot be kept for "
            "it. Pass tensors, arrays, numbers, strings, or containers of them; or make it hashable."
        ) from error


def static_input(position: int, leaf: object) -> StaticInput:
    """Returns the guard on an argument that is no tensor and no array; it does not keep an object alive."""
    if isinstance(leaf, Generator) and leaf is not default_generator:
        return StaticInput(position, HasType(Generator))
    if not isinstance(leaf, (type, np.dtype, dtype, *PLAIN)):
        try:
            if isinstance(leaf, types.MethodType):
                return StaticInput(position, IsHeldWeakly(weakref.WeakMethod(leaf)))
            if type(leaf).__eq__ is object.__eq__ or _holds_tensors(leaf):
                return StaticInput(position, IsHeldWeakly(weakref.ref(leaf)))
        except TypeError:  # an object that cannot be referred to weakly
            pass
    return StaticInput(position, EqualTo(leaf))


def _holds_tensors(value: object) -> bool:
    """Returns whether an object that compares by value leads to tensors, at most a few steps away."""
    pending, seen = [value], set()
    while pending and len(seen) < 1000:
        item = pending.pop()
        if isinstance(item, Tensor):
            return True
        if id(item) not in seen and not isinstance(item, (type, types.ModuleType, types.FunctionType)):
            seen.add(id(item))
            pending.extend(gc.get_referents(item))
    return False


def value_type(leaf: Any) -> tuple[Shape, Any]:
    """Returns shape and dtype of a traced argument."""
    return tuple(leaf.shape), canonical_dtype(leaf.dtype)
