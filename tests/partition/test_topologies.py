"""Compiled for a TPU and a GPU that are not there: recomputation stays recomputation, and its memory is not held."""

import functools

import jax
import pytest

from benchmarks import models, topologies

pytestmark = pytest.mark.compile_only


@functools.cache
def small():
    """A model that is made where a compiler is installed."""
    return models.gpt(2, width=256, n_heads=4, length=256, batch=8, vocabulary=1024)


@pytest.fixture(params=topologies.DEVICES)
def device(request):
    found = topologies.device(request.param)
    if found is None:
        pytest.skip(f"the compiler for {request.param} is not installed")
    return found


def test_forward_and_backward_apart(device):
    model = small()
    types = topologies.halved((model.parameters, *model.data))
    sizes = topologies.apart(model, types, device)
    assert sizes["min_cut"][0] < sizes["save_all"][0] / 2
    assert sizes["within 0.1"][0] <= sizes["save_all"][0] / 10
    held = {name: sum(both) for name, both in sizes.items()}
    assert held["within 0.1"] < held["min_cut"] < held["save_all"]


def test_one_program_takes_no_more_than_the_forward_and_what_is_saved(device):
    model = models.gpt(2, width=256, n_heads=4, length=512, batch=16, vocabulary=1024)  # more than a TPU's own memory
    types = topologies.placed(topologies.halved((model.parameters, *model.data)), device)
    plain = topologies.temporary_bytes(jax.value_and_grad(model.loss), types)
    within = topologies.gradients(model, model)["jaxaot, within 0.1"]
    assert 0 < topologies.temporary_bytes(within, types) < 1.1 * plain
