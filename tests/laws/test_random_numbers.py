"""Random arithmetic with the numbers among the arguments: compiled it gives what Python gives, bit for bit.

Of tensors a few bits may differ, as XLA joins products and sums.

A program computes with floats and ints beside tensors, branches, formats, keeps on objects and returns numbers, and is
called with one set of values after another. Where nothing branches and nothing takes a value itself, two programs serve
all values: one in which ints are part of it, and one in which they are inputs.

`JAXAOT_PROGRAMS=2000 pytest tests/laws/test_random_numbers.py` runs that many.
"""

from __future__ import annotations

import math
import random
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import jaxaot as ja
from tests.seeds import chunks

N_CALLS = 6
CHUNK = 4

NUMBERS = [
    "a + b", "a - {k}", "a * b", "b / {k}", "a // {k}", "b % {k}", "-a", "abs(b)", "{k} - a", "{k} * b", "a ** 2",
    "min(a, b)", "max(a, {k})", "round(b, 2)", "round(a)", "math.sqrt(abs(a))", "math.sin(b)", "math.floor(a)",
    "math.exp(-abs(b))", "int(a * {k})", "float(n)", "n * a", "n + {i}", "n // {i}", "n % {i}", "-n", "n * {i} - m",
    "m * b", "(a + b) * {k}", "sum([a, b, {k}])", "divmod(n, {i})[1]", "math.hypot(a, b)", "a if a > b else b",
    "bool(n) * a", "n << 2", "complex(a, b).real if False else a", "math.atan2(a, b)", "o.last + a", "c[0] * b",
]  # fmt: skip
STEPS = [
    "y = y * {v}", "y = y + {v}", "y = {v} - y", "y = y / (abs({v}) + 1)", "y = ja.where(y > {v}, y, 0.5)",
    "y = y.clamp(max={v})", "y = y + ja.full((3,), float({v}))", "y = y * ja.tensor({v})", "y.add_({v})",
    "if {v} > {k}: y = y + 1", "if n % 3 == 0: y = y * 2", "if {v} == {v}: y = y - 1", "o.last = {v}",
    "results.append({v})", "c[0] = c[0] + a", "results.append({v} > {k})", "y = F.leaky_relu(y, abs({v}))",
    "y = y.add(x, alpha={v})", "y[0] = {v}", "results.append((n, {v}))",
]  # fmt: skip
BY_VALUE = ["results.append(f'{{a:.1f}}')", "y = y + sum(range(n % 4))", "results.append(str(n))"]
HEAD = """\
def make():
    o, c = SimpleNamespace(last=0.5), [1.25]
    def fn(x, a, n, more, *, b=0.25):
        y, results, m = x * 1, [], more["m"][0]
"""


def program(rng):
    """Returns the source of a program."""
    names, lines = ["a", "b", "n", "m"], []
    fill = lambda text: text.format(k=rng.choice(["0.5", "3", "1e-3", "2.0"]), i=rng.randint(1, 5), v=rng.choice(names))
    for i in range(rng.randint(3, 8)):
        if rng.random() < 0.5:
            lines.append(f"v{i} = {fill(rng.choice(NUMBERS))}")
            names.append(f"v{i}")
        elif rng.random() < 0.1:
            lines.append(fill(rng.choice(BY_VALUE)))
        else:
            lines.append(fill(rng.choice(STEPS)))
    body = "".join(f"        {line}\n" for line in lines)
    return f"{HEAD}{body}        return y, results, {rng.choice(names)}\n    return fn, o, c\n"


def agree(value, other):
    """Returns whether two results are of the same types, and of the same bits where they are Python's."""
    if type(value) is not type(other):
        return False
    if isinstance(value, ja.Tensor):
        return value.dtype == other.dtype and np.allclose(value.numpy(), other.numpy(), 1e-4, 1e-4, equal_nan=True)
    if isinstance(value, (tuple, list)):
        return len(value) == len(other) and all(map(agree, value, other))
    return repr(value) == repr(other)


def outcome(fn, args, kwargs):
    try:
        return fn(*args, **kwargs)
    except (ArithmeticError, ValueError, TypeError) as error:
        return type(error).__name__


def drawn(rng, calls):
    """Returns the numbers of a call; some stay what they were."""
    a, n, m, b = calls[-1] if calls else (0.5, 2, 1, 0.25)
    special = (0.0, -0.0, math.inf, math.nan, 1e30, -2.5)
    a = rng.choice(special) if rng.random() < 0.1 else rng.uniform(-3, 3)
    n = rng.choice((n, rng.randint(-5, 9)))
    return a, n, rng.choice((m, rng.randint(0, 7))), rng.choice((b, rng.uniform(0, 2)))


@pytest.mark.parametrize("first", chunks(CHUNK, 1000, CHUNK))
def test_numbers_are_those_of_python(first):
    for seed in range(first, first + CHUNK):
        rng = random.Random(seed)
        source = program(rng)
        scope = {"ja": ja, "F": ja.nn.functional, "math": math, "SimpleNamespace": SimpleNamespace}
        exec(source, scope)
        (fn, o, c), (eager, eager_o, eager_c) = scope["make"](), scope["make"]()
        compiled, calls = ja.compile(fn), []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(N_CALLS):
                calls.append(drawn(rng, calls))
                a, n, m, b = calls[-1]
                x = ja.tensor([0.5, -1.0, 2.0])
                args, kwargs = (x, a, n, {"m": (m, "s")}), {"b": b}
                expected = outcome(eager, args, kwargs)
                assert agree(outcome(compiled, args, kwargs), expected), (seed, calls, source)
                assert (repr(o), repr(c)) == (repr(eager_o), repr(eager_c)), (seed, calls, source)


def test_values_alone_make_no_programs():
    for seed in range(4):
        rng = random.Random(seed)
        steps = [rng.choice(("a * b", "a + n", "n * m - a", "math.sin(a) + m", "b / 3 + n")) for _ in range(3)]
        scope = {"math": math}
        exec(f"def fn(x, a, n, m, b):\n    v = {' + '.join(steps)}\n    return x * v + a, v, n * 2", scope)
        compiled = ja.compile(scope["fn"])
        for i in range(8):
            args = (ja.ones(2), rng.uniform(0, 1), i, 3 * i, 0.5**i)
            assert agree(compiled(*args), scope["fn"](*args))
        assert compiled.n_programs == 2
