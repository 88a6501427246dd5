"""Minimum cuts on plain numbers; this module knows no graph of equations.

A *cut* separates a source from a sink; its *weight* is the sum of the capacities of the edges that lead out of the
source's side. Among the cuts of least weight, `min_cut` returns the one closest to the sink. See Ford and Fulkerson,
"Maximal flow through a network" (1956): a cut of least weight can be read off a maximum flow.

The solver, `scipy.sparse.csgraph.maximum_flow` (Dinic's algorithm), takes 32-bit capacities. Larger ones are solved in
phases, from coarse units to fine: each phase lets flow, in its unit, through what the phases before have left open.
What can still flow then is less than one unit for each edge, so that the last phase, whose unit is 1, ends exactly.
Capacities whose sum 64 bits do not hold are arrays of Python's integers, on which NumPy computes in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxaot._immutable import immutable

INFINITE = -1
"""The capacity of an edge that no cut may contain."""


class NoCut(ValueError):
    """There is no cut without an infinite edge, so that what the network stands for has no solution."""


_LIMIT = 2**30 - 1
"""The most that an edge takes in one phase, in its unit: scipy adds two of them up in 32 bits."""

_SUM_LIMIT = 2**61
"""Capacities whose sum is less are computed with in 64 bits."""


@immutable(eq=False)
class Cut:
    """A cut of least weight.

    Attributes:
      weight: The sum of the capacities of the edges that are cut, exactly.
      is_behind: For each node, whether it lies on the side of the sink, as an array of bools.
    """

    weight: int
    is_behind: np.ndarray


def min_cut(n_nodes: int, edges: Sequence[tuple[int, int, int]] | np.ndarray, source: int, sink: int) -> Cut:
    """Returns the cut of least weight that is closest to the sink.

    Args:
      n_nodes: The number of nodes, which are `range(n_nodes)`.
      edges: Triples (from, to, capacity), the capacity an integer of any size or `INFINITE`. Parallel edges add up.
      source: The node where flow starts.
      sink: The node where it ends.

    Raises:
      NoCut: If a path of infinite edges leads from the source to the sink.
    """
    triples = integers(edges).reshape(-1, 3)
    triples = triples[triples[:, 0] != triples[:, 1]]
    ends, given = triples[:, :2].astype(np.int64), triples[:, 2]
    # scipy would add parallel edges in 32 bits, where infinite plus infinite is negative
    keys, group = np.unique(ends[:, 0] * n_nodes + ends[:, 1], return_inverse=True)
    rows, columns = keys // n_nodes, keys % n_nodes
    is_infinite = np.zeros(len(keys), bool)
    is_infinite[group[given == INFINITE]] = True
    given = np.where(given == INFINITE, 0, given)
    if sum(given.tolist()) >= _SUM_LIMIT:
        given = given.astype(object)
    finite = np.zeros(len(keys), given.dtype)
    np.add.at(finite, group, given)
    finite[is_infinite] = 0
    if is_infinite.any() and sink in _reachable(n_nodes, rows[is_infinite], columns[is_infinite], source):
        raise NoCut("a path of infinite edges leads from the source to the sink")
    total, unit = int(finite.sum()), int(np.gcd.reduce(finite)) or 1
    capacities = np.where(is_infinite, total // unit + 1, finite // unit)  # more than any cut without infinite edges
    starts, ends, left = _left_open(n_nodes, rows, columns, capacities, source, sink)
    is_open = np.asarray(left > 0, bool)
    is_behind = np.zeros(n_nodes, bool)
    is_behind[_reachable(n_nodes, ends[is_open], starts[is_open], sink)] = True
    is_cut = ~is_behind[rows] & is_behind[columns]
    assert not is_infinite[is_cut].any(), "a cut of least weight contains an infinite edge"
    return Cut(int(finite[is_cut].sum()), is_behind)


def _left_open(
    n_nodes: int, rows: np.ndarray, columns: np.ndarray, capacities: np.ndarray, source: int, sink: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the residual network of a maximum flow: from, to, and what is left.

    What is left is the unused capacity forward, and the used one backward.
    """
    from scipy.sparse import csr_array  # SciPy's graphs take long to import
    from scipy.sparse.csgraph import maximum_flow

    forward, backward = rows * n_nodes + columns, columns * n_nodes + rows
    keys = np.unique(np.concatenate([forward, backward]))  # in the order of scipy's rows
    starts, ends = keys // n_nodes, keys % n_nodes
    pointers = np.searchsorted(starts, np.arange(n_nodes + 1))
    left = np.zeros(len(keys), capacities.dtype)
    left[np.searchsorted(keys, forward)] = capacities
    can_flow = min(_sum_at(rows, capacities, source), _sum_at(columns, capacities, sink))
    while can_flow:
        unit = -(-can_flow // _LIMIT)
        phase = np.minimum(left // unit, _LIMIT).astype(np.int32)
        network = csr_array((phase, ends.astype(np.int32), pointers.astype(np.int32)), shape=(n_nodes, n_nodes))
        flow = maximum_flow(network, source, sink).flow.tocoo()
        places = np.searchsorted(keys, flow.row.astype(np.int64) * n_nodes + flow.col)
        left[places] -= flow.data.astype(left.dtype) * unit  # scipy's flow is antisymmetric
        can_flow = 0 if unit == 1 else unit * len(keys)
    return starts, ends, left


def integers(values: object) -> np.ndarray:
    """Returns integers as an array: of 64 bits if these hold them all, else of Python's integers."""
    try:
        return np.asarray(values, np.int64)
    except OverflowError:
        return np.asarray(values, object)


def _sum_at(nodes: np.ndarray, capacities: np.ndarray, node: int) -> int:
    return sum(capacities[nodes == node].tolist())


def _reachable(n_nodes: int, rows: np.ndarray, columns: np.ndarray, start: int) -> np.ndarray:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    links = csr_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(n_nodes, n_nodes))
    return breadth_first_order(links, start, return_predecessors=False)
