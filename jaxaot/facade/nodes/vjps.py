"""Backward as operations on tensors, which are recorded in turn: what `create_graph=True` runs.

What a node saved are arrays. Here each becomes a tensor that *stands* where the array came from: gradients of it go
along an edge of the tape. The gradients of the node are then an op on such tensors and the cotangents, like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot._jax import is_tracer
from jaxaot._typing import DTypeLike
from jaxaot.facade.kernels.view_gradients import pull_view, split_write
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.lower.abstract import as_array
from jaxaot.ops.promotion import is_inexact
from jaxaot.ops.table import OpSpec, op_of
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge, Node
from jaxaot.views.chain import ViewChain, chain_starts, chain_template
from jaxaot.views.layout import Layout
from jaxaot.views.window import find_window

CALLS: list[Callable[..., Any]] = []
"""What runs an op: `dispatch.py`, which makes nodes and so lies above, puts its `call` here."""


def standing(value: object, edge: Edge | None, layout: Layout | None = None) -> Any:
    """Returns a saved value as a tensor whose gradients go along an edge; a number as it is.

    Args:
      value: An array, a number or None.
      edge: Where its gradients go; None if it is a constant.
      layout: How it is laid out, by default in row-major order.
    """
    if value is None or not hasattr(value, "dtype"):
        return value
    tensor = wrap_array(as_array(value), layout)
    storage = tensor._storage
    storage.is_shared = True
    if edge is not None and is_inexact(tensor.dtype):
        history = tensor._history = History(tensor._layout, 0, True, edge.node, edge.index, state.trace)
        if state.trace is not None:
            history.ghost = storage.array
            storage.writer = history
    return tensor


def pull_by(row: OpSpec, held: Sequence[Any], edges: Sequence[Edge | None], cotangents: Sequence[Any]) -> Sequence[Any]:
    """Returns what a row makes of saved values, which stand where `edges` lead, and of cotangents: gradients."""
    return CALLS[0](row, ([*map(standing, held, edges)], list(cotangents)), ())


_VIEW = op_of(
    lambda cotangent, starts, chain, size, dtype: pull_view(chain, size, dtype, cotangent, starts),
    "view_backward(Tensor cotangent, Tensor? starts, *, Any chain, Any size, Any dtype) -> Tensor",
)
_WRITE = op_of(
    lambda cotangent, starts, chain: split_write(chain, cotangent, starts),
    "write_backward(Tensor cotangent, Tensor? starts, *, Any chain) -> (Tensor, Tensor)",
)


def _template_and_starts(chain: ViewChain, cotangent: Tensor) -> tuple[ViewChain, Tensor | None]:
    """Returns a chain as what kernels are compiled for, and its starts; in a graph they are part of it."""
    if is_tracer(cotangent._storage.array):
        return chain, None
    return chain_template(chain), wrap_array(jnp.asarray(chain_starts(chain)))


def pull_view_by(chain: ViewChain, size: tuple[int, ...], dtype: DTypeLike | None, cotangent: Tensor) -> Tensor:
    """Returns the gradient of a view's parent as a tensor."""
    template, starts = _template_and_starts(chain, cotangent)
    return CALLS[0](_VIEW, (cotangent, starts), (template, size, dtype))


def split_write_by(chain: ViewChain, cotangent: Tensor) -> Sequence[Tensor]:
    """Returns the gradients of the value before a write through a view, and of what was written, as tensors."""
    template, starts = _template_and_starts(chain, cotangent)
    return CALLS[0](_WRITE, (cotangent, starts), (template,))


Base = tuple[Layout, Layout, int] | None
"""Where the base of a history lies in its storage: the layouts of both, and the offset; None if it is all of it."""

_CUT = op_of(
    lambda gradient, starts, window: window.apply(gradient, starts),
    "cut(Tensor gradient, Tensor starts, *, Any window) -> Tensor",
)


def cut_by(gradient: Tensor, base: Base) -> Tensor:
    """Returns the gradient of a base, cut out of that of its storage, as a tensor."""
    if base is None:
        return gradient
    window, starts = find_window(*base)
    return CALLS[0](_CUT, (gradient, wrap_array(jnp.asarray(starts))), (window,))


class BaseNode(Node):
    """Takes gradients of a storage on to a base that shows a part of it."""

    __slots__ = ("base",)

    def __init__(self, edge: Edge, base: Base):
        super().__init__("BaseBackward", (edge,))
        self.base = base

    @property
    def cache_key(self) -> Any:
        return ("base", self.base)

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        (gradient,) = cotangents
        if create_graph:
            return (cut_by(gradient, self.base),)
        return (cut_by(standing(gradient, None), self.base)._read(),)


def storage_edge(edge: Edge | None, base: Base) -> Edge | None:
    """Returns where gradients of a storage's value go, if those of the base on it go along an edge."""
    return edge if edge is None or base is None else Edge(BaseNode(edge, base), 0)
