"""A graph as shares of a batch: each core computes all that belongs to its share, and what is left comes after.

XLA on CPU computes one equation after the other, each on all cores, so that a core reads what another wrote, and waits
for it. In *shares* a core computes a whole forward and backward of a part of the batch by itself. What the cores made
is put together in the end: what lies side by side is concatenated, sums over the batch are added up.

A graph does not say what its batch is. So a way through its first large product is tried, then what follows from it for
every other equation: a value is *cut* along an axis, or *partial*, a sum to which each share adds, or *whole*, the same
in every share. An equation that needs all of a cut or a partial value comes *late*, after the shares, and with it all
that reads it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._jax import Literal, ShapedArray, make_var
from jaxaot._util import OrderedSet
from jaxaot.ir.axes import Way, params_of_part, ways_together
from jaxaot.ir.build import traced
from jaxaot.ir.cost import eqn_flops
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewrite import extract
from jaxaot.ir.walk import aval_bytes, producers, variables

LEAST_FLOPS = 100_000_000
"""What the products of a share take at least: two milliseconds, where starting another thread takes a twentieth."""

LEAST_PRODUCTS = 4
"""How many products a graph has at least: what lies between them is what a core does not have to read from another."""

LEAST_PART = 0.9
"""What part of all products is in shares, and of all other work."""

FLOPS_PER_BYTE = 24
"""What one core computes in the time in which a byte is written, read and added up, of what the shares hand over."""

MOST_HANDED_OVER = 0.25
"""What handing over may take of the time of a share."""

_WHOLE_PART = 0.01
"""Values of which the shares need all, are computed by each if that takes at most this part of all work."""

_MOST_TRIES = 8
"""How many ways through the first products are tried."""

_IN_PLACE_OF_SUMS = {"reshape", "transpose", "squeeze", "broadcast_in_dim", "reduce_sum", "copy", "slice"}
"""Primitives of one operand that commute with sums and move no less than they make, so that shares compute them."""

_SUMS = {"add", "add_any", "sub"}

_PRODUCTS = (Kind.MATMUL, Kind.CONVOLUTION)


@dataclasses.dataclass(frozen=True, eq=False)
class Shares:
    """A graph as two.

    Attributes:
      part: The ClosedJaxpr of a share; its inputs are some of the graph, and then the number of the share.
      part_reads: The positions of the inputs of the graph that it takes.
      rest: The ClosedJaxpr of what is left; its inputs are some of the graph, and then the outputs of each share.
      rest_reads: The positions of the inputs of the graph that it takes.
      n: How many shares there are.
    """

    part: Any
    part_reads: tuple[int, ...]
    rest: Any
    rest_reads: tuple[int, ...]
    n: int


def plan_shares(closed: Any, n: int) -> Shares | None:
    """Returns a graph as shares of a batch, or None if it has none or little would be gained.

    Args:
      closed: The ClosedJaxpr, its calls inlined, without side effects.
      n: How many shares.
    """
    flops = [eqn_flops(eqn) for eqn in closed.jaxpr.eqns]
    products = [i for i, eqn in enumerate(closed.jaxpr.eqns) if kind(eqn) in _PRODUCTS]
    if n < 2 or len(products) < LEAST_PRODUCTS or sum(flops[i] for i in products) < n * LEAST_FLOPS:
        return None
    first = next(i for i in products if flops[i] * 100 >= max(flops[j] for j in products))
    for way in _side_by_side(closed.jaxpr.eqns[first])[:_MOST_TRIES]:
        found = _Search(closed, n, flops, products)
        if found.starts(first, way) and found.follows() and found.pays():
            return found.shares()
    return None


def _side_by_side(eqn: Any) -> list[Way]:
    """Returns the ways through a product of which the results lie side by side: first those that cut the first operand,
    which most write before weights."""
    found = [way for way in ways_together(eqn) if way.result is not None]
    return sorted(found, key=lambda way: [(axis is None, axis or 0) for axis in way.operands])


class _Search:
    """What follows from a way through one equation.

    Attributes:
      axes: The axis along which a variable is cut.
      partial: The variables that are sums to which each share adds.
      ways: Position of an equation → the way in which a share computes it.
      late: The positions of the equations that come after the shares.
    """

    def __init__(self, closed: Any, n: int, flops: Sequence[int], products: Sequence[int]):
        self._closed, self._eqns, self._n = closed, closed.jaxpr.eqns, n
        self._flops, self._products = flops, products
        self._producer = producers(closed.jaxpr)
        self._all_flops = sum(flops)
        self._few_flops = _WHOLE_PART * self._all_flops
        self._is_costly: dict[Any, bool] = {}
        self.axes: dict[Any, int] = {}
        self.partial: set[Any] = set()
        self.ways: dict[int, Way] = {}
        self.late: set[int] = set()
        self._is_late: set[Any] = set()

    def starts(self, i: int, way: Way) -> bool:
        """Returns whether an equation can be computed in shares, and notes what that asks of what it reads."""
        return self._fits(i, way)

    def follows(self) -> bool:
        """Returns whether shares compute most, and notes how each equation is computed."""
        late_flops = 0
        for i, eqn in enumerate(self._eqns):
            if i in self.ways:
                continue
            read = list(variables(eqn.invars))
            is_late = any(var in self._is_late for var in read)
            if not is_late:
                shared = [var for var in read if var in self.axes or var in self.partial]
                if not shared or self._is_shared(i) or not any(map(self._costs_much, shared)):
                    continue
            self.late.add(i)
            self._is_late.update(eqn.outvars)
            late_flops += self._flops[i]
            if late_flops > (1 - LEAST_PART) * self._all_flops:
                return False
        return True

    def _is_shared(self, i: int) -> bool:
        """Returns whether shares can compute an equation of which they have parts of operands."""
        eqn = self._eqns[i]
        partial = [var for var in variables(eqn.invars) if var in self.partial]
        if not partial:
            return any(self._fits(i, way) for way in self._ways(i))
        name = eqn.primitive.name
        is_sum = name in _SUMS and len(partial) == len(eqn.invars)
        if is_sum or (name in _IN_PLACE_OF_SUMS and len(eqn.invars) == 1):
            self.ways[i] = Way((None,) * len(eqn.invars), None, lax.add_p)
            self.partial.update(eqn.outvars)
            return True
        return False

    def _ways(self, i: int) -> list[Way]:
        eqn = self._eqns[i]
        found = ways_together(eqn)
        if eqn.primitive.name == "scatter-add" and self._is_zero(eqn.invars[0]):
            numbers = eqn.params["dimension_numbers"]
            others = [axis for axis in range(eqn.invars[2].aval.ndim) if axis not in numbers.update_window_dims]
            found = [*found, *(Way((None, axis, o), None, lax.add_p) for axis, o in enumerate(others))]
        return found

    def _is_zero(self, atom: Any) -> bool:
        if isinstance(atom, Literal):
            return not np.any(atom.val)
        i = self._producer.get(atom)
        if i is None or self._eqns[i].primitive is not lax.broadcast_in_dim_p:
            return False
        return self._is_zero(self._eqns[i].invars[0])

    def _fits(self, i: int, way: Way) -> bool:
        """Returns whether an equation can be computed in a way, and if so notes it, and what it asks of operands."""
        eqn = self._eqns[i]
        if way.result is None and not (way.combine is lax.add_p and _can_add(eqn) and self._costs_much(eqn.outvars[0])):
            return False
        if way.result is not None and not all(self._divides(var.aval, way.result) for var in eqn.outvars):
            return False
        wanted: dict[Any, int | None] = {}
        for atom, axis in zip(eqn.invars, way.operands, strict=True):
            if isinstance(atom, Literal):
                if axis is not None:
                    return False
            elif wanted.setdefault(atom, axis) != axis or (axis is None and self._is_apart(atom)):
                return False
        noted = dict(self.axes), dict(self.ways)
        self.ways[i] = way
        if all(self._is_cut(var, axis) for var, axis in wanted.items() if axis is not None):
            if way.result is None:
                self.partial.update(eqn.outvars)
            else:
                self.axes.update((var, way.result) for var in eqn.outvars)
            return True
        self.axes, self.ways = noted
        return False

    def _is_apart(self, var: Any) -> bool:
        """Returns whether a share has no more than its part of a value, and cannot compute all of it in little time."""
        return (var in self.axes or var in self.partial) and self._costs_much(var)

    def _divides(self, aval: Any, axis: int) -> bool:
        return len(aval.shape) > axis and aval.shape[axis] > 0 and aval.shape[axis] % self._n == 0

    def _is_cut(self, var: Any, axis: int) -> bool:
        """Returns whether a value is cut along an axis, or can be; then what makes it is computed so."""
        if var in self.axes:
            return self.axes[var] == axis
        if var in self.partial or not self._divides(var.aval, axis) or not isinstance(var.aval, ShapedArray):
            return False
        i = self._producer.get(var)
        if i is not None and any(way.result == axis and self._fits(i, way) for way in self._ways(i)):
            return True
        if i is not None and self._costs_much(var):
            return False
        self.axes[var] = axis  # each share takes its part of the whole
        return True

    def _costs_much(self, var: Any) -> bool:
        """Returns whether much is computed to make a value from the inputs."""
        known = self._is_costly.get(var)
        if known is None:
            spent, seen, pending = 0, set[int](), [var]
            while pending and spent <= self._few_flops:
                v = pending.pop()
                i = self._producer.get(v)
                if self._is_costly.get(v):
                    spent = self._all_flops + 1
                elif i is not None and i not in seen:
                    seen.add(i)
                    spent += self._flops[i]
                    pending.extend(variables(self._eqns[i].invars))
            known = self._is_costly[var] = spent > self._few_flops
        return known

    def _needed(self) -> tuple[set[int], set[int], set[int], OrderedSet[Any]]:
        """Returns which equations the shares compute for their parts, and which whole, which come after, and what is
        handed over."""
        handed, after, own, whole = OrderedSet[Any](), set[int](), set[int](), set[int]()
        pending = list(variables(self._closed.jaxpr.outvars))
        while pending:  # what comes after the shares
            var = pending.pop()
            i = self._producer.get(var)
            if i is None or i in after:
                continue
            if i in self.ways and self._costs_much(var):
                handed.add(var)
                continue
            after.add(i)
            pending.extend(variables(self._eqns[i].invars))
        wanted = [(var, True) for var in handed]
        while wanted:
            var, is_part = wanted.pop()
            i = self._producer.get(var)
            if i is None:
                continue
            if is_part and i in self.ways:
                if i not in own:
                    own.add(i)
                    wanted += [(v, self._is_part(v, axis)) for v, axis in self._operands(i)]
            elif i not in whole:
                whole.add(i)
                wanted += [(v, False) for v in variables(self._eqns[i].invars)]
        return own, whole, after, handed

    def _operands(self, i: int) -> Iterator[tuple[Any, int | None]]:
        """Yields the variables that an equation in a share reads, with the axes along which they are cut."""
        for atom, axis in zip(self._eqns[i].invars, self.ways[i].operands, strict=True):
            if not isinstance(atom, Literal):
                yield atom, axis

    def _is_part(self, var: Any, axis: int | None) -> bool:
        return axis is not None or var in self.partial

    def pays(self) -> bool:
        """Returns whether shares compute most of the products and of the rest, and hand over little."""
        own, whole, after, handed = self._needed()
        n_products = sum(self._flops[i] for i in self._products)
        shared = sum(self._flops[i] for i in self._products if i in own)
        again = sum(self._flops[i] for i in (*whole, *after))
        n_bytes = sum(self._n * max(4 * v.aval.size, aval_bytes(v.aval)) for v in handed if v in self.partial)
        n_bytes += sum(aval_bytes(v.aval) for v in handed if v not in self.partial)
        return (
            not any(var.aval.weak_type for var in handed)
            and shared >= LEAST_PART * n_products
            and again <= (1 - LEAST_PART) * self._all_flops
            and n_bytes * FLOPS_PER_BYTE * self._n <= MOST_HANDED_OVER * shared
        )

    def shares(self) -> Shares:
        """Returns the two graphs."""
        own, whole, after, handed = self._needed()
        jaxpr = self._closed.jaxpr
        constants = dict(zip(jaxpr.constvars, self._closed.consts, strict=True))
        number = make_var(ShapedArray((), np.dtype("int32")))
        parts: dict[Any, Any] = {}
        eqns: list[Any] = []
        added: dict[Any, Any] = {}  # constants of the equations that are written here

        def part_of(var: Any, eqn: Any) -> Any:
            """Returns the part of a variable; of a whole one it is taken."""
            if var not in parts:
                axis = self.axes[var]
                size = var.aval.shape[axis] // self._n
                take = lambda x, k: lax.dynamic_slice_in_dim(x, k * size, size, axis)
                made, [parts[var]], consts = traced(take, [var, number], eqn)
                eqns.extend(made)
                added.update(consts)
            return parts[var]

        for i, eqn in enumerate(jaxpr.eqns):
            if i in whole:
                eqns.append(eqn)
            if i in own:
                eqns.extend(self._equations(i, part_of, parts))
        given = OrderedSet(v for eqn in eqns for v in variables(eqn.invars))
        part_reads = tuple(k for k, var in enumerate(jaxpr.invars) if var in given)
        part_inputs = [*(jaxpr.invars[k] for k in part_reads), number]
        outputs = [parts[var] for var in handed]
        part = extract(eqns, part_inputs, outputs, constants | added)
        received = [[make_var(parts[var].aval) for var in handed] for _ in range(self._n)]
        added = {}
        eqns = []
        for k, var in enumerate(handed):
            eqn = jaxpr.eqns[self._producer[var]]
            made, [whole_var], consts = traced(self._together(var), [mine[k] for mine in received], eqn)
            eqns.extend(_renamed(made, whole_var, var))
            added.update(consts)
        eqns.extend(eqn for i, eqn in enumerate(jaxpr.eqns) if i in after)
        given = OrderedSet(v for eqn in eqns for v in variables(eqn.invars))
        for var in variables(jaxpr.outvars):
            given.add(var)
        rest_reads = tuple(k for k, var in enumerate(jaxpr.invars) if var in given)
        rest_inputs = [*(jaxpr.invars[k] for k in rest_reads), *(var for mine in received for var in mine)]
        rest = extract(eqns, rest_inputs, jaxpr.outvars, constants | added)
        return Shares(part, part_reads, rest, rest_reads, self._n)

    def _together(self, var: Any) -> Any:
        """Returns the function that makes a value of the parts that shares hand over."""
        dtype = var.aval.dtype

        def together(*parts: Any) -> Any:
            if var not in self.partial:
                return jnp.concatenate(parts, self.axes[var])
            total = parts[0]
            for part in parts[1:]:
                total = total + part
            return lax.convert_element_type(total, dtype)

        return together

    def _equations(self, i: int, part_of: Any, parts: dict[Any, Any]) -> list[Any]:
        """Returns the equation of a share, and notes the parts that it makes."""
        eqn, way = self._eqns[i], self.ways[i]
        invars = []
        for atom, axis in zip(eqn.invars, way.operands, strict=True):
            is_whole = isinstance(atom, Literal) or not self._is_part(atom, axis)
            invars.append(atom if is_whole else part_of(atom, eqn))
        params, outvars = eqn.params, []
        for var in eqn.outvars:
            shape, dtype = list(var.aval.shape), var.aval.dtype
            if way.result is not None:
                shape[way.result] //= self._n
                params = params_of_part(eqn, {way.result: shape[way.result]})
            elif eqn.primitive is lax.dot_general_p and dtype.itemsize < 4:
                dtype = np.dtype("float32")  # rounded once, when all is added up
                params = {**eqn.params, "preferred_element_type": dtype}
            elif invars and eqn.primitive.name in (*_SUMS, *_IN_PLACE_OF_SUMS):
                dtype = invars[0].aval.dtype
            weak_type = var.aval.weak_type and dtype == var.aval.dtype
            outvars.append(make_var(ShapedArray(tuple(shape), dtype, weak_type=weak_type)))
            parts[var] = outvars[-1]
        return [eqn.replace(invars=invars, outvars=outvars, params=params)]


def _can_add(eqn: Any) -> bool:
    """Returns whether parts of a sum may be added up later without rounding more than once."""
    dtype = eqn.outvars[0].aval.dtype
    return dtype.itemsize >= 4 or (eqn.primitive is lax.dot_general_p and jnp.issubdtype(dtype, jnp.floating))


def _renamed(eqns: Sequence[Any], made: Any, target: Any) -> list[Any]:
    """Returns equations that make another variable instead of one."""
    return [eqn.replace(outvars=[target if var is made else var for var in eqn.outvars]) for eqn in eqns]
