"""A graph in two: what is computed once, and what every call computes.

Some inputs are *frozen*: they hold parameters. A value is *fixed* if it depends on frozen inputs and constants alone.
What calls get in place of the frozen inputs are *packed* values, a cut through the fixed ones. It is the cut of fewest
bytes, as late as may be: a transposed weight takes the place of the weight, as does one of half the precision, but
neither a dequantized nor a broadcast one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

from jaxaot._jax import DropVar
from jaxaot._typing import ClosedJaxpr, Eqn
from jaxaot.ir.primitives import is_pure
from jaxaot.ir.rewrite import extract, rebuild
from jaxaot.ir.walk import aval_bytes, backward_slice, variables
from jaxaot.partition.solve import INFINITE, min_cut


class Fixed(dict[Any, int]):
    """The fixed values of a graph that depend on a frozen input: variable → which, as bits.

    Attributes:
      bytes: What each frozen input takes.
      positions: Of the equations that make fixed values, constants among them.
    """

    def __init__(self, closed: ClosedJaxpr, frozen: Collection[int]):
        """Looks which values are fixed."""
        jaxpr = closed.jaxpr
        super().__init__({jaxpr.invars[i]: 1 << k for k, i in enumerate(frozen)})
        self.bytes = [aval_bytes(jaxpr.invars[i].aval) for i in frozen]
        self.positions: set[int] = set()
        known = {*self, *jaxpr.constvars}
        for position, eqn in enumerate(jaxpr.eqns):
            operands = variables(eqn.invars)
            if not all(var in known for var in operands) or not is_pure(eqn):
                continue
            self.positions.add(position)
            known.update(eqn.outvars)
            inputs = 0
            for var in operands:
                inputs |= self.get(var, 0)
            if inputs:
                self.update((var, inputs) for var in eqn.outvars if not isinstance(var, DropVar))

    def grows(self, var: object) -> bool:
        """Returns whether a fixed value takes more bytes than all frozen inputs that it is made of."""
        return aval_bytes(var.aval) > sum(n for k, n in enumerate(self.bytes) if self[var] >> k & 1)


def fixed_first(closed: ClosedJaxpr, frozen: Collection[int]) -> ClosedJaxpr:
    """Returns a graph whose fixed values are computed before all others."""
    positions = Fixed(closed, frozen).positions
    eqns = closed.jaxpr.eqns
    first = [eqn for i, eqn in enumerate(eqns) if i in positions]
    later = [eqn for i, eqn in enumerate(eqns) if i not in positions]
    return rebuild(closed, [*first, *later], closed.jaxpr.outvars)


@dataclasses.dataclass(frozen=True, eq=False)
class Split:
    """A graph in two.

    Attributes:
      pack: From the frozen inputs to the packed values.
      run: From the packed values and the other inputs to the outputs.
      frozen: Which inputs of the graph are frozen.
      others: Which are not, in their order.
    """

    pack: ClosedJaxpr
    run: ClosedJaxpr
    frozen: tuple[int, ...]
    others: tuple[int, ...]


def split(closed: ClosedJaxpr, frozen: Collection[int], wanted: Collection[Any] = ()) -> Split:
    """Returns a graph in two.

    Args:
      closed: The graph.
      frozen: Which of its inputs hold parameters.
      wanted: Fixed values that are packed whatever their bytes.
    """
    jaxpr, frozen = closed.jaxpr, tuple(frozen)
    fixed = Fixed(closed, frozen)
    packed = _cheapest(jaxpr, fixed, frozenset(wanted))
    constants = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    others = tuple(i for i in range(len(jaxpr.invars)) if i not in frozen)

    def needed(targets: Sequence[Any], stop: Collection[Any], also: Collection[int] = ()) -> list[Eqn]:
        positions = backward_slice(jaxpr, targets, stop)
        return [eqn for i, eqn in enumerate(jaxpr.eqns) if i in positions or i in also]

    at_each_call = {i for i in range(len(jaxpr.eqns)) if i not in fixed.positions}
    read = [var for i in at_each_call for var in variables(jaxpr.eqns[i].invars)]
    inputs = [jaxpr.invars[i] for i in frozen]
    pack = extract(needed(packed, ()), inputs, packed, constants)
    run = extract(
        needed([*read, *jaxpr.outvars], packed, at_each_call),
        [*packed, *(jaxpr.invars[i] for i in others)],
        jaxpr.outvars,
        constants,
    )
    return Split(pack, run, frozen, others)


def _cheapest(jaxpr: object, fixed: Fixed, wanted: frozenset[Any]) -> list[Any]:
    """Returns the variables of the cut of fewest bytes that is closest to what calls compute."""
    number = {var: 2 + 2 * i for i, var in enumerate(fixed)}  # a node for being made, and the next for being read
    edges = []
    for i, (var, node) in enumerate(number.items()):
        edges.append((node, node + 1, 0 if var in wanted else max(1, aval_bytes(var.aval))))
        if i < len(fixed.bytes):
            edges.append((0, node, INFINITE))
    for position, eqn in enumerate(jaxpr.eqns):
        operands = [number[var] + 1 for var in variables(eqn.invars) if var in number]
        made = [number[var] for var in eqn.outvars if var in number]
        ends = made if position in fixed.positions else [1]
        edges += [(start, end, INFINITE) for start in operands for end in ends]
    edges += [(number[var] + 1, 1, INFINITE) for var in variables(jaxpr.outvars) if var in number]
    is_behind = min_cut(2 + 2 * len(number), edges, 0, 1).is_behind
    return [var for var, node in number.items() if not is_behind[node] and is_behind[node + 1]]
