"""One compiled function, called with many patterns of sharing among its arguments, agrees with PyTorch every time."""

import random

import numpy as np
import pytest

import jaxaot as ja
from tests.laws.programs import as_real, compare
from tests.seeds import seeds

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

SIZE = 3


def body_of(seed):
    """Returns a random function of three square tensors, the same for both libraries.

    Operands are cloned: what a write gives whose operand overlaps its target is undefined in PyTorch.
    """
    rng = random.Random(seed)
    steps = []
    for _ in range(rng.randint(2, 6)):
        a, b = rng.randrange(3), rng.randrange(3)
        i, j = rng.randrange(SIZE), rng.randrange(SIZE)
        steps.append(
            rng.choice([
                lambda v, a=a, b=b: v[a].add_(v[b].clone()),
                lambda v, a=a: v[a].mul_(0.5),
                lambda v, a=a, b=b: v[a].copy_(v[b].t().clone()),
                lambda v, a=a, b=b, i=i, j=j: v[a][i].sub_(v[b][:, j].clone()),
                lambda v, a=a, i=i: v[a].__setitem__((slice(None), i), 2.0),
                lambda v, a=a, b=b: v.append(v[a] @ v[b]),
                lambda v, a=a, b=b: v.append(v[a].tanh() + v[b]),
                lambda v, a=a: v.append(v[a].t()),
                lambda v, a=a, i=i: v.append(v[a].narrow(0, min(i, 1), 2)),
                lambda v: v[-1].add_(1),
                lambda v: v.append(v[-1].detach()),
                lambda v, a=a: v[a].t_(),
            ])
        )  # fmt: skip
    returned = [rng.randrange(-3, 3) for _ in range(rng.randint(1, 3))]

    def body(x, y, z):
        values = [x, y, z]
        for step in steps:
            step(values)
        return [values[k] for k in returned]

    return body


def numbers(seed, *size):
    return np.random.default_rng(seed).normal(size=size).astype(np.float32)


def arguments(lib, pattern, seed, grad):
    """Returns three square tensors that share memory as a pattern says, and leaves whose gradients to compare."""
    leaves = []

    def fresh(k, *size):
        made = lib.tensor(numbers(seed + k, *(size or (SIZE, SIZE))).tolist())
        if not grad:
            return made
        leaves.append(made.requires_grad_())
        return made * 1.0

    match pattern:
        case "apart":
            return (fresh(0), fresh(1), fresh(2)), leaves
        case "same twice":
            x = fresh(0)
            return (x, x, fresh(1)), leaves
        case "same thrice":
            x = fresh(0)
            return (x, x, x), leaves
        case "transposed":
            x = fresh(0)
            return (x, x.t(), fresh(1)), leaves
        case "overlapping rows":
            base = fresh(0, 5, SIZE)
            return (base[:3], base[1:4], base[2:]), leaves
        case "disjoint rows":
            base = fresh(0, 9, SIZE)
            return (base[:3], base[3:6], base[6:]), leaves
        case "columns":
            base = fresh(0, SIZE, 7)
            return (base[:, :3], base[:, 3:6], base[:, 1:4]), leaves
        case "base and view":
            base = fresh(0)
            return (base, base.view(9).view(3, 3), fresh(1)), leaves
        case "strided":
            base = fresh(0, 6, 6)
            return (base[::2, ::2], base[1::2, 1::2], base[3:, 3:]), leaves
        case "detached":
            x = fresh(0)
            return (x, x.detach(), fresh(1)), leaves
        case _:  # one without gradient
            x = lib.tensor(numbers(seed, SIZE, SIZE).tolist())
            return (x, fresh(1), fresh(2)), leaves


PATTERNS = (
    "apart", "same twice", "same thrice", "transposed", "overlapping rows", "disjoint rows", "columns", "base and view",
    "strided", "detached", "one without gradient",
)  # fmt: skip


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
