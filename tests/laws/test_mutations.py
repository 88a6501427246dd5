"""Programs written by hand agree with PyTorch: values, geometry, sharing, versions, gradients; eagerly and compiled."""

from __future__ import annotations

from collections import Counter
from typing import Any

import jax
import pytest

import jaxaot as ja
from tests.laws import programs
from tests.laws.mutations import MUTATIONS, Mutation

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

AT_LEAST = {"writes": 48, "metadata": 12, "autograd": 15, "compiled": 11}


@pytest.fixture(autouse=True)
def _types_of_64_bits():
    """Dtypes are those of PyTorch."""
    with jax.enable_x64(True):
        yield


def eagerly(m: Any, program: Mutation) -> list[list[Any]]:
    """Returns inputs, observations and later observations of a run."""
    inputs = program.inputs(m)
    seen = program.body(m, *inputs)
    return [inputs, seen, program.then(m, inputs, seen) if program.then else []]


def compiled(program: Mutation) -> list[list[list[Any]]]:
    """Returns the same of two calls of one compiled function; what is no argument is reached through its closure."""
    held: list[Any] = []
    fn = ja.compile(lambda *args: program.body(ja, *args, *held))
    runs = []
    for _ in range(2):
        inputs = program.inputs(ja)
        n = program.n_arguments
        held[:] = [] if n is None else inputs[n:]
        seen = fn(*inputs[:n])
        runs.append([inputs, seen, program.then(ja, inputs, seen) if program.then else []])
    return runs


def flatten(observed: Any, tensor: type, unversioned: Any) -> tuple[list[Any], list[Any]]:
    """Returns the tensors with their gradients, and the other facts, of nested lists and tuples.

    Args:
      observed: The lists.
      tensor: The class of tensors.
      unversioned: Says of a tensor whether its version is no fact.
    """
    if isinstance(observed, tensor):
        version = None if unversioned(observed) else observed._version
        facts: list[Any] = [version, observed.is_leaf, str(observed.dtype).removeprefix("torch.")]
        if not (observed.is_leaf and observed.requires_grad):
            return [observed], facts
        return [observed, *([] if observed.grad is None else [observed.grad])], [*facts, observed.grad is None]
    if isinstance(observed, (list, tuple)):
        parts = [flatten(part, tensor, unversioned) for part in observed]
        return [t for tensors, _ in parts for t in tensors], [fact for _, facts in parts for fact in facts]
    return [], [observed]


def facts_of(program: Mutation, run: list[list[Any]], tensor: type) -> tuple[list[Any], list[Any]]:
    """Returns the tensors and the other facts of a run.

    How often a gradient was written while it was computed is nobody's business: its version is no fact.
    """
    grads = [x.grad for x in run[0] if x.is_leaf and x.grad is not None]
    return flatten(run, tensor, lambda t: not program.versions or any(t is grad for grad in grads))


def disagreements(program: Mutation, actual: list[list[Any]]) -> list[str]:
    """Returns every difference between what PyTorch and what a run of ours let one observe."""
    tensors, facts = facts_of(program, eagerly(torch, program), torch.Tensor)
    our_tensors, our_facts = facts_of(program, actual, ja.Tensor)
    problems = programs.compare(tensors, our_tensors)
    if len(facts) != len(our_facts):
        return [*problems, f"facts {our_facts} instead of {facts}"]
    for k, (fact, ours) in enumerate(zip(facts, our_facts, strict=True)):
        if isinstance(fact, str) and fact.startswith("refused:"):
            # a refusal of ours is also of PyTorch's class
            if not {fact.split()[1], "JaxaotError"} <= set(str(ours).split()):
                problems.append(f"fact {k}: {ours!r} instead of {fact.split()[1]}")
        elif fact != ours:
            problems.append(f"fact {k}: {ours!r} instead of {fact!r}")
    return problems


def test_there_are_enough_programs():
    counts = Counter(program.group for program in MUTATIONS.values())
    assert all(counts[group] >= n for group, n in AT_LEAST.items()), counts


@pytest.mark.parametrize("name", MUTATIONS)
def test_eagerly(name):
    program = MUTATIONS[name]
    problems = disagreements(program, eagerly(ja, program))
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", MUTATIONS)
def test_compiled(name):
    program = MUTATIONS[name]
    problems = [disagreements(program, run) for run in compiled(program)]
    assert problems == [[], []], "\n".join(problems[0] or problems[1])
