"""A graph on the devices of another mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax.sharding import Mesh, NamedSharding

from jaxaot._jax import ClosedJaxpr, Jaxpr, close_jaxpr
from jaxaot.errors import PlacementError
from jaxaot.ir.rewrite import rebuild


def mesh_of(shardings: Sequence[Any]) -> Any:
    """Returns the mesh that shardings are on; None if they are on none.

    Raises:
      PlacementError: If they are on several, or not on a mesh.
    """
    spread = [s for s in shardings if s is not None]
    if not all(isinstance(s, NamedSharding) for s in spread) or len({tuple(s.mesh.shape.items()) for s in spread}) > 1:
        shown = ", ".join(dict.fromkeys(str(getattr(s, "mesh", s)) for s in spread))
        raise PlacementError(f"The arguments lie on several meshes, or on none: {shown}. Place them on one mesh.")
    return spread[0].mesh if spread else None


def on_mesh(value: Any, mesh: Mesh) -> Any:
    """Returns a sharding, a graph, or what holds them, on another mesh with the same axes; abstract meshes stay.

    Args:
      value: A `NamedSharding`, a `Mesh`, a ClosedJaxpr, or a tuple, list or dict of such; others are returned as they
        are.
      mesh: The mesh.
    """
    if isinstance(value, NamedSharding):
        return NamedSharding(mesh, value.spec, memory_kind=value.memory_kind) if _is_alike(value.mesh, mesh) else value
    if isinstance(value, Mesh):
        return mesh if _is_alike(value, mesh) else value
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(on_mesh(x, mesh) for x in value)
    if isinstance(value, dict):
        return {key: on_mesh(x, mesh) for key, x in value.items()}
    if isinstance(value, ClosedJaxpr):
        return _graph_on(value, mesh)
    if isinstance(value, Jaxpr):
        return _graph_on(close_jaxpr(value), mesh).jaxpr if not value.constvars else value
    return value


def _graph_on(closed: ClosedJaxpr, mesh: Mesh) -> ClosedJaxpr:
    eqns = [eqn.replace(params={k: on_mesh(v, mesh) for k, v in eqn.params.items()}) for eqn in closed.jaxpr.eqns]
    return rebuild(closed, eqns, closed.jaxpr.outvars)


def _is_alike(found: Any, mesh: Mesh) -> bool:
    return isinstance(found, Mesh) and dict(found.shape) == dict(mesh.shape)
