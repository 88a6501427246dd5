"""`autocast`: inside, products run in a lower precision and losses in float32, by PyTorch's lists
(`ops/autocast_lists.py`).

What is set belongs to the thread. It decides only how a forward is computed: the casts are part of it, so a backward
follows what its forward did, whatever is set when it runs.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._immutable import immutable
from jaxaot._typing import DTypeLike
from jaxaot.errors import ArgumentError, DeviceTypeError, DtypeError
from jaxaot.tape.modes import state

LOWER_DTYPES = (np.dtype(jnp.bfloat16), np.dtype(np.float16))
"""What may be lower than float32."""

P = ParamSpec("P")
R = TypeVar("R")

_PLATFORMS = {"cpu": "cpu", "cuda": "gpu", "gpu": "gpu", "tpu": "tpu", "xla": "tpu"}
"""Kind of device → JAX's name of it."""


@immutable
class Precision:
    """What is set for one kind of device.

    Attributes:
      is_on: Whether ops are cast.
      dtype: The lower precision.
    """

    is_on: bool
    dtype: np.dtype


@immutable
class Autocast:
    """What is set for all of them.

    Attributes:
      precisions: For each kind of device.
      caches: Whether weights are cast once.
      platform: Where ops run.
    """

    precisions: tuple[tuple[str, Precision], ...]
    caches: bool
    platform: str

    @functools.cached_property
    def dtype(self) -> np.dtype | None:
        """The lower precision where ops run; None if nothing is cast there."""
        here = self.of(self.platform)
        return here.dtype if here.is_on else None

    def of(self, platform: str) -> Precision:
        """Returns the settings for a kind of device."""
        return dict(self.precisions).get(platform, _OFF)

    def __str__(self) -> str:
        shown = [f"{name} in {precision.dtype.name}" for name, precision in self.precisions if precision.is_on]
        return ", ".join(shown) or "off"


_OFF = Precision(False, np.dtype(jnp.bfloat16))


@functools.cache
def _untouched() -> Autocast:
    """Returns the initial settings."""
    gpu = Precision(False, np.dtype(np.float16))
    return Autocast((("cpu", _OFF), ("gpu", gpu), ("tpu", _OFF)), True, jax.default_backend())


def _current() -> Autocast:
    return state.autocast or _untouched()


def _platform(device_type: Any) -> str:
    if device_type is None:
        return jax.default_backend()
    if not isinstance(device_type, str):
        raise ArgumentError(f"Expected `device_type` of type `str`, got: `{type(device_type).__name__}`")
    if device_type not in _PLATFORMS:
        raise DeviceTypeError(
            f"User specified an unsupported autocast device_type '{device_type}'. Write one of "
            f"{', '.join(map(repr, _PLATFORMS))}, without a number; or none, for the device that JAX uses."
        )
    return _PLATFORMS[device_type]


def _as_dtype(dtype: DTypeLike) -> np.dtype:
    try:
        return np.dtype(dtype)
    except TypeError as error:
        raise DtypeError(f"`{dtype!r}` is not a dtype; write for instance `dtype=ja.bfloat16`.") from error


class autocast:
    """Inside, listed ops cast their operands: products to a lower precision, losses and the like to float32.

    A context manager, and a decorator. In a compiled function it works as outside of one; what is set around a call is
    part of the key of its program.

        with ja.autocast(dtype=ja.bfloat16):
            loss = ja.nn.functional.mse_loss(x @ w, y)  # the product in bfloat16, the loss in float32
        loss.backward()

    A float32 leaf that requires grad is cast once and kept until the outermost context ends, as long as it is not
    written: a cast of values that it no longer has is never used.
    """

    def __init__(
        self,
        device_type: str | None = None,
        dtype: DTypeLike | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ):
        """Sets nothing yet.

        Args:
          device_type: Whose ops are concerned: `"cpu"`, `"cuda"`, `"gpu"`, `"tpu"`; by default the device JAX uses.
          dtype: The lower precision, by default float16 on GPUs and bfloat16 elsewhere.
          enabled: False for what is to run without inside of another context.
          cache_enabled: Whether weights are cast once; by default as outside.

        Raises:
          DeviceTypeError: If there is no such kind of device.
          DtypeError: If the dtype is none.
        """
        self._platform = _platform(device_type)
        wanted = _current().of(self._platform).dtype if dtype is None else _as_dtype(dtype)
        if enabled and wanted not in LOWER_DTYPES:
            warnings.warn(
                f"In {self._platform.upper()} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"Autocast only supports dtypes of {', '.join(d.name for d in LOWER_DTYPES)}, not {wanted.name}.",
                stacklevel=2,
            )
            enabled = False
        self._precision = Precision(bool(enabled), wanted)
        self._caches = is_autocast_cache_enabled() if cache_enabled is None else bool(cache_enabled)

    def __enter__(self) -> autocast:
        state.autocast_before.append(state.autocast)
        precisions = dict(_current().precisions) | {self._platform: self._precision}
        wanted = Autocast(tuple(precisions.items()), self._caches, jax.default_backend())
        state.autocast = None if wanted == _untouched() else wanted
        return self

    def __exit__(self, *_: object) -> None:
        state.autocast = state.autocast_before.pop()
        if not state.autocast_before:
            clear_autocast_cache()

    def __call__(self, fn: Callable[P, R]) -> Callable[P, R]:
        if not callable(fn):
            raise ArgumentError(
                f"autocast()(func) requires a callable, but got {type(fn).__name__}. Did you mean to use autocast as a "
                "context manager? Write `with ja.autocast(): ...`."
            )

        @functools.wraps(fn)
        def inside(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return fn(*args, **kwargs)

        return inside


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Returns whether ops on a kind of device are cast, by default on the one that JAX uses."""
    return _current().of(_platform(device_type)).is_on


def get_autocast_dtype(device_type: str | None = None) -> np.dtype:
    """Returns the lower precision on a kind of device, also if `autocast` is off, by default on the one JAX uses."""
    return _current().of(_platform(device_type)).dtype


def is_autocast_cache_enabled() -> bool:
    """Returns whether weights are cast once in a context."""
    return _current().caches


def is_autocast_available(device_type: str) -> bool:
    """Returns whether there is `autocast` for a kind of device."""
    return device_type in _PLATFORMS


def clear_autocast_cache() -> None:
    """Forgets the weights that were cast."""
    state.casts.clear()
    if state.trace is not None:
        state.trace.casts.clear()
