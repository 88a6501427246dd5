"""The only file that names a private part, or a version, of JAX.

Everything else uses `jax`, `jax.extend`, `jax.export` and `jax.experimental`.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.extend.core as jex
import jax.numpy as jnp
import numpy as np
from jax._src.core import trace_state_clean
from jax.extend import source_info_util

OWN_PATHS: tuple[str, ...] = tuple(
    str(child) for child in sorted(pathlib.Path(__file__).parent.iterdir()) if child.name not in ("demo", "__pycache__")
)
"""Files whose lines are never the user's: equations traced through them name the caller's line. The demo is a user."""
for _path in OWN_PATHS:
    source_info_util.register_exclusion(_path)

Jaxpr = jex.Jaxpr
ClosedJaxpr = jex.ClosedJaxpr
DropVar = jex.DropVar
JaxprEqn = jex.JaxprEqn
Literal = jex.Literal
Primitive = jex.Primitive
Var = jex.Var
Tracer = jax.core.Tracer
ShapedArray = jax.core.ShapedArray
jaxpr_as_fun = jex.jaxpr_as_fun


def make_jaxpr_object(
    invars: Sequence[Any],
    outvars: Sequence[Any],
    eqns: Sequence[Any],
    constvars: Sequence[Any] = (),
    effects: Any = None,
    debug_info: Any = None,
) -> Any:
    """Returns an open Jaxpr: the one place that calls its constructor."""
    if effects is None:
        effects = set().union(*(eqn.effects for eqn in eqns)) if eqns else set()
    if debug_info is None:
        debug_info = jex.DebugInfo("jaxaot", "graph", None, None)
    return jex.Jaxpr(list(constvars), list(invars), list(outvars), list(eqns), effects, debug_info)


def make_var(aval: Any) -> Any:
    """Returns a new variable of type `aval`."""
    return jex.Var(aval)


def is_key_dtype(dtype: Any) -> bool:
    """Returns whether a dtype is one of JAX's extended dtypes, such as that of `jax.random.key(0)`."""
    return jnp.issubdtype(dtype, jax.dtypes.extended)


def canonical_dtype(dtype: Any) -> Any:
    """Returns the dtype that an array has in a graph: 64 bits become 32 where x64 is off; that of keys stays."""
    return dtype if is_key_dtype(dtype) else np.dtype(jax.dtypes.canonicalize_dtype(dtype))


def check_types(jaxpr: Any) -> str | None:
    """Returns what JAX's own checker says is wrong with an open jaxpr, or `None`."""
    try:
        jex.check_jaxpr(jaxpr)
    except jex.JaxprTypeError as error:
        return str(error).split("\n\nwhile checking jaxpr")[0]
    return None


def close_jaxpr(jaxpr: Any, consts: Sequence[Any] = ()) -> Any:
    """Returns `jaxpr` with its constants attached."""
    return jex.ClosedJaxpr(jaxpr, list(consts))


def name_stack(eqn: Any) -> str:
    """Returns the scope in which an equation was traced, such as `transpose(jvp(block0))`."""
    return str(eqn.source_info.name_stack)


def is_tracer(value: Any) -> bool:
    """Returns whether `value` is a symbol of a JAX trace rather than an array."""
    return isinstance(value, Tracer)


def trace_level() -> Any:
    """Returns what is equal as long as the same JAX trace runs: inside the body of a scan it is another one."""
    return jex.get_opaque_trace_state(convention="flax")


def scopes(eqn: Any) -> list[tuple[bool, str]]:
    """Returns the entries of an equation's name stack, outermost first, as (is a transform, name)."""
    return [(type(entry).__name__ == "Transform", entry.name) for entry in eqn.source_info.name_stack.stack]


def nest_source(inner: Any, outer: Any, keep_traceback: bool = True) -> Any:
    """Returns the source info of `inner`, an equation of a sub-jaxpr of `outer`, as if it stood at `outer`'s place.

    Args:
      inner: The equation that moves.
      outer: Its new surroundings, an object with the attributes `name_stack` and `traceback`.
      keep_traceback: Whether the source line stays that of `inner`.
    """
    stack = outer.name_stack + inner.source_info.name_stack
    if keep_traceback and inner.source_info.traceback is not None:
        return inner.source_info.replace(name_stack=stack)
    return inner.source_info.replace(name_stack=stack, traceback=outer.traceback)


def source_line(eqn: Any) -> str | None:
    """Returns where the user wrote an equation, such as `/home/me/model.py:12`, or `None`."""
    if eqn.source_info.traceback is None:
        return None
    summary = source_info_util.summarize(eqn.source_info)
    place = summary.split(" (")[0]
    parts = place.rsplit(":", 2)
    if len(parts) == 3 and parts[2].isdigit() and parts[1].isdigit():
        place = f"{parts[0]}:{parts[1]}"
    return None if place in ("", "unknown") else place


@contextlib.contextmanager
def traced_like(eqn: Any, scope: str, n_dropped_scopes: int) -> Iterator[None]:
    """Gives equations traced in the block the context, source line and name stack of `eqn`, below `scope`."""
    stack = eqn.source_info.name_stack[n_dropped_scopes:]
    with jax.named_scope(scope):
        name_stack = source_info_util.current_name_stack() + stack
        with source_info_util.user_context(eqn.source_info.traceback, name_stack=name_stack), eqn.ctx.manager:
            yield


def varying_axes(value: Any) -> frozenset[Any]:
    """Returns the mesh axes over which a value of a `shard_map` body differs from device to device."""
    return type_varies_over(jax.typeof(value))


def type_varies_over(aval: Any) -> frozenset[Any]:
    """Returns the mesh axes over which values of a type differ from device to device."""
    manual = getattr(aval, "mat", None)  # earlier versions say `vma`
    return frozenset(manual.varying if manual is not None else getattr(aval, "vma", ()))


def is_outermost() -> bool:
    """Returns whether no transformation of JAX, such as `jit` or `grad`, is running."""
    return trace_state_clean()


def is_from_jax(jaxpr: Any) -> bool:
    """Returns whether an open jaxpr was traced from a function that JAX itself defines."""
    place = str(getattr(jaxpr.debug_info, "func_src_info", "") or "")
    return "/jax/_src/" in place or "/jax/experimental/" in place


def has_side_effects(eqn: Any) -> bool:
    """Returns whether an equation does more than compute its outputs. Named axes of a mesh do not count."""
    return any(type(effect).__name__ != "NamedAxisEffect" for effect in eqn.effects)


def is_unspecified(value: Any) -> bool:
    """Returns whether a sharding of a `jit` equation was left to the compiler."""
    return type(value).__name__ == "UnspecifiedValue"


def make_literal(value: Any, aval: Any) -> Any:
    """Returns a literal of type `aval`."""
    return jex.Literal(value, aval)
