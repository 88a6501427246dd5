"""Readers: from what JSON holds to a value of one type, or an error.

A *reader* takes what JSON holds to a value, or raises. What comes out of a file is made by readers alone, so it is of
the types that they say, whatever the file holds.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._jax import is_key_dtype
from jaxaot.errors import ArchiveError, ExportError
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.subclass.subclass import SUBCLASSES, Frame, shell_from
from jaxaot.facade.subclass.subclass_names import class_named, is_found_elsewhere, place_of
from jaxaot.ops.dtypes import dtype
from jaxaot.plan.paths import Path
from jaxaot.views.layout import CheckedLayout, Layout, layout_of, memory_layout

Reader = Callable[[Any], Any]

ROOTS = ("args", "kwargs", "fn", "leaves")
"""Where paths of an archive begin: its arguments, and under `fn` its state."""


class Damaged(Exception):
    """What JSON holds is not what a reader reads."""


def from_json(reader: Reader, value: object, what: str) -> Any:
    """Returns what JSON holds, by its reader."""
    try:
        return reader(value)
    except (Damaged, RecursionError, TypeError, ValueError, KeyError, OverflowError) as error:
        raise ArchiveError(
            f"The archive's manifest says of {what} what cannot be: {error}. The file is damaged, or was not written "
            "by jaxaot. Write it again by `exported.save(path)`."
        ) from error


def exactly(*types: type) -> Reader:
    """Returns a reader of values of some types alone."""

    def read(value: object) -> Any:
        if type(value) not in types:
            raise Damaged(f"{shown(value)} is not of type {' or '.join(t.__name__ for t in types)}")
        return value

    return read


def shown(value: object) -> str:
    """Returns what a file holds for people, in few words."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


INT, BOOL, TEXT = exactly(int), exactly(bool), exactly(str)


def optional(reader: Reader) -> Reader:
    """Returns a reader of None too."""
    return lambda value: None if value is None else reader(value)


def many(reader: Reader) -> Reader:
    """Returns a reader of tuples of any length."""

    def read(value: object) -> tuple[Any, ...]:
        return tuple(map(reader, exactly(list)(value)))

    return read


def each(*readers: Reader) -> Reader:
    """Returns a reader of tuples of one length."""

    def read(value: Any) -> tuple[Any, ...]:
        if len(exactly(list)(value)) != len(readers):
            raise Damaged(f"{shown(value)} has not {len(readers)} items")
        return tuple(reader(item) for reader, item in zip(readers, value, strict=True))

    return read


def one_of(*values: object) -> Reader:
    """Returns a reader of some values alone."""

    def read(value: object) -> Any:
        if not any(type(value) is type(v) and value == v for v in values):
            raise Damaged(f"{shown(value)} is none of {', '.join(map(repr, values))}")
        return value

    return read


def tagged(kind: str, **fields: Reader) -> Reader:
    """Returns a reader of `{"is": kind, …}`, to the tuple of its fields."""

    def read(value: object) -> tuple[Any, ...]:
        if type(value) is not dict or value.get("is") != kind or value.keys() != {"is", *fields}:
            raise Damaged(f"{shown(value)} is no {kind}")
        return tuple(reader(value[name]) for name, reader in fields.items())

    return read


def _dtype(value: Any) -> Any:
    if TEXT(value) in _DTYPES:
        return _DTYPES[value]
    if value not in KEY_DTYPES:
        raise Damaged(f"there is no dtype {value!r}")
    return jax.random.key(0, impl=KEY_DTYPES[value]).dtype


def AVALS(value: object) -> tuple[Any, ...]:
    """Reads the types of a graph's inputs or outputs, each a dtype and a shape."""
    return tuple(jax.ShapeDtypeStruct(shape, dtype) for dtype, shape in many(each(_dtype, many(INT)))(value))


