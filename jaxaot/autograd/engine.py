"""The engine: runs the tape backward.

Nodes are run in the order of falling sequence numbers once all cotangents that reach them have arrived; a node's
cotangents are added up as they come. No recursion, so chains may be any length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

from jaxaot.autograd.chain import Chain, straight_chain
from jaxaot.autograd.node import Edge, Node


def run_backward(
    roots: Sequence[tuple[Edge, Any]],
    add: Callable[[Any, Any], Any],
    *,
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[Edge] | None = None,
    call_hook: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    run_chain: Callable[[Chain, Any], Sequence[Any] | None] | None = None,
) -> dict[Edge, Any]:
    """Runs the tape from `roots` backward.

    Args:
      roots: Edges to start from, each with its cotangent.
      add: Adds two cotangents.
      keep_graph: Whether nodes keep what they saved.
      create_graph: Whether values are tensors and the pass itself is recorded.
      inputs: If given, gradients are only wanted at these edges; they are returned, and nothing is accumulated in
        leaves.
      call_hook: Calls a tensor hook with a cotangent and returns the cotangent to go on with.
      run_chain: If given, takes a straight chain of nodes and the cotangent of the first to the gradients of the edges
        that lead out of it, or to None if its nodes are to be run one by one.

    Returns:
      The gradients that arrived at `inputs`.
    """
    wanted = None if inputs is None else set(inputs)
    waiting = _dependencies(roots)
    needed = None if wanted is None else _nodes_that_lead_to(waiting, wanted)
    entered = None if wanted is None or needed is None else needed | {edge.node for edge in wanted}
    buffers: dict[Node, list[Any]] = {}
    found: dict[Edge, Any] = {}
    ready: list[tuple[int, Node]] = []
    inner = None if needed is None or entered is None else needed - {edge.node for edge in inputs or ()}
    n_apart = 0  # nodes to come of a chain that is run one by one

    def deliver(node: Node, index: int, cotangent: Any) -> None:
        buffer = buffers.get(node)
        if buffer is None:
            buffer = buffers[node] = [None] * node.n_outputs
        present = buffer[index]
        buffer[index] = cotangent if present is None else add(present, cotangent)

    for edge, cotangent in roots:
        deliver(edge.node, edge.index, cotangent)
    for node in {edge.node for edge, _ in roots}:
        if waiting[node] == 0:
            heappush(ready, (-node.sequence_number, node))
    while ready:
        node = heappop(ready)[1]
        cotangents = buffers.pop(node, None) or [None] * node.n_outputs
        if node.pre_hooks is not None and call_hook is not None:
            for index, hooks in node.pre_hooks.items():
                for hook in list(hooks.values()):
                    if cotangents[index] is not None:
                        cotangents[index] = call_hook(hook, cotangents[index])
        if node.retained is not None:
            for index, keep in node.retained.items():
                if cotangents[index] is not None:
                    keep(cotangents[index])
        if wanted is not None:
            for index, cotangent in enumerate(cotangents):
                if cotangent is not None and Edge(node, index) in wanted:
                    found[Edge(node, index)] = cotangent
        is_reached = cotangents[0] is not None or any(c is not None for c in cotangents)
        if is_reached and (needed is None or node in needed):
            edges, gradients = node.edges, None
            nodes: Sequence[Node] = (node,)
            if n_apart:
                n_apart -= 1
            elif run_chain is not None and (link := node.link) is not None:
                chain = straight_chain(node, link, waiting, buffers, ready, inner)
                n_apart = len(chain.positions)
                if n_apart:
                    gradients = run_chain(chain, cotangents[0])
                    if gradients is not None:
                        edges, nodes, n_apart = chain.outer_edges(), chain.nodes, 0
            if gradients is None:
                gradients = node.backward(cotangents, create_graph)
            if not keep_graph:
                for done in nodes:
                    done.release()
        else:
            edges, gradients = node.edges, [None] * len(node.edges)
        cotangents = cotangent = None
        for edge, gradient in zip(edges, gradients, strict=True):
            if edge is None:
                continue
            following, index = edge
            if entered is not None and following not in entered:
                continue
            count = waiting[following] = waiting[following] - 1
            if count:
                if gradient is not None:
                    deliver(following, index, gradient)
            elif gradient is None or following.n_outputs != 1 or following in buffers:
                if gradient is not None:
                    deliver(following, index, gradient)
                heappush(ready, (-following.sequence_number, following))
            elif following.is_sink and wanted is None:
                following.backward([gradient], create_graph)
            else:
                buffers[following] = [gradient]
                heappush(ready, (-following.sequence_number, following))
        gradients = gradient = None
    return found


def _dependencies(roots: Sequence[tuple[Edge, Any]]) -> dict[Node, int]:
    """Returns the nodes that the roots lead to, each with the number of edges that lead to it."""
    waiting = {edge.node: 0 for edge, _ in roots}
    stack = list(waiting)
    while stack:
        for edge in stack.pop().edges:
            if edge is not None:
                node = edge[0]
                if node in waiting:
                    waiting[node] += 1
                else:
                    waiting[node] = 1
                    stack.append(node)
    return waiting


def _nodes_that_lead_to(nodes: Iterable[Node], wanted: set[Edge]) -> set[Node]:
    """Returns the nodes whose backward is needed: those with a path to a wanted edge."""
    targets = {edge.node for edge in wanted}
    leads: set[Node] = set()
    # an edge's node always has a smaller sequence number, so this order sees it first
    for node in sorted(nodes, key=lambda n: n.sequence_number):
        if any(e is not None and (e.node in leads or e.node in targets) for e in node.edges):
            leads.add(node)
    return leads
