"""What a later call puts where a traced function put something: found, made, or an error that says why not."""

from __future__ import annotations

import collections
import dis
import enum
import functools
import sys
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._jax import is_tracer
from jaxaot.errors import AttributeChangeError, LeakedTensorError
from jaxaot.facade.cells.cells import attributes_of, has_attributes, is_cell, kind_of, members_of
from jaxaot.facade.dispatch.arguments import STAND_INS
from jaxaot.facade.indexing.symbolic_numbers import SymbolicNumber
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import is_wrapper
from jaxaot.facade.trace_state import TraceState
from jaxaot.plan.paths import Path, path_text
from jaxaot.plan.world import (
    BuiltArray,
    BuiltConstant,
    BuiltObject,
    BuiltTensor,
    ComputedValue,
    Made,
    MadeCall,
    MadeCopy,
    MadeInstance,
    MadeMapping,
    MadeSequence,
    MadeTree,
    OutsideObject,
    PassedValue,
    PendingValue,
    Value,
    WorldPlan,
    WorldWrite,
    with_values,
)
from jaxaot.tracer.observe.boundary import is_foreign_class, is_installed, module_of
from jaxaot.tracer.observe.containers import CONSTANT, PLAIN
from jaxaot.tracer.observe.noting import MISSING
from jaxaot.tracer.observe.side_effects import content_of
from jaxaot.views.layout import Layout

_FIXED = (type, types.ModuleType, types.BuiltinFunctionType, np.generic, Layout, *PLAIN, *CONSTANT)
"""What is the same at every call."""
_STORES = ("STORE_ATTR", "STORE_GLOBAL", "STORE_DEREF", "STORE_NAME")


