"""Pytrees of tensors and of arrays. To `jax.tree_util` a tensor is a leaf; these open it, and close it again.

A typed PRNG key is an array that no tensor can show; as `KeyWords` it is integers that one can.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot import _trees as pytree
from jaxaot.facade.dispatch.create import from_jax
from jaxaot.facade.memory.tensor import Tensor


def to_arrays(tree: Any) -> Any:
    """Returns a pytree with the jax array of each tensor in its place, for JAX functions that take arrays alone.

    Args:
      tree: Any pytree; leaves that are not tensors stay.
    """
    return pytree.mapped(lambda leaf: leaf.jax() if isinstance(leaf, Tensor) else leaf, tree)


def to_tensors(tree: Any) -> Any:
    """Returns a pytree with a tensor on each array in its place; nothing is copied.

    Args:
      tree: Any pytree; leaves that are neither jax nor NumPy arrays stay.
    """
    return pytree.mapped(lambda leaf: from_jax(leaf) if isinstance(leaf, (jax.Array, np.ndarray)) else leaf, tree)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class KeyWords:
    """A typed PRNG key as the integers that a tensor can hold."""

    words: Any
    impl: str = dataclasses.field(metadata={"static": True})


def pack_keys(tree: Any) -> Any:
    """Returns a pytree with the words of each typed key in its place."""

    def pack(leaf: object) -> Any:
        if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return KeyWords(jax.random.key_data(leaf), str(jax.random.key_impl(leaf)))
        return leaf

    return pytree.mapped(pack, tree)


def unpack_keys(tree: Any) -> Any:
    """Returns a pytree with typed keys where `pack_keys` put words; the words may be tensors."""

    def unpack(leaf: object) -> Any:
        if isinstance(leaf, KeyWords):
            return jax.random.wrap_key_data(to_arrays(leaf.words), impl=leaf.impl)
        return leaf

    return pytree.mapped(unpack, tree, is_leaf=lambda leaf: isinstance(leaf, KeyWords))
