"""`math`, `sum`, `float`, `int` and `print` for a trace with symbolic numbers: they record what they make of these.

Their own code in C would read the value of a symbolic number, and the program would be one for that value alone. So
while such a function is traced, its global variables lead to what is defined here. It does the same for other numbers.
What `float` and `int` make of a traced tensor is one such number, as what its `.item()` is.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable, Iterable
from typing import Any

from jaxaot.facade.indexing.symbolic_numbers import FUNCTIONS, SymbolicNumber
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.tape.modes import state

_MATH = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "degrees",
    "erf", "erfc", "exp", "exp2", "expm1", "fabs", "floor", "fmod", "gcd", "hypot", "isfinite", "isinf", "isnan",
    "isqrt", "ldexp", "log", "log10", "log1p", "log2", "pow", "radians", "remainder", "sin", "sinh", "sqrt", "tan",
    "tanh", "trunc",
)  # fmt: skip

FUNCTIONS |= {f"math.{name}": getattr(math, name) for name in _MATH}
FUNCTIONS |= {"float": float, "int": int, "complex": complex, "sum": lambda start, *values: sum(values, start)}
_NUMBERS = (SymbolicNumber, int, float, bool, complex)


def _record(how: str, args: tuple[Any, ...]) -> Any:
    """Returns what a function makes of numbers, of which one may be symbolic."""
    number = next((arg for arg in args if type(arg) is SymbolicNumber), None)
    if number is None or not all(type(arg) in _NUMBERS for arg in args):
        return FUNCTIONS[how](*args)
    return number.numbers.compute(how, args)


def _recording(name: str) -> Callable[..., Any]:
    @functools.wraps(getattr(math, name))
    def recorded(*args: object) -> Any:
        return _record(f"math.{name}", args)

    return recorded


def _sum(iterable: Iterable[Any], /, start: Any = 0) -> Any:
    """Stands for `sum`, which loses no digits of floats from Python 3.12 on, and adds what else there is."""
    values = list(iterable)
    n = next((i for i, value in enumerate(values) if type(value) not in _NUMBERS), len(values))
    if type(start) in _NUMBERS and SymbolicNumber in map(type, (start, *values[:n])):
        start, values = _record("sum", (start, *values[:n])), values[n:]
    return sum(values, start)


def _silent(*args: object, **kwargs: object) -> None:
    """Stands for `print`, which showed the same in the trace before."""


vars(_silent)["stands_for"] = print


class _Constructor(type):
    """A class that makes numbers and counts as the class of Python that it stands for."""

    real: type

    def __call__(cls, *args: object, **kwargs: object) -> Any:
        if not args or kwargs:
            return cls.real(*args, **kwargs)
        if len(args) == 1 and type(args[0]) is Tensor and state.trace is not None:
            number = state.trace.number(args[0], f"`{cls.real.__name__}()`")
            args = args if number is None else (number,)
        if type(args[0]) is SymbolicNumber and args[0].__class__ is cls.real:
            return args[0]
        return _record(cls.real.__name__, args)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.real)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.real)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.real

    def __hash__(cls) -> int:
        return hash(cls.real)


_STAND_INS: dict[int, Any] = {id(getattr(math, name)): _recording(name) for name in _MATH} | {
    id(cls): _Constructor(cls.__name__, (cls,), {"real": cls}) for cls in (float, int, complex)
}
"""Id of a function or class → what records it."""
_STAND_INS[id(sum)] = _sum
_STAND_INS[id(math)] = types.SimpleNamespace(
    **{name: _STAND_INS.get(id(value), value) for name, value in vars(math).items()}
)


def recording(value: object, is_silent: bool = False) -> Any:
    """Returns what stands for a function, a class or `math` while symbolic numbers are recorded; None if nothing."""
    return _silent if value is print and is_silent else _STAND_INS.get(id(value))
