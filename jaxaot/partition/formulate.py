"""From a classified joint graph and a policy to a problem on plain numbers.

Values are the forward-computable variables that equations make, steps are those equations. Primals and constants cost
nothing to keep, so they do not occur at all, unless they are *paid*: the carries of a loop's body, of which each
iteration has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._jax import DropVar
from jaxaot._typing import Eqn, Var
from jaxaot.errors import PolicyError
from jaxaot.ir.primitives import is_pure
from jaxaot.ir.walk import variables
from jaxaot.partition.classify import Classified, Side
from jaxaot.partition.policies import Choice, HoldingExchanges, Policy
from jaxaot.partition.problem import FORBIDDEN, Problem, Solution

Cost = Callable[[Any], int]
"""Takes an equation to how long it takes, in picoseconds."""


@immutable
class Choices:
    """What a policy says on the equations of a graph that are not backward.

    Attributes:
      by_position: The choice for each, by its position.
      fixed: The positions of those that are not repeated even where a budget asks for it.
    """

    by_position: Mapping[int, Choice]
    fixed: frozenset[int]

    @property
    def under_a_budget(self) -> Choices:
        """The same, but what the policy would rather not repeat may be, at its cost."""
        relaxed = {
            # SAVE of a policy is a wish for speed, which the cost says already
            i: Choice.EITHER if choice is Choice.SAVE and i not in self.fixed else choice
            for i, choice in self.by_position.items()
        }
        return Choices(relaxed, self.fixed)

    def saving(self, positions: frozenset[int]) -> Choices:
        """The same, but the equations at some positions are not repeated at any budget."""
        return Choices({**self.by_position, **dict.fromkeys(positions, Choice.SAVE)}, self.fixed | positions)


def choose(graph: Classified, policy: Policy) -> Choices:
    """Returns a policy's choice for each equation that is not backward; one that is not pure is always saved.

    Raises:
      PolicyError: If the policy returns anything but a `Choice`.
    """
    positions = graph.positions(Side.FORWARD, Side.EITHER)
    choices = {i: choice_of(graph.eqns[i], policy) for i in positions}
    # to repeat a draw or a print changes what the program does
    fixed = {i for i in positions if not is_pure(graph.eqns[i])}
    if isinstance(policy, HoldingExchanges):
        fixed |= {i for i in positions if choices[i] is Choice.SAVE and policy.holds(graph.eqns[i])}
    return Choices(choices, frozenset(fixed))


def choice_of(eqn: Eqn, policy: Policy) -> Choice:
    """Returns a policy's choice for an equation; one that is not pure is always saved.

    Raises:
      PolicyError: If the policy returns anything but a `Choice`.
    """
    choice = policy(eqn)
    if not isinstance(choice, Choice):
        raise PolicyError(
            f"The policy `{getattr(policy, '__name__', policy)}` returned {choice!r} for the equation "
            f"`{eqn.primitive.name}`. Return `Choice.SAVE`, `Choice.RECOMPUTE` or `Choice.EITHER`."
        )
    return choice if is_pure(eqn) else Choice.SAVE


@immutable(eq=False)
class Formulation:
    """A problem and what its numbers stand for.

    Attributes:
      problem: The problem.
      values: The variable that each value is.
      positions: The position of the equation that each step is; -1 for that of a paid primal.
    """

    problem: Problem
    values: tuple[Any, ...]
    positions: tuple[int, ...]

    def saved(self, solution: Solution) -> list[Any]:
        """Returns the variables that a solution keeps, in the order in which they are computed."""
        return [self.values[value] for value in sorted(solution.saved | solution.offloaded)]

    def offloaded(self, solution: Solution) -> list[Any]:
        """Returns those among them that it moves away."""
        return [self.values[value] for value in sorted(solution.offloaded)]


def formulate(
    graph: Classified,
    choices: Choices,
    cost: Cost = lambda eqn: 1,
    offload_cost: Callable[[Any], int] | None = None,
    paid: Mapping[Any, int] | None = None,
    n_times: int = 1,
) -> Formulation:
    """Returns the problem of a classified joint graph.

    Args:
      graph: The graph.
      choices: What the policy says.
      cost: How long each equation takes.
      offload_cost: Takes a type to how long moving such a value away and back takes; None if nothing may be moved.
      paid: What it costs to keep the primals that are not free, and other variables for which that is not their
        bytes, or nothing for outputs; in bytes.
      n_times: How often the graph runs, and keeps what it saves.
    """
    # the caller holds these anyway, so keeping them adds no byte
    free = {*variables(graph.outputs), *graph.refills}
    paid = paid or {}
    number: dict[Any, int] = {}
    weights: list[int] = []
    offload_costs: list[int] = []
    producer: list[int] = []
    costs: list[int] = []
    operands: list[tuple[int, ...]] = []
    positions: list[int] = []

    def add_value(var: Var, weight: int) -> None:
        # values and steps are numbered in the order of the graph: a solution names them in it
        number[var] = len(weights)
        weights.append(weight)
        producer.append(len(costs))
        if offload_cost is not None:
            offload_costs.append(offload_cost(var.aval) * n_times if weight > 0 else FORBIDDEN)

    def end_step(cost: int, read: tuple[int, ...], position: int) -> None:
        costs.append(cost)
        operands.append(read)
        positions.append(position)

    paid_primals = [var for var in graph.primals if paid.get(var, 0) > 0]
    for var in paid_primals:
        add_value(var, paid[var])
        end_step(FORBIDDEN, (), -1)
    for i in graph.positions(Side.FORWARD, Side.EITHER):
        eqn, choice = graph.eqns[i], choices.by_position[i]
        read = tuple(number[var] for var in dict.fromkeys(variables(eqn.invars)) if var in number)
        made = [var for var in eqn.outvars if not isinstance(var, DropVar)]
        # a refill is there when the backward runs: to compute it again would be in vain
        is_fixed = choice is Choice.SAVE or any(var in graph.refills for var in made)
        for var in made:
            # RECOMPUTE forbids the value, SAVE the step: both at once can leave no way at all
            is_forbidden = choice is Choice.RECOMPUTE and var not in graph.refills
            weight = paid.get(var, 0 if var in free else graph.bytes(var) * n_times)
            add_value(var, FORBIDDEN if is_forbidden else weight)
        end_step(FORBIDDEN if is_fixed else cost(eqn) * n_times, read, i)
    needed = [number[var] for var in graph.needed]
    # a carry that the backward reads is stacked, or a step behind it is
    needed += [number[var] for var in paid_primals if var in graph.read_behind]
    problem = Problem(
        tuple(weights), tuple(offload_costs), tuple(producer), tuple(costs), tuple(operands), tuple(needed)
    )
    return Formulation(problem, tuple(number), tuple(positions))
