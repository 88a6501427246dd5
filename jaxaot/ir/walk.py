"""Reading a graph: who makes a value, who uses it, what it weighs, and whether two equations say the same.

An *atom* is a variable or a literal. The *maker* of a variable is the equation that defines it; its *users* are the
positions of the equations that read it. A *backward slice* is all that a value depends on, a *forward
slice* all that depends on it.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import re
from collections.abc import Callable, Container, Hashable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import ClosedJaxpr, DropVar, Jaxpr, Literal, ShapedArray, is_plainly_placed, is_tracer
from jaxaot._scopes import Annotation, scopes
from jaxaot._scopes import source_line as full_source_line
from jaxaot._typing import Atom, Aval, Eqn, Primitive
from jaxaot.ir.own_rules import rule_of
from jaxaot.views.layout import check_addressable

_FORWARD_TAG = re.compile(r"fw(\d+)(?:r(\d+))?\Z")


class Makers(dict[Any, Any]):
    """Who makes a value: for each variable that an equation defines, that equation.

    Attributes:
      position: The position of that equation.
    """

    def __init__(self, jaxpr: Jaxpr):
        self.position: dict[Any, int] = {
            var: i for i, eqn in enumerate(jaxpr.eqns) for var in eqn.outvars if not isinstance(var, DropVar)
        }
        super().__init__((var, jaxpr.eqns[i]) for var, i in self.position.items())

    def of(self, atom: Atom, *primitives: Primitive) -> Eqn | None:
        """Returns the equation that makes an atom, if it is one of some primitives on plain arrays; None if not.

        Args:
          atom: The atom.
          *primitives: The primitives; none for all.
        """
        eqn = None if isinstance(atom, Literal) else self.get(atom)
        if eqn is None or (primitives and eqn.primitive not in primitives):
            return None
        return eqn if is_rewritable(eqn) else None

    def behind(self, atom: Atom, names: Container[str]) -> Any:
        """Returns what an atom is made of by equations of some primitives alone, each of its first operand."""
        while not isinstance(atom, Literal) and (eqn := self.get(atom)) is not None and eqn.primitive.name in names:
            atom = eqn.invars[0]
        return atom


def is_rewritable(eqn: Eqn) -> bool:
    """Returns whether all values of an equation are plain arrays: no tokens, and not placed on a mesh by their type."""
    for atom in (*eqn.invars, *eqn.outvars):
        aval = atom.aval
        if not (isinstance(aval, ShapedArray) and is_plainly_placed(aval)):
            return False
    return True


def users(eqns: Iterable[Eqn]) -> dict[Any, list[int]]:
    """Returns, for each variable that equations read, the positions of those that do, each once."""
    found: dict[Any, list[int]] = {}
    for i, eqn in enumerate(eqns):
        for atom in eqn.invars:
            if isinstance(atom, Literal):
                continue
            positions = found.setdefault(atom, [])
            if not positions or positions[-1] != i:
                positions.append(i)
    return found


def variables(atoms: Iterable[Atom]) -> list[Any]:
    """Returns the atoms that are variables."""
    return [atom for atom in atoms if not isinstance(atom, Literal)]


def sub_jaxprs(eqn: Eqn) -> list[Any]:
    """Returns the open jaxprs among the parameters of an equation, in order."""
    found: list[Any] = []

    def visit(value: object) -> None:
        if isinstance(value, ClosedJaxpr):
            found.append(value.jaxpr)
        elif isinstance(value, Jaxpr):
            found.append(value)
        elif isinstance(value, tuple | list):
            for item in value:
                visit(item)

    for value in eqn.params.values():
        visit(value)
    return found


def backward_slice(jaxpr: Jaxpr, targets: Iterable[Any], stop: Iterable[Any] = ()) -> set[int]:
    """Returns the positions of the equations that `targets` need, not going beyond the variables in `stop`."""
    producer, known = Makers(jaxpr).position, set(stop)
    needed: set[int] = set()
    pending = [var for var in variables(targets) if var not in known]
    while pending:
        i = producer.get(pending.pop())
        if i is not None and i not in needed:
            needed.add(i)
            pending.extend(var for var in variables(jaxpr.eqns[i].invars) if var not in known)
    return needed


def forward_slice(jaxpr: Jaxpr, sources: Iterable[Any]) -> set[int]:
    """Returns the positions of the equations that depend on `sources`."""
    reached, positions = set(sources), set()
    for i, eqn in enumerate(jaxpr.eqns):
        if any(var in reached for var in variables(eqn.invars)):
            positions.add(i)
            reached.update(eqn.outvars)
    return positions


def aval_bytes(aval: Aval) -> int:
    """Returns the bytes of an array of type `aval`, exactly; a typed key counts its key data, int4 one byte."""
    shape, dtype = getattr(aval, "shape", None), getattr(aval, "dtype", None)
    if shape is None or dtype is None:
        return 0  # tokens and other values without memory
    if isinstance(dtype, np.dtype):
        return math.prod(map(int, shape)) * dtype.itemsize
    if jnp.issubdtype(dtype, jax.dtypes.extended):
        key_data = getattr(getattr(dtype, "_impl", None), "key_shape", None)
        itemsize = 4 * math.prod(key_data) if key_data is not None else int(dtype.itemsize)
    else:
        itemsize = int(np.dtype(dtype).itemsize)
    return math.prod(int(size) for size in shape) * itemsize


def check_sizes(jaxpr: Any) -> None:
    """Does nothing if memory has addresses for each array of an open jaxpr: XLA ends the process where it has not.

    Raises:
      StorageSizeError: If it has none for one.
    """
    for eqn in jaxpr.eqns:
        for var in eqn.outvars:
            shape, dtype = getattr(var.aval, "shape", ()), getattr(var.aval, "dtype", None)
            if shape and isinstance(dtype, np.dtype):
                check_addressable(shape, dtype.itemsize)
        for body in sub_jaxprs(eqn):
            check_sizes(body)


def is_on_host(aval: Aval) -> bool:
    """Returns whether values of a type are in the memory of the host."""
    return "Host" in str(getattr(aval, "memory_space", ""))


def short_aval(aval: Aval) -> str:
    """Returns a type for people, such as `f32[3,4]`."""
    return aval.str_short(short_dtypes=True) if hasattr(aval, "str_short") else str(aval)


def source_line(eqn: Eqn, full_path: bool = False) -> str | None:
    """Returns where the user wrote an equation, such as `model.py:12`, or `None` if JAX does not know."""
    place = full_source_line(eqn)
    return place if place is None or full_path else re.split(r"[/\\]", place)[-1]


def user_scopes(eqn: Eqn) -> str:
    """Returns the named scopes of the user around an equation, such as `block0/attention`."""
    entries = scopes(eqn)
    names = [
        name
        for is_transform, name in entries[n_own_scopes(eqn) :]
        if not is_transform and not isinstance(name, Annotation)
    ]
    return "/".join(names)


def n_own_scopes(eqn: Eqn) -> int:
    """Returns how many entries of an equation's name stack lead up to and include the tag of `build_joint`."""
    position = _tag_position(eqn)
    return 0 if position is None else position[0] + 1


