"""Spreading over cores: what XLA computes on one core is computed in parts, up to as many as there are cores.

XLA on CPU runs a plain matrix product on all cores, but a batch of small ones on one. Equations that do not depend on
each other run side by side; so in parts along the batch, these products take less time. What lies between two of them,
the softmax of an attention, is computed in parts as well, so that nothing has to be put together in between.

A *seed* is an equation that is computed on one core and takes long. A *region* is what is computed in parts: seeds,
and what lies between them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jax import lax

from jaxaot._jax import Literal
from jaxaot._typing import Atom, ClosedJaxpr, Eqn, Jaxpr, Var
from jaxaot.backend.cpu.machine import machine
from jaxaot.ir.axes import AxisSplit, params_of_part, splits
from jaxaot.ir.build import params_of_combining, resized_var
from jaxaot.ir.cost import eqn_flops
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import Makers, aval_bytes, users, variables

_FREE = {"reshape", "squeeze", "expand_dims"}
"""Primitives that are no work at all."""


def spread(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with batches of small products in parts that run side by side.

        c: f32[32,128,128] = dot_general[batch=((0,),(0,))] a b        a0 = slice[0:16] a;  a1 = slice[16:32] a
        d = exp c                                                →     b0 = slice[0:16] b;  b1 = slice[16:32] b
        return d                                                       c0 = dot_general a0 b0
                                                                       c1 = dot_general a1 b1
                                                                       c = concatenate c0 c1
                                                                       d = exp c
                                                                       return d

    There are as many parts as there are cores, or a half or a quarter of that if the batch has no multiple of it. Sums
    over the batch are sums of the sums of the parts, but for those of half precision, which would be rounded twice.
    Parts are made where the work that is shared takes longer than what has to be cut and put together, and where there
    are at least `min_seeds` seeds.
    """
    for n_parts in (8, 4, 2):
        if n_parts <= machine().n_cores:
            growth = _Growth(closed.jaxpr, n_parts)
            groups = [group for group in growth.groups() if growth.pays(group)]
            chosen = {i: growth.splits[i] for group in groups for i in group}
            if len(growth.seeds.intersection(chosen)) >= machine().min_seeds:
                return _Parts(closed, chosen, growth.axes, n_parts).rebuild()
    return closed


