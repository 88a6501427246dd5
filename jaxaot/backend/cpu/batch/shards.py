"""A graph as shards of a batch: each core computes all that belongs to its shard, and what is left comes after.

XLA on CPU computes one equation after the other, each on all cores, so that a core reads what another wrote, and waits
for it. In *shards* a core computes a whole forward and backward of a part of the batch by itself. What the cores made
is put together in the end: what lies side by side is concatenated, sums over the batch are added up.

A graph does not say what its batch is. So a split of its first large product is tried, and what follows from it for
all other equations, see `analysis/parts.py`: a value is *cut* along an axis, or *partial*, a sum to which each shard
adds, or *whole*. An equation that needs all of a cut or a partial value comes *late*, after the shards, and with it all
that reads it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence, Set
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._immutable import immutable
from jaxaot._jax import Literal, ShapedArray, make_var
from jaxaot._typing import Array, Atom, Aval, ClosedJaxpr, DTypeLike, Eqn, Var
from jaxaot._util import OrderedSet
from jaxaot.backend.cpu.analysis.parts import Flow, called
from jaxaot.backend.cpu.machine import machine
from jaxaot.backend.cpu.memory.temporaries import temporaries
from jaxaot.ir.axes import splits_together
from jaxaot.ir.build import Drafts
from jaxaot.ir.cost import eqn_flops
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewrite import extract
from jaxaot.ir.walk import aval_bytes, variables

_MAX_TRIES = 8
"""How many splits of the first products are tried."""

_PRODUCTS = (Kind.MATMUL, Kind.CONVOLUTION)


@immutable(eq=False)
class Shards:
    """A graph as two.

    Attributes:
      part: The ClosedJaxpr of a shard; its inputs are some of the graph, and then the number of the shard.
      part_reads: The positions of the inputs of the graph that it takes.
      rest: The ClosedJaxpr of what is left; its inputs are some of the graph, and then the outputs of each shard.
      rest_reads: The positions of the inputs of the graph that it takes.
      n: How many shards there are.
    """

    part: Any
    part_reads: tuple[int, ...]
    rest: Any
    rest_reads: tuple[int, ...]
    n: int


def plan_shards(closed: ClosedJaxpr, n: int) -> Shards | None:
    """Returns a graph as shards of a batch, or None if it has none or little would be gained.

    Args:
      closed: The ClosedJaxpr, its calls inlined, without side effects.
      n: How many shards.
    """
    eqns = closed.jaxpr.eqns
    products = [_product_flops(eqn) for eqn in eqns]
    if (
        n < 2
        or sum(map(_n_products, eqns)) < machine().min_shard_products
        or sum(products) < n * machine().min_shard_flops
    ):
        return None
    first = next(i for i, flops in enumerate(products) if flops * 100 >= max(products))
    for starts in _first_splits(eqns[first], first)[:_MAX_TRIES]:
        found = _Search(closed, n, products)
        if starts(found) and found.follows() and found.pays():
            return found.shards()
    return None


def _first_splits(eqn: Eqn, i: int) -> list[Callable[[_Search], bool]]:
    """Returns functions that try a split of an equation of which the results lie side by side.

    First come those that cut the first operand of a product, which most write before weights; and what a loop carries.
    """
    call = called(eqn)
    if call is not None:
        places = [
            (axis, k >= call.n_before, -atom.aval.size, atom)
            for k, atom in enumerate(eqn.invars)
            for axis in range(k >= call.n_before, atom.aval.ndim)
            if k >= call.n_consts and not isinstance(atom, Literal)
        ]
        places.sort(key=lambda place: place[:3])
        return [lambda found, atom=atom, axis=axis: found.is_cut(atom, axis) for axis, _, _, atom in places]
    splits = [split for split in splits_together(eqn) if split.result is not None]
    splits.sort(key=lambda split: [(axis is None, axis or 0) for axis in split.operands])
    return [lambda found, split=split: found.fits(i, split) for split in splits]


def _product_flops(eqn: Eqn) -> int:
    """Returns the FLOPs of products in an equation, in all iterations of a loop."""
    call = called(eqn)
    if call is None:
        return eqn_flops(eqn) if kind(eqn) in _PRODUCTS else 0
    return eqn.params.get("length", 1) * sum(map(_product_flops, call.body.jaxpr.eqns))


def _n_products(eqn: Eqn) -> int:
    call = called(eqn)
    return int(kind(eqn) in _PRODUCTS) if call is None else sum(map(_n_products, call.body.jaxpr.eqns))


class _Search(Flow):
    """What follows from a split of one equation of a graph.

    Attributes:
      late: The positions of the equations that come after the shards.
    """

    def __init__(self, closed: ClosedJaxpr, n: int, products: Sequence[int]):
        super().__init__(closed.jaxpr, n)
        self._closed, self._products = closed, products
        self._flops = [eqn_flops(eqn) for eqn in self.eqns]
        self._all_flops = sum(self._flops)
        self._few_flops = machine().max_whole_part * self._all_flops
        self._is_costly: dict[Any, bool] = {}
        self.late: set[int] = set()

    def follows(self) -> bool:
        """Returns whether shards compute most, and notes how each equation is computed."""
        late_flops = 0
        is_late: set[Any] = set()
        for i, eqn in enumerate(self.eqns):
            if i in self.splits:
                continue
            read = list(variables(eqn.invars))
            if is_late.isdisjoint(read):
                shared = [var for var in read if var in self.axes or var in self.partial]
                if not shared or self.is_shared(i) or not any(map(self.is_worth_parts, shared)):
                    continue
            self.late.add(i)
            is_late.update(eqn.outvars)
            late_flops += self._flops[i]
            if late_flops > (1 - machine().min_sharded_part) * self._all_flops:
                return False
        return True

    def can_take(self, var: Atom, axis: int) -> bool:
        del axis
        return var in self.same or var not in self.producer or not self.is_worth_parts(var)

    def is_worth_parts(self, var: Atom) -> bool:
        known = self._is_costly.get(var)
        if known is None:
            spent, seen, pending = 0, set[int](), [var]
            while pending and spent <= self._few_flops:
                v = pending.pop()
                i = self.producer.get(v)
                if self._is_costly.get(v):
                    spent = self._all_flops + 1
                elif i is not None and i not in seen:
                    seen.add(i)
                    spent += self._flops[i]
                    pending.extend(variables(self.eqns[i].invars))
            known = self._is_costly[var] = spent > self._few_flops
        return known

    @cached_property
    def _needed(self) -> tuple[set[int], set[int], set[int], OrderedSet[Any]]:
        """Which equations the shards compute for their parts, and which whole, which come after, and what is handed
        over."""
        handed, after, own, whole = OrderedSet[Any](), set[int](), set[int](), set[int]()
        pending = list(variables(self._closed.jaxpr.outvars))
        while pending:  # what comes after the shards
            var = pending.pop()
            i = self.producer.get(var)
            if i is None or i in after:
                continue
            if i in self.splits and self.is_worth_parts(var):
                handed.add(var)
                continue
            after.add(i)
            pending.extend(variables(self.eqns[i].invars))
        wanted = [(var, True) for var in handed]
        while wanted:
            var, is_part = wanted.pop()
            i = self.producer.get(var)
            if i is None:
                continue
            if i in self.splits and (is_part or var in self.same):
                if i not in own:
                    own.add(i)
                    wanted += self.reads(i)
            elif i not in whole:
                whole.add(i)
                wanted += [(v, False) for v in variables(self.eqns[i].invars)]
        return own, whole, after, handed

    def pays(self) -> bool:
        """Returns whether shards compute most of the products and of the rest, and hand over, hold and read little."""
        own, whole, after, handed = self._needed
        shared = sum(self._products[i] for i in own)
        again = sum(self._flops[i] for i in (*whole, *after))
        partial_bytes = sum(self.n * max(4 * v.aval.size, aval_bytes(v.aval)) for v in handed if v in self.partial)
        n_bytes = partial_bytes + sum(aval_bytes(v.aval) for v in handed if v not in self.partial)
        lost = n_bytes * machine().flops_per_handed_byte * self.n
        lost += self._read_by_all(own) * machine().flops_per_read_byte * (self.n - 1)
        return (
            not any(var.aval.weak_type and var in handed for var in variables(self.jaxpr.outvars))
            and shared >= machine().min_sharded_part * sum(self._products)
            and again <= (1 - machine().min_sharded_part) * self._all_flops
            and lost <= machine().max_handed_over * shared
            and (partial_bytes <= machine().partial_bytes or partial_bytes <= self._temporary_bytes // 2)
        )

    @property
    def _temporary_bytes(self) -> int:
        """An estimate of the temporaries of the graph as one program."""
        return temporaries(self.eqns, set(variables(self.jaxpr.outvars)), sys.maxsize, delayed=False).peak()

    def _read_by_all(self, own: Set[int]) -> int:
        """Returns the bytes that products read whole in each shard, such as weights.

        Side by side on all cores, each would read its part of them. With few rows of a batch, to read the weights is
        what a product takes its time for.
        """
        return sum(
            aval_bytes(var.aval)
            for i in own
            if self._products[i]
            for var in set(variables(self.eqns[i].invars))
            if var not in self.axes and var not in self.partial
        )

    def shards(self) -> Shards:
        """Returns the two graphs."""
        own, whole, after, handed = self._needed
        part, part_reads = self._graph_of_shard(own, whole, handed)
        rest, rest_reads = self._graph_of_rest(after, handed, part.out_avals)
        return Shards(part, part_reads, rest, rest_reads, self.n)

    def _graph_of_shard(self, own: Set[int], whole: Set[int], handed: Iterable[Any]) -> tuple[Any, tuple[int, ...]]:
        """Returns the graph of one shard of the batch, and the positions of the inputs that it reads.

        Args:
          own: The equations of which it computes its part.
          whole: Those of which it computes all.
        """
        number = make_var(ShapedArray((), np.dtype("int32")))
        parts: dict[Any, Any] = {}
        eqns: list[Any] = []
        constants: dict[Any, Any] = {}
        drafts = Drafts()

        def part_of(var: Var, eqn: Eqn) -> Any:
            """Returns the part of a variable; of a whole one it is taken."""
            if var not in parts:
                axis = self.axes[var]
                size = var.aval.shape[axis] // self.n
                made, [parts[var]], added = drafts.placed(_part, [var, number], eqn, size=size, axis=axis)
                eqns.extend(made)
                constants.update(added)
            return parts[var]

        for i, eqn in enumerate(self.eqns):
            if i in whole:
                eqns.append(eqn)
            if i in own:
                eqns.extend(self.equations(i, part_of, parts))
        return self._extracted(eqns, [number], [parts.get(var, var) for var in handed], constants)

    def _graph_of_rest(
        self, after: Set[int], handed: Iterable[Any], avals: Sequence[Aval]
    ) -> tuple[Any, tuple[int, ...]]:
        """Returns the graph that runs after the shards, and the positions of the inputs that it reads.

        Args:
          handed: The variables that each shard returns.
        """
        received = [list(map(make_var, avals)) for _ in range(self.n)]
        drafts = Drafts()
        eqns: list[Any] = []
        constants: dict[Any, Any] = {}
        for k, var in enumerate(handed):
            if var in self.same:
                received[0][k] = var
                continue
            parts = [mine[k] for mine in received]
            like = self.eqns[self.producer[var]]
            if var in self.partial:
                made, [total], added = drafts.placed(_sum, parts, like, dtype=var.aval.dtype)
            else:
                made, [total], added = drafts.placed(_side_by_side, parts, like, axis=self.axes[var])
            eqns.extend(e.replace(outvars=[var if v is total else v for v in e.outvars]) for e in made)
            constants.update(added)
        eqns.extend(eqn for i, eqn in enumerate(self.eqns) if i in after)
        return self._extracted(eqns, [v for mine in received for v in mine], self.jaxpr.outvars, constants)

    def _extracted(
        self, eqns: Sequence[Eqn], added: Sequence[Any], outvars: Sequence[Atom], constants: dict[Any, Any]
    ) -> tuple[Any, tuple[int, ...]]:
        """Returns a graph of some equations, and which inputs it reads; others that are added come after those."""
        read = {var for eqn in eqns for var in variables(eqn.invars)} | set(variables(outvars))
        reads = tuple(k for k, var in enumerate(self.jaxpr.invars) if var in read)
        constants = dict(zip(self.jaxpr.constvars, self._closed.consts, strict=True)) | constants
        return extract(eqns, [*(self.jaxpr.invars[k] for k in reads), *added], outvars, constants), reads


# what is written


def _part(x: Array, k: Any, size: int, axis: int) -> Any:
    return lax.dynamic_slice_in_dim(x, k * size, size, axis, allow_negative_indices=False)


def _side_by_side(*parts: Array, axis: int) -> Any:
    return jnp.concatenate(parts, axis)


def _sum(*parts: Array, dtype: DTypeLike) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total if total.dtype == dtype else lax.convert_element_type(total, dtype)
