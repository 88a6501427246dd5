"""Cells: mutable places outside tensors that hold bare arrays, and the kinds of objects that hold cells.

A library whose objects are mutated in place (flax's nnx) has a *kind*, which says what its cells and objects are and
how they are read, written and opened to the code of a trace. Kinds are registered from above by the name of the module
that they need, and made when that module is there: nothing is imported for their sake.

An *object* is anything passed to a compiled function that is found by attribute rather than by value: an object of a
kind, or an instance of a user's class that is compared by identity.
"""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import enum
import functools
import importlib
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._typing import Shape
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.memory.tensor import Tensor

FOREIGN = frozenset({
    "jax", "jaxlib", "numpy", "ml_dtypes", "jaxaot", "builtins", "typing", "collections", "functools", "abc", "enum",
    "threading", "logging", "io", "weakref", "contextlib", "contextvars",
})  # fmt: skip
"""Packages of JAX, NumPy, jaxaot and Python whose objects, as arguments, hold nothing of the user's."""
OPEN = (
    "jaxaot.demo", "jaxaot.nn.modules", "jaxaot.nn.utils", "jaxaot.optim.rules", "jaxaot.optim.lr_scheduler",
    "jaxaot.optim.swa_utils",
)  # fmt: skip
"""Parts of such packages that are looked into all the same: what users make and change."""


def is_of_library(module: str) -> bool:
    """Returns whether what a module defines holds nothing of the user's."""
    return module.partition(".")[0] in FOREIGN and not module.startswith(OPEN)