def forward_index(eqn: Eqn) -> int | None:
    """Returns which equation of the forward an equation of a joint graph comes from, or `None` if it has no tag."""
    position = _tag_position(eqn)
    return None if position is None else position[1]


def region_index(eqn: Eqn) -> int | None:
    """Returns which region of the forward an equation of a joint graph comes from, the innermost; None for none."""
    position = _tag_position(eqn)
    return None if position is None else position[2]


def is_backward(eqn: Eqn) -> bool:
    """Returns whether an equation of a joint graph was made by transposition."""
    position = _tag_position(eqn)
    if position is None:
        return False
    return _are_transposed(scopes(eqn)[: position[0]])


def is_transposed(eqn: Eqn) -> bool:
    """Returns whether an equation of any graph was made by transposition, as those of gradients are."""
    return _are_transposed(scopes(eqn))


def _are_transposed(entries: Iterable[tuple[bool, str]]) -> bool:
    return any(is_transform and name == "transpose" for is_transform, name in entries)


def forward_tag(index: int, region: int | None = None) -> str:
    """Returns the scope under which equation `index` of a forward, in a region or in none, is traced."""
    return f"fw{index}" if region is None else f"fw{index}r{region}"


def _tag_position(eqn: Eqn) -> tuple[int, int, int | None] | None:
    for place, (is_transform, name) in enumerate(scopes(eqn)):
        match = None if is_transform else _FORWARD_TAG.match(name)
        if match:
            return place, int(match.group(1)), None if match.group(2) is None else int(match.group(2))
    return None


def equation_key(eqn: Eqn, canonical: Callable[[Any], Any] = lambda atom: atom) -> Hashable:
    """Returns a value that is equal for equations that compute the same.

    Large parameters (arrays, sub-jaxprs, functions) are compared by identity, so that a key costs no more than the
    equation itself.

    Args:
      eqn: The equation.
      canonical: Maps a variable to the one that stands for it.
    """
    atoms = tuple(literal_key(atom) if isinstance(atom, Literal) else canonical(atom) for atom in eqn.invars)
    params = tuple(sorted((name, param_key(value)) for name, value in eqn.params.items() if value is not None))
    return eqn.primitive, atoms, _Ordered(params), id(eqn.ctx)


def equation_content(eqn: Eqn, canonical: Callable[[Any], Any] = lambda atom: atom) -> Hashable:
    """Returns a value that is equal for equations of different traces that compute the same from the same operands.

    Sub-jaxprs are compared by their text and arrays by their bytes, so that a key costs more than `equation_key`.

    Args:
      eqn: The equation.
      canonical: Maps a variable to what stands for it.
    """
    atoms = tuple(literal_key(atom) if isinstance(atom, Literal) else canonical(atom) for atom in eqn.invars)
    params = tuple(sorted((name, _content(value)) for name, value in eqn.params.items()))
    return eqn.primitive, atoms, _Ordered(params), repr(eqn.ctx)


