"""What belongs to an array lies over the devices as that array does: its gradient, a value written over it, its state.

The *placement* of an array says which part of it each device holds; JAX calls it its sharding. In a graph placements
are not known. There an equation, `place_as`, asks XLA to lay one value out as another, so a graph serves all
placements. With one device nothing is done at all.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
from collections.abc import Iterator
from typing import Any

import jax
from jax.sharding import AxisType, NamedSharding

from jaxaot._jax import is_tracer, place_as_p


def are_several() -> bool:
    """Returns whether there are several devices, counted over all processes, or a graph is made for several."""
    return _n_devices() > 1 or _is_for_several.get()


@functools.cache
def _n_devices() -> int:
    return jax.device_count()


_is_for_several = contextvars.ContextVar("for several devices", default=False)


@contextlib.contextmanager
def for_several() -> Iterator[None]:
    """Has graphs be made as for several devices, which need not be there."""
    token = _is_for_several.set(True)
    try:
        yield
    finally:
        _is_for_several.reset(token)


def is_spread(array: object) -> bool:
    """Returns whether a concrete array lies over several devices."""
    return isinstance(array, jax.Array) and not is_tracer(array) and len(array.sharding.device_set) > 1


def placement_of(leaf: object) -> Any:
    """Returns how an array lies over several devices, or the type of one would; None if it does not."""
    if isinstance(leaf, jax.ShapeDtypeStruct):
        sharding = leaf.sharding
        return sharding if isinstance(sharding, NamedSharding) and sharding.mesh.size > 1 else None
    return leaf.sharding if is_spread(leaf) else None  # pyright: ignore[reportAttributeAccessIssue]


def placed_like(x: object, like: object, leads: bool = True) -> Any:
    """Returns `x`, placed as what it belongs to; as it is if that lies on one device, or has another shape.

    Args:
      x: An array, concrete or a symbol.
      like: What it belongs to.
      leads: In a graph, whether `x` is computed there from the start; else where its operands lie, and then moved.
    """
    if not are_several() or like is None or getattr(x, "shape", None) != getattr(like, "shape", ()) or not x.ndim:
        return x
    if not is_tracer(like):
        if not is_spread(like):
            return x
        if is_tracer(x):
            return jax.lax.with_sharding_constraint(x, like.sharding) if _is_plain(x) else x
        same = x.sharding == like.sharding or x.sharding.is_equivalent_to(like.sharding, x.ndim)
        return x if same else jax.device_put(x, like.sharding)
    return place_as_p.bind(x, like, leads=leads) if _is_plain(x) and _is_plain(like) else x


@functools.partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def placed_at(x: object, sharding: object, source: object) -> Any:
    """Returns `x` placed by a sharding; its gradient is placed as `x` was, or left to XLA.

    Args:
      x: A symbol.
      sharding: A `NamedSharding`.
      source: The sharding of `x`; None where it is not known.
    """
    del source
    return jax.lax.with_sharding_constraint(x, sharding)


@placed_at.defjvp
def _placed_at_jvp(sharding: Any, source: Any, primals: Any, tangents: Any) -> Any:
    tangent = tangents[0] if source is None else jax.lax.with_sharding_constraint(tangents[0], source)
    return placed_at(primals[0], sharding, source), tangent


def _is_plain(x: object) -> bool:
    """Returns whether the type of a value leaves its placement to XLA."""
    sharding = getattr(jax.typeof(x), "sharding", None)
    return sharding is None or sharding.mesh.empty or all(t == AxisType.Auto for t in sharding.mesh.axis_types)
