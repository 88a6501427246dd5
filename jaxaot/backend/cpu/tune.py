"""The passes that a graph goes through because of where it will run."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax

from jaxaot._immutable import immutable
from jaxaot._placement import are_several
from jaxaot._typing import ClosedJaxpr, Eqn, Jaxpr
from jaxaot.backend.cpu.machine import machine
from jaxaot.backend.cpu.memory.allocator import most_kept_bytes
from jaxaot.backend.cpu.options import (
    gains_by_optimizing,
    keeping_barriers,
    keeping_roundings,
    with_eigen_convolutions,
)  # fmt: skip
from jaxaot.backend.cpu.pipeline import EIGEN_CONVOLUTIONS, KEEP_FREED_MEMORY, SUBPROGRAMS
from jaxaot.backend.cpu.repair.avoid_faults import avoid_faults
from jaxaot.backend.cpu.repair.barriers import has_barriers, without_misplaced_barriers
from jaxaot.backend.cpu.repair.cut_chains import cut_chains
from jaxaot.backend.cpu.repair.hold_extremes import hold_extremes
from jaxaot.backend.cpu.repair.keep_rounding import keep_rounding
from jaxaot.backend.cpu.repair.separate_writes import separate_writes
from jaxaot.ir.checkpoints import open_checkpoints
from jaxaot.ir.cost import eqn_flops
from jaxaot.ir.device_program import device_program, with_device_program
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewrite import inline, with_bodies
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import aval_bytes, sub_jaxprs
from jaxaot.passes.attempt import attempt
from jaxaot.passes.declared import On
from jaxaot.passes.pipeline import PassResult, on_several_devices, passes_on, run_passes, without_switches

_WITH_BODIES = ("scan", "while", "cond")
"""The primitives whose bodies are graphs of their own."""


@immutable(eq=False)
class Tuned:
    """A graph as it is compiled.

    Attributes:
      jaxpr: The ClosedJaxpr.
      results: What each pass did.
      has_subprograms: Whether it may become several executables.
      keeps_freed_memory: Whether the process is to keep the memory that programs free.
      n_by_eigen: How many convolutions XLA is asked to compute by Eigen.
      is_exact: Whether each operation rounds as it does alone.
      keeps_barriers: Whether XLA is told to keep barriers; None if the graph says it.
      gains_by_optimizing: Whether LLVM is to optimize it as much as it can; None if the graph says it.
    """

    jaxpr: Any
    results: tuple[PassResult, ...]
    has_subprograms: bool
    keeps_freed_memory: bool
    n_by_eigen: int = 0
    is_exact: bool = False
    keeps_barriers: bool | None = None
    gains_by_optimizing: bool | None = None

    @property
    def optimizes_fully(self) -> bool:
        """Whether LLVM is to optimize it as much as it can."""
        found = self.gains_by_optimizing
        return gains_by_optimizing(self.jaxpr.jaxpr) if found is None else found

    @property
    def limit_bytes(self) -> int | None:
        """What the temporaries of a subprogram have to stay below; None if there is to be one program."""
        if not self.has_subprograms:
            return None
        return most_kept_bytes() if self.keeps_freed_memory else machine().kept_bytes

    @property
    def needs_barriers(self) -> bool:
        """Whether XLA has to keep barriers."""
        return has_barriers(self.jaxpr.jaxpr) if self.keeps_barriers is None else self.keeps_barriers

    def compiler_options(self, given: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """Returns options for XLA: the user's, and those that the barriers and convolutions of the graph need."""
        options = keeping_barriers(given) if self.needs_barriers else given
        if self.n_by_eigen:
            options = with_eigen_convolutions(options)
        if self.is_exact:
            options = keeping_roundings(options)
        return dict(options) if options else None


def repaired(closed: ClosedJaxpr, platform: str | None = None, keeps_barriers: bool = True, exact: bool = False) -> Any:
    """Returns a graph that XLA compiles, in time and right, on a platform where it would not; itself elsewhere.

    Args:
      closed: The ClosedJaxpr, its calls inlined.
      platform: Where it will run; by default on the default backend.
      keeps_barriers: Whether XLA is told to keep barriers.
      exact: Whether each operation is to round as it does alone.
    """
    if (platform or jax.default_backend()) != "cpu":
        return closed
    separated = separate_writes(without_misplaced_barriers(closed), keeps_barriers)
    held = hold_extremes(separated, keeps_barriers)
    return _respelled(cut_chains(held) if keeps_barriers else held, exact)


def _respelled(closed: ClosedJaxpr, exact: bool) -> ClosedJaxpr:
    """Returns a graph, its bodies too, without equations that XLA gets wrong, and with all roundings if they matter."""
    passed = avoid_faults(closed)
    passed = keep_rounding(passed) if exact else passed

    def inner(body: Any) -> Any:
        opened = inline(body, also_custom=True)
        made = _respelled(opened, exact)
        return body if made is opened else made

    return _with_bodies(passed, lambda _: inner)


def _with_bodies(closed: ClosedJaxpr, change: Callable[[str], Callable[[Any], Any]]) -> ClosedJaxpr:
    """Returns a graph with the bodies of loops and branches changed, by what is done for the primitive of each."""
    rewriter = Rewriter(closed)
    for eqn in rewriter.equations():
        name = eqn.primitive.name
        rewriter.keep(with_bodies(eqn, change(name)) if name in _WITH_BODIES else eqn)
    return rewriter.graph()


