"""Functions with a rule of their own for their derivative: which equations have the same rule.

The text of a graph does not say what the rule of a `jax.custom_jvp` function is. JAX keeps it in the closure of what
traces it, `jvp_jaxpr_fun`, anew in each trace; the user's function and its static arguments are the same there.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from jaxaot._typing import Eqn


def rule_of(eqn: Eqn) -> Hashable | None:
    """Returns a value that is equal for equations with the same rule; None if it cannot be told."""
    if eqn.primitive.name != "custom_jvp_call":
        return None
    traces, used = eqn.params.get("jvp_jaxpr_fun"), []
    while traces is not None:
        thunk = _captured(getattr(traces, "f", None), "fn")
        rule = _captured(thunk, "jvp")
        if rule is None:  # of an equation whose results are not all used: that of the one with all
            traces = _captured(thunk, "jvp_jaxpr_fun")
            used.append(tuple(_captured(thunk, "used_outs") or ()))
            continue
        traces = _captured(rule.f, "jvp_jaxpr_fun")  # of an equation that was evaluated: that of the one before
        if traces is None:
            return _identity(rule.f, rule.transforms, used)
    return None


def _captured(fn: object, name: str) -> Any:
    """Returns what a function has in its closure by some name, or None."""
    names = getattr(getattr(fn, "__code__", None), "co_freevars", ())
    if name not in names:
        return None
    try:
        return fn.__closure__[names.index(name)].cell_contents  # type: ignore[attr-defined]
    except ValueError:
        return None


def _identity(fn: Any, transforms: Any, used: Sequence[Hashable]) -> Hashable | None:
    """Returns a function together with what JAX adds to it, without the places where that puts trees of results."""
    parts: list[Hashable] = [fn, *used]
    for step, given in transforms:
        parts.append(step)
        told = [value for value in given if "transformation_with_aux" not in getattr(value, "__qualname__", "")]
        parts += map(_plain, told)
    try:
        hash(tuple(parts))
    except TypeError:
        return None
    return tuple(parts)


def _plain(value: Any) -> Any:
    """Returns static arguments as they were passed; JAX hides that they have a hash."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, (bool, int, float, complex)):
        return type(value), repr(value)
    return (_plain(value.val),) if type(value).__name__ in ("Hashable", "Unhashable") else value
