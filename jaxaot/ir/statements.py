"""What an equation says but for its numbers, and how two that say something else differ."""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxaot._jax import close_jaxpr, scan_counts
from jaxaot._typing import ClosedJaxpr, Eqn, Jaxpr
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import param_key, source_line

SAID_ELSEWHERE = {"ft_in", "ft_out", "policy", "name", "debug_info"}
"""Parameters that say what the operands do, or nothing of values."""


class Statement(NamedTuple):
    """What an equation says.

    Attributes:
      said: All but its numbers, its operands and its bodies; hashable.
      numbers: The numbers in its parameters and in the shapes of its results.
      bodies: The graphs in its parameters, with their constants.
    """

    said: tuple[Hashable, ...]
    numbers: tuple[int, ...]
    bodies: tuple[tuple[Jaxpr, Sequence[Any]], ...]


def statement_of(eqn: Eqn, params: Mapping[str, Any] | None = None, shape: tuple[int, ...] | None = None) -> Statement:
    """Returns what an equation says, or would say with other parameters and one result of another shape."""
    numbers: list[int] = []
    bodies: list[tuple[Any, Sequence[Any]]] = []

    def described(value: Any) -> Hashable:
        kind = type(value)
        if kind is int or isinstance(value, np.integer):
            numbers.append(int(value))
            return "#"
        if value is None or kind is bool or kind is str or isinstance(value, enum.Enum):
            return value
        if kind is tuple or kind is list:
            return (len(value), *map(described, value))
        if isinstance(value, ClosedJaxpr | Jaxpr):
            body = inline(value if hasattr(value, "consts") else close_jaxpr(value), also_custom=True)
            bodies.append((body.jaxpr, body.consts))
            return "graph"
        return param_key(value)

    params = eqn.params if params is None else params
    said: list[Hashable] = [eqn.primitive.name]
    if eqn.primitive.name == "scan":
        said.append(scan_counts(eqn))
    for name in sorted(params):
        if name not in SAID_ELSEWHERE:
            value = params[name]
            if name == "padding_config":  # between elements, the shape says how high the margin is
                value = tuple((low, None if inside else high, inside) for low, high, inside in value)
            said.append((name, described(value)))
    for var in eqn.outvars:
        dims = getattr(var.aval, "shape", ()) if shape is None else shape
        said.append((str(getattr(var.aval, "dtype", var.aval)), len(dims)))
        numbers += map(int, dims)
    return Statement(tuple(said), tuple(numbers), tuple(bodies))


def integers(value: object) -> Any:
    """Returns the integers in a parameter as `statement_of` finds them."""
    if isinstance(value, tuple | list):
        return tuple(map(integers, value))
    return int(value) if isinstance(value, int | np.integer) else None


def as_identity(
    name: str, params: Mapping[str, Any], shape: tuple[int, ...], is_padded_with_number: bool
) -> dict[str, Any] | None:
    """Returns the parameters with which an equation would compute nothing of an operand of a shape; None if none."""
    rank, changed = len(shape), dict(params)
    if name == "slice":
        if any(step != 1 for step in params["strides"] or ()) or len(params["limit_indices"]) != rank:
            return None
        changed |= {"start_indices": (0,) * rank, "limit_indices": shape}
    elif name == "broadcast_in_dim":
        if tuple(params["broadcast_dimensions"]) != tuple(range(rank)) or len(params["shape"]) != rank:
            return None
        changed |= {"shape": shape}
    elif name == "reshape":
        if params["dimensions"] is not None or len(params["new_sizes"]) != rank:
            return None
        changed |= {"new_sizes": shape}
    elif name == "pad":
        if len(params["padding_config"]) != rank or not is_padded_with_number:
            return None
        changed |= {"padding_config": ((0, 0, 0),) * rank}
    else:
        return None
    return changed


def where(eqn: Eqn | None) -> str:
    """Returns an equation for messages: its primitive and its line."""
    if eqn is None:
        return "the end"
    line = source_line(eqn)
    return f"`{eqn.primitive.name}`" + (f" at {line}" if line else "")


def contrast(one: Eqn | None, other: Eqn | None) -> str | None:
    """Returns in what two equations of one line and one primitive differ; None of others, whose places say it."""
    if one is None or other is None or where(one) != where(other):
        return None
    said = [{entry[0]: entry for entry in _entries(eqn)} for eqn in (one, other)]
    for name in one.params:
        if said[0].get(name) != said[1].get(name):
            return f"{where(one)} has {name} {_short(one, name)} at one size, {_short(other, name)} at another"
    return f"{where(one)} reads another value at one size than at another"


def _entries(eqn: Eqn) -> Iterator[tuple[Any, ...]]:
    """Yields what an equation says but for numbers, entries of parameters by name."""
    for entry in statement_of(eqn).said:
        if type(entry) is tuple and entry[0] in eqn.params:
            yield entry


def _short(eqn: Eqn, name: str) -> str:
    text = str(eqn.params.get(name))
    return text if len(text) <= 60 else f"{text[:57]}..."
