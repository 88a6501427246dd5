"""Minimum cuts on plain numbers; this module knows no graph of equations.

A *cut* separates a source from a sink; its *weight* is the sum of the capacities of the edges that lead out of the
source's side. Among the cuts of least weight, `min_cut` returns the one closest to the sink. See Ford and Fulkerson,
"Maximal flow through a network" (1956): a cut of least weight can be read off a maximum flow.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

INFINITE = -1
"""The capacity of an edge that no cut may contain."""

_INT32_MAX = 2**31 - 1
_SCALED_MAX = 2**30


@dataclasses.dataclass(frozen=True)
class Cut:
    """A cut of least weight.

    Attributes:
      weight: The sum of the capacities of the edges that are cut, exactly.
      sink_side: For each node, whether it lies on the side of the sink.
    """

    weight: int
    sink_side: tuple[bool, ...]


def min_cut(n_nodes: int, edges: Sequence[tuple[int, int, int]], source: int, sink: int) -> Cut:
    """Returns the cut of least weight that is closest to the sink.

    The solver works on 32-bit capacities. Larger ones are scaled down, rounding up, to a sum of at most 2**30, so that
    the cut found may then be heavier than the best by that rounding, 1e-9 of the total for each edge.

    Args:
      n_nodes: The number of nodes, which are `range(n_nodes)`.
      edges: Triples (from, to, capacity), the capacity an integer or `INFINITE`. Parallel edges add up.
      source: The node where flow starts.
      sink: The node where it ends.

    Raises:
      ValueError: If a path of infinite edges leads from the source to the sink.
    """
    if not edges:
        return Cut(0, tuple(node == sink for node in range(n_nodes)))
    # Dedupe: scipy would add parallel edges in 32 bits, where infinite plus infinite is negative.
    merged: dict[tuple[int, int], int] = {}
    for u, v, capacity in edges:
        if u == v:
            continue
        before = merged.get((u, v), 0)
        merged[u, v] = INFINITE if INFINITE in (before, capacity) else before + capacity
    total = sum(capacity for capacity in merged.values() if capacity != INFINITE)
    unit = max(1, -(-total // _SCALED_MAX))
    rows = np.fromiter((u for u, _ in merged), np.int32, len(merged))
    columns = np.fromiter((v for _, v in merged), np.int32, len(merged))
    infinite = np.fromiter((c == INFINITE for c in merged.values()), bool, len(merged))
    if infinite.any() and sink in _reachable(n_nodes, rows[infinite], columns[infinite], source):
        raise ValueError("a path of infinite edges leads from the source to the sink")
    scaled = [_INT32_MAX if c == INFINITE else -(-c // unit) for c in merged.values()]
    capacities = csr_array((np.array(scaled, np.int32), (rows, columns)), shape=(n_nodes, n_nodes))
    flow = maximum_flow(capacities, source, sink).flow
    # What is left: forward where capacity exceeds flow, backward where there is flow (scipy's flow is antisymmetric).
    left = (capacities.astype(np.int64) - flow.astype(np.int64)).tocoo()
    open_ = left.data > 0
    behind = set(_reachable(n_nodes, left.col[open_], left.row[open_], sink))
    side = tuple(node in behind for node in range(n_nodes))
    weight = 0
    for (u, v), capacity in merged.items():
        if not side[u] and side[v]:
            assert capacity != INFINITE, "a cut of least weight contains an infinite edge"
            weight += capacity
    return Cut(weight, side)


def _reachable(n_nodes: int, rows: np.ndarray, columns: np.ndarray, start: int) -> list[int]:
    links = csr_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(n_nodes, n_nodes))
    return breadth_first_order(links, start, return_predecessors=False).tolist()
