"""Numbers among the arguments: what Python does with them is done in 64 bits at each call, and tensors meet inputs."""

from __future__ import annotations

import dataclasses
import math

import jax
import numpy as np
import pytest

import jaxaot as ja
import jaxaot.nn.functional as F
from tests.cases import each


def shown(value):
    """Returns a result with the types and bits of all in it."""
    if isinstance(value, ja.Tensor):
        return str(value.dtype), repr(value.tolist())
    if isinstance(value, (tuple, list)):
        return type(value), [shown(item) for item in value]
    if isinstance(value, dict):
        return [(shown(key), shown(item)) for key, item in value.items()]
    return type(value), repr(value)


def n_programs(fn, values, x=None):
    """Asserts that calls with some values are as eagerly, and returns how many programs they made."""
    compiled, x = ja.compile(fn), ja.arange(1.0, 4.0) if x is None else x
    for value in values:
        ja.manual_seed(0)
        expected = shown(fn(x, value))
        ja.manual_seed(0)
        assert shown(compiled(x, value)) == expected, value
    return compiled.n_programs


def test_a_float_is_a_float():
    assert ja.compile(lambda x, lr: x * (2 if isinstance(lr, float) else 3))(ja.ones(1), 0.5).tolist() == [2]
    assert ja.compile(lambda x, a: x + (1 - a) * 1e8)(ja.zeros(1), 1 - 1e-8).tolist() == [1]
    assert ja.compile(lambda x, a: (x, a * 2))(ja.ones(1), 0.5)[1] == 1.0
    returned = ja.compile(lambda x, a: (x, a * 2))
    assert [type(returned(ja.ones(1), a)[1]) for a in (0.5, 0.7, 1j)] == [float, float, complex]
    assert returned.n_programs == 2


def kind_of(x, a):
    match a:
        case float():
            return x * (2 if a.__class__ is float else 3)
    return x


def halved(x, a):
    n = 0
    while a > 0.2:
        a, n = a / 2, n + 1
    return x * n


def caught(x, a):
    try:
        return x / (1 / (a - 0.5))
    except ZeroDivisionError:
        return x


def written(x, a):
    y = x.clone()
    y[0] = a
    y[1:] *= a
    return y.add_(x, alpha=a)


VALUES = (0.5, 0.75, 0.3)


@pytest.mark.slow
@each(
    "fn, n",
    [
        (lambda x, a: x * 2 if a > 0.4 else x * 3, 2),
        (lambda x, a: x * max(0.1, a) + min(a, 1), 1),
        (lambda x, a: x * int(a * 10) + math.sqrt(a) + float(a), 1),
        (lambda x, a: x[: int(a * 4)] * 1, 3),
        (lambda x, a: (x, f"{a:.2f}", str(a)), 3),
        (lambda x, a: (x, sum([a, 0.1, 0.2, 0.3]), round(a, 1), divmod(a, 0.2), -a, complex(a, 1)), 1),
        (lambda x, a: (x, {a: 1}), 3),
        (lambda x, a: (x, np.array([a, 1.0]).sum(), a.is_integer(), a == 0.5), 3),
        (lambda x, a: F.dropout(x, a), 1),
        (lambda x, a: F.layer_norm(x, (3,), eps=a) + F.leaky_relu(x - 2, a) + F.hardtanh(x, -a, a), 1),
        (lambda x, a: ja.arange(0, 1, a) + x.sum(), 3),
        (lambda x, a: ja.full((2,), a) + ja.tensor(a) + ja.tensor([a, 1.0]), 1),
        (lambda x, a: (x.to(ja.bfloat16) * a).float() + x.int() * a + ja.where(x > 1, a, 0.0), 1),
        (lambda x, a, k=float: x * (2 if k is float else 3) * float(a), 3),
        (written, 1),
        (kind_of, 1),
        (halved, 2),
        (caught, 2),
    ],
)
def test_what_python_does_with_a_float_is_as_eagerly(fn, n):
    assert n_programs(fn, VALUES) == n


