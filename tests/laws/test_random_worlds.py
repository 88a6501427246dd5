"""Random programs over Python's world: compiled they do what eager does, to results and to Python's objects.

A program is a function over an object, a dict, lists, a deque, a variable of its closure and tensors kept in them.
It counts, switches, swaps, keeps, forgets, draws and branches on what it finds, and is called many times, with
changes from outside in between. Eager is the oracle for results, for all objects afterwards, and for what is one
object. Under `ja.remat`, which takes functions that change nothing, programs read, and all changes come from outside.

`JAXAOT_PROGRAMS=2000 pytest tests/laws/test_random_worlds.py` runs that many.
"""

from __future__ import annotations

import contextlib
import math
import random
import warnings
from collections import deque

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from tests.seeds import seeds

N_CALLS = 20


class Box:
    """An object of a class of the user's."""

    def __init__(self, **attributes):
        vars(self).update(attributes)

    def count(self, k):
        self.n += k
        return self.n


COUNTS = [
    'o.n += {i}', 'd["n"] += {i}', 'n += {i}', 'c[{j}] += 1', 'o.count({i})', 'o.rate = o.rate * 0.9',
    'o.n = o.n * 2 % 7', 'd["rate"] = max(d["rate"] / 2, 0.1)', 'o.n, c[0] = c[0], o.n',
]  # fmt: skip
SWITCHES = [
    'o.mode = "b" if o.mode == "a" else "a"', 'o.flag = not o.flag', 'd["tmp"] = o.n if o.flag else y',
    'd.pop("tmp", None)', 'q.rotate(1)', 'o.a, o.b = o.b, o.a', 'del c[3:]', 'c.append(o.n % 5)',
    'if len(c) > 4: c.pop(0)', 'setattr(o, o.mode + "_seen", o.n)',
]  # fmt: skip
KEEPS = [
    'o.h = o.h * 0.5 + y', 'd["h"] = y', 'log.append(y.sum().detach())', 'q.append(y * 2)', 'o.last = y',
    'd["pair"] = (x, y, o.mode)', 'o.child = Box(n=o.n, value=y, parent=o)', 'o.h.add_(x)', 'kept.add(o.mode)',
    'o.k = ja.cat([o.k, y]) if o.k.shape[0] < 6 else o.k[:2].clone()', 'view = o.h[1:]; view.mul_(0.5)',
    'o.table[o.n % 4] = y', 'o.table[:, o.n % 2] += 1', 'o.table[n % 3 : n % 3 + 1] = y',
    "o.nested = {{'a': [y, o.h], 'b': o.n}}", 'log.append(o.h)', 'o.gone = y; del o.gone',
]  # fmt: skip
USES = [
    'y = y * o.n', 'y = y + d["n"]', 'y = y * (1 - 0.9 ** n)', 'y = y / (o.n * o.n + 1)', 'y = y - c[{j}]',
    'y = y * o.rate', 'y = y + len(c)', 'y = y + len(q)', 'y = y + o.a - o.b', 'y = y + d["h"]', 'y = y + o.h',
    'y = y.add(x, alpha=o.n)', 'y = y + (q[0] if isinstance(q[0], int) else q[0].sum())',
    'y = y + ja.rand(2, generator=o.g)', 'y = y * d["rate"]', 'y = y + o.k.sum()',
    "y = y * getattr(o, 'a_seen', 3)", 'y = y + (1 if "tmp" in d else 2)', 'y = y.clamp(max=o.n)',
    'y = y * float(o.flag)', 'y = y * math.cos(o.n / 7)', 'y = y + math.sqrt(n) / float(n + 1)',
    'y = y + o.table[d["n"] % 4]', 'y = y + o.table[-1, o.n % 2]', 'row = o.table[o.n % 4]; row.add_(1); y = y * row',
]  # fmt: skip
TESTS = [
    'o.n % 3 == 0', 'o.flag', 'o.mode == "a"', 'n > 5', 'd["n"] < c[0]', 'o.rate < 0.5', 'o.last is None',
    'len(c) > 3', '"b" in kept', 'o.a is o.first',
]  # fmt: skip
POKES = [
    'o.n = {i}', 'd["n"] = -{i}', 'o.flag = True', 'o.mode = "a"', 'c[0] = 9', 'q.append(7)', 'o.rate = 1.5',
    'o.h = ja.ones(2) * {i}', 'd["h"] = o.h', 'c.append({i})', 'o.last = None', 'o.a = o.b',
]  # fmt: skip


