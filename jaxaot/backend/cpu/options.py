"""Options for XLA, and where they may be given.

On CPU XLA drops `optimization_barrier`s before it fuses, unless its pass `cse_barrier_expander` is off. It gives
convolutions of images in single precision to YNN, which before jax 0.11 computes them on one core, where Eigen uses
all. Before jax 0.12 most of the time that a small kernel takes to compile is what the newer emitters of fusions
prepare, where the older ones make code that is as fast for a few thousand elements. LLVM's second level of optimization
makes code that is as fast as its third, which XLA asks for, in less time. `algsimp`, its simplifier of algebra, takes
`log(exp(x))` for `x`; and it leaves out conversions to a half and back. JAX takes options at the outermost `jit` only.

With several devices XLA on CPU and GPUs would combine the exchanges of all layers into one.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any

import jax

from jaxaot._jax import is_outermost
from jaxaot._placement import are_several
from jaxaot._typing import Jaxpr
from jaxaot.ir.build import n_elements
from jaxaot.ir.walk import sub_jaxprs

_DISABLED = "xla_disable_hlo_passes"

_COMBINER = "cpu-all-reduce-combiner"
"""A pass that has all devices wait for the last gradient, while the whole of every other one is kept."""

_EXCESS = "xla_allow_excess_precision"
"""Whether halves may stay in float32 between operations."""

_BY_YNN = "xla_cpu_experimental_ynn_fusion_type"
_ALL_BUT_CONVOLUTIONS = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_REDUCE"
"""What XLA gives to YNN by default, without convolutions."""

_ALL_CORES = "xla_cpu_multi_thread_eigen"
"""Whether kernels are divided among cores, those of Eigen and others."""

_NEWER_EMITTERS = "xla_cpu_use_fusion_emitters"

_LEVEL = "xla_backend_optimization_level"
"""How much LLVM optimizes what XLA on CPU gives it: 0 to 3."""

_SHORT = """
    random_bits threefry2x32 reduce_window reduce_window_sum reduce_window_max reduce_window_min select_and_scatter_add
    select_and_gather_add
    """
_IN_SHORT_LOOPS = frozenset(_SHORT.split())
"""What XLA gives to LLVM as loops of a few iterations for each element."""

_FEW_ELEMENTS = 32

_MAX_COMBINED_BYTES = 4 * 2**20


def gathering_by_layers(n_devices: int, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Returns options under which XLA on GPUs combines small exchanges alone, together with those of the user.

    It would gather the parameters of all layers in one exchange, and scatter their gradients in one.

    Args:
      n_devices: How many devices exchange.
      options: The user's.
    """
    limits = {
        "xla_gpu_all_gather_combine_threshold_bytes": _MAX_COMBINED_BYTES,
        "xla_gpu_reduce_scatter_combine_threshold_bytes": _MAX_COMBINED_BYTES // n_devices,  # counted by results
    }
    given = os.environ.get("XLA_FLAGS", "")
    return {**{name: n for name, n in limits.items() if name not in given}, **(options or {})}


def optimizing_less(options: Mapping[str, Any] | None = None, platform: str | None = None) -> dict[str, Any]:
    """Returns options under which LLVM optimizes at its second level, together with those of the user.

    Where the user has JAX optimize little, by `jax_disable_most_optimizations`, that stays.

    Args:
      options: The user's.
      platform: Where the program runs; by default on the default backend.
    """
    merged = dict(options or {})
    if (platform or jax.default_backend()) != "cpu" or jax.config.read("jax_disable_most_optimizations"):
        return merged
    return merged if _LEVEL in os.environ.get("XLA_FLAGS", "") else {_LEVEL: 2, **merged}


def gains_by_optimizing(graph: Jaxpr) -> bool:
    """Returns whether LLVM's third level makes faster code of a graph: of loops over windows or rounds of a hash."""
    for eqn in graph.eqns:
        if eqn.primitive.name in _IN_SHORT_LOOPS:
            if max(n_elements(var.aval.shape) for var in eqn.outvars) >= _FEW_ELEMENTS:
                return True
        elif any(map(gains_by_optimizing, sub_jaxprs(eqn))):
            return True
    return False


def keeping_barriers(options: Mapping[str, Any] | None = None, platform: str | None = None) -> dict[str, Any]:
    """Returns options under which XLA keeps barriers, together with those of the user.

    Passes that the user turns off stay off too; an empty text turns none off, this one neither.

    Args:
      options: The user's.
      platform: Where the program runs; by default on the default backend.
    """
    merged = dict(options or {})
    platform = platform or jax.default_backend()
    if platform in ("gpu", "cuda") and are_several():
        return gathering_by_layers(jax.device_count(), merged)
    if platform != "cpu":
        return merged
    kept = _without(merged, "cse_barrier_expander")
    return _without(kept, _COMBINER) if are_several() else kept


def keeping_roundings(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Returns options under which XLA rounds the result of each operation, together with those of the user."""
    return _with(_without(dict(options or {}), "algsimp"), _EXCESS, False)


def _without(options: dict[str, Any], name: str) -> dict[str, Any]:
    """Returns options with one more pass of XLA turned off, unless the user says that none is."""
    given = options.get(_DISABLED)
    passes = [] if given is None else str(given).split(",")
    return options if passes == [""] else {**options, _DISABLED: ",".join(dict.fromkeys([*passes, name]))}


def with_eigen_convolutions(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Returns options under which XLA on CPU computes convolutions by Eigen, together with those of the user.

    What the user says of YNN, in options or in `XLA_FLAGS`, stays; so does everything if XLA does not know the option.
    """
    return _with(options, _BY_YNN, _ALL_BUT_CONVOLUTIONS)


def compiling_quickly(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Returns options under which XLA on CPU compiles a small graph in less time, together with those of the user.

    What the user says of emitters, in options or in `XLA_FLAGS`, stays; so does everything if XLA does not know the
    option, and on other backends.
    """
    if jax.default_backend() != "cpu":
        return dict(options or {})
    return _with(options, _NEWER_EMITTERS, False)


def on_one_core(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Returns options under which XLA on CPU runs each program on the core that starts it, with those of the user."""
    return _with(options, _ALL_CORES, False)


def _with(options: Mapping[str, Any] | None, name: str, value: object) -> dict[str, Any]:
    """Returns options with one more, unless the user said something of it or XLA does not know it."""
    merged = dict(options or {})
    if name not in merged and name not in os.environ.get("XLA_FLAGS", "") and _is_known(name, value):
        merged[name] = value
    return merged


@functools.cache
def _is_known(name: str, value: Any) -> bool:
    """Returns whether XLA takes an option."""
    lowered = jax.jit(lambda x: x).lower(jax.ShapeDtypeStruct((), "float32"))
    if isinstance(value, bool):  # what is neither true nor false is refused before anything is compiled
        try:
            lowered.compile({name: "neither"})
        except jax.errors.JaxRuntimeError as error:
            if "not a valid bool value" in str(error):
                return True
    try:
        lowered.compile({name: value})
    except jax.errors.JaxRuntimeError:
        return False
    return True


def without_options_inside(alone: Callable[..., Any], inside: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that is `inside` in transformations of JAX, whose `jit` takes options only outermost."""

    def call(*args: object, **kwargs: Any) -> Any:
        return alone(*args, **kwargs) if is_outermost() else inside(*args, **kwargs)

    return call
