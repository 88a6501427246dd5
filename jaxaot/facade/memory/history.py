"""Histories: where the gradient of a tensor, and of all its differentiable views, goes.

A base tensor and the views of it that gradients flow through share one *history*: the node that produced the base's
present value. A recorded write through any of them moves it on; `.detach()` starts another history on the same storage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxaot._util import set_together
from jaxaot.tape.hooks import carry_retained
from jaxaot.tape.node import Node
from jaxaot.views.layout import Layout


class History:
    """The gradient side of a base tensor and its views.

    Attributes:
      requires_grad: Whether gradients flow at all.
      node: What produced the base's present value; None for a leaf.
      index: Which output of `node`.
      accumulator: Of a leaf: weak reference to the node that adds to `.grad`.
      layout: Of the base when the history began; chains of views start from it.
      offset: Where the base began.
      leaf: Of a leaf: weak reference to the tensor whose `.grad` is added to.
      ghost: In a trace: the symbol, of the storage's shape, that carries the gradients.
      trace: The trace that adopted or made it.
    """

    __slots__ = ("accumulator", "ghost", "index", "layout", "leaf", "node", "offset", "requires_grad", "trace")

    def __init__(
        self,
        layout: Layout,
        offset: int = 0,
        requires_grad: bool = False,
        node: Node | None = None,
        index: int = 0,
        trace: Any = None,
    ):
        self.layout = layout
        self.offset = offset
        self.leaf: Any = None
        self.requires_grad = requires_grad
        self.node = node
        self.index = index
        self.accumulator: Any = None
        self.ghost: Any = None
        self.trace = trace

    def move_on(self, node: Node, index: int) -> None:
        """Notes that an output of `node` is the base's present value; `retain_grad` follows it there."""
        before, place = self.node, self.index
        set_together(self.moves(node, index))
        self.carry_hooks(before, place)

    def moves(self, node: Node, index: int) -> Sequence[tuple[Any, str, Any]]:
        """Returns the state that `move_on` changes, without hooks."""
        fields = {"node": node, "index": index, "requires_grad": True, "accumulator": None}
        return [(self, name, value) for name, value in fields.items()]

    def carry_hooks(self, before: Node | None, index: int) -> None:
        """Has what `retain_grad` registered on the output of a node before follow the history."""
        if before is not None and before.hooks is not None and self.node is not None:
            trace = self.trace
            is_borrowed = trace is not None and id(self) in trace.histories  # a trace puts it back
            carry_retained(before, index, self.node, self.index, not is_borrowed)

    def snapshot(self) -> dict[str, Any]:
        """Returns the fields, for `restore`."""
        return {name: getattr(self, name) for name in self.__slots__}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Puts the fields back."""
        for name, value in snapshot.items():
            setattr(self, name, value)
