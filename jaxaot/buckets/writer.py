"""Writes a graph at its bucket, so that it computes for each smaller size what the graph of that size computes.

What holds before and after each equation: *the value at the bucket, restricted to its valid elements, is the value at
the exact size*. What is invalid may be anything, NaN too. A rule carries that over one primitive; where invalid
elements would reach valid ones it masks them, by a select, as `0 * nan` is no zero. Without a rule nothing is written.
"""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._immutable import immutable
from jaxaot._jax import bind_again, has_side_effects
from jaxaot._scopes import traced_like
from jaxaot._typing import ArrayLike
from jaxaot.ir.alignment import AlignedEqn, AlignedGraph, Number, Operand, Values
from jaxaot.ir.extents import (
    Extent,
    Factor,
    Pair,
    Size,
    extent_of,
    is_padded,
    join,
    length,
    normal,
    plain,
    size_of,
    valid,
)
from jaxaot.ir.walk import source_line

MAX = 2**31 - 1
"""The largest int32."""

_TURNS = 6
"""How often the state of a loop is looked at until its extents stay."""


class RefusedError(Exception):
    """A graph that no program of a bucket can stand for; the message says by which equation, and why."""


@immutable(eq=False)
class Padded:
    """A value in the program of a bucket.

    Attributes:
      array: What it is there.
      extents: Which of its elements are valid, axis by axis.
      fills: By axis, the number that all elements are that are invalid along it, if there is one.
      known: The number that all its elements are, if there is one.
    """

    array: Any
    extents: tuple[Extent, ...]
    fills: Mapping[int, Any] = dataclasses.field(default_factory=dict)
    known: Any = None

    def is_padded(self, axis: int) -> bool:
        """Returns whether elements are invalid along an axis."""
        return is_padded(self.extents[axis])

    def with_extent(self, axis: int, extent: Extent) -> Padded:
        """Returns the value with an axis described otherwise."""
        if self.extents[axis] == extent:
            return self
        extents = (*self.extents[:axis], extent, *self.extents[axis + 1 :])
        return dataclasses.replace(self, extents=extents)

    @property
    def is_static(self) -> bool:
        """Whether all its elements are valid."""
        return not any(map(is_padded, self.extents))

    def fill(self, axis: int) -> Any:
        """Returns the number that the elements are that are invalid along an axis; None if they may be anything."""
        return self.known if self.known is not None else self.fills.get(axis)

    def size(self, axis: int) -> Size:
        """Returns how long an axis is."""
        return length(self.extents[axis])


def whole(array: Any, known: Any = None) -> Padded:
    """Returns a value all of whose elements are valid."""
    return Padded(array, tuple(extent_of(n, n) for n in np.shape(array)), known=known)


class Note(NamedTuple):
    """What was written besides the equations of the graph.

    Attributes:
      kind: `mask`, `move` of elements whose place depends on a size, `loop` of fewer turns, `bits` of a size.
      name: The primitive for which.
      place: The user's line, or None.
    """

    kind: str
    name: str
    place: str | None


Rule: TypeAlias = Callable[["Writer", AlignedEqn, list[Padded]], list[Padded]]


