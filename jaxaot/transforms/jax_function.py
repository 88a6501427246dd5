"""`ja.autograd.jax_function`: functions of JAX on tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ops.table import op_of
from jaxaot.tape.saved_hooks import without_saved_hooks


def jax_function(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function of jax values as one of tensors, recorded as a single operation.

        attention = ja.autograd.jax_function(flash_attention)      # a jax.custom_vjp, a Pallas kernel, anything
        y = attention(q, k, v, causal=True)

    Its gradients are those of JAX, so those of its `custom_vjp` or `custom_jvp`, of any order. Eagerly it is compiled.

    Args:
      fn: A pure function of arrays, in any pytrees, to arrays; arguments that are no tensors or arrays are static.
    """
    rows: dict[Any, Any] = {}

    @functools.wraps(fn)
    def on_tensors(*args: object, **kwargs: Any) -> Any:
        leaves, tree = pytree.flatten((args, kwargs))
        is_value = [isinstance(leaf, (Tensor, jax.Array, np.ndarray)) for leaf in leaves]
        static = tuple((type(x), x) for x, wanted in zip(leaves, is_value, strict=True) if not wanted)
        key = (tree, tuple(is_value), static)
        if key not in rows:
            rows[key] = _row(fn, leaves, tree, is_value)
        row, result_tree = rows[key]
        results = call(row, ([x for x, wanted in zip(leaves, is_value, strict=True) if wanted],), ())
        return pytree.unflatten(result_tree[0], results)

    return on_tensors


def _row(fn: Callable[..., Any], leaves: Sequence[Any], tree: Any, is_value: Sequence[bool]) -> tuple[Any, list[Any]]:
    """Returns a function as an op on a list of values, and where the tree of its result will be."""
    fixed = [None if wanted else leaf for leaf, wanted in zip(leaves, is_value, strict=True)]
    result_tree: list[Any] = [None]

    def run(values: Sequence[Any]) -> list[Any]:
        given = iter(values)
        filled = [next(given) if wanted else leaf for leaf, wanted in zip(fixed, is_value, strict=True)]
        args, kwargs = pytree.unflatten(tree, filled)
        with without_saved_hooks():  # the tape packs what the op saves
            found, result_tree[0] = pytree.flatten(fn(*args, **kwargs))
        return found

    name = getattr(fn, "__name__", "jax_function")
    return op_of(run, f"{name if name.isidentifier() else 'jax_function'}(Tensor[] values) -> Tensor[]"), result_tree
