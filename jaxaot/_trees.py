"""Pytrees in which the order of a dict is part of its structure, and any hashable value is a key.

`jax.tree` sorts the keys of dicts, so functions get and return them in another order than eagerly, and it refuses keys
that do not compare. All containers of the user's go through this module. Classes that are registered with JAX are nodes
here too. A structure is JAX's `PyTreeDef`, of a registry in which dicts are kept as they are.

`sealed` is for transformations of JAX, which flatten by their own rules: to them what it returns is one node.
"""

from __future__ import annotations

import functools
import operator
import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from types import MappingProxyType
from typing import Any

import jax
from jax.tree_util import DictKey, PyTreeDef, default_registry

IsLeaf = Callable[[Any], bool] | None

REGISTRY: Any = type(default_registry)(enable_dict=False)
REGISTRY.__module__, REGISTRY.__name__ = __name__, "REGISTRY"  # by which structures are pickled
_LEARNING = threading.Lock()


class Keys(tuple[Any, ...]):
    """The keys of a dict that are not all strings: 1, 1.0 and True are told apart, and no tensor is compared."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple) or len(self) != len(other):
            return False
        return all(map(operator.is_, self, other)) or all(map(_is_same_key, self, other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(len(self))


def _is_same_key(one: object, other: object) -> bool:
    if one is other:
        return True
    if type(one) is not type(other) or hash(one) != hash(other):
        return False
    if type(one) is tuple:
        return Keys(one) == other
    return bool(one == other) and (type(one) is not float or repr(one) == repr(other))


def keys_of(items: dict[Any, Any]) -> tuple[Any, ...]:
    """Returns the keys of a dict in their order; two such tuples are equal where dicts have the same ones."""
    for key in items:
        if type(key) is not str:
            return Keys(items)
    return tuple(items)


def _items(items: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
    return ((DictKey(key), child) for key, child in items.items())


def _of(make: Callable[[Any], Any]) -> Callable[[Any, Iterable[Any]], Any]:
    return lambda keys, items: make(zip(keys, items, strict=True))


_DICTS: dict[Any, tuple[Callable[[Any], Any], Callable[[Any, Iterable[Any]], Any]]] = {
    dict: (keys_of, _of(dict)),
    OrderedDict: (keys_of, _of(OrderedDict)),
    Counter: (keys_of, _of(lambda pairs: Counter(dict(pairs)))),
    MappingProxyType: (keys_of, _of(lambda pairs: MappingProxyType(dict(pairs)))),
    defaultdict: (
        lambda items: (items.default_factory, keys_of(items)),
        lambda aux, items: defaultdict(aux[0], zip(aux[1], items, strict=True)),
    ),
}
"""Class of dicts → what says how it differs from others of its class, and what makes one of that and its items."""

for _cls, (_aux, _make) in _DICTS.items():
    REGISTRY.register_node(
        _cls,
        lambda items, aux=_aux: (items.values(), aux(items)),
        _make,
        lambda items, aux=_aux: (_items(items), aux(items)),
    )


def _learn(leaves: Iterable[Any]) -> bool:
    """Takes over the classes of these leaves that were registered with JAX meanwhile; returns whether there are any."""
    new = [cls for cls in {*map(type, leaves)} if default_registry.is_node(cls) and not REGISTRY.is_node(cls)]
    with _LEARNING:
        for cls in new:
            if not REGISTRY.is_node(cls):
                one_level = default_registry.flatten_one_level, default_registry.flatten_one_level_with_keys
                REGISTRY.register_node(cls, one_level[0], functools.partial(_made, cls), one_level[1])
    return bool(new)


def _made(cls: type, aux: Any, children: Iterable[Any]) -> Any:
    """Returns an object of a class that is registered with JAX."""
    children = list(children)
    leaf = jax.tree.structure(0)
    of_jax: Any = PyTreeDef.from_node_data_and_children(default_registry, (cls, aux), [leaf] * len(children))
    return of_jax.unflatten(children)


def flatten(tree: object, is_leaf: IsLeaf = None) -> tuple[list[Any], Any]:
    """Returns the leaves of a pytree and its structure.

    Args:
      tree: The pytree.
      is_leaf: Says of a value that it is a leaf; None is none by itself.
    """
    leaves, structure = REGISTRY.flatten(tree, is_leaf)
    while _learn(leaves):
        leaves, structure = REGISTRY.flatten(tree, is_leaf)
    return leaves, structure


def leaves(tree: object, is_leaf: IsLeaf = None) -> list[Any]:
    """Returns the leaves of a pytree."""
    return flatten(tree, is_leaf)[0]


def structure(tree: object, is_leaf: IsLeaf = None) -> Any:
    """Returns the structure of a pytree."""
    return flatten(tree, is_leaf)[1]


def unflatten(structure: Any, leaves: Iterable[Any]) -> Any:
    """Returns the pytree of a structure with some leaves."""
    return structure.unflatten(leaves)


def flatten_with_path(tree: object, is_leaf: IsLeaf = None) -> tuple[list[tuple[Any, Any]], Any]:
    """Returns the leaves of a pytree, each after the keys that lead to it, and its structure."""
    flatten(tree, is_leaf)  # learns its classes
    with_path = None if is_leaf is None else lambda _, value: is_leaf(value)
    return REGISTRY.flatten_with_path(tree, with_path)


def leaves_with_path(tree: object, is_leaf: IsLeaf = None) -> list[tuple[Any, Any]]:
    """Returns the leaves of a pytree, each after the keys that lead to it."""
    return flatten_with_path(tree, is_leaf)[0]


def mapped(fn: Callable[..., Any], tree: object, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Returns a pytree with what `fn` returns for each leaf of it, and for the parts of others in its place.

    Args:
      fn: Takes a leaf, and a part of each of the others.
      tree: The pytree.
      *rest: The others; their dicts may have another order.
      is_leaf: As for `flatten`.

    Raises:
      ValueError: If one of the others has another structure.
    """
    first, structure = flatten(tree, is_leaf)
    others = [parts(structure, other) for other in rest]
    return structure.unflatten([fn(*each) for each in zip(first, *others, strict=True)])


