"""Sharded states are written, and read over another number of devices."""

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.distributed import Shard, distribute_tensor, fully_shard, init_device_mesh, load, save
from jaxaot.errors import SavedFileError, StateDictError


def trained(n_devices, seed=0):
    """Returns a model over some devices, its optimizer, and a step."""
    mesh = init_device_mesh("cpu", devices=jax.devices()[:n_devices])
    ja.manual_seed(seed)
    model = fully_shard(ja.nn.Linear(8, 4), mesh)
    optimizer = ja.optim.Adam(model.parameters(), lr=0.1)
    x = distribute_tensor(np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8), mesh, [Shard(0)])

    @ja.compile
    def step():
        optimizer.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return model, optimizer, lambda: float(step())


def state_of(model, optimizer):
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict()}


@pytest.mark.slow
@pytest.mark.parametrize("n_devices", [2, pytest.param(1, marks=pytest.mark.slow)])
def test_a_state_is_read_over_other_devices(tmp_path, n_devices):
    model, optimizer, step = trained(4)
    for _ in range(2):
        step()
    save(tmp_path / "state", state_of(model, optimizer))
    with pytest.raises(SavedFileError, match="There is something at"):
        save(tmp_path / "state", {})
    right = [step() for _ in range(3)]

    other, its_optimizer, its_step = trained(n_devices, seed=1)
    its_step()
    loaded = load(tmp_path / "state", state_of(other, its_optimizer))
    its_optimizer.load_state_dict(loaded["optimizer"])
    if n_devices > 1:  # on one the whole is the part
        assert other.weight.placements == (Shard(0),)
    np.testing.assert_allclose([its_step() for _ in range(3)], right, rtol=1e-5)


def test_a_state_that_does_not_fit_changes_nothing(tmp_path):
    model, _, _ = trained(4)
    with pytest.raises(SavedFileError, match="There is no folder"):
        load(tmp_path / "state", model.state_dict())
    save(tmp_path / "state", {"weight": ja.ones(4, 9), "other": ja.ones(2)})
    before = model.weight.tolist()
    with pytest.raises(StateDictError) as caught:
        load(tmp_path / "state", model.state_dict())
    words = str(caught.value)
    assert "`bias` was not saved" in words and "`other` is not in the state" in words and "saved as [4, 9]" in words
    assert model.weight.tolist() == before
