"""Where elements are true or distinct: known eagerly; in a trace that may ask for values, by their number alone.

What a trace asks for is a value that its program is made for. So it asks for as little as the sizes of results need.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._jax import is_tracer
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.tape.modes import state


def may_ask() -> bool:
    """Returns whether Python may ask for the values of traced tensors now."""
    return state.trace is not None and state.trace.may_ask()


def asked(number: Callable[[], Any]) -> int | None:
    """Returns a number that is computed from symbols, for which Python asks between two segments.

    Args:
      number: Returns the scalar.

    Returns:
      The number; None if nobody may ask.
    """
    if not may_ask():
        return None
    known = state.trace.ask(number(), "A size that depends on values")
    return None if known is None else int(known)


_MAX_KEYS = 16
"""Slices of more elements are not sorted in a trace: each element is a key of its own."""


class Distinct(NamedTuple):
    """The distinct slices of an array along an axis.

    Attributes:
      found: They.
      inverse: Which one each slice is.
      counts: How often each occurs.
    """

    found: Any
    inverse: Any
    counts: Any


def distinct(array: Any, axis: int, is_sorted: bool) -> Distinct | None:
    """Returns the distinct slices of symbols, for whose number Python asks; None if nobody may ask.

    Args:
      array: An array with elements.
      axis: The axis along which the slices are.
      is_sorted: Whether they are sorted first; else only neighbours are compared.
    """
    rows = jnp.moveaxis(lax.stop_gradient(array), axis, 0)
    n = rows.shape[0]
    flat = rows.reshape(n, -1)
    if not may_ask() or not n or (is_sorted and not 1 <= flat.shape[1] <= _MAX_KEYS):
        return None
    order = jnp.arange(n)
    if is_sorted:
        *columns, order = lax.sort((*(flat[:, i] for i in range(flat.shape[1])), order), num_keys=flat.shape[1])
        flat = jnp.stack(columns, 1)
    begins = jnp.concatenate([jnp.ones(1, bool), (flat[1:] != flat[:-1]).any(1)])
    number = asked(lambda: begins.sum())
    if number is None:
        return None
    (starts,) = _places(begins, number)
    found = jnp.moveaxis(flat[starts].reshape(number, *rows.shape[1:]), 0, axis)
    inverse = jnp.zeros(n, int).at[order].set(jnp.cumsum(begins) - 1)
    return Distinct(found, inverse, jnp.concatenate([starts[1:], jnp.full(1, n)]) - starts)


def true_places(tensor: Tensor, what: str) -> tuple[Any, ...]:
    """Returns the indices of the elements that are not zero, an array for each dim.

    Args:
      tensor: Of at least one dim.
      what: Who asks, for the error.

    Raises:
      ConcretizationError: If the elements are symbols and nobody may ask how many they are.
    """
    array = tensor._read()
    if is_tracer(array):
        number = asked(lambda: jnp.count_nonzero(array))
        if number is not None:
            return _places(array != 0, number)
    return np.nonzero(tensor._concrete(what) if tensor._is_without_values else np.asarray(array))


def _places(mask: Any, n: int) -> tuple[Any, ...]:
    """Returns the indices of the elements of a mask that are true, of which there are `n`.

    It is `jnp.nonzero(mask, size=n)` in primitives that each have a rule for sizes that change.
    """
    flat = mask.reshape(-1)
    rank = jnp.where(flat, jnp.cumsum(flat) - 1, n)
    places = jnp.zeros(n, int).at[rank].set(jnp.arange(flat.size), mode="drop")
    return jnp.unravel_index(places, mask.shape)
