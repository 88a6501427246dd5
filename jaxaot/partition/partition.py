"""Cutting a joint graph into forward and backward: classify, choose, solve, split."""

from __future__ import annotations

from jaxaot._util import format_bytes
from jaxaot.ir.walk import aval_bytes
from jaxaot.partition.budget import extra_bytes, parse_budget, release_until_within
from jaxaot.partition.classify import classify
from jaxaot.partition.network import build_network, choose
from jaxaot.partition.policies import Policy, get_policy, policy_label, save_all
from jaxaot.partition.split import split
from jaxaot.plan.stages import JointGraph, Partition


def partition(
    joint: JointGraph, policy: str | Policy = "min_cut", memory_budget: float | str | None = None
) -> Partition:
    """Returns a joint graph cut into forward and backward.

    Args:
      joint: The joint graph.
      policy: The name of a policy, or a function from an equation to a `Choice`.
      memory_budget: The most that may be saved beyond primals and outputs: a fraction of what `save_all` would save, or
        a text such as `"512MiB"`. Where the policy saves more, what it never recomputes is recomputed after all.

    Raises:
      PolicyError: If there is no such policy.
      BudgetError: If the budget cannot be read or met.
    """
    function, label = get_policy(policy), policy_label(policy)
    graph = classify(joint)
    everything, _ = build_network(graph, choose(graph, save_all)).solve()
    choices = choose(graph, function)
    if memory_budget is None:
        saved, _ = build_network(graph, choices).solve()
    else:
        budget_bytes = parse_budget(memory_budget, extra_bytes(graph, everything))
        choices, saved = release_until_within(graph, choices, budget_bytes)
        label = f"{label} within {format_bytes(budget_bytes)}"
    save_all_bytes = sum(aval_bytes(var.aval) for var in everything if var not in graph.refills)
    return split(graph, saved, choices, label, save_all_bytes)
