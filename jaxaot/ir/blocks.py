"""A region of a graph in blocks: a loop in which a large value is there for one block of an axis at a time.

        z = dot_general x w             y, t = scan over blocks i of the rows of x:
        p = exp z                →               z = dot_general x[i] w;  p = exp z
        y = reduce_sum[1] p                      y[i] = reduce_sum[1] p
        t = reduce_sum[0] p                      t = t + reduce_sum[0] p

A *region* is what makes and reads the values that are *cut*, and all that lies between, so that what it needs can come
before the loop and what needs it after. `axes.py` says along which axes an equation can be cut. What enters is sliced
or read whole, what leaves is written block by block, or is a sum, a maximum and so on, to which each block adds. What
is *light*, such as a mask made of iotas, does not enter: each block makes what it reads of it. An equation that no rule
fits ends a region.

Axes that are cut together need not have one size: where rows of 4 by 512 positions are one axis of 2,048, a *unit*, the
least that a block can have, is a row of 512. Where the axis does not divide into blocks, the last one is shorter, and
comes after the loop. Sums are added up block by block, in 32 bits if they have fewer; else values are the same, random
bits too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._immutable import immutable
from jaxaot._jax import DropVar, Literal, ShapedArray, jaxpr_as_fun, make_var, threefry2x32_p
from jaxaot._typing import Array, Atom, ClosedJaxpr, DTypeLike, Eqn, Var
from jaxaot._util import OrderedSet
from jaxaot.ir.axes import ELEMENTWISE, AxisSplit, params_of_part, splits_together
from jaxaot.ir.build import Drafts, graph_of, params_of_combining, placed
from jaxaot.ir.primitives import KINDS, Kind, is_by_threefry, is_pure
from jaxaot.ir.rewrite import extract
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import Makers, is_rewritable, users, variables

Inside = Callable[[Any], "Callable[..., Any] | Adding"]
"""Takes the graph of a block, a ClosedJaxpr, to the function of arrays that computes it."""


class Adding(NamedTuple):
    """A function that computes a block, and adds to what blocks before made, where they lie.

    Attributes:
      once: Takes what enters, before it is sliced, to what is the same for all blocks.
      fn: Takes that, what enters, the first unit, and what was made so far, to what is made now.
      is_added: For each of these whether it holds the sum already.
    """

    once: Callable[..., Any]
    fn: Callable[..., Any]
    is_added: Sequence[bool]


class Regions:
    """A graph in which regions are looked for.

    Attributes:
      closed: The graph, its calls inlined.
      eqns: Its equations.
      makers: Who makes a value.
      users: The positions of the equations that read a value.
      light: The values that are made of literals, or of much smaller values, by few instructions for each element.
    """

    def __init__(self, closed: ClosedJaxpr):
        """Reads a graph."""
        self.closed, self.eqns = closed, closed.jaxpr.eqns
        self.makers = Makers(closed.jaxpr)
        self.users = users(self.eqns)
        self._returned = set(variables(closed.jaxpr.outvars))
        self.light: set[Any] = set()
        for eqn in self.eqns:
            self.light.update(eqn.outvars if _is_light(eqn, self.light) else ())

    def around(self, seed: Var, axis: int) -> Region | None:
        """Returns the region in which a value is cut along an axis, with all values of its size that can be.

        Args:
          seed: The value, which an equation makes.
          axis: The axis.

        Returns:
          The region; None if a part of it needs what all blocks make.
        """
        grown, _ = self.grown(seed, axis)
        if not grown:
            return None
        splits: dict[int, AxisSplit] = {}
        axes: dict[Any, int | None] = {}
        for i in sorted(self._between(grown)):
            found = [grown[i]] if i in grown else _splits(self.eqns[i])
            fits = (s for s in found if self._is_read_as_made(i, s, axes))
            split = next(fits, None)
            if split is None:
                return None
            splits[i] = split
            axes.update(dict.fromkeys(self.eqns[i].outvars, split.result))
        return self.of(splits)

    def of(self, splits: dict[int, AxisSplit]) -> Region | None:
        """Returns the region of some equations, each cut in some way; None if that is no part of what is there."""
        splits = dict(splits)
        axes: dict[Any, int | None] = {}
        for i, split in splits.items():
            axes.update(dict.fromkeys(self.eqns[i].outvars, split.result))
        again = self._made_again(splits, axes)
        sizes = [size for i, split in splits.items() for size in _sizes(self.eqns[i], split)]
        if min(sizes, default=0) < 2:
            return None
        return Region(self, dict(sorted(splits.items())), axes, math.gcd(*sizes), again)

    def _made_again(self, splits: dict[int, AxisSplit], axes: dict[Any, int | None]) -> frozenset[int]:
        """Adds the equations that make the light values that a region reads, and returns their positions.

        A value that is read along two axes, or both in pieces and whole, is left to enter.
        """
        read: dict[Any, set[int | None]] = {}

        def note(atoms: Sequence[Atom], split: AxisSplit) -> None:
            for atom, axis in zip(atoms, split.operands, strict=True):
                if not isinstance(atom, Literal) and atom not in axes:
                    read.setdefault(atom, set()).add(axis)
                    pending.append(atom)

        def fits(atom: Atom, axis: int | None) -> bool:
            if isinstance(atom, Literal):
                return axis is None
            if atom in axes:  # what blocks add to is not there to be read
                return axes[atom] == axis and (axis is not None or self.makers.position[atom] in again)
            return read.get(atom, {axis}) == {axis}

        pending: list[Any] = []
        again: set[int] = set()
        for i, split in splits.items():
            note(self.eqns[i].invars, split)
        while pending:
            var = pending.pop()
            if var in axes or var not in self.light or len(read[var]) > 1:
                continue
            (axis,) = read[var]
            i = self.makers.position[var]
            eqn = self.eqns[i]
            found = (AxisSplit((None,) * len(eqn.invars), None),) if axis is None else _splits(eqn)
            for split in found:
                operands = [*zip(eqn.invars, split.operands, strict=True)]
                if split.result == axis and all(fits(atom, cut) for atom, cut in operands):
                    splits[i], axes[var] = split, axis
                    again.add(i)
                    note(eqn.invars, split)
                    break
        return frozenset(again)

    def grown(self, seed: Var, axis: int, stops_at_light: bool = False) -> tuple[dict[int, AxisSplit], dict[Any, int]]:
        """Returns how the equations are computed that make or read values of the size of one and are cut with it.

        Args:
          seed: The value.
          axis: The axis.
          stops_at_light: Whether light values are not followed: a mask may be that of all layers.

        Returns:
          The splits by position; the axes along which values are cut.
        """
        axes: dict[Any, int] = {seed: axis}
        found: dict[int, AxisSplit] = {}
        pending: list[Any] = [seed]
        while pending:
            var = pending.pop()
            made_by = [self.makers.position[var]] if var in self.makers.position else []
            for i in (*made_by, *self.users.get(var, ())):
                eqn = self.eqns[i]
                agrees = lambda atom, axis: axes.get(atom, axis) == axis
                for split in () if i in found else _splits(eqn):
                    cuts = [*zip(eqn.invars, split.operands, strict=True)]
                    cuts += [(made, split.result) for made in eqn.outvars]
                    if all(isinstance(atom, Literal) or agrees(atom, along) for atom, along in cuts):
                        found[i] = split
                        others = {
                            atom: along
                            for atom, along in cuts
                            if along is not None and 2 * atom.aval.size > seed.aval.size and atom not in axes
                        }
                        axes.update(others)
                        pending += (atom for atom in others if not (stops_at_light and atom in self.light))
                        break
        return found, axes

    def _between(self, positions: Iterable[int]) -> set[int]:
        """Returns some positions, and those of all equations on a way from one of them to another."""
        inside = set(positions)
        first, last = min(inside), max(inside)
        reached: set[Any] = set()
        after: set[int] = set()
        for i in range(first, last + 1):
            if i in inside or any(var in reached for var in variables(self.eqns[i].invars)):
                after.add(i)
                reached.update(self.eqns[i].outvars)
        needed: set[Any] = set()
        for i in range(last, first - 1, -1):
            if i in inside or (i in after and any(var in needed for var in self.eqns[i].outvars)):
                inside.add(i)
                needed.update(variables(self.eqns[i].invars))
        return inside

    def _is_read_as_made(self, i: int, split: AxisSplit, axes: dict[Any, int | None]) -> bool:
        """Returns whether an equation can be computed by a split of what the region makes before it."""
        for atom, axis in zip(self.eqns[i].invars, split.operands, strict=True):
            if isinstance(atom, Literal):
                if axis is not None:
                    return False
            elif atom in axes and (axis is None or axes[atom] != axis):
                return False
        return True

    def is_read_outside(self, var: Var, positions: Any) -> bool:
        """Returns whether a value is returned, or read by another equation than some."""
        return var in self._returned or any(i not in positions for i in self.users.get(var, ()))


@immutable(eq=False)
class Region:
    """A region.

    Attributes:
      graph: The graph that it is part of.
      splits: How each of its equations is computed, by position.
      axes: The axis along which each value is cut that it makes, None for one to which each block adds.
      n_units: How many units the axis has, see above.
      again: The positions of equations whose light results each block makes for itself, in pieces or whole.
    """

    graph: Regions
    splits: dict[int, AxisSplit]
    axes: dict[Any, int | None]
    n_units: int
    again: frozenset[int] = frozenset()

    @property
    def entering(self) -> list[tuple[Any, int | None]]:
        """What it reads and does not make: each value with the axis along which it is sliced, or None if it is not."""
        found = OrderedSet[Any]()
        for i, split in self.splits.items():
            for atom, axis in zip(self.graph.eqns[i].invars, split.operands, strict=True):
                if not isinstance(atom, Literal) and atom not in self.axes:
                    found.add((atom, axis))
        return list(found)

    @property
    def sources(self) -> set[int]:
        """The positions of equations that read nothing that is made or sliced but light values: iotas, zeros."""
        is_source = lambda split: split.result is not None and not _reads_pieces(split)
        return {i for i, split in self.splits.items() if i in self.again or is_source(split)}

    @property
    def leaving(self) -> list[Any]:
        """What it makes that is read elsewhere, but for what its sources make, which is made there again."""
        again = {var for i in self.sources for var in self.graph.eqns[i].outvars}
        is_left = lambda var: var not in again and self.graph.is_read_outside(var, self.splits)
        return [var for var in self.axes if not isinstance(var, DropVar) and is_left(var)]

    def combine_of(self, var: Var) -> Any:
        """Returns the primitive that combines what two blocks add to a value; None if it is cut."""
        return None if self.axes[var] is not None else self.splits[self.graph.makers.position[var]].combine

    def block(self, n_units: int, also: Sequence[Var] = (), is_alone: bool = False) -> ClosedJaxpr:
        """Returns the graph of a block: pieces of what enters, and the unit it begins at, to those of what leaves.

        Args:
          n_units: How many units it has.
          also: What else it returns.
          is_alone: Whether there is no other block, to whose sums it adds.
        """
        start = make_var(ShapedArray((), np.dtype("int32")))
        entering = {key: make_var(self._piece(key[0], key[1], n_units)) for key in self.entering}
        pieces: dict[Any, Any] = {}
        eqns: list[Eqn] = []
        drafts = Drafts()
        for i, split in self.splits.items():
            eqn = self.graph.eqns[i]
            read = [
                atom if isinstance(atom, Literal) else pieces.get(atom) or entering[atom, axis]
                for atom, axis in zip(eqn.invars, split.operands, strict=True)
            ]
            pieces.update({var: make_var(self._piece(var, split.result, n_units)) for var in eqn.outvars})
            made = [pieces[var] for var in eqn.outvars]
            moved = _MOVED.get(eqn.primitive.name)
            if moved is not None and split.result is not None and moved.fits(eqn, split.result):
                first = self.scaled(eqn.outvars[0], split.result, 1)
                static = {**moved.static(eqn), "axis": split.result, "shape": made[0].aval.shape, "unit": first}
                steps, (result,), _ = drafts.placed(moved.fn, [*read, start], eqn, **static)
                eqns += steps
                pieces[eqn.outvars[0]] = result
            elif split.result is not None:
                sizes = {split.result: made[0].aval.shape[split.result]}
                eqns.append(eqn.replace(invars=read, outvars=made, params=params_of_part(eqn, sizes)))
            elif is_alone or split.combine is None:
                eqns.append(eqn.replace(invars=read, outvars=made))
            else:
                steps, [pieces[eqn.outvars[0]]] = _term(eqn, read)
                eqns += steps
        return extract(eqns, [*entering.values(), start], [pieces[var] for var in (*self.leaving, *also)])

    def scaled(self, var: Var, axis: int, n_units: int) -> int:
        return n_units * var.aval.shape[axis] // self.n_units

    def _piece(self, var: Var, axis: int | None, n_units: int) -> Any:
        if axis is None:
            return var.aval
        shape = list(var.aval.shape)
        shape[axis] = self.scaled(var, axis, n_units)
        return var.aval.update(shape=tuple(shape))

    def loop(self, n_units: int, inside: Inside | None = None) -> Callable[..., list[Any]]:
        """Returns a function of what enters to what leaves, which computes it in a loop.

        Args:
          n_units: How many units a block has.
          inside: Takes the graph of a block to the function that computes it; as it stands if None.
        """
        n_blocks, rest = divmod(self.n_units, n_units)
        entering, leaving = self.entering, self.leaving
        combines = [self.combine_of(var) for var in leaving]

        def step(block: Any, size: int, start: Array, values: Sequence[Array], once: Any, made: Sequence[Array]) -> Any:
            read = []
            for (var, axis), value in zip(entering, values, strict=True):
                read.append(value if axis is None else sliced(value, start, axis, self.scaled(var, axis, 1), size))
            results = []
            run = compute(block)
            adds = isinstance(run, Adding)
            pieces = run.fn(once, *read, start, *made) if adds else run(*read, start)
            is_added = run.is_added if adds else (False,) * len(made)
            for var, before, piece, combine, is_in in zip(leaving, made, pieces, combines, is_added, strict=True):
                axis = self.axes[var]
                if is_in:
                    results.append(piece)
                elif axis is None:
                    results.append(combine.bind(before, piece, **params_of_combining(combine)))
                else:
                    at = [jnp.zeros_like(start)] * before.ndim
                    at[axis] = _at(start, self.scaled(var, axis, 1))
                    results.append(lax.dynamic_update_slice(before, piece, at, allow_negative_indices=False))
            return results

        compute = inside or jaxpr_as_fun

        def run(*values: Array) -> list[Any]:
            block = self.block(n_units)
            shared = compute(block)
            once = shared.once(*values) if isinstance(shared, Adding) else None
            made = [first(v, piece.dtype, c) for v, piece, c in zip(leaving, block.out_avals, combines, strict=True)]
            one = lambda made, i: (step(block, n_units, i * np.int32(n_units), values, once, made), None)
            made, _ = lax.scan(one, made, lax.iota(np.dtype("int32"), n_blocks))
            if rest:
                start = np.int32(n_blocks * n_units)
                made = step(self.block(rest), rest, jnp.asarray(start), values, once, made)
            cast = lambda var, x: lax.convert_element_type_p.bind(
                x, new_dtype=var.aval.dtype, weak_type=var.aval.weak_type, sharding=None
            )
            return [cast(var, x) if _differs(var, x) else x for var, x in zip(leaving, made, strict=True)]

        return run

    def written(self, n_units: int, inside: Inside | None = None) -> ClosedJaxpr | None:
        """Returns the graph with a loop in place of the region; None if it would move what has side effects.

        Args:
          n_units: How many units a block has.
          inside: See `loop`.
        """
        eqns, last, sources = self.graph.eqns, max(self.splits), self.sources
        kept = self._kept(sources)
        before, after = list[int](), list[int]()
        made: set[Any] = {var for i, split in self.splits.items() if i not in sources for var in eqns[i].outvars}
        for i, eqn in enumerate(eqns):
            if i in self.splits:
                before += [i] if i in kept else []
            elif i < last and any(var in made for var in variables(eqn.invars)):
                if not is_pure(eqn):
                    return None
                after.append(i)
                made.update(eqn.outvars)
            elif i < last:
                before.append(i)
        rewriter = Rewriter(self.graph.closed)
        for eqn in rewriter.equations(before):
            rewriter.keep(eqn)
        operands = [var for var, _ in self.entering]
        rewriter.write(self._equations(operands, eqns[last], self.loop(n_units, inside), rewriter))
        for eqn in rewriter.equations([*after, *range(last + 1, len(eqns))]):
            rewriter.keep(eqn)
        return rewriter.graph()

    def _kept(self, sources: set[int]) -> set[int]:
        """Returns those sources that are also needed outside, or by others that are."""
        kept: set[int] = set()
        inside = self.splits
        for i in sorted(sources, reverse=True):
            others = {k: s for k, s in inside.items() if k not in kept}
            if any(self.graph.is_read_outside(var, others) for var in self.graph.eqns[i].outvars):
                kept.add(i)
        return kept

    def _equations(self, operands: Sequence[Var], place: Eqn, loop: Any, rewriter: Rewriter) -> list[Eqn]:
        made, results, constants = placed(graph_of(loop, operands), operands, place)
        assert not constants, "a loop has no constants"
        for var, result in zip(self.leaving, results, strict=True):
            rewriter.replace(var, result)
        return made


# rules


_LIGHT = {name for name in ELEMENTWISE if KINDS.get(name, Kind.VIEW) <= Kind.POINTWISE} | {
    "iota",
    "broadcast_in_dim",
    "reshape",
    "transpose",
    "squeeze",
}


def _is_light(eqn: Eqn, light: set[Any]) -> bool:
    if eqn.primitive.name not in _LIGHT or not is_rewritable(eqn) or len(eqn.outvars) > 1:
        return False
    size = eqn.outvars[0].aval.size
    return all(isinstance(atom, Literal) or atom in light or 4 * atom.aval.size <= size for atom in eqn.invars)


def _reads_pieces(split: AxisSplit) -> bool:
    """Returns whether an equation that is computed by a split reads pieces."""
    return any(axis is not None for axis in split.operands)


def _splits(eqn: Eqn) -> list[AxisSplit]:
    """Returns the splits of an equation, those too whose parts differ by where they begin."""
    found = splits_together(eqn)
    moved = _MOVED.get(eqn.primitive.name)
    if moved is None or not is_rewritable(eqn):
        return found
    axes = (axis for axis in range(eqn.outvars[0].aval.ndim) if moved.fits(eqn, axis))
    return [*found, *(AxisSplit((None,) * len(eqn.invars), axis) for axis in axes)]


def _sizes(eqn: Eqn, split: AxisSplit) -> list[int]:
    """Returns the sizes of all axes that a split of an equation cuts."""
    cut = [*zip(eqn.invars, split.operands, strict=True), *((var, split.result) for var in eqn.outvars)]
    return [atom.aval.shape[axis] for atom, axis in cut if axis is not None]


@immutable(eq=False)
class _Moved:
    """A rule of what a part makes from nothing but where it begins.

    Attributes:
      fits: Takes an equation and an axis of its result, and returns whether the rule is for these.
      static: Takes an equation to what `fn` takes besides.
      fn: Takes the operands and the unit at which the part begins to the part.
    """

    fits: Callable[[Any, int], bool]
    static: Callable[[Any], dict[str, Any]]
    fn: Callable[..., Any]


def _iota(start: Array, *, axis: int, shape: Sequence[int], unit: int, dtype: DTypeLike) -> Any:
    return lax.convert_element_type(lax.broadcasted_iota(np.dtype("int32"), shape, axis) + start * unit, dtype)


def _random_bits(
    key: Array, start: Array, *, axis: int, shape: Sequence[int], unit: int, whole: Any, width: int
) -> Any:
    """Returns a part of what Threefry makes of a key, where each element is the hash of its number."""
    strides = [math.prod(whole[i + 1 :]) for i in range(len(whole))]
    number = (start * unit).astype(jnp.uint32) * np.uint32(strides[axis])
    for i, stride in enumerate(strides):
        number = number + lax.broadcasted_iota(np.dtype("uint32"), shape, i) * np.uint32(stride)
    key1, key2 = jax.random.key_data(key)
    spread = lambda x: jnp.broadcast_to(x, shape)
    high, low = threefry2x32_p.bind(spread(key1), spread(key2), jnp.zeros(shape, jnp.uint32), number)
    dtype = np.dtype(f"uint{width}")
    if width == 64:
        return lax.convert_element_type(high, dtype) << np.uint64(32) | lax.convert_element_type(low, dtype)
    return lax.convert_element_type(high ^ low, dtype)


def _is_numbered(eqn: Eqn, axis: int) -> bool:
    del axis
    is_one = eqn.invars[0].aval.ndim == 0 and eqn.outvars[0].aval.size <= 1 << 32
    return is_one and is_by_threefry(eqn) and bool(jax.config.jax_threefry_partitionable)


_MOVED = {
    "iota": _Moved(
        lambda eqn, axis: eqn.params["dimension"] == axis and not eqn.invars,
        lambda eqn: {"dtype": eqn.params["dtype"]},
        _iota,
    ),
    "random_bits": _Moved(
        _is_numbered,
        lambda eqn: {"whole": tuple(eqn.params["shape"]), "width": eqn.params["bit_width"]},
        _random_bits,
    ),
}


# what is written


def _term(eqn: Eqn, read: Sequence[Atom]) -> tuple[list[Eqn], list[Var]]:
    """Returns equations that compute what a block adds to a result, and that: in 32 bits if it is a sum of fewer."""
    (var,) = eqn.outvars
    dtype, is_sum = var.aval.dtype, eqn.primitive in (lax.dot_general_p, lax.reduce_sum_p)
    if not is_sum or dtype.itemsize >= 4 or not jnp.issubdtype(dtype, jnp.floating):
        made = make_var(var.aval)
        return [eqn.replace(invars=list(read), outvars=[made])], [made]
    wide = np.dtype("float32")
    made = make_var(ShapedArray(var.aval.shape, wide))
    if eqn.primitive is lax.dot_general_p:
        return [
            eqn.replace(invars=list(read), outvars=[made], params={**eqn.params, "preferred_element_type": wide})
        ], [made]
    cast = make_var(ShapedArray(read[0].aval.shape, wide))
    params = {"new_dtype": wide, "weak_type": False, "sharding": None}
    widened = eqn.replace(primitive=lax.convert_element_type_p, params=params, invars=list(read), outvars=[cast])
    return [widened, eqn.replace(invars=[cast], outvars=[made])], [made]


def first(var: Var, dtype: DTypeLike, combine: Any) -> Any:
    """Returns what a result is before the first block: where sums begin, or what is written over."""
    number = np.dtype(dtype)
    is_float = jnp.issubdtype(number, jnp.floating)
    if combine is lax.max_p:
        value = -np.inf if is_float else jnp.iinfo(number).min
    elif combine is lax.min_p:
        value = np.inf if is_float else jnp.iinfo(number).max
    else:
        value = combine is lax.mul_p or combine is lax.and_p
    return lax.full(var.aval.shape, value, number)


def sliced(value: Array, start: Array, axis: int, unit: int, n_units: int) -> Any:
    """Returns the piece of a value along an axis that begins at a unit, as many units as it has; a unit has a size."""
    return lax.dynamic_slice_in_dim(value, _at(start, unit), n_units * unit, axis, allow_negative_indices=False)


def _at(start: Array, unit: int) -> Array:
    return start if unit == 1 else start * np.int32(unit)


def _differs(var: Var, x: Array) -> bool:
    return x.dtype != var.aval.dtype or var.aval.weak_type