class _Growth:
    """Grows regions from seeds, as far as the axes of parts go through equations.

    Attributes:
      splits: Position of an equation that could be computed in parts → the split.
      axes: Variable that could be in parts → the axis along which it is cut.
      seeds: The positions of the seeds.
    """

    def __init__(self, jaxpr: Jaxpr, n_parts: int):
        self._jaxpr, self._n_parts = jaxpr, n_parts
        self._producer, self._readers = Makers(jaxpr).position, users(jaxpr.eqns)
        self._known: dict[int, list[AxisSplit]] = {}
        self.splits: dict[int, AxisSplit] = {}
        self.axes: dict[Any, int] = {}
        self.seeds = {i for i, eqn in enumerate(jaxpr.eqns) if _is_seed(eqn)}
        for i in sorted(self.seeds):
            if i not in self.splits:
                found = sorted((split for split in self._splits(i)), key=lambda split: split.operands[0] != 0)
                if found:
                    self._grow(i, found[0])

    def _splits(self, i: int) -> list[AxisSplit]:
        """Returns the splits of an equation that agree with the axes chosen so far."""
        eqn = self._jaxpr.eqns[i]
        return [split for split in self._all_splits(i) if self._fits(eqn, split)]

    def _all_splits(self, i: int) -> list[AxisSplit]:
        """Returns the splits of an equation along which parts may be made, whatever axes are chosen."""
        if i not in self._known:
            eqn = self._jaxpr.eqns[i]
            which = kind(eqn)
            found = splits(eqn) if which <= Kind.REDUCTION or which in (Kind.MATMUL, Kind.GATHER) else []
            if which is Kind.MATMUL:  # one product of plain matrices runs on all cores anyway
                found = [split for split in found if split.result is not None and None not in split.operands]
            self._known[i] = found
        return self._known[i]

    def _fits(self, eqn: Eqn, split: AxisSplit) -> bool:
        (target,) = eqn.outvars
        if split.combine in (lax.add_p, lax.mul_p) and target.aval.dtype.itemsize < 4:
            return False
        wanted: dict[Any, int | None] = {target: split.result}
        for atom, axis in zip(eqn.invars, split.operands, strict=True):
            if isinstance(atom, Literal):
                if axis is not None:
                    return False
            elif atom.aval.ndim and wanted.setdefault(atom, axis) != axis:
                return False
        return all(
            self.axes.get(var, axis) == axis and (axis is None or _is_multiple(var.aval.shape[axis], self._n_parts))
            for var, axis in wanted.items()
        )

    def _grow(self, first: int, split: AxisSplit) -> None:
        pending = [(first, split)]
        while pending:
            i, split = pending.pop()
            eqn = self._jaxpr.eqns[i]
            if i in self.splits or not self._fits(eqn, split):
                continue
            self.splits[i] = split
            cut = [(v, axis) for v, axis in zip(eqn.invars, split.operands, strict=True) if axis is not None]
            cut += [(eqn.outvars[0], split.result)] if split.result is not None else []
            for var, axis in cut:
                self.axes[var] = axis
                near = [self._producer[var]] if var in self._producer else []
                for j in (*near, *self._readers.get(var, ())):
                    if j not in self.splits:
                        options = (option for option in self._all_splits(j)[::-1] if self._cuts(j, option, var))
                        pending += [(j, option) for option in options if self._fits(self._jaxpr.eqns[j], option)]

    def _cuts(self, i: int, split: AxisSplit, var: Atom) -> bool:
        """Returns whether a split of an equation cuts a variable."""
        eqn = self._jaxpr.eqns[i]
        pairs = (*zip(eqn.invars, split.operands, strict=True), (eqn.outvars[0], split.result))
        return any(atom is var and axis is not None for atom, axis in pairs)

    def groups(self) -> list[list[int]]:
        """Returns the positions of the equations of each region: seeds, and what lies between them or sums them up."""
        order = sorted(self.splits)
        below: set[int] = set()
        for i in order:
            if i in self.seeds or any(self._maker(var) in below for var in self._cut_operands(i)):
                below.add(i)
        above: set[int] = set()
        for i in reversed(order):
            split = self.splits[i]
            readers = self._readers.get(self._jaxpr.eqns[i].outvars[0], ()) if split.result is not None else ()
            if i in self.seeds or split.result is None or any(j in above for j in readers):
                above.add(i)
        group: dict[int, int] = {}

        def root(i: int) -> int:
            while group.setdefault(i, i) != i:
                i = group[i]
            return i

        kept = below & above
        for i in sorted(kept):
            for var in self._cut_operands(i):
                for j in (self._maker(var), *self._readers[var]):
                    if j in kept and self._cuts(j, self.splits[j], var):
                        group[root(j)] = root(i)
        found: dict[int, list[int]] = {}
        for i in sorted(kept):
            found.setdefault(root(i), []).append(i)
        return list(found.values())

    def _is_repeated(self, var: Var) -> bool:
        """Returns whether a variable is made of a smaller one, so that XLA makes its parts of that and cuts nothing."""
        i = self._producer.get(var)
        return i is not None and self._jaxpr.eqns[i].primitive is lax.broadcast_in_dim_p

    def _cut_operands(self, i: int) -> list[Any]:
        pairs = zip(self._jaxpr.eqns[i].invars, self.splits[i].operands, strict=True)
        return [atom for atom, axis in pairs if axis is not None]

    def _maker(self, var: Var) -> int | None:
        """Returns the position of the equation that makes a variable in parts; None if none does."""
        i = self._producer.get(var)
        return i if i in self.splits else None

    def pays(self, group: Sequence[int]) -> bool:
        """Returns whether what the cores share takes longer than cutting operands and putting results together."""
        eqns, own = self._jaxpr.eqns, set(group)
        flops = sum(eqn_flops(eqns[i]) for i in group if i in self.seeds)
        made = {eqns[i].outvars[0] for i in group if self.splits[i].result is not None}
        cut = {var for i in group for var in self._cut_operands(i) if not self._is_repeated(var)} - made
        whole = made & set(variables(self._jaxpr.outvars))
        whole |= {var for var in made if not own.issuperset(self._readers.get(var, ()))}
        copied = sum(aval_bytes(var.aval) for var in (*cut, *whole))
        n_kernels = sum(eqns[i].primitive.name not in _FREE for i in group)
        spent = (
            copied * machine().flops_per_copied_byte + n_kernels * (self._n_parts - 1) * machine().flops_per_equation
        )
        return flops * (self._n_parts - 1) > spent * self._n_parts


