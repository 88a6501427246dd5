"""Random programs in which Python asks for values: with `` they do what eager does, call after call.

A program is a block of statements over tensors whose last dim is 2: leaves, tensors with a history, views and twins of
them, a buffer that outlives the calls. Statements read, write in place through any of them, draw, run backward, set a
plain attribute; `if`, `while`, `int()`, `.item()` and masks depend on values, and nest. The calls of one program take
different ways, and some programs may keep so few versions that they give up on the way.

`JAXAOT_PROGRAMS=2000 pytest tests/laws` runs that many.
"""

from __future__ import annotations

import contextlib
import random
import warnings

import jax
import numpy as np
import pytest

import jaxaot as ja
from tests.laws.test_random_control_flow import READS, VIEWS, WRITES, pair, written_value
from tests.seeds import seeds

CALLS = (0, 1, 0, 2, 2, 3)


class Growth:
    """Grows a program from a seed."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.is_branching = False  # a graph with both branches counts the writes of both

    def block(self, names, depth, size):
        """Returns statements over tensors of those names, and the name of the result."""
        names, statements = list(names), []
        for _ in range(size):
            statements.append(self.statement(names, depth))
        return statements, self.rng.choice(names)

    def statement(self, names, depth):
        rng, pick = self.rng, self.rng.choice
        fresh = f"v{rng.randrange(10**6)}"
        inner = lambda: self.block(names, depth - 1, rng.randrange(1, 4))
        asking = ["if", "if", "while", "int", "slice", "mask", "item"]
        kinds = ["read", "read", "write", "write", "quiet", "draw", "mode", "backward", "clip", *asking]
        match kind := pick([*kinds, *(["if", "while", "cond"] * (depth > 0))]):
            case "read":
                made = (kind, fresh, pick(list(READS)), pick(names), pick(names))
            case "write":
                return kind, pick([n for n in names if n not in ("w", "u")]), pick(list(WRITES)), pick(names)
            case "quiet":
                return kind, pick(names), pick(list(WRITES)), pick(names)
            case "if" | "cond":
                self.is_branching |= kind == "cond"
                blocks = [inner() if depth else ([], pick(names)) for _ in range(2)]
                made = (kind, fresh, pick(names), rng.uniform(-1, 1), *blocks)
            case "while":
                made = (kind, fresh, pick(names), rng.uniform(0.3, 2), inner() if depth else ([], pick(names)))
            case "backward" | "clip":
                return kind, pick(("w", "u")), pick(names), rng.uniform(0.2, 1)
            case _:
                made = (kind, fresh, pick(names), pick(names), rng.uniform(0.4, 1.7))
        names.append(fresh)
        return made


def asked(t):
    return pair(t).detach().sum()


def run(block, env, world):
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
            case "mode":
                world.mode = 1 if asked(env[rest[1]]) > rest[2] else 2
                world.log.append((name, world.mode))
                env[name] = pair(env[rest[0]]) * (world.mode + 1) * 0.5
            case "if":
                chosen = rest[2] if pair(env[rest[0]]).sum() > rest[1] else rest[3]
                env[name] = run(chosen, dict(env), world)
            case "cond":
                pred = asked(env[rest[0]]) > rest[1]
                blocks = [plain(b) for b in rest[2:]]
                env[name] = ja.cond(pred, *(lambda b=b: run(b, dict(env), world) for b in blocks))
            case "while":
                value, n = pair(env[rest[0]]), 0
                while (value.detach().abs().sum() > rest[1]).item() and n < 3:
                    run(rest[2], {**env, "c": value}, world)
                    value, n = value * 0.6, n + 1
                env[name] = value + n
            case "int":
                env[name] = pair(env[rest[0]]) * (int(asked(env[rest[1]]) * rest[2]) % 3 + 1) * 0.4
            case "slice":
                k = int(pair(env[rest[1]]).argmax())
                env[name] = env["b"][k : k + 2].sum(0) * 0.5 + pair(env[rest[0]])
            case "mask":
                found = env["b"][env["b"].detach() > rest[2] - 0.5]
                env[name] = pair(env[rest[0]]) + found.sum() * 0.1 + found.shape[0] * 0.01
            case "item":
                env[name] = pair(env[rest[0]]) * np.tanh(asked(env[rest[1]]).item())
            case "disabled":
                env[name] = world.disabled(rest[0], env[rest[1]], env[rest[2]])
            case "backward":
                (env[name] * pair(env[rest[0]]).detach().sin()).sum().backward()
            case "clip":
                grad = env[name].grad
                if grad is not None and grad.norm() > rest[1]:
                    grad.mul_(0.5)
    return pair(env[result]) * 1


def plain(block):
    """Returns a block without the statements that ask for values or set what is outside of tensors."""
    statements, result = block
    used = {"read": (3, 4), "write": (1, 3), "quiet": (1, 3), "draw": (2,)}
    kept: list[tuple] = []
    absent: set[str] = set()
    for s in statements:
        if s[0] in used and not absent.intersection(s[i] for i in used[s[0]]):
            kept.append(s)
        elif s[0] not in ("write", "quiet", "backward", "clip"):
            absent.add(s[1])
    return kept, "b" if result in absent else result


class World:
    """What outlives the calls of a program."""

    def __init__(self):
        self.w, self.u = (ja.tensor(values, requires_grad=True) for values in ([0.3, -0.7], [1.1, 0.4]))
        self.b = ja.tensor([[0.5, -0.2], [0.1, 0.9]])
        self.mode, self.log = 0, []


def program(block):
    def fn(world, x):
        h = (world.w * ja.arange(1.0, 7.0).reshape(3, 2)).sin() * x
        env = {"w": world.w, "u": world.u, "h": h, "b": world.b, "x": x, "twin": h.detach()}
        env |= {name: view(env) for name, view in VIEWS.items()}
        return run(block, env, world), h, env["twin"], world.b

    return fn


def observe(fn, world, n):
    """Returns values and gradients, and the other facts, after a call."""
    ja.manual_seed(n)
    x = ja.randn(2) * (n + 0.5)
    results = [*fn(world, x), x, world.b]
    total = ja.zeros(())
    for i, t in enumerate(results):
        if t.requires_grad:
            total = total + (t * ja.arange(1.0, t.numel() + 1).reshape(t.shape)).sum() / (i + 1)
    facts = [(t.requires_grad, t._version) for t in (*results, world.w, world.u)]
    if total.requires_grad:
        total.backward()
    tensors = [*results, world.w, world.u]
    grads = [np.zeros(2) if t.grad is None else np.asarray(t.grad.numpy()) for t in (world.w, world.u)]
    world.b.detach_()
    values = [np.asarray(t.detach().numpy()) for t in tensors]
    return [*values, *grads, ja.default_generator.offset], facts, (world.mode, list(world.log))


def check(seed):
    """Returns whether the program of a seed is one that runs eagerly; then it runs compiled alike."""
    growth = Growth(seed)
    rng = growth.rng
    block = growth.block(["w", "u", "h", "b", "x", "twin", *VIEWS], 2, rng.randrange(3, 9))
    world, held = World(), World()
    fn = program(block)
    try:
        expected = [observe(fn, world, n) for n in CALLS]
    except ja.errors.JaxaotError:
        return False
    options = {"policy": rng.choice((None, "save_all", "save_nothing")), "max_programs": rng.choice((128, 128, 2))}
    compiled = ja.compile(fn, **options)
    limits = {"max_values": rng.choice((8, 8, 8, 1)), "max_breaks": rng.choice((64, 64, 64, 3))}
    with ja.config(**limits), warnings.catch_warnings():
        warnings.simplefilter("ignore", ja.errors.RecompileWarning)
        for iteration, (values, facts, python) in enumerate(expected):
            our_values, our_facts, our_python = observe(compiled, held, CALLS[iteration])
            assert (
                iteration or our_python == python
            )  # Python code runs at the first call; later ones may find a program
            assert growth.is_branching or our_facts == facts
            for ours, theirs in zip(our_values, values, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)
    if seed % 20 == 19:  # executables take memory
        jax.clear_caches()
    return True


@pytest.mark.parametrize("seed", seeds(8, 1))
def test_random_programs(seed):
    assert check(seed), "this program does not run eagerly"
