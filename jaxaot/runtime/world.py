"""Writes the part of a call that changes Python's objects: what is made for it, and how it is put into its places.

What can be said in one call into C happens at once when the graph has run (`store.py`): attributes, items, slices. What
has to be put together from arrays that the graph returns comes after it, while signals wait.
"""

from __future__ import annotations

import contextvars
import inspect
import keyword
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from typing import Any, assert_never

import numpy as np

from jaxaot import _trees as pytree
from jaxaot.facade.cells.cells import cell_kinds
from jaxaot.plan.cells import PlacePlan
from jaxaot.plan.paths import Path
from jaxaot.plan.source import Source
from jaxaot.plan.world import (
    AttributeWrite,
    BuiltArray,
    BuiltConstant,
    BuiltObject,
    BuiltTensor,
    CellWrite,
    ComputedValue,
    ContentWrite,
    ContextWrite,
    DequeWrite,
    HookWrite,
    ItemWrite,
    Made,
    MadeCall,
    MadeCopy,
    MadeInstance,
    MadeMapping,
    MadeSequence,
    MadeTree,
    MembersWrite,
    MetadataWrite,
    OutsideObject,
    PassedValue,
    PendingValue,
    RefillWrite,
    SliceWrite,
    Value,
    WorldPlan,
    WorldWrite,
    values_of,
)
from jaxaot.runtime.store import ASSIGNED_ATTRIBUTE, ASSIGNED_ITEM, Change

_END = slice(2**62, None)
"""What comes after the items of a list, however many there are."""


def _assignment(write: WorldWrite, classes: Mapping[Path, type]) -> str | None:
    """Returns the sign of the assignment, `x.name = …` or `x[key] = …`, that does what a write says.

    None if there is none, or if one would run code of the user's class.
    """
    match write:
        case AttributeWrite(path, name, value, False) if value is not None and name.isidentifier() and name.isascii():
            cls = classes.get(path)
            if cls is None or keyword.iskeyword(name) or cls.__setattr__ is not object.__setattr__:
                return None
            member = inspect.getattr_static(cls, name, None)
            is_slot = isinstance(member, types.MemberDescriptorType)
            return ASSIGNED_ATTRIBUTE if is_slot or not hasattr(type(member), "__set__") else None
        case ItemWrite(path, _, value, cls) if value is not None and cls is dict:
            is_dict = classes.get(path) is dict or path[-1] == ("attr", "__globals__")
            return ASSIGNED_ITEM if is_dict else None
        case (
            CellWrite() | MetadataWrite() | AttributeWrite() | ItemWrite() | RefillWrite() | SliceWrite() | DequeWrite()
            | MembersWrite() | ContentWrite() | ContextWrite() | HookWrite()
        ):  # fmt: skip
            return None
        case _:
            assert_never(write)


