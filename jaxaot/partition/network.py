"""The question of what to save, as a flow network.

Each forward-computable value becomes two nodes, *in* and *out*, joined by an edge that weighs what saving it costs. An
edge without limit leads from each operand's out to each result's in, from the source to the in of a value that must not
be recomputed or is a refill, and from the out of a needed value to the sink. A value whose edge is cut is saved; what
lies behind the cut is recomputed from it. Primals and constants cost nothing to keep, so they do not occur at all. The
construction is that of the min-cut rematerialization in functorch's partitioner, with exact bytes for weights.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from jaxaot._jax import DropVar
from jaxaot.errors import PolicyError
from jaxaot.ir.primitives import is_pure
from jaxaot.ir.walk import aval_bytes, variables
from jaxaot.partition.classify import Classified, Side
from jaxaot.partition.policies import Choice, Policy
from jaxaot.partition.solve import INFINITE, Cut, min_cut

_SOURCE, _SINK = 0, 1


@dataclasses.dataclass(frozen=True, eq=False)
class FlowNetwork:
    """A network whose cuts are the ways to save what the backward needs.

    Attributes:
      values: The forward-computable variables; value `i` has the nodes `2 + 2 * i` (in) and `3 + 2 * i` (out).
      weights: What saving each costs, in bytes, or `INFINITE` if it may not be saved.
      edges: Triples (from, to, capacity). Node 0 is the source, node 1 the sink.
    """

    values: tuple[Any, ...]
    weights: tuple[int, ...]
    edges: tuple[tuple[int, int, int], ...]

    @property
    def n_nodes(self) -> int:
        """How many nodes there are."""
        return 2 + 2 * len(self.values)

    def solve(self) -> tuple[list[Any], Cut]:
        """Returns the variables to save, in the order in which they are computed, and the cut.

        Raises:
          ValueError: If no cut of finite weight exists.
        """
        cut = min_cut(self.n_nodes, self.edges, _SOURCE, _SINK)
        sides = cut.sink_side
        return [v for i, v in enumerate(self.values) if not sides[2 + 2 * i] and sides[3 + 2 * i]], cut


def build_network(graph: Classified, choices: dict[int, Choice]) -> FlowNetwork:
    """Returns the network of a classified joint graph.

    Args:
      graph: The graph.
      choices: What the policy says on each equation that is not backward, by position.
    """
    free = {*variables(graph.outputs), *graph.refills}
    values, weights, edges = [], [], []
    number: dict[Any, int] = {}
    for i in graph.positions(Side.FORWARD, Side.EITHER):
        eqn, choice = graph.eqns[i], choices[i]
        sources = [number[var] for var in dict.fromkeys(variables(eqn.invars)) if var in number]
        for var in eqn.outvars:
            if isinstance(var, DropVar):
                continue
            number[var] = len(values)
            values.append(var)
            enter, leave = 2 + 2 * number[var], 3 + 2 * number[var]
            is_fixed = choice is Choice.SAVE or var in graph.refills
            if choice is Choice.RECOMPUTE and not is_fixed:
                weight = INFINITE
            else:
                weight = 0 if var in free else aval_bytes(var.aval)
            weights.append(weight)
            edges.append((enter, leave, weight))
            if is_fixed:
                edges.append((_SOURCE, enter, INFINITE))
            edges.extend((3 + 2 * source, enter, INFINITE) for source in sources)
    edges.extend((3 + 2 * number[var], _SINK, INFINITE) for var in graph.needed)
    return FlowNetwork(tuple(values), tuple(weights), tuple(edges))


def choose(graph: Classified, policy: Policy) -> dict[int, Choice]:
    """Returns what a policy says on each equation that is not backward, by position.

    An equation that is not pure is always saved, whatever the policy says.

    Raises:
      PolicyError: If the policy returns anything but a `Choice`.
    """
    choices = {}
    for i in graph.positions(Side.FORWARD, Side.EITHER):
        choice = policy(graph.eqns[i])
        if not isinstance(choice, Choice):
            raise PolicyError(
                f"The policy `{getattr(policy, '__name__', policy)}` returned {choice!r} for the equation "
                f"`{graph.eqns[i].primitive.name}`. Return `Choice.SAVE`, `Choice.RECOMPUTE` or `Choice.EITHER`."
            )
        choices[i] = choice if is_pure(graph.eqns[i]) else Choice.SAVE
    return choices
