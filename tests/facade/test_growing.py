"""Ops whose operands grow by one from call to call: few programs, and the values of the exact ones."""

import random

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.facade.dispatch.operands import KERNELS, clear_kernels
from jaxaot.facade.kernels import growing
from tests.facade.test_eager import n_compiles
from tests.seeds import some


@pytest.fixture(autouse=True)
def nothing_is_compiled():
    clear_kernels()
    yield
    clear_kernels()


def values(seed, n=14):
    """Returns what a random chain of ops makes of a tensor that grows by a row in each step."""
    of, rows = random.Random(seed), np.random.default_rng(seed)
    ops = [
        lambda x: x.softmax(0),
        lambda x: x.transpose(0, 1) @ x,
        lambda x: x @ x.transpose(0, 1),
        lambda x: x * 0.3 + x,
        lambda x: x.cumsum(0),
        lambda x: x.mean(0, keepdim=True) - x,
        lambda x: ja.nn.functional.gelu(x),
        lambda x: x.masked_fill(x < 0, float("-inf")).amax(0),
        lambda x: x[1:] - x[:-1],
        lambda x: x.flip(0).argmax(0),
    ]
    chosen = of.sample(ops, 4)
    x, found = ja.tensor(rows.normal(size=(of.randint(2, 5), 6)).astype("f")), []
    for _ in range(n):
        x = ja.cat([x, ja.tensor(rows.normal(size=(1, 6)).astype("f"))])
        found += [op(x) for op in chosen]
    return found


@pytest.mark.parametrize("seed", some(range(12), 2))
def test_values_are_those_of_the_exact_programs(monkeypatch, seed):
    grown = values(seed)
    assert growing._families and any(family.programs for family in growing._families.values())
    clear_kernels()
    monkeypatch.setattr(growing, "_TIMES", 1 << 30)
    for one, other in zip(grown, values(seed), strict=True):
        assert (one.shape, one.stride(), one.dtype) == (other.shape, other.stride(), other.dtype)
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=2e-5, atol=2e-6)


def attend(q, keys):
    scores = (q @ keys.transpose(-2, -1)) * 0.25
    return ja.nn.functional.softmax(scores, dim=-1) @ keys


def test_attention_on_a_cache_has_few_programs():
    q, keys = ja.tensor(np.ones((1, 2, 1, 4), "f")), ja.tensor(np.ones((1, 2, 8, 4), "f"))

    def generate(keys):
        for _ in range(21):
            keys = ja.cat([keys, q], dim=2)
            np.testing.assert_allclose(attend(q, keys).numpy(), np.ones((1, 2, 1, 4)), rtol=1e-6)

    assert n_compiles(lambda: generate(keys)) <= 16  # 84 without


def test_shapes_that_do_not_grow_by_one_have_programs_of_their_own():
    for width in (16, 48, 80, 112, 17, 19, 9, 80):
        ja.tensor(np.ones(width, "f")).exp()
    assert not any(family.programs for family in growing._families.values()) and len(KERNELS) == 7


def test_a_size_that_comes_often_has_a_program_in_the_end(monkeypatch):
    monkeypatch.setattr("jaxaot.facade.kernels.first_uses.MANY", 3)
    sizes = [ja.tensor(np.ones(n, "f")) for n in range(5, 10)]
    for _ in range(5):
        for x in sizes:
            x.exp()
    assert len(KERNELS) == 5


def test_what_does_not_fit_is_said_as_ever():
    for n in range(3, 9):
        ja.tensor(np.ones((n, 2), "f")) + ja.tensor(np.ones((n, 2), "f"))
    with pytest.raises(RuntimeError, match="size"):
        ja.tensor(np.ones((9, 2), "f")) + ja.tensor(np.ones((7, 2), "f"))
