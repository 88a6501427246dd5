"""How the values that a function is traced with lie over several devices.

JAX traces with symbols that do not say where they lie. `ja.jit` knows where the arguments of a call lie, and notes it
of their symbols. What is computed from them lies as `ir/placements.py` says. What a trace inside of another one is
given, such as the body of a loop, is not known. The devices say what a cut is made for, also if they are not there:
their times and memory count, and not those of the default device.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import threading
import types
from collections.abc import Iterator, Sequence
from typing import Any

import jax

from jaxaot._jax import is_tracer, symbol_of
from jaxaot._placement import are_several, placement_of
from jaxaot.ir.placements import NOWHERE, Placed, Placements, placed_by
from jaxaot.ir.unfinished import eqns_behind
from jaxaot.lower.platforms import first_device


class _Now(threading.local):
    """What is known in this thread.

    Attributes:
      call: The arguments of the call that is being carried out.
      shardings: How those lie that are about to be traced.
      symbols: The symbols that stand for them, each with its sharding.
      device: One of the devices that they lie on; None where none is known.
    """

    def __init__(self) -> None:
        self.call: Any = None
        self.shardings: Sequence[Any] = ()
        self.symbols: dict[Any, Any] = {}
        self.device: Any = None


_now = _Now()


@contextlib.contextmanager
def carrying_out(args: object, kwargs: object) -> Iterator[None]:
    """Has what is traced in it be traced for a call whose arguments lie where they lie."""
    before, _now.call = _now.call, (args, kwargs)
    try:
        yield
    finally:
        _now.call = before


@contextlib.contextmanager
def tracing(args: object, kwargs: object, asked: Sequence[Any] = ()) -> Iterator[None]:
    """Has a function that is traced in it know how its arguments lie.

    Args:
      args: Its arguments: arrays, types, or symbols of the call that is being carried out.
      kwargs: Those that are passed by name.
      asked: For each leaf of them the sharding that was asked for, or None; empty where none was.
    """
    leaves = jax.tree.leaves((args, kwargs))
    given = leaves
    if any(map(is_tracer, leaves)):
        given = jax.tree.leaves(_now.call)
        given = given if len(given) == len(leaves) else [None] * len(leaves)
    before = _now.shardings, _now.symbols, _now.device
    _now.device = first_device((*asked, *given)) or _now.device
    _now.shardings = [placement_of(leaf) for leaf in given]
    if len(asked) == len(leaves):
        _now.shardings = [one or other for one, other in zip(asked, _now.shardings, strict=True)]
    _now.symbols = {}
    try:
        yield
    finally:
        _now.shardings, _now.symbols, _now.device = before


def lowered_for(values: Sequence[Any], asked: Sequence[Any]) -> tuple[str, str] | None:
    """Returns platform and kind of the devices that a graph is lowered for; None for those of the default device.

    Args:
      values: Its inputs, arrays or symbols.
      asked: Shardings that it asks for.
    """
    concrete = (value for value in values if not is_tracer(value))
    device, usual = _now.device or first_device(itertools.chain(concrete, asked)), jax.devices()[0]
    if device is None or device.device_kind == usual.device_kind:
        return None
    return device.platform, device.device_kind


def note_symbols(args: object, kwargs: object) -> None:
    """Notes which symbols stand for the arguments that are traced."""
    leaves = jax.tree.leaves((args, kwargs))
    if len(leaves) == len(_now.shardings) and any(_now.shardings):
        pairs = zip(map(symbol_of, leaves), _now.shardings, strict=True)
        _now.symbols |= {symbol: sharding for symbol, sharding in pairs if symbol is not None and sharding is not None}


def placed_now(values: Sequence[Any]) -> Placed:
    """Returns how some values lie, arrays or symbols, as far as that is known."""
    may_be = are_several()
    is_known = lambda value: isinstance(value, jax.ShapeDtypeStruct) or (may_be and not is_tracer(value))
    shardings = [placement_of(value) if is_known(value) else None for value in values]
    if not _now.symbols:
        return placed_by(shardings)
    known, symbols = _now.symbols, [symbol_of(value) for value in values]
    graph = types.SimpleNamespace(invars=list(known), constvars=(), eqns=eqns_behind(values, known), outvars=())
    placements = Placements(graph, placed_by(list(known.values())))  # pyright: ignore[reportArgumentType]
    found, concrete = placements.placed(symbols), placed_by(shardings)
    inputs = tuple(one or other for one, other in zip(found.inputs, concrete.inputs or found.inputs, strict=True))
    return dataclasses.replace(found, inputs=inputs) if any(inputs) else NOWHERE
