"""Proves that the guards of a program imply what its trace relied on, or finds a case in which they do not.

Guards ∧ ¬facts has to be unsatisfiable. First arithmetic on floats is left without a meaning, which is quick and mostly
enough; then it is written out. Where the solver finds a case, the first fact that fails is found by bisection over the
order in which the trace met them. What the solver says of numbers is tried in Python: where it was about functions that
mean nothing to it, it is told what they give, and asked again.
"""

from __future__ import annotations

import dataclasses
import threading
import time
import warnings
from collections.abc import Sequence
from typing import Any, assert_never

from jaxaot.errors import UnprovedGuardsWarning, UnsoundGuardsError
from jaxaot.plan import facts
from jaxaot.plan.difference import CallKey, place_name
from jaxaot.plan.facts import Event
from jaxaot.plan.guards import shown
from jaxaot.plan.number_program import ReadNumber
from jaxaot.plan.paths import Path
from jaxaot.plan.stages import Traced
from jaxaot.validate import replayed_numbers as python
from jaxaot.validate.conclusions import AboutNumbers, AboutObjects, conclude, fact_text, operation_text, wanted_places
from jaxaot.validate.hypotheses import Hypotheses, leaf_paths
from jaxaot.validate.terms import Term, Terms, load_solver

_SECONDS = 20.0
"""How long the solver may take for one program."""
_N_TRIES = 16
"""How often the solver is told what functions give that mean nothing to it."""
_ONE_AT_A_TIME = threading.Lock()  # the solver is not made for several threads


def prove_guards(traced: Traced, key: CallKey, name: str) -> None:
    """Proves that the guards of a program imply what its trace relied on; warns where there is no answer.

    Args:
      traced: The trace, with its events.
      key: All that its guards look at.
      name: Of the function.

    Raises:
      UnsoundGuardsError: If they do not.
      MissingExtraError: If there is no solver.
    """
    load_solver()
    with _ONE_AT_A_TIME:
        unanswered = _Proof(traced, key, name).run()
    if unanswered:
        first = unanswered[0]
        warnings.warn(
            f"Whether the guards of `{name}` are sound is not known: the solver has no answer to whether they imply "
            f"that {first}{f', and {len(unanswered) - 1} more' if len(unanswered) > 1 else ''}. The program is used.",
            UnprovedGuardsWarning,
            stacklevel=9,
        )


def _identity(fact: object) -> Any:
    """Returns what tells facts apart, also 0.0 from -0.0 and 1 from True."""
    if isinstance(fact, tuple):
        return tuple(map(_identity, fact))
    if dataclasses.is_dataclass(fact):
        return type(fact), *(_identity(getattr(fact, field.name)) for field in dataclasses.fields(fact))
    return type(fact), repr(fact) if isinstance(fact, (float, complex)) else fact


class _OutOfTime(Exception):
    """The solver has no answer within its time."""


