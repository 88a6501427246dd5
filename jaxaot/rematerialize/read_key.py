"""What a function under `ja.remat` reads of Python: part of what its graph is kept for.

It is what the guards of a compiled function look at: flags and numbers in attributes of the objects that it is a method
of or is passed, in its closure and in globals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from jaxaot.facade.cells.cells import is_leaf, kind_of
from jaxaot.tracer.observe.guards import Reached, python_guards
from jaxaot.tracer.trace import roots

_NOTHING = Reached({}, frozenset(), {}, {}, (), ())


class ReadKey:
    """What a function may read of Python at one call; equal to another if it reads the same there."""

    def __init__(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]):
        """Looks at what the function and its arguments lead to; the objects of a library that hold arrays apart."""
        args, kwargs = jax.tree.map(lambda x: None if kind_of(x) is not None else x, (args, kwargs), is_leaf=is_leaf)
        self._guards = python_guards(roots(fn, args, kwargs), _NOTHING)
        self._hash = hash(tuple((guard.path, type(guard.condition)) for guard in self._guards))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReadKey) or len(self._guards) != len(other._guards):
            return False
        names: Any = None  # no condition here needs them
        return all(
            a.path == b.path
            and type(a.condition) is type(b.condition)
            and a.condition.agrees(names, b.condition, names)
            for a, b in zip(self._guards, other._guards, strict=True)
        )
