"""Eager kernels as XLA compiles them: a small one quickly, a large one after the passes that a graph goes through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from jaxaot import config
from jaxaot._jax import is_outermost, jaxpr_as_fun
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import aval_bytes, check_sizes, sub_jaxprs
from jaxaot.lower.cache_key import jax_settings
from jaxaot.lower.options import compiling_quickly
from jaxaot.lower.tune import is_worth_tuning, tune
from jaxaot.passes.pipeline import lowered_passes

SMALL_BYTES = 16 * 1024
"""Ops of up to so many bytes take as long by XLA's older emitters (`python -m benchmarks.eager`); above, some take
longer, such as transposing. Graphs of many ops may take longer below it too, so this is for kernels."""


class Program:
    """A function of arrays, compiled for the types of its first call.

    Attributes:
      alone: What runs it outside of transformations of JAX, under options that JAX takes only there.
      inside: What runs it anywhere.
    """

    __slots__ = ("_fn", "_options", "alone", "inside")

    def __init__(self, fn: Callable[..., Any], **options: Any):
        """Wraps a function; nothing is traced yet.

        Args:
          fn: The function.
          **options: Those of `jax.jit`.
        """
        self._fn, self._options = fn, options
        self.inside: Any = jax.jit(fn, **options)
        self.alone: Callable[..., Any] = self._first

    def __call__(self, *args: Any) -> Any:
        return (self.alone if is_outermost() else self.inside)(*args)

    def _first(self, *args: Any) -> Any:
        alone = self.alone = self._chosen(self.inside.trace(*args))
        return alone(*args)

    def _chosen(self, traced: Any) -> Callable[..., Any]:
        """Returns what runs a graph, a `jax.stages.Traced`.

        Raises:
          StorageSizeError: If memory has no addresses for an array of it.
        """
        check_sizes(traced.jaxpr.jaxpr)
        if is_small(traced.jaxpr.jaxpr):
            options = compiling_quickly()
            return jax.jit(self._fn, **self._options, compiler_options=options) if options else self.inside
        settings = config.get()
        passes = lowered_passes(settings.passes, jax.default_backend())
        graph = inline(traced.jaxpr, also_custom=True)
        if not passes or not is_worth_tuning(graph):
            return self.inside
        tuned = tune(graph, passes, settings.check_graphs)
        fn, evaluate, under = self._fn, jaxpr_as_fun(tuned.jaxpr), jax_settings()
        tree = jax.tree.structure(traced.out_info)

        def run(*args: Any) -> Any:
            leaves = jax.tree.leaves(args)
            if jax_settings() != under or list(map(jax.typeof, leaves)) != graph.in_avals:
                return fn(*args)  # another graph, under other settings or for other types
            return jax.tree.unflatten(tree, evaluate(*leaves))

        run.__name__ = run.__qualname__ = fn.__name__
        return jax.jit(run, **self._options, compiler_options=tuned.compiler_options())


def is_small(jaxpr: Any) -> bool:
    """Returns whether a graph reads and makes nothing larger than `SMALL_BYTES`, nor do its loops and branches."""
    made = [var for eqn in jaxpr.eqns for var in eqn.outvars]
    if any(aval_bytes(var.aval) > SMALL_BYTES for var in (*jaxpr.constvars, *jaxpr.invars, *made)):
        return False
    return all(is_small(body) for eqn in jaxpr.eqns for body in sub_jaxprs(eqn))
