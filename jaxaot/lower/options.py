"""Options for XLA, and where they may be given.

On CPU XLA drops `optimization_barrier`s before it fuses, unless its pass `cse_barrier_expander` is off. JAX takes
options at the outermost `jit` only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax

from jaxaot._jax import is_outermost

_DISABLED = "xla_disable_hlo_passes"


def keeping_barriers(options: Mapping[str, Any] | None = None, platform: str | None = None) -> dict[str, Any]:
    """Returns options under which XLA keeps barriers, together with those of the user.

    Passes that the user turns off stay off too; an empty text turns none off, this one neither.

    Args:
      options: The user's.
      platform: Where the program runs; by default on the default backend.
    """
    merged = dict(options or {})
    if (platform or jax.default_backend()) == "cpu":
        given = merged.get(_DISABLED)
        passes = ["cse_barrier_expander"] if given is None else str(given).split(",")
        if passes != [""]:
            merged[_DISABLED] = ",".join(dict.fromkeys([*passes, "cse_barrier_expander"]))
    return merged


def without_options_inside(alone: Callable[..., Any], inside: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that is `inside` in transformations of JAX, whose `jit` takes options only outermost."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return alone(*args, **kwargs) if is_outermost() else inside(*args, **kwargs)

    return call
