"""The only file that names a private part, or a version, of JAX.

Everything else uses `jax`, `jax.extend`, `jax.export` and `jax.experimental`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.extend.core as jex

VERSION: tuple[int, ...] = tuple(int(part) for part in jax.__version__.split(".")[:2])

Jaxpr = jex.Jaxpr
ClosedJaxpr = jex.ClosedJaxpr
JaxprEqn = jex.JaxprEqn
Literal = jex.Literal
Primitive = jex.Primitive
Var = jex.Var
Tracer = jax.core.Tracer
ShapedArray = jax.core.ShapedArray
jaxpr_as_fun = jex.jaxpr_as_fun


def make_jaxpr_object(
    invars: Sequence[Any], outvars: Sequence[Any], eqns: Sequence[Any], constvars: Sequence[Any] = (), effects: Any = None
) -> Any:
    """Returns an open Jaxpr: the one place that calls its constructor."""
    if effects is None:
        effects = set().union(*(eqn.effects for eqn in eqns)) if eqns else set()
    return jex.Jaxpr(list(constvars), list(invars), list(outvars), list(eqns), effects)


def close_jaxpr(jaxpr: Any, consts: Sequence[Any] = ()) -> Any:
    """Returns `jaxpr` with its constants attached."""
    return jex.ClosedJaxpr(jaxpr, list(consts))


def name_stack(eqn: Any) -> str:
    """Returns the scope in which an equation was traced, such as `transpose(jvp(block0))`."""
    return str(eqn.source_info.name_stack)


def is_tracer(value: Any) -> bool:
    """Returns whether `value` is a symbol of a JAX trace rather than an array."""
    return isinstance(value, Tracer)
