"""What is known of a graph while it is being traced: by which equations its values were computed so far."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from jaxaot._jax import maker_of, symbol_of

_LOOPS = ("scan", "while")
_MOST = 2000


def is_made_by_loop(value: object) -> bool:
    """Returns whether a tracer stands for a result of a loop, or a view or cast of one."""
    eqn, read = maker_of(value)
    while eqn is not None and eqn.primitive.name not in _LOOPS and len(read) == 1:
        eqn, read = maker_of(read[0])
    return eqn is not None and eqn.primitive.name in _LOOPS


def eqns_behind(values: Sequence[object], known: Collection[object], most: int = _MOST) -> list[Any]:
    """Returns the equations that values were computed by so far, in order, those of known variables not looked behind.

    Args:
      values: Tracers; others are passed over.
      known: The variables of some tracers.
      most: How many equations are returned at most.
    """
    found: list[Any] = []
    seen: set[object] = set()
    pending: list[tuple[object, Any]] = [(value, None) for value in values]
    while pending and len(found) < most:
        value, finished = pending.pop()
        symbol = symbol_of(value)
        if finished is not None:
            found.append(finished)
        elif symbol is not None and symbol not in known and symbol not in seen:
            eqn, read = maker_of(value)
            if eqn is not None:
                seen.update(eqn.outvars)
                pending += [(value, eqn), *((x, None) for x in read)]
    return found
