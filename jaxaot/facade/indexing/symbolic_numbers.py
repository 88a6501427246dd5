"""What stands for a number of Python in a trace: an int or float that changes from call to call.

It is no `int` or `float` itself, because code in C would read one of those without notice. Arithmetic with numbers is
recorded, to be done again in Python at each call. Where it meets a tensor or an array, it is an input of the graph. Who
asks for its value is given that of this call, and the answer becomes a guard.

What `.item()` returns is one as well, as long as Python only keeps it, or computes with it what it keeps. Its value is
not known in the trace: whoever needs that asks for a value of the graph, see `TraceState.ask`.
"""

from __future__ import annotations

import dataclasses
import math
import operator
import weakref
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot.facade.dispatch.arguments import STAND_INS
from jaxaot.facade.dispatch.create import scalar_tensor
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.indexing.shown_numbers import is_logged, is_only_shown
from jaxaot.facade.memory.asked import Place
from jaxaot.facade.memory.source_line import user_line
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ops.promotion import is_inexact
from jaxaot.plan.facts import ComputesNumber, EntersGraph, Fact, FailsToCompute, ReadsNumber, UsesNumber
from jaxaot.plan.number_program import (
    AskedNumber,
    ComputedNumber,
    Number,
    NumberFact,
    NumberInput,
    NumberPlan,
    NumberStep,
    ReadNumber,
)
from jaxaot.plan.paths import Path

if TYPE_CHECKING:
    from jaxaot.facade.trace_state import TraceState
    from jaxaot.ops.table import OpSpec


def _below(value: float, dtype: Any = np.float32) -> float:
    """Returns the largest number of a dtype that is no more than a number."""
    with np.errstate(over="ignore"):
        found = np.asarray(value).astype(dtype)
    return float(np.nextafter(found, np.asarray(-math.inf, dtype)) if float(found) > value else found)


def _above(value: float, dtype: Any = np.float32) -> float:
    """Returns the smallest number of a dtype that is no less than a number."""
    return -_below(-value, dtype)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "neg": operator.neg, "pos": operator.pos,
    "abs": abs, "invert": operator.invert, "lshift": operator.lshift, "rshift": operator.rshift,
    "and_": operator.and_, "or_": operator.or_, "xor": operator.xor, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne, "round": round, "floor": math.floor,
    "ceil": math.ceil, "trunc": math.trunc, "bool": bool, "below": _below, "above": _above,
}  # fmt: skip
"""What can be done with numbers, by name."""
_NUMBERS = (bool, int, float, complex)
_ARITHMETIC = {"add", "sub", "mul", "neg", "pos", "abs"}
"""What computes a number of a type that is known before the numbers are, and raises for none."""
_SIGNS_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
"""What a comparison is from the other side."""
_LIMITS = {"gt": "below", "le": "below", "lt": "above", "ge": "above"}
"""Which limit of 32 bits, in the place of a number, is compared with a value of 32 bits as the number itself is."""


class Unknown(NamedTuple):
    """Stands for the value of a number that the graph computes, of type `cls`."""

    cls: type