def tune(
    closed: Any, names: Sequence[str], check: bool = False, platform: str | None = None, exact: bool = False,
    keeps_barriers: bool = True,
) -> Tuned:  # fmt: skip
    """Returns a graph after the passes that change nothing but speed, and then `repaired`.

    Args:
      closed: The ClosedJaxpr, its calls inlined.
      names: The names of the passes, see `jaxaot.backend.cpu.pipeline`.
      check: Whether to check the graph after each.
      platform: Where it will run; by default on the default backend.
      exact: Whether each operation is to round as it does alone.
      keeps_barriers: Whether XLA is told to keep barriers.
    """
    results: list[PassResult] = []
    passes = of_one = without_switches(names)
    if are_several():  # they share the cores, so what one computes is not divided among these
        passes, of_one = on_several_devices(passes), passes_on(passes, On.SHARD)
    passed = _with_tuned_parts(closed, of_one, check, results)
    if passes:
        passed = _with_tuned_bodies(run_passes(passed, passes, check, results), passes, check, results)
    passed = repaired(passed, platform, keeps_barriers, exact)
    is_asked = EIGEN_CONVOLUTIONS in names and jax.default_backend() == "cpu"
    flops = list(_flops_of_convolutions(passed.jaxpr)) if is_asked else []
    n_by_eigen = len(flops) if sum(flops) >= machine().eigen_flops * len(flops) else 0  # none if most are small
    return Tuned(passed, tuple(results), SUBPROGRAMS in names, KEEP_FREED_MEMORY in names, n_by_eigen, exact)


def _with_tuned_bodies(closed: Any, passes: Sequence[str], check: bool, results: list[PassResult]) -> Any:
    """Returns a graph in which the bodies of loops and branches went through passes, and adds what some of them did."""

    def tuned(where: str, body: Any) -> Any:
        opened = open_checkpoints(inline(body, also_custom=True))
        if not is_worth_tuning(opened):
            return body
        found: list[PassResult] = []
        opened = run_passes(opened, passes, check, found)
        changed = (result for result in found if result.n_before != result.n_after)
        results.extend(dataclasses.replace(result, name=f"{result.name} in a body of {where}") for result in changed)
        return _with_tuned_bodies(opened, passes, check, results)

    return _with_bodies(closed, lambda where: functools.partial(tuned, where)) if passes else closed


def _with_tuned_parts(
    closed: ClosedJaxpr, passes: Sequence[str], check: bool, results: list[PassResult]
) -> ClosedJaxpr:
    """Returns a graph in which what one device computes in a `shard_map` went through passes, and adds what some did.

    Args:
      passes: The names of passes for one device.
      check: Whether one that fails says so.
      results: What passes did is added.
    """
    if not passes or not any(eqn.primitive.name == "shard_map" for eqn in closed.jaxpr.eqns):
        return closed
    rewriter = Rewriter(closed)
    for eqn in rewriter.equations():
        tuned = None
        if eqn.primitive.name == "shard_map":
            read = eqn.replace(invars=rewriter.read(eqn.invars))
            run = functools.partial(_tuned_part, read, passes, results)
            tuned = attempt("The passes for what a device computes", run, None, check)
        if tuned is None:
            rewriter.keep(eqn)
            continue
        rewriter.write(tuned[0])
        for var, atom in zip(eqn.outvars, tuned[1], strict=True):
            rewriter.replace(var, atom)
    return rewriter.graph()


def _tuned_part(eqn: Eqn, passes: Sequence[str], results: list[PassResult]) -> Any:
    """Returns the equations and results of a `shard_map` after passes; None if there is nothing to gain."""
    program = device_program(eqn)
    if program is None or not is_worth_tuning(program):
        return None
    found: list[PassResult] = []
    passed = run_passes(program, passes, False, found)  # JAX checks it where it is traced again
    made = None if passed is program else with_device_program(eqn, passed)
    changed = (result for result in found if result.n_before != result.n_after)
    results.extend(dataclasses.replace(result, name=f"{result.name} in what a device computes") for result in changed)
    return made


def is_worth_tuning(closed: ClosedJaxpr) -> bool:
    """Returns whether a graph, or a device in it, makes a value that is large enough for the passes to matter."""
    return _is_worth_tuning(closed.jaxpr, machine().cached_bytes)


def _is_worth_tuning(jaxpr: Jaxpr, limit: int) -> bool:
    for eqn in jaxpr.eqns:
        if any(aval_bytes(var.aval) > limit for var in eqn.outvars):
            return True
        if eqn.primitive.name == "shard_map" and _is_worth_tuning(eqn.params["jaxpr"], limit):
            return True
    return False


def _flops_of_convolutions(jaxpr: Jaxpr) -> Iterator[int]:
    """Yields the FLOPs of each convolution in a graph, and in the bodies of its loops and branches."""
    for eqn in jaxpr.eqns:
        if kind(eqn) is Kind.CONVOLUTION:
            yield eqn_flops(eqn)
        for body in sub_jaxprs(eqn):
            yield from _flops_of_convolutions(body)