HEAD = """\
def make():
    o = Box(n=1, rate=1.0, mode='a', flag=False, last=None, h=ja.ones(2))
    o.k, o.g = ja.ones(2), ja.Generator()
    o.a = o.first = ja.ones(2); o.b = ja.zeros(2); o.nested = None
    o.table = ja.arange(8.0).reshape(4, 2).clone()
    d, c, q = {{'n': 2, 'rate': 1.0, 'h': ja.ones(2)}}, [1, 2, 3], deque([1, 2, 3], maxlen=4)
    log, kept, n = [], set(), 0
    def fn(x):
        nonlocal n
        y = x * 1
        {body}
        return y
    def poke(i):
        nonlocal n
        {pokes}
        n = n
    return fn, poke, lambda: [o, d, c, q, log, kept, n]
"""


def grow(seed, asks):
    """Returns the source of a program that a seed says.

    Args:
      seed: The seed.
      asks: Whether it may ask for values of tensors.
    """
    rng = random.Random(seed)
    fill = lambda text: text.format(i=rng.randrange(1, 4), j=rng.randrange(2))

    def block(size, depth):
        lines = []
        for _ in range(size):
            kind = rng.choice([COUNTS, SWITCHES, KEEPS, USES, USES])
            if depth and rng.random() < 0.25:
                test = rng.choice([*TESTS, *(["y.sum() > 3"] * 5 if asks else [])])
                lines += [f"if {test}:", *("    " + line for line in block(rng.randrange(1, 4), depth - 1))]
                if rng.random() < 0.5:
                    lines += ["else:", *("    " + line for line in block(rng.randrange(1, 3), depth - 1))]
            else:
                lines.append(fill(rng.choice(kind)))
        return lines

    body = block(rng.randrange(3, 9), 2)
    pokes = [fill(rng.choice(POKES)) for _ in range(rng.randrange(0, 4))]
    poked = [f"if i % 5 == {i + 1}: {poke}" for i, poke in enumerate(pokes)]
    return HEAD.format(body="\n        ".join(body), pokes="\n        ".join([*poked, "pass"]))


def flat(value, seen):
    """Returns a value as data that compares, in which what is met again is told by when it was met first."""
    if isinstance(value, (ja.Tensor, Box, list, dict, deque, set)):
        if id(value) in seen:
            return "again", seen.index(id(value))
        seen.append(id(value))
    if isinstance(value, ja.Tensor):
        return "tensor", str(value.dtype), tuple(value.shape), value.requires_grad, np.asarray(value.detach().numpy())
    if isinstance(value, Box):
        return "box", flat(vars(value), seen)
    if isinstance(value, ja.Generator):
        return "generator", value.get_state()
    if isinstance(value, dict):
        return "dict", [(key, flat(item, seen)) for key, item in value.items()]
    if isinstance(value, set):
        return "set", sorted(value)
    if isinstance(value, (list, tuple, deque)):
        return type(value).__name__, [flat(item, seen) for item in value]
    return type(value).__name__, value


def is_alike(value, other):
    """Returns whether two such data are equal, floats up to rounding."""
    if isinstance(value, np.ndarray):
        return value.shape == other.shape and np.allclose(value, other, rtol=1e-4, atol=1e-5, equal_nan=True)
    if isinstance(value, (list, tuple)):
        return type(value) is type(other) and len(value) == len(other) and all(map(is_alike, value, other))
    return value == other


def check(source, wrap):
    """Asserts that a program does the same with its function wrapped, and returns the wrapped function."""
    made = []
    for _ in range(2):
        scope = {"ja": ja, "Box": Box, "deque": deque, "math": math}
        exec(source, scope)
        made.append(scope["make"]())
    (fn, poke, world), (other, poke_other, expected) = made
    fn = wrap(fn)
    for i in range(N_CALLS):
        x = ja.tensor([1.0, 0.5]) * (i % 3)
        seen, others = [], []
        ours, theirs = fn(x), other(x)
        assert is_alike(flat(ours, seen), flat(theirs, others)), f"result of call {i}\n{source}"
        assert is_alike(flat(world(), seen), flat(expected(), others)), f"world after call {i}\n{source}"
        poke(i), poke_other(i)
    return fn


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", seeds(3000, 3))
def test_compiled_is_eager(seed):
    check(grow(seed, asks=False), ja.compile)


@pytest.mark.parametrize("seed", seeds(1000, 3))
def test_numbers_alone_make_few_programs(seed):
    rng = random.Random(seed)
    left_out = ("c[", "len(", "q[", "%", "_seen")
    numeric = [line for line in (*COUNTS, *USES) if not any(part in line for part in left_out)]
    lines = [rng.choice(numeric).format(i=rng.randrange(1, 4), j=rng.randrange(2)) for _ in range(rng.randrange(4, 12))]
    source = HEAD.format(body="\n        ".join(lines), pokes="pass")
    assert check(source, ja.compile).cache_info().misses <= 4, source


