"""print(*values): prints at each call of a compiled function, with the values that tensors have then."""

from __future__ import annotations

import builtins
from typing import Any

import jax

from jaxaot import _trees as pytree
from jaxaot._jax import is_tracer
from jaxaot.facade.dispatch.create import from_jax
from jaxaot.facade.memory.tensor import Tensor


def print(*values: object, sep: str = " ", end: str = "\n") -> None:
    """Prints values as Python's `print` does; in a compiled function at each call, with the values of that call.

    Python's own `print` runs while a compiled function is traced, where tensors have no values. What is printed under
    `ja.jit`, `jax.jit` and the like comes when the program runs, and not in a certain order.

    Args:
      *values: What to print; tensors and arrays may be anywhere in containers.
      sep: What is put between them.
      end: What is put after them.
    """
    leaves, tree = pytree.flatten(values, is_leaf=lambda value: value is None)
    arrays = [leaf.detach().jax() if isinstance(leaf, Tensor) else leaf for leaf in leaves]
    traced = [i for i, array in enumerate(arrays) if is_tracer(array)]
    if not traced:
        builtins.print(*values, sep=sep, end=end)
        return

    def show(*found: Any) -> None:
        shown = list(leaves)
        for i, array in zip(traced, found, strict=True):
            shown[i] = from_jax(array) if isinstance(leaves[i], Tensor) else array
        builtins.print(*pytree.unflatten(tree, shown), sep=sep, end=end)

    jax.debug.callback(show, *(arrays[i] for i in traced))