@pytest.mark.slow
@each(
    "fn, values, n",
    [
        (lambda x, n: (x * n, n + 1), (1, 2, 3, -1, 5), 2),
        (lambda x, n: x * 2 if n % 10 == 0 else x + n, (1, 2, 3, 10, 20), 3),
        (lambda x, n: x + n["a"][0] * n["b"], ({"a": (1,), "b": 2}, {"a": (3,), "b": 2}, {"a": (4,), "b": 2}), 2),
        (lambda x, n: (x * n, n), (1, True, 2, 0, False, 3), 4),
        (lambda x, n: (x, n * 3), (2**35, 2**36, 2**70, 5), 2),
        (lambda x, n: x * 1.0 * n, (2**35, 2**36), 2),
        (lambda x, n: x * sum(range(n)), (1, 2, 3), 3),
        (lambda x, n: (x * n, n * 2), (math.inf, -math.inf, math.nan, 0.0, -0.0, 1e39, 5e-324), 1),
        (lambda x, n: x if n == 0.0 else x * 2, (0.0, -0.0, math.nan, 1.0), 2),
        (lambda x, n: (x * n, n), (1, 2.0, 3, 4.0), 3),
    ],
)
def test_ints_are_inputs_from_the_second_value_on(fn, values, n):
    assert n_programs(fn, values) == n


def test_numbers_in_a_class_that_is_registered_are_data():
    @jax.tree_util.register_dataclass
    @dataclasses.dataclass
    class State:
        weight: object
        step: int
        rate: float
        is_on: bool = True

    @ja.compile
    def update(state):
        weight = state.weight * state.rate + (state.step if state.is_on else 0)
        return State(weight, state.step + 1, state.rate * 0.5, state.is_on)

    state = State(ja.ones(1), 1, 0.5)
    for _ in range(3):
        state = update(state)
    assert (state.step, state.rate, state.is_on) == (4, 0.0625, True) and type(state.step) is int
    assert state.weight.item() == ((0.5 + 1) * 0.25 + 2) * 0.125 + 3 and update.n_programs == 1


def test_gradients_through_a_float_and_methods_with_defaults():
    class Model:
        scale = 2.0

        @ja.compile
        def loss(self, w, a=0.5, *, b=1.0):
            return (w * (a + b) * self.scale).sum()

    model, w = Model(), ja.ones(2, requires_grad=True)
    for given, expected in [({}, 3), ({"a": 1.0}, 4), ({"a": 2.0}, 6), ({"a": 2.0, "b": 0.5}, 5)]:
        w.grad = None
        model.loss(w, **given).backward()
        assert w.grad.tolist() == [expected] * 2
    assert Model.loss.n_programs == 3


def test_a_float_reaches_a_float64_tensor_in_64_bits():
    with jax.enable_x64(True):
        add = ja.compile(lambda x, a: x + a)
        zeros = ja.zeros(1, dtype=ja.float64)
        assert [add(zeros, a).item() for a in (0.1, 0.3)] == [0.1, 0.3] and add.n_programs == 1


def test_an_archive_computes_with_the_floats_of_each_call(tmp_path):
    def fn(x, a, options):
        return x * 2 if a > 0.5 else x, a * 2 + options["b"]

    ja.export(fn, ja.ones(1), 0.75, {"b": 1.0}).save(tmp_path / "fn.jaxaot")
    loaded = ja.load(tmp_path / "fn.jaxaot")
    assert loaded(ja.ones(1), 1 - 1e-9, {"b": 1e-9})[1] == (1 - 1e-9) * 2 + 1e-9
    try:
        loaded(ja.ones(1), 0.25, {"b": 1.0})
        raise AssertionError("it holds no program for that")
    except ja.errors.SignatureMismatchError as error:
        assert "`(a > 0.5)` is False instead of True" in str(error)
