"""The order of a graph's inputs: what stays from call to call first, seeds and offsets last.

Cells and arrays that a function reaches come first, then storages, those of tensors that are not passed before those of
arguments. After them come gradients of histories without storage, arrays and numbers that are passed, tensors that are
passed as their values, and randomness.
The plans say where storages, cells and arrays are; the others have the places between, in their order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from jaxaot.plan.call import CallPlan
from jaxaot.plan.cells import PlacePlan


def in_order(
    call: CallPlan, places: PlacePlan, of_storages: Sequence[Any], of_places: Sequence[Any], of_others: Sequence[Any]
) -> list[Any]:
    """Returns what is said of the inputs of a graph, in their order.

    Args:
      call: What a call takes.
      places: The cells and arrays that it reaches.
      of_storages: What is said of the storages that are inputs.
      of_places: What is said of `places.graph_inputs`.
      of_others: What is said of the others: ghosts, values, parts, numbers, seeds and offsets.
    """
    said = dict(zip(_positions(call, places), [*of_storages, *of_places], strict=True))
    others = zip(_free(said), of_others, strict=False)
    return [value for _, value in sorted([*said.items(), *others], key=lambda item: item[0])]


def positions_of_ghosts(call: CallPlan, places: PlacePlan) -> list[int]:
    """Returns where the gradients of histories without storage are."""
    return _others(call, places, 0, len(call.ghosts))


def positions_of_values(call: CallPlan, places: PlacePlan) -> list[int]:
    """Returns where the arrays are that are passed."""
    return _others(call, places, len(call.ghosts), len(call.values))


def positions_of_parts(call: CallPlan, places: PlacePlan) -> list[int]:
    """Returns where the values of tensors are whose storages are not passed."""
    return _others(call, places, len(call.ghosts) + len(call.values), len(call.parts))


def positions_of_numbers(call: CallPlan, places: PlacePlan) -> list[int]:
    """Returns where the numbers of Python are that change from call to call."""
    return _others(call, places, len(call.ghosts) + len(call.values) + len(call.parts), len(call.numbers.inputs))


def _others(call: CallPlan, places: PlacePlan, first: int, n: int) -> list[int]:
    return list(itertools.islice(_free(_positions(call, places)), first, first + n))


def _positions(call: CallPlan, places: PlacePlan) -> list[int]:
    of_storages = [storage.graph_input for storage in call.storages if storage.graph_input is not None]
    return of_storages + [leaf.graph_input for _, leaf in places.graph_inputs if leaf.graph_input is not None]


def _free(taken: Any) -> Iterator[int]:
    held = set(taken)
    return (i for i in itertools.count() if i not in held)
