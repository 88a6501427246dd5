"""A graph run as one executable or several, one after the other: see `subprograms.py` for where it is cut and why.

In each, what could be computed at once waits until it is needed, see `delay.py`.
"""

from __future__ import annotations

import concurrent.futures
import os
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import jax

from jaxaot._jax import as_one_call, has_side_effects
from jaxaot._typing import ClosedJaxpr
from jaxaot._util import format_bytes
from jaxaot.backend.cpu.counts import costs_of
from jaxaot.backend.cpu.machine import machine
from jaxaot.backend.cpu.memory.allocator import (
    MAX_KEPT_BYTES,
    given_back_bytes,
    is_told_otherwise,
    keep_freed_memory,
    most_kept_bytes,
)
from jaxaot.backend.cpu.memory.delay import delay
from jaxaot.backend.cpu.memory.subprograms import (
    Schedule,
    Subprogram,
    divide,
    known_before,
    plan_schedule,
    returned_by,
    temporary_bytes,
)
from jaxaot.backend.cpu.options import gains_by_optimizing, keeping_barriers, optimizing_less
from jaxaot.backend.cpu.tune import Tuned
from jaxaot.ir.cost import graph_flops
from jaxaot.ir.primitives import Kind, kind
from jaxaot.passes.attempt import attempt

_MAX = 2
"""How many times the estimate XLA may need: a graph that is estimated at less than its part is not looked at."""

_USUAL = 1.15
"""How many times the estimate XLA usually needs: what a graph is cut into has room for that."""

_LEAST = 0.95
"""A graph is cut without asking XLA if this many times the estimate is too much; to ask takes a whole compilation."""

_MAX_SUBPROGRAMS = 64


class _Finished(NamedTuple):
    """What a graph has become: see `SequentialExecutable`."""

    schedule: Schedule
    runs: list[Any]
    temporary_bytes: list[int]


