"""A problem of what to save, as a flow network.

Each step is a node, each value another behind that of its step, joined to it by an edge that weighs what keeping the
value costs. An edge without limit leads from each operand to the steps that read it, and from what is needed to the
sink; from the source an edge leads to each step that weighs what repeating it costs. A value whose edge is cut is kept;
what lies behind the cut is computed again from it. The construction is that of the min-cut rematerialization in
functorch's partitioner, with exact bytes for weights and the time of a repetition besides.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from jaxaot._immutable import immutable
from jaxaot.partition.problem import FORBIDDEN, Problem, Solution
from jaxaot.partition.solve import INFINITE, integers, min_cut

_SOURCE, _SINK = 0, 1
_RESOLUTION = 2**44
"""What weights that are not whole numbers are scaled to, in all."""


@immutable(eq=False)
class Network:
    """The network of a problem; step `i` is node `2 + i`, and the nodes of values come after the steps."""

    problem: Problem

    @cached_property
    def n_nodes(self) -> int:
        """How many nodes there are: a value has one for being made, and one for being available."""
        return 2 + len(self.problem.costs) + 2 * len(self.problem.weights)

    @cached_property
    def _made(self) -> np.ndarray:
        return 2 + len(self.problem.costs) + np.arange(len(self.problem.weights))

    @cached_property
    def _available(self) -> np.ndarray:
        return self._made + len(self.problem.weights)

    @cached_property
    def _links(self) -> np.ndarray:
        """The edges without limit that are there at any price, as triples."""
        problem = self.problem
        counts = [len(operands) for operands in problem.operands]
        read = np.fromiter((value for operands in problem.operands for value in operands), np.int64, sum(counts))
        steps = 2 + np.repeat(np.arange(len(counts)), counts)
        needed = np.array(problem.needed, np.int64)
        links = [
            # whoever repeats a step repeats or keeps all that it reads
            (self._available[read], steps),
            (2 + np.array(problem.producer, np.int64), self._made),
            (self._available[needed], np.full(len(needed), _SINK)),
        ]
        ends = np.concatenate([np.stack(pair, axis=1) for pair in links]).astype(np.int64)
        return np.column_stack([ends, np.full(len(ends), INFINITE)])

    @cached_property
    def _weights(self) -> np.ndarray:
        return integers(self.problem.weights)

    @cached_property
    def _costs(self) -> np.ndarray:
        return integers(self.problem.costs)

    def least_bytes(self, *, only_free: bool = False) -> Solution:
        """Returns the solution of fewest bytes, and among those the one that repeats the fewest steps.

        Args:
          only_free: Whether only steps that cost nothing may be repeated.

        Raises:
          NoCut: If something needed may neither be saved nor computed again.
        """
        is_fixed = np.asarray(self._costs == FORBIDDEN, bool)
        if only_free:
            # what may be repeated at no cost is views and casts: the fastest cut saves their sources
            is_fixed |= np.asarray(self._costs > 0, bool)
        return self._solve(np.where(is_fixed, INFINITE, 0), self._weights)[0]

    def at_price(self, price: float) -> tuple[Solution, float]:
        """Returns the solution of least `cost + price * weight`, and a lower bound of that for every solution.

        Args:
          price: Picoseconds for each byte.

        Raises:
          NoCut: If something needed may neither be kept nor computed again.
        """
        weights, costs = self._weights.astype(np.float64), self._costs.astype(np.float64)
        keeping = np.where(weights == FORBIDDEN, np.inf, weights * price)
        if self.problem.offload_costs:
            away = np.array(self.problem.offload_costs, np.float64)
            # one edge for both ways to keep; which it was is told from the prices afterwards
            keeping = np.minimum(keeping, np.where(away == FORBIDDEN, np.inf, away))
        repeating = np.where(costs == FORBIDDEN, np.inf, costs)
        total = float(keeping[np.isfinite(keeping)].sum() + repeating[np.isfinite(repeating)].sum())
        # the solver takes whole numbers of 64 bits, and sums of them must not overflow
        scale = _RESOLUTION / total if total else 1.0

        def scaled(costs: np.ndarray) -> np.ndarray:
            # rounded down, so that what is found stays a lower bound
            return np.where(np.isfinite(costs), np.floor(np.where(np.isfinite(costs), costs, 0.0) * scale), INFINITE)

        solution, weight = self._solve(scaled(repeating).astype(np.int64), scaled(keeping).astype(np.int64), price)
        return solution, weight / scale

    def _solve(self, steps: np.ndarray, values: np.ndarray, price: float = 0.0) -> tuple[Solution, int]:
        problem = self.problem
        n_steps = len(problem.costs)
        repeat = np.column_stack([np.full(n_steps, _SOURCE), 2 + np.arange(n_steps), steps])
        keep = np.column_stack([self._made, self._available, values])
        # edges that weigh nothing are left out: most steps cost nothing where bytes alone count
        cut = min_cut(self.n_nodes, np.concatenate([self._links, repeat[steps != 0], keep]), _SOURCE, _SINK)
        is_kept = ~cut.is_behind[self._made] & cut.is_behind[self._available]
        kept = np.flatnonzero(is_kept).tolist()
        if not problem.offload_costs:
            return problem.complete(kept), cut.weight
        is_away = [
            problem.may_offload(v)
            and (problem.weights[v] == FORBIDDEN or problem.offload_costs[v] < price * problem.weights[v])
            for v in kept
        ]
        saved = [v for v, away in zip(kept, is_away, strict=True) if not away]
        return problem.complete(saved, [v for v, away in zip(kept, is_away, strict=True) if away]), cut.weight