class Recipes:
    """Takes what a traced function put somewhere to what a later call puts there.

    Attributes:
      made: The objects that the function made and kept outside.
      numbers: Id of each of them → its number.
      tensors: The tensors among what it kept.
    """

    def __init__(
        self, trace: TraceState, paths: Mapping[int, Path], given: Iterable[Any], codes: Iterable[types.CodeType]
    ):
        """Begins.

        Args:
          trace: The trace, which is still running.
          paths: Id of each object from outside → its path.
          given: What the function was given for each leaf of the arguments.
          codes: The code that runs, as far as it is known.
        """
        self._codes = codes
        self.made: list[Made] = []
        self.tensors: list[Tensor] = []
        self._trace = trace
        self._paths = paths
        self._given = {id(value): i for i, value in enumerate(given) if is_tracer(value) or isinstance(value, Tensor)}
        self.numbers: dict[int, int] = {}
        self._owners: dict[int, int] = {}
        self._keep: list[Any] = []
        self._makes_functions = False

    def give_function(self, value: Any, place: Path) -> Value:
        """Returns what a later call puts at a place for a function, which may have variables of its own; see `give`."""
        self._makes_functions = True
        try:
            return self.give(value, place)
        finally:
            self._makes_functions = False

    def give(self, value: Any, place: Path) -> Value:
        """Returns what a later call puts at a place.

        Args:
          value: What the function put there.
          place: The path of the place.

        Raises:
          AttributeChangeError: If a later call could not make it again.
        """
        if type(value) in STAND_INS and type(value) is not SymbolicNumber:
            value = value.settled("Keeping the value")
        if type(value) is SymbolicNumber:
            return ComputedValue(value.step)
        if isinstance(value, _FIXED) or is_plain_tuple(value):
            return BuiltConstant(value)
        if id(value) in self._paths:
            return OutsideObject(self._paths[id(value)])
        if isinstance(value, Tensor) and not is_wrapper(value):
            self._refuse_leaked(value, place)
            if id(value) in self._given and value._trace is self._trace:  # a number that was passed
                return PassedValue(self._given[id(value)])
            self.tensors.append(value)
            return PendingValue(value)
        if id(value) in self._given:
            return PassedValue(self._given[id(value)])
        if isinstance(value, jax.Array):
            return PendingValue(value)
        if isinstance(value, types.FunctionType) and _is_importable(value):
            return BuiltConstant(value)
        if _is_value(value) or self._is_reference(value):
            return BuiltConstant(value)
        if id(value) not in self.numbers:
            number = self.numbers[id(value)] = len(self.made)
            self._keep.append(value)
            self.made.append(MadeSequence(list, ()))  # what is inside may lead back to it
            self.made[number] = self._made(value, place, number)
        return BuiltObject(self.numbers[id(value)])

    def _is_reference(self, value: Any) -> bool:
        """Returns whether a value refers weakly to an object from outside, as the keys of weak dicts do."""
        if not isinstance(value, weakref.ReferenceType):
            return False
        referent = value()
        return isinstance(referent, _FIXED) or id(referent) in self._paths

    def _made(self, value: Any, place: Path, number: int) -> Made:
        cls = type(value)
        give = lambda child: self.give(child, place)
        if isinstance(value, np.ndarray):
            return MadeCopy(value.copy())
        if cls in (list, tuple, set, frozenset, deque) or (isinstance(value, tuple) and hasattr(cls, "_make")):
            return MadeSequence(cls, tuple(map(give, value)), getattr(value, "maxlen", None))
        if cls in (dict, OrderedDict, defaultdict, collections.Counter):
            factory = give(value.default_factory) if cls is defaultdict else None
            return MadeMapping(cls, tuple(map(give, value)), tuple(map(give, value.values())), factory)
        if self._makes_functions and isinstance(value, (types.MethodType, types.FunctionType, types.CellType)):
            return self._function(value, place)
        if kind_of(value) is not None:
            return self._tree(value, place, number)
        if is_plain_object(value) or getattr(cls, "is_made_again", False):
            attributes = attributes_of(value)
            return MadeInstance(cls, tuple(attributes), tuple(map(give, attributes.values())))
        if is_tree(value):
            return self._tree(value, place, number)
        self._refuse(value, place)

    def _function(self, value: Any, place: Path) -> Made:
        """Returns how a function, a method or a variable of functions is made again."""
        give = lambda child: self.give(child, place)
        if isinstance(value, types.MethodType):
            return MadeCall(types.MethodType, (give(value.__func__), give(value.__self__)))
        if isinstance(value, types.CellType):
            if (content := content_of(value)) is MISSING:
                self._refuse(value, place)
            return MadeInstance(types.CellType, ("cell_contents",), (give(content),))
        if value.__kwdefaults__ or vars(value):
            self._refuse(value, place)
        make = functools.partial(_function_of, value.__code__, value.__globals__, value.__name__, value.__qualname__)
        return MadeCall(make, tuple(map(give, (value.__defaults__, *(value.__closure__ or ())))))

    def _tree(self, value: object, place: Path, number: int) -> Made:
        def is_leaf(child: object) -> bool:
            is_tensor = isinstance(child, Tensor) and not is_wrapper(child)
            return child is None or id(child) in self._paths or is_tensor

        for cell in pytree.leaves(value, is_leaf=lambda child: is_leaf(child) or is_cell(child)):
            if is_cell(cell) and id(cell) not in self._paths and self._owners.setdefault(id(cell), number) != number:
                raise AttributeChangeError(
                    f"The function made a {type(cell).__name__} and kept it in `{path_text(place)}` and in another "
                    "place. A later call would make two of it. Keep it in one of them, or make it outside."
                )
        leaves, tree = pytree.flatten(value, is_leaf=is_leaf)
        return MadeTree(tree, tuple(self.give(leaf, place) for leaf in leaves))

    def _refuse(self, value: object, place: Path) -> NoReturn:
        line = self._line(place)
        raise AttributeChangeError(
            f"The function put a {type(value).__name__} into `{path_text(place)}`{line}, which a later call could not "
            "make again. Return it from the function and assign it outside, or make it outside. Tensors, arrays, "
            "plain values, containers of them, and objects of classes of your own may be assigned inside."
        )

    def _refuse_leaked(self, tensor: Tensor, place: Path) -> None:
        trace = tensor._storage.trace
        if trace is not None and not trace.is_alive:
            raise LeakedTensorError(
                f"The function made a tensor in the body of a control flow call and kept it in `{path_text(place)}`"
                f"{self._line(place)}. The body runs once, or many times, or not at all, so it has no one value. "
                "Return it from the body: what `ja.cond`, `ja.scan` and the others return may be kept."
            )

    def _line(self, place: Path) -> str:
        """Returns the user's line that is likely to have put something there, as ` at file:line`."""
        names = [key[1] if kind == "closure" else key for kind, key in place if kind in ("attr", "global", "closure")]
        is_inside = place[-1][0] == "item"
        for code in self._codes:
            for instruction in dis.get_instructions(code):
                is_store = instruction.opname in _STORES or is_inside
                if is_store and names and instruction.argval == names[-1]:
                    line = instruction.positions.lineno if instruction.positions else None
                    return f" at {code.co_filename}:{line}" if line else ""
        return ""

    def keeps_numbers(self) -> bool:
        """Returns whether a tensor among what it kept is computed from numbers of the arguments alone."""
        values = [tensor._storage.array for tensor in self.tensors if tensor._trace is self._trace]
        return any(value is not None and not value.shape and jax.typeof(value).weak_type for value in values)

    def plan(self, writes: Iterable[WorldWrite], output: Callable[[Any], int]) -> PendingPlan:
        """Returns the plan, but for the numbers of tensors.

        Args:
          writes: What was changed.
          output: Makes an array an output of the graph.
        """

        def settle(value: Value) -> Value:
            if isinstance(value, PendingValue) and not isinstance(value.value, Tensor):
                return BuiltArray(output(value.value))
            return value

        made = [with_values(item, settle) for item in self.made]
        return PendingPlan(tuple(made), tuple(with_values(write, settle) for write in writes))


