"""A graph run as shards of a batch, side by side, and what is left after them: see `shards.py` for what a shard is.

XLA runs the programs that one thread starts one after the other, so each shard but the first is started by a thread of
its own. All are started without waiting, as any program of JAX.
"""

from __future__ import annotations

import concurrent.futures
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._typing import ClosedJaxpr
from jaxaot.backend.cpu.batch.shards import Shards, plan_shards
from jaxaot.backend.cpu.machine import machine
from jaxaot.backend.cpu.memory.sequential import SequentialExecutable, explain_tuned, is_free_of_effects
from jaxaot.backend.cpu.options import keeping_barriers, on_one_core, with_eigen_convolutions
from jaxaot.backend.cpu.pipeline import SHARDS
from jaxaot.backend.cpu.tune import Tuned, tune
from jaxaot.ir.cost import graph_flops
from jaxaot.passes.attempt import attempt
from jaxaot.passes.declared import On
from jaxaot.passes.pipeline import passes_on


class ShardedExecutable:
    """The executables of a graph that is computed in shards.

    Attributes:
      shards: The graphs.
    """

    def __init__(self, shards: Shards, passes: Sequence[str], checks: bool = False):
        """Keeps the graphs; nothing is tuned or compiled yet.

        Args:
          shards: The graphs.
          passes: The names of the passes for the platform.
          checks: Whether to check the graphs after each.
        """
        self.shards = shards
        self._passes, self._checks = passes, checks

    @cached_property
    def part(self) -> Tuned:
        """The graph of a shard after the passes for one core, and what they did."""
        return tune(self.shards.part, passes_on(self._passes, On.SHARD), self._checks)

    @cached_property
    def rest(self) -> Tuned:
        """The graph of what is left after the passes for all cores, and what they did."""
        return tune(self.shards.rest, self._passes, self._checks)

    def compiled(
        self,
        donated: Sequence[int],
        name: str,
        compiler_options: Mapping[str, Any] | None,
        before_tracing: Callable[[], None] = lambda: None,
    ) -> Callable[..., list[Any]]:
        """Compiles the graphs, and returns the function that runs them: inputs of the graph to a list of its outputs.

        Args:
          donated: The positions of the inputs of the graph whose buffers may be reused.
          name: What profiles and HLO call it.
          compiler_options: The user's options for XLA.
          before_tracing: Called whenever JAX traces a program.
        """
        shards, options = self.shards, keeping_barriers(compiler_options)
        own = {k: i for i, k in enumerate(shards.rest_reads)}
        own_donated = [own[k] for k in donated if k in own]
        # first what is quick to lower: XLA compiles it while the graph of a shard goes through its passes
        for_rest = with_eigen_convolutions(options) if self.rest.n_by_eigen else options
        begin = functools.partial(
            SequentialExecutable, before_tracing=before_tracing, limit=self.rest.limit_bytes,
            keeps_freed_memory=self.rest.keeps_freed_memory,
        )  # fmt: skip
        rest = begin(self.rest.jaxpr, own_donated, name, for_rest)
        part = begin(self.part.jaxpr, (), f"{name}_shard", on_one_core(options), is_ahead=True)
        run_part, run_rest = part.call, rest.call
        first, *others = [jnp.asarray(np.int32(k)) for k in range(shards.n)]
        pool = _threads(shards.n - 1)

        def call(*args: object) -> list[Any]:
            given = [args[i] for i in shards.part_reads]
            started = [pool.submit(run_part, *given, number) for number in others]
            try:
                made = list(run_part(*given, first))
            finally:
                concurrent.futures.wait(started)
            for one in started:
                made += one.result()
            return run_rest(*[args[i] for i in shards.rest_reads], *made)

        return call

    def explain(self) -> list[str]:
        """Returns in lines what shards there are, and what passes did to one and to what is left."""
        shards = self.shards
        flops = graph_flops(shards.part)
        return [
            f"shards: {shards.n} of a batch, one on each core, of {flops / 1e9:.3g} GFLOP each; "
            f"{len(shards.part.out_avals)} values are put together after them",
            "in each shard:",
            *(f"  {line}" for line in explain_tuned(self.part)),
            "after them:",
            *(f"  {line}" for line in explain_tuned(self.rest)),
        ]


def plan_sharded(closed: ClosedJaxpr, passes: Sequence[str], checks: bool = False) -> ShardedExecutable | None:
    """Returns a graph as shards, or None if there are none or they are switched off.

    Args:
      closed: The ClosedJaxpr, its calls inlined.
      passes: The names of the passes for the platform.
      checks: Whether to check graphs after each pass.
    """
    n = machine().n_cores
    if SHARDS not in passes or n > machine().max_sharded_cores or not _is_free() or not is_free_of_effects(closed):
        return None
    shards = attempt("The search for shards", lambda: plan_shards(closed, n), None, checks)
    return None if shards is None else ShardedExecutable(shards, passes, checks)


def _is_free() -> bool:
    """Returns whether nothing says that programs run on other cores than all, on other devices, or are looked into."""
    return (
        jax.default_backend() == "cpu"
        and jax.device_count() == 1
        and "xla_cpu_multi_thread_eigen" not in os.environ.get("XLA_FLAGS", "")
        and not (jax.config.jax_debug_nans or jax.config.jax_debug_infs)
    )


@functools.cache
def _threads(n: int) -> concurrent.futures.ThreadPoolExecutor:
    return concurrent.futures.ThreadPoolExecutor(n, thread_name_prefix="jaxaot-shard")


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_threads.cache_clear)
