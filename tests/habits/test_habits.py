"""What is written for torch.compile comes out compiled as it does eagerly, and as in PyTorch."""

import pytest

import jaxaot as ja
from tests.habits.running import DRAWS, HABITS, run, same


@pytest.mark.few(40)
@pytest.mark.parametrize("name", HABITS)
def test_a_habit_of_torch_compile_comes_out_as_eagerly(name):
    wanted, _, _ = run(ja, name)
    found, _, warned = run(ja, name, compiles=True)
    same(found, wanted)
    assert {one.category for one in warned} <= {ja.errors.RecompileWarning}


@pytest.mark.oracle
@pytest.mark.few(40)
@pytest.mark.parametrize("name", [name for name in HABITS if name not in DRAWS])
def test_a_habit_comes_out_as_in_pytorch(name):
    import torch

    wanted, _, _ = run(torch, name)
    found, _, _ = run(ja, name)
    same(found, wanted)