class Writer:
    """Writes aligned graphs, by binding primitives under a trace of JAX.

    Attributes:
      notes: What was written besides.
      equalities: Pairs of sizes that have to be equal at each size.
      sizes: The sizes of axes, which may not be larger than at the bucket.
      limits: Classes of numbers, with the least and the largest that they may be.
      values: What was made so far, outside of loops and branches; None inside of them.
    """

    def __init__(self, rules: Mapping[str, Rule], value: Callable[[Pair], Any], numbers: Mapping[Any, Any]):
        """Makes one.

        Args:
          rules: By name of a primitive.
          value: The values of classes of sizes, as int32 scalars.
          numbers: The values of classes of literals.
        """
        self._rules, self._class_value, self._numbers = rules, value, numbers
        self.notes: list[Note] = []
        self.equalities: set[tuple[Size, Size]] = set()
        self.sizes: set[Size] = set()
        self.limits: set[tuple[Pair, int, int]] = set()
        self.values: list[Padded] | None = []
        self._eqn: AlignedEqn | None = None
        self._masked: dict[Any, Any] = {}
        self._valid: dict[Extent, Any] = {}

    # what rules use

    def refuse(self, why: str) -> RefusedError:
        """Returns the error that says why the equation at hand cannot be written."""
        assert self._eqn is not None
        line = source_line(self._eqn.eqn)
        return RefusedError(f"`{self._eqn.name}`" + (f" at {line}" if line else "") + f": {why}")

    def note(self, kind: str) -> None:
        """Notes that something is written besides the equation at hand."""
        assert self._eqn is not None
        self.notes.append(Note(kind, self._eqn.name, source_line(self._eqn.eqn)))

    def equal(self, one: Size, other: Size) -> None:
        """Notes that two sizes have to be equal at each size."""
        if one != other:
            self.equalities.add((one, other))

    def is_between(self, exact: int, bucket: int, least: int, largest: int) -> bool:
        """Returns whether a number is in a range, which then has to hold at each size.

        Args:
          exact: What it is at the exact sizes.
          bucket: What it is at the bucket.
          least: The lower end of the range.
          largest: The upper end.
        """
        if exact != bucket:
            self.limits.add(((exact, bucket), least, largest))
        return all(least <= number <= largest for number in (exact, bucket))

    def value(self, size: Size) -> Any:
        """Returns what a size is where the program runs: an int if it is static, else an int32 scalar."""
        return size.at(self._class_value_of)

    def _class_value_of(self, pair: Pair) -> Any:
        try:
            return self._class_value(pair)
        except KeyError:
            raise self.refuse(f"a size that is {pair[0]} for {pair[1]} stands nowhere in the graph") from None

    def valid(self, extent: Extent) -> Any:
        """Returns a boolean vector: which elements of an axis are valid."""
        extent = normal(extent)
        if extent not in self._valid:
            self._valid[extent] = valid(extent, self._class_value_of)
        return self._valid[extent]

    def validity(self, value: Padded, axes: Sequence[int]) -> Any:
        """Returns which elements of a value are valid along some axes, in its shape; None if all are."""
        mask = None
        for axis in axes:
            if value.is_padded(axis):
                along = lax.broadcast_in_dim(self.valid(value.extents[axis]), value.array.shape, (axis,))
                mask = along if mask is None else mask & along
        return mask

    def mask(self, value: Padded, axes: Sequence[int], fill: ArrayLike) -> Padded:
        """Returns a value whose elements that are invalid along some axes are a number.

        Args:
          value: The value.
          axes: The axes.
          fill: The number, or a scalar array.
        """
        is_number = not isinstance(fill, jax.Array)
        padded = [a for a in axes if value.is_padded(a)]
        open_axes = [a for a in padded if not (is_number and _is_same(value.fill(a), fill))]
        if not open_axes:
            return value
        key = (id(value), tuple(open_axes), repr(fill)) if is_number else None
        if key is not None and key in self._masked:
            return self._masked[key][1]
        shape, dtype = value.array.shape, value.array.dtype
        filled = jnp.full(shape, fill, dtype) if is_number else jnp.broadcast_to(fill.astype(dtype), shape)
        array = lax.select_n(self.validity(value, open_axes), filled, value.array)
        self.note("mask")
        # what is invalid along an axis that was masked before may be invalid along this one too
        kept = {a: f for a, f in value.fills.items() if is_number and _is_same(f, fill)}
        fills = {**kept, **dict.fromkeys(open_axes, fill)} if is_number else {}
        extents = tuple(plain(extent) if a in open_axes else extent for a, extent in enumerate(value.extents))
        made = Padded(array, extents, fills)
        if key is not None:
            self._masked[key] = value, made  # which keeps the value alive, and so its id its own
        return self._made(made)

    def _made(self, value: Padded) -> Padded:
        if self.values is not None:
            self.values.append(value)
        return value

    def as_prefix(self, value: Padded, axis: int) -> Padded:
        """Returns a value whose valid elements come first along an axis."""
        extent = normal(value.extents[axis])
        if len(extent) == 1:
            return value
        return self.laid_out(value, axis, (Factor(length(extent)),))

    def laid_out(self, value: Padded, axis: int, extent: Extent) -> Padded:
        """Returns a value whose valid elements lie otherwise along an axis."""
        extents = tuple(extent if a == axis else e for a, e in enumerate(value.extents))
        before = normal(value.extents[axis])
        if before == normal(extent) or (len(before) == 1 and before[0].is_uniform):
            self.equal(length(before), length(extent))
            return dataclasses.replace(value, extents=extents)
        self.equal(length(before), length(extent))
        places = self.places([normal(extent)], [before])
        array = jnp.take(value.array, places, axis=axis, mode="clip")
        self.note("move")
        return self._made(Padded(array, extents, {a: f for a, f in value.fills.items() if a != axis}, value.known))

    def places(self, target: Sequence[Extent], source: Sequence[Extent]) -> Any:
        """Returns for each element of one arrangement where it is in another, in the order of memory."""
        factors = [factor for extent in target for factor in normal(extent)]
        shape = tuple(factor.size.bucket for factor in factors)
        rank, stride = jnp.zeros(shape, jnp.int32), jnp.int32(1)
        for axis in reversed(range(len(shape))):
            rank = rank + lax.broadcasted_iota(jnp.int32, shape, axis) * stride
            stride = stride * self.value(factors[axis].size)
        place, step = jnp.zeros(shape, jnp.int32), 1
        for factor in reversed([factor for extent in source for factor in normal(extent)]):
            n = jnp.maximum(jnp.int32(self.value(factor.size)), 1)
            place, rank = place + lax.rem(rank, jnp.broadcast_to(n, shape)) * step, rank // n
            step *= factor.size.bucket
        return place.reshape(-1)

    def together(self, values: Sequence[Padded], axes: Sequence[Sequence[int]]) -> tuple[list[Padded], list[Extent]]:
        """Returns values laid out alike along axes that go together, and how.

        Args:
          values: The values.
          axes: For each set of axes that go together, that of each value; -1 for a value that has none of it.
        """
        found, extents = list(values), []
        for group in axes:
            members = [(i, axis) for i, axis in enumerate(group) if axis >= 0]
            given = [found[i].extents[axis] for i, axis in members]
            joined = join(given, self.equal)
            if joined is None:
                sizes = {length(e)[:2] for e in given} - {(1, 1)}
                if len(sizes) > 1:
                    raise self.refuse(f"sizes that do not go together: {sorted(sizes)}")
                target = plain(max((normal(e) for e in given), key=len))
                for i, axis in members:
                    if found[i].size(axis)[:2] != (1, 1):
                        found[i] = self.laid_out(found[i], axis, target)
                joined = target
            for i, axis in members:  # what is uniform is laid out as the others are
                if found[i].size(axis)[:2] != (1, 1):
                    found[i] = found[i].with_extent(axis, joined)
            extents.append(joined)
        return found, extents

    def bind(self, eqn: AlignedEqn, *arrays: Any, **changed: Any) -> list[Any]:
        """Returns the results of an equation for other operands, and other parameters."""
        return bind_again(eqn.eqn, arrays, {**eqn.bucket, **changed})

    def results(self, eqn: AlignedEqn, i: int = 0) -> list[Extent]:
        """Returns the axes of a result whose valid elements come first."""
        return [extent_of(n, b) for n, b in zip(eqn.exact_shapes[i], eqn.bucket_shapes[i], strict=True)]

    # graphs

    def write(self, graph: AlignedGraph, tables: Sequence[Padded], inputs: Sequence[Padded]) -> list[Padded]:
        """Returns the outputs of a graph.

        Args:
          graph: The graph.
          tables: Its constants.
          inputs: Its inputs.
        """
        values: dict[int, Padded] = dict(enumerate((*tables, *inputs)))
        last = _last_uses(graph)
        for i, eqn in enumerate(graph.eqns):
            operands = [self._read(operand, values) for operand in eqn.operands]
            before, self._eqn = self._eqn, eqn
            with traced_like(eqn.eqn, "bucket", 0):
                results = self._results(eqn, operands)
            self._check(eqn, results)
            for value in results:
                self._made(value)
            self._eqn = before
            values.update(zip(eqn.results, results, strict=True))
            for number in last.get(i, ()):
                values.pop(number, None)
        return [self._read(operand, values) for operand in graph.outputs]

    def _read(self, operand: Operand, values: Mapping[int, Padded]) -> Padded:
        if not isinstance(operand, Number):
            return values[operand]
        if operand.is_static:
            number = operand.bucket
            return whole(number, number.item() if number.ndim == 0 and number.dtype.kind in "biuf" else None)
        return whole(self._numbers[operand.key])

    def _results(self, eqn: AlignedEqn, operands: list[Padded]) -> list[Padded]:
        if not eqn.depends_on_sizes and all(value.is_static for value in operands):
            arrays = self.bind(eqn, *(value.array for value in operands))
            known = _known_of_static(eqn, operands)
            return [whole(array, known) for array in arrays]
        if has_side_effects(eqn.eqn):
            raise self.refuse("it does more than compute, and would show invalid elements")
        rule = self._rules.get(eqn.name)
        if rule is None:
            raise self.refuse("no rule for this primitive along an axis whose size changes")
        return rule(self, eqn, operands)

    def _check(self, eqn: AlignedEqn, results: Sequence[Padded]) -> None:
        """Notes what has to hold for the results at each size, and raises if a rule is wrong here."""
        for value, exact, bucket in zip(results, eqn.exact_shapes, eqn.bucket_shapes, strict=True):
            assert tuple(np.shape(value.array)) == bucket, (eqn.name, np.shape(value.array), bucket)
            for axis, pair in enumerate(zip(exact, bucket, strict=True)):
                size = value.size(axis)
                assert size[:2] == pair, (eqn.name, size, pair)
                self.equal(size, size_of(*pair))
                for factor in value.extents[axis]:
                    if factor.size.exact > factor.size.bucket:
                        raise self.refuse(f"an axis has {factor.size.exact} elements for {factor.size.bucket}")
                    if factor.is_padded:
                        self.sizes.add(factor.size)

    # loops and branches

    def body(self, graph: AlignedGraph, inputs: Sequence[Padded]) -> tuple[Callable[..., list[Any]], list[Padded]]:
        """Returns a body as a function of arrays, and its results as they are for some inputs.

        Args:
          graph: The body.
          inputs: Its inputs, of which only the types and extents count.
        """
        found: list[Padded] = []

        def fn(*arrays: Any) -> list[Any]:
            kept = self._masked, self._valid, self.values
            self._masked, self._valid, self.values = {}, {}, None
            try:
                tables = [whole(jnp.asarray(table.bucket)) for table in graph.tables]
                given = [Padded(a, v.extents) for a, v in zip(arrays, inputs, strict=True)]
                found[:] = self.write(graph, tables, given)
            finally:
                self._masked, self._valid, self.values = kept
            return [jnp.asarray(value.array) for value in found]

        n_notes = len(self.notes)
        kinds = [jax.ShapeDtypeStruct(np.shape(v.array), v.array.dtype) for v in inputs]
        jax.eval_shape(fn, *kinds)
        del self.notes[n_notes:]
        return fn, list(found)

    def settled(
        self, graph: AlignedGraph, before: Sequence[Padded], state: Sequence[Padded], after: Sequence[Padded] = ()
    ) -> tuple[Callable[..., list[Any]], list[Padded], list[Padded]]:
        """Returns the body of a loop, its state with extents that it keeps, and its results.

        Args:
          graph: The body, whose first results are the next state.
          before: Inputs of it before the state.
          state: The state at the start.
          after: Inputs of it after the state.
        """
        state = [Padded(value.array, value.extents) for value in state]
        for _ in range(_TURNS):
            fn, results = self.body(graph, [*before, *state, *after])
            joined = []
            for value, result in zip(state, results, strict=False):
                extents = [join(pair, self.equal) for pair in zip(value.extents, result.extents, strict=True)]
                if None in extents:
                    raise self.refuse("the state of the loop changes its layout")
                joined.append(Padded(value.array, tuple(extents)))  # pyright: ignore[reportArgumentType]
            if all(map(_have_same_extents, joined, state)):
                return fn, state, results
            state = joined
        raise self.refuse("the state of the loop takes no fixed layout")


