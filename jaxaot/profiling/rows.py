"""The rows of a graph: what each of its equations computes, moves and keeps.

A loop, a branch or a call is opened: the equations of its body are rows that count as often as they run, below a row of
the loop's own that computes nothing. So the FLOPs of the rows add up to those of the graph.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, assert_never

from jaxaot._jax import Literal, user_places
from jaxaot._typing import Eqn, Jaxpr
from jaxaot.ir.cost import eqn_bytes, eqn_flops, graph_flops
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewrite import called_jaxpr
from jaxaot.ir.roofline import Target, eqn_picoseconds
from jaxaot.ir.walk import aval_bytes, forward_index, is_backward, short_aval, user_scopes, variables
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal, FromRefill, is_saved
from jaxaot.plan.stages import Partition


class Row(NamedTuple):
    """One equation, as often as it runs.

    Attributes:
      side: `"forward"` or `"backward"`.
      op: The primitive, such as `"dot_general"`.
      module: The module that it belongs to, such as `"ViT/Block_0/Dense_1"`, or `""`.
      line: The user's line, such as `"model.py:12"`, or `""`.
      shape: The type of its results, such as `"f32[8,128]"`.
      n_times: How often it runs.
      flops: Floating-point operations, a multiply-add counted as two.
      bytes: What it reads and writes, as if nothing were fused.
      parameter_bytes: Bytes of the parameters that it is the first to read.
      saved_bytes: Bytes of its results that are kept for the backward.
      picoseconds: How long it takes on the target at best, by its roofline.
      is_recomputed: Whether the forward computes the same, and the backward does so again.
    """

    side: str
    op: str
    module: str
    line: str
    shape: str
    n_times: int
    flops: int
    bytes: int
    parameter_bytes: int
    saved_bytes: int
    picoseconds: int
    is_recomputed: bool

    @property
    def seconds(self) -> float:
        """How long it takes on the target at best, by its roofline."""
        return self.picoseconds / 1e12

    @property
    def intensity(self) -> float:
        """FLOPs for each byte moved."""
        return self.flops / self.bytes if self.bytes else 0.0


class Weights(NamedTuple):
    """What is known of equations besides what they compute, by their identity.

    Attributes:
      saved: Bytes of results that are kept for the backward.
      parameters: Bytes of parameters that are first read.
      repeated: Which of them compute again what the forward computes.
    """

    saved: Mapping[int, int]
    parameters: Mapping[int, int]
    repeated: frozenset[int] = frozenset()


def graph_rows(jaxpr: Jaxpr, side: str, target: Target, weights: Weights) -> list[list[Row]]:
    """Returns the rows of each equation of a graph."""
    priced = Prices(target)
    return [_rows_of(eqn, side, priced, weights) for eqn in jaxpr.eqns]


class Prices:
    """What equations cost, once for all that compute the same on the same types."""

    def __init__(self, target: Target):
        self._target = target
        self._known: dict[Any, tuple[int, int, int, str]] = {}

    def of(self, eqn: Eqn) -> tuple[int, int, int, str]:
        """Returns the FLOPs, the bytes, the picoseconds and the type of the results of an equation."""
        # which operands are the same variable matters, as one is read once
        first: dict[Any, int] = {}
        operands = tuple(
            (atom.aval, None if isinstance(atom, Literal) else first.setdefault(atom, len(first)))
            for atom in eqn.invars
        )
        key = eqn.primitive, operands, tuple(var.aval for var in eqn.outvars), tuple(eqn.params.values())
        try:
            found = self._known.get(key)
        except TypeError:  # a parameter has no hash
            return self._price(eqn)
        if found is None:
            found = self._known[key] = self._price(eqn)
        return found

    def _price(self, eqn: Eqn) -> tuple[int, int, int, str]:
        shape = ", ".join(short_aval(var.aval) for var in eqn.outvars)
        return eqn_flops(eqn), eqn_bytes(eqn), eqn_picoseconds(eqn, self._target), shape


def _rows_of(eqn: Eqn, side: str, priced: Prices, weights: Weights) -> list[Row]:
    saved, parameters = weights.saved.get(id(eqn), 0), weights.parameters.get(id(eqn), 0)
    is_recomputed = id(eqn) in weights.repeated
    module, line = module_of(eqn), line_of(eqn)
    bodies = bodies_of(eqn)
    if not bodies:
        flops, moved, picoseconds, shape = priced.of(eqn)
        return [
            Row(
                side, eqn.primitive.name, module, line, shape, 1, flops, moved, parameters, saved, picoseconds,
                is_recomputed,
            )
        ]  # fmt: skip
    shape = ", ".join(short_aval(var.aval) for var in eqn.outvars)
    rows = [Row(side, eqn.primitive.name, module, line, shape, 1, 0, 0, parameters, saved, 0, is_recomputed)]
    for body, n_times in bodies:
        for inner, n, path in _leaves(body, n_times, module):
            flops, moved, picoseconds, shape = priced.of(inner)
            rows.append(
                Row(
                    side, inner.primitive.name, path, line_of(inner) or line, shape, n, n * flops, n * moved, 0, 0,
                    n * picoseconds, is_recomputed,
                )
            )  # fmt: skip
    return rows


def bodies_of(eqn: Eqn) -> list[tuple[Jaxpr, int]]:
    """Returns the bodies that an equation runs, each with how often; none of one that is no loop, branch or call."""
    name, params = eqn.primitive.name, eqn.params
    if name == "scan":
        return [(params["jaxpr"], params["length"])]
    if name == "while":
        return [(params["cond_jaxpr"], 1), (params["body_jaxpr"], 1)]
    if name == "cond":
        return [(max(params["branches"], key=graph_flops), 1)]
    body = called_jaxpr(eqn, also_custom=True)
    if body is None and "jaxpr" in params and (kind(eqn) is Kind.CONTROL or name in ("jit", "pjit")):
        body = params["jaxpr"]
    return [] if body is None else [(body, 1)]


def _leaves(body: Jaxpr, n_times: int, module: str) -> Iterator[tuple[Eqn, int, str]]:
    """Yields the equations of a body that have none of their own, with how often they run and their module."""
    for eqn in body.eqns:
        inner = bodies_of(eqn)
        path = "/".join(filter(None, (module, module_of(eqn))))
        if not inner:
            yield eqn, n_times, path
        for nested, n in inner:
            yield from _leaves(nested, n_times * n, path)


# -- what is saved, read first, and done again -------------------------------------------------------------------------


def partition_weights(partition: Partition, parameters: Sequence[int]) -> Weights:
    """Returns what is known of the equations of a partition."""
    forward, backward = partition.forward.jaxpr, partition.backward.jaxpr
    saved: dict[int, int] = {}
    makers = {var: eqn for eqn in forward.eqns for var in eqn.outvars}
    values = zip(filter(is_saved, partition.plan.residuals), partition.plan.saved, strict=True)
    for source, value in values:
        match source:
            case FromForward(index):
                var = forward.outvars[partition.joint.n_outputs + index]
            case FromOutput(index):
                var = forward.outvars[index]
            case FromPrimal() | FromRefill():
                continue
            case _:
                assert_never(source)
        eqn = None if isinstance(var, Literal) else makers.get(var)
        if eqn is not None and not value.is_offloaded:
            saved[id(eqn)] = saved.get(id(eqn), 0) + value.bytes
    done = {(forward_index(eqn), eqn.primitive) for eqn in forward.eqns}
    repeated = frozenset(
        id(eqn)
        for eqn in backward.eqns
        if not is_backward(eqn) and (forward_index(eqn), eqn.primitive) in done and forward_index(eqn) is not None
    )
    return Weights(saved, first_reads(forward, parameters), repeated)


def first_reads(jaxpr: Jaxpr, parameters: Sequence[int]) -> dict[int, int]:
    """Returns for equations, by identity, the bytes of the parameters that they are the first to compute with.

    Views and casts of a parameter are read with it; where nothing else reads it, they are its readers.
    """
    shows = {jaxpr.invars[i]: frozenset([i]) for i in parameters}
    size = {i: aval_bytes(jaxpr.invars[i].aval) for i in parameters}
    found: dict[int, int] = {}
    viewed: dict[int, int] = {}
    for eqn in jaxpr.eqns:
        read = frozenset().union(*(shows.get(var, frozenset()) for var in variables(eqn.invars))) if shows else ()
        if not read:
            continue
        if kind(eqn) <= Kind.CAST:
            for var in eqn.outvars:
                shows[var] = read
            viewed.update(dict.fromkeys(read, id(eqn)))
            continue
        for i in read:
            if i in size:
                found[id(eqn)] = found.get(id(eqn), 0) + size.pop(i)
    for i, number in viewed.items():
        if i in size:
            found[number] = found.get(number, 0) + size.pop(i)
    return found


def module_of(eqn: Eqn) -> str:
    """Returns the module that an equation belongs to; what `einsum` calls itself is no module."""
    scopes = user_scopes(eqn)
    return "/".join(part for part in scopes.split("/") if "->" not in part) if "->" in scopes else scopes


# -- where equations were written --------------------------------------------------------------------------------------

_LIBRARY = re.compile(r"[/\\](site|dist)-packages[/\\]")
_lines: dict[Any, str] = {}


def line_of(eqn: Eqn) -> str:
    """Returns the innermost line outside of libraries that an equation comes from, or one inside, or `""`."""
    traceback = eqn.source_info.traceback
    if traceback is None:
        return ""
    return _line_of(traceback, eqn)


def _line_of(traceback: Any, eqn: Eqn) -> str:
    known = _lines.get(traceback)
    if known is None:
        if len(_lines) >= 20_000:
            _lines.clear()
        known = _lines[traceback] = _find_line(eqn)
    return known


def _find_line(eqn: Eqn) -> str:
    innermost = ""
    for file, line in user_places(eqn):
        place = f"{os.path.basename(file)}:{line}"
        if not is_of_library(file):
            return place
        innermost = innermost or place
    return innermost


@functools.lru_cache(4096)
def is_of_library(file: str) -> bool:
    """Returns whether a file belongs to an installed library or to Python."""
    return _LIBRARY.search(file) is not None or file.startswith("<frozen")
