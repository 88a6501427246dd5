"""A line search to the strong conditions of Wolfe (Nocedal and Wright, 2006, chapter 3), as PyTorch has it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from jaxaot.facade.memory.tensor import Tensor

SUFFICIENT, CURVATURE = 1e-4, 0.9


class _Point(NamedTuple):
    """A point on the line.

    Attributes:
      size: How far along the direction.
      loss: The loss there.
      gradient: Its gradient.
      slope: Its derivative along the direction.
    """

    size: float
    loss: float
    gradient: Tensor
    slope: float


def _between(one: _Point, two: _Point, bounds: tuple[float, float] | None = None) -> float:
    """Returns where the cubic through two points with their slopes is least."""
    low, high = bounds or (min(one.size, two.size), max(one.size, two.size))
    d1 = one.slope + two.slope - 3 * (one.loss - two.loss) / (one.size - two.size)
    square = d1 * d1 - one.slope * two.slope
    if not square >= 0:
        return (low + high) / 2.0
    d2 = math.sqrt(square)
    left, right = (one, two) if one.size <= two.size else (two, one)
    place = right.size - (right.size - left.size) * ((right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2))
    return min(max(place, low), high)


def strong_wolfe(
    evaluate: Callable[[float], tuple[float, Tensor]],
    size: float,
    direction: Tensor,
    loss: float,
    gradient: Tensor,
    slope: float,
    max_evaluations: int,
    tolerance: float = 1e-9,
) -> tuple[float, Tensor, float, int]:
    """Returns the loss, the gradient and the size of a step along a direction, and how often it was evaluated.

    Args:
      evaluate: Returns the loss and its gradient at a size.
      size: The one to begin with.
      direction: The direction.
      loss: The loss at 0.
      gradient: Its gradient at 0.
      slope: Its derivative along the direction at 0.
      max_evaluations: How many steps of the search there may be.
      tolerance: How short an interval is not searched any more.
    """
    longest = float(direction.abs().max())
    start = _Point(0.0, loss, gradient.clone(), slope)

    def at(size: float) -> _Point:
        found, gradient = evaluate(size)
        return _Point(size, found, gradient.clone(), float(gradient.dot(direction)))

    is_low = lambda point: point.loss <= loss + SUFFICIENT * point.size * slope
    is_flat = lambda point: abs(point.slope) <= -CURVATURE * slope
    before, point, n, i, is_done = start, at(size), 1, 0, False
    bracket: list[_Point] | None = None
    while i < max_evaluations:
        if not is_low(point) or (i > 1 and point.loss >= before.loss):
            bracket = [before, point]
            break
        if is_flat(point):
            bracket, is_done = [point], True
            break
        if point.slope >= 0:
            bracket = [before, point]
            break
        bounds = (point.size + 0.01 * (point.size - before.size), point.size * 10)
        before, point = point, at(_between(before, point, bounds))
        n, i = n + 1, i + 1
    if bracket is None:
        bracket = [start, point]
    is_stuck = False
    low, high = (0, -1) if bracket[0].loss <= bracket[-1].loss else (-1, 0)
    while not is_done and i < max_evaluations:
        sizes = [end.size for end in bracket]
        if abs(sizes[1] - sizes[0]) * longest < tolerance:
            break
        size = _between(bracket[0], bracket[1])
        margin = 0.1 * (max(sizes) - min(sizes))
        if min(max(sizes) - size, size - min(sizes)) < margin:
            if is_stuck or size >= max(sizes) or size <= min(sizes):
                is_near_end = abs(size - max(sizes)) < abs(size - min(sizes))
                size = max(sizes) - margin if is_near_end else min(sizes) + margin
                is_stuck = False
            else:
                is_stuck = True
        else:
            is_stuck = False
        point = at(size)
        n, i = n + 1, i + 1
        if not is_low(point) or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
        else:
            if is_flat(point):
                is_done = True
            elif point.slope * (bracket[high].size - bracket[low].size) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = point
    best = bracket[low]
    return best.loss, best.gradient, best.size, n