class Numbers:
    """The numbers of one trace.

    Attributes:
      symbols: Step → the symbol that stands for it in the graph.
      asks_for_types: Whether the function may tell a symbol from a number.
      are_keys: Whether one may be a key of a dict.
      asked: The steps that the graph computes, each with its symbol and what asked for it.
    """

    def __init__(self, trace: TraceState):
        self.symbols: dict[int, Any] = {}
        self._trace = weakref.ref(trace)  # which holds these
        self._events = trace.events
        self._steps: list[Number] = []
        self._values: list[Any] = []
        self._known: dict[Any, SymbolicNumber] = {}
        self._facts: dict[Any, NumberFact] = {}
        self._inputs: list[NumberInput] = []
        self.asked: list[tuple[int, Any, str]] = []
        self.asks_for_types = self.are_keys = False

    def read(self, path: Path, value: complex) -> SymbolicNumber:
        """Returns what stands for a number that a path leads to."""
        number = self._add(ReadNumber(path, type(value)), value)
        self._note(ReadsNumber(number.step, path, type(value), value))
        return number

    def ask(self, symbol: Any, cls: type, what: str) -> Any:
        """Returns what stands for the number that a symbol of one element holds."""
        found = next((step for step, was, _ in self.asked if was is symbol), None)
        if found is not None:
            return SymbolicNumber(self, found, Unknown(cls))
        number = self._add(AskedNumber(-1, cls), Unknown(cls))
        self.asked.append((number.step, symbol, what))
        return number

    def _value_of(self, number: SymbolicNumber) -> Any:
        """Returns the value of a number that the graph computes; the trace stops where it is not known."""
        made, trace = self._steps[number.step], self._trace()
        assert trace is not None, "a number is used while its trace runs"
        if isinstance(made, ComputedNumber):
            symbolic = lambda step: SymbolicNumber(self, step, self._values[step])
            operands = [symbolic(v.step).relied_on() if type(v) is NumberStep else v for v in made.operands]
            return FUNCTIONS[made.how](*operands)
        symbol, what = next((symbol, what) for step, symbol, what in self.asked if step == number.step)
        return trace.value_of(symbol, what).reshape(()).item()

    def _note(self, fact: Fact) -> None:
        if self._events is not None:
            self._events.append((fact, user_line()))

    def _add(self, number: Number, value: Any) -> SymbolicNumber:
        self._steps.append(number)
        self._values.append(value)
        return SymbolicNumber(self, len(self._steps) - 1, value)

    def compute(self, how: str, operands: tuple[Any, ...]) -> Any:
        """Returns what an operation makes of numbers of which one is symbolic."""
        steps = tuple(NumberStep(v.step) if type(v) is SymbolicNumber else v for v in operands)
        try:
            if any(type(v) is SymbolicNumber and type(v.value) is Unknown for v in operands):
                value = self._unknown(how, operands)
                if type(value) is not Unknown:  # of values that are relied on
                    return value
            else:
                value = FUNCTIONS[how](*map(plain_number, operands))
        except Exception:  # which code may catch, as for `1 / n`: with other numbers it is not raised
            self._note(FailsToCompute(how, steps))
            for operand in operands:
                if type(operand) is SymbolicNumber:
                    self.rely(operand)
            raise
        key = how, tuple((type(v), v if type(v) is NumberStep else repr(v)) for v in steps)  # 0.0 is not -0.0
        if key not in self._known:
            self._known[key] = self._add(ComputedNumber(how, steps), value)
            is_known = type(value) is not Unknown
            if is_known and (type(value) not in _NUMBERS or how == "pow"):  # `2**t` is an int or a float
                self.rely(self._known[key], is_of_type=True)
        if self._events is not None and type(value) is not Unknown:
            self._note(ComputesNumber(self._known[key].step, how, steps, type(value)))
        return self._known[key]

    def _unknown(self, how: str, operands: tuple[Any, ...]) -> Any:
        """Returns what stands for the result of an operation on numbers some of which the graph computes."""
        types = [v.__class__ for v in operands]
        is_float = float in types or how in ("truediv", "float")
        is_safe = how in _ARITHMETIC or how == "float" or (how == "truediv" and self._is_not_zero(operands[1]))
        is_safe = is_safe or (how == "round" and is_float and len(operands) == 2 and type(operands[1]) is int)
        if is_safe and complex not in types:
            return Unknown(float if is_float else int)
        return FUNCTIONS[how](*[v.relied_on() if type(v) is SymbolicNumber else v for v in operands])

    def _is_not_zero(self, divisor: Any) -> bool:
        """Returns whether it is known of a number that it is not zero."""
        if type(divisor) is SymbolicNumber and type(divisor.value) in (int, float) and divisor.value != 0:
            return self.rely(self.compute("ne", (divisor, 0)))
        return type(divisor) in (int, float) and divisor != 0

    def compare(self, how: str, number: SymbolicNumber, other: Any) -> SymbolicNumber | None:
        """Returns whether a number that the graph computes is more, less … than another one; None if Python has to."""
        symbol = self._asked_for(number)
        if symbol is None or symbol.size != 1:
            return None
        limit = self._limit(how, symbol, other)
        if limit is None:
            return None
        return self.ask(FUNCTIONS[how](symbol.reshape(()), limit), bool, "A Python comparison")

    def _asked_for(self, number: SymbolicNumber) -> Any:
        """Returns the symbol of a number that the graph computes by itself; None for any other."""
        return next((symbol for step, symbol, _ in self.asked if step == number.step), None)

    def _limit(self, how: str, symbol: Any, other: Any) -> Any:
        """Returns what a symbol is compared with in the place of a number; None if Python has to compare."""
        if type(other) is not SymbolicNumber:
            return _constant_limit(how, symbol.dtype, other)
        if type(other.value) is Unknown:
            found = self._asked_for(other)
            return None if found is None or found.dtype != symbol.dtype else found.reshape(())
        if type(other.value) is float and symbol.dtype == np.float32 and how in _LIMITS:
            return self.symbol(self.compute(_LIMITS[how], (other,)))
        fits = type(other.value) is int and symbol.dtype == np.int32
        return self.symbol(other) if fits and -(2**31) <= other.value < 2**31 else None

    def rely(self, number: SymbolicNumber, is_of_type: bool = False) -> Any:
        """Returns the value of a number; the trace relies on it, or on its type."""
        if type(number.value) is Unknown:
            return self._value_of(number)
        value = type(number.value) if is_of_type else number.value
        if not is_of_type:
            self._note(UsesNumber(number.step, value))
        self._facts.setdefault((number.step, is_of_type), NumberFact(number.step, value, is_of_type))
        return number.value

    def symbol(self, number: SymbolicNumber) -> Any:
        """Returns the symbol that stands for a number in the graph."""
        if type(number.value) is Unknown:
            return np.asarray(self._value_of(number))
        if number.step not in self.symbols:
            if type(number.value) is int and not -(2**31) <= number.value < 2**31:
                raise OverflowError("a large whole number is no input")
            aval = jax.typeof(number.value)
            self._inputs.append(NumberInput(number.step, aval.dtype))
            origin = ("number", len(self._inputs) - 1)
            trace = self._trace()
            assert trace is not None, "a number is used while its trace runs"
            self.symbols[number.step] = trace.lift((), aval.dtype, origin, weak_type=True)
            if type(number.value) is int:  # as an input it has few bits
                self._note(EntersGraph(number.step))
                for limit in (self.compute("ge", (number, -(2**31))), self.compute("lt", (number, 2**31))):
                    self.rely(limit)
        return self.symbols[number.step]

    def plan(self) -> NumberPlan:
        """Returns what a call does."""
        return NumberPlan(tuple(self._steps), tuple(self._facts.values()), tuple(self._inputs), self.asks_for_types)

    def give_up(self) -> None:
        """Ends the trace, as the function may tell that a number has no value."""
        step, *_ = self.asked[0]
        self._value_of(SymbolicNumber(self, step, self._values[step]))

    def put_out(self, output: Callable[[Any], int]) -> None:
        """Makes graph outputs of the numbers that the graph computes."""
        for step, symbol, _ in self.asked:
            self._steps[step] = dataclasses.replace(self._steps[step], output=output(symbol))


