"""A graph compiled by XLA.

An *executable* takes flat positional arrays and returns a flat list of arrays. Its `call` is the jitted function
itself, so that a call costs no Python. A *donated* input gives its buffer to the outputs and is deleted by the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import jax

from jaxaot import settings as config
from jaxaot._jax import jaxpr_as_fun, varying_axes
from jaxaot._typing import Array
from jaxaot._util import collector
from jaxaot.backend.cpu.batch.sharded import ShardedExecutable
from jaxaot.backend.cpu.counts import costs_of
from jaxaot.backend.cpu.memory.sequential import SequentialExecutable, places_of
from jaxaot.backend.cpu.options import optimizing_less, without_options_inside
from jaxaot.backend.cpu.run import Lowering, LoweringChoice, choose_way
from jaxaot.backend.cpu.tune import Tuned, is_worth_tuning, repaired
from jaxaot.ir.device_program import evaluate_varying
from jaxaot.ir.walk import check_sizes
from jaxaot.lower.cache_key import refuse_other_settings
from jaxaot.lower.check import checked
from jaxaot.lower.entry import compile_for
from jaxaot.lower.warm.kept import KeptGraph
from jaxaot.passes.pipeline import lowered_passes


class Executable:
    """A graph compiled by XLA on first use.

    Attributes:
      jaxpr: The ClosedJaxpr.
      name: What profiles and HLO call it.
      donated: The positions of the inputs whose buffers the call may reuse.
      settings: Those of JAX under which alone it may run; None for any.
      name_of: Takes the position of an output to what the user calls it, for messages.
      call: The compiled function: positional arrays in, a list of arrays out.
      unchecked: The same without a look at what its first call returns, which `check_executables` asks for.
      makes_fresh_outputs: Always true: nobody else holds what a call returns.
    """

    makes_fresh_outputs = True

    __slots__ = ("__dict__", "call", "donated", "name", "name_of", "settings")

    def __init__(
        self,
        jaxpr: Any,
        donated: Sequence[int] = (),
        name: str = "graph",
        compiler_options: Mapping[str, Any] | None = None,
    ):
        """Wraps a graph; nothing is compiled yet.

        Args:
          jaxpr: A ClosedJaxpr, or one that a process before this one made.
          donated: The positions of the inputs whose buffers the call may reuse.
          name: What profiles and HLO call it.
          compiler_options: Options for XLA.

        Raises:
          StorageSizeError: If memory has no addresses for an array of the graph.
        """
        self._graph: Any = jaxpr
        self.name = name
        self.settings: Any = None
        self.donated = tuple(sorted(set(donated)))
        self._given_options = compiler_options
        settings = config.get()
        self.name_of: Callable[[int], str] = lambda position: f"output {position}"
        passes = lowered_passes(settings.passes, jax.default_backend(), settings.exact_rounding, blocks=settings.blocks)
        if isinstance(jaxpr, KeptGraph):
            assert jaxpr.way is not None, "it is one that is run"
            is_tuned = jaxpr.way.how is not Lowering.REPAIRED
        else:
            check_sizes(jaxpr.jaxpr)
            is_tuned = is_worth_tuning(jaxpr)
        self._passes = passes if is_tuned else ()
        self._made_under, self._is_exact = settings, settings.exact_rounding
        self._run: Callable[..., list[Array]] | None = None
        self._places: Sequence[Any] = ()  # of the inputs, once they are known
        self.call: Callable[..., list[Array]]
        if self._passes:  # at the first call, because of several executables some are never called
            self.call = without_options_inside(self._call_tuned, self._inside)
        elif self.compiler_options is not None:
            self.call = without_options_inside(self._jitted, self._inside)
        else:
            self.call = self._jitted
        self.unchecked = self.call
        if settings.check_executables:
            self.call = self._checked(self.call)

    def _checked(self, call: Callable[..., list[Array]]) -> Callable[..., list[Array]]:
        """Returns a function that checks the outputs of the first call, outside of transformations of JAX."""
        alike = lambda graph: Executable(graph, (), self.name, self._given_options).unchecked
        alone = checked(self.jaxpr, call, self.donated, self.name, lambda i: self.name_of(i), alike)
        return without_options_inside(alone, call)

    @property
    def jaxpr(self) -> Any:
        """The graph, a ClosedJaxpr."""
        return self._graph.made if isinstance(self._graph, KeptGraph) else self._graph

    @cached_property
    def way(self) -> LoweringChoice:
        """How the graph is run."""
        kept, settings = getattr(self._graph, "way", None), self._made_under
        return kept or choose_way(self._graph, self._passes, settings.check_graphs, settings.exact_rounding)

    @property
    def tuned(self) -> Tuned:
        """The graph after the passes for the platform, and what they did."""
        return self.way.tuned

    @cached_property
    def compiler_options(self) -> dict[str, Any] | None:
        """The options for XLA, with those that the barriers and convolutions of the graph need."""
        given, tuned = self._given_options, self.tuned
        return tuned.compiler_options(given if not self._passes or tuned.optimizes_fully else optimizing_less(given))

    @property
    def sharded(self) -> ShardedExecutable | None:
        """The graph as shards of a batch, if it is run so."""
        return self.way.sharded

    @cached_property
    def sequential(self) -> SequentialExecutable | None:
        """The subprograms of the graph, if it may become several executables; compiled when first read."""
        if self.way.how is not Lowering.SUBPROGRAMS:
            return None
        return self.way.sequential(
            self.donated, self.name, self._given_options, self._refuse_other_settings, self._places
        )

    @cached_property
    def _jitted(self) -> Any:
        """The graph after the passes, as one program."""
        return self._jit(self.tuned.jaxpr, self.compiler_options)

    def _inside(self, *args: Array) -> list[Array]:
        """Runs the graph as a part of another program, whose options are not known."""
        return self._part(*args)

    @cached_property
    def _part(self) -> Any:
        return self._jit(repaired(self.jaxpr, keeps_barriers=False, exact=self._is_exact))

    def _jit(self, graph: Any, compiler_options: Any = None) -> Any:
        evaluate = jaxpr_as_fun(graph)

        def run(*args: Array) -> list[Array]:  # runs when jit traces: at the first call, and under other settings
            self._refuse_other_settings()
            return evaluate_varying(graph, args) if any(map(varying_axes, args)) else evaluate(*args)

        run.__name__ = run.__qualname__ = self.name
        return jax.jit(run, donate_argnums=self.donated, keep_unused=True, compiler_options=compiler_options)

    def _refuse_other_settings(self) -> None:
        if self.settings is not None:
            refuse_other_settings(self.settings)

    def _call_tuned(self, *args: Array) -> list[Array]:
        run = self._run
        if run is None:
            run = self._run = self._chosen(args)
        return run(*args)

    @property
    def is_anywhere(self) -> bool:
        """Whether what runs it alone runs it inside of transformations too."""
        return "_jitted" in self.__dict__ and self.call is self._jitted

    def prepare(self, args: Sequence[Array]) -> Callable[..., list[Array]]:
        """Compiles the graph for some arrays, and returns what runs it outside of transformations of JAX."""
        if self.call is not self.unchecked:  # whose first call is looked at
            return self.call
        run = self._run
        if run is None:
            run = self._run = self._chosen(args) if self._passes else self._jitted
        compile_for(run, args)
        return run

    @collector.waits()
    def _chosen(self, args: Sequence[Array]) -> Callable[..., list[Array]]:
        """Returns the runner of the graph for arrays like these."""
        if any(len(x.devices()) > 1 for x in args if isinstance(x, jax.Array)):
            return self._jitted
        if self.sharded is not None:
            return self.sharded.compiled(self.donated, self.name, self._given_options, self._refuse_other_settings)
        self._places = places_of(args)
        return self._jitted if self.sequential is None else self.sequential.call

    def __call__(self, *args: Array) -> list[Array]:
        return self.call(*args)

    @cached_property
    def lowered(self) -> Any:
        """The graph as StableHLO, a `jax.stages.Lowered`."""
        specs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in self._graph.in_avals]
        return self._jitted.lower(*specs)

    def compiled_for(self, shardings: Sequence[Any]) -> Any:
        """Returns the program for inputs that lie over several devices, a `jax.stages.Compiled`.

        Args:
          shardings: How each input lies; None where that is left to XLA.
        """
        pairs = zip(self._graph.in_avals, shardings, strict=True)
        return self._jitted.lower(*(jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=s) for a, s in pairs)).compile()

    @cached_property
    def compiled(self) -> Any:
        """The compiled program, a `jax.stages.Compiled`, made apart from the one that `call` uses."""
        return self.lowered.compile()

    def memory_analysis(self) -> Any:
        """Returns XLA's count of the bytes of arguments, outputs and temporaries."""
        return self.compiled.memory_analysis()

    def cost_analysis(self) -> dict[str, float]:
        """Returns XLA's counts of FLOPs and bytes accessed by a call; empty where it has none."""
        if self.sequential is not None:
            return self.sequential.cost_analysis()
        return costs_of(self.compiled)

    def explain(self) -> str:
        """Returns one line for each pass for the platform on what it did to the graph; compiles nothing."""
        platform = jax.default_backend()
        if not self._passes:
            settings = config.get()
            has_some = lowered_passes(settings.passes, platform, settings.exact_rounding, blocks=settings.blocks)
            why = "the graph makes nothing large" if has_some else f"none on {platform} under these settings"
            return f"{self.name}: no passes, {why}"
        return "\n  ".join([f"{self.name} on {platform}", *self.way.explain()])

    def as_text(self, optimized: bool = False) -> str:
        """Returns the StableHLO, or the HLO after optimization."""
        return self.compiled.as_text() if optimized else self.lowered.as_text()

    def __repr__(self) -> str:
        return (
            f"Executable({self.name}: {len(self.jaxpr.in_avals)} inputs, {len(self.jaxpr.out_avals)} outputs, "
            f"{len(self.jaxpr.eqns)} equations, donated {self.donated})"
        )