def mapped_with_path(fn: Callable[[Any, Any], Any], tree: object) -> Any:
    """Returns a pytree with what `fn` returns for the keys that lead to each leaf, and that leaf."""
    pairs, structure = flatten_with_path(tree)
    return structure.unflatten([fn(path, leaf) for path, leaf in pairs])


def parts(structure: Any, tree: object) -> list[Any]:
    """Returns what a pytree holds in the place of each leaf of a structure; dicts may have another order.

    Raises:
      ValueError: If it has another structure.
    """
    flatten(tree)  # learns its classes
    try:
        return structure.flatten_up_to(tree)
    except ValueError:
        return structure.flatten_up_to(in_order(structure, tree))


def in_order(structure: Any, tree: Any) -> Any:
    """Returns a pytree with the keys of its dicts in the order of a structure; what does not fit stays as it is."""
    node = structure.node_data()
    if node is None or type(tree) is not node[0] or type(tree) is type(None):
        return tree
    cls, aux = node
    if cls in _DICTS:
        keys = aux[1] if cls is defaultdict else aux
        if len(keys) != len(tree) or any(key not in tree for key in keys):
            return tree
        tree = _DICTS[cls][1](aux, [tree[key] for key in keys])
    given, whole = flatten(tree, lambda value: value is not tree)
    own = structure.children()
    return whole.unflatten(map(in_order, own, given)) if len(own) == len(given) else tree


def is_node(value: object) -> bool:
    """Returns whether a value is taken apart: a container, None, or of a class that is registered with JAX."""
    cls = type(value)
    return REGISTRY.is_node(cls) or default_registry.is_node(cls)


def shown(structure: Any) -> str:
    """Returns a structure as people read it, with a star for each leaf: `({'w': *, 'b': [*, *]}, None)`."""
    node = structure.node_data()
    if node is None:
        return "*"
    cls, aux = node
    inner = [shown(child) for child in structure.children()]
    if cls is type(None):
        return "None"
    if cls in _DICTS:
        keys = aux[1] if cls is defaultdict else aux
        items = ", ".join(f"{key!r}: {child}" for key, child in zip(keys, inner, strict=True))
        return f"{{{items}}}" if cls is dict else f"{cls.__name__}({{{items}}})"
    if cls is list:
        return f"[{', '.join(inner)}]"
    if cls is tuple:
        return f"({inner[0]},)" if len(inner) == 1 else f"({', '.join(inner)})"
    return f"{cls.__name__}({', '.join(inner)})"


# -- for transformations of JAX ----------------------------------------------------------------------------------------


class _Sealed:
    """A pytree that JAX takes for one node: its leaves in order, None among them."""

    def __init__(self, structure: Any, leaves: Iterable[Any]):
        self.structure, self.leaves = structure, tuple(leaves)


jax.tree_util.register_pytree_node(_Sealed, lambda it: (it.leaves, it.structure), _Sealed)


def sealed(tree: object) -> _Sealed:
    """Returns a pytree as one node, which JAX takes apart without sorting."""
    leaves, structure = flatten(tree, lambda value: value is None)
    return _Sealed(structure, leaves)


def unsealed(tree: object) -> Any:
    """Returns a pytree with what `sealed` took, in the place of what it returned; there may be one in another."""

    def opened(value: object) -> Any:
        return value.structure.unflatten(map(unsealed, value.leaves)) if type(value) is _Sealed else value

    return mapped(opened, tree, is_leaf=lambda value: type(value) is _Sealed)
