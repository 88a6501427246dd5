"""What a function under `ja.remat` read of Python while its graph was made: part of what the graph is kept for.

It is what the guards of a compiled function look at: flags and numbers in attributes of the objects that it is a method
of or is passed, in its closure and in globals.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax
import numpy as np

from jaxaot.facade.cells.cells import array_content, is_leaf, kind_of
from jaxaot.plan.source import test_of
from jaxaot.tracer.arguments import flatten_arguments, leaf_paths
from jaxaot.tracer.observe.guards import Inputs, python_guards
from jaxaot.tracer.observe.noting import readers
from jaxaot.tracer.observe.observer import Observer
from jaxaot.tracer.trace import roots


class Reads:
    """What one trace of a function read of Python, told apart by identity."""

    def __init__(self) -> None:
        self._fits: Callable[..., Any] | None = None
        self._within: weakref.ref[Any] | None = None

    @contextlib.contextmanager
    def noted(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[None]:
        """Notes what the function reads inside; the objects of a library that hold arrays apart."""
        args, kwargs = _without_cells(args, kwargs)
        outer, observer = readers(), Observer(is_strict=False)
        self._within = weakref.ref(outer[0]) if outer else None
        leaves, tree = flatten_arguments(args, kwargs)
        observer.reach_call(fn, args, kwargs, leaf_paths((args, kwargs), tree), leaves)
        try:
            with observer:
                yield
            guards = python_guards(roots(fn, args, kwargs), observer, Inputs())
            self._fits = test_of(guards, {"ndarray": np.ndarray, "content": array_content})
        finally:
            observer.forget()

    def hold(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Returns whether the function would read the same at a call, without the objects that hold arrays.

        Where it is observed itself, what it reads has to be seen there: only what was read there counts then.
        """
        outer = readers()
        if self._fits is None or (outer and (self._within is None or self._within() is not outer[0])):
            return False
        return self._fits(fn, args, kwargs) is True

    @classmethod
    def of_call(
        cls, known: Iterable[Reads], fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Reads:
        """Returns which of some traces of a function read what a call would read; a new one if none did."""
        args, kwargs = _without_cells(args, kwargs)
        return next((reads for reads in known if reads.hold(fn, args, kwargs)), None) or cls()


def _without_cells(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return jax.tree.map(lambda x: None if kind_of(x) is not None else x, (args, kwargs), is_leaf=is_leaf)
