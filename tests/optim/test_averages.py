"""Averaged models against PyTorch's, eager and compiled."""

import numpy as np
import pytest

import jaxaot as ja


def averaged(library, swa, how, update=None):
    model = library.nn.Sequential(library.nn.Linear(2, 2), library.nn.BatchNorm1d(2))
    with library.no_grad():
        for parameter in model.parameters():
            parameter.fill_(1.0)
    mean = swa.AveragedModel(model, avg_fn=how(swa), use_buffers=False)
    step = lambda: mean.update_parameters(model)
    step = step if update is None else update(step)
    for i in range(4):
        with library.no_grad():
            model[0].weight.add_(0.5 + i)
            model[1].running_mean.add_(1.0)
        step()
    return [x.detach().numpy() for x in mean.state_dict().values()], step


AVERAGES = {
    "mean": lambda swa: None,
    "swa": lambda swa: swa.get_swa_avg_fn(),
    "ema": lambda swa: swa.get_ema_avg_fn(0.9),
}


@pytest.mark.oracle
@pytest.mark.parametrize("how", AVERAGES)
def test_averages_are_those_of_pytorch(how):
    torch = pytest.importorskip("torch")
    found, _ = averaged(ja, ja.optim.swa_utils, AVERAGES[how])
    expected, _ = averaged(torch, torch.optim.swa_utils, AVERAGES[how])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.few(1)
@pytest.mark.parametrize("how", AVERAGES)
def test_averages_are_compiled_in_one_program(how):
    found, step = averaged(ja, ja.optim.swa_utils, AVERAGES[how], ja.compile)
    expected, _ = averaged(ja, ja.optim.swa_utils, AVERAGES[how])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    assert step.cache_info().misses == 1
    with pytest.raises(ValueError, match="Invalid decay value"):
        ja.optim.swa_utils.get_ema_avg_fn(2.0)
