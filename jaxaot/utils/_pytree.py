"""Containers taken apart and put together (`torch.utils._pytree`): what libraries take of a part that PyTorch hides.

None is a leaf, as in PyTorch and unlike in JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from jaxaot import _trees as pytree

IsLeaf = Callable[[Any], bool] | None


def _leaf(is_leaf: IsLeaf) -> IsLeaf:
    return (lambda x: x is None) if is_leaf is None else lambda x: x is None or is_leaf(x)


def tree_flatten(tree: object, is_leaf: IsLeaf = None) -> tuple[list[Any], Any]:
    """Returns the leaves of a container, and its structure."""
    return pytree.flatten(tree, _leaf(is_leaf))


def tree_unflatten(leaves: Iterable[object], treespec: object) -> Any:
    """Returns the container of a structure with these leaves."""
    return pytree.unflatten(treespec, leaves)


def tree_leaves(tree: object, is_leaf: IsLeaf = None) -> list[Any]:
    """Returns the leaves of a container."""
    return pytree.leaves(tree, _leaf(is_leaf))


def tree_map(func: Callable[..., Any], tree: object, *rests: object, is_leaf: IsLeaf = None) -> Any:
    """Returns a container like `tree` of what a function returns for each leaf, and for those of `rests` beside it."""
    return pytree.mapped(func, tree, *rests, is_leaf=_leaf(is_leaf))
