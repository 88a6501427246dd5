"""One compiled function, called with many patterns of sharing among its arguments, agrees with PyTorch every time."""

import random

import numpy as np
import pytest

import jaxaot as ja
from tests.laws.calls import PATTERNS, arguments, body_of
from tests.laws.programs import as_real, compare
from tests.seeds import seeds

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle


def gradients(lib, tensors, leaves):
    wanted = [t for t in tensors if t.requires_grad]
    if wanted:
        sum((as_real(lib, t) * (k + 1)).sum() for k, t in enumerate(wanted)).backward()
    return [np.zeros(tuple(leaf.shape)) if leaf.grad is None else leaf.grad.numpy() for leaf in leaves]


def check_call(body, step, pattern, seed, grad):
    """Returns how one call differs from PyTorch; None if PyTorch refuses it."""
    theirs, their_leaves = arguments(torch, pattern, seed, grad)
    ours, our_leaves = arguments(ja, pattern, seed, grad)
    try:
        expected = [*theirs, *body(*theirs)]
    except RuntimeError:
        return None
    actual = [*ours, *step(*ours)]
    problems = compare(expected, actual)
    problems += [
        f"v{i}: version {a._version} instead of {e._version}"
        for i, (e, a) in enumerate(zip(expected, actual, strict=True))
        if e._version != a._version
    ]
    identities = [[k for k, y in enumerate(tensors) if y is x] for tensors in (expected, actual) for x in tensors]
    if identities[: len(expected)] != identities[len(expected) :]:
        problems.append("an output is not the object that it should be")
    if grad and not problems:
        try:
            wanted = gradients(torch, expected, their_leaves)
        except RuntimeError:
            return problems  # PyTorch refuses: a tensor that it saved was written
        for i, (w, h) in enumerate(zip(wanted, gradients(ja, actual, our_leaves), strict=True)):
            if not np.allclose(w, h, rtol=1e-3, atol=1e-4, equal_nan=True):
                problems.append(f"leaf {i}: gradient {h} instead of {w}")
    return problems


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("seed", seeds(30, 10))
def test_calls_agree(seed, grad):
    body = body_of(seed)
    step = ja.compile(body)
    order = random.Random(seed).sample(PATTERNS, 5)
    refused = set()
    for iteration in range(2):
        for k, pattern in enumerate(order):
            if pattern in refused:
                continue
            problems = check_call(body, step, pattern, 100 * seed + 10 * k + iteration, grad)
            if problems is None:
                refused.add(pattern)
            else:
                assert not problems, f"{pattern}, turn {iteration}: " + "; ".join(problems)
        if iteration == 0:
            misses = step.cache_info().misses
    assert step.cache_info().misses == misses, "the second turn compiled again"
