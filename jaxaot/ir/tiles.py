"""A block of rows in tiles of columns, of which those that a mask discards are not visited.

        s = dot_general q k                         for columns j that the mask keeps for some row:
        m = reduce_max s                                s[j] = dot_general q k[j];  m = max m (reduce_max s[j])
        e = exp (s - m)                    →        for the same, or for all if a weight that is left out is not 0:
        l = reduce_sum e;  y = dot_general e v          e = exp (s[j] - m);  l = l + reduce_sum e
                                                        y = y + dot_general e v[j]

A *round* is what can be computed in one loop over columns: what reads a maximum of all columns waits for the next one.
Which tiles a mask discards is known before anything runs (`intervals.py`), and is one range of tiles for each block of
rows, that need not be visited if what is outside adds nothing. That is followed through the graph: where the mask
chooses a number, the maximum takes it; its power `exp(number - m)` has to be zero, and what is multiplied with that
finite. Both are looked at when the block is computed: if a row is masked whole, or holds a NaN, all tiles are visited.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._immutable import immutable
from jaxaot._jax import Literal, ShapedArray, jaxpr_as_fun, make_var
from jaxaot._typing import Array, Atom, ClosedJaxpr, Eqn, Var
from jaxaot.ir.axes import ELEMENTWISE, AxisSplit, params_of_part
from jaxaot.ir.blocks import Adding, Region, Regions, first, sliced
from jaxaot.ir.build import graph_of, params_of_combining
from jaxaot.ir.intervals import Interval, Intervals
from jaxaot.ir.phases import rounds_of
from jaxaot.ir.primitives import is_pure
from jaxaot.ir.rewrite import extract
from jaxaot.ir.walk import variables

TILE = 256
"""How many columns a tile has, or somewhat fewer: what keeps a product of it near the speed of larger ones."""

MAX_VISITED = 0.85
"""The part of the tiles that may have to be visited: a loop over them costs something."""

ABSORBING = -1e28
"""What is added to a finite number of attention's size gives itself, if it is at most this."""

_ARRANGING = {"broadcast_in_dim", "reshape", "squeeze", "transpose"}
_SAME_ZERO = {*_ARRANGING, "neg", "convert_element_type", "copy", "reduce_sum"}
"""Primitives that make zeros of zeros."""


_FINITE = {
    *_SAME_ZERO,
    "dot_general",
    "add",
    "add_any",
    "sub",
    "mul",
    "max",
    "min",
    "select_n",
    "tanh",
    "stop_gradient",
}
"""Primitives that make finite numbers of finite ones, unless they overflow."""


class _NotNarrow(Exception):
    """What is outside of the visited tiles is not known to add nothing."""


@immutable(eq=False)
class _Uniform:
    """Columns outside that are all alike.

    Attributes:
      column: Returns that one column, or a scalar, once the block is computed.
      number: The number that all its elements are, if it is known.
    """

    column: Callable[[], Any]
    number: float | None = None


@immutable
class _Same:
    """Truth values outside that are all the same."""

    value: bool


_ZERO, _ANY = "zero", "any"


def in_tiles(
    block: ClosedJaxpr,
    seed: Var,
    column: int,
    starts: Sequence[int],
    cuts: Sequence[int | None],
    combines: Sequence[Any],
) -> Adding | None:
    """Returns a function that computes a block of rows in tiles of columns; None if no tile can be left out.

    Args:
      block: The graph of the block, whose last input is its first unit.
      seed: A value of it that has rows and columns.
      column: The axis of columns of that.
      starts: The first units of all blocks.
      cuts: By input but the last, the axis along which it was sliced, or None.
      combines: By output of the block, what combines two blocks' results; None for what lies side by side.
    """
    if not all(is_pure(eqn) for eqn in block.jaxpr.eqns):
        return None
    regions = Regions(block)
    rounds = rounds_of(regions, seed, column)
    width = _width(seed.aval.shape[column])
    if not rounds or width is None or any(r.n_units * width % seed.aval.shape[column] for r in rounds):
        return None
    plan = _planned(regions, rounds, column, width, seed, np.asarray(starts))
    if plan is None:
        return None
    try:
        run = _Run(regions, rounds, plan, cuts, combines)
        given = [run.is_finite, *block.jaxpr.invars, *(var for var, is_in in run.taken if is_in)]
        made = graph_of(run.run, given)
    except _NotNarrow:
        return None
    if made.consts:
        return None
    is_added = [is_in for _, is_in in run.taken]

    def fn(*values: Any) -> Any:
        n = 1 + len(block.jaxpr.invars)
        read, before = values[:n], values[n:]
        return jaxpr_as_fun(made)(*read, *(x for x, is_in in zip(before, is_added, strict=True) if is_in))

    return Adding(run.once, fn, is_added)


