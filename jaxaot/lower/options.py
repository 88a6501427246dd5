"""Options for XLA, and where they may be given.

On CPU XLA drops `optimization_barrier`s before it fuses, unless its pass `cse_barrier_expander` is off; and it gives
convolutions of images in single precision to YNN, which computes them on one core, where Eigen would use all. JAX takes
options at the outermost `jit` only.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any

import jax

from jaxaot._jax import is_outermost

_DISABLED = "xla_disable_hlo_passes"

_BY_YNN = "xla_cpu_experimental_ynn_fusion_type"
_ALL_BUT_CONVOLUTIONS = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_REDUCE"
"""What XLA gives to YNN by default, without convolutions."""


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


def with_eigen_convolutions(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Returns options under which XLA on CPU computes convolutions by Eigen, together with those of the user.

    What the user says of YNN, in options or in `XLA_FLAGS`, stays; so does everything if XLA does not know the option.
    """
    merged = dict(options or {})
    if _BY_YNN not in merged and _BY_YNN not in os.environ.get("XLA_FLAGS", "") and _is_known(_BY_YNN):
        merged[_BY_YNN] = _ALL_BUT_CONVOLUTIONS
    return merged


@functools.cache
def _is_known(name: str) -> bool:
    """Returns whether XLA takes an option about YNN."""
    lowered = jax.jit(lambda x: x).lower(jax.ShapeDtypeStruct((), "float32"))
    try:
        lowered.compile({name: _ALL_BUT_CONVOLUTIONS})
    except jax.errors.JaxRuntimeError:
        return False
    return True


def without_options_inside(alone: Callable[..., Any], inside: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that is `inside` in transformations of JAX, whose `jit` takes options only outermost."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return alone(*args, **kwargs) if is_outermost() else inside(*args, **kwargs)

    return call
