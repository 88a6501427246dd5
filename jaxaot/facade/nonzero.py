"""Where elements are true: known eagerly; in a trace that may ask for values, by asking for their number alone."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxaot._jax import is_tracer
from jaxaot.facade.tensor import Tensor
from jaxaot.tape.modes import state


def may_ask() -> bool:
    """Returns whether Python may ask for the values of traced tensors now."""
    return state.trace is not None and state.trace.known is not None


def true_places(tensor: Tensor, what: str) -> tuple[Any, ...]:
    """Returns the indices of the elements that are not zero, an array for each dim.

    Args:
      tensor: Of at least one dim.
      what: Who asks, for the error.

    Raises:
      ConcretizationError: If the elements are symbols and nobody may ask how many they are.
    """
    array = tensor._read()
    if is_tracer(array) and may_ask():
        number = state.trace.ask(jnp.count_nonzero(array))
        if number is not None:
            return _places(array != 0, int(number))
    return np.nonzero(tensor._concrete(what) if tensor._is_without_values else np.asarray(array))


def _places(mask: Any, n: int) -> tuple[Any, ...]:
    """Returns the indices of the elements of a mask that are true, of which there are `n`.

    It is `jnp.nonzero(mask, size=n)` in primitives that each have a rule for sizes that change.
    """
    flat = mask.reshape(-1)
    rank = jnp.where(flat, jnp.cumsum(flat) - 1, n)
    places = jnp.zeros(n, int).at[rank].set(jnp.arange(flat.size), mode="drop")
    return jnp.unravel_index(places, mask.shape)