@pytest.mark.parametrize("seed", seeds(600, 2))
def test_guards_are_sound(seed):
    pytest.importorskip("z3")
    with ja.config(validate_guards=True):
        check(grow(seed, asks=False), ja.compile)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", seeds(1000, 1))
def test_segments_are_eager(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(grow(seed, asks=True), lambda fn: ja.compile(fn))


@pytest.mark.parametrize("seed", seeds(1000, 3))
def test_a_checkpointed_function_is_eager(seed):
    check(grow(seed, asks=False), lambda fn: ja.compile(lambda x: ja.utils.checkpoint.checkpoint(fn, x)))


READS = [
    'y = y * o.n', 'y = y + d["n"]', 'y = y * (1 - 0.9 ** n)', 'y = y / (o.n * o.n + 1)', 'y = y - c[{j}]',
    'y = y * o.rate', 'y = y + len(c) * len(q)', 'y = y + o.a * o.b', 'y = jnp.sin(y) * d["h"]', 'y = y + sum(c)',
    "y = y * getattr(o, 'a_seen', 3)", 'y = y + (1 if "tmp" in d else 2)', 'y = jnp.clip(y, None, o.n)',
    'y = y * float(o.flag)', 'y = y * math.cos(o.n / 7)', 'y = y + math.sqrt(n) / float(n + 1)', 'y = y * z + o.n',
    'z = [k * y for k in c][-1]', 'y = y * {{"a": 2, "b": o.rate}}[o.mode]', 'y = y + sum(k for k in q if k > o.n)',
    'y = o.scaled(y)', 'y = y + o.table[o.n % 4]', 'y = y * (o.child.n if o.child else n)', 'y = jnp.tanh(y) * y',
]  # fmt: skip
READ_TESTS = [test for test in TESTS if test != "o.last is None"] + ["o.child", "len(q) > n", "isinstance(o.rate, int)"]
READ_POKES = [
    'o.n = {i}', 'd["n"] = -{i}', 'o.flag = not o.flag', 'o.mode = "b"', 'c[0] = 9', 'q.append(7)', 'o.rate = 1.5',
    'o.rate = 2', 'd["h"] = jnp.ones(2) * {i}', 'c.append({i})', 'o.a = o.b', 'n += {i}', 'd["tmp"] = 1',
    'kept.add("b")', 'o.child = Box(n={i})', 'o.a_seen = {i}', 'o.table = o.table + 1', 'o.child.n += 1', 'c.pop()',
    'o.unread = {i}', 'type(o).scaled = lambda self, y: y * {i}',
]  # fmt: skip
READ_HEAD = """\
def make():
    class Own(Box):
        def scaled(self, y):
            return y * self.n
    o = Own(n=1, rate=1.0, mode='a', flag=False, child=Box(n=3))
    o.a = o.first = jnp.ones(2); o.b = jnp.zeros(2)
    o.table = jnp.arange(8.0).reshape(4, 2)
    d, c, q = {{'n': 2, 'rate': 1.0, 'h': jnp.ones(2)}}, [1, 2, 3, 4], deque([1, 2, 3], maxlen=4)
    kept, n = set(), 0
    def fn(x):
        y = z = x * 1
        {body}
        return y
    def poke(i):
        nonlocal n
        {pokes}
    return fn, poke
"""


def grow_reads(seed):
    """Returns the source of a program that reads what a seed says, and changes nothing."""
    rng = random.Random(seed)
    fill = lambda text: text.format(i=rng.randrange(1, 4), j=rng.randrange(2))
    lines = []
    for _ in range(rng.randrange(3, 9)):
        line = fill(rng.choice(READS))
        lines += [f"if {rng.choice(READ_TESTS)}:", "    " + line] if rng.random() < 0.3 else [line]
    pokes = [f"if i % 5 == {i}: {fill(rng.choice(READ_POKES))}" for i in range(5)]
    return READ_HEAD.format(body="\n        ".join(lines), pokes="\n        ".join(pokes))


@pytest.mark.few(1)
@pytest.mark.parametrize("wrap", [lambda fn: fn, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("seed", seeds(1000, 1))
def test_a_rematerialized_function_is_the_function(seed, wrap):
    source = grow_reads(seed)
    scope = {"__name__": __name__, "jnp": jnp, "Box": Box, "deque": deque, "math": math}
    exec(source, scope)
    fn, poke = scope["make"]()
    ours = ja.remat(fn)
    for i in range(N_CALLS // 2):
        x = jnp.asarray([1.0, 0.5]) * (i % 3)
        found = jax.value_and_grad(wrap(lambda x: ours(x).sum()))(x)
        expected = jax.value_and_grad(lambda x: fn(x).sum())(x)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5, err_msg=f"call {i}\n{source}")
        with contextlib.suppress(IndexError, AttributeError):  # nothing left to take
            poke(i)
