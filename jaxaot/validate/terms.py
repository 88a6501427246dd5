"""Python's world in the language of a solver: objects, the plain values that they are, and arithmetic on numbers.

Objects are of a sort of which nothing is known but which are equal. A step of a path is a function from objects to
objects, so that two paths to one object lead on to the same things. A plain value is an int, a float of 64 bits, a
bool, or another one that only equals itself. What the solver cannot compute is a function without a meaning: equal
operands still give equal results, which is what most proofs need.
"""

from __future__ import annotations

import fractions
import functools
import importlib
import math
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from jaxaot.errors import MissingExtraError
from jaxaot.plan.guards import LEAVES, differs
from jaxaot.plan.paths import Path

Term = Any
"""A term of the solver, a `z3.ExprRef`; its types are there only where it is installed."""
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_WHOLE = (int, bool)


@functools.cache
def load_solver() -> Any:
    """Returns the module `z3`.

    Raises:
      MissingExtraError: If it is not installed.
    """
    try:
        return importlib.import_module("z3")
    except ImportError as error:
        raise MissingExtraError(
            "`ja.config(validate_guards=True)` proves that the guards of a program are sound, which needs the solver "
            "z3. Install it: `pip install 'jaxaot[validate]'`, or `pip install z3-solver`."
        ) from error


class Sorts(NamedTuple):
    """The sorts of terms.

    Attributes:
      object: Objects.
      value: Plain values: `whole(Int)`, `real(FP)`, `truth(Bool)`, `other(Int)`.
    """

    object: Any
    value: Any


@functools.cache
def _sorts() -> Sorts:
    z3 = load_solver()
    value = z3.Datatype("Value")
    value.declare("whole", ("of_whole", z3.IntSort()))
    value.declare("real", ("of_real", z3.Float64()))
    value.declare("truth", ("of_truth", z3.BoolSort()))
    value.declare("other", ("of_other", z3.IntSort()))
    return Sorts(z3.DeclareSort("Object"), value.create())


class Number(NamedTuple):
    """A number as a term.

    Attributes:
      term: A plain value.
      cls: Its type, as far as it is known.
      constant: Itself in a tuple, if it is a constant.
    """

    term: Term
    cls: type | None
    constant: tuple[Any, ...] = ()


def result_class(how: str, operands: Sequence[type | None]) -> Any:
    """Returns the type of what an operation makes of ints, floats and bools; None if their values decide."""
    if how in _COMPARISONS or how == "bool":
        return bool
    if not all(cls in (*_WHOLE, float) for cls in operands) or how == "pow":
        return None
    match how:
        case "truediv":
            return float
        case "floor" | "ceil" | "trunc":
            return int
        case "round":
            return float if len(operands) == 2 and operands[0] is float else int
        case "and_" | "or_" | "xor" if all(cls is bool for cls in operands):
            return bool
        case _:
            return float if float in operands else int


