"""Dropping axes of one element, where they keep XLA from its fast kernels.

XLA on CPU has fast kernels for reductions and batches of matrix products of up to four axes. flax's attention has five,
one of which is an axis of groups with one element. And a sum of products, `(x * y).sum(-1)`, takes several times as
long where an axis of `x`, such as that of a batch, has one element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from jaxaot._jax import DropVar, Literal
from jaxaot._typing import Atom, ClosedJaxpr, Eqn, Jaxpr
from jaxaot.backend.cpu.machine import machine
from jaxaot.ir.axes import ELEMENTWISE
from jaxaot.ir.build import array_var, reshape
from jaxaot.ir.primitives import is_pure
from jaxaot.ir.rewrite import rebuild
from jaxaot.ir.walk import is_rewritable, variables
from jaxaot.passes.dce import dce

MAX_AXES = 4
"""Arrays with no more axes are left as they are, but for those that are computed and reduced at once."""


def drop_axes(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with some arrays without their axes of one element, where only their shape is concerned.

        b: f32[1,8,4,64,64] = exp a                         d: f32[8,4,64,64] = reshape a
        c: f32[1,8,4,64] = reduce_sum[axes=(4,)] b    →     e: f32[8,4,64,64] = exp d
                                                            f: f32[8,4,64] = reduce_sum[axes=(3,)] e
                                                            c: f32[1,8,4,64] = reshape f

    Elementwise equations, sums and the like, matrix products, broadcasts and transposes are written so: those on
    arrays of more than `MAX_AXES` if one of these is reduced or multiplied, and those on large ones if there is a
    reduction of what XLA computes in the same loop.
    """
    wide = _wide(closed.jaxpr)
    if not wide:
        return closed
    narrow = _Narrow(wide)
    for eqn in closed.jaxpr.eqns:
        narrow.add(eqn)
    outvars = [narrow.whole(atom) for atom in closed.jaxpr.outvars]
    return dce(rebuild(closed, narrow.eqns, outvars))


def _wide(jaxpr: Jaxpr) -> set[Any]:
    """Returns the variables whose axes of one element are dropped."""
    found = {var for eqn in jaxpr.eqns for var in eqn.outvars if 1 in getattr(var.aval, "shape", ())}
    large = {var for var in found if var.aval.size >= machine().min_reduced_elements}
    made = {var for eqn in jaxpr.eqns if eqn.primitive.name in ELEMENTWISE for var in eqn.outvars if var in large}
    reduced = [set(variables(eqn.invars)) for eqn in jaxpr.eqns if eqn.primitive.name in _REDUCTIONS]
    multiplied = [{*variables(eqn.invars), *eqn.outvars} for eqn in jaxpr.eqns if eqn.primitive.name == "dot_general"]
    many = {var for var in found if len(var.aval.shape) > MAX_AXES}
    wide = many if any(not many.isdisjoint(some) for some in (*reduced, *multiplied)) else set()
    return wide | large if any(not made.isdisjoint(some) for some in reduced) else wide


def _kept(shape: Sequence[int]) -> list[int]:
    return [axis for axis, size in enumerate(shape) if size != 1]


class _Narrow:
    """A graph that is written anew.

    Attributes:
      eqns: Its equations.
    """

    def __init__(self, wide: AbstractSet[Any]) -> None:
        self.eqns: list[Any] = []
        self._wide = wide
        self._narrow: dict[Any, Any] = {}  # without axes of one element
        self._same: dict[Any, Any] = {}  # what is another value
        self._missing: dict[Any, Any] = {}  # by variable that was not made, the equation that would have

    def add(self, eqn: Eqn) -> None:
        """Adds an equation, on arrays without axes of one element if it is known how."""
        made = self._made(eqn)
        if made is None:
            self.eqns.append(eqn.replace(invars=[self.whole(atom) for atom in eqn.invars]))
            return
        (target,) = eqn.outvars
        if target in self._wide:
            self._narrow[target], self._missing[target] = made, eqn
        elif (made.aval.shape, made.aval.weak_type) == (target.aval.shape, target.aval.weak_type):
            self._same[target] = made
        else:
            self.eqns += reshape(made, target.aval.shape, eqn, target)[0]

    def _made(self, eqn: Eqn) -> Any:
        """Adds equations that make a result without axes of one element; returns it, or None if it is not known how."""
        if self._wide.isdisjoint(variables((*eqn.invars, *eqn.outvars))) or not is_rewritable(eqn) or not is_pure(eqn):
            return None
        if len(eqn.outvars) != 1 or isinstance(eqn.outvars[0], DropVar):
            return None
        if eqn.primitive.name in ELEMENTWISE:
            return _of_elements(self, eqn)
        rule = _RULES.get(eqn.primitive.name)
        return None if rule is None else rule(self, eqn)

    def whole(self, atom: Atom) -> Any:
        """Returns an atom with all its axes."""
        if isinstance(atom, Literal) or atom in self._same:
            return atom if isinstance(atom, Literal) else self._same[atom]
        if atom in self._missing:
            eqn = self._missing.pop(atom)
            self.eqns += reshape(self._narrow[atom], atom.aval.shape, eqn, atom)[0]
        return atom

    def without(self, atom: Atom, axes: Sequence[int], eqn: Eqn) -> Any:
        """Returns an atom with some of its axes; the others have one element."""
        shape = [atom.aval.shape[axis] for axis in axes]
        if not isinstance(atom, Literal):
            atom = self._same.get(atom, self._narrow.get(atom, atom))
        made, result = reshape(atom, shape, eqn)
        self.eqns += made
        return result

    def write(self, eqn: Eqn, operands: Sequence[Atom], sizes: Sequence[int], **params: Any) -> Any:
        """Adds an equation like another, on other operands, and returns its result."""
        result = array_var(sizes, eqn.outvars[0])
        self.eqns.append(eqn.replace(invars=list(operands), outvars=[result], params={**eqn.params, **params}))
        return result