def _is_seed(eqn: Eqn) -> bool:
    if eqn.primitive.name != "dot_general" or not eqn.params["dimension_numbers"][1][0]:
        return False
    flops = eqn_flops(eqn)
    n_products = math.prod(eqn.invars[0].aval.shape[axis] for axis in eqn.params["dimension_numbers"][1][0])
    largest = max(atom.aval.size for atom in (*eqn.invars, *eqn.outvars))
    return (
        machine().min_seed_flops <= flops < n_products * machine().shared_flops
        and largest < n_products * machine().shared_elements
    )


def _is_multiple(size: int, n: int) -> bool:
    return size > 0 and size % n == 0


class _Parts:
    """Writes a graph in which some equations are computed in parts."""

    def __init__(self, closed: ClosedJaxpr, chosen: Mapping[int, AxisSplit], axes: Mapping[Any, int], n_parts: int):
        self._chosen, self._axes, self._n_parts = chosen, axes, n_parts
        self._outvars = closed.jaxpr.outvars
        self._rewriter = Rewriter(closed)
        self._parts: dict[Any, list[Any]] = {}
        self._apart: dict[Any, Any] = {}  # variables that are not whole yet → the equation that made their parts

    def rebuild(self) -> ClosedJaxpr:
        """Returns the graph."""
        for i, eqn in enumerate(self._rewriter.equations()):
            split = self._chosen.get(i)
            if split is None:
                self._make_whole(eqn.invars)
                self._rewriter.keep(eqn)
            else:
                self._compute(eqn, split)
        self._make_whole(self._outvars)
        return self._rewriter.graph()

    def _compute(self, eqn: Eqn, split: AxisSplit) -> None:
        self._make_whole(atom for atom, axis in zip(eqn.invars, split.operands, strict=True) if axis is None)
        operands = [
            [atom] * self._n_parts if axis is None else self._parts_of(atom, axis)
            for atom, axis in zip(eqn.invars, split.operands, strict=True)
        ]
        (target,) = eqn.outvars
        results = [self._var(target, split.result) for _ in range(self._n_parts)]
        size = results[0].aval.shape
        params = params_of_part(eqn, {} if split.result is None else {split.result: size[split.result]})
        for k, result in enumerate(results):
            self._rewriter.like(eqn, [parts[k] for parts in operands], result, params)
        if split.result is None:
            total = results[0]
            for k, part in enumerate(results[1:], 2):
                following = target if k == self._n_parts else self._var(target, None)
                self._rewriter.add(split.combine, params_of_combining(split.combine), [total, part], following)
                total = following
        else:
            self._parts[target] = results
            self._apart[target] = eqn

    def _parts_of(self, var: Atom, axis: int) -> list[Any]:
        """Returns the parts of a variable; one that is whole is cut."""
        if var not in self._parts:
            size = var.aval.shape[axis] // self._n_parts
            self._parts[var] = [self._var(var, axis) for _ in range(self._n_parts)]
            for k, part in enumerate(self._parts[var]):
                start, limit = [0] * var.aval.ndim, list(var.aval.shape)
                start[axis], limit[axis] = k * size, (k + 1) * size
                params = {"start_indices": tuple(start), "limit_indices": tuple(limit), "strides": None}
                self._rewriter.add(lax.slice_p, params, [var], part)
        return self._parts[var]

    def _make_whole(self, atoms: Iterable[Atom]) -> None:
        """Puts the parts of variables together where that was not done."""
        for var in variables(atoms):
            eqn = self._apart.pop(var, None)
            if eqn is not None:
                params = {"dimension": self._axes[var]}
                self._rewriter.add(lax.concatenate_p, params, self._parts[var], var, place=eqn)

    def _var(self, like: Atom, axis: int | None) -> Any:
        shape = list(like.aval.shape)
        if axis is not None:
            shape[axis] //= self._n_parts
        return resized_var(shape, like)
