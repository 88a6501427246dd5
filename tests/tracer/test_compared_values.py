"""What `.item()` gives, compared with numbers that Python keeps: in the graph, with Python's answer."""

from __future__ import annotations

import math
import operator
import random
import types
import warnings

import numpy as np
import pytest

import jaxaot as ja
from tests.seeds import seeds


def kept_best(start):
    s = types.SimpleNamespace(best=start, at=None, n=0)

    def step(x):
        loss = x.sum().item()
        if loss < s.best:
            s.best, s.at = loss, s.n
        s.n += 1
        return x * 2

    return step, s


def test_a_best_value_that_is_kept_makes_a_program_for_each_way():
    found = []
    for compiles in (False, True):
        step, s = kept_best(math.inf)
        run = ja.compile(step) if compiles else step
        for scale in (5.0, 3.0, 4.0, 2.0, 2.5, 1.0, 0.5, 3.0, 0.25, 0.1, 0.3, 0.05):
            run(ja.ones(3) * scale)
        found.append(vars(s))
    assert found[0] == found[1] and run.cache_info().misses <= 5


def test_the_larger_of_what_is_kept_and_a_value():
    s = types.SimpleNamespace(most=0.0)

    def step(x):
        s.most = max(s.most, x.max().item())
        return x

    run, found = ja.compile(step), []
    for value in (1.0, 4.0, 3.0, 6.0, 5.0, 5.5, 7.0, 1.0, 9.0):
        run(ja.ones(2) * value)
        found.append(s.most)
    assert found == [1, 4, 4, 6, 6, 6, 7, 7, 9] and run.cache_info().misses <= 4


