"""What code names: the variables and attributes that it loads, and where.

What Python code reads cannot be watched, but it is written in its bytecode. Variables and attributes are told apart: a
loop variable `step` of a module is not what `optimizer.step()` reads.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import itertools
import sys
import types
from collections.abc import Iterator
from typing import NamedTuple

_BY_NAME = {
    "getattr", "hasattr", "vars", "__dict__", "eval", "exec", "locals", "globals", "dir", "attrgetter", "fields",
    "asdict", "astuple",
}  # fmt: skip
"""Code that names one of these may read attributes that it does not name."""
_NAMESPACES = {"globals", "__globals__", "eval", "exec", "locals"}
"""Code that names one of these may read variables that it does not name."""
_FAILING = {"AttributeError", "NameError", "Exception", "BaseException"}
"""Code that names one of these may go on where there is no such attribute or global variable."""
_VARIABLES = {"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"}
_CELLS = {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM"}
_LOCALS = {"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "IMPORT_NAME"}
_IGNORED = {"EXTENDED_ARG", "CACHE", "PUSH_NULL", "NOP", "COPY"}
_ADDING = {"append", "extend", "appendleft"}
"""Methods that add to a container and tell nothing of it; what they add is seen, whatever the container holds."""
_OF_NUMBERS = ("float", "int", "complex", "bool")
_ENVIRONMENT = {"environ", "getenv"}
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
      modules: Those that it imports.
      lines: Name → the file and the line that loads it first.
      compares: Whether it may ask whether two objects are one.
      environment: Strings beside which it reads variables of the environment; None if it reads none.
    """

    variables: frozenset[str]
    stored: frozenset[str]
    attributes: frozenset[str]
    changed: frozenset[str]
    called: frozenset[str]
    read: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    strings: frozenset[str]
    modules: frozenset[str]
    lines: dict[str, tuple[str, int]]
    compares: bool
    environment: frozenset[str] | None

    @property
    def reads_by_name(self) -> bool:
        """Whether it may read attributes that it does not name."""
        return not (_BY_NAME.isdisjoint(self.variables) and _BY_NAME.isdisjoint(self.attributes))

    @property
    def reads_variables_by_name(self) -> bool:
        """Whether it may read global variables that it does not name."""
        return not (_NAMESPACES.isdisjoint(self.variables) and _NAMESPACES.isdisjoint(self.attributes))

    @property
    def goes_on(self) -> bool:
        """Whether it may go on where there is no such attribute or variable."""
        return not (_FAILING.isdisjoint(self.variables) and _FAILING.isdisjoint(self.attributes))


@functools.lru_cache(maxsize=8192)
def code_names(code: types.CodeType) -> CodeNames:
    """Returns what a piece of code names.

    `losses.append(loss)` names `losses`, and does not read what a list of that name holds.
    """
    variables, stored, attributes, read = set[str](), set[str](), set[str](), set[str]()
    pairs, modules, lines = set[tuple[str, str]](), set[str](), dict[str, tuple[str, int]]()
    strings, changed, called, compares = set[str](), set[str](), set[str](), False
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
        elif kind == "MATCH_CLASS":  # reads the attributes that a class lists
            variables.add("getattr")
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
    for constant in code.co_consts:
        strings.update(s for s in _strings(constant) if s.isidentifier())
    is_environment = not _ENVIRONMENT.isdisjoint(variables | attributes)
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
        frozenset(modules.union(*(c.modules for c in inner))),
        {name: place for c in (*inner, None) for name, place in (lines if c is None else c.lines).items()},
        compares or any(c.compares for c in inner),
        frozenset(strings.union(*(c.strings for c in inner))) if is_environment else _joined(inner),
    )


def _joined(inner: list[CodeNames]) -> frozenset[str] | None:
    found = [c.environment for c in inner if c.environment is not None]
    return frozenset[str]().union(*found) if found else None


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


def package_of(module: str | None) -> str:
    """Returns the name of the package that a module is in."""
    return (module or "").split(".")[0]


@functools.lru_cache(maxsize=4096)
def is_installed(module: str | None) -> bool:
    """Returns whether a module was installed, rather than written where it stands."""
    file = getattr(sys.modules.get(module or ""), "__file__", None) or ""
    return any(part in file for part in ("site-packages", "dist-packages"))


@dataclasses.dataclass
class Named:
    """What the code that was found so far names.

    Attributes:
      names: The attributes, and strings that may be such.
      read: Variables and attributes that are not only added to.
      changed: Attributes that are set or deleted.
      hoped: Attributes that need not be there.
      openers: The packages with code that may read attributes that it does not name.
      pairs: Of a name and the attribute that is loaded of it.
      lines: Name → the file and the line that loads it first.
      compares: Whether some code may ask whether two objects are one.
      environment: Variables of the environment that may be read.
      reads_environment: Whether others may be read too.
    """

    names: set[str] = dataclasses.field(default_factory=set)
    read: set[str] = dataclasses.field(default_factory=set)
    changed: set[str] = dataclasses.field(default_factory=set)
    hoped: set[str] = dataclasses.field(default_factory=set)
    openers: set[str] = dataclasses.field(default_factory=set)
    pairs: set[tuple[str, str]] = dataclasses.field(default_factory=set)
    lines: dict[str, tuple[str, int]] = dataclasses.field(default_factory=dict, compare=False)
    compares: bool = False
    environment: set[str] = dataclasses.field(default_factory=set)
    reads_environment: bool = False

    def add(self, fn: types.FunctionType, is_certain: bool = True) -> None:
        """Notes what the code of a function names.

        Args:
          fn: The function.
          is_certain: Whether other code names it; operators may be called without.
        """
        named, is_of_others = code_names(fn.__code__), is_installed(fn.__module__)
        self.names |= named.attributes | named.strings
        self.read |= named.read | named.strings
        self.changed |= named.changed
        self.pairs |= named.pairs
        self.compares = self.compares or named.compares
        if named.environment is not None:
            self.environment |= named.environment
            self.reads_environment = self.reads_environment or not named.environment
        for name, line in named.lines.items():
            self.lines.setdefault(name, line)
        if named.reads_by_name and (is_certain or not is_of_others):
            self.openers.add(package_of(fn.__module__))
        if named.reads_by_name and not is_of_others:
            self.hoped |= named.strings
        if named.goes_on and not is_of_others:
            self.hoped |= named.attributes


def variables_of(code: types.CodeType) -> frozenset[str]:
    """Returns the names of the global variables that a piece of code may read."""
    named = code_names(code)
    return named.variables | named.strings if named.reads_variables_by_name else named.variables


def hoped_variables(fn: types.FunctionType) -> frozenset[str]:
    """Returns the global variables that a function may look for, and go on where there is none of that name."""
    named, found = code_names(fn.__code__), frozenset[str]()
    if is_installed(fn.__module__):
        return found
    if named.reads_variables_by_name:
        found |= named.strings
    return found | named.variables if named.goes_on else found
