"""The cut is the least: against networkx, and against trying all."""

import itertools
import random

import jax.numpy as jnp
import networkx as nx
import pytest

from jaxaot.ir.walk import aval_bytes, variables
from jaxaot.partition.classify import Side, classify
from jaxaot.partition.formulate import Choices, choose, formulate
from jaxaot.partition.network import Network
from jaxaot.partition.policies import Choice
from jaxaot.partition.policies import min_cut as min_cut_policy
from jaxaot.partition.solve import INFINITE, min_cut
from tests.cases import each
from tests.partition.programs import joint_of, small_program


def random_network(seed, n_nodes, largest):
    choose_from = random.Random(seed)
    edges = []
    for _ in range(3 * n_nodes):
        u, v = choose_from.sample(range(n_nodes), 2)
        edges.append((u, v, INFINITE if choose_from.random() < 0.1 else choose_from.randrange(largest)))
    return edges


@each("seed", range(40))
def test_weight_agrees_with_networkx(seed):
    n_nodes = 14
    edges = random_network(seed, n_nodes, largest=50 if seed % 2 else 2**45)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n_nodes))
    for u, v, capacity in edges:
        old = graph[u][v]["capacity"] if graph.has_edge(u, v) else 0
        graph.add_edge(u, v, capacity=float("inf") if capacity == INFINITE else old + capacity)
    try:
        weight, _ = nx.minimum_cut(graph, 0, 1)
    except nx.NetworkXUnbounded:
        with pytest.raises(ValueError, match="infinite edges"):
            min_cut(n_nodes, edges, 0, 1)
        return
    cut = min_cut(n_nodes, edges, 0, 1)
    assert cut.weight == weight
    assert cut.is_behind[1] and not cut.is_behind[0]


def test_capacities_beyond_32_bits():
    edges = [(0, 2, INFINITE), (2, 3, 2**41), (3, 1, INFINITE), (0, 3, 2**40 + 7), (3, 1, 5), (3, 1, INFINITE)]
    assert min_cut(4, edges, 0, 1).weight == 2**41 + 2**40 + 7


@pytest.mark.parametrize("factor", [2**50, 3**45, 10**30])
def test_capacities_of_any_size(factor):
    n_nodes = 12
    for seed in range(12):
        edges = random_network(seed, n_nodes, largest=2**40)
        larger = [(u, v, c if c == INFINITE else c * factor + (u * 7 + v) % 5) for u, v, c in edges]
        graph = nx.DiGraph()
        graph.add_nodes_from(range(n_nodes))
        for u, v, capacity in larger:
            old = graph[u][v]["capacity"] if graph.has_edge(u, v) else 0
            graph.add_edge(u, v, capacity=10**60 if capacity == INFINITE else old + capacity)
        weight, _ = nx.minimum_cut(graph, 0, 1)
        if weight >= 10**60:
            with pytest.raises(ValueError, match="infinite edges"):
                min_cut(n_nodes, larger, 0, 1)
        else:
            assert min_cut(n_nodes, larger, 0, 1).weight == weight


def test_parallel_infinite_edges():
    assert min_cut(3, [(0, 2, INFINITE), (0, 2, INFINITE), (2, 1, 3), (2, 1, 4)], 0, 1).weight == 7


def test_equal_cuts_give_the_one_at_the_sink():
    cut = min_cut(4, [(0, 2, 5), (2, 3, 5), (3, 1, 5)], 0, 1)
    assert cut.is_behind.tolist() == [False, True, False, False]


def test_no_edges():
    assert min_cut(2, [], 0, 1).weight == 0


def exhaustive(graph, choices):
    """Returns the weight of the cheapest set of values from which the backward can compute all that it needs."""
    positions = graph.positions(Side.FORWARD, Side.EITHER)
    values = [(i, var) for i in positions for var in graph.eqns[i].outvars]
    free = set(variables(graph.outputs))
    costs = {var: 0 if var in free else aval_bytes(var.aval) for _, var in values}
    savable = [var for i, var in values if choices[i] is not Choice.RECOMPUTE]
    best = None
    for kept in itertools.chain.from_iterable(itertools.combinations(savable, n) for n in range(len(savable) + 1)):
        weight = sum(costs[var] for var in kept)
        if best is not None and weight >= best:
            continue
        known = set(kept)
        for i in positions:
            operands = [v for v in variables(graph.eqns[i].invars) if v in graph.producer]
            if choices[i] is not Choice.SAVE and all(v in known for v in operands):
                known.update(graph.eqns[i].outvars)
        if all(var in known for var in graph.needed):
            best = weight
    return best


def small_graph(seed):
    """Returns the first graph from a seed on that has few enough values to try all sets of them."""
    while True:
        graph = classify(joint_of(small_program(seed), (jnp.ones((4, 4)),), (0,), passes=("cse", "dce")))
        if sum(len(graph.eqns[i].outvars) for i in graph.positions(Side.FORWARD, Side.EITHER)) <= 14:
            return graph
        seed += 1000


@pytest.mark.slow
@each("seed", range(25))
def test_weight_is_the_least_of_all(seed):
    """Every set of values is tried, with random choices."""
    graph = small_graph(seed)
    pick = random.Random(seed)
    choices = choose(graph, min_cut_policy)
    for _ in range(3):
        wanted = exhaustive(graph, choices.by_position)
        assert Network(formulate(graph, choices).problem).least_bytes().weight == wanted
        choices = Choices({i: pick.choice([Choice.SAVE, Choice.EITHER]) for i in choices.by_position}, choices.fixed)


def test_a_big_network():
    n_values, pick = 20_000, random.Random(0)
    edges = [(0, 2, INFINITE)]
    for i in range(n_values):
        edges.append((2 + 2 * i, 3 + 2 * i, pick.randrange(1, 2**24)))
        edges += [(3 + 2 * pick.randrange(max(0, i - 30), i), 2 + 2 * i, INFINITE) for _ in range(2) if i]
    edges += [(3 + 2 * i, 1, INFINITE) for i in range(0, n_values, 97)]
    cut = min_cut(2 + 2 * n_values, edges, 0, 1)
    side = cut.is_behind
    assert not side[0] and side[1]
    crossing = [weight for u, v, weight in edges if not side[u] and side[v]]
    assert INFINITE not in crossing and cut.weight == sum(crossing)