def test_two_values_of_the_graph_are_compared_in_it():
    run = ja.compile(lambda x, y: x * 2 if x.sum().item() > y.sum().item() else y * 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for a, b in ((1.0, 2.0), (2.0, 1.0), (5.0, 4.0), (1.0, 1.0)):
            assert run(ja.full((2,), a), ja.full((2,), b)).tolist() == [a * 2 if a > b else b * 3] * 2
    assert run.cache_info().misses == 2


LIMITS = (0.1, 1 / 3, 0.7, 2.0, -1e9, 1e300, math.inf, -math.inf, math.nan, 65504.0, 1, 3, -5, 2**31)
HELD = (0.1, 1 / 3, 0.7, 2.0, -1e9, math.inf, -math.inf, math.nan, 1.0, 3.0, -5.0)


@pytest.mark.parametrize("seed", seeds(200, 12))
def test_random_comparisons_with_what_is_kept_are_those_of_python(seed):
    rng = random.Random(seed)
    dtype = rng.choice([ja.float32, ja.float32, ja.float16, ja.bfloat16, ja.int32, ja.bool, ja.uint8])
    compare = rng.choice([operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
    s, replaces = types.SimpleNamespace(limit=rng.choice(LIMITS)), rng.random() < 0.5

    def fn(x):
        value = x.max().item()
        is_so = compare(value, s.limit) if seed % 2 else compare(s.limit, value)
        if is_so and replaces:
            s.limit = value
        return x * (1 if is_so else 2)

    compiled = ja.compile(fn)
    for _ in range(5):
        value = rng.choice(HELD)
        if not dtype.is_floating_point:
            value = int(min(max(value, 0), 100)) if value == value else 7
        elif rng.random() < 0.5 and abs(s.limit) < 1e30:  # one that rounds to it, or its neighbour
            value = np.nextafter(np.float32(s.limit), np.float32(rng.choice([-9e9, 9e9]))).item()
        x, before = ja.tensor([value], dtype=dtype), s.limit
        wanted = repr((fn(x).tolist(), s.limit))
        s.limit = before
        assert repr((compiled(x).tolist(), s.limit)) == wanted, (dtype, compare, before, value)


# -- `float` and `int` of tensors --------------------------------------------------------------------------------------


def agree(fn, calls, n_programs):
    """Asserts that calls return what they do eagerly, with Python's types, and make at most so many programs."""
    compiled = ja.compile(fn)
    shown = lambda value: [(type(item), repr(item.tolist() if isinstance(item, ja.Tensor) else item)) for item in value]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ja.errors.RecompileWarning)
        for x in calls:
            assert shown(compiled(ja.tensor(x))) == shown(fn(ja.tensor(x)))
    assert compiled.cache_info().currsize <= n_programs


ROWS = ([1.0, 2.0], [3.0, 0.5], [-1.0, 0.25], [2.0, 2.0])


def test_what_float_and_int_make_of_tensors_is_kept_in_one_program():
    agree(lambda x: (x * 2, float(x.max()), int(x.argmax()), float(x.argmax()), float(x.sum()) * 2 + 1), ROWS, 1)
    kept = {False: [], True: []}
    for compiles in kept:
        total = types.SimpleNamespace(sum=0.0, n=0)

        def step(x, total=total, log=kept[compiles]):
            total.sum += float(x.mean()) * len(x)
            total.n += int(x.argmax())
            log.append(float(x.max()))
            return x

        run = ja.compile(step) if compiles else step
        for x in ROWS:
            run(ja.tensor(x))
        kept[compiles] += [total.sum, total.n]
    assert kept[True] == kept[False] and run.cache_info().currsize == 1


def test_a_branch_on_what_float_makes_of_a_tensor_is_a_program_for_each_way():
    agree(lambda x: (x * 10, 1) if float(x.max()) > 2 else (x, float(x.min())), ROWS, 2)
    agree(lambda x: (x, max(float(x[0]), float(x[1]))), ROWS, 2)


def test_arithmetic_on_a_value_that_is_relied_on():
    agree(lambda x: (x * ((x.argmax().item() + 1) % 3), int(x.argmax()) // 2), ROWS, 2)


TELLS = {
    "its type": lambda x: (type(float(x.max())) is float, x * float(x.max())),
    "its type, later": lambda x: (float(x.max()) > 1.5 and type(len(x)) is int, x),
    "a class by its class": lambda x: ({float: 1, int: 2}[type(float(x.max()))], isinstance(float(x.max()), float)),
    "a text": lambda x: (f"{float(x.max()):.2f}", str(float(x.min())), round(float(x.sum()), 1)),
    "math": lambda x: (math.exp(float(x.max())), math.floor(float(x.sum())), int(float(x.sum())), int(x.sum())),
    "an array": lambda x: (np.float32(float(x.max())), np.array([float(x.min())]).tolist(), [1, 2, 3][int(x.argmax())]),
    "keys": lambda x: ({int(x.argmax()): x[0], "n": int(x.argmin())}, {float(x.max())}, int(x.argmax()) in {0: 1}),
    "a size": lambda x: (x[: int(x.argmax()) + 1], list(range(int(x.argmin()) + 1)), x.repeat(int(x.argmax()) + 1)),
    "what is no tensor": lambda x: (float("inf"), int("3"), float(2), float(np.float32(1.5)), x * float(x.max())),
}


def test_values_that_are_keys_of_what_is_kept_and_indices_are_those_of_each_call():
    found = []
    for compiles in (False, True):
        counts, table, seen = {}, [[0, 0], [0, 0]], set()

        def step(x, counts=counts, table=table, seen=seen):
            label = int(x.argmax())
            counts[label] = counts.get(label, 0) + 1
            counts["last"] = label
            table[label][int(x.argmin())] += 1
            seen.add(float(x.max()))
            return x

        run = ja.compile(step) if compiles else step
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ja.errors.RecompileWarning)
            for x in (*ROWS, *ROWS):
                run(ja.tensor(x))
        found.append(repr((counts, table, sorted(seen))))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", TELLS)
def test_code_that_looks_at_what_float_made_gets_what_it_gets_eagerly(name):
    fn = TELLS[name]
    compiled = ja.compile(fn)
    shown = lambda value: [(type(item), repr(item.tolist() if isinstance(item, ja.Tensor) else item)) for item in value]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ja.errors.RecompileWarning)
        for x in (*ROWS, *ROWS):
            assert shown(compiled(ja.tensor(x))) == shown(fn(ja.tensor(x)))
