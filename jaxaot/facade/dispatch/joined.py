"""`cat` and `stack` of many tensors alike, eagerly: by programs of a few operands each.

A program of n operands takes time to trace and to compile that grows with n, and another n needs another program. So a
long list is joined in parts of `PART`, the parts are joined in turn, and the backward cuts the cotangent by parts. All
parts have one program. On the tape it is one node, as of a short list.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxaot._jax import is_tracer
from jaxaot._typing import Array, Shape
from jaxaot.facade.kernels.kernels import backward_name, result_layouts
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import INFERENCE, Tensor, wrap, wrap_array
from jaxaot.facade.nodes.nodes import materialize
from jaxaot.facade.nodes.vjps import CALLS
from jaxaot.lower.abstract import AbstractArray
from jaxaot.ops.dims import normalize_dim
from jaxaot.ops.promotion import is_inexact
from jaxaot.ops.table import OpSpec, op_of
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge, Node, OutputType
from jaxaot.views.layout import Layout

PART = 32
"""How many tensors a program joins."""

MANY = 2 * PART
"""Longer lists are joined in parts."""

JOINS = ("cat", "stack")
"""The rows that may be."""


class _Join(NamedTuple):
    """How tensors of one shape are joined.

    Attributes:
      axis: The dim of the result along which they lie.
      is_new: Whether that dim is a new one, as for `stack`.
      size: The shape of each.
    """

    axis: int
    is_new: bool
    size: Shape


def join_many(spec: OpSpec, tensors: Any, static: tuple[Any, ...]) -> Tensor | None:
    """Returns many tensors joined, recorded; None where they are few, or not alike, or have no values.

    Args:
      spec: The row of `cat` or `stack`.
      tensors: The list.
      static: The dim.
    """
    if not isinstance(tensors, (list, tuple)) or len(tensors) <= MANY:
        return None
    first = tensors[0]
    if type(first) is not Tensor or not first._layout.numel:
        return None
    size, dtype = first._layout.size, first._layout.dtype
    if any(type(x) is not Tensor or x._layout.size != size or x._layout.dtype != dtype for x in tensors):
        return None
    is_new = spec.name == "stack"
    if not (is_new or size):
        return None
    join = _Join(normalize_dim(static[0], len(size) + is_new), is_new, size)
    arrays = [materialize(x) for x in tensors]
    if any(is_tracer(array) or type(array) is AbstractArray for array in arrays):
        return None
    while len(arrays) > 1:
        arrays = [_join_part(arrays[i : i + PART], join.axis, is_new) for i in range(0, len(arrays), PART)]
        is_new = False
    (layout,) = result_layouts(spec, arrays, [x._layout for x in tensors], static)
    assert layout is not None, "it has one result"
    made = wrap(Storage(arrays[0], layout), layout)
    if state.infers:
        made._creation = INFERENCE
    if state.grad_enabled and is_inexact(dtype) and any(x.requires_grad for x in tensors):
        made._history = History(
            layout, 0, True, JoinNode(spec.name, [x._gradient_edge() for x in tensors], join, layout)
        )
    return made


@functools.partial(jax.jit, static_argnums=(1, 2))
def _join_part(arrays: Sequence[Array], axis: int, is_new: bool) -> Array:
    return jnp.stack(arrays, axis) if is_new else jnp.concatenate(arrays, axis)


def _cut(cotangent: Array, start: Any, join: _Join, n: int) -> list[Array]:
    """Returns the gradients of n tensors that were joined, from the one at place `start` on."""
    length = 1 if join.is_new else join.size[join.axis]
    pieces = jax.lax.dynamic_slice_in_dim(cotangent, start * length, n * length, join.axis)
    return [piece.reshape(join.size) for piece in jnp.split(pieces, n, join.axis)]


_cut_kernel = jax.jit(_cut, static_argnums=(2, 3))
_CUT = op_of(_cut, "join_backward(Tensor cotangent, Tensor start, *, Any join, Any n) -> Tensor[]")


class JoinNode(Node):
    """A join of many tensors."""

    __slots__ = ("_join", "_layout")

    def __init__(self, name: str, edges: Sequence[Edge | None], join: _Join, layout: Layout):
        super().__init__(backward_name(name), edges)
        self._join, self._layout = join, layout

    def output_type(self, index: int) -> OutputType | None:
        return OutputType(self._layout.size, self._layout.dtype)

    @property
    def cache_key(self) -> Any:
        return "join", self._join, len(self.edges)

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        (cotangent,) = cotangents
        if create_graph:
            cotangent = cotangent.to(self._layout.dtype)
        elif cotangent.dtype != self._layout.dtype:
            cotangent = cotangent.astype(self._layout.dtype)
        gradients: list[Any] = []
        for start in range(0, len(self.edges), PART):
            edges = self.edges[start : start + PART]
            if all(edge is None for edge in edges):
                gradients += [None] * len(edges)
            elif create_graph:
                gradients += CALLS[0](_CUT, (cotangent, wrap_array(jnp.asarray(start))), (self._join, len(edges)))
            else:
                cut = _cut if is_tracer(cotangent) else _cut_kernel
                gradients += cut(cotangent, start, self._join, len(edges))
        return gradients
