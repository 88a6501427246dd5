"""The arguments of a function that is looked at by their shapes: checked, and told apart from call to call."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._jax import trace_context
from jaxaot.errors import ArgumentError, TensorTypeError
from jaxaot.facade.cells.cells import is_leaf, kind_of
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.rematerialize.cells import Cells
from jaxaot.rematerialize.read_key import Reads


def require_function(fn: object, name: str) -> None:
    """Raises unless something can be called.

    Raises:
      TensorTypeError: If it cannot.
    """
    if not callable(fn):
        raise TensorTypeError(
            f"`{name}` takes a function or a module, and was given {fn!r}. Write `{name}(f, x)` with the function "
            "itself, not what it returned."
        )


def check_shapes(args: Sequence[Any], name: str) -> None:
    """Raises unless the sizes of all types among arguments are whole numbers of at least zero.

    Raises:
      ArgumentError: If one is not; all are named.
    """
    wrong = []
    for path, leaf in pytree.leaves_with_path(list(args), is_leaf=is_leaf):
        if isinstance(leaf, jax.ShapeDtypeStruct) and any(not _is_size(size) for size in leaf.shape):
            place = f"argument {path[0].idx}" + jax.tree_util.keystr(path[1:])
            wrong.append(f"{place} has the shape {leaf.shape}")
    if wrong:
        raise ArgumentError(
            f"`{name}` was given sizes that are no whole numbers: {'; '.join(wrong)}. Write ints of at least 0, for "
            "large ones `10**10` rather than `1e10`."
        )


def _is_size(size: Any) -> bool:
    if isinstance(size, bool):
        return False
    try:
        return operator.index(size) >= 0
    except TypeError:
        return False


def call_key(args: tuple[Any, ...], kwargs: dict[str, Any], reads: Reads) -> Any:
    """Returns what a graph of a call depends on besides the function itself; None if that cannot be told.

    It is equal for calls whose arguments have the same types, and that find what was read of Python in one trace. Calls
    with tensors are not told apart: they are traced anew.
    """
    leaves, tree = pytree.flatten((args, kwargs), is_leaf=is_leaf)
    if any(isinstance(leaf, Tensor) for leaf in leaves):
        return None
    cells = Cells.among((args, kwargs))
    types = tuple(map(_type_key, (leaf for leaf in leaves if kind_of(leaf) is None)))
    key = reads, tree, types, cells.structure, tuple(map(_type_key, cells.arrays)), trace_context()
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _type_key(leaf: Any) -> Any:
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return leaf
    if isinstance(leaf, jax.Array | np.ndarray | np.generic):
        return type(leaf), jax.typeof(leaf)
    if isinstance(leaf, float | complex):
        return type(leaf)
    return type(leaf), leaf
