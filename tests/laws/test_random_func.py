"""Random nests of `ja.func`, whose functions read arguments of the functions around them and leaves, as PyTorch.

`JAXAOT_PROGRAMS=300 pytest tests/laws/test_random_func.py` runs that many.
"""

import contextlib
import random

import numpy as np
import pytest

import jaxaot as ja
from tests.seeds import seeds

pytestmark = pytest.mark.oracle

SIZE = 3
KINDS = ("grad", "vjp", "jvp", "vmap", "jacrev", "jacfwd", "hessian")
LEAVES = 3


def expression(rng, n_vars, depth, n_nested):
    """Returns a random vector as a tree; variables are numbered, those of the innermost function last."""
    if depth == 0:
        return ("var", rng.randrange(n_vars) if rng.random() < 0.5 else n_vars - 1)
    sub = lambda: expression(rng, n_vars, depth - 1, n_nested)
    if n_nested and rng.random() < 0.5:
        body = expression(rng, n_vars + 1, 2, n_nested - 1)
        return ("nested", rng.choice(KINDS), body, sub(), sub())
    name = rng.choice(("sin", "mul", "mul", "add", "written", "view", "detach", "no_grad", "exp"))
    return (name, sub(), sub()) if name in ("mul", "add", "written") else (name, sub())


def value(lib, tree, env):
    name, *parts = tree
    if name == "var":
        return env[parts[0]]
    if name == "nested":
        return nested(lib, *parts, env)
    if name == "no_grad":
        with lib.no_grad():
            return value(lib, parts[0], env)
    first, *rest = (value(lib, part, env) for part in parts)
    match name:
        case "sin":
            return first.sin()
        case "exp":
            return (first * 0.1).exp()
        case "mul":
            return first * rest[0] * 0.5
        case "add":
            return first + rest[0]
        case "written":
            made = first.clone()
            made[1:].mul_(rest[0][:-1])
            return made
        case "view":
            return first.reshape(SIZE, 1).expand(SIZE, 2)[:, 1].flip(0)
        case _:
            return first.detach()


def nested(lib, kind, body, at, other, env):
    at, other = value(lib, at, env), value(lib, other, env)
    vector = lambda v: value(lib, body, [*env, v])
    func = lib.func
    match kind:
        case "grad":
            return func.grad(lambda v: vector(v).sum())(at)
        case "vjp":
            return func.vjp(vector, at)[1](other)[0]
        case "jvp":
            return func.jvp(vector, (at,), (other,))[1]
        case "vmap":
            return func.vmap(lambda s: vector(s * other).sum())(at)
        case "hessian":
            return func.hessian(lambda v: vector(v).sum())(at).sum(0)
        case _:
            return getattr(func, kind)(vector)(at) @ other


def outcome(lib, tree, is_compiled):
    rng = np.random.default_rng(0)
    w, v, x = (lib.tensor(rng.standard_normal(SIZE).astype(np.float32)) for _ in range(3))
    w.requires_grad_()
    v.requires_grad_()
    run = lambda w, v, x: value(lib, tree, [w, (v * 2)[:], x])
    result = (ja.compile(run) if is_compiled else run)(w, v, x)
    if result.requires_grad:
        result.sum().backward()
    return [None if t is None else t.detach().numpy() for t in (result, w.grad, v.grad)]


def program(seed):
    """Returns a random nest that PyTorch can run, and what it gives: of some it says that it does not support them."""
    torch = pytest.importorskip("torch")
    rng = random.Random(seed)
    while True:
        body = expression(rng, LEAVES + 1, 3, 2)
        tree = ("nested", rng.choice(KINDS), body, ("var", 2), ("var", rng.randrange(LEAVES)))
        with contextlib.suppress(RuntimeError):  # tangents of expanded memory, writes of what is mapped
            return tree, outcome(torch, tree, False)


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("seed", seeds(24, 4))
def test_as_torch(seed, is_compiled):
    tree, expected = program(seed)
    for e, f in zip(expected, outcome(ja, tree, is_compiled), strict=True):
        e, f = (np.zeros(SIZE, np.float32) if a is None else a for a in (e, f))
        np.testing.assert_allclose(f, e, rtol=2e-4, atol=2e-4)