class _Proof:
    """The proof for one program."""

    def __init__(self, traced: Traced, key: CallKey, name: str):
        self._z3 = load_solver()
        self._call = traced.call
        first: dict[Any, Event] = {}
        for event in traced.events:
            first.setdefault(_identity(event.fact), event)
        self._events = list(first.values())
        self._key = key
        self._name = name
        self._leaves = leaf_paths(traced.in_tree, traced.call.n_leaves)
        self._wanted = wanted_places(self._events)
        met = [event.fact for event in self._events]
        self._classes = {fact.step: fact.cls for fact in met if isinstance(fact, facts.ReadsNumber)}
        self._classes |= {fact.step: fact.cls for fact in met if isinstance(fact, facts.ComputesNumber)}
        self._end = time.monotonic() + _SECONDS
        self._terms: Terms
        self._hypotheses: Hypotheses
        self._facts: list[Any] = []
        self._solver: Any = None

    def run(self) -> list[str]:
        """Returns the facts to which there is no answer, in words."""
        try:
            self._begin(is_exact=False)
            if not self._check():  # of what never holds anything follows
                return ["some call passes them"]
            pending = list(range(len(self._events)))
            first = self._first_failing(pending)
            if first is None:
                return []
            if isinstance(self._events[first].fact, AboutNumbers):
                self._begin(is_exact=True)
            return self._settle(pending)
        except _OutOfTime:
            return ["what the trace read is as it was"]

    def _begin(self, is_exact: bool) -> None:
        self._terms = Terms(is_exact, self._leaves)
        self._hypotheses = Hypotheses(self._terms, self._call, self._classes, self._wanted)
        self._solver = self._z3.Solver()
        self._solver.add(*self._hypotheses.all())
        self._facts = [
            self._z3.And(*conclude(self._terms, self._hypotheses, event.fact), True) for event in self._events
        ]

    def _settle(self, pending: list[int]) -> list[str]:
        """Raises for the first fact that the guards do not imply; returns those to which there is no answer."""
        unanswered = []
        while (first := self._first_failing(pending)) is not None:
            event = self._events[first]
            if not isinstance(event.fact, AboutNumbers):
                raise self._error(first, self._case(event.fact, self._model([first])))
            found = self._numbers(first)
            if found is not None:
                raise self._error(first, found)
            if self._fails([first]):
                unanswered.append(self._text(event))
                pending = [i for i in pending if i != first]
        return unanswered

    # -- the solver ----------------------------------------------------------------------------------------------------

    def _check(self, *assumptions: Term) -> bool:
        """Returns whether something can be while the hypotheses hold.

        Raises:
          _OutOfTime: If there is no answer.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise _OutOfTime
        self._solver.set("timeout", int(left * 1000) + 1)
        answer = self._solver.check(*assumptions)
        if answer == self._z3.unknown:
            raise _OutOfTime
        return answer == self._z3.sat

    def _fails(self, chosen: Sequence[int]) -> bool:
        """Returns whether the hypotheses leave a case in which one of some facts does not hold."""
        return self._model(chosen) is not None

    def _model(self, chosen: Sequence[int]) -> Any:
        self._solver.push()
        try:
            self._solver.add(self._z3.Not(self._z3.And(*(self._facts[i] for i in chosen), True)))
            return self._solver.model() if self._check() else None
        finally:
            self._solver.pop()

    def _first_failing(self, pending: Sequence[int]) -> int | None:
        """Returns the first fact that the hypotheses do not imply, found by bisection."""
        if not self._fails(pending):
            return None
        low, high = 0, len(pending)  # the first `low` are implied, of the first `high` one is not
        while high - low > 1:
            middle = (low + high) // 2
            if self._fails(pending[low:middle]):
                high = middle
            else:
                low = middle
        return pending[low]

    # -- counter-examples ----------------------------------------------------------------------------------------------

    def _numbers(self, first: int) -> dict[str, Any] | None:
        """Returns a case of numbers in which the guards hold and a fact does not, that is so in Python too."""
        fact, terms, plan = self._events[first].fact, self._terms, self._call.numbers
        traced = {e.fact.path: e.fact.value for e in self._events if isinstance(e.fact, facts.ReadsNumber)}
        paths = dict.fromkeys((*(n.path for n in plan.numbers if isinstance(n, ReadNumber)), *traced))
        if traced.keys() == paths.keys():
            for inputs in python.nearby(traced):
                found = self._tried(fact, inputs)
                if found is not None:
                    return found
        for _ in range(_N_TRIES):
            model = self._model([first])
            if model is None:
                return None
            inputs = {}
            for path in paths:
                is_known, value = terms.read(model, terms.value(terms.place(path)))
                if not is_known:
                    return None
                inputs[path] = value
            found = self._tried(fact, inputs)
            if found is not None:
                return found
            self._teach(inputs, fact)
        return None

    def _tried(self, fact: Any, inputs: dict[Path, Any]) -> dict[str, Any] | None:
        """Returns a case in words if it is one in Python, and the other guards allow it."""
        plan = self._call.numbers
        found = python.run(plan, inputs)
        if not python.is_let_in(plan, found) or python.holds(fact, found, inputs):
            return None
        if not self._check(*(self._is(path, value) for path, value in inputs.items())):
            return None
        case: dict[str, Any] = {self._name_of(path): value for path, value in inputs.items()}
        value = python.outcome(fact, found, inputs)
        if isinstance(fact, facts.ReadsNumber):
            return case
        if isinstance(fact, facts.ComputesNumber):
            case[plan.text(fact.step, self._name_of)] = found[fact.step]
        text = (
            plan.text(fact.step, self._name_of)
            if hasattr(fact, "step") and not isinstance(fact, facts.ComputesNumber)
            else operation_text(plan, fact.how, fact.operands, self._name_of)
        )
        return {**case, text: value}

    def _is(self, path: Path, value: object) -> Any:
        return self._terms.value(self._terms.place(path)) == self._terms.constant(value)

    def _teach(self, inputs: dict[Path, Any], fact: Any) -> None:
        """Tells the solver what the operations give for some numbers."""
        terms, plan = self._terms, self._call.numbers
        found, known = python.run(plan, inputs), []
        for step, value in enumerate(found):
            is_defined = self._hypotheses.is_defined[step]
            if value is python.RAISED:
                known.append(self._z3.Not(is_defined))
                break  # what follows has no operands
            known.append(self._hypotheses.numbers[step].term == terms.constant(value))
        else:
            if hasattr(fact, "how"):
                term, is_defined = terms.compute(fact.how, list(map(self._hypotheses.operand, fact.operands)))
                value = python.outcome(fact, found, inputs)
                is_raised = value is python.RAISED
                known += [self._z3.Not(is_defined)] if is_raised else [is_defined, term == terms.constant(value)]
        case = self._z3.And(*(self._is(path, value) for path, value in inputs.items()), True)
        self._solver.add(self._z3.Implies(case, self._z3.And(*known, True)))

    def _case(self, fact: AboutObjects, model: Term) -> dict[str, Any]:
        """Returns a case in which a fact does not hold that is about no numbers."""
        terms, name = self._terms, self._name_of
        match fact:
            case facts.LoadsValue(path, value):
                is_known, other = terms.read(model, terms.value(terms.place(path)))
                return {name(path): other if is_known else _Other(value)}
            case facts.CountsItems(path, n):
                found = model.eval(terms.attribute("length", terms.place(path), False), model_completion=True)
                return {f"len({name(path)})": found.as_long() if found.as_long() >= 0 else n + 1}
            case facts.AreOne(path, other):
                return {f"{name(path)} is {name(other)}": False}
            case facts.ShareMemory(path, other):
                return {f"{name(path)} shares memory with {name(other)}": False}
            case facts.AreApart(path, others) | facts.ShareNoMemory(path, others):
                is_apart = isinstance(fact, facts.AreApart)
                of = lambda path: terms.place(path) if is_apart else terms.attribute("storage", terms.place(path))
                equal = (o for o in others if self._z3.is_true(model.eval(of(path) == of(o), model_completion=True)))
                word = "is" if is_apart else "shares memory with"
                return {f"{name(path)} {word} {name(next(equal, others[0]))}": True}
            case _:
                assert_never(fact)

    # -- words ---------------------------------------------------------------------------------------------------------

    def _name_of(self, path: Path) -> str:
        return place_name(path, self._key.parameters)

    def _text(self, event: Event) -> str:
        return fact_text(event.fact, self._call.numbers, self._name_of)

    def _error(self, number: int, case: dict[str, Any]) -> UnsoundGuardsError:
        event = self._events[number]
        place, _, source = event.line.partition("  ")
        place = place.rpartition("/")[2]
        where = f"at {place}{f': `{source}`' if source else ''}, " if place else ""
        shown_case = ", ".join(f"`{text}` is {shown(value)}" for text, value in case.items())
        error = UnsoundGuardsError(
            f"The guards of `{self._name}` let calls in for which its program was not made. The trace relied on it, "
            f"{where}that {self._text(event)} (the first of {len(self._events)} facts that the guards do not imply is "
            f"number {number + 1}). The guards hold also where {shown_case}. This is a defect of jaxaot: please report "
            f"it. Until then run the function eagerly: `ja.compiler.disable({self._name})`."
        )
        error.fact, error.line, error.counterexample = self._text(event), event.line, case
        return error


class _Other:
    """Stands for any other value."""

    def __init__(self, value: Any):
        self._value = value

    def __repr__(self) -> str:
        return f"something else than {shown(self._value)}"
