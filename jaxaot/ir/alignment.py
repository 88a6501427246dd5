"""Two traces of one function, at other sizes, laid side by side; and whether a third is like them.

Equations of two graphs *go together* if they say the same but for numbers: sizes in shapes and parameters, literals,
tables among the constants. A place where the numbers differ belongs to a *class*, which goes by both numbers, so that
places of one class stand for the same thing. A further graph is *like* the aligned ones if all places of a class have
one value in it, and all other numbers are as they were. No formula is guessed.

At a border an equation computes nothing, and JAX leaves it out: `x[:n]` where `x` has n rows. What one graph has, and
what would be an identity in the other, goes together with nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from jaxaot._immutable import immutable
from jaxaot._jax import is_key_dtype
from jaxaot._typing import ClosedJaxpr, Eqn, Jaxpr, Literal
from jaxaot.ir.extents import Pair
from jaxaot.ir.statements import SAID_ELSEWHERE, Statement, as_identity, contrast, integers, statement_of, where


class NotAlikeError(Exception):
    """Graphs that do not go together; the message says where."""


class Number(NamedTuple):
    """A literal in two graphs.

    Attributes:
      exact: Its value in the one at the exact sizes.
      bucket: Its value in the one at the bucket.
      dtype: Its dtype.
    """

    exact: Any
    bucket: Any
    dtype: str

    @property
    def is_static(self) -> bool:
        """Whether it is the same at all sizes, to the bit."""
        return _bits(self.exact) == _bits(self.bucket)

    @property
    def key(self) -> Hashable:
        """Its class."""
        return self.dtype, _bits(self.exact), _bits(self.bucket)


Operand: TypeAlias = int | Number
"""What an aligned equation reads: the number of a value, or a literal."""


@immutable(eq=False)
class AlignedEqn:
    """An equation of both graphs.

    Attributes:
      eqn: The equation of one of them.
      exact: Its parameters at the exact sizes.
      bucket: Its parameters at the bucket.
      operands: What it reads.
      results: The numbers of the values that it makes.
      exact_shapes: Their shapes at the exact sizes.
      bucket_shapes: Their shapes at the bucket.
      bodies: The graphs among its parameters.
    """

    eqn: Eqn
    exact: Mapping[str, Any]
    bucket: Mapping[str, Any]
    operands: tuple[Operand, ...]
    results: tuple[int, ...]
    exact_shapes: tuple[tuple[int, ...], ...]
    bucket_shapes: tuple[tuple[int, ...], ...]
    bodies: tuple[AlignedGraph, ...]
    said: Hashable
    numbers: tuple[int, ...]
    moving: tuple[tuple[int, Pair], ...]

    @property
    def name(self) -> str:
        """The name of the primitive."""
        return self.eqn.primitive.name

    @property
    def depends_on_sizes(self) -> bool:
        """Whether a number in it differs."""
        return bool(self.moving) or any(body.depends_on_sizes for body in self.bodies)

    @property
    def moving_params(self) -> list[str]:
        """The parameters with numbers that differ."""
        if not self.moving:
            return []
        differ = lambda name: integers(self.exact.get(name)) != integers(self.bucket[name])
        return [name for name in sorted(self.bucket) if name not in SAID_ELSEWHERE and differ(name)]


class Table(NamedTuple):
    """A constant in two graphs, which may differ.

    Attributes:
      exact: What it is in the one at the exact sizes.
      bucket: What it is in the one at the bucket.
      is_static: Whether these are equal.
    """

    exact: Any
    bucket: Any
    is_static: bool


@immutable(eq=False)
class AlignedGraph:
    """Two graphs side by side.

    Attributes:
      tables: The constants, which have the first numbers.
      exact_inputs: The shapes of the inputs at the exact sizes, whose numbers are the next ones.
      bucket_inputs: Their shapes at the bucket.
      eqns: The equations.
      outputs: What is returned.
    """

    tables: tuple[Table, ...]
    exact_inputs: tuple[tuple[int, ...], ...]
    bucket_inputs: tuple[tuple[int, ...], ...]
    eqns: tuple[AlignedEqn, ...]
    outputs: tuple[Operand, ...]
    types: Hashable

    @property
    def depends_on_sizes(self) -> bool:
        """Whether a number in it differs, at any depth."""
        is_moved = any(isinstance(a, Number) and not a.is_static for a in self.outputs)
        return is_moved or any(
            eqn.depends_on_sizes or any(isinstance(a, Number) and not a.is_static for a in eqn.operands)
            for eqn in self.eqns
        )


@dataclasses.dataclass
class Values:
    """What a graph says of the classes.

    Attributes:
      sizes: By pair, the value of a class of sizes.
      numbers: By class, the value of a literal.
      tables: By position among the constants, those that differ.
    """

    sizes: dict[Pair, int] = dataclasses.field(default_factory=dict)
    numbers: dict[Hashable, Any] = dataclasses.field(default_factory=dict)
    tables: dict[int, Any] = dataclasses.field(default_factory=dict)


def align(exact: ClosedJaxpr, bucket: ClosedJaxpr) -> AlignedGraph:
    """Returns two graphs side by side.

    Args:
      exact: A graph, calls in it opened and without dead code.
      bucket: Another one, of other sizes.

    Raises:
      NotAlikeError: If they do not go together.
    """
    return _Aligner(exact.jaxpr, exact.consts, bucket.jaxpr, bucket.consts).graph()


def values_in(graph: AlignedGraph, closed: ClosedJaxpr) -> Values:
    """Returns the values of the classes in a further graph.

    Args:
      graph: The aligned graphs.
      closed: The further one, prepared as they were.

    Raises:
      NotAlikeError: If it is not like them.
    """
    found = Values()
    _Reader(graph, closed.jaxpr, closed.consts, found).read()
    return found


def _shapes(eqn: Eqn) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(getattr(var.aval, "shape", ())) for var in eqn.outvars)


def _bits(value: object) -> Any:
    array = np.asarray(value)
    return array.tobytes(), array.shape


def _number(exact: Literal, bucket: Literal) -> Number | None:
    dtypes = str(exact.aval.dtype), str(bucket.aval.dtype)
    if dtypes[0] != dtypes[1] or np.shape(exact.val) != np.shape(bucket.val):
        return None
    dtype = exact.aval.dtype
    return Number(np.asarray(exact.val, dtype), np.asarray(bucket.val, dtype), dtypes[0])


def _types(jaxpr: Jaxpr) -> tuple[Hashable, tuple[tuple[int, ...], ...]]:
    """Returns what the inputs of a graph are but for their shapes, and those."""
    variables = (*jaxpr.constvars, *jaxpr.invars)
    shapes = tuple(tuple(getattr(var.aval, "shape", ())) for var in variables)
    kinds = tuple((str(getattr(v.aval, "dtype", v.aval)), len(s)) for v, s in zip(variables, shapes, strict=True))
    return (len(jaxpr.constvars), kinds), shapes


def _are_equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if is_key_dtype(one.dtype) or is_key_dtype(other.dtype):
        return False
    return one.dtype == other.dtype and one.shape == other.shape and _bits(one) == _bits(other)


class _Side(NamedTuple):
    """An equation in one of the graphs: its parameters, the shapes of its results, and what it says."""

    params: Mapping[str, Any]
    shapes: tuple[tuple[int, ...], ...]
    step: Statement


class _Aligner:
    """Lays two open graphs side by side."""

    def __init__(self, exact: Jaxpr, exact_consts: Sequence[Any], bucket: Jaxpr, bucket_consts: Sequence[Any]):
        self._exact, self._bucket = exact, bucket
        self._consts = exact_consts, bucket_consts
        self._names: tuple[dict[Any, list[int]], ...] = {}, {}  # several where an identity stands for nothing
        self._n = 0
        self._eqns: list[AlignedEqn] = []

    def graph(self) -> AlignedGraph:
        (kinds, exact_shapes), (bucket_kinds, bucket_shapes) = _types(self._exact), _types(self._bucket)
        if kinds != bucket_kinds:
            raise NotAlikeError("its inputs or constants are of other types, or other in number")
        tables = tuple(self._tables())
        for one, other in zip(
            (*self._exact.constvars, *self._exact.invars), (*self._bucket.constvars, *self._bucket.invars), strict=True
        ):
            self._name(one, other)
        i = j = 0
        left, right = self._exact.eqns, self._bucket.eqns
        while i < len(left) or j < len(right):
            one, other = left[i] if i < len(left) else None, right[j] if j < len(right) else None
            if one is not None and other is not None and self._together(one, other):
                i, j = i + 1, j + 1
            elif one is not None and self._against_nothing(one, 0):
                i += 1
            elif other is not None and self._against_nothing(other, 1):
                j += 1
            else:
                raise NotAlikeError(contrast(one, other) or f"where one has {where(one)}, the other has {where(other)}")
        outputs = self._operands(self._exact.outvars, self._bucket.outvars)
        if outputs is None:
            raise NotAlikeError("it returns other values")
        n = len(self._exact.constvars)
        return AlignedGraph(tables, exact_shapes[n:], bucket_shapes[n:], tuple(self._eqns), outputs, kinds)

    def _tables(self) -> list[Table]:
        found = []
        for one, other in zip(*self._consts, strict=True):
            is_static = _are_equal(one, other)
            if not is_static and (is_key_dtype(one.dtype) or one.dtype != other.dtype or one.ndim != other.ndim):
                raise NotAlikeError("a constant of it is of another type, or a key")
            found.append(Table(one, other, is_static))
        return found

    def _name(self, *variables: Any) -> int:
        """Gives a value of both graphs a number."""
        for names, var in zip(self._names, variables, strict=True):
            names.setdefault(var, []).append(self._n)
        self._n += 1
        return self._n - 1

    def _operands(self, exact: Sequence[Any], bucket: Sequence[Any]) -> tuple[Operand, ...] | None:
        if len(exact) != len(bucket):
            return None
        found: list[Operand] = []
        for one, other in zip(exact, bucket, strict=True):
            if isinstance(one, Literal) or isinstance(other, Literal):
                if not (isinstance(one, Literal) and isinstance(other, Literal)):
                    return None
                number = _number(one, other)
                if number is None:
                    return None
                found.append(number)
                continue
            others = self._names[1].get(other, ())
            common = [number for number in self._names[0].get(one, ()) if number in others]
            if not common:
                return None
            found.append(common[-1])
        return tuple(found)

    def _together(self, one: Eqn, other: Eqn) -> bool:
        if one.primitive is not other.primitive:
            return False
        said, also = statement_of(one), statement_of(other)
        if said.said != also.said or len(said.numbers) != len(also.numbers):
            return False
        operands = self._operands(one.invars, other.invars)
        if operands is None:
            return False
        bodies = tuple(_Aligner(*a, *b).graph() for a, b in zip(said.bodies, also.bodies, strict=True))
        results = tuple(self._name(a, b) for a, b in zip(one.outvars, other.outvars, strict=True))
        exact, bucket = _Side(one.params, _shapes(one), said), _Side(other.params, _shapes(other), also)
        self._add(other, operands, results, exact, bucket, bodies)
        return True

    def _add(
        self, eqn: Eqn, operands: tuple[Operand, ...], results: tuple[int, ...], exact: _Side, bucket: _Side,
        bodies: tuple[AlignedGraph, ...] = (),
    ) -> None:  # fmt: skip
        pairs = enumerate(zip(exact.step.numbers, bucket.step.numbers, strict=True))
        moving = tuple((k, (a, b)) for k, (a, b) in pairs if a != b)
        aligned = AlignedEqn(
            eqn, exact.params, bucket.params, operands, results, exact.shapes, bucket.shapes, bodies, bucket.step.said,
            bucket.step.numbers, moving,
        )  # fmt: skip
        self._eqns.append(aligned)

    def _against_nothing(self, eqn: Eqn, side: int) -> bool:
        """Lays an equation of one graph beside an identity that the other left out, if that can be."""
        source, rest = eqn.invars[0], eqn.invars[1:]
        if isinstance(source, Literal) or not all(isinstance(atom, Literal) for atom in rest):
            return False
        numbers, others = self._names[side].get(source, []), self._names[1 - side]
        var = next((v for v, known in others.items() if set(known) & set(numbers)), None)
        if var is None:
            return False
        shape = tuple(var.aval.shape)
        params = as_identity(eqn.primitive.name, eqn.params, shape, bool(rest))
        if params is None:
            return False
        said, also = statement_of(eqn), statement_of(eqn, params, shape)
        if said.said != also.said or len(said.numbers) != len(also.numbers):
            return False
        number = [n for n in numbers if n in others[var]][-1]
        margins = [_number(atom, atom) for atom in rest if isinstance(atom, Literal)]
        operands: tuple[Operand, ...] = (number, *(margin for margin in margins if margin is not None))
        mine, other = _Side(eqn.params, _shapes(eqn), said), _Side(params, (shape,), also)
        pair, exact, bucket = (eqn.outvars[0], var), mine, other
        if side == 1:
            pair, exact, bucket = (var, eqn.outvars[0]), other, mine
        self._add(eqn, operands, (self._name(*pair),), exact, bucket)
        return True


class _Reader:
    """Reads the values of classes off a further graph."""

    def __init__(self, graph: AlignedGraph, jaxpr: Jaxpr, consts: Sequence[Any], found: Values, is_body: bool = False):
        self._graph, self._jaxpr, self._consts, self._found = graph, jaxpr, consts, found
        self._is_body = is_body
        self._names: dict[Any, set[int]] = {}
        self._shapes: dict[int, Any] = {}

    def read(self) -> None:
        graph, jaxpr = self._graph, self._jaxpr
        kinds, shapes = _types(jaxpr)
        if kinds != graph.types:
            raise NotAlikeError("its inputs or constants are of other types, or other in number")
        n = len(graph.tables)
        for i, (table, const) in enumerate(zip(graph.tables, self._consts, strict=True)):
            self._read_table(i, table, const)
        for i, (exact, bucket) in enumerate(zip(graph.exact_inputs, graph.bucket_inputs, strict=True)):
            for pair in zip(exact, bucket, shapes[n + i], strict=True):
                self._size(pair[0], pair[1], pair[2])
        for i, var in enumerate((*jaxpr.constvars, *jaxpr.invars)):
            self._names.setdefault(var, set()).add(i)
        position = 0
        for aligned in graph.eqns:
            eqn = jaxpr.eqns[position] if position < len(jaxpr.eqns) else None
            if eqn is not None and self._is_like(aligned, eqn):
                position += 1
            elif not self._was_left_out(aligned):
                raise NotAlikeError(
                    contrast(aligned.eqn, eqn) or f"where they have {where(aligned.eqn)}, it has {where(eqn)}"
                )
        if position < len(jaxpr.eqns):
            raise NotAlikeError(f"it also has {where(jaxpr.eqns[position])}")
        if not self._reads(graph.outputs, jaxpr.outvars):
            raise NotAlikeError("it returns other values")

    def _size(self, exact: int, bucket: int, here: int) -> None:
        if exact == bucket:
            if here != exact:
                raise NotAlikeError(f"a size is {here} in it, and {exact} in them")
        elif self._found.sizes.setdefault((exact, bucket), here) != here:
            known = self._found.sizes[exact, bucket]
            raise NotAlikeError(f"two sizes are equal in them, and {known} and {here} in it")

    def _read_table(self, i: int, table: Table, const: Any) -> None:
        if table.is_static:
            if not _are_equal(table.bucket, const):
                raise NotAlikeError("a constant of it is another one")
            return
        if self._is_body:
            raise NotAlikeError("a constant of a loop or branch in it depends on sizes")
        for pair in zip(table.exact.shape, table.bucket.shape, const.shape, strict=True):
            self._size(*pair)
        self._found.tables[i] = const

    def _is_like(self, aligned: AlignedEqn, eqn: Eqn) -> bool:
        if eqn.primitive is not aligned.eqn.primitive:
            return False
        step = statement_of(eqn)
        if step.said != aligned.said or not self._reads(aligned.operands, eqn.invars):
            return False
        self._read_numbers(aligned, step.numbers, eqn)
        for body, (jaxpr, consts) in zip(aligned.bodies, step.bodies, strict=True):
            _Reader(body, jaxpr, consts, self._found, is_body=True).read()
        for number, var in zip(aligned.results, eqn.outvars, strict=True):
            self._names.setdefault(var, set()).add(number)
        return True

    def _read_numbers(self, aligned: AlignedEqn, numbers: tuple[int, ...], eqn: Eqn) -> None:
        if not aligned.moving:
            if numbers != aligned.numbers:
                raise NotAlikeError(f"a number in {where(eqn)} is another one: {numbers} instead of {aligned.numbers}")
            return
        moving = dict(aligned.moving)
        for k, (number, known) in enumerate(zip(numbers, aligned.numbers, strict=True)):
            try:
                self._size(*moving.get(k, (known, known)), number)
            except NotAlikeError as error:
                raise NotAlikeError(f"in {where(eqn)}, {error}") from None

    def _reads(self, operands: Sequence[Operand], atoms: Sequence[Any]) -> bool:
        if len(operands) != len(atoms):
            return False
        for operand, atom in zip(operands, atoms, strict=True):
            if not isinstance(operand, Number):
                if isinstance(atom, Literal) or operand not in self._names.get(atom, ()):
                    return False
                continue
            if not isinstance(atom, Literal) or str(atom.aval.dtype) != operand.dtype:
                return False
            value = np.asarray(atom.val, atom.aval.dtype)
            if operand.is_static:
                if _bits(value) != _bits(operand.bucket):
                    raise NotAlikeError(f"a number is {value} in it, and {operand.bucket} in them")
            elif _bits(self._found.numbers.setdefault(operand.key, value)) != _bits(value):
                raise NotAlikeError("two numbers are equal in them, and differ in it")
        return True

    def _was_left_out(self, aligned: AlignedEqn) -> bool:
        """Returns whether an equation would be an identity in the further graph, which then does not have it."""
        source, *rest = aligned.operands
        if isinstance(source, Number) or not all(isinstance(operand, Number) for operand in rest):
            return False
        var = next((v for v, numbers in self._names.items() if source in numbers), None)
        if var is None:
            return False
        shape = tuple(var.aval.shape)
        params = as_identity(aligned.name, aligned.bucket, shape, bool(rest))
        if params is None:
            return False
        step = statement_of(aligned.eqn, params, shape)
        if step.said != aligned.said:
            return False
        self._read_numbers(aligned, step.numbers, aligned.eqn)
        self._names[var].add(aligned.results[0])
        return True
