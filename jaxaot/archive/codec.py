"""Plans as JSON, and back: what a call does, as data that nothing is executed of.

The plans of a program are frozen classes of plain values, and how a field is read follows from the type that it is
declared as. Where an archive may hold less than that, `_NARROWER` and `_MAY_BE` say what; they also say what `Any` is.
The generated code of a call is written from what comes out.

    TensorOutput(2)   ⇄   {"is": "TensorOutput", "tensor": 2}
"""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import jax
import numpy as np

from jaxaot._jax import ShapedArray
from jaxaot._typing import PyTreeDef
from jaxaot.archive import state
from jaxaot.archive.readers import (
    AVALS,
    BOOL,
    DTYPE,
    INT,
    LAYOUT,
    LAYOUTS,
    PATH,
    PLAIN,
    SIZES,
    TEXT,
    TREE,
    TYPE,
    TYPE_NAMES,
    Damaged,
    Reader,
    each,
    exactly,
    many,
    one_of,
    optional,
    plain_to_json,
    shown,
    tree_to_json,
)
from jaxaot.facade.indexing.symbolic_numbers import FUNCTIONS
from jaxaot.ir import roles
from jaxaot.lower.padding import Crop
from jaxaot.plan import alias, call, guards, members, saved, world
from jaxaot.plan import cells as places
from jaxaot.plan import number_program as numbers
from jaxaot.plan.paths import Path
from jaxaot.views import chain
from jaxaot.views.layout import Layout


def to_json(value: Any) -> Any:
    """Returns what JSON holds of a plan, or of a value in one."""
    if isinstance(value, Crop):
        return to_json((value.digits, tuple(part.stop for part in value.kept), value.aval.shape))
    if isinstance(value, (tuple, list, frozenset)):
        return [to_json(item) for item in (sorted(value) if type(value) is frozenset else value)]
    if isinstance(value, jax.ShapeDtypeStruct):
        return [str(value.dtype), list(value.shape)]
    if type(value) is dict:
        return to_json(tuple(value.items()))
    if isinstance(value, Layout):
        kind, readers = next((name, readers) for name, (cls, readers) in LAYOUTS.items() if isinstance(value, cls))
        return {"is": kind, **{name: to_json(getattr(value, name)) for name in readers}}
    if isinstance(value, type) and value in TYPE_NAMES:
        return {"is": "type", "name": TYPE_NAMES[value]}
    if dataclasses.is_dataclass(value) and type(value).__module__.startswith("jaxaot."):
        return {"is": type(value).__name__, **{name: to_json(getattr(value, name)) for name in fields_of(type(value))}}
    if type(value) is jax.tree_util.PyTreeDef:
        return {"is": "tree", "of": tree_to_json(value)}
    return plain_to_json(value)


@functools.cache
def fields_of(cls: type) -> dict[str, Reader]:
    """Returns the fields of a class that archives have, each with what reads it."""
    hints, known = get_type_hints(cls), _NARROWER.get(cls, {})
    readers = {
        field.name: known[field.name] if field.name in known else reader_of(hints[field.name], field.name)
        for field in dataclasses.fields(cls)
    }
    return {name: reader for name, reader in readers.items() if reader is not None}


