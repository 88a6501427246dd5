"""Arguments that functions cannot be called with: none at all, trees without an end, arrays without values."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import jax

from jaxaot import _trees as pytree
from jaxaot._jax import is_tracer
from jaxaot._util import signature_of
from jaxaot.errors import ArgumentError, DeletedArrayError

_SAYS_JAX = ("Array has been deleted with shape=", "INVALID_ARGUMENT: Invalid buffer passed to Execute()")
"""The second is XLA's, which meets the array where JAX before 0.11 did not look."""


def require_arguments(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> None:
    """Raises if a function is given without the arguments it needs, as in `ja.explain(f)`.

    Raises:
      ArgumentError: If there are none, and it needs some.
    """
    signature = None if args or kwargs else signature_of(fn)
    if signature is None:
        return
    missing = [
        p.name if p.kind is not p.KEYWORD_ONLY else f"{p.name}=…"
        for p in signature.parameters.values()
        if p.default is inspect.Parameter.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if missing:
        called = getattr(fn, "__name__", "f")
        called = called if called.isidentifier() else "f"
        raise ArgumentError(
            f"`{name}` was given a function without its arguments. They follow the function: "
            f"`{name}({called}, {', '.join(missing)})`."
        )


@contextlib.contextmanager
def deleted_arrays_named(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[None]:
    """Inside, JAX's error about an array that was deleted becomes one that names it.

    Raises:
      DeletedArrayError: If JAX says so.
    """
    try:
        yield
    except RuntimeError as error:
        explain_deleted(error, fn, args, kwargs)
        raise


def explain_deleted(error: Exception, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raises an error that names the arguments whose arrays were deleted, if that is what JAX's error is about.

    Raises:
      DeletedArrayError: If it is.
    """
    if isinstance(error, DeletedArrayError) or not str(error).startswith(_SAYS_JAX):
        return
    signature = signature_of(fn)
    parameters = [] if signature is None else list(signature.parameters.values())
    by_position = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names = [by_position[i] if i < len(by_position) else f"argument {i}" for i in range(len(args))]
    found, is_traced = [], False
    for name, value in (*zip(names, args, strict=True), *kwargs.items()):
        for path, leaf in pytree.leaves_with_path(value):
            if is_tracer(leaf):
                is_traced = True
            elif isinstance(leaf, jax.Array) and leaf.is_deleted():
                found.append(f"`{name}{jax.tree_util.keystr(path)}`")
    if is_traced and not found:  # whoever called the transformation has the array
        return
    called = getattr(fn, "__name__", "fn")
    what = ", ".join(found) or f"An array that `{called}` uses without being passed it"
    raise DeletedArrayError(
        f"{what} was deleted before `{called}` was called: it was donated to another computation, as by "
        "`jax.jit(f, donate_argnums=...)`, or `.delete()` was called. Use what that computation returned, or copy the "
        "array before: `jnp.array(x)`."
    ) from error
