"""Minimum cuts on plain numbers; this module knows no graph of equations.

A *cut* separates a source from a sink; its *weight* is the sum of the capacities of the edges that lead out of the
source's side. Among the cuts of least weight, `min_cut` returns the one closest to the sink. See Ford and Fulkerson,
"Maximal flow through a network" (1956): a cut of least weight can be read off a maximum flow.

The solver, `scipy.sparse.csgraph.maximum_flow` (Dinic's algorithm), takes 32-bit capacities. Larger ones are solved in
phases, from coarse units to fine: each phase lets flow, in its unit, through what the phases before have left open.
What can still flow then is less than one unit for each edge, so that the last phase, whose unit is 1, ends exactly.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

INFINITE = -1
"""The capacity of an edge that no cut may contain."""


class NoCut(ValueError):
    """There is no cut without an infinite edge, so that what the network stands for has no solution."""


_LIMIT = 2**30 - 1
"""The most that an edge takes in one phase, in its unit: scipy adds two of them up in 32 bits."""


@dataclasses.dataclass(frozen=True, eq=False)
class Cut:
    """A cut of least weight.

    Attributes:
      weight: The sum of the capacities of the edges that are cut, exactly.
      is_behind: For each node, whether it lies on the side of the sink, as an array of bools.
    """

    weight: int
    is_behind: np.ndarray

    @cached_property
    def sink_side(self) -> tuple[bool, ...]:
        """For each node, whether it lies on the side of the sink."""
        return tuple(self.is_behind.tolist())


def min_cut(n_nodes: int, edges: Sequence[tuple[int, int, int]] | np.ndarray, source: int, sink: int) -> Cut:
    """Returns the cut of least weight that is closest to the sink.

    Args:
      n_nodes: The number of nodes, which are `range(n_nodes)`.
      edges: Triples (from, to, capacity), the capacity an integer or `INFINITE`. Parallel edges add up. The sum of the
        finite capacities must be below 2**62.
      source: The node where flow starts.
      sink: The node where it ends.

    Raises:
      NoCut: If a path of infinite edges leads from the source to the sink.
    """
    triples = np.asarray(edges, np.int64).reshape(-1, 3)
    triples = triples[triples[:, 0] != triples[:, 1]]
    # scipy would add parallel edges in 32 bits, where infinite plus infinite is negative
    keys, group = np.unique(triples[:, 0] * n_nodes + triples[:, 1], return_inverse=True)
    rows, columns = keys // n_nodes, keys % n_nodes
    is_infinite = np.zeros(len(keys), bool)
    is_infinite[group[triples[:, 2] == INFINITE]] = True
    finite = np.zeros(len(keys), np.int64)
    np.add.at(finite, group, np.where(triples[:, 2] == INFINITE, 0, triples[:, 2]))
    finite[is_infinite] = 0
    if is_infinite.any() and sink in _reachable(n_nodes, rows[is_infinite], columns[is_infinite], source):
        raise NoCut("a path of infinite edges leads from the source to the sink")
    total, unit = int(finite.sum()), int(np.gcd.reduce(finite)) or 1
    capacities = np.where(is_infinite, total // unit + 1, finite // unit)  # more than any cut without infinite edges
    left = _left_open(n_nodes, rows, columns, capacities, source, sink).tocoo()
    is_open = left.data > 0
    is_behind = np.zeros(n_nodes, bool)
    is_behind[_reachable(n_nodes, left.col[is_open], left.row[is_open], sink)] = True
    is_cut = ~is_behind[rows] & is_behind[columns]
    assert not is_infinite[is_cut].any(), "a cut of least weight contains an infinite edge"
    return Cut(int(finite[is_cut].sum()), is_behind)


def _left_open(n_nodes: int, rows: Any, columns: Any, capacities: Any, source: int, sink: int) -> csr_array:
    """Returns the residual network of a maximum flow: forward the unused capacity, backward the used one."""
    from scipy.sparse import csr_array  # SciPy's graphs take long to import
    from scipy.sparse.csgraph import maximum_flow

    left = csr_array((capacities, (rows, columns)), shape=(n_nodes, n_nodes))
    can_flow = min(_sum_at(rows, capacities, source), _sum_at(columns, capacities, sink))
    while can_flow:
        unit = -(-can_flow // _LIMIT)
        phase = csr_array(
            (np.minimum(left.data // unit, _LIMIT).astype(np.int32), left.indices, left.indptr),
            shape=left.shape,
        )
        flow = maximum_flow(phase, source, sink).flow
        left = left - flow.astype(np.int64) * unit  # scipy's flow is antisymmetric
        can_flow = 0 if unit == 1 else unit * left.nnz
    return left


def _sum_at(nodes: np.ndarray, capacities: np.ndarray, node: int) -> int:
    return int(np.minimum(capacities[nodes == node].astype(object).sum(), 2**62)) if (nodes == node).any() else 0


def _reachable(n_nodes: int, rows: np.ndarray, columns: np.ndarray, start: int) -> np.ndarray:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    links = csr_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(n_nodes, n_nodes))
    return breadth_first_order(links, start, return_predecessors=False)
