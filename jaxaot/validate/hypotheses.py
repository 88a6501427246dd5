"""The guards of a program as hypotheses: from the frozen plans alone, from which the checks of a call are written too.

A guard that is not translated is a hypothesis less, which proves no less than what is true.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, assert_never

import jax

from jaxaot import _trees as pytree
from jaxaot.plan.call import CallPlan
from jaxaot.plan.guards import (
    LEAVES,
    Condition,
    EqualTo,
    HasAttributes,
    HasCode,
    HasKeys,
    HasLayout,
    HasLength,
    HasMembers,
    HasType,
    IsAbsent,
    IsAlsoAt,
    IsHeldWeakly,
    IsObject,
    IsTensor,
)
from jaxaot.plan.members import AreDistinct, HasItems, HasMethods
from jaxaot.plan.number_program import AskedNumber, ComputedNumber, NumberPlan, NumberStep, ReadNumber
from jaxaot.plan.paths import ObjectKey, Path, class_member, function_behind
from jaxaot.validate.terms import Number, Term, Terms

_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def leaf_paths(tree: object, n: int) -> list[Path | None]:
    """Returns for each leaf of the arguments the path to it; None below objects of which jax does not tell it."""
    try:
        found = pytree.flatten_with_path(pytree.unflatten(tree, range(n)))[0]
    except Exception:  # a user's container may refuse what is put into it
        return [None] * n
    paths = [_leaf_path(keys, classes) for (keys, _), classes in zip(found, _classes(tree, ()), strict=False)]
    return paths if len(paths) == n else [None] * n


def _classes(tree: object, above: tuple[type, ...]) -> Iterator[tuple[type, ...]]:
    """Yields for each leaf of a tree the classes of what it is in, from the outermost."""
    node = tree.node_data()
    if node is None or node[0] is type(None):
        yield from [above] * tree.num_leaves
        return
    for child in tree.children():
        yield from _classes(child, (*above, node[0]))


def _leaf_path(keys: Any, classes: tuple[type, ...]) -> Path | None:
    root, *rest = keys
    steps: list[tuple[str, Any]] = [("root", ("args", "kwargs")[root.idx])]
    for key, cls in zip(rest, classes[1:], strict=False):
        if isinstance(key, jax.tree_util.SequenceKey):
            steps.append(("item", key.idx))
        elif isinstance(key, jax.tree_util.DictKey):
            steps.append(("item", key.key))
        elif isinstance(key, jax.tree_util.GetAttrKey) and hasattr(cls, "_fields"):
            steps.append(("item", cls._fields.index(key.name)))
        elif isinstance(key, jax.tree_util.GetAttrKey) and dataclasses.is_dataclass(cls):
            steps.append(("attr", key.name))
        else:
            return None
    return tuple(steps)


class Hypotheses:
    """What holds where the guards of a program let a call in.

    Attributes:
      numbers: The numbers of the call, each as a term.
    """

    def __init__(self, terms: Terms, call: CallPlan, classes: Mapping[int, type], wanted: frozenset[Path]):
        """Translates the guards.

        Args:
          terms: Makes the terms.
          call: What the call takes.
          classes: Step of a number → its type in the trace, which decides what an operation on it means.
          wanted: The places that the facts speak of, and all on the way to them.
        """
        self._terms = terms
        self._call = call
        self._wanted = wanted
        self._keys = {g.path: g.condition.keys for g in call.python if isinstance(g.condition, HasKeys)}
        self.numbers: list[Number] = []
        self.is_defined: list[Any] = []
        self._compute(call.numbers, classes)

    def all(self) -> Iterator[Term]:
        """Yields the hypotheses."""
        terms, call = self._terms, self._call
        for static in call.statics:
            yield from self._condition((LEAVES, ("item", static.leaf)), static.condition)
        for guard in call.python:
            yield from self._condition(guard.path, guard.condition)
        yield from self._members()
        for guard in call.grads:
            gradient = terms.place((*call.tensors[guard.tensor].path, ("attr", "_grad")))
            is_none = terms.value(gradient) == terms.constant(None)
            yield is_none if guard.is_none else is_none == False  # noqa: E712 a term
        yield from self._tensors()
        yield from self._number_guards(call.numbers)
        yield terms.are_known_distinct()

    def _condition(self, path: Path, condition: Condition) -> Iterator[Term]:
        terms = self._terms
        place = terms.place(path)
        match condition:
            case EqualTo(value):
                yield from self._equal(path, value)
            case IsObject(value):
                yield from self._equal(path, value) if isinstance(value, _PLAIN) else (place == terms.known(value),)
            case IsHeldWeakly(reference):
                value = reference()
                if value is not None and not hasattr(value, "__func__"):  # a method is another object each time
                    yield place == terms.known(value)
            case HasCode(value):
                yield terms.attribute("code", place) == terms.known(value)
            case HasType(cls):
                yield from self._type(path, cls)
            case HasLength(n):
                yield terms.attribute("length", place, False) == n
            case HasAttributes(n):
                yield terms.attribute("attributes", place, False) == n
            case HasKeys(keys):
                yield terms.attribute("length", place, False) == len(keys)
            case HasMembers(members):
                yield terms.attribute("length", place, False) == len(members)
            case HasLayout(layout, requires_grad):
                yield terms.attribute("layout", place) == terms.known(layout)
                yield terms.attribute("requires grad", place, False) == int(requires_grad)
            case HasItems():
                yield from self._items(path, condition)
            case IsAlsoAt(other):
                yield place == terms.place(other)
            case IsTensor(number):
                yield place == terms.place(self._call.tensors[number].path)
            case AreDistinct(paths):
                yield terms.distinct(map(terms.place, paths))
            case IsAbsent() | _:
                return

    def _members(self) -> Iterator[Term]:
        """Yields which functions are found in classes, by the guards on the namespaces of these."""
        terms, guards = self._terms, self._call.python
        classes = {g.path: g.condition.value for g in guards if isinstance(g.condition, IsObject)}
        classes |= {(*g.path, ("type", None)): g.condition.cls for g in guards if isinstance(g.condition, HasType)}
        members = [m.value for g in guards if isinstance(g.condition, HasMethods) for m in g.condition.members]
        guarded = {id(function_behind(member) or member) for member in members}
        steps = {g.path[: i + 1] for g in guards for i, (kind, _) in enumerate(g.path) if kind == "class"}
        for path in steps:
            cls, name = classes.get(path[:-1]), path[-1][1]
            if isinstance(cls, type) and any(name in vars(owner) for owner in cls.__mro__):
                found = class_member(cls, name)
                if id(found) in guarded:
                    yield terms.place(path) == terms.known(found)

    def _type(self, path: Path, cls: Any) -> Iterator[Term]:
        terms = self._terms
        place = terms.place(path)
        yield terms.place((*path, ("type", None))) == terms.known(cls)
        if cls in (int, float, bool):
            yield terms.is_of(cls, terms.value(place))

    def _equal(self, path: Path, value: object) -> Iterator[Term]:
        terms = self._terms
        yield terms.value(terms.place(path)) == terms.constant(value)
        if type(value) is tuple:  # compared as a whole
            yield terms.attribute("length", terms.place(path), False) == len(value)
            for i, item in enumerate(value):
                if (*path, ("item", i)) in self._wanted:
                    yield from self._equal((*path, ("item", i)), item)

    def _items(self, path: Path, condition: HasItems) -> Iterator[Term]:
        """Yields of a large container what is wanted of it."""
        chosen = range(len(condition.seen)) if condition.chosen is None else condition.chosen
        keys = self._keys.get(path, ()) if condition.is_dict else None
        for position, item, is_plain in condition.seen.each(chosen):
            key = position if keys is None else keys[position] if position < len(keys) else None
            step = ("key", key) if isinstance(key, ObjectKey) else ("item", key)
            if (*path, step) in self._wanted:
                if is_plain:
                    yield from self._equal((*path, step), item)
                else:
                    yield self._terms.place((*path, step)) == self._terms.known(item)

    # -- tensors -------------------------------------------------------------------------------------------------------

    def _tensors(self) -> Iterator[Term]:
        terms, call = self._terms, self._call
        places = [terms.place(t.path) for t in call.tensors]
        storage: Callable[[int], Any] = lambda i: terms.attribute("storage", places[i])
        for i, t in enumerate(call.tensors):
            yield terms.attribute("layout", places[i]) == terms.known(t.layout)
            yield terms.attribute("requires grad", places[i], False) == int(t.requires_grad)
            if t.storage < 0 or t.layout is not call.storages[t.storage].layout:
                yield terms.attribute("offset", places[i], False) == t.offset
            if t.storage >= 0:
                first = call.storages[t.storage].tensor
                if first == i:
                    yield terms.attribute("layout", storage(i)) == terms.known(call.storages[t.storage].layout)
                else:
                    yield storage(i) == storage(first)
        if len(call.storages) > 1:
            yield terms.distinct(storage(s.tensor) for s in call.storages)
        for leaf, tensor in call.repeats:
            yield terms.place((LEAVES, ("item", leaf))) == places[tensor]
        of_storage: dict[int, list[int]] = {}
        for i, t in enumerate(call.tensors):
            of_storage.setdefault(t.storage, []).append(i)
        for numbers in of_storage.values():
            for i, j in itertools.combinations(numbers, 2):
                one, other = call.tensors[i], call.tensors[j]
                if one.layout is other.layout and one.offset == other.offset:
                    yield places[i] != places[j]

    # -- numbers -------------------------------------------------------------------------------------------------------

    def operand(self, value: Any) -> Number:
        """Returns an operand: the number of a step, or a constant."""
        if isinstance(value, NumberStep):
            return self.numbers[value.step]
        return Number(self._terms.constant(value), type(value), (value,))

    def _compute(self, plan: NumberPlan, classes: Mapping[int, type]) -> None:
        for step, number in enumerate(plan.numbers):
            match number:
                case ReadNumber(path, cls):
                    term = self._terms.value(self._terms.place(path))
                    self.numbers.append(Number(term, cls))
                    self.is_defined.append(self._terms.is_of(cls, term))
                case ComputedNumber(how, operands):
                    term, is_defined = self._terms.compute(how, list(map(self.operand, operands)))
                    self.numbers.append(Number(term, classes.get(step)))
                    self.is_defined.append(is_defined)
                case AskedNumber():
                    raise AssertionError("where guards are proved its value is asked for")
                case _:
                    assert_never(number)

    def _number_guards(self, plan: NumberPlan) -> Iterator[Term]:
        yield from self.is_defined  # a call in which one raises an error is not let in
        for fact in plan.facts:
            term = self.numbers[fact.step].term
            if fact.is_of_type:
                yield self._terms.is_of(fact.value, term)
            else:
                yield term == self._terms.constant(fact.value)