class WorldWriter:
    """Writes what one program's call does to Python's objects."""

    def __init__(
        self, source: Source, places: PlacePlan, plan: WorldPlan, tensor: Callable[[int], str], steps: frozenset[int]
    ):
        """Begins.

        Args:
          source: Where to.
          places: The cells.
          plan: What is done.
          tensor: Takes the number of a tensor to its expression.
          steps: The numbers that are computed after the graph has run.
        """
        self.source = source
        self._steps = steps
        self.places = places
        self.plan = plan
        self._tensor = tensor
        self._made: set[int] = set()
        self._filled: list[int] = []
        self._late = self._find_late()

    def _find_late(self) -> set[int]:
        """Returns the numbers of the objects that cannot be made before the graph has run."""
        late: set[int] = set()
        while True:
            more = {
                number
                for number, made in enumerate(self.plan.made)
                if any(isinstance(v, BuiltArray) or self._is_late(v, late) for v in values_of(made))
            }  # fmt: skip
            if more == late:
                return late
            late = more

    def _is_late(self, value: Value | None, objects: set[int] | None = None) -> bool:
        """Returns whether a value is there only when the graph has run; `objects` are those known to be late so far."""
        if isinstance(value, ComputedValue):
            return value.step in self._steps
        return isinstance(value, BuiltObject) and value.number in (self._late if objects is None else objects)

    def _is_at_once(self, write: WorldWrite) -> bool:
        """Returns whether a write is one call into C."""
        match write:
            case MetadataWrite() | RefillWrite() | HookWrite():
                return False
            case CellWrite(_, value) | AttributeWrite(value=value) | ItemWrite(value=value):
                return not self._is_late(value)
            case SliceWrite() | DequeWrite() | MembersWrite() | ContextWrite():
                return not any(isinstance(v, BuiltArray) or self._is_late(v) for v in values_of(write))
            case ContentWrite():
                return True
            case _:
                assert_never(write)

    @property
    def is_at_once(self) -> bool:
        """Whether all writes are."""
        return all(map(self._is_at_once, self.plan.writes))

    def make(self) -> None:
        """Writes what makes the objects that can be made before the graph runs."""
        self._make([number for number in range(len(self.plan.made)) if number not in self._late])

    def _make(self, numbers: list[int]) -> None:
        for number in numbers:
            self._make_one(number)
        for number in self._filled:
            self._fill(number)
        self._filled = []

    def _make_one(self, number: int) -> None:
        """Writes what makes an object; what can be changed is made empty, as what it holds may hold it."""
        if number in self._made:
            return
        made, source, name = self.plan.made[number], self.source, f"x{number}"
        self._made.add(number)
        if _is_filled_later(made):
            self._filled.append(number)
            source.add(f"{name} = {self._empty(made)}")
        for value in values_of(made):
            if isinstance(value, BuiltObject):
                self._make_one(value.number)
        match made:
            case MadeSequence(cls, items) if not _is_filled_later(made):
                make = source.constant(cls._make if hasattr(cls, "_make") else cls)
                text = self._tuple(items)
                source.add(f"{name} = {text if cls is tuple else f'{make}({text})'}")
            case MadeTree(tree, items):
                source.add(f"{name} = {source.constant(tree)}.unflatten({self._tuple(items)})")
            case MadeCopy(array):
                source.add(f"{name} = {source.constant(array)}.copy()")
            case MadeCall(make, items):
                source.add(f"{name} = {source.constant(make)}(*{self._tuple(items)})")
            case MadeSequence() | MadeMapping() | MadeInstance():
                return
            case _:
                assert_never(made)

    def _empty(self, made: Made) -> str:
        match made:
            case MadeSequence(cls, _, limit) if cls is deque:
                return f"{self.source.constant(cls)}((), {limit})"
            case MadeMapping(cls, factory=factory) if cls is defaultdict and factory is not None:
                return f"{self.source.constant(cls)}({self.text(factory)})"
            case MadeInstance(cls) if cls is types.CellType:
                return f"{self.source.constant(cls)}()"
            case MadeInstance(cls):
                self.source.scope["newobject"] = object.__new__
                return f"newobject({self.source.constant(cls)})"
            case MadeSequence(cls) | MadeMapping(cls):
                return f"{self.source.constant(cls)}()"
            case MadeTree() | MadeCopy() | MadeCall():
                raise AssertionError("a tree or an array is not filled later")
            case _:
                assert_never(made)

    def _fill(self, number: int) -> None:
        made, source, name = self.plan.made[number], self.source, f"x{number}"
        match made:
            case MadeSequence(cls, items) if items:
                source.add(f"{name}.{'update' if cls is set else 'extend'}({self._tuple(items)})")
            case MadeMapping(cls, keys, items):
                put = source.constant(OrderedDict.__setitem__ if cls is OrderedDict else dict.__setitem__)
                for key, item in zip(keys, items, strict=True):
                    source.add(f"{put}({name}, {self.text(key)}, {self.text(item)})")
            case MadeInstance(_, names, items):
                for attribute, item in zip(names, items, strict=True):
                    source.add(f"setattribute({name}, {attribute!r}, {self.text(item)})")
            case MadeSequence() | MadeTree() | MadeCopy() | MadeCall():
                return
            case _:
                assert_never(made)

    def text(self, value: Value) -> str:
        """Returns the expression of a value."""
        match value:
            case OutsideObject(path):
                return self.source.path(path)
            case PassedValue(leaf):
                return f"leaves[{leaf}]"
            case ComputedValue(step):
                return f"z{step}"
            case BuiltArray(output):
                return f"out[{output}]"
            case BuiltTensor(tensor):
                return self._tensor(tensor)
            case BuiltConstant(constant):
                return repr(constant) if constant is None or type(constant) is bool else self.source.constant(constant)
            case BuiltObject(number):
                return f"x{number}"
            case PendingValue():
                raise AssertionError("a plan has no values of a trace")
            case _:
                assert_never(value)

    def _tuple(self, values: tuple[Value, ...]) -> str:
        return f"({''.join(f'{self.text(value)}, ' for value in values)})"

    # -- at once -------------------------------------------------------------------------------------------------------

    def changes(
        self, source_of: Callable[[int], str | int], classes: Mapping[Path, type] | None = None
    ) -> list[Change]:
        """Returns what is changed at once.

        Args:
          source_of: Takes a graph output to what a `Change` has for it.
          classes: Path to an object → its class, where that is guarded. If it is given, what is said by an assignment
            as well is one, whose `how` is its sign.
        """
        found: list[Change] = []
        for write in self.plan.writes:
            if self._is_at_once(write):
                sign = None if classes is None else _assignment(write, classes)
                changes = self._changes(write, source_of)
                found += changes if sign is None else [change._replace(how=sign) for change in changes]
        return found

    def _changes(self, write: WorldWrite, source_of: Callable[[int], str | int]) -> list[Change]:
        source = self.source
        give = lambda value: source_of(value.output) if isinstance(value, BuiltArray) else self.text(value)
        match write:
            case CellWrite(cell, value):
                kind = cell_kinds()[self.places.cells[cell].kind]
                return [Change(f"C[{cell}]", repr(kind.value_attribute), give(value))]
            case AttributeWrite(path, name, value, is_of_class):
                cls = type if is_of_class else object
                if value is None:
                    return [Change(source.path(path), None, repr(name), source.constant(cls.__delattr__))]
                how = source.constant(type.__setattr__) if is_of_class else "setattribute"
                return [Change(source.path(path), repr(name), give(value), how)]
            case ItemWrite(path, key, value, cls):
                if value is None:
                    return [Change(source.path(path), None, self.text(key), source.constant(cls.__delitem__))]
                return [Change(source.path(path), self.text(key), give(value), source.constant(cls.__setitem__))]
            case SliceWrite(path, start, stop, items):
                part = source.constant(_END if start is None else slice(start, stop))
                return [Change(source.path(path), part, self._tuple(items), source.constant(list.__setitem__))]
            case DequeWrite(path, items, limit, grows):
                new, before = "".join(f"{self.text(item)}, " for item in items), f"*{source.path(path)}, "
                listed = f"[{before}{new}]" if grows == "right" else f"[{new}]"
                listed = f"[{new}{before}][:{limit}]" if grows == "left" else listed
                return [Change(source.path(path), listed, repr(limit), source.constant(deque.__init__))]
            case MembersWrite(path, items, lost):
                pairs = ((items, set.update), (lost, set.difference_update))
                return [Change(source.path(path), self._tuple(v), "()", source.constant(do)) for v, do in pairs if v]
            case ContentWrite(path, array):
                put = source.constant(type(array).__setitem__)
                part = "..." if isinstance(array, np.ndarray) else source.constant(slice(None))
                return [Change(source.path(path), part, source.constant(array), put)]
            case ContextWrite(path, value):
                return [Change(source.path(path), None, self.text(value), source.constant(contextvars.ContextVar.set))]
            case MetadataWrite() | RefillWrite() | HookWrite():
                return []
            case _:
                assert_never(write)

    # -- afterwards ----------------------------------------------------------------------------------------------------

    def write_others(self) -> None:
        """Writes the others: first all objects are made, then they are put into their places."""
        others = [write for write in self.plan.writes if not self._is_at_once(write)]
        self._make(sorted(self._late))
        for write in others:
            self._put(write)

    def _put(self, write: WorldWrite) -> None:
        source = self.source
        match write:
            case CellWrite(cell, value):
                kind = cell_kinds()[self.places.cells[cell].kind]
                source.add(f"{source.constant(kind.write)}(C[{cell}], {self.text(value)})")
            case MetadataWrite(cell, metadata):
                name = cell_kinds()[self.places.cells[cell].kind].metadata_attribute
                source.add(f"C[{cell}].{name}.clear()")
                source.add(f"C[{cell}].{name}.update({source.constant(dict(metadata))})")
            case RefillWrite(path, keys, items):
                source.scope["refill"] = refill
                source.add(f"refill({source.path(path)}, {self._tuple(keys)}, {self._tuple(items)})")
            case HookWrite(tensor, hook):
                name = "retain_grad" if hook is None else "register_hook"
                source.add(f"{self.text(tensor)}.{name}({'' if hook is None else self.text(hook)})")
            case (
                AttributeWrite() | ItemWrite() | SliceWrite() | DequeWrite() | MembersWrite() | ContentWrite()
                | ContextWrite()
            ):  # fmt: skip
                for change in self._changes(write, lambda output: f"out[{output}]"):
                    arguments = [change.owner, *([] if change.name is None else [change.name]), str(change.value)]
                    source.add(f"{change.how}({', '.join(arguments)})")
            case _:
                assert_never(write)


def _is_filled_later(made: Made) -> bool:
    """Returns whether an object can be changed, so that it is made empty first."""
    match made:
        case MadeSequence(cls):
            return cls in (list, set, deque)
        case MadeMapping() | MadeInstance():
            return True
        case MadeTree() | MadeCopy() | MadeCall():
            return False
        case _:
            assert_never(made)


def refill(items: dict[Any, Any], keys: tuple[Any, ...], values: tuple[Any, ...]) -> None:
    """Gives a dict other items, past methods of a class of the user's."""
    cls: Any = OrderedDict if isinstance(items, OrderedDict) else dict
    cls.clear(items)
    for key, value in zip(keys, values, strict=True):
        cls.__setitem__(items, key, value)


SINGLE = pytree.structure(0)
"""The tree of a value that is one leaf."""
