"""Runs the numbers of a program in Python's own arithmetic, to see whether a counter-example is one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, assert_never

from jaxaot.facade.indexing.symbolic_numbers import FUNCTIONS
from jaxaot.plan import facts
from jaxaot.plan.guards import differs
from jaxaot.plan.number_program import AskedNumber, ComputedNumber, NumberPlan, NumberStep, ReadNumber
from jaxaot.plan.paths import Path
from jaxaot.validate.conclusions import AboutNumbers

RAISED: Any = type("Raised", (), {"__repr__": lambda self: "an error"})()
"""Stands for the result of an operation that raises an error."""
_MAX = 400
_WHOLE_STEPS = (0, 1, -1, 2, -2, 3, -3, 10, -10, 100, 2**31, -(2**31) - 1, 2**53)
_REAL_STEPS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-3, 1e3, 1e300, math.inf, math.nan)


def apply(how: str, operands: Sequence[Any]) -> Any:
    """Returns what an operation makes of numbers, or `RAISED`."""
    if any(operand is RAISED for operand in operands) or _is_huge(how, operands):
        return RAISED
    try:
        return FUNCTIONS[how](*operands)
    except Exception:
        return RAISED


def _is_huge(how: str, operands: Sequence[Any]) -> bool:
    """Returns whether an operation would make a number that fills the memory; no such case is tried."""
    if how not in ("pow", "lshift") or not all(isinstance(operand, int) for operand in operands):
        return False
    base, exponent = operands
    return exponent > 10_000 or (how == "pow" and abs(base).bit_length() * abs(exponent) > 100_000)


def run(plan: NumberPlan, inputs: Mapping[Path, Any]) -> list[Any]:
    """Returns the numbers of a call, given those that are read."""
    found: list[Any] = []
    for number in plan.numbers:
        match number:
            case ReadNumber(path):
                found.append(inputs[path])
            case ComputedNumber(how, operands):
                found.append(apply(how, _settled(operands, found)))
            case AskedNumber():
                raise AssertionError("where guards are proved its value is asked for")
            case _:
                assert_never(number)
    return found


def _settled(operands: Sequence[Any], numbers: Sequence[Any]) -> list[Any]:
    return [numbers[v.step] if isinstance(v, NumberStep) else v for v in operands]


def is_let_in(plan: NumberPlan, numbers: Sequence[Any]) -> bool:
    """Returns whether the guards on numbers hold."""
    if any(number is RAISED for number in numbers):
        return False
    types = all(
        type(value) is number.cls
        for number, value in zip(plan.numbers, numbers, strict=True)
        if isinstance(number, ReadNumber)
    )
    return types and not any(
        type(numbers[fact.step]) is not fact.value if fact.is_of_type else differs(numbers[fact.step], fact.value)
        for fact in plan.facts
    )


def outcome(fact: AboutNumbers, numbers: Sequence[Any], inputs: Mapping[Path, Any]) -> Any:
    """Returns what the number that a fact is about is."""
    match fact:
        case facts.ReadsNumber(_, path):
            return inputs[path]
        case facts.ComputesNumber(_, how, operands) | facts.FailsToCompute(how, operands):
            return apply(how, _settled(operands, numbers))
        case facts.UsesNumber(step) | facts.EntersGraph(step):
            return numbers[step]
        case _:
            assert_never(fact)


def holds(fact: AboutNumbers, numbers: Sequence[Any], inputs: Mapping[Path, Any]) -> bool:
    """Returns whether a fact about numbers holds."""
    value = outcome(fact, numbers, inputs)
    match fact:
        case facts.ReadsNumber(step, _, cls) | facts.ComputesNumber(step, _, _, cls):
            return type(value) is cls and not differs(value, numbers[step])
        case facts.FailsToCompute():
            return value is RAISED
        case facts.UsesNumber(_, used):
            return not differs(value, used)
        case facts.EntersGraph():
            return type(value) is int and -(2**31) <= value < 2**31
        case _:
            assert_never(fact)


def nearby(inputs: Mapping[Path, Any]) -> Iterator[dict[Path, Any]]:
    """Yields other numbers to try, those that are close to given ones first."""
    paths = list(inputs)
    around = [list(_around(inputs[path])) for path in paths]
    for i, values in enumerate(around):  # one at a time
        for value in values:
            yield {**inputs, paths[i]: value}
    if len(paths) > 1:
        for chosen in itertools.islice(itertools.product(*around), _MAX):
            yield dict(zip(paths, chosen, strict=True))


def _around(value: Any) -> Iterator[Any]:
    if type(value) is int:
        yield from dict.fromkeys([value + step for step in _WHOLE_STEPS] + [0, 1, -1, -value])
    elif type(value) is float:
        yield from (value, value + 1, value - 1, value / 2, value * 2, -value, *_REAL_STEPS)
    else:
        yield from (value, not value)