def _have_same_extents(one: Padded, other: Padded) -> bool:
    return all(normal(a) == normal(b) for a, b in zip(one.extents, other.extents, strict=True))


def _is_same(one: object, other: object) -> bool:
    """Returns whether two numbers are equal, NaN to NaN."""
    if one is None or other is None:
        return one is other
    return one == other or (one != one and other != other)


def _last_uses(graph: AlignedGraph) -> dict[int, list[int]]:
    """Returns by position of an equation the numbers of the values that nothing reads after it."""
    last: dict[int, int] = {}
    for i, eqn in enumerate(graph.eqns):
        for operand in (*eqn.operands, *eqn.results):
            if not isinstance(operand, Number):
                last[operand] = i
    for operand in graph.outputs:
        if not isinstance(operand, Number):
            last.pop(operand, None)
    found: dict[int, list[int]] = collections.defaultdict(list)
    for number, i in last.items():
        found[i].append(number)
    return found


_KEEP_NUMBERS = {"broadcast_in_dim", "reshape", "transpose", "squeeze", "copy", "copy_p"}


def _known_of_static(eqn: AlignedEqn, operands: Sequence[Padded]) -> Any:
    """Returns the number that all elements of the result are, if that is told by the operand alone."""
    if len(operands) != 1 or operands[0].known is None:
        return None
    if eqn.name in _KEEP_NUMBERS:
        return operands[0].known
    dtype = eqn.eqn.outvars[0].aval.dtype
    if eqn.name == "convert_element_type" and jnp.issubdtype(dtype, jnp.floating):
        return exact_number(operands[0].known, dtype)
    return None


