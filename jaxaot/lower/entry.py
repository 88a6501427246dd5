"""How a call enters an executable whose results it stores.

A donated buffer is gone when its executable has run, and the new value is only in what that returns. So that no signal
comes between, the call into C that runs the executable stores what it returns too:

    values = map(setattr, (storage,), ("array",), chain.from_iterable(starmap(run, arguments)))
    any(values)

As long as an executable runs through Python, signals wait instead: at its first calls, of which the compilation can
still be interrupted; as legs or shares; and with side effects, whose order JAX keeps in Python.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import chain, starmap
from typing import Any

import jax

from jaxaot._jax import is_jitted, is_outermost, n_prepared
from jaxaot._signals import WaitingSignals


class Entry:
    """The way into an executable.

    Attributes:
      executable: Has `call`, and if it is compiled `prepare(args)`, which returns the function that runs it outside of
        transformations of JAX.
      donates: Whether a call deletes arrays.
      ready: That function, once it runs without Python; None before.
    """

    __slots__ = ("_has_effects", "_n", "donates", "executable", "ready")

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
        self._has_effects = has_effects
        self._n = 0

    def compile(self, args: Sequence[Any]) -> None:
        """Compiles the executable for some arrays, unless it has run; it deletes none of them."""
        if not self._n and is_outermost() and hasattr(self.executable, "prepare"):
            self.executable.prepare(args)

    def begin(self, args: Sequence[Any], waits: bool = False) -> tuple[WaitingSignals | None, Callable[..., Any]]:
        """Runs the executable, where it is not ready or a transformation of JAX is running.

        Args:
          args: Its inputs.
          waits: Whether signals wait even if it deletes no arrays.

        Returns:
          Signals that wait until the results are stored and the caller releases them, or None; and a function that
          returns the results, whatever it is given.
        """
        executable, is_alone = self.executable, is_outermost()
        run = executable.prepare(args) if is_alone and hasattr(executable, "prepare") else executable.call
        signals = WaitingSignals() if waits or (self.donates and is_alone) else None  # symbols lose nothing
        try:
            results = run(*args)
            self._settle(run)
        except BaseException:
            if signals is not None:
                signals.release()
            raise
        return signals, lambda *_: results

    def _settle(self, run: Callable[..., Any]) -> None:
        """Makes the entry ready after two calls alike: the first may change what the second one is given."""
        n = n_prepared(run)
        if (
            n
            and n == self._n
            and not self._has_effects
            and not (jax.config.jax_debug_nans or jax.config.jax_debug_infs)
        ):
            self.ready = run
        self._n = n


def compile_for(run: Callable[..., Any], args: Sequence[Any]) -> None:
    """Compiles a jitted function for some arrays, without running it."""
    if is_jitted(run):
        run.lower(*args).compile()  # type: ignore[attr-defined]


class _Kept:
    """What a run returned beside what was stored."""

    __slots__ = ("more",)


_flat = chain.from_iterable
_FIRST = operator.itemgetter(0)
_TWO = operator.itemgetter(0, 1)
_ARRAY = ("array",)
_ARRAY_AND_MORE = ("array", "more")


def run_into(storage: Any, entry: Entry, operands: Sequence[Any], keeps: bool = False, also: Sequence[Any] = ()) -> Any:
    """Runs an executable on `storage.array` and more, and stores its first result there, by one call into C.

    Args:
      storage: The storage.
      entry: The way into the executable, which returns a tuple.
      operands: What it takes after the array.
      keeps: Whether its second result is needed.
      also: What the same call changes: (object, attribute, value) each.

    Returns:
      The second result if it is needed.
    """
    signals, run = None, entry.ready
    if run is None or not is_outermost():
        signals, run = entry.begin((storage.array, *operands))
    try:
        given: list[Any] = []
        results = starmap(run, given)
        kept = None
        if also:
            owners, names, values = zip(*also, strict=True)
            stores = map(setattr, (storage, *owners), (*_ARRAY, *names), chain(map(_FIRST, results), values))
        elif keeps:
            kept = _Kept()
            stores = map(setattr, (storage, kept), _ARRAY_AND_MORE, _flat(map(_TWO, results)))
        else:
            stores = map(setattr, (storage,), _ARRAY, map(_FIRST, results))
        given += ((storage.array, *operands),)  # between this and the call no handler of a signal runs
        any(stores)
        return None if kept is None else kept.more
    finally:
        if signals is not None:
            signals.release()