class SequentialExecutable:
    """The executables of a graph and the order in which they run.

    XLA begins to compile when a sequential executable is made, in threads of its own, so that several sequential
    executables compile side by side; the attributes wait for it.

    Attributes:
      schedule: The subprograms.
      programs: By outline, the graphs of subprograms and the jitted functions that they are; subprograms that are alike
        are one.
      temporary_bytes: What XLA says that each needs for temporaries.
      call: Takes the inputs of the graph to a list of its outputs; of a single subprogram it is the jitted function
        itself.
    """

    def __init__(
        self,
        closed: ClosedJaxpr,
        donated: Sequence[int],
        name: str,
        compiler_options: Mapping[str, Any] | None,
        before_tracing: Callable[[], None] = lambda: None,
        *,
        limit: int | None,
        keeps_freed_memory: bool = False,
        is_ahead: bool = False,
        places: Sequence[Any] = (),
    ):
        """Cuts a graph where shapes say that it is needed, and has XLA begin to compile it.

        Args:
          closed: The ClosedJaxpr, without side effects.
          donated: The positions of the inputs whose buffers may be reused.
          name: What profiles and HLO call it.
          compiler_options: Options for XLA.
          before_tracing: Called whenever JAX traces a subprogram.
          limit: The temporaries that a subprogram may have; None for one program of the graph as it is.
          keeps_freed_memory: Whether the process is to keep the memory that subprograms free, if there are several or
            it is much.
          is_ahead: Whether subprograms run as they were compiled, in any thread, whatever the settings of JAX there.
          places: Where the inputs lie, see `places_of`; left out if that is not known.
        """
        self._donated, self._places = donated, places
        self._options = keeping_barriers(compiler_options)
        self._name, self._before_tracing = name, before_tracing
        self._most = sys.maxsize if limit is None else limit
        self._keeps_freed_memory, self._is_ahead = keeps_freed_memory, is_ahead
        self._rewrite: Callable[[Any], Any] = _delayed if limit is not None else lambda jaxpr: jaxpr
        self.programs: dict[Any, dict[Any, Any]] = {}
        self._compiling: dict[Any, concurrent.futures.Future[Any]] = {}
        self._closed, self._groups = closed, [list(closed.jaxpr.eqns)]
        self._whole: set[int] = set()  # groups, by identity, that cannot be cut or need not be
        self._estimates: dict[int, tuple[Any, int]] = {}  # by identity: groups and what they need
        if limit is not None and _LEAST * self._estimate(0) > limit:
            self._cut(0, _USUAL)
        self._begun = self._begin()

    @property
    def schedule(self) -> Schedule:
        return self._finished.schedule

    @property
    def runs(self) -> list[Any]:
        """The function of each subprogram."""
        return self._finished.runs

    @property
    def temporary_bytes(self) -> list[int]:
        return self._finished.temporary_bytes

    @cached_property
    def call(self) -> Callable[..., Any]:
        schedule, runs, needed = self._finished
        if self._keeps_freed_memory and (len(runs) > 1 or self._is_ahead or needed[0] > machine().kept_bytes):
            keep_freed_memory()
        if self._is_ahead:
            runs = [self._compiling[run].result() for run in runs]
        return runs[0] if len(runs) == 1 else _generate(schedule, runs)

    @cached_property
    def _finished(self) -> _Finished:
        """What the graph has become when no subprogram needs too much that could be cut."""
        while True:
            schedule, runs = self._begun
            measured = [_temporary_bytes(self._compiling[run].result()) for run in runs]
            # to cut what was compiled takes two more compilations: it is done only for what is surely given back
            most = given_back_bytes() if self._most == most_kept_bytes() else self._most
            for k in reversed(range(len(runs))):
                if measured[k] > most and id(self._groups[k]) not in self._whole:
                    self._cut(k, max(1.0, measured[k] / max(1, self._estimate(k))))
            if len(self._groups) == len(runs):
                self._compiling = {run: self._compiling[run] for run in runs}
                return _Finished(schedule, runs, measured)
            self._begun = self._begin()

    def _estimate(self, k: int) -> int:
        group = self._groups[k]
        if id(group) not in self._estimates:
            returned = returned_by(self._groups, k, self._closed.jaxpr.outvars)
            self._estimates[id(group)] = group, temporary_bytes(group, returned, limit=self._most)
        return self._estimates[id(group)][1]

    def _cut(self, k: int, ratio: float) -> int:
        """Cuts a group until none needs too much, given how many times the estimate XLA needs; returns how many."""
        groups = self._groups
        if ratio * self._estimate(k) <= self._most:
            return 1
        halves = None
        if len(groups) < _MAX_SUBPROGRAMS:
            returned = returned_by(groups, k, self._closed.jaxpr.outvars)
            halves = divide(groups[k], returned, known_before(groups, k, self._closed), int(self._most / ratio))
        if halves is None:
            self._whole.add(id(groups[k]))
            return 1
        groups[k : k + 1] = halves
        n_left = self._cut(k, ratio)
        return n_left + self._cut(k + n_left, ratio)

    def _begin(self) -> tuple[Schedule, list[Any]]:
        """Returns the subprograms and their functions, of which XLA begins to compile the new ones."""
        schedule = plan_schedule(self._closed, self._groups, self._donated)
        runs = [self._jit(k, subprogram) for k, subprogram in enumerate(schedule.subprograms)]
        _compile(runs, schedule, self._compiling, self._places)
        return schedule, runs

    def _jit(self, k: int, subprogram: Subprogram) -> Any:
        """Returns a subprogram as a jitted function; subprograms that are alike are one."""
        alike = self.programs.setdefault(_outline(subprogram), {})
        for other, program in alike.items():
            # identity first: text takes long at many layers
            if other is subprogram.jaxpr or str(other.jaxpr) == str(subprogram.jaxpr.jaxpr):
                return program
        name, before_tracing = self._name if k == 0 else f"{self._name}_subprogram{k}", self._before_tracing
        graph = self._rewrite(subprogram.jaxpr)
        evaluate = as_one_call(graph, name)

        def run(*args: object) -> Any:
            before_tracing()
            return evaluate(*args)

        run.__name__ = run.__qualname__ = name
        options = self._options if gains_by_optimizing(subprogram.jaxpr.jaxpr) else optimizing_less(self._options)
        program = jax.jit(run, donate_argnums=subprogram.donated, keep_unused=True, compiler_options=options)
        alike[subprogram.jaxpr] = program
        return program

    def cost_analysis(self) -> dict[str, float]:
        """Returns XLA's counts of FLOPs and bytes accessed, summed over all subprograms."""
        found: Counter[str] = Counter()
        for run in self._finished.runs:
            found.update(costs_of(self._compiling[run].result()))
        return dict(found)


