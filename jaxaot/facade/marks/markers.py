"""What users say of single values: `must_save`, `must_recompute` and `checkpoint_name`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import ad_checkpoint

from jaxaot import _trees as pytree
from jaxaot._jax import mark_p
from jaxaot.errors import ArgumentError
from jaxaot.facade.dispatch.arguments import STAND_INS
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ir.regions import MUST_RECOMPUTE, MUST_SAVE
from jaxaot.ops.table import lookup


def must_save(x: object) -> Any:
    """Returns `x`; what a backward needs of it is saved, whatever policy and budget say.

    It overrules `jax.checkpoint` and `ja.utils.checkpoint.checkpoint` around it too. Gradients pass through, and
    without a backward nothing happens.

    Args:
      x: A tensor or array, or a pytree of them. Tensors come back on a storage of their own.
    """
    return _marked(x, "marked", MUST_SAVE, lambda leaf: mark_p.bind(leaf, word=MUST_SAVE))


def must_recompute(x: object) -> Any:
    """Returns `x`; what a backward needs of it is computed again, whatever policy and budget say.

    Arguments of the graph are at hand anyway, and results of equations with side effects cannot be had a second time:
    on these it says nothing.

    Args:
      x: A tensor or array, or a pytree of them. Tensors come back on a storage of their own.
    """
    return _marked(x, "marked", MUST_RECOMPUTE, lambda leaf: mark_p.bind(leaf, word=MUST_RECOMPUTE))


def checkpoint_name(x: object, name: str) -> Any:
    """Returns `x`, under a name by which policies such as `ja.policies.save_only_these_names` know it.

    Args:
      x: A tensor or array, or a pytree of them. Tensors come back on a storage of their own.
      name: The name, as of `jax.ad_checkpoint.checkpoint_name`.

    Raises:
      ArgumentError: If the name is no string.
    """
    if not isinstance(name, str):
        raise ArgumentError(f"A name is a string, and {name!r} is none: `ja.policies.checkpoint_name(x, 'hidden')`.")
    return _marked(x, "named", name, lambda leaf: ad_checkpoint.checkpoint_name(leaf, name))


def _marked(x: object, row: str, word: str, of_array: Callable[[Any], Any]) -> Any:
    def marked(leaf: object) -> Any:
        if isinstance(leaf, Tensor) or type(leaf) in STAND_INS:
            return call(lookup(row), (leaf,), (word,))
        return of_array(leaf) if isinstance(leaf, (jax.Array, np.ndarray)) else leaf

    return pytree.mapped(marked, x)
