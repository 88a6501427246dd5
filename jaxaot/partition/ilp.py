"""A problem of what to save, as an integer program: exact, for problems that are small enough.

Each value has a binary for being saved (and one for being offloaded), each step one for being repeated. What is needed
must be kept or its step repeated, and so must be the operands of each step that is repeated. The sum of the weights of
what is saved is bounded, the sum of the costs minimised. The same program, on values that are tensors of a network, is
solved in Jain et al., "Checkmate: Breaking the Memory Wall with Optimal Tensor Rematerialization" (2020). The solver is
HiGHS, through `scipy.optimize.milp`.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, cast

import numpy as np

from jaxaot._immutable import immutable
from jaxaot.partition.problem import FORBIDDEN, Problem, Solution

_TRIES = 8
_MAX_NODES = 3000
"""Where the search is given up; a count and not a time, so that the same problem always has the same answer."""


@immutable
class Part:
    """Values and steps that are still open; the others stay as in a solution.

    Attributes:
      values: The values.
      steps: The steps.
      rest: What holds for the others.
    """

    values: Collection[int]
    steps: Collection[int]
    rest: Solution


def least_cost(problem: Problem, limit: int, part: Part | None = None) -> Solution | None:
    """Returns the solution of least cost that weighs no more than `limit`, or None if there is none or it takes long.

    Args:
      problem: The problem.
      limit: The most that may be saved, in bytes.
      part: What is open; everything if left out.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # takes a good part of a second to import
    from scipy.sparse import csr_array

    n_values, n_steps = len(problem.weights), len(problem.costs)
    weights, costs = np.array(problem.weights, np.float64), np.array(problem.costs, np.float64)
    away = np.array(problem.offload_costs or (FORBIDDEN,) * n_values, np.float64)
    upper = np.concatenate([weights != FORBIDDEN, away != FORBIDDEN, costs != FORBIDDEN]).astype(np.float64)
    lower = np.zeros_like(upper)
    if part is not None:
        held = np.zeros_like(upper)
        held[list(part.rest.saved)] = 1
        held[[n_values + v for v in part.rest.offloaded]] = 1
        held[[2 * n_values + s for s in part.rest.repeated]] = 1
        is_open = np.zeros(len(upper), bool)
        is_open[list(part.values)] = True
        is_open[[n_values + v for v in part.values]] = True
        is_open[[2 * n_values + s for s in part.steps]] = True
        lower, upper = np.where(is_open, lower, held), np.where(is_open, upper, held)
    rows: list[tuple[dict[int, float], float]] = []
    for value in problem.needed:
        rows.append((_is_available(problem, value, n_values), 1.0))
    for step, operands in enumerate(problem.operands):
        if costs[step] == FORBIDDEN:
            continue
        for operand in operands:
            row = _is_available(problem, operand, n_values)
            row[2 * n_values + step] = row.get(2 * n_values + step, 0.0) - 1.0
            rows.append((row, 0.0))
    unit = math.gcd(*(w for w in problem.weights if w > 0)) if any(w > 0 for w in problem.weights) else 1
    coefficients = np.maximum(weights, 0) / unit
    objective = np.concatenate([np.zeros(n_values), np.maximum(away, 0), np.maximum(costs, 0)])
    objective /= max(1.0, objective.max(initial=0.0)) / 1e4
    data = [number for row, _ in rows for number in row.values()]
    columns = [column for row, _ in rows for column in row]
    starts = np.cumsum([0, *(len(row) for row, _ in rows)])
    matrix = csr_array((data, columns, starts), shape=(len(rows), len(upper)))
    chosen, bound = None, limit // unit
    for _ in range(_TRIES):
        budget = csr_array(np.concatenate([coefficients, np.zeros(n_values + n_steps)])[None])
        result = milp(
            objective,
            integrality=np.ones(len(upper)),
            bounds=cast(Any, Bounds)(lower, upper),  # scipy's annotations name floats alone
            constraints=[
                cast(Any, LinearConstraint)(matrix, [least for _, least in rows], np.inf),
                LinearConstraint(budget, -np.inf, bound),
            ],
            options={"mip_rel_gap": 0.0, "node_limit": _MAX_NODES},
        )
        if result.x is None or result.status != 0:
            return None
        is_one = result.x > 0.5
        saved = np.flatnonzero(is_one[:n_values]).tolist()
        chosen = problem.complete(saved, np.flatnonzero(is_one[n_values : 2 * n_values]).tolist())
        if chosen.weight <= limit:
            return chosen
        bound -= 1  # the solver's tolerance let a byte too many pass
    return None


def _is_available(problem: Problem, value: int, n_values: int) -> dict[int, float]:
    row = {value: 1.0, 2 * n_values + problem.producer[value]: 1.0}
    if problem.may_offload(value):
        row[n_values + value] = 1.0
    return row