def places_of(args: Sequence[Any]) -> tuple[Any, ...]:
    """Returns the shardings of arrays that were put on one device; None for those that JAX may still move.

    A jitted function has another program for each of the two.
    """
    is_put = lambda x: isinstance(x, jax.Array) and x.committed and len(x.sharding.device_set) == 1
    return tuple(x.sharding if is_put(x) else None for x in args)


def _compile(
    runs: Sequence[Any],
    schedule: Schedule,
    compiling: dict[Any, concurrent.futures.Future[Any]],
    places: Sequence[Any],
) -> None:
    """Has XLA begin to compile subprograms, those but the known ones, each as soon as it is lowered.

    Args:
      runs: The jitted functions that subprograms are.
      compiling: What is known; what is begun is added.
      places: Where the inputs of the graph lie.
    """
    pool = concurrent.futures.ThreadPoolExecutor()  # XLA compiles without holding Python's lock
    lies_at, n_values = dict(enumerate(places)), schedule.n_inputs
    for run, subprogram in zip(runs, schedule.subprograms, strict=True):
        given = [lies_at.get(i) for i in subprogram.reads]
        if run not in compiling:
            typed = zip(subprogram.jaxpr.in_avals, given, strict=True)
            specs = [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type, sharding=at) for a, at in typed]
            compiling[run] = pool.submit(run.lower(*specs).compile)
        there = next((at for at in given if at is not None), None)  # what is computed of them lies there too
        for _ in subprogram.jaxpr.out_avals:
            lies_at[n_values], n_values = there, n_values + 1
    pool.shutdown(wait=False)


def _temporary_bytes(program: Any) -> int:
    analysis = program.memory_analysis()
    return analysis.temp_size_in_bytes if analysis else 0


def can_be_cut(closed: ClosedJaxpr) -> bool:
    """Returns whether a graph is worth a look: it has no side effects, whose order one program keeps, and much memory.

    One that needs more than the process may keep stays one program too. Most of its values would be given back at each
    call, and what crosses would be held beside them: GPT-2 of 124M parameters took 1 GiB more, and a first call of
    twice the time, to save less than a tenth of a step.

    Args:
      closed: The ClosedJaxpr.
    """
    eqns = closed.jaxpr.eqns
    if all(kind(eqn) <= Kind.TRANSCENDENTAL for eqn in eqns):
        return False  # a kernel or two, whose values in between are in no memory
    if not is_free_of_effects(closed):
        return False
    limit = machine().kept_bytes
    return _held_bytes(closed, limit) > limit // _MAX and _held_bytes(closed) <= MAX_KEPT_BYTES


def pays_to_cut(closed: ClosedJaxpr) -> bool:
    """Returns whether it is a large part of the time of a graph to get the memory for its temporaries again.

    Args:
      closed: The ClosedJaxpr.
    """
    return graph_flops(closed) <= machine().max_flops_per_kept_byte * _held_bytes(closed)


_known_held: weakref.WeakKeyDictionary[Any, dict[int, int]] = weakref.WeakKeyDictionary()
"""By graph and limit; several questions about a graph are answered by it."""