def exact_number(number: Any, dtype: Any = np.float32) -> Any:
    """Returns a number as a float if a floating dtype has it, whichever it is; else None."""
    value = float(number)
    is_there = value in (0.0, 1.0) or (math.isinf(value) and np.dtype(dtype).itemsize > 1)
    return value if is_there else None


@immutable(eq=False)
class BucketProgram:
    """A graph written at its bucket.

    Attributes:
      graph: The aligned graphs.
      rules: By name of a primitive.
      pairs: The classes of sizes.
      numbers: The classes of literals.
      notes: What was written besides, once it was traced.
      equalities: Pairs of sizes that have to be equal.
      sizes: Sizes that may not be larger than at the bucket.
      limits: Classes of numbers, with the least and the largest that they may be.
      outputs: The axes of the outputs.
      values: What was made on the way, as long as somebody wants it.
    """

    graph: AlignedGraph
    rules: Mapping[str, Rule]
    pairs: tuple[Pair, ...]
    numbers: tuple[Any, ...]
    notes: list[Note] = dataclasses.field(default_factory=list)
    equalities: set[tuple[Size, Size]] = dataclasses.field(default_factory=set)
    sizes: set[Size] = dataclasses.field(default_factory=set)
    limits: set[tuple[Pair, int, int]] = dataclasses.field(default_factory=set)
    outputs: list[tuple[Extent, ...]] = dataclasses.field(default_factory=list)
    values: list[Padded] = dataclasses.field(default_factory=list)

    def __call__(self, sizes: Any, numbers: Sequence[Any], tables: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """Returns the outputs at the bucket, some elements of which are invalid.

        Args:
          sizes: The values of the classes of sizes, an int32 vector.
          numbers: Those of the classes of literals.
          tables: The constants that depend on sizes, padded to the bucket.
          inputs: The inputs, padded to the bucket.
        """
        known: dict[Pair, Any] = {}
        position = {pair: i for i, pair in enumerate(self.pairs)}

        def value(pair: Pair) -> Any:
            if pair not in known:
                known[pair] = lax.index_in_dim(sizes, position[pair], keepdims=False)
            return known[pair]

        for pair in self.pairs:
            value(pair)  # here, and not inside of a loop
        writer = Writer(self.rules, value, dict(zip(self.numbers, numbers, strict=True)))
        moving, constants = iter(tables), []
        for table in self.graph.tables:
            if table.is_static:
                constants.append(whole(jnp.asarray(table.bucket)))
            else:
                extents = (extent_of(n, b) for n, b in zip(table.exact.shape, table.bucket.shape, strict=True))
                constants.append(Padded(next(moving), tuple(extents)))
        given = []
        for array, exact, bucket in zip(inputs, self.graph.exact_inputs, self.graph.bucket_inputs, strict=True):
            given.append(Padded(array, tuple(extent_of(n, b) for n, b in zip(exact, bucket, strict=True))))
        results = writer.write(self.graph, constants, given)
        self.notes[:], self.outputs[:] = writer.notes, [value.extents for value in results]
        self.values[:] = writer.values or ()
        self.equalities.update(writer.equalities)
        self.sizes.update(writer.sizes)
        self.limits.update(writer.limits)
        return [jnp.asarray(value.array) for value in results]

    def predicates(self) -> list[str]:
        """Returns what has to hold of sizes, as `misfit` tests it: classes are `s0`, `s1`, …, in their order."""
        names = {pair: f"s{i}" for i, pair in enumerate(self.pairs)}
        shown = lambda size: " * ".join((*([str(size.scale)] if size.scale != 1 or size.is_static else ()),
                                         *(names.get(pair, "?") for pair in size.classes)))  # fmt: skip
        largest = sorted({(shown(size), size.bucket) for size in self.sizes})
        found = [f"1 <= {text} <= {bucket}" for text, bucket in largest]
        found += sorted({f"{shown(one)} == {shown(other)}" for one, other in self.equalities})
        return found + sorted({f"{least} <= {names.get(p, '?')} <= {most}" for p, least, most in self.limits})

    def misfit(self, values: Values) -> str | None:
        """Returns why the program cannot run for some values of the classes; None if it can."""
        value = lambda pair: values.sizes.get(pair, -1)  # an unknown one fits nowhere
        for one, other in self.equalities:
            if one.at(value) != other.at(value):
                return (
                    f"sizes that are equal at the bucket, {one.bucket}, are {one.at(value)} and {other.at(value)} here"
                )
        for size in self.sizes:
            if not 0 < size.at(value) <= size.bucket:
                return f"a size would be {size.at(value)}, and the bucket has room for 1 to {size.bucket}"
        for pair, least, largest in self.limits:
            if not least <= value(pair) <= largest:
                return f"a margin would be {value(pair)}, and the bucket has room for {least} to {largest}"
        return None


def prepare_program(graph: AlignedGraph, rules: Mapping[str, Rule], values: Values) -> BucketProgram:
    """Returns the program of aligned graphs; nothing is written until it is traced.

    Args:
      graph: The graphs.
      rules: By name of a primitive.
      values: The values of the classes in one of them.
    """
    return BucketProgram(graph, rules, tuple(values.sizes), tuple(values.numbers))
