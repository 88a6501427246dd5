"""Masked fields in blocks of rows, each with the columns *inside* that the mask leaves to some of its rows.

All columns *outside* a block hold the same masked value. So one column inside that all rows of the block discard, the
*witness*, is computed and stands for them. NaN and infinities still propagate: zero times the sum of hidden values is
not zero if one of them is infinite.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._immutable import immutable
from jaxaot._jax import Literal, ShapedArray, make_literal
from jaxaot._typing import Array, Atom, ClosedJaxpr, DTypeLike, Eqn, Primitive, Var
from jaxaot.backend.cpu.analysis.blocks import Block
from jaxaot.backend.cpu.analysis.fields import SHAPES, Fields, Step
from jaxaot.ir.axes import AxisSplit, params_of_part
from jaxaot.ir.build import Drafts, params_of_combining, resized_var
from jaxaot.ir.rewriter import Rewriter


class NotUniform(Exception):
    """What is outside of a block is not known by one column.

    Attributes:
      field: The field that has to be whole, if that is why it should be known.
    """

    def __init__(self, field: Atom | None = None):
        super().__init__()
        self.field = field


@immutable
class _Uniform:
    """Columns outside that are all like one.

    Attributes:
      column: Returns the atom: that one column.
    """

    column: Callable[[], Any]


@immutable
class _Same:
    """Truth values outside that are all the same."""

    value: bool


@immutable
class _Products:
    """Columns outside that are sums of matrix products, each times a column, and of a column.

    Attributes:
      terms: For each product whether it is subtracted, the column or None, and how its sum over columns is computed.
      rest: The column that is added, or None.
    """

    terms: tuple[tuple[bool, Any, Callable[[], Any]], ...]
    rest: Any = None


class Written(NamedTuple):
    """The fields of one mask in blocks. All that other equations read has the name that it had.

    Attributes:
      instead: By position what stands in place of an equation.
      before: By position what goes before an equation, of these or of others; at last what goes before the end.
    """

    instead: dict[int, list[Eqn]]
    before: dict[int, list[Eqn]]


class Blocked:
    """Writes the fields of a mask in blocks."""

    def __init__(self, closed: ClosedJaxpr, fields: Fields, blocks: Sequence[Block], n_columns: int, drafts: Drafts):
        """Wraps a graph; nothing is written yet.

        Args:
          closed: The graph.
          fields: The fields.
          blocks: The blocks of rows.
          n_columns: How many columns the mask has.
          drafts: What is added.
        """
        self._closed, self._fields, self._blocks, self._n_columns = closed, fields, blocks, n_columns
        self._rewriter = Rewriter(closed, drafts)
        self._inside: dict[tuple[Any, int], Any] = {}
        self._outside: dict[tuple[Any, int], Any] = {}
        self._by_row: dict[Any, tuple[int, list[Any]]] = {}  # axis and parts
        self._apart: dict[Any, Callable[[Any], None]] = {}  # what is not whole yet → what makes it so
        self._cut: dict[Any, Any] = {}

    def written(self) -> Written:
        """Returns the fields in blocks.

        Raises:
          NotUniform: If what is outside has to be known, and is not known by one column.
        """
        fields, jaxpr = self._fields, self._closed.jaxpr
        own = {*fields.steps, *fields.between}
        made = [jaxpr.eqns[i].outvars[0] for i in own]
        readers = {i for var in made for i in fields.graph.users.get(var, ())}
        instead, before = {}, {}
        for i in sorted(own | readers):
            (eqn,) = self._rewriter.equations([i])
            if (step := fields.steps.get(i)) is not None:
                self._write(eqn, step)
            elif i in fields.between:
                self._write_rows(eqn, fields.between[i])
            else:
                for atom in eqn.invars:
                    self._whole(atom)
            (instead if i in own else before)[i] = self._rewriter.take()
        for atom in jaxpr.outvars:
            self._whole(atom)
        before[len(jaxpr.eqns)] = self._rewriter.take()
        return Written(instead, before)

    def _write_rows(self, eqn: Eqn, split: AxisSplit) -> None:
        (target,) = eqn.outvars
        parts = []
        for k, block in enumerate(self._blocks):
            operands = [self._rows(atom, axis, k) for atom, axis in zip(eqn.invars, split.operands, strict=True)]
            parts.append(self._part(eqn, operands, {split.result: block.n_rows}))
        self._keep_rows(target, split.result, parts)

    def _write(self, eqn: Eqn, step: Step) -> None:
        (target,) = eqn.outvars
        inside, outside = [], []
        for k, block in enumerate(self._blocks):
            sizes = {step.rows.result: block.n_rows, step.columns.result: block.n_columns}
            here = self._part(eqn, self._operands(eqn, step, k), sizes)
            rest = None
            if block.n_columns < self._n_columns:
                if step.columns.result is not None:
                    rest = self._beside(eqn, step, k, here)
                elif step.columns.combine is lax.add_p:
                    terms = [here, self._over_columns(eqn, step, k)]
                    here = self._rewriter.call(_combined, *terms, combine=lax.add_p, shape=here.aval.shape)
                else:  # the witness takes part
                    for atom, row, column in step.operands(eqn):
                        if row is None or column is None:
                            continue
                        if not isinstance(self._outside_of(atom, row, column, k), _Uniform | _Same):
                            raise NotUniform
            inside.append(here)
            outside.append(rest)
        if step.columns.result is None:
            self._keep_rows(target, step.rows.result, inside)
        elif step.rows.result is None:
            self._join_columns(target, step.columns.result, step.rows.combine, inside, outside)
        else:
            for k, (here, rest) in enumerate(zip(inside, outside, strict=True)):
                self._inside[target, k], self._outside[target, k] = here, rest
            self._apart[target] = self._join

    # operands

    def _operands(self, eqn: Eqn, step: Step, k: int) -> list[Any]:
        """Returns the operands of an equation inside a block."""
        found = []
        for atom, row, column in step.operands(eqn):
            if row is not None and column is not None:
                found.append(self._inside_of(atom, row, column, k))
            elif column is not None:
                found.append(self._slice(self._whole(atom), {column: self._blocks[k].columns}))
            else:
                found.append(self._rows(atom, row, k))
        return found

    def _inside_of(self, atom: Atom, row: int, column: int, k: int) -> Any:
        block = self._blocks[k]
        fill = self._fields.graph.fill(atom)
        if fill is not None:
            shape = list(atom.aval.shape)
            shape[row], shape[column] = block.n_rows, block.n_columns
            return self._rewriter.call(jnp.broadcast_to, fill, shape=tuple(shape))
        if (atom, k) not in self._inside:
            self._inside[atom, k] = self._slice(self._whole(atom), {row: block.rows, column: block.columns})
        return self._inside[atom, k]

    def _outside_of(self, atom: Atom, row: int, column: int, k: int) -> Any:
        """Returns the description of an operand outside a block, or None if none is known."""
        if (atom, k) in self._outside:
            return self._outside[atom, k]
        if self._fields.graph.fill(atom) is not None:
            return _Uniform(lambda: self._witness(self._inside_of(atom, row, column, k), column, k))
        value = self._fields.graph.mask(atom)
        if value is None:
            return None
        (start, end), inside, witness = self._blocks[k]
        rows = np.moveaxis(value, (row, column), (0, 1))
        beyond = rows if len(rows) == 1 else rows[start:end]  # one row, or column, if all are the same
        if beyond.shape[1] > 1:
            beyond = np.concatenate([beyond[:, : inside[0]], beyond[:, [witness]], beyond[:, inside[1] :]], 1)
        if (beyond != beyond[:, :1]).any():
            return None
        if beyond.dtype == bool and (beyond == beyond.flat[0]).all():
            return _Same(bool(beyond.flat[0]))
        return _Uniform(lambda: self._witness(self._inside_of(atom, row, column, k), column, k))

    def _witness(self, inside: Atom, axis: int, k: int) -> Any:
        """Returns the column of a block that is like those outside."""
        at = self._blocks[k].witness - self._blocks[k].columns[0]
        return self._slice(inside, {axis: (at, at + 1)})

    def _rows(self, atom: Atom, axis: int | None, k: int) -> Any:
        """Returns the rows of a block, of a value that has any."""
        if axis is None:
            return self._whole(atom)
        if atom in self._by_row and self._by_row[atom][0] == axis:
            return self._by_row[atom][1][k]
        return self._slice(self._whole(atom), {axis: self._blocks[k].rows})

    def _slice(self, atom: Atom, cut: dict[int, tuple[int, int]]) -> Any:
        cut = {axis: bounds for axis, bounds in cut.items() if bounds != (0, atom.aval.shape[axis])}
        if not cut:
            return atom
        key = (atom, *sorted(cut.items()))
        if key not in self._cut:
            bounds = [cut.get(axis, (0, size)) for axis, size in enumerate(atom.aval.shape)]
            starts, limits = zip(*bounds, strict=True)
            params = {"start_indices": starts, "limit_indices": limits, "strides": None}
            result = resized_var([end - start for start, end in bounds], atom)
            self._cut[key] = self._rewriter.add(lax.slice_p, params, [atom], result)
        return self._cut[key]

    # what is outside

    def _beside(self, eqn: Eqn, step: Step, k: int, here: Atom) -> Any:
        """Returns the description of a result outside a block, or None; `here` is the result inside."""
        name = eqn.primitive.name
        operands = []
        for atom, row, column in step.operands(eqn):
            if row is not None and column is not None:
                operands.append(self._outside_of(atom, row, column, k))
            elif column is not None:
                operands.append(None)
            else:
                operands.append(_Uniform(lambda a=atom, r=row: self._rows(a, r, k)))
        flags = [operand.value for operand in operands if isinstance(operand, _Same)]
        if flags:
            if name == "select_n" and isinstance(operands[0], _Same):
                return operands[1 + operands[0].value]
            if name in ("and", "or") and (name == "or") in flags:
                return _Same(name == "or")
            if name == "not" or name in SHAPES:
                return _Same(flags[0] != (name == "not"))
        sizes = {step.rows.result: self._blocks[k].n_rows, step.columns.result: 1}
        are_fields = [None not in cut for _, *cut in step.operands(eqn)]
        if name == "dot_general" and step.rows.result is not None and not any(are_fields):
            return self._product(eqn, step, k, sizes)
        if any(operand is None for operand in operands):
            return None
        if any(isinstance(operand, _Products) for operand in operands):
            return self._of_products(eqn, operands, sizes) if step.rows.result is not None else None
        axis: Any = step.columns.result
        return _Uniform(lambda: self._witness(here, axis, k))

    def _product(self, eqn: Eqn, step: Step, k: int, sizes: dict[Any, int]) -> _Products:
        """Returns a product of values by row and by column, outside; its sum over columns is the product of a sum."""
        at, column = next((i, axis) for i, axis in enumerate(step.columns.operands) if axis is not None)
        by_row: Any = step.rows.operands[1 - at]
        row = self._rows(eqn.invars[1 - at], by_row, k)

        def summed() -> Any:
            operands = [row, row]
            operands[at] = self._sum_outside(eqn.invars[at], column, k)
            return self._part(eqn, operands, sizes)

        return _Products(((False, None, summed),))

    def _of_products(self, eqn: Eqn, operands: Sequence[Any], sizes: dict[Any, int]) -> _Products | None:
        """Returns a result outside where an operand is a sum of products; None unless it is one again."""
        name = eqn.primitive.name
        shape = tuple(sizes.get(axis, size) for axis, size in enumerate(eqn.outvars[0].aval.shape))
        if name in SHAPES:

            def shaped(column: Atom) -> Any:
                return column if column is None or not column.aval.shape else self._part(eqn, [column], sizes)

            (products,) = operands
            terms = tuple((minus, shaped(c), lambda s=s: shaped(s())) for minus, c, s in products.terms)
            return _Products(terms, shaped(products.rest))
        if name == "neg":
            return self._signed(operands[0], True)
        if name in ("add", "add_any", "sub"):
            left, right = (o if isinstance(o, _Products) else _Products((), o.column()) for o in operands)
            right = self._signed(right, name == "sub")
            rests = [rest for rest in (left.rest, right.rest) if rest is not None]
            rest = self._rewriter.call(_combined, *rests, combine=lax.add_p, shape=shape) if rests else None
            return _Products((*left.terms, *right.terms), rest)
        if name in ("mul", "div"):
            products, by = operands
            if isinstance(by, _Products) and name == "mul":
                products, by = by, products
            if isinstance(by, _Products):
                return None
            factor = by.column()
            one = make_literal(np.ones((), eqn.outvars[0].aval.dtype), ShapedArray((), eqn.outvars[0].aval.dtype))

            def scaled(column: Atom) -> Any:
                is_scalar = not column.aval.shape and not factor.aval.shape
                common = () if is_scalar else shape
                return self._rewriter.call(_combined, column, factor, combine=eqn.primitive, shape=common)

            terms = tuple((minus, scaled(one if c is None else c), summed) for minus, c, summed in products.terms)
            return _Products(terms, None if products.rest is None else scaled(products.rest))
        return None

    def _signed(self, products: _Products, is_minus: bool) -> _Products:
        if not is_minus:
            return products
        rest = None if products.rest is None else self._rewriter.call(operator.neg, products.rest)
        return _Products(tuple((not minus, column, summed) for minus, column, summed in products.terms), rest)

    def _over_columns(self, eqn: Eqn, step: Step, k: int) -> Any:
        """Returns the contribution of all columns outside a block to a sum."""
        block = self._blocks[k]
        n_outside = self._n_columns - block.n_columns
        operands, times = [], n_outside
        for atom, row, column in step.operands(eqn):
            if row is not None and column is not None:
                known = self._outside_of(atom, row, column, k)
                if isinstance(known, _Products) and eqn.primitive.name == "reduce_sum":
                    operands.append(self._summed(known, atom, n_outside))
                    times = 1
                elif isinstance(known, _Uniform):
                    operands.append(known.column())
                else:
                    raise NotUniform
            elif column is not None:
                operands.append(self._sum_outside(atom, column, k))
                times = 1
            else:
                operands.append(self._rows(atom, row, k))
        result = self._part(eqn, operands, {step.rows.result: block.n_rows})
        return result if times == 1 else self._rewriter.call(_times, result, n=times)

    def _summed(self, products: _Products, atom: Atom, n: int) -> Any:
        """Returns the sum of sums of products over `n` columns, with the axes of their field."""
        dtype = atom.aval.dtype
        total = None if products.rest is None else self._rewriter.call(_times, products.rest, n=n, dtype=dtype)
        for is_minus, column, summed in products.terms:
            term = summed() if column is None else self._rewriter.call(operator.mul, summed(), column)
            if total is None:
                total = self._rewriter.call(operator.neg, term) if is_minus else term
            else:
                total = self._rewriter.call(operator.sub if is_minus else operator.add, total, term)
        return total

    def _sum_outside(self, atom: Atom, axis: int, k: int) -> Any:
        """Returns the sum of a value by column over the columns outside, one column."""
        first, last = self._blocks[k].columns
        whole, size = self._whole(atom), self._n_columns
        parts = [self._slice(whole, {axis: b}) for b in ((0, first), (last, size)) if b[0] < b[1]]
        key = (atom, axis, first, last, "sum")
        if key not in self._cut:
            self._cut[key] = self._rewriter.call(_sums_along, *parts, axis=axis)
        return self._cut[key]

    # what is whole

    def _keep_rows(self, target: Var, axis: Any, parts: list[Any]) -> None:
        self._by_row[target] = (axis, parts)
        self._apart[target] = self._join_rows

    def _join_rows(self, var: Var) -> None:
        axis, parts = self._by_row[var]
        self._concatenate(parts, axis, var)

    def _join_columns(self, target: Var, axis: int, combine: Primitive, inside: list[Any], outside: list[Any]) -> None:
        """Makes a value by column of what each block has for its columns inside, and for all others."""
        bounds = sorted({0, self._n_columns, *(bound for block in self._blocks for bound in block.columns)})
        pieces = []
        for start, end in itertools.pairwise(bounds):
            found = []
            for k, block in enumerate(self._blocks):
                first, last = block.columns
                if first <= start and end <= last:
                    found.append(self._slice(inside[k], {axis: (start - first, end - first)}))
                else:
                    known = outside[k]
                    if not isinstance(known, _Uniform):
                        raise NotUniform
                    found.append(known.column())
            shape = list(target.aval.shape)
            shape[axis] = end - start
            pieces.append(self._rewriter.call(_combined, *found, combine=combine, shape=tuple(shape)))
        self._concatenate(pieces, axis, target)

    def _join(self, var: Var) -> None:
        """Makes a field whole."""
        row, column = self._fields.axes[var]
        n_columns, strips = self._n_columns, []
        for k, ((start, end), (first, last), _) in enumerate(self._blocks):
            pieces = [self._inside[var, k]]
            if last - first < n_columns:
                known = self._outside_of(var, row, column, k)
                if not isinstance(known, _Uniform | _Same):
                    raise NotUniform(var)
                for at, width in ((0, first), (1, n_columns - last)):
                    shape = list(var.aval.shape)
                    shape[row], shape[column] = end - start, width
                    if width and isinstance(known, _Same):
                        piece = self._rewriter.call(lax.full, shape=tuple(shape), fill_value=known.value)
                    elif width:
                        piece = self._rewriter.call(jnp.broadcast_to, known.column(), shape=tuple(shape))
                    else:
                        continue
                    pieces.insert(0 if at == 0 else len(pieces), piece)
            strips.append(self._concatenate(pieces, column))
        self._concatenate(strips, row, var)

    def _whole(self, atom: Atom) -> Any:
        """Returns an atom after it was put together, if it is in blocks."""
        if not isinstance(atom, Literal) and atom in self._apart:
            self._apart.pop(atom)(atom)
        return atom

    def _concatenate(self, parts: Sequence[Any], axis: int, target: Var | None = None) -> Any:
        if target is None and len(parts) == 1:
            return parts[0]
        if target is None:
            shape = list(parts[0].aval.shape)
            shape[axis] = sum(part.aval.shape[axis] for part in parts)
            target = resized_var(shape, parts[0])
        return self._rewriter.add(lax.concatenate_p, {"dimension": axis}, parts, target)

    def _part(self, eqn: Eqn, operands: Sequence[Atom], sizes: dict[Any, int]) -> Any:
        """Adds an equation like another whose result has other sizes along some axes, and returns the result."""
        sizes = {axis: size for axis, size in sizes.items() if axis is not None}
        shape: list[Any] = [sizes.get(axis, size) for axis, size in enumerate(eqn.outvars[0].aval.shape)]
        return self._rewriter.like(eqn, operands, resized_var(shape, eqn.outvars[0]), params_of_part(eqn, sizes))


# what is added


def _times(x: Array, n: int, dtype: DTypeLike | None = None) -> Any:
    return x * jnp.asarray(n, dtype or x.dtype)


def _sums_along(*values: Array, axis: int) -> Any:
    return sum(x.sum(axis, keepdims=True) for x in values)


def _combined(*values: Array, combine: Primitive, shape: tuple[int, ...]) -> Any:
    bind = functools.partial(combine.bind, **params_of_combining(combine))
    return functools.reduce(bind, [jnp.broadcast_to(value, shape) for value in values])
