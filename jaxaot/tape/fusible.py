"""Fusible nodes of the tape: nodes that run one directly after the other, with nothing to see in between.

A sequence begins at a node that is about to run. It goes on to the node that would run next, if the first gives that
its only cotangent and nobody looks at it: no hook, no `retain_grad`, no input whose gradient is asked for. What such
nodes compute can then be computed at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from jaxaot.tape.node import Edge, Node

LONGEST = 16
"""The most nodes of a sequence."""


class FusibleNodes(NamedTuple):
    """Nodes, their links, and for all but the last the position of the edge that leads to the next one."""

    nodes: list[Node]
    links: list[Any]
    positions: list[int]

    def outer_edges(self) -> list[Edge | None]:
        """Returns the edges that lead out of the sequence, in the order of its nodes."""
        edges: list[Edge | None] = []
        for node, position in zip(self.nodes, self.positions, strict=False):
            leading = node.edges
            if len(leading) > 1:
                edges += leading[:position]
                edges += leading[position + 1 :]
        edges += self.nodes[-1].edges
        return edges


def fusible_nodes(
    first: Node,
    link: Any,
    waiting: Mapping[Node, int],
    reached: Collection[Node],
    ready: Sequence[tuple[int, Node]],
    inner: Collection[Node] | None,
) -> FusibleNodes:
    """Returns the longest sequence that begins at a node.

    Args:
      first: The node that runs now; its cotangent has arrived.
      link: Its link.
      waiting: For each node, how many edges that lead to it have not been followed yet.
      reached: The nodes that a cotangent has arrived at already.
      ready: The heap of the other nodes that could run, by their negative numbers.
      inner: If given, the nodes that a sequence may go on to.
    """
    node, nodes, links, positions = first, [first], [link], []
    latest = -ready[0][0] if ready else 0
    while len(nodes) < LONGEST:
        following, at, number = None, 0, -1
        for position, edge in enumerate(node.edges):
            if edge is None:
                continue
            target = edge[0]
            if target.is_sink:
                if target.is_watched:
                    return FusibleNodes(nodes, links, positions)
                continue
            other = target.sequence_number
            if other > number:
                following, at, other, number = target, position, number, other
            if other > latest:
                latest = other
        if (
            following is None
            or number <= latest
            or waiting[following] != 1
            or following in reached
            or following.hooks is not None
            or (inner is not None and following not in inner)
        ):
            break
        link = following.link
        if link is None:
            break
        node = following
        nodes.append(node)
        links.append(link)
        positions.append(at)
    return FusibleNodes(nodes, links, positions)
