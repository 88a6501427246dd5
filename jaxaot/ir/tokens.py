"""What a graph computes, as numbers that compare: two graphs have the same tokens if they compute the same.

Each value is numbered by what computes it: the primitive, its parameters, and the numbers of its operands. So neither
the order of the equations counts nor how often one is written down. Equations with effects are compared in their order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._typing import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal
from jaxaot.ir.rewrite import inline

_FOLDED = {"convert_element_type", "add", "sub", "mul", "div", "neg", "max", "min", "copy", "lt", "select_n"}
"""What is computed here of numbers alone."""
_IRRELEVANT = {"weak_type", "name", "sharding", "out_sharding", "metadata"}
"""Parameters that say nothing of values."""


class Tokens:
    """Numbers the values of graphs that are compared with one another."""

    def __init__(self) -> None:
        self._nodes: dict[Any, int] = {}
        self._known: list[Any] = []

    def of(self, closed: ClosedJaxpr, numbers: Mapping[int, tuple[Any, Any]] | None = None) -> tuple[Any, ...]:
        """Returns the numbers of what a graph computes.

        Args:
          closed: The graph.
          numbers: Position of an input → the number that it is, and its dtype; the others are told apart by the order
            in which they stand.
        """
        closed = inline(closed, also_custom=False)
        return self._graph(closed.jaxpr, closed.consts, numbers or {})

    def _graph(self, jaxpr: Jaxpr, consts: Sequence[Any], numbers: Mapping[int, tuple[Any, Any]]) -> tuple[Any, ...]:
        found: dict[Any, int] = {}
        for var, const in zip(jaxpr.constvars, consts, strict=False):
            array = np.asarray(jax.random.key_data(const) if _is_key(const) else const)
            found[var] = self._number(array) if array.ndim == 0 else self._node("array", *_shown(array))
        n_inputs = 0
        for i, var in enumerate(jaxpr.invars):
            if i in numbers:
                found[var] = self._number(np.asarray(*numbers[i]))
            else:
                found[var] = self._node("input", n_inputs)
                n_inputs += 1
        read: Callable[[Any], int] = lambda atom: self._atom(atom, found)
        effects = []
        for eqn in jaxpr.eqns:
            operands = tuple(map(read, eqn.invars))
            results = self._equation(eqn, operands)
            found.update(zip(eqn.outvars, results, strict=True))
            if eqn.effects:
                effects.append((eqn.primitive.name, operands, self._params(eqn)))
        return (*map(read, jaxpr.outvars), *effects)

    def _node(self, *content: Any) -> int:
        if content not in self._nodes:
            self._nodes[content] = len(self._known)
            self._known.append(content)
        return self._nodes[content]

    def _number(self, array: np.ndarray) -> int:
        return self._node("number", *_shown(array))

    def _atom(self, atom: Atom, found: Mapping[Any, int]) -> int:
        if isinstance(atom, Literal):
            return self._number(np.asarray(atom.val, atom.aval.dtype))
        return found[atom]

    def _equation(self, eqn: Eqn, operands: tuple[int, ...]) -> list[int]:
        name = eqn.primitive.name
        numbers = [self._known[i] for i in operands]
        if name == "squeeze" or (name == "reshape" and eqn.params.get("dimensions") is None):
            return [self._reshape(operands[0], eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape)]
        if name in _FOLDED and all(known[0] == "number" for known in numbers):
            with jax.ensure_compile_time_eval():
                value = np.asarray(eqn.primitive.bind(*(_array(known) for known in numbers), **eqn.params))
            return [self._number(value)]
        if name in ("slice", "dynamic_slice", "dynamic_update_slice"):
            window = self._window(eqn, operands, numbers)
            if window is not None:
                return [window]
        params, types = self._params(eqn), tuple(_type(v.aval) for v in eqn.outvars)
        return [self._node(name, operands, params, types, i) for i in range(len(types))]

    def _source(self, operand: int, shape: Sequence[int]) -> tuple[int, tuple[int, ...]]:
        """Returns what is behind a reshape, and its shape."""
        known = self._known[operand]
        return known[1:3] if known[0] == "reshape" else (operand, tuple(shape))

    def _reshape(self, operand: int, shape: Sequence[int], new: Sequence[int]) -> int:
        """Returns one reshape in the place of several."""
        source, shape = self._source(operand, shape)
        return source if shape == tuple(new) else self._node("reshape", source, shape, tuple(new))

    def _window(self, eqn: Eqn, operands: Sequence[int], numbers: Sequence[Any]) -> int | None:
        """Returns a window whose place is known, one without gaps as the elements that it is; else None.

        So a window of a reshaped array is one of the array, and one whose place is an operand is as a slice is.
        """
        name, shape, new = eqn.primitive.name, eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
        if name == "slice":
            starts, sizes = eqn.params["start_indices"], new
            if any(step != 1 for step in eqn.params["strides"] or ()):
                return None
        else:
            places = numbers[1:] if name == "dynamic_slice" else numbers[2:]
            if not all(known[0] == "number" for known in places):
                return None
            starts = tuple(int(_array(known)) for known in places)
            sizes = new if name == "dynamic_slice" else eqn.invars[1].aval.shape
        first = next((dim for dim, n in enumerate(sizes) if n != 1), len(sizes))
        if any(n != m for n, m in zip(sizes[first + 1 :], shape[first + 1 :], strict=True)):
            return None if name == "dynamic_update_slice" else self._node("window", operands[0], shape, starts, new)
        start = sum(at * math.prod(shape[dim + 1 :]) for dim, at in enumerate(starts))
        source, of_source = self._source(operands[0], shape)
        if name == "dynamic_update_slice":
            update, _ = self._source(operands[1], sizes)
            return self._reshape(self._node("put", source, start, update), of_source, new)
        n = math.prod(sizes)
        if n == math.prod(shape):
            return self._reshape(source, of_source, new)
        return self._reshape(self._node("take", source, start, n), (n,), new)

    def _params(self, eqn: Eqn) -> tuple[Any, ...]:
        return tuple((k, self._param(v)) for k, v in sorted(eqn.params.items()) if k not in _IRRELEVANT)

    def _param(self, value: object) -> Any:
        if isinstance(value, (Jaxpr, ClosedJaxpr)):
            inner, consts = (value.jaxpr, value.consts) if isinstance(value, ClosedJaxpr) else (value, ())
            return ("graph", *self._graph(inner, consts, {}))
        if isinstance(value, (tuple, list)):
            return tuple(map(self._param, value))
        return value if isinstance(value, (int, float, str, bool, type(None), np.dtype)) else str(value)


def _shown(array: np.ndarray) -> tuple[Any, ...]:
    return str(array.dtype), array.shape, array.tobytes()


def _array(known: Sequence[Any]) -> np.ndarray:
    _, dtype, shape, data = known
    return np.frombuffer(data, dtype).reshape(shape)


def _type(aval: object) -> Any:
    return (aval.shape, str(aval.dtype)) if hasattr(aval, "shape") else str(aval)


def _is_key(value: object) -> bool:
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)