class CellKind(abc.ABC):
    """The cells and objects of one library.

    Attributes:
      name: What plans call it.
      cell_types: Classes of its cells.
      object_types: Classes of its objects, whose attributes lead to cells.
      trained_types: Classes of cells whose values are trained.
      value_attribute: Attribute of a cell with its value, a pytree of arrays.
      metadata_attribute: Attribute of a cell with a dict of plain values.
      usual_metadata: Names in that dict that every cell has.
      write: Puts a value into a cell, `write(cell, value)`, whatever trace is running; a C function, for speed.
    """

    name: str
    cell_types: tuple[type, ...]
    object_types: tuple[type, ...]
    trained_types: tuple[type, ...]
    value_attribute: str
    metadata_attribute: str
    usual_metadata: frozenset[str]
    write: Callable[[Any, Any], None]

    @abc.abstractmethod
    def check(self, cell: object) -> None:
        """Raises if a cell is of a sort that cannot be lifted."""

    @abc.abstractmethod
    def is_hidden(self, name: str) -> bool:
        """Returns whether an attribute of an object is the library's own bookkeeping, which is not guarded."""

    @abc.abstractmethod
    def open(self, value: object) -> Any:
        """Lets the trace that is running write to a cell or object; returns what `close` needs."""

    @abc.abstractmethod
    def close(self, value: object, opened: Any) -> None:
        """Undoes `open`."""

    @abc.abstractmethod
    def take_apart(self, objects: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Returns the structure of some cells and objects, and the arrays in them, each once."""

    @abc.abstractmethod
    def leaves(self, structure: Any) -> Sequence[tuple[str, bool]]:
        """Returns of each array of one object its name in that object, `linear.kernel`, and whether it is trained."""

    @abc.abstractmethod
    def paths(self, structure: Any) -> Sequence[tuple[Any, ...]]:
        """Returns the path of each cell: the position of the object that holds it, then attributes and keys."""

    @abc.abstractmethod
    def cells(self, holder: object) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Yields the cells of an object, each once, with the attributes and keys that lead to it."""

    @abc.abstractmethod
    def put_together(self, structure: Any, arrays: Sequence[Any]) -> Sequence[Any]:
        """Returns cells and objects of a structure with other arrays."""

    @abc.abstractmethod
    def write_arrays(self, objects: Sequence[Any], structure: Any, arrays: Mapping[int, Any]) -> None:
        """Writes arrays, by their position in what `take_apart` returned, to the cells that they came from."""

    @abc.abstractmethod
    def jit(self, fn: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
        """Returns a function as the library itself jits it, by options of `jax.jit`."""

    @abc.abstractmethod
    def take_tensors(self, cls: type) -> None:
        """Has objects of a class that are called with tensors compute on tensors, from now on."""

    @abc.abstractmethod
    def check_writable(self, cell: object) -> None:
        """Raises the library's own error if a cell cannot be written at present."""


_waiting: dict[str, Callable[[], CellKind]] = {}
_kinds: dict[str, CellKind] = {}
_LIBRARY = "flax"
REGISTERED_BY = "jaxaot.nn.flax"
"""The module that registers the kinds of flax, and how its modules are lifted; loaded when flax is there."""


def register_cell_kind(module: str, make: Callable[[], CellKind]) -> None:
    """Registers a kind that is made by `make()` once `module` has been imported by someone."""
    _waiting[module] = make


def cell_kinds() -> dict[str, CellKind]:
    """Returns the kinds whose libraries are there, by name."""
    if _LIBRARY in sys.modules and REGISTERED_BY not in sys.modules:
        importlib.import_module(REGISTERED_BY)
    for module in [name for name in _waiting if name in sys.modules]:
        kind = _waiting.pop(module)()
        _kinds[kind.name] = kind
        _kind_of_type.cache_clear()
    return _kinds


@functools.lru_cache(maxsize=4096)
def _kind_of_type(cls: type) -> tuple[CellKind | None, bool]:
    for kind in _kinds.values():
        if issubclass(cls, kind.cell_types):
            return kind, True
        if issubclass(cls, kind.object_types):
            return kind, False
    return None, False


def kind_of(value: object) -> CellKind | None:
    """Returns the kind of a cell or object; None for anything else."""
    return _kind_of_type(type(value))[0] if _kinds else None


def kind_of_cell(cell: object) -> CellKind:
    """Returns the kind of a cell."""
    kind = kind_of(cell)
    assert kind is not None, "a cell has a kind"
    return kind


def is_cell(value: object) -> bool:
    """Returns whether a value is a cell."""
    return _kind_of_type(type(value))[1] if _kinds else False


def child_of(holder: Any, key: Any) -> Any:
    """Returns what an object of a kind holds under an attribute or a key."""
    return getattr(holder, key) if isinstance(key, str) and hasattr(holder, key) else holder[key]


def is_leaf(value: object) -> bool:
    """Returns whether the flattening of arguments stops at a value: None, and cells and objects of a kind."""
    return value is None or (bool(_kinds) and _kind_of_type(type(value))[0] is not None)


def is_object(value: object) -> bool:
    """Returns whether a leaf of the arguments is found by its attributes."""
    if kind_of(value) is not None:
        return True
    if isinstance(value, (type, types.ModuleType, types.FunctionType, types.MethodType, functools.partial, enum.Enum)):
        return False
    if isinstance(value, (Tensor, jax.Array, np.ndarray, np.generic, jax.ShapeDtypeStruct)):
        return False
    cls = type(value)
    if cls.__hash__ is None and cls.__module__.partition(".")[0] in sys.stdlib_module_names:
        return cls is not slice  # a container, by what it holds
    if is_of_library(cls.__module__) or not has_attributes(value):
        return False
    # what says itself when it is equal is compared, unless it is a bag of fields that may hold tensors
    is_compared = cls.__eq__ is not object.__eq__ and cls.__hash__ is not None
    return not is_compared or (dataclasses.is_dataclass(cls) and _holds_arrays(value))


_mro: Any = vars(type)["__mro__"]
_space: Any = vars(type)["__dict__"]


def owners_of(cls: type) -> tuple[type, ...]:
    """Returns the classes in which the attributes of a class are looked for; no code of its metaclass runs."""
    return _mro.__get__(cls)


def members_of(cls: type) -> Mapping[str, Any]:
    """Returns what a class itself defines; no code of its metaclass runs."""
    return _space.__get__(cls)


def has_attributes(value: object) -> bool:
    """Returns whether a value has attributes of its own."""
    return dict_of(value) is not None or any("__slots__" in members_of(owner) for owner in owners_of(type(value)))


def dict_of(value: object) -> dict[str, Any] | None:
    """Returns the `__dict__` of an object, None if it has none; no code of its class runs."""
    if issubclass(type(value), threading.local):
        return vars(value)
    for owner in owners_of(type(value)):
        member = members_of(owner).get("__dict__")
        if isinstance(member, (types.GetSetDescriptorType, types.MemberDescriptorType)):
            return member.__get__(value)
    return None


def attributes_of(value: object) -> dict[str, Any]:
    """Returns the attributes of an object by name: its `__dict__`, then its slots; no code of its class runs."""
    found = dict(dict_of(value) or ())
    for owner in owners_of(type(value)):
        for name, member in members_of(owner).items() if "__slots__" in members_of(owner) else ():
            if type(member) is types.MemberDescriptorType:
                with contextlib.suppress(AttributeError):  # nothing is in it
                    found[name] = member.__get__(value)
    return found


def is_managed(cls: type, name: str) -> bool:
    """Returns whether a class says what happens when an attribute is set, as by a property."""
    member = next((members_of(owner)[name] for owner in owners_of(cls) if name in members_of(owner)), None)
    is_slot = isinstance(member, (types.MemberDescriptorType, types.GetSetDescriptorType))
    return member is not None and hasattr(type(member), "__set__") and not is_slot


CODE = (
    type, types.ModuleType, types.FunctionType, types.MethodType, types.BuiltinFunctionType, np.ndarray, jax.Array, str,
    bytes, int, float, complex, bool, type(None), range, slice, Generator,
)  # fmt: skip
"""What no tensor is looked for in."""


def children_of(value: object) -> Iterator[tuple[str, Any]]:
    """Yields the children of an object with their names: items of a dict or list, attributes of anything else."""
    if isinstance(value, Mapping):
        yield from ((str(key), child) for key, child in list(value.items()))
    elif isinstance(value, (list, tuple)):
        yield from ((str(i), child) for i, child in enumerate(value))
    else:
        yield from ((name, child) for name, child in attributes_of(value).items() if isinstance(name, str))


def array_content(array: np.ndarray) -> tuple[Any, Shape, bytes]:
    """Returns the dtype, shape and fingerprint that a NumPy array built into a program must keep."""
    return array.dtype, array.shape, _fingerprint(array)


def _fingerprint(array: np.ndarray) -> bytes:
    """Returns a fingerprint of a NumPy array's content; above one MiB, its address and a sample."""
    if array.nbytes <= 2**20:
        return array.tobytes()
    step = -(-array.nbytes // 2**20)
    sample = array[::step] if array.ndim == 1 else array[tuple(slice(None, None, step) for _ in array.shape)]
    return array.ctypes.data.to_bytes(8) + sample.tobytes()


def _holds_arrays(value: object) -> bool:
    """Returns whether fields of a dataclass lead to tensors, arrays or objects."""
    for child in attributes_of(value).values():
        leaves = pytree.leaves(child, is_leaf=is_leaf)
        if any(isinstance(leaf, (Tensor, jax.Array, np.ndarray)) or is_object(leaf) for leaf in leaves):
            return True
    return False