def plain_number(value: object) -> Any:
    """Returns the number that a value stands for in this call."""
    return value.value if type(value) is SymbolicNumber else value


class SymbolicNumber:
    """A number that changes from call to call.

    Attributes:
      numbers: Those of its trace.
      step: Which of them.
      value: What it is in this call.
    """

    __slots__ = ("numbers", "step", "value")
    __array_ufunc__ = None

    def __init__(self, numbers: Numbers, step: int, value: Any):
        self.numbers = numbers
        self.step = step
        self.value = value

    @property
    def __class__(self) -> Any:  # for `isinstance`
        return self.value.cls if type(self.value) is Unknown else type(self.value)

    def settled(self, what: str) -> Tensor:
        """Returns the number as a tensor."""
        return scalar_tensor(self.numbers.symbol(self))

    def __jax_array__(self) -> Any:
        return self.numbers.symbol(self)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.relied_on(), dtype)

    def relied_on(self) -> Any:
        """Returns the value; the program is one for that value alone."""
        return self.numbers.rely(self)

    def __index__(self) -> int:
        return operator.index(self._shown(is_logged()))

    def __int__(self) -> int:
        return int(self._shown(is_logged()))

    def __float__(self) -> float:
        return float(self._shown(is_logged()))

    def __complex__(self) -> complex:
        return complex(self.relied_on())

    def __hash__(self) -> int:
        self.numbers.are_keys = True
        value = self.relied_on()
        if type(self.value) is Unknown:  # dicts and sets compare it, also when the trace is over
            self.value = value
        return hash(value)

    def __format__(self, how: str) -> str:
        return format(self._shown(is_only_shown()), how)

    def __str__(self) -> str:
        return str(self._shown(is_only_shown()))

    def __repr__(self) -> str:
        return repr(self._shown(is_only_shown()))

    def _shown(self, is_only_shown: bool) -> Any:
        return self.value if is_only_shown and type(self.value) is not Unknown else self.relied_on()

    def __bool__(self) -> bool:
        if type(self.value) in (bool, Unknown):
            return bool(self.relied_on())
        return bool(self.numbers.rely(self.numbers.compute("bool", (self,))))

    def __copy__(self) -> SymbolicNumber:
        return self

    def __deepcopy__(self, memo: Any) -> SymbolicNumber:
        return self

    def __reduce__(self) -> Any:
        return type(self.value), (self.relied_on(),)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.value.cls() if type(self.value) is Unknown else self.value, name)
        value = self.relied_on()  # of which only what is there relies
        return getattr(value, name) if type(self.value) is Unknown else found

    def __round__(self, *digits: Any) -> Any:
        return self.numbers.compute("round", (self, *digits))

    def __divmod__(self, other: object) -> Any:
        return _operate("floordiv", self, other, False), _operate("mod", self, other, False)

    def __rdivmod__(self, other: object) -> Any:
        return _operate("floordiv", self, other, True), _operate("mod", self, other, True)