def _width(size: int) -> int | None:
    """Returns how wide a tile is, of an axis of a size that it divides; None if there is no good width."""
    found = next((n for n in range(min(TILE, size // 2), TILE // 4, -1) if size % n == 0), None)
    return found


class _Plan(NamedTuple):
    """Which tiles are visited.

    Attributes:
      result: The choice that discards.
      n_tiles: How many tiles there are.
      starts: The first units of blocks.
      first: The first tile that each block visits.
      last: The one behind the last.
      flags: Truth values that are the same in all tiles that are not visited.
    """

    result: Any
    n_tiles: int
    starts: Any
    first: Any
    last: Any
    flags: dict[Any, bool]


def _planned(
    regions: Regions, rounds: Sequence[Region], column: int, width: int, seed: Var, starts: Any
) -> _Plan | None:
    """Returns which tiles are visited; None if that is most of them."""
    axes: dict[Any, int | None] = {}
    for found in rounds:
        axes.update(found.axes)
    n_tiles = seed.aval.shape[column] // width
    start = starts[:, None].astype(float)
    given = {regions.closed.jaxpr.invars[-1]: Interval(start, start)}
    known = Intervals(regions.makers, given, axes.get, width)
    for eqn in regions.eqns:
        if eqn.primitive is not lax.select_n_p or len(eqn.invars) != 3 or axes.get(eqn.outvars[0]) is None:
            continue
        if eqn.outvars[0].aval.size < seed.aval.size or not jnp.issubdtype(eqn.outvars[0].aval.dtype, jnp.floating):
            continue
        which = known.of(eqn.invars[0])
        if which is None:
            continue
        for is_second in (False, True):
            if isinstance(_number(regions, eqn.invars[1 + is_second]), float):
                gone = which.low >= 1 if is_second else which.high < 1
                gone = np.broadcast_to(gone, (len(starts), n_tiles))
                if not gone.any():
                    continue
                place = np.arange(n_tiles)[None]
                low = np.where(gone, n_tiles, place).min(1)
                high = np.maximum(low, np.where(gone, 0, place + 1).max(1))
                low = np.minimum(low, high)
                outside = (place < low[:, None]) | (place >= high[:, None])
                if outside.mean() < 1 - MAX_VISITED:
                    continue
                flags = {}
                for var in axes:
                    bounds = known.of(var) if var.aval.dtype == bool else None
                    if bounds is not None:
                        least, most = (np.broadcast_to(x, outside.shape)[outside] for x in bounds)
                        if (least >= 1).all() or (most < 1).all():
                            flags[var] = bool(least.flat[0] >= 1)
                return _Plan(eqn.outvars[0], n_tiles, starts, low, high, flags)
    return None


def _number(regions: Regions, atom: Atom) -> float | None:
    """Returns the number that all elements of an atom are; None if that is not known."""
    found = regions.makers.behind(atom, {*_ARRANGING, "convert_element_type", "stop_gradient"})
    return float(found.val) if isinstance(found, Literal) and np.ndim(found.val) == 0 else None


class _Run:
    """Computes a block, round by round, each when it is first asked for."""

    def __init__(
        self,
        regions: Regions,
        rounds: Sequence[Region],
        plan: _Plan,
        cuts: Sequence[int | None],
        combines: Sequence[Any],
    ):
        self._regions, self._rounds, self._plan = regions, rounds, plan
        self._round_of = {v: k for k, r in enumerate(rounds) for v in r.leaving}
        self._cuts = dict(zip(regions.closed.jaxpr.invars, cuts, strict=False))
        self.is_finite = make_var(ShapedArray((), np.dtype("bool")))
        self._known: dict[Any, Any] = {}
        self._before: dict[Any, Any] = {}
        outvars = regions.closed.jaxpr.outvars
        is_sum = lambda v, c: c is lax.add_p and not isinstance(v, Literal) and self._is_by_column(v)
        self.taken = [(v, is_sum(v, c)) for v, c in zip(outvars, combines, strict=True)]
        self._outside: dict[Any, Any] = {}
        self._conditions: list[list[Callable[[], Any]]] = []  # by round what has to hold for tiles to be left out
        self._finite: set[Any] = set()
        is_open = False  # whether something that is not known is left out of what later rounds read
        self._adds = []
        for region in rounds:
            self._conditions.append([])
            self._adds.append(self._followed(region))
            if is_open and self._conditions[-1]:
                raise _NotNarrow
            is_open |= self._is_left_open(region)

    def _is_by_column(self, var: Var) -> bool:
        k = self._round_of.get(var)
        if k is None or self._regions.users.get(var) or self._regions.closed.jaxpr.outvars.count(var) > 1:
            return False
        return self._rounds[k].axes[var] is not None

    def once(self, *values: Any) -> Any:
        """Returns whether what enters whole is finite, as far as it has to be."""
        whole = [
            x for (v, axis), x in zip(self._cuts.items(), values, strict=True) if axis is None and v in self._finite
        ]
        return _all_finite(whole)

    def run(self, is_finite: Any, *values: Any) -> list[Any]:
        """Returns the outputs, given what `once` returns, the inputs, and what some of them are added to."""
        jaxpr = self._regions.closed.jaxpr
        n = len(jaxpr.invars)
        self._known = dict(zip(jaxpr.invars, values[:n], strict=True))
        self._known |= dict(zip(jaxpr.constvars, self._regions.closed.consts, strict=True))
        self._before = dict(zip((v for v, is_in in self.taken if is_in), values[n:], strict=True))
        start = values[n - 1]
        cut = [self._known[v] for v, axis in self._cuts.items() if axis is not None and v in self._finite]
        self._ok = is_finite & _all_finite(cut)
        self._range = tuple(
            _looked_up(start, self._plan.starts, table) for table in (self._plan.first, self._plan.last)
        )
        return [self._value(atom) for atom in jaxpr.outvars]

    def _value(self, atom: Atom) -> Any:
        """Returns the value of an atom, which is computed if it was not."""
        if isinstance(atom, Literal):
            return atom.val
        if atom not in self._known:
            k = self._round_of.get(atom)
            if k is not None:
                self._loop(k)
            else:
                eqn = self._regions.makers[atom]
                read = list(dict.fromkeys(variables(eqn.invars)))
                made = jaxpr_as_fun(extract([eqn], read, eqn.outvars))(*(self._value(v) for v in read))
                self._known.update(zip(eqn.outvars, made, strict=True))
        return self._known[atom]

    def _loop(self, k: int) -> None:
        """Computes a round."""
        region, plan = self._rounds[k], self._plan
        entering, leaving = region.entering, region.leaving
        values = [self._value(var) for var, _ in entering]
        adds = self._adds[k]
        for condition in self._conditions[k]:
            self._ok &= condition()
        low, high = (jnp.where(self._ok, x, y) for x, y in zip(self._range, (0, plan.n_tiles), strict=True))
        size = region.n_units // plan.n_tiles
        block = region.block(size)
        made = []
        for var, piece in zip(leaving, block.out_avals, strict=True):
            begin = first(var, piece.dtype, region.combine_of(var))
            if var in self._before:
                begin = self._before[var]
            elif isinstance(adds.get(var), _Uniform):
                fill = jnp.broadcast_to(adds[var].column(), begin.shape).astype(begin.dtype)
                is_all = region.combine_of(var) is not None and (high - low == plan.n_tiles)
                begin = jnp.where(is_all, begin, fill) if region.combine_of(var) is not None else fill
            made.append(begin)

        def step(j: Any, made: Any) -> Any:
            start = j * np.int32(size)
            read = [
                x if axis is None else sliced(x, start, axis, region.scaled(var, axis, 1), size)
                for (var, axis), x in zip(entering, values, strict=True)
            ]
            results = []
            for var, before, piece in zip(leaving, made, jaxpr_as_fun(block)(*read, start), strict=True):
                axis, combine = region.axes[var], region.combine_of(var)
                if axis is None:
                    results.append(combine.bind(before, piece, **params_of_combining(combine)))
                    continue
                unit = region.scaled(var, axis, 1)
                if var in self._before:
                    piece = piece.astype(before.dtype) + sliced(before, start, axis, unit, size)
                at = [jnp.zeros_like(start)] * before.ndim
                at[axis] = start * np.int32(unit)
                results.append(lax.dynamic_update_slice(before, piece, at, allow_negative_indices=False))
            return results

        made = lax.fori_loop(low.astype(np.int32), high.astype(np.int32), step, made)
        for var, x in zip(leaving, made, strict=True):
            self._known[var] = x if var in self._before or x.dtype == var.aval.dtype else x.astype(var.aval.dtype)

    # what is outside

    def _followed(self, region: Region) -> dict[Any, Any]:
        """Follows what is outside through a round, and returns what that adds to results."""
        adds: dict[Any, Any] = {}
        for i, split in region.splits.items():
            if split.result is None and not any(axis is not None for axis in split.operands):
                continue  # read whole, and the same everywhere
            for var in self._regions.eqns[i].outvars:
                (adds if split.result is None else self._outside)[var] = self._result(self._regions.eqns[i], split, var)
        for var in region.leaving:
            if region.axes[var] is not None and isinstance(self._outside.get(var), _Uniform):
                adds[var] = self._outside[var]
        return adds

    def _is_left_open(self, region: Region) -> bool:
        """Returns whether something by column is not known where it is left out; only later rounds may read that."""
        unknown = [
            var
            for var in region.leaving
            if region.axes[var] is not None and self._outside.get(var) != _ZERO and var not in self._adds[-1]
        ]
        for var in unknown:
            readers = self._regions.users.get(var, ())
            if var in self._regions.closed.jaxpr.outvars or any(
                all(i not in r.splits for r in self._rounds) for i in readers
            ):
                raise _NotNarrow
        return bool(unknown)

    def _of(self, atom: Atom, axis: int | None) -> Any:
        """Returns the description of an operand outside."""
        number = _number(self._regions, atom)
        if number is not None and not (isinstance(atom, Literal) and np.ndim(atom.val)):
            value = np.asarray(number, atom.aval.dtype)
            if atom.aval.dtype == bool:
                return _Same(bool(value))
            return _Uniform(lambda: value, number) if number != 0 else _ZERO
        if atom in self._plan.flags:
            return _Same(self._plan.flags[atom])
        if axis is not None:
            return self._outside.get(atom, _ANY)
        return _Uniform(lambda: self._value(atom))

    def _result(self, eqn: Eqn, split: AxisSplit, var: Any) -> Any:
        """Returns the description of a result outside, or of what it adds to a sum or a maximum."""
        if var in self._plan.flags:
            return _Same(self._plan.flags[var])
        name = eqn.primitive.name
        operands = [self._of(atom, axis) for atom, axis in zip(eqn.invars, split.operands, strict=True)]
        zeros = [found == _ZERO for found in operands]
        if split.result is None:
            if name in ("reduce_sum", "dot_general") and any(zeros):
                self._are_finite(eqn, zeros)
                return _ZERO
            if name == "reduce_max" and isinstance(operands[0], _Uniform):
                return self._computed(eqn, split, operands)
            raise _NotNarrow
        if name == "select_n" and isinstance(operands[0], _Same):
            return operands[1 + operands[0].value]
        if all(zeros) and name in (*_SAME_ZERO, "add", "add_any", "sub", "select_n"):
            return _ZERO
        if name == "select_n" and all(zeros[1:]):
            return _ZERO
        if name in ("mul", "div") and any(zeros[: 1 if name == "div" else 2]):
            other = operands[1 - zeros.index(True)]
            if isinstance(other, _Uniform):
                zero, is_quotient = np.zeros((), var.aval.dtype), name == "div"
                self._conditions[-1].append(
                    lambda: ((zero / other.column() if is_quotient else zero * other.column()) == 0).all()
                )
                return _ZERO
            self._are_finite(eqn, zeros)
            return _ZERO if name == "mul" else _ANY
        if name == "dot_general" and any(zeros):
            self._are_finite(eqn, zeros)
            return _ZERO
        if name == "exp" and isinstance(operands[0], _Uniform):
            self._conditions[-1].append(lambda: (jnp.exp(operands[0].column()) == 0).all())
            return _ZERO
        if name in ("add", "add_any"):
            for found in operands:
                if isinstance(found, _Uniform) and found.number is not None and found.number <= ABSORBING:
                    self._are_finite(eqn, [one is found for one in operands])
                    return found
        if all(isinstance(found, _Uniform) or found == _ZERO for found in operands) and name in (
            *_ARRANGING,
            *ELEMENTWISE,
        ):
            return self._computed(eqn, split, operands)
        return _ANY

    def _are_finite(self, eqn: Eqn, without: Sequence[bool]) -> None:
        """Notes what has to be finite for the operands of an equation, but for some, to be: what enters, and rows."""
        pending = [a for a, is_out in zip(eqn.invars, without, strict=True) if not is_out]
        while pending:
            atom = pending.pop()
            if isinstance(atom, Literal) or atom in self._finite or not jnp.issubdtype(atom.aval.dtype, jnp.floating):
                continue
            self._finite.add(atom)
            maker = self._regions.makers.get(atom)
            if maker is None:
                continue
            if maker.primitive.name in _FINITE:
                pending += maker.invars
            elif atom not in self._outside:
                self._conditions[-1].append(lambda atom=atom: jnp.isfinite(self._value(atom)).all())
            elif maker.primitive is lax.div_p and self._is_by_row(maker.invars[1]):
                divisor = self._of(maker.invars[1], None)
                if isinstance(divisor, _Uniform) and divisor.number is None:
                    self._conditions[-1].append(lambda x=divisor: (0 / x.column() == 0).all())
                pending.append(maker.invars[0])
            else:
                raise _NotNarrow

    def _is_by_row(self, atom: Atom) -> bool:
        return isinstance(atom, Literal) or atom not in self._outside

    def _computed(self, eqn: Eqn, split: AxisSplit, operands: Sequence[Any]) -> Any:
        """Returns the one column that an equation makes of one column of each operand."""
        shapes = [list(atom.aval.shape) for atom in eqn.invars]
        for shape, axis in zip(shapes, split.operands, strict=True):
            if axis is not None:
                shape[axis] = 1
        params = params_of_part(eqn, {} if split.result is None else {split.result: 1})

        def column() -> Any:
            columns = [found.column() if isinstance(found, _Uniform) else 0 for found in operands]
            read = [jnp.asarray(x, a.aval.dtype) for x, a in zip(columns, eqn.invars, strict=True)]
            return eqn.primitive.bind(*map(jnp.broadcast_to, read, shapes), **params)

        return _Uniform(column)


def _all_finite(values: Sequence[Any]) -> Any:
    found = jnp.bool_(True)
    for x in values:
        found &= jnp.isfinite((0 * x).sum())
    return found


def _looked_up(start: Array, starts: Any, table: Any) -> Any:
    """Returns what a table says of the block that begins at a unit: by a line if it is one, else by steps."""
    table = table.astype(int)
    (at,) = np.nonzero(np.diff(table))
    if len(at) > 2:
        place, low, high = np.arange(len(table)), int(table.min()), int(table.max())
        size, slope = int(at[2] - at[1]), int(table[at[1] + 1] - table[at[1]])
        base, shift = int(table[at[1] + 1]), int(at[1] + 1)
        if (np.clip(base + (place - shift) // size * slope, low, high) == table).all():
            block = start // np.int32(int(starts[1] - starts[0])) - np.int32(shift)
            return jnp.clip(np.int32(base) + block // np.int32(size) * np.int32(slope), np.int32(low), np.int32(high))
    found = jnp.int32(table[0])
    for i in at:
        found = found + jnp.where(start >= np.int32(starts[i + 1]), np.int32(table[i + 1] - table[i]), np.int32(0))
    return found
