"""Eager kernels as XLA compiles them: a small one quickly, a large one after the passes that a graph goes through."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot import settings as config
from jaxaot._jax import is_outermost, jaxpr_as_fun
from jaxaot._typing import Jaxpr
from jaxaot.backend.cpu.machine import machine
from jaxaot.backend.cpu.options import compiling_quickly
from jaxaot.backend.cpu.run import choose_way
from jaxaot.backend.cpu.tune import Tuned
from jaxaot.errors import NoValueError
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import aval_bytes, check_sizes, sub_jaxprs
from jaxaot.lower.abstract import AbstractRun, has_abstract
from jaxaot.lower.check import evaluate, require_right
from jaxaot.lower.entry import Entry, compile_for
from jaxaot.lower.warm.kernels import keeping_kernels
from jaxaot.passes.declared import On
from jaxaot.passes.pipeline import lowered_passes
from jaxaot.settings import Config


class EagerKernel:
    """A function of arrays, compiled for the types of its first call.

    Attributes:
      alone: What runs it outside of transformations of JAX, under options that JAX takes only there.
      inside: What runs it anywhere.
      entry: The way in for those who store what it returns.
      types: Of what it returns: those of the leaves, and the tree; None until somebody finds out.
    """

    __slots__ = ("__weakref__", "_abstract", "_by_settings", "_fn", "_options", "alone", "entry", "inside", "types")

    def __init__(self, fn: Callable[..., Any], **options: Any):
        """Wraps a function; nothing is traced yet.

        Args:
          fn: The function.
          **options: Those of `jax.jit`.
        """
        self._fn, self._options = fn, options
        self._abstract: AbstractRun | None = None  # what runs it on arrays without values
        self._by_settings: dict[Any, Callable[..., Any]] = {}
        self.inside: Any = jax.jit(fn, **options)
        self.alone: Callable[..., Any] = self._first
        self.types: tuple[list[Any], Any] | None = None
        self.entry = Entry(self, "donate_argnums" in options)
        _kernels.add(self)

    def __call__(self, *args: Any) -> Any:
        try:
            return (self.alone if is_outermost() else self.inside)(*args)
        except (TypeError, NoValueError):
            if not has_abstract(args):
                raise
        if self._abstract is None:
            self._abstract = AbstractRun(self._fn)
        return self._abstract(*args)

    call = __call__

    is_abstract = False

    @property
    def is_anywhere(self) -> bool:
        """Whether what runs it alone runs it inside of transformations too."""
        return self.alone is self.inside

    def forget(self) -> None:
        """Has the next call choose anew what runs."""
        self.alone = self._first
        self.entry.forget()

    def _first(self, *args: Any) -> Any:
        self._choose(args)
        with keeping_kernels():
            return self.alone(*args)

    def prepare(self, args: Sequence[Any]) -> Callable[..., Any]:
        """Compiles the function for some arrays, and returns what runs it outside of transformations of JAX."""
        if self.alone == self._first:
            self._choose(args)
        with keeping_kernels():
            compile_for(self.alone, args)
        return self.alone

    def _choose(self, args: Sequence[Any]) -> None:
        """Decides what runs outside of transformations of JAX."""
        if config.kernels_differ():
            self.alone = self._under_settings
        else:
            self.alone = self._chosen(self.inside.trace(*args), config.get())

    def _under_settings(self, *args: Any) -> Any:
        """Runs what is compiled for the settings in force, of which some thread has or had other ones."""
        settings = config.get()
        key = settings.exact_rounding, settings.check_executables
        run = self._by_settings.get(key)
        if run is None:
            run = self._chosen(self.inside.trace(*args), settings)
            run = self._by_settings[key] = self._checked(run) if settings.check_executables else run
            with keeping_kernels():
                return run(*args)
        return run(*args)

    def _chosen(self, traced: Any, settings: Config) -> Callable[..., Any]:
        """Returns a function that runs a graph, a `jax.stages.Traced`, also for operands of other types.

        Raises:
          StorageSizeError: If memory has no addresses for an array of it.
        """
        check_sizes(traced.jaxpr.jaxpr)
        is_quick = is_small(traced.jaxpr.jaxpr)
        passes = lowered_passes(
            settings.passes, jax.default_backend(), settings.exact_rounding, blocks=settings.blocks, on=On.KERNEL
        )

        def tuned(traced: Any) -> tuple[Any, Tuned]:
            graph = inline(traced.jaxpr, also_custom=True)
            chosen = () if is_quick else passes
            return graph, choose_way(graph, chosen, settings.check_graphs, settings.exact_rounding).tuned

        graph, of_graph = tuned(traced)
        options = of_graph.compiler_options(compiling_quickly() if is_quick else None)
        if of_graph.jaxpr is graph:
            return jax.jit(self._fn, **self._options, compiler_options=options) if options else self.inside
        inside = self.inside

        def run(*args: Any) -> Any:
            traced = inside.trace(*args)
            _, of_graph = tuned(traced)
            return jax.tree.unflatten(
                jax.tree.structure(traced.out_info), jaxpr_as_fun(of_graph.jaxpr)(*jax.tree.leaves(args))
            )

        run.__name__ = run.__qualname__ = self._fn.__name__
        return jax.jit(run, **self._options, compiler_options=options)

    def _checked(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a function that checks the results of the first call for each combination of operand types."""
        seen: set[Any] = set()
        name = self._fn.__name__

        def first_checked(*args: Any) -> Any:
            leaves, tree = jax.tree.flatten(args)
            key = (tree, *map(jax.typeof, leaves))
            if key not in seen:
                graph = inline(self.inside.trace(*args).jaxpr, also_custom=True)
                right = evaluate(graph, leaves, name)
                got = jax.tree.leaves(run(*jax.tree.map(jnp.copy, args)))
                alike = lambda graph: EagerKernel(jaxpr_as_fun(graph)).alone
                require_right(graph, leaves, got, right, name, lambda i: f"result {i}", alike)
                seen.add(key)
            return run(*args)

        return first_checked


_kernels: weakref.WeakSet[EagerKernel] = weakref.WeakSet()


@config.when_kernels_differ
def _forget_all() -> None:
    for kernel in list(_kernels):
        kernel.forget()


def is_small(jaxpr: Jaxpr) -> bool:
    """Returns whether a graph, its loops and branches read and make nothing larger than `quick_kernel_bytes`."""
    made = [var for eqn in jaxpr.eqns for var in eqn.outvars]
    if any(aval_bytes(var.aval) > machine().quick_kernel_bytes for var in (*jaxpr.constvars, *jaxpr.invars, *made)):
        return False
    return all(is_small(body) for eqn in jaxpr.eqns for body in sub_jaxprs(eqn))
