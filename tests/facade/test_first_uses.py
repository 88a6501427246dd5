"""First uses of ops at some shapes, which have no program of their own: the values are those of the program."""

import random

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.facade.dispatch.operands import KERNELS, WRITE_KERNELS, clear_kernels
from jaxaot.facade.kernels import first_uses
from tests.facade.test_eager import n_compiles
from tests.seeds import some


@pytest.fixture(autouse=True)
def nothing_is_compiled():
    clear_kernels()
    yield
    clear_kernels()


def bits(x):
    return x.dtype, x.stride(), x.shape, np.asarray(x.detach().jax()).tobytes()


def alike(monkeypatch, make):
    """Returns the values of a function in which no op has a program of its own, after a look at those that have."""
    before = ja.get_rng_state()
    found = bits(make())
    n = len(KERNELS) + len(WRITE_KERNELS)
    ja.set_rng_state(before)
    with monkeypatch.context() as patch:
        patch.setattr(first_uses, "MANY", 0)
        assert found == bits(make())
    assert len(KERNELS) + len(WRITE_KERNELS) > n, "it had a program before"
    clear_kernels()


DRAWS = {
    "uniform_": lambda size: ja.empty(size).uniform_(-0.3, 0.7),
    "normal_": lambda size: ja.empty(size).normal_(0.1, 0.02),
    "exponential_": lambda size: ja.empty(size).exponential_(),
    "geometric_": lambda size: ja.empty(size).geometric_(0.3),
    "log_normal_": lambda size: ja.empty(size).log_normal_(),
    "random_": lambda size: ja.empty(size, dtype=ja.int32).random_(-3, 90),
    "rand": lambda size: ja.rand(size),
    "randn": lambda size: ja.randn(size),
    "half": lambda size: ja.randn(size, dtype=ja.bfloat16),
    "randint": lambda size: ja.randint(3, 11, size),
    "randn_like": lambda size: ja.randn_like(ja.empty((2, *size)).transpose(0, -1)),
}


@pytest.mark.parametrize("seed", some(range(12), 3))
def test_draws_are_bit_for_bit_those_of_the_program(monkeypatch, seed):
    of = random.Random(seed)
    for name in of.sample(sorted(DRAWS), 4):
        size = of.choice([(of.randint(1, 70), of.randint(1, 9)), (of.randint(1, 17),), (3, of.randint(1, 600), 5)])
        alike(monkeypatch, lambda name=name, size=size: DRAWS[name](size))


CONSTANTS = {
    "zeros": lambda: ja.zeros(3, 4),
    "ones of integers": lambda: ja.ones(2, 3, dtype=ja.int32),
    "full": lambda: ja.full((4,), 0.1),
    "full of an int": lambda: ja.full((4,), 7),
    "full of a bool": lambda: ja.full((4,), True),
    "like": lambda: ja.full_like(ja.zeros(3, 4).t(), 1.7),
    "new": lambda: ja.zeros(3, dtype=ja.int32).new_full((2, 2), 3),
    "fill_": lambda: ja.zeros(5).fill_(1 / 3),
    "zero_": lambda: ja.ones(5).zero_(),
    "arange": lambda: ja.arange(3, 20, 4),
    "arange back": lambda: ja.arange(9, 2, -3),
    "cat": lambda: ja.cat([ja.ones(2, 3), ja.zeros(2, 1)], dim=-1),
    "cat of views": lambda: ja.cat([ja.arange(6).view(2, 3).t(), ja.arange(8)[2:8:2].view(3, 1)], dim=1),
    "stack": lambda: ja.stack([ja.arange(4), ja.arange(8)[::2]], dim=1),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_and_joins_are_those_of_the_program(monkeypatch, name):
    alike(monkeypatch, CONSTANTS[name])


def test_shapes_of_a_model_share_the_programs_of_draws():
    def build():
        for width in range(20, 40):
            ja.nn.Linear(width, width + 1)
            ja.cat([ja.zeros(width), ja.ones(3)])

    assert n_compiles(build) <= 2 and not KERNELS


@pytest.mark.parametrize("make", [ja.zeros, ja.rand])
def test_sizes_that_there_are_not_are_refused_as_by_the_program(make):
    for size in ((-2, -3), (-1,), (2**62, 0)):
        with pytest.raises(RuntimeError, match=r"negative dimension|overflow"):
            make(*size)


def test_what_is_used_often_has_a_program_in_the_end():
    for _ in range(first_uses.MANY + 1):
        ja.zeros(7)
    assert len(KERNELS) == 1


def test_errors_are_those_of_the_program():
    with pytest.raises(ja.errors.TensorError, match="from=2"):
        ja.empty(3).uniform_(2, 1)
    with pytest.raises(RuntimeError, match="Sizes of tensors must match"):
        ja.cat([ja.zeros(2, 3), ja.zeros(3, 2)])


def test_draws_of_one_generator_go_on():
    ja.manual_seed(3)
    first = [ja.rand(5), ja.randn(2, 3), ja.empty(4).uniform_()]
    ja.manual_seed(3)
    compiled = ja.compile(lambda: (ja.rand(5), ja.randn(2, 3), ja.empty(4).uniform_()))()
    for one, other in zip(first, compiled, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=2e-7, atol=1e-7)
