"""Pytrees of tensors and of arrays. To `jax.tree_util` a tensor is a leaf; these open it, and close it again."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxaot.tensor.create import from_jax
from jaxaot.tensor.tensor import Tensor


def to_arrays(tree: Any) -> Any:
    """Returns a pytree with the jax array of each tensor in its place, for JAX functions that take arrays alone.

    Args:
      tree: Any pytree; leaves that are not tensors stay.
    """
    return jax.tree.map(lambda leaf: leaf.jax() if isinstance(leaf, Tensor) else leaf, tree)


def to_tensors(tree: Any) -> Any:
    """Returns a pytree with a tensor on each array in its place; nothing is copied.

    Args:
      tree: Any pytree; leaves that are neither jax nor NumPy arrays stay.
    """
    return jax.tree.map(lambda leaf: from_jax(leaf) if isinstance(leaf, (jax.Array, np.ndarray)) else leaf, tree)
