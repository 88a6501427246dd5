"""What code names: the variables and attributes that it loads, and where.

Reads of variables, of modules and of classes are not seen while code runs, but they are written in its bytecode.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import itertools
import types
from collections.abc import Iterator
from typing import NamedTuple

from jaxaot.tracer.observe.boundary import is_looked_at

Line = tuple[str, int]

_BY_NAME = {
    "getattr", "hasattr", "vars", "__dict__", "eval", "exec", "locals", "globals", "dir", "attrgetter", "fields",
    "asdict", "astuple",
}  # fmt: skip
"""Code that names one of these may read attributes that it does not name."""
_OF_CLASSES = {"super", "__class__", "__mro__", "mro"}
"""Code that names one of these may read attributes of classes, whatever their objects hold."""
_BY_HAND = {"__getattribute__", "__get__"}
"""Code that names one of these may read attributes past the class that notes it."""
_NAMESPACES = {"globals", "__globals__", "eval", "exec", "locals"}
"""Code that names one of these may read variables that it does not name."""
_VARIABLES = {"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"}
_CELLS = {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM"}
_LOCALS = {"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "IMPORT_NAME"}
_IGNORED = {"EXTENDED_ARG", "CACHE", "PUSH_NULL", "NOP", "COPY"}
_ADDING = {"append", "extend", "appendleft"}
"""Methods that add to a container and tell nothing of it; what they add is seen, whatever the container holds."""
_OF_NUMBERS = ("float", "int", "complex", "bool")
_SPECIAL = {
    "+": ("__add__", "__radd__", "__iadd__"), "-": ("__sub__", "__rsub__", "__isub__"),
    "*": ("__mul__", "__rmul__", "__imul__"), "/": ("__truediv__", "__rtruediv__", "__itruediv__"),
    "//": ("__floordiv__", "__rfloordiv__"), "%": ("__mod__", "__rmod__"), "**": ("__pow__", "__rpow__"),
    "@": ("__matmul__", "__rmatmul__"), "&": ("__and__",), "|": ("__or__",), "^": ("__xor__",),
    "[]": ("__getitem__",), "BINARY_SUBSCR": ("__getitem__",), "STORE_SUBSCR": ("__setitem__",),
    "BINARY_SLICE": ("__getitem__",), "STORE_SLICE": ("__setitem__",), "UNARY_NEGATIVE": ("__neg__",),
    "UNARY_INVERT": ("__invert__",), "<": ("__lt__",), ">": ("__gt__",), "<=": ("__le__",), ">=": ("__ge__",),
    "==": ("__eq__",), "!=": ("__ne__",), "GET_ITER": ("__iter__",), "GET_LEN": ("__len__",),
}  # fmt: skip
"""Signs and instructions → the special methods that they call."""
_COMPARING = {"index", "remove", "count", "id", "isin"}
"""Names of what compares objects."""


class CodeNames(NamedTuple):
    """What one piece of code names, with the functions inside it.

    Attributes:
      variables: The global variables that it loads.
      stored: Those that it sets or deletes.
      attributes: The attributes that it loads.
      changed: The attributes that it sets or deletes.
      called: The global variables that it calls.
      read: Variables, also those of closures, and attributes, without those that are only added to.
      pairs: Of a name and the attribute that is loaded of it, as in `np.pi`.
      strings: Strings that could be the name of an attribute, as in `getattr(self, "scale")`.
      operators: The special methods of what it computes with: `__add__`.
      modules: Those that it imports.
      lines: Name → the file and the line that loads it first.
      compares: Whether it may ask whether two objects are one.
    """

    variables: frozenset[str]
    stored: frozenset[str]
    attributes: frozenset[str]
    changed: frozenset[str]
    called: frozenset[str]
    read: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    strings: frozenset[str]
    operators: frozenset[str]
    modules: frozenset[str]
    lines: dict[str, Line]
    compares: bool

    @property
    def reads_by_name(self) -> bool:
        """Whether it may read attributes that it does not name."""
        return not (_BY_NAME.isdisjoint(self.variables) and _BY_NAME.isdisjoint(self.attributes))

    @property
    def reads_variables_by_name(self) -> bool:
        """Whether it may read global variables that it does not name."""
        return not (_NAMESPACES.isdisjoint(self.variables) and _NAMESPACES.isdisjoint(self.attributes))

    @property
    def tells_types(self) -> bool:
        """Whether it may tell a symbol from a number."""
        return "type" in self.variables or "__class__" in self.attributes


@functools.lru_cache(maxsize=8192)
def code_names(code: types.CodeType) -> CodeNames:
    """Returns what a piece of code names.

    `losses.append(loss)` names `losses`, and does not read what a list of that name holds.
    """
    variables, stored, attributes, read = set[str](), set[str](), set[str](), set[str]()
    pairs, modules, lines = set[tuple[str, str]](), set[str](), dict[str, Line]()
    strings, changed, called, compares = set[str](), set[str](), set[str](), False
    operators = set[str]()
    imported = ""
    found = [line for line in dis.get_instructions(code) if line.opname not in _IGNORED]
    for before, line, after in zip([None, *found], found, [*found[1:], None], strict=False):
        name, kind = line.argval, line.opname
        if kind in ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_NAME"):
            stored.add(name)
        elif kind in ("STORE_ATTR", "DELETE_ATTR"):
            changed.add(name)
        elif kind in ("IS_OP", "COMPARE_OP", "CONTAINS_OP"):
            compares = compares or _compares_objects(line, before)
            if kind == "IS_OP" and before is not None and before.argval in _OF_NUMBERS:
                variables.add("type")
        operators.update(_SPECIAL.get(_sign_of(line), ()))
        if kind == "MATCH_CLASS":  # reads the attributes that a class lists
            variables.add("getattr")
            attributes.add("__match_args__")
        if kind == "IMPORT_NAME":
            modules.add(name)
            imported = name
        elif kind == "IMPORT_FROM":
            pairs.add((imported, name))
        if not isinstance(name, str) or kind not in _VARIABLES | _CELLS | _ATTRIBUTES | _LOCALS:
            continue
        if after is not None and after.opname in _ATTRIBUTES:
            pairs.add((name, after.argval))
        if kind in _LOCALS:
            continue
        if kind in _VARIABLES:
            variables.add(name)
            if kind == "LOAD_GLOBAL" and line.arg is not None and line.arg & 1:
                called.add(name)
        elif kind in _ATTRIBUTES:
            attributes.add(name)
        if line.positions is not None and line.positions.lineno is not None:
            lines.setdefault(name, (code.co_filename, line.positions.lineno))
        is_added_to = after is not None and after.opname in ("LOAD_METHOD", "LOAD_ATTR") and after.argval in _ADDING
        if not is_added_to:
            read.add(name)
        compares = compares or name in _COMPARING
    if "get_type_hints" in variables | attributes:
        attributes.add("__annotations__")
    for constant in code.co_consts:
        strings.update(s for s in _strings(constant) if s.isidentifier())
    inner = [code_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return CodeNames(
        frozenset(variables.union(*(c.variables for c in inner))),
        frozenset(stored.union(*(c.stored for c in inner))),
        frozenset(attributes.union(*(c.attributes for c in inner))),
        frozenset(changed.union(*(c.changed for c in inner))),
        frozenset(called.union(*(c.called for c in inner))),
        frozenset(read.union(*(c.read for c in inner))),
        frozenset(pairs.union(*(c.pairs for c in inner))),
        frozenset(strings.union(*(c.strings for c in inner))),
        frozenset(operators.union(*(c.operators for c in inner))),
        frozenset(modules.union(*(c.modules for c in inner))),
        {name: place for c in (*inner, None) for name, place in (lines if c is None else c.lines).items()},
        compares or any(c.compares for c in inner),
    )


def _sign_of(line: dis.Instruction) -> str:
    """Returns by what an instruction computes: a sign, or its own name."""
    if line.opname == "BINARY_OP":
        return line.argrepr.removesuffix("=")
    if line.opname == "COMPARE_OP":
        return str(line.argval).removeprefix("bool(").removesuffix(")")
    return line.opname


def _strings(constant: object) -> Iterator[str]:
    if isinstance(constant, str):
        yield constant
    elif isinstance(constant, (tuple, frozenset)):
        yield from itertools.chain.from_iterable(map(_strings, constant))


def _compares_objects(line: dis.Instruction, before: dis.Instruction | None) -> bool:
    """Returns whether a comparison is of two objects, rather than with a constant or by size."""
    if before is not None and before.opname in ("LOAD_CONST", "LOAD_SMALL_INT", "LOAD_COMMON_CONSTANT"):
        return line.opname == "CONTAINS_OP"
    return line.opname != "COMPARE_OP" or any(sign in str(line.argval) for sign in ("==", "!="))


@functools.lru_cache(maxsize=8192)
def reads_by_hand(code: types.CodeType) -> bool:
    """Returns whether code of the user's or of a library may read its object's attributes in a way that is not seen."""
    return not _BY_HAND.isdisjoint(code.co_names) and is_looked_at(code.co_filename)


def variables_of(code: types.CodeType) -> frozenset[str]:
    """Returns the names of the global variables that a piece of code may read."""
    named = code_names(code)
    return named.variables | named.strings if named.reads_variables_by_name else named.variables


@functools.lru_cache(maxsize=4096)
def is_added_to(code: types.CodeType, offset: int) -> bool:
    """Returns whether code only adds to the list that it loads at an instruction, as in `self.log.append(x)`."""
    found = [line for line in dis.get_instructions(code) if line.opname not in _IGNORED]
    after = next((b for a, b in itertools.pairwise(found) if a.offset == offset), None)
    return after is not None and after.opname in ("LOAD_METHOD", "LOAD_ATTR") and after.argval in _ADDING


@functools.lru_cache(maxsize=4096)
def names_in_dict(code: types.CodeType, offset: int) -> tuple[str, ...] | None:
    """Returns which attributes code reads by `obj.__dict__` at an instruction, as in `self.__dict__["scale"]`.

    None if it may read any.
    """
    found = [line for line in dis.get_instructions(code) if line.opname not in _IGNORED]
    place = next((i for i, line in enumerate(found) if line.offset == offset), None)
    if place is None or not (found[place].argval == "__dict__" or found[place].opname.startswith("CALL")):
        return None
    behind = [line for line in found[place + 1 : place + 5] if line.opname != "PRECALL"][:2]
    if len(behind) == 2 and behind[0].argval == "get" and isinstance(behind[1].argval, str):
        return (behind[1].argval,)
    is_item = len(behind) == 2 and (behind[1].opname == "BINARY_SUBSCR" or behind[1].argrepr == "[]")
    if is_item and behind[0].opname == "LOAD_CONST" and isinstance(behind[0].argval, str):
        return (behind[0].argval,)
    if behind and behind[0].opname == "CONTAINS_OP":
        strings = [line.argval for line in found[max(0, place - 4) : place] if line.opname == "LOAD_CONST"]
        if len(strings) == 1 and isinstance(strings[0], str):
            return (strings[0],)
    return None


@dataclasses.dataclass
class Named:
    """What the user's code that ran names.

    Attributes:
      attributes: The attributes, and strings that may be such.
      read: Variables and attributes that are not only added to.
      changed: Attributes that are set or deleted.
      pairs: Of a name and the attribute that is loaded of it.
      strings: Strings that may be names of attributes.
      operators: The special methods of what is computed with.
      modules: The modules that are imported.
      lines: Name → the file and the line that loads it first.
      compares: Whether some code may ask whether two objects are one.
      tells_types: Whether some code may tell a symbol from a number.
      is_open: Whether some code may read attributes that it does not name.
      is_by_class: Whether some code may read attributes of classes that it does not name.
      is_by_hand: Whether some code may read them in a way that is not seen.
      asks_for_ids: Whether some code may ask for the `id` of an object.
    """

    attributes: set[str] = dataclasses.field(default_factory=set)
    read: set[str] = dataclasses.field(default_factory=set)
    changed: set[str] = dataclasses.field(default_factory=set)
    pairs: set[tuple[str, str]] = dataclasses.field(default_factory=set)
    strings: set[str] = dataclasses.field(default_factory=set)
    operators: set[str] = dataclasses.field(default_factory=set)
    modules: set[str] = dataclasses.field(default_factory=set)
    lines: dict[str, Line] = dataclasses.field(default_factory=dict)
    compares: bool = False
    tells_types: bool = False
    is_open: bool = False
    is_by_class: bool = False
    is_by_hand: bool = False
    asks_for_ids: bool = False

    def add(self, code: types.CodeType) -> None:
        """Notes what a piece of code names."""
        named = code_names(code)
        self.attributes |= named.attributes | named.strings
        self.read |= named.read | named.strings
        self.changed |= named.changed
        self.pairs |= named.pairs
        self.strings |= named.strings
        self.operators |= named.operators
        self.modules |= named.modules
        self.compares = self.compares or named.compares
        self.tells_types = self.tells_types or named.tells_types
        is_of_classes = not _OF_CLASSES.isdisjoint(named.read) or "cls" in code.co_varnames
        self.is_by_class = self.is_by_class or named.tells_types or is_of_classes
        self.is_open = self.is_open or named.reads_by_name
        self.is_by_hand = self.is_by_hand or not _BY_HAND.isdisjoint(named.attributes)
        self.asks_for_ids = self.asks_for_ids or "id" in named.variables
        for name, line in named.lines.items():
            self.lines.setdefault(name, line)
