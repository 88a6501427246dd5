"""Random programs of branches and loops that write to what they capture: compiled is what eager does.

A program is a block of statements over tensors with two elements in their last dim: leaves, tensors with a history,
views and detached twins of them, buffers and views of those. Statements read, write in place through any of them, draw,
and nest blocks in `cond`, `scan` and, where no gradients flow, `while_loop`.
"""

from __future__ import annotations

import contextlib
import random

import jax
import numpy as np
import pytest

import jaxaot as ja
from tests.seeds import seeds

VIEWS = {
    "h[1:]": lambda e: e["h"][1:],
    "h[0]": lambda e: e["h"][0],
    "b.t()": lambda e: e["b"].t(),
    "b[1]": lambda e: e["b"][1],
    "b[:, :1]": lambda e: e["b"][:, :1],
    "twin[1]": lambda e: e["twin"][1],
}
WRITES = {
    "add_": lambda t, v: t.add_(v),
    "mul_": lambda t, v: t.mul_(v),
    "copy_": lambda t, v: t.copy_(v),
    "[0]=": lambda t, v: t.__setitem__(0, v.sum() if t.ndim == 1 else v),
}
READS = {
    "sin": lambda a, b: (a + b).sin(),
    "mul": lambda a, b: a * b * 0.5,
    "sub": lambda a, b: a.cos() - b,
}


class Growth:
    """Grows a program from a seed."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.is_branching = False

    def block(self, names, depth, size):
        """Returns statements over tensors of those names, and the name of the result."""
        names, statements = list(names), []
        for _ in range(size):
            statements.append(self.statement(names, depth))
        return statements, self.rng.choice(names)

    def statement(self, names, depth):
        rng, pick = self.rng, self.rng.choice
        fresh = f"v{rng.randrange(10**6)}"
        writable = [n for n in names if n not in ("w", "u")]
        kind = pick(
            ["read", "read", "write", "write", "write", "quiet", "draw", *(["cond", "scan", "scan"] * (depth > 0))]
        )
        if kind == "scan" and rng.random() < 0.2:
            kind = "while"
        match kind:
            case "read":
                made = (kind, fresh, pick(list(READS)), pick(names), pick(names))
            case "write":
                return kind, pick(writable), pick(list(WRITES)), pick(names)
            case "quiet":
                return kind, pick(names), pick(list(WRITES)), pick(names)
            case "draw":
                made = (kind, fresh, pick(names))
            case "cond":
                self.is_branching = True
                blocks = [self.block(names, depth - 1, rng.randrange(1, 4)) for _ in range(2)]
                made = (kind, fresh, pick(names), rng.uniform(-1, 1), *blocks)
            case "scan":
                inner = self.block([*names, "c", "x"], depth - 1, rng.randrange(1, 5))
                made = (kind, fresh, pick(names), pick(names), rng.randrange(1, 4), rng.random() < 0.3, inner)
            case _:
                self.is_branching = True
                made = (kind, fresh, pick(names), self.block([*names, "c"], depth - 1, rng.randrange(1, 4)))
        names.append(fresh)
        return made


def pair(t):
    """Returns the two elements that a tensor is read as."""
    t = t if t.ndim == 1 else t.sum(0)
    return t if t.shape[0] == 2 else t.expand(2)


def written_value(t, value):
    value = pair(value).sin()
    return value if t.shape[-1] == 2 else value.sum().reshape(1)


def run(block, env):
    """Runs a block, and returns its result."""
    statements, result = block
    for kind, name, *rest in statements:
        match kind:
            case "read":
                env[name] = READS[rest[0]](pair(env[rest[1]]), pair(env[rest[2]]))
            case "write" | "quiet":
                with ja.no_grad() if kind == "quiet" else contextlib.nullcontext():
                    WRITES[rest[0]](env[name], written_value(env[name], env[rest[1]]))
            case "draw":
                env[name] = pair(env[rest[0]]) * ja.rand(2)
            case "cond":
                pred = pair(env[rest[0]]).sum() > rest[1]
                env[name] = ja.cond(pred, lambda: run(rest[2], dict(env)), lambda: run(rest[3], dict(env)))
            case "scan":
                init, xs, n, reverse, inner = rest

                def iteration(c, x):
                    inside = {**env, "c": c, "x": x}
                    y = run(inner, inside)
                    return pair(inside["c"]) * 0.7, y

                xs = pair(env[xs]) * ja.arange(1.0, n + 1).reshape(n, 1)
                c, ys = ja.scan(iteration, pair(env[init]), xs, reverse=reverse)
                env[name] = c + ys.reshape(-1, ys.shape[-1]).sum(0)
            case "while":
                with ja.no_grad():

                    def body(i, c):
                        run(rest[1], inside := {**env, "c": c})
                        return i + 1, pair(inside["c"]) * 0.7

                    _, env[name] = ja.while_loop(lambda i, c: i < 2, body, (ja.tensor(0), pair(env[rest[0]])))
    return pair(env[result]) * 1


def program(block):
    def fn(w, u, b):
        h = (w * ja.arange(1.0, 7.0).reshape(3, 2)).sin()
        env = {"w": w, "u": u, "h": h, "b": b, "twin": h.detach()}
        env |= {name: view(env) for name, view in VIEWS.items()}
        return run(block, env), h, env["twin"], b

    return fn


def observe(fn):
    """Returns values and gradients, and the other facts, after a call."""
    ja.manual_seed(11)
    w, u = (ja.tensor(values, requires_grad=True) for values in ([0.3, -0.7], [1.1, 0.4]))
    b = ja.tensor([[0.5, -0.2], [0.1, 0.9]])
    results = [*fn(w, u, b), b]
    total = ja.zeros(())
    for i, t in enumerate(results):
        if t.requires_grad:
            total = total + (t * ja.arange(1.0, t.numel() + 1).reshape(t.shape)).sum() / (i + 1)
    if total.requires_grad:
        total.backward()
    values = [np.asarray(t.detach().numpy()) for t in (*results, w, u)]
    grads = [np.zeros(2) if t.grad is None else np.asarray(t.grad.numpy()) for t in (w, u)]
    return [*values, *grads], [(t.requires_grad, t._version) for t in (*results, w, u)], ja.default_generator.offset


def check(seed):
    """Returns whether the program of a seed is one that runs eagerly; then it runs compiled alike."""
    growth = Growth(seed)
    block = growth.block(["w", "u", "h", "b", "twin", *VIEWS], 2, growth.rng.randrange(3, 8))
    fn = program(block)
    try:
        values, facts, offset = observe(fn)
    except ja.errors.JaxaotError:
        return False
    compiled = ja.compile(fn)
    for _ in range(2):
        our_values, our_facts, our_offset = observe(compiled)
        assert our_offset == offset
        assert growth.is_branching or our_facts == facts
        for ours, theirs in zip(our_values, values, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    assert compiled.cache_info().misses == 1
    if seed % 20 == 19:  # executables take memory
        jax.clear_caches()
    return True


@pytest.mark.parametrize("seed", seeds(12, 1))
def test_random_programs(seed):
    assert check(seed), "this program does not run eagerly"


@pytest.mark.slow
def test_many_random_programs():
    assert sum(check(seed) for seed in range(1000, 1030)) > 25