def _of_elements(graph: _Narrow, eqn: Eqn) -> Any:
    shape = eqn.outvars[0].aval.shape
    if any(len(atom.aval.shape) not in (0, len(shape)) for atom in eqn.invars):
        return None
    axes = _kept(shape)
    operands = [graph.without(atom, axes, eqn) if atom.aval.shape else atom for atom in eqn.invars]
    return graph.write(eqn, operands, [shape[axis] for axis in axes])


def _of_reduction(graph: _Narrow, eqn: Eqn) -> Any:
    (operand,) = eqn.invars
    kept = _kept(operand.aval.shape)
    source = graph.without(operand, kept, eqn)
    axes = tuple(place for place, axis in enumerate(kept) if axis in eqn.params["axes"])
    if not axes:
        return source
    shape = [operand.aval.shape[axis] for axis in kept if axis not in eqn.params["axes"]]
    return graph.write(eqn, [source], shape, axes=axes)


def _of_broadcast(graph: _Narrow, eqn: Eqn) -> Any:
    shape, (operand, *sizes) = eqn.outvars[0].aval.shape, eqn.invars
    if sizes:
        return None
    axes = _kept(shape)
    kept = _kept(operand.aval.shape)
    along = tuple(axes.index(eqn.params["broadcast_dimensions"][axis]) for axis in kept)
    new = tuple(shape[axis] for axis in axes)
    source = graph.without(operand, kept, eqn)
    if along == tuple(range(len(new))) and len(kept) == len(new):
        return source
    return graph.write(eqn, [source], new, shape=new, broadcast_dimensions=along)


def _of_shape(graph: _Narrow, eqn: Eqn) -> Any:
    (operand, *sizes) = eqn.invars
    if sizes or (eqn.params.get("dimensions") and eqn.primitive.name == "reshape"):
        return None
    source = graph.without(operand, _kept(operand.aval.shape), eqn)
    shape = eqn.outvars[0].aval.shape
    made, result = reshape(source, [shape[axis] for axis in _kept(shape)], eqn)
    graph.eqns += made
    return result


def _of_transpose(graph: _Narrow, eqn: Eqn) -> Any:
    (operand,) = eqn.invars
    kept = _kept(operand.aval.shape)
    order = tuple(kept.index(axis) for axis in eqn.params["permutation"] if axis in kept)
    source = graph.without(operand, kept, eqn)
    if order == tuple(range(len(kept))):
        return source
    return graph.write(eqn, [source], [source.aval.shape[axis] for axis in order], permutation=order)


def _of_product(graph: _Narrow, eqn: Eqn) -> Any:
    kept = [_kept(atom.aval.shape) for atom in eqn.invars]
    sources = [graph.without(atom, axes, eqn) for atom, axes in zip(eqn.invars, kept, strict=True)]
    numbers = tuple(
        tuple(tuple(axes.index(i) for i in named if i in axes) for axes, named in zip(kept, pair, strict=True))
        for pair in eqn.params["dimension_numbers"]
    )
    shape = eqn.outvars[0].aval.shape
    return graph.write(eqn, sources, [shape[axis] for axis in _kept(shape)], dimension_numbers=numbers)


_REDUCTIONS = ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and", "reduce_or")

_RULES: dict[str, Callable[[_Narrow, Any], Any]] = {
    **dict.fromkeys(_REDUCTIONS, _of_reduction),
    **dict.fromkeys(("reshape", "squeeze", "expand_dims"), _of_shape),
    "broadcast_in_dim": _of_broadcast,
    "transpose": _of_transpose,
    "dot_general": _of_product,
}
