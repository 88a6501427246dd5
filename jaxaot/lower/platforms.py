"""The platform that a call is for, which says by what passes and options its graph is compiled.

As for `jax.jit`: an option that says where a program runs comes first, then what the arguments lie on, be it arrays or
types with shardings, whose devices may be absent; then the mesh and the device that are in force.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import jax

from jaxaot._jax import backends

SEVERAL = "several"
"""What a program is for that is lowered for more than one platform, so that passes of none run."""


@functools.cache
def are_several() -> bool:
    """Returns whether arrays of this process may lie on several platforms."""
    return len(backends()) > 1


def device_of(leaf: object) -> Any:
    """Returns a device on which an array was placed, or a type or a sharding is; None if that is not said."""
    if isinstance(leaf, jax.Array) and not getattr(leaf, "committed", True):
        return None
    sharding: Any = leaf if _is_sharding(leaf) else getattr(leaf, "sharding", None)
    try:
        return next(iter(sharding.device_set))
    except (AttributeError, ValueError, TypeError, StopIteration):  # an abstract mesh has no devices
        return None


def _is_sharding(leaf: object) -> bool:
    try:
        return hasattr(leaf, "device_set")
    except ValueError:  # one on an abstract mesh
        return True


def first_device(leaves: Iterable[object]) -> Any:
    """Returns the first device that some arrays, types or shardings name; None if they name none."""
    return next((device for device in map(device_of, leaves) if device is not None), None)


def _of_device(device: object) -> str | None:
    if isinstance(device, str):
        return device.partition(":")[0]
    return getattr(device, "platform", None)


def platform_of(args: tuple[Any, ...], kwargs: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Returns the platform for which a call is lowered.

    Args:
      args: The arguments.
      kwargs: Those that are passed by name.
      options: The options of `jax.jit`.
    """
    asked = _of_device(options.get("backend") or options.get("device"))
    if asked is not None:
        return asked
    given = (options.get("in_shardings"), options.get("out_shardings"), args, kwargs)
    found = first_device(jax.tree.leaves(given, is_leaf=_is_sharding))
    if found is not None:
        return found.platform
    mesh = jax.sharding.get_mesh() if hasattr(jax.sharding, "get_mesh") else None
    if mesh is not None and not mesh.empty:
        return mesh.devices.flat[0].platform
    return _of_device(jax.config.jax_default_device) or jax.default_backend()
