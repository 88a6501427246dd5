"""The facts of a trace as conclusions, and in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, assert_never

from jaxaot.plan import facts
from jaxaot.plan.facts import Event, Fact
from jaxaot.plan.guards import shown
from jaxaot.plan.number_program import SIGNS, NumberPlan, NumberStep
from jaxaot.plan.paths import Path
from jaxaot.validate.hypotheses import Hypotheses
from jaxaot.validate.terms import Term, Terms

AboutNumbers: TypeAlias = (
    facts.ReadsNumber | facts.ComputesNumber | facts.FailsToCompute | facts.UsesNumber | facts.EntersGraph
)
"""Facts of which a counter-example is tried in Python's own arithmetic."""

AboutObjects: TypeAlias = (
    facts.LoadsValue | facts.CountsItems | facts.AreOne | facts.AreApart | facts.ShareMemory | facts.ShareNoMemory
)


def places_of(fact: Fact) -> tuple[Path, ...]:
    """Returns the places that a fact speaks of."""
    match fact:
        case facts.ReadsNumber(_, path) | facts.LoadsValue(path) | facts.CountsItems(path):
            return (path,)
        case facts.AreOne(path, other) | facts.ShareMemory(path, other):
            return path, other
        case facts.AreApart(path, others) | facts.ShareNoMemory(path, others):
            return path, *others
        case facts.ComputesNumber() | facts.FailsToCompute() | facts.UsesNumber() | facts.EntersGraph():
            return ()
        case _:
            assert_never(fact)


def wanted_places(events: Sequence[Event]) -> frozenset[Path]:
    """Returns the places that facts speak of, and all on the way to them."""
    paths = {path for event in events for path in places_of(event.fact)}
    return frozenset(path[:n] for path in paths for n in range(1, len(path) + 1))


def conclude(terms: Terms, hypotheses: Hypotheses, fact: Fact) -> Iterator[Term]:
    """Yields the terms that are true where a fact holds."""
    numbers = hypotheses.numbers
    match fact:
        case facts.ReadsNumber(step, path, cls):
            yield terms.is_of(cls, numbers[step].term)
            yield numbers[step].term == terms.value(terms.place(path))
        case facts.ComputesNumber(step, how, operands, cls):
            term, is_defined = terms.compute(how, list(map(hypotheses.operand, operands)))
            yield is_defined
            yield terms.is_of(cls, term)
            yield numbers[step].term == term
        case facts.FailsToCompute(how, operands):
            yield terms.compute(how, list(map(hypotheses.operand, operands)))[1] == False  # noqa: E712 a term
        case facts.UsesNumber(step, value):
            yield numbers[step].term == terms.constant(value)
        case facts.EntersGraph(step):
            whole = terms.whole_of(numbers[step].term)
            yield whole >= -(2**31)
            yield whole < 2**31
        case facts.LoadsValue(path, value):
            yield terms.value(terms.place(path)) == terms.constant(value)
        case facts.CountsItems(path, n):
            yield terms.attribute("length", terms.place(path), False) == n
        case facts.AreOne(path, other):
            yield terms.place(path) == terms.place(other)
        case facts.AreApart(path, others):
            yield from _apart(terms, terms.place(path), map(terms.place, others))
        case facts.ShareMemory(path, other):
            yield _storage(terms, path) == _storage(terms, other)
        case facts.ShareNoMemory(path, others):
            yield from _apart(terms, _storage(terms, path), (_storage(terms, other) for other in others))
        case _:
            assert_never(fact)


def _apart(terms: Terms, one: Term, others: Iterable[Term]) -> Iterator[Term]:
    return filter(lambda term: term is not None, (terms.apart(one, other) for other in others))


def _storage(terms: Terms, path: Path) -> Any:
    return terms.attribute("storage", terms.place(path))


# -- words -------------------------------------------------------------------------------------------------------------


def operation_text(plan: NumberPlan, how: str, operands: Sequence[Any], name: Callable[[Path], str]) -> str:
    """Returns an operation on numbers as a user would write it."""
    texts = [plan.text(v.step, name) if isinstance(v, NumberStep) else repr(v) for v in operands]
    return f" {SIGNS[how]} ".join(texts) if how in SIGNS else f"{how}({', '.join(texts)})"


def fact_text(fact: Fact, plan: NumberPlan, name: Callable[[Path], str]) -> str:
    """Returns what was relied on, as what comes after `the trace relied on it that`."""
    match fact:
        case facts.ReadsNumber(_, path, cls):
            return f"`{name(path)}` is a number of type {cls.__name__} and read as such"
        case facts.ComputesNumber(step, how, operands, cls):
            text = operation_text(plan, how, operands, name)
            return f"`{text}` is of type {cls.__name__} and what each call computes as `{plan.text(step, name)}`"
        case facts.FailsToCompute(how, operands):
            return f"`{operation_text(plan, how, operands, name)}` raises an error"
        case facts.UsesNumber(step, value):
            return f"`{plan.text(step, name)}` is {shown(value)}"
        case facts.EntersGraph(step):
            return f"`{plan.text(step, name)}` fits into 32 bits"
        case facts.LoadsValue(path, value):
            return f"`{name(path)}` is {shown(value)}"
        case facts.CountsItems(path, n):
            return f"`{name(path)}` has {n} items"
        case facts.AreOne(path, other):
            return f"`{name(path)}` is `{name(other)}`"
        case facts.AreApart(path, others):
            return f"`{name(path)}` is another object than {_listed(others, name)}"
        case facts.ShareMemory(path, other):
            return f"`{name(path)}` shares memory with `{name(other)}`"
        case facts.ShareNoMemory(path, others):
            return f"`{name(path)}` shares no memory with {_listed(others, name)}"
        case _:
            assert_never(fact)


def _listed(paths: Sequence[Path], name: Callable[[Path], str]) -> str:
    shown_paths = [f"`{name(path)}`" for path in paths[:5]]
    return ", ".join(shown_paths) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
