"""Values whose gradient PyTorch defines to be that of another formula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from jaxaot._typing import Array


@jax.custom_jvp
def with_slope(value: Array, source: Array) -> Array:
    """Returns `value`; its gradient is that of `source`, which is dropped otherwise."""
    return value


@with_slope.defjvp
def _with_slope_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return with_slope(*primals), tangents[1]  # not the value alone: its slope has a derivative too
