"""Plans as JSON, and back: what a call does, as data that nothing is executed of.

The plans of a program are frozen classes of plain values. Each class that an archive may hold has a row in `FIELDS`:
its fields, and the reader of each. The generated code of a call is written from what comes out.

    TensorOutput(2)   ⇄   {"is": "TensorOutput", "tensor": 2}
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import jax

from jaxaot._jax import ShapedArray
from jaxaot.archive import state
from jaxaot.archive.readers import (
    BOOL,
    DTYPE,
    GEOMETRY,
    INT,
    LAYOUT,
    PATH,
    PLAIN,
    SIZES,
    TEXT,
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
from jaxaot.plan import alias, call, guards, members, rng, saved, world
from jaxaot.plan import cells as places
from jaxaot.plan import number_program as numbers
from jaxaot.views import chain
from jaxaot.views.layout import CheckedLayout, Layout


def to_json(value: Any) -> Any:
    """Returns what JSON holds of a plan, or of a value in one.

    Raises:
      ExportError: If it holds what no file can.
    """
    if type(value) in (tuple, frozenset):
        return [to_json(item) for item in (value if type(value) is tuple else sorted(value))]
    if isinstance(value, CheckedLayout):
        return {"is": "CheckedLayout", "n": value.numel, "dtype": value.dtype.name, "n_written": value.n_written,
                "most": value.most}  # fmt: skip
    if isinstance(value, Layout):
        return {"is": "Layout", "size": list(value.size), "stride": list(value.stride), "dtype": value.dtype.name,
                "is_conj": value.is_conj}  # fmt: skip
    if isinstance(value, chain.Geometry):
        return [list(value.size), list(value.stride), value.offset]
    if isinstance(value, Crop):
        return [list(value.digits), [part.stop for part in value.kept], list(value.aval.shape)]
    if isinstance(value, type) and value in TYPE_NAMES:
        return {"is": "type", "name": TYPE_NAMES[value]}
    if type(value).__name__ in FIELDS and FIELDS[type(value).__name__][0] is type(value):
        _, fields = FIELDS[type(value).__name__]
        return {"is": type(value).__name__, **{name: to_json(getattr(value, name)) for name in fields}}
    if type(value) is jax.tree_util.PyTreeDef:
        return {"is": "tree", "of": tree_to_json(value)}
    return plain_to_json(value)


def record(*classes: type) -> Reader:
    """Returns a reader of instances of classes that have rows in the table."""
    names = [cls.__name__ for cls in classes]

    def read(value: object) -> Any:
        if type(value) is not dict or value.get("is") not in names:
            raise Damaged(f"{shown(value)} is no {' or '.join(names)}")
        cls, fields = FIELDS[value["is"]]
        if value.keys() != {"is", *fields}:
            raise Damaged(f"a {cls.__name__} has not the fields {', '.join(map(str, value))}")
        return cls(**{name: reader(value[name]) for name, reader in fields.items()})

    return read


def CROP(value: object) -> Callable[[Any], Crop]:
    """Reads how a result is cut; returns what takes its type in the program to that."""
    digits, kept, shape = each(SIZES, SIZES, SIZES)(value)
    if len(digits) != len(kept) or min((*digits, *kept, *shape), default=0) < 0 or math.prod(kept) != math.prod(shape):
        raise Damaged(f"{shown(value)} cuts nothing")
    aval = lambda whole: ShapedArray(shape, whole.dtype, weak_type=whole.weak_type)
    return lambda whole: Crop(digits, tuple(map(slice, kept)), aval(whole))


# -- the table ---------------------------------------------------------------------------------------------------------

_SHAPE = many(INT)


def VALUE(value: object) -> Any:
    """Reads a value that a call puts into a place."""
    return record(
        world.OutsideObject, world.PassedValue, world.ComputedValue, world.BuiltArray, world.BuiltTensor,
        world.BuiltConstant, world.BuiltObject,
    )(value)  # fmt: skip


def _condition(value: object) -> Any:
    return record(
        guards.EqualTo, guards.HasType, guards.HasLength, guards.HasKeys, guards.IsAlsoAt, guards.IsTensor,
        members.AreDistinct,
    )(value)  # fmt: skip


def _step(value: object) -> Any:
    return record(
        chain.Slice, chain.Select, chain.Permute, chain.Reshape, chain.Unsqueeze, chain.Squeeze, chain.Expand,
        chain.Diagonal, chain.Unfold, chain.AsStrided, chain.Conjugate, chain.AsReal, chain.AsComplex, chain.AsDtype,
    )(value)  # fmt: skip


def _operand(value: object) -> Any:
    is_step = type(value) is dict and value.get("is") == "NumberStep"
    return record(numbers.NumberStep)(value) if is_step else PLAIN(value)


def _constant(value: object) -> Any:
    kind = value.get("is") if type(value) is dict else None
    return VALUE(value) if kind in ("ComputedValue", "BuiltObject") else PLAIN(value)


def _fact(value: object) -> Any:
    return TYPE(value) if type(value) is dict and value.get("is") == "type" else PLAIN(value)


def _apart(value: object) -> Any:
    return tuple(map(frozenset, many(many(INT))(value)))


_NUMBER_TYPE = lambda value: one_of(float, complex, int, bool)(TYPE(value))
_KEY = exactly(str, int)

FIELDS: dict[str, tuple[Any, dict[str, Reader]]] = {
    cls.__name__: (cls, fields)
    for cls, fields in (
        # what a call takes
        (call.Lineage, {
            "base": optional(INT), "chain": many(_step), "creation": optional(TEXT), "layout": optional(LAYOUT),
            "offset": INT,
        }),
        (call.TensorInput, {
            "path": PATH, "storage": INT, "layout": LAYOUT, "offset": INT, "requires_grad": BOOL, "is_leaf": BOOL,
            "history": optional(INT), "counter": optional(INT), "is_argument": BOOL,
            "lineage": optional(record(call.Lineage)), "hooks": optional(each()),  # functions: at most there are none
        }),
        (call.StorageInput, {
            "layout": LAYOUT, "tensor": INT, "graph_input": optional(INT), "n_written": optional(INT),
        }),
        (call.GhostInput, {"storage": INT, "tensor": INT, "is_empty": BOOL}),
        (call.ValueInput, {"leaf": INT, "shape": _SHAPE, "dtype": DTYPE}),
        (numbers.ReadNumber, {"path": PATH, "cls": _NUMBER_TYPE}),
        (numbers.NumberStep, {"step": INT}),
        (numbers.ComputedNumber, {"how": one_of(*FUNCTIONS), "operands": many(_operand)}),
        (numbers.NumberFact, {"step": INT, "value": _fact, "is_of_type": BOOL}),
        (numbers.NumberInput, {"step": INT, "dtype": DTYPE}),
        (numbers.NumberPlan, {
            "numbers": many(record(numbers.ReadNumber, numbers.ComputedNumber)),
            "facts": many(record(numbers.NumberFact)), "inputs": many(record(numbers.NumberInput)),
        }),
        (guards.EqualTo, {"value": PLAIN}),
        (guards.HasType, {"cls": TYPE}),
        (guards.HasLength, {"n": INT}),
        (guards.HasKeys, {"keys": many(_KEY)}),
        (guards.IsAlsoAt, {"path": PATH}),
        (guards.IsTensor, {"number": INT}),
        (members.AreDistinct, {"paths": many(PATH)}),
        (guards.PythonGuard, {"path": PATH, "condition": _condition}),
        (guards.StaticInput, {"leaf": INT, "condition": record(guards.EqualTo, guards.HasType)}),
        (guards.GradGuard, {"tensor": INT, "is_none": BOOL}),
        (call.CallPlan, {
            "tensors": many(record(call.TensorInput)), "storages": many(record(call.StorageInput)),
            "ghosts": many(record(call.GhostInput)), "values": many(record(call.ValueInput)), "n_leaves": INT,
            "statics": many(record(guards.StaticInput)), "repeats": many(each(INT, INT)),
            "grads": many(record(guards.GradGuard)), "python": many(record(guards.PythonGuard)), "grad_enabled": BOOL,
            "autocast": one_of(None), "numbers": record(numbers.NumberPlan),
        }),
        # what it does to storages and tensors
        (alias.StorageWrite, {
            "storage": INT, "output": optional(INT), "layout": LAYOUT, "n_written": optional(INT), "is_written": BOOL,
            "is_resized": BOOL,
        }),
        (alias.FreshStorage, {"output": optional(INT), "layout": LAYOUT, "n_written": optional(INT)}),
        (alias.FreedStorage, {"storage": INT, "content": optional(INT), "layout": LAYOUT}),
        (alias.HistoryOfInput, {"tensor": INT}),
        (alias.HistoryOfNode, {"output": INT, "tensor": optional(INT), "layout": LAYOUT, "offset": INT}),
        (alias.HistoryOfLeaf, {"requires_grad": BOOL, "layout": LAYOUT, "offset": INT, "leaf": optional(INT)}),
        (alias.CounterOfInput, {"tensor": INT}),
        (alias.FreshCounter, {"n": INT}),
        (alias.TensorSpec, {
            "storage": INT, "layout": LAYOUT, "offset": INT, "history": optional(INT), "base": optional(INT),
            "chain": many(_step), "creation": optional(TEXT), "counter": optional(INT),
        }),
        (alias.TensorChange, {"tensor": INT, "spec": record(alias.TensorSpec)}),
        (alias.GradChange, {"tensor": INT, "grad": optional(INT)}),
        (alias.TensorOutput, {"tensor": INT}),
        (alias.ArrayOutput, {"output": INT}),
        (alias.ConstantOutput, {"value": _constant}),
        (alias.AliasPlan, {
            "writes": many(record(alias.StorageWrite)), "fresh": many(record(alias.FreshStorage)),
            "freed": many(record(alias.FreedStorage)),
            "histories": many(record(alias.HistoryOfInput, alias.HistoryOfNode, alias.HistoryOfLeaf)),
            "counters": many(record(alias.CounterOfInput, alias.FreshCounter)), "bumps": many(each(INT, INT)),
            "made": many(record(alias.TensorSpec)), "changes": many(record(alias.TensorChange)),
            "grads": many(record(alias.GradChange)),
            "outputs": many(record(
                alias.TensorOutput, alias.ArrayOutput, alias.ConstantOutput, world.OutsideObject,
            )),
            "differentiable": many(INT), "reached": many(each(INT, INT)), "read": many(INT),
        }),
        # generators, arrays and containers
        (rng.GeneratorUse, {"path": optional(PATH), "n_draws": INT, "is_input": BOOL}),
        (rng.RngPlan, {"generators": many(record(rng.GeneratorUse))}),
        (places.LeafInput, {
            "kind": one_of("array", "key", "numpy", "number"), "shape": _SHAPE, "dtype": optional(DTYPE),
            "weak_type": BOOL, "python_type": optional(_NUMBER_TYPE), "graph_input": optional(INT),
        }),
        (places.ArrayInput, {"path": PATH, "leaf": record(places.LeafInput)}),
        (places.PlacePlan, {"cells": each(), "arrays": many(record(places.ArrayInput))}),
        (world.OutsideObject, {"path": PATH}),
        (world.PassedValue, {"leaf": INT}),
        (world.ComputedValue, {"step": INT}),
        (world.BuiltArray, {"output": INT}),
        (world.BuiltTensor, {"tensor": INT}),
        (world.BuiltConstant, {"value": PLAIN}),
        (world.BuiltObject, {"number": INT}),
        (world.MadeSequence, {
            "cls": lambda v: one_of(list, tuple)(TYPE(v)), "items": many(VALUE), "limit": one_of(None),
        }),
        (world.MadeMapping, {
            "cls": lambda v: one_of(dict)(TYPE(v)), "keys": many(VALUE), "items": many(VALUE), "factory": one_of(None),
        }),
        (world.ItemWrite, {
            "path": PATH, "key": record(world.BuiltConstant), "value": optional(VALUE),
            "cls": lambda v: one_of(dict)(TYPE(v)),
        }),
        (world.SliceWrite, {"path": PATH, "start": optional(INT), "stop": optional(INT), "items": many(VALUE)}),
        (world.RefillWrite, {"path": PATH, "keys": many(record(world.BuiltConstant)), "items": many(VALUE)}),
        (world.WorldPlan, {
            "made": many(record(world.MadeSequence, world.MadeMapping)),
            "writes": many(record(world.ItemWrite, world.SliceWrite, world.RefillWrite)),
        }),
        (state.StateStorage, {"layout": LAYOUT, "n_written": optional(INT), "array": optional(TEXT)}),
        (state.StateHistory, {"layout": LAYOUT, "offset": INT, "requires_grad": BOOL}),
        (state.StateTensor, {
            "name": TEXT, "storage": INT, "layout": LAYOUT, "offset": INT, "history": optional(INT),
            "base": optional(INT), "chain": many(_step), "creation": optional(TEXT), "counter": optional(INT),
            "grad": optional(TEXT),
        }),
        (state.StateArray, {
            "name": TEXT, "kind": one_of("array", "key", "numpy"), "shape": _SHAPE, "dtype": DTYPE, "weak_type": BOOL,
            "implementation": TEXT,
        }),
        (state.StateNumber, {"name": TEXT, "value": PLAIN}),
        (state.StateGenerator, {"name": TEXT, "seed": INT, "offset": INT}),
        (state.StatePlan, {
            "storages": many(record(state.StateStorage)), "histories": many(record(state.StateHistory)),
            "tensors": many(record(state.StateTensor)), "arrays": many(record(state.StateArray)),
            "numbers": many(record(state.StateNumber)), "generators": many(record(state.StateGenerator)),
        }),
        # graphs
        (roles.Primal, {"index": INT, "name": TEXT}),
        (roles.Cotangent, {"output": INT}),
        (roles.Output, {"index": INT, "name": TEXT}),
        (roles.Gradient, {"primal": INT}),
        (saved.FromPrimal, {"index": INT}),
        (saved.FromOutput, {"index": INT}),
        (saved.FromForward, {"index": INT}),
        (saved.SavedValue, {
            "name": TEXT, "shape": _SHAPE, "dtype": TEXT, "bytes": INT, "source": TEXT, "why": TEXT,
            "is_offloaded": BOOL, "packed_from": optional(TEXT),
        }),
        (saved.SavePlan, {
            "residuals": many(record(saved.FromPrimal, saved.FromOutput, saved.FromForward)),
            "saved": many(record(saved.SavedValue)), "recomputed": each(), "save_all_bytes": INT,
            "packed_between": each(), "repeats_work": BOOL,
        }),
        (saved.TapePlan, {"primals": many(INT), "apart": optional(_apart), "is_differentiable": BOOL}),
    )
}  # fmt: skip
"""Name of each class that a plan in an archive is made of → the class, and the reader of each of its fields."""

# view steps have numbers, sizes, dtypes and geometries as their fields
_OF_STEPS = {"int": INT, "Shape": SIZES, "tuple[int, ...]": SIZES, "np.dtype": DTYPE, "Geometry": GEOMETRY}
FIELDS |= {
    cls.__name__: (cls, {field.name: _OF_STEPS[str(field.type)] for field in dataclasses.fields(cls)})
    for cls in (
        chain.Slice, chain.Select, chain.Permute, chain.Reshape, chain.Unsqueeze, chain.Squeeze, chain.Expand,
        chain.Diagonal, chain.Unfold, chain.AsStrided, chain.Conjugate, chain.AsReal, chain.AsComplex, chain.AsDtype,
    )
}  # fmt: skip
