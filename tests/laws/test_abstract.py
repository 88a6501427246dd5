"""Programs of writes and views on tensors without values: all but the values is as in the run with values."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import pytest

import jaxaot as ja
from tests.laws import programs
from tests.laws.mutations import MUTATIONS
from tests.seeds import chunks, one_in

NEED_VALUES = {
    "assign_by_mask", "add_by_mask", "masked_scatter", "a_scalar_assigned_by_mask", "rows_by_a_list_of_bools",
    "backward_through_an_assignment_by_mask", "indices_out_of_range_are_refused", "comparisons_in_place",
}  # fmt: skip
"""Programs that look at a value: a mask's sum, an index that is out of range."""


def facts(observed: Any, storages: list[Any]) -> Any:
    """Returns all of an observation but values; `storages` numbers the memory that was met."""
    if isinstance(observed, ja.Tensor):
        storage = observed.untyped_storage()
        if not any(storage is other for other in storages):
            storages.append(storage)
        number = next(i for i, other in enumerate(storages) if other is storage)
        grad = observed.grad if observed.is_leaf else None
        geometry = tuple(observed.shape), observed.stride(), observed.storage_offset(), storage.nbytes(), number
        return (
            geometry, observed.dtype, observed._version, observed.requires_grad, observed.is_leaf, observed._is_view(),
            None if grad is None else facts(grad, storages),
        )  # fmt: skip
    if isinstance(observed, (list, tuple)):
        return [facts(item, storages) for item in observed]
    return observed


def seen(name: str, device: str) -> list[Any]:
    """Returns the observations of a program whose tensors are made on a device."""
    mutation = MUTATIONS[name]
    with ja.device(device), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inputs = mutation.inputs(ja)
        observed = mutation.body(ja, *inputs)
        later = mutation.then(ja, inputs, observed) if mutation.then else []
        return [inputs, observed, later]


@pytest.mark.few(5)
@pytest.mark.parametrize("name", one_in(12, MUTATIONS))
def test_programs_of_mutations(name):
    with jax.enable_x64(True):
        expected = seen(name, "cpu")
        try:
            found = seen(name, "meta")
        except ja.errors.NoValueError:
            assert name in NEED_VALUES
            return
        assert facts(found, []) == facts(expected, [])


def outcome(program: programs.Program, device: str) -> Any:
    """Returns the variables and leaves of a random program, after a backward; the error if it needs a value."""
    with ja.device(device):
        inputs, leaves = programs.make_inputs(ja, program)
        variables = programs.run(ja, program, inputs)
        wanted = [v for v in variables if v.requires_grad]
        if wanted:
            sum(programs.as_real(ja, v).sum() for v in wanted).backward()
    return [variables, leaves]


@pytest.mark.oracle
@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("start", chunks(20, 40, 20))
def test_random_programs(start, grad):
    torch = pytest.importorskip("torch")
    n_refused = 0
    for seed in range(start, start + 20):
        program = programs.generate(torch, seed, grad=grad)
        expected = outcome(program, "cpu")
        try:
            found = outcome(program, "meta")
        except ja.errors.NoValueError:
            n_refused += 1
            continue
        assert facts(found, []) == facts(expected, []), f"seed {seed}:\n{program}"
    assert n_refused < 10