@functools.cache
def reader_of(hint: Any, name: str = "") -> Reader:
    """Returns what reads a field of some type and name."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in _MAY_BE:
        return record(*_MAY_BE[hint])
    if type(None) in inner:
        return optional(reader_of(functools.reduce(operator.or_, [t for t in inner if t is not type(None)]), name))
    if hint is Any:
        return _ANY.get(name, PLAIN)
    if hint in _PLAINLY:
        return _PLAINLY[hint]
    if hasattr(hint, "_fields"):
        items = each(*map(reader_of, get_type_hints(hint).values()))
        return lambda value: hint(*items(value))
    if origin is Literal:
        return one_of(*inner)
    if origin is dict:
        pairs = many(each(*map(reader_of, inner)))
        return lambda value: dict(pairs(value))
    if origin in (tuple, list, frozenset):
        reader = many(reader_of(inner[0])) if origin is not tuple or ... in inner else each(*map(reader_of, inner))
        return reader if origin is tuple else lambda value: origin(reader(value))
    return record(*(inner or [hint]))


def record(*classes: type) -> Reader:
    """Returns a reader of instances of some classes."""
    known = {cls.__name__: cls for cls in classes}

    def read(value: object) -> Any:
        if type(value) is not dict or value.get("is") not in known:
            raise Damaged(f"{shown(value)} is no {' or '.join(known)}")
        cls = known[value["is"]]
        fields = fields_of(cls)
        if value.keys() != {"is", *fields}:
            raise Damaged(f"a {cls.__name__} has not the fields {', '.join(map(str, value))}")
        return cls(**{name: _named(name, reader, value[name]) for name, reader in fields.items()})

    return read


def _named(name: str, reader: Reader, value: object) -> Any:
    try:
        return reader(value)
    except Damaged as error:
        raise Damaged(f"{name}: {error}") from None


def may_hold(union: Any, value: object) -> bool:
    """Returns whether an archive may hold a member of a union, or an object of an abstract class."""
    return isinstance(value, _MAY_BE[union])


def CROP(value: object) -> Callable[[Any], Crop]:
    """Reads how a result is cut; returns what takes its type in the program to that."""
    digits, kept, shape = each(SIZES, SIZES, SIZES)(value)
    if len(digits) != len(kept) or min((*digits, *kept, *shape), default=0) < 0 or math.prod(kept) != math.prod(shape):
        raise Damaged(f"{shown(value)} cuts nothing")
    aval = lambda whole: ShapedArray(shape, whole.dtype, weak_type=whole.weak_type)
    return lambda whole: Crop(digits, tuple(map(slice, kept)), aval(whole))


# -- what archives hold of what a type allows --------------------------------------------------------------------------


def _either(others: Reader, *classes: type) -> Reader:
    """Returns a reader of instances of some classes, and of what another reader reads."""
    names, of_classes = {cls.__name__ for cls in classes}, record(*classes)
    return lambda value: (of_classes if type(value) is dict and value.get("is") in names else others)(value)


def _type_of(*types: type) -> Reader:
    chosen = one_of(*types)
    return lambda value: chosen(TYPE(value))


_NONE = one_of(None)
_NUMBER_TYPE = _type_of(float, complex, int, bool)
_PLAINLY: dict[Any, Reader] = {
    int: INT, bool: BOOL, str: TEXT, Path: PATH, Layout: LAYOUT, np.dtype: DTYPE, PyTreeDef: TREE,
    str | list[str]: lambda value: value if type(value) is str else list(many(TEXT)(value)),
    tuple[jax.ShapeDtypeStruct, ...]: AVALS, Crop: CROP,
}  # fmt: skip
_ANY: dict[str, Reader] = {"cls": TYPE, "dtype": DTYPE}
"""Fields that are declared as `Any`, by name; all others are constants."""
_CONDITIONS = (
    guards.EqualTo, guards.HasType, guards.HasLength, guards.HasKeys, guards.IsAlsoAt, guards.IsTensor,
    members.AreDistinct,
)  # fmt: skip
_VALUES = (
    world.OutsideObject, world.PassedValue, world.ComputedValue, world.BuiltArray, world.BuiltTensor,
    world.BuiltConstant, world.BuiltObject,
)  # fmt: skip
_MAY_BE: dict[Any, tuple[type, ...]] = {
    guards.Condition: _CONDITIONS,
    chain.AbstractViewOp: tuple(chain.AbstractViewOp.__subclasses__()),
    world.Value: _VALUES,
    world.Made: (world.MadeSequence, world.MadeMapping),
    world.WorldWrite: (world.ItemWrite, world.SliceWrite, world.RefillWrite),
    roles.InRole: (roles.Primal, roles.Cotangent),
    roles.OutRole: (roles.Output, roles.Gradient),
    saved.ResidualSource: (saved.FromPrimal, saved.FromOutput, saved.FromForward),
}
"""Union or abstract class → the classes of it that need no source."""
_NARROWER: dict[type, Mapping[str, Reader | None]] = {
    call.TensorInput: {"hooks": optional(each()), "is_value": None, "has_strides": None},  # hooks are functions
    call.CallPlan: {"autocast": _NONE, "parts": None},
    numbers.ReadNumber: {"cls": _NUMBER_TYPE},
    numbers.ComputedNumber: {"how": one_of(*FUNCTIONS), "operands": many(_either(PLAIN, numbers.NumberStep))},
    numbers.NumberFact: {"value": lambda x: (TYPE if type(x) is dict and x.get("is") == "type" else PLAIN)(x)},
    numbers.NumberPlan: {"asks_for_types": None},
    guards.HasKeys: {"keys": many(exactly(str, int))},
    guards.PythonGuard: {"line": None},
    guards.StaticInput: {"condition": record(guards.EqualTo, guards.HasType), "path": None},
    alias.ConstantOutput: {"value": _either(PLAIN, world.ComputedValue, world.BuiltObject)},
    places.LeafInput: {
        "kind": one_of("array", "key", "numpy", "number"), "dtype": optional(DTYPE),
        "python_type": optional(_NUMBER_TYPE), "static": None,
    },
    places.PlacePlan: {"cells": each()},
    world.MadeSequence: {"cls": _type_of(list, tuple), "limit": _NONE},
    world.MadeMapping: {"cls": _type_of(dict), "factory": _NONE},
    world.ItemWrite: {"key": record(world.BuiltConstant), "cls": _type_of(dict)},
    world.RefillWrite: {"keys": many(record(world.BuiltConstant))},
    saved.SavePlan: {"recomputed": each(), "packed_between": each(), "recompute_seconds": None, "least_seconds": None},
    state.StateArray: {"kind": one_of("array", "key", "numpy")},
}  # fmt: skip
"""Class → fields of which an archive holds less than their type allows, or nothing."""
