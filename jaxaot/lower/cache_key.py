"""What a compiled graph depends on.

A *cache key* is a tuple of named components, each with a digest of its value. Two graphs with equal keys compile to the
same program; where keys differ, the names of the components that do are told.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._immutable import immutable
from jaxaot._typing import ClosedJaxpr
from jaxaot.errors import SettingsChangedError

_FLAGS = ("XLA_FLAGS", "LIBTPU_INIT_ARGS")
_SETTINGS = (
    "jax_enable_x64",
    "jax_default_matmul_precision",
    "jax_numpy_dtype_promotion",
    "jax_threefry_partitionable",
    "jax_default_prng_impl",
    "jax_debug_nans",
)


def jax_settings() -> tuple[tuple[str, Any], ...]:
    """Returns (name, value) of the settings of JAX that decide what a trace becomes."""
    return tuple((name, getattr(jax.config, name, None)) for name in _SETTINGS)


def refuse_other_settings(settings: Any) -> None:
    """Raises unless the settings of JAX are these.

    Raises:
      SettingsChangedError: If they are not.
    """
    changed = [
        f"{name} is {value!r} instead of {before!r}"
        for (name, before), (_, value) in zip(settings, jax_settings(), strict=True)
        if value != before
    ]
    if changed:
        raise SettingsChangedError(
            f"This program was compiled under other settings of JAX: {', '.join(changed)}. They decided its types and "
            "precision. Trace and compile it again under these, `ja.trace(fn, *args)`. Or write `ja.compile(fn)`, "
            "which does so by itself."
        )


@immutable
class Component:
    """One thing that a compiled graph depends on.

    Attributes:
      name: What it is.
      digest: A short text that is equal where the value is.
    """

    name: str
    digest: str


CacheKey = tuple[Component, ...]


def cache_key(closed: ClosedJaxpr, text: str, backend: str, others: Iterable[tuple[str, Any]] = ()) -> CacheKey:
    """Returns the components that a compiled graph depends on.

    Args:
      closed: The ClosedJaxpr.
      text: What is equal for graphs that compute the same, and for no others.
      backend: The name of the backend or platform.
      others: More components, as (name, value with a stable `repr`).
    """
    device = jax.devices()[0]
    components = [
        ("inputs", [str(aval) for aval in closed.in_avals]),
        ("outputs", [str(aval) for aval in closed.out_avals]),
        ("equations", text),
        ("backend", backend),
        ("device", f"{device.platform} {device.device_kind} x{jax.device_count()}"),
        ("versions", f"jax {jax.__version__} jaxlib {importlib.metadata.version('jaxlib')}"),
        ("settings", list(jax_settings())),
        ("flags", [(name, os.environ.get(name, "")) for name in _FLAGS]),
        *others,
    ]
    return tuple(Component(name, digest(value)) for name, value in components)


def digest(value: Any) -> str:
    """Returns a short text that is equal for values with equal `repr`; a short text is its own digest."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 64 else hashlib.sha256(text.encode()).hexdigest()[:32]


def array_digest(value: Any) -> str:
    """Returns a text that is equal for arrays of one type with the same bits."""
    if jnp.issubdtype(getattr(value, "dtype", np.float32), jax.dtypes.extended):
        value = jax.random.key_data(value)
    array = np.asarray(value)
    return hashlib.sha256(f"{array.dtype}{array.shape}".encode() + array.tobytes()).hexdigest()
