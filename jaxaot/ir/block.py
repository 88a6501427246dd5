"""Equations that come again right behind themselves, such as the layers of a model, as one function.

    b = sin a          call f a b
    c = mul b w0       call f c d        f x w = { y = sin x; z = mul y w; return z }
    d = sin c     →
    e = mul d w1

What transforms a call, such as AD, looks at the function once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jaxaot._jax import Jaxpr, Literal
from jaxaot._scopes import put_at, scopes
from jaxaot._typing import Eqn
from jaxaot.ir.walk import n_own_scopes, variables

_SHIFT = "fw+"


class Block(NamedTuple):
    """Where a graph repeats equations.

    Attributes:
      start: The first equation of the first iteration.
      length: How many equations an iteration has. Those of two compute the same, on operands of the same types.
      n: How many iterations there are.
    """

    start: int
    length: int
    n: int


class BlockFunction(NamedTuple):
    """The function that the iterations of a block are calls of.

    Attributes:
      eqns: Its equations: those of the first iteration.
      operands: For each iteration the variables that it takes; those of the first are the parameters of the function.
      results: For each iteration the variables that it makes and that something else reads.
    """

    eqns: Sequence[Eqn]
    operands: Sequence[Sequence[Any]]
    results: Sequence[Sequence[Any]]


def block_function(jaxpr: Jaxpr, block: Block) -> BlockFunction | None:
    """Returns the function of a block; None if its iterations are wired in different ways."""
    start, length, n = block
    eqns = jaxpr.eqns[start : start + n * length]
    if any(eqn.effects for eqn in eqns):
        return None
    makers = {var: (i, k) for i, eqn in enumerate(eqns) for k, var in enumerate(eqn.outvars)}
    operands: dict[Any, tuple[Any, ...]] = {}  # by the variable of the first iteration, those of all
    for j in range(length):
        for atoms in zip(*(eqns[i * length + j].invars for i in range(n)), strict=True):
            if isinstance(atoms[0], Literal):
                continue
            places = [makers.get(atom) for atom in atoms]
            inside = [place is not None and place[0] >= i * length for i, place in enumerate(places)]
            if all(inside):
                if len({(place[0] % length, place[1]) for place in places if place is not None}) > 1:
                    return None
            elif any(inside) or operands.setdefault(atoms[0], atoms) != atoms:
                return None
    needed: set[tuple[int, int]] = set()
    for i, eqn in enumerate(jaxpr.eqns):
        for var in variables(eqn.invars):
            if var in makers and makers[var][0] // length != (i - start) // length:
                needed.add((makers[var][0] % length, makers[var][1]))
    needed |= {(makers[var][0] % length, makers[var][1]) for var in variables(jaxpr.outvars) if var in makers}
    results = [[eqns[i * length + j].outvars[k] for j, k in sorted(needed)] for i in range(n)]
    return BlockFunction(eqns[:length], list(zip(*operands.values(), strict=True)) or [()] * n, results)


def shift_tag(n: int) -> str:
    """Returns the scope under which an iteration is called whose equations come `n` behind those of the first."""
    return f"{_SHIFT}{n}"


def unshifted(eqn: Eqn, forward: Jaxpr, tags: Sequence[str], firsts: Mapping[str, int]) -> Eqn:
    """Returns an equation of a joint graph with the tag, scopes and line of the iteration that it belongs to.

    Args:
      eqn: The equation: that of any iteration says that it is of the first, below what `shift_tag` gives.
      forward: The graph with the block.
      tags: The tag of each of its equations.
      firsts: The tag of each equation of the first iteration → its position.
    """
    entries = scopes(eqn)
    for place, (is_transform, name) in enumerate(entries):
        if not is_transform and name.startswith(_SHIFT):
            first = firsts[entries[place + 1][1]]
            other = first + int(name[len(_SHIFT) :])
            return put_at(eqn, place, tags[other], forward.eqns[first], forward.eqns[other], n_own_scopes)
    return eqn