class PendingPlan:
    """A plan in which tensors have no numbers yet."""

    def __init__(self, made: tuple[Made, ...], writes: tuple[WorldWrite, ...]):
        self._made = made
        self._writes = writes

    def finish(self, tensor_number: Callable[[Any], Any]) -> WorldPlan:
        """Returns the plan.

        Args:
          tensor_number: Returns the number that the alias plan has for a tensor.
        """

        def settle(value: Value) -> Value:
            return BuiltTensor(tensor_number(value.value)) if isinstance(value, PendingValue) else value

        made = tuple(with_values(item, settle) for item in self._made)
        return WorldPlan(made, tuple(with_values(write, settle) for write in self._writes))


def _function_of(
    code: types.CodeType, variables: dict[str, Any], name: str, qualname: str, defaults: Any, *cells: types.CellType
) -> types.FunctionType:
    made = types.FunctionType(code, variables, name, defaults, cells)
    made.__qualname__ = qualname
    return made


def is_plain_object(value: object) -> bool:
    """Returns whether attributes are all that an object consists of."""
    cls = type(value)
    owners = [owner for owner in cls.__mro__ if owner is not object]
    is_users = cls is types.SimpleNamespace or not any(is_foreign_class(o) or _is_of_c(o) for o in owners)
    return is_users and has_attributes(value) and not isinstance(value, (enum.Enum, Generator))


def _is_of_c(cls: type) -> bool:
    """Returns whether objects of a class are laid out in C, so that only its own `__new__` makes them."""
    return isinstance(members_of(cls).get("__new__"), types.BuiltinFunctionType)


def is_tree(value: object) -> bool:
    """Returns whether a value is of a class that is registered with jax."""
    return pytree.is_node(value)


def _is_value(value: object) -> bool:
    """Returns whether a value is an object of a library that says itself when it is equal, such as a date."""
    cls = type(value)
    is_of_library = is_foreign_class(cls) or is_installed(module_of(cls))
    if cls.__eq__ is object.__eq__ or cls.__hash__ is None or not is_of_library:
        return False
    if any(isinstance(child, (Tensor, jax.Array)) for child in attributes_of(value).values()):
        return False
    if isinstance(value, (tuple, frozenset, types.MethodType, functools.partial)) or is_tree(value):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return not isinstance(value, (weakref.ref, weakref.ProxyType))


def _is_importable(fn: types.FunctionType) -> bool:
    """Returns whether a function is found by its name, rather than made anew by each call of another one."""
    found: Any = sys.modules.get(fn.__module__)
    for name in fn.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is fn


def is_plain_tuple(value: object) -> bool:
    """Returns whether a value is a tuple of plain values, none of which stands for one of the call."""
    if type(value) is not tuple:
        return False
    return all((isinstance(v, PLAIN) and type(v) not in STAND_INS) or is_plain_tuple(v) for v in value)
