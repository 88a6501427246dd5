"""Keeping what the forward saves below a limit.

A *budget* bounds the bytes that are saved beyond primals and outputs. It is a fraction of what `save_all` would save,
or a number of bytes with its unit. Where a policy saves more, the equations that it never recomputes are released,
those with the fewest FLOPs for each byte first, until the cut of least weight fits.
"""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any

from jaxaot._util import format_bytes
from jaxaot.errors import BudgetError
from jaxaot.ir.cost import eqn_flops
from jaxaot.ir.primitives import is_pure
from jaxaot.ir.walk import aval_bytes
from jaxaot.partition.classify import Classified
from jaxaot.partition.network import build_network
from jaxaot.partition.policies import Choice

_UNITS = {"b": 1, "": 1}
_UNITS |= {f"{prefix}b": 1000 ** (power + 1) for power, prefix in enumerate("kmgt")}
_UNITS |= {f"{prefix}ib": 1024 ** (power + 1) for power, prefix in enumerate("kmgt")}
_NUMBER = re.compile(r"\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*([a-z]*|%)\s*\Z", re.IGNORECASE)
_MAX_TRIALS = 48


def parse_budget(budget: Any, save_all_bytes: int) -> int:
    """Returns a budget in bytes.

    Args:
      budget: A fraction of `save_all_bytes` between 0 and 1, or a text such as `"512MiB"`, `"1.5 GB"` or `"40%"`.
      save_all_bytes: What saving everything would weigh.

    Raises:
      BudgetError: If it is none of these.
    """
    if isinstance(budget, str):
        match = _NUMBER.match(budget)
        if match is not None:
            number, unit = float(match.group(1)), match.group(2).lower()
            if unit == "%" and number <= 100:
                return math.floor(number / 100 * save_all_bytes)
            if unit in _UNITS and math.isfinite(number):
                return math.floor(number * _UNITS[unit])
    elif isinstance(budget, int | float) and not isinstance(budget, bool):
        if 0 <= budget <= 1:
            return math.floor(budget * save_all_bytes)
        if budget > 1 and math.isfinite(budget):
            raise BudgetError(
                f"The memory budget {budget!r} is a fraction above 1, which limits nothing. Write bytes as text, such "
                f"as `memory_budget='{format_bytes(budget)}'`, or a fraction of what `save_all` saves, such as 0.5."
            )
    raise BudgetError(
        f"The memory budget {budget!r} cannot be read. Write a fraction of what `save_all` saves, between 0 and 1, "
        "such as `memory_budget=0.5`, or bytes as text, such as `memory_budget='512MiB'`."
    )


def extra_bytes(graph: Classified, saved: list[Any]) -> int:
    """Returns what saving some variables costs beyond primals, outputs and refills."""
    free = {id(atom) for atom in (*graph.outputs, *graph.refills)}
    return sum(aval_bytes(var.aval) for var in saved if id(var) not in free)


def release_until_within(
    graph: Classified, choices: dict[int, Choice], budget_bytes: int
) -> tuple[dict[int, Choice], list[Any]]:
    """Returns choices under which the least cut is within a budget, and the variables that it saves.

    Raises:
      BudgetError: If recomputing everything that may be recomputed still saves more.
    """

    def attempt(released: set[int]) -> tuple[dict[int, Choice], list[Any], int]:
        trial = {i: Choice.EITHER if i in released else choice for i, choice in choices.items()}
        saved, _ = build_network(graph, trial).solve()
        return trial, saved, extra_bytes(graph, saved)

    best = attempt(set())
    if best[2] <= budget_bytes:
        return best[:2]
    costs = [_cost(graph, i) for i, choice in choices.items() if choice is Choice.SAVE and is_pure(graph.eqns[i])]
    costs.sort(key=lambda cost: cost.flops / max(1, cost.bytes))
    best = attempt({cost.position for cost in costs})
    if best[2] > budget_bytes:
        raise BudgetError(
            f"The memory budget of {format_bytes(budget_bytes)} cannot be met: at least {format_bytes(best[2])} must "
            f"be saved, because it cannot be recomputed. Write `memory_budget='{best[2]}B'` or more."
        )
    # The more is released, the lighter the least cut: find the shortest prefix that fits, then take back what can be.
    low, high = 0, len(costs)
    while high - low > 1:
        middle = (low + high) // 2
        trial = attempt({cost.position for cost in costs[:middle]})
        if trial[2] <= budget_bytes:
            best, high = trial, middle
        else:
            low = middle
    released = {cost.position for cost in costs[:high]}
    for cost in sorted(costs[:high], key=lambda cost: -cost.flops)[:_MAX_TRIALS]:
        trial = attempt(released - {cost.position})
        if trial[2] <= budget_bytes:
            best, released = trial, released - {cost.position}
    return best[:2]


@dataclasses.dataclass(frozen=True)
class _Cost:
    position: int
    flops: int
    bytes: int


def _cost(graph: Classified, position: int) -> _Cost:
    eqn = graph.eqns[position]
    return _Cost(position, eqn_flops(eqn), sum(aval_bytes(var.aval) for var in eqn.outvars))
