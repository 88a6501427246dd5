"""Functions that cannot be one graph: calls of them run in parts, with all that Python does in between.

A trace stops where Python needs a value, or does what it has to do at each call. What it read until then are the guards
by which such calls are found again. Where Python branches on few values, each way is a program of segments, see
`segmented.py`. All else is run by Python at each call, and its operations in stretches, see `facade/deferred`.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxaot import settings as config
from jaxaot._jax import make_literal
from jaxaot.errors import RecompileWarning, TraceError
from jaxaot.facade.deferred.recorder import Recorder
from jaxaot.facade.deferred.stretch import StretchPrograms
from jaxaot.facade.memory.source_line import warn_user
from jaxaot.ir.rewrite import rebuild
from jaxaot.lower.interpret import Interpreter
from jaxaot.plan.breaks import BreakValue
from jaxaot.plan.source import MISS
from jaxaot.runtime.call import generate
from jaxaot.runtime.compile_report import said
from jaxaot.runtime.program import Program
from jaxaot.runtime.segmented import NotBranches, SegmentedFunction
from jaxaot.runtime.untraced import Broken, is_tried_again

_MAX_CALLS = 8
"""How many kinds of calls are known that run in parts: each of the others looks at all of them."""
_OFTEN = 3
"""After so many traces that stopped at one line few calls that nothing fits are traced, see `is_tried_again`."""


class _Known(NamedTuple):
    """Calls that run in parts.

    Attributes:
      program: What they enter.
      at: Where they stop.
    """

    program: Program
    at: BreakValue


def _looking(broken: Broken) -> Program:
    """Returns a program that computes nothing: what enters it passes the guards of the trace that stopped."""
    nothing = make_literal(np.bool_(False), jax.typeof(np.bool_(False)))
    traced = dataclasses.replace(broken.traced, jaxpr=rebuild(broken.traced.jaxpr, [], [nothing]))
    return generate(Program(traced, None, Interpreter, False, broken.key), None)


class Parts:
    """The calls of a function that run in parts."""

    def __init__(self, fn: Callable[..., Any], branches: SegmentedFunction, most: int, run: Callable[..., Any]):
        """Knows of none yet.

        Args:
          fn: The function.
          branches: What runs those with few branches.
          most: How many programs are kept.
          run: Takes the arguments of a call, and runs the function itself.
        """
        self._fn, self._run = fn, run
        self._name = getattr(fn, "__name__", type(fn).__name__)
        self._branches = branches
        self._stretches = StretchPrograms(branches.make, most, self._name)
        self._known: list[_Known] = []
        self._unbranched: set[str] = set()
        self._said: set[str] = set()
        self._n_stopped: Counter[str] = Counter()
        self._n_untraced = 1
        self._hits = self._misses = 0

    def find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the result of a call of which it is known that it runs in parts; else `MISS`."""
        for known in self._known:
            if known.program.enter(self._fn, args, kwargs) is not MISS:
                return self._call(known.at, args, kwargs)
        if max(self._n_stopped.values(), default=0) < _OFTEN:
            return MISS
        self._n_untraced += 1
        return MISS if is_tried_again(self._n_untraced) else self._call(self._known[0].at, args, kwargs)

    def first(self, broken: Broken, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the result of a call whose trace stopped, and knows such calls from then on."""
        self._n_stopped[broken.at.line] += 1
        self._known = [_Known(_looking(broken), broken.at), *self._known[: _MAX_CALLS - 1]]
        return self._call(broken.at, args, kwargs)

    def _call(self, at: BreakValue, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if at.line not in self._unbranched and at.is_discrete:
            try:
                result = self._branches(*args, **kwargs)
                self._give_up_if_rare(at)
                return result
            except NotBranches as found:
                self._unbranched.add(at.line)
                at = found.at
            except TraceError:  # of what comes after the branch
                self._unbranched.add(at.line)
        self._warn(at)
        n_made = self._stretches.n_made
        with Recorder(self._stretches):
            result = self._run(args, kwargs)
        if self._stretches.n_made == n_made:
            self._hits += 1
        else:
            self._misses += 1
        return result

    def _give_up_if_rare(self, at: BreakValue) -> None:
        """Has Python run what branches at a line where most calls get programs of their own."""
        hits, misses, _ = self._branches.cache_info()
        if misses > 2 * config.get().max_values and hits < misses:
            self._unbranched.add(at.line)

    def _warn(self, at: BreakValue) -> None:
        if not at.asked or at.line in self._said:
            return
        self._said.add(at.line)
        kept_whole = "Return the value and look at it outside, or compute with the tensor instead (`ja.where`)"
        if not at.is_value:
            kept_whole = "Do it outside of the function"
        warn_user(
            f"`{self._name}` runs in parts, as {at.asked} at\n\n    {at.line}\n\n"
            f"{'needs a value' if at.is_value else 'is done at each call'}. The results are right, and what tensors do "
            f"is compiled from one such place to the next. {kept_whole}, and the function is one graph; "
            "`fullgraph=True` makes this an error.",
            RecompileWarning,
        )

    def explain_recompiles(self) -> list[Any]:
        """Returns why the programs of branches were made."""
        return self._branches.explain_recompiles()

    def described(self) -> list[str]:
        """Returns what is known of the calls, one line for each place where they stop."""
        return list(dict.fromkeys(f"in parts, which end at {said(known.at)}" for known in self._known))

    def cache_info(self) -> tuple[int, int, int]:
        """Returns how many calls found programs, how many had one made, and how many there are."""
        hits, misses, n = self._branches.cache_info()
        return hits + self._hits, misses + self._misses, n + len(self._stretches)