SIZES = many(INT)
_NAMED_DTYPE = tagged("dtype", name=_dtype)
_FLOAT = tagged("float", hex=lambda text: float.fromhex(TEXT(text)))
_COMPLEX = tagged("complex", hex=each(*[lambda text: float.fromhex(TEXT(text))] * 2))

_DTYPES = {
    np.dtype(name).name: np.dtype(name)
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
        "float64", "complex64", "complex128", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz",
        "float8_e4m3fnuz", "float8_e5m2fnuz", "int4", "uint4",
    )
}  # fmt: skip
"""The dtypes of arrays, by name."""
KEY_DTYPES = {"key<fry>": "threefry2x32", "key<rbg>": "rbg", "key<urbg>": "unsafe_rbg"}
"""The dtypes of arrays of keys, and how these are drawn by."""

TYPES = {
    "bool": bool, "int": int, "float": float, "complex": complex, "str": str, "NoneType": type(None), "list": list,
    "tuple": tuple, "dict": dict, "Generator": Generator,
}  # fmt: skip
"""The classes that a plan may name."""
TYPE_NAMES = {cls: name for name, cls in TYPES.items()}


def DTYPE(value: object) -> np.dtype:
    """Reads a dtype."""
    return _NAMED_DTYPE(value)[0]


LAYOUTS: dict[str, tuple[type[Layout], dict[str, Reader]]] = {
    "CheckedLayout": (CheckedLayout, {"numel": INT, "dtype": DTYPE, "n_written": INT, "most": INT}),
    "Layout": (Layout, {"size": SIZES, "stride": SIZES, "dtype": DTYPE, "is_conj": BOOL}),
}
"""Kinds of layouts, subclasses first, and what is read of each."""


def LAYOUT(value: Any) -> Layout:
    """Reads a layout."""
    kind = one_of(*LAYOUTS)(value["is"])
    held = tagged(kind, **LAYOUTS[kind][1])(value)
    if kind == "CheckedLayout":
        n, _, n_written, most = held
        if not (0 <= n_written <= n and most >= 0):
            raise Damaged(f"{shown(value)} is no layout of memory")
        return memory_layout(*held)
    size, stride, *_ = held
    if len(size) != len(stride) or min((*size, *stride), default=0) < 0:
        raise Damaged(f"{shown(value)} is no layout")
    return layout_of(*held)


def TYPE(value: object) -> type:
    """Reads a class, one of `TYPES`."""
    return TYPES[tagged("type", name=one_of(*TYPES))(value)[0]]


def PLAIN(value: object) -> Any:
    """Reads a constant: None, a bool, a number, a string, a dtype."""
    if value is None or type(value) in (bool, int, str):
        return value
    kind = value.get("is") if type(value) is dict else None
    if kind == "float":
        return _FLOAT(value)[0]
    if kind == "complex":
        return complex(*_COMPLEX(value)[0])
    if kind == "dtype":
        return DTYPE(value)
    raise Damaged(f"{shown(value)} is no constant")


def PATH(value: object) -> Path:
    """Reads a path: to an argument, to something of the state, or to the base or `.grad` of one of these."""
    (root, *steps) = many(each(TEXT, exactly(str, int)))(value)
    if root[0] != "root" or root[1] not in ROOTS:
        raise Damaged(f"no path begins with {root!r}")
    for step in steps:
        if step[0] != "item" and not is_inner(step) and step not in (("attr", "_grad"), ("attr", "_base_tensor")):
            raise Damaged(f"no path has the step {step!r}")
    return (root, *steps)


def is_inner(step: tuple[str, Any]) -> bool:
    """Returns whether a step of a path may lead from a wrapper to an inner tensor."""
    return step[0] == "attr" and type(step[1]) is str and step[1].isidentifier() and not step[1].startswith("__")


def TREE(value: object) -> Any:
    """Reads the tree of arguments or of a result; in one of arguments None is a leaf."""
    held = tagged("tree", of=lambda of: of)(value)[0]
    return pytree.structure(_example(held), is_leaf=lambda x: x is _LEAF)


