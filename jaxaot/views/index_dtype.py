"""Numbers of places in memory, as kernels take them: 32 bits where these suffice."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from jaxaot.errors import StorageSizeError

MAX_INT32 = 2**31 - 1


def place_numbers(numbers: Sequence[int] | np.ndarray, n_places: int) -> np.ndarray:
    """Returns numbers of places in memory as an operand of kernels.

    Args:
      numbers: The places.
      n_places: How many memory has: 64 bits are used only where 32 do not suffice.

    Raises:
      StorageSizeError: If they need 64 bits while JAX's x64 mode is off.
    """
    if n_places <= MAX_INT32:
        return np.array(numbers, np.int32)
    if not jax.config.jax_enable_x64:
        raise StorageSizeError(
            f"An element has its place in a memory of {n_places:,} elements, and JAX counts to 2**31 with its x64 mode "
            "off. Call `jax.config.update('jax_enable_x64', True)` first, or keep the elements in several tensors."
        )
    return np.array(numbers, np.int64)
