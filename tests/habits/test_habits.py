"""What is written for torch.compile comes out compiled as it does eagerly, as in PyTorch, and as the page says."""

import jax
import pytest

import jaxaot as ja
from tests.habits.lines import said
from tests.habits.running import DRAWS, HABITS, run, same, what_happens

UNLISTED = {"custom_function_item"}
"""Habits that come out right, and of which the page has no line."""


@pytest.fixture(autouse=True)
def _precision_as_before():
    """PyTorch starts with the word "highest", to which scripts go back; JAX starts with none."""
    yield
    jax.config.update("jax_default_matmul_precision", None)


@pytest.mark.few(36)
@pytest.mark.parametrize("name", list(HABITS))
def test_a_habit_of_torch_compile_comes_out_as_eagerly(name):
    wanted, _, _ = run(ja, name)
    found, made, warned = run(ja, name, compiles=True)
    same(found, wanted)
    assert {one.category for one in warned} <= {ja.errors.RecompileWarning}
    if name not in UNLISTED:
        happens, most = said()[name]
        assert what_happens(made, warned) == happens
        assert max((fn.cache_info().currsize for fn in made), default=0) <= most


def test_every_habit_shows_a_line_of_the_page():
    assert {*said(), *UNLISTED} == {*HABITS}


@pytest.mark.oracle
@pytest.mark.few(24)
@pytest.mark.parametrize("name", [name for name in HABITS if name not in DRAWS])
def test_a_habit_comes_out_as_in_pytorch(name):
    import torch

    wanted, _, _ = run(torch, name)
    found, _, _ = run(ja, name)
    same(found, wanted)
