"""A graph run as one executable or several, one after the other: see `legs.py` for where it is cut and why.

In each, what could be computed at once waits until it is needed, see `delay.py`.
"""

from __future__ import annotations

import concurrent.futures
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import jax

from jaxaot._jax import has_side_effects, jaxpr_as_fun
from jaxaot._util import format_bytes
from jaxaot.ir.primitives import Kind, kind
from jaxaot.lower.counts import costs_of
from jaxaot.lower.delay import delay
from jaxaot.lower.heaps import is_told_otherwise, keep_heaps
from jaxaot.lower.legs import (
    LIMIT_BYTES,
    Course,
    Leg,
    divide,
    known_before,
    plan_course,
    returned_by,
    temporary_bytes,
)
from jaxaot.lower.options import keeping_barriers
from jaxaot.lower.tune import Tuned

_MOST = 2
"""How many times the estimate XLA may need: a graph that is estimated at less than its part is not looked at."""

_USUAL = 1.15
"""How many times the estimate XLA usually needs: what a graph is cut into has room for that."""

_LEAST = 0.9
"""How many times the estimate XLA needs at least, as a rule: a graph is cut unasked only if that is too much."""

_MAX_LEGS = 64


class Relay:
    """The executables of a graph and the order in which they run.

    Attributes:
      course: The legs.
      programs: By outline, the graphs of legs and the jitted functions that they are; legs that are alike are one.
      temporary_bytes: What XLA says that each needs for temporaries.
      call: Takes the inputs of the graph to a list of its outputs; of a single leg it is the jitted function itself.
    """

    def __init__(
        self,
        closed: Any,
        donated: Sequence[int],
        name: str,
        compiler_options: Mapping[str, Any] | None,
        before_tracing: Callable[[], None] = lambda: None,
        limit: int | None = LIMIT_BYTES,
        keeps_heaps: bool = False,
        is_ahead: bool = False,
    ):
        """Cuts and compiles a graph.

        Args:
          closed: The ClosedJaxpr, without side effects.
          donated: The positions of the inputs whose buffers may be reused.
          name: What profiles and HLO call it.
          compiler_options: Options for XLA.
          before_tracing: Called whenever JAX traces a leg.
          limit: The temporaries that a leg may have; None for one program of the graph as it is.
          keeps_heaps: Whether the process is to keep the memory that legs free, if there are several.
          is_ahead: Whether legs run as they were compiled, in any thread, whatever the settings of JAX there.
        """
        self._options = keeping_barriers(compiler_options)
        self._name, self._before_tracing = name, before_tracing
        self._rewrite: Callable[[Any], Any] = delay if limit is not None else lambda jaxpr: jaxpr
        self.programs: dict[Any, dict[Any, Any]] = {}
        self._measured: dict[Any, int] = {}
        self._compiled: dict[Any, Any] = {}
        outvars = closed.jaxpr.outvars
        groups: list[Any] = [list(closed.jaxpr.eqns)]
        whole: set[int] = set()  # groups, by identity, that cannot be cut or need not be

        most = sys.maxsize if limit is None else limit

        def cut(k: int, ratio: float) -> int:
            """Cuts a group until none needs too much, given how many times the estimate XLA needs; returns how many."""
            returned = returned_by(groups, k, outvars)
            if ratio * temporary_bytes(groups[k], returned) <= most:
                return 1
            halves = None
            if len(groups) < _MAX_LEGS:
                halves = divide(groups[k], returned, known_before(groups, k, closed), int(most / ratio))
            if halves is None:
                whole.add(id(groups[k]))
                return 1
            groups[k : k + 1] = halves
            n_left = cut(k, ratio)
            return n_left + cut(k + n_left, ratio)

        if _LEAST * temporary_bytes(groups[0], returned_by(groups, 0, outvars)) > most:
            cut(0, _USUAL)
        while True:
            self.course = plan_course(closed, groups, donated)
            runs = [self._jit(k, leg) for k, leg in enumerate(self.course.legs)]
            self.temporary_bytes = self._measure(runs)
            for k in reversed(range(len(groups))):
                if self.temporary_bytes[k] > most and id(groups[k]) not in whole:
                    estimate = temporary_bytes(groups[k], returned_by(groups, k, outvars))
                    cut(k, max(1.0, self.temporary_bytes[k] / max(1, estimate)))
            if len(groups) == len(runs):
                break
        if keeps_heaps and (len(runs) > 1 or is_ahead):
            keep_heaps()
        if is_ahead:
            runs = [self._compiled[run] for run in runs]
        self.call: Callable[..., Any] = (
            runs[0] if len(runs) == 1 else _generate(self.course, runs, len(closed.in_avals))
        )

    def _jit(self, k: int, leg: Leg) -> Any:
        """Returns a leg as a jitted function; legs that are alike are one."""
        alike = self.programs.setdefault(_outline(leg), {})
        for other, program in alike.items():
            if other is leg.jaxpr or str(other.jaxpr) == str(leg.jaxpr.jaxpr):  # text takes long at many layers
                return program
        evaluate, before_tracing = jaxpr_as_fun(self._rewrite(leg.jaxpr)), self._before_tracing

        def run(*args: Any) -> Any:
            before_tracing()
            return evaluate(*args)

        run.__name__ = run.__qualname__ = self._name if k == 0 else f"{self._name}_leg{k}"
        options = self._options
        program = jax.jit(run, donate_argnums=leg.donated, keep_unused=True, compiler_options=options)
        alike[leg.jaxpr] = program
        return program

    def _measure(self, runs: Sequence[Any]) -> list[int]:
        """Compiles legs, and returns what XLA says that each needs for temporaries."""
        for run, program in self._compile(runs, self._measured).items():
            self._compiled[run] = program
            analysis = program.memory_analysis()
            self._measured[run] = analysis.temp_size_in_bytes if analysis else 0
        return [self._measured[run] for run in runs]

    def _compile(self, runs: Sequence[Any], known: Collection[Any] = ()) -> dict[Any, Any]:
        """Returns the compiled program of each leg but the known ones."""
        lowered: dict[Any, Any] = {}
        for run, leg in zip(runs, self.course.legs, strict=True):
            if run not in lowered and run not in known:
                avals = leg.jaxpr.in_avals
                specs = [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals]
                lowered[run] = run.lower(*specs)
        with concurrent.futures.ThreadPoolExecutor() as pool:  # XLA compiles without holding Python's lock
            return dict(zip(lowered, pool.map(lambda one: one.compile(), lowered.values()), strict=True))

    def cost_analysis(self) -> dict[str, float]:
        """Returns what XLA says of FLOPs and bytes accessed, of all legs together; compiles them once more."""
        runs = [self._jit(k, leg) for k, leg in enumerate(self.course.legs)]
        costs = {run: costs_of(program) for run, program in self._compile(runs).items()}
        found: Counter[str] = Counter()
        for run in runs:
            found.update(costs[run])
        return dict(found)


