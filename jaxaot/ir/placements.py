"""Which part of each value of a graph one device holds: placements of inputs, carried through the equations.

A *placement* says for each axis of a value along which axes of the mesh it is divided. XLA decides where values lie
that nobody placed. Here it is guessed as its partitioner decides most often: what is computed lies as its operands do.
Where two want the same axis of the mesh, the larger one has it, and the other is gathered. A sum over a divided axis is
whole. What a program asks for wins, and goes back to what was made without a placement, such as zeros.

Placements are for estimates alone: a wrong one costs memory or time, and never a wrong value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from jax.sharding import NamedSharding, PartitionSpec

from jaxaot._immutable import immutable
from jaxaot._jax import Literal, ShapedArray, scan_counts
from jaxaot._typing import Atom, Aval, Eqn, Jaxpr, Var
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.walk import sub_jaxprs

Placement = tuple[tuple[str, ...], ...]
"""For each axis of a value, the axes of the mesh along which it is divided."""


@immutable
class Placed:
    """How the inputs of a graph lie.

    Attributes:
      sizes: How many devices each axis of the mesh has; empty if no input is known to be divided.
      inputs: The placement of each input; None where it is not known.
      outputs: How outputs are to lie; None where nothing asks for it.
    """

    sizes: tuple[tuple[str, int], ...] = ()
    inputs: tuple[Placement | None, ...] = ()
    outputs: tuple[Placement | None, ...] = ()


NOWHERE = Placed()


def placed_by(shardings: Sequence[Any]) -> Placed:
    """Returns how inputs lie by their shardings, each a `NamedSharding`, or None."""
    sizes: dict[str, int] = {}
    found = []
    for sharding in shardings:
        is_known = isinstance(sharding, NamedSharding)
        sizes |= dict(sharding.mesh.shape) if is_known else {}
        found.append(_of_spec(sharding.spec) if is_known else None)
    return Placed(tuple(sizes.items()), tuple(found)) if sizes else NOWHERE


def _of_spec(spec: Iterable[Any]) -> Placement:
    free = PartitionSpec.UNCONSTRAINED
    return tuple(() if part in (None, free) else part if isinstance(part, tuple) else (part,) for part in spec)


def speaks_of_meshes(jaxpr: Jaxpr) -> bool:
    """Returns whether a graph says by itself where some of its values lie."""
    typed = (getattr(var.aval, "sharding", None) for var in (*jaxpr.invars, *jaxpr.constvars))
    if any(sharding is not None and not sharding.mesh.empty and any(sharding.spec) for sharding in typed):
        return True
    return bool(shardings_in(jaxpr))


def shardings_in(jaxpr: Jaxpr) -> list[Any]:
    """Returns the shardings that equations of a graph and its bodies ask for."""
    found = []
    for eqn in jaxpr.eqns:
        asked = eqn.params.get("sharding", eqn.params.get("dst_sharding"))
        found += [asked] if isinstance(asked, NamedSharding) else []
        for body in sub_jaxprs(eqn):
            found += shardings_in(body)
    return found


def placements_of(jaxpr: Jaxpr, placed: Placed) -> Placements | None:
    """Returns which part of each value of an open graph one device holds; None where nothing is divided."""
    if placed is NOWHERE:
        return None
    found = Placements(jaxpr, placed)
    return found if found.of else None


class Placements:
    """Which part of each value of a graph, and of its bodies, one device holds.

    Attributes:
      of: The placement of each variable that is divided.
      sizes: How many devices each axis of the mesh has.
    """

    def __init__(self, jaxpr: Jaxpr, placed: Placed):
        """Takes an open graph, and how its inputs lie."""
        self.of: dict[Any, Placement] = {}
        self.sizes: dict[str, int] = dict(placed.sizes)
        for var, placement in zip(jaxpr.invars, placed.inputs, strict=False):
            self._note(var, placement)
        for var in (*jaxpr.invars, *jaxpr.constvars):
            self._note(var, self._typed(var.aval))
        self._run(jaxpr)
        for atom, placement in zip(jaxpr.outvars, placed.outputs, strict=False):
            if not isinstance(atom, Literal):
                self._note(atom, placement)
        if self.of:
            self._run_back(jaxpr)

    def part(self, atom: Atom) -> Aval:
        """Returns the type of the part of a value that one device holds, the largest of them."""
        placement = self._get(atom)
        if placement is None:
            return atom.aval
        shape = (-(-size // self._n(axes)) for size, axes in zip(atom.aval.shape, placement, strict=True))
        return ShapedArray(tuple(shape), atom.aval.dtype)

    def placed(self, inputs: Sequence[Any], outputs: Sequence[Any] = ()) -> Placed:
        """Returns how some values lie, as inputs and outputs of another graph."""
        placements = tuple(map(self._get, inputs)), tuple(map(self._get, outputs))
        return Placed(tuple(self.sizes.items()), *placements)

    def _n(self, axes: Sequence[str]) -> int:
        return math.prod(self.sizes.get(axis, 1) for axis in axes)

    def _get(self, atom: Atom | None) -> Placement | None:
        return None if atom is None or isinstance(atom, Literal) else self.of.get(atom)

    def _note(self, var: Var, placement: Placement | None) -> None:
        """Notes a placement; an axis of the mesh that does not divide a value is left out."""
        shape = getattr(var.aval, "shape", ())
        if placement is None or not any(placement) or not all(isinstance(size, int) for size in shape):
            return
        placement = (*placement, *[()] * len(shape))[: len(shape)]
        used: set[str] = set()
        kept = []
        for size, axes in zip(shape, placement, strict=True):
            axes = tuple(axis for axis in axes if axis not in used and self.sizes.get(axis, 1) > 1)
            kept.append(axes if size >= self._n(axes) else ())
            used.update(kept[-1])
        if any(kept):
            self.of[var] = tuple(kept)
        else:
            self.of.pop(var, None)

    def _typed(self, aval: Aval) -> Placement | None:
        """Returns the placement that a type says, where axes of its mesh are explicit."""
        sharding = getattr(aval, "sharding", None)
        if sharding is None or sharding.mesh.empty or not any(sharding.spec):
            return None
        self.sizes |= dict(sharding.mesh.shape)
        return _of_spec(sharding.spec)

    # -- from operands to results --------------------------------------------------------------------------------------

    def _run(self, jaxpr: Jaxpr) -> None:
        for eqn in jaxpr.eqns:
            for var, placement in zip(eqn.outvars, self._results(eqn), strict=False):
                self._note(var, self._typed(var.aval) or placement)

    def _results(self, eqn: Eqn) -> Sequence[Placement | None]:
        name = eqn.primitive.name
        if name == "sharding_constraint" and isinstance(eqn.params["sharding"], NamedSharding):
            sharding = eqn.params["sharding"]
            self.sizes |= dict(sharding.mesh.shape)
            return [_of_spec(sharding.spec)]
        if name == "shard_map":
            self.sizes |= dict(eqn.params["mesh"].shape)
            return list(map(_of_spec, eqn.params["out_specs"]))
        if not any(self._get(atom) for atom in eqn.invars) and kind(eqn) < Kind.CONTROL:
            return []
        if name in ("scan", "while", "cond"):
            return self._of_control(eqn)
        rule = _RULES.get(name)
        if rule is not None:
            return [rule(self, eqn)]
        for body in sub_jaxprs(eqn):
            if len(body.invars) == len(eqn.invars) and len(body.outvars) == len(eqn.outvars):
                return self._through(body, eqn.invars)
        if len(eqn.outvars) == len(eqn.invars) and all(map(_alike, eqn.invars, eqn.outvars)):
            return [self._get(atom) for atom in eqn.invars]
        return [self._like_operands(eqn, var) for var in eqn.outvars]

    def _through(self, body: Jaxpr, atoms: Sequence[Any], first_row: int | None = None) -> list[Placement | None]:
        """Returns how the results of a body lie; of operands from `first_row` on it sees rows."""
        for i, (var, atom) in enumerate(zip(body.invars, atoms, strict=True)):
            placement, is_row = self._get(atom), first_row is not None and i >= first_row
            self._note(var, placement[1:] if placement and is_row else placement)
        self._run(body)
        return [self._get(atom) for atom in body.outvars]

    def _of_control(self, eqn: Eqn) -> list[Placement | None]:
        name, params = eqn.primitive.name, eqn.params
        if name == "cond":
            found: list[Placement | None] = [None] * len(eqn.outvars)
            for branch in params["branches"]:
                made = self._through(branch.jaxpr, eqn.invars[1:])
                found = [known or new for known, new in zip(found, made, strict=True)]
            return found
        if name == "while":
            first = params["cond_nconsts"]
            body, atoms, n_consts = params["body_jaxpr"].jaxpr, eqn.invars[first:], params["body_nconsts"]
            self._through(body, atoms)
            return self._carried(body, n_consts, len(body.outvars))
        n_consts, n_carry = scan_counts(eqn)
        body = params["jaxpr"].jaxpr
        self._through(body, eqn.invars, n_consts + n_carry)
        found = self._carried(body, n_consts, n_carry)
        rows = (self._get(atom) for atom in body.outvars[n_carry:])
        return [*found, *(row and ((), *row) for row in rows)]

    def _carried(self, body: Jaxpr, n_consts: int, n_carry: int) -> list[Placement | None]:
        """Returns how what a loop carries lies: as it comes, or where that is whole, as the body makes it."""
        found: list[Placement | None] = []
        is_new = False
        for var, atom in zip(body.invars[n_consts : n_consts + n_carry], body.outvars, strict=False):
            if self.of.get(var) is None and self._get(atom) is not None:
                self._note(var, self._get(atom))
                is_new = True
            found.append(self.of.get(var))
        if is_new:
            self._run(body)
        return found

    def _like_operands(self, eqn: Eqn, var: Var) -> Placement | None:
        """Returns how a result lies whose axes are those of operands of as many axes, where they are equally long."""
        shape = getattr(var.aval, "shape", ())
        merged: list[tuple[str, ...]] = [()] * len(shape)
        for atom in sorted(eqn.invars, key=lambda atom: -math.prod(getattr(atom.aval, "shape", ()))):
            placement = self._get(atom)
            if placement and len(placement) == len(shape):
                taken = {axis for axes in merged for axis in axes}
                for i, axes in enumerate(placement):
                    if atom.aval.shape[i] == shape[i] and not merged[i] and taken.isdisjoint(axes):
                        merged[i] = axes
        return tuple(merged)

    # -- from results to what was made without a placement -------------------------------------------------------------

    def _run_back(self, jaxpr: Jaxpr) -> None:
        made = {var for eqn in jaxpr.eqns for var in eqn.outvars}
        for eqn in reversed(jaxpr.eqns):
            name = eqn.primitive.name
            if name == "shard_map":
                wanted = zip(eqn.invars, map(_of_spec, eqn.params["in_specs"]), strict=True)
            elif Kind.VIEW < kind(eqn) <= Kind.TRANSCENDENTAL or name in ("place_as", "optimization_barrier"):
                pairs = zip(eqn.invars, eqn.outvars * len(eqn.invars), strict=False)
                wanted = [(atom, self.of.get(var)) for atom, var in pairs if _alike(atom, var)]
            elif name == "transpose":
                wanted = [(eqn.invars[0], _untransposed(self.of.get(eqn.outvars[0]), eqn))]
            elif name == "scatter-add":
                wanted = [(eqn.invars[0], self.of.get(eqn.outvars[0]))]
            elif name == "scan":
                wanted = self._wanted_by_scan(eqn)
            else:
                continue
            for atom, placement in wanted:
                if placement and not isinstance(atom, Literal) and atom in made and atom not in self.of:
                    self._note(atom, placement)

    def _wanted_by_scan(self, eqn: Eqn) -> list[tuple[Any, Placement | None]]:
        """Has the body of a loop know what is wanted of its results; returns what it wants of its operands."""
        n_consts, n_carry = scan_counts(eqn)
        body = eqn.params["jaxpr"].jaxpr
        for i, (atom, var) in enumerate(zip(body.outvars, eqn.outvars, strict=True)):
            placement = self.of.get(var)
            if placement and not isinstance(atom, Literal) and atom not in self.of:
                self._note(atom, placement if i < n_carry else placement[1:])
        self._run_back(body)
        carried = zip(eqn.invars[n_consts:], eqn.outvars[:n_carry], strict=False)
        return [(atom, self.of.get(var)) for atom, var in carried]


def _alike(atom: Atom, other: Atom) -> bool:
    return getattr(atom.aval, "shape", None) == getattr(other.aval, "shape", ())


# -- rules for primitives ----------------------------------------------------------------------------------------------


def _transpose(known: Placements, eqn: Eqn) -> Placement | None:
    placement = known._get(eqn.invars[0])
    return placement and tuple(placement[i] for i in eqn.params["permutation"])


def _untransposed(placement: Placement | None, eqn: Eqn) -> Placement | None:
    order = eqn.params["permutation"]
    return placement and tuple(placement[order.index(i)] for i in range(len(order)))


def _broadcast(known: Placements, eqn: Eqn) -> Placement | None:
    placement, shape = known._get(eqn.invars[0]), eqn.params["shape"]
    found: list[tuple[str, ...]] = [()] * len(shape)
    for axis, place in enumerate(eqn.params["broadcast_dimensions"]):
        if placement and eqn.invars[0].aval.shape[axis] == shape[place]:
            found[place] = placement[axis]
    return tuple(found)


def _reduce(known: Placements, eqn: Eqn) -> Placement | None:
    placement = known._get(eqn.invars[0])
    return placement and tuple(axes for i, axes in enumerate(placement) if i not in eqn.params["axes"])


def _squeeze(known: Placements, eqn: Eqn) -> Placement | None:
    placement = known._get(eqn.invars[0])
    return placement and tuple(axes for i, axes in enumerate(placement) if i not in eqn.params["dimensions"])


def _reshape(known: Placements, eqn: Eqn) -> Placement | None:
    """The axes that are merged, or that one is split into, lie as the first of them does."""
    placement = known._get(eqn.invars[0])
    if placement is None:
        return None
    before, after = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    found: list[tuple[str, ...]] = [()] * len(after)
    i = k = 0
    while i < len(before) and k < len(after):
        first, place, left, right = i, k, before[i], after[k]
        i, k = i + 1, k + 1
        while left != right and (i < len(before) if left < right else k < len(after)):
            if left < right:
                left, i = left * before[i], i + 1
            else:
                right, k = right * after[k], k + 1
        while first < i - 1 and before[first] == 1:
            first += 1
        while place < k - 1 and after[place] == 1:
            place += 1
        if after[place] % known._n(placement[first]) == 0:
            found[place] = placement[first]
    return tuple(found)


def _dot(known: Placements, eqn: Eqn) -> Placement | None:
    (contracted, batch) = eqn.params["dimension_numbers"]
    sides = []
    for atom, summed, shared in zip(eqn.invars, contracted, batch, strict=True):
        placement = known._get(atom) or ((),) * len(atom.aval.shape)
        free = [i for i in range(len(placement)) if i not in summed and i not in shared]
        sides.append(([placement[i] for i in shared], [placement[i] for i in free], math.prod(atom.aval.shape)))
    (left_batch, left, left_size), (right_batch, right, right_size) = sides
    shared = [one or other for one, other in zip(left_batch, right_batch, strict=True)]
    first, second = (left, right) if left_size >= right_size else (right, left)
    taken = {axis for axes in (*shared, *first) for axis in axes}
    second[:] = [axes if taken.isdisjoint(axes) else () for axes in second]
    return (*shared, *left, *right)


def _convolution(known: Placements, eqn: Eqn) -> Placement | None:
    image, kernel, result = eqn.params["dimension_numbers"]
    placements = [known._get(atom) or ((),) * len(atom.aval.shape) for atom in eqn.invars]
    found: list[tuple[str, ...]] = [()] * len(result)
    found[result[0]] = placements[0][image[0]]
    if not set(found[result[0]]) & set(placements[1][kernel[0]]):
        found[result[1]] = placements[1][kernel[0]]
    return tuple(found)


def _gather(known: Placements, eqn: Eqn) -> Placement | None:
    """A table that is whole along what is taken of it lies so behind it; the rest lies as the indices do."""
    numbers, sizes = eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
    table, indices = known._get(eqn.invars[0]), known._get(eqn.invars[1])
    gone = {*numbers.collapsed_slice_dims, *getattr(numbers, "operand_batching_dims", ())}
    left = iter([i for i in range(len(sizes)) if i not in gone])
    of_indices = iter(indices or ())
    found, used = [], {axis for axes in indices or () for axis in axes}
    for i in range(len(eqn.outvars[0].aval.shape)):
        if i in numbers.offset_dims:
            source = next(left)
            is_whole = table is not None and sizes[source] == eqn.invars[0].aval.shape[source]
            axes = table[source] if table is not None and is_whole else ()
            found.append(axes if used.isdisjoint(axes) else ())
        else:
            found.append(next(of_indices, ()))
    return tuple(found)


def _first_operand(known: Placements, eqn: Eqn) -> Placement | None:
    return known._get(eqn.invars[0])


def _place_as(known: Placements, eqn: Eqn) -> Placement | None:
    return known._get(eqn.invars[1]) or known._get(eqn.invars[0])


_REDUCTIONS = "reduce_sum reduce_max reduce_min reduce_prod reduce_and reduce_or argmax argmin reduce_xor"
_RULES: Mapping[str, Callable[[Placements, Eqn], Placement | None]] = {
    "transpose": _transpose, "broadcast_in_dim": _broadcast, "squeeze": _squeeze, "reshape": _reshape,
    "dot_general": _dot, "conv_general_dilated": _convolution, "gather": _gather, "place_as": _place_as,
    "scatter": _first_operand, "scatter-add": _first_operand, **dict.fromkeys(_REDUCTIONS.split(), _reduce),
}  # fmt: skip
