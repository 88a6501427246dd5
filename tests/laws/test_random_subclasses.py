"""Random programs on pairs of tensors, whose halves are windows of one memory: as on plain tensors, and compiled.

A program makes pairs of windows of two vectors, or is given such pairs beside the vectors, computes with them, writes
to them through views, and to the vectors.
As `TwoTensor`s and compiled it does what it does with two plain tensors each, one statement after the other.

`JAXAOT_PROGRAMS=2000 pytest tests/laws/test_random_subclasses.py` runs that many.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.subclasses import TwoTensor
from tests.seeds import seeds

LENGTH, WIDTH = 10, 4

COMPUTE = {
    "sin": lambda x, y: x.sin(),
    "mul": lambda x, y: x * y,
    "sub": lambda x, y: x - 0.5 * y,
    "tanh": lambda x, y: (x + 1).tanh(),
    "reversed": lambda x, y: x.flip(0) + y,
    "matrix": lambda x, y: (x.view(2, 2) @ y.view(2, 2)).view(4),
    "sum": lambda x, y: x + y.sum(),
    "detached": lambda x, y: x.detach() * y,
}
VIEWS = {
    "all": lambda x: x,
    "half": lambda x: x[1:3],
    "strided": lambda x: x[::2],
    "matrix": lambda x: x.view(2, 2)[:, 1],
    "alias": lambda x: x.view(2, 2).t(),
}
WRITE = {
    "mul_": lambda x, y: x.mul_(0.5),
    "add_": lambda x, y: x.add_(y),
    "copy_": lambda x, y: x.copy_(y),
    "fill_": lambda x, y: x.fill_(0.25),
    "tanh_": lambda x, y: x.tanh_(),
}


class Plain:
    """Two plain tensors, and each function on both."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    @staticmethod
    def apply(fn, *pairs):
        return Plain(fn(*(p.a for p in pairs)), fn(*(p.b for p in pairs)))


class Wrapped:
    """The same by a subclass."""

    def __new__(cls, a, b):
        return TwoTensor(a, b)

    @staticmethod
    def apply(fn, *pairs):
        return fn(*pairs)


def grow(seed):
    """Returns the statements of a program."""
    rng = random.Random(seed)
    statements, n = [], 2
    for _ in range(2):
        kind = rng.choice(["pair", "passed"])
        statements.append((kind, rng.randrange(LENGTH - WIDTH + 1), rng.randrange(LENGTH - WIDTH + 1)))
    for _ in range(rng.randrange(3, 7)):
        kind = rng.choice(["pair", "compute", "compute", "write", "write", "base"])
        if kind == "pair":
            statements.append((kind, rng.randrange(LENGTH - WIDTH + 1), rng.randrange(LENGTH - WIDTH + 1)))
            n += 1
        elif kind == "compute":
            statements.append((kind, rng.choice(list(COMPUTE)), rng.randrange(n), rng.randrange(n)))
            n += 1
        elif kind == "write":
            names = rng.choice(list(WRITE)), rng.choice(list(VIEWS))
            statements.append((kind, *names, rng.randrange(n), rng.randrange(n)))
        else:
            statements.append((kind, rng.randrange(LENGTH)))
    return statements, sorted(rng.sample(range(n), min(n, 3)))


def program(statements, returned, made):
    """Returns a function of two vectors and a pair."""

    def run(first, second, given, passed):
        pairs = []
        for kind, *rest in statements:
            if kind == "pair":
                i, j = rest
                pairs.append(made(first[i : i + WIDTH], second[j : j + WIDTH]))
            elif kind == "passed":
                pairs.append(passed[len(pairs)])
            elif kind == "compute":
                name, i, j = rest
                pairs.append(made.apply(COMPUTE[name], pairs[i], pairs[j]))
            elif kind == "write":
                name, view, i, j = rest
                target = made.apply(VIEWS[view], pairs[i])
                value = made.apply(lambda x: x.mean(), pairs[j])  # of both, before either is written
                made.apply(WRITE[name], target, value)
            else:
                first[rest[0] :].mul_(1.5)
        last = made.apply(lambda x, y: x * y, pairs[-1], given)
        return [*(pairs[i] for i in returned), last]

    return run


def call(run, made, seed, statements):
    """Returns the values of all that a call does: vectors, results, gradients."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1, 1, (4, LENGTH)).astype(np.float32)
    leaves = [ja.from_numpy(v).requires_grad_() for v in values]
    first, second = leaves[0] * 1, leaves[1] * 1
    if seed % 2:
        second = first  # both halves in one memory
    given = made(leaves[2][:WIDTH], leaves[3][:WIDTH])
    ends = [(slice(i, i + WIDTH), slice(j, j + WIDTH)) for kind, i, j in statements[:2]]
    passed = [made(first[i], second[j]) for i, j in ends]
    results = run(first, second, given, passed)
    halves = [half for pair in results for half in (pair.a, pair.b)]
    total = sum((half * (i + 1)).sum() for i, half in enumerate(halves)) + first.sum() + second.sum()
    total.backward()
    gradients = [ja.zeros(LENGTH) if leaf.grad is None else leaf.grad for leaf in leaves]
    return [t.detach().numpy() for t in (*halves, first, second, *gradients)]


@pytest.mark.parametrize("seed", seeds(300, 2))
def test_a_program_does_what_it_does_on_plain_tensors(seed):
    statements, returned = grow(seed)
    expected = call(program(statements, returned, Plain), Plain, seed, statements)
    eager = program(statements, returned, Wrapped)
    compiled = ja.compile(eager)
    for run in (eager, compiled, compiled):
        found = call(run, Wrapped, seed, statements)
        for array, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(array, other, rtol=2e-5, atol=1e-5, err_msg=f"{statements}")
    assert compiled.cache_info().hits >= 1
