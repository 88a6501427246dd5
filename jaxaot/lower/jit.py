"""jit(fn): `jax.jit` with the options that XLA needs."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import jax

from jaxaot._jax import is_outermost
from jaxaot.lower.options import keeping_barriers, without_options_inside


class Jitted:
    """A jitted function; it has the methods of what `jax.jit` returns.

    In a transformation of JAX, such as another `jit`, it is the function that `jax.jit` would return.
    """

    def __init__(self, fn: Callable[..., Any], options: dict[str, Any]):
        """Wraps a function; nothing is traced yet.

        Args:
          fn: The function.
          options: Those of `jax.jit`.
        """
        functools.update_wrapper(self, fn)
        self._fn, self._options = fn, options
        self._inside: Any = jax.jit(fn, **options)
        self._run: Callable[..., Any] | None = None  # made at the first call: what XLA needs depends on the backend

    @functools.cached_property
    def _alone(self) -> Any:
        compiler_options = keeping_barriers(self._options.get("compiler_options"), self._options.get("backend"))
        return jax.jit(self._fn, **{**self._options, "compiler_options": compiler_options or None})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._run is None:
            self._run = without_options_inside(self._alone, self._inside)
        return self._run(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the function lowered for some arguments or types, a `jax.stages.Lowered`."""
        return (self._alone if is_outermost() else self._inside).lower(*args, **kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the function traced for some arguments or types, a `jax.stages.Traced`."""
        return (self._alone if is_outermost() else self._inside).trace(*args, **kwargs)

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the types of the results for some arguments or types."""
        return self._inside.eval_shape(*args, **kwargs)

    def clear_cache(self) -> None:
        """Drops all that was compiled."""
        self._inside.clear_cache()
        self._alone.clear_cache()

    def __repr__(self) -> str:
        return f"<ja.jit of {self._fn!r}>"


def jit(fn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Returns `fn` compiled by XLA, as `jax.jit` does, so that what `ja.remat` recomputes is recomputed on CPU as well.

    XLA undoes recomputation unless it is held back by barriers, and XLA on CPU drops the barriers of a plain `jax.jit`.
    This sets the option that keeps them. Anywhere else, and inside other transformations of JAX, it is `jax.jit`.

    Args:
      fn: The function; left out, a decorator is returned.
      **options: Those of `jax.jit`: `static_argnums`, `donate_argnums`, `in_shardings`, `compiler_options`, …
    """
    return functools.partial(jit, **options) if fn is None else Jitted(fn, options)