_LEAF = object()
_CONTAINERS: dict[str, type] = {"dict": dict, "OrderedDict": collections.OrderedDict}


def _example(held: object) -> Any:
    if held is None:
        return None
    if held == "leaf":
        return _LEAF
    kind = one_of("list", "tuple", "wrapper", *_CONTAINERS)(held[0] if type(held) is list and held else None)
    if kind == "wrapper":
        return _wrapper(held)
    if kind in _CONTAINERS:
        _, keys, children = each(TEXT, many(exactly(str, int)), many(_example))(held)
        if len({*keys}) != len(keys) or len(keys) != len(children):
            raise Damaged("a dict has not one item for each key")
        return _CONTAINERS[kind](zip(keys, children, strict=True))
    children = each(TEXT, many(_example))(held)[1]
    return list(children) if kind == "list" else children


def _wrapper(held: object) -> Any:
    _, place, names, context, size, stride, inner, children = each(
        TEXT, TEXT, many(TEXT), _context, SIZES, SIZES, many(SIZES), many(_example)
    )(held)
    if len(names) != len(children) or len(names) != len(inner) or len(size) != len(stride):
        raise Damaged("a wrapper has not one inner tensor for each name")
    return shell_from(class_named(place, ArchiveError), Frame(names, context, size, stride, inner), children)


def _context(held: object) -> Any:
    return tuple(map(_context, held)) if type(held) is list else PLAIN(held)


def _context_to_json(cls: type, context: object) -> Any:
    if type(context) is tuple:
        return [_context_to_json(cls, item) for item in context]
    try:
        return plain_to_json(context)
    except ExportError as error:
        raise ExportError(
            f"a {cls.__name__} is among the arguments or results, in whose context is a {type(context).__name__}: "
            "archives hold numbers, strings, dtypes and tuples of them"
        ) from error


def plain_to_json(value: Any) -> Any:
    """Returns what JSON holds of a constant."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return {"is": "float", "hex": value.hex()}
    if type(value) is complex:
        return {"is": "complex", "hex": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, (np.dtype, dtype, type)) or _is_key(value):
        return {"is": "dtype", "name": str(value if _is_key(value) else np.dtype(value))}
    raise ExportError(f"a value of type {type(value).__name__} is part of the program, and no archive holds such")


def _is_key(value: Any) -> bool:
    return hasattr(value, "itemsize") and is_key_dtype(value)


TRANSPARENT: set[type] = set()
"""Classes of nodes that only stand for the tensor inside, which is in their place where the file is read."""


def tree_to_json(tree: object) -> Any:
    """Returns what JSON holds of a tree of arguments or of a result.

    Raises:
      ExportError: If it has classes that another process cannot make.
    """
    node = tree.node_data()
    if node is None:
        return "leaf"
    cls, keys = node
    children = [tree_to_json(child) for child in tree.children()]
    if cls is type(None):
        return None
    if cls in (list, tuple):
        return [cls.__name__, children]
    if cls in (dict, collections.OrderedDict):
        if not all(type(key) in (str, int) for key in keys):
            raise ExportError("a dict among arguments or results has keys that are neither strings nor ints")
        return [cls.__name__, list(keys), children]
    if cls in TRANSPARENT:
        return children[0]
    if cls in SUBCLASSES:
        if not is_found_elsewhere(cls):
            raise ExportError(
                f"a {cls.__name__} is among the arguments or results, whose class is defined inside of a function, "
                "where no other process finds it: define it in a module"
            )
        context = _context_to_json(cls, keys.context)
        shapes = list(keys.size), list(keys.stride), [list(size) for size in keys.inner]
        return ["wrapper", place_of(cls), list(keys.names), context, *shapes, children]
    named = keys[0] if type(keys) is tuple and keys and isinstance(keys[0], type) else cls
    raise ExportError(
        f"a {named.__name__} is among the arguments or results, which a process without its class cannot make: pass "
        "and return tensors, arrays, numbers, strings, and lists, tuples and dicts of them"
    )