def _held_bytes(closed: ClosedJaxpr, limit: int = sys.maxsize) -> int:
    """Returns the estimate for one program; values above the limit do not count."""
    known = _known_held.setdefault(closed.jaxpr, {})
    if limit not in known:
        estimate = lambda: temporary_bytes(closed.jaxpr.eqns, set(), limit=limit, delayed=False)
        known[limit] = attempt("The estimate of temporaries", estimate, 0 if limit < sys.maxsize else sys.maxsize)
    return known[limit]


def _delayed(closed: Any) -> Any:
    return attempt("The pass `delay`", lambda: delay(closed), closed)


def is_free_of_effects(closed: ClosedJaxpr) -> bool:
    """Returns whether a graph has no side effects, so that a sequential executable may run it."""
    return not any(map(has_side_effects, closed.jaxpr.eqns))


def explain_tuned(tuned: Tuned) -> list[str]:
    """Returns in lines what passes did to a graph, and how it is run."""
    lines = [*map(str, tuned.results)]
    if tuned.n_by_eigen:
        lines.append(f"eigen_convolutions: {tuned.n_by_eigen} on all cores")
    if tuned.limit_bytes is not None:
        lines.append(f"subprograms: {_explain_cut(tuned.jaxpr, tuned.limit_bytes)}")
    if tuned.has_subprograms and tuned.keeps_freed_memory:
        is_told = is_told_otherwise(os.environ)
        why = "as the environment says" if is_told else "what programs free stays with the process"
        lines.append(f"keep_freed_memory: {why}")
    return lines


def _explain_cut(closed: ClosedJaxpr, limit: int) -> str:
    """Returns in words whether a graph is cut, as far as shapes alone say."""
    if not is_free_of_effects(closed):
        return "one program, which keeps the order of the side effects"
    estimate = temporary_bytes(closed.jaxpr.eqns, set(closed.jaxpr.outvars), limit=limit)
    needs = f"temporaries of about {format_bytes(estimate)}, and {format_bytes(limit)} are kept between calls"
    if _MAX * estimate <= limit:
        return f"one program: {needs}"
    is_sure = _LEAST * estimate > limit
    return f"several programs: {needs}" if is_sure else f"as many programs as XLA needs: {needs}"


def _outline(subprogram: Subprogram) -> tuple[Any, ...]:
    """Returns a key that is equal for subprograms that are alike, and for few others."""
    closed = subprogram.jaxpr
    primitives = tuple(eqn.primitive for eqn in closed.jaxpr.eqns)
    return (
        subprogram.donated,
        tuple(closed.in_avals),
        tuple(closed.out_avals),
        tuple(map(id, closed.consts)),
        primitives,
    )


def _generate(schedule: Schedule, runs: Sequence[Any]) -> Callable[..., Any]:
    """Returns the function that runs the subprograms: straight-line Python that drops values early."""
    lines = []
    n_values = schedule.n_inputs
    for k, subprogram in enumerate(schedule.subprograms):
        targets = ", ".join(f"v{n_values + i}" for i in range(len(subprogram.jaxpr.out_avals)))
        n_values += len(subprogram.jaxpr.out_avals)
        lines.append(f"    [{targets}] = subprogram{k}({', '.join(f'v{i}' for i in subprogram.reads)})")
        if subprogram.last_read:
            lines.append(f"    del {', '.join(f'v{i}' for i in subprogram.last_read)}")
    given = ", ".join(f"v{i}" for i in range(schedule.n_inputs))
    source = "\n".join([f"def call({given}):", *lines, f"    return [{', '.join(f'v{i}' for i in schedule.outputs)}]"])
    scope: dict[str, Any] = {f"subprogram{k}": run for k, run in enumerate(runs)}
    exec(compile(source, "<jaxaot sequential>", "exec"), scope)
    return scope["call"]