def can_be_cut(closed: Any) -> bool:
    """Returns whether a graph is worth a look: it has no side effects, whose order one program keeps, and much memory.

    Args:
      closed: The ClosedJaxpr.
    """
    eqns = closed.jaxpr.eqns
    if all(kind(eqn) <= Kind.TRANSCENDENTAL for eqn in eqns):
        return False  # a kernel or two, whose values in between are in no memory
    return is_free_of_effects(closed) and temporary_bytes(eqns, set(), delayed=False) > LIMIT_BYTES // _MOST


def is_free_of_effects(closed: Any) -> bool:
    """Returns whether a graph has no side effects, so that a relay may run it."""
    return not any(map(has_side_effects, closed.jaxpr.eqns))


def explain_tuned(tuned: Tuned) -> list[str]:
    """Returns in lines what passes did to a graph, and how it is run."""
    lines = [*map(str, tuned.results)]
    if tuned.n_by_eigen:
        lines.append(f"eigen_convolutions: {tuned.n_by_eigen} on all cores")
    if tuned.has_legs:
        lines.append(f"legs: {_explain_cut(tuned.jaxpr)}")
    if tuned.has_legs and tuned.keeps_heaps:
        is_told = is_told_otherwise(os.environ)
        why = "as the environment says" if is_told else "what several programs free stays with the process"
        lines.append(f"keep_heaps: {why}")
    return lines


def _explain_cut(closed: Any) -> str:
    """Returns in words whether a graph is cut, as far as shapes alone say."""
    if not is_free_of_effects(closed):
        return "one program, which keeps the order of the side effects"
    estimate = temporary_bytes(closed.jaxpr.eqns, set(closed.jaxpr.outvars))
    needs = f"temporaries of about {format_bytes(estimate)}, and {format_bytes(LIMIT_BYTES)} are kept between calls"
    if estimate <= LIMIT_BYTES // _MOST:
        return f"one program: {needs}"
    is_sure = _LEAST * estimate > LIMIT_BYTES
    return f"several programs: {needs}" if is_sure else f"as many programs as XLA needs: {needs}"


def _outline(leg: Leg) -> tuple[Any, ...]:
    """Returns what legs have in common that are alike, and few others."""
    closed = leg.jaxpr
    primitives = tuple(eqn.primitive for eqn in closed.jaxpr.eqns)
    return leg.donated, tuple(closed.in_avals), tuple(closed.out_avals), tuple(map(id, closed.consts)), primitives


def _generate(course: Course, runs: Sequence[Any], n_inputs: int) -> Callable[..., Any]:
    """Returns the function that runs the legs: straight-line Python, which lets go of values as soon as it can."""
    lines = []
    n_values = n_inputs
    for k, leg in enumerate(course.legs):
        targets = ", ".join(f"v{n_values + i}" for i in range(len(leg.jaxpr.out_avals)))
        n_values += len(leg.jaxpr.out_avals)
        lines.append(f"    [{targets}] = leg{k}({', '.join(f'v{i}' for i in leg.reads)})")
        if leg.last_read:
            lines.append(f"    del {', '.join(f'v{i}' for i in leg.last_read)}")
    given = ", ".join(f"v{i}" for i in range(n_inputs))
    source = "\n".join([f"def call({given}):", *lines, f"    return [{', '.join(f'v{i}' for i in course.outputs)}]"])
    scope: dict[str, Any] = {f"leg{k}": run for k, run in enumerate(runs)}
    exec(compile(source, "<jaxaot relay>", "exec"), scope)
    return scope["call"]
