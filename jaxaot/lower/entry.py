"""How a call enters an executable whose results it stores.

A donated buffer is gone when its executable has run, and the new value is only in what that returns. No handler of a
signal may come between. CPython runs handlers when a call has returned, where a function begins and where a loop turns
back; so what runs the executable is an iterator, and what stores its results are assignments:

    given += ((storage.array,),)
    for results in runs:  # starmap(run, iter(given.pop, None))
        storage.array = results[0]
        break

As long as an executable runs through Python, signals wait instead: at its first calls, of which the compilation can
still be interrupted; as subprograms or shards; and with side effects, whose order JAX keeps in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import starmap
from typing import Any

import jax

from jaxaot._jax import is_jitted, is_outermost, n_prepared
from jaxaot._progress import working
from jaxaot._signals import WaitingSignals


class Entry:
    """The way into an executable.

    Attributes:
      executable: Has `call`, and if it is compiled `prepare(args)`, which returns the function that runs it outside of
        transformations of JAX.
      donates: Whether a call deletes arrays.
      ready: That function, once it runs without Python; None before.
      is_anywhere: Whether it may run inside transformations too.
      given: Tuples of inputs: each item that is taken from `runs` runs the executable on the last of them.
      runs: The results of running it; None before it is ready.
    """

    __slots__ = ("_has_effects", "_n", "donates", "executable", "given", "is_anywhere", "ready", "runs")

    def __init__(self, executable: Any, donates: bool, has_effects: bool = False):
        """Nothing is compiled yet.

        Args:
          executable: The executable.
          donates: Whether a call deletes arrays.
          has_effects: Whether it does more than compute, so that JAX always runs it through Python.
        """
        self.executable = executable
        self.donates = donates
        self.ready: Callable[..., Any] | None = None
        self.is_anywhere = False
        self.given: list[Any] = []
        self.runs: Iterator[Any] | None = None
        self._has_effects = has_effects
        self._n = 0

    def compile(self, args: Sequence[Any]) -> None:
        """Compiles the executable for some arrays, unless it has run; it deletes none of them."""
        if not self._n and is_outermost() and hasattr(self.executable, "prepare"):
            self.executable.prepare(args)

    def begin(self, args: Sequence[Any], waits: bool = False) -> tuple[WaitingSignals | None, list[Any], Iterator[Any]]:
        """Runs the executable, where it is not ready or a transformation of JAX is running.

        Args:
          args: Its inputs.
          waits: Whether signals wait even if it deletes no arrays.

        Returns:
          Signals that wait until the results are stored and the caller releases them, or None; and what stands for
          `given` and `runs` and has the results.
        """
        executable, is_alone = self.executable, is_outermost()
        run = executable.prepare(args) if is_alone and hasattr(executable, "prepare") else executable.call
        signals = WaitingSignals() if waits or (self.donates and is_alone) else None  # symbols lose nothing
        try:
            results = run(*args)
            if is_alone:
                self._settle(run)
        except BaseException:
            if signals is not None:
                signals.release()
            raise
        return signals, [], iter((results,))

    def forget(self) -> None:
        """Has the next call ask the executable anew what runs."""
        self.ready, self._n = None, 0

    def _settle(self, run: Callable[..., Any]) -> None:
        """Makes the entry ready after two calls alike: the first may change what the second one is given."""
        n = n_prepared(run)
        if (
            n
            and n == self._n
            and not self._has_effects
            and not (jax.config.jax_debug_nans or jax.config.jax_debug_infs)
        ):
            self.runs = starmap(run, iter(self.given.pop, None))
            self.is_anywhere = self.executable.is_anywhere
            self.ready = run
        self._n = n


def compile_for(run: Callable[..., Any], args: Sequence[Any]) -> None:
    """Compiles a jitted function for some arrays, without running it."""
    if is_jitted(run):
        with working(f"compiling `{getattr(run, '__name__', 'a program')}`"):
            run.lower(*args).compile()  # type: ignore[attr-defined]


def run_into(
    storage: Any, counter: Any, entry: Entry, operands: Sequence[Any], also: Sequence[Any] = ()
) -> Sequence[Any]:
    """Runs an executable on `storage.array` and more, stores its first result there, and counts that as a write.

    Args:
      storage: The storage.
      counter: The write counter.
      entry: The way into the executable.
      operands: What it takes after the array.
      also: What changes with it: (object, attribute, value) each.

    Returns:
      All its results.
    """
    signals, run = None, entry.ready
    given: list[Any] = []  # not that of the entry: several threads may use one kernel
    if run is None or not (entry.is_anywhere or is_outermost()):
        signals, given, runs = entry.begin((storage.array, *operands))
    else:
        runs = starmap(run, given)
    try:
        moves = starmap(setattr, also) if also else None
        given += ((storage.array, *operands),)  # from here on no handler of a signal runs
        for results in runs:
            counter.n += 1
            storage.array = results[0]
            storage.is_shared = False
            break
        if moves is not None:
            any(moves)
        return results
    finally:
        if signals is not None:
            signals.release()