def graph_content(jaxpr: Jaxpr) -> Hashable | None:
    """Returns a value that is equal for graphs of different traces that compute the same; None if it cannot be told.

    It can not where a function has a rule of its own for its derivative that cannot be told from others.

    Args:
      jaxpr: A graph whose calls were opened.
    """
    number: dict[Any, int] = {var: i for i, var in enumerate((*jaxpr.constvars, *jaxpr.invars))}
    named = lambda atom: literal_key(atom) if isinstance(atom, Literal) else number[atom]
    found: list[Hashable] = [str([var.aval for var in (*jaxpr.constvars, *jaxpr.invars)])]
    for eqn in jaxpr.eqns:
        rules = _own_rules(eqn)
        if None in rules:
            return None
        params = {name: value for name, value in eqn.params.items() if not rules or name != "jvp_jaxpr_fun"}
        found.append((equation_content(eqn.replace(params=params), number.__getitem__), rules))
        for var in eqn.outvars:
            number[var] = len(number)
    return (*found, tuple(map(named, jaxpr.outvars)))


def _own_rules(eqn: Eqn) -> tuple[Hashable | None, ...]:
    """Returns the rules of the functions with one in an equation and its bodies, None for those that are not known."""
    own = (rule_of(eqn),) if eqn.primitive.name.startswith("custom_") else ()
    return sum((_own_rules(inner) for body in sub_jaxprs(eqn) for inner in body.eqns), own)


def _content(value: object) -> Hashable:
    """Returns the same as `param_key`, except for objects that a second trace makes anew."""
    if isinstance(value, ClosedJaxpr):
        consts = tuple(_content(np.asarray(const)) for const in value.consts)
        return _Ordered(("jaxpr", str(value.jaxpr), consts))
    if isinstance(value, Jaxpr):
        return _Ordered(("jaxpr", str(value)))
    if isinstance(value, np.ndarray | jax.Array):
        return _Ordered(("array", str(value.dtype), value.shape, np.asarray(value).tobytes()))
    if isinstance(value, tuple | list):
        return _Ordered((type(value).__name__, *map(_content, value)))
    if callable(value) and dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (_content(getattr(value, field.name)) for field in dataclasses.fields(value))
        return _Ordered((type(value).__name__, *fields))
    return param_key(value)


def literal_key(literal: Literal) -> Hashable:
    """Returns a value that is equal for literals of the same type and bits."""
    if is_tracer(literal.val):
        return ("tracer", id(literal.val))
    return ("literal", str(literal.aval), np.asarray(literal.val).tobytes())


def param_key(value: object) -> Hashable:
    """Returns a hashable value that is equal for parameters that mean the same."""
    if value is None or isinstance(value, bool | int | str | bytes | enum.Enum | np.dtype):
        return _Ordered((type(value).__name__, value))
    if isinstance(value, float | complex):
        return _Ordered((type(value).__name__, repr(value)))  # tells 0.0 from -0.0, and nan equals nan
    if isinstance(value, np.generic):
        return _Ordered((value.dtype.name, value.tobytes()))
    if isinstance(value, tuple | list):
        kind, items = type(value).__name__, tuple(value)
        if all(type(item) is int for item in items):
            return _Ordered(("ints", kind, items))
        return _Ordered((kind, *map(param_key, items)))
    if isinstance(value, frozenset | set):
        return _Ordered((type(value).__name__, frozenset(param_key(item) for item in value)))
    if isinstance(value, dict):
        return _Ordered(("dict", *((param_key(name), param_key(item)) for name, item in value.items())))
    if isinstance(value, ClosedJaxpr | Jaxpr | np.ndarray | jax.Array) or (
        callable(value) and not isinstance(value, type)
    ):
        return _Ordered(("object", id(value)))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (param_key(getattr(value, field.name)) for field in dataclasses.fields(value))
        return _Ordered((type(value).__name__, *fields))
    try:
        hash(value)
    except TypeError:
        return _Ordered(("object", id(value)))
    return _Ordered((type(value).__name__, value))


class _Ordered:
    """A hashable value that `sorted` never has to compare, because parameter names are distinct."""

    __slots__ = ("_hash", "value")

    def __init__(self, value: Hashable):
        self.value, self._hash = value, hash(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Ordered) and self._hash == other._hash and self.value == other.value

    def __hash__(self) -> int:
        return self._hash

    def __lt__(self, other: object) -> bool:
        return False


def opened(eqn: Eqn) -> tuple[str, Any] | None:
    """Returns what the linear map of an equation is, and the graph that it runs; None of other equations."""
    return eqn.params["linear"].opened() if eqn.primitive.name == "linear_map" else None


def described_inside(jaxpr: Jaxpr) -> list[tuple[str, Any]]:
    """Returns what is inside of linear maps at any depth, by what they are: the derivatives of `ja.remat` functions.

    Each is a partition, or the graph of a linear map that nothing was chosen for.
    """
    found = []
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "linear_map":
            found.append(eqn.params["linear"].described())
        for inner in sub_jaxprs(eqn):
            found += described_inside(inner)
    return found
