"""Hooks on the gradients of several tensors at once: of those that a wrapper is made of.

Each of these has a place of its own on the tape. The engine keeps their nodes back until the gradients of all are there
that the backward computes, calls the hooks, and then runs the nodes.

    a ← mul ┐
            ├ y = TwoTensor(a, b): the hooks of `y` run before both `mul`s
    b ← mul ┘
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxaot.tape.hooks import Hooks
from jaxaot.tape.node import Edge, Node


class Together:
    """Hooks on the gradients of several tensors at once.

    Attributes:
      hooks: Called with all gradients as soon as they are there.
      accumulated: Of leaves: called once all have been added to.
      pack: Takes a list of gradients, None where there is none, to what hooks are shown. Its `form` tells it from
        others, and its `kept` are tensors that it shows besides.
      owner: What hooks in `accumulated` are called with.
    """

    __slots__ = ("_edges", "accumulated", "hooks", "owner", "pack")

    def __init__(self, edges: Sequence[Callable[[], Edge | None]], pack: Any, owner: Any):
        """Begins without hooks.

        Args:
          edges: For each gradient, what returns the edge where it arrives; None where none does any more.
          pack: Takes gradients to what hooks are shown.
          owner: The tensor of which they are, for hooks that look at leaves.
        """
        self._edges = edges
        self.pack = pack
        self.owner = owner
        self.hooks: Hooks = {}
        self.accumulated: Hooks = {}

    def __bool__(self) -> bool:
        return bool(self.hooks or self.accumulated)

    def edges(self) -> list[Edge | None]:
        """Returns where the gradients arrive."""
        return [find() for find in self._edges]


class Gathering:
    """What the engine holds of nodes whose gradients are looked at together, in one backward.

    Attributes:
      parked: Nodes that wait for others.
    """

    def __init__(self, waiting: dict[Node, int], runs: Callable[[Node], bool], call: Callable[..., Any]):
        """Begins with no node.

        Args:
          waiting: For each node, how many edges that lead to it have not been followed yet.
          runs: Returns whether gradients go to a node.
          call: Takes a `Together` and its gradients to those that its hooks let through.
        """
        self._waiting = waiting
        self._runs = runs
        self._call = call
        self._called: set[int] = set()
        self._left: dict[int, set[Node]] = {}
        self.parked: list[Node] = []

    def is_ready(self, node: Node, groups: Sequence[Together], buffers: dict[Node, list[Any]]) -> bool:
        """Returns whether a node may run: hooks have then been called, and what they return is in the buffers."""
        for group in groups:
            if id(group) in self._called or not group.hooks:
                continue
            edges = [None if e is None or not self._runs(e.node) else e for e in group.edges()]
            if any(edge is not None and self._waiting[edge.node] for edge in edges):
                self.parked.append(node)
                return False
            self._called.add(id(group))
            found = [None if e is None or e.node not in buffers else buffers[e.node][e.index] for e in edges]
            if all(gradient is None for gradient in found):
                continue
            for edge, gradient in zip(edges, self._call(group, found), strict=True):
                if edge is not None:
                    buffers.setdefault(edge.node, [None] * edge.node.n_outputs)[edge.index] = gradient
        return True

    def unparked(self) -> list[Node]:
        """Returns the nodes that wait, and forgets them."""
        nodes, self.parked = self.parked, []
        return nodes

    def accumulated(self, node: Node, groups: Sequence[Together]) -> None:
        """Calls the hooks that look at leaves, if that of a node is the last one that has been added to."""
        for group in groups:
            if not group.accumulated:
                continue
            if id(group) not in self._left:
                nodes = [edge.node for edge in group.edges() if edge is not None]
                self._left[id(group)] = {other for other in nodes if self._runs(other)}
            left = self._left[id(group)]
            left.discard(node)
            if not left:
                self._call(group, None)