def _operate(how: str, number: SymbolicNumber, other: object, is_right: bool) -> Any:
    if type(number.value) is Unknown and how in _SIGNS_TURNED:
        found = number.numbers.compare(_SIGNS_TURNED[how] if is_right else how, number, other)
        if found is not None:
            return found
    if type(other) in _NUMBERS or type(other) is SymbolicNumber:
        return number.numbers.compute(how, (other, number) if is_right else (number, other))
    if isinstance(other, jax.Array):
        symbol = number.numbers.symbol(number)
        return FUNCTIONS[how](other, symbol) if is_right else FUNCTIONS[how](symbol, other)
    if isinstance(other, Tensor) or type(other) in STAND_INS:
        return NotImplemented
    if how in ("eq", "ne") and not isinstance(other, (np.generic, Fraction, Decimal)):
        return NotImplemented
    value = number.numbers.rely(number)
    return FUNCTIONS[how](other, value) if is_right else FUNCTIONS[how](value, other)


def _constant_limit(how: str, dtype: Any, other: Any) -> Any:
    """Returns what a symbol of a dtype is compared with in the place of a Python number; None if Python has to."""
    if type(other) not in (int, float) or other != other or dtype.kind == "c":
        return None
    if is_inexact(dtype) and how in _LIMITS:
        return dtype.type(FUNCTIONS[_LIMITS[how]](other, dtype))
    if dtype.kind == "b":  # what another comparison gave
        least, most = 0, 1
    else:
        limits = jnp.finfo(dtype) if is_inexact(dtype) else jnp.iinfo(dtype)
        least, most = float(limits.min), float(limits.max)
    if not least <= other <= most:
        return None
    limit = dtype.type(other)
    return limit if limit.item() == other else None


def _binary(how: str, is_right: bool) -> Callable[..., Any]:
    return lambda self, other: _operate(how, self, other, is_right)


def _unary(how: str) -> Callable[..., Any]:
    return lambda self: self.numbers.compute(how, (self,))


for _how in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor"):
    setattr(SymbolicNumber, f"__{_how.rstrip('_')}__", _binary(_how, False))
    setattr(SymbolicNumber, f"__r{_how.rstrip('_')}__", _binary(_how, True))
for _how in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(SymbolicNumber, f"__{_how}__", _binary(_how, False))
for _how in ("neg", "pos", "abs", "invert", "floor", "ceil", "trunc"):
    setattr(SymbolicNumber, f"__{_how}__", _unary(_how))


def _run(spec: OpSpec, dynamic: Any, static: tuple[Any, ...], generator: Any) -> Any:
    """Runs an op on tensors in the place of numbers."""
    settle = lambda value: value.settled(spec.name) if type(value) in (SymbolicNumber, Place) else value
    return call(spec, [settle(value) for value in dynamic], static, generator)


STAND_INS[SymbolicNumber] = STAND_INS[Place] = _run