class Terms:
    """Makes the terms of one proof.

    Attributes:
      is_exact: Whether all arithmetic that the solver knows is written out; it is slow with floats.
    """

    def __init__(self, is_exact: bool, leaves: Sequence[Path | None]):
        """Begins a proof.

        Args:
          is_exact: Whether all arithmetic that the solver knows is written out.
          leaves: The path to each leaf of the arguments, where there is one.
        """
        self.is_exact = is_exact
        self._z3, self._sorts = load_solver(), _sorts()
        self._leaves = leaves
        self._places: dict[Path, Any] = {}
        self._steps: dict[tuple[str, Any], Any] = {}
        self._objects: dict[int, tuple[Any, Any]] = {}
        self._groups: list[set[int]] = []
        self._attributes: dict[tuple[str, int], tuple[Any, Any]] = {}
        self._ids: dict[int, tuple[int, Any]] = {}
        self._others: list[Any] = []
        self._other_numbers: dict[Any, int] = {}

    # -- objects -------------------------------------------------------------------------------------------------------

    def place(self, path: Path) -> Any:
        """Returns the object that a path leads to."""
        if path not in self._places:
            self._places[path] = self._place(path)
        return self._places[path]

    def _place(self, path: Path) -> Any:
        if path[0] == LEAVES and len(path) > 1:
            leaf = path[1][1]
            known = self._leaves[leaf] if leaf < len(self._leaves) else None
            if known is not None:
                return self.place((*known, *path[2:]))
            if len(path) == 2:
                return self._z3.Const(f"leaf {leaf}", self._sorts.object)
        if len(path) == 1:
            return self._z3.Const(str(path[0][1]), self._sorts.object)
        above = list(path)
        kind, key = above.pop()
        if kind == "module":
            return self.known(key)
        last = above[-1]
        if kind == "item" and last in (("attr", "__globals__"), ("attr", "__dict__")):  # another way to the same place
            above, kind = above[:-1], "global" if last[1] == "__globals__" else "attr"
        elif kind == "closure":
            key = key[0]
        return self._step(kind, key)(self.place(tuple(above)))

    def _step(self, kind: str, key: Any) -> Any:
        try:
            found = self._steps.get((kind, key))
        except TypeError:  # a key without a hash
            key = id(key)
            found = self._steps.get((kind, key))
        if found is None:
            found = self._function(f"step {len(self._steps)}", self._sorts.object)
            self._steps[kind, key] = found
        return found

    def _function(self, name: str, result: Any) -> Any:
        return self._z3.Function(name, self._sorts.object, result)

    def known(self, value: object) -> Any:
        """Returns an object that is there while the program is made."""
        if id(value) not in self._objects:
            term = self._z3.Const(f"object {len(self._objects)}", self._sorts.object)
            self._objects[id(value)] = (term, value)
        return self._objects[id(value)][0]

    def are_known_distinct(self) -> Any:
        """Returns that the known objects are different ones."""
        return self.distinct(term for term, _ in self._objects.values())

    def distinct(self, objects: Iterable[Term]) -> Any:
        """Returns that some objects are all different ones: a function numbers them."""
        objects, name = list(objects), f"number in {len(self._groups)}"
        self._groups.append({self._id(term) for term in objects})
        numbers = (self.attribute(name, term, False) == i for i, term in enumerate(objects))
        return self._z3.And(*numbers, True)

    def apart(self, one: Term, other: Term) -> Any:
        """Returns that two objects are different ones, or None where it was said of both with others."""
        ids = {self._id(one), self._id(other)}
        return None if len(ids) == 2 and any(ids <= group for group in self._groups) else one != other

    def _id(self, term: Term) -> int:
        """Returns what tells a term apart; equal terms are one."""
        known = self._ids.get(id(term))
        if known is None:
            self._ids[id(term)] = known = (term.get_id(), term)
        return known[0]

    def attribute(self, name: str, place: Term, is_object: bool = True) -> Any:
        """Returns what the solver is to know of an object by a name, such as its storage: an object or a number."""
        known = self._attributes.get((name, id(place)))
        if known is None:
            term = self._function(name, self._sorts.object if is_object else self._z3.IntSort())(place)
            self._attributes[name, id(place)] = known = (term, place)  # which keeps its id its own
        return known[0]

    # -- values --------------------------------------------------------------------------------------------------------

    def value(self, place: Term) -> Any:
        """Returns the plain value that an object is."""
        return self._function("value", self._sorts.value)(place)

    def constant(self, value: Any) -> Any:
        """Returns a plain value that is known."""
        z3, sort = self._z3, self._sorts.value
        if type(value) is bool:
            return sort.truth(z3.BoolVal(value))
        if type(value) is int:
            return sort.whole(z3.IntVal(value))
        if type(value) is float:
            return sort.real(self._float(value))
        return sort.other(z3.IntVal(self._number_of(value)))

    def _float(self, value: float) -> Any:
        bits = int.from_bytes(struct.pack(">d", value))
        z3 = self._z3
        return z3.simplify(z3.fpBVToFP(z3.BitVecVal(bits, 64), z3.Float64()))

    def _number_of(self, value: object) -> int:
        """Returns the number of a value that only equals itself; equal ones of one type have one number."""
        try:
            key = type(value), repr(value) if isinstance(value, (complex, tuple)) else value
            if key not in self._other_numbers:
                self._other_numbers[key] = len(self._others)
                self._others.append(value)
            return self._other_numbers[key]
        except TypeError:  # without a hash
            for i, other in enumerate(self._others):
                if not differs(value, other):
                    return i
            self._others.append(value)
            return len(self._others) - 1

    def is_of(self, cls: type, term: Term) -> Any:
        """Returns that a value is of a type, as far as types of values are told apart."""
        sort = self._sorts.value
        tests = {int: sort.is_whole, float: sort.is_real, bool: sort.is_truth}
        return tests.get(cls, sort.is_other)(term)

    def whole_of(self, term: Term) -> Any:
        """Returns the integer that a value is, if it is one."""
        return self._sorts.value.of_whole(term)

    def read(self, model: Term, term: Term) -> tuple[bool, Any]:
        """Returns whether what a value is in a model can be shown, and the value."""
        z3, sort = self._z3, self._sorts.value
        found = model.eval(term, model_completion=True)
        if z3.is_true(model.eval(sort.is_whole(found))):
            return True, model.eval(sort.of_whole(found)).as_long()
        if z3.is_true(model.eval(sort.is_truth(found))):
            return True, z3.is_true(model.eval(sort.of_truth(found)))
        if z3.is_true(model.eval(sort.is_real(found))):
            real = model.eval(sort.of_real(found))
            if z3.is_true(model.eval(z3.fpIsNaN(real))):
                return True, math.nan
            bits = model.eval(z3.fpToIEEEBV(real), model_completion=True).as_long()
            return True, struct.unpack(">d", bits.to_bytes(8))[0]
        number = model.eval(sort.of_other(found), model_completion=True).as_long()
        return (True, self._others[number]) if 0 <= number < len(self._others) else (False, None)

    # -- arithmetic ----------------------------------------------------------------------------------------------------

    def compute(self, how: str, operands: Sequence[Number]) -> tuple[Term, Term]:
        """Returns what an operation makes of numbers, and that it raises no error."""
        found = self._computed(how, operands)
        if found is not None:
            return found
        sorts = [self._sorts.value] * len(operands)
        terms = [operand.term for operand in operands]
        z3, sort = self._z3, self._sorts.value
        is_defined = z3.Function(f"{how} {len(operands)} is defined", *sorts, z3.BoolSort())(*terms)
        cls = result_class(how, [operand.cls for operand in operands])
        range_, wrap = {
            int: (z3.IntSort(), sort.whole), float: (z3.Float64(), sort.real), bool: (z3.BoolSort(), sort.truth),
        }.get(cls, (sort, lambda term: term))  # fmt: skip
        function = z3.Function(f"{how} {len(operands)} {cls}", *sorts, range_)
        return wrap(function(*terms)), is_defined

    def _computed(self, how: str, operands: Sequence[Number]) -> tuple[Term, Term] | None:
        classes = [operand.cls for operand in operands]
        if len(operands) == 1:
            return self._of_one(how, operands[0])
        if len(operands) != 2 or how in ("pow", "lshift", "rshift", "round"):
            return None
        if all(cls in _WHOLE for cls in classes):
            return self._of_whole(how, *operands)
        if all(cls in (*_WHOLE, float) for cls in classes):
            return self._of_real(how, *operands)
        return None

    def _whole(self, number: Number) -> Any:
        """Returns an int or bool as an integer."""
        if number.constant:
            return self._z3.IntVal(int(number.constant[0]))
        sort = self._sorts.value
        if number.cls is bool:
            return self._z3.If(sort.of_truth(number.term), self._z3.IntVal(1), self._z3.IntVal(0))
        return sort.of_whole(number.term)

    def _of_one(self, how: str, number: Number) -> tuple[Term, Term] | None:
        z3, sort, always = self._z3, self._sorts.value, self._z3.BoolVal(True)
        if number.cls in _WHOLE:
            x = self._whole(number)
            if how == "bool":
                return sort.truth(x != 0), always
            found = {"neg": -x, "abs": z3.If(x < 0, -x, x), "invert": -x - 1}.get(how, x)
            return sort.whole(found), always
        if number.cls is not float:
            return None
        x = sort.of_real(number.term)
        match how:
            case "bool":
                return sort.truth(z3.Not(z3.fpIsZero(x))), always
            case "neg":
                return sort.real(z3.fpNeg(x)), always
            case "abs":
                return sort.real(z3.fpAbs(x)), always
            case "pos":
                return number.term, always
            case _:
                return None

    def _of_whole(self, how: str, left: Number, right: Number) -> tuple[Term, Term] | None:
        z3, sort, always = self._z3, self._sorts.value, self._z3.BoolVal(True)
        if how in ("and_", "or_", "xor"):
            if left.cls is not bool or right.cls is not bool:
                return None
            a, b = sort.of_truth(left.term), sort.of_truth(right.term)
            return sort.truth({"and_": z3.And, "or_": z3.Or, "xor": z3.Xor}[how](a, b)), always
        a, b = self._whole(left), self._whole(right)
        if how in _COMPARISONS:
            return sort.truth(_compare(how, a, b)), always
        is_linear = bool(left.constant or right.constant)
        match how:
            case "add":
                return sort.whole(a + b), always
            case "sub":
                return sort.whole(a - b), always
            case "mul" if is_linear or self.is_exact:
                return sort.whole(a * b), always
            case "floordiv" if right.constant or self.is_exact:  # z3 rounds so that what is left is positive
                return sort.whole(z3.If(b > 0, a / b, (-a) / (-b))), b != 0
            case "mod" if right.constant or self.is_exact:
                return sort.whole(z3.If(b > 0, a % b, -((-a) % (-b)))), b != 0
            case _:
                return None

    def _of_real(self, how: str, left: Number, right: Number) -> tuple[Term, Term] | None:
        z3, sort, always = self._z3, self._sorts.value, self._z3.BoolVal(True)
        if how in _COMPARISONS:
            found = self._compared(how, left, right)
            return None if found is None else (sort.truth(found), always)
        a, b = self._real(left), self._real(right)
        if not self.is_exact or a is None or b is None:
            return None
        nearest = z3.RNE()
        match how:
            case "add":
                return sort.real(z3.fpAdd(nearest, a, b)), always
            case "sub":
                return sort.real(z3.fpSub(nearest, a, b)), always
            case "mul":
                return sort.real(z3.fpMul(nearest, a, b)), always
            case "truediv":
                return sort.real(z3.fpDiv(nearest, a, b)), z3.Not(z3.fpIsZero(b))
            case _:
                return None

    def _real(self, number: Number) -> Any:
        """Returns a number as a float; None if the solver cannot convert it."""
        if number.cls is float:
            return self._sorts.value.of_real(number.term)
        try:
            return self._float(float(number.constant[0])) if number.constant else None
        except OverflowError:
            return None

    def _compared(self, how: str, left: Number, right: Number) -> Any:
        """Returns a comparison of a float with a number, which Python does without rounding."""
        z3 = self._z3
        if left.cls is float and right.cls is float:
            of = {"lt": z3.fpLT, "le": z3.fpLEQ, "gt": z3.fpGT, "ge": z3.fpGEQ, "eq": z3.fpEQ, "ne": z3.fpNEQ}
            return of[how](self._real(left), self._real(right))
        mirrored = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}.get(how, how)
        if left.cls is float:
            return self._compared(mirrored, right, left)
        if left.constant:  # a whole number, which is a float if it is not large
            real = self._real(left)
            if real is None or int(float(left.constant[0])) != left.constant[0]:
                return None
            return self._compared(how, Number(self._sorts.value.real(real), float), right)
        if not right.constant:
            return None
        limit: float = right.constant[0]
        if not math.isfinite(limit):
            return z3.BoolVal({"lt": limit > 0, "le": limit >= 0, "gt": limit < 0, "ge": limit <= 0, "eq": False,
                               "ne": True}[how])  # fmt: skip
        ratio = fractions.Fraction(limit)
        return _compare(how, z3.ToReal(self._whole(left)), z3.RealVal(f"{ratio.numerator}/{ratio.denominator}"))


def _compare(how: str, a: Term, b: Term) -> Any:
    tests: dict[str, Callable[[], Any]] = {
        "lt": lambda: a < b, "le": lambda: a <= b, "gt": lambda: a > b, "ge": lambda: a >= b, "eq": lambda: a == b,
        "ne": lambda: a != b,
    }  # fmt: skip
    return tests[how]()
